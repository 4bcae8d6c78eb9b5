// Waits for the addresses of instructions (x86-64 only): one routine of 4,096 blocks with a page each, which jump from one to another
// all over 16 MiB. The buffers for translations hold half of them at most; the blocks alone would fit the second cache.
#include "bench.h"

uint64_t page_walk(uint64_t value);

// A block stands in its page at a place of its own, so that not all compete for the same few sets of a cache.
__asm__(".altmacro\n"
        ".macro one_block this, next\n"
        "    .p2align 12\n"
        "    .skip (1 + (\\this * 13) % 62) * 64\n"
        ".Lblock_\\this:\n"
        "    leaq 3(%rax,%rax,2), %rax\n"
        "    jmp .Lblock_\\next\n"
        ".endm\n"
        ".text\n"
        ".p2align 12\n"
        ".globl page_walk\n"
        ".type page_walk, @function\n"
        "page_walk:\n"
        "    movq %rdi, %rax\n"
        "    jmp .Lblock_1\n"
        ".Lblock_0:\n"
        "    ret\n"
        "number = 1\n"
        ".rept 4095\n"
        "    one_block %number, %((number * 1597 + 1) % 4096)\n"
        "    number = number + 1\n"
        ".endr\n"
        "    .p2align 12\n"
        ".size page_walk, . - page_walk\n"
        ".noaltmacro\n");

static uint64_t walk(uint64_t blocks) { return page_walk(blocks); }

int main(int argc, char **argv) {
    const struct bench bench = {"run a block", "pages", 4096, 4096, 16, NULL, walk};
    return bench_run(&bench, argc, argv);
}

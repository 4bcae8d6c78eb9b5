// Waits for instructions (x86-64 only): one routine of 4,096 blocks of a cache line each, which jump from one to another all over
// 256 KiB. The first instruction cache holds a quarter of it at most.
#include "bench.h"

uint64_t code_walk(uint64_t value);

__asm__(".altmacro\n"
        ".macro one_block this, next\n"
        "    .p2align 6\n"
        ".Lblock_\\this:\n"
        "    leaq 3(%rax,%rax,2), %rax\n"
        "    jmp .Lblock_\\next\n"
        ".endm\n"
        ".text\n"
        ".p2align 6\n"
        ".globl code_walk\n"
        ".type code_walk, @function\n"
        "code_walk:\n"
        "    movq %rdi, %rax\n"
        "    jmp .Lblock_1\n"
        ".Lblock_0:\n" // the full period of a linear congruential generator ends where it began
        "    ret\n"
        "number = 1\n"
        ".rept 4095\n"
        "    one_block %number, %((number * 1597 + 1) % 4096)\n"
        "    number = number + 1\n"
        ".endr\n"
        ".size code_walk, . - code_walk\n"
        ".noaltmacro\n");

static uint64_t walk(uint64_t blocks) { return code_walk(blocks); }

int main(int argc, char **argv) {
    const struct bench bench = {"run a block", "blocks", 4096, 4096, 16, NULL, walk};
    return bench_run(&bench, argc, argv);
}

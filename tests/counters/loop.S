// A program of a known number of instructions: 6 a round, 4 around them, and nothing before: no C library starts it.
    .globl _start
    .type _start, %function
_start:
    ldr x0, =100000000
1:  add x1, x1, #1
    eor x2, x2, x1
    add x3, x3, x2
    nop
    subs x0, x0, #1
    b.ne 1b
    mov x8, #93
    mov x0, #0
    svc #0
    .size _start, . - _start

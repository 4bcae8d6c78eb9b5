/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The registers with which a thread entered the kernel: the system call with its arguments, and where its stack is and begins. One object serves
 * x86-64 and aarch64, so the machine is told by what the running kernel has.
 */
#ifndef TWINSCOPE_REGISTERS_H
#define TWINSCOPE_REGISTERS_H

#include "core.h"

struct registers {
	/* Number of the call; -1 where it is in none: a fault, or an interrupt. */
	__s32 call;
	__u32 zero;
	__u64 ip, sp, bp, lr;
	__u64 arguments[5];
};

static __always_inline bool registers_of(struct registers *to, struct task_struct *task)
{
	void *raw = (void *)bpf_task_pt_regs(task);
	struct pt_regs___x86 *x86 = raw;
	struct pt_regs___arm64 *arm = raw;

	if (!raw)
		return 0;
	if (bpf_core_field_exists(x86->orig_ax)) {
		to->call = (__s32)x86->orig_ax;
		to->ip = x86->ip;
		to->sp = x86->sp;
		to->bp = x86->bp;
		to->lr = 0;
		to->arguments[0] = x86->di;
		to->arguments[1] = x86->si;
		to->arguments[2] = x86->dx;
		to->arguments[3] = x86->r10;
		to->arguments[4] = x86->r8;
		return 1;
	}
	if (bpf_core_field_exists(arm->syscallno)) {
		to->call = arm->syscallno;
		to->ip = arm->pc;
		to->sp = arm->sp;
		to->bp = arm->regs[29];
		to->lr = arm->regs[30];
		to->arguments[0] = arm->orig_x0;
		to->arguments[1] = arm->regs[1];
		to->arguments[2] = arm->regs[2];
		to->arguments[3] = arm->regs[3];
		to->arguments[4] = arm->regs[4];
		return 1;
	}
	return 0;
}

/* Whether the thread is in a call of a 32-bit program: TS_COMPAT of x86, TIF_32BIT of 64-bit ARM. */
static __always_inline bool is_compat(struct task_struct *task)
{
	if (bpf_core_field_exists(task->thread_info.status))
		return task->thread_info.status & 2;
	return task->thread_info.flags & (1 << 22);
}

/*
 * How much of `most` bytes from `sp` on lies in the stack of the current thread, as far as that is known without its mappings: the first thread's
 * begins below the arguments, that of another below what it keeps for itself, which fs points to (pthread_create(3) of glibc and musl). Where neither is
 * near, `most`. To read on takes a page fault that nothing handles, of some microseconds.
 */
static __always_inline __u32 stack_left(struct task_struct *task, __u64 sp, __u32 most)
{
	struct task_struct___x86 *x86 = (void *)task;
	/* 0 for a thread of the kernel, which has no memory of its own. */
	__u64 begin = BPF_CORE_READ(task, mm, start_stack);

	if (begin > sp && begin - sp < most)
		return begin - sp;
	if (bpf_core_field_exists(x86->thread.fsbase)) {
		begin = BPF_CORE_READ(x86, thread.fsbase);
		if (begin > sp && begin - sp < most)
			return begin - sp;
	}
	return most;
}

#endif

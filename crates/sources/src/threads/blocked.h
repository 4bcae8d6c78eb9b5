/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * In which state a thread is that leaves its CPU, and whether who wakes it does so of its own accord.
 */
#ifndef TWINSCOPE_BLOCKED_H
#define TWINSCOPE_BLOCKED_H

#include "clock.h"
#include "ledger.h"
#include "registers.h"

/* Filled in by user space, for numbers of calls differ by machine. */
const volatile __u8 call_class[CALLS] = {};

/* include/linux/sched.h */
enum { TASK_RUNNING = 0, TASK_INTERRUPTIBLE = 1, TASK_STOPPED = 4, TASK_TRACED = 8, TASK_DEAD = 0x80 };
/* include/uapi/linux/stat.h */
enum { S_IFMT = 0170000, S_IFSOCK = 0140000, S_IFREG = 0100000, S_IFBLK = 0060000, S_IFCHR = 0020000, S_IFIFO = 0010000 };
/* include/uapi/linux/futex.h */
/*
 * Longest time until a deadline, seconds. How much before it a wait may end, nanoseconds, for it is counted from where the thread left its CPU; and how
 * much after it a timer ends it (the slack of timers is 50 us, PR_SET_TIMERSLACK(2const)).
 */
enum { LONGEST = 1 << 30, EARLY = 100000, LATE = 200000 };
enum { FUTEX_WAIT = 0, FUTEX_LOCK_PI = 6, FUTEX_LOCK_PI2 = 13, FUTEX_CMD_MASK = 0x7f, FUTEX_CLOCK_REALTIME = 0x100 };

static __always_inline __u32 class_of(__s32 call)
{
	__u32 at = call;

	if (at >= CALLS)
		return CALL_OTHER;
	return call_class[masked(at, CALLS)];
}

static __always_inline bool is_throttled(struct task_struct *task)
{
	if (bpf_core_field_exists(task->throttled) && task->throttled)
		return 1;
	if (bpf_core_field_exists(task->se.cfs_rq) && bpf_core_field_exists(struct cfs_rq, throttle_count))
		return task->se.cfs_rq->throttle_count > 0;
	return 0;
}

static __always_inline __u32 mode_of(struct task_struct *task, __u32 descriptor)
{
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file **all, *file = 0;

	if (!table || descriptor >= BPF_CORE_READ(table, max_fds))
		return 0;
	all = BPF_CORE_READ(table, fd);
	bpf_probe_read_kernel(&file, sizeof(file), all + descriptor);
	return file ? BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT : 0;
}

/* What a call that reads or writes a descriptor waits for. */
static __always_inline __u32 descriptor_state(struct ledger *ledger, struct task_struct *task, __u32 descriptor,
					      __u32 state, __u64 now)
{
	if (ledger->descriptor != descriptor || has_passed(100000000, ledger->descriptor_at, now)) {
		ledger->descriptor = descriptor;
		ledger->descriptor_at = now;
		ledger->descriptor_kind = mode_of(task, descriptor);
	}
	switch (ledger->descriptor_kind) {
	case S_IFSOCK:
		return NETWORK;
	case S_IFIFO:
		return PIPE;
	case S_IFREG:
	case S_IFBLK:
		/* Files that are none (eventfd, /proc, inotify) wait so that a signal ends it. */
		return state & TASK_INTERRUPTIBLE ? IDLE : DISK;
	default:
		return state & TASK_INTERRUPTIBLE ? IDLE : OTHER;
	}
}

/* The wait is for a futex or lock, of which nothing is known yet. */
static __always_inline void waits_for_lock(struct ledger *ledger)
{
	ledger->owner = 0;
	ledger->operation = 0;
	ledger->value = 0;
	ledger->waiters = 0;
	ledger->flags = 0;
}

static __always_inline __u32 blocked_state(struct ledger *ledger, struct task_struct *task, __u32 state,
					   struct registers *at, __u64 now)
{
	bool waits_for_disk = BPF_CORE_READ_BITFIELD(task, in_iowait);
	__u32 class;

	if (ledger->contended) {
		waits_for_lock(ledger);
		ledger->address = ledger->contended;
		ledger->flags = ledger->contended_flags;
		return LOCK;
	}
	if (task->flags & PF_KTHREAD)
		return waits_for_disk ? DISK : (state & TASK_INTERRUPTIBLE) || (state & 0x400) ? IDLE : OTHER;
	if (state & (TASK_STOPPED | TASK_TRACED))
		return OTHER;
	if (at->call < 0)
		return waits_for_disk || !(state & TASK_INTERRUPTIBLE) ? FAULT : OTHER;
	class = class_of(at->call);
	switch (class) {
	case CALL_FUTEX: {
		__u32 operation = at->arguments[1] & FUTEX_CMD_MASK;

		/* A fault on the futex's page is no wait for it. */
		if (!(state & TASK_INTERRUPTIBLE))
			return waits_for_disk ? FAULT : OTHER;
		waits_for_lock(ledger);
		ledger->address = at->arguments[0];
		ledger->operation = at->arguments[1];
		ledger->value = at->arguments[2];
		return operation == FUTEX_LOCK_PI || operation == FUTEX_LOCK_PI2 ? LOCK : UNDECIDED;
	}
	case CALL_UNDECIDED:
		waits_for_lock(ledger);
		return UNDECIDED;
	case CALL_LOCK:
		waits_for_lock(ledger);
		return LOCK;
	}
	if (waits_for_disk)
		return DISK;
	switch (class) {
	case CALL_DESCRIPTOR:
		return descriptor_state(ledger, task, at->arguments[0], state, now);
	case CALL_NETWORK:
		return NETWORK;
	case CALL_SLEEP:
		return SLEEP;
	case CALL_IDLE:
	case CALL_EPOLL:
	case CALL_EPOLL2:
		return IDLE;
	case CALL_POLL:
		return (__s32)at->arguments[2] < 0 ? IDLE : SLEEP;
	case CALL_PPOLL:
		return at->arguments[2] ? SLEEP : IDLE;
	case CALL_SELECT:
	case CALL_PSELECT:
		return at->arguments[4] ? SLEEP : IDLE;
	case CALL_DISK:
		return DISK;
	}
	return OTHER;
}

/* Notes whether the wait of the current thread, which begins at `now`, ends by itself. */
static __always_inline void note_timeout(struct ledger *ledger, struct registers *at, __u64 now)
{
	__u64 time[2] = {}, pointer = 0, unit = 1, from = now;
	__s32 milliseconds = 0;

	switch (class_of(at->call)) {
	case CALL_SLEEP:
		ledger->timed = TIMER;
		return;
	case CALL_FUTEX:
		pointer = at->arguments[3];
		if (!pointer)
			return;
		ledger->timed = TIMER;
		/* A length for FUTEX_WAIT, else a time, by the clock that all else here goes by or by the calendar. */
		from = (at->arguments[1] & FUTEX_CMD_MASK) == FUTEX_WAIT ? now : 0;
		if (at->arguments[1] & FUTEX_CLOCK_REALTIME)
			return;
		break;
	case CALL_POLL:
		milliseconds = at->arguments[2];
		break;
	case CALL_EPOLL:
		milliseconds = at->arguments[3];
		break;
	case CALL_PPOLL:
		pointer = at->arguments[2];
		break;
	case CALL_EPOLL2:
		pointer = at->arguments[3];
		break;
	case CALL_SELECT:
		unit = 1000;
		/* fallthrough */
	case CALL_PSELECT:
		pointer = at->arguments[4];
		break;
	default:
		return;
	}
	if (milliseconds > 0)
		time[1] = milliseconds * 1000000ull;
	else if (!pointer || bpf_probe_read_user(time, sizeof(time), (void *)pointer) || time[0] > LONGEST)
		return;
	ledger->deadline = from + time[0] * 1000000000ull + time[1] * unit;
	ledger->timed = DEADLINE;
}

/*
 * Whether the time of a wait was over when it ended, at `now`. Just then it is the timer that ended it, and who is said to have done so was interrupted in
 * a system call; later it is so where nobody is said to.
 */
static __always_inline bool is_timed_out(struct ledger *ledger, __u64 now)
{
	if (ledger->timed == DEADLINE && ledger->waker)
		return now + EARLY >= ledger->deadline && now <= ledger->deadline + LATE;
	if (!ledger->timed || ledger->waker)
		return 0;
	return ledger->timed == TIMER || now + EARLY >= ledger->deadline;
}

/*
 * Whether the current thread was interrupted, so that what happens is not its doing. Where the kernel does not show its count of nested interrupts
 * (x86 without CONFIG_KALLSYMS_ALL), a thread of a program counts as interrupted when it is not in a system call, and so does
 * everyone for waits that interrupts end as a rule.
 */
static __always_inline bool is_interrupted(struct task_struct *task, __u64 state, __s32 call)
{
	if (bpf_core_field_exists(task->thread_info.preempt_count))
		/* HARDIRQ_MASK, NMI_MASK and the softirq that is served, include/linux/preempt.h. */
		return (task->thread_info.preempt_count & 0x00ff0100) != 0;
	if (state == SLEEP || state == DISK || state == FAULT)
		return 1;
	return !(task->flags & PF_KTHREAD) && call < 0;
}

#endif

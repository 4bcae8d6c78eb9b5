/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Stacks for user space: the top of a user stack as it is in memory, and kernel stacks as addresses, each told once. Both are rationed: a copy
 * costs some hundred nanoseconds to some microseconds of a thread that has other things to do.
 */
#ifndef TWINSCOPE_COPIES_H
#define TWINSCOPE_COPIES_H

#include "clock.h"
#include "ledger.h"
#include "registers.h"

/* What was counted and lost, read by bpf.rs. */
enum { COUNT_USER_STACKS, COUNT_USER_LEFT_OUT, COUNT_KERNEL_STACKS, COUNT_KERNEL_LEFT_OUT, LOST_EVENTS, LOST_STACKS, LOST_LEDGERS, COUNTS };
#include "counts.h"

/* Whether user stacks are copied. */
const volatile bool with_stacks = 1;

/* A user stack is copied again after this time, for another caller may have come to block at the same depth. */
#define COPY_AGAIN 2000000000ull
/* User stacks that one CPU copies in a tenth of a second, and the time that it spends at most on stacks of any kind: 1 %. */
enum { MOST_USER_COPIES = 32, MOST_SPENT = 1000000 };
#define COPY_WINDOW 100000000ull

/* Stacks. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} stacks SEC(".maps");

/* When the user stack of a place was last copied. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, __u64);
} copied SEC(".maps");

/* Kernel stacks that have been told. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, __u64);
	__type(value, __u32);
} told SEC(".maps");

#include "python_waits.h"

struct scratch {
	__u64 window;
	__u32 user;
	/* Nanoseconds. */
	__u32 spent;
	__u64 frames[MOST_FRAMES];
};

/* One for the scheduler's events, one for the iterator, which those may interrupt. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

static __always_inline __u64 mix(__u64 hash, __u64 value)
{
	hash ^= value;
	hash *= 0x9e3779b97f4a7c15ull;
	return hash ^ (hash >> 29);
}

static __always_inline struct scratch *scratch_of(__u32 which, __u64 now)
{
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &which);

	if (scratch && has_passed(COPY_WINDOW, scratch->window, now)) {
		scratch->window = now;
		scratch->user = 0;
		scratch->spent = 0;
	}
	return scratch;
}

/* Copies the top of the current thread's user stack, if that of this place is not known, or not of late. */
static __noinline int copy_stack(__u64 place, __u64 now)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct scratch *scratch = scratch_of(0, now);
	struct user_stack_record *record;
	struct registers at = {};
	__u64 *last, begin;
	__u32 size = 0, left;

	if (!scratch || !with_stacks)
		return 0;
	last = bpf_map_lookup_elem(&copied, &place);
	if (last && !has_passed(COPY_AGAIN, *last, now))
		return 1;
	if (scratch->user >= MOST_USER_COPIES || scratch->spent >= MOST_SPENT) {
		count(COUNT_USER_LEFT_OUT);
		return 0;
	}
	if (!registers_of(&at, task))
		return 0;
	begin = bpf_ktime_get_ns();
	tell_python_stack(place);
	record = bpf_ringbuf_reserve(&stacks, sizeof(*record), 0);
	if (!record) {
		count(LOST_STACKS);
		return 0;
	}
	scratch->user++;
	record->kind = RECORD_USER_STACK;
	record->tgid = task->tgid;
	record->pid = task->pid;
	record->place = place;
	record->ip = at.ip;
	record->sp = at.sp;
	record->bp = at.bp;
	record->lr = at.lr;
	left = stack_left(task, at.sp, MOST_STACK);
	/* Page by page, for the stack may end. */
	for (int i = 0; i < 9; i++) {
		__u32 rest = 4096 - ((at.sp + size) & 4095);

		if (size >= left)
			break;
		if (size + rest > MOST_STACK)
			rest = MOST_STACK - size;
		if (rest == 0 || rest > 4096 || size > MOST_STACK - 4096)
			break;
		if (bpf_probe_read_user(record->bytes + size, rest, (void *)(at.sp + size)))
			break;
		size += rest;
	}
	record->size = size;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	bpf_map_update_elem(&copied, &place, &now, BPF_ANY);
	count(COUNT_USER_STACKS);
	scratch->spent += bpf_ktime_get_ns() - begin;
	return 1;
}

/*
 * Takes the kernel stack of a thread that is not running, tells it if it is new, and gives its name: 0 where there is none, or no time for
 * it. `which`: of the scratches.
 */
static __noinline __u64 kernel_stack(struct task_struct *task, __u32 which, __u64 now)
{
	__u64 name = 1469598103934665603ull, begin;
	struct scratch *scratch = scratch_of(which, now);
	struct kernel_stack_record *record;
	__u32 one = 1;
	long size;

	if (!task || !scratch)
		return 0;
	if (scratch->spent >= MOST_SPENT) {
		count(COUNT_KERNEL_LEFT_OUT);
		return 0;
	}
	begin = bpf_ktime_get_ns();
	size = bpf_get_task_stack(task, scratch->frames, sizeof(scratch->frames), 0);
	if (size <= 0)
		return 0;
	size /= sizeof(__u64);
	for (int i = 0; i < MOST_FRAMES; i++) {
		if (i >= size)
			break;
		name = mix(name, scratch->frames[i]);
	}
	count(COUNT_KERNEL_STACKS);
	scratch->spent += bpf_ktime_get_ns() - begin;
	if (bpf_map_lookup_elem(&told, &name))
		return name;
	record = bpf_ringbuf_reserve(&stacks, sizeof(*record), 0);
	if (!record) {
		count(LOST_STACKS);
		return 0;
	}
	record->kind = RECORD_KERNEL_STACK;
	record->frames = size;
	record->name = name;
	__builtin_memcpy(record->addresses, scratch->frames, sizeof(record->addresses));
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	bpf_map_update_elem(&told, &name, &one, BPF_ANY);
	return name;
}

#endif

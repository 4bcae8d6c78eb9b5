/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Events counted by key, and stacks of one event in N.
 *
 * Every event is counted in a hash whose keys begin with the epoch, the number of the read to come: user space takes out the sums of the
 * epochs that have ended, to which nobody adds any more. Of one event in N a stack goes through a ring. User space sets N by how many
 * events there were; within an epoch, a limit on each CPU holds the cost down until it has.
 *
 * `counted.rs` is the other half.
 */
#ifndef TWINSCOPE_COUNTED_H
#define TWINSCOPE_COUNTED_H

#include "core.h"
#include "histogram.h"
#include "registers.h"

/* At least THREAD_SIZE. */
enum { LARGEST_STACK = 1 << 15 };

struct counted_control {
	__u32 epoch;
	/* Of so many events one has its stack taken; 0: none. */
	__u32 one_in;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct counted_control);
} control SEC(".maps");

/* Events; events that found no room in a hash; stacks that found no room in the ring. Programs may have more of their own. */
enum { COUNT_EVENTS, COUNT_LOST, COUNT_LOST_STACKS, COUNTS = 8 };
#include "counts.h"

static __always_inline __u32 epoch_now(void)
{
	__u32 zero = 0;
	struct counted_control *now = bpf_map_lookup_elem(&control, &zero);

	return now ? now->epoch : 0;
}

/* The sums of a key, made where there are none yet; 0, and counted as lost, where there is no room. */
static __always_inline void *sums_of(void *map, const void *key, const void *nothing)
{
	void *sums = bpf_map_lookup_elem(map, key);

	if (sums)
		return sums;
	bpf_map_update_elem(map, key, nothing, BPF_NOEXIST);
	sums = bpf_map_lookup_elem(map, key);
	if (!sums)
		count(COUNT_LOST);
	return sums;
}

/*
 * Whether an interrupt that has a stack of its own is served, so that the current task has nothing to do with what happens. The arguments
 * of a tracepoint lie on the stack that is in use.
 */
static __always_inline bool on_other_stack(void *ctx, struct task_struct *task)
{
	__u64 at = (__u64)ctx, from = (__u64)task->stack, until = from + LARGEST_STACK;

	/* HARDIRQ_MASK, NMI_MASK and the softirq that is served, include/linux/preempt.h. */
	if (bpf_core_field_exists(task->thread_info.preempt_count))
		return task->thread_info.preempt_count & 0x00ff0100;
	/* Two comparisons, which the compiler must not make one of: verifiers before Linux 6.13 refuse to subtract from `ctx`. */
	asm volatile("" : "+r"(until));
	return at < from || at >= until;
}

/*
 * Whether an interrupt is served. x86 serves those that hit a program on the stack of its thread; the number of the system call is -1 then, as
 * it is in a page fault: what is done there counts as the interrupt's.
 */
static __always_inline bool in_interrupt(void *ctx, struct task_struct *task)
{
	struct pt_regs___x86 *x86;

	if (on_other_stack(ctx, task))
		return 1;
	if (bpf_core_field_exists(task->thread_info.preempt_count) || task->flags & PF_KTHREAD)
		return 0;
	x86 = (void *)bpf_task_pt_regs(task);
	return x86 && (long)x86->orig_ax == -1;
}

/* The name of the process that a thread belongs to. */
static __always_inline void name_process(char *to, struct task_struct *task)
{
	bpf_probe_read_kernel(to, TASK_COMM_LEN, task->group_leader->comm);
}

#ifdef COUNTED_STACKS

/* KiB of the program's stack that are copied, of programs whose stacks are deeper than most. */
#ifndef COUNTED_KIB
#define COUNTED_KIB 8
#endif

enum { KERNEL_FRAMES = 32, USER_CHUNK = 1024, USER_CHUNKS = COUNTED_KIB };
/* Stacks on one CPU within so many nanoseconds, until user space has set another N. */
enum { STACKS_AT_ONCE = 24 };
#define AT_ONCE 100000000ull

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 2 << 20);
} stacks SEC(".maps");

struct thinning {
	__u64 window;
	__u32 taken;
	__u32 skipped;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct thinning);
} thinning SEC(".maps");

/* Follows the key of the event in a record of `stacks`. */
struct counted_stack {
	__u32 pid;
	__u32 tid;
	/* Bytes of `frames` and of `user` that were filled. */
	__u32 kernel;
	__u32 copied;
	__u64 ip;
	__u64 sp;
	__u64 bp;
	__u64 lr;
	__u64 frames[KERNEL_FRAMES];
	__u8 user[USER_CHUNK * USER_CHUNKS];
};

/* Whether the stack of this event is taken. */
static __always_inline bool take_stack(void)
{
	__u32 zero = 0;
	struct counted_control *now = bpf_map_lookup_elem(&control, &zero);
	struct thinning *here = bpf_map_lookup_elem(&thinning, &zero);
	__u64 time;

	if (!now || !here || !now->one_in)
		return 0;
	if (++here->skipped < now->one_in)
		return 0;
	here->skipped = 0;
	time = bpf_ktime_get_ns();
	if (time - here->window > AT_ONCE) {
		here->window = time;
		here->taken = 0;
	}
	if (here->taken >= STACKS_AT_ONCE)
		return 0;
	here->taken++;
	return 1;
}

/* Fills a record with the program's part of the stack of the current task. */
static __always_inline void fill_user_stack(struct counted_stack *to, struct task_struct *task)
{
	struct registers at = {};
	__u32 left;

	to->pid = task->tgid;
	to->tid = task->pid;
	to->kernel = 0;
	to->copied = 0;
	to->ip = to->sp = to->bp = to->lr = 0;
	if (!registers_of(&at, task))
		return;
	to->ip = at.ip;
	to->sp = at.sp;
	to->bp = at.bp;
	to->lr = at.lr;
	left = stack_left(task, at.sp, USER_CHUNK * USER_CHUNKS);
	/* Piece by piece, for the stack may end. */
	for (int i = 0; i < USER_CHUNKS; i++) {
		if (i * USER_CHUNK >= left)
			break;
		if (bpf_probe_read_user(to->user + i * USER_CHUNK, USER_CHUNK, (void *)(to->sp + i * USER_CHUNK)))
			break;
		to->copied = (i + 1) * USER_CHUNK;
	}
}

/* Fills a record with the stack of the current task; with the kernel's part alone in an interrupt. */
static __always_inline void fill_stack(void *ctx, struct counted_stack *to, struct task_struct *task, bool interrupt)
{
	long filled;

	if (interrupt || task->flags & PF_KTHREAD) {
		to->pid = task->tgid;
		to->tid = task->pid;
		to->copied = 0;
		to->ip = to->sp = to->bp = to->lr = 0;
	} else {
		fill_user_stack(to, task);
	}
	/* The first frames are those of this program. */
	filled = bpf_get_stack(ctx, to->frames, sizeof(to->frames), 3);
	to->kernel = filled > 0 ? filled : 0;
}

#endif
#endif

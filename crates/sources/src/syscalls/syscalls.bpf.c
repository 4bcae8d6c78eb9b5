// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * System calls: how often, how long, with what result, for each thread and call.
 *
 * A thread counts in its own task storage, in a small cache with one slot a call: no lock, no atomic, no line that another CPU writes.
 * A slot that another call needs, and all slots of a thread that ends or takes another name, are folded into the hash `folded`. Reading
 * adds up both. A thread that was never read when its process ends is folded under pid 0, so that storms of short processes leave no
 * entry for each.
 *
 * Where there are too many calls, they are looked at in a part of the time (thin.h). A call counts in the stretch in which it ends, with its time
 * from the beginning of the stretch on; what runs when a stretch ends has the time up to there added by `read_open`. So the time of a stretch is
 * that of all calls in it, however long each of them is.
 */
#include "core.h"
#include "histogram.h"
#include "registers.h"
#include "scope.h"
#include "thin.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

enum { SLOTS = 16 };
/* A slot goes before its buckets could overflow. */
enum { SLOT_FULL = 1u << 31 };
/* Marks a call of a 32-bit program, whose numbers are others. */
#define COMPAT (1u << 31)
#define NO_CALL 0xffffffffu

/* Read by bpf.rs, in the order of these fields; so are those below. */
struct slot {
	__u32 nr;
	/* The read after which `longest` was last written. */
	__u32 epoch;
	__u64 count;
	__u64 errors;
	__u64 time;
	__u64 bytes;
	/* Of even and of odd epochs, so that the one that a reader has just ended stays. */
	__u64 longest[2];
	__u32 buckets[BUCKETS];
};

/* Whether a thread was read: its counts go by its pid from then on. */
enum { NEW, SEEN, FOLDED };

struct thread_calls {
	/* Of the call that runs; 0 for none. It may be of an earlier stretch, and long over. */
	__u64 start;
	/* When the last call ended. */
	__u64 ended;
	__u32 nr;
	/* Odd while a slot changes hands. */
	__u32 sequence;
	__u32 state;
	__u32 pid;
	/* For each pair of slots, the one used last. */
	__u8 recent[SLOTS / 2];
	/* Of the process. */
	char comm[TASK_COMM_LEN];
	struct slot slots[SLOTS];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread_calls);
} thread_calls SEC(".maps");

struct folded_key {
	__u32 pid;
	__u32 nr;
	/* Of entries under pid 0 the epoch: nobody writes to those of past epochs, so that they can be taken out without loss. */
	__u32 epoch;
	char comm[TASK_COMM_LEN];
};

struct folded {
	__u64 count;
	__u64 errors;
	__u64 time;
	__u64 bytes;
	__u64 longest[2];
	__u64 epoch;
	__u64 buckets[BUCKETS];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct folded_key);
	__type(value, struct folded);
} folded SEC(".maps");

/* How often it was read. Written by bpf.rs. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} epoch SEC(".maps");

/* Threads without memory to count in; calls that found no room in `folded`; calls of threads in scope. Read by bpf.rs. */
enum { LOST_THREADS, LOST_CALLS, COUNT_CALLS, COUNTS };
#include "counts.h"

/* What a new entry begins with. */
static const struct folded NOTHING;

static __always_inline __u32 epoch_now(void)
{
	__u32 zero = 0;
	__u32 *now = bpf_map_lookup_elem(&epoch, &zero);

	return now ? *now : 0;
}

/* Not static, so that the kernel verifies it once and not for each call: that halves the time to load this object. */
int fold_slot(struct thread_calls *calls, __u32 at, __u32 pid, __u32 now);

/* Adds a slot to what was folded of its call. `pid` 0: of processes that were never read. */
__noinline int fold_slot(struct thread_calls *calls, __u32 at, __u32 pid, __u32 now)
{
	struct folded_key key = {.pid = pid};
	struct folded *sums;
	struct slot *slot;

	if (!calls || at >= SLOTS)
		return 0;
	slot = &calls->slots[at];
	if (!slot->count)
		return 0;
	key.nr = slot->nr;
	key.epoch = pid ? 0 : now;
	__builtin_memcpy(key.comm, calls->comm, sizeof(key.comm));
	sums = bpf_map_lookup_elem(&folded, &key);
	if (!sums) {
		bpf_map_update_elem(&folded, &key, &NOTHING, BPF_NOEXIST);
		sums = bpf_map_lookup_elem(&folded, &key);
		if (!sums) {
			count_more(LOST_CALLS, slot->count);
			return 0;
		}
	}
	__sync_fetch_and_add(&sums->count, slot->count);
	__sync_fetch_and_add(&sums->errors, slot->errors);
	__sync_fetch_and_add(&sums->time, slot->time);
	__sync_fetch_and_add(&sums->bytes, slot->bytes);
	for (int i = 0; i < BUCKETS; i++)
		if (slot->buckets[i])
			__sync_fetch_and_add(&sums->buckets[i], slot->buckets[i]);
	/* Two threads that do this at once may lose one of their longest; all else is exact. */
	if (sums->epoch != now) {
		if (sums->epoch + 1 != now)
			sums->longest[(now + 1) & 1] = 0;
		sums->longest[now & 1] = 0;
		sums->epoch = now;
	}
	if (slot->epoch == now && slot->longest[now & 1] > sums->longest[now & 1])
		sums->longest[now & 1] = slot->longest[now & 1];
	return 0;
}

static __always_inline void fold_all(struct thread_calls *calls, __u32 pid)
{
	__u32 now = epoch_now();

	for (__u32 at = 0; at < SLOTS; at++)
		fold_slot(calls, at, pid, now);
}

/* Under which pid a thread folds. To be asked while `sequence` is odd: a reader that marks the thread meanwhile sees that and passes over it. */
static __always_inline __u32 pid_of(struct thread_calls *calls)
{
	return calls->state == NEW ? 0 : calls->pid;
}

/* The slot of call `nr`, one of two; the one not used last goes where neither is it. */
static __always_inline struct slot *slot_of(struct thread_calls *calls, __u32 nr)
{
	__u32 pair = (nr ^ (nr >> 3) ^ (nr >> 6)) & (SLOTS / 2 - 1);
	__u32 at = pair * 2;
	struct slot *slot = &calls->slots[at];

	if (slot->nr == nr && slot->count < SLOT_FULL) {
		calls->recent[pair] = 0;
		return slot;
	}
	at++;
	slot = &calls->slots[at];
	if (slot->nr == nr && slot->count < SLOT_FULL) {
		calls->recent[pair] = 1;
		return slot;
	}
	if (calls->slots[at - 1].nr == nr)
		at--;
	else if (slot->nr != nr)
		at = pair * 2 + !(calls->recent[pair] & 1);
	at = masked(at, SLOTS);
	slot = &calls->slots[at];
	/* Atomics that give a value order the writes between them for the reader on another CPU. */
	__sync_fetch_and_add(&calls->sequence, 1);
	fold_slot(calls, at, pid_of(calls), epoch_now());
	__builtin_memset(slot, 0, sizeof(*slot));
	slot->nr = nr;
	__sync_fetch_and_add(&calls->sequence, 1);
	calls->recent[pair] = at & 1;
	return slot;
}

static __noinline struct thread_calls *begin_thread(struct task_struct *task)
{
	struct thread_calls *calls = bpf_task_storage_get(&thread_calls, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!calls) {
		count(LOST_THREADS);
		return 0;
	}
	calls->pid = task->tgid;
	BPF_CORE_READ_STR_INTO(&calls->comm, task, group_leader, comm);
	for (int i = 0; i < SLOTS; i++)
		calls->slots[i].nr = NO_CALL;
	return calls;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(call_begins, struct pt_regs *regs, long nr)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread_calls *calls = stored_with(thread_calls, task);

	if (!calls) {
		if (!in_scope(task))
			return 0;
		calls = begin_thread(task);
		if (!calls)
			return 0;
	}
	calls->nr = is_compat(task) ? (__u32)nr | COMPAT : (__u32)nr;
	calls->start = bpf_ktime_get_ns();
	return 0;
}

/* The call that a thread is in, by its registers: that of a call whose beginning nobody saw. NO_CALL where it is in none. */
static __always_inline __u32 call_of(struct task_struct *task)
{
	struct registers at = {.call = -1};

	if (!registers_of(&at, task) || at.call < 0)
		return NO_CALL;
	return is_compat(task) ? (__u32)at.call | COMPAT : (__u32)at.call;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(call_ends, struct pt_regs *regs, long result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread_calls *calls = stored_with(thread_calls, task);
	__u64 since = open_since(), start, spent, end;
	struct slot *slot;
	bool seen;
	__u32 now;

	if (!calls || !since)
		return 0;
	start = calls->start;
	seen = start >= since;
	/* It has no beginning because it was refused before one (seccomp), or because a call has just made this thread. */
	if (!seen && calls->ended >= since)
		return 0;
	if (!seen) {
		calls->nr = call_of(task);
		if (calls->nr == NO_CALL)
			return 0;
		start = since;
	}
	end = bpf_ktime_get_ns();
	spent = end - start;
	calls->start = 0;
	calls->ended = end;
	count(COUNT_CALLS);
	slot = slot_of(calls, calls->nr);
	if (!slot)
		return 0;
	slot->count++;
	slot->time += spent;
	/* -MAX_ERRNO, include/linux/err.h. */
	if (result < 0 && result >= -4095)
		slot->errors++;
	else
		slot->bytes += result;
	/* How long it took is not known. */
	if (!seen)
		return 0;
	slot->buckets[bucket_of(spent)]++;
	now = epoch_now();
	if (slot->epoch != now) {
		if (slot->epoch + 1 != now)
			slot->longest[(now + 1) & 1] = 0;
		slot->longest[now & 1] = 0;
		slot->epoch = now;
	}
	if (spent > slot->longest[now & 1])
		slot->longest[now & 1] = spent;
	return 0;
}

/* A process that takes another name, as exec does, goes on under it from zero. Only its first thread counts for its name. */
SEC("tp_btf/task_rename")
int BPF_PROG(process_is_renamed, struct task_struct *task, const char *comm)
{
	struct thread_calls *calls;

	if (task->pid != task->tgid || task != bpf_get_current_task_btf())
		return 0;
	calls = stored_with(thread_calls, task);
	if (!calls)
		return 0;
	__sync_fetch_and_add(&calls->sequence, 1);
	fold_all(calls, pid_of(calls));
	for (__u32 at = 0; at < SLOTS; at++) {
		__builtin_memset(&calls->slots[at], 0, sizeof(calls->slots[at]));
		calls->slots[at].nr = NO_CALL;
	}
	calls->pid = task->tgid;
	__builtin_memset(calls->comm, 0, sizeof(calls->comm));
	bpf_probe_read_kernel_str(calls->comm, sizeof(calls->comm), comm);
	__sync_fetch_and_add(&calls->sequence, 1);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(thread_exits, struct task_struct *task)
{
	struct thread_calls *calls = stored_with(thread_calls, task);
	__u32 before;

	if (!calls)
		return 0;
	before = __sync_lock_test_and_set(&calls->state, FOLDED);
	if (before == FOLDED)
		return 0;
	fold_all(calls, before == NEW && task->pid == task->tgid ? 0 : calls->pid);
	return 0;
}

struct thread_head {
	__u32 pid;
	__u32 nr;
	char comm[TASK_COMM_LEN];
	/* CPU time of the thread, and of those of its process that have ended. */
	__u64 runtime;
	__u64 ended;
};

SEC("iter/task")
int read_threads(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct seq_file *seq = ctx->meta->seq;
	struct thread_calls *calls;
	struct thread_head head;
	__u32 sequence;

	if (!task)
		return 0;
	calls = stored_with(thread_calls, task);
	if (!calls || __sync_val_compare_and_swap(&calls->state, NEW, SEEN) == FOLDED)
		return 0;
	head.pid = calls->pid;
	head.nr = NO_CALL;
	head.runtime = task->se.sum_exec_runtime;
	head.ended = task->signal->sum_sched_runtime;
	/* Says that the process lives, whatever its slots hold. */
	__builtin_memcpy(head.comm, calls->comm, sizeof(head.comm));
	bpf_seq_write(seq, &head, sizeof(head));
	for (__u32 at = 0; at < SLOTS; at++) {
		struct slot copy;

		sequence = __sync_fetch_and_add(&calls->sequence, 0);
		if (sequence & 1)
			continue;
		if (!calls->slots[at].count)
			continue;
		__builtin_memcpy(&copy, &calls->slots[at], sizeof(copy));
		__builtin_memcpy(head.comm, calls->comm, sizeof(head.comm));
		/* What is missed now is not lost: it was folded, or it is read the next time. */
		if (__sync_fetch_and_add(&calls->sequence, 0) != sequence)
			continue;
		head.nr = copy.nr;
		bpf_seq_write(seq, &head, sizeof(head));
		bpf_seq_write(seq, &copy, sizeof(copy));
	}
	return 0;
}

/* Whether a thread waits for something. */
static __always_inline bool sleeps(struct task_struct *task)
{
	return !task->on_cpu && state_of(task);
}

/* Read by bpf.rs. */
struct open_call {
	__u32 pid;
	__u32 nr;
	char comm[TASK_COMM_LEN];
	__u64 time;
};

/* The calls that run when a stretch ends: what of them lies in it. */
SEC("iter/task")
int read_open(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct gate *gate = the_gate();
	struct thread_calls *calls;
	struct open_call open = {};

	if (!task || !gate || !gate->until)
		return 0;
	calls = stored_with(thread_calls, task);
	if (!calls || calls->state == FOLDED)
		return 0;
	if (calls->start >= gate->since && calls->start <= gate->until) {
		open.nr = calls->nr;
		open.time = gate->until - calls->start;
	} else if (calls->start < gate->since && calls->ended < gate->since && sleeps(task)) {
		/* It neither began nor ended a call in the stretch and sleeps: it was in this one all the time. */
		open.nr = call_of(task);
		open.time = gate->until - gate->since;
	} else {
		return 0;
	}
	if (open.nr == NO_CALL)
		return 0;
	open.pid = calls->pid;
	__builtin_memcpy(open.comm, calls->comm, sizeof(open.comm));
	bpf_seq_write(ctx->meta->seq, &open, sizeof(open));
	return 0;
}

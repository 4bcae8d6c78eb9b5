// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Allocations of HotSpot JVMs for which a thread took a new buffer (TLAB), and those that were too large for one: by process and class; stacks of one
 * in N. They run at the functions that JFR is told by, `AllocTracer::send_allocation_in_new_tlab(Klass *, HeapWord *, size_t buffer, size_t object, …)`
 * and `AllocTracer::send_allocation_outside_tlab(Klass *, HeapWord *, size_t object, …)` (allocTracer.hpp): the first and the third argument are
 * what is needed of both.
 */
#define COUNTED_STACKS
#define COUNTED_KIB 32
#include "counted.h"
#include "scope.h"
#include "thin.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Read by bpf.rs; so are the structures below. */
struct key {
	__u32 epoch;
	__u32 pid;
	__u64 klass;
	__u32 outside;
	__u32 zero;
	char comm[TASK_COMM_LEN];
};

struct sums {
	__u64 count;
	__u64 bytes;
};

/* With room from the start: kernels before 6.1 warn of programs at probes that ask for memory. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct key);
	__type(value, struct sums);
} sums SEC(".maps");

struct record {
	struct key key;
	__u64 bytes;
	__u64 at;
	__u64 tid;
	char thread[TASK_COMM_LEN];
	struct counted_stack stack;
};

static const struct sums NOTHING;

/* The first and the third argument of the function whose first instruction is about to be executed. */
static __always_inline bool arguments(struct task_struct *task, __u64 *first, __u64 *third)
{
	void *raw = (void *)bpf_task_pt_regs(task);
	struct pt_regs___x86 *x86 = raw;
	struct pt_regs___arm64 *arm = raw;

	if (!raw)
		return 0;
	if (bpf_core_field_exists(x86->orig_ax)) {
		*first = x86->di;
		*third = x86->dx;
		return 1;
	}
	if (bpf_core_field_exists(arm->syscallno)) {
		*first = arm->regs[0];
		*third = arm->regs[2];
		return 1;
	}
	return 0;
}

static __always_inline int allocated(__u32 outside)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct key key = {};
	struct record *record;
	struct sums *to;
	__u64 bytes = 0;

	if (!open_since() || !in_scope(task) || !arguments(task, &key.klass, &bytes))
		return 0;
	count(COUNT_EVENTS);
	key.epoch = epoch_now();
	key.pid = task->tgid;
	key.outside = outside;
	name_process(key.comm, task);
	to = sums_of(&sums, &key, &NOTHING);
	if (!to)
		return 0;
	__sync_fetch_and_add(&to->count, 1);
	__sync_fetch_and_add(&to->bytes, bytes);
	if (!take_stack())
		return 0;
	record = bpf_ringbuf_reserve(&stacks, sizeof(*record), 0);
	if (!record) {
		count(COUNT_LOST_STACKS);
		return 0;
	}
	record->key = key;
	record->bytes = bytes;
	record->at = bpf_ktime_get_ns();
	record->tid = task->pid;
	bpf_get_current_comm(record->thread, sizeof(record->thread));
	fill_user_stack(&record->stack, task);
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("uprobe")
int in_new_buffer(void *ctx)
{
	return allocated(0);
}

SEC("uprobe")
int outside_buffer(void *ctx)
{
	return allocated(1);
}

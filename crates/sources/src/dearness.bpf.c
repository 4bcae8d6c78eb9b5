// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Counts the system calls of one thread, and does for each what syscalls.bpf.c does: nobody reads it, it is to see what hooks take on this machine
 * (dearness.rs).
 */
#include "core.h"
#include "histogram.h"
#include "thin.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

enum { COUNT_CALLS, COUNTS };
#include "counts.h"

/* The thread that measures. */
const volatile __u32 measurer = 0;

struct calls {
	__u64 start;
	__u64 count;
	__u64 time;
	__u64 longest;
	__u32 buckets[BUCKETS];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct calls);
} calls SEC(".maps");

SEC("tp_btf/sys_enter")
int BPF_PROG(call_begins, struct pt_regs *regs, long nr)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct calls *its = bpf_task_storage_get(&calls, task, 0, 0);

	if (!its) {
		if (task->pid != measurer)
			return 0;
		its = bpf_task_storage_get(&calls, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
		if (!its)
			return 0;
	}
	its->start = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(call_ends, struct pt_regs *regs, long result)
{
	struct calls *its = bpf_task_storage_get(&calls, bpf_get_current_task_btf(), 0, 0);
	__u64 since = open_since(), spent;

	if (!its || its->start < since)
		return 0;
	spent = bpf_ktime_get_ns() - its->start;
	count(COUNT_CALLS);
	its->count++;
	its->time += spent;
	its->buckets[bucket_of(spent)]++;
	if (spent > its->longest)
		its->longest = spent;
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The kernel's structures as far as our programs look into them, for CO-RE: libbpf finds the real offsets in the BTF of
 * the running kernel, so only the names and types of members matter here, not their order. Structures with a suffix after three
 * underscores are how older kernels had them. A hand-written part instead of a generated vmlinux.h: it is small, it is the same on
 * every architecture, and it shows what we depend on.
 */
#ifndef TWINSCOPE_CORE_H
#define TWINSCOPE_CORE_H

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;

/* Kernel ABI, include/uapi/linux/bpf.h. */
enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_HASH = 5,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_SK_STORAGE = 24,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};
enum { BPF_F_NO_PREALLOC = 1 };
enum { BPF_ANY = 0, BPF_NOEXIST = 1 };
enum { BPF_LOCAL_STORAGE_GET_F_CREATE = 1, BPF_SK_STORAGE_GET_F_CREATE = 1 };
enum { BPF_RB_NO_WAKEUP = 1 };
struct bpf_pidns_info {
	__u32 pid;
	__u32 tgid;
};
/* For those who ask whether the running kernel has it: since Linux 5.17, and 5.18. */
enum bpf_func_id { BPF_FUNC_loop = 181, BPF_FUNC_map_lookup_percpu_elem = 195 };

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

/* include/linux/sched.h */
#define PF_KTHREAD 0x00200000
#define TASK_COMM_LEN 16

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct kuid {
	__u32 val;
};

struct cred {
	struct kuid uid;
};

struct kernfs_node {
	__u64 id;
};

struct cgroup_subsys_state {
	struct cgroup_subsys_state *parent;
};

struct cgroup_root {
	int hierarchy_id;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
	struct cgroup_root *root;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct percpu_counter {
	__s64 count;
};

/* Members of rss_stat, include/linux/mm_types_task.h. */
enum { MM_FILEPAGES, MM_ANONPAGES, MM_SWAPENTS, MM_SHMEMPAGES, NR_MM_COUNTERS };

struct mm_struct {
	unsigned long total_vm;
	/* Where the kernel put the arguments of the program: there the stack of its first thread begins. */
	unsigned long start_stack;
	/* since Linux 6.2 */
	struct percpu_counter rss_stat[NR_MM_COUNTERS];
};

struct mm_rss_stat {
	struct {
		__s64 counter;
	} count[NR_MM_COUNTERS];
};

/* before Linux 6.2 */
struct mm_struct___before_6_2 {
	struct mm_rss_stat rss_stat;
};

struct task_io_accounting {
	/* CONFIG_TASK_XACCT */
	__u64 rchar;
	__u64 wchar;
	__u64 syscr;
	__u64 syscw;
	/* CONFIG_TASK_IO_ACCOUNTING */
	__u64 read_bytes;
	__u64 write_bytes;
};

struct prev_cputime {
	__u64 utime;
	__u64 stime;
};

struct signal_struct {
	int nr_threads;
	__u64 utime;
	__u64 stime;
	__u64 cutime;
	__u64 cstime;
	struct prev_cputime prev_cputime;
	unsigned long nvcsw;
	unsigned long nivcsw;
	unsigned long min_flt;
	unsigned long maj_flt;
	unsigned long long sum_sched_runtime;
};

struct rq {
	__u64 clock;
};

struct cfs_rq {
	/* CONFIG_CFS_BANDWIDTH */
	int throttle_count;
	/* CONFIG_FAIR_GROUP_SCHED */
	struct rq *rq;
};

struct sched_entity {
	__u64 sum_exec_runtime;
	/* CONFIG_FAIR_GROUP_SCHED */
	struct cfs_rq *cfs_rq;
};

struct inode {
	__u16 i_mode;
	unsigned long i_ino;
};

struct file {
	struct inode *f_inode;
	/* of a socket: struct socket */
	void *private_data;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

/* arch/x86/include/asm/ptrace.h */
struct pt_regs___x86 {
	unsigned long bp;
	unsigned long r10;
	unsigned long r8;
	unsigned long dx;
	unsigned long si;
	unsigned long di;
	unsigned long orig_ax;
	unsigned long ip;
	unsigned long sp;
};

/* arch/arm64/include/asm/ptrace.h */
struct pt_regs___arm64 {
	__u64 regs[31];
	__u64 sp;
	__u64 pc;
	__u64 orig_x0;
	__s32 syscallno;
};

struct sched_info {
	unsigned long pcount;
	unsigned long long run_delay;
	unsigned long long last_queued;
};

struct thread_info {
	__u32 cpu;
	/* where the architecture keeps it there: arm64. Unsigned, so that it is found whatever its size is. */
	__u64 preempt_count;
	unsigned long flags;
	/* x86 */
	__u32 status;
};

struct bpf_local_storage;

struct task_struct {
	struct thread_info thread_info;
	/* since Linux 5.14 */
	unsigned int __state;
	unsigned int flags;
	int exit_state;
	int pid;
	int tgid;
	int prio;
	int static_prio;
	struct sched_entity se;
	struct sched_info sched_info;
	void *stack;
	struct mm_struct *mm;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	__u64 utime;
	__u64 stime;
	struct prev_cputime prev_cputime;
	unsigned long nvcsw;
	unsigned long nivcsw;
	__u64 start_time;
	__u64 start_boottime;
	unsigned long min_flt;
	unsigned long maj_flt;
	__u32 self_exec_id;
	const struct cred *cred;
	char comm[TASK_COMM_LEN];
	struct signal_struct *signal;
	struct task_io_accounting ioac;
	struct css_set *cgroups;
	struct files_struct *files;
	unsigned in_iowait : 1;
	int on_cpu;
	int on_rq;
	/* what eBPF programs keep with it */
	struct bpf_local_storage *bpf_storage;
	/* since Linux 6.18, CONFIG_CFS_BANDWIDTH: dequeued by the quota of its group */
	bool throttled;
	/* Above 0: faults in this task's memory are not handled, those who look at it see them as errors. */
	int pagefault_disabled;
};

/* arch/x86/include/asm/processor.h */
struct thread_struct___x86 {
	unsigned long fsbase;
};
struct task_struct___x86 {
	struct thread_struct___x86 thread;
};

/* before Linux 5.14 */
struct task_struct___before_5_14 {
	long state;
};

/* before Linux 5.16, and where thread_info lacks it */
struct task_struct___before_5_16 {
	unsigned int cpu;
};

/* before Linux 5.5: start_boottime had another name */
struct task_struct___before_5_5 {
	__u64 real_start_time;
};

struct bpf_iter_meta {
	struct seq_file *seq;
	__u64 session_id;
	__u64 seq_num;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

/*
 * `index`, of which the caller knows that it is below `size`, a power of two. The compiler knows it as a rule too and would leave out the mask, which
 * verifiers before Linux 6.13 want to see.
 */
static __always_inline __u32 masked(__u32 index, __u32 size)
{
	asm volatile("" : "+r"(index));
	return index & (size - 1);
}

/* The CPU on which `task` is, or was last. */
static __always_inline __u32 cpu_of(struct task_struct *task)
{
	struct task_struct___before_5_16 *old = (void *)task;

	/* The compiler must not find the place of the one that this kernel does not have before it is known which it has. */
	if (bpf_core_field_exists(task->thread_info.cpu)) {
		asm volatile("" : "+r"(task));
		return task->thread_info.cpu;
	}
	asm volatile("" : "+r"(old));
	return BPF_CORE_READ(old, cpu);
}

/* What the scheduler says of `task`: TASK_RUNNING, or in which way it sleeps. */
static __always_inline __u32 state_of(struct task_struct *task)
{
	struct task_struct___before_5_14 *old = (void *)task;

	if (bpf_core_field_exists(task->__state)) {
		asm volatile("" : "+r"(task));
		return task->__state;
	}
	asm volatile("" : "+r"(old));
	return BPF_CORE_READ(old, state);
}

#endif

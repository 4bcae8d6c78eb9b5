// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Reads of one file that got something, at the end of the system calls that read, by process.
 *
 * Which file that is user space says: it holds it by a descriptor and has `find_file` look what is behind it, so that it is known as the kernel knows it, whatever
 * the file system tells of its device. While the file is not there yet, reads of all FIFOs, pipes and regular files count, each under its own inode: what
 * was read from the right one is known once it is found.
 */
#include "counted.h"
#include "files.h"
#include "scope.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Read by bpf.rs; so are the structures below. */
enum { CALLS = 512 };
/* What a call reads, by number; filled in by user space, for numbers differ by machine. */
enum { READS_NONE, READS_BUFFER, READS_BUFFERS, RECEIVES_BUFFER, RECEIVES_MESSAGE };
const volatile __u8 call_class[CALLS] = {};

/* include/linux/socket.h: the same is read again. */
enum { MSG_PEEK = 2 };
/* A buffer of this size is a block of a file; what is smaller can be a record. */
enum { BLOCK = 4096 };

struct wanted {
	/* 0 while it is not there. */
	__u64 inode;
	__u64 number;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wanted);
} wanted SEC(".maps");

struct key {
	__u32 epoch;
	__u32 pid;
	/* The address alone could be that of an earlier file that is gone. */
	__u64 inode;
	__u64 number;
	char comm[TASK_COMM_LEN];
};

struct sums {
	__u64 reads;
	__u64 bytes;
	/* Reads that filled a buffer of a block or more. */
	__u64 full;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct key);
	__type(value, struct sums);
} sums SEC(".maps");

static const struct sums NOTHING;

static __always_inline int is_read(struct task_struct *task, struct registers *at, __u32 class, __u64 length)
{
	__u32 zero = 0;
	struct wanted *file_wanted = bpf_map_lookup_elem(&wanted, &zero);
	struct file *file = file_behind(task, at->arguments[0]);
	struct inode *inode = file ? BPF_CORE_READ(file, f_inode) : 0;
	struct key key = {};
	struct sums *to;
	__u32 kind;

	if (!file_wanted || !inode)
		return 0;
	if (file_wanted->inode && file_wanted->inode != (__u64)inode)
		return 0;
	if (!file_wanted->inode) {
		kind = BPF_CORE_READ(inode, i_mode) & S_IFMT;
		if (kind != S_IFIFO && kind != S_IFREG)
			return 0;
	}
	count(COUNT_EVENTS);
	key.epoch = epoch_now();
	key.pid = task->tgid;
	key.inode = (__u64)inode;
	key.number = BPF_CORE_READ(inode, i_ino);
	name_process(key.comm, task);
	to = sums_of(&sums, &key, &NOTHING);
	if (!to)
		return 0;
	__sync_fetch_and_add(&to->reads, 1);
	__sync_fetch_and_add(&to->bytes, length);
	if (class != READS_BUFFERS && class != RECEIVES_MESSAGE && length >= BLOCK && length == at->arguments[2])
		__sync_fetch_and_add(&to->full, 1);
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(call_ends, struct pt_regs *regs, long result)
{
	struct task_struct *task;
	struct registers at;
	__u32 class;

	if (result <= 0)
		return 0;
	task = bpf_get_current_task_btf();
	if (!in_scope(task) || is_compat(task) || !registers_of(&at, task) || at.call < 0 || at.call >= CALLS)
		return 0;
	class = call_class[masked(at.call, CALLS)];
	if (class == READS_NONE)
		return 0;
	/* recvfrom(2) has its flags as the fourth argument, recvmsg(2) as the third. */
	if (class == RECEIVES_BUFFER && at.arguments[3] & MSG_PEEK)
		return 0;
	if (class == RECEIVES_MESSAGE && at.arguments[2] & MSG_PEEK)
		return 0;
	return is_read(task, &at, class, result);
}

struct question {
	/* Of this program's own; one that it does not have: no file is wanted. */
	__u64 descriptor;
};

SEC("syscall")
int find_file(struct question *question)
{
	__u32 zero = 0, descriptor = question->descriptor;
	struct wanted *file_wanted = bpf_map_lookup_elem(&wanted, &zero);
	struct file *file = file_behind(bpf_get_current_task_btf(), descriptor);
	struct inode *inode = file ? BPF_CORE_READ(file, f_inode) : 0;

	if (!file_wanted)
		return 0;
	file_wanted->number = inode ? BPF_CORE_READ(inode, i_ino) : 0;
	file_wanted->inode = (__u64)inode;
	return 0;
}

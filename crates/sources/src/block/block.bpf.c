// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Requests to block devices: how many, how large, how long they were kept back and how long the device took.
 *
 * A request is followed by its address from when it is made (block_io_start, in the thread that asks for it) over its hand-over to the
 * driver (block_rq_issue) to its end (block_rq_complete). What asks for a flush is a request without data that the kernel does not hand over
 * itself; the flush that it sends instead, for one or many of them, was made by nobody and is not counted.
 */
#include "counted.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

enum { DISK_NAME_LEN = 32 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct gendisk {
	char disk_name[DISK_NAME_LEN];
};

struct request_queue {
	/* since Linux 5.17 */
	struct gendisk *disk;
};

struct request {
	struct request_queue *q;
	unsigned int cmd_flags;
	unsigned int __data_len;
};

/* before Linux 5.17 */
struct request___before_5_17 {
	struct gendisk *rq_disk;
};

#pragma clang attribute pop

/* enum req_op, include/linux/blk_types.h. */
#define OP_MASK 0xff
enum { REQ_OP_WRITE = 1, REQ_OP_FLUSH = 2 };

/* Read by bpf.rs; so are the structures below. */
struct key {
	__u32 epoch;
	__u32 op;
	__u32 kernel_thread;
	__u32 zero;
	char device[DISK_NAME_LEN];
	char comm[TASK_COMM_LEN];
};

struct sums {
	__u64 count;
	__u64 bytes;
	__u64 time;
	__u64 queued;
	__u64 buckets[BUCKETS];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct key);
	__type(value, struct sums);
} sums SEC(".maps");

struct flight {
	__u64 made;
	/* 0: not handed over yet. */
	__u64 issued;
	__u64 bytes;
	__u32 op;
	__u32 kernel_thread;
	char comm[TASK_COMM_LEN];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, struct flight);
} flights SEC(".maps");

/* Whether block_io_start is there. Set before loading. */
const volatile bool knows_start = 1;

static const struct sums NOTHING;

static __always_inline int begin(struct request *request, bool issued)
{
	/* Not its structure, which programs cannot have before Linux 5.11: requests are few. */
	struct task_struct *task = (void *)bpf_get_current_task();
	struct flight flight = {.made = bpf_ktime_get_ns()};
	__u64 address = (__u64)request;
	__u32 op = request->cmd_flags & OP_MASK;

	flight.issued = issued ? flight.made : 0;
	flight.op = op == REQ_OP_WRITE && !request->__data_len ? REQ_OP_FLUSH : op;
	flight.kernel_thread = !!(BPF_CORE_READ(task, flags) & PF_KTHREAD);
	BPF_CORE_READ_INTO(&flight.comm, task, group_leader, comm);
	if (bpf_map_update_elem(&flights, &address, &flight, BPF_ANY))
		count(COUNT_LOST);
	return 0;
}

SEC("tp_btf/block_io_start")
int BPF_PROG(request_is_made, struct request *request)
{
	return begin(request, 0);
}

/* Where block_io_start is missing. */
SEC("tp_btf/block_rq_insert")
int BPF_PROG(request_is_queued, struct request *request)
{
	return begin(request, 0);
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(request_is_issued, struct request *request)
{
	__u64 address = (__u64)request;
	struct flight *flight = bpf_map_lookup_elem(&flights, &address);

	if (flight) {
		flight->issued = bpf_ktime_get_ns();
		return 0;
	}
	return knows_start ? 0 : begin(request, 1);
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(request_ends, struct request *request, int error, unsigned int bytes)
{
	__u64 address = (__u64)request, now, time;
	struct flight *flight = bpf_map_lookup_elem(&flights, &address);
	struct request___before_5_17 *old = (void *)request;
	struct key key = {};
	struct sums *to;

	if (!flight)
		return 0;
	flight->bytes += bytes;
	/* A part of it. */
	if (bytes < request->__data_len)
		return 0;
	now = bpf_ktime_get_ns();
	count(COUNT_EVENTS);
	key.epoch = epoch_now();
	key.op = flight->op;
	key.kernel_thread = flight->kernel_thread;
	__builtin_memcpy(key.comm, flight->comm, sizeof(key.comm));
	if (bpf_core_field_exists(request->q->disk))
		BPF_CORE_READ_STR_INTO(&key.device, request, q, disk, disk_name);
	else if (bpf_core_field_exists(old->rq_disk))
		BPF_CORE_READ_STR_INTO(&key.device, old, rq_disk, disk_name);
	to = sums_of(&sums, &key, &NOTHING);
	if (to) {
		time = now - (flight->issued ? flight->issued : flight->made);
		__sync_fetch_and_add(&to->count, 1);
		__sync_fetch_and_add(&to->bytes, flight->bytes);
		__sync_fetch_and_add(&to->time, time);
		if (flight->issued)
			__sync_fetch_and_add(&to->queued, flight->issued - flight->made);
		__sync_fetch_and_add(&to->buckets[bucket_of(time)], 1);
	}
	bpf_map_delete_elem(&flights, &address);
	return 0;
}

/* A request that was merged into another one after it was made ends with that. */
SEC("tp_btf/block_rq_merge")
int BPF_PROG(request_is_merged, struct request *request)
{
	__u64 address = (__u64)request;

	bpf_map_delete_elem(&flights, &address);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What was counted and lost.
 */
#ifndef TWINSCOPE_THREADS_COUNTS_H
#define TWINSCOPE_THREADS_COUNTS_H

#include "ledger.h"

/* What was counted and lost, read by bpf.rs. */
enum { COUNT_SWITCHES, COUNT_USER_STACKS, COUNT_USER_LEFT_OUT, COUNT_KERNEL_STACKS, COUNT_KERNEL_LEFT_OUT, LOST_EVENTS, LOST_STACKS, LOST_LEDGERS, COUNTS };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, COUNTS);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

static __always_inline void count(__u32 what)
{
	__u64 *sum = bpf_map_lookup_elem(&counts, &what);

	if (sum)
		*sum += 1;
}

#endif

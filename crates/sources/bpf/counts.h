/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What a program counts of itself, and what it lost. Before this is included an enum names the counters; its last name is COUNTS.
 *
 * `Counts` of tally.rs reads them.
 */
#ifndef TWINSCOPE_COUNTS_H
#define TWINSCOPE_COUNTS_H

#include "core.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, COUNTS);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

static __always_inline void count_more(__u32 what, __u64 more)
{
	__u64 *sum = bpf_map_lookup_elem(&counts, &what);

	if (sum)
		*sum += more;
}

static __always_inline void count(__u32 what)
{
	count_more(what, 1);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The gate of a collector that thins itself out: its programs count while it is open, and are attached little longer than that.
 *
 * `src/thin/` opens and shuts it.
 */
#ifndef TWINSCOPE_THIN_H
#define TWINSCOPE_THIN_H

#include "core.h"

/* The stretch in which it is open, or was last. */
struct gate {
	__u64 since;
	/* 0 while it is open. */
	__u64 until;
	/* Since when the programs are attached: the gate is shut and opened again within, to be read. */
	__u64 attached;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct gate);
} gate SEC(".maps");

static __always_inline struct gate *the_gate(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&gate, &zero);
}

/* Since when events count; 0 while none does. What began earlier began when nobody may have seen it. */
static __always_inline __u64 open_since(void)
{
	struct gate *gate = the_gate();

	return gate && !gate->until ? gate->since : 0;
}

/* Since when nothing escapes the programs but what happens in the moments in which they are read; 0 while the gate is shut. */
static __always_inline __u64 attached_since(void)
{
	struct gate *gate = the_gate();

	return gate && !gate->until ? gate->attached : 0;
}

#endif

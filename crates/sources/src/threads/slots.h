/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * How many threads were on a CPU, and how many waited for one, in each 10 ms: a ring of slots for each CPU, which user space adds up.
 */
#ifndef TWINSCOPE_SLOTS_H
#define TWINSCOPE_SLOTS_H

#include "ledger.h"

enum { SLOT_LENGTH = 10000000 };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SLOTS);
	__type(key, __u32);
	__type(value, struct slot);
} slots SEC(".maps");

/* The slot `number`, emptied of what an earlier turn of the ring left in it. */
static __always_inline struct slot *slot_of(__u64 number)
{
	__u32 key = number % SLOTS;
	struct slot *slot = bpf_map_lookup_elem(&slots, &key);

	if (slot && slot->number != number) {
		__builtin_memset(slot, 0, sizeof(*slot));
		slot->number = number;
	}
	return slot;
}

static __always_inline void put_part(struct slot *slot, __s64 part, bool runs)
{
	__sync_fetch_and_add(runs ? &slot->running : &slot->runnable, part);
}

static __always_inline void put_more(struct slot *slot, __s32 more, bool runs)
{
	__sync_fetch_and_add(runs ? &slot->running_more : &slot->runnable_more, more);
}

/* Puts the time from `from` to `to` into the slots. */
static __always_inline void put_into_slots(__u64 from, __u64 to, bool runs)
{
	__u64 last = to / SLOT_LENGTH, first;
	struct slot *slot;

	if (from >= to)
		return;
	slot = slot_of(last);
	if (!slot)
		return;
	/* As nearly all do; a division less. */
	if (from >= last * SLOT_LENGTH) {
		put_part(slot, to - from, runs);
		return;
	}
	put_part(slot, to - last * SLOT_LENGTH, runs);
	put_more(slot, -1, runs);
	first = from / SLOT_LENGTH;
	if (last - first >= SLOTS)
		return;
	/* The first slot: the part of it, and from the next on whole ones, which may be none. */
	slot = slot_of(first);
	if (!slot)
		return;
	put_part(slot, (first + 1) * SLOT_LENGTH - from, runs);
	slot = slot_of(first + 1);
	if (slot)
		put_more(slot, 1, runs);
}

#endif

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

/*
 * Who puts time into slots. A read may be interrupted by a switch on its CPU, not the other way round: it adds in single instructions, a switch need not.
 */
enum writer { BY_SWITCH, BY_READ };

/* The slot into which a switch put time last: its number and when it began. To look here takes less time than to divide. */
struct latest {
	__u64 number;
	__u64 begin;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct latest);
} latest SEC(".maps");

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

static __always_inline void put_part(struct slot *slot, __s64 part, bool runs, enum writer writer)
{
	__s64 *to = runs ? &slot->running : &slot->runnable;

	if (writer == BY_READ)
		__sync_fetch_and_add(to, part);
	else
		*to += part;
}

static __always_inline void put_more(struct slot *slot, __s32 more, bool runs, enum writer writer)
{
	__s32 *to = runs ? &slot->running_more : &slot->runnable_more;

	if (writer == BY_READ)
		__sync_fetch_and_add(to, more);
	else
		*to += more;
}

static __always_inline struct latest slot_at(__u64 time)
{
	__u64 number = time / SLOT_LENGTH;

	return (struct latest){number, number * SLOT_LENGTH};
}

/* Puts the time from `from` to `to` into the slots. */
static __always_inline void put_into_slots(__u64 from, __u64 to, bool runs, enum writer writer)
{
	struct latest last, *known;
	struct slot *slot;
	__u64 first;
	__u32 only = 0;

	if (from >= to)
		return;
	if (writer == BY_READ) {
		last = slot_at(to);
	} else {
		known = bpf_map_lookup_elem(&latest, &only);
		if (!known)
			return;
		if (to - known->begin >= SLOT_LENGTH)
			*known = slot_at(to);
		last = *known;
	}
	slot = slot_of(last.number);
	if (!slot)
		return;
	/* As nearly all do. */
	if (from >= last.begin) {
		put_part(slot, to - from, runs, writer);
		return;
	}
	put_part(slot, to - last.begin, runs, writer);
	put_more(slot, -1, runs, writer);
	first = from / SLOT_LENGTH;
	if (last.number - first >= SLOTS)
		return;
	/* The first slot: the part of it, and from the next on whole ones, which may be none. */
	slot = slot_of(first);
	if (!slot)
		return;
	put_part(slot, (first + 1) * SLOT_LENGTH - from, runs, writer);
	slot = slot_of(first + 1);
	if (slot)
		put_more(slot, 1, runs, writer);
}

/* Not static, so that the kernel verifies it once and not along each way to each of its calls. */
int put_switch_into_slots(__u64 from, __u64 to, __u32 runs);

/* The same at a switch. */
__noinline int put_switch_into_slots(__u64 from, __u64 to, __u32 runs)
{
	put_into_slots(from, to, runs, BY_SWITCH);
	return 0;
}

#endif

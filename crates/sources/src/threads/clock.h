/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What time it is at a switch, and since when a thread has waited for a CPU, without asking the clock, which takes as long as a third of all else: the
 * scheduler has just done so. __schedule() sets the clock of its run queue before it picks who runs next, and the kernel notes by that clock when a thread
 * is queued (kernel/sched/stats.h). It is the CPU's own, sched_clock_cpu(); how far CLOCK_MONOTONIC is from it is looked at again each millisecond.
 */
#ifndef TWINSCOPE_CLOCK_H
#define TWINSCOPE_CLOCK_H

#include "core.h"

/*
 * How often the distance is looked at; after how long what is known of it counts no more, as of a CPU that slept; and which growth of it says that the two
 * clocks have parted. Nanoseconds.
 */
enum { LOOK_AT_CLOCK = 1 << 20, LONG_AGO = 1 << 24, PARTED = 1 << 20 };

/* For tests: as if the kernel kept none of this. */
const volatile bool ask_clock = 0;

struct clock {
	/* By the run queue's clock, when the distance was looked at; and what is to be added to that clock. */
	__u64 looked;
	__u64 distance;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct clock);
} clocks SEC(".maps");

/*
 * Whether `length` has passed from `since` to `now`. The time of a switch and that of the clock, and times of switches on two CPUs, may be some
 * microseconds apart: then `now` is the earlier, and nothing has.
 */
static __always_inline bool has_passed(__u64 length, __u64 since, __u64 now)
{
	return (__s64)(now - since) >= (__s64)length;
}

static __always_inline bool has_queue_clock(void)
{
	return bpf_core_field_exists(struct cfs_rq, rq) && !ask_clock;
}

/* Whether the kernel notes when a thread is queued: since Linux 5.14 it does so unless it was built without; before, only where someone has asked. */
static __always_inline bool notes_queueing(void)
{
	return has_queue_clock() && bpf_core_field_exists(struct sched_info, last_queued) && bpf_core_field_exists(struct task_struct, __state);
}

/*
 * CLOCK_MONOTONIC as of the switch that is under way on this CPU, to or from `task`, and its distance from the run queue's clock. Between the one and the
 * other lies what the scheduler did in the meantime, some hundred nanoseconds as a rule, so that the least distance counts, and a greater one slowly: the
 * two drift apart by less than half a thousandth (adjtimex(2)).
 */
static __always_inline __u64 time_of_switch(struct task_struct *task, __u64 *distance)
{
	struct clock *clock;
	__u64 at, found;
	__u32 first = 0;

	*distance = 0;
	if (!has_queue_clock())
		return bpf_ktime_get_ns();
	clock = bpf_map_lookup_elem(&clocks, &first);
	if (!clock)
		return bpf_ktime_get_ns();
	at = task->se.cfs_rq->rq->clock;
	if (at - clock->looked >= LOOK_AT_CLOCK) {
		found = bpf_ktime_get_ns() - at;
		/* The two are unsigned, and either may be the greater. */
		if (at - clock->looked >= LONG_AGO) {
			/* The first switch after a sleep takes longer than others: the next one looks again. */
			clock->looked = at - LOOK_AT_CLOCK;
		} else {
			if (found - clock->distance < PARTED)
				found = clock->distance + ((found - clock->distance) >> 3);
			clock->looked = at;
		}
		clock->distance = found;
	}
	*distance = clock->distance;
	return at + *distance;
}

/* The distance on `cpu`; 0 where nobody has looked yet. */
static __always_inline __u64 distance_on(__u32 cpu)
{
	struct clock *clock;
	__u32 first = 0;

	/* Before Linux 5.18 that of this CPU has to do: they differ where the kernel says that its clocks are not stable. */
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_map_lookup_percpu_elem))
		clock = bpf_map_lookup_percpu_elem(&clocks, &first, cpu);
	else
		clock = bpf_map_lookup_elem(&clocks, &first);
	return clock ? clock->distance : 0;
}

#endif

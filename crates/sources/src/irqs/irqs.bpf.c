// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Time in interrupts: handlers of devices, soft interrupts, functions of timers.
 *
 * A handler interrupts a soft interrupt or a timer's function, never the other way round; its time is not theirs. A timer of the wheel
 * runs in the soft interrupt TIMER and counts in both.
 */
#include "counted.h"
#include "thin.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Read by bpf.rs; so are the structures below. */
enum { KIND_IRQ, KIND_SOFTIRQ, KIND_TIMER, KIND_HRTIMER, KINDS };
enum { NAME_LEN = 24 };
/* Events of each kind. */
enum { COUNT_KINDS = COUNT_LOST_STACKS + 1 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct irqaction {
	const char *name;
};

struct timer_list {
	void *function;
};

struct hrtimer {
	void *function;
};

#pragma clang attribute pop

struct key {
	__u32 epoch;
	__u32 cpu;
	__u32 kind;
	__u32 number;
	__u64 function;
	char name[NAME_LEN];
};

struct sums {
	__u64 count;
	__u64 time;
	__u64 longest;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct key);
	__type(value, struct sums);
} sums SEC(".maps");

/* What this CPU is in. */
struct here {
	__u64 start[KINDS];
	/* `hard` when it began. */
	__u64 before[KINDS];
	__u64 function[KINDS];
	/* Time in handlers and high-resolution timers so far. */
	__u64 hard;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct here);
} state SEC(".maps");

static const struct sums NOTHING;

static __always_inline struct here *this_cpu(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&state, &zero);
}

static __always_inline int begin(__u32 kind, __u64 function)
{
	struct here *here;

	if (!open_since())
		return 0;
	here = this_cpu();
	if (!here || kind >= KINDS)
		return 0;
	here->function[kind] = function;
	here->before[kind] = here->hard;
	here->start[kind] = bpf_ktime_get_ns();
	return 0;
}

static __always_inline int end(struct key *key)
{
	struct here *here = this_cpu();
	__u64 since = open_since();
	__u32 kind = key->kind;
	struct sums *to;
	__u64 time;

	/* Nobody counts, or it began when nobody did. */
	if (!since || !here || kind >= KINDS || here->start[kind] < since)
		return 0;
	time = bpf_ktime_get_ns() - here->start[kind];
	here->start[kind] = 0;
	if (kind == KIND_IRQ || kind == KIND_HRTIMER) {
		/* With what came in between, which has added itself already. */
		here->hard = here->before[kind] + time;
	} else {
		__u64 between = here->hard - here->before[kind];

		time -= between < time ? between : time;
	}
	count(COUNT_EVENTS);
	count(COUNT_KINDS + kind);
	key->function = here->function[kind];
	key->epoch = epoch_now();
	key->cpu = bpf_get_smp_processor_id();
	to = sums_of(&sums, key, &NOTHING);
	if (!to)
		return 0;
	/* Nobody else writes to sums of this CPU and kind. */
	to->count++;
	to->time += time;
	if (time > to->longest)
		to->longest = time;
	return 0;
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(handler_begins, int irq, struct irqaction *action)
{
	return begin(KIND_IRQ, 0);
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(handler_ends, int irq, struct irqaction *action, int handled)
{
	struct key key = {.kind = KIND_IRQ, .number = irq};

	bpf_probe_read_kernel_str(key.name, sizeof(key.name), action->name);
	return end(&key);
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(softirq_begins, unsigned int vector)
{
	return begin(KIND_SOFTIRQ, 0);
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(softirq_ends, unsigned int vector)
{
	struct key key = {.kind = KIND_SOFTIRQ, .number = vector};

	return end(&key);
}

SEC("tp_btf/timer_expire_entry")
int BPF_PROG(timer_begins, struct timer_list *timer)
{
	return begin(KIND_TIMER, (__u64)timer->function);
}

SEC("tp_btf/timer_expire_exit")
int BPF_PROG(timer_ends, struct timer_list *timer)
{
	struct key key = {.kind = KIND_TIMER};

	return end(&key);
}

SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(hrtimer_begins, struct hrtimer *timer)
{
	return begin(KIND_HRTIMER, (__u64)timer->function);
}

SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(hrtimer_ends, struct hrtimer *timer)
{
	struct key key = {.kind = KIND_HRTIMER};

	return end(&key);
}

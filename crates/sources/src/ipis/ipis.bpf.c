// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Interrupts that CPUs send each other, by who sends them and why.
 *
 * The kernel queues a function for other CPUs (csd_queue_cpu) and then interrupts those that were idle in this respect (ipi_send_cpu,
 * ipi_send_cpumask), which name no more than the common handler. So the function is remembered on the CPU until the next interrupt is
 * sent. An interrupt that comes between may do the same: then there are two, and the inner one goes first. A TLB shootdown says itself
 * beforehand (tlb_flush), with the number of pages.
 */
#define COUNTED_STACKS
#include "counted.h"
#include "scope.h"
#include "thin.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Read by bpf.rs; so are the structures below. */
enum { KIND_CALL, KIND_RESCHEDULE, KIND_TLB, KIND_IRQ_WORK };
/* Runs of programs, whether there was something to count or not: tlb_flush comes with each switch to another process. */
enum { COUNT_FLUSHES = COUNT_LOST_STACKS + 1, COUNT_QUEUED, COUNT_ONE, COUNT_MANY };

/* TLB_REMOTE_SEND_IPI, include/linux/mm_types.h. */
enum { TLB_REMOTE_SEND_IPI = 4 };

/* 64-bit words of a CPU mask that have a CPU, set before loading. */
const volatile __u32 cpu_words = 1;

struct key {
	__u32 epoch;
	__u32 cpu;
	__u32 kind;
	__u32 pid;
	__u64 function;
	char comm[TASK_COMM_LEN];
	char thread[TASK_COMM_LEN];
};

struct sums {
	__u64 count;
	__u64 targets;
	__u64 pages;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct key);
	__type(value, struct sums);
} sums SEC(".maps");

struct queued {
	__u64 function;
	__u64 pages;
	__u32 tlb;
	__u32 zero;
};

struct pending {
	struct queued inner;
	struct queued outer;
	/* Of a shootdown that has been announced. */
	__u64 pages;
	__u32 tlb;
	__u32 zero;
	/* Since when the programs were attached then: what was pending when they were detached is over. */
	__u64 attached;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pending);
} pending SEC(".maps");

struct record {
	struct key key;
	struct sums sums;
	struct counted_stack stack;
};

static const struct sums NOTHING;

static __always_inline void note_run(__u32 counter)
{
	if (open_since())
		count(counter);
}

static __always_inline struct pending *pending_here(void)
{
	__u32 zero = 0;
	struct pending *here = bpf_map_lookup_elem(&pending, &zero);
	struct gate *gate = the_gate();

	if (!here || !gate)
		return 0;
	if (here->attached != gate->attached) {
		__builtin_memset(here, 0, sizeof(*here));
		here->attached = gate->attached;
	}
	return here;
}

static __always_inline int sent(void *ctx, __u32 kind, __u64 function, __u64 targets, __u64 pages)
{
	struct task_struct *task = bpf_get_current_task_btf();
	/* Interrupts may not flush other CPUs' TLBs: they would have to wait for them. */
	bool interrupt = kind == KIND_TLB ? 0 : in_interrupt(ctx, task);
	struct key key = {};
	struct record *record;
	struct sums *to;

	if (!open_since())
		return 0;
	if (interrupt ? !scope_everything : !in_scope(task))
		return 0;
	count(COUNT_EVENTS);
	key.epoch = epoch_now();
	key.cpu = bpf_get_smp_processor_id();
	key.kind = kind;
	key.function = function;
	if (!interrupt) {
		key.pid = task->tgid;
		name_process(key.comm, task);
		bpf_probe_read_kernel(key.thread, sizeof(key.thread), task->comm);
	}
	to = sums_of(&sums, &key, &NOTHING);
	if (!to)
		return 0;
	__sync_fetch_and_add(&to->count, 1);
	__sync_fetch_and_add(&to->targets, targets);
	__sync_fetch_and_add(&to->pages, pages);
	if (!take_stack())
		return 0;
	record = bpf_ringbuf_reserve(&stacks, sizeof(*record), 0);
	if (!record) {
		count(COUNT_LOST_STACKS);
		return 0;
	}
	record->key = key;
	record->sums.count = 1;
	record->sums.targets = targets;
	record->sums.pages = pages;
	fill_stack(ctx, &record->stack, task, interrupt);
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	return 0;
}

/* What was queued last on this CPU is being sent. */
static __always_inline int call_is_sent(void *ctx, __u64 targets, __u64 handler)
{
	struct pending *here = pending_here();
	struct queued was = {};

	if (here) {
		was = here->inner;
		here->inner = here->outer;
		__builtin_memset(&here->outer, 0, sizeof(here->outer));
	}
	return sent(ctx, was.tlb ? KIND_TLB : KIND_CALL, was.function ? was.function : handler, targets, was.pages);
}

SEC("tp_btf/tlb_flush")
int BPF_PROG(tlb_is_flushed, int reason, unsigned long pages)
{
	struct pending *here;

	note_run(COUNT_FLUSHES);
	if (reason != TLB_REMOTE_SEND_IPI)
		return 0;
	here = pending_here();
	if (!here)
		return 0;
	here->tlb = 1;
	/* TLB_FLUSH_ALL: more than are flushed one by one. They have no number. */
	here->pages = pages == ~0ul ? 0 : pages;
	return 0;
}

/* raw_tp, for the verifier does not let tp_btf programs read an argument that is a pointer to a function. */
SEC("raw_tp/csd_queue_cpu")
int BPF_PROG(call_is_queued, unsigned int cpu, unsigned long site, void *function)
{
	struct pending *here = pending_here();

	note_run(COUNT_QUEUED);
	if (!here)
		return 0;
	if (here->inner.function == (__u64)function && !here->tlb)
		return 0;
	if (here->inner.function != (__u64)function)
		here->outer = here->inner;
	here->inner.function = (__u64)function;
	here->inner.tlb = here->tlb;
	here->inner.pages = here->pages;
	here->tlb = 0;
	here->pages = 0;
	return 0;
}

SEC("tp_btf/ipi_send_cpu")
int BPF_PROG(one_is_interrupted, unsigned int cpu, unsigned long site, void *callback)
{
	__u64 handler = (__u64)callback;

	note_run(COUNT_ONE);
	if (!handler)
		return sent(ctx, KIND_RESCHEDULE, 0, 1, 0);
	/* A CPU that interrupts itself has work to do outside of what it is in. Work for others is queued as a call. */
	if (cpu == bpf_get_smp_processor_id())
		return sent(ctx, KIND_IRQ_WORK, handler, 1, 0);
	return call_is_sent(ctx, 1, handler);
}

SEC("tp_btf/ipi_send_cpumask")
int BPF_PROG(many_are_interrupted, const void *mask, unsigned long site, void *callback)
{
	__u64 handler = (__u64)callback, word, targets = 0;

	note_run(COUNT_MANY);
	for (__u32 i = 0; i < 128 && i < cpu_words; i++) {
		if (bpf_probe_read_kernel(&word, sizeof(word), mask + i * sizeof(word)))
			break;
		word -= (word >> 1) & 0x5555555555555555ull;
		word = (word & 0x3333333333333333ull) + ((word >> 2) & 0x3333333333333333ull);
		word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0full;
		targets += (word * 0x0101010101010101ull) >> 56;
	}
	if (!handler)
		return sent(ctx, KIND_RESCHEDULE, 0, targets, 0);
	return call_is_sent(ctx, targets, handler);
}

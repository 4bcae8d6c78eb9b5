// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Runs at each sample of what the CPUs run, before the kernel writes it down: tells the Python functions that the sampled thread is in.
 */
#include "python.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* `TAKEN` and so on of stacks/python/live.rs. */
enum { TAKEN, CUT, LOST, SPENT, COUNTS };
#include "counts.h"

/* Drained ten times a second: room for twice as many samples of the deepest stacks as a CPU takes in that time, of a hundred CPUs. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} python_stacks SEC(".maps");

SEC("perf_event")
int python_sample(void *context)
{
	__u64 begin = bpf_ktime_get_ns();
	struct python_stack *stack = python_stack();
	__u32 frames;

	if (!stack)
		return 1;
	stack->at = bpf_ktime_get_ns();
	frames = stack->count;
	if (frames && frames <= PYTHON_FRAMES) {
		if (bpf_ringbuf_output(&python_stacks, stack, sizeof(*stack) - (PYTHON_FRAMES - frames) * sizeof(struct python_frame),
				       BPF_RB_NO_WAKEUP))
			count(LOST);
		else
			count(TAKEN);
		if (!stack->whole)
			count(CUT);
	}
	count_more(SPENT, bpf_ktime_get_ns() - begin);
	/* The sample is wanted whatever was found. */
	return 1;
}

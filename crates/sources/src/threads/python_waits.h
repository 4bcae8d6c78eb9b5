/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The Python functions of threads that block, or that wake others. One place in the interpreter is where most of its functions block, so that the innermost
 * functions are a part of what a place is called.
 */
#ifndef TWINSCOPE_PYTHON_WAITS_H
#define TWINSCOPE_PYTHON_WAITS_H

#include "ledger.h"
#include "python.h"

/* So many functions tell one place from another. */
enum { PYTHON_TELLING = 4 };

/* Not static, for these are verified once then. */
__u64 python_place(struct ledger *ledger, __u64 place);
int tell_python_stack(__u64 place);

/*
 * The name of a place with the innermost functions of the current thread, if it has any and its stack was told before. `ledger`: of a thread that blocks; of
 * its waits that are not looked at closely, one at the place of the wait before has the name of that.
 */
__noinline __u64 python_place(struct ledger *ledger, __u64 place)
{
	__u64 both = bpf_get_current_pid_tgid(), *thread;
	__u32 pid = both;
	struct python_work *work = python_of(both >> 32);

	if (!work)
		return place;
	if (ledger) {
		if (!ledger->closely && ledger->plain_place == place)
			return ledger->place;
		ledger->plain_place = place;
	}
	thread = bpf_map_lookup_elem(&python_threads, &pid);
	if (!thread || !python_innermost(work, *thread))
		return place;
	for (int i = 0; i < PYTHON_TELLING; i++) {
		if (bpf_probe_read_user(work->frame_bytes, masked(work->python.frame_size, PYTHON_FRAME), (void *)work->frame))
			break;
		place = python_mix(place, word_in(work->frame_bytes, work->python.frame_code));
		work->frame = word_in(work->frame_bytes, work->python.frame_caller);
		if (!work->frame)
			break;
	}
	return place;
}

/* Tells the functions that the current thread is in. The stack of machine code at this place follows. */
__noinline int tell_python_stack(__u64 place)
{
	struct python_stack *stack;
	__u32 count;

	/* It is followed by bpf_loop(). */
	if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_loop))
		return 0;
	stack = python_stack();
	if (!stack)
		return 0;
	count = stack->count;
	if (!count || count > PYTHON_FRAMES)
		return 0;
	stack->kind = RECORD_PYTHON_STACK;
	stack->at = place;
	bpf_ringbuf_output(&stacks, stack, sizeof(*stack) - (PYTHON_FRAMES - count) * sizeof(struct python_frame),
			   BPF_RB_NO_WAKEUP);
	return 1;
}

#endif

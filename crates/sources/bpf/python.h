/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The Python functions that the current thread is in, as CPython 3.11 and later keeps them: a list of frames, innermost first, in memory of
 * the program. It is followed when a sample is taken or the thread blocks: it does not go on meanwhile, so that the list is in order, and of that moment.
 *
 * All of it is what a program that may mean harm says of itself: every loop is bounded, every address is read with bpf_probe_read_user(), and what does
 * not look like a frame ends the list.
 */
#ifndef TWINSCOPE_PYTHON_H
#define TWINSCOPE_PYTHON_H

#include "core.h"

/* Functions of a stack that are told, two less; frames among which the place of the last is looked for; and threads of a program that are looked through. */
enum { PYTHON_FRAMES = 128, PYTHON_DEEPEST = 384, PYTHON_THREADS = 1024 };
/* Bytes of a frame and of a code object that are read at most. */
enum { PYTHON_FRAME = 128, PYTHON_CODE = 256 };

/* Where CPython keeps things in a process. Offsets are in bytes; `Layout` of stacks/python/layout.rs fills it in, member by member. */
struct python {
	/* Addresses: of the pointer to the first interpreter, and of the type of code objects. */
	__u64 interpreters, code_type;
	/* The pid namespace of the process: CPython knows its threads by the numbers that they have there. */
	__u64 namespace_device, namespace_inode;
	/* In an interpreter: the next one, and its first thread. */
	__u32 interpreter_next, interpreter_threads;
	/* In a thread: its neighbours in the list, its interpreter, the number that the kernel gave it, and its innermost frame. */
	__u32 thread_previous, thread_next, thread_interpreter, thread_number, thread_frame;
	/* Before 3.13 a thread has the innermost record of calls of the interpreter's loop instead, which lies on the stack: in it the frame, and the record before. */
	__u32 has_calls, call_frame, call_before;
	/* In a frame: the code, the frame of the caller, and a byte that is so much or more if the loop was entered with this frame; the bytes that are read. */
	__u32 frame_code, frame_caller, frame_entry, entry_from, frame_size;
	/* Since 3.12 that is a frame of no function, which lies on the stack. */
	__u32 entry_is_bare;
	/* In a code object: its type, its first line, its file, its name; the bytes that are read. */
	__u32 code_type_at, code_line, code_file, code_name, code_size, zero;
};

/* Not 0 once there are such processes: where there are none, nobody is to look for them. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} python_is_here SEC(".maps");

/* The processes that run CPython, by their number. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct python);
} pythons SEC(".maps");

/* A function: its code object, and what tells that object from another that is put in its place. Or, with code 0, the mark is an address in that part
 * of the stack which belongs to the call of the interpreter's loop that ran the functions before it. */
struct python_frame {
	__u64 code, mark;
};

/* PythonStack of stacks/python/record.rs. */
struct python_stack {
	/* RECORD_PYTHON_STACK of ledger.h, or 0. */
	__u32 kind;
	__u32 tgid, pid, cpu;
	/* When it was, or the place at which the thread blocks. */
	__u64 at;
	__u32 count;
	/* Whether it was followed to its end, and whether functions of the outermost call that is told were left out. */
	__u32 whole, left_out, zero;
	struct python_frame frames[PYTHON_FRAMES];
};

/* Where a thread keeps its frames, by its number: threads of a program are a list, and looking through it takes time. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u64);
} python_threads SEC(".maps");

struct python_work {
	struct python python;
	/* While a thread is looked for: what is looked through, and the number. */
	__u64 interpreter, thread, number, found;
	/* While its frames are followed. */
	__u64 frame, call;
	__u8 frame_bytes[PYTHON_FRAME], code_bytes[PYTHON_CODE];
	struct python_stack stack;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct python_work);
} python_works SEC(".maps");

static __always_inline struct python_work *python_work(void)
{
	__u32 first = 0;

	return bpf_map_lookup_elem(&python_works, &first);
}

static __always_inline __u64 user_word(__u64 address)
{
	__u64 word = 0;

	bpf_probe_read_user(&word, sizeof(word), (void *)address);
	return word;
}

static __always_inline __u64 python_mix(__u64 hash, __u64 value)
{
	hash ^= value;
	hash *= 0x9e3779b97f4a7c15ull;
	return hash ^ (hash >> 29);
}

/* The word at an offset in bytes that were read. */
#define word_in(bytes, offset) (*(__u64 *)&(bytes)[masked(offset, sizeof(bytes)) & ~7u])

/* One thread further. */
static long python_next_thread(__u32 at, void *unused)
{
	struct python_work *work = python_work();
	__u64 thread;

	if (!work)
		return 1;
	thread = work->thread;
	if (!thread) {
		__u64 interpreter = work->interpreter;

		if (!interpreter)
			return 1;
		work->thread = user_word(interpreter + work->python.interpreter_threads);
		work->interpreter = user_word(interpreter + work->python.interpreter_next);
		return 0;
	}
	if (user_word(thread + work->python.thread_number) == work->number) {
		work->found = thread;
		return 1;
	}
	work->thread = user_word(thread + work->python.thread_next);
	return 0;
}

/* Whether a thread's record that was found before is still that of this thread, and in the list. */
static __always_inline bool python_is_thread(struct python_work *work, __u64 thread)
{
	__u64 before, first;

	if (user_word(thread + work->python.thread_number) != work->number)
		return 0;
	before = user_word(thread + work->python.thread_previous);
	if (before)
		return user_word(before + work->python.thread_next) == thread;
	first = user_word(thread + work->python.thread_interpreter);
	return first && user_word(first + work->python.interpreter_threads) == thread;
}

/* One frame further out. */
static long python_next_frame(__u32 at, void *unused)
{
	struct python_work *work = python_work();
	struct python_stack *stack;
	struct python *python;
	struct python_frame *to;
	__u64 code, caller;
	__u32 count;
	bool is_entry;

	if (!work)
		return 1;
	python = &work->python;
	stack = &work->stack;
	count = stack->count;
	if (!work->frame) {
		stack->whole = 1;
		return 1;
	}
	if (count >= PYTHON_FRAMES)
		return 1;
	if (bpf_probe_read_user(work->frame_bytes, masked(python->frame_size, PYTHON_FRAME), (void *)work->frame))
		return 1;
	/* Since 3.14 the lowest bits say who counts the reference. */
	code = word_in(work->frame_bytes, python->frame_code) & ~7ull;
	caller = word_in(work->frame_bytes, python->frame_caller);
	is_entry = work->frame_bytes[masked(python->frame_entry, PYTHON_FRAME)] >= python->entry_from;
	to = &stack->frames[masked(count, PYTHON_FRAMES)];
	if (!(is_entry && python->entry_is_bare)) {
		if (count >= PYTHON_FRAMES - 2) {
			/* There is room for its end only, which is known already or must be found. */
			stack->left_out = 1;
			is_entry = is_entry || python->has_calls;
		} else {
			if (bpf_probe_read_user(work->code_bytes, masked(python->code_size, PYTHON_CODE), (void *)code))
				return 1;
			if (word_in(work->code_bytes, python->code_type_at) != python->code_type)
				return 1;
			to->code = code;
			to->mark = python_mix(python_mix(python_mix(0, word_in(work->code_bytes, python->code_file)),
							 word_in(work->code_bytes, python->code_name)),
					      *(__u32 *)&work->code_bytes[masked(python->code_line, PYTHON_CODE) & ~3u]);
			stack->count = ++count;
			to = &stack->frames[masked(count, PYTHON_FRAMES)];
		}
	}
	if (is_entry) {
		to->code = 0;
		to->mark = python->has_calls ? work->call : work->frame;
		stack->count = count + 1;
		if (stack->left_out)
			return 1;
		if (python->has_calls)
			work->call = user_word(work->call + python->call_before);
	}
	work->frame = caller;
	return 0;
}

/* What is known of the current process, with room to work; 0 of one that does not run CPython. */
static __always_inline struct python_work *python_of(__u32 tgid)
{
	__u32 first = 0, *is_here = bpf_map_lookup_elem(&python_is_here, &first);
	struct python_work *work;
	struct python *python;

	if (!is_here || !*is_here)
		return 0;
	python = bpf_map_lookup_elem(&pythons, &tgid);
	work = python_work();
	if (!python || !work)
		return 0;
	work->python = *python;
	return work;
}

/* Goes to the innermost frame of a thread, if it is in any. */
static __always_inline bool python_innermost(struct python_work *work, __u64 thread)
{
	work->frame = user_word(thread + work->python.thread_frame);
	work->call = 0;
	if (work->python.has_calls) {
		work->call = work->frame;
		work->frame = user_word(work->call + work->python.call_frame);
	}
	return work->frame;
}

/* The Python functions that the current thread is in, in memory of this CPU; 0 where it is in none. */
static __always_inline struct python_stack *python_stack(void)
{
	__u64 both = bpf_get_current_pid_tgid(), *known;
	__u32 tgid = both >> 32, pid = both;
	struct python_work *work = python_of(tgid);
	struct bpf_pidns_info own = {};
	struct python *python;

	if (!work)
		return 0;
	python = &work->python;
	if (bpf_get_ns_current_pid_tgid(python->namespace_device, python->namespace_inode, &own, sizeof(own)))
		return 0;
	work->number = own.pid;
	known = bpf_map_lookup_elem(&python_threads, &pid);
	work->found = known ? *known : 0;
	if (!work->found || !python_is_thread(work, work->found)) {
		work->found = 0;
		work->thread = 0;
		work->interpreter = user_word(python->interpreters);
		bpf_loop(PYTHON_THREADS, python_next_thread, 0, 0);
		if (!work->found)
			return 0;
		bpf_map_update_elem(&python_threads, &pid, &work->found, BPF_ANY);
	}
	if (!python_innermost(work, work->found))
		return 0;
	work->stack.kind = 0;
	work->stack.cpu = bpf_get_smp_processor_id();
	work->stack.count = 0;
	work->stack.whole = 0;
	work->stack.left_out = 0;
	bpf_loop(PYTHON_DEEPEST, python_next_frame, 0, 0);
	work->stack.tgid = tgid;
	work->stack.pid = pid;
	return &work->stack;
}

#endif

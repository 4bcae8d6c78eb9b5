// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * All tasks in one pass, and the end of each.
 *
 * The kernel keeps the sums of a process's ended threads in its signal_struct, except run-queue waiting and I/O without children's,
 * which are lost with the thread: those are added up here, in `ended_threads`.
 *
 * The end is told when the kernel frees the task (tracepoint sched_process_free), because only then are its times
 * final: at sched_process_exit its memory is still to be torn down. The parent's name and the moment are noted at exit, while
 * the parent is surely there. The note also holds what had been used by then: on a loaded machine the free of about one process in
 * a thousand is never told (seen on 6.18, several in a row), and then the note is all there is.
 */
#include "core.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

enum { KIND_THREAD = 1, KIND_PROCESS = 2 };

/* What this kernel, or this process, has: what is not there was not read. */
enum { HAS_MEMORY = 1, HAS_SCHED_INFO = 2, HAS_CHARS = 4, HAS_BYTES = 8 };

/* What is counted for a thread alone. Read by bpf.rs, in the order of these fields. */
struct own {
	__u64 utime;
	__u64 stime;
	__u64 runtime;
	__u64 min_flt;
	__u64 maj_flt;
	__u64 nvcsw;
	__u64 nivcsw;
	__u64 wait;
	__u64 slices;
	__u64 read_bytes;
	__u64 write_bytes;
	__u64 rchar;
	__u64 wchar;
	__u64 syscr;
	__u64 syscw;
};

struct thread_record {
	__u32 kind;
	__u32 tgid;
	__u32 pid;
	__u32 cpu;
	__u64 start;
	__u64 prev_utime;
	__u64 prev_stime;
	struct own own;
	char comm[TASK_COMM_LEN];
	__u32 state;
	__u32 exit_state;
};

struct process_record {
	struct thread_record thread;
	/* Sums of the threads that ended. */
	struct own ended;
	__u64 cutime;
	__u64 cstime;
	__u64 prev_utime;
	__u64 prev_stime;
	__u64 rss_pages;
	__u64 swap_pages;
	__u64 size_pages;
	__u64 cgroup;
	__u32 threads;
	__s32 prio;
	__s32 static_prio;
	__u32 flags;
	__u32 parent;
	__u32 uid;
	__u32 exec;
	__u32 has;
};

struct end_record {
	__u64 start;
	/* When it began, CLOCK_MONOTONIC, and how long it lived; 0 where its exit was not seen. */
	__u64 born;
	__u64 lifetime;
	__u64 prev_utime;
	__u64 prev_stime;
	struct own sums;
	__u32 tgid;
	__u32 flags;
	char comm[TASK_COMM_LEN];
	char parent[TASK_COMM_LEN];
};

/*
 * Processes that exited and were not freed yet, as they were at exit. Of a fixed size, so that noting needs no memory when memory is
 * short. One stays in it for long where its parent does not wait for it.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__type(key, __u32);
	__type(value, struct end_record);
} exit_notes SEC(".maps");

struct ended_sums {
	/* Start of the process, so that a pid used again begins afresh. */
	__u64 start;
	__u64 wait;
	__u64 slices;
	__u64 read_bytes;
	__u64 write_bytes;
	__u64 rchar;
	__u64 wchar;
	__u64 syscr;
	__u64 syscw;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, __u32);
	__type(value, struct ended_sums);
} ended_threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} ends SEC(".maps");

/* Ends that found no room in `ends` and have no note; exits that found no room in `exit_notes`. Read by bpf.rs. */
enum { LOST_ENDS, LOST_NOTES, COUNTS };
#include "counts.h"

static __always_inline __u64 started(struct task_struct *task)
{
	if (bpf_core_field_exists(task->start_boottime))
		return task->start_boottime;
	struct task_struct___before_5_5 *old = (void *)task;
	return BPF_CORE_READ(old, real_start_time);
}

static __always_inline void read_own(struct own *own, struct task_struct *task)
{
	own->utime = task->utime;
	own->stime = task->stime;
	own->runtime = task->se.sum_exec_runtime;
	own->min_flt = task->min_flt;
	own->maj_flt = task->maj_flt;
	own->nvcsw = task->nvcsw;
	own->nivcsw = task->nivcsw;
	if (bpf_core_field_exists(task->sched_info.run_delay)) {
		own->wait = task->sched_info.run_delay;
		own->slices = task->sched_info.pcount;
	}
	if (bpf_core_field_exists(task->ioac.rchar)) {
		own->rchar = task->ioac.rchar;
		own->wchar = task->ioac.wchar;
		own->syscr = task->ioac.syscr;
		own->syscw = task->ioac.syscw;
	}
	if (bpf_core_field_exists(task->ioac.read_bytes)) {
		own->read_bytes = task->ioac.read_bytes;
		own->write_bytes = task->ioac.write_bytes;
	}
}

/* Sums of the ended threads of the process whose first thread is `task`. */
static __always_inline void read_ended(struct own *sums, struct task_struct *task, struct signal_struct *signal)
{
	__u32 tgid = task->tgid;
	struct ended_sums *ended;

	sums->utime = signal->utime;
	sums->stime = signal->stime;
	sums->runtime = signal->sum_sched_runtime;
	sums->min_flt = signal->min_flt;
	sums->maj_flt = signal->maj_flt;
	sums->nvcsw = signal->nvcsw;
	sums->nivcsw = signal->nivcsw;
	ended = bpf_map_lookup_elem(&ended_threads, &tgid);
	if (ended && ended->start == started(task)) {
		sums->wait = ended->wait;
		sums->slices = ended->slices;
		sums->read_bytes = ended->read_bytes;
		sums->write_bytes = ended->write_bytes;
		sums->rchar = ended->rchar;
		sums->wchar = ended->wchar;
		sums->syscr = ended->syscr;
		sums->syscw = ended->syscw;
	}
}

static __always_inline void read_thread(struct thread_record *to, struct task_struct *task)
{
	to->tgid = task->tgid;
	to->pid = task->pid;
	to->start = started(task);
	to->prev_utime = task->prev_cputime.utime;
	to->prev_stime = task->prev_cputime.stime;
	read_own(&to->own, task);
	bpf_probe_read_kernel(to->comm, sizeof(to->comm), task->comm);
	to->exit_state = task->exit_state;
	to->state = state_of(task);
	to->cpu = cpu_of(task);
}

static __always_inline __u64 not_negative(__s64 value)
{
	return value < 0 ? 0 : value;
}

static __always_inline void read_memory(struct process_record *to, struct mm_struct *mm)
{
	to->has |= HAS_MEMORY;
	to->size_pages = mm->total_vm;
	if (bpf_core_type_exists(struct mm_rss_stat)) {
		struct mm_struct___before_6_2 *old = (void *)mm;
		to->rss_pages = not_negative(BPF_CORE_READ(old, rss_stat.count[MM_FILEPAGES].counter)) +
				not_negative(BPF_CORE_READ(old, rss_stat.count[MM_ANONPAGES].counter)) +
				not_negative(BPF_CORE_READ(old, rss_stat.count[MM_SHMEMPAGES].counter));
		to->swap_pages = not_negative(BPF_CORE_READ(old, rss_stat.count[MM_SWAPENTS].counter));
	} else {
		to->rss_pages = not_negative(BPF_CORE_READ(mm, rss_stat[MM_FILEPAGES].count)) +
				not_negative(BPF_CORE_READ(mm, rss_stat[MM_ANONPAGES].count)) +
				not_negative(BPF_CORE_READ(mm, rss_stat[MM_SHMEMPAGES].count));
		to->swap_pages = not_negative(BPF_CORE_READ(mm, rss_stat[MM_SWAPENTS].count));
	}
}

SEC("iter/task")
int each_task(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct signal_struct *signal;
	struct mm_struct *mm;

	if (!task)
		return 0;
	if (task->pid != task->tgid) {
		struct thread_record thread = {.kind = KIND_THREAD};

		read_thread(&thread, task);
		bpf_seq_write(ctx->meta->seq, &thread, sizeof(thread));
		return 0;
	}
	struct process_record process = {};

	process.thread.kind = KIND_PROCESS;
	read_thread(&process.thread, task);
	signal = task->signal;
	read_ended(&process.ended, task, signal);
	if (bpf_core_field_exists(task->sched_info.run_delay))
		process.has |= HAS_SCHED_INFO;
	if (bpf_core_field_exists(task->ioac.rchar))
		process.has |= HAS_CHARS;
	if (bpf_core_field_exists(task->ioac.read_bytes))
		process.has |= HAS_BYTES;
	process.cutime = signal->cutime;
	process.cstime = signal->cstime;
	process.prev_utime = signal->prev_cputime.utime;
	process.prev_stime = signal->prev_cputime.stime;
	process.threads = signal->nr_threads;
	process.prio = task->prio;
	process.static_prio = task->static_prio;
	process.flags = task->flags;
	process.parent = task->real_parent->tgid;
	process.uid = task->cred->uid.val;
	process.exec = task->self_exec_id;
	process.cgroup = BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id);
	/* A thread of the kernel may borrow the memory of a process for a while. */
	mm = task->mm;
	if (mm && !(task->flags & PF_KTHREAD))
		read_memory(&process, mm);
	bpf_seq_write(ctx->meta->seq, &process, sizeof(process));
	return 0;
}

/* Who it was, and what of its sums is not in signal_struct: waiting and I/O of its first thread and of those that ended. */
static __always_inline void read_end(struct end_record *end, struct own *ended, struct task_struct *task)
{
	/* Once, and first: what it costs the verifier to follow a pointer is said in ledger_switch. */
	struct signal_struct *signal = task->signal;

	end->prev_utime = signal->prev_cputime.utime;
	end->prev_stime = signal->prev_cputime.stime;
	read_own(&end->sums, task);
	read_ended(ended, task, signal);
	end->sums.wait += ended->wait;
	end->sums.slices += ended->slices;
	end->sums.read_bytes += ended->read_bytes;
	end->sums.write_bytes += ended->write_bytes;
	end->sums.rchar += ended->rchar;
	end->sums.wchar += ended->wchar;
	end->sums.syscr += ended->syscr;
	end->sums.syscw += ended->syscw;
	end->start = started(task);
	end->born = task->start_time;
	end->tgid = task->tgid;
	end->flags = task->flags;
	bpf_probe_read_kernel(end->comm, sizeof(end->comm), task->comm);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(process_exits, struct task_struct *task)
{
	struct end_record note = {};
	struct own ended = {};
	__u32 tgid = task->tgid;

	if (task->pid != task->tgid)
		return 0;
	read_end(&note, &ended, task);
	/* signal_struct does not have this thread yet. */
	note.sums.utime += ended.utime;
	note.sums.stime += ended.stime;
	note.sums.runtime += ended.runtime;
	note.sums.min_flt += ended.min_flt;
	note.sums.maj_flt += ended.maj_flt;
	note.sums.nvcsw += ended.nvcsw;
	note.sums.nivcsw += ended.nivcsw;
	note.lifetime = bpf_ktime_get_ns() - note.born;
	BPF_CORE_READ_STR_INTO(&note.parent, task, real_parent, group_leader, comm);
	if (bpf_map_update_elem(&exit_notes, &tgid, &note, BPF_ANY))
		count(LOST_NOTES);
	return 0;
}

SEC("tp_btf/sched_process_free")
int BPF_PROG(task_is_freed, struct task_struct *task)
{
	__u32 tgid = task->tgid;
	struct end_record *end;
	struct end_record *note;

	if (task->pid != task->tgid) {
		struct own own = {};
		struct ended_sums *sums, new = {.start = started(task->group_leader)};

		read_own(&own, task);
		sums = bpf_map_lookup_elem(&ended_threads, &tgid);
		if (!sums || sums->start != new.start) {
			bpf_map_update_elem(&ended_threads, &tgid, &new, BPF_ANY);
			sums = bpf_map_lookup_elem(&ended_threads, &tgid);
			if (!sums)
				return 0;
		}
		__sync_fetch_and_add(&sums->wait, own.wait);
		__sync_fetch_and_add(&sums->slices, own.slices);
		__sync_fetch_and_add(&sums->read_bytes, own.read_bytes);
		__sync_fetch_and_add(&sums->write_bytes, own.write_bytes);
		__sync_fetch_and_add(&sums->rchar, own.rchar);
		__sync_fetch_and_add(&sums->wchar, own.wchar);
		__sync_fetch_and_add(&sums->syscr, own.syscr);
		__sync_fetch_and_add(&sums->syscw, own.syscw);
		return 0;
	}
	note = bpf_map_lookup_elem(&exit_notes, &tgid);
	if (note && note->start != started(task))
		note = 0;
	end = bpf_ringbuf_reserve(&ends, sizeof(*end), 0);
	if (!end) {
		/* The note stays where there is one, and stands for it. */
		if (!note)
			count(LOST_ENDS);
		return 0;
	}
	__builtin_memset(end, 0, sizeof(*end));
	struct own ended = {};

	read_end(end, &ended, task);
	/* Its own threads are all gone: what signal_struct holds includes this last one. */
	end->sums.utime = ended.utime;
	end->sums.stime = ended.stime;
	end->sums.runtime = ended.runtime;
	end->sums.min_flt = ended.min_flt;
	end->sums.maj_flt = ended.maj_flt;
	end->sums.nvcsw = ended.nvcsw;
	end->sums.nivcsw = ended.nivcsw;
	if (note) {
		end->lifetime = note->lifetime;
		__builtin_memcpy(end->parent, note->parent, sizeof(end->parent));
		bpf_map_delete_elem(&exit_notes, &tgid);
	}
	bpf_map_delete_elem(&ended_threads, &tgid);
	bpf_ringbuf_submit(end, BPF_RB_NO_WAKEUP);
	return 0;
}

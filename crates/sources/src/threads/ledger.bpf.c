// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * The ledger: in which state each thread in scope is, and for how long it was in each.
 *
 * It is kept in task storage and changed where the scheduler says so: sched_switch and fork, which the run-queue lock of the thread puts in
 * order. A task iterator reads it once a tick; a thread that ends goes through a ring.
 *
 * What a thread blocks in is known at switch-out without any tracing of system calls: its saved registers hold the call and its
 * arguments. Who wakes it notes so at sched_waking, which unlike sched_wakeup always runs where the waker is; no more, for the waker has other
 * things to do, and the lines of the cache that hold the ledger are elsewhere. It is added up when the thread runs, from when the kernel queued it.
 *
 * sched_waking is not ordered by the run-queue lock, so a waker writes to fields that nobody else writes to while the thread is blocked. A wake-up
 * that comes before the ledger says so finds a thread that is not yet off its CPU: it never really blocked.
 */
#include "blocked.h"
#include "clock.h"
#include "sites.h"
#include "slots.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Waits at least so long get a kernel stack, nanoseconds; 0: none. */
const volatile __u64 long_wait = 100000;
/* Waker's stacks: of each long wait, and of one in so many short ones. */
enum { WAKER_ONE_IN = 16 };
/*
 * Waits that follow one another faster than OFTEN are looked at closely in one of eight windows of 2^20 ns (1 ms) only: who owns the lock, how many
 * wait for it, and the code that ends the wait. All of these cost lines of the cache that others want too. Numbers and times are exact all the same.
 */
enum { OFTEN = 1000000, WINDOW_BITS = 20, WINDOWS = 8 };
/* The stack of who is blocked for so long, nanoseconds, is asked for if it was not copied: there was no time for that, or the thread was there before. */
enum { BLOCKED_LONG = 100000000 };
/* In `woken` of a ledger: it was, and the kernel knows when. */
enum { WOKEN = 2 };
/* The name of a waker is looked at again after so many times 2^20 ns, a tenth of a second: it may have taken another. */
enum { NAME_AGAIN = 95 };

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct ledger);
} ledgers SEC(".maps");

/* Ends the present state at `now`. The caller sets the next one and calls changed(). */
static __always_inline void account(struct ledger *ledger, __u64 now)
{
	__u64 state = ledger->state, since = ledger->since;

	ledger->change++;
	barrier();
	if (now < since)
		now = since;
	if (state < STATES)
		ledger->states[state] += now - since;
	ledger->since = now;
	if (state == RUNNING || state == RUNNABLE)
		put_switch_into_slots(since > ledger->slotted ? since : ledger->slotted, now, state == RUNNING);
}

static __always_inline void changed(struct ledger *ledger, __u64 state)
{
	ledger->state = state;
	barrier();
	ledger->change++;
}

static __always_inline struct ledger *begin(struct task_struct *task, __u64 now, __u64 state)
{
	struct ledger *ledger;

	if (task->pid == 0 || !in_scope(task))
		return 0;
	ledger = bpf_task_storage_get(&ledgers, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!ledger) {
		count(LOST_LEDGERS);
		return 0;
	}
	if (__sync_val_compare_and_swap(&ledger->born, 0, now) == 0) {
		ledger->since = now;
		ledger->state = state;
		ledger->slotted = now;
		ledger->runtime_born = task->se.sum_exec_runtime;
		ledger->runtime = ledger->runtime_born;
		ledger->utime_born = task->utime;
		ledger->stime_born = task->stime;
		ledger->cpu = ~0u;
	}
	return ledger;
}

/* `is_current`: of no other thread, as the iterator finds them, can memory be read. */
static __always_inline void blocks(struct task_struct *task, struct ledger *ledger, __u32 task_state, __u64 now, bool is_current)
{
	struct registers at = {.call = -1};
	struct known *known;
	__u32 state;
	__u64 place;

	if (!(task->flags & PF_KTHREAD))
		registers_of(&at, task);
	ledger->woken = 0;
	ledger->waker = 0;
	ledger->waker_thread = 0;
	ledger->closely = has_passed(OFTEN, ledger->blocked, now) || (now >> WINDOW_BITS) % WINDOWS == 0;
	ledger->waker_place = ledger->closely ? LOOK : 0;
	ledger->counted = 0;
	ledger->timed = ENDLESS;
	if (notes_queueing())
		ledger->delay = task->sched_info.run_delay;
	ledger->blocked = now;
	ledger->kernel = 0;
	ledger->address = 0;
	ledger->call = at.call;
	place = mix(mix(mix((__u32)task->pid, at.ip), at.sp), (__u32)at.call);
	ledger->place = is_current && with_stacks ? python_place(ledger, place) : place;
	state = blocked_state(ledger, task, task_state, &at, now);
	if (is_current) {
		/* Not of a lock of the kernel, or of memory, on the way to the wait that has a limit. */
		if (state == SLEEP || state == IDLE || state == UNDECIDED)
			note_timeout(ledger, &at, now);
		if (ledger->closely && (state == UNDECIDED || (state == LOCK && !ledger->flags))) {
			watch_futex(task, ledger, 1);
			/* __owner of glibc's pthread_mutex_t, which user space believes only of a pthread mutex. */
			bpf_probe_read_user(&ledger->owner, sizeof(ledger->owner), (void *)(ledger->address + 8));
		}
		known = &ledger->known[masked(ledger->place, KNOWN)];
		if (with_stacks && !(task->flags & PF_KTHREAD) && (known->place != ledger->place || has_passed(COPY_AGAIN, known->at, now)) &&
		    copy_stack(ledger->place, now)) {
			known->place = ledger->place;
			known->at = now;
		}
	}
	changed(ledger, state);
}

static __always_inline __u64 state_woken(__u64 woken)
{
	return woken & 1 ? THROTTLED : RUNNABLE;
}

/*
 * When the thread was woken, of which `ledger->woken` says that it was. `distance` is that of the clock of the queue on which it is; 0 where that is not
 * known. Before it was queued there it may have waited on others.
 */
static __always_inline __u64 woken_at(struct task_struct *task, struct ledger *ledger, __u64 now, __u64 distance)
{
	__u64 queued;

	if (!notes_queueing())
		return ledger->woken & ~1ull;
	queued = task->sched_info.last_queued;
	queued = queued && distance && queued + distance < now ? queued + distance : now;
	return queued - (task->sched_info.run_delay - ledger->delay);
}

/* The wait of a thread that was woken ends, and its way to a CPU, which it got at `now`, begins. */
static __always_inline void wakes(struct task_struct *task, struct ledger *ledger, __u64 now, __u64 distance)
{
	__u64 from = ledger->since, state = state_woken(ledger->woken), woken = woken_at(task, ledger, now, distance);

	/* What a read has told is not taken back. */
	if (woken < ledger->flushed)
		woken = ledger->flushed;
	if (woken > now)
		woken = now;
	if (woken < from)
		woken = from;
	if (ledger->counted)
		watch_futex(task, ledger, 0);
	if (is_timed_out(ledger, woken)) {
		ledger->waker = 0;
		ledger->waker_thread = 0;
		ledger->waker_place = 0;
	}
	end_wait(task, ledger, from, woken, long_wait && woken - from >= long_wait);
	ledger->wakeups++;
	account(ledger, woken);
	changed(ledger, state);
}

/* The same of a thread wherever it is, at any time; 0: it was not yet. */
static __always_inline __u64 seen_woken(struct task_struct *task, struct ledger *ledger, __u64 now)
{
	return ledger->woken ? woken_at(task, ledger, now, notes_queueing() ? distance_on(cpu_of(task)) : 0) : 0;
}

static __always_inline void fill_thread(struct thread_record *to, struct task_struct *task, struct ledger *ledger, __u64 now)
{
	__u64 state = ledger->state, since = ledger->since, said = ledger->woken, woken = seen_woken(task, ledger, now);

	to->tgid = task->tgid;
	to->pid = task->pid;
	to->flags = task->flags;
	to->start = task->start_boottime;
	to->born = ledger->born;
	to->since = since;
	to->state = state;
	__builtin_memcpy(to->states, ledger->states, sizeof(to->states));
	/* Not added up yet. */
	if (woken >= since && woken <= now && state >= FIRST_BLOCKED && state < STATES) {
		to->states[state] += woken - since;
		to->since = woken;
		to->state = state_woken(said);
	}
	to->runtime_born = ledger->runtime_born;
	to->runtime = ledger->runtime;
	to->runtime_now = task->se.sum_exec_runtime;
	to->utime = task->utime - ledger->utime_born;
	to->stime = task->stime - ledger->stime_born;
	to->voluntary = ledger->voluntary;
	to->involuntary = ledger->involuntary;
	to->migrations = ledger->migrations;
	to->wakeups = ledger->wakeups;
	__builtin_memcpy(to->queue, ledger->queue, sizeof(to->queue));
	bpf_probe_read_kernel(to->name, sizeof(to->name), task->comm);
	BPF_CORE_READ_INTO(&to->process, task, group_leader, comm);
}

/* The thread has run its last. */
static __noinline int ends(struct task_struct *task, struct ledger *ledger, __u64 now)
{
	struct thread_record *record;

	if (!task || !ledger)
		return 0;
	for (__u32 i = 0; i < SITES; i++)
		if (ledger->sites[i].count != ledger->told[i]) {
			ledger->told[i] = ledger->sites[i].count;
			tell_site(who_is(task), &ledger->sites[i], i);
		}
	record = bpf_ringbuf_reserve(&events, sizeof(*record), 0);
	if (!record) {
		count(LOST_EVENTS);
		return 0;
	}
	record->kind = RECORD_END;
	record->now = now;
	fill_thread(record, task, ledger, now);
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	return 0;
}

/* The thread got a CPU at `at`. */
static __always_inline void runs(struct task_struct *task, struct ledger *ledger, __u64 at, __u64 distance)
{
	if (ledger->state >= FIRST_BLOCKED && ledger->woken) {
		wakes(task, ledger, at, distance);
	} else if (ledger->state >= FIRST_BLOCKED) {
		/* It never really blocked, a signal was pending or its waker was first: it waited for a CPU. */
		if (ledger->counted)
			watch_futex(task, ledger, 0);
		ledger->state = RUNNABLE;
	}
	if (at < ledger->since)
		at = ledger->since;
	if (ledger->state == RUNNABLE && at > ledger->since)
		ledger->queue[bucket_of((at - ledger->since) >> 10)]++;
	account(ledger, at);
	changed(ledger, RUNNING);
}

/* Whether sched_switch tells the state in which a thread leaves: since Linux 5.18. Set before loading. */
const volatile bool tells_state = 1;

/* In which state `prev` leaves its CPU. Where the tracepoint does not say, whoever wakes the thread just now may have changed it already. */
static __always_inline __u32 leaves_in(unsigned long long *ctx, struct task_struct *prev)
{
	return tells_state ? ctx[3] : state_of(prev);
}

/* Of no other thread there is a ledger, nor is one begun. */
static __always_inline bool may_be_followed(struct task_struct *task)
{
	return task->pid && (scope_everything || has_storage(task));
}

SEC("tp_btf/sched_switch")
int BPF_PROG(ledger_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	/* Asked at switches of others too, for a read asks how far the clock of any CPU is from its own. */
	__u64 distance, now = time_of_switch(next, &distance);
	/*
	 * Asked once, and first: to follow a pointer takes the verifier of Linux 6.18 a search of all types of the kernel, a millisecond, along each way that
	 * leads there.
	 */
	__u32 prev_state = leaves_in(ctx, prev), follow_prev = may_be_followed(prev), follow_next = may_be_followed(next);
	struct ledger *ledger;

	asm volatile("" : "+r"(follow_prev), "+r"(follow_next));
	if (follow_prev) {
		ledger = bpf_task_storage_get(&ledgers, prev, 0, 0);
		if (!ledger)
			ledger = begin(prev, now, RUNNING);
		if (ledger && ledger->state < STATES) {
			/*
			 * Nobody said that it got the CPU: where a kernel's own thread leaves without the event, as that of some virtual machines' which
			 * gives memory back. Then it ran for as long as the kernel has counted.
			 */
			if (ledger->state != RUNNING) {
				__u64 ran = prev->se.sum_exec_runtime - ledger->runtime;

				runs(prev, ledger, ran < now ? now - ran : now, distance);
			}
			account(ledger, now);
			ledger->runtime = prev->se.sum_exec_runtime;
			ledger->cpu = bpf_get_smp_processor_id();
			if (preempt || prev_state == TASK_RUNNING) {
				ledger->involuntary++;
				changed(ledger, is_throttled(prev) ? THROTTLED : RUNNABLE);
			} else if (prev_state & TASK_DEAD) {
				changed(ledger, STATES);
				ends(prev, ledger, now);
			} else {
				ledger->voluntary++;
				blocks(prev, ledger, prev_state, now, 1);
			}
		}
	}
	if (follow_next) {
		ledger = bpf_task_storage_get(&ledgers, next, 0, 0);
		if (!ledger)
			ledger = begin(next, now, RUNNABLE);
		if (ledger && ledger->state < STATES) {
			__u32 cpu = bpf_get_smp_processor_id();

			runs(next, ledger, now, distance);
			if (ledger->cpu != cpu && ledger->cpu != ~0u)
				ledger->migrations++;
			ledger->cpu = cpu;
		}
	}
	return 0;
}

/* Who wakes a thread, in the system call `at`; nothing where an interrupt does. */
static __always_inline void note_waker(struct ledger *ledger, struct task_struct *waker, struct registers *at)
{
	__u64 look = ledger->waker_place, since = ledger->since, now;
	__u32 tgid = waker->tgid;

	ledger->waker = tgid;
	ledger->waker_thread = waker->pid;
	if (ledger->named != tgid || (__u32)(since >> 20) - ledger->named_at > NAME_AGAIN) {
		ledger->named = tgid;
		ledger->named_at = since >> 20;
		bpf_probe_read_kernel(&ledger->waker_name, sizeof(ledger->waker_name), waker->group_leader->comm);
	}
	ledger->waker_place = 0;
	if (look != LOOK || !with_stacks || (waker->flags & PF_KTHREAD))
		return;
	now = bpf_ktime_get_ns();
	if (has_passed(long_wait, since, now) || now % WAKER_ONE_IN == 0) {
		__u64 place = python_place(0, mix(mix(mix((__u32)waker->pid, at->ip), at->sp), (__u32)at->call));

		if (copy_stack(place, now))
			ledger->waker_place = place;
	}
}

SEC("tp_btf/sched_waking")
int BPF_PROG(ledger_waking, struct task_struct *task)
{
	struct ledger *ledger = stored_with(ledgers, task);
	struct registers at = {.call = -1};
	struct task_struct *waker;
	__u64 woken = WOKEN;

	if (!ledger || ledger->state < FIRST_BLOCKED || ledger->state >= STATES || ledger->woken)
		return 0;
	if (!notes_queueing())
		woken = bpf_ktime_get_ns() & ~1ull;
	waker = bpf_get_current_task_btf();
	if (!waker->pid) {
		ledger->waker_place = 0;
	} else {
		if (!(waker->flags & PF_KTHREAD))
			registers_of(&at, waker);
		if (!is_interrupted(waker, ledger->state, at.call))
			note_waker(ledger, waker, &at);
		else
			ledger->waker_place = 0;
	}
	barrier();
	ledger->woken = woken | is_throttled(task);
	return 0;
}

/*
 * Here and in the iterator no run-queue lock is held, so that memory for a ledger can be had safely on every kernel. Marks of scope.bpf.c come first,
 * for that program was attached first.
 */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(ledger_new, struct task_struct *parent, struct task_struct *child)
{
	begin(child, bpf_ktime_get_ns(), RUNNABLE);
	return 0;
}

/* A kernel lock that is taken: from here to contention_end, a thread that blocks waits for it. */
SEC("tp_btf/contention_begin")
int BPF_PROG(ledger_contended, void *lock, unsigned int flags)
{
	struct task_struct *waits = bpf_get_current_task_btf();
	struct ledger *ledger;

	/* Those who spin do not block. */
	if (flags & 1)
		return 0;
	ledger = stored_with(ledgers, waits);
	if (!ledger)
		return 0;
	ledger->contended_flags = flags | 0x8000;
	ledger->contended = (__u64)lock;
	return 0;
}

SEC("tp_btf/contention_end")
int BPF_PROG(ledger_obtained, void *lock, int failed)
{
	struct task_struct *waits = bpf_get_current_task_btf();
	struct ledger *ledger = stored_with(ledgers, waits);

	if (ledger && ledger->contended == (__u64)lock)
		ledger->contended = 0;
	return 0;
}

/* Where a thread is that is not running, for the ledger of one that was there before. */
static __always_inline void find_state(struct task_struct *task, struct ledger *ledger, __u64 now)
{
	__u32 state = state_of(task);

	if (task->on_cpu || state == TASK_RUNNING || task->exit_state)
		return;
	ledger->change++;
	blocks(task, ledger, state, now, 0);
}

/* What the iterator writes of one thread. */
struct pass {
	struct thread_record thread;
	struct site_record site;
	struct site_record open;
	struct registers_record registers;
	__u64 counts[SITES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pass);
} passes SEC(".maps");

static __always_inline void identify(struct site_record *record, struct task_struct *task, __u32 slot)
{
	record->kind = RECORD_SITE;
	record->tgid = task->tgid;
	record->pid = task->pid;
	record->slot = slot;
}

/* Where a thread is, if it is blocked for long and nobody has its stack. */
static __always_inline bool is_asked_for(struct registers_record *record, struct task_struct *task, struct ledger *ledger, __u64 since, __u64 now)
{
	struct registers at = {};
	__u64 place = ledger->place;

	if (!with_stacks || (task->flags & PF_KTHREAD) || !has_passed(BLOCKED_LONG, since, now) || bpf_map_lookup_elem(&copied, &place) ||
	    !registers_of(&at, task))
		return 0;
	record->kind = RECORD_REGISTERS;
	record->tgid = task->tgid;
	record->pid = task->pid;
	record->place = place;
	record->ip = at.ip;
	record->sp = at.sp;
	record->bp = at.bp;
	record->lr = at.lr;
	return 1;
}

/*
 * Where the buffer is full, the kernel drops what this wrote of the thread and runs it for that thread again. So nothing is noted as told
 * before all of it is written.
 */
SEC("iter/task")
int ledger_read(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct seq_file *seq = ctx->meta->seq;
	struct ledger *ledger;
	struct pass *pass;
	__u64 change = 0, held = 0, since = 0, woken = 0, state, now;
	__u32 first = 0;
	bool open, asked = 0;

	if (!task || task->pid == 0)
		return 0;
	pass = bpf_map_lookup_elem(&passes, &first);
	if (!pass)
		return 0;
	ledger = stored_with(ledgers, task);
	now = bpf_ktime_get_ns();
	if (!ledger) {
		if (task->exit_state)
			return 0;
		ledger = begin(task, now, task->on_cpu ? RUNNING : RUNNABLE);
		if (!ledger)
			return 0;
		if (ledger->born == now)
			find_state(task, ledger, now);
	}
	if (ledger->state >= STATES)
		return 0;
	for (int i = 0; i < 4; i++) {
		change = ledger->change;
		barrier();
		now = bpf_ktime_get_ns();
		held = ledger->state;
		since = ledger->since;
		woken = seen_woken(task, ledger, now);
		fill_thread(&pass->thread, task, ledger, now);
		barrier();
		if (!(change & 1) && change == ledger->change)
			break;
	}
	pass->thread.kind = RECORD_THREAD;
	pass->thread.now = now;
	state = pass->thread.state;
	if (bpf_seq_write(seq, &pass->thread, sizeof(pass->thread)))
		return 0;
	for (__u32 i = 0; i < SITES; i++) {
		pass->counts[i] = ledger->sites[i].count;
		if (pass->counts[i] == ledger->told[i])
			continue;
		identify(&pass->site, task, i);
		pass->site.site = ledger->sites[i];
		if (bpf_seq_write(seq, &pass->site, sizeof(pass->site)))
			return 0;
	}
	open = held >= FIRST_BLOCKED && held < STATES && change == ledger->change;
	if (open) {
		__u64 from = ledger->flushed > since ? ledger->flushed : since, until = now;

		/* Woken, but not yet on a CPU. */
		if (woken && woken <= now)
			until = woken;
		else if (!ledger->kernel && has_passed(long_wait, since, now) && long_wait)
			ledger->kernel = kernel_stack(task, 1, now);
		/* It began just now, by a clock that is ahead (has_passed()), or was woken as it was told of last. */
		if (until < from)
			until = from;
		identify(&pass->open, task, OPEN);
		fill(&pass->open.site, ledger, held);
		pass->open.site.born = since;
		pass->open.site.count = 0;
		pass->open.site.time = until - from;
		pass->open.site.longest = until - since;
		if (bpf_seq_write(seq, &pass->open, sizeof(pass->open)))
			return 0;
		asked = is_asked_for(&pass->registers, task, ledger, since, now);
		if (asked && bpf_seq_write(seq, &pass->registers, sizeof(pass->registers)))
			return 0;
		ledger->flushed = until;
		if (asked)
			bpf_map_update_elem(&copied, &pass->registers.place, &now, BPF_ANY);
	}
	for (__u32 i = 0; i < SITES; i++) {
		if (pass->counts[i] == ledger->told[i])
			continue;
		ledger->told[i] = pass->counts[i];
		ledger->sites[i].longest = 0;
		ledger->sites[i].waiters = 0;
	}
	if (state == RUNNING || state == RUNNABLE) {
		__u64 from;

		since = pass->thread.since;
		from = since > ledger->slotted ? since : ledger->slotted;

		ledger->slotted = now;
		put_into_slots(from, now, state == RUNNING, BY_READ);
	}
	return 0;
}

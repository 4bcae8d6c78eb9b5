// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * The ledger: in which state each thread in scope is, and for how long it was in each.
 *
 * It is kept in task storage and changed where the scheduler says so: sched_switch, sched_wakeup and fork, which the run-queue lock of the
 * thread puts in order. A task iterator reads it once a tick; a thread that ends goes through a ring.
 *
 * What a thread blocks in is known at switch-out without any tracing of system calls: its saved registers hold the call and its
 * arguments. Who wakes it is noted at sched_waking, which unlike sched_wakeup always runs where the waker is.
 */
#include "ledger.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile __u8 call_class[CALLS] = {};
/* Waits at least so long get a kernel stack, nanoseconds; 0: none. */
const volatile __u64 long_wait = 100000;
/* Whether user stacks are copied. */
const volatile bool with_stacks = 1;

/* include/linux/sched.h */
enum { TASK_RUNNING = 0, TASK_INTERRUPTIBLE = 1, TASK_STOPPED = 4, TASK_TRACED = 8, TASK_DEAD = 0x80 };
/* include/uapi/linux/stat.h */
enum { S_IFMT = 0170000, S_IFSOCK = 0140000, S_IFREG = 0100000, S_IFBLK = 0060000, S_IFCHR = 0020000, S_IFIFO = 0010000 };
/* include/uapi/linux/futex.h */
enum { FUTEX_LOCK_PI = 6, FUTEX_LOCK_PI2 = 13, FUTEX_CMD_MASK = 0x7f };

enum { SLOT_LENGTH = 10000000 };
/* A user stack is copied again after this time, for another caller may have come to block at the same depth. */
#define COPY_AGAIN 2000000000ull
/* Stacks that one CPU copies in a tenth of a second, of user and kernel. */
enum { MOST_USER_COPIES = 32, MOST_KERNEL_COPIES = 400 };
#define COPY_WINDOW 100000000ull
/* Waker's stacks: of each long wait, and of one in so many short ones. */
enum { WAKER_ONE_IN = 16 };
/* Kernel stacks of waits at a place that has one: of one in so many. */
enum { KERNEL_ONE_IN = 8 };

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct ledger);
} ledgers SEC(".maps");

/* Ends of threads and sites. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 2 << 20);
} events SEC(".maps");

/* Stacks. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} stacks SEC(".maps");

/* When the user stack of a place was last copied. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, __u64);
} copied SEC(".maps");

/* Kernel stacks that have been told. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, __u64);
	__type(value, __u32);
} told SEC(".maps");

struct futex_key {
	__u64 address;
	__u32 tgid;
	__u32 zero;
};

/* Threads that wait for an address now. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct futex_key);
	__type(value, __u32);
} waiting SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SLOTS);
	__type(key, __u32);
	__type(value, struct slot);
} slots SEC(".maps");

struct scratch {
	__u64 window;
	__u32 user;
	__u32 kernel;
	__u64 frames[MOST_FRAMES];
};

/* One for the scheduler's events, one for the iterator, which those may interrupt. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

/* What was counted and lost, read by read.rs: `Count`. */
enum { COUNT_SWITCHES, COUNT_USER_STACKS, COUNT_USER_LEFT_OUT, COUNT_KERNEL_STACKS, COUNT_KERNEL_LEFT_OUT, LOST_EVENTS, LOST_STACKS, LOST_LEDGERS, COUNTS };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, COUNTS);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

static __always_inline void count(__u32 what)
{
	__u64 *sum = bpf_map_lookup_elem(&counts, &what);

	if (sum)
		*sum += 1;
}

static __always_inline __u64 mix(__u64 hash, __u64 value)
{
	hash ^= value;
	hash *= 0x9e3779b97f4a7c15ull;
	return hash ^ (hash >> 29);
}

/*
 * Whether the current thread was interrupted, so that what happens is not its doing. Where the kernel does not show its count of nested interrupts
 * (x86 without CONFIG_KALLSYMS_ALL), a thread of a program counts as interrupted when it is not in a system call, and so does
 * everyone for waits that interrupts end as a rule.
 */
static __always_inline bool is_interrupted(struct task_struct *task, __u64 state, __s32 call)
{
	if (bpf_core_field_exists(task->thread_info.preempt_count))
		/* HARDIRQ_MASK, NMI_MASK and the softirq that is served, include/linux/preempt.h. */
		return (task->thread_info.preempt_count & 0x00ff0100) != 0;
	if (state == SLEEP || state == DISK || state == FAULT)
		return 1;
	return !(task->flags & PF_KTHREAD) && call < 0;
}

struct registers {
	__s32 call;
	__u32 zero;
	__u64 ip, sp, bp, lr;
	__u64 arguments[5];
};

static __always_inline bool registers_of(struct registers *to, struct task_struct *task)
{
	void *raw = (void *)bpf_task_pt_regs(task);
	struct pt_regs___x86 *x86 = raw;
	struct pt_regs___arm64 *arm = raw;

	if (!raw)
		return 0;
	if (bpf_core_field_exists(x86->orig_ax)) {
		to->call = (__s32)x86->orig_ax;
		to->ip = x86->ip;
		to->sp = x86->sp;
		to->bp = x86->bp;
		to->lr = 0;
		to->arguments[0] = x86->di;
		to->arguments[1] = x86->si;
		to->arguments[2] = x86->dx;
		to->arguments[3] = x86->r10;
		to->arguments[4] = x86->r8;
		return 1;
	}
	if (bpf_core_field_exists(arm->syscallno)) {
		to->call = arm->syscallno;
		to->ip = arm->pc;
		to->sp = arm->sp;
		to->bp = arm->regs[29];
		to->lr = arm->regs[30];
		to->arguments[0] = arm->orig_x0;
		to->arguments[1] = arm->regs[1];
		to->arguments[2] = arm->regs[2];
		to->arguments[3] = arm->regs[3];
		to->arguments[4] = arm->regs[4];
		return 1;
	}
	return 0;
}

/* Puts the time from `from` to `to` into the slots. */
static __always_inline void put_into_slots(__u64 from, __u64 to, bool runs)
{
	__u64 first = from / SLOT_LENGTH, last = to / SLOT_LENGTH, number;
	struct slot *slot;
	__u32 key;

	if (from >= to)
		return;
	number = last;
	key = number % SLOTS;
	slot = bpf_map_lookup_elem(&slots, &key);
	if (!slot)
		return;
	if (slot->number != number) {
		__builtin_memset(slot, 0, sizeof(*slot));
		slot->number = number;
	}
	__s64 part = first == last ? to - from : to - last * SLOT_LENGTH;
	if (runs)
		__sync_fetch_and_add(&slot->running, part);
	else
		__sync_fetch_and_add(&slot->runnable, part);
	if (first == last)
		return;
	if (runs)
		__sync_fetch_and_add(&slot->running_more, -1);
	else
		__sync_fetch_and_add(&slot->runnable_more, -1);
	/* The first slot: the part of it, and from the next on whole ones, which may be none. */
	key = first % SLOTS;
	slot = bpf_map_lookup_elem(&slots, &key);
	if (!slot || last - first >= SLOTS)
		return;
	if (slot->number != first) {
		__builtin_memset(slot, 0, sizeof(*slot));
		slot->number = first;
	}
	part = (first + 1) * SLOT_LENGTH - from;
	if (runs)
		__sync_fetch_and_add(&slot->running, part);
	else
		__sync_fetch_and_add(&slot->runnable, part);
	number = first + 1;
	key = number % SLOTS;
	slot = bpf_map_lookup_elem(&slots, &key);
	if (!slot)
		return;
	if (slot->number != number) {
		__builtin_memset(slot, 0, sizeof(*slot));
		slot->number = number;
	}
	if (runs)
		__sync_fetch_and_add(&slot->running_more, 1);
	else
		__sync_fetch_and_add(&slot->runnable_more, 1);
}

/* Ends the present state at `now`. The caller sets the next one and calls changed(). */
static __always_inline void account(struct ledger *ledger, __u64 now)
{
	__u64 state = ledger->state, since = ledger->since;

	ledger->change++;
	barrier();
	if (now > since && state < STATES)
		ledger->states[state] += now - since;
	ledger->since = now;
	if (state == RUNNING || state == RUNNABLE)
		put_into_slots(since > ledger->slotted ? since : ledger->slotted, now, state == RUNNING);
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

static __always_inline bool is_throttled(struct task_struct *task)
{
	if (bpf_core_field_exists(task->throttled) && task->throttled)
		return 1;
	if (bpf_core_field_exists(task->se.cfs_rq) && bpf_core_field_exists(struct cfs_rq, throttle_count))
		return BPF_CORE_READ(task, se.cfs_rq, throttle_count) > 0;
	return 0;
}

static __always_inline __u32 mode_of(struct task_struct *task, __u32 descriptor)
{
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file **all, *file = 0;

	if (!table || descriptor >= BPF_CORE_READ(table, max_fds))
		return 0;
	all = BPF_CORE_READ(table, fd);
	bpf_probe_read_kernel(&file, sizeof(file), all + descriptor);
	return file ? BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT : 0;
}

/* What a call that reads or writes a descriptor waits for. */
static __always_inline __u32 descriptor_state(struct ledger *ledger, struct task_struct *task, __u32 descriptor,
					      __u32 state, __u64 now)
{
	if (ledger->descriptor != descriptor || now - ledger->descriptor_at > 100000000ull) {
		ledger->descriptor = descriptor;
		ledger->descriptor_at = now;
		ledger->descriptor_kind = mode_of(task, descriptor);
	}
	switch (ledger->descriptor_kind) {
	case S_IFSOCK:
		return NETWORK;
	case S_IFIFO:
		return PIPE;
	case S_IFREG:
	case S_IFBLK:
		/* Files that are none (eventfd, /proc, inotify) wait so that a signal ends it. */
		return state & TASK_INTERRUPTIBLE ? IDLE : DISK;
	default:
		return state & TASK_INTERRUPTIBLE ? IDLE : OTHER;
	}
}

static __always_inline __u32 blocked_state(struct ledger *ledger, struct task_struct *task, __u32 state,
					   struct registers *at, __u64 now)
{
	bool waits_for_disk = BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait);
	__u32 class = CALL_OTHER;

	if (ledger->contended) {
		ledger->address = ledger->contended;
		ledger->flags = ledger->contended_flags;
		return LOCK;
	}
	if (task->flags & PF_KTHREAD)
		return waits_for_disk ? DISK : (state & TASK_INTERRUPTIBLE) || (state & 0x400) ? IDLE : OTHER;
	if (state & (TASK_STOPPED | TASK_TRACED))
		return OTHER;
	if (at->call < 0)
		return waits_for_disk || !(state & TASK_INTERRUPTIBLE) ? FAULT : OTHER;
	if (at->call < CALLS)
		class = call_class[at->call & (CALLS - 1)];
	switch (class) {
	case CALL_FUTEX: {
		__u32 operation = at->arguments[1] & FUTEX_CMD_MASK;

		/* A fault on the futex's page is no wait for it. */
		if (!(state & TASK_INTERRUPTIBLE))
			return waits_for_disk ? FAULT : OTHER;
		ledger->address = at->arguments[0];
		ledger->operation = at->arguments[1];
		ledger->value = at->arguments[2];
		return operation == FUTEX_LOCK_PI || operation == FUTEX_LOCK_PI2 ? LOCK : UNDECIDED;
	}
	case CALL_UNDECIDED:
		return UNDECIDED;
	case CALL_LOCK:
		return LOCK;
	}
	if (waits_for_disk)
		return DISK;
	switch (class) {
	case CALL_DESCRIPTOR:
		return descriptor_state(ledger, task, at->arguments[0], state, now);
	case CALL_NETWORK:
		return NETWORK;
	case CALL_SLEEP:
		return SLEEP;
	case CALL_IDLE:
		return IDLE;
	case CALL_POLL:
		return (__s32)at->arguments[2] < 0 ? IDLE : SLEEP;
	case CALL_PPOLL:
		return at->arguments[2] ? SLEEP : IDLE;
	case CALL_SELECT:
		return at->arguments[4] ? SLEEP : IDLE;
	case CALL_DISK:
		return DISK;
	}
	return OTHER;
}

static __always_inline struct scratch *scratch_of(__u32 which, __u64 now)
{
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &which);

	if (scratch && now - scratch->window > COPY_WINDOW) {
		scratch->window = now;
		scratch->user = 0;
		scratch->kernel = 0;
	}
	return scratch;
}

/* Copies the top of the current thread's user stack, if that of this place is not known, or not of late. */
static __noinline int copy_stack(__u64 place, __u64 now)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct scratch *scratch = scratch_of(0, now);
	struct user_stack_record *record;
	struct registers at = {};
	__u64 *last;
	__u32 size = 0;

	if (!scratch || !with_stacks)
		return 0;
	last = bpf_map_lookup_elem(&copied, &place);
	if (last && now - *last < COPY_AGAIN)
		return 1;
	if (scratch->user >= MOST_USER_COPIES) {
		count(COUNT_USER_LEFT_OUT);
		return 0;
	}
	if (!registers_of(&at, task))
		return 0;
	record = bpf_ringbuf_reserve(&stacks, sizeof(*record), 0);
	if (!record) {
		count(LOST_STACKS);
		return 0;
	}
	scratch->user++;
	record->kind = RECORD_USER_STACK;
	record->tgid = task->tgid;
	record->pid = task->pid;
	record->place = place;
	record->ip = at.ip;
	record->sp = at.sp;
	record->bp = at.bp;
	record->lr = at.lr;
	/* Page by page, for the stack may end. */
	for (int i = 0; i < 5; i++) {
		__u32 rest = 4096 - ((at.sp + size) & 4095);

		if (size + rest > MOST_STACK)
			rest = MOST_STACK - size;
		if (rest == 0 || rest > 4096 || size > MOST_STACK - 4096)
			break;
		if (bpf_probe_read_user(record->bytes + size, rest, (void *)(at.sp + size)))
			break;
		size += rest;
	}
	record->size = size;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	bpf_map_update_elem(&copied, &place, &now, BPF_ANY);
	count(COUNT_USER_STACKS);
	return 1;
}

/* Takes the kernel stack of a thread that is not running, tells it if it is new, and gives its name. */
static __always_inline __u64 kernel_stack(struct task_struct *task, struct scratch *scratch)
{
	struct kernel_stack_record *record;
	__u64 name = 1469598103934665603ull;
	__u32 one = 1;
	long size;

	size = bpf_get_task_stack(task, scratch->frames, sizeof(scratch->frames), 0);
	if (size <= 0)
		return 0;
	size /= sizeof(__u64);
	for (int i = 0; i < MOST_FRAMES; i++) {
		if (i >= size)
			break;
		name = mix(name, scratch->frames[i]);
	}
	count(COUNT_KERNEL_STACKS);
	if (bpf_map_lookup_elem(&told, &name))
		return name;
	record = bpf_ringbuf_reserve(&stacks, sizeof(*record), 0);
	if (!record) {
		count(LOST_STACKS);
		return 0;
	}
	record->kind = RECORD_KERNEL_STACK;
	record->frames = size;
	record->name = name;
	__builtin_memcpy(record->addresses, scratch->frames, sizeof(record->addresses));
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	bpf_map_update_elem(&told, &name, &one, BPF_ANY);
	return name;
}

static __always_inline void fill(struct site *site, struct ledger *ledger, __u64 state)
{
	site->ip = ledger->ip;
	site->sp = ledger->sp;
	site->place = ledger->place;
	site->address = ledger->address;
	site->kernel = ledger->kernel;
	site->waker_place = ledger->waker_place;
	site->waker = ledger->waker;
	site->waker_thread = ledger->waker_thread;
	site->owner = ledger->owner;
	site->operation = ledger->operation;
	site->value = ledger->value;
	site->waiters = ledger->waiters;
	site->call = ledger->call;
	site->state = (__u32)state | ledger->flags << 8;
	__builtin_memcpy(site->waker_name, ledger->waker_name, sizeof(site->waker_name));
}

static __always_inline void tell_site(struct task_struct *task, struct site *site, __u32 slot)
{
	struct site_record *record = bpf_ringbuf_reserve(&events, sizeof(*record), 0);

	if (!record) {
		count(LOST_EVENTS);
		return;
	}
	record->kind = RECORD_SITE;
	record->tgid = task->tgid;
	record->pid = task->pid;
	record->slot = slot;
	record->site = *site;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

static __always_inline bool is_site(struct site *site, struct ledger *ledger, __u64 state)
{
	return site->place == ledger->place && site->address == ledger->address && (site->state & 0xff) == state &&
	       site->waker == ledger->waker && site->born &&
	       /* A short wait has no kernel stack: it goes where the last one at this place went. */
	       (site->kernel == ledger->kernel || !ledger->kernel);
}

/*
 * Whether the kernel stack of the wait that ends is that of the last one at its place. In the kernel one call waits in few ways, and a futex in
 * one: of the others, one in KERNEL_ONE_IN is looked at again. A stack costs the one who wakes some microseconds, for the lines
 * of another thread's stack are far away, and he may hold the lock that all wait for.
 */
static __always_inline bool has_kernel_stack(struct ledger *ledger)
{
	struct site *site = &ledger->sites[ledger->last & (SITES - 1)];

	if (!site->kernel || !is_site(site, ledger, ledger->state))
		return 0;
	return ledger->state == UNDECIDED || ledger->wakeups % KERNEL_ONE_IN != 0;
}

/* Adds the wait that ended at `now` to its site. */
static __noinline int end_wait(struct task_struct *task, struct ledger *ledger, __u64 from, __u64 now)
{
	__u64 state, length, told;
	struct site *site = 0;
	__u32 found;

	if (!ledger || !task)
		return 0;
	state = ledger->state;
	found = ledger->last & (SITES - 1);
	if (!is_site(&ledger->sites[found], ledger, state)) {
		__u32 i;

		for (i = 0; i < SITES; i++)
			if (is_site(&ledger->sites[i], ledger, state))
				break;
		if (i < SITES) {
			found = i;
		} else {
			found = ledger->hand++ & (SITES - 1);
			if (ledger->sites[found].count != ledger->told[found])
				tell_site(task, &ledger->sites[found], found);
			__builtin_memset(&ledger->sites[found], 0, sizeof(struct site));
			ledger->sites[found].born = now;
			ledger->told[found] = 0;
		}
		ledger->last = found;
	}
	site = &ledger->sites[found & (SITES - 1)];
	if (ledger->kernel || !site->count) {
		fill(site, ledger, state);
	} else {
		if (ledger->waker_place)
			site->waker_place = ledger->waker_place;
		site->owner = ledger->owner;
		site->waker_thread = ledger->waker_thread;
		if (ledger->waiters > site->waiters)
			site->waiters = ledger->waiters;
	}
	/* What a read has told of it while it was open is not told again. */
	told = ledger->flushed > from ? ledger->flushed : from;
	length = now - from;
	site->count++;
	if (now > told)
		site->time += now - told;
	if (length > site->longest)
		site->longest = length;
	return 0;
}

static __always_inline void watch_futex(struct task_struct *task, struct ledger *ledger, bool comes)
{
	struct futex_key key = {.address = ledger->address, .tgid = task->tgid};
	__u32 one = 1, *now = bpf_map_lookup_elem(&waiting, &key);

	if (!now) {
		if (comes) {
			bpf_map_update_elem(&waiting, &key, &one, BPF_ANY);
			ledger->waiters = 1;
		}
		return;
	}
	if (comes)
		ledger->waiters = __sync_fetch_and_add(now, 1) + 1;
	else if (*now)
		__sync_fetch_and_add(now, -1);
}

static __always_inline void blocks(struct task_struct *task, struct ledger *ledger, __u32 task_state, __u64 now)
{
	struct registers at = {.call = -1};
	__u32 state;

	if (!(task->flags & PF_KTHREAD))
		registers_of(&at, task);
	ledger->kernel = 0;
	ledger->waker = 0;
	ledger->waker_thread = 0;
	ledger->waker_place = 0;
	ledger->owner = 0;
	ledger->operation = 0;
	ledger->value = 0;
	ledger->waiters = 0;
	ledger->flags = 0;
	ledger->address = 0;
	ledger->call = at.call;
	ledger->ip = at.ip;
	ledger->sp = at.sp;
	ledger->place = mix(mix(mix((__u32)task->pid, at.ip), at.sp), (__u32)at.call);
	__builtin_memset(ledger->waker_name, 0, sizeof(ledger->waker_name));
	state = blocked_state(ledger, task, task_state, &at, now);
	if (state == UNDECIDED || (state == LOCK && !ledger->flags)) {
		watch_futex(task, ledger, 1);
		/* __owner of glibc's pthread_mutex_t, which user space believes only of a pthread mutex. */
		bpf_probe_read_user(&ledger->owner, sizeof(ledger->owner), (void *)(ledger->address + 8));
	}
	if (!(task->flags & PF_KTHREAD) && with_stacks) {
		__u32 i = ledger->last & (SITES - 1);

		if (ledger->sites[i].place != ledger->place || now - ledger->copied[i] > COPY_AGAIN) {
			if (copy_stack(ledger->place, now) && ledger->sites[i].place == ledger->place)
				ledger->copied[i] = now;
		}
	}
	changed(ledger, state);
}

static __always_inline void fill_thread(struct thread_record *to, struct task_struct *task, struct ledger *ledger)
{
	to->tgid = task->tgid;
	to->pid = task->pid;
	to->flags = task->flags;
	to->start = task->start_boottime;
	to->born = ledger->born;
	to->since = ledger->since;
	to->state = ledger->state;
	__builtin_memcpy(to->states, ledger->states, sizeof(to->states));
	to->runtime_born = ledger->runtime_born;
	to->runtime = ledger->runtime;
	to->left = ledger->left;
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
			tell_site(task, &ledger->sites[i], i);
		}
	record = bpf_ringbuf_reserve(&events, sizeof(*record), 0);
	if (!record) {
		count(LOST_EVENTS);
		return 0;
	}
	record->kind = RECORD_END;
	record->now = now;
	fill_thread(record, task, ledger);
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	return 0;
}

static __always_inline __u32 bucket(__u64 time)
{
	__u32 at = 0;

	time >>= 11;
	if (time >> 16) { at += 16; time >>= 16; }
	if (time >> 8) { at += 8; time >>= 8; }
	if (time >> 4) { at += 4; time >>= 4; }
	if (time >> 2) { at += 2; time >>= 2; }
	if (time >> 1) { at += 1; time >>= 1; }
	if (time) at += 1;
	return at < BUCKETS ? at : BUCKETS - 1;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(ledger_switch, bool preempt, struct task_struct *prev, struct task_struct *next, unsigned int prev_state)
{
	__u64 now = bpf_ktime_get_ns();
	struct ledger *ledger;

	if (prev->pid) {
		ledger = bpf_task_storage_get(&ledgers, prev, 0, 0);
		if (!ledger)
			ledger = begin(prev, now, RUNNING);
		if (ledger && ledger->state < STATES) {
			account(ledger, now);
			ledger->left = ledger->states[RUNNING];
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
				blocks(prev, ledger, prev_state, now);
			}
		}
	}
	if (next->pid) {
		ledger = bpf_task_storage_get(&ledgers, next, 0, 0);
		if (!ledger)
			ledger = begin(next, now, RUNNABLE);
		if (ledger && ledger->state < STATES) {
			__u32 cpu = bpf_get_smp_processor_id();

			/* It never really blocked, a signal was pending: it waited for a CPU. */
			if (ledger->state >= FIRST_BLOCKED)
				ledger->state = RUNNABLE;
			if (ledger->state == RUNNABLE && now > ledger->since)
				ledger->queue[bucket(now - ledger->since) & (BUCKETS - 1)]++;
			account(ledger, now);
			if (ledger->cpu != cpu && ledger->cpu != ~0u)
				ledger->migrations++;
			ledger->cpu = cpu;
			changed(ledger, RUNNING);
		}
	}
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(ledger_waking, struct task_struct *task)
{
	struct ledger *ledger = bpf_task_storage_get(&ledgers, task, 0, 0);
	struct registers at = {.call = -1};
	struct task_struct *waker;
	__u64 now;

	if (!ledger || ledger->state < FIRST_BLOCKED || ledger->state >= STATES)
		return 0;
	waker = bpf_get_current_task_btf();
	if (waker->pid == 0)
		return 0;
	if (!(waker->flags & PF_KTHREAD))
		registers_of(&at, waker);
	if (is_interrupted(waker, ledger->state, at.call))
		return 0;
	ledger->waker = waker->tgid;
	ledger->waker_thread = waker->pid;
	BPF_CORE_READ_INTO(&ledger->waker_name, waker, group_leader, comm);
	if (!with_stacks || (waker->flags & PF_KTHREAD))
		return 0;
	now = bpf_ktime_get_ns();
	if (now - ledger->since >= long_wait || ledger->wakeups % WAKER_ONE_IN == 0) {
		__u64 place = mix(mix(mix((__u32)waker->pid, at.ip), at.sp), (__u32)at.call);
		if (copy_stack(place, now))
			ledger->waker_place = place;
	}
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(ledger_wakeup, struct task_struct *task)
{
	struct ledger *ledger = bpf_task_storage_get(&ledgers, task, 0, 0);
	__u64 now, from;

	if (!ledger || ledger->state < FIRST_BLOCKED || ledger->state >= STATES)
		return 0;
	now = bpf_ktime_get_ns();
	from = ledger->since;
	if (now - from >= long_wait && long_wait && !ledger->kernel && !has_kernel_stack(ledger)) {
		struct scratch *scratch = scratch_of(0, now);

		if (scratch && scratch->kernel < MOST_KERNEL_COPIES) {
			scratch->kernel++;
			ledger->kernel = kernel_stack(task, scratch);
		} else {
			count(COUNT_KERNEL_LEFT_OUT);
		}
	}
	if (ledger->state == UNDECIDED || (ledger->state == LOCK && !ledger->flags))
		watch_futex(task, ledger, 0);
	end_wait(task, ledger, from, now);
	ledger->wakeups++;
	account(ledger, now);
	changed(ledger, is_throttled(task) ? THROTTLED : RUNNABLE);
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
	struct ledger *ledger;

	/* Those who spin do not block. */
	if (flags & 1)
		return 0;
	ledger = bpf_task_storage_get(&ledgers, bpf_get_current_task_btf(), 0, 0);
	if (!ledger)
		return 0;
	ledger->contended_flags = flags | 0x8000;
	ledger->contended = (__u64)lock;
	return 0;
}

SEC("tp_btf/contention_end")
int BPF_PROG(ledger_obtained, void *lock, int failed)
{
	struct ledger *ledger = bpf_task_storage_get(&ledgers, bpf_get_current_task_btf(), 0, 0);

	if (ledger && ledger->contended == (__u64)lock)
		ledger->contended = 0;
	return 0;
}

/* Where a thread is that is not running, for the ledger of one that was there before. */
static __always_inline void find_state(struct task_struct *task, struct ledger *ledger, __u64 now)
{
	__u32 state = task->__state;

	if (task->on_cpu || state == TASK_RUNNING || task->exit_state)
		return;
	ledger->change++;
	blocks(task, ledger, state, now);
}

/* What the iterator writes of one thread. */
struct pass {
	struct thread_record thread;
	struct site_record site;
	struct site_record open;
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
	__u64 change = 0, state, now;
	__u32 first = 0;
	bool open;

	if (!task || task->pid == 0)
		return 0;
	pass = bpf_map_lookup_elem(&passes, &first);
	if (!pass)
		return 0;
	ledger = bpf_task_storage_get(&ledgers, task, 0, 0);
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
		fill_thread(&pass->thread, task, ledger);
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
	open = state >= FIRST_BLOCKED && state < STATES && change == ledger->change;
	if (open) {
		__u64 since = pass->thread.since, from = ledger->flushed > since ? ledger->flushed : since;

		if (!ledger->kernel && now - since >= long_wait && long_wait) {
			struct scratch *scratch = scratch_of(1, now);

			if (scratch)
				ledger->kernel = kernel_stack(task, scratch);
		}
		identify(&pass->open, task, OPEN);
		fill(&pass->open.site, ledger, state);
		pass->open.site.born = since;
		pass->open.site.count = 0;
		pass->open.site.time = now - from;
		pass->open.site.longest = now - since;
		if (bpf_seq_write(seq, &pass->open, sizeof(pass->open)))
			return 0;
		ledger->flushed = now;
	}
	for (__u32 i = 0; i < SITES; i++) {
		if (pass->counts[i] == ledger->told[i])
			continue;
		ledger->told[i] = pass->counts[i];
		ledger->sites[i].longest = 0;
		ledger->sites[i].waiters = 0;
	}
	if (state == RUNNING || state == RUNNABLE) {
		__u64 since = pass->thread.since, from = since > ledger->slotted ? since : ledger->slotted;

		ledger->slotted = now;
		put_into_slots(from, now, state == RUNNING);
	}
	return 0;
}

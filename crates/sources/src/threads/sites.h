/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The places where a thread blocks, with what it waited for there and who ended it: a few are kept with the thread, the others go to user space.
 */
#ifndef TWINSCOPE_SITES_H
#define TWINSCOPE_SITES_H

#include "blocked.h"
#include "copies.h"

/* Kernel stacks of waits at a place that has one: of one in so many of those that are looked at closely. */
enum { KERNEL_ONE_IN = 8 };

/* Ends of threads and sites. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 2 << 20);
} events SEC(".maps");

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

/* Whether the ledger says of a wait in this state which futex or lock it is for. */
static __always_inline bool is_for_lock(__u64 state)
{
	return state == UNDECIDED || state == LOCK;
}

static __always_inline void fill(struct site *site, struct ledger *ledger, __u64 state)
{
	bool lock = is_for_lock(state);

	site->place = ledger->place;
	site->address = ledger->address;
	site->kernel = ledger->kernel;
	site->waker_place = ledger->waker_place;
	site->waker = ledger->waker;
	site->waker_thread = ledger->waker_thread;
	site->owner = lock ? ledger->owner : 0;
	site->operation = lock ? ledger->operation : 0;
	site->value = lock ? ledger->value : 0;
	site->waiters = lock ? ledger->waiters : 0;
	site->call = ledger->call;
	site->state = (__u32)state | (lock ? ledger->flags << 8 : 0);
	if (ledger->waker)
		__builtin_memcpy(site->waker_name, ledger->waker_name, sizeof(site->waker_name));
	else
		__builtin_memset(site->waker_name, 0, sizeof(site->waker_name));
}

/* `who`: the process in the upper half, the thread in the lower. */
static __always_inline __u64 who_is(struct task_struct *task)
{
	return (__u64)(__u32)task->tgid << 32 | (__u32)task->pid;
}

static __always_inline void tell_site(__u64 who, struct site *site, __u32 slot)
{
	struct site_record *record = bpf_ringbuf_reserve(&events, sizeof(*record), 0);

	if (!record) {
		count(LOST_EVENTS);
		return;
	}
	record->kind = RECORD_SITE;
	record->tgid = who >> 32;
	record->pid = who;
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

/* Not static, as is put_wait(): the kernel verifies them once, and not along each way to each of their calls, which took it most of a second. */
__u32 site_of(struct ledger *ledger, __u64 state);
int put_wait(struct ledger *ledger, __u64 from, __u64 now, __u64 who, __u32 found);

/* The site of the wait in `state`, rather one with a kernel stack where the wait itself has none; SITES: none yet. */
__noinline __u32 site_of(struct ledger *ledger, __u64 state)
{
	__u32 found;

	if (!ledger)
		return SITES;
	found = masked(ledger->last, SITES);
	if (is_site(&ledger->sites[found], ledger, state))
		return found;
	found = SITES;
	for (__u32 i = 0; i < SITES; i++) {
		if (!is_site(&ledger->sites[i], ledger, state))
			continue;
		found = i;
		if (ledger->sites[i].kernel)
			break;
	}
	return found;
}

/*
 * Whether the kernel stack of a wait is looked at, of which `found` is the site without it. In the kernel one call waits in few ways, and a futex in one: of
 * others that are looked at closely, one in KERNEL_ONE_IN is looked at again.
 */
static __always_inline bool looks_at_kernel(struct ledger *ledger, __u64 state, __u32 found)
{
	if (ledger->kernel)
		return 0;
	if (found >= SITES || !ledger->sites[masked(found, SITES)].kernel)
		return 1;
	return state != UNDECIDED && ledger->closely && ledger->wakeups % KERNEL_ONE_IN == 0;
}

/* Adds the wait that ended at `now` to its site, `found`; to a new one where that is SITES. */
__noinline int put_wait(struct ledger *ledger, __u64 from, __u64 now, __u64 who, __u32 found)
{
	__u64 state, length, told;
	struct site *site;

	if (!ledger)
		return 0;
	state = ledger->state;
	if (found >= SITES) {
		found = masked(ledger->hand++, SITES);
		if (ledger->sites[found].count != ledger->told[found])
			tell_site(who, &ledger->sites[found], found);
		__builtin_memset(&ledger->sites[found], 0, sizeof(struct site));
		ledger->sites[found].born = now;
		ledger->told[found] = 0;
	}
	ledger->last = found;
	site = &ledger->sites[masked(found, SITES)];
	if (ledger->kernel || !site->count) {
		__u32 owner = site->owner, waiters = site->waiters;

		fill(site, ledger, state);
		if (!ledger->closely)
			site->owner = owner;
		if (site->waiters < waiters)
			site->waiters = waiters;
	} else if (ledger->closely) {
		if (ledger->waker_place)
			site->waker_place = ledger->waker_place;
		site->waker_thread = ledger->waker_thread;
		if (is_for_lock(state)) {
			site->owner = ledger->owner;
			if (ledger->waiters > site->waiters)
				site->waiters = ledger->waiters;
		}
	}
	/* What a read has told of it while it was open is not told again. */
	told = ledger->flushed > from ? ledger->flushed : from;
	length = now - from;
	site->count++;
	if (is_timed_out(ledger, now)) {
		site->timed_out++;
		site->timed_out_time += length;
	}
	if (now > told)
		site->time += now - told;
	if (length > site->longest)
		site->longest = length;
	return 0;
}

/* Notes the wait that ended at `now`. `is_long`: it was long enough for a kernel stack. */
static __noinline int end_wait(struct task_struct *task, struct ledger *ledger, __u64 from, __u64 now, bool is_long)
{
	__u32 found;

	if (!ledger || !task)
		return 0;
	found = site_of(ledger, ledger->state);
	if (is_long && looks_at_kernel(ledger, ledger->state, found)) {
		ledger->kernel = kernel_stack(task, 0, now);
		found = site_of(ledger, ledger->state);
	}
	return put_wait(ledger, from, now, who_is(task), found);
}

static __always_inline void watch_futex(struct task_struct *task, struct ledger *ledger, bool comes)
{
	struct futex_key key = {.address = ledger->address, .tgid = task->tgid};
	__u32 one = 1, *now = bpf_map_lookup_elem(&waiting, &key);

	ledger->counted = comes;
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

#endif

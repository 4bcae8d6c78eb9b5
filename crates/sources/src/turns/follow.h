/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Moments by which a turn is followed through threads: what went through connections, who was switched to whom and in which state, and who woke whom.
 * They go to user space (follow.rs) while a gate of their own is open, and only where somebody serves.
 */
#ifndef TWINSCOPE_FOLLOW_H
#define TWINSCOPE_FOLLOW_H

#include "ledger.h"
#include "thin.h"
#include "turns.h"

/* Those of threads; `ledger.bpf.c` keeps them. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct ledger);
} ledgers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct gate);
} follow_gate SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} moments SEC(".maps");

/* `Moment` of follow/moment.rs reads these, and the structure. */
enum moment_kind { MOMENT_SWITCH, MOMENT_WAKING, MOMENT_ASKED, MOMENT_ANSWERED, MOMENT_ASKS, MOMENT_GOT };

struct moment {
	__u64 at;
	__u32 kind;
	/* Who did it, or left its CPU, or was woken; 0: nobody who is followed. */
	__u32 thread;
	/* Of a switch: who comes, and the state of who leaves. Of a wake-up: who woke; 0: an interrupt, or nobody who is followed. */
	__u32 other;
	__u32 state;
	/* Of a switch: the place where the thread waits. Else the connection. */
	__u64 about;
	/* Of what goes through a connection: its service, and how long data had lain there. */
	__u32 service;
	__u32 zero;
	__u64 waited;
	/* Of the first of an answer: when the question was asked. */
	__u64 since;
};

static __always_inline __u64 follows_since(void)
{
	__u32 zero = 0;
	struct gate *gate = bpf_map_lookup_elem(&follow_gate, &zero);

	return gate && !gate->until ? gate->since : 0;
}

static __always_inline struct moment *new_moment(__u32 kind, __u64 now)
{
	struct moment *moment = bpf_ringbuf_reserve(&moments, sizeof(*moment), 0);

	count(COUNT_MOMENTS);
	if (!moment) {
		count(LOST_MOMENTS);
		return 0;
	}
	__builtin_memset(moment, 0, sizeof(*moment));
	moment->at = now;
	moment->kind = kind;
	return moment;
}

/* What goes through a connection at `now`: a question or an answer begins. */
static __always_inline void tell_connection(struct connection *connection, __u32 kind, __u64 now, __u64 waited)
{
	__u64 since = follows_since();
	struct moment *moment;

	if (!since || connection->asked < since)
		return;
	moment = new_moment(kind, now);
	if (!moment)
		return;
	moment->thread = (__u32)bpf_get_current_pid_tgid();
	moment->about = connection->socket;
	moment->service = connection->service;
	moment->waited = waited;
	moment->since = connection->asked;
	bpf_ringbuf_submit(moment, BPF_RB_NO_WAKEUP);
}

/* Runs after the ledger's, which was attached first and has decided on the state. */
SEC("tp_btf/sched_switch")
int BPF_PROG(follow_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct ledger *of_prev, *of_next;
	struct moment *moment;

	if (!follows_since())
		return 0;
	of_prev = prev->pid ? stored_with(ledgers, prev) : 0;
	of_next = next->pid ? stored_with(ledgers, next) : 0;
	if (!of_prev && !of_next)
		return 0;
	moment = new_moment(MOMENT_SWITCH, bpf_ktime_get_ns());
	if (!moment)
		return 0;
	if (of_prev) {
		moment->thread = prev->pid;
		moment->state = of_prev->state;
		moment->about = of_prev->place;
	}
	if (of_next)
		moment->other = next->pid;
	bpf_ringbuf_submit(moment, BPF_RB_NO_WAKEUP);
	return 0;
}

/* Runs after the ledger's, which has noted who wakes. */
SEC("tp_btf/sched_waking")
int BPF_PROG(follow_waking, struct task_struct *task)
{
	struct ledger *ledger;
	struct moment *moment;

	if (!follows_since())
		return 0;
	ledger = stored_with(ledgers, task);
	if (!ledger)
		return 0;
	moment = new_moment(MOMENT_WAKING, bpf_ktime_get_ns());
	if (!moment)
		return 0;
	moment->thread = task->pid;
	moment->other = ledger->waker_thread;
	bpf_ringbuf_submit(moment, BPF_RB_NO_WAKEUP);
	return 0;
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What is kept of each thread in scope, in its task storage, and the records that go to user space. records.rs reads them in the order of
 * their fields; every structure is free of holes.
 */
#ifndef TWINSCOPE_LEDGER_H
#define TWINSCOPE_LEDGER_H

#include "core.h"
#include "histogram.h"
#include "scope.h"

/* The columns of states in tables.rs. From FIRST_BLOCKED on, the thread is blocked. */
enum state {
	RUNNING,
	RUNNABLE,
	THROTTLED,
	LOCK,
	DISK,
	NETWORK,
	PIPE,
	FAULT,
	SLEEP,
	IDLE,
	OTHER,
	/* Waits for a futex or semaphore: whether for a lock or for work, user space finds out from the stack. */
	UNDECIDED,
	STATES,
};
enum { FIRST_BLOCKED = LOCK };

/* Places where a thread blocked that are kept with it; when it has blocked in more, the oldest goes to the ring. */
enum { SITES = 8 };

/* One way in which a thread waited. Sums since `born`. What each wait touches lies in the first line of the cache, the rest is touched where one is looked at closely. */
struct site {
	__u64 born;
	/* A number made of the registers at the system call, the thread and the call: the name of its user stack. */
	__u64 place;
	/* Of a futex or of a kernel lock. */
	__u64 address;
	/* Name of the kernel stack; 0 where no wait was long enough to take one. */
	__u64 kernel;
	__u64 count;
	__u64 time;
	__u64 longest;
	/* State in the low byte, then what contention_begin said of the lock. */
	__u32 state;
	/* The process that ended it; 0: an interrupt, or unknown. */
	__u32 waker;
	__u32 waker_thread;
	/* What a pthread mutex at `address` says of its owner; operation and expected value of a futex. */
	__u32 owner;
	__u32 operation;
	__u32 value;
	/* Most threads that waited for `address` at once. */
	__u32 waiters;
	__s32 call;
	/* Name of the user stack of who ended the last wait that was looked at; 0 where none was. */
	__u64 waker_place;
	char waker_name[TASK_COMM_LEN];
	/* Of the waits, those that ended because their time was over: how many, and how long they were. */
	__u64 timed_out;
	__u64 timed_out_time;
};

/*
 * How a wait ends by itself: not; by a timer, it is not known when, but nothing else ends it than a thread; at a known time, before which a device may end
 * it too.
 */
enum timed { ENDLESS, TIMER, DEADLINE };

/* A user stack that was copied of late. */
struct known {
	__u64 place;
	__u64 at;
};
enum { KNOWN = 4 };

/* No name of a stack. */
enum { LOOK = 1 };

/*
 * What each switch touches lies in few lines of the cache, for the program that runs has use for the others. The first 56 bytes lie in one line with the
 * pointer that the kernel finds the rest by. They are all that a waker on another CPU touches: what is to be done about a wait that has ended is
 * done where the thread runs next, whose lines they are.
 */
struct ledger {
	/* Odd while it is changed. Not by wakers. */
	__u64 change;
	__u64 since;
	/*
	 * Whether the blocked thread was woken; 0: not yet. The lowest bit says that it is held back by a quota, the others when it was, or WOKEN where
	 * the kernel knows that. Written by the waker, and last of what it writes.
	 */
	__u64 woken;
	/* While nobody has woken it, whether the waker's stack may be taken: LOOK or 0. */
	__u64 waker_place;
	__u32 waker;
	__u32 waker_thread;
	/* The process whose name is `waker_name`, and when that was looked at, in units of 2^20 ns. */
	__u32 named;
	__u32 named_at;
	__u32 state;
	/* Place of the last wait in `sites`. */
	__u8 last;
	/* Whether the wait is looked at closely (see blocks()), and is one of those in `waiting`. */
	__u8 closely;
	__u8 counted;
	/* Whether the wait ends when a time is over: enum timed. */
	__u8 timed;

	/* The second line, and most of the third. */
	__u64 wakeups;
	__u64 states[STATES];
	/* Run time that the kernel had measured when the thread last left a CPU. */
	__u64 runtime;
	/* How long it had waited for CPUs in its life when it blocked, as the kernel has it. */
	__u64 delay;
	__u64 voluntary;

	/* The fourth: until when its time has gone into the slots, until when its open wait has been told, and when it blocked last. */
	__u64 slotted;
	__u64 flushed;
	__u64 blocked;
	/* The wait that is open: as in struct site. */
	__u64 place;
	__u64 address;
	__u64 kernel;
	/* The kernel lock that it is contending for; 0 for none. */
	__u64 contended;
	__s32 call;
	__u32 cpu;

	/* Of a futex or lock; of other waits these mean nothing. */
	__u32 owner;
	__u32 operation;
	__u32 value;
	__u32 waiters;
	__u32 flags;
	__u32 contended_flags;
	/* Last descriptor that was looked at, and what it was. */
	__u64 descriptor_at;
	__u32 descriptor;
	__u32 descriptor_kind;
	__u64 involuntary;
	__u64 migrations;
	/* Which of `sites` goes when there is no room. */
	__u32 hand;
	__u32 zeroes;
	struct known known[KNOWN];
	char waker_name[TASK_COMM_LEN];
	__u64 born;
	/* When the ledger was begun. */
	__u64 runtime_born;
	__u64 utime_born;
	__u64 stime_born;
	/* Waits for a CPU: bucket i holds [2^i, 2^(i+1)) times 1024 ns. */
	__u32 queue[BUCKETS];
	__u64 told[SITES];
	/* When the time of the open wait is over, where `timed` is DEADLINE. */
	__u64 deadline;
	/* Of a thread that runs Python: the place of the last wait without the functions of Python. It also has each of the following begin a line. */
	__u64 plain_place;
	struct site sites[SITES];
};

_Static_assert(sizeof(struct site) == 128 && __builtin_offsetof(struct ledger, sites) % 64 == 56, "sites begin lines");
_Static_assert(__builtin_offsetof(struct ledger, wakeups) == 56 && __builtin_offsetof(struct ledger, slotted) == 56 + 128 &&
		       __builtin_offsetof(struct ledger, owner) == 56 + 192,
	       "what a waker touches, and what each switch does");

enum { RECORD_THREAD = 1, RECORD_SITE, RECORD_END, RECORD_KERNEL_STACK, RECORD_USER_STACK, RECORD_REGISTERS, RECORD_PYTHON_STACK };

struct thread_record {
	__u32 kind;
	__u32 tgid;
	__u32 pid;
	__u32 flags;
	__u64 now;
	__u64 start;
	__u64 born;
	__u64 since;
	__u64 state;
	__u64 states[STATES];
	__u64 runtime_born;
	__u64 runtime;
	__u64 runtime_now;
	__u64 utime;
	__u64 stime;
	__u64 voluntary;
	__u64 involuntary;
	__u64 migrations;
	__u64 wakeups;
	__u32 queue[BUCKETS];
	char name[TASK_COMM_LEN];
	char process[TASK_COMM_LEN];
};

struct site_record {
	__u32 kind;
	__u32 tgid;
	__u32 pid;
	/* Its place in the ledger, or OPEN for a wait that is not over. */
	__u32 slot;
	struct site site;
};

enum { OPEN = 0xffff };

enum { MOST_FRAMES = 32 };

struct kernel_stack_record {
	__u32 kind;
	__u32 frames;
	__u64 name;
	__u64 addresses[MOST_FRAMES];
};

enum { MOST_STACK = 32768 };

struct user_stack_record {
	__u32 kind;
	__u32 tgid;
	__u32 pid;
	__u32 size;
	__u64 place;
	__u64 ip;
	__u64 sp;
	__u64 bp;
	__u64 lr;
	__u8 bytes[MOST_STACK];
};

/* Where a blocked thread is whose stack was not copied when it blocked: user space may read it. */
struct registers_record {
	__u32 kind;
	__u32 tgid;
	__u32 pid;
	__u32 zero;
	__u64 place;
	__u64 ip;
	__u64 sp;
	__u64 bp;
	__u64 lr;
};

/* A slot of 10 ms: time in parts of it, and how many more and fewer threads fill whole slots from here on. */
enum { SLOTS = 1024 };

struct slot {
	__u64 number;
	__s64 running;
	__s64 runnable;
	__s32 running_more;
	__s32 runnable_more;
};

/* Classes of system calls, by number; call_class[] is filled in by user space, for numbers differ by machine. */
enum class {
	CALL_OTHER,
	CALL_DESCRIPTOR,
	CALL_NETWORK,
	CALL_SLEEP,
	CALL_IDLE,
	/* Third argument: milliseconds, or a pointer to a time; fifth: a pointer to a timeval, or to a timespec. */
	CALL_POLL,
	CALL_PPOLL,
	CALL_SELECT,
	CALL_PSELECT,
	CALL_FUTEX,
	CALL_UNDECIDED,
	CALL_LOCK,
	CALL_DISK,
	/* Fourth argument: milliseconds, or a pointer to a time. */
	CALL_EPOLL,
	CALL_EPOLL2,
};
enum { CALLS = 512 };

#endif

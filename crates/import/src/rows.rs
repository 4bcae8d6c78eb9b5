//! Rows of the tables of events that an imported recording has beside samples.

use crate::profile::Profile;
use crate::tables::{ALLOCATION, JVM_PAUSE, LOCK, WAIT};
use model::NULL;

fn stack(number: u32) -> i64 {
    if number == 0 { NULL } else { i64::from(number) }
}

/// Texts are cells, times nanoseconds on the file's own clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pause {
    pub(crate) pid: i64,
    pub(crate) comm: i64,
    pub(crate) kind: i64,
    pub(crate) operation: i64,
    pub(crate) cause: i64,
    pub(crate) at: i64,
    pub(crate) time: i64,
    pub(crate) to_stop: i64,
    pub(crate) used_before: i64,
    pub(crate) used_after: i64,
}

impl Pause {
    /// One that stands for itself.
    pub(crate) fn put(self, profile: &mut Profile) {
        let p = self;
        let (together, exact) = (1, 1);
        let cells = [
            p.pid,
            p.comm,
            p.kind,
            p.operation,
            p.cause,
            p.at,
            p.time,
            p.to_stop,
            p.used_before,
            p.used_after,
            together,
            exact,
        ];
        profile.row(&JVM_PAUSE, p.at.saturating_add(p.time), cells.to_vec());
    }
}

/// A wait that has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    pub(crate) pid: i64,
    pub(crate) comm: i64,
    pub(crate) thread: i64,
    pub(crate) state: i64,
    pub(crate) what: i64,
    pub(crate) stack: u32,
    pub(crate) waker: i64,
    pub(crate) count: i64,
    pub(crate) time: i64,
    pub(crate) longest: i64,
    pub(crate) timed_out: bool,
    pub(crate) end: i64,
}

impl Wait {
    pub(crate) fn put(self, profile: &mut Profile) {
        let w = self;
        let (ran_out, ran_out_time) = if w.timed_out { (w.count, w.time) } else { (0, 0) };
        let waker_stack = NULL;
        let cells = [
            w.pid,
            w.comm,
            w.thread,
            w.state,
            w.what,
            stack(w.stack),
            w.waker,
            waker_stack,
            w.count,
            w.time,
            w.longest,
            ran_out,
            ran_out_time,
        ];
        profile.row(&WAIT, w.end, cells.to_vec());
    }
}

/// A wait for a lock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lock {
    pub(crate) pid: i64,
    pub(crate) comm: i64,
    pub(crate) kind: i64,
    pub(crate) address: i64,
    pub(crate) name: i64,
    pub(crate) stack: u32,
    pub(crate) holder: i64,
    pub(crate) holder_tid: i64,
    pub(crate) time: i64,
    pub(crate) end: i64,
}

impl Lock {
    pub(crate) fn put(self, profile: &mut Profile) {
        let l = self;
        let (count, holder_stack, waiters) = (1, NULL, NULL);
        let cells = [
            l.pid,
            l.comm,
            l.kind,
            l.address,
            l.name,
            stack(l.stack),
            l.holder,
            l.holder_tid,
            holder_stack,
            count,
            l.time,
            l.time,
            waiters,
        ];
        profile.row(&LOCK, l.end, cells.to_vec());
    }
}

/// What was allocated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allocation {
    pub(crate) pid: i64,
    pub(crate) comm: i64,
    pub(crate) thread: i64,
    pub(crate) class: i64,
    pub(crate) stack: u32,
    pub(crate) bytes: i64,
    pub(crate) outside: bool,
    pub(crate) at: i64,
}

impl Allocation {
    pub(crate) fn put(self, profile: &mut Profile) {
        let a = self;
        let (tid, count, sampled_1_in) = (NULL, 1, 1);
        let outside = i64::from(a.outside);
        let stack = stack(a.stack);
        let cells = [a.pid, tid, a.comm, a.thread, a.class, outside, stack, a.at, a.bytes, count, sampled_1_in];
        profile.row(&ALLOCATION, a.at, cells.to_vec());
    }
}

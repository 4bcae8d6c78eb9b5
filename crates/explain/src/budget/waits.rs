//! What a wait is, where its code or who ended it say more than what it waited in: the ledger was written before names were known.

use super::cell::Cell;
use super::state::State;
use lexicon::wait::{Wait, is_for_lock, of_stack};
use lexicon::{Found, Role, Roles};

/// What the code of a wait says of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Waiting {
    /// What a thread that is blocked in a futex waits for.
    pub(super) on: Wait,
    /// Whether it is blocked in a futex.
    is_futex: bool,
    /// Whether it waits for a lock, in a futex or otherwise.
    is_lock: bool,
    /// Whether it waits for one of several events, as in poll(2) and select(2).
    pub(super) is_poll: bool,
    /// Whether it waits for room for what it sends.
    is_room: bool,
}

/// System calls that wait until the other side takes what they send.
const SENDS: [&str; 10] =
    ["write", "writev", "pwrite", "pwritev", "send", "sendto", "sendmsg", "sendmmsg", "sendfile", "splice"];

impl Waiting {
    /// By what is known of the cell so far, and of its frames outside of the kernel, innermost first.
    pub(super) fn of<F: Iterator<Item = Found>>(cell: &Cell, found: impl Fn() -> F) -> Self {
        let what = lexicon::roles(&cell.what, "[kernel]", "kernel");
        let is_in = |role: Role| what.has(role) || cell.roles.has(role);
        let (on, is_futex) = (of_stack(found()), is_in(Role::KernelFutex));
        Waiting {
            on,
            is_futex,
            is_lock: if is_futex { matches!(on, Wait::Lock(_)) } else { is_for_lock(found()) },
            is_poll: what.has(Role::KernelPoll),
            is_room: is_in(Role::KernelRoom) || SENDS.contains(&cell.request.as_str()),
        }
    }
}

/// What a wait is rather than what the ledger took it for: a wait for another thread of the workload, over a pipe or a socket, is one for work; so is one
/// for a condition with a limit to it, as pools of threads do.
pub(super) fn seen_closer(cell: &Cell, is_own: &dyn Fn(&str) -> bool) -> Option<State> {
    let has = |roles: &[Role]| cell.roles.any(Roles::of(roles));
    let waits = &cell.waits;
    match cell.state? {
        State::Idle | State::Sleep | State::Network | State::Other if waits.is_lock => Some(State::Lock),
        // Functions that were inlined have their names only after the ledger has told what the wait is for.
        State::Other if waits.is_futex && waits.on == Wait::Idle => Some(State::Idle),
        // Threads that are stopped wait for what they are stopped for.
        State::Lock if has(&[Role::Safepoint]) => Some(State::Idle),
        State::Sleep if has(&[Role::Housekeeping]) => Some(State::Idle),
        // Threads of a JVM are asked to sleep in this way.
        State::Sleep if waits.is_futex || has(&[Role::Condvar]) => (!has(&[Role::Sleep])).then_some(State::Idle),
        State::Pipe | State::Network if !waits.is_room && !cell.waker.is_empty() && is_own(&cell.waker) => {
            Some(State::Idle)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A wait in a function of the kernel, with its path, outermost function first, in a program of this name.
    fn wait(state: State, what: &str, waker: &str, path: &str, module: &str) -> Option<State> {
        let found: Vec<Found> = path.rsplit(';').map(|name| lexicon::find(name, module, "native")).collect();
        let roles = found.iter().fold(Roles::NONE, |all, found| all.with(found.roles));
        let cell = Cell { state: Some(state), what: what.into(), waker: waker.into(), roles, ..Cell::default() };
        let cell = Cell { waits: Waiting::of(&cell, || found.iter().copied()), ..cell };
        seen_closer(&cell, &|name| name == "app")
    }

    #[test]
    fn a_wait_is_seen_closer() {
        let wait = |state, what: &str, waker: &str, path: &str| wait(state, what, waker, path, "/bin/app");
        assert_eq!(wait(State::Pipe, "pipe_read", "app", "main;read"), Some(State::Idle), "another thread's answer");
        assert_eq!(wait(State::Pipe, "pipe_read", "cat", "main;read"), None, "another program's");
        assert_eq!(wait(State::Pipe, "pipe_write", "app", "main;write"), None, "it is full");
        assert_eq!(
            wait(State::Network, "wait_woken", "app", "main;sendRequest;recv"),
            Some(State::Idle),
            "whatever its caller is called"
        );
        assert_eq!(wait(State::Sleep, "do_epoll_wait", "", "backend;ProcSleep;WaitLatch"), Some(State::Lock));
        assert_eq!(wait(State::Sleep, "futex_do_wait", "", "pool;wait_for"), Some(State::Idle));
        assert_eq!(wait(State::Sleep, "futex_do_wait", "", "run;JVM_Sleep"), None);
        assert_eq!(wait(State::Sleep, "hrtimer_nanosleep", "", "runtime.sysmon;runtime.usleep"), Some(State::Idle));
        assert_eq!(wait(State::Lock, "futex_do_wait", "", "SafepointSynchronize::block"), Some(State::Idle));
        assert_eq!(
            wait(State::Other, "futex_do_wait", "", "work;std::sync::mpsc::Receiver<T>::recv"),
            Some(State::Idle)
        );
        assert_eq!(wait(State::Idle, "inet_csk_accept", "", "main;accept"), None);
    }

    #[test]
    fn a_lock_of_java_is_told_from_what_else_parks() {
        let java = |path: &str| wait(State::Idle, "futex_do_wait", "", path, "[jit]") == Some(State::Lock);
        let park = "jdk.internal.misc.Unsafe.park;Unsafe_Park;Parker::park;pthread_cond_wait";
        let queue = "java.util.concurrent.locks.AbstractQueuedSynchronizer";
        assert!(java(&format!("Interpreter;Cache.get;{queue}.acquire;{park}")));
        assert!(java(&format!("Cache.get;java.util.concurrent.locks.ReentrantLock.lock;Interpreter;{park}")));
        assert!(!java(&format!("Pool.run;{queue}$ConditionObject.await;{park}")));
        assert!(!java(&format!("Main.all;java.util.concurrent.CountDownLatch.await;{queue}.acquire;{park}")));
        assert!(!java(&format!("Main.all;{park}")));
    }
}

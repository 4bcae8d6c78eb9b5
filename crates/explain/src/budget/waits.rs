//! What a wait is, where its code or who ended it say more than what it waited in: the ledger was written before names were known.

use super::cell::{Cell, Seen};
use super::judged::Why;
use super::ledger::{Group, group};
use super::state::State;
use lexicon::wait::{Wait, is_for_lock, of_stack};
use lexicon::{Found, Role, Roles};
use std::collections::BTreeMap;

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
pub(super) fn seen_closer(cell: &Cell, is_own: &dyn Fn(&str) -> bool) -> Option<(State, Why)> {
    let has = |roles: &[Role]| cell.roles.any(Roles::of(roles));
    let waits = &cell.waits;
    let code = |state: State| Some((state, Why::Code));
    match cell.state? {
        State::Idle | State::Sleep | State::Network | State::Other if waits.is_lock => code(State::Lock),
        // Functions that were inlined have their names only after the ledger has told what the wait is for.
        State::Other if waits.is_futex && waits.on == Wait::Idle => code(State::Idle),
        // Threads that are stopped wait for what they are stopped for.
        State::Lock if has(&[Role::Safepoint]) => code(State::Idle),
        State::Sleep if has(&[Role::Housekeeping]) => code(State::Idle),
        // Threads of a JVM are asked to sleep in this way.
        State::Sleep if waits.is_futex || has(&[Role::Condvar]) => {
            if has(&[Role::Sleep]) {
                None
            } else {
                code(State::Idle)
            }
        }
        State::Pipe | State::Network if !waits.is_room && !cell.waker.is_empty() && is_own(&cell.waker) => {
            Some((State::Idle, Why::Waker))
        }
        _ => None,
    }
}

/// Whether nothing is known of a wait in a futex but that: the program's part of the stack could not be read, as of compiled code without frames.
fn is_unseen(cell: &Cell) -> bool {
    let outside = cell.path.split(';').filter(|name| !name.is_empty() && *name != "[no stack]").count();
    cell.state == Some(State::Other) && cell.waits.is_futex && outside == cell.kernel
}

/// Waits of which only the kernel's part is known are taken to be what others of these threads are at the same place, ended by the same program, in the
/// proportion of their time.
pub(super) fn as_others(waits: Vec<Seen>) -> Vec<Seen> {
    type Key = (Group, String, String);
    let key = |cell: &Cell| -> Key { (group(&cell.comm, &cell.thread), cell.what.clone(), cell.waker.clone()) };
    let (unseen, seen): (Vec<Seen>, Vec<Seen>) =
        waits.into_iter().partition(|wait| wait.to.is_none() && is_unseen(&wait.cell));
    let mut others: BTreeMap<Key, BTreeMap<State, [f64; 2]>> =
        unseen.iter().map(|wait| (key(&wait.cell), BTreeMap::new())).collect();
    for wait in seen.iter().filter(|wait| wait.cell.waits.is_futex) {
        if let Some((states, state)) = others.get_mut(&key(&wait.cell)).zip(wait.state()) {
            let sums = states.entry(state).or_default();
            *sums = [sums[0] + wait.weights[0], sums[1] + wait.weights[1]];
        }
    }
    let mut all = seen;
    for wait in unseen {
        let states = others.get(&key(&wait.cell)).into_iter().flatten();
        let whole = states.clone().fold([0.0; 2], |sum, (_, times)| [sum[0] + times[0], sum[1] + times[1]]);
        let of = |time: f64, whole: f64, weight: f64| if whole > 0.0 { weight * time / whole } else { 0.0 };
        let [slow, fast] = wait.weights;
        for (state, times) in states {
            let weights = [of(times[0], whole[0], slow), of(times[1], whole[1], fast)];
            all.push(Seen { weights, to: Some((*state, Why::Alike)), ..wait.clone() });
        }
        // Where there are no others, it stays what it was.
        let left = |whole: f64, weight: f64| if whole > 0.0 { 0.0 } else { weight };
        all.push(Seen { weights: [left(whole[0], slow), left(whole[1], fast)], ..wait });
    }
    all.retain(|wait| wait.weights[0] > 0.0 || wait.weights[1] > 0.0);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_without_a_stack_is_what_others_of_its_threads_are() {
        let seen = |state: State, thread: &str, path: &str, weights: [f64; 2]| {
            let (kernel, what) = (1, "futex_do_wait".to_owned());
            let (comm, thread, path) = ("app".into(), thread.into(), path.into());
            let cell = Cell { state: Some(state), comm, thread, what, path, kernel, ..Cell::default() };
            Seen { cell: Cell { waits: Waiting::of(&cell, std::iter::empty), ..cell }, weights, to: None }
        };
        let found = as_others(vec![
            seen(State::Lock, "worker", ";run;lock;futex_do_wait;", [6.0, 0.0]),
            seen(State::Idle, "worker", ";run;take;futex_do_wait;", [2.0, 0.0]),
            seen(State::Other, "worker", ";run;futex_do_wait;", [1.0, 1.0]),
            seen(State::Other, "worker", ";futex_do_wait;", [9.0, 2.0]),
            seen(State::Other, "timer", ";futex_do_wait;", [5.0, 5.0]),
        ]);
        let time = |state: State, thread: &str| {
            let of = found.iter().filter(|w| w.state() == Some(state) && w.cell.thread == thread);
            of.fold([0.0; 2], |sum, w| [sum[0] + w.weights[0], sum[1] + w.weights[1]])
        };
        assert_eq!(time(State::Lock, "worker"), [12.0, 0.0]);
        assert_eq!(time(State::Idle, "worker"), [4.0, 0.0]);
        assert_eq!(time(State::Other, "worker"), [2.0, 3.0], "what is known to be neither stays; so on the other side");
        assert_eq!(time(State::Other, "timer"), [5.0, 5.0], "of other threads nothing is known");
    }

    /// A wait in a function of the kernel, with its path, outermost function first, in a program of this name.
    fn wait(state: State, what: &str, waker: &str, path: &str, module: &str) -> Option<State> {
        let found: Vec<Found> = path.rsplit(';').map(|name| lexicon::find(name, module, "native")).collect();
        let roles = found.iter().fold(Roles::NONE, |all, found| all.with(found.roles));
        let cell = Cell { state: Some(state), what: what.into(), waker: waker.into(), roles, ..Cell::default() };
        let cell = Cell { waits: Waiting::of(&cell, || found.iter().copied()), ..cell };
        seen_closer(&cell, &|name| name == "app").map(|(state, _)| state)
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

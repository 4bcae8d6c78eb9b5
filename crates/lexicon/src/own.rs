//! Whose function it is: which frame of a stack to name where something is to be said of it. The one rule for `explain`, `compare` and the report.

use crate::role::{Role, Roles};

/// Parts of how waiting is made: who called them says more.
const MACHINERY: Roles = Roles::of(&[
    Role::LockTake,
    Role::LockWait,
    Role::LockRelease,
    Role::LockTry,
    Role::Condvar,
    Role::Wake,
    Role::Semaphore,
    Role::Park,
    Role::Meeting,
    Role::QueueWait,
    Role::Futex,
    Role::Sleep,
    Role::Poll,
    Role::Interpreter,
]);

/// How near a frame is to the program that somebody wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Nearness {
    /// The program's own code.
    Own,
    /// A run-time system or the standard library of a language.
    Language,
    /// A library of the system, or a part of how waiting is made.
    Machinery,
    /// The kernel.
    Kernel,
}

/// How near a frame is to the program that waits.
pub fn nearness(roles: Roles, kind: &str) -> Nearness {
    if kind == "kernel" {
        Nearness::Kernel
    } else if roles.has(Role::Library) || roles.any(MACHINERY) {
        Nearness::Machinery
    } else if roles.any(Roles::of(&[Role::Runtime, Role::Standard, Role::Scheduler])) {
        // Where a run-time system begins says nothing of what it does.
        if roles.has(Role::Entry) { Nearness::Machinery } else { Nearness::Language }
    } else {
        Nearness::Own
    }
}

/// Which frame, of those from the innermost on, is the function that waits: the innermost one of the program itself; where there is none, of its language.
/// What the slow path of a lock calls is a part of it, whoever wrote it.
pub fn waiting<'f>(frames: impl IntoIterator<Item = (Roles, &'f str)>) -> Option<usize> {
    let (mut own, mut language) = (None, None);
    for (at, (roles, kind)) in frames.into_iter().enumerate() {
        match nearness(roles, kind) {
            Nearness::Machinery if roles.has(Role::LockWait) => (own, language) = (None, None),
            Nearness::Own if own.is_none() => own = Some(at),
            Nearness::Language if language.is_none() => language = Some(at),
            _ => {}
        }
    }
    own.or(language)
}

/// Which frame, of those from the innermost on, is the code that runs: the innermost one that is not of a library of the system or of the kernel, else the
/// innermost that is not of the kernel. Of who runs, unlike of who waits, the standard library of a language says something: it sorts, it hashes.
pub fn running<'f>(frames: impl IntoIterator<Item = (Roles, &'f str)>) -> Option<usize> {
    let mut first = None;
    for (at, (roles, _)) in frames.into_iter().enumerate().filter(|(_, (_, kind))| *kind != "kernel") {
        if !roles.has(Role::Library) {
            return Some(at);
        }
        first = first.or(Some(at));
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roles;

    fn waits(stack: &str) -> &str {
        let frames: Vec<&str> = stack.rsplit(';').collect();
        let all = frames.iter().map(|frame| {
            let (module, function) = frame.rsplit_once('!').unwrap_or(("/bin/app", frame));
            (roles(function, module, "native"), if module == "[kernel]" { "kernel" } else { "native" })
        });
        waiting(all).map_or("-", |at| frames[at])
    }

    #[test]
    fn who_waits_is_the_program() {
        for (stack, expected) in [
            (
                "/lib/libc.so.6!start_thread;worker;take;pthread_mutex_lock;/lib/libc.so.6!__lll_lock_wait;[kernel]!futex_wait",
                "take",
            ),
            ("main;std::io::stdio::Stdout::lock;std::sys::sync::mutex::futex::Mutex::lock_contended", "main"),
            (
                "main;org.apache.spark.storage.BlockManager.get;java.util.concurrent.locks.ReentrantLock.lock",
                "org.apache.spark.storage.BlockManager.get",
            ),
            ("main;MutexMap::get;std::mutex::lock", "MutexMap::get"),
            ("ParkingService::park_car;___pthread_mutex_lock", "ParkingService::park_car"),
            ("runtime.mcall;runtime.schedule;runtime.lock2;runtime.futexsleep", "runtime.schedule"),
            (
                "main;heap_update;XactLockTableWait;LockAcquireExtended;[postgres];ProcSleep;WaitLatch;epoll_wait",
                "XactLockTableWait",
            ),
            ("main.work;sync.(*Mutex).Lock;internal/sync.(*Mutex).lockSlow", "main.work"),
            ("/lib/libc.so.6!start_thread;/lib/libc.so.6!__lll_lock_wait", "-"),
            (
                "/jdk/libjvm.so!JavaCalls::call_helper;[jit]!StubRoutines (1);[jit]!Interpreter;/jdk/libjvm.so!Unsafe_Park;/jdk/libjvm.so!Parker::park",
                "-",
            ),
        ] {
            assert_eq!(waits(stack), expected, "{stack}");
        }
    }

    #[test]
    fn who_runs_may_be_the_standard_library() {
        let of = |stack: &str| {
            let frames: Vec<&str> = stack.rsplit(';').collect();
            let all = frames.iter().map(|f| {
                let (module, function) = f.rsplit_once('!').unwrap_or(("/bin/app", f));
                (roles(function, module, "native"), if module == "[kernel]" { "kernel" } else { "native" })
            });
            running(all).map(|at| frames[at].to_owned())
        };
        assert_eq!(of("main;std::sort;/lib/libc.so.6!memmove;[kernel]!exc_page_fault").as_deref(), Some("std::sort"));
        assert_eq!(of("/lib/libc.so.6!start_thread;/lib/libc.so.6!memmove").as_deref(), Some("/lib/libc.so.6!memmove"));
        assert_eq!(of("[kernel]!ret_from_fork"), None);
    }
}

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
/// innermost that is not of the kernel. Of who runs, unlike of who waits, the standard library of a language says something: it sorts, it hashes. What the
/// interpreter of Python does for a function of Python is done by that.
pub fn running<'f>(frames: impl IntoIterator<Item = (Roles, &'f str)>) -> Option<usize> {
    let (mut first, mut interpreter) = (None, None);
    for (at, (roles, kind)) in frames.into_iter().enumerate().filter(|(_, (_, kind))| *kind != "kernel") {
        let is_library = roles.has(Role::Library);
        let is_of_interpreter = roles.any(Roles::of(&[Role::Runtime, Role::Interpreter]));
        match interpreter {
            Some(_) if kind == "python" => return Some(at),
            Some(_) if is_library || is_of_interpreter => {}
            Some(inner) => return Some(inner),
            None if is_library => first = first.or(Some(at)),
            None if is_of_interpreter => interpreter = Some(at),
            None => return Some(at),
        }
    }
    interpreter.or(first)
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
        assert_eq!(of("main.work;runtime.mallocgc;runtime.nextFreeFast").as_deref(), Some("runtime.nextFreeFast"));
    }

    #[test]
    fn what_the_interpreter_does_is_done_by_the_function_of_python() {
        const LOOP: &str = "/usr/bin/python3.11!_PyEval_EvalFrameDefault";
        let frames = |stack: &str| -> Vec<String> { stack.rsplit(';').map(|f| f.replace("LOOP", LOOP)).collect() };
        let all = |frames: &[String]| -> Vec<(Roles, &'static str)> {
            let of = |frame: &String| {
                let (module, function) = frame.rsplit_once('!').unwrap_or(("/bin/app", frame));
                let kind = if module.ends_with(".py") { "python" } else { "native" };
                (roles(function, module, kind), kind)
            };
            frames.iter().map(of).collect()
        };
        let runs = |stack: &str| running(all(&frames(stack))).map(|at| frames(stack)[at].clone());
        let own = "LOOP;/srv/app.py!<module>;/srv/app.py!work";
        let standard = "/usr/lib/python3.11/json/encoder.py!JSONEncoder.encode";
        for inner in ["", ";/usr/bin/python3.11!PyList_New;/usr/bin/python3.11!dict_lookup", ";/lib/libc.so.6!memmove"]
        {
            assert_eq!(runs(&format!("{own}{inner}")).as_deref(), Some("/srv/app.py!work"), "{inner}");
        }
        assert_eq!(runs(&format!("{own};{standard};LOOP")).as_deref(), Some(standard));
        // Machine code of a package says more.
        let extension = "/usr/lib/python3/dist-packages/numpy/_umath.cpython-311-x86_64-linux-gnu.so!DOUBLE_add";
        assert_eq!(runs(&format!("{own};LOOP;{extension}")).as_deref(), Some(extension));
        // Where functions of Python are not known it is as before.
        assert_eq!(runs("LOOP;/usr/bin/python3.11!dict_lookup").as_deref(), Some("/usr/bin/python3.11!dict_lookup"));

        let waits = |stack: &str| waiting(all(&frames(stack))).map(|at| frames(stack)[at].clone());
        let sleeps = "/usr/bin/python3.11!time_sleep;/lib/libc.so.6!clock_nanosleep";
        assert_eq!(waits(&format!("{own};{standard};LOOP;{sleeps}")).as_deref(), Some("/srv/app.py!work"));
        let packaged = "/srv/venv/lib/python3.11/site-packages/pool.py!Pool.get";
        assert_eq!(waits(&format!("{own};{packaged};LOOP;{sleeps}")).as_deref(), Some(packaged));
    }
}

//! Signals and sleep in one: the loop waits for the next deadline or for a signal, whichever comes first.

use std::mem::MaybeUninit;

/// What the loop was woken by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    /// The time had come.
    Time,
    /// SIGINT, SIGTERM or SIGHUP: the signal's number.
    Stop(i32),
    /// SIGUSR1: save a snapshot.
    Snapshot,
    /// SIGUSR2: the kernel says that a trigger holds.
    Pressure,
    /// SIGCHLD.
    Child,
}

fn set() -> libc::sigset_t {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: sigemptyset initialises the set that sigaddset then changes.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        let mut set = set.assume_init();
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGUSR1, libc::SIGUSR2, libc::SIGCHLD] {
            libc::sigaddset(&mut set, signal);
        }
        set
    }
}

/// Blocks the signals that [`wait`] takes, and ignores SIGPIPE, for the command is recorded to its end, also where nobody reads its output any more.
/// Call it before any thread is started, so that all inherit it.
pub(crate) fn block() {
    // SAFETY: the set is initialised; the old mask is not asked for; to ignore a signal needs no handler.
    unsafe {
        libc::pthread_sigmask(libc::SIG_BLOCK, &set(), std::ptr::null_mut());
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
    }
}

/// Undoes [`block`]; for the child between fork and exec, hence async-signal-safe.
pub(crate) fn unblock() {
    // SAFETY: as in `block`.
    unsafe { libc::pthread_sigmask(libc::SIG_UNBLOCK, &set(), std::ptr::null_mut()) };
    restore();
}

/// Gives SIGPIPE its default back, for what this process becomes. Async-signal-safe as well.
pub(crate) fn restore() {
    // SAFETY: defaults need no handler.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}

/// Waits for at most `nanoseconds`.
#[cfg(target_os = "linux")]
pub(crate) fn wait(nanoseconds: u64) -> Wake {
    let timeout = libc::timespec {
        tv_sec: (nanoseconds / 1_000_000_000) as libc::time_t,
        tv_nsec: (nanoseconds % 1_000_000_000) as libc::c_long,
    };
    // SAFETY: set and timeout are valid; no siginfo is asked for.
    match unsafe { libc::sigtimedwait(&set(), std::ptr::null_mut(), &timeout) } {
        libc::SIGCHLD => Wake::Child,
        libc::SIGUSR1 => Wake::Snapshot,
        libc::SIGUSR2 => Wake::Pressure,
        signal @ (libc::SIGINT | libc::SIGTERM | libc::SIGHUP) => Wake::Stop(signal),
        // Time-out, or a signal that is not ours.
        _ => Wake::Time,
    }
}

/// Nothing is recorded there: only the time goes by.
#[cfg(not(target_os = "linux"))]
pub(crate) fn wait(nanoseconds: u64) -> Wake {
    std::thread::sleep(std::time::Duration::from_nanos(nanoseconds));
    Wake::Time
}

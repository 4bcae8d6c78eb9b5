//! Signals that ask for the end: what runs ends early and in good order.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// Set by a signal; what runs then ends and cleans up.
pub(crate) static STOP: AtomicBool = AtomicBool::new(false);
static SIGNAL: AtomicI32 = AtomicI32::new(0);

extern "C" fn stop(signal: libc::c_int) {
    SIGNAL.store(signal, Ordering::Relaxed);
    STOP.store(true, Ordering::Relaxed);
}

/// From here on Ctrl-C and its like set [`STOP`]. A second one ends the program at once.
pub(crate) fn heed_signals() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the handler stores two numbers only.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = stop as extern "C" fn(libc::c_int) as libc::sighandler_t;
            action.sa_flags = libc::SA_RESETHAND | libc::SA_RESTART;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

/// From here on signals end the program as usual: nothing is left to clean up.
pub(crate) fn leave_signals() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the default action needs no handler.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    if STOP.load(Ordering::Relaxed) {
        end_by_signal();
    }
}

/// Where a signal came meanwhile: says so, and ends as it would have ended the program. Else as [`leave_signals`].
pub(crate) fn leave_signals_unless_stopped(say: impl FnOnce()) {
    if STOP.load(Ordering::Relaxed) {
        say();
    }
    leave_signals();
}

/// Ends as the signal would have ended the program, so that shells see it.
pub(crate) fn end_by_signal() -> ! {
    let signal = SIGNAL.load(Ordering::Relaxed);
    // SAFETY: takes numbers; the default action ends the program.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
    std::process::exit(128 + signal)
}

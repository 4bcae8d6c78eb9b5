//! The C library. Elsewhere than on Linux, where nothing can be examined, what it lacks is here, and answers that there is no such call.

pub(crate) use ::libc::*;

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::*;

#[cfg(not(target_os = "linux"))]
#[allow(non_upper_case_globals, reason = "names of the C library")]
mod elsewhere {
    use ::libc::{c_int, c_long, clockid_t, timespec};

    pub(crate) const SYS_clock_gettime: c_int = 0;
    pub(crate) const SYS_getppid: c_int = 0;
    pub(crate) const SYS_mbind: c_int = 0;
    pub(crate) const CLOCK_MONOTONIC_COARSE: clockid_t = ::libc::CLOCK_MONOTONIC;
    pub(crate) const TIMER_ABSTIME: c_int = 0;
    pub(crate) const PR_GET_TIMERSLACK: c_int = 0;
    pub(crate) const PR_SET_TIMERSLACK: c_int = 0;
    pub(crate) const O_DIRECT: c_int = 0;
    pub(crate) const MADV_HUGEPAGE: c_int = -1;
    pub(crate) const MADV_NOHUGEPAGE: c_int = -1;
    pub(crate) const RUSAGE_THREAD: c_int = ::libc::RUSAGE_SELF;

    /// There is no such call.
    pub(crate) unsafe fn prctl(_what: c_int, _a: c_long, _b: c_long, _c: c_long, _d: c_long) -> c_int {
        -1
    }

    /// There is no such call.
    pub(crate) unsafe fn clock_nanosleep(_: clockid_t, _: c_int, _: *const timespec, _: *mut timespec) -> c_int {
        -1
    }
}

//! CPU time: that of the own thread, and of others divided into user and kernel time. The kernel measures run time exactly and guesses, at each
//! tick, in which mode it was spent; what `/proc` shows is the exact time, divided as the guesses are.

use std::time::Duration;

/// CPU time of this thread so far: what had to wait for a CPU was not dear.
pub(crate) fn own_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// CPU time of all threads of a process so far; `None` where it has ended.
#[cfg(target_os = "linux")]
pub(crate) fn process_time(pid: u32) -> Option<Duration> {
    let mut clock = 0;
    // SAFETY: the call writes the number of a clock where it is told to (clock_getcpuclockid(3)).
    if unsafe { libc::clock_getcpuclockid(pid as libc::pid_t, &raw mut clock) } != 0 {
        return None;
    }
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes a time where it is told to; a clock of a process that has ended is refused.
    let read = unsafe { libc::clock_gettime(clock, &raw mut time) };
    (read == 0).then(|| Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32))
}

/// There is no such clock.
#[cfg(not(target_os = "linux"))]
pub(crate) fn process_time(_pid: u32) -> Option<Duration> {
    None
}

/// User and kernel time: the run time `total`, divided as `guessed` are; neither ever falls. `before` is what was shown last. It is
/// `cputime_adjust` of kernel/sched/cputime.c in our words.
#[cfg(feature = "bpf")]
pub(crate) fn divide([user, kernel]: [u64; 2], total: u64, before: [u64; 2]) -> [u64; 2] {
    let [user_before, kernel_before] = before;
    if user_before.saturating_add(kernel_before) >= total {
        return before;
    }
    let guessed = u128::from(user) + u128::from(kernel);
    let kernel = if kernel == 0 {
        0
    } else if user == 0 {
        total
    } else {
        u64::try_from(u128::from(kernel) * u128::from(total) / guessed).unwrap_or(total)
    };
    let kernel = kernel.max(kernel_before);
    let user = total.saturating_sub(kernel);
    if user < user_before { [user_before, total - user_before] } else { [user, kernel] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_the_time_of_its_threads() {
        let before = process_time(std::process::id()).unwrap();
        let thread = std::thread::spawn(|| while own_time() < Duration::from_millis(20) {});
        thread.join().unwrap();
        let after = process_time(std::process::id()).unwrap();
        assert!(after - before >= Duration::from_millis(20), "{before:?} {after:?}");
        assert_eq!(process_time(4_194_303), None);
    }

    #[test]
    fn run_time_is_divided_as_the_guesses_are() {
        assert_eq!(divide([30, 10], 80, [0, 0]), [60, 20]);
        assert_eq!(divide([0, 10], 80, [0, 0]), [0, 80]);
        assert_eq!(divide([10, 0], 80, [0, 0]), [80, 0]);
        assert_eq!(divide([0, 0], 80, [0, 0]), [80, 0]);
        // Neither falls.
        assert_eq!(divide([10, 30], 80, [50, 20]), [50, 30]);
        assert_eq!(divide([30, 10], 80, [10, 40]), [40, 40]);
        assert_eq!(divide([30, 10], 80, [60, 30]), [60, 30]);
        assert_eq!(divide([u64::MAX, u64::MAX], 100, [0, 0]), [50, 50]);
    }
}

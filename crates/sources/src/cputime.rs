//! CPU time: that of the own thread, and of others divided into user and kernel time. The kernel measures run time exactly and guesses, at each
//! tick, in which mode it was spent; what `/proc` shows is the exact time, divided as the guesses are.

use std::time::Duration;

/// CPU time of this thread so far: what had to wait for a CPU was not dear.
pub(crate) fn own_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
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

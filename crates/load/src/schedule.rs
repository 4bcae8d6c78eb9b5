//! When requests are due: even or Poisson times, over all threads.

use crate::Arrivals;

/// The times at which requests of one thread are due, ascending; nanoseconds from the beginning. Of even times the thread has every `step`th, so
/// that all threads together are as even as one would be. Of Poisson times each thread draws its own, at its part of the rate: independent
/// Poisson processes together are one.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    arrivals: Arrivals,
    random: fastrand::Rng,
    /// Number of the next request, of all threads' requests.
    number: u64,
    step: u64,
    /// The next one is due then.
    next: u64,
    end: u64,
}

/// A request that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Due {
    /// Nanoseconds from the beginning.
    pub at: u64,
    /// Its number among those of all threads.
    pub number: u64,
}

impl Schedule {
    /// Of thread `thread` of `threads`, up to `end`.
    pub(crate) fn new(arrivals: Arrivals, seed: u64, thread: u32, threads: u32, end: u64) -> Self {
        // Seeds of threads must not be those of a neighbouring run.
        let random = fastrand::Rng::with_seed(seed ^ u64::from(thread).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut new = Schedule { arrivals, random, number: u64::from(thread), step: u64::from(threads), next: 0, end };
        new.next = new.after(0);
        new
    }

    /// When the request `number` is due, where the one before was due at `before`.
    fn after(&mut self, before: u64) -> u64 {
        match self.arrivals {
            // From its number, not from the one before: roundings do not add up. A double holds months of nanoseconds exactly.
            Arrivals::Even(rate) => (self.number as f64 / rate * 1e9) as u64,
            Arrivals::Poisson(rate) => {
                // Distances are exponential; 1 - u is in (0, 1].
                let distance = -(1.0 - self.random.f64()).ln() * self.step as f64 / rate;
                before.saturating_add((distance * 1e9) as u64)
            }
            Arrivals::Closed => u64::MAX,
        }
    }

    /// When the next is due; None where there are no more.
    pub(crate) fn next_at(&self) -> Option<u64> {
        (self.next < self.end).then_some(self.next)
    }

    /// The next, if it is due by `now`.
    pub(crate) fn take(&mut self, now: u64) -> Option<Due> {
        let at = self.next_at().filter(|&at| at <= now)?;
        let due = Due { at, number: self.number };
        self.number += self.step;
        self.next = self.after(at);
        Some(due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(arrivals: Arrivals, threads: u32, end: u64) -> Vec<Due> {
        let mut all: Vec<Due> = Vec::new();
        for thread in 0..threads {
            let mut schedule = Schedule::new(arrivals, 7, thread, threads, end);
            all.extend(std::iter::from_fn(|| schedule.take(u64::MAX)));
        }
        all.sort_by_key(|due| due.at);
        all
    }

    #[test]
    fn even_times_are_even_over_all_threads() {
        for threads in [1, 3] {
            let times: Vec<u64> = all(Arrivals::Even(3.0), threads, 2_000_000_000).iter().map(|due| due.at).collect();
            assert_eq!(times, [0, 333_333_333, 666_666_666, 1_000_000_000, 1_333_333_333, 1_666_666_666]);
        }
        assert_eq!(all(Arrivals::Even(20_000.0), 2, 10_000_000_000).len(), 200_000);
    }

    #[test]
    fn numbers_are_those_of_all_threads() {
        let numbers: Vec<u64> = all(Arrivals::Even(10.0), 4, 1_000_000_000).iter().map(|due| due.number).collect();
        assert_eq!(numbers, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn poisson_times_have_their_rate_and_spread() {
        let times: Vec<f64> =
            all(Arrivals::Poisson(1_000.0), 2, 100_000_000_000).iter().map(|due| due.at as f64 / 1e9).collect();
        // 100,000 expected, with a standard deviation of 316.
        assert!((98_500..101_500).contains(&times.len()), "{}", times.len());
        let distances: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = distances.iter().sum::<f64>() / distances.len() as f64;
        let variance = distances.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / distances.len() as f64;
        // An exponential distribution has a standard deviation as large as its mean.
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.02, "{mean} {variance}");
    }

    #[test]
    fn seeds_repeat() {
        let of = |seed| Schedule::new(Arrivals::Poisson(10.0), seed, 1, 2, u64::MAX).take(u64::MAX);
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }

    #[test]
    fn nothing_is_due_before_its_time() {
        let mut schedule = Schedule::new(Arrivals::Even(1.0), 0, 0, 1, 3_000_000_000);
        assert_eq!(schedule.take(0).map(|due| due.at), Some(0));
        assert_eq!((schedule.take(999_999_999), schedule.next_at()), (None, Some(1_000_000_000)));
        assert!(schedule.take(5_000_000_000).is_some() && schedule.take(5_000_000_000).is_some());
        assert_eq!((schedule.take(u64::MAX), schedule.next_at()), (None, None));
    }
}

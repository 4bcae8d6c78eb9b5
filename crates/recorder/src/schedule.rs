//! When a tick is due: absolute deadlines, so that no delay adds up, and what was late or left out is counted.

use std::time::Duration;

/// Ticks that are thinned are no further apart.
const FURTHEST: Duration = Duration::from_secs(5);

/// The ticks of a recording: multiples of a base interval, from 0. In a sprint at the start every one is taken, later every `stride`th, so that
/// a short run has enough reads to tell chance from change and a long one costs no more than it must.
#[derive(Debug)]
pub(crate) struct Schedule {
    base: u64,
    /// Ticks up to this time are all taken.
    sprint: u64,
    stride: u64,
    /// Of so many ticks one is taken.
    one_in: u64,
    next: u64,
    /// Ticks that began more than a tenth of their interval late.
    pub(crate) late: i64,
    /// Ticks that were left out because the time of the next one had come.
    pub(crate) skipped: i64,
}

impl Schedule {
    /// Ticks `base` apart for the time of `sprint`, then `stride` times as far apart.
    pub(crate) fn new(base: Duration, sprint: Duration, stride: u64) -> Self {
        Schedule {
            base: base.as_nanos() as u64,
            sprint: sprint.as_nanos() as u64,
            stride: stride.max(1),
            one_in: 1,
            next: 1,
            late: 0,
            skipped: 0,
        }
    }

    /// The first tick to be taken from `tick` on, and how many ticks it is to the one after.
    fn taken(&self, tick: u64) -> (u64, u64) {
        let stride = if tick.saturating_mul(self.base) <= self.sprint { 1 } else { self.stride };
        // The kernel's part of a collector has room for some seconds.
        let most = (FURTHEST.as_nanos() as u64 / (stride * self.base).max(1)).max(1);
        let stride = stride * self.one_in.min(most);
        (tick.next_multiple_of(stride), stride)
    }

    /// From now on takes one of so many ticks, but no two further apart than some seconds for that.
    pub(crate) fn thin(&mut self, one_in: u32) {
        self.one_in = u64::from(one_in.max(1));
    }

    /// When the next tick is due.
    pub(crate) fn deadline(&self) -> u64 {
        self.taken(self.next).0.saturating_mul(self.base)
    }

    /// Takes the tick that is due at `now` and says its number; `None` while none is due.
    pub(crate) fn take(&mut self, now: u64) -> Option<u64> {
        let (mut tick, mut step) = self.taken(self.next);
        let mut late = now.checked_sub(tick.saturating_mul(self.base))?;
        let on_time = late <= step * self.base / 10;
        while late >= step * self.base {
            self.skipped += 1;
            (tick, step) = self.taken(tick + 1);
            late = now.saturating_sub(tick.saturating_mul(self.base));
        }
        self.late += i64::from(!on_time);
        self.next = tick + 1;
        Some(tick)
    }
}

/// Whether a source that is read every `every` ticks is due at tick `now`, after `last`.
pub(crate) fn due(last: u64, now: u64, every: u64) -> bool {
    // Not `now % every`: a skipped tick must not cost a slow source its whole turn.
    now / every.max(1) > last / every.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_drift_and_nothing_uncounted() {
        let mut s = Schedule::new(Duration::from_nanos(100), Duration::ZERO, 1);
        assert_eq!(s.take(99), None);
        assert_eq!(s.take(105), Some(1));
        assert_eq!((s.late, s.skipped, s.deadline()), (0, 0, 200));
        assert_eq!(s.take(250), Some(2));
        assert_eq!((s.late, s.skipped), (1, 0));
        // 300 and 400 have passed: 300 is left out.
        assert_eq!(s.take(410), Some(4));
        assert_eq!((s.late, s.skipped, s.deadline()), (2, 1, 500));
    }

    #[test]
    fn a_sprint_ends() {
        let mut s = Schedule::new(Duration::from_nanos(10), Duration::from_nanos(30), 5);
        let mut taken = Vec::new();
        for at in 0..=160 {
            taken.extend(s.take(at));
        }
        assert_eq!(taken, [1, 2, 3, 5, 10, 15]);
        assert_eq!((s.late, s.skipped), (0, 0));
        assert_eq!(s.take(305), Some(30));
        assert_eq!((s.late, s.skipped), (1, 2));
    }

    #[test]
    fn thinned_ticks_are_further_apart_up_to_a_limit() {
        let second = |n: u64| n * 1_000_000_000;
        let mut s = Schedule::new(Duration::from_secs(1), Duration::ZERO, 1);
        s.thin(5);
        assert_eq!(s.deadline(), second(5));
        assert_eq!(s.take(second(5)), Some(5));
        s.thin(1);
        assert_eq!(s.deadline(), second(6));
        let mut s = Schedule::new(Duration::from_secs(2), Duration::ZERO, 1);
        s.thin(5);
        assert_eq!(s.deadline(), second(4));
        let mut s = Schedule::new(Duration::from_secs(60), Duration::ZERO, 1);
        s.thin(5);
        assert_eq!(s.deadline(), second(60));
    }

    #[test]
    fn slow_sources_keep_their_turn() {
        assert!(due(0, 1, 1));
        assert!(!due(5, 9, 5));
        assert!(due(5, 10, 5));
        assert!(due(5, 11, 5), "tick 10 was skipped");
    }
}

//! What was counted in a part of the time, scaled up to all of it.

use super::Cost;

/// More of a stretch than this the hooks cannot have taken: what an event costs is not known so well.
const MOST_TAKEN: f64 = 0.7;

/// For how long a collector counted between two reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Nanoseconds that what was counted stands for: those between the reads; or, of `later`, those after them.
    elapsed: u64,
    /// Nanoseconds in which it counted.
    counted: u64,
    /// Nanoseconds of those that its hooks took.
    taken: u64,
    /// Whether it stands for time after it.
    later: bool,
}

impl Span {
    /// All the time.
    pub const ALL: Span = Span { elapsed: 1, counted: 1, taken: 0, later: false };

    /// `counted` of `elapsed` nanoseconds, of which hooks took the part `share`.
    pub(super) fn of(elapsed: u64, counted: u64, share: f64) -> Self {
        Span { elapsed, counted, taken: 0, later: false }.with_share(share)
    }

    /// The same, where hooks took such a part of it.
    pub fn with_share(self, share: f64) -> Self {
        let taken = (self.counted as f64 * share.clamp(0.0, MOST_TAKEN)) as u64;
        Span { taken: taken.min(self.counted.saturating_sub(1)), ..self }
    }

    /// The part of it that hooks took of a process that had `events` in this span and used `runtime` nanoseconds of CPU time, counted or not. `None`
    /// where that cannot be, the times being rough.
    pub fn share(self, cost: Cost, events: u64, runtime: u64) -> Option<f64> {
        let while_counted = runtime as f64 * self.counted as f64 / self.elapsed.max(1) as f64;
        Some(events as f64 * cost.each as f64 / while_counted).filter(|share| *share <= MOST_TAKEN)
    }

    /// What was counted in this one stands for `elapsed` nanoseconds after it too, in which nothing was counted and no hooks took anything.
    pub(super) fn later(self, elapsed: u64) -> Self {
        Span { elapsed, later: true, ..self }
    }

    /// For how many events each stands that was counted.
    pub fn factor(self) -> f64 {
        self.elapsed as f64 / self.counted.max(1) as f64
    }

    /// What `value` that was counted comes to in all the time, to the nearest whole number.
    pub fn scaled(self, value: u64) -> u64 {
        let taken = if self.later { 0 } else { self.taken };
        scaled(value, self.elapsed.saturating_sub(taken), self.counted.saturating_sub(self.taken))
    }

    /// The same of time in which threads waited: no hooks took any of it.
    pub fn scaled_wait(self, value: u64) -> u64 {
        scaled(value, self.elapsed, self.counted)
    }
}

/// `value` by `all` to `counted`, to the nearest whole number.
pub fn scaled(value: u64, all: u64, counted: u64) -> u64 {
    let (all, counted) = (u128::from(all), u128::from(counted.max(1)));
    u64::try_from((u128::from(value) * all + counted / 2) / counted).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_was_counted_all_the_time_is_not_scaled() {
        assert_eq!(Span::ALL.scaled(u64::MAX), u64::MAX);
        assert_eq!(Span::of(10, 4, 0.0).scaled(3), 8);
        assert_eq!(Span::of(0, 0, 0.0).scaled(3), 0);
        assert_eq!(Span::of(u64::MAX, 0, 1.0).scaled(u64::MAX), u64::MAX);
    }

    #[test]
    fn what_counting_takes_is_made_up_for() {
        let cost = Cost { each: 100 };
        // 2,500 events of 0.1 µs in 1 ms, all on the second CPU.
        assert_eq!(cost.shares(&[7, 50], &[7, 2550], 1_000_000), (0.25, 0.25));
        assert_eq!(cost.shares(&[], &[1_000, 1_000], 1_000_000), (0.1, 0.1));
        assert_eq!(cost.shares(&[5], &[4], 0), (0.0, 0.0));
        // A loop that a quarter slower counted 750 in a tenth of the time does 1000 in each of the other nine.
        assert_eq!(Span::of(10_000, 1_000, 0.25).scaled(750), 750 + 9_000);
        assert_eq!(Span::of(10_000, 1_000, 0.25).scaled_wait(750), 7_500);
        assert_eq!(Span::of(10, 4, 9.0), Span { taken: 2, ..Span::of(10, 4, 0.0) });
        // A process that had half of a CPU: of its 500 in the stretch the hooks took 100.
        let (span, cost) = (Span::of(10_000, 1_000, 0.05), Cost { each: 50 });
        assert_eq!(span.share(cost, 2, 5_000).map(|share| span.with_share(share)), Some(Span { taken: 200, ..span }));
        assert_eq!(span.share(cost, 2, 0), None, "more than there was cannot have been taken");
        assert_eq!(Span::ALL.with_share(0.2).scaled(7), 7);
        assert_eq!(Span::of(10, 0, f64::NAN).taken, 0);
    }

    #[test]
    fn what_comes_after_the_last_stretch_is_like_it() {
        // 300 in 1,000, which hooks made 750: 0.4 each.
        let span = Span::of(10_000, 1_000, 0.25);
        assert_eq!([span.later(2_000).scaled(300), span.later(500).scaled(300)], [800, 200]);
        assert_eq!(span.later(0).scaled(300), 0);
        assert_eq!(Span::of(1_000, 1_000, 0.0).later(500).scaled(300), 150, "of what was counted all the time");
        assert_eq!(Span::of(1_600, 800, 0.0).later(100).with_share(0.05).scaled(760), 100, "of 800 the hooks took 40");
    }

    proptest! {
        /// Events at any pace, seen in stretches anywhere: the sum of the scaled is that of all, within the events at the edges.
        #[test]
        fn an_even_pace_is_found_again(
            every in 1u64..1_000,
            spans in prop::collection::vec((0u64..1_000_000, 1_000u64..100_000), 1..50)
        ) {
            let (mut all, mut found) = (0.0, 0.0);
            for (at, length) in spans {
                let counted = (at + length) / every - at / every;
                let span = Span::of(length * 10, length, 0.0);
                found += span.scaled(counted) as f64;
                all += (length * 10) as f64 / every as f64;
                prop_assert!((span.scaled(counted) as f64 - (length * 10) as f64 / every as f64).abs() <= 10.5);
            }
            prop_assert!(found >= 0.0 && all >= 0.0);
        }
    }
}

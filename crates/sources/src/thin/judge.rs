//! Of how many parts of the time a collector counts in one, by what its events cost, and where those parts lie.

use crate::dearness::dearness;

/// The share of a CPU above which a collector thins itself out as a rule, and how many times less it takes from then on: several may do so at once.
pub const BUDGET: f64 = 0.005;
const KEPT: f64 = 6.0;
/// Below this part of it, for so long, it counts all the time again.
const LITTLE: f64 = 1.0 / 2.0;
const CALM: u64 = 5_000_000_000;
/// So many judgements in a row must find it above its budget: starting a program takes many calls, but not for long.
const IN_A_ROW: u32 = 2;
/// So many stretches there are at least in the time since the first, as soon as may be; and the first cycles are so much shorter than later ones.
const FEWEST: u64 = 4;

/// Where stretches lie, and how short they may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rhythm {
    /// One stretch lies in so many nanoseconds.
    cycle: u64,
    /// A stretch is such a part of them at least: there must be something in it.
    pub(super) most: u32,
}

impl Rhythm {
    /// For what is over in microseconds: stretches of 20 ms at least. To attach and detach eight hooks takes 2 ms of CPU time, most of which is waiting
    /// until each other CPU has seen that code was changed.
    pub const SHORT: Rhythm = Rhythm { cycle: 1_600_000_000, most: 80 };
    /// For what takes tens of milliseconds, which a stretch must hold: 400 ms at least.
    pub const LONG: Rhythm = Rhythm { cycle: 8_000_000_000, most: 20 };

    /// For what is over in milliseconds and has many events: stretches of 100 ms at least.
    pub const BETWEEN: Rhythm = Rhythm { cycle: 8_000_000_000, most: 80 };

    /// The cycle, and the stretch in it, where one part of `one_in` is to be counted and that was begun `since` nanoseconds ago. Cycles are short at
    /// first, so that there are some in a short recording too, and stretches are as long as ever.
    pub(super) fn cycle(self, one_in: u32, since: u64) -> (u64, u64) {
        let cycle = (since / FEWEST).clamp(self.cycle / FEWEST, self.cycle);
        (cycle, (cycle / u64::from(one_in.max(1))).max(self.cycle / u64::from(self.most)))
    }
}

/// What an event of a collector costs.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Nanoseconds of an event, hooks and all, where `dearness` is 1.
    pub each: u64,
}

impl Cost {
    /// What it is on this machine.
    pub(super) fn here(self) -> Self {
        Cost { each: (self.each as f64 * dearness()) as u64 }
    }

    /// The part of its CPU that the mean event's hooks took, and of the CPU with most of them, in `time` nanoseconds with so many events on each
    /// CPU more than `before`.
    pub(super) fn shares(self, before: &[u64], now: &[u64], time: u64) -> (f64, f64) {
        let new =
            now.iter().enumerate().map(|(cpu, &n)| n.saturating_sub(before.get(cpu).copied().unwrap_or(0)) as f64);
        let (mut all, mut squares, mut most) = (0.0, 0.0, 0.0f64);
        for events in new {
            all += events;
            squares += events * events;
            most = most.max(events);
        }
        let part = |events: f64| events * self.each as f64 / time.max(1) as f64;
        (if all > 0.0 { part(squares / all) } else { 0.0 }, part(most))
    }
}

/// Decides of how many parts of the time a collector counts in one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judge {
    /// Of [`Rhythm`].
    most: u32,
    /// The share of a CPU above which it thins out.
    budget: f64,
    one_in: u32,
    above: u32,
    calm: u64,
    /// While it counts in a part of the time: of the last few stretches, for one alone says little.
    mean: f64,
}

impl Judge {
    pub(super) fn new(most: u32, budget: f64) -> Self {
        Judge { most, budget, one_in: 1, above: 0, calm: 0, mean: 0.0 }
    }

    /// The same where the hooks are expected to take such a share of a CPU: it does not have to find that out.
    pub(super) fn expecting(self, share: f64) -> Self {
        if share > self.budget { Judge { one_in: self.wanted(share), mean: share, ..self } } else { self }
    }

    /// Of how many parts it is to count in one, where all would take this share.
    fn wanted(self, share: f64) -> u32 {
        (share / self.budget * KEPT).ceil().clamp(2.0, f64::from(self.most)) as u32
    }

    pub(super) fn one_in(self) -> u32 {
        self.one_in
    }

    /// The hooks would take the part `share` of a CPU if they were attached all the time; so it was for `time` nanoseconds.
    pub(super) fn judge(&mut self, share: f64, time: u64) -> u32 {
        if self.one_in == 1 {
            self.above = if share > self.budget { self.above + 1 } else { 0 };
            if self.above >= IN_A_ROW {
                *self = Judge { one_in: self.wanted(share), mean: share, ..Judge::new(self.most, self.budget) };
            }
            return self.one_in;
        }
        self.mean += (share - self.mean) / 4.0;
        let wanted = self.wanted(self.mean);
        self.calm = if share < self.budget * LITTLE { self.calm + time } else { 0 };
        if self.calm >= CALM {
            *self = Judge::new(self.most, self.budget);
        } else if wanted * 4 > self.one_in * 5 || wanted * 3 < self.one_in * 2 {
            self.one_in = wanted;
        }
        self.one_in
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thin::work::JUDGED;

    #[test]
    fn a_burst_is_counted_and_a_load_is_thinned() {
        let mut judge = Judge::new(Rhythm::SHORT.most, BUDGET);
        assert_eq!([judge.judge(0.2, JUDGED), judge.judge(0.0045, JUDGED), judge.judge(0.2, JUDGED)], [1, 1, 1]);
        assert_eq!(judge.judge(0.025, JUDGED), 30, "twice in a row: so that it keeps to a sixth of its budget");
        assert_eq!(judge.judge(0.0225, JUDGED), 30, "little less changes nothing");
        let last = |judge: &mut Judge, share| (0..20).map(|_| judge.judge(share, JUDGED)).last();
        assert_eq!(last(&mut judge, 0.03), Some(30), "little more neither");
        assert_eq!(last(&mut judge, 0.0125), Some(19));
        assert_eq!(last(&mut judge, 9.0), Some(Rhythm::SHORT.most));
        let calm = |judge: &mut Judge| (0..60).map(|_| judge.judge(0.0026, JUDGED)).last();
        assert!(
            calm(&mut judge).is_some_and(|n| (4..=6).contains(&n)),
            "within its budget by little: not yet all the time"
        );
    }

    #[test]
    fn calm_ends_it() {
        let mut judge = Judge::new(Rhythm::SHORT.most, BUDGET);
        judge.judge(0.1, JUDGED);
        judge.judge(0.1, JUDGED);
        let needed = CALM / JUDGED;
        for _ in 0..needed - 1 {
            assert!(judge.judge(0.001, JUDGED) > 1);
        }
        assert!(judge.judge(0.007, JUDGED) > 1, "it begins anew");
        for _ in 0..needed - 1 {
            assert!(judge.judge(0.001, JUDGED) > 1);
        }
        assert_eq!(judge.judge(0.001, JUDGED), 1);
    }

    #[test]
    fn a_short_recording_has_stretches_too() {
        let rhythm = Rhythm::SHORT;
        let (mut since, mut stretches, mut open) = (0, 0, 0);
        while since < 3_000_000_000 {
            let (cycle, stretch) = rhythm.cycle(80, since);
            assert!(stretch == 20_000_000 && cycle <= rhythm.cycle);
            (since, stretches, open) = (since + cycle, stretches + 1, open + stretch);
        }
        assert!(stretches >= 5 && open < since / 20 + 1, "{stretches} in {since}: {open}");
        assert_eq!(rhythm.cycle(80, 60_000_000_000), (1_600_000_000, 20_000_000));
        assert_eq!(rhythm.cycle(2, 60_000_000_000), (1_600_000_000, 800_000_000));
        assert_eq!(rhythm.cycle(2, 0), (400_000_000, 200_000_000));
    }
}

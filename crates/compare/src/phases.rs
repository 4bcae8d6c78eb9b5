//! Phases: a part of one run in which the command uses fewer or more CPUs than the same part of the other, such as an end that runs in one
//! thread. Means over the whole window cannot name it.

use crate::{means, window};
use model::Window;
use query::Run;
use query::concurrency::Serial;
use query::series::Grid;
use query::stats::change::change_points_up_to;
use std::collections::BTreeSet;

/// Samples of a phase, at least.
const SAMPLES: usize = 5;

/// The share of the window that a phase must fill.
const SHARE: f64 = 0.1;

/// CPUs by which a phase must differ, from the rest of its run and from the same part of the other.
const CPUS: f64 = 0.3;

/// The same as a share of the higher of the two.
const RELATIVE: f64 = 0.25;

/// The greatest autocorrelation of CPU use within a phase: what it is told from must be of practical size besides, and the other run's lack.
const PHI: f64 = 0.8;

/// A part of a run that differs from the rest of it, and from the same part of the other run.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Index of the run that has it.
    pub run: usize,
    /// Index of the run that has not.
    pub against: usize,
    /// Where it begins, as a share of the window.
    pub from: f64,
    /// Where it ends, as a share of the window.
    pub to: f64,
    /// CPUs that the command used in it.
    pub cpus: f64,
    /// CPUs that it used in the rest of the window.
    pub rest: f64,
    /// CPUs that the other run's command used in the same part of its window.
    pub other: f64,
    /// The serial phase that it is: which thread ran alone in it.
    pub alone: Option<Serial>,
}

impl Phase {
    /// In words.
    pub(crate) fn words(&self, name: impl Fn(usize) -> String) -> String {
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        let (run, against) = (name(self.run), name(self.against));
        let part = match (self.from <= 0.02, self.to >= 0.98) {
            (true, _) => format!("The first {} of {run}", percent(self.to)),
            (_, true) => format!("The last {} of {run}", percent(1.0 - self.from)),
            _ => format!("From {} to {} of its time, {run}", percent(self.from), percent(self.to)),
        };
        format!(
            "{part} ran on {:.1} CPUs, the rest on {:.1}; the same part of {against} ran on {:.1}.{}",
            self.cpus,
            self.rest,
            self.other,
            self.who()
        )
    }
}

/// CPUs in use by the command over its window: times as shares of it, weights, values.
pub(crate) struct Use {
    /// The middle of each interval, as a share of the window.
    at: Vec<f64>,
    seconds: Vec<f64>,
    cpus: Vec<f64>,
}

impl Use {
    /// What the processes of the workload used; where they were not recorded, what all did.
    pub(crate) fn of(run: &Run, window: &Window, names: &BTreeSet<String>) -> Option<Use> {
        let (from, length) = (window.from as f64 / 1e9, (window.to - window.from) as f64 / 1e9);
        if length <= 0.0 {
            return None;
        }
        let own = |grid: &Grid| grid.series.iter().any(|s| s.labels.iter().any(|l| names.contains(l)));
        let mut ours = means::grid(run, "process", "cpu_time", &["comm"], window).filter(own);
        let is_own = ours.is_some();
        if ours.is_none() {
            ours = means::grid(run, "cpu", "busy", &[], window);
        }
        let grid = ours?;
        let mut found = Use { at: Vec::new(), seconds: Vec::new(), cpus: Vec::new() };
        for i in window::steady(&grid, window) {
            let (Some(&start), Some(&end)) = (grid.from.get(i), grid.to.get(i)) else { continue };
            let series = grid.series.iter().filter(|s| !is_own || s.labels.iter().any(|l| names.contains(l)));
            let (mut sum, mut any) = (0.0, false);
            for num in series.map(|s| s.num(i)).filter(|n| n.is_finite()) {
                (sum, any) = (sum + num, true);
            }
            if any && end > start {
                found.at.push((f64::midpoint(start, end) - from) / length);
                found.seconds.push(end - start);
                found.cpus.push(sum / (end - start));
            }
        }
        Some(found)
    }

    /// Mean over a part of the window, or over all but that part.
    fn mean(&self, from: f64, to: f64, inside: bool) -> Option<f64> {
        let (mut used, mut seconds, mut count) = (0.0, 0.0, 0);
        for ((at, s), c) in self.at.iter().zip(&self.seconds).zip(&self.cpus) {
            if (from..to).contains(at) == inside {
                (used, seconds, count) = (used + s * c, seconds + s, count + 1);
            }
        }
        (count >= SAMPLES).then(|| used / seconds)
    }

    /// Where the phases of this run begin and end, as shares of the window.
    fn phases(&self) -> Vec<(f64, f64)> {
        let points = change_points_up_to(&self.cpus, SAMPLES, PHI);
        if points.is_empty() {
            return Vec::new();
        }
        let edge = |i: &usize| Some(f64::midpoint(*self.at.get(i.checked_sub(1)?)?, *self.at.get(*i)?));
        let mut edges = vec![0.0];
        edges.extend(points.iter().filter_map(edge));
        edges.push(1.0);
        // Neighbours on one level are one phase.
        let mut at = 1;
        while let Some(&[from, middle, to]) = edges.get(at - 1..at + 2).and_then(|e| <&[f64; 3]>::try_from(e).ok()) {
            match (self.mean(from, middle, true), self.mean(middle, to, true)) {
                (Some(a), Some(b)) if apart(a, b) => at += 1,
                _ => drop(edges.remove(at)),
            }
        }
        edges.iter().copied().zip(edges.iter().copied().skip(1)).collect()
    }
}

/// Whether two levels differ enough to be told.
fn apart(a: f64, b: f64) -> bool {
    (a - b).abs() >= CPUS.max(RELATIVE * a.max(b))
}

/// The phases of either run that the other does not have.
pub(crate) fn differences(sides: [(usize, &Use); 2]) -> Vec<Phase> {
    let mut found: Vec<Phase> = Vec::new();
    for ((run, used), (against, other)) in [(sides[0], sides[1]), (sides[1], sides[0])] {
        for (from, to) in used.phases() {
            let (Some(cpus), Some(rest), Some(there)) =
                (used.mean(from, to, true), used.mean(from, to, false), other.mean(from, to, true))
            else {
                continue;
            };
            // A part that lies as far from the rest in the other run as in this one is the program's own.
            let unlike = other.mean(from, to, false).is_none_or(|o| apart(cpus - rest, there - o));
            if to - from >= SHARE && to - from <= 0.75 && apart(cpus, rest) && apart(cpus, there) && unlike {
                found.push(Phase { run, against, from, to, cpus, rest, other: there, alone: None });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use query::stats::rng::Rng;

    /// A run of `n` samples: `cpus` in use, from the share `from` on `end`.
    fn used(rng: &mut Rng, n: usize, cpus: f64, from: f64, end: f64) -> Use {
        let mut slow = 0.0;
        let mut one = |i: usize| {
            slow = 0.6 * slow + 0.8 * rng.normal();
            let level = if (i as f64 + 0.5) / (n as f64) < from { cpus } else { end };
            (level + 0.08 * slow).max(0.0)
        };
        Use {
            at: (0..n).map(|i| (i as f64 + 0.5) / n as f64).collect(),
            seconds: vec![0.2; n],
            cpus: (0..n).map(&mut one).collect(),
        }
    }

    #[test]
    fn an_end_in_one_thread_is_named() {
        let mut rng = Rng::new(1);
        for seed in 0..20 {
            let (a, b) = (used(&mut rng, 40, 2.0, 0.6, 1.0), used(&mut rng, 30, 2.0, 1.0, 1.0));
            let found = differences([(0, &a), (1, &b)]);
            let [phase] = found.as_slice() else { panic!("seed {seed}: {found:?}") };
            assert!((phase.from - 0.6).abs() < 0.06 && phase.to == 1.0 && phase.run == 0, "{phase:?}");
            let words = phase.words(|i| ["slow", "fast"][i].into());
            assert!(words.starts_with("The last 4") || words.starts_with("The last 3"), "{words}");
            assert!(words.contains("of slow ran on ") && (0.8..1.2).contains(&phase.cpus), "{words}");
        }
    }

    #[test]
    fn equal_runs_have_no_phase_of_their_own() {
        let mut rng = Rng::new(2);
        let mut named = 0;
        for _ in 0..200 {
            let (a, b) = (used(&mut rng, 40, 1.5, 1.0, 1.5), used(&mut rng, 40, 1.5, 1.0, 1.5));
            named += differences([(0, &a), (1, &b)]).len();
            // A phase that both have is none of either.
            let (a, b) = (used(&mut rng, 40, 2.0, 0.6, 1.0), used(&mut rng, 44, 2.0, 0.62, 1.0));
            named += differences([(0, &a), (1, &b)]).len();
        }
        assert_eq!(named, 0);
    }
}

//! What of the threads' taking turns is said beside a comparison: serial phases and regular swings that one run has and the other has not.

use crate::phases::Phase;
use model::Window;
use query::Run;
use query::concurrency::{Concurrency, Serial};
use query::human;
use query::stats::sawtooth::Sawtooth;

/// Serial phases differ by at least this share of the window …
const SHARE: f64 = 0.1;

/// … and by this factor.
const FACTOR: f64 = 1.5;

/// Periods, and swings, differ by at least this factor.
const UNLIKE: f64 = 1.5;

/// How much of a stretch must be serial to be called so.
const MOST: f64 = 0.7;

/// A run in which threads take turns in a way of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Turns {
    /// Index of the run.
    pub run: usize,
    /// In a sentence.
    pub text: String,
}

/// A swing in words.
fn swing(s: &Sawtooth) -> String {
    let p = if s.p < 0.001 { "p < 0.001".to_owned() } else { format!("p = {:.3}", s.p) };
    format!("the number of running threads oscillates every {} by {:.1} ({p})", human(s.period, "s"), s.swing)
}

/// The thread and the code of a serial phase, after a colon; empty where there are no samples.
fn code(s: &Serial) -> String {
    let thread = s.thread.as_ref().map(|(process, thread)| match process == thread {
        true => process.clone(),
        false => format!("{thread} of {process}"),
    });
    match (thread, &s.function) {
        (Some(thread), Some(function)) => format!(": {thread}, mostly in `{function}`"),
        (Some(thread), None) => format!(": {thread}"),
        _ => String::new(),
    }
}

/// Serial phases in words.
fn serial(found: &[&Serial], share: f64, window: &Window) -> Option<String> {
    let longest = found.iter().max_by(|a, b| a.within(window).total_cmp(&b.within(window)))?;
    let share = format!("a single thread ran for {:.0} % of the time", share * 100.0);
    let stretches = match found.len() {
        1 => String::new(),
        n => format!(", in {n} stretches, the longest {}", human(longest.within(window), "s")),
    };
    Some(format!("{share}{stretches}{}", code(longest)))
}

/// Tells the phases which thread ran alone in them.
pub(crate) fn name(phases: &mut [Phase], all: &[Option<Concurrency>], windows: &[Window]) {
    for phase in phases {
        let (Some(Some(c)), Some(w)) = (all.get(phase.run), windows.get(phase.run)) else { continue };
        let part = part(phase, w);
        let (found, share) = c.serial_in(&part);
        let longest = found.into_iter().max_by(|a, b| a.within(&part).total_cmp(&b.within(&part)));
        phase.alone = longest.filter(|_| share >= MOST).cloned();
    }
}

/// Where in time a phase lies.
fn part(phase: &Phase, window: &Window) -> Window {
    let at = |share: f64| window.from + ((window.to - window.from) as f64 * share) as i64;
    Window { from: at(phase.from), to: at(phase.to), why: String::new() }
}

/// What is said of the runs, where all runs of one side differ from all of the other; `sides` as in the comparison.
pub(crate) fn differences(
    runs: &[Run],
    all: &[Option<Concurrency>],
    windows: &[Window],
    sides: &[[Vec<usize>; 2]],
    phases: &[Phase],
) -> Vec<Turns> {
    let mut said: Vec<(usize, bool, bool)> = Vec::new();
    for sides in sides {
        let of = |side: &Vec<usize>| side.iter().map(|&i| all.get(i)?.as_ref().zip(windows.get(i))).collect();
        let [a, b]: [Option<Vec<(&Concurrency, &Window)>>; 2] = sides.each_ref().map(of);
        // What was not recorded on one side is no difference.
        let (Some(a), Some(b)) = (a, b) else { continue };
        let shares = [&a, &b].map(|side| side.iter().map(|(c, w)| c.serial_in(w).1).collect::<Vec<f64>>());
        let swings = [&a, &b].map(|side| side.iter().map(|(c, _)| c.sawtooth).collect::<Vec<_>>());
        let (serial, swing) = (shares_differ(&shares), swings_differ(&swings));
        if serial || swing {
            said.extend(sides.iter().flatten().map(|&run| (run, serial, swing)));
        }
    }
    said.sort_unstable();
    let mut found: Vec<Turns> = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        let of = |flag: fn(&(usize, bool, bool)) -> bool| said.iter().any(|s| s.0 == index && flag(s));
        let (Some(Some(c)), Some(w)) = (all.get(index), windows.get(index)) else { continue };
        let (stretches, share) = c.serial_in(w);
        let mut parts: Vec<String> = Vec::new();
        parts.extend(c.sawtooth.as_ref().filter(|_| of(|s| s.2)).map(swing));
        // What the headline tells of a phase is not told again.
        let told = phases.iter().filter(|p| p.run == index && p.alone.is_some());
        let told: f64 = told.map(|p| c.serial_in(&part(p, w)).1 * (p.to - p.from)).sum();
        if of(|s| s.1) && told < MOST * share {
            parts.extend(serial(&stretches, share, w));
        }
        if !parts.is_empty() {
            found.push(Turns { run: index, text: format!("In {} {}.", run.name, parts.join("; ")) });
        }
    }
    found
}

/// Whether the shares of two sides lie apart.
fn shares_differ([a, b]: &[Vec<f64>; 2]) -> bool {
    let range = |s: &[f64]| s.iter().fold((f64::INFINITY, 0.0f64), |(l, h), v| (l.min(*v), h.max(*v)));
    let (a, b) = (range(a), range(b));
    let above = |low: f64, high: f64| low >= high + SHARE && low >= high * FACTOR;
    above(a.0, b.1) || above(b.0, a.1)
}

/// Whether all of one side swing in a way that none of the other does.
fn swings_differ([a, b]: &[Vec<Option<Sawtooth>>; 2]) -> bool {
    let alike = |x: f64, y: f64| x.max(y) < UNLIKE * x.min(y);
    let same = |x: &Sawtooth, y: &Sawtooth| alike(x.period, y.period) && alike(x.swing, y.swing);
    let own = |side: &[Option<Sawtooth>], other: &[Option<Sawtooth>]| {
        let unlike = |s: &Sawtooth| !other.iter().flatten().any(|o| same(s, o));
        !side.is_empty() && side.iter().all(|s| s.as_ref().is_some_and(unlike))
    };
    own(a, b) || own(b, a)
}

impl Phase {
    /// Who ran in it, in a sentence after a blank; empty where it was not one thread alone.
    pub(crate) fn who(&self) -> String {
        self.alone.as_ref().map_or_else(String::new, |s| format!(" A single thread ran there{}.", code(s)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_have_is_no_difference() {
        let s = |period: f64, swing: f64| Some(Sawtooth { period, swing, share: 0.5, p: 1e-9 });
        assert!(swings_differ(&[vec![s(0.24, 1.8)], vec![None]]));
        assert!(swings_differ(&[vec![s(0.24, 1.8)], vec![s(0.5, 1.8)]]));
        assert!(!swings_differ(&[vec![s(0.24, 1.8)], vec![s(0.25, 1.5)]]));
        assert!(!swings_differ(&[vec![None], vec![None]]));
        // Of repeats all must have it, and none of the others.
        assert!(!swings_differ(&[vec![s(0.24, 1.8), None], vec![None, None]]));
        assert!(!swings_differ(&[vec![s(0.24, 1.8), s(0.24, 1.7)], vec![None, s(0.24, 1.8)]]));
        assert!(shares_differ(&[vec![0.4, 0.45], vec![0.0, 0.1]]));
        assert!(!shares_differ(&[vec![0.4, 0.15], vec![0.0, 0.1]]) && !shares_differ(&[vec![0.08], vec![0.0]]));
        assert!(!shares_differ(&[vec![0.9], vec![0.75]]), "little more");
    }

    #[test]
    fn words() {
        let s = Sawtooth { period: 0.24, swing: 1.84, share: 0.5, p: 1e-9 };
        assert_eq!(swing(&s), "the number of running threads oscillates every 240 ms by 1.8 (p < 0.001)");
        let named = |thread: &str| Serial {
            stack: Vec::new(),
            from: 3.0,
            to: 5.4,
            thread: Some(("job".into(), thread.into())),
            function: Some("merge".into()),
        };
        let w = Window { from: 0, to: 6_000_000_000, why: String::new() };
        let (one, two) = (named("worker"), named("job"));
        assert_eq!(
            serial(&[&one], 0.4, &w).as_deref(),
            Some("a single thread ran for 40 % of the time: worker of job, mostly in `merge`")
        );
        assert_eq!(
            serial(&[&two, &two], 0.8, &w).as_deref(),
            Some(
                "a single thread ran for 80 % of the time, in 2 stretches, the longest 2.40 s: job, mostly in `merge`"
            )
        );
    }
}

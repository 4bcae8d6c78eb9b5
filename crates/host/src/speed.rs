//! How fast a CPU is at this moment, by two loops of some microseconds: a chain of additions of which each needs the one before, and additions that do
//! not wait for each other.
//!
//! The chain takes a cycle an addition, so its time is the frequency. How many of the others fit into a cycle is the width that the core gives to this
//! thread: another thread of the core, one of the host's that a virtual machine cannot see too, takes its share of that, and the chain does not notice.

use crate::additions::{ADDITIONS, PARALLEL, additions, parallel};
use std::time::Instant;

/// Rounds of each loop, the best of which counts: nothing came between it.
const ROUNDS: usize = 5;

/// Turns of the loops: some 5 µs and 2 to 5 µs at 3 GHz.
const CHAIN: u64 = 256;
const WIDE: u64 = 192;

/// No core was ever built for less or more, Hz.
const PLAUSIBLE: std::ops::Range<f64> = 1e8..2e10;

/// What a CPU did at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed {
    /// Cycles a second.
    pub frequency: f64,
    /// Additions that did not wait for each other, a cycle.
    pub width: f64,
    /// Seconds by which the rounds took longer than the best of them: what interrupts, other threads and the hypervisor took.
    pub gap: f64,
}

/// The best of some rounds, and how much longer all of them took, seconds. What reading the clock takes is taken away.
fn best(clock: f64, mut round: impl FnMut()) -> (f64, f64) {
    let mut times = [0.0; ROUNDS];
    for time in &mut times {
        let begin = Instant::now();
        round();
        *time = (begin.elapsed().as_secs_f64() - clock).max(0.0);
    }
    let least = times.iter().copied().fold(f64::INFINITY, f64::min);
    (least, times.iter().map(|time| time - least).sum())
}

/// Seconds between two reads of the clock with nothing between them.
fn clock() -> f64 {
    best(0.0, || ()).0
}

/// Cycles a second of the CPU that the calling thread runs on; none where it is not known how many cycles an addition takes.
pub fn frequency() -> Option<f64> {
    additions(1).then(|| cycles(clock()).0).filter(|hertz| PLAUSIBLE.contains(hertz))
}

/// Cycles a second, and the gap.
fn cycles(clock: f64) -> (f64, f64) {
    let (time, gap) = best(clock, || {
        additions(CHAIN);
    });
    ((CHAIN * ADDITIONS) as f64 / time.max(1e-12), gap)
}

/// The speed of the CPU that the calling thread runs on: 30 to 60 µs. None where it is not known how many cycles an addition takes.
pub fn speed() -> Option<Speed> {
    if !additions(1) {
        return None;
    }
    let clock = clock();
    let (frequency, first) = cycles(clock);
    let (time, second) = best(clock, || parallel(WIDE));
    let width = (WIDE * PARALLEL) as f64 / (time * frequency).max(1e-12);
    // A core that adds more than a dozen numbers a cycle is a clock that jumped.
    let is_plausible = PLAUSIBLE.contains(&frequency) && (0.05..16.0).contains(&width);
    is_plausible.then_some(Speed { frequency, width, gap: first + second })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_cpu_has_a_speed() {
        let Some(found) = (0..50).find_map(|_| speed()) else {
            assert!(!additions(1), "additions are known here");
            return;
        };
        assert!(PLAUSIBLE.contains(&found.frequency) && found.gap >= 0.0, "{found:?}");
        // A thread of two of a core still adds: at the very least every fourth cycle.
        assert!((0.25..16.0).contains(&found.width), "{found:?}");
    }

    #[test]
    fn the_best_round_counts_and_the_rest_is_the_gap() {
        let mut n = 0;
        let (least, gap) = best(0.0, || {
            n += 1;
            std::thread::sleep(std::time::Duration::from_millis(if n == 1 { 20 } else { 1 }));
        });
        assert!(n == ROUNDS && (0.001..0.02).contains(&least) && gap >= 0.015 - least, "{least} {gap}");
    }
}

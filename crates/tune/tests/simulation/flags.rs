//! Factorials on simulated machines, and how often they were wrong.

use super::{percent, plan, run};
use tune::Design;
use tune::designs::factorial::{self, Runs};
use tune::simulated::{Noise, Simulated};

/// What factorials with the same true effects came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Flags {
    /// Sessions in which anything was told that does nothing, in %.
    pub called: f64,
    /// Intervals that leave out the truth, in % of all.
    pub left_out: f64,
    /// Sessions in which the first flag was told, in %.
    pub found: f64,
}

/// Factorials of so many flags of which the first has this effect, a difference of logarithms.
pub fn flags(noise: Noise, flags: usize, effect: f64, blocks: usize, sessions: usize) -> Flags {
    let runs = Runs::of(flags).expect("2 to 8 flags");
    let effects: Vec<f64> = (0..runs.count()).map(|r| if runs.on(r, 0) { effect } else { 0.0 }).collect();
    let (mut called, mut left_out, mut intervals, mut found) = (0, 0, 0, 0);
    for seed in 0..sessions {
        let seed = 5_000_000 + seed as u64;
        let mut machine = Simulated::new(noise, seed, runs.count() * blocks).effects(&effects);
        let session = run(plan(Design::Factorial { flags }, blocks, seed ^ 0x5eed), &mut machine);
        let seen = factorial::effects(&session);
        let truth = |e: &factorial::Effect| if e.of == [[0]] { effect } else { 0.0 };
        called += usize::from(seen.iter().any(|e| e.told && truth(e) == 0.0));
        found += usize::from(seen.iter().any(|e| e.told && e.of == [[0]]));
        intervals += seen.len();
        left_out += seen.iter().filter(|e| e.interval.is_some_and(|[l, h]| truth(e) < l || h < truth(e))).count();
    }
    Flags { called: percent(called, sessions), left_out: percent(left_out, intervals), found: percent(found, sessions) }
}

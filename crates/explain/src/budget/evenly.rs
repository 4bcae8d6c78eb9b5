//! Whether all code takes longer, and by as much: what a CPU does that runs slower, or that a neighbour on the core or the hypervisor slows down, and
//! next to nothing that a program does, for the kernel's code is not the program's.

use super::cell::Cell;
use super::state::State;
use compare::{PerSide, Side};
use std::collections::BTreeMap;

/// Beyond this ratio of CPU times no machine's speed wavers as a rule.
const MOST: f64 = 1.5;

/// How far each part may lie from the whole, as a part of the logarithm of what that grew by; or so many standard errors of its samples.
const NEAR: f64 = 0.4;
const ERRORS: f64 = 2.0;

/// A part of the CPU time, or of what was lost, that is smaller shows nothing.
pub(super) const LEAST: f64 = 0.05;

/// Waits grow with the code that is waited for: by so many times what that grew by, at most.
pub(super) const WAITS: f64 = 1.6;

/// Samples a side that a part of the program's own code must have.
const SAMPLES: f64 = 40.0;

/// How many times as much CPU time a unit took, where it grew alike in all parts: the kernel's code, the function of the program with most of its time,
/// and the rest of the program. `user`, `kernel`: seconds per unit, of the program and of the kernel.
pub(super) fn slower(cells: &[Cell], user: PerSide<f64>, kernel: PerSide<f64>) -> Option<f64> {
    let all = user.zip(kernel).map(|(user, kernel)| user + kernel);
    let ratio = all.slow / all.baseline;
    let is_enough = Side::BOTH.into_iter().all(|side| kernel[side] >= LEAST * all[side]);
    let is_likely = ratio > 1.0 && ratio < MOST && is_enough;
    // Samples of the program by function.
    let mut by_function: BTreeMap<&str, PerSide<f64>> = BTreeMap::new();
    for cell in cells.iter().filter(|c| !c.aside && c.state == Some(State::User) && is_likely) {
        let sums = by_function.entry(&cell.function).or_default();
        *sums = sums.zip(cell.samples).map(|(sum, more)| sum + more);
    }
    let sum = |of: &[PerSide<f64>]| PerSide::of(|side| of.iter().map(|samples| samples[side]).sum::<f64>());
    let mut functions: Vec<PerSide<f64>> = by_function.into_values().collect();
    functions.sort_by(|a, b| (b.slow + b.baseline).total_cmp(&(a.slow + a.baseline)));
    let whole = sum(&functions);
    let (top, rest) = (*functions.first()?, sum(functions.get(1..)?));
    let is_near = |grown: f64, error: f64| {
        let off = (grown.ln() - ratio.ln()).abs();
        off <= (NEAR * ratio.ln()).max(ERRORS * error)
    };
    let is_alike = |part: PerSide<f64>| {
        let of = PerSide::of(|side| part[side] / whole[side] * user[side]);
        let error = (1.0 / part.slow + 1.0 / part.baseline).sqrt();
        part.both().iter().all(|n| *n >= SAMPLES) && is_near(of.slow / of.baseline, error)
    };
    (is_near(kernel.slow / kernel.baseline, 0.0) && is_alike(top) && is_alike(rest)).then_some(ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(all: &[(&str, [f64; 2])]) -> Vec<Cell> {
        let cell = |(function, samples): &(&str, [f64; 2])| Cell {
            state: Some(State::User),
            function: (*function).into(),
            samples: PerSide { slow: samples[0], baseline: samples[1] },
            ..Cell::default()
        };
        all.iter().map(cell).collect()
    }

    fn slower(cells: &[Cell], [slow, baseline]: [f64; 2], kernel: [f64; 2]) -> Option<f64> {
        super::slower(cells, PerSide { slow, baseline }, PerSide { slow: kernel[0], baseline: kernel[1] })
    }

    #[test]
    fn a_slower_cpu_is_slower_everywhere() {
        let found = cells(&[("parse", [500.0, 510.0]), ("hash", [300.0, 290.0]), ("copy", [100.0, 105.0])]);
        let ratio = slower(&found, [1.2, 1.0], [0.36, 0.3]);
        assert!(ratio.is_some_and(|r| (r - 1.2).abs() < 0.01), "{ratio:?}");
        assert_eq!(slower(&found, [1.2, 1.0], [0.3, 0.3]), None, "the kernel's code is as fast as before");
        assert_eq!(slower(&found, [1.2, 1.0], [0.012, 0.01]), None, "too little of the kernel to tell");
        assert_eq!(slower(&found, [2.0, 1.0], [0.6, 0.3]), None, "more than a machine wavers");
        assert_eq!(slower(&found, [1.0, 1.2], [0.3, 0.36]), None, "it is faster");
        assert_eq!(slower(&[], [1.2, 1.0], [0.36, 0.3]), None);
    }

    #[test]
    fn one_function_that_got_slower_is_not_the_cpu() {
        let found = cells(&[("parse", [900.0, 700.0]), ("hash", [200.0, 290.0]), ("copy", [70.0, 105.0])]);
        assert_eq!(slower(&found, [1.2, 1.0], [0.36, 0.3]), None);
        let found = cells(&[("parse", [900.0, 900.0]), ("hash", [20.0, 20.0])]);
        assert_eq!(slower(&found, [1.2, 1.0], [0.36, 0.3]), None, "one function is all there is");
    }
}

//! Whether all code takes longer, and by as much: what a CPU does that runs slower, or that a neighbour on the core or the hypervisor slows down, and
//! next to nothing that a program does, for the kernel's code is not the program's.

use super::cells::Cell;
use super::state::State;
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
/// and the rest of the program. `time`: seconds per unit by side, of the program and of the kernel.
pub(super) fn slower(cells: &[Cell], user: [f64; 2], kernel: [f64; 2]) -> Option<f64> {
    let all = [0, 1].map(|side| user[side] + kernel[side]);
    let ratio = all[0] / all[1];
    let is_likely = ratio > 1.0 && ratio < MOST && (0..2).all(|side| kernel[side] >= LEAST * all[side]);
    // Samples of the program by function.
    let mut by_function: BTreeMap<&str, [f64; 2]> = BTreeMap::new();
    for cell in cells.iter().filter(|c| !c.aside && c.state == Some(State::User) && is_likely) {
        let sums = by_function.entry(&cell.function).or_insert([0.0; 2]);
        *sums = [0, 1].map(|side| sums[side] + cell.samples[side]);
    }
    let sum = |of: &[[f64; 2]]| [0, 1].map(|side| of.iter().map(|samples| samples[side]).sum::<f64>());
    let mut functions: Vec<[f64; 2]> = by_function.into_values().collect();
    functions.sort_by(|a, b| (b[0] + b[1]).total_cmp(&(a[0] + a[1])));
    let whole = sum(&functions);
    let (top, rest) = (*functions.first()?, sum(functions.get(1..)?));
    let is_near = |grown: f64, error: f64| {
        let off = (grown.ln() - ratio.ln()).abs();
        off <= (NEAR * ratio.ln()).max(ERRORS * error)
    };
    let is_alike = |part: [f64; 2]| {
        let grown = (part[0] / whole[0] * user[0]) / (part[1] / whole[1] * user[1]);
        part.iter().all(|n| *n >= SAMPLES) && is_near(grown, (1.0 / part[0] + 1.0 / part[1]).sqrt())
    };
    (is_near(kernel[0] / kernel[1], 0.0) && is_alike(top) && is_alike(rest)).then_some(ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(all: &[(&str, [f64; 2])]) -> Vec<Cell> {
        let cell = |(function, samples): &(&str, [f64; 2])| Cell {
            state: Some(State::User),
            function: (*function).into(),
            samples: *samples,
            ..Cell::default()
        };
        all.iter().map(cell).collect()
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

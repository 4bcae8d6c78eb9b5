//! Densities of few or many numbers on a grid, their modes, and Silverman's test of whether there is more than one.
//!
//! Silverman, "Using kernel density estimates to investigate multimodality", JRSS B 43, 1981: the critical bandwidth is the one at which a
//! second mode appears; if samples that are drawn from the density at that bandwidth still have two modes at it less often than p, there are
//! two. Two things differ here. A mode counts only if it holds a number of the hosts, so that a bump of one or two does not. And drawing stops
//! where the answer is known (Besag and Clifford, "Sequential Monte Carlo p-values", Biometrika 78, 1991).

use query::stats::rng::Rng;
use query::stats::special::normal_quantile;
use std::sync::OnceLock;

/// Places of a grid.
const GRID: usize = 256;

/// How many samples are drawn at most, and after how many with two modes it is enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Draws {
    /// At most.
    pub most: usize,
    /// So many with two modes are enough.
    pub enough: usize,
}

/// Numbers counted on an even grid.
struct Grid {
    step: f64,
    counts: Vec<f64>,
}

impl Grid {
    fn empty(low: f64, high: f64) -> Grid {
        Grid { step: (high - low) / (GRID - 1) as f64, counts: vec![0.0; GRID] }
    }

    fn of(values: &[f64], low: f64, high: f64) -> Grid {
        let mut grid = Grid::empty(low, high);
        for v in values {
            grid.counts[place((v - low) / grid.step)] += 1.0;
        }
        grid
    }

    /// Adds the density of these counts, each counting `weight`, to `out`.
    fn add(&self, kernel: &[f64], weight: f64, out: &mut [f64]) {
        for (j, &count) in self.counts.iter().enumerate().filter(|c| *c.1 > 0.0) {
            let by = count * weight;
            // kernel[GRID − 1 + d] is the height at the distance d.
            for (o, k) in out.iter_mut().zip(&kernel[GRID - 1 - j..]) {
                *o += by * k;
            }
        }
    }
}

fn place(at: f64) -> usize {
    // A float below 0 or NaN becomes 0.
    ((at + 0.5) as usize).min(GRID - 1)
}

/// The heights of a normal density of this width (in places), by the distance from −(GRID − 1) to GRID − 1.
fn kernel(width: f64) -> Vec<f64> {
    let height = |d: usize| {
        let z = (d as f64 - (GRID - 1) as f64) / width;
        let exponent = -0.5 * z * z;
        // Numbers close to the smallest that there are would be slow, and mean nothing.
        if exponent < -300.0 { 0.0 } else { exponent.exp() / width }
    };
    (0..2 * GRID - 1).map(height).collect()
}

/// The places where one mode of a density ends and the next begins.
fn minima(density: &[f64], out: &mut Vec<usize>) {
    out.clear();
    let mut lowest: Option<usize> = None;
    for i in 1..density.len() {
        if density[i] > density[i - 1] {
            if let Some(from) = lowest.take() {
                out.push((from + i) / 2);
            }
        } else if density[i] < density[i - 1] {
            lowest = Some(i);
        }
    }
}

/// The modes that hold at least `least` of the counts: from which place to which.
fn counted(counts: &[f64], ends: &[usize], least: f64) -> Vec<(usize, usize)> {
    let mut from = 0;
    let mut modes = Vec::new();
    for &end in ends.iter().chain(&[counts.len()]) {
        if counts[from..end].iter().sum::<f64>() >= least {
            modes.push((from, end));
        }
        from = end;
    }
    modes
}

/// Room for a density and its minima, used again and again.
struct Work {
    density: Vec<f64>,
    ends: Vec<usize>,
}

impl Work {
    fn new() -> Work {
        Work { density: vec![0.0; GRID], ends: Vec::new() }
    }

    fn modes(&mut self, grid: &Grid, kernel: &[f64], least: f64) -> Vec<(usize, usize)> {
        self.density.fill(0.0);
        grid.add(kernel, 1.0, &mut self.density);
        minima(&self.density, &mut self.ends);
        counted(&grid.counts, &self.ends, least)
    }
}

/// The greatest bandwidth at which the density of the sorted `x` has two modes (or three …) of `least` hosts each, and a first cut between two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Critical {
    /// The bandwidth, in units of `x`.
    pub width: f64,
    /// A place between both modes.
    pub cut: f64,
}

/// `None` where no bandwidth of a place or more shows so many modes.
pub(super) fn critical(x: &[f64], least: usize, modes: usize) -> Option<Critical> {
    let (&low, &high) = (x.first()?, x.last()?);
    if !(high > low && (high - low).is_finite()) || x.len() < 2 * least {
        return None;
    }
    let least = least as f64;
    let grid = Grid::of(x, low, high);
    let mut work = Work::new();
    let mut two = |width: f64| work.modes(&grid, &kernel(width), least).len() >= modes;
    let mut wide = GRID as f64;
    let mut narrow = wide;
    while !two(narrow) {
        wide = narrow;
        narrow *= 0.9;
        if narrow < 1.0 {
            return None;
        }
    }
    for _ in 0..10 {
        let middle = (wide * narrow).sqrt();
        if two(middle) { narrow = middle } else { wide = middle }
    }
    let found = work.modes(&grid, &kernel(narrow), least);
    // Of more than two the two that hold most.
    let mass = |m: &(usize, usize)| grid.counts[m.0..m.1].iter().sum::<f64>();
    let mut by_mass = found;
    by_mass.sort_by(|a, b| mass(b).total_cmp(&mass(a)).then(a.cmp(b)));
    let (a, b) = (by_mass[0].min(by_mass[1]), by_mass[0].max(by_mass[1]));
    let between = if a.1 == b.0 { a.1 } else { (a.1 + b.0) / 2 };
    // A count at a place lies half a step to both sides of it; the boundary belongs to the right.
    Some(Critical { width: narrow * grid.step, cut: low + (between as f64 - 0.5) * grid.step })
}

/// How many quantiles of the normal distribution noise is drawn from.
const QUANTILES: usize = 4096;

fn normals() -> &'static [f64] {
    static TABLE: OnceLock<Vec<f64>> = OnceLock::new();
    TABLE.get_or_init(|| (0..QUANTILES).map(|i| normal_quantile((i as f64 + 0.5) / QUANTILES as f64)).collect())
}

/// The p-value of "fewer than `modes` modes" for the sorted `x`, by smoothed samples with the variance of `x`; `width` is the critical one.
pub(super) fn fewer(x: &[f64], least: usize, width: f64, modes: usize, draws: Draws, rng: &mut Rng) -> f64 {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    let variance = x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
    let shrink = 1.0 / (1.0 + width * width / variance).sqrt();
    let reach = 3.5 * width * shrink;
    let (low, high) = (mean + (x[0] - mean) * shrink - reach, mean + (x[x.len() - 1] - mean) * shrink + reach);
    let mut grid = Grid::empty(low, high);
    if !(variance > 0.0 && grid.step > 0.0) {
        return 1.0;
    }
    // In places of the grid.
    let from: Vec<f64> = x.iter().map(|v| (mean + (v - mean) * shrink - low) / grid.step).collect();
    let noise: Vec<f64> = normals().iter().map(|z| z * width * shrink / grid.step).collect();
    let kernel = kernel(width / grid.step);
    let mut work = Work::new();
    let (mut two, mut drawn) = (0, 0);
    while drawn < draws.most && two < draws.enough {
        grid.counts.fill(0.0);
        for _ in 0..x.len() {
            let bits = rng.bits();
            // The upper half chooses the host, twelve bits of the lower the noise.
            let host = ((bits >> 32) * x.len() as u64) >> 32;
            grid.counts[place(from[host as usize] + noise[bits as usize & (QUANTILES - 1)])] += 1.0;
        }
        drawn += 1;
        two += usize::from(work.modes(&grid, &kernel, least as f64).len() >= modes);
    }
    if two >= draws.enough { two as f64 / drawn as f64 } else { (two + 1) as f64 / (drawn + 1) as f64 }
}

/// The valley between two parts of a sorted slice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Valley {
    /// Where.
    pub at: f64,
    /// How many lie below it.
    pub below: usize,
    /// The density there over that of the lower peak: 0 is a gap, 1 no valley.
    pub depth: f64,
}

/// Finds the valley near `cut`: each side has a bandwidth of its own (Silverman's rule), since a narrow band beside a wide one would be
/// smeared by any common one; the valley of the sum is the next cut, until nobody changes sides. `None` where a side has fewer than `least`.
pub(super) fn valley(x: &[f64], cut: f64, least: usize) -> Option<Valley> {
    let (&low, &high) = (x.first()?, x.last()?);
    if !(high > low && (high - low).is_finite()) {
        return None;
    }
    let mut below = x.partition_point(|v| *v < cut);
    let mut found = None;
    for _ in 0..10 {
        if below < least || x.len() - below < least {
            return None;
        }
        let (a, b) = x.split_at(below);
        let grids = [Grid::of(a, low, high), Grid::of(b, low, high)];
        let step = grids[0].step;
        let mut density = vec![0.0; GRID];
        for (part, grid) in [a, b].iter().zip(&grids) {
            grid.add(&kernel((bandwidth(part) / step).max(0.7)), 1.0, &mut density);
        }
        let edge = place((0.5 * (x[below - 1] + x[below]) - low) / step).clamp(1, GRID - 1);
        let peak = |from: usize, to: usize| {
            (from..to).max_by(|&i, &j| density[i].total_cmp(&density[j]).then(j.cmp(&i))).unwrap_or(from)
        };
        let (left, right) = (peak(0, edge), peak(edge, GRID));
        let lower = density[left].min(density[right]);
        let lowest = (left..=right).min_by(|&i, &j| density[i].total_cmp(&density[j])).unwrap_or(edge);
        // A gap has no lowest place: its middle.
        let flat = |i: &usize| density[*i] <= density[lowest] + 0.01 * lower;
        let from = (left..=lowest).rev().take_while(flat).last().unwrap_or(lowest);
        let to = (lowest..=right).take_while(flat).last().unwrap_or(lowest);
        let at = low + 0.5 * (from + to) as f64 * step;
        let before = below;
        below = x.partition_point(|v| *v < at);
        found = Some(Valley { at, below, depth: density[lowest] / lower });
        if below == before {
            break;
        }
    }
    found.filter(|v| v.below >= least && x.len() - v.below >= least)
}

/// Silverman's rule of thumb for the sorted `x`.
fn bandwidth(x: &[f64]) -> f64 {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    let deviation = (x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0)).sqrt();
    let at = |q: f64| x[((q * (n - 1.0)).round() as usize).min(x.len() - 1)];
    let quartiles = (at(0.75) - at(0.25)) / 1.349;
    let spread = if quartiles > 0.0 { deviation.min(quartiles) } else { deviation };
    0.9 * spread * n.powf(-0.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(mut x: Vec<f64>) -> Vec<f64> {
        x.sort_by(f64::total_cmp);
        x
    }

    #[test]
    fn two_far_groups_have_a_gap_between() {
        let x = sorted((0..40).map(|i| f64::from(i % 5) * 0.1 + if i < 10 { 0.0 } else { 10.0 }).collect());
        let c = critical(&x, 3, 2).unwrap();
        assert!(c.cut > 0.4 && c.cut < 10.0, "{c:?}");
        let v = valley(&x, c.cut, 3).unwrap();
        assert!(v.below == 10 && v.depth < 1e-6 && (v.at - 5.2).abs() < 1.0, "{v:?}");
        let p = fewer(&x, 3, c.width, 2, Draws { most: 999, enough: 50 }, &mut Rng::new(1));
        assert!(p < 0.01, "{p}");
    }

    #[test]
    fn critical_bandwidths_as_numpy_and_p_as_critband_has_them() {
        let vectors: serde_json::Value =
            serde_json::from_str(include_str!("../../../../fixtures/stats/fleet.json")).unwrap();
        let each = vectors["critical"].as_array().unwrap();
        assert_eq!(each.len(), 5);
        for v in each {
            let x: Vec<f64> = v["x"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
            // A mode of one host counts there.
            for modes in [2, 3] {
                let theirs = v[format!("width_{modes}")].as_f64().unwrap();
                let ours = critical(&x, 1, modes).unwrap().width;
                assert!((ours / theirs - 1.0).abs() < 0.03, "{} {modes}: {ours}, theirs {theirs}", v["name"]);
            }
            // Theirs is of 99 samples: a standard error of 0.05 at most.
            let c = critical(&x, 1, 2).unwrap();
            let p = fewer(&x, 1, c.width, 2, Draws { most: 999, enough: 999 }, &mut Rng::new(1));
            assert!((p - v["p"].as_f64().unwrap()).abs() < 0.15, "{}: {p}, theirs {}", v["name"], v["p"]);
        }
    }

    #[test]
    fn nothing_to_see_in_little() {
        assert_eq!(critical(&[], 3, 2), None);
        assert_eq!(critical(&[1.0; 9], 3, 2), None);
        assert_eq!(critical(&[1.0, 2.0, 3.0], 3, 2), None);
        assert_eq!(valley(&[], 0.0, 3), None);
        assert_eq!(valley(&[1.0, 1.0, 1.0, 2.0], 1.5, 3), None);
    }
}

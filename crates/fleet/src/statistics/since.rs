//! Since when a host is in its band: switches within a recording, and whether a band stays with the host or is drawn anew at each start.

use query::stats::rng::Rng;

/// What it costs to change the state, in slices that lie well on the other side.
const SWITCH: f64 = 2.5;

/// Slices of a stretch, at least.
const LEAST: usize = 3;

/// The medians of the stretches before and after a switch lie at least this part of the distance between the bands apart.
const APART: f64 = 0.5;

/// The difference of both stretches, in standard errors of slices that depend on each other, at least.
const SURE: f64 = 4.0;

/// The course of one host through two neighbouring bands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Path {
    /// For each slice whether the host is in the upper band; NaN slices stay where the one before was.
    pub upper: Vec<bool>,
    /// The first slices of a new state.
    pub switches: Vec<usize>,
}

/// Finds the likeliest path of two states (Viterbi, "Error bounds for convolutional codes …", IEEE Transactions on Information Theory 13, 1967)
/// with the `valley` between the middles `low` and `high` of the bands; all in one unit. A slice counts by how far it lies beyond the valley, at
/// most as the middle of a band does: one far out says no more (twice that in standard errors). A switch is believed if the stretches on both
/// sides of it differ by half the distance of the bands, and by four of their standard errors, neighbouring slices depending on each other.
pub fn path(slices: &[f64], valley: f64, low: f64, high: f64) -> Path {
    // −1 at the lower middle, 0 at the valley, 1 at the upper one.
    let side = |v: f64| {
        let reach = if v < valley { valley - low } else { high - valley };
        if reach > 0.0 && !v.is_nan() { ((v - valley) / reach).clamp(-2.0, 2.0) } else { f64::NAN }
    };
    let at: Vec<f64> = slices.iter().map(|v| side(*v)).collect();
    let mut path = Path { upper: viterbi(&at), switches: Vec::new() };
    loop {
        let starts: Vec<usize> = (1..at.len()).filter(|&i| path.upper[i] != path.upper[i - 1]).collect();
        // The weakest of the switches that are not believed goes first: what it parted may make the others plain.
        let mut ends = vec![0];
        ends.extend(&starts);
        ends.push(at.len());
        let worst = (1..ends.len().saturating_sub(1))
            .map(|k| (strength(&at, [ends[k - 1], ends[k], ends[k + 1]]), k))
            .filter(|s| s.0 < 1.0)
            .min_by(|a, b| a.0.total_cmp(&b.0));
        let Some((_, k)) = worst else {
            path.switches = starts;
            return path;
        };
        // The shorter stretch takes the state of the longer one.
        let (a, b) = (ends[k] - ends[k - 1], ends[k + 1] - ends[k]);
        let (from, to) = if a < b { (ends[k - 1], ends[k]) } else { (ends[k], ends[k + 1]) };
        path.upper[from..to].iter_mut().for_each(|u| *u = !*u);
    }
}

fn viterbi(at: &[f64]) -> Vec<bool> {
    // Costs of being below and above.
    let mut cost = [0.0f64; 2];
    let mut came: Vec<[bool; 2]> = Vec::with_capacity(at.len());
    for v in at {
        // A slice that is not known costs nothing.
        let v = if v.is_nan() { 0.0 } else { v.clamp(-1.0, 1.0) };
        let own = [v.max(0.0), (-v).max(0.0)];
        let stay = cost;
        let mut from = [false, true];
        for s in 0..2 {
            let other = stay[1 - s] + SWITCH;
            if other < stay[s] {
                from[s] = s == 0;
                cost[s] = other;
            }
            cost[s] += own[s];
        }
        came.push(from);
    }
    let mut upper = vec![false; at.len()];
    let mut state = cost[1] < cost[0];
    for i in (0..at.len()).rev() {
        upper[i] = state;
        state = came[i][usize::from(state)];
    }
    upper
}

/// How plain a switch at `ends[1]` is between the stretches on both sides: from 1 on it is believed. The middles of the bands are at −1 and 1.
fn strength(at: &[f64], ends: [usize; 3]) -> f64 {
    let part = |from: usize, to: usize| at[from..to].iter().copied().filter(|v| v.is_finite()).collect::<Vec<f64>>();
    let (a, b) = (part(ends[0], ends[1]), part(ends[1], ends[2]));
    if a.len() < LEAST || b.len() < LEAST {
        return 0.0;
    }
    let apart = (super::median(&b) - super::median(&a)).abs();
    let error = |x: &[f64]| {
        let n = x.len() as f64;
        let mean = x.iter().sum::<f64>() / n;
        let variance = x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let next: f64 = x.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum::<f64>() / (n - 1.0);
        // Of few slices the dependence comes out too small by about 1/√n.
        let phi = (if variance > 0.0 { next / variance } else { 0.0 } + 1.0 / n.sqrt()).clamp(0.0, 0.9);
        variance * (1.0 + phi) / (1.0 - phi) / n
    };
    let error = (error(&a) + error(&b)).sqrt();
    let sure = if error > 0.0 { apart / error / SURE } else { f64::INFINITY };
    (apart / 2.0 / APART).min(sure)
}

/// The chance that of events which each happen with their own probability so many or more do: the exact tail of their sum.
pub fn at_least(chances: &[f64], hits: usize) -> f64 {
    // By how many happened so far.
    let mut by_count = vec![1.0];
    for chance in chances.iter().map(|chance| chance.clamp(0.0, 1.0)) {
        by_count.push(0.0);
        for at in (0..by_count.len()).rev() {
            let before = at.checked_sub(1).map_or(0.0, |before| by_count[before]);
            by_count[at] = by_count[at] * (1.0 - chance) + before * chance;
        }
    }
    by_count.iter().skip(hits).sum::<f64>().min(1.0)
}

/// Draws of [`gathered`].
const DRAWS: usize = 9_999;

/// The p-value of "these ages are drawn evenly, each from its own range", against "they lie close together": how often as many draws lie within as
/// short a stretch. A permutation test in all but name: where in its recording a switch lies is exchanged, all else stays.
pub fn gathered(ages: &[f64], ranges: &[(f64, f64)], seed: u64) -> f64 {
    let length = |ages: &mut dyn Iterator<Item = f64>| {
        let (low, high) = ages.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), age| (age.min(l), age.max(h)));
        high - low
    };
    let seen = length(&mut ages.iter().copied());
    let mut rng = Rng::new(seed);
    let as_short = (0..DRAWS)
        .filter(|_| length(&mut ranges.iter().map(|(from, to)| from + (to - from) * rng.uniform())) <= seen)
        .count();
    (1 + as_short) as f64 / (1 + DRAWS) as f64
}

/// Whether the band belongs to the host or to the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawn {
    /// Recordings of one host are in one band more often than chance would have it, and nearly always.
    WithHost,
    /// They are so more often than chance would have it, but a good part changes.
    Partly,
    /// They are in bands as if each start drew one, and if the host decided, that would have been seen.
    EachStart,
    /// There are too few hosts with several recordings, or all are in one band.
    NotKnown,
}

/// What several recordings of hosts say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Starts {
    /// In a word.
    pub drawn: Drawn,
    /// Hosts with two recordings or more.
    pub hosts: usize,
    /// Pairs of recordings of one host that are in one band, of all such pairs.
    pub same: (usize, usize),
    /// What share of the pairs chance would put into one band.
    pub by_chance: f64,
    /// p-value of "each start draws its band" against "recordings of one host are alike".
    pub p: f64,
}

/// Random orders that p comes from.
const ORDERS: usize = 9_999;

/// Asks whether the band stays with the host: `starts` has the host and the band of each recording, one for each start of the program. Bands are
/// handed out to the recordings at random (a permutation test, exact at any number of them).
pub fn drawn(starts: &[(usize, usize)], seed: u64) -> Starts {
    let mut sorted = starts.to_vec();
    sorted.sort_unstable();
    let groups: Vec<usize> = sorted.chunk_by(|a, b| a.0 == b.0).map(<[_]>::len).filter(|n| *n > 1).collect();
    // Only hosts with several recordings take part.
    let mut bands: Vec<usize> =
        sorted.chunk_by(|a, b| a.0 == b.0).filter(|g| g.len() > 1).flatten().map(|s| s.1).collect();
    let same = |bands: &[usize]| {
        let mut from = 0;
        let mut same = 0;
        for n in &groups {
            let own = &bands[from..from + n];
            same += own.iter().enumerate().map(|(i, b)| own[i + 1..].iter().filter(|c| *c == b).count()).sum::<usize>();
            from += n;
        }
        same
    };
    let pairs: usize = groups.iter().map(|n| n * (n - 1) / 2).sum();
    let seen = same(&bands);
    let mut rng = Rng::new(seed);
    let (mut as_many, mut sum, mut square) = (0usize, 0.0, 0.0);
    for _ in 0..ORDERS {
        for i in (1..bands.len()).rev() {
            bands.swap(i, rng.below(i + 1));
        }
        let now = same(&bands);
        as_many += usize::from(now >= seen);
        sum += now as f64;
        square += (now as f64).powi(2);
    }
    let mean = sum / ORDERS as f64;
    let deviation = (square / ORDERS as f64 - mean * mean).max(0.0).sqrt();
    let p = (1 + as_many) as f64 / (1 + ORDERS) as f64;
    let all = pairs as f64;
    let beyond_chance = |pairs: f64| (pairs - mean) / (all - mean);
    let share = seen as f64 / all.max(1.0);
    let drawn = if groups.len() < 2 || all - mean < 0.5 || deviation <= 0.0 {
        Drawn::NotKnown
    } else if p <= 0.05 {
        if beyond_chance(seen as f64) >= 0.8 { Drawn::WithHost } else { Drawn::Partly }
    } else if beyond_chance(seen as f64 + 1.645 * deviation) < 0.5 {
        Drawn::EachStart
    } else {
        Drawn::NotKnown
    };
    let by_chance = if pairs > 0 { mean / all } else { f64::NAN };
    Starts { drawn, hosts: groups.len(), same: ((share * all).round() as usize, pairs), by_chance, p }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_of_a_sum_is_exact() {
        // Binomial(10, 0.3): P(X >= 6) = 0.0473490 (scipy.stats.binom.sf(5, 10, 0.3)).
        assert!((at_least(&[0.3; 10], 6) - 0.047_348_987_4).abs() < 1e-9);
        assert!(
            (at_least(&[0.1, 0.5, 0.9], 2) - (0.05 * 0.1 + 0.1 * 0.5 * 0.9 + 0.9 * 0.5 * 0.9 + 0.1 * 0.5 * 0.9)).abs()
                < 1e-12
        );
        assert_eq!((at_least(&[], 0), at_least(&[0.5], 0), at_least(&[0.0], 1)), (1.0, 1.0, 0.0));
    }

    #[test]
    fn ages_that_lie_together_do_so_seldom_by_chance() {
        let ranges = [(0.0, 3600.0); 6];
        assert!(gathered(&[1800.0, 1810.0, 1820.0, 1805.0, 1799.0, 1830.0], &ranges, 1) < 0.001);
        // An even draw is called so in one of twenty.
        let mut rng = Rng::new(7);
        let called = (0..200)
            .filter(|_| gathered(&ranges.map(|(from, to)| from + (to - from) * rng.uniform()), &ranges, 3) <= 0.05)
            .count();
        assert!(called <= 20, "{called}");
    }

    fn host(n: usize, at: usize, before: f64, after: f64, noise: f64, seed: u64) -> Vec<f64> {
        let mut rng = Rng::new(seed);
        (0..n).map(|i| (if i < at { before } else { after }) * (1.0 + noise * rng.normal())).collect()
    }

    #[test]
    fn a_switch_is_dated_and_a_spike_is_none() {
        let mut x = host(120, 72, 100.0, 250.0, 0.1, 1);
        x[20] = 900.0;
        x[21] = 900.0;
        x[90] = f64::NAN;
        let p = path(&x, 160.0, 100.0, 250.0);
        assert_eq!(p.switches, [72]);
        assert!(!p.upper[20] && p.upper[90]);
        assert!(path(&host(120, 120, 250.0, 0.0, 0.25, 2), 160.0, 100.0, 250.0).switches.is_empty());
        let back: Vec<f64> = x[..100].iter().chain(&x[..40]).copied().collect();
        assert_eq!(path(&back, 160.0, 100.0, 250.0).switches, [72, 100]);
    }

    #[test]
    fn nothing_much_has_no_path() {
        assert_eq!(path(&[], 1.0, 0.0, 2.0), Path::default());
        assert!(path(&[f64::NAN; 9], 1.0, 0.0, 2.0).switches.is_empty());
        assert!(path(&[1.0, 5.0, 1.0], 1.0, 1.0, 1.0).switches.is_empty());
        assert!(path(&[0.0, 9.0, 0.0, 9.0], f64::NAN, 0.0, 9.0).switches.is_empty());
    }

    #[test]
    fn the_host_or_the_start() {
        let starts = |f: &dyn Fn(usize, usize) -> usize| {
            (0..16).flat_map(|h| (0..4).map(move |s| (h, s))).map(|(h, s)| (h, f(h, s))).collect::<Vec<_>>()
        };
        let own = drawn(&starts(&|h, _| usize::from(h % 4 == 0)), 1);
        assert!(own.drawn == Drawn::WithHost && own.p < 0.001 && own.same == (96, 96), "{own:?}");
        let mut rng = Rng::new(7);
        let coins: Vec<usize> = (0..64).map(|_| usize::from(rng.below(8) == 0)).collect();
        let each = drawn(&starts(&|h, s| coins[4 * h + s]), 1);
        assert_eq!(each.drawn, Drawn::EachStart, "{each:?}");
        assert_eq!(drawn(&starts(&|_, _| 0), 1).drawn, Drawn::NotKnown);
        assert_eq!(drawn(&[(1, 0), (1, 1)], 1).drawn, Drawn::NotKnown);
        assert_eq!(drawn(&[], 1).hosts, 0);
        // Two hosts with two each, alike: one of three ways to hand out two bands, so p is a third.
        let few = drawn(&[(0, 0), (0, 0), (1, 1), (1, 1)], 1);
        assert!((few.p - 1.0 / 3.0).abs() < 0.02, "{few:?}");
    }
}

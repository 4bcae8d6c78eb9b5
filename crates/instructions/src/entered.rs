//! How long a round takes of a loop that is over before the next sample: its counters begin anew each time. Where it goes from the same number to the same
//! number whenever it is entered, and comes again after about as long, the counter is a hand that goes round: of two samples the counter says how far the
//! hand has come, but for whole turns, and the thread's clock how long that took. The length of a turn at which all pairs agree is looked for, as the period
//! of a star is by its phases (the statistic of Rayleigh, 1919), beside the part of a turn that is spent in the loop.

use std::f64::consts::TAU;

/// Two samples of a thread, one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Apart {
    /// Between them, ns.
    pub(crate) gap: f64,
    /// By how many rounds the counter of the later one is further; less than 0 where it began anew.
    pub(crate) rounds: f64,
}

/// A round that was found, ns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) ns: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) pairs: usize,
    /// How far pairs differ from it, as a standard deviation, by the length of a turn.
    pub(crate) spread: f64,
}

/// Pairs that make a rate, and that are looked at; more are thinned evenly.
const LEAST: usize = 30;
const MOST: usize = 240;
/// Rounds of a turn, at least.
const SHORTEST: f64 = 8.0;
/// Distances between samples that must differ, in fiftieths of their median: of equal ones every length of a turn would do.
const DIFFERENT: usize = 40;
/// How well pairs must agree: 1 if all do.
const AGREED: f64 = 0.5;
/// The same by the number of pairs: among so many lengths that are tried chance comes to 10 (e^-10 for each).
const SURE: f64 = 14.0;
/// And by how much better than the same distances with the counters of other pairs do, and than any other length of a turn.
const BETTER: f64 = 1.25;
const OTHERS: usize = 8;
const ALONE: f64 = 0.9;
/// Turns a ns that are looked at for that: a turn of 2.5 µs is shorter than what a sample's own time differs by.
const BRIEF: f64 = 1.0 / 2_500.0;
/// Parts of a turn in the loop that are tried.
const PARTS: [f64; 11] = [0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0];
/// Groups of pairs that are left out in turn, for the interval.
const GROUPS: usize = 10;

type Complex = (f64, f64);

fn unit(turns: f64) -> Complex {
    let (sin, cos) = (turns * TAU).sin_cos();
    (cos, sin)
}

/// How well pairs agree: the length of the mean of their hands, where each of `b` is taken with that of `a` so many places on.
fn agreement(b: &[Complex], a: &[Complex], on: usize) -> f64 {
    let (before, after) = a.split_at(on.min(a.len()));
    let add = |(x, y): Complex, (b, a): (&Complex, &Complex)| (x + b.0 * a.0 - b.1 * a.1, y + b.0 * a.1 + b.1 * a.0);
    let (x, y) = b.iter().zip(after.iter().chain(before)).fold((0.0, 0.0), add);
    f64::hypot(x, y) / b.len().max(1) as f64
}

/// Where pairs agree best: turns a ns, the part of a turn in the loop, and how well.
fn best(pairs: &[Apart], whole: f64, (rates, parts): (&[f64], &[f64]), on: usize) -> (f64, f64, f64) {
    let of_part = |part: &f64| pairs.iter().map(|p| unit(-part * p.rounds / whole)).collect::<Vec<_>>();
    let of_parts: Vec<Vec<Complex>> = parts.iter().map(of_part).collect();
    let mut best = (0.0, 1.0, 0.0);
    for &rate in rates {
        let clock: Vec<Complex> = pairs.iter().map(|p| unit(p.gap * rate)).collect();
        for (part, hands) in parts.iter().zip(&of_parts) {
            let agreed = agreement(&clock, hands, on);
            if agreed > best.2 {
                best = (rate, *part, agreed);
            }
        }
    }
    best
}

fn between(low: f64, high: f64, steps: usize) -> Vec<f64> {
    (0..=steps).map(|n| low + (high - low) * n as f64 / steps.max(1) as f64).collect()
}

/// Whether places are spread evenly over a turn, as samples of one that always goes from the same number to the same number are (Kolmogorov and Smirnov,
/// at 1 %).
fn is_even(places: &[f64], whole: f64) -> bool {
    let mut parts: Vec<f64> = places.iter().map(|place| place / whole).collect();
    parts.sort_by(f64::total_cmp);
    let n = parts.len() as f64;
    let off = parts.iter().enumerate().map(|(at, part)| ((at as f64 + 0.5) / n - part).abs()).fold(0.0, f64::max);
    off * n.sqrt() < 1.63
}

/// How long a round takes, if pairs agree on it. `places` are the counters of all samples in rounds, from the least on.
pub(crate) fn turn(places: &[f64], pairs: &[Apart]) -> Option<Turn> {
    let step = pairs.len() / MOST + 1;
    let pairs: Vec<Apart> = pairs.iter().copied().step_by(step).collect();
    if pairs.len() < LEAST || places.len() < LEAST {
        return None;
    }
    // The farthest of so many places lie that little from the ends.
    let n = places.len() as f64;
    let whole = places.iter().copied().fold(0.0, f64::max) * (n + 1.0) / (n - 1.0) + 1.0;
    let mut gaps: Vec<f64> = pairs.iter().map(|pair| pair.gap).collect();
    gaps.sort_by(f64::total_cmp);
    let (middle, longest) = (gaps.get(gaps.len() / 2).copied()?, gaps.last().copied()?);
    let mut different: Vec<u64> = gaps.iter().map(|gap| (gap / middle * 50.0) as u64).collect();
    different.dedup();
    if !(whole >= SHORTEST && is_even(places, whole)) || different.len() < DIFFERENT.min(pairs.len() / 3) {
        return None;
    }
    // Turns from four times as long as samples lie apart to a sixteenth of it, so closely that no pair goes on by more than a sixth of a turn.
    let (slowest, fastest, apart) = (0.25 / middle, 16.0 / middle, 1.0 / (6.0 * longest));
    let rates = between(slowest, fastest, (((fastest - slowest) / apart) as usize).clamp(1, 1000));
    let (rate, part, agreed) = best(&pairs, whole, (&rates, &PARTS), 0);
    let n = pairs.len() as f64;
    if agreed < AGREED || n * agreed * agreed < SURE {
        return None;
    }
    let by_chance = |other: usize| best(&pairs, whole, (&rates, &PARTS), pairs.len() * other / OTHERS).2;
    if (1..OTHERS).any(|other| BETTER * by_chance(other) > agreed) {
        return None;
    }
    // Timers are even: a turn that is much shorter than samples lie apart can look like a slow one, as the wheels of a coach do on film.
    let shortest = between(slowest, BRIEF, (((BRIEF - slowest) / apart).max(1.0) as usize).min(10_000));
    let lobe = (0.15 * rate).max(4.0 * apart);
    let far: Vec<f64> = shortest.into_iter().filter(|other| (other - rate).abs() > lobe).collect();
    if best(&pairs, whole, (&far, &PARTS), 0).2 > ALONE * agreed {
        return None;
    }
    let near = between(rate - apart, rate + apart, 40);
    let parts = between((part - 0.05).max(0.5), (part + 0.05).min(1.0), 20);
    let ns = |pairs: &[Apart]| {
        let (rate, part, _) = best(pairs, whole, (&near, &parts), 0);
        part / rate / whole
    };
    let found = ns(&pairs);
    // The jackknife: without each tenth of the pairs.
    let without = |group: usize| {
        let rest: Vec<Apart> =
            pairs.iter().enumerate().filter(|(at, _)| at % GROUPS != group).map(|(_, pair)| *pair).collect();
        ns(&rest)
    };
    let others: Vec<f64> = (0..GROUPS).map(without).collect();
    let mean = others.iter().sum::<f64>() / GROUPS as f64;
    let squares = others.iter().map(|ns| (ns - mean).powi(2)).sum::<f64>();
    let varies = (squares * (GROUPS - 1) as f64 / GROUPS as f64).sqrt() / found;
    // How many rounds a turn has is known as well as the farthest places are (the range of a uniform distribution).
    let of_range = std::f64::consts::SQRT_2 / places.len() as f64;
    let half = 1.96 * f64::hypot(varies, of_range) * found;
    let spread = (-2.0 * agreed.ln()).max(0.0).sqrt() / TAU;
    Some(Turn { ns: found, low: found - half, high: found + half, pairs: pairs.len(), spread })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of 0 to 1 by xorshift, always the same.
    fn random(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed;
        move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 53) as f64
        }
    }

    /// Samples of a loop of 250 rounds that takes `part` of a turn of so many ns, which differ by `jitter`, up to 2 ms apart.
    fn samples(seed: u64, count: usize, ns: f64, part: f64, jitter: f64) -> (Vec<f64>, Vec<Apart>) {
        let mut random = random(seed);
        let (mut clock, mut began, mut length) = (0.0, 0.0, ns);
        let (mut places, mut pairs) = (Vec::new(), Vec::new());
        let mut last: Option<(f64, f64)> = None;
        while places.len() < count {
            clock += random() * 2e6;
            while clock >= began + length {
                began += length;
                length = ns * (1.0 + jitter * (random() - 0.5));
            }
            let place = ((clock - began) / length / part * 250.0).floor();
            // A sample outside of the loop is none of its own.
            if place >= 250.0 {
                last = None;
                continue;
            }
            if let Some((at, before)) = last {
                pairs.push(Apart { gap: clock - at + 15_000.0, rounds: place - before });
            }
            places.push(place);
            last = Some((clock, place));
        }
        (places, pairs)
    }

    #[test]
    fn a_turn_is_found_with_its_interval() {
        let (mut told, mut within) = (0, 0);
        for seed in 1..=20 {
            for (ns, part, jitter) in [(400_000.0, 1.0, 0.1), (300_000.0, 0.75, 0.05), (900_000.0, 1.0, 0.2)] {
                let (places, pairs) = samples(seed * 7919, 150, ns, part, jitter);
                let truth = ns * part / 250.0;
                let Some(found) = turn(&places, &pairs) else { continue };
                told += 1;
                assert!((found.ns / truth - 1.0).abs() < 0.12, "{seed}: {found:?} for {truth}");
                within += usize::from(found.low <= truth && truth <= found.high);
            }
        }
        assert!(
            told >= 50 && within * 10 >= told * 9,
            "{told} of 60 are told, the truth is in {within} intervals of 95 %"
        );
    }

    #[test]
    fn what_does_not_come_again_evenly_is_not_told() {
        for seed in 1..=20 {
            let mut random = random(seed * 104_729);
            // Counters that have nothing to do with the clock; turns of any length; few samples.
            let places: Vec<f64> = (0..150).map(|_| (random() * 250.0).floor()).collect();
            let pair = |of: &[f64]| Apart { gap: random() * 2e6 + 1.0, rounds: of[1] - of[0] };
            let chance: Vec<Apart> = places.windows(2).map(pair).collect();
            assert!(turn(&places, &chance).is_none(), "{seed}");
            let (places, pairs) = samples(seed, 150, 300_000.0, 1.0, 2.0);
            assert!(turn(&places, &pairs).is_none(), "{seed}");
            let (places, pairs) = samples(seed, 20, 400_000.0, 1.0, 0.0);
            assert!(turn(&places, &pairs).is_none(), "{seed}");
            // All as far apart: of a turn of that length the same would be seen as of half of it.
            let even: Vec<Apart> =
                (0..150).map(|n| Apart { gap: 1e6, rounds: f64::from(n % 7) * 30.0 - 90.0 }).collect();
            let places: Vec<f64> = (0..250).map(f64::from).collect();
            assert!(turn(&places, &even).is_none());
        }
    }

    #[test]
    fn bad_numbers_are_no_turn() {
        let bad = [f64::NAN, f64::INFINITY, 0.0, -1.0];
        for gap in bad {
            for rounds in bad {
                let places: Vec<f64> = (0..100).map(f64::from).collect();
                assert!(turn(&places, &[Apart { gap, rounds }; 100]).is_none(), "{gap} {rounds}");
            }
        }
        assert!(turn(&[], &[]).is_none() && turn(&[f64::NAN; 100], &[Apart { gap: 1.0, rounds: 1.0 }; 100]).is_none());
    }
}

//! A level that swings at a regular period, found by its spectrum: threads that stop each other again and again.
//!
//! The spectrum is a multitaper estimate with sine tapers (Riedel and Sidorenko, "Minimum bias multiple taper spectral estimation", IEEE
//! Transactions on Signal Processing 43, 1995). It is held against red noise, as in Mann and Lees ("Robust estimation of background noise and
//! signal detection in climatic time series", Climatic Change 33, 1996): an AR(1) spectrum, here with a white floor beside it, fitted to
//! low quantiles of the estimate, which lines do not move. An AR(1) without a floor would take noise on top of a slow drift for a line
//! (Vaughan, Bailey and Smith, "Detecting cycles in stratigraphic data", Paleoceanography 26, 2011).

use std::f64::consts::{PI, TAU};

/// Tapers; each adds two degrees of freedom, and half a frequency on both sides to the width of a line.
const TAPERS: usize = 3;

/// Half the width of a line, in steps of one cycle in the whole series.
const LOBE: f64 = (TAPERS + 1) as f64 / 2.0;

/// The fewest samples that are looked at.
const FEWEST: usize = 100;

/// More samples than these are joined first.
const LONGEST: usize = 1 << 16;

/// A period comes so many times at least: less is no regularity.
const CYCLES: f64 = 8.0;

/// A period has so many samples at least: a faster one could be the shadow of one that the samples cannot show.
const SAMPLES: f64 = 4.0;

/// How far a cycle that is not quite regular spreads, as a share of its frequency.
const SPREAD: f64 = 0.06;

/// The p-value up to which a line is believed, over all frequencies looked at.
const P: f64 = 0.001;

/// The share of the variance that it must make up.
const SHARE: f64 = 0.1;

/// A regular swing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sawtooth {
    /// Seconds from one crest to the next.
    pub period: f64,
    /// From trough to crest of the mean of eight cycles, the median over the series; in the unit of the series.
    pub swing: f64,
    /// Share of the variance that the period and its harmonics make up, of all that is faster than four periods.
    pub share: f64,
    /// How likely red noise shows such a line at any of the frequencies looked at (Bonferroni).
    pub p: f64,
}

/// The regular swing of a series of means over slots of `seconds` each; `None` where there is none, or one of less than `least`.
///
/// Periods of at least four slots, and of at most an eighth of the series, are looked for. Series with a sample that is not finite, and
/// those of fewer than 100 samples, give nothing.
pub fn sawtooth(values: &[f64], seconds: f64, least: f64) -> Option<Sawtooth> {
    let size = values.len().div_ceil(LONGEST).max(1);
    let slots: Vec<f64> = values.chunks_exact(size).map(|c| c.iter().sum::<f64>() / size as f64).collect();
    if slots.len() < FEWEST || slots.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let x = detrended(&slots)?;
    let spectrum = Spectrum::of(&x);
    let background = spectrum.background()?;
    let peaks = spectrum.peaks(&background);
    let strongest = peaks.iter().max_by(|a, b| a.power.total_cmp(&b.power))?;
    // A cycle of two unlike halves is strongest at twice its frequency.
    let below = |part: usize| {
        let at = strongest.at / part as f64;
        let near = |p: &&Peak| (p.at - at).abs() <= spectrum.width(at) && p.power >= 0.1 * strongest.power;
        peaks.iter().filter(near).max_by(|a, b| a.power.total_cmp(&b.power))
    };
    let peak = (2..=8).rev().find_map(below).unwrap_or(strongest);
    let period = spectrum.padded as f64 / peak.at;
    let share = spectrum.share(&background, peak.at);
    let swing = swing(&x, period)?;
    let found = Sawtooth { period: period * size as f64 * seconds, swing, share, p: strongest.p.max(peak.p).min(1.0) };
    (found.share >= SHARE && found.swing >= least).then_some(found)
}

/// The series without its straight line; `None` where nothing is left.
fn detrended(x: &[f64]) -> Option<Vec<f64>> {
    let n = x.len() as f64;
    let (mean, middle) = (x.iter().sum::<f64>() / n, (n - 1.0) / 2.0);
    let (mut xy, mut xx) = (0.0, 0.0);
    for (i, v) in x.iter().enumerate() {
        let t = i as f64 - middle;
        (xy, xx) = (xy + t * (v - mean), xx + t * t);
    }
    let slope = xy / xx;
    let out: Vec<f64> = x.iter().enumerate().map(|(i, v)| v - mean - slope * (i as f64 - middle)).collect();
    let variance = out.iter().map(|v| v * v).sum::<f64>() / n;
    // Rounding is no variation.
    (variance.is_finite() && variance > 1e-18 * mean * mean && variance > 0.0).then_some(out)
}

/// A line above the background.
#[derive(Clone, Copy, Debug)]
struct Peak {
    /// Its frequency in steps of the padded series, between them.
    at: f64,
    /// Variance above the background.
    power: f64,
    p: f64,
}

struct Spectrum {
    /// Samples of the series, and with zeros behind it to the next power of two.
    samples: usize,
    padded: usize,
    /// Power from frequency 0 to half the sampling rate.
    power: Vec<f64>,
}

impl Spectrum {
    fn of(x: &[f64]) -> Spectrum {
        let (samples, padded) = (x.len(), x.len().next_power_of_two());
        let mut power = vec![0.0; padded / 2 + 1];
        for taper in 1..=TAPERS {
            let scale = (2.0 / (samples + 1) as f64).sqrt();
            let window = |i: usize| scale * (PI * taper as f64 * (i + 1) as f64 / (samples + 1) as f64).sin();
            let mut z: Vec<(f64, f64)> = x.iter().enumerate().map(|(i, v)| (v * window(i), 0.0)).collect();
            z.resize(padded, (0.0, 0.0));
            fourier(&mut z);
            for (sum, (re, im)) in power.iter_mut().zip(&z) {
                *sum += (re * re + im * im) / TAPERS as f64;
            }
        }
        Spectrum { samples, padded, power }
    }

    /// Steps of the padded series in one of the series itself.
    fn step(&self) -> f64 {
        self.padded as f64 / self.samples as f64
    }

    /// How far a line reaches to each side.
    fn width(&self, at: f64) -> f64 {
        (LOBE * self.step()).max(SPREAD * at)
    }

    /// Red noise with a white floor: power at each frequency.
    fn background(&self) -> Option<Vec<f64>> {
        // Bands of equal width in octaves, so that slow parts count as much as fast ones; in each, the lower quartile: it stays with the noise
        // where the harmonics of a line take up to three quarters of the band.
        let mut bands: Vec<(f64, f64, f64)> = Vec::new();
        let mut from = (LOBE * self.step()).ceil() as usize;
        while from < self.power.len() {
            let to = ((from as f64 * 1.15).ceil() as usize).max(from + self.step().ceil() as usize);
            let mut band: Vec<f64> = self.power.get(from..to.min(self.power.len()))?.to_vec();
            band.sort_by(f64::total_cmp);
            let quartile = *band.get((band.len() - 1) / 4)?;
            if quartile > 0.0 {
                let middle = (from as f64 * to as f64).sqrt();
                bands.push((middle, (quartile / QUARTILE).ln(), (band.len() as f64 / self.step()).clamp(1.0, 8.0)));
            }
            from = to;
        }
        let mut best: Option<(f64, Red)> = None;
        for red in Red::all() {
            let ratios: Vec<(f64, f64)> = bands.iter().map(|b| (b.1 - red.at(self.turn(b.0)).ln(), b.2)).collect();
            let level = weighted_median(&ratios)?;
            let loss: f64 = ratios.iter().map(|(r, w)| w * (r - level).abs()).sum();
            if best.as_ref().is_none_or(|b| loss < b.0) {
                best = Some((loss, Red { level: level.exp(), ..red }));
            }
        }
        let (_, red) = best?;
        Some((0..self.power.len()).map(|j| red.at(self.turn(j as f64))).collect())
    }

    /// A frequency as an angle.
    fn turn(&self, at: f64) -> f64 {
        TAU * at / self.padded as f64
    }

    /// Variance above the background around a frequency.
    fn above(&self, background: &[f64], at: f64, width: f64) -> f64 {
        let range = (at - width).ceil().max(1.0) as usize..=(at + width).floor() as usize;
        let sum: f64 = range.filter_map(|j| Some((self.power.get(j)? - background.get(j)?).max(0.0))).sum();
        2.0 * sum / self.padded as f64
    }

    fn peaks(&self, background: &[f64]) -> Vec<Peak> {
        let from = (CYCLES * self.step()).ceil() as usize;
        let to = (self.padded as f64 / SAMPLES).floor() as usize;
        let count = (to + 1).saturating_sub(from) as f64;
        let mut found = Vec::new();
        for j in from..=to {
            let (Some(&[before, here, after]), Some(&noise)) =
                (self.power.get(j - 1..j + 2).and_then(|p| <&[f64; 3]>::try_from(p).ok()), background.get(j))
            else {
                continue;
            };
            let p = count * tail(here / noise);
            if here < before || here < after || p.is_nan() || p > P {
                continue;
            }
            // The line's own middle.
            let lobe = LOBE * self.step();
            let (mut sum, mut weight) = (0.0, 0.0);
            for i in (j as f64 - lobe).ceil().max(1.0) as usize..=(j as f64 + lobe).floor() as usize {
                let excess = self.power.get(i).zip(background.get(i)).map_or(0.0, |(s, b)| (s - b).max(0.0));
                (sum, weight) = (sum + excess * i as f64, weight + excess);
            }
            let at = if weight > 0.0 { sum / weight } else { j as f64 };
            found.push(Peak { at, power: self.above(background, at, self.width(at)), p });
        }
        found
    }

    fn share(&self, background: &[f64], at: f64) -> f64 {
        let half = self.power.len() as f64;
        let harmonics = (1..).map(f64::from).take_while(|h| h * at < half);
        let line: f64 = harmonics
            .map(|h| self.above(background, h * at, (LOBE * self.step()).max((SPREAD * h * at).min(0.25 * at))))
            .sum();
        let fast = self.power.iter().skip((at / 4.0) as usize).sum::<f64>() * 2.0 / self.padded as f64;
        if fast > 0.0 { (line / fast).min(1.0) } else { 0.0 }
    }
}

/// AR(1) noise with a coefficient of 1 − `slow`, which has power 1 at frequency 0, on a white `floor`.
#[derive(Clone, Copy)]
struct Red {
    slow: f64,
    floor: f64,
    level: f64,
}

impl Red {
    fn all() -> impl Iterator<Item = Red> {
        let slow = (0..30).map(|i| 1e-4f64.powf(f64::from(i) / 29.0));
        slow.flat_map(|slow| {
            let floors = std::iter::once(0.0).chain((0..20).map(|i| 1e-6f64.powf(f64::from(i) / 20.0)));
            // White noise needs no floor.
            floors.take(if slow < 1.0 { 21 } else { 1 }).map(move |floor| Red { slow, floor, level: 1.0 })
        })
    }

    fn at(&self, turn: f64) -> f64 {
        let phi = 1.0 - self.slow;
        // 1 + φ² − 2φ cos ω, without the loss of digits for small ω.
        let distance = self.slow * self.slow + 4.0 * phi * (turn / 2.0).sin().powi(2);
        self.level * (self.floor + self.slow * self.slow / distance)
    }
}

/// The lower quartile of a χ² variable with 2 × `TAPERS` degrees of freedom over their number.
const QUARTILE: f64 = 0.5758;

/// How likely an estimate exceeds its expectation `ratio` times: the upper tail of χ² with 2 × `TAPERS` degrees of freedom.
fn tail(ratio: f64) -> f64 {
    let y = TAPERS as f64 * ratio;
    let (mut term, mut sum) = (1.0, 0.0);
    for i in 1..=TAPERS {
        sum += term;
        term *= y / i as f64;
    }
    if y.is_finite() { (-y).exp() * sum } else { 0.0 }
}

fn weighted_median(values: &[(f64, f64)]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = sorted.iter().map(|v| v.1).sum::<f64>() / 2.0;
    let mut sum = 0.0;
    sorted
        .iter()
        .find(|v| {
            sum += v.1;
            sum >= half
        })
        .map(|v| v.0)
}

/// From trough to crest of the mean cycle: over eight cycles at a time, so that a period that is not quite constant does not blur it; the median
/// of all such stretches, so that it is what most of the series does.
fn swing(x: &[f64], period: f64) -> Option<f64> {
    let bins = (period.round() as usize).clamp(SAMPLES as usize, 16);
    let length = (CYCLES * period).floor() as usize;
    let mut swings: Vec<f64> = Vec::new();
    for part in x.chunks_exact(length.max(1)) {
        let mut sums = vec![(0.0, 0.0); bins];
        for (i, v) in part.iter().enumerate() {
            let bin = ((i as f64 / period).fract() * bins as f64) as usize;
            if let Some((sum, count)) = sums.get_mut(bin) {
                (*sum, *count) = (*sum + v, *count + 1.0);
            }
        }
        let means = sums.iter().filter(|s| s.1 > 0.0).map(|s| s.0 / s.1);
        let (low, high) = means.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), m| (l.min(m), h.max(m)));
        swings.push(high - low);
    }
    swings.sort_by(f64::total_cmp);
    swings.get(swings.len() / 2).copied()
}

/// Discrete Fourier transform in place, of a power of two of samples (Cooley and Tukey 1965).
fn fourier(z: &mut [(f64, f64)]) {
    let n = z.len();
    let mut j = 0;
    for i in 1..n {
        let mut bit = n >> 1;
        while j & bit != 0 {
            j ^= bit;
            bit >>= 1;
        }
        j |= bit;
        if i < j {
            z.swap(i, j);
        }
    }
    let mut length = 2;
    while length <= n {
        let half = length / 2;
        let turns: Vec<(f64, f64)> =
            (0..half).map(|k| (-TAU * k as f64 / length as f64).sin_cos()).map(|(s, c)| (c, s)).collect();
        for part in z.chunks_exact_mut(length) {
            let (low, high) = part.split_at_mut(half);
            for ((a, b), (c, s)) in low.iter_mut().zip(high).zip(&turns) {
                let turned = (b.0 * c - b.1 * s, b.0 * s + b.1 * c);
                *b = (a.0 - turned.0, a.1 - turned.1);
                *a = (a.0 + turned.0, a.1 + turned.1);
            }
        }
        length *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::rng::Rng;

    fn ar(phi: f64, slow: &mut f64, rng: &mut Rng) -> f64 {
        *slow = phi * *slow + (1.0 - phi * phi).sqrt() * rng.normal();
        *slow
    }

    /// Noise of one kind. None of them is regular.
    fn noise(kind: usize, n: usize, rng: &mut Rng) -> Vec<f64> {
        let mut slow = 0.0;
        let mut left = 0.0;
        let mut on = false;
        let mut one = |i: usize, rng: &mut Rng| match kind {
            0 => 2.0 + rng.normal(),
            1 => ar(0.5, &mut slow, rng),
            2 => ar(0.9, &mut slow, rng),
            3 => ar(0.99, &mut slow, rng),
            // A drift with noise on top.
            4 => 3.0 * ar(0.98, &mut slow, rng) + 0.3 * rng.normal(),
            5 => {
                // A random walk.
                slow += rng.normal();
                slow
            }
            6 => {
                // On and off for random times.
                left -= 1.0;
                if left < 0.0 {
                    (on, left) = (!on, 20.0 * rng.exponential());
                }
                if on { 2.0 } else { 0.0 }
            }
            7 => {
                // Rare bursts.
                left -= 1.0;
                if rng.uniform() < 0.01 {
                    left = 30.0 * rng.exponential();
                }
                if left > 0.0 { 4.0 } else { 0.1 * rng.uniform() }
            }
            8 => {
                // Four threads with a will of their own, on two CPUs.
                let sum: f64 = (0..4).map(|_| rng.uniform()).sum();
                sum.min(2.0)
            }
            // A constant load with a step in it.
            _ => f64::from(u8::from(i > n / 3)) * 2.0 + 1.0 + 0.05 * rng.normal(),
        };
        (0..n).map(|i| one(i, rng)).collect()
    }

    /// How many of `runs` series of each kind and length give an alarm.
    fn alarms(runs: usize) -> Vec<(usize, usize, usize)> {
        let mut rng = Rng::new(7);
        let mut out = Vec::new();
        for kind in 0..10 {
            for n in [100, 250, 700, 3000] {
                let false_alarms =
                    (0..runs).filter(|_| sawtooth(&noise(kind, n, &mut rng), 0.01, 0.0).is_some()).count();
                out.push((kind, n, false_alarms));
            }
        }
        out
    }

    /// How many series of each kind are tried: `few`, or more for the figures of docs/method.md
    /// (`TWINSCOPE_SIMULATIONS=5000 cargo test --release -p twinscope-query sawtooth -- --nocapture`).
    fn runs(few: usize) -> usize {
        std::env::var("TWINSCOPE_SIMULATIONS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(few)
    }

    #[test]
    fn noise_is_silent() {
        let runs = runs(100);
        let found = alarms(runs);
        for (kind, n, found) in &found {
            eprintln!("noise {kind}, {n} slots: {found} false alarms in {runs}");
        }
        let all: usize = found.iter().map(|f| f.2).sum();
        assert!(found.iter().all(|f| f.2 * 100 <= 3 * runs) && all * 100 <= found.len() * runs, "{all}");
    }

    #[test]
    fn a_square_wave_is_found_in_noise() {
        let (runs, mut rng) = (runs(40), Rng::new(11));
        for (phi, deviation) in [(0.0, 0.5), (0.0, 1.0), (0.0, 2.0), (0.9, 0.5), (0.9, 1.0), (0.9, 2.0)] {
            for n in [300, 1000, 3000] {
                let (mut found, mut right) = (0, 0);
                for _ in 0..runs {
                    let mut slow = 0.0;
                    let mut one =
                        |i: usize| f64::from(u8::from(i % 24 < 12)) + deviation * ar(phi, &mut slow, &mut rng);
                    let x: Vec<f64> = (0..n).map(&mut one).collect();
                    if let Some(f) = sawtooth(&x, 0.01, 0.25) {
                        found += 1;
                        right += usize::from((f.period / 0.24 - 1.0).abs() < 0.05);
                    }
                }
                eprintln!("AR(1) {phi}, {deviation}, {n} slots: {found} of {runs} found, {right} with their period");
                // What stands out of the noise must be found; what does not may be missed.
                if deviation < 1.0 || (deviation < 2.0 && n >= 1000) {
                    assert!(
                        found * 100 >= 95 * runs && right * 100 >= 95 * found,
                        "{phi} {deviation} {n}: {found} {right}"
                    );
                }
            }
        }
    }

    /// A cycle of `period` slots, on for `part` of it, with every cycle's length off by `jitter`.
    fn cycle(n: usize, period: f64, part: f64, jitter: f64, rng: &mut Rng) -> Vec<f64> {
        let mut out = vec![0.0; n];
        let mut at = 0.0;
        while at < n as f64 {
            let length = period * (1.0 + jitter * rng.normal()).max(0.1);
            let (from, to) = (at, at + length * part);
            let mut i = from as usize;
            while (i as f64) < to && i < n {
                out[i] += (to.min(i as f64 + 1.0) - from.max(i as f64)).max(0.0);
                i += 1;
            }
            at += length;
        }
        out
    }

    #[test]
    fn swings_are_found() {
        let mut rng = Rng::new(3);
        for (n, period, part, jitter) in [
            (100, 8.0, 0.5, 0.0),
            (300, 24.0, 0.5, 0.02),
            (300, 6.3, 0.3, 0.0),
            (1000, 100.0, 0.5, 0.01),
            (1000, 24.0, 0.1, 0.02),
            (3000, 37.7, 0.8, 0.05),
            (6000, 24.0, 0.5, 0.1),
            (100_000, 24.0, 0.5, 0.02),
        ] {
            for level in [1.0, 4.0] {
                let drift = noise(2, n, &mut rng);
                let x: Vec<f64> = cycle(n, period, part, jitter, &mut rng)
                    .iter()
                    .zip(drift)
                    .map(|(c, d)| 1.0 + level * c + 0.15 * level * d)
                    .collect();
                let found = sawtooth(&x, 0.01, 0.25);
                let Some(f) = found else { panic!("{n} {period} {part} {jitter} {level}") };
                assert!((f.period / (0.01 * period) - 1.0).abs() < 0.05, "{period} {part} {jitter}: {f:?}");
                assert!(f.swing > 0.5 * level && f.swing < 1.4 * level, "{period} {part} {jitter} {level}: {f:?}");
                assert!(f.p <= P && f.share > 0.3 && f.share <= 1.0, "{f:?}");
            }
        }
    }

    #[test]
    fn a_cycle_of_unlike_halves_is_one() {
        let mut rng = Rng::new(4);
        // Every other crest is lower.
        let x: Vec<f64> = (0..1000)
            .map(|i| if i % 20 < 10 { if i % 40 < 20 { 4.0 } else { 2.0 } } else { 0.0 } + 0.2 * rng.normal())
            .collect();
        let found = sawtooth(&x, 0.01, 0.25).expect("a swing");
        assert!((found.period - 0.4).abs() < 0.01, "{found:?}");
    }

    #[test]
    fn what_most_of_the_time_is_not_there_is_none() {
        let mut rng = Rng::new(5);
        let x: Vec<f64> =
            (0..3000).map(|i| if i < 200 && i % 20 < 10 { 3.0 } else { 1.0 } + 0.05 * rng.normal()).collect();
        assert_eq!(sawtooth(&x, 0.01, 0.25), None);
    }

    #[test]
    fn odd_input_gives_nothing() {
        assert_eq!(sawtooth(&[], 0.01, 0.0), None);
        assert_eq!(sawtooth(&[2.0; 500], 0.01, 0.0), None);
        assert_eq!(sawtooth(&[0.1; 500], 0.01, 0.0), None);
        assert_eq!(sawtooth(&[f64::NAN; 500], 0.01, 0.0), None);
        assert_eq!(sawtooth(&[f64::MAX; 500], 0.01, 0.0), None);
        let ramp: Vec<f64> = (0..500).map(|i| f64::from(i) * 0.01).collect();
        assert_eq!(sawtooth(&ramp, 0.01, 0.25), None);
        let mut spike = vec![0.0; 500];
        spike[250] = 1e300;
        let _ = sawtooth(&spike, 0.01, 0.25);
    }

    #[test]
    fn the_tail_is_that_of_chi_squared() {
        // P(χ² > 6) = 8.5 e⁻³ and P(χ² > 30) = 128.5 e⁻¹⁵ with 6 degrees of freedom; the quartile is 3.4546.
        assert!((tail(1.0) - 0.423_190_081_126_843_5).abs() < 1e-12);
        assert!((tail(5.0) / 3.930_844_853_474_3e-5 - 1.0).abs() < 1e-6);
        assert!((tail(QUARTILE) - 0.75).abs() < 1e-3);
    }
}

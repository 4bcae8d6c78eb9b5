//! The busy window: the part of a recording in which the workload ran, without the idle time around it, its start-up and its
//! wind-down.
//!
//! Only what is idle, or clearly a ramp, is cut, and only at the ends. A long phase at a lower level, such as a serial phase at the
//! end, is part of the run: it may be what makes it slow.

/// What counts as idle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Idle {
    /// At or below this level nothing runs, however quiet the rest is. In the unit of the activity.
    pub below: f64,
    /// The level of one busy worker: 1 where the activity is CPU-seconds per second. Half of it is never idle, however
    /// busy the rest is: one thread of 64 that is still at work is work.
    pub worker: f64,
}

impl Default for Idle {
    fn default() -> Self {
        Idle { below: 0.1, worker: 1.0 }
    }
}

/// A stretch of time and why it was chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// Start, in the unit of the times.
    pub from: f64,
    /// End.
    pub to: f64,
    /// For people, such as "busy window found: activity above 0.1".
    pub why: String,
    /// Whether anything was cut.
    pub cut: bool,
}

/// With fewer samples than these nothing is cut.
const FEWEST: usize = 5;
/// A ramp is at most this part of the busy time; what is longer is a phase.
const RAMP: f64 = 0.15;

/// Finds the busy window of `activity`, each sample of which stands for `start[i]..end[i]`, in time order. NaN samples are
/// gaps: neither busy nor idle. `None` where there is no sample.
pub fn busy_window(start: &[f64], end: &[f64], activity: &[f64], idle: Idle) -> Option<Window> {
    let n = start.len().min(end.len()).min(activity.len());
    let (from, to) = (*start.first()?, *end.get(n.checked_sub(1)?)?);
    let whole = |why: &str| Some(Window { from, to, why: format!("whole recording: {why}"), cut: false });
    let known: Vec<usize> = (0..n).filter(|&i| activity[i].is_finite() && end[i] > start[i]).collect();
    if known.len() < FEWEST {
        let samples = match known.len() {
            1 => "1 sample is".to_owned(),
            n => format!("{n} samples are"),
        };
        return whole(&format!("{samples} too few to find a busy window"));
    }
    let x: Vec<f64> = known.iter().map(|&i| activity[i]).collect();
    let long: Vec<f64> = known.iter().map(|&i| end[i] - start[i]).collect();
    let positive: Vec<f64> = x.iter().copied().filter(|&v| v > idle.below).collect();
    let Some(high) = super::quantile::quantile(&positive, &vec![1.0; positive.len()], 0.9) else {
        return whole("idle throughout");
    };
    let level = idle.below.max((0.05 * high).min(0.5 * idle.worker));
    let busy: Vec<bool> = x.iter().map(|&v| v > level).collect();
    let Some((mut a, mut b)) = without_blips(&x, &long, &busy) else { return whole("idle throughout") };
    let idle_cut = a > 0 || b + 1 < x.len();
    let (up, down) = ramps(&x[a..=b]);
    a += up;
    b -= down;
    if !idle_cut && up + down == 0 {
        return whole("busy from start to end");
    }
    let (from, to) = (start[known[a]], end[known[b]]);
    let mut why = format!("busy window found: activity above {}", short(level));
    if up + down > 0 {
        why.push_str(match (up > 0, down > 0) {
            (true, true) => ", without start-up and wind-down",
            (true, false) => ", without start-up",
            _ => ", without wind-down",
        });
    }
    Some(Window { from, to, why, cut: true })
}

/// Three significant digits, without trailing zeros.
fn short(x: f64) -> String {
    if !(1e-4..1e6).contains(&x) {
        return format!("{x:.2e}");
    }
    let places = (2 - x.log10().floor() as i32).max(0) as usize;
    let text = format!("{x:.places$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// First and last busy sample, leaving out small bursts far from the rest at either end: a timer job before the workload starts
/// is not its start. Small: under 2 % of all activity above idle; far: a gap longer than the burst and than two samples.
fn without_blips(x: &[f64], long: &[f64], busy: &[bool]) -> Option<(usize, usize)> {
    let mut islands: Vec<(usize, usize, f64)> = Vec::new();
    for i in (0..x.len()).filter(|&i| busy[i]) {
        let area = x[i] * long[i];
        match islands.last_mut() {
            Some(last) if last.1 + 1 == i => {
                last.1 = i;
                last.2 += area;
            }
            _ => islands.push((i, i, area)),
        }
    }
    let total: f64 = islands.iter().map(|i| i.2).sum();
    let blip = |one: &(usize, usize, f64), gap: usize| one.2 < 0.02 * total && gap > 2.max(one.1 - one.0 + 1);
    let mut islands = islands.as_slice();
    while let [first, second, ..] = islands
        && blip(first, second.0 - first.1 - 1)
    {
        islands = &islands[1..];
    }
    while let [.., before, last] = islands
        && blip(last, last.0 - before.1 - 1)
    {
        islands = &islands[..islands.len() - 1];
    }
    Some((islands.first()?.0, islands.last()?.1))
}

/// Samples to cut at the start and at the end as ramps.
fn ramps(x: &[f64]) -> (usize, usize) {
    let back: Vec<f64> = x.iter().rev().copied().collect();
    (ramp(x), ramp(&back))
}

/// The marginal standard error rule (White, "An effective truncation heuristic for bias reduction in simulation output",
/// Simulation 69, 1997): cut as many samples as make the standard error of the mean of the rest least. It is believed where that
/// is reached within [`RAMP`], for what takes longer is a phase; where the cut is worth it; and
/// where each sample cut is off the rest on the same side.
fn ramp(x: &[f64]) -> usize {
    let n = x.len();
    let most = (RAMP * n as f64) as usize;
    if most < 1 || n < 2 * FEWEST {
        return 0;
    }
    let error = |cut: usize| {
        let rest = &x[cut..];
        let m = rest.len() as f64;
        let mean = rest.iter().map(|v| v / m).sum::<f64>();
        (rest.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (m * m), mean)
    };
    let none = error(0).0;
    // Looks twice as far as it may cut, and takes the first cut that is nearly as good as the best.
    let tried: Vec<(f64, f64)> = (0..=2 * most).map(error).collect();
    let best = tried.iter().fold(f64::INFINITY, |m, t| m.min(t.0));
    let Some(cut) = tried.iter().position(|t| t.0 <= 1.15 * best).filter(|c| (1..=most).contains(c)) else { return 0 };
    let (least, mean) = tried[cut];
    let spread = (least * (n - cut) as f64).sqrt();
    let off = |v: f64| v - mean;
    let together = x[..cut].iter().all(|&v| off(v) < 0.0) || x[..cut].iter().all(|&v| off(v) > 0.0);
    let far = x[..cut].iter().map(|&v| off(v).abs()).fold(0.0, f64::max) > 3.0 * spread;
    if least < 0.8 * none && together && far { cut } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The window of samples of one second each, and whether anything was cut.
    fn window(x: &[f64]) -> (f64, f64, bool) {
        let start: Vec<f64> = (0..x.len()).map(|i| i as f64).collect();
        let end: Vec<f64> = start.iter().map(|s| s + 1.0).collect();
        let w = busy_window(&start, &end, x, Idle::default()).unwrap();
        (w.from, w.to, w.cut)
    }

    fn parts(parts: &[(f64, usize)]) -> Vec<f64> {
        let levels = parts.iter().flat_map(|&(level, n)| std::iter::repeat_n(level, n));
        levels.enumerate().map(|(i, v)| v * (1.0 + 0.02 * ((i * 7 % 5) as f64 - 2.0))).collect()
    }

    #[test]
    fn idle_ends_go() {
        assert_eq!(window(&parts(&[(0.02, 10), (1.8, 30), (0.02, 10)])), (10.0, 40.0, true));
        assert_eq!(window(&parts(&[(0.02, 50)])), (0.0, 50.0, false));
        assert_eq!(window(&parts(&[(1.8, 50)])), (0.0, 50.0, false));
        assert_eq!(window(&[0.0; 20]), (0.0, 20.0, false));
    }

    #[test]
    fn ramps_go_and_phases_stay() {
        assert_eq!(window(&parts(&[(0.4, 1), (0.9, 1), (1.8, 38)])), (2.0, 40.0, true));
        assert_eq!(window(&parts(&[(1.8, 38), (0.6, 2)])), (0.0, 38.0, true));
        // A serial phase at the end, on 16 and on 64 CPUs, with idle time after it.
        assert_eq!(window(&parts(&[(16.0, 40), (1.0, 20), (0.02, 10)])), (0.0, 60.0, true));
        assert_eq!(window(&parts(&[(0.1, 5), (64.0, 40), (1.0, 20), (0.1, 10)])), (5.0, 65.0, true));
        // Two phases.
        assert_eq!(window(&parts(&[(1.8, 30), (0.7, 30)])), (0.0, 60.0, false));
    }

    #[test]
    fn sawtooth_blips_and_gaps() {
        let saw: Vec<f64> = (0..60).map(|i| 0.3 + f64::from(i % 10) / 10.0).collect();
        let (from, to, _) = window(&saw);
        assert!(from <= 3.0 && to >= 57.0, "{from} {to}");
        // A timer job 8 s before the workload.
        assert_eq!(window(&parts(&[(0.02, 2), (0.3, 1), (0.02, 8), (1.8, 30)])), (11.0, 41.0, true));
        // Idle inside stays.
        assert_eq!(window(&parts(&[(0.02, 5), (1.8, 15), (0.02, 10), (1.8, 15), (0.02, 5)])), (5.0, 45.0, true));
        let mut gaps = parts(&[(0.02, 10), (1.8, 30), (0.02, 10)]);
        gaps[3] = f64::NAN;
        gaps[20] = f64::NAN;
        assert_eq!(window(&gaps), (10.0, 40.0, true));
        assert_eq!(window(&[1.0, 2.0, 0.0]), (0.0, 3.0, false));
        assert_eq!(window(&[f64::NAN; 9]), (0.0, 9.0, false));
        assert_eq!(busy_window(&[], &[], &[], Idle::default()), None);
    }

    #[test]
    fn words() {
        assert_eq!([0.1, 0.5, 12.345, 1234.0, 1e-9].map(short), ["0.1", "0.5", "12.3", "1234", "1.00e-9"]);
    }
}

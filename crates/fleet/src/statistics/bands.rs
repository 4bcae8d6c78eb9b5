//! Whether the hosts of a fleet fall into bands by one metric, which host is in which, and who strays.
//!
//! There are two bands where three things hold: a smoothed bootstrap says that one mode, or two where three are seen, would not look so
//! ([`super::density`]; p is the smaller of the first and twice the second), the density at the valley is at most half of that at the lower peak, and
//! even and odd blocks of time put the hosts into the same bands (Cohen's κ). Each band is then asked again, up to five. Bands are found on the
//! even blocks, so that the odd ones can say what separates them.

use super::agree::kappa;
use super::density::{self, Draws};
use super::shown::{self, Shown};
use super::stray;
use query::stats::rng::Rng;
use query::stats::special::clopper_pearson;

pub use super::ask::{Answer, Ask, Banding, ask};

/// The density at a valley, over that of the lower peak, at most.
pub const DEPTH: f64 = 0.5;

/// Cohen's κ between the bands by even and by odd blocks, at least.
pub const KAPPA: f64 = 0.8;

/// Bands at most.
pub const MOST: usize = 5;

/// A band holds at least so many hosts, and [`SHARE`] of all.
pub const HOSTS: usize = 3;

/// The least share of all hosts that is a band.
pub const SHARE: f64 = 0.03;

/// Hosts of which the distances between any two are looked at, at most.
const PAIRED: usize = 200;

/// Probability that an interval leaves out the truth.
const ALPHA: f64 = 0.05;

/// One metric of all hosts. All slices have one place a host; NaN: the host lacks it.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a> {
    /// The metric's name, only for those who read.
    pub name: &'a str,
    /// Means over the whole window.
    pub whole: &'a [f64],
    /// Means over the even blocks of time.
    pub even: &'a [f64],
    /// Means over the odd blocks of time.
    pub odd: &'a [f64],
    /// Standard errors of `whole`; NaN where not known.
    pub error: &'a [f64],
}

/// A share of all hosts with its exact 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// Hosts in the band.
    pub count: usize,
    /// Hosts that are in any band.
    pub of: usize,
    /// Lower end of the interval, 0 to 1.
    pub low: f64,
    /// Upper end of the interval, 0 to 1.
    pub high: f64,
}

impl Share {
    /// `count` of `of`.
    pub fn new(count: usize, of: usize) -> Share {
        let (low, high) = clopper_pearson(count as u64, of as u64, ALPHA);
        Share { count, of, low, high }
    }
}

/// Hosts that go together.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// Which, ascending.
    pub members: Vec<usize>,
    /// Their least value over the whole window, in the unit of the metric.
    pub low: f64,
    /// Their greatest value.
    pub high: f64,
    /// Their median.
    pub middle: f64,
    /// Their robust deviation (1.4826 median deviations), of the natural logarithm where [`Found::logs`], else in the unit of the metric.
    pub deviation: f64,
    /// Their share of all hosts.
    pub share: Share,
}

/// A valley between two bands, or what was looked at as one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Valley {
    /// Where, in the unit of the metric.
    pub at: f64,
    /// The density there over that of the lower peak: 0 is a gap.
    pub depth: f64,
    /// Cohen's κ between bands by even and by odd blocks.
    pub kappa: f64,
    /// p-value of "one band". `None` where depth or κ had already said no.
    pub p: Option<f64>,
}

/// One host that lies beyond [`super::stray::far_among`] robust deviations of the nearest band, with at most one other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stray {
    /// Which.
    pub host: usize,
    /// The nearest band.
    pub band: usize,
    /// How many robust deviations it lies above it (negative: below).
    pub deviations: f64,
}

/// What one metric says about bands.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Ascending by value. One where there are no bands; none where no host has the metric.
    pub bands: Vec<Band>,
    /// Between them, ascending; one fewer.
    pub valleys: Vec<Valley>,
    /// The valley that was looked at first, whether it was believed or not. `None` where there is none at all.
    pub first: Option<Valley>,
    /// The band of each host. `None`: it lacks the metric, or strays.
    pub of: Vec<Option<usize>>,
    /// Hosts whose own 95 % interval holds a valley, or whose even and odd blocks lie on two sides of one.
    pub undecided: Vec<usize>,
    /// Hosts that stray.
    pub strays: Vec<Stray>,
    /// Three hosts and more that lie so far out of their band together, and are too few for a band.
    pub apart: Vec<Vec<usize>>,
    /// Whether logarithms were looked at: all values are positive.
    pub logs: bool,
    /// Where there are no bands: which ones would have been found in 4 of 5 such fleets.
    pub shown: Vec<Shown>,
}

impl Found {
    /// Whether there is more than one band.
    pub fn banded(&self) -> bool {
        self.bands.len() > 1
    }
}

/// How much of the variance between hosts is theirs, and not that of their short recordings, from 0 to 1: the covariance of even and odd blocks
/// over the variance of the whole, or what the hosts' own errors leave of that if it is less (blocks that depend on each other err alike). Errors of
/// short recordings are known badly, and none is larger than what hosts that lie together differ by. On
/// logarithms where all are positive. 0 with fewer than three hosts, or where all are alike.
pub fn spread(values: &Values) -> f64 {
    let hosts = Hosts::new(values);
    let n = hosts.index.len() as f64;
    if n < 3.0 {
        return 0.0;
    }
    let mean = |x: &[f64]| x.iter().sum::<f64>() / n;
    let covariance = |x: &[f64], y: &[f64]| {
        let (mx, my) = (mean(x), mean(y));
        x.iter().zip(y).map(|(a, b)| (a - mx) * (b - my)).sum::<f64>() / (n - 1.0)
    };
    let all = covariance(&hosts.whole, &hosts.whole);
    let share = (covariance(&hosts.even, &hosts.odd) / all).min(1.0 - hosts.own_error().powi(2) / all);
    // Rounding is no difference.
    let rounding = 1e-9 * if hosts.logs { 1.0 } else { mean(&hosts.whole).abs() };
    if all > rounding * rounding && share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
}

/// The hosts that have the metric, ascending by their even blocks; logarithms where all are positive.
struct Hosts {
    index: Vec<usize>,
    whole: Vec<f64>,
    even: Vec<f64>,
    odd: Vec<f64>,
    error: Vec<f64>,
    logs: bool,
    /// How many hosts there are, with those that lack it.
    all: usize,
}

impl Hosts {
    fn new(v: &Values) -> Hosts {
        let all = v.whole.len().min(v.even.len()).min(v.odd.len());
        let has = |i: &usize| v.whole[*i].is_finite() && v.even[*i].is_finite() && v.odd[*i].is_finite();
        let mut index: Vec<usize> = (0..all).filter(has).collect();
        index.sort_by(|&a, &b| {
            let key = |i: usize| (v.even[i], v.whole[i], v.odd[i]);
            let (a, b) = (key(a), key(b));
            a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.total_cmp(&b.2))
        });
        let logs = !index.is_empty() && index.iter().all(|&i| v.whole[i] > 0.0 && v.even[i] > 0.0 && v.odd[i] > 0.0);
        let scaled = |x: &[f64]| index.iter().map(|&i| if logs { x[i].ln() } else { x[i] }).collect::<Vec<f64>>();
        let (whole, even, odd) = (scaled(v.whole), scaled(v.even), scaled(v.odd));
        let error = |&i: &usize| {
            let e = v.error.get(i).copied().unwrap_or(f64::NAN);
            if logs { e / v.whole[i] } else { e }
        };
        Hosts { error: index.iter().map(error).collect(), index, whole, even, odd, logs, all }
    }

    fn value(&self, scaled: f64) -> f64 {
        if self.logs { scaled.exp() } else { scaled }
    }

    /// The deviation that the hosts' own errors make, at least.
    fn floor(&self) -> f64 {
        let mut errors: Vec<f64> = self.error.iter().copied().filter(|e| e.is_finite()).collect();
        errors.sort_by(f64::total_cmp);
        errors.get(errors.len() / 2).copied().unwrap_or(0.0)
    }

    /// The same, as far as hosts that lie together differ by as much: Qn (Rousseeuw and Croux, "Alternatives to the Median Absolute Deviation",
    /// Journal of the American Statistical Association 88, 1993), 2.22 times the first quartile of the distances between any two, which are
    /// those within bands where there are some.
    fn own_error(&self) -> f64 {
        let mut x = self.whole.clone();
        x.sort_by(f64::total_cmp);
        // Of many hosts some, evenly from the least to the greatest, lie as far apart.
        let x: Vec<f64> = x.iter().copied().step_by(x.len().div_ceil(PAIRED).max(1)).collect();
        let pairs = x.iter().enumerate().flat_map(|(i, a)| x.iter().take(i).map(move |b| (a - b).abs()));
        let mut distances: Vec<f64> = pairs.collect();
        let at = distances.len() / 4;
        if at == 0 {
            return self.floor();
        }
        let (_, quartile, _) = distances.select_nth_unstable_by(at, f64::total_cmp);
        self.floor().min(2.2219 * *quartile)
    }

    /// Hosts that a band has at least.
    fn least(&self) -> usize {
        HOSTS.max((SHARE * self.index.len() as f64).ceil() as usize)
    }
}

/// A part of the kept hosts that a valley divides.
struct Split {
    at: f64,
    below: usize,
    valley: Valley,
}

/// One metric looked at, before anybody says how sure one must be.
pub(super) struct Look {
    hosts: Hosts,
    /// Places in `hosts` of those that do not stray, ascending by even blocks.
    kept: Vec<usize>,
    first: Option<Split>,
    draws: Draws,
    seed: u64,
}

impl Look {
    pub(super) fn new(values: &Values, draws: Draws, seed: u64) -> Look {
        let hosts = Hosts::new(values);
        let numbered: Vec<(usize, f64)> = hosts.whole.iter().copied().enumerate().collect();
        let strays = stray::far(&numbered, hosts.floor()).strays;
        let kept: Vec<usize> = (0..hosts.index.len()).filter(|i| strays.binary_search(i).is_err()).collect();
        let mut look = Look { hosts, kept, first: None, draws, seed };
        look.first = look.split(0, look.kept.len());
        look
    }

    /// p-value of "one band": 1 where there is no valley that could be believed.
    pub(super) fn p(&self) -> f64 {
        self.first.as_ref().and_then(|s| s.valley.p).unwrap_or(1.0)
    }

    /// Looks for a valley among the kept hosts `from..to`.
    fn split(&self, from: usize, to: usize) -> Option<Split> {
        let part = &self.kept[from..to];
        let least = self.hosts.least();
        let even: Vec<f64> = part.iter().map(|&i| self.hosts.even[i]).collect();
        let critical = density::critical(&even, least, 2)?;
        let v = density::valley(&even, critical.cut, least)?;
        let by = |x: &[f64]| part.iter().map(|&i| usize::from(x[i] >= v.at)).collect::<Vec<usize>>();
        let kappa = kappa(&by(&self.hosts.even), &by(&self.hosts.odd));
        let p = (v.depth <= DEPTH && kappa >= KAPPA).then(|| {
            let of = |width, modes| density::fewer(&even, least, width, modes, self.draws, &mut Rng::new(self.seed));
            let two = of(critical.width, 2);
            // Of three bands alike any two look like one wide one to the first question.
            let three = density::critical(&even, least, 3).map_or(1.0, |c| of(c.width, 3));
            two.min(2.0 * three)
        });
        let valley = Valley { at: self.hosts.value(v.at), depth: v.depth, kappa, p };
        Some(Split { at: v.at, below: v.below, valley })
    }

    /// The bands at this level.
    pub(super) fn judge(self, level: f64) -> Found {
        let mut cuts: Vec<(f64, Valley)> = Vec::new();
        if let Some(s) = self.first.as_ref().filter(|s| s.valley.p.is_some_and(|p| p <= level)) {
            cuts.push((s.at, s.valley));
            let mut parts = vec![(0, s.below), (s.below, self.kept.len())];
            while let Some((from, to)) = parts.pop() {
                if cuts.len() + 1 >= MOST {
                    break;
                }
                // Two parts and more are asked: each may err half as often.
                if let Some(s) = self.split(from, to).filter(|s| s.valley.p.is_some_and(|p| p <= level / 2.0)) {
                    cuts.push((s.at, s.valley));
                    parts.push((from + s.below, to));
                    parts.push((from, from + s.below));
                }
            }
        }
        cuts.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.found(&cuts)
    }

    fn found(self, cuts: &[(f64, Valley)]) -> Found {
        let h = &self.hosts;
        let band = |v: f64| cuts.partition_point(|c| c.0 <= v);
        let bands = if h.index.is_empty() { 0 } else { cuts.len() + 1 };
        // Those that were kept say how wide their band is, all are then measured by the nearest.
        let mut middles = Vec::new();
        for b in 0..bands {
            let mut of: Vec<f64> = self.kept.iter().filter(|&&i| band(h.even[i]) == b).map(|&i| h.whole[i]).collect();
            of.sort_by(f64::total_cmp);
            middles.push(stray::middle(&of, h.floor()));
        }
        let kept: Vec<bool> = {
            let mut kept = vec![false; h.index.len()];
            self.kept.iter().for_each(|&i| kept[i] = true);
            kept
        };
        let nearest = |v: f64| {
            let off = |b: &usize| ((v - middles[*b].0) / middles[*b].1).abs();
            (0..bands).min_by(|a, b| off(a).total_cmp(&off(b))).unwrap_or(0)
        };
        let at: Vec<usize> =
            (0..h.index.len()).map(|i| if kept[i] { band(h.even[i]) } else { nearest(h.whole[i]) }).collect();
        let mut found = Found {
            bands: Vec::new(),
            valleys: cuts.iter().map(|c| c.1).collect(),
            first: self.first.as_ref().map(|s| s.valley),
            of: vec![None; h.all],
            undecided: Vec::new(),
            strays: Vec::new(),
            apart: Vec::new(),
            logs: h.logs,
            shown: Vec::new(),
        };
        for (b, &(middle, deviation)) in middles.iter().enumerate() {
            let members: Vec<(usize, f64)> =
                (0..h.index.len()).filter(|&i| at[i] == b).map(|i| (i, h.whole[i])).collect();
            let far = stray::far(&members, h.floor());
            found.strays.extend(far.strays.iter().map(|&i| Stray {
                host: h.index[i],
                band: b,
                deviations: (h.whole[i] - middle) / deviation,
            }));
            for group in &far.groups {
                let mut hosts: Vec<usize> = group.iter().map(|&i| h.index[i]).collect();
                hosts.sort_unstable();
                found.apart.push(hosts);
            }
            let stay: Vec<usize> =
                members.iter().map(|m| m.0).filter(|i| far.strays.binary_search(i).is_err()).collect();
            stay.iter().for_each(|&i| found.of[h.index[i]] = Some(b));
            let ends = stay
                .iter()
                .fold((f64::INFINITY, f64::NEG_INFINITY), |e, &i| (e.0.min(h.whole[i]), e.1.max(h.whole[i])));
            let mut hosts: Vec<usize> = stay.iter().map(|&i| h.index[i]).collect();
            hosts.sort_unstable();
            found.bands.push(Band {
                members: hosts,
                low: h.value(ends.0),
                high: h.value(ends.1),
                middle: h.value(middle),
                deviation,
                share: Share::new(0, 0),
            });
        }
        let all = found.bands.iter().map(|b| b.members.len()).sum();
        found.bands.iter_mut().for_each(|b| b.share = Share::new(b.members.len(), all));
        let holds = |i: usize| {
            let reach = 1.96 * if h.error[i].is_finite() { h.error[i] } else { 0.0 };
            band(h.even[i]) != band(h.odd[i]) || band(h.whole[i] - reach) != band(h.whole[i] + reach)
        };
        found.undecided =
            (0..h.index.len()).filter(|&i| found.of[h.index[i]].is_some() && holds(i)).map(|i| h.index[i]).collect();
        found.undecided.sort_unstable();
        found.strays.sort_by_key(|s| s.host);
        if cuts.is_empty()
            && let Some(&(middle, deviation)) = middles.first()
        {
            found.shown = shown::shown(self.kept.len(), h.value(middle), deviation, h.logs);
        }
        found
    }
}

/// How many samples are needed to be sure at this level, and how many with two modes are enough.
pub(super) fn draws(level: f64) -> Draws {
    let most = ((10.0 / level.clamp(1e-5, 1.0)).ceil() as usize).clamp(999, 49_999);
    // Once p must exceed the level it is enough; 20 give p itself to a fifth.
    Draws { most, enough: 20.max((level * (most + 1) as f64).ceil() as usize + 1) }
}

/// Looks for bands of the hosts by one metric, so sure that a fleet without any is told to have some with a probability of at most `level`.
/// Equal seeds give equal answers.
pub fn find(values: &Values, level: f64, seed: u64) -> Found {
    Look::new(values, draws(level), seed).judge(level)
}

#[cfg(test)]
mod tests {
    use super::super::synthetic::{self, Shape};
    use super::*;

    fn of(shape: Shape, hosts: usize, seed: u64) -> Found {
        find(&synthetic::metric(shape, hosts, 0.05, &mut Rng::new(seed)).values("pace"), 0.05, 1)
    }

    #[test]
    fn one_in_eight_is_found_with_its_share() {
        let found = of(Shape::OneInEight, 128, 3);
        assert_eq!(found.bands.len(), 2, "{found:?}");
        let (fast, slow) = (&found.bands[0], &found.bands[1]);
        assert!(
            (15..=16).contains(&fast.members.len()) && fast.share.low < 0.125 && fast.share.high > 0.125,
            "{fast:?}"
        );
        assert!(fast.high < found.valleys[0].at && slow.middle / fast.middle > 2.2 && found.logs);
        assert!(found.shown.is_empty() && found.valleys[0].p.unwrap() <= 0.05);
    }

    #[test]
    fn errors_of_short_recordings_hide_no_bands_that_lie_apart() {
        // Six hosts at twice the pace of twenty; of half a second each, whose errors are thought to be 40 %.
        let fleet = |between: f64| {
            let mut rng = Rng::new(7);
            let mut metric = synthetic::Metric::default();
            for host in 0..26 {
                let level = if host < 6 { 100.0 * between } else { 100.0 };
                let (even, odd) = (level * (1.0 + 0.04 * rng.normal()), level * (1.0 + 0.04 * rng.normal()));
                metric.even.push(even);
                metric.odd.push(odd);
                metric.whole.push(f64::midpoint(even, odd));
                metric.error.push(0.4 * level);
            }
            metric
        };
        let found = |between: f64| {
            let metric = fleet(between);
            let answer = ask(&[metric.values("throughput")], &Ask::default());
            answer.found[0].as_ref().map_or(Vec::new(), |found| found.bands.iter().map(|b| b.members.len()).collect())
        };
        assert_eq!(found(2.0), [20, 6]);
        assert_eq!(found(1.0), [0usize; 0], "nothing is asked where all are alike");
    }

    #[test]
    fn one_band_says_what_it_would_have_shown() {
        let found = of(Shape::Strays(2), 64, 5);
        assert_eq!((found.bands.len(), found.shown.len()), (1, 3));
        let strays: Vec<(usize, bool)> = found.strays.iter().map(|s| (s.host, s.deviations > 0.0)).collect();
        assert_eq!(strays, [(0, true), (1, false)]);
        assert!(found.of[0].is_none() && found.of[2] == Some(0));
    }

    #[test]
    fn few_hosts_and_odd_values_are_no_trouble() {
        let x = [1.0, f64::NAN, 2.0, f64::INFINITY, -3.0];
        for n in 0..=x.len() {
            let x = &x[..n];
            let found = find(&Values { name: "", whole: x, even: x, odd: x, error: &[] }, 0.05, 1);
            assert!(!found.banded() && found.of.len() == n);
        }
        let same = [7.0; 40];
        let v = Values { name: "", whole: &same, even: &same, odd: &same, error: &[f64::NAN; 40] };
        assert!(!find(&v, 0.05, 1).banded() && spread(&v) == 0.0);
        // Two values and nothing else are two bands.
        let two: Vec<f64> = (0..40).map(|i| if i % 4 == 0 { 0.0 } else { 5.0 }).collect();
        let found = find(&Values { name: "", whole: &two, even: &two, odd: &two, error: &[] }, 0.05, 1);
        assert_eq!(found.bands.iter().map(|b| b.members.len()).collect::<Vec<_>>(), [10, 30], "{found:?}");
    }

    #[test]
    fn the_spread_is_the_hosts_own_or_noise() {
        let mut rng = Rng::new(2);
        let own = synthetic::metric(Shape::Normal, 200, 0.05, &mut rng);
        let noise = synthetic::recorded(&[100.0; 200], 0.05, &mut rng);
        assert!(spread(&own.values("")) > 0.8);
        assert!(spread(&noise.values("")) < 0.3, "{}", spread(&noise.values("")));
    }
}

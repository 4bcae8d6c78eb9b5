//! What pairs say of a variant and what it is held against: better, worse, the same, or not decided, and how many blocks would
//! decide it.
//!
//! The numbers are differences of logarithms, one of each block ([`crate::blocks::Series::pairs`]). A look is an estimate with
//! its interval at the level of this look ([`query::stats::pairs`]); a verdict follows from the interval alone, so what is said
//! is what is seen.

use query::stats::pairs::{self, looks, wager};
use query::stats::special::{normal_quantile, normal_two_sided, t_critical};
use serde::{Deserialize, Serialize};

/// How a comparison ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The interval lies on the better side of 1.
    Better,
    /// It lies on the worse side.
    Worse,
    /// All of it is within the least change that matters, be 1 in it or not.
    Same,
    /// None of these when the blocks were used up, or it would be better but failed too often.
    NotDecided,
}

/// What an interval is made by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// Exact signed ranks.
    SignedRanks,
    /// Student's t of the pairs.
    Student,
    /// The wager on signs, which holds whenever one looks.
    Wager,
}

/// What was seen at a look. Differences are of logarithms: e to their power are factors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Look {
    /// After how many pairs.
    pub pairs: usize,
    /// By which method.
    pub by: By,
    /// The probability with which this interval leaves out the truth.
    pub level: f64,
    /// Hodges and Lehmann's estimate, or the mean for Student's t.
    pub estimate: f64,
    /// The interval; `None` where so few pairs have none at this level.
    pub interval: Option<[f64; 2]>,
    /// The verdict, where this look ends the comparison.
    pub verdict: Option<Verdict>,
    /// After how many pairs in all it will probably be decided, where it is not; `None` where 240 will not do, or it is.
    pub needs: Option<usize>,
}

/// Which of the two failed in more than one of ten trials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fails {
    /// The variant.
    pub variant: bool,
    /// What it is held against.
    pub against: bool,
}

/// When a comparison is looked at, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// After how many pairs.
    looks: Vec<usize>,
    by: By,
    /// The level of each of these looks.
    level: f64,
    /// The level of the early look, where there is one.
    early: Option<f64>,
    /// The probability of a wrong call that this comparison may use up, all looks together.
    total: f64,
    /// The least change that matters, a difference of logarithms.
    effect: f64,
    /// 1 where more is better, −1 where less is.
    sign: f64,
    /// Whether Student's t takes the place of ranks where there are too few pairs for these.
    few: bool,
}

impl Rule {
    /// Planned looks up to `blocks` pairs, and the early one; wrong with a probability of `total` (the early look apart).
    pub fn planned(blocks: usize, total: f64, effect: f64, sign: f64) -> Rule {
        let early = Some(looks::EARLY_LEVEL * total / 0.05);
        let level = looks::level(blocks, total);
        Rule { looks: looks::planned(blocks), by: By::SignedRanks, level, early, total, effect, sign, few: false }
    }

    /// One look after so many pairs.
    pub fn once(blocks: usize, total: f64, effect: f64, sign: f64) -> Rule {
        Rule { looks: vec![blocks], by: By::SignedRanks, level: total, early: None, total, effect, sign, few: false }
    }

    /// One look after four pairs, by Student's t.
    pub fn quick(total: f64, effect: f64, sign: f64) -> Rule {
        Rule { by: By::Student, ..Rule::once(looks::EARLY, total, effect, sign) }
    }

    /// This one, by Student's t where there are too few pairs for ranks to call anything.
    pub fn or_student(self) -> Rule {
        Rule { few: true, ..self }
    }

    /// This one, when it goes on after its end: by the wager, after each pair.
    pub(crate) fn extended(&self) -> Rule {
        Rule { looks: Vec::new(), by: By::Wager, level: self.total, early: None, ..self.clone() }
    }

    /// Whether a look is due after so many pairs, the last having been after `looked`.
    pub(crate) fn due(&self, pairs: usize, looked: usize) -> bool {
        pairs > looked && (self.by == By::Wager || self.looks.contains(&pairs) || self.early_at(pairs))
    }

    fn early_at(&self, pairs: usize) -> bool {
        self.early.is_some() && pairs == looks::EARLY
    }

    /// The most pairs.
    pub(crate) fn most(&self) -> usize {
        self.looks.last().copied().unwrap_or(0)
    }

    /// A look at the pairs `d`, in the order in which they came. At the `last` one the comparison ends however it stands.
    /// `None` without pairs, and where the early look has nothing to say.
    pub fn look(&self, d: &[f64], last: bool, fails: Fails) -> Option<Look> {
        if self.early_at(d.len()) && !last {
            let level = self.early?;
            let effect = looks::early(d, level)?;
            let verdict = self.verdict([effect.low, effect.high], fails)?;
            let interval = Some([effect.low, effect.high]);
            return Some(Look {
                pairs: d.len(),
                by: By::Student,
                level,
                estimate: effect.estimate,
                interval,
                verdict: Some(verdict),
                needs: None,
            });
        }
        let few = self.few && self.by == By::SignedRanks && pairs::least_p(d.len()) > self.level;
        let by = if few && d.len() >= looks::EARLY { By::Student } else { self.by };
        let effect = match by {
            By::Student => looks::student(d, self.level).or_else(|| pairs::shift(d, self.level))?,
            By::SignedRanks | By::Wager => pairs::shift(d, self.level)?,
        };
        let (low, high) = match self.by {
            By::Wager => wager::interval(d, 1.0 / self.level)?,
            _ => (effect.low, effect.high),
        };
        let interval = (low.is_finite() && high.is_finite()).then_some([low, high]);
        let verdict = interval.and_then(|i| self.verdict(i, fails));
        // The wager's intervals shrink in no way that could be told before.
        let needs = if verdict.is_none() && self.by != By::Wager { self.needs(d) } else { None };
        let verdict = verdict.or(last.then_some(Verdict::NotDecided));
        Some(Look { pairs: d.len(), by, level: self.level, estimate: effect.estimate, interval, verdict, needs })
    }

    /// What an interval says.
    fn verdict(&self, [low, high]: [f64; 2], fails: Fails) -> Option<Verdict> {
        if low > -self.effect && high < self.effect {
            return Some(Verdict::Same);
        }
        let up = if low > 0.0 {
            true
        } else if high < 0.0 {
            false
        } else {
            return None;
        };
        // Neither is called better than the other where it fails too often.
        match up == (self.sign > 0.0) {
            true if !fails.variant => Some(Verdict::Better),
            false if !fails.against => Some(Verdict::Worse),
            _ => None,
        }
    }

    /// The number of pairs after which the comparison is probably decided ([`SURE`]), one of [`looks::PLANNED`].
    ///
    /// What is known so far is taken as a distribution of the true difference (Student's t around the estimate) and of the
    /// scatter (χ²), and for each number of pairs the probability that its interval will exclude 0 or lie within the least change
    /// that matters is averaged over it: the predictive power of Spiegelhalter, Freedman and Blackburn ("Monitoring clinical
    /// trials: conditional or predictive power?", Controlled Clinical Trials 7, 1986). The scatter is that of the ranks' interval or of
    /// the mean, whichever is greater: of few pairs a single one that is far out hides in the one or the other.
    fn needs(&self, d: &[f64]) -> Option<usize> {
        let n = d.len() as f64;
        if d.len() < looks::EARLY {
            return None;
        }
        let df = n - 1.0;
        let one = normal_two_sided(1.0);
        let mean = looks::student(d, one)?;
        let deviation = (mean.high - mean.low) / 2.0 / t_critical(one, df);
        let ranks = pairs::shift(d, one).filter(|e| e.low.is_finite() && e.high.is_finite());
        let (estimate, error) = match ranks {
            Some(e) => (e.estimate, ((e.high - e.low) / 2.0).max(deviation)),
            None => (mean.estimate, deviation),
        };
        if error <= 0.0 {
            return looks::PLANNED.into_iter().find(|look| *look > d.len());
        }
        // Wilson and Hilferty: the cube root of χ² is nearly normal.
        let share = 2.0 / (9.0 * df);
        let scatters = GRID.map(|p| {
            let chi = (1.0 - share + normal_quantile(p) * share.sqrt()).powi(3).max(0.05);
            error * n.sqrt() / chi.sqrt()
        });
        let truths = GRID.map(|p| {
            let t = if p == 0.5 { 0.0 } else { t_critical(2.0 * p.min(1.0 - p), df).copysign(p - 0.5) };
            estimate + t * error
        });
        let probable = |pairs: usize| {
            let level = if pairs <= self.most() { self.level } else { looks::level(pairs, self.total) };
            let z = -normal_quantile(level / 2.0);
            let m = pairs as f64;
            let of = |scatter: f64, truth: f64| {
                let reach = z * scatter / (m * RANKS).sqrt();
                // n of the m pairs are there already.
                let mean = truth + n / m * (estimate - truth);
                let below = |x: f64| normal((x - mean) / (scatter * (m - n).sqrt() / m));
                let room = self.effect - reach;
                if room >= reach {
                    return 1.0;
                }
                let same = if room > 0.0 { below(room) - below(-room) } else { 0.0 };
                below(-reach) + 1.0 - below(reach) + same
            };
            let sum: f64 = scatters.iter().flat_map(|s| truths.iter().map(|t| of(*s, *t))).sum();
            sum / (scatters.len() * truths.len()) as f64
        };
        looks::PLANNED.into_iter().find(|m| *m > d.len() && probable(*m) >= SURE)
    }
}

/// How probable a decision is after the blocks that are predicted.
pub const SURE: f64 = 0.9;

/// Places in the distributions of what is not known: the middles of seven equal parts.
const GRID: [f64; 7] = [1.0 / 14.0, 3.0 / 14.0, 5.0 / 14.0, 0.5, 9.0 / 14.0, 11.0 / 14.0, 13.0 / 14.0];

/// How much of normal differences ranks make use of: 3 ÷ π (Pitman).
const RANKS: f64 = 0.955;

/// P(Z ≤ z) for the standard normal.
fn normal(z: f64) -> f64 {
    let tail = 0.5 * normal_two_sided(z);
    if z < 0.0 { tail } else { 1.0 - tail }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Fails = Fails { variant: false, against: false };

    fn rule() -> Rule {
        Rule::planned(30, 0.05, 0.03, -1.0)
    }

    fn around(centre: f64, scatter: f64, n: usize) -> Vec<f64> {
        (0..n).map(|i| centre + scatter * ((i * 7 % n) as f64 / (n - 1) as f64 - 0.5)).collect()
    }

    #[test]
    fn verdicts_follow_from_the_interval() {
        let at = |centre, scatter, last| rule().look(&around(centre, scatter, 15), last, NONE).unwrap();
        // Less is better here.
        assert_eq!(at(-0.08, 0.1, false).verdict, Some(Verdict::Better));
        assert_eq!(at(0.08, 0.1, false).verdict, Some(Verdict::Worse));
        assert_eq!(at(0.0, 0.05, false).verdict, Some(Verdict::Same));
        assert_eq!(at(0.01, 0.01, false).verdict, Some(Verdict::Same), "sure, and too small to matter");
        let open = at(0.02, 0.15, false);
        assert_eq!(open.verdict, None);
        assert!(open.needs.is_some_and(|n| n > 15), "{open:?}");
        assert_eq!(at(0.02, 0.15, true).verdict, Some(Verdict::NotDecided));
        assert_eq!((open.pairs, open.level, open.by), (15, 0.0164, By::SignedRanks));
        // Three pairs have no interval, and no end to promise.
        let few = rule().look(&[0.1, 0.2, 0.1], true, NONE).unwrap();
        assert_eq!((few.interval, few.verdict, few.needs), (None, Some(Verdict::NotDecided), None));
        assert_eq!(rule().look(&[], true, NONE), None);
    }

    #[test]
    fn what_fails_is_not_called_better() {
        let d = around(-0.3, 0.1, 15);
        let variant = Fails { variant: true, against: false };
        let look = rule().look(&d, false, variant).unwrap();
        assert_eq!(look.verdict, None);
        assert_eq!(rule().look(&d, true, variant).unwrap().verdict, Some(Verdict::NotDecided));
        // Worse it may be called, and what it is held against may fail.
        assert_eq!(rule().look(&around(0.3, 0.1, 15), false, variant).unwrap().verdict, Some(Verdict::Worse));
        let against = Fails { variant: false, against: true };
        assert_eq!(rule().look(&d, false, against).unwrap().verdict, Some(Verdict::Better));
        assert_eq!(rule().look(&around(0.3, 0.1, 15), true, against).unwrap().verdict, Some(Verdict::NotDecided));
    }

    #[test]
    fn looks_are_made_where_they_are_planned() {
        let due = |rule: &Rule| (1..=31).filter(|n| rule.due(*n, 0)).collect::<Vec<_>>();
        assert_eq!(due(&rule()), [4, 8, 11, 15, 21, 30]);
        assert_eq!(due(&Rule::once(12, 0.01, 0.03, 1.0)), [12]);
        assert_eq!(due(&Rule::quick(0.05, 0.03, 1.0)), [4]);
        assert!(!rule().due(15, 15));
        assert_eq!(due(&rule().extended()).len(), 31);
        // After four only what is plain, by Student's t.
        let early = rule().look(&[-0.4, -0.41, -0.4, -0.39], false, NONE).unwrap();
        assert_eq!((early.verdict, early.by, early.level), (Some(Verdict::Better), By::Student, 0.002));
        assert_eq!(rule().look(&[-0.04, -0.041, -0.04, -0.039], false, NONE), None);
        assert_eq!(rule().look(&[-0.4; 4], false, Fails { variant: true, against: false }), None);
        let quick = Rule::quick(0.05, 0.03, 1.0).look(&[0.04, 0.041, 0.04, 0.039], true, NONE).unwrap();
        assert_eq!((quick.verdict, quick.by), (Some(Verdict::Better), By::Student));
    }

    #[test]
    fn more_scatter_needs_more_blocks() {
        let needs = |centre, scatter| rule().look(&around(centre, scatter, 8), false, NONE).unwrap().needs;
        let wide: Vec<_> = [0.1, 0.15, 0.25, 0.4].into_iter().map(|s| needs(0.03, s).unwrap_or(999)).collect();
        assert!(wide.windows(2).all(|w| w[0] <= w[1]) && wide[0] < wide[3], "{wide:?}");
        assert_eq!(needs(0.0, 9.0), None, "no number of blocks will do");
        // Halfway between nothing and what matters is the hardest.
        assert!(needs(0.015, 0.15) >= needs(0.05, 0.15), "{:?} {:?}", needs(0.015, 0.15), needs(0.05, 0.15));
    }
}

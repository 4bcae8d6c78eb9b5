//! A sweep: all points in each block. No differences are called; there are intervals, the best point, and those that are not to
//! be told from it.

use crate::stage::{Kind, Stage};
use crate::{Design, Session};
use query::stats::pairs::looks;

pub(crate) fn stage(session: &Session, points: usize) -> Option<Stage> {
    session
        .stages()
        .is_empty()
        .then(|| Stage::new(Kind::Sweep, (0..points).collect(), Vec::new(), session.plan().blocks))
}

/// What is known of a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Which one.
    pub point: usize,
    /// Geometric mean of the judged measure over the blocks; NaN without any.
    pub mean: f64,
    /// Its 95 % interval by Student's t of the logarithms; `None` with fewer than two blocks. The machine's moods are in it,
    /// which two points share.
    pub interval: Option<[f64; 2]>,
    /// The point ÷ the best one with its 95 % interval, from pairs: without what both share. `None` for the best.
    pub of_best: Option<(f64, [f64; 2])>,
    /// Whether it may be the best: no other is better, at a level at which the true best is left out in 5 % at most.
    pub may_be_best: bool,
    /// Trials, and how many of them failed.
    pub trials: (usize, usize),
}

/// What is known of each point.
pub fn points(session: &Session) -> Vec<Point> {
    let (Design::Sweep { points }, Some(stage), Some(measure)) =
        (&session.plan().design, session.stages().last(), session.plan().measures.first())
    else {
        return Vec::new();
    };
    let sign = measure.better.sign();
    let series = &stage.series;
    let logs = |p: usize| series.values(p, 0).flatten().map(f64::ln).collect::<Vec<f64>>();
    let mean = |p: usize| {
        let logs = logs(p);
        logs.iter().sum::<f64>() / logs.len() as f64
    };
    let better = |p: usize, q: usize| sign * mean(p) > sign * mean(q);
    let best = (0..*points)
        .filter(|p| mean(*p).is_finite() && !series.fails(*p))
        .reduce(|best, p| if better(p, best) { p } else { best });
    // The true best is left out only if one of the others seems better (Hsu, "Multiple comparisons", 1996, ch. 4), and that is
    // one-sided.
    let alpha = 2.0 * session.plan().wrong / points.saturating_sub(1).max(1) as f64;
    let beaten = |p: usize| {
        (0..*points).filter(|q| *q != p && !series.fails(*q)).any(|q| {
            // Few blocks have no interval by ranks; then by Student's t.
            let times = super::shown(stage, q, p, 0, alpha.min(1.0));
            times.is_some_and(|(_, [low, high])| if sign > 0.0 { low > 1.0 } else { high < 1.0 })
        })
    };
    (0..*points)
        .map(|p| Point {
            point: p,
            mean: mean(p).exp(),
            interval: looks::student(&logs(p), 0.05).map(|e| [e.low.exp(), e.high.exp()]),
            of_best: best.filter(|b| *b != p).and_then(|b| super::shown(stage, p, b, 0, 0.05)),
            may_be_best: mean(p).is_finite() && !series.fails(p) && !beaten(p),
            trials: series.trials(p),
        })
        .collect()
}

/// The measured values by block and point, those of blocks in which all points succeeded: for [`crate::scaling`].
pub fn complete(session: &Session) -> Vec<Vec<f64>> {
    let Some(stage) = session.stages().last() else { return Vec::new() };
    let values = |block: usize| {
        let of = |p: &usize| stage.series.values(*p, 0).nth(block).flatten();
        stage.variants.iter().map(of).collect::<Option<Vec<f64>>>()
    };
    (0..stage.series.blocks.len()).filter_map(values).collect()
}

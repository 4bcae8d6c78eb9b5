//! What each design asks, stage by stage, and what comes out.

pub mod ab;
pub mod factorial;
pub mod ladder;
pub mod search;
pub mod sweep;

use crate::judge::{By, Look, Verdict};
use crate::stage::{Comparison, Stage};
use crate::{Design, Session};
use query::stats::pairs::{self, looks};

/// The stage that follows those of the session; `None` where there is none.
pub(crate) fn next_stage(session: &Session) -> Option<Stage> {
    let mut stage = match &session.plan().design {
        Design::Ab { variants } => ab::stage(session, *variants),
        Design::Ladder { steps, table, .. } => ladder::stage(session, steps.len(), *table),
        Design::Sweep { points } => sweep::stage(session, *points),
        Design::Search { variants, .. } => search::stage(session, *variants),
        Design::Factorial { flags } => factorial::stage(session, *flags),
    }?;
    stage.explained = session.plan().explained;
    Some(stage)
}

/// What is known of a variant and what it is held against.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The variant.
    pub variant: usize,
    /// What it is held against.
    pub against: usize,
    /// How the comparison ended; `None` while it goes on.
    pub verdict: Option<Verdict>,
    /// The variant ÷ what it is held against, of the judged measure, at the last look; NaN before the first.
    pub factor: f64,
    /// The interval of the factor at the last look; `None` before the first, and with too few pairs.
    pub interval: Option<[f64; 2]>,
    /// How that was made, and the probability with which it leaves out the truth.
    pub by: By,
    /// See [`Change::by`].
    pub level: f64,
    /// Pairs at that look; 0 before the first.
    pub pairs: usize,
    /// Pairs that will probably decide it, where that can be told.
    pub needs: Option<usize>,
    /// Trials of the variant, and how many of them failed.
    pub trials: (usize, usize),
    /// The same of what it is held against.
    pub trials_against: (usize, usize),
}

impl Change {
    pub(crate) fn of(stage: &Stage, c: &Comparison) -> Change {
        let look: Option<&Look> = c.looks.last();
        Change {
            variant: c.variant,
            against: c.against,
            verdict: c.verdict,
            factor: look.map_or(f64::NAN, |l| l.estimate.exp()),
            interval: look.and_then(|l| l.interval).map(|i| i.map(f64::exp)),
            by: look.map_or(By::SignedRanks, |l| l.by),
            level: look.map_or(f64::NAN, |l| l.level),
            pairs: look.map_or(0, |l| l.pairs),
            needs: look.and_then(|l| l.needs),
            trials: stage.series.trials(c.variant),
            trials_against: stage.series.trials(c.against),
        }
    }
}

/// The variant ÷ `against` of any measure with its interval at level `alpha`, from all blocks of a stage: to be shown, not to
/// be judged, for it was not planned. By signed ranks, or Student's t with fewer pairs than these need. `None` without two.
pub fn shown(stage: &Stage, variant: usize, against: usize, measure: usize, alpha: f64) -> Option<(f64, [f64; 2])> {
    let d = stage.series.pairs(variant, against, measure);
    let ranks = pairs::shift(&d, alpha).filter(|e| e.low.is_finite() && e.high.is_finite());
    let e = ranks.or_else(|| looks::student(&d, alpha))?;
    Some((e.estimate.exp(), [e.low.exp(), e.high.exp()]))
}

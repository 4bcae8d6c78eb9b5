//! The pace of the workload, from its own reports: the one number that all others explain. It is a family of its own: its certainty is
//! not thinned out by the hundreds of metrics beside it.

use crate::window;
use crate::work::Progress;
use model::Window;
use query::Run;
use query::stats::Series;

/// The work of a run in its window.
#[derive(Clone)]
pub(crate) struct Pace {
    /// Work done between two reports, over the seconds between them.
    pub(crate) num: Vec<f64>,
    pub(crate) den: Vec<f64>,
}

impl Pace {
    /// What a run reported within its window. The stretches that hold the start and the end of a command are left out where enough others
    /// are there.
    pub(crate) fn of(progress: &Progress, window: &Window) -> Pace {
        let (from, to) = (window.from as f64 / 1e9, window.to as f64 / 1e9);
        let steps: Vec<(f64, f64)> = progress
            .steps()
            .filter(|s| (from..=to).contains(&f64::midpoint(s.from, s.to)))
            .map(|s| (s.done, s.to - s.from))
            .collect();
        let ends = if window::is_life(window) && steps.len() >= 8 { 1 } else { 0 };
        let inner = steps.get(ends..steps.len() - ends).unwrap_or_default();
        let (num, den) = inner.iter().copied().unzip();
        Pace { num, den }
    }

    /// How many stretches between reports there are.
    pub(crate) fn len(&self) -> usize {
        self.num.len()
    }

    /// Work per second.
    pub(crate) fn mean(&self) -> Option<f64> {
        let seconds: f64 = self.den.iter().sum();
        (seconds > 0.0).then(|| self.num.iter().sum::<f64>() / seconds)
    }

    pub(crate) fn series(&self) -> Series {
        Series::ratio(&self.num, &self.den)
    }

    pub(crate) fn values(&self) -> Vec<f64> {
        self.num.iter().zip(&self.den).map(|(n, d)| n / d).collect()
    }
}

/// Work over wall time, for a run that reported too little to say how its pace varied.
pub(crate) fn total(run: &Run) -> Option<(f64, f64)> {
    let manifest = run.recording.manifest();
    let seconds = manifest.wall.map(|w| w as f64 / 1e9).filter(|w| *w > 0.0)?;
    manifest.work.as_ref().filter(|w| w.total > 0.0).map(|w| (w.total, seconds))
}

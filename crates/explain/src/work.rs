//! Work done over time, as the workload reported it: the denominator of "per operation".

use crate::line::Line;
use model::Window;
use query::series::Grid;
use query::{Run, metric};
use store::Select;

/// Work done by a run as a function of time, seconds.
pub(crate) struct Progress(Line);

/// Work done between two reports.
pub(crate) struct Step {
    /// Seconds.
    pub(crate) from: f64,
    /// Seconds.
    pub(crate) to: f64,
    /// Units.
    pub(crate) done: f64,
}

impl Progress {
    /// What the recording holds of it; `None` where no work was reported, or none was done.
    pub(crate) fn of(run: &Run) -> Option<Self> {
        let frame = run.recording.load("work", &Select::default())?;
        let grid = Grid::new(&frame, &metric(frame.table, "done")?, &[], None).ok()?;
        let series = grid.series.first()?;
        let (mut line, mut sum) = (Line::default(), 0.0);
        // What was done before the first read of the counter counts from the start of the command.
        let first =
            frame.column("done").and_then(|c| c.first().copied()).filter(|c| *c != model::NULL).unwrap_or(0) as f64;
        let start = run.recording.manifest().command_start.unwrap_or(0) as f64 / 1e9;
        let begin = grid.from.first().copied().unwrap_or(start);
        if start < begin {
            line.push(start, 0.0);
            sum = first;
        }
        line.push(begin, sum);
        for i in grid.all() {
            let (Some(&num), Some(&to)) = (series.num.get(i), grid.to.get(i)) else { continue };
            // Between two reports of the workload the count stands still, and the work goes on: only reports are points.
            if num.is_finite() && num > 0.0 {
                sum += num;
                line.push(to, sum);
            }
        }
        (sum > 0.0).then_some(Progress(line))
    }

    /// What was done between each two reports.
    pub(crate) fn steps(&self) -> impl Iterator<Item = Step> {
        let points = self.0.points();
        points
            .clone()
            .zip(points.skip(1))
            .filter(|((from, _), (to, _))| to > from)
            .map(|((from, before), (to, after))| Step { from, to, done: after - before })
    }

    /// Units done between two times.
    pub(crate) fn between(&self, from: f64, to: f64) -> f64 {
        self.0.between(from, to)
    }
}

/// Units of work that a run did in a window; `None` where it reported none.
pub fn work_done(run: &Run, window: &Window) -> Option<f64> {
    let done = Progress::of(run)?.between(window.from as f64 / 1e9, window.to as f64 / 1e9);
    (done > 0.0).then_some(done)
}

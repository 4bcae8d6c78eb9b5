//! Work done over time, as the workload reported it: the denominator of "per operation".

use model::Window;
use query::series::Grid;
use query::{Run, metric};
use store::Select;

/// Work done by a run as a function of time.
pub(crate) struct Progress {
    /// Seconds, ascending.
    time: Vec<f64>,
    /// Units done by then.
    done: Vec<f64>,
}

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
        let (mut time, mut done, mut sum) = (Vec::new(), Vec::new(), 0.0);
        // What was done before the first read of the counter counts from the start of the command.
        let first =
            frame.column("done").and_then(|c| c.first().copied()).filter(|c| *c != model::NULL).unwrap_or(0) as f64;
        let start = run.recording.manifest().command_start.unwrap_or(0) as f64 / 1e9;
        let begin = grid.from.first().copied().unwrap_or(start);
        if start < begin {
            time.push(start);
            done.push(0.0);
            sum = first;
        }
        time.push(begin);
        done.push(sum);
        for i in grid.all() {
            let (Some(&num), Some(&to)) = (series.num.get(i), grid.to.get(i)) else { continue };
            // Between two reports of the workload the count stands still, and the work goes on: only reports are points.
            if num.is_finite() && num > 0.0 {
                sum += num;
                time.push(to);
                done.push(sum);
            }
        }
        (sum > 0.0).then_some(Progress { time, done })
    }

    /// Units done by `t`, straight between two reports.
    fn at(&self, t: f64) -> f64 {
        let next = self.time.partition_point(|&x| x < t);
        let point = |i: usize| Some((*self.time.get(i)?, *self.done.get(i)?));
        match (next.checked_sub(1).and_then(point), point(next)) {
            (Some((t0, d0)), Some((t1, d1))) if t1 > t0 => d0 + (d1 - d0) * (t - t0) / (t1 - t0),
            (Some((_, done)), _) | (None, Some((_, done))) => done,
            (None, None) => 0.0,
        }
    }

    /// What was done between each two reports.
    pub(crate) fn steps(&self) -> impl Iterator<Item = Step> {
        let points = self.time.iter().copied().zip(self.done.iter().copied());
        points
            .clone()
            .zip(points.skip(1))
            .filter(|((from, _), (to, _))| to > from)
            .map(|((from, before), (to, after))| Step { from, to, done: after - before })
    }

    /// Units done between two times.
    pub(crate) fn between(&self, from: f64, to: f64) -> f64 {
        (self.at(to) - self.at(from)).max(0.0)
    }
}

/// Units of work that a run did in a window; `None` where it reported none.
pub fn work_done(run: &Run, window: &Window) -> Option<f64> {
    let done = Progress::of(run)?.between(window.from as f64 / 1e9, window.to as f64 / 1e9);
    (done > 0.0).then_some(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_straight_between_reports() {
        let p = Progress { time: vec![1.0, 2.0, 4.0], done: vec![0.0, 10.0, 14.0] };
        assert_eq!(p.between(0.0, 10.0), 14.0);
        assert_eq!(p.between(1.5, 3.0), 7.0);
        assert_eq!(p.between(5.0, 6.0), 0.0);
    }
}

//! What a unit of work is, and the work done over time, as the workload reported it: the denominator of "per operation".

use crate::Pace;
use crate::line::Line;
use model::Window;
use query::series::Grid;
use query::{Run, metric};
use store::{Frame, Select};

/// What a unit of work is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Operations that the workload reported, by their name.
    Operation(String),
    /// One run of the command.
    Run,
    /// A second: nothing is known of the work, so that no time is known to be lost either.
    Second,
}

impl Unit {
    /// That of runs which are held against each other, each in its window: what all of them counted, else whole runs of commands.
    /// The only place that decides it.
    pub fn of<'a>(all: impl IntoIterator<Item = (&'a Run, &'a Window)> + Clone) -> Unit {
        let mut each = all.clone().into_iter();
        let is_counted = |run: &Run, window: &Window| {
            Progress::of(run).is_some_and(|progress| Pace::with(run, window, Some(&progress)).is_some())
        };
        if each.all(|(run, window)| is_counted(run, window)) {
            let first = all.into_iter().next().and_then(|(run, _)| run.recording.manifest().work.as_ref());
            return Unit::Operation(first.map(|work| work.unit.clone()).unwrap_or_default());
        }
        let is_whole = |(run, window): (&Run, &Window)| Pace::of_whole(run, window).is_some();
        if all.into_iter().all(is_whole) { Unit::Run } else { Unit::Second }
    }

    /// How many of them a run did in its window; NaN where it counted none.
    pub fn done(&self, run: &Run, window: &Window) -> f64 {
        match self {
            Unit::Operation(_) => Pace::of(run, window).map_or(f64::NAN, |pace| pace.work),
            Unit::Run => 1.0,
            Unit::Second => window.seconds(),
        }
    }

    /// Its symbol, as it stands below a unit: `s/op`.
    pub fn symbol(&self) -> &'static str {
        match self {
            Unit::Operation(_) => "op",
            Unit::Run => "run",
            Unit::Second => "s",
        }
    }

    /// In words, singular.
    pub fn name(&self) -> &str {
        match self {
            Unit::Operation(name) if name.is_empty() => "operation",
            Unit::Operation(name) => name.strip_suffix('s').filter(|one| !one.ends_with('s')).unwrap_or(name),
            Unit::Run => "run",
            Unit::Second => "second",
        }
    }
}

/// Work done by a run as a function of time, seconds.
pub struct Progress(Line);

/// Work done between two reports.
pub struct Step {
    /// Seconds.
    pub from: f64,
    /// Seconds.
    pub to: f64,
    /// Units.
    pub done: f64,
}

impl Progress {
    /// What the recording holds of it; `None` where no work was reported, or none was done.
    pub fn of(run: &Run) -> Option<Self> {
        if let Some(counted) = run.recording.manifest().work.as_ref().filter(|work| !work.how.is_empty()) {
            return Self::as_counted(&counted.progress);
        }
        let frame = run.recording.load("work", &Select::default())?;
        Self::as_read(run, &frame).or_else(|| Self::at_the_end(run))
    }

    /// Where it was counted from outside: at each read that found some.
    fn as_counted(points: &[(f64, f64)]) -> Option<Self> {
        let (first, _) = points.first().copied()?;
        let mut line = Line::default();
        let mut before = 0.0;
        // The first read that found some stands for the time since the one before it, which was as long before as others are.
        let step = points.windows(2).filter_map(|pair| Some(pair.get(1)?.0 - pair.first()?.0)).fold(f64::MAX, f64::min);
        line.push((first - if step < f64::MAX { step } else { first }).max(0.0), 0.0);
        for &(at, total) in points {
            if total > before {
                line.push(at, total);
                before = total;
            }
        }
        Some(Progress(line))
    }

    /// Where it was read once, as of a command that is over in a moment: the total, evenly over the run.
    fn at_the_end(run: &Run) -> Option<Self> {
        let manifest = run.recording.manifest();
        let total = manifest.work.as_ref().map(|work| work.total).filter(|total| *total > 0.0 && total.is_finite())?;
        let start = manifest.command_start.unwrap_or(0) as f64 / 1e9;
        let wall = manifest.wall.filter(|wall| *wall > 0)? as f64 / 1e9;
        let mut line = Line::default();
        line.push(start, 0.0);
        line.push(start + wall, total);
        Some(Progress(line))
    }

    fn as_read(run: &Run, frame: &Frame) -> Option<Self> {
        let grid = Grid::new(frame, &metric(frame.table, "done")?, &[], None).ok()?;
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
            let (num, Some(&to)) = (series.num(i), grid.to.get(i)) else { continue };
            // Between two reports of the workload the count stands still, and the work goes on: only reports are points.
            if num.is_finite() && num > 0.0 {
                sum += num;
                line.push(to, sum);
            }
        }
        (sum > 0.0).then_some(Progress(line))
    }

    /// What was done between each two reports.
    pub fn steps(&self) -> impl Iterator<Item = Step> {
        let points = self.0.points();
        points
            .clone()
            .zip(points.skip(1))
            .filter(|((from, _), (to, _))| to > from)
            .map(|((from, before), (to, after))| Step { from, to, done: after - before })
    }

    /// Units done between two times.
    pub fn between(&self, from: f64, to: f64) -> f64 {
        self.0.between(from, to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Column, Manifest, Table, Work};
    use query::testing::write;

    static WORK: Table =
        Table::wide("work", "work done", &[Column::counter("done", model::Unit::None, "units of work done")]);

    #[test]
    fn one_unit_for_all_runs() {
        let dir = tempfile::tempdir().unwrap();
        let run = |name: &str, total: f64| {
            let path = dir.path().join(name);
            let manifest = Manifest {
                command_start: Some(0),
                wall: Some(2_000_000_000),
                work: Some(Work { unit: "jobs".into(), total, progress: Vec::new(), how: String::new() }),
                ..Manifest::default()
            };
            write(&path, &manifest, &[(&WORK, "t done\n0 0\n2 20")]);
            Run { name: name.into(), recording: store::Recording::open(&path).unwrap(), stretch: None }
        };
        let (counted, other) = (run("a", 20.0), run("b", 0.0));
        let life = crate::choose(&counted, &crate::Choice::Auto).unwrap();
        let part = Window { from: 0, to: 1_000_000_000, why: "given".into() };
        assert_eq!(Unit::of([(&counted, &life), (&counted, &part)]), Unit::Operation("jobs".into()));
        assert_eq!(Unit::of([(&counted, &life)]).done(&counted, &life), 20.0);
        let uncounted = {
            let path = dir.path().join("c");
            write(&path, &Manifest { wall: Some(2_000_000_000), command_start: Some(0), ..Manifest::default() }, &[]);
            Run { name: "c".into(), recording: store::Recording::open(&path).unwrap(), stretch: None }
        };
        assert_eq!(Unit::of([(&counted, &life), (&uncounted, &life)]), Unit::Run);
        assert_eq!(Unit::of([(&counted, &life), (&uncounted, &part)]), Unit::Second);
        assert_eq!((Unit::Run.done(&uncounted, &life), Unit::Second.done(&other, &part)), (1.0, 1.0));
    }

    #[test]
    fn work_that_was_read_once_was_done_over_the_run() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.twin");
        let manifest = |total: f64| Manifest {
            command_start: Some(40_000_000),
            wall: Some(160_000_000),
            work: Some(Work { unit: "operations".into(), total, progress: Vec::new(), how: String::new() }),
            ..Manifest::default()
        };
        let of = |total: f64, rows: &str| {
            write(&path, &manifest(total), &[(&WORK, rows)]);
            let run = Run { name: "run".into(), recording: store::Recording::open(&path).unwrap(), stretch: None };
            Progress::of(&run).map(|progress| (progress.between(0.0, 0.12).round(), progress.between(0.0, 1.0).round()))
        };
        assert_eq!(of(20.0, "t done\n0.2 20"), Some((10.0, 20.0)));
        assert_eq!(of(20.0, "t done\n0.1 0\n0.2 20"), Some((4.0, 20.0)), "as it was read");
        assert_eq!(of(0.0, "t done\n0.2 0"), None);
    }
}

//! The pace of the workload: the one number that all others explain. [`Pace`] is the only place where work and time of a run become elapsed time
//! per unit of work; `compare`, `explain`, `flame` and the report print what it says. [`Steps`] says how the pace varied within the window: its
//! certainty is a family of its own, and not thinned out by the hundreds of metrics beside it.

use crate::window;
use crate::work::Progress;
use model::Window;
use query::Run;
use query::stats::Series;
use std::ops::Add;

/// What was done in a window, and how long it took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pace {
    /// Units of work.
    pub work: f64,
    /// Seconds.
    pub seconds: f64,
}

impl Pace {
    /// That of a run by the work that it reported; `None` where it reported none in the window. Over the life of a command it is all that was
    /// done, over the time from its start to its end.
    pub fn of(run: &Run, window: &Window) -> Option<Pace> {
        Self::with(run, window, Progress::of(run).as_ref())
    }

    /// The same, where what was reported has been read.
    pub fn with(run: &Run, window: &Window, progress: Option<&Progress>) -> Option<Pace> {
        let total =
            || run.recording.manifest().work.as_ref().map(|work| work.total).filter(|_| window::is_life(window));
        let between = || progress.map(|p| p.between(window.from as f64 / 1e9, window.to as f64 / 1e9));
        let is_work = |work: &f64| *work > 0.0 && work.is_finite();
        let work = total().filter(is_work).or_else(between).filter(is_work)?;
        Some(Pace { work, seconds: seconds(run, window) })
    }

    /// That of a run that is one unit of work itself; `None` where the window is not the life of its command.
    pub fn of_whole(run: &Run, window: &Window) -> Option<Pace> {
        let seconds = seconds(run, window);
        (window::is_life(window) && seconds > 0.0).then_some(Pace { work: 1.0, seconds })
    }

    /// That of several repeats taken together; `None` where one of them has none.
    pub fn sum(of: impl IntoIterator<Item = Option<Pace>>) -> Option<Pace> {
        let all: Vec<Pace> = of.into_iter().collect::<Option<_>>()?;
        all.into_iter().reduce(Pace::add)
    }

    /// Seconds per unit of work; NaN where none was done.
    pub fn elapsed(self) -> f64 {
        if self.work > 0.0 { self.seconds / self.work } else { f64::NAN }
    }

    /// Units of work per second; NaN where no time passed.
    pub fn rate(self) -> f64 {
        if self.seconds > 0.0 { self.work / self.seconds } else { f64::NAN }
    }
}

impl Add for Pace {
    type Output = Pace;

    fn add(self, more: Pace) -> Pace {
        Pace { work: self.work + more.work, seconds: self.seconds + more.seconds }
    }
}

/// How long a window is: that of a command's life as long as the command ran, by the clock that waited for it.
fn seconds(run: &Run, window: &Window) -> f64 {
    let wall = run.recording.manifest().wall.filter(|wall| *wall > 0 && window::is_life(window));
    wall.map_or_else(|| window.seconds(), |wall| wall as f64 / 1e9)
}

/// The work of a run in its window, report by report.
#[derive(Clone)]
pub(crate) struct Steps {
    /// Work done between two reports, over the seconds between them.
    num: Vec<f64>,
    den: Vec<f64>,
}

impl Steps {
    /// What a run reported within its window. The stretches that hold the start and the end of a command are left out where enough others
    /// are there: they are no part of its steady state, by which the interval of a change is judged.
    pub(crate) fn of(progress: &Progress, window: &Window) -> Steps {
        let ns = |seconds: f64| (seconds * 1e9).round() as i64;
        let steps: Vec<(f64, f64)> = progress
            .steps()
            .filter(|s| window.part(ns(s.from), ns(s.to)) >= 0.5)
            .map(|s| (s.done, s.to - s.from))
            .collect();
        let ends = if window::is_life(window) && steps.len() >= 8 { 1 } else { 0 };
        let inner = steps.get(ends..steps.len() - ends).unwrap_or_default();
        let (num, den) = inner.iter().copied().unzip();
        Steps { num, den }
    }

    /// The whole of a run, that reported too little to say how its pace varied.
    pub(crate) fn whole(pace: Pace) -> Steps {
        Steps { num: vec![pace.work], den: vec![pace.seconds] }
    }

    /// How many stretches between reports there are.
    pub(crate) fn len(&self) -> usize {
        self.num.len()
    }

    pub(crate) fn series(&self) -> Series {
        Series::ratio(&self.num, &self.den)
    }

    pub(crate) fn values(&self) -> Vec<f64> {
        self.num.iter().zip(&self.den).map(|(n, d)| n / d).collect()
    }
}

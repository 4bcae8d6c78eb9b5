//! The pace of the workload: the one number that all others explain. [`Pace`] is the only place where work and time of a run become elapsed time
//! per unit of work; `compare`, `explain`, `flame` and the report print what it says. How the pace varied within the window, [`Cut::of_work`] says:
//! its certainty is a family of its own, and not thinned out by the hundreds of metrics beside it.
//!
//! [`Cut::of_work`]: crate::measured::Cut::of_work

use crate::window;
use crate::work::Progress;
use model::Window;
use query::Run;
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

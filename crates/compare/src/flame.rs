//! Flame graphs: the call paths of one or two sides, what their weights are, and the words for them. Two sides are brought to one scale.

use crate::{Choice, Error, Unit, choose};
use model::Window;
use query::Run;
use query::profile::{self, Part, Request, Tree};
use std::borrow::Cow;

/// What is drawn, with the words for it.
#[derive(Debug)]
pub struct Drawn {
    /// What the weights are, and of which runs.
    pub title: String,
    /// How the sides were brought to one scale, and the window of each run.
    pub notes: Vec<String>,
    /// The unit of the weights: a base unit, of two sides per unit of work.
    pub unit: String,
    /// The names of the sides: one, or the baseline and the other.
    pub runs: Vec<String>,
    /// From the outermost function inward; own weights are those of functions only this way round.
    pub tree: Tree,
    /// Whether it is shown the other way round: the functions that ran, with their callers below.
    pub reverse: bool,
}

impl Drawn {
    /// The tree as it is shown.
    pub fn shown(&self) -> Cow<'_, Tree> {
        if self.reverse { Cow::Owned(self.tree.reversed()) } else { Cow::Borrowed(&self.tree) }
    }

    /// Whether a side holds nothing.
    pub fn is_empty(&self, side: usize) -> bool {
        self.tree.whole(side) <= 0.0
    }
}

/// The side of a run, where the first `before` are the baseline; where none is, all are one side.
pub fn side(before: usize, run: usize) -> usize {
    usize::from(before > 0 && run >= before)
}

/// Draws the runs; the first `before` of them are the baseline. Two sides are per unit of work, as [`Unit::of`] decides it.
///
/// # Errors
/// Where a window is not there, or nothing like [`Request::measure`] was recorded.
pub fn draw(runs: &[Run], before: usize, window: &Choice, request: &Request) -> Result<Drawn, Error> {
    let windows: Vec<Window> = runs.iter().map(|run| choose(run, window)).collect::<Result<_, _>>()?;
    let parts: Vec<Part<'_>> = runs.iter().zip(&windows).map(|(run, window)| Part { run, window }).collect();
    let known = runs.iter().find_map(|run| profile::known(run, &request.measure));
    let sides = if before == 0 { 1 } else { 2 };
    let groups: Vec<usize> = (0..runs.len()).map(|run| side(before, run)).collect();
    let mut tree = profile::load(&parts, request)?.grouped(&groups);
    let mut unit = known.as_ref().map_or("s", |known| known.unit).to_owned();
    let mut notes = Vec::new();
    if sides == 2 {
        let sum = |side: usize, of: &dyn Fn(usize) -> Option<f64>| {
            groups.iter().enumerate().filter(|(_, g)| **g == side).map(|(i, _)| of(i)).sum::<Option<f64>>()
        };
        let work = Unit::of(runs.iter().zip(&windows));
        let done = |i: usize| Some(work.done(runs.get(i)?, windows.get(i)?));
        for side in [0, 1] {
            let by = sum(side, &done).unwrap_or(0.0);
            tree.scale(side, if by > 0.0 { 1.0 / by } else { 0.0 });
        }
        unit = format!("{unit}/{}", work.symbol());
        notes.push(format!("per {}", work.name()));
    }
    let names: Vec<String> = (0..sides)
        .map(|side| {
            let own = runs.iter().zip(&groups).filter(|(_, g)| **g == side).map(|(r, _)| r.name.as_str());
            own.collect::<Vec<_>>().join(" + ")
        })
        .collect();
    let what = {
        let mut what = known.as_ref().map_or(&*request.measure, |known| &*known.title).to_owned();
        if let Some(other) = known.as_ref().and_then(|known| known.other).filter(|_| request.others) {
            what.push_str(&format!(", by {other}"));
        }
        if let Some(process) = &request.filter.process {
            what.push_str(&format!(" of {process}"));
        }
        if let Some(thread) = &request.filter.thread {
            what.push_str(&format!(" in thread {thread}"));
        }
        what
    };
    let title = match names.as_slice() {
        [before, after] => format!("{what}: {after}, baseline {before}"),
        _ => format!("{what}: {}", names.concat()),
    };
    for (run, window) in runs.iter().zip(&windows) {
        let (from, to) = (window.from as f64 / 1e9, window.to as f64 / 1e9);
        notes.push(format!("{}: {from:.1} s to {to:.1} s ({})", run.name, window.why));
    }
    Ok(Drawn { title, notes, unit, runs: names, tree, reverse: false })
}

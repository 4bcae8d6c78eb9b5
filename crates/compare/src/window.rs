//! Which stretch of a recording is compared: given, between marks, the life of its command, or the busy stretch that is found.

use crate::{Error, MOST_TICKS};
use model::{Window, duration};
use query::series::Grid;
use query::stats::window::Idle;
use query::{Run, metric, stats};
use std::str::FromStr;
use store::Select;

/// Why a window is what it is, for the life of a command.
const LIFE: &str = "while the command ran";

/// Whether a window is the life of a command.
pub fn is_life(window: &Window) -> bool {
    window.why == LIFE
}

/// Intervals left out at each end of a command's life.
const ENDS: usize = 1;

/// One end of a window.
#[derive(Clone, Debug, PartialEq)]
pub enum Bound {
    /// The start or end of the recording.
    Open,
    /// Seconds since the start of the recording.
    At(f64),
    /// A mark, by its text.
    Mark(String),
}

/// Which window is wanted.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// The life of the command where there is one, else the busy stretch.
    Auto,
    /// Everything.
    Whole,
    /// The busy stretch, command or not.
    Busy,
    /// From one bound to another.
    Between(Bound, Bound),
}

impl FromStr for Choice {
    type Err = String;

    /// Reads `auto`, `whole`, `busy`, or `FROM..TO` where each side is empty, a time such as `10s`, or the text of a mark.
    fn from_str(text: &str) -> Result<Self, String> {
        let bound = |side: &str| match side.trim() {
            "" => Bound::Open,
            side => seconds(side).map_or_else(|| Bound::Mark(side.to_owned()), Bound::At),
        };
        match text {
            "auto" => Ok(Choice::Auto),
            "whole" => Ok(Choice::Whole),
            "busy" => Ok(Choice::Busy),
            _ => match text.split_once("..") {
                Some((from, to)) => Ok(Choice::Between(bound(from), bound(to))),
                None => {
                    Err("expected auto, whole, busy, or FROM..TO with times (10s..50s) or marks (warm-up over..)"
                        .into())
                }
            },
        }
    }
}

/// A time in seconds. A length of time is never 0, and a bound may be: without its number the rest must be a unit.
fn seconds(side: &str) -> Option<f64> {
    let zero = || {
        let unit = side.trim_start_matches(['0', '.']);
        (unit.len() < side.len() && duration(&format!("1{unit}")).is_ok()).then_some(0.0)
    };
    duration(side).ok().map(|d| d.as_secs_f64()).or_else(zero)
}

/// CPUs in use over time.
fn cpu_use(run: &Run) -> Option<Grid> {
    let busy = metric(run.recording.table("cpu")?, "busy")?;
    let columns = busy.columns();
    let frame =
        run.recording.load("cpu", &Select { columns: Some(&columns), most_ticks: MOST_TICKS, ..Select::default() })?;
    Grid::new(&frame, &busy, &[], None).ok()
}

/// Chooses the window of a run.
///
/// # Errors
/// Where a mark is not there or nothing lies between the bounds.
pub fn choose(run: &Run, choice: &Choice) -> Result<Window, Error> {
    let end = run.recording.duration();
    let whole = |why: &str| Window { from: 0, to: end, why: why.to_owned() };
    let manifest = run.recording.manifest();
    match choice {
        Choice::Whole => Ok(whole("whole recording")),
        Choice::Between(from, to) => between(run, from, to, end),
        Choice::Auto => match (manifest.command_start, manifest.wall) {
            (Some(start), Some(wall)) if wall > 0 => {
                Ok(Window { from: start, to: start.saturating_add(wall).min(end.max(start)), why: LIFE.into() })
            }
            _ => Ok(busy(run).unwrap_or_else(|| whole("whole recording"))),
        },
        Choice::Busy => Ok(busy(run).unwrap_or_else(|| whole("whole recording: CPU use was not recorded"))),
    }
}

fn busy(run: &Run) -> Option<Window> {
    let grid = cpu_use(run)?;
    let series = grid.series.first()?;
    let values: Vec<f64> = grid.all().map(|i| series.value(i)).collect();
    let found = stats::window::busy_window(&grid.from, &grid.to, &values, Idle::default())?;
    Some(Window { from: nanoseconds(found.from), to: nanoseconds(found.to), why: found.why })
}

fn between(run: &Run, from: &Bound, to: &Bound, end: i64) -> Result<Window, Error> {
    let fail = |why: String| Error::Window { run: run.name.clone(), why };
    let marks = run.recording.marks();
    let resolve = |bound: &Bound, open: i64, after: i64| match bound {
        Bound::Open => Ok(open),
        Bound::At(seconds) => Ok(nanoseconds(*seconds)),
        Bound::Mark(text) => marks.iter().find(|m| m.text == *text && m.t >= after).map(|m| m.t).ok_or_else(|| {
            let mut known: Vec<String> = marks.iter().map(|m| format!("{:?}", m.text)).collect();
            known.dedup();
            let known = if known.is_empty() { "it has none".into() } else { format!("it has {}", known.join(", ")) };
            fail(format!("no mark {text:?}; {known}"))
        }),
    };
    let start = resolve(from, 0, i64::MIN)?;
    let asked = resolve(to, end, start)?;
    let stop = asked.min(end);
    if start >= stop {
        return Err(fail(format!(
            "nothing lies between {:.3} s and {:.3} s; it was recorded for {:.3} s",
            start as f64 / 1e9,
            asked as f64 / 1e9,
            end as f64 / 1e9
        )));
    }
    let why = if matches!(from, Bound::Mark(_)) || matches!(to, Bound::Mark(_)) { "between marks" } else { "given" };
    Ok(Window { from: start, to: stop, why: why.into() })
}

fn nanoseconds(seconds: f64) -> i64 {
    (seconds * 1e9) as i64
}

/// The intervals of a grid whose values say how a metric varied in a window: those that lie in it by half or more, whole. What there was of
/// something in the window is asked of [`Grid::cut`], which leaves nothing out.
pub fn steady(grid: &Grid, window: &Window) -> std::ops::Range<usize> {
    let range = grid.cut(window).mostly();
    // The first and the last interval of a command's life hold its start and its end, which are no part of its steady state; a run that is
    // short enough for them to be most of it is taken as it is.
    if is_life(window) && range.len() >= ENDS * 2 + 6 { range.start + ENDS..range.end - ENDS } else { range }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read() {
        let parse = |text: &str| text.parse();
        assert_eq!(parse("auto"), Ok(Choice::Auto));
        assert_eq!(parse("10s..50s"), Ok(Choice::Between(Bound::At(10.0), Bound::At(50.0))));
        assert_eq!(parse("warm-up over.."), Ok(Choice::Between(Bound::Mark("warm-up over".into()), Bound::Open)));
        assert!(parse("10s").is_err());
        for from in ["0", "0s", "0ms", "0.0s"] {
            let expected = Choice::Between(Bound::At(0.0), Bound::At(2.5));
            assert_eq!(parse(&format!("{from}..2.5s")), Ok(expected), "{from}");
        }
        let mark = |text: &str| Choice::Between(Bound::Mark(text.into()), Bound::Open);
        assert_eq!((parse("0 done.."), parse("load..")), (Ok(mark("0 done")), Ok(mark("load"))));
    }
}

//! Which stretch of a recording is compared: given, between marks, the life of its command, or the busy stretch that is found.

use crate::{Error, MOST_TICKS};
use model::{Clock, Window, duration, utc};
use query::series::Grid;
use query::stats::window::Idle;
use query::{Run, Stretch, metric, stats};
use std::fmt;
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
    /// A moment on the wall clock.
    Clock(Clock),
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

    /// Reads `auto`, `whole`, `busy`, or `FROM..TO` where each side is empty, a time since the start such as `10s`, a moment such as `10:02` or
    /// `2026-11-26T10:02:30Z`, or the text of a mark.
    fn from_str(text: &str) -> Result<Self, String> {
        let bound = |side: &str| match side.trim() {
            "" => Bound::Open,
            side => match (seconds(side), Clock::read(side)) {
                (Some(seconds), _) => Bound::At(seconds),
                (None, Some(clock)) => Bound::Clock(clock),
                (None, None) => Bound::Mark(side.to_owned()),
            },
        };
        match text {
            "auto" => Ok(Choice::Auto),
            "whole" => Ok(Choice::Whole),
            "busy" => Ok(Choice::Busy),
            _ => match text.split_once("..") {
                Some((from, to)) => Ok(Choice::Between(bound(from), bound(to))),
                None => {
                    Err("expected auto, whole, busy, or FROM..TO with times since the start (10s..50s), times of day \
                             in UTC (10:02..10:05) or marks (warm-up over..)"
                        .into())
                }
            },
        }
    }
}

impl fmt::Display for Choice {
    /// As it is read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bound = |bound: &Bound| match bound {
            Bound::Open => String::new(),
            Bound::At(seconds) => format!("{seconds}s"),
            Bound::Clock(clock) => clock.to_string(),
            Bound::Mark(text) => text.clone(),
        };
        match self {
            Choice::Auto => f.write_str("auto"),
            Choice::Whole => f.write_str("whole"),
            Choice::Busy => f.write_str("busy"),
            Choice::Between(from, to) => write!(f, "{}..{}", bound(from), bound(to)),
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
    // A run that is a stretch of a recording is that, whatever is chosen for all runs.
    if let Some(stretch) = &run.stretch {
        return Ok(stretch.window.clone());
    }
    let end = run.recording.duration();
    let whole = |why: &str| Window { from: run.recording.began().min(end), to: end, why: why.to_owned() };
    let manifest = run.recording.manifest();
    match choice {
        Choice::Whole => Ok(whole("whole recording")),
        Choice::Between(from, to) => between(run, from, to, end),
        Choice::Auto => match (manifest.command_start, manifest.wall) {
            (Some(start), Some(wall)) if wall > 0 => {
                Ok(Window { from: start, to: start.saturating_add(wall).min(end.max(start)), why: LIFE.into() })
            }
            _ => Ok(counted(run, busy(run).unwrap_or_else(|| whole("whole recording")))),
        },
        Choice::Busy => {
            Ok(counted(run, busy(run).unwrap_or_else(|| whole("whole recording: CPU use was not recorded"))))
        }
    }
}

/// It is worth a word where that began so much later, nanoseconds.
const LATE: i64 = 500_000_000;

/// What counts a server's requests.
const COUNTER: &str = "turns_collector";

/// The part of a window in which the requests that are the work were counted: on a busy machine that may begin seconds after the recording, and a window
/// that begins before would have too few of them in its time.
fn counted(run: &Run, window: Window) -> Window {
    let is_counted = run.recording.manifest().work.as_ref().is_some_and(|work| !work.how.is_empty());
    let since = || run.recording.load(COUNTER, &Select::default())?.ticks.first().copied();
    match since().filter(|since| is_counted && (window.from..window.to).contains(since)) {
        Some(since) if since - window.from >= LATE => {
            Window { from: since, why: format!("{}, from when requests were counted", window.why), ..window }
        }
        Some(since) => Window { from: since, ..window },
        None => window,
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
    let (began, start_unix) = (run.recording.began(), run.recording.manifest().start_unix);
    let span = (start_unix.saturating_add(began), start_unix.saturating_add(end));
    let marks = run.recording.marks();
    let resolve = |bound: &Bound, open: i64, after: Option<i64>| match bound {
        Bound::Open => Ok(open),
        Bound::At(seconds) => Ok(nanoseconds(*seconds)),
        Bound::Clock(_) if start_unix <= 0 => {
            Err(fail("when it was recorded is not known: give times since its start, such as 10s..50s".into()))
        }
        Bound::Clock(clock) => {
            let after = after.map(|after| start_unix.saturating_add(after));
            Ok(clock.resolve(span, after).saturating_sub(start_unix))
        }
        Bound::Mark(text) => {
            let found = marks.iter().find(|m| m.text == *text && after.is_none_or(|after| m.t >= after));
            found.map(|m| m.t).ok_or_else(|| {
                let mut known: Vec<String> = marks.iter().map(|m| format!("{:?}", m.text)).collect();
                known.dedup();
                let there = if known.is_empty() { "none".into() } else { known.join(", ") };
                let is_before = marks.iter().any(|m| m.text == *text);
                let after =
                    after.filter(|_| is_before).map_or(String::new(), |t| format!(" after {:.3} s", t as f64 / 1e9));
                // Nobody names a mark so: a time was meant.
                let is_time = text.starts_with(|c: char| c.is_ascii_digit()) && text.contains(':');
                let times = if is_time { ". Times are written 10:02, 10:02:30 or 2026-11-26T10:02:30Z" } else { "" };
                fail(format!("no mark {text:?}{after}; it has {there}{times}"))
            })
        }
    };
    let asked_from = resolve(from, began, None)?;
    let asked = resolve(to, end, (*from != Bound::Open).then_some(asked_from))?;
    let (start, stop) = (asked_from.max(began.min(end)), asked.min(end));
    if start >= stop {
        let words = |t: i64| match (from, to) {
            (Bound::Clock(_), _) | (_, Bound::Clock(_)) => utc(start_unix.saturating_add(t)),
            _ => format!("{:.3} s", t as f64 / 1e9),
        };
        let there = match (from, to) {
            (Bound::Clock(_), _) | (_, Bound::Clock(_)) => format!("from {} to {}", words(began), words(end)),
            _ if began > 0 => format!("from {} to {}", words(began), words(end)),
            _ => format!("for {}", words(end)),
        };
        let (from, to) = (words(asked_from), words(asked));
        return Err(fail(format!("nothing lies between {from} and {to}; it was recorded {there}")));
    }
    let why = if matches!(from, Bound::Mark(_)) || matches!(to, Bound::Mark(_)) { "between marks" } else { "given" };
    Ok(Window { from: start, to: stop, why: why.into() })
}

/// Makes runs of stretches of recordings: of each the one that is chosen for it. A recording that is there more than once is then compared with
/// itself.
///
/// # Errors
/// Where a stretch is not there, or two of one recording have a part in common.
pub fn narrow(runs: &mut [Run], choices: &[&Choice]) -> Result<(), Error> {
    // A recording has one name, however often it is there.
    let first: Vec<usize> = (0..runs.len()).map(|at| same(runs, at)).collect();
    let names: Vec<String> =
        first.iter().map(|file| runs.get(*file).map_or(String::new(), |run| run.name.clone())).collect();
    let mut chosen: Vec<Stretch> = Vec::with_capacity(runs.len());
    for ((run, name), choice) in runs.iter_mut().zip(&names).zip(choices) {
        run.name.clone_from(name);
        chosen.push(Stretch { window: choose(run, choice)?, words: choice.to_string() });
    }
    for (at, (stretch, &file)) in chosen.iter().zip(&first).enumerate() {
        for (other, _) in chosen.iter().zip(&first).take(at).filter(|(_, other)| **other == file) {
            let (from, to) = (stretch.window.from.max(other.window.from), stretch.window.to.min(other.window.to));
            if from < to {
                let run = names.get(file).cloned().unwrap_or_default();
                let (a, b) = (&other.words, &stretch.words);
                let [from, to] = [from, to].map(|t| format!("{:.1} s", t as f64 / 1e9));
                let why = format!(
                    "{a} and {b} both hold {from} to {to}: two stretches are compared that have no part in common"
                );
                return Err(Error::Window { run, why });
            }
        }
    }
    for ((run, stretch), name) in runs.iter_mut().zip(chosen).zip(&names) {
        run.narrow(name, stretch);
    }
    Ok(())
}

/// The first of the runs that is of the same recording as this one.
fn same(runs: &[Run], at: usize) -> usize {
    let path = runs.get(at).map(|run| run.recording.path());
    runs.iter().position(|run| Some(run.recording.path()) == path).unwrap_or(at)
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
        let clock = |text: &str| Bound::Clock(Clock::read(text).unwrap());
        assert_eq!(parse("10:02..10:05"), Ok(Choice::Between(clock("10:02"), clock("10:05"))));
        for text in ["auto", "10s..50.5s", "warm-up over..", "10:02..2026-11-26T10:05:00Z", "..09:30", "0s.."] {
            assert_eq!(parse(text).unwrap().to_string(), text);
        }
    }
}

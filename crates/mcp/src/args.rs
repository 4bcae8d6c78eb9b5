//! Arguments of tools: what several share, and how they are read.

use compare::Choice;
use model::WorkChoice;
use query::Run;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::ops::Range;

/// Why a tool gives no answer, in words for the agent.
pub(crate) type Failure = String;

/// Reads the arguments of a tool; what is null was not given.
pub(crate) fn read<T: DeserializeOwned>(given: Map<String, Value>) -> Result<T, Failure> {
    let given = given.into_iter().filter(|(_, value)| !value.is_null()).collect();
    serde_json::from_value(Value::Object(given)).map_err(|error| format!("wrong arguments: {error}"))
}

/// The window that is asked for; an empty text stands for `auto`.
pub(crate) fn window(text: &str) -> Result<Choice, Failure> {
    let text = if text.is_empty() { "auto" } else { text };
    text.parse().map_err(|why| format!("window {text}: {why}"))
}

/// The recordings of the baseline: those that are named as such, or, with a window for it alone, the recording itself.
pub(crate) fn baseline<'a>(
    others: &'a [String],
    named: &'a [String],
    [window, against_window]: [&str; 2],
) -> Result<&'a [String], Failure> {
    if against_window.is_empty() || !named.is_empty() {
        return Ok(named);
    }
    if others.len() == 1 && !window.is_empty() {
        return Ok(others);
    }
    Err("against_window compares two stretches of one recording, of which window is the other: name one recording and both, or a baseline".into())
}

/// Makes each run its stretch, where the baseline has a window of its own: that of the runs `baseline`.
pub(crate) fn narrow(runs: &mut [Run], baseline: Range<usize>, [asked, against]: [&str; 2]) -> Result<(), Failure> {
    if against.is_empty() {
        return Ok(());
    }
    let (asked, against) = (window(asked)?, window(against)?);
    let choices: Vec<&Choice> =
        (0..runs.len()).map(|run| if baseline.contains(&run) { &against } else { &asked }).collect();
    compare::narrow(runs, &choices).map_err(|error| error.to_string())
}

/// What counts as work; an empty text stands for `auto`.
pub(crate) fn work(text: &str) -> Result<WorkChoice, Failure> {
    let text = if text.is_empty() { "auto" } else { text };
    text.parse().map_err(|why| format!("work {text}: {why}"))
}

/// Whether a text holds what is looked for, in any case.
pub(crate) fn holds(text: &str, wanted: &str) -> bool {
    wanted.is_empty() || text.to_lowercase().contains(&wanted.to_lowercase())
}

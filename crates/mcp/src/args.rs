//! Arguments of tools: what several share, and how they are read.

use compare::Choice;
use model::WorkChoice;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

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

/// What counts as work; an empty text stands for `auto`.
pub(crate) fn work(text: &str) -> Result<WorkChoice, Failure> {
    let text = if text.is_empty() { "auto" } else { text };
    text.parse().map_err(|why| format!("work {text}: {why}"))
}

/// Whether a text holds what is looked for, in any case.
pub(crate) fn holds(text: &str, wanted: &str) -> bool {
    wanted.is_empty() || text.to_lowercase().contains(&wanted.to_lowercase())
}

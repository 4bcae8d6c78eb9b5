//! `explain`: why a run is slower than a baseline, or what limits it; the Markdown that people get.

use super::{Context, Tool, schema_of};
use crate::answer::{Answer, Page};
use crate::args::{Failure, baseline, narrow, read, window};
use compare::{Choice, Divided};
use explain::Explain;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

pub(crate) const TOOL: Tool = Tool {
    name: "explain",
    title: "Explain",
    description: "Why a run is slower than a baseline, cause first: each finding with the part of the lost time that it explains, its \
95 % interval, evidence and what to try; then what stayed unexplained, cautions, and what could not be evaluated. Without `against`: what \
limits a single run. With `against_window` two stretches of one recording are compared; what a trigger of a flight recorder saved is so \
compared by itself, since the trigger held against the time before. This is the first question to ask.",
    only_reads: true,
    schema: schema_of::<Args>,
    call,
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The slow recording, or several repeats of it
    slow: Vec<String>,
    /// The baseline, or several repeats of it
    #[serde(default)]
    against: Vec<String>,
    /// auto, whole, busy, or FROM..TO with times (10s..50s, or 10:02..10:05 in UTC) or marks; empty: auto, the lifetime of the command or else the busy stretch
    #[serde(default)]
    window: String,
    /// The window of the baseline, which then has one of its own; without a baseline it is a stretch of the same recording
    #[serde(default)]
    against_window: String,
    /// What counts as work: auto, port:NUMBER, client, none; empty: auto
    #[serde(default)]
    work: String,
    /// Smallest slowdown to explain, in per cent; 0: as the number of repeats allows
    #[serde(default)]
    least: f64,
    /// Leave out so many lines at the beginning
    #[serde(default)]
    offset: u32,
    /// Show so many lines at most (0: all that fit)
    #[serde(default)]
    limit: u32,
}

fn call(context: &Context, arguments: Map<String, Value>) -> Result<Answer, Failure> {
    let args: Args = read(arguments)?;
    if args.slow.is_empty() {
        return Err("slow: no recording was named; the tool recordings lists them".into());
    }
    let windows = [args.window.as_str(), args.against_window.as_str()];
    let against = baseline(&args.slow, &args.against, windows)?;
    let all: Vec<String> = args.slow.iter().chain(against).cloned().collect();
    let mut runs = context.place.open(&all, &args.work)?;
    narrow(&mut runs, args.slow.len()..all.len(), windows)?;
    let trigger = match (window(&args.window)?, against) {
        (Choice::Auto, []) => Divided::of(&mut runs, || context.place.open(&all, &args.work))?,
        _ => None,
    };
    let least = (args.least.is_finite() && args.least > 0.0).then_some(args.least / 100.0);
    let settings = Explain { window: window(&args.window)?, least, ..Explain::default() };
    let explanation = explain::explain(runs, args.slow.len(), &settings).map_err(|error| error.to_string())?;
    let findings = explanation.findings.iter().map(|f| {
        json!({"cause": f.cause, "subject": f.subject, "share": f.share.value, "low": f.share.low, "high": f.share.high})
    });
    let outcome = explanation.to_json();
    let page = Page::new(args.offset, args.limit, usize::MAX, usize::MAX);
    let mut answer = Answer::text("markdown", page, &explanation.to_markdown())
        .field("outcome", outcome["outcome"].clone())
        .field("findings", findings.take(20).collect::<Vec<Value>>())
        .field("facts_that_differ", explanation.facts.len())
        .field("damage", explanation.damage.clone());
    if let Some(Divided { said, windows }) = trigger {
        answer = answer.line(match &windows {
            Some(_) => format!("{said} Others: window and against_window; all as one run: window whole."),
            None => format!("{said} Two stretches of your own: window and against_window."),
        });
        if let Some([since, before]) = windows {
            answer = answer.field("window", since).field("against_window", before);
        }
    }
    for damage in &explanation.damage {
        answer = answer.line(format!("damaged: {damage}"));
    }
    Ok(answer)
}

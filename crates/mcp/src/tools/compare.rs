//! `compare`: every metric that differs.

use super::{Context, Tool, schema_of};
use crate::answer::{Answer, Item, Page};
use crate::args::{Failure, baseline, holds, narrow, read, window};
use compare::{Comparison, Difference, Options, Per};
use query::human;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

pub(crate) const TOOL: Tool = Tool {
    name: "compare",
    title: "Compare",
    description: "Every metric that differs between recordings by more than chance (false discoveries bounded), largest and surest first, \
with 95 % intervals, per second and per operation. Not causes: `explain` names those. Configuration that differs is in `facts`, code in \
`flame`.",
    only_reads: true,
    schema: schema_of::<Args>,
    call,
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Recordings, the baseline first; each other is compared with it. One alone with `against_window`: two stretches of it
    recordings: Vec<String>,
    /// Repeats of the other side; those of `recordings` are then all repeats of the baseline
    #[serde(default)]
    repeats: Vec<String>,
    /// auto, whole, busy, or FROM..TO with times (10s..50s, or 10:02..10:05 in UTC) or marks; empty: auto
    #[serde(default)]
    window: String,
    /// The window of the baseline, which then has one of its own; without a baseline it is a stretch of the same recording
    #[serde(default)]
    against_window: String,
    /// What counts as work: auto, port:NUMBER, client, none; empty: auto
    #[serde(default)]
    work: String,
    /// Only metrics whose name, labels or help hold this
    #[serde(default)]
    matching: String,
    /// Leave out so many at the beginning of the list
    #[serde(default)]
    offset: u32,
    /// List so many at most (0: 40)
    #[serde(default)]
    limit: u32,
}

fn all_of(args: &Args) -> Vec<String> {
    args.recordings.iter().chain(&args.repeats).cloned().collect()
}

fn call(context: &Context, arguments: Map<String, Value>) -> Result<Answer, Failure> {
    let args: Args = read(arguments)?;
    let windows = [args.window.as_str(), args.against_window.as_str()];
    // One recording stands for both sides.
    let itself = if let [_] = all_of(&args).as_slice() { baseline(&args.recordings, &[], windows)? } else { &[] };
    let all: Vec<String> = itself.iter().cloned().chain(all_of(&args)).collect();
    if all.len() < 2 {
        return Err("compare needs two recordings or more, the baseline first; the tool recordings lists them".into());
    }
    let mut runs = context.place.open(&all, &args.work)?;
    let repeats = if args.repeats.is_empty() { 0 } else { args.recordings.len() };
    narrow(&mut runs, 0..repeats.max(1), windows)?;
    let options = Options { window: window(&args.window)?, repeats, ..Options::default() };
    let comparison = compare::compare(&runs, &options).map_err(|error| error.to_string())?;
    let found: Vec<&Difference> =
        comparison.differences.iter().filter(|d| holds(&format!("{} {}", name(d), d.help), &args.matching)).collect();
    let page = Page::new(args.offset, args.limit, 40, 1000);
    let headline = &comparison.headline;
    let mut answer = Answer::list("differences", page, found.iter().map(|d| item(&comparison, d)))
        .line(&headline.headline)
        .line(&headline.detail)
        .field("headline", headline.headline.clone())
        .field("detail", headline.detail.clone())
        .field("compared", comparison.compared)
        .field("facts_that_differ", comparison.facts.len());
    let cautions: Vec<String> = comparison.cautions.iter().map(|caution| caution.text.clone()).take(10).collect();
    for caution in &cautions {
        answer = answer.line(caution);
    }
    let missing: Vec<String> = comparison
        .not_compared
        .iter()
        .filter(|n| n.why.starts_with("not recorded"))
        .map(|n| format!("{}: {}", n.what, n.why))
        .take(20)
        .collect();
    if !missing.is_empty() {
        answer = answer.line(format!("not compared: {}", missing.join("; ")));
    }
    let damage: Vec<String> =
        runs.iter().flat_map(|run| run.recording.damage().into_iter().map(|d| format!("{}: {d}", run.name))).collect();
    for damage in &damage {
        answer = answer.line(format!("damaged: {damage}"));
    }
    Ok(answer.field("cautions", cautions).field("not_compared", missing).field("damage", damage))
}

/// "net.received{name=eth0} per operation".
fn name(d: &Difference) -> String {
    let labels: Vec<String> = d.labels.iter().map(|(label, value)| format!("{label}={value}")).collect();
    let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
    format!("{}{labels}{}", d.metric, if d.per == Per::Operation { " per operation" } else { "" })
}

fn item(comparison: &Comparison, d: &Difference) -> Item {
    let run = comparison.runs.get(d.run).map_or("", String::as_str);
    let change = match (d.change, d.low, d.high) {
        (Some(change), Some(low), Some(high)) => {
            format!("{} (95 % CI {})", query::ratio(1.0 + change), query::times_interval(1.0 + low, 1.0 + high))
        }
        (Some(change), ..) => query::ratio(1.0 + change),
        (None, ..) if d.difference > 0.0 => "new".into(),
        (None, ..) => "gone".into(),
    };
    let of = if comparison.runs.len() > 2 && comparison.repeats == 0 { format!(" in {run}") } else { String::new() };
    let (before, after) = (human(d.baseline, d.unit), human(d.other, d.unit));
    Item {
        text: format!("{}: {before} → {after}{of}, {change}; {}", name(d), d.help),
        value: json!({
            "metric": d.metric, "labels": d.labels, "per": if d.per == Per::Operation { "operation" } else { "second" },
            "unit": d.unit, "run": run, "baseline": d.baseline, "other": d.other, "change": d.change, "low": d.low, "high": d.high,
            "help": d.help,
        }),
    }
}

//! `recordings`: what is there, with what could not be measured; one of them in detail.

use super::{Context, Tool, schema_of};
use crate::answer::{Answer, Item, Page};
use crate::args::{Failure, holds, read};
use model::{Manifest, Status, WorkChoice, human, utc};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::path::Path;
use store::Recording;

pub(crate) const TOOL: Tool = Tool {
    name: "recordings",
    title: "Recordings",
    description: "Lists the recordings (files that end in .twin) and fleets (folders of summaries of many hosts): host, start, length, \
command, work done. With `recording`, one in detail: labels, marks, and every source with whether it was read, why not, and what would \
change that.",
    only_reads: true,
    schema: schema_of::<Args>,
    call,
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The name of one recording, to see it in detail
    #[serde(default)]
    recording: String,
    /// Only those whose name holds this
    #[serde(default)]
    matching: String,
    /// Leave out so many at the beginning of the list
    #[serde(default)]
    offset: u32,
    /// List so many at most (0: 50)
    #[serde(default)]
    limit: u32,
}

/// Recordings that are opened for one answer at most.
const MOST: usize = 200;

fn call(context: &Context, arguments: Map<String, Value>) -> Result<Answer, Failure> {
    let args: Args = read(arguments)?;
    let page = Page::new(args.offset, args.limit, 50, MOST);
    if !args.recording.is_empty() {
        return detail(&context.place.recording(&args.recording)?, &args.recording, page);
    }
    let below = context.place.below();
    let named: Vec<_> = below.recordings.iter().map(|path| (path, context.place.name(path))).collect();
    let named: Vec<_> = named.into_iter().filter(|(_, name)| holds(name, &args.matching)).collect();
    let fleets: Vec<String> = below.fleets.iter().map(|path| context.place.name(path)).collect();
    let items = named.iter().map(|(path, name)| item(path, name));
    let mut answer = Answer::list("recordings", page, items).field("fleets", fleets.clone());
    if named.is_empty() {
        answer = answer.line("There are no recordings here. `twinscope record -o NAME.twin -- COMMAND` makes one.");
    }
    if !fleets.is_empty() {
        answer = answer.line(format!("Fleets, for fleet_bands and fleet_separates: {}", fleets.join(", ")));
    }
    Ok(answer)
}

fn item(path: &Path, name: &str) -> Item {
    let recording = match Recording::open(path) {
        Ok(recording) => recording,
        Err(error) => {
            let why = error.to_string();
            return Item {
                text: format!("{name}: cannot be read: {why}"),
                value: json!({"recording": name, "error": why}),
            };
        }
    };
    let manifest = recording.manifest();
    let seconds = recording.duration() as f64 / 1e9;
    let command = command(manifest);
    let work = query::work::of(&recording, &WorkChoice::Auto);
    let work = work.map(|work| format!("{} {}", human(work.total, ""), work.unit));
    let missing = recording.coverage().into_iter().filter(|c| c.status != Status::Read && c.item.is_empty());
    let missing: Vec<String> = missing.map(|c| c.source).collect();
    let mut text = format!("{name}: host {}, {}, {}", manifest.host, began(manifest), human(seconds, "s"));
    for (word, value) in [("command", &command), ("work", &work)] {
        if let Some(value) = value {
            text.push_str(&format!(", {word} {value}"));
        }
    }
    if recording.is_unfinished() {
        text.push_str(", cut off or still being recorded");
    }
    if !missing.is_empty() {
        text.push_str(&format!(", not measured: {}", missing.join(" ")));
    }
    let value = json!({
        "recording": name, "host": manifest.host, "start": began(manifest), "seconds": seconds, "command": command, "work": work,
        "unfinished": recording.is_unfinished(), "not_measured": missing,
    });
    Item { text, value }
}

fn began(manifest: &Manifest) -> String {
    // A profile that was imported does not say when it was made.
    if manifest.start_unix > 0 { utc(manifest.start_unix) } else { "start not known".into() }
}

fn command(manifest: &Manifest) -> Option<String> {
    manifest.command.as_ref().map(|words| crate::answer::cut(&words.join(" "), 120))
}

fn detail(path: &Path, name: &str, page: Page) -> Result<Answer, Failure> {
    let recording = Recording::open(path).map_err(|error| error.to_string())?;
    let manifest = recording.manifest();
    let item = |c: &model::Coverage| {
        let part = if c.item.is_empty() { c.source.clone() } else { format!("{} {}", c.source, c.item) };
        let why = if c.why.is_empty() { String::new() } else { format!(": {}", c.why) };
        let remedy = c.remedy.as_ref().map_or(String::new(), |remedy| format!("; to change that: {remedy}"));
        Item {
            text: format!("{part}: {}{why}{remedy}", c.status.as_str()),
            value: json!({"source": c.source, "part": c.item, "status": c.status.as_str(), "why": c.why, "remedy": c.remedy}),
        }
    };
    let mut coverage = recording.coverage();
    coverage.sort_by_key(|c| c.status == Status::Read);
    let marks: Vec<Value> =
        recording.marks().iter().take(20).map(|m| json!({"t": m.t as f64 / 1e9, "text": m.text})).collect();
    let seconds = recording.duration() as f64 / 1e9;
    let mut answer = Answer::list("coverage", page, coverage.iter().map(item))
        .line(format!(
            "{name}: run {}, host {}, Linux {} {}, {} CPUs, {}; {}, {}",
            manifest.name,
            manifest.host,
            manifest.kernel,
            manifest.machine,
            manifest.cpus,
            human(manifest.memory as f64, "B"),
            began(manifest),
            human(seconds, "s")
        ))
        .field("recording", name)
        .field("run", manifest.name.clone())
        .field("host", manifest.host.clone())
        .field("kernel", manifest.kernel.clone())
        .field("cpus", manifest.cpus)
        .field("memory", manifest.memory)
        .field("start", began(manifest))
        .field("seconds", seconds)
        .field("interval", manifest.interval as f64 / 1e9)
        .field("labels", json!(manifest.labels))
        .field("marks", marks)
        .field("command", command(manifest));
    if let Some(command) = command(manifest) {
        answer = answer.line(format!("command {command}"));
    }
    for (label, value) in &manifest.labels {
        answer = answer.line(format!("label {label}={value}"));
    }
    for mark in recording.marks().iter().take(20) {
        answer = answer.line(format!("mark {:.3} s: {}", mark.t as f64 / 1e9, mark.text));
    }
    Ok(answer)
}

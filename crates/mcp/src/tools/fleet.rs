//! `fleet_bands` and `fleet_separates`: which bands the hosts of a fleet fall into, and what separates these.

use super::{Context, Tool, schema_of};
use crate::answer::{Answer, Item, Page};
use crate::args::{Failure, holds, read};
use fleet::result::{FleetGroup, result};
use fleet::{Folder, Question};
use query::human;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

pub(crate) const BANDS: Tool = Tool {
    name: "fleet_bands",
    title: "Bands of a fleet",
    description: "Whether the hosts of a fleet (a folder of summaries, see `recordings`) fall into bands, such as a fast and a slow one: how \
many, each with the interval of its share, how much time the slow ones lose, since when, and which host is in which band.",
    only_reads: true,
    schema: schema_of::<Args>,
    call: bands,
};

pub(crate) const SEPARATES: Tool = Tool {
    name: "fleet_separates",
    title: "What separates bands",
    description: "What separates the bands of a fleet: facts of the hosts, metrics, functions, with false discoveries bounded; one rule with \
its errors on other blocks of time; and what does not differ. For a cause, `explain` recordings of both bands.",
    only_reads: true,
    schema: schema_of::<Args>,
    call: separates,
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The folder of summaries
    fleet: String,
    /// Metrics to divide by, the first counts most: NAME or NAME{label=value}, `per operation` or `per second` behind it where there are both;
    /// `any`: all metrics; empty: the pace, CPU time and the states of threads
    #[serde(default)]
    by: Vec<String>,
    /// Only recordings with these labels
    #[serde(default, rename = "where")]
    labels: BTreeMap<String, String>,
    /// Look within each value of this fact, such as cpu.model
    #[serde(default)]
    within: String,
    /// Only hosts (fleet_bands) or lines (fleet_separates) whose name holds this
    #[serde(default)]
    matching: String,
    /// Leave out so many at the beginning of the list
    #[serde(default)]
    offset: u32,
    /// List so many at most (0: 60)
    #[serde(default)]
    limit: u32,
}

/// What the fleet answers: with the words for each group, and as JSON.
struct Asked {
    groups: Vec<(Vec<String>, Value)>,
    damage: Vec<String>,
}

fn ask(context: &Context, args: &Args) -> Result<Asked, Failure> {
    let folder = Folder::open(&context.place.fleet(&args.fleet)?).map_err(|error| error.to_string())?;
    let any = args.by.iter().any(|by| by == "any");
    let question = Question {
        by: if any { Vec::new() } else { args.by.clone() },
        any,
        labels: args.labels.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
        within: (!args.within.is_empty()).then(|| args.within.clone()),
    };
    let fleet = fleet::Fleet::load(&folder, &question.labels).map_err(|error| error.to_string())?;
    let answer = fleet::ask(fleet, &question).map_err(|error| error.to_string())?;
    let shown = result(&answer);
    let json = |group: &FleetGroup| serde_json::to_value(group).map_err(|error| error.to_string());
    let groups = shown.groups.iter().map(|group| Ok((words(group), json(group)?))).collect::<Result<_, String>>()?;
    Ok(Asked { groups, damage: answer.damage.iter().map(ToString::to_string).collect() })
}

/// A group in some lines.
fn words(group: &FleetGroup) -> Vec<String> {
    let mut lines: Vec<String> = group.within.iter().map(|value| format!("Within {value}:")).collect();
    if group.bandings.is_empty() {
        lines.extend(group.says.iter().cloned());
    }
    for banding in &group.bandings {
        lines.push(banding.title.clone());
        lines.extend(banding.says.iter().cloned());
    }
    lines
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

fn headed(what: &'static str, asked: &Asked, page: Page, items: Vec<Item>) -> Answer {
    let mut answer = Answer::list(what, page, items.into_iter());
    for line in asked.groups.iter().flat_map(|(words, _)| words) {
        answer = answer.line(line);
    }
    for damage in &asked.damage {
        answer = answer.line(format!("damaged: {damage}"));
    }
    answer.field("damage", asked.damage.clone())
}

fn bands(context: &Context, arguments: Map<String, Value>) -> Result<Answer, Failure> {
    let args: Args = read(arguments)?;
    let asked = ask(context, &args)?;
    let (mut items, mut bandings) = (Vec::new(), Vec::new());
    for (_, group) in &asked.groups {
        let first = list(&group["bandings"]).next().cloned().unwrap_or(Value::Null);
        for (at, recording) in list(&group["recordings"]).enumerate() {
            let (host, run) = (text(&recording["host"]), text(&recording["run"]));
            if !holds(&format!("{host} {run}"), &args.matching) {
                continue;
            }
            let band = first["of"].get(at).and_then(Value::as_u64).map(|band| band + 1);
            let shown = match (&first, band) {
                (Value::Null, _) => "no bands".to_owned(),
                (_, Some(band)) => format!("band {band}"),
                (_, None) => "strays from all bands".to_owned(),
            };
            let within = group["within"].as_str().map_or(String::new(), |value| format!(", within {value}"));
            items.push(Item {
                text: format!("{host} {run}: {shown}{within}"),
                value: json!({"host": host, "run": run, "file": recording["file"], "labels": recording["labels"], "band": band, "within": group["within"]}),
            });
        }
        for banding in list(&group["bandings"]) {
            bandings.push(json!({
                "within": group["within"], "metrics": banding["metrics"], "unit": banding["unit"], "p": banding["p"], "bands": banding["bands"],
                "lost": banding["lost"], "facts": banding["facts"], "strays": list(&banding["strays"]).count(),
                "undecided": list(&banding["undecided"]).count(), "decides": banding["since"]["decides"],
                "steady": banding["since"]["steady"], "switches": list(&banding["since"]["switches"]).count(),
            }));
        }
    }
    let page = Page::new(args.offset, args.limit, 60, 10_000);
    Ok(headed("hosts", &asked, page, items).field("bandings", bandings))
}

fn separates(context: &Context, arguments: Map<String, Value>) -> Result<Answer, Failure> {
    let args: Args = read(arguments)?;
    let asked = ask(context, &args)?;
    let (mut items, mut bands) = (Vec::new(), Vec::new());
    for (_, group) in &asked.groups {
        // The first loses most time: the others are divisions by other metrics.
        for of in list(&group["bandings"]).next().into_iter().flat_map(|banding| list(&banding["separated"])) {
            bands.push(json!({
                "within": group["within"], "band": of["band"], "tested": of["tested"], "by_chance": of["by_chance"],
                "hosts_needed": of["hosts_needed"], "rule": of["rule"], "work": of["work"], "functions_at_most": of["functions_at_most"],
            }));
            items.extend(list(&of["facts"]).map(|fact| fact_item(&of["band"], fact)));
            items.extend(list(&of["lines"]).map(|line| metric_item(&of["band"], line)));
            items.extend(list(&of["functions"]).map(|line| function_item(&of["band"], line)));
        }
    }
    items.retain(|item| holds(&item.text, &args.matching));
    let page = Page::new(args.offset, args.limit, 60, 10_000);
    let none = items.is_empty();
    let mut answer = headed("separates", &asked, page, items);
    for band in &bands {
        answer = answer.line(said(band));
    }
    if none && !bands.is_empty() {
        answer = answer.line("Nothing separates them by more than chance.");
    }
    Ok(answer.field("bands", bands))
}

/// What is said of the lines of a band: how many chance would give, the rule, the work.
fn said(band: &Value) -> String {
    let mut said = format!(
        "Band {}: of {} lines, bands at random would have {} at most",
        band["band"], band["tested"], band["by_chance"]
    );
    if let Some(needed) = band["hosts_needed"].as_u64() {
        said = format!("Band {}: too few recordings to say by metrics; it takes {needed}", band["band"]);
    }
    if let Some(rule) = band["rule"].as_object() {
        let cuts: Vec<String> = rule
            .get("cuts")
            .into_iter()
            .flat_map(list)
            .map(|cut| {
                format!(
                    "{} {} {}",
                    text(&cut["metric"]),
                    if cut["above"] == true { "above" } else { "below" },
                    cut["at"]
                )
            })
            .collect();
        let join = format!(" {} ", rule.get("join").map_or("and", text));
        let wrong = |name: &str| rule.get(name).cloned().unwrap_or(Value::Null);
        said.push_str(&format!(
            "; rule: where {}, wrong for {} of {} on other blocks of time ({} without a rule)",
            cuts.join(&join),
            wrong("wrong_elsewhere"),
            wrong("hosts"),
            wrong("without")
        ));
    }
    if let Some(equal) = band["work"]["equal"].as_bool() {
        said.push_str(if equal { "; the work is equal" } else { "; the work may differ" });
    }
    format!("{said}.")
}

fn fact_item(band: &Value, fact: &Value) -> Item {
    let of = |counts: &Value| format!("{} of {}", counts[0], counts[1]);
    let line = format!(
        "fact {} = {}: {} in band {band}, {} of the others; q = {:.3}",
        text(&fact["fact"]),
        text(&fact["value"]),
        of(&fact["band"]),
        of(&fact["others"]),
        number(&fact["q"])
    );
    Item { text: line, value: with("fact", band, fact) }
}

fn metric_item(band: &Value, line: &Value) -> Item {
    let (d, unit) = (&line["difference"], text(&line["unit"]));
    let [one, others, shift, low, high] =
        [&d["band"], &d["others"], &d["shift"]["value"], &d["shift"]["low"], &d["shift"]["high"]]
            .map(|v| human(number(v), unit));
    let superiority = number(&d["superiority"]);
    let line_said = format!(
        "metric {}: {one} in band {band}, {others} in the others, shift {shift} (95 % CI {low} to {high}), tells apart {:.0} %",
        text(&line["metric"]),
        100.0 * superiority.max(1.0 - superiority)
    );
    Item { text: line_said, value: with("metric", band, line) }
}

fn function_item(band: &Value, line: &Value) -> Item {
    let share = |v: &Value| format!("{:.1} %", 100.0 * number(v));
    let line_said = format!(
        "function {} ({}, {}): {} of the time in band {band}, {} in the others",
        text(&line["function"]),
        text(&line["state"]),
        text(&line["module"]),
        share(&line["difference"]["band"]),
        share(&line["difference"]["others"])
    );
    Item { text: line_said, value: with("function", band, line) }
}

/// The line with what it is of.
fn with(kind: &str, band: &Value, line: &Value) -> Value {
    json!({"kind": kind, "of_band": band, "is": line})
}

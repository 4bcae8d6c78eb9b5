//! `twinscope fleet bands`: which bands a fleet falls into, as text, Markdown or JSON.

use super::add::recordings;
use super::info::say_damage;
use super::separated;
use crate::text::{self, clean};
use ::fleet::statistics::bands::{Band, Found};
use ::fleet::{Answer, Asked, Banding, Folder, Group, Question};
use anyhow::Result;
use clap::{Args, ValueEnum};
use query::{human, times};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Hosts named in a line.
const NAMED: usize = 8;

/// What is asked of a fleet: shared by `bands` and `explain`.
#[derive(Args, Debug)]
pub(super) struct Asking {
    /// The folder of summaries
    #[arg(value_name = "FLEET")]
    pub(super) folder: PathBuf,

    /// The metric to divide by: NAME, NAME{label=value}, with `per operation` or `per second` behind it where there are
    /// both; may be given several times, the first counts most. `any` asks all metrics, and finds less. Without it: the
    /// pace, CPU time, CPU use, run-queue wait and the other states of the thread ledger
    #[arg(long, value_name = "METRIC")]
    by: Vec<String>,

    /// Only recordings with this label; may be given several times
    #[arg(long = "where", value_name = "LABEL=VALUE", value_parser = pair)]
    labels: Vec<(String, String)>,

    /// Look within each value of this fact, such as cpu.model
    #[arg(long, value_name = "FACT")]
    pub(super) within: Option<String>,

    /// Exit with 4 if there are bands, or a stray; may be given several times
    #[arg(long, value_name = "CONDITION")]
    fail_on: Vec<Condition>,
}

/// When the exit code is 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Condition {
    /// There is more than one band
    Bands,
    /// A single host lies far from all others
    Stray,
}

/// Reads LABEL=VALUE.
fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected LABEL=VALUE")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

impl Asking {
    /// Asks.
    pub(super) fn ask(&self) -> Result<Answer> {
        let folder = Folder::open(&self.folder)?;
        let any = self.by.iter().any(|by| by == "any");
        let question = Question {
            by: if any { Vec::new() } else { self.by.clone() },
            any,
            labels: self.labels.clone(),
            within: self.within.clone(),
        };
        let fleet = ::fleet::Fleet::load(&folder, &question.labels)?;
        Ok(::fleet::ask(fleet, &question)?)
    }

    /// The exit code, where a condition holds that is to fail; which it is goes to standard error.
    pub(super) fn failed(&self, answer: &Answer) -> Option<u8> {
        let holds = |condition: &&Condition| match condition {
            Condition::Bands => answer.groups.iter().any(|group| !group.bandings.is_empty()),
            Condition::Stray => {
                let found =
                    answer.groups.iter().flat_map(|group| &group.asked).filter_map(|asked| asked.found.as_ref());
                found.into_iter().any(|found| !found.strays.is_empty())
            }
        };
        let what = match self.fail_on.iter().find(holds)? {
            Condition::Bands => "there are bands",
            Condition::Stray => "there are strays",
        };
        eprintln!("twinscope: --fail-on: {what}");
        Some(4)
    }
}

/// Show which bands hosts fall into.
#[derive(Args, Debug)]
pub struct Bands {
    #[command(flatten)]
    asking: Asking,

    /// Show all that separates the bands, not only the first
    #[arg(short, long)]
    all: bool,

    /// Print JSON (docs/fleet.md)
    #[arg(long, conflicts_with = "markdown")]
    json: bool,

    /// Print Markdown, for a ticket
    #[arg(long)]
    markdown: bool,
}

/// Asks and prints. Exit code 3 where a part of the folder could not be read.
pub fn bands(options: &Bands) -> Result<u8> {
    let answer = options.asking.ask()?;
    if options.json {
        println!("{}", serde_json::to_string_pretty(&answer_json(&answer))?);
    } else {
        print(&answer, options);
    }
    let damaged = say_damage(&answer.damage);
    Ok(options.asking.failed(&answer).unwrap_or(damaged))
}

/// What the fleet answers, as JSON.
pub(super) fn answer_json(answer: &Answer) -> Value {
    json!({ "groups": answer.groups.iter().map(group_json).collect::<Vec<_>>() })
}

fn print(answer: &Answer, options: &Bands) {
    for (at, group) in answer.groups.iter().enumerate() {
        if at > 0 {
            println!();
        }
        if let (Some(fact), Some(value)) = (&options.asking.within, &group.within) {
            let mark = if options.markdown { "## " } else { "" };
            println!("{mark}{} = {}", clean(fact), clean(value));
        }
        if group.bandings.is_empty() {
            none(group);
        }
        for banding in &group.bandings {
            print_banding(group, banding, options);
        }
    }
}

/// The bands of a banding in its order, best first.
fn in_order<'a>(found: &'a Found, banding: &'a Banding) -> impl Iterator<Item = &'a Band> {
    banding.order.iter().filter_map(|band| found.bands.get(*band))
}

/// A share with its interval: "12 % (95 % CI 5–23 %)".
fn share(band: &Band) -> String {
    let [of, low, high] = [band.share.count as f64 / band.share.of as f64, band.share.low, band.share.high]
        .map(|share| format!("{:.1}", 100.0 * share));
    format!("{} of {}, {of} % (95 % CI {low}–{high} %)", band.share.count, band.share.of)
}

/// How far two bands are apart: "2.6× between them".
fn apart(asked: &Asked, one: &Band, other: &Band) -> String {
    let ratio = (one.middle / other.middle).max(other.middle / one.middle);
    if ratio.is_finite() && ratio > 0.0 {
        format!("{} between them", times(ratio))
    } else {
        format!("{} between them", human((one.middle - other.middle).abs(), asked.metric.unit()))
    }
}

/// The banding in a sentence or three.
pub(super) fn headline(group: &Group, banding: &Banding) -> Vec<String> {
    let Some((asked, found)) = group.named(banding) else { return Vec::new() };
    let ordered: Vec<&Band> = in_order(found, banding).collect();
    let (Some(first), Some(last)) = (ordered.first(), ordered.last()) else { return Vec::new() };
    let (name, unit) = (clean(&asked.metric.key.to_string()), asked.metric.unit());
    let facts: Vec<String> = banding.facts.iter().map(|(c, n)| clean(&format!("{c}.{n}"))).collect();
    let mut lines = Vec::new();
    if !facts.is_empty() {
        lines.push(format!("The bands are the values of {}.", some(&facts)));
    }
    lines.push(format!(
        "{} bands by {name}: {} at {}, {} at {}: {}; p = {:.3}.",
        found.bands.len(),
        share(first),
        human(first.middle, unit),
        if ordered.len() == 2 { "the others" } else { "the last" },
        human(last.middle, unit),
        apart(asked, last, first),
        banding.p
    ));
    if let Some(lost) = banding.lost.filter(|lost| *lost >= 0.005) {
        lines.push(format!(
            "At the pace of the best band the fleet would take {:.0} % less time for its work.",
            100.0 * lost
        ));
    }
    lines
}

fn print_banding(group: &Group, banding: &Banding, options: &Bands) {
    let Some((asked, found)) = group.named(banding) else { return };
    let ordered: Vec<&Band> = in_order(found, banding).collect();
    let unit = asked.metric.unit();
    let mark = if options.markdown { "**" } else { "" };
    for line in headline(group, banding) {
        println!("{mark}{line}{mark}");
    }
    println!();
    let mut out = text::table(&["band", "of all", "middle", "from", "to"], &[true, false, true, true, true]);
    for (at, band) in ordered.iter().enumerate() {
        out.add_row([
            (at + 1).to_string(),
            share(band),
            human(band.middle, unit),
            human(band.low, unit),
            human(band.high, unit),
        ]);
    }
    println!("{}", text::trimmed(&out));
    for (at, _) in ordered.iter().enumerate() {
        let members: Vec<String> = of_band(group, banding, at).into_iter().take(NAMED + 1).collect();
        println!("band {}: {}", at + 1, some(&members));
    }
    strays(group, found);
    separated::share(found);
    separated::since(group, banding);
    let alike: Vec<String> = banding
        .metrics
        .iter()
        .skip(1)
        .filter_map(|at| group.asked.get(*at))
        .map(|asked| clean(&asked.metric.key.to_string()))
        .collect();
    if !alike.is_empty() {
        println!("Divide alike: {}.", some(&alike));
    }
    for of in &banding.separated {
        separated::print(group, banding, of, options.all);
    }
}

/// The names of the recordings of a band: those of the hosts where each has one recording.
fn of_band(group: &Group, banding: &Banding, band: usize) -> Vec<String> {
    let of = |at: usize| banding.of.get(at).copied().flatten() == Some(band);
    (0..group.recordings.len()).filter(|at| of(*at)).map(|at| name(group, at)).collect()
}

/// What a recording is called: its host, and its own name where the host has several.
pub(super) fn name(group: &Group, at: usize) -> String {
    let Some(of) = group.recordings.get(at) else { return String::new() };
    let several = group.recordings.iter().filter(|other| other.host == of.host).count() > 1;
    if several { clean(&format!("{} {}", of.host, of.run)) } else { clean(&of.host) }
}

/// Some of a list in words.
pub(super) fn some(names: &[String]) -> String {
    match names.len() {
        0 => "none".to_owned(),
        n if n <= NAMED => names.join(", "),
        _ => format!("{}, and more", names.get(..NAMED).unwrap_or(names).join(", ")),
    }
}

fn strays(group: &Group, found: &Found) {
    for stray in &found.strays {
        println!(
            "stray: {} lies {:.0} robust deviations {} its band",
            name(group, stray.host),
            stray.deviations.abs(),
            if stray.deviations > 0.0 { "above" } else { "below" }
        );
    }
    if !found.undecided.is_empty() {
        let names: Vec<String> = found.undecided.iter().map(|at| name(group, *at)).collect();
        println!("undecided, between two bands: {}", some(&names));
    }
}

/// A fleet without bands: what it would have shown.
pub(super) fn none(group: &Group) {
    let asked: Vec<&Asked> = group.asked.iter().filter(|asked| asked.found.is_some()).collect();
    if asked.is_empty() {
        let why = match group.recordings.len() {
            0..=2 => "fewer than three recordings".to_owned(),
            _ => "by no metric do the recordings differ by more than their own errors".to_owned(),
        };
        println!("No bands: {} asked, {why}.", recordings(group.recordings.len()));
        return;
    }
    let names: Vec<String> = asked.iter().map(|asked| clean(&asked.metric.key.to_string())).collect();
    println!("No bands among {}, by {}.", recordings(group.recordings.len()), some(&names));
    for asked in asked.iter().take(1) {
        let Some(found) = &asked.found else { continue };
        let shown: Vec<String> = found
            .shown
            .iter()
            .map(|shown| {
                let by = match shown.ratio {
                    Some(ratio) => format!("{} as much", times(ratio)),
                    None => format!("{} more", human(shown.difference, asked.metric.unit())),
                };
                format!("{:.0} % of them with {by}", 100.0 * shown.share)
            })
            .collect();
        if !shown.is_empty() {
            let name = clean(&asked.metric.key.to_string());
            println!("By {name} it would have shown, with a chance of 80 %: {}.", shown.join("; "));
        }
    }
    for asked in asked {
        if let Some(found) = &asked.found {
            strays(group, found);
        }
    }
}

fn group_json(group: &Group) -> Value {
    let recordings: Vec<Value> = group
        .recordings
        .iter()
        .map(|of| json!({"id": of.id, "host": of.host, "run": of.run, "file": of.file, "start": of.start, "labels": of.labels}))
        .collect();
    let asked: Vec<Value> = group
        .asked
        .iter()
        .map(|asked| {
            json!({
                "metric": asked.metric.key.to_string(),
                "unit": asked.metric.unit(),
                "spread": asked.spread,
                "values": asked.metric.mean.iter().map(|v| v.is_finite().then_some(*v)).collect::<Vec<_>>(),
                "bands": asked.found.as_ref().map(|found| found.bands.len()),
            })
        })
        .collect();
    let bandings: Vec<Value> = group.bandings.iter().filter_map(|banding| banding_json(group, banding)).collect();
    json!({"within": group.within, "recordings": recordings, "asked": asked, "bandings": bandings})
}

fn banding_json(group: &Group, banding: &Banding) -> Option<Value> {
    let (asked, found) = group.named(banding)?;
    let bands: Vec<Value> = in_order(found, banding)
        .map(|band| {
            json!({
                "count": band.share.count, "of": band.share.of,
                "share": {"low": band.share.low, "high": band.share.high},
                "middle": band.middle, "low": band.low, "high": band.high,
            })
        })
        .collect();
    let strays: Vec<Value> =
        found.strays.iter().map(|s| json!({"recording": s.host, "deviations": s.deviations})).collect();
    let valleys: Vec<Value> = found.valleys.iter().map(|v| json!({"at": v.at, "depth": v.depth})).collect();
    let metrics: Vec<String> =
        banding.metrics.iter().filter_map(|at| group.asked.get(*at)).map(|a| a.metric.key.to_string()).collect();
    let facts: Vec<String> = banding.facts.iter().map(|(category, name)| format!("{category}.{name}")).collect();
    Some(json!({
        "metrics": metrics, "unit": asked.metric.unit(), "p": banding.p, "bands": bands, "valleys": valleys,
        "of": banding.of, "undecided": found.undecided, "strays": strays, "lost": banding.lost, "facts": facts,
        "separated": banding.separated.iter().map(|of| separated::json(group, of)).collect::<Vec<_>>(),
        "since": separated::since_json(banding),
    }))
}

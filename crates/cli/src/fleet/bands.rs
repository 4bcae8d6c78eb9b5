//! `twinscope fleet bands`: which bands a fleet falls into, as text, Markdown or JSON.

use super::add::recordings;
use super::info::say_damage;
use super::separated;
use crate::text::{self, clean};
use ::fleet::statistics::bands::{Band, Found};
use ::fleet::words::{headline, in_order, name, share, some};
use ::fleet::{Answer, Asked, Banding, Folder, Group, Question};
use anyhow::Result;
use clap::{Args, ValueEnum};
use query::{human, times};
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
        println!("{}", serde_json::to_string_pretty(&answer.to_json())?);
    } else {
        print(&answer, options);
    }
    let damaged = say_damage(&answer.damage);
    Ok(options.asking.failed(&answer).unwrap_or(damaged))
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

//! `twinscope fleet bands`: which bands a fleet falls into, as text, Markdown or JSON.

use super::info::say_damage;
use super::separated;
use crate::progress::Progress;
use crate::text::{self, clean};
use ::fleet::result::{FleetAnswer, FleetBanding, FleetGroup, FleetStraying, some};
use ::fleet::{Answer, Question};
use anyhow::Result;
use clap::{Args, ValueEnum};
use query::human;
use std::path::PathBuf;

/// Metrics named of a stray.
const STRAYS_IN: usize = 3;

/// What is asked of a fleet: shared by `bands`, `explain` and `report`.
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

    #[command(flatten)]
    engine: super::engine::With,
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
        let any = self.by.iter().any(|by| by == "any");
        let question = Question {
            by: if any { Vec::new() } else { self.by.clone() },
            any,
            labels: self.labels.clone(),
            within: self.within.clone(),
        };
        let _progress = Progress::new(&format!("dividing {}", self.folder.display()));
        self.engine.ask(&self.folder, &question)
    }

    /// The command that prints what is asked as text.
    pub(super) fn command(&self) -> String {
        let mut words: Vec<String> = ["twinscope", "fleet", "bands"].map(String::from).into();
        words.push(self.folder.display().to_string());
        self.by.iter().for_each(|by| words.extend(["--by".to_owned(), by.clone()]));
        self.labels.iter().for_each(|(name, value)| words.extend(["--where".to_owned(), format!("{name}={value}")]));
        self.within.iter().for_each(|fact| words.extend(["--within".to_owned(), fact.clone()]));
        ::tune::shell(&words)
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
        println!("{}", serde_json::to_string_pretty(&::fleet::result::result(&answer))?);
    } else {
        print(&::fleet::result::result(&answer), options);
    }
    let damaged = say_damage(&answer.damage);
    Ok(options.asking.failed(&answer).unwrap_or(damaged))
}

fn print(answer: &FleetAnswer, options: &Bands) {
    for (at, group) in answer.groups.iter().enumerate() {
        if at > 0 {
            println!();
        }
        if let (Some(fact), Some(value)) = (&options.asking.within, &group.within) {
            let mark = if options.markdown { "## " } else { "" };
            println!("{mark}{} = {}", clean(fact), clean(value));
        }
        none(group);
        for banding in &group.bandings {
            print_banding(group, banding, options);
        }
        let said = |of: &&FleetStraying| group.bandings.iter().any(|banding| strays_by(banding, of));
        group.strays.iter().filter(|of| !said(of)).for_each(|of| stray(group, of));
    }
}

/// A fleet without bands: that there are none, and what it would have shown.
pub(super) fn none(group: &FleetGroup) {
    group.says.iter().for_each(|line| println!("{}", clean(line)));
}

/// Prints sentences that matter most.
pub(super) fn headline(banding: &FleetBanding, markdown: bool) {
    let mark = if markdown { "**" } else { "" };
    banding.says.iter().for_each(|line| println!("{mark}{}{mark}", clean(line)));
}

fn print_banding(group: &FleetGroup, banding: &FleetBanding, options: &Bands) {
    let unit = &banding.unit;
    headline(banding, options.markdown);
    println!();
    let mut out = text::table(&["band", "of all", "middle", "from", "to"], &[true, false, true, true, true]);
    for (at, band) in banding.bands.iter().enumerate() {
        out.add_row([
            (at + 1).to_string(),
            band.share(),
            human(band.middle, unit),
            human(band.low, unit),
            human(band.high, unit),
        ]);
    }
    println!("{}", text::trimmed(&out));
    for at in 0..banding.bands.len() {
        let members: Vec<String> = (0..group.recordings.len())
            .filter(|recording| banding.of.get(*recording).copied().flatten() == Some(at))
            .map(|recording| clean(group.name(recording)))
            .collect();
        println!("band {}: {}", at + 1, some(&members));
    }
    group.strays.iter().filter(|of| strays_by(banding, of)).for_each(|of| stray(group, of));
    if !banding.undecided.is_empty() {
        let names: Vec<String> = banding.undecided.iter().map(|at| clean(group.name(*at))).collect();
        println!("undecided, between two bands: {}", some(&names));
    }
    banding.share_says.iter().for_each(|line| println!("{}", clean(line)));
    separated::since(group, banding);
    let alike: Vec<String> = banding.metrics.iter().skip(1).map(|name| clean(name)).collect();
    if !alike.is_empty() {
        println!("Divide alike: {}.", some(&alike));
    }
    for of in &banding.separated {
        separated::print(of, options.all);
    }
}

/// Whether a recording strays by the metric that names a banding.
fn strays_by(banding: &FleetBanding, of: &FleetStraying) -> bool {
    banding.strays.iter().any(|stray| stray.recording == of.recording)
}

fn stray(group: &FleetGroup, of: &FleetStraying) {
    let lines: Vec<String> = of
        .lines
        .iter()
        .take(STRAYS_IN)
        .map(|line| {
            let side = if line.deviations > 0.0 { "above" } else { "below" };
            let [value, middle] = [line.value, line.middle].map(|value| human(value, &line.unit));
            // Where all others are alike, how many is only how finely they were measured.
            let deviations = line.deviations.abs();
            let many = if deviations > 1000.0 { "over 1,000".to_owned() } else { format!("{deviations:.0}") };
            format!("{} {value}, {many} robust deviations {side} {middle}", clean(&line.metric))
        })
        .collect();
    let left = of.lines.len().saturating_sub(STRAYS_IN) + of.more;
    let more = match left {
        0 => String::new(),
        1 => "; and 1 more metric".to_owned(),
        left => format!("; and {left} more metrics"),
    };
    println!("stray: {}: {}{more}", clean(group.name(of.recording)), lines.join("; "));
}

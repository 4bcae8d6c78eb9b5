//! `twinscope explain` and `twinscope causes`: the cause first, in the terminal, as Markdown for a ticket, or as JSON.

use crate::next;
use crate::progress::{Progress, names};
use crate::sides::{AgainstWindow, OfTrigger};
use crate::text;
use anyhow::Result;
use clap::Args;
use compare::{Choice, PerSide, Side};
use explain::cause::{self, Cause};
use explain::{Explanation, Outcome, share_in_words};
use query::human;
use std::io::IsTerminal;
use std::path::PathBuf;

/// Which causes are looked for, beside those that come with the program.
#[derive(Args, Debug)]
pub(crate) struct Own {
    /// Your own causes: a folder of files like those that `twinscope causes NAME` shows; may be given several times
    #[arg(long, value_name = "DIR")]
    causes: Vec<PathBuf>,
}

impl Own {
    /// All of them.
    pub(crate) fn known(&self) -> Result<Vec<Cause>> {
        let mut causes = cause::built_in();
        for folder in &self.causes {
            cause::add(&mut causes, folder)?;
        }
        Ok(causes)
    }
}

/// Explain why a run is slower than a baseline, or what limits a single run.
#[derive(Args, Debug)]
pub struct Explain {
    /// The slow recording, or several repeats of it
    #[arg(required = true, value_name = "SLOW.twin")]
    slow: Vec<PathBuf>,

    /// The baseline, or several repeats of it
    #[arg(long, value_name = "FAST.twin", num_args = 1..)]
    against: Vec<PathBuf>,

    /// The window to explain: auto, whole, busy, or FROM..TO with times since the start (10s..50s), times of day in UTC
    /// (10:02..10:05, 2026-11-26T10:02Z..) or marks ('warm-up over..'). auto is the lifetime of the command, or else the
    /// busy stretch
    #[arg(long, value_name = "WINDOW", default_value = "auto", value_parser = crate::compare::window)]
    window: Choice,

    #[command(flatten)]
    against_window: AgainstWindow,

    #[command(flatten)]
    work: crate::compare::WorkBy,

    /// Smallest slowdown to explain, in per cent; 10 by default, 5 with at least three repeats per side
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    least: Option<f64>,

    /// Another machine, of which `doctor --json` wrote this file or `record --doctor` a recording: how long the program
    /// would take on it, by its own time and the figures of both; may be given several times. The slow recording must
    /// have been made with --doctor
    #[arg(long, value_name = "FILE", conflicts_with_all = ["tail", "ask"])]
    machine: Vec<PathBuf>,

    #[command(flatten)]
    own: Own,

    /// Print JSON (docs/explain-json.md)
    #[arg(long, conflicts_with = "markdown")]
    json: bool,

    /// Print Markdown, for a ticket
    #[arg(long)]
    markdown: bool,

    /// Instead, what the slowest 1 % of a server's requests did that usual ones did not (docs/requests.md)
    #[arg(long, conflicts_with_all = ["markdown", "ask", "fail_on", "least"])]
    tail: bool,

    /// Instead of explaining, run this SQL statement on the tables that causes query (docs/explain.md)
    #[arg(long, value_name = "STATEMENT", conflicts_with_all = ["json", "markdown", "fail_on"])]
    ask: Option<String>,

    #[command(flatten)]
    time: crate::sql::TimeLimit,

    /// Exit with 4 if this holds: any (a finding), slower, CAUSE, or CAUSE 20% (its share); may be given several times
    #[arg(long, value_name = "CONDITION", value_parser = Condition::parse)]
    fail_on: Vec<Condition>,
}

/// List the causes that `explain` looks for, or show one
#[derive(Args, Debug)]
pub struct Causes {
    /// Show this one, with its query
    #[arg(value_name = "CAUSE")]
    name: Option<String>,

    #[command(flatten)]
    own: Own,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn percent(text: &str) -> Result<f64, String> {
    let number: f64 = text.trim_end_matches('%').trim().parse().map_err(|_| "expected a number of per cent")?;
    if number.is_finite() && number >= 0.0 {
        Ok(number / 100.0)
    } else {
        Err("expected a number of per cent, 0 or more".into())
    }
}

/// When the exit code is 4.
#[derive(Clone, Debug, PartialEq)]
enum Condition {
    Any,
    Slower,
    Cause(String, f64),
}

impl Condition {
    fn parse(words: &str) -> Result<Self, String> {
        let (name, share) = match words.trim().rsplit_once(char::is_whitespace) {
            Some((name, share)) => (name.trim(), percent(share)?),
            None => (words.trim(), 0.0),
        };
        match name {
            "any" => Ok(Condition::Any),
            "slower" => Ok(Condition::Slower),
            name if !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') => {
                Ok(Condition::Cause(name.to_owned(), share))
            }
            _ => Err("expected any, slower, CAUSE or 'CAUSE N%' (such as 'lock-contention 20%')".into()),
        }
    }

    fn holds(&self, e: &Explanation) -> bool {
        match self {
            Condition::Any => !e.findings.is_empty(),
            Condition::Slower => matches!(e.outcome, Outcome::Slower | Outcome::MoreTime | Outcome::LongerRequests),
            Condition::Cause(name, share) => e
                .findings
                .iter()
                .filter(|f| f.cause == *name)
                .map(|f| f.share.value)
                .reduce(|a, b| a + b)
                .is_some_and(|s| s >= *share),
        }
    }
}

/// Explains and prints. Returns the exit code.
pub fn explain(options: &Explain) -> Result<u8> {
    options.time.set()?;
    let causes = options.own.known()?;
    for condition in &options.fail_on {
        if let Condition::Cause(name, _) = condition
            && !causes.iter().any(|c| c.id == *name)
        {
            return Err(
                recorder::Usage(format!("--fail-on: there is no cause {name}; `twinscope causes` lists them")).into()
            );
        }
    }
    let against = options.against_window.baseline(&options.slow, &options.against, &options.window)?;
    let all: Vec<&PathBuf> = options.slow.iter().chain(against).collect();
    let progress = Progress::new(&format!("explaining {}", names(&options.slow)));
    let mut runs = query::open_by(&all, &options.work.work)?;
    options.against_window.narrow(&mut runs, options.slow.len()..all.len(), &options.window)?;
    let trigger = match (options.window == Choice::Auto && options.machine.is_empty(), against) {
        (true, []) => OfTrigger::of(&mut runs, || Ok(query::open_by(&all, &options.work.work)?))?,
        _ => None,
    };
    let words = match &trigger {
        Some(trigger) => trigger.words.clone(),
        None => options.against_window.words(&options.window),
    };
    let is_text = !options.json && options.ask.is_none();
    if let Some(statement) = &options.ask {
        let session = explain::session(runs, options.slow.len(), &options.window)?;
        drop(progress);
        say_trigger(trigger.as_ref(), is_text);
        crate::sql::answer(&session, statement, crate::sql::Format::Table)?;
        return Ok(0);
    }
    if options.tail {
        let tail = explain::tail::tail(runs, options.slow.len(), &options.window, &causes)?;
        drop(progress);
        say_trigger(trigger.as_ref(), is_text);
        if options.json {
            println!("{}", serde_json::to_string_pretty(&tail.to_json())?);
        } else {
            crate::tail::print(&tail);
        }
        return Ok(0);
    }
    let machines = options.machine.iter().map(|path| crate::machines::named(path)).collect::<Result<_>>()?;
    let settings = explain::Explain { window: options.window.clone(), least: options.least, causes, machines };
    let explanation = explain::explain(runs, options.slow.len(), &settings);
    drop(progress);
    say_trigger(trigger.as_ref(), is_text && explanation.is_ok());
    let explanation = match (explanation, &trigger) {
        (Err(explain::Error::Budget(why)), Some(trigger)) if !trigger.words.is_empty() => {
            let what_differs = offered("compare", options, &trigger.words, None);
            return Err(anyhow::anyhow!("{why}; what differs: {what_differs}"));
        }
        (explanation, _) => explanation?,
    };
    for damage in &explanation.damage {
        eprintln!("twinscope: {}", text::clean(damage));
    }
    if options.json {
        println!("{}", serde_json::to_string_pretty(&explanation.to_json())?);
    } else if options.markdown {
        print!("{}", explanation.to_markdown());
    } else {
        print(&explanation);
        if std::io::stdout().is_terminal() {
            let page = options.slow.first().map(|path| path.with_extension("html"));
            println!("\nAs a page: {}", offered("report", options, &words, page.as_ref()));
        }
    }
    if let Some(condition) = options.fail_on.iter().find(|c| c.holds(&explanation)) {
        let what = match condition {
            Condition::Any => "there is a finding".to_owned(),
            Condition::Slower => "it is slower".into(),
            Condition::Cause(name, _) => format!("{name} was found"),
        };
        eprintln!("twinscope: --fail-on: {what}");
        return Ok(4);
    }
    Ok(if explanation.damage.is_empty() { 0 } else { 3 })
}

/// Says which stretches of a trigger's snapshot were taken: before a text, else on standard error.
fn say_trigger(trigger: Option<&OfTrigger>, is_text: bool) {
    match trigger.map(|trigger| text::clean(&trigger.said)) {
        Some(said) if is_text => println!("{said}\n"),
        Some(said) => eprintln!("twinscope: {said}"),
        None => {}
    }
}

/// The command that shows the same runs in another way, the baseline first.
fn offered(command: &str, options: &Explain, windows: &[String], page: Option<&PathBuf>) -> String {
    let mut words = vec![command.to_owned()];
    words.extend(options.against.iter().chain(&options.slow).map(|path| path.display().to_string()));
    words.extend_from_slice(windows);
    if let Some(page) = page {
        words.extend(["-o".to_owned(), page.display().to_string(), "--open".to_owned()]);
    }
    text::clean(&next::command(&words.iter().map(String::as_str).collect::<Vec<_>>()))
}

/// Characters of a bar.
const BAR: usize = 40;

pub(crate) fn print(e: &Explanation) {
    for caution in e.said_first() {
        println!("{}\n", text::clean(&caution.text));
    }
    println!("{}\n", text::clean(&e.verdict));
    let alone = e.outcome == Outcome::Alone;
    let unit = e.unit.name();
    let most = e.ledger.iter().flat_map(|(_, t, _)| t.both()).fold(0.0f64, f64::max);
    // Without a slowdown there is nothing that a share is a part of.
    let has_shares = alone || e.outcome.is_loss();
    let mut table = match (alone, has_shares) {
        (true, _) => {
            text::table(&["time of the threads", &format!("per {unit}"), "share", ""], &[false, true, true, false])
        }
        (false, true) => text::table(
            &["time of the threads", "slow", "baseline", "of the slowdown", ""],
            &[false, true, true, true, false],
        ),
        (false, false) => text::table(&["time of the threads", "slow", "baseline", ""], &[false, true, true, false]),
    };
    for (state, PerSide { slow, baseline: fast }, share) in e.shown() {
        let bar =
            |time: f64, ink: &str| ink.repeat(if most > 0.0 { (time / most * BAR as f64).round() as usize } else { 0 });
        let mut row = vec![state.name().replace('_', " "), human(slow, "s")];
        row.extend((!alone).then(|| human(fast, "s")));
        row.extend(has_shares.then(|| share_in_words(share)));
        let columns = row.len();
        row.push(bar(slow, "█"));
        table.add_row(row);
        if !alone && !bar(fast, "░").is_empty() {
            table.add_row(std::iter::repeat_n(String::new(), columns).chain([bar(fast, "░")]));
        }
    }
    println!("{}", text::trimmed(&table));
    if e.outcome.is_loss() && e.shown().iter().any(|(.., share)| share.abs() < 0.005) {
        println!("–: no share of its own, such as run-queue wait behind the workload's own threads");
    }
    let done = |side: Side| format!("{} in {}", human(e.done[side].work, ""), human(e.done[side].seconds, "s"));
    match alone {
        true => println!("\nper {unit}: {} elapsed ({})", e.per_unit(Side::Slow), done(Side::Slow)),
        false => println!(
            "\nper {unit}: {} elapsed (baseline {}); {} (baseline {})",
            e.per_unit(Side::Slow),
            e.per_unit(Side::Baseline),
            done(Side::Slow),
            done(Side::Baseline)
        ),
    }
    if !e.differs.is_empty() {
        println!("\nWhat differs between these two, which may be chance:");
    }
    let both = e.limits_both.as_ref().map(|both| &both.slow);
    if both.is_some() {
        println!("\nWhat limits both:");
    }
    for (number, finding) in e.findings.iter().chain(&e.differs).chain(both).enumerate() {
        let [first, second] = finding.head();
        println!("\n{}. {}\n   {}", number + 1, text::clean(&first), text::clean(&second));
        for line in &finding.evidence {
            println!("   · {}", text::clean(line));
        }
        for line in &finding.advice {
            println!("   → {}", text::clean(line));
        }
        for line in &finding.check {
            println!("   check: {}", text::clean(line));
        }
    }
    if !matches!(e.outcome, Outcome::NoSlower | Outcome::Evenly) && !alone {
        println!("\nUnexplained: {:.0} %", e.unexplained * 100.0);
    }
    crate::machines::print_machines(&e.machines, unit);
    if e.said_last().next().is_some() {
        println!();
    }
    for caution in e.said_last() {
        println!("{}", text::clean(&caution.text));
    }
    if !e.notes.is_empty() {
        println!("\nNotes:");
    }
    for note in &e.notes {
        println!("  {}: {}", note.cause, text::clean(&note.text));
    }
    let known: Vec<_> = e.facts.iter().filter(|f| f.why.is_some()).collect();
    if !known.is_empty() {
        println!("\nConfiguration that differs and is known to matter:");
    }
    for fact in known {
        let values: Vec<String> = fact
            .values
            .iter()
            .map(|v| v.as_deref().map_or("not read".into(), |v| text::cut(&text::clean(v), 60)))
            .collect();
        let (slow, baseline) = values.split_at(e.slow.min(values.len()));
        println!("  {}: {} (baseline {})", text::clean(&fact.full_name()), slow.join(", "), baseline.join(", "));
    }
    if !e.not_evaluated.is_empty() {
        println!("\nNot evaluated:");
    }
    for (needs, causes) in e.gathered() {
        println!("  {}: needs {}", causes.join(", "), text::clean(&needs));
    }
}

/// Lists or shows causes. Returns the exit code.
pub fn causes(options: &Causes) -> Result<u8> {
    let causes = options.own.known()?;
    if let Some(name) = &options.name {
        let Some(cause) = causes.iter().find(|c| c.id == *name) else {
            return Err(recorder::Usage(format!("there is no cause {name}; `twinscope causes` lists them")).into());
        };
        if options.json {
            println!("{}", serde_json::to_string_pretty(&cause.to_json())?);
        } else {
            show(cause);
        }
        return Ok(0);
    }
    if options.json {
        println!("{}", serde_json::to_string_pretty(&causes.iter().map(Cause::to_json).collect::<Vec<_>>())?);
        return Ok(0);
    }
    let mut layer = "";
    let width = causes.iter().map(|c| c.id.len()).max().unwrap_or(0);
    for cause in &causes {
        if cause.layer != layer {
            println!("{}{}", if layer.is_empty() { "" } else { "\n" }, cause.layer);
            layer = &cause.layer;
        }
        println!("  {:width$}  {}", cause.id, text::clean(&cause.title));
    }
    println!("\n`twinscope causes CAUSE` shows one: its query, how to check it by hand, what to try.");
    Ok(0)
}

fn show(cause: &Cause) {
    println!("{}: {} ({})", cause.id, text::clean(&cause.title), cause.layer);
    println!("\nsays   {}", text::clean(&cause.says));
    let needs = if cause.needs.is_empty() { "only the thread ledger".to_owned() } else { cause.needs.join(", ") };
    println!("needs  {needs}{}", if cause.against { ", and a baseline" } else { "" });
    let experiment = cause.experiment.iter().map(ToString::to_string).collect();
    let yields = if cause.last { vec!["all others".to_owned()] } else { vec![cause.yields.join(" ")] };
    for (word, lines) in [
        ("yields", &yields),
        ("check", &cause.check),
        ("try", &cause.advice),
        ("vary", &experiment),
        ("see", &cause.see),
    ] {
        for line in lines.iter().filter(|line| !line.is_empty()) {
            println!("{word:6} {}", text::clean(line));
        }
    }
    println!("\n{}", cause.query());
    if !cause.tells.is_empty() {
        println!("\n-- What there is to say of what is claimed (table claimed):\n{}", cause.tells);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read() {
        assert_eq!(Condition::parse("any"), Ok(Condition::Any));
        assert_eq!(Condition::parse("lock-contention"), Ok(Condition::Cause("lock-contention".into(), 0.0)));
        assert_eq!(Condition::parse("gc 20%"), Ok(Condition::Cause("gc".into(), 0.2)));
        for bad in ["", "gc x%", "a b c", "gc -5%"] {
            assert!(Condition::parse(bad).is_err(), "{bad}");
        }
    }
}

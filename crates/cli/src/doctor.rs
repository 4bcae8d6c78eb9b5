//! `twinscope doctor`: is this machine set up right? Measures, judges, and on request changes settings and changes them back.

use crate::stop;
use crate::text::{clean, cut, table, trimmed};
use anyhow::{Context as _, Result};
use clap::Args;
use doctor::{Changed, Changes, Check, Context, Examined, Finding, Outcome, Value, Verdict};
use host::Host;
use model::human;
use recorder::Usage;
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{BufRead, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Say whether this machine is set up right, with what it costs measured here.
#[derive(Args, Debug)]
pub struct Doctor {
    /// The folder whose disk is measured: small files are made there and removed
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,

    /// Only these checks (see --list)
    #[arg(long, value_name = "IDS", value_delimiter = ',', conflicts_with = "skip")]
    only: Vec<String>,

    /// All but these checks
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    skip: Vec<String>,

    /// Fewer rounds: a third of the time, wider spreads
    #[arg(long)]
    quick: bool,

    /// Print JSON; without --only it has the figures of this machine, for --against on another
    #[arg(long)]
    json: bool,

    /// Instead of checking, lay this machine beside another, of which `doctor --json` wrote this file, or `record
    /// --doctor` a recording: figures of both with intervals, and what differs in the set-up
    #[arg(long, value_name = "FILE", conflicts_with_all = ["only", "skip", "list", "apply", "undo"])]
    against: Option<PathBuf>,

    /// List the checks and how they measure, without running them
    #[arg(long, conflicts_with_all = ["only", "skip", "apply", "undo"])]
    list: bool,

    /// Make the changes of settings that these checks advise; asks first
    #[arg(long, value_name = "IDS", value_delimiter = ',', num_args = 1.., conflicts_with_all = ["only", "skip", "undo", "json"])]
    apply: Vec<String>,

    /// Apply without asking
    #[arg(long, requires = "apply")]
    yes: bool,

    /// Restore all settings that --apply has changed
    #[arg(long, conflicts_with_all = ["only", "skip", "json"])]
    undo: bool,
}

/// The checks of these names.
fn named(names: &[String]) -> Result<Vec<&'static Check>, Usage> {
    let find = |name: &String| doctor::checks().find(|c| c.id == name);
    match names.iter().find(|n| find(n).is_none()) {
        Some(name) => {
            let ids: Vec<&str> = doctor::checks().map(|c| c.id).collect();
            Err(Usage(format!("there is no check {name:?}; there are: {}", ids.join(", "))))
        }
        // In their own order, which keeps loads away from what needs quiet.
        None => Ok(doctor::checks().filter(|c| names.iter().any(|n| n == c.id)).collect()),
    }
}

/// Examines this machine. Exit code 3 where a check that was asked for by name could not look.
pub fn doctor(options: &Doctor) -> Result<u8> {
    if options.list {
        return list(options.json).map(|()| 0);
    }
    let host = Host::live();
    if options.undo {
        return undo(&host);
    }
    let asked = if options.apply.is_empty() { &options.only } else { &options.apply };
    let skipped = named(&options.skip)?;
    let chosen: Vec<&'static Check> = match asked.is_empty() {
        true => doctor::checks().filter(|c| !skipped.iter().any(|s| s.id == c.id)).collect(),
        false => named(asked)?,
    };
    if chosen.is_empty() {
        return Err(Usage("--skip leaves no check to do".into()).into());
    }
    let kind = std::fs::metadata(&options.dir).with_context(|| format!("--dir {}", options.dir.display()))?;
    if !kind.is_dir() {
        return Err(Usage(format!("--dir {}: is no folder", options.dir.display())).into());
    }
    // A file that is none is told of before anything is measured.
    let there = options.against.as_deref().map(crate::machines::read).transpose()?;
    stop::heed_signals();
    let context = Context { host: &host, dir: &options.dir, quick: options.quick, stop: &stop::STOP };
    if let Some(there) = there {
        return against(options, &context, &there);
    }
    let start = Instant::now();
    let mut all = Vec::new();
    let progress = std::io::stderr().is_terminal();
    for (n, check) in chosen.iter().enumerate() {
        if progress {
            eprint!("\r\x1b[K{}/{} {}", n + 1, chosen.len(), check.title);
        }
        all.push(doctor::examine(check, &context));
        if stop::STOP.load(Ordering::Relaxed) {
            if progress {
                eprintln!("\r\x1b[K");
            }
            stop::end_by_signal();
        }
    }
    if progress {
        eprint!("\r\x1b[K");
    }
    // What was asked for by name is all that is wanted.
    let figures = if options.json && options.only.is_empty() && options.apply.is_empty() {
        Some(measured(options, &context)?)
    } else {
        None
    };
    stop::leave_signals();
    let seconds = start.elapsed().as_secs_f64();
    if !options.apply.is_empty() {
        return apply(&host, &all, options.yes);
    }
    if options.json {
        let mut json = as_json(&all, seconds);
        if let Some(figures) = &figures {
            add_figures(&mut json, figures, &crate::machines::set_up(&host));
        }
        println!("{}", serde_json::to_string_pretty(&json)?);
    } else {
        print(&all, seconds)?;
    }
    let missing =
        !options.only.is_empty() && all.iter().any(|e| e.finding.is_err() && e.verdict() != Verdict::NotApplicable);
    Ok(if missing { 3 } else { 0 })
}

/// The figures of this machine.
fn measured(options: &Doctor, context: &Context<'_>) -> Result<doctor::Figures> {
    let seconds = if options.quick { crate::machines::QUICK } else { crate::machines::THOROUGH };
    let found = doctor::figures(context, seconds);
    if stop::STOP.load(Ordering::Relaxed) {
        stop::end_by_signal();
    }
    found.map_err(|why| anyhow::anyhow!("{}", clean(&why.to_string())))
}

/// Puts figures and set-up into the JSON.
fn add_figures(json: &mut serde_json::Value, figures: &doctor::Figures, set_up: &BTreeMap<String, String>) {
    json["figures"] = json!(figures.list);
    json["figures_missing"] = json!(figures.missing);
    json["figures_disturbed"] = json!(figures.disturbed);
    json["set_up"] = json!(set_up);
}

/// This machine beside another.
fn against(options: &Doctor, context: &Context<'_>, there: &doctor::Machine) -> Result<u8> {
    let start = Instant::now();
    let figures = measured(options, context)?;
    stop::leave_signals();
    let set_up = crate::machines::set_up(context.host);
    let here = doctor::Machine { figures: figures.list.clone(), set_up, disturbed: figures.disturbed.clone() };
    let sides = doctor::side_by_side(&here, there);
    if options.json {
        let mut json = json!({"version": 1, "seconds": start.elapsed().as_secs_f64(), "checks": []});
        add_figures(&mut json, &figures, &here.set_up);
        json["against"] = crate::machines::json_of_sides(&sides, there);
        println!("{}", serde_json::to_string_pretty(&json)?);
    } else {
        crate::machines::print_sides(&sides, &here, there);
    }
    Ok(0)
}

fn list(json: bool) -> Result<()> {
    let mut out = std::io::stdout().lock();
    if json {
        let all: Vec<_> = doctor::checks()
            .map(|c| json!({"id": c.id, "theme": c.theme, "kind": c.kind, "title": c.title, "how": c.how, "source": c.source}))
            .collect();
        writeln!(out, "{}", serde_json::to_string_pretty(&all)?)?;
        return Ok(());
    }
    for check in doctor::checks() {
        writeln!(
            out,
            "{}  ({})\n    {}\n    how: {}\n    source: {}",
            check.id,
            check.theme.as_str(),
            check.title,
            check.how,
            check.source
        )?;
    }
    Ok(())
}

fn as_json(all: &[Examined], seconds: f64) -> serde_json::Value {
    let checks: Vec<_> = all
        .iter()
        .map(|e| {
            let mut object = json!({
                "id": e.check.id, "theme": e.check.theme, "kind": e.check.kind, "title": e.check.title,
                "verdict": e.verdict(), "seconds": e.seconds, "disturbed": e.disturbed,
            });
            match &e.finding {
                Ok(f) => {
                    object["says"] = json!(f.says);
                    object["expected"] = json!(f.expected);
                    object["values"] = json!(f.values);
                    object["changes"] = json!(f.changes);
                }
                Err(why) => object["unavailable"] = json!(why),
            }
            object
        })
        .collect();
    json!({ "version": 1, "seconds": seconds, "checks": checks })
}

/// Colours of verdicts, where standard output is a terminal that wants them.
fn painted(verdict: Verdict, text: &str) -> String {
    let colour = match verdict {
        Verdict::Bad => "31",
        Verdict::CouldBeBetter => "33",
        Verdict::Unknown => "35",
        Verdict::Good => "32",
        Verdict::NotApplicable => "2",
    };
    if crate::text::has_colour() { format!("\x1b[{colour}m{text}\x1b[0m") } else { text.to_owned() }
}

/// Columns of the terminal; 110 where it is none.
fn width() -> usize {
    let size = || {
        // SAFETY: the structure is ours, and zeroes are valid for it.
        unsafe {
            let mut size: libc::winsize = std::mem::zeroed();
            (libc::ioctl(1, libc::TIOCGWINSZ, &raw mut size) == 0).then_some(size.ws_col as usize)
        }
    };
    size().filter(|w| *w > 0).unwrap_or(110).clamp(60, 160)
}

/// Lines of at most `width` characters, broken at spaces, the later ones indented.
fn wrapped(text: &str, indent: usize, width: usize) -> String {
    let mut out = String::new();
    let mut at = indent;
    for word in text.split(' ') {
        let length = word.chars().count();
        if at > indent && at + 1 + length > width {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
            at = indent;
        } else if at > indent {
            out.push(' ');
            at += 1;
        }
        out.push_str(word);
        at += length;
    }
    out
}

/// A text for the last column of the table: what is left of a terminal's width. A file gets all of it.
fn fitted(text: &str, width: usize) -> String {
    /// Columns before it.
    const BEFORE: usize = 90;
    if std::io::stdout().is_terminal() { cut(&clean(text), width.saturating_sub(BEFORE).max(40)) } else { clean(text) }
}

fn shown(value: &Value) -> String {
    match value.value {
        // Settings are compared with what documents say, digit by digit.
        Some(number) if value.unit.is_empty() && number.fract() == 0.0 => format!("{number:.0}"),
        Some(number) => human(number, value.unit),
        None => clean(&value.text),
    }
}

fn spread(value: &Value) -> String {
    match (value.low, value.high) {
        (Some(low), Some(high)) => format!("{} to {}", human(low, value.unit), human(high, value.unit)),
        _ => String::new(),
    }
}

fn print(all: &[Examined], seconds: f64) -> Result<()> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let width = width();
    let mut sorted: Vec<&Examined> = all.iter().collect();
    sorted.sort_by_key(|e| e.verdict());
    for (n, examined) in sorted.iter().filter(|e| e.verdict() < Verdict::Good).enumerate() {
        let verdict = examined.verdict();
        if n > 0 {
            writeln!(out)?;
        }
        let name = format!("{}: {}", verdict.as_str(), examined.check.id);
        writeln!(out, "{}", painted(verdict, &name))?;
        let mut line = |name: &str, text: &str| writeln!(out, "  {name:10} {}", wrapped(&clean(text), 13, width));
        match &examined.finding {
            Ok(finding) => {
                line("here", &finding.says)?;
                if let Some(why) = &examined.disturbed {
                    // What is not judged is not to be changed either.
                    line("not judged", &format!("{why}: run it again when the machine is quiet"))?;
                    continue;
                }
                line("expected", &finding.expected)?;
                for change in &finding.changes {
                    let apply = if change.writes.is_empty() {
                        String::new()
                    } else {
                        format!("  (or: twinscope doctor --apply {})", examined.check.id)
                    };
                    line("change", &format!("{}{apply}", shortened(change)))?;
                    line("risk", &change.risk)?;
                }
            }
            Err(why) => {
                line("why", &format!("{}: {}", why.status.as_str(), why.why))?;
                if let Some(remedy) = &why.remedy {
                    line("remedy", remedy)?;
                }
            }
        }
    }
    if all.iter().any(|e| e.verdict() < Verdict::Good) {
        writeln!(out)?;
    }
    let mut values = table(&["check", "verdict", "value", "", ""], &[false, false, false, true, false]);
    for examined in all {
        let head = [examined.check.id.to_owned(), examined.verdict().as_str().to_owned()];
        let mut row = |first: bool, name: String, number: String, text: String| {
            let [id, verdict] = if first { head.clone() } else { [String::new(), String::new()] };
            values.add_row([id, verdict, name, number, text]);
        };
        match &examined.finding {
            Ok(Finding { values: own, .. }) => {
                for (n, value) in own.iter().filter(|v| v.name != "pairs, ns").enumerate() {
                    let name = cut(&clean(&value.name), 44);
                    match value.value {
                        Some(_) => row(n == 0, name, shown(value), spread(value)),
                        // A word may be long: it has the last column, which nothing follows.
                        None => row(n == 0, name, String::new(), fitted(&value.text, width)),
                    }
                }
            }
            Err(why) => row(true, String::new(), String::new(), fitted(&why.why, width)),
        }
    }
    writeln!(out, "{}", trimmed(&values))?;
    let count = |verdict| all.iter().filter(|e| e.verdict() == verdict).count();
    writeln!(
        out,
        "\n{} check{} in {seconds:.1} s: {} bad, {} could be better, {} unknown, {} good, {} not applicable. Nothing was changed.",
        all.len(),
        if all.len() == 1 { "" } else { "s" },
        count(Verdict::Bad),
        count(Verdict::CouldBeBetter),
        count(Verdict::Unknown),
        count(Verdict::Good),
        count(Verdict::NotApplicable)
    )?;
    Ok(out.flush()?)
}

/// The command of a change; one that writes many files is told by its first.
fn shortened(change: &doctor::Change) -> String {
    match change.writes.as_slice() {
        [first, _, .., _] => {
            format!("echo {} > {} and {} more files", first.value, first.path, change.writes.len() - 1)
        }
        _ => change.what.clone(),
    }
}

fn apply(host: &Host, all: &[Examined], yes: bool) -> Result<u8> {
    let mut writes = Vec::new();
    let mut missing = false;
    let mut out = std::io::stdout().lock();
    for examined in all {
        let id = examined.check.id;
        match &examined.finding {
            Err(why) => {
                missing = true;
                eprintln!("twinscope: {id}: {}", clean(&why.to_string()));
            }
            Ok(finding) => {
                let own: Vec<_> = finding.changes.iter().filter(|c| !c.writes.is_empty()).collect();
                if own.is_empty() {
                    let why = if finding.changes.is_empty() {
                        "nothing to change"
                    } else {
                        "nothing that a write of a setting would change"
                    };
                    writeln!(out, "{id}: {}: {why}: {}", examined.verdict().as_str(), clean(&finding.says))?;
                }
                for change in own {
                    writeln!(out, "{id}: risk: {}", change.risk)?;
                    writes.extend(change.writes.iter().map(|w| (id.to_owned(), w.clone())));
                }
            }
        }
    }
    if writes.is_empty() {
        return Ok(if missing { 3 } else { 0 });
    }
    let file = doctor::state_file()?;
    let mut changes = Changes::open(host, &file)?;
    let plan = changes.plan(&writes);
    for change in &plan {
        writeln!(out, "{}", told(change, "->", ""))?;
    }
    let todo = plan.iter().filter(|c| c.outcome == Outcome::Done).count();
    if todo == 0 {
        return Ok(if plan.iter().any(|c| matches!(c.outcome, Outcome::Refused(_))) { 1 } else { 0 });
    }
    if !yes {
        if !std::io::stdin().is_terminal() {
            return Err(Usage("--apply asks on a terminal, and standard input is none: add --yes".into()).into());
        }
        write!(
            out,
            "Change {todo} setting{}? Old values are kept in {}; --undo puts them back. [y/N] ",
            if todo == 1 { "" } else { "s" },
            file.display()
        )?;
        out.flush()?;
        let mut answer = String::new();
        std::io::stdin().lock().read_line(&mut answer)?;
        if !matches!(answer.trim(), "y" | "Y" | "yes") {
            writeln!(out, "Nothing was changed.")?;
            return Ok(0);
        }
    }
    let done = changes.apply(&plan)?;
    let failed = report(&mut out, &done, "changed")?;
    writeln!(out, "twinscope doctor --undo puts them back.")?;
    Ok(if failed {
        1
    } else if missing {
        3
    } else {
        0
    })
}

fn undo(host: &Host) -> Result<u8> {
    let file = doctor::state_file()?;
    let mut out = std::io::stdout().lock();
    if !file.exists() {
        writeln!(out, "Nothing to undo: {} is not there.", file.display())?;
        return Ok(0);
    }
    let mut changes = Changes::open(host, &file)?;
    if changes.is_empty() {
        writeln!(out, "Nothing to undo.")?;
        return Ok(0);
    }
    let done = changes.undo()?;
    let failed = report(&mut out, &done, "restored")?;
    let foreign = done.iter().any(|c| matches!(c.outcome, Outcome::Foreign(_)));
    Ok(if failed {
        1
    } else if foreign {
        3
    } else {
        0
    })
}

/// One change in a line.
fn told(change: &Changed, arrow: &str, what: &str) -> String {
    let head = format!("{}: {}: ", change.check, change.path);
    clean(&match &change.outcome {
        Outcome::Done if what.is_empty() => format!("{head}{} {arrow} {}", change.from, change.to),
        Outcome::Done => format!("{head}{} {arrow} {}, {what}", change.from, change.to),
        Outcome::Same => format!("{head}is {} already", change.to),
        Outcome::Refused(why) => format!("{}: refused: {why}", change.check),
        Outcome::Foreign(now) => format!(
            "{head}is {now}, which was not set by twinscope: somebody has changed it since, and it was left. Before twinscope it was {}",
            change.to
        ),
        Outcome::Booted => format!("{head}the machine was booted since, which undid it (it is {})", change.from),
    })
}

/// Says what became of each; returns whether any was refused.
pub(crate) fn report(out: &mut impl Write, done: &[Changed], what: &str) -> Result<bool> {
    let mut failed = false;
    for change in done {
        let refused = matches!(change.outcome, Outcome::Refused(_));
        failed |= refused;
        let line = told(change, "->", what);
        if refused {
            eprintln!("twinscope: {line}");
        } else {
            writeln!(out, "{line}")?;
        }
    }
    if failed && !is_root() {
        eprintln!("twinscope: changing settings needs root");
    }
    Ok(failed)
}

pub(crate) fn is_root() -> bool {
    // SAFETY: takes nothing, never fails.
    unsafe { libc::geteuid() == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_at_spaces() {
        assert_eq!(wrapped("one two three", 2, 9), "one two\n  three");
        assert_eq!(wrapped("a-word-that-is-longer-than-the-line", 2, 9), "a-word-that-is-longer-than-the-line");
    }

    #[test]
    fn names_are_checked() {
        let error = named(&["nosuch".into()]).unwrap_err().to_string();
        assert!(error.contains("there are: clock-source, clock-read"), "{error}");
        let order: Vec<&str> = named(&["thp".into(), "clock-source".into()]).unwrap().iter().map(|c| c.id).collect();
        assert_eq!(order, ["clock-source", "thp"]);
    }
}

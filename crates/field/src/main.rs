//! `field`: the exam of released software (docs/field.md). It records pairs of `field/`, asks `explain` about them, and writes down how
//! often it is right. Not part of the program.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod check;
mod judge;
mod keep;
mod kept;
mod lot;
mod pair;
mod process;
mod quiet;
mod run;
mod verdicts;
mod work;

use crate::kept::{Kept, REPEATS, Run};
use crate::pair::{Chosen, Pair, Side};
use crate::process::Failed;
use crate::run::Bench;
use crate::verdicts::Verdicts;
use anyhow::bail;
use clap::{Args, Parser, Subcommand};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// The exam of released software: pairs that differ in one setting, version, index or limit, recorded and judged
#[derive(Parser)]
struct Arguments {
    /// The folder of pairs
    #[arg(long, global = true, value_name = "DIR", default_value_os_t = field_folder())]
    field: PathBuf,
    /// Where recordings, downloads and what is installed go [default: target/field]
    #[arg(long, global = true, value_name = "DIR", default_value_os_t = root().join("target/field"), hide_default_value = true)]
    out: PathBuf,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List pairs: family, set, how much of each is recorded
    List(Chosen),
    /// Check the form of pairs
    Check { names: Vec<String> },
    /// Write the set into pairs that have none, by lot within each family
    Draw,
    /// Install pairs, run both sides three times by turns without recording, and print the ratios
    Try {
        #[arg(required = true)]
        names: Vec<String>,
        #[command(flatten)]
        how: How,
    },
    /// Record pairs: both sides three times by turns, and the fast one three times more
    Run {
        #[command(flatten)]
        chosen: Chosen,
        /// Record again what is there
        #[arg(long)]
        again: bool,
        /// The program that records [default: $TWINSCOPE, or target/release/twinscope]
        #[arg(long, value_name = "FILE")]
        twinscope: Option<PathBuf>,
        #[command(flatten)]
        how: How,
    },
    /// Ask explain about recorded pairs, and print how often it is right; without names it is written into docs/field.md too. Answers to
    /// held-out pairs are only counted
    Judge {
        #[command(flatten)]
        chosen: Chosen,
        /// Print no answers to tuned pairs either
        #[arg(long)]
        blind: bool,
        /// The document that the figures of all pairs are written into
        #[arg(long, value_name = "FILE", default_value_os_t = root().join("docs/field.md"), hide_default_value = true)]
        document: PathBuf,
        /// Where verdicts are kept
        #[arg(long, value_name = "DIR", default_value_os_t = corpus::field_folder(), hide_default_value = true)]
        fixtures: PathBuf,
    },
    /// Keep recorded pairs small, as fixtures of tests; those named, or all
    Keep {
        #[command(flatten)]
        chosen: Chosen,
        /// Where to
        #[arg(long, value_name = "DIR", default_value_os_t = corpus::field_folder(), hide_default_value = true)]
        fixtures: PathBuf,
    },
}

/// How pairs are run.
#[derive(Args)]
struct How {
    /// Length of a run, for loads of fixed length
    #[arg(long, value_name = "SECONDS", default_value_t = 6)]
    seconds: u32,
    /// Wait so long before each run for a machine that does nothing else
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = patience)]
    patience: Duration,
    /// How long a script may take; `install` has an hour
    #[arg(long, value_name = "TIME", default_value = "300s", value_parser = model::duration)]
    deadline: Duration,
    /// How long a server has to end before it is killed
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = model::duration)]
    grace: Duration,
}

/// A length of time, which may be none.
fn patience(text: &str) -> Result<Duration, String> {
    if text.trim_end_matches('s') == "0" { Ok(Duration::ZERO) } else { model::duration(text) }
}

/// This repository.
fn root() -> PathBuf {
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    above.canonicalize().unwrap_or(above)
}

/// `field/` of this repository.
fn field_folder() -> PathBuf {
    root().join("field")
}

impl How {
    fn bench(&self, arguments: &Arguments, twinscope: Option<PathBuf>) -> anyhow::Result<Bench> {
        std::fs::create_dir_all(&arguments.out)?;
        let named = twinscope.or_else(|| std::env::var_os("TWINSCOPE").map(PathBuf::from));
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
        Ok(Bench {
            field: arguments.field.canonicalize()?,
            out: arguments.out.canonicalize()?,
            twinscope: std::path::absolute(named.unwrap_or_else(|| target.join("release/twinscope")))?,
            seconds: self.seconds,
            patience: self.patience,
            deadline: self.deadline,
            grace: self.grace,
        })
    }
}

fn main() -> ExitCode {
    match command(&Arguments::parse()) {
        Ok(code) => code,
        Err(why) => {
            eprintln!("field: {why:#}");
            ExitCode::FAILURE
        }
    }
}

fn command(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    match &arguments.command {
        Command::List(chosen) => {
            for pair in chosen.of(&arguments.field)? {
                let set = pair.form.set.map_or("-", pair::Set::name);
                let kept = Kept::of(&arguments.out, &pair);
                let recorded = match (kept.whole(&pair)?, kept.miss()) {
                    (0, None) => "-".to_owned(),
                    (some, None) => format!("{some} of {}", Run::all().count()),
                    (some, Some(why)) => format!("{some} of {}: {why}", Run::all().count()),
                };
                println!("{:32} {:10} {:6} {recorded}", pair.name, pair.form.family.name(), set);
            }
            Ok(ExitCode::SUCCESS)
        }
        Command::Check { names } => {
            let checked = check::all(&arguments.field, |pair| names.is_empty() || names.contains(&pair.name))?;
            if let Some(name) = names.iter().find(|name| !arguments.field.join(name).join(pair::FILE).is_file()) {
                bail!("{name}: there is no field/{name}/{}; `field list` lists the pairs", pair::FILE);
            }
            checked.notes.iter().for_each(|line| println!("note: {line}"));
            checked.wrong.iter().for_each(|line| println!("{line}"));
            println!("{} pairs, {} to mend", checked.pairs, checked.wrong.len());
            Ok(ExitCode::from(u8::from(!checked.wrong.is_empty())))
        }
        Command::Draw => {
            let pairs = Chosen::default().of(&arguments.field)?;
            let all: Vec<_> = pairs.iter().map(|pair| (pair.name.as_str(), pair.form.family, pair.form.set)).collect();
            for (name, set) in lot::draw(&all) {
                if let Some(pair) = pairs.iter().find(|pair| pair.name == name) {
                    lot::write(pair, set)?;
                    println!("{name}: {}", set.name());
                }
            }
            Ok(ExitCode::SUCCESS)
        }
        Command::Try { names, how } => {
            let bench = how.bench(arguments, None)?;
            let chosen = Chosen { names: names.clone(), ..Chosen::default() };
            process::begin()?;
            each(&chosen.of(&arguments.field)?, |pair| try_pair(&bench, pair))
        }
        Command::Run { chosen, again, twinscope, how } => {
            let bench = how.bench(arguments, twinscope.clone())?;
            if !bench.twinscope.is_file() {
                bail!("{} is missing: make build, or set TWINSCOPE", bench.twinscope.display());
            }
            let pairs = chosen.of(&arguments.field)?;
            if let Some(pair) = pairs.iter().find(|pair| pair.form.set.is_none()) {
                bail!("{}: its set is not drawn, which comes before the first recording: field draw", pair.name);
            }
            process::begin()?;
            each(&pairs, |pair| {
                let ended = record_pair(&bench, pair, *again);
                if let Err(Failed::Why(why) | Failed::Late(why)) = &ended {
                    Kept::of(&bench.out, pair).set_miss(Some(why))?;
                }
                ended
            })
        }
        Command::Judge { chosen, blind, document, fixtures } => {
            let mut verdicts = Verdicts::read(&fixtures.join("verdicts.zst"), &root())?;
            let judged = judge::judge(&arguments.field, &arguments.out, chosen, &mut verdicts)?;
            print!("{}", judge::report(&judged, *blind));
            verdicts.write()?;
            if chosen.is_all() {
                judge::write(document, &judge::report(&judged, false))?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Command::Keep { chosen, fixtures } => {
            keep::keep(&chosen.of(&arguments.field)?, &arguments.out, fixtures)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Does this for each pair; what fails is listed in the end. The exit code is that of a signal, if one came.
fn each(pairs: &[Pair], mut what: impl FnMut(&Pair) -> Result<(), Failed>) -> anyhow::Result<ExitCode> {
    let (mut ran, mut missed) = (0, Vec::new());
    for pair in pairs {
        match what(pair) {
            Ok(()) => ran += 1,
            Err(Failed::Stopped) => break,
            Err(why) => {
                eprintln!("{}: {}", pair.name, why.why());
                missed.push(format!("{}: {}", pair.name, why.why()));
            }
        }
    }
    println!("\n{ran} of {} pairs ran{}", pairs.len(), if missed.is_empty() { "" } else { ", not these:" });
    missed.iter().for_each(|line| println!("- {line}"));
    Ok(process::stopped().map_or(ExitCode::SUCCESS, ExitCode::from))
}

fn try_pair(bench: &Bench, pair: &Pair) -> Result<(), Failed> {
    bench.install(pair)?;
    println!("{}: {}", pair.name, pair.form.title);
    for _ in 0..REPEATS {
        quiet::wait(bench.patience)?;
        let [slow, fast] = [bench.try_once(pair, Side::Slow)?, bench.try_once(pair, Side::Fast)?];
        let unit = pair.form.work.unit.as_deref().unwrap_or("units");
        let ratio = slow.seconds / slow.work / (fast.seconds / fast.work);
        print!(
            "  slow {:.0} {unit} in {:.1} s, fast {:.0} in {:.1} s: {ratio:.2}",
            slow.work, slow.seconds, fast.work, fast.seconds
        );
        if let (Some(slow), Some(fast)) = (slow.tail_ms, fast.tail_ms) {
            print!("; p99 {slow:.2} ms, {fast:.2} ms: {:.2}", slow / fast);
        }
        println!();
    }
    Ok(())
}

fn record(bench: &Bench, pair: &Pair, run: Run) -> Result<(), Failed> {
    eprintln!("== {} {}", pair.name, run.name());
    bench.record(pair, run).map_err(|why| match why {
        Failed::Why(why) => Failed::Why(format!("{}: {why}", run.name())),
        Failed::Late(why) => Failed::Late(format!("{}: {why}", run.name())),
        Failed::Stopped => Failed::Stopped,
    })
}

fn record_pair(bench: &Bench, pair: &Pair, again: bool) -> Result<(), Failed> {
    let kept = Kept::of(&bench.out, pair);
    if again || kept.whole(pair)? < Run::all().count() {
        kept.make()?;
        bench.install(pair)?;
        for run in Run::all() {
            if again || kept.about(pair, run)?.is_none() {
                record(bench, pair, run)?;
            }
        }
        // What another program did is no word on the pair.
        if !bench.patience.is_zero() && work::not_reproduced(pair.is_innocent(), &kept.ratios(pair)?).is_some() {
            for run in Run::all() {
                if kept.about(pair, run)?.is_some_and(|about| about.is_disturbed()) {
                    record(bench, pair, run)?;
                }
            }
        }
    }
    kept.set_miss(None)?;
    let words = |ratios: Vec<f64>| ratios.iter().map(|ratio| format!("{ratio:.2}")).collect::<Vec<_>>().join(", ");
    println!(
        "{}: slow : fast {}; fast again {}",
        pair.name,
        words(kept.ratios(pair)?),
        words(kept.ratios_again(pair)?)
    );
    if let Some(why) = work::not_reproduced(pair.is_innocent(), &kept.ratios(pair)?) {
        println!("{}: {why}", pair.name);
    }
    Ok(())
}

//! `corpus`: makes pairs of the corpus, asks `explain` about them, and writes down how often it is right.

use anyhow::Context;
use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Parser, Subcommand};
use corpus::answers::{self, Answers};
use corpus::{Expected, Pair, Set};
use std::fmt::Write;
use std::path::PathBuf;

/// Recordings of known faults, and what explain says of them
#[derive(Parser)]
struct Arguments {
    /// The corpus
    #[arg(long, default_value_os_t = corpus::folder())]
    folder: PathBuf,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write a pair anew from two recordings; what is known of it is read from standard input, as JSON
    Keep { name: String, slow: PathBuf, fast: PathBuf },
    /// Take these recordings for what all have in common; pairs that are there must be written anew
    Common { recordings: Vec<PathBuf> },
    /// Unpack the recordings of a pair, slow.twin and fast.twin, into a folder
    Unpack {
        name: String,
        #[arg(value_parser = PathBufValueParser::new().try_map(files::plain_name))]
        into: PathBuf,
    },
    /// Ask about all pairs (or those named) and print a table of the answers and how often they are right
    Report {
        names: Vec<String>,
        /// Leave out the answers to held-out pairs: who changes rules must not see them
        #[arg(long)]
        blind: bool,
    },
    /// Ask again with samples left out and other windows, and print what changes
    Stability { names: Vec<String> },
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let some = |names: &[String]| -> anyhow::Result<Vec<Pair>> {
        let mut pairs = corpus::pairs(&arguments.folder).context("the corpus")?;
        if let Some(name) = names.iter().find(|name| !pairs.iter().any(|pair| &pair.name == *name)) {
            anyhow::bail!("{name}: there is no such pair in {}", arguments.folder.display());
        }
        pairs.retain(|pair| names.is_empty() || names.contains(&pair.name));
        Ok(pairs)
    };
    match &arguments.command {
        Command::Keep { name, slow, fast } => {
            let expected: Expected =
                serde_json::from_reader(std::io::stdin()).context("what is known of the pair, on standard input")?;
            corpus::keep::keep(&arguments.folder.join(name), slow, fast, &expected)
                .with_context(|| format!("pair {name}"))
        }
        Command::Common { recordings } => corpus::keep::set_common(&arguments.folder, recordings),
        Command::Unpack { name, into } => {
            for pair in some(std::slice::from_ref(name))? {
                pair.unpack_into(into).with_context(|| format!("pair {name}, into {}", into.display()))?;
            }
            Ok(())
        }
        Command::Report { names, blind } => {
            let pairs = some(names)?;
            print!("{}", report(&pairs, &answers::all(&pairs)?, *blind));
            Ok(())
        }
        Command::Stability { names } => {
            // What is answered to held-out pairs must not be seen by who changes rules.
            let pairs = some(names)?;
            let held_out = |name: &str| pairs.iter().any(|p| p.name == name && p.expected.set == Set::HeldOut);
            let found = answers::stability(&pairs, |name, what, before, after| {
                if !held_out(name) {
                    eprintln!("{name}, {what}: {} -> {}", before.line(), after.line());
                }
            })?;
            println!(
                "| disturbance | answers | another cause first | share off by more than 10 points |\n|---|--:|--:|--:|"
            );
            for (what, [all, other, off]) in found {
                println!("| {what} | {all} | {other} | {off} |");
            }
            Ok(())
        }
    }
}

/// The answers as tables in Markdown.
fn report(pairs: &[Pair], answers: &Answers, blind: bool) -> String {
    let mut text = String::from("| what is asked | held out | tuned |\n|---|--:|--:|\n");
    let score = |set: Set| answers.scores.get(&set).copied().unwrap_or_default();
    let (held_out, tuned) = (score(Set::HeldOut), score(Set::Tuned));
    let of = |part: usize, whole: usize| match whole {
        0 => "-".to_owned(),
        _ => format!("{part} of {whole} ({:.0} %)", 100.0 * part as f64 / whole as f64),
    };
    for (what, part) in [
        ("cause first", [(held_out.first, held_out.pairs), (tuned.first, tuned.pairs)]),
        ("cause among the first three", [(held_out.third, held_out.faults), (tuned.third, tuned.faults)]),
        ("share within 15 points, where found", [(held_out.near, held_out.shares), (tuned.near, tuned.shares)]),
        ("nothing found of equal runs", [(held_out.silent, held_out.equal), (tuned.silent, tuned.equal)]),
    ] {
        let [a, b] = part.map(|(part, whole)| of(part, whole));
        let _ = writeln!(text, "| {what} | {a} | {b} |");
    }
    let longest = answers.lines.iter().map(|(_, _, answer, _)| answer.seconds).fold(0.0, f64::max);
    let bytes: u64 = pairs.iter().map(Pair::bytes).sum();
    let _ = writeln!(
        text,
        "\n{} pairs of {:.0} kB on average; longest answer: {longest:.2} s\n\n\
         | pair | set | language | expected | answer | right | points off |\n|---|---|---|---|---|---|--:|",
        pairs.len(),
        bytes as f64 / 1000.0 / pairs.len().max(1) as f64,
    );
    for (name, set, answer, verdict) in &answers.lines {
        if blind && *set == Set::HeldOut {
            continue;
        }
        let Some(pair) = pairs.iter().find(|pair| &pair.name == name) else { continue };
        let expected = match &pair.expected.causes[..] {
            [] => "nothing".to_owned(),
            causes => causes.join(" or "),
        };
        let right = match verdict.rank {
            _ if verdict.right => "yes".to_owned(),
            Some(rank) => format!("rank {rank}"),
            None => "**no**".to_owned(),
        };
        let off = verdict.off.map_or("-".to_owned(), |off| format!("{:+.0}", off * 100.0));
        let set = if *set == Set::HeldOut { "held out" } else { "tuned" };
        let language = &pair.expected.language;
        let _ = writeln!(text, "| {name} | {set} | {language} | {expected} | {} | {right} | {off} |", answer.line());
    }
    text
}

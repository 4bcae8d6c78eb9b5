//! `twinscope sources`: what can be read here, what can't, why, and what would change that.

use crate::options::SourcesArgs;
use anyhow::Result;
use host::Host;
use model::{Coverage, Out, Rows, Status, Symbols};
use serde_json::json;
use sources::{Pace, Scope, Source};
use std::io::Write;
use std::time::Instant;

/// What trying a source showed.
struct Tried {
    source: &'static Source,
    /// For the source as a whole, then for its parts.
    coverage: Vec<Coverage>,
    rows: usize,
    facts: usize,
    microseconds: u128,
}

fn try_source(source: &'static Source, host: &Host) -> Tried {
    let mut rows = vec![Rows::default(); source.tables.len()];
    let (mut coverage, mut facts, mut symbols) = (Vec::new(), Vec::new(), Symbols::default());
    let mut microseconds = 0;
    let error = match (source.open)(host, &Scope::default()) {
        Err(why) => Some(why),
        Ok(mut reader) => {
            let mut out = Out::new(source.name, source.tables, &mut rows, &mut symbols, &mut coverage, &mut facts);
            let start = Instant::now();
            let error = reader.read(host, &mut out).err();
            microseconds = start.elapsed().as_micros();
            error
        }
    };
    let whole = match error {
        Some(why) => Coverage::unavailable(source.name, "", why),
        None => Coverage::read(source.name, ""),
    };
    coverage.retain(|c| c.status != Status::Read);
    coverage.insert(0, whole);
    Tried { source, coverage, rows: rows.iter().map(Rows::len).sum(), facts: facts.len(), microseconds }
}

fn pace(pace: Pace) -> String {
    match pace {
        Pace::Tick => "every tick".into(),
        Pace::AtLeast(seconds) => format!("{seconds} s"),
        Pace::Once => "once".into(),
    }
}

/// Tries each source and prints what came of it. Returns the exit code.
///
/// # Errors
/// Where the result cannot be printed.
pub fn list(options: &SourcesArgs) -> Result<u8> {
    let host = if options.root == std::path::Path::new("/") { Host::live() } else { Host::at(&options.root) };
    let tried: Vec<Tried> = sources::ALL.iter().map(|source| try_source(source, &host)).collect();
    let mut out = std::io::stdout().lock();
    if options.json {
        let all: Vec<_> = tried
            .iter()
            .map(|t| {
                json!({
                    "source": t.source.name, "title": t.source.title, "documented": t.source.documented, "needs": t.source.needs,
                    "read": pace(t.source.pace), "reads": t.source.reads,
                    "tables": t.source.tables.iter().map(|t| t.name).collect::<Vec<_>>(),
                    "coverage": t.coverage, "rows": t.rows, "facts": t.facts, "microseconds": t.microseconds as u64,
                })
            })
            .collect();
        writeln!(out, "{}", serde_json::to_string_pretty(&all)?)?;
        return Ok(0);
    }
    let width = tried.iter().map(|t| t.source.name.len()).max().unwrap_or(0);
    writeln!(
        out,
        "{:width$}  {:14}  {:10}  {:>6}  {:>8}  what it reads",
        "source", "status", "interval", "rows", "µs a read"
    )?;
    for t in &tried {
        let Some(whole) = t.coverage.first() else { continue };
        let count = if t.facts > 0 { t.facts } else { t.rows };
        writeln!(
            out,
            "{:width$}  {:14}  {:10}  {:>6}  {:>9}  {}",
            t.source.name,
            whole.status.as_str(),
            pace(t.source.pace),
            count,
            t.microseconds,
            t.source.title
        )?;
        for c in &t.coverage {
            if c.status == Status::Read {
                continue;
            }
            let item = if c.item.is_empty() { String::new() } else { format!("{}: {}: ", c.item, c.status.as_str()) };
            writeln!(out, "{:width$}    {item}{}", "", c.why)?;
            if let Some(remedy) = &c.remedy {
                writeln!(out, "{:width$}    to change that: {remedy}", "")?;
            }
        }
    }
    let unread = tried.iter().filter(|t| t.coverage.first().is_some_and(|c| c.status != Status::Read)).count();
    writeln!(out, "\n{} of {} sources can be read here.", tried.len() - unread, tried.len())?;
    Ok(0)
}

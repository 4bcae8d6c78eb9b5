//! `twinscope info`: what a recording holds.

use crate::latency::{self, Served};
use crate::text;
use anyhow::Result;
use clap::Args;
use model::{Status, Work, WorkChoice, utc};
use serde_json::json;
use std::path::PathBuf;
use store::Recording;

/// Show what a recording holds.
#[derive(Args, Debug)]
pub struct Info {
    /// Recordings
    #[arg(required = true, value_name = "NAME.twin")]
    recordings: Vec<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Prints what each recording holds. Exit code 3 where a part of one could not be read.
pub fn info(options: &Info) -> Result<u8> {
    let mut damaged = false;
    let mut all = Vec::new();
    let recordings = options.recordings.iter().map(|path| Recording::open(path)).collect::<Result<Vec<_>, _>>()?;
    let works = query::work::of_all(&recordings.iter().collect::<Vec<_>>(), &WorkChoice::Auto);
    for (i, (recording, work)) in recordings.iter().zip(&works).enumerate() {
        recording.check();
        if options.json {
            all.push(as_json(recording, work.as_ref()));
        } else {
            if i > 0 {
                println!();
            }
            print(recording, work.as_ref());
        }
        damaged |= !recording.damage().is_empty();
    }
    if options.json {
        println!("{}", serde_json::to_string_pretty(&all)?);
    }
    Ok(if damaged { 3 } else { 0 })
}

/// Bytes of the write-ahead log beside a recording that is not finished, or was cut off: it belongs to the recording.
fn log_size(recording: &Recording) -> u64 {
    let mut name = recording.path().as_os_str().to_owned();
    name.push("-wal");
    std::fs::metadata(name).map_or(0, |m| m.len())
}

fn as_json(recording: &Recording, work: Option<&Work>) -> serde_json::Value {
    let tables: Vec<_> = recording
        .sizes()
        .into_iter()
        .map(|(name, segments, rows, bytes)| json!({"table": name, "segments": segments, "rows": rows, "bytes": bytes}))
        .collect();
    json!({
        "file": recording.path().display().to_string(),
        "bytes": std::fs::metadata(recording.path()).map_or(0, |m| m.len()),
        "log_bytes": log_size(recording),
        "unfinished": recording.is_unfinished(),
        "duration": recording.duration() as f64 / 1e9,
        "manifest": recording.manifest(),
        "sources": recording.sources().iter().map(|(name, title, interval)| json!({"source": name, "title": title, "interval": *interval as f64 / 1e9})).collect::<Vec<_>>(),
        "requests": Served::of(recording).iter().map(Served::as_json).collect::<Vec<_>>(),
        "work": work.map(|work| json!({"unit": work.unit, "total": work.total, "how": work.how})),
        "streams": latency::streams_as_json(recording),
        "tables": tables,
        "coverage": recording.coverage(),
        "marks": recording.marks().iter().map(|m| json!({"t": m.t as f64 / 1e9, "text": m.text})).collect::<Vec<_>>(),
        "facts": recording.facts().len(),
        "damage": recording.damage().iter().map(|d| json!({"what": d.what, "why": d.why})).collect::<Vec<_>>(),
    })
}

/// Marks that are printed.
const MOST_MARKS: usize = 50;

fn print(recording: &Recording, work: Option<&Work>) {
    let manifest = recording.manifest();
    let seconds = recording.duration() as f64 / 1e9;
    let size = std::fs::metadata(recording.path()).map_or(0, |m| m.len()) as f64;
    let line = |name: &str, value: String| println!("{name:10} {}", text::clean(&value));
    let log = log_size(recording);
    line("recording", format!("{} ({})", recording.path().display(), query::human(size + log as f64, "B")));
    if log > 0 {
        let part = query::human(log as f64, "B");
        let name = recording.path().display();
        line(
            "",
            format!(
                "{part} of it are in {name}-wal: copy both, or join them first: sqlite3 {name} 'pragma journal_mode = delete'"
            ),
        );
    }
    line("run", manifest.name.clone());
    line(
        "host",
        format!(
            "{}, Linux {} {}, {} CPUs, {}",
            manifest.host,
            manifest.kernel,
            manifest.machine,
            manifest.cpus,
            // What others recorded may not say it.
            if manifest.memory > 0 { query::human(manifest.memory as f64, "B") } else { "memory not known".into() }
        ),
    );
    // A profile that was imported does not say when it was made, nor how often something was read.
    line("start", if manifest.start_unix > 0 { utc(manifest.start_unix) } else { "not known".into() });
    let ended = match &manifest.ended {
        Some(why) => why.clone(),
        None => "cut off, or still being recorded; all that was committed is here".into(),
    };
    let first = manifest
        .sprint
        .map_or(String::new(), |(i, until)| format!("every {} s for {} s, then ", i as f64 / 1e9, until as f64 / 1e9));
    let every = match manifest.interval {
        0 => String::new(),
        interval => format!(", {first}every {} s", interval as f64 / 1e9),
    };
    line("length", format!("{seconds:.1} s{every} ({ended})"));
    if let Some(command) = &manifest.command {
        let exit = match manifest.exit {
            Some(exit) => exit.to_string(),
            None => "not ended".into(),
        };
        let wall = manifest.wall.map_or(String::new(), |w| format!(", {:.3} s", w as f64 / 1e9));
        line("command", format!("{} ({exit}{wall})", shortened(command)));
    }
    if !manifest.scope.is_empty() {
        match manifest.scope.as_str() {
            model::whose::NOBODY => line("threads", "none traced; system-wide data only".into()),
            scope => line("threads of", scope.to_owned()),
        }
    }
    if let Some(work) = work {
        // What the workload reported is no estimate.
        let total = match work.how.is_empty() {
            true => query::human(work.total, ""),
            false => query::work::requests(recording, work.total, ""),
        };
        line("work", format!("{total} {} {}", work.unit, work.how).trim_end().to_owned());
    }
    for served in Served::of(recording) {
        line("requests", served.line());
    }
    for line_of_stream in latency::streams(recording) {
        line("stream", line_of_stream);
    }
    for (key, value) in &manifest.labels {
        line("label", format!("{key}={value}"));
    }
    if manifest.late_ticks + manifest.skipped_ticks > 0 {
        line("ticks", format!("{} late, {} skipped", manifest.late_ticks, manifest.skipped_ticks));
    }
    if let Some(cost) = &manifest.recorder {
        line("recorder", cost.words(manifest.cpus));
    }
    let marks = recording.marks();
    for mark in marks.iter().take(MOST_MARKS) {
        line("mark", format!("{:.3} s  {}", mark.t as f64 / 1e9, mark.text));
    }
    if marks.len() > MOST_MARKS {
        let more = marks.len() - MOST_MARKS;
        line("mark", format!("{more} more: twinscope sql {} 'select * from mark'", recording.path().display()));
    }
    line("facts", recording.facts().len().to_string());
    let mut table = text::table(&["table", "rows", "bytes", "what a row is"], &[false, true, true, false]);
    for (name, _, rows, bytes) in recording.sizes() {
        if rows > 0 {
            let help = recording.table(name).map_or("", |t| t.help);
            table.add_row([text::clean(name), rows.to_string(), bytes.to_string(), text::clean(help)]);
        }
    }
    println!("\n{}", text::trimmed(&table));
    let missing: Vec<_> = recording.coverage().into_iter().filter(|c| c.status != Status::Read).collect();
    if !missing.is_empty() {
        println!("\nNot measured:");
        for c in missing {
            let item = if c.item.is_empty() { c.source.clone() } else { format!("{} {}", c.source, c.item) };
            println!("  {}: {}: {}", text::clean(&item), c.status.as_str(), text::clean(&c.why));
            if let Some(remedy) = c.remedy {
                println!("      to change that: {}", text::clean(&remedy));
            }
        }
    }
    let damage = recording.damage();
    if !damage.is_empty() {
        println!("\nDamaged:");
        for damage in damage {
            println!("  {}", text::clean(&damage.to_string()));
        }
    }
}

/// Characters of a command line that are shown; `--json` has all of it.
const COMMAND: usize = 400;

/// A command line, cut after a word where it is long: compilers and formatters are given files by the hundred.
fn shortened(command: &[String]) -> String {
    let mut line = String::new();
    for (at, word) in command.iter().enumerate() {
        if at > 0 && line.chars().count() + word.chars().count() > COMMAND {
            return format!("{line} … and {} more words", command.len() - at);
        }
        if at > 0 {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn long_command_lines_are_cut_after_a_word() {
        let command = |files: usize| {
            ["gcc".to_string()].into_iter().chain((0..files).map(|file| format!("{file:03}.c"))).collect::<Vec<_>>()
        };
        assert_eq!(shortened(&command(2)), "gcc 000.c 001.c");
        assert_eq!(shortened(&command(66)), command(66).join(" "));
        let cut = shortened(&command(500));
        assert!(cut.ends_with("064.c 065.c … and 434 more words"), "{cut}");
        assert_eq!(shortened(&["x".repeat(1000)]).len(), 1000);
    }
}

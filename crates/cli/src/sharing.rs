//! `twinscope sharing`: cache lines that threads fight over, of a recording, of a process, or of a command.

use crate::compare::window;
use crate::short;
use crate::text::{self, clean, cut};
use anyhow::{Context, Result, bail};
use clap::Args;
use compare::Choice;
use query::sharing::{Access, Line, Sharing, Thing};
use query::{Run, human};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Show cache lines that threads fight over.
#[derive(Args, Debug)]
pub struct Options {
    /// The recording; without one, --pid or a command is recorded with --sharing
    #[arg(value_name = "NAME.twin", conflicts_with_all = ["pid", "command", "output"])]
    recording: Option<PathBuf>,

    /// Look at this running process: its number, or the name of a program that runs once
    #[arg(short, long, value_name = "PID|NAME", conflicts_with = "command")]
    pid: Option<String>,

    /// So long; with a command it is the most
    #[arg(short, long, value_name = "TIME")]
    duration: Option<String>,

    /// Keep the recording
    #[arg(short, long, value_name = "NAME.twin", value_parser = recorder::output())]
    output: Option<PathBuf>,

    /// The window, as in `compare`: auto, whole, busy, or FROM..TO with times (10s..50s, or 10:02..10:05 in UTC) or marks
    #[arg(long, value_name = "WINDOW", default_value = "whole", value_parser = window)]
    window: Choice,

    /// Also lines that threads share without waiting for them
    #[arg(long)]
    all: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// The command
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// How long a process is looked at.
const LENGTH: &str = "10s";
/// Accesses that are shown of a line.
const SHOWN: usize = 12;
/// Lines that are shown of those that the CPU says came from other cores.
const MOVED: usize = 12;

/// Records what was asked for; the exit code of the command.
fn record(options: &Options, to: &Path) -> Result<u8> {
    let mut words: Vec<std::ffi::OsString> = vec!["--sharing".into()];
    if let Some(pid) = &options.pid {
        words.extend(["--pid".into(), pid.into()]);
    }
    if let Some(length) = options.duration.as_deref().or(options.pid.as_ref().map(|_| LENGTH)) {
        words.extend(["-d".into(), length.into()]);
    }
    if !options.command.is_empty() {
        words.push("--".into());
        words.extend(options.command.iter().map(Into::into));
    }
    short::record(to, &words)
}

/// Shows it. Returns the exit code.
pub fn sharing(options: &Options) -> Result<u8> {
    if options.recording.is_none() && options.pid.is_none() && options.command.is_empty() {
        bail!("nothing to look at: name a recording, or give --pid PID, or -- COMMAND");
    }
    let dir = tempfile::tempdir().context("no folder for the recording")?;
    let path = match (&options.recording, &options.output) {
        (Some(path), _) | (None, Some(path)) => path.clone(),
        (None, None) => dir.path().join("sharing.twin"),
    };
    if options.recording.is_none() {
        if options.output.as_ref().is_some_and(|path| path.exists()) {
            bail!("{}: exists already; choose another name", path.display());
        }
        record(options, &path)?;
    }
    let runs = query::open(&[&path])?;
    let damaged = text::say_damage(&runs);
    let [run] = runs.as_slice() else { bail!("{}: no recording", path.display()) };
    let window = compare::choose(run, &options.window)?;
    let Some(sharing) = Sharing::load(run, &window) else {
        bail!("{}: {}", run.name, why_nothing(run));
    };
    if options.json {
        println!("{}", serde_json::to_string_pretty(&as_json(&sharing))?);
    } else {
        print(&sharing, options.all);
    }
    Ok(if damaged { 3 } else { 0 })
}

fn why_nothing(run: &Run) -> String {
    let of_source = |c: &model::Coverage| c.source == "instructions" && c.status != model::Status::Read;
    let said: Vec<String> = run.recording.coverage().into_iter().filter(of_source).map(|c| c.why.clone()).collect();
    match said.as_slice() {
        [] => "no thread was busy while it was looked for shared lines, or it is too short (bursts begin after 0.3 s)"
            .into(),
        said => format!("it was not looked for shared lines: {}", said.join("; ")),
    }
}

fn percent(part: f64) -> String {
    format!("{:.0} %", part * 100.0)
}

fn times(factor: f64) -> String {
    format!("{factor:.1}×")
}

/// The line as 64 cells: a digit for the thread that uses the byte, `*` where several do, capital letters from the tenth on.
fn cells(line: &Line) -> (String, Vec<(char, String)>) {
    let mut names: BTreeMap<i64, (char, String)> = BTreeMap::new();
    let mut threads: Vec<i64> = line.accesses.iter().filter(|a| a.reads || a.writes).map(|a| a.tid).collect();
    let mut known = std::collections::HashSet::new();
    threads.retain(|tid| known.insert(*tid));
    for (at, tid) in threads.iter().enumerate() {
        let digit = char::from_digit(at as u32 + 1, 36).unwrap_or('+').to_ascii_uppercase();
        let name = line.accesses.iter().find(|a| a.tid == *tid && !a.thread.is_empty());
        names.insert(*tid, (digit, format!("{} {}", clean(name.map_or("", |a| &a.thread)), tid)));
    }
    let cell = |byte: i64| {
        let of = |writes: bool| {
            let uses = |a: &&Access| a.bytes().contains(&byte) && a.writes == writes;
            line.accesses.iter().filter(uses).map(|a| a.tid).collect::<std::collections::BTreeSet<i64>>()
        };
        let (writers, readers) = (of(true), of(false));
        match (writers.len(), writers.first(), readers.first()) {
            (0, _, None) => '·',
            (0, ..) => '○',
            (1, Some(tid), _) => names.get(tid).map_or('?', |(digit, _)| *digit),
            _ => '*',
        }
    };
    let mut drawn = String::new();
    for byte in 0..64 {
        if byte % 8 == 0 && byte > 0 {
            drawn.push('|');
        }
        drawn.push(cell(byte));
    }
    let mut names: Vec<(char, String)> = names.into_values().collect();
    names.sort();
    (drawn, names)
}

fn head(sharing: &Sharing, thing: &Thing) -> String {
    let line = thing.lines.first().and_then(|&at| sharing.lines.get(at));
    let memory = line.map(|l| l.memory.as_str()).filter(|m| !m.is_empty()).map_or(String::new(), |m| format!(", {m}"));
    format!("{} sharing: {}{memory}", thing.kind.word(), clean(&thing.name))
}

fn print(sharing: &Sharing, all: bool) {
    if sharing.things.is_empty() && !sharing.looked.is_empty() {
        println!("No cache line that threads wait for, beyond what their accesses take anyway.");
    }
    for thing in &sharing.things {
        println!("{}", head(sharing, thing));
        let (part, low, high) = thing.part;
        println!(
            "  waiting for it takes {} of the CPU time of {} ({} to {}); without it {} as fast ({} to {}), estimated",
            percent(part),
            clean(&thing.comm),
            percent(low),
            percent(high),
            times(thing.speedup.0),
            times(thing.speedup.1),
            times(thing.speedup.2)
        );
        if !thing.fields.is_empty() {
            println!("  fields: {}", clean(&cut(&thing.fields.join(", "), 160)));
        }
        let functions: Vec<String> = thing
            .functions
            .iter()
            .take(4)
            .map(|(name, seconds)| format!("{} {}", clean(&cut(name, 60)), percent(seconds / thing.excess.max(1e-12))))
            .collect();
        println!("  in {}", functions.join(", "));
        for &at in thing.lines.iter().take(4) {
            if let Some(line) = sharing.lines.get(at) {
                draw(line);
            }
        }
        if thing.lines.len() > 4 {
            println!("  and {} lines more", thing.lines.len() - 4);
        }
        println!("  to do: {}", clean(&sharing.advice(thing)));
        println!();
    }
    print_moved(sharing);
    if all {
        for line in sharing.lines.iter().filter(|line| line.kind.is_none()) {
            println!("shared, not waited for: {}", clean(&line.thing()));
            draw(line);
        }
    }
    let machine: Vec<String> = [
        sharing.transfer.map(|ns| format!("a line takes {} from one CPU to another", human(ns / 1e9, "s"))),
        sharing.contended.map(|ns| format!("an atomic addition that another CPU contends {}", human(ns / 1e9, "s"))),
        sharing.atomic.map(|ns| format!("an atomic addition alone {}", human(ns / 1e9, "s"))),
    ]
    .into_iter()
    .flatten()
    .collect();
    if !machine.is_empty() {
        println!("On this machine {}.", machine.join(", "));
    }
    match sharing.watched {
        Some(watched) => println!(
            "Watched: {} watchpoints, {} hits, armed for {} in all, {} at once.",
            watched.set,
            watched.hits,
            human(watched.armed, "s"),
            human(watched.longest, "s")
        ),
        None if sharing.looked.is_empty() => {}
        None => println!("Sampled only. To watch the lines' words: twinscope sharing --pid PID, or record --sharing."),
    }
}

/// Lines that the CPU says came from the caches of other cores.
fn print_moved(sharing: &Sharing) {
    if sharing.sampled.is_empty() {
        return;
    }
    let samples: u64 = sharing.sampled.values().map(|of| of.samples).sum();
    println!("Accesses that the CPU sampled itself (PEBS, IBS, SPE): {samples}.");
    if sharing.moved.is_empty() {
        println!("No line of several threads came from the cache of another core in five of them or more.\n");
    }
    for line in sharing.moved.iter().take(MOVED).filter_map(|&at| sharing.lines.get(at)) {
        let memory = if line.memory.is_empty() { String::new() } else { format!(", {}", clean(&line.memory)) };
        println!("{}: {}{memory}", moved_kind(line), clean(&line.thing()));
        let of = line.moved;
        let changed = match of.modified {
            0 => String::new(),
            changed => format!(", changed there in {changed}"),
        };
        let cycles = of.mean().map_or_else(String::new, |cycles| format!("; {cycles:.0} cycles each"));
        let part = sharing.part_of_cycles(line).map_or_else(String::new, |part| {
            format!(", {} of the cycles of all that were sampled of {}", percent(part), clean(&line.comm))
        });
        println!(
            "  {} of {} sampled accesses came from the cache of another core{changed}{cycles}{part}",
            of.from_core, of.sampled
        );
        draw(line);
        if let Some(advice) = sharing.advice_of(line) {
            println!("  to do: {}", clean(&advice));
        }
        println!();
    }
    if sharing.moved.len() > MOVED {
        println!("And {} lines more that came from other cores.\n", sharing.moved.len() - MOVED);
    }
}

fn moved_kind(line: &Line) -> String {
    line.moved.kind.map_or_else(|| "from other cores".into(), |kind| format!("{} sharing", kind.word()))
}

/// The function, and where a compiler has put it.
fn function(access: &Access) -> String {
    if access.within.is_empty() || access.within == access.function {
        return access.function.clone();
    }
    format!("{} in {}", access.function, access.within)
}

/// How often it was met, by whoever met it.
fn counts(access: &Access) -> String {
    let by_timer = format!("{:>5} waits {:>4} hits  ", access.waited, access.hits);
    match access.sampled {
        0 => by_timer,
        sampled => {
            let before = if access.waited + access.hits > 0 { by_timer } else { String::new() };
            format!("{before}{sampled:>5} sampled {:>5} from another core  ", access.from_core)
        }
    }
}

/// The instruction, or its address where it was not read.
fn instruction(access: &Access) -> String {
    if access.text.is_empty() { format!("{:#x}", access.code) } else { access.text.clone() }
}

fn draw(line: &Line) {
    let (drawn, threads) = cells(line);
    let proven = if line.proven { ", watched" } else { "" };
    println!("  line {:#x}{proven}", line.address);
    println!("    {drawn}");
    let threads: Vec<String> = threads.iter().take(8).map(|(digit, name)| format!("{digit} {name}")).collect();
    println!("    written by: {} · ○ only read · * by several", threads.join(", "));
    for access in line.accesses.iter().filter(|a| a.waited + a.hits + a.sampled > 0 || a.writes).take(SHOWN) {
        let fields: Vec<&str> = line.fields_of(access).iter().map(|f| f.name.as_str()).collect();
        let place = match access.size {
            0 => format!("{}+?", access.first),
            size => format!("{}+{size}", access.first),
        };
        let source = if access.source.is_empty() { String::new() } else { format!(" {}", access.source) };
        println!(
            "    {:>6}  {:<11} {}thread {:<8} {:<40} {}{} {}",
            place,
            access.deed(),
            counts(access),
            access.tid,
            clean(&cut(&instruction(access), 40)),
            clean(&cut(&function(access), 60)),
            clean(&source),
            clean(&cut(&fields.join(", "), 60)),
        );
    }
}

fn as_json(sharing: &Sharing) -> Value {
    let access = |a: &Access| {
        json!({
            "thread": a.tid, "name": a.thread, "function": a.function, "within": a.within, "source": a.source, "instruction": a.text,
            "code": a.code, "first": a.first, "size": a.size, "reads": a.reads, "writes": a.writes, "atomic": a.atomic,
            "waited": a.waited, "wait": a.wait, "excess": a.excess, "seen": a.seen, "hits": a.hits, "period": a.period,
            "sampled": a.sampled, "from_core": a.from_core, "modified": a.modified, "timed": a.timed, "cycles": a.cycles,
        })
    };
    let line = |l: &Line| {
        let fields =
            l.fields.iter().map(|f| json!({"first": f.first, "size": f.size, "name": f.name, "type": f.of_type}));
        json!({
            "pid": l.pid, "comm": l.comm, "address": l.address, "kind": l.kind.map(query::sharing::Kind::word),
            "memory": l.memory, "name": l.name, "module": l.module, "source": l.source, "start": l.start,
            "size": l.size, "note": l.note, "excess": l.excess, "watched": l.proven,
            "fields": fields.collect::<Vec<_>>(), "accesses": l.accesses.iter().map(access).collect::<Vec<_>>(),
        })
    };
    let interval = |(value, low, high): (f64, f64, f64)| json!({"value": value, "low": low, "high": high});
    let thing = |t: &Thing| {
        json!({
            "kind": t.kind.word(), "name": t.name, "pid": t.pid, "comm": t.comm, "part": interval(t.part),
            "speedup": interval(t.speedup), "fields": t.fields, "lines": t.lines,
            "functions": t.functions.iter().map(|(name, s)| json!({"name": name, "seconds": s})).collect::<Vec<_>>(),
        })
    };
    let moved = |at: &usize| {
        let line = sharing.lines.get(*at)?;
        let of = line.moved;
        Some(json!({
            "line": at, "kind": of.kind.map(query::sharing::Kind::word), "sampled": of.sampled, "from_core": of.from_core,
            "modified": of.modified, "cycles": of.mean(), "part_of_cycles": sharing.part_of_cycles(line),
        }))
    };
    json!({
        "moved": sharing.moved.iter().filter_map(moved).collect::<Vec<_>>(),
        "findings": sharing.things.iter().map(thing).collect::<Vec<_>>(),
        "lines": sharing.lines.iter().map(line).collect::<Vec<_>>(),
        "transfer": sharing.transfer, "contended": sharing.contended, "atomic": sharing.atomic,
        "watched": sharing.watched.map(|w| json!({"set": w.set, "hits": w.hits, "armed": w.armed, "longest": w.longest})),
    })
}

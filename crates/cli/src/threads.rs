//! `twinscope threads`: what each thread of a process does, now or at the end of a recording. Nothing is stopped for it.

use crate::short;
use crate::text::{self, clean};
use anyhow::{Context, Result, bail};
use clap::Args;
use model::{Status, Window};
use query::concurrency::{Concurrency, Serial};
use query::dump::{Dump, Frame, Thread};
use query::{Run, human};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Show what each thread does.
#[derive(Args, Debug)]
pub struct Options {
    /// A process by its number or name, or a recording
    #[arg(value_name = "PID|NAME|NAME.twin")]
    of: PathBuf,

    /// How long a process is recorded before
    #[arg(short, long, value_name = "TIME", default_value = "1s")]
    duration: String,

    /// Only threads that have this in their name
    #[arg(long, value_name = "TEXT")]
    thread: Option<String>,

    /// Each thread by itself; without it those that do the same are shown together
    #[arg(long)]
    all: bool,

    /// Frames of a stack that are shown; 0 for all
    #[arg(long, value_name = "N", default_value_t = 24)]
    depth: usize,

    /// Whole stacks: also the kernel's frames, and those of a JVM's own code around the Java methods
    #[arg(long)]
    whole: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The sources that are needed.
const SOURCES: &str = "threads,stacks,jvm";
/// CPU time per second from which on a thread is among the busy ones.
const BUSY: f64 = 0.05;
/// Threads of a group that are named, states and serial phases that are shown.
const NAMED: usize = 6;
const SHARES: usize = 3;
const PHASES: usize = 5;
/// A share of the time from which on a state is shown.
const LEAST: f64 = 0.01;

/// Shows it. Returns the exit code.
pub fn threads(options: &Options) -> Result<u8> {
    let dir = tempfile::tempdir().context("no folder for the recording")?;
    let pid = if options.of.exists() { None } else { Some(process(&options.of)?) };
    let path = match pid {
        Some(_) => dir.path().join("threads.twin"),
        None => options.of.clone(),
    };
    if let Some(pid) = pid {
        let words = ["--only", SOURCES, "--pid", &pid.to_string(), "-d", &options.duration];
        short::record(&path, &words.map(Into::into))?;
    }
    let runs = query::open(&[&path])?;
    let damaged = text::say_damage(&runs);
    let [run] = runs.as_slice() else { bail!("{}: no recording", path.display()) };
    let Some(dump) = Dump::load(run) else { bail!("{}: {}", run.name, why_nothing(run)) };
    let window = Window { from: 0, to: run.recording.duration(), why: String::new() };
    let serial = Concurrency::load(run, &window).map(|found| longest(found.serial)).unwrap_or_default();
    let wanted = |thread: &&Thread| options.thread.as_ref().is_none_or(|text| thread.name.contains(text.as_str()));
    let shown: Vec<&Thread> = dump.threads.iter().filter(wanted).collect();
    if shown.is_empty() {
        let text = options.thread.as_deref().unwrap_or_default();
        bail!("no thread of {} has {text:?} in its name; there are {}", run.name, dump.threads.len());
    }
    if options.json {
        println!("{}", serde_json::to_string_pretty(&as_json(&dump, &shown, &serial))?);
    } else {
        print(&dump, &shown, run, options);
        print_serial(&serial, options);
    }
    Ok(if damaged { 3 } else { 0 })
}

/// The process that a word names which is no recording.
fn process(word: &Path) -> Result<u32> {
    let name = text::path(word);
    let is_file = word.extension().is_some_and(|end| end == "twin") || word.components().count() > 1;
    #[cfg(target_os = "linux")]
    if !is_file && let Some(word) = word.to_str() {
        return Ok(recorder::process(&host::Host::live(), word)?);
    }
    let _ = is_file;
    bail!("{name}: no such recording; a process is named by its number or its program's name")
}

fn why_nothing(run: &Run) -> String {
    let of_source = |c: &model::Coverage| {
        c.source == "threads" && c.status != Status::Read && (c.item.is_empty() || c.item.contains("dump"))
    };
    let said: Vec<String> = run.recording.coverage().into_iter().filter(of_source).map(|c| c.why.clone()).collect();
    match said.as_slice() {
        [] => {
            "it does not say what threads did at its end: it was cut off, made by an older version, or no process was \
               named when it was recorded"
                .into()
        }
        said => format!("it does not say what threads did at its end: {}", said.join("; ")),
    }
}

/// The longest phases, the longest first.
fn longest(mut serial: Vec<Serial>) -> Vec<Serial> {
    serial.sort_by(|a, b| (b.to - b.from).total_cmp(&(a.to - a.from)));
    serial
}

fn called(thread: &Thread) -> String {
    format!("\"{}\" {}", clean(&thread.name), thread.tid)
}

/// The same for all threads that do the same.
fn is_alike(a: &Thread, b: &Thread) -> bool {
    let what = |t: &Thread| (t.pid, t.state.clone(), t.what.clone(), t.object.clone(), t.holder);
    what(a) == what(b) && a.stack == b.stack && (!a.is_active() || !a.stack.is_empty())
}

/// Threads in the order in which one wants to see them, those that do the same together.
fn grouped<'a>(threads: &[&'a Thread], all: bool) -> Vec<Vec<&'a Thread>> {
    let rank = |t: &Thread| match t.state.as_str() {
        "running" => 0,
        "runnable" | "throttled" => 1,
        "lock" => 2,
        "sleep" => 4,
        "idle" => 5,
        _ => 3,
    };
    let mut groups: Vec<Vec<&Thread>> = Vec::new();
    for &thread in threads {
        match groups.iter_mut().find(|group| !all && group.first().is_some_and(|first| is_alike(first, thread))) {
            Some(group) => group.push(thread),
            None => groups.push(vec![thread]),
        }
    }
    for group in &mut groups {
        group.sort_by(|a, b| b.cpu.total_cmp(&a.cpu).then(a.tid.cmp(&b.tid)));
    }
    groups.sort_by(|a, b| {
        let key = |group: &[&Thread]| {
            let first = group.first().copied();
            (first.map_or(0, |t| t.pid), first.is_none_or(|t| t.cpu < BUSY && !t.is_active()), first.map_or(9, rank))
        };
        let cpu = |group: &[&Thread]| group.first().map_or(0.0, |t| t.cpu);
        key(a).cmp(&key(b)).then(cpu(b).total_cmp(&cpu(a)))
    });
    groups
}

fn print(dump: &Dump, shown: &[&Thread], run: &Run, options: &Options) {
    let mut pid = None;
    for group in grouped(shown, options.all) {
        let Some(first) = group.first() else { continue };
        if pid != Some(first.pid) {
            pid = Some(first.pid);
            let of = dump.threads.iter().filter(|thread| thread.pid == first.pid);
            let cpu: f64 = of.clone().map(|thread| thread.cpu).sum();
            println!(
                "{} (pid {}): {}, {cpu:.2} of {} CPUs used in {}",
                clean(&first.comm),
                first.pid,
                match of.count() {
                    1 => "1 thread".to_owned(),
                    count => format!("{count} threads"),
                },
                run.recording.manifest().cpus,
                human(dump.length, "s"),
            );
            for circle in &dump.deadlocks {
                let named = |tid: &i64| dump.thread(*tid).filter(|thread| thread.pid == first.pid);
                let names: Vec<String> = circle.iter().filter_map(named).map(called).collect();
                if !names.is_empty() {
                    println!("  DEADLOCK: each waits for what the next one holds: {}", names.join(" → "));
                }
            }
            println!();
        }
        let names: Vec<String> = group.iter().take(NAMED).map(|thread| called(thread)).collect();
        let names = names.join(", ");
        match (group.len(), group.len().saturating_sub(NAMED)) {
            (1, _) => println!("{names}"),
            (count, 0) => println!("{count} threads: {names}"),
            (count, more) => println!("{count} threads: {names}, and {more} more"),
        }
        println!("  {}", does(&group, dump));
        print_stack(&first.stack, first.is_active(), options);
        println!();
    }
}

/// What threads that do the same do, in words.
fn does(group: &[&Thread], dump: &Dump) -> String {
    let Some(first) = group.first() else { return String::new() };
    let since: Vec<f64> = group.iter().map(|thread| thread.since).collect();
    let (least, most) = since.iter().fold((f64::MAX, 0.0_f64), |(a, b), &t| (a.min(t), b.max(t)));
    let since = match human(least, "s") {
        least if group.len() > 1 && least != human(most, "s") => format!("{least} to {}", human(most, "s")),
        least => least,
    };
    let mut words = format!("{} for {since}", first.state);
    if !first.what.is_empty() {
        words += &format!(" in {}", clean(&first.what));
    }
    if !first.object.is_empty() {
        words += &format!(", waits for {}", clean(&first.object));
    }
    if let Some(holder) = first.holder {
        let name = dump.thread(holder).map_or_else(|| format!("thread {holder}"), called);
        words += &format!(", held by {name}");
    }
    let states = first.shares.iter().filter(|(_, share)| *share >= LEAST).take(SHARES);
    let states: Vec<String> = states.map(|(state, share)| format!("{state} {:.0} %", share * 100.0)).collect();
    if group.len() == 1 && !states.is_empty() {
        words += &format!(" · {}", states.join(", "));
    }
    words
}

/// The part of a stack that says what is done. How a thread was started, and by which functions of the kernel or of a JVM it waits, says little.
fn telling(stack: &[Frame], is_active: bool) -> &[Frame] {
    let is_java = |frame: &Frame| frame.tier.is_some();
    let skip = |skipped: &dyn Fn(&Frame) -> bool| stack.iter().position(|frame| !skipped(frame)).unwrap_or(0);
    let from = match stack.iter().position(is_java) {
        Some(first) if !is_active => first,
        _ if !is_active => skip(&|frame| frame.kind == "kernel"),
        _ => 0,
    };
    let to = stack.iter().rposition(is_java).map_or(stack.len(), |last| last + 1);
    stack.get(from..to).unwrap_or(stack)
}

fn print_stack(stack: &[Frame], is_active: bool, options: &Options) {
    let stack = if options.whole { stack } else { telling(stack, is_active) };
    let shown = if options.depth == 0 { stack.len() } else { options.depth };
    for frame in stack.iter().take(shown) {
        let how = match (frame.kind.as_str(), frame.tier) {
            (_, Some(0)) => " [interpreted]",
            (_, Some(1..=3)) => " [C1]",
            (_, Some(4)) => " [C2]",
            ("kernel", _) => " [kernel]",
            _ => "",
        };
        let place = if frame.source.is_empty() { file_name(&frame.module) } else { &frame.source };
        let place = if place.starts_with('[') || place.is_empty() { String::new() } else { format!(" ({place})") };
        println!("      {}{}{how}", clean(&frame.name), clean(&place));
    }
    if stack.len() > shown {
        println!("      … and {} frames more (--depth 0)", stack.len() - shown);
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn print_serial(serial: &[Serial], options: &Options) {
    if serial.is_empty() {
        return;
    }
    let all: f64 = serial.iter().map(|phase| phase.to - phase.from).sum();
    println!("Serial phases, in which one thread ran and no other could: {}, {} in all", serial.len(), human(all, "s"));
    for phase in serial.iter().take(PHASES) {
        let who = phase.thread.as_ref().map_or("nobody was sampled".into(), |(comm, thread)| {
            if comm == thread { clean(comm) } else { format!("{}, thread \"{}\"", clean(comm), clean(thread)) }
        });
        println!("  {:.2} s to {:.2} s: {who}", phase.from, phase.to);
        print_stack(&phase.stack, true, options);
    }
    if serial.len() > PHASES {
        println!("  and {} shorter ones", serial.len() - PHASES);
    }
}

fn frames_json(stack: &[Frame]) -> Vec<Value> {
    let one =
        |f: &Frame| json!({"function": f.name, "module": f.module, "source": f.source, "kind": f.kind, "tier": f.tier});
    stack.iter().map(one).collect()
}

fn as_json(dump: &Dump, shown: &[&Thread], serial: &[Serial]) -> Value {
    let threads: Vec<Value> = shown
        .iter()
        .map(|t| {
            let shares: serde_json::Map<String, Value> =
                t.shares.iter().map(|(state, share)| ((*state).to_owned(), json!(share))).collect();
            json!({
                "pid": t.pid, "tid": t.tid, "process": t.comm, "name": t.name, "state": t.state, "since": t.since,
                "what": t.what, "object": t.object, "holder_tid": t.holder, "cpu": t.cpu, "shares": shares,
                "stack": frames_json(&t.stack),
            })
        })
        .collect();
    let phase = |p: &Serial| {
        let (process, thread) = p.thread.clone().unzip();
        json!({"from": p.from, "to": p.to, "process": process, "thread": thread, "stack": frames_json(&p.stack)})
    };
    json!({
        "threads": threads,
        "deadlocks": dump.deadlocks,
        "serial_phases": serial.iter().map(phase).collect::<Vec<_>>(),
    })
}

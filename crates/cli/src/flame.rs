//! `twinscope flame`: where the time goes, by call path: on the terminal, as JSON, or as a file.

use crate::compare::window;
use crate::output;
use crate::progress::{Progress, names};
use crate::sides::AgainstWindow;
use crate::text::{self, cut};
use anyhow::Result;
use clap::Args;
use compare::Choice;
use compare::flame::{Drawn, side};
use model::{Measure, Status, Table, Window};
use query::profile::{self, Filter, Levels, Part, ROOT, Request};
use query::{Run, human};
use report::Graph;
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Draw flame graphs.
#[derive(Args, Debug)]
pub struct Flame {
    /// Recordings; several are merged
    #[arg(required = true, value_name = "NAME.twin")]
    recordings: Vec<PathBuf>,

    /// The baseline: show the difference from it, per operation if both count operations, else per run of their commands,
    /// else per second; may be given several times
    #[arg(long, value_name = "NAME.twin")]
    against: Vec<PathBuf>,

    /// What to measure: cpu, blocked, all (both, by state), a state of blocked threads (lock, disk, network, sleep,
    /// idle …), contended (by lock), goroutines (what they wait for), faults, ipis, or what else the recording declares
    #[arg(long, value_name = "STATE", default_value = "cpu")]
    state: String,

    /// The window, as in `compare`: auto, whole, busy, or FROM..TO with times since the start (10s..50s), times of day in
    /// UTC (10:02..10:05) or marks ('warm-up over..')
    #[arg(long, value_name = "WINDOW", default_value = "auto", value_parser = window)]
    window: Choice,

    #[command(flatten)]
    against_window: AgainstWindow,

    #[command(flatten)]
    work: crate::compare::WorkBy,

    /// Only this process: name or number
    #[arg(long, value_name = "NAME")]
    process: Option<String>,

    /// Only this thread: name or number
    #[arg(long, value_name = "NAME")]
    thread: Option<String>,

    /// Levels above the functions
    #[arg(long, value_name = "LEVELS", value_delimiter = ',', default_value = "process")]
    levels: Vec<Level>,

    /// Inverted: leaf functions first, their callers below
    #[arg(long)]
    reverse: bool,

    /// The stacks of the other thread: of the waker, or of the lock's holder
    #[arg(long)]
    others: bool,

    /// Write a file: .html (interactive), .svg, .folded, .pb.gz or .pprof (pprof), .speedscope.json, .firefox.json
    /// (samples and waits with their times, for the Firefox Profiler and Perfetto)
    #[arg(short, long, value_name = "FILE", value_parser = recorder::output())]
    output: Option<PathBuf>,

    /// Print JSON
    #[arg(long, conflicts_with = "output")]
    json: bool,

    /// On the terminal, leave out functions below this share, in per cent
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0)]
    least: f64,
}

/// A level above the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Level {
    /// Process names
    Process,
    /// Thread names
    Thread,
    /// None
    None,
}

/// A file to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Html,
    Svg,
    Folded,
    Pprof,
    Speedscope,
    Firefox,
}

fn format(path: &Path) -> Option<Format> {
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    let ends = |list: &[&str]| list.iter().any(|end| name.ends_with(end));
    match () {
        () if ends(&[".html", ".htm"]) => Some(Format::Html),
        () if ends(&[".svg"]) => Some(Format::Svg),
        () if ends(&[".folded", ".collapsed", ".txt"]) => Some(Format::Folded),
        () if ends(&[".pb.gz", ".pprof"]) => Some(Format::Pprof),
        () if ends(&[".firefox.json"]) => Some(Format::Firefox),
        () if ends(&[".speedscope.json", ".speedscope"]) => Some(Format::Speedscope),
        () => None,
    }
}

/// The tables with stacks that this program can record, each with its source.
fn recordable() -> impl Iterator<Item = (&'static str, &'static Table, &'static Measure)> {
    let tables = sources::ALL.iter().flat_map(|source| source.tables.iter().map(|table| (source.name, *table)));
    tables.filter_map(|(source, table)| Some((source, table, table.measure?)))
}

/// The states in which threads are blocked that this program can record.
fn blocked() -> impl Iterator<Item = &'static str> {
    let states = sources::ALL.iter().flat_map(|source| source.tables).flat_map(|table| table.states());
    states.filter(|(_, state)| state.kind.is_blocked()).map(|(column, _)| column.name)
}

/// A word that none of the runs knows and that cannot be recorded is a wrong word.
fn check(runs: &[Run], word: &str) -> Result<()> {
    let is_known = runs.iter().any(|run| profile::known(run, word).is_some());
    let can_be = recordable().any(|(_, _, measure)| measure.id == word)
        || word == profile::ALL
        || blocked().any(|state| state == word);
    if is_known || can_be {
        return Ok(());
    }
    let mut words: Vec<String> = Vec::new();
    let recordable = recordable().map(|(_, _, measure)| measure.id).chain([profile::ALL]).chain(blocked());
    for word in runs.iter().flat_map(profile::words).chain(recordable.map(str::to_owned)) {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    let why = format!("there is no --state {word}; there are: {}", words.join(", "));
    Err(recorder::Usage(text::clean(&why)).into())
}

/// Why a run may hold nothing of what was asked for: what its recording says of the sources.
fn why_nothing(run: &Run, word: &str) -> Vec<String> {
    let of_run = run.recording.tables().filter_map(|(source, table)| Some((source, table, table.measure?)));
    let all: Vec<_> = of_run.chain(recordable()).collect();
    let is_measure = all.iter().any(|(_, _, measure)| measure.id == word);
    let asked = |measure: &Measure| match is_measure {
        true => measure.id == word,
        false => measure.ledger && (word == profile::ALL || !measure.level.is_empty()),
    };
    let asked: Vec<_> = all.into_iter().filter(|(_, _, measure)| asked(measure)).collect();
    // A gap in another table of the source says nothing of this one.
    let is_of = |c: &model::Coverage| {
        let table = c.item.split('.').next().unwrap_or_default();
        asked.iter().any(|(source, of, _)| {
            let is_other = run.recording.tables().any(|(_, t)| t.name == table && t.name != of.name);
            *source == c.source && !is_other
        })
    };
    let found = run.recording.coverage().into_iter().filter(|c| c.status != Status::Read);
    found
        .filter(is_of)
        .map(|c| {
            let item = if c.item.is_empty() { c.source } else { format!("{} {}", c.source, c.item) };
            let remedy = c.remedy.map_or(String::new(), |r| format!("; to change that: {r}"));
            format!("{}: {item}: {}: {}{remedy}", run.name, c.status.as_str(), c.why)
        })
        .collect()
}

/// Draws. Returns the exit code.
pub fn flame(options: &Flame) -> Result<u8> {
    let format = match &options.output {
        Some(path) => Some(format(path).ok_or_else(|| {
            recorder::Usage(format!(
                "{}: the name must end in .html, .svg, .folded, .pb.gz, .pprof, .speedscope.json or .firefox.json",
                path.display()
            ))
        })?),
        None => None,
    };
    // Names of runs must differ over both sides; the baseline comes first, as in `compare`.
    let against = options.against_window.baseline(&options.recordings, &options.against, &options.window)?;
    let paths: Vec<&PathBuf> = against.iter().chain(&options.recordings).collect();
    let progress = Progress::new(&format!("adding up the stacks of {}", names(&options.recordings)));
    let mut runs = query::open_by(&paths, &options.work.work)?;
    options.against_window.narrow(&mut runs, 0..against.len(), &options.window)?;
    if let (Some(path), Some(Format::Firefox)) = (&options.output, format) {
        let written = firefox(options, path, &runs)?;
        drop(progress);
        return say_firefox(path, &runs, &written);
    }
    let drawn = draw(options, &runs, against.len(), progress)?;
    let damaged = text::say_damage(&runs);
    match (&options.output, format) {
        (Some(path), Some(format)) => {
            let bytes = encode(&drawn, format)?;
            output::write(path, &bytes, "flame graph")?;
            println!("{}", text::clean(&drawn.title));
            println!("{} ({})", path.display(), human(bytes.len() as f64, "B"));
        }
        _ if options.json => print_json(&drawn)?,
        _ => print(&drawn, options.least / 100.0)?,
    }
    Ok(if damaged { 3 } else { 0 })
}

/// Writes samples and waits as they were, thread by thread.
fn firefox(options: &Flame, path: &Path, runs: &[Run]) -> Result<profile::Written> {
    let is_one = options.against.is_empty() && !options.against_window.is_given();
    let one_side = is_one && !options.reverse && !options.others;
    if !one_side || !["cpu", profile::ALL].contains(&options.state.as_str()) {
        let why = "a profile for Firefox has CPU time and waits of one side: leave out --against, --state, --reverse and --others";
        return Err(recorder::Usage(why.into()).into());
    }
    let windows: Vec<Window> =
        runs.iter().map(|run| compare::choose(run, &options.window)).collect::<Result<_, _>>()?;
    let parts: Vec<Part<'_>> = runs.iter().zip(&windows).map(|(run, window)| Part { run, window }).collect();
    let filter = Filter { process: options.process.clone(), thread: options.thread.clone() };
    output::write_by(path, "profile", |file| Ok(profile::firefox(&parts, &filter, file)?))
}

/// Says what was written.
fn say_firefox(path: &Path, runs: &[Run], written: &profile::Written) -> Result<u8> {
    if written.samples == 0 {
        for why in runs.iter().flat_map(|run| why_nothing(run, profile::ALL)) {
            eprintln!("twinscope: {}", text::clean(&why));
        }
    }
    let (time, bytes) = (human(written.seconds, "s"), std::fs::metadata(path)?.len());
    println!("{} samples and waits of {} threads, {time}", written.samples, written.threads);
    println!("{} ({})", path.display(), human(bytes as f64, "B"));
    Ok(if text::say_damage(runs) { 3 } else { 0 })
}

fn draw(options: &Flame, runs: &[Run], baseline: usize, progress: Progress) -> Result<Drawn> {
    check(runs, &options.state)?;
    let request = Request {
        measure: options.state.clone(),
        filter: Filter { process: options.process.clone(), thread: options.thread.clone() },
        levels: Levels {
            what: false,
            process: options.levels.contains(&Level::Process),
            thread: options.levels.contains(&Level::Thread),
        },
        others: options.others,
        spins: false,
    };
    let drawn = compare::flame::draw(runs, baseline, &options.window, &request);
    drop(progress);
    match drawn {
        Ok(mut drawn) => {
            drawn.reverse = options.reverse;
            let empty = runs.iter().enumerate().filter(|(run, _)| drawn.is_empty(side(baseline, *run)));
            let why: Vec<String> = empty.flat_map(|(_, run)| why_nothing(run, &options.state)).collect();
            drawn.notes.extend(why);
            Ok(drawn)
        }
        Err(error) => {
            for why in runs.iter().flat_map(|run| why_nothing(run, &options.state)) {
                eprintln!("twinscope: {}", text::clean(&why));
            }
            Err(error.into())
        }
    }
}

fn encode(drawn: &Drawn, format: Format) -> Result<Vec<u8>> {
    let Drawn { title, notes, unit, runs, tree, reverse } = drawn;
    let graph = Graph { title, notes, unit, runs, tree, reverse: *reverse };
    let shown = drawn.shown();
    let is_time = unit.starts_with('s');
    Ok(match format {
        Format::Html => report::flame_html(&graph)?.into_bytes(),
        Format::Svg => report::svg(&graph).into_bytes(),
        Format::Folded => profile::folded(&shown, if is_time { 1e9 } else { 1.0 }).into_bytes(),
        Format::Speedscope => {
            let unit = if is_time { "seconds" } else { "none" };
            profile::speedscope(&shown, runs, title, unit).to_string().into_bytes()
        }
        // It is no tree, and is written by itself.
        Format::Firefox => Vec::new(),
        Format::Pprof => {
            let (name, unit, scale) = if is_time { ("time", "nanoseconds", 1e9) } else { ("count", "count", 1.0) };
            let plain = profile::pprof(&shown, runs, name, unit, scale);
            let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
            gz.write_all(&plain)?;
            gz.finish()?
        }
    })
}

/// Functions listed below the tree.
const FUNCTIONS: usize = 15;

/// Lines of the tree.
const LINES: usize = 100;

fn share(part: f64, whole: f64) -> String {
    if whole > 0.0 { format!("{:.1} %", part / whole * 100.0) } else { "-".into() }
}

fn change(before: f64, after: f64) -> String {
    match (before > 0.0, after > 0.0) {
        (false, false) => String::new(),
        (false, true) => "new".into(),
        (true, false) => "gone".into(),
        (true, true) => query::ratio(after / before),
    }
}

fn print(drawn: &Drawn, least: f64) -> Result<()> {
    let Drawn { title, notes, unit, runs, .. } = drawn;
    let tree = &*drawn.shown();
    let totals: Vec<Vec<f64>> = (0..tree.runs()).map(|run| tree.totals(run)).collect();
    let of = |run: usize, node: u32| totals.get(run).and_then(|t| t.get(node as usize)).copied().unwrap_or(0.0);
    let own = |run: usize, node: u32| tree.own(run).get(node as usize).copied().unwrap_or(0.0);
    let whole: Vec<f64> = (0..tree.runs()).map(|run| of(run, ROOT)).collect();
    let two = runs.len() > 1;
    // A closed pipe ends the program, any other failure is one.
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    writeln!(out, "{}", text::clean(title))?;
    for note in notes {
        writeln!(out, "{}", text::clean(note))?;
    }
    if whole.iter().all(|w| *w <= 0.0) {
        writeln!(out, "\nNothing was measured there.")?;
        return Ok(out.flush()?);
    }
    writeln!(out)?;
    if two {
        let [a, b] = [0, 1].map(|run| whole.get(run).copied().unwrap_or(0.0));
        let named = |run: usize| cut(&text::clean(runs.get(run).map_or("", String::as_str)), 12);
        writeln!(out, "{:>12}  {:>12}  {:>8}", named(0), named(1), "change")?;
        writeln!(out, "{:>12}  {:>12}  {:>8}  all", human(a, unit), human(b, unit), change(a, b))?;
    } else {
        writeln!(out, "{:>8}  {:>8}  {:>8}", "total", "", "itself")?;
        writeln!(out, "{:>8}  {:>8}  {:>8}  all", human(whole.first().copied().unwrap_or(0.0), unit), "100 %", "")?;
    }
    let callees = tree.callees(&totals);
    let shown = |node: &u32| {
        (0..tree.runs()).any(|run| whole.get(run).is_some_and(|w| of(run, *node) >= w * least && of(run, *node) > 0.0))
    };
    let below = |node: u32| {
        callees.get(node as usize).map_or(Vec::new(), |list| list.iter().copied().filter(shown).collect::<Vec<_>>())
    };
    let mut open: Vec<(u32, usize)> = below(ROOT).into_iter().rev().map(|node| (node, 0)).collect();
    let (mut lines, mut left_out) = (0, 0);
    while let Some((node, indent)) = open.pop() {
        if lines == LINES {
            left_out = open.len() + 1;
            break;
        }
        lines += 1;
        let frame = tree.frame(node);
        let name = text::clean(frame.map_or("", |f| &f.name));
        // Deep paths stay on the screen: only a fork moves what comes after it to the right.
        let name = format!("{}{}", "  ".repeat(indent.min(30)), cut(&name, 90));
        if two {
            let [a, b] = [0, 1].map(|run| of(run, node));
            writeln!(out, "{:>12}  {:>12}  {:>8}  {name}", human(a, unit), human(b, unit), change(a, b))?;
        } else {
            let (total, own, all) = (of(0, node), own(0, node), whole.first().copied().unwrap_or(0.0));
            let own = if own > 0.0 { share(own, all) } else { String::new() };
            writeln!(out, "{:>8}  {:>8}  {own:>8}  {name}", human(total, unit), share(total, all))?;
        }
        let next = below(node);
        let step = usize::from(next.len() > 1 || indent == 0);
        open.extend(next.into_iter().rev().map(|callee| (callee, indent + step)));
    }
    if left_out > 0 {
        writeln!(out, "and {left_out} more paths; -o x.html shows all")?;
    }
    let top = drawn.tree.top();
    if !top.is_empty() {
        writeln!(out, "\nFunctions:\n")?;
        writeln!(out, "{}", functions(drawn, top, &whole))?;
    }
    Ok(out.flush()?)
}

/// The functions that used most themselves; of two runs those that differ most.
fn functions(drawn: &Drawn, mut top: Vec<profile::Top>, whole: &[f64]) -> comfy_table::Table {
    let Drawn { unit, runs, tree, .. } = drawn;
    let two = runs.len() > 1;
    let at = |list: &[f64], run: usize| list.get(run).copied().unwrap_or(0.0);
    let mut table = if two {
        let difference = |r: &profile::Top| (at(&r.own, 1) - at(&r.own, 0)).abs();
        top.sort_by(|a, b| difference(b).total_cmp(&difference(a)));
        let [a, b] = [0, 1].map(|run| cut(&text::clean(runs.get(run).map_or("", String::as_str)), 24));
        text::table(
            &[&format!("itself in {a}"), &format!("in {b}"), "change", "with callees", "", "function", "module"],
            &[true, true, true, true, true, false, false],
        )
    } else {
        text::table(&["itself", "", "with callees", "", "function", "module"], &[true, true, true, true, false, false])
    };
    for row in top.iter().take(FUNCTIONS) {
        let Some(frame) = tree.frames().get(row.frame as usize) else { continue };
        let mut cells = Vec::new();
        if two {
            let [a, b] = [0, 1].map(|run| at(&row.own, run));
            cells.extend([human(a, unit), human(b, unit), change(a, b)]);
            cells.extend([0, 1].map(|run| human(at(&row.total, run), unit)));
        } else {
            let all = at(whole, 0);
            cells.extend([human(at(&row.own, 0), unit), share(at(&row.own, 0), all)]);
            cells.extend([human(at(&row.total, 0), unit), share(at(&row.total, 0), all)]);
        }
        let module = frame.module.rsplit('/').next().unwrap_or("");
        cells.extend([cut(&text::clean(&frame.name), 60), cut(&text::clean(module), 30)]);
        table.add_row(cells);
    }
    table
}

fn print_json(drawn: &Drawn) -> Result<()> {
    let Drawn { title, notes, unit, runs, .. } = drawn;
    let tree = &*drawn.shown();
    let totals: Vec<Vec<f64>> = (0..tree.runs()).map(|run| tree.totals(run)).collect();
    let at = |columns: &[Vec<f64>], node: u32| {
        columns.iter().map(|c| c.get(node as usize).copied().unwrap_or(0.0)).collect::<Vec<_>>()
    };
    let own: Vec<Vec<f64>> = (0..tree.runs()).map(|run| tree.own(run).to_vec()).collect();
    let named = |frame: Option<&profile::Frame>| match frame {
        Some(f) => json!({ "name": &*f.name, "module": &*f.module, "source": &*f.source, "kind": &*f.kind }),
        None => json!({ "name": "all", "module": "", "source": "", "kind": "root" }),
    };
    let with = |mut object: serde_json::Value, fields: &[(&str, serde_json::Value)]| {
        for (key, value) in fields {
            object[*key] = value.clone();
        }
        object
    };
    let nodes: Vec<_> = (0..tree.len() as u32)
        .map(|node| {
            let fields = [
                ("parent", tree.parent(node).into()),
                ("own", at(&own, node).into()),
                ("total", at(&totals, node).into()),
            ];
            with(named(tree.frame(node)), &fields)
        })
        .collect();
    let functions: Vec<_> = drawn
        .tree
        .top()
        .into_iter()
        .map(|row| {
            with(named(tree.frames().get(row.frame as usize)), &[("own", row.own.into()), ("total", row.total.into())])
        })
        .collect();
    let all =
        json!({ "title": title, "notes": notes, "unit": unit, "runs": runs, "functions": functions, "nodes": nodes });
    println!("{}", serde_json::to_string_pretty(&all)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_that_are_declared() {
        assert!(["cpu", "lock", "all", "contended"].iter().all(|word| check(&[], word).is_ok()));
        assert!(check(&[], "locks").unwrap_err().to_string().contains("lock, disk"));
        assert!(check(&[], "runnable").is_err(), "nobody's stack is taken while it waits for a CPU");
    }

    #[test]
    fn names_say_what_is_written() {
        for (name, expected) in [
            ("x.html", Some(Format::Html)),
            ("X.SVG", Some(Format::Svg)),
            ("x.folded", Some(Format::Folded)),
            ("x.pb.gz", Some(Format::Pprof)),
            ("x.speedscope.json", Some(Format::Speedscope)),
            ("x.firefox.json", Some(Format::Firefox)),
            ("x.json", None),
            ("x", None),
        ] {
            assert_eq!(format(Path::new(name)), expected, "{name}");
        }
    }

    #[test]
    fn changes_are_short() {
        assert_eq!(
            [change(0.0, 1.0), change(1.0, 0.0), change(1.0, 3.0), change(1.0, 1.1)],
            ["new", "gone", "3.0×", "1.10× (+10 %)"]
        );
    }
}

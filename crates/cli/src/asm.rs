//! `twinscope asm`: what single instructions of a function cost, of one run or of two side by side, in the terminal or as JSON.

use crate::accesses;
use crate::compare::window;
use crate::text::{self, clean, cut};
use anyhow::{Result, bail};
use clap::Args;
use compare::assembly::{Asked, Cell, Laid, LoopOf, OfSide, Pair, lay};
use compare::{Choice, PerSide, Side};
use instructions::{Limit, Rate, Skid, Verdict, Wait};
use model::Window;
use query::accesses::{Accesses, Sampled};
use query::assembly::{Assembly, Function, why_nothing};
use query::{Run, human};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Show what single instructions cost.
#[derive(Args, Debug)]
pub struct Asm {
    /// The function: its name, with or without arguments, or a part of it
    #[arg(value_name = "FUNCTION")]
    function: String,

    /// The recording
    #[arg(value_name = "NAME.twin")]
    recording: PathBuf,

    /// The baseline: both versions side by side, with the difference
    #[arg(long, value_name = "NAME.twin")]
    against: Option<PathBuf>,

    /// The window, as in `compare`: auto, whole, busy, or FROM..TO with times (10s..50s, or 10:02..10:05 in UTC) or marks
    #[arg(long, value_name = "WINDOW", default_value = "auto", value_parser = window)]
    window: Choice,

    #[command(flatten)]
    work: crate::compare::WorkBy,

    /// All instructions, also those far from any sample
    #[arg(long)]
    all: bool,

    /// Samples where they landed, beside those of what was waited for
    #[arg(long)]
    raw: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Instructions shown before and after one with samples.
const AROUND: usize = 3;

/// Functions that are proposed where the one that was asked for is not there.
const PROPOSED: usize = 10;

fn find<'a>(run: &Run, assembly: &'a Assembly, word: &str) -> Result<&'a Function> {
    let found = assembly.named(word);
    let Some(first) = found.first() else {
        let names: Vec<String> =
            assembly.functions.iter().take(PROPOSED).map(|f| format!("  {}", clean(&cut(&f.name, 100)))).collect();
        if names.is_empty() {
            bail!("{}: {}", run.name, why_nothing(run).0);
        }
        let names = names.join("\n");
        bail!("{}: no function {} with machine code; those with most time are:\n{names}", run.name, clean(word));
    };
    let others: Vec<String> = found
        .iter()
        .skip(1)
        .filter(|f| f.name != first.name || f.module != first.module)
        .take(5)
        .map(|f| cut(&f.name, 80))
        .collect();
    if !others.is_empty() {
        eprintln!("twinscope: {}: also: {}", run.name, clean(&others.join(", ")));
    }
    Ok(first)
}

/// Shows it. Returns the exit code.
pub fn asm(options: &Asm) -> Result<u8> {
    let paths: Vec<&PathBuf> = options.against.iter().chain([&options.recording]).collect();
    let runs = query::open_by(&paths, &options.work.work)?;
    let damaged = text::say_damage(&runs);
    let windows: Vec<Window> =
        runs.iter().map(|run| compare::choose(run, &options.window)).collect::<Result<_, _>>()?;
    let sampled: Vec<Option<Accesses>> =
        runs.iter().zip(&windows).map(|(run, window)| Accesses::load(run, window)).collect();
    let assemblies: Vec<Option<Assembly>> =
        runs.iter().zip(&windows).map(|(run, window)| Assembly::load(run, window)).collect();
    // Recordings of other tools have accesses and no machine code.
    let lacks = |assembly: &Option<Assembly>| assembly.as_ref().is_none_or(|a| a.named(&options.function).is_empty());
    if assemblies.iter().all(lacks) && accesses::any(&sampled, &options.function) {
        accesses::alone(&runs, &sampled, &options.function, options.json)?;
        return Ok(if damaged { 3 } else { 0 });
    }
    let loaded: Vec<(&Run, &Window, Assembly)> = runs
        .iter()
        .zip(&windows)
        .zip(assemblies)
        .map(|((run, window), assembly)| match assembly {
            Some(assembly) => Ok((run, window, assembly)),
            None => bail!("{}: {}", run.name, why_nothing(run).0),
        })
        .collect::<Result<_>>()?;
    let asked: Vec<Asked<'_>> = loaded
        .iter()
        .map(|(run, window, assembly)| {
            Ok(Asked { run, window, assembly, function: find(run, assembly, &options.function)? })
        })
        .collect::<Result<_>>()?;
    let laid = match asked.as_slice() {
        [slow] => lay(*slow, None),
        [baseline, slow] => lay(*slow, Some(*baseline)),
        _ => bail!("no recording"),
    };
    // In the order of `asked`: the baseline first, where there is one.
    let of: Vec<Vec<&Sampled>> = asked
        .iter()
        .zip(&sampled)
        .map(|(asked, sampled)| sampled.as_ref().map_or_else(Vec::new, |all| all.of(asked.function)))
        .collect();
    if options.json {
        let mut all = as_json(&laid);
        let sides = if of.len() > 1 { &["against", "slow"][..] } else { &["slow"][..] };
        for (side, of) in sides.iter().zip(&of) {
            if let Some(side) = all.get_mut(*side).and_then(Value::as_object_mut) {
                side.insert("accesses".into(), accesses::as_json(of));
            }
        }
        println!("{}", serde_json::to_string_pretty(&all)?);
    } else {
        print(&laid, options);
        for (asked, of) in asked.iter().zip(&of).rev().filter(|(_, of)| !of.is_empty()) {
            println!("\n{}: accesses that the CPU sampled itself", clean(&asked.run.name));
            accesses::print(of);
        }
    }
    Ok(if damaged { 3 } else { 0 })
}

fn time(ns: f64) -> String {
    human(ns / 1e9, "s")
}

fn signed(ns: f64) -> String {
    if ns < 0.0 { format!("−{}", time(-ns)) } else { format!("+{}", time(ns)) }
}

fn count(count: f64) -> String {
    if count < 1e4 { format!("{count:.2}") } else { format!("{count:.3e}") }
}

fn percent(part: f64) -> String {
    format!("{:.0} %", part * 100.0)
}

fn waits(waits: &[(Wait, f64)]) -> String {
    let heavy = waits
        .iter()
        .filter(|(_, part)| *part >= 0.05)
        .map(|(wait, part)| format!("{} {}", wait.word(), percent(*part)));
    heavy.collect::<Vec<_>>().join(", ")
}

fn head(of: &OfSide, side: &str, unit: &str) {
    let module = if of.module.is_empty() { "made while the program ran".to_owned() } else { of.module.clone() };
    println!(
        "{side}{}: {} in {}: {} per {unit}; {} samples ({} with registers), waiting for: {}",
        clean(&of.run),
        clean(&of.name),
        clean(&module),
        time(of.ns),
        of.samples,
        of.with_registers,
        waits(&of.waits)
    );
    if let Some(calls) = of.calls {
        let intervals = if calls.even { "" } else { ", in uneven intervals," };
        let (most, least) = if of.counted_cold() { ("at most ", "at least ") } else { ("", "") };
        println!(
            "  called every {}{intervals} by the thread that runs it most: {most}{} of its own a call (95 % CI {}–{}), {least}{} calls per {unit} \
             ({} looks, {} hits, which took {})",
            time(calls.between),
            time(calls.ns),
            time(calls.low),
            time(calls.high),
            count(of.ns / calls.ns),
            calls.looks,
            calls.hits,
            time(calls.cost)
        );
        if of.counted_cold() {
            println!(
                "  (each hit leaves the caches colder, and this function waits for memory: its calls took longer while they were counted)"
            );
        }
    }
    if of.others.0 > 0 {
        println!("  {} other versions of it were made, with {} samples", of.others.0, of.others.1);
    }
    if of.skid == Skid::Unknown {
        println!("  where samples land was not told by the calibration: no class of wait can be told");
    }
}

fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Core => "bound by the core",
        Verdict::Memory => "bound by memory",
        Verdict::Between => "bound plainly neither by the core nor by memory",
    }
}

fn of_loop(of: &OfSide, which: &LoopOf, letter: char, side: &str) {
    let address = |index: usize| of.code.instructions.get(index).map_or(0, |i| i.address);
    let mut words = vec![match which.rate {
        Rate::Known(known) => format!(
            "{} a round (95 % CI {}–{}; {} pairs of samples, {} {:+})",
            time(known.ns),
            time(known.low),
            time(known.high),
            known.pairs,
            known.counter.register.name(of.code.machine),
            known.counter.step
        ),
        Rate::Unknown(reason) => format!("time of a round unknown: {}", reason.words()),
    }];
    if let Some(count) = which.instructions {
        let way = if which.likely { " on the way with most samples" } else { "" };
        words.push(format!("{count} instructions a round{way}"));
    }
    if let Some(cpi) = which.cpi() {
        words.push(format!("{cpi:.2} cycles an instruction"));
    }
    if let Some(bound) = which.bound {
        let by = match bound.limit {
            Limit::Chain => "chain of results",
            Limit::Width => "width",
            Limit::Unit => "one unit",
        };
        words.push(format!("at least {:.1} cycles ({by})", bound.cycles));
    }
    if let Some(cycles) = which.cycles {
        words.push(format!("takes {cycles:.1}"));
    }
    words.extend(which.verdict.map(verdict).map(str::to_owned));
    let indent = "  ".repeat(which.depth);
    println!(
        "{indent}{letter}{side} {:#x}–{:#x}, {} of the samples ({}): {}",
        address(which.from),
        address(which.to),
        percent(which.share),
        waits(&which.waits),
        words.join(", ")
    );
}

fn letter(at: usize) -> char {
    u32::try_from(at % 26).ok().and_then(|at| char::from_u32(u32::from('A') + at)).unwrap_or('A')
}

/// The lines that show loops at an instruction, outermost first.
fn brackets(of: &OfSide, index: usize) -> String {
    let depth = of.loops.iter().map(|l| l.depth).max().unwrap_or(0);
    let mut text = vec![' '; depth];
    for which in of.loops.iter().filter(|l| (l.from..=l.to).contains(&index)) {
        let sign = match index {
            _ if which.from == which.to => '[',
            index if index == which.from => '┌',
            index if index == which.to => '└',
            _ => '│',
        };
        if let Some(place) = which.depth.checked_sub(1).and_then(|at| text.get_mut(at)) {
            *place = sign;
        }
    }
    text.into_iter().collect()
}

/// Rows that are shown: those near a sample.
fn shown(laid: &Laid, all: bool) -> Vec<bool> {
    let sampled = |pair: &Pair| {
        pair.cells.each_ref().both().iter().any(|cell| cell.as_ref().is_some_and(|c| c.samples > 0 || c.landed > 0))
    };
    let mut shown = vec![all; laid.pairs.len()];
    for (at, _) in laid.pairs.iter().enumerate().filter(|(_, pair)| sampled(pair)) {
        let near = at.saturating_sub(AROUND)..(at + AROUND + 1).min(shown.len());
        shown.get_mut(near).into_iter().flatten().for_each(|s| *s = true);
    }
    shown
}

fn wait(cell: &Option<Cell>) -> &'static str {
    cell.as_ref().and_then(|cell| cell.wait).map_or("", Wait::word)
}

fn source(cell: &Cell) -> String {
    let inner = cell.lines.first();
    let within = if cell.lines.len() > 1 { inner.map(|l| format!(" in {}", l.function)) } else { None };
    inner.map_or_else(String::new, |line| format!("{}{}", line.source, within.unwrap_or_default()))
}

fn print(laid: &Laid, options: &Asm) {
    let unit = laid.unit.name();
    let both = laid.sides.baseline.is_some();
    for side in Side::BOTH {
        if let Some(of) = laid.side(side) {
            let name = match side {
                _ if !both => "",
                Side::Slow => "slow ",
                Side::Baseline => "baseline ",
            };
            head(of, name, unit);
            for (at, which) in of.loops.iter().enumerate() {
                of_loop(of, which, letter(at), "");
            }
        }
    }
    let mut header = vec!["per ".to_owned() + unit];
    let mut right = vec![true];
    if both {
        header.extend(["baseline", "difference", "95 % CI"].map(str::to_owned));
        right.extend([true, true, true]);
    }
    header.push("waits for".into());
    right.push(false);
    if both {
        header.push("baseline".into());
        right.push(false);
    }
    if options.raw {
        header.push("landed".into());
        right.push(true);
    }
    header.extend(["loops", "address", "instruction", "source"].map(str::to_owned));
    right.extend([false, true, false, false]);
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut table = text::table(&header, &right);
    let shown = shown(laid, options.all);
    let mut before = true;
    for (pair, is_shown) in laid.pairs.iter().zip(shown) {
        if !is_shown {
            if before {
                table.add_row(vec!["⋮"]);
            }
            before = false;
            continue;
        }
        before = true;
        table.add_row(row(laid, pair, options.raw, both));
    }
    println!("\n{}", text::trimmed(&table));
    if both {
        println!("\n~ before an instruction: only alike; + only in the slow run; − only in the baseline.");
    }
}

fn row(laid: &Laid, pair: &Pair, raw: bool, both: bool) -> Vec<String> {
    let PerSide { slow, baseline } = &pair.cells;
    let ns =
        |cell: &Option<Cell>| cell.as_ref().filter(|c| c.samples > 0).map_or_else(String::new, |cell| time(cell.ns));
    let mut cells = vec![ns(slow)];
    if both {
        cells.push(ns(baseline));
        match pair.difference {
            Some((value, low, high)) => cells.extend([signed(value), format!("{} … {}", signed(low), signed(high))]),
            None => cells.extend([String::new(), String::new()]),
        }
    }
    cells.push(wait(slow).to_owned());
    if both {
        cells.push(wait(baseline).to_owned());
    }
    if raw {
        let landed = |cell: &Option<Cell>| cell.as_ref().map_or_else(|| "-".into(), |c| c.landed.to_string());
        cells.push(if both { format!("{} / {}", landed(slow), landed(baseline)) } else { landed(slow) });
    }
    let side = if slow.is_some() { Side::Slow } else { Side::Baseline };
    if let (Some(cell), Some(of)) = (pair.cells[side].as_ref(), laid.side(side)) {
        let mark = match side {
            _ if !both => "",
            Side::Baseline => "− ",
            Side::Slow if baseline.is_none() => "+ ",
            Side::Slow if !pair.same => "~ ",
            Side::Slow => "  ",
        };
        cells.extend([
            if side == Side::Slow { brackets(of, cell.index) } else { String::new() },
            format!("{:x}", cell.address),
            format!("{mark}{}", clean(&cut(&cell.text, 70))),
            clean(&cut(&source(cell), 60)),
        ]);
    }
    cells
}

fn cell_json(cell: &Cell) -> Value {
    json!({
        "address": cell.address, "text": cell.text, "ns": cell.ns, "samples": cell.samples, "entering": cell.entering,
        "landed": cell.landed, "wait": cell.wait.map(Wait::word),
        "lines": cell.lines.iter().map(|l| json!({"function": l.function, "source": l.source})).collect::<Vec<_>>(),
    })
}

fn waits_json(waits: &[(Wait, f64)]) -> Value {
    waits.iter().map(|(wait, part)| (wait.word().to_owned(), json!(part))).collect::<serde_json::Map<_, _>>().into()
}

fn loop_json(of: &OfSide, which: &LoopOf) -> Value {
    let address = |index: usize| of.code.instructions.get(index).map(|i| i.address);
    let round = match which.rate {
        Rate::Known(known) => json!({
            "ns": known.ns, "low": known.low, "high": known.high, "pairs": known.pairs, "spread": known.spread,
            "register": known.counter.register.name(of.code.machine), "step": known.counter.step,
        }),
        Rate::Unknown(reason) => json!({ "unknown": reason.words() }),
    };
    let limit = |limit: Limit| match limit {
        Limit::Chain => "chain",
        Limit::Width => "width",
        Limit::Unit => "unit",
    };
    let bound = |verdict: Verdict| match verdict {
        Verdict::Core => "core",
        Verdict::Memory => "memory",
        Verdict::Between => "between",
    };
    json!({
        "from": address(which.from), "to": address(which.to), "depth": which.depth, "share": which.share, "ns": which.ns,
        "round": round, "instructions": which.instructions, "likely": which.likely, "cycles": which.cycles, "cpi": which.cpi(),
        "bound": which.bound.map(|b| json!({"cycles": b.cycles, "by": limit(b.limit)})),
        "verdict": which.verdict.map(bound), "waits": waits_json(&which.waits),
    })
}

fn side_json(of: &OfSide) -> Value {
    let skid = match of.skid {
        Skid::None => Some(0),
        Skid::One => Some(1),
        Skid::Unknown => None,
    };
    json!({
        "run": of.run, "function": of.name, "module": of.module, "pid": of.pid, "ns": of.ns, "samples": of.samples,
        "with_registers": of.with_registers, "skid": skid, "frequency": of.frequency, "waits": waits_json(&of.waits),
        "calls": of.calls.map(|calls| json!({
            "ns": calls.ns, "low": calls.low, "high": calls.high, "between": calls.between, "even": calls.even,
            "looks": calls.looks, "hits": calls.hits, "cost": calls.cost, "at_most": of.counted_cold(),
        })),
        "other_versions": {"count": of.others.0, "samples": of.others.1},
        "loops": of.loops.iter().map(|l| loop_json(of, l)).collect::<Vec<_>>(),
    })
}

fn as_json(laid: &Laid) -> Value {
    let pairs = laid.pairs.iter().map(|pair| {
        json!({
            "slow": pair.cells.slow.as_ref().map(cell_json), "against": pair.cells.baseline.as_ref().map(cell_json),
            "same": pair.same,
            "difference": pair.difference.map(|(ns, low, high)| json!({"ns": ns, "low": low, "high": high})),
        })
    });
    json!({
        "per": laid.unit.name(),
        "slow": laid.sides.slow.as_ref().map(side_json),
        "against": laid.sides.baseline.as_ref().map(side_json),
        "instructions": pairs.collect::<Vec<_>>(),
    })
}

//! Machines side by side: `doctor --against`, what `record --doctor` measures before it begins, and what `explain` says of two machines.

use crate::next;
use crate::text::{clean, cut, table, trimmed};
use anyhow::{Context as _, Result, anyhow};
use clap::Args;
use doctor::{Context, Machine, Row, Sides};
use explain::machine::{Forecast, MachinesOf, Part};
use host::Host;
use model::{Coverage, Fact, Figure, FigureRatio, Out, Rows, Symbols, why_it_matters};
use query::{human, times, times_interval};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Seconds of measuring: before a recording, of `doctor`, and of `doctor --quick`.
const BEFORE: f64 = 1.2;
pub(crate) const THOROUGH: f64 = 5.0;
pub(crate) const QUICK: f64 = 2.0;

/// `twinscope record`: what recording takes, and whether the machine is measured first.
#[derive(Args, Clone, Debug)]
pub struct Recorded {
    /// Measure this machine first: what a system call, a page fault, a load from memory, an fsync in DIR (default: here)
    /// and such take, kept in the recording for `explain` between machines. Takes 2 s at most, before the command starts
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true, default_missing_value = ".")]
    doctor: Option<PathBuf>,

    #[command(flatten)]
    options: recorder::Record,
}

/// Records. Returns the exit code.
pub(crate) fn record(options: &Recorded) -> Result<u8> {
    // What is said besides is for people, who are not there where standard error is no terminal.
    let is_watched = !options.options.quiet && std::io::stderr().is_terminal();
    if let Some(keep) = options.options.keep.filter(|_| is_watched) {
        let kept = human(keep.as_secs_f64(), "s");
        eprintln!("the last {kept} are kept; `twinscope snapshot -o incident.twin` saves them");
    }
    let ended = measured(options)?;
    if let Some(path) = ended.path.filter(|_| is_watched) {
        next::after(&path).iter().for_each(|line| eprintln!("{}", clean(line)));
    }
    Ok(ended.code)
}

/// Records, and measures the machine first where that is asked for.
fn measured(options: &Recorded) -> Result<recorder::Ended> {
    let Some(dir) = &options.doctor else { return recorder::record(&options.options, None) };
    if !dir.is_dir() {
        return Err(recorder::Usage(format!("--doctor={}: is no folder", dir.display())).into());
    }
    let measure = || {
        let (host, stop) = (Host::live(), AtomicBool::new(false));
        let found = doctor::figures(&Context { host: &host, dir, quick: true, stop: &stop }, BEFORE)?;
        if !options.options.quiet {
            let disturbed = found.disturbed.as_ref().map_or(String::new(), |why| format!("; {why}"));
            eprintln!("measured this machine for {:.1} s: {} figures{disturbed}", found.seconds, found.list.len());
        }
        Ok((found.list, found.disturbed))
    };
    recorder::record(&options.options, Some(&measure))
}

/// How this machine is set up: the facts that recordings hold, and the settings of the kernel that are known to matter.
pub(crate) fn set_up(host: &Host) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for name in ["facts", "sysctl"] {
        let Some(source) = sources::by_name(name) else { continue };
        let Ok(mut reader) = (source.open)(host, &sources::Scope::default()) else { continue };
        let mut rows = vec![Rows::default(); source.tables.len()];
        let (mut symbols, mut coverage, mut facts) = (Symbols::default(), Vec::<Coverage>::new(), Vec::<Fact>::new());
        let mut out = Out::new(source.name, source.tables, &mut rows, &mut symbols, &mut coverage, &mut facts);
        // What was read before it failed is true all the same.
        let _ = reader.read(host, &mut out);
        all.extend(facts.into_iter().map(|fact| (format!("{}.{}", fact.category, fact.name), fact.value)));
        for (table, rows) in source.tables.iter().zip(&rows) {
            for row in rows.iter() {
                let text = |at: usize| row.get(at).and_then(|cell| symbols.text(*cell));
                if let (Some(name), Some(value)) = (text(0), text(1))
                    && why_it_matters(table.name, name).is_some()
                {
                    all.insert(format!("{}.{name}", table.name), value.to_owned());
                }
            }
        }
    }
    all
}

/// A machine of a file: what `doctor --json` wrote, or a recording with `record --doctor`.
///
/// # Errors
/// In one line, what is wrong with the file.
pub(crate) fn read(path: &Path) -> Result<Machine> {
    let shown = path.display().to_string();
    if path.extension().is_some_and(|extension| extension == "twin") {
        let runs = query::open(&[path])?;
        let run = runs.first().ok_or_else(|| anyhow!("{}: holds nothing", clean(&shown)))?;
        let (figures, disturbed) = query::machine::figures(run);
        if figures.is_empty() {
            return Err(anyhow!("{}: holds no figures of its machine: record with --doctor", clean(&shown)));
        }
        let name = |(category, name): &(String, String)| format!("{category}.{name}");
        let facts = compare::facts::all_facts(&runs).into_iter();
        let matters = |(category, name): &(String, String)| {
            !matches!(category.as_str(), "sysctl" | "kernel_config") || why_it_matters(category, name).is_some()
        };
        let facts = facts.filter(|(key, _)| matters(key) && key.0 != "kernel_config");
        let set_up = facts.filter_map(|(key, values)| Some((name(&key), values.into_iter().next()??))).collect();
        return Ok(Machine { figures, set_up, disturbed });
    }
    let bytes = files::foreign::read(path, files::foreign::Limit::BY_HAND).with_context(|| clean(&shown))?;
    let text = String::from_utf8(bytes).map_err(|_| anyhow!("{}: is no text", clean(&shown)))?;
    doctor::machine_of_json(&text).map_err(|why| anyhow!("{} {}", clean(&shown), clean(&why)))
}

/// A machine of a file by the name of that.
pub(crate) fn named(path: &Path) -> Result<explain::machine::Machine> {
    let name = path.file_stem().map_or_else(|| "there".to_owned(), |stem| stem.to_string_lossy().into_owned());
    Ok(explain::machine::Machine { name, figures: read(path)?.figures })
}

fn json_of_row(row: &Row) -> Value {
    json!({"id": row.id, "title": row.title, "here": row.here, "there": row.there, "ratio": row.ratio})
}

/// Two machines as JSON, described in docs/machines.md.
pub(crate) fn json_of_sides(sides: &Sides, there: &Machine) -> Value {
    let rows = |rows: &[Row]| rows.iter().map(json_of_row).collect::<Vec<_>>();
    let set_up = sides.set_up.iter();
    json!({
        "differ": rows(&sides.differ),
        "set_up": set_up.map(|of| json!({"fact": of.fact, "here": of.here, "there": of.there, "why": of.why})).collect::<Vec<_>>(),
        "same": rows(&sides.same),
        "one_sided": rows(&sides.one_sided),
        "disturbed": there.disturbed,
    })
}

/// A figure with its interval: "112 ns (108 ns–121 ns)".
fn shown(figure: Option<&Figure>) -> String {
    let Some(Figure { value, low, high, unit, .. }) = figure else { return "–".into() };
    format!("{} ({}–{})", human(*value, unit), human(*low, unit), human(*high, unit))
}

/// "1.60× (1.41–1.82×) slower".
fn ratio_of(row: &Row) -> [String; 2] {
    let (Some(ratio), Some(here)) = (row.ratio, &row.here) else { return [String::new(), String::new()] };
    let FigureRatio { value, low, high } = ratio;
    let word = match (ratio.differs(), (value > 1.0) == here.more) {
        (false, _) => "",
        (true, true) => "better here",
        (true, false) => "worse here",
    };
    [format!("{} ({})", times(value), times_interval(low, high)), word.to_owned()]
}

fn print_rows(rows: &[Row], title: &str) {
    if rows.is_empty() {
        return;
    }
    println!("{title}");
    let mut out = table(&["", "here", "there", "here ÷ there", ""], &[false, true, true, true, false]);
    for row in rows {
        let [ratio, word] = ratio_of(row);
        let title = cut(&clean(&row.title), 64);
        out.add_row([title, shown(row.here.as_ref()), shown(row.there.as_ref()), ratio, word]);
    }
    println!("{}\n", trimmed(&out));
}

/// Prints two machines: what differs by most first, then the set-up, then what is the same.
pub(crate) fn print_sides(sides: &Sides, here: &Machine, there: &Machine) {
    let disturbed = [("here", &here.disturbed), ("there", &there.disturbed)];
    for (place, why) in disturbed.into_iter().filter_map(|(place, why)| Some((place, why.as_ref()?))) {
        println!("Disturbed {place}: {}. Measure again when that machine is quiet.\n", clean(why));
    }
    if sides.differ.is_empty() {
        println!("No figure differs: all ratios are within the intervals, or within 5 %.\n");
    }
    print_rows(&sides.differ, "What differs, by most first");
    if sides.set_up.is_empty() {
        println!("Nothing differs in the set-up.\n");
    } else {
        let known = sides.set_up.iter().filter(|of| of.why.is_some());
        let rest = sides.set_up.iter().filter(|of| of.why.is_none()).count();
        println!("What differs in the set-up");
        let mut out = table(&["fact", "here", "there", "why it matters"], &[false, false, false, false]);
        let value = |text: &Option<String>| cut(&clean(text.as_deref().unwrap_or("–")), 36);
        for of in known {
            let fact = cut(&clean(&of.fact), 44);
            out.add_row([fact, value(&of.here), value(&of.there), of.why.unwrap_or("").to_owned()]);
        }
        println!("{}", trimmed(&out));
        match rest {
            0 => println!(),
            1 => println!("and 1 more fact, which is not known to matter (--json has it)\n"),
            _ => println!("and {rest} more facts, which are not known to matter (--json has them)\n"),
        }
    }
    print_rows(&sides.same, "What is the same");
    print_rows(&sides.one_sided, "Measured on one of them only");
    println!(
        "Each figure is the median of its rounds, with the range that 80 % of them lie in. A ratio's interval is all that both ranges allow."
    );
}

/// Prints what `explain` knows of the machines.
pub(crate) fn print_machines(machines: &MachinesOf, unit: &str) {
    if let Some(pair) = machines.pair.as_ref().filter(|pair| !pair.says.is_empty()) {
        println!("\nThe machines:");
        for line in &pair.says {
            println!("  {}", clean(line));
        }
    }
    if let Some(why) = &machines.lacking {
        println!("\nOther machines: {}", clean(why));
    }
    if machines.forecasts.is_empty() {
        return;
    }
    println!("\nOn other machines this program would take, by its own time and their figures:");
    for forecast in &machines.forecasts {
        println!("  {}", clean(&forecast.says(unit)));
    }
    let mut header = vec!["its time is spent on".to_owned(), "share".to_owned(), "here".to_owned()];
    header.extend(machines.forecasts.iter().map(|forecast| clean(&forecast.machine)));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let right: Vec<bool> = (0..header.len()).map(|column| column > 0).collect();
    let mut out = table(&header, &right);
    let parts = machines.forecasts.first().map_or(&[][..], |first| first.parts.as_slice());
    for part in parts {
        let same = |forecast: &&Forecast| forecast.parts.iter().find(|other| other.class == part.class).cloned();
        let of: Vec<Option<Part>> = machines.forecasts.iter().map(|forecast| same(&forecast)).collect();
        let here = of.iter().flatten().find_map(|part| part.figure.as_ref().map(|(here, _)| Part::shown(here)));
        let mut row = vec![
            format!("{} ({})", part.class.title(), part.class.evidence().as_str()),
            format!("{:.1} %", part.share * 100.0),
            here.unwrap_or_else(|| "–".into()),
        ];
        row.extend(of.iter().map(|part| there(part.as_ref())));
        out.add_row(row);
    }
    println!("{}", trimmed(&out));
}

/// A part of the time on another machine: its figure, and how many times as long that is.
fn there(part: Option<&Part>) -> String {
    let Some((_, figure)) = part.and_then(|part| part.figure.as_ref()) else { return "–".into() };
    let ratio = part.and_then(|part| part.ratio).map_or("same".into(), |ratio| times(ratio.value));
    format!("{} ({ratio})", Part::shown(figure))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_no_machine_are_refused_in_a_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.json");
        for (content, why) in
            [(&b"{\"version\": 1, \"figures\": ["[..], "cut short"), (b"\xff\xfe", "is no text"), (b"{}", "no version")]
        {
            std::fs::write(&path, content).unwrap();
            let said = format!("{:#}", read(&path).unwrap_err());
            assert!(said.contains("a.json") && said.contains(why) && !said.contains('\n'), "{said}");
        }
        let said = format!("{:#}", read(&dir.path().join("nosuch.json")).unwrap_err());
        assert!(said.contains("nosuch.json"), "{said}");
    }

    #[test]
    fn this_machine_has_a_set_up() {
        let facts = set_up(&Host::live());
        assert!(facts.contains_key("kernel.release") && facts.contains_key("cpu.model"), "{facts:?}");
        assert_eq!(set_up(&Host::live()).get("kernel.release"), facts.get("kernel.release"));
    }
}

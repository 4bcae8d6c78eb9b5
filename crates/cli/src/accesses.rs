//! Accesses that the CPU sampled itself, of one function: what `twinscope asm` shows below the instructions, or alone where there is no machine code.

use crate::text::{self, clean};
use anyhow::Result;
use query::Run;
use query::accesses::{Accesses, Accessing, Sampled};
use serde_json::{Value, json};

/// Places that are named of where data came from.
const NAMED: usize = 4;

/// Whether one of the recordings has accesses of the function.
pub(crate) fn any(sampled: &[Option<Accesses>], function: &str) -> bool {
    sampled.iter().flatten().any(|all| !all.named(function).is_empty())
}

/// Shows the accesses of a function of which there is no machine code.
pub(crate) fn alone(runs: &[Run], sampled: &[Option<Accesses>], function: &str, as_json: bool) -> Result<()> {
    let first = |all: &Option<Accesses>| all.as_ref().and_then(|all| all.named(function).first().copied().cloned());
    let found: Vec<(&Run, Option<Accessing>)> = runs.iter().zip(sampled).map(|(run, all)| (run, first(all))).collect();
    if as_json {
        let sides = if found.len() > 1 { &["against", "slow"][..] } else { &["slow"][..] };
        let mut all = json!({"slow": null, "against": null, "instructions": []});
        for (side, (run, of)) in sides.iter().zip(&found) {
            if let (Some(of), Some(place)) = (of, all.get_mut(*side)) {
                let accesses: Vec<&Sampled> = of.instructions.iter().collect();
                *place = json!({
                    "run": run.name, "function": of.name, "module": of.module, "accesses": self::as_json(&accesses),
                });
            }
        }
        println!("{}", serde_json::to_string_pretty(&all)?);
        return Ok(());
    }
    for (run, of) in found.iter().rev() {
        let Some(of) = of else {
            println!("{}: no accesses of {} were sampled", clean(&run.name), clean(function));
            continue;
        };
        println!(
            "{}: {} in {}: {} accesses that the CPU sampled itself; there is no machine code of it",
            clean(&run.name),
            clean(&of.name),
            clean(&of.module),
            of.samples()
        );
        print(&of.instructions.iter().collect::<Vec<_>>());
    }
    Ok(())
}

/// A table, one row for each instruction and what it does.
pub(crate) fn print(of: &[&Sampled]) {
    let header = ["address", "does", "samples", "cycles", "for data", "translation", "walks", "data from"];
    let mut table = text::table(&header, &[true, false, true, true, true, true, true, false]);
    let each = |cycles: Option<u64>, of: &Sampled| {
        cycles.filter(|_| of.timed > 0).map_or_else(String::new, |c| format!("{:.0}", c as f64 / of.timed as f64))
    };
    for of in of {
        let from = of.origins();
        let named = from.iter().take(NAMED).map(|(words, part)| format!("{} {}", clean(words), percent(*part)));
        table.add_row(vec![
            format!("{:x}", of.address),
            of.kind.clone(),
            of.samples.to_string(),
            of.mean().map_or_else(String::new, |cycles| format!("{cycles:.0}")),
            each(of.memory, of),
            each(of.translation, of),
            of.walks.map_or_else(String::new, |walks| percent(walks as f64 / of.samples.max(1) as f64)),
            named.collect::<Vec<_>>().join("; "),
        ]);
    }
    println!("\n{}", text::trimmed(&table));
}

fn percent(part: f64) -> String {
    format!("{:.0} %", part * 100.0)
}

/// The same as JSON.
pub(crate) fn as_json(of: &[&Sampled]) -> Value {
    let from = |of: &Sampled| {
        let one = |((level, snoop), samples): (&(String, String), &u64)| json!({"level": level, "snoop": snoop, "samples": samples});
        of.from.iter().map(one).collect::<Vec<_>>()
    };
    let one = |of: &&Sampled| {
        json!({
            "address": of.address, "kind": of.kind, "samples": of.samples, "timed": of.timed, "cycles": of.cycles,
            "memory": of.memory, "translation": of.translation, "walks": of.walks, "from": from(of),
        })
    };
    of.iter().map(one).collect::<Vec<_>>().into()
}

//! Cache lines that threads of either side fight over: the table `sharing`, which causes ask.

use compare::{PerSide, Side};
use model::Window;
use query::sharing::{Kind, Sharing};
use query::sql::Value;
use query::{Run, Session};
use std::collections::BTreeMap;

/// What a function waits for one thing of a process.
#[derive(Debug, Default, PartialEq)]
struct Waits {
    kind: Option<Kind>,
    fields: String,
    /// Parts of the CPU time of the processes with that name that were looked at.
    part: PerSide<f64>,
    /// Of the slow side: of all functions together; how many times as fast; bytes that are waited for were watched.
    whole: f64,
    speedup: f64,
    proven: bool,
    memory: String,
    note: String,
}

/// Names for a sentence.
fn few(names: &[String]) -> String {
    const MOST: usize = 4;
    match names.get(..MOST).filter(|_| names.len() > MOST + 1) {
        Some(first) => format!("{} and {} others", first.join(", "), names.len() - MOST),
        None => names.join(", "),
    }
}

/// The table, by name of the process, function and thing.
#[derive(Debug, Default)]
pub(crate) struct Shared(BTreeMap<(String, String, String), Waits>);

impl Shared {
    /// Reads it: of repeats the first recording of each side. Empty where the slow side has none.
    pub(crate) fn of(runs: &[Run], side: &[Side], windows: &[Window]) -> Shared {
        let sides = PerSide::of(|of| {
            let at = side.iter().position(|s| *s == of)?;
            Sharing::load(runs.get(at)?, windows.get(at)?)
        });
        let mut found = Shared::default();
        let Some(slow) = &sides.slow else { return found };
        found.add(slow, sides.baseline.as_ref());
        found
    }

    fn add(&mut self, slow: &Sharing, baseline: Option<&Sharing>) {
        let of = |sharing: &Sharing, comm: &str| sharing.of_comm.get(comm).copied().unwrap_or(0.0);
        for thing in &slow.things {
            let all = of(slow, &thing.comm);
            let lines = || thing.lines.iter().filter_map(|&at| slow.lines.get(at));
            for (function, seconds) in thing.functions.iter().filter(|_| all > 0.0) {
                // What the same function waits for any line of the other side, by whatever name.
                let theirs = baseline.map_or(0.0, |other| {
                    let accesses = other.lines.iter().filter(|l| l.comm == thing.comm).flat_map(|l| &l.accesses);
                    let excess: f64 = accesses.filter(|a| a.function == *function).map(|a| a.excess).sum();
                    let all = of(other, &thing.comm);
                    if all > 0.0 { excess / all } else { 0.0 }
                });
                let key = (thing.comm.clone(), function.clone(), thing.name.clone());
                let waits = self.0.entry(key).or_default();
                waits.kind = Some(thing.kind);
                waits.fields = few(&thing.fields);
                waits.part.slow += seconds / all;
                waits.part.baseline = theirs;
                waits.whole = thing.excess / all;
                waits.speedup = thing.speedup.0;
                waits.proven |= lines().any(|line| line.proven);
                waits.memory = lines().map(|line| line.memory.clone()).next().unwrap_or_default();
                waits.note = lines().map(|line| line.note.clone()).find(|note| !note.is_empty()).unwrap_or_default();
            }
        }
    }

    /// Defines the table.
    ///
    /// # Errors
    /// Where SQLite refuses.
    pub(crate) fn define(&self, session: &mut Session) -> Result<(), query::Error> {
        let text = |t: &str| if t.is_empty() { Value::Null } else { Value::Text(t.to_owned()) };
        let rows = self.0.iter().map(|((comm, function, thing), of)| {
            vec![
                text(of.kind.map_or("", Kind::word)),
                Value::Text(thing.clone()),
                text(&of.fields),
                text(comm),
                text(function),
                Value::Real(of.part.slow),
                Value::Real(of.part.baseline),
                Value::Real(of.whole),
                Value::Real(of.speedup),
                Value::Integer(i64::from(of.proven)),
                text(&of.memory),
                text(&of.note),
            ]
        });
        let columns = [
            "kind",
            "thing",
            "fields",
            "comm",
            "function",
            "slow_part",
            "against_part",
            "whole",
            "speedup",
            "proven",
            "memory",
            "note",
        ];
        session.define("sharing", &columns, rows)
    }
}

//! What the machine code of functions waits for, how many rounds of their loops and how many calls a unit of work takes, and how long each is: the tables
//! `instruction_wait`, `loop_rate` and `call_rate`, which causes ask. Of repeats the first recording of each side tells.

use ::instructions::{Rate, Skid, Verdict, Wait, wait_of, weigh};
use compare::assembly::{Asked, Cell, Laid, LoopOf, lay_by};
use compare::{PerSide, Side, Unit};
use model::Window;
use query::assembly::Assembly;
use query::sql::Value;
use query::{Run, Session};
use std::collections::{BTreeMap, HashSet};

/// Functions that are looked at: those with most CPU time on the slow side.
const FUNCTIONS: usize = 40;

/// A loop is its function's if it has this part of its samples.
const MOST: f64 = 0.5;

/// CPU time per unit of work by function and what was waited for.
#[derive(Debug, Default, PartialEq)]
struct Waited {
    /// Seconds.
    time: PerSide<f64>,
    samples: PerSide<u64>,
}

/// A loop that both sides know the time of a round of.
#[derive(Debug, PartialEq)]
struct Rounds {
    function: String,
    /// ns a round.
    ns: PerSide<f64>,
    /// Rounds per unit of work.
    rounds: PerSide<f64>,
    /// The intervals of `ns` do not overlap.
    apart: bool,
    verdict: PerSide<Option<Verdict>>,
}

/// A function whose calls were counted on both sides.
#[derive(Debug, PartialEq)]
struct Called {
    function: String,
    /// CPU time that a call takes itself, ns.
    ns: PerSide<f64>,
    /// Calls per unit of work.
    calls: PerSide<f64>,
    /// The intervals of `ns` do not overlap.
    apart: bool,
}

/// The tables.
#[derive(Debug, Default)]
pub(crate) struct Instructions {
    waits: BTreeMap<(String, &'static str), Waited>,
    loops: Vec<Rounds>,
    calls: Vec<Called>,
    /// Seconds of CPU time per unit of work that loops wait for memory in.
    memory: PerSide<f64>,
    /// Of the samples in all functions that are known from their beginning, those that waited for their first instruction, and all; `None` where it is
    /// not known where samples land.
    entry: PerSide<Option<[u64; 2]>>,
}

/// See [`Instructions::entry`].
fn entry(assembly: &Assembly) -> Option<[u64; 2]> {
    if assembly.skid != Skid::One {
        return None;
    }
    let mut sum = [0, 0];
    for function in assembly.functions.iter().filter(|function| function.whole) {
        let landed: Vec<(u64, u64)> = function.landed.iter().map(|(&address, &count)| (address, count)).collect();
        let weights = weigh(&function.code, &landed, assembly.skid);
        // One that reads memory may wait for that.
        let waits = function.code.instructions.first().map(wait_of);
        let first = weights.on.first().filter(|_| matches!(waits, Some(Wait::Core | Wait::Store)));
        sum[0] += first.unwrap_or(&0) + weights.entering.first().unwrap_or(&0);
        sum[1] += weights.total();
    }
    Some(sum)
}

fn word(verdict: Option<Verdict>) -> Value {
    match verdict {
        Some(Verdict::Core) => Value::Text("core".into()),
        Some(Verdict::Memory) => Value::Text("memory".into()),
        Some(Verdict::Between) => Value::Text("between".into()),
        None => Value::Null,
    }
}

impl Instructions {
    /// Reads them; `units` of work each side did in the window of its first run. Empty where the slow side has no code.
    pub(crate) fn of(runs: &[Run], side: &[Side], windows: &[Window], units: PerSide<f64>) -> Instructions {
        let sides = PerSide::of(|of| {
            let at = side.iter().position(|s| *s == of)?;
            let (run, window) = (runs.get(at)?, windows.get(at)?);
            Some((run, window, Assembly::load(run, window)?)).filter(|_| units[of].is_finite() && units[of] > 0.0)
        });
        let mut found = Instructions {
            entry: PerSide::of(|side: Side| sides[side].as_ref().and_then(|(_, _, assembly)| entry(assembly))),
            ..Instructions::default()
        };
        let Some((run, window, assembly)) = &sides.slow else { return found };
        let asked = |side: &Side, function| {
            let (run, window, assembly) = sides[*side].as_ref()?;
            Some(Asked { run, window, assembly, function })
        };
        let mut known = HashSet::new();
        for function in assembly.functions.iter().filter(|f| f.all_landed() > 0).take(FUNCTIONS) {
            if !known.insert(function.name.as_str()) {
                continue;
            }
            let others = sides.baseline.as_ref().map_or(&[][..], |(_, _, assembly)| &assembly.functions);
            let other = others.iter().find(|other| other.is_same(function));
            let slow = Asked { run, window, assembly, function };
            let baseline = other.and_then(|other| asked(&Side::Baseline, other));
            found.add(&lay_by(slow, baseline, Unit::Second, units));
        }
        found
    }

    fn add(&mut self, laid: &Laid) {
        Side::BOTH.into_iter().for_each(|side| self.waits(laid, side));
        let Some(of) = laid.side(Side::Slow) else { return };
        if let Some(baseline) = laid.side(Side::Baseline)
            && let (Some(mine), Some(theirs)) = (of.calls, baseline.calls)
            && !of.counted_cold()
            && !baseline.counted_cold()
        {
            self.calls.push(Called {
                function: of.name.clone(),
                ns: PerSide { slow: mine.ns, baseline: theirs.ns },
                calls: PerSide { slow: of.ns / mine.ns, baseline: baseline.ns / theirs.ns },
                apart: mine.low > theirs.high || theirs.low > mine.high,
            });
        }
        for which in of.loops.iter().filter(|which| which.share >= MOST) {
            let Some(other) = laid.partner(which).filter(|other| other.share >= MOST) else { continue };
            let (Rate::Known(mine), Rate::Known(theirs)) = (which.rate, other.rate) else { continue };
            // Of nested loops the innermost that has most samples: its rounds are what is done.
            let is_deeper = |deeper: &LoopOf| {
                deeper.depth > which.depth && deeper.share >= MOST && matches!(deeper.rate, Rate::Known(_))
            };
            if of.loops.iter().any(is_deeper) {
                continue;
            }
            let cells = laid.pairs.iter().filter_map(|pair| pair.cells.slow.as_ref());
            let hottest =
                cells.filter(|cell| (which.from..=which.to).contains(&cell.index)).max_by_key(|cell| cell.samples);
            let function = hottest.and_then(|cell| inner(laid, Side::Slow, cell)).unwrap_or(&of.name);
            // A compiler may put it into several others: the one with most time tells.
            if self.loops.iter().any(|known| known.function == function) {
                continue;
            }
            self.loops.push(Rounds {
                function: function.to_owned(),
                ns: PerSide { slow: mine.ns, baseline: theirs.ns },
                rounds: PerSide { slow: which.ns / mine.ns, baseline: other.ns / theirs.ns },
                apart: mine.low > theirs.high || theirs.low > mine.high,
                verdict: PerSide { slow: which.verdict, baseline: other.verdict },
            });
        }
    }

    /// Adds what a side of it waits for.
    fn waits(&mut self, laid: &Laid, side: Side) {
        let Some(of) = laid.side(side) else { return };
        let is_far = |cell: &Cell| {
            let mut loops = of.loops.iter().filter(|which| which.verdict == Some(Verdict::Memory));
            loops.any(|which| (which.from..=which.to).contains(&cell.index))
        };
        for cell in laid.pairs.iter().filter_map(|pair| pair.cells[side].as_ref()) {
            let Some(wait) = cell.wait.map(Wait::word) else { continue };
            if matches!(wait, "load" | "store" | "atomic") && is_far(cell) {
                self.memory[side] += cell.ns / 1e9;
            }
            let function = inner(laid, side, cell).unwrap_or(&of.name).to_owned();
            let waited = self.waits.entry((function, wait)).or_default();
            waited.time[side] += cell.ns / 1e9;
            waited.samples[side] += cell.samples;
        }
    }

    /// Seconds of CPU time per unit of work in which loops of a side wait for memory.
    pub(crate) fn memory(&self, side: Side) -> f64 {
        self.memory[side]
    }

    /// Defines the tables.
    ///
    /// # Errors
    /// Where SQLite refuses.
    pub(crate) fn define(&self, session: &mut Session) -> Result<(), query::Error> {
        let waits = self.waits.iter().map(|((function, wait), of)| {
            vec![
                Value::Text(function.clone()),
                Value::Text((*wait).to_owned()),
                Value::Real(of.time.slow),
                Value::Real(of.time.baseline),
                Value::Integer(of.samples.slow as i64),
                Value::Integer(of.samples.baseline as i64),
            ]
        });
        session.define(
            "instruction_wait",
            &["function", "wait", "slow", "against", "slow_samples", "against_samples"],
            waits,
        )?;
        let loops = self.loops.iter().map(|of| {
            vec![
                Value::Text(of.function.clone()),
                Value::Real(of.ns.slow),
                Value::Real(of.ns.baseline),
                Value::Real(of.rounds.slow),
                Value::Real(of.rounds.baseline),
                Value::Integer(i64::from(of.apart)),
                word(of.verdict.slow),
                word(of.verdict.baseline),
            ]
        });
        let columns = [
            "function",
            "slow_ns",
            "against_ns",
            "slow_rounds",
            "against_rounds",
            "apart",
            "slow_bound",
            "against_bound",
        ];
        session.define("loop_rate", &columns, loops)?;
        let part = |side: Side| match self.entry[side] {
            Some([first, all]) if all > 0 => Value::Real(first as f64 / all as f64),
            _ => Value::Null,
        };
        let samples = |side: Side| self.entry[side].map_or(Value::Null, |[_, all]| Value::Integer(all as i64));
        let [slow, against] = [Side::Slow, Side::Baseline];
        let columns = ["slow_part", "against_part", "slow_samples", "against_samples"];
        let is_known = self.entry.slow.is_some() && self.entry.baseline.is_some();
        let row = is_known.then(|| vec![part(slow), part(against), samples(slow), samples(against)]);
        session.define("code_entry", &columns, row)?;
        let calls = self.calls.iter().map(|of| {
            vec![
                Value::Text(of.function.clone()),
                Value::Real(of.ns.slow),
                Value::Real(of.ns.baseline),
                Value::Real(of.calls.slow),
                Value::Real(of.calls.baseline),
                Value::Integer(i64::from(of.apart)),
            ]
        });
        session.define(
            "call_rate",
            &["function", "slow_ns", "against_ns", "slow_calls", "against_calls", "apart"],
            calls,
        )
    }
}

/// The function that was put into the one that it is of: what stacks call it. Where no sample landed, those that waited for it landed behind it.
fn inner<'l>(laid: &'l Laid, side: Side, cell: &'l Cell) -> Option<&'l str> {
    let named = |cell: &'l Cell| cell.lines.first().map(|line| line.function.as_str()).filter(|name| !name.is_empty());
    let behind = || {
        let mut cells = laid.pairs.iter().filter_map(|pair| pair.cells[side].as_ref());
        cells.find(|next| next.index == cell.index + 1).and_then(named)
    };
    named(cell).or_else(|| if cell.landed == 0 { behind() } else { None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::instructions::{Code, Machine, Sample, Skid};
    use model::Manifest;
    use query::assembly::{Function, Line};
    use query::testing::write;

    /// mov rax,[rax]; dec rsi; jnz; ret.
    const CHASE: [u8; 9] = [0x48, 0x8b, 0x00, 0x48, 0xff, 0xce, 0x75, 0xf8, 0xc3];

    fn function(seconds: f64, ns: u64) -> Function {
        let sample = |n: u64| {
            let mut registers = [0; 32];
            registers[6] = 1_000_000 - n * 10_000;
            Sample { address: 3, task_clock: n * 10_000 * ns, registers }
        };
        Function {
            name: "find".into(),
            module: "/bin/a".into(),
            pid: None,
            whole: true,
            code: Code::new(Machine::X86_64, &CHASE, 0),
            landed: [(3, 90), (6, 10)].into(),
            threads: vec![(0..50).map(sample).collect()],
            seconds,
            samples: 100,
            lines: [(0, vec![Line { function: "next".into(), source: "a.c:1".into() }, Line::default()])].into(),
            others: (0, 0),
            calls: None,
        }
    }

    #[test]
    fn rounds_and_their_time_are_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        let run = |name: &str| {
            let path = dir.path().join(name);
            write(&path, &Manifest::default(), &[]);
            Run { name: name.into(), recording: store::Recording::open(&path).unwrap(), stretch: None }
        };
        let (slow, fast) = (run("slow"), run("fast"));
        let window = Window { from: 0, to: 1_000_000_000, why: String::new() };
        let assemblies = [function(4.0, 100), function(0.5, 50)].map(|function| Assembly {
            functions: vec![function],
            seconds: 4.0,
            skid: Skid::One,
            frequency: Some(3e9),
        });
        let asked = |run, at: usize| Asked {
            run,
            window: &window,
            assembly: &assemblies[at],
            function: &assemblies[at].functions[0],
        };
        let mut found = Instructions::default();
        let units = PerSide { slow: 2.0, baseline: 1.0 };
        found.add(&lay_by(asked(&slow, 0), Some(asked(&fast, 1)), Unit::Second, units));
        let rounds = &found.loops[0];
        assert!((rounds.ns.slow - 100.0).abs() < 1e-6 && (rounds.ns.baseline - 50.0).abs() < 1e-6 && rounds.apart);
        // Two seconds a unit are 20 million rounds of 100 ns; half a second 10 million of 50.
        assert!((rounds.rounds.slow - 2e7).abs() < 10.0 && (rounds.rounds.baseline - 1e7).abs() < 10.0, "{rounds:?}");
        assert_eq!(rounds.verdict.slow, Some(Verdict::Memory));
        // What was put into it has the time of its instructions.
        assert_eq!(rounds.function, "next");
        let waited = &found.waits[&("next".to_owned(), "load")];
        assert!((waited.time.slow - 1.8).abs() < 1e-9 && waited.samples == PerSide { slow: 90, baseline: 90 });
        assert_eq!(found.waits[&("find".to_owned(), "core")].samples.slow, 10);
        // So it has where lines are known only of the instruction on which they landed, and twice the same loop is one.
        let lines = [(3, vec![Line { function: "next".into(), source: "a.c:1".into() }, Line::default()])];
        let landed = assemblies.clone().map(|mut assembly| {
            assembly.functions[0].lines = lines.clone().into();
            assembly
        });
        let asked =
            |run, at: usize| Asked { run, window: &window, assembly: &landed[at], function: &landed[at].functions[0] };
        let mut found = Instructions::default();
        for _ in 0..2 {
            found.add(&lay_by(asked(&slow, 0), Some(asked(&fast, 1)), Unit::Second, units));
        }
        assert_eq!(found.loops.iter().map(|of| of.function.as_str()).collect::<Vec<_>>(), ["next"]);
        assert_eq!(found.waits[&("next".to_owned(), "load")].samples, PerSide { slow: 180, baseline: 180 });
    }
}

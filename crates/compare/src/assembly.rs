//! What single instructions of a function cost: CPU time per unit of work of each, of one run or of two side by side, what the CPU waited for there, and
//! how long the rounds of its loops take. Shares within a function come from where samples landed, its time from the samples of the whole window.

use crate::Unit;
use crate::side::{PerSide, Side};
use instructions::{
    Bound, Code, Rate, Row, Skid, Verdict, Wait, Weights, align, bound, judge, loads_and_computes, rate, wait_of, weigh,
};
use model::Window;
use query::Run;
use query::assembly::{Assembly, Calls, Function, Line};
use std::collections::{BTreeMap, BTreeSet};

/// Of one instruction of one side.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Its place in the code, by index.
    pub index: usize,
    /// Where it is: in the file, or in the process.
    pub address: u64,
    /// In assembly.
    pub text: String,
    /// CPU time per unit of work that the CPU waited for it, ns: of it and of entering it.
    pub ns: f64,
    /// Samples that this is, and how many of them stand for entering it from elsewhere.
    pub samples: u64,
    /// Of `samples`, those that entered.
    pub entering: u64,
    /// Samples that landed on it, without any correction.
    pub landed: u64,
    /// What for; `None` where there are no samples.
    pub wait: Option<Wait>,
    /// Where it comes from, innermost function first.
    pub lines: Vec<Line>,
}

/// Two versions of an instruction, or one that only one side has.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// Of each side.
    pub cells: PerSide<Option<Cell>>,
    /// Both do the same.
    pub same: bool,
    /// How much more the slow side takes per unit of work, ns, and its 95 % interval; `None` where there is one side only, or no sample in either.
    pub difference: Option<(f64, f64, f64)>,
}

/// A loop of one side.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopOf {
    /// Its first and its last instruction, by index.
    pub from: usize,
    /// The last.
    pub to: usize,
    /// 1 for an outermost one.
    pub depth: usize,
    /// How long a round takes.
    pub rate: Rate,
    /// Instructions of a round; `None` where ways part, or the code does not tell.
    pub instructions: Option<usize>,
    /// They are those of the way that has most samples: there are others.
    pub likely: bool,
    /// The least that a round takes.
    pub bound: Option<Bound>,
    /// Cycles of a round, where the CPU's frequency was measured.
    pub cycles: Option<f64>,
    /// What a round spends them on: on memory only if that is what is waited for most of the time.
    pub verdict: Option<Verdict>,
    /// Its part of the samples of the function.
    pub share: f64,
    /// CPU time per unit of work, ns.
    pub ns: f64,
    /// What the CPU waits for in it, by part of its samples, most first.
    pub waits: Vec<(Wait, f64)>,
}

impl LoopOf {
    /// Cycles of an instruction.
    pub fn cpi(&self) -> Option<f64> {
        Some(self.cycles? / self.instructions? as f64)
    }
}

/// A function of one side.
#[derive(Clone, Debug)]
pub struct OfSide {
    /// The run.
    pub run: String,
    /// What it is called there.
    pub name: String,
    /// Path of its file; empty for code that a process made.
    pub module: String,
    /// The process that made it.
    pub pid: Option<i64>,
    /// CPU time per unit of work, ns.
    pub ns: f64,
    /// Samples that landed in it, and how many of those have registers.
    pub samples: u64,
    /// With registers.
    pub with_registers: usize,
    /// Where samples land on its machine.
    pub skid: Skid,
    /// Cycles a second, where they were measured.
    pub frequency: Option<f64>,
    /// Its loops, outer ones first.
    pub loops: Vec<LoopOf>,
    /// What the CPU waits for, by part of its samples, most first.
    pub waits: Vec<(Wait, f64)>,
    /// Other versions of it that the process made, and samples with registers in those.
    pub others: (usize, u64),
    /// How often it is called, where that was counted.
    pub calls: Option<Calls>,
    /// Its instructions.
    pub code: Code,
}

impl OfSide {
    /// Whether counting its calls made them longer: each hit leaves the caches colder, and it waits mostly for memory. What [`OfSide::calls`] says of their
    /// time is the most that it can be.
    pub fn counted_cold(&self) -> bool {
        self.waits.first().is_some_and(|(wait, _)| matches!(wait, Wait::Load | Wait::Store))
    }
}

/// A function, laid side by side.
#[derive(Clone, Debug)]
pub struct Laid {
    /// What times are per.
    pub unit: Unit,
    /// Of each side.
    pub sides: PerSide<Option<OfSide>>,
    /// Instructions, in order of the slow side.
    pub pairs: Vec<Pair>,
}

/// One run to be asked, with its window.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// The run.
    pub run: &'a Run,
    /// Of it.
    pub window: &'a Window,
    /// What it has of code.
    pub assembly: &'a Assembly,
    /// The function of it.
    pub function: &'a Function,
}

/// What times are per, and how many of those units each side did in its window.
pub fn units(runs: &PerSide<Option<(&Run, &Window)>>) -> (Unit, PerSide<f64>) {
    type Of<'a> = (&'a Run, &'a Window);
    let unit = Unit::of([&runs.slow, &runs.baseline].into_iter().flatten().copied().collect::<Vec<Of<'_>>>());
    let done = |of: &Option<Of<'_>>| of.map_or(1.0, |(run, window)| unit.done(run, window).max(1e-9));
    let units = PerSide { slow: done(&runs.slow), baseline: done(&runs.baseline) };
    (unit, units)
}

/// One side while it is put together.
struct Weighed<'a> {
    of: OfSide,
    function: &'a Function,
    weights: Weights,
    /// ns per unit that a sample stands for.
    each: f64,
    /// Instructions that load and compute, in loops that take no longer than computing does: their results were waited for, not their loads.
    computing: BTreeSet<usize>,
}

fn weighed<'a>(asked: &Asked<'a>, units: f64) -> Weighed<'a> {
    let Asked { run, assembly, function, .. } = *asked;
    let landed: Vec<(u64, u64)> = function.landed.iter().map(|(&address, &count)| (address, count)).collect();
    let weights = weigh(&function.code, &landed, assembly.skid);
    let total = weights.total();
    let ns = function.seconds * 1e9 / units;
    let each = if total > 0 { ns / total as f64 } else { 0.0 };
    let mut weighed = Weighed {
        of: OfSide {
            run: run.name.clone(),
            name: function.name.clone(),
            module: function.module.clone(),
            pid: function.pid,
            ns,
            samples: total,
            with_registers: function.with_registers(),
            skid: assembly.skid,
            frequency: assembly.frequency,
            loops: Vec::new(),
            waits: Vec::new(),
            others: function.others,
            calls: function.calls,
            code: function.code.clone(),
        },
        function,
        weights,
        each,
        computing: BTreeSet::new(),
    };
    let loops = |weighed: &Weighed<'_>| -> Vec<LoopOf> {
        (0..function.code.loops.len()).filter_map(|at| weighed.loop_of(at)).collect()
    };
    let of_loops = loops(&weighed);
    let bound_by_core = of_loops.iter().filter(|which| which.verdict == Some(Verdict::Core));
    let all = function.code.instructions.iter().enumerate();
    weighed.computing = bound_by_core
        .flat_map(|which| all.clone().filter(|(index, _)| (which.from..=which.to).contains(index)))
        .filter_map(|(index, instruction)| loads_and_computes(instruction).then_some(index))
        .collect();
    weighed.of.loops = if weighed.computing.is_empty() { of_loops } else { loops(&weighed) };
    weighed.of.waits = weighed.waits(0..function.code.instructions.len(), weighed.weights.nowhere);
    weighed
}

impl Weighed<'_> {
    fn at(&self, index: usize) -> (u64, u64) {
        let of = |list: &[u64]| list.get(index).copied().unwrap_or(0);
        (of(&self.weights.on), of(&self.weights.entering))
    }

    /// What was waited for when it was for this instruction.
    fn wait(&self, index: usize) -> Wait {
        let instruction = self.function.code.instructions.get(index);
        instruction.filter(|_| !self.computing.contains(&index)).map_or(Wait::Core, wait_of)
    }

    /// What the CPU waits for in instructions, by part of their samples, most first; so many samples more landed nowhere.
    fn waits(&self, indices: impl IntoIterator<Item = usize>, nowhere: u64) -> Vec<(Wait, f64)> {
        let mut waits: BTreeMap<Wait, u64> = BTreeMap::from([(Wait::Unknown, nowhere)]);
        for index in indices {
            let (on, entering) = self.at(index);
            *waits.entry(self.wait(index)).or_default() += on;
            *waits.entry(self.weights.entered(&self.function.code, index, self.of.skid)).or_default() += entering;
        }
        let total = waits.values().sum::<u64>().max(1) as f64;
        let mut waits: Vec<(Wait, u64)> = waits.into_iter().filter(|(_, count)| *count > 0).collect();
        waits.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        waits.into_iter().map(|(wait, count)| (wait, count as f64 / total)).collect()
    }

    fn cell(&self, index: usize) -> Option<Cell> {
        let instruction = self.function.code.instructions.get(index)?;
        let (on, entering) = self.at(index);
        // The heavier one has the word.
        let wait = match (on, entering) {
            (0, 0) => None,
            (on, entering) if on >= entering => Some(self.wait(index)),
            _ => Some(self.weights.entered(&self.function.code, index, self.of.skid)),
        };
        Some(Cell {
            index,
            address: instruction.address,
            text: instruction.text.clone(),
            ns: (on + entering) as f64 * self.each,
            samples: on + entering,
            entering,
            landed: self.function.landed.get(&instruction.address).copied().unwrap_or(0),
            wait,
            lines: self.function.lines.get(&instruction.address).cloned().unwrap_or_default(),
        })
    }

    fn loop_of(&self, number: usize) -> Option<LoopOf> {
        let code = &self.function.code;
        let which = code.loops.get(number)?;
        let indices: Vec<usize> =
            which.blocks.iter().filter_map(|&b| code.blocks.get(b)).flat_map(|b| b.first..b.end).collect();
        let sum = |indices: &[usize]| indices.iter().map(|&at| self.at(at)).map(|(a, b)| a + b).sum::<u64>();
        let samples = sum(&indices);
        let of_block = |block: usize| {
            let range = code.blocks.get(block).map_or(0..0, |b| b.first..b.end);
            let length = range.len().max(1);
            sum(&range.collect::<Vec<_>>()) as f64 / length as f64
        };
        let round = code.round(which, &of_block);
        // A way that was taken has samples; with none, which of several is not known.
        let one_way = code.one_way(which);
        let round = round.filter(|_| one_way || samples > 0);
        let bound = round.as_deref().and_then(|round| bound(code, round));
        let rate = rate(code, which, self.function.threads.iter().map(Vec::as_slice));
        let cycles = match (&rate, self.of.frequency) {
            (Rate::Known(known), Some(hertz)) => Some(known.ns * hertz / 1e9),
            _ => None,
        };
        let waits = self.waits(indices.iter().copied(), 0);
        // Jumps that are guessed wrong take as long as memory does: it must be what is waited for.
        let of_memory = |wait: Wait| matches!(wait, Wait::Load | Wait::Store | Wait::Atomic);
        let waited: f64 = waits.iter().filter(|(wait, _)| of_memory(*wait)).map(|(_, part)| part).sum();
        let verdict = bound.zip(cycles).map(|(bound, cycles)| match judge(&bound, cycles) {
            Verdict::Memory if waited < 0.5 => Verdict::Between,
            verdict => verdict,
        });
        Some(LoopOf {
            from: indices.iter().copied().min()?,
            to: indices.iter().copied().max()?,
            depth: which.depth,
            rate,
            instructions: round.as_ref().map(Vec::len),
            likely: !one_way,
            bound,
            cycles,
            verdict,
            share: samples as f64 / self.of.samples.max(1) as f64,
            ns: samples as f64 * self.each,
            waits,
        })
    }
}

/// A difference of two counts, each of which stands for so many ns, and its 95 % interval: counts of samples vary as Poisson's do. Where there are none,
/// there may have been a few (95 % of the time no more than three). `None` where nothing was counted.
pub fn difference(slow: (u64, f64), baseline: (u64, f64)) -> Option<(f64, f64, f64)> {
    if slow.0 + baseline.0 == 0 {
        return None;
    }
    let variance = |(count, each): (u64, f64)| count.max(1) as f64 * each * each;
    let value = slow.0 as f64 * slow.1 - baseline.0 as f64 * baseline.1;
    let half = 1.96 * (variance(slow) + variance(baseline)).sqrt();
    Some((value, value - half, value + half))
}

/// Lays a function of one run, or of two, side by side.
pub fn lay(slow: Asked<'_>, baseline: Option<Asked<'_>>) -> Laid {
    let of_baseline = baseline.map(|asked| (asked.run, asked.window));
    let (unit, units) = units(&PerSide { slow: Some((slow.run, slow.window)), baseline: of_baseline });
    lay_by(slow, baseline, unit, units)
}

/// The same by a unit of work of which each side did so many.
pub fn lay_by(slow: Asked<'_>, baseline: Option<Asked<'_>>, unit: Unit, units: PerSide<f64>) -> Laid {
    let left = weighed(&slow, units.slow);
    let right = baseline.as_ref().map(|asked| weighed(asked, units.baseline));
    let alone =
        || (0..left.of.code.instructions.len()).map(|at| Row { left: Some(at), right: None, same: false }).collect();
    let rows: Vec<Row> = right.as_ref().map_or_else(alone, |right| align(&left.of.code, &right.of.code));
    let pairs = rows
        .into_iter()
        .map(|row| {
            let mine = row.left.and_then(|at| left.cell(at));
            let theirs = right.as_ref().zip(row.right).and_then(|(right, at)| right.cell(at));
            let count = |cell: &Option<Cell>| cell.as_ref().map_or(0, |cell| cell.samples);
            let difference =
                right.as_ref().and_then(|right| difference((count(&mine), left.each), (count(&theirs), right.each)));
            Pair { cells: PerSide { slow: mine, baseline: theirs }, same: row.same, difference }
        })
        .collect();
    Laid { unit, sides: PerSide { slow: Some(left.of), baseline: right.map(|right| right.of) }, pairs }
}

impl Laid {
    /// The loop of the baseline that a loop of the slow side was, or became: the one whose first instruction is aligned with its own.
    pub fn partner(&self, which: &LoopOf) -> Option<&LoopOf> {
        let other = self.sides.baseline.as_ref()?;
        let is_first = |pair: &&Pair| pair.cells.slow.as_ref().is_some_and(|cell| cell.index == which.from);
        let first = self.pairs.iter().find(is_first)?.cells.baseline.as_ref()?.index;
        other.loops.iter().find(|of| of.from == first && of.depth == which.depth)
    }

    /// A side that is there.
    pub fn side(&self, side: Side) -> Option<&OfSide> {
        self.sides[side].as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use instructions::{Machine, Sample};
    use model::Manifest;
    use query::testing::write;
    use std::collections::{BTreeMap, HashMap};

    /// mov rax,[rax]; dec rsi; jnz; ret.
    const CHASE: [u8; 9] = [0x48, 0x8b, 0x00, 0x48, 0xff, 0xce, 0x75, 0xf8, 0xc3];

    fn function(seconds: f64, landed: &[(u64, u64)], ns: u64) -> Function {
        let sample = |n: u64| {
            let mut registers = [0; 32];
            registers[6] = 1_000_000 - n * 10_000;
            Sample { address: 3, task_clock: n * 10_000 * ns, registers }
        };
        Function {
            name: "chase".into(),
            module: "/bin/a".into(),
            pid: None,
            whole: true,
            code: Code::new(Machine::X86_64, &CHASE, 0),
            landed: landed.iter().copied().collect::<BTreeMap<_, _>>(),
            threads: vec![(0..50).map(sample).collect()],
            seconds,
            samples: 100,
            lines: HashMap::from([(3, vec![Line { function: "chase".into(), source: "a.c:3".into() }])]),
            others: (0, 0),
            calls: None,
        }
    }

    fn run(dir: &std::path::Path, name: &str) -> Run {
        let path = dir.join(name);
        write(&path, &Manifest::default(), &[]);
        Run { name: name.into(), recording: store::Recording::open(&path).unwrap(), stretch: None }
    }

    #[test]
    fn a_chase_that_waits_longer_is_seen_at_its_load() {
        let dir = tempfile::tempdir().unwrap();
        let (slow, fast) = (run(dir.path(), "slow"), run(dir.path(), "fast"));
        let window = Window { from: 0, to: 2_000_000_000, why: String::new() };
        let functions = [function(2.0, &[(3, 990), (6, 10)], 100), function(0.1, &[(3, 90), (6, 10)], 5)];
        let assembly = |function: &Function| Assembly {
            functions: vec![function.clone()],
            seconds: 1.0,
            skid: Skid::One,
            frequency: Some(3e9),
        };
        let [a, b] = [0, 1].map(|at| assembly(&functions[at]));
        let asked = |run, assembly, function| Asked { run, window: &window, assembly, function };
        let laid = lay(asked(&slow, &a, &functions[0]), Some(asked(&fast, &b, &functions[1])));
        assert_eq!(laid.unit, Unit::Second);
        assert_eq!(laid.pairs.len(), 4);
        assert!(laid.pairs.iter().all(|pair| pair.same));
        let load = &laid.pairs[0];
        let [mine, theirs] = [load.cells.slow.as_ref().unwrap(), load.cells.baseline.as_ref().unwrap()];
        // 99 % of a second a second, and 90 % of a twentieth.
        assert!((mine.ns - 0.99e9).abs() < 1.0 && (theirs.ns - 0.045e9).abs() < 1.0);
        assert_eq!((mine.wait, mine.samples, mine.landed), (Some(Wait::Load), 990, 0));
        let (more, low, high) = load.difference.unwrap();
        assert!((more - 0.945e9).abs() < 1.0 && low > 0.8e9 && high < 1.1e9);
        assert_eq!(laid.pairs[1].cells.slow.as_ref().unwrap().lines[0].source, "a.c:3");
        assert_eq!(laid.pairs[3].difference, None, "nothing landed there");
        let side = laid.side(Side::Slow).unwrap();
        let which = &side.loops[0];
        assert_eq!((which.from, which.to, which.instructions, which.likely), (0, 2, Some(3), false));
        assert!(matches!(which.rate, Rate::Known(known) if (known.ns - 100.0).abs() < 1e-6), "{:?}", which.rate);
        assert_eq!(which.verdict, Some(Verdict::Memory));
        assert!((which.cpi().unwrap() - 100.0).abs() < 1e-6);
        assert_eq!(which.waits[0].0, Wait::Load);
        // 5 ns are 15 cycles for the 4 of the bound.
        let which = &laid.side(Side::Baseline).unwrap().loops[0];
        assert_eq!(which.verdict, Some(Verdict::Between));
    }

    #[test]
    fn one_run_stands_alone_and_no_frequency_is_no_cycle() {
        let dir = tempfile::tempdir().unwrap();
        let run = run(dir.path(), "one");
        let window = Window { from: 0, to: 1_000_000_000, why: String::new() };
        let function = function(1.0, &[(3, 100)], 100);
        let assembly =
            Assembly { functions: vec![function.clone()], seconds: 1.0, skid: Skid::Unknown, frequency: None };
        let laid = lay(Asked { run: &run, window: &window, assembly: &assembly, function: &function }, None);
        let side = laid.side(Side::Slow).unwrap();
        assert!(laid.side(Side::Baseline).is_none() && laid.pairs.iter().all(|pair| pair.difference.is_none()));
        assert_eq!((side.loops[0].cycles, side.loops[0].verdict, side.loops[0].cpi()), (None, None, None));
        // With an unknown skid no class is told.
        assert_eq!(side.waits, [(Wait::Unknown, 1.0)]);
    }

    #[test]
    fn differences_are_as_sure_as_counts_are() {
        assert_eq!(difference((0, 1.0), (0, 1.0)), None);
        let (value, low, high) = difference((100, 1.0), (100, 1.0)).unwrap();
        assert!(value == 0.0 && (high - 27.7).abs() < 0.1 && (low + 27.7).abs() < 0.1);
        let (_, low, _) = difference((3, 1.0), (0, 1.0)).unwrap();
        assert!(low < 0.0, "three samples are nothing sure");
    }
}

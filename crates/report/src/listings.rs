//! The block `instructions`: what single instructions cost, of the functions that matter, as `twinscope asm` computes it. It is made for the compared
//! window, and the page does not compute it anew for another one.

use crate::bundle::{
    Instructions, Listed, ListedCalls, ListedCell, ListedFunction, ListedLoop, ListedRow, ListedSides, Listings,
    NoCode, Round, SourceLine, WaitShare,
};
use crate::explained::Explained;
use compare::assembly::{Asked, Cell, Laid, LoopOf, OfSide, Pair, difference, lay_by, units};
use compare::{Comparison, PerSide, Side, Unit};
use instructions::{Limit, Rate, Skid, Verdict, Wait};
use model::{Status, Window};
use query::Run;
use query::assembly::{Assembly, Function, why_nothing};
use std::collections::HashMap;

/// The name of the block.
pub(crate) const BLOCK: &str = "instructions";

/// Functions that are listed.
const FUNCTIONS: usize = 12;

/// A function with fewer samples is not listed, unless a finding is about it: they say nothing of single instructions.
const LEAST: u64 = 10;

/// Instructions further than this from any sample are left out: they are no part of what is hot, and there are thousands of them.
const NEAR: usize = 60;

/// What is told of it in the head, and the block.
pub(crate) struct Made {
    pub(crate) spec: Instructions,
    pub(crate) listings: Option<Listings>,
    /// By what findings name, the place of a function in `listings`.
    pub(crate) places: HashMap<String, usize>,
}

/// One side: a run with its machine code.
struct OneSide<'a> {
    run: &'a Run,
    window: &'a Window,
    assembly: Assembly,
}

/// A function, by its place on each side.
#[derive(Clone, Copy)]
struct Chosen(PerSide<Option<usize>>);

/// Lists the functions that matter; `None` where no recording ever looked at instructions.
pub(crate) fn listings(runs: &[Run], comparison: &Comparison, explained: Option<&Explained>) -> Option<Made> {
    let (run, against) = match explained {
        Some(explained) => (explained.run, explained.against),
        None if runs.len() > 1 => (1, Some(0)),
        None => (0, None),
    };
    let load = |index: usize| {
        let (run, window) = (runs.get(index)?, comparison.windows.get(index)?);
        let assembly = Assembly::load(run, window).filter(|assembly| !assembly.functions.is_empty())?;
        Some(OneSide { run, window, assembly })
    };
    let sides = PerSide { slow: load(run), baseline: against.and_then(load) };
    let has = |index: usize| match (index == run, Some(index) == against) {
        (true, _) => sides.slow.is_some(),
        (_, true) => sides.baseline.is_some(),
        _ => true,
    };
    let missing = runs.iter().enumerate().map(|(index, run)| (!has(index)).then(|| no_code(run))).collect();
    let mut spec = Instructions { block: None, run, against, missing };
    if sides.slow.is_none() && sides.baseline.is_none() {
        let asked = [Some(run), against].into_iter().flatten().filter_map(|index| runs.get(index)).any(knows);
        return asked.then(|| Made { spec, listings: None, places: HashMap::new() });
    }
    let subjects: Vec<&str> = explained.map_or_else(Vec::new, |explained| {
        explained.explanation.findings.iter().map(|f| f.subject.as_str()).filter(|s| !s.is_empty()).collect()
    });
    let (chosen, places, left_out) = choose(&sides, &subjects);
    // As the explanation has it: of both runs, also where one has no code.
    let of = |index: usize| Some((runs.get(index)?, comparison.windows.get(index)?));
    let (unit, units) = units(&PerSide { slow: of(run), baseline: against.and_then(of) });
    let listed = chosen.into_iter().filter_map(|chosen| list(&sides, chosen, &unit, units)).collect();
    spec.block = Some(BLOCK.to_owned());
    Some(Made { spec, listings: Some(Listings { per: unit.name().to_owned(), functions: listed, left_out }), places })
}

/// Whether a recording was made by a recorder that can look at instructions, or says why it did not.
fn knows(run: &Run) -> bool {
    let said = |c: &model::Coverage| c.source == "instructions" && c.status != Status::Read;
    run.recording.table("code").is_some() || run.recording.coverage().iter().any(said)
}

fn no_code(run: &Run) -> NoCode {
    let (why, remedy) = why_nothing(run);
    NoCode { why, remedy }
}

impl Chosen {
    fn of<'a>(&self, sides: &'a PerSide<Option<OneSide<'_>>>, side: Side) -> Option<(&'a OneSide<'a>, &'a Function)> {
        let of = sides[side].as_ref()?;
        Some((of, of.assembly.functions.get(self.0[side]?)?))
    }
}

/// The functions to list, by which of them findings are named, and how many are left out. Of several versions of a function the one with most time.
fn choose(sides: &PerSide<Option<OneSide<'_>>>, subjects: &[&str]) -> (Vec<Chosen>, HashMap<String, usize>, usize) {
    let mut all: Vec<Chosen> = Vec::new();
    for side in Side::BOTH {
        for (at, function) in sides[side].iter().flat_map(|side| side.assembly.functions.iter().enumerate()) {
            let is_known = |known: &Chosen| {
                Side::BOTH.iter().filter_map(|&side| known.of(sides, side)).any(|(_, other)| other.is_same(function))
            };
            match all.iter_mut().find(|known| is_known(known)) {
                _ if function.all_landed() == 0 => {}
                Some(known) if known.0[side].is_none() => known.0[side] = Some(at),
                Some(_) => {}
                None => {
                    let mut new = PerSide { slow: None, baseline: None };
                    new[side] = Some(at);
                    all.push(Chosen(new));
                }
            }
        }
    }
    let most = |chosen: &Chosen, of: &dyn Fn(&Function) -> u64| {
        Side::BOTH.iter().filter_map(|&side| chosen.of(sides, side)).map(|(_, f)| of(f)).max().unwrap_or(0)
    };
    all.sort_by_key(|chosen| std::cmp::Reverse(most(chosen, &|f| f.with_registers() as u64)));
    // What findings are about comes first.
    let mut taken: Vec<usize> = Vec::new();
    let mut places = HashMap::new();
    for &subject in subjects {
        let heaviest = (0..all.len())
            .filter_map(|at| Some((at, most(all.get(at)?, &|f| f.landed_in(subject)))))
            .filter(|(_, landed)| *landed > 0)
            .max_by_key(|(at, landed)| (*landed, std::cmp::Reverse(*at)));
        let Some((at, _)) = heaviest else { continue };
        let place = taken.iter().position(|&known| known == at).unwrap_or_else(|| {
            taken.push(at);
            taken.len() - 1
        });
        if place < FUNCTIONS {
            places.insert(subject.to_owned(), place);
        }
    }
    let is_sampled = |at: &usize| all.get(*at).is_some_and(|chosen| most(chosen, &Function::all_landed) >= LEAST);
    let others: Vec<usize> = (0..all.len()).filter(|at| !taken.contains(at)).filter(is_sampled).collect();
    taken.extend(others);
    let left_out = all.len() - taken.len().min(FUNCTIONS);
    let chosen = taken.into_iter().take(FUNCTIONS).filter_map(|at| all.get(at).copied()).collect();
    (chosen, places, left_out)
}

fn list(sides: &PerSide<Option<OneSide<'_>>>, chosen: Chosen, unit: &Unit, units: PerSide<f64>) -> Option<Listed> {
    let functions = PerSide { slow: chosen.of(sides, Side::Slow), baseline: chosen.of(sides, Side::Baseline) };
    let asked = functions.map(|of| {
        let (side, function) = of?;
        Some(Asked { run: side.run, window: side.window, assembly: &side.assembly, function })
    });
    // What is there on the other side only is laid out as if it were the slow one, and put back.
    let (laid, swapped) = match asked {
        PerSide { slow: Some(slow), baseline } => (lay_by(slow, baseline, unit.clone(), units), false),
        PerSide { slow: None, baseline: Some(only) } => {
            let swapped = PerSide { slow: units.baseline, baseline: units.slow };
            (lay_by(only, None, unit.clone(), swapped), true)
        }
        PerSide { slow: None, baseline: None } => return None,
    };
    let told = PerSide::of(|side| {
        let of = laid.side(if swapped { Side::Slow } else { side }).filter(|_| functions[side].is_some())?;
        let (side, function) = functions[side]?;
        Some((told(of, function, side), of.ns, function.samples))
    });
    let counted = |side: Side| told[side].as_ref().map(|(_, ns, samples)| (*samples, ns / (*samples).max(1) as f64));
    let each = |side: Side| counted(side).map_or(0.0, |(_, each)| each);
    let count = |side: Side| counted(side).unwrap_or((0, each(Side::Slow).max(each(Side::Baseline))));
    let both = sides.slow.is_some() && sides.baseline.is_some();
    let more = difference(count(Side::Slow), count(Side::Baseline)).filter(|_| both);
    let PerSide { slow, baseline } = told.map(|told| told.map(|(told, ..)| told));
    Some(Listed {
        of: ListedSides { slow, against: baseline },
        difference: more.map(three),
        rows: rows(&laid, swapped),
    })
}

/// Four digits are more than samples tell.
fn short(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let scale = 10f64.powi(3 - value.abs().log10().floor() as i32);
    (value * scale).round() / scale
}

fn three((value, low, high): (f64, f64, f64)) -> [f64; 3] {
    [value, low, high].map(short)
}

fn waits(waits: &[(Wait, f64)]) -> Vec<WaitShare> {
    waits.iter().map(|(wait, part)| WaitShare { wait: wait.word().into(), part: short(*part) }).collect()
}

fn told(of: &OfSide, function: &Function, side: &OneSide<'_>) -> ListedFunction {
    ListedFunction {
        function: of.name.clone(),
        module: of.module.clone(),
        pid: of.pid,
        whole: function.whole,
        ns: short(of.ns),
        share: short(function.seconds / side.assembly.seconds.max(function.seconds).max(1e-12)),
        samples: of.samples,
        with_registers: of.with_registers,
        skid: match of.skid {
            Skid::None => Some(0),
            Skid::One => Some(1),
            Skid::Unknown => None,
        },
        frequency: of.frequency,
        waits: waits(&of.waits),
        loops: of.loops.iter().map(|which| of_loop(of, which)).collect(),
        versions: of.others.0,
        versions_samples: of.others.1,
        calls: of.calls.map(|calls| {
            let [ns, low, high] = three((calls.ns, calls.low, calls.high));
            ListedCalls {
                ns,
                low,
                high,
                between: short(calls.between),
                even: calls.even,
                looks: calls.looks,
                at_most: of.counted_cold(),
            }
        }),
    }
}

fn of_loop(of: &OfSide, which: &LoopOf) -> ListedLoop {
    let address = |index: usize| of.code.instructions.get(index).map_or(0, |i| i.address);
    let (round, unknown) = match which.rate {
        Rate::Known(known) => {
            let register = known.counter.register.name(of.code.machine);
            let [ns, low, high] = three((known.ns, known.low, known.high));
            (Some(Round { ns, low, high, pairs: known.pairs, register, step: known.counter.step }), String::new())
        }
        Rate::Unknown(why) => (None, why.words()),
    };
    let by = |limit: Limit| match limit {
        Limit::Chain => "chain",
        Limit::Width => "width",
        Limit::Unit => "unit",
    };
    let verdict = |verdict: Verdict| match verdict {
        Verdict::Core => "core",
        Verdict::Memory => "memory",
        Verdict::Between => "between",
    };
    ListedLoop {
        from: address(which.from),
        to: address(which.to),
        depth: which.depth,
        share: short(which.share),
        ns: short(which.ns),
        round,
        unknown,
        instructions: which.instructions,
        likely: which.likely,
        cycles: which.cycles.map(short),
        cpi: which.cpi().map(short),
        bound: which.bound.map(|bound| short(bound.cycles)),
        bound_by: which.bound.map_or_else(String::new, |bound| by(bound.limit).into()),
        verdict: which.verdict.map_or_else(String::new, |v| verdict(v).into()),
        waits: waits(&which.waits),
    }
}

fn cell(cell: &Cell) -> ListedCell {
    let some = |count: u64| (count > 0).then_some(count);
    let line =
        |line: &query::assembly::Line| SourceLine { function: line.function.clone(), source: line.source.clone() };
    ListedCell {
        address: cell.address,
        text: cell.text.clone(),
        ns: (cell.samples > 0).then(|| short(cell.ns)),
        samples: some(cell.samples),
        entering: some(cell.entering),
        landed: some(cell.landed),
        wait: cell.wait.map(|wait| wait.word().into()),
        lines: (!cell.lines.is_empty()).then(|| cell.lines.iter().map(line).collect()),
    }
}

/// The rows near samples. `swapped`: what was laid out as the slow side is the other.
fn rows(laid: &Laid, swapped: bool) -> Vec<ListedRow> {
    let sampled = |pair: &Pair| {
        pair.cells.each_ref().both().iter().any(|cell| cell.as_ref().is_some_and(|c| c.samples > 0 || c.landed > 0))
    };
    let mut near = vec![false; laid.pairs.len()];
    for (at, _) in laid.pairs.iter().enumerate().filter(|(_, pair)| sampled(pair)) {
        let around = at.saturating_sub(NEAR)..(at + NEAR + 1).min(near.len());
        near.get_mut(around).into_iter().flatten().for_each(|near| *near = true);
    }
    let mut rows = Vec::new();
    let mut skipped = 0;
    for (pair, near) in laid.pairs.iter().zip(near) {
        if !near {
            skipped += 1;
            continue;
        }
        let [slow, against] = pair.cells.each_ref().both().map(|of| of.as_ref().map(cell));
        let (slow, against) = if swapped { (against, slow) } else { (slow, against) };
        let before = std::mem::take(&mut skipped);
        rows.push(ListedRow {
            skipped: (before > 0).then_some(before),
            slow,
            against,
            same: pair.same,
            difference: pair.difference.map(three),
        });
    }
    rows
}

//! How long a round of a loop takes: of two samples of one thread in the same run of a loop, registers that count its rounds tell how many lie between
//! them, and the thread's task clock how long they took.

use crate::entered::{Apart, turn};
use crate::{Code, Counter, Flow, Instruction, Loop, Register, Steps, Work, steps};
use std::collections::BTreeSet;

/// One sample of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The instruction that was to be executed next.
    pub address: u64,
    /// CPU time of the thread, ns.
    pub task_clock: u64,
    /// General registers by [`Register::column`].
    pub registers: [u64; Register::GENERAL],
}

/// A measured round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    /// The counter that was read.
    pub counter: Counter,
    /// CPU time of a round, ns: the median over pairs of samples.
    pub ns: f64,
    /// Lower end of the 95 % interval of the median.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Pairs of samples.
    pub pairs: usize,
    /// How far pairs differ: their median distance from the median, as a standard deviation, by the median.
    pub spread: f64,
}

/// Why the time of a round is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// No register changes by a constant in each round.
    NoCounter,
    /// Too few pairs of samples lie in one run of the loop.
    FewPairs {
        /// How many there were.
        pairs: usize,
    },
    /// The loop is left and entered again between most samples: its counters begin anew.
    Reset,
    /// Pairs differ too much from each other.
    Unsteady,
}

impl Why {
    /// In words, after "unknown:".
    pub fn words(self) -> String {
        match self {
            Why::NoCounter => "no register counts its rounds".into(),
            Why::FewPairs { pairs } => format!("only {pairs} pairs of samples lie in one run of it"),
            Why::Reset => "its counters begin anew between samples".into(),
            Why::Unsteady => "samples disagree on how long a round takes".into(),
        }
    }
}

/// How long a round takes, if that can be told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rate {
    /// It can.
    Known(Known),
    /// It cannot.
    Unknown(Why),
}

/// Pairs that make a rate.
const PAIRS: usize = 6;

/// Beyond it two samples are not of one burst, ns.
const GAP: u64 = 200_000_000;

/// No round is faster, rounds per ns: what a counter of 32 bits must not have wrapped at.
const FASTEST: f64 = 6.0;

/// What lies between two samples.
enum Between {
    Rounds(Counter, f64),
    /// Another run of the loop.
    Another,
    /// Nothing can be said.
    Nothing,
}

/// The time of a round of a loop. Each of `samples` are those of one thread, in the order of its task clock, while it was looked at.
pub fn rate<'a>(code: &Code, which: &Loop, samples: impl IntoIterator<Item = &'a [Sample]> + Clone) -> Rate {
    let found = rate_of(code, which, samples.clone());
    if found != Rate::Unknown(Why::NoCounter) {
        return found;
    }
    // What is called changes registers, and loops of JITs call their runtime where they seldom go: without those ways, a register may count.
    let sampled: BTreeSet<usize> = samples
        .clone()
        .into_iter()
        .flatten()
        .filter_map(|sample| code.at(sample.address).and_then(|at| code.block_of(at)))
        .collect();
    let calls = |block: usize| {
        let called = |i: &Instruction| matches!(i.flow, Flow::Call | Flow::IndirectCall) || i.work == Work::System;
        code.of_block(block).iter().any(called)
    };
    match which.without(code, |block| calls(block) && !sampled.contains(&block)) {
        Some(usual) => rate_of(code, &usual, samples),
        None => found,
    }
}

fn rate_of<'a>(code: &Code, which: &Loop, samples: impl IntoIterator<Item = &'a [Sample]> + Clone) -> Rate {
    let steps = steps(code, which);
    if steps.counters.is_empty() {
        return Rate::Unknown(Why::NoCounter);
    }
    let mut found: Vec<Pair> = Vec::new();
    let mut another: Vec<f64> = Vec::new();
    for pair in samples.clone().into_iter().flat_map(|of_thread| of_thread.windows(2)) {
        let &[a, b] = pair else { continue };
        let gap = b.task_clock.saturating_sub(a.task_clock);
        if gap == 0 || gap > GAP {
            continue;
        }
        match between(code, which, &steps, &a, &b, gap) {
            Between::Rounds(counter, rounds) => found.push(Pair { gap: gap as f64, rounds, counter }),
            Between::Another => another.push(gap as f64),
            Between::Nothing => {}
        }
    }
    if another.len() + found.len() >= PAIRS && !keep_one_run(&mut found, &mut another) {
        return entered(code, which, &steps, samples).map_or(Rate::Unknown(Why::Reset), Rate::Known);
    }
    if found.len() < PAIRS {
        return Rate::Unknown(Why::FewPairs { pairs: found.len() });
    }
    let cost = cost(&mut found);
    if cost > 0.0 {
        // It differs from one sample to the next: pairs that lie far apart tell better.
        found.drain(..found.len() / 3);
    }
    let Some(&Pair { counter, .. }) = found.first() else { return Rate::Unknown(Why::FewPairs { pairs: 0 }) };
    let rounds = sorted(&found, cost);
    let value = |at: usize| rounds.get(at).copied().unwrap_or(f64::NAN);
    let median = middle(&rounds);
    let mut apart: Vec<f64> = rounds.iter().map(|ns| (ns - median).abs()).collect();
    apart.sort_by(f64::total_cmp);
    let spread = apart.get(apart.len() / 2).copied().unwrap_or(f64::NAN) * 1.4826 / median;
    if spread.is_nan() || spread > 0.6 {
        return Rate::Unknown(Why::Unsteady);
    }
    // The interval of a median by order statistics.
    let n = rounds.len() as f64;
    let half = 0.98 * n.sqrt();
    let low = (n / 2.0 - half).floor().max(0.0) as usize;
    let high = ((n / 2.0 + half).ceil() as usize).min(rounds.len() - 1);
    Rate::Known(Known { counter, ns: median, low: value(low), high: value(high), pairs: rounds.len(), spread })
}

/// The time of a round of a loop that is over between most samples, by the counter that goes over the fewest numbers: it begins anew each time.
fn entered<'a>(
    code: &Code,
    which: &Loop,
    steps: &Steps,
    samples: impl IntoIterator<Item = &'a [Sample]> + Clone,
) -> Option<Known> {
    let mut found: Option<(f64, Counter, Vec<f64>, Vec<Apart>)> = None;
    for counter in &steps.counters {
        let rounds = |sample: &Sample| {
            let (value, bits) = began_with(inside(code, which, steps, sample)?, sample, counter.register)?;
            let value = if bits.min(counter.bits) < 64 { f64::from(value as u32 as i32) } else { value as i64 as f64 };
            Some(value / counter.step as f64)
        };
        let (mut places, mut pairs) = (Vec::new(), Vec::new());
        for of_thread in samples.clone() {
            let here: Vec<Option<f64>> = of_thread.iter().map(rounds).collect();
            places.extend(here.iter().flatten());
            for (pair, rounds) in of_thread.windows(2).zip(here.windows(2)) {
                let (&[a, b], &[Some(from), Some(to)]) = (pair, rounds) else { continue };
                let gap = b.task_clock.saturating_sub(a.task_clock);
                if (1..=GAP).contains(&gap) {
                    pairs.push(Apart { gap: gap as f64, rounds: to - from });
                }
            }
        }
        let least = places.iter().copied().fold(f64::INFINITY, f64::min);
        places.iter_mut().for_each(|place| *place -= least);
        let whole = places.iter().copied().fold(0.0, f64::max);
        if found.as_ref().is_none_or(|(other, ..)| whole < *other) {
            found = Some((whole, *counter, places, pairs));
        }
    }
    let (_, counter, places, pairs) = found?;
    let turn = turn(&places, &pairs)?;
    Some(Known { counter, ns: turn.ns, low: turn.low, high: turn.high, pairs: turn.pairs, spread: turn.spread })
}

/// Two samples in one run of a loop.
#[derive(Clone, Copy)]
struct Pair {
    /// ns between them.
    gap: f64,
    rounds: f64,
    counter: Counter,
}

/// ns a round of each pair, in order, where a sample costs so many ns.
fn sorted(pairs: &[Pair], cost: f64) -> Vec<f64> {
    let mut rounds: Vec<f64> = pairs.iter().map(|pair| (pair.gap - cost).max(0.0) / pair.rounds).collect();
    rounds.sort_by(f64::total_cmp);
    rounds
}

/// The median of numbers in their order.
fn middle(sorted: &[f64]) -> f64 {
    let at = |n: usize| sorted.get(n).copied().unwrap_or(f64::NAN);
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 { at(half) } else { (at(half.wrapping_sub(1)) + at(half)) / 2.0 }
}

/// The pairs that lie nearest to each other, and those that lie farthest apart: a third each. Sorts them by that.
fn thirds(pairs: &mut [Pair]) -> (&[Pair], &[Pair]) {
    pairs.sort_by(|a, b| a.gap.total_cmp(&b.gap));
    let third = pairs.len() / 3;
    (pairs.get(..third).unwrap_or(&[]), pairs.get(pairs.len() - third..).unwrap_or(&[]))
}

/// The median ns between the samples of pairs in their order.
fn gap(pairs: &[Pair]) -> f64 {
    pairs.get(pairs.len() / 2).map_or(0.0, |pair| pair.gap)
}

/// What a sample takes of its thread, ns: what is left of the time between two samples when their rounds are taken away, by pairs of which some lie
/// nearer to each other than others (the slope of Theil, 1950, and Sen, 1968, between the nearest third and the farthest). 0 where all lie as far apart.
/// Sorts pairs by how far that is.
fn cost(pairs: &mut [Pair]) -> f64 {
    /// Of each third, at most.
    const MOST: usize = 100;
    let (near, far) = thirds(pairs);
    if gap(far) < 1.5 * gap(near) {
        return 0.0;
    }
    let step = near.len() / MOST + 1;
    let of_two = |a: &Pair| {
        let slope = move |b: &Pair| (b.gap - a.gap) / (b.rounds - a.rounds);
        far.iter().step_by(step).filter(|b| b.rounds > a.rounds).map(slope).collect::<Vec<f64>>()
    };
    let mut slopes: Vec<f64> = near.iter().step_by(step).flat_map(of_two).collect();
    slopes.sort_by(f64::total_cmp);
    let slope = middle(&slopes);
    let mut left: Vec<f64> = pairs.iter().map(|pair| pair.gap - slope * pair.rounds).collect();
    left.sort_by(f64::total_cmp);
    let left = middle(&left);
    if left.is_nan() { 0.0 } else { left.max(0.0) }
}

/// Keeps the pairs that are two samples of one run of the loop, if that can be told; `another` are how far apart those lie (ns) that plainly are not. A
/// loop that is entered again and again in equal intervals a little shorter than the samples' seems to go on, slowly: as the wheels of a coach do on
/// film. Of true pairs the time of a round is the same however far apart they lie. Samples of different runs look like one by chance in every second
/// pair, so where nearly all pairs that lie nearest go on, these are what they seem.
fn keep_one_run(found: &mut Vec<Pair>, another: &mut [f64]) -> bool {
    if another.len() * 20 <= another.len() + found.len() {
        return true;
    }
    found.sort_by(|a, b| a.gap.total_cmp(&b.gap));
    another.sort_by(f64::total_cmp);
    let nearest = (2 * PAIRS..=found.len()).rev().find(|&count| {
        let (Some(last), next) = (found.get(count - 1), found.get(count)) else { return false };
        let within = another.partition_point(|gap| *gap <= last.gap);
        next.is_none_or(|next| next.gap > last.gap) && within * 10 <= within + count
    });
    if let Some(count) = nearest
        && is_even(found.get_mut(..count).unwrap_or(&mut []))
    {
        found.truncate(count);
        return true;
    }
    found.len() * 5 >= another.len() + found.len() && found.len() >= 2 * PAIRS && is_even(found)
}

/// Whether pairs that lie near to each other and far from each other say the same of a round.
fn is_even(found: &mut [Pair]) -> bool {
    /// No sample takes longer, ns.
    const LONGEST: f64 = 40_000.0;
    let cost = cost(found);
    let (near, far) = thirds(found);
    let rounds = |pairs: &[Pair]| middle(&sorted(pairs, cost));
    cost <= LONGEST && gap(far) >= 1.1 * gap(near) && (rounds(far) / rounds(near) - 1.0).abs() <= 0.1
}

/// What is known of registers where a sample landed; `None` outside of the loop.
fn inside<'s>(code: &Code, which: &Loop, steps: &'s Steps, sample: &Sample) -> Option<&'s crate::steps::State> {
    let instruction = code.at(sample.address)?;
    which.blocks.binary_search(&code.block_of(instruction)?).ok()?;
    steps.at(instruction)
}

fn between(code: &Code, which: &Loop, steps: &Steps, a: &Sample, b: &Sample, ns: u64) -> Between {
    let inside = |sample: &Sample| inside(code, which, steps, sample);
    let (Some(at_a), Some(at_b)) = (inside(a), inside(b)) else { return Between::Nothing };
    // Another frame is another call of the function.
    let stack = Register::stack(code.machine);
    if let (Some(before), Some(after)) = (began_with(at_a, a, stack), began_with(at_b, b, stack))
        && before.0 != after.0
    {
        return Between::Another;
    }
    for &register in &steps.constant {
        if let (Some((before, x)), Some((after, y))) = (began_with(at_a, a, register), began_with(at_b, b, register))
            && cut(before, x.min(y)) != cut(after, x.min(y))
        {
            return Between::Another;
        }
    }
    let mut agreed: Option<(Counter, i64)> = None;
    for counter in &steps.counters {
        let (Some((before, x)), Some((after, y))) =
            (began_with(at_a, a, counter.register), began_with(at_b, b, counter.register))
        else {
            continue;
        };
        let bits = counter.bits.min(x).min(y);
        if bits < 64 && ns as f64 * FASTEST * counter.step.unsigned_abs() as f64 >= f64::from(i32::MAX) {
            continue;
        }
        let difference = after.wrapping_sub(before);
        let difference = if bits < 64 { i64::from(difference as u32 as i32) } else { difference as i64 };
        if difference.checked_rem(counter.step) != Some(0) {
            return Between::Another;
        }
        let rounds = difference / counter.step;
        if rounds < 0 || rounds as f64 > ns as f64 * FASTEST {
            return Between::Another;
        }
        match agreed {
            Some((_, other)) if other != rounds => return Between::Another,
            Some(_) => {}
            None => agreed = Some((*counter, rounds)),
        }
    }
    match agreed {
        // A round that is not over says little of how long it takes.
        Some((counter, rounds)) if rounds >= 4 => Between::Rounds(counter, rounds as f64),
        _ => Between::Nothing,
    }
}

/// What a register held when the round of a sample began, and how many of its bits that is true for.
fn began_with(state: &crate::steps::State, sample: &Sample, register: Register) -> Option<(u64, u8)> {
    let held = state
        .iter()
        .enumerate()
        .filter_map(|(column, value)| value.map(|value| (column, value)))
        .filter(|(_, value)| value.of == register);
    let (column, value) = held.max_by_key(|(_, value)| value.bits)?;
    let now = sample.registers.get(column).copied()?;
    Some((now.wrapping_sub(value.add as u64), value.bits))
}

fn cut(value: u64, bits: u8) -> u64 {
    if bits < 64 { u64::from(value as u32) } else { value }
}

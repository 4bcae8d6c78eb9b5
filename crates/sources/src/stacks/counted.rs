//! Samples by counters, added up between two reads: how many cycles and how many instructions the CPUs counted in each place of the code. What a function
//! takes for an instruction is the ratio of the two, so both are told by the innermost instruction alone, in the same way.

use super::intern::cell;
use super::trie::Place;
use super::{Stacks, State};
use host::Host;
use host::perf::Sample;
use model::Out;
use std::collections::HashMap;
use std::sync::Arc;

/// Places in one read at most: what nobody fetches must not fill the memory.
const MOST: usize = 1 << 20;

/// What an event came to in a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum {
    /// Cycles, or instructions.
    count: u64,
    /// Samples that told of them.
    samples: u64,
}

/// What was counted in a place of a process's code.
#[derive(Clone, Debug)]
struct Counted {
    comm: Arc<str>,
    cycles: Sum,
    instructions: Sum,
}

/// All places since the read before, by process and stack.
#[derive(Clone, Debug, Default)]
pub(super) struct CountedPlaces {
    places: HashMap<(u32, i64), Counted>,
}

/// What a sample was taken by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    Cycles,
    Instructions,
}

impl CountedPlaces {
    /// Adds a sample whose innermost instruction is in this stack, of `one_in` that were to be taken; `false` where there is no room.
    pub(super) fn add(&mut self, comm: &Arc<str>, (sample, one_in): (&Sample<'_>, u64), stack: i64, by: By) -> bool {
        let key = (sample.pid, stack);
        if self.places.len() >= MOST && !self.places.contains_key(&key) {
            return false;
        }
        let new = || Counted { comm: Arc::clone(comm), cycles: Sum::default(), instructions: Sum::default() };
        let of = self.places.entry(key).or_insert_with(new);
        let sum = match by {
            By::Cycles => &mut of.cycles,
            By::Instructions => &mut of.instructions,
        };
        sum.count = sum.count.saturating_add(sample.period.saturating_mul(one_in));
        sum.samples += 1;
        true
    }

    /// Takes over what another has.
    pub(super) fn append(&mut self, other: &mut CountedPlaces) {
        for (key, more) in other.places.drain() {
            if self.places.len() >= MOST && !self.places.contains_key(&key) {
                continue;
            }
            let new = || Counted { comm: more.comm, cycles: Sum::default(), instructions: Sum::default() };
            let of = self.places.entry(key).or_insert_with(new);
            for (sum, more) in [(&mut of.cycles, more.cycles), (&mut of.instructions, more.instructions)] {
                sum.count = sum.count.saturating_add(more.count);
                sum.samples += more.samples;
            }
        }
    }

    /// Puts out the rows.
    pub(super) fn put(self, table: usize, out: &mut Out<'_>) {
        let mut places: Vec<_> = self.places.into_iter().collect();
        places.sort_unstable_by_key(|(key, _)| *key);
        for ((pid, stack), Counted { comm, cycles, instructions }) in places {
            let comm = out.text(&comm);
            let cell = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
            let [cycles, of_cycles] = [cycles.count, cycles.samples].map(cell);
            let [instructions, of_instructions] = [instructions.count, instructions.samples].map(cell);
            out.row(table, &[pid.into(), comm, stack, cycles, of_cycles, instructions, of_instructions]);
        }
    }
}

impl Stacks {
    /// The cell of the stack that has the innermost instruction of a sample alone.
    pub(super) fn alone(&self, sample: &Sample<'_>) -> i64 {
        self.state().alone(self.host(), sample)
    }
}

impl State {
    /// See [`Stacks::alone`].
    pub(super) fn alone(&mut self, host: &Host, sample: &Sample<'_>) -> i64 {
        let place = match sample.in_kernel {
            true => Place::Kernel(sample.address),
            false => self.processes.instruction(host, sample.pid, sample.address),
        };
        cell(self.trie.stack(std::iter::once(place)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stacks::{COUNTED_SAMPLES, SOURCE};
    use model::{NULL, Rows, Symbols};

    fn sample(pid: u32, period: u64) -> Sample<'static> {
        let (kernel, stack) = (Vec::new(), &[][..]);
        Sample { pid, tid: pid, cpu: 0, address: 16, in_kernel: true, period, kernel, registers: None, stack }
    }

    #[test]
    fn samples_are_added_up_by_place() {
        let comm: Arc<str> = Arc::from("app");
        let (mut first, mut second) = (CountedPlaces::default(), CountedPlaces::default());
        assert!(
            first.add(&comm, (&sample(7, 1000), 1), 1, By::Cycles)
                && first.add(&comm, (&sample(7, 500), 1), 1, By::Cycles)
        );
        first.add(&comm, (&sample(7, 300), 1), NULL, By::Instructions);
        second.add(&comm, (&sample(7, 700), 1), 1, By::Instructions);
        second.add(&comm, (&sample(8, u64::MAX), 1), 1, By::Cycles);
        second.add(&comm, (&sample(8, 5), 1), 1, By::Cycles);
        first.append(&mut second);
        assert!(second.places.is_empty());

        let (mut rows, mut symbols) = (vec![Rows::default(); SOURCE.tables.len()], Symbols::default());
        let (mut coverage, mut facts) = (Vec::new(), Vec::new());
        let mut out = Out::new("stacks", SOURCE.tables, &mut rows, &mut symbols, &mut coverage, &mut facts);
        first.put(COUNTED_SAMPLES, &mut out);
        let app = symbols.cell("app");
        let found: Vec<&[i64]> = rows[COUNTED_SAMPLES].iter().collect();
        // A cell holds no more.
        assert_eq!(
            found,
            [&[7, app, NULL, 0, 0, 300, 1], &[7, app, 1, 1500, 2, 700, 1], &[8, app, 1, i64::MAX, 2, 0, 0]]
        );
    }

    /// Both kinds of samples of one place have one stack, which has its frame alone.
    #[test]
    fn a_place_is_one_stack() {
        let stacks = Stacks::default();
        let own = Sample {
            address: a_place_is_one_stack as fn() as usize as u64,
            in_kernel: false,
            ..sample(std::process::id(), 1)
        };
        let (place, again) = (stacks.alone(&own), stacks.state().alone(stacks.host(), &own));
        assert_eq!(place, again);
        assert_ne!(place, stacks.alone(&sample(7, 1)));
        assert_eq!(stacks.alone(&sample(7, 1)), stacks.alone(&sample(8, 1)), "the kernel is one");
    }
}

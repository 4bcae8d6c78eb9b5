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
    /// Adds a sample whose innermost instruction is in this stack; `false` where there is no room.
    pub(super) fn add(&mut self, comm: &Arc<str>, sample: &Sample<'_>, stack: i64, by: By) -> bool {
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
        sum.count = sum.count.saturating_add(sample.period);
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
            let [cycles, of_cycles] = [cycles.count, cycles.samples].map(|n| n as i64);
            let [instructions, of_instructions] = [instructions.count, instructions.samples].map(|n| n as i64);
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

//! Without eBPF there is nobody who tells of Python functions.

use super::{Call, Counts, Functions, PythonStack};
use crate::stacks::Stacks;
use host::perf::Perf;

/// The processes that run CPython, of which nothing is known.
#[derive(Default)]
pub(in crate::stacks) struct Pythons(());

impl Pythons {
    /// Before samples are drained.
    pub fn begin(&mut self, _now: u64) {}

    /// A process was sampled.
    pub fn sampled(&mut self, _pid: u32, _number: Option<u32>, _known: Option<u32>) {}

    /// None.
    pub fn calls(&mut self, _stacks: &Stacks, _pid: u32, _sample: (u32, u32, u64)) -> Vec<Call> {
        Vec::new()
    }

    /// Processes are not looked at.
    pub fn meet(&mut self, _stacks: &Stacks, _perf: &Perf) {}

    /// Nothing is counted.
    pub fn counts(&self) -> Option<Counts> {
        None
    }
}

/// What is known of them: nothing.
#[derive(Default)]
pub(in crate::stacks) struct Known(());

impl Known {
    /// None is known.
    pub fn number(&self, _pid: u32) -> Option<u32> {
        None
    }

    /// A process began as a copy of another.
    pub fn forked(&mut self, _parent: u32, _pid: u32, _number: u32) {}

    /// None.
    pub fn calls(&mut self, _functions: &mut Functions, _pid: u32, _stack: PythonStack) -> Vec<Call> {
        Vec::new()
    }

    /// A process ended.
    pub fn remove(&mut self, _pid: u32) {}
}

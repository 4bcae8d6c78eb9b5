//! The processes that run CPython, as far as they are known: who samples and who reads waits share them, and the programs in the kernel are told.

use super::Functions;
use super::function::function;
use super::layout::Layout;
use super::place::Call;
use super::record::{self, Code, PythonStack};
use crate::memory::Process;
use host::bpf::{Map, Programs};
use model::Unavailable;
use std::collections::HashMap;

/// Code objects of one process that are kept.
const MOST_CODES: usize = 1 << 16;

/// A process that runs CPython.
#[derive(Clone)]
struct Python {
    /// What is known of it, from one exec to the next.
    number: u32,
    /// `None` where its functions cannot be told.
    layout: Option<Layout>,
    /// The function of a code object; `None` where it has no name.
    codes: HashMap<Code, Option<u32>>,
}

/// Where programs in the kernel look for processes (bpf/python.h).
struct Told {
    pythons: Map,
    is_here: Map,
}

impl Told {
    /// There may be thousands of them already: then this one goes without.
    fn tell(&self, pid: u32, layout: &Layout) {
        let _ = self.pythons.set(&pid.to_ne_bytes(), &layout.bytes());
        let _ = self.is_here.set(&0u32.to_ne_bytes(), &1u32.to_ne_bytes());
    }
}

/// All of them, by process.
#[derive(Default)]
pub(in crate::stacks) struct Known {
    by_pid: HashMap<u32, Python>,
    told: Vec<Told>,
}

impl Known {
    /// Has the programs of an object told from now on.
    pub fn add(&mut self, programs: &Programs) -> Result<(), Unavailable> {
        let told = Told { pythons: programs.map("pythons")?, is_here: programs.map("python_is_here")? };
        for (pid, python) in &self.by_pid {
            python.layout.iter().for_each(|layout| told.tell(*pid, layout));
        }
        self.told.push(told);
        Ok(())
    }

    /// The number of a process that is known.
    pub fn number(&self, pid: u32) -> Option<u32> {
        self.by_pid.get(&pid).map(|python| python.number)
    }

    /// A process runs CPython; `layout` is `None` where its functions cannot be told.
    pub(super) fn insert(&mut self, pid: u32, number: u32, layout: Option<Layout>) {
        self.remove(pid);
        self.put(pid, Python { number, layout, codes: HashMap::new() });
    }

    /// A process began as a copy of another.
    pub fn forked(&mut self, parent: u32, pid: u32, number: u32) {
        if let Some(python) = self.by_pid.get(&parent) {
            self.put(pid, Python { number, ..python.clone() });
        }
    }

    fn put(&mut self, pid: u32, python: Python) {
        if let Some(layout) = &python.layout {
            self.told.iter().for_each(|told| told.tell(pid, layout));
        }
        self.by_pid.insert(pid, python);
    }

    /// A process ended, or runs something else.
    pub fn remove(&mut self, pid: u32) {
        if self.by_pid.remove(&pid).is_some() {
            for told in &self.told {
                told.pythons.delete(&pid.to_ne_bytes());
            }
        }
    }

    /// What the kernel told of a thread of a process, with numbers of functions. What has no name is left out.
    pub fn calls(&mut self, functions: &mut Functions, pid: u32, stack: PythonStack) -> Vec<Call> {
        let Some(Python { layout: Some(layout), codes, .. }) = self.by_pid.get_mut(&pid) else { return Vec::new() };
        if codes.len() > MOST_CODES {
            codes.clear();
        }
        let mut number = |code: &Code| match codes.get(code) {
            Some(known) => *known,
            None => {
                // If it has ended, what is not known by now has no name.
                let row = function(&Process(pid), layout, *code).ok()?;
                let number = row.and_then(|row| functions.number(row));
                codes.insert(*code, number);
                number
            }
        };
        let call = |record::Call { codes, left_out, at }| {
            let functions = codes.iter().filter_map(&mut number).collect();
            Call { functions, left_out, at }
        };
        stack.calls.into_iter().map(call).collect()
    }
}

//! Decoded code of what was sampled, while it is looked at: of files each function once, of code that a process made anew each time, for it changes.

use super::super::code::cut;
use crate::stacks::{Site, Stacks};
use instructions::{Code, Machine, start_of};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Without bounds so far before and after an address, bytes.
const REACH: u64 = 512;
/// Functions that are kept.
const MOST: usize = 2_000;

/// Code, and where it lies.
#[derive(Clone, Debug)]
pub(in super::super) struct Found {
    pub code: Arc<Code>,
    /// Address in the process minus address in the code.
    pub bias: u64,
    /// Tells it from other code.
    pub key: (u32, u64, bool),
}

impl Found {
    /// An address of the process in the code.
    pub fn place(&self, address: u64) -> u64 {
        address.wrapping_sub(self.bias)
    }
}

/// A function, by its addresses.
type Known = (Range<u64>, Arc<Code>);

/// Code by file or process, and place.
#[derive(Debug, Default)]
pub(in super::super) struct Codes {
    files: HashMap<u32, Vec<Known>>,
    made: HashMap<u32, Vec<Known>>,
    count: usize,
}

const fn machine() -> Machine {
    if cfg!(target_arch = "aarch64") { Machine::Aarch64 } else { Machine::X86_64 }
}

fn of(known: &[Known], address: u64) -> Option<Known> {
    known.iter().find(|(range, _)| range.contains(&address)).cloned()
}

fn decode(bytes: &[u8], start: u64, whole: bool, address: u64) -> Arc<Code> {
    let skipped = if whole { 0 } else { start_of(machine(), bytes, start, &[address]) };
    Arc::new(Code::new(machine(), bytes.get(skipped..).unwrap_or(&[]), start + skipped as u64))
}

impl Codes {
    /// Code that processes made may have changed since.
    pub fn forget_made(&mut self) {
        self.made.clear();
        if self.count > MOST {
            self.files.clear();
            self.count = 0;
        }
    }

    /// The code at an address of a process, and which site that is.
    pub fn at(&mut self, stacks: &Stacks, pid: u32, address: u64, site: Site) -> Option<Found> {
        match site {
            Site::File(file, place) => {
                let known = self.files.entry(file).or_default();
                let (range, code) = match of(known, place) {
                    Some(found) => found,
                    None => {
                        let function = stacks.function(file, place);
                        let whole = function.is_some();
                        let around = place.saturating_sub(REACH)..place.saturating_add(REACH);
                        let range = cut(function.map_or(around, |f| f.range), &[place]);
                        let bytes = stacks.code(file, &range)?;
                        let new = (range.clone(), decode(&bytes, range.start, whole, place));
                        self.count += 1;
                        known.push(new.clone());
                        new
                    }
                };
                Some(Found { code, bias: address.wrapping_sub(place), key: (file, range.start, false) })
            }
            Site::Made(process, _) => {
                let known = self.made.entry(pid).or_default();
                let (range, code) = match of(known, address) {
                    Some(found) => found,
                    None => {
                        let function = stacks.made(process, address);
                        let whole = function.is_some();
                        let around = address.saturating_sub(REACH)..address.saturating_add(REACH);
                        let range = function.map_or(around, |f| f.range);
                        let within = stacks.mapping(pid, address)?;
                        let range = cut(range.start.max(within.start)..range.end.min(within.end), &[address]);
                        let bytes = stacks.memory(pid, &range)?;
                        let new = (range.clone(), decode(&bytes, range.start, whole, address));
                        known.push(new.clone());
                        new
                    }
                };
                Some(Found { code, bias: 0, key: (pid, range.start, true) })
            }
            Site::Other => None,
        }
    }
}

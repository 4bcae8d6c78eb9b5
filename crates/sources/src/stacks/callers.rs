//! For who must know at once which functions are on a stack, such as the ledger of waits: names of the innermost frames, without
//! lines and inlined functions. And stacks put together of a program's part that is known and a kernel's part.

use super::module::Module;
use super::process::DEEPEST;
use super::symbols;
use super::trie::Place;
use super::{MARKS, Registers, Stacks, State, User, caller, demangle};
use model::NULL;
use std::collections::HashMap;
use std::sync::Arc;

/// Addresses whose names are remembered.
const MOST: usize = 65_536;

/// Functions at addresses of files that were asked for.
#[derive(Default)]
pub struct Callers {
    names: HashMap<(u32, u64), Option<Arc<str>>>,
}

impl Callers {
    fn name(&mut self, stacks: &Stacks, file: u32, address: u64, module: &Module) -> Option<Arc<str>> {
        if let Some(known) = self.names.get(&(file, address)) {
            return known.clone();
        }
        let debug = || symbols::debug_file(stacks.host(), module.build_id.as_ref()?);
        let symbols = stacks.0.tables.of(file, module, debug);
        let name: Option<Arc<str>> = symbols.at(address).map(|(name, _)| demangle::symbol(name).into());
        if self.names.len() >= MOST {
            self.names.clear();
        }
        self.names.insert((file, address), name.clone());
        name
    }
}

impl Stacks {
    /// As [`Stacks::intern`] with [`User::Copied`] and without a kernel's part; whether it was followed to its start; and the functions of its
    /// `depth` innermost frames that have a name.
    pub fn intern_callers(
        &self,
        pid: u32,
        registers: Registers,
        stack: &[u8],
        depth: usize,
        callers: &mut Callers,
    ) -> (i64, bool, Vec<Arc<str>>) {
        let mut wanted: Vec<(u32, u64, Arc<Module>)> = Vec::with_capacity(depth);
        let (number, is_whole) = self.intern_told(pid, &[], User::Copied { registers, stack }, |state| {
            for place in state.places.iter().take(depth) {
                if let Place::Module(file, address) = *place
                    && let Some(module) = state.processes.modules.get(file as usize).and_then(|k| k.module.clone())
                {
                    wanted.push((file, address, module));
                }
            }
        });
        // Reading symbols takes time: others may go on meanwhile.
        let names = wanted.iter().filter_map(|(file, address, module)| callers.name(self, *file, *address, module));
        (number, is_whole, names.collect())
    }

    /// The stack `user` with a kernel's part inside it: addresses, innermost first. `user` may be [`NULL`].
    pub fn within(&self, user: i64, kernel: &[u64]) -> i64 {
        let mut state = self.state();
        let State { trie, .. } = &mut *state;
        let addresses = kernel.iter().copied().filter(|&a| a != 0 && a < MARKS).take(DEEPEST).enumerate();
        let places: Vec<Place> = addresses.map(|(at, address)| Place::Kernel(caller(at, address))).collect();
        let from = if user == NULL { 0 } else { u32::try_from(user).unwrap_or(0) };
        match trie.beneath(from, places.iter().rev().copied()) {
            0 => NULL,
            stack => i64::from(stack),
        }
    }
}

//! For who must know at once which functions are on a stack, such as the ledger of waits: names of the innermost frames, without
//! lines and inlined functions; of code that a JIT made as soon as it tells them. And stacks put together of a program's part that is known and a kernel's part.

use super::jit::Map;
use super::module::Module;
use super::symbols;
use super::trie::Place;
use super::unwind::DEEPEST;
use super::{MARKS, Registers, Stacks, State, User, caller, demangle};
use model::NULL;
use std::collections::HashMap;
use std::sync::Arc;

/// Addresses whose names are remembered.
const MOST: usize = 65_536;

/// The innermost frames of a stack whose functions may be asked for.
#[derive(Clone, Debug, Default)]
pub struct Innermost(Vec<At>);

/// One of them.
#[derive(Clone, Debug)]
enum At {
    /// A file, an address in it, and what is known of it.
    Module(u32, u64, Arc<Module>),
    /// Code that a process made while it ran, by the process's number here.
    Generated(u32, u64),
}

/// Functions at addresses of files that were asked for.
#[derive(Default)]
pub struct Callers {
    names: HashMap<(u32, u64), Option<Arc<str>>>,
}

impl Callers {
    /// The functions of those frames that have a name by now, innermost first; and whether code made by the process has none yet.
    pub fn functions(&mut self, stacks: &Stacks, innermost: &Innermost) -> (Vec<Arc<str>>, bool) {
        let mut unnamed = false;
        let functions = innermost.0.iter().filter_map(|at| match at {
            At::Module(file, address, module) => self.name(stacks, *file, *address, module),
            At::Generated(process, address) => {
                let name = stacks.generated(*process, *address);
                unnamed |= name.is_none();
                name
            }
        });
        (functions.collect(), unnamed)
    }

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
    /// As [`Stacks::intern`] with [`User::Copied`] and without a kernel's part; whether it was followed to its start; and its `depth` innermost
    /// frames, for [`Callers::functions`]: reading symbols takes time, in which others may go on.
    pub fn intern_callers(&self, pid: u32, registers: Registers, stack: &[u8], depth: usize) -> (i64, bool, Innermost) {
        let mut innermost = Innermost::default();
        let (number, is_whole) = self.intern_told(pid, &[], User::Copied { registers, stack }, |state| {
            let at = |place: &Place| match *place {
                Place::Module(file, address) => {
                    let module = state.processes.modules.get(file)?.module.clone()?;
                    Some(At::Module(file, address, module))
                }
                Place::Anonymous(process, address) => Some(At::Generated(process, address)),
                _ => None,
            };
            innermost.0.extend(state.places.iter().take(depth).filter_map(at));
        });
        (number, is_whole, innermost)
    }

    /// The function at an address of code that a process made, where its maker has named it by now.
    fn generated(&self, process: u32, address: u64) -> Option<Arc<str>> {
        let map = self.state().processes.numbered.get(process as usize)?.map.clone()?;
        map.function(address).map(|(name, _)| name)
    }

    /// How often names of code that processes make were read: when it has changed, [`Callers::functions`] may know more.
    pub fn maps_read(&self) -> u64 {
        self.state().maps_read
    }

    /// Keeps the names of code that a process makes, for who must know them before their turn comes.
    pub(super) fn keep_map(&self, process: u32, map: Arc<Map>) {
        let mut state = self.state();
        if let Some(numbered) = state.processes.numbered.get_mut(process as usize) {
            numbered.map = Some(map);
            state.maps_read += 1;
        }
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

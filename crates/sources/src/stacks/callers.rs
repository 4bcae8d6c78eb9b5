//! For who must know at once what the functions on a stack are for, such as the ledger of waits: the roles of the innermost frames by their names, without
//! lines and inlined functions; of code that a JIT made as soon as it tells them. And stacks put together of a program's part that is known and a kernel's part.

use super::jit::{Function, Map};
use super::module::Module;
use super::symbols;
use super::trie::Place;
use super::unwind::DEEPEST;
use super::{MARKS, PythonStack, Registers, Stacks, State, User, caller, demangle};
use lexicon::Found;
use model::NULL;
use std::collections::HashMap;
use std::sync::Arc;

/// Addresses whose functions are remembered.
const MOST: usize = 65_536;

/// The innermost frames of a stack whose functions may be asked for.
#[derive(Clone, Debug, Default)]
pub struct Innermost(Vec<At>);

/// One of them.
#[derive(Clone, Debug)]
enum At {
    /// A file, an address in it, what is known of it, and its path.
    Module(u32, u64, Arc<Module>, Arc<str>),
    /// Code that a process made while it ran, by the process's number here.
    Generated(u32, u64),
    /// A method of Java.
    Java(Arc<str>),
}

/// What is known of functions at addresses of files that were asked for; `None` where they have no name.
#[derive(Default)]
pub struct Callers {
    known: HashMap<(u32, u64), Option<Found>>,
}

impl Callers {
    /// What is known of those frames that have a name by now, innermost first; and whether code made by the process has none yet.
    pub fn known(&mut self, stacks: &Stacks, innermost: &Innermost) -> (Vec<Found>, bool) {
        let mut unnamed = false;
        let found = innermost.0.iter().filter_map(|at| match at {
            At::Module(file, address, module, path) => self.of_file(stacks, *file, *address, module, path),
            At::Java(function) => Some(lexicon::find(function, "[jit]", "jit")),
            At::Generated(process, address) => {
                let function = stacks.generated(*process, *address);
                unnamed |= function.is_none();
                function.map(|function| lexicon::find(&function.name, &function.module, "jit"))
            }
        });
        (found.collect(), unnamed)
    }

    fn of_file(&mut self, stacks: &Stacks, file: u32, address: u64, module: &Module, path: &str) -> Option<Found> {
        if let Some(known) = self.known.get(&(file, address)) {
            return *known;
        }
        let debug = || symbols::debug_file(stacks.host(), module.build_id.as_ref()?);
        let symbols = stacks.0.tables.of(file, module, debug);
        let found = symbols.at(address).map(|(name, _)| lexicon::find(&demangle::symbol(&name), path, "native"));
        if self.known.len() >= MOST {
            self.known.clear();
        }
        self.known.insert((file, address), found);
        found
    }
}

impl Stacks {
    /// `python` are the functions of Python on it, if there are any. As [`Stacks::intern`] with [`User::Copied`] and without a kernel's part; whether it was followed to its start; and its `depth` innermost
    /// frames, for [`Callers::known`]: reading symbols takes time, in which others may go on.
    pub fn intern_callers(
        &self,
        pid: u32,
        registers: Registers,
        stack: &[u8],
        python: Option<PythonStack>,
        depth: usize,
    ) -> (i64, bool, Innermost) {
        let mut innermost = Innermost::default();
        let calls = python.map(|python| self.python_calls(pid, python)).unwrap_or_default();
        let (number, is_whole) = self.intern_told(pid, &[], User::Copied { registers, stack }, &calls, |state| {
            let at = |place: &Place| match *place {
                Place::Module(file, address) => {
                    let known = state.processes.modules.get(file)?;
                    Some(At::Module(file, address, known.module.clone()?, Arc::clone(&known.identity.path)))
                }
                Place::Java(frame) => {
                    Some(At::Java(Arc::clone(state.processes.java_frames.get(frame)?.function.as_ref()?)))
                }
                Place::Anonymous(process, address) => Some(At::Generated(process, address)),
                _ => None,
            };
            innermost.0.extend(state.places.iter().take(depth).filter_map(at));
        });
        (number, is_whole, innermost)
    }

    /// The function at an address of code that a process made, where its maker has named it by now.
    fn generated(&self, process: u32, address: u64) -> Option<Function> {
        if let Some((_, function)) = self.java_function(process, address) {
            return Some(function);
        }
        let map = self.state().processes.numbered.get(&process)?.map.clone()?;
        map.function(address).map(|(function, _)| function)
    }

    /// How often names of code that processes make were read: when it has changed, [`Callers::known`] may know more.
    pub fn maps_read(&self) -> u64 {
        self.state().maps_read
    }

    /// Keeps the names of code that a process makes, for who must know them before their turn comes.
    pub(super) fn keep_map(&self, process: u32, map: Arc<Map>) {
        let mut state = self.state();
        if let Some(numbered) = state.processes.numbered.get_mut(&process) {
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

//! For who must know at once which functions are on a stack, such as the ledger of waits: names of the innermost frames, without
//! lines and inlined functions. And stacks put together of a program's part that is known and a kernel's part.

use super::module::Module;
use super::process::DEEPEST;
use super::trie::Place;
use super::{MARKS, Registers, Stacks, State, User, caller};
use model::NULL;
use object::read::elf::ElfFile64;
use object::{LittleEndian, Object, ObjectSymbol, ReadCache, SymbolKind};
use std::collections::HashMap;
use std::sync::Arc;

/// Functions of files, read when something of them is first asked for.
#[derive(Default)]
pub struct Callers {
    files: HashMap<u32, Symbols>,
}

impl Stacks {
    /// As [`Stacks::intern`] with [`User::Copied`] and without a kernel's part, and the functions of its `depth` innermost frames that have a
    /// name.
    pub fn intern_callers(
        &self,
        pid: u32,
        registers: Registers,
        stack: &[u8],
        depth: usize,
        callers: &mut Callers,
    ) -> (i64, Vec<Arc<str>>) {
        let number = self.intern(pid, pid, &[], User::Copied { registers, stack });
        let mut wanted: Vec<(u32, u64, Arc<Module>)> = Vec::with_capacity(depth);
        {
            let state = self.state();
            for place in state.places.iter().take(depth) {
                if let Place::Module(file, address) = *place
                    && let Some(module) = state.processes.modules.get(file as usize).and_then(|k| k.module.clone())
                {
                    wanted.push((file, address, module));
                }
            }
        }
        let names = wanted.iter().filter_map(|(file, address, module)| {
            let symbols = callers.files.entry(*file).or_insert_with(|| symbols_of(module));
            symbols.at(*address)
        });
        (number, names.collect())
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

/// The most functions of one file.
const MOST: usize = 2_000_000;
/// The longest symbol that is told apart from others, bytes.
const LONGEST: usize = 1024;

/// The functions of a file: start, end, symbol; ascending.
#[derive(Default)]
struct Symbols(Vec<(u64, u64, Box<str>)>);

impl Symbols {
    fn at(&self, address: u64) -> Option<Arc<str>> {
        let at = self.0.partition_point(|f| f.0 <= address).checked_sub(1)?;
        let (_, end, name) = self.0.get(at)?;
        (address < *end).then(|| plain(name).into())
    }
}

fn symbols_of(module: &Module) -> Symbols {
    let Some(file) = module.file.as_deref() else { return Symbols::default() };
    let data = ReadCache::new(file);
    let Ok(file) = ElfFile64::<LittleEndian, _>::parse(&data) else { return Symbols::default() };
    let functions =
        file.symbols().chain(file.dynamic_symbols()).filter(|s| s.kind() == SymbolKind::Text && s.size() > 0);
    let named = functions.filter_map(|s| {
        let name = s.name().ok().filter(|n| !n.is_empty() && n.len() <= LONGEST)?;
        Some((s.address(), s.address().saturating_add(s.size()), Box::from(name)))
    });
    let mut all: Vec<(u64, u64, Box<str>)> = named.take(MOST).collect();
    all.sort_unstable();
    all.dedup_by_key(|f| f.0);
    Symbols(all)
}

/// A function's name as its author knows it, without parameters and a symbol's version.
fn plain(symbol: &str) -> String {
    if let Ok(rust) = rustc_demangle::try_demangle(symbol) {
        return format!("{rust:#}");
    }
    let cpp = symbol.starts_with("_Z").then(|| cpp_demangle::Symbol::new(symbol).ok()).flatten();
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type().recursion_limit(200);
    let cpp = cpp.and_then(|name| name.demangle_with_options(&options).ok());
    cpp.unwrap_or_else(|| symbol.split('@').next().unwrap_or(symbol).to_owned())
}

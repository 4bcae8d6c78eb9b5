//! The files of machine code of all processes, by number, and how much of them is held in memory.

use super::module::{Identity, Module};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// So much unwind information is kept, bytes. Where that is too little, what no process has mapped any more is let go; modules beyond are unwound by frame
/// pointers.
const MOST: usize = 160 << 20;

/// A file that was seen in some process.
pub(super) struct Known {
    pub identity: Identity,
    /// The link by which a process started it as its program, where that has another name.
    pub started_as: Option<Arc<str>>,
    /// `None` until something of it runs.
    pub module: Option<Arc<Module>>,
    /// Whether its unwind information was let go, and is to be read again should it run again.
    released: bool,
}

/// All of them.
#[derive(Default)]
pub(super) struct Modules {
    numbers: HashMap<Identity, u32>,
    known: Vec<Known>,
    /// Bytes of unwind information held.
    held: usize,
    /// Modules left out for want of room.
    pub refused: u64,
}

impl Modules {
    /// The number of a file.
    pub(super) fn number(&mut self, identity: Identity) -> u32 {
        let next = self.known.len() as u32;
        let number = *self.numbers.entry(identity.clone()).or_insert(next);
        if number == next {
            self.known.push(Known { identity, started_as: None, module: None, released: false });
        }
        number
    }

    /// Says by which link the program at `path` was started; the first one counts.
    pub(super) fn started_as(&mut self, path: &str, link: &str) {
        for known in self.known.iter_mut().filter(|known| &*known.identity.path == path) {
            known.started_as.get_or_insert_with(|| link.into());
        }
    }

    /// The file of a number.
    pub(super) fn get(&self, number: u32) -> Option<&Known> {
        self.known.get(number as usize)
    }

    /// The module of a number, which is read when it is first asked for. `mapped`: the numbers of those that processes have mapped now.
    pub(super) fn open(
        &mut self,
        number: u32,
        read: impl FnOnce(&Identity) -> Module,
        mapped: impl FnOnce() -> HashSet<u32>,
    ) -> Option<Arc<Module>> {
        let known = self.get(number)?;
        if let Some(module) = known.module.as_ref().filter(|_| !known.released) {
            return Some(Arc::clone(module));
        }
        let mut module = read(&known.identity);
        // Its file is open from before, and good for its symbols.
        if let Some(known) = known.module.as_ref().filter(|_| module.error.is_some()) {
            return Some(Arc::clone(known));
        }
        if self.held + module.size() > MOST {
            self.make_room(&mapped());
        }
        if self.held + module.size() > MOST {
            self.refused += 1;
            module.forget_frames();
        }
        self.held += module.size();
        let module = Arc::new(module);
        let known = self.known.get_mut(number as usize)?;
        (known.module, known.released) = (Some(Arc::clone(&module)), false);
        Some(module)
    }

    /// Lets go the unwind information of modules that are not mapped. Their symbols are still to be had.
    fn make_room(&mut self, mapped: &HashSet<u32>) {
        for (number, known) in self.known.iter_mut().enumerate() {
            let Some(module) = known.module.as_mut().filter(|module| module.size() > 0) else { continue };
            if !mapped.contains(&(number as u32)) {
                self.held -= module.size();
                Arc::make_mut(module).forget_frames();
                known.released = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(size: usize) -> impl FnOnce(&Identity) -> Module {
        let frames = Some((0..size as u64, Arc::from(vec![0; size])));
        move |_| Module { frames, ..Module::default() }
    }

    fn identity(path: &str) -> Identity {
        Identity { major: 8, minor: 1, inode: 1, path: path.into() }
    }

    const HALF: usize = MOST / 2;

    #[test]
    fn what_nobody_has_mapped_makes_room() {
        let mut modules = Modules::default();
        let [a, b, c] = ["a", "b", "c"].map(|path| modules.number(identity(path)));
        assert_eq!(modules.number(identity("b")), b);
        let opened = |modules: &mut Modules, number, size, mapped: &[u32]| {
            let mapped = mapped.iter().copied().collect();
            modules.open(number, of(size), || mapped).map(|module| module.size())
        };
        assert_eq!(opened(&mut modules, a, HALF, &[]), Some(HALF));
        assert_eq!(opened(&mut modules, b, HALF, &[]), Some(HALF));
        // Both are in use: no room.
        assert_eq!((opened(&mut modules, c, HALF, &[a, b]), modules.refused), (Some(0), 1));
        // It is asked for again, and is what it was: left out.
        assert_eq!((opened(&mut modules, c, HALF, &[b]), modules.refused), (Some(0), 1));
        let d = modules.number(identity("d"));
        assert_eq!((opened(&mut modules, d, HALF, &[b, c, d]), modules.refused, modules.held), (Some(HALF), 1, MOST));
        assert_eq!(modules.get(a).and_then(|known| known.module.as_ref()).map(|module| module.size()), Some(0));
        // It runs again: read again, in the place of what no longer does.
        assert_eq!((opened(&mut modules, a, HALF, &[a, d]), modules.held), (Some(HALF), MOST));
    }

    #[test]
    fn what_cannot_be_read_again_keeps_its_file() {
        let mut modules = Modules::default();
        let number = modules.number(identity("a"));
        let file = Arc::new(std::fs::File::open("/dev/null").unwrap());
        let first = of(10)(&identity("a"));
        modules.open(number, |_| Module { file: Some(file), ..first }, HashSet::new);
        modules.make_room(&HashSet::new());
        assert_eq!(modules.held, 0);
        let gone = |_: &Identity| Module { error: Some("the process is gone".into()), ..Module::default() };
        let module = modules.open(number, gone, HashSet::new).unwrap();
        assert!(module.file.is_some() && module.error.is_none());
    }
}

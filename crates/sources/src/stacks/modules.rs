//! The files of machine code of all processes, by number, and how much of them is held in memory.

use super::module::{Identity, Module};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// So much unwind information is kept, bytes. Where that is too little, what no process has mapped any more is let go; modules beyond are unwound by frame
/// pointers.
const MOST: usize = 160 << 20;

/// Of files that no process has mapped any more: so much unwind information is kept, bytes, in case they run again; so many stay open, for
/// who still names places in them; and so many are known by their number at all. Those go first that have not been mapped for longest.
const IDLE_BYTES: usize = 8 << 20;
const IDLE_OPEN: usize = 32;
const IDLE_KNOWN: usize = 1024;
/// A file of which nothing ran is forgotten when so many looks in a row found it nowhere.
const UNUSED: u32 = 2;

/// A file that was seen in some process.
pub(super) struct Known {
    pub identity: Identity,
    /// The link by which a process started it as its program, where that has another name.
    pub started_as: Option<Arc<str>>,
    /// `None` until something of it runs.
    pub module: Option<Arc<Module>>,
    /// Whether its unwind information was let go, and is to be read again should it run again.
    released: bool,
    /// How many looks in a row found that no process has it mapped.
    idle: u32,
}

impl Known {
    /// Lets its unwind information go, to be read again should it run again. Returns its bytes.
    fn forget_frames(&mut self) -> usize {
        let Some(module) = self.module.as_mut().filter(|module| module.size() > 0) else { return 0 };
        let size = module.size();
        Arc::make_mut(module).forget_frames();
        self.released = true;
        size
    }

    /// Closes its file, to be opened again should it run again.
    fn close(&mut self) {
        if let Some(module) = &mut self.module {
            Arc::make_mut(module).file = None;
            self.released = true;
        }
    }
}

/// All of them.
#[derive(Default)]
pub(super) struct Modules {
    numbers: HashMap<Identity, u32>,
    known: HashMap<u32, Known>,
    /// The number of the next: none is given out twice.
    next: u32,
    /// Bytes of unwind information held.
    held: usize,
    /// Modules left out for want of room.
    pub refused: u64,
}

impl Modules {
    /// The number of a file.
    pub(super) fn number(&mut self, identity: Identity) -> u32 {
        if let Some(&known) = self.numbers.get(&identity) {
            return known;
        }
        let number = self.next;
        self.next = number.wrapping_add(1);
        self.numbers.insert(identity.clone(), number);
        self.known.insert(number, Known { identity, started_as: None, module: None, released: false, idle: 0 });
        number
    }

    /// Says by which link the program at `path` was started; the first one counts.
    pub(super) fn started_as(&mut self, path: &str, link: &str) {
        for known in self.known.values_mut().filter(|known| &*known.identity.path == path) {
            known.started_as.get_or_insert_with(|| link.into());
        }
    }

    /// The file of a number.
    pub(super) fn get(&self, number: u32) -> Option<&Known> {
        self.known.get(&number)
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
        let known = self.known.get_mut(&number)?;
        (known.module, known.released) = (Some(Arc::clone(&module)), false);
        Some(module)
    }

    /// Lets go the unwind information of modules that are not mapped. Their symbols are still to be had.
    fn make_room(&mut self, mapped: &HashSet<u32>) {
        for (_, known) in self.known.iter_mut().filter(|(number, _)| !mapped.contains(number)) {
            self.held -= known.forget_frames();
        }
    }

    /// Lets go most of what belongs to files that no process has mapped any more. Returns the numbers of those that are closed, of which
    /// nothing is worth keeping elsewhere either.
    pub(super) fn tidy(&mut self, mapped: &HashSet<u32>) -> Vec<u32> {
        for (number, known) in &mut self.known {
            known.idle = if mapped.contains(number) { 0 } else { known.idle.saturating_add(1) };
        }
        let mut idle: Vec<(u32, u32, bool)> =
            self.known.iter().filter(|(_, k)| k.idle > 0).map(|(n, k)| (k.idle, *n, k.module.is_some())).collect();
        idle.sort_unstable();
        let (mut bytes, mut open, mut count, mut closed) = (0, 0, 0, Vec::new());
        for (looks, number, was_used) in idle {
            let Some(known) = self.known.get_mut(&number) else { continue };
            count += 1;
            if count > IDLE_KNOWN || (!was_used && looks >= UNUSED) {
                self.held -= known.forget_frames();
                self.numbers.remove(&known.identity);
                self.known.remove(&number);
                closed.push(number);
                continue;
            }
            let size = known.module.as_ref().map_or(0, |module| module.size());
            if bytes + size > IDLE_BYTES {
                self.held -= known.forget_frames();
            } else {
                bytes += size;
            }
            if known.module.as_ref().is_some_and(|module| module.file.is_some()) {
                open += 1;
                if open > IDLE_OPEN {
                    self.held -= known.forget_frames();
                    known.close();
                    closed.push(number);
                }
            }
        }
        closed
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

    /// An hour in which 3,600 programs are built, run and go, one a second, beside one that stays.
    #[test]
    fn what_programs_leave_behind_reaches_a_plateau() {
        let mut modules = Modules::default();
        let file = Arc::new(std::fs::File::open("/dev/null").unwrap());
        let program = |path: &str| {
            let (path, file) = (path.to_owned(), Arc::clone(&file));
            move |_: &Identity| Module { file: Some(file), ..of(1 << 20)(&identity(&path)) }
        };
        let stays = modules.number(identity("stays"));
        modules.open(stays, program("stays"), HashSet::new);
        let held = |modules: &Modules| {
            let open = modules.known.values().filter(|k| k.module.as_ref().is_some_and(|m| m.file.is_some())).count();
            (open, modules.held, modules.known.len(), modules.numbers.len())
        };
        let mut plateau = None;
        for second in 0..3_600 {
            let path = format!("build-{second}");
            let number = modules.number(identity(&path));
            modules.open(number, program(&path), HashSet::new);
            // What maps a library, and never runs it.
            modules.number(identity(&format!("unused-{second}")));
            if second % 10 == 9 {
                modules.tidy(&HashSet::from([stays]));
                let now = held(&modules);
                assert!(now.0 <= IDLE_OPEN + 1 && now.1 <= IDLE_BYTES + (1 << 20), "{now:?}");
                if second == 1_799 {
                    plateau = Some(now);
                }
            }
        }
        assert_eq!(Some(held(&modules)), plateau, "after half an hour nothing grows");
        assert!(modules.known.len() <= IDLE_KNOWN + 1);
        let module = modules.get(stays).and_then(|known| known.module.as_ref()).unwrap();
        assert!(module.file.is_some() && module.size() > 0, "what is mapped is kept");
        // It runs again: opened again, under its number as long as that is known.
        let last = modules.number(identity("build-3599"));
        assert_eq!(modules.open(last, program("build-3599"), HashSet::new).map(|m| m.size()), Some(1 << 20));
    }
}

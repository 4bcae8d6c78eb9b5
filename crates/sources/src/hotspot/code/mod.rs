//! The code of a JVM: which method the code at an address is of, and how a stack goes on below it. Everything is read from the tables that the JVM keeps of
//! its own code, so that no frame pointers, no agent and no question to the JVM are needed; interpreted and inlined methods have their names and lines.
//!
//! What is known of an address is kept: code may be unloaded at any time, and mostly the same addresses come again. Whether other code lies there now is
//! looked at again after [`FRESH`], and where a stack cannot be followed.

mod cache;
mod frames;
mod heaps;
mod hot;
mod layout;
mod leave;
#[cfg(test)]
mod live;
mod method;
mod numbers;
mod scopes;
mod walk;

pub(crate) use frames::{Frames, JavaFrame, Run};
pub(crate) use heaps::{CodeHeap, CodeHeaps};
pub(crate) use hot::{Hot, HotHeap, OSR};
pub(crate) use walk::{Copy, End, Start};

use super::{Unknown, Way};
use crate::memory::{Memory, Trouble};
use crate::stacks::waits_by;
use cache::Blob;
use layout::Layout;
use leave::Leave;
use method::Method;
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// So long what is known of a piece of code is taken to be true.
const FRESH: Duration = Duration::from_millis(500);
/// More is not kept; then all of it is read anew.
const MOST_BLOBS: usize = 1 << 16;
const MOST_PLACES: usize = 1 << 19;
const MOST_METHODS: usize = 1 << 16;
/// Reads for one stack.
const MOST_READS: u32 = 20_000;

/// What code at an address is, as far as the way on is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Compiled,
    /// Where a compiled method goes on that is to be deoptimised; its real place is so far above the stack pointer.
    Handler(u64),
    /// Where methods return to that the JVM called.
    CallStub,
    /// Where frames of a virtual thread return to.
    Barrier,
    /// Other code of the JVM.
    Stub,
}

/// What is known of an address of code.
#[derive(Clone, Copy, Debug)]
struct Known {
    blob: u32,
    kind: Kind,
    /// Bytes of the frame; 0 where it has none, or one that its code makes itself.
    frame: u64,
    /// Its frames, innermost first: from, and how many, in [`Code::numbers`].
    from: u32,
    count: u32,
    /// Whether it is a place where a frame can be found: a call, or a poll.
    is_exact: bool,
    /// Where the thread itself is here, what lies between the stack pointer and the return address; `None` as long as nobody asked.
    leave: Option<Leave>,
}

struct KnownBlob {
    blob: Blob,
    checked: Instant,
}

struct KnownMethod {
    method: Method,
    checked: Instant,
    /// Frames by places in the bytecode; `u32::MAX` where that is not known.
    interpreted: HashMap<u32, u32>,
}

/// A JVM's code.
pub(crate) struct Code {
    layout: Layout,
    /// Blocks by number; `None` where other code has taken their place.
    blobs: Vec<Option<KnownBlob>>,
    by_start: BTreeMap<u64, u32>,
    places: HashMap<u64, Known>,
    numbers: Vec<u32>,
    methods: HashMap<u64, KnownMethod>,
    /// Methods by the numbers of their frames, of those that were met in the interpreter.
    interpreted: HashMap<u32, u64>,
    /// Whether it compiles methods with much bytecode.
    compiles_huge: bool,
    /// When this stack is followed.
    now: Instant,
}

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Code").field("layout", &self.layout).finish_non_exhaustive()
    }
}

/// Memory of which so many reads are allowed.
struct Bounded<'a, M> {
    memory: &'a M,
    left: Cell<u32>,
}

impl<M: Memory> Memory for Bounded<'_, M> {
    fn some(&self, address: u64, into: &mut [u8]) -> Result<usize, Trouble> {
        match self.left.get().checked_sub(1) {
            Some(left) => {
                self.left.set(left);
                self.memory.some(address, into)
            }
            None => Ok(0),
        }
    }

    fn words(&self, addresses: &[u64]) -> Result<Vec<Option<u64>>, Trouble> {
        match self.left.get().checked_sub(1) {
            Some(left) => {
                self.left.set(left);
                self.memory.words(addresses)
            }
            None => Ok(vec![None; addresses.len()]),
        }
    }
}

impl Code {
    /// Finds the code of a JVM.
    ///
    /// # Errors
    /// The JVM is still starting, or does not tell enough.
    pub fn new(memory: &impl Memory, way: &Way) -> Result<Self, Unknown> {
        let [spares_huge] = way.tables.flags(memory, ["DontCompileHugeMethods"])?;
        Ok(Code {
            layout: Layout::new(memory, way)?,
            blobs: Vec::new(),
            by_start: BTreeMap::new(),
            places: HashMap::new(),
            numbers: Vec::new(),
            methods: HashMap::new(),
            interpreted: HashMap::new(),
            compiles_huge: spares_huge == Some(false),
            now: Instant::now(),
        })
    }

    /// Whether an address lies where its code is.
    pub fn holds(&self, address: u64) -> bool {
        self.layout.range.contains(&address)
    }

    /// The frames at an address of its code by their numbers, innermost first; none where nothing lies there. What interprets methods is one of them.
    pub fn at(&mut self, memory: &impl Memory, frames: &mut Frames, address: u64) -> Option<Vec<u32>> {
        if !self.holds(address) {
            return None;
        }
        if self.layout.interpreter.contains(&address) {
            let function = Some("Interpreter".into());
            return Some(vec![frames.number(JavaFrame {
                function,
                source: None,
                run: Run::Interpreted,
                tier: Some(0),
                spins: false,
            })]);
        }
        self.make_room();
        self.now = Instant::now();
        let memory = Bounded { memory, left: Cell::new(MOST_READS) };
        let known = self.known(&memory, frames, address)?;
        Some(self.numbers.iter().skip(known.from as usize).take(known.count as usize).copied().collect())
    }

    /// The addresses of the code around an address that was asked for.
    pub fn range(&self, address: u64) -> Option<Range<u64>> {
        let known = self.places.get(&address).and_then(|known| self.blobs.get(known.blob as usize)?.as_ref());
        known.map(|known| known.blob.header.code..known.blob.range.end)
    }

    /// What is known is dropped when it has become too much.
    fn make_room(&mut self) {
        if self.blobs.len() > MOST_BLOBS || self.places.len() > MOST_PLACES || self.methods.len() > MOST_METHODS {
            self.forget();
        }
    }

    fn forget(&mut self) {
        self.blobs.clear();
        self.by_start.clear();
        self.places.clear();
        self.numbers.clear();
        self.methods.clear();
        self.interpreted.clear();
    }

    /// Whether a block still lies where it was. Of a process that has ended what was known stays true.
    fn is_current(&mut self, memory: &impl Memory, number: u32) -> bool {
        let Some(slot) = self.blobs.get_mut(number as usize) else { return false };
        let Some(known) = slot else { return false };
        if self.now.saturating_duration_since(known.checked) < FRESH {
            return true;
        }
        if known.blob.is_same(memory, &self.layout).unwrap_or(true) {
            known.checked = self.now;
            return true;
        }
        self.by_start.remove(&known.blob.header.start);
        *slot = None;
        false
    }

    /// From now on everything is looked at again before it is used.
    fn doubt(&mut self) {
        let Some(before) = self.now.checked_sub(FRESH) else { return };
        self.blobs.iter_mut().flatten().for_each(|known| known.checked = before);
        self.methods.values_mut().for_each(|known| known.checked = before);
    }

    /// The number of the block that an address lies in.
    fn blob(&mut self, memory: &impl Memory, address: u64) -> Option<u32> {
        let below = self.by_start.range(..=address).next_back().map(|(_, &number)| number);
        if let Some(number) = below
            && self.blobs.get(number as usize)?.as_ref().is_some_and(|known| known.blob.range.contains(&address))
            && self.is_current(memory, number)
        {
            return Some(number);
        }
        let blob = Blob::at(memory, &self.layout, address).ok()??;
        let number = self.blobs.len() as u32;
        // What overlaps it is gone.
        let range = blob.range.clone();
        let gone: Vec<u64> = (self.by_start.range(..range.end).rev())
            .map_while(|(&start, &number)| {
                let known = self.blobs.get(number as usize)?.as_ref()?;
                (known.blob.range.end > range.start).then_some(start)
            })
            .collect();
        for start in gone {
            let number = self.by_start.remove(&start);
            if let Some(slot) = number.and_then(|number| self.blobs.get_mut(number as usize)) {
                *slot = None;
            }
        }
        self.by_start.insert(range.start, number);
        self.blobs.push(Some(KnownBlob { blob, checked: self.now }));
        Some(number)
    }

    /// What the code at an address is.
    fn known(&mut self, memory: &impl Memory, frames: &mut Frames, address: u64) -> Option<Known> {
        if let Some(&known) = self.places.get(&address)
            && self.is_current(memory, known.blob)
        {
            return Some(known);
        }
        let number = self.blob(memory, address)?;
        let known = self.blobs.get(number as usize)?.as_ref()?;
        let (frame, compiled, name) = (known.blob.frame, known.blob.compiled.clone(), Arc::clone(&known.blob.name));
        let from = self.numbers.len() as u32;
        let new = |kind| Known { blob: number, kind, frame, from, count: 0, is_exact: false, leave: None };
        let mut found = match &compiled {
            None if address == self.layout.call_stub => new(Kind::CallStub),
            None if self.layout.barrier == Some(address) => new(Kind::Barrier),
            None => new(Kind::Stub),
            Some(compiled) => match compiled.original {
                Some(original) if compiled.handlers.contains(&address) => new(Kind::Handler(original)),
                _ => new(Kind::Compiled),
            },
        };
        match (&compiled, found.kind) {
            (Some(compiled), Kind::Compiled) => {
                let (scopes, is_exact) = scopes::at(memory, &self.layout, &known.blob.header, address).ok()?;
                found.is_exact = is_exact;
                let read = |bytes: &mut [u8], from| memory.some(from, bytes).unwrap_or(0);
                self.compiled(memory, frames, compiled, (&scopes, waits_by(address, read)));
            }
            (None, _) => {
                let frame = JavaFrame { function: Some(name), source: None, run: Run::Stub, tier: None, spins: false };
                self.numbers.push(frames.number(frame));
            }
            _ => {}
        }
        found.count = self.numbers.len() as u32 - from;
        self.places.insert(address, found);
        Some(found)
    }

    /// Adds the frames of a place in compiled code.
    fn compiled(
        &mut self,
        memory: &impl Memory,
        frames: &mut Frames,
        compiled: &cache::Compiled,
        (scopes, spins): (&[scopes::Scope], bool),
    ) {
        let tier = Some(compiled.level).filter(|level| (1..=4).contains(level));
        // Notes that do not end with the method itself are those of something else.
        let own = scopes::Scope { method: compiled.method, bytecode: None };
        let scopes = if scopes.last().is_some_and(|last| last.method == own.method) { scopes } else { &[own][..] };
        for (at, scope) in scopes.iter().enumerate() {
            let run = if at + 1 == scopes.len() { Run::Compiled } else { Run::Inlined };
            let method = self.method(memory, scope.method).map(|known| &known.method);
            let function = method.map(|method| Arc::clone(&method.name));
            let source = method.and_then(|method| method.source(scope.bytecode)).map(Into::into);
            self.numbers.push(frames.number(JavaFrame { function, source, run, tier, spins: spins && at == 0 }));
        }
    }

    /// The method at an address.
    fn method(&mut self, memory: &impl Memory, address: u64) -> Option<&mut KnownMethod> {
        let is_known = self.methods.get(&address).is_some_and(|known| {
            let is_fresh = self.now.saturating_duration_since(known.checked) < FRESH;
            let constant = || memory.word(address.wrapping_add(self.layout.method.constant));
            is_fresh || constant().map_or(true, |word| word == Some(known.method.constant))
        });
        if is_known {
            let known = self.methods.get_mut(&address)?;
            known.checked = self.now;
            return Some(known);
        }
        self.methods.remove(&address);
        let method = Method::read(memory, &self.layout, address).ok()??;
        let known = KnownMethod { method, checked: self.now, interpreted: HashMap::new() };
        Some(self.methods.entry(address).or_insert(known))
    }

    /// The frame of a method that is interpreted, at an address of its bytecode.
    fn interpreted(&mut self, memory: &impl Memory, frames: &mut Frames, method: u64, at: &[u64]) -> Option<u32> {
        let known = self.method(memory, method)?;
        let bytecode = at.iter().find_map(|&at| known.method.place(at));
        let before = known.interpreted.len();
        let number = *known.interpreted.entry(bytecode.unwrap_or(u32::MAX)).or_insert_with(|| {
            let function = Some(Arc::clone(&known.method.name));
            let source = known.method.source(bytecode).map(Into::into);
            frames.number(JavaFrame { function, source, run: Run::Interpreted, tier: Some(0), spins: false })
        });
        if known.interpreted.len() > before {
            self.interpreted.insert(number, method);
        }
        Some(number)
    }
}

//! Who waits for which monitor in a JVM, read from its memory: its threads, the monitor that each is blocked on, the object that the monitor belongs
//! to, its class, and who owns it. No agent, no tool of the JDK, no stop: the JVM goes on while it is read, so what changed meanwhile is left out.
//!
//! HotSpot 8 to 25. The way: the list of `JavaThread`s; `_current_pending_monitor` of each; `ObjectMonitor::_object` and `_owner`; the object's class; its
//! `Klass::_name`. `OSThread::_thread_id` says which thread of the kernel it is.

mod layout;
mod parking;
#[cfg(test)]
mod tests;

use super::{Unknown, Way, name};
use crate::memory::{Memory, Trouble};
use layout::{Layout, Owner};
use parking::Parking;
use std::collections::HashMap;
use std::sync::Arc;

/// Threads that wait for monitors and are looked at.
const MOST_PENDING: usize = 512;
/// Classes whose names are remembered.
const MOST_CLASSES: usize = 4096;

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A monitor: `synchronized`.
    Monitor,
    /// A lock, condition, latch … of java.util.concurrent, or another that is made of the same.
    Synchronizer,
}

/// A thread that waits for a monitor, or is parked for a synchronizer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pending {
    /// Its number as the JVM sees it: in a container another than outside.
    pub tid: u32,
    /// Where the stack of its innermost Java method ends; what waits lies below.
    pub sp: u64,
    /// Address of the `ObjectMonitor`; 0 of a synchronizer, which is moved by the collector.
    pub monitor: u64,
    /// What it is of, in words: `a.B`, or `class a.B` for the monitor of static methods. `None` where that could not be told.
    pub of: Option<Arc<str>>,
    /// The thread that owns it, as `tid`.
    pub owner: Option<u32>,
    pub kind: Kind,
}

/// A JVM whose memory is understood.
#[derive(Debug)]
pub(crate) struct Machine {
    layout: Layout,
    /// A word of its memory that never changes, for another program may have taken its place.
    witness: (u64, u64),
    /// By the address of the class: that of its name, and the name.
    classes: HashMap<u64, (u64, Option<Arc<str>>)>,
    /// `None` where it cannot be told what threads are parked for.
    parking: Option<Parking>,
}

impl Machine {
    /// Finds in a JVM what is needed of it.
    pub fn new(memory: &impl Memory, way: &Way) -> Result<Self, Unknown> {
        let layout = Layout::new(memory, &way.tables)?;
        let parking = match Parking::new(memory, way) {
            Ok(parking) => Some(parking),
            Err(Unknown::Trouble(trouble)) => return Err(trouble.into()),
            Err(_) => None,
        };
        Ok(Machine { layout, witness: way.witness(), classes: HashMap::new(), parking })
    }

    /// The threads that wait for a monitor now, and with `parked` those that are parked for a synchronizer.
    pub fn look(&mut self, memory: &impl Memory, parked: bool) -> Result<Vec<Pending>, Trouble> {
        let threads = self.threads(memory)?;
        let mut found = self.waiting(memory, &threads)?;
        if parked {
            found.extend(self.parked(memory, &threads)?);
        }
        Ok(found)
    }

    fn waiting(&mut self, memory: &impl Memory, threads: &[u64]) -> Result<Vec<Pending>, Trouble> {
        let layout = self.layout.clone();
        let at = |base: &u64, offset: u64| base.wrapping_add(offset);
        let monitors = memory.words(&threads.iter().map(|t| at(t, layout.pending)).collect::<Vec<_>>())?;
        let is_one = |monitor: u64| monitor != 0 && monitor.is_multiple_of(8);
        let waiting: Vec<(u64, u64)> = threads
            .iter()
            .zip(monitors)
            .filter_map(|(&thread, monitor)| monitor.filter(|&m| is_one(m)).map(|m| (thread, m)))
            .take(MOST_PENDING)
            .collect();
        if waiting.is_empty() {
            return Ok(Vec::new());
        }
        let owner = layout.owner.map_or(layout.object, |(offset, _)| offset);
        let first: Vec<u64> = waiting
            .iter()
            .flat_map(|(t, m)| [at(t, layout.osthread), at(t, layout.java_sp), at(m, layout.object), at(m, owner)])
            .collect();
        let first = memory.words(&first)?;
        let (first, _) = first.as_chunks::<4>();
        let numbers: Vec<u64> = first.iter().map(|w| w[0].map_or(0, |os| at(&os, layout.number))).collect();
        let numbers = memory.words(&numbers)?;
        let slots: Vec<u64> = first.iter().map(|w| w[2].unwrap_or(0)).collect();
        let held = if layout.is_handle { memory.words(&slots)? } else { slots.iter().map(|&s| Some(s)).collect() };
        let objects = layout.pointers.plain(memory, &held)?;
        let names = self.names(memory, &objects)?;
        let owners = self.owners(memory, threads, &first.iter().map(|w| w[3].unwrap_or(0)).collect::<Vec<_>>())?;
        // What moved or was let go of while it was read is not believed.
        let again = memory.words(&waiting.iter().map(|(t, _)| at(t, layout.pending)).collect::<Vec<_>>())?;
        let still = if layout.is_handle { memory.words(&slots)? } else { self.slots_again(memory, &waiting)? };
        let mut found = Vec::with_capacity(waiting.len());
        let rest = again.into_iter().zip(still.into_iter().zip(held)).zip(names.into_iter().zip(owners));
        for (((_, monitor), (words, number)), ((again, (still, held)), (of, owner))) in
            waiting.iter().zip(first.iter().zip(numbers)).zip(rest)
        {
            let tid = number.map_or(0, |word| word as u32);
            if again == Some(*monitor) && tid != 0 {
                let of = of.filter(|_| still == held);
                let owner = owner.filter(|&owner| owner != tid);
                let sp = words[1].unwrap_or(0);
                found.push(Pending { tid, sp, monitor: *monitor, of, owner, kind: Kind::Monitor });
            }
        }
        Ok(found)
    }

    fn slots_again(&self, memory: &impl Memory, waiting: &[(u64, u64)]) -> Result<Vec<Option<u64>>, Trouble> {
        memory.words(&waiting.iter().map(|(_, m)| m.wrapping_add(self.layout.object)).collect::<Vec<_>>())
    }

    /// The addresses of all `JavaThread`s.
    fn threads(&self, memory: &impl Memory) -> Result<Vec<u64>, Trouble> {
        if memory.word(self.witness.0)? != Some(self.witness.1) {
            return Err(Trouble::Gone);
        }
        self.layout.threads.list(memory)
    }

    /// What objects are of.
    fn names(&mut self, memory: &impl Memory, objects: &[u64]) -> Result<Vec<Option<Arc<str>>>, Trouble> {
        let klasses = self.klasses(memory, objects)?;
        let mut names = self.named(memory, &klasses)?;
        // The monitor of a static method is that of its class's object.
        let is_mirror = |name: &Option<Arc<str>>| name.as_deref() == Some("java.lang.Class");
        if let Some(offset) = self.layout.mirrored
            && names.iter().any(is_mirror)
        {
            let places = objects.iter().zip(&names).map(|(o, n)| if is_mirror(n) { o.wrapping_add(offset) } else { 0 });
            let klasses: Vec<u64> =
                memory.words(&places.collect::<Vec<_>>())?.into_iter().map(|k| k.unwrap_or(0)).collect();
            for (name, class) in names.iter_mut().zip(self.named(memory, &klasses)?) {
                if let Some(class) = class {
                    *name = Some(format!("class {class}").into());
                }
            }
        }
        Ok(names)
    }

    /// The addresses of the classes of objects; 0 where that cannot be told.
    fn klasses(&self, memory: &impl Memory, objects: &[u64]) -> Result<Vec<u64>, Trouble> {
        let klass = self.layout.klass;
        let places: Vec<u64> = objects.iter().map(|&o| if o == 0 { 0 } else { o.wrapping_add(klass.at()) }).collect();
        Ok(memory.words(&places)?.into_iter().map(|word| word.map_or(0, |word| klass.of(word))).collect())
    }

    /// The names of classes.
    fn named(&mut self, memory: &impl Memory, klasses: &[u64]) -> Result<Vec<Option<Arc<str>>>, Trouble> {
        let offset = self.layout.name;
        let places = klasses.iter().map(|&k| if k != 0 && k.is_multiple_of(8) { k.wrapping_add(offset) } else { 0 });
        let symbols = memory.words(&places.collect::<Vec<_>>())?;
        let mut found = Vec::with_capacity(klasses.len());
        for (&klass, symbol) in klasses.iter().zip(symbols) {
            let Some(symbol) = symbol.filter(|&symbol| symbol != 0) else {
                found.push(None);
                continue;
            };
            if let Some((known, name)) = self.classes.get(&klass)
                && *known == symbol
            {
                found.push(name.clone());
                continue;
            }
            let name = self.symbol(memory, symbol)?;
            if self.classes.len() >= MOST_CLASSES {
                self.classes.clear();
            }
            self.classes.insert(klass, (symbol, name.clone()));
            found.push(name);
        }
        Ok(found)
    }

    fn symbol(&self, memory: &impl Memory, symbol: u64) -> Result<Option<Arc<str>>, Trouble> {
        let mut length = [0; 2];
        if memory.some(symbol.wrapping_add(self.layout.length), &mut length)? < length.len() {
            return Ok(None);
        }
        let mut body = vec![0; u16::from_ne_bytes(length).into()];
        let read = memory.some(symbol.wrapping_add(self.layout.body), &mut body)?;
        Ok((read == body.len()).then(|| name::class(&body)).flatten().map(Into::into))
    }

    /// The thread ids of owners, by what monitors say of them.
    fn owners(&self, memory: &impl Memory, threads: &[u64], said: &[u64]) -> Result<Vec<Option<u32>>, Trouble> {
        let Some((_, kind)) = self.layout.owner else { return Ok(vec![None; said.len()]) };
        let all = |offset: u64| memory.words(&threads.iter().map(|t| t.wrapping_add(offset)).collect::<Vec<_>>());
        // 0 is nobody; 1 is who has not been asked yet (since 21), 2 who takes the monitor down (since 24).
        let is_someone = |word: u64| word > 2;
        let owners: Vec<u64> = match kind {
            Owner::Number(offset) if said.iter().any(|&word| is_someone(word)) => {
                let numbers = all(offset)?;
                let of = |word: u64| {
                    let found = numbers.iter().zip(threads).find(|(number, _)| **number == Some(word));
                    found.map_or(0, |(_, thread)| *thread)
                };
                said.iter().map(|&word| if is_someone(word) { of(word) } else { 0 }).collect()
            }
            Owner::Number(_) => return Ok(vec![None; said.len()]),
            Owner::Address => {
                let is_stack = |word: u64| word >= 4096 && !threads.contains(&word);
                let stacks = match self.layout.stack.filter(|_| said.iter().any(|&word| is_stack(word))) {
                    Some((base, size)) => all(base)?.into_iter().zip(all(size)?).collect(),
                    None => Vec::new(),
                };
                let on_stack = |word: u64| {
                    let holds = |(base, size): &(Option<u64>, Option<u64>)| {
                        base.zip(*size).is_some_and(|(base, size)| word < base && base.wrapping_sub(word) <= size)
                    };
                    stacks.iter().position(holds).and_then(|at| threads.get(at)).copied().unwrap_or(0)
                };
                said.iter().map(|&word| if is_stack(word) { on_stack(word) } else { word }).collect()
            }
        };
        let places: Vec<u64> =
            owners.iter().map(|&o| if o > 4096 { o.wrapping_add(self.layout.osthread) } else { 0 }).collect();
        let places =
            memory.words(&places)?.into_iter().map(|os| os.map_or(0, |os| os.wrapping_add(self.layout.number)));
        let numbers = memory.words(&places.collect::<Vec<_>>())?;
        Ok(numbers.into_iter().map(|word| word.map(|word| word as u32).filter(|&tid| tid != 0)).collect())
    }
}

//! The Java threads of a JVM with their whole names (the kernel keeps 15 characters of them), and how many bytes each has allocated.

use super::objects::Objects;
use super::threads::Threads;
use super::{Unknown, Way};
use crate::memory::{Memory, Trouble};
use std::collections::HashMap;
use std::sync::Arc;

/// Names are read again after so many looks: threads of a pool are renamed.
const AGAIN: u32 = 16;
/// The part of a thread's own allocation buffer that is in use is less.
const LARGEST_BUFFER: u64 = 1 << 32;

/// A Java thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JavaThread {
    /// Its number as the JVM sees it: in a container another than outside.
    pub tid: u32,
    /// `None` where it could not be read.
    pub name: Option<Arc<str>>,
    /// Bytes since it began; `None` where the JVM does not tell.
    pub allocated: Option<u64>,
}

/// What is remembered of a thread.
#[derive(Debug)]
struct Known {
    tid: u32,
    name: Option<Arc<str>>,
    /// At which look the name was read.
    read: u32,
    /// The largest number that was seen: two words are not read at once.
    allocated: u64,
}

/// How to read the threads of a JVM.
#[derive(Debug)]
pub(crate) struct Roster {
    threads: Threads,
    objects: Objects,
    /// Offsets in `JavaThread`; of the buffer where it begins and up to where it is in use.
    object: u64,
    is_handle: bool,
    osthread: u64,
    number: u64,
    allocated: Option<(u64, u64, u64)>,
    known: HashMap<u64, Known>,
    looks: u32,
}

impl Roster {
    /// Finds in a JVM what is needed of it.
    pub fn new(memory: &impl Memory, way: &Way) -> Result<Self, Unknown> {
        let tables = &way.tables;
        let offset = |names: &[(&str, &str)], what: &'static str| tables.offset(names).ok_or(Unknown::Missing(what));
        let threads = Threads::new(tables)?;
        if !threads.is_started(memory)? {
            return Err(Unknown::Starting);
        }
        let buffer = |field| {
            let at = tables.offset(&[("Thread", "_tlab"), ("JavaThread", "_tlab")])?;
            Some(at + tables.offset(&[("ThreadLocalAllocBuffer", field)])?)
        };
        let allocated = tables.offset(&[("Thread", "_allocated_bytes"), ("JavaThread", "_allocated_bytes")]);
        let allocated = allocated.and_then(|bytes| Some((bytes, buffer("_start")?, buffer("_top")?)));
        Ok(Roster {
            threads,
            objects: Objects::new(memory, tables, true)?,
            object: offset(&[("JavaThread", "_threadObj")], "JavaThread::_threadObj")?,
            is_handle: tables.kind("JavaThread", "_threadObj").is_some_and(|kind| kind.contains("Handle")),
            osthread: offset(&[("JavaThread", "_osthread"), ("Thread", "_osthread")], "Thread::_osthread")?,
            number: offset(&[("OSThread", "_thread_id")], "OSThread::_thread_id")?,
            allocated,
            known: HashMap::new(),
            looks: 0,
        })
    }

    /// The threads there are now.
    pub fn look(&mut self, memory: &impl Memory) -> Result<Vec<JavaThread>, Trouble> {
        self.looks = self.looks.wrapping_add(1);
        let threads = self.threads.list(memory)?;
        let (bytes, start, top) = self.allocated.unwrap_or((self.osthread, self.osthread, self.osthread));
        let places: Vec<u64> = threads
            .iter()
            .flat_map(|thread| [self.osthread, self.object, bytes, start, top].map(|at| thread.wrapping_add(at)))
            .collect();
        let words = memory.words(&places)?;
        let (words, _) = words.as_chunks::<5>();
        let numbers: Vec<u64> = words.iter().map(|w| w[0].map_or(0, |os| os.wrapping_add(self.number))).collect();
        let numbers = memory.words(&numbers)?;
        let mut found = Vec::with_capacity(threads.len());
        let mut unnamed = Vec::new();
        for ((&thread, words), number) in threads.iter().zip(words).zip(numbers) {
            let Some(tid) = number.map(|word| word as u32).filter(|&tid| tid != 0) else { continue };
            let known = self.known.entry(thread).or_insert_with(|| Known { tid, name: None, read: 0, allocated: 0 });
            if known.tid != tid {
                *known = Known { tid, name: None, read: 0, allocated: 0 };
            }
            let used = words[4].zip(words[3]).map_or(0, |(top, start)| top.saturating_sub(start));
            let used = if words[3] == Some(0) || used > LARGEST_BUFFER { 0 } else { used };
            known.allocated = known.allocated.max(words[2].unwrap_or(0).saturating_add(used));
            if known.name.is_none() || self.looks.wrapping_sub(known.read) >= AGAIN {
                unnamed.push((thread, words[1]));
            }
            found.push((thread, tid));
        }
        self.name(memory, &unnamed)?;
        // What has ended is forgotten.
        if self.known.len() > threads.len() {
            self.known.retain(|thread, _| threads.contains(thread));
        }
        let has_allocated = self.allocated.is_some();
        let of = |(thread, tid): (u64, u32)| {
            let known = self.known.get(&thread)?;
            let allocated = has_allocated.then_some(known.allocated);
            Some(JavaThread { tid, name: known.name.clone(), allocated })
        };
        Ok(found.into_iter().filter_map(of).collect())
    }

    fn name(&mut self, memory: &impl Memory, threads: &[(u64, Option<u64>)]) -> Result<(), Trouble> {
        if threads.is_empty() {
            return Ok(());
        }
        let held: Vec<Option<u64>> = threads.iter().map(|(_, held)| *held).collect();
        let objects = self.objects.held(memory, &held, self.is_handle)?;
        for (&(thread, _), object) in threads.iter().zip(objects) {
            let class = self.objects.class(memory, object)?;
            let Some(field) = self.objects.field(memory, class, "name")? else { continue };
            let string = self.objects.referred(memory, &[object.wrapping_add(field)])?;
            let text = self.objects.text(memory, string.first().copied().unwrap_or(0))?;
            if let (Some(known), Some(text)) = (self.known.get_mut(&thread), text) {
                known.read = self.looks;
                if known.name.as_deref() != Some(text.as_str()) {
                    known.name = Some(text.into());
                }
            }
        }
        Ok(())
    }
}

//! Where a JVM keeps what leads from a thread to the class of the object whose monitor it waits for.
//!
//! Names of structures and fields are those of the sources of OpenJDK 8 to 25 (`vmStructs.cpp` and the headers of the structures). Where they
//! were renamed, all names are asked for; where that is not enough, the version decides.

use crate::hotspot::Unknown;
use crate::hotspot::header::{self, Klass, Pointers};
use crate::hotspot::tables::Tables;
use crate::hotspot::threads::Threads;
use crate::memory::Memory;

/// How the owner of a monitor is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// Up to 23: its `JavaThread`, or a place on its stack.
    Address,
    /// Later: a number, which is also at this offset in the `JavaThread`.
    Number(u64),
}

/// Offsets and addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub threads: Threads,
    /// Of `JavaThread`.
    pub pending: u64,
    pub java_sp: u64,
    pub osthread: u64,
    pub stack: Option<(u64, u64)>,
    /// Of `OSThread`.
    pub number: u64,
    /// Of `ObjectMonitor`.
    pub object: u64,
    pub owner: Option<(u64, Owner)>,
    /// Whether `ObjectMonitor::_object` is a handle: the address of the pointer.
    pub is_handle: bool,
    pub klass: Klass,
    pub pointers: Pointers,
    /// Of `Klass` and `Symbol`.
    pub name: u64,
    pub length: u64,
    pub body: u64,
    /// Where in an object of `java.lang.Class` the class is that it stands for.
    pub mirrored: Option<u64>,
}

impl Layout {
    /// Makes of the tables what is needed here.
    pub fn new(memory: &impl Memory, tables: &Tables) -> Result<Self, Unknown> {
        let offset = |names: &[(&str, &str)], what: &'static str| tables.offset(names).ok_or(Unknown::Missing(what));
        let threads = Threads::new(tables)?;
        // Flags and encodings are settled before its first thread is listed.
        if !threads.is_started(memory)? {
            return Err(Unknown::Starting);
        }
        let anchor = offset(&[("JavaThread", "_anchor")], "JavaThread::_anchor")?;
        let owner = tables.offset(&[("ObjectMonitor", "_owner")]).and_then(|at| {
            let is_number = tables.kind("ObjectMonitor", "_owner").is_some_and(|kind| kind.contains("int64"));
            let id = || tables.offset(&[("JavaThread", "_monitor_owner_id"), ("JavaThread", "_lock_id")]);
            Some((at, if is_number { Owner::Number(id()?) } else { Owner::Address }))
        });
        let base = tables.offset(&[("JavaThread", "_stack_base"), ("Thread", "_stack_base")]);
        let size = tables.offset(&[("JavaThread", "_stack_size"), ("Thread", "_stack_size")]);
        let pending = [("JavaThread", "_current_pending_monitor"), ("Thread", "_current_pending_monitor")].as_slice();
        let (klass, pointers) = header::read(memory, tables)?;
        Ok(Layout {
            threads,
            pending: offset(pending, "JavaThread::_current_pending_monitor")?,
            java_sp: anchor + offset(&[("JavaFrameAnchor", "_last_Java_sp")], "JavaFrameAnchor::_last_Java_sp")?,
            osthread: offset(&[("JavaThread", "_osthread"), ("Thread", "_osthread")], "Thread::_osthread")?,
            stack: base.zip(size),
            number: offset(&[("OSThread", "_thread_id")], "OSThread::_thread_id")?,
            object: offset(&[("ObjectMonitor", "_object")], "ObjectMonitor::_object")?,
            owner,
            is_handle: tables.has_handles(memory)?,
            klass,
            pointers,
            name: offset(&[("Klass", "_name")], "Klass::_name")?,
            length: offset(&[("Symbol", "_length")], "Symbol::_length")?,
            body: offset(&[("Symbol", "_body"), ("Symbol", "_body[0]")], "Symbol::_body")?,
            mirrored: header::offset_at(memory, tables, &[("java_lang_Class", "_klass_offset")])?,
        })
    }
}

//! Where a JVM keeps what leads from a thread to the class of the object whose monitor it waits for.
//!
//! Names of structures and fields are those of the sources of OpenJDK 8 to 25 (`vmStructs.cpp` and the headers of the structures). Where they
//! were renamed, all names are asked for; where that is not enough, the version decides.

use super::tables::Tables;
use crate::threads::memory::{Memory, Trouble};

/// The threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Threads {
    /// Since 10: a list, by the address of the pointer to it, and offsets of its length and its array.
    List { head: u64, length: u64, threads: u64 },
    /// Before: a chain, by the address of the pointer to its first, and the offset of the next.
    Chain { head: u64, next: u64 },
}

/// How the owner of a monitor is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// Up to 23: its `JavaThread`, or a place on its stack.
    Address,
    /// Later: a number, which is also at this offset in the `JavaThread`.
    Number(u64),
}

/// Where an object says what class it is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Klass {
    /// As an address, at this offset.
    Whole(u64),
    /// As a number of 32 bits at this offset.
    Compressed { at: u64, base: u64, shift: u32 },
    /// In the upper bits of the first word (compact object headers).
    Compact { at: u64, from: u32, base: u64, shift: u32 },
}

/// What the pointers of the heap are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pointers {
    Plain,
    /// ZGC: where the mask of bits is that say "may be out of date", and, where the address has to be shifted, by how much.
    Coloured {
        bad: u64,
        shift: Option<u64>,
    },
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

/// Why no layout could be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::threads) enum Unknown {
    Trouble(Trouble),
    /// It is still starting: what is asked for has no value yet.
    Starting,
    /// What the JVM does not tell.
    Missing(&'static str),
}

impl From<Trouble> for Unknown {
    fn from(trouble: Trouble) -> Self {
        Unknown::Trouble(trouble)
    }
}

/// The names by which ZGC's masks are told, by its generations (21 to 23 have both): the structure, the mask of bits that say "out of date", the
/// shift of those that have one.
const GENERATIONAL: [&str; 3] = ["ZGlobalsForVMStructs", "_ZPointerLoadBadMask", "_ZPointerLoadShift"];
const OF_ONE: [[&str; 2]; 2] =
    [["XGlobalsForVMStructs", "_XAddressBadMask"], ["ZGlobalsForVMStructs", "_ZAddressBadMask"]];

impl Layout {
    /// Makes of the tables what is needed here.
    pub fn new(memory: &impl Memory, tables: &Tables) -> Result<Self, Unknown> {
        let offset = |names: &[(&str, &str)], what: &'static str| tables.offset(names).ok_or(Unknown::Missing(what));
        let number = |address: Option<u64>, what: &'static str| -> Result<u64, Unknown> {
            memory.word(address.ok_or(Unknown::Missing(what))?)?.ok_or(Unknown::Missing(what))
        };
        let threads = match tables.address(&[("ThreadsSMRSupport", "_java_thread_list")]) {
            Some(head) => Threads::List {
                head,
                length: offset(&[("ThreadsList", "_length")], "ThreadsList::_length")?,
                threads: offset(&[("ThreadsList", "_threads")], "ThreadsList::_threads")?,
            },
            None => Threads::Chain {
                head: tables.address(&[("Threads", "_thread_list")]).ok_or(Unknown::Missing("its list of threads"))?,
                next: offset(&[("JavaThread", "_next")], "JavaThread::_next")?,
            },
        };
        // Flags and encodings are settled before its first thread is listed.
        let (head, length) = match threads {
            Threads::List { head, length, .. } => (head, Some(length)),
            Threads::Chain { head, .. } => (head, None),
        };
        let first = memory.word(head)?.unwrap_or(0);
        let is_started = match length {
            Some(length) => memory.word(first.wrapping_add(length))?.is_some_and(|length| length as u32 > 0),
            None => first != 0,
        };
        if !is_started {
            return Err(Unknown::Starting);
        }
        // Version 16 made of the pointer to the object a handle. The oldest have no list of threads either, and number themselves otherwise.
        let is_handle = match threads {
            Threads::Chain { .. } => false,
            Threads::List { .. } => {
                let names = ["Abstract_VM_Version", "VM_Version"].map(|owner| (owner, "_vm_major_version"));
                number(tables.address(&names), "its version")? as u32 >= 16
            }
        };
        let anchor = offset(&[("JavaThread", "_anchor")], "JavaThread::_anchor")?;
        let owner = tables.offset(&[("ObjectMonitor", "_owner")]).and_then(|at| {
            let is_number = tables.kind("ObjectMonitor", "_owner").is_some_and(|kind| kind.contains("int64"));
            let id = || tables.offset(&[("JavaThread", "_monitor_owner_id"), ("JavaThread", "_lock_id")]);
            Some((at, if is_number { Owner::Number(id()?) } else { Owner::Address }))
        });
        let base = tables.offset(&[("JavaThread", "_stack_base"), ("Thread", "_stack_base")]);
        let size = tables.offset(&[("JavaThread", "_stack_size"), ("Thread", "_stack_size")]);
        let pending = [("JavaThread", "_current_pending_monitor"), ("Thread", "_current_pending_monitor")].as_slice();
        let [compressed, compact, z, generational] = tables
            .flags(memory, ["UseCompressedClassPointers", "UseCompactObjectHeaders", "UseZGC", "ZGenerational"])?;
        let mirrored = match tables.address(&[("java_lang_Class", "_klass_offset")]) {
            Some(place) => memory.word(place)?.map(|word| word & 0xffff_ffff).filter(|&at| (8..4096).contains(&at)),
            None => None,
        };
        Ok(Layout {
            threads,
            pending: offset(pending, "JavaThread::_current_pending_monitor")?,
            java_sp: anchor + offset(&[("JavaFrameAnchor", "_last_Java_sp")], "JavaFrameAnchor::_last_Java_sp")?,
            osthread: offset(&[("JavaThread", "_osthread"), ("Thread", "_osthread")], "Thread::_osthread")?,
            stack: base.zip(size),
            number: offset(&[("OSThread", "_thread_id")], "OSThread::_thread_id")?,
            object: offset(&[("ObjectMonitor", "_object")], "ObjectMonitor::_object")?,
            owner,
            is_handle,
            klass: klass(memory, tables, compressed, compact)?,
            pointers: if z == Some(true) { coloured(memory, tables, generational)? } else { Pointers::Plain },
            name: offset(&[("Klass", "_name")], "Klass::_name")?,
            length: offset(&[("Symbol", "_length")], "Symbol::_length")?,
            body: offset(&[("Symbol", "_body"), ("Symbol", "_body[0]")], "Symbol::_body")?,
            mirrored,
        })
    }
}

fn klass(
    memory: &impl Memory,
    tables: &Tables,
    compressed: Option<bool>,
    compact: Option<bool>,
) -> Result<Klass, Unknown> {
    let of = |names: &[(&str, &str)]| -> Result<Option<u64>, Trouble> {
        tables.address(names).map_or(Ok(None), |place| memory.word(place))
    };
    let encoding = || -> Result<(u64, u32), Unknown> {
        const BASE: [&str; 2] = ["_narrow_klass._base", "_base"];
        const SHIFT: [&str; 2] = ["_narrow_klass._shift", "_shift"];
        let names = |fields: [&'static str; 2]| {
            ["CompressedKlassPointers", "Universe"].into_iter().flat_map(move |o| fields.map(|f| (o, f)))
        };
        let base = of(&names(BASE).collect::<Vec<_>>())?;
        let shift = of(&names(SHIFT).collect::<Vec<_>>())?.map(|word| word as u32).filter(|&shift| shift <= 32);
        base.zip(shift).ok_or(Unknown::Missing("how it compresses pointers to classes"))
    };
    if compact == Some(true) {
        let from = tables.constant("markWord::klass_shift").filter(|&from| (1..64).contains(&from));
        let from = from.ok_or(Unknown::Missing("markWord::klass_shift"))? as u32;
        let at = tables.offset(&[("oopDesc", "_mark")]).ok_or(Unknown::Missing("oopDesc::_mark"))?;
        let (base, shift) = encoding()?;
        return Ok(Klass::Compact { at, from, base, shift });
    }
    match compressed {
        Some(true) => {
            let at = tables.offset(&[("oopDesc", "_metadata._compressed_klass")]);
            let at = at.ok_or(Unknown::Missing("oopDesc::_metadata._compressed_klass"))?;
            let (base, shift) = encoding()?;
            Ok(Klass::Compressed { at, base, shift })
        }
        Some(false) => {
            let at = tables.offset(&[("oopDesc", "_metadata._klass")]);
            Ok(Klass::Whole(at.ok_or(Unknown::Missing("oopDesc::_metadata._klass"))?))
        }
        None => Err(Unknown::Missing("the flag UseCompressedClassPointers")),
    }
}

/// Where ZGC says which pointers are good. Of one generation, the address with its colour can be read as it is: the heap is mapped once for each.
fn coloured(memory: &impl Memory, tables: &Tables, generational: Option<bool>) -> Result<Pointers, Unknown> {
    const WHAT: Unknown = Unknown::Missing("the colours of ZGC's pointers");
    let global = |owner: &str, field: &str| -> Result<Option<u64>, Trouble> {
        let Some(offset) = tables.offset(&[(owner, field)]) else { return Ok(None) };
        let Some(place) = tables.address(&[(owner, "_instance_p")]) else { return Ok(None) };
        match memory.word(place)? {
            Some(instance) => Ok(memory.word(instance.wrapping_add(offset))?.filter(|&p| p != 0)),
            None => Ok(None),
        }
    };
    if generational != Some(false) {
        let [owner, bad, shift] = GENERATIONAL;
        if let (Some(bad), Some(shift)) = (global(owner, bad)?, global(owner, shift)?) {
            return Ok(Pointers::Coloured { bad, shift: Some(shift) });
        }
    }
    for [owner, bad] in OF_ONE {
        if let Some(bad) = global(owner, bad)? {
            return Ok(Pointers::Coloured { bad, shift: None });
        }
    }
    Err(WHAT)
}

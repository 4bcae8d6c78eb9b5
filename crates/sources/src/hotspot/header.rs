//! How an object says what class it is of, and what the pointers of the heap look like.

use super::Unknown;
use super::tables::Tables;
use crate::memory::{Memory, Trouble};

/// Where an object says what class it is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::hotspot) enum Klass {
    /// As an address, at this offset.
    Whole(u64),
    /// As a number of 32 bits at this offset.
    Compressed { at: u64, base: u64, shift: u32 },
    /// In the upper bits of the first word (compact object headers).
    Compact { at: u64, from: u32, base: u64, shift: u32 },
}

/// What the pointers of the heap are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::hotspot) enum Pointers {
    Plain,
    /// ZGC: where the mask of bits is that say "may be out of date", and, where the address has to be shifted, by how much.
    Coloured {
        bad: u64,
        shift: Option<u64>,
    },
}

impl Klass {
    /// Where in an object the word is that [`Klass::of`] takes.
    pub fn at(self) -> u64 {
        let (Klass::Whole(at) | Klass::Compressed { at, .. } | Klass::Compact { at, .. }) = self;
        at
    }

    /// The address of the class that such a word tells; 0 for none.
    pub fn of(self, word: u64) -> u64 {
        match self {
            Klass::Whole(_) => word,
            Klass::Compressed { base, shift, .. } => match word & 0xffff_ffff {
                0 => 0,
                number => base.wrapping_add(number << shift),
            },
            Klass::Compact { from, base, shift, .. } => match word >> from {
                0 => 0,
                number => base.wrapping_add(number << shift),
            },
        }
    }
}

impl Pointers {
    /// The objects that pointers of the heap lead to; 0 where that cannot be told.
    pub fn plain(self, memory: &impl Memory, held: &[Option<u64>]) -> Result<Vec<u64>, Trouble> {
        self.objects(memory, held, false)
    }

    /// The same, where those that may be out of date are followed too: between two cycles of ZGC most are. What they lead to may have moved, or be gone.
    pub fn likely(self, memory: &impl Memory, held: &[Option<u64>]) -> Result<Vec<u64>, Trouble> {
        self.objects(memory, held, true)
    }

    fn objects(self, memory: &impl Memory, held: &[Option<u64>], stale: bool) -> Result<Vec<u64>, Trouble> {
        let Pointers::Coloured { bad, shift } = self else {
            return Ok(held.iter().map(|pointer| pointer.unwrap_or(0)).collect());
        };
        // Which colours are good changes with each phase of the collector.
        let words = memory.words(&[bad, shift.unwrap_or(bad)])?;
        let (Some(bad), Some(by)) = (words.first().copied().flatten(), words.get(1).copied().flatten()) else {
            return Ok(vec![0; held.len()]);
        };
        let by = if shift.is_some() { by } else { 0 };
        let plain = |pointer: u64| match pointer & bad {
            0 if by < 64 => pointer >> by,
            0 => 0,
            _ if !stale => 0,
            _ if shift.is_some() => of_any_colour(pointer),
            // Of one generation, the heap is mapped once for each colour.
            _ => pointer,
        };
        Ok(held.iter().map(|pointer| pointer.map_or(0, plain)).collect())
    }
}

/// The address in a pointer of ZGC with generations, whatever its colour: which of four bits is set says how far it is shifted (`zAddress.inline.hpp`,
/// `ZPointer::load_shift_lookup`). 0 for what is none.
fn of_any_colour(pointer: u64) -> u64 {
    let remapped = pointer >> REMAPPED_SHIFT & 0xf;
    if remapped.is_power_of_two() { pointer >> (REMAPPED_SHIFT + 1 + remapped.trailing_zeros()) } else { 0 }
}

/// `ZPointerRemappedShift` of zAddress.hpp.
const REMAPPED_SHIFT: u32 = 12;

/// The names by which ZGC's masks are told, by its generations (21 to 23 have both): the structure, the mask of bits that say "out of date", the
/// shift of those that have one.
const GENERATIONAL: [&str; 3] = ["ZGlobalsForVMStructs", "_ZPointerLoadBadMask", "_ZPointerLoadShift"];
const OF_ONE: [[&str; 2]; 2] =
    [["XGlobalsForVMStructs", "_XAddressBadMask"], ["ZGlobalsForVMStructs", "_ZAddressBadMask"]];

/// Reads both.
pub(in crate::hotspot) fn read(memory: &impl Memory, tables: &Tables) -> Result<(Klass, Pointers), Unknown> {
    let [compressed, compact, z, generational] =
        tables.flags(memory, ["UseCompressedClassPointers", "UseCompactObjectHeaders", "UseZGC", "ZGenerational"])?;
    let pointers = if z == Some(true) { coloured(memory, tables, generational)? } else { Pointers::Plain };
    Ok((klass(memory, tables, compressed, compact)?, pointers))
}

/// An offset in objects of a class of the JDK, which the JVM keeps in a static variable of its own once that class is loaded.
pub(in crate::hotspot) fn offset_at(
    memory: &impl Memory,
    tables: &Tables,
    names: &[(&str, &str)],
) -> Result<Option<u64>, Trouble> {
    let Some(place) = tables.address(names) else { return Ok(None) };
    Ok(memory.word(place)?.map(|word| word & 0xffff_ffff).filter(|at| (8..4096).contains(at)))
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

//! HotSpot describes itself: tables in `libjvm.so` of its structures' fields, its types and its constants, exported under names that begin with
//! `gHotSpotVM` for its own debugger (the serviceability agent; `vmStructs.hpp` says what they are called). Each comes with the size of an entry and the
//! offsets in it, so that no layout of any version has to be known here.

use super::Unknown;
use crate::memory::{Memory, Trouble};
use std::collections::HashMap;

/// More entries than any version has.
const MOST_ENTRIES: usize = 16_384;
/// Entries are read in stretches of so many bytes.
const STRETCH: usize = 64 << 10;
/// More flags than any version has.
const MOST_FLAGS: u64 = 8192;

/// The exported names, in the order in which [`Tables::read`] takes their addresses.
pub(crate) const EXPORTED: [&str; 19] = [
    "gHotSpotVMStructs",
    "gHotSpotVMStructEntryArrayStride",
    "gHotSpotVMStructEntryTypeNameOffset",
    "gHotSpotVMStructEntryFieldNameOffset",
    "gHotSpotVMStructEntryTypeStringOffset",
    "gHotSpotVMStructEntryOffsetOffset",
    "gHotSpotVMStructEntryAddressOffset",
    "gHotSpotVMTypes",
    "gHotSpotVMTypeEntryArrayStride",
    "gHotSpotVMTypeEntryTypeNameOffset",
    "gHotSpotVMTypeEntrySizeOffset",
    "gHotSpotVMLongConstants",
    "gHotSpotVMLongConstantEntryArrayStride",
    "gHotSpotVMLongConstantEntryNameOffset",
    "gHotSpotVMLongConstantEntryValueOffset",
    "gHotSpotVMIntConstants",
    "gHotSpotVMIntConstantEntryArrayStride",
    "gHotSpotVMIntConstantEntryNameOffset",
    "gHotSpotVMIntConstantEntryValueOffset",
];

/// A field of a structure, or a static one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Field {
    offset: u64,
    /// Of a static field.
    address: u64,
    /// Its type, where the table has it.
    kind: Option<String>,
}

/// What a JVM says of its own memory.
#[derive(Debug, Default)]
pub(super) struct Tables {
    fields: HashMap<(String, String), Field>,
    sizes: HashMap<String, u64>,
    constants: HashMap<String, u64>,
}

/// The entries of a table: of each the words at `columns`, until the first of them is 0.
fn entries<const N: usize>(
    memory: &impl Memory,
    from: u64,
    stride: u64,
    columns: [u64; N],
) -> Result<Vec<[u64; N]>, Trouble> {
    let mut found = Vec::new();
    let Some(size) = usize::try_from(stride).ok().filter(|size| (8..=512).contains(size)) else { return Ok(found) };
    let per_stretch = STRETCH / size;
    let mut bytes = vec![0; per_stretch * size];
    let mut at = from;
    while found.len() < MOST_ENTRIES {
        let read = memory.some(at, &mut bytes)?;
        let whole = bytes.get(..read).unwrap_or_default().chunks_exact(size);
        let count = whole.len();
        for entry in whole {
            let word = |offset: u64| {
                let bytes = usize::try_from(offset).ok().and_then(|offset| entry.get(offset..)?.first_chunk::<8>());
                bytes.map_or(0, |bytes| u64::from_ne_bytes(*bytes))
            };
            let row = columns.map(word);
            if row.first() == Some(&0) {
                return Ok(found);
            }
            found.push(row);
        }
        if count == 0 {
            break;
        }
        at = at.wrapping_add((count * size) as u64);
    }
    Ok(found)
}

/// Texts by their addresses: the compiler lets the same ones share theirs.
struct Texts<'a, M>(&'a M, HashMap<u64, Option<String>>);

impl<M: Memory> Texts<'_, M> {
    fn at(&mut self, address: u64) -> Result<Option<String>, Trouble> {
        if let Some(known) = self.1.get(&address) {
            return Ok(known.clone());
        }
        let read = self.0.text(address)?;
        self.1.insert(address, read.clone());
        Ok(read)
    }
}

impl Tables {
    /// Reads them. `exported` are the addresses of [`EXPORTED`]; `None` where the JVM has not come so far as to fill them.
    pub fn read(memory: &impl Memory, exported: &[u64; EXPORTED.len()]) -> Result<Option<Self>, Trouble> {
        let words = memory.words(exported)?;
        let [
            structs,
            stride,
            owner,
            field,
            kind,
            offset,
            address,
            types,
            type_stride,
            name,
            size,
            longs,
            long_stride,
            long_name,
            long_value,
            ints,
            int_stride,
            int_name,
            int_value,
        ] = std::array::from_fn(|i| words.get(i).copied().flatten().unwrap_or(0));
        let mut texts = Texts(memory, HashMap::new());
        let mut tables = Tables::default();
        for [owner, field, kind, offset, address] in
            entries(memory, structs, stride, [owner, field, kind, offset, address])?
        {
            if let (Some(owner), Some(field)) = (texts.at(owner)?, texts.at(field)?) {
                let kind = texts.at(kind)?;
                tables.fields.insert((owner, field), Field { offset, address, kind });
            }
        }
        for [name, size] in entries(memory, types, type_stride, [name, size])? {
            if let Some(name) = texts.at(name)? {
                tables.sizes.insert(name, size);
            }
        }
        for [name, value] in entries(memory, longs, long_stride, [long_name, long_value])? {
            if let Some(name) = texts.at(name)? {
                tables.constants.insert(name, value);
            }
        }
        for [name, value] in entries(memory, ints, int_stride, [int_name, int_value])? {
            if let Some(name) = texts.at(name)? {
                tables.constants.insert(name, i64::from(value as u32 as i32) as u64);
            }
        }
        Ok((!tables.fields.is_empty()).then_some(tables))
    }

    fn field(&self, owner: &str, name: &str) -> Option<&Field> {
        self.fields.get(&(owner.to_owned(), name.to_owned()))
    }

    /// Where a field lies in its structure: the first of these (structure, field) that there is.
    pub fn offset(&self, names: &[(&str, &str)]) -> Option<u64> {
        let found = names.iter().find_map(|(owner, name)| self.field(owner, name));
        found.map(|field| field.offset).filter(|&offset| offset < 1 << 20)
    }

    /// The address of a static field: the first of these that there is.
    pub fn address(&self, names: &[(&str, &str)]) -> Option<u64> {
        names.iter().find_map(|(owner, name)| self.field(owner, name)).map(|field| field.address).filter(|&a| a != 0)
    }

    /// The type of a field in words.
    pub fn kind(&self, owner: &str, name: &str) -> Option<&str> {
        self.field(owner, name)?.kind.as_deref()
    }

    /// The fields of a structure that are not static: name, offset, type in words.
    pub fn fields_of(&self, owner: &str) -> impl Iterator<Item = (&str, u64, &str)> {
        let own = self.fields.iter().filter(move |((of, _), field)| of == owner && field.address == 0);
        own.map(|((_, name), field)| (name.as_str(), field.offset, field.kind.as_deref().unwrap_or_default()))
    }

    /// The size of a type in bytes.
    pub fn size(&self, name: &str) -> Option<u64> {
        self.sizes.get(name).copied()
    }

    /// A constant; of a negative one its two's complement.
    pub fn constant(&self, name: &str) -> Option<u64> {
        self.constants.get(name).copied()
    }

    /// The constants whose names begin so: what is behind that, and their values.
    pub fn constants_of(&self, prefix: &str) -> impl Iterator<Item = (&str, u64)> {
        self.constants.iter().filter_map(move |(name, value)| Some((name.strip_prefix(prefix)?, *value)))
    }

    /// Whether what up to 15 pointed to an object is a handle, the address of such a pointer. The oldest have no list of threads either, and number
    /// themselves otherwise.
    pub fn has_handles(&self, memory: &impl Memory) -> Result<bool, Unknown> {
        const WHAT: Unknown = Unknown::Missing("its version");
        if self.address(&[("ThreadsSMRSupport", "_java_thread_list")]).is_none() {
            return Ok(false);
        }
        let names = ["Abstract_VM_Version", "VM_Version"].map(|owner| (owner, "_vm_major_version"));
        let version = memory.word(self.address(&names).ok_or(WHAT)?)?.ok_or(WHAT)?;
        Ok(version as u32 >= 16)
    }

    /// The values of flags that can be on or off; `None` for those that this JVM does not have. Up to version 9 the structure is called `Flag`.
    pub fn flags<const N: usize>(&self, memory: &impl Memory, names: [&str; N]) -> Result<[Option<bool>; N], Trouble> {
        let mut values = [None; N];
        let owner = if self.field("JVMFlag", "flags").is_some() { "JVMFlag" } else { "Flag" };
        let places = || {
            Some((
                self.address(&[(owner, "flags")])?,
                self.address(&[(owner, "numFlags")])?,
                self.offset(&[(owner, "_name")])?,
                self.offset(&[(owner, "_addr")])?,
                self.sizes.get(owner).copied().filter(|size| (8..=512).contains(size))?,
            ))
        };
        let Some((flags, number, name, address, size)) = places() else { return Ok(values) };
        let (Some(flags), Some(number)) = (memory.word(flags)?, memory.word(number)?) else { return Ok(values) };
        let at = |i: u64, offset: u64| flags.wrapping_add(i * size).wrapping_add(offset);
        let number = number.min(MOST_FLAGS);
        let texts = memory.words(&(0..number).map(|i| at(i, name)).collect::<Vec<_>>())?;
        let texts: Vec<u64> = texts.into_iter().map(Option::unwrap_or_default).collect();
        // How they begin says of nearly all that they are not wanted.
        let begin = memory.words(&texts)?;
        for ((i, text), begin) in (0..).zip(texts).zip(begin) {
            let Some(begin) = begin.map(u64::to_ne_bytes) else { continue };
            let begins = |name: &&str| name.bytes().zip(begin).take(8).all(|(a, b)| a == b);
            if !names.iter().any(begins) {
                continue;
            }
            let Some(text) = memory.text(text)? else { continue };
            if let Some((_, value)) = names.iter().zip(&mut values).find(|(name, _)| **name == text)
                && let Some(place) = memory.word(at(i, address))?
                && let Some(word) = memory.word(place)?
            {
                *value = Some(word.to_ne_bytes().first() != Some(&0));
            }
        }
        Ok(values)
    }
}

//! Where a JVM keeps what says of which class an object is, what fields it has, and what it keeps of a class itself.
//!
//! Names are those of OpenJDK 8 to 25 (`vmStructs.cpp`, `klass.hpp`, `instanceKlass.hpp`, `fieldInfo.hpp`).

use crate::hotspot::Unknown;
use crate::hotspot::header::{self, Klass};
use crate::hotspot::tables::Tables;
use crate::memory::Memory;
use std::ops::Range;

/// How a class keeps its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::hotspot) enum Fields {
    /// Up to 20: an array of numbers of 16 bits, so many a field. `count` is where their number is.
    Shorts { at: u64, count: u64, slots: u64, name: u64, kind: u64, flags: u64, low: u64, high: u64, tag: u32 },
    /// Later: a stream of numbers of variable length. Bits of a field's flags say whether further numbers follow.
    Stream { at: u64, more: [u32; 3] },
}

/// A word that the JVM keeps of a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::hotspot) struct Part {
    pub name: String,
    pub offset: u64,
    pub size: u64,
    pub kind: String,
}

/// Sizes of the C++ structure of a kind of class, and its fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::hotspot) struct Structure {
    pub size: u64,
    pub parts: Vec<Part>,
}

/// Offsets and addresses.
#[derive(Clone, Debug)]
pub(in crate::hotspot) struct Layout {
    pub klass: Klass,
    /// Bytes of a reference in an object.
    pub reference: u64,
    /// Where the heap is, if it lies at one place.
    pub heap: Option<Range<u64>>,
    /// Bits of the header of an object that is not locked which may be set.
    pub unlocked: u64,
    /// Of `Klass`.
    pub name: u64,
    pub helper: u64,
    pub check: u64,
    pub cache: u64,
    pub supers: u64,
    pub display: Range<u64>,
    pub parent: u64,
    /// In an object of `java.lang.Class`: the class that it stands for; its own size in words.
    pub mirrored: Option<u64>,
    pub words: Option<u64>,
    /// Of `InstanceKlass`: its constants, and the class of arrays of its objects.
    pub constants: u64,
    pub arrays: u64,
    pub fields: Fields,
    /// What follows it, each with the offset of its length in words.
    pub behind: Vec<(&'static str, u64)>,
    /// Of `ArrayKlass`, and of `ObjArrayKlass`.
    pub lower: u64,
    pub higher: u64,
    pub element: u64,
    /// Of `ConstantPool`: where its entries begin, and its class.
    pub pool: u64,
    pub holder: u64,
    /// Of `Symbol`.
    pub length: u64,
    pub body: u64,
    /// Of `Array<Klass*>`, and of arrays of smaller numbers: the length, and the elements.
    pub array: (u64, u64),
    pub short_data: u64,
    pub byte_data: u64,
    /// Classes of objects, of arrays of objects, and of other arrays.
    pub instance: Structure,
    pub objects: Structure,
    pub primitives: Structure,
}

impl Layout {
    /// Makes of the tables what is needed here.
    pub fn new(memory: &impl Memory, tables: &Tables) -> Result<Self, Unknown> {
        let offset = |owner, field, what: &'static str| tables.offset(&[(owner, field)]).ok_or(Unknown::Missing(what));
        let constant = |name: &str, otherwise: u64| tables.constant(name).unwrap_or(otherwise);
        let heap = tables.address(&[("Universe", "_collectedHeap")]).ok_or(Unknown::Missing("its heap"))?;
        let heap = memory.word(heap)?.filter(|&heap| heap != 0).ok_or(Unknown::Starting)?;
        let (klass, _) = header::read(memory, tables)?;
        let [references] = tables.flags(memory, ["UseCompressedOops"])?;
        let display = ["_primary_supers[0]", "_primary_supers"].map(|field| ("Klass", field));
        let display = tables.offset(&display).ok_or(Unknown::Missing("Klass::_primary_supers"))?;
        let most = constant("Klass::_primary_super_limit", 8).min(64);
        let mark = |name: &str, otherwise| constant(name, otherwise).min(63);
        let behind = [
            ("vtable", [("Klass", "_vtable_len"), ("InstanceKlass", "_vtable_len")]),
            ("itable", [("InstanceKlass", "_itable_len"); 2]),
            ("oop maps", [("InstanceKlass", "_nonstatic_oop_map_size"); 2]),
        ];
        Ok(Layout {
            klass,
            reference: if references == Some(true) { 4 } else { 8 },
            heap: reserved(memory, tables, heap)?,
            unlocked: 1u64.checked_shl((mark("markWord::hash_shift", 8) + 31) as u32).map_or(u64::MAX, |bit| bit - 1),
            name: offset("Klass", "_name", "Klass::_name")?,
            helper: offset("Klass", "_layout_helper", "Klass::_layout_helper")?,
            check: offset("Klass", "_super_check_offset", "Klass::_super_check_offset")?,
            cache: offset("Klass", "_secondary_super_cache", "Klass::_secondary_super_cache")?,
            supers: offset("Klass", "_secondary_supers", "Klass::_secondary_supers")?,
            display: display..display + 8 * most,
            parent: offset("Klass", "_super", "Klass::_super")?,
            mirrored: header::offset_at(memory, tables, &[("java_lang_Class", "_klass_offset")])?,
            words: header::offset_at(memory, tables, &[("java_lang_Class", "_oop_size_offset")])?,
            constants: offset("InstanceKlass", "_constants", "InstanceKlass::_constants")?,
            arrays: offset("InstanceKlass", "_array_klasses", "InstanceKlass::_array_klasses")?,
            lower: offset("ArrayKlass", "_lower_dimension", "ArrayKlass::_lower_dimension")?,
            higher: offset("ArrayKlass", "_higher_dimension", "ArrayKlass::_higher_dimension")?,
            element: offset("ObjArrayKlass", "_element_klass", "ObjArrayKlass::_element_klass")?,
            holder: offset("ConstantPool", "_pool_holder", "ConstantPool::_pool_holder")?,
            fields: fields(tables)?,
            behind: behind.into_iter().filter_map(|(name, at)| Some((name, tables.offset(&at)?))).collect(),
            pool: tables
                .size("ConstantPool")
                .filter(|size| (8..4096).contains(size))
                .ok_or(Unknown::Missing("ConstantPool"))?,
            length: offset("Symbol", "_length", "Symbol::_length")?,
            body: tables
                .offset(&[("Symbol", "_body"), ("Symbol", "_body[0]")])
                .ok_or(Unknown::Missing("Symbol::_body"))?,
            array: (
                tables.offset(&[("Array<Klass*>", "_length")]).unwrap_or(0),
                offset("Array<Klass*>", "_data", "Array<Klass*>::_data")?,
            ),
            short_data: tables.offset(&[("Array<u2>", "_data")]).unwrap_or(4),
            byte_data: tables.offset(&[("Array<u1>", "_data")]).unwrap_or(4),
            instance: structure(tables, &["Klass", "InstanceKlass"], most),
            objects: structure(tables, &["Klass", "ArrayKlass", "ObjArrayKlass"], most),
            primitives: structure(tables, &["Klass", "ArrayKlass", "TypeArrayKlass"], most),
        })
    }
}

/// Where the heap is. ZGC leaves that empty.
fn reserved(memory: &impl Memory, tables: &Tables, heap: u64) -> Result<Option<Range<u64>>, Unknown> {
    let at = |owner, field| tables.offset(&[(owner, field)]);
    let place = at("CollectedHeap", "_reserved").zip(at("MemRegion", "_start").zip(at("MemRegion", "_word_size")));
    let Some((reserved, (start, words))) = place else { return Ok(None) };
    let heap = heap.wrapping_add(reserved);
    let found = memory.words(&[heap.wrapping_add(start), heap.wrapping_add(words)])?;
    let (start, words) = (found.first().copied().flatten(), found.get(1).copied().flatten());
    let end = |start: u64, words: u64| start.checked_add(words.checked_mul(8)?);
    let range = start.zip(words).and_then(|(start, words)| Some(start..end(start, words)?));
    Ok(range.filter(|range| range.start != 0 && !range.is_empty()))
}

fn fields(tables: &Tables) -> Result<Fields, Unknown> {
    let constant = |name: &str, otherwise: u64| tables.constant(name).unwrap_or(otherwise);
    if let Some(at) = tables.offset(&[("InstanceKlass", "_fieldinfo_stream")]) {
        // A constant value, a generic signature, a group of `@Contended`: in this order.
        let bits = [("initialized", 0), ("generic", 2), ("contended", 4)];
        let more = bits.map(|(name, bit)| constant(&format!("FieldInfo::FieldFlags::_ff_{name}"), bit).min(31) as u32);
        return Ok(Fields::Stream { at, more });
    }
    let at = tables.offset(&[("InstanceKlass", "_fields")]).ok_or(Unknown::Missing("the fields of classes"))?;
    let count = tables.offset(&[("InstanceKlass", "_java_fields_count")]);
    let slot = |name: &str, otherwise| constant(&format!("FieldInfo::{name}_offset"), otherwise).min(15);
    Ok(Fields::Shorts {
        at,
        count: count.ok_or(Unknown::Missing("InstanceKlass::_java_fields_count"))?,
        slots: constant("FieldInfo::field_slots", 6).clamp(1, 16),
        name: slot("name_index", 1),
        kind: slot("signature_index", 2),
        flags: slot("access_flags", 0),
        low: slot("low_packed", 4),
        high: slot("high_packed", 5),
        tag: constant("FIELDINFO_TAG_SIZE", 2).min(8) as u32,
    })
}

/// The fields of a structure and of those that it is derived from.
fn structure(tables: &Tables, owners: &[&str], supers: u64) -> Structure {
    let mut parts = Vec::new();
    for owner in owners {
        for (field, offset, kind) in tables.fields_of(owner).filter(|(_, offset, _)| *offset < 4096) {
            let bare = kind.trim_start_matches("volatile ").trim_end_matches(" volatile");
            let size =
                if bare.ends_with('*') { 8 } else { tables.size(bare).filter(|s| (1..=64).contains(s)).unwrap_or(8) };
            let part = |name: String, offset| Part { name, offset, size, kind: kind.to_owned() };
            if let Some(array) = field.strip_suffix("[0]").filter(|&array| array == "_primary_supers") {
                parts.extend((0..supers).map(|i| part(format!("{owner}::{array}[{i}]"), offset + i * size)));
            } else {
                parts.push(part(format!("{owner}::{field}"), offset));
            }
        }
    }
    parts.sort_by(|a, b| (a.offset, &a.name).cmp(&(b.offset, &b.name)));
    let size = owners.last().and_then(|owner| tables.size(owner)).unwrap_or(0).min(4096);
    Structure { size, parts }
}

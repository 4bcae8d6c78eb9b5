//! Where in a JVM's memory its code cache is, and what lies where in what it keeps of code: by its own tables, which are alike in 8 to 25 but for names.

use super::heaps::{CodeHeaps, Heap};
use super::{Memory, Trouble};
use crate::hotspot::tables::Tables;
use crate::hotspot::{Unknown, Way};
use std::ops::Range;

/// The header of a block of code and what is kept of it at its beginning are smaller.
const MOST_HEADER: u64 = 1024;

/// A number of a structure: where it lies and how it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub at: u64,
    width: Width,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    Byte,
    Short,
    SignedShort,
    Int,
    Word,
}

impl Field {
    /// The first of these fields that there is, with its width by its type.
    fn find(tables: &Tables, names: &[(&str, &str)]) -> Option<Self> {
        let (owner, name) = names.iter().find(|name| tables.offset(&[**name]).is_some())?;
        let at = tables.offset(&[(owner, name)])?;
        let width = match tables.kind(owner, name).unwrap_or_default() {
            "u2" | "uint16_t" | "unsigned short" | "jushort" => Width::Short,
            "int16_t" | "short" | "jshort" => Width::SignedShort,
            "bool" | "u1" | "uint8_t" | "int8_t" | "volatile signed char" | "signed char" => Width::Byte,
            // An enumeration whose width has changed, and whose values are small.
            "CompLevel" => Width::Byte,
            kind if kind.ends_with('*') => Width::Word,
            "address" | "size_t" | "intptr_t" | "uintptr_t" | "jlong" | "long" | "julong" => Width::Word,
            _ => Width::Int,
        };
        Some(Field { at, width })
    }

    fn must(tables: &Tables, names: &[(&str, &str)], what: &'static str) -> Result<Self, Unknown> {
        Field::find(tables, names).ok_or(Unknown::Missing(what))
    }

    fn byte(self) -> Self {
        Field { width: Width::Byte, ..self }
    }

    /// The same at the beginning of what is read.
    pub fn at_start(self) -> Self {
        Field { at: 0, ..self }
    }

    /// Where it ends.
    pub fn end(self) -> u64 {
        self.at
            + match self.width {
                Width::Byte => 1,
                Width::Short | Width::SignedShort => 2,
                Width::Int => 4,
                Width::Word => 8,
            }
    }

    /// Its value in the bytes of a structure; of a negative one its two's complement.
    pub fn of(self, bytes: &[u8]) -> Option<u64> {
        let from = bytes.get(usize::try_from(self.at).ok()?..)?;
        Some(match self.width {
            Width::Byte => u64::from(*from.first()?),
            Width::Short => u64::from(u16::from_ne_bytes(*from.first_chunk()?)),
            Width::SignedShort => i64::from(i16::from_ne_bytes(*from.first_chunk()?)) as u64,
            Width::Int => i64::from(i32::from_ne_bytes(*from.first_chunk()?)) as u64,
            Width::Word => u64::from_ne_bytes(*from.first_chunk()?),
        })
    }
}

/// What lies where in a block of code.
#[derive(Debug)]
pub(super) struct BlobFields {
    /// The block's own header, before it.
    pub header: u64,
    pub used: Field,
    /// Bytes of it that are read at once.
    pub size_read: usize,
    pub name: Field,
    pub size: Field,
    pub frame_size: Field,
    pub frame_complete: Field,
    /// Where its code begins: an address, or an offset.
    pub code: Field,
    pub code_is_address: bool,
    /// Where its machine code ends: an address, or an offset.
    pub end: Option<(Field, bool)>,
}

/// What lies where in compiled code, which is a block of code with more behind.
#[derive(Debug)]
pub(super) struct CompiledFields {
    pub method: Field,
    pub level: Field,
    pub id: Field,
    /// 0 while it is in use, more when no new caller gets to it.
    pub state: Option<Field>,
    /// Where in its bytecode it is entered, if that is a loop which was running; else it is negative.
    pub entry_at: Option<Field>,
    /// Where the code begins whose caller has made sure of its class: an address, or an offset from the code.
    pub entry: Option<(Field, bool)>,
    /// Where in its frame the address lies at which a frame that is to be deoptimised would go on.
    pub original: Option<Field>,
    /// Where such a frame goes on instead: addresses, or offsets.
    pub handlers: Vec<(Field, bool)>,
    pub scopes: Scopes,
}

/// Where the compiler's notes of a method are.
#[derive(Debug)]
pub(super) enum Scopes {
    /// In the block itself: the places, what follows them, the texts of scopes (an address, or an offset), the methods.
    Inside { places: Field, end: Field, texts: Field, texts_are_address: bool, methods: Field },
    /// In a piece of memory of their own (23 and later), the methods beside them or (25) in another.
    Outside { data: Field, places: Field, texts: Field, methods: Methods },
}

/// Where the methods are to which such notes refer by number.
#[derive(Debug)]
pub(super) enum Methods {
    /// In the block: offset of its data, and in them.
    Block { data: Field, at: Field },
    /// In a piece of memory of their own, behind other data of that size.
    Piece { data: Field, before: Field },
}

/// What lies where in a method.
#[derive(Debug)]
pub(super) struct MethodFields {
    pub constant: u64,
    /// Bytes of `ConstMethod`; the bytecode is behind.
    pub size: u64,
    pub constants: Field,
    pub name: Field,
    pub code_size: Field,
    pub flags: Option<Field>,
    /// In the method: what keeps it from being compiled.
    pub status: Option<Status>,
    pub has_lines: u64,
    pub pool_size: u64,
    pub holder: u64,
    pub class_name: u64,
    /// In the pool, or in the class.
    pub file_of_pool: Option<Field>,
    pub file_of_class: Option<Field>,
    pub symbol_length: Field,
    pub symbol_shift: u32,
    pub symbol_body: u64,
}

/// Bits of a method that say how it stands with the compilers (`accessFlags.hpp`; from 21 on `methodFlags.hpp`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Status {
    pub at: u64,
    /// It waits to be compiled.
    pub queued: u32,
    /// A compiler gave up on it, or was told to leave it alone.
    pub not_c1: u32,
    pub not_c2: u32,
}

/// All of it.
#[derive(Debug)]
pub(super) struct Layout {
    pub heaps: CodeHeaps,
    /// The lowest and the highest address of all of them.
    pub range: Range<u64>,
    pub interpreter: Range<u64>,
    /// Where methods return to that were called by the JVM itself.
    pub call_stub: u64,
    /// Where the outermost frames of a virtual thread return to: those that stay in the heap, and the one that is below.
    pub barrier: Option<u64>,
    pub continued: Option<u64>,
    pub blob: BlobFields,
    pub compiled: CompiledFields,
    pub method: MethodFields,
    /// In an interpreted frame: words from the frame pointer to where its bytecode is.
    pub bytecode: u64,
    /// What is subtracted from each byte of a compressed number: 0 is none of them since 20.
    pub excluded: u8,
    /// A place of the notes: its size, where its code is, where its scope.
    pub place_size: u64,
    pub place_code: Field,
    pub place_scope: Field,
}

impl Layout {
    /// Finds it.
    pub fn new(memory: &impl Memory, way: &Way) -> Result<Self, Unknown> {
        let tables = &way.tables;
        let version = way.version().ok_or(Unknown::Missing("its version"))?;
        let heaps = CodeHeaps::of(memory, tables)?;
        let low = heaps.all.iter().map(|heap| heap.range.start).min().unwrap_or(0);
        let high = heaps.all.iter().map(|heap| heap.range.end).max().unwrap_or(0);
        let must = |names: &[(&str, &str)], what| Field::must(tables, names, what);
        let (blob, compiled) = (blob(tables)?, compiled(tables)?);
        let place_size = tables.size("PcDesc").filter(|size| (8..=64).contains(size)).unwrap_or(16);
        let word_at = |names: &[(&str, &str)]| -> Result<Option<u64>, Trouble> {
            tables.address(names).map_or(Ok(None), |place| Ok(memory.word(place)?.filter(|&word| word != 0)))
        };
        let call_stub = word_at(&[("StubRoutines", "_call_stub_return_address")])?.ok_or(Unknown::Starting)?;
        Ok(Layout {
            heaps,
            range: low..high,
            interpreter: interpreter(memory, tables)?,
            call_stub,
            barrier: word_at(&[("StubRoutines", "_cont_returnBarrier")])?,
            continued: word_at(&[("ContinuationEntry", "_return_pc")])?,
            blob,
            compiled,
            method: method(tables)?,
            bytecode: if version.feature <= 8 { 7 } else { 8 },
            excluded: u8::from(version.feature >= 20),
            place_size,
            place_code: must(&[("PcDesc", "_pc_offset")], "PcDesc::_pc_offset")?,
            place_scope: must(&[("PcDesc", "_scope_decode_offset")], "PcDesc::_scope_decode_offset")?,
        })
    }

    /// The heap that an address lies in.
    pub fn heap(&self, address: u64) -> Option<&Heap> {
        self.heaps.all.iter().find(|heap| heap.range.contains(&address))
    }
}

fn interpreter(memory: &impl Memory, tables: &Tables) -> Result<Range<u64>, Unknown> {
    const WHAT: Unknown = Unknown::Missing("AbstractInterpreter::_code");
    let place = tables.address(&[("AbstractInterpreter", "_code")]).ok_or(WHAT)?;
    let queue = memory.word(place)?.filter(|&queue| queue != 0).ok_or(Unknown::Starting)?;
    let buffer = tables.offset(&[("StubQueue", "_stub_buffer")]).ok_or(WHAT)?;
    let limit = tables.offset(&[("StubQueue", "_buffer_limit")]).ok_or(WHAT)?;
    let words = memory.words(&[queue.wrapping_add(buffer), queue.wrapping_add(limit)])?;
    let (Some(Some(start)), Some(Some(limit))) = (words.first(), words.get(1)) else { return Err(WHAT) };
    Ok(*start..start.saturating_add(u64::from(*limit as u32).min(1 << 26)))
}

fn blob(tables: &Tables) -> Result<BlobFields, Unknown> {
    let must = |names: &[(&str, &str)], what| Field::must(tables, names, what);
    let header = tables.size("HeapBlock").filter(|size| (4..=64).contains(size));
    let address = Field::find(tables, &[("CodeBlob", "_code_begin")]);
    let code = match address {
        Some(code) => code,
        None => must(&[("CodeBlob", "_code_offset")], "CodeBlob::_code_offset")?,
    };
    let mut used = must(&[("HeapBlock::Header", "_used")], "HeapBlock::Header::_used")?;
    used.width = Width::Byte;
    Ok(BlobFields {
        header: header.ok_or(Unknown::Missing("the size of HeapBlock"))?,
        used,
        // Most of what is there is of interest; the rest costs nothing.
        size_read: tables.size("nmethod").unwrap_or(512).clamp(128, MOST_HEADER) as usize,
        name: must(&[("CodeBlob", "_name")], "CodeBlob::_name")?,
        size: must(&[("CodeBlob", "_size")], "CodeBlob::_size")?,
        frame_size: must(&[("CodeBlob", "_frame_size")], "CodeBlob::_frame_size")?,
        frame_complete: must(&[("CodeBlob", "_frame_complete_offset")], "CodeBlob::_frame_complete_offset")?,
        code,
        code_is_address: address.is_some(),
        end: Field::find(tables, &[("CodeBlob", "_code_end")])
            .map(|field| (field, true))
            .or_else(|| Some((Field::find(tables, &[("CodeBlob", "_data_offset")])?, false))),
    })
}

fn compiled(tables: &Tables) -> Result<CompiledFields, Unknown> {
    let find = |names: &[(&str, &str)]| Field::find(tables, names);
    let must = |names: &[(&str, &str)], what| Field::must(tables, names, what);
    let mut level = must(&[("nmethod", "_comp_level")], "nmethod::_comp_level")?;
    level.width = Width::Byte;
    let entry = find(&[("nmethod", "_verified_entry_point")]).map(|field| (field, true));
    let entry = entry.or_else(|| Some((find(&[("nmethod", "_verified_entry_offset")])?, false)));
    let addresses = ["_deopt_handler_begin", "_deopt_mh_handler_begin"].map(|name| ("CompiledMethod", name));
    let offsets = ["_deoptimize_offset", "_deoptimize_mh_offset", "_deopt_handler_offset", "_deopt_mh_handler_offset"];
    let handlers = addresses.into_iter().filter_map(|name| Some((find(&[name])?, true)));
    let handlers = handlers.chain(offsets.into_iter().filter_map(|name| Some((find(&[("nmethod", name)])?, false))));
    Ok(CompiledFields {
        method: must(&[("CompiledMethod", "_method"), ("nmethod", "_method")], "nmethod::_method")?,
        level,
        id: must(&[("nmethod", "_compile_id")], "nmethod::_compile_id")?,
        state: find(&[("nmethod", "_state")]).map(Field::byte),
        entry_at: find(&[("nmethod", "_entry_bci")]),
        entry,
        original: find(&[("nmethod", "_orig_pc_offset")]),
        handlers: handlers.collect(),
        scopes: scopes(tables)?,
    })
}

fn scopes(tables: &Tables) -> Result<Scopes, Unknown> {
    const WHAT: &str = "the notes of compiled methods";
    let find = |names: &[(&str, &str)]| Field::find(tables, names);
    let must = |names: &[(&str, &str)]| Field::must(tables, names, WHAT);
    let places = must(&[("nmethod", "_scopes_pcs_offset")])?;
    if let Some(data) = find(&[("nmethod", "_immutable_data")]) {
        let methods = match find(&[("CodeBlob", "_mutable_data")]) {
            Some(data) => Methods::Piece { data, before: must(&[("CodeBlob", "_relocation_size")])? },
            None => Methods::Block {
                data: must(&[("CodeBlob", "_data_offset")])?,
                at: must(&[("nmethod", "_metadata_offset")])?,
            },
        };
        return Ok(Scopes::Outside { data, places, texts: must(&[("nmethod", "_scopes_data_offset")])?, methods });
    }
    let address = find(&[("CompiledMethod", "_scopes_data_begin")]);
    Ok(Scopes::Inside {
        places,
        end: must(&[("nmethod", "_dependencies_offset")])?,
        texts: address.map_or_else(|| must(&[("nmethod", "_scopes_data_offset")]), Ok)?,
        texts_are_address: address.is_some(),
        methods: must(&[("nmethod", "_metadata_offset")])?,
    })
}

fn method(tables: &Tables) -> Result<MethodFields, Unknown> {
    let find = |names: &[(&str, &str)]| Field::find(tables, names);
    let must = |names: &[(&str, &str)], what| Field::must(tables, names, what);
    let at = |names: &[(&str, &str)], what| tables.offset(names).ok_or(Unknown::Missing(what));
    let size =
        |name: &str, what| tables.size(name).filter(|size| (8..=512).contains(size)).ok_or(Unknown::Missing(what));
    // Up to version 10 or so the length of a name shares its word.
    let length = find(&[("Symbol", "_length")]);
    let (symbol_length, symbol_shift) = match length {
        Some(length) => (length, 0),
        None => (must(&[("Symbol", "_length_and_refcount")], "Symbol::_length")?, 16),
    };
    Ok(MethodFields {
        constant: at(&[("Method", "_constMethod")], "Method::_constMethod")?,
        size: size("ConstMethod", "the size of ConstMethod")?,
        constants: must(&[("ConstMethod", "_constants")], "ConstMethod::_constants")?,
        name: must(&[("ConstMethod", "_name_index")], "ConstMethod::_name_index")?,
        code_size: must(&[("ConstMethod", "_code_size")], "ConstMethod::_code_size")?,
        flags: find(&[("ConstMethod", "_flags._flags"), ("ConstMethod", "_flags")]),
        status: status(tables),
        has_lines: tables.constant("ConstMethod::_has_linenumber_table").unwrap_or(1),
        pool_size: size("ConstantPool", "the size of ConstantPool")?,
        holder: at(&[("ConstantPool", "_pool_holder")], "ConstantPool::_pool_holder")?,
        class_name: at(&[("Klass", "_name")], "Klass::_name")?,
        file_of_pool: find(&[("ConstantPool", "_source_file_name_index")]),
        file_of_class: find(&[("InstanceKlass", "_source_file_name_index")]),
        symbol_length,
        symbol_shift,
        symbol_body: at(&[("Symbol", "_body"), ("Symbol", "_body[0]")], "Symbol::_body")?,
    })
}

fn status(tables: &Tables) -> Option<Status> {
    const OLD: (u32, u32, u32) = (1 << 24, 1 << 26, 1 << 25);
    const NEW: (u32, u32, u32) = (1 << 7, 1 << 9, 1 << 8);
    let is_old = tables.constant("JVM_ACC_NOT_C2_OSR_COMPILABLE") == Some(1 << 27);
    let (at, (queued, not_c1, not_c2)) = match is_old {
        true => (tables.offset(&[("Method", "_access_flags")])?, OLD),
        // The tables do not name them; they come just before the number of the intrinsic.
        false => (tables.offset(&[("Method", "_intrinsic_id")])?.checked_sub(4)?, NEW),
    };
    let is_known = is_old || tables.kind("Method", "_flags").is_none();
    (is_known && at.is_multiple_of(4)).then_some(Status { at, queued, not_c1, not_c2 })
}

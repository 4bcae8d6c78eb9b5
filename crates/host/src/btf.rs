//! What the kernel says of its types (BTF: Documentation/bpf/btf.rst), read once for all eBPF objects.
//!
//! libbpf reads all of it for each object, some 150,000 types, and looks through them for each structure that a program refers to. Here one pass makes
//! an index by name, and [`Types::part`] writes a small description with what an object refers to, which libbpf takes instead.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Kinds of types, include/uapi/linux/btf.h.
mod kind {
    pub const INT: u32 = 1;
    pub const PTR: u32 = 2;
    pub const ARRAY: u32 = 3;
    pub const STRUCT: u32 = 4;
    pub const UNION: u32 = 5;
    pub const ENUM: u32 = 6;
    pub const FWD: u32 = 7;
    pub const TYPEDEF: u32 = 8;
    pub const VOLATILE: u32 = 9;
    pub const CONST: u32 = 10;
    pub const RESTRICT: u32 = 11;
    pub const FUNC: u32 = 12;
    pub const FUNC_PROTO: u32 = 13;
    pub const VAR: u32 = 14;
    pub const DATASEC: u32 = 15;
    pub const FLOAT: u32 = 16;
    pub const DECL_TAG: u32 = 17;
    pub const TYPE_TAG: u32 = 18;
    pub const ENUM64: u32 = 19;
}

/// `BTF_MAGIC`, version 1, no flags: of a machine of this byte order.
const HEAD: [u8; 4] = [0x9f, 0xeb, 1, 0];
const HEADER: usize = 24;
/// Bytes of `struct btf_type`.
const TYPE: usize = 12;

/// A description of types, in the kernel's form.
pub(crate) struct Types {
    bytes: Vec<u8>,
    /// Where strings lie in `bytes`.
    strings: std::ops::Range<usize>,
    /// Where each type lies in `bytes`; the first has number 1.
    offsets: Vec<u32>,
}

impl Types {
    /// Reads a description; `None` where it is not one that is understood, or is of another byte order.
    pub fn parse(bytes: Vec<u8>) -> Option<Self> {
        if cfg!(target_endian = "big") || bytes.get(..4)? != HEAD {
            return None;
        }
        let header = word(&bytes, 4)? as usize;
        let part = |offset: usize, length: usize| -> Option<std::ops::Range<usize>> {
            let from = header.checked_add(word(&bytes, offset)? as usize)?;
            let to = from.checked_add(word(&bytes, length)? as usize)?;
            (to <= bytes.len()).then_some(from..to)
        };
        let (types, strings) = (part(8, 12)?, part(16, 20)?);
        let mut offsets = Vec::with_capacity(types.len() / 24);
        let mut at = types.start;
        while at < types.end {
            offsets.push(u32::try_from(at).ok()?);
            at = at.checked_add(TYPE + more(word(&bytes, at + 4)?)?)?;
        }
        if at != types.end {
            return None;
        }
        offsets.shrink_to_fit();
        Some(Types { bytes, strings, offsets })
    }

    /// All that can be asked for by name, without what tells variants apart: structures, unions, enumerations, names of types, and functions that
    /// start an iterator.
    fn named(&self) -> impl Iterator<Item = (&[u8], u32)> {
        (1u32..).zip(&self.offsets).filter_map(|(number, &offset)| {
            let wanted = match kind_of(word(&self.bytes, offset as usize + 4)?) {
                kind::STRUCT | kind::UNION | kind::ENUM | kind::ENUM64 | kind::TYPEDEF => true,
                kind::FUNC => self.name(offset)?.starts_with(b"bpf_iter_"),
                _ => false,
            };
            let name = self.name(offset).filter(|name| wanted && !name.is_empty())?;
            Some((essential(name), number))
        })
    }

    /// Whether anything has this name: a type, a member, a value, an argument.
    pub fn has_name(&self, name: &str) -> bool {
        let strings = self.bytes.get(self.strings.clone()).unwrap_or_default();
        let pattern = [b"\0", name.as_bytes(), b"\0"].concat();
        memchr::memmem::find(strings, &pattern).is_some()
    }

    /// The names of the types that this description (of an object) refers to.
    pub fn roots(&self) -> HashSet<&[u8]> {
        self.named().map(|(name, _)| name).collect()
    }

    fn offset(&self, number: u32) -> Option<u32> {
        self.offsets.get(number.checked_sub(1)? as usize).copied()
    }

    fn name(&self, offset: u32) -> Option<&[u8]> {
        self.string(word(&self.bytes, offset as usize)?)
    }

    fn string(&self, at: u32) -> Option<&[u8]> {
        let rest = self.bytes.get(self.strings.clone())?.get(at as usize..)?;
        rest.get(..memchr::memchr(0, rest)?)
    }

    /// The type with what follows it.
    fn record(&self, number: u32) -> Option<&[u8]> {
        let offset = self.offset(number)? as usize;
        self.bytes.get(offset..offset + TYPE + more(word(&self.bytes, offset + 4)?)?)
    }
}

/// A description that is asked for many names.
pub(crate) struct Indexed {
    types: Types,
    /// Hashes of names and numbers, ascending.
    index: Vec<(u64, u32)>,
}

fn hash(name: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

impl Indexed {
    /// Makes the index.
    pub fn new(types: Types) -> Self {
        let mut index: Vec<(u64, u32)> = types.named().map(|(name, number)| (hash(name), number)).collect();
        index.sort_unstable();
        Indexed { types, index }
    }

    /// Whether anything has this name: a type, a member, a value, an argument.
    pub fn has_name(&self, name: &str) -> bool {
        self.types.has_name(name)
    }

    /// The numbers of what has this name, ascending.
    fn all(&self, name: &[u8]) -> impl Iterator<Item = u32> {
        let hash = hash(name);
        let from = self.index.partition_point(|&(h, _)| h < hash);
        let same = self.index.get(from..).unwrap_or_default().iter().take_while(move |&&(h, _)| h == hash);
        same.map(|&(_, number)| number).filter(move |&number| {
            self.types.offset(number).and_then(|offset| self.types.name(offset)).is_some_and(|n| essential(n) == name)
        })
    }

    /// The number of the function or of the name of a type that is called so.
    pub fn find(&self, name: &str, function: bool) -> Option<u32> {
        let wanted = if function { kind::FUNC } else { kind::TYPEDEF };
        self.all(essential(name.as_bytes())).find(|&number| {
            self.types.offset(number).is_some_and(|offset| {
                let info = word(&self.types.bytes, offset as usize + 4).unwrap_or(0);
                kind_of(info) == wanted && self.types.name(offset) == Some(name.as_bytes())
            })
        })
    }

    /// How many arguments a tracepoint gives: those of the function type that `btf_trace_NAME` points to, without the first, which is the tracepoint's own.
    pub fn arguments(&self, tracepoint: &str) -> Option<usize> {
        let named = self.find(&format!("btf_trace_{tracepoint}"), false)?;
        let info = |record: &[u8]| word(record, 4);
        let pointer = self.types.record(word(self.types.record(named)?, 8)?)?;
        if kind_of(info(pointer)?) != kind::PTR {
            return None;
        }
        let function = info(self.types.record(word(pointer, 8)?)?)?;
        (kind_of(function) == kind::FUNC_PROTO).then(|| count(function).saturating_sub(1))
    }

    /// A description of the types with these names and of what they are made of. Pointers point to nothing: what they point to is
    /// described only where it is asked for too.
    pub fn part(&self, names: &HashSet<&[u8]>) -> Option<Vec<u8>> {
        let mut part = Part { of: &self.types, numbers: HashMap::new(), order: Vec::new() };
        let mut roots: Vec<u32> = names.iter().flat_map(|name| self.all(name)).collect();
        // The order of candidates stays that of the kernel.
        roots.sort_unstable();
        roots.into_iter().for_each(|number| part.add(number));
        part.write()
    }
}

/// What is written of a description.
struct Part<'a> {
    of: &'a Types,
    /// Numbers here, by numbers there.
    numbers: HashMap<u32, u32>,
    order: Vec<u32>,
}

impl Part<'_> {
    /// Adds a type and all that lies in it.
    fn add(&mut self, number: u32) {
        let mut left = vec![number];
        while let Some(number) = left.pop() {
            if number == 0 || self.numbers.contains_key(&number) {
                continue;
            }
            let Some(record) = self.of.record(number) else { continue };
            self.order.push(number);
            self.numbers.insert(number, self.order.len() as u32);
            for place in references(record) {
                left.extend(word(record, place));
            }
        }
    }

    fn write(&self) -> Option<Vec<u8>> {
        let (mut types, mut strings, mut places) = (Vec::new(), vec![0u8], HashMap::new());
        for number in &self.order {
            let mut record = self.of.record(*number)?.to_vec();
            for place in names(&record) {
                let at = word(&record, place)?;
                let name = self.of.string(at)?;
                let new = *places.entry(at).or_insert_with(|| {
                    if name.is_empty() {
                        return 0;
                    }
                    let new = strings.len() as u32;
                    strings.extend_from_slice(name);
                    strings.push(0);
                    new
                });
                put(&mut record, place, new)?;
            }
            if kind_of(word(&record, 4)?) == kind::PTR {
                put(&mut record, 8, 0)?;
            }
            for place in references(&record) {
                let new = *self.numbers.get(&word(&record, place)?).unwrap_or(&0);
                put(&mut record, place, new)?;
            }
            types.extend(record);
        }
        let mut bytes = HEAD.to_vec();
        let lengths = [HEADER, 0, types.len(), types.len(), strings.len()];
        bytes.extend(lengths.iter().flat_map(|&length| (length as u32).to_le_bytes()));
        bytes.extend(types);
        bytes.extend(strings);
        Some(bytes)
    }
}

/// Where in a record lie the numbers of types that belong to it.
fn references(record: &[u8]) -> Vec<usize> {
    let info = word(record, 4).unwrap_or(0);
    let members = |size: usize, at: usize| (0..count(info)).map(move |i| TYPE + i * size + at);
    match kind_of(info) {
        kind::ARRAY => vec![TYPE, TYPE + 4],
        kind::STRUCT | kind::UNION => members(12, 4).collect(),
        kind::TYPEDEF | kind::VOLATILE | kind::CONST | kind::RESTRICT | kind::TYPE_TAG => vec![8],
        _ => Vec::new(),
    }
}

/// Where in a record lie names.
fn names(record: &[u8]) -> Vec<usize> {
    let info = word(record, 4).unwrap_or(0);
    let size = match kind_of(info) {
        kind::STRUCT | kind::UNION | kind::ENUM64 => 12,
        kind::ENUM => 8,
        _ => return vec![0],
    };
    [0].into_iter().chain((0..count(info)).map(|i| TYPE + i * size)).collect()
}

/// Bytes after `struct btf_type`.
fn more(info: u32) -> Option<usize> {
    Some(match kind_of(info) {
        kind::PTR | kind::FWD | kind::TYPEDEF | kind::VOLATILE | kind::CONST | kind::RESTRICT => 0,
        kind::FUNC | kind::FLOAT | kind::TYPE_TAG => 0,
        kind::INT | kind::VAR | kind::DECL_TAG => 4,
        kind::ARRAY => 12,
        kind::STRUCT | kind::UNION | kind::DATASEC | kind::ENUM64 => 12 * count(info),
        kind::ENUM | kind::FUNC_PROTO => 8 * count(info),
        // A kind of later kernels, whose length is not known.
        _ => return None,
    })
}

fn kind_of(info: u32) -> u32 {
    info >> 24 & 0x1f
}

fn count(info: u32) -> usize {
    (info & 0xffff) as usize
}

/// A name without what follows three underscores: programs call variants of one structure so (`bpf_core_essential_name_len` of libbpf).
fn essential(name: &[u8]) -> &[u8] {
    match memchr::memmem::rfind(name, b"___") {
        Some(at) if at > 0 => name.get(..at).unwrap_or(name),
        _ => name,
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk::<4>().map(|bytes| u32::from_le_bytes(*bytes))
}

fn put(bytes: &mut [u8], at: usize, value: u32) -> Option<()> {
    bytes.get_mut(at..)?.first_chunk_mut::<4>().map(|place| *place = value.to_le_bytes())
}

/// Whether an object has places that depend on the kernel's types: its section `.BTF.ext` lists relocations of CO-RE, whose length is at 28.
pub(crate) fn is_relocated(object: &[u8]) -> bool {
    section(object, b".BTF.ext").and_then(|extension| word(extension, 28)) != Some(0)
}

/// A section of an ELF file of 64 bits, as clang writes it for eBPF.
pub(crate) fn section<'a>(object: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let half = |at: usize| object.get(at..)?.first_chunk::<2>().map(|b| usize::from(u16::from_le_bytes(*b)));
    let long =
        |at: usize| object.get(at..)?.first_chunk::<8>().and_then(|b| usize::try_from(u64::from_le_bytes(*b)).ok());
    // e_ident: 64 bits, little end first.
    if object.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let (headers, size, number, names) = (long(40)?, half(58)?, half(60)?, half(62)?);
    let header = |at: usize| headers.checked_add(at.checked_mul(size)?);
    let content = |header: usize| -> Option<&[u8]> {
        let from = long(header.checked_add(24)?)?;
        object.get(from..from.checked_add(long(header.checked_add(32)?)?)?)
    };
    let names = content(header(names)?)?;
    let of = |name: usize| names.get(name..).and_then(|rest| rest.get(..memchr::memchr(0, rest)?));
    let found =
        (0..number).filter_map(header).find(|&at| word(object, at).and_then(|n| of(n as usize)) == Some(name))?;
    content(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Types: 1 int, 2 struct a { int x; struct b *p; } , 3 ptr to 4, 4 struct b { int y; }, 5 typedef btf_trace_t → int.
    fn description() -> Vec<u8> {
        let strings = b"\0int\0a\0x\0p\0b\0y\0btf_trace_t\0";
        let at = |name: &str| {
            let pattern = format!("\0{name}\0");
            memchr::memmem::find(strings, pattern.as_bytes()).unwrap() as u32 + 1
        };
        let words = [
            vec![at("int"), kind::INT << 24, 4, 32],
            vec![at("a"), kind::STRUCT << 24 | 2, 16, at("x"), 1, 0, at("p"), 3, 64],
            vec![0, kind::PTR << 24, 4],
            vec![at("b"), kind::STRUCT << 24 | 1, 4, at("y"), 1, 0],
            vec![at("btf_trace_t"), kind::TYPEDEF << 24, 1],
        ];
        let types: Vec<u8> = words.concat().iter().flat_map(|word: &u32| word.to_le_bytes()).collect();
        let lengths = [HEADER, 0, types.len(), types.len(), strings.len()];
        let mut bytes = HEAD.to_vec();
        bytes.extend(lengths.iter().flat_map(|&length| (length as u32).to_le_bytes()));
        bytes.extend(types);
        bytes.extend(strings);
        bytes
    }

    #[test]
    fn a_part_holds_what_was_asked_for() {
        let types = Indexed::new(Types::parse(description()).unwrap());
        assert_eq!(types.find("btf_trace_t", false), Some(5));
        assert_eq!(types.find("btf_trace_t", true), None);
        assert!(types.has_name("y") && !types.has_name("yy"));
        let part = Types::parse(types.part(&HashSet::from([b"a".as_slice(), b"none"])).unwrap()).unwrap();
        assert_eq!(part.offsets.len(), 3, "the structure, the number, the pointer");
        let named: Vec<_> = part.named().collect();
        assert_eq!(named, [(b"a".as_slice(), 1)]);
        let record = part.record(1).unwrap();
        let member = |at: usize| part.string(word(record, at).unwrap()).unwrap();
        assert_eq!([member(12), member(24)], [b"x", b"p"]);
        let pointer = part.record(word(record, 28).unwrap()).unwrap();
        assert_eq!((kind_of(word(pointer, 4).unwrap()), word(pointer, 8)), (kind::PTR, Some(0)));
    }

    #[test]
    fn variants_have_one_name() {
        assert_eq!(essential(b"task_struct___before_5_14"), b"task_struct");
        assert_eq!(essential(b"___x"), b"___x");
    }

    #[test]
    fn what_is_damaged_is_refused_without_harm() {
        let whole = description();
        for length in 0..whole.len() {
            assert!(Types::parse(whole[..length].to_vec()).is_none());
        }
        for at in 0..whole.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] = value;
                if let Some(types) = Types::parse(bytes) {
                    let all = types.roots().into_iter().map(<[u8]>::to_vec).collect::<Vec<_>>();
                    Indexed::new(types).part(&all.iter().map(Vec::as_slice).collect());
                }
            }
            section(&whole[at..], b".BTF");
            assert!(is_relocated(&whole[at..]), "what is not understood may be");
        }
    }

    #[test]
    fn the_running_kernel_is_understood() {
        let Ok(bytes) = std::fs::read("/sys/kernel/btf/vmlinux") else {
            eprintln!("SKIPPED: the types of the running kernel: /sys/kernel/btf/vmlinux is not there");
            return;
        };
        let size = bytes.len();
        let types = Indexed::new(Types::parse(bytes).unwrap());
        assert!(types.find("btf_trace_sched_switch", false).is_some());
        assert!(types.find("bpf_iter_task", true).is_some());
        assert_eq!(types.arguments("sched_process_exec"), Some(3));
        assert_eq!(types.arguments("no_such_tracepoint"), None);
        let part = types.part(&HashSet::from([b"task_struct".as_slice()])).unwrap();
        assert!(part.len() < size / 10, "{} of {size}", part.len());
        assert!(Types::parse(part).unwrap().has_name("sum_exec_runtime"));
    }
}

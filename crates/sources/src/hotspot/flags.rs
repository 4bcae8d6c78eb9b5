//! What a JVM's options came to, those too that nobody gave: how large the heap may be, which collector, how many threads it and the compilers have
//! (`jvmFlag.hpp`: `JVMFlag`; up to 9 `Flag` of `globals.hpp`).

use super::{Unknown, Way};
use crate::memory::{Memory, Trouble};

/// More flags than any version has.
const MOST_FLAGS: u64 = 8192;
/// The types by their numbers, since 16 (`JVM_FLAG_TYPE` of `jvmFlag.hpp`); before they are texts.
const TYPES: [&str; 10] =
    ["bool", "int", "uint", "intx", "uintx", "uint64_t", "size_t", "double", "ccstr", "ccstrlist"];
/// Flags that are not at their default; more there are in no JVM.
const MOST_SET: usize = 512;

/// Who gave a flag its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    CommandLine,
    Environment,
    File,
    Management,
    Ergonomic,
    Attach,
    Internal,
}

impl Origin {
    /// By its number (`JVMFlagOrigin`); `None` for the default.
    fn of(number: u64) -> Option<Self> {
        Some(match number {
            1 => Origin::CommandLine,
            2 => Origin::Environment,
            3 => Origin::File,
            4 => Origin::Management,
            5 => Origin::Ergonomic,
            6 => Origin::Attach,
            7 | 8 => Origin::Internal,
            _ => return None,
        })
    }

    /// In words, as `-XX:+PrintFlagsFinal` has them.
    pub fn name(self) -> &'static str {
        match self {
            Origin::CommandLine => "command line",
            Origin::Environment => "environment",
            Origin::File => "config file",
            Origin::Management => "management",
            Origin::Ergonomic => "ergonomic",
            Origin::Attach => "attach",
            Origin::Internal => "internal",
        }
    }
}

/// A flag that is not at its default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Flag {
    pub name: String,
    /// `true`, `-1`, `4294967296`, a text.
    pub value: String,
    pub origin: Origin,
    /// Whether it is a text, such as a path.
    pub is_text: bool,
}

/// The flags that somebody gave a value: the command line, the environment, or the JVM itself for what it found.
///
/// # Errors
/// The JVM does not tell where they are.
pub(crate) fn set(memory: &impl Memory, way: &Way) -> Result<Vec<Flag>, Unknown> {
    const WHAT: Unknown = Unknown::Missing("its flags");
    let tables = &way.tables;
    let owner = if tables.address(&[("JVMFlag", "flags")]).is_some() { "JVMFlag" } else { "Flag" };
    let address = |field: &str| tables.address(&[(owner, field)]).ok_or(WHAT);
    let offset = |field: &str| tables.offset(&[(owner, field)]).ok_or(WHAT);
    let size = tables.size(owner).filter(|size| (8..=512).contains(size)).ok_or(WHAT)?;
    let (name, value, flags, kind) = (offset("_name")?, offset("_addr")?, offset("_flags")?, offset("_type")?);
    let is_number = tables.kind(owner, "_type").is_some_and(|kind| !kind.contains('*'));
    let words = memory.words(&[address("flags")?, address("numFlags")?])?;
    let [first, count] = [0, 1].map(|at: usize| words.get(at).copied().flatten().unwrap_or(0));
    let mut bytes = vec![0; usize::try_from(count.min(MOST_FLAGS) * size).unwrap_or(0)];
    let read = memory.some(first, &mut bytes)?;
    bytes.truncate(read);
    let mut found = Vec::new();
    for entry in bytes.chunks_exact(usize::try_from(size).unwrap_or(usize::MAX)) {
        let word = |offset: u64| {
            let bytes = usize::try_from(offset).ok().and_then(|offset| entry.get(offset..)?.first_chunk::<8>());
            bytes.map_or(0, |bytes| u64::from_ne_bytes(*bytes))
        };
        let half = |offset: u64| {
            let bytes = usize::try_from(offset).ok().and_then(|offset| entry.get(offset..)?.first_chunk::<4>());
            bytes.map_or(0, |bytes| u32::from_ne_bytes(*bytes))
        };
        let Some(origin) = Origin::of(u64::from(half(flags) & 0xf)) else { continue };
        if found.len() >= MOST_SET {
            break;
        }
        let Some(name) = memory.text(word(name))?.filter(|name| is_name(name)) else { continue };
        let kind = match is_number {
            true => TYPES.get(half(kind) as usize).map(|kind| (*kind).to_owned()),
            false => memory.text(word(kind))?,
        };
        let Some(kind) = kind else { continue };
        if let Some(value) = read_value(memory, &kind, word(value))? {
            found.push(Flag { name, value, origin, is_text: kind.starts_with("ccstr") });
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

fn read_value(memory: &impl Memory, kind: &str, place: u64) -> Result<Option<String>, Trouble> {
    let Some(word) = memory.word(place & !7)? else { return Ok(None) };
    // A flag of one byte may be the last of its page.
    let shifted = word >> ((place & 7) * 8);
    let whole = if place.is_multiple_of(8) { Some(word) } else { memory.word(place)? };
    Ok(match kind {
        "bool" => Some(if shifted & 0xff != 0 { "true" } else { "false" }.to_owned()),
        "int" => Some((shifted as u32 as i32).to_string()),
        "uint" => Some((shifted as u32).to_string()),
        "intx" => whole.map(|word| (word as i64).to_string()),
        "uintx" | "uint64_t" | "size_t" => whole.map(|word| word.to_string()),
        "double" => whole.map(|word| f64::from_bits(word).to_string()),
        "ccstr" | "ccstrlist" => match whole {
            Some(text) if text != 0 => memory.text(text)?.filter(|text| !text.chars().any(char::is_control)),
            _ => None,
        },
        _ => None,
    })
}

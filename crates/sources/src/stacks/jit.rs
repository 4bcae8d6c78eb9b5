//! Code that is made while a program runs: what its maker says of it, in a map (`/tmp/perf-PID.map`, tools/perf/Documentation/jit-interface.txt)
//! or in a dump (tools/perf/Documentation/jitdump-specification.txt).

use super::demangle;
use super::kernel::hexadecimal;
use super::name::Kind;
use std::ops::Range;
use std::sync::Arc;

/// The largest file that is read, bytes.
pub(super) const LARGEST: u64 = 256 << 20;

/// A function, as its maker calls it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Function {
    pub name: Arc<str>,
    /// The script that it is of, or `[jit]`.
    pub module: Arc<str>,
    /// File and line, where its maker tells them.
    pub source: Option<Arc<str>>,
}

impl Function {
    fn new(name: &str, jit: &Arc<str>) -> Self {
        match demangle::javascript(name) {
            Some((name, file, line)) => {
                let source = format!("{}:{line}", file.rsplit('/').next().unwrap_or_default());
                Function { name: name.into(), module: file.into(), source: Some(source.into()) }
            }
            None => {
                let name = demangle::java(&demangle::symbol(name)).into();
                Function { name, module: Arc::clone(jit), source: None }
            }
        }
    }
}

/// Functions by address.
#[derive(Debug, Default)]
pub(super) struct Map {
    /// Start, end and function, ascending, without overlaps.
    functions: Vec<(u64, u64, Function)>,
}

impl Map {
    /// Reads lines `start length name`, both numbers hexadecimal. Of what overlaps, the later line holds: code was replaced.
    pub(super) fn parse(text: &[u8]) -> Self {
        let line = |line: &[u8]| {
            let mut words = line.splitn(3, |&b| b == b' ');
            let number = |word: &[u8]| hexadecimal(word.strip_prefix(b"0x").unwrap_or(word));
            let (start, length) = (number(words.next()?)?, number(words.next()?)?);
            let name = String::from_utf8_lossy(words.next()?.trim_ascii()).into_owned();
            (!name.is_empty()).then_some((start, start.checked_add(length)?, name))
        };
        Self::of(text.split(|&b| b == b'\n').filter_map(line).collect())
    }

    /// Reads the records of a dump. What comes after one that makes no sense is left out.
    pub(super) fn parse_dump(bytes: &[u8]) -> Self {
        Self::of(dump(bytes).unwrap_or_default())
    }

    /// Functions in the order in which they were made.
    fn of(made: Vec<(u64, u64, String)>) -> Self {
        let mut functions: Vec<(u64, u64, usize)> =
            made.iter().enumerate().filter(|(_, f)| f.1 > f.0).map(|(at, f)| (f.0, f.1, at)).collect();
        functions.sort_unstable();
        let mut kept: Vec<(u64, u64, usize)> = Vec::with_capacity(functions.len());
        for function in functions {
            // Of two that overlap, the one that was made later is there now.
            while let Some(&last) = kept.last()
                && last.1 > function.0
                && last.2 < function.2
            {
                kept.pop();
            }
            if kept.last().is_none_or(|last| last.1 <= function.0) {
                kept.push(function);
            }
        }
        let jit = Arc::from("[jit]");
        let named = kept.into_iter().filter_map(|(start, end, at)| {
            let (_, _, name) = made.get(at)?;
            Some((start, end, Function::new(name, &jit)))
        });
        Map { functions: named.collect() }
    }

    /// The function at an address, and from where to where it reaches.
    pub(super) fn range(&self, address: u64) -> Option<(Range<u64>, &Function)> {
        let at = self.functions.partition_point(|f| f.0 <= address).checked_sub(1)?;
        let (start, end, function) = self.functions.get(at).filter(|f| address < f.1)?;
        Some((*start..*end, function))
    }

    /// The function at an address, and what kind of code it is.
    pub(super) fn function(&self, address: u64) -> Option<(&Function, Kind)> {
        let (_, function) = self.range(address)?;
        // HotSpot's interpreter is one piece of generated code.
        Some((function, if &*function.name == "Interpreter" { Kind::Interpreted } else { Kind::Jit }))
    }
}

fn dump(bytes: &[u8]) -> Option<Vec<(u64, u64, String)>> {
    let u32_at = |bytes: &[u8], at: usize| Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?));
    let u64_at = |bytes: &[u8], at: usize| Some(u64::from_ne_bytes(*bytes.get(at..)?.first_chunk()?));
    // "JiTD" in the byte order of this machine.
    if u32_at(bytes, 0)? != 0x4a69_5444 {
        return None;
    }
    let mut rest = bytes.get(u32_at(bytes, 8)? as usize..)?;
    let mut found = Vec::new();
    while let (Some(kind), Some(length)) = (u32_at(rest, 0), u32_at(rest, 4)) {
        let Some((record, after)) = rest.split_at_checked(length as usize).filter(|_| length >= 16) else { break };
        rest = after;
        // JIT_CODE_LOAD: pid, tid, vma, address, size, index, name, code.
        if kind != 0 {
            continue;
        }
        let (Some(address), Some(size), Some(name)) = (u64_at(record, 32), u64_at(record, 40), record.get(56..)) else {
            continue;
        };
        let name = name.split(|&b| b == 0).next().unwrap_or_default();
        if let Some(end) = address.checked_add(size) {
            found.push((address, end, String::from_utf8_lossy(name).into_owned()));
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn name(map: &Map, address: u64) -> Option<String> {
        map.function(address).map(|(function, _)| function.name.to_string())
    }

    #[test]
    fn maps_are_read() {
        let map = Map::parse(b"7f0000001000 40 int a.B.c(int)\n0x7f0000002000 0x10 LazyCompile:*f /srv/x.js:1:7\nbad\n7f0000001020 10 later\n7f0000003000 80 Interpreter\n");
        assert_eq!(name(&map, 0x7f00_0000_1025).as_deref(), Some("later"));
        let (function, kind) = map.function(0x7f00_0000_200f).unwrap();
        assert_eq!((&*function.name, &*function.module, kind), ("f", "/srv/x.js", Kind::Jit));
        assert_eq!(function.source.as_deref(), Some("x.js:1"));
        assert_eq!(name(&map, 0x7f00_0000_2010), None);
        assert_eq!(map.function(0x7f00_0000_3000).unwrap().1, Kind::Interpreted);
    }

    #[test]
    fn dumps_are_read() {
        let mut bytes = Vec::new();
        for word in [0x4a69_5444u32, 1, 40, 62, 0, 7, 0, 0, 0, 0] {
            bytes.extend(word.to_ne_bytes());
        }
        let mut record = Vec::new();
        for word in [7u32, 7] {
            record.extend(word.to_ne_bytes());
        }
        for word in [0x1000u64, 0x1000, 0x20, 1] {
            record.extend(word.to_ne_bytes());
        }
        record.extend(b"function\0\x90\x90");
        bytes.extend(0u32.to_ne_bytes());
        bytes.extend((16 + record.len() as u32).to_ne_bytes());
        bytes.extend(5u64.to_ne_bytes());
        bytes.extend(&record);
        assert_eq!(name(&Map::parse_dump(&bytes), 0x101f).as_deref(), Some("function"));
        for end in 0..bytes.len() {
            let _ = Map::parse_dump(&bytes[..end]);
        }
    }

    proptest! {
        #[test]
        fn foreign_bytes_never_panic(bytes: Vec<u8>, address: u64) {
            let _ = Map::parse(&bytes).function(address);
            let mut dump = 0x4a69_5444u32.to_ne_bytes().to_vec();
            dump.extend(&bytes);
            let _ = (Map::parse_dump(&bytes), Map::parse_dump(&dump).function(address));
        }
        #[test]
        fn lines_in_any_order(lines in prop::collection::vec((0u64..200, 0u64..50, "[a-z ]{0,4}"), 0..40), address in 0u64..300) {
            let text: String = lines.iter().map(|(start, length, name)| format!("{start:x} {length:x} {name}\n")).collect();
            let map = Map::parse(text.as_bytes());
            prop_assert!(map.functions.windows(2).all(|pair| pair[0].1 <= pair[1].0));
            let _ = map.function(address);
        }
    }
}

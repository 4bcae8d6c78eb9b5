//! Code that is made while a program runs: what its maker says of it, in a map (`/tmp/perf-PID.map`, tools/perf/Documentation/jit-interface.txt)
//! or in a dump (tools/perf/Documentation/jitdump-specification.txt).

use super::demangle;
use super::kernel::hexadecimal;
use super::name::Kind;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

/// Bytes that are read of a map: its end, where the newest code is.
const MOST_TEXT: u64 = 64 << 20;

/// Bytes that are read of a dump. It holds the code too, which is passed over.
const MOST_DUMP: u64 = 1 << 30;

/// Functions of one map at most: those that were made last.
const MOST_FUNCTIONS: usize = 1 << 20;

/// Bytes of a name at most.
const MOST_NAME: usize = 4096;

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

/// Functions by address. Names are kept as their maker wrote them: few of them are ever asked for.
#[derive(Debug)]
pub(super) struct Map {
    text: Vec<u8>,
    /// Ascending, without overlaps.
    functions: Vec<Made>,
    jit: Arc<str>,
}

/// A function that was made: its addresses, and where its name stands in the text.
#[derive(Clone, Copy, Debug)]
struct Made {
    start: u64,
    end: u64,
    name: u32,
    name_end: u32,
}

impl Map {
    /// Reads the end of a file of lines `start length name`, both numbers hexadecimal. Of what overlaps, the later line holds: code was
    /// replaced.
    pub(super) fn read(mut file: &File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        let from = length.saturating_sub(MOST_TEXT);
        file.seek(SeekFrom::Start(from))?;
        let mut text = Vec::with_capacity((length - from) as usize);
        file.take(MOST_TEXT).read_to_end(&mut text)?;
        if from > 0 {
            // It begins within a line, unless by chance.
            let line = memchr::memchr(b'\n', &text).map_or(text.len(), |end| end + 1);
            text.drain(..line);
        }
        Ok(Self::parse(text))
    }

    pub(super) fn parse(text: Vec<u8>) -> Self {
        let mut made = Vec::new();
        let mut at = text.len();
        // From the end, so that the newest are taken where there are too many.
        for line in text.rsplit(|&b| b == b'\n') {
            let begin = at - line.len();
            at = begin.saturating_sub(1);
            if made.len() == MOST_FUNCTIONS {
                break;
            }
            made.extend(Self::line(line, begin));
        }
        made.reverse();
        Self::of(text, made)
    }

    /// The function of a line that begins at `begin` of the text.
    fn line(line: &[u8], begin: usize) -> Option<Made> {
        let mut words = line.splitn(3, |&b| b == b' ');
        let number = |word: &[u8]| hexadecimal(word.strip_prefix(b"0x").unwrap_or(word));
        let (start, length) = (number(words.next()?)?, number(words.next()?)?);
        let name = words.next()?;
        let blank = name.len() - name.trim_ascii_start().len();
        let name_at = begin + line.len() - name.len() + blank;
        let name = name.trim_ascii();
        let [name_at, name_end] = [name_at, name_at + name.len().min(MOST_NAME)].map(u32::try_from);
        let made = Made { start, end: start.checked_add(length)?, name: name_at.ok()?, name_end: name_end.ok()? };
        (made.name_end > made.name).then_some(made)
    }

    /// Reads the records of a dump. What comes after one that makes no sense is left out.
    pub(super) fn read_dump(dump: impl Read) -> Self {
        let mut dump = BufReader::with_capacity(64 << 10, dump.take(MOST_DUMP));
        let (mut text, mut made) = (Vec::new(), Vec::new());
        // What was read before it ended counts.
        let _ = records(&mut dump, |start, end, name| {
            let begin = text.len();
            text.extend_from_slice(name);
            if let ([Ok(name), Ok(name_end)], true) = ([begin, text.len()].map(u32::try_from), !name.is_empty()) {
                made.push(Made { start, end, name, name_end });
            }
            (text.len() as u64) < MOST_TEXT && made.len() < MOST_FUNCTIONS
        });
        Self::of(text, made)
    }

    /// Functions in the order in which they were made.
    fn of(text: Vec<u8>, made: Vec<Made>) -> Self {
        let mut functions: Vec<(Made, u32)> = made.into_iter().filter(|f| f.end > f.start).zip(0..).collect();
        functions.sort_unstable_by_key(|(f, order)| (f.start, f.end, *order));
        let mut kept: Vec<(Made, u32)> = Vec::with_capacity(functions.len());
        for function in functions {
            // Of two that overlap, the one that was made later is there now.
            while let Some(last) = kept.last()
                && last.0.end > function.0.start
                && last.1 < function.1
            {
                kept.pop();
            }
            if kept.last().is_none_or(|last| last.0.end <= function.0.start) {
                kept.push(function);
            }
        }
        let functions = kept.into_iter().map(|(function, _)| function).collect();
        Map { text, functions, jit: Arc::from("[jit]") }
    }

    /// Bytes of memory that it takes.
    pub(super) fn size(&self) -> usize {
        self.text.capacity() + self.functions.capacity() * size_of::<Made>()
    }

    /// The function at an address, and from where to where it reaches.
    pub(super) fn range(&self, address: u64) -> Option<(Range<u64>, Function)> {
        let at = self.functions.partition_point(|f| f.start <= address).checked_sub(1)?;
        let made = self.functions.get(at).filter(|f| address < f.end)?;
        let name = self.text.get(made.name as usize..made.name_end as usize)?;
        Some((made.start..made.end, Function::new(&String::from_utf8_lossy(name), &self.jit)))
    }

    /// The function at an address, and what kind of code it is.
    pub(super) fn function(&self, address: u64) -> Option<(Function, Kind)> {
        let (_, function) = self.range(address)?;
        // HotSpot's interpreter is one piece of generated code.
        let kind = if &*function.name == "Interpreter" { Kind::Interpreted } else { Kind::Jit };
        Some((function, kind))
    }
}

/// Hands start, end and name of each function of a dump to `take`, for as long as it wants more.
fn records(dump: &mut impl BufRead, mut take: impl FnMut(u64, u64, &[u8]) -> bool) -> io::Result<()> {
    fn word(bytes: &[u8], at: usize) -> u32 {
        bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |word| u32::from_ne_bytes(*word))
    }
    fn pass(dump: &mut impl BufRead, bytes: u64) -> io::Result<()> {
        io::copy(&mut dump.take(bytes), &mut io::sink()).map(drop)
    }
    let mut head = [0; 16];
    dump.read_exact(&mut head)?;
    // "JiTD" in the byte order of this machine.
    if word(&head, 0) != 0x4a69_5444 {
        return Ok(());
    }
    pass(dump, u64::from(word(&head, 8)).saturating_sub(16))?;
    loop {
        dump.read_exact(&mut head)?;
        let (kind, length) = (word(&head, 0), u64::from(word(&head, 4)));
        let Some(mut left) = length.checked_sub(16) else { return Ok(()) };
        // JIT_CODE_LOAD: pid, tid, vma, address, size, index, name, code.
        let mut places = [0; 40];
        if kind == 0 && left >= 40 {
            dump.read_exact(&mut places)?;
            left -= 40;
            let mut name = Vec::new();
            left -= dump.take(left.min(MOST_NAME as u64)).read_until(0, &mut name)? as u64;
            let long = |at: usize| u64::from(word(&places, at)) | u64::from(word(&places, at + 4)) << 32;
            let (address, size) = (long(16), long(24));
            let name = name.strip_suffix(&[0]).unwrap_or(&name);
            if let Some(end) = address.checked_add(size)
                && !take(address, end, name)
            {
                return Ok(());
            }
        }
        pass(dump, left)?;
    }
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
        let map = Map::parse(b"7f0000001000 40 int a.B.c(int)\n0x7f0000002000 0x10 LazyCompile:*f /srv/x.js:1:7\nbad\n7f0000001020 10 later\n7f0000003000 80 Interpreter\n".to_vec());
        assert_eq!(name(&map, 0x7f00_0000_1025).as_deref(), Some("later"));
        let (function, kind) = map.function(0x7f00_0000_200f).unwrap();
        assert_eq!((&*function.name, &*function.module, kind), ("f", "/srv/x.js", Kind::Jit));
        assert_eq!(function.source.as_deref(), Some("x.js:1"));
        assert_eq!(name(&map, 0x7f00_0000_2010), None);
        assert_eq!(map.function(0x7f00_0000_3000).unwrap().1, Kind::Interpreted);
    }

    #[test]
    fn of_a_map_that_is_too_long_the_end_is_read() {
        let mut file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut file, b"1000 10 first\n").unwrap();
        file.set_len(MOST_TEXT + 100).unwrap();
        file.seek(SeekFrom::End(0)).unwrap();
        std::io::Write::write_all(&mut file, b"\n2000 10 last\n").unwrap();
        let map = Map::read(&file).unwrap();
        assert_eq!((name(&map, 0x1000), name(&map, 0x2000).as_deref()), (None, Some("last")));
        assert!(map.size() < 80 << 20);
        let lines: String = (0..=MOST_FUNCTIONS).map(|at| format!("{:x} 1 a\n", at * 2)).collect();
        let map = Map::parse(lines.into_bytes());
        assert_eq!(map.functions.len(), MOST_FUNCTIONS);
        assert_eq!((name(&map, 0), name(&map, 2).as_deref()), (None, Some("a")));
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
        assert_eq!(name(&Map::read_dump(bytes.as_slice()), 0x101f).as_deref(), Some("function"));
        for end in 0..bytes.len() {
            let _ = Map::read_dump(&bytes[..end]);
        }
    }

    proptest! {
        #[test]
        fn foreign_bytes_never_panic(bytes: Vec<u8>, address: u64) {
            let _ = Map::parse(bytes.clone()).function(address);
            let mut dump = 0x4a69_5444u32.to_ne_bytes().to_vec();
            dump.extend(&bytes);
            let _ = (Map::read_dump(bytes.as_slice()), Map::read_dump(dump.as_slice()).function(address));
        }
        #[test]
        fn lines_in_any_order(lines in prop::collection::vec((0u64..200, 0u64..50, "[a-z ]{0,4}"), 0..40), address in 0u64..300) {
            let text: String = lines.iter().map(|(start, length, name)| format!("{start:x} {length:x} {name}\n")).collect();
            let map = Map::parse(text.into_bytes());
            prop_assert!(map.functions.windows(2).all(|pair| pair[0].end <= pair[1].start));
            let _ = map.function(address);
        }
    }
}

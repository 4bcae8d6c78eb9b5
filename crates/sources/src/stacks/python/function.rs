//! A Python function by its code object in the memory of a program.

use super::layout::{Layout, Text};
use super::record::Code;
use crate::memory::{Memory, Trouble};
use crate::stacks::name::{Kind, Row};
use std::sync::Arc;

/// The longest name and the longest path that are read, characters.
const LONGEST_NAME: u64 = 512;
const LONGEST_PATH: u64 = 2048;
/// Bytes of a code object that are read at most; `PYTHON_CODE` of bpf/python.h.
const CODE: usize = 256;

/// The frame of the function whose code object a sample held; `None` where another object, or none, lies there now.
///
/// # Errors
/// Where the process has ended, or may not be read.
pub(super) fn function(memory: &impl Memory, layout: &Layout, code: Code) -> Result<Option<Row>, Trouble> {
    let offsets = &layout.offsets;
    let mut bytes = [0; CODE];
    let size = [offsets.code_type, offsets.code_file, offsets.code_name].into_iter().max().unwrap_or(0) + 8;
    let room = bytes.get_mut(..usize::try_from(size).unwrap_or(CODE).min(CODE)).unwrap_or_default();
    let wanted = room.len();
    if memory.some(code.address, room)? < wanted {
        return Ok(None);
    }
    let word = |at: u64| Some(u64::from_ne_bytes(*bytes.get(usize::try_from(at).ok()?..)?.first_chunk()?));
    let line = || Some(u32::from_ne_bytes(*bytes.get(usize::try_from(offsets.code_line).ok()?..)?.first_chunk()?));
    let (Some(kind), Some(file), Some(name), Some(line)) =
        (word(offsets.code_type), word(offsets.code_file), word(offsets.code_name), line())
    else {
        return Ok(None);
    };
    if kind != layout.code_type || mark(file, name, line) != code.mark {
        return Ok(None);
    }
    let (Some(name), Some(file)) =
        (text(memory, &offsets.text, name, LONGEST_NAME)?, text(memory, &offsets.text, file, LONGEST_PATH)?)
    else {
        return Ok(None);
    };
    let short = file.rsplit('/').next().unwrap_or_default();
    Ok(Some(Row {
        function: Some(name),
        source: Some(format!("{short}:{line}").into()),
        ..Row::unresolved(Some(file), Kind::Python)
    }))
}

/// What the kernel makes of a code object's file, name and first line (`python_mix` of bpf/python.h).
fn mark(file: u64, name: u64, line: u32) -> u64 {
    let mix = |hash: u64, value: u64| {
        let hash = (hash ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash ^ hash >> 29
    };
    mix(mix(mix(0, file), name), u64::from(line))
}

/// A text of at most so many characters (`PyUnicodeObject`, Include/cpython/unicodeobject.h): its length is at 16, its state at 32.
fn text(memory: &impl Memory, how: &Text, address: u64, longest: u64) -> Result<Option<Arc<str>>, Trouble> {
    let mut head = [0; 40];
    if memory.some(address, &mut head)? < head.len() {
        return Ok(None);
    }
    let word =
        |at: usize| head.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |word| u64::from_ne_bytes(*word));
    let (length, state) = (word(16), word(32) as u32);
    // Bits: 3 for the bytes of a character, one if the characters follow, one if they are ASCII. How many come before them depends on the version: there
    // are none in between that are not 0.
    let state = [state >> 2, state >> 16].into_iter().find(|state| state & 7 != 0).unwrap_or(0);
    let (width, is_compact, is_ascii) = (state & 7, state & 8 != 0, state & 16 != 0);
    if !is_compact || length == 0 || length > longest || !matches!(width, 1 | 2 | 4) || is_ascii && width != 1 {
        return Ok(None);
    }
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(0) * width as usize];
    let from = address.wrapping_add(if is_ascii { how.ascii } else { how.wide });
    if memory.some(from, &mut bytes)? < bytes.len() {
        return Ok(None);
    }
    let character = |bytes: &[u8]| {
        let code = match *bytes {
            [one] => u32::from(one),
            [a, b] => u32::from(u16::from_ne_bytes([a, b])),
            [a, b, c, d] => u32::from_ne_bytes([a, b, c, d]),
            _ => return None,
        };
        char::from_u32(code).filter(|c| (c.is_ascii() || !is_ascii) && !c.is_control())
    };
    let found: Option<String> = bytes.chunks_exact(width as usize).map(character).collect();
    Ok(found.map(Into::into))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Memory from an address on.
    struct Image(u64, Vec<u8>);

    impl Memory for Image {
        fn some(&self, address: u64, into: &mut [u8]) -> Result<usize, Trouble> {
            let from = address.checked_sub(self.0).and_then(|at| self.1.get(usize::try_from(at).ok()?..));
            let from = from.unwrap_or_default();
            let count = from.len().min(into.len());
            into[..count].copy_from_slice(&from[..count]);
            Ok(count)
        }
    }

    /// From this address on lie the code object of `Wälder.zählen`, its name and its file, as CPython 3.11 has them on 64-bit machines.
    const FROM: u64 = 0x1000;
    const CODE_TYPE: u64 = 0x95_9440;

    fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
        bytes[at..at + value.len()].copy_from_slice(value);
    }

    /// A text as 3.11 has it: reference count, type, length, hash, state, and the characters.
    fn put_text(bytes: &mut [u8], at: usize, text: &str) {
        let is_ascii = text.is_ascii();
        put(bytes, at, &1u64.to_ne_bytes());
        put(bytes, at + 16, &(text.chars().count() as u64).to_ne_bytes());
        let state: u32 = 1 << 2 | 1 << 5 | u32::from(is_ascii) << 6 | 1 << 7;
        put(bytes, at + 32, &state.to_ne_bytes());
        let latin: Vec<u8> = text.chars().map(|c| c as u8).collect();
        put(bytes, at + if is_ascii { 48 } else { 72 }, &latin);
    }

    fn image() -> (Image, Layout, Code) {
        let layout = Layout::new(0x030b_02f0, 0xa5_b740, CODE_TYPE, &[], (4, 5)).unwrap();
        let mut bytes = vec![0; 1024];
        let (name, file) = (FROM + 256, FROM + 512);
        put(&mut bytes, 8, &CODE_TYPE.to_ne_bytes());
        put(&mut bytes, 72, &41u32.to_ne_bytes());
        put(&mut bytes, 112, &file.to_ne_bytes());
        put(&mut bytes, 128, &name.to_ne_bytes());
        put_text(&mut bytes, 256, "Wälder.zählen");
        put_text(&mut bytes, 512, "/srv/app/trees.py");
        (Image(FROM, bytes), layout, Code { address: FROM, mark: mark(file, name, 41) })
    }

    #[test]
    fn functions_have_a_name_a_file_and_a_line() {
        let (image, layout, code) = image();
        let row = function(&image, &layout, code).unwrap().unwrap();
        assert_eq!(row.function.as_deref(), Some("Wälder.zählen"));
        assert_eq!(row.module.as_deref(), Some("/srv/app/trees.py"));
        assert_eq!((row.source.as_deref(), row.kind), (Some("trees.py:41"), Kind::Python));
    }

    /// Pieces of memory.
    struct Pieces(Vec<Image>);

    impl Memory for Pieces {
        fn some(&self, address: u64, into: &mut [u8]) -> Result<usize, Trouble> {
            let found = self.0.iter().map(|piece| piece.some(address, into));
            found.into_iter().try_fold(0, |most, found| Ok(most.max(found?)))
        }
    }

    /// What `fixtures/python/dump.py` wrote.
    fn recorded(file: &str) -> Pieces {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/python").join(file);
        let bytes = std::fs::read(&path).unwrap();
        let (mut rest, mut pieces) = (bytes.as_slice(), Vec::new());
        while let Some((head, after)) = rest.split_first_chunk::<12>() {
            let address = u64::from_le_bytes(*head.first_chunk().unwrap());
            let length = u32::from_le_bytes(*head.last_chunk().unwrap()) as usize;
            pieces.push(Image(address, after[..length].to_vec()));
            rest = &after[length..];
        }
        Pieces(pieces)
    }

    #[test]
    fn recorded_memory_is_understood() {
        for (file, version) in [
            ("cpython-3.11.memory", 0x030b_02f0),
            ("cpython-3.12.memory", 0x030c_01f0),
            ("cpython-3.13.memory", 0x030d_00f0),
        ] {
            let memory = recorded(file);
            let address = memory.0[0].0;
            let word = |at: u64| memory.word(address + at).unwrap().unwrap();
            let described = crate::stacks::python::layout::tests::described();
            let layout = Layout::new(version, 0, word(8), &described, (4, 5)).unwrap();
            let offsets = layout.offsets;
            let line = word(offsets.code_line) as u32;
            let code = Code { address, mark: mark(word(offsets.code_file), word(offsets.code_name), line) };
            let row = function(&memory, &layout, code).unwrap().unwrap();
            assert_eq!(row.function.as_deref(), Some("Wälder.zählen"), "{file}");
            assert_eq!(row.module.as_deref(), Some("/srv/app/trees.py"), "{file}");
            assert_eq!(row.source.as_deref(), Some("trees.py:12"), "{file}");
        }
    }

    #[test]
    fn what_is_another_object_now_has_no_name() {
        let (mut image, layout, code) = image();
        assert_eq!(function(&image, &layout, Code { mark: code.mark ^ 1, ..code }).unwrap(), None);
        assert_eq!(function(&image, &layout, Code { address: FROM + 8, ..code }).unwrap(), None);
        assert_eq!(function(&image, &layout, Code { address: FROM + 1000, ..code }).unwrap(), None);
        put(&mut image.1, 8, &(CODE_TYPE + 8).to_ne_bytes());
        assert_eq!(function(&image, &layout, code).unwrap(), None);
    }

    proptest! {
        #[test]
        fn hostile_memory_never_panics(changes in prop::collection::vec((0usize..1024, any::<u64>()), 0..8), at in 0u64..1100) {
            let (mut image, layout, code) = image();
            for (place, value) in changes {
                let place = place.min(1016);
                put(&mut image.1, place, &value.to_ne_bytes());
            }
            let _ = function(&image, &layout, code);
            let _ = function(&image, &layout, Code { address: FROM + at, ..code });
            let _ = text(&image, &layout.offsets.text, FROM.wrapping_add(at), LONGEST_PATH);
        }
    }
}

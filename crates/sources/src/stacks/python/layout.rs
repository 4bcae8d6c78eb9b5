//! Where CPython keeps what we look for, by version: of 3.11 and 3.12 the offsets that their headers give (Include/internal/pycore_frame.h and others), which
//! do not change within a version; from 3.13 on it says so itself (`_Py_DebugOffsets` at the beginning of `_PyRuntime`).

/// The bytes of `struct python` of bpf/python.h.
pub(super) const SIZE: usize = 120;
/// Words of `_Py_DebugOffsets` that are read.
pub(super) const DESCRIBED: usize = 96;
/// What it begins with.
const COOKIE: u64 = u64::from_ne_bytes(*b"xdebugpy");
/// Bytes of a frame and of a code object that can be read; `PYTHON_FRAME` and `PYTHON_CODE` of bpf/python.h.
const FRAME: u64 = 128;
const CODE: u64 = 256;
/// Nothing lies further from the beginning of what holds it; interpreters are hundreds of kilobytes.
const FARTHEST: u64 = 1 << 24;

/// Offsets of what is found from the pointer to the first interpreter on, in bytes; see `struct python` of bpf/python.h.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Offsets {
    /// In `_PyRuntime`.
    pub interpreters: u64,
    pub interpreter_next: u64,
    pub interpreter_threads: u64,
    pub thread_previous: u64,
    pub thread_next: u64,
    pub thread_interpreter: u64,
    pub thread_number: u64,
    pub thread_frame: u64,
    /// Before 3.13: in `_PyCFrame`, the frame and the record before.
    pub calls: Option<(u64, u64)>,
    pub frame_code: u64,
    pub frame_caller: u64,
    pub frame_entry: u64,
    /// Since 3.12 frames of this owner or a higher one are of no function; before that the byte is whether the loop was entered with the frame.
    pub entry_from: u64,
    pub entry_is_bare: bool,
    pub code_type: u64,
    pub code_line: u64,
    pub code_file: u64,
    pub code_name: u64,
    pub text: Text,
}

/// How a text (`PyUnicodeObject`) lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Text {
    /// Where its characters begin, of ASCII and of others.
    pub ascii: u64,
    pub wide: u64,
}

impl Offsets {
    /// Those of 3.11.
    const V3_11: Offsets = Offsets {
        interpreters: 40,
        interpreter_next: 0,
        interpreter_threads: 16,
        thread_previous: 0,
        thread_next: 8,
        thread_interpreter: 16,
        thread_number: 160,
        thread_frame: 56,
        calls: Some((8, 16)),
        frame_code: 32,
        frame_caller: 48,
        frame_entry: 68,
        entry_from: 1,
        entry_is_bare: false,
        code_type: 8,
        code_line: 72,
        code_file: 112,
        code_name: 128,
        text: Text { ascii: 48, wide: 72 },
    };

    /// Those of 3.12.
    const V3_12: Offsets = Offsets {
        interpreter_threads: 72,
        thread_number: 144,
        calls: Some((0, 8)),
        frame_code: 0,
        frame_caller: 8,
        frame_entry: 70,
        entry_from: 3,
        entry_is_bare: true,
        code_line: 68,
        text: Text { ascii: 40, wide: 56 },
        ..Self::V3_11
    };

    /// Those that the program describes itself: `words` are the first of its `_PyRuntime`. `minor` is its version's.
    fn described(minor: u8, words: &[u64]) -> Option<Offsets> {
        // Later versions have put members between the others.
        let (thread, frame, code, object) = match minor {
            13 => (20, 28, 34, 44),
            14 => (23, 31, 39, 50),
            _ => return None,
        };
        let word = |at: usize| words.get(at).copied();
        if word(0)? != COOKIE {
            return None;
        }
        Some(Offsets {
            interpreters: word(5)?,
            interpreter_next: word(8)?,
            interpreter_threads: word(9)?,
            thread_previous: word(thread)?,
            thread_next: word(thread + 1)?,
            thread_interpreter: word(thread + 2)?,
            thread_frame: word(thread + 3)?,
            thread_number: word(thread + 5)?,
            calls: None,
            frame_caller: word(frame + 1)?,
            frame_code: word(frame + 2)?,
            frame_entry: word(frame + 5)?,
            code_file: word(code + 1)?,
            code_name: word(code + 3)?,
            code_line: word(code + 5)?,
            code_type: word(object + 1)?,
            ..Self::V3_12
        })
    }

    /// How many bytes of a frame, and of a code object, are read: up to the last that counts.
    fn sizes(&self) -> (u64, u64) {
        let frame = [self.frame_code + 8, self.frame_caller + 8, self.frame_entry + 1];
        let code = [self.code_type + 8, self.code_line + 4, self.code_file + 8, self.code_name + 8];
        (frame.into_iter().max().unwrap_or(0), code.into_iter().max().unwrap_or(0))
    }

    /// Whether they can be: what another program says of itself must not lead anywhere.
    fn are_possible(&self) -> bool {
        let far = [
            self.interpreters,
            self.interpreter_next,
            self.interpreter_threads,
            self.thread_previous,
            self.thread_next,
            self.thread_interpreter,
            self.thread_number,
            self.thread_frame,
        ];
        let near = [self.frame_code, self.frame_caller, self.frame_entry];
        let code = [self.code_type, self.code_line, self.code_file, self.code_name];
        let words = [self.frame_code, self.frame_caller, self.code_type, self.code_file, self.code_name];
        far.iter().all(|&at| at < FARTHEST)
            && near.iter().all(|&at| at <= FRAME - 16)
            && code.iter().all(|&at| at <= CODE - 16)
            && words.iter().all(|at| at % 8 == 0)
            && self.code_line.is_multiple_of(4)
    }
}

/// A version of CPython: `3.11`.
pub(super) fn version(hexadecimal: u32) -> String {
    format!("{}.{}", hexadecimal >> 24, hexadecimal >> 16 & 0xff)
}

/// Where one process keeps them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Address of the pointer to the first interpreter.
    pub interpreters: u64,
    /// Address of the type of code objects.
    pub code_type: u64,
    /// Device and inode of the process's pid namespace.
    pub namespace: (u64, u64),
    pub offsets: Offsets,
}

impl Layout {
    /// Of a process whose `_PyRuntime` and `PyCode_Type` lie at these addresses. `hexadecimal` is its `Py_Version`, `words` are the first of `_PyRuntime`.
    ///
    /// # Errors
    /// In words: why its functions cannot be told.
    pub fn new(
        hexadecimal: u32,
        runtime: u64,
        code_type: u64,
        words: &[u64],
        namespace: (u64, u64),
    ) -> Result<Self, String> {
        let offsets = match (hexadecimal >> 24, (hexadecimal >> 16 & 0xff) as u8) {
            (3, 11) => Some(Offsets::V3_11),
            (3, 12) => Some(Offsets::V3_12),
            // The third word says whether it does without the global lock: then objects look otherwise.
            (3, 13..) if words.get(2) == Some(&1) => return Err("it is a free-threaded Python".into()),
            (3, minor) => Offsets::described(minor, words),
            _ => None,
        };
        let version = version(hexadecimal);
        let offsets = offsets.ok_or_else(|| format!("its frames are not known of Python {version}"))?;
        if !offsets.are_possible() {
            return Err(format!("its Python {version} says of itself what cannot be"));
        }
        Ok(Layout { interpreters: runtime.wrapping_add(offsets.interpreters), code_type, namespace, offsets })
    }

    /// As `struct python` of bpf/python.h.
    pub fn bytes(&self) -> [u8; SIZE] {
        let o = &self.offsets;
        let (frame_size, code_size) = o.sizes();
        let (call_frame, call_before) = o.calls.unwrap_or_default();
        let mut bytes = [0; SIZE];
        let (addresses, numbers) = bytes.split_at_mut(32);
        let words = [self.interpreters, self.code_type, self.namespace.0, self.namespace.1];
        for (place, word) in addresses.as_chunks_mut::<8>().0.iter_mut().zip(words) {
            *place = word.to_ne_bytes();
        }
        let words = [
            o.interpreter_next,
            o.interpreter_threads,
            o.thread_previous,
            o.thread_next,
            o.thread_interpreter,
            o.thread_number,
            o.thread_frame,
            u64::from(o.calls.is_some()),
            call_frame,
            call_before,
            o.frame_code,
            o.frame_caller,
            o.frame_entry,
            o.entry_from,
            frame_size,
            u64::from(o.entry_is_bare),
            o.code_type,
            o.code_line,
            o.code_file,
            o.code_name,
            code_size,
        ];
        for (place, word) in numbers.as_chunks_mut::<4>().0.iter_mut().zip(words) {
            *place = (word as u32).to_ne_bytes();
        }
        bytes
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The first words of `_PyRuntime` of CPython 3.13.0 on x86-64.
    pub fn described() -> Vec<u64> {
        let mut words = vec![0; DESCRIBED];
        let known = [
            (0, COOKIE),
            (1, 0x030d_00f0),
            (5, 632),
            (8, 7264),
            (9, 7344),
            (20, 0),
            (21, 8),
            (22, 16),
            (23, 72),
            (24, 152),
            (25, 160),
            (29, 8),
            (30, 0),
            (33, 70),
            (35, 112),
            (36, 120),
            (37, 128),
            (39, 68),
            (45, 8),
        ];
        for (at, word) in known {
            words[at] = word;
        }
        words
    }

    #[test]
    fn versions_have_their_offsets() {
        let of = |version: u32, words: &[u64]| Layout::new(version, 0x1000, 0x2000, words, (4, 5));
        assert_eq!(of(0x030b_02f0, &[]).unwrap().offsets, Offsets::V3_11);
        assert_eq!(of(0x030c_01f0, &[]).unwrap().offsets, Offsets::V3_12);
        let layout = of(0x030d_00f0, &described()).unwrap();
        let expected = Offsets {
            interpreters: 632,
            interpreter_next: 7264,
            interpreter_threads: 7344,
            thread_number: 160,
            thread_frame: 72,
            calls: None,
            ..Offsets::V3_12
        };
        assert_eq!((layout.interpreters, layout.offsets), (0x1000 + 632, expected));
        let bytes = layout.bytes();
        assert_eq!(&bytes[..8], (0x1000 + 632u64).to_ne_bytes());
        assert_eq!(&bytes[24..32], 5u64.to_ne_bytes());
        assert_eq!(&bytes[32..40], [7264u32.to_ne_bytes(), 7344u32.to_ne_bytes()].concat());
        assert_eq!(&bytes[88..92], 71u32.to_ne_bytes(), "bytes of a frame up to its owner");
        assert_eq!(&bytes[112..116], 136u32.to_ne_bytes(), "bytes of a code object up to its name");
        assert!(of(0x030a_00f0, &described()).unwrap_err().contains("Python 3.10"));
        assert!(of(0x0363_00f0, &described()).unwrap_err().contains("Python 3.99"));
        let mut free = described();
        free[2] = 1;
        assert!(of(0x030d_00f0, &free).unwrap_err().contains("free-threaded"));
        assert!(of(0x030d_00f0, &[]).is_err() && of(0, &described()).is_err());
    }

    proptest! {
        /// Whatever a program says of itself, what the kernel is told stays within what it reads.
        #[test]
        fn what_is_described_never_leads_astray(minor in 13u32..16, words in prop::collection::vec(any::<u64>(), 0..DESCRIBED), small: bool) {
            let mut words: Vec<u64> = words.into_iter().map(|word| if small { word % 300 } else { word }).collect();
            if let Some(first) = words.first_mut() {
                *first = COOKIE;
            }
            if let Ok(layout) = Layout::new(3 << 24 | minor << 16, u64::MAX, 1, &words, (0, 0)) {
                let (frame, code) = layout.offsets.sizes();
                prop_assert!(frame < FRAME && code < CODE);
                let _ = layout.bytes();
            }
        }
    }
}

//! What the kernel tells of the Python functions of a sampled thread: `struct python_stack` of bpf/python.h.

use crate::tally::Fields;

/// The most frames of one.
const MOST: u32 = 128;

/// Where a frame's code object lies, and what tells it from another that is put in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Code {
    /// Where it lies.
    pub address: u64,
    /// Of its file, name and line.
    pub mark: u64,
}

/// The functions that one call of the interpreter's loop runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// Innermost first.
    pub codes: Vec<Code>,
    /// Whether outer ones were left out.
    pub left_out: bool,
    /// An address in that part of the stack which belongs to the call.
    pub at: u64,
}

/// The calls of the interpreter's loop that a thread was in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PythonStack {
    /// The thread.
    pub tid: u32,
    /// When it was, nanoseconds of CLOCK_MONOTONIC; or the place at which the thread blocks.
    pub at: u64,
    /// The CPU.
    pub cpu: u32,
    /// Innermost first.
    pub calls: Vec<Call>,
}

impl PythonStack {
    /// Reads one. Functions of a call of which the kernel did not find the place are dropped.
    pub fn read(bytes: &[u8]) -> Self {
        let mut fields = Fields::of(bytes);
        let [_kind, _pid, tid, cpu] = std::array::from_fn(|_| fields.u32());
        let at = fields.u64();
        let [count, _whole, left_out, _] = std::array::from_fn(|_| fields.u32());
        let (mut calls, mut codes) = (Vec::new(), Vec::new());
        for _ in 0..count.min(MOST) {
            let [address, mark] = fields.numbers();
            match address {
                0 => calls.push(Call { codes: std::mem::take(&mut codes), left_out: false, at: mark }),
                _ => codes.push(Code { address, mark }),
            }
        }
        if let Some(last) = calls.last_mut().filter(|_| left_out != 0 && codes.is_empty()) {
            last.left_out = true;
        }
        calls.retain(|call| !call.codes.is_empty());
        PythonStack { tid, at, cpu, calls }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn calls_are_read() {
        let mut bytes = Vec::new();
        for word in [0u32, 7, 8, 3] {
            bytes.extend(word.to_ne_bytes());
        }
        bytes.extend(99u64.to_ne_bytes());
        for word in [6u32, 0, 1, 0] {
            bytes.extend(word.to_ne_bytes());
        }
        let frames: [(u64, u64); 6] = [(0x10, 1), (0x20, 2), (0, 0x7000), (0, 0x7100), (0x30, 3), (0, 0x7200)];
        for (code, mark) in frames {
            bytes.extend(code.to_ne_bytes());
            bytes.extend(mark.to_ne_bytes());
        }
        let code = |address, mark| Code { address, mark };
        let calls = vec![
            Call { codes: vec![code(0x10, 1), code(0x20, 2)], left_out: false, at: 0x7000 },
            Call { codes: vec![code(0x30, 3)], left_out: true, at: 0x7200 },
        ];
        assert_eq!(PythonStack::read(&bytes), PythonStack { tid: 8, at: 99, cpu: 3, calls });
        // Without its place a call is none.
        let cut = bytes.len() - 16;
        bytes.truncate(cut);
        bytes[24..28].copy_from_slice(&5u32.to_ne_bytes());
        assert_eq!(PythonStack::read(&bytes).calls.len(), 1);
    }

    proptest! {
        #[test]
        fn foreign_bytes_never_panic(bytes: Vec<u8>) {
            prop_assert!(PythonStack::read(&bytes).calls.len() <= MOST as usize);
        }
    }
}

//! Calls of compiled Java methods (x86-64): which method a return address belongs to the call of, and how large its frame is, both read from the code
//! of the process. HotSpot's own unwinder knows this from tables that lie deep within the JVM.

use host::Host;
use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// So many places are remembered.
const MOST: usize = 16_384;
/// No compiled method is larger, bytes (HotSpot's HugeMethodLimit and inlining keep them far below).
const LARGEST: u64 = 256 << 10;

/// A compiled method, by its first instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Method {
    entry: u64,
    /// Where `push %rbp` ends, 0 where there is none, and where the frame is whole; bytes after the entry.
    pushed: u64,
    whole: u64,
    /// Bytes between the stack pointer and the return address, the saved frame pointer included.
    size: u64,
}

impl Method {
    /// Whether an address can lie in it.
    pub(super) fn holds(&self, address: u64) -> bool {
        address.checked_sub(self.entry).is_some_and(|offset| offset < LARGEST)
    }

    /// Bytes between the stack pointer and the return address at an instruction of it. In its last few instructions they are fewer; nothing is found then.
    pub(super) fn frame_at(&self, address: u64) -> u64 {
        match address.saturating_sub(self.entry) {
            offset if offset >= self.whole => self.size,
            offset if self.pushed != 0 && offset >= self.pushed => 8,
            _ => 0,
        }
    }

    /// Reads the first instructions of a method (`MacroAssembler::verified_entry` and `build_frame` of HotSpot's x86 code):
    /// the check that there is stack left, `push %rbp` and `sub $N,%rsp`, or `sub $N,%rsp` and `mov %rbp,N-8(%rsp)`.
    fn parse(entry: u64, code: &[u8]) -> Option<Self> {
        let mut at = 0;
        let (mut pushed, mut instructions) = (0, 0);
        while instructions < 8 {
            instructions += 1;
            let rest = code.get(at..)?;
            let length = match rest {
                // mov %eax,-N(%rsp): touches the stack ahead.
                [0x89, 0x84, 0x24, ..] => 7,
                // Checks of the receiver's class before the entry that is checked, and barriers between them: cmp and jne.
                [0x0f, 0x1f, 0x44, 0x00, ..] => 5,
                [0x0f, 0x1f, 0x40, ..] => 4,
                [0x0f, 0x1f, 0x80, ..] => 7,
                [0x0f, 0x1f, 0x84, ..] => 8,
                [0x66, 0x0f, 0x1f, 0x44, ..] => 6,
                [0x66, 0x0f, 0x1f, 0x84, ..] => 9,
                [0x66, 0x90, ..] => 2,
                [0x90, ..] => 1,
                [0x55, ..] => {
                    pushed = (at + 1) as u64;
                    1
                }
                [0x48, 0x83, 0xec, size, ..] if *size < 0x80 => {
                    return Some(Self::of(entry, pushed, at + 4, u64::from(*size)));
                }
                [0x48, 0x81, 0xec, a, b, c, d, ..] => {
                    let size = u32::from_le_bytes([*a, *b, *c, *d]);
                    return Some(Self::of(entry, pushed, at + 7, u64::from(size)));
                }
                _ => return None,
            };
            at += length;
        }
        None
    }

    fn of(entry: u64, pushed: u64, whole: usize, size: u64) -> Self {
        Method { entry, pushed, whole: whole as u64, size: size + if pushed == 0 { 0 } else { 8 } }
    }
}

/// Calls in the code of a process.
#[derive(Default)]
pub(super) struct Calls {
    /// `/proc/PID/mem`; `None` inside where it may not be read.
    memory: Option<Option<File>>,
    known: HashMap<u64, Option<Method>>,
}

impl Calls {
    /// The method that the call before an address leads to, where there is one.
    pub(super) fn before(&mut self, host: &Host, pid: u32, address: u64) -> Option<Method> {
        if let Some(known) = self.known.get(&address) {
            return *known;
        }
        let memory = self.memory.get_or_insert_with(|| File::open(host.path(&format!("/proc/{pid}/mem"))).ok());
        let found = memory.as_ref().and_then(|memory| {
            let mut call = [0; 5];
            memory.read_exact_at(&mut call, address.checked_sub(5)?).ok()?;
            let [0xe8, distance @ ..] = call else { return None };
            let entry = address.checked_add_signed(i32::from_le_bytes(distance).into())?;
            let mut code = [0; 48];
            memory.read_exact_at(&mut code, entry).ok()?;
            Method::parse(entry, &code)
        });
        if self.known.len() >= MOST {
            self.known.clear();
        }
        self.known.insert(address, found);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn first_instructions_tell_the_frame() {
        // mov %eax,-0x14000(%rsp); push %rbp; sub $0x10,%rsp
        let code = [0x89, 0x84, 0x24, 0, 0xc0, 0xfe, 0xff, 0x55, 0x48, 0x83, 0xec, 0x10, 0x90, 0x90, 0x90, 0x90];
        let method = Method::parse(0x1000, &code).unwrap();
        assert_eq!(method, Method { entry: 0x1000, pushed: 8, whole: 12, size: 0x18 });
        assert_eq!([0, 8, 12, 500].map(|at| method.frame_at(0x1000 + at)), [0, 8, 0x18, 0x18]);
        assert!(method.holds(0x1fff) && !method.holds(0xfff));
        // sub $0x18,%rsp; mov %rbp,0x10(%rsp)
        let code = [0x48, 0x81, 0xec, 0x18, 0, 0, 0, 0x48, 0x89, 0x6c, 0x24, 0x10, 0, 0, 0, 0];
        assert_eq!(Method::parse(0, &code).unwrap().size, 0x18);
        assert_eq!(Method::parse(0, &[0xc3; 48]), None);
    }

    proptest! {
        #[test]
        fn foreign_code_never_panics(code in prop::collection::vec(any::<u8>(), 0..48), entry: u64, address: u64) {
            if let Some(method) = Method::parse(entry, &code) {
                let _ = (method.holds(address), method.frame_at(address));
            }
        }
    }
}

//! What machine code around a place says: whether it lies in a loop that waits. Who writes such a loop tells the CPU, by `pause` on x86 (Intel SDM,
//! vol. 2, "PAUSE"), `yield`, `wfe` or `isb` on Arm (Arm ARM, "Hint instructions"; `isb` is what Rust's and the JVM's loops use): spin locks, `std::hint::spin_loop`,
//! `Thread.onSpinWait`, `runtime.procyield`.

use super::module::Module;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// So far before and after a place its code is looked at, bytes.
const REACH: u64 = 96;

/// A jump back may come so far after the pause, bytes.
#[cfg(any(target_arch = "x86_64", test))]
const REST: usize = 48;

/// Whether the code at an address of a module lies in a loop that waits.
pub(super) fn waits_in_module(module: &Module, address: u64) -> bool {
    let (Some(file), Some(offset)) = (&module.file, module.offset(address)) else { return false };
    waits_at(file, offset)
}

/// The same of a place in a file, as in the memory of a process.
pub(super) fn waits_at(file: &File, offset: u64) -> bool {
    waits_by(offset, |bytes, from| file.read_at(bytes, from).unwrap_or(0))
}

/// The same of a place in anything that `read` reads.
pub(crate) fn waits_by(place: u64, read: impl FnOnce(&mut [u8], u64) -> usize) -> bool {
    let before = place.min(REACH);
    let mut bytes = [0; 2 * REACH as usize];
    let read = read(&mut bytes, place - before);
    bytes.get(..read).is_some_and(|code| waits(code, before as usize))
}

#[cfg(target_arch = "x86_64")]
use x86_waits as waits;

#[cfg(target_arch = "aarch64")]
use arm_waits as waits;

/// Whether `at` lies in a loop with a pause: between the target of a jump back that comes after the pause, and its end.
#[cfg(any(target_arch = "x86_64", test))]
fn x86_waits(code: &[u8], at: usize) -> bool {
    let pauses = memchr::memmem::find_iter(code, b"\xf3\x90");
    pauses.into_iter().any(|pause| {
        let ends = pause + 2..(pause + REST).min(code.len());
        ends.into_iter().any(|jump| {
            let rest = code.get(jump..).unwrap_or_default();
            let (length, distance) = match *rest {
                // jmp and jcc with one byte, with four.
                [0xeb | 0x70..=0x7f, by, ..] => (2, i64::from(by as i8)),
                [0xe9, a, b, c, d, ..] => (5, i64::from(i32::from_le_bytes([a, b, c, d]))),
                [0x0f, 0x80..=0x8f, a, b, c, d, ..] => (6, i64::from(i32::from_le_bytes([a, b, c, d]))),
                _ => return false,
            };
            let end = jump + length;
            let target = usize::try_from(end as i64 + distance);
            target.is_ok_and(|target| target <= pause && (target..end).contains(&at))
        })
    })
}

/// The same for Arm, whose instructions are words.
#[cfg(any(target_arch = "aarch64", test))]
fn arm_waits(code: &[u8], at: usize) -> bool {
    const HINTS: [u32; 3] = [0xd503_203f, 0xd503_205f, 0xd503_3fdf];
    // What is looked at begins at `at` less a multiple of four.
    let words: Vec<u32> =
        code.chunks_exact(4).map(|word| word.try_into().map(u32::from_le_bytes).unwrap_or_default()).collect();
    let here = at / 4;
    let is_hint = |(_, word): &(usize, &u32)| HINTS.contains(word);
    words.iter().enumerate().filter(is_hint).any(|(pause, _)| {
        words.iter().enumerate().skip(pause + 1).take(12).any(|(jump, &word)| {
            // Signed words of 26, 19 and 14 bits: b; b.cond, cbz and cbnz; tbz and tbnz.
            let distance = match word {
                _ if word >> 26 == 0b00_0101 => ((word << 6) as i32) >> 6,
                _ if word >> 24 == 0b0101_0100 || word >> 25 & 0x3f == 0b01_1010 => ((word << 8) as i32) >> 13,
                _ if word >> 25 & 0x3f == 0b01_1011 => ((word << 13) as i32) >> 18,
                _ => return false,
            };
            let target = usize::try_from(jump as i64 + i64::from(distance));
            target.is_ok_and(|target| target <= pause && (target..=jump).contains(&here))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // Of `while (atomic_load(&head) == tail) pause();`, by gcc 12 -O2: mov (%rdi),%eax; cmp %esi,%eax; jne out; pause; jmp back; out: ret.
    const SPIN: [u8; 11] = [0x8b, 0x07, 0x39, 0xf0, 0x75, 0x04, 0xf3, 0x90, 0xeb, 0xf6, 0xc3];

    #[test]
    fn a_loop_with_a_pause_waits() {
        for at in 0..10 {
            assert!(x86_waits(&SPIN, at), "{at}");
        }
        assert!(!x86_waits(&SPIN, 10), "after the loop");
        // A pause without a way back, and a loop without a pause.
        let mut code = SPIN;
        code[9] = 0x02;
        assert!(!(0..11).any(|at| x86_waits(&code, at)));
        let mut code = SPIN;
        code[6] = 0x90;
        assert!(!(0..11).any(|at| x86_waits(&code, at)));
        // A jump of four bytes: jne back.
        let far = [0xf3, 0x90, 0x8b, 0x07, 0x39, 0xf0, 0x0f, 0x84, 0xf4, 0xff, 0xff, 0xff, 0xc3];
        assert!(x86_waits(&far, 2) && !x86_waits(&far, 12));
    }

    #[test]
    fn a_loop_of_arm_waits() {
        // ldar w1, [x0]; cmp w1, w2; b.ne out; yield; b back; out: ret
        for hint in [0xd503_203f_u32, 0xd503_205f, 0xd503_3fdf] {
            let words = [0x88df_fc01_u32, 0x6b02_003f, 0x5400_0061, hint, 0x17ff_fffc, 0xd65f_03c0];
            let code: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            assert!(arm_waits(&code, 0) && arm_waits(&code, 16) && !arm_waits(&code, 20));
        }
        // yield; ldar w1, [x0]; cbz w1, back; ret
        let words = [0xd503_203f_u32, 0x88df_fc01, 0x34ff_ffc1, 0xd65f_03c0];
        let code: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert!(arm_waits(&code, 4) && !arm_waits(&code, 12));
    }

    proptest! {
        #[test]
        fn any_bytes_will_do(code in proptest::collection::vec(any::<u8>(), 0..200), at in 0usize..200) {
            x86_waits(&code, at);
            arm_waits(&code, at);
        }
    }
}

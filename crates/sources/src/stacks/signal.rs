//! What a signal interrupted. Before a handler runs, the kernel puts the registers on the stack, and the handler returns into a few instructions
//! that do nothing but call `rt_sigreturn` (sigreturn(2)).

use super::Registers;

/// So many bytes of code tell.
pub(super) const LONGEST: usize = 9;

/// The registers in the kernel's frame, of which `word` gives the word at an offset from the stack pointer. `None` where there can be no such frame.
///
/// `struct rt_sigframe` of arch/x86/include/asm/sigframe.h without the return address: `struct ucontext`, whose registers begin at 40.
#[cfg(target_arch = "x86_64")]
pub(super) fn interrupted(word: impl Fn(u64) -> Option<u64>) -> Option<Registers> {
    // The code segment of 64-bit programs (__USER_CS): few other words look like it.
    if word(184)? & 0xffff != 0x33 {
        return None;
    }
    Some(Registers { ip: word(168)?, sp: word(160)?, bp: word(120)?, lr: 0, ..Registers::default() })
}

/// Whether code is `mov $15, %rax` or `mov $15, %eax`, and `syscall`.
#[cfg(target_arch = "x86_64")]
pub(super) fn is_return(code: &[u8; LONGEST]) -> bool {
    code == b"\x48\xc7\xc0\x0f\0\0\0\x0f\x05" || code.starts_with(b"\xb8\x0f\0\0\0\x0f\x05")
}

/// `struct rt_sigframe` of arch/arm64/kernel/signal.c: `siginfo` of 128 bytes, and `struct ucontext`, in which `struct sigcontext` begins at 176.
#[cfg(target_arch = "aarch64")]
pub(super) fn interrupted(word: impl Fn(u64) -> Option<u64>) -> Option<Registers> {
    // The processor state of a program: exception level 0, and nothing above the 32 bits.
    let state = word(576)?;
    if state & 0xf != 0 || state >> 32 != 0 {
        return None;
    }
    Some(Registers { ip: word(568)?, sp: word(560)?, bp: word(544)?, lr: word(552)?, ..Registers::default() })
}

/// Whether code is `mov x8, #139` and `svc #0`.
#[cfg(target_arch = "aarch64")]
pub(super) fn is_return(code: &[u8; LONGEST]) -> bool {
    code.starts_with(b"\x68\x11\x80\xd2\x01\0\0\xd4")
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn registers_come_from_the_frame() {
        let mut frame = [0u64; 40];
        (frame[15], frame[20], frame[21], frame[23]) = (1, 2, 3, 0x2b_0000_0000_0033);
        let word = |offset: u64| frame.get(offset as usize / 8).copied();
        assert_eq!(interrupted(word), Some(Registers { ip: 3, sp: 2, bp: 1, lr: 0, ..Registers::default() }));
        assert_eq!(interrupted(|offset| frame.get(offset as usize / 8 + 1).copied()), None);
        assert_eq!(interrupted(|offset| frame.get(..20)?.get(offset as usize / 8).copied()), None);
        assert!(is_return(b"\x48\xc7\xc0\x0f\0\0\0\x0f\x05") && !is_return(b"\x48\xc7\xc0\x0e\0\0\0\x0f\x05"));
    }
}

//! The way from the registers and a copy of the top of a stack to its frames.

#[cfg(target_arch = "x86_64")]
use super::hotspot;
use super::process::{Cache, Process, Processes, Regs, Rules, What, vdso};
use super::trie::Place;
use super::{Registers, signal};
use crate::hotspot::{End, Start};
use framehop::{FrameAddress, Unwinder};
use host::Host;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// The deepest stack that is kept.
pub(super) const DEEPEST: usize = 512;

impl Processes {
    /// Follows a stack to its start: the places, innermost first, with [`Place::Truncated`] at the end where it could not be followed. `tops` gets the stack
    /// pointer of each.
    pub(super) fn unwind(
        &mut self,
        host: &Host,
        pid: u32,
        registers: &Registers,
        stack: &[u8],
        out: &mut Vec<Place>,
        tops: &mut Vec<u64>,
    ) {
        let first = if cfg!(target_arch = "aarch64") { registers.lr } else { registers.ip };
        let mut regs = registers_of(first, registers.sp, registers.bp);
        let mut at = FrameAddress::from_instruction_pointer(registers.ip);
        let first_of_program = out.len();
        // Whether some frame was found by looking through the stack: then a zero beside it is no proof of the start.
        let mut guessed = false;
        for _ in 0..DEEPEST {
            let lookup = at.address_for_lookup();
            let Some((number, mapping)) = self.at(host, pid, lookup) else {
                // Not even the first address is code: a jump into nowhere, or a process that is gone.
                if out.is_empty() {
                    out.push(Place::Unknown(lookup));
                }
                break;
            };
            if mapping.what == What::Anonymous {
                let start = start_at(at.address(), &regs, registers, out.len() == first_of_program);
                match self.java(pid, &start, (registers.sp, stack), out, tops) {
                    Some(End::Native { ip, sp, bp }) => {
                        regs = registers_of(ip, sp, bp);
                        let Some(next) = FrameAddress::from_return_address(ip) else { return };
                        at = next;
                        continue;
                    }
                    Some(End::Beyond | End::Lost) => break,
                    None => {}
                }
            }
            tops.push(regs.sp());
            if let Some((ip, before)) = self.interrupted(pid, at, &regs, registers.sp, stack) {
                out.push(self.place_in(number, &mapping, at.address()));
                (regs, at) = (before, FrameAddress::from_instruction_pointer(ip));
                continue;
            }
            out.push(self.place_in(number, &mapping, lookup));
            let generated = mapping.what == What::Anonymous;
            #[cfg(target_arch = "x86_64")]
            if generated && let Some(next) = self.compiled(host, pid, at, &mut regs, registers.sp, stack) {
                let Some(next) = FrameAddress::from_return_address(next) else { return };
                at = next;
                continue;
            }
            let before = regs;
            let mut reads = 0;
            let stepped = match self.by_pid.get_mut(&pid) {
                Some(Process { rules, cache, .. }) => {
                    let cache = cache.get_or_insert_with(|| Box::new(Cache::new()));
                    step(rules, at, &mut regs, cache, |address| {
                        reads += 1;
                        word(stack, registers.sp, address).ok_or(())
                    })
                }
                None => break,
            };
            let next = match stepped {
                // Its start: the unwind information says so (then nothing is read), or the return address is zero.
                // Where generated code uses the frame pointer for other things, its end says nothing.
                Ok(None) if !(generated || guessed && reads > 0) => return,
                Ok(Some(next)) if self.at(host, pid, next.wrapping_sub(1)).is_some() => next,
                // Beyond the copy, or the file says nothing of this code: what looks like a caller on the way there is left over from calls that returned.
                _ if !generated => break,
                _ => {
                    regs = before;
                    guessed = true;
                    match self.scan(pid, &mut regs, registers.sp, stack) {
                        Some(next) => next,
                        None => break,
                    }
                }
            };
            let Some(next) = FrameAddress::from_return_address(next) else { return };
            at = next;
        }
        out.push(Place::Truncated);
    }

    /// Where a frame is the code that ends a signal handler: the instruction that the signal interrupted, and its registers. The kernel put them on
    /// the stack (sigreturn(2)); unwind information says so in expressions that the unwinder does not follow.
    fn interrupted(&self, pid: u32, at: FrameAddress, regs: &Regs, from: u64, stack: &[u8]) -> Option<(u64, Regs)> {
        let found = signal::interrupted(|offset| word(stack, from, regs.sp().checked_add(offset)?))?;
        let process = self.by_pid.get(&pid)?;
        let mapping = process.mappings.get(process.find(at.address())?)?;
        let offset = at.address() - mapping.range.start + mapping.offset;
        let mut code = [0; signal::LONGEST];
        match mapping.what {
            What::Vdso => code = *vdso()?.get(usize::try_from(offset).ok()?..)?.first_chunk()?,
            What::Module(number) => {
                let module = self.modules.get(number)?.module.as_ref()?;
                module.file.as_ref()?.read_exact_at(&mut code, offset).ok()?;
            }
            What::Anonymous => return None,
        }
        let Registers { ip, sp, bp, lr, .. } = found;
        let first = if cfg!(target_arch = "aarch64") { lr } else { ip };
        signal::is_return(&code).then(|| (ip, registers_of(first, sp, bp)))
    }

    /// The caller of a method that a JVM compiled without keeping the frame pointer, as is usual: such methods leave in the register what their caller
    /// had there. The frame is as large as the method's first instructions say, and the method is where the call before the return address leads.
    /// Other code of the JVM, and what is called through tables, is left to the frame pointer.
    #[cfg(target_arch = "x86_64")]
    fn compiled(
        &mut self,
        host: &Host,
        pid: u32,
        at: FrameAddress,
        regs: &mut Regs,
        from: u64,
        stack: &[u8],
    ) -> Option<u64> {
        let number = self.by_pid.get(&pid)?.number;
        let process = self.by_pid.get_mut(&pid).filter(|_| self.numbered.get(&number).is_some_and(|n| n.is_jvm()))?;
        if *process.keeps_frame_pointers.get_or_insert_with(|| hotspot::keeps_frame_pointers(host, pid)) {
            return None;
        }
        let begin = regs.sp();
        let end = begin.saturating_add(4096).min(from.saturating_add(stack.len() as u64));
        let mut place = begin;
        while place < end {
            let code = word(stack, from, place)?;
            if process.find(code.wrapping_sub(1)).is_some()
                && let Some(method) = process.calls.before(host, pid, code)
                && method.holds(at.address_for_lookup())
            {
                let size = method.frame_at(at.address_for_lookup());
                if begin.checked_add(size) == Some(place) {
                    // The caller's frame pointer lies below the return address, as soon as it was put there.
                    let saved = place.checked_sub(8).filter(|_| size >= 8).and_then(|saved| word(stack, from, saved));
                    *regs = registers_of(code, place + 8, saved.unwrap_or(regs.bp()));
                    return Some(code);
                }
            }
            place += 8;
        }
        None
    }

    /// Looks for the next frame in the words of the stack: a saved frame pointer that leads to another further up, each beside a return address
    /// into code. For code without unwind information that uses the frame pointer for other things, as compilers at run time do.
    fn scan(&self, pid: u32, regs: &mut Regs, from: u64, stack: &[u8]) -> Option<u64> {
        let end = from.saturating_add(stack.len() as u64);
        let mut at = regs.sp().next_multiple_of(8);
        // A frame of generated code is seldom larger.
        let last = at.saturating_add(4096).min(end);
        while at < last {
            if let Some(next) = self.link(pid, at, from, stack)
                && (next.0 == 0 || self.link(pid, next.0, from, stack).is_some())
            {
                let (frame, code) = next;
                *regs = registers_of(code, at + 16, frame);
                return Some(code);
            }
            at += 8;
        }
        None
    }

    /// The saved frame pointer and return address at a place of the stack, where they can be such.
    fn link(&self, pid: u32, at: u64, from: u64, stack: &[u8]) -> Option<(u64, u64)> {
        let (frame, code) = (word(stack, from, at)?, word(stack, from, at.checked_add(8)?)?);
        let upward = frame > at && frame % 8 == 0 && frame < from.saturating_add(1 << 23);
        if !(upward || frame == 0) || code < 4096 {
            return None;
        }
        // Only what is known now: most words are no addresses, and must not make us read the mappings again.
        let process = self.by_pid.get(&pid)?;
        process.find(code.wrapping_sub(1))?;
        Some((frame, code))
    }
}

/// Where the walk through a JVM's code begins.
fn start_at(ip: u64, regs: &Regs, registers: &Registers, is_innermost: bool) -> Start {
    let &Registers { lr, bx, r13, .. } = registers;
    #[cfg(target_arch = "x86_64")]
    let bp = regs.bp();
    #[cfg(target_arch = "aarch64")]
    let bp = regs.fp();
    let start = Start { ip, sp: regs.sp(), bp, is_innermost, ..Start::default() };
    if is_innermost { Start { lr, bx, r13, ..start } } else { start }
}

/// Registers as the unwinder takes them: first the instruction pointer (x86-64) or the link register (aarch64).
#[cfg(target_arch = "x86_64")]
fn registers_of(first: u64, sp: u64, bp: u64) -> Regs {
    Regs::new(first, sp, bp)
}

#[cfg(target_arch = "aarch64")]
fn registers_of(first: u64, sp: u64, bp: u64) -> Regs {
    // Return addresses may carry a signature above the 48 bits of an address (Documentation/arch/arm64/pointer-authentication.rst).
    let mask = framehop::aarch64::PtrAuthMask::from_max_known_address(0xffff_ffff_ffff);
    Regs::new_with_ptr_auth_mask(mask, first, sp, bp)
}

/// One step of the unwinder. What it reads comes from files that others wrote: should it ever panic, the stack ends there.
fn step(
    rules: &Rules<Arc<[u8]>>,
    at: FrameAddress,
    regs: &mut Regs,
    cache: &mut Cache,
    mut read: impl FnMut(u64) -> Result<u64, ()>,
) -> Result<Option<u64>, ()> {
    let step = std::panic::AssertUnwindSafe(|| rules.unwind_frame(at, regs, cache, &mut read));
    std::panic::catch_unwind(step).map_err(drop)?.map_err(drop)
}

/// The word at an address, of a copy of the stack that begins at `from`.
fn word(stack: &[u8], from: u64, address: u64) -> Option<u64> {
    let at = usize::try_from(address.checked_sub(from)?).ok()?;
    let bytes = stack.get(at..at.checked_add(8)?)?;
    Some(u64::from_ne_bytes(bytes.try_into().ok()?))
}

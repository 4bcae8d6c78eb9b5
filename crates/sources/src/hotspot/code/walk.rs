//! The way up a stack through the code of a JVM, over a copy of the stack.
//!
//! All frames but the innermost are easy: compiled methods, and most of the JVM's own code, have frames of a size that is kept with them, with the return
//! address at the end and the caller's frame pointer below; interpreted ones are found by the frame pointer. The innermost may be in the middle of being made
//! or taken away, and not all that is needed is on the stack then. There are several ways on; the right one is that which leads to the JVM's entry.

use super::leave::{BEFORE, BEHIND, LONGEST_ENTRY, Leave, POINTER, TOP, of_first, of_last};
use super::{Bounded, Code, Frames, Kind, Known, MOST_READS, Memory};
use std::cell::Cell;
use std::time::Instant;

/// Registers with which the walk begins.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Start {
    pub ip: u64,
    pub sp: u64,
    pub bp: u64,
    /// Of aarch64: where to return to.
    pub lr: u64,
    /// Registers of x86-64 in which the interpreter has the method that begins, and its caller's stack pointer or its place in the bytecode; 0 where they are
    /// not known.
    pub bx: u64,
    pub r13: u64,
    /// Whether the thread is here, and not in something that this called.
    pub is_innermost: bool,
}

/// A copy of the top of a stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copy<'a> {
    pub from: u64,
    pub bytes: &'a [u8],
}

impl Copy<'_> {
    fn word(&self, address: u64) -> Option<u64> {
        let at = usize::try_from(address.checked_sub(self.from)?).ok()?;
        self.bytes.get(at..)?.first_chunk().map(|bytes| u64::from_ne_bytes(*bytes))
    }

    fn ends_before(&self, address: u64) -> bool {
        address.saturating_add(8) > self.from.saturating_add(self.bytes.len() as u64)
    }
}

/// How the walk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Outside the JVM's code, at the return address into it.
    Native { ip: u64, sp: u64, bp: u64 },
    /// What comes next is not in the copy, or more than was asked for.
    Beyond,
    /// The way is not known.
    Lost,
}

/// A frame by its number, and the stack pointer in it.
pub(crate) type Found = (u32, u64);

/// Where the walk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct At {
    pc: u64,
    sp: u64,
    bp: u64,
}

/// A way out of the innermost frame: what is said of that frame, if something can be, and where its caller is.
struct Exit {
    own: Option<u32>,
    at: At,
}

/// The interpreter's frames are smaller: operands, locks, arguments.
const LARGEST_INTERPRETED: u64 = 1 << 19;
/// Blocks that are walked through.
const MOST_FRAMES: usize = 4096;
/// Ways that are tried.
const MOST_WAYS: usize = 12;
/// Words of the stack that are looked through for a return address where no other way is known.
const MOST_WORDS: u64 = 64;

/// What a walk needs.
pub(super) struct Walk<'a, M: Memory> {
    code: &'a mut Code,
    memory: Bounded<'a, M>,
    frames: &'a mut Frames,
    stack: Copy<'a>,
    /// Whether an address outside the JVM's code is code at all.
    is_code: &'a dyn Fn(u64) -> bool,
    most: usize,
}

impl Code {
    /// Follows a stack from code of the JVM to what called it, outside; adds at most `most` frames, innermost first.
    pub fn walk<M: Memory>(
        &mut self,
        (memory, frames): (&M, &mut Frames),
        start: &Start,
        stack: Copy<'_>,
        is_code: &dyn Fn(u64) -> bool,
        (out, most): (&mut Vec<Found>, usize),
    ) -> End {
        self.make_room();
        self.now = Instant::now();
        let begin = out.len();
        let memory = Bounded { memory, left: Cell::new(MOST_READS) };
        let mut walk = Walk { code: self, memory, frames, stack, is_code, most: begin.saturating_add(most) };
        let mut end = walk.all(start, out);
        // Code may have been replaced since it was looked at.
        if end == End::Lost {
            let (first, lost) = (out.split_off(begin), end);
            walk.code.doubt();
            end = walk.all(start, out);
            if end == lost && out.len() - begin < first.len() {
                out.truncate(begin);
                out.extend(first);
            }
        }
        end
    }
}

impl<M: Memory> Walk<'_, M> {
    fn all(&mut self, start: &Start, out: &mut Vec<Found>) -> End {
        let at = At { pc: plain(start.ip), sp: start.sp, bp: start.bp };
        if !start.is_innermost {
            return self.follow(at, out);
        }
        let begin = out.len();
        if !self.is_interpreter(at.pc) {
            let Some(known) = self.known(at.pc) else { return End::Lost };
            self.push(&known, at.sp, out);
        }
        let (inner, mut ways) = (out.len(), Vec::new());
        self.ways(start, &mut ways);
        let (mut best, mut end): (Vec<Found>, End) = (Vec::new(), End::Lost);
        for Exit { own, at } in ways {
            out.truncate(inner);
            out.extend(own.map(|own| (own, start.sp)));
            let ended = self.follow(at, out);
            let is_whole = match ended {
                End::Native { .. } => true,
                End::Beyond => out.len() > inner + 2,
                End::Lost => false,
            };
            if is_whole {
                return ended;
            }
            if out.len() > begin + best.len() {
                (best, end) = (out.get(begin..).unwrap_or_default().to_vec(), ended);
            }
        }
        if !best.is_empty() {
            out.truncate(begin);
            out.extend(best);
        }
        end
    }

    fn is_interpreter(&self, pc: u64) -> bool {
        self.code.layout.interpreter.contains(&pc)
    }

    fn known(&mut self, pc: u64) -> Option<Known> {
        self.code.known(&self.memory, self.frames, pc)
    }

    fn push(&self, known: &Known, sp: u64, out: &mut Vec<Found>) {
        let frames = self.code.numbers.iter().skip(known.from as usize).take(known.count as usize);
        let room = self.most.saturating_sub(out.len());
        out.extend(frames.take(room).map(|&number| (number, sp)));
    }

    /// From a return address on.
    fn follow(&mut self, mut at: At, out: &mut Vec<Found>) -> End {
        for _ in 0..MOST_FRAMES {
            if out.len() >= self.most {
                return End::Beyond;
            }
            if !self.code.holds(at.pc) {
                let At { pc: ip, sp, bp } = at;
                return if ip != 0 && (self.is_code)(ip) { End::Native { ip, sp, bp } } else { End::Lost };
            }
            let next = match self.step(at, out) {
                Ok(next) => next,
                Err(end) => return end,
            };
            // A stack grows downwards: each caller is further up.
            if next.sp <= at.sp || !next.sp.is_multiple_of(8) {
                return End::Lost;
            }
            at = next;
        }
        End::Lost
    }

    /// One frame further up.
    fn step(&mut self, at: At, out: &mut Vec<Found>) -> Result<At, End> {
        if self.is_interpreter(at.pc) {
            let (own, next) = self.interpreted(at, 0)?;
            out.push((own, at.sp));
            return Ok(next);
        }
        let mut known = self.known(at.pc).ok_or(End::Lost)?;
        if let Kind::Handler(original) = known.kind {
            // The frame is to be deoptimised: where it would have gone on is kept in it.
            let pc = plain(self.word(at.sp.wrapping_add(original))?);
            known = self
                .known(pc)
                .filter(|found| found.blob == known.blob && found.kind == Kind::Compiled)
                .ok_or(End::Lost)?;
        }
        self.push(&known, at.sp, out);
        match known.kind {
            Kind::CallStub => self.by_pointer(at),
            Kind::Barrier => self.continued(at),
            _ if known.frame > 0 => self.by_size(at, known.frame),
            _ => self.by_pointer(at),
        }
    }

    fn word(&self, address: u64) -> Result<u64, End> {
        self.stack.word(address).ok_or(if self.stack.ends_before(address) { End::Beyond } else { End::Lost })
    }

    /// The caller of a frame of known size.
    fn by_size(&self, at: At, size: u64) -> Result<At, End> {
        let sp = at.sp.wrapping_add(size);
        Ok(At { pc: plain(self.word(sp.wrapping_sub(8))?), sp, bp: self.word(sp.wrapping_sub(16))? })
    }

    /// The caller of a frame that the frame pointer points to.
    fn by_pointer(&self, at: At) -> Result<At, End> {
        let is_near =
            at.bp.is_multiple_of(8) && at.bp.checked_sub(at.sp).is_some_and(|size| size < LARGEST_INTERPRETED);
        if !is_near {
            return Err(End::Lost);
        }
        Ok(At { pc: plain(self.word(at.bp.wrapping_add(8))?), sp: at.bp.wrapping_add(16), bp: self.word(at.bp)? })
    }

    /// An interpreted frame, and its caller. `bytecode` is where it is in its bytecode if that is in a register; what is kept in the frame is where it last
    /// called something.
    fn interpreted(&mut self, at: At, bytecode: u64) -> Result<(u32, At), End> {
        let At { sp, bp, .. } = at;
        let is_near = bp.is_multiple_of(8) && bp.checked_sub(sp).is_some_and(|size| size < LARGEST_INTERPRETED);
        if !is_near {
            return Err(End::Lost);
        }
        let below = |words: u64| self.word(bp.wrapping_sub(words * 8));
        let (method, caller, kept) = (below(3)?, below(1)?, below(self.code.layout.bytecode)?);
        let (pc, pointer) = (plain(self.word(bp.wrapping_add(8))?), self.word(bp)?);
        let is_above = caller.checked_sub(bp).is_some_and(|size| (16..LARGEST_INTERPRETED).contains(&size));
        if !is_above {
            return Err(End::Lost);
        }
        let own = self.code.interpreted(&self.memory, self.frames, method, &[bytecode, kept]);
        Ok((own.ok_or(End::Lost)?, At { pc, sp: caller, bp: pointer }))
    }

    /// What is below the frames of a virtual thread: those further out lie in the heap, and the next one on the stack is that of the JVM's own method which
    /// lets virtual threads run.
    fn continued(&mut self, at: At) -> Result<At, End> {
        let pc = self.code.layout.continued.ok_or(End::Lost)?;
        let size = self.known(pc).map(|known| known.frame).filter(|&size| size > 0).ok_or(End::Lost)?;
        for sp in (0..32).map(|words: u64| at.sp.wrapping_add(words * 8)) {
            let to = self.word(sp.wrapping_add(size).wrapping_sub(8))?;
            if self.is_interpreter(to) || self.code.holds(to) && self.known(to).is_some_and(|known| known.is_exact) {
                return Ok(At { pc, sp: sp.max(at.sp + 8), bp: at.bp });
            }
        }
        Err(End::Lost)
    }

    /// The ways out of the innermost frame, the likeliest first.
    fn ways(&mut self, start: &Start, into: &mut Vec<Exit>) {
        let at = At { pc: plain(start.ip), sp: start.sp, bp: start.bp };
        let mut all = Vec::new();
        if self.is_interpreter(at.pc) {
            if let Ok((own, at)) = self.interpreted(at, start.r13) {
                all.push(Exit { own: Some(own), at });
            }
            // Its frame is not there yet, or not any more.
            let begins = self.code.interpreted(&self.memory, self.frames, start.bx, &[]);
            let callers = [start.r13, start.bx, start.sp.wrapping_add(8)];
            let callers = callers.into_iter().filter(|sp| sp.wrapping_sub(start.sp) < LARGEST_INTERPRETED);
            if let Some(pc) = self.stack.word(at.sp).map(plain) {
                all.extend(callers.map(|sp| Exit { own: begins, at: At { pc, sp, bp: at.bp } }));
            }
        } else if let Some(known) = self.known(at.pc) {
            self.ways_of_code(start, &known, &mut all);
        }
        if cfg!(target_arch = "aarch64") && start.lr != 0 {
            // Before it is put on the stack, and in what calls nothing.
            all.push(Exit { own: None, at: At { pc: plain(start.lr), sp: start.sp, bp: start.bp } });
        }
        for way in all {
            let pc = way.at.pc;
            let is_code = self.is_interpreter(pc)
                || if self.code.holds(pc) { self.known(pc).is_some() } else { pc != 0 && (self.is_code)(pc) };
            if is_code && into.len() < MOST_WAYS && !into.iter().any(|known| known.at == way.at) {
                into.push(way);
            }
        }
        self.looked_for(start, into);
    }

    fn ways_of_code(&mut self, start: &Start, known: &Known, into: &mut Vec<Exit>) {
        let at = At { pc: plain(start.ip), sp: start.sp, bp: start.bp };
        let leave = known.leave.unwrap_or_else(|| self.leave(at.pc, known));
        let mut way = |at: Result<At, End>| into.extend(at.ok().map(|at| Exit { own: None, at }));
        let left = |leave: Leave| match leave {
            Leave::Frame if known.frame == 0 => self.by_pointer(at),
            Leave::Frame => self.by_size(at, known.frame),
            Leave::Bytes { size, saved } => {
                let place = at.sp.wrapping_add(size);
                let bp = saved.map_or(Ok(at.bp), |saved| self.word(at.sp.wrapping_add(saved)))?;
                Ok(At { pc: plain(self.word(place)?), sp: place.wrapping_add(8), bp })
            }
        };
        way(left(leave));
        if known.kind == Kind::Stub {
            // Code between the interpreter and compiled methods moves the arguments: where its caller's stack pointer was is in a register.
            let is_near = start.r13.wrapping_sub(start.sp) < LARGEST_INTERPRETED;
            if known.frame == 0 && is_near {
                for place in [at.sp, start.r13.wrapping_sub(8)] {
                    way(self.word(place).map(|pc| At { pc: plain(pc), sp: start.r13, bp: at.bp }));
                }
            }
        }
        for other in [Leave::Frame, TOP, POINTER] {
            way(left(other));
        }
        if known.kind == Kind::Stub {
            way(self.by_pointer(at));
        }
    }

    /// What lies between the stack pointer and the return address where the thread is.
    fn leave(&mut self, pc: u64, known: &Known) -> Leave {
        let Some(Some(of)) = self.code.blobs.get(known.blob as usize) else { return Leave::Frame };
        let (complete, entry) = (of.blob.complete, of.blob.compiled.as_ref().map(|compiled| compiled.entry));
        let mut bytes = [0; BEFORE as usize + BEHIND];
        let read = self.memory.some(pc.wrapping_sub(BEFORE), &mut bytes).unwrap_or(0);
        let read = bytes.get(..read).unwrap_or_default();
        let (before, code) = read.split_at_checked(BEFORE as usize).unwrap_or_default();
        let found = match entry {
            Some(entry) if pc < complete => {
                let until = pc.saturating_sub(entry);
                let mut bytes = [0; LONGEST_ENTRY as usize + 16];
                let read = self.memory.some(entry, &mut bytes).unwrap_or(0);
                let first = bytes.get(..read).unwrap_or_default();
                let made = if until <= LONGEST_ENTRY { of_first(first, until as usize) } else { None };
                made.unwrap_or(if before.last() == Some(&0x55) { POINTER } else { TOP })
            }
            Some(_) => of_last(before, code),
            // Code of the JVM itself begins with `push rbp`, where it has a frame at all.
            None => match code {
                [0xc3 | 0x55, ..] => TOP,
                [0x5d, ..] => POINTER,
                _ if known.frame == 0 && !of.blob.name.starts_with("StubRoutines") => TOP,
                _ => Leave::Frame,
            },
        };
        if let Some(known) = self.code.places.get_mut(&pc) {
            known.leave = Some(found);
        }
        found
    }

    /// The last resort: words on the stack that are return addresses to places in compiled code which have notes.
    fn looked_for(&mut self, start: &Start, into: &mut Vec<Exit>) {
        for place in (0..MOST_WORDS).map(|words| start.sp.wrapping_add(words * 8)) {
            if into.len() >= MOST_WAYS {
                return;
            }
            let Some(pc) = self.stack.word(place).map(plain) else { return };
            if !self.code.holds(pc) || self.is_interpreter(pc) {
                continue;
            }
            let is_return = self.known(pc).is_some_and(|known| known.is_exact || known.kind == Kind::CallStub);
            if is_return {
                let saved = self.stack.word(place.wrapping_sub(8)).unwrap_or(start.bp);
                let sp = place.wrapping_add(8);
                into.extend([saved, start.bp].map(|bp| Exit { own: None, at: At { pc, sp, bp } }));
            }
        }
    }
}

/// A return address without the signature that aarch64 may put above its 48 bits.
fn plain(address: u64) -> u64 {
    if cfg!(target_arch = "aarch64") { address & 0xffff_ffff_ffff } else { address }
}

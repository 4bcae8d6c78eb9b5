//! The CPU's own breakpoints and watchpoints, by performance events: they stop at an instruction, or after one that reads or writes some bytes, of a
//! thread or of whatever runs on a CPU, and tell where it was and its registers. x86-64 has four for each thread; a hit costs some 10 to 15 µs. Each
//! disarms itself after the number of hits that it was armed for. Nothing of the program's memory is changed.
//!
//! Some CPUs run all code of a thread slower while it has a breakpoint for an instruction ([`slowed`]); for those there are the kernel's probes
//! ([`Breakpoint::probe`]): they put a breakpoint instruction into the thread's own copy of a page of code.
//!
//! perf_event_open(2); include/uapi/linux/hw_breakpoint.h; Documentation/trace/uprobetracer.rst.

use crate::holder::{self, Probe};
use crate::perf::{self, Attributes, Ring};
use crate::registers::{Registers, SAMPLE_TYPE, mask, room, sample};
use model::Unavailable;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Instant;

/// How many a thread can have at once: of x86-64; most aarch64 have as many.
pub const SLOTS: usize = 4;

/// What it stops at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// An instruction, before it is executed.
    Execute,
    /// What writes.
    Write,
    /// What reads or writes.
    ReadOrWrite,
}

/// Whom it stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whom {
    /// A thread, by its number.
    Thread(u32),
    /// What runs on a CPU: all threads of all processes that use that address.
    Cpu(u32),
}

/// A breakpoint or watchpoint. It goes with this.
#[derive(Debug)]
pub struct Breakpoint {
    ring: Ring,
    /// Goes after its ring.
    _probe: Option<Probe>,
    bytes: Vec<u8>,
    records: Vec<(u64, u32, u32)>,
}

impl Breakpoint {
    /// Opens it, disarmed. `length` is 1, 2, 4 or 8 bytes, of which `address` is a multiple; it does not count for instructions.
    ///
    /// # Errors
    /// What the kernel says: no right to look at the thread, no slot that is free, the thread is gone.
    pub fn open(whom: Whom, access: Access, address: u64, length: u64) -> Result<Breakpoint, Unavailable> {
        // HW_BREAKPOINT_R 1, W 2, X 4; of an instruction the length is that of a long.
        let (bp_type, length) = match access {
            Access::Execute => (4, 8),
            Access::Write => (2, length),
            Access::ReadOrWrite => (3, length),
        };
        let attributes = Attributes {
            kind: perf::TYPE_BREAKPOINT,
            bp_type,
            // In a union with bp_addr and bp_len.
            config1: address,
            config2: length,
            ..Attributes::default()
        };
        let (tid, cpu) = match whom {
            Whom::Thread(tid) => (number(tid)?, -1),
            Whom::Cpu(cpu) => (-1, number(cpu)?),
        };
        Breakpoint::of(Breakpoint::attributes(attributes).open(tid, cpu), None)
    }

    /// The kernel's probe (uprobe) at an instruction, by its place in a file, for one thread. It takes some tens of milliseconds to open and to close.
    ///
    /// # Errors
    /// What the kernel says: no such probes, no right to them, an instruction that cannot be probed, the thread is gone.
    pub fn probe(tid: u32, file: &File, offset: u64) -> Result<Breakpoint, Unavailable> {
        let attributes = Breakpoint::attributes(perf::probe(offset)?);
        let (probe, event) = holder::open(file, offset, number(tid)?, attributes)?;
        Breakpoint::of(Ok(event), Some(probe))
    }

    /// What all have in common.
    fn attributes(attributes: Attributes) -> Attributes {
        Attributes {
            size: size_of::<Attributes>() as u32,
            sample_period: 1,
            sample_type: SAMPLE_TYPE,
            flags: perf::DISABLED | perf::EXCLUDE_KERNEL | perf::EXCLUDE_HV | perf::WATERMARK | perf::USE_CLOCKID,
            wakeup_watermark: room(0) as u32,
            clockid: libc::CLOCK_MONOTONIC as _,
            sample_regs_user: mask(),
            ..attributes
        }
    }

    fn of(event: io::Result<OwnedFd>, probe: Option<Probe>) -> Result<Breakpoint, Unavailable> {
        let ring = event.and_then(|event| Ring::of(event, 0, room(0), 0)).map_err(|error| perf::unavailable(&error))?;
        Ok(Breakpoint { ring, _probe: probe, bytes: Vec::new(), records: Vec::new() })
    }

    /// Arms it for so many hits.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn arm(&self, hits: u32) -> Result<(), Unavailable> {
        self.ring.enable_for(hits).map_err(|error| perf::unavailable(&error))
    }

    /// Disarms it, and takes the hits since it was last asked, in order. [`Registers::address`] is the instruction that comes after the one that read or
    /// wrote (or the one that is to be executed).
    pub fn take(&mut self) -> Vec<Registers> {
        let _ = self.ring.disable();
        self.bytes.clear();
        self.records.clear();
        self.ring.drain(&mut self.bytes, &mut self.records);
        let records = self.records.iter();
        records.filter_map(|&(_, from, to)| sample(self.bytes.get(from as usize..to as usize)?)).collect()
    }
}

fn number(n: u32) -> Result<i32, Unavailable> {
    i32::try_from(n).map_err(|_| Unavailable::failed("no such thread or CPU"))
}

/// Goes round a short loop so often: the address of an instruction in the same line of the cache that is never executed.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
fn rounds(count: u64) -> u64 {
    let beside;
    // SAFETY: counts in a register.
    unsafe {
        std::arch::asm!(
            "lea {beside}, [rip + 2f]",
            "jmp 3f",
            ".p2align 6",
            "2:",
            "nop",
            "3:",
            "mov {b}, {a}",
            "shr {b}, 7",
            "xor {a}, {b}",
            "lea {a}, [{a} + {a} * 4]",
            "add {a}, {n}",
            "dec {n}",
            "jnz 3b",
            beside = out(reg) beside,
            a = inout(reg) 1u64 => _,
            b = out(reg) _,
            n = inout(reg) count.max(1) => _,
            options(nomem, nostack)
        );
    }
    beside
}

#[cfg(target_arch = "aarch64")]
#[inline(never)]
fn rounds(count: u64) -> u64 {
    let beside;
    // SAFETY: counts in a register.
    unsafe {
        std::arch::asm!(
            "adr {beside}, 2f",
            "b 3f",
            ".p2align 6",
            "2:",
            "nop",
            "3:",
            "subs {n}, {n}, #1",
            "b.ne 3b",
            beside = out(reg) beside,
            n = inout(reg) count.max(1) => _,
            options(nomem, nostack)
        );
    }
    beside
}

/// How many times longer code takes on this machine while its thread has a breakpoint in the same line of the cache, which it does not come by: 1 on
/// most. (3.2 was measured on an AMD EPYC under a hypervisor.) It takes some milliseconds.
///
/// # Errors
/// Where there are no breakpoints.
pub fn slowed() -> Result<f64, Unavailable> {
    const ROUNDS: u64 = 200_000;
    let best = || {
        let round = |_| {
            let begin = Instant::now();
            rounds(ROUNDS);
            begin.elapsed().as_nanos() as f64
        };
        (0..6).map(round).fold(f64::INFINITY, f64::min)
    };
    let free = best();
    let armed = Breakpoint::open(Whom::Thread(0), Access::Execute, rounds(1), 8)?;
    armed.arm(1)?;
    Ok(best() / free)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn writes_of_a_word_are_seen_and_no_more_than_were_asked_for() {
        let word = AtomicU64::new(0);
        let address = word.as_ptr() as u64;
        let mut of_writes = match Breakpoint::open(Whom::Thread(0), Access::Write, address, 8) {
            Ok(opened) => opened,
            Err(why) => return eprintln!("SKIPPED: watchpoints: {why}"),
        };
        word.store(1, Ordering::SeqCst);
        assert!(of_writes.take().is_empty(), "it was not armed");
        of_writes.arm(3).unwrap();
        for n in 0..10 {
            word.store(n, Ordering::SeqCst);
        }
        let hits = of_writes.take();
        if hits.is_empty() {
            return eprintln!("SKIPPED: watchpoints: this machine has them, and they do not stop");
        }
        assert_eq!(hits.len(), 3);
        assert!(hits.windows(2).all(|pair| pair[0].time < pair[1].time));
        assert_eq!(hits[0].pid, std::process::id());
        of_writes.arm(2).unwrap();
        std::hint::black_box(word.load(Ordering::SeqCst));
        assert!(of_writes.take().is_empty(), "a read is no write");
    }

    #[inline(never)]
    fn probed(n: u64) -> u64 {
        std::hint::black_box(n.wrapping_mul(3))
    }

    #[test]
    fn a_probe_hits_as_often_as_it_was_armed_for() {
        let address = probed as *const () as u64;
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let place = maps.lines().find_map(|line| {
            let mut words = line.split_ascii_whitespace();
            let (from, to) = words.next()?.split_once('-')?;
            let [from, to, offset] = [from, to, words.nth(1)?].map(|word| u64::from_str_radix(word, 16).unwrap());
            (from..to).contains(&address).then_some(address - from + offset)
        });
        // Other tests of this program need it too.
        std::mem::forget(holder::start());
        let mut probe = match Breakpoint::probe(0, &File::open("/proc/self/exe").unwrap(), place.unwrap()) {
            Ok(probe) => probe,
            Err(why) => return eprintln!("SKIPPED: probes of programs: {why}"),
        };
        probe.arm(3).unwrap();
        (0..10).for_each(|n| assert_eq!(probed(n), 3 * n));
        let hits = probe.take();
        assert_eq!(hits.len(), 3);
        assert!(hits.iter().all(|hit| hit.address == address), "{hits:?}");
        assert!(Breakpoint::probe(0, &File::open("/dev/null").unwrap(), 0).is_err());
    }

    #[test]
    fn whether_breakpoints_slow_code_is_measured() {
        match slowed() {
            Ok(times) => assert!(times.is_finite() && times > 0.0),
            Err(why) => eprintln!("SKIPPED: breakpoints: {why}"),
        }
    }

    #[test]
    fn a_bad_address_is_an_error() {
        assert!(Breakpoint::open(Whom::Thread(0), Access::Write, 3, 8).is_err());
        assert!(Breakpoint::open(Whom::Thread(u32::MAX), Access::Write, 8, 8).is_err());
    }
}

//! Samples of single threads with all their general registers and their CPU time: what tells how long a round of a loop takes. Each thread has an event
//! of its own, by its task clock, for as long as somebody looks: some tenths of a second.

use crate::perf::{self, Attributes, Cursor, Ring};
use model::Unavailable;
use std::os::fd::OwnedFd;

/// How many general registers are told, at most.
pub const REGISTERS: usize = 32;

const TASK_CLOCK: u64 = 1;
/// Bit of `sample_type`: the event's count.
const READ: u64 = 1 << 4;

/// Registers as bits of `sample_regs_user` (arch/*/include/uapi/asm/perf_regs.h), and by which number each is told: the one by which instructions encode
/// it. The kernel puts them down in the order of their bits.
#[cfg(target_arch = "x86_64")]
const ORDER: [(u32, usize); 16] = [
    (0, 0), // rax
    (1, 3), // rbx
    (2, 1), // rcx
    (3, 2), // rdx
    (4, 6), // rsi
    (5, 7), // rdi
    (6, 5), // rbp
    (7, 4), // rsp
    (16, 8),
    (17, 9),
    (18, 10),
    (19, 11),
    (20, 12),
    (21, 13),
    (22, 14),
    (23, 15),
];
/// x0 to x30, sp.
#[cfg(target_arch = "aarch64")]
const ORDER: [(u32, usize); 32] = {
    let mut order = [(0, 0); 32];
    let mut at = 0;
    while at < 32 {
        order[at] = (at as u32, at);
        at += 1;
    }
    order
};

/// How many registers this machine has.
pub const COUNT: usize = ORDER.len();

/// What a sample takes, bytes, at most: its header, five words, and the registers.
const ONE: usize = 48 + 8 * (COUNT + 1);

/// Room for so many samples, bytes: a power of two, of whole pages.
pub(crate) fn room(samples: usize) -> usize {
    (samples * ONE).next_power_of_two().clamp(64 << 10, 1 << 20)
}

/// What each sample tells.
pub(crate) const SAMPLE_TYPE: u64 = perf::IP | perf::TID | perf::TIME | READ | perf::REGS_USER;

/// The registers that samples hold.
pub(crate) fn mask() -> u64 {
    ORDER.iter().fold(0, |bits, (bit, _)| bits | 1 << bit)
}

/// A sample of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    /// The process.
    pub pid: u32,
    /// The thread.
    pub tid: u32,
    /// CLOCK_MONOTONIC, ns.
    pub time: u64,
    /// The instruction that was to be executed next.
    pub address: u64,
    /// What the event has counted since it was opened: CPU time of the thread, ns.
    pub task_clock: u64,
    /// By number; those that this machine lacks are 0.
    pub registers: [u64; REGISTERS],
}

/// Samples of one thread. They end with it.
#[derive(Debug)]
pub struct OfThread {
    ring: Ring,
    /// The other timer.
    _beside: OwnedFd,
    bytes: Vec<u8>,
    records: Vec<(u64, u32, u32)>,
}

impl OfThread {
    /// Opens them, without beginning: samples of thread `tid` (0: the calling one), of its program alone, by two timers of its CPU time with a period of
    /// ns each. As these drift by each other, two samples lie any time apart up to the shorter period: so that loops of some tens of microseconds have
    /// two samples in one run. There is room for so many ns of CPU time.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn open(tid: u32, periods: [u64; 2], length: u64) -> Result<OfThread, Unavailable> {
        let [first, second] = periods.map(|period| period.max(10_000));
        let samples = length / first + length / second;
        let ring = room(usize::try_from(samples).unwrap_or(usize::MAX / ONE));
        let attributes = |sample_period| Attributes {
            size: size_of::<Attributes>() as u32,
            kind: perf::TYPE_SOFTWARE,
            config: TASK_CLOCK,
            sample_period,
            sample_type: SAMPLE_TYPE,
            flags: perf::EXCLUDE_KERNEL | perf::EXCLUDE_HV | perf::WATERMARK | perf::USE_CLOCKID,
            // Nobody waits for it.
            wakeup_watermark: ring as u32,
            clockid: libc::CLOCK_MONOTONIC as _,
            sample_regs_user: mask(),
            ..Attributes::default()
        };
        let mut leader = attributes(first);
        leader.flags |= perf::DISABLED;
        let tid = i32::try_from(tid).map_err(|_| Unavailable::failed("no such thread"))?;
        let opened = leader.open(tid, -1).and_then(|event| Ring::of(event, 0, ring, 0)).and_then(|ring| {
            let beside = ring.beside(&attributes(second), tid, -1)?;
            Ok((ring, beside))
        });
        let (ring, beside) = opened.map_err(|error| perf::unavailable(&error))?;
        Ok(OfThread { ring, _beside: beside, bytes: Vec::new(), records: Vec::new() })
    }

    /// Begins.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn begin(&self) -> Result<(), Unavailable> {
        self.ring.enable().map_err(|error| perf::unavailable(&error))
    }

    /// Ends: the samples in their order, and how many found no room.
    pub fn end(mut self) -> (Vec<Registers>, u64) {
        // Whether or not it could: what is there is there.
        let _ = self.ring.disable();
        self.ring.drain(&mut self.bytes, &mut self.records);
        let mut lost = 0;
        let mut samples = Vec::with_capacity(self.records.len());
        for &(_, from, to) in &self.records {
            let bytes = self.bytes.get(from as usize..to as usize).unwrap_or_default();
            samples.extend(sample(bytes));
            lost += without_room(bytes).unwrap_or(0);
        }
        (samples, lost)
    }
}

/// How many records found no room, if this one says so.
fn without_room(bytes: &[u8]) -> Option<u64> {
    let mut cursor = Cursor(bytes);
    if cursor.u32()? != perf::LOST_RECORD {
        return None;
    }
    cursor.u32()?;
    cursor.u64()?;
    cursor.u64()
}

/// Reads a sample with its header. A thread that is in the middle of its execve(2) has no registers.
pub(crate) fn sample(bytes: &[u8]) -> Option<Registers> {
    let mut cursor = Cursor(bytes);
    if cursor.u32()? != perf::SAMPLE_RECORD {
        return None;
    }
    cursor.u32()?;
    let address = cursor.u64()?;
    let (pid, tid) = (cursor.u32()?, cursor.u32()?);
    let (time, task_clock, abi) = (cursor.u64()?, cursor.u64()?, cursor.u64()?);
    // 1: a program of 32 bits, whose code is another's.
    if abi != 2 {
        return None;
    }
    let mut registers = [0; REGISTERS];
    for (_, number) in ORDER {
        *registers.get_mut(number)? = cursor.u64()?;
    }
    Some(Registers { pid, tid, time, address, task_clock, registers })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_has_ended_is_no_failure() {
        // No thread has this number: kernel.pid_max is at most 2²².
        let why = OfThread::open(1 << 30, [1_000_000; 2], 0).expect_err("nothing to sample");
        if why.status == model::Status::Denied {
            eprintln!("SKIPPED: events of other threads: {}", why.why);
            return;
        }
        assert_eq!(why.status, model::Status::NotApplicable, "{}", why.why);
    }

    #[test]
    fn records_are_read() {
        let mut bytes: Vec<u8> = vec![9, 0, 0, 0, 2, 0, 0, 0];
        let words = [0x40_1000u64, 8 << 32 | 7, 55, 1_000_000, 2];
        words
            .iter()
            .chain((100..100 + COUNT as u64).collect::<Vec<_>>().iter())
            .for_each(|w| bytes.extend(w.to_ne_bytes()));
        let Some(read) = sample(&bytes) else { panic!("a sample") };
        assert_eq!((read.pid, read.tid), (7, 8));
        assert_eq!((read.address, read.time, read.task_clock), (0x40_1000, 55, 1_000_000));
        // The kernel's second is rbx, which instructions encode as 3.
        let second = if cfg!(target_arch = "x86_64") { 3 } else { 1 };
        assert_eq!((read.registers[0], read.registers[second]), (100, 101));
        for length in 0..bytes.len() {
            let _ = (sample(&bytes[..length]), without_room(&bytes[..length]));
        }
    }

    #[test]
    fn a_thread_is_sampled_with_what_it_counts() {
        let own = match OfThread::open(0, [190_000, 217_000], 200_000_000) {
            Ok(own) => own,
            Err(why) => {
                eprintln!("SKIPPED: performance events: {why}");
                return;
            }
        };
        own.begin().unwrap();
        let begin = std::time::Instant::now();
        let mut count = 0u64;
        while begin.elapsed() < std::time::Duration::from_millis(200) {
            count = std::hint::black_box(count + 1);
        }
        let (samples, _) = own.end();
        assert!(samples.len() > 6, "{}", samples.len());
        assert!(samples.windows(2).all(|pair| pair[0].task_clock < pair[1].task_clock && pair[0].time < pair[1].time));
        // Both timers sample, and count from the same moment on.
        let near = samples.windows(2).filter(|pair| pair[1].task_clock - pair[0].task_clock < 150_000).count();
        assert!(near > 0, "all samples lie as far apart: one timer took them");
        let from = |s: &Registers| s.time - s.task_clock;
        let apart = samples.windows(2).map(|pair| from(&pair[1]).saturating_sub(from(&pair[0])));
        assert!(apart.clone().filter(|&ns| ns < 1_000).count() * 2 > apart.count(), "their counts differ");
        // The stack pointer lies near what is on the stack.
        let stack = if cfg!(target_arch = "x86_64") { 4 } else { 31 };
        let here = (&raw const count) as u64;
        assert!(samples.iter().all(|s| s.registers[stack].abs_diff(here) < 1 << 20));
    }
}

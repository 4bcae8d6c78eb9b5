//! Where samples of this machine land: a loop of which one instruction waits, a load that needs the one before, sampled for some milliseconds.

use host::registers::OfThread;
use model::Unavailable;
use std::time::{Duration, Instant};

/// So long the loop is sampled, and so often.
const LENGTH: Duration = Duration::from_millis(10);
const PERIODS: [u64; 2] = [190_000, 217_000];

/// What was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Skid {
    /// Samples in the loop.
    pub samples: u64,
    /// On the load, and on the instruction after it.
    pub on: u64,
    pub after: u64,
}

impl Skid {
    /// How many instructions after the one that waits samples land, if four of five agree.
    pub(super) fn told(&self) -> Option<i64> {
        let most = |count: u64| count * 5 >= self.samples * 4 && self.samples >= 5;
        [(self.on, 0), (self.after, 1)].into_iter().find(|(count, _)| most(*count)).map(|(_, skid)| skid)
    }
}

/// A ring of pointers, a line of the cache apart and in an order that nothing foresees, of 512 KiB: its loads wait for the L2 cache.
fn ring() -> Vec<u64> {
    const LINES: usize = 8 << 10;
    const WORDS: usize = 8;
    let mut order: Vec<usize> = (0..LINES).collect();
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for at in (1..LINES).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        order.swap(at, (state % (at as u64 + 1)) as usize);
    }
    let mut ring = vec![0u64; LINES * WORDS];
    let base = ring.as_ptr() as u64;
    for (at, &line) in order.iter().enumerate() {
        let next = order.get((at + 1) % LINES).copied().unwrap_or_default();
        if let Some(word) = ring.get_mut(line * WORDS) {
            *word = base + (next * WORDS * 8) as u64;
        }
    }
    ring
}

/// Follows the ring for so many loads: the pointer it came to, the address of the load and that of the instruction after it.
#[cfg(target_arch = "x86_64")]
fn chase(mut at: u64, count: u64) -> (u64, u64, u64) {
    let (load, after): (u64, u64);
    // SAFETY: reads words of the ring, each of which holds the address of another; computes in registers else.
    unsafe {
        std::arch::asm!(
            "lea {load}, [rip + 2f]",
            "lea {after}, [rip + 3f]",
            "2:",
            "mov {at}, [{at}]",
            "3:",
            "dec {n}",
            "jnz 2b",
            at = inout(reg) at,
            n = inout(reg) count.max(1) => _,
            load = out(reg) load,
            after = out(reg) after,
            options(nostack, readonly)
        );
    }
    (at, load, after)
}

#[cfg(target_arch = "aarch64")]
fn chase(mut at: u64, count: u64) -> (u64, u64, u64) {
    let (load, after): (u64, u64);
    // SAFETY: reads words of the ring, each of which holds the address of another; computes in registers else.
    unsafe {
        std::arch::asm!(
            "adr {load}, 2f",
            "adr {after}, 3f",
            "2:",
            "ldr {at}, [{at}]",
            "3:",
            "subs {n}, {n}, #1",
            "b.ne 2b",
            at = inout(reg) at,
            n = inout(reg) count.max(1) => _,
            load = out(reg) load,
            after = out(reg) after,
            options(nostack, readonly)
        );
    }
    (at, load, after)
}

/// Samples the loop on the calling thread.
pub(super) fn calibrate() -> Result<Skid, Unavailable> {
    let event = OfThread::open(0, PERIODS, LENGTH.as_nanos() as u64)?;
    let ring = ring();
    let mut at = ring.as_ptr() as u64;
    // Once round, so that all of it is there.
    at = chase(at, 8 << 10).0;
    event.begin()?;
    let begin = Instant::now();
    let (mut load, mut after) = (0, 0);
    while begin.elapsed() < LENGTH {
        (at, load, after) = chase(at, 100_000);
    }
    std::hint::black_box(at);
    let (samples, _) = event.end();
    let mut skid = Skid::default();
    for sample in samples.iter().filter(|s| (load..after + 16).contains(&s.address)) {
        skid.samples += 1;
        skid.on += u64::from(sample.address == load);
        skid.after += u64::from(sample.address == after);
    }
    Ok(skid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ring_is_one() {
        let ring = ring();
        let mut at = ring.as_ptr() as u64;
        let begin = at;
        let mut count = 0;
        loop {
            at = chase(at, 1).0;
            count += 1;
            if at == begin || count > 10_000 {
                break;
            }
        }
        assert_eq!(count, 8 << 10);
        let (_, load, after) = chase(begin, 5);
        assert!((1..8).contains(&(after - load)));
    }

    #[test]
    fn what_four_of_five_say() {
        assert_eq!(Skid { samples: 100, on: 3, after: 90 }.told(), Some(1));
        assert_eq!(Skid { samples: 100, on: 80, after: 10 }.told(), Some(0));
        assert_eq!(Skid { samples: 100, on: 50, after: 50 }.told(), None);
        assert_eq!(Skid { samples: 4, on: 4, after: 0 }.told(), None);
    }

    #[test]
    fn this_machine_is_calibrated() {
        match calibrate() {
            Ok(skid) => assert!(skid.on + skid.after <= skid.samples, "{skid:?}"),
            Err(why) => eprintln!("SKIPPED: performance events: {why}"),
        }
    }
}

//! Threads on CPUs and waiting for one, every 10 ms, as `put_into_slots` of ledger.bpf.c adds them up.

use super::tables::CONCURRENCY;
use host::bpf::Map;
use model::{Out, Unavailable, real};

/// `SLOT_LENGTH` and `SLOTS` of ledger.bpf.c.
pub(super) const LENGTH: u64 = 10_000_000;
const SLOTS: u64 = 1024;

/// The slots read so far.
#[derive(Debug, Default)]
pub(super) struct Slots {
    /// The first that was not read; 0 before the first read.
    next: u64,
    /// Threads that fill whole slots from there on.
    carry: [i64; 2],
    /// Slots that were overwritten before they were read.
    pub missed: u64,
}

impl Slots {
    /// Puts the slots that ended before `until`, CLOCK_MONOTONIC. `start` is when the recording began. All threads must have been looked at
    /// since `until`.
    pub fn put(&mut self, map: &Map, until: u64, start: u64, out: &mut Out<'_>) -> Result<(), Unavailable> {
        let end = until / LENGTH;
        if self.next == 0 {
            self.next = end;
            // What runs already is told of in the slot in which it was first looked at.
            return Ok(());
        }
        if end.saturating_sub(self.next) >= SLOTS {
            self.missed += end - self.next;
            (self.next, self.carry) = (end, [0; 2]);
            return Ok(());
        }
        for number in self.next..end {
            let values = map.get_per_cpu(&((number % SLOTS) as u32).to_ne_bytes())?;
            let mut parts = [0i64; 2];
            for value in &values {
                let (words, _) = value.as_chunks::<8>();
                let word = |at: usize| words.get(at).map_or(0, |bytes| i64::from_ne_bytes(*bytes));
                if word(0) as u64 != number {
                    continue;
                }
                parts[0] += word(1);
                parts[1] += word(2);
                let more = word(3).to_ne_bytes();
                let (halves, _) = more.as_chunks::<4>();
                for (carry, half) in self.carry.iter_mut().zip(halves) {
                    *carry += i64::from(i32::from_ne_bytes(*half));
                }
            }
            let [running, runnable] = [0, 1].map(|at: usize| {
                let whole = self.carry.get(at).map_or(0, |c| c.saturating_mul(LENGTH as i64));
                (parts.get(at).copied().unwrap_or(0) + whole).max(0) as f64 / LENGTH as f64
            });
            if running > 0.0 || runnable > 0.0 {
                let at = (number * LENGTH).saturating_sub(start);
                out.row(CONCURRENCY, &[at as i64, real(running), real(runnable)]);
            }
        }
        self.next = end;
        Ok(())
    }
}

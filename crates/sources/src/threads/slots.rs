//! Threads on CPUs and waiting for one, every 10 ms, as `put_into_slots` of slots.h adds them up.
//!
//! A stretch of time leaves its parts in its first and its last slot, and for the whole slots between them +1 after the first and -1 in the last.
//! So the number of threads that fill a slot wholly is what later slots take back. It is summed up from the end at each read: what is ever lost
//! (slots that were written over, a program interrupted by another of its kind) is wrong in one read and not in all that follow.

use super::tables::CONCURRENCY;
use host::bpf::Map;
use model::{Out, Unavailable, real};

/// `SLOT_LENGTH` and `SLOTS` of slots.h and ledger.h.
pub(super) const LENGTH: u64 = 10_000_000;
const SLOTS: u64 = 1024;

/// What the kernel keeps of one slot: nanoseconds in it of stretches that do not fill it, and changes of the number that do; of those that
/// run, and of those that wait for a CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Slot {
    parts: [i64; 2],
    more: [i64; 2],
}

impl Slot {
    /// Adds what one CPU has of slot `number`, `struct slot`, where it is of that and no earlier turn of the ring.
    fn add(&mut self, value: &[u8], number: u64) {
        let (words, _) = value.as_chunks::<8>();
        let word = |at: usize| words.get(at).map_or(0, |bytes| i64::from_ne_bytes(*bytes));
        if word(0) as u64 != number {
            return;
        }
        let more = word(3).to_ne_bytes();
        let (halves, _) = more.as_chunks::<4>();
        for (at, half) in halves.iter().enumerate().take(2) {
            self.parts[at] += word(1 + at);
            self.more[at] += i64::from(i32::from_ne_bytes(*half));
        }
    }
}

/// Threads that ran and that waited in each of the first `count` slots; the slots behind them say which of those went on.
fn threads(slots: &[Slot], count: usize) -> Vec<[f64; 2]> {
    let mut whole = [0i64; 2];
    let mut found: Vec<[f64; 2]> = Vec::with_capacity(slots.len());
    for slot in slots.iter().rev() {
        found.push(
            [0, 1].map(|at: usize| (slot.parts[at] + whole[at].max(0) * LENGTH as i64).max(0) as f64 / LENGTH as f64),
        );
        for (whole, more) in whole.iter_mut().zip(slot.more) {
            *whole -= more;
        }
    }
    found.reverse();
    found.truncate(count);
    found
}

/// The slots read so far.
#[derive(Debug, Default)]
pub(super) struct Slots {
    /// The first that was not read; 0 before the first read.
    next: u64,
    /// Slots that were overwritten before they were read.
    pub missed: u64,
}

impl Slots {
    /// Puts the slots that ended before `until`, CLOCK_MONOTONIC; it is `now`. `start` is when the recording began. All threads must have been
    /// looked at since `until`.
    pub fn put(&mut self, map: &Map, until: u64, now: u64, start: u64, out: &mut Out<'_>) -> Result<(), Unavailable> {
        let end = until / LENGTH;
        if self.next == 0 {
            self.next = end;
            // What runs already is told of in the slot in which it was first looked at.
            return Ok(());
        }
        // One more than there are now may have begun while this is read.
        let last = now / LENGTH + 1;
        let first = self.next.max(last.saturating_sub(SLOTS - 2));
        self.missed += first - self.next;
        self.next = self.next.max(end);
        let mut slots = Vec::with_capacity((last + 1).saturating_sub(first) as usize);
        for number in first..=last {
            let mut slot = Slot::default();
            for value in map.get_per_cpu(&((number % SLOTS) as u32).to_ne_bytes())? {
                slot.add(&value, number);
            }
            slots.push(slot);
        }
        let read = threads(&slots, end.saturating_sub(first) as usize);
        for (number, [running, runnable]) in (first..).zip(read) {
            if running > 0.0 || runnable > 0.0 {
                let at = (number * LENGTH).saturating_sub(start);
                out.row(CONCURRENCY, &[at as i64, real(running), real(runnable)]);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF: i64 = LENGTH as i64 / 2;

    #[test]
    fn stretches_fill_the_slots_between_their_ends() {
        // One thread from the middle of slot 0 to the middle of slot 3, another from the middle of slot 1 until after what is read.
        let mut slots = [Slot::default(); 6];
        slots[0].parts[0] = HALF;
        slots[1] = Slot { parts: [HALF, 0], more: [1, 0] };
        slots[2].more[0] = 1;
        slots[3] = Slot { parts: [HALF, 0], more: [-1, 0] };
        slots[5] = Slot { parts: [HALF, 0], more: [-1, 0] };
        let running: Vec<f64> = threads(&slots, 5).iter().map(|t| t[0]).collect();
        assert_eq!(running, [0.5, 1.5, 2.0, 1.5, 1.0]);
    }

    #[test]
    fn what_began_before_the_first_slot_is_counted_and_what_was_lost_does_not_stay() {
        // Its first slots were written over: that it ended is known.
        let mut slots = [Slot::default(); 3];
        slots[2] = Slot { parts: [0, HALF], more: [0, -1] };
        assert_eq!(threads(&slots, 3), [[0.0, 1.0], [0.0, 1.0], [0.0, 0.5]]);
        // Its end was lost: no thread fewer than none.
        slots[2] = Slot::default();
        slots[0].more = [1, 1];
        assert_eq!(threads(&slots, 3), [[0.0, 0.0]; 3]);
    }

    #[test]
    fn slots_of_an_earlier_turn_are_none() {
        let mut slot = Slot::default();
        let words = |number: u64| {
            [number, 5, 7]
                .iter()
                .flat_map(|w| w.to_ne_bytes())
                .chain([1u32, u32::MAX].iter().flat_map(|w| w.to_ne_bytes()))
                .collect::<Vec<u8>>()
        };
        slot.add(&words(9), 10);
        assert_eq!(slot, Slot::default());
        slot.add(&words(10), 10);
        slot.add(&words(10)[..5], 10);
        assert_eq!(slot, Slot { parts: [5, 7], more: [1, -1] });
    }
}

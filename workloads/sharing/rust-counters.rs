// False sharing in Rust: each thread counts in its own element of a vector of atomic numbers.
use std::sync::atomic::{AtomicU64, Ordering};
mod share;

#[derive(Default)]
#[cfg_attr(mended, repr(align(128)))]
pub struct Slot {
    hits: AtomicU64,
}

#[inline(never)]
pub fn hit(slot: &Slot, times: u64) {
    for _ in 0..times {
        slot.hits.fetch_add(1, Ordering::Relaxed);
    }
}

fn main() {
    let run = share::begin(2);
    let slots: Vec<Slot> = (0..run.threads).map(|_| Slot::default()).collect();
    for (thread, slot) in slots.iter().enumerate() {
        share::writes(thread, &slot.hits, "Slot.hits");
    }
    run.all(slots.iter().map(|slot| move || hit(slot, share::ROUND)).collect());
}

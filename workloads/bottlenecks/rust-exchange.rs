// Waits for compare-and-exchange that nobody else contends for: a word of state is changed again and again by one thread.
use std::sync::atomic::{AtomicU64, Ordering};
mod bench;

#[inline(never)]
pub fn advance(state: &AtomicU64, steps: u64) -> u64 {
    let mut seen = state.load(Ordering::Relaxed);
    for _ in 0..steps {
        match state.compare_exchange(seen, seen.wrapping_add(1), Ordering::SeqCst, Ordering::Relaxed) {
            Ok(before) => seen = before.wrapping_add(1),
            Err(now) => seen = now,
        }
    }
    seen
}

fn main() {
    let bench = bench::Bench { operation: "change the state", unit: "words", size: 1, per_call: 10_000_000 };
    bench::run(&bench, |_| {
        let state = Box::new(AtomicU64::new(0));
        move |steps| advance(&state, steps)
    });
}

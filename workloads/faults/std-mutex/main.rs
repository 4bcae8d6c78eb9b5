// Threads that ask a store over a (simulated) network while they hold its mutex, against before they take it.
#[path = "../common/frame.rs"]
mod frame;

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// An answer from elsewhere: 300 us, most of them off the CPU.
#[inline(never)]
fn fetch(key: u64) -> u64 {
    std::thread::sleep(Duration::from_micros(200));
    (0..20_000).fold(key | 1, |x: u64, _| (x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9))
}

fn main() {
    let frame = frame::begin();
    let cache: Mutex<HashMap<u64, u64>> = Mutex::new(HashMap::new());
    let (keys, waited) = (AtomicU64::new(0), AtomicU64::new(0));
    frame.run("session", 6, |_| {
        let key = keys.fetch_add(1, Relaxed);
        let early = if frame.slow { None } else { Some(fetch(key)) };
        let from = Instant::now();
        let mut cache = cache.lock().expect("no thread panics");
        waited.fetch_add(from.elapsed().as_nanos() as u64, Relaxed);
        let value = early.unwrap_or_else(|| fetch(key));
        cache.insert(key % 4096, value);
    });
    println!("truth: seconds waiting for the lock {:.3}", waited.load(Relaxed) as f64 / 1e9);
    frame.lost_share(1.0);
}

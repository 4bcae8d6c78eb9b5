// Removes duplicates from batches of identifiers. Slow compares each with all, fast sorts them first: the same function, only
// slower, as after a careless change.
#[path = "../common/frame.rs"]
mod frame;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const BATCH: usize = 900;

#[inline(never)]
fn unique(batch: &[u64], quadratic: bool) -> usize {
    let mut kept: Vec<u64> = Vec::with_capacity(batch.len());
    if quadratic {
        for id in batch {
            if !kept.contains(id) {
                kept.push(*id);
            }
        }
    } else {
        // Still some comparing, so that both variants spend most of their time here.
        for chunk in batch.chunks(64) {
            let mut seen: Vec<u64> = Vec::with_capacity(64);
            for id in chunk {
                if !seen.contains(id) {
                    seen.push(*id);
                }
            }
            kept.extend(seen);
        }
        kept.sort_unstable();
        kept.dedup();
    }
    kept.len()
}

#[inline(never)]
fn load(seed: u64) -> Vec<u64> {
    let mut x = seed | 1;
    (0..BATCH)
        .map(|_| {
            x = (x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            x % 5000
        })
        .collect()
}

fn main() {
    let frame = frame::begin();
    let (kept, batches) = (AtomicU64::new(0), AtomicU64::new(1));
    frame.run("dedup", 2, |_| {
        let batch = load(batches.fetch_add(1, Relaxed));
        kept.fetch_add(unique(&batch, frame.slow) as u64, Relaxed);
    });
    println!("truth: kept {}", kept.load(Relaxed));
    frame.lost_share(1.0);
}

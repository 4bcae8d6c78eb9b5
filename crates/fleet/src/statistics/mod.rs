//! The statistics of a fleet: one number or more of each host in, bands and what separates them out. No input or output, no table, no clock;
//! everything is deterministic, for the generator is our own and its seed is given. What is assumed and how it behaves is in docs/method.md.
//!
//! A value that a host lacks is NaN. Hosts are told by their place in the slices. Nothing depends on the order of hosts.

pub mod agree;
pub mod ask;
pub mod bands;
mod density;
pub mod shown;
mod stray;
pub mod synthetic;

/// `f` of each item, on as many threads as there are CPUs; in the order of the items.
pub(crate) fn parallel<T: Sync, R: Send>(items: &[T], f: impl Fn(&T) -> R + Sync) -> Vec<R> {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(items.len());
    if threads < 2 {
        return items.iter().map(f).collect();
    }
    let next = AtomicUsize::new(0);
    let mut parts: Vec<(usize, R)> = std::thread::scope(|scope| {
        let work = || {
            let mut done = Vec::new();
            while let Some((i, item)) = {
                let i = next.fetch_add(1, Ordering::Relaxed);
                items.get(i).map(|item| (i, item))
            } {
                done.push((i, f(item)));
            }
            done
        };
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        running.into_iter().flat_map(|t| t.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    parts.sort_by_key(|p| p.0);
    parts.into_iter().map(|p| p.1).collect()
}

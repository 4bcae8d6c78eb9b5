//! The statistics of a fleet: one number or more of each host in, bands and what separates them out. No input or output, no table, no clock;
//! everything is deterministic, for the generator is our own and its seed is given. What is assumed and how it behaves is in docs/method.md.
//!
//! A value that a host lacks is NaN. Hosts are told by their place in the slices. Nothing depends on the order of hosts.

pub mod agree;
pub mod alike;
pub mod ask;
pub mod bands;
mod density;
pub mod facts;
pub mod rule;
pub mod separate;
pub mod share;
pub mod shown;
pub mod since;
pub(crate) mod stray;
pub mod synthetic;

/// `f` of each item, on as many threads as there are CPUs; in the order of the items.
pub(crate) fn parallel<T: Sync, R: Send>(items: &[T], f: impl Fn(&T) -> R + Sync) -> Vec<R> {
    parallel_by(items, 1, f)
}

/// The same where a thread takes so many items at once, since one is soon done.
pub(crate) fn parallel_by<T: Sync, R: Send>(items: &[T], at_once: usize, f: impl Fn(&T) -> R + Sync) -> Vec<R> {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let chunks: Vec<&[T]> = items.chunks(at_once.max(1)).collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(chunks.len());
    if threads < 2 {
        return items.iter().map(f).collect();
    }
    let next = AtomicUsize::new(0);
    let mut parts: Vec<(usize, Vec<R>)> = std::thread::scope(|scope| {
        let work = || {
            let mut done = Vec::new();
            loop {
                let i = next.fetch_add(1, Ordering::Relaxed);
                let Some(chunk) = chunks.get(i) else { return done };
                done.push((i, chunk.iter().map(&f).collect()));
            }
        };
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let join = |t: std::thread::ScopedJoinHandle<'_, _>| t.join().unwrap_or_else(|p| std::panic::resume_unwind(p));
        running.into_iter().flat_map(join).collect()
    });
    parts.sort_by_key(|p| p.0);
    parts.into_iter().flat_map(|p| p.1).collect()
}

/// The median; NaN of nothing.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut x = values.to_vec();
    x.sort_by(f64::total_cmp);
    match x.len() {
        0 => f64::NAN,
        n => 0.5 * x[(n - 1) / 2] + 0.5 * x[n / 2],
    }
}

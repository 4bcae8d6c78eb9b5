//! How long a cache line takes from one CPU to another, and what an atomic addition costs that has its line for itself: by two threads that write one
//! line in turn, and by one that adds.
//!
//! Hackenberg et al., "Comparing Cache Architectures and Coherency Protocols on x86-64 Multicore SMP Systems", MICRO 2009.

use crate::cpus::{CpuSet, sched_setaffinity};
use model::Unavailable;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A counter that shares its cache line, and the one that is fetched with it, with nothing.
#[repr(align(128))]
struct Line(AtomicU64);

/// Round trips of one batch.
const TRIPS: u64 = 300;
fn pin(cpu: usize) -> Result<(), Unavailable> {
    let mut set = CpuSet::new();
    if cpu >= CpuSet::MAX_CPU {
        return Err(Unavailable::failed(format!("CPU {cpu}: beyond what can be asked for")));
    }
    set.set(cpu);
    sched_setaffinity(None, &set).map_err(|error| Unavailable::failed(format!("CPU {cpu}: {error}")))
}

/// Waits until the line holds `value`; false when it takes longer than `answer`, or somebody has given up.
fn wait(line: &Line, value: u64, answer: Duration, over: &AtomicBool) -> bool {
    let mut turns = 0u32;
    let mut end = None;
    while line.0.load(Ordering::Acquire) != value {
        std::hint::spin_loop();
        turns += 1;
        if turns == 1 << 16 {
            turns = 0;
            if over.load(Ordering::Relaxed) || Instant::now() > *end.get_or_insert_with(|| Instant::now() + answer) {
                return false;
            }
        }
    }
    true
}

/// How long the line takes from CPU `a` to CPU `b` and back, halved, seconds: of each of so many batches of 300. `go_on` is asked before each.
/// A CPU that takes longer than `answer` to write back was taken away.
///
/// # Errors
/// Where a CPU cannot be used, or does not answer; and what `go_on` says.
pub fn transfer(
    a: usize,
    b: usize,
    batches: u64,
    answer: Duration,
    mut go_on: impl FnMut() -> Result<(), Unavailable> + Send,
) -> Result<Vec<f64>, Unavailable> {
    let line = Line(AtomicU64::new(0));
    let over = AtomicBool::new(false);
    let died = || Unavailable::failed("a thread that passes a line has died");
    std::thread::scope(|scope| {
        let echo = scope.spawn(|| {
            pin(b)?;
            for n in 0..batches * TRIPS {
                if !wait(&line, 2 * n + 1, answer, &over) {
                    break;
                }
                line.0.store(2 * n + 2, Ordering::Release);
            }
            Ok::<(), Unavailable>(())
        });
        let times = scope.spawn(|| {
            let times = pin(a).and_then(|()| {
                let mut all = Vec::new();
                for batch in 0..batches {
                    go_on()?;
                    let start = Instant::now();
                    for n in batch * TRIPS..(batch + 1) * TRIPS {
                        line.0.store(2 * n + 1, Ordering::Release);
                        if !wait(&line, 2 * n + 2, answer, &over) {
                            let why = format!("CPU {b} did not answer CPU {a} for {} ms", answer.as_millis());
                            return Err(Unavailable::failed(why));
                        }
                    }
                    all.push(start.elapsed().as_secs_f64() / (2 * TRIPS) as f64);
                }
                Ok(all)
            });
            over.store(true, Ordering::Relaxed);
            times
        });
        let times = times.join().map_err(|_| died())?;
        echo.join().map_err(|_| died())??;
        times
    })
}

/// What an atomic addition takes while two CPUs do nothing but add to one line, seconds: the median of some batches of each.
///
/// # Errors
/// Where a CPU cannot be used, or the two never ran at once.
pub fn contended(a: usize, b: usize) -> Result<f64, Unavailable> {
    const BATCHES: usize = 12;
    const ADDITIONS: u32 = 1_000;
    let line = Line(AtomicU64::new(0));
    let here = [a, b].map(|_| Line(AtomicU64::new(0)));
    let died = || Unavailable::failed("a thread that adds has died");
    let add = |cpu: usize, own: &Line, other: &Line| {
        pin(cpu)?;
        own.0.store(1, Ordering::Release);
        wait(other, 1, Duration::from_millis(2), &AtomicBool::new(false));
        let mut times = Vec::with_capacity(BATCHES);
        for _ in 0..BATCHES {
            let start = Instant::now();
            for _ in 0..ADDITIONS {
                line.0.fetch_add(1, Ordering::Relaxed);
            }
            times.push(start.elapsed().as_secs_f64() / f64::from(ADDITIONS));
        }
        Ok::<_, Unavailable>(times)
    };
    std::thread::scope(|scope| {
        let [first, second] = &here;
        let other = scope.spawn(|| add(b, second, first));
        let mine = scope.spawn(|| add(a, first, second));
        let mut times = mine.join().map_err(|_| died())??;
        times.extend(other.join().map_err(|_| died())??);
        // One that ran while the other was away, for all or most of it, had the line for itself.
        let alone = atomic() * 2.5;
        times.retain(|time| *time > alone);
        times.sort_by(f64::total_cmp);
        let middle = times.get(times.len() / 2).copied();
        middle.ok_or_else(|| Unavailable::failed(format!("CPUs {a} and {b} did not run at once")))
    })
}

/// What an atomic addition to a line that no other CPU uses costs, seconds: the best of some batches.
pub fn atomic() -> f64 {
    const ADDITIONS: u32 = 2_000;
    let line = Line(AtomicU64::new(0));
    let batch = |_| {
        let word = std::hint::black_box(&line.0);
        let start = Instant::now();
        for _ in 0..ADDITIONS {
            word.fetch_add(1, Ordering::Relaxed);
        }
        start.elapsed().as_secs_f64() / f64::from(ADDITIONS)
    };
    (0..10).map(batch).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_addition_takes_some_time() {
        let seconds = atomic();
        assert!(seconds > 1e-11 && seconds < 1e-3, "{seconds}");
        if let Ok(contended) = contended(0, 1) {
            assert!(contended > seconds, "{contended} {seconds}");
        }
        assert!(contended(1 << 20, 0).is_err());
    }

    #[test]
    fn who_is_asked_may_end_it() {
        let stop = || Err(Unavailable::failed("enough"));
        assert!(
            transfer(0, 0, 3, Duration::from_millis(100), stop).is_err_and(|why| why.to_string().contains("enough"))
        );
        assert!(transfer(1 << 20, 0, 1, Duration::from_millis(100), || Ok(())).is_err());
    }
}

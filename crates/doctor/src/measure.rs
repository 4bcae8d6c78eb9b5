//! How timings are taken: rounds of a batch, on a thread that is pinned to a CPU.

use crate::Context;
use crate::calls as libc;
use host::cpus::{CpuSet, sched_getaffinity, sched_setaffinity};
use model::Unavailable;
use std::time::{Duration, Instant};

/// What several rounds of a measurement gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The least.
    pub low: f64,
    /// The median.
    pub median: f64,
    /// What nine of ten do not exceed.
    pub high: f64,
}

impl Spread {
    /// Of any number of values; None of none.
    pub fn of(values: &[f64]) -> Option<Self> {
        let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        Some(Spread { low: *sorted.first()?, median: quantile(&sorted, 0.5)?, high: quantile(&sorted, 0.9)? })
    }

    /// Of rates, where a disturbance makes the value smaller: from the first decile to the ninth.
    pub(crate) fn of_rates(values: &[f64], what: &str) -> Result<Self, Unavailable> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let spread = Spread::or_failed(values, what)?;
        Ok(Spread { low: quantile(&sorted, 0.1).unwrap_or(spread.low), ..spread })
    }

    /// As [`Spread::of`]; of none it says what failed.
    pub(crate) fn or_failed(values: &[f64], what: &str) -> Result<Self, Unavailable> {
        Spread::of(values).ok_or_else(|| Unavailable::failed(format!("{what}: no round ended")))
    }
}

/// The value below which a share `q` of the sorted values lies.
pub(crate) fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    sorted.get((last as f64 * q).round() as usize).copied()
}

/// Seconds that one call takes, of `rounds` rounds of about `seconds` each: `batch(n)` makes n calls. Noise only ever adds to a round, so
/// the least is what the machine can do and the median is what it did.
pub(crate) fn per_call(
    context: &Context<'_>,
    rounds: usize,
    seconds: f64,
    mut batch: impl FnMut(u64),
) -> Result<Spread, Unavailable> {
    let mut n = 1;
    loop {
        let start = Instant::now();
        batch(n);
        let taken = start.elapsed().as_secs_f64();
        if taken > seconds / 4.0 || n > 1 << 40 {
            n = ((n as f64 * seconds / taken.max(1e-9)) as u64).max(1);
            break;
        }
        n *= 4;
    }
    let mut all = Vec::new();
    for _ in 0..context.rounds(rounds) {
        context.go_on()?;
        let start = Instant::now();
        batch(n);
        all.push(start.elapsed().as_secs_f64() / n as f64);
    }
    Spread::or_failed(&all, "timing")
}

/// The CPUs that this program may run on, ascending.
pub(crate) fn allowed_cpus() -> Vec<usize> {
    let set = sched_getaffinity(None).unwrap_or_default();
    (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect()
}

/// Ties the calling thread to a CPU.
pub(crate) fn pin(cpu: usize) -> Result<(), Unavailable> {
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).map_err(|e| Unavailable::denied(format!("sched_setaffinity to CPU {cpu}: {e}")))
}

/// Runs `work` on a thread of its own that is tied to a CPU.
pub(crate) fn on_cpu<T: Send>(
    cpu: usize,
    work: impl FnOnce() -> Result<T, Unavailable> + Send,
) -> Result<T, Unavailable> {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            pin(cpu)?;
            work()
        });
        joined(thread)
    })
}

/// What a thread returned.
pub(crate) fn joined<T>(thread: std::thread::ScopedJoinHandle<'_, Result<T, Unavailable>>) -> Result<T, Unavailable> {
    thread.join().unwrap_or_else(|_| Err(Unavailable::failed("a thread of the measurement died")))
}

/// The first of the allowed CPUs that is not CPU 0, which takes more interrupts than others on many machines.
pub(crate) fn quiet_cpu() -> Result<usize, Unavailable> {
    let cpus = allowed_cpus();
    cpus.get(1).or(cpus.first()).copied().ok_or_else(|| Unavailable::failed("sched_getaffinity names no CPU"))
}

/// CLOCK_MONOTONIC, nanoseconds.
pub(crate) fn now() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// A moment from now.
pub(crate) fn deadline(seconds: f64) -> Instant {
    Instant::now() + Duration::from_secs_f64(seconds)
}

/// Anonymous memory, given back at the end. Aligned to 2 MiB, so that huge pages fit.
#[derive(Debug)]
pub(crate) struct Memory {
    base: *mut u8,
    mapped: usize,
    start: *mut u8,
    length: usize,
}

// SAFETY: the mapping belongs to this value alone; access goes through `&self` by raw pointers whose users synchronise.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

/// Size of a huge page on x86-64, and on aarch64 with pages of 4 KiB.
pub(crate) const HUGE: usize = 2 << 20;

impl Memory {
    /// `length` bytes that are not touched yet; `advice` is madvise(2)'s, such as MADV_HUGEPAGE.
    pub(crate) fn map(length: usize, advice: Option<i32>) -> Result<Self, Unavailable> {
        let mapped = length + HUGE;
        // SAFETY: a new private mapping; the kernel chooses where.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                mapped,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(failed(&format!("mmap of {} MiB", length >> 20)));
        }
        let base = base.cast::<u8>();
        let start = base.wrapping_add(base.align_offset(HUGE));
        let memory = Memory { base, mapped, start, length };
        if let Some(advice) = advice {
            // SAFETY: the range lies in the mapping.
            let done = unsafe { libc::madvise(start.cast(), length, advice) };
            if done != 0 {
                return Err(failed("madvise"));
            }
        }
        Ok(memory)
    }

    pub(crate) fn start(&self) -> *mut u8 {
        self.start
    }

    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Gives the pages back, so that they fault anew.
    pub(crate) fn drop_pages(&self) {
        // SAFETY: the range lies in the mapping; its content is not needed any more.
        unsafe { libc::madvise(self.start.cast(), self.length, libc::MADV_DONTNEED) };
    }

    /// Writes one byte of each 4 KiB.
    pub(crate) fn touch(&self) {
        for offset in (0..self.length).step_by(4096) {
            // SAFETY: within the mapping.
            unsafe { self.start.add(offset).write_volatile(1) };
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: unmaps what `map` mapped, once.
        unsafe { libc::munmap(self.base.cast(), self.mapped) };
    }
}

/// What a system call answered.
pub(crate) fn failed(what: &str) -> Unavailable {
    let error = std::io::Error::last_os_error();
    refused(what, &error)
}

/// What a call answered.
pub(crate) fn refused(what: &str, error: &std::io::Error) -> Unavailable {
    let why = format!("{what}: {error}");
    match error.kind() {
        std::io::ErrorKind::PermissionDenied => Unavailable::denied(why),
        _ => Unavailable::failed(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads_are_ordered() {
        assert_eq!(Spread::of(&[]), None);
        let s = Spread::of(&[3.0, 1.0, 2.0, f64::NAN]).unwrap();
        assert_eq!((s.low, s.median, s.high), (1.0, 2.0, 3.0));
    }

    #[test]
    fn memory_is_aligned_and_writable() {
        let memory = Memory::map(4 << 20, None).unwrap();
        assert_eq!(memory.start() as usize % HUGE, 0);
        memory.touch();
        memory.drop_pages();
        memory.touch();
        assert!(memory.length() == 4 << 20);
    }

    #[test]
    fn threads_run_where_they_are_tied() {
        let cpu = quiet_cpu().unwrap();
        // SAFETY: takes no pointers.
        assert_eq!(on_cpu(cpu, || Ok(unsafe { libc::sched_getcpu() })).unwrap(), cpu as i32);
        assert!(!allowed_cpus().is_empty());
    }
}

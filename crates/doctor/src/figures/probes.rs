//! Figures of the CPU and of the kernel's services.

use super::{On, Prepared, Probe};
use crate::Context;
use crate::calls as libc;
use crate::disk::{BLOCK, Scratch, in_memory, where_it_lies};
use crate::measure::{HUGE, Memory, Spread, now, pin, quantile, refused};
use crate::{kernel, machine, pairs};
use host::speed;
use model::Unavailable;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Adds all of them.
pub(super) fn prepare<'a>(on: On<'a>, into: &mut Prepared<'a>) {
    let On { context, cpu, cpus } = on;
    into.add("frequency", frequency());
    into.add("call", calls());
    into.add("switch", switch(cpu));
    into.add("fault", faults());
    into.add("wake", wake(cpu, cpus));
    into.add("line", lines(on));
    into.add("fsync", fsync(context));
}

/// Seconds that each of `n` calls takes.
fn each(n: u32, mut call: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..n {
        call();
    }
    start.elapsed().as_secs_f64() / f64::from(n)
}

fn frequency<'a>() -> Result<Vec<Probe<'a>>, Unavailable> {
    if speed::frequency().is_none() {
        return Err(Unavailable::not_applicable(
            "how many cycles an addition takes is known here for x86-64 and aarch64 only",
        ));
    }
    let measured = || speed::speed().ok_or_else(|| Unavailable::failed("the clock jumped"));
    Ok(vec![
        Probe::rate("frequency", "frequency, one CPU busy", "Hz", move || Ok(measured()?.frequency)),
        Probe::rate("width", "additions a cycle", "", move || Ok(measured()?.width)),
    ])
}

fn calls<'a>() -> Result<Vec<Probe<'a>>, Unavailable> {
    let file = std::fs::File::open("/proc/self/exe").map_err(|e| refused("/proc/self/exe", &e))?;
    let mut byte = [0u8; 1];
    Ok(vec![
        Probe::time("call", "a system call that does nothing (getppid)", || {
            Ok(each(4_000, || {
                // SAFETY: the call takes no arguments and never fails.
                std::hint::black_box(unsafe { libc::syscall(libc::SYS_getppid) });
            }))
        }),
        Probe::time("call.read", "a read of one byte in memory (pread)", move || {
            Ok(each(2_000, || {
                let _ = std::hint::black_box(file.read_at(&mut byte, 0));
            }))
        }),
        Probe::time("clock", "a read of the clock (CLOCK_MONOTONIC)", || {
            Ok(each(10_000, || crate::clock::time(libc::CLOCK_MONOTONIC)))
        }),
    ])
}

/// Two threads on one CPU hand a byte to and fro. The other ends when the pipe is closed.
fn switch<'a>(cpu: usize) -> Result<Vec<Probe<'a>>, Unavailable> {
    let failed = |e: std::io::Error| refused("pipe", &e);
    let (there_out, mut to) = std::io::pipe().map_err(failed)?;
    let (mut from, back_in) = std::io::pipe().map_err(failed)?;
    std::thread::Builder::new()
        .spawn(move || {
            if pin(cpu).is_ok() {
                kernel::echo(&there_out, &back_in);
            }
        })
        .map_err(|e| refused("a thread", &e))?;
    let mut byte = [0u8; 1];
    Ok(vec![Probe::time("switch", "a switch between two threads of a CPU, with a write and a read", move || {
        const TRIPS: u32 = 400;
        let start = Instant::now();
        for _ in 0..TRIPS {
            to.write_all(&byte).and_then(|()| from.read_exact(&mut byte)).map_err(|e| refused("pipe", &e))?;
        }
        Ok(start.elapsed().as_secs_f64() / f64::from(2 * TRIPS))
    })])
}

/// Touches all of `memory`, which was not: seconds, and how many faults that took. It is given back.
fn touched(memory: &Memory) -> (f64, f64) {
    let (before, start) = (kernel::faults(), Instant::now());
    memory.touch();
    let seconds = start.elapsed().as_secs_f64();
    let taken = (kernel::faults() - before) as f64;
    memory.drop_pages();
    (seconds, taken)
}

fn faults<'a>() -> Result<Vec<Probe<'a>>, Unavailable> {
    const SMALL: usize = HUGE;
    const LARGE: usize = 4 * HUGE;
    // A kernel without huge pages knows no such advice.
    let memory = Memory::map(SMALL, Some(libc::MADV_NOHUGEPAGE)).or_else(|_| Memory::map(SMALL, None))?;
    let pages = (SMALL / 4096) as f64;
    let mut all =
        vec![Probe::time("fault", "a page fault, with 4 KiB of fresh memory", move || match touched(&memory) {
            (seconds, taken) if taken > pages * 0.9 => Ok(seconds / pages),
            _ => Err(Unavailable::failed("the kernel maps several pages at once: the cost of one fault can't be told")),
        })];
    if let Ok(memory) = Memory::map(LARGE, Some(libc::MADV_HUGEPAGE)) {
        let pages = (LARGE / HUGE) as f64;
        all.push(Probe::time("fault.huge", "a page fault, with a huge page of 2 MiB", move || {
            match touched(&memory) {
                (seconds, taken) if taken < 8.0 * pages => Ok(seconds / pages),
                _ => Err(Unavailable::absent("no huge pages could be had: see thp")),
            }
        }));
    }
    Ok(all)
}

/// A thread that sleeps on another CPU, and says how long it took to wake.
struct Sleeper {
    sent: AtomicU64,
    took: AtomicU64,
    over: AtomicBool,
}

/// The waker: it ends the sleeper when it is dropped.
struct Waker {
    shared: Arc<Sleeper>,
    thread: std::thread::Thread,
}

impl Drop for Waker {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

impl Waker {
    /// The median time of so many wake-ups, each after so long a rest.
    fn median(&self, rest: Duration, count: usize) -> Result<f64, Unavailable> {
        let mut times = Vec::with_capacity(count);
        for _ in 0..count {
            std::thread::sleep(rest);
            self.shared.took.store(0, Ordering::Release);
            self.shared.sent.store(now(), Ordering::Release);
            self.thread.unpark();
            let end = crate::measure::deadline(0.2);
            let mut took = 0;
            while took == 0 && Instant::now() < end {
                std::hint::spin_loop();
                took = self.shared.took.load(Ordering::Acquire);
            }
            if took > 0 {
                times.push(took as f64 / 1e9);
            }
        }
        times.sort_by(f64::total_cmp);
        quantile(&times, 0.5).ok_or_else(|| Unavailable::failed("the other CPU did not wake for 0.2 s"))
    }
}

fn wake<'a>(cpu: usize, cpus: &[usize]) -> Result<Vec<Probe<'a>>, Unavailable> {
    let Some(other) = cpus.iter().copied().find(|other| *other != cpu) else {
        return Err(Unavailable::not_applicable("one CPU: no thread can wake another on an idle CPU"));
    };
    let shared = Arc::new(Sleeper { sent: 0.into(), took: 0.into(), over: false.into() });
    let own = Arc::clone(&shared);
    let sleeper = std::thread::Builder::new()
        .spawn(move || {
            if pin(other).is_err() {
                return;
            }
            let mut last = 0;
            while !own.over.load(Ordering::Acquire) {
                std::thread::park();
                let (now, at) = (now(), own.sent.load(Ordering::Acquire));
                if at != last {
                    last = at;
                    own.took.store(now.saturating_sub(at).max(1), Ordering::Release);
                }
            }
        })
        .map_err(|e| refused("a thread", &e))?;
    let waker = Arc::new(Waker { shared, thread: sleeper.thread().clone() });
    let again = Arc::clone(&waker);
    Ok(vec![
        Probe::time("wake.short", "waking a thread on a CPU that was idle for 50 µs", move || {
            waker.median(Duration::from_micros(50), 12)
        }),
        Probe::time("wake.long", "waking a thread on a CPU that was idle for 1 ms", move || {
            again.median(Duration::from_millis(1), 5)
        }),
    ])
}

/// Pairs of each kind that are measured.
const PAIRS: usize = 2;

fn lines<'a>(on: On<'a>) -> Result<Vec<Probe<'a>>, Unavailable> {
    let On { context, cpu, cpus } = on;
    let place = machine::Place::of(context.host, cpu);
    let mut kinds: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for &other in cpus.iter().filter(|other| **other != cpu) {
        let kind = pairs::kin(&place, &machine::Place::of(context.host, other), other);
        let known = kinds.entry(kind).or_default();
        if known.len() < PAIRS {
            known.push(other);
        }
    }
    if kinds.is_empty() {
        return Err(Unavailable::not_applicable("one CPU: there are no pairs"));
    }
    let probe = |(kind, others): (&str, Vec<usize>)| {
        let id = match kind {
            "threads of a core" => "line.core",
            "same last cache" => "line.cache",
            "same socket" => "line.socket",
            _ => "line.far",
        };
        Probe::time(id, format!("a cache line from one CPU to another ({kind})"), move || {
            let mut least = Vec::new();
            for &other in &others {
                let times = host::cacheline::transfer(cpu, other, 3, pairs::ANSWER, || context.go_on())?;
                least.push(Spread::or_failed(&times, "passing a line")?.low);
            }
            Ok(Spread::or_failed(&least, "passing a line")?.median)
        })
    };
    Ok(kinds.into_iter().map(probe).collect())
}

/// Bytes of the file that is written again and again.
const ROOM: u64 = 1 << 20;

fn fsync<'a>(context: &'a Context<'a>) -> Result<Vec<Probe<'a>>, Unavailable> {
    let (mount, _) = where_it_lies(context);
    in_memory(&mount)?;
    let scratch = Scratch::new(context.dir, 0)?;
    let zeroes = vec![0u8; ROOM as usize];
    scratch.file.write_all_at(&zeroes, 0).and_then(|()| scratch.file.sync_all()).map_err(|e| scratch.failed(&e))?;
    let block = [0x5au8; BLOCK];
    let mut n = 0;
    Ok(vec![Probe::time("fsync", "a write of 4 KiB that is made safe (fdatasync)", move || {
        n = (n + BLOCK as u64) % ROOM;
        let start = Instant::now();
        scratch.file.write_all_at(&block, n).and_then(|()| scratch.file.sync_data()).map_err(|e| scratch.failed(&e))?;
        Ok(start.elapsed().as_secs_f64())
    })])
}

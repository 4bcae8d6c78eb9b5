//! Cache lines that threads fight over. Samples with registers tell where in memory instructions wait, and which threads use the same line with a writer
//! among them: candidates. Where it is asked for, watchpoints on their words tell who reads and writes which bytes of them.

mod codes;
mod data;
#[cfg(feature = "bpf")]
mod java;
#[cfg(not(feature = "bpf"))]
#[path = "no_java.rs"]
mod java;
mod lines;
mod space;
mod tables;
mod watch;

pub(super) use codes::Codes;
pub(super) use lines::{Lines, Looked, OfThread};
pub(super) use tables::{At, FIELD, LOOK, MACHINE, WATCH, write};
pub(super) use watch::{Budget, watch};

use host::cacheline;
use std::time::Duration;

/// What an access costs on this machine.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Machine {
    /// A line from one CPU to another, ns: the median of the pairs that were tried.
    pub transfer: Option<f64>,
    /// An atomic addition while another CPU adds to the same line, ns.
    pub contended: Option<f64>,
    /// An atomic addition to a line of its own, ns.
    pub atomic: f64,
}

/// Pairs of CPUs that are tried: the first with some others.
const PAIRS: usize = 3;

/// On a busy machine it takes longer until the other CPU answers: then it is not known.
const ANSWER: Duration = Duration::from_millis(2);

/// Measures it: a millisecond of two CPUs.
pub(super) fn measure() -> Machine {
    let cpus = allowed();
    let others = cpus.iter().skip(1).step_by((cpus.len() / PAIRS).max(1)).take(PAIRS);
    let first = cpus.first().copied();
    let mut times: Vec<f64> = others
        .filter_map(|&other| cacheline::transfer(first?, other, 5, ANSWER, || Ok(())).ok())
        .filter_map(|batches| batches.into_iter().reduce(f64::min))
        .collect();
    times.sort_by(f64::total_cmp);
    let contended = first.zip(cpus.get(1)).and_then(|(a, &b)| cacheline::contended(a, b).ok()).map(|s| s * 1e9);
    Machine {
        contended,
        transfer: times.get(times.len() / 2).map(|seconds| seconds * 1e9),
        atomic: cacheline::atomic() * 1e9,
    }
}

/// CPUs that this thread may use.
fn allowed() -> Vec<usize> {
    let set = host::cpus::sched_getaffinity(None).ok();
    set.map(|set| (0..host::cpus::CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect()).unwrap_or_default()
}

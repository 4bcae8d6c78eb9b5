//! Cache lines that threads fight over: what the block `sharing` holds, a gzip of JSON. It is of the compared window, whatever window the page shows.

use super::NoCode;
use serde::Serialize;

/// The block `sharing`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SharedLines {
    /// By run.
    pub runs: Vec<SharedOfRun>,
}

/// What was found in a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SharedOfRun {
    /// Why it was not looked for such lines; null where it was.
    pub missing: Option<NoCode>,
    /// Findings, those that take most CPU time first.
    pub things: Vec<SharedThing>,
    /// Findings that are left out.
    pub left_out: usize,
    /// What a line takes from one CPU to another on that machine, ns.
    pub transfer: Option<f64>,
    /// What an atomic addition takes alone, ns.
    pub atomic: Option<f64>,
    /// Hits of watchpoints; null where no words were watched.
    pub hits: Option<i64>,
    /// Whether samples with registers were looked through: only then `things` having none says anything.
    pub looked: bool,
    /// Accesses that the CPU sampled itself (PEBS, IBS, SPE); null where it did not.
    pub sampled: Option<u64>,
    /// Lines that it says came from the caches of other cores, those that did most often first.
    pub moved: Vec<SharedMoved>,
    /// Of these, lines that are left out.
    pub moved_left_out: usize,
}

/// A line of which the CPU has sampled accesses whose data came from the cache of another core.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SharedMoved {
    /// `false` or `true`, as in `SharedThing`; null where not enough threads were sampled to tell.
    pub kind: Option<String>,
    /// What lies there; the line where nobody tells.
    pub name: String,
    /// The kind of memory; empty where nobody tells.
    pub memory: String,
    /// The process.
    pub pid: i64,
    /// Its name.
    pub comm: String,
    /// Accesses that were sampled.
    pub sampled: u64,
    /// Of these, those whose data came from the cache of another core.
    pub from_core: u64,
    /// Of those, where that core had changed them (HITM).
    pub modified: u64,
    /// Cycles of one of those from another core; null where the CPU did not tell.
    pub cycles: Option<f64>,
    /// Part of the cycles of all accesses that were sampled of the process; null where the CPU did not tell.
    pub part: Option<f64>,
    /// What to do; null where it is not told what kind of sharing it is.
    pub advice: Option<String>,
    /// The line.
    pub line: SharedLine,
}

/// Lines of one variable, object or class of a process that threads wait for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SharedThing {
    /// `false`: threads use different bytes; `true`: they use the same.
    pub kind: String,
    /// What it is called.
    pub name: String,
    /// The kind of memory; empty where nobody tells.
    pub memory: String,
    /// The process.
    pub pid: i64,
    /// Its name.
    pub comm: String,
    /// Part of the CPU time of the process that goes to waiting for it, and its 95 % interval.
    pub part: [f64; 3],
    /// How many times as fast the process's code were without, and the interval; estimated.
    pub speedup: [f64; 3],
    /// Functions that wait, with their part of the waiting, most first.
    pub functions: Vec<SharedFunction>,
    /// What to do.
    pub advice: String,
    /// The lines, those that are waited for most first.
    pub lines: Vec<SharedLine>,
    /// Lines that are left out.
    pub left_out: usize,
}

/// A function that waits.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SharedFunction {
    /// Empty where nobody tells.
    pub name: String,
    /// Of the waiting for the thing.
    pub part: f64,
}

/// A line of 64 bytes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SharedLine {
    /// Its first byte in the process.
    pub address: u64,
    /// Watchpoints have seen several threads at it.
    pub watched: bool,
    /// Where the variable is declared; empty where nobody tells.
    pub source: String,
    /// What lies in it, in order.
    pub fields: Vec<SharedField>,
    /// Threads that use it; `cells` and `accesses` name them by their place here.
    pub threads: Vec<SharedThread>,
    /// Stretches of bytes that the same threads use in the same way, in order; bytes that are not in one are not used.
    pub cells: Vec<SharedCells>,
    /// Those that are waited for most first.
    pub accesses: Vec<SharedAccess>,
    /// Accesses that are left out.
    pub left_out: usize,
}

/// A field or an element.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SharedField {
    /// First byte in the line; negative where it begins before.
    pub first: i64,
    /// Bytes.
    pub size: i64,
    /// Its path.
    pub name: String,
    /// Its type.
    pub of_type: String,
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SharedThread {
    /// Its number.
    pub tid: i64,
    /// Its name.
    pub name: String,
}

/// Bytes that the same threads use.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SharedCells {
    /// The first.
    pub first: i64,
    /// How many.
    pub size: i64,
    /// Threads that write them, by place.
    pub writers: Vec<usize>,
    /// Threads that only read them, by place.
    pub readers: Vec<usize>,
}

/// An instruction of a thread that uses the line.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SharedAccess {
    /// The thread, by its place.
    pub thread: usize,
    /// First byte in the line.
    pub first: i64,
    /// How many; 0 where it is somewhere in the word.
    pub size: i64,
    /// `read`, `write`, `read, write` or `atomic`.
    pub does: String,
    /// The function; empty where nobody tells.
    pub function: String,
    /// The instruction; its address where it was not read.
    pub text: String,
    /// `file:line`; empty where nobody tells.
    pub source: String,
    /// Samples that waited for it.
    pub waited: u64,
    /// Hits of a watchpoint.
    pub hits: u64,
    /// Accesses that the CPU sampled itself.
    pub sampled: u64,
    /// Of these, those whose data came from the cache of another core.
    pub from_core: u64,
}

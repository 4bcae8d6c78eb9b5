//! Java virtual machines: what the block `jvm` holds, a gzip of JSON. It is of the whole recordings; the page computes what it says of its window.

use serde::Serialize;

/// The block `jvm`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Jvms {
    /// By run.
    pub runs: Vec<JvmsOfRun>,
    /// Options whose value is not the same in all runs, by process and name.
    pub flags: Vec<JvmFlag>,
    /// The query behind the pauses.
    pub query: String,
}

/// The JVMs of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct JvmsOfRun {
    /// Threads that ran at once on average, in stretches of equal length from the start of the recording; empty where that was not recorded.
    pub running: Vec<f64>,
    /// The length of such a stretch.
    pub step: f64,
    /// The heap in use of all JVMs of the run at a time: seconds, and bytes. In order; before a collection and after it where both are known.
    pub heap: Vec<(f64, f64)>,
    /// Pauses, in order; of more than can be shown the longest.
    pub pauses: Vec<JvmPause>,
    /// Pauses that are left out.
    pub left_out: i64,
    /// Heaps of compiled code, those of one JVM together; empty where that was not recorded.
    pub code: Vec<JvmCodeHeap>,
    /// Methods that were on a CPU, those with most of the time first.
    pub methods: Vec<JvmMethod>,
}

/// A heap of compiled code.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct JvmCodeHeap {
    /// The process.
    pub pid: i64,
    /// Its name.
    pub comm: String,
    /// `code profiled`, `code non-profiled`, `code non-nmethods`, or `code` for all.
    pub heap: String,
    /// The most it may have, bytes.
    pub most: Option<f64>,
    /// Bytes in use when it was last looked at, and the most that was in use since the JVM began; null where that is not known.
    pub used: Option<f64>,
    /// See `used`.
    pub peak: Option<f64>,
    /// Compiled methods in it; null where that is not known.
    pub methods: Option<i64>,
    /// Samples in its code; null where nothing was sampled.
    pub samples: Option<i64>,
    /// Of the code that holds 90 % of the samples in code of this JVM, what lies in this heap: bytes, pages of 4 KiB and of 2 MiB.
    pub hot_bytes: Option<f64>,
    /// See `hot_bytes`.
    pub hot_pages: Option<i64>,
    /// See `hot_bytes`.
    pub hot_huge_pages: Option<i64>,
    /// Bytes of it that lie in huge pages; null where that is not known.
    pub huge: Option<f64>,
}

/// A method that was on a CPU, by how it ran.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct JvmMethod {
    /// The method.
    pub method: String,
    /// 0 interpreted, 1 to 3 C1, 4 C2.
    pub tier: i64,
    /// CPU time, seconds.
    pub time: f64,
    /// Bytes of its machine code; null where it is interpreted.
    pub bytes: Option<f64>,
    /// Bytes of its bytecode.
    pub bytecode: f64,
    /// How many different compilations of it were met.
    pub compilations: i64,
    /// `in use`, `not entrant` or `OSR`; null where it is interpreted.
    pub state: Option<String>,
    /// Why it is not compiled, or not by C2; null where nothing keeps it from that.
    pub why_not: Option<String>,
}

/// A pause, or several that could not be told apart.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct JvmPause {
    /// The process.
    pub pid: i64,
    /// Its name.
    pub comm: String,
    /// `young`, `full`, `concurrent` or `operation`.
    pub kind: String,
    /// What the JVM stopped for; null where that is not known.
    pub operation: Option<String>,
    /// Why, of collections; null where that is not known.
    pub cause: Option<String>,
    /// When all threads had stopped.
    pub at: f64,
    /// How long they stood, all pauses of the row together.
    pub time: f64,
    /// From the request until all had stopped; null where that is not known.
    pub to_stop: Option<f64>,
    /// Heap in use after it, bytes; null where that is not known.
    pub used_after: Option<f64>,
    /// How many pauses it stands for.
    pub together: i64,
}

/// An option of a JVM.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct JvmFlag {
    /// The main class, module or jar.
    pub main: String,
    /// Its name, as after `-XX:`.
    pub name: String,
    /// By run: what it came to; null where it has its default.
    pub values: Vec<Option<String>>,
    /// By run: who gave it that value; null where it has its default.
    pub origins: Vec<Option<String>>,
}

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

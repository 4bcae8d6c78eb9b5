//! Over how much memory the code is spread that programs ran: what the block `code` holds, a gzip of JSON. It is of the compared window, whatever window
//! the page shows.

use serde::Serialize;

/// The block `code`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CodeMaps {
    /// Kinds of code of programs, those with most samples first.
    pub groups: Vec<CodeGroup>,
    /// The question that gives these numbers of whole recordings.
    pub query: String,
}

/// The code of one kind of a program.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CodeGroup {
    /// Name of the process.
    pub comm: String,
    /// `file`, `jit` or `kernel`.
    pub kind: String,
    /// Samples that lines, pages and regions are counted in: as many of each recording; null where one has too few.
    pub drawn: Option<u64>,
    /// By run; null where it did not run such code.
    pub runs: Vec<Option<CodeOfRun>>,
}

/// The code of one kind of a program in a run: of the process that has most samples in it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CodeOfRun {
    /// The process.
    pub pid: i64,
    /// Samples in it.
    pub samples: u64,
    /// Lines of 64 bytes that a random part of `drawn` samples finds, on average; null where none are drawn.
    pub lines: Option<f64>,
    /// Pages of 4 KiB, likewise.
    pub pages: Option<f64>,
    /// Regions of 2 MiB, likewise.
    pub regions: Option<f64>,
    /// Lines there are at least, with those that no sample met.
    pub lines_at_least: f64,
    /// Pages there are at least.
    pub pages_at_least: f64,
    /// Pages that hold 90 % of the samples.
    pub hot_pages: u64,
    /// Share of the samples on huge pages; null where that was not told.
    pub huge: Option<f64>,
    /// Entries of the instruction TLB for pages of 4 KiB; null where they are not known.
    pub itlb: Option<u32>,
    /// Entries for pages of 2 MiB.
    pub itlb_2m: Option<u32>,
    /// Regions of 2 MiB that have samples, in the order of their addresses.
    pub regions_drawn: Vec<CodeRegion>,
    /// Regions that are left out, and samples in them: those with fewest.
    pub left_out: [u64; 2],
}

/// An aligned region of 2 MiB: 512 pages.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CodeRegion {
    /// Path of the file, `[kernel]`; empty for code that a process made.
    pub module: String,
    /// Its first byte: in the file, in the process, of the kernel after `_text`.
    pub start: i64,
    /// Pages with samples: the number of the page in it, from 0, and its samples.
    pub pages: Vec<[u64; 2]>,
}

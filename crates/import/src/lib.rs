//! Recordings from what other tools wrote: perf.data, the text of `perf script`, collapsed stacks, pprof, JFR, GC logs, counts of `perf stat`, APerf and PerfSpect; and of
//! what monitoring systems wrote (`monitoring/`). What a file is, its content says. All bytes are foreign: what cannot be read is said and left out, and nothing ends the program.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod aperf;
mod bytes;
mod civil;
mod counts;
mod folded;
mod gclog;
mod input;
pub mod jfr;
pub mod monitoring;
mod pauses;
pub mod perf;
mod pprof;
mod profile;
mod resolve;
mod rows;
mod script;
mod symbols;
mod tables;

pub use ::counters::microarchitectures;
pub use input::Input;
pub use profile::{Place, Profile, Sample};
pub use resolve::{Left, Resolved, resolve};

use std::io::{BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `perf record`'s file.
    PerfData,
    /// The text of `perf script`.
    PerfScript,
    /// One line a stack: frames between semicolons, then a count.
    Folded,
    /// pprof's profile.proto, plain or compressed by gzip.
    Pprof,
    /// A recording of the JDK Flight Recorder, also of async-profiler.
    Jfr,
    /// The log of a JVM's garbage collections.
    GcLog,
    /// What `perf stat -I` counted, with `-j` or `-x`.
    PerfStat,
    /// A recording of APerf: an archive, its folder, or the file of its counters.
    Aperf,
    /// The metrics of PerfSpect, as CSV.
    PerfSpect,
    /// Answers of Prometheus to `query_range`.
    Prometheus,
    /// A table, as CSV or Parquet.
    Table,
    /// What `sar` recorded.
    Sar,
}

impl Format {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Format::PerfData => "perf.data",
            Format::PerfScript => "perf script",
            Format::Folded => "collapsed stacks",
            Format::Pprof => "pprof",
            Format::Jfr => "JFR",
            Format::GcLog => "a GC log",
            Format::PerfStat => "perf stat",
            Format::Aperf => "APerf",
            Format::PerfSpect => "PerfSpect",
            Format::Prometheus => "Prometheus",
            Format::Table => "a table",
            Format::Sar => "sar",
        }
    }
}

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be read.
    #[error("{}: {why}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        why: std::io::Error,
    },
    /// It is none of the formats, or holds nothing.
    #[error("{}: {why}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What was wrong.
        why: String,
    },
    /// The recording cannot be written.
    #[error(transparent)]
    Store(#[from] store::Error),
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct Options {
    /// The event to take where a file has several; else CPU time where it is among them, else the first.
    pub event: Option<String>,
    /// Nanoseconds that one sample stands for, where the file does not say.
    pub count: i64,
    /// Whether addresses are looked up in the programs of this machine.
    pub symbols: bool,
    /// The microarchitecture that counted, as the files of `counters/` call it; for codes and formulas that differ by CPU.
    pub cpu: Option<String>,
    /// Most bytes of a file that is taken into memory, and that compressed data may grow to. perf.data and JFR are read piece by piece.
    pub limit: files::foreign::Limit,
}

impl Default for Options {
    fn default() -> Self {
        Options { event: None, count: 1_000_000, symbols: true, cpu: None, limit: input::USUAL }
    }
}

/// Reads a profile.
///
/// # Errors
/// See [`Error`]. Damage inside a file is no error where something could be read: it is in [`Profile::notes`].
pub fn read(input: &Input, options: &Options) -> Result<(Format, Profile), Error> {
    let unreadable = |why: String| input.unreadable(why);
    let path = input.path();
    let mut profile = Profile::new(options.clone());
    if path.is_dir() {
        aperf::read_folder(path, &mut profile).map_err(unreadable)?;
        return whole(input, Format::Aperf, profile);
    }
    let is_held = input.held().is_some();
    let mut start = Vec::new();
    if !is_held {
        let file = input::open(path).map_err(|why| input.failed(why))?;
        file.take(input::START).read_to_end(&mut start).map_err(|why| input.failed(why))?;
    }
    // These are read piece by piece, however large they are.
    let again =
        || Ok::<_, Error>(BufReader::with_capacity(1 << 20, input::open(path).map_err(|why| input.failed(why))?));
    let format = if perf::looks_like(&start) {
        perf::read(&mut again()?, &mut profile).map_err(unreadable)?;
        Format::PerfData
    } else if jfr::looks_like(&start) {
        jfr::read(&mut again()?, &mut profile).map_err(unreadable)?;
        Format::Jfr
    } else if !is_held && aperf::looks_like(&start) {
        aperf::read_beside(path, &mut profile).map_err(unreadable)?;
        Format::Aperf
    } else {
        let (all, early) = input.whole(options.limit).map_err(|why| input.failed(why))?;
        early.into_iter().for_each(|why| profile.note(why));
        parse(&all, &mut profile).map_err(unreadable)?
    };
    whole(input, format, profile)
}

/// What was read, if that is anything.
fn whole(input: &Input, format: Format, profile: Profile) -> Result<(Format, Profile), Error> {
    if profile.is_empty() {
        let why = profile.notes().first().map_or(String::new(), |note| format!(": {note}"));
        return Err(input.unreadable(format!("{} without anything that can be taken{why}", format.name())));
    }
    Ok((format, profile))
}

/// Whether a text is of a profiler, by how it begins.
pub(crate) fn is_of_profiler(bytes: &[u8]) -> bool {
    script::looks_like(bytes)
        || counts::perf_stat::looks_like(bytes)
        || counts::perfspect::looks_like(bytes)
        || gclog::looks_like(bytes)
        || folded::looks_like(bytes)
}

/// Reads a text or a pprof file from memory.
///
/// # Errors
/// In words.
pub fn parse(bytes: &[u8], profile: &mut Profile) -> Result<Format, String> {
    let binary = bytes.iter().take(4096).any(|b| *b == 0);
    let text = !binary
        && std::str::from_utf8(bytes.get(..bytes.len().min(4096)).unwrap_or(bytes))
            .map_or_else(|e| e.error_len().is_none(), |_| true);
    if text && script::looks_like(bytes) {
        script::read(bytes, profile);
        return Ok(Format::PerfScript);
    }
    if perf::looks_like(bytes) {
        perf::read(&mut Cursor::new(bytes), profile)?;
        return Ok(Format::PerfData);
    }
    if jfr::looks_like(bytes) {
        jfr::read(&mut &*bytes, profile)?;
        return Ok(Format::Jfr);
    }
    if counts::archive::looks_like(bytes) {
        aperf::read_archive(bytes, profile)?;
        return Ok(Format::Aperf);
    }
    if text && counts::perf_stat::looks_like(bytes) {
        counts::perf_stat::read(bytes, profile)?;
        return Ok(Format::PerfStat);
    }
    if text && counts::perfspect::looks_like(bytes) {
        counts::perfspect::read(bytes, profile);
        return Ok(Format::PerfSpect);
    }
    if text && gclog::looks_like(bytes) {
        gclog::read(bytes, profile)?;
        return Ok(Format::GcLog);
    }
    if text && folded::looks_like(bytes) {
        folded::read(bytes, profile)?;
        return Ok(Format::Folded);
    }
    if let Some(why) = monitoring::refused(bytes) {
        return Err(why.into());
    }
    if let Some(why) = pprof::of_gperftools(bytes) {
        return Err(why.into());
    }
    match pprof::read(bytes, profile) {
        Ok(()) => Ok(Format::Pprof),
        Err(why) if text => Err(format!(
            "neither perf.data, the text of perf script, collapsed stacks (\"main;work 12\"), JFR, a GC log, counts of perf stat, PerfSpect nor pprof ({why})"
        )),
        Err(why) => Err(format!("neither perf.data, JFR, a recording of APerf nor pprof ({why})")),
    }
}

/// Reads `input` and writes it as a recording. Returns what it was and how many samples it had.
///
/// # Errors
/// See [`Error`].
pub fn import(input: &Input, output: &Path, replace: bool, options: &Options) -> Result<(Format, Profile), Error> {
    let (format, mut profile) = read(input, options)?;
    profile.write(format, input, output, replace)?;
    Ok((format, profile))
}

#[cfg(test)]
mod tests;

//! What a source is.

use crate::scope::{Shared, Target};
use host::Host;
use model::{Chart, Out, Table, Unavailable};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How often a source is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// At every tick of the recording.
    Tick,
    /// At every tick, but no more often than this many seconds: for files that are costly to read or change slowly.
    AtLeast(u64),
    /// At the start, again some seconds later when the workload has started what it starts, and at the end: for properties of the host.
    Once,
}

/// When a recording begins: once all sources are open, for that takes a moment. All copies are one.
#[derive(Clone, Debug, Default)]
pub struct Start(Arc<AtomicU64>);

impl Start {
    /// A beginning at this time, CLOCK_MONOTONIC nanoseconds.
    pub fn at(time: u64) -> Self {
        Start(Arc::new(AtomicU64::new(time)))
    }

    /// The recording begins at this time.
    pub fn set(&self, time: u64) {
        self.0.store(time, Ordering::Relaxed);
    }

    /// CLOCK_MONOTONIC, nanoseconds.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What a recording looks at, as far as sources need to know.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Keep the values of command-line arguments that look like secrets.
    pub unmasked: bool,
    /// Ask the cloud's metadata service who this machine is.
    pub cloud_metadata: bool,
    /// Keep the time series of each thread, not only of each process.
    pub threads: bool,
    /// The file whose reads are the work, where that was asked for.
    pub read_from: Option<crate::ReadFrom>,
    /// Which threads are traced, for the sources that trace threads.
    pub target: Target,
    /// The recorder's own processes ([`crate::scope::own`]), which are in scope nowhere.
    pub own: Vec<u32>,
    /// When the recording begins. Columns called `at` count from here.
    pub start: Start,
    /// Whether names of functions are looked for while the recording goes on, and not only at its end: where it has none.
    pub names_meanwhile: bool,
    /// The marks of the threads in scope; see [`crate::scope::shared`].
    pub marks: Shared,
    /// What the ledger of threads shares with a source that follows them.
    #[cfg(feature = "bpf")]
    pub ledgers: crate::threads::SharedLedgers,
    /// The JVMs that it looks at.
    pub jvms: crate::jvm::Jvms,
    /// The stacks of the recording.
    pub stacks: crate::stacks::Stacks,
    /// Whether collectors count all the time, whatever that costs.
    pub exact: bool,
    /// What the recorder's governor has collectors leave out.
    pub thinning: crate::Thinning,
    /// Whether only the last stretch of the recording is kept: then nothing may grow for as long as it runs.
    pub keeps_last: bool,
    /// Samples a second on each CPU; 0 for none.
    pub hertz: u32,
    /// Whether samples are taken by instructions too.
    pub by_instructions: crate::pmu::ByInstructions,
    /// Seconds between bursts of samples with registers; 0 for none.
    pub bursts: u32,
    /// Whether lines of the cache that threads share are looked for with longer bursts, and watched.
    pub sharing: bool,
    /// The groups of hardware counters to count; none for those that are customary.
    pub counters: Vec<counters::Group>,
    /// Whether calls of the hottest functions are counted with breakpoints.
    pub count_calls: bool,
    /// Whether memory that processes use is looked at.
    pub working_set: bool,
    /// Figures of the machine that were measured before.
    pub figures: Vec<model::Figure>,
    /// What disturbed that, where something did.
    pub figures_disturbed: Option<String>,
}

/// Finds out whether a source can be read here, and opens what it holds open.
pub type Open = fn(&Host, &Scope) -> Result<Box<dyn Reader>, Unavailable>;

/// A source: one thing that can be read.
#[derive(Debug)]
pub struct Source {
    /// Lower-case name, for `--only` and `--skip`.
    pub name: &'static str,
    /// What it reads, in a few words.
    pub title: &'static str,
    /// Where the kernel documents it: man page, file of the kernel's Documentation, or source file.
    pub documented: &'static str,
    /// The files it reads, as paths with `*` and PID wildcards: what a fixture must hold.
    pub reads: &'static [&'static str],
    /// What it needs beyond reading those files as any user; empty for nothing.
    pub needs: &'static str,
    /// How often it is read.
    pub pace: Pace,
    /// Its tables.
    pub tables: &'static [&'static Table],
    /// Its default charts.
    pub charts: &'static [Chart],
    /// How it is opened.
    pub open: Open,
}

/// An opened source.
pub trait Reader: Send {
    /// Reads once and puts rows into `out`, always in the same order for the same entities. Rows that were put before an
    /// error are kept. Called again at the next tick even after an error.
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable>;

    /// Says that the next read is the last. What is known of the time since the read before, and else would be told with a later one, is told then.
    fn ends(&mut self) {}

    /// Seconds that should pass between reads of what was found here, where that is more than the source's pace: what costs
    /// little on a small machine can cost much on a large one.
    fn at_least(&self) -> u64 {
        0
    }
}

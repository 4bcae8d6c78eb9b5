//! A recording reduced to a summary, with the code that `compare` uses: rows of each dataset of the folder.

mod blocks;
mod facts;
mod latency;
mod lines;
mod metrics;
mod places;
mod processes;
mod workload;

pub use latency::ASKED as REQUESTS;
pub use lines::lines;
pub use workload::{CPU, DONE, STATES, WORKLOAD, of_state};

use crate::folder::{Batch, Cell, DECLARED, FACT, METRIC, PLACE, PROCESS, RECORDING, SLICE};
use compare::measured::Owned;
use compare::work::Progress;
use compare::{Choice, NotCompared, Pace, window};
use model::{Manifest, Window};
use query::Run;
use query::stats::Comparer;
use std::collections::{BTreeMap, HashSet};

/// A course has at most so many slices.
const SLICES: usize = 120;

/// Why a recording cannot be reduced.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It cannot be read.
    #[error(transparent)]
    Query(#[from] query::Error),
    /// The window is not there, or a table is not what it says.
    #[error(transparent)]
    Compare(#[from] compare::Error),
}

/// Rows of all datasets, of any number of recordings.
#[derive(Debug)]
pub struct Rows {
    /// One row a recording.
    pub recording: Batch,
    /// Its metrics.
    pub metric: Batch,
    /// What these are.
    pub declared: Batch,
    /// Its facts.
    pub fact: Batch,
    /// Where its time went, by function.
    pub place: Batch,
    /// Courses of some metrics.
    pub slice: Batch,
    /// Processes of its workload.
    pub process: Batch,
    /// Metrics that `declared` has.
    known: HashSet<String>,
}

impl Default for Rows {
    fn default() -> Self {
        Rows {
            recording: Batch::new(&RECORDING),
            metric: Batch::new(&METRIC),
            declared: Batch::new(&DECLARED),
            fact: Batch::new(&FACT),
            place: Batch::new(&PLACE),
            slice: Batch::new(&SLICE),
            process: Batch::new(&PROCESS),
            known: HashSet::new(),
        }
    }
}

impl Rows {
    /// Each dataset's rows, that of recordings last: what it does not name is not there.
    pub fn batches(&self) -> [&Batch; 7] {
        [&self.metric, &self.declared, &self.fact, &self.place, &self.slice, &self.process, &self.recording]
    }

    /// Adds the rows of others.
    pub fn append(&mut self, other: &Rows) {
        self.metric.append(&other.metric, |_| true);
        let known = &mut self.known;
        self.declared.append(&other.declared, |name| known.insert(name.to_owned()));
        self.fact.append(&other.fact, |_| true);
        self.place.append(&other.place, |_| true);
        self.slice.append(&other.slice, |_| true);
        self.process.append(&other.process, |_| true);
        self.recording.append(&other.recording, |_| true);
    }

    /// About how much memory they take, bytes.
    pub fn size(&self) -> usize {
        self.batches().iter().map(|batch| batch.size()).sum()
    }
}

/// What tells a recording from all others: boot, host, start, and name, as 16 hexadecimal digits.
pub fn id(manifest: &Manifest, name: &str) -> String {
    // FNV-1a (Fowler, Noll, Vo; draft-eastlake-fnv): the same on any machine and in any version.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for part in [&*manifest.boot_id, &*manifest.host, &*manifest.start_unix.to_string(), name] {
        for byte in part.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    format!("{hash:016x}")
}

/// One recording on its way to rows.
struct Subject<'a> {
    run: &'a Run,
    window: Window,
    owned: Owned,
    progress: Option<Progress>,
    /// Work and time of the window; one run of the command where no other work is known.
    pace: Option<(Pace, String)>,
    host: Cell,
    id: Cell,
}

impl<'a> Subject<'a> {
    fn new(run: &'a Run, choice: &Choice) -> Result<Self, Error> {
        let window = window::choose(run, choice)?;
        let progress = Progress::of(run);
        let manifest = run.recording.manifest();
        let unit = || manifest.work.as_ref().map_or("", |work| &work.unit).to_owned();
        let pace = Pace::with(run, &window, progress.as_ref()).map(|pace| (pace, unit()));
        let pace = pace.or_else(|| Some((Pace::of_whole(run, &window)?, "run".to_owned())));
        let host = if manifest.host.is_empty() { &run.name } else { &manifest.host };
        Ok(Subject {
            owned: Owned::of(std::slice::from_ref(run)),
            window,
            progress,
            pace,
            host: Cell::from(&**host),
            id: Cell::from(&*id(manifest, &run.name)),
            run,
        })
    }
}

/// Adds the rows of a recording. `file` is what it was read from.
///
/// # Errors
/// Where its window is not there; then nothing was added.
pub fn reduce(run: &Run, file: &str, choice: &Choice, comparer: &mut Comparer, rows: &mut Rows) -> Result<(), Error> {
    let subject = Subject::new(run, choice)?;
    let mut left_out = metrics::reduce(&subject, comparer, rows)?;
    workload::reduce(&subject, comparer, rows);
    latency::reduce(&subject, rows);
    facts::reduce(&subject, rows);
    places::reduce(&subject, rows);
    processes::reduce(&subject, rows);
    if run.recording.is_unfinished() {
        left_out.push(NotCompared { what: "recording".into(), why: "it was not finished".into() });
    }
    for damage in run.recording.damage() {
        left_out.push(NotCompared { what: damage.what, why: damage.why });
    }
    rows.recording.push(&about(&subject, file, &left_out));
    Ok(())
}

/// The row of the recording itself.
fn about(subject: &Subject<'_>, file: &str, left_out: &[NotCompared]) -> [Cell; 18] {
    let manifest = subject.run.recording.manifest();
    let in_words = |left: &NotCompared| format!("{}: {}", left.what, left.why);
    let left_out: Vec<String> = left_out.iter().map(in_words).collect();
    [
        subject.host.clone(),
        subject.id.clone(),
        Cell::from(&*subject.run.name),
        file.into(),
        manifest.start_unix.into(),
        (subject.run.recording.duration() as f64 / 1e9).into(),
        subject.window.from.into(),
        subject.window.to.into(),
        Cell::from(&*subject.window.why),
        manifest.command.as_ref().map(|words| Cell::from(&*words.join(" "))).into(),
        subject.pace.as_ref().map(|(_, unit)| Cell::from(&**unit)).into(),
        subject.pace.as_ref().map(|(pace, _)| pace.work).into(),
        Cell::from(&*manifest.boot_id),
        manifest.start_unix.saturating_sub(manifest.start_monotonic).into(),
        marks(subject).into(),
        Cell::from(&*object(&manifest.labels)),
        Cell::from(&*manifest.tool),
        (!left_out.is_empty()).then(|| Cell::from(&*left_out.join("; "))).into(),
    ]
}

/// A time of a recording, in seconds since its start, as ns since 1970 UTC.
fn unix(subject: &Subject<'_>, seconds: f64) -> i64 {
    subject.run.recording.manifest().start_unix.saturating_add((seconds * 1e9) as i64)
}

/// The marks of a recording as a JSON list, by time; `None` where it has none.
fn marks(subject: &Subject<'_>) -> Option<Cell> {
    let begun = subject.run.recording.manifest().start_unix;
    let marks: Vec<(i64, String)> =
        subject.run.recording.marks().into_iter().map(|mark| (begun.saturating_add(mark.t), mark.text)).collect();
    let text = serde_json::to_string(&marks).ok()?;
    (!marks.is_empty()).then(|| Cell::from(&*text))
}

/// Names and texts as a JSON object, names in order, so that equal ones are equal texts.
fn object(pairs: &BTreeMap<String, String>) -> String {
    serde_json::to_string(pairs).unwrap_or_else(|_| "{}".to_owned())
}

/// The labels of a group, by the names of its grouping.
fn labels(by: &[&str], values: &[String]) -> String {
    object(&by.iter().map(|name| (*name).to_owned()).zip(values.iter().cloned()).collect())
}

//! The processed profile format of the Firefox Profiler, which Perfetto opens too: samples with their times by thread, waits as a category of their
//! own, what CPUs, memory and disks did as counters, marks.
//!
//! A sample weighs the milliseconds that it stands for. The format has whole ones only: what is left of a sample is carried over to the next one of its
//! thread, so that sums by thread are those of [`super::load()`] to a millisecond, and `threadCPUDelta` has the CPU time to the microsecond.

use super::load::{Dictionary, Part, Passes};
use super::{Filter, Tree, measured};
use crate::metric;
use crate::series::Grid;
use fxprof_processed_profile::{
    CategoryColor, CategoryHandle, CategoryPairHandle, CpuDelta, Frame, FrameFlags, FrameInfo, MarkerFieldFlags,
    MarkerFieldFormat, MarkerTiming, ProcessHandle, Profile, ReferenceTimestamp, SamplingInterval, StackHandle,
    StaticSchemaMarker, StaticSchemaMarkerField, StringHandle, ThreadHandle, Timestamp, WeightType,
};
use model::{Measure, NULL, Symbols, Table};
use std::collections::HashMap;
use std::io::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use store::Select;

/// Ticks of a table that become points of a counter at most.
const MOST_TICKS: usize = 7200;

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Written {
    /// Threads.
    pub threads: usize,
    /// Rows with a stack, of samples and waits.
    pub samples: u64,
    /// Seconds that they stand for.
    pub seconds: f64,
}

/// Writes the samples and waits of these parts as one profile; each part begins at its own zero.
///
/// # Errors
/// Where it cannot be written.
pub fn firefox(parts: &[Part<'_>], filter: &Filter, to: impl Write) -> std::io::Result<Written> {
    let begun = parts.iter().map(|part| part.run.recording.manifest().start_unix).filter(|start| *start > 0).min();
    let begun: SystemTime = UNIX_EPOCH + Duration::from_nanos(begun.unwrap_or(0).unsigned_abs());
    let names: Vec<&str> = parts.iter().map(|part| part.run.name.as_str()).collect();
    let mut profile = Profile::new(
        &format!("Twinscope: {}", names.join(" + ")),
        ReferenceTimestamp::from_system_time(begun),
        SamplingInterval::from_nanos(least_weight(parts)),
    );
    profile.set_os_name("Linux");
    profile.set_symbolicated(true);
    let mut out = Out::new(profile);
    for (number, part) in parts.iter().enumerate() {
        out.put(number, part, filter);
        out.machine(part);
    }
    let written = Written { threads: out.threads.len(), ..out.written };
    serde_json::to_writer(to, &out.profile)?;
    Ok(written)
}

/// The time that a sample of the parts stands for: the least of any; a millisecond where there is none.
fn least_weight(parts: &[Part<'_>]) -> u64 {
    let mut least = u64::MAX;
    for part in parts {
        for (table, measure) in ledger(part).filter(|(_, measure)| !measure.at.is_empty()) {
            part.run.recording.scan(table.name, &[measure.weight], None, &mut Symbols::default(), |batch| {
                let weights = batch.column(0).iter().filter(|weight| **weight > 0);
                least = weights.map(|weight| weight.unsigned_abs()).fold(least, u64::min);
            });
        }
    }
    if least == u64::MAX { 1_000_000 } else { least }
}

/// The measures that divide the time of threads.
fn ledger<'a>(part: &Part<'a>) -> impl Iterator<Item = (&'static Table, &'static Measure)> + use<'a> {
    measured(part.run).into_iter().filter(|(_, measure)| measure.ledger)
}

/// Whose rows a thread of the profile has. Waits of threads with one name are told together, so that they may have no number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Whose {
    part: usize,
    pid: i64,
    thread: String,
    tid: i64,
}

/// A thread of the profile.
struct Thread {
    handle: ThreadHandle,
    /// Stacks that it has so far, by their number and by their category where they are of waits.
    stacks: HashMap<u32, Option<StackHandle>>,
    /// Part of a millisecond that was not told yet.
    rest: f64,
}

/// A profile in the making.
struct Out {
    profile: Profile,
    categories: HashMap<&'static str, CategoryHandle>,
    waits: HashMap<String, CategoryPairHandle>,
    processes: HashMap<(usize, i64), ProcessHandle>,
    threads: Vec<Thread>,
    by: HashMap<Whose, usize>,
    written: Written,
}

/// The categories of code, by the kind of its frames, with the colour of each.
const KINDS: [(&str, CategoryColor); 5] = [
    ("Kernel", CategoryColor::Orange),
    ("Native", CategoryColor::Blue),
    ("JIT", CategoryColor::Green),
    ("Interpreted", CategoryColor::Magenta),
    ("Waiting", CategoryColor::Yellow),
];

fn category_of(kind: &str) -> &'static str {
    match kind {
        "kernel" => "Kernel",
        "native" | "inlined" | "other" | "spin" | "" => "Native",
        kind if kind.starts_with("interpreted") => "Interpreted",
        _ => "JIT",
    }
}

fn at(t: i64) -> Timestamp {
    Timestamp::from_nanos_since_reference(t.max(0).unsigned_abs())
}

impl Out {
    fn new(mut profile: Profile) -> Self {
        let categories = KINDS.into_iter().map(|(name, color)| (name, profile.add_category(name, color))).collect();
        Out {
            profile,
            categories,
            waits: HashMap::new(),
            processes: HashMap::new(),
            threads: Vec::new(),
            by: HashMap::new(),
            written: Written::default(),
        }
    }

    /// The rows of a part.
    fn put(&mut self, number: usize, part: &Part<'_>, filter: &Filter) {
        let mut tree = Tree::new(1);
        let unknown = tree.intern("[unknown]", "", "", "other");
        let dictionary = Dictionary::load(&part.run.recording, &mut tree, false);
        for (table, measure) in ledger(part) {
            self.rows(number, part, filter, (table, measure), &Code { tree: &tree, dictionary: &dictionary, unknown });
        }
    }

    fn rows(
        &mut self,
        number: usize,
        part: &Part<'_>,
        filter: &Filter,
        (table, measure): (&'static Table, &'static Measure),
        code: &Code<'_>,
    ) {
        let columns = [measure.weight, measure.stack, "pid", "tid", "comm", "thread", measure.level, measure.at];
        let (window, interval) = (part.window, part.run.recording.manifest().interval);
        let factor = measure.unit(table).factor();
        let (mut processes, mut threads) =
            (Passes::new(filter.process.as_deref()), Passes::new(filter.thread.as_deref()));
        let mut symbols = Symbols::default();
        // As `sums` does: a row is put down at the read after it.
        part.run.recording.scan(table.name, &columns, Some((window.from, i64::MAX)), &mut symbols, |batch| {
            for row in 0..batch.len() {
                let [weight, stack, pid, tid, comm, thread, level, when] =
                    [0, 1, 2, 3, 4, 5, 6, 7].map(|column| batch.cell(column, row));
                if weight == NULL || weight <= 0 {
                    continue;
                }
                let (inside, when) = match measure.at {
                    "" => (batch.part(row, interval, window), batch.t(row).min(window.to)),
                    _ => (window.part(when, when), when),
                };
                if inside <= 0.0
                    || !processes.text(comm, batch.symbols, pid)
                    || !threads.text(thread, batch.symbols, tid)
                {
                    continue;
                }
                let name = |cell: i64| batch.symbols.text(cell).unwrap_or("");
                let whose = Whose { part: number, pid, thread: name(thread).to_owned(), tid };
                let place = self.thread(whose, name(comm), part);
                let wait = (!measure.level.is_empty()).then(|| name(level));
                let stack = u32::try_from(stack).unwrap_or(0);
                self.sample(place, when, (stack, wait), weight as f64 * inside * factor, code);
            }
        });
    }

    /// The thread of the profile that rows go to. Those without a number go to the one thread of that name, where there is one.
    fn thread(&mut self, whose: Whose, comm: &str, part: &Part<'_>) -> usize {
        if let Some(&place) = self.by.get(&whose) {
            return place;
        }
        if whose.tid == NULL {
            let is_it = |of: &&Whose| (of.part, of.pid, &of.thread) == (whose.part, whose.pid, &whose.thread);
            let mut alike = self.by.iter().filter(|(of, _)| is_it(of));
            if let (Some((_, &place)), None) = (alike.next(), alike.next()) {
                self.by.insert(whose, place);
                return place;
            }
        }
        let process = self.process(whose.part, whose.pid, comm, part);
        let tid = u32::try_from(whose.tid).unwrap_or(0);
        // A main thread would be shown by the name of its process.
        let handle = self.profile.add_thread(process, tid, at(part.window.from), false);
        let note = if whose.tid == NULL { " (all of this name)" } else { "" };
        self.profile.set_thread_name(handle, &format!("{}{note}", model::clean(&whose.thread)));
        self.profile.set_thread_samples_weight_type(handle, WeightType::TracingMs);
        self.threads.push(Thread { handle, stacks: HashMap::new(), rest: 0.0 });
        self.by.insert(whose, self.threads.len() - 1);
        self.threads.len() - 1
    }

    fn process(&mut self, number: usize, pid: i64, comm: &str, part: &Part<'_>) -> ProcessHandle {
        let profile = &mut self.profile;
        *self.processes.entry((number, pid)).or_insert_with(|| {
            let name = model::clean(&format!("{comm} ({})", part.run.name));
            profile.add_process(&name, u32::try_from(pid).unwrap_or(0), at(part.window.from))
        })
    }

    /// Adds a row: `seconds` with this stack; of a wait the state that it was in.
    fn sample(&mut self, place: usize, when: i64, (stack, wait): (u32, Option<&str>), seconds: f64, code: &Code<'_>) {
        self.written.samples += 1;
        self.written.seconds += seconds;
        let mut handle = self.stack(place, stack, code);
        if let Some(state) = wait {
            handle = self.waiting(place, handle, state);
        }
        let Some(thread) = self.threads.get_mut(place) else { return };
        thread.rest += seconds * 1e3;
        let weight = thread.rest.round();
        thread.rest -= weight;
        let cpu =
            if wait.is_none() { Duration::try_from_secs_f64(seconds).unwrap_or_default() } else { Duration::ZERO };
        // Beyond the range of the format it is the longest that it can say: 24 days.
        self.profile.add_sample(
            thread.handle,
            at(when),
            handle,
            CpuDelta::from(cpu),
            weight.clamp(0.0, f64::from(i32::MAX)) as i32,
        );
    }

    /// The stack of this number in a thread.
    fn stack(&mut self, place: usize, stack: u32, code: &Code<'_>) -> Option<StackHandle> {
        let mut way = Vec::new();
        let mut at = stack;
        let thread = self.threads.get(place)?;
        let mut below = loop {
            if at == 0 {
                break None;
            }
            if let Some(&known) = thread.stacks.get(&at) {
                break known;
            }
            let (parent, frame) = code.dictionary.frame(at, code.unknown);
            way.push((at, frame));
            at = parent;
        };
        for (stack, frame) in way.into_iter().rev() {
            let (name, kind) = code.tree.frames().get(frame as usize).map_or(("", ""), |f| (&*f.name, &*f.kind));
            let category = self.categories.get(category_of(kind)).copied().unwrap_or(CategoryHandle::OTHER);
            below = self.pushed(place, below, &model::clean(name), category.into());
            if let Some(thread) = self.threads.get_mut(place) {
                thread.stacks.insert(stack, below);
            }
        }
        below
    }

    /// A wait as the innermost frame of its stack, with the state as a part of the category.
    fn waiting(&mut self, place: usize, below: Option<StackHandle>, state: &str) -> Option<StackHandle> {
        let waiting = self.categories.get("Waiting").copied().unwrap_or(CategoryHandle::OTHER);
        let profile = &mut self.profile;
        let state = if state.is_empty() { "unknown" } else { state };
        let category = match self.waits.get(state) {
            Some(known) => *known,
            None => {
                let made = profile.add_subcategory(waiting, &model::clean(state));
                self.waits.insert(state.to_owned(), made);
                made
            }
        };
        self.pushed(place, below, &format!("[waiting: {}]", model::clean(state)), category)
    }

    fn pushed(
        &mut self,
        place: usize,
        below: Option<StackHandle>,
        name: &str,
        category_pair: CategoryPairHandle,
    ) -> Option<StackHandle> {
        let thread = self.threads.get(place)?.handle;
        let frame = Frame::Label(self.profile.intern_string(name));
        let frame = self.profile.intern_frame(thread, FrameInfo { frame, category_pair, flags: FrameFlags::empty() });
        Some(self.profile.intern_stack(thread, below, frame))
    }

    /// The machine as a process of its own: counters, and a thread with the marks.
    fn machine(&mut self, part: &Part<'_>) {
        let (run, window) = (part.run, part.window);
        let name = model::clean(&format!("machine {} ({})", run.recording.manifest().host, run.name));
        let process = self.profile.add_process(&name, 0, at(window.from));
        let thread = self.profile.add_thread(process, 0, at(window.from), true);
        self.profile.set_thread_name(thread, "marks");
        for mark in run.recording.marks().iter().filter(|mark| window.part(mark.t, mark.t) > 0.0) {
            let text = self.profile.intern_string(&model::clean(&mark.text));
            self.profile.add_marker(thread, MarkerTiming::Instant(at(mark.t)), MarkMarker { text });
        }
        // Name and category are those by which the Firefox Profiler knows how to draw a counter.
        self.counter(process, part, ("processCPU", "CPU", "CPU time of all CPUs, ns"), &[("cpu", "busy", 1e9)]);
        let used = [("meminfo", "MemTotal", 1.0), ("meminfo", "MemAvailable", -1.0)];
        self.counter(process, part, ("memory", "Memory", "memory that is not available to programs, bytes"), &used);
        for (name, column, help) in
            [("disk read", "read", "read from disks, bytes"), ("disk write", "written", "written to disks, bytes")]
        {
            self.counter(process, part, (name, "Bandwidth", help), &[("disks", column, 1.0)]);
        }
    }

    /// A counter: of rates what was added in each interval; of levels their changes. Terms are tables, metrics and weights.
    fn counter(
        &mut self,
        process: ProcessHandle,
        part: &Part<'_>,
        (name, category, help): (&str, &str, &str),
        terms: &[(&'static str, &'static str, f64)],
    ) {
        let grids: Vec<(Grid, f64)> =
            terms.iter().filter_map(|(table, name, by)| Some((grid(part, table, name)?, *by))).collect();
        let Some((first, _)) = grids.first().filter(|_| grids.len() == terms.len()) else { return };
        let counter = self.profile.add_counter(process, name, category, help);
        let is_level = first.metric.is_level();
        let mut last = 0.0;
        for interval in first.cut(part.window).range {
            let of =
                |(grid, by): &(Grid, f64)| grid.series.first().map_or(f64::NAN, |series| series.num(interval) * by);
            let value: f64 = grids.iter().map(of).sum();
            let Some(when) = first.to.get(interval).filter(|_| value.is_finite()) else { continue };
            let change = if is_level { value - last } else { value };
            last = value;
            self.profile.add_counter_sample(counter, at((when * 1e9) as i64), change, 0);
        }
    }
}

/// A metric of a part, of all entities together; of disks without their partitions and what is stacked on them.
fn grid(part: &Part<'_>, table: &'static str, name: &str) -> Option<Grid> {
    let recording = &part.run.recording;
    let metric = metric(recording.table(table)?, name)?;
    let between = Some((part.window.from, part.window.to));
    let frame = recording.load(table, &Select { between, most_ticks: MOST_TICKS, ..Select::default() })?;
    let only = (table == "disks").then_some(("kind", &["disk"][..]));
    Grid::new(&frame, &metric, &[], only).ok()
}

/// Stacks and names of a recording.
struct Code<'a> {
    tree: &'a Tree,
    dictionary: &'a Dictionary,
    unknown: u32,
}

/// A mark.
struct MarkMarker {
    text: StringHandle,
}

impl StaticSchemaMarker for MarkMarker {
    const UNIQUE_MARKER_TYPE_NAME: &'static str = "Mark";
    const CHART_LABEL: Option<&'static str> = Some("{marker.data.text}");
    const TABLE_LABEL: Option<&'static str> = Some("{marker.data.text}");
    const FIELDS: &'static [StaticSchemaMarkerField] = &[StaticSchemaMarkerField {
        key: "text",
        label: "Text",
        format: MarkerFieldFormat::String,
        flags: MarkerFieldFlags::SEARCHABLE,
    }];

    fn name(&self, _profile: &mut Profile) -> StringHandle {
        self.text
    }

    fn category(&self, _profile: &mut Profile) -> CategoryHandle {
        CategoryHandle::OTHER
    }

    fn string_field_value(&self, _field: u32) -> StringHandle {
        self.text
    }

    fn number_field_value(&self, _field: u32) -> f64 {
        f64::NAN
    }
}

#[cfg(test)]
mod tests;

//! A profile on its way into a recording: places and stacks by number, samples.

use crate::tables::{FRAME, SAMPLE, STACK};
use crate::{Error, Format, Input, Options, pauses};
use model::{Coverage, Fact, Manifest, NULL, Rows, Status, Symbols, Table};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use store::{TableId, Writer};

/// One place in code, as the `frame` table has it. Texts are cells of [`Profile::symbols`]; [`NULL`] is what is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// Function.
    pub function: i64,
    /// Module.
    pub module: i64,
    /// Build id.
    pub build_id: i64,
    /// Address in the module's file.
    pub offset: i64,
    /// File and line.
    pub source: i64,
    /// Kind of code.
    pub kind: i64,
}

/// One sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// When, nanoseconds on the file's own clock.
    pub at: i64,
    /// Process; [`NULL`] where not known.
    pub pid: i64,
    /// Thread.
    pub tid: i64,
    /// Name of the process.
    pub comm: i64,
    /// Name of the thread.
    pub thread: i64,
    /// CPU.
    pub cpu: i64,
    /// Number of the stack, 0 for none.
    pub stack: u32,
    /// CPU time that it stands for, nanoseconds.
    pub weight: i64,
}

/// Stacks have so many frames at most.
const DEEPEST: u32 = 4096;

/// A profile that was read.
#[derive(Debug, Default)]
pub struct Profile {
    /// What was asked.
    pub options: Options,
    /// All texts.
    pub symbols: Symbols,
    places: Vec<Place>,
    by_place: HashMap<Place, u32>,
    /// Caller and place of each stack; stack number 1 is the first.
    stacks: Vec<(u32, u32)>,
    /// How many frames each has.
    depths: Vec<u32>,
    by_stack: HashMap<(u32, u32), u32>,
    /// The samples, in the order of the file.
    pub samples: Vec<Sample>,
    /// Rows of tables of events, in the order of the file.
    tables: Vec<Events>,
    /// When the recording began, on the file's clock; where it is not known with the first that happened.
    pub(crate) start: Option<i64>,
    /// Whose all rows are, where that is one process.
    pub(crate) pid: i64,
    /// Deoptimizations: when, why, and what became of the code.
    pub(crate) deoptimizations: Vec<(i64, i64, i64)>,
    /// The garbage collector, where it is known: G1, Parallel, Serial, ZGC …
    pub(crate) collector: Option<String>,
    /// What the file says of the set-up.
    pub(crate) facts: Vec<Fact>,
    /// Manifest fields that the file knew: host, kernel, command.
    pub manifest: Manifest,
    /// Sources whose tables it has, where these are not of a profiler: name, title, interval in nanoseconds, charts, tables.
    pub(crate) sources: Vec<Origin>,
    /// What such a file cannot have, and what could not be read of it.
    pub(crate) missing: Vec<Coverage>,
    /// Whether it cannot have samples of stacks, as what monitoring systems write.
    pub(crate) without_stacks: bool,
    notes: Vec<String>,
    counts: BTreeMap<&'static str, u64>,
}

/// What was said, and what was counted.
pub(crate) type Said = (Vec<String>, BTreeMap<&'static str, u64>);

/// Rows of a table of events.
#[derive(Debug)]
struct Events {
    table: &'static Table,
    /// When each was over, on the file's clock.
    at: Vec<i64>,
    cells: Vec<i64>,
}

/// Where tables come from that are not of a profiler.
#[derive(Debug)]
pub(crate) struct Origin {
    pub(crate) name: String,
    pub(crate) title: String,
    /// Nanoseconds between two reads.
    pub(crate) interval: i64,
    pub(crate) charts: Vec<model::Chart>,
    pub(crate) tables: Vec<&'static Table>,
}

/// Rows are committed, which waits for the disk, when there are so many cells.
const COMMIT: usize = 200_000;

/// Samples between two commits are those of this stretch.
const TICK: i64 = 1_000_000_000;

/// Most ticks; a longer profile has longer ones.
const MOST_TICKS: i64 = 3600;

impl Profile {
    /// An empty profile.
    pub fn new(options: Options) -> Self {
        Profile { options, pid: NULL, ..Profile::default() }
    }

    /// A row of a table of events, which was over at a time on the file's clock. One in a column `at` is on that clock, too.
    pub(crate) fn row(&mut self, table: &'static Table, over: i64, cells: Vec<i64>) {
        if cells.len() != table.width() {
            return;
        }
        let place = self.tables.iter().rposition(|events| std::ptr::eq(events.table, table)).unwrap_or_else(|| {
            self.tables.push(Events { table, at: Vec::new(), cells: Vec::new() });
            self.tables.len() - 1
        });
        if let Some(events) = self.tables.get_mut(place) {
            events.at.push(over);
            events.cells.extend(cells);
        }
    }

    /// What is made of each row of a table of events.
    pub(crate) fn rows_of<T>(&self, table: &'static Table, make: impl Fn(&[i64]) -> Option<T>) -> Vec<T> {
        let Some(events) = self.tables.iter().find(|events| std::ptr::eq(events.table, table)) else {
            return Vec::new();
        };
        events.cells.chunks_exact(table.width()).filter_map(make).collect()
    }

    /// Says which process all rows of events are of.
    pub(crate) fn set_pid(&mut self, pid: i64) {
        self.pid = pid;
        for events in &mut self.tables {
            let width = events.table.width();
            let Some(place) = events.table.stored().iter().position(|c| c.name == "pid") else { continue };
            events.cells.iter_mut().skip(place).step_by(width).for_each(|cell| *cell = pid);
        }
    }

    /// The name of the source that a table is of.
    fn source_of(&self, table: &'static Table) -> &str {
        let is_of = |origin: &&Origin| origin.tables.iter().any(|own| std::ptr::eq(*own, table));
        self.sources.iter().find(is_of).map_or("import", |origin| &origin.name)
    }

    /// How many rows of each table of events there are.
    pub fn events(&self) -> Vec<(&'static str, usize)> {
        self.tables.iter().map(|events| (events.table.name, events.at.len())).collect()
    }

    /// Whether nothing was read that a recording could hold.
    pub(crate) fn is_empty(&self) -> bool {
        self.samples.is_empty() && self.tables.is_empty()
    }

    /// Something that the reader of the recording must know.
    pub fn note(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !self.notes.contains(&text) && self.notes.len() < 100 {
            self.notes.push(text);
        }
    }

    /// Counts something that went wrong often.
    pub fn count(&mut self, what: &'static str, by: u64) {
        let count = self.counts.entry(what).or_insert(0);
        *count = count.saturating_add(by);
    }

    /// What was said so far.
    pub(crate) fn said(&self) -> Said {
        (self.notes.clone(), self.counts.clone())
    }

    /// Takes back what was said since.
    pub(crate) fn take_back(&mut self, before: Said) {
        (self.notes, self.counts) = before;
    }

    /// Says how much time lies in code whose file could not be read, and names the files that have most of it.
    pub(crate) fn note_unnamed(&mut self, unread: &[(String, String)]) {
        let mut by_module: HashMap<&str, f64> = HashMap::new();
        let mut all = 0.0;
        for sample in &self.samples {
            all += sample.weight as f64;
            let place = self.innermost(sample.stack).filter(|place| place.function == NULL);
            if let Some(module) = place.and_then(|place| self.symbols.text(place.module)) {
                *by_module.entry(module).or_default() += sample.weight as f64;
            }
        }
        let share = |path: &str| by_module.get(path).map_or(0.0, |weight| weight / f64::max(all, 1.0));
        let mut files: Vec<(f64, &str, &str)> =
            unread.iter().map(|(path, why)| (share(path), &**path, &**why)).collect();
        files.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        files.dedup_by_key(|file| file.1);
        let total: f64 = files.iter().map(|file| file.0).sum();
        let percent = |share: f64| format!("{:.1} %", share * 100.0);
        let most: Vec<String> =
            files.iter().take(3).map(|(share, path, why)| format!("{path} {} ({why})", percent(*share))).collect();
        if !most.is_empty() {
            let others = match files.len() - most.len() {
                0 => String::new(),
                others => format!(" and {others} more"),
            };
            self.note(format!(
                "{} of the time lies in files whose functions are not named: {}{others}; `twinscope resolve` names them where the files are",
                percent(total),
                most.join(", ")
            ));
        }
    }

    /// What the reader of the recording must know.
    pub fn notes(&self) -> Vec<String> {
        let counted = self.counts.iter().map(|(what, n)| format!("{n} {what}"));
        self.notes.iter().cloned().chain(counted).collect()
    }

    /// The cell of a text; [`NULL`] for an empty one.
    pub fn text(&mut self, text: &str) -> i64 {
        if text.is_empty() { NULL } else { self.symbols.cell(text) }
    }

    /// The number of a place.
    pub fn place(&mut self, place: Place) -> u32 {
        let next = self.places.len() as u32 + 1;
        let number = *self.by_place.entry(place).or_insert(next);
        if number == next {
            self.places.push(place);
        }
        number
    }

    /// The number of a place with a name, and nothing known of where it lies.
    pub fn named(&mut self, function: &str, module: &str, source: &str, kind: &str) -> u32 {
        let [function, module, source, kind] = [function, module, source, kind].map(|t| self.text(t));
        self.place(Place { function, module, build_id: NULL, offset: NULL, source, kind })
    }

    /// The number of the stack of `place` called by stack `parent` (0: the root).
    ///
    /// Frames further in than [`DEEPEST`] are left out, and counted: what reads a recording goes through a stack frame by frame.
    pub fn stack(&mut self, parent: u32, place: u32) -> u32 {
        let depth = (parent as usize).checked_sub(1).and_then(|at| self.depths.get(at)).map_or(1, |depth| depth + 1);
        if depth > DEEPEST {
            self.count("frames that lie deeper than 4,096 others; they are left out", 1);
            return parent;
        }
        let next = self.stacks.len() as u32 + 1;
        let number = *self.by_stack.entry((parent, place)).or_insert(next);
        if number == next {
            self.stacks.push((parent, place));
            self.depths.push(depth);
        }
        number
    }

    /// How many places and stacks there are.
    pub fn sizes(&self) -> (usize, usize) {
        (self.places.len(), self.stacks.len())
    }

    /// The place of the innermost frame of a stack.
    fn innermost(&self, stack: u32) -> Option<&Place> {
        let (_, place) = self.stacks.get((stack as usize).checked_sub(1)?)?;
        self.places.get((*place as usize).checked_sub(1)?)
    }

    /// Share of the places that have a function, by weight of the samples they are the innermost frame of; `None` without samples.
    pub fn resolved(&self) -> Option<f64> {
        let named = |stack: u32| Some(self.innermost(stack)?.function != NULL);
        let (mut good, mut all) = (0.0, 0.0);
        for sample in &self.samples {
            all += sample.weight as f64;
            if named(sample.stack) == Some(true) {
                good += sample.weight as f64;
            }
        }
        (all > 0.0).then(|| good / all)
    }

    /// Writes the recording.
    pub(crate) fn write(&mut self, format: Format, input: &Input, output: &Path, replace: bool) -> Result<(), Error> {
        self.samples.sort_by_key(|s| (s.at, s.tid, s.stack));
        let firsts = self.samples.first().map(|s| s.at).into_iter().chain(self.tables.iter().filter_map(Events::first));
        let start = self.start.or(firsts.min()).unwrap_or(0);
        let lasts = self.samples.last().map(|s| s.at).into_iter().chain(self.tables.iter().filter_map(Events::last));
        let end = lasts.max().unwrap_or(0).saturating_sub(start).max(1);
        let whole = self.manifest.duration.unwrap_or(0).max(end);
        let tick = TICK.max(whole / MOST_TICKS);
        pauses::derive(self, start, start.saturating_add(whole), tick);
        let mut writer = Writer::aside(output, replace, &[input.path().to_owned()], i64::MAX)?;
        let is_there = |chart: &&model::Chart| self.tables.iter().any(|events| events.table.name == chart.table);
        let charts: Vec<model::Chart> =
            model::jvm::CHARTS.iter().chain(::counters::tables::CHARTS).filter(is_there).copied().collect();
        if !self.without_stacks {
            writer.source("import", "imported profile", 0, &charts);
        }
        for origin in &self.sources {
            writer.source(&origin.name, &origin.title, origin.interval, &origin.charts);
        }
        let mut labels = std::mem::take(&mut self.manifest.labels);
        let name = input.name();
        let from = format!("{} from {}", name.rsplit('/').next().unwrap_or(&name), format.name());
        labels.insert(model::IMPORTED_FROM.into(), from);
        let manifest = Manifest {
            tool: env!("CARGO_PKG_VERSION").into(),
            name: output.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            duration: Some(whole),
            labels,
            ..self.manifest.clone()
        };
        // Before anything else: whatever ends this, the file says that it is an import, and not whole.
        writer.manifest(&manifest)?;
        let number = |n: u32| if n == 0 { NULL } else { i64::from(n) };
        let sample = (!self.without_stacks).then(|| {
            let ids = [writer.define("import", &FRAME), writer.define("import", &STACK)];
            let mut rows = Rows { width: FRAME.width(), cells: Vec::new() };
            for (at, p) in (1..).zip(&self.places) {
                rows.cells.extend([at, p.function, p.module, p.build_id, p.offset, p.source, p.kind]);
            }
            writer.put(ids[0], 0, &rows);
            rows = Rows { width: STACK.width(), cells: Vec::new() };
            for (at, &(parent, place)) in (1..).zip(&self.stacks) {
                rows.cells.extend([at, number(parent), number(place)]);
            }
            writer.put(ids[1], 0, &rows);
            writer.define("import", &SAMPLE)
        });
        writer.commit(&self.symbols)?;
        let mut tables: Vec<(TableId, Sorted)> = self
            .tables
            .iter()
            .map(|events| (writer.define(self.source_of(events.table), events.table), events.sorted(start)))
            .collect();
        let mut samples = self.samples.as_slice();
        let mut waiting = 0;
        while let Some(now) =
            samples.first().map(|s| s.at - start).into_iter().chain(tables.iter().filter_map(|t| t.1.next())).min()
        {
            let until = (now.div_euclid(tick) + 1).saturating_mul(tick);
            let (part, rest) = samples.split_at(samples.partition_point(|s| s.at - start < until));
            samples = rest;
            let mut rows = Rows { width: SAMPLE.width(), cells: Vec::with_capacity(part.len() * 8) };
            let mut last = 0;
            for s in part {
                // Times are kept to the millisecond: finer ones would be most of the file.
                let at = (s.at - start) / 1_000_000 * 1_000_000;
                last = at;
                rows.cells.extend([s.pid, s.tid, s.comm, s.thread, s.cpu, at, number(s.stack), s.weight]);
            }
            waiting += rows.cells.len();
            if let Some(id) = sample {
                writer.put(id, last.max(0), &rows);
            }
            for (id, rows) in &mut tables {
                for (last, rows) in rows.until(until) {
                    waiting += rows.cells.len();
                    writer.put(*id, last.max(0), &rows);
                }
            }
            if waiting >= COMMIT {
                writer.commit(&self.symbols)?;
                waiting = 0;
            }
        }
        writer.facts(&self.facts)?;
        let coverage: Vec<Coverage> = self
            .notes()
            .into_iter()
            .enumerate()
            .map(|(i, why)| Coverage {
                source: "import".into(),
                item: if i == 0 { String::new() } else { format!("note {}", i + 1) },
                status: Status::Read,
                why,
                remedy: None,
            })
            .chain(self.missing.iter().cloned())
            .collect();
        writer.coverage(&coverage)?;
        let manifest = Manifest { ended: Some(model::IMPORTED.into()), ..manifest };
        writer.finish(&manifest, &self.symbols)?;
        self.manifest = manifest;
        Ok(())
    }
}

impl Events {
    fn first(&self) -> Option<i64> {
        let own = self.at.iter().copied();
        let place = self.place();
        let width = self.table.width();
        // What was over first did not begin first.
        let began = place.into_iter().flat_map(|at| self.cells.iter().skip(at).step_by(width)).copied();
        own.chain(began).min()
    }

    fn last(&self) -> Option<i64> {
        self.at.iter().copied().max()
    }

    /// The column that is a time on the file's clock.
    fn place(&self) -> Option<usize> {
        self.table.stored().iter().position(|column| column.name == "at")
    }

    /// The rows in the order in which they were over, with times from `start` on.
    fn sorted(&self, start: i64) -> Sorted<'_> {
        let mut order: Vec<usize> = (0..self.at.len()).collect();
        order.sort_by_key(|row| self.at.get(*row));
        Sorted { events: self, order, done: 0, start }
    }
}

/// Rows of events in their order.
struct Sorted<'a> {
    events: &'a Events,
    order: Vec<usize>,
    /// So many were taken.
    done: usize,
    start: i64,
}

impl Sorted<'_> {
    /// When the next one was over.
    fn next(&self) -> Option<i64> {
        let row = self.order.get(self.done)?;
        Some(self.events.at.get(*row)?.saturating_sub(self.start))
    }

    /// Takes those that were over before a time; with when the last of them was. Of events they are one read, of levels
    /// those of one time.
    fn until(&mut self, until: i64) -> Vec<(i64, Rows)> {
        let (width, at) = (self.events.table.width(), self.events.place());
        let mut reads: Vec<(i64, Rows)> = Vec::new();
        while let Some(over) = self.next().filter(|over| *over < until) {
            let row = self.order.get(self.done).copied().unwrap_or(0);
            self.done += 1;
            let mut cells: Vec<i64> = self.events.cells.iter().skip(row * width).take(width).copied().collect();
            if let Some(cell) = at.and_then(|at| cells.get_mut(at)) {
                *cell = cell.saturating_sub(self.start);
            }
            match reads.last_mut().filter(|(last, _)| self.events.table.events || *last == over) {
                Some((last, rows)) => {
                    *last = over;
                    rows.cells.extend(cells);
                }
                None => reads.push((over, Rows { width, cells })),
            }
        }
        reads
    }
}

/// What kind of code a module holds, by its name.
pub(crate) fn kind_of(module: &str) -> &'static str {
    let name = module.rsplit('/').next().unwrap_or(module);
    if module.starts_with("[kernel")
        || module.starts_with("[guest.kernel")
        || name.ends_with(".ko")
        || name.contains(".ko.")
        || module == "[k]"
    {
        "kernel"
    } else if (name.starts_with("perf-") && name.ends_with(".map"))
        || name.starts_with("jitted-")
        || matches!(module, "[JIT]" | "[jit]" | "//anon")
    {
        "jit"
    } else {
        "native"
    }
}

#[cfg(test)]
impl Profile {
    /// All texts.
    pub(crate) fn words(&self) -> Vec<String> {
        (0..i64::MAX).map_while(|cell| self.symbols.text(cell)).map(str::to_owned).collect()
    }

    /// The rows of a table, by the names of its columns.
    pub(crate) fn table(&self, name: &str) -> Vec<Vec<(&'static str, i64)>> {
        let Some(events) = self.tables.iter().find(|events| events.table.name == name) else { return Vec::new() };
        let columns = events.table.stored();
        let row = |cells: &[i64]| columns.iter().map(|c| c.name).zip(cells.iter().copied()).collect();
        events.cells.chunks(columns.len()).map(row).collect()
    }

    /// Kind, function, source and module of each frame of a stack, the outermost first.
    pub(crate) fn frames(&self, stack: u32) -> Vec<String> {
        let mut frames = Vec::new();
        let mut at = stack;
        while let Some((parent, place)) = (at as usize).checked_sub(1).and_then(|i| self.stacks.get(i)) {
            let place = self.places[*place as usize - 1];
            let cells = [place.kind, place.function, place.source, place.module];
            frames.push(cells.map(|cell| self.symbols.text(cell).unwrap_or("-")).join(" "));
            at = *parent;
        }
        frames.reverse();
        frames
    }
}

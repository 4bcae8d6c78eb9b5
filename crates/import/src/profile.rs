//! A profile on its way into a recording: places and stacks by number, samples.

use crate::tables::{FRAME, SAMPLE, STACK};
use crate::{Error, Format, Options};
use model::{Coverage, Manifest, NULL, Rows, Status, Symbols};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use store::Writer;

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
    by_stack: HashMap<(u32, u32), u32>,
    /// The samples, in the order of the file.
    pub samples: Vec<Sample>,
    /// Manifest fields that the file knew: host, kernel, command.
    pub manifest: Manifest,
    notes: Vec<String>,
    counts: BTreeMap<&'static str, u64>,
}

/// Samples between two commits are those of this stretch.
const TICK: i64 = 1_000_000_000;

/// Most ticks; a longer profile has longer ones.
const MOST_TICKS: i64 = 3600;

impl Profile {
    /// An empty profile.
    pub fn new(options: Options) -> Self {
        Profile { options, ..Profile::default() }
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
    pub fn stack(&mut self, parent: u32, place: u32) -> u32 {
        let next = self.stacks.len() as u32 + 1;
        let number = *self.by_stack.entry((parent, place)).or_insert(next);
        if number == next {
            self.stacks.push((parent, place));
        }
        number
    }

    /// How many places and stacks there are.
    pub fn sizes(&self) -> (usize, usize) {
        (self.places.len(), self.stacks.len())
    }

    /// Share of the places that have a function, by weight of the samples they are the innermost frame of; `None` without samples.
    pub fn resolved(&self) -> Option<f64> {
        let named = |stack: u32| {
            let (_, place) = self.stacks.get((stack as usize).checked_sub(1)?)?;
            Some(self.places.get((*place as usize).checked_sub(1)?)?.function != NULL)
        };
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
    pub(crate) fn write(&mut self, format: Format, input: &Path, output: &Path, replace: bool) -> Result<(), Error> {
        self.samples.sort_by_key(|s| (s.at, s.tid, s.stack));
        let start = self.samples.first().map_or(0, |s| s.at);
        let end = self.samples.last().map_or(0, |s| s.at).saturating_sub(start).max(1);
        let tick = TICK.max(end / MOST_TICKS);
        let mut writer = Writer::create(output, replace, i64::MAX)?;
        writer.source("import", "imported profile", 0, &[]);
        let ids = [writer.define("import", &FRAME), writer.define("import", &STACK), writer.define("import", &SAMPLE)];
        let number = |n: u32| if n == 0 { NULL } else { i64::from(n) };
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
        writer.commit(&self.symbols)?;
        for part in self.samples.chunk_by(|a, b| (a.at - start) / tick == (b.at - start) / tick) {
            rows = Rows { width: SAMPLE.width(), cells: Vec::with_capacity(part.len() * 8) };
            let mut last = 0;
            for s in part {
                // Times are kept to the millisecond: finer ones would be most of the file.
                let at = (s.at - start) / 1_000_000 * 1_000_000;
                last = at;
                rows.cells.extend([s.pid, s.tid, s.comm, s.thread, s.cpu, at, number(s.stack), s.weight]);
            }
            writer.put(ids[2], last, &rows);
            writer.commit(&self.symbols)?;
        }
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
            .collect();
        writer.coverage(&coverage)?;
        let mut labels = std::mem::take(&mut self.manifest.labels);
        labels.insert(
            "imported".into(),
            format!("{} from {}", input.file_name().unwrap_or_default().to_string_lossy(), format.name()),
        );
        let manifest = Manifest {
            tool: env!("CARGO_PKG_VERSION").into(),
            name: output.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            duration: Some(self.manifest.duration.unwrap_or(0).max(end)),
            labels,
            ended: Some("imported".into()),
            ..self.manifest.clone()
        };
        writer.finish(&manifest, &self.symbols)?;
        self.manifest = manifest;
        Ok(())
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

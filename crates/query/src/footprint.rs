//! Over how much memory the code is spread that programs ran: lines, pages and regions of it by the addresses of samples, of each kind of code of each
//! program.

use crate::Run;
use crate::stats::distinct::rarefied;
use model::{NULL, Symbols, Window};
use std::collections::{BTreeMap, HashMap};

/// Samples that others are compared at: so many are drawn where there are as many.
pub const DRAWN: u64 = 1000;
/// With fewer samples nothing is said.
pub const FEWEST: u64 = 100;

/// A space that addresses count from: `code_space`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Space {
    /// `file`, `jit` or `kernel`.
    pub kind: String,
    /// Path of the file, `[kernel]`, `[vdso]`; empty for code that a process made.
    pub module: String,
}

/// The code of one kind of a program, of the process that has most samples in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Footprint {
    /// Name of the process.
    pub comm: String,
    /// `file`, `jit` or `kernel`.
    pub kind: String,
    /// The process.
    pub pid: i64,
    /// Samples by space and page of 4 KiB.
    pub pages: BTreeMap<(i64, i64), u64>,
    /// Samples by space and line of 64 bytes.
    pub lines: HashMap<(i64, i64), u64>,
    /// Share of the samples on huge pages, over the whole recording; `None` where that was not told.
    pub huge: Option<f64>,
}

impl Footprint {
    /// Its samples.
    pub fn samples(&self) -> u64 {
        self.pages.values().sum()
    }

    /// How often each line was met.
    pub fn of_lines(&self) -> Vec<u64> {
        self.lines.values().copied().collect()
    }

    /// How often each page was met.
    pub fn of_pages(&self) -> Vec<u64> {
        self.pages.values().copied().collect()
    }

    /// Samples by space and aligned region of 2 MiB.
    pub fn regions(&self) -> BTreeMap<(i64, i64), u64> {
        let mut regions = BTreeMap::new();
        for (&(space, page), samples) in &self.pages {
            *regions.entry((space, page >> 9)).or_default() += samples;
        }
        regions
    }
}

/// How many samples are drawn so that all these can be compared; `None` where one of them has too few.
pub fn drawn<'a>(of: impl Iterator<Item = &'a Footprint>) -> Option<u64> {
    let fewest = of.map(Footprint::samples).min()?.min(DRAWN);
    (fewest >= FEWEST).then_some(fewest)
}

/// Lines, pages and regions that so many samples find.
pub fn found(of: &Footprint, drawn: u64) -> [Option<f64>; 3] {
    let regions: Vec<u64> = of.regions().into_values().collect();
    [of.of_lines(), of.of_pages(), regions].map(|counts| rarefied(&counts, drawn))
}

/// What code lies in, by number.
pub fn spaces(run: &Run) -> HashMap<i64, Space> {
    let mut found = HashMap::new();
    run.recording.scan("code_space", &["number", "kind", "module"], None, &mut Symbols::default(), |batch| {
        for row in 0..batch.len() {
            let text = |column: usize| batch.symbols.text(batch.cell(column, row)).unwrap_or_default().to_owned();
            found.insert(batch.cell(0, row), Space { kind: text(1), module: text(2) });
        }
    });
    found
}

/// The code of all programs in a window, those with most samples first; empty where a recording does not tell.
pub fn footprints(run: &Run, window: &Window, spaces: &HashMap<i64, Space>) -> Vec<Footprint> {
    let mut all: HashMap<(String, String, i64), Footprint> = HashMap::new();
    let between = Some((window.from, i64::MAX));
    let columns = ["at", "pid", "comm", "code", "address"];
    run.recording.scan("sample", &columns, between, &mut Symbols::default(), |batch| {
        for row in 0..batch.len() {
            let [at, pid, comm, code, address] = [0, 1, 2, 3, 4].map(|column| batch.cell(column, row));
            if at == NULL || address == NULL || window.part(at, at) <= 0.0 {
                continue;
            }
            let Some(space) = spaces.get(&code) else { continue };
            let comm = batch.symbols.text(comm).unwrap_or_default();
            let key = (comm.to_owned(), space.kind.clone(), pid);
            let of = all.entry(key).or_insert_with(|| Footprint {
                comm: comm.to_owned(),
                kind: space.kind.clone(),
                pid,
                ..Footprint::default()
            });
            *of.lines.entry((code, address >> 6)).or_default() += 1;
            *of.pages.entry((code, address >> 12)).or_default() += 1;
        }
    });
    let mut all: Vec<Footprint> = all.into_values().collect();
    all.sort_by(|a, b| {
        let of = |f: &Footprint| (std::cmp::Reverse(f.samples()), f.comm.clone(), f.kind.clone(), f.pid);
        of(a).cmp(&of(b))
    });
    let mut known: Vec<(String, String)> = Vec::new();
    all.retain(|of| {
        let name = (of.comm.clone(), of.kind.clone());
        let is_new = !known.contains(&name);
        if is_new {
            known.push(name);
        }
        is_new
    });
    huge(run, spaces, &mut all);
    all
}

fn huge(run: &Run, spaces: &HashMap<i64, Space>, all: &mut [Footprint]) {
    let mut sums: HashMap<(i64, String, String), (i64, i64)> = HashMap::new();
    let columns = ["pid", "comm", "code", "samples", "huge"];
    run.recording.scan("code_huge", &columns, None, &mut Symbols::default(), |batch| {
        for row in 0..batch.len() {
            let [pid, comm, code, samples, huge] = [0, 1, 2, 3, 4].map(|column| batch.cell(column, row));
            let Some(space) = spaces.get(&code).filter(|_| samples != NULL && huge != NULL) else { continue };
            let comm = batch.symbols.text(comm).unwrap_or_default().to_owned();
            let sum = sums.entry((pid, comm, space.kind.clone())).or_default();
            *sum = (sum.0.saturating_add(samples), sum.1.saturating_add(huge));
        }
    });
    for of in all {
        let sum = sums.get(&(of.pid, of.comm.clone(), of.kind.clone()));
        of.huge = sum.filter(|(samples, _)| *samples > 0).map(|(samples, huge)| *huge as f64 / *samples as f64);
    }
}

/// Entries of the instruction TLB of the machine, both levels, for pages of 4 KiB and of 2 MiB; `None` where they are not known.
pub fn tlb(run: &Run) -> [Option<u32>; 2] {
    let facts = run.recording.facts();
    [["itlb", "itlb_second"], ["itlb_2m", "itlb_2m_second"]].map(|names| {
        let of = |name: &str| {
            let fact = facts.iter().find(|fact| fact.category == "cpu" && fact.name == name)?;
            fact.value.parse::<u32>().ok()
        };
        let entries: Vec<u32> = names.into_iter().filter_map(of).collect();
        (!entries.is_empty()).then(|| entries.iter().fold(0, |sum: u32, &of| sum.saturating_add(of)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use model::{Column, Table, Unit};

    static SAMPLE: Table = Table::wide(
        "sample",
        "samples",
        &[
            Column::number("pid", "process"),
            Column::label("comm", "its name"),
            Column::gauge("at", Unit::Nanoseconds, "when"),
            Column::gauge("code", Unit::None, "space"),
            Column::gauge("address", Unit::None, "address"),
        ],
    )
    .of_events();
    static SPACE: Table = Table::wide(
        "code_space",
        "spaces",
        &[Column::number("number", "number"), Column::fact("kind", "kind"), Column::fact("module", "file")],
    )
    .of_entries();
    static HUGE: Table = Table::wide(
        "code_huge",
        "huge pages",
        &[
            Column::number("pid", "process"),
            Column::label("comm", "its name"),
            Column::number("code", "space"),
            Column::fact_number("samples", Unit::None, "samples"),
            Column::fact_number("huge", Unit::None, "huge"),
        ],
    )
    .of_entries();

    #[test]
    fn samples_in_the_window_are_put_together_by_program_and_kind() {
        let mut samples = "t pid comm at code address".to_owned();
        for i in 0..300u64 {
            // A page each of three, one of which is met as often as the others together; the second half is outside the window.
            let at = if i < 200 { 5 } else { 20 };
            let page = if i % 2 == 0 { 0 } else { 1 + i % 4 / 2 };
            samples += &format!("\n1 7 app {at} 1 {}", 0x20_0000 + page * 4096 + 64 * (i % 3));
        }
        samples += "\n1 8 app 5 1 64\n1 7 app 5 2 128\n1 7 app 5 9 128\n1 7 app 5 - -";
        let run = testing::run(
            "a",
            &[
                (&SAMPLE, samples.as_str()),
                (&SPACE, "t number kind module\n0 1 file /bin/app\n0 2 kernel [kernel]"),
                (&HUGE, "t pid comm code samples huge\n0 7 app 1 100 25"),
            ],
        );
        let window = Window { from: 0, to: 10, why: String::new() };
        let spaces = spaces(&run);
        let found_all = footprints(&run, &window, &spaces);
        let names: Vec<_> = found_all.iter().map(|of| (of.kind.as_str(), of.pid, of.samples(), of.huge)).collect();
        assert_eq!(names, [("file", 7, 200, Some(0.25)), ("kernel", 7, 1, None)]);
        let of = &found_all[0];
        assert_eq!(of.of_pages().iter().max(), Some(&100));
        assert_eq!((of.pages.len(), of.lines.len(), of.regions().len()), (3, 9, 1));
        assert_eq!((drawn(std::iter::once(of)), drawn(found_all.iter()), drawn([].iter())), (Some(200), None, None));
        assert_eq!(found(of, 200), [Some(9.0), Some(3.0), Some(1.0)]);
        assert_eq!(found(of, 201), [None, None, None]);
        assert_eq!(tlb(&run), [None, None]);
    }
}

//! What hardware counters say of runs: each metric of them over the windows, with its interval, and how many cycles of an instruction went into what. The
//! page *Counters* and `explain` share it.

use crate::means;
use model::{Compare, Derived, Polarity, Table, Window};
use query::series::{Grid, Series};
use query::stats::{Comparer, Comparison, Options, Series as Samples};
use query::{Run, metric};
use std::collections::{BTreeMap, BTreeSet};

/// The table of counts, and that of metrics which came without counts.
const COUNTS: &str = "pmu";
const OTHERS: &str = "pmu_metric";

/// A metric in one run.
#[derive(Clone, Debug)]
pub struct OfRun {
    /// The group of counters that it is from.
    pub group: String,
    /// Its mean over the window: the ratio of the sums.
    pub mean: f64,
    /// Its intervals in the window.
    pub samples: Samples,
    /// Over the whole recording: when an interval ended, seconds, and its value; NaN where it was not counted.
    pub points: Vec<(f64, f64)>,
    /// It is from a table without counts: intervals weigh alike.
    pub is_given: bool,
}

/// A metric.
#[derive(Clone, Debug)]
pub struct Counted {
    /// Its name.
    pub name: String,
    /// Its unit; empty where the help says per what it is.
    pub unit: &'static str,
    /// What it says.
    pub help: String,
    /// Whether more of it is better.
    pub polarity: Polarity,
    /// The least difference that matters.
    pub floor: f64,
    /// Differences are told as such, not as ratios.
    pub is_share: bool,
    /// It means the same on CPUs of one kind only.
    pub same_cpu: bool,
    /// By run; none where it was not counted.
    pub runs: Vec<Option<OfRun>>,
}

impl Counted {
    /// A run against the baseline, which is the first; none where either was not counted, or too seldom.
    pub fn against(&self, run: usize) -> Option<Comparison> {
        let samples = |run: usize| self.runs.get(run).and_then(Option::as_ref).map(|of| of.samples.clone());
        let (baseline, other) = (samples(0)?, samples(run)?);
        let found = Comparer::new().compare(&[baseline], &[other], &Options::default());
        found.difference.is_some().then_some(found)
    }
}

/// Which kind of CPU a run was counted on: the microarchitecture, else what the CPU calls itself.
pub fn kind_of(run: &Run) -> Option<String> {
    let facts = run.recording.facts();
    let find = |category: &str, name: &str| facts.iter().find(|f| f.category == category && f.name == name);
    let found = find("pmu", "microarchitecture").filter(|fact| fact.value != "generic").or(find("cpu", "model"));
    found.map(|fact| fact.value.clone())
}

/// Whether the CPUs of all runs are of one kind, as far as that is known.
pub fn are_alike(runs: &[Run]) -> bool {
    runs.iter().filter_map(kind_of).collect::<BTreeSet<String>>().len() <= 1
}

/// All metrics that any of the runs has, in the order in which they are declared; those without counts last.
pub fn metrics(runs: &[Run], windows: &[Window]) -> Vec<Counted> {
    let mut found: Vec<Counted> = Vec::new();
    let declared = runs.iter().find_map(|run| run.recording.table(COUNTS));
    for derived in declared.iter().flat_map(|table| table.derived) {
        let of = |(run, window): (&Run, &Window)| of_counts(run, derived.name, window);
        let own = Counted {
            name: derived.name.to_owned(),
            unit: derived.unit,
            help: derived.help.to_owned(),
            polarity: derived.polarity,
            floor: derived.floor,
            is_share: derived.compare == Compare::Difference,
            same_cpu: counters::is_of_one_cpu(derived.name),
            runs: runs.iter().zip(windows).map(of).collect(),
        };
        found.push(own);
    }
    for (at, (run, window)) in runs.iter().zip(windows).enumerate() {
        for (name, of) in given(run, window) {
            let known = match found.iter().position(|counted| counted.name == name) {
                Some(known) => known,
                None => {
                    found.push(Counted::given(&name, runs.len()));
                    found.len() - 1
                }
            };
            if let Some(cell) = found.get_mut(known).and_then(|counted| counted.runs.get_mut(at)) {
                cell.get_or_insert(of);
            }
        }
    }
    found.retain(|counted| counted.runs.iter().any(Option::is_some));
    found
}

impl Counted {
    /// One that only another tool, or a file of the user's, has; or one of ours in a recording without counts.
    fn given(name: &str, runs: usize) -> Counted {
        let own: Option<&Derived> = counters::METRICS.iter().find(|derived| derived.name == name);
        Counted {
            name: name.to_owned(),
            unit: own.map_or("", |own| own.unit),
            help: own.map_or_else(
                || "As the tool computes it that counted, or the file given with --counters.".to_owned(),
                |own| own.help.to_owned(),
            ),
            polarity: own.map_or(Polarity::Neutral, |own| own.polarity),
            floor: own.map_or(0.0, |own| own.floor),
            is_share: own.is_some_and(|own| own.compare == Compare::Difference),
            same_cpu: own.is_none_or(|own| counters::is_of_one_cpu(own.name)),
            runs: vec![None; runs],
        }
    }
}

/// A metric of the table of counts: of the group that has it for longest; the group `core` before others.
fn of_counts(run: &Run, name: &str, window: &Window) -> Option<OfRun> {
    let whole = Window { from: 0, to: run.recording.duration(), why: String::new() };
    let grid = means::grid(run, COUNTS, name, &["group"], &whole)?;
    let cut = grid.cut(window);
    let length = |series: &Series| series.measured(cut.mostly()).filter(|(_, _, den)| *den > 0.0).count();
    let best = grid.series.iter().filter(|series| length(series) > 0).max_by_key(|series| {
        let is_core = series.labels.first().is_some_and(|group| group == "core");
        (is_core, length(series))
    })?;
    let (num, den): (Vec<f64>, Vec<f64>) = cut.mostly().map(|i| (best.num(i), best.den(i))).unzip();
    let (above, below) = best.sums_in(&cut).filter(|(_, den)| *den > 0.0)?;
    let points = (0..grid.len()).map(|i| (grid.to.get(i).copied().unwrap_or(0.0), best.value(i))).collect();
    Some(OfRun {
        group: best.labels.first().cloned().unwrap_or_default(),
        mean: above / below,
        samples: Samples::ratio(&num, &den),
        points,
        is_given: false,
    })
}

/// The metrics of a run that came without counts, by name.
fn given(run: &Run, window: &Window) -> BTreeMap<String, OfRun> {
    let whole = Window { from: 0, to: run.recording.duration(), why: String::new() };
    let Some(grid) = means::grid(run, OTHERS, "value", &["group", "metric"], &whole) else { return BTreeMap::new() };
    let cut = grid.cut(window);
    let of = |series: &Series| {
        let [group, name] = series.labels.get(..2)? else { return None };
        let values = series.values(cut.mostly());
        let known: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        if known.is_empty() {
            return None;
        }
        let own = OfRun {
            group: group.clone(),
            mean: known.iter().sum::<f64>() / known.len() as f64,
            samples: Samples::even(&values),
            points: (0..grid.len()).map(|i| (grid.to.get(i).copied().unwrap_or(0.0), series.value(i))).collect(),
            is_given: true,
        };
        Some((name.clone(), own))
    };
    grid.series.iter().filter_map(of).collect()
}

/// What cycles go into, as far as counters tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Waiting for instructions.
    Frontend,
    /// Waiting for data, and for free units.
    Backend,
    /// Wrong predictions of branches.
    Branches,
    /// Page walks.
    Walks,
    /// Lines from the memory of another node.
    Remote,
}

/// How many cycles of a class there are for what is counted, and whether that is an estimate.
struct Source {
    class: Class,
    /// Columns of the table and their weights in cycles; slots are divided by how many there are in a cycle.
    columns: &'static [&'static str],
    in_slots: bool,
    /// Cycles for each, where events are counted and not cycles.
    each: Option<f64>,
    /// What the columns are called.
    title: &'static str,
}

/// Of several that a class has the first that both sides have counts.
const SOURCES: [Source; 8] = [
    Source {
        class: Class::Frontend,
        columns: &["slots_frontend"],
        in_slots: true,
        each: None,
        title: "slots left empty because instructions did not come fast enough",
    },
    Source {
        class: Class::Frontend,
        columns: &["stalls_frontend"],
        in_slots: false,
        each: None,
        title: "cycles in which no operation started because none had been fetched",
    },
    Source {
        class: Class::Backend,
        columns: &["slots_backend"],
        in_slots: true,
        each: None,
        title: "slots left empty because operations waited for data or for a free unit",
    },
    Source {
        class: Class::Backend,
        columns: &["stalls_backend"],
        in_slots: false,
        each: None,
        title: "cycles in which no operation started because those before had not been worked off",
    },
    Source {
        class: Class::Branches,
        columns: &["slots_bad"],
        in_slots: true,
        each: None,
        title: "slots lost to wrong predictions",
    },
    // From Zen to Sapphire Rapids and Neoverse V2 it is 10 to 20 cycles.
    Source {
        class: Class::Branches,
        columns: &["branch_misses"],
        in_slots: false,
        each: Some(15.0),
        title: "branches predicted wrongly",
    },
    // Most end in the caches of the walker: 20 to 40 cycles; in memory 200.
    Source {
        class: Class::Walks,
        columns: &["dtlb_walks", "itlb_walks"],
        in_slots: false,
        each: Some(30.0),
        title: "page walks",
    },
    // What a load from another node takes longer than one from the own, as far as loads do not overlap.
    Source {
        class: Class::Remote,
        columns: &["mem_remote"],
        in_slots: false,
        each: Some(100.0),
        title: "lines from the memory of another node",
    },
];

impl Class {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Class::Frontend => "frontend",
            Class::Backend => "backend",
            Class::Branches => "branches",
            Class::Walks => "walks",
            Class::Remote => "remote",
        }
    }
}

/// Cycles of one class on two sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Cycles {
    /// Which.
    pub class: Class,
    /// What was counted for it.
    pub title: &'static str,
    /// Whether events were counted, of which each is taken to cost so many cycles.
    pub each: Option<f64>,
    /// What was counted: a share of the slots or cycles; of events how many in 1,000 instructions. The slow side, and the baseline.
    pub value: [f64; 2],
    /// Cycles of an instruction, all in all.
    pub cpi: [f64; 2],
    /// How much of the slow side's cycles it is that this class takes more for an instruction: best estimate, and the ends of its 95 % interval.
    pub more: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// Counts of one run by interval: a column of a group.
struct Columns<'a> {
    grids: BTreeMap<&'a str, Grid>,
    window: &'a Window,
}

impl Columns<'_> {
    fn of<'a>(run: &Run, names: &[&'a str], window: &'a Window) -> Option<Columns<'a>> {
        let table: &'static Table = run.recording.table(COUNTS)?;
        let frame = means::frame(run, COUNTS, names, window)?;
        let grids = names.iter().filter_map(|name| {
            let found = metric(table, name)?;
            Some((*name, Grid::new(&frame, &found, &["group"], None).ok()?))
        });
        Some(Columns { grids: grids.collect(), window })
    }

    /// The counts of some columns in each interval of a group.
    fn counts(&self, names: &[&str], group: &str) -> Option<Vec<f64>> {
        let mut all: Option<Vec<f64>> = None;
        for name in names {
            let grid = self.grids.get(name)?;
            let series = grid.series.iter().find(|series| series.labels.first().is_some_and(|label| label == group))?;
            let own: Vec<f64> = grid.cut(self.window).mostly().map(|i| series.num(i)).collect();
            all = Some(match all {
                Some(sum) => sum.iter().zip(&own).map(|(a, b)| a + b).collect(),
                None => own,
            });
        }
        all.filter(|counts| counts.iter().any(|count| count.is_finite()))
    }

    fn groups(&self) -> BTreeSet<String> {
        let labels = self.grids.get("instructions").into_iter().flat_map(|grid| &grid.series);
        labels.filter_map(|series| series.labels.first().cloned()).collect()
    }
}

/// What one side has of a source.
struct OfSide {
    /// Cycles of the class, or what stands for them, for an instruction.
    samples: Vec<Samples>,
    value: f64,
    cpi: f64,
}

impl Source {
    fn of_side(&self, runs: &[(&Run, &Window)]) -> Option<OfSide> {
        let mut samples = Vec::new();
        let (mut events, mut cycles, mut instructions, mut slots) = (0.0, 0.0, 0.0, 0.0);
        let mut names: Vec<&str> = vec!["cycles", "instructions"];
        names.extend(self.columns);
        if self.in_slots {
            names.push("slots");
        }
        for (run, window) in runs {
            let Some(columns) = Columns::of(run, &names, window) else { continue };
            let all = |group: &String| {
                let of = |names: &[&str]| columns.counts(names, group);
                let slots = if self.in_slots { of(&["slots"])? } else { of(&["cycles"])? };
                Some([of(self.columns)?, of(&["cycles"])?, of(&["instructions"])?, slots])
            };
            let Some([own, of_cycles, of_instructions, of_slots]) = columns.groups().iter().find_map(all) else {
                continue;
            };
            // What is measured of all four.
            let rows = own.iter().zip(&of_cycles).zip(&of_instructions).zip(&of_slots);
            let mut num = Vec::new();
            for (((own, of_cycles), of_instructions), of_slots) in rows {
                let is_there = [own, of_cycles, of_instructions, of_slots].iter().all(|count| count.is_finite());
                num.push(if is_there { *own } else { f64::NAN });
                if is_there {
                    events += own;
                    cycles += of_cycles;
                    instructions += of_instructions;
                    slots += of_slots;
                }
            }
            samples.push((num, of_instructions));
        }
        if !(instructions > 0.0 && cycles > 0.0 && slots > 0.0) {
            return None;
        }
        let factor = self.each.unwrap_or(if self.in_slots { cycles / slots } else { 1.0 });
        let scaled = |(num, den): (Vec<f64>, Vec<f64>)| {
            let num: Vec<f64> = num.iter().map(|count| factor * count).collect();
            Samples::ratio(&num, &den)
        };
        let value = if self.each.is_some() { 1000.0 * events / instructions } else { events / slots };
        Some(OfSide { samples: samples.into_iter().map(scaled).collect(), value, cpi: cycles / instructions })
    }
}

/// How many more cycles of an instruction go into what, of runs on CPUs of one kind; nothing where the kinds differ, or nothing was counted.
pub fn cycles(slow: &[(&Run, &Window)], baseline: &[(&Run, &Window)]) -> Vec<Cycles> {
    let kinds: BTreeSet<String> = slow.iter().chain(baseline).filter_map(|(run, _)| kind_of(run)).collect();
    if kinds.len() > 1 {
        return Vec::new();
    }
    let mut found: Vec<Cycles> = Vec::new();
    for source in &SOURCES {
        if found.iter().any(|known| known.class == source.class) {
            continue;
        }
        let (Some(a), Some(b)) = (source.of_side(slow), source.of_side(baseline)) else { continue };
        let compared = Comparer::new().compare(&b.samples, &a.samples, &Options::default());
        let (Some(difference), Some((low, high))) = (compared.difference, compared.difference_interval) else {
            continue;
        };
        found.push(Cycles {
            class: source.class,
            title: source.title,
            each: source.each,
            value: [a.value, b.value],
            cpi: [a.cpi, b.cpi],
            more: difference / a.cpi,
            low: low / a.cpi,
            high: high / a.cpi,
        });
    }
    found
}

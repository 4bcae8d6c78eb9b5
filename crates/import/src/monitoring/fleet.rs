//! What was read of a number of hosts, on its way to their recordings.

use super::declare;
use super::series::{Metric, Series};
use crate::Format;
use crate::profile::{Origin, Profile};
use model::{Coverage, Fact, Kind, NULL, Status, Table, Unit, real};
use std::collections::{BTreeMap, BTreeSet};

/// A column of a sheet that is no label.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    /// Lower-case name.
    pub(crate) name: String,
    /// One line.
    pub(crate) help: String,
    /// Counter or gauge.
    pub(crate) kind: Kind,
    /// The unit of values as they are stored.
    pub(crate) unit: Unit,
    /// Whether values of several rows add up; else they have a mean.
    pub(crate) adds: bool,
    /// Whether it is a moment or an identifier, which is not compared.
    pub(crate) moment: bool,
}

/// A table of one host: rows of labels and values at times.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sheet {
    pub(crate) name: String,
    pub(crate) help: String,
    pub(crate) labels: Vec<String>,
    pub(crate) fields: Vec<Field>,
    /// Unix nanoseconds of each row.
    pub(crate) at: Vec<i64>,
    /// Texts of labels, by row.
    pub(crate) names: Vec<u32>,
    /// Values, by row; not a number where nothing was read.
    pub(crate) values: Vec<f64>,
}

/// A host.
#[derive(Clone, Debug, Default)]
pub(crate) struct Host {
    pub(crate) sheets: Vec<Sheet>,
    pub(crate) facts: Vec<Fact>,
    /// What is said of all that it told: job, region.
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) kernel: String,
    pub(crate) machine: String,
    pub(crate) cpus: i64,
    /// Nanoseconds between two reads, where that is known.
    pub(crate) interval: i64,
    pub(crate) notes: Vec<String>,
}

/// Hosts, with the texts that their labels are of.
#[derive(Debug, Default)]
pub(crate) struct Fleet {
    pub(crate) texts: Texts,
    pub(crate) metrics: Vec<Metric>,
    pub(crate) series: Vec<Series>,
    pub(crate) hosts: BTreeMap<String, Host>,
    notes: Vec<String>,
    counts: BTreeMap<&'static str, u64>,
    /// What the tables are of, by which the source is called.
    pub(crate) source: &'static str,
}

/// Texts, each once.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    texts: Vec<std::sync::Arc<str>>,
    by: std::collections::HashMap<std::sync::Arc<str>, u32>,
}

impl Texts {
    pub(crate) fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.by.get(text) {
            return *number;
        }
        let text: std::sync::Arc<str> = text.into();
        let number = self.texts.len() as u32;
        self.texts.push(text.clone());
        self.by.insert(text, number);
        number
    }

    pub(crate) fn text(&self, number: u32) -> &str {
        self.texts.get(number as usize).map_or("", |text| text)
    }
}

/// Most notes of one import: what is wrong everywhere is said often.
const MOST_NOTES: usize = 40;

impl Fleet {
    pub(crate) fn new(source: &'static str) -> Self {
        Fleet { source, ..Fleet::default() }
    }

    /// Something that must be known of all hosts.
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        let text = text.into();
        if self.notes.len() < MOST_NOTES && !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }

    /// Counts something that went wrong often.
    pub(crate) fn count(&mut self, what: &'static str, by: u64) {
        if by > 0 {
            let count = self.counts.entry(what).or_insert(0);
            *count = count.saturating_add(by);
        }
    }

    pub(crate) fn notes(&self) -> Vec<String> {
        let counted = self.counts.iter().map(|(what, n)| format!("{n} {what}"));
        self.notes.iter().cloned().chain(counted).collect()
    }

    /// That sheets are whole: what is written goes by it.
    #[cfg(feature = "fuzzing")]
    pub(crate) fn check(&self) {
        for sheet in self.hosts.values().flat_map(|host| &host.sheets) {
            assert_eq!(sheet.names.len(), sheet.at.len() * sheet.labels.len());
            assert_eq!(sheet.values.len(), sheet.at.len() * sheet.fields.len());
        }
    }

    /// A recording for each host that has a value; series have become sheets before.
    pub(crate) fn into_profiles(self, format: Format) -> Vec<(String, Profile)> {
        let notes = self.notes();
        let Fleet { texts, hosts, source, .. } = self;
        let mut declared = declare::Declared::default();
        hosts.values().flat_map(|host| &host.sheets).for_each(|sheet| declared.learn(sheet));
        let mut profiles = Vec::new();
        for (name, host) in hosts {
            if host.sheets.iter().any(|sheet| !sheet.at.is_empty()) {
                let profile = of_host(&name, host, &texts, &mut declared, (source, format, &notes));
                profiles.push((name, profile));
            }
        }
        profiles
    }
}

/// The recording of a host.
fn of_host(
    name: &str,
    host: Host,
    texts: &Texts,
    declared: &mut declare::Declared,
    (source, format, notes): (&str, Format, &[String]),
) -> Profile {
    let mut profile = Profile::new(crate::Options::default());
    profile.without_stacks = true;
    notes.iter().chain(&host.notes).for_each(|note| profile.note(note.clone()));
    let (mut tables, mut charts): (Vec<&'static Table>, Vec<model::Chart>) = (Vec::new(), Vec::new());
    let mut interval = host.interval;
    let (mut first, mut last) = (i64::MAX, i64::MIN);
    for sheet in host.sheets.iter().filter(|sheet| !sheet.at.is_empty()) {
        let (table, own) = declared.table(sheet);
        tables.push(table);
        charts.extend(own);
        let step = step(&sheet.at);
        interval = [interval, step].into_iter().filter(|step| *step > 0).min().unwrap_or(0);
        put(&mut profile, table, sheet, texts, step);
        first = sheet.at.iter().copied().fold(first, i64::min);
        last = sheet.at.iter().copied().fold(last, i64::max);
    }
    profile.sources =
        vec![Origin { name: source.to_owned(), title: format.name().to_owned(), interval, charts, tables }];
    profile.start = Some(first);
    profile.facts = host.facts;
    profile.missing = missing(format, interval);
    let manifest = &mut profile.manifest;
    manifest.host = name.to_owned();
    manifest.start_unix = first;
    manifest.duration = Some(last.saturating_sub(first));
    manifest.interval = interval;
    manifest.labels = host.labels;
    manifest.kernel = host.kernel;
    manifest.machine = host.machine;
    manifest.cpus = host.cpus;
    profile
}

/// What files of this kind cannot have.
fn missing(format: Format, interval: i64) -> Vec<Coverage> {
    let what = [
        ("threads", "states of threads, what they waited for and who woke them"),
        ("stacks", "stacks"),
        ("process", "processes and threads, but for what a table of it counts"),
        ("syscalls", "system calls"),
    ];
    let mut missing: Vec<Coverage> = what
        .into_iter()
        .map(|(source, what)| Coverage {
            source: source.into(),
            item: String::new(),
            status: Status::Absent,
            why: format!("{} has no {what}", format.name()),
            remedy: Some("twinscope record on the host".into()),
        })
        .collect();
    missing.push(Coverage {
        source: "import".into(),
        item: "interval".into(),
        status: Status::Read,
        why: format!(
            "values are {} s apart: what is shorter does not show, and there is no work to count per operation",
            interval as f64 / 1e9
        ),
        remedy: None,
    });
    missing
}

/// The usual time between reads: the smallest that is not rare.
pub(crate) fn step(at: &[i64]) -> i64 {
    let times: BTreeSet<i64> = at.iter().copied().collect();
    let mut steps: Vec<i64> =
        times.iter().zip(times.iter().skip(1)).map(|(before, after)| after.saturating_sub(*before)).collect();
    steps.sort_unstable();
    steps.get(steps.len() / 4).copied().unwrap_or(0)
}

/// Puts rows time by time. Where more than one read is missing, all values are said to be unknown, so that nothing is carried over the gap.
fn put(profile: &mut Profile, table: &'static Table, sheet: &Sheet, texts: &Texts, step: i64) {
    let (labels, fields) = (sheet.labels.len(), sheet.fields.len());
    let mut order: Vec<usize> = (0..sheet.at.len()).collect();
    order.sort_by_key(|row| sheet.at.get(*row));
    let names = |row: usize| sheet.names.get(row * labels..(row + 1) * labels).unwrap_or_default();
    let mut now: Vec<&[u32]> = Vec::new();
    let mut last: Option<i64> = None;
    let cells_of = |profile: &mut Profile, names: &[u32]| -> Vec<i64> {
        // An empty text is a value like others: a label that a series lacks.
        names.iter().map(|number| profile.symbols.cell(texts.text(*number))).collect()
    };
    let mut at_once = std::collections::HashSet::new();
    for row in order {
        let at = sheet.at.get(row).copied().unwrap_or(0);
        if last != Some(at) {
            let before = std::mem::take(&mut now);
            at_once.clear();
            if let Some(last) = last.filter(|last| step > 0 && at.saturating_sub(*last) > step.saturating_mul(3) / 2) {
                for names in &before {
                    let mut cells = cells_of(profile, names);
                    cells.resize(labels + fields, NULL);
                    profile.row(table, last.saturating_add(step), cells);
                }
            }
            last = Some(at);
        }
        let own = names(row);
        // Of rows of the same time with the same labels, one can be true.
        if !at_once.insert(own) {
            profile.count("rows that say the same again, of which the first is kept", 1);
            continue;
        }
        now.push(own);
        let mut cells = cells_of(profile, own);
        cells.extend(
            sheet.values.get(row * fields..(row + 1) * fields).unwrap_or_default().iter().map(|value| real(*value)),
        );
        profile.row(table, at, cells);
    }
}

//! Series of values, as Prometheus and long tables have them: one metric, its labels, values at times. They become sheets: one a metric and host, with
//! the labels that tell its series apart.

use super::fleet::{Field, Fleet, Sheet};
use super::units::{self, Scale};
use model::{Fact, Kind, Unit};
use regex_lite::Regex;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A metric.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Metric {
    /// As the file names it.
    pub(crate) name: String,
    pub(crate) help: String,
    /// What it is, where the file says so.
    pub(crate) kind: Option<Kind>,
    /// How it is stored.
    pub(crate) scale: Scale,
}

impl Metric {
    /// One of which only the name is known.
    pub(crate) fn named(name: &str) -> Self {
        Metric { name: name.to_owned(), help: String::new(), kind: None, scale: units::of_name(name) }
    }

    /// What it is, in a line without a full stop.
    fn said(&self) -> String {
        let help = self.help.trim().trim_end_matches('.');
        if help.is_empty() { self.name.clone() } else { help.to_owned() }
    }
}

/// Values of one metric with these labels.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Series {
    pub(crate) metric: usize,
    pub(crate) host: String,
    /// Names and values of labels, sorted by name, as numbers of texts.
    pub(crate) labels: Vec<(u32, u32)>,
    /// Unix nanoseconds and value; not a number where none was read.
    pub(crate) values: Vec<(i64, f64)>,
}

/// What a series is known by: its metric, its host, its labels.
pub(crate) type Key = (usize, String, Vec<(u32, u32)>);

/// Whether a metric counts up although neither its name nor its type says so.
pub(crate) fn asked(counter: Option<&Regex>, name: &str) -> bool {
    counter.is_some_and(|regex| regex.is_match(name))
}

/// Makes sheets of all series.
pub(crate) fn to_sheets(fleet: &mut Fleet) {
    let mut series = std::mem::take(&mut fleet.series);
    let metrics = std::mem::take(&mut fleet.metrics);
    if series.is_empty() {
        return;
    }
    of_hosts(fleet, &mut series);
    let mut by_metric: BTreeMap<usize, Vec<Series>> = BTreeMap::new();
    for one in series {
        by_metric.entry(one.metric).or_default().push(one);
    }
    let mut kinds_wrong = Vec::new();
    for (at, series) in by_metric {
        let Some(metric) = metrics.get(at) else { continue };
        if is_info(metric, &series) {
            series.iter().for_each(|one| facts(fleet, metric, one));
            continue;
        }
        let counts = metric.kind.map_or_else(|| units::counts(&metric.name), |kind| kind == Kind::Counter);
        let kind = if counts && falls(&series) {
            kinds_wrong.push(metric.name.clone());
            Kind::Gauge
        } else if counts {
            Kind::Counter
        } else {
            Kind::Gauge
        };
        let labels: BTreeSet<u32> = series.iter().flat_map(|one| one.labels.iter().map(|(name, _)| *name)).collect();
        let labels: Vec<u32> = labels.into_iter().collect();
        let sheet = Sheet {
            name: metric.name.clone(),
            help: metric.said(),
            labels: labels.iter().map(|name| fleet.texts.text(*name).to_owned()).collect(),
            fields: vec![Field {
                name: "value".into(),
                help: metric.said(),
                kind,
                unit: metric.scale.unit,
                adds: kind == Kind::Counter || matches!(metric.scale.unit, Unit::Bytes | Unit::Kibibytes),
                moment: kind == Kind::Gauge && units::is_moment(&metric.name),
            }],
            ..Sheet::default()
        };
        let none = fleet.texts.number("");
        let mut by_host: BTreeMap<String, Vec<Series>> = BTreeMap::new();
        for one in series {
            by_host.entry(one.host.clone()).or_default().push(one);
        }
        for (host, series) in by_host {
            let mut sheet = sheet.clone();
            for one in series {
                let given: HashMap<u32, u32> = one.labels.iter().copied().collect();
                for (at, value) in one.values {
                    sheet.at.push(at);
                    sheet.values.push(value * metric.scale.factor);
                    sheet.names.extend(labels.iter().map(|name| given.get(name).copied().unwrap_or(none)));
                }
            }
            fleet.hosts.entry(host).or_default().sheets.push(sheet);
        }
    }
    if !kinds_wrong.is_empty() {
        fleet.note(format!(
            "{} would be counters by name or type, but fall too often: taken as levels",
            kinds_wrong.join(", ")
        ));
    }
}

/// A label that all series of a host have, with the same value, is the host's, where that is so of each host that has it at all: job, region.
fn of_hosts(fleet: &mut Fleet, series: &mut [Series]) {
    let mut all: HashMap<&str, usize> = HashMap::new();
    // By host and label: how many series have it, its value, and whether that is the only one.
    let mut of: HashMap<(&str, u32), (usize, u32, bool)> = HashMap::new();
    for one in series.iter() {
        *all.entry(&one.host).or_default() += 1;
        for (name, value) in &one.labels {
            let known = of.entry((&one.host, *name)).or_insert((0, *value, true));
            known.0 += 1;
            known.2 &= known.1 == *value;
        }
    }
    let is_own = |host: &str, known: &(usize, u32, bool)| known.2 && all.get(host) == Some(&known.0);
    let others: BTreeSet<u32> =
        of.iter().filter(|((host, _), known)| !is_own(host, known)).map(|((_, name), _)| *name).collect();
    let mut own: BTreeSet<u32> = BTreeSet::new();
    for ((host, name), (_, value, _)) in of {
        if !others.contains(&name) {
            own.insert(name);
            let (name, value) = (fleet.texts.text(name).to_owned(), fleet.texts.text(value).to_owned());
            fleet.hosts.entry(host.to_owned()).or_default().labels.insert(name, value);
        }
    }
    series.iter_mut().for_each(|one| one.labels.retain(|(name, _)| !own.contains(name)));
}

/// A metric whose labels are what it tells: `node_uname_info`.
fn is_info(metric: &Metric, series: &[Series]) -> bool {
    metric.name.ends_with("_info")
        && series.iter().all(|one| one.values.iter().all(|(_, value)| *value == 1.0 || value.is_nan()))
}

/// Most facts of one metric and host: labels of containers and such are no properties of a host.
const MOST_FACTS: usize = 60;

fn facts(fleet: &mut Fleet, metric: &Metric, one: &Series) {
    let category = metric.name.strip_suffix("_info").unwrap_or(&metric.name);
    let host = fleet.hosts.entry(one.host.clone()).or_default();
    for (name, value) in &one.labels {
        let (name, value) = (fleet.texts.text(*name), fleet.texts.text(*value));
        if value.is_empty() || host.facts.iter().filter(|fact| fact.category == category).count() >= MOST_FACTS {
            continue;
        }
        if metric.name == "node_uname_info" {
            match name {
                "release" => host.kernel = value.to_owned(),
                "machine" => host.machine = value.to_owned(),
                _ => {}
            }
        }
        let fact = Fact { category: category.to_owned(), name: name.to_owned(), value: value.to_owned() };
        if !host.facts.contains(&fact) {
            host.facts.push(fact);
        }
    }
}

/// Whether values fall more often than counters are reset.
fn falls(series: &[Series]) -> bool {
    let (mut falls, mut steps) = (0_u64, 0_u64);
    for one in series {
        for pair in one.values.windows(2) {
            steps += 1;
            falls += u64::from(pair.first().map(|p| p.1) > pair.get(1).map(|p| p.1));
        }
    }
    falls > 2 && falls * 10 > steps
}

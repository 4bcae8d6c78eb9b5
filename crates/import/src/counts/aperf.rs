//! Counters in recordings of APerf (`aperf record`): the file `perf_stat_TIME.bin`, from 1.3 on `perf_stat.bin`; and what a recording says of the machine.
//!
//! A file is one record after another, as bincode writes them: which kind, the time as text, then lines of text, one a CPU and metric. Up to 1.2 a line is
//! `CPU METRIC; NUMERATORS; DENOMINATORS;SCALE`; from 1.3 on `CPU;NAME;COUNTS;…;ENABLED;RUNNING`, where the times, in seconds, grow from interval to interval.

use super::definitions::{self, Definitions};
use super::{Count, Counts, Interval, metric};
use crate::aperf::{Files, Records};
use crate::profile::Profile;
use ::counters::Named;
use model::Fact;
use std::collections::{BTreeMap, HashMap};

/// A line: which CPU and what, the counts, and the times where it has them.
#[derive(Debug, PartialEq)]
struct Line<'a> {
    cpu: i64,
    name: &'a str,
    counts: Vec<f64>,
    /// How many of the counts are numerators; none in the newer form.
    numerators: Option<usize>,
    scale: f64,
    /// Enabled and running, seconds since the recording began.
    times: Option<(f64, f64)>,
}

fn line(text: &str) -> Option<Line<'_>> {
    let parts: Vec<&str> = text.split(';').collect();
    let numbers = |text: &str| -> Option<Vec<f64>> {
        text.split_whitespace().map(|word| word.parse::<u64>().ok().map(|n| n as f64)).collect()
    };
    if let Some((cpu, name)) = parts.first().and_then(|head| head.trim().split_once(' ')) {
        let [_, above, below, scale] = parts[..] else { return None };
        let mut counts = numbers(above)?;
        let numerators = Some(counts.len());
        counts.extend(numbers(below)?);
        let scale = scale.trim().parse().ok()?;
        return Some(Line { cpu: cpu.parse().ok()?, name: name.trim(), counts, numerators, scale, times: None });
    }
    let [cpu, name, counts @ .., enabled, running] = &parts[..] else { return None };
    let counts: Option<Vec<f64>> = counts.iter().map(|word| word.parse::<u64>().ok().map(|n| n as f64)).collect();
    let counts = counts.filter(|counts| !counts.is_empty())?;
    let second = |text: &str| text.parse::<f64>().ok().filter(|time| time.is_finite() && *time >= 0.0);
    let times = Some((second(enabled)?, second(running)?));
    Some(Line { cpu: cpu.parse().ok()?, name, counts, numerators: None, scale: 1.0, times })
}

/// What lines with one name are of.
struct Kind {
    /// Its events.
    events: Vec<(String, Named)>,
    /// Which of the metrics it is counted for; none where events are counted each for itself.
    metric: Option<usize>,
}

/// Reads the counters of a recording, and the machine; whether there were any.
pub(crate) fn read(files: &Files<'_>, profile: &mut Profile) -> bool {
    system(files.kind(&["systeminfo", "system_info"]), profile);
    let Some(counts) = files.kind(&["perf_stat"]).filter(|counts| !counts.is_empty()) else { return false };
    let records: Vec<(i64, &str)> = Records::of(counts).collect();
    if records.iter().all(|(_, text)| text.trim().is_empty()) {
        return false;
    }
    let defined = match files.named("pmu_config.json").map(definitions::read) {
        Some(Ok(defined)) => defined,
        Some(Err(why)) => {
            profile.note(format!("pmu_config.json: {why}; only APerf's own metrics are taken"));
            Definitions::default()
        }
        None => {
            profile.note("there is no pmu_config.json beside the counts; only APerf's own metrics are taken");
            Definitions::default()
        }
    };
    defined.notes.iter().for_each(|note| profile.note(format!("pmu_config.json: {note}")));
    let (kinds, names) = kinds(&records, &defined);
    let sets = kinds.iter().map(|kind| kind.events.clone()).collect();
    let mut rows = Counts::new(profile, sets);
    let mut reader = Reader { defined: &defined, kinds: &kinds, names: &names, times: HashMap::new() };
    let usual =
        records.windows(2).map(|pair| pair[1].0 - pair[0].0).find(|length| *length > 0).unwrap_or(1_000_000_000);
    let mut from = records.first().map_or(0, |(at, _)| at - usual);
    for &(at, text) in &records {
        // Clocks on the wall can go back.
        if at > from {
            reader.interval(profile, &mut rows, (from, at), text);
            from = at;
        }
    }
    let start = records.first().map_or(0, |(at, _)| at - usual);
    profile.start = Some(start);
    profile.manifest.start_unix = start;
    profile.manifest.duration = Some(from.saturating_sub(start));
    profile.manifest.interval = usual;
    true
}

/// What the lines of the records are of, by their names.
fn kinds<'a>(records: &[(i64, &'a str)], defined: &Definitions) -> (Vec<Kind>, HashMap<&'a str, usize>) {
    let mut kinds = Vec::new();
    let mut names = HashMap::new();
    for line in records.iter().take(10).flat_map(|(_, text)| text.lines()).filter_map(line) {
        if names.contains_key(line.name) {
            continue;
        }
        let metric = defined.metrics.iter().position(|metric| metric.name == line.name);
        let own = metric.and_then(|at| defined.metrics.get(at)).filter(|metric| {
            metric.events.len() == line.counts.len() && line.numerators.is_none_or(|n| n == metric.numerators)
        });
        let alone = defined.events.iter().find(|(name, _)| name == line.name && line.counts.len() == 1);
        let kind = match (own, alone) {
            (Some(own), _) => Kind { events: own.events.clone(), metric },
            (None, Some(alone)) => Kind { events: vec![alone.clone()], metric: None },
            (None, None) => continue,
        };
        names.insert(line.name, kinds.len());
        kinds.push(kind);
    }
    (kinds, names)
}

struct Reader<'a> {
    defined: &'a Definitions,
    kinds: &'a [Kind],
    names: &'a HashMap<&'a str, usize>,
    /// The times of the interval before, by name and CPU.
    times: HashMap<(String, i64), (f64, f64)>,
}

impl Reader<'_> {
    fn interval(&mut self, profile: &mut Profile, rows: &mut Counts, (from, to): (i64, i64), text: &str) {
        // By metric: sums over CPUs of what its events came to.
        let mut of_metric: BTreeMap<&str, Sums> = BTreeMap::new();
        let mut of_event: BTreeMap<&str, f64> = BTreeMap::new();
        for row in text.lines() {
            let Some(line) = line(row) else {
                profile.count("lines that are no counts of APerf", 1);
                continue;
            };
            let mut counts: Vec<Option<Count>> =
                line.counts.iter().map(|&raw| Some(Count { raw, enabled: None, running: None })).collect();
            if let Some(now) = line.times {
                // The first of them is where the times begin.
                let Some(before) = self.times.insert((line.name.to_owned(), line.cpu), now) else { continue };
                let (enabled, running) = (now.0 - before.0, now.1 - before.1);
                if enabled <= 0.0 || running < 0.0 {
                    continue;
                }
                for count in counts.iter_mut().flatten() {
                    (count.enabled, count.running) = (Some(1e9 * enabled), Some(1e9 * running));
                }
            }
            let scaled: Option<Vec<f64>> = counts.iter().map(|count| count.and_then(|c| c.scaled())).collect();
            let kind = self.names.get(line.name).and_then(|&set| Some((set, self.kinds.get(set)?)));
            if let (Some(scaled), false) = (&scaled, kind.is_some_and(|(_, kind)| kind.metric.is_none())) {
                of_metric.entry(line.name).or_default().add(&line, scaled);
            }
            if let Some((set, kind)) = kind {
                if let (None, Some([count])) = (kind.metric, scaled.as_deref()) {
                    *of_event.entry(line.name).or_insert(0.0) += count;
                }
                rows.put(profile, Interval { from, to, cpu: line.cpu, set, counts: &counts });
            }
        }
        rows.end_interval(profile, to);
        for (name, sums) in &of_metric {
            let defined = self.defined.metrics.iter().find(|metric| metric.name == *name);
            metric(profile, to, "aperf", name, sums.value(defined));
        }
        if !of_event.is_empty() {
            for defined in &self.defined.metrics {
                let counts: Option<Vec<f64>> =
                    defined.events.iter().map(|(name, _)| of_event.get(name.as_str()).copied()).collect();
                metric(profile, to, "aperf", &defined.name, counts.and_then(|counts| defined.value(&counts)));
            }
        }
    }
}

/// Sums over CPUs.
#[derive(Default)]
struct Sums {
    counts: Vec<f64>,
    /// Numerators, denominators, and the scale, as lines of the older form have them.
    ratio: Option<(f64, f64, f64)>,
}

impl Sums {
    fn add(&mut self, line: &Line<'_>, scaled: &[f64]) {
        if let Some(numerators) = line.numerators {
            let (above, below) = scaled.split_at(numerators.min(scaled.len()));
            let below: f64 = below.iter().sum();
            if below == 0.0 {
                return;
            }
            let sums = self.ratio.get_or_insert((0.0, 0.0, line.scale));
            sums.0 += above.iter().sum::<f64>();
            sums.1 += below;
        }
        self.counts.resize(self.counts.len().max(scaled.len()), 0.0);
        self.counts.iter_mut().zip(scaled).for_each(|(sum, count)| *sum += count);
    }

    fn value(&self, defined: Option<&definitions::Metric>) -> Option<f64> {
        match self.ratio {
            Some((above, below, scale)) => Some(above / below * scale),
            None => defined?.value(&self.counts),
        }
    }
}

/// The microarchitecture of an instance of EC2 with a CPU by AWS, by its family.
fn graviton(instance: &str) -> Option<&'static str> {
    let family = instance.split('.').next()?.trim_start_matches(|c: char| c.is_ascii_lowercase());
    let of = |generation: &str| family.starts_with(generation);
    [("4g", "neoverse-n1"), ("6g", "neoverse-n1"), ("7g", "neoverse-v1"), ("8g", "neoverse-v2"), ("9g", "neoverse-v3")]
        .into_iter()
        .find(|(generation, _)| of(generation))
        .map(|(_, cpu)| cpu)
}

/// The kernel, the machine and the host, of which the texts of a record tell.
fn system(bytes: Option<&[u8]>, profile: &mut Profile) {
    let Some(bytes) = bytes else { return };
    // Name of the system, kernel, version of the system, host.
    let mut records = Records::with(bytes, 4, false);
    if records.next().is_some()
        && let &[_, kernel, _, host] = records.last.as_slice()
    {
        profile.manifest.host = host.to_owned();
        profile.manifest.kernel = kernel.to_owned();
    }
    let mut texts: Vec<&str> = Vec::new();
    let mut rest = bytes;
    // Texts come after their length; between them are numbers.
    while let Some(first) = rest.get(..8).and_then(|word| word.try_into().ok()).map(u64::from_le_bytes) {
        let length = usize::try_from(first).unwrap_or(usize::MAX);
        let text = rest.get(8..).and_then(|after| after.get(..length)).and_then(|t| std::str::from_utf8(t).ok());
        let is_text = |text: &&str| text.len() > 1 && text.bytes().all(|b| (b' '..0x7f).contains(&b));
        match text.filter(is_text) {
            Some(text) => {
                texts.push(text);
                rest = rest.get(8 + length..).unwrap_or_default();
            }
            None => rest = rest.get(1..).unwrap_or_default(),
        }
    }
    let mut facts: Vec<Fact> = Vec::new();
    let mut fact = |category: &str, name: &str, value: &str| {
        facts.push(Fact { category: category.into(), name: name.into(), value: value.into() });
    };
    let is_kernel = |text: &&&str| {
        text.starts_with(|c: char| c.is_ascii_digit())
            && text.matches('.').count() > 2
            && text.contains('-')
            && !text.contains('T')
    };
    let kernel = texts.iter().find(is_kernel).copied();
    let sizes = ["large", "medium", "small", "micro", "nano", "metal"];
    let is_instance = |text: &&&str| {
        text.split_once('.').is_some_and(|(family, size)| {
            family.len() < 12
                && !size.contains('.')
                && sizes
                    .iter()
                    .any(|word| size.trim_start_matches(|c: char| c.is_ascii_digit() || c == 'x').starts_with(word))
        })
    };
    let instance = texts.iter().find(is_instance).copied();
    if let Some(kernel) = kernel {
        fact("kernel", "release", kernel);
    }
    if let Some(instance) = instance {
        fact("machine", "instance", instance);
        if profile.options.cpu.is_none() {
            profile.options.cpu = graviton(instance).map(str::to_owned);
        }
    }
    profile.facts.append(&mut facts);
    if let Some(kernel) = kernel {
        profile.manifest.kernel = kernel.to_owned();
        profile.manifest.machine = kernel.rsplit('.').next().unwrap_or_default().to_owned();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_both_forms() {
        let old = line("3 l3-mpki; 1 2; 500;1000").unwrap();
        assert_eq!(
            (old.cpu, old.name, old.counts, old.numerators, old.scale),
            (3, "l3-mpki", vec![1.0, 2.0, 500.0], Some(2), 1000.0)
        );
        let new = line("0;ipc;100;200;1.5;0.75").unwrap();
        assert_eq!((new.cpu, new.name, new.counts, new.times), (0, "ipc", vec![100.0, 200.0], Some((1.5, 0.75))));
        for wrong in ["", "x", "0;ipc;1;2", "a;ipc;1;2;3", "0 ipc; x; 1;1", "0;ipc;1;nan;1"] {
            assert!(line(wrong).is_none(), "{wrong}");
        }
    }
}

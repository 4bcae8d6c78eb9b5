//! Counters in recordings of APerf (`aperf record`): the archive, its folder, or the file `perf_stat_TIME.bin`. Of what a recording holds beside them, the machine is read.
//!
//! A file is one record after another, as bincode writes them: which kind, the time as text, then lines of text, one a CPU and metric. Up to 1.2 a line is
//! `CPU METRIC; NUMERATORS; DENOMINATORS;SCALE`; from 1.3 on `CPU;NAME;COUNTS;…;ENABLED;RUNNING`, where the times, in seconds, grow from interval to interval.

use super::definitions::{self, Definitions};
use super::{Count, Counts, Interval, archive, metric};
use crate::profile::Profile;
use ::counters::Named;
use model::Fact;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Most bytes of a file of a folder.
const MOST: u64 = 1 << 30;

/// What is read of a recording.
#[derive(Debug, Default)]
struct Files<'a> {
    counts: Option<&'a [u8]>,
    definitions: Option<&'a [u8]>,
    system: Option<&'a [u8]>,
}

/// Whether it is the file of counters.
pub(crate) fn looks_like(bytes: &[u8]) -> bool {
    let mut records = Records { rest: bytes };
    matches!(records.next(), Some((at, text)) if at > 0 && text.lines().next().is_some_and(|line| line.contains(';')))
}

/// Reads an archive.
pub(crate) fn read_archive(bytes: &[u8], profile: &mut Profile) -> Result<(), String> {
    let files = archive::files(bytes);
    let named = |is: &dyn Fn(&str) -> bool| {
        files.iter().find(|(name, _)| is(name.rsplit('/').next().unwrap_or(name))).map(|(_, content)| *content)
    };
    let of = Files {
        counts: named(&is_counts),
        definitions: named(&|name| name == "pmu_config.json"),
        system: named(&is_system),
    };
    read(&of, profile)
}

/// Reads a folder.
pub(crate) fn read_folder(folder: &Path, profile: &mut Profile) -> Result<(), String> {
    let names = std::fs::read_dir(folder).map_err(|why| why.to_string())?;
    let mut names: Vec<String> = names.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort();
    let content = |is: &dyn Fn(&str) -> bool| {
        let path = folder.join(names.iter().find(|name| is(name))?);
        std::fs::metadata(&path).ok().filter(|file| file.is_file() && file.len() <= MOST)?;
        std::fs::read(path).ok()
    };
    let (counts, definitions, system) =
        (content(&is_counts), content(&|name| name == "pmu_config.json"), content(&is_system));
    let of = Files { counts: counts.as_deref(), definitions: definitions.as_deref(), system: system.as_deref() };
    read(&of, profile)
}

/// Reads the file of counters, and what lies beside it.
pub(crate) fn read_beside(path: &Path, profile: &mut Profile) -> Result<(), String> {
    read_folder(path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")), profile)
}

fn is_counts(name: &str) -> bool {
    name.starts_with("perf_stat_") && name.ends_with(".bin")
}

fn is_system(name: &str) -> bool {
    (name.starts_with("systeminfo_") || name.starts_with("system_info_")) && name.ends_with(".bin")
}

/// Records of a file: when, as Unix nanoseconds, and the text.
struct Records<'a> {
    rest: &'a [u8],
}

impl<'a> Records<'a> {
    fn number(&mut self, bytes: usize) -> Option<u64> {
        let (number, rest) = self.rest.split_at_checked(bytes)?;
        self.rest = rest;
        let mut word = [0; 8];
        word.get_mut(..bytes)?.copy_from_slice(number);
        Some(u64::from_le_bytes(word))
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = usize::try_from(self.number(8)?).ok()?;
        let (text, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        std::str::from_utf8(text).ok()
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = (i64, &'a str);

    fn next(&mut self) -> Option<(i64, &'a str)> {
        // Which kind of record, then which kind of time: 0 is a date.
        self.number(4)?;
        if self.number(4)? != 0 {
            return None;
        }
        let at = date(self.text()?)?;
        Some((at, self.text()?))
    }
}

/// `2026-01-30T08:25:46.932213464Z` as Unix nanoseconds.
fn date(text: &str) -> Option<i64> {
    let (day, time) = text.strip_suffix('Z')?.split_once('T')?;
    let part = |text: Option<&str>| text?.parse::<i64>().ok();
    let mut parts = day.split('-');
    let (year, month, day) = (part(parts.next())?, part(parts.next())?, part(parts.next())?);
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let mut parts = time.split(':');
    let (hour, minute, second) = (part(parts.next())?, part(parts.next())?, part(parts.next())?);
    if !(0..24).contains(&hour) || !(0..60).contains(&minute) || !(0..=60).contains(&second) || fraction.len() > 9 {
        return None;
    }
    let nanos = fraction.parse::<i64>().ok()?.checked_mul(10i64.checked_pow(9 - fraction.len() as u32)?)?;
    let days = crate::civil::days(year, month, day)?;
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
    seconds.checked_mul(1_000_000_000)?.checked_add(nanos)
}

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

fn read(files: &Files<'_>, profile: &mut Profile) -> Result<(), String> {
    let counts = files.counts.ok_or("no counters (perf_stat_TIME.bin) in this recording of APerf")?;
    let defined = match files.definitions.map(definitions::read) {
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
    system(files.system, profile);
    let records: Vec<(i64, &str)> = Records { rest: counts }.collect();
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
    Ok(())
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
    fn dates() {
        assert_eq!(date("1970-01-01T00:00:01.5Z"), Some(1_500_000_000));
        assert_eq!(date("2026-01-30T08:25:46.932213464Z"), Some(1_769_761_546_932_213_464));
        assert_eq!(date("2024-02-29T00:00:00Z"), Some(1_709_164_800_000_000_000));
        for wrong in [
            "",
            "2026-13-30T08:25:46Z",
            "2026-01-30 08:25:46",
            "9999-01-01T00:00:00Z",
            "2026-01-01T00:00:00.1234567890Z",
        ] {
            assert_eq!(date(wrong), None, "{wrong}");
        }
    }

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

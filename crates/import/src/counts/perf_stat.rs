//! What `perf stat` printed: lines of JSON (`-j`), or fields between separators (`-x,`), with `-I` one for each event, interval and CPU, socket or core.
//!
//! Which events were a group is not said. Events that ran all the time are taken as counted together, and so are neighbours that ran for the same time.

use super::{Count, Counts, Interval, known, metric};
use crate::profile::Profile;
use ::counters::Named;
use ::counters::tables::PACKAGE;
use model::NULL;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};

/// A line.
#[derive(Clone, Debug, Default, PartialEq)]
struct Line {
    /// End of the interval, nanoseconds since perf began; none where only the whole was counted.
    at: Option<i64>,
    /// The CPU, where CPUs are told apart.
    cpu: Option<i64>,
    /// Sockets, cores, nodes, threads or control groups, where these are.
    unit: String,
    event: String,
    /// Scaled up by perf; none where the event was not counted.
    value: Option<f64>,
    supported: bool,
    value_unit: String,
    /// Nanoseconds in which it had a counter, and per cent of the time wanted.
    running: f64,
    percent: f64,
    /// How many CPUs were added up.
    cpus: f64,
    metric: Option<(String, f64)>,
}

/// Most lines.
const MOST: usize = 20_000_000;

pub(crate) fn looks_like(bytes: &[u8]) -> bool {
    let start = bytes.get(..bytes.len().min(64 << 10)).unwrap_or(bytes);
    let mut lines = start.split(|b| *b == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
    let first = lines.find(|line| !line.trim().is_empty() && !line.starts_with('#'));
    first.is_some_and(|line| json(line).is_some() || separated(line).is_some())
}

/// Reads it.
///
/// # Errors
/// Nothing in it was counted.
pub(crate) fn read(bytes: &[u8], profile: &mut Profile) -> Result<(), String> {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = Vec::new();
    for row in text.lines().filter(|row| !row.trim().is_empty() && !row.starts_with('#')).take(MOST) {
        match json(row).or_else(|| separated(row)) {
            Some(line) => lines.push(line),
            None => profile.count("lines that are none of perf stat's", 1),
        }
    }
    if lines.iter().all(|line| line.value.is_none() && line.metric.is_none()) {
        let names: Vec<&str> = distinct(lines.iter().map(|line| line.event.as_str()));
        return Err(format!("perf stat counted nothing: {} not supported or not counted", names.join(", ")));
    }
    let units = distinct(lines.iter().map(|line| line.unit.as_str()).filter(|unit| !unit.is_empty())).len();
    if units > 1 {
        profile.note(format!("counts of {units} sockets, cores, nodes, threads or control groups are added up"));
    }
    Intervals::new(profile, &lines).write(profile, &lines);
    Ok(())
}

fn distinct<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    texts.for_each(|text| {
        if found.len() < 100 && !found.contains(&text) {
            found.push(text);
        }
    });
    found
}

fn json(row: &str) -> Option<Line> {
    let row = row.trim();
    if !row.starts_with('{') {
        return None;
    }
    let Ok(Value::Object(fields)) = serde_json::from_str(row) else { return None };
    if !fields.contains_key("event") && !fields.contains_key("metric-value") {
        return None;
    }
    let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
    let number = |name: &str| number(&fields, name);
    let cpu = fields.get("cpu").and_then(|cpu| cpu.as_i64().or_else(|| cpu.as_str()?.parse().ok()));
    let parts = ["socket", "die", "cluster", "cache", "core", "node", "thread", "cgroup"];
    let unit: Vec<&str> = parts.iter().map(|name| text(name)).filter(|text| !text.is_empty()).collect();
    let unit_of_metric = text("metric-unit");
    let value = text("counter-value");
    Some(Line {
        at: number("interval").and_then(seconds),
        cpu: cpu.filter(|cpu| (0..1 << 20).contains(cpu)),
        unit: unit.join(" "),
        event: text("event").to_owned(),
        value: number("counter-value").filter(|value| *value >= 0.0),
        supported: !value.starts_with("<not supp"),
        value_unit: text("unit").to_owned(),
        running: number("event-runtime").unwrap_or(0.0).max(0.0),
        percent: number("pcnt-running").unwrap_or(100.0),
        cpus: number("aggregate-number").or(number("counters")).unwrap_or(1.0).max(1.0),
        metric: number("metric-value").and_then(|value| named_metric(unit_of_metric, value)),
    })
}

fn number(fields: &Map<String, Value>, name: &str) -> Option<f64> {
    let field = fields.get(name)?;
    field.as_f64().or_else(|| field.as_str()?.trim().parse().ok()).filter(|value: &f64| value.is_finite())
}

fn seconds(seconds: f64) -> Option<i64> {
    (0.0..1e9).contains(&seconds).then(|| (1e9 * seconds).round() as i64)
}

/// A metric of a metric group (`-M`) has its name for a unit, after what it is counted in; what perf computes by itself has a text of several words.
fn named_metric(unit: &str, value: f64) -> Option<(String, f64)> {
    let (counted_in, name) = unit.trim().rsplit_once([' ', '\t']).unwrap_or(("", unit.trim()));
    let counted_in = counted_in.trim();
    if !counted_in.is_empty() && !["%", "per", "MPKI"].iter().any(|word| counted_in.starts_with(word)) {
        return None;
    }
    let is_name = name.len() > 2
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'))
        && !name.eq_ignore_ascii_case("GHz");
    if !is_name {
        return None;
    }
    let (known, factor) = known::named(name);
    let is_percent = counted_in.starts_with('%') || counted_in.starts_with("percent");
    Some((known, value * if is_percent { 0.01 } else { factor }))
}

/// `TIME,CPU0,VALUE,UNIT,EVENT,RUNTIME,PERCENT,METRIC,UNIT`: time, and what counts are of, are there or not.
fn separated(row: &str) -> Option<Line> {
    let mark = [',', ';', '|', '\t'].into_iter().find(|mark| row.matches(*mark).count() >= 4)?;
    let mut fields: Vec<&str> = row.split(mark).map(str::trim).collect();
    let mut line = Line { cpus: 1.0, ..Line::default() };
    let is_value = |text: &str| text.starts_with("<not ") || text.parse::<f64>().is_ok();
    // With two numbers at the start, or a number and what is counted, the first is the time.
    let is_part = |text: &str| {
        let digits = text.trim_start_matches(|c: char| c.is_ascii_uppercase());
        digits.len() < text.len() && digits.starts_with(|c: char| c.is_ascii_digit())
    };
    let [first, second, ..] = fields[..] else { return None };
    if first.parse::<f64>().is_ok() && (is_value(second) || is_part(second)) {
        line.at = first.parse().ok().and_then(seconds);
        fields.remove(0);
    }
    if let Some(part) = fields.first().copied().filter(|part| is_part(part)) {
        fields.remove(0);
        match part.strip_prefix("CPU").and_then(|cpu| cpu.parse().ok()) {
            Some(cpu) => line.cpu = Some(cpu),
            None => {
                line.unit = part.to_owned();
                line.cpus = fields.remove(0).parse().ok().filter(|cpus: &f64| *cpus >= 1.0)?;
            }
        }
    }
    // The fields of an event may hold the separator.
    let mut event = fields.get(2).copied()?.to_owned();
    let mut after = 3;
    while event.matches('/').count() == 1 && after < fields.len() {
        event.push(mark);
        event.push_str(fields.get(after)?);
        after += 1;
    }
    let value = fields.first().copied().filter(|value| is_value(value))?;
    line.supported = !value.starts_with("<not supp");
    line.value = value.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0);
    line.value_unit = fields.get(1).copied()?.to_owned();
    line.running = fields.get(after)?.parse().ok()?;
    line.percent = fields.get(after + 1)?.parse().ok()?;
    if let (Some(value), Some(unit)) = (fields.get(after + 2), fields.get(after + 3)) {
        line.metric = value.parse().ok().and_then(|value| named_metric(unit, value));
    }
    line.event = event;
    (!line.event.is_empty() && line.event.is_ascii()).then_some(line)
}

/// An event is told by its name, and by how many of that name came before it.
type Key<'a> = (&'a str, usize);

/// The lines in their order, by interval and CPU.
struct Intervals<'a> {
    /// By end of the interval and CPU: the events, with the counts of all sockets or cores added up.
    by: BTreeMap<(i64, i64), HashMap<usize, Count>>,
    sets: Vec<Vec<usize>>,
    events: Vec<Key<'a>>,
    rows: Counts,
}

impl<'a> Intervals<'a> {
    fn new(profile: &mut Profile, lines: &'a [Line]) -> Intervals<'a> {
        let whole = whole(lines);
        let mut events: Vec<Key<'a>> = Vec::new();
        let mut places: HashMap<Key<'a>, usize> = HashMap::new();
        let mut seen: HashMap<(i64, i64, &str, &str), usize> = HashMap::new();
        let mut by: BTreeMap<(i64, i64), HashMap<usize, Count>> = BTreeMap::new();
        let ends = ends(lines);
        let mut longest: HashMap<(i64, i64, &str), f64> = HashMap::new();
        for line in lines.iter().filter(|line| line.percent > 99.5) {
            let most =
                longest.entry((line.at.unwrap_or(whole), line.cpu.unwrap_or(NULL), line.unit.as_str())).or_insert(0.0);
            *most = most.max(line.running);
        }
        for line in lines.iter().filter(|line| !line.event.is_empty() && !is_of_package(line)) {
            let (at, cpu) = (line.at.unwrap_or(whole), line.cpu.unwrap_or(NULL));
            let times = seen.entry((at, cpu, line.unit.as_str(), line.event.as_str())).or_insert(0);
            let key = (line.event.as_str(), *times);
            *times += 1;
            let next = events.len();
            let place = *places.entry(key).or_insert(next);
            if place == next {
                events.push(key);
            }
            let begin = ends.iter().rev().find(|end| **end < at).copied().unwrap_or(0);
            let likely = [longest.get(&(at, cpu, line.unit.as_str())).copied(), Some(line.cpus * (at - begin) as f64)];
            let Some(count) = count(line, &likely) else { continue };
            let sum = by.entry((at, cpu)).or_default().entry(place).or_insert(Count {
                raw: 0.0,
                enabled: Some(0.0),
                running: Some(0.0),
            });
            sum.raw += count.raw;
            sum.enabled = Some(sum.enabled.unwrap_or(0.0) + count.enabled.unwrap_or(0.0));
            sum.running = Some(sum.running.unwrap_or(0.0) + count.running.unwrap_or(0.0));
        }
        let sets = sets(&events, &by);
        let named = sets.iter().map(|set| {
            let name = |at: &usize| events.get(*at).map_or("", |(name, _)| name);
            set.iter().map(|at| (name(at).to_owned(), Named::parse(name(at)))).collect()
        });
        let mut rows = Counts::new(profile, named.collect());
        let counted = |at: usize| by.values().any(|counts| counts.contains_key(&at));
        let never: Vec<&str> =
            (0..events.len()).filter(|at| !counted(*at)).filter_map(|at| Some(events.get(at)?.0)).collect();
        if !never.is_empty() {
            let why = |name: &str| {
                let refused = lines.iter().any(|line| line.event == name && !line.supported);
                format!("{name}: {}", if refused { "not supported" } else { "not counted" })
            };
            rows.absent = never.iter().map(|name| why(name)).collect::<Vec<_>>().join("; ");
            profile.note(rows.absent.clone());
        }
        Intervals { by, sets, events, rows }
    }

    fn write(mut self, profile: &mut Profile, lines: &[Line]) {
        let ends = ends(lines);
        let from_of = |at: i64| ends.iter().rev().find(|end| **end < at).copied().unwrap_or(0);
        let mut last = None;
        for (&(at, cpu), counts) in &self.by {
            if let Some(before) = last.replace(at).filter(|before| *before != at) {
                self.rows.end_interval(profile, before);
            }
            for (set, events) in self.sets.iter().enumerate() {
                let counts: Vec<Option<Count>> = events.iter().map(|at| counts.get(at).copied()).collect();
                self.rows.put(profile, Interval { from: from_of(at), to: at, cpu, set, counts: &counts });
            }
        }
        if let Some(at) = last {
            self.rows.end_interval(profile, at);
        }
        metrics(profile, lines);
        packages(profile, lines);
        debug_assert!(self.sets.iter().flatten().all(|at| *at < self.events.len()));
        profile.start = Some(0);
        let end = ends.last().copied().unwrap_or(0);
        profile.manifest.duration = Some(end.max(whole(lines)));
        if let [first, second, ..] = ends[..] {
            profile.manifest.interval = second - first;
        }
    }
}

/// How long the whole took, where only that was counted: as long as the event that was counted for longest, unless perf says for how long.
fn whole(lines: &[Line]) -> i64 {
    let said = lines.iter().find(|line| line.event == "duration_time").and_then(|line| line.value);
    let longest = lines.iter().map(|line| line.running).fold(0.0, f64::max);
    (said.unwrap_or(longest).clamp(1.0, 9e18)) as i64
}

/// The ends of all intervals.
fn ends(lines: &[Line]) -> Vec<i64> {
    let mut ends: Vec<i64> = lines.iter().filter_map(|line| line.at).collect();
    ends.sort_unstable();
    ends.dedup();
    ends
}

/// What an event counted. For how long it was wanted is in the percentage, which perf cuts off; `likely` are times that it may be exactly.
fn count(line: &Line, likely: &[Option<f64>]) -> Option<Count> {
    let value = line.value?;
    if line.running <= 0.0 || line.percent <= 0.0 {
        return None;
    }
    // Clocks come in milliseconds.
    let factor = if line.value_unit == "msec" { 1e6 } else { 1.0 };
    let rough = line.running / (line.percent / 100.0).min(1.0);
    let fits = |time: &f64| line.percent < 99.5 && (time / rough - 1.0).abs() < 0.035 && *time >= line.running;
    let enabled = likely.iter().flatten().copied().find(fits).unwrap_or(rough);
    Some(Count { raw: factor * value * line.running / enabled, enabled: Some(enabled), running: Some(line.running) })
}

/// Which events were counted together.
fn sets(events: &[Key<'_>], by: &BTreeMap<(i64, i64), HashMap<usize, Count>>) -> Vec<Vec<usize>> {
    let share = |count: &Count| count.running.unwrap_or(0.0) / count.enabled.unwrap_or(1.0).max(1.0);
    let all_on = |at: usize| by.values().filter_map(|counts| counts.get(&at)).all(|count| share(count) > 0.999);
    let alike = |a: usize, b: usize| {
        by.values().all(|counts| match (counts.get(&a), counts.get(&b)) {
            (Some(a), Some(b)) => {
                let (a, b) = (a.running.unwrap_or(0.0), b.running.unwrap_or(0.0));
                (a - b).abs() <= 1e-3 * a.max(b)
            }
            (a, b) => a.is_none() && b.is_none(),
        })
    };
    let name = |at: usize| events.get(at).map(|(name, _)| *name);
    let mut sets: Vec<Vec<usize>> = Vec::new();
    // Which of them has what was on all the time.
    let mut always: Option<usize> = None;
    let mut last: Option<usize> = None;
    for at in 0..events.len() {
        let has = |set: &Vec<usize>| set.iter().any(|other| name(*other) == name(at));
        let place = if all_on(at) {
            // What is counted twice all the time counts the same.
            let place = *always.get_or_insert(sets.len());
            if sets.get(place).is_some_and(has) {
                continue;
            }
            place
        } else {
            let before = last.filter(|place| {
                sets.get(*place).is_some_and(|set| {
                    set.last().is_some_and(|other| *other + 1 == at && alike(*other, at)) && !has(set)
                })
            });
            let place = before.unwrap_or(sets.len());
            last = Some(place);
            place
        };
        match sets.get_mut(place) {
            Some(set) => set.push(at),
            None => sets.push(vec![at]),
        }
    }
    sets
}

/// Metrics that perf computed (`-M`), where it did so for all CPUs together.
fn metrics(profile: &mut Profile, lines: &[Line]) {
    let of: Vec<&Line> = lines.iter().filter(|line| line.metric.is_some()).collect();
    if of.iter().any(|line| line.cpu.is_some() || !line.unit.is_empty()) {
        profile.note("perf's own metrics are of single CPUs, sockets or cores, and are not taken: their mean is not that of the machine");
        return;
    }
    for line in of {
        if let Some((name, value)) = &line.metric {
            metric(profile, line.at.unwrap_or(whole(lines)), "perf", name, Some(*value));
        }
    }
}

fn is_of_package(line: &Line) -> bool {
    matches!(line.value_unit.as_str(), "MiB" | "Joules")
}

/// Bytes of memory controllers, and energy.
fn packages(profile: &mut Profile, lines: &[Line]) {
    let mut sums: HashMap<(i64, &str), f64> = HashMap::new();
    let mut before = 0;
    let mut now = 0;
    for line in lines.iter().filter(|line| is_of_package(line)) {
        let at = line.at.unwrap_or(whole(lines));
        if at != now {
            (before, now) = (now, at);
        }
        let Some(value) = line.value else { continue };
        let (pmu, event) = line.event.trim_end_matches('/').split_once('/').unwrap_or(("", &line.event));
        let (pmu, event, cpu) = (profile.text(pmu), profile.text(event), line.cpu.unwrap_or(NULL));
        let put = |profile: &mut Profile, at: i64, sum: f64| {
            let cell = |is: bool, factor: f64| if is { (factor * sum).round() as i64 } else { NULL };
            let (bytes, energy) = (cell(line.value_unit == "MiB", 1_048_576.0), cell(line.value_unit == "Joules", 1e6));
            profile.row(&PACKAGE, at, vec![pmu, cpu, event, NULL, bytes, energy]);
        };
        if !sums.contains_key(&(cpu, line.event.as_str())) {
            put(profile, before, 0.0);
        }
        let sum = sums.entry((cpu, line.event.as_str())).or_insert(0.0);
        *sum += value;
        put(profile, at, *sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_both_forms_say_the_same() {
        let json = json(r#"{"interval" : 1.002045534, "cpu" : "1", "counter-value" : "2337.000000", "unit" : "", "event" : "cycles:u", "event-runtime" : 501439978, "pcnt-running" : 50.25, "metric-value" : 4.66, "metric-unit" : "GHz"}"#).unwrap();
        let csv = separated("     1.002045534,CPU1,2337,,cycles:u,501439978,50.25,4.660,GHz").unwrap();
        assert_eq!(json, csv);
        assert_eq!((csv.at, csv.cpu, csv.value, csv.percent), (Some(1_002_045_534), Some(1), Some(2337.0), 50.25));
        let socket = separated("1.0;S0-D0-C1;1;<not counted>;;cpu/event=0x1,umask=0x2/;0;100.00;;").unwrap();
        assert_eq!((socket.unit.as_str(), socket.value, socket.supported), ("S0-D0-C1", None, true));
        let event = separated("5,,cpu/event=0x1,umask=0x2/,100,100.00,,").unwrap();
        assert_eq!((event.at, event.event.as_str(), event.value), (None, "cpu/event=0x1,umask=0x2/", Some(5.0)));
        assert!(!separated("<not supported>,,cycles,0,100.00,,").unwrap().supported);
    }

    #[test]
    fn what_is_no_line_of_perf_stat() {
        for text in ["", "a;b;c 5", "{}", "{\"a\": 1}", "main;f;g;h;i 12", "1,2,3", "a,b,c,d,e,f", "1.5,x,y,z,w,v"] {
            assert!(json(text).is_none() && separated(text).is_none(), "{text}");
        }
    }

    #[test]
    fn metrics_have_their_name_for_a_unit() {
        assert_eq!(named_metric("%  tma_frontend_bound", 25.0), Some(("frontend_bound".into(), 0.25)));
        assert_eq!(named_metric("branch_misprediction_ratio", 0.5), Some(("branch_miss_ratio".into(), 0.5)));
        assert_eq!(
            named_metric("percent of cycles  backend_stalled_cycles", 40.0),
            Some(("backend_stalls".into(), 0.4))
        );
        assert_eq!(named_metric("MPKI  itlb_mpki", 0.5), Some(("itlb_walks_pki".into(), 0.5)));
        assert_eq!(named_metric("some_ratio", 0.5), Some(("some_ratio".into(), 0.5)));
        for unit in ["", "GHz", "Ghz", "(null)", "K/sec", "/sec", "CPUs utilized", "insn per cycle", "of all branches"]
        {
            assert_eq!(named_metric(unit, 1.0), None, "{unit}");
        }
    }
}

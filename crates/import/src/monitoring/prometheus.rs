//! Answers of Prometheus' HTTP API to `query_range` (prometheus.io/docs/prometheus/latest/querying/api), one or many, also of what speaks the same: Thanos, Mimir,
//! VictoriaMetrics and its lines of `/api/v1/export`. An answer of `/api/v1/metadata` beside them tells types and units.

use super::fleet::Fleet;
use super::json::{Json, Next, Wrong};
use super::series::{self, Metric, Series};
use super::{Asked, units};
use model::Kind;
use std::collections::{BTreeSet, HashMap};

pub(crate) fn looks_like(bytes: &[u8]) -> bool {
    let start = bytes.get(..bytes.len().min(4096)).unwrap_or(bytes).trim_ascii_start();
    let start = String::from_utf8_lossy(start).replace([' ', '\n', '\t', '\r'], "");
    (start.starts_with('{') && start.contains("\"status\":\"") && start.contains("\"data\":"))
        || (start.starts_with('{') && start.contains("\"status\":\"error\""))
        || start.starts_with("{\"resultType\":")
        || start.starts_with("[{\"metric\":{")
        || start.starts_with("{\"metric\":{")
}

/// The label that Prometheus gives to whatever it asks.
const HOST: &str = "instance";

/// Most values of all files together.
const MOST: usize = 400_000_000;

/// What a file of types says of a metric.
#[derive(Clone, Debug, Default)]
struct Told {
    kind: String,
    help: String,
    unit: String,
}

/// Reads files one after another.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    asked: &'a Asked,
    fleet: Fleet,
    /// By name, and by series: where they are.
    metrics: HashMap<String, usize>,
    series: HashMap<series::Key, usize>,
    types: HashMap<String, Told>,
    /// Labels that series have which lack that of the host.
    others: BTreeSet<String>,
    without_host: usize,
    values: usize,
}

/// One member of `result`, as far as it was read.
#[derive(Debug, Default)]
struct Item {
    labels: Vec<(String, String)>,
    values: Vec<(i64, f64)>,
    /// Counts and sums of native histograms.
    histograms: Vec<(i64, f64, f64)>,
    /// Values and times apart, as VictoriaMetrics exports them.
    apart: Vec<f64>,
    times: Vec<f64>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(asked: &'a Asked) -> Self {
        Reader {
            asked,
            fleet: Fleet::new("prometheus"),
            metrics: HashMap::new(),
            series: HashMap::new(),
            types: HashMap::new(),
            others: BTreeSet::new(),
            without_host: 0,
            values: 0,
        }
    }

    /// Reads a file; `name` is what it is called in messages, `stem` the name of metrics without one.
    pub(crate) fn file(&mut self, bytes: &[u8], name: &str, stem: &str) {
        let mut json = Json::new(bytes);
        let mut number = 0;
        while json.peek() != Next::End {
            number += 1;
            let stem = if number == 1 { stem.to_owned() } else { format!("{stem}_{number}") };
            let before = self.values;
            if let Err(wrong) = self.answer(&mut json, name, &stem) {
                let kept = self.values - before;
                self.fleet.note(format!("{name}: {}; the {kept} values before it are kept", json.said(&wrong)));
                return;
            }
        }
    }

    fn answer(&mut self, json: &mut Json<'_>, name: &str, stem: &str) -> Result<(), Wrong> {
        if json.peek() == Next::Array {
            return json.array(&mut |json| self.item(json, name, stem));
        }
        let mut export = Item::default();
        let (mut failed, mut why) = (false, String::new());
        json.object(&mut |json, key| match key {
            "data" if json.peek() == Next::Object => self.data(json, name, stem),
            "data" if json.peek() == Next::Array => json.array(&mut |json| self.item(json, name, stem)),
            "resultType" | "result" => self.data_member(json, key, name, stem),
            "status" => {
                failed = json.word()?.is_some_and(|status| status == "error");
                Ok(())
            }
            "error" | "errorType" => {
                let text = json.word()?.unwrap_or_default();
                why = if why.is_empty() { text.into_owned() } else { format!("{why}: {text}") };
                Ok(())
            }
            "warnings" if json.peek() == Next::Array => json.array(&mut |json| {
                let said = json.word()?.unwrap_or_default();
                self.fleet.note(format!("{name}: Prometheus warns: {said}"));
                Ok(())
            }),
            "metric" | "values" | "timestamps" | "histograms" => member(json, key, &mut export, &mut self.fleet),
            _ => json.skip(),
        })?;
        if failed {
            self.fleet.note(format!("{name}: the query failed: {why}"));
        }
        self.take(export, stem);
        Ok(())
    }

    fn data(&mut self, json: &mut Json<'_>, name: &str, stem: &str) -> Result<(), Wrong> {
        json.object(&mut |json, key| self.data_member(json, key, name, stem))
    }

    fn data_member(&mut self, json: &mut Json<'_>, key: &str, name: &str, stem: &str) -> Result<(), Wrong> {
        match key {
            "resultType" => {
                let kind = json.word()?.unwrap_or_default();
                if kind != "matrix" {
                    self.fleet.note(format!(
                        "{name}: the answer is a {kind}, of one moment: a recording needs a matrix (query_range)"
                    ));
                }
                Ok(())
            }
            "result" if json.peek() == Next::Array => json.array(&mut |json| match json.peek() {
                Next::Object => self.item(json, name, stem),
                _ => json.skip(),
            }),
            // An answer of /api/v1/metadata: metrics by name.
            _ if json.peek() == Next::Array => json.array(&mut |json| match json.peek() {
                Next::Object => self.told(json, key),
                _ => json.skip(),
            }),
            _ => json.skip(),
        }
    }

    fn told(&mut self, json: &mut Json<'_>, metric: &str) -> Result<(), Wrong> {
        let mut told = Told::default();
        json.object(&mut |json, key| {
            let text = json.word()?.unwrap_or_default().into_owned();
            match key {
                "type" => told.kind = text,
                "help" => told.help = text,
                "unit" => told.unit = text,
                _ => {}
            }
            Ok(())
        })?;
        self.types.entry(metric.to_owned()).or_insert(told);
        Ok(())
    }

    fn item(&mut self, json: &mut Json<'_>, name: &str, stem: &str) -> Result<(), Wrong> {
        let mut item = Item::default();
        let done = json.object(&mut |json, key| member(json, key, &mut item, &mut self.fleet));
        if self.values > MOST {
            self.fleet.note(format!("{name}: more than {MOST} values; what comes later is left out"));
            return done;
        }
        // What came before damage counts.
        self.take(item, stem);
        done
    }

    /// Takes a series.
    fn take(&mut self, mut item: Item, stem: &str) {
        let times = item.times.iter().map(|at| moment(at / 1e3));
        let apart = times.zip(&item.apart).filter_map(|(at, value)| Some((at?, *value)));
        item.values.extend(apart.collect::<Vec<_>>());
        if item.values.is_empty() && item.histograms.is_empty() {
            return;
        }
        let (mut name, mut host, mut kind, mut unit) = (stem.to_owned(), None, String::new(), String::new());
        let mut labels = Vec::new();
        for (label, value) in item.labels {
            match label.as_str() {
                "__name__" => name = value,
                "__type__" => kind = value,
                "__unit__" => unit = value,
                _ if label == self.asked.host.as_deref().unwrap_or(HOST) => host = Some(value),
                _ => labels.push((self.fleet.texts.number(&label), self.fleet.texts.number(&value))),
            }
        }
        if host.is_none() {
            self.without_host += 1;
            self.others.extend(labels.iter().take(20).map(|(name, _)| self.fleet.texts.text(*name).to_owned()));
        }
        labels.sort_unstable();
        let host = host.unwrap_or_default();
        if !item.histograms.is_empty() {
            self.fleet.note("native histograms: of each its count and its sum are kept, not its buckets");
            for (end, part) in [("_count", 1), ("_sum", 2)] {
                let pick = |&(at, count, sum): &(i64, f64, f64)| (at, if part == 1 { count } else { sum });
                let values = item.histograms.iter().map(pick).collect();
                self.put(&format!("{name}{end}"), ("counter", ""), host.clone(), labels.clone(), values);
            }
        }
        if !item.values.is_empty() {
            self.put(&name, (&kind, &unit), host, labels, item.values);
        }
    }

    fn put(
        &mut self,
        name: &str,
        (kind, unit): (&str, &str),
        host: String,
        labels: Vec<(u32, u32)>,
        mut values: Vec<(i64, f64)>,
    ) {
        let next = self.fleet.metrics.len();
        let metric = *self.metrics.entry(name.to_owned()).or_insert(next);
        if metric == next {
            let mut metric = Metric::named(name);
            metric.kind = if series::asked(self.asked.counter.as_ref(), name) {
                Some(Kind::Counter)
            } else {
                units::kind_of_type(name, kind)
            };
            if !unit.is_empty() && metric.scale.unit == model::Unit::None && !name.ends_with("_count") {
                metric.scale = units::of_word(unit);
            }
            self.fleet.metrics.push(metric);
        }
        let unread = values.iter_mut().filter(|(_, value)| !value.is_finite());
        let unread = unread.map(|(_, value)| *value = f64::NAN).count();
        self.fleet.count("values that are no finite number (NaN, staleness, Inf), taken as not read", unread as u64);
        self.values += values.len();
        let next = self.fleet.series.len();
        let place = *self.series.entry((metric, host.clone(), labels.clone())).or_insert(next);
        if place == next {
            self.fleet.series.push(Series { metric, host, labels, values });
        } else if let Some(known) = self.fleet.series.get_mut(place) {
            // The same series of another time, from another file.
            known.values.extend(values);
            known.values.sort_by_key(|(at, _)| *at);
            let before = known.values.len();
            known.values.dedup_by_key(|(at, _)| *at);
            let twice = (before - known.values.len()) as u64;
            self.fleet.count("values that came twice", twice);
        }
    }

    /// All that was read; `alone` is the host of files that do not tell hosts apart.
    pub(crate) fn finish(mut self, alone: &str) -> Fleet {
        for (name, told) in &self.types {
            // Parts of a histogram have names of their own.
            for end in ["", "_total", "_bucket", "_sum", "_count"] {
                let own = format!("{name}{end}");
                let Some(metric) = self.metrics.get(&own).and_then(|at| self.fleet.metrics.get_mut(*at)) else {
                    continue;
                };
                metric.kind = metric.kind.or_else(|| units::kind_of_type(&own, &told.kind));
                if metric.help.is_empty() {
                    metric.help = told.help.chars().take(300).collect();
                }
                if !told.unit.is_empty()
                    && metric.scale.unit == model::Unit::None
                    && end != "_count"
                    && end != "_bucket"
                {
                    metric.scale = units::of_word(&told.unit);
                }
            }
        }
        let label = self.asked.host.as_deref().unwrap_or(HOST);
        let others: Vec<&str> = self.others.iter().map(String::as_str).take(12).collect();
        if self.without_host == 0 {
        } else if self.fleet.series.iter().all(|series| series.host.is_empty()) {
            let others = if others.is_empty() { "none".to_owned() } else { others.join(", ") };
            self.fleet.note(format!(
                "no series has the label {label}: all are taken as one host; --host-label names another (there are: {others})"
            ));
            self.fleet.series.iter_mut().for_each(|series| series.host = alone.to_owned());
        } else {
            self.fleet
                .note(format!("{} series without the label {label} are of no host, and left out", self.without_host));
            self.fleet.series.retain(|series| !series.host.is_empty());
        }
        self.fleet
    }
}

/// Seconds since 1970 as nanoseconds, to the millisecond.
fn moment(seconds: f64) -> Option<i64> {
    (seconds.abs() < 9e9).then(|| (seconds * 1e3).round() as i64 * 1_000_000)
}

/// A member of a series.
fn member(json: &mut Json<'_>, key: &str, item: &mut Item, fleet: &mut Fleet) -> Result<(), Wrong> {
    match key {
        "metric" if json.peek() == Next::Object => json.object(&mut |json, label| {
            let value = json.word()?.unwrap_or_default().into_owned();
            item.labels.push((label.to_owned(), value));
            Ok(())
        }),
        "values" | "timestamps" if json.peek() == Next::Array => json.array(&mut |json| match json.peek() {
            Next::Array => {
                let (at, value) = pair(json, &mut |json| {
                    if json.peek() == Next::Word { json.skip().map(|()| f64::NAN) } else { json.number() }
                })?;
                match (at.and_then(moment), value) {
                    (Some(at), Some(value)) => item.values.push((at, value)),
                    _ => fleet.count("values without a time", 1),
                }
                Ok(())
            }
            Next::Word => {
                item.apart.push(f64::NAN);
                json.skip()
            }
            _ => {
                let number = json.number()?;
                if key == "values" {
                    item.apart.push(number)
                } else {
                    item.times.push(number)
                }
                Ok(())
            }
        }),
        // One moment: it is kept, for several files may be of several moments.
        "value" if json.peek() == Next::Array => {
            let (at, value) = pair(json, &mut |json| json.number())?;
            item.values.extend(at.and_then(moment).zip(value));
            Ok(())
        }
        "histograms" if json.peek() == Next::Array => json.array(&mut |json| {
            let mut parts = (f64::NAN, f64::NAN);
            let (at, _) = pair(json, &mut |json| {
                json.object(&mut |json, key| {
                    match key {
                        "count" => parts.0 = json.number()?,
                        "sum" => parts.1 = json.number()?,
                        _ => json.skip()?,
                    }
                    Ok(())
                })?;
                Ok(0.0)
            })?;
            item.histograms.extend(at.and_then(moment).map(|at| (at, parts.0, parts.1)));
            Ok(())
        }),
        _ => json.skip(),
    }
}

/// A time, and what `second` reads.
fn pair(
    json: &mut Json<'_>,
    second: &mut dyn FnMut(&mut Json<'_>) -> Result<f64, Wrong>,
) -> Result<(Option<f64>, Option<f64>), Wrong> {
    let (mut at, mut value, mut place) = (None, None, 0);
    json.array(&mut |json| {
        place += 1;
        match place {
            1 => at = Some(json.number()?),
            2 => value = Some(second(json)?),
            _ => json.skip()?,
        }
        Ok(())
    })?;
    Ok((at, value))
}

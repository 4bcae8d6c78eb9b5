//! What a trial measures, and how it is taken: of the command itself, from what it wrote, or from the trial's recording.

mod limit;

pub use limit::Limit;

use crate::file::{DesignName, File, From, MeasureSpec};
use crate::{Better, Measure};
use formats::{self, Format};
use model::{Exit, Manifest, Window};
use query::sql::Value;
use regex_lite::{Regex, RegexBuilder};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Of what is read from a file, no more than this.
const MOST: u64 = 64 << 20;

/// A measure, looked up.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Its name, and which way is up.
    pub head: Measure,
    /// Its unit; empty for a bare number.
    pub unit: String,
    /// A condition for its median.
    pub limit: Option<Limit>,
    source: Source,
    /// Instead of the output.
    file: Option<String>,
}

#[derive(Clone, Debug)]
enum Source {
    Of(From),
    Regex(Regex),
    Json(String),
    Line(i64),
    Format(Format, String),
    /// Table and metric.
    Metric(String, String),
    Sql(String),
}

/// What a trial left.
#[derive(Debug)]
pub struct Remains<'a> {
    /// Its recording.
    pub recording: &'a Path,
    /// What that says of itself.
    pub manifest: &'a Manifest,
    /// The file with its standard output.
    pub output: &'a Path,
    /// Where it ran: paths are relative to it.
    pub dir: &'a Path,
    /// Work before this does not count.
    pub warm_up: Duration,
    /// What its processes used, and those of the server.
    pub used: Used,
}

/// What the processes of a trial used, as far as that can be told.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Used {
    /// The most memory of the command's at a time, bytes.
    pub memory: Option<f64>,
    /// Seconds for which they stood still because the quota was used up.
    pub throttled: Option<f64>,
    /// CPU seconds of the server while it was asked.
    pub server_cpu: Option<f64>,
    /// The most memory that it had, bytes.
    pub server_rss: Option<f64>,
    /// As [`Used::throttled`], of the server.
    pub server_throttled: Option<f64>,
}

/// What a file must have for this measure, where it has not.
fn lacks(from: From, file: &File) -> Option<&'static str> {
    let (there, needed) = match from {
        From::Work => {
            (file.workload.throughput.is_some(), "[workload] throughput = 'done (\\d+)', a regular expression")
        }
        From::Throttled => (file.workload.quota.is_some(), "[workload] quota = \"150%\""),
        From::ServerCpu | From::ServerRss => (file.server.is_some(), "a [server]"),
        From::ServerThrottled => (file.server.as_ref().is_some_and(|s| s.quota.is_some()), "[server] quota = \"150%\""),
        From::Wall | From::Cpu | From::Rss | From::Memory => (true, ""),
    };
    (!there).then_some(needed)
}

impl Measured {
    /// Those of a file. `Err` has the word that it is about, and what is wrong.
    pub(crate) fn all(file: &File) -> Result<Vec<Measured>, (String, String)> {
        let usual = |from| MeasureSpec { from: Some(from), ..MeasureSpec::default() };
        let told = |value: &str| {
            let (format, value) = (Some("load".into()), Some(value.to_owned()));
            MeasureSpec { format, value, ..MeasureSpec::default() }
        };
        // As fast as the server answers, the rate says how fast it is; at a rate that is asked for, the latency does.
        let closed = file.load.as_ref().map(|load| load.rate.to_string() == "max");
        let specs = match (file.measure.is_empty(), file.workload.throughput.is_some()) {
            (true, _) if closed == Some(true) => ["rate", "mean", "p99", "errors"].map(told).into(),
            (true, _) if closed == Some(false) => ["mean", "p99", "rate", "errors"].map(told).into(),
            (false, _) => file.measure.clone(),
            (_, true) => vec![usual(From::Work), usual(From::Cpu), usual(From::Rss)],
            (_, false) => vec![usual(From::Wall), usual(From::Cpu), usual(From::Rss)],
        };
        let mut specs = specs;
        if file.searches() && file.load.is_some() {
            specs.extend(beside_limits(&specs));
        }
        let mut all: Vec<Measured> = Vec::new();
        for (at, spec) in specs.iter().enumerate() {
            // Of a sweep nothing is called better, but the best point is marked.
            // So it is of a search, which judges rates.
            let none_is_judged = file.design == DesignName::Sweep || file.searches();
            let must_say = at == 0 && !none_is_judged || spec.limit.is_none();
            let made = Measured::of(spec, file, must_say)?;
            if all.iter().any(|other| other.head.name == made.head.name) {
                return Err((
                    made.head.name.clone(),
                    format!("two measures are called {}: give them names", made.head.name),
                ));
            }
            all.push(made);
        }
        Ok(all)
    }

    fn of(spec: &MeasureSpec, file: &File, must_say: bool) -> Result<Measured, (String, String)> {
        let about = |word: &str, what: String| (word.to_owned(), what);
        let mut given: Vec<(&str, Source, String, Option<Better>)> = Vec::new();
        if let Some(from) = spec.from {
            let (unit, better) = from.unit();
            let unit = match from {
                From::Work => format!("{}/s", file.workload.unit.as_deref().unwrap_or("operations")),
                _ => unit.to_owned(),
            };
            if let Some(lacks) = lacks(from, file) {
                return Err(about(from.name(), format!("from = {:?} needs {lacks}", from.name())));
            }
            given.push((from.name(), Source::Of(from), unit, Some(better)));
        }
        if let Some(text) = &spec.regex {
            let regex = lines(text).map_err(|e| about(text, format!("regex {text:?}: {e}")))?;
            if regex.captures_len() < 2 {
                return Err(about(
                    text,
                    format!("regex {text:?}: it has no group in parentheses, which is what is measured"),
                ));
            }
            given.push(("regex", Source::Regex(regex), String::new(), None));
        }
        if let Some(pointer) = &spec.json {
            if !pointer.is_empty() && !pointer.starts_with('/') {
                return Err(about(
                    pointer,
                    format!("json {pointer:?}: a pointer begins with /, such as /results/0/mean"),
                ));
            }
            given.push(("json", Source::Json(pointer.clone()), String::new(), None));
        }
        if let Some(line) = spec.line {
            if line == 0 {
                return Err(about("line", "line 0: lines count from 1, and from the end with −1".into()));
            }
            given.push(("line", Source::Line(line), String::new(), None));
        }
        if let Some(name) = &spec.format {
            let format = Format::parse(name).ok_or_else(|| {
                let meant = crate::file::nearest(name, &Format::NAMES);
                let meant = meant.map_or_else(
                    || format!("there are {}", Format::NAMES.join(", ")),
                    |m| format!("did you mean {m}?"),
                );
                about(name, format!("format {name:?} is not known; {meant}"))
            })?;
            let value = spec.value.clone().unwrap_or_else(|| "rate".into());
            let (unit, better) = match value.as_str() {
                "rate" => ("1/s", Better::More),
                "done" => ("", Better::More),
                "errors" | "error_share" => ("", Better::Less),
                _ => ("s", Better::Less),
            };
            given.push(("format", Source::Format(format, value), unit.into(), Some(better)));
        }
        if let Some(metric) = &spec.metric {
            let (table, name) = metric
                .split_once('.')
                .ok_or_else(|| about(metric, format!("metric {metric:?}: TABLE.NAME, such as cpu.busy")))?;
            given.push(("metric", Source::Metric(table.into(), name.into()), String::new(), None));
        }
        if let Some(sql) = &spec.sql {
            given.push(("sql", Source::Sql(sql.clone()), String::new(), None));
        }
        let [(kind, source, unit, better)] = <[_; 1]>::try_from(given).map_err(|given: Vec<_>| {
            let kinds = "from, regex, json, line, format, metric, sql";
            let word = spec.name.clone().unwrap_or_else(|| "[[measure]]".into());
            match given.len() {
                0 => about(&word, format!("a measure without a source: give one of {kinds}")),
                _ => about(&word, format!("a measure with several sources: give one of {kinds}")),
            }
        })?;
        if spec.value.is_some() && spec.format.is_none() {
            return Err(about("value", "value is for a measure with a format".into()));
        }
        let from_output = matches!(source, Source::Regex(_) | Source::Json(_) | Source::Line(_) | Source::Format(..));
        if spec.file.is_some() && !from_output {
            return Err(about("file", "file is for a measure that is read from an output".into()));
        }
        let name = spec.name.clone().unwrap_or_else(|| match &source {
            Source::Format(_, value) => value.clone(),
            Source::Metric(table, name) => format!("{table}.{name}"),
            _ => kind.to_owned(),
        });
        let better = spec.better.or(better);
        if better.is_none() && must_say {
            return Err(about(&name, format!("measure {name}: say better = \"more\" or better = \"less\"")));
        }
        let unit = spec.unit.clone().unwrap_or(unit);
        let limit = spec.limit.as_ref().map(|text| Limit::parse(text).map_err(|why| about(text, why))).transpose()?;
        let head = Measure { name, better: better.unwrap_or(Better::Less) };
        Ok(Measured { head, unit, limit, source, file: spec.file.clone() })
    }

    /// Whether it is the rate that a load generator says it reached.
    pub(crate) fn is_rate(&self) -> bool {
        matches!(&self.source, Source::Format(_, value) if value == "rate")
    }

    /// Where it comes from, where it is of the command or the server itself.
    pub(crate) fn of_processes(&self) -> Option<From> {
        match self.source {
            Source::Of(from) => Some(from),
            _ => None,
        }
    }

    /// The table of the recording that it is taken from, where it is.
    pub fn table(&self) -> Option<&str> {
        match &self.source {
            Source::Metric(table, _) => Some(table),
            _ => None,
        }
    }

    /// Whether it needs all that can be recorded, for nobody knows what a statement asks.
    pub fn needs_all(&self) -> bool {
        matches!(self.source, Source::Sql(_))
    }

    /// Takes it.
    ///
    /// # Errors
    /// What was looked for, and is not there.
    pub fn take(&self, of: &Remains) -> Result<f64, String> {
        let text = || {
            let path = self.file.as_ref().map_or_else(|| of.output.to_owned(), |file| of.dir.join(file));
            let shown = self.file.as_ref().map_or("the output".to_owned(), |_| path.display().to_string());
            read(&path).map_err(|e| format!("{shown}: {e}"))
        };
        let value = match &self.source {
            Source::Of(from) => of_command(*from, of)?,
            Source::Regex(regex) => {
                let text = text()?;
                let found = regex.captures_iter(&text).last().and_then(|c| Some(c.get(1)?.as_str().to_owned()));
                let found =
                    found.ok_or_else(|| format!("{}: nothing in it matches {:?}", self.head.name, regex.as_str()))?;
                number(&found).ok_or_else(|| format!("{}: {found:?} is no number", self.head.name))?
            }
            Source::Json(pointer) => {
                let text = text()?;
                let json = json(&text).ok_or_else(|| format!("{}: the output is no JSON", self.head.name))?;
                let found =
                    json.pointer(pointer).ok_or_else(|| format!("{}: the JSON has no {pointer}", self.head.name))?;
                let value = found.as_f64().or_else(|| found.as_str().and_then(number));
                value.ok_or_else(|| format!("{}: {pointer} is no number", self.head.name))?
            }
            Source::Line(line) => {
                let text = text()?;
                let lines: Vec<&str> = text.lines().collect();
                let at = if *line > 0 {
                    usize::try_from(*line - 1).ok()
                } else {
                    lines.len().checked_add_signed(*line as isize)
                };
                let found = at
                    .and_then(|at| lines.get(at))
                    .ok_or_else(|| format!("{}: the output has no line {line}", self.head.name))?;
                number(found).ok_or_else(|| format!("{}: line {line}, {found:?}, is no number", self.head.name))?
            }
            Source::Format(format, value) => {
                let numbers = formats::read(*format, &text()?)?;
                numbers
                    .value(value)
                    .ok_or_else(|| format!("{value} is not told there; there are {}", numbers.names().join(", ")))?
                    .0
            }
            Source::Metric(table, name) => metric(of.recording, table, name)?,
            Source::Sql(sql) => asked(of.recording, sql)?,
        };
        if value.is_finite() { Ok(value) } else { Err(format!("{}: it is {value}", self.head.name)) }
    }
}

/// What a search with the built-in client measures beside what the file names: the rate, and errors with a limit, for answers
/// that say 503 at once must not pass for fast ones.
fn beside_limits(specs: &[MeasureSpec]) -> Vec<MeasureSpec> {
    let told =
        |value: &str| specs.iter().find(|s| s.format.as_deref() == Some("load") && s.value.as_deref() == Some(value));
    let load =
        |value: &str| MeasureSpec { format: Some("load".into()), value: Some(value.into()), ..MeasureSpec::default() };
    let mut more = Vec::new();
    if told("rate").is_none() {
        more.push(load("rate"));
    }
    if !["errors", "error_share"].iter().any(|value| told(value).is_some_and(|s| s.limit.is_some())) {
        more.push(MeasureSpec { limit: Some(FEW_ERRORS.into()), ..load("error_share") });
    }
    more
}

/// The errors that a search lets pass where the file does not say.
const FEW_ERRORS: &str = "<= 0.1%";

/// What [`formats::read`] says begins with this where a load generator says that it measured itself.
pub(crate) const VOID: &str = "load: void:";

/// A regular expression whose `^` and `$` are the ends of lines, as those of grep.
pub(crate) fn lines(text: &str) -> Result<Regex, regex_lite::Error> {
    RegexBuilder::new(text).multi_line(true).build()
}

fn read(path: &Path) -> std::io::Result<String> {
    use std::io::Read;
    let mut bytes = Vec::new();
    files::foreign::open(path)?.take(MOST).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A number as programs print them: `1,234.5`, `12 ms` is none.
fn number(text: &str) -> Option<f64> {
    text.trim().replace([',', '_'], "").parse::<f64>().ok().filter(|n| n.is_finite())
}

/// The JSON of an output; where other lines stand before it, from the last line that begins one.
fn json(text: &str) -> Option<serde_json::Value> {
    let whole = serde_json::from_str(text).ok();
    whole.or_else(|| {
        let starts: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
        let begins = |at: &&usize| text[**at..].starts_with(['{', '[']);
        starts.iter().rev().filter(begins).take(1000).find_map(|at| {
            let mut stream = serde_json::Deserializer::from_str(&text[*at..]).into_iter();
            stream.next()?.ok()
        })
    })
}

fn of_command(from: From, of: &Remains) -> Result<f64, String> {
    let manifest = of.manifest;
    let usage = || manifest.usage.ok_or("what the command used is not known".to_owned());
    let told = |value: Option<f64>| value.ok_or_else(|| format!("{} is not told here", from.name()));
    let wall = || manifest.wall.map(|ns| ns as f64 / 1e9).ok_or("when the command ended is not known".to_owned());
    match from {
        From::Wall => wall(),
        From::Cpu => usage().map(|u| u.user + u.system),
        From::Rss => usage().map(|u| u.max_rss as f64),
        From::Work => rate(manifest, wall()?, of.warm_up.as_secs_f64()),
        From::Memory => told(of.used.memory),
        From::Throttled => told(of.used.throttled),
        From::ServerCpu => told(of.used.server_cpu),
        From::ServerRss => told(of.used.server_rss),
        From::ServerThrottled => told(of.used.server_throttled),
    }
}

/// Work per second after the warm-up.
fn rate(manifest: &Manifest, wall: f64, warm_up: f64) -> Result<f64, String> {
    let work = manifest
        .work
        .as_ref()
        .filter(|w| w.total > 0.0)
        .ok_or("no work was reported: nothing in the output matched throughput")?;
    // Times are those of the recording, and the command began a little after that.
    let began = manifest.command_start.unwrap_or(0) as f64 / 1e9;
    let reports: Vec<(f64, f64)> = work.progress.iter().map(|(t, total)| (t - began, *total)).collect();
    if warm_up <= 0.0 {
        // Who reports once, at the end, reports the work of the whole run.
        return Ok(work.total / wall);
    }
    let after: Vec<&(f64, f64)> = reports.iter().filter(|(t, _)| *t >= warm_up).collect();
    match (after.first(), after.last()) {
        (Some((from, before)), Some((to, total))) if to > from && total > before => Ok((total - before) / (to - from)),
        _ => Err(format!(
            "work was reported {} times after the warm-up of {warm_up} s: a rate needs a running total, reported again and again",
            after.len()
        )),
    }
}

fn open(recording: &Path) -> Result<Vec<query::Run>, String> {
    query::open(&[PathBuf::from(recording)]).map_err(|e| e.to_string())
}

fn metric(recording: &Path, table: &str, name: &str) -> Result<f64, String> {
    let runs = open(recording)?;
    let run = runs.first().ok_or("no recording")?;
    let to = run.recording.manifest().duration.unwrap_or(i64::MAX);
    let window = Window { from: 0, to, why: String::new() };
    let means = compare::means::means(run, table, name, &[], &window);
    means.first().map(|(_, mean)| *mean).ok_or_else(|| {
        let there = run.recording.table(table).is_some();
        let what =
            if there { format!("table {table} has no {name} here") } else { format!("table {table} was not recorded") };
        format!("metric {table}.{name}: {what}")
    })
}

fn asked(recording: &Path, sql: &str) -> Result<f64, String> {
    let session = query::Session::of(open(recording)?).map_err(|e| e.to_string())?;
    let (_, rows) = session.all(sql).map_err(|e| format!("sql: {e}"))?;
    match rows.first().and_then(|row| row.first()) {
        Some(Value::Integer(n)) => Ok(*n as f64),
        Some(Value::Real(x)) => Ok(*x),
        _ => Err("sql: the first column of its first row is no number".into()),
    }
}

/// Why a command's end is no success; `None` where it is one.
pub(crate) fn failure(manifest: &Manifest, timeout: Duration) -> Option<String> {
    if manifest.ended.as_deref() == Some(model::DURATION_OVER) {
        return Some(format!("it ran longer than {} s and was ended", timeout.as_secs_f64()));
    }
    match manifest.exit {
        Some(Exit::Code(0)) => None,
        Some(exit) => Some(exit.to_string()),
        None => Some("how it ended is not known".into()),
    }
}

#[cfg(test)]
mod tests;

//! OpenMetrics text with timestamps: every numeric metric of a window, for databases of time series. `promtool tsdb create-blocks-from openmetrics`
//! makes blocks of it that a Prometheus takes.
//!
//! Columns that only grow are counters in base units, counted from the start of the window; all else is a gauge. What was not measured has no sample.
//! The specification: OpenMetrics 1.0, <https://prometheus.io/docs/specs/om/open_metrics_spec/>.

use super::{Exported, Options, tables};
use crate::series::{Grid, Series};
use crate::{Error, Metric, Run, fields};
use model::{Table, Window};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write;
use store::{Frame, Select};

/// The labels that every sample has before those of its table.
const LEADING: [&str; 2] = ["run", "host"];

/// What is written of each run.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// The run.
    pub run: &'a Run,
    /// The stretch.
    pub window: &'a Window,
}

/// Writes all metrics of the parts; `every` thins them to one sample in so many nanoseconds, 0 to none. The number of samples comes back as the rows of a
/// file without a name; what was left out, with why.
///
/// # Errors
/// Where it cannot be written.
pub fn openmetrics(parts: &[Part<'_>], options: &Options, every: i64, to: &mut dyn Write) -> Result<Exported, Error> {
    let failed = |why: std::io::Error| Error::Write { path: "OpenMetrics".into(), why };
    let mut taken = BTreeSet::new();
    let mut exported = Exported::default();
    let mut samples = 0;
    for name in tables(parts.iter().map(|part| part.run), options)? {
        let Some(table) = parts.iter().find_map(|part| part.run.recording.table(name)) else { continue };
        if table.events {
            exported.left_out.push((name.to_owned(), "its rows are events: use Parquet, CSV or SQL".into()));
            continue;
        }
        let frames: Vec<Option<Frame>> = parts.iter().map(|part| frame(part, name)).collect();
        let mut metrics: Vec<Metric> = Vec::new();
        for metric in frames.iter().flatten().flat_map(fields) {
            if !metrics.iter().any(|known| known.name == metric.name) {
                metrics.push(metric);
            }
        }
        for metric in &metrics {
            let family = Family::of(table, metric, &mut taken);
            let mut text = family.head(metric);
            let before = samples;
            for (part, frame) in parts.iter().zip(&frames) {
                let Some(frame) = frame else { continue };
                let labels: Vec<&str> = table.labels().map(|label| label.name).collect();
                let grid = Grid::new(frame, metric, &labels, None)?;
                for series in &grid.series {
                    samples += family.series(part, &grid, series, every, &mut text);
                    if text.len() > 1 << 20 {
                        to.write_all(text.as_bytes()).map_err(failed)?;
                        text.clear();
                    }
                }
            }
            if samples > before {
                to.write_all(text.as_bytes()).map_err(failed)?;
            }
        }
    }
    to.write_all(b"# EOF\n").map_err(failed)?;
    exported.files.push((std::path::PathBuf::new(), samples));
    Ok(exported)
}

/// A table of a part in its window. A read before the window is the beginning of its first interval.
fn frame(part: &Part<'_>, table: &str) -> Option<Frame> {
    let between = Some((part.window.from, part.window.to));
    part.run.recording.load(table, &Select { between, ..Select::default() }).filter(|frame| !frame.ticks.is_empty())
}

/// A metric under the name that it has there.
struct Family {
    name: String,
    unit: String,
    /// Whether it is counted from the start of the window.
    counts: bool,
}

/// A unit in words, as Prometheus names its base units; empty for plain numbers.
fn unit(symbol: &str) -> String {
    let base = |symbol: &str| match symbol {
        "s" => "seconds",
        "B" => "bytes",
        "Hz" => "hertz",
        "ratio" => "ratio",
        "%" => "percent",
        "°C" => "celsius",
        "J" => "joules",
        "W" => "watts",
        _ => "",
    };
    match symbol.split_once('/') {
        Some(("1", "s")) => "per_second".into(),
        Some((of, "s")) => format!("{}_per_second", base(of)).trim_start_matches('_').to_owned(),
        Some(_) => String::new(),
        None => base(symbol).into(),
    }
}

impl Family {
    fn of(table: &Table, metric: &Metric, taken: &mut BTreeSet<String>) -> Family {
        // What is derived may go down, and a counter may not.
        let counts = metric.is_rate() && !table.derived.iter().any(|derived| derived.name == metric.name);
        let unit = match (counts, metric.unit) {
            (true, "W") => "joules".into(),
            (true, rate) => self::unit(rate.split('/').next().filter(|base| *base != "1").unwrap_or("")),
            (false, level) => self::unit(level),
        };
        let mut name = plain(&format!("twinscope_{}_{}", table.name, metric.name));
        // The name ends in the unit and a counter's samples in `_total`, which is none of the family's.
        if let Some(short) = name.strip_suffix("_total") {
            name = short.to_owned();
        }
        if let Some(short) = name.strip_suffix(&format!("_{unit}")).filter(|_| !unit.is_empty()) {
            name = short.to_owned();
        }
        let suffix = if unit.is_empty() { String::new() } else { format!("_{unit}") };
        let mut unique = format!("{name}{suffix}");
        let mut number = 2;
        while !taken.insert(unique.clone()) {
            unique = format!("{name}_{number}{suffix}");
            number += 1;
        }
        Family { name: unique, unit, counts }
    }

    fn head(&self, metric: &Metric) -> String {
        let Family { name, unit, counts } = self;
        let mut text = format!("# TYPE {name} {}\n", if *counts { "counter" } else { "gauge" });
        if !unit.is_empty() {
            let _ = writeln!(text, "# UNIT {name} {unit}");
        }
        let _ = writeln!(text, "# HELP {name} {}", escaped(metric.help));
        text
    }

    /// Adds the samples of a series; returns how many.
    fn series(&self, part: &Part<'_>, grid: &Grid, series: &Series, every: i64, text: &mut String) -> usize {
        let manifest = part.run.recording.manifest();
        let mut labels =
            vec![(LEADING[0].to_owned(), part.run.name.clone()), (LEADING[1].to_owned(), manifest.host.clone())];
        let own = grid.by.iter().zip(&series.labels).map(|(name, value)| ((*name).to_owned(), value.clone()));
        let given = manifest.labels.iter().map(|(name, value)| (name.clone(), value.clone()));
        for (name, value) in own.chain(given) {
            let mut name = plain(&name);
            // Labels are told apart by their names, and names with two lines are Prometheus' own.
            while labels.iter().any(|(known, _)| *known == name) || name.starts_with("__") {
                name = format!("of_{}", name.trim_start_matches('_'));
            }
            if !value.is_empty() {
                labels.push((name, value));
            }
        }
        let labels: Vec<String> = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
        let head = format!("{}{}{{{}}}", self.name, if self.counts { "_total" } else { "" }, labels.join(","));
        let mut put = Put { head, start: manifest.start_unix, every, last: None, count: 0, text };
        let cut = grid.cut(part.window);
        let (mut sum, mut begun) = (0.0, false);
        for interval in cut.range.clone() {
            let (from, to) = (grid.from.get(interval), grid.to.get(interval));
            let (Some(from), Some(to)) = (from, to) else { continue };
            if self.counts {
                // Only whole intervals: what a part of one counted is not known.
                let num = series.num(interval);
                if num.is_nan() || cut.part(interval) < 1.0 {
                    continue;
                }
                if !begun {
                    put.sample(*from, 0.0, true);
                    begun = true;
                }
                sum += num;
                put.sample(*to, sum, false);
            } else {
                let value = series.value(interval);
                if value.is_finite() && (cut.part(interval) >= 1.0 || grid.metric.is_level()) {
                    put.sample(*to, value, false);
                }
            }
        }
        put.count
    }
}

/// Samples of one series on their way.
struct Put<'a> {
    head: String,
    start: i64,
    every: i64,
    last: Option<i64>,
    count: usize,
    text: &'a mut String,
}

impl Put<'_> {
    /// A sample at so many seconds since the start of the recording. Times have milliseconds there; two samples of one have no order.
    fn sample(&mut self, t: f64, value: f64, first: bool) {
        let ms = (self.start.saturating_add((t * 1e9).round() as i64)).div_euclid(1_000_000);
        let due = match self.last {
            Some(last) if ms <= last => false,
            Some(last) if !first && self.every > 0 => {
                ms.div_euclid((self.every / 1_000_000).max(1)) > last.div_euclid((self.every / 1_000_000).max(1))
            }
            _ => true,
        };
        if due {
            let _ = writeln!(self.text, "{} {value} {}.{:03}", self.head, ms.div_euclid(1000), ms.rem_euclid(1000));
            self.last = Some(ms);
            self.count += 1;
        }
    }
}

/// A name of letters, digits and lines, as metrics and labels have.
fn plain(name: &str) -> String {
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if plain.starts_with(|c: char| c.is_ascii_digit()) || plain.is_empty() { format!("_{plain}") } else { plain }
}

/// A text between quotes, or of a line of help.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            c if model::is_harmful(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, CPU, NET, VMSTAT};
    use crate::{Session, sql::Value};
    use model::Manifest;

    fn written(options: &Options, every: i64, from: i64, to: i64) -> (String, Exported, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let manifest = Manifest {
            name: "a\"b".into(),
            host: "h\n1".into(),
            start_unix: 1_700_000_000_000_000_000,
            labels: [("cpu".to_owned(), "mine".to_owned()), ("__x".to_owned(), "y".to_owned())].into(),
            ..Manifest::default()
        };
        let tables = [
            (
                &CPU,
                "t cpu user idle mhz\n0 0 100 100 2000\n0 1 5 5 1\n0.5 0 110 140 -\n0.5 1 5 5 1\n1 0 120 180 2100\n1 1 6 6 1",
            ),
            (&NET, "t name received speed\n0 \"e\\n0\" 1000 10\n1 \"e\\n0\" 500 10\n2 \"e\\n0\" 800 10"),
            (
                &VMSTAT,
                "t field value\n0 pgfault 1\n0 \"odd(name)\" 2\n0 odd_name_ 3\n1 pgfault 2\n1 \"odd(name)\" 9\n1 odd_name_ 3",
            ),
        ];
        let path = folder.path().join("a.twin");
        testing::write(&path, &manifest, &tables);
        let runs = crate::open(&[path]).unwrap();
        let window = Window { from, to, why: String::new() };
        let mut bytes = Vec::new();
        let part = Part { run: &runs[0], window: &window };
        let exported = openmetrics(&[part], options, every, &mut bytes).unwrap();
        (String::from_utf8(bytes).unwrap(), exported, folder)
    }

    #[test]
    fn families_have_types_units_help_and_an_end() {
        let (text, exported, _folder) = written(&Options::default(), 0, 0, 9_000_000_000);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.last(), Some(&"# EOF"));
        for line in [
            "# TYPE twinscope_cpu_user_seconds counter",
            "# UNIT twinscope_cpu_user_seconds seconds",
            "# HELP twinscope_cpu_user_seconds in user mode",
            "twinscope_cpu_user_seconds_total{run=\"a\\\"b\",host=\"h\\n1\",cpu=\"0\",of_x=\"y\",of_cpu=\"mine\"} 0 1700000000.000",
            "twinscope_cpu_user_seconds_total{run=\"a\\\"b\",host=\"h\\n1\",cpu=\"0\",of_x=\"y\",of_cpu=\"mine\"} 0.2 1700000001.000",
            "# TYPE twinscope_cpu_mhz_hertz gauge",
            "twinscope_cpu_mhz_hertz{run=\"a\\\"b\",host=\"h\\n1\",cpu=\"0\",of_x=\"y\",of_cpu=\"mine\"} 2100 1700000001.000",
            "# UNIT twinscope_cpu_busy_share_ratio ratio",
            "# TYPE twinscope_vmstat_odd_name_ counter",
            "# TYPE twinscope_vmstat_odd_name__2 counter",
        ] {
            assert!(lines.contains(&line), "{line} is not in\n{text}");
        }
        let samples = lines.iter().filter(|line| !line.starts_with('#')).count();
        assert_eq!(exported.files[0].1, samples);
        // What was not read, and the interval in which a counter went down, have no sample.
        assert!(!text.contains(
            "mhz_hertz{run=\"a\\\"b\",host=\"h\\n1\",cpu=\"0\",of_x=\"y\",of_cpu=\"mine\"} 2000 1700000000.500"
        ));
        assert!(!text.contains("NaN") && !text.contains("inf"));
    }

    #[test]
    fn windows_tables_and_steps_are_chosen() {
        let only = Options { tables: vec!["net".into()], ..Options::default() };
        let (text, ..) = written(&only, 0, 0, 1_000_000_000);
        assert!(
            text.contains("twinscope_net_") && !text.contains("cpu_user") && !text.contains("1700000002"),
            "{text}"
        );
        let (text, ..) = written(&only, 10_000_000_000, 0, 9_000_000_000);
        assert!(text.lines().filter(|line| line.starts_with("twinscope_net_speed")).count() == 1, "{text}");
    }

    #[test]
    fn values_are_those_of_sql() {
        let (text, _, folder) = written(&Options::default(), 0, 0, 9_000_000_000);
        let session = Session::open(&[folder.path().join("a.twin")]).unwrap();
        let (_, rows) = session.all("select sum(user * (t - t_before) / 1e9) from (select user, t, coalesce(lag(t) over (order by t), 0) as t_before from cpu_rate where cpu = 0)").unwrap();
        let Value::Real(expected) = rows[0][0] else { panic!("{rows:?}") };
        let line = text
            .lines()
            .rfind(|line| line.starts_with("twinscope_cpu_user_seconds_total") && line.contains("cpu=\"0\""))
            .unwrap();
        let found: f64 = line.split(' ').nth_back(1).unwrap().parse().unwrap();
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }

    /// The program of Prometheus that makes blocks: `$PROMTOOL`, or the one of the path.
    #[test]
    fn prometheus_takes_it_and_gives_it_back() {
        let promtool = std::env::var_os("PROMTOOL").unwrap_or_else(|| "promtool".into());
        let run = |folder: &std::path::Path, arguments: &[&str]| {
            std::process::Command::new(&promtool).current_dir(folder).args(arguments).output()
        };
        let (text, _, folder) = written(&Options::default(), 0, 0, 9_000_000_000);
        if !run(folder.path(), &["--version"]).is_ok_and(|output| output.status.success()) {
            eprintln!("SKIPPED: promtool is not here: apt-get install prometheus, or name it in PROMTOOL");
            return;
        }
        std::fs::write(folder.path().join("a.om"), &text).unwrap();
        for arguments in [&["tsdb", "create-blocks-from", "openmetrics", "a.om", "data"][..], &["tsdb", "dump", "data"]]
        {
            let output = run(folder.path(), arguments).unwrap();
            assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
            if arguments[1] == "create-blocks-from" {
                // A Prometheus makes it when it starts.
                std::fs::create_dir(folder.path().join("data/wal")).unwrap();
                continue;
            }
            // {__name__="…", cpu="0", …} VALUE MILLISECONDS
            let dump = String::from_utf8_lossy(&output.stdout);
            let samples = text.lines().filter(|line| !line.starts_with('#')).count();
            assert_eq!(dump.lines().filter(|line| line.starts_with('{')).count(), samples, "{dump}");
            let is_it =
                |line: &&str| line.contains("\"twinscope_cpu_user_seconds_total\"") && line.contains("cpu=\"0\"");
            let (_, last) = dump.lines().rfind(is_it).unwrap().rsplit_once('}').unwrap();
            let session = Session::open(&[folder.path().join("a.twin")]).unwrap();
            let (_, rows) = session.all("select (max(user) - min(user)) * 0.01 from cpu where cpu = 0").unwrap();
            let Value::Real(expected) = rows[0][0] else { panic!("{rows:?}") };
            let found: f64 = last.split_whitespace().next().unwrap().parse().unwrap();
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
    }
}

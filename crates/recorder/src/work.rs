//! Work done: reads "operations done" from lines of text as they come.

use crate::options::{Record, Throughput};
use formats::Format;
use regex_lite::Regex;
use std::collections::VecDeque;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Mutex;
use std::time::SystemTime;

/// How a match counts.
#[derive(Clone, Debug)]
enum Rule {
    /// The match holds the total so far.
    Total(Regex),
    /// Each match adds its number, or one.
    Each(Regex),
    /// The report of a tool, which stands at the end.
    Report(Format),
}

/// Counts work in lines that several threads may bring.
#[derive(Debug)]
pub(crate) struct Counter {
    rule: Rule,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    total: Option<f64>,
    /// A line of which only the beginning has come.
    partial: Vec<u8>,
    /// The last lines, where a report is read from them.
    report: VecDeque<u8>,
}

/// A report is looked for in so many last bytes of the output.
const REPORT: usize = 1 << 20;

/// The longest line that is looked at.
const MOST: usize = 64 << 10;

impl Counter {
    /// The counter that the options ask for.
    pub(crate) fn new(options: &Record) -> Option<Self> {
        let rule = match (&options.throughput, &options.throughput_each) {
            (Some(Throughput::Total(regex)), _) => Rule::Total(regex.clone()),
            (Some(Throughput::Report(format)), _) => Rule::Report(*format),
            (None, Some(regex)) => Rule::Each(regex.clone()),
            (None, None) => return None,
        };
        Some(Counter { rule, state: Mutex::default() })
    }

    /// Takes the next piece of text.
    pub(crate) fn feed(&self, mut bytes: &[u8]) {
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        while let Some(end) = bytes.iter().position(|&b| b == b'\n') {
            let (line, rest) = bytes.split_at(end);
            bytes = rest.get(1..).unwrap_or_default();
            if state.partial.is_empty() {
                self.line(line, &mut state);
            } else {
                let mut whole = std::mem::take(&mut state.partial);
                whole.extend_from_slice(line);
                self.line(&whole, &mut state);
            }
        }
        let room = MOST.saturating_sub(state.partial.len());
        state.partial.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    }

    /// Takes what is left of a last line without an end.
    pub(crate) fn end(&self) {
        self.feed(b"\n");
    }

    /// Reads the report of a tool that ran for `seconds`; of work that was counted as it went on, nothing is left to be read.
    ///
    /// # Errors
    /// Why there is none, in words.
    pub(crate) fn finish(&self, seconds: f64) -> Result<(), String> {
        let Rule::Report(format) = &self.rule else { return Ok(()) };
        self.end();
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        let numbers = formats::read(*format, &String::from_utf8_lossy(state.report.make_contiguous()))?;
        let done = numbers.done_in(seconds).filter(|done| *done > 0.0 && done.is_finite());
        state.total = Some(done.ok_or_else(|| format!("{}: nothing was done", format.name()))?);
        Ok(())
    }

    fn line(&self, line: &[u8], state: &mut State) {
        let State { total, report, .. } = state;
        let text = String::from_utf8_lossy(line.get(..MOST).unwrap_or(line));
        let number = |captures: &regex_lite::Captures<'_>| {
            captures
                .get(1)
                .and_then(|m| m.as_str().replace([',', '_'], "").parse::<f64>().ok())
                .filter(|n| n.is_finite())
        };
        match &self.rule {
            Rule::Total(regex) => {
                if let Some(found) = regex.captures_iter(&text).last().as_ref().and_then(number) {
                    *total = Some(found);
                }
            }
            Rule::Report(_) => {
                report.extend(line.iter().chain(b"\n"));
                report.drain(..report.len().saturating_sub(REPORT));
            }
            Rule::Each(regex) => {
                for captures in regex.captures_iter(&text) {
                    let step = if captures.len() > 1 { number(&captures).unwrap_or(0.0) } else { 1.0 };
                    *total = Some(total.unwrap_or(0.0) + step);
                }
            }
        }
    }

    /// The total so far; `None` before the first match.
    pub(crate) fn total(&self) -> Option<f64> {
        self.state.lock().unwrap_or_else(|e| e.into_inner()).total
    }
}

/// How the work went on: totals over time. Of many points every second is left out, the first and the last never.
#[derive(Debug, Default)]
pub(crate) struct Course {
    /// Seconds since the start, units done.
    points: Vec<(f64, f64)>,
}

impl Course {
    /// Most points that are kept.
    const MOST: usize = 2000;

    /// Adds what was done by `seconds`.
    pub(crate) fn add(&mut self, seconds: f64, total: f64) {
        self.points.push((seconds, total));
        let count = self.points.len();
        if count > Self::MOST {
            let mut at = 0;
            self.points.retain(|_| {
                at += 1;
                at % 2 == 1 || at == count
            });
        }
    }

    /// The total that was added last.
    pub(crate) fn total(&self) -> Option<f64> {
        self.points.last().map(|p| p.1)
    }

    /// All of it.
    pub(crate) fn points(self) -> Vec<(f64, f64)> {
        self.points
    }
}

/// Reads what is added to a file: the reports of a workload that writes them there.
pub(crate) struct Follow<'a> {
    path: Option<&'a Path>,
    offset: u64,
    /// When it had been written to last before the command started.
    modified: Option<SystemTime>,
}

impl<'a> Follow<'a> {
    /// What the file holds before the command starts is of an earlier run.
    pub(crate) fn new(path: Option<&'a Path>) -> Self {
        let before = path.and_then(|p| std::fs::metadata(p).ok());
        let modified = before.as_ref().and_then(|m| m.modified().ok());
        Follow { path, offset: before.map_or(0, |m| m.len()), modified }
    }

    /// Reads the report of a tool that ran for `seconds`. A file of it is looked through whole, where the tool has written it: one
    /// that replaced that of an earlier run need not be longer.
    ///
    /// # Errors
    /// As [`Counter::finish`].
    pub(crate) fn finish(&mut self, counter: &Counter, seconds: f64) -> Result<(), String> {
        self.read(counter);
        let is_new = |path: &&Path| {
            let now = std::fs::metadata(path).ok().and_then(|m| m.modified().ok());
            now.is_some() && now != self.modified
        };
        if matches!(counter.rule, Rule::Report(_)) && self.path.filter(is_new).is_some() {
            self.offset = 0;
            self.read(counter);
        }
        counter.finish(seconds)
    }

    /// Counts what was added since the last time.
    pub(crate) fn read(&mut self, counter: &Counter) {
        let Some(Ok(file)) = self.path.map(files::foreign::open) else { return };
        if file.metadata().is_ok_and(|m| m.len() < self.offset) {
            self.offset = 0;
        }
        let mut buffer = vec![0; 64 << 10];
        while let Ok(count @ 1..) = file.read_at(&mut buffer, self.offset) {
            counter.feed(buffer.get(..count).unwrap_or_default());
            self.offset += count as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_course_is_thinned() {
        let mut course = Course::default();
        for i in 0..=Course::MOST {
            course.add(i as f64, i as f64);
        }
        assert_eq!(course.total(), Some(Course::MOST as f64), "what came last is not forgotten");
        let points = course.points();
        assert_eq!((points.len(), points[0], points[1]), (Course::MOST / 2 + 1, (0.0, 0.0), (2.0, 2.0)));
    }

    fn counter(rule: Rule) -> Counter {
        Counter { rule, state: Mutex::default() }
    }

    #[test]
    fn totals_across_pieces() {
        let c = counter(Rule::Total(Regex::new(r"done ([\d,]+)").unwrap()));
        assert_eq!(c.total(), None);
        c.feed(b"done 1");
        assert_eq!(c.total(), None, "the line has not ended");
        c.feed(b"00\nnoise\ndone 2,500\ndo");
        assert_eq!(c.total(), Some(2500.0));
        c.feed(b"ne 9000");
        c.end();
        assert_eq!(c.total(), Some(9000.0));
    }

    #[test]
    fn the_report_of_a_tool_is_read_at_the_end() {
        let output = |name: &str| {
            std::fs::read(format!("{}/../../fixtures/tune-formats/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
        };
        for (format, name, done) in [
            (Format::Pgbench, "pgbench.txt", 4309.0),
            (Format::Wrk, "wrk.txt", 45_338.0),
            (Format::Sysbench, "sysbench-cpu.txt", 64_296.0),
            (Format::Fio, "fio.txt", 33_625.0),
            (Format::K6, "k6-1.txt", 15_000.0),
            (Format::RedisBenchmark, "redis-benchmark.txt", 20_000.0),
            // Those that tell no count tell a rate.
            (Format::RedisBenchmark, "redis-benchmark-quiet.txt", 2.0 * 32_786.88),
        ] {
            let c = counter(Rule::Report(format));
            let bytes = output(name);
            bytes.chunks(100).for_each(|part| c.feed(part));
            assert_eq!(c.total(), None, "{name}: it has not ended");
            c.finish(2.0).unwrap();
            assert_eq!(c.total(), Some(done), "{name}");
        }
        let c = counter(Rule::Report(Format::Jmh));
        c.feed(&output("jmh-throughput.json"));
        c.finish(2.0).unwrap();
        assert!(c.total().is_some());
        // Much output before it does no harm; none is said.
        let c = counter(Rule::Report(Format::Wrk));
        for _ in 0..REPORT / 8 {
            c.feed(b"GET / 200 OK\n");
        }
        c.feed(&output("wrk.txt"));
        c.finish(2.0).unwrap();
        assert_eq!(c.total(), Some(45_338.0));
        let why = counter(Rule::Report(Format::Wrk)).finish(2.0).unwrap_err();
        assert!(why.starts_with("wrk: no report in the output"), "{why}");
    }

    #[test]
    fn a_file_that_replaced_that_of_an_earlier_run_is_read_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("jmh.json");
        let jmh = format!("{}/../../fixtures/tune-formats/jmh-throughput.json", env!("CARGO_MANIFEST_DIR"));
        std::fs::copy(&jmh, &path).unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        let mut follow = Follow::new(Some(&path));
        let c = counter(Rule::Report(Format::Jmh));
        assert!(follow.finish(&c, 2.0).is_err(), "that of an earlier run");
        std::fs::copy(&jmh, &path).unwrap();
        follow.finish(&c, 2.0).unwrap();
        assert!(c.total().is_some());
    }

    #[test]
    fn each_match_adds() {
        let c = counter(Rule::Each(Regex::new("ok").unwrap()));
        c.feed(b"ok ok\nok\n");
        assert_eq!(c.total(), Some(3.0));
        let c = counter(Rule::Each(Regex::new(r"\+(\d+)").unwrap()));
        c.feed(b"+5\n+7 +1\n");
        assert_eq!(c.total(), Some(13.0));
    }
}

//! Work done: reads "operations done" from lines of text as they come.

use crate::options::Record;
use regex_lite::Regex;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Mutex;

/// How a match counts.
#[derive(Clone, Debug)]
enum Rule {
    /// The match holds the total so far.
    Total(Regex),
    /// Each match adds its number, or one.
    Each(Regex),
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
}

/// The longest line that is looked at.
const MOST: usize = 64 << 10;

impl Counter {
    /// The counter that the options ask for.
    pub(crate) fn new(options: &Record) -> Option<Self> {
        let rule = match (&options.throughput, &options.throughput_each) {
            (Some(regex), _) => Rule::Total(regex.clone()),
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
                self.line(line, &mut state.total);
            } else {
                let mut whole = std::mem::take(&mut state.partial);
                whole.extend_from_slice(line);
                self.line(&whole, &mut state.total);
            }
        }
        let room = MOST.saturating_sub(state.partial.len());
        state.partial.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    }

    /// Takes what is left of a last line without an end.
    pub(crate) fn end(&self) {
        self.feed(b"\n");
    }

    fn line(&self, line: &[u8], total: &mut Option<f64>) {
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
}

impl<'a> Follow<'a> {
    /// What the file holds before the command starts is of an earlier run.
    pub(crate) fn new(path: Option<&'a Path>) -> Self {
        Follow { path, offset: path.and_then(|p| std::fs::metadata(p).ok()).map_or(0, |m| m.len()) }
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
    fn each_match_adds() {
        let c = counter(Rule::Each(Regex::new("ok").unwrap()));
        c.feed(b"ok ok\nok\n");
        assert_eq!(c.total(), Some(3.0));
        let c = counter(Rule::Each(Regex::new(r"\+(\d+)").unwrap()));
        c.feed(b"+5\n+7 +1\n");
        assert_eq!(c.total(), Some(13.0));
    }
}

//! Work done: reads "operations done" from lines of text as they come.

use crate::options::Record;
use regex_lite::Regex;
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

#[cfg(test)]
mod tests {
    use super::*;

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

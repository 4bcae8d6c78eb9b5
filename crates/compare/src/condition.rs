//! `--fail-on`: a condition on the differences, for use in CI.

use crate::{Comparison, Difference};

/// A condition such as `cpu.busy +10%`, `process.user{comm=java} -5%`, or `any`.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// Any difference at all.
    Any,
    /// A metric that changed by so much, surely: its whole interval lies on that side of zero.
    Change {
        /// Full name of the metric.
        metric: String,
        /// Labels that the difference must have.
        labels: Vec<(String, String)>,
        /// Whether it must have grown.
        up: bool,
        /// By which fraction at least.
        fraction: f64,
    },
}

impl Condition {
    /// Reads a condition.
    ///
    /// # Errors
    /// In words.
    pub fn parse(text: &str) -> Result<Self, String> {
        const WANTED: &str =
            "expected METRIC +N% or METRIC -N% (such as 'cpu.busy +10%' or 'process.user{comm=java} +5%'), or any";
        let text = text.trim();
        if text == "any" {
            return Ok(Condition::Any);
        }
        let (what, amount) = text.rsplit_once(char::is_whitespace).ok_or(WANTED)?;
        let (up, number) = match amount.strip_suffix('%').ok_or(WANTED)? {
            n if n.starts_with('+') => (true, &n[1..]),
            n if n.starts_with('-') => (false, &n[1..]),
            _ => return Err(WANTED.into()),
        };
        let fraction = number.parse::<f64>().map_err(|_| WANTED)? / 100.0;
        if !fraction.is_finite() || fraction < 0.0 {
            return Err(WANTED.into());
        }
        let what = what.trim();
        let (metric, labels) = match what.split_once('{') {
            None => (what, Vec::new()),
            Some((metric, rest)) => {
                let inside = rest.strip_suffix('}').ok_or(WANTED)?;
                let pair =
                    |p: &str| p.split_once('=').map(|(k, v)| (k.trim().to_owned(), v.trim().to_owned())).ok_or(WANTED);
                (metric, inside.split(',').map(pair).collect::<Result<_, _>>()?)
            }
        };
        if metric.is_empty() || metric.contains(char::is_whitespace) {
            return Err(WANTED.into());
        }
        Ok(Condition::Change { metric: metric.to_owned(), labels, up, fraction })
    }

    /// The first difference for which it holds.
    pub fn holds<'a>(&self, comparison: &'a Comparison) -> Option<&'a Difference> {
        comparison.differences.iter().find(|d| match self {
            Condition::Any => true,
            Condition::Change { metric, labels, up, fraction } => {
                let named = d.metric == *metric && labels.iter().all(|(k, v)| d.labels.get(k) == Some(v));
                let grown = if *up { d.difference > 0.0 } else { d.difference < 0.0 };
                // Growth from nothing is beyond any percentage.
                named && grown && d.change.is_none_or(|c| c.abs() >= *fraction)
            }
        })
    }

    /// Whether the metric that it names was compared at all.
    pub fn is_known(&self, comparison: &Comparison) -> bool {
        match self {
            Condition::Any => true,
            Condition::Change { metric, .. } => comparison.metrics.contains(metric),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read() {
        let labels = vec![("comm".to_owned(), "java".to_owned())];
        let change =
            |metric: &str, labels, up, fraction| Ok(Condition::Change { metric: metric.into(), labels, up, fraction });
        assert_eq!(Condition::parse("any"), Ok(Condition::Any));
        assert_eq!(Condition::parse("cpu.busy +10%"), change("cpu.busy", vec![], true, 0.1));
        assert_eq!(Condition::parse(" process.user{comm=java} -5% "), change("process.user", labels, false, 0.05));
        for bad in ["", "cpu.busy", "cpu.busy 10%", "cpu.busy +x%", "a{b +1%", "a{b} +1%", "+1%", "a +nan%"] {
            assert!(Condition::parse(bad).is_err(), "{bad}");
        }
    }
}

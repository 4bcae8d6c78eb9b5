//! `--fail-on`: a condition on the differences, for use in CI.

use crate::latency::{LATENCY, QUANTILES};
use crate::{Comparison, Difference, Latency};

/// Names of labels with their values.
type Labels = Vec<(String, String)>;

/// A condition such as `cpu.busy +10%`, `process.user{comm=java} -5%`, `latency.p99@8080 +10%`, or `any`.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// Any difference at all.
    Any,
    /// A metric that changed by so much, surely: its whole interval lies on that side of zero.
    Change {
        /// Full name of the metric.
        metric: String,
        /// Labels that the difference must have. Of a latency without any: those of the busiest server.
        labels: Labels,
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
        const WANTED: &str = "expected METRIC +N% or METRIC -N% (such as 'cpu.busy +10%', 'process.user{comm=java} +5%' or 'latency.p99@8080 +10%'), or any";
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
            None if what.starts_with(LATENCY) => of_latency(what)?,
            None => (what, Vec::new()),
            Some((metric, rest)) => {
                let inside = rest.strip_suffix('}').ok_or(WANTED)?;
                let pair =
                    |p: &str| p.split_once('=').map(|(k, v)| (k.trim().to_owned(), v.trim().to_owned())).ok_or(WANTED);
                (metric, inside.split(',').map(pair).collect::<Result<_, _>>()?)
            }
        };
        if metric.starts_with(LATENCY) {
            known_latency(metric)?;
        }
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
                let named = d.metric == *metric
                    && labels.iter().all(|(k, v)| d.labels.get(k) == Some(v))
                    && (!is_of_busiest(metric, labels)
                        || comparison.busiest(d.run).is_some_and(|busiest| busiest.labels() == d.labels));
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
            Condition::Change { metric, labels, .. } => match metric.strip_prefix(LATENCY) {
                Some(name) => comparison.latency.iter().any(|latency| {
                    let of = latency.labels();
                    let is_it = labels.iter().all(|(k, v)| of.get(k) == Some(v));
                    let busiest = |l: &Latency| comparison.busiest(l.run).is_some_and(|b| b == l);
                    let compared = latency.quantiles.iter().any(|q| q.name == name && q.q.is_some());
                    is_it && compared && (!is_of_busiest(metric, labels) || busiest(latency))
                }),
                None => comparison.metrics.contains(metric),
            },
        }
    }

    /// What it is about: the metric, with its labels.
    pub fn what(&self) -> String {
        match self {
            Condition::Any => "any".into(),
            Condition::Change { metric, labels, .. } if labels.is_empty() => metric.clone(),
            Condition::Change { metric, labels, .. } => {
                let labels: Vec<String> = labels.iter().map(|(k, v)| format!("{k}={v}")).collect();
                format!("{metric}{{{}}}", labels.join(","))
            }
        }
    }
}

/// Whether a metric is a latency, and nothing says of which service.
fn is_of_busiest(metric: &str, labels: &[(String, String)]) -> bool {
    labels.is_empty() && metric.starts_with(LATENCY)
}

/// Whether there is such a latency.
fn known_latency(metric: &str) -> Result<(), String> {
    if QUANTILES.iter().any(|(name, _)| metric.strip_prefix(LATENCY) == Some(name)) {
        return Ok(());
    }
    let known: Vec<String> = QUANTILES.iter().map(|(name, _)| format!("{LATENCY}{name}")).collect();
    Err(format!(
        "there is no {metric}; there are {}, of the busiest server or, as in latency.p99@8080, of one port",
        known.join(", ")
    ))
}

/// Reads `latency.p99` or `latency.p99@PORT`: the metric, and labels.
fn of_latency(what: &str) -> Result<(&str, Labels), String> {
    let Some((metric, port)) = what.split_once('@') else { return Ok((what, Vec::new())) };
    let number: u16 = port
        .parse()
        .ok()
        .filter(|port| *port > 0)
        .ok_or_else(|| format!("{port:?} is no port: expected a number from 1 to 65535, as in latency.p99@8080"))?;
    Ok((metric, vec![("port".into(), number.to_string()), ("role".into(), "server".into())]))
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
        assert_eq!(Condition::parse("latency.p99.9 +10%"), change("latency.p99.9", vec![], true, 0.1));
        let port = vec![("port".to_owned(), "80".to_owned()), ("role".to_owned(), "server".to_owned())];
        assert_eq!(Condition::parse("latency.p50@80 -1%"), change("latency.p50", port.clone(), false, 0.01));
        assert_eq!(Condition::parse("latency.p50@80 -1%").unwrap().what(), "latency.p50{port=80,role=server}");
        assert_eq!(Condition::parse("latency.p50{port=80,role=server} -1%"), change("latency.p50", port, false, 0.01));
        for bad in ["latency.p95 +1%", "latency.p95@80 +1%", "latency.p95{port=80} +1%", "latency. +1%"] {
            let said = Condition::parse(bad).unwrap_err();
            assert!(said.contains("there are latency.p50, latency.p90, latency.p99, latency.p99.9"), "{said}");
        }
        assert!(Condition::parse("latency.p99@http +1%").unwrap_err().contains("is no port"));
        for bad in ["", "cpu.busy", "cpu.busy 10%", "cpu.busy +x%", "a{b +1%", "a{b} +1%", "+1%", "a +nan%"] {
            assert!(Condition::parse(bad).is_err(), "{bad}");
        }
    }
}

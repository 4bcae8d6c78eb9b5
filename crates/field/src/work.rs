//! What a load says of its work, and how much slower the slow side is by it.

use crate::pair::{Effect, Work};
use formats::Format;
use regex_lite::Regex;
use serde::{Deserialize, Serialize};

/// A side is slower from this ratio on: what `explain` takes for a difference with three runs a side.
pub(crate) const SLOWER: f64 = 1.05;

/// The work of a run, by the load's own words.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Done {
    /// How much was done.
    pub(crate) work: f64,
    /// In which time.
    pub(crate) seconds: f64,
    /// The 99th percentile, where the pair says how to read it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) tail_ms: Option<f64>,
}

impl Done {
    /// Reads it from what the load printed in so many seconds. A tool says its time itself.
    ///
    /// # Errors
    /// Where the output lacks it: what was looked for.
    pub(crate) fn read(work: &Work, output: &str, seconds: f64) -> Result<Self, String> {
        let (done, seconds) = match (&work.tool, work.count.as_ref().or(work.total.as_ref())) {
            (Some(tool), _) => {
                let format = Format::parse(tool).ok_or_else(|| format!("work.tool: {tool} is not known"))?;
                let numbers = formats::read(format, output)?;
                let done = numbers.done_in(seconds).ok_or_else(|| format!("{tool} says no work"))?;
                (done, numbers.rate.filter(|rate| *rate > 0.0).map_or(seconds, |rate| done / rate))
            }
            (None, Some(pattern)) => (last(pattern, output)?, seconds),
            (None, None) => (1.0, seconds),
        };
        if !(done > 0.0 && seconds > 0.0) {
            return Err(format!("the load did no work: {done} in {seconds} s"));
        }
        let tail_ms = work.tail_ms.as_ref().map(|pattern| last(pattern, output)).transpose()?;
        Ok(Done { work: done, seconds, tail_ms })
    }

    /// Seconds for a unit of work.
    fn each(&self) -> f64 {
        self.seconds / self.work
    }
}

/// The number that the last match of a pattern has in its group. Patterns are for single lines.
fn last(pattern: &str, output: &str) -> Result<f64, String> {
    let regex = Regex::new(&format!("(?m){pattern}")).map_err(|why| format!("{pattern}: {why}"))?;
    let found = regex.captures_iter(output).filter_map(|found| found.get(1)).last();
    let found = found.ok_or_else(|| format!("the load's output has nothing like {pattern}"))?;
    let plain = found.as_str().replace([',', '_'], "");
    plain.parse().map_err(|_| format!("the load's output has {:?} where {pattern} looks for a number", found.as_str()))
}

/// How many times as long a unit of work takes on the slow side; of an effect of the tail, the 99th percentile.
pub(crate) fn ratio(effect: Effect, slow: &Done, fast: &Done) -> Option<f64> {
    let ratio = match effect {
        Effect::Tail => slow.tail_ms? / fast.tail_ms?,
        Effect::Mean | Effect::Both | Effect::None => slow.each() / fast.each(),
    };
    ratio.is_finite().then_some(ratio)
}

/// Why a pair is left out by the ratios of its runs; `None` where each shows what it should.
pub(crate) fn not_reproduced(is_innocent: bool, ratios: &[f64]) -> Option<String> {
    let words: Vec<String> = ratios.iter().map(|ratio| format!("{ratio:.2}")).collect();
    let words = words.join(", ");
    if ratios.is_empty() {
        return Some("no ratio of its runs is known".into());
    }
    match is_innocent {
        true if ratios.iter().all(|ratio| *ratio >= SLOWER) => {
            Some(format!("it is not innocent here, the slow side is slower in each pair of runs: {words}"))
        }
        false if ratios.iter().any(|ratio| *ratio < SLOWER) => {
            Some(format!("not reproduced, the slow side is not slower in each pair of runs: {words}"))
        }
        _ => None,
    }
}

/// The place of the middle of these: of an even number the lower one.
pub(crate) fn middle(of: &[f64]) -> Option<usize> {
    let mut order: Vec<usize> = (0..of.len()).collect();
    order.sort_by(|a, b| of[*a].total_cmp(&of[*b]));
    order.get(of.len().checked_sub(1)? / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(work: f64, seconds: f64, tail_ms: Option<f64>) -> Done {
        Done { work, seconds, tail_ms }
    }

    #[test]
    fn work_is_what_the_load_says_last() {
        let count = Work { count: Some(r"^done (\d+)".into()), ..Work::default() };
        let read = |output: &str| Done::read(&count, output, 5.0);
        assert_eq!(read("warm\ndone 10\nx done 99\ndone 25\n"), Ok(done(25.0, 5.0, None)));
        assert!(read("doing 10").unwrap_err().contains(r"^done (\d+)"));
        assert!(read("done 0").unwrap_err().contains("no work"));
        let total = Work {
            total: Some(r"total: ([\d,]+)".into()),
            tail_ms: Some(r"p99 ([\d.]+) ms".into()),
            ..Work::default()
        };
        assert_eq!(Done::read(&total, "total: 1,200\np99 3.5 ms\n", 6.0), Ok(done(1200.0, 6.0, Some(3.5))));
        assert!(Done::read(&total, "total: 1\n", 6.0).unwrap_err().contains("p99"));
        assert_eq!(Done::read(&Work::default(), "", 7.5), Ok(done(1.0, 7.5, None)));
    }

    #[test]
    fn a_tool_says_its_time_itself() {
        let tool = Work { tool: Some("pgbench".into()), ..Work::default() };
        let output = "transaction type: <builtin: TPC-B (sort of)>\nnumber of transactions actually processed: 3046\n\
                      latency average = 1.2 ms\ntps = 609.2 (without initial connection time)\n";
        let read = Done::read(&tool, output, 5.9).unwrap();
        assert!((read.work - 3046.0).abs() < 1e-9 && (read.seconds - 5.0).abs() < 1e-9, "{read:?}");
        assert!(Done::read(&tool, "pgbench: error", 5.0).unwrap_err().contains("pgbench"));
    }

    #[test]
    fn ratios_are_of_time_for_each_unit_or_of_the_tail() {
        let (slow, fast) = (done(100.0, 10.0, Some(30.0)), done(300.0, 10.0, Some(3.0)));
        let of = |effect| ratio(effect, &slow, &fast).unwrap();
        assert!([Effect::Mean, Effect::Both, Effect::None].map(of).iter().all(|ratio| (ratio - 3.0).abs() < 1e-9));
        assert!((of(Effect::Tail) - 10.0).abs() < 1e-9);
        assert_eq!(ratio(Effect::Tail, &slow, &done(1.0, 1.0, None)), None);
    }

    #[test]
    fn a_pair_that_does_not_show_its_effect_each_time_is_left_out() {
        assert_eq!(not_reproduced(false, &[1.5, 1.06, 2.0]), None);
        assert!(not_reproduced(false, &[1.5, 1.02, 2.0]).unwrap().contains("1.50, 1.02, 2.00"));
        assert!(not_reproduced(false, &[]).is_some());
        assert_eq!(not_reproduced(true, &[1.2, 0.99, 1.1]), None);
        assert!(not_reproduced(true, &[1.2, 1.06, 1.1]).unwrap().contains("not innocent"));
    }

    #[test]
    fn the_middle_is_the_one_in_between() {
        assert_eq!(middle(&[3.0, 1.0, 2.0]), Some(2));
        assert_eq!(middle(&[3.0, 1.0]), Some(1));
        assert_eq!(middle(&[]), None);
    }
}

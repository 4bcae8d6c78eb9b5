//! The answer in a sentence or two that a manager can read.

use crate::answer::{Limit, LimitedBy, Outcome};
use crate::budget::State;
use crate::{Explanation, Finding};
use compare::Unit;
use compare::{PerSide, Side};
use query::{human, percent, times, times_interval};

/// "a, b and c" of names.
fn names(all: &[String]) -> String {
    match all {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

/// A share: "71 %".
fn share_of(part: f64) -> String {
    format!("{:.0} %", part * 100.0)
}

/// An interval that is narrower is of one total a run: nothing is known of how it varies.
const NO_INTERVAL: f64 = 0.002;

/// How much longer it takes: the factor, with its interval where there is one.
fn factor(e: &Explanation) -> String {
    let (ratio, factor) = (e.ratio, times(e.ratio.value));
    match ratio.high - ratio.low > NO_INTERVAL * ratio.value {
        true => format!("{factor} as long per {} (95 % CI {})", e.unit.name(), times_interval(ratio.low, ratio.high)),
        false => format!("{factor} as long per {}", e.unit.name()),
    }
}

/// Why a difference that is no chance within the runs may be chance all the same, or another's doing.
fn why_undecided(limit: Limit) -> String {
    match limit.by {
        LimitedBy::Others => {
            format!(
                "other programs used {} of the CPUs, and one recording a side cannot tell whether they are why",
                share_of(limit.least)
            )
        }
        _ => "one recording a side cannot tell whether that is chance".into(),
    }
}

/// What takes most time of both sides.
fn limits(both: &PerSide<Finding>) -> String {
    let (slow, baseline) = (share_of(both.slow.share.value), share_of(both.baseline.share.value));
    let says = both.slow.says.trim_end_matches('.');
    format!("What limits both is the same, {slow} of the thread time (baseline {baseline}): {says}.")
}

/// The state that lost most.
fn worst(e: &Explanation) -> Option<(State, f64)> {
    let shares = e.ledger.iter().map(|(state, _, share)| (*state, share.value));
    shares.filter(|(_, s)| *s > 0.1).max_by(|a, b| a.1.total_cmp(&b.1))
}

pub(crate) fn of(e: &Explanation) -> String {
    let slow = names(e.runs.get(..e.slow).unwrap_or_default());
    let fast = names(e.runs.get(e.slow..).unwrap_or_default());
    let unit = e.unit.name();
    // Of one run, and of several.
    let (takes, answers, is, it_takes) =
        if e.slow > 1 { ("take", "answer", "are", "they take") } else { ("takes", "answers", "is", "it takes") };
    let mut out = match e.outcome {
        Outcome::Slower => match e.unit {
            Unit::Run => format!("{slow} {takes} {} as long as {fast}.", times(e.ratio.value)),
            _ => format!("{slow} {takes} {} as long per {unit} as {fast}.", times(e.ratio.value)),
        },
        Outcome::MoreTime => {
            format!(
                "The threads of {slow} spend more time per second than those of {fast}; how much work they did is not known."
            )
        }
        Outcome::LongerRequests => {
            let says = e.tail.as_ref().map_or_else(String::new, |longer| format!(": {}", longer.says()));
            format!("{slow} {answers} as many requests as {fast}, but they take longer{says}.")
        }
        Outcome::Alone => String::new(),
        Outcome::Evenly => {
            let why = match &e.slower_cpus {
                Some(reason) => reason.clone(),
                None => format!("slower CPUs, or more of the same work per {unit}"),
            };
            return format!(
                "{slow} {takes} {} as long per {unit} as {fast}, in all of its code and in the kernel alike: {why}.",
                times(e.ratio.value)
            );
        }
        Outcome::Undecided => format!(
            "{slow} {takes} {} as {fast}, but {}: record each side three to five times.",
            factor(e),
            why_undecided(e.limit)
        ),
        Outcome::NoSlower => {
            let ratio = e.ratio.value;
            let text = match e.unit {
                Unit::Second => format!(
                    "The threads of {slow} spend no more time per second than those of {fast}. How much work they did is not known: record \
                     with --throughput, or a command that does the same work in both."
                ),
                _ if ratio < 0.95 => {
                    format!(
                        "{slow} {is} not slower than {fast}: {it_takes} {} as long per {unit} ({}).",
                        times(ratio),
                        percent(ratio - 1.0)
                    )
                }
                _ if e.ratio.low > 1.0 => {
                    let (factor, least) = (factor(e), share_of(e.limit.least));
                    let asked = if e.limit.by == LimitedBy::Asked { " that were asked for" } else { "" };
                    format!("{slow} {takes} {factor} as {fast}, less than the {least}{asked}.")
                }
                _ if ratio > 1.0 => {
                    format!("{slow} {is} not significantly slower than {fast}: {it_takes} {}.", factor(e))
                }
                _ => format!("{slow} {is} not slower than {fast}."),
            };
            return match &e.tail {
                Some(longer) => {
                    let see = if longer.quantile.name.starts_with("p99") { "explain --tail" } else { "compare" };
                    format!("{text} But {}: see `{see}`.", longer.says())
                }
                None => match (&e.reversed, &e.limits_both) {
                    (Some(command), _) => format!("{text} Did you mean: {command}?"),
                    (None, Some(both)) => format!("{text} {}", limits(both)),
                    // A difference that is there, and may have any reason.
                    (None, None) if e.ratio.low > 1.0 && e.unit != Unit::Second => text,
                    (None, None) => format!("{text} There is nothing to explain."),
                },
            };
        }
    };
    let whose = match e.outcome {
        Outcome::Alone => format!("of the thread time of {slow}"),
        Outcome::Undecided => "of the difference between these two".to_owned(),
        _ => "of the slowdown".to_owned(),
    };
    let user = e.ledger.iter().find(|(state, ..)| *state == State::User).map_or(0.0, |(.., share)| share.value);
    match e.findings.first().or(e.differs.first()) {
        // Code that runs is what a program is there for: it comes first where nothing takes more.
        first if e.outcome == Outcome::Alone && user > 0.1 && first.is_none_or(|f| f.share.value < user) => {
            out.push_str(&format!("{} {whose} is user code", share_of(user)));
            if let Some((function, part)) = &e.hottest {
                out.push_str(&format!(", most of it in `{function}` ({})", share_of(*part)));
            }
            out.push('.');
            if let Some(first) = first {
                out.push_str(&format!(" {}: {}", share_of(first.share.value), first.says));
                if !out.ends_with('.') {
                    out.push('.');
                }
            }
        }
        Some(first) => {
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(&format!("{} {whose}: {}", share_of(first.share.value), first.says));
            if !out.ends_with('.') {
                out.push('.');
            }
        }
        None => {
            if let Some((state, share)) = worst(e) {
                let text = format!("{} {whose} is threads {}", share_of(share), state.words());
                out.push_str(&format!("{}{text}; no known cause explains it.", if out.is_empty() { "" } else { " " }));
            } else if e.outcome == Outcome::Alone {
                out.push_str(&format!("No known bottleneck found in {slow}."));
            }
        }
    }
    out
}

impl Explanation {
    /// Elapsed time per unit of a side, for people.
    pub fn per_unit(&self, side: Side) -> String {
        human(self.elapsed[side], "s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_a_difference_may_be_chance() {
        let of = |least, by| why_undecided(Limit { least, by });
        assert!(of(0.1, LimitedBy::Once).starts_with("one recording a side cannot tell"));
        assert!(of(0.87, LimitedBy::Others).starts_with("other programs used 87 % of the CPUs"));
    }
}

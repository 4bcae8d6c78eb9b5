//! The answer in a sentence or two that a manager can read.

use crate::Explanation;
use crate::budget::{State, Unit};
use crate::explanation::Outcome;
use crate::side::Side;
use query::human;

/// "a, b and c" of names.
fn names(all: &[String]) -> String {
    match all {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

/// A number of times: "2.9×".
fn times(ratio: f64) -> String {
    if ratio >= 10.0 { format!("{ratio:.0}×") } else { format!("{ratio:.1}×") }
}

/// A part: "71 %".
fn percent(part: f64) -> String {
    format!("{:.0} %", part * 100.0)
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
    let mut out = match e.outcome {
        Outcome::Slower => match e.unit {
            Unit::Run => format!("{slow} takes {} as long as {fast}.", times(e.ratio.value)),
            _ => format!("{slow} takes {} as long per {unit} as {fast}.", times(e.ratio.value)),
        },
        Outcome::MoreTime => {
            format!(
                "The threads of {slow} spend more time on their work in each second than those of {fast}; how much of it they did is not known."
            )
        }
        Outcome::Alone => String::new(),
        Outcome::Evenly => {
            return format!(
                "{slow} takes {} as long per {unit} as {fast}, in all of its code alike and in the kernel's too: slower CPUs, or more of the same work in each {unit}.",
                times(e.ratio.value)
            );
        }
        Outcome::NoSlower => {
            let change = e.ratio.value - 1.0;
            let text = match e.unit {
                Unit::Second => format!(
                    "The threads of {slow} spend no more time on their work in each second than those of {fast}. How much they did is not known: record \
                     with --throughput, or a command that does the same work in both."
                ),
                _ if change < -0.05 => {
                    format!("{slow} is not slower than {fast}: it takes {} less time per {unit}.", percent(-change))
                }
                _ if e.ratio.value > 1.0 => format!(
                    "{slow} is not slower than {fast} beyond what chance can do: {} more time per {unit} (95 % interval {} to {}).",
                    percent(change),
                    signed(e.ratio.low),
                    signed(e.ratio.high)
                ),
                _ => format!("{slow} is not slower than {fast}."),
            };
            return format!("{text} There is nothing to explain.");
        }
    };
    let whose = if e.outcome == Outcome::Alone {
        format!("of the time of {slow}'s threads")
    } else {
        "of the lost time".to_owned()
    };
    let user = e.ledger.iter().find(|(state, ..)| *state == State::User).map_or(0.0, |(.., share)| share.value);
    match e.findings.first() {
        // Code that runs is what a program is there for: it comes first where nothing takes more.
        first if e.outcome == Outcome::Alone && user > 0.1 && first.is_none_or(|f| f.share.value < user) => {
            out.push_str(&format!("{} {whose} is their own code", percent(user)));
            if let Some((function, part)) = &e.hottest {
                out.push_str(&format!(", first of all {function} with {}", percent(*part)));
            }
            out.push('.');
            if let Some(first) = first {
                out.push_str(&format!(" {}: {}", percent(first.share.value), first.says));
                if !out.ends_with('.') {
                    out.push('.');
                }
            }
        }
        Some(first) => {
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(&format!("{} {whose}: {}", percent(first.share.value), first.says));
            if !out.ends_with('.') {
                out.push('.');
            }
        }
        None => {
            if let Some((state, share)) = worst(e) {
                let text = format!("{} {whose} is threads {}", percent(share), state.words());
                out.push_str(&format!("{}{text}; no known cause explains it.", if out.is_empty() { "" } else { " " }));
            } else if e.outcome == Outcome::Alone {
                out.push_str(&format!("Nothing limits {slow} that is known to Twinscope."));
            }
        }
    }
    out
}

/// A ratio as a change: "+3 %".
fn signed(ratio: f64) -> String {
    format!("{:+.0} %", (ratio - 1.0) * 100.0)
}

impl Explanation {
    /// Elapsed time per unit of a side, for people.
    pub fn per_unit(&self, side: Side) -> String {
        human(self.elapsed[side], "s")
    }
}

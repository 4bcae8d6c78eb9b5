//! What separates bands, and since when they are there, as text.

use crate::text::{self, clean};
use ::fleet::result::{FleetBanding, FleetDifference, FleetGroup, FleetSeparated, more};
use model::utc;
use query::human;

/// Lines shown unless all are asked for.
const FIRST: usize = 12;

/// A value of a fact is shown up to so many characters.
const LONGEST: usize = 40;

fn points(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

/// What separates one band.
pub(super) fn print(of: &FleetSeparated, all: bool) {
    println!();
    println!("{}", clean(&of.says));
    let most = if all { usize::MAX } else { FIRST };
    facts(of, most);
    lines(of, most);
    functions(of, most);
    if let Some(rule) = &of.rule {
        println!("{}", clean(&rule.says));
    }
    of.not.iter().for_each(|line| println!("{}", clean(line)));
}

/// What separates one band, in a line or two.
pub(super) fn brief(of: &FleetSeparated) {
    if !of.brief.is_empty() {
        println!("{}", clean(&of.brief));
    }
    of.not.iter().for_each(|line| println!("{}", clean(line)));
}

fn facts(of: &FleetSeparated, most: usize) {
    if of.facts.is_empty() {
        return;
    }
    let band = format!("band {}", of.band);
    let mut out = text::table(&["fact", "value", &band, &of.others, "q"], &[false, false, true, true, true]);
    for fact in of.facts.iter().take(most) {
        out.add_row([
            clean(&fact.fact),
            text::cut(&clean(&fact.value), LONGEST),
            format!("{} of {}", fact.band.0, fact.band.1),
            format!("{} of {}", fact.others.0, fact.others.1),
            format!("{:.3}", fact.q),
        ]);
    }
    println!("{}", text::trimmed(&out));
    left(of.facts.len(), most, "facts");
}

fn lines(of: &FleetSeparated, most: usize) {
    if of.lines.is_empty() {
        return;
    }
    let band = format!("band {}", of.band);
    let header = ["metric", &band, &of.others, "shift (95 % CI)", "tells apart", ""];
    let mut out = text::table(&header, &[false, true, true, false, true, false]);
    for line in of.lines.iter().take(most) {
        let (difference, unit) = (&line.difference, &line.unit);
        let with = match (line.with.len(), most) {
            (0, _) => String::new(),
            (_, usize::MAX) => format!("with {}", clean(&more(&line.with, usize::MAX))),
            (n, _) => format!("+{n} that move with it"),
        };
        out.add_row([
            clean(&line.metric),
            human(difference.band, unit),
            human(difference.others, unit),
            interval(difference, unit),
            tells(difference),
            with,
        ]);
    }
    println!("{}", text::trimmed(&out));
    left(of.lines.len(), most, "metrics");
}

/// "+3.1 ms (2.0 ms to 4.2 ms)".
fn interval(of: &FleetDifference, unit: &str) -> String {
    let sign = if of.shift.value > 0.0 { "+" } else { "" };
    let estimate = human(of.shift.value, unit);
    format!("{sign}{estimate} ({} to {})", human(of.shift.low, unit), human(of.shift.high, unit))
}

/// How many pairs of a recording of the band and one of the others it tells apart: "98 %".
fn tells(of: &FleetDifference) -> String {
    format!("{:.0} %", 100.0 * of.superiority.max(1.0 - of.superiority))
}

fn functions(of: &FleetSeparated, most: usize) {
    if of.functions.is_empty() {
        return;
    }
    let band = format!("band {}", of.band);
    let header = ["function", "state", &band, &of.others, "tells apart"];
    let mut out = text::table(&header, &[false, false, true, true, true]);
    for function in of.functions.iter().take(most) {
        out.add_row([
            clean(&function.function),
            clean(&function.state),
            format!("{} %", points(function.difference.band)),
            format!("{} %", points(function.difference.others)),
            tells(&function.difference),
        ]);
    }
    println!("{}", text::trimmed(&out));
    left(of.functions.len(), most, "functions");
}

fn left(number: usize, most: usize, what: &str) {
    if number > most {
        println!("and {} more {what}: --all", number - most);
    }
}

/// Since when, and what decides.
pub(super) fn since(group: &FleetGroup, banding: &FleetBanding) {
    let since = &banding.since;
    since.says.iter().for_each(|line| println!("{}", clean(line)));
    for switch in since.switches.iter().take(FIRST) {
        let after = match switch.after_start {
            Some(after) => format!(", {} after its process began", human(after as f64 / 1e9, "s")),
            None => String::new(),
        };
        let to = if switch.up { "upper" } else { "lower" };
        println!("{} went to the {to} band at {}{after}.", clean(group.name(switch.recording)), utc(switch.at));
    }
    left(since.switches.len(), FIRST, "switches");
}

//! What a fleet answers in sentences: the same in text, in Markdown and on the page. Names in them are as they were recorded; who prints them takes
//! control characters out.

use super::{FleetAtMost, FleetBand, FleetFact, FleetLine, FleetRule, FleetWork};
use crate::ask::{Asked, Banding, Group};
use crate::statistics::bands::Found;
use crate::statistics::share::{chance, simple};
use crate::statistics::since::Drawn;
use crate::{Anchor, Around, OneHost, Since};
use query::{human, times};

/// Names in a sentence.
const NAMED: usize = 8;

/// Facts, and metrics, where a sentence must do for all that separates a band.
const BRIEF: usize = 3;

/// A value of a fact is shown there up to so many characters.
const LONGEST: usize = 40;

/// Some of a list in words.
pub fn some(names: &[String]) -> String {
    match names.len() {
        0 => "none".to_owned(),
        n if n <= NAMED => names.join(", "),
        _ => format!("{}, and more", names.get(..NAMED).unwrap_or(names).join(", ")),
    }
}

/// The first of a list in words, and how many more there are.
pub fn more(names: &[String], most: usize) -> String {
    match names.len().saturating_sub(most) {
        0 => names.join(", "),
        left => format!("{}, and {left} more", names.get(..most).unwrap_or(names).join(", ")),
    }
}

/// "1 recording", "3 recordings".
fn recordings(count: usize) -> String {
    if count == 1 { "1 recording".to_owned() } else { format!("{count} recordings") }
}

/// "12.5": a share in per cent.
fn per_cent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

impl FleetBand {
    /// Its share with its interval: "8 of 64, 12.5 % (95 % CI 5.6–23.2 %)".
    pub fn share(&self) -> String {
        let [of, low, high] = [self.count as f64 / self.of as f64, self.share.low, self.share.high].map(per_cent);
        format!("{} of {}, {of} % (95 % CI {low}–{high} %)", self.count, self.of)
    }
}

/// The ratio of two middles, 1 at least, where that can be said.
fn ratio(one: &FleetBand, other: &FleetBand) -> Option<f64> {
    let ratio = (one.middle / other.middle).max(other.middle / one.middle);
    (ratio.is_finite() && ratio > 0.0).then_some(ratio)
}

/// How far two bands are apart: "2.6× between them".
fn apart(unit: &str, one: &FleetBand, other: &FleetBand) -> String {
    match ratio(one, other) {
        Some(ratio) => format!("{} between them", times(ratio)),
        None => format!("{} between them", human((one.middle - other.middle).abs(), unit)),
    }
}

fn names(facts: &[(String, String)]) -> Vec<String> {
    facts.iter().map(|(category, name)| format!("{category}.{name}")).collect()
}

/// Names of the facts that divide as the bands do: `CATEGORY.NAME`.
pub(super) fn facts(banding: &Banding) -> Vec<String> {
    names(&banding.facts)
}

/// What facts the bands are the values of, with these names; empty where there are none.
fn values_of(banding: &Banding, named: impl Fn(&[String]) -> String) -> String {
    match &banding.border {
        _ if !banding.facts.is_empty() => format!("The bands are the values of {}", named(&names(&banding.facts))),
        Some((after, facts)) => {
            format!("What divides bands {} and {} are the values of {}", after + 1, after + 2, named(&names(facts)))
        }
        None => String::new(),
    }
}

/// The banding in one sentence.
pub(super) fn title(group: &Group, banding: &Banding, asked: &Asked, bands: &[FleetBand]) -> String {
    let (Some(first), Some(last)) = (bands.first(), bands.last()) else { return String::new() };
    let (name, unit) = (asked.metric.key.to_string(), asked.metric.unit());
    let hosts: Vec<&str> = group.recordings.iter().map(|of| &*of.host).collect();
    let what = if hosts.windows(2).any(|pair| pair[0] == pair[1]) { "recordings" } else { "hosts" };
    let of = format!("{} of {} {what}", first.count, first.of);
    let pace = &*asked.metric.key.metric == crate::summary::DONE && !asked.metric.key.per_operation;
    let said = match (bands.len(), ratio(first, last)) {
        (2, Some(ratio)) if pace => format!("{of} do {} the work per second of the others.", times(ratio)),
        (2, _) => {
            let [one, rest] = [first, last].map(|band| human(band.middle, unit));
            format!("{of} stand apart by `{name}`: {one} against {rest} on the others.")
        }
        (count, _) => {
            let each: Vec<String> =
                bands.iter().map(|band| format!("{} at {}", band.count, human(band.middle, unit))).collect();
            format!("{} {what} fall into {count} bands by `{name}`: {}.", first.of, each.join(", "))
        }
    };
    match values_of(banding, |facts| format!("`{}`", facts.first().map_or("", String::as_str))) {
        none if none.is_empty() => said,
        facts => format!("{facts}: {said}"),
    }
}

/// The banding in a sentence or three, with its numbers.
pub(super) fn headline(banding: &Banding, asked: &Asked, bands: &[FleetBand]) -> Vec<String> {
    let (Some(first), Some(last)) = (bands.first(), bands.last()) else { return Vec::new() };
    let (name, unit) = (asked.metric.key.to_string(), asked.metric.unit());
    let mut lines = Vec::new();
    let facts = values_of(banding, some);
    if !facts.is_empty() {
        lines.push(format!("{facts}."));
    }
    lines.push(format!(
        "{} bands by {name}: {} at {}, {} at {}: {}; p = {:.3}.",
        bands.len(),
        first.share(),
        human(first.middle, unit),
        if bands.len() == 2 { "the others" } else { "the last" },
        human(last.middle, unit),
        apart(unit, last, first),
        banding.p
    ));
    if let Some(lost) = banding.lost.filter(|lost| *lost >= 0.005) {
        lines.push(format!(
            "At the pace of the best band the fleet would take {:.0} % less time for its work.",
            100.0 * lost
        ));
    }
    lines
}

/// Which simple shares that of the smaller of two bands leaves open.
pub(super) fn shares(found: &Found) -> Vec<String> {
    let [one, other] = found.bands.as_slice() else { return Vec::new() };
    let smaller = if one.share.count <= other.share.count { one } else { other };
    let simple = simple(smaller.share.count, smaller.share.of);
    let words = |within: bool| -> Vec<String> {
        simple.iter().filter(|s| s.within == within).map(|s| format!("1/{}", s.of)).collect()
    };
    let (within, out) = (words(true), words(false));
    if within.is_empty() {
        return Vec::new();
    }
    let not = if out.is_empty() { String::new() } else { format!(", not {}", out.join(", ")) };
    let mut lines = vec![format!("The smaller band's share may be {}{not}.", within.join(" or "))];
    for of in simple.iter().filter(|s| s.within && s.of >= 8).map(|s| s.of).take(1) {
        let what = chance(of);
        if !what.is_empty() {
            lines.push(format!("1/{of} is the chance that {what}."));
        }
    }
    lines
}

/// A length of time: "128 s", "12 min", "83 h".
fn long(seconds: f64) -> String {
    match seconds {
        s if s >= 7200.0 => format!("{:.0} h", s / 3600.0),
        s if s >= 600.0 => format!("{:.0} min", s / 60.0),
        s => human(s, "s"),
    }
}

/// How long after something: "31 min", "from 31 min to 35 min", "42 s before to 3 s".
fn after((first, last): (i64, i64)) -> String {
    let [low, high] = [first, last].map(|ns| long((ns as f64 / 1e9).abs()));
    match (first < 0, low == high) {
        (false, true) => format!("{high} after"),
        (false, false) => format!("{low} to {high} after"),
        (true, _) if last <= 0 => format!("{low} to {high} before"),
        (true, _) => format!("{low} before to {high} after"),
    }
}

/// What switches lie close to.
fn around(of: &Around) -> String {
    let all = if of.switches == of.of { "All ".to_owned() } else { format!("{} of ", of.switches) };
    let lie = match &of.what {
        Anchor::Mark(text) => format!("{} the mark \"{text}\"", after(of.after)),
        Anchor::Start => format!("{} the start of the workload", after(of.after)),
        Anchor::Boot => format!("{} the boot of their hosts", after(of.after)),
        Anchor::Clock => format!("between {} and {}", model::utc(of.after.0), model::utc(of.after.1)),
    };
    format!("{all}{} changes of the band lie {lie} (p = {:.3}).", of.of, of.p.max(0.001))
}

/// Since when, without the switches. `facts`: what the bands are the values of.
pub(super) fn since(since: &Since, facts: &[String]) -> Vec<String> {
    let mut lines = Vec::new();
    if since.steady > 0 {
        let watched = long(since.watched);
        let steady = recordings(since.steady);
        lines.push(format!("{steady} did not change their bands, in {watched} of recordings in all."));
    }
    lines.extend(since.around.iter().map(around));
    match since.one_host {
        Some(OneHost::EachStart) if !facts.is_empty() => {
            lines.push("All recordings are of one host and lie in several bands: each start has that of its fact.".to_owned());
        }
        Some(OneHost::EachStart) => {
            lines.push("All recordings are of one host and lie in several bands: each start draws its band.".to_owned());
        }
        Some(OneHost::Stretches(p)) => lines.push(format!(
            "All recordings are of one host, whose bands come in stretches of time (p = {p:.3}): what changed meanwhile decides."
        )),
        None => {}
    }
    if let Some(starts) = &since.starts {
        let said = match starts.drawn {
            Drawn::WithHost => "the band stays with the host",
            Drawn::Partly => "the band mostly stays with the host",
            Drawn::EachStart => "each start draws its band",
            Drawn::NotKnown => "too few hosts have several recordings to say whether the band stays with the host",
        };
        lines.push(format!(
            "Of {} pairs of recordings of one host {} are in one band (by chance {:.0} %): {said}.",
            starts.same.1,
            starts.same.0,
            100.0 * starts.by_chance
        ));
    }
    lines
}

/// How many lines separate a band.
pub(super) fn separates(band: usize, others: &str, of: &crate::Separated) -> String {
    match of.hosts_needed {
        Some(needed) => format!(
            "What separates band {band} from {others}: too few recordings to say by {} metrics; it takes {needed}.",
            of.tested
        ),
        None => format!(
            "What separates band {band} from {others}: {} of {} lines, where bands at random would have {} at most.",
            of.lines.len(),
            of.tested,
            of.by_chance
        ),
    }
}

/// The first facts and metrics of what separates a band.
pub(super) fn brief(band: usize, facts: &[FleetFact], lines: &[FleetLine]) -> String {
    let value = |text: &str| match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(text)),
        None => text.to_owned(),
    };
    let of_facts = facts.iter().take(BRIEF).map(|fact| format!("{} = {}", fact.fact, value(&fact.value)));
    let first: Vec<String> = of_facts.chain(lines.iter().take(BRIEF).map(|line| line.metric.clone())).collect();
    let more = match facts.len() + lines.len() - first.len() {
        _ if first.is_empty() => return String::new(),
        0 => String::new(),
        left => format!(", and {left} more"),
    };
    format!("What separates band {band}: {}{more}.", first.join(", "))
}

/// The rule. `cuts`: `METRIC above VALUE`.
pub(super) fn rule(band: usize, cuts: &[String], rule: &FleetRule) -> String {
    format!(
        "Rule: band {band} is where {}: wrong for {} of {} on other blocks of time ({} without a rule).",
        cuts.join(&format!(" {} ", rule.join)),
        rule.wrong_elsewhere,
        rule.hosts,
        rule.without
    )
}

/// What does not differ.
pub(super) fn not(band: usize, work: Option<&FleetWork>, at_most: Option<&FleetAtMost>) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(work) = work {
        let [low, high] = [work.low, work.high].map(|change| format!("{:+.1}", 100.0 * change));
        let said = if work.equal { "is equal" } else { "may differ" };
        lines.push(format!("The work {said}: band {band} does {low} to {high} % as much (90 % CI)."));
    }
    if let Some(most) = at_most {
        let function = most.function.as_ref().map_or_else(String::new, |name| format!("; `{name}` leaves most open"));
        lines.push(format!("No function's share differs by more than {} points{function}.", per_cent(most.by)));
    }
    lines
}

/// A fleet without bands, and what it would have shown.
pub(super) fn none(group: &Group) -> Vec<String> {
    let asked: Vec<&Asked> = group.asked.iter().filter(|asked| asked.found.is_some()).collect();
    let all = recordings(group.recordings.len());
    let Some(first) = asked.first() else {
        let why = match group.recordings.len() {
            0..=2 => "fewer than three recordings".to_owned(),
            _ => "by no metric do the recordings differ by more than their own errors".to_owned(),
        };
        return vec![format!("No bands: {all} asked, {why}.")];
    };
    let names: Vec<String> = asked.iter().map(|asked| asked.metric.key.to_string()).collect();
    let mut lines = vec![format!("No bands among {all}."), format!("Asked by {}.", some(&names))];
    let shown: Vec<String> = first
        .found
        .iter()
        .flat_map(|found| &found.shown)
        .map(|shown| {
            let by = match shown.ratio {
                Some(ratio) => format!("{} as much", times(ratio)),
                None => format!("{} more", human(shown.difference, first.metric.unit())),
            };
            format!("{:.0} % of them with {by}", 100.0 * shown.share)
        })
        .collect();
    if !shown.is_empty() {
        let name = &first.metric.key;
        lines.push(format!("By {name} it would have shown, with a chance of 80 %: {}.", shown.join("; ")));
    }
    lines
}

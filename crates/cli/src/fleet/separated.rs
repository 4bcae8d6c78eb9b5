//! What separates bands, since when they are there, and what a share may mean, in words.

use crate::text::{self, clean};
use ::fleet::statistics::bands::Found;
use ::fleet::statistics::rule::Join;
use ::fleet::statistics::share::{chance, simple};
use ::fleet::statistics::since::Drawn;
use ::fleet::words::{line_name, name, unit};
use ::fleet::{Banding, Group, OneHost, Separated};
use model::utc;
use query::human;

/// Lines shown unless all are asked for.
const FIRST: usize = 12;

/// Facts and metrics named where a line must do.
const BRIEF: usize = 3;

/// A value of a fact is shown up to so many characters.
const LONGEST: usize = 40;

fn points(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

/// What separates one band.
pub(super) fn print(group: &Group, banding: &Banding, of: &Separated, all: bool) {
    let others = if banding.order.len() == 2 { "band 2" } else { "the others" };
    let band = of.band + 1;
    println!();
    if let Some(needed) = of.hosts_needed {
        println!(
            "What separates band {band} from {others}: too few recordings to say by {} metrics; it takes {needed}.",
            of.tested
        );
    } else {
        println!(
            "What separates band {band} from {others}: {} of {} lines, where bands at random would have {} at most.",
            of.lines.len(),
            of.tested,
            of.by_chance
        );
    }
    facts(group, of, all, others);
    lines(group, of, all, others);
    places(group, of, all, others);
    if let Some((rule, metrics)) = &of.rule {
        let cuts: Vec<String> = rule
            .cuts
            .iter()
            .zip(metrics)
            .map(|(cut, of)| {
                let side = if cut.above { "above" } else { "below" };
                format!("{} {side} {}", line_name(group, *of), human(cut.at, unit(group, of.0)))
            })
            .collect();
        let join = if rule.join == Join::And { " and " } else { " or " };
        println!(
            "Rule: band {band} is where {}: wrong for {} of {} on other blocks of time ({} without a rule).",
            cuts.join(join),
            rule.wrong_elsewhere,
            rule.hosts,
            rule.without
        );
    }
    not(group, of);
}

/// What separates one band, in a line or two.
pub(super) fn brief(group: &Group, of: &Separated) {
    let facts = of.facts.listed.iter().filter_map(|difference| {
        let fact = group.facts.get(difference.fact)?;
        Some(format!("{}.{} = {}", fact.name.0, fact.name.1, text::cut(&difference.value, LONGEST)))
    });
    let lines = of.lines.iter().map(|line| line_name(group, line.metric));
    let first: Vec<String> = facts.take(BRIEF).chain(lines.take(BRIEF)).map(|name| clean(&name)).collect();
    let all = of.facts.listed.len() + of.lines.len();
    let more = if all > first.len() { format!(", and {} more", all - first.len()) } else { String::new() };
    if !first.is_empty() {
        println!("What separates band {}: {}{more}.", of.band + 1, first.join(", "));
    }
    not(group, of);
}

fn facts(group: &Group, of: &Separated, all: bool, others: &str) {
    let most = if all { usize::MAX } else { FIRST };
    if of.facts.listed.is_empty() {
        return;
    }
    let band = format!("band {}", of.band + 1);
    let mut out = text::table(&["fact", "value", &band, others, "q"], &[false, false, true, true, true]);
    for difference in of.facts.listed.iter().take(most) {
        let Some(fact) = group.facts.get(difference.fact) else { continue };
        out.add_row([
            clean(&format!("{}.{}", fact.name.0, fact.name.1)),
            text::cut(&clean(&difference.value), LONGEST),
            format!("{} of {}", difference.one.0, difference.one.1),
            format!("{} of {}", difference.rest.0, difference.rest.1),
            format!("{:.3}", difference.q),
        ]);
    }
    println!("{}", text::trimmed(&out));
    left(of.facts.listed.len(), most, "facts");
}

fn lines(group: &Group, of: &Separated, all: bool, others: &str) {
    let most = if all { usize::MAX } else { FIRST };
    if of.lines.is_empty() {
        return;
    }
    let band = format!("band {}", of.band + 1);
    let header = ["metric", &band, others, "shift (95 % CI)", "tells apart", ""];
    let mut out = text::table(&header, &[false, true, true, false, true, false]);
    for line in of.lines.iter().take(most) {
        let (difference, unit) = (&line.difference, unit(group, line.metric.0));
        let with: Vec<String> = line.with.iter().map(|of| line_name(group, *of)).collect();
        let with = match (with.len(), all) {
            (0, _) => String::new(),
            (_, true) => format!("with {}", with.join(", ")),
            (n, false) => format!("+{n} that move with it"),
        };
        out.add_row([
            line_name(group, line.metric),
            human(difference.middles.0, unit),
            human(difference.middles.1, unit),
            interval(&difference.shift, unit),
            format!("{:.0} %", 100.0 * difference.superiority.max(1.0 - difference.superiority)),
            with,
        ]);
    }
    println!("{}", text::trimmed(&out));
    left(of.lines.len(), most, "metrics");
}

/// "+3.1 ms (2.0 ms to 4.2 ms)".
fn interval(effect: &query::stats::rank::Effect, unit: &str) -> String {
    let sign = if effect.estimate > 0.0 { "+" } else { "" };
    let estimate = human(effect.estimate, unit);
    format!("{sign}{estimate} ({} to {})", human(effect.low, unit), human(effect.high, unit))
}

fn places(group: &Group, of: &Separated, all: bool, others: &str) {
    let most = if all { usize::MAX } else { FIRST };
    if of.places.is_empty() {
        return;
    }
    let band = format!("band {}", of.band + 1);
    let mut out = text::table(&["function", "state", &band, others, "tells apart"], &[false, false, true, true, true]);
    for line in of.places.iter().take(most) {
        let Some(place) = group.places.get(line.place) else { continue };
        let difference = &line.difference;
        out.add_row([
            clean(&place.function),
            clean(&place.state),
            format!("{} %", points(difference.middles.0)),
            format!("{} %", points(difference.middles.1)),
            format!("{:.0} %", 100.0 * difference.superiority.max(1.0 - difference.superiority)),
        ]);
    }
    println!("{}", text::trimmed(&out));
    left(of.places.len(), most, "functions");
}

fn left(number: usize, most: usize, what: &str) {
    if number > most {
        println!("and {} more {what}: --all", number - most);
    }
}

/// What does not differ.
fn not(group: &Group, of: &Separated) {
    if let Some(work) = &of.work {
        let [low, high] = [work.low, work.high].map(|change| format!("{:+.1}", 100.0 * change));
        if work.equal {
            println!("The work is equal: band {} does {low} to {high} % as much (90 % CI).", of.band + 1);
        } else {
            println!("The work may differ: band {} does {low} to {high} % as much (90 % CI).", of.band + 1);
        }
    }
    if let Some((by, place)) = of.places_at_most {
        let function = group
            .places
            .get(place)
            .map_or_else(String::new, |place| format!("; `{}` leaves most open", clean(&place.function)));
        println!("No function's share differs by more than {} points{function}.", points(by));
    }
}

/// Since when, and what decides.
pub(super) fn since(group: &Group, banding: &Banding) {
    let since = &banding.since;
    if since.steady > 0 {
        let watched = human(since.watched, "s");
        println!(
            "{} did not change their bands, in {watched} of recordings in all.",
            super::add::recordings(since.steady)
        );
    }
    for switch in since.switches.iter().take(FIRST) {
        let after = match switch.after_start {
            Some(after) => format!(", {} after its process began", human(after as f64 / 1e9, "s")),
            None => String::new(),
        };
        let to = if switch.up { "upper" } else { "lower" };
        println!("{} went to the {to} band at {}{after}.", name(group, switch.recording), utc(switch.at));
    }
    left(since.switches.len(), FIRST, "switches");
    match since.one_host {
        Some(OneHost::EachStart) => {
            println!("All recordings are of one host and lie in several bands: each start draws its band.");
        }
        Some(OneHost::Stretches(p)) => println!(
            "All recordings are of one host, whose bands come in stretches of time (p = {p:.3}): what changed meanwhile decides."
        ),
        None => {}
    }
    if let Some(starts) = &since.starts {
        let said = match starts.drawn {
            Drawn::WithHost => "the band stays with the host",
            Drawn::Partly => "the band mostly stays with the host",
            Drawn::EachStart => "each start draws its band",
            Drawn::NotKnown => "too few hosts have several recordings to say whether the band stays with the host",
        };
        println!(
            "Of {} pairs of recordings of one host {} are in one band (by chance {:.0} %): {said}.",
            starts.same.1,
            starts.same.0,
            100.0 * starts.by_chance
        );
    }
}

/// Which simple shares that of the smaller of two bands leaves open.
pub(super) fn share(found: &Found) {
    let [one, other] = found.bands.as_slice() else { return };
    let smaller = if one.share.count <= other.share.count { one } else { other };
    let simple = simple(smaller.share.count, smaller.share.of);
    let words = |within: bool| -> Vec<String> {
        simple.iter().filter(|s| s.within == within).map(|s| format!("1/{}", s.of)).collect()
    };
    let (within, out) = (words(true), words(false));
    if within.is_empty() {
        return;
    }
    print!("The smaller band's share may be {}", within.join(" or "));
    if !out.is_empty() {
        print!(", not {}", out.join(", "));
    }
    println!(".");
    for of in simple.iter().filter(|s| s.within && s.of >= 8).map(|s| s.of).take(1) {
        let what = chance(of);
        if !what.is_empty() {
            println!("1/{of} is the chance that {what}.");
        }
    }
}

//! The words for what a fleet answers, shared by the terminal, Markdown and agents.

use crate::statistics::bands::{Band, Found};
use crate::{Asked, Banding, Group, Of};
use model::clean;
use query::{human, times};

/// Names in a list that must be short.
const NAMED: usize = 8;

/// The bands of a banding in its order, best first.
pub fn in_order<'a>(found: &'a Found, banding: &'a Banding) -> impl Iterator<Item = &'a Band> {
    banding.order.iter().filter_map(|band| found.bands.get(*band))
}

/// A share with its interval: "12 % (95 % CI 5–23 %)".
pub fn share(band: &Band) -> String {
    let [of, low, high] = [band.share.count as f64 / band.share.of as f64, band.share.low, band.share.high]
        .map(|share| format!("{:.1}", 100.0 * share));
    format!("{} of {}, {of} % (95 % CI {low}–{high} %)", band.share.count, band.share.of)
}

/// How far two bands are apart: "2.6× between them".
pub fn apart(asked: &Asked, one: &Band, other: &Band) -> String {
    let ratio = (one.middle / other.middle).max(other.middle / one.middle);
    if ratio.is_finite() && ratio > 0.0 {
        format!("{} between them", times(ratio))
    } else {
        format!("{} between them", human((one.middle - other.middle).abs(), asked.metric.unit()))
    }
}

/// The banding in a sentence or three.
pub fn headline(group: &Group, banding: &Banding) -> Vec<String> {
    let Some((asked, found)) = group.named(banding) else { return Vec::new() };
    let ordered: Vec<&Band> = in_order(found, banding).collect();
    let (Some(first), Some(last)) = (ordered.first(), ordered.last()) else { return Vec::new() };
    let (name, unit) = (clean(&asked.metric.key.to_string()), asked.metric.unit());
    let facts: Vec<String> = banding.facts.iter().map(|(c, n)| clean(&format!("{c}.{n}"))).collect();
    let mut lines = Vec::new();
    if !facts.is_empty() {
        lines.push(format!("The bands are the values of {}.", some(&facts)));
    }
    lines.push(format!(
        "{} bands by {name}: {} at {}, {} at {}: {}; p = {:.3}.",
        found.bands.len(),
        share(first),
        human(first.middle, unit),
        if ordered.len() == 2 { "the others" } else { "the last" },
        human(last.middle, unit),
        apart(asked, last, first),
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

/// What a recording is called: its host, and its own name where the host has several.
pub fn name(group: &Group, at: usize) -> String {
    let Some(of) = group.recordings.get(at) else { return String::new() };
    let several = group.recordings.iter().filter(|other| other.host == of.host).count() > 1;
    if several { clean(&format!("{} {}", of.host, of.run)) } else { clean(&of.host) }
}

/// Some of a list in words.
pub fn some(names: &[String]) -> String {
    match names.len() {
        0 => "none".to_owned(),
        n if n <= NAMED => names.join(", "),
        _ => format!("{}, and more", names.get(..NAMED).unwrap_or(names).join(", ")),
    }
}

/// What a line is of.
pub fn line_name(group: &Group, (metric, of): (usize, Of)) -> String {
    let name = group.metrics.get(metric).map_or_else(String::new, |metric| clean(&metric.key.to_string()));
    if of == Of::Deviation { format!("variation of {name}") } else { name }
}

/// The unit of what a line is of.
pub fn unit(group: &Group, metric: usize) -> &str {
    group.metrics.get(metric).map_or("", |metric| metric.unit())
}

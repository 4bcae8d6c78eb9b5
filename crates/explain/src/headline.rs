//! The comparison in a sentence or two that a manager can read.

use crate::{Comparison, Difference, Per};
use query::Run;

/// What kind of answer it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// Something differs.
    Differs,
    /// Nothing differs.
    Same,
    /// One recording: nothing to compare.
    #[default]
    Single,
    /// Too little was recorded to say.
    Unsure,
}

/// The answer in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headline {
    /// One sentence.
    pub headline: String,
    /// One or two more.
    pub detail: String,
    /// What kind of answer it is.
    pub level: Level,
}

/// How many times, in words: "2.9× as long", "12 % longer".
fn times(ratio: f64, more: &str, less: &str) -> String {
    match ratio {
        r if r >= 1.5 => format!("{r:.1}× {more}"),
        r if r >= 1.0 => format!("{:.0} % {more}", (r - 1.0) * 100.0),
        r if r > 1.0 / 1.5 => format!("{:.0} % {less}", (1.0 - r) * 100.0),
        r => format!("{:.1}× {less}", 1.0 / r),
    }
}

/// The pace of a run: what can be set against another's.
fn pace(baseline: &Run, other: &Run) -> Option<String> {
    let (a, b) = (baseline.recording.manifest(), other.recording.manifest());
    let seconds = |m: &model::Manifest| m.wall.map(|w| w as f64 / 1e9).filter(|w| *w > 0.0);
    let (wa, wb) = (seconds(a)?, seconds(b)?);
    if let (Some(ja), Some(jb)) = (&a.work, &b.work)
        && ja.unit == jb.unit
        && ja.total > 0.0
        && jb.total > 0.0
    {
        let ratio = (jb.total / wb) / (ja.total / wa);
        return Some(if (0.98..=1.02).contains(&ratio) {
            format!("{} does as many {} per second as {}.", other.name, ja.unit, baseline.name)
        } else {
            format!(
                "{} does {} {} per second than {}.",
                other.name,
                times(ratio, "more", "fewer"),
                ja.unit,
                baseline.name
            )
        });
    }
    let ratio = wb / wa;
    Some(if (0.98..=1.02).contains(&ratio) {
        format!("{} takes as long as {} ({wb:.1} s).", other.name, baseline.name)
    } else {
        format!(
            "{} takes {} than {} ({wb:.1} s against {wa:.1} s).",
            other.name,
            times(ratio, "longer", "less time"),
            baseline.name
        )
    })
}

/// A difference in words: what it is, of what, and by how much.
fn phrase(d: &Difference) -> String {
    let labels: Vec<&str> = d.labels.values().map(String::as_str).collect();
    let of = if labels.is_empty() { String::new() } else { format!(" of {}", labels.join(", ")) };
    let per = if d.per == Per::Operation { " per operation" } else { "" };
    let by = match d.change {
        Some(c) if c >= 1000.0 => format!("{} times as many", query::human(c + 1.0, "")),
        Some(c) if c > -1.0 => times(1.0 + c, "more", "less"),
        Some(_) => "none any more".into(),
        None => "none before".into(),
    };
    let what = d.help.split([';', ',', ':']).next().unwrap_or(&d.metric);
    format!("{what}{of}{per} ({}: {by})", d.metric)
}

/// Puts a comparison into words.
pub(crate) fn of(runs: &[Run], comparison: &Comparison) -> Headline {
    let Some((baseline, others)) = runs.split_first() else { return Headline::default() };
    if others.is_empty() {
        let seconds = baseline.recording.duration() as f64 / 1e9;
        let headline = format!("{} was recorded for {seconds:.1} s.", baseline.name);
        return Headline {
            headline,
            detail: "With a second recording its differences are shown here.".into(),
            level: Level::Single,
        };
    }
    let paces: Vec<String> = others.iter().filter_map(|other| pace(baseline, other)).collect();
    let found = comparison.differences.len();
    if comparison.compared == 0 {
        let detail =
            "No metric has enough samples in both windows; record for longer, or with a shorter interval (-i 100ms)."
                .into();
        let headline = if paces.is_empty() { "Too little was recorded to compare.".into() } else { paces.join(" ") };
        return Headline { headline, detail, level: Level::Unsure };
    }
    if found == 0 {
        let headline = if paces.is_empty() { "No difference was found.".into() } else { paces.join(" ") };
        let detail = format!(
            "None of {} comparisons shows a difference that is both sure and large enough to matter.",
            comparison.compared
        );
        return Headline { headline, detail, level: Level::Same };
    }
    let mut named: Vec<&Difference> = Vec::new();
    for d in &comparison.differences {
        if named.len() < 3 && !named.iter().any(|n| n.metric == d.metric) {
            named.push(d);
        }
    }
    let named: Vec<String> = named.into_iter().map(phrase).collect();
    let several =
        if found == 1 { "One difference is sure".to_owned() } else { format!("{found} differences are sure") };
    let detail = format!("{several}, out of {} comparisons; first of all {}.", comparison.compared, named.join(", "));
    let headline =
        if paces.is_empty() { format!("{} differs from {}.", names(others), baseline.name) } else { paces.join(" ") };
    Headline { headline, detail, level: Level::Differs }
}

fn names(runs: &[Run]) -> String {
    runs.iter().map(|r| r.name.as_str()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::times;

    #[test]
    fn ratios_in_words() {
        assert_eq!(times(2.94, "longer", "less"), "2.9× longer");
        assert_eq!(times(1.12, "longer", "less"), "12 % longer");
        assert_eq!(times(0.9, "longer", "less"), "10 % less");
        assert_eq!(times(0.25, "longer", "less"), "4.0× less");
    }
}

//! The comparison in a sentence or two that a manager can read.

use crate::compare::DONE;
use crate::{Comparison, Difference, Per, window};
use query::{Run, percent, ratio, times};

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

/// The throughput of the other side as a ratio to the baseline's: by the work done, else by the time taken where the windows are whole runs.
fn pace(runs: &[Run], comparison: &Comparison, other: usize) -> Option<String> {
    let done = |d: &&Difference| d.metric == DONE && d.run == other;
    let life = |i: usize| comparison.windows.get(i).is_some_and(window::is_life);
    // Of repeats, all that belong to the side.
    let side = |first: usize| match comparison.repeats {
        0 => first..first + 1,
        repeats if first == 0 => 0..repeats,
        repeats => repeats..runs.len(),
    };
    let mean = |first: usize, of: &dyn Fn(&model::Manifest) -> Option<f64>| {
        let each: Option<Vec<f64>> = runs.get(side(first))?.iter().map(|r| of(r.recording.manifest())).collect();
        each.filter(|e| !e.is_empty()).map(|e| e.iter().sum::<f64>() / e.len() as f64)
    };
    let (a, b) = (&runs.first()?.name, &runs.get(other)?.name);
    let unit = |i: usize| runs.get(i)?.recording.manifest().work.as_ref().map(|w| w.unit.clone());
    let seconds = |m: &model::Manifest| m.wall.map(|w| w as f64 / 1e9).filter(|w| *w > 0.0);
    let worked = |m: &model::Manifest| m.work.as_ref().filter(|w| w.total > 0.0).map(|w| w.total);
    if let (Some(unit), true) = (unit(0), unit(0) == unit(other)) {
        let rate = |m: &model::Manifest| Some(worked(m)? / seconds(m)?);
        let ratio = match comparison.differences.iter().find(done) {
            Some(d) if d.baseline > 0.0 && !(life(0) && life(other)) => Some(d.other / d.baseline),
            _ if life(0) && life(other) => Some(mean(other, &rate)? / mean(0, &rate)?),
            _ => None,
        };
        return ratio.map(|ratio| match ratio {
            0.98..=1.02 => format!("{b} does as many {unit} per second as {a}."),
            _ => format!("{b} does {} as many {unit} per second as {a}{}.", times(ratio), change(ratio)),
        });
    }
    if !(life(0) && life(other)) {
        return None;
    }
    let (wa, wb) = (mean(0, &seconds)?, mean(other, &seconds)?);
    let ratio = wb / wa;
    Some(if (0.98..=1.02).contains(&ratio) {
        format!("{b} takes as long as {a} ({wb:.1} s).")
    } else {
        format!("{b} takes {} as long as {a} ({wb:.1} s, baseline {wa:.1} s).", times(ratio))
    })
}

/// A change in per cent after a blank, where it is below twofold.
fn change(ratio: f64) -> String {
    if ratio < 1.995 { format!(" ({})", percent(ratio - 1.0)) } else { String::new() }
}

/// A difference in words: what it is, of what, and by how much.
fn phrase(d: &Difference) -> String {
    let labels: Vec<&str> = d.labels.values().map(String::as_str).collect();
    let of = if labels.is_empty() { String::new() } else { format!(" of {}", labels.join(", ")) };
    let per = if d.per == Per::Operation { " per operation" } else { "" };
    let by = match d.change {
        Some(c) if c > -1.0 => ratio(1.0 + c),
        Some(_) => "gone".into(),
        None => "new".into(),
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
            detail: "Name a second recording to see the differences.".into(),
            level: Level::Single,
        };
    }
    let others: Vec<usize> = match comparison.repeats {
        0 => (1..runs.len()).collect(),
        repeats => vec![repeats],
    };
    let paces: Vec<String> = others.iter().filter_map(|&other| pace(runs, comparison, other)).collect();
    let found = comparison.differences.len();
    if comparison.compared == 0 {
        if runs.iter().all(|r| r.recording.manifest().labels.contains_key("imported")) {
            let detail =
                "Imported profiles contain only stacks: `twinscope flame A --against B` compares those.".into();
            return Headline {
                headline: "There is nothing to compare except stacks.".into(),
                detail,
                level: Level::Unsure,
            };
        }
        let detail =
            "No metric has enough samples in both windows; record for longer, or with a shorter interval (-i 100ms)."
                .into();
        // What the whole runs took says nothing of a stretch in which nothing was judged.
        return Headline { headline: "Too little was recorded to compare.".into(), detail, level: Level::Unsure };
    }
    if found == 0 {
        let headline = if paces.is_empty() { "No difference was found.".into() } else { paces.join(" ") };
        let detail = format!(
            "None of {} comparisons shows a difference that is both significant and large enough to matter.{}",
            comparison.compared,
            phases(runs, comparison)
        );
        return Headline { headline, detail, level: Level::Same };
    }
    let mut named: Vec<&Difference> = Vec::new();
    // The pace is what the first sentence says.
    let all = || comparison.differences.iter();
    let explains = all().any(|d| d.metric != DONE);
    for d in all().filter(|d| !explains || d.metric != DONE) {
        if named.len() < 3 && !named.iter().any(|n| n.metric == d.metric) {
            named.push(d);
        }
    }
    let named: Vec<String> = named.into_iter().map(phrase).collect();
    let several =
        if found == 1 { "One significant difference".to_owned() } else { format!("{found} significant differences") };
    let detail = format!(
        "{several} in {} comparisons, first of all {}.{}",
        comparison.compared,
        named.join(", "),
        phases(runs, comparison)
    );
    let names: Vec<&str> = others.iter().filter_map(|&i| runs.get(i)).map(|r| r.name.as_str()).collect();
    let headline = if paces.is_empty() {
        format!("{} differs from {}.", names.join(", "), baseline.name)
    } else {
        paces.join(" ")
    };
    Headline { headline, detail, level: Level::Differs }
}

/// The phases in words, after a blank.
fn phases(runs: &[Run], comparison: &Comparison) -> String {
    let name = |i: usize| runs.get(i).map_or_else(String::new, |r| r.name.clone());
    comparison.phases.iter().map(|p| format!(" {}", p.words(name))).collect()
}

#[cfg(test)]
mod tests {
    use super::{change, times};

    #[test]
    fn ratios_in_words() {
        let words = |ratio| format!("does {} as many{}", times(ratio), change(ratio));
        assert_eq!(words(2.94), "does 2.9× as many");
        assert_eq!(words(1.12), "does 1.12× as many (+12 %)");
        assert_eq!(words(0.25), "does 0.25× as many (−75 %)");
    }
}

//! The comparison in a sentence or two that a manager can read.

use crate::comparison::DONE;
use crate::latency::LATENCY;
use crate::work::Unit;
use crate::{Comparison, Difference, Pace, Per};
use query::{Run, ratio, times};

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

/// How long the other side takes as a ratio to the baseline: per unit of the work done, else for whole runs where the windows are such.
fn pace(runs: &[Run], comparison: &Comparison, paces: &[Option<Pace>], other: usize) -> Option<String> {
    // Of repeats, all that belong to the side.
    let side = |first: usize| match comparison.repeats {
        0 => first..first + 1,
        repeats if first == 0 => 0..repeats,
        repeats => repeats..runs.len(),
    };
    let (a, b) = (&runs.first()?.name, &runs.get(other)?.name);
    let unit = |i: usize| runs.get(i)?.recording.manifest().work.as_ref().map(|w| w.unit.clone());
    if let (Some(unit), true) = (unit(0), unit(0) == unit(other)) {
        let of = |first: usize| Pace::sum(side(first).map(|run| paces.get(run).copied().flatten())).map(Pace::rate);
        // As `explain` says it, so that both print one number; and what is known of it as a rate.
        let throughput = of(other)? / of(0)?;
        let unit = Unit::Operation(unit);
        return Some(match throughput {
            0.98..=1.02 => format!("{b} takes as long per {} as {a}.", unit.name()),
            _ => format!(
                "{b} takes {} as long per {} as {a}: throughput {}.",
                times(1.0 / throughput),
                unit.name(),
                ratio(throughput)
            ),
        });
    }
    let whole = |run: usize| Pace::of_whole(runs.get(run)?, comparison.windows.get(run)?);
    let of = |first: usize| Pace::sum(side(first).map(whole)).map(Pace::elapsed);
    let (wa, wb) = (of(0)?, of(other)?);
    let ratio = wb / wa;
    Some(if (0.98..=1.02).contains(&ratio) {
        format!("{b} takes as long as {a} ({wb:.1} s).")
    } else {
        format!("{b} takes {} as long as {a} ({wb:.1} s, baseline {wa:.1} s).", times(ratio))
    })
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
pub(crate) fn of(runs: &[Run], comparison: &Comparison, paces: &[Option<Pace>]) -> Headline {
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
    let paces: Vec<String> = others.iter().filter_map(|&other| pace(runs, comparison, paces, other)).collect();
    // Requests that take longer while as many are answered are not in the pace.
    let latency: Vec<String> = others.iter().filter_map(|&other| comparison.of_latency(other)).collect();
    let found = comparison.differences.len();
    if comparison.compared == 0 {
        if runs.iter().all(|r| r.recording.manifest().is_import()) {
            const STACKS: [&str; 3] = ["frame", "stack", "sample"];
            let only_stacks = |r: &Run| r.recording.tables().all(|(_, table)| STACKS.contains(&table.name));
            let (headline, detail) = match runs.iter().all(only_stacks) {
                true => (
                    "There is nothing to compare except stacks.",
                    "Imported profiles contain only stacks: `twinscope flame A --against B` compares those.",
                ),
                false => (
                    "There is nothing to compare except events.",
                    "What was imported are samples, waits and pauses, without metrics over time: `twinscope flame A --against B` \
                     compares stacks, `twinscope sql` asks for the rest (jvm_pause).",
                ),
            };
            return Headline { headline: headline.into(), detail: detail.into(), level: Level::Unsure };
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
    // The pace, and latency where it is said, are what the first sentences say.
    let all = || comparison.differences.iter();
    let is_said = |d: &Difference| d.metric == DONE || !latency.is_empty() && d.metric.starts_with(LATENCY);
    let explains = all().any(|d| !is_said(d));
    for d in all().filter(|d| !explains || !is_said(d)) {
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
    let sentences: Vec<String> = paces.into_iter().chain(latency).collect();
    let headline = if sentences.is_empty() {
        format!("{} differs from {}.", names.join(", "), baseline.name)
    } else {
        sentences.join(" ")
    };
    Headline { headline, detail, level: Level::Differs }
}

/// The phases in words, after a blank.
fn phases(runs: &[Run], comparison: &Comparison) -> String {
    let name = |i: usize| runs.get(i).map_or_else(String::new, |r| r.name.clone());
    comparison.phases.iter().map(|p| format!(" {}", p.words(name))).collect()
}

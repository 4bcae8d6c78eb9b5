//! What the first screen says: which recording is explained against which, why it is slower, and where each finding points.

use crate::bundle;
use compare::Unit;
use compare::{Pace, PerSide, Side};
use explain::budget::{Estimate, Group, Moved, State, moved};
use explain::cause::Cause;
use explain::{Explain, Explanation, Finding, Note, Outcome, explain};
use model::{Page, Work};
use query::{Run, Stretch};
use std::collections::HashMap;
use std::path::PathBuf;
use store::Recording;

/// An explanation of one of the recordings of a report.
#[derive(Debug)]
pub struct Explained {
    /// Index of the recording that is explained.
    pub run: usize,
    /// Index of the one that it is held against; `None` for one recording alone.
    pub against: Option<usize>,
    /// What was found.
    pub explanation: Explanation,
    /// By recording, the seconds per unit of work in each state and elapsed; `None` where they cannot be told, or are per another unit.
    pub(crate) bars: Vec<Option<Bar>>,
    /// The pages to look at besides, by cause that was looked for.
    pub(crate) pages: HashMap<String, Vec<String>>,
}

/// What a recording's bar shows.
#[derive(Clone, Debug)]
pub(crate) struct Bar {
    /// Thread-seconds per unit of work.
    pub(crate) times: Vec<(State, f64)>,
    /// Elapsed seconds per unit.
    pub(crate) elapsed: f64,
    /// What was done, and in which time.
    pub(crate) done: Pace,
}

impl Bar {
    fn of(e: &Explanation, side: Side) -> Bar {
        let times = e.ledger.iter().map(|(state, times, _)| (*state, times[side])).collect();
        Bar { times, elapsed: e.elapsed[side], done: e.done[side] }
    }
}

fn is_slower(e: &Explanation) -> bool {
    matches!(e.outcome, Outcome::Slower | Outcome::MoreTime | Outcome::LongerRequests)
}

/// A recording of a report.
pub(crate) struct Source {
    /// What it is called there.
    name: String,
    path: PathBuf,
    /// Its work, which may have been counted from outside when it was opened.
    work: Option<Work>,
    /// The part of the recording that is meant.
    stretch: Option<Stretch>,
}

/// The recordings of a report, to be opened once more: an explanation keeps those that it asks, and is made beside the pages.
pub(crate) fn sources(runs: &[Run]) -> Vec<Source> {
    let source = |run: &Run| {
        let (path, work) = (run.recording.path().to_owned(), run.recording.manifest().work.clone());
        Source { name: run.name.clone(), path, work, stretch: run.stretch.clone() }
    };
    runs.iter().map(source).collect()
}

fn open(sources: &[Source], indexes: &[usize]) -> Result<Vec<Run>, String> {
    let open = |&index: &usize| {
        let Source { name, path, work, stretch } = sources.get(index).ok_or("no such recording")?;
        let mut recording = Recording::open(path).map_err(|e| e.to_string())?;
        recording.set_work(work.clone());
        Ok(Run { name: name.clone(), recording, stretch: stretch.clone() })
    };
    indexes.iter().map(open).collect()
}

/// Explains the first recording that is slower than the baseline, which is the first of them; where none is, the baseline by the first that is
/// faster; one recording by itself.
///
/// # Errors
/// In words: why nothing can be explained.
pub(crate) fn explained(runs: &[Source], options: &Explain) -> Result<Explained, String> {
    let pair = |slow: usize, fast: usize, options: &Explain| {
        explain(open(runs, &[slow, fast])?, 1, options).map_err(|e| e.to_string())
    };
    let pages = pages(&options.causes);
    if runs.len() < 2 {
        let explanation = explain(open(runs, &[0])?, 1, options).map_err(|e| e.to_string())?;
        let bars = vec![Some(Bar::of(&explanation, Side::Slow))];
        return Ok(Explained { run: 0, against: None, explanation, bars, pages });
    }
    // Of many recordings the causes are looked for in one pair only.
    let quick = Explain { causes: Vec::new(), ..options.clone() };
    let first = if runs.len() == 2 { options } else { &quick };
    let mut why = None;
    let mut asked: Vec<(usize, Explanation)> = Vec::new();
    for other in 1..runs.len() {
        match pair(other, 0, first) {
            Ok(explanation) => asked.push((other, explanation)),
            Err(error) => why = why.or(Some(error)),
        }
    }
    let mut chosen = asked.iter().find(|(_, e)| is_slower(e)).map(|(other, _)| (*other, 0));
    for (other, _) in &asked {
        if chosen.is_none() {
            chosen = Some(pair(0, *other, &quick)?).filter(is_slower).map(|_| (0, *other));
        }
    }
    let Some((run, against)) = chosen.or_else(|| asked.first().map(|(other, _)| (*other, 0))) else {
        return Err(why.unwrap_or_else(|| "there is nothing to explain".into()));
    };
    let mut bars: Vec<(usize, Unit, Option<Bar>)> =
        asked.iter().map(|(other, e)| (*other, e.unit.clone(), Some(Bar::of(e, Side::Slow)))).collect();
    let explanation = match runs.len() == 2 && against == 0 {
        true => asked.pop().map(|(_, e)| e).ok_or("there is nothing to explain")?,
        false => pair(run, against, options)?,
    };
    bars.extend(
        [(run, Side::Slow), (against, Side::Baseline)]
            .map(|(index, side)| (index, explanation.unit.clone(), Some(Bar::of(&explanation, side)))),
    );
    let of_run =
        |index: usize| bars.iter().rev().find(|(i, unit, _)| *i == index && *unit == explanation.unit)?.2.clone();
    let bars = (0..runs.len()).map(of_run).collect();
    Ok(Explained { run, against: Some(against), explanation, bars, pages })
}

impl Explained {
    /// What of the recorded states of the threads of a run belongs to other states.
    pub(crate) fn moved(&self, run: usize) -> HashMap<Group, Moved> {
        match run {
            run if run == self.run => moved(&self.explanation.waits, Side::Slow),
            run if Some(run) == self.against => moved(&self.explanation.waits, Side::Baseline),
            _ => HashMap::new(),
        }
    }
}

/// The page of instructions.
const INSTRUCTIONS: &str = "instructions";

/// Where to look for a cause that names no pages, by its layer.
const LAYERS: [(&str, &[&str]); 5] = [
    ("scheduling", &["scheduler"]),
    ("kernel", &["profiles"]),
    ("io", &["disks", "network"]),
    ("code", &["profiles"]),
    ("jvm", &["profiles"]),
];

/// The pages of the report to look at besides, by cause.
fn pages(causes: &[Cause]) -> HashMap<String, Vec<String>> {
    let of_layer = |layer: &str| LAYERS.iter().find(|(l, _)| *l == layer).map_or(&[][..], |(_, pages)| *pages);
    let of = |cause: &Cause| match cause.pages.is_empty() {
        true => of_layer(&cause.layer).iter().map(|&page| page.to_owned()).collect(),
        false => cause.pages.clone(),
    };
    causes.iter().map(|cause| (cause.id.clone(), of(cause))).collect()
}

/// Those of a cause's pages that this report has; all of it is on that of the time budget, where no other holds data.
fn places(pages: &HashMap<String, Vec<String>>, cause: &str, has: &dyn Fn(&str) -> bool) -> Vec<String> {
    let named = pages.get(cause).map_or(&[][..], Vec::as_slice);
    let found: Vec<String> = named.iter().filter(|page| has(page)).cloned().collect();
    let fallback = Page::TimeBudget.id();
    if found.is_empty() && has(fallback) { vec![fallback.to_owned()] } else { found }
}

/// An explanation apart from any report: no page is there to point to.
pub(crate) fn alone(explanation: Explanation) -> bundle::Explanation {
    let of = Explained { run: 1, against: Some(0), explanation, bars: Vec::new(), pages: HashMap::new() };
    head(&[], &of, &|_| false, &HashMap::new())
}

/// Which recording is explained, where that is not the plain case of a baseline and a slower recording.
fn which(runs: &[Run], e: &Explained) -> Option<String> {
    let name = |index: usize| runs.get(index).map_or("", |r| r.name.as_str());
    let against = e.against?;
    match (is_slower(&e.explanation), e.run) {
        (true, 0) => {
            Some(format!("{}, the baseline, is the slower one: it is explained against {}.", name(0), name(against)))
        }
        (true, run) if runs.len() > 2 => {
            Some(format!("Explained is {}, the first that is slower than {}, the baseline.", name(run), name(against)))
        }
        (false, run) if runs.len() > 2 => Some(format!(
            "No recording is slower or faster than {}, the baseline; {} is the one held against it.",
            name(against),
            name(run)
        )),
        _ => None,
    }
}

/// The explanation as the head tells it. `has`: whether the report holds a page.
///
/// `functions`: by what findings name, the place of a function on the page of instructions; that page comes first then.
pub(crate) fn head(
    runs: &[Run],
    e: &Explained,
    has: &dyn Fn(&str) -> bool,
    functions: &HashMap<String, usize>,
) -> bundle::Explanation {
    let x = &e.explanation;
    let finding = |f: &Finding| bundle::Finding {
        cause: f.cause.clone(),
        title: f.title.clone(),
        share: f.share.value,
        low: f.share.low,
        high: f.share.high,
        subject: f.subject.clone(),
        says: f.says.clone(),
        evidence: f.evidence.clone(),
        advice: f.advice.clone(),
        check: f.check.clone(),
        experiment: f.experiment.clone(),
        references: f.see.clone(),
        query: f.query.clone(),
        states: f.states.iter().map(|&(s, share)| bundle::StateShare { state: s.name().into(), share }).collect(),
        pages: {
            let mut pages = places(&e.pages, &f.cause, has);
            if functions.contains_key(&f.subject) && has(INSTRUCTIONS) {
                pages.retain(|page| page != INSTRUCTIONS);
                pages.insert(0, INSTRUCTIONS.to_owned());
            }
            pages
        },
        function: functions.get(&f.subject).copied(),
    };
    let note = |n: &Note| bundle::Note {
        cause: n.cause.clone(),
        text: n.text.clone(),
        pages: places(&e.pages, &n.cause, has),
    };
    let mut missing: Vec<bundle::NotEvaluated> = Vec::new();
    for n in &x.not_evaluated {
        match missing.iter_mut().find(|m| m.needs == n.needs) {
            Some(known) => known.causes.push(n.cause.clone()),
            None => missing.push(bundle::NotEvaluated { causes: vec![n.cause.clone()], needs: n.needs.clone() }),
        }
    }
    bundle::Explanation {
        run: e.run,
        against: e.against,
        outcome: match x.outcome {
            Outcome::Slower => bundle::Outcome::Slower,
            Outcome::NoSlower => bundle::Outcome::NoSlower,
            Outcome::Undecided => bundle::Outcome::Undecided,
            Outcome::Evenly => bundle::Outcome::EvenlySlower,
            Outcome::MoreTime => bundle::Outcome::MoreTime,
            Outcome::LongerRequests => bundle::Outcome::LongerRequests,
            Outcome::Alone => bundle::Outcome::Alone,
        },
        which: which(runs, e),
        findings: x.findings.iter().chain(&x.differs).map(finding).collect(),
        unexplained: x.unexplained,
        notes: x.notes.iter().map(note).collect(),
        not_evaluated: missing,
    }
}

/// Waiting for work is shown unasked where so much of the lost time is in it.
const WORTH: f64 = 0.1;

/// Where the time went: the same states and numbers as `twinscope explain` prints.
pub(crate) fn budget(runs: &[Run], e: &Explained) -> bundle::Budget {
    let x = &e.explanation;
    let unit = match x.unit {
        Unit::Operation(_) => "s/op",
        Unit::Run => "s",
        Unit::Second => "s/s",
    };
    let lost = x.outcome.is_loss();
    let ledger = crate::ledger::table(runs);
    let states = x.ledger.iter().map(|(state, _, share)| {
        let quiet = *state == State::Idle && !(lost && share.value >= WORTH);
        crate::ledger::state(ledger, *state, quiet)
    });
    let values = e.bars.iter().map(|bar| match bar {
        Some(bar) => bar.times.iter().map(|(_, time)| Some(*time)).collect(),
        None => vec![None; x.ledger.len()],
    });
    let share =
        |(_, _, e): &(State, PerSide<f64>, Estimate)| bundle::Share { share: e.value, low: e.low, high: e.high };
    let whole = lost || x.outcome == Outcome::Alone;
    bundle::Budget {
        title: format!("Time of the threads that do the work, per {}", x.unit.name()),
        unit: unit.into(),
        note: None,
        source: bundle::BudgetSource::Ledger,
        per: Some(x.unit.name().into()),
        states: states.collect(),
        values: values.collect(),
        shares: Some(whole.then(|| x.ledger.iter().map(share).collect())),
        elapsed: Some(e.bars.iter().map(|b| b.as_ref().map(|b| b.elapsed)).collect()),
        done: Some(e.bars.iter().map(|b| b.as_ref().map(|b| [b.done.work, b.done.seconds])).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_explained_has_the_work_that_was_counted_from_outside() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.twin");
        query::testing::write(&path, &model::Manifest::default(), &[]);
        let mut runs = query::open(&[&path]).unwrap();
        let work = Work { unit: "requests".into(), total: 200.0, progress: vec![(1.0, 200.0)], how: "answered".into() };
        runs[0].recording.set_work(Some(work.clone()));
        let again = open(&sources(&runs), &[0]).unwrap();
        assert_eq!(again[0].recording.manifest().work, Some(work));
    }

    #[test]
    fn causes_point_to_pages_that_are_there() {
        let there: Vec<&str> = Page::ALL.iter().map(|p| p.id()).collect();
        for (layer, to) in LAYERS {
            assert!(explain::cause::LAYERS.contains(&layer) && to.iter().all(|p| there.contains(p)), "{layer}: {to:?}");
        }
        let with = |pages: &'static [&str]| move |page: &str| pages.contains(&page);
        let mut causes = explain::cause::built_in();
        causes.push(Cause { id: "of-ones-own".into(), layer: "io".into(), ..Cause::default() });
        let pages = pages(&causes);
        assert_eq!(places(&pages, "cold-cache", &with(&["memory", "cpu"])), ["memory"]);
        assert_eq!(places(&pages, "of-ones-own", &with(&["disks", "cpu"])), ["disks"]);
        assert_eq!(places(&pages, "lock-contention", &with(&["time-budget"])), ["time-budget"]);
        assert!(places(&pages, "lock-contention", &with(&["cpu"])).is_empty());
    }
}

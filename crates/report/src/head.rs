//! The head of the bundle: everything that the first screen shows, and what each page holds.

use crate::bundle::{self, DifferencePer, Head, MissingStatus, PageSpec, ProfileSpec, Requests, Strip, Verdict};
use crate::charts::{PageData, place_of};
use crate::explained::{self, Explained};
use crate::listings::Made;
use crate::{Error, budget};
use compare::{Comparison, Difference, Level, Pace, Per};
use explain::Outcome;
use model::{Exit, Polarity, Status};
use query::series::Grid;
use query::{Run, metric};
use std::time::{SystemTime, UNIX_EPOCH};
use store::Select;

/// Points of the time strip.
const STRIP: usize = 600;

/// Points of a spark chart.
const SPARK: usize = 60;

/// The block of all facts.
pub(crate) const SET_UP: &str = "set-up";

fn seconds(ns: i64) -> f64 {
    ns as f64 / 1e9
}

/// The head. The pages are emptied of their charts and tables.
pub(crate) fn head(
    runs: &[Run],
    comparison: &Comparison,
    explained: &Result<Explained, String>,
    pages: &mut [PageData],
    (profile, requests, instructions): (Option<ProfileSpec>, Option<Requests>, Option<&Made>),
) -> Result<Head, Error> {
    let generated = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64());
    let level = match (explained.as_ref().map(|e| e.explanation.outcome), comparison.headline.level) {
        (Ok(Outcome::Slower | Outcome::MoreTime | Outcome::LongerRequests), _) | (_, Level::Differs) => {
            bundle::Level::Differs
        }
        (_, Level::Same) => bundle::Level::Same,
        (_, Level::Single) => bundle::Level::Single,
        (_, Level::Unsure) => bundle::Level::Unsure,
    };
    let shown: Vec<&str> = pages.iter().filter(|p| !p.is_empty()).map(|p| p.page.id()).collect();
    let has = |id: &str| id == SET_UP || shown.contains(&id);
    let functions = instructions.map(|made| made.places.clone()).unwrap_or_default();
    let words = &comparison.headline;
    let (verdict, budget, explanation) = match explained {
        Ok(e) => {
            let verdict = Verdict { headline: e.explanation.verdict.clone(), detail: String::new(), level };
            (verdict, Some(explained::budget(runs, e)), Some(explained::head(runs, e, &has, &functions)))
        }
        Err(_) => {
            let verdict = Verdict { headline: words.headline.clone(), detail: words.detail.clone(), level };
            (verdict, budget::budget(runs, comparison), None)
        }
    };
    let short = query::short_names(runs);
    let cautions = comparison.cautions.iter().map(|c| bundle::Caution {
        what: c.kind.as_str().into(),
        run: c.run,
        text: c.text.clone(),
    });
    Ok(Head {
        format: bundle::FORMAT,
        tool: bundle::Tool { name: "twinscope".into(), version: env!("CARGO_PKG_VERSION").into() },
        generated,
        runs: runs
            .iter()
            .zip(&short)
            .enumerate()
            .map(|(i, (r, short))| run(r, i, short, comparison))
            .collect::<Result<_, _>>()?,
        verdict,
        explanation,
        not_explained: explained.as_ref().err().cloned(),
        comparison: bundle::Comparison { headline: words.headline.clone(), detail: words.detail.clone() },
        cautions: cautions.collect(),
        budget,
        differences: comparison.differences.iter().map(|d| difference(d, pages)).collect(),
        compared: comparison.compared,
        facts: comparison.facts.iter().map(fact).collect(),
        set_up: bundle::BlockRef { block: SET_UP.into() },
        missing: missing(runs, comparison),
        profile,
        requests,
        instructions: instructions.map(|made| made.spec.clone()),
        sharing: None,
        jvm: None,
        counters: None,
        code: None,
        machine: None,
        pages: page_specs(comparison, pages),
    })
}

/// What the pages hold that hold anything.
fn page_specs(comparison: &Comparison, pages: &mut [PageData]) -> Vec<PageSpec> {
    let pointing = |page: &PageData, pages: &[PageData]| {
        comparison.differences.iter().filter(|d| place_of(pages, d).is_some_and(|(id, _)| id == page.page.id())).count()
    };
    let counts: Vec<usize> = pages.iter().map(|page| pointing(page, pages)).collect();
    let spec = |(page, differences): (&mut PageData, usize)| PageSpec {
        id: page.page.id().into(),
        title: page.page.title().into(),
        block: page.block_id(),
        differences,
        view: page.view,
        charts: std::mem::take(&mut page.charts),
        tables: std::mem::take(&mut page.tables),
    };
    pages.iter_mut().zip(counts).filter(|(page, _)| !page.is_empty()).map(spec).collect()
}

fn run(run: &Run, index: usize, short: &str, comparison: &Comparison) -> Result<bundle::Run, Error> {
    let m = run.recording.manifest();
    let window = comparison.windows.get(index);
    let pace = window.and_then(|window| Pace::of(run, window));
    let mut incomplete: Vec<String> = Vec::new();
    if run.recording.is_unfinished() {
        incomplete.push("the recording was cut off, or was still being written; all that was committed is here".into());
    }
    incomplete.extend(run.recording.damage().iter().map(|d| d.to_string()));
    let facts = run.recording.facts();
    let duration = seconds(run.recording.duration());
    let whole = || bundle::Window { from: 0.0, to: duration, why: "whole recording".into() };
    Ok(bundle::Run {
        name: run.name.clone(),
        short: short.into(),
        file: run.recording.path().to_str().map(str::to_owned),
        role: if index == 0 { bundle::Role::Baseline } else { bundle::Role::Other },
        host: m.host.clone(),
        kernel: m.kernel.clone(),
        cpus: m.cpus,
        cpu_model: facts.into_iter().find(|f| f.category == "cpu" && f.name == "model").map(|f| f.value),
        memory_bytes: m.memory,
        start: seconds(m.start_unix),
        duration,
        interval: seconds(m.interval),
        sprint: m.sprint.map(|(interval, until)| bundle::Sprint { interval: seconds(interval), until: seconds(until) }),
        command: m.command.clone(),
        exit: m.exit.map(|exit| match exit {
            Exit::Code(code) => bundle::Exit::Code(code),
            Exit::Signal(signal) => bundle::Exit::Signal(signal),
        }),
        wall: m.wall.map(seconds),
        work: m.work.as_ref().map(|w| bundle::Work {
            unit: w.unit.clone(),
            total: w.total,
            per_second: pace.map(Pace::rate).filter(|rate| rate.is_finite()),
        }),
        labels: m.labels.clone(),
        window: window.map_or_else(whole, |w| bundle::Window {
            from: seconds(w.from),
            to: seconds(w.to),
            why: w.why.clone(),
        }),
        marks: run.recording.marks().iter().map(|m| bundle::Mark { t: seconds(m.t), text: m.text.clone() }).collect(),
        output: m.output.as_ref().map(|o| bundle::Output { stdout: o.stdout.clone(), stderr: o.stderr.clone() }),
        incomplete: (!incomplete.is_empty()).then(|| incomplete.join("; ")),
        strip: strip(run)?,
    })
}

/// CPU use over time, coarse.
fn strip(run: &Run) -> Result<Strip, Error> {
    let empty = Strip::default();
    let Some(table) = run.recording.table("cpu") else { return Ok(empty) };
    let Some(metric) = metric(table, "busy_share") else { return Ok(empty) };
    let columns = metric.columns();
    let select = Select { columns: Some(&columns), most_ticks: 7200, ..Select::default() };
    let Some(frame) = run.recording.load("cpu", &select) else { return Ok(empty) };
    let grid = Grid::new(&frame, &metric, &[], None)?;
    let Some(series) = grid.series.first() else { return Ok(empty) };
    let buckets = grid.buckets(STRIP);
    let busy = series.resample(&buckets).mean.iter().map(|v| v.is_finite().then(|| (v * 1e4).round() / 1e4)).collect();
    Ok(Strip { t: buckets.time, busy })
}

/// What a metric is, without the small print behind a semicolon: a title has no room for it.
pub(crate) fn short(help: &str) -> &str {
    let help = crate::words::alone(help);
    help.split(';').next().unwrap_or(help).trim_end()
}

fn difference(d: &Difference, pages: &[PageData]) -> bundle::Difference {
    let place = place_of(pages, d);
    bundle::Difference {
        metric: d.metric.clone(),
        labels: d.labels.clone(),
        unit: d.unit.into(),
        title: short(d.help).into(),
        run: d.run,
        baseline: d.baseline,
        other: d.other,
        change: d.change,
        low: d.low,
        high: d.high,
        difference: d.difference,
        q: d.q,
        per: match d.per {
            Per::Second => DifferencePer::Second,
            Per::Operation => DifferencePer::Operation,
        },
        polarity: match d.polarity {
            Polarity::Better => bundle::Polarity::Better,
            Polarity::Worse => bundle::Polarity::Worse,
            Polarity::Neutral => bundle::Polarity::Neutral,
        },
        page: place.map(|(page, _)| page.into()),
        chart: place.and_then(|(_, chart)| chart).map(str::to_owned),
        median: d.median,
        p99: d.p99,
        query: d.query.clone(),
        spark: d.values.each_ref().map(|values| spark(values)),
    }
}

/// At most [`SPARK`] points: means of equal stretches.
fn spark(values: &[f64]) -> Vec<Option<f64>> {
    let size = values.len().div_ceil(SPARK).max(1);
    let mean = |part: &[f64]| {
        let measured: Vec<f64> = part.iter().copied().filter(|v| v.is_finite()).collect();
        (!measured.is_empty()).then(|| measured.iter().sum::<f64>() / measured.len() as f64)
    };
    values.chunks(size).map(mean).collect()
}

fn fact(f: &compare::FactDifference) -> bundle::FactDifference {
    let mut values = f.values.iter().cloned();
    bundle::FactDifference {
        fact: f.full_name(),
        category: f.category.clone(),
        baseline: values.next().flatten(),
        others: values.collect(),
        known: f.why.is_some(),
        why: f.why.map(str::to_owned),
    }
}

/// In which way something is missing; `None` where it was read.
fn missing_status(status: Status) -> Option<MissingStatus> {
    match status {
        Status::Read => None,
        Status::Absent => Some(MissingStatus::Absent),
        Status::Denied => Some(MissingStatus::Denied),
        Status::NotApplicable => Some(MissingStatus::NotApplicable),
        Status::Failed => Some(MissingStatus::Failed),
        Status::Estimated => Some(MissingStatus::Estimated),
    }
}

/// What was not measured. It matters where another run has it, since then something could not be compared.
fn missing(runs: &[Run], comparison: &Comparison) -> Vec<bundle::Missing> {
    let mut all = Vec::new();
    let coverage: Vec<_> = runs.iter().map(|r| r.recording.coverage()).collect();
    for (index, list) in coverage.iter().enumerate() {
        for c in list {
            let Some(status) = missing_status(c.status) else { continue };
            let elsewhere = coverage.iter().enumerate().any(|(other, list)| {
                other != index
                    && !list.iter().any(|o| o.source == c.source && o.item == c.item && o.status != Status::Read)
            });
            all.push(bundle::Missing {
                run: index,
                source: c.source.clone(),
                item: c.item.clone(),
                status,
                why: c.why.clone(),
                remedy: c.remedy.clone(),
                matters: elsewhere || matches!(status, MissingStatus::Denied | MissingStatus::Failed),
            });
        }
    }
    all.extend(comparison.not_compared.iter().map(|n| bundle::Missing {
        run: 0,
        source: n.what.clone(),
        item: String::new(),
        status: MissingStatus::NotApplicable,
        why: format!("not compared: {}", n.why),
        remedy: None,
        matters: false,
    }));
    all
}

/// All properties of all runs.
pub(crate) fn set_up(runs: &[Run]) -> bundle::SetUp {
    let fact = |((category, name), values): ((String, String), _)| bundle::Fact {
        fact: format!("{category}.{name}"),
        why: model::why_it_matters(&category, &name).map(str::to_owned),
        category,
        values,
    };
    bundle::SetUp { facts: compare::all_facts(runs).into_iter().map(fact).collect() }
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn titles_are_short() {
        assert_eq!(short("time in it; of soft interrupts without handlers"), "time in it");
        assert_eq!(short("page faults, minor and major"), "page faults, minor and major");
    }
}

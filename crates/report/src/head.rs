//! The head of the bundle: everything that the first screen shows, and what each page holds.

use crate::charts::{PageData, place_of};
use crate::explained::{self, Explained};
use crate::{Error, budget};
use explain::{Comparison, Difference, Level, Outcome, Pace, Per};
use model::{Exit, Polarity, Status};
use query::series::Grid;
use query::{Run, metric};
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};
use store::Select;

/// Points of the time strip.
const STRIP: usize = 600;

/// Points of a spark chart.
const SPARK: usize = 60;

/// The head.
pub(crate) fn head(
    runs: &[Run],
    comparison: &Comparison,
    explained: &Result<Explained, String>,
    pages: &[PageData],
    profile: Option<&Value>,
) -> Result<Value, Error> {
    let generated = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64());
    let level = match (explained.as_ref().map(|e| e.explanation.outcome), comparison.headline.level) {
        (Ok(Outcome::Slower | Outcome::MoreTime), _) | (_, Level::Differs) => "differs",
        (_, Level::Same) => "same",
        (_, Level::Single) => "single",
        (_, Level::Unsure) => "unsure",
    };
    let shown_page = |p: &&PageData| !p.charts.is_empty() || !p.tables.is_empty() || p.view.is_some();
    let has = |id: &str| id == "set-up" || pages.iter().filter(shown_page).any(|p| p.page.id() == id);
    let words = &comparison.headline;
    let (verdict, budget, explanation, not_explained) = match explained {
        Ok(e) => {
            let verdict = json!({"headline": e.explanation.verdict, "detail": "", "level": level});
            (verdict, explained::budget(runs, e), explained::head(runs, e, &has), None)
        }
        Err(why) => {
            let verdict = json!({"headline": words.headline, "detail": words.detail, "level": level});
            (verdict, budget::budget(runs, comparison), Value::Null, Some(why))
        }
    };
    let counted = |page: &PageData| {
        comparison.differences.iter().filter(|d| place_of(pages, d).is_some_and(|(id, _)| id == page.page.id())).count()
    };
    let shown: Vec<Value> = pages
        .iter()
        .filter(shown_page)
        .map(|p| {
            json!({
                "id": p.page.id(), "title": p.page.title(), "block": p.block_id(), "differences": counted(p), "view": p.view, "charts": p.charts, "tables": p.tables,
            })
        })
        .collect();
    let short = query::short_names(runs);
    Ok(json!({
        "format": 2,
        "tool": {"name": "twinscope", "version": env!("CARGO_PKG_VERSION")},
        "generated": generated,
        "runs": runs.iter().zip(&short).enumerate().map(|(i, (r, short))| run(r, i, short, comparison)).collect::<Result<Vec<_>, _>>()?,
        "verdict": verdict,
        "explanation": explanation,
        "not_explained": not_explained,
        "comparison": {"headline": words.headline, "detail": words.detail},
        "cautions": comparison.cautions.iter().map(|c| json!({"what": c.kind.as_str(), "run": c.run, "text": c.text})).collect::<Vec<_>>(),
        "budget": budget,
        "differences": comparison.differences.iter().map(|d| difference(d, pages)).collect::<Vec<_>>(),
        "compared": comparison.compared,
        "facts": comparison.facts.iter().map(fact).collect::<Vec<_>>(),
        "set_up": {"block": "set-up"},
        "missing": missing(runs, comparison),
        "profile": profile,
        "pages": shown,
    }))
}

fn run(run: &Run, index: usize, short: &str, comparison: &Comparison) -> Result<Value, Error> {
    let m = run.recording.manifest();
    let seconds = |ns: i64| ns as f64 / 1e9;
    let wall = m.wall.map(seconds);
    let pace = comparison.windows.get(index).and_then(|window| Pace::of(run, window));
    let work = m.work.as_ref().map(|w| {
        let per_second = pace.map(Pace::rate).filter(|rate| rate.is_finite());
        json!({"unit": w.unit, "total": w.total, "per_second": per_second})
    });
    let exit = m.exit.map(|e| match e {
        Exit::Code(code) => json!({"code": code}),
        Exit::Signal(signal) => json!({"signal": signal}),
    });
    let window = comparison.windows.get(index);
    let mut incomplete: Vec<String> = Vec::new();
    if run.recording.is_unfinished() {
        incomplete.push("the recording was cut off, or was still being written; all that was committed is here".into());
    }
    incomplete.extend(run.recording.damage().iter().map(|d| d.to_string()));
    Ok(json!({
        "name": run.name,
        "short": short,
        "role": if index == 0 { "baseline" } else { "other" },
        "host": m.host, "kernel": m.kernel, "cpus": m.cpus, "memory_bytes": m.memory,
        "cpu_model": run.recording.facts().iter().find(|f| f.category == "cpu" && f.name == "model").map(|f| f.value.clone()),
        "start": seconds(m.start_unix),
        "duration": seconds(run.recording.duration()),
        "interval": seconds(m.interval),
        "sprint": m.sprint.map(|(interval, until)| json!({"interval": seconds(interval), "until": seconds(until)})),
        "command": m.command,
        "exit": exit,
        "wall": wall,
        "work": work,
        "labels": m.labels,
        "window": window.map(|w| json!({"from": seconds(w.from), "to": seconds(w.to), "why": w.why})),
        "marks": run.recording.marks().iter().map(|m| json!({"t": seconds(m.t), "text": m.text})).collect::<Vec<_>>(),
        "output": m.output,
        "incomplete": if incomplete.is_empty() { Value::Null } else { incomplete.join("; ").into() },
        "strip": strip(run)?,
    }))
}

/// CPU use over time, coarse.
fn strip(run: &Run) -> Result<Value, Error> {
    let empty = json!({"t": [], "busy": []});
    let Some(table) = run.recording.table("cpu") else { return Ok(empty) };
    let Some(metric) = metric(table, "busy_share") else { return Ok(empty) };
    let columns = metric.columns();
    let select = Select { columns: Some(&columns), most_ticks: 7200, ..Select::default() };
    let Some(frame) = run.recording.load("cpu", &select) else { return Ok(empty) };
    let grid = Grid::new(&frame, &metric, &[], None)?;
    let Some(series) = grid.series.first() else { return Ok(empty) };
    let buckets = grid.buckets(STRIP);
    let busy: Vec<Option<f64>> =
        series.resample(&buckets).mean.iter().map(|v| v.is_finite().then(|| (v * 1e4).round() / 1e4)).collect();
    Ok(json!({"t": buckets.time, "busy": busy}))
}

/// What a metric is, without the small print behind a semicolon: a title has no room for it.
pub(crate) fn short(help: &str) -> &str {
    let help = crate::words::alone(help);
    help.split(';').next().unwrap_or(help).trim_end()
}

fn difference(d: &Difference, pages: &[PageData]) -> Value {
    let place = place_of(pages, d);
    json!({
        "metric": d.metric, "labels": d.labels, "unit": d.unit, "title": short(d.help), "run": d.run,
        "baseline": d.baseline, "other": d.other, "change": d.change, "low": d.low, "high": d.high, "difference": d.difference, "q": d.q,
        "per": match d.per { Per::Second => "second", Per::Operation => "operation" },
        "polarity": match d.polarity { Polarity::Better => "better", Polarity::Worse => "worse", Polarity::Neutral => "neutral" },
        "page": place.map(|(page, _)| page), "chart": place.and_then(|(_, chart)| chart),
        "median": d.median, "p99": d.p99, "query": d.query,
        "spark": d.values.each_ref().map(|values| spark(values)),
    })
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

fn fact(f: &explain::FactDifference) -> Value {
    let mut values = f.values.iter();
    json!({
        "fact": f.full_name(), "category": f.category, "baseline": values.next().cloned().flatten(), "others": values.cloned().collect::<Vec<_>>(),
        "known": f.why.is_some(), "why": f.why,
    })
}

/// What was not measured. It matters where another run has it, since then something could not be compared.
fn missing(runs: &[Run], comparison: &Comparison) -> Vec<Value> {
    let mut all = Vec::new();
    let coverage: Vec<_> = runs.iter().map(|r| r.recording.coverage()).collect();
    for (index, list) in coverage.iter().enumerate() {
        for c in list.iter().filter(|c| c.status != Status::Read) {
            let elsewhere = coverage.iter().enumerate().any(|(other, list)| {
                other != index
                    && !list.iter().any(|o| o.source == c.source && o.item == c.item && o.status != Status::Read)
            });
            all.push(json!({
                "run": index, "source": c.source, "item": c.item, "status": c.status.as_str(), "why": c.why, "remedy": c.remedy,
                "matters": elsewhere || (c.status == Status::Denied || c.status == Status::Failed),
            }));
        }
    }
    for n in &comparison.not_compared {
        all.push(json!({
            "run": 0, "source": n.what, "item": "", "status": "not applicable", "why": format!("not compared: {}", n.why), "remedy": null, "matters": false,
        }));
    }
    all
}

/// All properties of all runs.
pub(crate) fn set_up(runs: &[Run]) -> Value {
    let facts: Vec<Value> = explain::all_facts(runs)
        .into_iter()
        .map(|((category, name), values)| {
            let why = model::why_it_matters(&category, &name);
            json!({"fact": format!("{category}.{name}"), "category": category, "values": values, "why": why})
        })
        .collect();
    json!({"facts": facts})
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

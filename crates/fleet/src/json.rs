//! What a fleet answers as JSON: a stable contract, documented in docs/fleet.md.

use crate::statistics::rule::Join;
use crate::statistics::separate::Difference;
use crate::words::{in_order, line_name, unit};
use crate::{Answer, Banding, Group, Separated};
use serde_json::{Value, json};

impl Answer {
    /// The answer as JSON. Fields may be added; none is renamed or removed within a major version.
    pub fn to_json(&self) -> Value {
        json!({ "groups": self.groups.iter().map(group_json).collect::<Vec<_>>() })
    }
}

fn group_json(group: &Group) -> Value {
    let recordings: Vec<Value> = group
        .recordings
        .iter()
        .map(|of| json!({"id": of.id, "host": of.host, "run": of.run, "file": of.file, "start": of.start, "labels": of.labels}))
        .collect();
    let asked: Vec<Value> = group
        .asked
        .iter()
        .map(|asked| {
            json!({
                "metric": asked.metric.key.to_string(),
                "unit": asked.metric.unit(),
                "spread": asked.spread,
                "values": asked.metric.mean.iter().map(|v| v.is_finite().then_some(*v)).collect::<Vec<_>>(),
                "bands": asked.found.as_ref().map(|found| found.bands.len()),
            })
        })
        .collect();
    let bandings: Vec<Value> = group.bandings.iter().filter_map(|banding| banding_json(group, banding)).collect();
    json!({"within": group.within, "recordings": recordings, "asked": asked, "bandings": bandings})
}

fn banding_json(group: &Group, banding: &Banding) -> Option<Value> {
    let (asked, found) = group.named(banding)?;
    let bands: Vec<Value> = in_order(found, banding)
        .map(|band| {
            json!({
                "count": band.share.count, "of": band.share.of,
                "share": {"low": band.share.low, "high": band.share.high},
                "middle": band.middle, "low": band.low, "high": band.high,
            })
        })
        .collect();
    let strays: Vec<Value> =
        found.strays.iter().map(|s| json!({"recording": s.host, "deviations": s.deviations})).collect();
    let valleys: Vec<Value> = found.valleys.iter().map(|v| json!({"at": v.at, "depth": v.depth})).collect();
    let metrics: Vec<String> =
        banding.metrics.iter().filter_map(|at| group.asked.get(*at)).map(|a| a.metric.key.to_string()).collect();
    let facts: Vec<String> = banding.facts.iter().map(|(category, name)| format!("{category}.{name}")).collect();
    Some(json!({
        "metrics": metrics, "unit": asked.metric.unit(), "p": banding.p, "bands": bands, "valleys": valleys,
        "of": banding.of, "undecided": found.undecided, "strays": strays, "lost": banding.lost, "facts": facts,
        "separated": banding.separated.iter().map(|of| separated_json(group, of)).collect::<Vec<_>>(),
        "since": since_json(banding),
    }))
}

/// What separates one band, as JSON.
fn separated_json(group: &Group, of: &Separated) -> Value {
    let difference = |d: &Difference| {
        json!({
            "band": d.middles.0, "others": d.middles.1, "superiority": d.superiority, "p": d.p, "q": d.q,
            "shift": {"value": d.shift.estimate, "low": d.shift.low, "high": d.shift.high},
        })
    };
    let lines: Vec<Value> = of
        .lines
        .iter()
        .map(|line| {
            let with: Vec<String> = line.with.iter().map(|of| line_name(group, *of)).collect();
            json!({
                "metric": line_name(group, line.metric), "unit": unit(group, line.metric.0), "with": with,
                "difference": difference(&line.difference),
            })
        })
        .collect();
    let facts: Vec<Value> = of
        .facts
        .listed
        .iter()
        .filter_map(|d| {
            let fact = group.facts.get(d.fact)?;
            Some(json!({
                "fact": format!("{}.{}", fact.name.0, fact.name.1), "value": d.value, "band": d.one,
                "others": d.rest, "p": d.p, "q": d.q,
            }))
        })
        .collect();
    let places: Vec<Value> = of
        .places
        .iter()
        .filter_map(|line| {
            let place = group.places.get(line.place)?;
            Some(json!({
                "function": &*place.function, "module": &*place.module, "state": &*place.state,
                "difference": difference(&line.difference),
            }))
        })
        .collect();
    let rule = of.rule.as_ref().map(|(rule, metrics)| {
        let cuts: Vec<Value> = rule
            .cuts
            .iter()
            .zip(metrics)
            .map(|(cut, of)| json!({"metric": line_name(group, *of), "at": cut.at, "above": cut.above}))
            .collect();
        let join = if rule.join == Join::And { "and" } else { "or" };
        json!({
            "cuts": cuts, "join": join, "wrong": rule.wrong, "wrong_elsewhere": rule.wrong_elsewhere,
            "hosts": rule.hosts, "without": rule.without,
        })
    });
    let places_at_most = of.places_at_most.map(
        |(by, place)| json!({"by": by, "function": group.places.get(place).map(|place| place.function.to_string())}),
    );
    let work = of.work.as_ref().map(|w| json!({"change": w.change, "low": w.low, "high": w.high, "equal": w.equal}));
    json!({
        "band": of.band + 1, "lines": lines, "tested": of.tested, "by_chance": of.by_chance,
        "hosts_needed": of.hosts_needed, "facts": facts, "functions": places, "rule": rule,
        "functions_at_most": places_at_most, "work": work,
    })
}

/// Since when, as JSON.
fn since_json(banding: &Banding) -> Value {
    let since = &banding.since;
    let switches: Vec<Value> = since
        .switches
        .iter()
        .map(|s| json!({"recording": s.recording, "at": s.at, "up": s.up, "after_start": s.after_start}))
        .collect();
    let starts = since.starts.as_ref().map(|s| json!({"same": s.same, "by_chance": s.by_chance, "p": s.p}));
    json!({
        "switches": switches, "steady": since.steady, "watched": since.watched, "decides": since.decides(),
        "starts": starts,
    })
}

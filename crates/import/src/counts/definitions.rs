//! What APerf's `pmu_config.json` defines: events, and metrics of them. Both of its forms: lists of numerators and denominators with a scale, and formulas.

use ::counters::{Formula, Named};
use serde_json::Value;

/// A metric and the events that are counted for it, in the order of their counts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Metric {
    pub(crate) name: String,
    pub(crate) events: Vec<(String, Named)>,
    /// Over the names `e0`, `e1` … of the events.
    pub(crate) formula: Formula,
    /// How many of the events are numerators, in the form that has them.
    pub(crate) numerators: usize,
}

impl Metric {
    /// Its value, where the events came to so much.
    pub(crate) fn value(&self, counts: &[f64]) -> Option<f64> {
        let of = |name: &str| counts.get(name.strip_prefix('e')?.parse::<usize>().ok()?).copied();
        self.formula.value(&of)
    }
}

/// What a file defines.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Definitions {
    pub(crate) metrics: Vec<Metric>,
    /// Of the form with formulas, all events by name: what is counted where there are no groups.
    pub(crate) events: Vec<(String, Named)>,
    /// What could not be read of it.
    pub(crate) notes: Vec<String>,
}

/// Reads one.
///
/// # Errors
/// It is no JSON, or of another form.
pub(crate) fn read(bytes: &[u8]) -> Result<Definitions, String> {
    let root: Value = serde_json::from_slice(bytes).map_err(|why| why.to_string())?;
    match &root {
        Value::Array(metrics) => Ok(of_lists(metrics)),
        Value::Object(_) => Ok(of_formulas(&root)),
        _ => Err("neither a list of metrics nor events and metrics".into()),
    }
}

/// `[{name, nrs: [{perf_type, name, config}], drs, scale}]`.
fn of_lists(metrics: &[Value]) -> Definitions {
    let mut found = Definitions::default();
    for metric in metrics {
        let Some(name) = metric["name"].as_str() else { continue };
        let side = |key: &str| -> Vec<(String, Named)> {
            let events = metric[key].as_array().map(Vec::as_slice).unwrap_or_default();
            events.iter().filter_map(event).collect()
        };
        let (above, below) = (side("nrs"), side("drs"));
        let sum = |range: std::ops::Range<usize>| {
            let names: Vec<String> = range.map(|at| format!("e{at}")).collect();
            names.join(" + ")
        };
        let (numerators, all) = (above.len(), above.len() + below.len());
        let scale = metric["scale"].as_f64().unwrap_or(1.0);
        match Formula::parse(&format!("({}) / ({}) * {scale}", sum(0..numerators), sum(numerators..all))) {
            Ok(formula) => {
                let events = above.into_iter().chain(below).collect();
                found.metrics.push(Metric { name: name.to_owned(), events, formula, numerators });
            }
            Err(why) => found.notes.push(format!("{name}: {why}")),
        }
    }
    found
}

fn event(of: &Value) -> Option<(String, Named)> {
    let name = of["name"].as_str()?.to_owned();
    let code = of["config"].as_u64()?;
    let is_generic = of["perf_type"].as_str() == Some("HARDWARE");
    let named = match ::counters::HARDWARE.get(usize::try_from(code).unwrap_or(usize::MAX)) {
        Some(generic) if is_generic => Named::parse(generic),
        _ => Named::of_code(code),
    };
    Some((name, named))
}

/// `{events: {NAME: "PMU/FIELD=VALUE,…/"}, metrics: {name: "FORMULA over names"}}`.
fn of_formulas(root: &Value) -> Definitions {
    let mut found = Definitions::default();
    let entries = |key: &str| root[key].as_object().into_iter().flatten();
    for (name, encoding) in entries("events") {
        if let Some(encoding) = encoding.as_str() {
            found.events.push((name.clone(), Named::parse(encoding)));
        }
    }
    for (name, formula) in entries("metrics") {
        let Some(text) = formula.as_str() else { continue };
        // The counts of a group are in the order of the names.
        let mut events: Vec<(String, Named)> = match Formula::parse(text) {
            Ok(formula) => formula
                .names()
                .into_iter()
                .filter_map(|name| found.events.iter().find(|(other, _)| other == name).cloned())
                .collect(),
            Err(why) => {
                found.notes.push(format!("{name}: {why}"));
                continue;
            }
        };
        events.sort_by(|(a, _), (b, _)| a.cmp(b));
        let Some(formula) = renamed(text, &events) else {
            found.notes.push(format!("{name}: an event of its formula is not defined"));
            continue;
        };
        found.metrics.push(Metric { name: name.clone(), events, formula, numerators: 0 });
    }
    found
}

/// The formula over the places of events instead of their names.
fn renamed(text: &str, events: &[(String, Named)]) -> Option<Formula> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if first.is_ascii_alphabetic() || first == '_' {
            let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            rest = after;
            match events.iter().position(|(other, _)| other == name) {
                Some(at) => out.push_str(&format!("e{at}")),
                None if matches!(name, "min" | "max" | "if") => out.push_str(name),
                None => return None,
            }
        } else if first.is_ascii_digit() {
            let end = rest.find(|c: char| !is_name(c) && c != '.').unwrap_or(rest.len());
            let (number, after) = rest.split_at(end);
            rest = after;
            out.push_str(number);
        } else {
            out.push(first);
            rest = rest.get(first.len_utf8()..)?;
        }
    }
    Formula::parse(&out).ok()
}

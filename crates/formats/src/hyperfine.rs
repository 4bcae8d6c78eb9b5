//! hyperfine: the JSON of `--export-json`, or its text, which has fewer digits and no median.

use super::Numbers;
use super::text::{at, cut, duration, last_json, last_report, none, number};
use serde_json::Value;

const MARKS: &[fn(&str) -> bool] =
    &[|line| is_benchmark(line, |number| number == 1.0), |line| line.starts_with("Time (")];

/// "Benchmark 1: …", before 1.12 "Benchmark #1: …".
fn is_benchmark(line: &str, is: impl Fn(f64) -> bool) -> bool {
    let rest = line.strip_prefix("Benchmark ").map(|rest| rest.strip_prefix('#').unwrap_or(rest));
    rest.and_then(|rest| number(rest.split_once(':')?.0)).is_some_and(is)
}

fn several(count: usize) -> String {
    format!("{count} commands were measured, so it is not clear which counts: measure one")
}

pub fn read(output: &str) -> Result<Numbers, String> {
    let is =
        |value: &Value| value.get("results").and_then(Value::as_array).is_some_and(|all| all.iter().any(is_result));
    match last_json(output, "\"results\"", is) {
        Some(report) => json(&report),
        None => text(output),
    }
}

fn is_result(value: &Value) -> bool {
    value.get("command").is_some() && value.get("mean").is_some()
}

fn json(report: &Value) -> Result<Numbers, String> {
    let all = report.get("results").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let [result] = all else { return Err(several(all.len())) };
    let told = |name: &str| at(result, &[name]);
    let mut numbers = Numbers {
        mean: Some(told("mean").ok_or_else(|| cut("mean"))?),
        min: told("min"),
        max: told("max"),
        ..Numbers::default()
    };
    numbers.set_quantile(0.5, told("median"));
    let list = |name: &str| result.get(name).and_then(Value::as_array);
    numbers.done = list("times").map(|times| times.len() as f64);
    if let Some(codes) = list("exit_codes") {
        // Null is a run that a signal ended.
        let failed = codes.iter().filter(|code| code.as_i64() != Some(0)).count();
        numbers.set_errors(failed as f64, codes.len() as f64);
    }
    Ok(numbers)
}

fn text(output: &str) -> Result<Numbers, String> {
    let lines = last_report(output, MARKS)
        .ok_or_else(|| none("\"Benchmark 1:\", \"Time (mean ± σ):\" and JSON with \"results\""))?;
    let others = lines.iter().filter(|line| is_benchmark(line.trim(), |number| number > 1.0)).count();
    if others > 0 {
        return Err(several(others + 1));
    }
    // "Time (mean ± σ):     101.6 ms ±   0.2 ms    [User: …]"; of one run "Time (abs ≡):        500.9 ms               [User: …]"
    let row = |label: &str| lines.iter().find_map(|line| line.trim().strip_prefix(label)?.split_once("):"));
    let first = |cells: &str| {
        let mut words = cells.split_whitespace();
        let (value, unit) = (words.next()?, words.next()?);
        duration(&format!("{value} {unit}"))
    };
    let (_, time) = row("Time (").ok_or_else(|| cut("\"Time (mean ± σ)\""))?;
    let mut numbers = Numbers { mean: Some(first(time).ok_or_else(|| cut("the mean of Time"))?), ..Numbers::default() };
    match row("Range (").and_then(|(_, cells)| cells.split_once('…')) {
        // "101.3 ms … 102.0 ms    29 runs"
        Some((min, rest)) => {
            (numbers.min, numbers.max) = (first(min), first(rest));
            numbers.done = rest.trim().strip_suffix(" runs").and_then(|runs| number(runs.split_whitespace().last()?));
        }
        None if time.contains('±') => return Err(cut("\"Range (min … max)\"")),
        None => {
            (numbers.min, numbers.max) = (numbers.mean, numbers.mean);
            numbers.done = Some(1.0);
        }
    }
    Ok(numbers)
}

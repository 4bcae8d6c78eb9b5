//! `vegeta report`, as text or JSON. Its throughput (successes by the time until the last answer) is the rate; the "rate" that it
//! prints is how fast it asked.

use super::Numbers;
use super::text::{at, cut, duration, last_json, last_report, leading_number, none, number};
use serde_json::Value;

const MARKS: &[fn(&str) -> bool] = &[|line| line.starts_with("Requests ") && line.contains("[total")];

pub fn read(output: &str) -> Result<Numbers, String> {
    let report = last_json(output, "\"latencies\"", |value| {
        value.get("latencies").is_some() && value.get("status_codes").is_some()
    });
    match report {
        Some(report) => json(&report),
        None => text(output),
    }
}

fn json(report: &Value) -> Result<Numbers, String> {
    let told = |path: &[&str]| at(report, path).ok_or_else(|| cut(&path.join(".")));
    let requests = told(&["requests"])?;
    let mut numbers = Numbers { rate: Some(told(&["throughput"])?), done: Some(requests), ..Numbers::default() };
    for (name, time) in report.get("latencies").and_then(Value::as_object).into_iter().flatten() {
        latency(&mut numbers, name, time.as_f64().map(|time| time / 1e9));
    }
    let mut successes = 0.0;
    for (status, count) in report.get("status_codes").and_then(Value::as_object).into_iter().flatten() {
        successes += if success(status) { count.as_f64().unwrap_or(0.0) } else { 0.0 };
    }
    finish(numbers, requests, successes)
}

fn text(output: &str) -> Result<Numbers, String> {
    let lines = last_report(output, MARKS)
        .ok_or_else(|| none("\"Requests [total, rate, throughput]\" and JSON with \"latencies\""))?;
    let requests: Vec<_> = row(&lines, "Requests").collect();
    let told = |name: &str| requests.iter().find(|(of, _)| *of == name).and_then(|(_, value)| number(value));
    let total = told("total").ok_or_else(|| cut("the total of Requests"))?;
    let codes = lines.iter().find_map(|line| line.trim_start().strip_prefix("Status Codes")?.split_once(']'));
    let (_, codes) = codes.ok_or_else(|| cut("Status Codes"))?;
    let mut successes = 0.0;
    for (status, count) in codes.split_whitespace().filter_map(|code| code.split_once(':')) {
        successes += if success(status) { number(count).unwrap_or(0.0) } else { 0.0 };
    }
    let rate = told("throughput").ok_or_else(|| cut("the throughput of Requests"))?;
    let mut numbers = Numbers { rate: Some(rate), done: Some(total), ..Numbers::default() };
    for (name, time) in row(&lines, "Latencies") {
        latency(&mut numbers, name, duration(time));
    }
    finish(numbers, total, successes)
}

fn finish(mut numbers: Numbers, requests: f64, successes: f64) -> Result<Numbers, String> {
    if numbers.mean.is_none() && requests > 0.0 {
        return Err(cut("the mean of latencies"));
    }
    numbers.set_errors((requests - successes).max(0.0), requests);
    Ok(numbers)
}

/// What is named in brackets, with its value: "Duration  [total, attack, wait]  30s, 29s, 1s".
fn row<'a>(lines: &[&'a str], label: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let found =
        lines.iter().find_map(|line| line.trim().strip_prefix(label)?.trim().strip_prefix('[')?.split_once(']'));
    let (names, values) = found.unwrap_or_default();
    names.split(',').map(str::trim).zip(values.split(',').map(str::trim))
}

fn latency(numbers: &mut Numbers, name: &str, time: Option<f64>) {
    match name {
        "mean" => numbers.mean = time,
        "min" => numbers.min = time,
        "max" => numbers.max = time,
        // "50" in text, "50th" in JSON; "total" is the sum.
        _ => {
            if let Some((share, "" | "th")) = leading_number(name) {
                numbers.set_quantile(share / 100.0, time);
            }
        }
    }
}

/// As vegeta has it: an answer below 400; no answer is status 0.
fn success(status: &str) -> bool {
    number(status).is_some_and(|status| (200.0..400.0).contains(&status))
}

//! k6: the summary at the end of a test (before and since 1.0), or JSON: of `--summary-export`, or what `handleSummary` gets.

use super::Numbers;
use super::text::{at, cut, duration, last_json, last_report, leading_number, none, number, word};
use serde_json::Value;

const MARKS: &[fn(&str) -> bool] = &[
    // A run begins with the second; what follows the first is the whole of it, before its parts.
    |line| line.contains("TOTAL RESULTS") || line.starts_with("execution: "),
    |line| row(line, "http_req_duration").is_some(),
    |line| row(line, "iteration_duration").is_some(),
];

pub fn read(output: &str) -> Result<Numbers, String> {
    let is = |value: &Value| value.get("metrics").and_then(|of| of.get("http_reqs").or(of.get("iterations"))).is_some();
    match last_json(output, "\"metrics\"", is) {
        Some(report) => json(&report),
        None => text(output),
    }
}

/// The number of a metric's: `--summary-export` has it in the metric, `handleSummary` in its "values".
fn told(report: &Value, metric: &str, name: &str) -> Option<f64> {
    at(report, &["metrics", metric, "values", name]).or_else(|| at(report, &["metrics", metric, name]))
}

fn json(report: &Value) -> Result<Numbers, String> {
    // A script that makes no HTTP requests has iterations alone.
    let (count, times) = if told(report, "http_reqs", "count").is_some() {
        ("http_reqs", "http_req_duration")
    } else {
        ("iterations", "iteration_duration")
    };
    let done = told(report, count, "count").ok_or_else(|| cut(&format!("the count of {count}")))?;
    let rate = told(report, count, "rate").ok_or_else(|| cut(&format!("the rate of {count}")))?;
    let mut numbers = Numbers { rate: Some(rate), done: Some(done), ..Numbers::default() };
    let trend = report.get("metrics").and_then(|of| of.get(times));
    let trend = trend.map(|of| of.get("values").unwrap_or(of)).and_then(Value::as_object);
    for (name, time) in trend.into_iter().flatten() {
        statistic(&mut numbers, name, time.as_f64().map(|time| time / 1e3));
    }
    let failed = told(report, "http_req_failed", "rate").or_else(|| told(report, "http_req_failed", "value"));
    // "passes" are requests for which it is true that they failed.
    let errors = told(report, "http_req_failed", "passes").filter(|_| failed.is_some());
    finish(numbers, times, failed, errors, done)
}

fn text(output: &str) -> Result<Numbers, String> {
    let lines = last_report(output, MARKS)
        .ok_or_else(|| none("\"TOTAL RESULTS\", \"http_req_duration...:\" and JSON with \"metrics\""))?;
    let find = |metric: &str| lines.iter().find_map(|line| row(line, metric));
    // "15000  496.064292/s"; "1845200 (1542.15/s)" in tables of some scripts.
    let (count, times) = match find("http_reqs") {
        Some(count) => (count, "http_req_duration"),
        None => (find("iterations").ok_or_else(|| cut("http_reqs, and iterations,"))?, "iteration_duration"),
    };
    let mut words = count.split_whitespace();
    let done = words.next().and_then(number).ok_or_else(|| cut("the count of requests or iterations"))?;
    let rate = words.next().and_then(|rate| number(rate.trim_matches(['(', ')']).strip_suffix("/s")?));
    let rate = rate.ok_or_else(|| cut("the rate of requests or iterations"))?;
    let mut numbers = Numbers { rate: Some(rate), done: Some(done), ..Numbers::default() };
    for (name, time) in find(times).unwrap_or_default().split_whitespace().filter_map(|cell| cell.split_once('=')) {
        statistic(&mut numbers, name, duration(time));
    }
    // "20.00% ✓ 10 ✗ 40", where ✓ is that it is true that a request failed; since 1.0 "0.05% 4 out of 7722".
    let failed = find("http_req_failed");
    let share = failed.and_then(|cells| number(word(cells).strip_suffix('%')?)).map(|share| share / 100.0);
    let errors = failed.and_then(|cells| {
        let (_, counts) = cells.split_once('%')?;
        let counts = counts.trim();
        let counts = counts.strip_prefix('✓').unwrap_or(counts).trim_start();
        leading_number(counts).map(|(count, _)| count)
    });
    finish(numbers, times, share, errors, done)
}

/// What a line tells of a metric, not of a part of it or of its thresholds: "✓ http_req_duration....: avg=13.13ms …".
fn row<'a>(line: &'a str, metric: &str) -> Option<&'a str> {
    let line = line.trim().trim_start_matches(['✓', '✗']).trim_start();
    let rest = line.strip_prefix(metric)?.trim_start_matches('.');
    rest.strip_prefix(':').map(str::trim)
}

fn statistic(numbers: &mut Numbers, name: &str, time: Option<f64>) {
    match name {
        "avg" => numbers.mean = time,
        "min" => numbers.min = time,
        "max" => numbers.max = time,
        "med" => numbers.set_quantile(0.5, time),
        _ => {
            if let Some(share) = name.strip_prefix("p(").and_then(|share| number(share.strip_suffix(')')?)) {
                numbers.set_quantile(share / 100.0, time);
            }
        }
    }
}

fn finish(
    mut numbers: Numbers,
    times: &str,
    failed: Option<f64>,
    errors: Option<f64>,
    done: f64,
) -> Result<Numbers, String> {
    // Which statistics there are is the script's choice (summaryTrendStats), but there are some.
    if numbers.mean.is_none()
        && numbers.min.is_none()
        && numbers.quantiles.is_empty()
        && numbers.max.is_none()
        && done > 0.0
    {
        return Err(cut(times));
    }
    let tried = done.max(errors.unwrap_or(0.0));
    if let Some(errors) = errors.or_else(|| failed.map(|share| (share * done).round())) {
        numbers.set_errors(errors, tried);
    }
    Ok(numbers)
}

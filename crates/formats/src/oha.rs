//! oha: its text is like hey's; its JSON is that of `--output-format json`, before 1.9 `-j`.

use super::text::{at, cut, last_json, number};
use super::{Numbers, hey};
use serde_json::Value;

/// Requests that were open when the time was over: not errors of the server.
fn deadline(error: &str) -> bool {
    error.contains("aborted due to deadline")
}

pub fn read(output: &str) -> Result<Numbers, String> {
    let report = last_json(output, "\"requestsPerSec\"", |value| {
        value.get("summary").is_some_and(|of| of.get("requestsPerSec").is_some())
    });
    match report {
        Some(report) => json(&report),
        None => hey::summary(output, deadline).map_err(|why| {
            if why.starts_with("no report") { format!("{why}, and for JSON with \"summary\"") } else { why }
        }),
    }
}

fn json(report: &Value) -> Result<Numbers, String> {
    let summary = |name: &str| at(report, &["summary", name]);
    let mut numbers = Numbers {
        rate: Some(summary("requestsPerSec").ok_or_else(|| cut("summary.requestsPerSec"))?),
        mean: summary("average"),
        min: summary("fastest"),
        max: summary("slowest"),
        ..Numbers::default()
    };
    for (name, time) in report.get("latencyPercentiles").and_then(Value::as_object).into_iter().flatten() {
        if let Some(share) = name.strip_prefix('p').and_then(number) {
            numbers.set_quantile(share / 100.0, time.as_f64());
        }
    }
    let statuses = report.get("statusCodeDistribution").and_then(Value::as_object);
    let statuses = statuses.ok_or_else(|| cut("statusCodeDistribution"))?;
    let (mut answers, mut refused, mut errors) = (0.0, 0.0, 0.0);
    for (status, count) in statuses {
        let count = count.as_f64().unwrap_or(0.0);
        answers += count;
        refused += if number(status).is_some_and(|status| status >= 400.0) { count } else { 0.0 };
    }
    for (error, count) in report.get("errorDistribution").and_then(Value::as_object).into_iter().flatten() {
        errors += if deadline(error) { 0.0 } else { count.as_f64().unwrap_or(0.0) };
    }
    if numbers.mean.is_none() && answers > 0.0 {
        return Err(cut("summary.average"));
    }
    numbers.done = Some(answers);
    numbers.set_errors(refused + errors, answers + errors);
    Ok(numbers)
}

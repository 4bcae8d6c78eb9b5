//! `twinscope load`, as text or JSON (docs/load.md). Latencies count from when requests were due.

use super::Numbers;
use super::text::{after, at, cut, duration, last_json, last_report, leading_number, none, number, scaled, word};
use serde_json::Value;

const MARKS: &[fn(&str) -> bool] = &[|line| line.starts_with("done ") && line.contains(" due, ")];

fn void(why: &str) -> String {
    format!("void: the client and not the server was measured, for {}", why.chars().take(300).collect::<String>())
}

pub fn read(output: &str) -> Result<Numbers, String> {
    match last_json(output, "\"reached_rate\"", |value| {
        value.get("reached_rate").is_some() && value.get("due").is_some()
    }) {
        Some(report) => json(&report),
        None => text(output),
    }
}

fn json(report: &Value) -> Result<Numbers, String> {
    if let Some(why) = report.get("void").and_then(Value::as_str) {
        return Err(void(why));
    }
    let told = |name: &str| at(report, &[name]).ok_or_else(|| cut(name));
    let (rate, due, done) = (told("reached_rate")?, told("due")?, told("done")?);
    let errors = report.get("errors").ok_or_else(|| cut("errors"))?;
    let kinds = ["connect", "timed_out", "closed", "broken"].map(|kind| at(errors, &[kind]).unwrap_or(0.0));
    let statuses = errors.get("status").and_then(Value::as_object).into_iter().flatten();
    let statuses: f64 = statuses.filter_map(|(_, count)| count.as_f64()).sum();
    let time = |name: &str| at(report, &["latency", name]);
    let mut numbers =
        Numbers { rate: Some(rate), done: Some(done), mean: time("mean"), max: time("max"), ..Numbers::default() };
    for (share, name) in [(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p999")] {
        numbers.set_quantile(share, time(name));
    }
    numbers.set_errors(kinds.iter().sum::<f64>() + statuses, due);
    if numbers.mean.is_none() && done > 0.0 {
        return Err(cut("latency"));
    }
    Ok(numbers)
}

fn text(output: &str) -> Result<Numbers, String> {
    let lines = last_report(output, MARKS).ok_or_else(|| none("\"done N of N due\" and JSON with \"reached_rate\""))?;
    // The sentence stands above the numbers: the last of these is theirs.
    let sentence =
        output.lines().rev().skip_while(|line| !(MARKS[0])(line.trim())).skip(1).find(|line| !line.trim().is_empty());
    if let Some(why) =
        sentence.and_then(|line| line.trim().strip_prefix("Void: the client and not the server was measured, for "))
    {
        return Err(void(why.trim_end_matches('.')));
    }
    // "done 9990 of 10000 due, 999/s of 1 k/s asked for"
    let (counts, rate) = after(&lines, "done ").and_then(|line| line.split_once(" due, ")).unwrap_or_default();
    let (done, due) = counts.split_once(" of ").unwrap_or_default();
    let (done, due) = (number(done).ok_or_else(|| cut("done"))?, number(due).ok_or_else(|| cut("due"))?);
    let rate = rate.split("/s").next().and_then(scaled).ok_or_else(|| cut("the rate"))?;
    let mut numbers = Numbers { rate: Some(rate), done: Some(done), ..Numbers::default() };
    times(&mut numbers, &lines);
    let errors = after(&lines, "errors ").and_then(leading_number).ok_or_else(|| cut("errors"))?;
    numbers.set_errors(errors.0, due);
    if numbers.mean.is_none() && done > 0.0 {
        return Err(cut("latency"));
    }
    Ok(numbers)
}

fn times(numbers: &mut Numbers, lines: &[&str]) {
    let Some(at) = lines.iter().position(|line| word(line) == "mean" && line.contains(" max")) else { return };
    let row = lines.iter().skip(at + 1).find_map(|line| line.trim_start().strip_prefix("latency"));
    let Some((head, row)) = lines.get(at).zip(row) else { return };
    let cells = row.strip_prefix(", from when due").unwrap_or(row);
    // "97.3 µs  82.1 µs": numbers and units in turn.
    let words: Vec<&str> = cells.split_whitespace().collect();
    for (name, pair) in head.split_whitespace().zip(words.chunks(2)) {
        let [value, unit] = pair else { return };
        let time = duration(&format!("{value} {unit}"));
        match name {
            "mean" => numbers.mean = time,
            "max" => numbers.max = time,
            _ => {
                if let Some(share) = name.strip_prefix('p').and_then(number) {
                    numbers.set_quantile(share / 100.0, time);
                }
            }
        }
    }
}

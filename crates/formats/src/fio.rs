//! fio 3: its text, or its JSON (`--output-format=json`), of all jobs together. What is done are reads, writes and trims;
//! percentiles are those of completion latency, and only the JSON of one job with one direction tells them.

use super::Numbers;
use super::text::{at, cut, last_json, last_report, leading_number, none, number, scaled, unit};
use serde_json::Value;

// The first begins a run, the second a job's report.
const MARKS: &[fn(&str) -> bool] = &[
    |line| line.starts_with("Starting ") && (line.contains("process") || line.contains("thread")),
    |line| line.contains("(groupid="),
];

const DIRECTIONS: [&str; 3] = ["read", "write", "trim"];

/// What one direction of one job did.
#[derive(Clone, Copy, Default)]
struct Way {
    done: f64,
    rate: f64,
    /// Seconds.
    mean: f64,
    min: Option<f64>,
    max: Option<f64>,
}

/// All of them together.
fn sum(ways: &[Way]) -> Numbers {
    let done: f64 = ways.iter().map(|way| way.done).sum();
    let least = ways.iter().filter_map(|way| way.min).reduce(f64::min);
    let most = ways.iter().filter_map(|way| way.max).reduce(f64::max);
    let mean = ways.iter().map(|way| way.mean * way.done).sum::<f64>() / done;
    Numbers {
        rate: Some(ways.iter().map(|way| way.rate).sum()),
        mean: Some(mean).filter(|mean| mean.is_finite()),
        min: least,
        max: most,
        done: Some(done),
        ..Numbers::default()
    }
}

pub fn read(output: &str) -> Result<Numbers, String> {
    let is = |value: &Value| value.get("fio version").is_some() && value.get("jobs").is_some();
    match last_json(output, "\"fio version\"", is) {
        Some(report) => json(&report),
        None => text(output),
    }
}

fn json(report: &Value) -> Result<Numbers, String> {
    let jobs = report.get("jobs").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut ways = Vec::new();
    let mut percentiles = Vec::new();
    for job in jobs {
        for direction in DIRECTIONS {
            let told = |path: &[&str]| at(job, &[&[direction], path].concat());
            // One without trims lacks them.
            let Some(done) = told(&["total_ios"]) else { continue };
            if done == 0.0 {
                continue;
            }
            let rate = told(&["iops"]).ok_or_else(|| cut("iops"))?;
            let time = |name: &str| told(&["lat_ns", name]).map(|time| time / 1e9);
            let mean = time("mean").ok_or_else(|| cut("lat_ns"))?;
            ways.push(Way { done, rate, mean, min: time("min"), max: time("max") });
            percentiles.extend(job.get(direction).and_then(|of| of.get("clat_ns")?.get("percentile")?.as_object()));
        }
    }
    if jobs.is_empty() {
        return Err(cut("a job"));
    }
    let mut numbers = sum(&ways);
    if let ([_], [of]) = (ways.as_slice(), percentiles.as_slice()) {
        for (share, time) in of.iter() {
            if let Some(share) = number(share) {
                numbers.set_quantile(share / 100.0, time.as_f64().map(|time| time / 1e9));
            }
        }
    }
    Ok(numbers)
}

fn text(output: &str) -> Result<Numbers, String> {
    let lines = last_report(output, MARKS)
        .ok_or_else(|| none("\"Starting N processes\", \"(groupid=\" and JSON with \"fio version\""))?;
    if !lines.iter().any(|line| line.starts_with("Run status group")) {
        return Err(cut("\"Run status group\""));
    }
    let mut ways: Vec<Way> = Vec::new();
    // Of the job that is being read: by direction, and which line was last.
    let (mut job, mut now) = ([None::<(f64, Way)>; 3], None);
    for line in lines.iter().map(|line| line.trim()) {
        if let Some(direction) = DIRECTIONS.iter().position(|way| line.starts_with(&format!("{way}: IOPS="))) {
            // "read: IOPS=8404, BW=32.8MiB/s (34.4MB/s)(65.7MiB/2001msec)".
            let run = line.rsplit_once('/').and_then(|(_, run)| leading_number(run)).map(|(run, _)| run / 1e3);
            let run = run.filter(|run| *run > 0.0).ok_or_else(|| cut("how long a job ran"))?;
            now = Some(direction);
            job[direction] = Some((run, Way::default()));
        } else if let (Some((_, way)), Some(rest)) = (now.and_then(|now| job[now].as_mut()), line.strip_prefix("lat ("))
        {
            // "lat (usec): min=39, max=7688, avg=79.04, stdev=156.08"; later lines of that beginning are the distribution.
            let Some((name, cells)) = rest.split_once("):") else { continue };
            let length = unit(name.strip_suffix("ec").unwrap_or(name)).ok_or_else(|| cut("the unit of lat"))?;
            for (what, value) in cells.split(',').filter_map(|cell| cell.trim().split_once('=')) {
                let value = scaled(value).map(|value| value * length);
                match what {
                    "min" => way.min = value,
                    "max" => way.max = value,
                    "avg" => way.mean = value.ok_or_else(|| cut("the average of lat"))?,
                    _ => {}
                }
            }
        } else if let Some(totals) = line.strip_prefix("issued rwts: total=") {
            let totals = totals.split(' ').next().unwrap_or_default();
            for (of, total) in std::mem::take(&mut job).into_iter().zip(totals.split(',')) {
                let done = number(total).ok_or_else(|| cut("how many were issued"))?;
                let Some((run, way)) = of else { continue };
                ways.push(Way { done, rate: done / run, ..way });
            }
            now = None;
        }
    }
    if ways.is_empty() { Err(cut("a job")) } else { Ok(sum(&ways)) }
}

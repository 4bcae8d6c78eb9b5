//! sysbench 1.0 and later, of any test: what it calls an event is a transaction of a database test, a prime search of `cpu`.

use super::Numbers;
use super::text::{after, cut, last_report, leading_number, none, number};

// The first begins a run, the second its report.
const MARKS: &[fn(&str) -> bool] = &[
    |line| line.starts_with("Running the test with following options:"),
    |line| line.starts_with("General statistics:"),
];

pub fn read(output: &str) -> Result<Numbers, String> {
    let lines = last_report(output, MARKS)
        .ok_or_else(|| none("\"Running the test with following options:\" and \"General statistics:\""))?;
    let done = after(&lines, "total number of events:").and_then(number);
    let done = done.ok_or_else(|| cut("\"total number of events\""))?;
    let time = after(&lines, "total time:").and_then(|time| number(time.strip_suffix('s')?));
    let time = time.filter(|time| *time > 0.0).ok_or_else(|| cut("\"total time\""))?;
    // "transactions: 1234 (123.40 per sec.)" of databases; others say events per second, or leave it to whoever divides.
    let per_second = |rest: &str| leading_number(rest.split_once('(')?.1).map(|(rate, _)| rate);
    let rate = after(&lines, "transactions:").and_then(per_second);
    let rate = rate.or_else(|| after(&lines, "events per second:").and_then(number)).unwrap_or(done / time);
    let mut numbers = Numbers { rate: Some(rate), done: Some(done), ..Numbers::default() };
    let begin = lines.iter().position(|line| line.trim() == "Latency (ms):").ok_or_else(|| cut("\"Latency (ms)\""))?;
    let latency = lines.get(begin + 1..).unwrap_or_default();
    let milliseconds = |label: &str| after(latency, label).and_then(number).map(|time| time / 1e3);
    numbers.mean = Some(milliseconds("avg:").ok_or_else(|| cut("the average latency"))?);
    (numbers.min, numbers.max) = (milliseconds("min:"), milliseconds("max:"));
    // "95th percentile:", or another where --percentile asked for it; with 0 for none it says nothing.
    for line in latency {
        let Some((share, time)) = line.trim().split_once("th percentile:") else { continue };
        if let Some(share) = number(share) {
            numbers.set_quantile(share / 100.0, number(time.trim()).map(|time| time / 1e3));
        }
    }
    // "ignored errors: 0 (0.00 per sec.)" of databases.
    if let Some((errors, _)) = after(&lines, "ignored errors:").and_then(leading_number) {
        numbers.set_errors(errors, done + errors);
    }
    Ok(numbers)
}

//! pgbench of PostgreSQL 9.6 and later. It tells no percentiles.

use super::Numbers;
use super::text::{after, cut, last_report, leading_number, none, number};

// The first begins a report, the second is in it.
const MARKS: &[fn(&str) -> bool] =
    &[|line| line.starts_with("transaction type:") || line.starts_with("number of transactions actually processed:")];

pub fn read(output: &str) -> Result<Numbers, String> {
    let lines = last_report(output, MARKS)
        .ok_or_else(|| none("\"transaction type:\" and \"number of transactions actually processed:\""))?;
    // On the standard error, which may stand before the report as well as after it.
    if output.contains("Run was aborted") {
        return Err("the run was aborted, as pgbench says".into());
    }
    // "100/100" where transactions were counted, "3046" where time was.
    let count = |label: &str| after(&lines, label).and_then(leading_number).map(|(count, _)| count);
    let done = count("number of transactions actually processed:");
    let done = done.ok_or_else(|| cut("\"number of transactions actually processed\""))?;
    // Before 14 two lines: with connections, and without. The second is what later ones tell.
    let rates = lines.iter().filter_map(|line| {
        let (rate, rest) = leading_number(line.trim().strip_prefix("tps = ")?)?;
        Some((!rest.contains("including connections establishing"), rate))
    });
    let rate =
        rates.fold(None, |best: Option<(bool, f64)>, next| if best.is_some_and(|b| b.0) { best } else { Some(next) });
    let Some((_, rate)) = rate else { return Err(cut("tps")) };
    let mut numbers = Numbers { rate: Some(rate), done: Some(done), ..Numbers::default() };
    // "latency average = 3.722 ms", once with a colon; " (including failures)" may follow.
    let mean = after(&lines, "latency average").and_then(|rest| {
        let rest = rest.strip_prefix(['=', ':'])?.trim_start();
        let mut words = rest.split_whitespace();
        let time = words.next().and_then(number);
        time.filter(|_| words.next() == Some("ms"))
    });
    numbers.mean = mean.map(|mean| mean / 1e3);
    if numbers.mean.is_none() && done > 0.0 {
        return Err(cut("\"latency average\""));
    }
    // 15 and later say how many failed; --latency-limit with --rate how many were not begun for being late.
    let failed = count("number of failed transactions:");
    let skipped = count("number of transactions skipped:");
    if failed.or(skipped).is_some() {
        let errors = failed.unwrap_or(0.0) + skipped.unwrap_or(0.0);
        numbers.set_errors(errors, done + errors);
    }
    Ok(numbers)
}

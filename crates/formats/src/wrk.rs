//! wrk 4, and wrk2, which prints the same and an HdrHistogram.

use super::Numbers;
use super::text::{after, cut, duration, last_report, leading_number, none, number, scaled, word};

// The first begins a run, the second its report.
const MARKS: &[fn(&str) -> bool] =
    &[|line| (line.starts_with("Running ") && line.contains(" test @ ")) || line.starts_with("Thread Stats ")];

pub fn read(output: &str) -> Result<Numbers, String> {
    let lines = last_report(output, MARKS).ok_or_else(|| none("\"Running … test @\" or \"Thread Stats\""))?;
    let (mut numbers, timed) = summary(&lines, true)?;
    let at = lines.iter().position(|line| line.trim() == "Latency Distribution");
    if timed {
        distribution(&mut numbers, at.and_then(|at| lines.get(at + 1..)).unwrap_or_default());
    }
    Ok(numbers)
}

pub fn read2(output: &str) -> Result<Numbers, String> {
    let mut lines = last_report(output, MARKS).ok_or_else(|| none("\"Running … test @\" or \"Thread Stats\""))?;
    let (mut numbers, timed) = summary(&lines, false)?;
    if !timed {
        return Ok(numbers);
    }
    // With -U latencies from when requests were sent follow, which hide what waiting requests would have seen.
    if let Some(at) = lines.iter().position(|line| line.contains("Uncorrected Latency")) {
        lines.truncate(at);
    }
    let recorded = lines.iter().position(|line| line.trim_start().starts_with("Latency Distribution"));
    distribution(&mut numbers, recorded.and_then(|at| lines.get(at + 1..)).unwrap_or_default());
    spectrum(&mut numbers, &lines);
    Ok(numbers)
}

/// All but the distribution, and whether any time was recorded. wrk counts an answer that came after its time-out as an answer and as
/// a time-out, and leaves it out of latencies; for wrk2 a time-out is a request that has no answer.
fn summary(lines: &[&str], late_answers: bool) -> Result<(Numbers, bool), String> {
    let rate = after(lines, "Requests/sec:").and_then(scaled).ok_or_else(|| cut("Requests/sec"))?;
    let done = lines.iter().find_map(|line| {
        let (count, rest) = leading_number(line.trim())?;
        rest.starts_with(" requests in ").then_some(count)
    });
    let done = done.ok_or_else(|| cut("\"N requests in TIME\""))?;
    let mut numbers = Numbers { rate: Some(rate), done: Some(done), ..Numbers::default() };
    let row = lines.iter().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["Latency", mean, _deviation, max, within] => Some((*mean, *max, *within)),
            _ => None,
        }
    });
    let (mean, max, within) = row.ok_or_else(|| cut("the row Latency"))?;
    // "0.00us 0.00us 0.00us -nan%": a share of nothing.
    let timed = !within.contains("nan") && done > 0.0;
    if timed {
        (numbers.mean, numbers.max) = (Some(duration(mean).ok_or_else(|| cut("the mean of Latency"))?), duration(max));
    }
    let mut errors = after(lines, "Non-2xx or 3xx responses:").and_then(|count| number(word(count))).unwrap_or(0.0);
    let mut unanswered = 0.0;
    if let Some(kinds) = after(lines, "Socket errors:") {
        for kind in kinds.split(',') {
            let count =
                kind.split_whitespace().nth(1).and_then(number).ok_or_else(|| cut("a number of Socket errors"))?;
            errors += count;
            unanswered += if late_answers && word(kind) == "timeout" { 0.0 } else { count };
        }
    }
    numbers.set_errors(errors, done + unanswered);
    Ok((numbers, timed))
}

/// Lines such as "99%    2.89ms" and "99.900%   12.30ms", until another.
fn distribution(numbers: &mut Numbers, lines: &[&str]) {
    for line in lines.iter().filter(|line| !line.trim().is_empty()) {
        let Some((share, time)) = line.trim().split_once('%') else { break };
        let Some(share) = number(share) else { break };
        numbers.set_quantile(share / 100.0, duration(time));
    }
}

/// The detailed spectrum of wrk2, in milliseconds with three digits: more exact than the lines above it.
fn spectrum(numbers: &mut Numbers, lines: &[&str]) {
    let begin = lines.iter().position(|line| line.trim_start().starts_with("Detailed Percentile spectrum"));
    let Some(lines) = begin.and_then(|at| lines.get(at..)) else { return };
    for line in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [time, share, _count, _odds] = words.as_slice()
            && let (Some(time), Some(share)) = (number(time), number(share))
        {
            numbers.set_quantile(share, Some(time / 1e3));
            if share == 0.0 {
                numbers.min = Some(time / 1e3);
            }
        }
    }
    // "#[Mean    =        6.602, StdDeviation   =        1.919]"
    let told = |label: &str| {
        let value = after(lines, label)?.strip_prefix('=')?.split(',').next()?.trim();
        number(value).map(|time| time / 1e3)
    };
    numbers.mean = told("#[Mean").or(numbers.mean);
    numbers.max = told("#[Max").or(numbers.max);
}

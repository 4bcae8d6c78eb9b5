//! hey, and what oha's text has in common with it.

use super::Numbers;
use super::text::{after, cut, duration, last_report, leading_number, none, number};

const MARKS: &[fn(&str) -> bool] = &[|line| line == "Summary:"];

pub fn read(output: &str) -> Result<Numbers, String> {
    summary(output, |_| false)
}

/// The report; errors whose text `is_none` takes are none.
pub fn summary(output: &str, is_none: impl Fn(&str) -> bool) -> Result<Numbers, String> {
    let lines = last_report(output, MARKS).ok_or_else(|| none("\"Summary:\""))?;
    let rate = after(&lines, "Requests/sec:").and_then(number).ok_or_else(|| cut("Requests/sec"))?;
    let time = |label: &str| after(&lines, label).and_then(duration);
    let mut numbers = Numbers {
        rate: Some(rate),
        mean: time("Average:"),
        min: time("Fastest:"),
        max: time("Slowest:"),
        ..Numbers::default()
    };
    let (mut answers, mut refused, mut errors) = (0.0, 0.0, 0.0);
    let mut section = "";
    let mut sections = 0;
    for line in lines.iter().map(|line| line.trim()) {
        match line {
            "Latency distribution:" | "Response time distribution:" => section = "times",
            "Status code distribution:" => (section, sections) = ("statuses", sections + 1),
            "Error distribution:" => (section, sections) = ("errors", sections + 1),
            _ if line.ends_with(':') && !line.starts_with('[') => section = "",
            _ if section == "times" => {
                // "99.90% in 0.3119 secs"; some versions of hey have two per cent signs.
                if let Some((share, time)) = line.split_once(" in ")
                    && let Some(share) = number(share.trim_end_matches('%'))
                {
                    numbers.set_quantile(share / 100.0, duration(time));
                }
            }
            _ => {
                let Some((count, rest)) = counted(line) else { continue };
                match (section, rest.strip_suffix(" responses")) {
                    ("statuses", Some(_)) => {
                        answers += count.1;
                        refused += if count.0 >= 400.0 { count.1 } else { 0.0 };
                    }
                    ("errors", _) if !is_none(rest) => errors += count.0,
                    _ => {}
                }
            }
        }
    }
    // One of the two is printed last: without them the report was cut off.
    if sections == 0 {
        return Err(cut("\"Status code distribution\""));
    }
    if numbers.mean.is_none() && answers > 0.0 {
        return Err(cut("Average"));
    }
    numbers.done = Some(answers);
    numbers.set_errors(refused + errors, answers + errors);
    Ok(numbers)
}

/// "[200] 2292 responses" or "[20] aborted": what is in the brackets, the number after them, and the text after them.
fn counted(line: &str) -> Option<((f64, f64), &str)> {
    let (inside, rest) = line.strip_prefix('[')?.split_once(']')?;
    let rest = rest.trim();
    Some(((number(inside.trim())?, leading_number(rest).map_or(0.0, |(count, _)| count)), rest))
}

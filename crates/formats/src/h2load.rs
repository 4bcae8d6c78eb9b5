//! h2load of nghttp2. Until 1.6x it tells minimum, maximum and mean; newer ones have percentiles too. Columns go by their names.

use super::Numbers;
use super::text::{after, cut, duration, last_report, leading_number, none, number};

// The first begins a run, the second its report.
const MARKS: &[fn(&str) -> bool] = &[|line| line == "starting benchmark..." || line.starts_with("finished in ")];

pub fn read(output: &str) -> Result<Numbers, String> {
    let lines = last_report(output, MARKS).ok_or_else(|| none("\"starting benchmark...\" or \"finished in\""))?;
    // "finished in 10.00s, 99833.10 req/s, 23.42MB/s"
    let finished = after(&lines, "finished in ").ok_or_else(|| cut("\"finished in\""))?;
    let rate = finished.split(", ").find_map(|part| number(part.strip_suffix(" req/s")?));
    let requests = after(&lines, "requests:").ok_or_else(|| cut("\"requests:\""))?;
    let count = |name: &str| {
        requests.split(',').find_map(|part| {
            let (count, rest) = leading_number(part.trim())?;
            (rest.trim() == name).then_some(count)
        })
    };
    let (done, failed) = (count("done"), count("failed"));
    let mut numbers = Numbers {
        rate: Some(rate.ok_or_else(|| cut("req/s"))?),
        done: Some(done.ok_or_else(|| cut("the number of requests done"))?),
        ..Numbers::default()
    };
    let failed = failed.ok_or_else(|| cut("the number of requests failed"))?;
    numbers.set_errors(failed, failed + count("succeeded").ok_or_else(|| cut("the number of requests succeeded"))?);
    times(&mut numbers, &lines);
    if numbers.mean.is_none() && done > Some(0.0) {
        return Err(cut("the mean time for request"));
    }
    Ok(numbers)
}

fn times(numbers: &mut Numbers, lines: &[&str]) {
    let columns = lines.iter().position(|line| {
        let mut words = line.split_whitespace();
        words.next() == Some("min") && words.next() == Some("max")
    });
    let Some((head, rows)) = columns.and_then(|at| lines.get(at..)).and_then(<[&str]>::split_first) else { return };
    let row = rows.iter().find_map(|line| {
        let (label, cells) = line.split_once(':')?;
        matches!(label.trim(), "time for request" | "request").then_some(cells)
    });
    for (name, time) in head.split_whitespace().zip(row.unwrap_or_default().split_whitespace().map(duration)) {
        match name {
            "min" => numbers.min = time,
            "max" => numbers.max = time,
            "mean" => numbers.mean = time,
            "median" => numbers.set_quantile(0.5, time),
            _ => {
                if let Some(share) = name.strip_prefix('p').and_then(number) {
                    numbers.set_quantile(share / 100.0, time);
                }
            }
        }
    }
}

//! redis-benchmark of Redis 5 to 7 and of Valkey, of one test (`-t get`): its text, or that of `-q` or `--csv`, which have no
//! count of requests.

use super::Numbers;
use super::text::{cut, leading_number, none, number};

const SUMMARY: &str = "throughput summary";

/// One test of it.
struct Test {
    name: String,
    numbers: Option<Numbers>,
}

pub fn read(output: &str) -> Result<Numbers, String> {
    let lines: Vec<&str> = output.lines().map(str::trim).collect();
    let told = [text(&lines), quiet(&lines), csv(&lines)];
    let last = told.into_iter().flatten().max_by_key(|(at, _)| *at);
    let (_, mut tests) =
        last.ok_or_else(|| none("\"====== TEST ======\", \"TEST: N requests per second\" and \"\"test\",\"rps\"\""))?;
    let mut names: Vec<&str> = tests.iter().map(|test| test.name.as_str()).collect();
    names.dedup();
    if names.len() > 1 {
        let count = names.len();
        return Err(format!(
            "{count} tests are in it ({}), so it is not clear which counts: run one (-t get)",
            names.join(", ")
        ));
    }
    tests.pop().and_then(|last| last.numbers).ok_or_else(|| cut("the throughput of a test"))
}

/// Tests, and the line where the last of them begins.
type Found = Option<(usize, Vec<Test>)>;

/// The lines after "====== GET ======", until the next.
fn text(lines: &[&str]) -> Found {
    let title = |line: &str| Some(line.strip_prefix("====== ")?.strip_suffix(" ======")?.to_owned());
    let begins: Vec<usize> =
        (0..lines.len()).filter(|at| lines.get(*at).is_some_and(|line| title(line).is_some())).collect();
    let ends = begins.iter().skip(1).copied().chain([lines.len()]);
    let of = |(from, to): (usize, usize)| {
        let part = lines.get(from..to)?;
        Some(Test { name: title(part.first()?)?, numbers: report(part) })
    };
    let found = begins.iter().copied().zip(ends).filter_map(of).collect();
    Some((*begins.last()?, found))
}

fn report(lines: &[&str]) -> Option<Numbers> {
    // "20000 requests completed in 0.50 seconds".
    let done = lines.iter().find_map(|line| {
        let (count, rest) = leading_number(line)?;
        rest.starts_with(" requests completed in ").then_some(count)
    })?;
    // "throughput summary: 40000.00 requests per second"; before 6.2 without the words before the number.
    let rate = lines.iter().find_map(|line| {
        let (rate, rest) =
            leading_number(line.strip_prefix(SUMMARY).map_or(*line, |rest| rest.trim_start_matches([':', ' '])))?;
        (rest == " requests per second").then_some(rate)
    })?;
    let mut numbers = Numbers { rate: Some(rate), done: Some(done), ..Numbers::default() };
    let Some(at) = lines.iter().position(|line| line.starts_with("latency summary (msec):")) else {
        return Some(numbers);
    };
    let row = |at: usize| lines.get(at).map(|line| line.split_whitespace().collect::<Vec<_>>());
    let (names, values) = row(at + 1).zip(row(at + 2))?;
    for (name, value) in names.into_iter().zip(values) {
        statistic(&mut numbers, name, number(value));
    }
    numbers.mean.map(|_| numbers)
}

/// Lines of `-q`: "GET: 39215.68 requests per second, p50=0.087 msec". Before it stand those of its progress, "GET: rps=…".
fn quiet(lines: &[&str]) -> Found {
    let one = |(at, line): (usize, &&str)| {
        let (name, rest) = line.split_once(": ").filter(|(name, _)| *name != SUMMARY)?;
        let (rate, rest) = leading_number(rest)?;
        let rest = rest.strip_prefix(" requests per second")?;
        let mut numbers = Numbers { rate: Some(rate), ..Numbers::default() };
        for (name, value) in rest.split(',').filter_map(|cell| cell.trim().strip_suffix(" msec")?.split_once('=')) {
            statistic(&mut numbers, name, number(value));
        }
        Some((at, Test { name: name.to_owned(), numbers: Some(numbers) }))
    };
    let (at, found): (Vec<usize>, Vec<Test>) = lines.iter().enumerate().filter_map(one).unzip();
    Some((*at.last()?, found))
}

/// `--csv`, whose first line names the columns since 6.2; before it has none, and two columns.
fn csv(lines: &[&str]) -> Found {
    let cells = |line: &str| line.split(',').map(|cell| cell.trim_matches('"').to_owned()).collect::<Vec<_>>();
    let at = lines.iter().rposition(|line| line.starts_with("\"test\",\"rps\""))?;
    let names = cells(lines.get(at)?);
    let rows = lines.get(at + 1..)?.iter().take_while(|line| line.starts_with('"'));
    let found: Vec<Test> = rows
        .filter_map(|line| {
            let values = cells(line);
            let mut numbers = Numbers { rate: Some(number(values.get(1)?)?), ..Numbers::default() };
            for (name, value) in names.iter().zip(&values) {
                if let Some(name) = name.strip_suffix("_latency_ms") {
                    statistic(&mut numbers, name, number(value));
                }
            }
            // The last column: a line that was cut off lacks it.
            let numbers = Some(numbers).filter(|_| values.len() == names.len());
            Some(Test { name: values.first()?.clone(), numbers })
        })
        .collect();
    (!found.is_empty()).then_some((at, found))
}

/// A time in milliseconds by the name that its column has.
fn statistic(numbers: &mut Numbers, name: &str, time: Option<f64>) {
    let time = time.map(|time| time / 1e3);
    match name {
        "avg" => numbers.mean = time,
        "min" => numbers.min = time,
        "max" => numbers.max = time,
        _ => {
            if let Some(share) = name.strip_prefix('p').and_then(number) {
                numbers.set_quantile(share / 100.0, time);
            }
        }
    }
}

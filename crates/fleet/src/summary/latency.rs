//! How long requests took: quantiles of each service, and of all servers of the host together, with their courses over time. They are what `compare`
//! compares, `latency.p99{comm=…,port=…,role=server}`; a fleet is asked of those of all servers, which have no labels, whatever its ports are.

use super::blocks::BLOCKS;
use super::metrics::{Declaration, declare, per_word};
use super::{Rows, SLICES, Subject, object, unix};
use crate::folder::Cell;
use compare::{LEAST_LATENCY, Per, QUANTILES, service_labels};
use model::Polarity;
use query::latency::{Kind, Latency, Times, histogram};
use query::stats::bootstrap::Bootstrap;
use std::collections::BTreeMap;

/// The quantiles of all servers together that a fleet is asked of.
pub const ASKED: [&str; 2] = ["latency.p50", "latency.p99"];

/// Services of a kind that are kept: those with the most requests.
const SERVICES: usize = 5;

/// Requests beyond a quantile in a stretch of time that make it to be drawn, as `compare` has it.
const FEWEST: f64 = 2.0;

/// Resamples for a standard error: fewer than for an interval's ends do.
const RESAMPLES: usize = 199;

/// Half the width of a 95 % interval, in standard errors of a normal distribution.
const HALF: f64 = 1.96;

/// Adds them.
pub fn reduce(subject: &Subject<'_>, rows: &mut Rows) {
    let Some(latency) = Latency::load(&subject.run.recording, &subject.window) else { return };
    if let Some(all) = latency.together(true, Kind::Service) {
        for ((_, q), name) in QUANTILES.iter().zip(names()).filter(|(_, name)| ASKED.contains(&&**name)) {
            course(subject, &latency, &all, (&name, *q), rows);
        }
        quantiles(subject, &latency, &all, &BTreeMap::new(), rows);
    }
    for server in [true, false] {
        for times in latency.of(server, Kind::Service).take(SERVICES) {
            quantiles(subject, &latency, times, &service_labels(&times.service), rows);
        }
    }
}

fn names() -> impl Iterator<Item = String> {
    QUANTILES.iter().map(|(name, _)| format!("latency.{name}"))
}

fn quantiles(
    subject: &Subject<'_>,
    latency: &Latency,
    times: &Times,
    labels: &BTreeMap<String, String>,
    rows: &mut Rows,
) {
    let histogram = histogram(&[(latency, times)]);
    let boot = Bootstrap { resamples: RESAMPLES, ..Bootstrap::default() };
    let intervals = histogram.intervals(&QUANTILES.map(|(_, q)| q), &boot);
    let labels = object(labels);
    for (((_, q), name), interval) in QUANTILES.iter().zip(names()).zip(intervals) {
        let Some(mean) = latency.quantile(times, *q) else { continue };
        let help = format!("{}th percentile of the time from a request to the first byte of its answer", q * 100.0);
        declare(
            &Declaration {
                name: name.clone(),
                unit: "s",
                per_operation: None,
                polarity: Polarity::Worse,
                is_rate: false,
                floor: LEAST_LATENCY,
                help: &help,
            },
            rows,
        );
        let blocks = BLOCKS.min(latency.stretches()).max(1);
        let half = |odd: usize| {
            latency.quantile_in(times, *q, 1.0, |stretch| stretch * blocks / latency.stretches().max(1) % 2 == odd)
        };
        let mut each = histogram.by_stretch(*q, FEWEST / (1.0 - q));
        each.sort_by(f64::total_cmp);
        let at =
            |share: f64| each.get(((share * each.len() as f64) as usize).min(each.len().saturating_sub(1))).copied();
        rows.metric.push(&[
            Cell::from(&*name),
            Cell::from(&*labels),
            per_word(Per::Second).into(),
            subject.host.clone(),
            subject.id.clone(),
            (each.len() as i64).into(),
            mean.into(),
            interval.map(|of| (of.high - of.low) / 2.0 / HALF).into(),
            deviation(&each).into(),
            at(0.5).into(),
            at(0.99).into(),
            half(0).into(),
            half(1).into(),
        ]);
    }
}

fn deviation(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (n > 1.0).then(|| (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt())
}

/// Adds the course of a quantile; a slice with too few requests is missing.
fn course(subject: &Subject<'_>, latency: &Latency, times: &Times, (name, q): (&str, f64), rows: &mut Rows) {
    let stretches = latency.stretches();
    let slices = stretches.min(SLICES);
    let from = subject.window.from as f64 / 1e9;
    for slice in 0..slices {
        let range = slice * stretches / slices..(slice + 1) * stretches / slices;
        let starts = |stretch: usize| unix(subject, from + stretch as f64 * latency.stretch());
        let ends = if slice + 1 == slices { unix(subject, subject.window.to as f64 / 1e9) } else { starts(range.end) };
        rows.slice.push(&[
            name.into(),
            "{}".into(),
            per_word(Per::Second).into(),
            subject.host.clone(),
            subject.id.clone(),
            (slice as i64).into(),
            starts(range.start).into(),
            ends.into(),
            latency.quantile_in(times, q, FEWEST / (1.0 - q), |stretch| range.contains(&stretch)).into(),
        ]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::{METRIC, SLICE};
    use compare::Choice;
    use model::Manifest;
    use query::Run;
    use query::stats::Comparer;
    use query::testing::TURN_TIME;

    #[test]
    fn quantiles_of_all_servers_and_of_each_service() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.twin");
        let duration = Some(40_000_000_000);
        let manifest = Manifest { duration, interval: 1_000_000_000, ..Manifest::default() };
        let mut text = String::from("t comm role protocol port peer what low high count\n");
        for t in 1..=40 {
            // Odd blocks of two seconds take twice as long.
            let (low, high) = if (t - 1) / 2 % 2 == 0 { (1_000_000, 2_000_000) } else { (2_000_000, 4_000_000) };
            text += &format!("{t} web server tcp 80 - service {low} {high} {}\n", 300 + t * 7 % 11 * 10);
            text += &format!("{t} web client tcp 5432 10.0.0.1 service 1000 2000 3\n");
        }
        query::testing::write(&path, &manifest, &[(&TURN_TIME, &text)]);
        let run = Run { name: "run".into(), recording: store::Recording::open(&path).unwrap(), stretch: None };
        let mut rows = Rows::default();
        crate::summary::reduce(&run, "run.twin", &Choice::Whole, &mut Comparer::default(), &mut rows).unwrap();
        let place = |name: &str| METRIC.place(name).unwrap();
        let found: Vec<(String, String)> = (0..rows.metric.len())
            .filter(|row| rows.metric.text(*row, place("metric")) == Some("latency.p50"))
            .map(|row| {
                let value = |name: &str| rows.metric.columns[place(name)].real(row);
                let labels = rows.metric.text(row, place("labels")).unwrap().to_owned();
                let ms = |name: &str| format!("{:.1}", 1e3 * value(name));
                (labels, format!("{} {} {} {}", ms("mean"), ms("even"), ms("odd"), value("error") > 0.0))
            })
            .collect();
        let all = "2.0 1.5 3.0 true";
        let expected = [
            ("{}", all),
            (r#"{"comm":"web","port":"80","role":"server"}"#, all),
            (r#"{"comm":"web","port":"5432","role":"client"}"#, "0.0 0.0 0.0 false"),
        ];
        assert_eq!(found, expected.map(|(labels, values)| (labels.to_owned(), values.to_owned())));
        let of = |row: &usize| rows.slice.text(*row, SLICE.place("metric").unwrap()) == Some("latency.p99");
        assert_eq!((0..rows.slice.len()).filter(of).count(), 40);
    }
}

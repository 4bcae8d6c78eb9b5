//! How long requests took, in the terminal: the section of `compare`, and the busiest servers of one recording or of now.

use crate::text;
use compare::{Comparison, Latency, Quantile};
use query::latency::{Kind, Latency as Recorded, Service};
use query::work::Traffic;
use query::{human, ratio, times_interval};
use serde_json::{Value, json};
use store::Recording;

/// Services that are listed, unless all are asked for.
const SERVICES: usize = 3;

/// Whether there is anything to show for the comparison of this run: it and the baseline answered requests of one service.
pub(crate) fn is_shown(comparison: &Comparison, run: usize) -> bool {
    comparison.busiest(run).is_some()
}

/// Who answered, and where.
fn name(service: &Service) -> String {
    text::clean(&format!("{}, {}", service.comm, service.address()))
}

/// What a service is called on both sides.
fn names(latency: &Latency) -> String {
    match (name(&latency.baseline.service), name(&latency.other.service)) {
        (a, b) if a == b => a,
        (a, b) => format!("{a} → {b}"),
    }
}

fn significant(q: &Quantile) -> String {
    if q.significant { "significant".into() } else { String::new() }
}

fn interval(q: &Quantile) -> String {
    q.ratio.map_or_else(String::new, |(low, high)| times_interval(low, high))
}

/// Prints how long requests took in this run and the baseline, which are called `sides`.
pub(crate) fn print(comparison: &Comparison, run: usize, sides: [&str; 2], all: bool) {
    if !is_shown(comparison, run) {
        return;
    }
    println!("\nLatency: first byte of the request read to first byte of the answer sent");
    let of = |server: bool| comparison.latency.iter().filter(move |l| l.run == run && l.is_server() == server);
    let shown = if all { usize::MAX } else { SERVICES };
    let [baseline, other] = sides;
    let mut table =
        text::table(&["requests answered", baseline, other, "change", "95 % CI", ""], &[false, true, true, true]);
    for latency in of(true).take(shown) {
        let (a, b) = (&latency.baseline, &latency.other);
        table.add_row([names(latency), human(a.rate, "1/s"), human(b.rate, "1/s"), ratio(b.rate / a.rate)]);
        for q in &latency.quantiles {
            let mut row = vec![format!("  {}", q.name), human(q.baseline, "s"), human(q.other, "s"), ratio(q.times())];
            row.extend([interval(q), significant(q)]);
            table.add_row(row);
        }
        if let (Some(a), Some(b)) = (a.queue_time, b.queue_time) {
            let change = if a > 0.0 { ratio(b / a) } else { String::new() };
            table.add_row(["  mean wait before it is read".into(), human(a, "s"), human(b, "s"), change]);
        }
    }
    println!("{}", text::trimmed(&table));
    if of(true).count() > shown {
        println!("and {} more; --all lists them", of(true).count() - shown);
    }
    if of(false).next().is_none() {
        return;
    }
    let header = ["requests made", "per second", "p50", "p99", "change of p99", "95 % CI", ""];
    let mut table = text::table(&header, &[false, true, true, true, true]);
    for latency in of(false).take(shown) {
        let pair = |a: f64, b: f64, unit: &str| format!("{} → {}", human(a, unit), human(b, unit));
        let quantile = |name: &str| latency.quantiles.iter().find(|q| q.name == name);
        let (Some(p50), Some(p99)) = (quantile("p50"), quantile("p99")) else { continue };
        table.add_row([
            names(latency),
            pair(latency.baseline.rate, latency.other.rate, "1/s"),
            pair(p50.baseline, p50.other, "s"),
            pair(p99.baseline, p99.other, "s"),
            ratio(p99.times()),
            interval(p99),
            significant(p99),
        ]);
    }
    println!("\n{}", text::trimmed(&table));
    if of(false).count() > shown {
        println!("and {} more; --all lists them", of(false).count() - shown);
    }
}

/// What a server answered in a stretch of time.
pub(crate) struct Served {
    /// Who answered.
    pub(crate) service: Service,
    /// How many requests, and how many a second.
    pub(crate) count: f64,
    pub(crate) rate: f64,
    /// Seconds.
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    /// Connections that they came over; `None` where that is not known.
    pub(crate) connections: Option<f64>,
    /// Whether they were counted in a part of the time, and scaled up.
    pub(crate) is_estimated: bool,
}

impl Served {
    /// The busiest ones of a recording, in all of it.
    pub(crate) fn of(recording: &Recording) -> Vec<Served> {
        let window = model::Window { from: 0, to: recording.duration(), why: String::new() };
        let Some(recorded) = Recorded::load(recording, &window) else { return Vec::new() };
        let connections = query::work::connections(recording);
        let is_estimated = query::work::is_estimated(recording);
        let one = |times: &query::latency::Times| {
            let (p50, p99) = (recorded.quantile(times, 0.5)?, recorded.quantile(times, 0.99)?);
            let rate = times.count / recorded.seconds;
            let connections = connections.get(&times.service).copied().filter(|n| *n > 0.0);
            let (service, count) = (times.service.clone(), times.count);
            Some(Served { service, count, rate, p50, p99, connections, is_estimated })
        };
        recorded.of(true, Kind::Service).take(SERVICES).filter_map(one).collect()
    }

    /// In one line.
    pub(crate) fn line(&self) -> String {
        let about = if self.is_estimated { "≈ " } else { "" };
        let connections = match self.connections {
            Some(n) => format!(", over {} connection{}", human(n, ""), if n == 1.0 { "" } else { "s" }),
            None => String::new(),
        };
        format!(
            "{about}{} answered by {}{connections}: {about}{}, p50 {}, p99 {}",
            human(self.count, ""),
            name(&self.service),
            human(self.rate, "1/s"),
            human(self.p50, "s"),
            human(self.p99, "s")
        )
    }

    pub(crate) fn as_json(&self) -> Value {
        let Service { comm, protocol, port, path, .. } = &self.service;
        json!({
            "process": comm, "protocol": protocol, "port": port, "path": path,
            "count": self.count, "rate": self.rate, "p50": self.p50, "p99": self.p99,
            "connections": self.connections,
        })
    }
}

/// Servers that send messages when they have some, and not as answers: a line for each.
pub(crate) fn streams(recording: &Recording) -> Vec<String> {
    let seconds = recording.duration() as f64 / 1e9;
    let line = |(service, traffic): (Service, Traffic)| {
        format!(
            "{} messages sent by {}: {}, {} each",
            human(traffic.sends, ""),
            name(&service),
            human(traffic.sends / seconds, "1/s"),
            human(traffic.sent / traffic.sends, "B")
        )
    };
    query::work::streams(recording).into_iter().take(SERVICES).map(line).collect()
}

/// The same for programs.
pub(crate) fn streams_as_json(recording: &Recording) -> Vec<Value> {
    let one = |(service, traffic): (Service, Traffic)| {
        let Service { comm, protocol, port, path, .. } = service;
        json!({
            "process": comm, "protocol": protocol, "port": port, "path": path,
            "messages": traffic.sends, "bytes": traffic.sent, "requests": traffic.turns,
        })
    };
    query::work::streams(recording).into_iter().map(one).collect()
}

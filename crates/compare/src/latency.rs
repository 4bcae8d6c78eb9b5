//! How long requests took on both sides: quantiles of each service, and which of them differ. They are a family of comparisons of their own, like the
//! pace: what a client of the service feels is not thinned out by the hundreds of metrics beside it.

use crate::comparison::DONE;
use crate::difference::{Difference, Per};
use crate::{Comparison, Options, means};
use model::{Polarity, Window, intern};
use query::latency::{Kind, Latency as Recorded, Service, Times, histogram};
use query::series::Grid;
use query::stats::fdr::benjamini_hochberg;
use query::stats::histogram::Compared;
use query::{Run, human, times, times_interval};
use std::collections::{BTreeMap, HashMap};

/// The quantiles that are compared: their names, and the share of requests that took no longer.
pub const QUANTILES: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];

/// The beginning of the full name of what is compared: `latency.p99`.
pub(crate) const LATENCY: &str = "latency.";

/// What the service time is.
const WHAT: &str = "first byte of the request read, or of a client sent, to first byte of the answer";

/// Services that are compared, of those that answer and of those that ask: the ones with the most requests.
const SERVICES: usize = 10;

/// The least difference that matters, seconds.
pub const LEAST: f64 = 20e-6;

/// Of one run a side, the share of false discoveries that is accepted is that of other metrics divided by this: the quantiles of a service are few and move
/// together, so that a load that drifts for as long as the run would pass.
const ONCE: f64 = 5.0;

/// A tail is pointed to though some seconds cannot be sure of it, where its whole interval is beyond so many times the baseline's.
const FAR: f64 = 1.5;

/// Requests beyond a quantile in a stretch of the window that make it to be drawn.
const FEWEST: f64 = 2.0;

/// One side of a service.
#[derive(Clone, Debug, PartialEq)]
pub struct Requests {
    /// Who answered them, or made them.
    pub service: Service,
    /// Requests per second.
    pub rate: f64,
    /// Mean time that a request lay there before it was read, seconds; `None` where that was not recorded.
    pub queue_time: Option<f64>,
}

/// One quantile of both sides, seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantile {
    /// `p99`.
    pub name: &'static str,
    /// That of the baseline.
    pub baseline: f64,
    /// That of the other.
    pub other: f64,
    /// Its interval; `None` where too little was recorded.
    pub baseline_interval: Option<(f64, f64)>,
    /// The same of the other.
    pub other_interval: Option<(f64, f64)>,
    /// The interval of other ÷ baseline; `None` where it was not compared, for too little was recorded.
    pub ratio: Option<(f64, f64)>,
    /// Share of false discoveries among the quantiles that are at least this sure; `None` where it was not compared.
    pub q: Option<f64>,
    /// Whether it differs: surely, and by enough to matter.
    pub significant: bool,
}

impl Quantile {
    /// Other ÷ baseline.
    pub fn times(&self) -> f64 {
        self.other / self.baseline
    }
}

/// How long the requests of one service took on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Latency {
    /// Index of the run that is compared with the baseline; of repeated runs the first.
    pub run: usize,
    /// The baseline.
    pub baseline: Requests,
    /// The other.
    pub other: Requests,
    /// Of the service time: each of [`QUANTILES`].
    pub quantiles: Vec<Quantile>,
    /// For each quantile, its values in the window of both sides, in time.
    values: Vec<[Vec<f64>; 2]>,
}

impl Latency {
    /// Whether it answered the requests; else it made them.
    pub fn is_server(&self) -> bool {
        self.other.service.server
    }

    /// What tells it apart from other services, by the columns of table `turn`.
    pub fn labels(&self) -> BTreeMap<String, String> {
        labels(&self.other.service)
    }

    /// Its significant quantile that says most: p99, or else the one that changed most.
    fn telling(&self) -> Option<&Quantile> {
        let far = |q: &&Quantile| q.times().ln().abs();
        let differ = || self.quantiles.iter().filter(|q| q.significant);
        differ().find(|q| q.name == "p99").or_else(|| differ().max_by(|a, b| far(a).total_cmp(&far(b))))
    }

    /// The significant quantiles as differences.
    fn differences(&self) -> impl Iterator<Item = Difference> + '_ {
        let differ = self.quantiles.iter().zip(QUANTILES).enumerate().filter(|(_, (q, _))| q.significant);
        differ.map(|(at, (q, (name, share)))| {
            let service = &self.other.service;
            let per_cent = format!("{}", share * 100.0);
            let (low, high) = q.ratio.map(|(low, high)| (low - 1.0, high - 1.0)).unzip();
            let role = if service.server { "server" } else { "client" };
            let query = format!(
                "select run, quantile_of(low, high, count, {share}) / 1e9 as {} from turn_time where what = 'service' and role = '{role}' and port = {} \
                 group by run",
                name.replace('.', "_"),
                service.port
            );
            let sure = low.filter(|low| *low > 0.0).or(high.map(f64::abs)).unwrap_or(0.0);
            Difference {
                metric: format!("{LATENCY}{name}"),
                labels: self.labels(),
                unit: "s",
                help: intern(&format!("{per_cent}th percentile of the service time: {WHAT}")),
                polarity: Polarity::Worse,
                run: self.run,
                per: Per::Second,
                baseline: q.baseline,
                other: q.other,
                difference: q.other - q.baseline,
                change: Some(q.times() - 1.0),
                low,
                high,
                q: q.q.unwrap_or(1.0),
                median: [None; 2],
                p99: [None; 2],
                values: self.values.get(at).cloned().unwrap_or_default(),
                table: "turn",
                column: "mean_service_time",
                query,
                // Behind the pace and before all others; what is answered before what is asked of others.
                weight: sure.min(100.0) + if service.server { 700.0 } else { 500.0 },
            }
        })
    }
}

/// What tells a service apart from others, by the columns of table `turn`.
pub fn labels(service: &Service) -> BTreeMap<String, String> {
    let Service { server, comm, protocol, port, path } = service;
    let role = if *server { "server" } else { "client" };
    let mut labels: BTreeMap<String, String> = [("comm", comm.as_str()), ("role", role)]
        .into_iter()
        .map(|(label, value)| (label.to_owned(), value.to_owned()))
        .collect();
    match protocol.as_str() {
        "unix" => labels.insert("peer".into(), path.clone()),
        _ => labels.insert("port".into(), port.to_string()),
    };
    if protocol == "udp" {
        labels.insert("protocol".into(), protocol.clone());
    }
    labels
}

/// The columns of table `turn` that tell services apart.
const SERVICE: [&str; 5] = ["comm", "role", "protocol", "port", "peer"];

/// What the runs recorded of requests, run by run.
struct Runs<'a> {
    windows: &'a [Window],
    loaded: Vec<Option<Recorded>>,
    /// Which times are compared.
    kind: Kind,
    /// How long questions lay there, by the columns of [`SERVICE`].
    queues: Vec<Option<Grid>>,
}

impl Runs<'_> {
    /// The times of a service's requests, of those runs of a side that have it; `names` is what it is called in each.
    fn side(&self, side: &[usize], names: &HashMap<usize, Service>) -> Vec<(usize, &Recorded, &Times)> {
        let of = |&run: &usize| {
            let recorded = self.loaded.get(run)?.as_ref()?;
            Some((run, recorded, recorded.find(names.get(&run)?, self.kind)?))
        };
        side.iter().filter_map(of).collect()
    }

    fn requests(&self, of: &[(usize, &Recorded, &Times)]) -> Option<Requests> {
        let service = of.first()?.2.service.clone();
        let (count, seconds) = of.iter().fold((0.0, 0.0), |(n, s), (_, r, t)| (n + t.count, s + r.seconds));
        let queued = of.iter().filter_map(|(run, _, times)| self.queued(*run, &times.service));
        let queued = queued.reduce(|(time, count), (t, c)| (time + t, count + c));
        let queue_time = queued.filter(|(_, count)| *count > 0.0).map(|(time, count)| time / count);
        Some(Requests { service, rate: count / seconds, queue_time })
    }

    /// Seconds that the requests of a service lay there before they were read, and how many.
    fn queued(&self, run: usize, service: &Service) -> Option<(f64, f64)> {
        if !service.server {
            return None;
        }
        let grid = self.queues.get(run)?.as_ref()?;
        let cut = grid.cut(self.windows.get(run)?);
        let port = service.port.to_string();
        let is_it = |labels: &[String]| match labels {
            [comm, role, protocol, p, peer] => {
                (comm, role.as_str(), protocol, p) == (&service.comm, "server", &service.protocol, &port)
                    && (service.path.is_empty() || *peer == service.path)
            }
            _ => false,
        };
        let sums = grid.series.iter().filter(|s| is_it(&s.labels)).filter_map(|s| s.sums_in(&cut));
        sums.reduce(|(a, b), (c, d)| (a + c, b + d))
    }
}

/// Which services of two runs are the same: those of one name and address; then of one address, where it is one on both sides; then of one name. What is left
/// is in one run alone.
fn same(a: &[&Service], b: &[&Service]) -> Vec<(Service, Service)> {
    type Key<'a> = (bool, &'a str, Option<&'a str>, Option<(i64, &'a str)>);
    fn by_both(s: &Service) -> Key<'_> {
        (s.server, &s.protocol, Some(&s.comm), Some((s.port, &s.path)))
    }
    fn by_address(s: &Service) -> Key<'_> {
        (s.server, &s.protocol, None, Some((s.port, &s.path)))
    }
    fn by_name(s: &Service) -> Key<'_> {
        (s.server, &s.protocol, Some(&s.comm), None)
    }
    let (mut a, mut b) = (a.to_vec(), b.to_vec());
    let mut found: Vec<(Service, Service)> = Vec::new();
    for key in [by_both, by_address, by_name] {
        let one = |side: &[&Service], wanted: &Key<'_>| -> Option<usize> {
            let mut those = side.iter().enumerate().filter(|(_, s)| key(s) == *wanted).map(|(at, _)| at);
            those.next().filter(|_| those.next().is_none())
        };
        let mut at = 0;
        while let Some(&service) = a.get(at) {
            let wanted = key(service);
            match one(&a, &wanted).zip(one(&b, &wanted)) {
                Some((_, other)) => {
                    found.push((service.clone(), b.remove(other).clone()));
                    a.remove(at);
                }
                None => at += 1,
            }
        }
    }
    found
}

/// Compares the services of each pair of sides; those with the most requests first, servers before clients.
pub(crate) fn of(runs: &[Run], windows: &[Window], sides: &[[Vec<usize>; 2]], options: &Options) -> Vec<Latency> {
    of_kind(Kind::Service, runs, windows, sides, options)
}

fn of_kind(kind: Kind, runs: &[Run], windows: &[Window], sides: &[[Vec<usize>; 2]], options: &Options) -> Vec<Latency> {
    if runs.len() < 2 {
        return Vec::new();
    }
    let loaded: Vec<Option<Recorded>> =
        runs.iter().zip(windows).map(|(run, window)| Recorded::load(&run.recording, window)).collect();
    let queue = |((run, window), recorded): ((&Run, &Window), &Option<Recorded>)| {
        recorded.as_ref().and_then(|_| means::grid(run, "turn", "mean_queue_time", &SERVICE, window))
    };
    let queues = runs.iter().zip(windows).zip(&loaded).map(queue).collect();
    let all = Runs { windows, loaded, kind, queues };
    let services = |run: usize| -> Vec<&Service> {
        let recorded = all.loaded.get(run).and_then(Option::as_ref);
        recorded.into_iter().flat_map(|r| &r.times).filter(|t| t.kind == kind).map(|t| &t.service).collect()
    };
    let mut found: Vec<(Latency, Vec<Compared>)> = Vec::new();
    for [a, b] in sides {
        let Some(&first) = a.first() else { continue };
        // What each service of the first run is called in the others.
        let mut names: HashMap<&Service, HashMap<usize, Service>> = HashMap::new();
        let own = services(first);
        for &run in a.iter().chain(b) {
            for (mine, theirs) in same(&own, &services(run)) {
                if let Some(service) = own.iter().find(|s| ***s == mine) {
                    names.entry(service).or_default().insert(run, theirs);
                }
            }
        }
        for server in [true, false] {
            let mut those: Vec<_> = own
                .iter()
                .filter(|service| service.server == server)
                .filter_map(|service| {
                    let names = names.get(service)?;
                    let (a, b) = (all.side(a, names), all.side(b, names));
                    let count = a.iter().chain(&b).map(|(_, _, times)| times.count).sum::<f64>();
                    (!a.is_empty() && !b.is_empty()).then_some((count, a, b))
                })
                .collect();
            those.sort_by(|x, y| y.0.total_cmp(&x.0));
            for (_, a, b) in those.iter().take(SERVICES) {
                let Some(run) = b.first().map(|b| b.0) else { continue };
                found.extend(one(&all, run, a, b));
            }
        }
    }
    let p: Vec<f64> = found.iter().flat_map(|(_, c)| c).map(|c| c.p.unwrap_or(f64::NAN)).collect();
    let once = sides.iter().all(|[a, b]| a.len() == 1 && b.len() == 1);
    let bar = options.false_discovery / if once { ONCE } else { 1.0 };
    let mut q = benjamini_hochberg(&p).into_iter();
    for (latency, compared) in &mut found {
        for (quantile, compared) in latency.quantiles.iter_mut().zip(compared) {
            quantile.q = q.next().filter(|q| !q.is_nan());
            let sure = quantile.q.is_some_and(|q| q <= bar);
            quantile.significant = sure && is_large(compared, options.least_change);
        }
    }
    found.into_iter().map(|(latency, _)| latency).collect()
}

/// Whether the whole interval lies beyond what is practically the same.
fn is_large(c: &Compared, least_change: f64) -> bool {
    let Some(ratio) = c.ratio else { return false };
    let nearest = if ratio.estimate > 1.0 { ratio.low - 1.0 } else { 1.0 - ratio.high };
    nearest >= least_change && nearest * c.baseline >= LEAST
}

fn one(
    all: &Runs<'_>,
    run: usize,
    a: &[(usize, &Recorded, &Times)],
    b: &[(usize, &Recorded, &Times)],
) -> Option<(Latency, Vec<Compared>)> {
    let side = |of: &[(usize, &Recorded, &Times)]| {
        histogram(&of.iter().map(|(_, recorded, times)| (*recorded, *times)).collect::<Vec<_>>())
    };
    let (ha, hb) = (side(a), side(b));
    let compared = ha.compare(&hb, &QUANTILES.map(|(_, q)| q), &query::stats::Options::default());
    let quantile = |((name, _), c): ((&'static str, f64), &Compared)| {
        let [baseline_interval, other_interval] = c.intervals.map(|i| i.map(|i| (i.low, i.high)));
        Quantile {
            name,
            baseline: c.baseline,
            other: c.other,
            baseline_interval,
            other_interval,
            ratio: c.ratio.filter(|_| c.p.is_some()).map(|r| (r.low, r.high)),
            q: None,
            significant: false,
        }
    };
    let latency = Latency {
        run,
        baseline: all.requests(a)?,
        other: all.requests(b)?,
        quantiles: QUANTILES.into_iter().zip(&compared).map(quantile).collect(),
        values: QUANTILES.map(|(_, q)| [&ha, &hb].map(|h| h.by_stretch(q, FEWEST / (1.0 - q)))).to_vec(),
    };
    (!compared.is_empty()).then_some((latency, compared))
}

/// A quantile that is longer than in the baseline, of the busiest server.
#[derive(Clone, Debug, PartialEq)]
pub struct LongerRequests {
    /// Whose requests, on the slow side.
    pub service: Service,
    /// Of which time: service time, or queue time, that before a question is read.
    pub kind: Kind,
    /// Which, with its values.
    pub quantile: Quantile,
}

impl LongerRequests {
    /// In words: "p99 of the queue time on port 8080 is 12× as long (60 ms, baseline 5 ms; 95 % CI 9–14×)".
    pub fn says(&self) -> String {
        let Quantile { name, baseline, other, ratio, .. } = &self.quantile;
        let interval = ratio.map_or_else(String::new, |(low, high)| format!("; 95 % CI {}", times_interval(low, high)));
        format!(
            "{name} of the {} time on {} is {} as long ({}, baseline {}{interval})",
            self.kind.name(),
            self.service.address(),
            times(self.quantile.times()),
            human(*other, "s"),
            human(*baseline, "s")
        )
    }
}

/// Requests that take surely longer in the first `slow` runs than in the others, which are the baseline.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Longer {
    /// Many of them: the median does, or the slowest tenth.
    pub many: Option<LongerRequests>,
    /// The slowest hundredth, or thousandth.
    pub tail: Option<LongerRequests>,
}

impl Longer {
    /// Looks at service and queue time: of each group of quantiles, the time that grew by more.
    pub fn of(runs: &[Run], windows: &[Window], slow: usize) -> Longer {
        let sides = [[(slow..runs.len()).collect(), (0..slow).collect()]];
        let found = [Kind::Service, Kind::Queue].map(|kind| {
            let found = of_kind(kind, runs, windows, &sides, &Options::default());
            found.into_iter().find(Latency::is_server).map(|of| (kind, of))
        });
        let is_far = |q: &Quantile| q.ratio.is_some_and(|(low, _)| low >= FAR && q.other - q.baseline >= LEAST);
        let is_longer = |q: &&Quantile| q.significant && q.other > q.baseline || is_far(q);
        let grown = |longer: &LongerRequests| longer.quantile.other - longer.quantile.baseline;
        let longest = |is_one: &dyn Fn(&str) -> bool| {
            let of = found.iter().flatten().filter_map(|(kind, of)| {
                let quantile = of.quantiles.iter().filter(|q| is_one(q.name)).find(is_longer)?.clone();
                Some(LongerRequests { service: of.other.service.clone(), kind: *kind, quantile })
            });
            of.max_by(|a, b| grown(a).total_cmp(&grown(b)))
        };
        let is_tail = |name: &str| name.starts_with("p99");
        Longer { many: longest(&|name| !is_tail(name)), tail: longest(&is_tail) }
    }
}

/// How many quantiles were compared.
pub(crate) fn compared(all: &[Latency]) -> usize {
    all.iter().flat_map(|l| &l.quantiles).filter(|q| q.q.is_some()).count()
}

/// What differs, as differences.
pub(crate) fn differences(all: &[Latency]) -> Vec<Difference> {
    all.iter().flat_map(Latency::differences).collect()
}

impl Comparison {
    /// The service that answered the most requests of a run and of the baseline.
    pub fn busiest(&self, run: usize) -> Option<&Latency> {
        self.latency.iter().find(|l| l.run == run && l.is_server())
    }

    /// Where the busiest server of a run surely takes longer or shorter, and the throughput does not differ: that, in a sentence.
    pub(crate) fn of_latency(&self, run: usize) -> Option<String> {
        if self.differences.iter().any(|d| d.metric == DONE && d.run == run) {
            return None;
        }
        let latency = self.busiest(run)?;
        let q = latency.telling()?;
        Some(format!(
            "In {} {} of requests on {} is {} as long ({}, baseline {}).",
            self.runs.get(run)?,
            q.name,
            latency.other.service.address(),
            times(q.times()),
            human(q.other, "s"),
            human(q.baseline, "s")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Condition, compare};
    use query::stats::rng::Rng;
    use query::testing::{TURN_TIME, write};
    use std::fmt::Write as _;

    /// A minute of a server: its port, the share of requests that take ten times as long, and how its load varies.
    struct Server {
        comm: &'static str,
        port: u16,
        tail: f64,
        drift: f64,
    }

    const SERVER: Server = Server { comm: "web", port: 8080, tail: 0.004, drift: 0.9 };

    /// Reads of each half second, with ranges as the recorder's.
    fn rows(rng: &mut Rng, server: &Server) -> String {
        let mut text = String::from("t comm role protocol port peer what low high count\n");
        let (mut level, drift) = (rng.normal(), server.drift);
        for read in 1..=120 {
            level = drift * level + (1.0 - drift * drift).sqrt() * rng.normal();
            let mut counts: BTreeMap<i64, i64> = BTreeMap::new();
            for _ in 0..100 {
                let long = if rng.uniform() < server.tail { 10.0 } else { 1.0 };
                let x = 1e6 * long * (0.05 * level + 0.3 * rng.normal()).exp();
                let width = 1_i64 << ((x as i64).ilog2() - 4);
                *counts.entry(x as i64 / width * width).or_default() += 1;
            }
            for (low, count) in counts {
                let high = low + (1 << (low.ilog2() - 4));
                let (comm, port) = (server.comm, server.port);
                writeln!(text, "{} {comm} server tcp {port} - service {low} {high} {count}", f64::from(read) * 0.5)
                    .unwrap();
                writeln!(
                    text,
                    "{} {comm} client tcp 5432 10.0.0.{} service {low} {high} {count}",
                    f64::from(read) * 0.5,
                    read % 3
                )
                .unwrap();
            }
        }
        text
    }

    fn runs(seed: u64, servers: &[Server]) -> Vec<Run> {
        let dir = tempfile::tempdir().unwrap();
        let mut rng = Rng::new(seed);
        let mut paths = Vec::new();
        for (i, server) in servers.iter().enumerate() {
            let manifest = model::Manifest {
                name: format!("r{i}"),
                interval: 500_000_000,
                duration: Some(60_000_000_000),
                ..model::Manifest::default()
            };
            paths.push(dir.path().join(format!("r{i}.twin")));
            write(&paths[i], &manifest, &[(&TURN_TIME, &rows(&mut rng, server))]);
        }
        query::open(&paths).unwrap()
    }

    fn compared_of(seed: u64, servers: &[Server]) -> Comparison {
        compare(&runs(seed, servers), &Options::default()).unwrap()
    }

    fn holds(comparison: &Comparison, condition: &str) -> bool {
        Condition::parse(condition).unwrap().holds(comparison).is_some()
    }

    #[test]
    fn equal_runs_do_not_differ() {
        for seed in 0..6 {
            let found = compared_of(seed, &[SERVER, SERVER]);
            assert!(found.differences.is_empty(), "seed {seed}: {:?}", found.latency);
            let windows = [0, 1].map(|_| Window { from: 0, to: 60_000_000_000, why: String::new() });
            assert_eq!(Longer::of(&runs(seed, &[SERVER, SERVER]), &windows, 1), Longer::default(), "seed {seed}");
            assert_eq!(found.latency.len(), 2, "the server and the client");
            let web = found.busiest(1).unwrap();
            assert!((web.baseline.rate - 200.0).abs() < 1.0 && web.quantiles.iter().all(|q| q.q.is_some()), "{web:?}");
            assert!(!holds(&found, "latency.p99 +10%") && !holds(&found, "any"));
            assert!(Condition::parse("latency.p99@8080 +10%").unwrap().is_known(&found));
            assert!(!Condition::parse("latency.p99@80 +10%").unwrap().is_known(&found));
        }
    }

    #[test]
    fn a_longer_tail_is_named() {
        let found = compared_of(7, &[SERVER, Server { tail: 0.04, ..SERVER }]);
        assert!(holds(&found, "latency.p99 +10%") && holds(&found, "latency.p99@8080 +100%"), "{:?}", found.latency);
        assert!(holds(&found, "latency.p99{role=client} +10%") && holds(&found, "any"));
        assert!(
            !holds(&found, "latency.p50 +10%")
                && !holds(&found, "latency.p99 -10%")
                && !holds(&found, "latency.p99@80 +1%")
        );
        let headline = &found.headline.headline;
        assert!(
            headline.starts_with("In r1 p99 of requests on port 8080 is ") && headline.contains("× as long ("),
            "{headline}"
        );
        let runs = runs(7, &[Server { tail: 0.04, ..SERVER }, SERVER]);
        let windows = [0, 1].map(|_| Window { from: 0, to: 60_000_000_000, why: String::new() });
        let tail = Longer::of(&runs, &windows, 1).tail.unwrap();
        assert_eq!((tail.quantile.name, tail.kind), ("p99", Kind::Service));
        assert!(tail.says().starts_with("p99 of the service time on port 8080 is "), "{}", tail.says());
        let shorter: Vec<Run> = runs.into_iter().rev().collect();
        assert_eq!(Longer::of(&shorter, &windows, 1), Longer::default());
        let first = &found.differences[0];
        assert_eq!((first.metric.as_str(), first.labels["port"].as_str()), ("latency.p99", "8080"));
        assert!(first.low.unwrap() > 0.05 && first.values.iter().all(Vec::is_empty), "{first:?}");
        let json = found.to_json();
        assert_eq!((&json["latency"][0]["port"], &json["latency"][0]["role"]), (&8080.into(), &"server".into()));
        assert_eq!(json["latency"][0]["quantiles"][2]["significant"], true);
    }

    #[test]
    fn runs_without_requests_have_none() {
        let bare = query::testing::run("bare", &[]);
        let one = runs(1, &[SERVER]).pop().unwrap();
        let found = compare(&[bare, one], &Options::default()).unwrap();
        assert!(found.latency.is_empty() && found.differences.is_empty());
        let condition = Condition::parse("latency.p99 +10%").unwrap();
        assert!(condition.holds(&found).is_none() && !condition.is_known(&found));
    }

    #[test]
    fn a_service_is_known_by_its_address_or_its_name() {
        let service = |comm: &str, port: i64| Service {
            server: true,
            comm: comm.into(),
            protocol: "tcp".into(),
            port,
            path: String::new(),
        };
        let (a, b) =
            ([service("v1", 80), service("db", 4000), service("x", 1)], [service("db", 5000), service("v2", 80)]);
        let found = same(&a.iter().collect::<Vec<_>>(), &b.iter().collect::<Vec<_>>());
        let ports: Vec<_> = found.iter().map(|(a, b)| (a.comm.as_str(), a.port, b.comm.as_str(), b.port)).collect();
        assert_eq!(ports, [("v1", 80, "v2", 80), ("db", 4000, "db", 5000)]);
        // Two of one name are told apart by nothing.
        let (a, b) = ([service("w", 1), service("w", 2)], [service("w", 3), service("w", 4)]);
        assert!(same(&a.iter().collect::<Vec<_>>(), &b.iter().collect::<Vec<_>>()).is_empty());
    }

    #[test]
    fn repeats_are_taken_together() {
        let slow = || Server { tail: 0.05, ..SERVER };
        let all = runs(9, &[SERVER, SERVER, SERVER, slow(), slow(), slow()]);
        let found = compare(&all, &Options { repeats: 3, ..Options::default() }).unwrap();
        assert!(found.latency.iter().all(|l| l.run == 3) && holds(&found, "latency.p99 +10%"), "{:?}", found.latency);
    }
}

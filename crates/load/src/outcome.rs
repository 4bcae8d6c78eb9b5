//! What came of a run.

use crate::tally::{Spread, Tally};
use crate::{Arrivals, Options};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Own lateness above this at the 99th percentile, seconds, and above this part of the latency there, is what is measured.
const MOST_LATE: f64 = 1e-3;
const LATE_PART: f64 = 0.2;
/// A CPU that is busier than this makes requests wait for it.
const MOST_BUSY: f64 = 0.9;

/// How times of requests are spread, seconds, to three digits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// How many there are.
    pub count: u64,
    /// The arithmetic mean.
    pub mean: f64,
    /// Half of them are at most this.
    pub p50: f64,
    /// 90 % are at most this.
    pub p90: f64,
    /// 99 % are at most this.
    pub p99: f64,
    /// 99.9 % are at most this.
    pub p999: f64,
    /// The longest.
    pub max: f64,
}

impl Times {
    /// None where there are none.
    fn of(spread: &Spread) -> Option<Self> {
        let all = spread.histogram();
        let at = |quantile: f64| all.value_at_quantile(quantile) as f64 / 1e9;
        (!all.is_empty()).then(|| Times {
            count: all.len(),
            mean: all.mean() / 1e9,
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max: all.max() as f64 / 1e9,
        })
    }
}

/// Requests that were not done, by kind; each is in one of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Errors {
    /// The connection for it could not be opened.
    pub connect: u64,
    /// No connection was free within the time-out, or the answer did not come within the time-out from when it was sent.
    pub timed_out: u64,
    /// The connection was closed or reset before the answer was whole.
    pub closed: u64,
    /// What came was no HTTP/1.1 answer, or more than one.
    pub broken: u64,
    /// Answers with a status of 400 and above, by status.
    pub status: BTreeMap<u16, u64>,
    /// One in words for each of these that has some.
    pub examples: BTreeMap<String, String>,
}

impl Errors {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.connect + self.timed_out + self.closed + self.broken + self.status.values().sum::<u64>()
    }

    pub(crate) fn add(&mut self, other: &Errors) {
        self.connect += other.connect;
        self.timed_out += other.timed_out;
        self.closed += other.closed;
        self.broken += other.broken;
        for (&status, &count) in &other.status {
            *self.status.entry(status).or_default() += count;
        }
        for (kind, example) in &other.examples {
            self.examples.entry(kind.clone()).or_insert_with(|| example.clone());
        }
    }
}

/// How the client itself did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Own {
    /// How late it began with requests for which a connection was free, or took notice of those that became due while it slept. None in a closed
    /// loop, where nothing is due at a time of its own.
    pub late: Option<Times>,
    /// CPU time of all its threads for each request that it began with, seconds. None where there was none.
    pub cpu_per_request: Option<f64>,
    /// Share of the time in which its busiest thread was on a CPU, 0 to 1.
    pub busy: f64,
    /// Share of the time in which the busiest of the CPUs that were given to it was not idle, whoever ran there; the hypervisor's share included.
    /// None where no CPUs were given, or the time was too short to tell.
    pub cpus_busy: Option<f64>,
    /// The CPUs that were given to it.
    pub cpus: Vec<usize>,
    /// Its threads.
    pub threads: u32,
    /// What it waited by: `epoll_pwait2`, or `timerfd` where the kernel is older than 5.11.
    pub timer: String,
}

/// What came of a run. Times are seconds. Requests that were due in the warm-up count nowhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The address, as asked first.
    pub url: String,
    /// "even", "poisson" or "closed": the last was a closed loop, whose latencies are not those of users.
    pub arrivals: String,
    /// Connections.
    pub connections: u32,
    /// How long requests counted: what was asked for, or less where it was interrupted.
    pub duration: f64,
    /// How long requests were made before.
    pub warm_up: f64,
    /// How long a request could wait for a connection, and how long its answer was waited for.
    pub timeout: f64,
    /// Requests per second that were asked for. None in a closed loop.
    pub asked_rate: Option<f64>,
    /// Requests per second that were answered, whole and with a status below 400, while requests counted.
    pub reached_rate: f64,
    /// Requests that were due: all of `done`, `errors` and `unfinished`.
    pub due: u64,
    /// Requests that were answered, whole and with a status below 400.
    pub done: u64,
    /// From when a request was due to the end of its answer: of all that were done or timed out. The latter stand with the time after which they
    /// were given up, which is less than what they would have taken; other errors, which may be quick, are left out. In a closed loop a request
    /// is due when it is sent. None where there are none.
    pub latency: Option<Times>,
    /// The same from when the client began with a request, that is sent it, or had to open a connection for it; of all that were done.
    pub service: Option<Times>,
    /// Requests that were not done.
    pub errors: Errors,
    /// Requests that were open or waiting when the run was interrupted.
    pub unfinished: u64,
    /// Connections that were opened again, after the server or an error had ended one.
    pub reconnects: u64,
    /// Bytes received while requests counted.
    pub received: u64,
    /// How the client itself did.
    pub own: Own,
    /// Why the client and not the server was measured. None where the server was.
    pub void: Option<String>,
    /// Whether it ended before its time.
    pub interrupted: bool,
}

/// What is known of the machine that the client ran on.
pub(crate) struct Machine {
    pub timer: &'static str,
    /// Share of the time in which the busiest CPU of the client's was not idle.
    pub cpus_busy: Option<f64>,
}

/// Puts together what the threads counted.
pub(crate) fn put_together(options: &Options, tallies: &[Tally], machine: &Machine) -> Outcome {
    let mut all = Tally::default();
    for tally in tallies {
        all.add(tally);
    }
    let seconds = |ns: u64| ns as f64 / 1e9;
    let share = |part: u64, of: u64| if of == 0 { 0.0 } else { part as f64 / of as f64 };
    let late = if options.arrivals == Arrivals::Closed { None } else { Times::of(&all.late) };
    let own = Own {
        late,
        cpu_per_request: (all.begun_within > 0).then(|| seconds(all.cpu) / all.begun_within as f64),
        busy: tallies.iter().map(|t| share(t.cpu, t.window)).fold(0.0, f64::max),
        cpus_busy: machine.cpus_busy,
        cpus: options.cpus.clone(),
        threads: options.thread_count(),
        timer: machine.timer.into(),
    };
    let latency = Times::of(&all.latency);
    let first = options.urls.first();
    Outcome {
        url: first.map(|url| format!("http://{}{}", url.authority(), url.target)).unwrap_or_default(),
        arrivals: match options.arrivals {
            Arrivals::Even(_) => "even",
            Arrivals::Poisson(_) => "poisson",
            Arrivals::Closed => "closed",
        }
        .into(),
        connections: options.connections,
        duration: seconds(all.window),
        warm_up: options.warm_up.as_secs_f64(),
        timeout: options.timeout.as_secs_f64(),
        asked_rate: options.arrivals.rate(),
        reached_rate: tallies.iter().map(|t| share(t.done_within, t.window) * 1e9).sum(),
        due: all.due,
        done: all.done,
        latency,
        service: Times::of(&all.service),
        void: why_void(&own, latency, all.lacking),
        errors: all.errors,
        unfinished: all.unfinished,
        reconnects: all.reconnects,
        received: all.received,
        own,
        interrupted: all.interrupted,
    }
}

fn why_void(own: &Own, latency: Option<Times>, lacking: Option<String>) -> Option<String> {
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let mut why = Vec::new();
    let most = latency.map_or(MOST_LATE, |latency| (LATE_PART * latency.p99).max(MOST_LATE));
    if let Some(late) = own.late.filter(|late| late.p99 > most) {
        why.push(format!(
            "the client was late by up to {:.2} ms (p99), more than 1 ms and than a fifth of the latency",
            late.p99 * 1e3
        ));
    }
    if own.busy > MOST_BUSY {
        why.push(format!(
            "a thread of the client was busy for {} of the time: give it more threads and CPUs",
            percent(own.busy)
        ));
    } else if let Some(busy) = own.cpus_busy.filter(|&busy| busy > MOST_BUSY) {
        why.push(format!(
            "a CPU of the client was busy for {} of the time, not only with it: keep others away",
            percent(busy)
        ));
    }
    why.extend(lacking.map(|what| format!("the client could not open connections: {what}")));
    (!why.is_empty()).then(|| why.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Url;
    use std::time::Duration;

    fn of(tallies: &[Tally], arrivals: Arrivals, cpus_busy: Option<f64>) -> Outcome {
        let url = Url::parse("http://127.0.0.1:8080/x").unwrap();
        let options = Options::new(url, arrivals, 4, Duration::from_secs(10));
        put_together(&options, tallies, &Machine { timer: "epoll_pwait2", cpus_busy })
    }

    fn tally(late: u64, cpu: u64) -> Tally {
        let mut tally = Tally {
            due: 100,
            done: 98,
            done_within: 98,
            begun_within: 100,
            window: 10_000_000_000,
            cpu,
            ..Tally::default()
        };
        for k in 1..=98 {
            tally.latency.record(k * 1_000_000);
            tally.late.record(late);
        }
        tally.errors.status.insert(503, 1);
        tally.errors.timed_out = 1;
        tally
    }

    #[test]
    fn threads_are_put_together() {
        let outcome = of(&[tally(1_000, 1_000_000), tally(1_000, 3_000_000)], Arrivals::Even(20.0), None);
        assert_eq!((outcome.due, outcome.done, outcome.errors.total()), (200, 196, 4));
        assert_eq!((outcome.duration, outcome.asked_rate, outcome.errors.status[&503]), (10.0, Some(20.0), 2));
        assert!((outcome.reached_rate - 19.6).abs() < 1e-9);
        let latency = outcome.latency.unwrap();
        assert!((latency.p50 / 0.049 - 1.0).abs() < 1e-3 && (latency.mean / 0.0495 - 1.0).abs() < 1e-3, "{latency:?}");
        assert!((latency.max / 0.098 - 1.0).abs() < 1e-3 && latency.count == 196);
        assert!((outcome.own.cpu_per_request.unwrap() / 20e-6 - 1.0).abs() < 1e-9);
        assert_eq!((outcome.void, outcome.service), (None, None));
    }

    #[test]
    fn a_client_that_was_measured_itself_says_so() {
        let said = |tally: Tally, busy| of(&[tally], Arrivals::Even(20.0), busy).void.unwrap_or_default();
        // The latencies go up to 98 ms, of which a fifth is 19.6.
        assert!(said(tally(21_000_000, 0), None).contains("late by up to 21.0"));
        assert_eq!(said(tally(18_000_000, 0), None), "");
        assert!(said(tally(1_000, 9_100_000_000), None).contains("busy for 91 %"));
        assert!(said(tally(1_000, 0), Some(0.95)).contains("95 %"));
        assert!(said(Tally { lacking: Some("no ports".into()), ..tally(1_000, 0) }, None).contains("no ports"));
        assert_eq!(said(tally(900_000, 8_900_000_000), Some(0.89)), "");
        // Nothing is due at a time of its own.
        assert_eq!(of(&[tally(21_000_000, 0)], Arrivals::Closed, None).void, None);
    }

    #[test]
    fn nothing_was_asked() {
        let outcome = of(&[Tally::default()], Arrivals::Even(1.0), None);
        assert_eq!((outcome.reached_rate, outcome.latency, outcome.own.cpu_per_request), (0.0, None, None));
    }

    #[test]
    fn it_can_be_written_and_read() {
        let outcome = of(&[tally(5, 6)], Arrivals::Poisson(20.0), Some(0.5));
        let text = serde_json::to_string(&outcome).unwrap();
        assert_eq!(serde_json::from_str::<Outcome>(&text).unwrap(), outcome);
        assert!(text.contains("\"arrivals\":\"poisson\"") && text.contains("\"status\":{\"503\":1}"), "{text}");
    }
}

//! Workers against servers of [`crate::testing`]: no time passes but what is simulated.

use super::*;
use crate::Arrivals;
use crate::outcome::{Machine, put_together};
use crate::testing::{ANSWER, Does, MS, SECOND, Sim, Told};
use crate::{Options, Outcome, Url};
use proptest::prelude::*;
use std::time::Duration;

/// A run against a server.
struct Case {
    arrivals: Arrivals,
    connections: usize,
    seconds: u64,
    warm_up: u64,
    timeout: u64,
    away: Vec<(u64, u64)>,
    takes: usize,
}

fn at(rate: f64) -> Case {
    let arrivals = Arrivals::Even(rate);
    Case { arrivals, connections: 8, seconds: 10, warm_up: 0, timeout: 10, away: Vec::new(), takes: usize::MAX }
}

impl Case {
    fn tally(&self, stop: &AtomicBool, server: impl FnMut(u64, usize, Told) -> Vec<Does>) -> Tally {
        let requests = [b"GET / HTTP/1.1\r\n\r\n".to_vec()];
        let end = (self.warm_up + self.seconds) * SECOND;
        let plan = Plan {
            requests: &requests,
            to_head: false,
            closed: self.arrivals == Arrivals::Closed,
            warm_up: self.warm_up * SECOND,
            end,
            timeout: self.timeout * SECOND,
            stop,
        };
        let mut net = Sim::new(self.connections, server);
        net.away = self.away.clone();
        net.takes = self.takes;
        let schedule = Schedule::new(self.arrivals, 1, 0, 1, end);
        let mut worker = Worker::new(net, plan, schedule, self.connections);
        worker.open_all().expect("these servers let all connect at the start");
        worker.run(BEGIN).expect("nothing fails here")
    }

    fn outcome(&self, server: impl FnMut(u64, usize, Told) -> Vec<Does>) -> Outcome {
        let tally = self.tally(&AtomicBool::new(false), server);
        let url = Url::parse("http://a/").unwrap();
        let options = Options::new(url, self.arrivals, self.connections as u32, Duration::from_secs(self.seconds));
        let outcome = put_together(&options, &[tally], &Machine { timer: "", cpus_busy: None });
        assert_eq!(outcome.due, outcome.done + outcome.errors.total(), "{outcome:?}");
        outcome
    }
}

/// When the first request is due.
const BEGIN: u64 = 10 * SECOND;

/// A server that lets all connect and does `answer` with each request.
fn server(mut answer: impl FnMut(u64) -> Vec<Does>) -> impl FnMut(u64, usize, Told) -> Vec<Does> {
    move |now, _, told| match told {
        Told::Connect => vec![Does::Open(now)],
        Told::Request => answer(now),
    }
}

/// Answers after `service`, but stands still in the first second of each ten.
fn stands_still(service: u64) -> impl FnMut(u64) -> Vec<Does> {
    move |now| {
        let since = (now - BEGIN) % (10 * SECOND);
        let goes_on = now - since + SECOND;
        vec![Does::Send(if since < SECOND { goes_on } else { now } + service, ANSWER.into())]
    }
}

fn near(value: f64, expected: f64, share: f64) {
    assert!((value / expected - 1.0).abs() < share, "{value} is not {expected}");
}

/// The figure of the design: requests that were due while it stood still waited for half a second on average, a tenth of them for 0.9 s and more.
#[test]
fn a_server_that_stands_still_does_not_vanish() {
    for arrivals in [Arrivals::Even(2_000.0), Arrivals::Poisson(2_000.0)] {
        let case = Case { arrivals, seconds: 100, ..at(1.0) };
        let outcome = case.outcome(server(stands_still(100_000)));
        let latency = outcome.latency.unwrap();
        // All 2,000 of a second that wait must be answered, by 8 connections: that takes 25 ms.
        near(latency.mean, 0.050, 0.05);
        near(latency.p99, 0.9, 0.05);
        assert_eq!((outcome.void, outcome.errors.total()), (None, 0));
    }
}

/// The same server, by whom asks again only when it has an answer: eight waits a second of all.
#[test]
fn a_closed_loop_does_not_see_it() {
    let case = Case { arrivals: Arrivals::Closed, seconds: 100, ..at(1.0) };
    let outcome = case.outcome(server(stands_still(MS)));
    let latency = outcome.latency.unwrap();
    assert!(latency.mean < 0.003 && latency.p99 < 0.002, "{latency:?}");
    assert!(outcome.own.late.is_none() && outcome.asked_rate.is_none());
    // 8 connections, a thousand a second each, for nine seconds of ten.
    near(outcome.reached_rate, 7_200.0, 0.01);
}

/// A server that does half of what is asked for: its rate is said, and latencies grow up to the time-out, after which requests that no connection
/// was free for are given up. Those that were sent are waited for: else it would be cut off in its work all the time.
#[test]
fn an_overloaded_server() {
    let case = Case { connections: 10, timeout: 2, ..at(2_000.0) };
    let outcome = case.outcome(server(|now| vec![Does::Send(now + 10 * MS, ANSWER.into())]));
    near(outcome.reached_rate, 1_000.0, 0.01);
    assert_eq!(outcome.due, 20_000);
    let latency = outcome.latency.unwrap();
    near(latency.max, 2.0, 0.01);
    assert!((6_000..8_100).contains(&outcome.errors.timed_out) && latency.count == outcome.due, "{outcome:?}");
    near(outcome.service.unwrap().mean, 0.010, 0.01);
    // Not its fault.
    assert_eq!(outcome.void, None);
}

/// A server that stops for good in the middle: all that was due counts, the rest as timed out, also at the end.
#[test]
fn a_server_that_never_answers_again() {
    let case = Case { timeout: 3, ..at(1_000.0) };
    let outcome = case.outcome(server(|now| match now < BEGIN + 5 * SECOND {
        true => vec![Does::Send(now + MS, ANSWER.into())],
        false => Vec::new(),
    }));
    assert_eq!((outcome.due, outcome.done, outcome.errors.timed_out), (10_000, 5_000, 5_000));
    // Most were never sent; the last of those that were had waited for nearly the time-out before.
    let latency = outcome.latency.unwrap();
    near(latency.mean, 1.5, 0.01);
    assert!((3.0..6.01).contains(&latency.max), "{latency:?}");
    near(outcome.service.unwrap().mean, 0.001, 0.001);
}

/// A client that was away is late for all requests of that time, also those for which no connection was left when it came back.
#[test]
fn the_clients_own_lateness() {
    let case = Case { away: vec![(BEGIN + SECOND, BEGIN + SECOND + SECOND / 5)], ..at(1_000.0) };
    let outcome = case.outcome(server(|now| vec![Does::Send(now + 100_000, ANSWER.into())]));
    let late = outcome.own.late.unwrap();
    // While those of that time are made up for, all connections are busy.
    assert!((9_990..=10_000).contains(&late.count), "{late:?}");
    near(late.p99, 0.1, 0.02);
    near(late.max, 0.2, 0.01);
    assert_eq!(late.p50, 0.0);
    assert!(outcome.void.unwrap().contains("late"));
    // Where all connections are busy, waiting for one is the server's doing.
    let case = Case { connections: 1, ..at(1_000.0) };
    let outcome = case.outcome(server(|now| vec![Does::Send(now + 10 * MS, ANSWER.into())]));
    assert_eq!((outcome.own.late.unwrap().max, outcome.void), (0.0, None));
}

#[test]
fn connections_that_the_server_closes() {
    let answer: &[u8] = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi";
    let outcome = at(100.0).outcome(server(|now| vec![Does::Send(now + MS, answer.into()), Does::Close(now + MS)]));
    // The first of each was open already.
    assert_eq!((outcome.done, outcome.reconnects, outcome.errors.total()), (1_000, 992, 0));
    // An end that nobody announced, between two requests, is no error.
    let outcome = at(100.0).outcome(server(|now| vec![Does::Send(now + MS, ANSWER.into()), Does::Close(now + 2 * MS)]));
    assert_eq!((outcome.done, outcome.reconnects, outcome.errors.total()), (1_000, 992, 0));
    // A body that ends with the connection.
    let answer: &[u8] = b"HTTP/1.1 200 OK\r\n\r\nhi";
    let outcome = at(100.0).outcome(server(|now| vec![Does::Send(now + MS, answer.into()), Does::Close(now + 3 * MS)]));
    assert_eq!((outcome.done, outcome.errors.total()), (1_000, 0));
    near(outcome.latency.unwrap().mean, 0.003, 0.001);
}

#[test]
fn errors_by_kind() {
    let of = |does: fn(u64) -> Vec<Does>| at(100.0).outcome(server(does)).errors;
    let closed = of(|now| vec![Does::Close(now + MS)]);
    assert_eq!(
        (closed.closed, closed.total(), closed.examples["closed"].as_str()),
        (1_000, 1_000, "the server closed it")
    );
    let half = of(|now| vec![Does::Send(now, ANSWER[..30].into()), Does::Close(now + MS)]);
    assert_eq!((half.closed, half.total()), (1_000, 1_000));
    let reset = of(|now| vec![Does::Reset(now + MS)]);
    assert!(reset.closed == 1_000 && reset.examples["closed"].contains("reset"), "{reset:?}");
    let garbage = of(|now| vec![Does::Send(now + MS, b"SSH-2.0-x\r\n".into())]);
    assert!(garbage.broken == 1_000 && garbage.examples["broken"].contains("HTTP/1."), "{garbage:?}");
    let twice = of(|now| vec![Does::Send(now + MS, ANSWER.repeat(2))]);
    assert!(twice.broken == 1_000 && twice.examples["broken"].contains("after the end"), "{twice:?}");
    let failed = of(|now| vec![Does::Send(now + MS, b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n".into())]);
    assert_eq!((failed.status[&503], failed.total()), (1_000, 1_000));
}

/// Errors are quick; they must not make a server look quick.
#[test]
fn errors_have_no_latency() {
    let mut count = 0;
    let outcome = at(100.0).outcome(server(move |now| {
        count += 1;
        match count % 2 {
            0 => vec![Does::Send(now, b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n".into())],
            _ => vec![Does::Send(now + 20 * MS, ANSWER.into())],
        }
    }));
    let latency = outcome.latency.unwrap();
    assert_eq!((latency.count, outcome.errors.total()), (500, 500));
    near(latency.mean, 0.020, 0.001);
    near(outcome.reached_rate, 50.0, 0.01);
}

/// A server that is gone and comes back: each request that was due meanwhile failed once, and no attempt is made for none.
#[test]
fn a_server_that_is_gone_for_a_while() {
    let mut attempts = 0;
    let gone = (BEGIN + 2 * SECOND)..(BEGIN + 4 * SECOND);
    let outcome = at(100.0).outcome(|now, _, told| {
        let is_gone = gone.contains(&now);
        match told {
            Told::Connect if is_gone => {
                attempts += 1;
                vec![Does::Refuse(now)]
            }
            Told::Connect => vec![Does::Open(now + MS)],
            Told::Request if is_gone => vec![Does::Reset(now)],
            Told::Request => vec![Does::Send(now + MS, ANSWER.into())],
        }
    });
    assert_eq!((outcome.errors.connect, outcome.errors.closed, outcome.done), (192, 8, 800));
    assert_eq!(attempts, 192);
    // In a closed loop they would be as fast as they can.
    let case = Case { arrivals: Arrivals::Closed, connections: 1, ..at(1.0) };
    let outcome = case.outcome(|now, _, told| match told {
        Told::Connect if now > BEGIN => vec![Does::Refuse(now)],
        Told::Connect => vec![Does::Open(now)],
        Told::Request => vec![Does::Close(now)],
    });
    assert_eq!(outcome.due, 1_000);
}

#[test]
fn the_warm_up_does_not_count() {
    let case = Case { warm_up: 5, ..at(100.0) };
    // Slow at first, as programs are.
    let outcome = case.outcome(server(|now| {
        let takes = if now < BEGIN + 5 * SECOND { 500 * MS } else { MS };
        vec![Does::Send(now + takes, ANSWER.into())]
    }));
    assert_eq!((outcome.due, outcome.done, outcome.duration), (1_000, 1_000, 10.0));
    // What was left from before may still be in its way.
    assert!(outcome.latency.unwrap().p50 < 0.0011, "{outcome:?}");
}

#[test]
fn an_interruption_ends_it() {
    let stop = AtomicBool::new(false);
    let tally = at(100.0).tally(
        &stop,
        server(|now| {
            if now >= BEGIN + 4 * SECOND {
                stop.store(true, Ordering::Relaxed);
                return Vec::new();
            }
            vec![Does::Send(now + MS, ANSWER.into())]
        }),
    );
    assert!(tally.interrupted);
    // It is seen when something is to be done, which is the next request.
    assert_eq!((tally.done, tally.unfinished, tally.due), (400, 2, 402));
    near(tally.window as f64, 4.0 * SECOND as f64, 0.03);
    // Before anything was done.
    stop.store(true, Ordering::Relaxed);
    let tally = Case { warm_up: 1, ..at(100.0) }.tally(&stop, server(|_| Vec::new()));
    assert_eq!((tally.interrupted, tally.window, tally.due), (true, 0, 0));
}

/// Answers that are larger than what is read at once, and requests that are taken in pieces.
#[test]
fn large_answers_and_small_windows() {
    let body = vec![b'x'; 3 * READS * BUFFER + 17];
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
    let answer = [head.as_bytes(), &body].concat();
    let bytes = answer.len() as u64;
    let case = Case { takes: 3, connections: 2, ..at(2.0) };
    let outcome = case.outcome(server(|now| vec![Does::Send(now + MS, answer.clone())]));
    assert_eq!((outcome.done, outcome.received), (20, 20 * bytes));
}

/// Bytes without a question are not taken for the answer to the next.
#[test]
fn bytes_that_nobody_asked_for() {
    let wrong: &[u8] = b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n";
    let outcome = at(10.0)
        .outcome(server(|now| vec![Does::Send(now + MS, ANSWER.into()), Does::Send(now + 2 * MS, wrong.into())]));
    assert_eq!((outcome.done, outcome.errors.total()), (100, 0));
}

#[test]
fn all_connections_are_used_alike() {
    let mut used = [0; 8];
    let case = at(100.0);
    case.outcome(|now, slot, told| match told {
        Told::Connect => vec![Does::Open(now)],
        Told::Request => {
            used[slot] += 1;
            vec![Does::Send(now + MS, ANSWER.into())]
        }
    });
    assert_eq!(used, [125; 8]);
}

#[test]
fn not_all_can_connect() {
    let requests = [Vec::new()];
    let stop = AtomicBool::new(false);
    let plan =
        Plan { requests: &requests, to_head: false, closed: false, warm_up: 0, end: 1, timeout: SECOND, stop: &stop };
    let opened = |does: fn(u64, usize) -> Does| {
        let net = Sim::new(300, move |now, slot, _| vec![does(now, slot)]);
        Worker::new(net, plan.clone(), Schedule::new(Arrivals::Even(1.0), 1, 0, 1, 1), 300).open_all()
    };
    assert_eq!(opened(|now, _| Does::Open(now + MS)), Ok(()));
    assert_eq!(
        opened(|now, slot| if slot < 250 { Does::Open(now + MS) } else { Does::Refuse(now + 2 * MS) }),
        Err((250, Errno::CONNREFUSED))
    );
    assert_eq!(
        opened(|now, slot| Does::Open(if slot < 7 { now } else { now + 9 * SECOND })),
        Err((7, Errno::TIMEDOUT))
    );
}

/// What servers may do with a request, in a number.
fn does(what: u8, now: u64) -> Vec<Does> {
    let later = now + u64::from(what) * MS;
    match what % 8 {
        0 => Vec::new(),
        1 => vec![Does::Close(later)],
        2 => vec![Does::Send(later, ANSWER.into()), Does::Close(later)],
        3 => vec![Does::Send(now, ANSWER[..20].into()), Does::Send(later, ANSWER[20..].into())],
        4 => vec![Does::Send(later, ANSWER[..20].into()), Does::Reset(later + MS)],
        5 => vec![Does::Send(later, b"garbage".into())],
        6 => vec![Does::Send(later, b"HTTP/1.1 200 OK\r\n\r\n".into())],
        _ => vec![Does::Send(later, ANSWER.into())],
    }
}

proptest! {
    /// Whatever servers do, each request comes to one end, and the run to its own.
    #[test]
    fn each_request_ends_once(
        what in prop::collection::vec(any::<u8>(), 1..40),
        connections in 1..5_usize,
        rate in 1.0..500.0_f64,
        kind in 0..3,
    ) {
        let arrivals = [Arrivals::Even(rate), Arrivals::Poisson(rate), Arrivals::Closed][kind as usize];
        let case = Case { arrivals, connections, seconds: 2, timeout: 1, ..at(1.0) };
        let mut next = what.iter().cycle();
        let mut last = 0;
        // The invariant itself is asserted there.
        let outcome = case.outcome(|now, _, told| {
            let what = *next.next().unwrap_or(&0);
            last = now;
            match told {
                Told::Connect if what % 7 == 0 && now > BEGIN => vec![Does::Refuse(now + MS)],
                Told::Connect => vec![Does::Open(now + u64::from(what) * 10_000)],
                Told::Request => does(what, now),
            }
        });
        // A request waits for a connection for a second at most; what it is sent on opens within 2.55 ms.
        prop_assert!(last <= BEGIN + 3 * SECOND + 3 * MS);
        prop_assert!(outcome.latency.is_none_or(|latency| latency.max < 2.01 && latency.count == outcome.done + outcome.errors.timed_out));
    }
}

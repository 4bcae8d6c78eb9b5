//! `twinscope load`: asks an HTTP/1.1 server at a constant rate, and says what came of it.

use crate::stop;
use crate::text::{clean, table, trimmed};
use anyhow::{Context, Result};
use clap::Args;
use load::{Arrivals, Options, Outcome, Times, Url};
use model::human;
use recorder::{Usage, duration};
use std::path::PathBuf;
use std::time::Duration;

/// Of a request's body, which is kept in memory.
const BODY: files::foreign::Limit = files::foreign::Limit { bytes: 1 << 30, option: "" };

/// Exit code where the client and not the server was measured, and --strict was given.
const VOID: u8 = 5;

/// Ask an HTTP/1.1 server at a constant rate.
#[derive(Args, Debug)]
pub struct Load {
    /// What is asked, such as http://127.0.0.1:8080/; several in turn, all of one host and port
    #[arg(value_name = "URL", required = true)]
    urls: Vec<String>,

    /// Requests per second over all connections, such as 20000 or 20k; or max: each connection asks as soon as it has its answer (a
    /// closed loop, whose latencies are not those of users)
    #[arg(long, value_name = "RATE", value_parser = rate)]
    rate: Option<Rate>,

    /// Connections, 1 to 65,000; each has one request at a time
    #[arg(short, long, value_name = "N")]
    connections: u32,

    /// How long requests count
    #[arg(short, long, value_name = "TIME", value_parser = duration)]
    duration: Duration,

    /// How long requests are made before that, which do not count
    #[arg(long, value_name = "TIME", value_parser = duration)]
    warm_up: Option<Duration>,

    /// How long a request may wait for a connection, and how long its answer is waited for
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "10s")]
    timeout: Duration,

    /// Requests are due at random times (a Poisson process), as those of many users are, instead of even ones
    #[arg(long)]
    poisson: bool,

    /// What the random times are drawn from: the same number, the same times
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Threads, each with its part of connections and requests. Default: one for each of --cpus, else one
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    threads: Option<u32>,

    /// The CPUs that the threads run on, such as 1 or 2-3; best such as the server has not
    #[arg(long, value_name = "LIST", value_parser = |list: &str| load::cpus(list).map(Cpus))]
    cpus: Option<Cpus>,

    /// The method. Default: GET, and POST with a body
    #[arg(long, value_name = "METHOD")]
    method: Option<String>,

    /// A header; may be given several times
    #[arg(long, value_name = "NAME: VALUE", value_parser = header)]
    header: Vec<(String, String)>,

    /// What each request carries
    #[arg(long, value_name = "TEXT", conflicts_with = "body_file")]
    body: Option<String>,

    /// The file that each request carries
    #[arg(long, value_name = "FILE")]
    body_file: Option<PathBuf>,

    /// End with exit code 5 where the client was late or its CPU full, so that it and not the server was measured
    #[arg(long)]
    strict: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Requests per second; None is as many as the server answers.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rate(Option<f64>);

#[derive(Clone, Debug)]
struct Cpus(Vec<usize>);

fn rate(text: &str) -> Result<Rate, String> {
    if text == "max" {
        return Ok(Rate(None));
    }
    let (number, factor) = match text.strip_suffix(['k', 'K']) {
        Some(number) => (number, 1e3),
        None => (text, 1.0),
    };
    let plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let value = number.parse::<f64>().ok().filter(|value| plain && *value > 0.0);
    value
        .map(|value| Rate(Some(value * factor)))
        .ok_or("expected requests per second, such as 20000, 20k or 0.5, or max".into())
}

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("expected NAME: VALUE, such as 'Accept: text/html'")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

fn options(asked: &Load) -> Result<Options> {
    let arrivals = match asked.rate {
        None => return Err(Usage("--rate is missing: requests per second, or max for a closed loop".into()).into()),
        Some(Rate(None)) if asked.poisson => {
            return Err(
                Usage("--poisson needs a rate: with --rate max nothing is due at a time of its own".into()).into()
            );
        }
        Some(Rate(None)) => Arrivals::Closed,
        Some(Rate(Some(rate))) if asked.poisson => Arrivals::Poisson(rate),
        Some(Rate(Some(rate))) => Arrivals::Even(rate),
    };
    let urls = asked.urls.iter().map(|url| Url::parse(url)).collect::<Result<Vec<_>, _>>().map_err(told)?;
    let body = match (&asked.body, &asked.body_file) {
        (Some(text), _) => Some(text.clone().into_bytes()),
        (_, Some(path)) => {
            Some(files::foreign::read(path, BODY).with_context(|| format!("--body-file {}", path.display()))?)
        }
        _ => None,
    };
    let method = if body.is_some() { "POST" } else { "GET" };
    let options = Options {
        urls,
        method: asked.method.clone().unwrap_or_else(|| method.into()),
        headers: asked.header.clone(),
        body: body.unwrap_or_default(),
        arrivals,
        connections: asked.connections,
        duration: asked.duration,
        warm_up: asked.warm_up.unwrap_or_default(),
        timeout: asked.timeout,
        threads: asked.threads.unwrap_or(0),
        cpus: asked.cpus.clone().map(|cpus| cpus.0).unwrap_or_default(),
        seed: asked.seed,
    };
    options.check().map_err(told)?;
    Ok(options)
}

/// An error of the client, with the exit code that it has here.
fn told(error: load::Error) -> anyhow::Error {
    if error.is_usage() { Usage(clean(&error.to_string())).into() } else { error.into() }
}

/// Does it. Exit code 1 where no request was done, 5 where it is void and --strict was given.
pub fn load(asked: &Load) -> Result<u8> {
    let options = options(asked)?;
    stop::heed_signals();
    let outcome = load::run_until(&options, &stop::STOP).map_err(told)?;
    if asked.json {
        println!("{}", serde_json::to_string_pretty(&outcome)?);
    } else {
        print!("{}", text(&outcome));
    }
    Ok(match &outcome.void {
        Some(_) if asked.strict => VOID,
        _ if outcome.done == 0 && !outcome.interrupted => 1,
        _ => 0,
    })
}

fn time(seconds: f64) -> String {
    human(seconds, "s")
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// Below this part of what was asked for, the server did not keep up.
const KEPT_UP: f64 = 0.99;

/// What came of it, in a sentence.
fn sentence(of: &Outcome) -> String {
    let (rate, over) =
        (human(of.reached_rate, "1/s"), format!("over {} connections for {}", of.connections, time(of.duration)));
    // Of what was not done there is no latency that a client could have spoilt.
    let Some(latency) = of.latency.filter(|_| of.done > 0) else {
        return match of.due {
            0 => "No request was due.".into(),
            due => format!("None of {due} requests was done {over}."),
        };
    };
    if let Some(why) = &of.void {
        return format!("Void: the client and not the server was measured, for {}.", clean(why));
    }
    let latency = format!("mean {}, p99 {}", time(latency.mean), time(latency.p99));
    // Those that timed out are told as what they are: the server did not keep up.
    let failed = of.errors.total() - of.errors.timed_out;
    let due_rate = of.due as f64 / of.duration.max(1e-9);
    match of.asked_rate {
        None => {
            format!("The server did {rate} {over}, in a closed loop: latencies ({latency}) are not those of users.")
        }
        Some(_) if (failed as f64) > (1.0 - KEPT_UP) * of.due as f64 => {
            format!(
                "{failed} of {} requests failed: the server did {rate} {over}; latency from when due: {latency}.",
                of.due
            )
        }
        Some(asked) if of.reached_rate < KEPT_UP * asked.min(due_rate) && !of.interrupted => {
            format!(
                "The server did not keep up: it did {rate} of {} {over}; latency from when due: {latency}.",
                human(asked, "1/s")
            )
        }
        Some(_) => format!("The server did {rate} {over}; latency from when due: {latency}."),
    }
}

fn errors(of: &Outcome) -> String {
    let errors = &of.errors;
    let mut kinds = Vec::new();
    let named = [
        (errors.connect, "connections refused or failed", "connect"),
        (errors.timed_out, "timed out", ""),
        (errors.closed, "closed before the answer was whole", "closed"),
        (errors.broken, "broken answers", "broken"),
    ];
    for (count, words, example) in named.into_iter().filter(|(count, ..)| *count > 0) {
        let example = errors.examples.get(example).map(|text| format!(" ({})", clean(text))).unwrap_or_default();
        kinds.push(format!("{count} {words}{example}"));
    }
    kinds.extend(errors.status.iter().map(|(status, count)| format!("{count} with status {status}")));
    match errors.total() {
        0 => "0".into(),
        total => format!("{total}: {}", kinds.join(", ")),
    }
}

fn client(of: &Outcome) -> String {
    let own = &of.own;
    let mut words = vec![format!("{} thread{}", own.threads, if own.threads == 1 { "" } else { "s" })];
    if !own.cpus.is_empty() {
        let list: Vec<String> = own.cpus.iter().map(ToString::to_string).collect();
        words.push(format!("on CPU {}", list.join(", ")));
    }
    words.push(format!("busy {}", percent(own.busy)));
    words.extend(own.cpus_busy.map(|busy| format!("its CPU {} with all that ran there", percent(busy))));
    words.extend(own.cpu_per_request.map(|cpu| format!("{} of CPU time a request", time(cpu))));
    if own.timer == "timerfd" {
        words.push("waits by timerfd, for this kernel has no epoll_pwait2".into());
    }
    words.join(", ")
}

fn text(of: &Outcome) -> String {
    let mut lines = vec![sentence(of), String::new()];
    let rate = of.asked_rate.map_or_else(
        || human(of.reached_rate, "1/s"),
        |asked| format!("{} of {} asked for", human(of.reached_rate, "1/s"), human(asked, "1/s")),
    );
    lines.push(format!("done {} of {} due, {rate}", of.done, of.due));
    let mut times =
        table(&["", "mean", "p50", "p90", "p99", "p99.9", "max"], &[false, true, true, true, true, true, true]);
    let mut row = |name: &str, times_of: Option<Times>| {
        if let Some(t) = times_of {
            let cells = [t.mean, t.p50, t.p90, t.p99, t.p999, t.max].map(time);
            times.add_row(std::iter::once(name.to_owned()).chain(cells));
        }
    };
    row(if of.asked_rate.is_some() { "latency, from when due" } else { "latency" }, of.latency);
    row("service time, from when sent", of.service.filter(|_| of.asked_rate.is_some()));
    row("sent late by the client", of.own.late);
    if times.row_count() > 0 {
        lines.push(trimmed(&times));
    }
    lines.push(format!("errors       {}", errors(of)));
    lines.push(format!("reconnects   {}", of.reconnects));
    lines.push(format!("received     {}", human(of.received as f64 / of.duration.max(1e-9), "B/s")));
    lines.push(format!("client       {}", client(of)));
    if of.errors.timed_out > 0 {
        lines.push(format!(
            "Requests that timed out stand in the latency with the time after which they were given up ({} and more).",
            time(of.timeout)
        ));
    }
    if of.interrupted {
        lines.push(format!("Ended early; {} requests were open or waiting.", of.unfinished));
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome() -> Outcome {
        let times = Times { count: 9_990, mean: 0.05, p50: 85e-6, p90: 120e-6, p99: 0.9, p999: 0.99, max: 1.0 };
        let json = serde_json::json!({
            "url": "http://a/", "arrivals": "even", "connections": 32, "duration": 10.0, "warm_up": 0.0, "timeout": 10.0,
            "asked_rate": 1000.0, "reached_rate": 999.0, "due": 10_000, "done": 9_990, "latency": times, "service": times,
            "errors": { "connect": 0, "timed_out": 3, "closed": 2, "broken": 0, "status": { "503": 5 },
                "examples": { "closed": "the server\u{1b} closed it" } },
            "unfinished": 0, "reconnects": 7, "received": 20_480_000, "void": null, "interrupted": false,
            "own": { "late": times, "cpu_per_request": 2e-5, "busy": 0.41, "cpus_busy": 0.5, "cpus": [1], "threads": 1,
                "timer": "epoll_pwait2" },
        });
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn it_says_what_came_of_it() {
        let said = text(&outcome());
        for part in [
            "The server did 999/s over 32 connections for 10 s; latency from when due: mean 50 ms, p99 900 ms.\n\ndone 9990 of 10000 due, 999/s of 1 k/s",
            "  mean    p50     p90     p99   p99.9  max\n",
            "latency, from when due        50 ms  85 µs  120 µs  900 ms  990 ms  1 s\n",
            "errors       10: 3 timed out, 2 closed before the answer was whole (the server\u{fffd} closed it), 5 with status 503\n",
            "reconnects   7\n",
            "received     1.95 MiB/s\n",
            "client       1 thread, on CPU 1, busy 41 %, its CPU 50 % with all that ran there, 20 µs of CPU time a request\n",
            "given up (10 s and more)",
        ] {
            assert!(said.contains(part), "{part}\n{said}");
        }
    }

    #[test]
    fn the_first_sentence_says_what_matters() {
        let said = |change: fn(&mut Outcome)| {
            let mut of = outcome();
            change(&mut of);
            sentence(&of)
        };
        assert!(
            said(|of| of.void = Some("it was late".into()))
                .starts_with("Void: the client and not the server was measured, for it was late.")
        );
        assert!(
            said(|of| of.reached_rate = 500.0).starts_with("The server did not keep up: it did 500/s of 1 k/s over")
        );
        assert!(
            said(|of| of.asked_rate = None)
                .contains("closed loop: latencies (mean 50 ms, p99 900 ms) are not those of users")
        );
        let nothing = said(|of| (of.done, of.latency, of.void) = (0, None, Some("it was late".into())));
        assert!(nothing.starts_with("None of 10000 requests was done"), "{nothing}");
    }

    #[test]
    fn rates_are_read() {
        assert_eq!(
            (rate("20000"), rate("2.5k"), rate("0.5"), rate("max")),
            (Ok(Rate(Some(2e4))), Ok(Rate(Some(2.5e3))), Ok(Rate(Some(0.5))), Ok(Rate(None)))
        );
        for wrong in ["", "0", "-1", "1e3", "fast", "k", "inf", "NaN", "1/s"] {
            assert!(rate(wrong).is_err(), "{wrong}");
        }
    }
}

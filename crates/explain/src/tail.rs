//! What the slowest requests did that usual ones did not: the parts of their time by state, from requests that the recorder followed (table
//! `turn_followed`), and the causes that say that such a part is theirs (`tail` in their header).
//!
//! Slow are the slowest 1 % of the requests of the port that answered most, by queue and service time; usual are those between the fourth and the sixth
//! tenth. With a baseline it is what slow requests do beyond usual ones more than they do there.

use crate::Error;
use crate::cause::{Cause, Tail as Claim, fill_words};
use compare::{Choice, PerSide, Side, window};
use model::Window;
use query::latency::{Kind, LastByte, Latency, Service};
use query::profile::{Of, Ran, Stretch, Stretches};
use query::sql::Value;
use query::{Run, Session, human};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use store::Recording;

/// The parts of a request's time: columns of `turn_followed`, where `queued` is what is left of it beside the other three: what its reader did then was not
/// seen. They add up to queue and service time.
pub const PARTS: [&str; 16] = [
    "queued",
    "queued_running",
    "queued_runnable",
    "queued_blocked",
    "running",
    "runnable",
    "throttled",
    "lock",
    "disk",
    "network",
    "pipe",
    "fault",
    "sleep",
    "other",
    "unknown",
    "others",
];
/// So many of them, the first, are before the question was read.
const QUEUED: usize = 4;
/// The slowest requests were missed where one in a hundred of all takes so many times as long as those that were followed.
const MISSED: f64 = 1.5;
/// The part of the time before a question is read that may be unseen.
const UNSEEN: f64 = 0.5;
/// Slow are so many at least, if there are.
const FEWEST: usize = 5;
/// The part of the requests that is slow, and where usual ones lie.
const SLOWEST: f64 = 0.99;
const USUAL: [f64; 2] = [0.4, 0.6];
/// Parts of less than this of all that slow requests take longer are not told.
const LEAST: f64 = 0.05;

/// A request that was followed. Times in seconds.
struct Request {
    run: String,
    /// When it was read, nanoseconds since the start of the recording.
    at: i64,
    tid: i64,
    place: String,
    weight: f64,
    parts: [f64; PARTS.len()],
    total: f64,
    helper: String,
    helper_time: f64,
    backend: String,
    thread: String,
}

impl Request {
    /// Whether most of the time was seen that it lay there. If not it came before the stretch in which threads are followed, and is missing as those are
    /// that end after it.
    fn is_seen(&self) -> bool {
        let queued: f64 = self.parts.iter().take(QUEUED).sum();
        self.parts.first().is_none_or(|unseen| *unseen <= UNSEEN * queued)
    }
}

/// Requests of one side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OfSide {
    /// How many were followed, and how many of them are slow.
    pub followed: usize,
    /// Of these.
    pub slowest: usize,
    /// Queue and service time that half of the requests take at most, and 99 %; seconds.
    pub p50: f64,
    /// As above.
    pub p99: f64,
    /// Mean time of each part, of slow ones and of usual ones; seconds.
    pub slow: [f64; PARTS.len()],
    /// Of usual ones.
    pub usual: [f64; PARTS.len()],
}

/// A part of what slow requests take longer, and whose it is.
#[derive(Clone, Debug, PartialEq)]
pub struct TailFinding {
    /// The identifier of the cause; empty where none says that it is its own.
    pub cause: String,
    /// The part, of [`PARTS`].
    pub part: &'static str,
    /// Seconds for each slow request beyond usual ones, and its part of all of that.
    pub more: f64,
    /// As above.
    pub share: f64,
    /// A sentence.
    pub says: String,
    /// What shows it, line by line.
    pub evidence: Vec<String>,
    /// What to do about it.
    pub advice: Vec<String>,
}

/// What slow requests did.
#[derive(Clone, Debug, PartialEq)]
pub struct Tail {
    /// Whose requests: "nginx, port 8080".
    pub place: String,
    /// Where the slowest of all requests were not among those that were followed: that, in a sentence.
    pub caution: Option<String>,
    /// Until the last byte of the slow side's answers was sent, where that is another time than the service time: clients wait for it.
    pub last_byte: Option<LastByte>,
    /// What was followed of each side.
    pub sides: PerSide<Option<OfSide>>,
    /// The parts, the greatest first.
    pub findings: Vec<TailFinding>,
}

/// What is asked; recordings of before do not tell what the reader did while a question lay there.
fn question(has_queued: bool) -> String {
    let queued = if has_queued { "queued_running, queued_runnable, queued_blocked" } else { "0, 0, 0" };
    format!(
        "select run, at, comm || iif(protocol = 'unix', ' at ' || coalesce(peer, '?'), ', port ' || port) as place, weight, thread, helper, \
         backend, helper_time, tid, queued, {queued}, running, runnable, throttled, lock, disk, network, pipe, fault, sleep, other, unknown, \
         others from turn_followed where role = 'server' and weight > 0"
    )
}

/// Looks at the slowest requests of `runs`, of which the first `slow` are slow.
///
/// # Errors
/// Where the window is not there, or no request was followed.
pub fn tail(runs: Vec<Run>, slow: usize, window: &Choice, causes: &[Cause]) -> Result<Tail, Error> {
    let windows = runs.iter().map(|run| window::choose(run, window)).collect::<Result<Vec<_>, _>>()?;
    let of: HashMap<String, (Side, Window)> = runs
        .iter()
        .zip(&windows)
        .enumerate()
        .map(|(at, (run, w))| (run.name.clone(), (if at < slow { Side::Slow } else { Side::Baseline }, w.clone())))
        .collect();
    let has_baseline = runs.len() > slow;
    let names: Vec<String> = runs.iter().map(|run| run.name.clone()).collect();
    if let Some(without) = runs.iter().find(|run| run.recording.table("turn_followed").is_none()) {
        return Err(Error::Tail(format!(
            "{}: no requests were followed in this recording: that needs a server whose threads are traced (a command, --pid, --cgroup or \
             --all), eBPF, and a recorder of this version",
            without.name
        )));
    }
    // Recordings of before do not tell what the reader did while a question lay there.
    let has_queued =
        |run: &Run| run.recording.table("turn_followed").is_some_and(|t| t.column("queued_blocked").is_some());
    let tell: BTreeSet<String> = runs.iter().filter(|run| has_queued(run)).map(|run| run.name.clone()).collect();
    let ask = question(!tell.is_empty());
    let loaded: Vec<Latency> = runs
        .iter()
        .zip(&windows)
        .take(slow)
        .filter_map(|(run, window)| Latency::load(&run.recording, window))
        .collect();
    let counted: BTreeMap<String, f64> = loaded.iter().flat_map(p99s).collect();
    let session = Session::of(runs)?;
    let (_, rows) = session.all(&ask)?;
    let mut sides = PerSide::<Vec<Request>>::default();
    for row in &rows {
        let Some((side, request)) = read(row, &of) else { continue };
        if request.is_seen() || !tell.contains(&request.run) {
            sides[side].push(request);
        }
    }
    let place = busiest(&sides.slow).ok_or_else(|| {
        Error::Tail(format!(
            "{}: no request of a server was followed in its window",
            names.first().map_or("", String::as_str)
        ))
    })?;
    let mut tail = of_place(place, sides, has_baseline, causes, &|run, at| session.look(run, at));
    tail.caution = counted.get(&tail.place).and_then(|p99| caution(&tail, *p99));
    tail.last_byte = loaded.iter().find_map(|all| {
        all.of(true, Kind::Service)
            .find(|times| place_of(&times.service) == tail.place)
            .and_then(|of| all.last_byte(&of.service))
    });
    Ok(tail)
}

/// The 99th percentile of all requests of each server, as places of requests are called: of queue or service time that which is longer; seconds.
fn p99s(all: &Latency) -> Vec<(String, f64)> {
    let mut found: BTreeMap<String, f64> = BTreeMap::new();
    for times in [Kind::Service, Kind::Queue].into_iter().flat_map(|kind| all.of(true, kind)) {
        let longest = found.entry(place_of(&times.service)).or_default();
        *longest = all.quantile(times, SLOWEST).map_or(*longest, |p99| longest.max(p99));
    }
    found.into_iter().collect()
}

/// What a server is called where requests are followed.
fn place_of(service: &Service) -> String {
    match service.protocol.as_str() {
        "unix" => format!("{} at {}", service.comm, service.path),
        _ => format!("{}, port {}", service.comm, service.port),
    }
}

/// Says where the slowest that were followed are far from the slowest of all.
fn caution(tail: &Tail, p99: f64) -> Option<String> {
    let followed: f64 = tail.sides.slow.as_ref()?.slow.iter().sum();
    (p99 > MISSED * followed).then(|| {
        format!(
            "the slowest requests were not among those that were followed: one in a hundred of all takes {} and more, those followed {} \
             on average. Record for longer, or with --exact.",
            human(p99, "s"),
            human(followed, "s")
        )
    })
}

/// A row of the answer to [`question`], where it lies in the window of its run.
fn read(row: &[Value], of: &HashMap<String, (Side, Window)>) -> Option<(Side, Request)> {
    let number = |at: usize| match row.get(at) {
        Some(Value::Integer(n)) => *n as f64,
        Some(Value::Real(x)) => *x,
        _ => 0.0,
    };
    let text = |at: usize| match row.get(at) {
        Some(Value::Text(text)) => text.clone(),
        _ => String::new(),
    };
    let (side, window) = of.get(&text(0))?;
    let at = number(1) as i64;
    let mut parts: [f64; PARTS.len()] = std::array::from_fn(|part| number(9 + part) / 1e9);
    let [queued, running, runnable, blocked, ..] = &mut parts;
    *queued -= *running + *runnable + *blocked;
    // Sums of nanoseconds in seconds.
    if *queued < 1e-9 {
        *queued = 0.0;
    }
    let request = Request {
        run: text(0),
        at,
        tid: number(8) as i64,
        place: text(2),
        weight: number(3),
        thread: text(4),
        helper: text(5),
        backend: text(6),
        helper_time: number(7) / 1e9,
        total: parts.iter().sum(),
        parts,
    };
    (at >= window.from && at <= window.to).then_some((*side, request))
}

/// The place that answered most.
fn busiest(requests: &[Request]) -> Option<String> {
    let mut by: BTreeMap<&str, f64> = BTreeMap::new();
    for request in requests {
        *by.entry(&request.place).or_default() += request.weight;
    }
    by.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(place, _)| place.to_owned())
}

/// The requests of a side, the fastest first, cut into usual and slow ones.
struct Cut<'a> {
    usual: &'a [Request],
    slow: &'a [Request],
    of: OfSide,
}

fn cut(requests: &mut [Request]) -> Option<Cut<'_>> {
    requests.sort_by(|a, b| a.total.total_cmp(&b.total));
    let all: f64 = requests.iter().map(|r| r.weight).sum();
    // The first one up to which such a part of the requests is.
    let place = |part: f64| {
        let mut sum = 0.0;
        requests.iter().position(|r| {
            sum += r.weight;
            sum >= part * all
        })
    };
    let [from, to] = [place(USUAL[0])?, place(USUAL[1])?];
    let (p50, p99) = (requests.get(place(0.5)?)?.total, requests.get(place(SLOWEST)?)?.total);
    let first_slow = place(SLOWEST)?.min(requests.len().saturating_sub(FEWEST)).max(to + 1).min(requests.len());
    let (usual, slow) = (requests.get(from..=to)?, requests.get(first_slow..)?);
    let of = OfSide {
        followed: requests.len(),
        slowest: slow.len(),
        p50,
        p99,
        slow: std::array::from_fn(|part| mean(slow, |r| r.parts.get(part).copied().unwrap_or(0.0))),
        usual: std::array::from_fn(|part| mean(usual, |r| r.parts.get(part).copied().unwrap_or(0.0))),
    };
    Some(Cut { usual, slow, of })
}

fn mean(requests: &[Request], of: impl Fn(&Request) -> f64) -> f64 {
    let all: f64 = requests.iter().map(|r| r.weight).sum();
    let sum: f64 = requests.iter().map(|r| r.weight * of(r)).sum();
    if all > 0.0 { sum / all } else { 0.0 }
}

/// What slow requests do beyond usual ones, and beyond that of the baseline.
fn beyond(slow: &Cut<'_>, baseline: Option<&Cut<'_>>, of: impl Fn(&Request) -> f64) -> f64 {
    let more = |cut: &Cut<'_>| mean(cut.slow, &of) - mean(cut.usual, &of);
    (more(slow) - baseline.map_or(0.0, more).max(0.0)).max(0.0)
}

/// Has the recording of a run looked at.
type Recordings<'a> = &'a dyn Fn(&str, &mut dyn FnMut(&Recording));

fn of_place(
    place: String,
    mut sides: PerSide<Vec<Request>>,
    has_baseline: bool,
    causes: &[Cause],
    recordings: Recordings<'_>,
) -> Tail {
    sides.slow.retain(|r| r.place == place);
    // Where it serves on another port there, that is the one.
    if let Some(there) = busiest(&sides.baseline).filter(|_| !sides.baseline.iter().any(|r| r.place == place)) {
        sides.baseline.retain(|r| r.place == there);
    } else {
        sides.baseline.retain(|r| r.place == place);
    }
    let PerSide { slow: mut requests, baseline: mut against } = sides;
    let baseline = if has_baseline { cut(&mut against) } else { None };
    let Some(slow) = cut(&mut requests) else {
        return Tail { place, caution: None, last_byte: None, sides: PerSide::default(), findings: Vec::new() };
    };
    let mut left: [f64; PARTS.len()] =
        std::array::from_fn(|part| beyond(&slow, baseline.as_ref(), |r| r.parts.get(part).copied().unwrap_or(0.0)));
    let whole: f64 = left.iter().sum();
    let mut findings = Vec::new();
    // Threads that are known say more than states.
    for cause in causes.iter().filter(|cause| cause.tail.iter().any(|claim| matches!(claim, Claim::Helper(_)))) {
        let is_helper = |name: &str| cause.tail.iter().any(|claim| claim.is_helper(name));
        let mut more = beyond(&slow, baseline.as_ref(), |r| if is_helper(&r.helper) { r.helper_time } else { 0.0 });
        let mut found = 0.0;
        let mut most = ("running", 0.0);
        for part in ["queued_blocked", "running", "unknown", "runnable", "lock", "other"] {
            let Some(room) = PARTS.iter().position(|p| *p == part).and_then(|at| left.get_mut(at)) else { continue };
            let taken = room.min(more);
            *room -= taken;
            more -= taken;
            found += taken;
            if taken > most.1 {
                most = (part, taken);
            }
        }
        let found = finding(Some(cause), most.0, found, whole, &slow, &is_helper);
        findings.push((found, true));
    }
    let mut parts: Vec<(Option<&Cause>, &'static str, f64)> = Vec::new();
    for (part, more) in PARTS.into_iter().zip(left) {
        let cause = causes.iter().find(|cause| cause.tail.iter().any(|c| matches!(c, Claim::Part(p) if p == part)));
        let id = |cause: Option<&Cause>| cause.map(|cause| cause.id.clone());
        // Parts that a cause says the same of are one.
        let is_same = |(of, other, _): &&mut (Option<&Cause>, &'static str, f64)| {
            cause.is_some() && id(*of) == id(cause) && meanwhile(other) == meanwhile(part)
        };
        match parts.iter_mut().find(is_same) {
            Some((_, _, sum)) => *sum += more,
            None => parts.push((cause, part, more)),
        }
    }
    let of_part = |(cause, part, more)| (finding(cause, part, more, whole, &slow, &|_| true), false);
    findings.extend(parts.into_iter().map(of_part));
    findings.retain(|(f, _)| f.share >= LEAST);
    findings.sort_by(|(a, _), (b, _)| b.more.total_cmp(&a.more));
    tell_what_ran(&mut findings, &slow, causes, recordings);
    let findings = findings.into_iter().map(|(finding, _)| finding).collect();
    Tail {
        place,
        caution: None,
        last_byte: None,
        sides: PerSide { slow: Some(slow.of), baseline: baseline.map(|cut| cut.of) },
        findings,
    }
}

/// Adds to findings what the threads concerned ran meanwhile, by samples: the one that answered, or, of a finding of helpers (`true`), these.
fn tell_what_ran(findings: &mut [(TailFinding, bool)], slow: &Cut<'_>, causes: &[Cause], recordings: Recordings<'_>) {
    let nanoseconds = |seconds: f64| (seconds * 1e9) as i64;
    let mut found = Stretches::new(findings.len());
    let runs: BTreeSet<&str> = slow.slow.iter().map(|r| r.run.as_str()).collect();
    for run in runs {
        let requests = || slow.slow.iter().filter(|r| r.run == run);
        let groups: Vec<Vec<Stretch>> = findings
            .iter()
            .map(|(finding, is_of_helpers)| {
                let cause = causes.iter().find(|cause| cause.id == finding.cause);
                let is_helper =
                    |r: &&Request| cause.is_some_and(|c| c.tail.iter().any(|claim| claim.is_helper(&r.helper)));
                let stretch = |r: &Request, of: Of, lay_there: bool, is_read: bool| {
                    let queued: f64 = r.parts.iter().take(QUEUED).sum();
                    let (before, after) = (nanoseconds(queued), nanoseconds(r.total - queued));
                    let from = r.at - if lay_there { before } else { 0 };
                    Stretch { of, from, to: r.at + if is_read { after } else { 0 } }
                };
                match finding.part {
                    _ if *is_of_helpers => requests()
                        .filter(is_helper)
                        .map(|r| stretch(r, Of::Name(r.helper.clone()), true, true))
                        .collect(),
                    "queued" | "queued_running" => {
                        requests().map(|r| stretch(r, Of::Thread(r.tid), true, false)).collect()
                    }
                    "running" | "others" => requests().map(|r| stretch(r, Of::Thread(r.tid), false, true)).collect(),
                    _ => Vec::new(),
                }
            })
            .collect();
        recordings(run, &mut |recording| found.add(recording, &groups));
    }
    for (group, (finding, is_of_helpers)) in findings.iter_mut().enumerate() {
        let Some(Ran { function, share, samples }) = found.ran(group) else { continue };
        let who = if *is_of_helpers { "those threads" } else { "that thread" };
        let of = if samples == 1 { "the one sample".to_owned() } else { format!("{samples} samples") };
        finding.evidence.push(format!("{who} ran `{function}` meanwhile ({:.0} % of {of})", share * 100.0));
    }
}

/// The value with most time of slow requests.
fn most<'r>(slow: &Cut<'r>, of: impl Fn(&'r Request) -> (&'r str, f64)) -> Value {
    let mut by: BTreeMap<&str, f64> = BTreeMap::new();
    for request in slow.slow {
        let (name, time) = of(request);
        *by.entry(name).or_default() += time * request.weight;
    }
    let found =
        by.into_iter().filter(|(name, time)| !name.is_empty() && *time > 0.0).max_by(|a, b| a.1.total_cmp(&b.1));
    found.map_or(Value::Null, |(name, _)| Value::Text(name.to_owned()))
}

/// What a thread did that does not get to a request.
fn meanwhile(part: &str) -> Option<&'static str> {
    match part {
        "queued_running" | "others" => Some("busy with something else"),
        "queued_blocked" => Some("blocked"),
        _ => None,
    }
}

fn finding(
    cause: Option<&Cause>,
    part: &'static str,
    more: f64,
    whole: f64,
    slow: &Cut<'_>,
    is_helper: &dyn Fn(&str) -> bool,
) -> TailFinding {
    let at = PARTS.iter().position(|p| *p == part).unwrap_or(0);
    let time = |r: &Request| r.parts.get(at).copied().unwrap_or(0.0);
    let helper = most(slow, |r| if is_helper(&r.helper) { (&r.helper, r.helper_time) } else { ("", 0.0) });
    let columns = HashMap::from([
        ("more".to_owned(), Value::Real(more)),
        ("helper".to_owned(), helper),
        ("backend".to_owned(), most(slow, |r| (&r.backend, time(r)))),
        ("thread".to_owned(), most(slow, |r| (&r.thread, time(r)))),
        ("meanwhile".to_owned(), meanwhile(part).map_or(Value::Null, |text| Value::Text(text.to_owned()))),
    ]);
    let template = match cause {
        Some(cause) => cause.tail_says.as_str(),
        None => "slow requests are {more:s} longer in the state ",
    };
    let says = fill_words(template, &columns).unwrap_or_default();
    let says = if cause.is_none() { format!("{says}`{part}`") } else { says };
    TailFinding {
        cause: cause.map_or_else(String::new, |cause| cause.id.clone()),
        part,
        more,
        share: if whole > 0.0 { more / whole } else { 0.0 },
        says,
        evidence: Vec::new(),
        advice: cause.map_or_else(Vec::new, |cause| cause.advice.clone()),
    }
}

impl TailFinding {
    /// The two lines that a text begins with: its share and what it says, and the cause, which is empty where there is none.
    pub fn head(&self) -> [String; 2] {
        [format!("{:.0} %  {}", self.share * 100.0, self.says), self.cause.clone()]
    }
}

impl Tail {
    /// As JSON (docs/explain-json.md).
    pub fn to_json(&self) -> serde_json::Value {
        let side = |of: &Option<OfSide>| {
            of.as_ref().map(|of| {
                let parts = |of: &[f64; PARTS.len()]| {
                    PARTS.iter().zip(of).map(|(p, t)| ((*p).to_owned(), (*t).into())).collect::<serde_json::Map<_, _>>()
                };
                serde_json::json!({
                    "followed": of.followed, "slowest": of.slowest, "p50": of.p50, "p99": of.p99,
                    "slow": parts(&of.slow), "usual": parts(&of.usual),
                })
            })
        };
        let findings: Vec<serde_json::Value> = self
            .findings
            .iter()
            .map(|f| {
                serde_json::json!({
                    "cause": if f.cause.is_empty() { None } else { Some(&f.cause) }, "part": f.part, "more": f.more,
                    "share": f.share, "says": f.says, "evidence": f.evidence, "try": f.advice,
                })
            })
            .collect();
        serde_json::json!({
            "place": self.place, "caution": self.caution,
            "last_byte": self.last_byte.map(|last| serde_json::json!({"p50": last.p50, "p99": last.p99})),
            "slow": side(&self.sides.slow), "baseline": side(&self.sides.baseline), "findings": findings,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cause::built_in;

    fn request(total: f64, part: &str, helper: (&str, f64)) -> Request {
        let mut parts = [0.0; PARTS.len()];
        parts[QUEUED] = 0.001;
        parts[PARTS.iter().position(|p| *p == part).unwrap()] += total - 0.001;
        Request {
            run: "a".into(),
            at: 0,
            tid: 1,
            place: "web, port 80".into(),
            weight: 1.0,
            total,
            parts,
            helper: helper.0.into(),
            helper_time: helper.1,
            backend: if part == "network" { "10.0.0.2:5432".into() } else { String::new() },
            thread: "worker".into(),
        }
    }

    /// A thousand requests of 1 ms, of which twenty take what `slow` says.
    fn requests(slow: impl Fn() -> Request) -> Vec<Request> {
        (0..1000).map(|at| if at % 50 == 0 { slow() } else { request(0.001, "running", ("", 0.0)) }).collect()
    }

    fn first(slow: Vec<Request>, baseline: Option<Vec<Request>>) -> TailFinding {
        let has = baseline.is_some();
        let sides = PerSide { slow, baseline: baseline.unwrap_or_default() };
        of_place("web, port 80".into(), sides, has, &built_in(), &|_, _| ()).findings.remove(0)
    }

    #[test]
    fn a_part_goes_to_the_cause_that_says_it_is_its_own() {
        let found = first(requests(|| request(0.05, "network", ("", 0.0))), None);
        assert_eq!((found.cause.as_str(), found.part), ("slow-backend", "network"));
        assert!(found.says.contains("10.0.0.2:5432") && found.says.contains("49 ms"), "{}", found.says);
        let found = first(requests(|| request(0.05, "lock", ("flusher", 0.04))), None);
        assert_eq!(found.cause, "lock-contention");
        assert!(found.says.contains("flusher"), "{}", found.says);
    }

    #[test]
    fn a_collector_is_known_by_its_thread() {
        for part in ["running", "lock", "queued_blocked"] {
            let found = first(requests(|| request(0.05, part, ("VM Thread", 0.045))), None);
            assert_eq!((found.cause.as_str(), found.part), ("gc", part));
            assert!(found.share > 0.8 && found.says.contains("VM Thread"), "{found:?}");
        }
    }

    #[test]
    fn what_waits_to_be_read_is_told_by_what_its_reader_did() {
        let of = |part| first(requests(|| request(0.05, part, ("", 0.0))), None);
        assert_eq!(of("queued_runnable").cause, "run-queue-wait");
        let texts = [
            ("queued", "worker gets"),
            ("queued_running", "worker, busy with"),
            ("queued_blocked", "worker, blocked,"),
        ];
        for (part, text) in texts {
            let found = of(part);
            assert!(found.cause == "read-late" && found.says.contains(text), "{found:?}");
        }
    }

    #[test]
    fn what_was_missed_is_said() {
        let sides = PerSide { slow: requests(|| request(0.05, "lock", ("", 0.0))), baseline: Vec::new() };
        let tail = of_place("web, port 80".into(), sides, false, &built_in(), &|_, _| ());
        assert_eq!(caution(&tail, 0.06), None);
        assert!(
            caution(&tail, 0.3).unwrap().contains("300 ms and more, those followed 50"),
            "{:?}",
            caution(&tail, 0.3)
        );
    }

    #[test]
    fn parts_that_a_cause_says_the_same_of_are_one() {
        let late = || {
            let mut request = request(0.05, "queued_runnable", ("", 0.0));
            request.parts[QUEUED + 1] = 0.05;
            Request { total: 0.1, ..request }
        };
        let found = first(requests(late), None);
        assert!(found.cause == "run-queue-wait" && found.share > 0.99 && found.says.contains("99 ms"), "{found:?}");
        assert!(late().is_seen() && !request(0.05, "queued", ("", 0.0)).is_seen());
    }

    #[test]
    fn what_the_baseline_does_too_is_no_news() {
        let slow = (0..1000).map(|at| match at % 50 {
            0 if at % 100 == 0 => request(0.05, "network", ("", 0.0)),
            0 => request(0.05, "disk", ("", 0.0)),
            _ => request(0.001, "running", ("", 0.0)),
        });
        let found = first(slow.collect(), Some(requests(|| request(0.05, "network", ("", 0.0)))));
        assert_eq!(found.part, "disk");
    }

    #[test]
    fn few_requests_do_no_harm() {
        for count in 0..12 {
            let sides = PerSide {
                slow: requests(|| request(0.05, "lock", ("", 0.0))).into_iter().take(count).collect(),
                baseline: Vec::new(),
            };
            of_place("web, port 80".into(), sides, count % 2 == 0, &built_in(), &|_, _| ());
        }
    }
}

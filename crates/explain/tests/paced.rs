//! A server with time to spare, which answers as many requests as it is asked however long each takes: what `explain` says where they take longer, and where
//! they do not. And of what nobody counted: whether its threads take more time.

use compare::window;
use explain::{Explain, Explanation, Outcome, explain};
use model::{Manifest, Work, whose};
use query::open;
use query::stats::rng::Rng;
use query::testing::{CPU, THREADS, TURN_TIME, write};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The columns of the ledger of threads.
const STATES: &str =
    "t pid tid comm thread user kernel stolen runnable throttled lock disk network pipe fault sleep idle other\n";

/// A minute of process 7 on two CPUs, read each second.
fn manifest(name: &str, work: Option<Work>) -> Manifest {
    Manifest {
        name: name.into(),
        cpus: 2,
        interval: 1_000_000_000,
        duration: Some(60_000_000_000),
        pid: Some(7),
        scope: whose::COMMAND.into(),
        work,
        ..Manifest::default()
    }
}

/// Forty requests a second for a minute, each of which takes `each` nanoseconds of CPU time; counted from the second `since` on.
fn record(dir: &Path, name: &str, seed: u64, each: f64, since: i64) -> PathBuf {
    let mut rng = Rng::new(seed);
    let mut cpu = String::from("t cpu user idle mhz\n");
    let mut threads = String::from(STATES);
    let mut turns = String::from("t comm role protocol port peer what low high count\n");
    let mut collector = String::from("t collector events lost sampled_1_in cost_ns\n");
    let (mut busy, mut progress) = (0.0, Vec::new());
    for t in 0..=60_i64 {
        let mut counts: BTreeMap<i64, i64> = BTreeMap::new();
        for _ in 0..if t > 0 { 40 } else { 0 } {
            let took = each * (0.2 * rng.normal()).exp();
            busy += took;
            let width = 1_i64 << ((took as i64).ilog2() - 4);
            *counts.entry(took as i64 / width * width).or_default() += 1;
        }
        if t >= since {
            writeln!(collector, "{t} turns {} 0 - -", 40 * (t - since)).expect("a line");
        }
        for (low, count) in counts.into_iter().filter(|_| t > since) {
            let high = low + (1 << (low.ilog2() - 4));
            writeln!(turns, "{t} web server tcp 8080 - service {low} {high} {count}").expect("a line");
        }
        let user = busy as i64;
        writeln!(cpu, "{t} 0 {} {} 1000", user / 10_000_000, 100 * t - user / 10_000_000).expect("a line");
        writeln!(threads, "{t} 7 7 web web {user} 0 0 0 0 0 0 0 0 0 0 {} 0", t * 1_000_000_000 - user).expect("a line");
        if t > since {
            progress.push((t as f64, 40.0 * (t - since) as f64));
        }
    }
    let total = 40.0 * (60 - since) as f64;
    let work = Work { unit: "requests".into(), total, progress, how: "answered on port 8080".into() };
    let manifest = manifest(name, Some(work));
    let path = dir.join(format!("{name}.twin"));
    let tables = sources::ALL.iter().flat_map(|source| source.tables);
    let counter = tables.copied().find(|table| table.name == "turns_collector").expect("what counts requests");
    write(&path, &manifest, &[(&THREADS, &threads), (&CPU, &cpu), (&TURN_TIME, &turns), (counter, &collector)]);
    path
}

fn explained(slow: f64, fast: f64) -> Explanation {
    let dir = tempfile::tempdir().expect("a folder");
    let paths = [record(dir.path(), "slow", 1, slow, 0), record(dir.path(), "fast", 2, fast, 0)];
    explain(open(&paths).expect("recordings"), 1, &Explain { causes: Vec::new(), ..Explain::default() })
        .expect("an explanation")
}

#[test]
fn requests_that_take_longer_are_explained_though_they_come_as_often() {
    let found = explained(5e6, 1e6);
    assert_eq!(found.outcome, Outcome::LongerRequests, "{}", found.verdict);
    assert!((found.ratio.value - 1.0).abs() < 0.02, "{:?}", found.ratio);
    let says = &found.verdict;
    assert!(
        says.starts_with(
            "slow answers as many requests as fast, but they take longer: p50 of the service time on port 8080"
        ),
        "{says}"
    );
    // All that a request takes longer is its own CPU time.
    let user = found.ledger.iter().find(|(state, ..)| *state == explain::budget::State::User).expect("user");
    assert!((user.2.value - 1.0).abs() < 1e-9 && user.1.slow > 4.0 * user.1.baseline, "{user:?}");
    assert_eq!(found.to_json()["outcome"], "longer requests");
}

#[test]
fn equal_servers_are_not_slower() {
    assert_eq!(explained(1e6, 1e6).outcome, Outcome::NoSlower);
    assert_eq!(explained(1e6, 5e6).outcome, Outcome::NoSlower, "the other way round");
}

#[test]
fn the_window_begins_when_requests_were_counted() {
    let dir = tempfile::tempdir().expect("a folder");
    for (since, says) in [(0, false), (20, true)] {
        let path = record(dir.path(), &format!("since-{since}"), 3, 1e7, since);
        let run = open(&[path]).expect("a recording").remove(0);
        let chosen = window::choose(&run, &window::Choice::Auto).expect("a window");
        assert!((chosen.from - since * 1_000_000_000).abs() <= 2_000_000_000, "{chosen:?}");
        assert_eq!(chosen.why.contains("from when requests were counted"), says, "{chosen:?}");
        // Who asks for the whole gets it.
        assert_eq!(window::choose(&run, &window::Choice::Whole).expect("a window").from, 0);
    }
}

/// A minute of a program whose work nobody counted, which uses a CPU for about such a part of each second.
fn busy(dir: &Path, name: &str, seed: u64, part: f64) -> PathBuf {
    let mut rng = Rng::new(seed);
    let mut threads = String::from(STATES);
    let mut user = 0.0;
    for t in 0..=60_i64 {
        let idle = t as f64 * 1e9 - user;
        writeln!(threads, "{t} 7 7 job job {user:.0} 0 0 0 0 0 0 0 0 0 0 {idle:.0} 0").expect("a line");
        user += part * 1e9 * (0.05 * rng.normal()).exp();
    }
    let path = dir.join(format!("{name}.twin"));
    write(&path, &manifest(name, None), &[(&THREADS, &threads)]);
    path
}

#[test]
fn more_time_is_told_of_unknown_work_where_it_is_sure_and_worth_a_word() {
    for (slow, fast, expected) in [
        (0.5, 0.2, Outcome::MoreTime),
        (0.5, 0.5, Outcome::NoSlower),
        (0.2, 0.5, Outcome::NoSlower),
        // Four times as much, and a thousandth of a thread.
        (0.0016, 0.0004, Outcome::NoSlower),
    ] {
        let dir = tempfile::tempdir().expect("a folder");
        let paths = [busy(dir.path(), "slow", 1, slow), busy(dir.path(), "fast", 2, fast)];
        let options = Explain { causes: Vec::new(), ..Explain::default() };
        let found = explain(open(&paths).expect("recordings"), 1, &options).expect("an explanation");
        assert_eq!(found.outcome, expected, "{slow} against {fast}: {}", found.verdict);
    }
}

//! A server with time to spare, which answers as many requests as it is asked however long each takes: what `explain` says where they take longer, and where
//! they do not.

use explain::{Explain, Explanation, Outcome, explain};
use model::{Manifest, Work, whose};
use query::open;
use query::stats::rng::Rng;
use query::testing::{CPU, THREADS, TURN_TIME, write};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Forty requests a second for a minute, each of which takes `each` nanoseconds of CPU time.
fn record(dir: &Path, name: &str, seed: u64, each: f64) -> PathBuf {
    let mut rng = Rng::new(seed);
    let mut cpu = String::from("t cpu user idle mhz\n");
    let mut threads = String::from(
        "t pid tid comm thread user kernel stolen runnable throttled lock disk network pipe fault sleep idle other\n",
    );
    let mut turns = String::from("t comm role protocol port peer what low high count\n");
    let (mut busy, mut progress) = (0.0, Vec::new());
    for t in 0..=60_i64 {
        let mut counts: BTreeMap<i64, i64> = BTreeMap::new();
        for _ in 0..if t > 0 { 40 } else { 0 } {
            let took = each * (0.2 * rng.normal()).exp();
            busy += took;
            let width = 1_i64 << ((took as i64).ilog2() - 4);
            *counts.entry(took as i64 / width * width).or_default() += 1;
        }
        for (low, count) in counts {
            let high = low + (1 << (low.ilog2() - 4));
            writeln!(turns, "{t} web server tcp 8080 - service {low} {high} {count}").expect("a line");
        }
        let user = busy as i64;
        writeln!(cpu, "{t} 0 {} {} 1000", user / 10_000_000, 100 * t - user / 10_000_000).expect("a line");
        writeln!(threads, "{t} 7 7 web web {user} 0 0 0 0 0 0 0 0 0 0 {} 0", t * 1_000_000_000 - user).expect("a line");
        if t > 0 {
            progress.push((t as f64, 40.0 * t as f64));
        }
    }
    let manifest = Manifest {
        name: name.into(),
        cpus: 2,
        interval: 1_000_000_000,
        duration: Some(60_000_000_000),
        pid: Some(7),
        scope: whose::COMMAND.into(),
        work: Some(Work { unit: "requests".into(), total: 2400.0, progress, how: "answered on port 8080".into() }),
        ..Manifest::default()
    };
    let path = dir.join(format!("{name}.twin"));
    write(&path, &manifest, &[(&THREADS, &threads), (&CPU, &cpu), (&TURN_TIME, &turns)]);
    path
}

fn explained(slow: f64, fast: f64) -> Explanation {
    let dir = tempfile::tempdir().expect("a folder");
    let paths = [record(dir.path(), "slow", 1, slow), record(dir.path(), "fast", 2, fast)];
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

//! What `explain` and `causes` print and how they end. Whether the cause is right is tested where pairs are recorded (`pairs.rs`), and measured by
//! `make faults`.

use crate::common::{Done, Folder, skipped};
use serde_json::Value;

/// A loop of the shell that reports its progress.
const WORK: &str =
    "i=0; while [ $i -lt 20 ]; do i=$((i+1)); j=0; while [ $j -lt 3000 ]; do j=$((j+1)); done; echo done $i; done";

fn prints(done: &Done, words: &str) {
    assert!(done.stdout.contains(words), "expected {words:?}: {done}");
}

#[test]
fn equal_runs_have_nothing_to_explain() {
    let folder = Folder::new();
    folder.expect(0, ["record", "-q", "-o", "a.twin", "--throughput", "done ([0-9]+)", "--", "sh", "-c", WORK]);
    let coverage = folder.info("a.twin")["coverage"].to_string();
    if folder.run(["explain", "a.twin"]).status.code() == Some(1) {
        return skipped("explain", &format!("the threads of a command cannot be looked at here: {coverage}"));
    }
    std::fs::copy(folder.path("a.twin"), folder.path("b.twin")).expect("a copy");
    let same = folder
        .expect(0, ["explain", "a.twin", "--against", "b.twin", "--fail-on", "any", "--fail-on", "slower", "--json"])
        .json();
    assert_eq!(same["outcome"], "no slower");
    assert_eq!(same["findings"].as_array().map(Vec::len), Some(0));
    assert_eq!((&same["work"]["ratio"], &same["work"]["unit"]), (&Value::from(1.0), &Value::from("operation")));

    let alone = folder.expect(0, ["explain", "a.twin", "--json"]).json();
    assert_eq!((&alone["outcome"], &alone["work"]["against"]), (&Value::from("alone"), &Value::Null));
    let shares: f64 = alone["ledger"].as_object().into_iter().flatten().filter_map(|(_, s)| s["share"].as_f64()).sum();
    assert!((shares - 1.0).abs() < 1e-6, "the states are all of the time: {shares}");
    let needs =
        |n: &Value| n["cause"] == "slower-function" && n["needs"].as_str().is_some_and(|t| t.contains("--against"));
    assert!(alone["not_evaluated"].as_array().is_some_and(|all| all.iter().any(needs)), "{alone:#}");

    let shown = folder.expect(0, ["explain", "a.twin"]);
    prints(&shown, "user");
    prints(&shown, "per operation");
    prints(&folder.expect(0, ["explain", "a.twin", "--markdown"]), "| user |");
    prints(&folder.expect(0, ["explain", "a.twin", "--ask", "select count(*) as cells from budget"]), "cells");
}

#[test]
fn causes_are_listed_shown_and_checked() {
    let folder = Folder::new();
    prints(&folder.expect(0, ["causes"]), "lock-contention");
    prints(&folder.expect(0, ["causes", "sync-writes"]), "fsync");
    let all = folder.expect(0, ["causes", "--json"]).json();
    assert!(all.as_array().is_some_and(|all| all.len() > 40 && all.iter().all(|c| c["advice"][0].is_string())));
    std::fs::create_dir(folder.path("ours")).expect("a folder");
    std::fs::write(folder.path("ours/mine.sql"), "-- cause mine: ours\n-- layer: nowhere\nselect 1").expect("a file");
    folder.expect(1, ["causes", "--causes", "ours"]).says("mine.sql").says("no layer");
    let good = "-- cause mine: ours\n-- layer: io\n-- says: {subject} is ours\n-- check: look\n-- try: that\n\
                -- claims:\nselect 'all' as subject, cell, 1 as part from budget where state = 'user'";
    std::fs::write(folder.path("ours/mine.sql"), good).expect("a file");
    prints(&folder.expect(0, ["causes", "--causes", "ours", "mine"]), "is ours");
    let circle = good.replace("-- says", "-- yields: lock-contention\n-- before: lock-contention\n-- says");
    std::fs::write(folder.path("ours/mine.sql"), circle).expect("a file");
    folder.expect(1, ["causes", "--causes", "ours"]).says("give way to each other");
    std::fs::write(folder.path("ours/mine.sql"), good).expect("a file");
    folder.expect(0, ["record", "-q", "-o", "a.twin", "--", "sh", "-c", WORK]);
    let done = folder.run(["explain", "a.twin", "--causes", "ours"]);
    if done.status.success() {
        prints(&done, "all is ours");
        folder.expect(0, ["report", "a.twin", "--causes", "ours", "-o", "ours.html"]);
        std::fs::write(folder.path("ours/mine.sql"), good.replace("from budget", "from no_such_table"))
            .expect("a file");
        folder.expect(1, ["explain", "a.twin", "--causes", "ours"]).says("ours/mine.sql").says("no_such_table");
        folder.expect(1, ["report", "a.twin", "--causes", "nowhere"]).says("nowhere");
    } else {
        skipped("causes of a user", "the threads of a command cannot be looked at here");
    }
}

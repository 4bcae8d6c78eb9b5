//! Two stretches of one recording as two sides, what a trigger had saved as two sides by itself, and what is offered on a terminal. The program
//! under test changes in the middle: six threads that sleep a millisecond an operation, from then on while they hold one lock.

use crate::common::{Folder, program, skipped};
use std::process::Command;

/// Threads that do 6,000 operations a second at most, and 1,000 once they share a lock, whatever else the CPUs do.
const PHASES: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t one_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int slow;
static volatile long done[6][16];
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}
static void *work(void *number) {
    for (;;) {
        int locks = slow;
        if (locks) pthread_mutex_lock(&one_lock);
        usleep(1000);
        if (locks) pthread_mutex_unlock(&one_lock);
        done[(long)number][0]++;
    }
    return 0;
}
int main(int count, char **words) {
    double begin = now(), change = atof(words[1]), end = atof(words[2]);
    pthread_t thread;
    for (long i = 0; i < 6; i++) pthread_create(&thread, 0, work, (void *)i);
    while (now() - begin < end) {
        usleep(100000);
        slow = now() - begin > change;
        long sum = 0;
        for (int i = 0; i < 6; i++) sum += done[i][0];
        printf("done %ld\n", sum);
        fflush(stdout);
    }
    return 0;
}
"#;

/// Compiles it; says where that is not possible.
fn compiled(folder: &Folder) -> bool {
    std::fs::write(folder.path("phases.c"), PHASES).expect("a file");
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-g", "-pthread", "-o", "phases", "phases.c"]).current_dir(folder.path(""));
    let is_there = compiler.status().is_ok_and(|status| status.success());
    if !is_there {
        skipped("two stretches of a recording", "no cc");
    }
    is_there
}

/// Whether waits for locks are told here.
fn knows_locks(folder: &Folder, recording: &str) -> bool {
    let coverage = folder.info(recording)["coverage"].to_string();
    let rows = folder.run(["sql", "--json", recording, "select max(lock) as most from thread_time"]);
    let knows = rows.status.success() && rows.json()[0]["most"].as_f64() > Some(0.0);
    if !knows {
        skipped("two stretches of a recording", &format!("waits for locks are not told here: {coverage}"));
    }
    knows
}

/// `unix`, nanoseconds since 1970, as a time of day in UTC, as it is printed.
fn clock(unix: i64) -> String {
    let second = unix / 1_000_000_000 % 86_400;
    let clock = format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
    clock.strip_suffix(":00").unwrap_or(&clock).to_owned()
}

#[test]
fn two_stretches_of_one_recording() {
    let folder = Folder::new();
    if !compiled(&folder) {
        return;
    }
    let record = ["record", "-q", "-o", "day.twin", "--throughput", "done ([0-9]+)", "--", "./phases", "8", "16"];
    folder.expect(0, record);
    if !knows_locks(&folder, "day.twin") {
        return;
    }
    let start = folder.info("day.twin")["manifest"]["start_unix"].as_i64().expect("when it began");
    let at = |second: i64| clock(start + second * 1_000_000_000);
    let (slow, fast) = (format!("{}..{}", at(10), at(15)), format!("{}..{}", at(2), at(7)));
    let windows = ["--window", &slow, "--against-window", &fast];

    let words = |more: &[&str]| [&["explain", "day.twin"], &windows[..], more].concat().join("\n");
    let run = |code: i32, words: &str| folder.expect(code, words.lines());
    let explained = run(0, &words(&["--json"])).json();
    assert_eq!(explained["findings"][0]["cause"], "lock-contention", "{explained:#}");
    assert!(explained["findings"][0]["share"].as_f64() > Some(0.8), "{explained:#}");
    assert!(explained["work"]["ratio"].as_f64() > Some(2.0), "{explained:#}");
    assert_eq!(explained["facts"].as_array().map(Vec::len), Some(0), "{explained:#}");
    let text = run(4, &words(&["--fail-on", "lock-contention 50%"])).stdout;
    assert!(text.starts_with(&format!("day {slow} takes ")) && text.contains(&format!("as day {fast}.")), "{text}");
    assert!(!text.contains("As a page"), "only on a terminal: {text}");
    assert!(run(0, &words(&["--markdown"])).stdout.contains("`lock-contention`"));
    let asked = run(0, &words(&["--ask", "select count(*) as places from budget where state = 'lock'"]));
    assert!(asked.stdout.contains("places"), "{asked}");

    let compared = folder.expect(0, [&["compare", "day.twin", "--json"], &windows[..]].concat()).json();
    let differences = compared["differences"].as_array().expect("differences");
    assert!(differences.iter().any(|d| d["metric"] == "thread_time.lock"), "{compared:#}");
    let drawn = [&["flame", "day.twin", "--state", "lock", "--json"], &windows[..]].concat();
    let drawn = folder.expect(0, drawn).json();
    assert_eq!(drawn["runs"], serde_json::json!([format!("day {fast}"), format!("day {slow}")]));
    let page = folder.expect(0, [&["report", "day.twin"], &windows[..]].concat());
    assert!(page.stdout.contains("of the slowdown"), "{page}");

    // Equal stretches differ in nothing.
    let same = ["explain", "day.twin", "--window", "5s..7.5s", "--against-window", "2s..4.5s", "--fail-on", "any"];
    folder.expect(0, same);

    // What is wrong is said in a line.
    let (empty, reversed) = (format!("{0}..{0}", at(10)), format!("{}..{}", at(15), at(10)));
    for window in [empty, reversed] {
        folder.expect(1, ["explain", "day.twin", "--window", &window, "--against-window", &fast]).says("nothing lies");
    }
    for (code, window, against, says) in [
        (1, "9s..15s", "5s..10s", "both hold 9.0 s to 10.0 s"),
        (1, "9s..15s", "3s..3s", "day: nothing lies between 3.000 s and 3.000 s"),
        (1, "9s..15s", "lunch..", "day: no mark \"lunch\"; it has none"),
        (1, "9s..15s", "25:10..", "Times are written 10:02"),
        (1, "9s..15s", "2001-01-01T10:00Z..2001-01-01T11:00Z", "it was recorded from 20"),
        (1, "900s..950s", "1s..3s", "nothing lies between 900.000 s"),
        (2, "auto", "1s..3s", "needs --window as well"),
        (2, "9s..15s", "nonsense", "expected auto, whole, busy"),
    ] {
        let done = folder.expect(code, ["explain", "day.twin", "--window", window, "--against-window", against]);
        done.says(says);
    }
    std::fs::copy(folder.path("day.twin"), folder.path("b.twin")).expect("a copy");
    folder.expect(2, [&["explain", "day.twin", "b.twin"], &windows[..]].concat()).says("name one, or a baseline");
    // Two recordings may have a window each.
    let both = [&["explain", "day.twin", "--against", "b.twin", "--json"], &windows[..]].concat();
    assert_eq!(folder.expect(0, both).json()["findings"][0]["cause"], "lock-contention");
}

#[test]
fn a_triggers_snapshot_explains_itself() {
    let folder = Folder::new();
    if !compiled(&folder) {
        return;
    }
    // Nobody waits for a lock at first; from the change on at least one thread does all the time.
    let options = [
        "record",
        "-o",
        "flight.twin",
        "--keep=1m",
        "--interval=200ms",
        "--trigger=waits: thread_time.lock{comm=phases} > 1 for 1s",
        "--after=5s",
        "--throughput=done ([0-9]+)",
        "--",
        "./phases",
        "8",
        "20",
    ];
    let done = folder.run(options);
    let saved = |name: &String| name.ends_with("-waits.twin");
    let Some(snapshot) = folder.files().into_iter().find(saved) else {
        return skipped("a trigger's snapshot that explains itself", &format!("nothing fired here: {done}"));
    };
    let explained = folder.expect(0, ["explain", &snapshot]);
    assert!(explained.stdout.starts_with("The trigger waits: thread_time.lock"), "{explained}");
    assert!(explained.stdout.contains("--against-window FROM..TO"), "{explained}");
    assert!(explained.stdout.contains("\n1. "), "{explained}");
    let json = folder.expect(0, ["explain", &snapshot, "--json"]);
    json.says("Since it held");
    assert_eq!(json.json()["findings"][0]["cause"], "lock-contention", "{json}");
    let whole = folder.expect(0, ["explain", &snapshot, "--window", "whole", "--json"]).json();
    assert_eq!(whole["outcome"], "alone");
}

#[test]
fn a_snapshot_without_a_time_before_is_one_run() {
    let folder = Folder::new();
    let options = [
        "record",
        "-q",
        "-o",
        "flight.twin",
        "--keep=1m",
        "--interval=200ms",
        "--trigger=there: meminfo.MemTotal > 1MiB for 1s",
        "--after=1s",
        "--",
        "sleep",
        "4",
    ];
    folder.expect(0, options);
    let snapshot = folder.files().into_iter().find(|name| name.ends_with("-there.twin")).expect("a snapshot");
    let done = folder.run(["explain", &snapshot]);
    if done.status.code() == Some(0) {
        assert!(done.stdout.contains("too little before"), "{done}");
    }
}

/// Runs a command on a terminal of its own; `None` where there is no `script`.
fn on_a_terminal(folder: &Folder, arguments: &str, term: &str) -> Option<String> {
    let command = format!("{} {arguments}", program().display());
    let mut script = Command::new("script");
    script.args(["-qec", &command, "/dev/null"]).current_dir(folder.path("")).env("TERM", term);
    let done = script.stdin(std::process::Stdio::null()).output().ok()?;
    Some(String::from_utf8_lossy(&done.stdout).into_owned())
}

#[test]
fn what_comes_next_is_offered_on_a_terminal() {
    let folder = Folder::new();
    let Some(first) = on_a_terminal(&folder, "record -o 'first one.twin' -- sleep 0.3", "xterm") else {
        return skipped("what is offered on a terminal", "no script(1)");
    };
    assert!(first.contains("twinscope explain 'first one.twin'"), "{first}");
    let second = on_a_terminal(&folder, "record -o second.twin -- sleep 0.3", "dumb").expect("script");
    assert!(second.contains("twinscope explain second.twin --against 'first one.twin'"), "{second}");
    assert!(!second.contains('\u{1b}'), "a terminal that cannot go back: {second}");
    let quiet = on_a_terminal(&folder, "record -q -o third.twin -- sleep 0.3", "xterm").expect("script");
    assert!(!quiet.contains("twinscope explain"), "{quiet}");
    let piped = folder.expect(0, ["record", "-o", "fourth.twin", "--", "sleep", "0.3"]);
    assert!(!piped.stderr.contains("twinscope explain"), "{piped}");
    if folder.run(["explain", "second.twin"]).status.success() {
        let shown = on_a_terminal(&folder, "explain second.twin --window whole", "xterm").expect("script");
        assert!(shown.contains("As a page: twinscope report second.twin --window whole -o second.html"), "{shown}");
    }
}

#[test]
fn alone_it_says_what_to_do() {
    let folder = Folder::new();
    let empty = folder.expect(0, [""; 0]);
    assert!(empty.stdout.lines().count() <= 20, "{empty}");
    assert!(empty.stdout.contains("twinscope record -o good.twin -- "), "{empty}");
    folder.expect(0, ["record", "-q", "-o", "it is.twin", "-d", "1s"]);
    let one = folder.expect(0, [""; 0]);
    assert!(one.stdout.contains("Here is a recording, the latest it is.twin"), "{one}");
    assert!(one.stdout.contains("twinscope report 'it is.twin' -o 'it is.html' --open"), "{one}");
    assert!(one.stdout.lines().count() <= 20, "{one}");
}

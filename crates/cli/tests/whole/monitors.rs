//! Contended monitors of a JVM are called by the class of their object, with who owned them: a real JVM, recorded as a user would.

use crate::common::{Folder, skipped};
use crate::pairs::{QUIET, used_by_others};
use std::process::Command;

/// Five threads take turns at one monitor and two at another, asleep while they hold it: whatever else the machine does, the threads that wait are
/// four to one. Static methods have the monitor of their class.
const PROGRAM: &str = r#"
public class Contended {
    static class Hot {
        synchronized void work() throws Exception { Thread.sleep(10); }
    }
    static class Cold {
        static synchronized void work() throws Exception { Thread.sleep(10); }
    }
    interface Work { void once() throws Exception; }
    static void start(String name, int threads, long end, Work work) {
        for (int i = 0; i < threads; i++) {
            new Thread(() -> {
                try {
                    while (System.nanoTime() < end) work.once();
                } catch (Exception e) {
                    throw new RuntimeException(e);
                }
            }, name + "-" + i).start();
        }
    }
    public static void main(String[] arguments) {
        Hot hot = new Hot();
        long end = System.nanoTime() + 4_000_000_000L;
        start("hot", 5, end, hot::work);
        start("cold", 2, end, Cold::work);
    }
}
"#;

const FILE: &str = "run.twin";
const HOT: &str = "monitor of Contended$Hot";
const COLD: &str = "monitor of class Contended$Cold";

/// Records the program with options of the JVM. `None` where that cannot be done here.
fn record(options: &[&str]) -> Option<Folder> {
    let folder = Folder::new();
    let what = format!("monitors of Java {options:?}");
    std::fs::write(folder.path("Contended.java"), PROGRAM).expect("a folder that can be written");
    let compiled = Command::new("javac").arg("Contended.java").current_dir(folder.path("")).output();
    if !compiled.as_ref().is_ok_and(|done| done.status.success()) {
        skipped(&what, &format!("javac does not compile: {compiled:?}"));
        return None;
    }
    let class_path = folder.path("");
    let class_path = class_path.to_str().expect("a plain path");
    // A JVM without the collector or flag in question does not start.
    let started = Command::new("java").args(options).arg("-version").output();
    if !started.as_ref().is_ok_and(|done| done.status.success()) {
        skipped(&what, &format!("{started:?}"));
        return None;
    }
    let command = ["record", "-q", "-o", FILE, "--", "java"].iter().chain(options).copied();
    folder.expect(0, command.chain(["-cp", class_path, "Contended"]));
    let why = folder.rows(
        FILE,
        "select item, status, why from coverage where source = 'threads' and item in ('', 'lock.name', 'lock')",
    );
    let is_read = |row: &serde_json::Value| row["item"] != "" || row["status"] == "read";
    if !why.iter().all(is_read) || why.iter().any(|row| row["item"] == "lock") {
        skipped(&what, &format!("{why:?}"));
        return None;
    }
    assert!(why.iter().all(|row| row["item"] != "lock.name"), "{options:?}: {why:?}");
    Some(folder)
}

fn seconds(folder: &Folder, condition: &str) -> f64 {
    let question = format!("select coalesce(sum(time), 0) / 1e9 as s from lock where kind = 'monitor' and {condition}");
    folder.rows(FILE, &question)[0]["s"].as_f64().unwrap_or(0.0)
}

/// Checks names, their order and that they cover most of the time. `None` where the JVM could not be recorded.
fn named(options: &[&str]) -> Option<Folder> {
    let folder = record(options)?;
    let rows = folder.rows(
        FILE,
        "select kind, name, sum(time) / 1e9 as s, count(distinct address) as monitors from lock group by kind, name order by s desc",
    );
    let [hot, cold, all] = [format!("name = '{HOT}'"), format!("name = '{COLD}'"), "1".to_owned()];
    let [hot, cold, all] = [hot, cold, all].map(|condition| seconds(&folder, &condition));
    let reads = folder.count(FILE, "select count(distinct t) from thread_time where thread like 'hot-%'");
    if reads < 12 {
        skipped(
            &format!("monitors of Java {options:?}"),
            &format!("the recorder looked {reads} times in four seconds: others have the CPUs"),
        );
        return None;
    }
    // Its threads wait for twenty seconds in all.
    assert!(all > 10.0, "{options:?}: {all} s of monitors: {rows:?}");
    assert!(cold > 0.0 && hot > cold, "{options:?}: {rows:?}");
    let others = used_by_others(&folder, FILE);
    if others > QUIET {
        let what = format!("how much of Java {options:?} has names");
        skipped(&what, &format!("others, or the recorder itself, use {others:.2} of the CPUs: looks come late"));
    } else {
        assert!(hot > 2.0 * cold && hot < 8.0 * cold && hot + cold > 0.7 * all, "{options:?}: {rows:?}");
    }
    Some(folder)
}

#[test]
fn monitors_are_called_by_their_class() {
    let Some(folder) = named(&[]) else { return };
    // Who held it, as it says itself.
    let own = seconds(&folder, &format!("name = '{HOT}' and holder like 'hot-%'"));
    let all = seconds(&folder, &format!("name = '{HOT}'"));
    assert!(own > 0.5 * all, "{own} of {all} s have their holder");
    // One monitor is one row of the view, wherever its threads parked.
    let rows = folder.rows(
        FILE,
        "select name, address, time, waiters from lock_summary where kind = 'monitor' and address is not null",
    );
    let of = |name: &str| rows.iter().filter(|row| row["name"] == name).count();
    assert_eq!((of(HOT), of(COLD)), (1, 1), "{rows:?}");
    assert!(rows.iter().any(|row| row["name"] == HOT && row["waiters"].as_i64() >= Some(3)), "{rows:?}");
    let flame = folder.expect(0, ["flame", FILE, "--state", "contended"]);
    assert!(flame.stdout.contains(HOT) && flame.stdout.contains(COLD), "{flame}");
}

#[test]
fn monitors_have_names_whatever_the_heap_is_like() {
    for option in ["-XX:+UseZGC", "-XX:+UseSerialGC", "-XX:-UseCompressedOops", "-XX:-UseCompressedClassPointers"] {
        named(&[option]);
    }
}

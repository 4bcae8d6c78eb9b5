//! Contended monitors of a JVM are called by the class of their object, with who owned them, and its locks of java.util.concurrent are told from what
//! else parks: a real JVM, recorded as a user would.

use crate::common::{Folder, skipped};
use crate::pairs::{QUIET, used_by_others};
use std::process::Command;

/// Five threads take turns at one monitor and two at another, asleep while they hold it: whatever else the machine does, the threads that wait are
/// four to one. Static methods have the monitor of their class. It goes on until the recorder has written five times, by the log of its file: one that
/// was built without optimisation reads the symbols of the JVM for seconds first, and on a busy machine for longer.
const PROGRAM: &str = r#"
public class Contended {
    static class Hot {
        synchronized void work() throws Exception { Thread.sleep(10); }
    }
    static class Cold {
        static synchronized void work() throws Exception { Thread.sleep(10); }
    }
    interface Work { void once() throws Exception; }
    static volatile boolean over;
    static void start(String name, int threads, Work work) {
        for (int i = 0; i < threads; i++) {
            new Thread(() -> {
                try {
                    while (!over) work.once();
                } catch (Exception e) {
                    throw new RuntimeException(e);
                }
            }, name + "-" + i).start();
        }
    }
    public static void main(String[] arguments) throws Exception {
        Hot hot = new Hot();
        start("hot", 5, hot::work);
        start("cold", 2, Cold::work);
        Recorder.await();
        over = true;
    }
}
"#;

/// Three threads that are always at a lock, and two that wait for a latch all the time; until the recorder has written as often as that.
const LOCKED: &str = r#"
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
public class Locked {
    static final ReentrantLock lock = new ReentrantLock(true);
    static final CountDownLatch latch = new CountDownLatch(1);
    static long spin(long microseconds) {
        long until = System.nanoTime() + microseconds * 1000, turns = 0;
        while (System.nanoTime() < until) turns++;
        return turns;
    }
    static void once() {
        lock.lock();
        try { spin(300); } finally { lock.unlock(); }
    }
    static volatile boolean over;
    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < 3; i++) new Thread(() -> { while (!over) once(); }, "locked-" + i).start();
        for (int i = 0; i < 2; i++) new Thread(() -> {
            try { latch.await(90, TimeUnit.SECONDS); } catch (InterruptedException e) { throw new RuntimeException(e); }
        }, "latched-" + i).start();
        Recorder.await();
        over = true;
        latch.countDown();
    }
}
"#;

/// Part of both: waits until the recorder has written five times, for a minute at most.
const RECORDER: &str = r#"
class Recorder {
    static void await() throws InterruptedException {
        java.io.File log = new java.io.File("run.twin-wal");
        long last = log.lastModified(), end = System.nanoTime() + 60_000_000_000L;
        for (int written = 0; written < 5 && System.nanoTime() < end; Thread.sleep(50)) {
            long now = log.lastModified();
            if (now != last) written++;
            last = now;
        }
    }
}
"#;

const FILE: &str = "run.twin";
const HOT: &str = "monitor of Contended$Hot";
const COLD: &str = "monitor of class Contended$Cold";

/// Records a program, the source of class `class`, with options of the JVM. `None` where that cannot be done here.
fn record(class: &str, source: &str, options: &[&str]) -> Option<Folder> {
    let folder = Folder::new();
    let what = format!("locks of Java, {class} {options:?}");
    let file = format!("{class}.java");
    std::fs::write(folder.path(&file), format!("{source}{RECORDER}")).expect("a folder that can be written");
    let compiled = Command::new("javac").arg(&file).current_dir(folder.path("")).output();
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
    folder.expect(0, command.chain(["-cp", class_path, class]));
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
    let folder = record("Contended", PROGRAM, options)?;
    let rows = folder.rows(
        FILE,
        "select kind, name, sum(time) / 1e9 as s, count(distinct address) as monitors from lock group by kind, name order by s desc",
    );
    let [hot, cold, all] = [format!("name = '{HOT}'"), format!("name = '{COLD}'"), "1".to_owned()];
    let [hot, cold, all] = [hot, cold, all].map(|condition| seconds(&folder, &condition));
    let reads = folder.count(FILE, "select count(distinct t) from thread_time where thread like 'hot-%'");
    if reads < 5 {
        skipped(
            &format!("monitors of Java {options:?}"),
            &format!("the recorder looked {reads} times in a minute: others have the CPUs"),
        );
        return None;
    }
    // Its threads wait for five seconds in each.
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
#[ignore = "make test-all: a JVM for each kind of heap, 40 s; one kind is tested by its neighbour"]
fn monitors_have_names_whatever_the_heap_is_like() {
    for option in ["-XX:+UseZGC", "-XX:+UseSerialGC", "-XX:-UseCompressedOops", "-XX:-UseCompressedClassPointers"] {
        named(&[option]);
    }
}

#[test]
fn a_lock_of_java_util_concurrent_is_not_idleness() {
    let Some(folder) = record("Locked", LOCKED, &[]) else { return };
    // Until the JVM has compiled the queue that all of them wait in, and was asked for its names, they are idle.
    let waited = |threads: &str| -> [f64; 2] {
        ["('lock')", "('idle', 'sleep')"].map(|states| {
            let question = format!(
                "select coalesce(sum(time), 0) / 1e9 as s from wait
                 where state in {states} and thread like '{threads}-%' and t > (select max(t) from wait) - 3e9"
            );
            folder.rows(FILE, &question)[0]["s"].as_f64().unwrap_or(0.0)
        })
    };
    let ([locked, unlocked], [latched, idle]) = (waited("locked"), waited("latched"));
    assert!(latched < 0.05 && idle > 2.0, "who waits for a latch: {latched} s for a lock, {idle} s idle");
    let others = used_by_others(&folder, FILE);
    if others > QUIET {
        let why = format!("others, or the recorder itself, use {others:.2} of the CPUs: names come late");
        skipped("how long threads of Java wait for a lock of java.util.concurrent", &why);
        return;
    }
    // Two of three wait at any time.
    assert!(locked > 3.0 && unlocked < 0.2 * locked, "{locked} s for the lock, {unlocked} s idle");
    let rows = folder.rows(
        FILE,
        "select kind, name, address, holder, sum(time) / 1e9 as s from lock
         where time > 1000000 and t > (select max(t) from lock) - 3e9 group by 1, 2, 3, 4",
    );
    let is_named = |row: &serde_json::Value| {
        row["kind"] == "ReentrantLock" && row["name"] == "java.util.concurrent.locks.ReentrantLock"
    };
    // Nobody may have looked at the JVM while one of them waited.
    let is_it =
        |row: &serde_json::Value| (is_named(row) || row["kind"] == "java.util.concurrent") && row["address"].is_null();
    assert!(!rows.is_empty() && rows.iter().all(is_it), "{rows:?}");
    let seconds = |row: &serde_json::Value| row["s"].as_f64().unwrap_or(0.0);
    let named: f64 = rows.iter().filter(|row| is_named(row)).map(seconds).sum();
    assert!(named > 0.8 * rows.iter().map(seconds).sum::<f64>(), "{rows:?}");
    let held = rows.iter().any(|row| row["holder"].as_str().is_some_and(|name| name.starts_with("locked-")));
    assert!(held, "{rows:?}");
}

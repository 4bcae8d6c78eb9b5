//! `twinscope threads`: a thread dump that stops nothing, of a JVM and of a native program, and who waits for whom.

use crate::common::{Folder, skipped};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// Two threads in a deadlock, three that wait for a lock that another keeps, a pool without work, one that computes.
const SOURCE: &str = r#"
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantLock;

public class Waits {
    static final Object a = new Object(), b = new Object();
    static final ReentrantLock lock = new ReentrantLock();
    static final CountDownLatch kept = new CountDownLatch(1);
    static volatile double sink;

    static void cross(Object first, Object second, CountDownLatch both) throws Exception {
        synchronized (first) {
            both.countDown();
            both.await();
            synchronized (second) { sink++; }
        }
    }
    static void keep() throws Exception { lock.lock(); kept.countDown(); Thread.sleep(1_000_000); }
    static void take() { lock.lock(); }
    static void compute() { while (true) for (int i = 1; i < 1000; i++) sink += Math.sqrt(i); }

    interface Body { void run() throws Exception; }
    static void start(String name, Body body) {
        Thread thread = new Thread(() -> { try { body.run(); } catch (Exception e) { throw new RuntimeException(e); } }, name);
        thread.setDaemon(true);
        thread.start();
    }
    public static void main(String[] words) throws Exception {
        CountDownLatch both = new CountDownLatch(2);
        start("the first to take a monitor", () -> cross(a, b, both));
        start("the other one", () -> cross(b, a, both));
        var pool = Executors.newFixedThreadPool(4);
        for (int i = 0; i < 4; i++) pool.submit(() -> { });
        start("who keeps the lock", Waits::keep);
        kept.await();
        for (int i = 1; i <= 3; i++) start("waits-" + i, Waits::take);
        start("computes", Waits::compute);
        Thread.sleep(300);
        System.out.println("ready");
        while (System.in.read() >= 0) continue;
        System.exit(0);
    }
}
"#;

/// Ended with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(command: &mut Command) -> Running {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a program that starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("its output")).read_line(&mut line).expect("a line");
    assert_eq!(line, "ready\n");
    Running(child)
}

fn dump(folder: &Folder, pid: u32) -> Value {
    let done = folder.expect(0, ["threads", &pid.to_string(), "--json", "-d", "500ms"]);
    serde_json::from_str(&done.stdout).expect("JSON")
}

fn named<'a>(dump: &'a Value, name: &str) -> &'a Value {
    let threads = dump["threads"].as_array().expect("threads");
    threads.iter().find(|thread| thread["name"] == name).unwrap_or_else(|| panic!("no {name}: {threads:?}"))
}

fn runs(thread: &Value, function: &str) -> bool {
    thread["stack"].as_array().is_some_and(|stack| stack.iter().any(|frame| frame["function"] == function))
}

#[test]
fn of_a_jvm() {
    let folder = Folder::new();
    std::fs::write(folder.path("Waits.java"), SOURCE).expect("a folder that can be written");
    let compiled = Command::new("javac").arg("Waits.java").current_dir(folder.path("")).output();
    if !compiled.as_ref().is_ok_and(|done| done.status.success()) {
        return skipped("threads of a JVM", &format!("javac does not compile: {compiled:?}"));
    }
    let java = start(Command::new("java").args(["-Xmx64m", "-cp"]).arg(folder.path("")).arg("Waits"));
    let told = dump(&folder, java.0.id());
    let keeper = named(&told, "who keeps the lock");
    assert!(runs(keeper, "Waits.keep") && keeper["state"] == "sleep", "{keeper}");
    for name in ["waits-1", "waits-2", "waits-3"] {
        let waits = named(&told, name);
        assert_eq!(waits["state"], "lock", "{waits}");
        assert_eq!(waits["object"], "java.util.concurrent.locks.ReentrantLock", "{waits}");
        assert_eq!(waits["holder_tid"], keeper["tid"], "{waits}");
        assert!(runs(waits, "Waits.take"), "{waits}");
    }
    let [first, other] = ["the first to take a monitor", "the other one"].map(|name| named(&told, name));
    assert_eq!((&first["holder_tid"], &other["holder_tid"]), (&other["tid"], &first["tid"]), "{first} {other}");
    assert_eq!(first["object"], "java.lang.Object", "{first}");
    let deadlocks = told["deadlocks"].as_array().expect("deadlocks");
    assert_eq!(deadlocks.len(), 1, "{deadlocks:?}");
    let pool = named(&told, "pool-1-thread-4");
    assert!(pool["state"] == "idle" && runs(pool, "java.util.concurrent.ThreadPoolExecutor.getTask"), "{pool}");
    let computes = named(&told, "computes");
    assert!(computes["cpu"].as_f64().is_some_and(|cpu| cpu > 0.1), "{computes}");
    assert!(runs(computes, "Waits.compute"), "{computes}");

    let text = folder.expect(0, ["threads", &java.0.id().to_string(), "-d", "500ms"]).stdout;
    assert!(text.contains("DEADLOCK") && text.contains("3 threads: \"waits-1\""), "{text}");
    assert!(text.contains("held by \"who keeps the lock\""), "{text}");
}

#[test]
fn of_what_is_not_there() {
    let folder = Folder::new();
    let done = folder.expect(2, ["threads", "999999999"]);
    assert!(done.stderr.contains("no such process"), "{done}");
    folder.expect(0, ["record", "-q", "-o", "cpu.twin", "--only", "cpu", "-d", "100ms"]);
    let done = folder.expect(1, ["threads", "cpu.twin"]);
    assert!(done.stderr.contains("what threads did at its end"), "{done}");
}

#[test]
fn of_a_recording() {
    let folder = Folder::new();
    folder.expect(0, ["record", "-q", "-o", "run.twin", "--pid", &std::process::id().to_string(), "-d", "300ms"]);
    let done = folder.expect(0, ["threads", "run.twin", "--json", "--thread", "threads::of_a"]);
    let told: Value = serde_json::from_str(&done.stdout).expect("JSON");
    let own = &told["threads"][0];
    assert!(own["tid"].as_i64().is_some() && own["since"].as_f64().is_some_and(|since| since > 0.0), "{told}");
}

//! Tests on JVMs that are installed here: what was told of them is held against what their own log says.

use super::pauses::{Kind, Pause};
use super::rounds::State;
use crate::Scope;
use crate::hotspot::testing::{classes, feature};
use crate::looking::Look;
use crate::scope::Target;
use crate::stacks::Stacks;
use host::Host;
use host::wake::Bell;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A recording of a process that began at a time.
fn scope(pid: u32, start: u64) -> Scope {
    Scope { target: Target::Trees(vec![pid]), start: crate::Start::at(start), ..Scope::default() }
}

/// A JVM that runs the program; ended with it.
struct Running {
    child: Child,
    output: Option<BufReader<std::process::ChildStdout>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Running {
    /// `None` where this JVM does not know one of the options.
    fn new(jdk: &Path, classes: &Path, options: &[&str], seconds: f64) -> Option<Self> {
        let mut java = Command::new(jdk.join("bin/java"));
        java.args(options).arg("-cp").arg(classes).arg("Pauses").arg(seconds.to_string());
        let mut child = java.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let running = Running { child, output: Some(output) };
        (line == "begins\n").then_some(running)
    }
}

/// What the JVM's log says of a pause: when its line was written, CLOCK_MONOTONIC, and how long it took, nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Logged {
    end: f64,
    time: f64,
}

/// Pauses of collections, and by operation how often and for how long the threads stood.
fn logged(text: &str) -> (Vec<Logged>, BTreeMap<String, (u64, f64)>) {
    let (mut pauses, mut operations) = (Vec::new(), BTreeMap::<String, (u64, f64)>::new());
    for line in text.lines() {
        let Some((end, rest)) = line.strip_prefix('[').and_then(|rest| rest.split_once("ns]")) else { continue };
        let end: f64 = end.parse().unwrap();
        if let Some(time) = rest.split("Pause ").nth(1).and_then(|rest| rest.rsplit(' ').next()?.strip_suffix("ms")) {
            pauses.push(Logged { end, time: time.parse::<f64>().unwrap() * 1e6 });
        }
        if let Some((_, rest)) = rest.split_once("Safepoint \"") {
            let name = rest.split('"').next().unwrap().to_owned();
            let stood = rest.split("At safepoint: ").nth(1).unwrap().split(' ').next().unwrap();
            let entry = operations.entry(name).or_default();
            *entry = (entry.0 + 1, entry.1 + stood.parse::<f64>().unwrap());
        }
    }
    (pauses, operations)
}

/// Runs the program, looking at it as a recording does.
fn watched(jdk: &Path, classes: &Path, options: &[&str]) -> Option<(State, u32, String)> {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let logging = format!("-Xlog:gc,safepoint:file={}:tn", log.display());
    let options = [&["-Xmx64m", &logging], options].concat();
    let mut java = Running::new(jdk, classes, &options, 3.0)?;
    let pid = java.child.id();
    let stacks = Stacks::default();
    let mut state = State::of(Host::live(), &scope(pid, 0));
    let reading = std::thread::spawn({
        let mut output = java.output.take()?;
        move || {
            let mut line = String::new();
            let _ = output.read_line(&mut line);
            line
        }
    });
    let until = Instant::now() + Duration::from_secs(60);
    let (bell, mut came) = (Bell::default(), false);
    while !reading.is_finished() && Instant::now() < until {
        let next = state.round(&stacks, came);
        std::thread::sleep(next.least.min(Duration::from_millis(50)));
        came = bell.wait(&next.passings, (next.most - next.least).min(Duration::from_millis(50)));
    }
    assert_eq!(reading.join().unwrap(), "done\n");
    // It waits: nothing more comes.
    state.round(&stacks, false);
    std::thread::sleep(Duration::from_millis(20));
    state.look_at_all();
    state.round(&stacks, false);
    drop(java.child.stdin.take());
    let _ = java.child.wait();
    Some((state, pid, std::fs::read_to_string(log).unwrap()))
}

/// Whether a sum is that of the log, which counts more around each pause, above all where others use the CPUs; of some milliseconds nothing is said. The
/// bench `jvm` tells how far off it is.
fn about(sum: u64, logged: f64) -> bool {
    logged < 50e6 || (0.5 * logged..1.5 * logged).contains(&(sum as f64))
}

fn held_against_log(jdk: &Path, classes: &Path, options: &[&str]) {
    let what = format!("{} {options:?}", feature(jdk));
    let Some((state, pid, log)) = watched(jdk, classes, options) else {
        // Collectors come and go.
        assert!(!options.is_empty(), "{what}: this JVM does not start");
        return;
    };
    // Up to JDK 12 there are but sums of safepoints, which is said.
    let has_operations = feature(jdk) >= 13;
    let missing: Vec<&str> = state.missing.iter().map(|(item, _)| item.as_ref()).collect();
    assert_eq!(
        missing,
        if has_operations { &[][..] } else { &["jvm_safepoint.operation"] },
        "{what}: {:?}",
        state.missing
    );
    let jvm = state.watched.get(&pid).unwrap_or_else(|| panic!("{what}: not found"));
    let (collections, operations) = logged(&log);
    let told: Vec<&Pause> = jvm.pauses.iter().collect();
    // The sums are exact: the recording began before the JVM.
    let of_collectors: u64 = jvm.collectors.values().map(|(collections, _)| collections).sum();
    let is_concurrent = options.iter().any(|option| option.contains("Shenandoah") || option.contains("UseZ"));
    if !is_concurrent {
        // G1 may have gone on with a cycle when nobody looked any more.
        let is_steady = options.iter().any(|option| option.contains("Serial") || option.contains("Parallel"));
        let missed = collections.len().abs_diff(of_collectors as usize);
        assert!(missed <= if is_steady { 0 } else { 3 }, "{what}: {:?} of {}", jvm.collectors, collections.len());
        let time: u64 = jvm.collectors.values().map(|(_, time)| time).sum();
        let logged: f64 = collections.iter().map(|pause| pause.time).sum();
        assert!(about(time, logged), "{what}: {time} against {logged}");
        let told: u64 = told.iter().filter(|pause| pause.kind != Kind::Operation).map(|pause| pause.together).sum();
        assert_eq!(told, of_collectors, "{what}");
    }
    // Operations by number and time.
    if has_operations {
        let sums: BTreeMap<&str, super::pauses::Sum> = jvm.operations().collect();
        for (name, (count, stood)) in &operations {
            let sum = sums.get(name.as_str()).unwrap_or_else(|| panic!("{what}: {name} is missing: {sums:?}"));
            // A cycle may begin when nobody looks any more.
            let room = if is_concurrent { 8 } else { 0 };
            assert!(sum.count.abs_diff(*count) <= room, "{what}: {name}: {} of {count}", sum.count);
            assert!(*stood >= 0.0, "{what}: {name}");
        }
        let all: u64 = sums.values().map(|sum| sum.time).sum();
        let logged: f64 = operations.values().map(|(_, stood)| stood).sum();
        assert!(about(all, logged), "{what}: {all} against {logged}");
    }
    // What is told alone is told right, if its line was written at once.
    let mut right = 0;
    for pause in told.iter().filter(|pause| pause.exact && pause.kind != Kind::Operation) {
        let end = (pause.at + pause.time) as f64;
        let Some(near) = collections.iter().min_by(|a, b| (a.end - end).abs().total_cmp(&(b.end - end).abs())) else {
            continue;
        };
        if (near.end - end).abs() < 2e6 {
            right += usize::from((pause.time as f64 - near.time).abs() < near.time * 0.01 + 60e3);
        }
    }
    let exact = told.iter().filter(|pause| pause.exact && pause.kind != Kind::Operation).count();
    // ZGC logs no line for each at this level.
    assert!(exact == 0 || collections.is_empty() || right * 2 >= exact, "{what}: {right} of {exact}");
    // Threads by their whole names, and what they allocated; pools; options. ZGC moves objects meanwhile: a name may be missing there.
    let names: Vec<&str> = jvm.threads.iter().filter_map(|thread| thread.name.as_deref()).collect();
    let named = |name: &str| is_concurrent || names.contains(&name);
    assert!(named("a thread whose name is longer than the kernel keeps") && named("main"), "{what}: {names:?}");
    assert!(is_concurrent || names.len() == jvm.threads.len(), "{what}: {names:?} of {}", jvm.threads.len());
    assert!(jvm.threads.len() > 5, "{what}: {names:?}");
    let main = jvm.threads.iter().find(|thread| thread.name.as_deref() == Some("main"));
    let allocated = main.and_then(|main| main.allocated);
    assert!(main.is_none() || allocated.is_some_and(|bytes| bytes > 10 << 20), "{what}: {main:?}");
    assert!(jvm.pools.iter().any(|pool| pool.name == "metaspace"), "{what}: {:?}", jvm.pools);
    let compiled = jvm.compilers.as_ref().and_then(|compilers| compilers.counters[0]);
    assert!(compiled.is_some_and(|methods| methods > 5), "{what}: {:?}", jvm.compilers);
}

#[test]
fn pauses_of_live_jvms() {
    let Some((classes, jdks)) = classes("src/jvm/Pauses.java", "pauses of JVMs") else { return };
    let ways: [&[&str]; 7] = [
        &[],
        &["-XX:+UseParallelGC"],
        &["-XX:+UseSerialGC", "-XX:-UseCompressedOops"],
        &["-XX:+UseZGC"],
        &["-XX:+UseShenandoahGC"],
        &["-XX:+PerfDisableSharedMem", "-XX:+UseG1GC"],
        &["-XX:+UseCompactObjectHeaders"],
    ];
    for jdk in &jdks {
        // Those that were fetched are looked at in less detail: it takes five seconds each time.
        let is_installed = jdk.join("bin/javac").exists();
        for options in ways.into_iter().take(if is_installed { ways.len() } else { 2 }) {
            held_against_log(jdk, classes.path(), options);
        }
    }
}

#[test]
fn a_jvm_without_counters_says_so() {
    let Some((classes, jdks)) = classes("src/jvm/Pauses.java", "JVMs without counters") else { return };
    for jdk in &jdks {
        let Some((mut state, pid, _)) = watched(jdk, classes.path(), &["-XX:-UsePerfData"]) else { continue };
        let (item, why) = state.missing.pop().unwrap();
        assert!(item == "jvm_heap" && why.why.contains("-XX:-UsePerfData"), "{item} {why:?}");
        let jvm = state.watched.get(&pid).unwrap();
        assert!(jvm.collectors.is_empty() && (jvm.operations().next().is_some() || feature(jdk) < 13));
    }
}

#[test]
fn what_a_jvm_did_before_does_not_count() {
    let Some((classes, jdks)) = classes("src/jvm/Pauses.java", "JVMs that were there before") else { return };
    for jdk in &jdks {
        let Some(java) = Running::new(jdk, classes.path(), &["-Xmx64m", "-XX:+UseSerialGC"], 0.5) else { continue };
        std::thread::sleep(Duration::from_secs(1));
        // The recording begins after all that it did, but for a safepoint that comes once a second.
        let began = super::watch::monotonic();
        let mut state = State::of(Host::live(), &scope(java.child.id(), u64::MAX));
        let stacks = Stacks::default();
        for _ in 0..3 {
            state.look_at_all();
            state.round(&stacks, false);
        }
        let jvm = state.watched.get(&java.child.id()).unwrap();
        let since = jvm.pauses.iter().filter(|pause| pause.at >= began).count();
        let counted: u64 = jvm.operations().map(|(_, sum)| sum.count).sum();
        assert!(jvm.pauses.len() == since && counted == since as u64 && since <= 1, "{:?}", jvm.pauses);
        assert!(!jvm.collectors.is_empty() && jvm.collectors.values().all(|counted| *counted == (0, 0)));
        let main = jvm.threads.iter().find(|thread| thread.name.as_deref() == Some("main")).unwrap();
        assert!(main.allocated.is_some_and(|bytes| bytes < 1 << 20), "{main:?}");
    }
}

#[test]
fn what_is_no_jvm_is_not_looked_at() {
    let mut child = Command::new("sleep").arg("5").spawn().unwrap();
    let mut state = State::of(Host::live(), &scope(child.id(), 0));
    let looker = State::NAME;
    state.round(&Stacks::default(), false);
    assert!(state.watched.is_empty() && looker == "jvm");
    let _ = child.kill();
    let _ = child.wait();
}

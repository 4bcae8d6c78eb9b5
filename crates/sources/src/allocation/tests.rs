//! Tests on JVMs that are installed here: what was told of them is held against what they count themselves.

use super::SOURCE;
use crate::Scope;
use crate::hotspot::testing::{classes, feature};
use crate::hotspot::{JavaThread, Roster};
use crate::memory::Process;
use crate::scope::Target;
use crate::tally::testing::Live;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A JVM; ended with it.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const WHAT: &str = "allocations of JVMs";

/// Runs the program and reads what it allocates, until it has ended; and what its worker threads say shortly before.
fn record(jdk: &Path, classes: &Path, words: [&str; 3]) -> Option<(Live, Vec<JavaThread>)> {
    let mut java = Command::new(jdk.join("bin/java"));
    // Without it there are no probes. It ends with this program.
    std::mem::forget(host::holder::start());
    // So many buffers that sums are within some per mille, and so large that little of them is left over at each collection.
    java.args(["-Xmx256m", "-Xmn64m", "-XX:+UseParallelGC", "-XX:-ResizeTLAB", "-XX:TLABSize=256k", "-cp"])
        .arg(classes)
        .arg("Allocations")
        .args(words);
    let mut java = Running(java.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap());
    let pid = java.0.id();
    let scope = Scope { target: Target::Trees(vec![pid]), ..Scope::default() };
    let mut live = Live::open_for(&SOURCE, &scope)?;
    let (mut roster, mut threads) = (None, Vec::new());
    while java.0.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(250));
        live.read();
        let memory = Process(pid);
        if roster.is_none() {
            roster = scope.stacks.hotspot(pid).ok().and_then(|way| Roster::new(&memory, &way).ok());
        }
        let is_worker = |thread: &JavaThread| thread.name.as_deref().is_some_and(|name| name.starts_with("worker-"));
        let mut found = roster.as_mut().and_then(|roster| roster.look(&memory).ok()).unwrap_or_default();
        found.retain(is_worker);
        if !found.is_empty() {
            threads = found;
        }
    }
    Some((live, threads))
}

fn bytes(live: &Live, with: &[(&str, &str)]) -> f64 {
    live.reached("allocation", "bytes", with, |name| name("thread").starts_with("worker-")) as f64
}

#[test]
fn sums_and_shares_are_those_of_the_jvm() {
    let Some((folder, jdks)) = classes("src/allocation/Allocations.java", WHAT) else { return };
    for jdk in jdks {
        let what = format!("JDK {}", feature(&jdk));
        let Some((live, threads)) = record(&jdk, folder.path(), ["600", "4", "2"]) else { return };
        if !live.coverage.is_empty() {
            println!("SKIPPED: {WHAT}: {what}: {:?}", live.coverage);
            continue;
        }
        let own: f64 = threads.iter().filter_map(|thread| thread.allocated).sum::<u64>() as f64;
        let told = bytes(&live, &[]);
        let events = live.reached("allocation", "count", &[], |name| name("thread").starts_with("worker-"));
        println!("{what}: {own} told as {told} in {events} buffers");
        assert!(threads.len() == 2 && own > 50e6, "{what}: {threads:?}");
        if events < 1_000 {
            println!("SKIPPED: {WHAT}: {what}: the machine is busy with something else");
            continue;
        }
        assert!((told / own - 1.0).abs() < 0.02, "{what}: {own} told as {told}");
        for (class, share) in [("byte[]", 0.496), ("Allocations$Node", 0.305), ("long[]", 0.199)] {
            let found = bytes(&live, &[("class", class)]) / told;
            // Which object is the first of a buffer, chance decides: of 9,000 the standard deviation is half a point.
            let off = (4.0 * (0.25 / events as f64).sqrt()).max(0.02);
            println!("{what}: {class} {found:.4}");
            assert!((found - share).abs() < off, "{what}: {class} {found} of {events}");
        }
    }
}

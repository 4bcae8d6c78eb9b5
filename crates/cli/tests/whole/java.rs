//! Stacks of a JVM with its usual options: whole, with the names of methods that are interpreted, compiled and inlined, and without asking the JVM. A real one,
//! recorded as a user would.

use crate::common::{Folder, skipped};
use std::path::Path;
use std::process::Command;

/// A recursion of a known depth, in which all time goes; at the end it says whether somebody attached to it.
const SOURCE: &str = r#"
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

public class Deep {
    interface Work { long run(int[] data); }
    static final class Sum implements Work {
        public long run(int[] data) { long s = 0; for (int k = 0; k < 4000; k++) for (int x : data) s = s * 31 + x; return s; }
    }
    static long deep(int n, Work work, int[] data) { return n == 1 ? work.run(data) : deep(n - 1, work, data) + 1; }
    public static void main(String[] arguments) throws Exception {
        Thread waits = new Thread(Deep::waiting, "waits");
        waits.setDaemon(true);
        waits.start();
        int[] data = new Random(1).ints(50).toArray();
        Work work = new Sum();
        long sum = 0, end = System.nanoTime() + 3_000_000_000L;
        while (System.nanoTime() < end) sum += deep(100, work, data);
        java.io.File socket = new java.io.File("/tmp/.java_pid" + ProcessHandle.current().pid());
        System.out.println("attached: " + socket.exists() + " " + (sum & 1));
    }
    static void waiting() { while (true) LockSupport.parkNanos(2_000_000); }
}
"#;

const FILE: &str = "run.twin";

/// Of each stack on which `Deep$Sum.run` is: how often `Deep.deep` is on it, whether the start of the thread and `Deep.main` are, and nameless frames.
const STACKS: &str = "with recursive chain(stack, at, leaf, depth, main, nameless, cut) as (
    select distinct stack, stack, 0, 0, 0, 0, 0 from sample where comm = 'java' and stack is not null
    union all
    select c.stack, s.parent, c.leaf or coalesce(f.function, '') = 'Deep$Sum.run', c.depth + (coalesce(f.function, '') = 'Deep.deep'),
        c.main or coalesce(f.function, '') = 'Deep.main',
        c.nameless + (f.module = '[jit]' and coalesce(f.function, 'Interpreter') = 'Interpreter'),
        c.cut or coalesce(f.function, '') = '[truncated]'
    from chain c join stack s on s.number = c.at join frame f on f.number = s.frame where c.at is not null),
told as (select stack, max(leaf) as leaf, max(depth) as depth, max(main) as main, max(nameless) as nameless, max(cut) as cut
    from chain group by stack)
select count(*) as samples, sum(t.depth = 100 and t.main and not t.cut) as exact, sum(t.nameless) as nameless
from sample w join told t on t.stack = w.stack where t.leaf";

/// Compiles it; `false` where that cannot be done here.
fn compile(folder: &Folder) -> bool {
    std::fs::write(folder.path("Deep.java"), SOURCE).expect("a folder that can be written");
    let compiled = Command::new("javac").arg("Deep.java").current_dir(folder.path("")).output();
    let is_compiled = compiled.as_ref().is_ok_and(|done| done.status.success());
    if !is_compiled {
        skipped("a program of Java", &format!("javac does not compile: {compiled:?}"));
    }
    is_compiled
}

#[test]
fn a_flight_recording_is_taken_where_it_is_asked_for() {
    let folder = Folder::new();
    if !compile(&folder) {
        return;
    }
    let class_path = folder.path("");
    let class_path = class_path.to_str().expect("a plain path");
    let command = ["--only", "jvm", "--jfr", "-o", FILE, "--", "java", "-cp", class_path, "Deep"];
    let done = folder.expect(0, ["record"].into_iter().chain(command));
    assert!(done.stdout.contains("attached: true"), "{}", done.stdout);
    let line = done.stderr.lines().find(|line| line.starts_with("flight recording of java")).unwrap_or_else(|| {
        panic!("no word of it: {}", done.stderr);
    });
    assert!(line.contains("of CPU time") && line.contains("of memory"), "{line}");
    let pid = folder.rows(FILE, "select pid from run")[0]["pid"].as_i64().expect("its number");
    let flight = format!("run.{pid}.jfr");
    assert!(folder.path(&flight).exists(), "{line}");
    folder.expect(0, ["import", "-o", "flight.twin", &flight]);
    let samples = folder.rows("flight.twin", "select count(*) as n from sample")[0]["n"].as_i64();
    assert!(samples > Some(0), "{line}");
    // What is not asked for cannot be said.
    folder.expect(2, ["record", "--jfr=a,b", "-o", "no.twin", "--", "true"]);
}

#[test]
fn stacks_of_a_jvm_are_whole_without_asking_it() {
    let folder = Folder::new();
    if !compile(&folder) {
        return;
    }
    let class_path = folder.path("");
    let class_path = class_path.to_str().expect("a plain path");
    let done = folder.expect(0, ["record", "-q", "-o", FILE, "--", "java", "-cp", class_path, "Deep"]);
    assert!(done.stdout.contains("attached: false"), "{}", done.stdout);
    let told = &folder.rows(FILE, STACKS)[0];
    let number = |name: &str| told[name].as_i64().unwrap_or(0);
    let missing = folder.rows(FILE, "select item, why from coverage where source = 'stacks' and status <> 'read'");
    if number("samples") < 20 {
        return skipped("stacks of a JVM", &format!("{told} {missing:?}"));
    }
    assert!(number("exact") * 100 >= number("samples") * 95, "{told} {missing:?}");
    assert!(number("nameless") * 100 <= number("samples"), "{told}");
    assert!(missing.iter().all(|row| row["item"] != "sample.jvm" && row["item"] != "frame.tier"), "{missing:?}");

    let frames = folder.rows(
        FILE,
        "select function, kind, tier, source from frame where module = '[jit]' and (tier is not null or kind = 'interpreted')",
    );
    let has = |function: &str, kind: &str| {
        frames.iter().any(|row| {
            let tier = row["tier"].as_i64();
            let is_right = if kind == "interpreted" { tier == Some(0) } else { tier.is_some_and(|tier| tier > 0) };
            let source = row["source"].as_str().unwrap_or_default();
            row["function"] == function && row["kind"] == kind && is_right && source.starts_with("Deep.java:")
        })
    };
    assert!(has("Deep$Sum.run", "jit") && has("Deep.main", "interpreted"), "{frames:?}");

    // A thread that waits has its methods, too.
    let waits = "with recursive chain(stack, at) as (
            select distinct stack, stack from wait where thread = 'waits' and stack is not null
            union all select c.stack, s.parent from chain c join stack s on s.number = c.at where s.parent is not null)
        select count(*) as all_of_them, count(distinct c.stack) as stacks,
            count(distinct iif(f.function = 'Deep.waiting', c.stack, null)) as named
        from chain c join stack s on s.number = c.at join frame f on f.number = s.frame";
    let waits = &folder.rows(FILE, waits)[0];
    if waits["stacks"].as_i64().unwrap_or(0) == 0 {
        return skipped("stacks of waits of a JVM", &format!("{waits} {missing:?}"));
    }
    assert!(waits["named"].as_i64().unwrap_or(0) > 0, "{waits}");
}

/// What the JVM's worker threads count themselves, and what is told of them.
const ALLOCATED: &str = "select (select sum(bytes) from allocation where thread like 'worker-%') as told,
    (select sum(bytes) from (select max(allocated) as bytes from jvm_thread where name like 'worker-%' group by tid)) as own,
    (select count(*) from allocation where stack is not null) as stacks";

#[test]
fn what_a_jvm_allocates_is_told_by_class_and_code() {
    let folder = Folder::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sources/src/allocation/Allocations.java");
    let compiled = Command::new("javac").arg("-d").arg(folder.path("")).arg(source).output();
    if !compiled.as_ref().is_ok_and(|done| done.status.success()) {
        return skipped("allocations of a JVM", &format!("javac does not compile: {compiled:?}"));
    }
    let class_path = folder.path("");
    let class_path = class_path.to_str().expect("a plain path");
    let java = ["java", "-Xmx256m", "-XX:+UseParallelGC", "-cp", class_path, "Allocations", "300", "3", "2"];
    let record = ["record", "-q", "-o", FILE, "--only", "jvm,stacks,allocation", "--"];
    folder.expect(0, record.iter().chain(&java).copied());
    let missing = folder.rows(FILE, "select item, why from coverage where source = 'allocation' and status <> 'read'");
    let sums = &folder.rows(FILE, ALLOCATED)[0];
    let number = |name: &str| sums[name].as_f64().unwrap_or(0.0);
    if !missing.is_empty() || number("own") < 50e6 || number("stacks") < 50.0 {
        return skipped("allocations of a JVM", &format!("{sums} {missing:?}"));
    }
    assert!((number("told") / number("own") - 1.0).abs() < 0.02, "{sums}");
    let done = folder.expect(0, ["flame", FILE, "--state", "allocation"]);
    let says = ["Allocations: run", "Allocations.bytes", "byte[]", "Allocations.nodes", "Allocations$Node", "long[]"];
    assert!(says.iter().all(|word| done.stdout.contains(word)), "{done}");
    // What the JVM calls in itself for a method is not what somebody wants to know. (When it ends it allocates for no method.)
    folder.expect(0, ["flame", FILE, "--state", "allocation", "-o", "run.folded"]);
    let stacks = std::fs::read_to_string(folder.path("run.folded")).expect("stacks");
    let mut of_methods = stacks.lines().filter(|line| line.contains(".lambda$main$"));
    assert!(of_methods.all(|line| !line.contains("AllocTracer")), "{stacks}");
    let against = ["flame", FILE, "--state", "allocation", "--against", FILE];
    assert!(folder.expect(0, against).stdout.contains("Allocations.bytes"));
}

//! The demonstration pairs: what `compare` must say of a slow and a fast run whose mechanism is known, and what it must not.

use crate::common::{Done, Folder, repository, skipped};
use serde_json::Value;
use std::collections::BTreeMap;

/// A slow and a fast run of a workload, compared; and what the workloads said of themselves.
struct Pair {
    name: &'static str,
    comparison: Value,
    explanation: Value,
    truths: [BTreeMap<String, f64>; 2],
}

/// How long most pairs run.
const SIX: [&str; 2] = ["--seconds", "6"];

const FAST: usize = 0;
const SLOW: usize = 1;

fn truths(done: &Done) -> BTreeMap<String, f64> {
    let mut found = BTreeMap::new();
    for line in done.stdout.lines() {
        let line = line.strip_prefix("truth: ").unwrap_or(line);
        if let Some((name, value)) = line.rsplit_once(' ')
            && let Ok(value) = value.parse()
        {
            found.insert(name.trim_end_matches(':').to_owned(), value);
        }
    }
    found
}

/// Up to this share of the CPUs may be used by others; more, and what differs is their doing.
pub(crate) const QUIET: f64 = 0.15;

/// The share of the CPUs that other programs than the command used, by what the kernel says of both.
pub(crate) fn used_by_others(folder: &Folder, run: &str) -> f64 {
    let ticks = folder.count(
        run,
        "select sum(used) from (select max(v) - min(v) as used from \
         (select cpu, \"user\" + nice + system + irq + softirq + steal as v from cpu) group by cpu)",
    );
    let info = folder.info(run);
    let number = |value: &Value| value.as_f64().expect("a number");
    let usage = &info["manifest"]["usage"];
    let (own, all) = (number(&usage["user"]) + number(&usage["system"]), ticks as f64 / 100.0);
    (all - own) / (number(&info["manifest"]["cpus"]) * number(&info["duration"]))
}

impl Pair {
    /// Records both variants, for six seconds each unless `amount` says otherwise; `None` where the workloads are not built or the machine has
    /// other things to do.
    fn record(folder: &Folder, name: &'static str, amount: [&str; 2]) -> Option<Self> {
        let program = repository().join("workloads/bin").join(name);
        if !program.exists() {
            skipped(&format!("pair {name}"), "workloads are not built: make workloads");
            return None;
        }
        let program = program.to_str().expect("a plain path");
        let truths = ["fast", "slow"].map(|variant| {
            let file = format!("{variant}.twin");
            let done = folder.expect(
                0,
                [
                    "record",
                    "-q",
                    "--throughput",
                    "^done ([0-9]+)",
                    "-o",
                    &file,
                    "--",
                    program,
                    variant,
                    amount[0],
                    amount[1],
                ],
            );
            truths(&done)
        });
        for run in ["fast.twin", "slow.twin"] {
            let others = used_by_others(folder, run);
            if others > QUIET {
                let why = format!("other programs used {:.0} % of the CPUs while it ran", others * 100.0);
                skipped(&format!("pair {name}"), &why);
                return None;
            }
        }
        let done = folder.expect(0, ["compare", "fast.twin", "slow.twin", "--json"]);
        eprintln!("{}", folder.expect(0, ["compare", "fast.twin", "slow.twin", "--all"]).stdout);
        eprintln!("{truths:#?}");
        let explained = ["explain", "slow.twin", "--against", "fast.twin"];
        eprintln!("{}", folder.expect(0, explained).stdout);
        let explanation = folder.expect(0, explained.into_iter().chain(["--json"])).json();
        // The fast one is explained by nothing.
        let other = folder.expect(0, ["explain", "fast.twin", "--against", "slow.twin", "--json"]).json();
        assert_eq!(
            (&other["outcome"], other["findings"].as_array().map(Vec::len)),
            (&Value::from("no slower"), Some(0))
        );
        Some(Pair { name, comparison: done.json(), explanation, truths })
    }

    /// What the program counted per operation, slow over fast.
    fn truth(&self, name: &str) -> f64 {
        let per = |run: usize| self.truths[run][name] / self.truths[run]["operations"];
        per(SLOW) / per(FAST)
    }

    fn operations(&self) -> f64 {
        self.truths[SLOW]["operations"] / self.truths[FAST]["operations"]
    }

    fn differences(&self) -> impl Iterator<Item = &Value> {
        self.comparison["differences"].as_array().into_iter().flatten()
    }

    fn find(&self, metric: &str, labels: &[(&str, &str)], per: &str) -> Option<&Value> {
        self.differences().find(|d| {
            d["metric"] == metric
                && d["per"] == per
                && labels.iter().all(|(k, v)| d["labels"][k].as_str().is_some_and(|x| x.contains(v)))
        })
    }

    /// The cause must come first, and explain most of what is lost.
    fn must_be(&self, cause: &str) {
        let first = &self.explanation["findings"][0];
        let share = first["share"].as_f64().unwrap_or(0.0);
        assert!(
            first["cause"] == cause && share > 0.4,
            "{}: expected {cause}: {:#}",
            self.name,
            self.explanation["findings"]
        );
    }

    /// The cause must be among so many, and explain such a part of what is lost.
    fn must_be_among_the_first(&self, cause: &str, most: usize, least: f64) {
        let findings = self.explanation["findings"].as_array().expect("findings");
        let is_it = |f: &Value| f["cause"] == cause && f["share"].as_f64().is_some_and(|share| share > least);
        assert!(findings.iter().take(most).any(is_it), "{}: expected {cause}: {findings:#?}", self.name);
    }

    /// The metric must be listed per operation, with a factor between these.
    fn must(&self, metric: &str, labels: &[(&str, &str)], factor: std::ops::Range<f64>) {
        let found = self.find(metric, labels, "operation");
        let shown = || serde_json::to_string_pretty(&self.comparison["differences"]).unwrap_or_default();
        let Some(found) = found else { panic!("{}: {metric} {labels:?} is not listed: {}", self.name, shown()) };
        let (a, b) = (found["baseline"].as_f64().expect("a number"), found["other"].as_f64().expect("a number"));
        let listed = if a > 0.0 { b / a } else { f64::INFINITY };
        assert!(factor.contains(&listed), "{}: {metric} grows {listed:.2}-fold, expected {factor:?}", self.name);
    }

    /// What the kernel counted for the command must be listed per operation, and be what the command counted of itself.
    fn must_agree(&self, metric: &str, truth: &str) {
        let Some(found) = self.find(metric, &[("comm", self.name)], "operation") else {
            let listed = serde_json::to_string_pretty(&self.comparison["differences"]).unwrap_or_default();
            panic!("{}: {metric} of the command is not listed: {listed}", self.name)
        };
        let listed = found["other"].as_f64().expect("a number");
        let counted = self.truths[SLOW][truth] / self.truths[SLOW]["operations"];
        // The window leaves out the first and the last interval of the command's life.
        assert!(
            (listed / counted - 1.0).abs() < 0.25,
            "{}: {metric}: {listed} an operation are listed, {counted} were counted",
            self.name
        );
        assert!(found["change"].as_f64().is_none_or(|c| c > 1.0), "{found:#}");
    }

    /// No difference of these tables may be listed per operation or per second, beyond what a machine does by itself.
    fn must_not(&self, tables: &[&str]) {
        for d in self.differences() {
            let metric = d["metric"].as_str().unwrap_or("");
            let table = metric.split('.').next().unwrap_or("");
            assert!(!tables.contains(&table), "{}: {d:#} is listed and has nothing to do with it", self.name);
        }
    }

    /// One host, one set-up: nothing of it differs.
    fn same_set_up(&self) {
        assert_eq!(self.comparison["facts"], serde_json::json!([]), "{}: the set-up is the same", self.name);
        assert!(self.comparison["compared"].as_u64() > Some(100));
    }
}

/// What no workload here touches.
const UNRELATED: &[&str] =
    &["network", "sockets", "protocols", "conntrack", "filesystems", "hugepages", "thp", "ksm", "numa", "thermal"];

#[test]
#[ignore = "make test-all: two recordings on a machine of its own; the corpus has this pair"]
fn contended_counter() {
    let folder = Folder::alone();
    let Some(pair) = Pair::record(&folder, "contended-counter", SIX) else { return };
    pair.same_set_up();
    pair.must_not(UNRELATED);
    // With both CPUs to itself, one of two threads waits for the lock nearly all the time. What that costs depends on the CPU: 1.1 to 1.6 times the time
    // was seen on one, 3 on another.
    let slower = 1.0 / pair.operations();
    if pair.truths[SLOW]["lock wait seconds"] < 0.7 * pair.truths[SLOW]["wall seconds"] || slower < 1.25 {
        let why = format!("the lock was hardly contended in this run, which took {slower:.2} times as long");
        skipped("what contended-counter shows", &why);
        return;
    }
    // On some machines, in some runs, the counters' cache line takes so long from one CPU to the other that the code which holds the lock takes most of what
    // is lost: then that may come first.
    let user = pair.find("process.user", &[("comm", "contended")], "operation").and_then(|d| d["change"].as_f64());
    if user.is_some_and(|change| change > 0.8) {
        pair.must_be_among_the_first("lock-contention", 2, 0.2);
    } else {
        pair.must_be("lock-contention");
    }
    // First of the locks of both runs, and hardly waited for in the fast one, whose threads have a counter each.
    let lock = &pair.comparison["locks"][0];
    let waited = |run: usize| lock["runs"][run]["time"].as_f64().unwrap_or(0.0);
    assert!(lock["name"].as_str().is_some_and(|name| name.starts_with("shared in contended")), "{lock:#}");
    assert!(waited(SLOW) > 10.0 * waited(FAST), "{lock:#}");
    // A waiting thread goes to the kernel to sleep and to be woken, and the work itself grows dearer: the tally moves between the CPUs.
    if slower > 2.0 {
        pair.must("process.cpu_time", &[("comm", "contended")], 1.2..20.0);
    }
    pair.must("process.system", &[("comm", "contended")], 2.0..f64::INFINITY);
}

#[test]
fn chatty_log() {
    let folder = Folder::alone();
    let Some(pair) = Pair::record(&folder, "chatty-log", SIX) else { return };
    pair.must_be("syscalls");
    pair.same_set_up();
    pair.must_not(UNRELATED);
    // A system call for each record.
    pair.must_agree("process.write_calls", "write calls");
    pair.must("process.system", &[("comm", "chatty-log")], 5.0..f64::INFINITY);
}

#[test]
#[ignore = "make test-all: two recordings on a machine of its own; the corpus has this pair"]
fn small_pool() {
    let folder = Folder::alone();
    let Some(pair) = Pair::record(&folder, "small-pool", SIX) else { return };
    pair.must_be("too-few-threads");
    pair.same_set_up();
    pair.must_not(UNRELATED);
    // One worker does a quarter of what four do; the CPUs had nothing to do with it.
    let headline = pair.comparison["headline"].as_str().expect("a headline");
    let (before, _) = headline.split_once("× as long per operation").expect(headline);
    let listed = 1.0 / before.rsplit(' ').next().and_then(|n| n.parse::<f64>().ok()).expect(headline);
    assert!((listed / pair.operations() - 1.0).abs() < 0.1, "{headline} The program counted {}", pair.operations());
    assert!(listed < 0.5, "{listed}");
}

#[test]
#[ignore = "make test-all: two recordings on a machine of its own; the corpus has this pair"]
fn munmap_storm() {
    let folder = Folder::alone();
    let Some(pair) = Pair::record(&folder, "munmap-storm", SIX) else { return };
    pair.must_be("page-faults");
    pair.same_set_up();
    pair.must_not(UNRELATED);
    pair.must_agree("process.minor_faults", "minor faults");
    pair.must("process.system", &[("comm", "munmap-storm")], 5.0..f64::INFINITY);
    // Page faults of others are in the system's count, and hide the few of the fast variant.
    let most = pair.truth("minor faults") * 1.5;
    pair.must("vmstat.pgfault", &[], 3.0..most);
}

#[test]
#[ignore = "make test-all: two recordings on a machine of its own; the corpus has this pair"]
fn serial_end() {
    let folder = Folder::alone();
    let Some(pair) = Pair::record(&folder, "serial-end", ["--ops", "1200000"]) else { return };
    pair.same_set_up();
    pair.must_not(UNRELATED);
    assert!(pair.truths[SLOW]["single-threaded share of the time"] > 0.2);
    // What one run shows of it is that the same work takes longer: a phase is no steady difference, of which a mean could be sure.
    let speed = pair.truths[FAST]["wall seconds"] / pair.truths[SLOW]["wall seconds"];
    if speed < 0.87 {
        pair.must_be("serial-phase");
        let headline = pair.comparison["headline"].as_str().expect("a headline");
        assert!(headline.contains("× as long per operation"), "{headline} The programs differ by {speed}");
    } else {
        skipped("what serial-end costs", "another program used the CPU that idles at the end");
    }
    pair.must_not(&["disks", "vmstat"]);
}

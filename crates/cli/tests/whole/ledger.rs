//! Where the time went: what the ledger, the stacks, the locks, the calls and the interrupts say of workloads that count the same
//! of themselves. Counts must agree; of times, what holds on a busy machine too.

use crate::common::{Folder, repository, skipped};
use crate::pairs::{QUIET, used_by_others};
use std::collections::BTreeMap;

/// One run of a workload with what it said of itself.
struct Run {
    folder: Folder,
    name: &'static str,
    truths: BTreeMap<String, f64>,
}

const FILE: &str = "run.twin";

impl Run {
    /// Records `variant` of workload `name` for some seconds. `None` where the workloads are not built, or where the kernel lets nobody look.
    fn record(name: &'static str, variant: &str, seconds: &str, needs: &[&str]) -> Option<Self> {
        Self::record_with(&[], name, variant, seconds, needs)
    }

    /// The same with more flags.
    fn record_with(flags: &[&str], name: &'static str, variant: &str, seconds: &str, needs: &[&str]) -> Option<Self> {
        let program = repository().join("workloads/bin").join(name);
        if !program.exists() {
            skipped(&format!("ledger of {name}"), "workloads are not built: make workloads");
            return None;
        }
        let folder = Folder::new();
        let program = program.to_str().expect("a plain path");
        let end = ["--", program, variant, "--seconds", seconds];
        let done = folder.expect(0, ["record", "-q", "-o", FILE].iter().chain(flags).chain(&end));
        for source in needs {
            let why =
                folder.rows(FILE, &format!("select status, why from coverage where source = '{source}' and item = ''"));
            let read = why.iter().any(|row| row["status"] == "read");
            if !read {
                skipped(&format!("{source} of {name}"), &format!("{why:?}"));
                return None;
            }
        }
        let mut truths = BTreeMap::new();
        for line in done.stdout.lines() {
            let line = line.strip_prefix("truth: ").unwrap_or(line);
            if let Some((name, value)) = line.rsplit_once(' ')
                && let Ok(value) = value.parse()
            {
                truths.insert(name.trim_end_matches(':').to_owned(), value);
            }
        }
        Some(Run { folder, name, truths })
    }

    fn truth(&self, name: &str) -> f64 {
        self.truths.get(name).copied().unwrap_or_else(|| panic!("{}: no truth {name}: {:?}", self.name, self.truths))
    }

    /// The one number that a question gives.
    fn number(&self, question: &str) -> f64 {
        let rows = self.folder.rows(FILE, question);
        let value = rows.first().and_then(|r| r.as_object()?.values().next()?.as_f64());
        value.unwrap_or(0.0)
    }

    /// Seconds of the command's threads in a state.
    fn state(&self, state: &str) -> f64 {
        // The counters of a thread only grow, and begin with its life.
        self.number(&format!(
            "select sum(v) / 1e9 from (select max({state}) as v from thread_time where comm = '{}' group by pid, tid, start)",
            self.comm()
        ))
    }

    /// The name as the kernel keeps it.
    fn comm(&self) -> &str {
        self.name.get(..15).unwrap_or(self.name)
    }

    /// The functions of a stack, innermost first.
    fn functions(&self, stack: i64) -> Vec<String> {
        let rows = self.folder.rows(
            FILE,
            &format!(
                "with recursive up(depth, number, parent, frame) as (
                   select 0, number, parent, frame from stack where number = {stack}
                   union all select depth + 1, s.number, s.parent, s.frame from up join stack s on s.number = up.parent)
                 select coalesce(f.function, f.module) as name from up join frame f on f.number = up.frame order by depth"
            ),
        );
        rows.iter().map(|r| r["name"].as_str().unwrap_or("").to_owned()).collect()
    }

    fn near(&self, what: &str, found: f64, truth: f64, share: f64, more: f64) {
        let off = (found - truth).abs();
        assert!(off <= truth * share + more, "{}: {what}: {found} found, {truth} counted", self.name);
    }
}

#[test]
fn states_fill_the_time() {
    let Some(run) = Run::record("contended-counter", "slow", "2", &["threads", "cpu"]) else { return };
    let states =
        "user + kernel + stolen + runnable + throttled + lock + disk + network + pipe + fault + sleep + idle + other";
    // Between two reads a thread is in some state all the time.
    let off = run.number(&format!(
        "with seen as (select tid, t, {states} as spent, lag({states}) over w as before, lag(t) over w as t0
                       from thread_time where comm = '{}' and tid > 0 window w as (partition by tid, start order by t))
         select max(abs((spent - before) / 1.0 / (t - t0) - 1)) from seen where before is not null and t - t0 > 500000000",
        run.comm()
    ));
    let others = used_by_others(&run.folder, FILE);
    if off >= 0.01 && others > QUIET {
        let why = format!("others use {others:.2} of the CPUs, so that reads come late");
        skipped("whether the states fill the time", &why);
        return;
    }
    assert!(off < 0.01, "the states are {off} off the time between two reads");
}

#[test]
fn lock_wait_is_told_and_the_lock_named() {
    for (name, function) in
        [("contended-counter", "lock_counted"), ("lock-striping", "lock_counted"), ("batch-queue", "queue_")]
    {
        let Some(run) = Run::record(name, "slow", "3", &["threads", "stacks"]) else { return };
        let truth = run.truth("lock wait seconds");
        if truth < 0.3 {
            skipped(
                &format!("locks of {name}"),
                &format!("it waited for {truth} s only: one CPU had other things to do"),
            );
            continue;
        }
        // The program's clock also runs while the woken thread waits for a CPU, and while it goes to the kernel and back.
        let (lock, runnable) = (run.state("lock"), run.state("runnable"));
        let most = lock + runnable + run.truth("system seconds");
        assert!(
            lock < 1.1 * truth && most > 0.8 * truth,
            "{name}: {lock} s in lock, {runnable} runnable, {truth} s counted"
        );
        if lock < 0.1 {
            skipped(&format!("locks of {name}"), "its threads hardly ran at the same time");
            continue;
        }
        let top = run.folder.rows(
            FILE,
            &format!("select kind, name, address, stack, sum(time) as time from lock where comm = '{}' group by address order by time desc limit 1", run.comm()),
        );
        let top = top.first().unwrap_or_else(|| panic!("{name}: no lock is listed"));
        let lock = top["name"].as_str().or(top["address"].as_str()).unwrap_or("");
        assert!(lock.contains("shared"), "{name}: the lock is a part of the global variable `shared`: {top}");
        let functions = run.functions(top["stack"].as_i64().unwrap_or(0));
        assert!(functions.iter().any(|f| f.contains(function) || f == "work"), "{name}: waited in {functions:?}");
    }
}

#[test]
fn calls_are_counted_exactly() {
    for (name, call, truth) in [
        ("one-byte-reads", "pread64", "read calls"),
        ("chatty-log", "write", "write calls"),
        ("fsync-per-record", "fdatasync", "fdatasync calls"),
    ] {
        let Some(run) = Run::record_with(&["--exact"], name, "slow", "2", &["syscalls"]) else { return };
        let found = run.number(&format!(
            "select sum(n) from (select max(count) as n from syscall where comm = '{}' and call = '{call}' group by pid)",
            run.comm()
        ));
        // Writes of progress lines, and reads of the loader, are calls too.
        let others = if call == "fdatasync" { 0.0 } else { 40.0 };
        let counted = run.truth(truth);
        assert!((counted..=counted + others).contains(&found), "{name}: {found} of {call} found, {counted} counted");
    }
}

#[test]
fn too_many_calls_are_estimated_and_said_to_be() {
    let Some(run) = Run::record("one-byte-reads", "slow", "6", &["syscalls"]) else { return };
    let found = run.number(&format!(
        "select sum(n) from (select max(count) as n from syscall where comm = '{}' and call = 'pread64' group by pid)",
        run.comm()
    ));
    let of_last_read = |what: &str| run.number(&format!("select max(t) from {what}"));
    let counted = run.truth("read calls");
    let one_in = run.number("select max(sampled_1_in) from syscalls_collector");
    let said = run.number("select count(*) from missing where source = 'syscalls' and status = 'estimated'");
    if one_in <= 1.0 {
        skipped("estimated calls", &format!("{counted} calls in 6 s were not too many for this machine"));
        return;
    }
    assert_eq!(said, 1.0);
    if run.truth("user seconds") + run.truth("system seconds") > 0.7 * run.truth("wall seconds") {
        let of_calls = of_last_read("syscall where call = 'pread64'");
        assert_eq!(of_calls, of_last_read("syscalls_collector"), "the time after the last stretch counts too");
    } else {
        skipped("calls after the last stretch", "others had the CPUs, perhaps all of the last stretch");
    }
    // How much the program got done while it was looked at, and how much while it was not, is up to whoever else has the CPUs.
    assert!(found > counted / 3.0 && found < counted * 3.0, "{found} reads of one byte found, {counted} counted");
}

#[test]
fn blocked_on_what() {
    let Some(run) = Run::record("fsync-per-record", "slow", "2", &["threads"]) else { return };
    let (disk, spent) = (run.state("disk"), run.truth("mean fdatasync ms") * run.truth("fdatasync calls") / 1e3);
    // On a busy machine a thread whose write is done waits for a CPU.
    let all = disk + run.state("runnable") + run.truth("system seconds");
    assert!(
        disk > 0.0 && disk < 1.2 * spent + 0.1 && all > 0.6 * spent,
        "{disk} s on disk, {all} with what follows, {spent} s in fdatasync"
    );
    let Some(run) = Run::record("pipe-ping-pong", "slow", "2", &["threads"]) else { return };
    let (pipe, runnable) = (run.state("pipe"), run.state("runnable"));
    assert!(
        pipe > 0.0 && pipe + runnable > 0.2 * run.truth("wall seconds"),
        "{pipe} s on pipes, {runnable} s runnable"
    );
    let switches = run.state("switches_voluntary") * 1e9;
    run.near("voluntary switches", switches, run.truth("voluntary switches"), 0.02, 60.0);
}

#[test]
fn samples_show_where_the_cpu_goes() {
    let Some(run) = Run::record("spin-lock", "slow", "3", &["stacks"]) else { return };
    let rows = run.folder.rows(
        FILE,
        "select f.function as name, sum(s.weight) / 1e9 as seconds from sample s join stack k on k.number = s.stack join frame f on f.number = k.frame \
         where s.comm = 'spin-lock' group by 1 order by 2 desc",
    );
    let all: f64 = rows.iter().filter_map(|r| r["seconds"].as_f64()).sum();
    let used = run.truth("user seconds") + run.truth("system seconds");
    run.near("CPU time of all samples", all, used, 0.15, 0.1);
    let own = rows.iter().filter(|r| matches!(r["name"].as_str(), Some("work" | "spin_lock" | "churn")));
    let own: f64 = own.filter_map(|r| r["seconds"].as_f64()).sum();
    assert!(own > 0.8 * all, "{rows:?}");
}

#[test]
fn shootdowns_have_a_cause() {
    let Some(run) = Run::record_with(&["--exact"], "munmap-storm", "slow", "2", &["ipis", "faults"]) else { return };
    let faults = run.number("select sum(count) from page_fault where comm = 'munmap-storm'");
    run.near("page faults", faults, run.truth("minor faults"), 0.1, 500.0);
    let tlb = run.number(
        "select sum(count) from ipi where comm = 'munmap-storm' and (kind = 'tlb' or function like '%flush_tlb%')",
    );
    let truth = run.truth("TLB shootdown interrupts of the system");
    if truth < 1000.0 {
        skipped("TLB shootdowns of munmap-storm", "its threads hardly ran at the same time");
        return;
    }
    assert!(tlb > 0.2 * truth, "{tlb} flushes by the command, {truth} interrupts in the system");
}

#[test]
fn one_thread_at_the_end() {
    let Some(run) = Run::record("serial-end", "slow", "4", &["threads"]) else { return };
    let share = run.truth("single-threaded share of the time");
    let wanting = run.number(
        "select avg(running + runnable) from running where at > (select max(at) from running) - 500000000 \
         and at < (select max(at) from running) - 50000000",
    );
    if share > 0.2 {
        assert!(wanting < 1.5, "{wanting} threads ran or wanted to at the end, of which one was left");
    }
}

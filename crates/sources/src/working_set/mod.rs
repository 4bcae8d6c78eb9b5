//! Memory that processes use: which of their pages are referenced within a second. The kernel keeps a mark for each page that the CPU sets when it is used; they are
//! cleared by `/proc/PID/clear_refs`, and counted by `/proc/PID/smaps_rollup` (Documentation/filesystems/proc.rst).
//!
//! That walks all page tables of the process with its mappings locked, and makes its pages look old to reclaim: only where it is asked for, seldom, and not
//! for processes with very many pages.

use crate::cputime::own_time;
use crate::scope::{Place, Target};
use crate::stacks::descendants;
use crate::{Pace, Reader, Scope, Source};
use host::Host;
use model::{Chart, ChartKind, Column, Compare, Fold, NULL, Out, Page, Table, Unavailable, Unit};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const fn memory(name: &'static str, help: &'static str) -> Column {
    Column::gauge(name, Unit::Kibibytes, help).folded(Fold::Sum).floor(16e6)
}

static DATA_FOOTPRINT: Table = Table::wide(
    "data_footprint",
    "memory that processes used within a second, looked at every ten seconds at most",
    &[
        Column::number("pid", "process"),
        Column::label("comm", "name of the process"),
        memory("referenced", "memory whose pages were used within the second before"),
        memory("resident", "memory that it has (Rss)").compared(Compare::Never),
        memory("huge", "of this, in huge pages (AnonHugePages, ShmemPmdMapped, FilePmdMapped)")
            .compared(Compare::Never),
        Column::gauge("window", Unit::Nanoseconds, "how long the second was").compared(Compare::Never),
        Column::gauge("cost", Unit::Nanoseconds, "CPU time that looking took, with the mappings of the process locked")
            .compared(Compare::Never),
    ],
)
.grouped(&[&["comm"]])
.titled("Memory used within a second")
.on(Page::Memory)
.scoped();

/// Memory that processes use.
pub static SOURCE: Source = Source {
    name: "working_set",
    title: "memory that processes use: pages referenced within a second",
    documented: "Documentation/filesystems/proc.rst, proc_pid_clear_refs(5), proc_pid_smaps(5)",
    reads: &[],
    needs: "root, or CAP_SYS_PTRACE, for processes of other users",
    pace: Pace::Tick,
    tables: &[&DATA_FOOTPRINT],
    charts: &[Chart::new(
        "data-footprint",
        Page::Memory,
        ChartKind::Line,
        "Memory used within a second",
        "Pages that were used in a second of each ten. What a program needs to run at full speed is at least this, and mostly far less than what it has.",
        "data_footprint",
        &["referenced"],
    )
    .by(&["comm"], 8)],
    open: |host, scope: &Scope| {
        if !scope.working_set {
            return Err(Unavailable::not_applicable("it was not asked for").remedy("--working-set"));
        }
        if host.is_fixture() {
            return Err(Unavailable::not_applicable("a recorded host has no processes that use memory"));
        }
        scope.target.somebody()?;
        if scope.target == Target::Everything {
            let why = "it is looked at for a command, a process or a control group, not for all processes";
            return Err(Unavailable::not_applicable(why).remedy("a command, --pid or --cgroup"));
        }
        host.read_text("/proc/self/smaps_rollup")?;
        Ok(Box::new(WorkingSet::start(host, &scope.target)))
    },
};

/// A look begins so long after the start, and then so often.
const FIRST: Duration = Duration::from_millis(500);
const EVERY: Duration = Duration::from_secs(10);
/// The stretch of a look.
const WINDOW: Duration = Duration::from_secs(1);
/// Looking takes this part of the time at most: after one that took long, the next comes later.
const BUDGET: u32 = 200;
/// Processes that are looked at: those with most memory, and pages that one may have. A huge page is as quick as a small one.
const PROCESSES: usize = 16;
const MOST_PAGES: u64 = (4 << 30) / 4096;

/// What `/proc/PID/smaps_rollup` says, KiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Rollup {
    referenced: i64,
    resident: i64,
    huge: i64,
}

/// A row.
#[derive(Clone, Debug)]
struct Row {
    comm: String,
    window: u64,
    found: Rollup,
    cost: u64,
}

#[derive(Debug, Default)]
struct Shared {
    /// Of each process the last that was found since somebody fetched.
    rows: Mutex<BTreeMap<u32, Row>>,
    /// A process that was left out, because it has too many pages.
    left_out: Mutex<Option<String>>,
    stop: AtomicBool,
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

struct WorkingSet {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    told: bool,
}

impl WorkingSet {
    fn start(host: &Host, target: &Target) -> Self {
        let shared = Arc::new(Shared::default());
        let (of_thread, target, host) = (Arc::clone(&shared), target.clone(), Host::at(host.root()));
        let thread = std::thread::Builder::new().name("working set".into());
        let thread = thread.spawn(move || run(&of_thread, &host, &target)).ok();
        WorkingSet { shared, thread, told: false }
    }
}

impl Drop for WorkingSet {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

impl Reader for WorkingSet {
    fn read(&mut self, _host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        for (pid, row) in std::mem::take(&mut *locked(&self.shared.rows)) {
            let comm = out.text(&row.comm);
            let Rollup { referenced, resident, huge } = row.found;
            out.row(0, &[pid.into(), comm, referenced, resident, huge, row.window as i64, row.cost as i64]);
        }
        if let Some(left_out) =
            locked(&self.shared.left_out).take().filter(|_| !std::mem::replace(&mut self.told, true))
        {
            out.missing("data_footprint", Unavailable::not_applicable(left_out));
        }
        Ok(())
    }
}

/// Waits until then, or until it is to end: whether it is.
fn rest(shared: &Shared, until: Instant) -> bool {
    while !shared.stop.load(Ordering::Relaxed) {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        std::thread::park_timeout(left);
    }
    true
}

fn run(shared: &Shared, host: &Host, target: &Target) {
    let mut next = Instant::now() + FIRST;
    while !rest(shared, next) {
        let begin = Instant::now();
        let cost = own_time();
        let processes = largest(shared, host, members(host, target));
        let cleared: Vec<(u32, u64, Duration)> = processes
            .into_iter()
            .filter_map(|pid| {
                let before = own_time();
                clear_marks(&host.path(&format!("/proc/{pid}/clear_refs"))).ok()?;
                Some((pid, host.now(), own_time().saturating_sub(before)))
            })
            .collect();
        if !cleared.is_empty() && rest(shared, begin + WINDOW) {
            return;
        }
        let mut rows = BTreeMap::new();
        for (pid, since, clearing) in cleared {
            let before = own_time();
            let at = host.now();
            // One that has ended has no row.
            let Ok(text) = host.read_text(&format!("/proc/{pid}/smaps_rollup")) else { continue };
            let Some(found) = rollup(&text) else { continue };
            let comm = host.read_text(&format!("/proc/{pid}/comm")).unwrap_or_default();
            let cost = (own_time().saturating_sub(before) + clearing).as_nanos() as u64;
            let row = Row { comm: comm.trim().to_owned(), window: at.saturating_sub(since), found, cost };
            rows.insert(pid, row);
        }
        // All at once: a read has all processes, or none.
        *locked(&shared.rows) = rows;
        next = begin + EVERY.max(own_time().saturating_sub(cost) * BUDGET);
    }
}

/// The processes that are looked at.
fn members(host: &Host, target: &Target) -> Vec<u32> {
    let own = std::process::id();
    match target {
        Target::Children => {
            let is_command = |pid: &u32| *pid != own && Some(*pid) != host::holder::process();
            descendants(host, &[own]).into_iter().filter(is_command).collect()
        }
        Target::Trees(roots) => descendants(host, roots).into_iter().collect(),
        Target::Cgroup(path) => Place::find(host, path).map(|group| group.processes()).unwrap_or_default(),
        Target::Everything | Target::Nobody => Vec::new(),
    }
}

/// Those with most memory, of which none has more pages than are looked at.
fn largest(shared: &Shared, host: &Host, pids: Vec<u32>) -> Vec<u32> {
    let resident = |pid: u32| -> Option<u64> {
        let statm = host.read_text(&format!("/proc/{pid}/statm")).ok()?;
        statm.split_ascii_whitespace().nth(1)?.parse().ok()
    };
    let mut found: Vec<(u64, u32)> = pids.into_iter().filter_map(|pid| Some((resident(pid)?, pid))).collect();
    found.retain(|&(pages, pid)| {
        let fits = pages <= MOST_PAGES;
        if !fits {
            let why = format!("process {pid} has more than 4 GiB of memory, which would take too long to look at");
            locked(&shared.left_out).get_or_insert(why);
        }
        fits
    });
    found.sort_unstable_by(|a, b| b.cmp(a));
    found.into_iter().take(PROCESSES).map(|(_, pid)| pid).collect()
}

/// Reads it; `None` where it says nothing of references.
fn rollup(text: &str) -> Option<Rollup> {
    let mut found = Rollup { referenced: NULL, ..Rollup::default() };
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        let (Some(name), Some(Ok(value))) = (words.next(), words.next().map(str::parse::<i64>)) else { continue };
        match name {
            "Referenced:" => found.referenced = value,
            "Rss:" => found.resident = value,
            "AnonHugePages:" | "ShmemPmdMapped:" | "FilePmdMapped:" => found.huge = found.huge.saturating_add(value),
            _ => {}
        }
    }
    (found.referenced != NULL).then_some(found)
}

/// Clears the marks of referenced pages of a process.
fn clear_marks(file: &Path) -> std::io::Result<()> {
    std::fs::OpenOptions::new().write(true).open(file)?.write_all(b"1")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_was_referenced_is_read() {
        let text = "55d0c0a00000-7ffd8f3c3000 ---p 00000000 00:00 0                          [rollup]\nRss:              285196 kB\n\
            Pss:              280000 kB\nReferenced:        65536 kB\nAnonHugePages:      2048 kB\nFilePmdMapped:      2048 kB\nx: y kB\n";
        assert_eq!(rollup(text), Some(Rollup { referenced: 65536, resident: 285_196, huge: 4096 }));
        assert_eq!(rollup("Rss: 3 kB\n"), None);
    }

    #[test]
    fn it_is_asked_for_by_name() {
        let why =
            |scope: &Scope| (SOURCE.open)(&Host::live(), scope).err().map(|why| why.to_string()).unwrap_or_default();
        assert!(why(&Scope::default()).contains("not asked for"));
        assert!(why(&Scope { working_set: true, ..Scope::default() }).contains("not for all processes"));
        let nobody = Scope { working_set: true, target: Target::Nobody, ..Scope::default() };
        assert!(why(&nobody).contains("no threads"));
    }

    #[test]
    fn a_process_that_uses_its_memory_is_seen() {
        let (host, shared) = (Host::live(), Shared::default());
        let own = std::process::id();
        assert_eq!(largest(&shared, &host, vec![own, u32::MAX - 1]), [own]);
        assert!(members(&host, &Target::Trees(vec![own])).contains(&own));
        assert!(!members(&host, &Target::Children).contains(&own));
    }

    proptest! {
        #[test]
        fn foreign_lines_never_panic(text in "((Rss|Referenced|AnonHugePages)?:? *-?[0-9]{0,22} k?B?\n){0,12}") {
            rollup(&text);
        }
    }
}

//! Tests on the machine they run on: both readers agree, and nothing that processes used is lost or counted twice.
//! What cannot be tested here is said.

use super::tables::{PROCESS, PROCESS_EXIT, TABLES, THREAD, counter};
use super::{Processes, SOURCE, Way, open_bpf, open_proc};
use crate::{Reader, Scope};
use host::Host;
use model::{Coverage, NULL, Out, Rows, Symbols, Unavailable};
use std::collections::HashMap;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

struct Session {
    host: Host,
    reader: Processes,
    symbols: Symbols,
    coverage: Vec<Coverage>,
}

impl Session {
    fn new(open: fn(&Host, &Scope) -> Result<Way, Unavailable>, threads: bool) -> Option<Self> {
        let (host, scope) = (Host::live(), Scope { threads, ..Scope::default() });
        match open(&host, &scope) {
            Ok(way) => {
                let reader = Processes::new(way, None, &scope);
                Some(Session { host, reader, symbols: Symbols::default(), coverage: Vec::new() })
            }
            Err(why) => {
                eprintln!("SKIPPED: reading processes by eBPF: {why}");
                None
            }
        }
    }

    fn read(&mut self) -> Vec<Rows> {
        let mut rows = vec![Rows::default(); TABLES.len()];
        let mut facts = Vec::new();
        let mut out = Out::new(SOURCE.name, TABLES, &mut rows, &mut self.symbols, &mut self.coverage, &mut facts);
        self.reader.read(&self.host, &mut out).unwrap();
        rows
    }

    /// The text of a cell.
    fn text(&self, cell: i64) -> &str {
        self.symbols.text(cell).unwrap_or("-")
    }
}

/// A child that ends with the test.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn shell(script: &str) -> Killed {
    Killed(Command::new("sh").args(["-c", script]).stdout(Stdio::null()).spawn().unwrap())
}

/// User and system time of the processes with some names but for one pid, over the rows of `process`, and of those that ended as children of
/// some name, over the rows of `process_exit`: the sums of what each row ever reached.
struct Sums {
    names: Vec<i64>,
    parents: Vec<i64>,
    without: i64,
    reached: HashMap<(usize, Vec<i64>), i64>,
}

impl Sums {
    fn add(&mut self, rows: &[Rows]) {
        for (table, labels, user) in [(PROCESS, 3, 3), (PROCESS_EXIT, 2, 5)] {
            for row in rows[table].iter() {
                let ours = match table {
                    PROCESS => self.names.contains(&row[2]) && row[0] != self.without,
                    _ => self.parents.contains(&row[1]),
                };
                let now = row[user].max(0) + row[user + 1].max(0);
                if ours {
                    // Both tables count from zero for what appears later.
                    let before = self.reached.insert((table, row[..labels].to_vec()), now);
                    assert!(before.is_none_or(|before| now >= before), "{row:?} fell");
                }
            }
        }
    }

    fn of(&self, table: usize) -> i64 {
        self.reached.iter().filter(|((of, _), _)| *of == table).map(|(_, used)| used).sum()
    }
}

/// User and system time of the children that a process has waited for, nanoseconds: proc_pid_stat(5).
fn waited_for(pid: u32) -> i64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let after = stat.rsplit(')').next().unwrap();
    after.split_whitespace().skip(13).take(2).map(|w| w.parse::<i64>().unwrap() * 10_000_000).sum()
}

/// Tests that load the machine run one after the other.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn both_readers_agree() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mut bpf) = Session::new(open_bpf, true) else { return };
    let mut proc = Session::new(open_proc, true).unwrap();
    let _busy = shell("while :; do :; done");
    let sleeper = shell("exec sleep 100");
    std::thread::sleep(Duration::from_millis(400));
    let (mut sleepers, mut others) = (0, 0);
    for _ in 0..2 {
        // What /proc shows lies between two reads by eBPF.
        let (first, between, last) = (bpf.read(), proc.read(), bpf.read());
        let of = |rows: &Rows| -> HashMap<_, _> { rows.iter().map(|r| ((r[0], r[1], r[2]), r.to_vec())).collect() };
        let by_proc: HashMap<_, _> =
            between[PROCESS].iter().map(|r| ((r[0], r[1], bpf.symbols.cell(proc.text(r[2]))), r.to_vec())).collect();
        let (first, after) = (of(&first[PROCESS]), of(&last[PROCESS]));
        for (key, low) in &first {
            let (Some(shown), Some(high)) = (by_proc.get(key), after.get(key)) else { continue };
            let name = format!("{} {}", key.0, bpf.text(key.2));
            // /proc cuts off at 10 ms, and the kernel's sums lag by a tick.
            const SLACK: i64 = 20_000_000;
            for c in [counter::USER, counter::SYSTEM, counter::CHILDREN_USER, counter::CHILDREN_SYSTEM] {
                let (low, shown, high) = (low[3 + c], shown[3 + c], high[3 + c]);
                assert!(low - SLACK <= shown && shown <= high + SLACK, "{name} time {c}: {low} <= {shown} <= {high}");
            }
            others += 1;
            if key.0 == i64::from(sleeper.0.id()) {
                for c in [counter::MINOR_FAULTS, counter::MAJOR_FAULTS, counter::VOLUNTARY, counter::READ_CALLS] {
                    assert_eq!(low[3 + c], shown[3 + c], "{name} counter {c}");
                }
                // Swap to nice; the CPU may differ.
                assert_eq!(low[20..23], shown[20..23], "{name}");
                assert_eq!(low[24..26], shown[24..26], "{name}");
                assert_eq!((bpf.text(low[26]), proc.text(shown[26])), ("S", "S"));
                assert!((low[19] - shown[19]).abs() <= 3 * 64 * 4096, "resident memory {} {}", low[19], shown[19]);
                sleepers += 1;
            }
        }
        assert!(last[THREAD].len() >= last[PROCESS].len());
        std::thread::sleep(Duration::from_millis(300));
    }
    assert!(sleepers == 2 && others > 20, "{sleepers} {others}");
    assert!(bpf.coverage.is_empty(), "{:?}", bpf.coverage);
}

/// How many processes a storm has.
const STORM: i64 = 2_000;

/// What was read of a storm.
struct Storm {
    session: Session,
    rows: Vec<Rows>,
    sums: Sums,
    /// What the kernel says that all its processes used, nanoseconds.
    used: i64,
    /// The name of its processes.
    name: String,
    parent: String,
}

/// Runs a storm of short processes with a session reading beside it. Its processes have names of their own, so that nothing else on the
/// machine counts.
fn storm(kind: char, open: fn(&Host, &Scope) -> Result<Way, Unavailable>) -> Option<Storm> {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = tempfile::tempdir().unwrap();
    let (parent, name) = (format!("s{kind}-{}", std::process::id()), format!("c{kind}-{}", std::process::id()));
    let (script, child) = (dir.path().join(&parent), dir.path().join(&name));
    std::fs::copy("/bin/true", &child).unwrap();
    // In the end the shell becomes the sleep: all children were waited for.
    let text = format!(
        "#!/bin/sh\ni=0; while [ $i -lt {STORM} ]; do {}; i=$((i+1)); done; exec sleep 1000\n",
        child.display()
    );
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut session = Session::new(open, false)?;
    session.read();
    let shell = Killed(Command::new(&script).spawn().unwrap());
    let names = vec![session.symbols.cell(&name), session.symbols.cell(&parent)];
    // What `/proc` shows of the children since the last read goes to the shell's last name.
    let parents = vec![names[1], session.symbols.cell("sleep")];
    let mut sums = Sums { names, parents, without: i64::from(shell.0.id()), reached: HashMap::new() };
    let comm = format!("/proc/{}/comm", shell.0.id());
    let sleeping = || std::fs::read_to_string(&comm).unwrap_or_default() == "sleep\n";
    // However slow the machine is: the limits only end a test that would never.
    let until = Instant::now() + Duration::from_secs(300);
    while !sleeping() {
        assert!(Instant::now() < until, "{STORM} processes within five minutes");
        std::thread::sleep(Duration::from_millis(250));
        sums.add(&session.read());
    }
    let used = waited_for(shell.0.id());
    let mut rows = session.read();
    sums.add(&rows);
    // The ends come after a grace period; those that never come are counted after some seconds.
    let all = |rows: &[Rows]| {
        rows[PROCESS_EXIT].iter().filter(|r| sums.parents.contains(&r[1])).map(|r| r[2].max(0)).sum::<i64>() >= STORM
    };
    while !all(&rows) && matches!(session.reader.way, Way::Bpf(_)) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(250));
        rows = session.read();
    }
    sums.add(&rows);
    Some(Storm { session, rows, sums, used, name, parent })
}

#[test]
fn nothing_of_a_storm_of_short_processes_is_lost() {
    let Some(Storm { session, rows, sums, used, name, parent }) = storm('b', open_bpf) else { return };
    let children: Vec<_> = rows[PROCESS_EXIT].iter().filter(|r| session.text(r[1]) == parent).collect();
    let ended = children.iter().map(|r| r[2]).sum::<i64>();
    assert_eq!(ended, STORM, "{:?}", session.coverage);
    let named: Vec<_> = children.iter().filter(|r| session.text(r[0]) == name).collect();
    assert!(named.iter().map(|r| r[2]).sum::<i64>() > STORM * 9 / 10);
    assert!(named.iter().all(|r| r[4] > 0 && r[5..15].iter().all(|&c| c != NULL)));
    assert!(session.coverage.is_empty(), "{:?}", session.coverage);
    let found = sums.of(PROCESS) + sums.of(PROCESS_EXIT);
    let share = found as f64 / used as f64;
    eprintln!("eBPF: {} ms of {} ms that its children used", found / 1_000_000, used / 1_000_000);
    // Waited for a moment before its end is complete, and of what is known from its note alone the last few milliseconds are missing.
    assert!((0.9..1.2).contains(&share), "{share}");
}

#[test]
fn children_that_proc_cannot_show_are_counted_by_their_parents() {
    let Some(Storm { session, rows, sums, used, parent, .. }) = storm('p', open_proc) else { return };
    let shell: Vec<_> = rows[PROCESS_EXIT].iter().filter(|r| session.text(r[1]) == parent).collect();
    assert!(shell.iter().any(|r| r[5].max(0) + r[6].max(0) > 0), "{:?}", rows[PROCESS_EXIT]);
    let found = sums.of(PROCESS) + sums.of(PROCESS_EXIT);
    let share = found as f64 / used as f64;
    eprintln!("/proc: {} ms of {} ms that its children used", found / 1_000_000, used / 1_000_000);
    assert!((0.85..1.1).contains(&share), "{share}");
}

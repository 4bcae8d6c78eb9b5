//! The cells of the budget: the time in each state divided by where it was spent, from samples, waits and locks. Samples and waits say how a
//! state's time divides; how much there was says the ledger.

use super::ledger::{Working, group, is_own};
use super::request;
use super::state::{ALL, STATES, State};
use super::timed::TimedOut;
use crate::side::{PerSide, Side};
use model::Window;
use query::Run;
use query::profile::{self, Frame, Levels, Measure, Part, Request, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// Time between two samples, seconds, where the recording does not say: 99 Hz.
const PERIOD: f64 = 1.0 / 99.0;

/// Frames of a path that are kept, from the innermost on.
const DEPTH: usize = 96;

/// Time spent in one state at one place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// The state, see [`State::name`].
    pub state: Option<State>,
    /// Name of the process.
    pub comm: String,
    /// Name of the thread, `#` for digits.
    pub thread: String,
    /// Of a wait, the kernel function or system call that it waited in.
    pub what: String,
    /// Of a wait, the process that ended it.
    pub waker: String,
    /// Of a lock, what it is called: its name, else its kind and address.
    pub lock: String,
    /// Of kernel time, what asked for it: the name of a system call, `page fault`, `interrupt`, `switch`, or nothing.
    pub request: String,
    /// The innermost function.
    pub function: String,
    /// Its program or library.
    pub module: String,
    /// Its kind of code: native, kernel, jit …, and `spin` in a loop that waits.
    pub kind: String,
    /// The innermost function of the program that does not belong to a library of the system.
    pub caller: String,
    /// All functions, outermost first, each between two semicolons.
    pub path: String,
    /// Of the time in this state.
    pub fraction: PerSide<f64>,
    /// Samples or waits that it stands on; 0 where that is not known.
    pub samples: PerSide<f64>,
    /// Whether it is of threads that keep house.
    pub aside: bool,
    /// Of CPU time, the function below which it grew, see [`super::focus`].
    pub focus: String,
    /// Whether that function hardly ran on the fast side.
    pub fresh: bool,
    /// Of the path, how many functions at its end are the kernel's.
    pub kernel: usize,
}

/// The two sides: for each run, which it belongs to.
pub(crate) struct Sides<'a> {
    pub(crate) runs: &'a [&'a Run],
    pub(crate) windows: &'a [&'a Window],
    pub(crate) side: &'a [Side],
    pub(crate) own: &'a BTreeSet<String>,
    pub(crate) working: &'a Working,
}

/// Libraries that programs wait and copy in, of which the caller says more.
fn is_library(module: &str) -> bool {
    const LIBRARIES: [&str; 8] =
        ["libc.so", "libc-", "libpthread", "ld-linux", "libstdc++", "libgcc", "libm.so", "[vdso]"];
    let name = module.rsplit('/').next().unwrap_or(module);
    LIBRARIES.iter().any(|l| name.starts_with(l))
}

/// Whether a function is a part of how locks are made.
fn is_primitive(name: &str) -> bool {
    const PARTS: [&str; 12] = [
        "futex",
        "lll_lock",
        "Mutex",
        "mutex",
        "RwLock",
        "rwlock",
        "park",
        "emaphore",
        "syscall",
        "lock_contended",
        "PlatformMonitor",
        "COND_TIMEDWAIT",
    ];
    PARTS.iter().any(|part| name.contains(part))
}

/// Whether a function belongs to the standard library of its language, where that is part of the program.
fn is_standard(name: &str) -> bool {
    let name = name.trim_start_matches(['<', '_']);
    ["std::", "core::", "alloc::", "time.Sleep"].iter().any(|space| name.starts_with(space))
}

/// A name without the addresses in it, which differ from run to run: hidden classes of a JVM, code of eBPF programs.
fn steady(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some((before, after)) = rest.split_once("0x") {
        let digits = after.bytes().take_while(u8::is_ascii_hexdigit).count();
        out.push_str(before);
        out.push_str(if digits >= 6 { "#" } else { "0x" });
        rest = if digits >= 6 { after.get(digits..).unwrap_or_default() } else { after };
    }
    out.push_str(rest);
    out
}

/// A cell of a node of a tree, without its time.
fn cell(tree: &Tree, node: u32, state: State) -> Cell {
    let mut frames = Vec::new();
    let mut at = node;
    let mut cell = Cell { state: Some(state), ..Cell::default() };
    while let Some(frame) = tree.frame(at) {
        match &*frame.kind {
            "process" => cell.comm = frame.name.to_string(),
            "thread" => cell.thread = frame.name.to_string(),
            "waker" => cell.waker = frame.name.to_string(),
            "what" => cell.what = frame.name.to_string(),
            "lock" => cell.lock = frame.name.to_string(),
            "state" => cell.state = State::parse(&frame.name).or(cell.state),
            _ => frames.push(frame),
        }
        at = tree.parent(at);
    }
    (_, cell.thread) = group("", &cell.thread);
    // Innermost first.
    if let Some(inner) = frames.first().filter(|f| &*f.name != "[no stack]") {
        cell.function = steady(&inner.name);
        cell.module = inner.module.to_string();
        cell.kind = inner.kind.to_string();
    }
    let kernel = frames.iter().take_while(|f| &*f.kind == "kernel").count();
    cell.kernel = kernel.min(DEPTH);
    let user = frames.get(kernel..).unwrap_or_default();
    let outside: Vec<&Frame> = frames.get(..kernel).unwrap_or_default().iter().rev().copied().collect();
    cell.request = request::of(&outside);
    // A wait of which the kernel's part is not known tells its system call.
    if cell.request.is_empty() && outside.is_empty() && !cell.what.is_empty() {
        cell.request = request::plain(&cell.what).to_owned();
    }
    cell.path.push(';');
    for frame in frames.iter().take(DEPTH).rev() {
        cell.path.push_str(&steady(&frame.name));
        cell.path.push(';');
    }
    // Of who waits, the code that wanted the lock says more than that which waits for it; and of who waits for a time or for work, the program's own.
    let waits = |f: &Frame| match cell.state {
        Some(State::Lock) => is_primitive(&f.name),
        Some(State::Sleep | State::Idle) => is_primitive(&f.name) || is_standard(&f.name),
        _ => false,
    };
    let caller = user
        .iter()
        .find(|f| !is_library(&f.module) && !waits(f))
        .or(user.iter().find(|f| !is_library(&f.module)))
        .or(user.first());
    cell.caller = caller.map_or_else(String::new, |f| steady(&f.name));
    if is_java_lock(&cell.path) {
        let is_own = |f: &&Frame| &*f.module == "[jit]" && !JAVA.iter().any(|part| f.name.starts_with(part));
        cell.caller = user.iter().copied().find(is_own).map_or_else(String::new, |f| steady(&f.name));
    }
    cell
}

/// The trees of one measure as cells, with the weights of each side.
fn of_measure(sides: &Sides<'_>, measure: Measure, state: State) -> Vec<(Cell, [f64; 2])> {
    // A run without such rows has nothing to say of it; the others do.
    let there: Vec<usize> =
        (0..sides.runs.len()).filter(|&i| sides.runs.get(i).is_some_and(|run| has(run, &measure))).collect();
    let parts: Vec<Part<'_>> =
        there.iter().filter_map(|&i| Some(Part { run: sides.runs.get(i)?, window: sides.windows.get(i)? })).collect();
    let levels = Levels { process: true, thread: true, what: true };
    let request = Request { levels, spins: true, ..Request::new(measure) };
    let Ok(tree) = profile::load(&parts, &request) else { return Vec::new() };
    let mut cells = Vec::new();
    for node in 1..u32::try_from(tree.len()).unwrap_or(u32::MAX) {
        let mut weights = [0.0; 2];
        for (column, &index) in there.iter().enumerate() {
            let weight = tree.own(column).get(node as usize).copied().unwrap_or(0.0);
            let side = sides.side.get(index).copied().unwrap_or(Side::Slow);
            if let Some(sum) = weights.get_mut(side as usize) {
                *sum += weight;
            }
        }
        if weights[0] > 0.0 || weights[1] > 0.0 {
            cells.push((cell(&tree, node, state), weights));
        }
    }
    cells
}

/// Whether a run has rows for a measure.
fn has(run: &Run, measure: &Measure) -> bool {
    let table = match measure {
        Measure::Cpu => "sample",
        Measure::Contended => "lock",
        _ => "wait",
    };
    run.recording.table(table).is_some()
}

/// Code that waits for a lock, of programs that wait for theirs in other ways than by futex: PostgreSQL's locks of rows and tables.
const LOCKS: [&str; 3] = [";ProcSleep;", ";LWLockAcquire;", ";LWLockAcquireOrWait;"];

/// Of code that a JVM made, what is not the program's on the way to a lock of java.util.concurrent.
const JAVA: [&str; 5] =
    ["java.util.concurrent.locks.", "jdk.internal.misc.", "sun.misc.", "Interpreter", "StubRoutines"];

/// Whether a thread of a JVM waits for a lock of java.util.concurrent, all of which are made of one queue of threads that are parked, as are other things. Their
/// methods have names only after the ledger has told what the wait is for.
fn is_java_lock(path: &str) -> bool {
    const LOCKS: [&str; 5] = [
        ".AbstractQueuedSynchronizer.acquire",
        ".locks.ReentrantLock.lock",
        ".locks.ReentrantLock$",
        ".locks.ReentrantReadWriteLock",
        ".locks.StampedLock",
    ];
    const OTHERS: [&str; 9] = [
        "ConditionObject",
        ".CountDownLatch",
        ".Semaphore",
        ".CyclicBarrier",
        ".Phaser",
        ".SynchronousQueue",
        ".FutureTask.get",
        ".FutureTask.awaitDone",
        ".ThreadPoolExecutor.getTask",
    ];
    let has = |names: &[&str]| names.iter().any(|name| path.contains(name));
    path.contains(";Parker::park;") && has(&LOCKS) && !has(&OTHERS)
}

/// Code that waits for other threads or for work from them: Rust's std, C++.
const MEETINGS: [&str; 6] =
    ["Parker>::park", "Parker::park", "Thread>::park", "Condvar", "std::condition_variable", "std::__atomic_wait"];

/// Code of runtimes that sleeps between rounds of keeping house.
const KEEPERS: [&str; 4] = [";runtime.sysmon;", ";WatcherThread::", ";G1ServiceThread::", ";CompileBroker::"];

/// What a wait is, where its code or who ended it say more than what it waited in: a wait for another thread of the workload, over a pipe or a
/// socket, is one for work; so is one for a condition with a limit to it, as pools of threads do.
fn seen_closer(cell: &Cell, is_own: &dyn Fn(&str) -> bool) -> Option<State> {
    let within = |names: &[&str]| names.iter().any(|name| cell.path.contains(name));
    match cell.state? {
        State::Idle | State::Sleep | State::Network | State::Other if within(&LOCKS) || is_java_lock(&cell.path) => {
            Some(State::Lock)
        }
        // Functions that were inlined have their names only after the ledger has told what the wait is for.
        State::Other if cell.what.contains("futex") && within(&MEETINGS) => Some(State::Idle),
        // Threads that are stopped wait for what they are stopped for.
        State::Lock if within(&[";LinuxWaitBarrier::", ";SafepointSynchronize::"]) => Some(State::Idle),
        State::Sleep if within(&KEEPERS) => Some(State::Idle),
        State::Sleep if cell.what.contains("futex") || within(&[";futex_", "cond_timedwait"]) => {
            // Threads of a JVM are asked to sleep in this way.
            (!within(&[";JVM_Sleep;", ";JavaThread::sleep"])).then_some(State::Idle)
        }
        State::Pipe | State::Network
            if !cell.waker.is_empty() && is_own(&cell.waker) && !within(&["write", "send"]) =>
        {
            (!cell.what.contains("write") && !cell.what.contains("send")).then_some(State::Idle)
        }
        _ => None,
    }
}

/// A wait with its time on both sides, and the state that it is taken to be, where that is not its own.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) cell: Cell,
    pub(super) weights: [f64; 2],
    pub(super) to: Option<State>,
}

impl Seen {
    /// The state that it is taken to be.
    pub(super) fn state(&self) -> Option<State> {
        self.to.or(self.cell.state)
    }
}

/// By side and state, the part of its time that belongs to each other state.
pub(crate) type Moves = [[[f64; STATES]; STATES]; 2];

/// All cells. For each state of each side the fractions of those of working threads add up to 1. And what of the ledger's states belongs to others.
pub(crate) fn load(sides: &Sides<'_>) -> (Vec<Cell>, Moves) {
    let mut found: Vec<(Cell, [f64; 2])> = Vec::new();
    for (mut cell, weights) in of_measure(sides, Measure::Cpu, State::User) {
        cell.state = Some(if cell.kind == "kernel" { State::Kernel } else { State::User });
        cell.samples = PerSide::of(|side| weights[side as usize] / PERIOD);
        found.push((cell, weights));
    }
    request::infer(&mut found);
    let locks = of_measure(sides, Measure::Contended, State::Lock);
    let mut waits = of_measure(sides, Measure::Blocked, State::Other);
    waits.retain(|(cell, _)| sides.runs.iter().any(|run| is_own(run, sides.own, &cell.comm)));
    let names: BTreeSet<String> = waits.iter().map(|(c, _)| c.comm.clone()).collect();
    let closer = |cell: &Cell| seen_closer(cell, &|name| names.contains(name));
    let mut waits: Vec<Seen> =
        waits.into_iter().map(|(cell, weights)| Seen { to: closer(&cell), cell, weights }).collect();
    if let Some(timed) = TimedOut::load(sides) {
        waits = timed.divide(waits, &|group| sides.working.works(group));
    }
    let mut moves: Moves = [[[0.0; STATES]; STATES]; 2];
    let mut all = [[0.0f64; STATES]; 2];
    let waits: Vec<(Cell, [f64; 2])> = waits
        .into_iter()
        .filter_map(|Seen { mut cell, weights, to }| {
            let from = cell.state?;
            let to = to.unwrap_or(from);
            // The ledger that they are parts of is that of the threads that work.
            let works = sides.working.works(&group(&cell.comm, &cell.thread));
            for (side, weight) in weights.iter().enumerate().filter(|_| works) {
                all[side][from as usize] += weight;
                moves[side][from as usize][to as usize] += weight;
            }
            cell.state = Some(to);
            Some((cell, weights))
        })
        .collect();
    for (moves, all) in moves.iter_mut().zip(all) {
        for (from, (row, all)) in moves.iter_mut().zip(all).enumerate() {
            for (to, part) in row.iter_mut().enumerate() {
                *part = if all > 0.0 && from != to { *part / all } else { 0.0 };
            }
        }
    }
    // Locks have a table of their own, which knows their names; where it misses most of the time, the waits say more.
    let total = |of: &[(Cell, [f64; 2])], state: State| -> f64 {
        of.iter().filter(|(c, _)| c.state == Some(state)).map(|(_, w)| w.iter().sum::<f64>()).sum()
    };
    let named = total(&locks, State::Lock) >= 0.5 * total(&waits, State::Lock);
    found.extend(waits.into_iter().filter(|(c, _)| !(named && c.state == Some(State::Lock))));
    let mut locks = locks;
    locks.retain(|(cell, _)| seen_closer(cell, &|_| false).is_none());
    if named {
        found.extend(locks);
    }
    found.retain(|(cell, _)| sides.runs.iter().any(|run| is_own(run, sides.own, &cell.comm)));
    for (cell, _) in &mut found {
        // The table of locks does not say which thread waited.
        let unknown = cell.state == Some(State::Lock) && !cell.lock.is_empty();
        if unknown {
            cell.thread.clear();
        }
        cell.aside = !unknown && !sides.working.works(&group(&cell.comm, &cell.thread));
    }
    // What is alike becomes one.
    type Key = (usize, bool, bool, [String; 5]);
    let mut cells: BTreeMap<Key, (Cell, [f64; 2])> = BTreeMap::new();
    for (cell, weights) in found {
        let state = cell.state.map_or(0, |s| s as usize);
        let words = [&cell.comm, &cell.thread, &cell.what, &cell.lock, &cell.path].map(String::clone);
        let key = (state, cell.aside, cell.kind == "spin", words);
        let samples = cell.samples;
        let (known, sum) = cells.entry(key).or_insert_with(|| (Cell { samples: PerSide::default(), ..cell }, [0.0; 2]));
        for side in Side::BOTH {
            sum[side as usize] += weights[side as usize];
            known.samples[side] += samples[side];
        }
    }
    let mut whole = [[0.0f64; STATES]; 2];
    for (cell, weights) in cells.values().filter(|(c, _)| !c.aside) {
        for (whole, weight) in whole.iter_mut().zip(weights) {
            if let Some(sum) = whole.get_mut(cell.state.map_or(0, |s| s as usize)) {
                *sum += weight;
            }
        }
    }
    let mut cells: Vec<Cell> = cells
        .into_values()
        .map(|(mut cell, weights)| {
            let state = cell.state.map_or(0, |s| s as usize);
            for (side, weight) in Side::BOTH.into_iter().zip(weights) {
                let all = if cell.aside { 1.0 } else { whole[side as usize][state] };
                cell.fraction[side] = if all > 0.0 { weight / all } else { 0.0 };
            }
            cell
        })
        .collect();
    // A state of which nothing more is known is one cell.
    for state in ALL {
        let missing = PerSide::of(|side| whole[side as usize][state as usize] <= 0.0);
        if missing.slow || missing.baseline {
            let fraction = missing.map(|m| f64::from(u8::from(m)));
            cells.push(Cell { state: Some(state), path: ";".into(), fraction, ..Cell::default() });
        }
    }
    (cells, moves)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_of_java_is_told_from_what_else_parks() {
        let park = "jdk.internal.misc.Unsafe.park;Unsafe_Park;Parker::park;pthread_cond_wait;";
        let queue = "java.util.concurrent.locks.AbstractQueuedSynchronizer";
        assert!(is_java_lock(&format!(";Interpreter;Cache.get;{queue}.acquire;{park}")));
        assert!(is_java_lock(&format!(";Cache.get;java.util.concurrent.locks.ReentrantLock.lock;Interpreter;{park}")));
        assert!(!is_java_lock(&format!(";Pool.run;{queue}$ConditionObject.await;{park}")));
        assert!(!is_java_lock(&format!(";Main.all;java.util.concurrent.CountDownLatch.await;{queue}.acquire;{park}")));
        assert!(!is_java_lock(&format!(";Main.all;{park}")));
        assert!(!is_java_lock(&format!(";Cache.get;{queue}.acquire;Interpreter;")), "it runs");
    }

    #[test]
    fn names_are_the_same_in_each_run() {
        assert_eq!(steady("Main$$Lambda$2/0x00007f2080001800.accept"), "Main$$Lambda$2/#.accept");
        assert_eq!(steady("f0x1.cold"), "f0x1.cold");
    }

    #[test]
    fn a_wait_is_seen_closer() {
        let wait = |state, what: &str, waker: &str, path: &str| {
            let cell = Cell {
                state: Some(state),
                what: what.into(),
                waker: waker.into(),
                path: path.into(),
                ..Cell::default()
            };
            seen_closer(&cell, &|name| name == "app")
        };
        assert_eq!(wait(State::Pipe, "pipe_read", "app", ";main;read;"), Some(State::Idle), "another thread's answer");
        assert_eq!(wait(State::Pipe, "pipe_read", "cat", ";main;read;"), None, "another program's");
        assert_eq!(wait(State::Pipe, "pipe_write", "app", ";main;write;"), None, "it is full");
        assert_eq!(wait(State::Sleep, "epoll_wait", "", ";backend;ProcSleep;WaitLatch;"), Some(State::Lock));
        assert_eq!(wait(State::Sleep, "futex_do_wait", "", ";pool;wait_for;"), Some(State::Idle));
        assert_eq!(wait(State::Sleep, "futex_do_wait", "", ";run;JVM_Sleep;"), None);
        assert_eq!(wait(State::Lock, "futex_do_wait", "", ";SafepointSynchronize::block;"), Some(State::Idle));
    }
}

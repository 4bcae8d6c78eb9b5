//! What the tables of the source `threads` hold. The states of the ledger are declared here, in [`LEDGER`], and nowhere else.

use crate::tally::{BUCKETS, NAMES, join};
use model::{
    Chart, ChartKind, Column, Compare, Den, Derived, Locks, Measure, Page, Polarity, State, StateKind, Table, Unit,
};

/// Places of the tables among those of the source.
pub(super) const THREAD_TIME: usize = 0;
/// Waits with their stacks.
pub(super) const WAIT: usize = 1;
/// Waits for a CPU.
pub(super) const RUN_QUEUE: usize = 2;
/// Threads on CPUs, every 10 ms.
pub(super) const CONCURRENCY: usize = 3;
/// Contended locks.
pub(super) const LOCKS: usize = 4;
/// What this source itself counted.
pub(super) const COLLECTOR: usize = 5;
/// Goroutines that wait, by what for.
pub(super) const GOROUTINE: usize = 6;
/// The same since the read before, with their stacks.
pub(super) const GOROUTINE_WAIT: usize = 7;
/// What each thread did at the end.
pub(super) const DUMP: usize = 8;

/// Places of the states among the columns.
pub(super) mod column {
    pub const USER: usize = 0;
    pub const KERNEL: usize = 1;
    pub const STOLEN: usize = 2;
    pub const RUNNABLE: usize = 3;
    pub const THROTTLED: usize = 4;
    pub const LOCK: usize = 5;
    pub const IDLE: usize = 11;
    pub const OTHER: usize = 12;
}

const PID: Column = Column::number("pid", "process id; 0 for processes that began and ended between two reads");
const COMM: Column = Column::label("comm", "name of the process: that of its first thread");
const THREAD: Column = Column::label("thread", "name of the thread");

const fn time(name: &'static str, help: &'static str) -> Column {
    Column::counter(name, Unit::Nanoseconds, help).floor(0.02)
}

const fn event(name: &'static str, help: &'static str) -> Column {
    Column::counter(name, Unit::None, help).floor(50.0)
}

/// The states, in the order of [`column`]: from `LOCK` on the thread is blocked, in that of `enum state` of ledger.h. In colours running is blue,
/// kept from a CPU violet, blocked warm, I/O green; neighbours in a bar differ in lightness.
const LEDGER: [Column; 13] = [
    time("user", "on a CPU, in its own code")
        .titled("Running, user code")
        .state(&State { words: "running user code", kind: StateKind::OnCpu, color: ["#2f6fb3", "#6fa8e6"] }),
    time("kernel", "on a CPU, in the kernel on its behalf")
        .titled("Running, kernel")
        .state(&State { words: "running in the kernel", kind: StateKind::OnCpu, color: ["#8db8de", "#3b6ea5"] }),
    time("stolen", "on a CPU, but descheduled by the hypervisor (steal) or interrupted, as far as the kernel accounts for it (CONFIG_IRQ_TIME_ACCOUNTING)")
        .titled("Stolen")
        .state(&State { words: "interrupted on their CPU (interrupts, steal)", kind: StateKind::Stretch, color: ["#5b6b7b", "#8c9aa8"] })
        .worse(),
    time("runnable", "run-queue wait: runnable, but not on a CPU")
        .titled("Run-queue wait")
        .state(&State { words: "in run-queue wait", kind: StateKind::Stretch, color: ["#7d5ba6", "#b79be6"] })
        .worse(),
    time("throttled", "throttled by the CPU quota of its control group")
        .titled("Throttled")
        .state(&State { words: "throttled by the CPU quota of their control group", kind: StateKind::Stretch, color: ["#b9a2d8", "#725a9c"] })
        .worse(),
    time("lock", "blocked on a contended lock, of the program or of the kernel")
        .titled("Lock")
        .state(&State { words: "waiting for locks", kind: StateKind::Wait, color: ["#c25a1c", "#f08a4b"] })
        .worse(),
    time("disk", "blocked on a disk or a file system")
        .titled("Disk")
        .state(&State { words: "waiting for disks or file systems", kind: StateKind::Wait, color: ["#2f8f73", "#57c7a3"] })
        .worse(),
    time("network", "blocked on a socket")
        .titled("Network")
        .state(&State { words: "waiting for sockets", kind: StateKind::Wait, color: ["#8fcbb4", "#2f7f66"] }),
    time("pipe", "blocked on a pipe")
        .titled("Pipe")
        .state(&State { words: "waiting for pipes", kind: StateKind::Wait, color: ["#55702a", "#a5c46a"] }),
    time("fault", "blocked in a page fault (disk, swap-in, reclaim)")
        .titled("Page fault")
        .state(&State { words: "waiting in page faults (disk, swap-in, reclaim)", kind: StateKind::Wait, color: ["#d99a3d", "#b8802f"] })
        .worse(),
    time("sleep", "sleeping: timers, polls with a timeout")
        .titled("Sleep")
        .state(&State { words: "sleeping", kind: StateKind::Sleep, color: ["#d6c98a", "#857a45"] }),
    // Threads that wait for work wait longer for each operation of a slower run: that says nothing more.
    time("idle", "waiting for work: condition variables, queues, epoll, accept, children, joins")
        .titled("Idle")
        .state(&State { words: "waiting for work", kind: StateKind::Rest, color: ["#c9cfd6", "#48515c"] })
        .compared(Compare::Never),
    time("other", "blocked for an unknown reason; table `wait` has the kernel function")
        .titled("Other")
        .state(&State { words: "blocked for an unknown reason", kind: StateKind::Wait, color: ["#9aa4af", "#66717d"] }),
];

/// How many states there are.
pub(super) const STATES: usize = LEDGER.len();

/// The words for states that a thread can be blocked in, by [`column`] from `LOCK` on.
pub(super) const WORDS: [&str; STATES - column::LOCK] = names(column::LOCK, false);

/// The names of states from a place on: all, or those that are time lost.
const fn names<const N: usize>(from: usize, lost: bool) -> [&'static str; N] {
    let mut all = [""; N];
    let (mut at, mut place) = (from, 0);
    while at < STATES {
        if !lost || matches!(LEDGER[at].polarity, Polarity::Worse) {
            all[place] = LEDGER[at].name;
            place += 1;
        }
        at += 1;
    }
    assert!(place == N, "the number of states");
    all
}

/// Each of them once, to be added up.
const fn sum() -> [(&'static str, f64); STATES] {
    let mut all = [("", 1.0); STATES];
    let mut at = 0;
    while at < STATES {
        all[at].0 = LEDGER[at].name;
        at += 1;
    }
    all
}

static THREAD_TIME_TABLE: Table = Table::wide(
    "thread_time",
    "the thread ledger: each nanosecond of a thread, from its start (or that of the recording) to its end, in one state",
    &join::<{ 5 + STATES + 4 }>(&[
        &[
            PID,
            Column::number("tid", "thread id; 0 for the threads that began and ended between two reads, taken together"),
            Column::number(
                "start",
                "when it was started, in hundredths of a second since boot; 0 for threads taken together",
            ),
            COMM,
            THREAD,
        ],
        &LEDGER,
        &[
            event("switches_voluntary", "voluntary context switches"),
            event("switches_involuntary", "involuntary context switches"),
            event("migrations", "migrations to another CPU"),
            event("wakeups", "wake-ups"),
        ],
    ]),
)
.derived(&[Derived {
    name: "elapsed",
    unit: "s/s",
    help: "all states: how many threads there were, on average",
    num: &sum(),
    den: Den::Time,
    polarity: Polarity::Neutral,
    compare: Compare::Never,
    floor: 0.05,
}])
.grouped(&[&["comm"]])
.from_zero()
.scoped();

const fn stack(name: &'static str, help: &'static str) -> Column {
    Column::number(name, help)
}

static WAIT_TABLE: Table = Table::wide(
    "wait",
    "what threads waited for since the read before, and the waker; equal waits are merged",
    &[
        PID,
        COMM,
        THREAD,
        Column::label("state", "the state, as in thread_time: one of those from `lock` on"),
        Column::label("what", "the kernel function that it waited in; for short waits the system call"),
        stack("stack", "the stack that waited; NULL if none could be taken"),
        Column::label("waker", "the waking process; NULL for interrupts, timers and waits that are not over"),
        stack("waker_stack", "stack of the waker; NULL if it was not taken"),
        Column::gauge("count", Unit::None, "waits that ended; 0 for one still going on"),
        Column::gauge("time", Unit::Nanoseconds, "time waited since the read before"),
        Column::gauge("longest", Unit::Nanoseconds, "the longest of them, from its start").folded(model::Fold::Max),
        Column::gauge(
            "timed_out",
            Unit::None,
            "waits that ended by their timeout: all sleeps, and timed waits without an event",
        ),
        Column::gauge("timed_out_time", Unit::Nanoseconds, "their total length, from their start"),
    ],
)
.of_events()
.scoped()
.measured(
    &Measure::new("blocked", "Off-CPU time", "time", "time that threads were blocked, by the stack that waited")
        .of("who waited")
        .of_ledger()
        .labels(&["state", "what", "waker"])
        .level("state")
        .more(&["count", "longest"])
        .other("waker_stack", "waker", "who ended the wait"),
);

/// A bucket of the histogram of waits: they are counted in steps of 1,024 ns.
const fn bucket(at: usize, help: &'static str) -> Column {
    Column::counter(NAMES[at], Unit::None, help)
        .histogram((2048_u64 << at) as f64, Unit::Nanoseconds)
        .compared(Compare::Distribution)
}

static RUN_QUEUE_TABLE: Table = Table::wide(
    "run_queue",
    "histogram of run-queue waits",
    &[
        COMM,
        bucket(0, "waits of shorter than 2 µs"),
        bucket(1, "waits of 2 µs to 4 µs"),
        bucket(2, "waits of 4 µs to 8 µs"),
        bucket(3, "waits of 8 µs to 16 µs"),
        bucket(4, "waits of 16 µs to 33 µs"),
        bucket(5, "waits of 33 µs to 66 µs"),
        bucket(6, "waits of 66 µs to 131 µs"),
        bucket(7, "waits of 131 µs to 262 µs"),
        bucket(8, "waits of 262 µs to 524 µs"),
        bucket(9, "waits of 524 µs to 1.05 ms"),
        bucket(10, "waits of 1.05 ms to 2.1 ms"),
        bucket(11, "waits of 2.1 ms to 4.19 ms"),
        bucket(12, "waits of 4.19 ms to 8.39 ms"),
        bucket(13, "waits of 8.39 ms to 16.8 ms"),
        bucket(14, "waits of 16.8 ms to 33.6 ms"),
        bucket(15, "waits of 33.6 ms to 67.1 ms"),
        bucket(16, "waits of 67.1 ms to 134 ms"),
        bucket(17, "waits of 134 ms to 268 ms"),
        bucket(18, "waits of 268 ms to 537 ms"),
        bucket(19, "waits of 537 ms to 1.07 s"),
        bucket(20, "waits of 1.07 s to 2.15 s"),
        bucket(21, "waits of 2.15 s to 4.29 s"),
        bucket(22, "waits of 4.29 s to 8.59 s"),
        bucket(23, "waits of 8.59 s to 17.2 s"),
        bucket(24, "waits of 17.2 s to 34.4 s"),
        bucket(25, "waits of 34.4 s to 68.7 s"),
        bucket(26, "waits of 68.7 s to 137 s"),
        bucket(27, "waits of 137 s to 275 s"),
        bucket(28, "waits of 275 s to 550 s"),
        bucket(29, "waits of 550 s to 1.1e+03 s"),
        bucket(30, "waits of 1.1e+03 s to 2.2e+03 s"),
        bucket(31, "waits of 2.2e+03 s or longer"),
    ],
)
.titled("Run-queue waits")
.on(Page::Scheduler)
.grouped(&[&["comm"]])
.from_zero()
.scoped();
const _: () = assert!(BUCKETS == 32, "b0 to b31");

static RUNNING_TABLE: Table = Table::wide(
    "running",
    "how many of the threads were on a CPU and how many waited for one, every 10 ms; where there is no row, none",
    &[
        Column::gauge("at", Unit::Nanoseconds, "start of the 10 ms, since the start of the recording"),
        Column::real("running", Unit::None, "threads on a CPU, on average"),
        Column::real("runnable", Unit::None, "threads that waited for a CPU, on average"),
    ],
)
.of_events()
.scoped();

static LOCK_TABLE: Table = Table::wide(
    "lock",
    "waits for contended locks since the read before, by lock, waiting code and holder",
    &[
        PID,
        COMM,
        Column::label("kind", "pthread mutex, futex, monitor, ReentrantLock, go, rwsem, mutex …"),
        Column::label("address", "of the lock in its process, or in the kernel; of a Java monitor that of its ObjectMonitor; NULL where it is not known"),
        Column::label("name", "the variable at the address; of Java `monitor of CLASS`, or the class of a lock of java.util.concurrent; NULL where it has none"),
        stack("stack", "where the lock was waited for"),
        Column::label("holder", "name of the thread that held it: its owner as the lock says, else who released it")
            .titled("held by"),
        Column::number("holder_tid", "thread id of the holder"),
        stack("holder_stack", "where the holder was when it released the lock"),
        Column::gauge("count", Unit::None, "waits that ended").titled("waits"),
        Column::gauge("time", Unit::Nanoseconds, "time waited").titled("waited"),
        Column::gauge("longest", Unit::Nanoseconds, "the longest wait, from its beginning").folded(model::Fold::Max),
        Column::gauge("waiters", Unit::None, "most threads that waited for it at once; NULL for locks of the kernel")
            .titled("at once")
            .folded(model::Fold::Max),
    ],
)
.of_events()
.scoped()
.titled("Contended locks")
.on(Page::Locks)
.measured(
    &Measure::new("contended", "Lock waits", "time", "time blocked on contended locks, by the stack that waited")
        .of("who waited")
        .labels(&["kind", "address", "holder"])
        .more(&["count", "longest", "waiters"])
        .other("holder_stack", "holder", "who held the lock")
        .locks(Locks { name: "name", kind: "kind", address: "address", only: &[] }),
);

static COLLECTOR_TABLE: Table = Table::wide(
    "threads_collector",
    "what the eBPF programs of the source `threads` did",
    &[
        Column::label("collector", "switches, user stacks, kernel stacks, events, ledgers"),
        Column::counter("events", Unit::None, "how many there were").compared(Compare::Never),
        Column::counter("left_out", Unit::None, "stacks that were not taken because it would have cost too much")
            .compared(Compare::Never),
        Column::counter("lost", Unit::None, "found no room").compared(Compare::Never),
    ],
);

/// What Go says that a goroutine waits for where that is a lock.
pub(super) const GO_LOCKS: &[&str] = &["sync.Mutex.Lock", "sync.RWMutex.Lock", "sync.RWMutex.RLock"];

static GOROUTINE_TABLE: Table = Table::wide(
    "goroutine",
    "goroutines of Go programs that wait, by what for: most do so without a thread. From looks at the program's memory, some dozens a second",
    &[
        PID,
        COMM,
        Column::label("reason", "what they wait for, in Go's words: `sync.Mutex.Lock`, `chan receive`, `IO wait`, `sleep` …"),
        Column::counter("time", Unit::Nanoseconds, "time that they waited, of all together: a second for each goroutine and second").floor(0.1),
    ],
)
.grouped(&[&["comm", "reason"]])
.from_zero()
.scoped();

static GOROUTINE_WAIT_TABLE: Table = Table::wide(
    "goroutine_wait",
    "what goroutines were seen to wait for since the read before, and where",
    &[
        PID,
        COMM,
        Column::label("reason", "as in `goroutine`"),
        stack("stack", "where they wait; NULL where the stack was not looked at"),
        Column::gauge("time", Unit::Nanoseconds, "time waited, of all together").titled("waited"),
        Column::gauge("most", Unit::None, "most of them at once").titled("at once").folded(model::Fold::Max),
    ],
)
.of_events()
.scoped()
.titled("Locks that goroutines wait for")
.on(Page::Locks)
.measured(
    &Measure::new(
        "goroutines",
        "Goroutine waits",
        "time",
        "time that goroutines of Go programs waited, most of them without a thread, by the stack that waited",
    )
    .of("who waited")
    .labels(&["reason"])
    .level("reason")
    .more(&["most"])
    .locks(Locks { name: "", kind: "reason", address: "", only: GO_LOCKS }),
);

static DUMP_TABLE: Table = Table::wide(
    "thread_dump",
    "what each thread was doing when the recording ended; nothing is stopped for it",
    &[
        PID,
        Column::number("tid", "thread id"),
        COMM,
        THREAD,
        Column::label("state", "running, runnable, throttled; else what it was blocked in, a state of thread_time"),
        Column::label("what", "the kernel function that it waited in, or the system call"),
        stack("stack", "where it waited; NULL of a thread that ran (`sample` has those)"),
        Column::label("object", "what it waited for: class of a Java monitor or synchronizer, the lock's variable or address; NULL where that is not known"),
        Column::number("holder_tid", "thread id of who held it; NULL where that is not known"),
        Column::gauge("since", Unit::Nanoseconds, "how long it had been in this state, as far as the recording goes back"),
    ],
)
.of_events()
.scoped();

/// The tables.
pub(super) static TABLES: &[&Table] = &[
    &THREAD_TIME_TABLE,
    &WAIT_TABLE,
    &RUN_QUEUE_TABLE,
    &RUNNING_TABLE,
    &LOCK_TABLE,
    &COLLECTOR_TABLE,
    &GOROUTINE_TABLE,
    &GOROUTINE_WAIT_TABLE,
    &DUMP_TABLE,
];

/// The charts.
pub(super) static CHARTS: &[Chart] = &[
    Chart::new(
        "thread-states",
        Page::Scheduler,
        ChartKind::Stack,
        "Where the time of the threads went",
        "Each thread is in one state at each moment, so the height is the number of threads. `idle` and `sleep` wait for work and cost \
         nothing; growth of `runnable`, `lock`, `disk` and `fault` is time lost.",
        "thread_time",
        &names::<STATES>(0, false),
    ),
    Chart::new(
        "thread-lost",
        Page::Scheduler,
        ChartKind::Stack,
        "Time that threads lost",
        "Threads that wanted to go on and could not, on average: no CPU was free, another held the lock, or memory had to be fetched.",
        "thread_time",
        &names::<6>(0, true),
    ),
    Chart::new(
        "thread-switches",
        Page::Scheduler,
        ChartKind::Line,
        "Context switches of threads",
        "Voluntary ones are waits; involuntary ones mean that the CPU was taken for another thread.",
        "thread_time",
        &["switches_voluntary", "switches_involuntary", "migrations", "wakeups"],
    ),
    Chart::new(
        "goroutines-waiting",
        Page::Scheduler,
        ChartKind::Stack,
        "Goroutines that wait, by what for",
        "Of Go programs. Those that wait for a lock, a channel or a group have no thread: the threads show as idle what the program loses there.",
        "goroutine",
        &["time"],
    )
    .by(&["reason"], 8),
    Chart::new(
        "run-queue-latency",
        Page::Scheduler,
        ChartKind::Stack,
        "Waits for a CPU, by length",
        "How often threads that could run waited so long for a CPU. Waits of milliseconds mean too few CPUs, or a neighbour that does not let go.",
        "run_queue",
        &["b0", "b3", "b5", "b7", "b8", "b9", "b10", "b11", "b12", "b13", "b14", "b15", "b16"],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_states_are_those_of_the_ledger() {
        let header = include_str!("../../bpf/ledger.h");
        let list = header.split_once("enum state {").expect("the states").1.split_once("};").expect("their end").0;
        let names = list.lines().filter_map(|line| line.trim().strip_suffix(','));
        let names: Vec<String> = names.filter(|name| !name.contains(' ')).map(str::to_lowercase).collect();
        let blocked = names.iter().skip_while(|name| *name != "lock").take_while(|name| *name != "undecided");
        assert_eq!(blocked.collect::<Vec<_>>(), WORDS);
        assert!(names.starts_with(&["running", "runnable", "throttled"].map(String::from)), "{names:?}");
    }
}

//! The states of the budget: those of the ledger, with the run queue divided by whom a thread waits for; and sums over a stretch of time.

use model::{Column, StateKind, Unit};
use std::ops::Add;

/// What a part of the time went to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// On a CPU, in its own code.
    User,
    /// On a CPU, in the kernel on its behalf.
    Kernel,
    /// On a CPU by the clock, taken away by interrupts or by the hypervisor.
    Stolen,
    /// Waited for a CPU that another thread of the workload had.
    Crowded,
    /// Waited for a CPU that a program outside the workload had.
    Neighbours,
    /// Waited for a CPU that a recorder had.
    Recorder,
    /// Held back by the quota of its control group.
    Throttled,
    /// Blocked on a contended lock.
    Lock,
    /// Blocked on a disk or a file system.
    Disk,
    /// Blocked on a socket.
    Network,
    /// Blocked on a pipe.
    Pipe,
    /// Blocked in a page fault.
    Fault,
    /// Asked to sleep.
    Sleep,
    /// Waited for work.
    Idle,
    /// Blocked, by what is not known.
    Other,
    /// Not there: fewer threads than the other side had.
    Fewer,
}

/// How many states there are.
pub const STATES: usize = 16;

/// All of them, in the order in which they are shown.
pub const ALL: [State; STATES] = [
    State::User,
    State::Kernel,
    State::Stolen,
    State::Crowded,
    State::Neighbours,
    State::Recorder,
    State::Throttled,
    State::Lock,
    State::Disk,
    State::Network,
    State::Pipe,
    State::Fault,
    State::Sleep,
    State::Idle,
    State::Other,
    State::Fewer,
];

/// The states that are read, with their columns in `thread_time`. All of `runnable` goes to `Crowded` first.
pub(crate) const LEDGER: [(State, &str); 13] = [
    (State::User, "user"),
    (State::Kernel, "kernel"),
    (State::Stolen, "stolen"),
    (State::Crowded, "runnable"),
    (State::Throttled, "throttled"),
    (State::Lock, "lock"),
    (State::Disk, "disk"),
    (State::Network, "network"),
    (State::Pipe, "pipe"),
    (State::Fault, "fault"),
    (State::Sleep, "sleep"),
    (State::Idle, "idle"),
    (State::Other, "other"),
];

/// Blocked states that are part of doing the work.
pub(crate) const WAITS: [State; 7] =
    [State::Lock, State::Disk, State::Network, State::Pipe, State::Fault, State::Sleep, State::Other];

/// What stretches each second on a CPU, without being work.
pub(crate) const STRETCH: [State; 4] = [State::Neighbours, State::Recorder, State::Throttled, State::Stolen];

const fn finer(name: &'static str, title: &'static str, help: &'static str, state: &'static model::State) -> Column {
    Column::counter(name, Unit::Nanoseconds, help).titled(title).state(state)
}

/// The states that the ledger does not tell apart, or not so finely, declared as it declares its own (`sources`); and the state of the ledger that each
/// is a part of.
pub const FINER: [(State, Column, Option<&str>); 4] = [
    (
        State::Crowded,
        finer(
            "runnable",
            "CPU taken by own threads",
            "runnable while other threads of the workload had the CPUs",
            &model::State {
                words: "in run-queue wait behind the workload's own threads",
                kind: StateKind::Stretch,
                color: ["#7d5ba6", "#b79be6"],
            },
        ),
        Some("runnable"),
    ),
    (
        State::Neighbours,
        finer(
            "neighbours",
            "CPU taken by others",
            "runnable while other programs had the CPUs",
            &model::State {
                words: "in run-queue wait behind other programs",
                kind: StateKind::Stretch,
                color: ["#a8438f", "#dd82c9"],
            },
        ),
        Some("runnable"),
    ),
    (
        State::Recorder,
        finer(
            "recorder",
            "CPU taken by the recorder",
            "runnable while the recorder had the CPUs",
            &model::State {
                words: "in run-queue wait behind the recorder",
                kind: StateKind::Stretch,
                color: ["#8a8f96", "#9aa3ad"],
            },
        ),
        Some("runnable"),
    ),
    (
        State::Fewer,
        finer(
            "fewer_threads",
            "Fewer threads",
            "threads that the baseline had, and that were not there",
            &model::State {
                words: "missing: lower concurrency than in the baseline",
                kind: StateKind::Wait,
                color: ["#c9cfd6", "#48515c"],
            },
        ),
        None,
    ),
];

impl State {
    /// Its name, as in JSON, SQL and the report.
    pub fn name(self) -> &'static str {
        match self {
            State::User => "user",
            State::Kernel => "kernel",
            State::Stolen => "stolen",
            State::Crowded => "runnable",
            State::Neighbours => "neighbours",
            State::Recorder => "recorder",
            State::Throttled => "throttled",
            State::Lock => "lock",
            State::Disk => "disk",
            State::Network => "network",
            State::Pipe => "pipe",
            State::Fault => "fault",
            State::Sleep => "sleep",
            State::Idle => "idle",
            State::Other => "other",
            State::Fewer => "fewer_threads",
        }
    }

    /// In a sentence: what threads were doing.
    pub fn words(self) -> &'static str {
        match self {
            State::User => "running user code",
            State::Kernel => "running in the kernel",
            State::Stolen => "interrupted on their CPU (interrupts, steal)",
            State::Throttled => "throttled by the CPU quota of their control group",
            State::Lock => "waiting for locks",
            State::Disk => "waiting for disks or file systems",
            State::Network => "waiting for sockets",
            State::Pipe => "waiting for pipes",
            State::Fault => "waiting in page faults (disk, swap-in, reclaim)",
            State::Sleep => "sleeping",
            State::Idle => "waiting for work",
            State::Other => "blocked for an unknown reason",
            State::Crowded | State::Neighbours | State::Recorder | State::Fewer => {
                let own = FINER.iter().find(|(state, ..)| *state == self);
                own.and_then(|(_, column, _)| column.state).map_or("", |state| state.words)
            }
        }
    }

    /// The state of a name.
    pub fn parse(name: &str) -> Option<State> {
        ALL.into_iter().find(|s| s.name() == name)
    }

    /// Whether a thread is on a CPU in it.
    pub(crate) fn is_on_cpu(self) -> bool {
        matches!(self, State::User | State::Kernel | State::Stolen)
    }
}

/// Sums over a stretch: thread-seconds by state.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    /// Of the threads that do the work.
    pub(crate) time: [f64; STATES],
    /// Of those that keep house.
    pub(crate) housekeeping: [f64; STATES],
    /// Of those that keep house, all of the time of threads like others that do the work: they may do it on the other side.
    pub(crate) resting: f64,
    /// CPU seconds of programs outside the workload, without recorders.
    pub(crate) others: f64,
    /// CPU seconds of recorders.
    pub(crate) recorder: f64,
    /// Among how many threads the CPU time of the run is spread, were it spread evenly (the inverse of the sum of their shares' squares: Simpson,
    /// Measurement of diversity, 1949), for each second; 0 where that is not known.
    pub(crate) spread: f64,
    /// Units of work done.
    pub(crate) work: f64,
    /// How long it was, seconds.
    pub(crate) seconds: f64,
}

impl Add for Sums {
    type Output = Sums;

    fn add(mut self, more: Sums) -> Sums {
        for (sum, value) in self.time.iter_mut().zip(more.time) {
            *sum += value;
        }
        for (sum, value) in self.housekeeping.iter_mut().zip(more.housekeeping) {
            *sum += value;
        }
        self.resting += more.resting;
        self.others += more.others;
        self.recorder += more.recorder;
        self.spread += more.spread;
        self.work += more.work;
        self.seconds += more.seconds;
        self
    }
}

impl Sums {
    /// Thread-seconds in one state.
    pub(crate) fn of(&self, state: State) -> f64 {
        self.time[state as usize]
    }

    /// CPU seconds of the threads that do the work.
    pub(crate) fn cpu(&self) -> f64 {
        self.of(State::User) + self.of(State::Kernel)
    }

    /// Thread-seconds spent on doing the work: on a CPU with all that stretches it, and blocked for something that the work needs.
    pub(crate) fn engaged(&self) -> f64 {
        self.cpu() + STRETCH.iter().chain(&WAITS).map(|s| self.of(*s)).sum::<f64>()
    }

    /// How many CPUs of `cpus` these threads could keep busy: no more than have something to do, nor than share the CPU time; at least one.
    pub(crate) fn parallel(&self, cpus: f64) -> f64 {
        let each = |sum: f64| if self.seconds > 0.0 { sum / self.seconds } else { 0.0 };
        let spread = if self.spread > 0.0 { each(self.spread) } else { f64::INFINITY };
        each(self.engaged() + self.of(State::Crowded)).min(spread).min(cpus).max(1.0)
    }

    /// Elapsed seconds per unit of work.
    pub(crate) fn elapsed(&self) -> f64 {
        if self.work > 0.0 { self.seconds / self.work } else { f64::NAN }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_have_their_names_and_places() {
        for (at, state) in ALL.into_iter().enumerate() {
            assert_eq!((state as usize, State::parse(state.name())), (at, Some(state)));
        }
    }

    /// What the ledger declares of its states is what is said of them here.
    #[test]
    fn states_are_those_that_are_declared() {
        let threads = sources::by_name("threads").expect("a source");
        let declared: Vec<(&Column, &model::State)> = threads.tables.iter().flat_map(|table| table.states()).collect();
        let names: Vec<&str> = declared.iter().map(|(column, _)| column.name).collect();
        assert_eq!(names, LEDGER.map(|(_, name)| name));
        for (column, declared) in declared {
            let state = State::parse(column.name).expect("a state");
            if state != State::Crowded {
                assert_eq!(state.words(), declared.words, "{}", column.name);
            }
            assert_eq!(WAITS.contains(&state), matches!(declared.kind, StateKind::Wait | StateKind::Sleep));
            assert_eq!(state == State::Idle, declared.kind == StateKind::Rest);
            assert_eq!(STRETCH.contains(&state) || state == State::Crowded, declared.kind == StateKind::Stretch);
        }
        for (state, column, _) in FINER {
            assert_eq!(state.name(), column.name);
        }
    }
}

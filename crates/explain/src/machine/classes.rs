//! What the time of a program is spent on, as far as machines are measured by it.

use super::Asked;
use crate::budget::{Budget, STATES, State};
use compare::Side;
use lexicon::Role;
use model::{NULL, Symbols};

/// How a part of the time was come by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// All of it was measured.
    Counted,
    /// By samples.
    Sampled,
    /// By how often something happened, and what it takes on the machine where it ran.
    Estimated,
}

impl Evidence {
    /// The word shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Evidence::Counted => "counted",
            Evidence::Sampled => "sampled",
            Evidence::Estimated => "estimated",
        }
    }
}

/// What time is spent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Computing: the program's own code, but what follows.
    Compute,
    /// Loops that wait for memory.
    Memory,
    /// Reading the clock.
    Clock,
    /// System calls, on a CPU.
    Calls,
    /// Page faults, on a CPU.
    Faults,
    /// Switching between threads.
    Switches,
    /// The rest of the kernel: interrupts and such.
    Kernel,
    /// Waiting for written data to be safe.
    Sync,
    /// Waiting for other transfers of a disk.
    Disk,
    /// Until threads that were woken run.
    Wakes,
    /// Waiting for locks, peers, timers: what no figure of a machine tells of.
    Waits,
}

impl Class {
    /// All of them.
    pub const ALL: [Class; 11] = [
        Class::Compute,
        Class::Memory,
        Class::Clock,
        Class::Calls,
        Class::Faults,
        Class::Switches,
        Class::Kernel,
        Class::Sync,
        Class::Disk,
        Class::Wakes,
        Class::Waits,
    ];

    /// The word in JSON.
    pub fn id(self) -> &'static str {
        match self {
            Class::Compute => "compute",
            Class::Memory => "memory",
            Class::Clock => "clock",
            Class::Calls => "calls",
            Class::Faults => "faults",
            Class::Switches => "switches",
            Class::Kernel => "kernel",
            Class::Sync => "sync",
            Class::Disk => "disk",
            Class::Wakes => "wake-ups",
            Class::Waits => "waits",
        }
    }

    /// The words shown.
    pub fn title(self) -> &'static str {
        match self {
            Class::Compute => "computing",
            Class::Memory => "waiting for memory",
            Class::Clock => "reading the clock",
            Class::Calls => "system calls",
            Class::Faults => "page faults",
            Class::Switches => "switching threads",
            Class::Kernel => "other work of the kernel",
            Class::Sync => "waiting for fsync",
            Class::Disk => "waiting for disks otherwise",
            Class::Wakes => "waking threads",
            Class::Waits => "waiting for locks, peers, timers",
        }
    }

    /// As a part of a sentence: "70 % of its time …".
    pub fn spends(self) -> &'static str {
        match self {
            Class::Compute => "is computing",
            Class::Memory => "waits for such loads",
            Class::Clock => "is reading the clock",
            Class::Calls => "is system calls",
            Class::Faults => "is page faults",
            Class::Switches => "is switching threads",
            Class::Kernel => "is other work of the kernel",
            Class::Sync => "waits for such writes",
            Class::Disk => "waits for disks otherwise",
            Class::Wakes => "passes until woken threads run",
            Class::Waits => "waits for locks, peers and timers",
        }
    }

    /// How its part of the time was come by.
    pub fn evidence(self) -> Evidence {
        match self {
            Class::Sync | Class::Disk | Class::Waits => Evidence::Counted,
            Class::Compute
            | Class::Memory
            | Class::Clock
            | Class::Calls
            | Class::Faults
            | Class::Switches
            | Class::Kernel => Evidence::Sampled,
            Class::Wakes => Evidence::Estimated,
        }
    }

    /// The figures that it goes by: the first that both machines have.
    pub(super) fn figures(self, crowded: bool) -> &'static [&'static str] {
        match self {
            Class::Compute | Class::Kernel if crowded => &["frequency.all", "frequency"],
            Class::Compute | Class::Kernel => &["frequency", "frequency.all"],
            Class::Memory => &["memory.dram"],
            Class::Clock => &["clock"],
            Class::Calls => &["call.read", "call"],
            Class::Faults => &["fault"],
            Class::Switches => &["switch"],
            Class::Sync => &["fsync"],
            Class::Wakes => &["wake.short"],
            Class::Disk | Class::Waits => &[],
        }
    }
}

/// Thread-seconds per unit of work, by class.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Times {
    seconds: [f64; Class::ALL.len()],
    /// More than half of the CPUs are busy with it.
    crowded: bool,
}

/// What is woken, and what that takes, on a side.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Woken {
    /// Waits that ended, per unit of work.
    pub(super) count: f64,
    /// Seconds that waking takes; 0 where that was not measured.
    pub(super) each: f64,
    /// CPUs of the machine.
    pub(super) cpus: f64,
}

impl Times {
    /// Of a side: `memory` seconds per unit its loops wait for memory.
    pub(super) fn of(budget: &Budget, side: Side, memory: f64, woken: Woken) -> Times {
        let mut times = Times::default();
        for (number, cell) in budget.cells.iter().enumerate().filter(|(_, cell)| !cell.aside) {
            let Some(state) = cell.state else { continue };
            let is_flush = cell.roles.has(Role::Flush)
                || ["fsync", "fdatasync", "msync", "sync_file_range"].contains(&cell.request.as_str());
            let class = match state {
                State::User if cell.own_roles.has(Role::Clock) => Class::Clock,
                State::User => Class::Compute,
                State::Kernel => match cell.request.as_str() {
                    "page fault" => Class::Faults,
                    "switch" => Class::Switches,
                    "interrupt" | "" => Class::Kernel,
                    _ => Class::Calls,
                },
                State::Disk if is_flush => Class::Sync,
                State::Disk | State::Fault => Class::Disk,
                State::Lock | State::Network | State::Pipe | State::Sleep | State::Other => Class::Waits,
                // Not of the machine, or no time of its own.
                State::Stolen
                | State::Crowded
                | State::Neighbours
                | State::Recorder
                | State::Throttled
                | State::Idle
                | State::Fewer => continue,
            };
            times.add(class, budget.times(number)[side]);
        }
        times.moved(Class::Compute, Class::Memory, memory);
        times.moved(Class::Waits, Class::Wakes, woken.count * woken.each);
        let busy: f64 = [State::User, State::Kernel].iter().map(|state| budget.threads(*state, side)).sum();
        times.crowded = woken.cpus > 0.0 && busy > woken.cpus / 2.0;
        times
    }

    fn add(&mut self, class: Class, seconds: f64) {
        if let Some(sum) = self.seconds.get_mut(class as usize) {
            *sum += seconds.max(0.0);
        }
    }

    /// Takes some seconds of a class, as many as it has, for another.
    pub(super) fn moved(&mut self, from: Class, to: Class, seconds: f64) {
        let taken = seconds.clamp(0.0, self.of_class(from));
        if taken.is_finite() {
            self.add(to, taken);
            if let Some(sum) = self.seconds.get_mut(from as usize) {
                *sum -= taken;
            }
        }
    }

    pub(super) fn of_class(&self, class: Class) -> f64 {
        self.seconds.get(class as usize).copied().unwrap_or(0.0)
    }

    /// All of them.
    pub(super) fn all(&self) -> f64 {
        self.seconds.iter().sum()
    }

    /// Whether so many CPUs are busy that the frequency is that of all busy.
    pub(super) fn is_crowded(&self) -> bool {
        self.crowded
    }

    #[cfg(test)]
    pub(super) fn of_parts(parts: &[(Class, f64)]) -> Times {
        let mut times = Times::default();
        parts.iter().for_each(|(class, seconds)| times.add(*class, *seconds));
        times
    }
}

/// States of waits that another thread ends.
fn is_woken(state: &str) -> bool {
    STATES.iter().any(|known| {
        known.name() == state
            && matches!(known, State::Lock | State::Pipe | State::Network | State::Idle | State::Other)
    })
}

/// How many waits of the workload's threads ended, per unit of work, and what waking takes on its machine.
pub(super) fn wakes(asked: &Asked<'_>, side: Side) -> Woken {
    let own = asked.budget.names();
    let (mut count, mut units) = (0.0, 0.0);
    let (mut each, mut cpus) = (0.0f64, 0.0f64);
    for ((run, window), _) in asked.runs.iter().zip(asked.windows).zip(asked.side).filter(|(_, of)| **of == side) {
        let mut symbols = Symbols::default();
        let interval = run.recording.manifest().interval;
        let mut rows: Vec<([i64; 3], f64)> = Vec::new();
        run.recording.scan(
            "wait",
            &["comm", "state", "count"],
            Some((window.from, window.to)),
            &mut symbols,
            |batch| {
                let of =
                    |row| (std::array::from_fn(|column| batch.cell(column, row)), batch.part(row, interval, window));
                rows.extend((0..batch.len()).map(of));
            },
        );
        for ([comm, state, number], part) in rows {
            let is_own = symbols.text(comm).is_some_and(|comm| own.contains(comm));
            if is_own && number != NULL && symbols.text(state).is_some_and(is_woken) {
                count += number as f64 * part;
            }
        }
        units += asked.budget.pace(side).rate() * window.seconds();
        let (figures, _) = query::machine::figures(run);
        each = each.max(figures.iter().find(|figure| figure.id == "wake.short").map_or(0.0, |figure| figure.value));
        cpus = cpus.max(run.recording.manifest().cpus as f64);
    }
    let count = if units > 0.0 && f64::is_finite(units) { count / units } else { 0.0 };
    Woken { count, each, cpus }
}

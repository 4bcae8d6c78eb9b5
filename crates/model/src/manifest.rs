//! What a recording says about itself.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What [`Manifest::ended`] says where the recorder was to stop after a time, and ended the command if it still ran.
pub const DURATION_OVER: &str = "duration over";

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Exit {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Exit::Code(code) => write!(f, "exit code {code}"),
            Exit::Signal(signal) => write!(f, "ended by signal {signal}"),
        }
    }
}

/// Resources that the command and its waited-for children used, as `wait4(2)` reports them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// User CPU time, seconds.
    pub user: f64,
    /// Kernel CPU time, seconds.
    pub system: f64,
    /// Largest resident set of one process, bytes.
    pub max_rss: i64,
    /// Faults served without I/O.
    pub minor_faults: i64,
    /// Faults that needed I/O.
    pub major_faults: i64,
    /// Blocks read by file systems (512 bytes).
    pub in_blocks: i64,
    /// Blocks written by file systems (512 bytes).
    pub out_blocks: i64,
    /// Context switches because the process waited.
    pub voluntary_switches: i64,
    /// Context switches because it was preempted.
    pub involuntary_switches: i64,
}

/// The last part of what the command wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    /// Tail of the standard output.
    pub stdout: String,
    /// Tail of the standard error.
    pub stderr: String,
}

/// Work done by the workload, as `--throughput` read it, or as its requests were counted from outside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// What was counted.
    pub unit: String,
    /// How much was done in all.
    pub total: f64,
    /// Progress over time: seconds since the start and the total so far.
    pub progress: Vec<(f64, f64)>,
    /// How it is known, where the workload did not report it, in words that go with the unit: "answered on port 8080".
    #[serde(default)]
    pub how: String,
}

/// A moment that someone named while the recording ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Nanoseconds since the start.
    pub t: i64,
    /// Its name.
    pub text: String,
}

/// A stretch of a recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// Start, nanoseconds.
    pub from: i64,
    /// End, nanoseconds.
    pub to: i64,
    /// Why this stretch: "given", "between marks …", "busy window found: …", "whole recording".
    pub why: String,
}

impl Window {
    /// The part of the stretch from `from` to `to` that lies in the window, 0 to 1: what was counted over the stretch counts for the window by
    /// so much. A moment, `from` equal to `to`, lies in it or does not. This is the one rule by which anything is cut to a window.
    pub fn part(&self, from: i64, to: i64) -> f64 {
        if to <= from {
            return f64::from(u8::from((self.from..=self.to).contains(&to)));
        }
        let inside = to.min(self.to).saturating_sub(from.max(self.from)).max(0);
        inside as f64 / to.saturating_sub(from) as f64
    }

    /// How long it is, seconds.
    pub fn seconds(&self) -> f64 {
        self.to.saturating_sub(self.from).max(0) as f64 / 1e9
    }
}

/// A property of the host, read once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// Group: kernel, cpu, memory, block, network, container, runtime …
    pub category: String,
    /// Name within the group; what it is about comes first: `vda.scheduler`.
    pub name: String,
    /// Its value, in words.
    pub value: String,
}

/// What a recorder took of the machine that it recorded, and what its governor left out for that.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OwnCost {
    /// CPU time of all its threads while it recorded, nanoseconds.
    pub cpu: i64,
    /// How long that was, nanoseconds.
    pub time: i64,
    /// Resident memory at most, bytes; 0 where the system does not say.
    pub memory: i64,
    /// CPU time that its hooks took of the programs that they watch, as far as they know what they cost, nanoseconds.
    pub hooks: i64,
    /// CPUs that it might take; `None` where it had no budget.
    pub budget: Option<f64>,
    /// What was thinned to stay within that, in the order in which it is, and for how long, nanoseconds.
    pub thinned: Vec<(String, i64)>,
}

impl OwnCost {
    /// CPUs taken, on average.
    pub fn cpus(&self) -> f64 {
        self.cpu as f64 / self.time.max(1) as f64
    }

    /// It in words, on a machine with so many CPUs: `0.03 of 2 CPUs, 24 MB; thinned: stacks for 12 s`.
    pub fn words(&self, machine: i64) -> String {
        let mut words = format!("{:.2} of {machine} CPUs", self.cpus());
        if self.memory > 0 {
            words.push_str(&format!(", {:.0} MB", self.memory as f64 / 1e6));
        }
        let thinned: Vec<String> =
            self.thinned.iter().map(|(what, time)| format!("{what} for {:.0} s", *time as f64 / 1e9)).collect();
        if !thinned.is_empty() {
            words.push_str(&format!("; thinned: {}", thinned.join(", ")));
        }
        words
    }
}

/// The words of [`Manifest::scope`].
pub mod whose {
    /// The processes that the recorder started, and their descendants.
    pub const COMMAND: &str = "the command";
    /// Processes and their descendants; their numbers follow, separated by commas.
    pub const PROCESS: &str = "process ";
    /// A control group and those below it; its path follows.
    pub const CGROUP: &str = "control group ";
    /// Every thread of the system.
    pub const EVERYTHING: &str = "everything";
    /// No thread.
    pub const NOBODY: &str = "nobody";
}

/// What the process is called that holds what a recorder has attached to programs.
pub const HOLDER: &str = "twinscope-hold";

/// A process that records, or helps to. It is no part of what is recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnProcess {
    /// Its process id.
    pub pid: i64,
    /// Its name, as the kernel keeps it.
    pub name: String,
}

/// The manifest of a recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of Twinscope that wrote it.
    pub tool: String,
    /// Name of the run: `--label name=…`, or the file's name.
    pub name: String,
    /// Host name.
    pub host: String,
    /// Kernel release.
    pub kernel: String,
    /// Machine, as `uname -m`.
    pub machine: String,
    /// Boot id: two recordings of the same boot can be laid on one clock.
    pub boot_id: String,
    /// Wall-clock time of `t = 0`, Unix nanoseconds.
    pub start_unix: i64,
    /// CLOCK_MONOTONIC at `t = 0`, nanoseconds.
    pub start_monotonic: i64,
    /// Interval asked for, nanoseconds.
    pub interval: i64,
    /// A shorter interval at the start, and until when it held, nanoseconds.
    #[serde(default)]
    pub sprint: Option<(i64, i64)>,
    /// Page size of the host, bytes.
    pub page_size: i64,
    /// CPUs online at the start.
    pub cpus: i64,
    /// Memory of the host, bytes.
    pub memory: i64,
    /// Nanoseconds recorded; `None` while it runs or when it was cut off.
    pub duration: Option<i64>,
    /// The command, when one was started; values that look like secrets are masked.
    pub command: Option<Vec<String>>,
    /// Which threads were traced, in the words of [`whose`]; empty where nobody said.
    #[serde(default)]
    pub scope: String,
    /// Process id of the command.
    pub pid: Option<i64>,
    /// The recorder, its helpers, and other recorders that ran at the time; empty where that was not noted.
    #[serde(default)]
    pub recorders: Vec<OwnProcess>,
    /// How the command ended.
    pub exit: Option<Exit>,
    /// Nanoseconds from start to end of the command.
    pub wall: Option<i64>,
    /// When the command was started, nanoseconds since `t = 0`.
    pub command_start: Option<i64>,
    /// What the command used.
    pub usage: Option<Usage>,
    /// What it last wrote.
    pub output: Option<Output>,
    /// Work done.
    pub work: Option<Work>,
    /// What counts as work, in the words of `--work`; empty where nobody said.
    #[serde(default)]
    pub work_by: String,
    /// Labels that the user gave.
    pub labels: BTreeMap<String, String>,
    /// Ticks that began late, and ticks that were skipped because the one before took too long.
    pub late_ticks: i64,
    /// Ticks skipped.
    pub skipped_ticks: i64,
    /// What the recorder took; `None` where nobody said.
    #[serde(default)]
    pub recorder: Option<OwnCost>,
    /// Why it ended: "command exited", [`DURATION_OVER`], "interrupted", "disk full: …"; `None` while it runs.
    pub ended: Option<String>,
}

/// The label that says of an import what it is from.
pub const IMPORTED_FROM: &str = "imported";

/// What [`Manifest::ended`] says of an import that came to its end.
pub const IMPORTED: &str = "imported";

impl Manifest {
    /// Whether it was made of what another program wrote.
    pub fn is_import(&self) -> bool {
        self.labels.contains_key(IMPORTED_FROM)
    }

    /// Whether a process or a control group was chosen, whose threads were traced.
    pub fn is_chosen(&self) -> bool {
        self.scope.starts_with(whose::PROCESS) || self.scope.starts_with(whose::CGROUP)
    }

    /// Whether some of the system's threads were traced, and not all: those of the command, or those that were chosen.
    pub fn has_scope(&self) -> bool {
        !matches!(self.scope.as_str(), "" | whose::EVERYTHING | whose::NOBODY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_counts_by_the_part_that_lies_in_the_window() {
        let window = Window { from: 100, to: 200, why: String::new() };
        for (from, to, part) in [
            (100, 200, 1.0),
            (150, 160, 1.0),
            (50, 150, 0.5),
            (190, 230, 0.25),
            (0, 400, 0.25),
            (200, 300, 0.0),
            (0, 50, 0.0),
        ] {
            assert_eq!(window.part(from, to), part, "{from} to {to}");
        }
        assert_eq!([99, 100, 200, 201].map(|at| window.part(at, at)), [0.0, 1.0, 1.0, 0.0]);
    }

    #[test]
    fn what_a_recorder_took_in_words() {
        let cost = OwnCost { cpu: 300_000_000, time: 10_000_000_000, memory: 24_300_000, ..OwnCost::default() };
        assert_eq!(cost.words(2), "0.03 of 2 CPUs, 24 MB");
        let thinned = vec![("stacks".to_owned(), 12_000_000_000), ("instructions".to_owned(), 4_000_000_000)];
        let cost = OwnCost { memory: 0, thinned, ..cost };
        assert_eq!(cost.words(2), "0.03 of 2 CPUs; thinned: stacks for 12 s, instructions for 4 s");
        assert_eq!(OwnCost::default().words(4), "0.00 of 4 CPUs");
    }

    #[test]
    fn scopes_are_told_by_their_words() {
        let of = |scope: &str| {
            let manifest = Manifest { scope: scope.into(), ..Manifest::default() };
            (manifest.has_scope(), manifest.is_chosen())
        };
        assert_eq!(of(whose::COMMAND), (true, false));
        assert_eq!(of(&format!("{}4711", whose::PROCESS)), (true, true));
        assert_eq!(of(&format!("{}/system.slice", whose::CGROUP)), (true, true));
        assert_eq!([whose::EVERYTHING, whose::NOBODY, ""].map(of), [(false, false); 3]);
    }
}

//! Default charts: what a source would like to see drawn of its tables. Data only; the report computes and draws.

use serde::{Deserialize, Serialize};

/// The pages of the report's left rail that hold charts, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Page {
    /// The thread ledger: what threads did with their time, and how many ran at once.
    #[serde(rename = "time-budget")]
    TimeBudget,
    /// Requests that servers answered: how many, how long they took, and where their time went.
    Requests,
    /// Per-CPU times and frequency.
    Cpu,
    /// Run queue, switches, pressure.
    Scheduler,
    /// Interrupts, softirqs, IPIs.
    Interrupts,
    /// Memory and paging.
    Memory,
    /// Block devices and file systems.
    Disks,
    /// Interfaces and protocols.
    Network,
    /// Processes and threads.
    Processes,
    /// Control groups.
    Containers,
    /// Stacks on and off the CPU.
    Profiles,
    /// Contended locks.
    Locks,
    /// System calls.
    Calls,
    /// What single instructions of functions cost.
    Instructions,
    /// Cache lines that threads fight over.
    Sharing,
    /// Java virtual machines: pauses, heap, compilers.
    Jvm,
    /// Hardware counters: what instructions cost, and what cycles went into.
    Counters,
    /// Over how much memory the code is spread that programs ran.
    Code,
    /// The machines themselves: what a system call, a load from memory and such take on each.
    Machine,
    /// The recorder itself.
    Recorder,
}

impl Page {
    /// Every page, in order.
    pub const ALL: [Page; 20] = [
        Page::TimeBudget,
        Page::Requests,
        Page::Cpu,
        Page::Scheduler,
        Page::Interrupts,
        Page::Memory,
        Page::Disks,
        Page::Network,
        Page::Processes,
        Page::Containers,
        Page::Profiles,
        Page::Locks,
        Page::Calls,
        Page::Instructions,
        Page::Sharing,
        Page::Jvm,
        Page::Counters,
        Page::Code,
        Page::Machine,
        Page::Recorder,
    ];

    /// The identifier in links.
    pub fn id(self) -> &'static str {
        match self {
            Page::TimeBudget => "time-budget",
            Page::Requests => "requests",
            Page::Cpu => "cpu",
            Page::Scheduler => "scheduler",
            Page::Interrupts => "interrupts",
            Page::Memory => "memory",
            Page::Disks => "disks",
            Page::Network => "network",
            Page::Processes => "processes",
            Page::Containers => "containers",
            Page::Profiles => "profiles",
            Page::Locks => "locks",
            Page::Calls => "calls",
            Page::Instructions => "instructions",
            Page::Sharing => "sharing",
            Page::Counters => "counters",
            Page::Jvm => "jvm",
            Page::Code => "code",
            Page::Machine => "machine",
            Page::Recorder => "recorder",
        }
    }

    /// The title shown.
    pub fn title(self) -> &'static str {
        match self {
            Page::TimeBudget => "Time budget",
            Page::Requests => "Requests",
            Page::Cpu => "CPU",
            Page::Scheduler => "Scheduler",
            Page::Interrupts => "Interrupts",
            Page::Memory => "Memory",
            Page::Disks => "Disks",
            Page::Network => "Network",
            Page::Processes => "Processes",
            Page::Containers => "Containers",
            Page::Profiles => "Profiles",
            Page::Locks => "Locks",
            Page::Calls => "System calls",
            Page::Instructions => "Instructions",
            Page::Sharing => "Sharing",
            Page::Counters => "Counters",
            Page::Jvm => "JVM",
            Page::Code => "Code",
            Page::Machine => "Machine",
            Page::Recorder => "Recorder",
        }
    }
}

/// How a chart is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChartKind {
    /// Lines.
    Line,
    /// Stacked areas: the values add up.
    Stack,
    /// A heat map: one row for each entity.
    Heat,
}

/// A default chart of one table: counters as rates, gauges as they are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chart {
    /// Identifier, unique over all sources.
    pub id: &'static str,
    /// Where it is shown.
    pub page: Page,
    /// What it shows.
    pub title: &'static str,
    /// How to read it: one or two sentences for someone who has not met the metric.
    pub read: &'static str,
    /// How it is drawn.
    pub kind: ChartKind,
    /// The table, by name.
    pub table: &'static str,
    /// Columns, derived metrics or (of a long table) fields, each a line of its own. All of one unit.
    pub columns: &'static [&'static str],
    /// The labels that split it into lines; the other labels are folded away.
    pub by: &'static [&'static str],
    /// Only entities with this label and one of these values; `None` for all.
    pub only: Option<(&'static str, &'static [&'static str])>,
    /// At most so many lines, those with the greatest mean; 0 for no limit.
    pub top: usize,
    /// The natural upper bound of the axis, in base units; 0 for none.
    pub max: f64,
}

impl Chart {
    /// A chart of `columns` of `table`, folded over all entities.
    pub const fn new(
        id: &'static str,
        page: Page,
        kind: ChartKind,
        title: &'static str,
        read: &'static str,
        table: &'static str,
        columns: &'static [&'static str],
    ) -> Self {
        Chart { id, page, title, read, kind, table, columns, by: &[], only: None, top: 0, max: 0.0 }
    }

    /// One line for each combination of these labels, at most `top` of them (0: all).
    pub const fn by(mut self, labels: &'static [&'static str], top: usize) -> Self {
        self.by = labels;
        self.top = top;
        self
    }

    /// Only entities whose `label` has one of `values`.
    pub const fn only(mut self, label: &'static str, values: &'static [&'static str]) -> Self {
        self.only = Some((label, values));
        self
    }

    /// Sets the natural upper bound of the axis.
    pub const fn up_to(mut self, max: f64) -> Self {
        self.max = max;
        self
    }
}

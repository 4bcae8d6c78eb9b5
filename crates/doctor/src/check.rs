//! What a check is and what it finds.

use crate::Context;
pub use host::settings::Write;
use model::Unavailable;
use serde::Serialize;

/// What a check looks at. One file of this crate each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Theme {
    /// Reading the time, and timers.
    Clock,
    /// System calls, faults, switches: what the kernel asks for its services.
    Kernel,
    /// Frequency, idle states, steal, how CPUs hang together.
    Cpu,
    /// Latency, bandwidth, pages, nodes.
    Memory,
    /// Block devices and the folder that was given.
    Disk,
    /// Interfaces, queues, interrupts, the loopback.
    Network,
    /// What programs and users may do.
    Limits,
}

impl Theme {
    /// The word shown to people.
    pub fn as_str(self) -> &'static str {
        match self {
            Theme::Clock => "clock",
            Theme::Kernel => "kernel",
            Theme::Cpu => "cpu",
            Theme::Memory => "memory",
            Theme::Disk => "disk",
            Theme::Network => "network",
            Theme::Limits => "limits",
        }
    }
}

/// How a check comes to its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// It reads files of the kernel: exact, and true of a recorded host too.
    Setting,
    /// It measures on this machine: other programs and the hypervisor take part.
    Measurement,
}

/// One question about the machine.
pub struct Check {
    /// The name that options take.
    pub id: &'static str,
    /// What it looks at.
    pub theme: Theme,
    /// How it comes to its value.
    pub kind: Kind,
    /// What it is about, in a few words.
    pub title: &'static str,
    /// How it is measured, or which files are read.
    pub how: &'static str,
    /// What says so: man page, kernel document, paper.
    pub source: &'static str,
    /// Does it.
    pub run: fn(&Context<'_>) -> Result<Finding, Unavailable>,
}

impl std::fmt::Debug for Check {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Check").field("id", &self.id).finish_non_exhaustive()
    }
}

/// What is to be thought of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It costs much, and should be changed.
    Bad,
    /// It is not what this hardware could do, or it suits some workloads only.
    CouldBeBetter,
    /// It could not be looked at, or not be judged; the reason is given.
    Unknown,
    /// As it should be.
    Good,
    /// It means nothing on this machine.
    NotApplicable,
}

impl Verdict {
    /// The word shown to people.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Bad => "bad",
            Verdict::CouldBeBetter => "could be better",
            Verdict::Unknown => "unknown",
            Verdict::Good => "good",
            Verdict::NotApplicable => "not applicable",
        }
    }
}

/// A value that was measured or read.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Value {
    /// What it is.
    pub name: String,
    /// The number, in `unit`; none for words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// The unit, one that [`model::human`] takes: "s", "B/s", "Hz", "ratio", "" for a number of things.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub unit: &'static str,
    /// The least of the rounds, where there were several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// What nine of ten rounds do not exceed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// The value where it is no number.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// Something to change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The command or setting.
    pub what: String,
    /// What it may cost, or break.
    pub risk: String,
    /// How `--apply` does it; empty where it can't.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<Write>,
}

/// What a check has found.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// What is to be thought of it.
    pub verdict: Verdict,
    /// One sentence: what is so, and what it costs here.
    pub says: String,
    /// What this hardware should do, and why.
    pub expected: String,
    /// The values.
    pub values: Vec<Value>,
    /// What to change.
    pub changes: Vec<Change>,
}

impl Finding {
    /// A finding without values and advice.
    pub fn new(verdict: Verdict, says: impl Into<String>) -> Self {
        Finding { verdict, says: says.into(), expected: String::new(), values: Vec::new(), changes: Vec::new() }
    }

    /// As it should be.
    pub fn good(says: impl Into<String>) -> Self {
        Finding::new(Verdict::Good, says)
    }

    /// What this hardware should do, and why.
    pub fn expected(mut self, text: impl Into<String>) -> Self {
        self.expected = text.into();
        self
    }

    /// A number.
    pub fn number(mut self, name: impl Into<String>, value: f64, unit: &'static str) -> Self {
        self.values.push(Value {
            name: name.into(),
            value: Some(value),
            unit,
            low: None,
            high: None,
            text: String::new(),
        });
        self
    }

    /// The median of rounds, with their least and their ninth decile.
    pub fn spread(mut self, name: impl Into<String>, of: crate::Spread, unit: &'static str) -> Self {
        self.values.push(Value {
            name: name.into(),
            value: Some(of.median),
            unit,
            low: Some(of.low),
            high: Some(of.high),
            text: String::new(),
        });
        self
    }

    /// A word.
    pub fn word(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        self.values.push(Value { name: name.into(), value: None, unit: "", low: None, high: None, text });
        self
    }

    /// Something to change by hand.
    pub fn change(mut self, what: impl Into<String>, risk: impl Into<String>) -> Self {
        self.changes.push(Change { what: what.into(), risk: risk.into(), writes: Vec::new() });
        self
    }

    /// Something to change that `--apply` can do.
    pub fn writes(mut self, writes: Vec<Write>, risk: impl Into<String>) -> Self {
        let what = writes.iter().map(command).collect::<Vec<_>>().join("; ");
        self.changes.push(Change { what, risk: risk.into(), writes });
        self
    }
}

/// The command that does the same as a write.
fn command(write: &Write) -> String {
    match write.path.strip_prefix("/proc/sys/") {
        Some(name) if write.value.contains(' ') => format!("sysctl -w {}='{}'", name.replace('/', "."), write.value),
        Some(name) => format!("sysctl -w {}={}", name.replace('/', "."), write.value),
        None => format!("echo {} > {}", write.value, write.path),
    }
}

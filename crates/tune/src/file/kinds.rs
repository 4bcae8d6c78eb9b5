//! The parts of an experiment's file.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::collections::BTreeMap;
use std::time::Duration;

/// What is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DesignName {
    /// Variants against a baseline.
    #[default]
    Ab,
    /// Steps, each on top of those that were kept.
    Ladder,
    /// Points of one or two parameters.
    Sweep,
    /// The highest rate that meets all limits.
    Search,
    /// Flags on and off.
    Factorial,
}

/// What a ladder is judged by, where it is not the first measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Score {
    /// The highest rate that meets all limits, as a search finds it.
    Rate,
}

/// A share: `"3%"` or 0.03.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Amount(pub f64);

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&format!("{}%", self.0 * 100.0))
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Amount, D::Error> {
        let share = match Scalar::deserialize(from)? {
            Scalar::Text(text) => text
                .strip_suffix('%')
                .and_then(|number| number.trim().parse::<f64>().ok())
                .map(|percent| percent / 100.0),
            Scalar::Whole(_) | Scalar::Bool(_) => None,
            Scalar::Real(share) => Some(share),
        };
        let share = share.filter(|share| *share > 0.0 && *share < 1.0);
        share.map(Amount).ok_or_else(|| D::Error::custom("expected a share such as \"3%\" or 0.03"))
    }
}

/// How long: `"10s"`, `"30m"`, `"1h"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time(pub Duration);

impl Time {
    /// Reads one.
    pub fn parse(text: &str) -> Option<Duration> {
        let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at_checked(digits)?;
        let factor = match unit.trim() {
            "ms" => 1e-3,
            "s" => 1.0,
            "m" | "min" => 60.0,
            "h" => 3600.0,
            _ => return None,
        };
        let seconds = number.parse::<f64>().ok()? * factor;
        (0.001..=3.2e7).contains(&seconds).then(|| Duration::from_secs_f64(seconds))
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0.subsec_nanos() {
            0 => to.serialize_str(&format!("{}s", self.0.as_secs())),
            _ => to.serialize_str(&format!("{}ms", self.0.as_millis())),
        }
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Time, D::Error> {
        let text = String::deserialize(from)?;
        Time::parse(&text)
            .map(Time)
            .ok_or_else(|| D::Error::custom("expected a time such as \"500ms\", \"10s\", \"30m\" or \"1h\""))
    }
}

/// When a session ends at the latest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// No block begins after this time; what is there is judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Time>,
    /// The most blocks of a comparison; of a sweep and a factorial, all of it. 30, and 10 of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<usize>,
    /// Of a ladder: blocks of the whole ladder at its end. As many as its comparisons need, at least 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<usize>,
}

impl Budget {
    pub(super) fn is_empty(&self) -> bool {
        *self == Budget::default()
    }
}

/// A command: a list runs without a shell, a string by sh, with the values of parameters quoted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a command: a list of words, or a string for sh")]
pub enum Commands {
    /// By a shell.
    Shell(String),
    /// The program and its arguments.
    Words(Vec<String>),
}

impl Commands {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        match self {
            Commands::Shell(text) => text.trim().is_empty(),
            Commands::Words(words) => words.is_empty(),
        }
    }
}

impl Default for Commands {
    fn default() -> Self {
        Commands::Words(Vec::new())
    }
}

/// What is run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// The command; none where there is a `[load]`.
    #[serde(default, skip_serializing_if = "Commands::is_empty")]
    pub command: Commands,
    /// Where; the folder of the file where it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dir: Option<String>,
    /// The CPUs that it may use: `"0-1"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<String>,
    /// The most memory of all its processes together: `"2G"`; `"max"` is no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Scalar>,
    /// The most CPU time of all its processes together: `"150%"` is one and a half CPUs; `"max"` is no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<Scalar>,
    /// Run once, before the first trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub once: Option<Commands>,
    /// Run before each trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepare: Option<Commands>,
    /// Run after each trial, however it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cleanup: Option<Commands>,
    /// The running total of the work done, read from the output: the first group of a regular expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput: Option<String>,
    /// What a unit of work is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Work before this time does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<Time>,
    /// A trial that takes longer failed; 10 minutes where it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Time>,
    /// What tells a right answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Check>,
    /// Variables of the environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
}

/// A server that is started before each trial and ended after it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// Its command.
    pub command: Commands,
    /// Where; the folder of the workload where it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dir: Option<String>,
    /// The CPUs that it may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<String>,
    /// The most memory of all its processes together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Scalar>,
    /// The most CPU time of all its processes together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<Scalar>,
    /// When it is ready.
    pub ready: Ready,
    /// How long that may take; a minute where it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Time>,
}

/// When a server is ready: all that is given must be so.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ready {
    /// It answers this address, such as `http://127.0.0.1:8080/`, with a status below 500.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<String>,
    /// Somebody listens on this TCP port of 127.0.0.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<Scalar>,
    /// Its output matches this regular expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regex: Option<String>,
}

/// The built-in client, `twinscope load`, as the workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadSpec {
    /// What is asked.
    pub url: String,
    /// Requests per second, or `max`.
    pub rate: Scalar,
    /// Connections.
    pub connections: Scalar,
    /// How long requests count.
    pub duration: Time,
    /// How long they are made before that; two seconds where it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<Time>,
    /// The CPUs of the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<String>,
    /// Further options of `twinscope load`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
}

/// What tells a right answer; all that is given must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// The standard output matches this regular expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regex: Option<String>,
    /// This command ends with exit code 0; the output is on its standard input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Commands>,
    /// This file …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// … holds what this one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equals: Option<String>,
}

/// Where a measure comes from, where it is none of the output or the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum From {
    /// Work per second after the warm-up.
    Work,
    /// Seconds from start to end of the command.
    Wall,
    /// CPU seconds of it and what it waited for.
    Cpu,
    /// Its largest resident set, bytes.
    Rss,
    /// The most memory that all processes of the command had at a time, bytes.
    Memory,
    /// Seconds for which the command stood still because its quota was used up.
    Throttled,
    /// CPU seconds of the server while it was asked.
    ServerCpu,
    /// The most memory that it had then, bytes.
    ServerRss,
    /// Seconds for which it stood still then because its quota was used up.
    ServerThrottled,
}

impl From {
    /// All of them.
    pub const ALL: [From; 9] = [
        From::Work,
        From::Wall,
        From::Cpu,
        From::Rss,
        From::Memory,
        From::Throttled,
        From::ServerCpu,
        From::ServerRss,
        From::ServerThrottled,
    ];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            From::Work => "work",
            From::Wall => "wall",
            From::Cpu => "cpu",
            From::Rss => "rss",
            From::Memory => "memory",
            From::Throttled => "throttled",
            From::ServerCpu => "server_cpu",
            From::ServerRss => "server_rss",
            From::ServerThrottled => "server_throttled",
        }
    }

    /// Its unit, but for work, and whether more of it is better.
    pub(crate) fn unit(self) -> (&'static str, crate::Better) {
        match self {
            From::Work => ("/s", crate::Better::More),
            From::Rss | From::Memory | From::ServerRss => ("B", crate::Better::Less),
            From::Wall | From::Cpu | From::Throttled | From::ServerCpu | From::ServerThrottled => {
                ("s", crate::Better::Less)
            }
        }
    }
}

/// A measure: exactly one of `from`, `regex`, `json`, `line`, `format`, `metric` and `sql` says where it comes from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasureSpec {
    /// Its name; where it comes from, where it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Of the command itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<From>,
    /// The first group of a regular expression, where it last matches the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regex: Option<String>,
    /// A JSON pointer (RFC 6901) into the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub json: Option<String>,
    /// A line of the output that is one number: counted from 1, or from the end with a minus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<i64>,
    /// The output of a known program; `value` says what of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Of `format`: `rate`, `mean`, `p99`, `errors` …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// A recorded metric by its full name, `cpu.busy`: its mean over the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// A statement over the trial's recording that yields one number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sql: Option<String>,
    /// Of what is read from the output: a file instead of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Which way is up: `more` or `less`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub better: Option<crate::Better>,
    /// Its unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// A condition for its median, such as `"<= 1.5ms"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
}

/// A word, a number, yes or no.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a word, a number, true or false")]
pub enum Scalar {
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Whole(i64),
    /// Another number.
    Real(f64),
    /// A text.
    Text(String),
}

impl std::fmt::Display for Scalar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Scalar::Bool(b) => b.fmt(f),
            Scalar::Whole(n) => n.fmt(f),
            Scalar::Real(x) => x.fmt(f),
            Scalar::Text(text) => text.fmt(f),
        }
    }
}

/// The values of a parameter, the first being the usual one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a list of values, a range such as \"1..64x2\", \"free\", { env = NAME, values = [...] }, or { setting = FILE, values = [...] }"
)]
pub enum Parameter {
    /// Each by hand.
    List(Vec<Scalar>),
    /// `"1..64x2"`, `"10..100+10"`, `"1..8"`; or `"free"`: a TCP port that nobody listens on.
    Range(String),
    /// One fixed value.
    One(Scalar),
    /// A variable of the environment.
    Env(EnvParameter),
    /// A setting of the machine.
    Setting(SettingParameter),
}

/// A parameter that is a variable of the environment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnvParameter {
    /// Its name there.
    pub env: String,
    /// Its values.
    pub values: Vec<Scalar>,
}

/// A parameter that is a setting of the machine: each trial begins with it set, and what was there is put back after it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SettingParameter {
    /// Its file below /proc/sys or /sys, or the affinity of an interrupt.
    pub setting: String,
    /// Its values.
    pub values: Vec<Scalar>,
}

/// A variant of `ab` by hand.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VariantSpec {
    /// What it is called.
    pub name: String,
    /// Its command, where it is another than the workload's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Commands>,
    /// Where that is run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dir: Option<String>,
    /// Values of parameters.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub set: BTreeMap<String, Scalar>,
}

/// A step of a ladder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepSpec {
    /// What it is called.
    pub name: String,
    /// Why it is tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// When it is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep: Option<KeepWord>,
    /// Values of parameters.
    pub set: BTreeMap<String, Scalar>,
}

/// When a step is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum KeepWord {
    /// Where it was found better.
    #[serde(rename = "if better")]
    IfBetter,
    /// Whatever it did.
    #[serde(rename = "always")]
    Always,
}

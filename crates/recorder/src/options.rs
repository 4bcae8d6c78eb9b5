//! The words of the command line that concern recording, shared by `twinscope` and the stand-alone recorder.

use crate::governor::Budget;
use crate::moment::moment;
use crate::then::{Then, then};
use crate::trigger::Trigger;
use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};
use formats::Format;
use host::{Host, Placement};
use model::WorkChoice;
pub use model::duration;
use sources::ReadFrom;
use sources::scope::{Place, Target, began, named};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// A mistake in the words of the command line that only shows when they are acted on: exit code 2.
#[derive(Debug)]
pub struct Usage(pub String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// What is written: a path that does not begin like an option.
pub fn output() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(files::plain_name)
}

/// Takes the name of a result that is one file, or `-` for the standard output.
pub fn result() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(files::result_name)
}

/// Takes the mode of new files.
pub fn mode() -> impl TypedValueParser<Value = u32> {
    clap::builder::StringValueParser::new().try_map(|text| files::parse_mode(&text))
}

fn interval(text: &str) -> Result<Duration, String> {
    let found = duration(text)?;
    if found < Duration::from_millis(10) || found > Duration::from_secs(3600) {
        return Err("expected an interval between 10ms and 1h".into());
    }
    Ok(found)
}

/// Reads a size such as `500MiB`, `1GiB` or a number of bytes.
///
/// # Errors
/// In words, where it is none.
pub fn bytes(text: &str) -> Result<u64, String> {
    const WANTED: &str = "expected a size such as 500MiB or 1GiB";
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim() {
        "" | "B" => 1.0,
        "KiB" => 1024.0,
        "MiB" => 1_048_576.0,
        "GiB" => 1_073_741_824.0,
        "TiB" => 1_099_511_627_776.0,
        _ => return Err(WANTED.into()),
    };
    let number: f64 = number.parse().map_err(|_| WANTED)?;
    Ok((number * factor) as u64)
}

fn every(text: &str) -> Result<(String, Duration), String> {
    let (source, time) = text.split_once('=').ok_or("expected SOURCE=INTERVAL, such as slab=5s")?;
    Ok((source.to_owned(), interval(time)?))
}

fn label(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE, such as release=1.4")?;
    if key.is_empty() {
        return Err("the key is empty".into());
    }
    Ok((key.to_owned(), value.to_owned()))
}

/// How the work done so far is read from the command's output.
#[derive(Clone, Debug)]
pub enum Throughput {
    /// By a pattern of which the first group is the running total.
    Total(regex_lite::Regex),
    /// From the report that a tool prints at its end.
    Report(Format),
}

/// The name of a tool, or the pattern of a running total: without a group nothing says which part of the match is the number.
fn throughput(text: &str) -> Result<Throughput, String> {
    if let Some(format) = Format::parse(text) {
        return Ok(Throughput::Report(format));
    }
    let found = pattern(text)?;
    if found.captures_len() < 2 {
        return Err(format!(
            "put the number in parentheses, such as 'done (\\d+)', or name a tool: {}; --throughput-each counts matches",
            Format::NAMES.join(", ")
        ));
    }
    Ok(Throughput::Total(found))
}

fn pattern(text: &str) -> Result<regex_lite::Regex, String> {
    regex_lite::Regex::new(text).map_err(|e| e.to_string())
}

/// Record this system, and a command if one is given.
#[derive(Args, Clone, Debug)]
pub struct Record {
    /// The recording to write
    #[arg(short, long, value_name = "NAME.twin", value_parser = result())]
    pub output: Option<PathBuf>,

    /// Stop after this time; a command that is still running is terminated
    #[arg(short, long, value_name = "TIME", value_parser = duration)]
    pub duration: Option<Duration>,

    /// Interval between reads, 10ms to 1h; expensive sources keep longer intervals (see --every). Default: 1s; where threads
    /// are traced, 200ms for the first 20s, and all the time with --duration up to 1m
    #[arg(short, long, value_name = "TIME", value_parser = interval)]
    pub interval: Option<Duration>,

    /// Read one source at its own interval; may be given several times
    #[arg(long, value_name = "SOURCE=TIME", value_parser = every)]
    pub every: Vec<(String, Duration)>,

    /// Only these sources (see `twinscope sources`)
    #[arg(long, value_name = "SOURCES", value_delimiter = ',')]
    pub only: Vec<String>,

    /// All but these sources
    #[arg(long, value_name = "SOURCES", value_delimiter = ',', conflicts_with = "only")]
    pub skip: Vec<String>,

    /// Name of the run in reports; default: the file's name
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// A label kept with the recording; may be given several times
    #[arg(long, value_name = "KEY=VALUE", value_parser = label)]
    pub label: Vec<(String, String)>,

    /// Read the work done from the command's output: by the name of the tool that reports it (pgbench, wrk, wrk2, sysbench,
    /// fio, k6, redis-benchmark, jmh, oha, h2load, hey, vegeta, hyperfine, load), or by a regular expression whose first
    /// group is the running total
    #[arg(long, value_name = "TOOL|REGEX", value_parser = throughput)]
    pub throughput: Option<Throughput>,

    /// Add up work from the command's output: each match adds its first group, or 1 without a group
    #[arg(long, value_name = "REGEX", value_parser = pattern, conflicts_with = "throughput")]
    pub throughput_each: Option<regex_lite::Regex>,

    /// Read work from this growing file instead of the command's output
    #[arg(long, value_name = "FILE")]
    pub throughput_file: Option<PathBuf>,

    /// What a unit of work is called. Default: what the tool counts, else operations
    #[arg(long, value_name = "WORD")]
    pub unit: Option<String>,

    /// What counts as work where the workload reports none: requests answered on a port (port:8080), requests made (client,
    /// client:5432), reads of a file, pipe or FIFO that the work comes from (reads:PATH; reads:- for the standard input),
    /// or none. Reads are calls, not lines; where they fill large buffers, MiB are counted. Default: the server port that
    /// others ask most, where the workload serves
    #[arg(long, value_name = "WHAT", conflicts_with_all = ["throughput", "throughput_each"])]
    pub work: Option<WorkChoice>,

    /// Flight recorder: keep only the last stretch of this length
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub keep: Option<Duration>,

    /// Save a snapshot NAME-TIME-TRIGGER.twin when this holds: 'NAME: METRIC{label=value} > NUMBER for TIME', also with <
    /// and `and`; metrics as `compare` names them, and work.rate; or 'NAME: pressure cpu some 150ms in 1s', which the kernel
    /// watches. A label's value may be *: any one. May be given several times; `triggers` lists the metrics and tests them
    #[arg(long, value_name = "TRIGGER", requires = "keep")]
    pub trigger: Vec<Trigger>,

    /// How long after a trigger fired its snapshot is saved
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "30s", requires = "trigger")]
    pub after: Duration,

    /// A trigger does not fire again before this time is over; nor before it once did not hold
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "10m", requires = "trigger")]
    pub cooldown: Duration,

    /// Keep at most so many snapshots of triggers: the oldest are removed
    #[arg(long, value_name = "NUMBER", default_value = "20", requires = "trigger",
          value_parser = clap::value_parser!(u64).range(1..))]
    pub most: u64,

    /// Keep at most so much in snapshots of triggers, the latest in any case
    #[arg(long, value_name = "SIZE", value_parser = bytes, default_value = "1GiB", requires = "trigger")]
    pub most_size: u64,

    /// When a trigger fires, record threads, waits, locks and stacks of everything for so long, beside the flight recorder,
    /// into NAME-TIME-TRIGGER-close-look.twin
    #[arg(long, value_name = "TIME", value_parser = duration, requires = "trigger")]
    pub close_look: Option<Duration>,

    /// Begin at this time: 14:05:30 (UTC, as all times of day here), +30s, 2026-11-26T14:05:30Z, or @ and seconds since 1970.
    /// A time that is past is now
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub at: Option<i64>,

    /// Go on in the background, with messages in NAME.twin.log. Prints the recorder's process id
    #[arg(long)]
    pub detach: bool,

    /// Also let the members of this group put marks into the recording and ask for snapshots, which are written with the
    /// recorder's rights: name one that you trust. Default: only the recorder's own user, and root
    #[arg(long, value_name = "GROUP")]
    pub control_group: Option<String>,

    /// Run this, without a shell, when the recording is complete, and each snapshot that is asked of it; {} is the file. Tried
    /// three times; the file stays in any case. For instance 'aws s3 cp {} s3://bucket/', 'rclone copy {} store:', 'curl -T {} URL'
    #[arg(long, value_name = "COMMAND", value_parser = then)]
    pub then: Option<Then>,

    /// Replace the recording if it exists
    #[arg(short, long)]
    pub force: bool,

    /// If the recording exists, keep it as NAME-TIME.twin, at most so many such files, and finish it where a crash or a power
    /// cut has left it open
    #[arg(long, value_name = "NUMBER", conflicts_with = "force", requires = "output",
          value_parser = clap::value_parser!(u64).range(1..))]
    pub rotate: Option<u64>,

    /// Which threads are traced.
    #[command(flatten)]
    pub whose: Whose,

    /// Sample what the CPUs run, with stacks, at this frequency on each CPU. Default: 99 if threads are traced, else 0
    /// (no samples)
    #[arg(long, value_name = "HZ", num_args = 0..=1, require_equals = true, default_missing_value = "99",
          value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub stacks: Option<u32>,

    /// Sample the registers of busy threads, and their machine code, in a burst every so many seconds; 0: not at all.
    /// Default: 10 where samples are taken
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, require_equals = true, default_missing_value = "10",
          value_parser = clap::value_parser!(u32).range(0..=3600))]
    pub instructions: Option<u32>,

    /// Look closer for cache lines that threads fight over: bursts of a second, after which their words are watched for
    /// some milliseconds (hardware watchpoints; 0.4 s in all, up to a fifth of the time of the threads meanwhile)
    #[arg(long)]
    pub sharing: bool,

    /// Count how often the hottest functions are called, after each burst: with two hardware breakpoints on a thread,
    /// which take up to 2 ms of it a function and look, for at most 20 functions a burst and 8 looks a function
    #[arg(long)]
    pub count_calls: bool,

    /// Look every ten seconds how much memory the command, --pid or --cgroup uses within a second (table data_footprint).
    /// The kernel walks all pages of each process for this, some 0.3 ms a MiB in pages of 4 KiB, with its mappings locked,
    /// and pages look old to it meanwhile; processes with more than 4 GiB are left out
    #[arg(long)]
    pub working_set: bool,

    /// Which groups of hardware counters to count, where there are any: all, names of groups (core, branch, fetch, topdown,
    /// data, tlb, memory, sharing, smt), files of one's own like those in counters/, separated by commas. More groups than
    /// there are counters take turns. Default: core,branch,fetch
    #[arg(long, value_name = "GROUPS", value_delimiter = ',')]
    pub counters: Vec<String>,

    /// Have the JVMs take flight recordings (JFR) as well, which go to NAME.PID.jfr for `twinscope import` and other tools:
    /// by attach, with these settings (profile, or a file). Takes about a second of CPU time and 80 MB of each JVM; what
    /// it took is said. A flight recording that runs already is written instead
    #[arg(long, value_name = "SETTINGS", num_args = 0..=1, require_equals = true, default_missing_value = "default",
          value_parser = jfr_settings)]
    pub jfr: Option<String>,

    /// Exact counts, whatever they cost. Otherwise a collector that would take more than 0.5 % of a CPU (system calls,
    /// page faults, interrupts) counts for part of the time (duty cycle), scales up, and says so
    #[arg(long)]
    pub exact: bool,

    /// What the recorder may take: a part of the machine's CPUs, CPUs, or both, of which the smaller holds. Before it takes
    /// more for long, it thins what it records, in this order: stacks, samples of instructions, threads of programs that
    /// are not the workload; and it says so. none: whatever it takes
    #[arg(long, value_name = "SHARE%,CPUS", default_value = "2%,0.5", value_parser = Budget::read)]
    pub budget: Budget,

    /// Record each thread, not only each process
    #[arg(long)]
    pub threads: bool,

    /// Keep the values of arguments that look like secrets
    #[arg(long)]
    pub unmasked: bool,

    /// Ask the cloud's metadata service for the instance type
    #[arg(long)]
    pub cloud_metadata: bool,

    /// Leave the command on its terminal: its output is neither read nor recorded
    #[arg(long, conflicts_with_all = ["throughput", "throughput_each"])]
    pub tty: bool,

    /// Read a host whose file system is mounted here, as /host in a container
    #[arg(long, value_name = "DIR", default_value = "/")]
    pub root: PathBuf,

    /// Say nothing but errors
    #[arg(short, long)]
    pub quiet: bool,

    /// Files `cgroup.procs` of control groups that the command joins, and not the recorder; trials of experiments have some
    #[arg(long, value_name = "FILE", hide = true)]
    pub join: Vec<PathBuf>,

    /// The CPUs of the command, and not of the recorder
    #[arg(long, value_name = "LIST", hide = true)]
    pub command_cpus: Option<String>,

    /// The command to run and record, with its arguments. Its threads are traced, unless --pid, --cgroup or --all name others;
    /// without any of these only system-wide data is recorded
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

impl Record {
    /// What a unit of work is called, plural.
    pub(crate) fn unit(&self) -> &str {
        let of_tool = match &self.throughput {
            Some(Throughput::Report(format)) => format.counts(),
            _ => "operations",
        };
        self.unit.as_deref().unwrap_or(of_tool)
    }

    /// Whether the options ask by name for this part of a source, "" being the source as a whole: `--only` for sources,
    /// `--stacks` for samples,
    /// `--pid`, `--cgroup` and `--all` for the times of threads.
    pub(crate) fn names(&self, source: &str, item: &str) -> bool {
        match (source, item) {
            ("stacks", "" | "sample") if self.stacks.is_some_and(|hertz| hertz > 0) => true,
            ("instructions", "") if self.instructions.is_some_and(|seconds| seconds > 0) => true,
            ("threads", "" | "thread_time") if self.whose.is_named() => true,
            ("reads", "") if self.reads_from().is_some() => true,
            ("pmu", "") if !self.counters.is_empty() => true,
            ("pmu", item) if self.counters.iter().any(|name| name == item) => true,
            (_, "") => self.only.iter().any(|name| name == source),
            _ => false,
        }
    }

    /// The groups of hardware counters that are asked for; none for those that are customary.
    ///
    /// # Errors
    /// [`Usage`] where there is no such group, or a file cannot be read or is wrong.
    pub(crate) fn groups(&self) -> Result<Vec<counters::Group>, Usage> {
        let mut groups: Vec<counters::Group> = Vec::new();
        for word in &self.counters {
            let known = counters::groups().iter().filter(|group| word == "all" || group.name == *word);
            let before = groups.len();
            groups.extend(known.cloned());
            if groups.len() > before {
                continue;
            }
            let text = files::foreign::text(std::path::Path::new(word)).map_err(|error| {
                let names: Vec<&str> = counters::groups().iter().map(|group| group.name.as_str()).collect();
                let names = names.join(", ");
                Usage(format!("--counters {word}: neither a group (all, {names}) nor a file that can be read: {error}"))
            })?;
            groups.push(counters::read(word, &text).map_err(|why| Usage(format!("--counters {why}")))?);
        }
        Ok(groups)
    }

    /// Where the command runs: its control groups and CPUs.
    ///
    /// # Errors
    /// A group that is not there, or a list that is none.
    pub(crate) fn placement(&self) -> std::io::Result<Placement> {
        let cpus = self.command_cpus.as_deref().map(|list| {
            host::cpu_list(list).ok_or_else(|| std::io::Error::other(format!("--command-cpus {list}: no list of CPUs")))
        });
        Placement::new(&self.join, &cpus.transpose()?.unwrap_or_default())
    }

    /// The path of `--work reads:PATH`.
    pub(crate) fn reads_from(&self) -> Option<&str> {
        match &self.work {
            Some(WorkChoice::Reads(path)) => Some(path),
            _ => None,
        }
    }

    /// Whether `--only` or `--skip` leave a source out. What `--work` needs is not.
    pub(crate) fn leaves_out(&self, source: &str) -> bool {
        let is_needed = source == "reads" && self.reads_from().is_some();
        let is_named = |names: &[String]| names.iter().any(|name| name == source);
        is_named(&self.skip) || !(self.only.is_empty() || is_named(&self.only) || is_needed)
    }

    /// The file of `--work reads:PATH`.
    ///
    /// # Errors
    /// [`Usage`] where it is nobody's standard input.
    pub(crate) fn read_from(&self, target: &Target) -> Result<Option<ReadFrom>, Usage> {
        let Some(name) = self.reads_from() else { return Ok(None) };
        let path = match (name, target) {
            ("-", Target::Trees(pids)) => match pids.as_slice() {
                [pid] => format!("/proc/{pid}/fd/0"),
                _ => return Err(Usage("--work reads:-: whose standard input? Give one --pid".into())),
            },
            // The command has it from this program.
            ("-", _) if !self.command.is_empty() => "/proc/self/fd/0".into(),
            ("-", _) => return Err(Usage("--work reads:-: whose standard input? Give a command or --pid".into())),
            _ => std::path::absolute(name).map_or_else(|_| name.to_owned(), |path| path.to_string_lossy().into_owned()),
        };
        Ok(Some(ReadFrom::new(name, path)))
    }

    /// Which threads are traced: as asked for, else the command's, else none.
    ///
    /// # Errors
    /// [`Usage`] where there is no such process or control group.
    pub(crate) fn target(&self, host: &Host) -> Result<Target, Usage> {
        self.whose.target(host, if self.command.is_empty() { Target::Nobody } else { Target::Children })
    }
}

/// Say what triggers can ask for, or when they would have fired.
#[derive(Args, Clone, Debug)]
pub struct Triggers {
    /// Say when the triggers would have fired in this recording
    #[arg(long, value_name = "NAME.twin")]
    pub test: Option<PathBuf>,

    /// A trigger, as for `record`; may be given several times
    #[arg(long, value_name = "TRIGGER")]
    pub trigger: Vec<Trigger>,

    /// A trigger does not fire again before this time is over
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "10m")]
    pub cooldown: Duration,
}

/// Which threads are traced.
#[derive(Args, Clone, Debug, Default)]
pub struct Whose {
    /// The threads of this process and its descendants (states, waits, locks, system calls, stacks): its number, or the name of
    /// a program that runs once. May be given several times
    #[arg(short, long, value_name = "PID|NAME", group = "target", value_delimiter = ',')]
    pub pid: Vec<String>,

    /// The threads of a control group and its children, such as /sys/fs/cgroup/system.slice/nginx.service
    #[arg(long, value_name = "PATH", group = "target")]
    pub cgroup: Option<PathBuf>,

    /// All threads of the system
    #[arg(long, group = "target")]
    pub all: bool,
}

/// Programs of one name that are listed in an error.
const MOST_LISTED: usize = 8;

/// The number of the process that `word` names: a number, or the name of a program that runs once.
///
/// # Errors
/// [`Usage`] where there is no such process, it has ended, or several have the name.
pub fn process(host: &Host, word: &str) -> Result<u32, Usage> {
    let Ok(pid) = word.parse::<u32>() else { return by_name(host, word) };
    if !host.exists(&format!("/proc/{pid}/stat")) {
        return Err(Usage(format!("{pid}: there is no such process")));
    }
    if began(host, pid).is_none() {
        return Err(Usage(format!("{pid}: has ended; its parent has not yet waited for it (a zombie)")));
    }
    // A number of one thread would be in no process's tree.
    let first = host.read_text(&format!("/proc/{pid}/status")).unwrap_or_default();
    let first = first.lines().find_map(|line| line.strip_prefix("Tgid:")?.trim().parse::<u32>().ok());
    match first {
        Some(first) if first != pid => Err(Usage(format!("{pid}: is a thread of process {first}; name the process"))),
        _ => Ok(pid),
    }
}

fn by_name(host: &Host, name: &str) -> Result<u32, Usage> {
    let found = named(host, name);
    match found.as_slice() {
        [] => Err(Usage(format!("{name}: no process has this name"))),
        [one] => Ok(one.pid),
        several => {
            let line = |process: &sources::scope::Named| {
                // A command line can be long, and hold anything.
                let command: String = model::clean(&process.command).chars().take(80).collect();
                format!("\n  {} {command}", process.pid)
            };
            let lines: String = several.iter().take(MOST_LISTED).map(line).collect();
            let more = match several.len().saturating_sub(MOST_LISTED) {
                0 => String::new(),
                more => format!("\n  and {more} more"),
            };
            let numbers: Vec<String> = several.iter().map(|process| process.pid.to_string()).collect();
            let all = numbers.join(",");
            Err(Usage(format!(
                "{name}: {} programs have this name; give a number, or --pid {all} for all of them:{lines}{more}",
                several.len()
            )))
        }
    }
}

impl Whose {
    /// Whether threads were asked for by name.
    pub(crate) fn is_named(&self) -> bool {
        !self.pid.is_empty() || self.cgroup.is_some() || self.all
    }

    /// What was asked for, else `otherwise`.
    ///
    /// # Errors
    /// [`Usage`] where there is no such process or control group.
    pub(crate) fn target(&self, host: &Host, otherwise: Target) -> Result<Target, Usage> {
        if !self.pid.is_empty() {
            let mut pids = self
                .pid
                .iter()
                .map(|word| process(host, word).map_err(|Usage(why)| Usage(format!("--pid {why}"))))
                .collect::<Result<Vec<u32>, Usage>>()?;
            pids.sort_unstable();
            pids.dedup();
            return Ok(Target::Trees(pids));
        }
        if let Some(path) = &self.cgroup {
            let place = Place::find(host, path).map_err(|why| Usage(format!("--cgroup: {why}")))?;
            return Ok(Target::Cgroup(place.folder));
        }
        Ok(if self.all { Target::Everything } else { otherwise })
    }
}

/// Put a mark into a running recording.
#[derive(Args, Clone, Debug)]
pub struct Mark {
    /// The mark's text
    #[arg(required = true, value_name = "TEXT")]
    pub text: Vec<String>,

    /// The recorder's process id, where several are running
    #[arg(long, value_name = "PID")]
    pub pid: Option<u32>,

    /// The recorder of this recording, where several are running
    #[arg(long, value_name = "NAME.twin", conflicts_with = "pid")]
    pub of: Option<PathBuf>,
}

/// Save what a running recorder holds to a file; it goes on recording.
#[derive(Args, Clone, Debug)]
pub struct Snapshot {
    /// The file to write
    #[arg(short, long, value_name = "NAME.twin", default_value = "snapshot.twin", value_parser = output())]
    pub output: PathBuf,

    /// The recorder's process id, where several are running
    #[arg(long, value_name = "PID")]
    pub pid: Option<u32>,

    /// The recorder of this recording, where several are running
    #[arg(long, value_name = "NAME.twin", conflicts_with = "pid")]
    pub of: Option<PathBuf>,
}

/// Show what can be read here, what can't, and why.
#[derive(Args, Clone, Debug)]
pub struct SourcesArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,

    /// Read a host whose file system is mounted here, as /host in a container
    #[arg(long, value_name = "DIR", default_value = "/")]
    pub root: PathBuf,
}

/// Settings of JFR, as they can stand in a command to a JVM.
fn jfr_settings(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    if text.is_empty() || !text.chars().all(is_plain) {
        return Err("the name of JFR's settings, or a file, of letters, digits and /._-+".into());
    }
    Ok(text.to_owned())
}

#[cfg(test)]
pub(crate) mod testing {
    use super::Record;
    use clap::Parser;

    #[derive(Parser)]
    struct Words {
        #[command(flatten)]
        record: Record,
    }

    /// The options that these words give.
    pub(crate) fn record(words: &[&str]) -> Result<Record, clap::Error> {
        Words::try_parse_from(std::iter::once(&"record").chain(words)).map(|words| words.record)
    }
}

#[cfg(test)]
mod tests {
    use super::testing::record;
    use super::*;

    #[test]
    fn a_total_needs_a_group() {
        assert!(matches!(throughput(r"done (\d+)"), Ok(Throughput::Total(_))));
        assert!(matches!(throughput("pgbench"), Ok(Throughput::Report(Format::Pgbench))));
        assert!(matches!(throughput("(pgbench)"), Ok(Throughput::Total(_))), "a pattern of one's own");
        let why = throughput(r"done \d+").unwrap_err();
        assert!(why.contains("parentheses") && why.contains("pgbench, sysbench"), "{why}");
        let unit = |words: &[&str]| record(words).unwrap().unit().to_owned();
        assert_eq!(unit(&["--throughput=pgbench"]), "transactions");
        assert_eq!(unit(&["--throughput=pgbench", "--unit=orders"]), "orders");
        assert_eq!(unit(&["--throughput=(a)"]), "operations");
        assert!(pattern("^ok").is_ok());
    }

    #[test]
    fn what_is_asked_for_by_name() {
        let named = |words: &[&str]| {
            let record = record(words).unwrap();
            let items =
                [("stacks", "sample"), ("threads", "thread_time"), ("cpu", ""), ("cpu", "cpu"), ("threads", "lock")];
            items.map(|(source, item)| record.names(source, item))
        };
        assert_eq!(named(&["--", "true"]), [false; 5], "what is had by default is not asked for");
        assert_eq!(named(&["--stacks"]), [true, false, false, false, false]);
        assert_eq!(named(&["--stacks=0", "--only=cpu"]), [false, false, true, false, false]);
        for target in [["--pid=1"], ["--cgroup=x"], ["--all"]] {
            assert_eq!(named(&target), [false, true, false, false, false]);
        }
    }

    #[test]
    fn what_work_is_read_from() {
        let from = |words: &[&str]| {
            let record = record(words).unwrap();
            let pids: Vec<u32> = record.whose.pid.iter().map(|pid| pid.parse().unwrap()).collect();
            let target = if pids.is_empty() { Target::Everything } else { Target::Trees(pids) };
            record.read_from(&target).map(|from| from.map(|from| format!("{from:?}")))
        };
        assert!(matches!(from(&["--", "true"]), Ok(None)));
        assert!(from(&["--work=reads:/a:b", "--", "true"]).unwrap().unwrap().contains("path: \"/a:b\""));
        assert!(from(&["--work=reads:q"]).unwrap().unwrap().contains("/q\""), "from the present folder");
        assert!(from(&["--work=reads:-", "--", "true"]).unwrap().unwrap().contains("/proc/self/fd/0"));
        assert!(from(&["--work=reads:-", "--pid=7"]).unwrap().unwrap().contains("/proc/7/fd/0"));
        assert!(from(&["--work=reads:-", "-p7,8"]).unwrap_err().0.contains("whose standard input"));
        assert!(from(&["--work=reads:-", "--all"]).unwrap_err().0.contains("whose standard input"));
        assert!(record(&["--work=reads:"]).unwrap_err().to_string().contains("name the file"));
        let named = record(&["--work=reads:q", "--only=cpu"]).unwrap();
        assert!(named.names("reads", "") && !named.leaves_out("reads") && named.leaves_out("turns"));
        assert!(record(&["--work=reads:q", "--skip=reads"]).unwrap().leaves_out("reads"));
        assert!(record(&["--only=cpu"]).unwrap().leaves_out("reads"));
    }

    #[test]
    fn targets() {
        let host = Host::live();
        let target = |words: &[&str]| {
            let record = record(words).unwrap();
            record.target(&host).map_err(|e| e.0)
        };
        assert_eq!(target(&[]), Ok(Target::Nobody));
        assert_eq!(target(&["--all"]), Ok(Target::Everything));
        assert_eq!(target(&["--", "true"]), Ok(Target::Children));
        assert_eq!(target(&["--all", "--", "true"]), Ok(Target::Everything));
        let own = std::process::id();
        assert_eq!(target(&["--pid", &own.to_string()]), Ok(Target::Trees(vec![own])));
        let mut child = std::process::Command::new("sleep").arg("100").spawn().unwrap();
        let both = [own, child.id()];
        for words in [vec![format!("-p{},{}", both[1], own)], both.iter().map(|pid| format!("--pid={pid}")).collect()] {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let mut sorted = both.to_vec();
            sorted.sort_unstable();
            assert_eq!(target(&words), Ok(Target::Trees(sorted)));
        }
        child.kill().unwrap();
        // Not waited for, it is a zombie.
        let is_zombie = || std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap().contains(") Z ");
        while !is_zombie() {
            std::thread::yield_now();
        }
        assert!(target(&["--pid", &child.id().to_string()]).unwrap_err().contains("has ended"));
        child.wait().unwrap();
        assert_eq!(
            target(&["--pid", "no such program"]).unwrap_err(),
            "--pid no such program: no process has this name"
        );
        assert!(target(&["--pid", "4194304"]).unwrap_err().contains("no such process"));
        assert!(target(&["--cgroup", "/no/such/group"]).unwrap_err().starts_with("--cgroup: "));
        assert!(record(&["--pid", "1", "--all"]).is_err(), "one target");
        // The number of a thread that is not the first.
        let (send, receive) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            // SAFETY: plain system call.
            send.send(unsafe { libc::gettid() }).unwrap();
            ended.recv().ok();
        });
        let thread_id = receive.recv().unwrap();
        assert!(target(&["--pid", &thread_id.to_string()]).unwrap_err().contains(&format!("process {own}")));
        drop(end);
        thread.join().unwrap();
    }

    #[test]
    fn intervals() {
        assert!(interval("1ms").is_err());
        assert_eq!(every("slab=5s").unwrap().0, "slab");
        assert!(every("slab").is_err() && label("=x").is_err());
    }
}

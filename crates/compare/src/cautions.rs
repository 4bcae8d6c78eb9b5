//! What stands against a comparison: runs that something else disturbed, and a change that one run a side cannot tell from chance.

use crate::means;
use crate::own;
use crate::throughput::Pace;
use model::{Exit, Status, Window};
use query::{Run, human};
use std::collections::BTreeSet;

/// The share of the CPU time from which on the hypervisor's part is said.
const STOLEN: f64 = 0.02;

/// The share of the CPUs from which on what other programs used is said.
const OTHERS: f64 = 0.1;

/// The share of the CPUs from which on what the recorder used is said.
const RECORDER: f64 = 0.02;

/// A change of the pace up to this factor happens between runs of the same program.
const BY_CHANCE: f64 = 2.0;

/// Compiling takes so much of a CPU in the second half of a run that has not warmed up, and so many times as much as in one that has.
const COMPILES: f64 = 0.1;
const COMPILES_MORE: f64 = 3.0;

/// What a caution is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CautionKind {
    /// The command failed, or a signal ended it.
    Failed,
    /// The runs are of a fixed length, so that the requests that they made or answered are the work.
    FixedLength,
    /// The pace of the workload differs, and each side was recorded once.
    Once,
    /// The hypervisor took CPU time.
    Steal,
    /// Other programs used the CPUs.
    Others,
    /// The recorder used the CPUs.
    Recorder,
    /// Threads of servers that the command asks count as its own.
    Servers,
    /// The CPUs ran at another frequency.
    Frequency,
    /// The kernel's ticks divide CPU time otherwise than the samples do.
    Ticks,
    /// The ledger of a run was only sampled.
    Ledger,
    /// A JVM was still compiling in one run, and not in another.
    WarmUp,
}

impl CautionKind {
    /// Whether it is said before the answer, which it puts in question: a command that failed did not do its work.
    pub fn is_said_first(self) -> bool {
        self == CautionKind::Failed
    }

    /// Its name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            CautionKind::Failed => "failed",
            CautionKind::FixedLength => "fixed-length",
            CautionKind::Once => "once",
            CautionKind::Steal => "steal",
            CautionKind::Others => "others",
            CautionKind::Recorder => "recorder",
            CautionKind::Servers => "servers",
            CautionKind::Frequency => "frequency",
            CautionKind::Ticks => "ticks",
            CautionKind::Ledger => "ledger",
            CautionKind::WarmUp => "warm-up",
        }
    }
}

/// A reason not to believe a comparison too readily.
#[derive(Clone, Debug, PartialEq)]
pub struct Caution {
    /// What it is about.
    pub kind: CautionKind,
    /// Index of the run that it is about; `None` for all of them.
    pub run: Option<usize>,
    /// In a sentence.
    pub text: String,
}

/// That the kernel's division of CPU time of a side, named `of`, was not believed: its own part by its ticks, and by the samples.
pub fn divided_by_samples(of: &str, run: Option<usize>, [ticked, sampled]: [f64; 2]) -> Caution {
    let text = format!(
        "The kernel accounts {:.0} % of the CPU time of {of} as system time, the samples say {:.0} %: timer ticks miss short bursts and work that is in step with them. The samples were used; user and system time in tables and charts are wrong there.",
        ticked * 100.0,
        sampled * 100.0
    );
    Caution { kind: CautionKind::Ticks, run, text }
}

/// Which runs have a ledger that was sampled from `/proc`, for want of eBPF: what threads waited for is not told apart there.
pub fn sampled_ledgers(runs: &[Run]) -> Vec<Caution> {
    let of = |run: &Run| {
        let coverage = run.recording.coverage();
        let found = coverage.into_iter().find(|c| c.source == "threads" && c.item == "thread_time")?;
        let missing = matches!(found.status, Status::Absent | Status::Denied | Status::NotApplicable);
        let remedy = found.remedy.map(|remedy| format!(" To change that: {remedy}.")).unwrap_or_default();
        missing.then(|| {
            format!(
                "The thread ledger of {} was sampled from /proc, so most waits are in state `other`: {}.{remedy}",
                run.name, found.why
            )
        })
    };
    let caution = |(index, text)| Caution { kind: CautionKind::Ledger, run: Some(index), text };
    recordings(runs).filter_map(|(index, run)| Some((index, of(run)?))).map(caution).collect()
}

/// Which servers count as part of the workload, for the command, or what it started, asks them.
pub fn servers(runs: &[Run]) -> Option<Caution> {
    let asked = own::asked(runs);
    let of = |(server, client): (&String, &String)| format!("{server} answers {client}");
    let said: Vec<String> = asked.iter().map(of).collect();
    let text = match said.len() {
        0 => return None,
        1 => format!("{}, so its threads count as part of the workload.", said.concat()),
        _ => format!("{}, so their threads count as part of the workload.", said.join(", ")),
    };
    Some(Caution { kind: CautionKind::Servers, run: None, text })
}

/// That the runs took as long as each other, so that the requests that they made or answered are the work, and how many.
pub fn fixed_length(runs: &[Run]) -> Option<Caution> {
    let work = |run: &Run| run.recording.manifest().work.clone().filter(query::work::is_of_fixed_length);
    let works: Vec<_> = runs.iter().map(work).collect::<Option<_>>()?;
    let (first, wall) = (works.first()?, runs.first()?.recording.manifest().wall?);
    let done = first.how.split([' ', ',']).next().unwrap_or_default();
    let counts: Vec<String> = runs
        .iter()
        .zip(&works)
        .map(|(run, work)| format!("{} by {}", query::work::requests(&run.recording, work.total, ""), run.name))
        .collect();
    let text = format!(
        "{} ran for {:.1} s: the work is the {} {done}: {}.",
        if runs.len() == 2 { "Both" } else { "All" },
        wall as f64 / 1e9,
        first.unit,
        counts.join(", ")
    );
    Some(Caution { kind: CautionKind::FixedLength, run: None, text })
}

/// Which commands failed: what such a one did may be other work than that of one that did not. A command that was asked to end did not
/// fail: by the recorder when its time was over, by Ctrl-C or a plain `kill` (what the shell makes of those), or by `timeout` (124).
pub fn failed(runs: &[Run]) -> Vec<Caution> {
    // signal(7): the numbers of these two are the same on all architectures.
    const SIGINT: i32 = 2;
    const SIGTERM: i32 = 15;
    const ASKED: [i32; 3] = [124, 128 + SIGINT, 128 + SIGTERM];
    let of = |run: &Run| {
        let manifest = run.recording.manifest();
        match manifest.exit? {
            _ if manifest.ended.as_deref() == Some(model::DURATION_OVER) => None,
            Exit::Code(code) if code == 0 || ASKED.contains(&code) => None,
            Exit::Signal(SIGINT | SIGTERM) => None,
            Exit::Code(code) => Some(format!("The command of {} failed: it ended with exit code {code}.", run.name)),
            Exit::Signal(signal) => Some(format!("The command of {} was killed by signal {signal}.", run.name)),
        }
    };
    let caution = |(index, text)| Caution { kind: CautionKind::Failed, run: Some(index), text };
    recordings(runs).filter_map(|(index, run)| Some((index, of(run)?))).map(caution).collect()
}

/// In which runs recorders used much of the CPUs: the recorded program may have lacked that.
pub fn recorders(runs: &[Run], windows: &[Window]) -> Vec<Caution> {
    let of = |(index, run): (usize, &Run)| {
        let used = means::recorder_cpus(run, windows.get(index)?);
        let cpus = run.recording.manifest().cpus.max(1) as f64;
        (used > RECORDER * cpus).then(|| {
            let text = format!(
                "The recorder used {:.1} % of the CPUs while {} ran ({used:.2} of {cpus:.0} CPUs), which disturbs what it measures. Record fewer threads (--pid), less often (--interval), or fewer sources (--skip).",
                used / cpus * 100.0,
                run.name
            );
            Caution { kind: CautionKind::Recorder, run: Some(index), text }
        })
    };
    runs.iter().enumerate().filter_map(of).collect()
}

/// The runs, but of several stretches of one recording the first only: what is said of a recording as a whole is said once.
fn recordings(runs: &[Run]) -> impl Iterator<Item = (usize, &Run)> {
    let is_first = |at: usize, run: &Run| !runs.iter().take(at).any(|other| is_same(other, run));
    runs.iter().enumerate().filter(move |(at, run)| is_first(*at, run))
}

/// Whether two runs are stretches of one recording.
fn is_same(a: &Run, b: &Run) -> bool {
    a.stretch.is_some() && a.recording.path() == b.recording.path()
}

/// What disturbed a run.
fn disturbances(run: &Run, index: usize, window: &Window, names: &BTreeSet<String>) -> Vec<Caution> {
    let mut found = Vec::new();
    let cpus = run.recording.manifest().cpus.max(1) as f64;
    let one = |table: &str, name: &str| means::means(run, table, name, &[], window).first().map(|m| m.1);
    if let Some(stolen) = one("cpu", "steal").map(|s| s / cpus).filter(|s| *s >= STOLEN) {
        let text = format!("Steal: the hypervisor took {:.0} % of the CPU time from {}.", stolen * 100.0, run.name);
        found.push(Caution { kind: CautionKind::Steal, run: Some(index), text });
    }
    if run.recording.manifest().command.is_none() {
        return found;
    }
    let mut others = means::means(run, "process", "cpu_time", &["comm"], window);
    others.extend(means::means(run, "process_exit", "cpu_time", &["comm"], window));
    others.retain(|(labels, _)| !labels.iter().any(|l| names.contains(l)));
    let used: f64 = others.iter().map(|o| o.1).sum();
    if used >= OTHERS * cpus {
        let most = others.iter().max_by(|a, b| a.1.total_cmp(&b.1)).and_then(|o| o.0.first());
        let most = most.map_or(String::new(), |name| format!(", first of all {name}"));
        let share = used / cpus * 100.0;
        let text = format!("Other programs used {share:.0} % of the CPUs while {} ran{most}.", run.name);
        found.push(Caution { kind: CautionKind::Others, run: Some(index), text });
    }
    found
}

/// The pace of a run: units per second, or runs per second where it reports no work.
fn pace(run: &Run, window: &Window) -> Option<f64> {
    let found = Pace::of(run, window).or_else(|| Pace::of_whole(run, window))?;
    Some(found.rate()).filter(|rate| *rate > 0.0)
}

/// That JVMs of one run were still compiling when those of another had done: the commonest way to compare two runs of Java wrongly.
fn warm_up(runs: &[Run], windows: &[Window], sides: [&[usize]; 2]) -> Option<Caution> {
    let compiling = |index: usize| {
        let (run, window) = (runs.get(index)?, windows.get(index)?);
        let second = Window { from: window.from + (window.to - window.from) / 2, ..window.clone() };
        means::means(run, "jvm_compiler", "time", &[], &second).first().map(|mean| (run, mean.1))
    };
    let mut all: Vec<(&Run, f64)> = sides.into_iter().flatten().filter_map(|&index| compiling(index)).collect();
    all.sort_by(|a, b| a.1.total_cmp(&b.1));
    let ((warm, least), (cold, most)) = (all.first()?, all.last()?);
    if *most < COMPILES || *most < COMPILES_MORE * least.max(0.0) {
        return None;
    }
    let text = format!(
        "The JVM of {} was still compiling: {:.0} % of a CPU in the second half of the run, {:.0} % in {}. What differs may be warm-up: let both run longer, and compare windows late in them (--from).",
        cold.name,
        most * 100.0,
        least * 100.0,
        warm.name
    );
    Some(Caution { kind: CautionKind::WarmUp, run: None, text })
}

/// All that stands against comparing the two sides, each a list of runs.
pub fn of(
    runs: &[Run],
    windows: &[Window],
    names: &BTreeSet<String>,
    sides: [&[usize]; 2],
    least_change: f64,
) -> Vec<Caution> {
    let mut found = Vec::new();
    let mut frequencies = Vec::new();
    for &index in sides.into_iter().flatten() {
        let (Some(run), Some(window)) = (runs.get(index), windows.get(index)) else { continue };
        found.extend(disturbances(run, index, window, names));
        let told = means::means(run, "cpufreq", "frequency", &[], window);
        // In most virtual machines no driver tells, and it is measured.
        let mean = if told.is_empty() { means::means(run, "cpu_speed", "frequency", &[], window) } else { told };
        frequencies.extend(mean.first().map(|f| f.1).filter(|f| *f > 0.0));
    }
    let (low, high) = frequencies.iter().fold((f64::INFINITY, 0.0f64), |(l, h), f| (l.min(*f), h.max(*f)));
    if frequencies.len() > 1 && high > low * (1.0 + least_change) {
        let text = format!("The CPUs ran at {} in one run and at {} in another.", human(low, "Hz"), human(high, "Hz"));
        found.push(Caution { kind: CautionKind::Frequency, run: None, text });
    }
    found.extend(warm_up(runs, windows, sides));
    let ([a], [b]) = (sides[0], sides[1]) else { return found };
    let speed = |i: usize| pace(runs.get(i)?, windows.get(i)?);
    if let (Some(one), Some(other)) = (speed(*a), speed(*b)) {
        let ratio = one.max(other) / one.min(other);
        if ratio > 1.0 + least_change && ratio < BY_CHANCE {
            let by = (other / one - 1.0).abs() * 100.0;
            let is_one = runs.get(*a).zip(runs.get(*b)).is_some_and(|(a, b)| is_same(a, b));
            let text = if is_one {
                format!(
                    "The throughput of the two stretches differs by {by:.0} %, and each was seen once, which cannot tell chance from \
                     cause: compare other stretches of this recording too."
                )
            } else {
                format!(
                    "The throughput of the two runs differs by {by:.0} %, and each side was recorded once, which cannot tell chance from \
                     cause. Record repeats of each side, five if possible, and compare them all: compare a1 a2 a3 -- b1 b2 b3."
                )
            };
            found.push(Caution { kind: CautionKind::Once, run: None, text });
        }
    }
    found
}

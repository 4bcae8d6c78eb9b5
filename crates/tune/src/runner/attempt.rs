//! One trial as processes: its preparation, server, recorder with the command, check and cleanup.

use super::Tools;
use super::process::{self, Ended, Start};
use super::server;
use crate::experiment::{Experiment, Invocation, words};
use crate::file::{Check, Commands};
use crate::machine::Trial;
use crate::measure::{Remains, Used, VOID, failure, lines};
use crate::place::{Place, Placed, Whose};
use crate::space::{FREE, Set, fill};
use host::Host;
use model::{Exit, Manifest};
use query::stats::rng::Rng;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// What is read in measured trials: /proc and /sys, and none of what the kernel would have to be traced for.
const LIGHT: [&str; 10] =
    ["cpu", "kernel", "pressure", "vmstat", "meminfo", "softirqs", "processes", "disks", "network", "facts"];

/// Exit code of `twinscope load --strict` where it measured itself.
const LOAD_VOID: i32 = 5;

/// Names of variables that a trial's commands find in their environment: its folder, and padding.
const TRIAL_VARIABLE: &str = "TWINSCOPE_TRIAL";
const PAD_VARIABLE: &str = "TWINSCOPE_PAD";

/// The environment is padded by up to so many bytes: where stacks begin depends on it, and programs by up to some per cent on that
/// (Mytkowicz et al., "Producing wrong data without doing anything obviously wrong!", ASPLOS 2009).
const PAD: usize = 4096;

/// A trial that takes longer failed, where the file does not say.
pub(super) const TIMEOUT: Duration = Duration::from_secs(600);

/// Why a trial has no numbers.
pub(super) enum Fault {
    Failed(String),
    Void(String),
    Stopped,
}

/// What a trial measured, in the order of the measures, and what was recorded of it.
type Measured = (Vec<Option<f64>>, Manifest);

/// A trial that ended.
pub(super) struct Ran {
    /// When it began, Unix seconds.
    pub(super) at: f64,
    /// From its preparation to its cleanup, seconds.
    pub(super) seconds: f64,
    pub(super) result: Result<Measured, Fault>,
}

impl Ran {
    /// One that did not begin.
    pub(super) fn without(fault: Fault) -> Ran {
        Ran { at: now(), seconds: 0.0, result: Err(fault) }
    }
}

/// Unix seconds.
fn now() -> f64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64())
}

/// Where a trial runs that is not where the file says, and with whom it begins.
#[derive(Default)]
pub(super) struct On<'a> {
    /// Its CPUs.
    pub(super) cpus: Option<String>,
    pub(super) start: Option<Together<'a>>,
}

/// Where those meet who begin at the same time.
pub(super) struct Meeting {
    /// So many are still to come.
    missing: Mutex<usize>,
    all: Condvar,
}

impl Meeting {
    pub(super) fn of(all: usize) -> Meeting {
        Meeting { missing: Mutex::new(all), all: Condvar::new() }
    }
}

/// One who begins with others. Who gives up before is not waited for.
pub(super) struct Together<'a>(pub(super) &'a Meeting);

impl Together<'_> {
    /// Waits until all are here or have given up.
    fn meet(self) {
        let at = self.0;
        drop(self);
        let missing = at.missing.lock().unwrap_or_else(PoisonError::into_inner);
        drop(at.all.wait_while(missing, |missing| *missing > 0));
    }
}

impl Drop for Together<'_> {
    fn drop(&mut self) {
        let mut missing = self.0.missing.lock().unwrap_or_else(PoisonError::into_inner);
        *missing = missing.saturating_sub(1);
        self.0.all.notify_all();
    }
}

/// What a trial needs; two threads may have it at the same time.
#[derive(Clone, Copy)]
pub(super) struct Attempt<'a> {
    experiment: &'a Experiment,
    twinscope: &'a Path,
    stop: &'a AtomicBool,
    source_of: fn(&str) -> Option<&'static str>,
    place: Option<&'a Place<'a>>,
    seed: u64,
}

impl<'a> Attempt<'a> {
    pub(super) fn new(experiment: &'a Experiment, tools: &'a Tools<'a>, seed: u64) -> Attempt<'a> {
        let Tools { twinscope, stop, source_of, place, .. } = tools;
        Attempt { experiment, twinscope, stop, source_of: *source_of, place: *place, seed }
    }

    /// Runs a trial.
    pub(super) fn run(&self, trial: &Trial, folder: &Path, on: On) -> Ran {
        let at = now();
        let began = Instant::now();
        let result = self.measure(trial, folder, on);
        Ran { at, seconds: began.elapsed().as_secs_f64(), result }
    }

    fn measure(&self, trial: &Trial, folder: &Path, on: On) -> Result<Measured, Fault> {
        let On { cpus, start: together } = on;
        let cpus = cpus.as_deref();
        let experiment = self.experiment;
        let workload = &experiment.file.workload;
        let mut values = experiment.values(trial.variant, &trial.steps, &trial.set);
        for value in values.values_mut().filter(|value| *value == FREE) {
            *value = free_port().map_err(|e| Fault::Void(format!("no free port: {e}")))?.to_string();
        }
        let made = experiment.invocation_of(trial.variant, values).map_err(Fault::Failed)?;
        let mut env = made.env.clone();
        env.insert(TRIAL_VARIABLE.into(), folder.display().to_string());
        let mut rng = Rng::new(self.seed ^ (trial.number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        env.insert(PAD_VARIABLE.into(), "x".repeat(rng.below(PAD + 1)));
        let run = |command: &Option<Commands>, what: &str, input: Option<&Path>, stop: &AtomicBool| {
            let Some(command) = command else { return Ok(()) };
            let log = folder.join(format!("{what}.err"));
            let ended = helper(command, &made, &env, input, &log, stop).map_err(Fault::Failed)?;
            match ended.failure() {
                Some(_) if ended == Ended::Stopped => Err(Fault::Stopped),
                Some(why) => Err(Fault::Failed(format!("{what}: {why}"))),
                None => Ok(()),
            }
        };
        let measured = (|| {
            run(&workload.prepare, "prepare", None, self.stop)?;
            let server = experiment.file.server.as_ref();
            let server = server.map(|server| {
                let placed = self.place(Whose::Server, trial, &made.values, None)?;
                server::start(server, placed, &made, &env, &experiment.base, folder, self.stop)
            });
            let mut server = server.transpose()?;
            let placed = self.place(Whose::Workload, trial, &made.values, cpus)?;
            let recording = folder.join("run.twin");
            let output = folder.join("output");
            let timeout = workload.timeout.map_or(TIMEOUT, |t| t.0);
            let words = self.record(trial, &recording, timeout, &made.command, &placed, server.as_ref());
            let output_and_errors = Some((output.as_path(), folder.join("errors")));
            let start = Start {
                words: &words,
                dir: &made.dir,
                env: &env,
                cpus: &[],
                joins: &[],
                input: None,
                output: output_and_errors.as_ref().map(|(out, err)| (*out, err.as_path())),
            };
            if let Some(together) = together {
                together.meet();
            }
            // The recorder ends the command itself when its time is up; only where it hangs is it ended, too.
            let ended = process::run(&start, timeout + Duration::from_secs(60), self.stop).map_err(Fault::Failed)?;
            if ended == Ended::Stopped {
                return Err(Fault::Stopped);
            }
            let mut used = Used::default();
            if let Some(group) = &placed.group {
                (used.memory, used.throttled) = (group.peak(), group.throttled());
            }
            if let Some(server) = &server {
                server.used(&Host::live(), &mut used);
            }
            // Who could not start the command says so, and leaves no recording.
            let recorded = store::Recording::open(&recording);
            let manifest = recorded
                .map(|r| r.manifest().clone())
                .map_err(|e| Fault::Failed(self.not_recorded(folder, &e.to_string())))?;
            if let Some(why) = placed.killed_for_memory() {
                return Err(Fault::Failed(why));
            }
            if let Some(why) = server.as_mut().and_then(server::Running::failed) {
                return Err(Fault::Failed(why));
            }
            // Who else changes the machine's groups may have taken ours away.
            for group in placed.group.iter().chain(server.as_ref().and_then(|s| s.placed.group.as_ref())) {
                group.holds().map_err(Fault::Void)?;
            }
            let void = experiment.file.load.is_some() && manifest.exit == Some(Exit::Code(LOAD_VOID));
            if void && !trial.explained {
                return Err(Fault::Void("the client and not the server was measured (twinscope load)".into()));
            }
            if let Some(why) = failure(&manifest, timeout).filter(|_| !void) {
                return Err(Fault::Failed(why));
            }
            if let Some(check) = &workload.check {
                wrong(check, &made.values, &made.dir, &output).map_or(Ok(()), |why| Err(Fault::Failed(why)))?;
                run(&check.command, "check", Some(&output), self.stop)?;
            }
            let warm_up = workload.warm_up.map_or(Duration::ZERO, |t| t.0);
            let (manifest_of, dir) = (&manifest, made.dir.as_path());
            let of = Remains { recording: &recording, manifest: manifest_of, output: &output, dir, warm_up, used };
            let taken: Vec<Result<f64, String>> = experiment.measures.iter().map(|m| m.take(&of)).collect();
            if let Some(Err(why)) = taken.first().filter(|_| !trial.explained) {
                return Err(if why.starts_with(VOID) { Fault::Void(why.clone()) } else { Fault::Failed(why.clone()) });
            }
            Ok((taken.into_iter().map(Result::ok).collect(), manifest))
        })();
        // However it ended, and also where somebody wants to stop.
        let cleaned = run(&workload.cleanup, "cleanup", None, &AtomicBool::new(false));
        let measured = measured?;
        cleaned.map(|()| measured)
    }

    /// Where the command or the server of a trial runs.
    fn place(&self, whose: Whose, trial: &Trial, values: &Set, cpus: Option<&str>) -> Result<Placed<'a>, Fault> {
        let file = &self.experiment.file;
        match self.place {
            Some(place) => place.of(whose, trial.number, file, values, cpus),
            None => Placed::by_affinity(whose, file, values, cpus),
        }
        .map_err(Fault::Void)
    }

    /// The command with the recorder around it, which itself is in no group of the trial.
    fn record(
        &self,
        trial: &Trial,
        recording: &Path,
        timeout: Duration,
        command: &[String],
        placed: &Placed,
        server: Option<&server::Running>,
    ) -> Vec<String> {
        let workload = &self.experiment.file.workload;
        let mut words = vec![self.twinscope.display().to_string(), "record".into(), "-q".into(), "-o".into()];
        words.push(recording.display().to_string());
        words.extend(["-d".into(), format!("{}ms", timeout.as_millis())]);
        let measures = &self.experiment.measures;
        if !trial.explained && !measures.iter().any(crate::measure::Measured::needs_all) {
            let of_measures = measures.iter().filter_map(|m| (self.source_of)(m.table()?));
            let mut sources: Vec<&str> = LIGHT.into_iter().chain(of_measures).collect();
            sources.sort_unstable();
            sources.dedup();
            words.extend(["-i".into(), "1s".into(), "--only".into(), sources.join(",")]);
        }
        for (flag, value) in [("--throughput", &workload.throughput), ("--unit", &workload.unit)] {
            words.extend(value.iter().flat_map(|value| [flag.to_owned(), value.clone()]));
        }
        for join in placed.joins() {
            words.extend(["--join".into(), join.display().to_string()]);
        }
        words.extend(placed.cpus.iter().flat_map(|cpus| ["--command-cpus".to_owned(), cpus.clone()]));
        if let Some(server) = server.filter(|_| trial.explained) {
            match server.placed.group.as_ref().and_then(host::groups::Group::folder) {
                Some(folder) => words.extend(["--cgroup".into(), folder.display().to_string()]),
                None => words.extend(["--pid".into(), server.service.pid().to_string()]),
            }
        }
        words.push("--".into());
        let own = self.experiment.file.load.is_some();
        let program = command.first().map(|word| if own { self.twinscope.display().to_string() } else { word.clone() });
        words.extend(program.into_iter().chain(command.iter().skip(1).cloned()));
        words
    }

    /// Why there is no recording: what the recorder said.
    fn not_recorded(&self, folder: &Path, error: &str) -> String {
        let said = std::fs::read_to_string(folder.join("errors")).unwrap_or_default();
        let line = said.lines().rev().find_map(|line| line.strip_prefix("twinscope: "));
        line.map_or_else(|| format!("it was not recorded: {error}"), |line| line.to_owned())
    }
}

/// Runs a command beside the workload: by a shell or not, its errors into `log` and its output beside it.
pub(super) fn helper(
    command: &Commands,
    made: &Invocation,
    env: &BTreeMap<String, String>,
    input: Option<&Path>,
    log: &Path,
    stop: &AtomicBool,
) -> Result<Ended, String> {
    let words = words(command, &made.values)?;
    let out = log.with_extension("out");
    let output = Some((out.as_path(), log));
    let start = Start { words: &words, dir: &made.dir, env, cpus: &[], joins: &[], input, output };
    process::run(&start, TIMEOUT, stop)
}

/// Why an answer is wrong, but for what a command says of it.
fn wrong(check: &Check, values: &Set, dir: &Path, output: &Path) -> Option<String> {
    if let Some(text) = &check.regex {
        let text = match fill(text, values, str::to_owned) {
            Ok(text) => text,
            Err(why) => return Some(format!("check: {why}")),
        };
        let regex = match lines(&text) {
            Ok(regex) => regex,
            Err(e) => return Some(format!("check: {text:?}: {e}")),
        };
        let said = std::fs::read(output).unwrap_or_default();
        if !regex.is_match(&String::from_utf8_lossy(&said)) {
            return Some(format!("wrong answer: nothing in the output matches {text:?}"));
        }
    }
    if let (Some(file), Some(equals)) = (&check.file, &check.equals) {
        let [file, equals] = [file, equals].map(|name| fill(name, values, str::to_owned).map(|name| dir.join(name)));
        let (file, equals) = match (file, equals) {
            (Ok(file), Ok(equals)) => (file, equals),
            (Err(why), _) | (_, Err(why)) => return Some(format!("check: {why}")),
        };
        match (std::fs::read(&file), std::fs::read(&equals)) {
            (Ok(a), Ok(b)) if a == b => {}
            (Ok(_), Ok(_)) => {
                return Some(format!("wrong answer: {} differs from {}", file.display(), equals.display()));
            }
            (Err(e), _) => return Some(format!("wrong answer: {}: {e}", file.display())),
            (_, Err(e)) => return Some(format!("check: {}: {e}", equals.display())),
        }
    }
    None
}

/// A TCP port that nobody listens on just now.
fn free_port() -> std::io::Result<u16> {
    Ok(std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_gives_up_is_not_waited_for() {
        let meeting = Meeting::of(3);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| Together(&meeting).meet());
            drop(Together(&meeting));
            std::thread::sleep(Duration::from_millis(20));
            assert!(!waits.is_finished());
            Together(&meeting).meet();
        });
    }
}

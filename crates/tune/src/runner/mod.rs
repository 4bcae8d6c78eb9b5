//! Runs trials as processes, each recorded: the machine of a real session.

mod conditions;
pub(crate) mod process;
mod server;
mod used;

use crate::event::Outcome;
use crate::experiment::{Experiment, Invocation, words};
use crate::file::{Check, Commands};
use crate::folder::{Folder, TrialRecord};
use crate::machine::{Go, Machine, Trial};
use crate::measure::{Remains, Used, VOID, failure, lines};
use crate::place::{Place, Placed, Whose};
use crate::session::Session;
use crate::settings::{Setter, Setting};
use crate::space::{FREE, Set, fill};
use crate::stage::{Kind, Stage};
use conditions::Stat;
use host::Host;
use host::settings::Write;
use model::{Exit, Manifest};
use process::{Ended, Start};
use query::stats::rng::Rng;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// A trial that takes longer failed, where the file does not say.
const TIMEOUT: Duration = Duration::from_secs(600);

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

/// Which recordings are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeepRecordings {
    /// All.
    #[default]
    All,
    /// Those of measured trials.
    Measured,
    /// Those of trials for explaining.
    Explained,
    /// None.
    None,
}

/// What a runner needs of the program around it.
#[derive(Clone, Debug)]
pub struct Tools<'a> {
    /// This program, which has `record`.
    pub twinscope: PathBuf,
    /// Set when somebody wants to stop.
    pub stop: &'a AtomicBool,
    /// The source that records a table.
    pub source_of: fn(&str) -> Option<&'static str>,
    /// Which recordings are kept.
    pub keep: KeepRecordings,
    /// What sets settings of the machine, where the experiment has any.
    pub settings: Option<&'a dyn Setter>,
    /// The control groups of trials, where such can be made.
    pub place: Option<&'a Place<'a>>,
}

/// Is told how a session goes on.
pub trait Watch {
    /// Before a block, and whenever the machine is asked.
    fn stage(&mut self, _stage: &Stage) {}
    /// A trial begins.
    fn began(&mut self, _trial: &Trial) {}
    /// A trial ended.
    fn ended(&mut self, _trial: &Trial, _outcome: &Outcome, _seconds: f64) {}
}

/// Nobody watches.
impl Watch for () {}

/// Runs trials.
pub struct Runner<'a> {
    experiment: &'a Experiment,
    path: &'a Path,
    tools: &'a Tools<'a>,
    watch: &'a mut dyn Watch,
    seed: u64,
    stages: usize,
    /// Seconds that trials took in sessions of before and in this one.
    spent: f64,
    /// When the present stage's time is up, in seconds spent.
    until: Option<(Kind, f64)>,
}

impl<'a> Runner<'a> {
    /// For this session in this folder.
    pub fn new(
        experiment: &'a Experiment,
        path: &'a Path,
        tools: &'a Tools<'a>,
        watch: &'a mut dyn Watch,
        session: &Session,
    ) -> Runner<'a> {
        let (seed, trials) = (session.plan().seed, session.trials());
        let steps = experiment.file.step.len();
        let spent = (1..=trials).filter_map(|number| Folder::record(path, number)).map(|r| r.seconds).sum();
        Runner { experiment, path, tools, watch, seed, stages: steps + 1, spent, until: None }
    }

    /// What is run once, before the first trial.
    ///
    /// # Errors
    /// That it failed.
    pub fn once(&mut self) -> Result<(), String> {
        let Some(command) = &self.experiment.file.workload.once else { return Ok(()) };
        let made = self.experiment.invocation(0, &[])?;
        let log = self.path.join("once.log");
        let ended = helper(command, &made, &made.env, None, &log, self.tools.stop)?;
        let log = log.display();
        ended.failure().map_or(Ok(()), |why| Err(format!("once: {why}; its output is in {log}")))
    }

    /// Sets the settings of a trial.
    fn set(&self, trial: &Trial) -> Result<(), Fault> {
        let values = self.experiment.values(trial.variant, &trial.steps, &trial.set);
        let write = |of: Setting| Some((of.path, values.get(&of.name)?.clone(), of.name));
        let writes: Vec<(String, Write)> = (self.experiment.settings().into_iter().filter_map(write))
            .map(|(path, value, name)| (name, Write { path, value }))
            .collect();
        match self.tools.settings {
            _ if writes.is_empty() => Ok(()),
            Some(settings) => settings.set(&writes).map_err(Fault::Void),
            None => Err(Fault::Void("its settings may not be changed".into())),
        }
    }

    fn attempt(&self, trial: &Trial, folder: &Path) -> Result<(Vec<Option<f64>>, Manifest), Fault> {
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
            run(&workload.prepare, "prepare", None, self.tools.stop)?;
            let server = experiment.file.server.as_ref();
            let server = server.map(|server| {
                let placed = self.place(Whose::Server, trial, &made.values)?;
                server::start(server, placed, &made, &env, &experiment.base, folder, self.tools.stop)
            });
            let mut server = server.transpose()?;
            let placed = self.place(Whose::Workload, trial, &made.values)?;
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
            // The recorder ends the command itself when its time is up; only where it hangs is it ended, too.
            let ended =
                process::run(&start, timeout + Duration::from_secs(60), self.tools.stop).map_err(Fault::Failed)?;
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
                run(&check.command, "check", Some(&output), self.tools.stop)?;
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
    fn place(&self, whose: Whose, trial: &Trial, values: &Set) -> Result<Placed<'a>, Fault> {
        let file = &self.experiment.file;
        match self.tools.place {
            Some(place) => place.of(whose, trial.number, file, values),
            None => Placed::by_affinity(whose, file, values),
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
        let mut words = vec![self.tools.twinscope.display().to_string(), "record".into(), "-q".into(), "-o".into()];
        words.push(recording.display().to_string());
        words.extend(["-d".into(), format!("{}ms", timeout.as_millis())]);
        let measures = &self.experiment.measures;
        if !trial.explained && !measures.iter().any(crate::measure::Measured::needs_all) {
            let of_measures = measures.iter().filter_map(|m| (self.tools.source_of)(m.table()?));
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
        let program =
            command.first().map(|word| if own { self.tools.twinscope.display().to_string() } else { word.clone() });
        words.extend(program.into_iter().chain(command.iter().skip(1).cloned()));
        words
    }

    /// Why there is no recording: what the recorder said.
    fn not_recorded(&self, folder: &Path, error: &str) -> String {
        let said = std::fs::read_to_string(folder.join("errors")).unwrap_or_default();
        let line = said.lines().rev().find_map(|line| line.strip_prefix("twinscope: "));
        line.map_or_else(|| format!("it was not recorded: {error}"), |line| line.to_owned())
    }

    fn kept(&self, explained: bool) -> bool {
        match self.tools.keep {
            KeepRecordings::All => true,
            KeepRecordings::None => false,
            KeepRecordings::Measured => !explained,
            KeepRecordings::Explained => explained,
        }
    }

    /// The part of the whole time that a stage may take: the blocks of a whole ladder have two fifths, its steps share the rest.
    fn part(&self, kind: Kind) -> f64 {
        match kind {
            Kind::Climb(_) => 0.6 / (self.stages - 1).max(1) as f64,
            Kind::Compare | Kind::Table | Kind::Sweep | Kind::Search | Kind::Factorial => 1.0,
        }
    }
}

/// Runs a command beside the workload: by a shell or not, its errors into `log` and its output beside it.
fn helper(
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

/// Why a trial has no numbers.
enum Fault {
    Failed(String),
    Void(String),
    Stopped,
}

impl Machine for Runner<'_> {
    fn run(&mut self, trial: &Trial) -> Outcome {
        self.watch.began(trial);
        let folder = Folder::trial(self.path, trial.number);
        // The trial runs elsewhere, perhaps: where it writes to must not depend on that.
        let folder = std::path::absolute(&folder).unwrap_or(folder);
        if let Err(e) = std::fs::create_dir_all(&folder) {
            return Outcome::Void(format!("{}: {e}", folder.display()));
        }
        let host = Host::at("/");
        let before = Stat::read(&host);
        let at = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64());
        let began = Instant::now();
        let used = process::used_by_children();
        let set = self.set(trial);
        let result = set.and_then(|()| self.attempt(trial, &folder));
        // However it ended, and whatever was set of them.
        let back = self.tools.settings.map_or(Ok(()), Setter::put_back);
        let result = back.map_err(Fault::Void).and(result);
        let seconds = began.elapsed().as_secs_f64();
        let own = process::used_by_children() - used;
        let aside = before.zip(Stat::read(&host)).and_then(|(a, b)| a.until(&b, own));
        let record = TrialRecord {
            at,
            seconds,
            stolen: aside.map(|a| a.0),
            others: aside.map(|a| a.1),
            wall: result.as_ref().ok().and_then(|(_, m)| m.wall).map(|ns| ns as f64 / 1e9),
        };
        let outcome = match (result, Folder::keep_record(self.path, trial.number, &record)) {
            (_, Err(e)) => {
                Outcome::Void(format!("{}: what is known of the trial could not be written: {e}", folder.display()))
            }
            (Ok((values, _)), _) => Outcome::Measured(values),
            (Err(Fault::Failed(why)), _) => Outcome::Failed(why),
            (Err(Fault::Void(why)), _) => Outcome::Void(why),
            (Err(Fault::Stopped), _) => Outcome::Void("the session was stopped".into()),
        };
        if !self.kept(trial.explained) {
            // What cannot be removed takes room, and nothing else.
            let _ = std::fs::remove_file(folder.join("run.twin"));
        }
        self.spent += seconds;
        self.watch.ended(trial, &outcome, seconds);
        outcome
    }

    fn go_on(&mut self, stage: &Stage) -> Go {
        self.watch.stage(stage);
        if self.tools.stop.load(Ordering::Relaxed) {
            return Go::Stop;
        }
        let Some(budget) = self.experiment.file.budget.time else { return Go::On };
        let budget = budget.0.as_secs_f64();
        let until = match self.until {
            Some((kind, until)) if kind == stage.kind => until,
            _ => match stage.kind {
                Kind::Climb(_) => self.spent + budget * self.part(stage.kind),
                _ => budget,
            },
        };
        self.until = Some((stage.kind, until));
        if self.spent < until { Go::On } else { Go::TimeUp }
    }
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

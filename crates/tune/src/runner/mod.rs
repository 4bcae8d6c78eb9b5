//! Runs trials as processes, each recorded: the machine of a real session.

mod ask;
mod attempt;
mod conditions;
pub(crate) mod process;
mod server;
mod used;

use crate::event::Outcome;
use crate::experiment::{Experiment, words};
use crate::folder::{Folder, TrialRecord};
use crate::machine::{Go, Machine, Trial};
use crate::optimise;
use crate::place::Place;
use crate::session::Session;
use crate::settings::{Setter, Setting};
use crate::space::Set;
use crate::stage::{Kind, Stage};
use ask::Asker;
use attempt::{Attempt, Fault, Meeting, On, Ran, Together, helper};
use conditions::{Aside, Beside};
use host::settings::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;

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
    /// A trial ended. So many seconds of the session went into it: of two at the same time half of them into each.
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
    /// The program that says what to try, once it was asked.
    asker: Option<Asker>,
    /// Where trials run at the same time that do.
    cpus: Option<[usize; 2]>,
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
        let spent = spent((1..=trials).filter_map(|number| Folder::record(path, number)));
        let (until, asker, cpus) = (None, None, None);
        Runner { experiment, path, tools, watch, seed, stages: steps + 1, spent, until, asker, cpus }
    }

    /// On which CPUs the trials of a block run at the same time ([`crate::cpus`]).
    pub fn on(mut self, cpus: Option<[usize; 2]>) -> Runner<'a> {
        self.cpus = cpus;
        self
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

    /// The folder of a trial.
    fn folder(&self, trial: &Trial) -> Result<PathBuf, String> {
        let folder = Folder::trial(self.path, trial.number);
        // The trial runs elsewhere, perhaps: where it writes to must not depend on that.
        let folder = std::path::absolute(&folder).unwrap_or(folder);
        files::make_folder(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        Ok(folder)
    }

    /// Keeps what is known of a trial that ended. So many seconds of the session went into it.
    fn ended(&mut self, trial: &Trial, ran: Ran, aside: &Aside, on_cpu: Option<usize>, part: f64) -> Outcome {
        let manifest = ran.result.as_ref().ok().map(|(_, manifest)| manifest);
        let record = TrialRecord {
            at: ran.at,
            seconds: ran.seconds,
            stolen: aside.map(|a| a.0),
            others: aside.map(|a| a.1),
            wall: manifest.and_then(|m| m.wall).map(|ns| ns as f64 / 1e9),
            cpu: manifest.and_then(|m| m.usage).map(|u| u.user + u.system),
            on_cpu,
        };
        let folder = Folder::trial(self.path, trial.number);
        let outcome = match (ran.result, Folder::keep_record(self.path, trial.number, &record)) {
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
        self.spent += part;
        self.watch.ended(trial, &outcome, part);
        outcome
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
            Kind::Seek => 2.0 / 3.0,
            Kind::Compare | Kind::Table | Kind::Sweep | Kind::Factorial | Kind::Confirm | Kind::Search => 1.0,
        }
    }
}

/// Seconds that trials took: two that were on CPUs of their own at the same time took as long as the longer one.
fn spent(records: impl Iterator<Item = TrialRecord>) -> f64 {
    let mut spent = 0.0;
    // Of the first of a pair that waits for its second.
    let mut first: Option<f64> = None;
    for record in records {
        match (record.on_cpu, first.take()) {
            (None, before) => spent += before.unwrap_or(0.0) + record.seconds,
            (Some(_), Some(before)) => spent += before.max(record.seconds),
            (Some(_), None) => first = Some(record.seconds),
        }
    }
    spent + first.unwrap_or(0.0)
}

impl Machine for Runner<'_> {
    fn run(&mut self, trial: &Trial) -> Outcome {
        self.watch.began(trial);
        let folder = match self.folder(trial) {
            Ok(folder) => folder,
            Err(why) => return Outcome::Void(why),
        };
        let beside = Beside::begin();
        let attempt = Attempt::new(self.experiment, self.tools, self.seed);
        // Who is alone in a session of pairs has the CPUs of both.
        let cpus = self.cpus.map(|[a, b]| format!("{a},{b}"));
        let mut ran = match self.set(trial) {
            Ok(()) => attempt.run(trial, &folder, On { cpus, start: None }),
            Err(fault) => Ran::without(fault),
        };
        // However it ended, and whatever was set of them.
        let back = self.tools.settings.map_or(Ok(()), Setter::put_back);
        ran.result = back.map_err(Fault::Void).and(ran.result);
        ran.seconds = beside.seconds();
        let part = ran.seconds;
        self.ended(trial, ran, &beside.end(), None, part)
    }

    fn run_together(&mut self, trials: &[Trial]) -> Vec<Outcome> {
        let Some(cpus) = self.cpus else { return trials.iter().map(|trial| self.run(trial)).collect() };
        trials.iter().for_each(|trial| self.watch.began(trial));
        let folders: Result<Vec<PathBuf>, String> = trials.iter().map(|trial| self.folder(trial)).collect();
        let folders = match folders {
            Ok(folders) => folders,
            Err(why) => return trials.iter().map(|_| Outcome::Void(why.clone())).collect(),
        };
        let on = |trial: &Trial| cpus.get(trial.place).copied();
        let beside = Beside::begin();
        let attempt = Attempt::new(self.experiment, self.tools, self.seed);
        let meeting = Meeting::of(trials.len());
        let ran: Vec<Ran> = std::thread::scope(|scope| {
            let folders = folders.iter().map(PathBuf::as_path);
            let one = |(trial, folder)| {
                let start = Some(Together(&meeting));
                let cpus = on(trial).map(|cpu| cpu.to_string());
                std::thread::Builder::new().spawn_scoped(scope, move || attempt.run(trial, folder, On { cpus, start }))
            };
            let threads: Vec<_> = trials.iter().zip(folders).map(one).collect();
            let ended = |thread: std::io::Result<ScopedJoinHandle<Ran>>| match thread {
                Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                Err(e) => Ran::without(Fault::Void(format!("no thread for it: {e}"))),
            };
            threads.into_iter().map(ended).collect()
        });
        // What the machine did meanwhile is the same for both, and so is the time that the session spent on them.
        let part = beside.seconds() / trials.len() as f64;
        let aside = beside.end();
        trials.iter().zip(ran).map(|(trial, ran)| self.ended(trial, ran, &aside, on(trial), part)).collect()
    }

    fn propose(&mut self, session: &Session) -> Result<Option<Set>, String> {
        let Some(command) = &self.experiment.file.ask else { return Ok(Some(optimise::propose(session))) };
        let asker = match &mut self.asker {
            Some(asker) => asker,
            none => {
                let words = words(command, &Set::new())?;
                none.insert(Asker::start(&words, &self.experiment.base, self.path)?)
            }
        };
        asker.ask(session, self.tools.stop)
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
                _ => budget * self.part(stage.kind),
            },
        };
        self.until = Some((stage.kind, until));
        if self.spent < until { Go::On } else { Go::TimeUp }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_at_the_same_time_take_as_long_as_the_longer_one() {
        let of = |seconds, on_cpu| TrialRecord { seconds, on_cpu, ..TrialRecord::default() };
        let all =
            [of(1.0, Some(0)), of(3.0, Some(1)), of(2.0, None), of(5.0, Some(1)), of(4.0, Some(0)), of(7.0, Some(0))];
        assert_eq!(spent(all.into_iter()), 3.0 + 2.0 + 5.0 + 7.0);
    }
}

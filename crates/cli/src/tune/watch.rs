//! How a session goes on, while it does: a line that is written anew on a terminal, else a line for each block.

use crate::text::{clean, cut};
use model::human;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tune::{Experiment, Kind, Outcome, Stage, Trial, Watch};

/// Says how it goes on.
pub(super) struct Progress {
    names: Vec<String>,
    path: PathBuf,
    quiet: bool,
    terminal: bool,
    began: Instant,
    /// The stage in words, with its block and what is known.
    stage: String,
    /// Trials of this call, and the seconds that they took.
    trials: (usize, f64),
    /// The most trials that are left in this stage.
    left: usize,
}

impl Progress {
    pub(super) fn new(experiment: &Experiment, path: &Path, quiet: bool) -> Progress {
        let names = experiment.variants.iter().map(|v| clean(&v.name)).collect();
        let terminal = recorder::can_rewrite();
        if !quiet {
            let variants = super::print::counted(experiment.variants.len());
            eprintln!("twinscope: {variants}; the session is in {}", path.display());
        }
        Progress {
            names,
            path: path.to_owned(),
            quiet,
            terminal,
            began: Instant::now(),
            stage: String::new(),
            trials: (0, 0.0),
            left: 0,
        }
    }

    fn name(&self, variant: usize) -> &str {
        self.names.get(variant).map_or("", String::as_str)
    }

    /// Removes the line that is written anew.
    pub(super) fn over(&self) {
        if self.terminal && !self.quiet {
            eprint!("\r\x1b[K");
        }
    }

    fn line(&self, text: &str) {
        if self.quiet {
            return;
        }
        let mut out = std::io::stderr();
        // Nobody can be told where the terminal is gone.
        let _ = if self.terminal { write!(out, "\r\x1b[K{}", cut(text, 118)) } else { writeln!(out, "{text}") };
        let _ = out.flush();
    }

    /// What is known of the comparisons so far.
    fn known(&self, stage: &Stage) -> String {
        let of = |c: &tune::Comparison| {
            let look = c.looks.last()?;
            let [low, high] = look.interval?.map(f64::exp);
            Some(format!("{} {:.2}× ({low:.2}–{high:.2})", self.name(c.variant), look.estimate.exp()))
        };
        let known: Vec<String> = stage.comparisons.iter().filter_map(of).collect();
        if known.is_empty() { String::new() } else { format!(" · {}", known.join(", ")) }
    }
}

impl Watch for Progress {
    fn stage(&mut self, stage: &Stage) {
        let (before, counted) = (stage.series.blocks.len(), stage.counted());
        let block = if counted == 0 { before } else { counted } + 1;
        let what = match stage.kind {
            Kind::Climb(step) => format!("step {} ({}), ", step + 1, self.name(step + 1)),
            Kind::Table => "the whole ladder, ".into(),
            Kind::Seek => "search, ".into(),
            Kind::Confirm => "the best against the default, ".into(),
            Kind::Compare | Kind::Sweep | Kind::Factorial => String::new(),
            Kind::Search if stage.counted() == 0 => "looking for the limit, ".into(),
            Kind::Search => "around the limit, ".into(),
        };
        let all = matches!(stage.kind, Kind::Table | Kind::Sweep | Kind::Factorial | Kind::Seek | Kind::Confirm);
        let most = if all { "" } else { "at most " };
        self.left = stage.limit.saturating_sub(counted) * stage.variants.len();
        let of = if stage.kind == Kind::Search && counted == 0 {
            String::new()
        } else {
            format!(" of {most}{}", stage.limit)
        };
        self.stage = format!("{what}block {block}{of}{}", self.known(stage));
        if !self.terminal {
            self.line(&format!("twinscope: {}", self.stage));
        }
    }

    fn began(&mut self, trial: &Trial) {
        if !self.terminal {
            return;
        }
        let left = match self.trials {
            (0, _) => String::new(),
            (n, seconds) => format!(", at most {} left", human(seconds / n as f64 * self.left as f64, "s")),
        };
        let passed = human(self.began.elapsed().as_secs_f64().round(), "s");
        let explained = if trial.explained { ", for explaining" } else { "" };
        let set: String = trial.set.iter().map(|(name, value)| format!(", {name} {}", clean(value))).collect();
        self.line(&format!(
            "{} · trial {} ({}{set}{explained}) · {passed}{left}",
            self.stage,
            trial.number,
            self.name(trial.variant)
        ));
    }

    fn ended(&mut self, trial: &Trial, outcome: &Outcome, seconds: f64) {
        self.trials = (self.trials.0 + 1, self.trials.1 + seconds);
        self.left = self.left.saturating_sub(1);
        let Outcome::Failed(why) = outcome else { return };
        self.over();
        if !self.quiet {
            let folder = tune::Folder::trial(&self.path, trial.number);
            eprintln!(
                "twinscope: trial {} ({}) failed: {}; see {}",
                trial.number,
                self.name(trial.variant),
                clean(why),
                folder.display()
            );
        }
    }
}

//! An experiment: its file with everything looked up and checked, as variants, measures and a plan.

use crate::designs::search::{Bound, Searched};
use crate::designs::{factorial, optimise};
use crate::file::{Commands, DesignName, File, FileError, KeepWord, LoadSpec, Parameter, Ready, Time, nearest};
use crate::measure::Measured;
use crate::optimise::Space;
use crate::place::{Whose, limits};
use crate::settings::{self, Setting};
use crate::space::{self, Set, combinations, fill, for_sh, is_name};
use crate::{Design, Keep, Plan, Seek, together};
use query::stats::pairs::{least_p, looks};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Blocks of an `ab` or a step of a ladder at most, where the file does not say.
const BLOCKS: usize = 30;
/// Blocks of a sweep and of a factorial, and of a whole ladder at least.
const SWEEP: usize = 10;
/// Trials of a factorial at least, where the file does not say: two flags have four runs, and ten blocks of these find little.
const RUNS: usize = 80;
/// Trials of a search, where the file does not say.
const TRIALS: usize = 80;
/// The least change that matters, where the file does not say.
const EFFECT: f64 = 0.03;
/// How long the built-in client asks before its requests count, where the file does not say.
const WARM_UP: Duration = Duration::from_secs(2);
/// Blocks with trials for explaining, where the file does not say.
const EXPLAINED: usize = 3;

/// An experiment.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// What the session is called.
    pub name: String,
    /// The file.
    pub file: File,
    /// The folder that paths in it are relative to.
    pub base: PathBuf,
    /// The variants by number, the baseline first. Of a ladder, what each step sets by itself.
    pub variants: Vec<Variant>,
    /// Of a sweep and a factorial: the parameters that vary.
    pub swept: Vec<String>,
    /// Of a search: what is searched.
    pub searched: Option<Searched>,
    /// What is measured.
    pub measures: Vec<Measured>,
    /// Of a search for the best values: these.
    pub space: Option<Space>,
    /// Usual values of all parameters.
    usual: Set,
}

/// A variant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Variant {
    /// What it is called.
    pub name: String,
    /// Why it is tried.
    pub why: Option<String>,
    /// What it sets.
    pub set: Set,
    command: Option<Commands>,
    dir: Option<String>,
}

/// A trial's command, folder and environment.
#[derive(Clone, Debug, PartialEq)]
pub struct Invocation {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Where.
    pub dir: PathBuf,
    /// Variables of the environment.
    pub env: BTreeMap<String, String>,
    /// The parameters' values.
    pub values: Set,
}

impl Variant {
    /// One that sets this.
    pub(crate) fn of(name: String, set: Set) -> Variant {
        Variant { name, set, ..Variant::default() }
    }
}

impl Experiment {
    /// Checks a file and looks everything up. `text` is the file's, for the lines of errors, `called` its name in them.
    ///
    /// # Errors
    /// What is wrong, with its line.
    pub fn new(file: File, text: &str, called: &str, base: PathBuf) -> Result<Experiment, FileError> {
        let wrong = |word: &str, what: String| FileError::near(called, text, word, what);
        let mut parameters: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let searches = file.searches();
        if file.score.is_some() && file.design != DesignName::Ladder {
            return Err(wrong(
                "score",
                "score is for design = \"ladder\"; a search is judged by its rate anyway".into(),
            ));
        }
        let mut ends = None;
        for (name, of) in &file.parameters {
            if !is_name(name) {
                return Err(wrong(
                    name,
                    format!("parameter {name:?}: a name is letters, digits, _ and -, a letter first"),
                ));
            }
            let refused = |why| FileError::parameter(called, text, name, format!("parameter {name}: {why}"));
            let values = if searches && name == RATE {
                let (from, to) = space::rates(of).map_err(refused)?;
                ends = Some((from, to));
                vec![from.to_string()]
            } else {
                space::values(of).map_err(refused)?
            };
            parameters.insert(name.clone(), values);
        }
        let usual: Set = parameters.iter().filter_map(|(p, v)| Some((p.clone(), v.first()?.clone()))).collect();
        let measures = Measured::all(&file).map_err(|(word, what)| wrong(&word, what))?;
        let name = file.name.clone().filter(|name| !name.is_empty());
        let stem =
            || PathBuf::from(called).file_stem().map_or("experiment".into(), |s| s.to_string_lossy().into_owned());
        let name = name.unwrap_or_else(stem);
        if name.contains('/') || name.starts_with('.') {
            return Err(wrong(
                "name",
                format!("name {name:?}: it becomes the name of a folder, so no / and no . first"),
            ));
        }
        let searched = match (searches, ends) {
            (false, _) => None,
            (true, None) => {
                let what =
                    "a search needs the parameter rate: where it begins and the most, such as rate = \"100..50000\"";
                return Err(wrong("[parameters]", what.into()));
            }
            (true, Some((from, to))) => Some(searched(&measures, from, to)),
        };
        let mut made = Experiment {
            name,
            file,
            base,
            variants: Vec::new(),
            swept: Vec::new(),
            searched,
            measures,
            space: None,
            usual,
        };
        if made.file.design == DesignName::Optimise {
            let space = Space::of(&parameters, &made.file.zip, &made.file.only_where);
            made.space = Some(space.map_err(|(word, what)| wrong(&word, what))?);
        }
        made.variants = made.find_variants(&parameters).map_err(|(word, what)| wrong(&word, what))?;
        if matches!(made.file.design, DesignName::Sweep | DesignName::Factorial | DesignName::Optimise) {
            made.swept = factorial::flags(&parameters);
        }
        made.check().map_err(|(word, what)| wrong(&word, what))?;
        made.plan(0).check().map_err(|e| FileError::whole(called, e.to_string()))?;
        Ok(made)
    }

    fn find_variants(&self, parameters: &BTreeMap<String, Vec<String>>) -> Result<Vec<Variant>, (String, String)> {
        let file = &self.file;
        let about = |word: &str, what: &str| Err((word.to_owned(), what.to_owned()));
        if file.design != DesignName::Ladder && !file.step.is_empty() {
            return about("[[step]]", "steps are for design = \"ladder\"");
        }
        if !matches!(file.design, DesignName::Ab | DesignName::Search) && !file.variant.is_empty() {
            return about("[[variant]]", "variants by hand are for design = \"ab\" or \"search\"");
        }
        if file.design != DesignName::Optimise {
            let keys = [("ask", file.ask.is_some()), ("objectives", file.objectives.is_some())];
            let keys = keys.into_iter().chain([("trials", file.budget.trials.is_some())]);
            if let Some((key, _)) = keys.into_iter().find(|(_, given)| *given) {
                return about(key, &format!("{key} is for design = \"optimise\""));
            }
        }
        if file.design == DesignName::Factorial && !(file.only_where.is_empty() && file.zip.is_empty()) {
            let word = if file.zip.is_empty() { "where" } else { "zip" };
            return about(word, &format!("{word}: a factorial needs each of its combinations"));
        }
        let set = |of: &BTreeMap<String, crate::file::Scalar>, whose: &str| {
            let known: Vec<&str> = parameters.keys().map(String::as_str).collect();
            let mut set = Set::new();
            for (name, value) in of {
                let Some(values) = parameters.get(name) else {
                    let meant = nearest(name, &known).map_or(String::new(), |k| format!("; did you mean {k}?"));
                    return Err((name.clone(), format!("{whose}: there is no parameter {name}{meant}")));
                };
                let value = value.to_string();
                let listed = matches!(
                    file.parameters.get(name),
                    Some(Parameter::List(_) | Parameter::Env(_) | Parameter::Setting(_))
                );
                if listed && !values.contains(&value) {
                    let known: Vec<&str> = values.iter().map(String::as_str).collect();
                    let meant = nearest(&value, &known)
                        .map_or(format!("there are {}", known.join(", ")), |k| format!("did you mean {k}?"));
                    return Err((value.clone(), format!("{whose}: {name} has no value {value}; {meant}")));
                }
                set.insert(name.clone(), value);
            }
            Ok(set)
        };
        if file.quick && file.budget.blocks.is_some() {
            return about("blocks", "quick looks once, after four blocks: leave out one of the two");
        }
        match file.design {
            DesignName::Ladder => {
                let mut all = vec![Variant { name: "baseline".into(), ..Variant::default() }];
                for step in &file.step {
                    let set = set(&step.set, &format!("step {:?}", step.name))?;
                    all.push(Variant { name: step.name.clone(), why: step.why.clone(), set, ..Variant::default() });
                }
                if all.len() == 1 {
                    about("ladder", "a ladder without steps: write [[step]] with name and set")
                } else {
                    Ok(all)
                }
            }
            DesignName::Ab | DesignName::Search if !file.variant.is_empty() => {
                if file.variant.len() < 2 {
                    return about("[[variant]]", "one variant: the first is the baseline, so there must be two");
                }
                let of = |v: &crate::file::VariantSpec| {
                    let set = set(&v.set, &format!("variant {:?}", v.name))?;
                    Ok(Variant { name: v.name.clone(), why: None, set, command: v.command.clone(), dir: v.dir.clone() })
                };
                file.variant.iter().map(of).collect()
            }
            DesignName::Factorial => factorial::variants(parameters),
            DesignName::Optimise if file.budget.blocks.is_some() => {
                about("blocks", "optimise: budget.trials says how many in all; a third is for the blocks at its end")
            }
            DesignName::Optimise => {
                let best = (1..=optimise::CONFIRMED).map(|n| format!("best {n}"));
                let names = ["default".to_owned(), "search".to_owned()].into_iter().chain(best);
                Ok(names.map(|name| Variant::of(name, Set::new())).collect())
            }
            DesignName::Ab | DesignName::Sweep | DesignName::Search => {
                let varies: Vec<String> =
                    parameters.iter().filter(|(_, v)| v.len() > 1).map(|(p, _)| p.clone()).collect();
                match (file.design, varies.len()) {
                    (DesignName::Search, 0) => {
                        return Ok(vec![Variant { name: self.name.clone(), ..Variant::default() }]);
                    }
                    (_, 0) => {
                        return about(
                            "[parameters]",
                            "nothing varies: give a parameter several values, or write [[variant]]",
                        );
                    }
                    (DesignName::Sweep, n) if n > 2 && file.zip.is_empty() => {
                        return about(
                            "[parameters]",
                            "a sweep is over one or two parameters; more have several values here",
                        );
                    }
                    _ => {}
                }
                let sets = combinations(parameters, &varies, &file.zip, &file.only_where)
                    .map_err(|what| (what.split(':').next().unwrap_or_default().to_owned(), what))?;
                let named = |set: Set| {
                    let name: Vec<String> = set.iter().map(|(p, v)| format!("{p}={v}")).collect();
                    Variant { name: name.join(" "), set, ..Variant::default() }
                };
                Ok(sets.into_iter().map(named).collect())
            }
        }
    }

    /// What only shows when values are put in: each variant, with all steps of a ladder.
    fn check(&self) -> Result<(), (String, String)> {
        let mut names: Vec<&str> = Vec::new();
        for variant in &self.variants {
            if variant.name.trim().is_empty() || names.contains(&variant.name.as_str()) {
                return Err((
                    variant.name.clone(),
                    format!("{:?}: each variant and step needs a name of its own", variant.name),
                ));
            }
            names.push(&variant.name);
        }
        let file = &self.file;
        if let Some(text) = file.confidence.as_ref().filter(|text| wrong_of(text).is_none()) {
            return Err(("confidence".into(), format!("confidence {text:?}: at least \"95%\" and below \"100%\"")));
        }
        if file.load.is_some()
            && (!file.workload.command.is_empty() || file.variant.iter().any(|v| v.command.is_some()))
        {
            return Err((
                "[load]".into(),
                "[load] is the command: leave out that of [workload] and of variants".into(),
            ));
        }
        if let Some(server) = &file.server {
            if server.command.is_empty() {
                return Err(("[server]".into(), "[server]: its command is empty".into()));
            }
            if server.ready == Ready::default() {
                let what = "[server]: say when it is ready: ready = { http = URL }, { port = N } or { regex = TEXT }";
                return Err(("ready".into(), what.into()));
            }
        }
        let steps: Vec<usize> = (0..self.variants.len().saturating_sub(1)).collect();
        for variant in 0..self.variants.len() {
            let made = self.invocation(variant, &steps).map_err(|what| (text_between(&what), what))?;
            if made.command.first().is_none_or(String::is_empty) {
                return Err(("command".into(), "[workload] has no command, or an empty one".into()));
            }
            if let Some(server) = &file.server {
                words(&server.command, &made.values).map_err(|what| (text_between(&what), what))?;
            }
            for whose in [Whose::Workload, Whose::Server] {
                let wrong = |what: String| match text_between(&what) {
                    word if word.is_empty() => (what.split(' ').next().unwrap_or_default().to_owned(), what),
                    word => (word, what),
                };
                limits(whose, file, &made.values).map_err(wrong)?;
            }
        }
        let used = |name: &str| {
            let hole = format!("{{{name}}}");
            self.file.text().contains(&hole)
                || matches!(self.file.parameters.get(name), Some(Parameter::Env(_) | Parameter::Setting(_)))
        };
        settings::compatible(&self.settings())?;
        together::check(self)?;
        if let Some(idle) = self.file.parameters.keys().find(|name| !used(name)) {
            return Err((
                idle.clone(),
                format!("parameter {idle} is used nowhere: write {{{idle}}} where its value belongs"),
            ));
        }
        Ok(())
    }

    /// The plan of a session. `seed` is used where the file has none.
    pub fn plan(&self, seed: u64) -> Plan {
        let others = self.variants.len().saturating_sub(1);
        let file = &self.file;
        let steps = || {
            let keep = |step: &crate::file::StepSpec| match step.keep {
                Some(KeepWord::Always) => Keep::Always,
                _ => Keep::IfBetter,
            };
            file.step.iter().map(keep).collect::<Vec<_>>()
        };
        let trials = file.budget.trials.unwrap_or(TRIALS);
        let design = match file.design {
            DesignName::Ab => Design::Ab { variants: others },
            DesignName::Sweep => Design::Sweep { points: self.variants.len() },
            DesignName::Factorial => Design::Factorial { flags: self.swept.len() },
            DesignName::Optimise => Design::Optimise {
                space: self.space.clone().unwrap_or_default(),
                trials,
                objectives: file.objectives.unwrap_or(1),
            },
            DesignName::Search => {
                let searched = self.searched.clone().unwrap_or_else(|| searched(&[], 0.0, 0.0));
                Design::Search { variants: self.variants.len(), searched }
            }
            DesignName::Ladder => {
                let table = file.budget.table.unwrap_or_else(|| table_blocks(others));
                Design::Ladder { steps: steps(), table, searched: self.searched.clone() }
            }
        };
        let (usual, explained) = match file.design {
            DesignName::Sweep => (SWEEP, EXPLAINED),
            // What a flag does is in half of the runs: two recordings of them do not show it.
            DesignName::Factorial => (SWEEP.max(RUNS / self.variants.len().max(1)), 0),
            DesignName::Optimise => (Seek::of(trials).blocks, EXPLAINED),
            DesignName::Ab | DesignName::Ladder | DesignName::Search => (BLOCKS, EXPLAINED),
        };
        let measures = self.measures.iter().map(|m| m.head.clone()).collect();
        Plan {
            effect: file.effect.map_or(EFFECT, |e| e.0),
            blocks: if file.quick { looks::EARLY } else { file.budget.blocks.unwrap_or(usual) },
            quick: file.quick,
            together: file.together,
            wrong: file.confidence.as_deref().and_then(wrong_of).unwrap_or(WRONG),
            explained: file.explained.unwrap_or(explained),
            ..Plan::new(design, measures, file.seed.unwrap_or(seed))
        }
    }

    /// The parameters' values for a variant; of a ladder, with these steps. Those of `set` were chosen for one trial.
    pub fn values(&self, variant: usize, steps: &[usize], set: &Set) -> Set {
        let mut values = self.usual.clone();
        let sets = match self.file.design {
            DesignName::Ladder => steps.iter().map(|step| step + 1).collect(),
            _ => vec![variant],
        };
        for of in sets.iter().filter_map(|v| self.variants.get(*v)) {
            values.extend(of.set.clone());
        }
        values.extend(set.clone());
        values
    }

    /// The parameters that are settings of the machine, in the order in which they are set.
    pub fn settings(&self) -> Vec<Setting> {
        let of = |(name, of): (&String, &Parameter)| match of {
            Parameter::Setting(of) => Some((name.clone(), of.setting.clone())),
            _ => None,
        };
        let all = self.file.parameters.iter().filter_map(of);
        let values = |name: &str| {
            let sets = self.variants.iter().map(|v| &v.set).chain([&self.usual]);
            let mut values: Vec<String> = sets.filter_map(|set| set.get(name).cloned()).collect();
            values.extend(self.space.iter().flat_map(|space| space.values_of(name)));
            values.sort();
            values.dedup();
            values
        };
        all.map(|(name, path)| Setting { values: values(&name), name, path }).collect()
    }

    /// What is run for a variant; of a ladder, with these steps.
    ///
    /// # Errors
    /// A name in braces that is no parameter.
    pub fn invocation(&self, variant: usize, steps: &[usize]) -> Result<Invocation, String> {
        let values = self.values(variant, steps, &Set::new());
        self.invocation_of(variant, values)
    }

    /// The same as it is shown, where what is chosen for each trial has no value: that stays in braces.
    ///
    /// # Errors
    /// A name in braces that is no parameter.
    pub fn shown(&self, variant: usize, steps: &[usize]) -> Result<Invocation, String> {
        let open = self.searched.iter().map(|of| (of.parameter.clone(), format!("{{{}}}", of.parameter)));
        self.invocation_of(variant, self.values(variant, steps, &open.collect()))
    }

    /// The same with these values.
    pub(crate) fn invocation_of(&self, variant: usize, values: Set) -> Result<Invocation, String> {
        let own = self.variants.get(variant);
        let workload = &self.file.workload;
        let command = match &self.file.load {
            Some(load) => &client(load),
            None => own.and_then(|v| v.command.as_ref()).unwrap_or(&workload.command),
        };
        let dir = own.and_then(|v| v.dir.as_ref()).or(workload.dir.as_ref());
        let plain = |text: &str| fill(text, &values, str::to_owned);
        let dir = dir.map(|dir| plain(dir)).transpose()?.map_or(self.base.clone(), |dir| self.base.join(dir));
        let mut env = BTreeMap::new();
        for (name, value) in &workload.env {
            env.insert(name.clone(), plain(value)?);
        }
        for (name, of) in &self.file.parameters {
            if let (Parameter::Env(of), Some(value)) = (of, values.get(name)) {
                env.insert(of.env.clone(), value.clone());
            }
        }
        Ok(Invocation { command: words(command, &values)?, dir, env, values })
    }
}

/// The parameter that a search seeks.
const RATE: &str = "rate";

/// What a search with these measures seeks.
fn searched(measures: &[Measured], from: f64, to: f64) -> Searched {
    let bound = |(measure, m): (usize, &Measured)| Some(Bound { measure, limit: m.limit.clone()? });
    Searched {
        parameter: RATE.into(),
        from,
        to,
        limits: measures.iter().enumerate().filter_map(bound).collect(),
        reached: measures.iter().position(Measured::is_rate),
    }
}

/// The probability of a wrong call that is allowed where the file does not say.
const WRONG: f64 = 0.05;

/// The probability of a wrong call at a confidence: 0.01 at `"99%"`.
fn wrong_of(confidence: &str) -> Option<f64> {
    let percent = confidence.strip_suffix('%')?.trim().parse::<f64>().ok()?;
    let wrong = 1.0 - percent / 100.0;
    // 95 % in binary is a little less.
    (wrong > 0.0 && wrong <= WRONG + 1e-9).then_some(wrong.min(WRONG))
}

/// The words that stand for this program in a command, until it is run.
pub(crate) const ITSELF: &str = "twinscope";

/// The built-in client as a command.
fn client(load: &LoadSpec) -> Commands {
    let time = |time: Time| format!("{}ms", time.0.as_millis());
    let warm_up = load.warm_up.unwrap_or(Time(WARM_UP));
    let mut words = vec![ITSELF.to_owned(), "load".into(), "--strict".into()];
    let options = [
        ("--rate", Some(load.rate.to_string())),
        ("--connections", Some(load.connections.to_string())),
        ("--duration", Some(time(load.duration))),
        ("--warm-up", Some(time(warm_up))),
        ("--cpus", load.cpus.clone()),
    ];
    for (name, value) in options {
        words.extend(value.into_iter().flat_map(|value| [name.to_owned(), value]));
    }
    words.extend(load.options.iter().cloned());
    words.push(load.url.clone());
    Commands::Words(words)
}

/// The program and its arguments.
///
/// # Errors
/// A name in braces that is no parameter.
pub(crate) fn words(command: &Commands, values: &Set) -> Result<Vec<String>, String> {
    match command {
        Commands::Words(words) => words.iter().map(|word| fill(word, values, str::to_owned)).collect(),
        Commands::Shell(text) if text.trim().is_empty() => Ok(Vec::new()),
        Commands::Shell(text) => Ok(vec!["sh".into(), "-c".into(), fill(text, values, for_sh)?]),
    }
}

/// The name that an error of [`fill`] is about, to find its line by.
fn text_between(what: &str) -> String {
    let name = what.strip_prefix("there is no parameter ").and_then(|rest| rest.split(';').next());
    name.map_or(String::new(), |name| format!("{{{name}}}"))
}

/// Blocks of a whole ladder: as many as let the least of its comparisons speak.
fn table_blocks(steps: usize) -> usize {
    let level = 0.05 / 2.0 / (2 * steps.max(1)) as f64;
    let most = looks::PLANNED.last().copied().unwrap_or(SWEEP);
    (SWEEP..=most).find(|n| least_p(*n) <= level).unwrap_or(most)
}

#[cfg(test)]
mod tests;

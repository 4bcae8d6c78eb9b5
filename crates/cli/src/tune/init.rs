//! `twinscope tune init`: a file to begin with, from a recording: its command, and as steps what `explain` says to try.

use crate::text::clean;
use anyhow::{Context, Result, bail};
use clap::Args;
use explain::Explain;
use explain::cause::Experiment as Trial;
use std::path::PathBuf;
use tune::file::{Commands, DesignName, EnvParameter, File, Parameter, Scalar, SettingParameter, StepSpec, Workload};

/// So many findings are made into steps.
const MOST: usize = 5;

/// What is asked.
#[derive(Args, Debug)]
pub(super) struct Init {
    /// The recording of a command
    #[arg(long, value_name = "NAME.twin")]
    from: PathBuf,

    /// The recording that it is slower than; without one, what limits it alone
    #[arg(long, value_name = "NAME.twin")]
    against: Option<PathBuf>,
}

/// Prints it.
pub(super) fn init(asked: &Init) -> Result<u8> {
    let paths: Vec<&PathBuf> = [&asked.from].into_iter().chain(&asked.against).collect();
    let runs = query::open(&paths)?;
    let run = runs.first().context("no recording")?;
    let manifest = run.recording.manifest().clone();
    let Some(command) = manifest.command.clone().filter(|c| !c.is_empty()) else {
        bail!("{}: no command was recorded, so there is nothing to run: record with -- COMMAND", asked.from.display());
    };
    let work = manifest.work.as_ref();
    let unit = work.map_or("operations".into(), |w| w.unit.clone());
    let is_java = has_jvm(run);
    let explanation = explain::explain(runs, 1, &Explain::default())?;
    let causes = explain::cause::built_in();
    let mut file = File {
        name: Some(explanation.runs.first().cloned().unwrap_or_default()),
        design: DesignName::Ladder,
        ..File::default()
    };
    let braced = |word: &String| word.replace('{', "{{").replace('}', "}}");
    file.workload = Workload { command: Commands::Words(command.iter().map(braced).collect()), ..Workload::default() };
    let mut by_hand = Vec::new();
    for finding in explanation.findings.iter().take(MOST) {
        let why = format!("{:.0} %: {}", finding.share.value * 100.0, clean(&finding.says));
        let mut trials =
            causes.iter().find(|c| c.id == finding.cause).map(|c| c.experiment.clone()).unwrap_or_default();
        trials.retain(|trial| fits(trial, is_java));
        if trials.is_empty() {
            by_hand.push(format!("{why}. Try: {}", finding.advice.first().map_or("", String::as_str)));
        }
        for trial in trials {
            if !add(&mut file, &trial, &why) {
                by_hand.push(format!("{why}. Try: {trial}"));
            }
        }
    }
    println!("# From {}: {}", asked.from.display(), clean(&explanation.verdict));
    if let Some(work) = work.filter(|w| w.how.is_empty()) {
        println!(
            "# Its work was read from its output: give the regular expression of --throughput to [workload], as here for {}:",
            work.unit
        );
        println!("#   throughput = '^done ([0-9]+)'\n#   unit = \"{unit}\"");
    }
    for line in &by_hand {
        println!("# to be written by hand: {line}");
    }
    if file.step.is_empty() {
        println!(
            "# No step can be written without knowing the program: put a parameter into the command, such as \"{{threads}}\", and write"
        );
        println!(
            "#   [parameters]\n#   threads = [1, 2, 4]\n#   [[step]]\n#   name = \"two threads\"\n#   set = {{ threads = 2 }}"
        );
    }
    println!("\n{}", file.text().trim_end());
    Ok(0)
}

/// Whether a JVM was seen in a run.
fn has_jvm(run: &query::Run) -> bool {
    let select = store::Select { columns: Some(&[]), ..store::Select::default() };
    run.recording.load("jvm_heap", &select).is_some_and(|frame| !frame.entities.is_empty())
}

/// Whether a trial can mean anything to the program: options of JVMs are for Java, settings of Go's runtime for what is not.
fn fits(trial: &Trial, is_java: bool) -> bool {
    match trial.kind.as_str() {
        "jvm" => is_java,
        "env" if ["GOGC", "GOMAXPROCS", "GOMEMLIMIT"].contains(&trial.name.as_str()) => !is_java,
        _ => true,
    }
}

/// Adds what can be run without knowing the program; false where it cannot.
fn add(file: &mut File, trial: &Trial, why: &str) -> bool {
    let Some(last) = trial.values.last().filter(|value| !value.starts_with('x')) else { return false };
    let (name, parameter, value) = match trial.kind.as_str() {
        "env" => {
            let mut values: Vec<Scalar> =
                trial.values.iter().filter(|v| !v.starts_with('x')).cloned().map(Scalar::Text).collect();
            // What it is now is not to set it, and the nearest to that is an empty text.
            if trial.values.iter().any(|v| v.starts_with('x')) {
                values.insert(0, Scalar::Text(String::new()));
            }
            (trial.name.clone(), Parameter::Env(EnvParameter { env: trial.name.clone(), values }), last.clone())
        }
        "jvm" if last == "on" => {
            let values = vec![Scalar::Text(String::new()), Scalar::Text(trial.name.clone())];
            (
                trial.name.clone(),
                Parameter::Env(EnvParameter { env: "JAVA_TOOL_OPTIONS".into(), values }),
                trial.name.clone(),
            )
        }
        // What it is now has no word that can be written.
        "setting" if !trial.values.iter().any(|v| v.starts_with('x')) && !trial.name.contains(char::is_uppercase) => {
            let values = trial.values.iter().cloned().map(Scalar::Text).collect();
            (
                trial.name.clone(),
                Parameter::Setting(SettingParameter { setting: trial.name.clone(), values }),
                last.clone(),
            )
        }
        _ => return false,
    };
    let key: String =
        name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect::<String>().to_lowercase();
    if file.parameters.contains_key(&key) {
        return true;
    }
    file.parameters.insert(key.clone(), parameter);
    file.step.push(StepSpec {
        name: format!("{name} {}", if value == name { "on" } else { &value }),
        why: Some(why.to_owned()),
        keep: None,
        set: [(key, Scalar::Text(value))].into(),
    });
    true
}

#[cfg(test)]
mod tests {
    use super::fits;
    use explain::cause::Experiment;

    #[test]
    fn a_trial_is_for_the_runtime_that_is_there() {
        let gc = explain::cause::built_in().into_iter().find(|cause| cause.id == "gc").expect("the cause gc");
        let names = |is_java: bool| -> Vec<String> {
            gc.experiment
                .iter()
                .filter(|trial: &&Experiment| fits(trial, is_java))
                .map(|trial| trial.name.clone())
                .collect()
        };
        assert!(names(true).iter().all(|name| name.starts_with("-X")) && !names(true).is_empty());
        assert_eq!(names(false), ["GOGC"]);
    }
}

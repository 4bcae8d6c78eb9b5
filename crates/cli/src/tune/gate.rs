//! `twinscope tune gate`: two builds in the same blocks, for CI.

use super::{about, heed, place, print, settings, tools, usage};
use crate::text::clean;
use anyhow::{Context, Result};
use clap::Args;
use host::Host;
use std::path::{Path, PathBuf};
use tune::file::{Amount, DesignName, File, MeasureSpec, VariantSpec};
use tune::result::{Change, Verdict};
use tune::{Drive, End, Experiment, Folder, KeepRecordings, Place, Setter, drive};

/// Exit code where the condition holds.
const HOLDS: u8 = 4;

/// What is asked.
#[derive(Args, Debug)]
pub(super) struct Gate {
    /// The experiment's file: its command is run in both folders
    #[arg(value_name = "FILE.toml")]
    file: PathBuf,

    /// The folder of the old build
    #[arg(long, value_name = "DIR")]
    old: PathBuf,

    /// The folder of the new build
    #[arg(long, value_name = "DIR")]
    new: PathBuf,

    /// Exit with 4 if the new build is worse by so much, such as 'throughput -3%', 'wall +5%' or another measure of the file
    #[arg(long, value_name = "CONDITION", value_parser = Condition::parse)]
    fail_on: Condition,

    /// How sure a difference has to be, at least 95%
    #[arg(long, value_name = "N%", default_value = "95%")]
    confidence: String,

    /// Fail also where a loss of that size cannot be excluded
    #[arg(long)]
    strict: bool,

    /// Print Markdown, for a pull request
    #[arg(long)]
    markdown: bool,

    /// Change the settings of the machine that the experiment names without asking
    #[arg(long)]
    yes: bool,

    /// Say nothing but errors and the result
    #[arg(short, long)]
    quiet: bool,
}

/// When the gate fails.
#[derive(Clone, Debug, PartialEq)]
struct Condition {
    measure: String,
    amount: f64,
}

impl Condition {
    fn parse(text: &str) -> Result<Condition, String> {
        let wrong = || "expected MEASURE -N% or MEASURE +N%, such as 'throughput -3%' or 'wall +5%'".to_owned();
        let (measure, amount) = text.trim().rsplit_once(char::is_whitespace).ok_or_else(wrong)?;
        let percent = amount.strip_suffix('%').and_then(|a| a.strip_prefix(['-', '+', '−'])).ok_or_else(wrong)?;
        let amount =
            percent.parse::<f64>().ok().map(|p| p / 100.0).filter(|a| *a > 0.0 && *a < 1.0).ok_or_else(wrong)?;
        let measure = match measure.trim() {
            "throughput" => "work",
            "time" => "wall",
            name => name,
        };
        Ok(Condition { measure: measure.to_owned(), amount })
    }
}

/// How much worse it is, as a share: 0.03 is 3 % less of what more is better of, or 3 % more of what less is.
fn loss(factor: f64, more_is_better: bool) -> f64 {
    if more_is_better { 1.0 - factor } else { factor - 1.0 }
}

/// The most that it can be worse, by the interval.
fn most(change: &Change, more_is_better: bool) -> Option<f64> {
    let [low, high] = change.interval?;
    Some(loss(if more_is_better { low } else { high }, more_is_better))
}

/// Runs both, and again where they differ. Returns the exit code.
pub(super) fn gate(asked: &Gate) -> Result<u8> {
    let text = files::foreign::text(&asked.file).with_context(|| asked.file.display().to_string())?;
    let called = asked.file.display().to_string();
    let wrong = |e: tune::file::FileError| usage(clean(&e.to_string()));
    let mut file = File::parse(&text, &called).map_err(wrong)?;
    file.design = DesignName::Ab;
    (file.step, file.explained) = (Vec::new(), Some(file.explained.unwrap_or(0)));
    file.effect = Some(Amount(asked.fail_on.amount));
    file.confidence = Some(asked.confidence.clone());
    let folder = |dir: &Path| std::path::absolute(dir).with_context(|| dir.display().to_string());
    let build = |name: &str, dir: &Path| -> Result<VariantSpec> {
        anyhow::ensure!(dir.is_dir(), "{}: there is no such folder", dir.display());
        let dir = folder(dir)?.display().to_string().replace('{', "{{").replace('}', "}}");
        Ok(VariantSpec { name: name.into(), dir: Some(dir), ..VariantSpec::default() })
    };
    file.variant = vec![build("old", &asked.old)?, build("new", &asked.new)?];
    judge_first(&mut file, &asked.fail_on.measure);
    let base = folder(asked.file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")))?;
    file.name = Some(format!("{}-gate", file.name.clone().unwrap_or_else(|| stem(&asked.file))));
    let made = Experiment::new(file.clone(), &text, &called, base).map_err(wrong)?;
    let judged = made.measures.first().map_or("", |m| m.head.name.as_str());
    if judged != asked.fail_on.measure {
        let there: Vec<&str> = made.measures.iter().map(|m| m.head.name.as_str()).collect();
        return Err(usage(format!(
            "--fail-on: nothing is measured that is called {}; there are {}",
            asked.fail_on.measure,
            there.join(", ")
        )));
    }
    heed();
    let first = session(asked, &made, &file)?;
    let mut shown = first;
    let percent = asked.fail_on.amount * 100.0;
    let better = shown.measures.first().is_some_and(|m| m.more_is_better);
    let fails = |change: Option<&Change>| {
        change.is_some_and(|c| {
            c.verdict == Verdict::Worse && c.factor.is_some_and(|f| loss(f, better) >= asked.fail_on.amount)
        })
    };
    let mut failed = fails(shown.changes.first());
    if failed {
        // What one session calls may be its own bias: how binaries were laid out in memory, what else ran.
        eprintln!("twinscope: the new build seems worse; it is confirmed by a second session");
        shown = session(asked, &made, &file)?;
        failed = fails(shown.changes.first());
    }
    if asked.markdown {
        print::markdown(&shown);
    } else {
        print::verdict(&shown);
    }
    let change = shown.changes.first();
    let broken = shown.variants.iter().any(|v| v.failed * 10 > v.trials);
    let at_most = change.and_then(|c| most(c, better));
    let excluded = at_most.is_some_and(|loss| loss < asked.fail_on.amount);
    println!();
    if failed {
        println!("FAILED: {} is worse by {percent:.1} % or more, in two sessions.", asked.fail_on.measure);
        return Ok(HOLDS);
    }
    if broken {
        println!("FAILED: trials failed.");
        return Ok(HOLDS);
    }
    match at_most {
        _ if excluded => println!("passed: a loss of {percent:.1} % is excluded."),
        Some(loss) => println!("passed: not decided; it could be a loss of up to {:.1} %.", loss * 100.0),
        None => println!("passed: not decided; there were too few blocks to tell."),
    }
    Ok(if asked.strict && !excluded { HOLDS } else { 0 })
}

fn session(asked: &Gate, made: &Experiment, file: &File) -> Result<tune::result::Experiment> {
    let text = file.text();
    let path = place(made, "")?;
    let machine = Host::live();
    settings::refuse_what_is_left(&machine)?;
    let groups = Place::open(&machine, made).map_err(|why| anyhow::anyhow!(clean(&why)))?;
    let keeping = settings::keeping(&machine, made, &path, asked.yes)?;
    let mut tools = tools(KeepRecordings::Explained)?;
    tools.settings = keeping.as_ref().map(|keeping| keeping as &dyn Setter);
    tools.place = Some(&groups);
    let about = about(made, &asked.file.display().to_string());
    let mut progress = super::watch::Progress::new(made, &path, asked.quiet);
    let what = Drive { experiment: made, text: &text, path: &path, about: &about, more: None };
    let driven = drive(&what, &tools, &mut progress);
    progress.over();
    let put_back = keeping.map_or(Ok(()), settings::Keeping::over);
    drop(groups);
    if driven?.1 == End::Stopped {
        crate::stop::leave_signals();
    }
    put_back?;
    let events = Folder::events(&path)?;
    tune::show(made, &events, &path, file.explained > Some(0)).with_context(|| path.display().to_string())
}

/// Puts the measure that is judged first.
fn judge_first(file: &mut File, name: &str) {
    let is = |m: &MeasureSpec| {
        m.name.as_deref() == Some(name) || (m.name.is_none() && m.from.is_some_and(|f| f.name() == name))
    };
    match file.measure.iter().position(is) {
        Some(at) => {
            let measure = file.measure.remove(at);
            file.measure.insert(0, measure);
        }
        // Of those that are measured without being told.
        None if file.measure.is_empty() => {
            let from = tune::file::From::ALL.into_iter().find(|from| from.name() == name);
            file.measure =
                from.map(|from| MeasureSpec { from: Some(from), ..MeasureSpec::default() }).into_iter().collect();
        }
        None => {}
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().map_or("experiment".into(), |s| s.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions() {
        assert_eq!(Condition::parse("throughput -3%"), Ok(Condition { measure: "work".into(), amount: 0.03 }));
        assert_eq!(Condition::parse("p99 +5%").map(|c| c.measure), Ok("p99".into()));
        for wrong in ["throughput", "throughput 3%", "throughput -3", "-3%", "x -0%", "x -100%"] {
            assert!(Condition::parse(wrong).is_err(), "{wrong}");
        }
        assert!((loss(0.96, true) - 0.04).abs() < 1e-9 && (loss(1.05, false) - 0.05).abs() < 1e-9);
    }
}

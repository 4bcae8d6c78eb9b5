//! A session in sentences: its verdict, what a reader should beware of.

use crate::experiment::Experiment;
use crate::file::Commands;
use crate::result::{self, Change, DesignKind, MeasureHead, Point, SearchRate, TrialEnd, Value, Verdict};
use crate::space::for_sh;
use model::human;
use std::path::Path;

/// A trial is said to be disturbed above this part of the CPUs.
const DISTURBED: f64 = 0.1;

/// A point is of this many that are disturbed.
const OFTEN: f64 = 0.1;

/// A value with its unit: words keep a distance from the prefix, "11.4 M operations/s".
pub fn amount(value: f64, unit: &str) -> String {
    let base = unit.split('/').next().unwrap_or_default();
    if base.chars().count() <= 2 {
        return human(value, unit);
    }
    format!("{} {unit}", human(value, ""))
}

/// A command as one would type it.
pub fn shell(words: &[String]) -> String {
    match words {
        [sh, c, script] if sh == "sh" && c == "-c" => script.clone(),
        words => words.iter().map(|word| for_sh(word)).collect::<Vec<_>>().join(" "),
    }
}

/// The command as the file has it.
pub(super) fn command(experiment: &Experiment) -> String {
    if let Some(load) = &experiment.file.load {
        let (url, rate) = (&load.url, load.rate.to_string());
        return format!("twinscope load --rate {rate} --connections {} {url}", load.connections);
    }
    commands(&experiment.file.workload.command)
}

/// One of the file's as it is there.
pub(super) fn commands(of: &Commands) -> String {
    match of {
        Commands::Shell(text) => text.clone(),
        Commands::Words(words) => words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
    }
}

/// Quoted for sh where it must be; names in braces stay as they are.
fn quoted(word: &str) -> String {
    if !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-./=:,+@%{}".contains(&b)) {
        word.to_owned()
    } else {
        for_sh(word)
    }
}

/// A folder as an argument.
pub(super) fn for_command(path: &Path) -> String {
    for_sh(&path.display().to_string())
}

/// A number with its interval: `7.9 (6.1 to 12)`.
pub(super) fn about(of: Value) -> String {
    let short = |x: f64| human(x, "");
    format!("{} ({} to {})", short(of.estimate), short(of.low), short(of.high))
}

/// A factor with two or three digits: 1.94×, 12.3×, 140×.
pub fn factor(of: f64) -> String {
    match of {
        of if of >= 100.0 => format!("{of:.0}×"),
        of if of >= 10.0 => format!("{of:.1}×"),
        of if of >= 0.1 => format!("{of:.2}×"),
        of => format!("{of:.3}×"),
    }
}

fn interval(change: &Change) -> String {
    let blocks = match change.blocks {
        1 => "1 block".into(),
        n => format!("{n} blocks"),
    };
    match change.interval {
        Some([low, high]) => format!("({} to {}; {blocks})", factor(low), factor(high)),
        None => format!("({blocks})"),
    }
}

/// "does 1.94× the work of", "takes 0.87× the time of", "has 0.5× the p99 of".
pub(super) fn does(of: &result::Experiment, measure: &MeasureHead, times: f64) -> String {
    let times = factor(times);
    if of.search.is_some() {
        return format!("takes {times} the rate of");
    }
    match measure.name.as_str() {
        "work" => format!("does {times} the work of"),
        "wall" => format!("takes {times} the time of"),
        "cpu" => format!("takes {times} the CPU time of"),
        "rss" => format!("takes {times} the memory of"),
        name => format!("has {times} the {name} of"),
    }
}

fn name(of: &result::Experiment, variant: usize) -> String {
    of.variants.get(variant).map_or(String::new(), |v| format!("`{}`", v.name))
}

/// One comparison in a sentence.
pub(super) fn compared(of: &result::Experiment, change: &Change) -> String {
    let (variant, against) = (name(of, change.variant), name(of, change.against));
    let Some(measure) = of.measures.first() else { return String::new() };
    let Some(times) = change.factor else {
        // A search that ended at one of its ends has no ratio.
        match change.verdict {
            Verdict::Better => return format!("{variant} is better than {against}."),
            Verdict::Worse => return format!("{variant} is worse than {against}."),
            _ => {}
        }
        let failed = of.variants.get(change.variant).filter(|v| v.failed > 0);
        return match failed {
            Some(v) => format!("{variant} failed in {} of {} trials, and is not judged.", v.failed, v.trials),
            None if change.verdict == Verdict::Open => format!("{variant} has not been judged yet."),
            None => format!("{variant} could not be judged: there were too few blocks."),
        };
    };
    let seen = format!("{} {}", factor(times), interval(change));
    let percent = format!("{} %", round(of.effect * 100.0));
    match change.verdict {
        Verdict::Better | Verdict::Worse => {
            format!("{variant} {} {against} {}.", does(of, measure, times), interval(change))
        }
        Verdict::Same => format!("{variant} and {against} are the same to within {percent}: {seen}."),
        Verdict::NotDecided | Verdict::Open => {
            let more = change.needs.map_or(String::new(), |n| format!(" About {n} blocks would decide it."));
            let failed = of.variants.get(change.variant).filter(|v| v.failed * 10 > v.trials);
            let failed = failed.map_or(String::new(), |v| {
                format!(" It failed in {} of {} trials, and so is not called better.", v.failed, v.trials)
            });
            let yet = if change.verdict == Verdict::Open {
                "have not been told apart yet"
            } else {
                "could not be told apart"
            };
            format!("{variant} and {against} {yet}: {seen}.{failed}{more}")
        }
    }
}

fn round(x: f64) -> String {
    format!("{:.1}", x).trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// What a change is because of, where that is known: "64 % of the gain: …".
fn because(of: &result::Experiment, change: &Change) -> String {
    let Some(why) = change.why.first() else { return String::new() };
    let slow = if change.verdict == Verdict::Better { change.against } else { change.variant };
    format!(" {:.0} % of the difference: in {}, {}.", why.share * 100.0, name(of, slow), why.says)
}

/// What came out.
pub(super) fn verdict(of: &result::Experiment) -> String {
    if !of.trials.iter().any(|t| matches!(t.end, TrialEnd::Measured | TrialEnd::Failed)) {
        return "Nothing has been measured yet.".into();
    }
    let said = match of.design {
        DesignKind::Search => searched(of),
        DesignKind::Ab => {
            let mut changes: Vec<&Change> = of.changes.iter().collect();
            let sign = if of.measures.first().is_some_and(|m| m.more_is_better) { 1.0 } else { -1.0 };
            let gain = |c: &Change| c.factor.map_or(f64::MIN, |f| f.ln() * sign);
            changes.sort_by(|a, b| gain(b).total_cmp(&gain(a)));
            let said: Vec<String> = changes.iter().take(3).map(|c| compared(of, c) + &because(of, c)).collect();
            let left = changes.len().saturating_sub(3);
            said.join(" ") + &if left > 0 { format!(" {left} more are in the table.") } else { String::new() }
        }
        DesignKind::Ladder => climbed(of),
        DesignKind::Sweep => swept(of),
        DesignKind::Factorial => super::factorial::said(of),
        DesignKind::Optimise => super::optimum::said(of),
    };
    if of.finished { said } else { format!("Not finished. {said}") }
}

fn climbed(of: &result::Experiment) -> String {
    let kept: Vec<_> = of.rungs.iter().filter(|r| r.kept == Some(true)).collect();
    let Some(last) = kept.last() else {
        return match of.rungs.iter().any(|r| r.kept.is_none()) {
            true => "No step was kept so far.".into(),
            false => "No step was better, and none was kept.".into(),
        };
    };
    let steps = match kept.len() {
        1 => format!("1 of {} steps was kept", of.rungs.len()),
        n => format!("{n} of {} steps were kept", of.rungs.len()),
    };
    let Some(measure) = of.measures.first() else { return String::new() };
    // The first step's total is its change against the baseline.
    let total = last.total.as_ref().or(last.change.as_ref());
    if let Some((found, rate)) = rate_of(of, last.variant)
        && total.is_some_and(|t| t.factor.is_none() && t.verdict == Verdict::Better)
    {
        let base = of.search.iter().flat_map(|s| &s.rates).find(|r| r.variant == 0).and_then(|r| r.says.clone());
        let base = base.map_or(String::new(), |says| format!("; the baseline {says}"));
        return format!("{steps}: the program takes {rate}{}{base}.", between(found));
    }
    let Some((total, times)) = total.and_then(|t| Some((t, t.factor?))) else {
        return format!("{steps}; the whole ladder has not been measured yet.");
    };
    let all = format!("{steps}: the program {} the baseline {}.", does(of, measure, times), interval(total));
    let sign = if measure.more_is_better || of.search.is_some() { 1.0 } else { -1.0 };
    let gains = kept.iter().filter_map(|r| Some((*r, r.change.as_ref()?)));
    let most = gains.max_by(|a, b| {
        let gain = |c: &Change| c.factor.map_or(f64::MIN, |f| f.ln() * sign);
        gain(a.1).total_cmp(&gain(b.1))
    });
    let most = most.filter(|_| kept.len() > 1).and_then(|(rung, c)| Some((rung, c, c.factor?)));
    let most = most.map_or(String::new(), |(rung, c, f)| {
        format!(" Most of it is `{}`: {} {}.{}", rung.name, factor(f), interval(c), because(of, c))
    });
    let one =
        if kept.len() == 1 { last.change.as_ref().map_or(String::new(), |c| because(of, c)) } else { String::new() };
    all + &most + &one
}

fn swept(of: &result::Experiment) -> String {
    let (Some(sweep), Some(measure)) = (&of.sweep, of.measures.first()) else { return String::new() };
    let at = |p: &Point| {
        let pairs: Vec<String> =
            sweep.parameters.iter().zip(&p.values).map(|(name, value)| format!("{name}={value}")).collect();
        pairs.join(" ")
    };
    let Some(best) = sweep.points.iter().find(|p| p.is_best) else { return "No point could be measured.".into() };
    let way = if measure.more_is_better { "highest" } else { "lowest" };
    let mean = best.mean.map_or(String::new(), |m| amount(m, &measure.unit));
    let mut said = format!("{} is {way} at {}: {mean}.", capital(&measure.name), at(best));
    let near: Vec<String> = sweep.points.iter().filter(|p| p.may_be_best && !p.is_best).map(at).collect();
    if !near.is_empty() {
        said.push_str(&format!(" Not to be told from it: {}.", near.join(", ")));
    }
    if let Some(law) = &sweep.law {
        if law.does_not_fit {
            said.push_str(" No scaling law fits: the points lie off it by more than they scatter.");
        } else {
            said.push_str(&format!(" {}.", capital(&law.peak_says)));
        }
        if let Some(state) = &law.grows {
            said.push_str(&format!(" What grows most per unit of work is time in the state {state}."));
        }
    }
    said
}

/// The rate that was found for a variant, in words.
fn rate_of(of: &result::Experiment, variant: usize) -> Option<(&SearchRate, String)> {
    let found = of.search.as_ref()?.rates.iter().find(|r| r.variant == variant)?;
    Some((found, amount(found.rate?, "/s")))
}

/// Its interval.
fn between(found: &SearchRate) -> String {
    found.interval.map_or(String::new(), |[low, high]| {
        format!(" ({} to {}; {} trials)", amount(low, "/s"), amount(high, "/s"), found.around)
    })
}

/// What a search found: the best rate first.
fn searched(of: &result::Experiment) -> String {
    let Some(search) = &of.search else { return String::new() };
    let by_rate = |r: &&SearchRate| r.rate.unwrap_or(0.0);
    let best = search.rates.iter().max_by(|a, b| by_rate(a).total_cmp(&by_rate(b)));
    let mut said: Vec<String> = Vec::new();
    if let Some((found, rate)) = best.and_then(|best| rate_of(of, best.variant)) {
        let limits = search.limits.join(", ");
        said.push(format!("{} takes {rate}{} within its limits: {limits}.", name(of, found.variant), between(found)));
    }
    for found in &search.rates {
        match &found.says {
            Some(says) => said.push(format!("{} {says}.", name(of, found.variant))),
            None if of.variants.get(found.variant).is_some_and(|v| v.trials > 0 && v.failed == v.trials) => {
                let trials = of.variants.get(found.variant).map_or(0, |v| v.trials);
                said.push(format!("{} failed in all of its {trials} trials.", name(of, found.variant)));
            }
            None if found.rate.is_none() => {
                let yet = if of.finished { ": there were too few trials around its limit" } else { " yet" };
                said.push(format!("The rate of {} is not known{yet}.", name(of, found.variant)));
            }
            None => {}
        }
    }
    let judged = of.changes.iter().filter(|c| c.factor.is_some());
    said.extend(judged.take(3).map(|c| compared(of, c) + &because(of, c)));
    said.join(" ")
}

pub(super) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

/// The state of threads whose time per unit of work grows most from the first point to the last.
pub(super) fn grows(points: &[Point]) -> Option<String> {
    let (first, last) = (points.first()?, points.last()?);
    let before = |state: &str| first.ledger.iter().find(|(s, _)| s == state).map_or(0.0, |(_, t)| *t);
    let busy = last.ledger.iter().filter(|(state, _)| state != "idle");
    let grown = busy.map(|(state, t)| (state, t - before(state))).max_by(|a, b| a.1.total_cmp(&b.1))?;
    (grown.1 > 0.0 && !first.ledger.is_empty()).then(|| grown.0.clone())
}

/// A command that used more CPUs than this is not of one thread.
const ONE: f64 = 1.1;

/// What a reader should know of trials that ran at the same time.
fn side_by_side(of: &result::Experiment) -> Vec<String> {
    let mut cpus: Vec<usize> = of.trials.iter().filter_map(|t| t.cpu).collect();
    cpus.sort_unstable();
    cpus.dedup();
    let Some((last, before)) = cpus.split_last() else { return Vec::new() };
    let before: Vec<String> = before.iter().map(usize::to_string).collect();
    let which =
        if before.is_empty() { format!("CPU {last}") } else { format!("CPUs {} and {last}", before.join(", ")) };
    let mut said = vec![format!(
        "Both trials of a block ran at the same time, on {which}, which they swapped at random. What the machine did meanwhile hit \
         both; the bandwidth of memory and the caches that these CPUs share were shared, so that either may be slower than alone."
    )];
    // Those for explaining have both CPUs; the others can use more than one only where they say so themselves.
    let used = |t: &result::Trial| Some((t.variant, t.cpus_used.filter(|used| *used > ONE)?));
    if let Some((variant, most)) = of.trials.iter().filter_map(used).max_by(|a, b| a.1.total_cmp(&b.1)) {
        said.push(format!(
            "{} used {most:.1} CPUs on average where it had both: it is not of one thread, and on one CPU its threads waited for each \
             other. Measure it without together = true.",
            name(of, variant)
        ));
    }
    said
}

/// What a reader should know before he believes it.
pub(super) fn cautions(of: &result::Experiment, experiment: &Experiment) -> Vec<String> {
    let mut said = if of.together { side_by_side(of) } else { Vec::new() };
    let measured: Vec<_> = of.trials.iter().filter(|t| t.end == TrialEnd::Measured && !t.explained).collect();
    let disturbed = |what: &dyn Fn(&result::Trial) -> Option<f64>| {
        let parts: Vec<f64> = measured.iter().filter_map(|t| what(t)).collect();
        let many = parts.iter().filter(|p| **p > DISTURBED).count();
        let most = parts.iter().copied().fold(0.0, f64::max);
        (many as f64 > OFTEN * parts.len() as f64).then_some((many, parts.len(), most))
    };
    if let Some((many, all, most)) = disturbed(&|t| t.stolen) {
        said.push(format!(
            "In {many} of {all} trials the hypervisor gave more than a tenth of the CPUs' time to others (up to {:.0} %). Blocks \
             take out what is the same for all variants; the intervals are wide for it.",
            most * 100.0
        ));
    }
    if let Some((many, all, most)) = disturbed(&|t| t.others) {
        said.push(format!(
            "In {many} of {all} trials other programs used more than a tenth of the CPUs (up to {:.0} %).",
            most * 100.0
        ));
    }
    // In a search trials fail, and limits are not met, for that is how it finds its rate.
    let searches = of.search.is_some();
    // Trials of a search are each of something else: as one variant they are judged by nothing.
    let sought = |number: usize| of.optimum.is_some() && number == crate::designs::optimise::SOUGHT;
    for (number, v) in of.variants.iter().enumerate().filter(|(_, v)| v.failed > 0 && !searches) {
        let more = match v.failed * 10 > v.trials && !sought(number) {
            true => ", and so is not called better",
            false => "",
        };
        let why =
            of.trials.iter().find(|t| t.variant == number && t.end == TrialEnd::Failed).and_then(|t| t.reason.clone());
        let why = why.map_or(String::new(), |why| format!(" The first: {why}."));
        said.push(format!("`{}` failed in {} of {} trials{more}.{why}", v.name, v.failed, v.trials));
    }
    for (at, m) in experiment.measures.iter().enumerate().filter(|_| !searches) {
        let Some(limit) = &m.limit else { continue };
        for (_, v) in of.variants.iter().enumerate().filter(|(number, _)| !sought(*number)) {
            if let Some(median) = v.medians.get(at).copied().flatten().filter(|median| !limit.holds(*median)) {
                let seen = amount(median, &m.unit);
                said.push(format!("`{}` does not meet {} {}: its median is {seen}.", v.name, m.head.name, limit.text));
            }
        }
    }
    let costly = of.variants.iter().filter_map(|v| Some((v, v.recording_costs.filter(|c| *c > 1.1)?)));
    if let Some((v, costs)) = costly.max_by(|a, b| a.1.total_cmp(&b.1)) {
        said.push(format!(
            "Trials that were recorded for explaining took up to {} the time of the measured ones (`{}`). They are no part of the numbers, \
             but what they show is of a program that was slowed.",
            factor(costs), v.name
        ));
    }
    let failed = of.trials.iter().filter(|t| searches && t.end == TrialEnd::Failed);
    let failed: Vec<_> = failed.collect();
    if let Some(first) = failed.first() {
        let why = first.reason.clone().unwrap_or_default();
        let trials = if failed.len() == 1 { "1 trial".into() } else { format!("{} trials", failed.len()) };
        said.push(format!("{trials} failed and counted as above the limit. The first: {why}."));
    }
    let void =
        of.trials.iter().filter(|t| t.end == TrialEnd::Void && t.reason.as_deref() != Some("the session was stopped"));
    let void: Vec<_> = void.collect();
    if let Some(first) = void.first() {
        let why = first.reason.clone().unwrap_or_default();
        said.push(match void.len() {
            1 => format!("1 trial told nothing and its block was run again: {why}."),
            n => format!("{n} trials told nothing and their blocks were run again: {why}."),
        });
    }
    said
}

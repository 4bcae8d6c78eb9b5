//! A factorial as it is shown, and in sentences.

use super::words::{capital, does, factor};
use super::{SHOWN, View};
use crate::designs::factorial::{self, Best, Effect, Members, Runs};
use crate::experiment::Experiment;
use crate::file::DesignName;
use crate::result::{self, Combination, Factorial, Flag, FlagEffect};
use crate::space::Set;

/// So many effects are named in the verdict.
const NAMED: usize = 3;

impl View<'_> {
    pub(super) fn factorial(&self) -> Option<Factorial> {
        if self.experiment.file.design != DesignName::Factorial {
            return None;
        }
        let runs = factorial::runs(self.session)?;
        let names = &self.experiment.swept;
        let values = |run: usize| self.experiment.values(run, &[], &Set::new());
        let flag = |(at, name): (usize, &String)| {
            let on = (0..runs.count()).find(|run| runs.on(*run, at)).map(values).unwrap_or_default();
            let value = |of: &Set| of.get(name).cloned().unwrap_or_default();
            Flag { name: name.clone(), off: value(&values(0)), on: value(&on) }
        };
        let flags: Vec<Flag> = names.iter().enumerate().map(flag).collect();
        let effects = factorial::effects(self.session);
        let combination = |best: Best| Combination {
            name: factorial::named(names, &best.on),
            set: flags
                .iter()
                .enumerate()
                .map(|(at, f)| (f.name.clone(), if best.on.contains(&at) { f.on.clone() } else { f.off.clone() }))
                .collect(),
            variant: best.run,
            factor: Some(best.estimate.exp()).filter(|f| f.is_finite()),
            interval: best.interval.map(|i| i.map(f64::exp)),
        };
        Some(Factorial {
            resolution: runs.resolution().map(str::to_owned),
            aliased: aliased(&runs, names),
            blocks: effects.first().map_or(0, |e| e.blocks.len()),
            predicted: factorial::predicted(self.session, &effects).map(combination),
            measured: factorial::measured(self.session).map(combination),
            effects: effects.into_iter().map(|e| effect(e, names)).collect(),
            flags,
        })
    }
}

impl Experiment {
    /// What only a fraction of a factorial's combinations leaves open; empty where all are run.
    pub fn aliased(&self) -> String {
        let runs = Runs::of(self.swept.len()).filter(|_| self.file.design == DesignName::Factorial);
        runs.map_or(String::new(), |runs| aliased(&runs, &self.swept))
    }
}

fn effect(of: Effect, names: &[String]) -> FlagEffect {
    FlagEffect {
        name: name(&of.of, names),
        factor: Some(of.estimate.exp()).filter(|f| f.is_finite()),
        interval: of.interval.map(|i| i.map(f64::exp)),
        p: of.p,
        told: of.told,
        blocks: of.blocks.iter().map(|d| d.exp()).collect(),
        of: of.of,
    }
}

/// `gc`, `gc × thp`, `gc × thp or log × pool`.
fn name(of: &Members, names: &[String]) -> String {
    let one = |flags: &Vec<usize>| {
        let flags: Vec<&str> = flags.iter().filter_map(|f| names.get(*f)).map(String::as_str).collect();
        flags.join(" × ")
    };
    of.iter().map(one).collect::<Vec<_>>().join(" or ")
}

/// What a fraction leaves open.
fn aliased(runs: &Runs, names: &[String]) -> String {
    let Some(resolution) = runs.resolution() else { return String::new() };
    let of = |flag: usize| names.get(flag).map_or("", String::as_str);
    let set = |(flag, by): (usize, Vec<usize>)| {
        let by: Vec<&str> = by.into_iter().map(of).collect();
        format!("{} is on where an odd number of {} is", of(flag), by.join(", "))
    };
    let set: Vec<String> = runs.generated().into_iter().map(set).collect();
    let shared: Vec<String> = runs.contrasts().iter().filter(|c| c.len() > 1).map(|c| name(c, names)).collect();
    let apart = match shared.is_empty() {
        true => "Flags and pairs are told apart, as long as three and four together do nothing beyond that.".into(),
        false => format!(
            "Flags are told from pairs, as long as three together do nothing beyond that, but these pairs not from each other: {}.",
            shared.join("; ")
        ),
    };
    let (run, all) = (runs.count(), 1usize << runs.flags());
    format!("{run} of {all} combinations are run (resolution {resolution}): {}. {apart}", set.join("; "))
}

/// "1.42× (1.39 to 1.45)".
fn seen(times: Option<f64>, interval: Option<[f64; 2]>) -> String {
    let range = interval.map_or(String::new(), |[low, high]| format!(" ({} to {})", factor(low), factor(high)));
    times.map_or("–".into(), factor) + &range
}

/// What came out.
pub(super) fn said(of: &result::Experiment) -> String {
    let (Some(all), Some(measure)) = (&of.factorial, of.measures.first()) else { return String::new() };
    if all.blocks == 0 {
        let broken = of.variants.iter().find(|v| v.trials >= 3 && v.failed == v.trials);
        return match broken {
            Some(v) => format!(
                "`{}` failed in all of its {} trials. Effects need all runs: take out or change the flag that breaks it.",
                v.name, v.trials
            ),
            None => "No block is complete yet, so there are no effects.".into(),
        };
    }
    let told: Vec<&FlagEffect> = all.effects.iter().filter(|e| e.told).collect();
    let mut said = match told.len() {
        0 => "No flag and no pair is told from nothing.".into(),
        _ => {
            let each = |e: &&FlagEffect| {
                let single = e.of.first().filter(|of| of.len() == 1).and_then(|of| all.flags.get(*of.first()?));
                match single {
                    Some(f) => {
                        let does = e.factor.map_or(String::new(), |times| does(of, measure, times));
                        let range =
                            e.interval.map_or(String::new(), |[l, h]| format!(" ({} to {})", factor(l), factor(h)));
                        format!("`{}={}` {does} `{}={}`{range}", f.name, f.on, f.name, f.off)
                    }
                    None => format!("`{}` together: {} beyond what each does", e.name, seen(e.factor, e.interval)),
                }
            };
            let named: Vec<String> = told.iter().take(NAMED).map(each).collect();
            let more = told.len().saturating_sub(NAMED);
            let more = if more > 0 { format!("; {more} more are in the table") } else { String::new() };
            format!("{}{more}.", named.join("; "))
        }
    };
    let way = if measure.more_is_better { "highest" } else { "lowest" };
    if let Some(best) = &all.predicted {
        let run = if best.variant.is_none() && best.factor.is_some() { ", which was not run" } else { "" };
        let name = &best.name;
        said.push_str(&format!(" {} is {way} by the effects with `{name}`{run}", capital(&measure.name)));
        match best.interval {
            Some(_) => said.push_str(&format!(": {} of all off.", seen(best.factor, best.interval))),
            None => said.push('.'),
        }
    }
    if let Some(best) = all.measured.as_ref().filter(|m| all.predicted.as_ref().is_none_or(|p| p.name != m.name)) {
        let n = of.variants.len();
        said.push_str(&format!(
            " As measured it is {way} with `{}`: {} of all off, the best of {n} and so too good on average.",
            best.name,
            seen(best.factor, best.interval)
        ));
    }
    said
}

/// What to do after the end.
pub(super) fn next(of: &result::Experiment) -> Option<result::Next> {
    let best = of.factorial.as_ref()?.predicted.as_ref().filter(|best| best.interval.is_some())?;
    let set: Vec<String> = best.set.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let sure = (1.0 - SHOWN) * 100.0;
    let says = format!(
        "The prediction adds up effects, each with its own {sure:.0} % interval. An `ab` of all off against {} proves it as a whole.",
        set.join(" ")
    );
    Some(result::Next { says, command: None })
}

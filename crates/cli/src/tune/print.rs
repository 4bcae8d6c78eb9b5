//! What a session has come to, on the terminal, as CSV and as Markdown.

mod factorial;
mod optimum;
mod search;

use super::usage;
use crate::text::{clean, cut, table, trimmed};
use anyhow::Result;
use host::Host;
use model::csv_cell;
use std::path::Path;
use tune::result::{Change, DesignKind, Experiment, MeasureHead, TrialEnd, Verdict};
use tune::{amount, factor};

/// Characters of a bar.
const WIDTH: usize = 31;

fn seen(change: &Change) -> (String, String) {
    let times = change.factor.map_or("–".into(), factor);
    let interval = change.interval.map_or("–".into(), |[low, high]| format!("{} to {}", factor(low), factor(high)));
    (times, interval)
}

fn words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Same => "the same",
        Verdict::NotDecided => "not decided",
        Verdict::Open => "open",
    }
}

/// An interval on a logarithmic axis from −`span` to `span`, with a line at 1.
fn bar(times: Option<f64>, interval: Option<[f64; 2]>, span: f64) -> String {
    let (Some(times), Some([low, high])) = (times, interval) else { return String::new() };
    let at = |x: f64| (((x.ln() / span + 1.0) / 2.0 * (WIDTH - 1) as f64).round().max(0.0) as usize).min(WIDTH - 1);
    let (low, high, middle) = (at(low), at(high), at(times));
    let cell = |i: usize| match i {
        i if i == middle => '●',
        i if (low..=high).contains(&i) => '─',
        i if i == (WIDTH - 1) / 2 => '│',
        _ => ' ',
    };
    (0..WIDTH).map(cell).collect::<String>().trim_end().to_owned()
}

/// Half the width of the axis on which all of these fit: at least ± 5 %.
fn span(ends: impl Iterator<Item = f64>) -> f64 {
    ends.map(|x| x.ln().abs()).filter(|x| x.is_finite()).fold(1.05f64.ln(), f64::max)
}

fn value(of: Option<f64>, measure: &MeasureHead) -> String {
    of.map_or("–".into(), |x| amount(x, &measure.unit))
}

/// What came out, and the table of changes.
pub(super) fn verdict(of: &Experiment) {
    println!("{}\n", clean(&of.verdict));
    changes(of);
    for caution in &of.cautions {
        println!("\ncaution: {}", clean(caution));
    }
}

/// The whole of it.
pub(super) fn result(of: &Experiment, path: &Path) {
    println!("{}\n", clean(&of.verdict));
    match of.design {
        DesignKind::Ab => changes(of),
        DesignKind::Ladder => ladder(of),
        DesignKind::Sweep => sweep(of),
        DesignKind::Factorial => factorial::result(of),
        DesignKind::Optimise => optimum::result(of),
        DesignKind::Search => search::print(of),
    }
    for caution in &of.cautions {
        println!("\ncaution: {}", clean(caution));
    }
    for next in &of.next {
        println!("\nnext: {}", clean(&next.says));
        if let Some(command) = &next.command {
            println!("  {}", clean(command));
        }
    }
    let trials =
        of.trials.iter().filter(|t| !t.explained && matches!(t.end, TrialEnd::Measured | TrialEnd::Failed)).count();
    let explained = of.trials.iter().filter(|t| t.explained && t.end == TrialEnd::Measured).count();
    println!("\n{trials} trials, and {explained} for explaining, in {}", crate::text::path(path));
    println!("As a page: twinscope report {} -o {}.html", crate::text::path(path), clean(&of.name));
}

fn changes(of: &Experiment) {
    let Some(judged) = of.measures.first() else { return };
    let span = span(of.changes.iter().flat_map(|c| c.interval.into_iter().flatten().chain(c.factor)));
    let others: Vec<&str> = of.measures.iter().skip(1).map(|m| m.name.as_str()).collect();
    let mut header = vec!["variant", judged.name.as_str(), "change", "interval", "", "verdict"];
    header.extend(&others);
    let mut right = vec![false, true, true, true, false, false];
    right.extend(others.iter().map(|_| true));
    let mut out = table(&header, &right);
    for (number, variant) in of.variants.iter().enumerate() {
        let mut row = vec![cut(&clean(&variant.name), 40), value(variant.medians.first().copied().flatten(), judged)];
        match of.changes.iter().find(|c| c.variant == number) {
            Some(change) => {
                let (times, interval) = seen(change);
                row.extend([times, interval, bar(change.factor, change.interval, span), words(change.verdict).into()]);
                row.extend(change.others.iter().map(|o| o.map_or("–".into(), |(f, _)| factor(f))));
            }
            None => {
                row.extend([String::new(), String::new(), String::new(), "baseline".into()]);
                let own = of.measures.iter().enumerate().skip(1);
                row.extend(own.map(|(m, head)| value(variant.medians.get(m).copied().flatten(), head)));
            }
        }
        out.add_row(row);
    }
    println!("{}", trimmed(&out));
    why(of.changes.iter().map(|c| (c.variant, c)), of);
}

fn why<'a>(changes: impl Iterator<Item = (usize, &'a Change)>, of: &Experiment) {
    let name = |v: usize| of.variants.get(v).map_or("", |v| v.name.as_str());
    for (variant, change) in changes.filter(|(_, c)| !c.why.is_empty()) {
        let slow = if change.verdict == Verdict::Better { change.against } else { change.variant };
        println!("\nwhy {} is {}: in {}", clean(name(variant)), words(change.verdict), clean(name(slow)));
        for why in &change.why {
            println!("  {:>3.0} %  {}", why.share * 100.0, clean(&why.says));
        }
    }
}

fn ladder(of: &Experiment) {
    let Some(judged) = of.measures.first() else { return };
    let others: Vec<&str> = of.measures.iter().skip(1).map(|m| m.name.as_str()).collect();
    let mut header = vec!["step", judged.name.as_str(), "change", "interval", "in all", "interval", "kept"];
    header.extend(&others);
    let mut right = vec![false, true, true, true, true, true, false];
    right.extend(others.iter().map(|_| true));
    let mut out = table(&header, &right);
    if let Some(base) = of.variants.first() {
        let mut row = vec![clean(&base.name), value(base.medians.first().copied().flatten(), judged)];
        row.extend(["", "", "", "", ""].map(str::to_owned));
        row.extend(
            of.measures.iter().enumerate().skip(1).map(|(m, head)| value(base.medians.get(m).copied().flatten(), head)),
        );
        out.add_row(row);
    }
    let mut climbing = false;
    let mut shown = Vec::new();
    for rung in &of.rungs {
        let variant = of.variants.get(rung.variant);
        let climbed = of.changes.iter().find(|c| c.variant == rung.variant);
        climbing |= rung.change.is_none();
        let change = rung.change.as_ref().or(climbed);
        let (times, interval) = change.map_or(("–".into(), "–".into()), seen);
        let total = rung.total.as_ref().map(seen);
        let (all, all_interval) = total.unwrap_or_default();
        let kept = match rung.kept {
            Some(true) => "yes",
            Some(false) => "no",
            None => "open",
        };
        let own = value(variant.and_then(|v| v.medians.first().copied().flatten()), judged);
        let mut row = vec![cut(&clean(&rung.name), 40), own, times, interval, all, all_interval, kept.into()];
        row.extend(change.iter().flat_map(|c| c.others.iter().map(|o| o.map_or("–".into(), |(f, _)| factor(f)))));
        out.add_row(row);
        shown.extend(change.map(|c| (rung.variant, c)));
    }
    println!("{}", trimmed(&out));
    if climbing {
        println!(
            "(changes as they were seen while climbing: those that were kept are too large on average, until the whole ladder has been run)"
        );
    }
    why(shown.into_iter(), of);
}

fn sweep(of: &Experiment) {
    let (Some(sweep), Some(judged)) = (&of.sweep, of.measures.first()) else { return };
    let mut header: Vec<&str> = sweep.parameters.iter().map(String::as_str).collect();
    header.extend([judged.name.as_str(), "95 % interval", "of the best", "interval", ""]);
    let mut right = vec![true; sweep.parameters.len()];
    right.extend([true, true, true, true, false]);
    let others: Vec<&str> = of.measures.iter().skip(1).map(|m| m.name.as_str()).collect();
    header.extend(&others);
    right.extend(others.iter().map(|_| true));
    let mut out = table(&header, &right);
    for point in &sweep.points {
        let mut row: Vec<String> = point.values.iter().map(|v| clean(v)).collect();
        row.push(value(point.mean, judged));
        let interval = point
            .interval
            .map(|[low, high]| format!("{} to {}", amount(low, &judged.unit), amount(high, &judged.unit)));
        row.push(interval.unwrap_or("–".into()));
        row.push(point.of_best.map_or(String::new(), |(f, _)| factor(f)));
        row.push(
            point.of_best.map_or(String::new(), |(_, [low, high])| format!("{} to {}", factor(low), factor(high))),
        );
        row.push(match (point.is_best, point.may_be_best) {
            (true, _) => "best".into(),
            (false, true) => "may be the best".into(),
            _ => String::new(),
        });
        let variant = of.variants.get(point.variant);
        let others = of.measures.iter().enumerate().skip(1);
        row.extend(others.map(|(m, head)| value(variant.and_then(|v| v.medians.get(m).copied().flatten()), head)));
        out.add_row(row);
    }
    println!("{}", trimmed(&out));
    let Some(law) = &sweep.law else { return };
    if law.does_not_fit {
        println!("\nNo scaling law fits these points.");
        return;
    }
    let part = |v: tune::result::Value| format!("{:.3} ({:.3} to {:.3})", v.estimate, v.low, v.high);
    let kappa = law.kappa.map_or(String::new(), |k| format!(", κ {}", part(k)));
    println!("\nscaling law: {}: σ {}{kappa}; {}", law.name, part(law.sigma), law.peak_says);
}

/// Each trial as a line.
pub(super) fn csv(of: &Experiment) -> Result<()> {
    let mut out = csv::Writer::from_writer(std::io::stdout());
    let mut header: Vec<String> = [
        "trial",
        "stage",
        "block",
        "variant",
        "set",
        "explained",
        "end",
        "reason",
        "at",
        "seconds",
        "stolen",
        "others",
        "cpu",
    ]
    .map(str::to_owned)
    .into();
    header.extend(of.measures.iter().map(|m| m.name.clone()));
    // Of a search each trial has values of its own.
    let chosen = of.optimum.as_ref().map_or(&[][..], |o| o.parameters.as_slice());
    header.extend(chosen.iter().cloned());
    out.write_record(&header)?;
    let number = |x: Option<f64>| x.map_or(String::new(), |x| x.to_string());
    for trial in &of.trials {
        let end = serde_json::to_value(trial.end)?.as_str().unwrap_or_default().to_owned();
        let mut row = vec![
            trial.number.to_string(),
            trial.stage.to_string(),
            trial.block.to_string(),
            of.variants.get(trial.variant).map_or(String::new(), |v| csv_cell(&v.name)),
            csv_cell(&trial.set.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")),
            trial.explained.to_string(),
            end,
            csv_cell(trial.reason.as_deref().unwrap_or_default()),
            number(trial.at),
            number(trial.seconds),
            number(trial.stolen),
            number(trial.others),
            trial.cpu.map_or(String::new(), |cpu| cpu.to_string()),
        ];
        row.extend((0..of.measures.len()).map(|m| number(trial.values.get(m).copied().flatten())));
        let usual = of.variants.get(trial.variant).map_or(&[][..], |v| v.set.as_slice());
        let value = |name: &String| {
            let mut all = trial.set.iter().chain(usual);
            all.find(|(own, _)| own == name).map_or(String::new(), |(_, value)| csv_cell(value))
        };
        row.extend(chosen.iter().map(value));
        out.write_record(&row)?;
    }
    out.flush()?;
    Ok(())
}

/// A text in a table of Markdown.
fn cell(text: &str) -> String {
    clean(text).replace('|', "\\|")
}

/// For a ticket.
pub(super) fn markdown(of: &Experiment) {
    println!("{}\n", cell(&of.verdict));
    let judged = of.measures.first().map_or("", |m| m.name.as_str());
    let name = |change: &Change| cell(of.variants.get(change.variant).map_or("", |v| v.name.as_str()));
    let why = |change: &Change| {
        let why = change.why.iter().map(|w| format!("{:.0} %: {}", w.share * 100.0, cell(&w.says)));
        why.collect::<Vec<_>>().join("; ")
    };
    match of.design {
        DesignKind::Search => {
            if let Some(found) = &of.search {
                search::markdown(of, found);
            }
        }
        DesignKind::Sweep => {
            let Some(sweep) = &of.sweep else { return };
            let unit = of.measures.first().map_or("", |m| m.unit.as_str());
            println!("| {} | {judged} | of the best |\n|---|---|---|", cell(&sweep.parameters.join(", ")));
            for p in &sweep.points {
                let mean = p.mean.map_or("–".into(), |m| amount(m, unit));
                let best = p.of_best.map_or("best".into(), |(f, [low, high])| {
                    format!("{} ({} to {})", factor(f), factor(low), factor(high))
                });
                println!("| {} | {mean} | {best} |", cell(&p.values.join(", ")));
            }
        }
        DesignKind::Factorial => factorial::markdown(of, &cell),
        DesignKind::Optimise => optimum::markdown(of, &cell),
        DesignKind::Ab => {
            println!("| variant | {judged} | interval | verdict | why |\n|---|---|---|---|---|");
            for change in &of.changes {
                let (times, interval) = seen(change);
                println!("| {} | {times} | {interval} | {} | {} |", name(change), words(change.verdict), why(change));
            }
        }
        DesignKind::Ladder => {
            println!("| step | {judged} | interval | in all | interval | kept | why |\n|---|---|---|---|---|---|---|");
            for rung in &of.rungs {
                let climbed = of.changes.iter().find(|c| c.variant == rung.variant);
                let Some(change) = rung.change.as_ref().or(climbed) else { continue };
                let (times, interval) = seen(change);
                let (all, all_interval) = rung.total.as_ref().map(seen).unwrap_or_default();
                let kept = rung.kept.map_or("open", |kept| if kept { "yes" } else { "no" });
                let why = why(change);
                println!("| {} | {times} | {interval} | {all} | {all_interval} | {kept} | {why} |", name(change));
            }
        }
    }
    for caution in &of.cautions {
        println!("\n> {}", cell(caution));
    }
}

/// How many variants, in words.
pub(super) fn counted(variants: usize) -> String {
    if variants == 1 { "1 variant".into() } else { format!("{variants} variants") }
}

/// What would be run.
pub(super) fn plan(of: &tune::Experiment) -> Result<u8> {
    let plan = of.plan(0);
    let judged = of.measures.first();
    println!(
        "{}: {}, judged by {}",
        clean(&of.name),
        counted(of.variants.len()),
        match of.searched {
            Some(_) => "the highest rate within the limits",
            None => judged.map_or("", |m| m.head.name.as_str()),
        }
    );
    let mut out = table(&["", "variant", "command"], &[true, false, false]);
    for (number, variant) in of.variants.iter().enumerate() {
        let steps: Vec<usize> = if of.file.step.is_empty() { Vec::new() } else { (0..number).collect() };
        let made = of.shown(number, &steps).map_err(|why| anyhow::anyhow!(why))?;
        out.add_row([number.to_string(), clean(&variant.name), clean(&made.command.join(" "))]);
    }
    println!("{}", trimmed(&out));
    if !of.file.step.is_empty() {
        println!("(of a ladder, with all steps before it: a step that is not better is left out of those after it)");
    }
    let (blocks, runs) = (plan.blocks, of.variants.len());
    match &plan.design {
        tune::Design::Optimise { space, trials, .. } => {
            let seek = tune::Seek::of(*trials);
            println!(
                "\n{} trials of the search, of {} combinations, then {} blocks of the best three and the default",
                seek.searched,
                space.points(),
                seek.blocks
            );
            return Ok(0);
        }
        tune::Design::Factorial { .. } => println!("\n{blocks} blocks of {runs} runs: {} trials", blocks * runs),
        _ => println!("\nat most {blocks} blocks of a comparison; changes of {:.1} % matter", plan.effect * 100.0),
    }
    if let Some([first, second]) = tune::cpus(&Host::live(), of).map_err(|why| usage(clean(&why)))? {
        println!(
            "Both trials of a block run at the same time: the first of its order on CPU {first}, the second on CPU {second}."
        );
    }
    let aliased = of.aliased();
    if !aliased.is_empty() {
        println!("{}", clean(&aliased));
    }
    let seeded = of.file.seed.is_some();
    if seeded {
        let slots: Vec<tune::blocks::Slot> = (0..of.variants.len()).map(tune::blocks::Slot::of).collect();
        let whole = if of.file.step.is_empty() { "" } else { " of the whole ladder" };
        println!("order of the first blocks{whole}, without trials for explaining:");
        let stage = of.file.step.len();
        for block in 0..3 {
            let order: Vec<String> =
                tune::blocks::order(plan.seed, stage, block, &slots).iter().map(|s| s.variant.to_string()).collect();
            println!("  {}", order.join(" "));
        }
    } else {
        println!(
            "The order within a block is drawn when the session begins; with seed = N in the file it is known before."
        );
    }
    Ok(0)
}

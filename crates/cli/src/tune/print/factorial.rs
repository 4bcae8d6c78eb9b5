//! A factorial on the terminal and as Markdown.

use super::{bar, span};
use crate::text::{clean, cut, table, trimmed};
use tune::factor;
use tune::result::{Combination, Experiment, Factorial, FlagEffect};

fn range(interval: Option<[f64; 2]>) -> String {
    interval.map_or("–".into(), |[low, high]| format!("{} to {}", factor(low), factor(high)))
}

/// How probable it is that nothing is there.
fn probability(p: Option<f64>) -> String {
    match p {
        None => "–".into(),
        Some(p) if p < 0.0001 => "< 0.0001".into(),
        Some(p) if p < 0.1 => format!("{p:.4}"),
        Some(p) => format!("{p:.2}"),
    }
}

fn told(effect: &FlagEffect) -> &'static str {
    if effect.told { "yes" } else { "no" }
}

/// The table of effects, and the best combinations.
pub(super) fn result(of: &Experiment) {
    let Some(all) = &of.factorial else { return };
    let span = span(all.effects.iter().flat_map(|e| e.interval.into_iter().flatten().chain(e.factor)));
    let header = ["effect of", "factor", "95 % interval", "", "p (Holm)", "told from nothing"];
    let mut out = table(&header, &[false, true, true, false, true, false]);
    for effect in &all.effects {
        out.add_row([
            cut(&clean(&effect.name), 48),
            effect.factor.map_or("–".into(), factor),
            range(effect.interval),
            bar(effect.factor, effect.interval, span),
            probability(effect.p),
            told(effect).into(),
        ]);
    }
    println!("{}", trimmed(&out));
    let n = all.blocks;
    println!("({n} complete blocks; of a pair: what both do beyond the product of what each does alone)");
    if !all.aliased.is_empty() {
        println!("\n{}", clean(&all.aliased));
    }
    for (what, best) in best(all) {
        println!("\n{what}: {}\n  {} of all off", set(best), seen(best));
    }
}

fn best(all: &Factorial) -> impl Iterator<Item = (&'static str, &Combination)> {
    let of = [("best as predicted by the effects", &all.predicted), ("best as measured", &all.measured)];
    of.into_iter().filter_map(|(what, best)| Some((what, best.as_ref()?)))
}

fn seen(of: &Combination) -> String {
    let run = if of.variant.is_none() { ", not run itself" } else { "" };
    match of.interval {
        Some(_) => format!("{} ({}){run}", of.factor.map_or("–".into(), factor), range(of.interval)),
        None => format!("{}{run}", of.factor.map_or("–".into(), factor)),
    }
}

fn set(of: &Combination) -> String {
    let set: Vec<String> = of.set.iter().map(|(name, value)| format!("{name}={value}")).collect();
    clean(&set.join(" "))
}

/// For a ticket.
pub(super) fn markdown(of: &Experiment, cell: &dyn Fn(&str) -> String) {
    let Some(all) = &of.factorial else { return };
    println!("| effect of | factor | 95 % interval | p (Holm) | told from nothing |\n|---|---|---|---|---|");
    for effect in &all.effects {
        let times = effect.factor.map_or("–".into(), factor);
        let (range, p) = (range(effect.interval), probability(effect.p));
        println!("| {} | {times} | {range} | {p} | {} |", cell(&effect.name), told(effect));
    }
    println!();
    for (what, best) in best(all) {
        println!("- {what}: `{}`, {} of all off", cell(&set(best)), seen(best));
    }
    if !all.aliased.is_empty() {
        println!("\n{}", cell(&all.aliased));
    }
}

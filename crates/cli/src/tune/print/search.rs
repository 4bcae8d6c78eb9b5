//! What a search found, on the terminal and as Markdown.

use super::{bar, cell, seen, span, value, why, words};
use crate::text::{clean, cut, table, trimmed};
use tune::amount;
use tune::result::{Change, Experiment, Search, SearchRate};

fn rate(of: &SearchRate) -> String {
    of.rate.map_or("–".into(), |rate| amount(rate, "/s"))
}

fn interval(of: &SearchRate) -> String {
    of.interval.map_or("–".into(), |[low, high]| format!("{} to {}", amount(low, "/s"), amount(high, "/s")))
}

fn change(of: &Experiment, variant: usize) -> Option<&Change> {
    of.changes.iter().find(|c| c.variant == variant)
}

/// The rates, and each against the baseline's.
pub(super) fn print(of: &Experiment) {
    let Some(search) = &of.search else { return };
    let several = search.rates.len() > 1;
    let mut header = vec!["variant", "rate", "95 % interval"];
    let mut right = vec![false, true, true];
    if several {
        header.extend(["change", "interval", "", "verdict"]);
        right.extend([true, true, false, false]);
    }
    header.push("limited by");
    right.push(false);
    header.extend(of.measures.iter().map(|m| m.name.as_str()));
    right.extend(of.measures.iter().map(|_| true));
    let mut out = table(&header, &right);
    let span = span(of.changes.iter().flat_map(|c| c.interval.into_iter().flatten().chain(c.factor)));
    for found in &search.rates {
        let variant = of.variants.get(found.variant);
        let name = variant.map_or("", |v| v.name.as_str());
        let mut row = vec![cut(&clean(name), 40), rate(found), interval(found)];
        match change(of, found.variant) {
            Some(change) => {
                let (times, interval) = seen(change);
                row.extend([times, interval, bar(change.factor, change.interval, span), words(change.verdict).into()]);
            }
            None if several => row.extend(["", "", "", "baseline"].map(str::to_owned)),
            None => {}
        }
        row.push(found.limited_by.as_deref().map_or("–".into(), clean));
        let medians = of.measures.iter().enumerate();
        row.extend(medians.map(|(m, head)| value(variant.and_then(|v| v.medians.get(m).copied().flatten()), head)));
        out.add_row(row);
    }
    println!("{}", trimmed(&out));
    println!("(measures: medians of the trials around the limit)");
    why(of.changes.iter().map(|c| (c.variant, c)), of);
}

/// For a ticket.
pub(super) fn markdown(of: &Experiment, search: &Search) {
    println!("| variant | rate | interval | of the baseline's | interval | verdict |\n|---|---|---|---|---|---|");
    for found in &search.rates {
        let name = cell(of.variants.get(found.variant).map_or("", |v| v.name.as_str()));
        let change = change(of, found.variant);
        let (times, between) = change.map(seen).unwrap_or_default();
        let verdict = change.map_or("", |c| words(c.verdict));
        println!("| {name} | {} | {} | {times} | {between} | {verdict} |", rate(found), interval(found));
    }
}

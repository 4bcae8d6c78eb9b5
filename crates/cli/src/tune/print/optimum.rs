//! A search for the best values on the terminal and as Markdown.

use super::{bar, seen, span, value, why, words};
use crate::text::{clean, table, trimmed};
use tune::factor;
use tune::result::{Change, Experiment, Optimum};

/// What a variant sets of these parameters.
fn values(of: &Experiment, all: &Optimum, variant: usize) -> Vec<String> {
    let set = of.variants.get(variant).map_or(&[][..], |v| v.set.as_slice());
    let value = |name: &String| set.iter().find(|(own, _)| own == name).map_or("–".into(), |(_, value)| clean(value));
    all.parameters.iter().map(value).collect()
}

fn median(of: &Experiment, variant: usize) -> String {
    let known = of.variants.get(variant).and_then(|v| v.medians.first().copied().flatten());
    of.measures.first().map_or(String::new(), |judged| value(known, judged))
}

/// The table of those that were held against the default, and how the search went.
pub(super) fn result(of: &Experiment) {
    let (Some(all), Some(judged)) = (&of.optimum, of.measures.first()) else { return };
    let span = span(of.changes.iter().flat_map(|c| c.interval.into_iter().flatten().chain(c.factor)));
    let others: Vec<&str> = of.measures.iter().skip(1).map(|m| m.name.as_str()).collect();
    let mut header = vec!["", judged.name.as_str(), "change", "interval", "", "verdict"];
    let mut right = vec![false, true, true, true, false, false];
    header.extend(&others);
    right.extend(others.iter().map(|_| true));
    header.extend(all.parameters.iter().map(String::as_str));
    right.extend(all.parameters.iter().map(|_| true));
    let mut out = table(&header, &right);
    let mut default =
        vec!["default".to_owned(), median(of, 0), String::new(), String::new(), String::new(), String::new()];
    let usual = of.variants.first();
    let medians = of.measures.iter().enumerate().skip(1);
    default.extend(medians.map(|(m, head)| value(usual.and_then(|v| v.medians.get(m).copied().flatten()), head)));
    default.extend(values(of, all, 0));
    out.add_row(default);
    for change in &of.changes {
        let (times, interval) = seen(change);
        let name = of.variants.get(change.variant).map_or("", |v| v.name.as_str());
        let line = bar(change.factor, change.interval, span);
        let mut row =
            vec![clean(name), median(of, change.variant), times, interval, line, words(change.verdict).into()];
        row.extend(change.others.iter().map(|o| o.map_or("–".into(), |(f, _)| factor(f))));
        row.extend(values(of, all, change.variant));
        out.add_row(row);
    }
    println!("{}", trimmed(&out));
    why(of.changes.iter().map(|c: &Change| (c.variant, c)), of);
    println!(
        "\nsearch: {} of {} trials, then at most {} blocks; changes are of the blocks alone",
        all.searched, all.search, all.blocks
    );
    let Some([first, second]) = of.measures.first_chunk::<2>().filter(|_| !all.front.is_empty()) else { return };
    println!("\nfront of {} and {}, as seen while searching:", clean(&first.name), clean(&second.name));
    let mut header = vec![first.name.as_str(), second.name.as_str()];
    header.extend(all.parameters.iter().map(String::as_str));
    header.push("");
    let mut out = table(&header, &vec![true; header.len()]);
    for point in &all.front {
        let mut row: Vec<String> = [first, second].iter().zip(&point.values).map(|(m, x)| value(Some(*x), m)).collect();
        row.extend(point.set.iter().map(|v| clean(v)));
        row.push(point.variant.and_then(|v| of.variants.get(v)).map_or(String::new(), |v| clean(&v.name)));
        out.add_row(row);
    }
    println!("{}", trimmed(&out));
}

/// For a ticket.
pub(super) fn markdown(of: &Experiment, cell: &dyn Fn(&str) -> String) {
    let (Some(all), Some(judged)) = (&of.optimum, of.measures.first()) else { return };
    let names = cell(&all.parameters.join(" | ")).replace("\\|", "|");
    println!("| | {} | interval | verdict | {names} |", cell(&judged.name));
    println!("|---|---|---|---|{}", "---|".repeat(all.parameters.len()));
    println!(
        "| default | {} | | | {} |",
        median(of, 0),
        values(of, all, 0).iter().map(|v| cell(v)).collect::<Vec<_>>().join(" | ")
    );
    for change in &of.changes {
        let (times, interval) = seen(change);
        let name = of.variants.get(change.variant).map_or("", |v| v.name.as_str());
        let values: Vec<String> = values(of, all, change.variant).iter().map(|v| cell(v)).collect();
        println!("| {} | {times} | {interval} | {} | {} |", cell(name), words(change.verdict), values.join(" | "));
    }
    for point in &all.front {
        let values =
            of.measures.iter().zip(&point.values).map(|(m, x)| format!("{} {}", cell(&m.name), value(Some(*x), m)));
        let set: Vec<String> = all.parameters.iter().zip(&point.set).map(|(p, v)| format!("{p}={v}")).collect();
        println!("\n- front: {}: {}", values.collect::<Vec<_>>().join(", "), cell(&set.join(" ")));
    }
}

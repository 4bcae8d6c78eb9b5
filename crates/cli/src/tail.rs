//! `twinscope explain --tail`: what slow requests did that usual ones did not, in the terminal.

use crate::text;
use compare::Side;
use explain::tail::{OfSide, PARTS, Tail};
use query::human;

/// Prints it.
pub(crate) fn print(tail: &Tail) {
    let Some(slow) = &tail.sides.slow else { return };
    let place = text::clean(&tail.place);
    match tail.findings.first() {
        Some(first) => {
            println!(
                "{place}: of what slow requests take longer than usual ones, {:.0} %: {}.",
                first.share * 100.0,
                text::clean(&first.says)
            );
        }
        None => println!("{place}: slow requests do nothing that usual ones do not."),
    }
    if let Some(caution) = &tail.caution {
        println!("But {}", text::clean(caution));
    }
    println!();
    for side in Side::BOTH {
        if let Some(of) = &tail.sides[side] {
            println!("{}", summary(side, of, tail.sides.baseline.is_some()));
        }
    }
    if let Some(last) = tail.last_byte {
        println!(
            "{:<8}Clients wait for the last byte of the answer: p50 {}, p99 {} from the first byte of the question",
            "",
            human(last.p50, "s"),
            human(last.p99, "s")
        );
    }
    println!(
        "\n{:<16}{:>12}{:>12}{}",
        "mean of",
        "slowest",
        "usual",
        if tail.sides.baseline.is_some() { "     slowest       usual   (baseline)" } else { "" }
    );
    for (at, part) in PARTS.iter().enumerate() {
        let of = |of: &OfSide| [of.slow, of.usual].map(|times| times.get(at).copied().unwrap_or(0.0));
        let both: Vec<f64> = Side::BOTH.iter().filter_map(|side| tail.sides[*side].as_ref()).flat_map(of).collect();
        let total: f64 = slow.slow.iter().sum();
        if both.iter().all(|time| *time < total * 0.005) {
            continue;
        }
        let cells: String = both.iter().map(|time| format!("{:>12}", human(*time, "s"))).collect();
        println!("{part:<16}{cells}");
    }
    for (number, finding) in tail.findings.iter().enumerate() {
        let [first, second] = finding.head();
        println!("\n{}. {}", number + 1, text::clean(&first));
        if !second.is_empty() {
            println!("   {}", text::clean(&second));
        }
        for line in &finding.evidence {
            println!("   · {}", text::clean(line));
        }
        for advice in &finding.advice {
            println!("   → {}", text::clean(advice));
        }
    }
}

fn summary(side: Side, of: &OfSide, is_pair: bool) -> String {
    let name = if is_pair { format!("{}: ", side.name()) } else { String::new() };
    let (p50, p99) = (human(of.p50, "s"), human(of.p99, "s"));
    format!(
        "{name}queue and service time p50 {p50}, p99 {p99}; {} requests followed, of which {} are the slowest",
        of.followed, of.slowest
    )
}

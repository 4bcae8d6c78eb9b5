//! Collapsed stacks: one line a stack, frames from the outermost inward between semicolons, then the weight of each run. With one run it is what
//! `stackcollapse-perf.pl` of FlameGraph writes, with two what `difffolded.pl` writes: both are read by many tools.

use super::tree::Tree;
use std::fmt::Write;

/// The stacks as lines, sorted. `scale` turns weights into what is written (1e9: seconds as nanoseconds); one run gets whole numbers.
pub fn folded(tree: &Tree, scale: f64) -> String {
    let mut lines: Vec<String> = Vec::new();
    for node in 1..tree.len() as u32 {
        let weights: Vec<f64> =
            (0..tree.runs()).map(|run| tree.own(run).get(node as usize).copied().unwrap_or(0.0) * scale).collect();
        let least = if tree.runs() == 1 { 0.5 } else { f64::MIN_POSITIVE };
        if weights.iter().all(|w| w.abs() < least) {
            continue;
        }
        let names: Vec<String> = tree.path(node).iter().map(|&frame| name(tree, frame)).collect();
        let mut line = names.join(";");
        for weight in weights {
            // The form for two runs is read by tools that know decimals.
            let _ = if tree.runs() == 1 { write!(line, " {weight:.0}") } else { write!(line, " {}", decimal(weight)) };
        }
        lines.push(line);
    }
    lines.sort();
    lines.iter().fold(String::new(), |mut text, line| {
        text.push_str(line);
        text.push('\n');
        text
    })
}

fn decimal(weight: f64) -> String {
    let text = format!("{weight:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A name that cannot be taken for two frames or two lines; of a level, what it is in front.
fn name(tree: &Tree, frame: u32) -> String {
    let name = tree.frames().get(frame as usize).map_or("", |f| &*f.name);
    name.chars()
        .map(|c| {
            if c == ';' {
                ':'
            } else if model::is_harmful(c) {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect()
}

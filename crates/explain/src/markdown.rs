//! An explanation as Markdown, for tickets and agents, and the words that this and the terminal share.

use crate::budget::{Estimate, State};
use crate::{Explanation, Finding, Outcome};
use compare::{Caution, PerSide};
use model::clean;
use query::human;
use std::fmt::Write;

impl Finding {
    /// A share with its interval: "71 % (95 % CI 64–78 %)".
    pub fn part(&self) -> String {
        let p = |x: f64| format!("{:.0}", x * 100.0);
        format!("{} % (95 % CI {}–{} %)", p(self.share.value), p(self.share.low), p(self.share.high))
    }

    /// The two lines that a text begins with: its share and what it says, and the cause with its title.
    pub fn head(&self) -> [String; 2] {
        [format!("{}  {}", self.part(), self.says), format!("{}: {}", self.cause, self.title)]
    }
}

impl Explanation {
    /// The states that anyone wants to see.
    pub fn shown(&self) -> Vec<(State, PerSide<f64>, f64)> {
        let most = self.ledger.iter().flat_map(|(_, t, _)| t.both()).fold(0.0f64, f64::max);
        let worth = |(_, times, share): &&(State, PerSide<f64>, Estimate)| {
            times.both().iter().any(|t| *t > most * 0.005) || share.value.abs() > 0.02
        };
        self.ledger.iter().filter(worth).map(|(state, times, share)| (*state, *times, share.value)).collect()
    }

    /// The cautions that are said before the verdict.
    pub fn said_first(&self) -> impl Iterator<Item = &Caution> {
        self.cautions.iter().filter(|caution| caution.kind.is_said_first())
    }

    /// The cautions that are said after it.
    pub fn said_last(&self) -> impl Iterator<Item = &Caution> {
        self.cautions.iter().filter(|caution| !caution.kind.is_said_first())
    }

    /// Causes that lack the same.
    pub fn gathered(&self) -> Vec<(String, Vec<String>)> {
        let mut found: Vec<(String, Vec<String>)> = Vec::new();
        for n in &self.not_evaluated {
            match found.iter_mut().find(|(needs, _)| *needs == n.needs) {
                Some((_, causes)) => causes.push(n.cause.clone()),
                None => found.push((n.needs.clone(), vec![n.cause.clone()])),
            }
        }
        found
    }

    /// The explanation as Markdown, for a ticket.
    pub fn to_markdown(&self) -> String {
        let mut out = String::new();
        for caution in self.said_first() {
            let _ = writeln!(out, "{}\n", escaped(&caution.text));
        }
        let _ = writeln!(out, "**{}**", escaped(&self.verdict));
        let alone = self.outcome == Outcome::Alone;
        if alone {
            let _ = writeln!(
                out,
                "\n| time of the threads, per {} | | share |\n|---|---:|---:|",
                escaped(self.unit.name())
            );
        } else {
            let (share, line) = if self.outcome.is_loss() { (" of the slowdown |", "---:|") } else { ("", "") };
            let _ = writeln!(
                out,
                "\n| time of the threads, per {} | slow | baseline |{share}\n|---|---:|---:|{line}",
                escaped(self.unit.name())
            );
        }
        for (state, PerSide { slow, baseline: fast }, share) in self.shown() {
            let fast = if alone { String::new() } else { format!(" {} |", human(fast, "s")) };
            let share =
                if alone || self.outcome.is_loss() { format!(" {} |", share_in_words(share)) } else { String::new() };
            let _ = writeln!(out, "| {} | {} |{fast}{share}", state.name().replace('_', " "), human(slow, "s"));
        }
        let shown = self.findings.iter().chain(&self.differs).chain(self.limits_both.as_ref().map(|both| &both.slow));
        for (number, finding) in shown.enumerate() {
            let _ = writeln!(
                out,
                "\n{}. **{}** — {} (`{}`)",
                number + 1,
                finding.part(),
                escaped(&finding.says),
                finding.cause
            );
            for line in &finding.evidence {
                let _ = writeln!(out, "   - {}", escaped(line));
            }
            for line in &finding.advice {
                let _ = writeln!(out, "   - try: {}", escaped(line));
            }
        }
        if self.outcome == Outcome::Slower {
            let _ = writeln!(out, "\nUnexplained: {:.0} %.", self.unexplained * 100.0);
        }
        let of_pair = self.machines.pair.iter().flat_map(|pair| pair.says.clone());
        for line in of_pair.chain(self.machines.forecasts.iter().map(|forecast| forecast.says(self.unit.name()))) {
            let _ = writeln!(out, "\n- machine: {}", escaped(&line));
        }
        for caution in self.said_last() {
            let _ = writeln!(out, "\n{}", escaped(&caution.text));
        }
        for note in &self.notes {
            let _ = writeln!(out, "\n- note ({}): {}", note.cause, escaped(&note.text));
        }
        for (needs, causes) in self.gathered() {
            let _ = writeln!(out, "\n- not evaluated: {}: needs {}", causes.join(", "), escaped(&needs));
        }
        out
    }
}

/// The share of a state: "71 %"; "–" where it has none; "less" where it fell, which is no part of what was lost.
pub fn share_in_words(share: f64) -> String {
    match share {
        share if share.abs() < 0.005 => "–".into(),
        share if share < 0.0 => "less".into(),
        share => format!("{:.0} %", share * 100.0),
    }
}

/// Characters that mean something in Markdown, made harmless; code in backticks stays code.
fn escaped(text: &str) -> String {
    let text = clean(text);
    // One that is left over begins no code.
    let are_paired = text.matches('`').count().is_multiple_of(2);
    let (mut out, mut is_code) = (String::with_capacity(text.len()), false);
    for c in text.chars() {
        match c {
            '`' if are_paired => {
                is_code = !is_code;
                out.push(c);
            }
            _ if is_code => out.push(c),
            '<' => out.push_str("&lt;"),
            '\\' | '`' | '*' | '_' | '|' | '[' | ']' | '#' => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fell_is_no_part_of_what_was_lost() {
        assert_eq!([0.71, 0.001, -0.7, -68.6].map(share_in_words), ["71 %", "–", "less", "less"]);
    }

    #[test]
    fn names_are_text_in_markdown() {
        assert_eq!(escaped("a_b|<script>"), "a\\_b\\|&lt;script>");
        assert_eq!(escaped("in `do_it<T>()` of a_b"), "in `do_it<T>()` of a\\_b");
        assert_eq!(escaped("a`<b>"), "a\\`&lt;b>");
    }
}

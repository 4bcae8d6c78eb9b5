//! Two machines side by side: the figures of both with their ratio, what differs in how they are set up, and what is the same.

use model::{Figure, FigureRatio, is_hardware, why_it_matters};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The version of `doctor --json` that is read and written.
pub const VERSION: i64 = 1;

/// More figures and facts than these no machine has.
const MOST: usize = 20_000;

/// The longest fact that is taken from a file, bytes.
const LONGEST: usize = 16 << 10;

/// What is known of a machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Machine {
    /// Its figures.
    pub figures: Vec<Figure>,
    /// How it is set up: facts by name (`cpu.governor`).
    pub set_up: BTreeMap<String, String>,
    /// What disturbed the measurement, where something did.
    pub disturbed: Option<String>,
}

/// A figure of both machines.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its name.
    pub id: String,
    /// In words.
    pub title: String,
    /// That of this machine.
    pub here: Option<Figure>,
    /// That of the other.
    pub there: Option<Figure>,
    /// Here over there, where both have it.
    pub ratio: Option<FigureRatio>,
}

/// A fact that is not the same on both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetUp {
    /// `cpu.governor`.
    pub fact: String,
    /// Its value here.
    pub here: Option<String>,
    /// Its value there.
    pub there: Option<String>,
    /// Why it matters for performance, where that is known.
    pub why: Option<&'static str>,
}

/// Two machines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sides {
    /// Figures that differ, most of all first.
    pub differ: Vec<Row>,
    /// Facts that differ: those that tell hardware apart, those known to matter, the others.
    pub set_up: Vec<SetUp>,
    /// Figures that do not differ.
    pub same: Vec<Row>,
    /// Figures that one of them lacks.
    pub one_sided: Vec<Row>,
}

/// Reads what `doctor --json` wrote.
///
/// # Errors
/// In one line, what is wrong with it.
pub fn machine_of_json(text: &str) -> Result<Machine, String> {
    let all: Value = serde_json::from_str(text).map_err(|error| match error.classify() {
        serde_json::error::Category::Eof => format!("is cut short at line {}", error.line()),
        _ => format!("is not what `twinscope doctor --json` writes (line {}, column {})", error.line(), error.column()),
    })?;
    match all.get("version").map(Value::as_i64) {
        Some(Some(VERSION)) => {}
        Some(Some(other)) => return Err(format!("has version {other}, and this program reads version {VERSION}")),
        _ => return Err("is not what `twinscope doctor --json` writes: it has no version".into()),
    }
    let Some(list) = all.get("figures").and_then(Value::as_array) else {
        return Err("has no figures: run `twinscope doctor --json` there, of this version and without --only".into());
    };
    let mut machine = Machine {
        disturbed: all.get("figures_disturbed").and_then(Value::as_str).map(|text| text.chars().take(200).collect()),
        ..Machine::default()
    };
    let mut known = BTreeSet::new();
    for (number, value) in list.iter().take(MOST).enumerate() {
        let figure: Figure = serde_json::from_value(value.clone())
            .map_err(|_| format!("figure {}: a part of it is missing, or of another kind", number + 1))?;
        figure.check().map_err(|why| format!("figure {}: {}", number + 1, printable(&why)))?;
        if !known.insert(figure.id.clone()) {
            return Err(format!("figure {}: {} is there twice", number + 1, printable(&figure.id)));
        }
        machine.figures.push(figure);
    }
    let facts = all.get("set_up").and_then(Value::as_object);
    for (name, value) in facts.into_iter().flatten().take(MOST) {
        match value.as_str().filter(|value| value.len() <= LONGEST && name.len() <= LONGEST) {
            Some(value) => machine.set_up.insert(name.clone(), value.to_owned()),
            None => return Err(format!("set_up: {} is no text, or too long a one", printable(name))),
        };
    }
    Ok(machine)
}

/// A text of a file within a sentence of ours: without what a terminal would obey, and not too long.
fn printable(text: &str) -> String {
    model::clean(text).chars().take(80).collect()
}

/// Lays two machines side by side.
pub fn side_by_side(here: &Machine, there: &Machine) -> Sides {
    let mut sides = Sides::default();
    let of = |machine: &Machine, id: &str| machine.figures.iter().find(|figure| figure.id == id).cloned();
    let mut known = BTreeSet::new();
    for figure in here.figures.iter().chain(&there.figures).filter(|figure| known.insert(figure.id.clone())) {
        let (own, other) = (of(here, &figure.id), of(there, &figure.id));
        // The same name for something else is no partner.
        let pair = own.as_ref().zip(other.as_ref()).filter(|(a, b)| a.unit == b.unit && a.more == b.more);
        let ratio = pair.map(|(own, other)| own.over(other));
        let row = Row { id: figure.id.clone(), title: figure.title.clone(), here: own, there: other, ratio };
        match ratio {
            Some(ratio) if ratio.differs() => sides.differ.push(row),
            Some(_) => sides.same.push(row),
            None => sides.one_sided.push(row),
        }
    }
    let distance = |row: &Row| row.ratio.as_ref().map_or(0.0, FigureRatio::distance);
    sides.differ.sort_by(|a, b| distance(b).total_cmp(&distance(a)));
    sides.set_up = set_up(&here.set_up, &there.set_up);
    sides
}

fn set_up(here: &BTreeMap<String, String>, there: &BTreeMap<String, String>) -> Vec<SetUp> {
    let names: BTreeSet<&String> = here.keys().chain(there.keys()).collect();
    let mut all: Vec<SetUp> = Vec::new();
    for name in names {
        let (own, other) = (here.get(name).cloned(), there.get(name).cloned());
        // That no program of a kind was seen running says nothing of the set-up.
        let is_running = name.starts_with("runtime.") && (own.is_none() || other.is_none());
        if own == other || is_running {
            continue;
        }
        let why = name.split_once('.').and_then(|(category, rest)| why_it_matters(category, rest));
        all.push(SetUp { fact: name.clone(), here: own, there: other, why });
    }
    all.sort_by_key(|of| (!is_hardware(&of.fact), of.why.is_none()));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn figure(id: &str, value: f64) -> Value {
        json!({"id": id, "title": "what it is", "unit": "s", "more": false, "value": value, "low": 0.97 * value, "high": 1.03 * value, "rounds": 20})
    }

    fn machine(figures: &[Value], facts: Value) -> Machine {
        machine_of_json(&json!({"version": 1, "figures": figures, "set_up": facts}).to_string()).unwrap()
    }

    #[test]
    fn machines_lie_side_by_side() {
        let here = machine(
            &[figure("call", 1e-7), figure("memory.dram", 1.6e-7), figure("fsync", 1e-3), figure("line.core", 1e-8)],
            json!({"kernel.release": "6.12", "cpu.model": "A", "cpu.governor": "powersave", "block.vda.vendor": "x", "runtime.java": "21"}),
        );
        let there = machine(
            &[figure("call", 1.01e-7), figure("memory.dram", 1e-7), figure("fsync", 4e-3), figure("width", 3.0)],
            json!({"kernel.release": "6.12", "cpu.model": "B", "cpu.governor": "performance", "block.vda.vendor": "y"}),
        );
        let sides = side_by_side(&here, &there);
        let ids = |rows: &[Row]| rows.iter().map(|row| row.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(&sides.differ), ["fsync", "memory.dram"], "by most first");
        assert_eq!(ids(&sides.same), ["call"]);
        assert_eq!(ids(&sides.one_sided), ["line.core", "width"]);
        let facts: Vec<&str> = sides.set_up.iter().map(|of| of.fact.as_str()).collect();
        assert_eq!(facts, ["cpu.model", "cpu.governor", "block.vda.vendor"]);
        assert!(sides.set_up[1].why.is_some() && sides.set_up[2].why.is_none());
        // A machine beside itself.
        let alone = side_by_side(&here, &here);
        assert!(alone.differ.is_empty() && alone.set_up.is_empty() && alone.one_sided.is_empty());
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said_in_a_line() {
        let good = json!({"version": 1, "figures": [figure("call", 1e-7)], "set_up": {"a.b": "c"}});
        let with = |path: &str, value: Value| {
            let mut all = good.clone();
            *all.pointer_mut(path).unwrap() = value;
            all.to_string()
        };
        let text = good.to_string();
        for (bad, why) in [
            (text[..text.len() / 2].to_owned(), "cut short"),
            (String::new(), "cut short"),
            ("hello".into(), "is not what"),
            ("[".repeat(100_000), "is not what"),
            ("[]".into(), "no version"),
            (with("/version", json!(2)), "has version 2, and this program reads version 1"),
            (with("/version", json!("1")), "no version"),
            (json!({"version": 1, "checks": []}).to_string(), "has no figures"),
            (with("/figures/0/value", json!(-1.0)), "figure 1: call is no number above 0"),
            (with("/figures/0/value", json!("x")), "figure 1: a part of it"),
            (with("/figures/0/unit", json!("\u{1b}[2J")), "unit"),
            (with("/figures/0/id", json!("x".repeat(1000))), "too long"),
            (with("/figures", json!([figure("a", 1.0), figure("a", 1.0)])), "there twice"),
            (with("/set_up", json!({"a": 5})), "is no text"),
            (with("/set_up", json!({"a\u{1b}[2J": "x".repeat(1 << 20)})), "is no text, or too long"),
        ] {
            let said = machine_of_json(&bad).unwrap_err();
            assert!(
                said.contains(why) && !said.contains('\n') && !said.contains('\u{1b}') && said.len() < 200,
                "{said}"
            );
        }
    }

    proptest! {
        #[test]
        fn no_file_panics(text in "\\PC{0,200}", cut in 0usize..400) {
            let _ = machine_of_json(&text);
            let good = json!({"version": 1, "figures": [figure("call", 1e-7)], "set_up": {"a.b": "c"}}).to_string();
            let _ = machine_of_json(good.get(..cut.min(good.len())).unwrap_or(""));
        }
    }
}

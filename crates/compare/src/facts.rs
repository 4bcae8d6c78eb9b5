//! Properties of the hosts that differ.

use crate::options::{self, RUNNING};
use model::{Kind, Type};
use query::Run;
use std::collections::BTreeMap;
use store::Select;

/// A property that is not the same in all runs.
#[derive(Clone, Debug, PartialEq)]
pub struct FactDifference {
    /// Group: kernel, cpu, sysctl …
    pub category: String,
    /// Name within the group.
    pub name: String,
    /// Its value in each run, in their order; `None` where it was not read.
    pub values: Vec<Option<String>>,
    /// Why it matters for performance, where that is known.
    pub why: Option<&'static str>,
}

impl FactDifference {
    /// "kernel.release".
    pub fn full_name(&self) -> String {
        format!("{}.{}", self.category, self.name)
    }
}

/// All properties of all runs, by category and name: those of the catalogue, and those of tables whose values are facts. An option that one JVM has and
/// another that ran the same program has not is at its default there, which is said.
pub fn all_facts(runs: &[Run]) -> BTreeMap<(String, String), Vec<Option<String>>> {
    let mut all: BTreeMap<(String, String), Vec<Option<String>>> = BTreeMap::new();
    let mut put = |run: usize, category: &str, name: &str, value: String| {
        let values = all.entry((category.to_owned(), name.to_owned())).or_insert_with(|| vec![None; runs.len()]);
        if let Some(slot) = values.get_mut(run) {
            *slot = Some(value);
        }
    };
    for (index, run) in runs.iter().enumerate() {
        for fact in run.recording.facts() {
            put(index, &fact.category, &fact.name, fact.value);
        }
        for (_, table) in run.recording.tables() {
            let facts: Vec<_> = table.values().collect();
            // A table that is not compared holds what is never the same twice, such as processes.
            if table.groups.is_empty()
                || table.is_long()
                || facts.is_empty()
                || facts.iter().any(|c| c.kind != Kind::Fact)
            {
                continue;
            }
            let Some(frame) = run.recording.load(table.name, &Select::default()) else { continue };
            let labels: Vec<_> = table.labels().collect();
            for entity in &frame.entities {
                let names = entity.labels.iter().zip(&labels).map(|(&cell, column)| match column.ty {
                    Type::Text => frame.symbols.text(cell).unwrap_or("").to_owned(),
                    _ => cell.to_string(),
                });
                let name = names.collect::<Vec<_>>().join(".");
                // The last value is the one that held for most of the run, as these are read at its start.
                let Some(row) = entity.rows.clone().rev().find(|&r| !frame.gone.get(r).copied().unwrap_or(true)) else {
                    continue;
                };
                for (column, cells) in facts.iter().zip(&frame.values) {
                    let Some(&cell) = cells.get(row).filter(|c| **c != model::NULL) else { continue };
                    let value = match column.ty {
                        Type::Text => frame.symbols.text(cell).unwrap_or("").to_owned(),
                        Type::Real => model::real_of(cell).map_or(String::new(), |v| v.to_string()),
                        Type::Int => cell.to_string(),
                    };
                    let name = if facts.len() == 1 { name.clone() } else { format!("{name}.{}", column.name) };
                    put(index, table.name, &name, value);
                }
            }
        }
    }
    options::say_defaults(&mut all);
    all
}

/// The properties that differ, those known to matter first.
pub fn differences(runs: &[Run]) -> Vec<FactDifference> {
    let mut all = all_facts(runs);
    options::say_once(&mut all);
    let mut found: Vec<FactDifference> = all
        .into_iter()
        .filter(|((category, _), values)| {
            // That no program of a kind was seen running says nothing of the set-up.
            let seen = |v: &&Option<String>| v.is_some() || category != RUNNING;
            let mut said = values.iter().filter(seen);
            said.next().is_some_and(|first| said.any(|other| other != first))
        })
        .map(|((category, name), values)| {
            let known =
                || model::why_it_matters(&category, &name).or_else(|| options::why_given(&category, &name, &values));
            let why = if options::hardly_differs(&category, &name, &values) { None } else { known() };
            FactDifference { category, name, values, why }
        })
        .collect();
    found.sort_by(|a, b| (a.why.is_none(), &a.category, &a.name).cmp(&(b.why.is_none(), &b.category, &b.name)));
    found
}

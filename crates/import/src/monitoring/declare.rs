//! Declarations of tables that come from files: the same for all hosts of an import, so that these can be compared. They live as long as the program.

use super::fleet::Sheet;
use super::units;
use model::{Chart, ChartKind, Column, Compare, Fold, Kind, Table, Type, Unit, intern};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Labels with more values than these are not compared by value: they are names of passing things.
const MOST_VALUES: usize = 48;

/// Names that recordings give to their own tables.
const OWN: [&str; 12] =
    ["coverage", "fact", "facts", "mark", "marks", "manifest", "run", "runs", "source", "stack", "frame", "sample"];

/// Whether a table of ours has that name.
fn is_of_source(name: &str) -> bool {
    #[cfg(feature = "replay")]
    let is = sources::ALL.iter().flat_map(|source| source.tables).any(|table| table.name == name);
    #[cfg(not(feature = "replay"))]
    let is = ["cpu", "kernel", "vmstat", "meminfo", "disks", "interrupts", "process"].contains(&name);
    is
}

#[derive(Debug, Default)]
pub(crate) struct Declared {
    /// By sheet and label: its values.
    values: HashMap<(String, String), BTreeSet<u32>>,
    tables: BTreeMap<String, (&'static Table, Option<Chart>)>,
}

impl Declared {
    /// Looks at what a sheet of some host has.
    pub(crate) fn learn(&mut self, sheet: &Sheet) {
        let width = sheet.labels.len();
        for (at, label) in sheet.labels.iter().enumerate() {
            let values = self.values.entry((sheet.name.clone(), label.clone())).or_default();
            for value in sheet.names.iter().skip(at).step_by(width.max(1)) {
                if values.len() > MOST_VALUES {
                    break;
                }
                values.insert(*value);
            }
        }
    }

    /// The declaration of a sheet, and its chart.
    pub(crate) fn table(&mut self, sheet: &Sheet) -> (&'static Table, Option<Chart>) {
        if let Some(known) = self.tables.get(&sheet.name) {
            return *known;
        }
        let mut name = identifier(&sheet.name);
        // A table `cpu` of others is not that of a recording.
        if OWN.contains(&name.as_str()) || is_of_source(&name) {
            name = format!("imported_{name}");
        }
        while self.tables.values().any(|(table, _)| table.name == name) {
            name.push('_');
        }
        // Values keep their names where a label has the same.
        let names = sheet.fields.iter().map(|field| &field.name).chain(&sheet.labels);
        let mut fields = unique(names.map(|name| identifier(name)), &["t", "run", "gone", "timestamp"]);
        let labels = fields.split_off(sheet.fields.len().min(fields.len()));
        let mut columns: Vec<Column> =
            labels.iter().map(|label| Column::label(intern(label), "as the file has it")).collect();
        for (name, field) in fields.iter().zip(&sheet.fields) {
            let mut column = Column::gauge(intern(name), field.unit, intern(&field.help));
            (column.ty, column.kind) = (Type::Real, field.kind);
            column.fold = if field.adds { Fold::Sum } else { Fold::Mean };
            if field.moment {
                column.compare = Compare::Never;
            } else if field.kind == Kind::Gauge
                && matches!(field.unit, Unit::Ratio | Unit::Percent | Unit::MilliCelsius)
            {
                column.compare = Compare::Difference;
            }
            columns.push(column);
        }
        let few = |label: &&String| {
            let values = self.values.get(&(sheet.name.clone(), (*label).clone())).map_or(0, BTreeSet::len);
            values > 1 && values <= MOST_VALUES
        };
        let told: Vec<&'static str> =
            sheet.labels.iter().zip(&labels).filter(|(label, _)| few(label)).map(|(_, name)| intern(name)).collect();
        let mut groups: Vec<&'static [&'static str]> = vec![&[]];
        groups.extend(told.iter().map(|label| -> &'static [&'static str] { vec![*label].leak() }));
        let table: &'static Table =
            Box::leak(Box::new(Table::wide(intern(&name), intern(&sheet.help), columns.leak()).grouped(groups.leak())));
        let known = (table, chart(table, &told));
        self.tables.insert(sheet.name.clone(), known);
        known
    }
}

/// A chart of its first columns, by the label with the fewest values.
fn chart(table: &'static Table, told: &[&'static str]) -> Option<Chart> {
    let first = table.values().find(|column| column.compare != Compare::Never)?;
    let alike: Vec<&'static str> = table
        .values()
        .filter(|column| (column.kind, column.unit, column.compare) == (first.kind, first.unit, first.compare))
        .take(if told.is_empty() { 8 } else { 1 })
        .map(|column| column.name)
        .collect();
    let read = "Imported: as the file has it; counters as rates.";
    let id = intern(&format!("imported-{}", table.name));
    let chart = Chart::new(id, units::page(table.name), ChartKind::Line, table.name, read, table.name, alike.leak());
    Some(if told.is_empty() { chart } else { chart.by(told.to_vec().leak(), 12) })
}

/// A name as columns have it: lower case, of letters, digits and underscores.
pub(crate) fn identifier(name: &str) -> String {
    let mut plain = String::new();
    for c in name.trim().chars().take(120) {
        match c {
            '%' => plain.push_str("pct_"),
            c if c.is_ascii_alphanumeric() => plain.push(c.to_ascii_lowercase()),
            c if c.is_alphanumeric() => plain.push(c),
            '/' => plain.push_str("_per_"),
            _ if plain.ends_with('_') => {}
            _ => plain.push('_'),
        }
    }
    let plain = plain.trim_matches('_');
    match plain.chars().next() {
        None => "x".into(),
        Some(c) if c.is_ascii_digit() => format!("x{plain}"),
        Some(_) => plain.to_owned(),
    }
}

/// Names that are all different, and none of those that have a meaning already.
pub(crate) fn unique(names: impl Iterator<Item = String>, reserved: &[&str]) -> Vec<String> {
    let mut taken: BTreeSet<String> = reserved.iter().map(|&name| name.to_owned()).collect();
    names
        .map(|mut name| {
            while !taken.insert(name.clone()) {
                name.push('_');
            }
            name
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_names_of_columns() {
        for (name, plain) in [
            ("%user", "pct_user"),
            ("rd_sec/s", "rd_sec_per_s"),
            ("node:cpu:rate", "node_cpu_rate"),
            ("1m", "x1m"),
            ("", "x"),
            ("TMA_Frontend_Bound(%)", "tma_frontend_bound_pct"),
            ("__name__", "name"),
        ] {
            assert_eq!(identifier(name), plain);
        }
        assert_eq!(unique(["t", "a", "a"].map(String::from).into_iter(), &["t"]), ["t_", "a", "a_"]);
    }
}

//! What the SQL tables look like: one for each recorded table name, and one of rates beside each table of states. A table that several runs
//! recorded has the columns of all of them.

use crate::metric::metrics;
use model::{Table, Type};
use std::collections::{BTreeMap, HashSet};

/// What fills a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Run,
    From,
    T,
    Seconds,
    /// A stored column: a label or a value.
    Stored(&'static str),
    /// A metric of a wide table.
    Metric(&'static str),
    /// The metric of a long table that the row is about: its name and its value.
    Field,
    FieldValue,
}

/// A column of a virtual table.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) ty: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) help: String,
    pub(crate) role: Role,
}

/// A virtual table.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    pub(crate) name: String,
    pub(crate) help: String,
    /// The recorded table.
    pub(crate) table: &'static str,
    /// Rates between reads, not the reads themselves.
    pub(crate) rate: bool,
    pub(crate) columns: Vec<Column>,
    /// Columns whose rows are totals since the start, not what happened since the read before.
    pub(crate) totals: Vec<String>,
}

impl Spec {
    fn add(&mut self, name: &str, ty: &'static str, unit: &'static str, help: &str, role: Role) {
        if self.columns.iter().any(|c| c.role == role) {
            return;
        }
        // SQLite's names are equal where they differ in case only.
        let mut name = name.replace('\0', "\u{fffd}");
        while self.columns.iter().any(|c| c.name.eq_ignore_ascii_case(&name)) || name.is_empty() {
            name.push('_');
        }
        self.columns.push(Column { name, ty, unit, help: help.to_owned(), role });
    }

    /// The statement that tells SQLite the columns.
    pub(crate) fn declaration(&self) -> String {
        let columns: Vec<String> = self.columns.iter().map(|c| format!("{} {}", quoted(&c.name), c.ty)).collect();
        format!("create table x({})", columns.join(", "))
    }
}

/// A name as SQL writes it.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn sql_type(ty: Type) -> &'static str {
    match ty {
        Type::Int => "integer",
        Type::Real => "real",
        Type::Text => "text",
    }
}

fn states(spec: &mut Spec, table: &Table) {
    spec.add("run", "text", "", "the run that the row is from", Role::Run);
    if table.events && !table.dictionary {
        let help = "start of the stretch that the row stands for: the read before, at most one interval before t";
        spec.add("t_from", "integer", "ns", help, Role::From);
    }
    spec.add("t", "integer", "ns", "when it was read, since the start of the recording", Role::T);
    for column in table.stored() {
        let help = match column.kind {
            model::Kind::Counter => format!("{}; counts up", column.help),
            _ => column.help.to_owned(),
        };
        spec.add(column.name, sql_type(column.ty), stored_unit(column.unit), &help, Role::Stored(column.name));
        let role = Role::Stored(column.name);
        if !table.events
            && column.kind == model::Kind::Counter
            && let Some(added) = spec.columns.iter().find(|c| c.role == role)
            && !spec.totals.contains(&added.name)
        {
            spec.totals.push(added.name.clone());
        }
    }
}

fn rates(spec: &mut Spec, table: &'static Table) {
    spec.add("run", "text", "", "the run that the row is from", Role::Run);
    spec.add("t_from", "integer", "ns", "start of the interval, since the start of the recording", Role::From);
    spec.add("t", "integer", "ns", "end of the interval", Role::T);
    spec.add("seconds", "real", "s", "length of the interval", Role::Seconds);
    for label in table.labels() {
        spec.add(label.name, sql_type(label.ty), "", label.help, Role::Stored(label.name));
    }
    if table.is_long() {
        spec.add("field", "text", "", "the field or derived metric", Role::Field);
        let help = "its value in base units: counters per second, levels at the end of the interval; table metric has unit and help";
        spec.add("value", "real", "", help, Role::FieldValue);
        return;
    }
    for metric in metrics(table) {
        spec.add(metric.name, "real", metric.unit, metric.help, Role::Metric(metric.name));
    }
}

/// The unit of a stored value, in words that need no table to understand.
fn stored_unit(unit: model::Unit) -> &'static str {
    use model::Unit;
    match unit {
        Unit::None => "",
        Unit::Bytes => "B",
        Unit::Kibibytes => "KiB",
        Unit::Sectors => "512 B",
        Unit::Nanoseconds => "ns",
        Unit::Microseconds => "µs",
        Unit::Milliseconds => "ms",
        Unit::Seconds => "s",
        Unit::ClockTicks => "10 ms",
        Unit::Hertz => "Hz",
        Unit::Kilohertz => "kHz",
        Unit::Ratio => "ratio",
        Unit::Percent => "%",
        Unit::MilliCelsius => "m°C",
        Unit::Microjoules => "µJ",
    }
}

/// The virtual tables for these recorded tables. Names in `taken` are not given out; each table that loses its name to them is said in
/// the second part.
pub(crate) fn specs<'a>(
    tables: impl Iterator<Item = &'a &'static Table>,
    taken: &HashSet<String>,
) -> (Vec<Spec>, Vec<String>) {
    let mut by_name: BTreeMap<&'static str, Vec<&'static Table>> = BTreeMap::new();
    for &table in tables {
        let all = by_name.entry(table.name).or_default();
        if !all.contains(&table) {
            all.push(table);
        }
    }
    let mut taken: HashSet<String> = taken.clone();
    let (mut specs, mut notes) = (Vec::new(), Vec::new());
    // Tables first: what a recording calls `cpu_rate` is that table.
    for rate in [false, true] {
        for (&name, tables) in &by_name {
            let Some(first) = tables.first().filter(|t| !(rate && t.events)) else { continue };
            let sql_name = if rate { format!("{name}_rate") } else { name.to_owned() };
            let lower = sql_name.to_ascii_lowercase();
            if name.is_empty() || name.contains('\0') || lower.starts_with("sqlite_") || !taken.insert(lower) {
                notes.push(format!("table {sql_name:?} cannot be asked for: the name is taken"));
                continue;
            }
            let help = if rate {
                format!("{}: what happened between two reads, in base units", first.help)
            } else {
                first.help.to_owned()
            };
            let mut spec = Spec { name: sql_name, help, table: name, rate, columns: Vec::new(), totals: Vec::new() };
            tables.iter().for_each(|table| if rate { rates(&mut spec, table) } else { states(&mut spec, table) });
            specs.push(spec);
        }
    }
    (specs, notes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{CPU, ENDED, VMSTAT};
    use model::{Column, Unit};

    static HOSTILE: Table = Table::wide(
        "a\"; drop",
        "h",
        &[Column::label("RUN", "l"), Column::counter("t", Unit::None, "c"), Column::counter("x\"y\0", Unit::None, "c")],
    );
    static TAKEN: Table = Table::wide("Cpu_Rate", "h", &[Column::counter("c", Unit::None, "c")]);
    static RESERVED: Table = Table::wide("SQLITE_x", "h", &[Column::counter("c", Unit::None, "c")]);

    #[test]
    fn columns_follow_the_declaration() {
        let (specs, notes) = specs([&CPU, &VMSTAT, &ENDED].iter(), &HashSet::new());
        let names: Vec<_> = specs.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names, ["cpu", "ended", "vmstat", "cpu_rate", "vmstat_rate"]);
        assert_eq!(
            specs[0].declaration(),
            "create table x(\"run\" text, \"t\" integer, \"cpu\" integer, \"user\" integer, \"idle\" integer, \"mhz\" integer)"
        );
        assert!(specs[3].declaration().ends_with(
            "\"cpu\" integer, \"user\" real, \"idle\" real, \"mhz\" real, \"busy\" real, \"busy_share\" real)"
        ));
        assert_eq!(notes, Vec::<String>::new());
    }

    #[test]
    fn hostile_names_stay_names() {
        let (specs, notes) = specs([&HOSTILE, &TAKEN, &RESERVED, &CPU].iter(), &HashSet::new());
        assert_eq!(notes.len(), 3, "{notes:?}");
        let hostile = specs.iter().find(|s| s.name == "a\"; drop").unwrap();
        assert_eq!(
            hostile.declaration(),
            "create table x(\"run\" text, \"t\" integer, \"RUN_\" text, \"t_\" integer, \"x\"\"y\u{fffd}\" integer)"
        );
    }
}

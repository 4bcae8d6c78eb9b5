//! Metrics: what of a table can be compared, drawn, or asked for, with its unit as shown and the way it is computed.

use model::{Column, Compare, Den, Derived, Fold, Polarity, Table, Type, intern};
use store::Frame;

/// One thing that can be compared or drawn: a value column of a wide table, a field of a long one, or a derived metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// The table it is computed from.
    pub table: &'static Table,
    /// Its name, unique within the table.
    pub name: &'static str,
    /// The unit in which it is shown: base units, counters per second (`s/s`, `B/s`, `1/s`), derived metrics as declared.
    pub unit: &'static str,
    /// The unit when divided by the workload's operations instead of by seconds; `None` for levels and ratios, which cannot be.
    pub per_operation: Option<&'static str>,
    /// One line: what it says.
    pub help: &'static str,
    /// Whether more of it is better.
    pub polarity: Polarity,
    /// How runs are compared.
    pub compare: Compare,
    /// How entities of a group fold into one. Ratios of columns fold as the ratio of the sums, whatever this says.
    pub fold: Fold,
    /// The least difference that anyone would care about, in `unit`; 0 leaves it to the unit's default.
    pub floor: f64,
    /// What its numerator adds up.
    pub(crate) num: Vec<Term>,
    /// What it is divided by.
    pub(crate) den: Divisor,
}

/// A column (or field) and its weight in base units.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Term {
    pub(crate) name: &'static str,
    /// Only its differences mean anything.
    pub(crate) cumulative: bool,
    pub(crate) real: bool,
    /// Unit factor times the declared weight.
    pub(crate) weight: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Divisor {
    /// The seconds between two reads.
    Seconds,
    /// Nothing: each reading of a level counts as one.
    One,
    /// A sum of columns.
    Columns(Vec<Term>),
}

impl Term {
    fn of(column: &Column, weight: f64) -> Self {
        Term {
            name: column.name,
            cumulative: column.is_cumulative(),
            real: column.ty == Type::Real,
            weight: weight * column.unit.factor(),
        }
    }
}

impl Metric {
    /// The name within a recording, such as "cpu.user".
    pub fn full_name(&self) -> String {
        format!("{}.{}", self.table.name, self.name)
    }

    /// Whether it is something per second, so that it can also be given per operation of the workload.
    pub fn is_rate(&self) -> bool {
        self.den == Divisor::Seconds
    }

    /// Whether it is a level: true at the time of a reading, not over the time between two.
    pub fn is_level(&self) -> bool {
        let columns = match &self.den {
            Divisor::Columns(terms) => terms.as_slice(),
            _ => &[],
        };
        self.den != Divisor::Seconds && self.num.iter().chain(columns).all(|t| !t.cumulative)
    }

    /// The stored value columns that it is computed from, for [`store::Select::columns`].
    pub fn columns(&self) -> Vec<&'static str> {
        if self.table.is_long() {
            return vec!["value"];
        }
        let den: &[Term] = match &self.den {
            Divisor::Columns(terms) => terms,
            _ => &[],
        };
        let mut names: Vec<&'static str> = self.num.iter().chain(den).map(|t| t.name).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Number of columns that it is computed from, each counted as often as it is used.
    pub(crate) fn terms(&self) -> usize {
        self.num.len()
            + match &self.den {
                Divisor::Columns(terms) => terms.len(),
                _ => 0,
            }
    }

    /// The metric of a column or field of `table`; `None` for labels, facts and texts.
    fn of_column(table: &'static Table, column: &Column) -> Option<Self> {
        if column.is_label() || column.ty == Type::Text || column.kind == model::Kind::Fact {
            return None;
        }
        let rate = column.is_cumulative();
        Some(Metric {
            table,
            name: column.name,
            unit: if rate { column.unit.per_second() } else { column.unit.base() },
            per_operation: rate.then(|| column.unit.per_operation()),
            help: column.help,
            polarity: column.polarity,
            compare: column.compare,
            fold: column.fold,
            floor: column.floor,
            num: vec![Term::of(column, 1.0)],
            den: if rate { Divisor::Seconds } else { Divisor::One },
        })
    }

    /// A declared derived metric; `None` where it names a column that the table does not have.
    fn of_derived(table: &'static Table, derived: &Derived) -> Option<Self> {
        let terms = |list: &[(&'static str, f64)]| -> Option<Vec<Term>> {
            let term = |&(name, weight): &(&str, f64)| match table.column(name) {
                Some(column) if column.ty != Type::Text => Some(Term::of(column, weight)),
                _ => None,
            };
            list.iter().map(term).collect()
        };
        let num = terms(derived.num)?;
        let den = match derived.den {
            // Levels do not add up over time: a sum of levels alone is a level itself.
            Den::Time if num.iter().all(|t| !t.cumulative) => Divisor::One,
            Den::Time => Divisor::Seconds,
            Den::Columns(list) => Divisor::Columns(terms(list)?),
        };
        let per_operation = if den == Divisor::Seconds { per_operation(derived.unit) } else { None };
        Some(Metric {
            table,
            name: derived.name,
            unit: derived.unit,
            per_operation,
            help: derived.help,
            polarity: derived.polarity,
            compare: derived.compare,
            fold: Fold::Sum,
            floor: derived.floor,
            num,
            den,
        })
    }
}

/// "s/s" becomes "s/op"; `None` for a unit that is not per second.
fn per_operation(unit: &str) -> Option<&'static str> {
    match unit {
        "W" => Some("J/op"),
        _ => unit.strip_suffix("/s").map(|base| intern(&format!("{base}/op"))),
    }
}

/// All metrics that a table declares: its columns or known fields, then its derived metrics. Tables of events have none: an event
/// stands for itself.
pub fn metrics(table: &'static Table) -> Vec<Metric> {
    if table.events {
        return Vec::new();
    }
    let columns = table.values().filter_map(|column| Metric::of_column(table, column));
    columns.chain(table.derived.iter().filter_map(|d| Metric::of_derived(table, d))).collect()
}

/// The metrics that a frame holds: for a wide table those of [`metrics`]; for a long one the fields that are in the frame, known or not, and
/// the derived metrics whose fields all are.
pub fn fields(frame: &Frame) -> Vec<Metric> {
    let table = frame.table;
    if !table.is_long() || table.events {
        return metrics(table);
    }
    let mut found: Vec<&'static str> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for entity in &frame.entities {
        if let Some(&cell) = entity.labels.last()
            && seen.insert(cell)
            && let Some(name) = frame.symbols.text(cell)
        {
            found.push(intern(name));
        }
    }
    let field = |name: &&'static str| {
        let known = table.values().find(|c| c.name == *name).copied();
        Metric::of_column(table, &known.unwrap_or_else(|| table.unknown_field(name)))
    };
    let derived = table.derived.iter().filter_map(|d| Metric::of_derived(table, d));
    let here = derived.filter(|m| {
        let den: &[Term] = match &m.den {
            Divisor::Columns(terms) => terms,
            _ => &[],
        };
        m.num.iter().chain(den).all(|t| found.contains(&t.name))
    });
    found.iter().filter_map(field).chain(here).collect()
}

/// The metric called `name` of a table: a column, a derived metric, or a field (any name, for a long table).
pub fn metric(table: &'static Table, name: &str) -> Option<Metric> {
    let known = metrics(table).into_iter().find(|m| m.name == name);
    known.or_else(|| {
        let unknown = table.is_long() && !table.events && table.column(name).is_none();
        unknown.then(|| Metric::of_column(table, &table.unknown_field(intern(name)))).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{CPU, VMSTAT, frame};

    #[test]
    fn units_are_those_shown() {
        let all = metrics(&CPU);
        let shown: Vec<_> = all.iter().map(|m| (m.full_name(), m.unit, m.per_operation, m.is_level())).collect();
        assert_eq!(
            shown,
            [
                ("cpu.user".into(), "s/s", Some("s/op"), false),
                ("cpu.idle".into(), "s/s", Some("s/op"), false),
                ("cpu.mhz".into(), "Hz", None, true),
                ("cpu.busy".into(), "s/s", Some("s/op"), false),
                ("cpu.busy_share".into(), "ratio", None, false),
            ]
        );
        assert_eq!(all[4].columns(), ["idle", "user"]);
    }

    #[test]
    fn fields_are_those_found_and_unknown_ones_are_kept() {
        let frame = frame(&VMSTAT, "t field value\n0 pgfault 1\n0 brand_new 2\n1 pgfault 2\n1 brand_new 2");
        let names: Vec<_> = fields(&frame).iter().map(|m| (m.name, m.unit)).collect();
        assert_eq!(names, [("pgfault", "1/s"), ("brand_new", "1/s")]);
        assert_eq!(metric(&VMSTAT, "brand_new").unwrap().columns(), ["value"]);
        assert!(metric(&CPU, "cpu").is_none() && metric(&CPU, "no such").is_none());
    }
}

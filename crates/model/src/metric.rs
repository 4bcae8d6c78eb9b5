//! Metrics: what of a table can be compared, drawn, or asked for, with its unit as shown and the way it is computed.

use crate::{Column, Compare, Den, Derived, Fold, Kind, NULL, Polarity, Table, Type, intern};

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
    pub num: Vec<Term>,
    /// What it is divided by.
    pub den: Divisor,
}

/// A column (or field) and its weight in base units.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// The column's, or field's, name.
    pub name: &'static str,
    /// Only its differences mean anything.
    pub cumulative: bool,
    /// Its cells are doubles.
    pub real: bool,
    /// Unit factor times the declared weight.
    pub weight: f64,
}

/// What a metric's numerator is divided by.
#[derive(Clone, Debug, PartialEq)]
pub enum Divisor {
    /// The seconds between two reads.
    Seconds,
    /// Nothing: each reading of a level counts as one.
    One,
    /// A sum of columns.
    Columns(Vec<Term>),
}

impl Term {
    /// What a cell says at the time of a reading, in base units, weighed; NaN where nothing was read.
    pub fn level(&self, cell: i64) -> f64 {
        match cell {
            NULL => f64::NAN,
            _ if self.real => f64::from_bits(cell as u64) * self.weight,
            _ => cell as f64 * self.weight,
        }
    }

    /// What the time between two readings adds, in base units, weighed: by how much a counter grew, or the level at the end. NaN where one of
    /// them is missing, and where the counter was reset.
    pub fn between(&self, before: i64, after: i64) -> f64 {
        if !self.cumulative {
            return self.level(after);
        }
        if before == NULL || after == NULL || self.is_reset(before, after) {
            return f64::NAN;
        }
        match self.real {
            true => (f64::from_bits(after as u64) - f64::from_bits(before as u64)) * self.weight,
            // Counters may be any i64: their difference may need all 64 bits.
            false => after.wrapping_sub(before) as u64 as f64 * self.weight,
        }
    }

    /// Whether a counter went down between two readings.
    pub fn is_reset(&self, before: i64, after: i64) -> bool {
        if !self.cumulative || before == NULL || after == NULL {
            return false;
        }
        match self.real {
            true => f64::from_bits(after as u64) < f64::from_bits(before as u64),
            false => after < before,
        }
    }

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
        self.den != Divisor::Seconds && self.terms().all(|t| !t.cumulative)
    }

    /// The stored value columns that it is computed from.
    pub fn columns(&self) -> Vec<&'static str> {
        if self.table.is_long() {
            return vec!["value"];
        }
        let mut names: Vec<&'static str> = self.terms().map(|t| t.name).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// What its numerator adds up, then what its denominator does.
    pub fn terms(&self) -> impl Iterator<Item = &Term> {
        let den: &[Term] = match &self.den {
            Divisor::Columns(terms) => terms,
            Divisor::Seconds | Divisor::One => &[],
        };
        self.num.iter().chain(den)
    }

    /// The metric of a column or field of `table`; `None` for labels, facts and texts.
    pub fn of_column(table: &'static Table, column: &Column) -> Option<Self> {
        if column.is_label() || column.ty == Type::Text || column.kind == Kind::Fact {
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
    pub fn of_derived(table: &'static Table, derived: &Derived) -> Option<Self> {
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

/// The metric called `name` of a table: a column, a derived metric, or a field (any name, for a long table).
pub fn metric(table: &'static Table, name: &str) -> Option<Metric> {
    let known = metrics(table).into_iter().find(|m| m.name == name);
    known.or_else(|| {
        let unknown = table.is_long() && !table.events && table.column(name).is_none();
        unknown.then(|| Metric::of_column(table, &table.unknown_field(intern(name)))).flatten()
    })
}

//! Tables, columns and derived metrics: what a source declares and what a recording carries along, so that a
//! reader of any age knows what each number means.

use crate::{Bucket, Measure, Page, State, Unit};
use serde::{Deserialize, Serialize};

/// How a cell is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Type {
    /// A signed 64-bit integer; [`crate::NULL`] where nothing was read.
    Int,
    /// A double, stored as its bits; [`crate::NULL`] where nothing was read.
    Real,
    /// A string, stored as a symbol of the recording.
    Text,
}

/// What a column is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// What the row is about: all labels of a row name its entity.
    Label,
    /// A cumulative count as the kernel gives it; rates are computed when asked. A decrease is a reset.
    Counter,
    /// A level at the time of reading.
    Gauge,
    /// One bucket of a histogram, cumulative like a counter.
    Histogram,
    /// A length of time of one event.
    Duration,
    /// A property that seldom changes: compared for equality.
    Fact,
}

/// Whether more of it is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Polarity {
    /// More is better: throughput, idle memory.
    Better,
    /// More is worse: latency, errors, waiting.
    Worse,
    /// Neither: it depends on what was asked of the system.
    Neutral,
}

/// How two runs are compared on a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Compare {
    /// By the ratio of the means (rates for counters).
    Ratio,
    /// By the difference of the means: for shares, temperatures, frequencies.
    Difference,
    /// By the whole distribution.
    Distribution,
    /// By equality.
    Equality,
    /// Not at all: an identifier, or a number that means nothing across runs.
    Never,
}

/// How the values of several entities fold into one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fold {
    /// They add up.
    Sum,
    /// Their mean.
    Mean,
    /// The greatest.
    Max,
}

/// One column of a table, or one field of a [`Shape::Long`] table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Column {
    /// Lower-case name, the kernel's own word where it has one.
    pub name: &'static str,
    /// How it is stored.
    pub ty: Type,
    /// What it is for.
    pub kind: Kind,
    /// The unit of the stored value.
    pub unit: Unit,
    /// A heading, where the name is none; empty: the name, spelled out.
    pub title: &'static str,
    /// One line: what it counts or measures.
    pub help: &'static str,
    /// Whether more of it is better.
    pub polarity: Polarity,
    /// How runs are compared.
    pub compare: Compare,
    /// How entities fold into one.
    pub fold: Fold,
    /// The least absolute difference that anyone would care about, in base units (per second for counters). 0 leaves
    /// the choice to the default of the unit.
    pub floor: f64,
    /// Where it ends, if it is a bucket of a histogram.
    pub bucket: Option<Bucket>,
    /// What it is as a state of threads, if it holds the time in one.
    pub state: Option<&'static State>,
}

impl Column {
    const fn new(name: &'static str, ty: Type, kind: Kind, unit: Unit, help: &'static str) -> Self {
        let compare = match kind {
            Kind::Label => Compare::Never,
            Kind::Fact => Compare::Equality,
            Kind::Histogram | Kind::Duration => Compare::Distribution,
            Kind::Counter | Kind::Gauge => Compare::Ratio,
        };
        Column {
            name,
            ty,
            kind,
            unit,
            title: "",
            help,
            polarity: Polarity::Neutral,
            compare,
            fold: Fold::Sum,
            floor: 0.0,
            bucket: None,
            state: None,
        }
    }

    /// A text that says what the row is about.
    pub const fn label(name: &'static str, help: &'static str) -> Self {
        Self::new(name, Type::Text, Kind::Label, Unit::None, help)
    }

    /// A number that says what the row is about, such as a CPU or a process.
    pub const fn number(name: &'static str, help: &'static str) -> Self {
        Self::new(name, Type::Int, Kind::Label, Unit::None, help)
    }

    /// A cumulative count.
    pub const fn counter(name: &'static str, unit: Unit, help: &'static str) -> Self {
        Self::new(name, Type::Int, Kind::Counter, unit, help)
    }

    /// A level at the time of reading.
    pub const fn gauge(name: &'static str, unit: Unit, help: &'static str) -> Self {
        Self::new(name, Type::Int, Kind::Gauge, unit, help)
    }

    /// A level that is not a whole number.
    pub const fn real(name: &'static str, unit: Unit, help: &'static str) -> Self {
        Self::new(name, Type::Real, Kind::Gauge, unit, help)
    }

    /// A property in words.
    pub const fn fact(name: &'static str, help: &'static str) -> Self {
        Self::new(name, Type::Text, Kind::Fact, Unit::None, help)
    }

    /// A property that is a number.
    pub const fn fact_number(name: &'static str, unit: Unit, help: &'static str) -> Self {
        Self::new(name, Type::Int, Kind::Fact, unit, help)
    }

    /// More of it is worse.
    pub const fn worse(mut self) -> Self {
        self.polarity = Polarity::Worse;
        self
    }

    /// More of it is better.
    pub const fn better(mut self) -> Self {
        self.polarity = Polarity::Better;
        self
    }

    /// Sets how runs are compared.
    pub const fn compared(mut self, by: Compare) -> Self {
        self.compare = by;
        self
    }

    /// Makes a counter one bucket of a histogram, which ends at `end` in `unit` (see [`Bucket`]). Buckets mean something together only: they are not
    /// compared one by one.
    pub const fn histogram(mut self, end: f64, unit: Unit) -> Self {
        self.kind = Kind::Histogram;
        self.compare = Compare::Never;
        self.bucket = Some(Bucket { end, unit });
        self
    }

    /// Makes a counter of time the time in one state of threads.
    pub const fn state(mut self, state: &'static State) -> Self {
        self.state = Some(state);
        self
    }

    /// Gives it a heading other than its name.
    pub const fn titled(mut self, title: &'static str) -> Self {
        self.title = title;
        self
    }

    /// Sets how entities fold into one.
    pub const fn folded(mut self, fold: Fold) -> Self {
        self.fold = fold;
        self
    }

    /// Sets the least difference that matters, in base units (per second for counters).
    pub const fn floor(mut self, floor: f64) -> Self {
        self.floor = floor;
        self
    }

    /// Whether the column belongs to the row's identity.
    pub fn is_label(&self) -> bool {
        self.kind == Kind::Label
    }

    /// Whether it counts up, so that only its differences mean anything.
    pub fn is_cumulative(&self) -> bool {
        matches!(self.kind, Kind::Counter | Kind::Histogram)
    }
}

/// How fields lie in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// Each column of the declaration is a column of the table.
    Wide,
    /// One row per field, stored as (labels, `field`, `value`): for files whose set of fields varies by kernel or driver.
    /// Columns that are no labels document known fields; unknown ones are stored all the same, as counters or
    /// gauges as the table says.
    Long {
        /// What a field is taken for that the declaration does not know.
        unknown: Kind,
    },
}

/// What a derived metric is divided by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Den {
    /// By the time between two reads, in seconds.
    Time,
    /// By a weighted sum of columns.
    Columns(&'static [(&'static str, f64)]),
}

/// A metric computed from columns: a weighted sum (differences of counters, levels of gauges, in base units) divided by
/// another or by time. Over a window it is the ratio of the sums, never the mean of ratios.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Derived {
    /// Name, unique among the columns and derived metrics of the table.
    pub name: &'static str,
    /// The base unit's symbol as shown: "ratio", "s", "B", "" …
    pub unit: &'static str,
    /// One line: what it says.
    pub help: &'static str,
    /// Columns and their weights.
    pub num: &'static [(&'static str, f64)],
    /// What it is divided by.
    pub den: Den,
    /// Whether more of it is better.
    pub polarity: Polarity,
    /// How runs are compared.
    pub compare: Compare,
    /// The least absolute difference that anyone would care about, in `unit`; 0 leaves it to the unit's default.
    pub floor: f64,
}

/// A table: what one source yields, and how it is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Table {
    /// Lower-case name, unique over all sources.
    pub name: &'static str,
    /// One line: what a row is.
    pub help: &'static str,
    /// How fields lie in it.
    pub shape: Shape,
    /// Labels first, then values.
    pub columns: &'static [Column],
    /// Metrics computed from the columns.
    pub derived: &'static [Derived],
    /// How entities are grouped for comparison: each entry is a set of labels; the others are folded away.
    /// Empty: the table is not compared. `&[&[]]`: one total.
    pub groups: &'static [&'static [&'static str]],
    /// Rows are events: each stands for itself at its time. Otherwise rows are states: each read yields all entities, an
    /// entity that is not in a read is gone, and a state holds until the next read.
    pub events: bool,
    /// An entity that is first seen after the table's first read came into being since the read before, with its counters at
    /// zero: its first counters are a difference too. True of processes, not of CPUs that were switched off for a while.
    pub from_zero: bool,
    /// Rows are entries of a dictionary that other tables refer to by number: true from then on and for the whole recording, before it too.
    /// They are events that no window cuts and that a flight recorder never forgets. Of several rows with the same labels the last counts.
    pub dictionary: bool,
    /// A heading, where the name is none; empty: the name, spelled out.
    pub title: &'static str,
    /// The page of the report that shows its rows, where no chart says so.
    pub page: Option<Page>,
    /// Rows are about the traced threads only, where a recording traces some: a compiler of the workload has the name of a neighbour's.
    pub scoped: bool,
    /// What its rows weigh, if they have stacks and can be drawn as call trees.
    pub measure: Option<&'static Measure>,
}

impl Table {
    const fn new(name: &'static str, help: &'static str, shape: Shape, columns: &'static [Column]) -> Self {
        Table {
            name,
            help,
            shape,
            columns,
            derived: &[],
            groups: &[&[]],
            events: false,
            from_zero: false,
            dictionary: false,
            title: "",
            page: None,
            scoped: false,
            measure: None,
        }
    }

    /// A wide table, compared as one total over all its entities.
    pub const fn wide(name: &'static str, help: &'static str, columns: &'static [Column]) -> Self {
        Table::new(name, help, Shape::Wide, columns)
    }

    /// A long table (see [`Shape::Long`]), compared as one total for each field.
    pub const fn long(name: &'static str, help: &'static str, unknown: Kind, columns: &'static [Column]) -> Self {
        Table::new(name, help, Shape::Long { unknown }, columns)
    }

    /// Adds derived metrics.
    pub const fn derived(mut self, derived: &'static [Derived]) -> Self {
        self.derived = derived;
        self
    }

    /// Sets how entities are grouped for comparison.
    pub const fn grouped(mut self, groups: &'static [&'static [&'static str]]) -> Self {
        self.groups = groups;
        self
    }

    /// Says that entities which appear later began with their counters at zero, see [`Table::from_zero`].
    pub const fn from_zero(mut self) -> Self {
        self.from_zero = true;
        self
    }

    /// Says that rows are events, each true for its time only (a process that ended), or from its time on (a property that
    /// was found). They are not compared.
    pub const fn of_events(mut self) -> Self {
        self.events = true;
        self.groups = &[];
        self
    }

    /// Says that rows are entries of a dictionary, see [`Table::dictionary`].
    pub const fn of_entries(mut self) -> Self {
        self.dictionary = true;
        self.of_events()
    }

    /// Gives it a heading other than its name.
    pub const fn titled(mut self, title: &'static str) -> Self {
        self.title = title;
        self
    }

    /// Shows its rows on this page of the report.
    pub const fn on(mut self, page: Page) -> Self {
        self.page = Some(page);
        self
    }

    /// Says that rows are about the traced threads only, see [`Table::scoped`].
    pub const fn scoped(mut self) -> Self {
        self.scoped = true;
        self
    }

    /// Says what its rows weigh.
    pub const fn measured(mut self, measure: &'static Measure) -> Self {
        self.measure = Some(measure);
        self
    }

    /// The states that its columns are, in order; none unless it is a ledger.
    pub fn states(&self) -> impl Iterator<Item = (&'static Column, &'static State)> + use<> {
        self.columns.iter().filter_map(|c| Some((c, c.state?)))
    }

    /// The label columns, in order.
    pub fn labels(&self) -> impl Iterator<Item = &'static Column> + use<> {
        self.columns.iter().filter(|c| c.is_label())
    }

    /// The columns that are no labels: values of a wide table, known fields of a long one.
    pub fn values(&self) -> impl Iterator<Item = &'static Column> + use<> {
        self.columns.iter().filter(|c| !c.is_label())
    }

    /// A declared column by its name.
    pub fn column(&self, name: &str) -> Option<&'static Column> {
        self.columns.iter().find(|c| c.name == name)
    }

    /// Whether it is a long table.
    pub fn is_long(&self) -> bool {
        matches!(self.shape, Shape::Long { .. })
    }

    /// The columns as they are stored, without the time: those declared, or labels, `field` and `value` for a long table.
    pub fn stored(&self) -> Vec<Column> {
        match self.shape {
            Shape::Wide => self.columns.to_vec(),
            Shape::Long { unknown } => {
                let mut columns: Vec<Column> = self.labels().copied().collect();
                columns.push(Column::label("field", "the name of the field, as the kernel or driver gives it"));
                let value = Column::gauge("value", Unit::None, "its value, in the unit that the field's help names");
                columns.push(Column { kind: unknown, ..value });
                columns
            }
        }
    }

    /// Number of stored columns, without the time.
    pub fn width(&self) -> usize {
        match self.shape {
            Shape::Wide => self.columns.len(),
            Shape::Long { .. } => self.labels().count() + 2,
        }
    }

    /// Number of stored columns that name the entity; they come first.
    pub fn label_width(&self) -> usize {
        self.labels().count() + usize::from(self.is_long())
    }

    /// What is said of a field of a long table that the declaration does not know.
    pub fn unknown_field(&self, name: &'static str) -> Column {
        let kind = match self.shape {
            Shape::Long { unknown } => unknown,
            Shape::Wide => Kind::Gauge,
        };
        Column {
            kind,
            ..Column::gauge(name, Unit::None, "as this kernel or driver names it; its documentation is not known here")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDE: Table = Table::wide(
        "cpu",
        "one CPU",
        &[Column::number("cpu", "number"), Column::counter("user", Unit::ClockTicks, "user time")],
    );
    const LONG: Table =
        Table::long("vmstat", "one field", Kind::Counter, &[Column::counter("pgfault", Unit::None, "page faults")]);

    #[test]
    fn stored_columns_follow_the_shape() {
        assert_eq!(WIDE.width(), 2);
        assert_eq!(WIDE.label_width(), 1);
        let names: Vec<_> = LONG.stored().iter().map(|c| c.name).collect();
        assert_eq!(names, ["field", "value"]);
        assert_eq!(LONG.label_width(), 1);
        assert_eq!(LONG.unknown_field("new").kind, Kind::Counter);
    }
}

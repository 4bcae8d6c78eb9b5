//! What the folder of summaries holds: its datasets and their columns, the contract that docs/fleet-format.md puts in words. Files are written and
//! read by these declarations, SQL shows them, and nothing else names a column's type.

/// Of what kind the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// UTF-8.
    Text,
    /// 64 bits.
    Int,
    /// 64-bit floating point.
    Real,
    /// 32-bit floating point: what is known to fewer digits than it has.
    Single,
}

impl Type {
    /// As docs/engines.md and `.schema` call it.
    pub fn word(self) -> &'static str {
        match self {
            Type::Text => "text",
            Type::Int => "integer",
            Type::Real => "real",
            Type::Single => "single",
        }
    }
}

/// A column. Any value but those of the key may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Of what kind its values are.
    pub ty: Type,
    /// What it says, with its unit.
    pub help: &'static str,
    /// Whether parts were written without it once: there it is missing.
    pub later: bool,
}

impl Column {
    const fn later(self) -> Column {
        Column { later: true, ..self }
    }
}

/// One kind of rows.
#[derive(Debug, PartialEq, Eq)]
pub struct Dataset {
    /// Name of its folder, and of its table in SQL.
    pub name: &'static str,
    /// What a row is.
    pub help: &'static str,
    /// The columns, in order.
    pub columns: &'static [Column],
    /// The rows of a part are in the order of the first so many columns.
    pub key: usize,
}

impl Dataset {
    /// The place of a column.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name == name)
    }
}

pub(crate) const fn text(name: &'static str, help: &'static str) -> Column {
    Column { name, ty: Type::Text, help, later: false }
}

pub(crate) const fn int(name: &'static str, help: &'static str) -> Column {
    Column { name, ty: Type::Int, help, later: false }
}

pub(crate) const fn real(name: &'static str, help: &'static str) -> Column {
    Column { name, ty: Type::Real, help, later: false }
}

const fn single(name: &'static str, help: &'static str) -> Column {
    Column { name, ty: Type::Single, help, later: false }
}

const HOST: Column = text("host", "name of the host");
const ID: Column = text("id", "the recording");

/// Recordings.
pub static RECORDING: Dataset = Dataset {
    name: "recording",
    help: "one recording; what none of its rows names is not there",
    columns: &[
        HOST,
        ID,
        text("run", "name of the recording"),
        text("file", "file that it was read from"),
        int("start", "when it began, ns since 1970 UTC"),
        real("seconds", "how long it is, s"),
        int("window_from", "start of the window that was reduced, ns since the start of the recording"),
        int("window_to", "its end, ns since the start of the recording"),
        text("window_why", "why it is that one"),
        text("command", "command that was recorded"),
        text(
            "work_unit",
            "what work was counted in; `run` where a run of the command is the unit; missing where none is known",
        ),
        real("work", "work done in the window, in that unit"),
        text("boot", "identifier of the boot of the host"),
        int("booted", "when the host booted, ns since 1970 UTC, without the time that it slept").later(),
        text("marks", "marks that were set, as a JSON list of pairs: ns since 1970 UTC, and the text").later(),
        text("labels", "labels that were given, as a JSON object of texts"),
        text("tool", "version of the recorder"),
        text("left_out", "what could not be reduced, and damage, in words"),
    ],
    key: 2,
};

/// Metrics.
pub static METRIC: Dataset = Dataset {
    name: "metric",
    help: "one metric of one group of a recording, over its window",
    columns: &[
        text("metric", "name of the metric: TABLE.NAME"),
        text("labels", "the group, as a JSON object of texts; {} for all of the host"),
        text("per", "what it is divided by: `second` (also of levels and ratios), or `operation` of the workload"),
        HOST,
        ID,
        int("samples", "intervals that were measured"),
        real("mean", "ratio of the sums over the window"),
        single(
            "error",
            "standard error of the mean, with the dependence of the samples; missing where they tell nothing of it",
        ),
        single("deviation", "standard deviation of the intervals, each weighted by what it is divided by"),
        single("median", "median of the intervals, so weighted"),
        single("p99", "99th percentile of the intervals, so weighted"),
        single("even", "ratio of the sums over the even blocks of the window"),
        single("odd", "the same over the odd blocks"),
    ],
    key: 5,
};

/// What metrics are.
pub static DECLARED: Dataset = Dataset {
    name: "declared",
    help: "what is known of a metric; of several rows of one metric any holds",
    columns: &[
        text("metric", "name of the metric"),
        text("unit", "its unit"),
        text("per_operation", "its unit per operation; missing where it cannot be given so"),
        text("better", "`more`, `less`, or missing where that depends"),
        int(
            "is_rate",
            "1 for something per second: a group that a host lacks was 0 there, where other groups were read",
        ),
        single("floor", "least difference that anyone would care about, in its unit"),
        text("help", "what it says"),
    ],
    key: 1,
};

/// Facts.
pub static FACT: Dataset = Dataset {
    name: "fact",
    help: "one property of a host; category `coverage` tells what could be read",
    columns: &[
        text("category", "kernel, cpu, sysctl …"),
        text("name", "name within the category"),
        HOST,
        ID,
        text("value", "its value"),
        real("number", "the value as a number, where it is one"),
    ],
    key: 4,
};

/// Places in code.
pub static PLACE: Dataset = Dataset {
    name: "place",
    help: "a function's share of what the workload's threads did in a state",
    columns: &[
        text("state", "`cpu`, or the state of the ledger in which threads were blocked: lock, disk …"),
        text("function", "its name; missing in the row for all that have less than a thousandth each"),
        text("module", "file name of its program or library"),
        HOST,
        ID,
        single("own", "share of the state's time in the function itself, 0 to 1"),
        single("total", "share with what it called"),
        single("seconds", "thread time in this state in the window, s"),
    ],
    key: 5,
};

/// Courses over time.
pub static SLICE: Dataset = Dataset {
    name: "slice",
    help: "mean of a metric over a slice of the window",
    columns: &[
        text("metric", "name of the metric, as in `metric`"),
        text("labels", "its group"),
        text("per", "what it is divided by"),
        HOST,
        ID,
        int("slice", "number of the slice, from 0"),
        int("from", "when it begins, ns since 1970 UTC"),
        int("to", "when it ends, ns since 1970 UTC"),
        single("mean", "ratio of the sums; missing where nothing was measured"),
    ],
    key: 6,
};

/// Processes.
pub static PROCESS: Dataset = Dataset {
    name: "process",
    help: "a process of the workload",
    columns: &[
        HOST,
        ID,
        int("pid", "its number"),
        text("name", "its name"),
        int("start", "when it began, ns since 1970 UTC"),
    ],
    key: 3,
};

/// All of them; what a part of [`RECORDING`] does not name is not there.
pub static DATASETS: [&Dataset; 7] = [&RECORDING, &METRIC, &DECLARED, &FACT, &PLACE, &SLICE, &PROCESS];

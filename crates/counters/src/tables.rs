//! The tables of hardware counters. They are declared here because two write them: who counts, and who imports what another tool has counted.

use model::{Chart, ChartKind, Column, Compare, Den, Derived, Fold, Page, Polarity, Table, Unit};

/// What is made of the counts, by group.
pub static PMU: Table = Table::wide(
    "pmu",
    "counts of one group of hardware counters on one CPU, scaled up by the time for which they were on",
    crate::COLUMNS,
)
.derived(crate::METRICS)
.grouped(&[&["group"]])
.titled("hardware counters");

/// As the kernel gave them.
pub static RAW: Table = Table::wide(
    "pmu_raw",
    "what one hardware counter counted on one CPU, as the kernel gave it",
    &[
        Column::number("cpu", "CPU number"),
        Column::label("group", "the counters that run at the same time"),
        Column::label("event", "what is counted: a column of pmu, or a part of one"),
        Column::counter("count", Unit::None, "events while it was on").compared(Compare::Never),
        Column::counter("enabled", Unit::Nanoseconds, "time for which it was wanted").compared(Compare::Never),
        Column::counter("running", Unit::Nanoseconds, "time of that in which it had a counter")
            .compared(Compare::Never),
    ],
)
.grouped(&[])
.titled("hardware counters, raw");

/// How much of the time each group was on.
pub static GROUP: Table = Table::wide(
    "pmu_group",
    "how much of the time a group of counters was on, and what it lacks",
    &[
        Column::label("group", "the counters that run at the same time"),
        Column::real(
            "share",
            Unit::Ratio,
            "share of the time since the read before in which it had counters, over all CPUs",
        )
        .compared(Compare::Never)
        .folded(Fold::Mean),
        Column::fact("events", "what is counted").compared(Compare::Never),
        Column::fact("absent", "what is not, and why").compared(Compare::Never),
    ],
)
.grouped(&[])
.titled("groups of hardware counters");

/// Of the command alone.
pub static PROCESS: Table = Table::wide(
    "pmu_process",
    "counts of the command and all that it started, on whatever CPU, scaled up by the time for which the counters were on",
    &[
        Column::label("who", "command; command, user space: where the kernel may not be counted"),
        Column::counter("cycles", Unit::None, "cycles in which the CPU was not halted"),
        Column::counter("instructions", Unit::None, "instructions that were carried out to their end (retired)"),
        Column::counter("branches", Unit::None, "branches that were carried out to their end"),
        Column::counter("branch_misses", Unit::None, "of them, those that the CPU had predicted wrongly").worse(),
    ],
)
.derived(&[
    Derived {
        name: "ipc",
        unit: "",
        help: "instructions in a cycle",
        num: &[("instructions", 1.0)],
        den: Den::Columns(&[("cycles", 1.0)]),
        polarity: Polarity::Better,
        compare: Compare::Ratio,
        floor: 0.02,
    },
    Derived {
        name: "branch_mpki",
        unit: "",
        help: "branches predicted wrongly, per 1,000 instructions",
        num: &[("branch_misses", 1000.0)],
        den: Den::Columns(&[("instructions", 1.0)]),
        polarity: Polarity::Worse,
        compare: Compare::Ratio,
        floor: 0.1,
    },
])
.from_zero()
.titled("hardware counters of the command");

/// Of packages: memory controllers, energy.
pub static PACKAGE: Table = Table::wide(
    "pmu_package",
    "what a PMU outside of the CPUs counted: bytes of memory controllers, energy of packages",
    &[
        Column::label("pmu", "the PMU: uncore_imc_0, power"),
        Column::number("cpu", "the CPU that it is asked through: one of the package"),
        Column::label("event", "the kernel's name for the event"),
        Column::counter("count", Unit::None, "events, as the kernel gave them").compared(Compare::Never),
        Column::counter("bytes", Unit::Bytes, "what they are in bytes").floor(10e6),
        Column::counter("energy", Unit::Microjoules, "what they are in energy").floor(0.5),
    ],
)
.grouped(&[&["event"]])
.titled("memory bandwidth and energy");

/// Metrics of a file of the user's, or of another tool.
pub static METRIC: Table = Table::wide(
    "pmu_metric",
    "a metric of a file given with --counters, or of another tool, over all CPUs and the time since the read before",
    &[
        Column::label("group", "the counters that run at the same time"),
        Column::label("metric", "its name there"),
        Column::real("value", Unit::None, "its value").folded(Fold::Mean),
    ],
)
.grouped(&[&["group", "metric"]])
.titled("other metrics of hardware counters");

/// What is drawn of them.
pub static CHARTS: &[Chart] = &[
    Chart::new(
        "pmu-ipc",
        Page::Counters,
        ChartKind::Line,
        "Instructions per cycle",
        "Counted, a line for each group of counters, which tell the same of different moments. Lower under the same code: the CPU waits more.",
        "pmu",
        &["ipc"],
    )
    .by(&["group"], 0),
    Chart::new(
        "pmu-ipc-heat",
        Page::Counters,
        ChartKind::Heat,
        "Instructions per cycle of each CPU",
        "One row per CPU, darker is more. Rows that stay light under load run code that waits.",
        "pmu",
        &["ipc"],
    )
    .by(&["cpu"], 0),
    Chart::new(
        "pmu-branch",
        Page::Counters,
        ChartKind::Line,
        "Wrong predictions of branches",
        "Per 1,000 instructions. Each costs 10 to 25 cycles.",
        "pmu",
        &["branch_mpki"],
    ),
    Chart::new(
        "pmu-itlb",
        Page::Counters,
        ChartKind::Line,
        "Page walks for code",
        "Per 1,000 instructions. Near zero where hot code fits the TLB or lies on huge pages.",
        "pmu",
        &["itlb_walks_pki"],
    )
    .by(&["group"], 0),
    Chart::new(
        "pmu-topdown",
        Page::Counters,
        ChartKind::Line,
        "What slots for operations were used for",
        "Top-down, level 1: the largest but retiring says where to look. Only with --counters topdown or all.",
        "pmu",
        &["frontend_bound", "backend_bound", "bad_speculation", "retiring"],
    ),
    Chart::new(
        "pmu-bandwidth",
        Page::Memory,
        ChartKind::Line,
        "Memory bandwidth",
        "What memory controllers read and wrote, counted by them.",
        "pmu_package",
        &["bytes"],
    )
    .by(&["event"], 0),
];

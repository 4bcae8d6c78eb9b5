//! What the recorder itself costs, as tables like any other: nobody should have to believe it.

use model::{Chart, ChartKind, Column, Compare, Page, Rows, Table, Unit};
use rustix::time::{ClockId, clock_gettime};
use sources::{Degrees, Thinning};

/// The recorder's resources.
pub(crate) static RECORDER: Table = Table::wide(
    "recorder",
    "what the recorder itself used",
    &[
        Column::counter("cpu", Unit::Nanoseconds, "CPU time of all its threads").worse().floor(0.01),
        Column::gauge("rss", Unit::Bytes, "resident memory").worse(),
        Column::counter("late", Unit::None, "ticks that began more than a tenth of the interval late").worse(),
        Column::counter("skipped", Unit::None, "ticks that were left out because the next one was due").worse(),
        Column::counter(
            "hooks",
            Unit::Nanoseconds,
            "CPU time that hooks took of the programs that they watch, as far as they know what they cost",
        )
        .worse()
        .floor(0.01),
        Column::gauge("stacks_1_in", Unit::None, "of so many stacks one is taken, for the budget of the recorder")
            .compared(Compare::Never),
        Column::gauge(
            "bursts_1_in",
            Unit::None,
            "of so many bursts of samples of instructions one is taken, for the budget of the recorder; 0: none",
        )
        .compared(Compare::Never),
        Column::gauge(
            "without_bystanders",
            Unit::None,
            "1 while threads of programs that are not the workload are left out, for the budget of the recorder",
        )
        .compared(Compare::Never),
        Column::gauge("reads_1_in", Unit::None, "of so many reads one is made, for the budget of the recorder")
            .compared(Compare::Never),
        Column::counter("committed", Unit::Bytes, "bytes of rows committed to the recording, before sealing"),
    ],
)
.grouped(&[]);

/// What each source cost.
pub(crate) static RECORDER_SOURCE: Table = Table::wide(
    "recorder_source",
    "what each source cost the recorder",
    &[
        Column::label("source", "the source"),
        Column::counter("reads", Unit::None, "how often it was read"),
        Column::counter("time", Unit::Nanoseconds, "time that its reads took").worse(),
        Column::counter("rows", Unit::None, "rows that it gave, before thinning"),
        Column::counter("errors", Unit::None, "reads that failed").worse(),
    ],
)
.grouped(&[]);

/// Work done by the workload, as `--throughput` read it.
pub(crate) static WORK: Table = Table::wide(
    "work",
    "work done by the workload, as --throughput read it from its output",
    &[Column::counter("done", Unit::None, "units of work done since it started").better()],
);

/// Their charts.
pub(crate) static CHARTS: &[Chart] = &[
    Chart::new(
        "work-done",
        Page::Cpu,
        ChartKind::Line,
        "Work done per second",
        "As the workload itself reported it. This is what the other charts explain.",
        "work",
        &["done"],
    ),
    Chart::new(
        "recorder-cpu",
        Page::Recorder,
        ChartKind::Line,
        "CPU time of the recorder",
        "What measuring cost: 0.01 is one hundredth of one CPU.",
        "recorder",
        &["cpu"],
    ),
    Chart::new(
        "recorder-sources",
        Page::Recorder,
        ChartKind::Stack,
        "Time that each source took",
        "The costliest sources; read one less often with --every SOURCE=TIME, or leave it out with --skip.",
        "recorder_source",
        &["time"],
    )
    .by(&["source"], 10),
    Chart::new(
        "recorder-thinned",
        Page::Recorder,
        ChartKind::Line,
        "What is thinned for the budget of the recorder",
        "One of so many stacks, bursts of samples (0: none) and reads is taken, and 1 while threads of bystanders are left out. At 1, 1, 1 and 0 all is recorded.",
        "recorder",
        &["stacks_1_in", "bursts_1_in", "reads_1_in", "without_bystanders"],
    ),
    Chart::new(
        "recorder-memory",
        Page::Recorder,
        ChartKind::Line,
        "Memory of the recorder",
        "Should be flat.",
        "recorder",
        &["rss"],
    ),
];

/// CPU time of this process, nanoseconds.
pub(crate) fn cpu() -> i64 {
    let t = clock_gettime(ClockId::ProcessCPUTime);
    t.tv_sec.saturating_mul(1_000_000_000).saturating_add(t.tv_nsec)
}

/// Resident memory of this process, bytes; [`model::NULL`] where procfs does not say.
pub(crate) fn rss(page: i64) -> i64 {
    let pages =
        std::fs::read_to_string("/proc/self/statm").ok().and_then(|text| text.split(' ').nth(1)?.parse::<i64>().ok());
    pages.map_or(model::NULL, |pages| pages.saturating_mul(page))
}

/// One row of [`RECORDER`]: memory that is resident, ticks that were late or skipped, what is thinned, bytes that were committed.
pub(crate) fn row(rss: i64, [late, skipped]: [i64; 2], thinning: &Thinning, degrees: Degrees, committed: u64) -> Rows {
    let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let Degrees { stacks, instructions, bystanders, reads } = degrees;
    let [stacks, instructions, bystanders, reads] = [stacks, instructions, u32::from(bystanders), reads].map(i64::from);
    let hooks = whole(thinning.hooks());
    let cells = vec![cpu(), rss, late, skipped, hooks, stacks, instructions, bystanders, reads, whole(committed)];
    Rows { width: RECORDER.width(), cells }
}

//! Time in interrupts by CPU and cause: handlers of devices, soft interrupts, functions of timers.
//!
//! The time of a soft interrupt is without the handlers that interrupted it. A timer of the kernel's wheel runs in the soft interrupt
//! TIMER, so its time is in both rows; high-resolution timers run in the timer's own interrupt, which is no handler of a device. Interrupts of
//! the processor itself (between CPUs, machine checks) are not in this table: see `ipi`. All interrupts of the machine are counted, whoever the
//! recording looks at; where counting them would take more than 0.5 % of a CPU, in a part of the time, and scaled up (`thin/`).

#[cfg(feature = "bpf")]
mod bpf;
#[cfg(all(test, feature = "bpf"))]
mod tests;

use crate::tally::{collector, longest};
use crate::{Pace, Reader, Scope, Source};
use host::Host;
use model::{Chart, ChartKind, Column, Table, Unavailable, Unit};

static INTERRUPT_TIME: Table = Table::wide(
    "interrupt_time",
    "time on one CPU in one interrupt handler, softirq or timer function",
    &[
        Column::number("cpu", "CPU number"),
        Column::label(
            "kind",
            "irq: the handler of a device; softirq: work deferred by handlers; timer: a function that a timer called",
        ),
        Column::label("name", "of a handler its device, of a softirq its kind, of a timer its function"),
        Column::counter("count", Unit::None, "runs; an estimate where irqs_collector.sampled_1_in is more than 1"),
        Column::counter(
            "time",
            Unit::Nanoseconds,
            "time in the handler; of softirqs and timers without the handlers that interrupted them",
        )
        .worse()
        .floor(1e-4),
        longest("the longest run since the read before; empty where there was none"),
    ],
)
.grouped(&[&["kind", "name"]])
.from_zero();

static COLLECTOR: Table = collector("irqs_collector");

static CHARTS: &[Chart] = &[
    Chart::new(
        "interrupt-time",
        model::Page::Interrupts,
        ChartKind::Line,
        "Time in interrupts by cause",
        "Seconds of CPU time a second that handlers, soft interrupts and timers took from whatever ran. Timers of the wheel are also in the soft interrupt TIMER.",
        "interrupt_time",
        &["time"],
    )
    .by(&["kind", "name"], 10),
    Chart::new(
        "interrupt-time-cpus",
        model::Page::Interrupts,
        ChartKind::Heat,
        "Time in soft interrupts by CPU",
        "One row per CPU, darker is more. One dark row means that one CPU does this work for all: threads on it run slower.",
        "interrupt_time",
        &["time"],
    )
    .by(&["cpu"], 0)
    .only("kind", &["softirq"]),
];

/// Interrupts by time.
pub static SOURCE: Source = Source {
    name: "irqs",
    title: "Time in interrupts by CPU and cause",
    documented: "include/trace/events/irq.h, timer.h",
    reads: &[],
    needs: "CAP_BPF and CAP_PERFMON",
    pace: Pace::Tick,
    tables: &[&INTERRUPT_TIME, &COLLECTOR],
    charts: CHARTS,
    open,
};

#[cfg(feature = "bpf")]
fn open(host: &Host, scope: &Scope) -> Result<Box<dyn Reader>, Unavailable> {
    Ok(Box::new(bpf::Irqs::open(host, scope)?))
}

#[cfg(not(feature = "bpf"))]
fn open(_: &Host, _: &Scope) -> Result<Box<dyn Reader>, Unavailable> {
    Err(crate::without_bpf())
}

//! Interrupts between CPUs by who sends them and why: function calls, wake-ups, TLB shootdowns. An unmapped page must leave the TLBs of all
//! CPUs that run threads of the process, so that `munmap` in one thread interrupts the others; here it is which thread did, in which code.
//!
//! Every interrupt is counted. Stacks are taken of one in N where there are more than about a hundred a second: those rows have a stack,
//! and the rest of the count is in a row without.

#[cfg(feature = "bpf")]
mod bpf;
#[cfg(all(test, feature = "bpf"))]
mod tests;

use crate::tally::collector;
use crate::{Pace, Reader, Scope, Source};
use host::Host;
use model::{Column, Measure, Page, Table, Unavailable, Unit};

static IPI: Table = Table::wide(
    "ipi",
    "IPIs that one CPU sent since the read before, for one sender, function and stack",
    &[
        Column::number("cpu", "the CPU that sent them"),
        Column::label(
            "kind",
            "call: run a function there; tlb: flush stale mappings (TLB shootdown); reschedule: run the scheduler; irq_work: deferred work of a CPU for itself",
        ),
        Column::label("function", "the kernel function that is run there; empty for reschedule"),
        Column::number("pid", "the process that sent them; 0: an interrupt or the kernel"),
        Column::label("comm", "its name; (interrupt) for what is done in interrupts, whatever they interrupt"),
        Column::label("thread", "the thread that sent them; empty for an interrupt"),
        Column::number("stack", "the sender's stack; empty for those of which none was taken"),
        Column::gauge("targets", Unit::None, "CPUs that were interrupted, summed").titled("CPUs hit"),
        Column::gauge("count", Unit::None, "IPI operations, each to one CPU or many").titled("sent"),
        Column::gauge(
            "pages",
            Unit::None,
            "pages to flush, summed; for tlb only. Full flushes, of many pages, are not in it",
        ),
    ],
)
.of_events()
.titled("IPIs by cause")
.on(Page::Interrupts)
.measured(
    &Measure::new("ipis", "IPIs", "targets", "IPIs by the stack that sends them; each CPU hit counts once")
        .of("who sent them")
        .labels(&["kind", "function"])
        .level("kind")
        .more(&["count", "pages"]),
);

static COLLECTOR: Table = collector("ipis_collector");

/// Interrupts between CPUs.
pub static SOURCE: Source = Source {
    name: "ipis",
    title: "IPIs (interrupts between CPUs) by cause",
    documented: "include/trace/events/ipi.h, csd.h, tlb.h (Linux 6.4 and later); kernel/smp.c; arch/x86/mm/tlb.c",
    reads: &[],
    needs: "CAP_BPF and CAP_PERFMON; Linux 6.4 or newer",
    pace: Pace::Tick,
    tables: &[&IPI, &COLLECTOR],
    charts: &[],
    open,
};

#[cfg(feature = "bpf")]
fn open(host: &Host, scope: &Scope) -> Result<Box<dyn Reader>, Unavailable> {
    Ok(Box::new(bpf::Ipis::open(host, scope)?))
}

#[cfg(not(feature = "bpf"))]
fn open(_: &Host, _: &Scope) -> Result<Box<dyn Reader>, Unavailable> {
    Err(crate::without_bpf())
}

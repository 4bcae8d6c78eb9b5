//! Page faults by process, mode and access, with stacks: the code that touches memory for the first time, or again after it was taken
//! away.
//!
//! Every fault is counted; where that would take more than 0.5 % of a CPU, those in a part of the time, and scaled up (`thin/`). Stacks are
//! taken of one in N where there are more than about a hundred a second; the count of a process, mode and access is shared out over the
//! stacks that were taken of it, so that the rows of a read add up to that count. What has no stack is in a row without.

#[cfg(feature = "bpf")]
mod bpf;
#[cfg(all(test, feature = "bpf"))]
mod tests;

use crate::tally::collector;
use crate::{Pace, Reader, Scope, Source};
use host::Host;
use model::{Column, Measure, Table, Unavailable, Unit};

static PAGE_FAULT: Table = Table::wide(
    "page_fault",
    "page faults since the read before, of one process, mode, access and stack",
    &[
        Column::number("pid", "the process"),
        Column::label("comm", "its name"),
        Column::label(
            "kind",
            "user: in the program; kernel: in the kernel, as a rule while it copies from or to the program",
        ),
        Column::label("access", "what was tried: read, write or exec"),
        Column::number("stack", "where; empty where no stack was taken"),
        Column::gauge(
            "count",
            Unit::None,
            "faults; of a stack, its share of the faults of its process, kind and access; an estimate where faults_collector.sampled_1_in is more than 1",
        ),
    ],
)
.of_events()
.scoped()
.measured(
    &Measure::new("faults", "Page faults", "count", "page faults by the stack that touched the page")
        .of("who touched the page")
        .labels(&["kind", "access"]),
);

static COLLECTOR: Table = collector("faults_collector");

/// Page faults.
pub static SOURCE: Source = Source {
    name: "faults",
    title: "Page faults by process and stack",
    documented: "include/trace/events/exceptions.h (arch/x86/include/asm/trace/exceptions.h before Linux 6.15)",
    reads: &[],
    needs: "CAP_BPF and CAP_PERFMON; a kernel with the tracepoints page_fault_user and page_fault_kernel: x86, and riscv since Linux 6.15",
    pace: Pace::Tick,
    tables: &[&PAGE_FAULT, &COLLECTOR],
    charts: &[],
    open,
};

#[cfg(feature = "bpf")]
fn open(host: &Host, scope: &Scope) -> Result<Box<dyn Reader>, Unavailable> {
    scope.target.somebody()?;
    Ok(Box::new(bpf::Faults::open(host, scope)?))
}

#[cfg(not(feature = "bpf"))]
fn open(_: &Host, _: &Scope) -> Result<Box<dyn Reader>, Unavailable> {
    Err(crate::without_bpf())
}

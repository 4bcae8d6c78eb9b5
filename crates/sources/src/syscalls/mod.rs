//! System calls by process and call: how often, with what result, how long. Counted in the kernel (`syscalls.bpf.c`), exactly: the counts
//! are those of `strace -c`, at about a thousandth of its cost. Where that would take more than 0.5 % of a CPU, they are counted in a part of the
//! time and scaled up (`thin/`), and the recording says so; `--exact` forbids it.
//!
//! A call counts when it returns, with all its time, so one that runs across a read is in the later one, and calls that never
//! return (exit, exit_group) are not counted. Time is from the kernel's entry to its exit: waiting included. An error is a negative
//! result, EAGAIN, EINTR and the like too. Processes that came and went between two reads go by pid 0.

#[cfg(feature = "bpf")]
mod bpf;
#[cfg_attr(not(feature = "bpf"), allow(dead_code))]
mod names;
#[cfg(all(test, feature = "bpf"))]
mod tests;

use crate::tally::{collector, longest, with_histogram};
use crate::{Pace, Reader, Scope, Source};
use host::Host;
use model::{Chart, ChartKind, Column, Compare, Den, Derived, Page, Polarity, Table, Unavailable, Unit};

static COLUMNS: [Column; 40] = with_histogram(
    &[
        Column::number("pid", "process; 0: processes that came and went between two reads"),
        Column::label("comm", "name of the process"),
        Column::label("call", "name of the call, as in syscalls(2)"),
        Column::counter("count", Unit::None, "calls that returned; an estimate where syscalls_collector.sampled_1_in is more than 1"),
        Column::counter("errors", Unit::None, "of these, calls that failed; EAGAIN, EINTR and the like count too")
            .worse(),
        Column::counter("time", Unit::Nanoseconds, "time in the call, waiting included; of an estimate, that of all calls that ran, whether or not they have returned").worse().floor(1e-3),
        Column::counter(
            "bytes",
            Unit::Bytes,
            "bytes moved: what read-like and write-like calls returned; empty for other calls",
        ),
    ],
    &[longest(
        "the longest call that returned since the read before; empty where none did. Of an estimate, as of its buckets: of those seen from \
         beginning to end, which are shorter than a stretch of 5 to 100 ms",
    )],
);

static SYSCALL: Table = Table::wide("syscall", "one system call of one process", &COLUMNS)
    .derived(&[
        Derived {
            name: "mean_time",
            unit: "s",
            help: "mean time of a call",
            num: &[("time", 1.0)],
            den: Den::Columns(&[("count", 1.0)]),
            polarity: Polarity::Worse,
            compare: Compare::Ratio,
            floor: 1e-6,
        },
        Derived {
            name: "error_share",
            unit: "ratio",
            help: "share of the calls that failed",
            num: &[("errors", 1.0)],
            den: Den::Columns(&[("count", 1.0)]),
            polarity: Polarity::Worse,
            compare: Compare::Difference,
            floor: 0.01,
        },
        Derived {
            name: "mean_bytes",
            unit: "B",
            help: "mean size of a read or write",
            num: &[("bytes", 1.0)],
            den: Den::Columns(&[("count", 1.0)]),
            polarity: Polarity::Neutral,
            compare: Compare::Ratio,
            floor: 1.0,
        },
    ])
    .grouped(&[&["comm", "call"]])
    .from_zero()
    .titled("System calls")
    .on(Page::Calls)
    .scoped();

/// What was counted and lost.
static COLLECTOR: Table = collector("syscalls_collector");

static CHARTS: &[Chart] = &[
    Chart::new(
        "syscalls-count",
        Page::Calls,
        ChartKind::Line,
        "System calls",
        "Calls a second of the processes and calls with most of them. Each costs some hundred nanoseconds at least, so a hundred thousand a second are worth a look: often they could be fewer and larger.",
        "syscall",
        &["count"],
    )
    .by(&["comm", "call"], 8),
    Chart::new(
        "syscalls-time",
        Page::Calls,
        ChartKind::Line,
        "Time in system calls",
        "Seconds spent in a call in each second, over all threads, waiting included. Calls that wait for work (futex, epoll_wait, poll, accept) are long in idle threads: that is no loss.",
        "syscall",
        &["time"],
    )
    .by(&["comm", "call"], 8),
    Chart::new(
        "syscalls-mean-time",
        Page::Calls,
        ChartKind::Line,
        "Mean time of a system call",
        "How long a call takes. fsync and fdatasync show the disk, read and write what lies behind them.",
        "syscall",
        &["mean_time"],
    )
    .by(&["comm", "call"], 8),
    Chart::new(
        "syscalls-errors",
        Page::Calls,
        ChartKind::Line,
        "System calls that failed",
        "Failed calls a second. EAGAIN counts too: a thread that asks again and again for what is not there yet shows here.",
        "syscall",
        &["errors"],
    )
    .by(&["comm", "call"], 8),
];

/// System calls.
pub static SOURCE: Source = Source {
    name: "syscalls",
    title: "System calls by process and call",
    documented: "syscalls(2), include/trace/events/syscalls.h (raw_syscalls:sys_enter, sys_exit)",
    reads: &[],
    needs: "CAP_BPF and CAP_PERFMON",
    pace: Pace::Tick,
    tables: &[&SYSCALL, &COLLECTOR],
    charts: CHARTS,
    open,
};

#[cfg(feature = "bpf")]
fn open(host: &Host, scope: &Scope) -> Result<Box<dyn Reader>, Unavailable> {
    scope.target.somebody()?;
    Ok(Box::new(bpf::Syscalls::open(host, scope)?))
}

#[cfg(not(feature = "bpf"))]
fn open(_: &Host, _: &Scope) -> Result<Box<dyn Reader>, Unavailable> {
    Err(crate::without_bpf())
}

//! Block I/O by device, process and operation: how many requests, how large, how long the kernel kept them and how long the device took.
//!
//! Every request of the machine is counted, whoever the recording looks at, because who asks for a write is seldom who wrote: data that was
//! written to the page cache goes to the disk by `kworker` threads (writeback), metadata by those of the file system (`jbd2`). What a
//! program waits for is in `syscall` (fsync, fdatasync) and in its reads here. A flush is what a process asked for; the kernel may
//! answer several by one.

#[cfg(feature = "bpf")]
mod bpf;
#[cfg(all(test, feature = "bpf"))]
mod tests;

use crate::tally::{collector, with_histogram};
use crate::{Pace, Reader, Scope, Source};
use host::Host;
use model::{Chart, ChartKind, Column, Compare, Den, Derived, Page, Polarity, Table, Unavailable, Unit};

static COLUMNS: [Column; 39] = with_histogram(
    &[
        Column::label("device", "the disk, as in /sys/block"),
        Column::label("comm", "name of the process that issued it; kworker: writeback of what others wrote"),
        Column::label("op", "read, write, flush, discard, or another operation of include/linux/blk_types.h by number"),
        Column::counter("count", Unit::None, "requests that ended"),
        Column::counter("bytes", Unit::Bytes, "bytes moved"),
        Column::counter(
            "time",
            Unit::Nanoseconds,
            "time in the device, from dispatch to completion; of a flush all of it",
        )
        .worse()
        .floor(1e-3),
        Column::counter("queued", Unit::Nanoseconds, "time in the kernel's queue, before dispatch").worse().floor(1e-3),
    ],
    &[],
);

const fn mean(name: &'static str, help: &'static str, num: &'static [(&'static str, f64)]) -> Derived {
    Derived {
        name,
        unit: "s",
        help,
        num,
        den: Den::Columns(&[("count", 1.0)]),
        polarity: Polarity::Worse,
        compare: Compare::Ratio,
        floor: 20e-6,
    }
}

static BLOCK_IO: Table = Table::wide("block_io", "requests of one process and kind to one disk", &COLUMNS)
    .derived(&[
        mean("latency", "mean device time of a request", &[("time", 1.0)]),
        mean("mean_queued", "mean queue time of a request", &[("queued", 1.0)]),
        Derived {
            name: "mean_size",
            unit: "B",
            help: "mean size of a request",
            num: &[("bytes", 1.0)],
            den: Den::Columns(&[("count", 1.0)]),
            polarity: Polarity::Neutral,
            compare: Compare::Ratio,
            floor: 512.0,
        },
    ])
    .grouped(&[&["device", "op"]])
    .from_zero()
    .titled("Block I/O")
    .on(Page::Disks);

static COLLECTOR: Table = collector("block_collector");

static CHARTS: &[Chart] = &[
    Chart::new(
        "block-latency",
        Page::Disks,
        ChartKind::Line,
        "Time a request takes in the device",
        "From hand-over to the driver until it ends. If it grows with the load, the device is busy; if it is long without load, the device is slow. Flushes make data durable and are the slowest.",
        "block_io",
        &["latency"],
    )
    .by(&["device", "op"], 8),
    Chart::new(
        "block-processes",
        Page::Disks,
        ChartKind::Line,
        "Bytes by process that asked",
        "Who reads and writes. kworker stands for writeback of what others wrote to the page cache.",
        "block_io",
        &["bytes"],
    )
    .by(&["comm", "op"], 8),
    Chart::new(
        "block-requests",
        Page::Disks,
        ChartKind::Line,
        "Requests by process and operation",
        "Many small requests cost more than few large ones. Flushes follow fsync and the commits of the file system's journal.",
        "block_io",
        &["count"],
    )
    .by(&["comm", "op"], 8),
];

/// Block I/O.
pub static SOURCE: Source = Source {
    name: "block",
    title: "Block I/O by device, process and operation",
    documented: "include/trace/events/block.h; block/blk-mq.c, block/blk-flush.c",
    reads: &[],
    needs: "CAP_BPF and CAP_PERFMON",
    pace: Pace::Tick,
    tables: &[&BLOCK_IO, &COLLECTOR],
    charts: CHARTS,
    open,
};

#[cfg(feature = "bpf")]
fn open(host: &Host, scope: &Scope) -> Result<Box<dyn Reader>, Unavailable> {
    Ok(Box::new(bpf::Block::open(host, scope)?))
}

#[cfg(not(feature = "bpf"))]
fn open(_: &Host, _: &Scope) -> Result<Box<dyn Reader>, Unavailable> {
    Err(crate::without_bpf())
}

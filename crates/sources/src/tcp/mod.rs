//! TCP by process: segments sent again, time to connect, full listen queues, and writes that waited for a delayed acknowledgement.
//!
//! A socket counts for the process that connected it, listens on it, or was the first to write to it while it was recorded; until then, as
//! one that was accepted before the recording began and only reads, it counts under `(unknown)`. What could not be told honestly is left
//! out: full listen queues are seen where a client's last step of the handshake is thrown away; a SYN that is dropped because the queue
//! is full leaves no trace by process (`protocols` has the sum, ListenOverflows). A stall is a write whose data Nagle's algorithm kept
//! back for 35 ms or more until the other side acknowledged what was in flight: on a slow path that can also be its round trip. All sockets
//! of the machine are counted, whoever the recording looks at. Where packets are so many that it would take more than 0.5 % of a CPU to look at
//! each, stalls are looked for in a part of the time and scaled up; what connects, listens or sends again is always counted.

#[cfg(feature = "bpf")]
mod bpf;
#[cfg(all(test, feature = "bpf"))]
mod tests;

use crate::tally::collector;
use crate::{Pace, Reader, Scope, Source};
use host::Host;
use model::{Chart, ChartKind, Column, Compare, Den, Derived, Page, Polarity, Table, Unavailable, Unit};

static TCP: Table = Table::wide(
    "tcp",
    "TCP connections of the processes of one name",
    &[
        Column::label("comm", "name of the process; (unknown): sockets of which it is not known"),
        Column::counter("retransmits", Unit::None, "retransmitted segments").worse().floor(0.1),
        Column::counter("connects", Unit::None, "connections that the process made"),
        Column::counter("connect_time", Unit::Nanoseconds, "time from connect(2) until these were established")
            .worse()
            .floor(1e-3),
        Column::counter("listen_overflows", Unit::None, "connections dropped because the listen queue was full")
            .worse()
            .floor(0.1),
        Column::counter("delayed_ack_stalls", Unit::None, "small writes held back for at least 35 ms by a delayed ACK")
            .worse()
            .floor(0.1),
        Column::counter("stall_time", Unit::Nanoseconds, "time of these stalls").worse().floor(1e-3),
    ],
)
.derived(&[Derived {
    name: "mean_connect_time",
    unit: "s",
    help: "mean time to make a connection",
    num: &[("connect_time", 1.0)],
    den: Den::Columns(&[("connects", 1.0)]),
    polarity: Polarity::Worse,
    compare: Compare::Ratio,
    floor: 50e-6,
}])
.grouped(&[&["comm"]])
.from_zero();

static COLLECTOR: Table = collector("tcp_collector");

static CHARTS: &[Chart] = &[
    Chart::new(
        "tcp-process-stalls",
        Page::Network,
        ChartKind::Line,
        "Writes that waited for a delayed acknowledgement",
        "Each costs about 40 ms. The program writes a message in two pieces and then reads: the second waits until the other side acknowledges the first, which it puts off. One write for all (writev), or TCP_NODELAY, ends it.",
        "tcp",
        &["delayed_ack_stalls"],
    )
    .by(&["comm"], 8),
    Chart::new(
        "tcp-process-retransmits",
        Page::Network,
        ChartKind::Line,
        "Segments sent again, by process",
        "Packets were lost or late. Each waits for 200 ms or more unless later packets tell of the loss.",
        "tcp",
        &["retransmits", "listen_overflows"],
    )
    .by(&["comm"], 8),
    Chart::new(
        "tcp-process-connect-time",
        Page::Network,
        ChartKind::Line,
        "Time to make a connection",
        "One round trip to the other side, and what it needs to answer. 1 s and more: its answer or the question was lost.",
        "tcp",
        &["mean_connect_time"],
    )
    .by(&["comm"], 8),
];

/// TCP by process.
pub static SOURCE: Source = Source {
    name: "tcp",
    title: "TCP by process: retransmits, connection time, stalls",
    documented: "include/trace/events/tcp.h, sock.h; tcp(7); RFC 896, RFC 1122 4.2.3",
    reads: &[],
    needs: "CAP_BPF and CAP_PERFMON; Linux 6.4 or newer for stalls, 6.15 for listen overflows",
    pace: Pace::Tick,
    tables: &[&TCP, &COLLECTOR],
    charts: CHARTS,
    open,
};

#[cfg(feature = "bpf")]
fn open(host: &Host, scope: &Scope) -> Result<Box<dyn Reader>, Unavailable> {
    Ok(Box::new(bpf::Tcp::open(host, scope)?))
}

#[cfg(not(feature = "bpf"))]
fn open(_: &Host, _: &Scope) -> Result<Box<dyn Reader>, Unavailable> {
    Err(crate::without_bpf())
}

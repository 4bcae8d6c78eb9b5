//! Network interfaces of this network namespace, from `/proc/net/dev`; which error it was, from `/sys/class/net/*/statistics`.
//!
//! `/proc/net` shows the namespace of the program that reads it: inside a container, the container's interfaces; on the host, the host's
//! and the outer ends of the containers' ones, not what is inside of them.

use crate::entities::Entities;
use crate::{Pace, Reader, Scope, Source, parse};
use host::{HeldFile, Host};
use model::{Chart, ChartKind, Column, NULL, Out, Page, Table, Unavailable, Unit};

const KIND: Column = Column::label(
    "kind",
    "\"physical\" (with a device, paravirtual ones included), \"virtual\", \"loopback\", or \"lower\": a device whose traffic its master counts too (accelerated networking)",
);
const INTERFACE: Column = Column::label("interface", "name of the interface");

/// An error or a drop: a few in a second already matter.
const fn bad(name: &'static str, help: &'static str) -> Column {
    Column::counter(name, Unit::None, help).worse().floor(1.0)
}

const COUNTERS: usize = 16;

/// One row per interface, in the order of the columns of `/proc/net/dev` (net/core/net-procfs.c).
static NETWORK: Table = Table::wide(
    "network",
    "traffic and errors of each network interface since it came up",
    &[
        KIND,
        INTERFACE,
        Column::counter("rx_bytes", Unit::Bytes, "received"),
        Column::counter("rx_packets", Unit::None, "packets received"),
        bad("rx_errors", "bad packets received, of all kinds"),
        bad("rx_dropped", "received and dropped: no room in the ring, no memory, or no one wanted them"),
        bad("rx_fifo", "lost because the adapter's buffer overflowed"),
        bad("rx_frame", "damaged: wrong length, overrun, checksum or alignment"),
        Column::counter("rx_compressed", Unit::None, "compressed packets received (PPP, SLIP)"),
        Column::counter("rx_multicast", Unit::None, "multicast packets received"),
        Column::counter("tx_bytes", Unit::Bytes, "sent"),
        Column::counter("tx_packets", Unit::None, "packets sent"),
        bad("tx_errors", "packets that could not be sent, for all kinds of reason"),
        bad("tx_dropped", "dropped before they were sent, such as for want of room in the ring"),
        bad("tx_fifo", "lost because the adapter's buffer ran empty"),
        bad("tx_collisions", "collisions; none on a full-duplex link"),
        bad("tx_carrier", "lost because there was no carrier, or aborted, or late"),
        Column::counter("tx_compressed", Unit::None, "compressed packets sent (PPP, SLIP)"),
    ],
)
.grouped(&[&["kind"], &["kind", "interface"]])
.from_zero();

/// The parts of the sums in [`NETWORK`], in the order of `DETAILS`.
static ERRORS: Table = Table::wide(
    "network_errors",
    "errors of each network interface in detail; only interfaces that had any",
    &[
        KIND,
        INTERFACE,
        bad("rx_nohandler", "dropped because the interface is an inactive part of a bond or team"),
        bad("rx_missed_errors", "lost because the host did not take them from the adapter in time; part of rx_dropped"),
        bad("rx_length_errors", "of a wrong length; part of rx_frame"),
        bad("rx_over_errors", "overran the receiver; part of rx_frame"),
        bad("rx_crc_errors", "with a wrong checksum: a bad cable, connector or port; part of rx_frame"),
        bad("rx_frame_errors", "misaligned; part of rx_frame"),
        bad("tx_aborted_errors", "aborted, such as after too many collisions; part of tx_carrier"),
        bad("tx_carrier_errors", "lost because there was no carrier; part of tx_carrier"),
        bad("tx_window_errors", "late collisions; part of tx_carrier"),
        bad("tx_heartbeat_errors", "failed heartbeat tests; part of tx_carrier"),
    ],
)
.grouped(&[&["kind"], &["kind", "interface"]])
.from_zero();

/// Files of `/sys/class/net/*/statistics` that `/proc/net/dev` only has in sums, in the order of [`ERRORS`]. The first is in no sum.
const DETAILS: [&str; 10] = [
    "rx_nohandler",
    "rx_missed_errors",
    "rx_length_errors",
    "rx_over_errors",
    "rx_crc_errors",
    "rx_frame_errors",
    "tx_aborted_errors",
    "tx_carrier_errors",
    "tx_window_errors",
    "tx_heartbeat_errors",
];

/// How often the details are looked at. Each file makes the kernel collect all statistics of the interface.
const DETAIL_EVERY: u64 = 10_000_000_000;

const PHYSICAL: &[&str] = &["physical"];

static CHARTS: &[Chart] = &[
    Chart::new(
        "network-throughput",
        Page::Network,
        ChartKind::Line,
        "Network throughput",
        "Bytes received and sent by all adapters. A flat top is the line rate or the allowance of the instance type.",
        "network",
        &["rx_bytes", "tx_bytes"],
    )
    .only("kind", PHYSICAL),
    Chart::new(
        "network-packets",
        Page::Network,
        ChartKind::Line,
        "Network packets",
        "Packets received and sent by all adapters. More packets for the same bytes are smaller ones: more work for each byte.",
        "network",
        &["rx_packets", "tx_packets"],
    )
    .only("kind", PHYSICAL),
    Chart::new(
        "network-errors",
        Page::Network,
        ChartKind::Line,
        "Errors and drops of adapters",
        "Any line that stays above zero costs retransmissions, which are slow. Drops on receipt mean that the CPU which handles the queue is too late.",
        "network",
        &["rx_errors", "rx_dropped", "rx_fifo", "tx_errors", "tx_dropped"],
    )
    .only("kind", PHYSICAL),
    Chart::new(
        "network-interfaces",
        Page::Network,
        ChartKind::Line,
        "Bytes received by each interface",
        "Which interface carries the traffic. What goes between containers or over loopback shows here and not in the total of the adapters.",
        "network",
        &["rx_bytes"],
    )
    .by(&["interface"], 20),
];

/// Network interfaces.
pub static SOURCE: Source = Source {
    name: "network",
    title: "traffic and errors of network interfaces",
    documented: "Documentation/networking/statistics.rst, net/core/net-procfs.c",
    reads: &[
        "/proc/net/dev",
        "/sys/class/net/*/device",
        "/sys/class/net/*/master/device",
        "/sys/class/net/*/statistics/rx_nohandler",
        "/sys/class/net/*/statistics/*_errors",
    ],
    needs: "",
    pace: Pace::Tick,
    tables: &[&NETWORK, &ERRORS],
    charts: CHARTS,
    open: |host, _scope: &Scope| {
        Ok(Box::new(Network {
            dev: host.open("/proc/net/dev")?,
            interfaces: Entities::default(),
            next_detail: host.now(),
            buffer: Vec::new(),
        }))
    },
};

struct Network {
    dev: HeldFile,
    interfaces: Entities<Interface>,
    next_detail: u64,
    buffer: Vec<u8>,
}

struct Interface {
    kind: i64,
    name: i64,
    /// A virtual interface that never carried anything is left out.
    only_used: bool,
    folder: String,
    /// The sums that the details belong to, as of the last look: rx_dropped, rx_frame, tx_carrier.
    sums: [i64; 3],
    details: [i64; DETAILS.len()],
}

impl Reader for Network {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        let Network { dev, interfaces, next_detail, buffer } = self;
        let now = host.now();
        let detailed = now >= *next_detail;
        if detailed {
            *next_detail = now + DETAIL_EVERY;
        }
        let mut first_bad = None;
        interfaces.start();
        // Two lines of headings.
        for line in parse::lines(dev.read(host)?).skip(2) {
            let split = memchr::memchr(b':', line).unwrap_or(line.len());
            let name = line.get(..split).unwrap_or_default().trim_ascii();
            let mut cells = [NULL; 2 + COUNTERS];
            if let Some(counters) = cells.get_mut(2..) {
                parse::fill(&mut parse::words(line.get(split + 1..).unwrap_or_default()), counters);
            }
            if name.is_empty() || cells.iter().skip(2).any(|&c| c == NULL) {
                first_bad.get_or_insert(line);
                continue;
            }
            let interface = interfaces.find(name, || describe(host, out, name));
            if interface.only_used && cells.iter().skip(2).all(|&c| c == 0) {
                continue;
            }
            cells[0] = interface.kind;
            cells[1] = interface.name;
            out.row(0, &cells);
            if detailed {
                interface.look(host, [cells[5], cells[7], cells[16]], buffer);
                if interface.details.iter().any(|&d| d != 0 && d != NULL) {
                    let mut row = [NULL; 2 + DETAILS.len()];
                    row[0] = interface.kind;
                    row[1] = interface.name;
                    row.iter_mut().skip(2).zip(interface.details).for_each(|(cell, detail)| *cell = detail);
                    out.row(1, &row);
                }
            }
        }
        match first_bad {
            None => Ok(()),
            Some(line) => Err(Unavailable::failed(format!(
                "/proc/net/dev: expected \"interface:\" and 16 numbers, found {:?}; the other interfaces were read",
                String::from_utf8_lossy(line).chars().take(60).collect::<String>()
            ))),
        }
    }
}

impl Interface {
    /// Reads the details anew where their sums moved, and those that no sum holds.
    fn look(&mut self, host: &Host, sums: [i64; 3], buffer: &mut Vec<u8>) {
        let moved = std::mem::replace(&mut self.sums, sums) != sums;
        for (index, (detail, file)) in self.details.iter_mut().zip(DETAILS).enumerate() {
            if index == 0 || moved {
                // A file that this kernel does not have, or an interface that is just gone, leaves NULL.
                *detail = match host.read_into(&format!("{}/statistics/{file}", self.folder), buffer) {
                    Ok(()) => parse::number(buffer.trim_ascii()),
                    Err(_) => NULL,
                };
            }
        }
    }
}

/// Finds out what kind of interface it is.
fn describe(host: &Host, out: &mut Out<'_>, name: &[u8]) -> Interface {
    let text = String::from_utf8_lossy(name);
    let folder = format!("/sys/class/net/{text}");
    let kind = if text == "lo" {
        "loopback"
    } else if !host.exists(&format!("{folder}/device")) {
        "virtual"
    } else if host.exists(&format!("{folder}/master/device")) {
        "lower"
    } else {
        "physical"
    };
    Interface {
        kind: out.text(kind),
        name: out.text(&text),
        only_used: kind == "virtual",
        folder,
        sums: [0; 3],
        details: [0; DETAILS.len()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{fixture, host_of, play, survives};

    const HEAD: &str = "Inter-|   Receive  |  Transmit\n face |bytes    packets\n";

    #[test]
    fn a_real_host_in_two_frames() {
        let played = play(&SOURCE, &fixture("vm-2cpu"), 2).unwrap();
        assert!(played[0].row("network", "loopback lo ").split(' ').count() == 18);
        assert!(played[0].row("network", "physical eth0 ").ends_with(" 0 0 0 0 0 0"));
        assert_eq!(played[0].rows("network").len(), 2, "ifb0 and ifb1 never carried anything");
        assert!(played[1].rows("network_errors").is_empty());
        assert_ne!(played[0].rows("network"), played[1].rows("network"));
    }

    #[test]
    fn kinds_and_details() {
        let dev = format!(
            "{HEAD}  eth0:1 2 3 9 0 7 0 0 1 1 0 0 0 0 5 0\n  vf0: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n veth1: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n"
        );
        let (_dir, host) = host_of(&[
            ("/proc/net/dev", &dev),
            ("/sys/class/net/eth0/device/vendor", "0x1"),
            ("/sys/class/net/vf0/device/vendor", "0x1"),
            ("/sys/class/net/vf0/master/device/vendor", "0x1"),
            ("/sys/class/net/eth0/statistics/rx_missed_errors", "9\n"),
            ("/sys/class/net/eth0/statistics/rx_crc_errors", "7\n"),
            ("/sys/class/net/eth0/statistics/tx_carrier_errors", "5\n"),
        ]);
        let played = play(&SOURCE, &host, 2).unwrap();
        assert_eq!(
            played[0].rows("network"),
            [
                "physical eth0 1 2 3 9 0 7 0 0 1 1 0 0 0 0 5 0",
                "lower vf0 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0",
                "virtual veth1 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0"
            ]
        );
        assert_eq!(played[0].rows("network_errors"), ["physical eth0 - 9 - - 7 - - 5 - -"]);
        assert!(played[1].rows("network_errors").is_empty(), "not read again within ten seconds");
    }

    #[test]
    fn hostile_content_is_an_error_not_a_panic() {
        for line in ["eth0", ":", "eth0: 1 2 3", "eth0: x x x x x x x x x x x x x x x x", "\0\u{ffff}"] {
            let (_dir, host) = host_of(&[("/proc/net/dev", &format!("{HEAD}{line}\n"))]);
            assert!(play(&SOURCE, &host, 1).unwrap()[0].error.is_some(), "{line:?}");
            survives(&SOURCE, line);
        }
        survives(&SOURCE, "");
    }
}

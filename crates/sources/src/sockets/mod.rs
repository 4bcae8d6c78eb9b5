//! Sockets in use and their memory, from `/proc/net/sockstat` and `/proc/net/sockstat6` of this network namespace.

use crate::entities::Entities;
use crate::{Pace, Reader, Scope, Source, parse};
use host::{HeldFile, Host};
use model::{Chart, ChartKind, Column, Kind, NULL, Out, Page, Table, Unavailable, Unit};

static SOCKETS: Table = Table::long(
    "sockets",
    "sockets of each protocol",
    Kind::Gauge,
    &[
        Column::label("proto", "protocol: \"TCP\", \"UDP6\" …; \"sockets\" for all"),
        Column::gauge("used", Unit::None, "sockets of all protocols, local ones included").floor(10.0),
        Column::gauge("inuse", Unit::None, "sockets in use: for TCP bound or connected, TIME_WAIT not counted")
            .floor(10.0),
        Column::gauge("orphan", Unit::None, "TCP connections that no process holds any more, still being closed")
            .worse()
            .floor(10.0),
        Column::gauge(
            "tw",
            Unit::None,
            "TCP connections in TIME_WAIT: many of them say that connections are made and closed rather than kept",
        )
        .worse()
        .floor(50.0),
        Column::gauge("alloc", Unit::None, "TCP sockets allocated, in whatever state; of the whole host").floor(10.0),
        Column::gauge(
            "mem",
            Unit::None,
            "pages of memory in socket buffers; of the whole host; against net.ipv4.tcp_mem or udp_mem",
        )
        .floor(256.0),
        Column::gauge("memory", Unit::Bytes, "memory in fragments that wait to be put together"),
    ],
)
.grouped(&[&["proto"]]);

static CHARTS: &[Chart] = &[
    Chart::new(
        "sockets-tcp",
        Page::Network,
        ChartKind::Line,
        "TCP sockets",
        "Connections in use, in TIME_WAIT and orphaned. Growth without more work is a leak, or clients that do not reuse connections.",
        "sockets",
        &["inuse", "tw", "orphan"],
    )
    .only("proto", &["TCP", "TCP6"]),
    Chart::new(
        "sockets-memory",
        Page::Network,
        ChartKind::Line,
        "Pages in TCP socket buffers",
        "Data that was sent and not acknowledged, or received and not read. It grows when the other side, or the program that reads, is too slow.",
        "sockets",
        &["mem"],
    )
    .by(&["proto"], 4)
    .only("proto", &["TCP", "UDP"]),
];

/// Sockets.
pub static SOURCE: Source = Source {
    name: "sockets",
    title: "sockets in use and their memory",
    documented: "net/ipv4/proc.c, net/ipv6/proc.c (sockstat_seq_show, sockstat6_seq_show)",
    reads: &["/proc/net/sockstat", "/proc/net/sockstat6"],
    needs: "",
    pace: Pace::AtLeast(1),
    tables: &[&SOCKETS],
    charts: CHARTS,
    open: |host, _scope: &Scope| {
        Ok(Box::new(Sockets {
            sockstat: host.open("/proc/net/sockstat")?,
            // Absent where IPv6 is off: there is nothing to say then.
            sockstat6: host.open("/proc/net/sockstat6").ok(),
            protos: Entities::default(),
            fields: Entities::default(),
        }))
    },
};

struct Sockets {
    sockstat: HeldFile,
    sockstat6: Option<HeldFile>,
    protos: Entities<i64>,
    fields: Entities<i64>,
}

impl Reader for Sockets {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        self.protos.start();
        self.fields.start();
        let mut result = Ok(());
        for file in std::iter::once(&mut self.sockstat).chain(self.sockstat6.as_mut()) {
            let path = file.path().to_owned();
            let mut found = false;
            for line in parse::lines(file.read(host)?) {
                let mut words = parse::words(line);
                let Some(proto) = words.next().and_then(|word| word.strip_suffix(b":")) else { continue };
                let proto = *self.protos.find(proto, || out.bytes(proto));
                while let (Some(field), Some(value)) = (words.next(), words.next()) {
                    let value = parse::number(value);
                    if value != NULL {
                        let field = *self.fields.find(field, || out.bytes(field));
                        out.row(0, &[proto, field, value]);
                        found = true;
                    }
                }
            }
            if !found {
                result = Err(Unavailable::failed(format!("{path}: no line of the form \"TCP: inuse N …\"")));
            }
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{fixture, host_of, play, survives};

    #[test]
    fn a_real_host() {
        let played = play(&SOURCE, &fixture("vm-2cpu"), 2).unwrap();
        assert!(played[0].error.is_none());
        for start in ["sockets used ", "TCP inuse ", "TCP mem ", "UDP6 inuse 0", "FRAG memory 0"] {
            played[1].row("sockets", start);
        }
    }

    #[test]
    fn without_ipv6_and_hostile() {
        let (_dir, host) = host_of(&[("/proc/net/sockstat", "sockets: used 7\nTCP: inuse 3 orphan x mem 2 odd\n")]);
        let played = play(&SOURCE, &host, 1).unwrap();
        assert_eq!(played[0].rows("sockets"), ["sockets used 7", "TCP inuse 3", "TCP mem 2"]);
        for content in ["", "TCP", "TCP:", "TCP: a", ": 1 2 3\n", "\0\u{ffff}"] {
            survives(&SOURCE, content);
        }
        let (_dir, host) = host_of(&[("/proc/net/sockstat", "TCP: \n")]);
        assert!(play(&SOURCE, &host, 1).unwrap()[0].error.is_some());
    }
}

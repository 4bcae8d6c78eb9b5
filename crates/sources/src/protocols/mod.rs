//! Counters of the network protocols, from `/proc/net/snmp`, `/proc/net/netstat` and `/proc/net/snmp6` of this network namespace: inside a container they
//! are of its own connections; on the host they do not hold those of containers.

mod fields;

use crate::{Pace, Reader, Scope, Source, parse};
use fields::{LEVELS, PROTOCOLS};
use host::{HeldFile, Host};
use model::{Chart, ChartKind, NULL, Out, Page, Unavailable};

static CHARTS: &[Chart] = &[
    Chart::new(
        "tcp-retransmits",
        Page::Network,
        ChartKind::Line,
        "TCP: segments sent again and timeouts",
        "Loss or delay on the way. A timeout stalls its connection for 200 ms or more, a fast retransmission only for about a round trip.",
        "protocols",
        &["RetransSegs", "TCPFastRetrans", "TCPTimeouts", "TCPSynRetrans", "TCPLossProbes"],
    ),
    Chart::new(
        "tcp-accept",
        Page::Network,
        ChartKind::Line,
        "TCP: connections refused for want of room",
        "Anything above zero: clients wait a second or more and try again. The program accepts too slowly, or its listen queue is too short.",
        "protocols",
        &["ListenOverflows", "ListenDrops", "TCPReqQFullDrop", "SyncookiesSent", "TCPBacklogDrop"],
    ),
    Chart::new(
        "tcp-connections",
        Page::Network,
        ChartKind::Line,
        "TCP: connections begun and ended",
        "Many new connections for the same work say that they are not reused: each costs round trips, CPU time and a TIME_WAIT.",
        "protocols",
        &["ActiveOpens", "PassiveOpens", "AttemptFails", "EstabResets"],
    ),
    Chart::new(
        "protocol-drops",
        Page::Network,
        ChartKind::Line,
        "Packets lost at sockets",
        "Datagrams and segments that reached this host and were dropped because a buffer was full: the program that reads them is too slow.",
        "protocols",
        &["RcvbufErrors", "MemErrors", "RcvPruned", "TCPRcvQDrop", "TCPZeroWindowDrop", "InDiscards"],
    ),
];

/// Network protocols.
pub static SOURCE: Source = Source {
    name: "protocols",
    title: "counters of TCP, UDP, IP and ICMP",
    documented: "Documentation/networking/snmp_counter.rst, net/ipv4/proc.c, net/ipv6/proc.c",
    reads: &["/proc/net/snmp", "/proc/net/netstat", "/proc/net/snmp6"],
    needs: "",
    pace: Pace::AtLeast(1),
    tables: &[&PROTOCOLS, &LEVELS],
    charts: CHARTS,
    open: |host, _scope: &Scope| {
        Ok(Box::new(Protocols {
            pairs: [Pairs::of(host.open("/proc/net/snmp")?), Pairs::of(host.open("/proc/net/netstat")?)],
            // Absent where IPv6 is off: there is nothing to say then.
            snmp6: host.open("/proc/net/snmp6").ok(),
            fields6: Vec::new(),
        }))
    },
};

struct Protocols {
    pairs: [Pairs; 2],
    snmp6: Option<HeldFile>,
    /// Of each line of snmp6, its name and what it is.
    fields6: Vec<(Vec<u8>, Field)>,
}

/// What does not change about a field.
#[derive(Clone, Copy)]
struct Field {
    proto: i64,
    name: i64,
    table: usize,
    /// Shown at 0 too.
    known: bool,
}

impl Field {
    fn new(out: &mut Out<'_>, proto: i64, name: &[u8]) -> Self {
        let name = String::from_utf8_lossy(name);
        let level = LEVELS.column(&name).is_some();
        Field {
            proto,
            name: out.text(&name),
            table: usize::from(level),
            known: level || PROTOCOLS.column(&name).is_some(),
        }
    }

    fn put(&self, out: &mut Out<'_>, value: i64) {
        if value != NULL && (value != 0 || self.known) {
            out.row(self.table, &[self.proto, self.name, value]);
        }
    }
}

/// A file of pairs of lines: "Tcp:" and names, then "Tcp:" and numbers.
struct Pairs {
    file: HeldFile,
    /// Of each pair, the line of names and what they are.
    known: Vec<(Vec<u8>, Vec<Field>)>,
}

impl Pairs {
    fn of(file: HeldFile) -> Self {
        Pairs { file, known: Vec::new() }
    }

    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        let path = self.file.path().to_owned();
        let mut lines = parse::lines(self.file.read(host)?);
        let mut found = 0;
        while let (Some(head), Some(line)) = (lines.next(), lines.next()) {
            let mut words = parse::words(line);
            let proto = words.next().and_then(|word| word.strip_suffix(b":"));
            let mut names = parse::words(head);
            let (Some(proto), true) = (proto, names.next().and_then(|word| word.strip_suffix(b":")) == proto) else {
                let found: String = String::from_utf8_lossy(line).chars().take(60).collect();
                return Err(Unavailable::failed(format!(
                    "{path}: expected a line of names and a line of numbers of one protocol, found {found:?}; the rest was left"
                )));
            };
            if self.known.get(found).is_none_or(|(known, _)| known != head) {
                let proto = out.bytes(proto);
                let fields = names.map(|name| Field::new(out, proto, name)).collect();
                self.known.truncate(found);
                self.known.push((head.to_vec(), fields));
            }
            if let Some((_, fields)) = self.known.get(found) {
                for (field, word) in fields.iter().zip(words) {
                    field.put(out, parse::number(word));
                }
            }
            found += 1;
        }
        if found == 0 {
            return Err(Unavailable::failed(format!("{path}: no pair of lines of names and of numbers")));
        }
        Ok(())
    }
}

impl Reader for Protocols {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        let mut result = Ok(());
        for pairs in &mut self.pairs {
            result = result.and(pairs.read(host, out));
        }
        let Some(snmp6) = &mut self.snmp6 else { return result };
        for (at, line) in parse::lines(snmp6.read(host)?).enumerate() {
            let mut words = parse::words(line);
            let (Some(name), value) = (words.next(), words.number()) else { continue };
            if self.fields6.get(at).is_none_or(|(known, _)| known != name) {
                let Some((proto, field)) = split6(name) else { continue };
                let proto = out.bytes(proto);
                let field = Field::new(out, proto, field);
                self.fields6.truncate(at);
                // A line that was left out above would shift the others: each keeps its place.
                self.fields6.resize(at, (Vec::new(), field));
                self.fields6.push((name.to_vec(), field));
            }
            if let Some((_, field)) = self.fields6.get(at) {
                field.put(out, value);
            }
        }
        result
    }
}

/// `Ip6InReceives` is `InReceives` of `Ip6`.
fn split6(name: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = memchr::memchr(b'6', name)? + 1;
    Some((name.get(..end)?, name.get(end..).filter(|field| !field.is_empty())?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{fixture, host_of, play, survives};
    use proptest::prelude::*;

    #[test]
    fn a_real_host_in_two_frames() {
        let played = play(&SOURCE, &fixture("vm-2cpu"), 2).unwrap();
        assert!(played[0].error.is_none());
        assert_eq!(played[0].row("protocols", "TcpExt ListenOverflows "), "TcpExt ListenOverflows 0");
        assert_eq!(played[0].row("protocol_levels", "Tcp MaxConn "), "Tcp MaxConn -1");
        played[0].row("protocols", "Ip6 InReceives ");
        played[0].row("protocols", "IcmpMsg InType3 ");
        assert!(played[0].rows("protocols").iter().all(|r| !r.starts_with("Tcp CurrEstab")), "a level");
        assert!(!played[0].rows("protocols").iter().any(|r| r.starts_with("MPTcpExt DSSNotMatching")), "unknown and 0");
        assert_ne!(played[0].row("protocols", "Tcp ActiveOpens "), played[1].row("protocols", "Tcp ActiveOpens "));
    }

    #[test]
    fn fields_that_come_later() {
        let (dir, host) = host_of(&[
            ("/proc/net/snmp", "Tcp: InSegs New\nTcp: 5 0\n"),
            ("/proc/net/netstat", "TcpExt: TCPTimeouts\nTcpExt: 1\n"),
            ("/proc/net/snmp6", "odd 1\nIp6InReceives 4\n"),
        ]);
        let frame = dir.path().join("frame-1/proc/net");
        std::fs::create_dir_all(&frame).unwrap();
        std::fs::write(frame.join("snmp"), "IcmpMsg: InType3\nIcmpMsg: 7\nTcp: InSegs New\nTcp: 5 1\n").unwrap();
        let played = play(&SOURCE, &host, 2).unwrap();
        assert_eq!(played[0].rows("protocols"), ["Tcp InSegs 5", "TcpExt TCPTimeouts 1", "Ip6 InReceives 4"]);
        assert_eq!(
            played[1].rows("protocols"),
            ["IcmpMsg InType3 7", "Tcp InSegs 5", "Tcp New 1", "TcpExt TCPTimeouts 1", "Ip6 InReceives 4"]
        );
    }

    #[test]
    fn hostile_content_is_an_error_not_a_panic() {
        for content in ["", "Tcp:\n", "Tcp: a\nUdp: 1\n", "Tcp: a b\n1 2\n", "\n\n", "\0\u{ffff}\n:\n"] {
            survives(&SOURCE, content);
            let (_dir, host) = host_of(&[("/proc/net/snmp", content), ("/proc/net/netstat", content)]);
            assert!(play(&SOURCE, &host, 1).unwrap()[0].error.is_some(), "{content:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn nothing_panics(content in "[A-Za-z6: 0-9\n]{0,200}") {
            survives(&SOURCE, &content);
        }
    }
}

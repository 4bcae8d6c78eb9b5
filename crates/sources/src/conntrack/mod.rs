//! Connection tracking of netfilter: how full the table is, and what was dropped. Of this network namespace.

use crate::{Pace, Reader, Scope, Source, parse};
use host::{HeldFile, Host};
use model::{
    Chart, ChartKind, Column, Compare, Den, Derived, Kind, NULL, Out, Page, Polarity, Table, Unavailable, Unit,
};

static CONNTRACK: Table = Table::wide(
    "conntrack",
    "how full the table of tracked connections is",
    &[
        Column::gauge("count", Unit::None, "connections tracked now").floor(50.0),
        Column::gauge("max", Unit::None, "the most there may be; beyond, packets of new connections are dropped")
            .compared(Compare::Equality),
    ],
)
.derived(&[Derived {
    name: "fill",
    unit: "ratio",
    help: "share of the table in use",
    num: &[("count", 1.0)],
    den: Den::Columns(&[("max", 1.0)]),
    polarity: Polarity::Worse,
    compare: Compare::Difference,
    floor: 0.02,
}]);

const fn bad(name: &'static str, help: &'static str) -> Column {
    Column::counter(name, Unit::None, help).worse().floor(1.0)
}

/// The kernel counts on each CPU, in 32 bits; here are the sums over all CPUs. Meanings: net/netfilter/nf_conntrack_core.c.
static EVENTS: Table = Table::long(
    "conntrack_events",
    "what connection tracking did, summed over the CPUs",
    Kind::Counter,
    &[
        Column::counter(
            "found",
            Unit::None,
            "packets that belonged to a connection already tracked, where it had to be searched twice",
        ),
        Column::counter("new", Unit::None, "connections added (before Linux 4.9)"),
        bad("invalid", "packets that belong to no connection and cannot start one"),
        Column::counter("insert", Unit::None, "connections inserted"),
        bad(
            "insert_failed",
            "connections that could not be inserted, mostly because another packet was faster: the packet is dropped",
        ),
        bad("drop", "packets dropped because the table was full or memory short"),
        bad("early_drop", "tracked connections thrown out to make room: the table is full"),
        bad("icmp_error", "ICMP errors that could not be tracked"),
        bad("search_restart", "look-ups started again because the table was being resized or changed"),
        bad("clashres", "insertions that clashed with an equal connection and were resolved"),
        bad("chainlength", "insertions refused because the hash chain was too long (Linux 5.15)"),
    ],
)
.from_zero();

static CHARTS: &[Chart] = &[
    Chart::new(
        "conntrack-count",
        Page::Network,
        ChartKind::Line,
        "Tracked connections",
        "Connections in netfilter's table. When it reaches the maximum, new connections time out for no other visible reason.",
        "conntrack",
        &["count", "max"],
    ),
    Chart::new(
        "conntrack-drops",
        Page::Network,
        ChartKind::Line,
        "Connection tracking: drops",
        "Packets and connections lost in connection tracking. Each is a client that waits for a retransmission.",
        "conntrack_events",
        &["drop", "early_drop", "insert_failed"],
    ),
];

/// Connection tracking.
pub static SOURCE: Source = Source {
    name: "conntrack",
    title: "connection tracking of netfilter",
    documented: "Documentation/networking/nf_conntrack-sysctl.rst, net/netfilter/nf_conntrack_standalone.c",
    reads: &[
        "/proc/sys/net/netfilter/nf_conntrack_count",
        "/proc/sys/net/netfilter/nf_conntrack_max",
        "/proc/net/stat/nf_conntrack",
    ],
    needs: "",
    pace: Pace::AtLeast(1),
    tables: &[&CONNTRACK, &EVENTS],
    charts: CHARTS,
    open: |host, _scope: &Scope| {
        let count = host.open("/proc/sys/net/netfilter/nf_conntrack_count").map_err(|e| match e.is_absent() {
            true => Unavailable::not_applicable(format!("{e}: the kernel does not track connections here")),
            false => e.into(),
        })?;
        Ok(Box::new(Conntrack {
            count,
            max: host.open("/proc/sys/net/netfilter/nf_conntrack_max")?,
            stat: host.open("/proc/net/stat/nf_conntrack").map_err(Unavailable::from),
            said: false,
            head: Vec::new(),
            fields: Vec::new(),
        }))
    },
};

struct Conntrack {
    count: HeldFile,
    max: HeldFile,
    /// Absent without CONFIG_NF_CONNTRACK_PROCFS.
    stat: Result<HeldFile, Unavailable>,
    said: bool,
    /// The line of headings that `fields` was made from.
    head: Vec<u8>,
    fields: Vec<Field>,
}

struct Field {
    name: i64,
    /// Fields that are documented here are kept at 0 too; the others once they have counted.
    known: bool,
    /// The number of connections, which each line repeats.
    level: bool,
    sum: i64,
}

impl Reader for Conntrack {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        let count = parse::number(self.count.read_record(host)?.trim_ascii());
        let max = parse::number(self.max.read_record(host)?.trim_ascii());
        if count == NULL {
            return Err(Unavailable::failed(format!("{}: expected a number", self.count.path())));
        }
        out.row(0, &[count, max]);
        let stat = match &mut self.stat {
            Ok(stat) => stat,
            Err(why) => {
                if !std::mem::replace(&mut self.said, true) {
                    out.missing("conntrack_events", why.clone().remedy("a kernel with CONFIG_NF_CONNTRACK_PROCFS"));
                }
                return Ok(());
            }
        };
        let mut lines = parse::lines(stat.read(host)?);
        let head = lines.next().unwrap_or_default();
        if head != self.head {
            self.head = head.to_vec();
            self.fields = parse::words(head)
                .map(|word| Field {
                    name: out.bytes(word),
                    known: EVENTS.values().any(|column| column.name.as_bytes() == word),
                    level: word == b"entries",
                    sum: 0,
                })
                .collect();
        }
        self.fields.iter_mut().for_each(|field| field.sum = 0);
        for line in lines {
            for (field, word) in self.fields.iter_mut().zip(parse::words(line)) {
                let value = parse::hex(word);
                if value == NULL {
                    return Err(Unavailable::failed(format!(
                        "{}: expected hexadecimal numbers, found {:?}",
                        "/proc/net/stat/nf_conntrack",
                        String::from_utf8_lossy(line).chars().take(60).collect::<String>()
                    )));
                }
                field.sum = field.sum.saturating_add(value);
            }
        }
        for field in self.fields.iter().filter(|f| !f.level && (f.known || f.sum != 0)) {
            out.row(1, &[field.name, field.sum]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{fixture, host_of, play, survives};

    #[test]
    fn a_real_host() {
        let played = play(&SOURCE, &fixture("vm-2cpu"), 2).unwrap();
        assert_eq!(played[0].rows("conntrack"), ["0 262144"]);
        assert_eq!(played[0].row("conntrack_events", "early_drop "), "early_drop 0");
        assert!(played[0].rows("conntrack_events").iter().all(|r| !r.starts_with("entries")));
    }

    #[test]
    fn sums_over_cpus_in_hexadecimal() {
        let files = [
            ("/proc/sys/net/netfilter/nf_conntrack_count", "5\n"),
            ("/proc/sys/net/netfilter/nf_conntrack_max", "10\n"),
            (
                "/proc/net/stat/nf_conntrack",
                "entries  drop odd expect_new\n00000005 0000000a 1 0\n00000005 00000001 0 0\n",
            ),
        ];
        let (_dir, host) = host_of(&files);
        let played = play(&SOURCE, &host, 1).unwrap();
        assert_eq!(played[0].rows("conntrack"), ["5 10"]);
        assert_eq!(played[0].rows("conntrack_events"), ["drop 11", "odd 1"]);
        let (_dir, host) = host_of(&files[..2]);
        let played = play(&SOURCE, &host, 2).unwrap();
        assert_eq!((played[0].coverage.len(), played[1].coverage.len()), (1, 0));
    }

    #[test]
    fn absent_and_hostile() {
        let (_dir, host) = host_of(&[]);
        assert_eq!(play(&SOURCE, &host, 1).err().unwrap().status, model::Status::NotApplicable);
        for content in ["", "x", "1\nzz\n", "\0\u{ffff}", "12 12\n12 12 12"] {
            survives(&SOURCE, content);
        }
    }
}

//! Soft interrupts of each kind on each CPU, from `/proc/softirqs`.

use crate::entities::Entities;
use crate::{Pace, Reader, Scope, Source, parse};
use host::{HeldFile, Host};
use model::{Chart, ChartKind, Column, NULL, Out, Page, Table, Unavailable, Unit};

static SOFTIRQS: Table = Table::wide(
    "softirqs",
    "runs of one kind of softirq on one CPU, since boot; pairs that never ran are left out",
    &[
        Column::label(
            "kind",
            "HI and TASKLET: deferred work of drivers; TIMER, HRTIMER: timers; NET_TX, NET_RX: packets; BLOCK, IRQ_POLL: \
             completed disk I/O; SCHED: load balancing; RCU: freeing what no reader uses any more",
        ),
        Column::number("cpu", "CPU number"),
        Column::counter("count", Unit::None, "runs"),
    ],
)
.grouped(&[&["kind"]]);

static CHARTS: &[Chart] = &[
    Chart::new(
        "softirqs-kinds",
        Page::Interrupts,
        ChartKind::Line,
        "Soft interrupts by kind",
        "Work that the kernel puts off from interrupts. NET_RX follows packets, BLOCK finished disk I/O, SCHED and TIMER the number of busy CPUs.",
        "softirqs",
        &["count"],
    )
    .by(&["kind"], 0),
    Chart::new(
        "softirqs-net-heat",
        Page::Interrupts,
        ChartKind::Heat,
        "Received packets' soft interrupts by CPU",
        "One row per CPU, darker is more. If few rows are dark, receive queues or flow steering (RSS, RPS) do not spread the packets.",
        "softirqs",
        &["count"],
    )
    .by(&["cpu"], 0)
    .only("kind", &["NET_RX"]),
];

/// Soft interrupts.
pub static SOURCE: Source = Source {
    name: "softirqs",
    title: "softirqs by kind and CPU",
    documented: "proc_softirqs(5); fs/proc/softirqs.c",
    reads: &["/proc/softirqs"],
    needs: "",
    pace: Pace::Tick,
    tables: &[&SOFTIRQS],
    charts: CHARTS,
    open: |host, _scope: &Scope| {
        Ok(Box::new(Softirqs { file: host.open("/proc/softirqs")?, cpus: Vec::new(), kinds: Entities::default() }))
    },
};

struct Softirqs {
    file: HeldFile,
    /// CPU of each column.
    cpus: Vec<i64>,
    /// Their names' cells.
    kinds: Entities<i64>,
}

impl Reader for Softirqs {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        let mut lines = parse::lines(self.file.read(host)?);
        self.cpus.clear();
        let head = parse::words(lines.next().unwrap_or_default());
        self.cpus.extend(head.filter_map(|word| word.strip_prefix(b"CPU")).map(parse::number).filter(|&n| n != NULL));
        if self.cpus.is_empty() {
            return Err(Unavailable::failed("/proc/softirqs: the first line names no CPU"));
        }
        self.kinds.start();
        for line in lines {
            let mut words = parse::words(line);
            let Some(kind) = words.next().and_then(|word| word.strip_suffix(b":")) else { continue };
            let kind = *self.kinds.find(kind, || out.bytes(kind));
            for &cpu in &self.cpus {
                let count = words.number();
                if count != NULL && count != 0 {
                    out.row(0, &[kind, cpu, count]);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{fixture, host_of, play, survives};

    #[test]
    fn a_host_of_two_cpus() {
        let played = play(&SOURCE, &fixture("vm-2cpu"), 2).unwrap();
        assert!(played[1].error.is_none());
        assert!(played[1].row("softirqs", "SCHED 1 ").len() > 8);
        assert!(!played[0].rows("softirqs").iter().any(|r| r.starts_with("HI ")), "it never ran");
    }

    #[test]
    fn columns_are_the_cpus_of_the_head() {
        let text = "                    CPU1       CPU8\n  HI:  0 0\n  NET_RX:   5   7\n  RCU:  3\nbroken 1 2\n";
        let (_dir, host) = host_of(&[("/proc/softirqs", text)]);
        assert_eq!(play(&SOURCE, &host, 1).unwrap()[0].rows("softirqs"), ["NET_RX 1 5", "NET_RX 8 7", "RCU 1 3"]);
    }

    #[test]
    fn hostile_content() {
        for content in ["", "CPU0", "CPU0\n", "CPU0\n:", "CPU0\nA: x\n:\n\0", "CPU-1\nA: -1"] {
            survives(&SOURCE, content);
        }
    }
}

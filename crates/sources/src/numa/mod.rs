//! Memory of each NUMA node, and where it was allocated from, from `/sys/devices/system/node/nodeN/`.

use crate::attributes::Online;
use crate::entities::Entities;
use crate::{Pace, Reader, Scope, Source, meminfo, parse};
use host::{HeldFile, Host};
use model::{Chart, ChartKind, Column, Den, Derived, Kind, NULL, Out, Page, Polarity, Table, Unavailable, Unit};
use model::{Compare, Fold};

const fn pages(name: &'static str, help: &'static str) -> Column {
    // A few MiB a second at pages of 4 KiB.
    Column::counter(name, Unit::None, help).floor(500.0)
}

static NUMASTAT: Table = Table::wide(
    "numastat",
    "pages allocated on one NUMA node, since boot",
    &[
        Column::number("node", "NUMA node"),
        pages("numa_hit", "allocated here, as wanted"),
        pages("numa_miss", "allocated here, because the node that was wanted had none").worse(),
        pages("numa_foreign", "wanted here, and allocated on another node").worse(),
        pages("interleave_hit", "allocated here, as interleaving wanted"),
        pages("local_node", "allocated here by a thread on this node"),
        pages("other_node", "allocated here by a thread on another node (remote)").worse(),
    ],
)
.derived(&[Derived {
    name: "remote_share",
    unit: "ratio",
    help: "share of remote allocations, by threads on another node",
    num: &[("other_node", 1.0)],
    den: Den::Columns(&[("local_node", 1.0), ("other_node", 1.0)]),
    polarity: Polarity::Worse,
    compare: Compare::Difference,
    floor: 0.02,
}])
.grouped(&[&[], &["node"]]);

static MEMINFO: Table = Table::long("numa_meminfo", "one field of the meminfo of one NUMA node", Kind::Gauge, &FIELDS)
    .grouped(&[&["node"]]);

/// The fields of meminfo, after the label.
static FIELDS: [Column; 1 + meminfo::FIELDS.len()] = {
    let mut all = [Column::number("node", "NUMA node").folded(Fold::Sum); 1 + meminfo::FIELDS.len()];
    let mut at = 0;
    while at < meminfo::FIELDS.len() {
        all[at + 1] = meminfo::FIELDS[at];
        at += 1;
    }
    all
};

static CHARTS: &[Chart] = &[
    Chart::new(
        "numa-remote",
        Page::Memory,
        ChartKind::Line,
        "Allocated from another node",
        "Share of the pages that a thread on another node took. Remote memory is slower by half or more: bind threads and memory, or give the node more room.",
        "numastat",
        &["remote_share"],
    )
    .by(&["node"], 8)
    .up_to(1.0),
    Chart::new(
        "numa-free",
        Page::Memory,
        ChartKind::Line,
        "Free memory by node",
        "A node near 0 beside others with room: its threads allocate elsewhere or reclaim.",
        "numa_meminfo",
        &["MemFree"],
    )
    .by(&["node"], 8),
];

/// NUMA nodes.
pub static SOURCE: Source = Source {
    name: "numa",
    title: "memory of each NUMA node",
    documented: "Documentation/admin-guide/numastat.rst; Documentation/ABI/stable/sysfs-devices-node; drivers/base/node.c",
    reads: &[
        "/sys/devices/system/node/online",
        "/sys/devices/system/node/node*/numastat",
        "/sys/devices/system/node/node*/meminfo",
    ],
    needs: "",
    pace: Pace::AtLeast(1),
    tables: &[&NUMASTAT, &MEMINFO],
    charts: CHARTS,
    open,
};

fn open(host: &Host, _scope: &Scope) -> Result<Box<dyn Reader>, Unavailable> {
    let online = Online::open(host, "/sys/devices/system/node/online").map_err(|error| {
        let absent = error.is_absent();
        let why = Unavailable::from(error);
        if absent { why.remedy("a kernel built with CONFIG_NUMA=y") } else { why }
    })?;
    let mut numa = Numa { online, nodes: Vec::new(), fields: Entities::default() };
    numa.find(host)?;
    if numa.nodes.len() < 2 {
        return Err(Unavailable::not_applicable("one NUMA node: meminfo and vmstat tell the same"));
    }
    Ok(Box::new(numa))
}

struct Node {
    number: i64,
    numastat: HeldFile,
    meminfo: HeldFile,
}

struct Numa {
    online: Online,
    nodes: Vec<Node>,
    /// Cells of the fields' names.
    fields: Entities<i64>,
}

impl Numa {
    /// Opens the files of all nodes, if others are online than before.
    fn find(&mut self, host: &Host) -> Result<(), Unavailable> {
        let Some(numbers) = self.online.changed(host)? else { return Ok(()) };
        self.nodes.clear();
        for number in numbers {
            let folder = format!("/sys/devices/system/node/node{number}");
            let (numastat, meminfo) =
                (host.open(&format!("{folder}/numastat"))?, host.open(&format!("{folder}/meminfo"))?);
            self.nodes.push(Node { number, numastat, meminfo });
        }
        Ok(())
    }
}

impl Reader for Numa {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        self.find(host)?;
        for node in &mut self.nodes {
            let mut cells = [NULL; 7];
            cells[0] = node.number;
            for line in parse::lines(node.numastat.read_record(host)?) {
                let mut words = parse::words(line);
                let at = match words.next() {
                    Some(b"numa_hit") => 1,
                    Some(b"numa_miss") => 2,
                    Some(b"numa_foreign") => 3,
                    Some(b"interleave_hit") => 4,
                    Some(b"local_node") => 5,
                    Some(b"other_node") => 6,
                    _ => continue,
                };
                cells[at] = words.number();
            }
            if cells[1..].iter().any(|&cell| cell != NULL) {
                out.row(0, &cells);
            }
            // "Node 0 MemTotal:  5204180 kB"
            let lines = parse::lines(node.meminfo.read_record(host)?).map(|line| {
                let mut words = parse::words(line);
                words.next();
                words.next();
                words.rest()
            });
            meminfo::fields(lines, &mut self.fields, out, |out, field, value| out.row(1, &[node.number, field, value]));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{fixture, play, survives};
    use model::Status;

    #[test]
    fn two_nodes() {
        let played = play(&SOURCE, &fixture("samples-metal"), 2).unwrap();
        assert!(played[0].error.is_none());
        assert_eq!(played[0].rows("numastat"), ["0 9000 10 20 300 8800 210", "1 7000 20 10 300 6500 520"]);
        assert_eq!(played[0].row("numa_meminfo", "1 MemFree "), "1 MemFree 1048576");
        assert!(played[1].row("numastat", "1 ").starts_with("1 7100 "));
    }

    #[test]
    fn one_node_is_told() {
        assert_eq!(play(&SOURCE, &fixture("vm-2cpu"), 1).err().unwrap().status, Status::NotApplicable);
    }

    #[test]
    fn hostile_content() {
        for content in ["", "1", "1,1", "0-1\nnuma_hit", "1,1\nnuma_hit x\nNode 1 A: 5"] {
            survives(&SOURCE, content);
        }
    }
}

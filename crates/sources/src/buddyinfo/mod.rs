//! Free memory by the size of its contiguous blocks, from `/proc/buddyinfo`: how fragmented memory is.

use crate::entities::Entities;
use crate::{Pace, Reader, Scope, Source, parse};
use host::{HeldFile, Host};
use model::{Chart, ChartKind, Column, NULL, Out, Page, Table, Unavailable, Unit};

/// Not compared: it tells of everything that ran since boot.
static BUDDYINFO: Table = Table::wide(
    "buddyinfo",
    "free blocks of one size in one zone",
    &[
        Column::number("node", "NUMA node"),
        Column::label("zone", "memory zone"),
        Column::number("order", "size of the block: 2^order pages"),
        Column::gauge("blocks", Unit::None, "free blocks of exactly this size").better(),
    ],
)
.grouped(&[]);

static CHARTS: &[Chart] = &[Chart::new(
    "buddyinfo-orders",
    Page::Memory,
    ChartKind::Line,
    "Free blocks by size",
    "Free blocks of 2^order pages. With plenty of small blocks and none of order 9 and above, huge pages cannot be given without compaction.",
    "buddyinfo",
    &["blocks"],
)
.by(&["order"], 0)];

/// Free blocks.
pub static SOURCE: Source = Source {
    name: "buddyinfo",
    title: "free memory by block size",
    documented: "Documentation/filesystems/proc.rst; mm/vmstat.c frag_show",
    reads: &["/proc/buddyinfo"],
    needs: "",
    // The kernel takes each zone's lock to write it.
    pace: Pace::AtLeast(10),
    tables: &[&BUDDYINFO],
    charts: CHARTS,
    open: |host, _scope: &Scope| {
        Ok(Box::new(Buddyinfo { file: host.open("/proc/buddyinfo")?, zones: Entities::default() }))
    },
};

struct Buddyinfo {
    file: HeldFile,
    /// Cells of the zones' names.
    zones: Entities<i64>,
}

impl Reader for Buddyinfo {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        let mut found = false;
        self.zones.start();
        for line in parse::lines(self.file.read(host)?) {
            let Some((node, zone, counts)) = parse::zone(line) else { continue };
            let zone = *self.zones.find(zone, || out.bytes(zone));
            for (order, count) in (0..).zip(counts) {
                let blocks = parse::number(count);
                if blocks != NULL {
                    out.row(0, &[node, zone, order, blocks]);
                    found = true;
                }
            }
        }
        if found {
            Ok(())
        } else {
            Err(Unavailable::failed("/proc/buddyinfo: no line of the form \"Node N, zone NAME …\""))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{fixture, host_of, play, survives};

    #[test]
    fn a_host_of_one_node() {
        let played = play(&SOURCE, &fixture("vm-2cpu"), 2).unwrap();
        assert_eq!(played[1].rows("buddyinfo").len(), 33);
        assert_eq!(played[0].row("buddyinfo", "0 DMA 10 "), "0 DMA 10 3");
    }

    #[test]
    fn two_nodes_with_the_same_zone() {
        let text = "Node 0, zone   Normal      1      2\nNode 1, zone   Normal      3      x\n";
        let (_dir, host) = host_of(&[("/proc/buddyinfo", text)]);
        assert_eq!(
            play(&SOURCE, &host, 1).unwrap()[0].rows("buddyinfo"),
            ["0 Normal 0 1", "0 Normal 1 2", "1 Normal 0 3"]
        );
    }

    #[test]
    fn hostile_content() {
        for content in ["", "Node", "Node 0, zone", "Node x, zone y 1", "Node 0, zone a"] {
            survives(&SOURCE, content);
        }
    }
}

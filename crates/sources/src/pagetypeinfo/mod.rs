//! Free blocks by mobility, from `/proc/pagetypeinfo`: whether memory that cannot be moved stands in the way of huge pages. The
//! kernel walks the free lists of each zone under its lock for this, and all page blocks, so it is read seldom.

use crate::entities::Entities;
use crate::{Pace, Reader, Scope, Source, parse};
use host::{HeldFile, Host};
use model::{Chart, ChartKind, Column, NULL, Out, Page, Table, Unavailable, Unit};

/// Not compared: both tell of everything that ran since boot.
static FREE: Table = Table::wide(
    "pagetypeinfo",
    "free blocks of one size and mobility in one zone",
    &[
        Column::number("node", "NUMA node"),
        Column::label("zone", "memory zone"),
        Column::label("type", "mobility: Unmovable, Movable, Reclaimable, HighAtomic, CMA, Isolate"),
        Column::number("order", "size of the block: 2^order pages"),
        Column::gauge(
            "blocks",
            Unit::None,
            "free blocks; the kernel stops counting at 100000, so that 100000 means that or more",
        )
        .better(),
    ],
)
.grouped(&[]);

static BLOCKS: Table = Table::wide(
    "pageblocks",
    "page blocks (the unit of huge pages) of one mobility in one zone, free or not",
    &[
        Column::number("node", "NUMA node"),
        Column::label("zone", "memory zone"),
        Column::label("type", "mobility: Unmovable, Movable, Reclaimable, HighAtomic, CMA, Isolate"),
        Column::gauge("blocks", Unit::None, "page blocks"),
    ],
)
.grouped(&[]);

static CHARTS: &[Chart] = &[Chart::new(
    "pageblocks-types",
    Page::Memory,
    ChartKind::Line,
    "Page blocks by mobility",
    "Unmovable blocks that grow and do not shrink are what keeps huge pages from being made.",
    "pageblocks",
    &["blocks"],
)
.by(&["type"], 0)];

/// Free blocks by mobility.
pub static SOURCE: Source = Source {
    name: "pagetypeinfo",
    title: "free memory by mobility",
    documented: "Documentation/filesystems/proc.rst; mm/vmstat.c pagetypeinfo_show",
    reads: &["/proc/pagetypeinfo"],
    needs: "root",
    // It walks the free lists: 36 ms of CPU time on a host with 24 GiB. buddyinfo says how much is free in pieces of which size more often.
    pace: Pace::AtLeast(300),
    tables: &[&FREE, &BLOCKS],
    charts: CHARTS,
    open: |host, _scope: &Scope| {
        let file = host.open("/proc/pagetypeinfo")?;
        Ok(Box::new(Pagetypeinfo { file, names: Entities::default() }))
    },
};

struct Pagetypeinfo {
    file: HeldFile,
    /// Cells of the names of zones and types.
    names: Entities<i64>,
}

impl Reader for Pagetypeinfo {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        let mut found = false;
        let mut types: Vec<i64> = Vec::new();
        self.names.start();
        for line in parse::lines(self.file.read(host)?) {
            if let Some(names) = line.strip_prefix(b"Number of blocks type") {
                types = parse::words(names).map(|name| *self.names.find(name, || out.bytes(name))).collect();
                continue;
            }
            let Some((node, zone, mut words)) = parse::zone(line) else { continue };
            // "Node    0, zone      DMA, type    Unmovable      0 …" in the first part, counts only in the second.
            if let Some(zone) = zone.strip_suffix(b",") {
                if words.next() != Some(b"type") {
                    continue;
                }
                let kind = words.next().unwrap_or_default();
                let zone = *self.names.find(zone, || out.bytes(zone));
                let kind = *self.names.find(kind, || out.bytes(kind));
                for (order, count) in (0..).zip(words) {
                    let blocks = parse::number(count.strip_prefix(b">").unwrap_or(count));
                    if blocks != NULL {
                        out.row(0, &[node, zone, kind, order, blocks]);
                        found = true;
                    }
                }
            } else {
                let zone = *self.names.find(zone, || out.bytes(zone));
                for (&kind, count) in types.iter().zip(words) {
                    let blocks = parse::number(count);
                    if blocks != NULL {
                        out.row(1, &[node, zone, kind, blocks]);
                    }
                }
            }
        }
        if found {
            Ok(())
        } else {
            Err(Unavailable::failed("/proc/pagetypeinfo: no line of the form \"Node N, zone NAME, type NAME …\""))
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
        assert_eq!(played[1].rows("pagetypeinfo").len(), 3 * 5 * 11);
        assert_eq!(played[1].rows("pageblocks").len(), 3 * 5);
        assert_eq!(played[0].row("pageblocks", "0 DMA Movable "), "0 DMA Movable 7");
        assert_eq!(played[0].row("pagetypeinfo", "0 DMA Movable 10 "), "0 DMA Movable 10 3");
    }

    #[test]
    fn counts_that_the_kernel_cut() {
        let text = "Node    0, zone   Normal, type    Movable >100000  5 \n";
        let (_dir, host) = host_of(&[("/proc/pagetypeinfo", text)]);
        let played = play(&SOURCE, &host, 1).unwrap();
        assert_eq!(played[0].rows("pagetypeinfo"), ["0 Normal Movable 0 100000", "0 Normal Movable 1 5"]);
    }

    #[test]
    fn hostile_content() {
        for content in ["", "Node 0, zone a,", "Node 0, zone a, type", "Number of blocks type a\nNode 0, zone b 1 2 3"]
        {
            survives(&SOURCE, content);
        }
    }
}

//! Free pages and watermarks of each memory zone, from `/proc/zoneinfo`: how far each zone is from reclaim.

use crate::entities::Entities;
use crate::{Pace, Reader, Scope, Source, parse};
use host::{HeldFile, Host};
use model::{Chart, ChartKind, Column, NULL, Out, Page, Table, Unavailable, Unit};

const fn pages(name: &'static str, help: &'static str) -> Column {
    Column::gauge(name, Unit::None, help)
}

/// Not compared: free memory is in meminfo, and settings are among the facts.
static ZONEINFO: Table = Table::wide(
    "zoneinfo",
    "one memory zone of one node, in pages",
    &[
        Column::number("node", "NUMA node"),
        Column::label("zone", "memory zone"),
        pages("free", "free pages").better(),
        pages("boost", "pages by which the watermarks are raised now, to avoid fragmentation"),
        pages("min", "below it, threads do direct reclaim"),
        pages("low", "below it, background reclaim starts"),
        pages("high", "above it, background reclaim stops"),
        pages("promo", "above it, pages may be moved here from slower memory"),
        pages("spanned", "pages in the zone's range, holes included"),
        pages("present", "pages in the zone"),
        pages("managed", "pages that the allocator has"),
        pages("cma", "pages reserved for contiguous allocations"),
    ],
)
.grouped(&[]);

static CHARTS: &[Chart] = &[Chart::new(
    "zoneinfo-watermarks",
    Page::Memory,
    ChartKind::Line,
    "Free pages and watermarks",
    "Zone Normal. When free falls below low, kswapd works; below min, threads that want memory reclaim it themselves and wait.",
    "zoneinfo",
    &["free", "min", "low", "high"],
)
.by(&["node"], 8)
.only("zone", &["Normal"])];

/// Memory zones.
pub static SOURCE: Source = Source {
    name: "zoneinfo",
    title: "free pages and watermarks of zones",
    documented: "Documentation/filesystems/proc.rst; Documentation/admin-guide/sysctl/vm.rst; mm/vmstat.c zoneinfo_show_print",
    reads: &["/proc/zoneinfo"],
    needs: "",
    // The file has lines for each zone and CPU, which are skipped.
    pace: Pace::AtLeast(5),
    tables: &[&ZONEINFO],
    charts: CHARTS,
    open: |host, _scope: &Scope| {
        Ok(Box::new(Zoneinfo { file: host.open("/proc/zoneinfo")?, zones: Entities::default() }))
    },
};

struct Zoneinfo {
    file: HeldFile,
    /// Cells of the zones' names.
    zones: Entities<i64>,
}

impl Reader for Zoneinfo {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        let mut row: Option<[i64; 12]> = None;
        let mut found = false;
        self.zones.start();
        for line in parse::lines(self.file.read(host)?) {
            if let Some((node, zone, _)) = parse::zone(line) {
                let mut cells = [NULL; 12];
                cells[0] = node;
                cells[1] = *self.zones.find(zone, || out.bytes(zone));
                row = Some(cells);
                continue;
            }
            let Some(cells) = &mut row else { continue };
            let mut words = parse::words(line);
            let mut name = words.next().unwrap_or_default();
            if name == b"pages" {
                name = words.next().unwrap_or_default();
            }
            let at = match name {
                b"free" => 2,
                b"boost" => 3,
                b"min" => 4,
                b"low" => 5,
                b"high" => 6,
                b"promo" => 7,
                b"spanned" => 8,
                b"present" => 9,
                b"managed" => 10,
                b"cma" => 11,
                // It follows what is wanted of the zone; zones without memory have nothing else.
                b"protection:" => {
                    if cells[9] > 0 {
                        out.row(0, cells);
                        found = true;
                    }
                    row = None;
                    continue;
                }
                _ => continue,
            };
            cells[at] = words.number();
        }
        if found {
            Ok(())
        } else {
            Err(Unavailable::failed("/proc/zoneinfo: no zone with lines \"present NUMBER\" and \"protection: …\""))
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
        assert_eq!(played[0].rows("zoneinfo").len(), 3);
        assert_eq!(played[0].row("zoneinfo", "0 DMA "), "0 DMA 3840 0 32 40 48 56 4095 3998 3840 0");
    }

    #[test]
    fn zones_without_memory_and_old_kernels() {
        let text = "Node 0, zone Normal\n  pages free 7\n        min 1\n        scanned 0\n        present 9\n        protection: (0, 0)\n  pagesets\n    cpu: 0\n              high: 6\n\
            Node 0, zone Movable\n  pages free 0\n        present 0\n        protection: (0, 0)\n";
        let (_dir, host) = host_of(&[("/proc/zoneinfo", text)]);
        assert_eq!(play(&SOURCE, &host, 1).unwrap()[0].rows("zoneinfo"), ["0 Normal 7 - 1 - - - - 9 - -"]);
    }

    #[test]
    fn hostile_content() {
        for content in [
            "",
            "Node 0, zone",
            "Node 0, zone x\nprotection:\n",
            "free 1\nprotection:",
            "Node 0, zone x\npages\npresent 1",
        ] {
            survives(&SOURCE, content);
        }
    }
}

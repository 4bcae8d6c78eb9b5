//! What the memory management does: faults, paging, reclaim, compaction, huge pages, from `/proc/vmstat`. The file mixes counters
//! and levels; each has its table.

mod fields;

use crate::entities::Entities;
use crate::{Pace, Reader, Scope, Source, parse};
use host::{HeldFile, Host};
use model::{Chart, ChartKind, Kind, NULL, Out, Page, Table, Unavailable};

static VMSTAT: Table =
    Table::long("vmstat", "one counter of /proc/vmstat, since boot", Kind::Counter, fields::COUNTERS);

/// Most are in meminfo too, in KiB, and compared there.
static LEVELS: Table =
    Table::long("vmstat_level", "one level of /proc/vmstat", Kind::Gauge, fields::LEVELS).grouped(&[]);

static CHARTS: &[Chart] = &[
    Chart::new(
        "vmstat-faults",
        Page::Memory,
        ChartKind::Line,
        "Page faults",
        "First touches of memory and copies on write. Each costs about a microsecond; a steady high rate for the same work is memory given back and taken again \
         (malloc trimming, mmap and munmap in a loop).",
        "vmstat",
        &["pgfault", "pgmajfault"],
    ),
    Chart::new(
        "vmstat-io",
        Page::Memory,
        ChartKind::Line,
        "Paged in and out",
        "Bytes between memory and block devices, file data and swap. Writes come in bursts, when dirty data is flushed.",
        "vmstat",
        &["pgpgin", "pgpgout"],
    ),
    Chart::new(
        "vmstat-reclaim",
        Page::Memory,
        ChartKind::Line,
        "Reclaim and swap",
        "Pages taken back for want of memory. kswapd works in the background; direct reclaim is done by the thread that wants memory, which waits.",
        "vmstat",
        &[
            "pgsteal_kswapd",
            "pgsteal_direct",
            "pswpin",
            "pswpout",
            "workingset_refault_file",
            "workingset_refault_anon",
        ],
    ),
    Chart::new(
        "vmstat-huge",
        Page::Memory,
        ChartKind::Line,
        "Transparent huge pages and compaction",
        "Huge pages given at a fault, refused for want of contiguous memory, and split. compact_stall counts threads that waited while memory was compacted.",
        "vmstat",
        &["thp_fault_alloc", "thp_fault_fallback", "thp_split_pmd", "compact_stall"],
    ),
];

/// Memory management.
pub static SOURCE: Source = Source {
    name: "vmstat",
    title: "faults, paging, reclaim, compaction",
    documented: "proc_vmstat(5); mm/vmstat.c; include/linux/vm_event_item.h",
    reads: &["/proc/vmstat"],
    needs: "",
    pace: Pace::Tick,
    tables: &[&VMSTAT, &LEVELS],
    charts: CHARTS,
    open: |host, _scope: &Scope| Ok(Box::new(Vmstat { file: host.open("/proc/vmstat")?, fields: Entities::default() })),
};

struct Vmstat {
    file: HeldFile,
    /// Of each field, the cell of its name and its table.
    fields: Entities<(i64, usize)>,
}

impl Reader for Vmstat {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        let mut found = false;
        self.fields.start();
        for line in parse::lines(self.file.read(host)?) {
            let mut words = parse::words(line);
            let name = words.next().unwrap_or_default();
            let value = words.number();
            if value == NULL {
                continue;
            }
            let &mut (cell, table) = self.fields.find(name, || (out.bytes(name), usize::from(fields::is_level(name))));
            out.row(table, &[cell, value]);
            found = true;
        }
        if found { Ok(()) } else { Err(Unavailable::failed("/proc/vmstat: no line of the form \"name NUMBER\"")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{fixture, host_of, play, survives};

    fn value(rows: &[String], field: &str) -> i64 {
        let row = rows.iter().find(|r| r.split(' ').next() == Some(field)).unwrap_or_else(|| panic!("no {field}"));
        row.rsplit(' ').next().unwrap().parse().unwrap()
    }

    #[test]
    fn a_host_of_two_cpus() {
        let played = play(&SOURCE, &fixture("vm-2cpu"), 2).unwrap();
        let huge = |frame: usize| value(played[frame].rows("vmstat"), "thp_fault_alloc");
        assert!(huge(1) - huge(0) >= 31, "64 MiB of huge pages were touched");
        for (before, after) in played[0].rows("vmstat").iter().zip(played[1].rows("vmstat")) {
            let (name, number) = before.split_once(' ').unwrap();
            let (same, later) = after.split_once(' ').unwrap();
            assert_eq!(name, same);
            assert!(later.parse::<i64>().unwrap() >= number.parse().unwrap(), "{name} is no counter");
        }
        value(played[0].rows("vmstat_level"), "nr_free_pages");
        value(played[0].rows("vmstat_level"), "workingset_nodes");
        value(played[0].rows("vmstat"), "nr_dirtied");
    }

    #[test]
    fn declared_fields_are_in_the_table_that_they_go_to() {
        assert!(fields::COUNTERS.iter().all(|c| !fields::is_level(c.name.as_bytes())));
        assert!(fields::LEVELS.iter().all(|c| fields::is_level(c.name.as_bytes())));
    }

    #[test]
    fn lines_that_move_change_table() {
        let (dir, host) = host_of(&[("/proc/vmstat", "nr_mapped 5\npgfault 6\n")]);
        std::fs::create_dir_all(dir.path().join("frame-1/proc")).unwrap();
        std::fs::write(dir.path().join("frame-1/proc/vmstat"), "pgfault 7\nnr_mapped 5\nnew_one 1").unwrap();
        let played = play(&SOURCE, &host, 2).unwrap();
        assert_eq!(played[1].rows("vmstat"), ["pgfault 7", "new_one 1"]);
        assert_eq!(played[1].rows("vmstat_level"), ["nr_mapped 5"]);
    }

    #[test]
    fn hostile_content() {
        for content in ["", "x", "1", "a b\n", " 1 1", "a 99999999999999999999\n\0 1"] {
            survives(&SOURCE, content);
        }
    }
}

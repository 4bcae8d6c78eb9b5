//! Huge pages: those reserved for programs (hugetlb), and those that the kernel gives by itself (transparent), of each size.

use crate::attributes::Attributes;
use crate::{Pace, Reader, Scope, Source};
use host::Host;
use model::{Chart, ChartKind, Column, NULL, Out, Page, Table, Unavailable, Unit};

const fn size() -> Column {
    Column::number("size", "size of the page, KiB")
}

static HUGEPAGES: Table = Table::wide(
    "hugepages",
    "huge pages of one size that are reserved for programs",
    &[
        size(),
        Column::gauge("nr_hugepages", Unit::None, "pages in the pool").floor(1.0),
        Column::gauge("free_hugepages", Unit::None, "of these, those not yet allocated").floor(1.0),
        Column::gauge("resv_hugepages", Unit::None, "promised to programs and not yet allocated").floor(1.0),
        Column::gauge("surplus_hugepages", Unit::None, "above the number that was asked for").floor(1.0),
    ],
)
.grouped(&[&["size"]]);

const fn events(name: &'static str, help: &'static str) -> Column {
    Column::counter(name, Unit::None, help).floor(5.0)
}

static THP: Table = Table::wide(
    "thp",
    "transparent huge pages of one size, since boot; sizes that were never used are left out",
    &[
        size(),
        events("anon_fault_alloc", "given at a fault of a program's memory"),
        events("anon_fault_fallback", "faults that wanted this size and got a smaller one").worse(),
        events("anon_fault_fallback_charge", "of these, those that a cgroup's limit refused").worse(),
        events("shmem_alloc", "allocated for shared memory"),
        events("shmem_fallback", "wanted for shared memory and not got").worse(),
        events("shmem_fallback_charge", "of these, those that a cgroup's limit refused").worse(),
        events("split", "split into smaller pages").worse(),
        events("split_failed", "could not be split").worse(),
        events("split_deferred", "noted to be split when memory is short"),
        events("swpin", "read from swap whole").worse(),
        events("swpin_fallback", "read from swap in smaller pages").worse(),
        events("swpin_fallback_charge", "of these, those that a cgroup's limit refused").worse(),
        events("swpout", "written to swap whole").worse(),
        events("swpout_fallback", "split to be written to swap").worse(),
        events("zswpout", "put into compressed swap whole").worse(),
        Column::gauge("nr_anon", Unit::None, "pages of programs that exist now").floor(8.0),
        Column::gauge("nr_anon_partially_mapped", Unit::None, "of these, those of which a part was unmapped")
            .floor(8.0),
    ],
)
.grouped(&[&["size"]]);

static KHUGEPAGED: Table = Table::wide(
    "khugepaged",
    "what khugepaged did, which puts small pages together, since boot",
    &[
        Column::counter("full_scans", Unit::None, "passes over all memory of programs").floor(0.1),
        Column::counter("pages_collapsed", Unit::None, "huge pages made of small ones").floor(0.1),
    ],
);

static CHARTS: &[Chart] = &[
    Chart::new(
        "thp-sizes",
        Page::Memory,
        ChartKind::Line,
        "Transparent huge pages by size",
        "Pages of programs that are huge, in each size (KiB). More of them means fewer misses of the TLB.",
        "thp",
        &["nr_anon"],
    )
    .by(&["size"], 0),
    Chart::new(
        "hugepages-pool",
        Page::Memory,
        ChartKind::Line,
        "Reserved huge pages",
        "The pool and what is free of it, by size (KiB). Free pages are memory that nothing else can use.",
        "hugepages",
        &["nr_hugepages", "free_hugepages"],
    )
    .by(&["size"], 0),
];

/// Huge pages.
pub static SOURCE: Source = Source {
    name: "hugepages",
    title: "huge pages, reserved and transparent",
    documented: "Documentation/admin-guide/mm/hugetlbpage.rst; Documentation/admin-guide/mm/transhuge.rst",
    reads: &[
        "/sys/kernel/mm/hugepages/hugepages-*kB/nr_hugepages",
        "/sys/kernel/mm/hugepages/hugepages-*kB/free_hugepages",
        "/sys/kernel/mm/hugepages/hugepages-*kB/resv_hugepages",
        "/sys/kernel/mm/hugepages/hugepages-*kB/surplus_hugepages",
        "/sys/kernel/mm/transparent_hugepage/hugepages-*kB/stats/*",
        "/sys/kernel/mm/transparent_hugepage/khugepaged/full_scans",
        "/sys/kernel/mm/transparent_hugepage/khugepaged/pages_collapsed",
    ],
    needs: "",
    // Seventeen files for each of about ten sizes.
    pace: Pace::AtLeast(10),
    tables: &[&HUGEPAGES, &THP, &KHUGEPAGED],
    charts: CHARTS,
    open,
};

const POOLS: &str = "/sys/kernel/mm/hugepages";
const TRANSPARENT: &str = "/sys/kernel/mm/transparent_hugepage";

fn open(host: &Host, _scope: &Scope) -> Result<Box<dyn Reader>, Unavailable> {
    let mut all = Hugepages { things: Vec::new(), missing: Vec::new(), buffer: Vec::new() };
    let value_names = |table: &Table| -> Vec<&str> { table.values().map(|column| column.name).collect() };
    all.add_sizes(host, 0, POOLS, "", &value_names(&HUGEPAGES));
    if all.things.is_empty() {
        let why =
            Unavailable::absent(format!("{POOLS}: no page sizes")).remedy("a kernel built with CONFIG_HUGETLBFS=y");
        all.missing.push((HUGEPAGES.name, why));
    }
    let pools = all.things.len();
    all.add_sizes(host, 1, TRANSPARENT, "/stats", &value_names(&THP));
    if all.things.len() == pools {
        let why = Unavailable::absent(format!("{TRANSPARENT}/hugepages-*kB/stats: not there"))
            .remedy("a kernel of version 6.10 or later built with CONFIG_TRANSPARENT_HUGEPAGE=y");
        all.missing.push((THP.name, why));
    }
    let files = Attributes::find(host, &format!("{TRANSPARENT}/khugepaged"), &value_names(&KHUGEPAGED));
    if files.len() > 0 {
        all.things.push(Thing { table: 2, row: vec![NULL; KHUGEPAGED.width()], labels: 0, files });
    } else {
        let why = Unavailable::absent(format!("{TRANSPARENT}/khugepaged: not there"))
            .remedy("a kernel built with CONFIG_TRANSPARENT_HUGEPAGE=y");
        all.missing.push((KHUGEPAGED.name, why));
    }
    if all.things.is_empty() {
        return Err(Unavailable::absent(format!("neither {POOLS} nor {TRANSPARENT} is there"))
            .remedy("a kernel built with CONFIG_HUGETLBFS=y and CONFIG_TRANSPARENT_HUGEPAGE=y"));
    }
    Ok(Box::new(all))
}

/// One row.
struct Thing {
    table: usize,
    row: Vec<i64>,
    labels: usize,
    files: Attributes,
}

struct Hugepages {
    things: Vec<Thing>,
    /// What is still to be told about tables that cannot be read.
    missing: Vec<(&'static str, Unavailable)>,
    buffer: Vec<u8>,
}

impl Hugepages {
    /// Adds a row for each page size that has a folder `hugepages-NkB` in `folder`.
    fn add_sizes(&mut self, host: &Host, table: usize, folder: &str, below: &str, names: &[&str]) {
        for entry in host.list(folder).unwrap_or_default() {
            let size = entry.strip_prefix("hugepages-").and_then(|rest| rest.strip_suffix("kB"));
            let Some(size) = size.and_then(|size| size.parse().ok()) else { continue };
            let files = Attributes::find(host, &format!("{folder}/{entry}{below}"), names);
            if files.len() > 0 {
                let mut row = vec![NULL; names.len() + 1];
                if let Some(cell) = row.first_mut() {
                    *cell = size;
                }
                self.things.push(Thing { table, row, labels: 1, files });
            }
        }
    }
}

impl Reader for Hugepages {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        for (table, why) in self.missing.drain(..) {
            out.missing(table, why);
        }
        let mut failed = None;
        for thing in &mut self.things {
            let Some(cells) = thing.row.get_mut(thing.labels..) else { continue };
            let error = thing.files.read(host, &mut self.buffer, cells);
            failed = failed.or(error);
            let unused = cells.iter().all(|&cell| cell == 0 || cell == NULL);
            if !(thing.table == 1 && unused) {
                out.row(thing.table, &thing.row);
            }
        }
        failed.map_or(Ok(()), |error| Err(error.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{fixture, host_of, play, survives};
    use model::Status;

    #[test]
    fn a_host_of_two_cpus() {
        let played = play(&SOURCE, &fixture("vm-2cpu"), 2).unwrap();
        assert!(played[1].error.is_none() && played[0].coverage.is_empty());
        assert_eq!(played[0].rows("hugepages"), ["2048 0 0 0 0"]);
        let given = |frame: usize| -> Vec<i64> {
            played[frame].row("thp", "2048 ").split(' ').map(|cell| cell.parse().unwrap()).collect()
        };
        assert_eq!(given(1)[1] - given(0)[1], 32, "64 MiB were touched");
        assert_eq!(given(1)[16], 32);
        assert_eq!(played[0].rows("thp").len(), 1, "64 KiB were never used");
        assert_eq!(played[0].rows("khugepaged").len(), 1);
    }

    #[test]
    fn parts_that_are_not_there_are_told() {
        let (_dir, host) = host_of(&[("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "4\n")]);
        let played = play(&SOURCE, &host, 2).unwrap();
        assert_eq!(played[0].rows("hugepages"), ["2048 4 - - -"]);
        assert_eq!((played[0].coverage.len(), played[1].coverage.len()), (2, 0));
        let (_dir, host) = host_of(&[]);
        assert_eq!(play(&SOURCE, &host, 1).err().unwrap().status, Status::Absent);
    }

    #[test]
    fn hostile_content() {
        for content in ["", "x", "-1", "99999999999999999999"] {
            survives(&SOURCE, content);
        }
    }
}

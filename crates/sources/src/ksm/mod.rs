//! Kernel samepage merging: pages with the same content that are kept once, from `/sys/kernel/mm/ksm/`.

use crate::attributes::Attributes;
use crate::{Pace, Reader, Scope, Source};
use host::Host;
use model::{Chart, ChartKind, Column, Compare, NULL, Out, Page, Table, Unavailable, Unit};

const fn pages(name: &'static str, help: &'static str) -> Column {
    Column::gauge(name, Unit::None, help).floor(1000.0)
}

static KSM: Table = Table::wide(
    "ksm",
    "merging of equal pages",
    &[
        Column::gauge("run", Unit::None, "0: stopped, 1: merging, 2: stopped and taking merged pages apart")
            .compared(Compare::Never),
        Column::counter("full_scans", Unit::None, "passes over all memory that may be merged").floor(0.01),
        Column::counter("pages_scanned", Unit::None, "pages scanned").worse().floor(500.0),
        Column::counter("pages_skipped", Unit::None, "pages passed over, because they were seldom equal to others")
            .floor(500.0),
        pages("pages_shared", "merged pages that exist"),
        pages("pages_sharing", "pages that were merged into them: what is saved").better(),
        pages("pages_unshared", "pages scanned repeatedly that are equal to no other"),
        pages("pages_volatile", "pages that change too fast to be merged"),
        pages("ksm_zero_pages", "pages of zeros that were merged"),
        Column::gauge("general_profit", Unit::Bytes, "memory saved, less what merging itself takes").better(),
        pages("stable_node_chains", "chains of merged pages that many share"),
        pages("stable_node_dups", "copies in these chains"),
    ],
);

static CHARTS: &[Chart] = &[Chart::new(
    "ksm-pages",
    Page::Memory,
    ChartKind::Line,
    "Merged pages",
    "Pages saved by merging (sharing) and pages looked at in vain (unshared). A write to a merged page faults and copies it.",
    "ksm",
    &["pages_sharing", "pages_shared", "pages_unshared"],
)];

/// Kernel samepage merging.
pub static SOURCE: Source = Source {
    name: "ksm",
    title: "merging of equal pages (KSM)",
    documented: "Documentation/admin-guide/mm/ksm.rst",
    reads: &[
        "/sys/kernel/mm/ksm/run",
        "/sys/kernel/mm/ksm/full_scans",
        "/sys/kernel/mm/ksm/pages_scanned",
        "/sys/kernel/mm/ksm/pages_skipped",
        "/sys/kernel/mm/ksm/pages_shared",
        "/sys/kernel/mm/ksm/pages_sharing",
        "/sys/kernel/mm/ksm/pages_unshared",
        "/sys/kernel/mm/ksm/pages_volatile",
        "/sys/kernel/mm/ksm/ksm_zero_pages",
        "/sys/kernel/mm/ksm/general_profit",
        "/sys/kernel/mm/ksm/stable_node_chains",
        "/sys/kernel/mm/ksm/stable_node_dups",
    ],
    needs: "",
    pace: Pace::AtLeast(5),
    tables: &[&KSM],
    charts: CHARTS,
    open,
};

fn open(host: &Host, _scope: &Scope) -> Result<Box<dyn Reader>, Unavailable> {
    const FOLDER: &str = "/sys/kernel/mm/ksm";
    let names: Vec<&str> = KSM.columns.iter().map(|column| column.name).collect();
    let mut files = Attributes::find(host, FOLDER, &names);
    if files.len() == 0 {
        return Err(Unavailable::absent(format!("{FOLDER}: not there")).remedy("a kernel built with CONFIG_KSM=y"));
    }
    Attributes::hold(host, [&mut files].into_iter());
    Ok(Box::new(Ksm { files, row: vec![NULL; names.len()], buffer: Vec::new() }))
}

struct Ksm {
    files: Attributes,
    row: Vec<i64>,
    buffer: Vec<u8>,
}

impl Reader for Ksm {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        let failed = self.files.read(host, &mut self.buffer, &mut self.row);
        out.row(0, &self.row);
        failed.map_or(Ok(()), |error| Err(error.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{fixture, host_of, play, survives};

    #[test]
    fn a_host_where_it_is_off_and_an_old_one() {
        let played = play(&SOURCE, &fixture("vm-2cpu"), 1).unwrap();
        assert_eq!(played[0].rows("ksm"), ["0 0 0 0 0 0 0 0 0 0 0 0"]);
        let (_dir, host) =
            host_of(&[("/sys/kernel/mm/ksm/run", "1\n"), ("/sys/kernel/mm/ksm/general_profit", "-320\n")]);
        assert_eq!(play(&SOURCE, &host, 1).unwrap()[0].rows("ksm"), ["1 - - - - - - - - -320 - -"]);
    }

    #[test]
    fn not_there_and_hostile_content() {
        let (_dir, host) = host_of(&[]);
        assert!(play(&SOURCE, &host, 1).err().unwrap().remedy.unwrap().contains("CONFIG_KSM"));
        for content in ["", "x", "-"] {
            survives(&SOURCE, content);
        }
    }
}

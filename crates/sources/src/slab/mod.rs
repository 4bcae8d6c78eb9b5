//! Caches of kernel objects, from `/proc/slabinfo`: which ones hold the kernel's memory.

use crate::entities::Entities;
use crate::{Pace, Reader, Scope, Source, parse};
use host::{HeldFile, Host};
use model::{Chart, ChartKind, Column, Compare, NULL, Out, Page, Table, Unavailable, Unit};

/// A property of the cache, the same in every run of one kernel.
const fn fixed(name: &'static str, unit: Unit, help: &'static str) -> Column {
    Column::gauge(name, unit, help).compared(Compare::Never)
}

static SLAB: Table = Table::wide(
    "slab",
    "one cache of kernel objects; caches that hold none are left out",
    &[
        Column::label("cache", "name of the cache; caches of equal size may be merged under one name"),
        Column::gauge("active_objs", Unit::None, "objects in use").compared(Compare::Never),
        Column::gauge("num_objs", Unit::None, "objects that the memory taken has room for").compared(Compare::Never),
        fixed("objsize", Unit::Bytes, "size of an object"),
        fixed("objperslab", Unit::None, "objects in a slab"),
        fixed("pagesperslab", Unit::None, "pages in a slab"),
        Column::gauge("active_slabs", Unit::None, "slabs with objects in use").compared(Compare::Never),
        Column::gauge("num_slabs", Unit::None, "slabs").compared(Compare::Never),
        Column::gauge("memory", Unit::Bytes, "num_objs × objsize: memory taken, without the slack of each slab"),
    ],
)
.grouped(&[&["cache"]]);

static CHARTS: &[Chart] = &[Chart::new(
    "slab-caches",
    Page::Memory,
    ChartKind::Stack,
    "Kernel objects",
    "The largest caches. dentry and inode caches grow with files touched and shrink under pressure; one that only grows is a leak.",
    "slab",
    &["memory"],
)
.by(&["cache"], 10)];

/// Kernel objects.
pub static SOURCE: Source = Source {
    name: "slab",
    title: "caches of kernel objects",
    documented: "slabinfo(5); mm/slab_common.c",
    reads: &["/proc/slabinfo"],
    needs: "root",
    // About a microsecond a cache, under a lock, and more with many slabs.
    pace: Pace::AtLeast(30),
    tables: &[&SLAB],
    charts: CHARTS,
    open,
};

fn open(host: &Host, _scope: &Scope) -> Result<Box<dyn Reader>, Unavailable> {
    let mut file = host.open("/proc/slabinfo")?;
    let first = parse::lines(file.read(host)?).next().unwrap_or_default();
    if !first.starts_with(b"slabinfo - version: 2.") {
        return Err(Unavailable::failed(format!(
            "/proc/slabinfo: expected \"slabinfo - version: 2.x\" in the first line, found {:?}",
            String::from_utf8_lossy(first.get(..60).unwrap_or(first))
        )));
    }
    Ok(Box::new(Slab { file, caches: Entities::default() }))
}

struct Slab {
    file: HeldFile,
    /// Cells of the caches' names.
    caches: Entities<i64>,
}

impl Reader for Slab {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        self.caches.start();
        for line in parse::lines(self.file.read(host)?).skip(1).filter(|line| !line.starts_with(b"#")) {
            // name, five numbers, ": tunables", three numbers, ": slabdata", three numbers
            let mut words = parse::words(line);
            let name = words.next().unwrap_or_default();
            let mut cells = [NULL; 9];
            parse::fill(&mut words, &mut cells[1..6]);
            if cells[1..6].contains(&NULL) || cells[2] == 0 {
                continue;
            }
            let mut slabs = words.skip_while(|word| *word != b"slabdata").skip(1).map(parse::number);
            cells[6] = slabs.next().unwrap_or(NULL);
            cells[7] = slabs.next().unwrap_or(NULL);
            cells[8] = cells[2].saturating_mul(cells[3]);
            cells[0] = *self.caches.find(name, || out.bytes(name));
            out.row(0, &cells);
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
        let rows = played[1].rows("slab");
        assert!(rows.len() > 100 && !rows.iter().any(|r| r.starts_with("btrfs_inode ")));
        let dentry: Vec<i64> =
            played[0].row("slab", "dentry ").split(' ').skip(1).map(|n| n.parse().unwrap()).collect();
        assert_eq!(dentry[7], dentry[1] * dentry[2]);
        assert!(dentry[5] <= dentry[6]);
    }

    #[test]
    fn other_content_is_told() {
        let (_dir, host) = host_of(&[("/proc/slabinfo", "slabinfo - version: 1.1\n")]);
        assert!(play(&SOURCE, &host, 1).err().unwrap().why.contains("1.1"));
        let head = "slabinfo - version: 2.1\n# name\n";
        let (_dir, host) = host_of(&[("/proc/slabinfo", &format!("{head}a 1 2 3 4 5\nb 1 2 3\nc 0 0 8 1 1 : x\n"))]);
        assert_eq!(play(&SOURCE, &host, 1).unwrap()[0].rows("slab"), ["a 1 2 3 4 5 - - 6"]);
    }

    #[test]
    fn hostile_content() {
        for content in [
            "",
            "slabinfo - version: 2.1",
            "slabinfo - version: 2.1\n\n#\nx\na 9223372036854775807 9223372036854775807 9 9 9",
        ] {
            survives(&SOURCE, content);
        }
    }
}

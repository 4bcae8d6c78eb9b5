//! How memory is used, from `/proc/meminfo`.

mod fields;

pub(crate) use fields::FIELDS;

use crate::entities::Entities;
use crate::{Pace, Reader, Scope, Source, parse};
use host::{HeldFile, Host};
use model::{Chart, ChartKind, Kind, NULL, Out, Page, Table, Unavailable};

static MEMINFO: Table = Table::long("meminfo", "one field of /proc/meminfo: memory by use", Kind::Gauge, FIELDS);

static CHARTS: &[Chart] = &[
    Chart::new(
        "meminfo-use",
        Page::Memory,
        ChartKind::Stack,
        "Memory by use",
        "What holds the memory. AnonPages are heaps and stacks; Cached and Buffers are file data, most of which the kernel can drop, and shared memory; what slabs cannot reclaim is the kernel's own.",
        "meminfo",
        &["AnonPages", "Cached", "Buffers", "SReclaimable", "SUnreclaim", "PageTables", "KernelStack", "Hugetlb"],
    ),
    Chart::new(
        "meminfo-available",
        Page::Memory,
        ChartKind::Line,
        "Memory available",
        "The kernel's estimate of what programs could still take without swapping. Near 0, reclaim and then the OOM killer follow.",
        "meminfo",
        &["MemAvailable", "MemFree"],
    ),
    Chart::new(
        "meminfo-dirty",
        Page::Memory,
        ChartKind::Line,
        "Dirty and under writeback",
        "File data not yet on disk. A level that saws up and down is writers held back by the disk.",
        "meminfo",
        &["Dirty", "Writeback"],
    ),
];

/// Memory.
pub static SOURCE: Source = Source {
    name: "meminfo",
    title: "memory by use",
    documented: "proc_meminfo(5); Documentation/filesystems/proc.rst",
    reads: &["/proc/meminfo"],
    needs: "",
    pace: Pace::Tick,
    tables: &[&MEMINFO],
    charts: CHARTS,
    open: |host, _scope: &Scope| {
        Ok(Box::new(Meminfo { file: host.open("/proc/meminfo")?, names: Entities::default() }))
    },
};

struct Meminfo {
    file: HeldFile,
    names: Entities<i64>,
}

impl Reader for Meminfo {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        let found = fields(parse::lines(self.file.read(host)?), &mut self.names, out, |out, field, value| {
            out.row(0, &[field, value]);
        });
        if found { Ok(()) } else { Err(Unavailable::failed("/proc/meminfo: no line of the form \"Name: NUMBER kB\"")) }
    }
}

/// Puts the fields of lines of the form "Name: NUMBER kB", and says whether there was one.
pub(crate) fn fields<'a>(
    lines: impl Iterator<Item = &'a [u8]>,
    names: &mut Entities<i64>,
    out: &mut Out<'_>,
    mut put: impl FnMut(&mut Out<'_>, i64, i64),
) -> bool {
    let mut found = false;
    names.start();
    for line in lines {
        let Some(colon) = memchr::memchr(b':', line) else { continue };
        let value = parse::words(line.get(colon + 1..).unwrap_or_default()).number();
        if value != NULL {
            let name = line.get(..colon).unwrap_or_default().trim_ascii();
            let field = *names.find(name, || out.bytes(name));
            put(out, field, value);
            found = true;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{fixture, host_of, play, survives};

    #[test]
    fn a_host_of_two_cpus() {
        let played = play(&SOURCE, &fixture("vm-2cpu"), 2).unwrap();
        let of = |frame: usize, field: &str| -> i64 {
            let row = played[frame].row("meminfo", &format!("{field} "));
            row.rsplit(' ').next().unwrap().parse().unwrap()
        };
        assert_eq!(of(0, "MemTotal"), 24_684_092);
        assert!(of(1, "AnonHugePages") - of(0, "AnonHugePages") > 60_000, "64 MiB were touched");
        for row in played[0].rows("meminfo") {
            let name = row.split(' ').next().unwrap();
            assert!(MEMINFO.column(name).is_some(), "{name} has no documentation");
        }
    }

    #[test]
    fn fields_of_other_kernels_are_kept() {
        let (_dir, host) = host_of(&[("/proc/meminfo", "MemTotal: 5 kB\nNewThing:   7\nbroken\nAlso: x kB\n")]);
        assert_eq!(play(&SOURCE, &host, 1).unwrap()[0].rows("meminfo"), ["MemTotal 5", "NewThing 7"]);
    }

    #[test]
    fn hostile_content() {
        for content in ["", ":", ": 5", "A:", "A: -", "A: 99999999999999999999 kB"] {
            survives(&SOURCE, content);
        }
        let (_dir, host) = host_of(&[("/proc/meminfo", "A:\n")]);
        assert!(play(&SOURCE, &host, 1).unwrap()[0].error.is_some());
    }
}

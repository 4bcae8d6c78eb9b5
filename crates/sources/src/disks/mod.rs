//! Block devices, from `/proc/diskstats`; what each is a part of, from `/sys/class/block`.

use crate::entities::Entities;
use crate::{Pace, Reader, Scope, Source, parse};
use host::{HeldFile, Host};
use model::{Chart, ChartKind, Column, Compare, Den, Derived, NULL, Out, Page, Polarity, Table, Unavailable, Unit};

/// The values of a line after major, minor and name: 11 since Linux 2.6, 15 with discards (4.18), 17 with flushes (5.5).
const VALUES: usize = 17;
const WIDTH: usize = 2 + VALUES;

/// One row per device. `kind` keeps the totals honest: the I/O of a partition, of a stacked device and of a loop device is counted again in
/// the disks below it.
static DISKS: Table = Table::wide(
    "disks",
    "I/O of each block device since boot; loop and memory devices once they did any",
    &[
        Column::label(
            "kind",
            "\"disk\"; \"part\" of a disk; \"stacked\" on other devices (LVM, RAID, crypt, bcache); \"loop\" over a file; \"memory\" (ram, zram)",
        ),
        Column::label("device", "name of the device"),
        Column::counter("reads", Unit::None, "reads completed"),
        Column::counter("reads_merged", Unit::None, "reads merged with a neighbour before they were issued"),
        Column::counter("read", Unit::Sectors, "read from the device"),
        Column::counter("read_time", Unit::Milliseconds, "sum over all reads of the time from queueing to completion").worse(),
        Column::counter("writes", Unit::None, "writes completed"),
        Column::counter("writes_merged", Unit::None, "writes merged with a neighbour before they were issued"),
        Column::counter("written", Unit::Sectors, "written to the device"),
        Column::counter("write_time", Unit::Milliseconds, "sum over all writes of the time from queueing to completion").worse(),
        Column::gauge("in_flight", Unit::None, "requests issued and not completed at this moment")
            .compared(Compare::Never),
        Column::counter("io_time", Unit::Milliseconds, "time with at least one request in flight"),
        Column::counter(
            "queue_time",
            Unit::Milliseconds,
            "time with a request in flight, weighted by the number of requests",
        )
        .worse(),
        Column::counter("discards", Unit::None, "discards (TRIM) completed"),
        Column::counter("discards_merged", Unit::None, "discards merged with a neighbour before they were issued"),
        Column::counter("discarded", Unit::Sectors, "discarded"),
        Column::counter("discard_time", Unit::Milliseconds, "sum over all discards of their time").worse(),
        Column::counter("flushes", Unit::None, "cache flushes completed; counted for disks, not for partitions"),
        Column::counter("flush_time", Unit::Milliseconds, "sum over all cache flushes of their time").worse(),
    ],
)
.derived(&[
    Derived {
        name: "utilisation",
        unit: "ratio",
        help: "share of the time with at least one request in flight; says little about how much more a parallel device could do",
        num: &[("io_time", 1.0)],
        den: Den::Time,
        polarity: Polarity::Worse,
        compare: Compare::Difference,
        floor: 0.02,
    },
    mean("read_await", "s", "mean time of a read, queueing included", &[("read_time", 1.0)], &[("reads", 1.0)], 100e-6),
    mean("write_await", "s", "mean time of a write, queueing included", &[("write_time", 1.0)], &[("writes", 1.0)], 100e-6),
    mean("discard_await", "s", "mean time of a discard", &[("discard_time", 1.0)], &[("discards", 1.0)], 100e-6),
    mean("flush_await", "s", "mean time of a cache flush", &[("flush_time", 1.0)], &[("flushes", 1.0)], 100e-6),
    Derived {
        name: "queue_depth",
        unit: "",
        help: "mean number of requests in flight",
        num: &[("queue_time", 1.0)],
        den: Den::Time,
        polarity: Polarity::Worse,
        compare: Compare::Ratio,
        floor: 0.1,
    },
    Derived {
        name: "throughput",
        unit: "B/s",
        help: "read and written",
        num: &[("read", 1.0), ("written", 1.0)],
        den: Den::Time,
        polarity: Polarity::Neutral,
        compare: Compare::Ratio,
        floor: 65536.0,
    },
    Derived {
        name: "request_size",
        unit: "B",
        help: "mean size of a read or write as the device saw it, after merging",
        num: &[("read", 1.0), ("written", 1.0)],
        den: Den::Columns(&[("reads", 1.0), ("writes", 1.0)]),
        polarity: Polarity::Neutral,
        compare: Compare::Ratio,
        floor: 1024.0,
    },
])
.grouped(&[&["kind"], &["kind", "device"]])
.from_zero();

/// A mean for each request: a sum divided by a count.
const fn mean(
    name: &'static str,
    unit: &'static str,
    help: &'static str,
    num: &'static [(&'static str, f64)],
    den: &'static [(&'static str, f64)],
    floor: f64,
) -> Derived {
    Derived { name, unit, help, num, den: Den::Columns(den), polarity: Polarity::Worse, compare: Compare::Ratio, floor }
}

/// Disks alone, or what is stacked on them would be drawn twice.
const DISK: Option<(&str, &[&str])> = Some(("kind", &["disk"]));

static CHARTS: &[Chart] = &[
    Chart {
        only: DISK,
        ..Chart::new(
            "disk-throughput",
            Page::Disks,
            ChartKind::Line,
            "Disk throughput",
            "Bytes read from and written to all disks. A flat top is a limit of the device or of the instance type; the same work with more bytes misses the page cache.",
            "disks",
            &["read", "written"],
        )
    },
    Chart {
        only: DISK,
        ..Chart::new(
            "disk-await",
            Page::Disks,
            ChartKind::Line,
            "Mean time of a read and of a write",
            "From queueing to completion. It grows when the device is slower, or when more requests wait in front of it: compare with the queue depth.",
            "disks",
            &["read_await", "write_await"],
        )
    },
    Chart {
        only: DISK,
        ..Chart::new(
            "disk-queue",
            Page::Disks,
            ChartKind::Line,
            "Queue depth of each disk",
            "Requests in flight on average. Below 1 the device waits for the program more than the program for the device.",
            "disks",
            &["queue_depth"],
        )
        .by(&["device"], 20)
    },
    Chart {
        only: DISK,
        ..Chart::new(
            "disk-utilisation",
            Page::Disks,
            ChartKind::Line,
            "Utilisation of each disk",
            "Share of the time with at least one request in flight. At 1 a spinning disk is full; an SSD that serves many requests at once may have room left.",
            "disks",
            &["utilisation"],
        )
        .by(&["device"], 20)
        .up_to(1.0)
    },
];

/// Block devices.
pub static SOURCE: Source = Source {
    name: "disks",
    title: "I/O of block devices",
    documented: "Documentation/admin-guide/iostats.rst",
    reads: &["/proc/diskstats", "/sys/class/block/*/partition", "/sys/class/block/*/slaves"],
    needs: "",
    pace: Pace::Tick,
    tables: &[&DISKS],
    charts: CHARTS,
    open: |host, _scope: &Scope| {
        Ok(Box::new(Disks { diskstats: host.open("/proc/diskstats")?, devices: Entities::default() }))
    },
};

struct Disks {
    diskstats: HeldFile,
    devices: Entities<Device>,
}

/// What does not change about a device.
#[derive(Clone, Copy)]
struct Device {
    kind: i64,
    name: i64,
    /// Left out as long as it never did I/O: a kernel makes eight loop devices that no one uses.
    only_used: bool,
}

impl Reader for Disks {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        let Disks { diskstats, devices } = self;
        let (mut understood, mut first_bad) = (0, None);
        devices.start();
        for line in parse::lines(diskstats.read(host)?) {
            let mut words = parse::words(line);
            let (Some(_major), Some(_minor), Some(name)) = (words.next(), words.next(), words.next()) else {
                first_bad.get_or_insert(line);
                continue;
            };
            let mut cells = [NULL; WIDTH];
            if let Some(values) = cells.get_mut(2..) {
                parse::fill(&mut words, values);
            }
            // Eleven values is the least that any kernel writes for a device.
            if cells.get(2..13).is_none_or(|values| values.contains(&NULL)) {
                first_bad.get_or_insert(line);
                continue;
            }
            understood += 1;
            let device = *devices.find(name, || describe(host, out, name));
            let unused = cells.iter().skip(2).all(|&value| value == 0 || value == NULL);
            if device.only_used && unused {
                continue;
            }
            cells[0] = device.kind;
            cells[1] = device.name;
            out.row(0, &cells);
        }
        match first_bad {
            None => Ok(()),
            Some(line) => Err(Unavailable::failed(format!(
                "/proc/diskstats: expected \"major minor name\" and 11 numbers or more, found {:?}; {understood} devices were read",
                String::from_utf8_lossy(line).chars().take(60).collect::<String>()
            ))),
        }
    }
}

/// Finds out what kind of device it is.
fn describe(host: &Host, out: &mut Out<'_>, name: &[u8]) -> Device {
    let text = String::from_utf8_lossy(name);
    // sysfs writes "!" for the "/" of names such as cciss/c0d0.
    let folder = format!("/sys/class/block/{}", text.replace('/', "!"));
    let kind = if text.starts_with("loop") {
        "loop"
    } else if text.starts_with("ram") || text.starts_with("zram") {
        "memory"
    } else if host.exists(&format!("{folder}/partition")) {
        "part"
    } else if host.list(&format!("{folder}/slaves")).is_ok_and(|below| below.iter().any(|b| !b.starts_with('.'))) {
        "stacked"
    } else {
        "disk"
    };
    Device { kind: out.text(kind), name: out.text(&text), only_used: matches!(kind, "loop" | "memory") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{fixture, host_of, play, survives};

    #[test]
    fn a_real_host_in_two_frames() {
        let played = play(&SOURCE, &fixture("vm-2cpu"), 2).unwrap();
        assert_eq!(played[0].rows("disks").len(), 1, "loop and zram devices did nothing");
        assert!(played[0].row("disks", "disk vda ").split(' ').count() == WIDTH);
        assert_ne!(played[0].rows("disks"), played[1].rows("disks"));
    }

    #[test]
    fn kinds_and_old_kernels() {
        let (_dir, host) = host_of(&[
            (
                "/proc/diskstats",
                "   8 0 sda 10 1 80 5 20 2 160 9 0 12 14\n   8 1 sda1 9 1 72 5 20 2 160 9 0 12 14\n\
                 253 0 dm-0 1 0 8 1 0 0 0 0 0 1 1 0 0 0 0\n   7 0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n\
                 7 1 loop1 1 0 8 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n 104 0 cciss/c0d0p1 1 0 8 0 0 0 0 0 0 0 0\n\
                 11 0 sr0 0 0 0 0 0 0 0 0 0 0 0\n",
            ),
            ("/sys/class/block/sda1/partition", "1"),
            ("/sys/class/block/cciss!c0d0p1/partition", "1"),
            ("/sys/class/block/dm-0/slaves/sda", ""),
        ]);
        let played = play(&SOURCE, &host, 1).unwrap();
        assert_eq!(
            played[0].rows("disks"),
            [
                "disk sda 10 1 80 5 20 2 160 9 0 12 14 - - - - - -",
                "part sda1 9 1 72 5 20 2 160 9 0 12 14 - - - - - -",
                "stacked dm-0 1 0 8 1 0 0 0 0 0 1 1 0 0 0 0 - -",
                "loop loop1 1 0 8 0 0 0 0 0 0 0 0 0 0 0 0 0 0",
                "part cciss/c0d0p1 1 0 8 0 0 0 0 0 0 0 0 - - - - - -",
                "disk sr0 0 0 0 0 0 0 0 0 0 0 0 - - - - - -",
            ]
        );
        assert!(played[0].error.is_none());
    }

    #[test]
    fn a_bad_line_is_named_and_the_others_are_kept() {
        let (_dir, host) = host_of(&[("/proc/diskstats", "8 0\n8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n8 1 sdb x\n")]);
        let played = play(&SOURCE, &host, 1).unwrap();
        assert_eq!(played[0].rows("disks").len(), 1);
        let why = played[0].error.as_ref().unwrap().to_string();
        assert!(why.contains("\"8 0\"") && why.contains("1 devices were read"), "{why}");
        for content in ["", "\n", "8 0 sda", "\0 \u{ffff} x 1", "8 0 sda -1 99999999999999999999 1 1 1 1 1 1 1 1 1"] {
            survives(&SOURCE, content);
        }
    }
}

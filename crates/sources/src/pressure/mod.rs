//! Pressure stall information of the whole system: for how long threads waited for CPU, memory, I/O, or lost their CPU to
//! interrupts, from `/proc/pressure/`.

use crate::{Pace, Reader, Scope, Source, parse};
use host::{HeldFile, Host, ReadError};
use model::{Chart, ChartKind, Column, Compare, NULL, Out, Page, Table, Unavailable, Unit, real};

static PRESSURE: Table = Table::wide(
    "pressure",
    "time in which threads stalled because of one resource",
    &[
        Column::label("resource", "cpu, memory, io, or irq (CPU time lost to interrupts and the hypervisor)"),
        Column::counter("some_total", Unit::Microseconds, "time in which at least one thread stalled")
            .worse()
            .floor(0.02),
        Column::counter("full_total", Unit::Microseconds, "time in which all non-idle threads stalled")
            .worse()
            .floor(0.02),
        Column::real(
            "some_avg10",
            Unit::Percent,
            "share of the time with at least one thread stalled, decaying mean of 10 s",
        )
        .worse()
        .compared(Compare::Never)
        .folded(model::Fold::Max),
        Column::real("full_avg10", Unit::Percent, "share of the time with every thread stalled, decaying mean of 10 s")
            .worse()
            .compared(Compare::Never)
            .folded(model::Fold::Max),
    ],
)
.grouped(&[&["resource"]]);

static CHARTS: &[Chart] = &[
    Chart::new(
        "pressure-cpu",
        Page::Scheduler,
        ChartKind::Line,
        "CPU pressure",
        "Share of the time in which at least one thread wanted a CPU and had none. Near 1 there was always a queue, however long.",
        "pressure",
        &["some_total"],
    )
    .by(&["resource"], 0)
    .only("resource", &["cpu"])
    .up_to(1.0),
    Chart::new(
        "pressure-memory",
        Page::Memory,
        ChartKind::Line,
        "Memory pressure",
        "Share of the time in which at least one thread (some) or all (full) waited for memory: reclaim, swap, refaults. More than nothing is worth a look.",
        "pressure",
        &["some_total", "full_total"],
    )
    .by(&["resource"], 0)
    .only("resource", &["memory"])
    .up_to(1.0),
    Chart::new(
        "pressure-io",
        Page::Disks,
        ChartKind::Line,
        "I/O pressure",
        "Share of the time in which at least one thread (some) or all (full) waited for block I/O.",
        "pressure",
        &["some_total", "full_total"],
    )
    .by(&["resource"], 0)
    .only("resource", &["io"])
    .up_to(1.0),
];

/// Pressure stall information.
pub static SOURCE: Source = Source {
    name: "pressure",
    title: "pressure stall information (PSI)",
    documented: "Documentation/accounting/psi.rst",
    reads: &["/proc/pressure/cpu", "/proc/pressure/memory", "/proc/pressure/io", "/proc/pressure/irq"],
    needs: "",
    pace: Pace::Tick,
    tables: &[&PRESSURE],
    charts: CHARTS,
    open,
};

const RESOURCES: [&str; 4] = ["cpu", "memory", "io", "irq"];
const REMEDY: &str = "boot with psi=1 on a kernel (4.20 or later) built with CONFIG_PSI=y";

fn open(host: &Host, _scope: &Scope) -> Result<Box<dyn Reader>, Unavailable> {
    let mut resources: Vec<Resource> = Vec::new();
    let mut missing = Vec::new();
    for name in RESOURCES {
        let path = format!("/proc/pressure/{name}");
        // Where PSI is compiled in and switched off, some kernels have the files and refuse to read them.
        match host.open(&path).and_then(|mut file| file.read_record(host).map(drop).map(|()| file)) {
            Ok(file) => resources.push(Resource { name, file, cell: NULL }),
            Err(error) => missing.push((path, error)),
        }
    }
    if resources.is_empty() {
        return Err(match missing.into_iter().next() {
            Some((_, error)) if error.is_absent() => off(host, &error),
            Some((_, error)) => error.into(),
            None => Unavailable::absent("/proc/pressure: empty"),
        });
    }
    Ok(Box::new(Pressure { resources, missing }))
}

/// Why there is no PSI at all.
fn off(host: &Host, error: &ReadError) -> Unavailable {
    let command_line = host.read("/proc/cmdline").unwrap_or_default();
    let switched_off =
        parse::words(&command_line).any(|word| matches!(word.trim_ascii(), b"psi=0" | b"psi=n" | b"psi=off"));
    let why = if switched_off {
        format!("{error}; it was switched off by psi=0 on the kernel's command line")
    } else {
        format!("{error}; the kernel was built without CONFIG_PSI, or leaves it off by default")
    };
    Unavailable::absent(why).remedy(REMEDY)
}

struct Resource {
    name: &'static str,
    file: HeldFile,
    cell: i64,
}

struct Pressure {
    resources: Vec<Resource>,
    /// What is still to be told about files that cannot be read.
    missing: Vec<(String, ReadError)>,
}

impl Reader for Pressure {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        for (path, error) in self.missing.drain(..) {
            let why = if path.ends_with("/irq") && error.is_absent() {
                Unavailable::absent(error.to_string())
                    .remedy("a kernel of version 6.1 or later built with CONFIG_IRQ_TIME_ACCOUNTING=y")
            } else {
                error.into()
            };
            out.missing(&path, why);
        }
        for resource in &mut self.resources {
            if resource.cell == NULL {
                resource.cell = out.text(resource.name);
            }
            let mut cells = [resource.cell, NULL, NULL, NULL, NULL];
            for line in parse::lines(resource.file.read_record(host)?) {
                let mut words = parse::words(line);
                let first = match words.next() {
                    Some(b"some") => 1,
                    Some(b"full") => 2,
                    _ => continue,
                };
                for word in words {
                    if let Some(total) = word.strip_prefix(b"total=") {
                        cells[first] = parse::number(total);
                    } else if let Some(mean) = word.strip_prefix(b"avg10=") {
                        let hundredths = parse::fixed(mean, 2);
                        cells[first + 2] = if hundredths == NULL { NULL } else { real(hundredths as f64 / 100.0) };
                    }
                }
            }
            if cells[1] == NULL && cells[2] == NULL {
                return Err(Unavailable::failed(format!(
                    "{}: no line of the form \"some avg10=… total=…\"",
                    resource.file.path()
                )));
            }
            out.row(0, &cells);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{fixture, host_of, play, survives};
    use model::Status;

    #[test]
    fn a_host_without_interrupt_pressure() {
        let played = play(&SOURCE, &fixture("vm-2cpu"), 2).unwrap();
        let names: Vec<&str> = played[1].rows("pressure").iter().filter_map(|r| r.split(' ').next()).collect();
        assert_eq!(names, ["cpu", "memory", "io"]);
        assert_eq!(played[0].coverage[0].item, "/proc/pressure/irq");
        assert!(played[1].coverage.is_empty());
    }

    #[test]
    fn fields_that_are_not_there_are_nothing() {
        let (_dir, host) = host_of(&[
            ("/proc/pressure/cpu", "some avg10=1.25 avg60=0.00 avg300=0.00 total=77\n"),
            ("/proc/pressure/irq", "full avg10=0.50 avg60=0.00 avg300=0.00 total=9\n"),
        ]);
        assert_eq!(play(&SOURCE, &host, 1).unwrap()[0].rows("pressure"), ["cpu 77 - 1.25 -", "irq - 9 - 0.5"]);
    }

    #[test]
    fn absence_says_what_would_change_it() {
        let (_dir, host) = host_of(&[("/proc/cmdline", "ro psi=0\n")]);
        let why = play(&SOURCE, &host, 1).err().unwrap();
        assert_eq!(why.status, Status::Absent);
        assert!(why.why.contains("switched off by psi=0"), "{why}");
        assert!(why.remedy.is_some());
    }

    #[test]
    fn hostile_content() {
        for content in
            ["", "some", "some total=", "full avg10=x total=1\n", "some total=1 total=2 avg10=9999999999999999999"]
        {
            survives(&SOURCE, content);
        }
    }
}

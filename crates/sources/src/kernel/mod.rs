//! What the scheduler does in all: context switches, forks, runnable and blocked threads, load, from the last lines of
//! `/proc/stat` and from `/proc/loadavg`.

use crate::{Pace, Reader, Scope, Source, parse};
use host::{HeldFile, Host, ReadError};
use model::{Chart, ChartKind, Column, Compare, NULL, Out, Page, Table, Unavailable, Unit, real};

/// One row. The columns that follow the sixth come from `/proc/loadavg`.
static KERNEL: Table = Table::wide(
    "kernel",
    "activity of the whole kernel, since boot or now",
    &[
        Column::counter("ctxt", Unit::None, "context switches"),
        Column::counter("processes", Unit::None, "threads and processes created (forks and clones)"),
        Column::counter("intr", Unit::None, "interrupts served, those that no line is counted for included"),
        Column::counter("softirq", Unit::None, "softirqs run"),
        Column::gauge("procs_running", Unit::None, "running and runnable threads at the moment of the read").floor(0.5),
        Column::gauge("procs_blocked", Unit::None, "threads that wait for disk I/O at the moment of the read")
            .worse()
            .floor(0.5),
        Column::real("load1", Unit::None, "running, runnable and uninterruptible threads, decaying mean of 1 minute")
            .compared(Compare::Never),
        Column::real("load5", Unit::None, "the same over 5 minutes").compared(Compare::Never),
        Column::real("load15", Unit::None, "the same over 15 minutes").compared(Compare::Never),
        Column::gauge("threads", Unit::None, "threads, kernel threads included").floor(5.0),
    ],
);

static CHARTS: &[Chart] = &[
    Chart::new(
        "kernel-switches",
        Page::Scheduler,
        ChartKind::Line,
        "Context switches",
        "How often CPUs went from one thread to another. Many more for the same work mean that threads wait for each other, or that queues are too short.",
        "kernel",
        &["ctxt"],
    ),
    Chart::new(
        "kernel-runnable",
        Page::Scheduler,
        ChartKind::Line,
        "Runnable and blocked threads",
        "Snapshots at each read. More runnable threads than CPUs means that threads queue; blocked threads wait for disk I/O.",
        "kernel",
        &["procs_running", "procs_blocked"],
    ),
    Chart::new(
        "kernel-forks",
        Page::Scheduler,
        ChartKind::Line,
        "Threads and processes created",
        "Each costs tens of microseconds or more. A steady high rate is work for a pool, or a shell script in a loop.",
        "kernel",
        &["processes"],
    ),
];

/// Kernel activity.
pub static SOURCE: Source = Source {
    name: "kernel",
    title: "context switches, forks, run queue and load",
    documented: "proc_stat(5), proc_loadavg(5)",
    reads: &["/proc/stat", "/proc/loadavg"],
    needs: "",
    pace: Pace::Tick,
    tables: &[&KERNEL],
    charts: CHARTS,
    open: |host, _scope: &Scope| {
        Ok(Box::new(Kernel { stat: host.open("/proc/stat")?, load: host.open("/proc/loadavg"), told: false }))
    },
};

struct Kernel {
    stat: HeldFile,
    load: Result<HeldFile, ReadError>,
    /// Whether a missing `/proc/loadavg` was told.
    told: bool,
}

impl Reader for Kernel {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        let mut cells = [NULL; 10];
        for line in parse::lines(self.stat.read(host)?) {
            let mut words = parse::words(line);
            let at = match words.next() {
                Some(b"ctxt") => 0,
                Some(b"processes") => 1,
                Some(b"intr") => 2,
                Some(b"softirq") => 3,
                Some(b"procs_running") => 4,
                Some(b"procs_blocked") => 5,
                _ => continue,
            };
            if let Some(cell) = cells.get_mut(at) {
                *cell = words.number();
            }
        }
        if cells[0] == NULL {
            return Err(Unavailable::failed("/proc/stat: no line \"ctxt NUMBER\""));
        }
        match self.load.as_mut().map(|load| load.read_record(host)) {
            Ok(Ok(text)) => {
                let mut words = parse::words(text);
                for cell in &mut cells[6..9] {
                    *cell = match parse::fixed(words.next().unwrap_or_default(), 2) {
                        NULL => NULL,
                        hundredths => real(hundredths as f64 / 100.0),
                    };
                }
                // "1/92": runnable and all threads.
                let threads = words.next().and_then(|word| word.split(|&b| b == b'/').nth(1));
                cells[9] = threads.map_or(NULL, parse::number);
            }
            Ok(Err(error)) => self.load = Err(error),
            Err(_) => {}
        }
        if let Err(error) = &self.load
            && !self.told
        {
            self.told = true;
            out.missing("/proc/loadavg", Unavailable::failed(error.to_string()));
        }
        out.row(0, &cells);
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
        let cells = |frame: usize| -> Vec<f64> {
            played[frame].rows("kernel")[0].split(' ').map(|cell| cell.parse().unwrap()).collect()
        };
        assert!(cells(1).iter().zip(cells(0)).take(4).all(|(after, before)| *after > before));
        assert!(cells(0)[4] >= 1.0, "at least the reader ran");
    }

    #[test]
    fn fields_in_any_order_and_no_load() {
        let stat = "cpu  1 2 3 4\nintr 50 1 2\nprocesses 7\nctxt 9\nprocs_blocked 2\n";
        let (_dir, host) = host_of(&[("/proc/stat", stat)]);
        let played = play(&SOURCE, &host, 2).unwrap();
        assert_eq!(played[0].rows("kernel"), ["9 7 50 - - 2 - - - -"]);
        assert_eq!(played[0].coverage.len(), 1);
        assert!(played[1].coverage.is_empty(), "told once");
        let (_dir, host) = host_of(&[("/proc/stat", stat), ("/proc/loadavg", "0.50 1.25 10.00 3/120 999\n")]);
        assert_eq!(play(&SOURCE, &host, 1).unwrap()[0].rows("kernel"), ["9 7 50 - - 2 0.5 1.25 10 120"]);
    }

    #[test]
    fn hostile_content() {
        for content in ["", "ctxt", "ctxt x", "intr\n", "1/", "a b c /", "ctxt 1\nctxt\n"] {
            survives(&SOURCE, content);
        }
    }
}

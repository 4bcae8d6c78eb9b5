//! What the scheduler did on each CPU, from `/proc/schedstat`: time that threads ran and time that they waited in the run queue.

use crate::{Pace, Reader, Scope, Source, parse};
use host::{HeldFile, Host};
use model::{Chart, ChartKind, Column, Compare, Den, Derived, NULL, Out, Page, Polarity, Table, Unavailable, Unit};

/// Columns in the order of the file, but for its second number, which has been 0 since Linux 2.6.23.
static SCHEDSTAT: Table = Table::wide(
    "schedstat",
    "scheduling on each CPU, since boot",
    &[
        Column::number("cpu", "CPU number"),
        Column::counter("yld_count", Unit::None, "calls of sched_yield").worse(),
        Column::counter("sched_count", Unit::None, "calls of schedule"),
        Column::counter("sched_goidle", Unit::None, "calls of schedule that left the CPU idle"),
        Column::counter("ttwu_count", Unit::None, "wake-ups of threads"),
        Column::counter("ttwu_local", Unit::None, "wake-ups of threads on the CPU that woke them"),
        Column::counter("rq_cpu_time", Unit::Nanoseconds, "time that threads ran").floor(0.02),
        Column::counter("run_delay", Unit::Nanoseconds, "run-queue wait of threads").worse().floor(0.02),
        Column::counter("pcount", Unit::None, "timeslices that were run"),
    ],
)
.derived(&[Derived {
    name: "delay_per_slice",
    unit: "s",
    help: "mean run-queue wait before each timeslice",
    num: &[("run_delay", 1.0)],
    den: Den::Columns(&[("pcount", 1.0)]),
    polarity: Polarity::Worse,
    compare: Compare::Ratio,
    floor: 20e-6,
}]);

static CHARTS: &[Chart] = &[
    Chart::new(
        "schedstat-delay",
        Page::Scheduler,
        ChartKind::Line,
        "Threads waiting for a CPU",
        "Mean number of threads that could run and waited: seconds of waiting in each second. Above the number of CPUs, threads wait longer than they run.",
        "schedstat",
        &["run_delay"],
    ),
    Chart::new(
        "schedstat-delay-heat",
        Page::Scheduler,
        ChartKind::Heat,
        "Threads waiting for each CPU",
        "One row per CPU, darker is a longer queue. Dark rows beside light ones mean that threads are pinned, or that balancing does not keep up.",
        "schedstat",
        &["run_delay"],
    )
    .by(&["cpu"], 0),
    Chart::new(
        "schedstat-slice",
        Page::Scheduler,
        ChartKind::Line,
        "Wait before each timeslice",
        "How long a thread waited for a CPU each time before it ran. This is the delay that a request sees on a busy host.",
        "schedstat",
        &["delay_per_slice"],
    ),
];

/// Scheduler statistics.
pub static SOURCE: Source = Source {
    name: "schedstat",
    title: "run time and run-queue wait by CPU",
    documented: "Documentation/scheduler/sched-stats.rst; kernel/sched/stats.c show_schedstat",
    reads: &["/proc/schedstat", "/proc/sys/kernel/sched_schedstats"],
    needs: "",
    pace: Pace::Tick,
    tables: &[&SCHEDSTAT],
    charts: CHARTS,
    open,
};

/// The versions of the file that have these columns: 14 is of Linux 2.6.20, 17 of 6.15. They differ in lines of domains only.
const VERSIONS: std::ops::RangeInclusive<i64> = 14..=17;

fn open(host: &Host, _scope: &Scope) -> Result<Box<dyn Reader>, Unavailable> {
    let mut file = host.open("/proc/schedstat").map_err(|error| {
        let absent = error.is_absent();
        let why = Unavailable::from(error);
        if absent { why.remedy("a kernel built with CONFIG_SCHEDSTATS=y") } else { why }
    })?;
    let first = parse::lines(file.read(host)?).next().unwrap_or_default();
    let version = first.strip_prefix(b"version ").map_or(NULL, |version| parse::number(version.trim_ascii()));
    if !VERSIONS.contains(&version) {
        return Err(Unavailable::failed(format!(
            "/proc/schedstat: expected \"version\" {} to {} in the first line, found {:?}",
            VERSIONS.start(),
            VERSIONS.end(),
            String::from_utf8_lossy(first.get(..40).unwrap_or(first)),
        )));
    }
    // Kernels before 4.6 have no switch and always count.
    let switch = host.open("/proc/sys/kernel/sched_schedstats").ok();
    Ok(Box::new(Schedstat { file, switch, told: false }))
}

struct Schedstat {
    file: HeldFile,
    switch: Option<HeldFile>,
    /// Whether it was told that events are not counted.
    told: bool,
}

impl Reader for Schedstat {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        // Times are always kept (CONFIG_SCHED_INFO); events only while the switch is on, else they stand still.
        let counted = match &mut self.switch {
            Some(switch) => switch.read_record(host)?.first() != Some(&b'0'),
            None => true,
        };
        if !counted && !self.told {
            self.told = true;
            let why = "kernel.sched_schedstats is 0: yields, schedules and wake-ups are not counted";
            let remedy = "sysctl kernel.sched_schedstats=1 (slows each switch and wake-up a little)";
            out.missing("schedstat.sched_count", Unavailable::not_applicable(why).remedy(remedy));
        }
        let mut found = false;
        for line in parse::lines(self.file.read(host)?) {
            let Some(rest) = line.strip_prefix(b"cpu") else { continue };
            let mut words = parse::words(rest);
            let mut cells = [NULL; 9];
            cells[0] = words.number();
            cells[1] = words.number();
            words.next();
            parse::fill(&mut words, &mut cells[2..]);
            if cells[0] == NULL || cells[8] == NULL {
                continue;
            }
            if !counted {
                cells[1..6].fill(NULL);
            }
            out.row(0, &cells);
            found = true;
        }
        if found {
            Ok(())
        } else {
            Err(Unavailable::failed("/proc/schedstat: no line of the form \"cpuN\" with 9 numbers"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{fixture, host_of, play, survives};
    use model::Status;

    #[test]
    fn domains_are_skipped() {
        let played = play(&SOURCE, &fixture("samples-metal"), 2).unwrap();
        assert_eq!(
            played[0].rows("schedstat"),
            [
                "0 12 903441 331087 402113 290822 981234567890 45678901234 571902",
                "1 3 806512 297001 377342 261190 923456789012 38123456789 509134",
            ]
        );
        assert_eq!(
            played[1].row("schedstat", "0 "),
            "0 12 904450 331500 402600 291100 982234567890 45778901234 572502"
        );
    }

    #[test]
    fn events_are_nothing_while_they_are_not_counted() {
        let (_dir, host) = host_of(&[
            ("/proc/schedstat", "version 15\ntimestamp 4295\ncpu0 0 0 0 0 0 0 70 8 9\ndomain0 3 1 2\ncpu1 1 2 3\n"),
            ("/proc/sys/kernel/sched_schedstats", "0\n"),
        ]);
        let played = play(&SOURCE, &host, 2).unwrap();
        assert_eq!(played[0].rows("schedstat"), ["0 - - - - - 70 8 9"]);
        assert_eq!(played[0].coverage.len(), 1);
        assert!(played[1].coverage.is_empty());
    }

    #[test]
    fn what_is_not_there_or_not_known() {
        let why = play(&SOURCE, &fixture("vm-2cpu"), 1).err().unwrap();
        assert_eq!(why.status, Status::Absent);
        assert!(why.remedy.unwrap().contains("CONFIG_SCHEDSTATS"));
        let (_dir, host) = host_of(&[("/proc/schedstat", "version 99\ncpu0 1 2 3 4 5 6 7 8 9\n")]);
        assert!(play(&SOURCE, &host, 1).err().unwrap().why.contains("version 99"));
    }

    #[test]
    fn hostile_content() {
        for content in ["", "version", "version 15", "version 15\ncpu", "version 15\ncpu0 1 2 3 4 5 6 7 8 x\n"] {
            survives(&SOURCE, content);
        }
    }
}

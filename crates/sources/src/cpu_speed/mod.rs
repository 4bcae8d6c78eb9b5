//! How fast each CPU is, by two loops of some microseconds on it ([`host::speed`]): its frequency where no driver tells of it, and how much of its
//! core it has to itself, of which nothing else tells in a virtual machine.
//!
//! A thread of its own goes from CPU to CPU, so that a CPU on which others run does not hold up what else is read.

use crate::{Pace, Reader, Scope, Source, parse};
use host::cpus::{CpuSet, sched_getaffinity, sched_setaffinity};
use host::{Host, speed};
use model::{Chart, ChartKind, Column, Compare, Fold, Out, Page, Table, Unavailable, Unit, real};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

static SPEED: Table = Table::wide(
    "cpu_speed",
    "speed of one CPU at a moment, measured by two short loops on it",
    &[
        Column::number("cpu", "CPU number"),
        Column::real("frequency", Unit::Hertz, "cycles a second, by a chain of additions that take one each")
            .better()
            .compared(Compare::Difference)
            .folded(Fold::Mean)
            // Clocks of virtual machines drift by some per cent for reasons of the host's.
            .floor(150e6),
        // A neighbour on the host's sibling thread comes and goes: that is no difference of the runs by itself. Causes judge it.
        Column::real(
            "width",
            Unit::None,
            "additions a cycle that do not wait for each other: less where another thread of the core takes part of its units",
        )
        .better()
        .compared(Compare::Never)
        .folded(Fold::Mean),
        Column::real("gap", Unit::Seconds, "time that others took while the loops ran: threads, interrupts, the hypervisor")
            .worse()
            .compared(Compare::Never)
            .folded(Fold::Mean),
    ],
);

static CHARTS: &[Chart] = &[
    Chart::new(
        "cpu-speed-frequency",
        Page::Cpu,
        ChartKind::Line,
        "Measured frequency",
        "Mean over CPUs, by a chain of additions that take a cycle each, measured at each read. An idle CPU may be measured before it has sped up.",
        "cpu_speed",
        &["frequency"],
    ),
    Chart::new(
        "cpu-speed-width",
        Page::Cpu,
        ChartKind::Heat,
        "Additions a cycle of each CPU",
        "One row per CPU, darker is wider. A row that turns pale shares its core with another thread at that time, in a virtual machine with one of a neighbour's too.",
        "cpu_speed",
        &["width"],
    )
    .by(&["cpu"], 0),
];

/// The speed of the CPUs.
pub static SOURCE: Source = Source {
    name: "cpu_speed",
    title: "speed of the CPUs, by two loops of some microseconds",
    documented: "Fog, \"Instruction tables\" (latency and throughput of ADD)",
    reads: &["/sys/devices/system/cpu/nohz_full"],
    needs: "",
    // 30 to 130 µs of each CPU.
    pace: Pace::AtLeast(1),
    tables: &[&SPEED],
    charts: CHARTS,
    open,
};

/// Of more CPUs than these each is measured every [`SELDOM`] seconds.
const MANY: usize = 32;
const SELDOM: u64 = 5;

/// A read waits so long for the thread; what takes longer comes with the read after.
const PATIENCE: Duration = Duration::from_micros(500);

fn open(host: &Host, _scope: &Scope) -> Result<Box<dyn Reader>, Unavailable> {
    if host.is_fixture() {
        return Err(Unavailable::not_applicable("a recorded host: nothing can be measured on it"));
    }
    if !host::additions::additions(1) {
        return Err(Unavailable::not_applicable(
            "how many cycles an addition takes is known for x86-64 and aarch64 only",
        ));
    }
    // CPUs that are kept free of ticks are kept free of this too; isolated ones are not among those that this program may use.
    let quiet = host.read("/sys/devices/system/cpu/nohz_full").unwrap_or_default();
    let cpus = measured(&own_cpus(), &parse::list(quiet.trim_ascii()));
    if cpus.is_empty() {
        return Err(Unavailable::not_applicable("all CPUs that may be used are kept free of ticks (nohz_full)"));
    }
    let at_least = if cpus.len() > MANY { SELDOM } else { 0 };
    let (ask, asked) = sync_channel(1);
    let (tell, told) = sync_channel(1);
    std::thread::Builder::new()
        .name("cpu-speed".into())
        .spawn(move || tours(&cpus, &asked, &tell))
        .map_err(|error| Unavailable::failed(format!("a thread: {error}")))?;
    Ok(Box::new(Speeds { ask, told, at_least }))
}

/// The CPUs that this program may run on.
fn own_cpus() -> Vec<i64> {
    let set = sched_getaffinity(None).unwrap_or_default();
    (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).filter_map(|cpu| i64::try_from(cpu).ok()).collect()
}

/// Those that are measured.
fn measured(own: &[i64], quiet: &[i64]) -> Vec<i64> {
    own.iter().copied().filter(|cpu| !quiet.contains(cpu)).collect()
}

type Row = [i64; 4];

/// Goes to each CPU whenever it is asked, until nobody asks any more.
fn tours(cpus: &[i64], asked: &Receiver<()>, tell: &SyncSender<Vec<Row>>) {
    while asked.recv().is_ok() {
        let rows = cpus.iter().filter_map(|&cpu| measure(cpu)).collect();
        match tell.try_send(rows) {
            // The one before is not fetched yet: it is fresh enough.
            Ok(()) | Err(TrySendError::Full(_)) => {}
            Err(TrySendError::Disconnected(_)) => return,
        }
    }
}

/// The row of a CPU; none of one that cannot be used now.
fn measure(cpu: i64) -> Option<Row> {
    let number = usize::try_from(cpu).ok().filter(|number| *number < CpuSet::MAX_CPU)?;
    let mut set = CpuSet::new();
    set.set(number);
    sched_setaffinity(None, &set).ok()?;
    let found = speed::speed()?;
    Some([cpu, real(found.frequency), real(found.width), real(found.gap)])
}

struct Speeds {
    ask: SyncSender<()>,
    told: Receiver<Vec<Row>>,
    at_least: u64,
}

impl Reader for Speeds {
    fn read(&mut self, _host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        // What was measured after the read before came too late for it, and is too old now.
        let late = self.told.try_recv().ok();
        if let Err(TrySendError::Disconnected(())) = self.ask.try_send(()) {
            return Err(Unavailable::failed("the thread that measures has ended"));
        }
        for row in self.told.recv_timeout(PATIENCE).ok().or(late).unwrap_or_default() {
            out.row(0, &row);
        }
        Ok(())
    }

    fn at_least(&self) -> u64 {
        self.at_least
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{host_of, play};
    use model::Status;

    #[test]
    fn each_cpu_has_a_speed() {
        let played = match play(&SOURCE, &Host::live(), 20) {
            Ok(played) => played,
            Err(why) => return assert_eq!(why.status, Status::NotApplicable),
        };
        let rows: Vec<&String> = played.iter().flat_map(|frame| frame.rows("cpu_speed")).collect();
        let cpus = own_cpus();
        assert!(rows.len() >= cpus.len(), "{rows:?}");
        for row in rows {
            let cells: Vec<f64> = row.split(' ').map(|cell| cell.parse().unwrap()).collect();
            assert!(cpus.contains(&(cells[0] as i64)), "{row}");
            assert!((1e8..2e10).contains(&cells[1]) && (0.05..16.0).contains(&cells[2]) && cells[3] >= 0.0, "{row}");
        }
        // It did not move the thread that reads.
        assert_eq!(own_cpus(), cpus);
    }

    #[test]
    fn a_recorded_host_and_quiet_cpus_are_left_alone() {
        let (_dir, host) = host_of(&[]);
        assert_eq!(play(&SOURCE, &host, 1).err().unwrap().status, Status::NotApplicable);
        assert_eq!(measured(&[0, 1, 2, 3], &parse::list(b"2-3")), [0, 1]);
        assert_eq!(measured(&[0], &parse::list(b"(null)")), [0]);
    }
}

//! Time of each CPU by what it did, from the `cpuN` lines of `/proc/stat`.

use crate::{Pace, Reader, Scope, Source, parse};
use host::{HeldFile, Host};
use model::{Chart, ChartKind, Column, Compare, Den, Derived, NULL, Out, Page, Polarity, Table, Unavailable, Unit};

const fn time(name: &'static str, help: &'static str) -> Column {
    Column::counter(name, Unit::ClockTicks, help).floor(0.02)
}

/// One row per CPU. The kernel counts guest time in `user` too, and `guest_nice` in `nice` (kernel/sched/cputime.c).
static CPU: Table = Table::wide(
    "cpu",
    "time of each online CPU by state, since boot",
    &[
        Column::number("cpu", "CPU number"),
        time("user", "in user mode, guests included"),
        time("nice", "in user mode at lowered priority, guests included"),
        time("system", "in the kernel on behalf of threads"),
        time("idle", "idle, with no disk I/O outstanding on this CPU").better(),
        time("iowait", "idle while a thread that last ran here waits for disk I/O; a hint, not a measure").worse(),
        time("irq", "in interrupt handlers").worse(),
        time("softirq", "in softirqs").worse(),
        time("steal", "runnable, but the hypervisor ran something else").worse(),
        time("guest", "running a virtual CPU of a guest"),
        time("guest_nice", "running a virtual CPU of a guest at lowered priority"),
    ],
)
.derived(&[
    Derived {
        name: "busy",
        unit: "s/s",
        help: "CPUs in use: every state but idle and iowait",
        num: &[("user", 1.0), ("nice", 1.0), ("system", 1.0), ("irq", 1.0), ("softirq", 1.0), ("steal", 1.0)],
        den: Den::Time,
        polarity: Polarity::Neutral,
        compare: Compare::Ratio,
        floor: 0.02,
    },
    Derived {
        name: "busy_share",
        unit: "ratio",
        help: "share of the time in which the CPU was in use",
        num: &[("user", 1.0), ("nice", 1.0), ("system", 1.0), ("irq", 1.0), ("softirq", 1.0), ("steal", 1.0)],
        den: Den::Columns(&[
            ("user", 1.0),
            ("nice", 1.0),
            ("system", 1.0),
            ("idle", 1.0),
            ("iowait", 1.0),
            ("irq", 1.0),
            ("softirq", 1.0),
            ("steal", 1.0),
        ]),
        polarity: Polarity::Neutral,
        compare: Compare::Never,
        floor: 0.02,
    },
]);

static CHARTS: &[Chart] = &[
    Chart::new(
        "cpu-states",
        Page::Cpu,
        ChartKind::Stack,
        "CPU time by state",
        "The height is the number of CPUs in use. System time that grows beside the same user time is kernel work: look at system calls, faults, interrupts.",
        "cpu",
        &["user", "nice", "system", "irq", "softirq", "steal"],
    ),
    Chart::new(
        "cpu-heat",
        Page::Cpu,
        ChartKind::Heat,
        "Use of each CPU",
        "One row per CPU, darker is busier. A single dark row is a serial phase; regular gaps on all rows are threads waiting for each other.",
        "cpu",
        &["busy_share"],
    )
    .by(&["cpu"], 0)
    .up_to(1.0),
];

/// CPU times.
pub static SOURCE: Source = Source {
    name: "cpu",
    title: "CPU time by state",
    documented: "proc_stat(5)",
    reads: &["/proc/stat"],
    needs: "",
    pace: Pace::Tick,
    tables: &[&CPU],
    charts: CHARTS,
    open: |host, _scope: &Scope| Ok(Box::new(Cpu { stat: host.open("/proc/stat")? })),
};

struct Cpu {
    stat: HeldFile,
}

impl Reader for Cpu {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        let mut found = false;
        for line in parse::lines(self.stat.read(host)?) {
            let Some(rest) = line.strip_prefix(b"cpu") else { break };
            let mut words = parse::words(rest);
            // The first line, "cpu ", is the sum of the others and of CPUs that are offline now.
            if rest.first() == Some(&b' ') {
                continue;
            }
            let mut cells = [NULL; 11];
            parse::fill(&mut words, &mut cells);
            if cells[0] != NULL && cells[4] != NULL {
                out.row(0, &cells);
                found = true;
            }
        }
        if found {
            Ok(())
        } else {
            Err(Unavailable::failed("/proc/stat: no line of the form \"cpuN user nice system idle …\""))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{host_of, play, survives};

    #[test]
    fn reads_each_cpu_and_leaves_out_the_sum() {
        let (_dir, host) = host_of(&[(
            "/proc/stat",
            "cpu  10 0 5 100 1 0 0 0 0 0\ncpu0 6 0 3 50 1 0 0 2 0 0\ncpu3 4 0 2 50 0 0 0 0\nintr 5 1 2\nctxt 9\n",
        )]);
        let played = play(&SOURCE, &host, 1).unwrap();
        assert_eq!(played[0].rows("cpu"), ["0 6 0 3 50 1 0 0 2 0 0", "3 4 0 2 50 0 0 0 0 - -"]);
    }

    #[test]
    fn hostile_content_is_an_error_not_a_panic() {
        for content in ["", "cpu", "cpu0", "cpuX 1 2 3 4 5", "cpu0 1 2 3\n", "\0\u{ffff}"] {
            survives(&SOURCE, content);
            let (_dir, host) = host_of(&[("/proc/stat", content)]);
            assert!(play(&SOURCE, &host, 1).unwrap()[0].error.is_some(), "{content:?}");
        }
    }
}

//! Idle states of each CPU: how often and how long, from `/sys/devices/system/cpu/cpuN/cpuidle/`.

use crate::attributes::{Attributes, Online};
use crate::{Pace, Reader, Scope, Source};
use host::{Host, ReadError};
use model::{Chart, ChartKind, Column, Compare, Den, Derived, NULL, Out, Page, Polarity, Table, Unavailable, Unit};

static CPUIDLE: Table = Table::wide(
    "cpuidle",
    "one idle state of one CPU, since boot",
    &[
        Column::number("cpu", "CPU number"),
        Column::number("state", "number of the state; deeper states have greater numbers"),
        Column::label("name", "name of the state"),
        Column::counter("time", Unit::Microseconds, "time spent in the state").floor(0.05),
        Column::counter("usage", Unit::None, "times the state was entered"),
        Column::counter("above", Unit::None, "times it was left so soon that a shallower state would have been better")
            .worse(),
        Column::counter("below", Unit::None, "times it was left so late that a deeper state would have been better"),
        Column::counter("rejected", Unit::None, "times entering the state failed").worse(),
    ],
)
.derived(&[Derived {
    name: "stay",
    unit: "s",
    help: "mean stay in the state",
    num: &[("time", 1.0)],
    den: Den::Columns(&[("usage", 1.0)]),
    polarity: Polarity::Neutral,
    compare: Compare::Never,
    floor: 0.0,
}])
.grouped(&[&["name"]]);

static CHARTS: &[Chart] = &[Chart::new(
    "cpuidle-time",
    Page::Cpu,
    ChartKind::Stack,
    "CPUs in each idle state",
    "The height is the number of idle CPUs. Deep states save power and take longer to leave, up to hundreds of microseconds before a woken thread runs.",
    "cpuidle",
    &["time"],
)
.by(&["state", "name"], 0)];

/// Idle states.
pub static SOURCE: Source = Source {
    name: "cpuidle",
    title: "idle states of each CPU",
    documented: "Documentation/admin-guide/pm/cpuidle.rst; Documentation/ABI/testing/sysfs-devices-system-cpu",
    reads: &[
        "/sys/devices/system/cpu/online",
        "/sys/devices/system/cpu/cpu*/cpuidle/state*/name",
        "/sys/devices/system/cpu/cpu*/cpuidle/state*/time",
        "/sys/devices/system/cpu/cpu*/cpuidle/state*/usage",
        "/sys/devices/system/cpu/cpu*/cpuidle/state*/above",
        "/sys/devices/system/cpu/cpu*/cpuidle/state*/below",
        "/sys/devices/system/cpu/cpu*/cpuidle/state*/rejected",
    ],
    needs: "",
    // Five files a state: thousands on a large machine, where they cannot be held open.
    pace: Pace::AtLeast(5),
    tables: &[&CPUIDLE],
    charts: CHARTS,
    open,
};

const NAMES: [&str; 5] = ["time", "usage", "above", "below", "rejected"];

fn open(host: &Host, _scope: &Scope) -> Result<Box<dyn Reader>, Unavailable> {
    let mut idle = Cpuidle {
        online: Online::open(host, "/sys/devices/system/cpu/online")?,
        states: Vec::new(),
        at_least: 0,
        buffer: Vec::new(),
    };
    idle.find(host)?;
    if idle.states.is_empty() {
        return Err(Unavailable::absent(
            "/sys/devices/system/cpu/cpu*/cpuidle: no idle states; the hypervisor or a kernel option (idle=, CONFIG_CPU_IDLE) leaves them out",
        ));
    }
    Ok(Box::new(idle))
}

struct State {
    cpu: i64,
    number: i64,
    name: String,
    cell: i64,
    files: Attributes,
}

struct Cpuidle {
    online: Online,
    states: Vec<State>,
    at_least: u64,
    buffer: Vec<u8>,
}

impl Cpuidle {
    /// Looks for the states of all CPUs, if others are online than before.
    fn find(&mut self, host: &Host) -> Result<(), ReadError> {
        let Some(cpus) = self.online.changed(host)? else { return Ok(()) };
        self.states.clear();
        for cpu in cpus {
            let folder = format!("/sys/devices/system/cpu/cpu{cpu}/cpuidle");
            for entry in host.list(&folder).unwrap_or_default() {
                let Some(number) = entry.strip_prefix("state").and_then(|n| n.parse().ok()) else { continue };
                let folder = format!("{folder}/{entry}");
                let name = host.read_text(&format!("{folder}/name")).unwrap_or(entry);
                let files = Attributes::find(host, &folder, &NAMES);
                self.states.push(State { cpu, number, name, cell: NULL, files });
            }
        }
        self.at_least = Attributes::hold(host, self.states.iter_mut().map(|state| &mut state.files));
        Ok(())
    }
}

impl Reader for Cpuidle {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        self.find(host)?;
        let mut failed = None;
        for state in &mut self.states {
            if state.cell == NULL {
                state.cell = out.text(&state.name);
            }
            let mut cells = [state.cpu, state.number, state.cell, NULL, NULL, NULL, NULL, NULL];
            let error = state.files.read(host, &mut self.buffer, &mut cells[3..]);
            if cells[3] != NULL {
                out.row(0, &cells);
            }
            failed = failed.or(error);
        }
        failed.map_or(Ok(()), |error| Err(error.into()))
    }
    fn at_least(&self) -> u64 {
        self.at_least
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
        assert_eq!(played[0].rows("cpuidle").len(), 4);
        let time = |frame: usize| -> i64 {
            played[frame].row("cpuidle", "1 1 \"haltpoll idle\" ").split(' ').nth(4).unwrap().parse().unwrap()
        };
        assert!((1..20_000_000).contains(&(time(1) - time(0))), "microseconds of some seconds");
    }

    #[test]
    fn a_cpu_that_goes_and_an_old_kernel() {
        let state = "/sys/devices/system/cpu/cpu1/cpuidle/state0";
        let (dir, host) = host_of(&[
            ("/sys/devices/system/cpu/online", "0-1\n"),
            (&format!("{state}/time"), "10\n"),
            (&format!("{state}/usage"), "2\n"),
        ]);
        std::fs::create_dir_all(dir.path().join("frame-1/sys/devices/system/cpu")).unwrap();
        std::fs::write(dir.path().join("frame-1/sys/devices/system/cpu/online"), "0\n").unwrap();
        let played = play(&SOURCE, &host, 2).unwrap();
        assert_eq!(played[0].rows("cpuidle"), ["1 0 state0 10 2 - - -"]);
        assert!(played[1].rows("cpuidle").is_empty());
        assert!(played[1].error.is_none());
    }

    #[test]
    fn no_states_and_hostile_content() {
        let (_dir, host) = host_of(&[("/sys/devices/system/cpu/online", "0\n")]);
        assert_eq!(play(&SOURCE, &host, 1).err().unwrap().status, Status::Absent);
        for content in ["", "1", "x\n", "0-9999999999", "-1"] {
            survives(&SOURCE, content);
        }
    }
}

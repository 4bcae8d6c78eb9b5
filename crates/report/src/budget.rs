//! Where the time of the CPUs went: one bar a run, on one scale per unit of work. What is shown where nothing can be explained, for want of a
//! ledger of the threads.

use crate::bundle::{Budget, BudgetSource, State};
use compare::Comparison;
use model::Manifest;
use query::series::Grid;
use query::{Run, metric};
use store::Select;

/// The states of CPU time: column, title, help.
const STATES: [(&str, &str, &str); 8] = [
    ("user", "User code", "running programs"),
    ("nice", "User code at lowered priority", "running programs that gave way to others"),
    ("system", "Kernel", "system calls, faults and other work of the kernel for threads"),
    ("irq", "Hard interrupts", "serving devices and timers"),
    ("softirq", "Soft interrupts", "network, block and timer work after interrupts"),
    ("steal", "Stolen", "ready to run while the hypervisor ran something else"),
    ("iowait", "Idle, disk busy", "nothing to run while a thread waits for a disk"),
    ("idle", "Idle", "nothing to run"),
];

/// The budget of the CPUs; `None` where they were not looked at.
pub(crate) fn budget(runs: &[Run], comparison: &Comparison) -> Option<Budget> {
    // CPU-seconds of each state in the window, and the length of the window.
    let sums: Vec<Option<(Vec<Option<f64>>, f64)>> =
        runs.iter().enumerate().map(|(i, run)| sums(run, i, comparison)).collect();
    if sums.iter().all(Option::is_none) {
        return None;
    }
    let manifests: Vec<_> = runs.iter().map(|r| r.recording.manifest()).collect();
    let work = manifests.iter().all(|m| m.work.as_ref().is_some_and(|w| w.total > 0.0));
    let commands = manifests.iter().all(|m| m.wall.is_some_and(|w| w > 0));
    let (title, unit, note) = if work {
        (
            "CPU time per operation",
            "s/op",
            "All CPUs of the machine, from start to end of the command, over the work that it reported.",
        )
    } else if commands {
        (
            "CPU time of the run",
            "s",
            "All CPUs of the machine, from start to end of the command: the length of a bar is the run's time times the number of CPUs.",
        )
    } else {
        ("CPU time per second", "s/s", "All CPUs of the machine, per second of the window.")
    };
    let values = sums.iter().zip(&manifests).map(|(sums, manifest)| match sums {
        None => vec![None; STATES.len()],
        Some((sums, seconds)) => {
            let per = units(manifest, *seconds, work, commands);
            sums.iter().map(|s| s.map(|s| s / per)).collect()
        }
    });
    let states = STATES.iter().map(|&(id, title, help)| State {
        id: id.into(),
        title: title.into(),
        help: help.into(),
        metrics: vec![format!("cpu.{id}")],
        quiet: None,
        ledger: None,
        kind: None,
        color: None,
    });
    Some(Budget {
        title: title.into(),
        unit: unit.into(),
        note: Some(note.into()),
        source: BudgetSource::Cpu,
        per: None,
        states: states.collect(),
        values: values.collect(),
        shares: None,
        elapsed: None,
        done: None,
    })
}

/// What the time of so many seconds is divided by: the operations, or the part of the run, that fell into them at the run's pace; else the
/// seconds. What was read can leave out a part of the window, and the window can be a part of the run.
fn units(manifest: &Manifest, seconds: f64, work: bool, commands: bool) -> f64 {
    let whole = manifest.wall.or(manifest.duration).map(|ns| ns as f64 / 1e9).filter(|s| *s > 0.0);
    let part = whole.map_or(1.0, |whole| seconds / whole);
    match (&manifest.work, work) {
        (Some(done), true) => done.total * part,
        _ if commands => part,
        _ => seconds,
    }
}

fn sums(run: &Run, index: usize, comparison: &Comparison) -> Option<(Vec<Option<f64>>, f64)> {
    let frame = run.recording.load("cpu", &Select { most_ticks: 7200, ..Select::default() })?;
    let mut seconds = 0.0;
    let mut state = |name: &str| {
        let grid = Grid::new(&frame, &metric(frame.table, name)?, &[], None).ok()?;
        let series = grid.series.first()?;
        let range = crate::charts::window(comparison, index, &grid)?;
        let (num, den) = series.sums(range)?;
        seconds = den;
        Some(num)
    };
    let sums: Vec<Option<f64>> = STATES.iter().map(|(name, ..)| state(name)).collect();
    (seconds > 0.0).then_some((sums, seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_the_window_has_a_part_of_the_work() {
        let work = model::Work { unit: "rows".into(), total: 600.0, progress: Vec::new(), how: String::new() };
        let manifest = Manifest { wall: Some(20_000_000_000), work: Some(work), ..Manifest::default() };
        assert_eq!(units(&manifest, 20.0, true, true), 600.0);
        assert_eq!(units(&manifest, 5.0, true, true), 150.0);
        assert_eq!(units(&manifest, 5.0, false, true), 0.25);
        assert_eq!(units(&manifest, 5.0, false, false), 5.0);
    }
}

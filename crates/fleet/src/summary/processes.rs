//! The processes of the workload, with their starts: a band that was drawn when the process began stays as long as it lives.

use super::{Rows, Subject};
use compare::own;
use model::NULL;
use store::{Entity, Frame, Select};

/// Hundredths of a second, in which the kernel tells starts (`starttime` of proc_pid_stat(5), USER_HZ), in nanoseconds.
const TICK: i64 = 10_000_000;

/// At most so many are kept of a recording: those with the lowest numbers. A build starts thousands.
const MOST: usize = 64;

/// The processes of the workload: of a frame of `process_info` with the column `name`, which each is, its number, and its name.
pub fn own<'f>(subject: &Subject<'_>, frame: &'f Frame) -> Vec<(&'f Entity, i64, &'f str)> {
    let looked_at = own::looked_at(subject.run);
    let pid = frame.table.labels().position(|c| c.name == "pid");
    let (Some(pid), Some(names)) = (pid, frame.column("name")) else { return Vec::new() };
    let of = |entity: &'f Entity| {
        let name = entity.rows.clone().rev().find_map(|row| names.get(row).filter(|name| **name != NULL));
        let name = name.and_then(|name| frame.symbols.text(*name)).unwrap_or_default();
        let pid = entity.labels.get(pid).copied()?;
        let is_own = match looked_at.is_empty() {
            true => subject.owned.names.contains(name),
            false => looked_at.contains(&pid),
        };
        is_own.then_some((entity, pid, name))
    };
    frame.entities.iter().filter_map(of).collect()
}

/// Adds them.
pub fn reduce(subject: &Subject<'_>, rows: &mut Rows) {
    let select = Select { columns: Some(&["name"]), ..Select::default() };
    let Some(frame) = subject.run.recording.load("process_info", &select) else { return };
    let Some(start) = frame.table.labels().position(|c| c.name == "start") else { return };
    let manifest = subject.run.recording.manifest();
    // Boot by the wall clock, as the clock of the recorder counts since then.
    let boot = manifest.start_unix.saturating_sub(manifest.start_monotonic);
    let starts = own(subject, &frame).into_iter().filter_map(|(entity, pid, name)| {
        let start = entity.labels.get(start).copied().filter(|start| *start != NULL)?;
        Some((pid, boot.saturating_add(start.saturating_mul(TICK)), name))
    });
    let mut found: Vec<(i64, i64, &str)> = starts.collect();
    found.sort_unstable();
    for (pid, start, name) in found.into_iter().take(MOST) {
        rows.process.push(&[subject.host.clone(), subject.id.clone(), pid.into(), name.into(), start.into()]);
    }
}

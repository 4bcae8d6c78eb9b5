//! The processes of the workload, with their starts: a band that was drawn when the process began stays as long as it lives.

use super::{Rows, Subject};
use compare::own;
use model::NULL;
use store::Select;

/// Hundredths of a second, in which the kernel tells starts (`starttime` of proc_pid_stat(5), USER_HZ), in nanoseconds.
const TICK: i64 = 10_000_000;

/// At most so many are kept of a recording: those with the lowest numbers. A build starts thousands.
const MOST: usize = 64;

/// Adds them.
pub fn reduce(subject: &Subject<'_>, rows: &mut Rows) {
    let looked_at = own::looked_at(subject.run);
    let select = Select { columns: Some(&["name"]), ..Select::default() };
    let Some(frame) = subject.run.recording.load("process_info", &select) else { return };
    let place = |name: &str| frame.table.labels().position(|c| c.name == name);
    let (Some(pid), Some(start), Some(names)) = (place("pid"), place("start"), frame.column("name")) else { return };
    let manifest = subject.run.recording.manifest();
    // Boot by the wall clock, as the clock of the recorder counts since then.
    let boot = manifest.start_unix.saturating_sub(manifest.start_monotonic);
    let mut found: Vec<(i64, i64, &str)> = Vec::new();
    for entity in &frame.entities {
        let name = entity.rows.clone().rev().find_map(|row| names.get(row).filter(|name| **name != NULL));
        let name = name.and_then(|name| frame.symbols.text(*name)).unwrap_or_default();
        let (Some(&pid), Some(&start)) = (entity.labels.get(pid), entity.labels.get(start)) else { continue };
        let is_own = match looked_at.is_empty() {
            true => subject.owned.names.contains(name),
            false => looked_at.contains(&pid),
        };
        if is_own && start != NULL {
            found.push((pid, boot.saturating_add(start.saturating_mul(TICK)), name));
        }
    }
    found.sort_unstable();
    for (pid, start, name) in found.into_iter().take(MOST) {
        rows.process.push(&[subject.host.clone(), subject.id.clone(), pid.into(), name.into(), start.into()]);
    }
}

//! Counters of pauses, as a recorder would have read them at each tick: so that runs of which only files are left can be compared by
//! collector and by operation.

use crate::profile::Profile;
use crate::tables::{JVM_COLLECTOR, JVM_PAUSE, JVM_SAFEPOINT};
use model::NULL;
use std::collections::BTreeMap;

/// A pause, as the table has it.
#[derive(Clone, Copy, Debug)]
struct Pause {
    pid: i64,
    comm: i64,
    kind: i64,
    operation: i64,
    time: i64,
    to_stop: i64,
    end: i64,
}

/// What was counted so far.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    pauses: i64,
    time: i64,
    to_stop: i64,
}

impl Count {
    fn add(&mut self, pause: &Pause) {
        self.pauses += 1;
        self.time = self.time.saturating_add(pause.time.max(0));
        self.to_stop = self.to_stop.saturating_add(if pause.to_stop == NULL { 0 } else { pause.to_stop.max(0) });
    }
}

/// Adds the counters, at ticks from `start` to `end`.
pub(crate) fn derive(profile: &mut Profile, start: i64, end: i64, tick: i64) {
    let mut pauses: Vec<Pause> = profile.rows_of(&JVM_PAUSE, |cells| {
        let &[pid, comm, kind, operation, _, at, time, to_stop, ..] = cells else { return None };
        Some(Pause { pid, comm, kind, operation, time, to_stop, end: at.saturating_add(time) })
    });
    let Some(&Pause { pid, comm, .. }) = pauses.first() else { return };
    pauses.sort_by_key(|pause| pause.end);
    let mut collectors: BTreeMap<i64, Count> = BTreeMap::new();
    let mut operations: BTreeMap<i64, Count> = BTreeMap::new();
    // Each is there from the first tick on.
    for pause in &pauses {
        if let Some(name) = collector(profile, pause.kind) {
            collectors.insert(name, Count::default());
        }
        if pause.operation != NULL {
            operations.insert(pause.operation, Count::default());
        }
    }
    let mut left = pauses.iter().peekable();
    let mut now = start;
    loop {
        while let Some(pause) = left.next_if(|pause| pause.end <= now) {
            if let Some(count) = collector(profile, pause.kind).and_then(|name| collectors.get_mut(&name)) {
                count.add(pause);
            }
            if let Some(count) = operations.get_mut(&pause.operation) {
                count.add(pause);
            }
        }
        for (name, count) in &collectors {
            profile.row(&JVM_COLLECTOR, now, vec![pid, comm, *name, count.pauses, count.time]);
        }
        for (name, count) in &operations {
            profile.row(&JVM_SAFEPOINT, now, vec![pid, comm, *name, count.pauses, count.time, count.to_stop]);
        }
        if now >= end {
            return;
        }
        now = now.saturating_add(tick.max(1)).min(end);
    }
}

/// What the JVM calls the collector of pauses of a kind; `None` of those that are none of a collector.
fn collector(profile: &mut Profile, kind: i64) -> Option<i64> {
    let pauses = match profile.symbols.text(kind)? {
        "young" => "young collection pauses",
        "full" => "full collection pauses",
        "concurrent" => "concurrent cycle pauses",
        _ => return None,
    };
    let name = format!("{} {pauses}", profile.collector.as_deref().unwrap_or_default());
    Some(profile.text(name.trim()))
}

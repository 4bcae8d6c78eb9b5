//! Counters of pauses and of code that was given up, as a recorder would have read them at each tick: so that runs of which only files are left can be compared by
//! collector and by operation.

use crate::profile::Profile;
use crate::tables::{JVM_COLLECTOR, JVM_DEOPTIMIZATION, JVM_PAUSE, JVM_SAFEPOINT};
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
    let mut left_code = std::mem::take(&mut profile.deoptimizations);
    if pauses.is_empty() && left_code.is_empty() {
        return;
    }
    let (pid, comm) = pauses.first().map_or((profile.pid, profile.text("java")), |pause| (pause.pid, pause.comm));
    pauses.sort_by_key(|pause| pause.end);
    left_code.sort_unstable();
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
    let mut reasons: BTreeMap<(i64, i64), i64> =
        left_code.iter().map(|&(_, reason, action)| ((reason, action), 0)).collect();
    let mut left = pauses.iter().peekable();
    let mut code = left_code.iter().peekable();
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
        while let Some((_, reason, action)) = code.next_if(|(at, ..)| *at <= now) {
            *reasons.entry((*reason, *action)).or_insert(0) += 1;
        }
        for ((reason, action), count) in &reasons {
            profile.row(&JVM_DEOPTIMIZATION, now, vec![pid, comm, *reason, *action, *count]);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;
    use crate::rows;

    const SECOND: i64 = 1_000_000_000;

    #[test]
    fn counters_grow_at_ticks() {
        let mut profile = Profile::new(Options::default());
        profile.collector = Some("G1".into());
        let [comm, young, operation, pause] = ["java", "young", "operation", "Dump"].map(|text| profile.text(text));
        // In the first, the third and the third second.
        for (at, kind) in [(SECOND / 2, young), (2 * SECOND + 5, young), (2 * SECOND + 7, operation)] {
            let (time, to_stop) = (10, if kind == young { 3 } else { NULL });
            let (operation, cause, used_before, used_after) =
                (if kind == young { NULL } else { pause }, NULL, NULL, NULL);
            let row = rows::Pause { pid: 7, comm, kind, operation, cause, at, time, to_stop, used_before, used_after };
            row.put(&mut profile);
        }
        profile.deoptimizations = vec![(SECOND, 5, 6)];
        derive(&mut profile, 0, 3 * SECOND, SECOND);
        let values = |table: &str, columns: &[&str]| -> Vec<Vec<i64>> {
            let of = |row: Vec<(&str, i64)>| {
                columns.iter().map(|c| row.iter().find(|(name, _)| name == c).unwrap().1).collect()
            };
            profile.table(table).into_iter().map(of).collect()
        };
        assert_eq!(
            values("jvm_collector", &["pid", "collections", "time"]),
            [[7, 0, 0], [7, 1, 10], [7, 1, 10], [7, 2, 20]]
        );
        assert_eq!(
            values("jvm_safepoint", &["count", "time", "to_stop"]),
            [[0, 0, 0], [0, 0, 0], [0, 0, 0], [1, 10, 0]]
        );
        assert_eq!(
            values("jvm_deoptimization", &["reason", "action", "count"]),
            [[5, 6, 0], [5, 6, 1], [5, 6, 1], [5, 6, 1]]
        );
        assert!(profile.words().iter().any(|word| word == "G1 young collection pauses"));
    }

    #[test]
    fn what_never_stopped_counts_nothing() {
        let mut profile = Profile::new(Options::default());
        derive(&mut profile, 0, i64::MAX, 1);
        assert!(profile.events().is_empty());
    }
}

//! Threads that run at a pace of their own, whatever the work does: a loader, a compaction, a collector of statistics. Their CPU time for each unit
//! of work grows by the mere fact that a unit takes longer. They cannot be told from workers that are always busy by what they use alone; but where
//! other threads did what they did before and waited for a lock, a disk or memory for all that was lost, it was those that did the work.

use super::ledger::Group;
use super::state::{STATES, State};
use compare::{PerSide, Side};
use std::collections::{BTreeMap, BTreeSet};

/// Thread-seconds per unit of work in each state.
type Times = PerSide<[f64; STATES]>;

/// What a thread waits for that others hold, or that it asked for itself.
const HELD: [State; 3] = [State::Lock, State::Disk, State::Fault];

/// Who waits for this part of what is lost or more, and takes no more CPU time for a unit than so many times what it took, is delayed by it.
const DELAYED: f64 = 0.7;
const AS_BEFORE: f64 = 1.3;

/// A pace that changed by less than this power of the ratio of the runs' is taken to be steady.
const STEADY: f64 = 0.35;

fn cpu(times: &[f64; STATES]) -> f64 {
    times[State::User as usize] + times[State::Kernel as usize]
}

/// Groups of threads that run at a pace of their own. `elapsed`: seconds per unit of work.
pub(super) fn running(groups: &BTreeMap<Group, Times>, elapsed: PerSide<f64>) -> BTreeSet<Group> {
    let delayed: BTreeSet<&Group> =
        groups.iter().filter(|(_, times)| is_delayed(times)).map(|(group, _)| group).collect();
    let pace = (elapsed.slow / elapsed.baseline).ln();
    if delayed.is_empty() || pace.is_nan() || pace <= 0.0 {
        return BTreeSet::new();
    }
    let is_there = |group: &Group, side: Side| groups.get(group).is_some_and(|times| cpu(&times[side]) > 0.0);
    // The same threads may have been a process of their own on the other side.
    let same = |group: &Group| {
        let moved = |other: &&Group| {
            other.1 == group.1 && Side::BOTH.into_iter().all(|side| is_there(group, side) != is_there(other, side))
        };
        let others = groups.keys().filter(moved).cloned();
        std::iter::once(group.clone()).chain(others).collect::<Vec<_>>()
    };
    let is_steady = |group: &&Group| {
        let used = |side: Side| {
            let all = same(group);
            all.iter().filter_map(|g| groups.get(g)).map(|times| cpu(&times[side])).sum::<f64>() / elapsed[side]
        };
        let change = (used(Side::Slow) / used(Side::Baseline)).ln().abs();
        !delayed.contains(group) && change < STEADY * pace
    };
    groups.keys().filter(is_steady).cloned().collect()
}

/// Whether threads use as much CPU time for a unit as before, and wait for what others hold for most of what they lost.
fn is_delayed(PerSide { slow, baseline: fast }: &Times) -> bool {
    let held = |times: &[f64; STATES]| HELD.iter().map(|state| times[*state as usize]).sum::<f64>();
    let lost = slow.iter().sum::<f64>() - fast.iter().sum::<f64>();
    let is_as_before = cpu(fast) > 0.0 && cpu(slow) > 0.0 && cpu(slow) < AS_BEFORE * cpu(fast);
    is_as_before && lost > 0.0 && held(slow) - held(fast) > DELAYED * lost
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(user: f64, lock: f64) -> [f64; STATES] {
        let mut times = [0.0; STATES];
        times[State::User as usize] = user;
        times[State::Lock as usize] = lock;
        times
    }

    fn group(comm: &str, thread: &str) -> Group {
        (comm.into(), thread.into())
    }

    #[test]
    fn a_loader_beside_threads_that_wait_for_it_is_no_part_of_a_unit() {
        let mut groups = BTreeMap::from([
            (group("app", "mapper"), PerSide { slow: times(1.0, 9.0), baseline: times(1.0, 0.0) }),
            (group("app", "loader"), PerSide { slow: times(10.0, 0.0), baseline: times(0.8, 0.0) }),
        ]);
        assert_eq!(running(&groups, PerSide { slow: 10.0, baseline: 1.0 }), BTreeSet::from([group("app", "loader")]));
        // It was a process of its own.
        groups.insert(group("app", "loader"), PerSide { slow: times(10.0, 0.0), baseline: times(0.0, 0.0) });
        groups.insert(group("load", "loader"), PerSide { slow: times(0.0, 0.0), baseline: times(0.8, 0.0) });
        let both = BTreeSet::from([group("app", "loader"), group("load", "loader")]);
        assert_eq!(running(&groups, PerSide { slow: 10.0, baseline: 1.0 }), both);
        // One that works less often where units are fewer belongs to them.
        groups.insert(group("app", "loader"), PerSide { slow: times(1.0, 0.0), baseline: times(1.0, 0.0) });
        groups.remove(&group("load", "loader"));
        assert!(running(&groups, PerSide { slow: 10.0, baseline: 1.0 }).is_empty());
    }

    #[test]
    fn workers_that_are_always_busy_are_not_taken_for_one() {
        let busy = (group("app", "worker"), PerSide { slow: times(10.0, 0.0), baseline: times(1.0, 0.0) });
        let idle = (group("app", "reader"), PerSide { slow: times(1.0, 0.0), baseline: times(1.0, 0.0) });
        assert!(running(&BTreeMap::from([busy, idle]), PerSide { slow: 10.0, baseline: 1.0 }).is_empty());
        assert!(running(&BTreeMap::new(), PerSide { slow: f64::NAN, baseline: 0.0 }).is_empty());
    }
}

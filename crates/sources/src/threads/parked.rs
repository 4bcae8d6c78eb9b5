//! Which monitors threads waited for: from who was seen waiting (`monitors.rs`) to each wait that the kernel measured. Sums stay what they were.

use super::monitors::{Monitor, Seen};
use crate::hotspot::PendingKind;
use std::collections::HashMap;
use std::sync::Arc;

/// Between the stack of the innermost Java method and where the thread waits lies at most so much of the JVM's own, bytes.
const FURTHEST: u64 = 64 << 10;
/// Stacks whose monitors are remembered.
const MOST_STACKS: usize = 16_384;

/// Waits of one thread in one place for a monitor, or for a lock of java.util.concurrent.
#[derive(Clone, Debug)]
pub(super) struct Parked {
    pub kind: PendingKind,
    pub pid: u32,
    pub tid: u32,
    /// Where on the thread's stack it waited.
    pub sp: u64,
    /// The number of the stack where that is known, and whether it was followed to its start.
    pub stack: i64,
    pub is_whole: bool,
}

/// What was seen at stacks before, by process and stack.
#[derive(Debug, Default)]
pub(super) struct Known(HashMap<(u32, i64), At>);

/// What the monitors at a stack were of, and which it was; `None` and 0 where that was not always the same.
#[derive(Clone, Debug)]
struct At {
    of: Option<Arc<str>>,
    address: u64,
}

/// What each monitor is of, by its address: the JVM may have been moving the object at one look and not at the next.
fn by_address(seen: &Seen) -> HashMap<u64, Option<Arc<str>>> {
    let mut found: HashMap<u64, Option<Arc<str>>> = HashMap::new();
    let monitors = seen.sightings.keys().map(|s| &s.monitor);
    for Monitor { address, of, .. } in monitors.filter(|m| m.of.is_some() && m.kind == PendingKind::Monitor) {
        let known = found.entry(*address).or_insert_with(|| of.clone());
        if known != of {
            *known = None;
        }
    }
    found
}

/// For each wait the monitors that it was for and how often that was seen, in order. Empty where nothing is known.
///
/// A thread was seen in the wait that lies next below its innermost Java method. Waits that nobody saw are named by the stack, where all that were seen at
/// it were for monitors of one class.
pub(super) fn divide(parked: &[&Parked], seen: &Seen, known: &mut Known) -> Vec<Vec<(Monitor, u64)>> {
    let mut of_thread: HashMap<u32, Vec<usize>> = HashMap::new();
    for (at, wait) in (0..).zip(parked) {
        of_thread.entry(wait.tid).or_default().push(at);
    }
    let names = by_address(seen);
    let mut found: Vec<HashMap<Monitor, u64>> = vec![HashMap::new(); parked.len()];
    for (sighting, &count) in &seen.sightings {
        let Some(waits) = of_thread.get(&sighting.tid) else { continue };
        let sp = |at: &usize| parked.get(*at).map_or(0, |wait| wait.sp);
        let is_below = |sp: &u64| *sp < sighting.sp && sighting.sp - *sp <= FURTHEST;
        let is_of = |at: &&usize| parked.get(**at).is_some_and(|wait| wait.kind == sighting.monitor.kind);
        let Some(place) = waits.iter().filter(is_of).map(sp).filter(is_below).max() else { continue };
        let mut monitor = sighting.monitor.clone();
        if monitor.kind == PendingKind::Monitor {
            monitor.of = monitor.of.or_else(|| names.get(&monitor.address).cloned().flatten());
        }
        for &at in waits.iter().filter(is_of).filter(|at| sp(at) == place) {
            if let Some(monitors) = found.get_mut(at) {
                *monitors.entry(monitor.clone()).or_default() += count;
            }
        }
    }
    if known.0.len() > MOST_STACKS {
        known.0.clear();
    }
    for (wait, monitors) in parked.iter().zip(&found).filter(|(wait, _)| wait.is_whole && wait.stack > 0) {
        for monitor in monitors.keys() {
            let Monitor { of, address, .. } = monitor;
            let new = || At { of: of.clone(), address: *address };
            let at = known.0.entry((wait.pid, wait.stack)).or_insert_with(new);
            if at.of != *of {
                at.of = None;
            }
            if at.address != *address {
                at.address = 0;
            }
        }
    }
    let named = |(wait, monitors): (&&Parked, HashMap<Monitor, u64>)| {
        let mut monitors: Vec<_> = monitors.into_iter().collect();
        if monitors.is_empty()
            && wait.is_whole
            && let Some(At { of: Some(of), address }) = known.0.get(&(wait.pid, wait.stack))
        {
            let of = Some(Arc::clone(of));
            monitors.push((Monitor { address: *address, of, owner: 0, kind: wait.kind }, 1));
        }
        monitors.sort_unstable();
        monitors
    };
    parked.iter().zip(found).map(named).collect()
}

/// Divides a sum by weights, so that the parts add up to it.
pub(super) fn split(sum: u64, weights: &[u64]) -> Vec<u64> {
    let all: u128 = weights.iter().map(|&w| u128::from(w)).sum::<u128>().max(1);
    let (mut before, mut given) = (0u128, 0u64);
    let part = |weight: &u64| {
        before += u128::from(*weight);
        let until = (u128::from(sum) * before / all) as u64;
        let part = until - given;
        given = until;
        part
    };
    weights.iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::super::monitors::Sighting;
    use super::*;
    use proptest::prelude::*;

    fn monitor(address: u64, of: &str) -> Monitor {
        Monitor { address, of: Some(of.into()), owner: 7, kind: PendingKind::Monitor }
    }

    fn seen(all: &[(u32, u64, &Monitor, u64)]) -> Seen {
        let sightings =
            all.iter().map(|&(tid, sp, monitor, count)| (Sighting { tid, sp, monitor: monitor.clone() }, count));
        Seen { sightings: sightings.collect(), at_once: HashMap::new() }
    }

    fn wait(tid: u32, sp: u64, stack: i64) -> Parked {
        Parked { kind: PendingKind::Monitor, pid: 1, tid, sp, stack, is_whole: true }
    }

    #[test]
    fn a_thread_was_seen_in_the_wait_next_below() {
        let (hot, cold) = (monitor(0x10, "Hot"), monitor(0x20, "Cold"));
        let waits = [wait(5, 0x7000, 1), wait(5, 0x6000, 2), wait(6, 0x9000, 3)];
        let all: Vec<&Parked> = waits.iter().collect();
        let seen = seen(&[(5, 0x7200, &hot, 3), (5, 0x6200, &cold, 2), (5, 0x5000, &hot, 9), (8, 0x7200, &hot, 9)]);
        let divided = divide(&all, &seen, &mut Known::default());
        assert_eq!(divided, [vec![(hot, 3)], vec![(cold, 2)], vec![]]);
    }

    #[test]
    fn one_place_for_two_monitors_is_divided() {
        let (hot, cold) = (monitor(0x10, "Hot"), monitor(0x20, "Cold"));
        let waits = [wait(5, 0x7000, 1)];
        let divided =
            divide(&[&waits[0]], &seen(&[(5, 0x7200, &hot, 3), (5, 0x7200, &cold, 1)]), &mut Known::default());
        assert_eq!(divided, [vec![(hot, 3), (cold, 1)]]);
    }

    #[test]
    fn a_stack_names_what_nobody_saw_only_where_it_is_sure() {
        let (hot, cold) = (monitor(0x10, "Hot"), monitor(0x20, "Cold"));
        let mut known = Known::default();
        let waits = [wait(5, 0x7000, 1), wait(6, 0x9000, 1), Parked { is_whole: false, ..wait(9, 0x9000, 1) }];
        let all: Vec<&Parked> = waits.iter().collect();
        let divided = divide(&all, &seen(&[(5, 0x7200, &hot, 3)]), &mut known);
        let by_stack = Monitor { owner: 0, ..hot.clone() };
        assert_eq!(divided, [vec![(hot, 3)], vec![(by_stack.clone(), 1)], vec![]]);
        // Later, too; until something else is seen there.
        assert_eq!(divide(&[&waits[1]], &Seen::default(), &mut known), [vec![(by_stack, 1)]]);
        divide(&all, &seen(&[(5, 0x7200, &cold, 1)]), &mut known);
        assert_eq!(divide(&[&waits[1]], &Seen::default(), &mut known), [vec![]]);
        // Another process's stack of the same number is another.
        assert_eq!(divide(&[&Parked { pid: 2, ..wait(6, 0x9000, 1) }], &Seen::default(), &mut known), [vec![]]);
    }

    #[test]
    fn a_monitor_has_its_name_from_another_look() {
        let (hot, unknown) = (monitor(0x10, "Hot"), Monitor { of: None, ..monitor(0x10, "") });
        let waits = [wait(5, 0x7000, 1)];
        let seen = seen(&[(5, 0x7200, &unknown, 1), (6, 0x7200, &hot, 1)]);
        assert_eq!(divide(&[&waits[0]], &seen, &mut Known::default()), [vec![(hot, 1)]]);
    }

    proptest! {
        #[test]
        fn parts_add_up(sum: u64, weights in prop::collection::vec(0u64..1_000_000, 1..20)) {
            let parts = split(sum, &weights);
            let all: u128 = parts.iter().map(|&p| u128::from(p)).sum();
            prop_assert!(all == u128::from(sum) || weights.iter().all(|&w| w == 0));
        }
    }
}

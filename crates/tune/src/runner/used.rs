//! What the server of a trial used while it was asked: told by its control group, else by /proc for its process and those below it.

use crate::place::Placed;
use host::Host;
use std::collections::BTreeMap;

/// What was used up to a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Count {
    pub(super) cpu: Option<f64>,
    pub(super) throttled: Option<f64>,
}

/// Counts; memory from here on.
pub(super) fn begin(host: &Host, placed: &mut Placed, pid: u32) -> Count {
    if let Some(group) = &mut placed.group {
        group.reset_peak();
    }
    count(host, placed, pid)
}

pub(super) fn count(host: &Host, placed: &Placed, pid: u32) -> Count {
    let group = placed.group.as_ref();
    let cpu = group.and_then(host::groups::Group::cpu_seconds);
    Count { cpu: cpu.or_else(|| tree_cpu(host, pid)), throttled: group.and_then(host::groups::Group::throttled) }
}

/// The most memory; without a group the sum of the peaks of its processes, which is at least that.
pub(super) fn peak(host: &Host, placed: &Placed, pid: u32) -> Option<f64> {
    placed.group.as_ref().and_then(host::groups::Group::peak).or_else(|| {
        let peak = |pid: i64| {
            let status = host.read_text(&format!("/proc/{pid}/status")).ok()?;
            let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
            line.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok()
        };
        let peaks: Vec<f64> = tree(host, pid).into_keys().filter_map(peak).collect();
        (!peaks.is_empty()).then(|| peaks.iter().sum::<f64>() * 1024.0)
    })
}

fn tree_cpu(host: &Host, pid: u32) -> Option<f64> {
    let ticks: Vec<f64> = tree(host, pid).into_values().collect();
    (!ticks.is_empty()).then(|| ticks.iter().sum::<f64>() / rustix::param::clock_ticks_per_second() as f64)
}

/// A process and those below it, with the ticks of CPU time that they and the children that they waited for used.
fn tree(host: &Host, root: u32) -> BTreeMap<i64, f64> {
    let mut numbers = Vec::new();
    if host.numbers_in("/proc", &mut numbers).is_err() {
        return BTreeMap::new();
    }
    let all: BTreeMap<i64, (i64, f64)> = numbers.iter().filter_map(|pid| Some((*pid, stat(host, *pid)?))).collect();
    let is_below = |pid: i64| {
        let parents = std::iter::successors(Some(pid), |pid| all.get(pid).map(|(parent, _)| *parent));
        // Numbers may be given again while they are read, so that a circle is possible.
        parents.take(64).any(|pid| pid == i64::from(root))
    };
    all.iter().filter(|(pid, _)| is_below(**pid)).map(|(pid, (_, ticks))| (*pid, *ticks)).collect()
}

/// Of proc_pid_stat(5): the parent, and the ticks.
fn stat(host: &Host, pid: i64) -> Option<(i64, f64)> {
    let text = host.read_text(&format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = text.rsplit_once(") ")?.1.split(' ').collect();
    let ticks: Option<f64> = fields.get(11..15)?.iter().map(|field| field.parse::<f64>().ok()).sum();
    Some((fields.get(1)?.parse().ok()?, ticks?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::testing::host_of;

    fn line(pid: u32, parent: u32, ticks: [u32; 4]) -> String {
        let [user, system, waited_user, waited_system] = ticks;
        format!(
            "{pid} (a (b) c) S {parent} 1 1 0 -1 4194304 1 0 0 0 {user} {system} {waited_user} {waited_system} 20 0 1 0 55\n"
        )
    }

    #[test]
    fn without_a_group_processes_are_asked() {
        let (a, b, other) = (line(10, 1, [100, 20, 3, 4]), line(11, 10, [7, 0, 0, 0]), line(12, 1, [999, 0, 0, 0]));
        let (_dir, host) = host_of(&[
            ("/proc/10/stat", &a),
            ("/proc/11/stat", &b),
            ("/proc/12/stat", &other),
            ("/proc/10/status", "Name:\ta\nVmHWM:\t    2048 kB\n"),
            ("/proc/11/status", "Name:\ta\nVmHWM:\t    1024 kB\n"),
        ]);
        let placed = Placed::default();
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        assert_eq!(count(&host, &placed, 10), Count { cpu: Some(134.0 / ticks), throttled: None });
        assert_eq!(peak(&host, &placed, 10), Some(3.0 * 1024.0 * 1024.0));
        assert_eq!((tree_cpu(&host, 99), peak(&host, &placed, 99)), (None, None));
    }
}

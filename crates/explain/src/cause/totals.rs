//! Totals that many causes ask for: how much of something there was per unit of work and per second, on both sides.

use crate::Pace;
use crate::means;
use crate::own;
use crate::side::{PerSide, Side};
use model::Window;
use query::Run;
use std::collections::{BTreeSet, HashSet};

/// Table, its metrics, and whether only rows of the workload's processes count.
const TOTALS: &[(&str, &[&str], bool)] = &[
    (
        "process",
        &[
            "minor_faults",
            "major_faults",
            "read_bytes",
            "write_bytes",
            "read_chars",
            "write_chars",
            "nice",
            "voluntary_switches",
            "involuntary_switches",
        ],
        true,
    ),
    ("process_exit", &["ended", "short_lived"], true),
    ("thread_time", &["switches_voluntary", "switches_involuntary", "migrations", "wakeups"], true),
    ("kernel", &["ctxt", "processes", "intr"], false),
    ("cpu", &["busy", "irq", "softirq", "steal", "iowait"], false),
    ("cgroup_cpu", &["nr_throttled", "nr_periods"], false),
    (
        "cgroup_memory_events",
        &["high", "max", "oom", "oom_kill", "workingset_refault_file", "workingset_refault_anon", "pgscan"],
        false,
    ),
    (
        "disks",
        &[
            "reads",
            "writes",
            "read",
            "written",
            "flushes",
            "utilisation",
            "read_await",
            "write_await",
            "flush_await",
            "queue_depth",
        ],
        false,
    ),
    (
        "vmstat",
        &[
            "pswpin",
            "pswpout",
            "pgmajfault",
            "pgscan_direct",
            "pgsteal_direct",
            "pgscan_kswapd",
            "compact_stall",
            "compact_migrate_scanned",
            "thp_fault_alloc",
            "thp_fault_fallback",
            "numa_hint_faults",
            "numa_pages_migrated",
            "workingset_refault_file",
            "workingset_refault_anon",
        ],
        false,
    ),
    (
        "protocols",
        &[
            "RetransSegs",
            "OutSegs",
            "ListenOverflows",
            "ListenDrops",
            "TCPTimeouts",
            "DelayedACKs",
            "TCPReqQFullDoCookies",
            "TCPReqQFullDrop",
            "TCPBacklogDrop",
            "TCPRcvQDrop",
            "RcvbufErrors",
            "SndbufErrors",
        ],
        false,
    ),
    ("network", &["rx_dropped", "tx_dropped", "rx_errors", "tx_errors"], false),
    ("softnet", &["dropped", "time_squeeze"], false),
    (
        "ethtool",
        &[
            "bw_in_allowance_exceeded",
            "bw_out_allowance_exceeded",
            "pps_allowance_exceeded",
            "conntrack_allowance_exceeded",
            "linklocal_allowance_exceeded",
        ],
        false,
    ),
    ("cpufreq", &["frequency"], false),
    ("tcp", &["retransmits", "delayed_ack_stalls", "stall_time", "listen_overflows", "connects", "connect_time"], true),
];

/// One total.
pub(crate) struct Total {
    /// "process.minor_faults".
    pub(crate) metric: String,
    /// Per unit of work; `None` where it was not recorded.
    pub(crate) per_unit: PerSide<Option<f64>>,
    /// Per second, or the level.
    pub(crate) per_second: PerSide<Option<f64>>,
}

/// All that the recordings hold. `paces`: seconds and units of each side; `own`: names of the workload's processes.
pub(crate) fn load(
    runs: &[Run],
    side: &[Side],
    windows: &[Window],
    paces: PerSide<Pace>,
    own: &BTreeSet<String>,
) -> Vec<Total> {
    let mut found = Vec::new();
    for (table, metrics, of_own) in TOTALS {
        for metric in *metrics {
            let mut sums = PerSide::<(f64, usize)>::default();
            for ((run, side), window) in runs.iter().zip(side).zip(windows) {
                let Some(mean) = mean(run, table, metric, window, own, *of_own) else { continue };
                let (sum, count) = &mut sums[*side];
                *sum += mean;
                *count += 1;
            }
            let per_second = sums.map(|(sum, count)| (count > 0).then(|| sum / count as f64));
            if per_second == PerSide::default() {
                continue;
            }
            let per_unit = per_second
                .zip(paces)
                .map(|(rate, pace)| rate.filter(|_| pace.work > 0.0).map(|rate| rate * pace.elapsed()));
            found.push(Total { metric: format!("{table}.{metric}"), per_unit, per_second });
        }
    }
    found
}

fn mean(run: &Run, table: &str, metric: &str, window: &Window, own: &BTreeSet<String>, of_own: bool) -> Option<f64> {
    // What ended soon is told by who started it; processes by their number, for others may have the same name.
    let by: &[&str] = match of_own {
        true if table == "process_exit" => &["parent"],
        true if table == "process" => &["pid"],
        true => &["comm"],
        false => &[],
    };
    let all = means::means(run, table, metric, by, window);
    if all.is_empty() {
        return None;
    }
    let pids = if table == "process" { own::looked_at(run) } else { HashSet::new() };
    let is_own = |labels: &[String]| match labels.first() {
        Some(pid) if !pids.is_empty() => pid.parse().is_ok_and(|pid| pids.contains(&pid)),
        Some(name) if table != "process" => own.contains(name),
        _ => true,
    };
    Some(all.iter().filter(|(labels, _)| !of_own || is_own(labels)).map(|(_, mean)| mean).sum())
}

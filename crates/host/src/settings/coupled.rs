//! Settings that the kernel changes along with another: without them an undo would not give back what was there.

use super::value;
use crate::Host;

/// Pairs of which one is in force and the other 0 (Documentation/admin-guide/sysctl/vm.rst).
const EXCLUSIVE: &[(&str, &str)] = &[
    ("/proc/sys/vm/dirty_bytes", "/proc/sys/vm/dirty_ratio"),
    ("/proc/sys/vm/dirty_background_bytes", "/proc/sys/vm/dirty_background_ratio"),
];

/// The setting that this one puts out of force.
pub fn exclusive(path: &str) -> Option<&'static str> {
    EXCLUSIVE.iter().find_map(|(a, b)| match path {
        _ if path == *a => Some(*b),
        _ if path == *b => Some(*a),
        _ => None,
    })
}

/// The files that the kernel changes when the setting at `path`, which is `now`, becomes another, with what they hold.
pub(super) fn with(host: &Host, path: &str, now: &str) -> Vec<(String, String)> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut files: Vec<String> = exclusive(path).into_iter().map(str::to_owned).collect();
    if path.ends_with("/queue/scheduler") {
        // Another scheduler begins with its own depth and defaults; the throttle of writes may be turned off by it.
        files.extend(["nr_requests", "wbt_lat_usec"].map(|name| format!("{folder}/{name}")));
        files.extend(host.glob(&format!("{folder}/iosched/*")));
    }
    if path.ends_with("/scaling_governor") {
        let own = ["scaling_min_freq", "scaling_max_freq", "energy_performance_preference"];
        files.extend(own.map(|name| format!("{folder}/{name}")));
        if now == "userspace" {
            files.push(format!("{folder}/scaling_setspeed"));
        }
        // Its tunables are made when it begins and forgotten when it ends: for each policy, or one for all.
        files.extend(host.glob(&format!("{folder}/{now}/*")));
        files.extend(host.glob(&format!("/sys/devices/system/cpu/cpufreq/{now}/*")));
    }
    let readable = |path: String| {
        let before = value(host, &path).ok()?;
        host.check_setting(&path).ok()?;
        Some((path, before))
    };
    files.into_iter().filter_map(readable).collect()
}

//! What tells the time, and what wakes sleepers.

use super::Facts;

/// Flags of an x86 time-stamp counter, in the order in which they are shown.
const TSC: &[&str] = &[
    "tsc",
    "rdtscp",
    "constant_tsc",
    "nonstop_tsc",
    "nonstop_tsc_s3",
    "tsc_known_freq",
    "tsc_reliable",
    "tsc_adjust",
    "tsc_scale",
    "tsc_deadline_timer",
    "art",
];

pub(super) fn find(facts: &mut Facts<'_, '_>) {
    let folder = "/sys/devices/system/clocksource/clocksource0";
    facts.file("source", &format!("{folder}/current_clocksource"));
    facts.file("sources_available", &format!("{folder}/available_clocksource"));
    facts.optional("event_device", "/sys/devices/system/clockevents/clockevent0/current_device");
    let cpuinfo = facts.host.read_text("/proc/cpuinfo").unwrap_or_default();
    let flags = super::cpu::processors(&cpuinfo).first().and_then(|p| p.get("flags")).unwrap_or_default();
    let flags: Vec<&str> = flags.split_ascii_whitespace().collect();
    let found: Vec<&str> = TSC.iter().copied().filter(|flag| flags.contains(flag)).collect();
    facts.set("tsc", found.join(" "));
}

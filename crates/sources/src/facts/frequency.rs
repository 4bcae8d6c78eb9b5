//! How fast the CPUs may run and how deep they may sleep.

use super::{Facts, fold};
use model::Unavailable;

const CPUS: &str = "/sys/devices/system/cpu";

/// Settings of each CPU (Documentation/admin-guide/pm/cpufreq.rst), with the name of the fact.
const PER_CPU: &[(&str, &str)] = &[
    ("governor", "scaling_governor"),
    ("frequency.driver", "scaling_driver"),
    ("energy_preference", "energy_performance_preference"),
    ("frequency.least", "scaling_min_freq"),
    ("frequency.most", "scaling_max_freq"),
    ("frequency.hardware_least", "cpuinfo_min_freq"),
    ("frequency.hardware_most", "cpuinfo_max_freq"),
    ("frequency.base", "base_frequency"),
    ("boost", "boost"),
];

/// Settings for all CPUs.
const FOR_ALL: &[(&str, &str)] = &[
    ("boost", "cpufreq/boost"),
    ("frequency.intel_pstate.status", "intel_pstate/status"),
    ("turbo", "intel_pstate/no_turbo"),
    ("frequency.intel_pstate.min_perf_pct", "intel_pstate/min_perf_pct"),
    ("frequency.intel_pstate.max_perf_pct", "intel_pstate/max_perf_pct"),
    ("frequency.intel_pstate.hwp_dynamic_boost", "intel_pstate/hwp_dynamic_boost"),
    ("frequency.amd_pstate.status", "amd_pstate/status"),
    ("frequency.amd_pstate.prefcore", "amd_pstate/prefcore"),
    ("idle.driver", "cpuidle/current_driver"),
    ("idle.governor", "cpuidle/current_governor"),
];

pub(super) fn find(facts: &mut Facts<'_, '_>) {
    let numbers: Vec<i64> = facts
        .host
        .glob(&format!("{CPUS}/cpu*"))
        .iter()
        .filter_map(|path| path.rsplit('/').next()?.strip_prefix("cpu")?.parse().ok())
        .collect();
    let mut found = false;
    for (name, file) in PER_CPU {
        let values: Vec<(i64, String)> = numbers
            .iter()
            .filter_map(|&cpu| Some((cpu, facts.host.read_text(&format!("{CPUS}/cpu{cpu}/cpufreq/{file}")).ok()?)))
            .map(|(cpu, text)| (cpu, if name.starts_with("frequency.") { megahertz(text) } else { text }))
            .filter(|(_, text)| !text.is_empty())
            .collect();
        found |= !values.is_empty();
        facts.set(name, fold::by_number(&values));
    }
    if !found {
        let why = format!("{CPUS}/cpu*/cpufreq: no driver; firmware or the hypervisor sets the frequency");
        facts.missing("governor", Unavailable::absent(why));
    }
    for (name, file) in FOR_ALL {
        if let Some(text) = facts.text(name, &format!("{CPUS}/{file}")) {
            let text = match (*name, text.as_str()) {
                ("turbo", "0") => "on".to_owned(),
                ("turbo", "1") => "off".to_owned(),
                _ => text,
            };
            facts.set(name, text);
        }
    }
    idle_states(facts, &numbers);
}

/// A frequency in kHz as MHz; other texts (a driver's name) as they are.
fn megahertz(text: String) -> String {
    match text.parse::<i64>() {
        Ok(kilohertz) => format!("{} MHz", (kilohertz + 500) / 1000),
        Err(_) => text,
    }
}

/// Idle states, folded over CPUs (Documentation/admin-guide/pm/cpuidle.rst). Latency and residency in microseconds.
fn idle_states(facts: &mut Facts<'_, '_>, cpus: &[i64]) {
    let mut states: Vec<(String, Vec<(i64, String)>)> = Vec::new();
    for &cpu in cpus {
        let folder = format!("{CPUS}/cpu{cpu}/cpuidle");
        for state in facts.host.list(&folder).unwrap_or_default() {
            let read = |file: &str| facts.host.read_text(&format!("{folder}/{state}/{file}")).ok();
            let (Some(name), Some(latency)) = (read("name"), read("latency")) else { continue };
            let mut text = format!("{name}, exit {latency} µs");
            if let Some(residency) = read("residency") {
                text += &format!(", worth it from {residency} µs");
            }
            if read("disable").is_some_and(|d| d != "0") {
                text += ", disabled";
            }
            match states.iter_mut().find(|(known, _)| *known == state) {
                Some((_, values)) => values.push((cpu, text)),
                None => states.push((state, vec![(cpu, text)])),
            }
        }
    }
    for (state, values) in states {
        facts.set(&format!("idle.{state}"), fold::by_number(&values));
    }
}

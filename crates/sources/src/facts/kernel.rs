//! The kernel, how it was started, and the distribution.

use super::Facts;
use crate::mask;
use model::matches;

/// Parameters that are known to change performance (Documentation/admin-guide/kernel-parameters.txt); each is a fact of its own.
const PARAMETERS: &[&str] = &[
    "acpi_pad.*",
    "amd_iommu",
    "amd_pstate",
    "apparmor",
    "audit",
    "cgroup_disable",
    "cgroup_no_v1",
    "clocksource",
    "cpufreq.*",
    "cpuidle*",
    "default_hugepagesz",
    "elevator",
    "haltpoll.*",
    "highres",
    "hpet",
    "hugepages",
    "hugepagesz",
    "idle",
    "init_on_alloc",
    "init_on_free",
    "intel_idle.*",
    "intel_iommu",
    "intel_pstate",
    "iommu*",
    "irqaffinity",
    "isolcpus",
    "kasan*",
    "kfence.*",
    "kpti",
    "kvm*",
    "l1tf",
    "maxcpus",
    "mce",
    "mds",
    "mem",
    "mitigations",
    "movable_node",
    "nmi_watchdog",
    "no_*",
    "nohz",
    "nohz_full",
    "nokaslr",
    "nopcid",
    "nopti",
    "nosmt",
    "nospec*",
    "nowatchdog",
    "nr_cpus",
    "numa",
    "numa_balancing",
    "nvme*",
    "page_alloc.*",
    "page_poison",
    "pcie_aspm",
    "preempt",
    "processor.*",
    "psi",
    "pti",
    "rcu*",
    "retbleed",
    "scsi_mod.*",
    "security",
    "selinux",
    "skew_tick",
    "slab_nomerge",
    "slub_debug",
    "slab_debug",
    "spec_*",
    "spectre_*",
    "srbds",
    "swapaccount",
    "swiotlb",
    "systemd.unified_cgroup_hierarchy",
    "threadirqs",
    "tickless",
    "transparent_hugepage*",
    "tsc",
    "tsx*",
    "workqueue.*",
    "x2apic*",
    "zswap.*",
];

/// Reasons for a taint, from bit 0 (Documentation/admin-guide/tainted-kernels.rst).
const TAINTS: &[&str] = &[
    "proprietary module",
    "module forced",
    "CPU out of specification",
    "module unloaded by force",
    "machine check",
    "bad page",
    "tainted by a program",
    "oops or BUG",
    "ACPI table overridden",
    "warning",
    "staging driver",
    "firmware workaround",
    "module from outside the tree",
    "unsigned module",
    "soft lockup",
    "live patch",
    "auxiliary",
    "randomised structures",
    "in-kernel test",
    "firmware-controlled mutation",
];

pub(super) fn find(facts: &mut Facts<'_, '_>) {
    facts.file("release", "/proc/sys/kernel/osrelease");
    facts.file("version", "/proc/sys/kernel/version");
    machine(facts);
    preemption(facts);
    facts.chosen("lockdown", "/sys/kernel/security/lockdown");
    if let Some(text) = facts.text("tainted", "/proc/sys/kernel/tainted") {
        facts.set("tainted", taints(&text));
    }
    command_line(facts);
    distribution(facts);
}

fn machine(facts: &mut Facts<'_, '_>) {
    if facts.host.is_fixture() {
        facts.optional("machine", "/proc/sys/kernel/arch");
        return;
    }
    facts.set("machine", rustix::system::uname().machine().to_string_lossy());
    facts.set("page_size", super::size(rustix::param::page_size() as i64));
}

/// The preemption model: chosen at boot where the kernel has PREEMPT_DYNAMIC, else built in.
fn preemption(facts: &mut Facts<'_, '_>) {
    if facts.host.read_text("/sys/kernel/realtime").is_ok_and(|t| t == "1") {
        return facts.set("preemption", "rt");
    }
    // debugfs: absent or refused for most users, and then the version says what it can.
    if let Ok(text) = facts.host.read_text("/sys/kernel/debug/sched/preempt") {
        let chosen = text.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map_or(text.as_str(), |(w, _)| w);
        return facts.set("preemption", chosen);
    }
    let Ok(version) = facts.host.read_text("/proc/sys/kernel/version") else { return };
    let word = version.split(' ').find(|w| w.starts_with("PREEMPT")).unwrap_or("none or voluntary");
    facts.set("preemption", word);
}

/// Reasons for the bits that are set.
fn taints(text: &str) -> String {
    let Ok(bits) = text.parse::<u64>() else { return text.to_owned() };
    if bits == 0 {
        return "no".into();
    }
    let reasons = (0..64).filter(|bit| bits >> bit & 1 == 1).map(|bit| match TAINTS.get(bit) {
        Some(reason) => (*reason).to_owned(),
        None => format!("bit {bit}"),
    });
    reasons.collect::<Vec<_>>().join(", ")
}

fn command_line(facts: &mut Facts<'_, '_>) {
    let text = match facts.host.read_text("/proc/cmdline") {
        Ok(text) => text,
        Err(error) => return facts.missing("command_line", error.into()),
    };
    let masked = if facts.scope.unmasked { text } else { mask::text(&text) };
    facts.set("command_line", &masked);
    let mut found: Vec<(String, String)> = Vec::new();
    // What follows "--" is for the first process.
    for word in masked.split_ascii_whitespace().take_while(|w| *w != "--") {
        let (name, value) = word.split_once('=').unwrap_or((word, "set"));
        // The kernel takes dashes and underscores for the same.
        let name = name.replace('-', "_");
        if !PARAMETERS.iter().any(|pattern| matches(pattern, &name)) {
            continue;
        }
        match found.iter_mut().find(|(known, _)| *known == name) {
            // Given again (hugepagesz=… hugepages=…): the order matters.
            Some((_, values)) => *values = format!("{values} {value}"),
            None => found.push((name, value.to_owned())),
        }
    }
    for (name, value) in found {
        facts.set(&format!("boot.{name}"), value);
    }
}

fn distribution(facts: &mut Facts<'_, '_>) {
    let text = facts.host.read_text("/etc/os-release").or_else(|_| facts.host.read_text("/usr/lib/os-release"));
    let text = match text {
        Ok(text) => text,
        Err(error) => return facts.missing("distribution", error.into()),
    };
    let value = |key: &str| assignment(&text, key);
    if let Some(name) = value("PRETTY_NAME").or_else(|| value("NAME")) {
        facts.set("distribution", name);
    }
    if let Some(image) = value("IMAGE_VERSION").or_else(|| value("BUILD_ID")) {
        facts.set("distribution_build", image);
    }
}

/// The value of `KEY=value` or `KEY="value"` in a file of shell assignments (os-release(5), the `release` file of a JVM).
pub(super) fn assignment<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let value = text.lines().find_map(|line| line.trim().strip_prefix(key)?.strip_prefix('='))?;
    let value = value.trim().trim_matches(|c| matches!(c, '"' | '\''));
    (!value.is_empty()).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taint_bits() {
        assert_eq!(taints("0"), "no");
        assert_eq!(taints("4097"), "proprietary module, module from outside the tree");
        assert_eq!(taints("1099511627776"), "bit 40");
        assert_eq!(taints("x"), "x");
    }

    #[test]
    fn assignments() {
        assert_eq!(assignment("A=1\nNAME=\"Debian GNU/Linux\"\n", "NAME"), Some("Debian GNU/Linux"));
        assert_eq!(assignment("VERSION_ID=1\n", "VERSION"), None);
    }
}

//! Properties of the host that do not change by themselves: what it is made of, how it is set up, what runs on it. Two hosts, or
//! two states of one, are compared by the equality of these, so that nothing volatile belongs here: no uptime, no process id, no
//! free memory, no frequency of the moment. Names say what a fact is about by words that are the same on other hosts and after
//! a reboot. What holds for each CPU is folded into one fact. Environments are never recorded, serial numbers and addresses neither.
//!
//! One file a group. The two large sets, `sysctl` and `kernel_config`, are sources of their own.

mod block;
mod clock;
mod cloud;
mod container;
mod cpu;
mod fold;
mod frequency;
mod irq;
mod jvm;
mod kernel;
mod limits;
mod memory;
mod modules;
mod mounts;
mod network;
mod platform;
mod runtimes;
mod tlb;
mod toolchain;
mod topology;

pub use container::cpu_quota;

use crate::{Pace, Reader, Scope, Source};
use host::{Host, ReadError};
use model::{Out, Unavailable};

/// A group of facts: its category and the function that finds them.
type Group = (&'static str, fn(&mut Facts<'_, '_>));

static GROUPS: &[Group] = &[
    ("kernel", kernel::find),
    ("cpu", cpu::find),
    ("cpu", topology::find),
    ("cpu", tlb::find),
    ("cpu", frequency::find),
    ("clock", clock::find),
    ("platform", platform::find),
    ("memory", memory::find),
    ("block", block::find),
    ("mount", mounts::find),
    ("network", network::find),
    ("irq", irq::find),
    ("container", container::find),
    ("module", modules::find),
    ("limit", limits::find),
    ("toolchain", toolchain::find),
    ("runtime", runtimes::find),
];

/// Properties of the host.
pub static SOURCE: Source = Source {
    name: "facts",
    title: "Hardware and set-up of the host",
    documented: "Documentation/ABI/testing/sysfs-*; proc(5); os-release(5)",
    reads: &[
        "/.dockerenv",
        "/etc/ld.so.preload",
        "/etc/os-release",
        "/lib/apk/db/installed",
        "/proc/*/cmdline",
        "/proc/*/comm",
        "/proc/*/exe",
        "/proc/cmdline",
        "/proc/cpuinfo",
        "/proc/filesystems",
        "/proc/irq/*/effective_affinity_list",
        "/proc/irq/*/smp_affinity_list",
        "/proc/irq/default_smp_affinity",
        "/proc/meminfo",
        "/proc/modules",
        "/proc/self/cgroup",
        "/proc/self/limits",
        "/proc/self/mountinfo",
        "/proc/self/status",
        "/proc/swaps",
        "/proc/sys/kernel/arch",
        "/proc/sys/kernel/osrelease",
        "/proc/sys/kernel/tainted",
        "/proc/sys/kernel/version",
        "/run/.containerenv",
        "/run/systemd/container",
        "/sys/block/*/device/firmware_rev",
        "/sys/block/*/device/model",
        "/sys/block/*/device/numa_node",
        "/sys/block/*/device/queue_depth",
        "/sys/block/*/device/rev",
        "/sys/block/*/device/subsystem",
        "/sys/block/*/device/transport",
        "/sys/block/*/device/vendor",
        "/sys/block/*/dm/name",
        "/sys/block/*/md/level",
        "/sys/block/*/mq/*",
        "/sys/block/*/queue/discard_max_bytes",
        "/sys/block/*/queue/fua",
        "/sys/block/*/queue/io_poll",
        "/sys/block/*/queue/iostats",
        "/sys/block/*/queue/logical_block_size",
        "/sys/block/*/queue/max_sectors_kb",
        "/sys/block/*/queue/max_segments",
        "/sys/block/*/queue/nomerges",
        "/sys/block/*/queue/nr_requests",
        "/sys/block/*/queue/physical_block_size",
        "/sys/block/*/queue/read_ahead_kb",
        "/sys/block/*/queue/rotational",
        "/sys/block/*/queue/rq_affinity",
        "/sys/block/*/queue/scheduler",
        "/sys/block/*/queue/wbt_lat_usec",
        "/sys/block/*/queue/write_cache",
        "/sys/block/*/queue/zoned",
        "/sys/block/*/size",
        "/sys/block/zram*/comp_algorithm",
        "/sys/block/zram*/disksize",
        "/sys/class/dmi/id/bios_date",
        "/sys/class/dmi/id/bios_vendor",
        "/sys/class/dmi/id/bios_version",
        "/sys/class/dmi/id/board_name",
        "/sys/class/dmi/id/chassis_asset_tag",
        "/sys/class/dmi/id/product_family",
        "/sys/class/dmi/id/product_name",
        "/sys/class/dmi/id/product_version",
        "/sys/class/dmi/id/sys_vendor",
        "/sys/class/net/*/bonding/mode",
        "/sys/class/net/*/bonding/slaves",
        "/sys/class/net/*/bonding/xmit_hash_policy",
        "/sys/class/net/*/device/device",
        "/sys/class/net/*/device/driver",
        "/sys/class/net/*/device/numa_node",
        "/sys/class/net/*/device/vendor",
        "/sys/class/net/*/duplex",
        "/sys/class/net/*/gro_flush_timeout",
        "/sys/class/net/*/mtu",
        "/sys/class/net/*/napi_defer_hard_irqs",
        "/sys/class/net/*/operstate",
        "/sys/class/net/*/queues/*/rps_cpus",
        "/sys/class/net/*/queues/*/rps_flow_cnt",
        "/sys/class/net/*/queues/*/xps_cpus",
        "/sys/class/net/*/queues/*/xps_rxqs",
        "/sys/class/net/*/speed",
        "/sys/class/net/*/threaded",
        "/sys/class/net/*/tx_queue_len",
        "/sys/devices/system/clockevents/clockevent0/current_device",
        "/sys/devices/system/clocksource/clocksource0/*",
        "/sys/devices/system/cpu/amd_pstate/*",
        "/sys/devices/system/cpu/cpu*/cache/index*/coherency_line_size",
        "/sys/devices/system/cpu/cpu*/cache/index*/level",
        "/sys/devices/system/cpu/cpu*/cache/index*/shared_cpu_list",
        "/sys/devices/system/cpu/cpu*/cache/index*/size",
        "/sys/devices/system/cpu/cpu*/cache/index*/type",
        "/sys/devices/system/cpu/cpu*/cache/index*/ways_of_associativity",
        "/sys/devices/system/cpu/cpu*/cpufreq/base_frequency",
        "/sys/devices/system/cpu/cpu*/cpufreq/boost",
        "/sys/devices/system/cpu/cpu*/cpufreq/cpuinfo_max_freq",
        "/sys/devices/system/cpu/cpu*/cpufreq/cpuinfo_min_freq",
        "/sys/devices/system/cpu/cpu*/cpufreq/energy_performance_preference",
        "/sys/devices/system/cpu/cpu*/cpufreq/scaling_driver",
        "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
        "/sys/devices/system/cpu/cpu*/cpufreq/scaling_max_freq",
        "/sys/devices/system/cpu/cpu*/cpufreq/scaling_min_freq",
        "/sys/devices/system/cpu/cpu*/cpuidle/state*/disable",
        "/sys/devices/system/cpu/cpu*/cpuidle/state*/latency",
        "/sys/devices/system/cpu/cpu*/cpuidle/state*/name",
        "/sys/devices/system/cpu/cpu*/cpuidle/state*/residency",
        "/sys/devices/system/cpu/cpu*/topology/core_cpus_list",
        "/sys/devices/system/cpu/cpu*/topology/die_id",
        "/sys/devices/system/cpu/cpu*/topology/physical_package_id",
        "/sys/devices/system/cpu/cpu*/topology/thread_siblings_list",
        "/sys/devices/system/cpu/cpufreq/boost",
        "/sys/devices/system/cpu/cpuidle/*",
        "/sys/devices/system/cpu/intel_pstate/*",
        "/sys/devices/system/cpu/isolated",
        "/sys/devices/system/cpu/nohz_full",
        "/sys/devices/system/cpu/offline",
        "/sys/devices/system/cpu/online",
        "/sys/devices/system/cpu/smt/*",
        "/sys/devices/system/cpu/vulnerabilities/*",
        "/sys/devices/system/node/node*/cpulist",
        "/sys/devices/system/node/node*/distance",
        "/sys/devices/system/node/node*/meminfo",
        "/sys/firmware/acpi/platform_profile",
        "/sys/firmware/devicetree/base/model",
        "/sys/fs/cgroup/cpu.max",
        "/sys/fs/cgroup/cpu.weight",
        "/sys/fs/cgroup/cpu/cpu.cfs_period_us",
        "/sys/fs/cgroup/cpu/cpu.cfs_quota_us",
        "/sys/fs/cgroup/cpu/cpu.shares",
        "/sys/fs/cgroup/cpuset.cpus.effective",
        "/sys/fs/cgroup/cpuset.mems.effective",
        "/sys/fs/cgroup/cpuset/cpuset.effective_cpus",
        "/sys/fs/cgroup/cpuset/cpuset.effective_mems",
        "/sys/fs/cgroup/io.max",
        "/sys/fs/cgroup/memory.high",
        "/sys/fs/cgroup/memory.max",
        "/sys/fs/cgroup/memory.swap.max",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes",
        "/sys/fs/cgroup/pids.max",
        "/sys/fs/cgroup/pids/pids.max",
        "/sys/hypervisor/type",
        "/sys/kernel/irq/*/actions",
        "/sys/kernel/mm/hugepages/*/nr_hugepages",
        "/sys/kernel/mm/hugepages/*/nr_overcommit_hugepages",
        "/sys/kernel/mm/ksm/advisor_mode",
        "/sys/kernel/mm/ksm/merge_across_nodes",
        "/sys/kernel/mm/ksm/pages_to_scan",
        "/sys/kernel/mm/ksm/run",
        "/sys/kernel/mm/ksm/sleep_millisecs",
        "/sys/kernel/mm/ksm/smart_scan",
        "/sys/kernel/mm/ksm/use_zero_pages",
        "/sys/kernel/mm/lru_gen/*",
        "/sys/kernel/mm/numa/demotion_enabled",
        "/sys/kernel/mm/transparent_hugepage/*",
        "/sys/kernel/mm/transparent_hugepage/hugepages-*/enabled",
        "/sys/kernel/mm/transparent_hugepage/hugepages-*/shmem_enabled",
        "/sys/kernel/mm/transparent_hugepage/khugepaged/alloc_sleep_millisecs",
        "/sys/kernel/mm/transparent_hugepage/khugepaged/defrag",
        "/sys/kernel/mm/transparent_hugepage/khugepaged/max_ptes_none",
        "/sys/kernel/mm/transparent_hugepage/khugepaged/max_ptes_shared",
        "/sys/kernel/mm/transparent_hugepage/khugepaged/max_ptes_swap",
        "/sys/kernel/mm/transparent_hugepage/khugepaged/pages_to_scan",
        "/sys/kernel/mm/transparent_hugepage/khugepaged/scan_sleep_millisecs",
        "/sys/kernel/realtime",
        "/sys/kernel/security/lockdown",
        "/sys/module/*/version",
        "/sys/module/cpuidle/parameters/governor",
        "/sys/module/cpuidle_haltpoll/parameters/force",
        "/sys/module/ena/parameters/force_large_llq_header",
        "/sys/module/ena/parameters/rx_queue_size",
        "/sys/module/haltpoll/parameters/force",
        "/sys/module/haltpoll/parameters/guest_halt_poll_grow",
        "/sys/module/haltpoll/parameters/guest_halt_poll_ns",
        "/sys/module/intel_idle/parameters/max_cstate",
        "/sys/module/intel_idle/parameters/states_off",
        "/sys/module/kvm/parameters/halt_poll_ns",
        "/sys/module/kvm/parameters/halt_poll_ns_grow",
        "/sys/module/kvm/parameters/nx_huge_pages",
        "/sys/module/kvm_amd/parameters/avic",
        "/sys/module/kvm_amd/parameters/nested",
        "/sys/module/kvm_amd/parameters/npt",
        "/sys/module/kvm_intel/parameters/ept",
        "/sys/module/kvm_intel/parameters/nested",
        "/sys/module/kvm_intel/parameters/ple_gap",
        "/sys/module/nf_conntrack/parameters/hashsize",
        "/sys/module/nfs/parameters/nfs4_disable_idmapping",
        "/sys/module/nvme/parameters/io_queue_depth",
        "/sys/module/nvme/parameters/poll_queues",
        "/sys/module/nvme/parameters/write_queues",
        "/sys/module/nvme_core/parameters/default_ps_max_latency_us",
        "/sys/module/nvme_core/parameters/io_timeout",
        "/sys/module/nvme_core/parameters/multipath",
        "/sys/module/pcie_aspm/parameters/policy",
        "/sys/module/processor/parameters/max_cstate",
        "/sys/module/scsi_mod/parameters/use_blk_mq",
        "/sys/module/shpchp/parameters/shpchp_poll_mode",
        "/sys/module/spl/parameters/spl_kmem_cache_slab_limit",
        "/sys/module/sunrpc/parameters/tcp_max_slot_table_entries",
        "/sys/module/sunrpc/parameters/tcp_slot_table_entries",
        "/sys/module/tcp_cubic/parameters/hystart",
        "/sys/module/virtio_net/parameters/napi_tx",
        "/sys/module/workqueue/parameters/cpu_intensive_thresh_us",
        "/sys/module/workqueue/parameters/default_affinity_scope",
        "/sys/module/workqueue/parameters/power_efficient",
        "/sys/module/zfs/parameters/zfs_arc_max",
        "/sys/module/zfs/parameters/zfs_arc_min",
        "/sys/module/zfs/parameters/zfs_prefetch_disable",
        "/sys/module/zfs/parameters/zfs_txg_timeout",
        "/sys/module/zswap/parameters/compressor",
        "/sys/module/zswap/parameters/enabled",
        "/sys/module/zswap/parameters/max_pool_percent",
        "/sys/module/zswap/parameters/shrinker_enabled",
        "/sys/module/zswap/parameters/zpool",
        "/usr/lib/gcc/*/*",
        "/usr/lib/jvm/*/release",
        "/usr/lib/llvm-*",
        "/usr/local/go/VERSION",
    ],
    needs: "root to see the runtimes of other users' processes",
    pace: Pace::Once,
    tables: &[],
    charts: &[],
    open: |host, scope: &Scope| {
        host.list("/proc")?;
        Ok(Box::new(Reading { scope: scope.clone(), cloud: None }))
    },
};

struct Reading {
    scope: Scope,
    /// What the cloud's metadata service said, asked once.
    cloud: Option<Vec<(&'static str, String)>>,
}

impl Reader for Reading {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        let mut facts = Facts { host, scope: &self.scope, category: "", found: 0, out };
        for (category, find) in GROUPS {
            facts.category = category;
            find(&mut facts);
        }
        if self.scope.cloud_metadata && !host.is_fixture() {
            facts.category = "platform";
            let cloud = self.cloud.get_or_insert_with(|| cloud::ask(&mut facts));
            for (name, value) in cloud.iter() {
                facts.set(name, value);
            }
        }
        if facts.found == 0 {
            return Err(Unavailable::failed("/proc and /sys: nothing in them could be read"));
        }
        Ok(())
    }
}

/// Values are cut at this many bytes: lists of 500 CPUs fit.
const LONGEST: usize = 8192;

/// Where a group puts its facts, and how it reads them.
struct Facts<'a, 'o> {
    host: &'a Host,
    scope: &'a Scope,
    category: &'static str,
    found: usize,
    out: &'a mut Out<'o>,
}

impl Facts<'_, '_> {
    /// Records a fact of the group's category. Nothing is recorded for an empty value.
    fn set(&mut self, name: &str, value: impl AsRef<str>) {
        self.set_in(self.category, name, value);
    }

    /// Records a fact of another category.
    fn set_in(&mut self, category: &str, name: &str, value: impl AsRef<str>) {
        let mut value: String = value.as_ref().trim().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        if value.is_empty() {
            return;
        }
        if value.len() > LONGEST {
            let mut end = LONGEST;
            while !value.is_char_boundary(end) {
                end -= 1;
            }
            value.truncate(end);
            value.push('…');
        }
        self.found += 1;
        self.out.fact(category, name, value);
    }

    /// Records what a file holds, and says so where it cannot be read.
    fn file(&mut self, name: &str, path: &str) {
        match self.host.read_text(path) {
            Ok(text) => self.set(name, text),
            Err(error) => self.missing(name, error.into()),
        }
    }

    /// Records what a file holds that not every host has; only a refusal is said.
    fn optional(&mut self, name: &str, path: &str) {
        if let Some(text) = self.text(name, path) {
            self.set(name, text);
        }
    }

    /// Records which of the words in a file is chosen: `always [madvise] never`.
    fn chosen(&mut self, name: &str, path: &str) {
        if let Some(text) = self.text(name, path) {
            self.set(name, chosen(&text));
        }
    }

    /// What a file holds that not every host has; a refusal or a failure is said in the name of the fact.
    fn text(&mut self, name: &str, path: &str) -> Option<String> {
        match self.host.read_text(path) {
            Ok(text) => Some(text),
            Err(error) => {
                self.unless_absent(name, error);
                None
            }
        }
    }

    fn unless_absent(&mut self, name: &str, error: ReadError) {
        if !error.is_absent() {
            self.missing(name, error.into());
        }
    }

    /// Says that a fact could not be found out.
    fn missing(&mut self, name: &str, why: Unavailable) {
        let item = format!("{}.{name}", self.category);
        self.out.missing(&item, why);
    }

    /// The last part of the path that a symbolic link points to: the name of a driver or bus.
    fn link_name(&self, path: &str) -> Option<String> {
        Some(self.host.link(path).ok()?.file_name()?.to_string_lossy().into_owned())
    }
}

/// The word in brackets, or the whole text where there are none.
fn chosen(text: &str) -> &str {
    text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or(text, |(word, _)| word)
}

/// A size in bytes as people write it, with at most two decimals.
fn size(bytes: i64) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text} {}", UNITS.get(unit).unwrap_or(&""))
}

#[cfg(test)]
mod tests;

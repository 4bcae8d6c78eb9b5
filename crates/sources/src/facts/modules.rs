//! Loaded kernel modules with their versions, and parameters of modules that are known to matter.

use super::Facts;

/// Parameters that change performance, also of code that is built in (`/sys/module/X/parameters/Y`).
const PARAMETERS: &[&str] = &[
    "cpuidle/governor",
    "ena/force_large_llq_header",
    "ena/rx_queue_size",
    "haltpoll/force",
    "haltpoll/guest_halt_poll_ns",
    "haltpoll/guest_halt_poll_grow",
    "cpuidle_haltpoll/force",
    "intel_idle/max_cstate",
    "intel_idle/states_off",
    "kvm/halt_poll_ns",
    "kvm/halt_poll_ns_grow",
    "kvm/nx_huge_pages",
    "kvm_intel/ept",
    "kvm_intel/nested",
    "kvm_intel/ple_gap",
    "kvm_amd/avic",
    "kvm_amd/nested",
    "kvm_amd/npt",
    "nf_conntrack/hashsize",
    "nfs/nfs4_disable_idmapping",
    "nvme/io_queue_depth",
    "nvme/poll_queues",
    "nvme/write_queues",
    "nvme_core/default_ps_max_latency_us",
    "nvme_core/multipath",
    "nvme_core/io_timeout",
    "pcie_aspm/policy",
    "processor/max_cstate",
    "scsi_mod/use_blk_mq",
    "shpchp/shpchp_poll_mode",
    "spl/spl_kmem_cache_slab_limit",
    "sunrpc/tcp_slot_table_entries",
    "sunrpc/tcp_max_slot_table_entries",
    "tcp_cubic/hystart",
    "virtio_net/napi_tx",
    "workqueue/power_efficient",
    "workqueue/default_affinity_scope",
    "workqueue/cpu_intensive_thresh_us",
    "zfs/zfs_arc_max",
    "zfs/zfs_arc_min",
    "zfs/zfs_prefetch_disable",
    "zfs/zfs_txg_timeout",
];

pub(super) fn find(facts: &mut Facts<'_, '_>) {
    match facts.host.read_text("/proc/modules") {
        Ok(text) => {
            for name in text.lines().filter_map(|line| line.split(' ').next()).filter(|name| !name.is_empty()) {
                let version = facts.host.read_text(&format!("/sys/module/{name}/version")).unwrap_or_default();
                facts.set(
                    name,
                    if version.is_empty() { "loaded".to_owned() } else { format!("loaded, version {version}") },
                );
            }
        }
        // A kernel without modules has no such file.
        Err(error) => facts.missing("modules", error.into()),
    }
    for parameter in PARAMETERS {
        if let Some((module, name)) = parameter.split_once('/') {
            facts.chosen(&format!("{module}.{name}"), &format!("/sys/module/{module}/parameters/{name}"));
        }
    }
}

//! Block devices: what they are, and how requests reach them (Documentation/ABI/stable/sysfs-block).

use super::{Facts, chosen, size};

/// Files below a device, with the name of the fact. Words in brackets are chosen ones.
const FILES: &[(&str, &str)] = &[
    ("scheduler", "queue/scheduler"),
    ("rotational", "queue/rotational"),
    ("requests", "queue/nr_requests"),
    ("write_cache", "queue/write_cache"),
    ("fua", "queue/fua"),
    ("throttle_latency", "queue/wbt_lat_usec"),
    ("merges_off", "queue/nomerges"),
    ("rq_affinity", "queue/rq_affinity"),
    ("polling", "queue/io_poll"),
    ("logical_block", "queue/logical_block_size"),
    ("physical_block", "queue/physical_block_size"),
    ("segments", "queue/max_segments"),
    ("zoned", "queue/zoned"),
    ("statistics", "queue/iostats"),
    ("queue_depth", "device/queue_depth"),
    ("vendor", "device/vendor"),
    ("model", "device/model"),
    ("firmware", "device/firmware_rev"),
    ("firmware", "device/rev"),
    ("numa_node", "device/numa_node"),
    ("mapper", "dm/name"),
    ("raid", "md/level"),
];

/// Buses and classes that a device can hang on, in the order in which they are looked for in its path.
const TRANSPORTS: &[&str] =
    &["virtio", "nvme", "usb", "iscsi", "fc", "sas", "ata", "mmc", "xen", "vbd", "vmbus", "nbd", "rbd", "scsi"];

pub(super) fn find(facts: &mut Facts<'_, '_>) {
    let names = match facts.host.list("/sys/block") {
        Ok(names) => names,
        Err(error) => return facts.missing("devices", error.into()),
    };
    for name in names {
        let folder = format!("/sys/block/{name}");
        let sectors = facts.host.read_number(&format!("{folder}/size")).unwrap_or(0);
        // Loop devices, drives and mapper slots without content; compressed memory is told with swap.
        if sectors <= 0 || name.starts_with("zram") || name.starts_with("ram") {
            continue;
        }
        facts.set(&format!("{name}.size"), size(sectors.saturating_mul(512)));
        for (fact, file) in FILES {
            if let Some(text) = facts.text(&format!("{name}.{fact}"), &format!("{folder}/{file}")) {
                facts.set(&format!("{name}.{fact}"), chosen(&text));
            }
        }
        for (fact, file, unit) in [
            ("read_ahead", "queue/read_ahead_kb", 1024),
            ("largest_request", "queue/max_sectors_kb", 1024),
            ("discard_most", "queue/discard_max_bytes", 1),
        ] {
            if let Ok(number) = facts.host.read_number(&format!("{folder}/{file}")) {
                facts.set(&format!("{name}.{fact}"), size(number.saturating_mul(unit)));
            }
        }
        if let Ok(queues) = facts.host.list(&format!("{folder}/mq")) {
            facts.set(&format!("{name}.hardware_queues"), queues.len().to_string());
        }
        if let Some(transport) = transport(facts, &folder, &name) {
            facts.set(&format!("{name}.transport"), transport);
        }
    }
}

/// How the device is attached: NVMe says it; else the buses on its path in sysfs.
fn transport(facts: &Facts<'_, '_>, folder: &str, name: &str) -> Option<String> {
    if let Ok(text) = facts.host.read_text(&format!("{folder}/device/transport")) {
        return Some(format!("nvme over {text}"));
    }
    for virtual_device in ["dm-", "md", "loop", "nbd", "bcache"] {
        if name.starts_with(virtual_device) {
            return Some(format!("virtual ({})", virtual_device.trim_end_matches('-')));
        }
    }
    let path = facts.host.link(folder).map(|link| link.to_string_lossy().into_owned()).unwrap_or_default();
    let on_path =
        |bus: &str| path.split('/').any(|part| part.trim_end_matches(|c: char| !c.is_ascii_alphabetic()) == bus);
    let found = TRANSPORTS.iter().find(|bus| on_path(bus)).map(|bus| (*bus).to_owned());
    found.or_else(|| facts.link_name(&format!("{folder}/device/subsystem")))
}

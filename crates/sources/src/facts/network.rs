//! Network interfaces that have a device behind them, and bonds: driver, speed, queues, rings, offloads, steering
//! (Documentation/ABI/testing/sysfs-class-net, Documentation/networking/scaling.rst). Addresses are not recorded.

use super::{Facts, fold};
use host::Setting;

const NET: &str = "/sys/class/net";

/// Files of an interface, with the name of the fact.
const FILES: &[(&str, &str)] = &[
    ("mtu", "mtu"),
    ("duplex", "duplex"),
    ("state", "operstate"),
    ("tx_queue_length", "tx_queue_len"),
    ("gro_flush_timeout", "gro_flush_timeout"),
    ("napi_defer_hard_irqs", "napi_defer_hard_irqs"),
    ("napi_threaded", "threaded"),
    ("numa_node", "device/numa_node"),
    ("pci_vendor", "device/vendor"),
    ("pci_device", "device/device"),
    ("bond.mode", "bonding/mode"),
    ("bond.hash", "bonding/xmit_hash_policy"),
    ("bond.members", "bonding/slaves"),
];

/// Groups of settings that drivers tell, with the beginning of the facts' names.
const SETTINGS: &[(&str, Setting)] = &[
    ("", Setting::Driver),
    ("ring.", Setting::Rings),
    ("channels.", Setting::Channels),
    ("coalesce.", Setting::Coalescing),
    ("offload.", Setting::Features),
];

pub(super) fn find(facts: &mut Facts<'_, '_>) {
    let names = match facts.host.list(NET) {
        Ok(names) => names,
        Err(error) => return facts.missing("interfaces", error.into()),
    };
    for name in names {
        let is = |file: &str| facts.host.path(&format!("{NET}/{name}/{file}")).symlink_metadata().is_ok();
        if is("device") || is("bonding") {
            interface(facts, &name);
        }
    }
}

fn interface(facts: &mut Facts<'_, '_>, name: &str) {
    let folder = format!("{NET}/{name}");
    for (fact, file) in FILES {
        // EINVAL is how the kernel says that a link that is down has no duplex.
        if let Ok(text) = facts.host.read_text(&format!("{folder}/{file}")) {
            facts.set(&format!("{name}.{fact}"), text);
        }
    }
    // -1: the driver does not know.
    if let Ok(speed) = facts.host.read_number(&format!("{folder}/speed"))
        && speed > 0
    {
        facts.set(&format!("{name}.speed"), format!("{speed} Mbit/s"));
    }
    let driver = facts.link_name(&format!("{folder}/device/driver"));
    if let Some(driver) = &driver {
        facts.set(&format!("{name}.driver"), driver);
    }
    queues(facts, name, &folder);
    for (prefix, setting) in SETTINGS {
        match facts.host.ethtool(name, *setting) {
            Ok(values) => settings(facts, name, prefix, &values, driver.is_some()),
            Err(error) => facts.unless_absent(&format!("{name}.{}", prefix.trim_end_matches('.')), error),
        }
    }
}

fn settings(facts: &mut Facts<'_, '_>, name: &str, prefix: &str, values: &[(String, String)], has_driver: bool) {
    let is_on = |wanted: &str| values.iter().any(|(n, v)| n == wanted && matches!(v.as_str(), "on" | "1"));
    let (adaptive_rx, adaptive_tx) = (is_on("adaptive_rx"), is_on("adaptive_tx"));
    for (setting, value) in values {
        let adapts = prefix == "coalesce."
            && ((adaptive_rx && matches!(setting.as_str(), "rx_usecs" | "rx_frames"))
                || (adaptive_tx && matches!(setting.as_str(), "tx_usecs" | "tx_frames")));
        // Steps of an adaptation that there is not are no settings.
        let unused = prefix == "coalesce." && value == "0" && setting.split('_').count() > 2;
        // What the adapter cannot do is not worth a fact each.
        let cannot = prefix == "offload." && value.starts_with("off") && value.contains("fixed");
        // The bus address changes when cards are moved.
        let known = prefix.is_empty() && (setting == "bus" || (setting == "driver" && has_driver));
        if !adapts && !unused && !cannot && !known {
            let fact = if prefix.is_empty() && setting == "version" { "driver_version" } else { setting };
            facts.set(&format!("{name}.{prefix}{fact}"), value);
        }
    }
}

/// Number of queues, and the CPUs that receive (RPS) and send (XPS) through each.
fn queues(facts: &mut Facts<'_, '_>, name: &str, folder: &str) {
    let all = facts.host.list(&format!("{folder}/queues")).unwrap_or_default();
    for (direction, steering) in [("rx", &["rps_cpus", "rps_flow_cnt"][..]), ("tx", &["xps_cpus", "xps_rxqs"])] {
        let queues: Vec<(i64, &String)> = all
            .iter()
            .filter_map(|queue| Some((queue.strip_prefix(direction)?.strip_prefix('-')?.parse().ok()?, queue)))
            .collect();
        if queues.is_empty() {
            continue;
        }
        facts.set(&format!("{name}.queues.{direction}"), queues.len().to_string());
        for file in steering {
            let values: Vec<(i64, String)> = queues
                .iter()
                .filter_map(|(number, queue)| {
                    let text = facts.host.read_text(&format!("{folder}/queues/{queue}/{file}")).ok()?;
                    Some((*number, text)).filter(|(_, t)| !t.is_empty())
                })
                .collect();
            facts.set(&format!("{name}.{file}"), fold::by_number(&values));
        }
    }
}

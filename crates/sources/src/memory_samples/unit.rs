//! Which events sample accesses here, by what sysfs shows of PMUs: `mem-loads` and `mem-stores` of Intel's `cpu` or `cpu_core`, AMD's `ibs_op`, Arm's
//! `arm_spe_0`.

use crate::pmu::{DEVICES, Device};
use access::spe::Sources;
use counters::Encoding;
use host::Host;
use host::accesses::{Unit, Way};
use model::Unavailable;

/// Loads that take fewer cycles are not sampled (PEBS, SPE): those of the nearest caches, which are nearly all.
const LEAST: u64 = 30;

/// Samples a second of each thread, in a burst.
const HERTZ: u64 = 1000;

/// Operations between samples of SPE: some thousand a second.
const OPERATIONS: u64 = 1_000_000;

/// Finds them.
///
/// # Errors
/// *Absent*, with what was looked for.
pub(super) fn find(host: &Host) -> Result<Unit, Unavailable> {
    for name in ["cpu_core", "cpu"] {
        let Some(device) = Device::read(host, name).filter(|device| device.alias(host, "mem-loads").is_some()) else {
            continue;
        };
        return loads(host, &device).map_err(|why| Unavailable::absent(format!("{DEVICES}/{name}: {why}")));
    }
    let terms = |terms: &[(&str, u64)]| {
        Encoding::Terms(terms.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect())
    };
    if let Some(device) = Device::read(host, "ibs_op") {
        // Only what missed L3, from Zen 4 on: where it cannot be told, any operation.
        let event = device
            .encode(host, &terms(&[("l3missonly", 1)]), true)
            .or_else(|_| device.encode(host, &terms(&[]), true))
            .map_err(|why| Unavailable::absent(format!("{DEVICES}/ibs_op: {why}")))?;
        return Ok(Unit { way: Way::Registers, groups: vec![vec![event]], rate: HERTZ });
    }
    if let Some(device) = Device::read(host, "arm_spe_0") {
        let all = [("ts_enable", 1), ("jitter", 1), ("load_filter", 1), ("store_filter", 1), ("min_latency", LEAST)];
        let event = device
            .encode(host, &terms(&all), true)
            .map_err(|why| Unavailable::absent(format!("{DEVICES}/arm_spe_0: {why}")))?;
        let midr = host.read_text("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1").unwrap_or_default();
        let midr = u64::from_str_radix(midr.trim().trim_start_matches("0x"), 16).unwrap_or(0);
        return Ok(Unit { way: Way::Packets(Sources::of(midr)), groups: vec![vec![event]], rate: OPERATIONS });
    }
    let why = format!(
        "this machine shows no PMU that samples accesses: neither mem-loads of PEBS, nor ibs_op, nor arm_spe_0 ({DEVICES})"
    );
    Err(Unavailable::absent(why))
}

/// Loads and stores of Intel: the threshold of latency is the kernel's own field.
fn loads(host: &Host, device: &Device) -> Result<Unit, String> {
    let mut load = device.of_alias(host, "mem-loads")?;
    let threshold = Encoding::Terms(vec![("ldlat".to_owned(), LEAST)]);
    // The alias has the least that is possible; both lie in config1.
    let threshold = device.encode(host, &threshold, true)?;
    (load.config1, load.config2) = (threshold.config1, threshold.config2);
    // From Sapphire Rapids on another event must stand before it.
    let before = device.of_alias(host, "mem-loads-aux").ok();
    let mut groups = vec![before.into_iter().chain([load]).collect::<Vec<_>>()];
    groups.extend(device.of_alias(host, "mem-stores").ok().map(|store| vec![store]));
    Ok(Unit { way: Way::Source, groups, rate: HERTZ })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::host_of;
    use host::counting::Event;
    use model::Status;

    fn found(files: &[(&str, &str)]) -> Result<Unit, Unavailable> {
        let files: Vec<(String, &str)> =
            files.iter().map(|(path, text)| (format!("{DEVICES}/{path}"), *text)).collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        let (_dir, host) = host_of(&files);
        find(&host)
    }

    const CPU: [(&str, &str); 5] = [
        ("cpu/type", "4\n"),
        ("cpu/format/event", "config:0-7\n"),
        ("cpu/format/umask", "config:8-15\n"),
        ("cpu/format/ldlat", "config1:0-15\n"),
        ("cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n"),
    ];

    #[test]
    fn loads_and_stores_of_intel() {
        let load = Event { kind: 4, config: 0x1cd, config1: 30, ..Event::default() };
        let unit = found(&CPU).unwrap();
        assert_eq!((unit.way, &unit.groups), (Way::Source, &vec![vec![load]]));
        let more = [
            ("cpu/events/mem-loads-aux", "event=0x03,umask=0x82\n"),
            ("cpu/events/mem-stores", "event=0xcd,umask=0x2\n"),
        ];
        let event = |config| Event { kind: 4, config, ..Event::default() };
        let unit = found(&[&CPU[..], &more].concat()).unwrap();
        assert_eq!(unit.groups, [vec![event(0x8203), load], vec![event(0x2cd)]]);
    }

    #[test]
    fn operations_of_amd_and_arm() {
        let old = [("ibs_op/type", "11\n"), ("ibs_op/format/cnt_ctl", "config:19\n")];
        assert_eq!(found(&old).unwrap().groups, [[Event { kind: 11, ..Event::default() }]]);
        let new = [&old[..], &[("ibs_op/format/l3missonly", "config:16\n")]].concat();
        assert_eq!(found(&new).unwrap().groups, [[Event { kind: 11, config: 1 << 16, ..Event::default() }]]);
        let spe = [
            ("arm_spe_0/type", "8\n"),
            ("arm_spe_0/format/ts_enable", "config:0\n"),
            ("arm_spe_0/format/jitter", "config:16\n"),
            ("arm_spe_0/format/load_filter", "config:33\n"),
            ("arm_spe_0/format/store_filter", "config:34\n"),
            ("arm_spe_0/format/min_latency", "config2:0-11\n"),
        ];
        let unit = found(&spe).unwrap();
        let config = 1 | 1 << 16 | 1 << 33 | 1 << 34;
        assert_eq!(unit.groups, [[Event { kind: 8, config, config2: 30, ..Event::default() }]]);
        assert_eq!(unit.way, Way::Packets(Sources::Unknown), "of a CPU that does not say which it is");
    }

    #[test]
    fn what_is_not_there_is_absent() {
        for files in [&[("cpu/type", "4\n")][..], &[("arm_spe_0/type", "8\n")], &[]] {
            let why = found(files).unwrap_err();
            assert_eq!(why.status, Status::Absent, "{}", why.why);
        }
    }
}

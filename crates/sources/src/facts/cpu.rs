//! What kind of CPU it is, from `/proc/cpuinfo`, and its mitigations.

use super::{Facts, fold};

/// Implementer and part of Arm CPUs that servers use (arch/arm64/include/asm/cputype.h and the vendors' manuals).
const ARM: &[(&str, &str, &str)] = &[
    ("0x41", "0xd03", "Arm Cortex-A53"),
    ("0x41", "0xd05", "Arm Cortex-A55"),
    ("0x41", "0xd07", "Arm Cortex-A57"),
    ("0x41", "0xd08", "Arm Cortex-A72"),
    ("0x41", "0xd09", "Arm Cortex-A73"),
    ("0x41", "0xd0a", "Arm Cortex-A75"),
    ("0x41", "0xd0b", "Arm Cortex-A76"),
    ("0x41", "0xd0c", "Arm Neoverse-N1"),
    ("0x41", "0xd40", "Arm Neoverse-V1"),
    ("0x41", "0xd41", "Arm Cortex-A78"),
    ("0x41", "0xd49", "Arm Neoverse-N2"),
    ("0x41", "0xd4a", "Arm Neoverse-E1"),
    ("0x41", "0xd4f", "Arm Neoverse-V2"),
    ("0x41", "0xd83", "Arm Neoverse-V3AE"),
    ("0x41", "0xd84", "Arm Neoverse-V3"),
    ("0x41", "0xd8e", "Arm Neoverse-N3"),
    ("0x42", "0x516", "Broadcom Vulcan"),
    ("0x43", "0x0a1", "Cavium ThunderX"),
    ("0x43", "0x0af", "Marvell ThunderX2"),
    ("0x46", "0x001", "Fujitsu A64FX"),
    ("0x48", "0xd01", "HiSilicon Kunpeng 920"),
    ("0x48", "0xd06", "HiSilicon HIP09"),
    ("0x4e", "0x004", "NVIDIA Carmel"),
    ("0x50", "0x000", "APM X-Gene"),
    ("0x51", "0xc00", "Qualcomm Falkor"),
    ("0x51", "0x001", "Qualcomm Oryon"),
    ("0x6d", "0xd49", "Microsoft Cobalt 100"),
    ("0xc0", "0xac3", "Ampere AmpereOne"),
    ("0xc0", "0xac4", "Ampere AmpereOne A"),
];

/// One processor of `/proc/cpuinfo`: its fields by name.
#[derive(Debug, Default)]
pub(super) struct Processor<'a> {
    pub(super) number: i64,
    fields: Vec<(&'a str, &'a str)>,
}

impl<'a> Processor<'a> {
    /// The value of a field, where there is one that is not empty.
    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        self.fields.iter().find(|(n, v)| *n == name && !v.is_empty()).map(|(_, v)| *v)
    }
}

/// The processors of `/proc/cpuinfo`. Lines before the first or after the last one (s390, old Arm kernels) belong to no processor.
pub(super) fn processors(cpuinfo: &str) -> Vec<Processor<'_>> {
    let mut all: Vec<Processor<'_>> = Vec::new();
    for line in cpuinfo.lines() {
        let Some((name, value)) = line.split_once(':') else { continue };
        let (name, value) = (name.trim(), value.trim());
        if name == "processor" {
            let Ok(number) = value.parse() else { continue };
            all.push(Processor { number, fields: Vec::new() });
        } else if let Some(processor) = all.last_mut() {
            processor.fields.push((name, value));
        }
    }
    all
}

pub(super) fn find(facts: &mut Facts<'_, '_>) {
    let text = match facts.host.read_text("/proc/cpuinfo") {
        Ok(text) => text,
        Err(error) => return facts.missing("model", error.into()),
    };
    let all = processors(&text);
    let per_cpu = |value: &dyn Fn(&Processor<'_>) -> Option<String>| {
        let values: Vec<_> = all.iter().filter_map(|p| Some((p.number, value(p)?))).collect();
        fold::by_number(&values)
    };
    let field = |name: &str| per_cpu(&|p| p.get(name).map(str::to_owned));
    facts.set("model", per_cpu(&model));
    facts.set("vendor", per_cpu(&|p| p.get("vendor_id").or_else(|| p.get("CPU implementer")).map(str::to_owned)));
    facts.set("family", per_cpu(&|p| p.get("cpu family").or_else(|| p.get("CPU architecture")).map(str::to_owned)));
    facts.set("model_number", per_cpu(&|p| p.get("model").or_else(|| p.get("CPU part")).map(str::to_owned)));
    facts.set(
        "stepping",
        per_cpu(&|p| match (p.get("CPU variant"), p.get("CPU revision")) {
            (Some(variant), Some(revision)) => Some(format!("r{}p{revision}", variant.trim_start_matches("0x"))),
            _ => p.get("stepping").or_else(|| p.get("revision")).map(str::to_owned),
        }),
    );
    facts.set("microcode", field("microcode"));
    facts.set("address_sizes", field("address sizes"));
    facts.set("flags", per_cpu(&|p| ["flags", "Features", "isa"].iter().find_map(|name| p.get(name)).map(sorted)));
    facts.set("bugs", per_cpu(&|p| p.get("bugs").map(sorted)));
    mitigations(facts);
}

/// The name of the CPU; that of Arm's is told by numbers.
fn model(processor: &Processor<'_>) -> Option<String> {
    let named = ["model name", "cpu", "uarch", "cpu model", "Model Name"].iter().find_map(|name| processor.get(name));
    if let Some(name) = named {
        return Some(name.split_ascii_whitespace().collect::<Vec<_>>().join(" "));
    }
    let (implementer, part) = (processor.get("CPU implementer")?, processor.get("CPU part")?);
    let known = ARM.iter().find(|(i, p, _)| *i == implementer && *p == part);
    Some(known.map_or_else(|| format!("Arm implementer {implementer}, part {part}"), |(_, _, name)| (*name).to_owned()))
}

/// The words in alphabetical order: the kernel's order says nothing, and changes between releases.
fn sorted(words: &str) -> String {
    let mut words: Vec<&str> = words.split_ascii_whitespace().collect();
    words.sort_unstable();
    words.join(" ")
}

/// State of each known vulnerability (Documentation/ABI/testing/sysfs-devices-system-cpu).
fn mitigations(facts: &mut Facts<'_, '_>) {
    let folder = "/sys/devices/system/cpu/vulnerabilities";
    match facts.host.list(folder) {
        Ok(names) => {
            for name in names {
                facts.optional(&format!("mitigation.{name}"), &format!("{folder}/{name}"));
            }
        }
        Err(error) => facts.missing("mitigation", error.into()),
    }
}

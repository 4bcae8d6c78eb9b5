//! Which CPU it is, by what `/proc/cpuinfo` or the register MIDR_EL1 say.

/// What a CPU says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// `vendor_id` of x86; empty on Arm.
    pub vendor: String,
    /// Family of x86; implementer of Arm.
    pub family: u32,
    /// Model of x86; part of Arm.
    pub model: u32,
    /// Stepping of x86.
    pub stepping: u32,
}

/// The microarchitecture of a CPU, as the files of `counters/` call it; `generic` for one that they do not know.
///
/// Xeons are told apart as mapfile.csv of intel/perfmon does, Zen by the ranges of models of each generation, Arm by the parts of cpus.json of
/// ARM-software/data.
pub fn microarchitecture(identity: &Identity) -> &'static str {
    let Identity { vendor, family, model, stepping } = identity;
    match (vendor.as_str(), family, model) {
        ("GenuineIntel", 6, 0x55) if *stepping <= 4 => "skylake-sp",
        // Cooper Lake, steppings 10 and 11, has the events of Cascade Lake.
        ("GenuineIntel", 6, 0x55) => "cascade-lake",
        ("GenuineIntel", 6, 0x6a | 0x6c) => "ice-lake-sp",
        ("GenuineIntel", 6, 0x8f) => "sapphire-rapids",
        ("GenuineIntel", 6, 0xcf) => "emerald-rapids",
        ("GenuineIntel", 6, 0xad | 0xae) => "granite-rapids",
        ("AuthenticAMD", 0x17, 0x30..) => "zen2",
        ("AuthenticAMD", 0x19, 0x10..=0x1f | 0x60..=0x7f | 0xa0..=0xaf) => "zen4",
        ("AuthenticAMD", 0x19, _) => "zen3",
        ("AuthenticAMD", 0x1a, 0x00..=0x4f | 0x60..=0x7f) => "zen5",
        ("", 0x41, 0xd0c) => "neoverse-n1",
        ("", 0x41, 0xd49) => "neoverse-n2",
        ("", 0x41, 0xd40) => "neoverse-v1",
        ("", 0x41, 0xd4f) => "neoverse-v2",
        ("", 0x41, 0xd83 | 0xd84) => "neoverse-v3",
        _ => "generic",
    }
}

/// What the CPUs of `/proc/cpuinfo` say of themselves, with their numbers.
pub fn identities(cpuinfo: &str) -> Vec<(u32, Identity)> {
    let mut found: Vec<(u32, Identity)> = Vec::new();
    for line in cpuinfo.lines() {
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        let of = |text: &str| crate::number(text).ok().and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
        if key.trim() == "processor" {
            found.push((of(value), Identity::default()));
            continue;
        }
        let Some((_, identity)) = found.last_mut() else { continue };
        match key.trim() {
            "vendor_id" => identity.vendor = value.to_owned(),
            "cpu family" | "CPU implementer" => identity.family = of(value),
            "model" | "CPU part" => identity.model = of(value),
            "stepping" => identity.stepping = of(value),
            _ => {}
        }
    }
    found
}

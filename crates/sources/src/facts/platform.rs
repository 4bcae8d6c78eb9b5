//! The machine as a whole: metal or virtual, whose, which model, which cloud.

use super::Facts;

const DMI: &str = "/sys/class/dmi/id";

/// What firmware says of the machine. Serial numbers, UUIDs and asset tags of owners are left out.
const NAMES: &[(&str, &str)] = &[
    ("vendor", "sys_vendor"),
    ("product", "product_name"),
    ("product_version", "product_version"),
    ("product_family", "product_family"),
    ("board", "board_name"),
    ("bios_vendor", "bios_vendor"),
    ("bios_version", "bios_version"),
    ("bios_date", "bios_date"),
];

/// Azure's asset tag, the same on all its machines (cloud-init and systemd tell Azure from Hyper-V by it).
const AZURE: &str = "7783-7084-3265-9085-8269-3286-77";

/// What DMI says of the machine, as far as it tells who runs it.
#[derive(Debug, Default)]
pub(super) struct Identity {
    vendor: String,
    product: String,
    bios: String,
    asset: String,
}

impl Identity {
    pub(super) fn of(facts: &Facts<'_, '_>) -> Self {
        let read = |file: &str| facts.host.read_text(&format!("{DMI}/{file}")).unwrap_or_default();
        Identity {
            vendor: read("sys_vendor"),
            product: read("product_name"),
            bios: read("bios_version") + " " + &read("bios_vendor"),
            asset: read("chassis_asset_tag"),
        }
    }

    /// The cloud that the machine belongs to.
    pub(super) fn cloud(&self) -> Option<&'static str> {
        let starts =
            |text: &str, with: &str| text.get(..with.len()).is_some_and(|head| head.eq_ignore_ascii_case(with));
        Some(match () {
            () if starts(&self.vendor, "Amazon") || self.bios.to_ascii_lowercase().contains("amazon") => "AWS",
            () if starts(&self.product, "Google Compute Engine") || starts(&self.vendor, "Google") => "Google Cloud",
            () if self.asset == AZURE => "Azure",
            () if starts(&self.asset, "OracleCloud") => "Oracle Cloud",
            () if starts(&self.vendor, "Alibaba Cloud") => "Alibaba Cloud",
            () if starts(&self.vendor, "Tencent Cloud") => "Tencent Cloud",
            () if starts(&self.vendor, "Huawei Cloud") => "Huawei Cloud",
            () if starts(&self.vendor, "DigitalOcean") => "DigitalOcean",
            () if starts(&self.vendor, "Hetzner") => "Hetzner",
            () if starts(&self.vendor, "Vultr") => "Vultr",
            () if starts(&self.vendor, "Akamai") || starts(&self.vendor, "Linode") => "Linode",
            () if starts(&self.vendor, "Scaleway") => "Scaleway",
            () if starts(&self.vendor, "UpCloud") => "UpCloud",
            () if starts(&self.vendor, "Exoscale") => "Exoscale",
            () if starts(&self.vendor, "OpenStack") || starts(&self.product, "OpenStack") => "OpenStack",
            () => return None,
        })
    }

    /// The hypervisor that the names tell.
    fn hypervisor(&self) -> Option<&'static str> {
        let known = [
            ("VMware", "VMware"),
            ("innotek", "VirtualBox"),
            ("Xen", "Xen"),
            ("QEMU", "KVM or QEMU"),
            ("Red Hat", "KVM"),
            ("Parallels", "Parallels"),
            ("Nutanix", "Nutanix AHV"),
            ("Bochs", "Bochs"),
        ];
        let named = known.iter().find(|(name, _)| self.vendor.starts_with(name)).map(|(_, hypervisor)| *hypervisor);
        named.or_else(|| match self.product.as_str() {
            "Virtual Machine" if self.vendor.starts_with("Microsoft") => Some("Hyper-V"),
            product if product.contains("KVM") => Some("KVM"),
            product if product.contains(".metal") => None,
            _ if matches!(self.cloud(), Some("AWS" | "Google Cloud")) => Some("KVM"),
            _ => None,
        })
    }
}

pub(super) fn find(facts: &mut Facts<'_, '_>) {
    let mut any = false;
    for (name, file) in NAMES {
        if let Some(text) = facts.text(name, &format!("{DMI}/{file}")) {
            any = true;
            facts.set(name, text);
        }
    }
    if !any && let Some(model) = facts.text("product", "/sys/firmware/devicetree/base/model") {
        facts.set("product", model.trim_end_matches('\0'));
    }
    facts.optional("power_profile", "/sys/firmware/acpi/platform_profile");
    let identity = Identity::of(facts);
    if let Some(cloud) = identity.cloud() {
        facts.set("cloud", cloud);
        // Nitro machines tell their instance type as the product (docs.aws.amazon.com, "Identify EC2 instances").
        if cloud == "AWS" && identity.product.contains('.') {
            facts.set("instance_type", &identity.product);
        }
    }
    let cpuinfo = facts.host.read_text("/proc/cpuinfo").unwrap_or_default();
    let flags = super::cpu::processors(&cpuinfo).first().and_then(|p| p.get("flags")).unwrap_or_default();
    let is_x86 = !flags.is_empty();
    let flagged = flags.split_ascii_whitespace().any(|flag| flag == "hypervisor");
    let xen = facts.host.read_text("/sys/hypervisor/type").ok().filter(|t| !t.is_empty());
    let found = xen.or_else(|| signature(facts)).or_else(|| identity.hypervisor().map(str::to_owned));
    match found {
        Some(name) => facts.set("hypervisor", name),
        None if flagged => facts.set("hypervisor", "there is one; it does not say which"),
        // Only x86 has a flag that a guest always shows.
        None if is_x86 => facts.set("hypervisor", "none"),
        None => {}
    }
}

/// The name by which a hypervisor shows itself to x86 guests: CPUID leaf 0x4000_0000 (Intel SDM; the hypervisors' manuals).
#[cfg(target_arch = "x86_64")]
fn signature(facts: &Facts<'_, '_>) -> Option<String> {
    use std::arch::x86_64::__cpuid;
    if facts.host.is_fixture() {
        return None;
    }
    // SAFETY: every x86-64 CPU has CPUID; it reads registers only. Leaf 1 exists on all of them, and bit 31 of its ecx
    // says whether leaf 0x4000_0000 means anything.
    #[allow(unused_unsafe, reason = "safe since Rust 1.94, and this builds with older ones")]
    let (present, leaf) = unsafe { (__cpuid(1).ecx >> 31 & 1 == 1, __cpuid(0x4000_0000)) };
    if !present {
        return None;
    }
    let bytes: Vec<u8> = [leaf.ebx, leaf.ecx, leaf.edx].iter().flat_map(|word| word.to_le_bytes()).collect();
    Some(named(&bytes))
}

#[cfg(not(target_arch = "x86_64"))]
fn signature(_: &Facts<'_, '_>) -> Option<String> {
    None
}

/// The hypervisor of a signature of 12 bytes.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "only x86 shows a signature"))]
fn named(signature: &[u8]) -> String {
    let text = String::from_utf8_lossy(signature);
    let text = text.trim_matches(|c: char| c == '\0' || c.is_whitespace());
    match text {
        "KVMKVMKVM" => "KVM",
        "Microsoft Hv" => "Hyper-V",
        "VMwareVMware" => "VMware",
        "XenVMMXenVMM" => "Xen",
        "TCGTCGTCGTCG" => "QEMU (emulated)",
        "bhyve bhyve" => "bhyve",
        "ACRNACRNACRN" => "ACRN",
        "prl hyperv" | "lrpepyh  vr" => "Parallels",
        "VBoxVBoxVBox" => "VirtualBox",
        other => other,
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_and_clouds() {
        assert_eq!(named(b"KVMKVMKVM\0\0\0"), "KVM");
        assert_eq!(named(b"Somebody New"), "Somebody New");
        let of = |vendor: &str, product: &str, asset: &str| Identity {
            vendor: vendor.into(),
            product: product.into(),
            asset: asset.into(),
            ..Identity::default()
        };
        assert_eq!(of("Amazon EC2", "m7i.large", "").cloud(), Some("AWS"));
        assert_eq!(of("Amazon EC2", "m7i.metal-24xl", "").hypervisor(), None);
        assert_eq!(of("Google", "Google Compute Engine", "").hypervisor(), Some("KVM"));
        assert_eq!(of("Microsoft Corporation", "Virtual Machine", AZURE).cloud(), Some("Azure"));
        assert_eq!(of("Microsoft Corporation", "Virtual Machine", "x").cloud(), None);
        assert_eq!(of("Microsoft Corporation", "Virtual Machine", "x").hypervisor(), Some("Hyper-V"));
        assert_eq!(of("Dell Inc.", "PowerEdge R650", "").hypervisor(), None);
    }
}

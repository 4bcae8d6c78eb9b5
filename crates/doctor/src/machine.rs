//! What the machine says of itself: CPUs, caches, flags, who runs it. Read through the host, so it is true of recorded ones too.

use host::Host;
pub(crate) use host::settings::{choices, chosen};

const CPUS: &str = "/sys/devices/system/cpu";

/// The numbers of a kernel's list, such as "0-3,8" (Documentation/admin-guide/cputopology.rst). What is no number is left out.
pub(crate) fn list(text: &str) -> Vec<usize> {
    let mut all = Vec::new();
    for part in text.trim().split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(from), Ok(to)) = (from.parse::<usize>(), to.parse::<usize>()) {
            // More CPUs than any kernel knows are a broken file.
            all.extend((from..=to).take(1 << 16));
        }
    }
    all
}

/// The CPUs that are online.
pub(crate) fn online(host: &Host) -> Vec<usize> {
    host.read_text(&format!("{CPUS}/online")).map(|t| list(&t)).unwrap_or_default()
}

/// Which CPUs share something with a CPU, by sysfs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// Threads of the same core.
    pub core: Vec<usize>,
    /// CPUs with the same last cache.
    pub cache: Vec<usize>,
    /// The socket.
    pub socket: Option<i64>,
    /// The memory node.
    pub node: Option<usize>,
}

impl Place {
    pub(crate) fn of(host: &Host, cpu: usize) -> Self {
        let read = |file: &str| host.read_text(&format!("{CPUS}/cpu{cpu}/topology/{file}")).ok();
        let core = read("core_cpus_list").or_else(|| read("thread_siblings_list"));
        let last = caches(host, cpu).into_iter().max_by_key(|c| c.level);
        let node = host.list(&format!("{CPUS}/cpu{cpu}")).unwrap_or_default();
        Place {
            core: core.map(|t| list(&t)).unwrap_or_default(),
            cache: last.map(|c| c.shared).unwrap_or_default(),
            socket: read("physical_package_id").and_then(|t| t.parse().ok()),
            node: node.iter().find_map(|name| name.strip_prefix("node")?.parse().ok()),
        }
    }
}

/// A data cache of a CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cache {
    pub level: i64,
    /// Bytes.
    pub size: u64,
    /// CPUs that share it.
    pub shared: Vec<usize>,
}

/// The data caches of a CPU, smallest level first.
pub(crate) fn caches(host: &Host, cpu: usize) -> Vec<Cache> {
    let mut all: Vec<Cache> = host
        .glob(&format!("{CPUS}/cpu{cpu}/cache/index*"))
        .iter()
        .filter_map(|index| {
            let read = |file: &str| host.read_text(&format!("{index}/{file}")).ok();
            if read("type").is_some_and(|t| t == "Instruction") {
                return None;
            }
            let size = read("size")?;
            let kib: u64 = size.trim_end_matches('K').parse().ok()?;
            Some(Cache {
                level: read("level")?.parse().ok()?,
                size: kib << 10,
                shared: list(&read("shared_cpu_list").unwrap_or_default()),
            })
        })
        .collect();
    all.sort_by_key(|c| c.level);
    all
}

/// Memory nodes that have CPUs or memory, with their CPUs.
pub(crate) fn nodes(host: &Host) -> Vec<(usize, Vec<usize>)> {
    host.glob("/sys/devices/system/node/node*")
        .iter()
        .filter_map(|path| {
            let number = path.rsplit_once("/node")?.1.parse().ok()?;
            Some((number, list(&host.read_text(&format!("{path}/cpulist")).unwrap_or_default())))
        })
        .collect()
}

/// A field of the first CPU in `/proc/cpuinfo`.
pub(crate) fn cpuinfo(host: &Host, field: &str) -> Option<String> {
    let text = host.read_text("/proc/cpuinfo").ok()?;
    let first = text.split("\n\n").next()?;
    first.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == field).then(|| value.trim().to_owned())
    })
}

/// Whether the CPU has a flag of `/proc/cpuinfo`.
pub(crate) fn has_flag(host: &Host, flag: &str) -> bool {
    cpuinfo(host, "flags").is_some_and(|flags| flags.split(' ').any(|f| f == flag))
}

/// Memory that could be had without swapping, bytes; 0 where it is not told.
pub(crate) fn available_memory(host: &Host) -> u64 {
    meminfo(host, "MemAvailable").unwrap_or(0)
}

/// A line of `/proc/meminfo`, in bytes; a line without a unit is a number of things.
pub(crate) fn meminfo(host: &Host, name: &str) -> Option<u64> {
    let text = host.read_text("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(':'))?;
    let mut words = line.split_ascii_whitespace();
    let number: u64 = words.next()?.parse().ok()?;
    Some(if words.next() == Some("kB") { number << 10 } else { number })
}

/// Who runs this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Platform {
    /// The hypervisor: "xen", "kvm", "microsoft", "vmware"; "" on metal, "unknown" for one that does not say.
    pub hypervisor: &'static str,
    /// Of Xen: "HVM", "PV", "PVH" (Documentation/ABI/stable/sysfs-hypervisor-xen).
    pub xen_type: String,
    /// Amazon's instance type where DMI tells: "m5.large".
    pub ec2: Option<String>,
    /// Whether it is Amazon's.
    pub amazon: bool,
}

impl Platform {
    pub(crate) fn of(host: &Host) -> Self {
        let dmi = |file: &str| host.read_text(&format!("/sys/class/dmi/id/{file}")).unwrap_or_default();
        let (vendor, product, bios) = (dmi("sys_vendor"), dmi("product_name"), dmi("bios_version"));
        let sources = host.read_text("/sys/devices/system/clocksource/clocksource0/available_clocksource");
        let sources = sources.unwrap_or_default();
        let virtio = !host.list("/sys/bus/virtio/devices").unwrap_or_default().is_empty();
        let hypervisor = match () {
            () if host.read_text("/sys/hypervisor/type").is_ok_and(|t| t == "xen") => "xen",
            () if !has_flag(host, "hypervisor") && cpuinfo(host, "flags").is_some() => "",
            () if sources.contains("kvm-clock") => "kvm",
            () if sources.contains("hyperv") || vendor.starts_with("Microsoft") => "microsoft",
            () if vendor.starts_with("VMware") => "vmware",
            () if sources.split(' ').any(|s| s == "xen") => "xen",
            () if has_flag(host, "hypervisor") => "unknown",
            () if virtio || vendor.starts_with("QEMU") => "kvm",
            () => "",
        };
        let amazon = vendor.starts_with("Amazon") || bios.to_ascii_lowercase().contains("amazon");
        Platform {
            hypervisor,
            xen_type: host.read_text("/sys/hypervisor/guest_type").unwrap_or_default(),
            ec2: (amazon && product.contains('.')).then_some(product),
            amazon,
        }
    }

    pub(crate) fn is_virtual(&self) -> bool {
        !self.hypervisor.is_empty()
    }
}

/// Major and minor number of a kernel's release: "5.10.0-28-amd64" is (5, 10).
pub(crate) fn kernel(host: &Host) -> Option<(u32, u32)> {
    let release = host.read_text("/proc/sys/kernel/osrelease").ok()?;
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|n| n.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

/// A mask of CPUs as the kernel writes it, such as "3" or "ff,ffffffff".
pub(crate) fn mask(cpus: &[usize]) -> String {
    let words = cpus.iter().max().map_or(1, |most| most / 32 + 1);
    let mut all = vec![0u32; words];
    for cpu in cpus {
        if let Some(word) = all.get_mut(cpu / 32) {
            *word |= 1 << (cpu % 32);
        }
    }
    let mut text = String::new();
    for word in all.iter().rev() {
        text = if text.is_empty() { format!("{word:x}") } else { format!("{text},{word:08x}") };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_formats() {
        assert_eq!(list("0-3,8\n"), [0, 1, 2, 3, 8]);
        assert!(list("").is_empty());
        assert_eq!(list("x,2-y,5"), [5]);
        assert_eq!((chosen("always [madvise] never"), chosen("none\n")), ("madvise", "none"));
        assert_eq!(choices("none [mq-deadline] kyber"), ["none", "mq-deadline", "kyber"]);
        assert_eq!((mask(&[0, 1]), mask(&[32]), mask(&[])), ("3".into(), "1,00000000".into(), "0".into()));
    }
}

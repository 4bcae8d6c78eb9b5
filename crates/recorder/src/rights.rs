//! What this process may record here, told without trying: capabilities, and what the kernel was told to allow.

use model::Unavailable;

// Numbers of capabilities, include/uapi/linux/capability.h.
const SYS_ADMIN: u64 = 1 << 21;
const PERFMON: u64 = 1 << 38;
const BPF: u64 = 1 << 39;

/// Something that a recording will lack, why, and what would change that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lack {
    /// What is missing.
    pub what: &'static str,
    /// Why.
    pub why: String,
    /// What would give it.
    pub remedy: String,
}

/// What this process may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rights {
    /// Whether it runs as root.
    pub is_root: bool,
    /// Whether it has capabilities that let it load eBPF programs.
    pub has_bpf: bool,
    /// What its recordings will lack.
    pub lacks: Vec<Lack>,
}

impl Rights {
    /// Looks, in less than a millisecond.
    pub fn look() -> Rights {
        let is_root = rustix::process::geteuid().is_root();
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let has = |capability: u64| effective(&status) & (SYS_ADMIN | capability) != 0;
        let (has_bpf, has_perfmon) = (has(BPF) && has(PERFMON), has(PERFMON));
        let mut lacks = Vec::new();
        let mut lack = |what: &'static str, why: &Unavailable| {
            lacks.push(Lack { what, why: why.why.clone(), remedy: why.remedy.clone().unwrap_or_default() });
        };
        const LEDGER: &str = "waits, locks, system calls and disk I/O by thread";
        match possible() {
            Err(why) => lack(LEDGER, &why),
            Ok(()) if !has_bpf => {
                let why = Unavailable::denied("eBPF needs cap_bpf and cap_perfmon, or root");
                lack(LEDGER, &why.remedy("sudo, or setcap cap_bpf,cap_perfmon+ep"));
            }
            Ok(()) => {}
        }
        let paranoid = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").ok();
        match paranoid.as_deref().map(|text| text.trim().parse::<i64>().unwrap_or(2)) {
            None => lack("CPU samples", &Unavailable::absent("this kernel has no perf events")),
            Some(level) if level > 0 && !has_perfmon => {
                let why = Unavailable::denied(format!("kernel.perf_event_paranoid is {level}"));
                let what = "CPU samples of kernel code and of other programs";
                lack(what, &why.remedy("sudo, or sysctl kernel.perf_event_paranoid=-1"));
            }
            Some(_) => {}
        }
        if !is_root {
            let why = Unavailable::denied("only root may read them");
            lack("I/O and programs of other users' processes, slab caches", &why.remedy("sudo"));
        }
        Rights { is_root, has_bpf, lacks }
    }
}

/// The effective capabilities of `/proc/self/status`, proc(5).
fn effective(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    line.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(feature = "bpf")]
fn possible() -> Result<(), Unavailable> {
    host::bpf::possible(&host::Host::live())
}

#[cfg(not(feature = "bpf"))]
fn possible() -> Result<(), Unavailable> {
    Err(Unavailable::absent("this program was built without eBPF").remedy("a build with the feature `bpf`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_are_read() {
        let status = "Name:\tx\nCapPrm:\t0000000000000000\nCapEff:\t000000c000000000\nCapBnd:\t000001ffffffffff\n";
        assert_eq!(effective(status), PERFMON | BPF);
        assert_eq!((effective(""), effective("CapEff:\tx")), (0, 0));
    }

    #[test]
    fn it_is_looked_quickly() {
        let start = std::time::Instant::now();
        let rights = Rights::look();
        assert!(start.elapsed().as_millis() < 50, "{:?}", start.elapsed());
        assert!(rights.is_root || rights.lacks.iter().any(|lack| lack.remedy.contains("sudo")), "{rights:?}");
    }
}

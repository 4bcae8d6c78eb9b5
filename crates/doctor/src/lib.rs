//! Whether this machine is set up right. A check is one question: a value, a verdict against what the hardware should do, what to change, and
//! the risk of that. Settings are read through the host; costs are measured here. Nothing is changed but by [`Changes::apply`].

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod against;
mod calls;
mod check;
mod clock;
mod context;
mod cpu;
mod disk;
mod figures;
mod frequency;
mod kernel;
mod limits;
mod machine;
mod measure;
mod memory;
mod network;
mod pairs;
#[cfg(test)]
mod testing;
mod wake;

pub use against::{Machine, Row, Sides, machine_of_json, side_by_side};
pub use check::{Change, Check, Finding, Kind, Theme, Value, Verdict, Write};
pub use context::{Context, Others};
pub use figures::{Figures, NoFigure, figures};
pub use host::settings::{ChangeError, Changed, Changes, Outcome};
pub use measure::Spread;

use model::{Status, Unavailable};
use std::time::Instant;

/// Where applied changes are remembered.
///
/// # Errors
/// Where this user has no folder for that.
pub fn state_file() -> Result<std::path::PathBuf, ChangeError> {
    host::settings::state_file("doctor.json")
}

/// All checks, by theme, in the order in which they run. Those that need a quiet machine do not follow those that load it.
pub fn checks() -> impl Iterator<Item = &'static Check> {
    [
        clock::CHECKS,
        kernel::CHECKS,
        frequency::CHECKS,
        cpu::CHECKS,
        pairs::CHECKS,
        wake::CHECKS,
        memory::CHECKS,
        disk::CHECKS,
        network::CHECKS,
        limits::CHECKS,
    ]
    .into_iter()
    .flatten()
}

/// What a check came to.
#[derive(Debug)]
pub struct Examined {
    /// The check.
    pub check: &'static Check,
    /// What it found, or why it could not look.
    pub finding: Result<Finding, Unavailable>,
    /// Why its timing can't be judged: what others did meanwhile.
    pub disturbed: Option<String>,
    /// How long it took, seconds.
    pub seconds: f64,
}

impl Examined {
    /// What is to be thought of it. A timing that is not good is not judged where others took part; one that is good in spite of them is good.
    pub fn verdict(&self) -> Verdict {
        match &self.finding {
            Ok(finding) if finding.verdict < Verdict::Good && self.disturbed.is_some() => Verdict::Unknown,
            Ok(finding) => finding.verdict,
            Err(why) if why.status == Status::NotApplicable => Verdict::NotApplicable,
            Err(_) => Verdict::Unknown,
        }
    }
}

/// Rounds of a calculation that differ by more than this were disturbed, by whatever: caches, the other thread of the core, the hypervisor.
const UNSTEADY: f64 = 2.0;

/// Whether the rounds of what should take the same time each differ too much. Waiting (disks, wake-ups) does not take the same time each.
fn unsteady(check: &Check, finding: &Finding) -> Option<String> {
    let steady = check.kind == Kind::Measurement && matches!(check.theme, Theme::Kernel | Theme::Memory);
    let first = finding.values.first().filter(|_| steady)?;
    let factor = first.high? / first.low.filter(|low| *low > 0.0)?;
    (factor > UNSTEADY).then(|| format!("its rounds differ by a factor of {factor:.1}"))
}

/// Does a check.
pub fn examine(check: &'static Check, context: &Context<'_>) -> Examined {
    let watch = context::Watch::start(context.host);
    let start = Instant::now();
    let finding = (check.run)(context);
    let seconds = start.elapsed().as_secs_f64();
    let others = match check.kind {
        // Steal is what this one is about.
        Kind::Measurement if check.id != "steal" => watch.end(context.host),
        _ => None,
    };
    let disturbed = others.and_then(Others::disturbed);
    let disturbed = disturbed.or_else(|| unsteady(check, finding.as_ref().ok()?));
    Examined { check, finding, disturbed, seconds }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::host_of;
    use std::collections::BTreeSet;

    #[test]
    fn checks_are_declared_whole() {
        let mut ids = BTreeSet::new();
        for check in checks() {
            assert!(ids.insert(check.id), "{} is there twice", check.id);
            assert!(check.id.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", check.id);
            for text in [check.title, check.how, check.source] {
                assert!(!text.is_empty() && !text.ends_with('.'), "{}: {text:?}", check.id);
            }
        }
        assert!(ids.len() >= 30, "{}", ids.len());
    }

    #[test]
    fn checks_are_documented() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/doctor.md");
        let text = std::fs::read_to_string(path).unwrap();
        for check in checks() {
            assert!(text.contains(&format!("| `{}` |", check.id)), "docs/doctor.md does not describe {}", check.id);
        }
        assert!(text.contains(&format!("makes {} checks", checks().count())), "docs/doctor.md counts them");
    }

    /// A host without any file, and one whose files are nonsense: no check panics, and none finds anything bad.
    #[test]
    fn hosts_without_sense() {
        let stop = std::sync::atomic::AtomicBool::new(false);
        let nonsense = "\u{0} 99999999999999999999 -1 [\n:,\n";
        let paths = [
            "/proc/stat",
            "/proc/net/snmp",
            "/proc/meminfo",
            "/proc/cpuinfo",
            "/proc/interrupts",
            "/proc/softirqs",
            "/proc/self/limits",
            "/proc/self/status",
            "/proc/self/cgroup",
            "/proc/self/mountinfo",
            "/proc/net/netstat",
            "/proc/swaps",
            "/proc/uptime",
            "/proc/cmdline",
            "/proc/sys/net/core/somaxconn",
            "/proc/sys/kernel/osrelease",
            "/sys/devices/system/cpu/online",
            "/sys/devices/system/cpu/vulnerabilities/mds",
            "/sys/devices/system/cpu/cpu0/cache/index0/size",
            "/sys/devices/system/cpu/cpufreq/policy0/scaling_governor",
            "/sys/devices/system/cpu/cpuidle/current_driver",
            "/sys/devices/system/cpu/cpu0/cpuidle/state0/latency",
            "/sys/devices/system/node/node0/cpulist",
            "/sys/block/vda/queue/scheduler",
            "/sys/class/net/eth0/queues/rx-0/rps_cpus",
            "/.ethtool/eth0/channels",
            "/sys/kernel/mm/transparent_hugepage/enabled",
        ];
        let files: Vec<(&str, &str)> = paths.iter().map(|p| (*p, nonsense)).collect();
        let huge: Vec<(&str, &str)> =
            vec![("/proc/stat", "cpu  18446744073709551615 18446744073709551615 1 18446744073709551615 1 1 1 1\n")];
        for files in [&[][..], &files, &huge] {
            let (_dir, host) = host_of(files);
            let context = testing::context(&host, &stop);
            for check in checks() {
                let examined = examine(check, &context);
                if check.kind == Kind::Measurement {
                    assert_eq!(examined.verdict(), Verdict::NotApplicable, "{}", check.id);
                }
            }
        }
    }

    #[test]
    fn rounds_that_differ_are_not_judged() {
        let check = checks().find(|c| c.id == "syscall").unwrap();
        let of = |high| {
            let spread = Spread { low: 1.0, median: 1.0, high };
            unsteady(check, &Finding::good("").spread("a", spread, "s"))
        };
        assert_eq!((of(1.2), of(3.0).is_some()), (None, true));
        assert_eq!(unsteady(check, &Finding::good("")), None);
        let disk = checks().find(|c| c.id == "fsync").unwrap();
        let spread = Spread { low: 1.0, median: 1.0, high: 9.0 };
        assert_eq!(unsteady(disk, &Finding::good("").spread("a", spread, "s")), None);
    }

    #[test]
    fn a_disturbed_timing_is_not_judged() {
        let check = checks().next().unwrap();
        let of = |verdict, disturbed: bool| Examined {
            check,
            finding: Ok(Finding::new(verdict, "")),
            disturbed: disturbed.then(|| "load".to_owned()),
            seconds: 0.0,
        };
        assert_eq!(of(Verdict::Bad, true).verdict(), Verdict::Unknown);
        assert_eq!(of(Verdict::Bad, false).verdict(), Verdict::Bad);
        assert_eq!(of(Verdict::Good, true).verdict(), Verdict::Good);
    }
}

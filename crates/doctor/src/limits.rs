//! What programs and users may do: profiling, open files, locked memory, maps.

use crate::Context;
use crate::check::{Check, Finding, Kind, Theme, Verdict, Write};
use model::{Unavailable, human};

pub(crate) static CHECKS: &[Check] = &[
    Check {
        id: "perf-event-paranoid",
        theme: Theme::Limits,
        kind: Kind::Setting,
        title: "who may profile",
        how: "/proc/sys/kernel/perf_event_paranoid, kptr_restrict, and whether this program has CAP_PERFMON or CAP_SYS_ADMIN",
        source: "Documentation/admin-guide/perf-security.rst, Documentation/admin-guide/sysctl/kernel.rst",
        run: paranoid,
    },
    Check {
        id: "nmi-watchdog",
        theme: Theme::Limits,
        kind: Kind::Setting,
        title: "who holds a hardware counter",
        how: "/proc/sys/kernel/nmi_watchdog, and whether /sys/bus/event_source/devices has a PMU of the CPUs",
        source: "Documentation/admin-guide/lockup-watchdogs.rst, Documentation/admin-guide/sysctl/kernel.rst",
        run: watchdog,
    },
    Check {
        id: "limits",
        theme: Theme::Limits,
        kind: Kind::Setting,
        title: "limits of this shell's programs",
        how: "/proc/self/limits, fs.file-max, kernel.pid_max, kernel.threads-max, vm.max_map_count",
        source: "getrlimit(2), proc_sys_fs(5), Documentation/admin-guide/sysctl/vm.rst",
        run: limits,
    },
];

/// CAP_SYS_ADMIN and CAP_PERFMON (capabilities(7)).
const PROFILERS: u64 = 1 << 21 | 1 << 38;

fn paranoid(context: &Context<'_>) -> Result<Finding, Unavailable> {
    const PATH: &str = "/proc/sys/kernel/perf_event_paranoid";
    let level = context.host.read_number(PATH)?;
    let status = context.host.read_text("/proc/self/status").unwrap_or_default();
    let may = status
        .lines()
        .find_map(|l| l.strip_prefix("CapEff:"))
        .and_then(|t| u64::from_str_radix(t.trim(), 16).ok())
        .is_some_and(|set| set & PROFILERS != 0);
    let others = match level {
        ..=0 => "all users may profile the whole system",
        1 => "all users may profile their own programs, with the kernel's part",
        2 => "all users may profile their own programs, without the kernel's part",
        _ => "users without privileges may not profile at all",
    };
    let pointers = context.host.read_text("/proc/sys/kernel/kptr_restrict").unwrap_or_default();
    let verdict = if level > 1 && !may { Verdict::CouldBeBetter } else { Verdict::Good };
    let says = format!("{level}: {others}{}", if may { "; this program may in any case" } else { "" });
    let mut finding = Finding::new(verdict, says)
        .expected("1 or less where developers profile without root; 2 or more where users are not trusted.")
        .number("kernel.perf_event_paranoid", level as f64, "")
        .word("kernel.kptr_restrict", pointers);
    if level > 1 {
        finding = finding.writes(
            vec![Write::new(PATH, "1")],
            "users see kernel addresses and timings of their own programs, which helps attacks on the kernel. Lost at reboot (/etc/sysctl.d keeps it)",
        );
    }
    Ok(finding)
}

fn watchdog(context: &Context<'_>) -> Result<Finding, Unavailable> {
    const PATH: &str = "/proc/sys/kernel/nmi_watchdog";
    let on = context.host.read_number(PATH)?;
    if context.host.glob("/sys/bus/event_source/devices/cpu*/type").is_empty() {
        return Err(Unavailable::not_applicable(
            "this machine has no hardware counters of the kind that the NMI watchdog holds",
        ));
    }
    if on == 0 {
        return Ok(Finding::good("the NMI watchdog is off: all hardware counters are free").number(
            "kernel.nmi_watchdog",
            0.0,
            "",
        ));
    }
    // Programs run no slower: it is a matter of measuring.
    let says = "the NMI watchdog holds one hardware counter of each CPU: groups of events take turns sooner, and counts are scaled up";
    let finding = Finding::new(Verdict::CouldBeBetter, says)
        .expected("0 while hardware counters are measured (record --counters, perf stat); else on, for it tells where a CPU hangs.")
        .number("kernel.nmi_watchdog", on as f64, "");
    Ok(finding.writes(
        vec![Write::new(PATH, "0")],
        "a CPU that hangs with interrupts off is no longer told of in the kernel's log. Lost at reboot (/etc/sysctl.d keeps it)",
    ))
}

fn limits(context: &Context<'_>) -> Result<Finding, Unavailable> {
    let text = context.host.read_text("/proc/self/limits")?;
    let of = |name: &str| -> Option<(String, String)> {
        let rest = text.lines().find_map(|l| l.strip_prefix(name))?;
        let mut words = rest.split_ascii_whitespace();
        Some((words.next()?.to_owned(), words.next()?.to_owned()))
    };
    let mut finding = Finding::good("")
        .expected("Open files: tens of thousands for servers that hold many connections (systemd gives 1024 soft, 524288 hard, and programs raise it themselves). vm.max_map_count: 262144 for programs that map very many files (Elasticsearch).");
    let mut poor = Vec::new();
    if let Some((soft, hard)) = of("Max open files") {
        finding = finding.word("open files", format!("{soft} of {hard}"));
        if hard.parse::<u64>().is_ok_and(|n| n < 4096) {
            poor.push(format!("programs can open {hard} files at most, sockets included"));
            finding = finding.change(
                "LimitNOFILE= of the unit, or nofile in /etc/security/limits.conf",
                "none for most; programs that use select(2) can't handle more than 1024",
            );
        }
    }
    for (line, name, unit) in [
        ("Max processes", "processes and threads", ""),
        ("Max locked memory", "locked memory", "B"),
        ("Max stack size", "stack size", "B"),
        ("Max core file size", "core file size", "B"),
    ] {
        if let Some((soft, _)) = of(line) {
            finding = match soft.parse::<f64>() {
                Ok(number) if unit == "B" => finding.word(name, human(number, unit)),
                _ => finding.word(name, soft),
            };
        }
    }
    for name in ["fs/file-max", "kernel/pid_max", "kernel/threads-max", "vm/max_map_count"] {
        if let Ok(value) = context.host.read_text(&format!("/proc/sys/{name}")) {
            finding = finding.word(name.replace('/', "."), value);
        }
    }
    finding.says = match of("Max open files") {
        Some((soft, hard)) if poor.is_empty() => format!("{soft} open files, up to {hard} where a program asks"),
        _ => poor.join("; "),
    };
    finding.verdict = if poor.is_empty() { Verdict::Good } else { Verdict::CouldBeBetter };
    Ok(finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{host_of, on};

    #[test]
    fn who_may_profile() {
        let of = |level: &str, capabilities: &str| {
            let status = format!("Name:\tx\nCapEff:\t{capabilities}\n");
            let (_dir, host) =
                host_of(&[("/proc/sys/kernel/perf_event_paranoid", level), ("/proc/self/status", &status)]);
            on(&host, paranoid).unwrap()
        };
        assert_eq!(of("4", "0000000000000000").verdict, Verdict::CouldBeBetter);
        assert_eq!(of("2", "000001ffffffffff").verdict, Verdict::Good);
        assert_eq!(of("-1", "0000000000000000").verdict, Verdict::Good);
        assert_eq!(
            of("4", "0").changes.iter().map(|c| c.what.as_str()).collect::<Vec<_>>(),
            ["sysctl -w kernel.perf_event_paranoid=1"]
        );
    }

    #[test]
    fn who_holds_a_counter() {
        let of = |watchdog: &str, device: &str| {
            let files = [("/proc/sys/kernel/nmi_watchdog", watchdog), (device, "4\n")];
            let (_dir, host) = host_of(&files);
            on(&host, super::watchdog)
        };
        let cpu = "/sys/bus/event_source/devices/cpu/type";
        assert_eq!(of("0\n", cpu).unwrap().verdict, Verdict::Good);
        let finding = of("1\n", cpu).unwrap();
        assert_eq!(finding.verdict, Verdict::CouldBeBetter);
        assert_eq!(finding.changes[0].what, "sysctl -w kernel.nmi_watchdog=0");
        let none = of("1\n", "/sys/bus/event_source/devices/software/type").unwrap_err();
        assert_eq!(none.status, model::Status::NotApplicable);
    }

    #[test]
    fn few_files() {
        let of = |line: &str| {
            let text = format!("Limit  Soft  Hard  Units\n{line}\nMax locked memory  8388608  8388608  bytes\n");
            let (_dir, host) = host_of(&[("/proc/self/limits", &text)]);
            on(&host, limits).unwrap()
        };
        assert_eq!(
            of("Max open files            1024                 1024                 files").verdict,
            Verdict::CouldBeBetter
        );
        let found = of("Max open files            1024                 524288               files");
        assert!(found.verdict == Verdict::Good && found.says.contains("524288"), "{}", found.says);
    }
}

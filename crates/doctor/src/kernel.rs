//! What the kernel asks for its services: a system call, a page fault, a switch of threads; and the mitigations behind the price.

use crate::calls as libc;
use crate::check::{Check, Finding, Kind, Theme, Verdict};
use crate::measure::{HUGE, Memory, Spread, on_cpu, per_call, quiet_cpu, refused};
use crate::{Context, machine};
use model::{Unavailable, human};
use std::time::Instant;

const WEAKNESSES: &str = "/sys/devices/system/cpu/vulnerabilities";

pub(crate) static CHECKS: &[Check] = &[
    Check {
        id: "syscall",
        theme: Theme::Kernel,
        kind: Kind::Measurement,
        title: "cost of a system call",
        how: "getppid(2), which does next to nothing, and pread(2) of one byte that is in memory, by syscall(2); 20 rounds of 2 ms each on one CPU, the least counts",
        source: "syscall(2); the same call as `perf bench syscall basic`",
        run: call,
    },
    Check {
        id: "mitigations",
        theme: Theme::Kernel,
        kind: Kind::Setting,
        title: "mitigations of CPU weaknesses",
        how: "/sys/devices/system/cpu/vulnerabilities, /proc/cmdline",
        source: "Documentation/admin-guide/hw-vuln/, Documentation/ABI/testing/sysfs-devices-system-cpu",
        run: mitigations,
    },
    Check {
        id: "page-fault",
        theme: Theme::Kernel,
        kind: Kind::Measurement,
        title: "cost of touching fresh memory",
        how: "the first byte of each page of 32 MiB of anonymous memory is written, then the pages are given back; once with pages of 4 KiB, once with transparent huge pages; 8 rounds",
        source: "madvise(2) MADV_HUGEPAGE, Documentation/admin-guide/mm/transhuge.rst",
        run: fault,
    },
    Check {
        id: "context-switch",
        theme: Theme::Kernel,
        kind: Kind::Measurement,
        title: "cost of a switch between threads",
        how: "two threads on one CPU hand a byte to and fro through two pipes; a switch is half of that; 15 rounds of 10 ms",
        source: "pipe(7); the same as `perf bench sched pipe`",
        run: switch,
    },
    Check {
        id: "kernel-age",
        theme: Theme::Kernel,
        kind: Kind::Setting,
        title: "age of the kernel, and kind of the virtual machine",
        how: "/proc/sys/kernel/osrelease, /sys/hypervisor, DMI, CPU flags",
        source: "kernel.org, \"Active kernel releases\"; Documentation/ABI/stable/sysfs-hypervisor-xen; AWS, \"Linux AMI virtualization types\"",
        run: age,
    },
];

/// The weaknesses whose mitigation costs at each entry to the kernel, or each switch, as the kernel words it.
fn costly(text: &str) -> bool {
    ["PTI", "Clear CPU buffers", "Retpolines", "IBRS", "untrained return thunk", "Safe RET", "BHI_DIS_S", "SW loop"]
        .iter()
        .any(|word| text.contains(word))
        && !text.starts_with("Not affected")
}

fn weaknesses(context: &Context<'_>) -> Result<Vec<(String, String)>, Unavailable> {
    let names = context.host.list(WEAKNESSES)?;
    Ok(names
        .into_iter()
        .filter_map(|name| context.host.read_text(&format!("{WEAKNESSES}/{name}")).ok().map(|text| (name, text)))
        .collect())
}

fn call(context: &Context<'_>) -> Result<Finding, Unavailable> {
    context.live()?;
    let file = std::fs::File::open("/proc/self/exe").map_err(|e| refused("/proc/self/exe", &e))?;
    let (least, read) = on_cpu(quiet_cpu()?, || {
        let least = per_call(context, 20, 0.002, |n| {
            for _ in 0..n {
                // SAFETY: the call takes no arguments and never fails.
                std::hint::black_box(unsafe { libc::syscall(libc::SYS_getppid) });
            }
        })?;
        let mut byte = [0u8; 1];
        let read = per_call(context, 20, 0.002, |n| {
            use std::os::unix::fs::FileExt;
            for _ in 0..n {
                let _ = std::hint::black_box(file.read_at(&mut byte, 0));
            }
        })?;
        Ok((least, read))
    })?;
    let isolated = context.host.read_text(&format!("{WEAKNESSES}/meltdown")).is_ok_and(|t| t.contains("PTI"));
    let active: Vec<String> = weaknesses(context)
        .unwrap_or_default()
        .into_iter()
        .filter(|(_, text)| costly(text))
        .map(|(name, _)| name)
        .collect();
    let ns = human(least.low, "s");
    let cost = format!("100,000 calls a second cost {:.1} % of a CPU before they do anything", least.low * 1e7);
    let (verdict, says) = match () {
        () if least.low <= 200e-9 => (Verdict::Good, format!("{ns} an empty call; {cost}")),
        () if isolated => (
            Verdict::CouldBeBetter,
            format!(
                "{ns} an empty call, with page tables kept apart from the kernel's (PTI, against Meltdown); {cost}"
            ),
        ),
        () if least.low <= 500e-9 => (Verdict::CouldBeBetter, format!("{ns} an empty call; {cost}")),
        () => (
            Verdict::Bad,
            format!(
                "{ns} an empty call: something stands between programs and the kernel (a hypervisor without hardware support, seccomp filters, auditing, tracing); {cost}"
            ),
        ),
    };
    let mut finding = Finding::new(verdict, says)
        .expected("50 to 200 ns on x86-64 and aarch64 servers of the last years; 200 to 500 ns where page tables are kept apart (PTI) or buffers are cleared at each exit.")
        .spread("getppid", least, "s")
        .spread("pread of 1 byte in memory", read, "s")
        .word("costly mitigations", if active.is_empty() { "none".to_owned() } else { active.join(", ") });
    if verdict != Verdict::Good {
        finding = finding.change(
            "make fewer calls (larger buffers, readv and writev, io_uring); take a CPU that is not affected; check for auditd rules (auditctl -l), strace or bpf programs on system calls",
            "none",
        );
        if !active.is_empty() {
            finding = finding.change(
                "mitigations=off on the kernel's command line, for machines that run only code you trust",
                "high: programs and guests can read memory that is not theirs",
            );
        }
    }
    Ok(finding)
}

fn mitigations(context: &Context<'_>) -> Result<Finding, Unavailable> {
    let all = weaknesses(context)?;
    if all.is_empty() {
        return Err(Unavailable::absent(format!("{WEAKNESSES}: this kernel tells of none (Linux 4.15 and later do)")));
    }
    let words = context.host.read_text("/proc/cmdline").unwrap_or_default();
    let off =
        words.split_ascii_whitespace().any(|w| matches!(w, "mitigations=off" | "nopti" | "nospectre_v2" | "pti=off"));
    let vulnerable: Vec<&str> =
        all.iter().filter(|(_, t)| t.starts_with("Vulnerable")).map(|(n, _)| n.as_str()).collect();
    let costs: Vec<&str> = all.iter().filter(|(_, t)| costly(t)).map(|(n, _)| n.as_str()).collect();
    let safe = all.iter().filter(|(_, t)| t.starts_with("Not affected")).count();
    let cost = match costs.as_slice() {
        [] => "none that costs at each entry to the kernel".to_owned(),
        some => format!("these cost at entries to the kernel or switches: {} (syscall measures it)", some.join(", ")),
    };
    let says = match vulnerable.as_slice() {
        [] => format!("{safe} of {} weaknesses do not concern this CPU; {cost}", all.len()),
        some => format!("open: {}{}; {cost}", some.join(", "), if off { " (switched off at boot)" } else { "" }),
    };
    // Speed is what is judged here: what is open costs nothing, and is said.
    let verdict = if costs.iter().any(|name| *name != "spectre_v2") { Verdict::CouldBeBetter } else { Verdict::Good };
    let mut finding = Finding::new(verdict, says)
        .expected("CPUs of 2019 and later (Intel Cascade Lake, AMD Zen 2, Neoverse N1) need few mitigations that cost at each call.");
    for (name, text) in all.iter().filter(|(_, t)| !t.starts_with("Not affected")) {
        finding = finding.word(name, text);
    }
    if verdict != Verdict::Good {
        finding = finding.change("take a CPU that is not affected: a newer instance type", "none").change(
            "mitigations=off on the kernel's command line, for machines that run only code you trust",
            "high: programs and guests can read memory that is not theirs",
        );
    }
    if !vulnerable.is_empty() && !off {
        finding = finding.change(
            "update the microcode or firmware, and the kernel, where guests or programs are not trusted",
            "mitigations cost time; compare before and after",
        );
    }
    Ok(finding)
}

/// Minor faults of the calling thread so far.
pub(crate) fn faults() -> i64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the structure is as large as the kernel's; zeroes are valid for it.
    unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init().ru_minflt
    }
}

/// Seconds for each 4 KiB of fresh memory, and how many faults 2 MiB of it took.
fn touched(context: &Context<'_>, advice: i32) -> Result<(Spread, f64), Unavailable> {
    let memory = Memory::map(32 << 20, Some(advice))?;
    let (mut all, mut taken) = (Vec::new(), 0);
    for _ in 0..context.rounds(8) {
        context.go_on()?;
        let (before, start) = (faults(), Instant::now());
        memory.touch();
        all.push(start.elapsed().as_secs_f64() / (memory.length() / 4096) as f64);
        taken = faults() - before;
        memory.drop_pages();
    }
    Ok((Spread::or_failed(&all, "faulting")?, taken as f64 / (memory.length() / HUGE) as f64))
}

fn fault(context: &Context<'_>) -> Result<Finding, Unavailable> {
    context.live()?;
    let (small, huge) = on_cpu(quiet_cpu()?, || {
        let (small, faults) =
            touched(context, libc::MADV_NOHUGEPAGE).or_else(|_| touched(context, libc::MADV_NORMAL))?;
        if faults < 500.0 {
            return Err(Unavailable::failed(
                "page faults were fewer than pages: the kernel maps several at once, so the cost of one can't be told",
            ));
        }
        Ok((small, touched(context, libc::MADV_HUGEPAGE).ok()))
    })?;
    let huge = huge.filter(|(_, faults)| *faults < 8.0).map(|(spread, _)| spread);
    let gib = (1u64 << 30) as f64 / 4096.0;
    let mut says =
        format!("{} for each 4 KiB of fresh memory, {} for a GiB", human(small.low, "s"), human(small.low * gib, "s"));
    says.push_str(&match huge {
        Some(huge) => format!("; {} for a GiB with huge pages", human(huge.low * gib, "s")),
        None => "; no huge pages could be had".into(),
    });
    let verdict = match small.low {
        s if s <= 0.7e-6 => Verdict::Good,
        s if s <= 2e-6 => Verdict::CouldBeBetter,
        _ => Verdict::Bad,
    };
    let mut finding = Finding::new(verdict, says)
        .expected("0.1 to 0.3 µs a fault on metal, to 0.7 µs on a VM with two-level page tables in hardware, of which clearing the page is some 0.1 µs. More: the hypervisor takes part in each fault (nested or shadow page tables, memory it has to find first).")
        .spread("4 KiB pages, each", small, "s");
    if let Some(huge) = huge {
        finding = finding
            .spread("huge pages, each 4 KiB", huge, "s")
            .number("huge pages, a fault", huge.low * (HUGE / 4096) as f64, "s")
            .number("times cheaper with huge pages", small.low / huge.low, "");
    }
    if verdict != Verdict::Good || huge.is_none() {
        if huge.is_some() {
            finding = finding.change(
                "let large heaps use huge pages: GLIBC_TUNABLES=glibc.malloc.hugetlb=1 (glibc 2.35), java -XX:+UseTransparentHugePages -XX:+AlwaysPreTouch, madvise(MADV_HUGEPAGE)",
                "memory that is touched sparsely takes more room",
            );
        } else {
            finding = finding.change("see thp", "none");
        }
        finding = finding.change(
            "keep memory instead of returning it: MALLOC_TRIM_THRESHOLD_ and MALLOC_MMAP_THRESHOLD_ (mallopt(3)), background threads of jemalloc, pools",
            "the program holds memory that others could use",
        );
    }
    Ok(finding)
}

/// Hands bytes from `from` to `to` until the pipe is closed.
pub(crate) fn echo(from: &std::io::PipeReader, to: &std::io::PipeWriter) {
    use std::io::{Read, Write};
    let (mut from, mut to) = (from, to);
    let mut byte = [0u8; 1];
    while matches!(from.read(&mut byte), Ok(1)) && matches!(to.write(&byte), Ok(1)) {}
}

fn switch(context: &Context<'_>) -> Result<Finding, Unavailable> {
    use std::io::{Read, Write};
    context.live()?;
    let cpu = quiet_cpu()?;
    let failed = |e: std::io::Error| refused("pipe", &e);
    let (there_out, there_in) = std::io::pipe().map_err(failed)?;
    let (back_out, back_in) = std::io::pipe().map_err(failed)?;
    let spread = std::thread::scope(|scope| {
        scope.spawn(move || {
            if crate::measure::pin(cpu).is_ok() {
                echo(&there_out, &back_in);
            }
        });
        on_cpu(cpu, move || {
            let (mut to, mut from) = (there_in, back_out);
            let mut byte = [0u8; 1];
            per_call(context, 15, 0.01, |n| {
                for _ in 0..n {
                    if to.write(&byte).is_err() || from.read(&mut byte).is_err() {
                        break;
                    }
                }
            })
        })
    })?;
    let half = Spread { low: spread.low / 2.0, median: spread.median / 2.0, high: spread.high / 2.0 };
    let verdict = match half.low {
        s if s <= 2.5e-6 => Verdict::Good,
        s if s <= 6e-6 => Verdict::CouldBeBetter,
        _ => Verdict::Bad,
    };
    let says = format!(
        "{} a switch with a write and a read of a pipe; 50,000 a second cost {:.0} % of a CPU",
        human(half.low, "s"),
        half.low * 50_000.0 * 100.0
    );
    let mut finding = Finding::new(verdict, says)
        .expected("1 to 2.5 µs with the two calls; IBPB at each switch, PTI, and a hypervisor that takes part in page-table switches add to it.")
        .spread("a switch with write and read", half, "s");
    if verdict != Verdict::Good {
        finding = finding.change(
            "fewer, larger hand-overs between threads (batches); spread over CPUs what need not share one",
            "batches add latency",
        );
    }
    Ok(finding)
}

fn age(context: &Context<'_>) -> Result<Finding, Unavailable> {
    let release = context.host.read_text("/proc/sys/kernel/osrelease")?;
    let (major, minor) = machine::kernel(context.host)
        .ok_or_else(|| Unavailable::failed(format!("/proc/sys/kernel/osrelease: {release:?} is no release")))?;
    let platform = machine::Platform::of(context.host);
    let kind = match platform.hypervisor {
        "" => "metal".to_owned(),
        "xen" if platform.xen_type.is_empty() => "xen".into(),
        "xen" => format!("xen, {}", platform.xen_type),
        other => other.to_owned(),
    };
    let (mut verdict, mut says) = match (major, minor) {
        v if v < (4, 14) => (Verdict::Bad, format!("Linux {release} is from 2017 or before")),
        v if v < (5, 10) => (Verdict::CouldBeBetter, format!("Linux {release} is from 2020 or before")),
        _ => (Verdict::Good, format!("Linux {release}")),
    };
    let old = verdict != Verdict::Good;
    let paravirtual = platform.hypervisor == "xen" && platform.xen_type == "PV";
    if paravirtual {
        verdict = Verdict::Bad;
        says.push_str(": a paravirtual guest of Xen, in which each system call and page-table change passes through the hypervisor");
    } else {
        says.push_str(&format!(
            ", {}",
            if platform.is_virtual() { format!("a virtual machine ({kind})") } else { "on metal".into() }
        ));
    }
    let mut finding = Finding::new(verdict, says)
        .expected("A kernel that is still maintained (5.10 and later at the end of 2025). Later kernels brought, among others: blk-mq everywhere (5.0), io_uring (5.1), per-VMA locks for page faults (6.4), EEVDF (6.6). On Xen, HVM.")
        .word("release", release)
        .word("platform", kind);
    if let Some(instance) = &platform.ec2 {
        finding = finding.word("instance type", instance);
    }
    if paravirtual {
        finding = finding.change(
            "move to an HVM image (AWS: launch from an HVM AMI), or an instance type on Nitro",
            "a new machine to set up and test",
        );
    }
    if old {
        finding = finding.change(
            "install a newer kernel; compare before and after with twinscope compare",
            "drivers and defaults change",
        );
    }
    Ok(finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{host_of, live, on};

    #[test]
    fn old_cpus_pay_for_their_weaknesses() {
        let (_dir, host) = host_of(&[
            (&format!("{WEAKNESSES}/meltdown"), "Mitigation: PTI\n"),
            (&format!("{WEAKNESSES}/mds"), "Mitigation: Clear CPU buffers; SMT vulnerable\n"),
            (&format!("{WEAKNESSES}/srbds"), "Vulnerable: No microcode\n"),
        ]);
        let found = on(&host, mitigations).unwrap();
        assert_eq!(found.verdict, Verdict::CouldBeBetter);
        assert!(found.says.contains("open: srbds") && found.says.contains("mds, meltdown"), "{}", found.says);
        let (_dir, host) = host_of(&[(&format!("{WEAKNESSES}/meltdown"), "Not affected\n")]);
        assert_eq!(on(&host, mitigations).unwrap().verdict, Verdict::Good);
        let (_dir, host) = host_of(&[]);
        assert!(on(&host, mitigations).is_err());
    }

    #[test]
    fn old_kernels_and_paravirtual_guests() {
        type Case<'a> = (&'a [(&'a str, &'a str)], Verdict, &'a str);
        let cases: &[Case<'_>] = &[
            (&[("/proc/sys/kernel/osrelease", "3.13.0-24-generic\n")], Verdict::Bad, "2017"),
            (&[("/proc/sys/kernel/osrelease", "4.19.0-20-amd64\n")], Verdict::CouldBeBetter, "2020"),
            (&[("/proc/sys/kernel/osrelease", "6.1.0\n")], Verdict::Good, "metal"),
            (
                &[
                    ("/proc/sys/kernel/osrelease", "6.1.0\n"),
                    ("/sys/hypervisor/type", "xen\n"),
                    ("/sys/hypervisor/guest_type", "PV\n"),
                ],
                Verdict::Bad,
                "paravirtual",
            ),
            (
                &[
                    ("/proc/sys/kernel/osrelease", "6.1.0\n"),
                    ("/sys/hypervisor/type", "xen\n"),
                    ("/sys/hypervisor/guest_type", "HVM\n"),
                    ("/sys/class/dmi/id/bios_version", "4.11.amazon\n"),
                    ("/sys/class/dmi/id/product_name", "HVM domU\n"),
                ],
                Verdict::Good,
                "xen, HVM",
            ),
        ];
        for (files, verdict, says) in cases {
            let (_dir, host) = host_of(files);
            let found = on(&host, age).unwrap();
            assert_eq!(found.verdict, *verdict, "{files:?}");
            assert!(found.says.contains(says), "{}", found.says);
        }
        let (_dir, host) = host_of(&[("/proc/sys/kernel/osrelease", "weird")]);
        assert!(on(&host, age).is_err());
    }

    #[test]
    fn the_kernel_takes_time() {
        for run in [call, switch] {
            let found = live(run).unwrap();
            let first = found.values.first().unwrap();
            assert!(first.value.is_some_and(|v| v > 0.0) && first.low <= first.value, "{found:?}");
        }
        match live(fault) {
            Ok(found) => assert!(found.values.iter().all(|v| v.value.is_some_and(|v| v > 0.0))),
            Err(why) => println!("SKIPPED: page faults: {why}"),
        }
    }
}

//! Reading the time: which clock the kernel uses, what a read costs here, and how late timers are.

use crate::calls as libc;
use crate::check::{Check, Finding, Kind, Theme, Verdict, Write};
use crate::measure::{Spread, now, on_cpu, per_call, quiet_cpu};
use crate::{Context, machine};
use model::{Unavailable, human};

const SOURCE: &str = "/sys/devices/system/clocksource/clocksource0";

pub(crate) static CHECKS: &[Check] = &[
    Check {
        id: "clock-source",
        theme: Theme::Clock,
        kind: Kind::Setting,
        title: "clock source of the kernel",
        how: "current_clocksource and available_clocksource in /sys/devices/system/clocksource/clocksource0; TSC flags of /proc/cpuinfo",
        source: "Documentation/timers/timekeeping.rst, Documentation/virt/kvm/x86/timekeeping.rst; AWS, \"Manage the Linux clock source\"",
        run: source,
    },
    Check {
        id: "clock-read",
        theme: Theme::Clock,
        kind: Kind::Measurement,
        title: "cost of reading the time",
        how: "clock_gettime(CLOCK_MONOTONIC) through the C library and as a plain system call, CLOCK_REALTIME, CLOCK_MONOTONIC_COARSE, and the counter itself; 20 rounds of 2 ms each on one CPU, the least counts",
        source: "vdso(7), clock_gettime(2)",
        run: read,
    },
    Check {
        id: "timer-slack",
        theme: Theme::Clock,
        kind: Kind::Measurement,
        title: "how late a sleep of 100 µs ends",
        how: "clock_nanosleep to an absolute time 100 µs ahead, 300 times with the slack this program has and 300 times with 1 ns",
        source: "prctl(2) PR_SET_TIMERSLACK, Documentation/timers/hrtimers.rst",
        run: slack,
    },
];

fn source(context: &Context<'_>) -> Result<Finding, Unavailable> {
    let host = context.host;
    let current = host.read_text(&format!("{SOURCE}/current_clocksource"))?;
    let available = host.read_text(&format!("{SOURCE}/available_clocksource")).unwrap_or_default();
    let has = |name: &str| available.split_ascii_whitespace().any(|s| s == name);
    let stable = machine::has_flag(host, "constant_tsc") && machine::has_flag(host, "nonstop_tsc");
    let path = format!("{SOURCE}/current_clocksource");
    let expected = "The counter of the CPU (tsc on x86-64, arch_sys_counter on aarch64), which programs read without entering the kernel.";
    let finding = match current.as_str() {
        "tsc" | "arch_sys_counter" => Finding::good(format!("{current}: programs read it without entering the kernel")),
        "kvm-clock" | "hyperv_clocksource_tsc_page" => Finding::good(format!(
            "{current}: a page shared with the hypervisor, read without entering the kernel where the hypervisor keeps its TSC stable (see clock-read)"
        )),
        other => {
            let how = match other {
                "xen" => "each read is a system call: the vDSO has no fast path for it on most kernels",
                "hpet" | "acpi_pm" => {
                    "each read is a system call and an access to a slow device, which a hypervisor emulates"
                }
                "jiffies" | "refined-jiffies" => {
                    "it has the resolution of the timer tick, and each read is a system call"
                }
                _ => "it has no fast path that is known here",
            };
            Finding::new(Verdict::Bad, format!("{other}: {how} (clock-read measures what it costs here)"))
        }
    };
    let mut finding = finding.expected(expected).word("clock source", &current).word("available", &available);
    if finding.verdict == Verdict::Bad {
        if has("tsc") {
            let risk = if stable {
                "low: the CPU says that its TSC is constant and never stops. A VM that is moved between hosts, or a host of several sockets with unsynchronised TSCs, could see time jump; the kernel's watchdog goes back if it finds that. Lost at reboot: clocksource=tsc on the kernel's command line keeps it"
            } else {
                "the CPU does not say that its TSC is constant and never stops (flags constant_tsc, nonstop_tsc): time may drift or jump. Lost at reboot"
            };
            finding = finding.writes(vec![Write::new(path, "tsc")], risk);
        } else if has("kvm-clock") {
            finding = finding.writes(vec![Write::new(path, "kvm-clock")], "low; lost at reboot");
        } else {
            finding = finding.change(
                "find out why the kernel rejected the TSC: dmesg | grep -i -e tsc -e clocksource; update the firmware, or take a newer instance type",
                "forcing it (tsc=reliable) hides a clock that may really be unstable",
            );
        }
    }
    Ok(finding)
}

/// The counter of the CPU, ordered after what comes before it.
#[cfg(target_arch = "x86_64")]
fn counter() -> Option<u64> {
    use std::arch::x86_64::{_mm_lfence, _rdtsc};
    // SAFETY: every x86-64 has both instructions; the kernel may forbid rdtsc only by prctl(PR_SET_TSC), which nobody calls here.
    unsafe {
        _mm_lfence();
        Some(_rdtsc())
    }
}

#[cfg(target_arch = "aarch64")]
fn counter() -> Option<u64> {
    let value: u64;
    // SAFETY: Linux lets programs read the virtual counter; it changes nothing.
    unsafe { std::arch::asm!("isb", "mrs {}, cntvct_el0", out(reg) value) };
    Some(value)
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn counter() -> Option<u64> {
    None
}

pub(crate) fn time(clock: libc::clockid_t) {
    let mut at = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is the caller's.
    unsafe { libc::clock_gettime(clock, &raw mut at) };
    std::hint::black_box(at.tv_nsec);
}

fn time_by_call() {
    let mut at = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: as above; the arguments are those of clock_gettime(2).
    unsafe { libc::syscall(libc::SYS_clock_gettime, libc::CLOCK_MONOTONIC, &raw mut at) };
    std::hint::black_box(at.tv_nsec);
}

/// A read without a system call costs less than this share of one with it. Through the vDSO it is a tenth; where the vDSO falls back to the
/// call it is all of it and a little more.
const FAST: f64 = 0.6;

fn read(context: &Context<'_>) -> Result<Finding, Unavailable> {
    context.live()?;
    let cpu = quiet_cpu()?;
    let (monotonic, real, coarse, call, bare) = on_cpu(cpu, || {
        let timed = |clock| per_call(context, 20, 0.002, |n| (0..n).for_each(|_| time(clock)));
        let call = per_call(context, 20, 0.002, |n| (0..n).for_each(|_| time_by_call()))?;
        let bare = match counter() {
            Some(_) => Some(per_call(context, 20, 0.002, |n| {
                for _ in 0..n {
                    std::hint::black_box(counter());
                }
            })?),
            None => None,
        };
        let coarse = timed(libc::CLOCK_MONOTONIC_COARSE)?;
        Ok((timed(libc::CLOCK_MONOTONIC)?, timed(libc::CLOCK_REALTIME)?, coarse, call, bare))
    })?;
    let source = context.host.read_text(&format!("{SOURCE}/current_clocksource")).unwrap_or_default();
    let fast = monotonic.low < FAST * call.low;
    let ns = human(monotonic.low, "s");
    let by_call = human(call.low, "s");
    let percent = |calls: f64| format!("{:.1} % of a CPU", calls * monotonic.low * 100.0);
    let busy = format!("100,000 reads a second cost {}", percent(1e5));
    // The arithmetic around the counter is a few nanoseconds.
    let should = bare.map(|b| b.low + 20e-9);
    let (verdict, says) = match (fast, should) {
        (false, _) => (
            Verdict::Bad,
            format!(
                "{ns} a read: a system call each time ({by_call} as a plain call), with the clock source {source}; {busy}"
            ),
        ),
        (true, Some(should)) if monotonic.low > 2.0 * should => (
            Verdict::CouldBeBetter,
            format!(
                "{ns} a read without a system call, more than the counter's {} explains; {busy}",
                human(should, "s")
            ),
        ),
        (true, _) => (Verdict::Good, format!("{ns} a read, without a system call (as a call {by_call}); {busy}")),
    };
    let mut finding = Finding::new(verdict, says)
        .expected(match bare {
            Some(bare) => format!(
                "The counter itself takes {} here; a read through the vDSO adds some 10 to 20 ns of arithmetic. A read that costs as much as the plain call has fallen back to it.",
                human(bare.low, "s")
            ),
            None => "A read through the vDSO costs a tenth of a plain call, or less.".into(),
        })
        .spread("CLOCK_MONOTONIC", monotonic, "s")
        .spread("CLOCK_REALTIME", real, "s")
        .spread("CLOCK_MONOTONIC_COARSE", coarse, "s")
        .spread("as a system call", call, "s");
    if let Some(bare) = bare {
        finding = finding.spread("the counter alone", bare, "s");
        if bare.low > 200e-9 {
            finding = finding.change(
                "the hypervisor traps reads of the counter: another instance type or hypervisor setting would not",
                "none",
            );
        }
    }
    if !fast {
        finding = finding.change(
            "see clock-source; programs that need no precision can read CLOCK_MONOTONIC_COARSE, and some log less often",
            "the coarse clock moves once a timer tick (1 to 10 ms)",
        );
    }
    Ok(finding)
}

/// Seconds that sleeps of 100 µs end too late.
fn late(context: &Context<'_>, rounds: usize) -> Result<Spread, Unavailable> {
    const SLEEP: u64 = 100_000;
    let mut all = Vec::new();
    for _ in 0..context.rounds(rounds) {
        context.go_on()?;
        let end = now() + SLEEP;
        let until = libc::timespec { tv_sec: (end / 1_000_000_000) as i64, tv_nsec: (end % 1_000_000_000) as i64 };
        // SAFETY: the structure is ours; no time left is asked for.
        unsafe {
            libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &raw const until, std::ptr::null_mut())
        };
        all.push(now().saturating_sub(end) as f64 / 1e9);
    }
    Spread::or_failed(&all, "sleeping")
}

fn slack(context: &Context<'_>) -> Result<Finding, Unavailable> {
    context.live()?;
    let (slack, usual, none) = on_cpu(quiet_cpu()?, || {
        // SAFETY: the calls take and return numbers; they are about this thread alone.
        let slack = unsafe { libc::prctl(libc::PR_GET_TIMERSLACK, 0, 0, 0, 0) };
        let usual = late(context, 300)?;
        // SAFETY: as above.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1, 0, 0, 0) };
        Ok((slack, usual, late(context, 300)?))
    })?;
    let slack = f64::from(slack.max(0)) / 1e9;
    let gain = (usual.median - none.median).max(0.0);
    let says = format!(
        "a sleep of 100 µs ends {} late, of which timer slack is {}; the rest is the timer interrupt and waking up",
        human(usual.median, "s"),
        human(gain, "s")
    );
    let verdict = match () {
        () if slack > 60e-6 || usual.low > 1e-3 => Verdict::CouldBeBetter,
        () if slack == 0.0 && usual.low > 200e-6 => Verdict::CouldBeBetter,
        () => Verdict::Good,
    };
    Ok(Finding::new(verdict, says)
        .expected("The default slack is 50 µs, which lets the kernel wake several sleepers at once. High-resolution timers end within some 10 µs of what slack allows, on VMs some 50 µs more.")
        .spread("late, as this program is set", usual, "s")
        .spread("late, with a slack of 1 ns", none, "s")
        .number("timer slack", slack, "s")
        .change(
            "programs that sleep often and briefly (polling, pacing): prctl(PR_SET_TIMERSLACK, 1), or for one that runs: echo 1 > /proc/PID/timerslack_ns",
            "more wake-ups, so more power and less turbo",
        ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{host_of, live, on};

    const FLAGS: (&str, &str) =
        ("/proc/cpuinfo", "processor : 0\nflags : fpu constant_tsc nonstop_tsc hypervisor\n\nprocessor : 1\n");

    #[test]
    fn xen_and_hpet_are_bad() {
        for current in ["xen", "hpet", "acpi_pm", "jiffies"] {
            let (_dir, host) = host_of(&[
                FLAGS,
                (&format!("{SOURCE}/current_clocksource"), current),
                (&format!("{SOURCE}/available_clocksource"), "xen tsc hpet acpi_pm"),
            ]);
            let found = on(&host, source).unwrap();
            assert_eq!(found.verdict, Verdict::Bad, "{current}");
            let change = found.changes.first().unwrap();
            assert_eq!(change.writes, [Write::new(format!("{SOURCE}/current_clocksource"), "tsc")]);
            assert!(change.risk.starts_with("low"));
        }
    }

    #[test]
    fn a_tsc_that_was_rejected_is_not_forced() {
        let (_dir, host) = host_of(&[
            (&format!("{SOURCE}/current_clocksource"), "hpet"),
            (&format!("{SOURCE}/available_clocksource"), "hpet acpi_pm"),
        ]);
        let found = on(&host, source).unwrap();
        assert!(found.verdict == Verdict::Bad && found.changes.iter().all(|c| c.writes.is_empty()));
    }

    #[test]
    fn fast_sources_are_good() {
        for current in ["tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page"] {
            let (_dir, host) = host_of(&[(&format!("{SOURCE}/current_clocksource"), current)]);
            assert_eq!(on(&host, source).unwrap().verdict, Verdict::Good, "{current}");
        }
        let (_dir, host) = host_of(&[]);
        assert!(on(&host, source).is_err());
    }

    #[test]
    fn reads_take_time() {
        let found = live(read).unwrap();
        assert!(found.values.iter().all(|v| v.value.is_some_and(|v| v > 0.0) && v.low <= v.value && v.value <= v.high));
        assert!(live(slack).unwrap().values.iter().all(|v| v.value.is_some_and(|v| v >= 0.0)));
    }
}

//! How fast the CPUs run: told by the time of instructions whose cycles are known, since counters are often not to be had.

use crate::check::{Check, Finding, Kind, Theme, Verdict, Write};
use crate::measure::{Spread, allowed_cpus, joined, on_cpu, pin, quiet_cpu};
use crate::{Context, machine};
use host::additions::{ADDITIONS, additions, parallel};
use model::{Unavailable, human};
use std::sync::Barrier;
use std::time::Instant;

const CPU: &str = "/sys/devices/system/cpu";

pub(crate) static CHECKS: &[Check] = &[
    Check {
        id: "frequency",
        theme: Theme::Cpu,
        kind: Kind::Measurement,
        title: "frequency under load: scalar, AVX2, AVX-512, all CPUs",
        how: "a chain of register additions, each of which waits for the one before: one cycle each on every x86-64 and aarch64 core; timed in pieces of 50 µs, alone, right after 2 ms of AVX2 and of AVX-512 multiply-adds, and on all CPUs at once; beside the rate of the time-stamp counter, which is the nominal frequency on Intel and AMD",
        source: "Fog, \"Instruction tables\" (latency of ADD); Intel SDM 3B, 18.17 (TSC); Intel Xeon specification updates (AVX turbo frequencies)",
        run: frequency,
    },
    Check {
        id: "governor",
        theme: Theme::Cpu,
        kind: Kind::Setting,
        title: "who sets the frequency, and how",
        how: "scaling_driver, scaling_governor, energy_performance_preference, limits of each CPU; intel_pstate/no_turbo, cpufreq/boost",
        source: "Documentation/admin-guide/pm/cpufreq.rst, intel_pstate.rst, amd-pstate.rst; AWS, \"Processor state control\"",
        run: governor,
    },
];

/// Rounds of parallel additions a second, for `seconds`, in pieces of 100 µs: the best of them, which nobody interrupted.
pub(crate) fn throughput(seconds: f64) -> f64 {
    let end = crate::measure::deadline(seconds);
    let turns = 2_000;
    let mut all = Vec::new();
    while Instant::now() < end {
        let start = Instant::now();
        parallel(turns);
        all.push(turns as f64 / start.elapsed().as_secs_f64());
    }
    Spread::of(&all).map_or(0.0, |s| s.median)
}

/// Hertz, of one piece of about 50 µs.
fn piece() -> f64 {
    let turns = 2_000;
    let start = Instant::now();
    additions(turns);
    (turns * ADDITIONS) as f64 / start.elapsed().as_secs_f64()
}

fn pieces(context: &Context<'_>, seconds: f64, mut before: impl FnMut()) -> Result<Spread, Unavailable> {
    let end = crate::measure::deadline(if context.quick { seconds / 3.0 } else { seconds });
    let mut all = Vec::new();
    while Instant::now() < end {
        context.go_on()?;
        before();
        all.push(piece());
    }
    Spread::of_rates(&all, "adding")
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use std::arch::x86_64::{_mm256_fmadd_ps, _mm256_set1_ps, _mm512_fmadd_ps, _mm512_set1_ps};

    /// Vector units at full work: eight chains of fused multiply-adds, which keep two units of four cycles busy.
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn avx2(turns: u64) {
        let (a, b) = (_mm256_set1_ps(1.000_1), _mm256_set1_ps(0.000_1));
        let mut chains = [a; 8];
        for _ in 0..turns {
            for chain in &mut chains {
                *chain = _mm256_fmadd_ps(*chain, b, a);
            }
        }
        std::hint::black_box(chains);
    }

    /// As [`avx2`], with registers of 512 bits.
    #[target_feature(enable = "avx512f")]
    pub(super) fn avx512(turns: u64) {
        let (a, b) = (_mm512_set1_ps(1.000_1), _mm512_set1_ps(0.000_1));
        let mut chains = [a; 8];
        for _ in 0..turns {
            for chain in &mut chains {
                *chain = _mm512_fmadd_ps(*chain, b, a);
            }
        }
        std::hint::black_box(chains);
    }
}

/// Frequency right after heavy vector work: cores that lower it keep it low for about a millisecond.
#[cfg(target_arch = "x86_64")]
fn after_vectors(context: &Context<'_>) -> Result<Vec<(&'static str, Spread)>, Unavailable> {
    let mut all = Vec::new();
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        // SAFETY: the CPU has both.
        all.push(("after AVX2", pieces(context, 0.2, || unsafe { wide::avx2(400_000) })?));
    }
    if std::arch::is_x86_feature_detected!("avx512f") {
        // SAFETY: the CPU has it.
        all.push(("after AVX-512", pieces(context, 0.2, || unsafe { wide::avx512(400_000) })?));
    }
    Ok(all)
}

/// No other architecture's server cores are known to lower their frequency for wide vectors.
#[cfg(not(target_arch = "x86_64"))]
fn after_vectors(_: &Context<'_>) -> Result<Vec<(&'static str, Spread)>, Unavailable> {
    Ok(Vec::new())
}

/// Ticks a second of the time-stamp counter, which does not change with the frequency.
#[cfg(target_arch = "x86_64")]
fn nominal(context: &Context<'_>) -> Option<f64> {
    use std::arch::x86_64::_rdtsc;
    if !machine::has_flag(context.host, "constant_tsc") {
        return None;
    }
    // SAFETY: reads a counter.
    let read = || unsafe { _rdtsc() };
    let (start, from) = (Instant::now(), read());
    std::thread::sleep(std::time::Duration::from_millis(30));
    let (ticks, seconds) = (read().wrapping_sub(from), start.elapsed().as_secs_f64());
    Some(ticks as f64 / seconds)
}

/// What the firmware gives as highest frequency without boost, where it tells.
#[cfg(not(target_arch = "x86_64"))]
fn nominal(context: &Context<'_>) -> Option<f64> {
    let read = |file: &str| context.host.read_number(&format!("{CPU}/cpu0/cpufreq/{file}")).ok();
    read("base_frequency").or_else(|| read("cpuinfo_max_freq")).map(|khz| khz as f64 * 1e3)
}

fn frequency(context: &Context<'_>) -> Result<Finding, Unavailable> {
    context.live()?;
    if !additions(1) {
        return Err(Unavailable::not_applicable(
            "how many cycles an addition takes is known here for x86-64 and aarch64 only",
        ));
    }
    let (alone, vectors) = on_cpu(quiet_cpu()?, || {
        let alone = pieces(context, 0.3, || ())?;
        Ok((alone, after_vectors(context)?))
    })?;
    let cpus = allowed_cpus();
    let barrier = Barrier::new(cpus.len());
    let each: Vec<Spread> = std::thread::scope(|scope| {
        let threads: Vec<_> = cpus
            .iter()
            .map(|cpu| {
                let barrier = &barrier;
                scope.spawn(move || {
                    let ready = pin(*cpu);
                    barrier.wait();
                    ready?;
                    pieces(context, 0.3, || ())
                })
            })
            .collect();
        threads.into_iter().map(joined).collect::<Result<_, _>>()
    })?;
    let together = Spread::or_failed(&each.iter().map(|s| s.median).collect::<Vec<_>>(), "adding")?;
    let nominal = nominal(context);
    // The best pieces were not interrupted: they show what the core does.
    let ratio = nominal.map(|n| alone.high / n);
    let all_ratio = nominal.map(|n| together.median / n);
    let verdict = match (ratio, all_ratio) {
        (Some(one), Some(all)) if one < 0.75 || all < 0.65 => Verdict::Bad,
        (Some(one), Some(all)) if one < 0.97 || all < 0.9 => Verdict::CouldBeBetter,
        (Some(_), _) => Verdict::Good,
        (None, _) => Verdict::Unknown,
    };
    let mut says = format!(
        "{} on one CPU, {} on each of {} at once",
        human(alone.median, "Hz"),
        human(together.median, "Hz"),
        cpus.len()
    );
    if let Some(nominal) = nominal {
        says.push_str(&format!("; nominal {}", human(nominal, "Hz")));
    }
    let mut finding = Finding::new(verdict, "")
        .expected("At least the nominal frequency, with all CPUs busy too; with turbo more, most of it while few cores are busy. AVX-512 lowers it by 10 to 30 % on Skylake to Cascade Lake servers, little on later ones and not on AMD.")
        .spread("one CPU, scalar", alone, "Hz");
    for (name, spread) in &vectors {
        finding = finding.spread(*name, *spread, "Hz");
        let lower = 1.0 - spread.median / alone.median;
        if lower > 0.05 {
            says.push_str(&format!("; {:.0} % lower {name}", lower * 100.0));
        }
    }
    finding = finding.spread(format!("each of {} CPUs at once", cpus.len()), together, "Hz");
    if let Some(nominal) = nominal {
        finding = finding.number("nominal (time-stamp counter)", nominal, "Hz");
    }
    if matches!(verdict, Verdict::Bad | Verdict::CouldBeBetter) {
        says.push_str(": slower than it should be");
        finding = finding.change(
            "see governor; on metal look for power caps and heat (twinscope record: thermal, powercap), firmware power profiles; on a VM for CPU limits of the hypervisor, burst credits and steal",
            "more power and heat",
        );
    }
    finding.says = says;
    Ok(finding)
}

fn governor(context: &Context<'_>) -> Result<Finding, Unavailable> {
    let host = context.host;
    let policies = host.glob(&format!("{CPU}/cpufreq/policy*"));
    let Some(first) = policies.first() else {
        return Err(match machine::Platform::of(host).is_virtual() {
            true => Unavailable::not_applicable(
                "no cpufreq: the hypervisor sets the frequency (see frequency for what it is)",
            ),
            false => Unavailable::absent(format!(
                "{CPU}/cpufreq: no driver sets the frequency; the firmware may (see frequency)"
            )),
        });
    };
    let driver = host.read_text(&format!("{first}/scaling_driver")).unwrap_or_default();
    let mut finding = Finding::good("").word("driver", &driver);
    let (mut governors, mut writes, mut capped) = (std::collections::BTreeMap::<String, usize>::new(), Vec::new(), 0);
    for policy in &policies {
        let read = |file: &str| host.read_text(&format!("{policy}/{file}"));
        let Ok(governor) = read("scaling_governor") else { continue };
        let available = read("scaling_available_governors").unwrap_or_default();
        // With these drivers "powersave" follows the load, led by the preference.
        let active = matches!(driver.as_str(), "intel_pstate" | "amd-pstate-epp" | "amd_pstate_epp");
        let preference = read("energy_performance_preference").unwrap_or_default();
        let slow = match governor.as_str() {
            "performance" | "schedutil" => false,
            "powersave" if active => !matches!(preference.as_str(), "performance" | "balance_performance" | ""),
            _ => true,
        };
        if slow && available.split(' ').any(|g| g == "performance") {
            writes.push(Write::new(format!("{policy}/scaling_governor"), "performance"));
        }
        let number = |file: &str| read(file).ok().and_then(|t| t.parse::<f64>().ok());
        if let (Some(limit), Some(most)) = (number("scaling_max_freq"), number("cpuinfo_max_freq"))
            && limit < 0.97 * most
        {
            capped += 1;
            writes.push(Write::new(format!("{policy}/scaling_max_freq"), format!("{most:.0}")));
        }
        let name = if preference.is_empty() { governor } else { format!("{governor}, {preference}") };
        *governors.entry(name).or_default() += 1;
    }
    let turbo_off = host.read_text(&format!("{CPU}/intel_pstate/no_turbo")).is_ok_and(|t| t == "1");
    let boost_off = host.read_text(&format!("{CPU}/cpufreq/boost")).is_ok_and(|t| t == "0");
    if turbo_off {
        writes.push(Write::new(format!("{CPU}/intel_pstate/no_turbo"), "0"));
    } else if boost_off {
        writes.push(Write::new(format!("{CPU}/cpufreq/boost"), "1"));
    }
    let list: Vec<String> = governors.iter().map(|(name, n)| format!("{name} ({n})")).collect();
    let mut says = format!("{driver}: {}", list.join(", "));
    if capped > 0 {
        says.push_str(&format!("; {capped} limited below what they can do"));
    }
    if turbo_off || boost_off {
        says.push_str("; turbo is off");
    }
    let slow = writes.iter().any(|w| w.path.ends_with("governor"));
    finding.verdict = match () {
        () if slow || capped > 0 => Verdict::Bad,
        () if turbo_off || boost_off => Verdict::CouldBeBetter,
        () => Verdict::Good,
    };
    finding.says = says;
    finding = finding
        .word("governors", list.join(", "))
        .word("turbo", if turbo_off || boost_off { "off" } else { "on, or not told" })
        .expected("performance or schedutil, or powersave of intel_pstate and amd-pstate with a preference for performance; no limit below the maximum. Turbo off is right where runs must repeat exactly.");
    if !writes.is_empty() {
        finding = finding
            .writes(writes, "more power and heat; turbo makes runs vary with what the neighbours do. Lost at reboot");
    }
    Ok(finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{host_of, live, on};

    #[test]
    fn governors() {
        let policy = format!("{CPU}/cpufreq/policy0");
        let file = |name: &str| format!("{policy}/{name}");
        let of = |driver: &str, governor: &str, preference: &str, limit: &str| {
            let (dir, host) = host_of(&[
                (&file("scaling_driver"), driver),
                (&file("scaling_governor"), governor),
                (&file("scaling_available_governors"), "performance powersave"),
                (&file("energy_performance_preference"), preference),
                (&file("scaling_max_freq"), limit),
                (&file("cpuinfo_max_freq"), "3500000"),
            ]);
            let found = on(&host, governor_of).unwrap();
            drop(dir);
            (found.verdict, found.changes.iter().flat_map(|c| c.writes.clone()).collect::<Vec<_>>())
        };
        assert_eq!(of("acpi-cpufreq", "powersave", "", "3500000").0, Verdict::Bad);
        assert_eq!(of("intel_pstate", "powersave", "balance_performance", "3500000").0, Verdict::Good);
        assert_eq!(of("intel_pstate", "powersave", "power", "3500000").0, Verdict::Bad);
        let (verdict, writes) = of("intel_pstate", "performance", "performance", "2000000");
        assert_eq!((verdict, writes), (Verdict::Bad, vec![Write::new(file("scaling_max_freq"), "3500000")]));
        let (_dir, host) = host_of(&[("/proc/cpuinfo", "flags : hypervisor\n")]);
        assert_eq!(on(&host, governor_of).unwrap_err().status, model::Status::NotApplicable);
    }

    use super::governor as governor_of;

    #[test]
    fn frequencies_are_plausible() {
        match live(frequency) {
            // No core was ever built for less than 100 MHz or more than 20 GHz.
            Ok(found) => {
                assert!(found.values.iter().all(|v| v.value.is_some_and(|v| (1e7..2e10).contains(&v))), "{found:?}")
            }
            Err(why) => println!("SKIPPED: frequency: {why}"),
        }
        assert!(throughput(0.01) > 0.0);
    }
}

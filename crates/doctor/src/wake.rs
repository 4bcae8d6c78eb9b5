//! How long a sleeping thread takes to run, after its CPU was idle for a while.

use crate::check::{Check, Finding, Kind, Theme, Verdict, Write};
use crate::measure::{Spread, allowed_cpus, joined, now, pin};
use crate::{Context, machine};
use model::{Unavailable, human};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

pub(crate) static CHECKS: &[Check] = &[
    Check {
        id: "wake-up",
        theme: Theme::Cpu,
        kind: Kind::Measurement,
        title: "time to wake a thread on an idle CPU",
        how: "a thread on one CPU wakes one that sleeps on another by a futex, after that CPU was idle for 50 µs, 1 ms and 10 ms; from the call to the first instruction of the other, both by CLOCK_MONOTONIC",
        source: "futex(2), Documentation/admin-guide/pm/cpuidle.rst",
        run: wake,
    },
    Check {
        id: "idle-states",
        theme: Theme::Cpu,
        kind: Kind::Setting,
        title: "idle states and who chooses them",
        how: "cpuidle driver and governor, states of CPU 0 with their exit latency, intel_idle.max_cstate and similar boot parameters, guest_halt_poll_ns",
        source: "Documentation/admin-guide/pm/cpuidle.rst, intel_idle.rst; Documentation/virt/guest-halt-polling.rst; AWS, \"Processor state control\"",
        run: states,
    },
];

/// How long the CPU is left idle, and how often.
const IDLE: [(u64, usize); 3] = [(50, 300), (1_000, 150), (10_000, 40)];

fn woken(context: &Context<'_>, from: usize, to: usize) -> Result<Vec<Spread>, Unavailable> {
    let (sent, done, over) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let sleeper = scope.spawn(|| {
            pin(to)?;
            let mut last = 0;
            while !over.load(Ordering::Acquire) {
                std::thread::park();
                let now = now();
                let at = sent.load(Ordering::Acquire);
                if at != last {
                    last = at;
                    done.store(now.saturating_sub(at).max(1), Ordering::Release);
                }
            }
            Ok(())
        });
        let (waker, to_wake) = (sleeper.thread().clone(), sleeper.thread().clone());
        let (sent, done) = (&sent, &done);
        let result = scope
            .spawn(move || {
                pin(from)?;
                let mut all = Vec::new();
                for (idle, rounds) in IDLE {
                    let mut times = Vec::new();
                    for _ in 0..context.rounds(rounds) {
                        context.go_on()?;
                        std::thread::sleep(Duration::from_micros(idle));
                        done.store(0, Ordering::Release);
                        sent.store(now(), Ordering::Release);
                        to_wake.unpark();
                        let end = crate::measure::deadline(1.0);
                        let mut took = 0;
                        while took == 0 && std::time::Instant::now() < end {
                            std::hint::spin_loop();
                            took = done.load(Ordering::Acquire);
                        }
                        if took > 0 {
                            times.push(took as f64 / 1e9);
                        }
                    }
                    all.push(Spread::or_failed(&times, "waking")?);
                }
                Ok(all)
            })
            .join()
            .unwrap_or_else(|_| Err(Unavailable::failed("a thread of the measurement died")));
        over.store(true, Ordering::Release);
        waker.unpark();
        joined(sleeper)?;
        result
    })
}

fn wake(context: &Context<'_>) -> Result<Finding, Unavailable> {
    context.live()?;
    let cpus = allowed_cpus();
    let (Some(from), Some(to)) = (cpus.first(), cpus.get(1)) else {
        return Err(Unavailable::not_applicable("one CPU: no thread can wake another on an idle CPU"));
    };
    let all = woken(context, *from, *to)?;
    let slow = all.iter().map(|s| s.median).fold(0.0, f64::max);
    let fast = all.first().map_or(0.0, |s| s.median);
    let platform = machine::Platform::of(context.host);
    let deep = slow > 2.5 * fast && slow - fast > 20e-6;
    let mut says = format!("{} after 50 µs of idling", human(fast, "s"));
    for ((idle, _), spread) in IDLE.iter().zip(&all).skip(1) {
        says.push_str(&format!(", {} after {}", human(spread.median, "s"), human(*idle as f64 / 1e6, "s")));
    }
    // What an interrupt through the hypervisor takes is no fault of the machine.
    let usual = if platform.is_virtual() { 60e-6 } else { 30e-6 };
    let verdict = match slow {
        s if s <= usual => Verdict::Good,
        s if s <= 200e-6 => Verdict::CouldBeBetter,
        _ => Verdict::Bad,
    };
    let mut finding = Finding::new(verdict, "")
        .expected("3 to 10 µs where the CPU idles lightly; the exit latency of the deepest state more (up to 100 µs and above) after long idling. On a VM an idle CPU is given back to the host: waking it takes an interrupt through the hypervisor, 20 to 60 µs.");
    for ((idle, _), spread) in IDLE.iter().zip(&all) {
        finding = finding.spread(format!("after {} idle", human(*idle as f64 / 1e6, "s")), *spread, "s");
    }
    if verdict != Verdict::Good {
        if platform.is_virtual() {
            says.push_str(": an idle CPU goes back to the host, and comes back through the hypervisor");
            finding = finding.change(
                "let idle CPUs poll for a while before they halt: modprobe cpuidle-haltpoll and guest_halt_poll_ns (host: kvm.halt_poll_ns), or idle=poll at boot; in programs: fewer, busier threads, spinning before sleeping",
                "polling burns CPU time that the host or an SMT sibling could use, and burst credits; idle=poll burns all of it",
            );
        }
        if deep && !platform.is_virtual() {
            says.push_str(": deep idle states take long to leave");
            finding = finding.change(
                "see idle-states; a program can hold /dev/cpu_dma_latency open with the latency it can bear",
                "more power, less turbo for the other cores",
            );
        }
    }
    finding.says = says;
    Ok(finding)
}

/// States that take longer to leave than this are felt by services that answer within a millisecond, seconds.
const LONG: f64 = 50e-6;

fn states(context: &Context<'_>) -> Result<Finding, Unavailable> {
    const CPU: &str = "/sys/devices/system/cpu";
    let host = context.host;
    let driver = host.read_text(&format!("{CPU}/cpuidle/current_driver"))?;
    let governor = host
        .read_text(&format!("{CPU}/cpuidle/current_governor"))
        .or_else(|_| host.read_text(&format!("{CPU}/cpuidle/current_governor_ro")))
        .unwrap_or_default();
    let platform = machine::Platform::of(host);
    let mut finding = Finding::good("").word("driver", &driver).word("governor", governor);
    let (mut deepest, mut deep) = ((0.0, String::new()), Vec::new());
    for state in host.glob(&format!("{CPU}/cpu0/cpuidle/state*")) {
        let read = |file: &str| host.read_text(&format!("{state}/{file}"));
        let (Ok(name), Ok(latency)) = (read("name"), read("latency")) else { continue };
        let seconds = latency.parse::<f64>().unwrap_or(0.0) / 1e6;
        let disabled = read("disable").is_ok_and(|d| d != "0");
        finding = finding.word(
            name.clone(),
            format!("{} to leave{}", human(seconds, "s"), if disabled { ", disabled" } else { "" }),
        );
        if !disabled && seconds > deepest.0 {
            deepest = (seconds, name.clone());
        }
        if !disabled
            && seconds > LONG
            && let Some(number) = state.rsplit('/').next()
        {
            deep.push(number.to_owned());
        }
    }
    let words = host.read_text("/proc/cmdline").unwrap_or_default();
    for word in words.split_ascii_whitespace() {
        if ["intel_idle.max_cstate", "processor.max_cstate", "idle=", "cpuidle."].iter().any(|w| word.starts_with(w)) {
            finding = finding.word("at boot", word);
        }
    }
    let finding = finding.expected("Services that answer within a millisecond: no state that takes over 50 µs to leave. Batch work: all of them, for the power that sleeping cores save makes others faster.");
    if driver == "none" && platform.is_virtual() {
        let mut finding = finding;
        finding.says =
            "none: an idle CPU halts, and the hypervisor decides what the core does (wake-up measures what that costs)"
                .into();
        return Ok(finding);
    }
    let mut finding = finding;
    if deep.is_empty() {
        finding.says = match deepest.1.is_empty() {
            true => format!("driver {driver}, no state with an exit latency"),
            false => format!("{} is the deepest, {} to leave", deepest.1, human(deepest.0, "s")),
        };
        return Ok(finding);
    }
    finding.verdict = Verdict::CouldBeBetter;
    finding.says = format!(
        "{} takes {} to leave: each wake-up after a pause pays it (see wake-up)",
        deepest.1,
        human(deepest.0, "s")
    );
    let writes = machine::online(host)
        .iter()
        .flat_map(|cpu| deep.iter().map(move |state| format!("{CPU}/cpu{cpu}/cpuidle/{state}/disable")))
        .filter(|path| host.exists(path))
        .map(|path| Write::new(path, "1"))
        .collect();
    Ok(finding
        .writes(writes, "more power and heat; fewer sleeping cores leave less turbo for the busy ones. Lost at reboot"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{host_of, live, on};

    #[test]
    fn deep_states_can_be_disabled() {
        let cpu = "/sys/devices/system/cpu";
        let mut files: Vec<(String, &str)> = vec![
            (format!("{cpu}/online"), "0-1"),
            (format!("{cpu}/cpuidle/current_driver"), "intel_idle"),
            ("/proc/cpuinfo".into(), "flags : fpu\n"),
        ];
        for n in 0..2 {
            for (state, name, latency) in [(0, "POLL", "0"), (1, "C1E", "10"), (2, "C6", "133")] {
                files.push((format!("{cpu}/cpu{n}/cpuidle/state{state}/name"), name));
                files.push((format!("{cpu}/cpu{n}/cpuidle/state{state}/latency"), latency));
                files.push((format!("{cpu}/cpu{n}/cpuidle/state{state}/disable"), "0"));
            }
        }
        let files: Vec<(&str, &str)> = files.iter().map(|(p, t)| (p.as_str(), *t)).collect();
        let (_dir, host) = host_of(&files);
        let found = on(&host, states).unwrap();
        assert!(found.verdict == Verdict::CouldBeBetter && found.says.starts_with("C6 takes 133 µs"), "{}", found.says);
        let writes: Vec<&str> = found.changes.iter().flat_map(|c| &c.writes).map(|w| w.path.as_str()).collect();
        assert_eq!(writes, [0, 1].map(|n| format!("{cpu}/cpu{n}/cpuidle/state2/disable")));
    }

    #[test]
    fn waking_takes_time() {
        match live(wake) {
            Ok(found) => assert!(found.values.iter().all(|v| v.low.is_some_and(|low| low > 0.0))),
            Err(why) => println!("SKIPPED: waking: {why}"),
        }
    }
}

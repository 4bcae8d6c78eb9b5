//! What of the CPUs a program gets: steal and gaps under load, quotas, credits, threads that share a core.

use crate::check::{Check, Finding, Kind, Theme, Verdict};
use crate::context::{Others, Ticks, Watch};
use crate::measure::{allowed_cpus, joined, now, pin};
use crate::{Context, machine};
use model::{Unavailable, human};

pub(crate) static CHECKS: &[Check] = &[
    Check {
        id: "steal",
        theme: Theme::Cpu,
        kind: Kind::Measurement,
        title: "time that is taken from busy CPUs",
        how: "a thread on each CPU reads the clock for a second without a pause; what is missing between two reads (over 10 µs) was taken by interrupts, other programs or the hypervisor; beside steal of /proc/stat for that second, and since boot",
        source: "proc(5) /proc/stat; Documentation/trace/osnoise-tracer.rst",
        run: steal,
    },
    Check {
        id: "cpu-quota",
        theme: Theme::Cpu,
        kind: Kind::Setting,
        title: "CPUs that this program may use",
        how: "cpu.max, cpu.stat, cpuset.cpus.effective of its control group and those above (version 2), cpu.cfs_quota_us (version 1); Cpus_allowed_list of /proc/self/status",
        source: "Documentation/admin-guide/cgroup-v2.rst, sched_setaffinity(2)",
        run: quota,
    },
    Check {
        id: "burst-credits",
        theme: Theme::Cpu,
        kind: Kind::Setting,
        title: "burst credits of the instance type",
        how: "product_name and sys_vendor of DMI; steal since boot",
        source: "AWS, \"Burstable performance instances\"",
        run: credits,
    },
    Check {
        id: "smt",
        theme: Theme::Cpu,
        kind: Kind::Setting,
        title: "threads that share a core, as the kernel knows them",
        how: "core_cpus_list of each CPU, /sys/devices/system/cpu/smt",
        source: "Documentation/admin-guide/cputopology.rst; Documentation/ABI/testing/sysfs-devices-system-cpu",
        run: smt,
    },
];

/// Gaps shorter than this are the loop itself, and short interrupts, nanoseconds.
const GAP: u64 = 10_000;

/// What was missing on one CPU.
#[derive(Default)]
struct Missing {
    /// For how long it was looked at.
    looked: f64,
    seconds: f64,
    longest: f64,
    gaps: usize,
}

fn steal(context: &Context<'_>) -> Result<Finding, Unavailable> {
    context.live()?;
    let cpus = allowed_cpus();
    let seconds = if context.quick { 0.3 } else { 1.0 };
    let watch = Watch::start(context.host);
    let before = Ticks::read(context.host);
    let all: Vec<Missing> = std::thread::scope(|scope| {
        let threads: Vec<_> = cpus
            .iter()
            .map(|cpu| {
                scope.spawn(move || {
                    pin(*cpu)?;
                    let begin = now();
                    let end = begin + (seconds * 1e9) as u64;
                    let (mut last, mut missing) = (begin, Missing::default());
                    while last < end {
                        let at = now();
                        let gap = at.saturating_sub(last);
                        if gap > GAP {
                            context.go_on()?;
                            missing.gaps += 1;
                            missing.seconds += gap as f64 / 1e9;
                            missing.longest = missing.longest.max(gap as f64 / 1e9);
                        }
                        last = at;
                    }
                    // The last gap may have gone on beyond the end.
                    missing.looked = last.saturating_sub(begin) as f64 / 1e9;
                    Ok(missing)
                })
            })
            .collect();
        threads.into_iter().map(joined).collect::<Result<_, _>>()
    })?;
    let after = Ticks::read(context.host);
    let stolen = before.zip(after).map_or(0.0, |(b, a)| {
        let whole = |t: Ticks| t.busy.saturating_add(t.idle).saturating_add(t.steal);
        let all = whole(a).saturating_sub(whole(b));
        a.steal.saturating_sub(b.steal) as f64 / all.max(1) as f64
    });
    let since_boot = after.map_or(0.0, |a| a.steal as f64 / a.busy.saturating_add(a.steal).max(1) as f64);
    let looked = all.iter().map(|m| m.looked).sum::<f64>();
    let missing = all.iter().map(|m| m.seconds).sum::<f64>() / looked.max(1e-9);
    let longest = all.iter().map(|m| m.longest).fold(0.0, f64::max);
    let gaps: usize = all.iter().map(|m| m.gaps).sum();
    // Programs that run beside are no fault of the machine: then only what the hypervisor took is judged.
    let others = watch.end(context.host).map(|o| Others { steal: 0.0, ..o }).and_then(Others::disturbed);
    let verdict = match () {
        () if stolen > 0.1 => Verdict::Bad,
        () if stolen > 0.02 || since_boot > 0.05 => Verdict::CouldBeBetter,
        () if missing > 0.05 && others.is_some() => Verdict::Unknown,
        () if missing > 0.2 => Verdict::Bad,
        () if missing > 0.05 => Verdict::CouldBeBetter,
        () => Verdict::Good,
    };
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let mut says = format!(
        "{} of the time of busy CPUs was taken, the longest gap {}; steal {}, since boot {} of the time that CPUs wanted to run",
        percent(missing),
        human(longest, "s"),
        percent(stolen),
        percent(since_boot)
    );
    if let (Verdict::Unknown, Some(others)) = (verdict, &others) {
        says.push_str(&format!("; {others}: what else was taken can't be told from that"));
    }
    let mut finding = Finding::new(verdict, says)
    .expected("On metal and on VMs with CPUs of their own: steal 0, gaps below 1 % of the time, a few milliseconds at most where other programs run.")
    .number("taken from busy CPUs", missing, "ratio")
    .number("longest gap", longest, "s")
    .number("gaps a second and CPU", gaps as f64 / (seconds * cpus.len().max(1) as f64), "1/s")
    .number("steal meanwhile", stolen, "ratio")
    .number("steal since boot", since_boot, "ratio");
    if verdict != Verdict::Good {
        finding = finding.change(
            if stolen > 0.02 || since_boot > 0.05 {
                "steal: a larger instance type or a dedicated host; a burstable type has used up its credits (see burst-credits)"
            } else {
                "find what else runs: twinscope top, twinscope record -d 10s; interrupts: see irq-placement"
            },
            "none",
        );
    }
    Ok(finding)
}

fn quota(context: &Context<'_>) -> Result<Finding, Unavailable> {
    let host = context.host;
    let status = host.read_text("/proc/self/status")?;
    let allowed = status.lines().find_map(|l| l.strip_prefix("Cpus_allowed_list:")).map(machine::list);
    let allowed = allowed.unwrap_or_default();
    let online = machine::online(host);
    let groups = host.read_text("/proc/self/cgroup").unwrap_or_default();
    // The least of the quotas from the group up to the root: (CPUs, where, periods, throttled periods).
    let mut least: Option<(f64, String, u64, u64)> = None;
    let mut take = |cpus: f64, folder: &str| {
        if least.as_ref().is_none_or(|(l, ..)| cpus < *l) {
            let stat = host.read_text(&format!("{folder}/cpu.stat")).unwrap_or_default();
            let of =
                |name: &str| stat.lines().find_map(|l| l.strip_prefix(name)?.trim().parse::<u64>().ok()).unwrap_or(0);
            least = Some((cpus, folder.to_owned(), of("nr_periods "), of("nr_throttled ")));
        }
    };
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (_, Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else { continue };
        let bases: &[&str] = match controllers {
            "" => &["/sys/fs/cgroup", "/sys/fs/cgroup/unified"],
            list if list.split(',').any(|c| c == "cpu") => &["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"],
            _ => continue,
        };
        let mut path = path.trim_end_matches('/');
        loop {
            for base in bases {
                let folder = format!("{base}{path}");
                if let Ok(text) = host.read_text(&format!("{folder}/cpu.max"))
                    && let Some((quota, period)) = text.split_once(' ')
                    && let (Ok(quota), Ok(period)) = (quota.parse::<f64>(), period.parse::<f64>())
                {
                    take(quota / period.max(1.0), &folder);
                }
                if let (Ok(quota), Ok(period)) = (
                    host.read_number(&format!("{folder}/cpu.cfs_quota_us")),
                    host.read_number(&format!("{folder}/cpu.cfs_period_us")),
                ) && quota > 0
                {
                    take(quota as f64 / period.max(1) as f64, &folder);
                }
            }
            match path.rsplit_once('/') {
                Some((above, _)) => path = above,
                None => break,
            }
        }
    }
    let narrow = !online.is_empty() && allowed.len() < online.len();
    let limited = least.as_ref().filter(|(cpus, ..)| *cpus < allowed.len() as f64);
    let mut says = match narrow {
        true => format!("{} of {} CPUs by the affinity mask or cpuset", allowed.len(), online.len()),
        false => format!("all {} CPUs", allowed.len()),
    };
    if let Some((cpus, folder, _, throttled)) = limited {
        says.push_str(&format!("; a quota of {cpus:.2} CPUs in {folder}, throttled {throttled} times so far"));
    }
    let verdict = match limited {
        Some((_, _, periods, throttled)) if *throttled * 20 > *periods => Verdict::Bad,
        Some(_) => Verdict::CouldBeBetter,
        None if narrow => Verdict::CouldBeBetter,
        None => Verdict::Good,
    };
    let mut finding = Finding::new(verdict, says)
        .expected("All CPUs and no quota, unless that is meant. A quota stops all threads until the next period (100 ms) once it is used up: more threads than CPUs of quota use it up sooner.")
        .number("allowed CPUs", allowed.len() as f64, "")
        .number("online CPUs", online.len() as f64, "");
    if let Some((cpus, _, periods, throttled)) = &least {
        finding = finding.number("quota", *cpus, "").number("periods", *periods as f64, "").number(
            "throttled",
            *throttled as f64,
            "",
        );
    }
    if let Some((_, folder, ..)) = limited {
        finding = finding.change(
            format!("raise or lift the quota where the group is set up (container limits, CPUQuota= of the unit; {folder}), and use no more threads than it has CPUs"),
            "the group can take time from others",
        );
    } else if narrow {
        finding = finding
            .change("check that the mask or cpuset is meant: taskset -p, cpuset.cpus of the control group", "none");
    }
    Ok(finding)
}

fn credits(context: &Context<'_>) -> Result<Finding, Unavailable> {
    let platform = machine::Platform::of(context.host);
    let Some(instance) = &platform.ec2 else {
        return Err(match platform.amazon {
            true => Unavailable::absent(
                "DMI does not name the instance type (Xen instances of EC2 do not; the metadata service does): if it is a T type, watch CPUCreditBalance",
            ),
            false => Unavailable::not_applicable("no instance of EC2 whose type is known"),
        });
    };
    let burstable = instance.starts_with('t') && instance.chars().nth(1).is_some_and(|c| c.is_ascii_digit());
    let stolen =
        Ticks::read(context.host).map_or(0.0, |t| t.steal as f64 / t.busy.saturating_add(t.steal).max(1) as f64);
    let finding = match burstable {
        false => Finding::good(format!("{instance}: its CPUs are not limited by credits")),
        true => Finding::new(
            if stolen > 0.05 { Verdict::Bad } else { Verdict::CouldBeBetter },
            format!(
                "{instance}: above its baseline it runs on credits, and is slowed down when they are used up (steal since boot {:.1} %)",
                stolen * 100.0
            ),
        )
        .change(
            "for steady load another type (m, c, r); or unlimited mode; watch CPUCreditBalance in CloudWatch",
            "costs more money",
        ),
    };
    Ok(finding
        .expected("A fixed-performance type for measurements and steady load.")
        .word("instance type", instance)
        .number("steal since boot", stolen, "ratio"))
}

fn smt(context: &Context<'_>) -> Result<Finding, Unavailable> {
    let host = context.host;
    let online = machine::online(host);
    if online.is_empty() {
        return Err(Unavailable::absent("/sys/devices/system/cpu/online: no CPUs are told"));
    }
    let mut cores: Vec<Vec<usize>> = online.iter().map(|cpu| machine::Place::of(host, *cpu).core).collect();
    cores.sort();
    cores.dedup();
    let threads = cores.iter().map(Vec::len).max().unwrap_or(1).max(1);
    let control = host.read_text("/sys/devices/system/cpu/smt/control").unwrap_or_default();
    let platform = machine::Platform::of(host);
    let says = match (threads, platform.is_virtual()) {
        (1, true) => "one thread a core, as the hypervisor tells: cpu-pairs measures whether that is so".to_owned(),
        (1, false) => "one thread a core".into(),
        (n, _) => format!(
            "{n} threads a core: {} CPUs are {} cores; two busy threads of one core each run at some 50 to 70 %",
            online.len(),
            cores.len()
        ),
    };
    let mut finding = Finding::good(says)
        .expected("Threads give 20 to 30 % more throughput for most loads, and less speed for each thread. Where latency or even timing counts, use one thread of each core.")
        .number("CPUs", online.len() as f64, "")
        .number("cores", cores.len() as f64, "")
        .number("threads a core", threads as f64, "")
        .word("smt/control", control.clone());
    if threads > 1 && control == "on" {
        finding = finding.change(
            "where latency counts more than throughput: run on one thread of each core (taskset, cpuset), or echo off > /sys/devices/system/cpu/smt/control; AWS: CPU options, threads per core 1",
            "less throughput in all",
        );
    }
    Ok(finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{host_of, live, on};

    #[test]
    fn quotas_and_masks() {
        let online = ("/sys/devices/system/cpu/online", "0-7");
        let status = ("/proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-7\n");
        let (_dir, host) = host_of(&[
            online,
            status,
            ("/proc/self/cgroup", "0::/a/b\n"),
            ("/sys/fs/cgroup/a/cpu.max", "150000 100000\n"),
            ("/sys/fs/cgroup/a/cpu.stat", "usage_usec 5\nnr_periods 100\nnr_throttled 40\n"),
            ("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n"),
        ]);
        let found = on(&host, quota).unwrap();
        assert!(
            found.verdict == Verdict::Bad && found.says.contains("1.50 CPUs in /sys/fs/cgroup/a"),
            "{}",
            found.says
        );
        let (_dir, host) = host_of(&[online, ("/proc/self/status", "Cpus_allowed_list:\t2\n")]);
        let found = on(&host, quota).unwrap();
        assert!(found.verdict == Verdict::CouldBeBetter && found.says.starts_with("1 of 8"), "{}", found.says);
        let (_dir, host) = host_of(&[online, status, ("/proc/self/cgroup", "4:cpu,cpuacct:/x\nbroken\n")]);
        assert_eq!(on(&host, quota).unwrap().verdict, Verdict::Good);
    }

    #[test]
    fn burstable_instances() {
        let of = |product: &str| {
            let (_dir, host) = host_of(&[
                ("/sys/class/dmi/id/sys_vendor", "Amazon EC2"),
                ("/sys/class/dmi/id/product_name", product),
                ("/proc/stat", "cpu  100 0 0 0 0 0 0 50 0 0\n"),
            ]);
            on(&host, credits)
        };
        assert_eq!(of("t3.large").unwrap().verdict, Verdict::Bad);
        assert_eq!(of("c5.large").unwrap().verdict, Verdict::Good);
        assert_eq!(of("trn1.32xlarge").unwrap().verdict, Verdict::Good);
        assert!(of("HVM domU").is_err());
    }

    #[test]
    fn threads_of_cores() {
        let mut files = vec![("/sys/devices/system/cpu/online".to_owned(), "0-3")];
        for (cpu, core) in ["0,2", "1,3", "0,2", "1,3"].into_iter().enumerate() {
            files.push((format!("/sys/devices/system/cpu/cpu{cpu}/topology/core_cpus_list"), core));
        }
        let files: Vec<(&str, &str)> = files.iter().map(|(p, t)| (p.as_str(), *t)).collect();
        let (_dir, host) = host_of(&files);
        assert!(on(&host, smt).unwrap().says.starts_with("2 threads a core: 4 CPUs are 2 cores"));
    }

    #[test]
    fn gaps_are_shares() {
        let found = live(steal).unwrap();
        let share = found.values.first().and_then(|v| v.value).unwrap();
        assert!((0.0..=1.0).contains(&share));
    }
}

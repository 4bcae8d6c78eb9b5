//! Network: drivers, queues, where interrupts go, what the loopback takes, sizes of queues and buffers.

use crate::check::{Check, Finding, Kind, Theme, Verdict, Write};
use crate::measure::{allowed_cpus, joined, pin, refused};
use crate::{Context, machine};
use host::{Host, Setting};
use model::{Unavailable, human};
use std::collections::BTreeMap;
use std::io::{Read, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::Instant;

pub(crate) static CHECKS: &[Check] = &[
    Check {
        id: "nic-driver",
        theme: Theme::Network,
        kind: Kind::Setting,
        title: "drivers of the network interfaces",
        how: "SIOCETHTOOL driver information, /sys/class/net/*/device/driver, speed",
        source: "ethtool(8); AWS, \"Enhanced networking on Amazon EC2\"; Gregg, \"How Netflix Tunes EC2 Instances\"",
        run: driver,
    },
    Check {
        id: "nic-queues",
        theme: Theme::Network,
        kind: Kind::Setting,
        title: "queues of the network interfaces, and their spread over CPUs",
        how: "channels by SIOCETHTOOL, /sys/class/net/*/queues, rps_cpus of each receive queue",
        source: "Documentation/networking/scaling.rst",
        run: queues,
    },
    Check {
        id: "irq-placement",
        theme: Theme::Network,
        kind: Kind::Setting,
        title: "CPUs that handle the interrupts of devices",
        how: "/proc/interrupts since boot, effective_affinity_list in /proc/irq; whether irqbalance runs",
        source: "Documentation/core-api/irq/irq-affinity.rst, Documentation/networking/scaling.rst",
        run: interrupts,
    },
    Check {
        id: "loopback",
        theme: Theme::Network,
        kind: Kind::Measurement,
        title: "round trip and bytes a second over the loopback",
        how: "a byte to and fro over TCP on 127.0.0.1 between two threads on two CPUs, 15 rounds of 10 ms; then writes of 64 KiB for 0.4 s; NET_RX of /proc/softirqs by CPU meanwhile",
        source: "tcp(7); the same as `sockperf ping-pong`, `iperf3` on the loopback",
        run: loopback,
    },
    Check {
        id: "socket-queues",
        theme: Theme::Network,
        kind: Kind::Setting,
        title: "limits of listen queues and socket buffers",
        how: "net.core.somaxconn, net.ipv4.tcp_max_syn_backlog, tcp_rmem, tcp_wmem, tcp_slow_start_after_idle, net.core.netdev_max_backlog; ListenOverflows of /proc/net/netstat, PassiveOpens of /proc/net/snmp",
        source: "tcp(7), listen(2), Documentation/networking/ip-sysctl.rst; Gregg, \"How Netflix Tunes EC2 Instances\"",
        run: sockets,
    },
];

const NET: &str = "/sys/class/net";

/// Interfaces that stand for a device.
fn interfaces(host: &Host) -> Result<Vec<String>, Unavailable> {
    let mut names = host.list(NET)?;
    names.retain(|n| host.exists(&format!("{NET}/{n}/device")) || host.exists(&format!("/.ethtool/{n}")));
    match names.is_empty() {
        true => Err(Unavailable::not_applicable(format!(
            "{NET}: no interface of a device here (a container sees only its own end of a pair)"
        ))),
        false => Ok(names),
    }
}

fn driver_of(host: &Host, interface: &str) -> Option<String> {
    let told = host.ethtool(interface, Setting::Driver).ok().unwrap_or_default();
    let told = told.into_iter().find(|(name, _)| name == "driver").map(|(_, value)| value);
    told.or_else(|| {
        let link = host.link(&format!("{NET}/{interface}/device/driver")).ok()?;
        Some(link.file_name()?.to_string_lossy().into_owned())
    })
}

fn driver(context: &Context<'_>) -> Result<Finding, Unavailable> {
    let host = context.host;
    let platform = machine::Platform::of(host);
    let mut finding = Finding::good("");
    let (mut says, mut bad, mut amazon) = (Vec::new(), Vec::new(), false);
    for name in interfaces(host)? {
        let driver = driver_of(host, &name).unwrap_or_else(|| "not told".into());
        let speed = host.read_number(&format!("{NET}/{name}/speed")).ok().filter(|s| *s > 0);
        let up = host.read_text(&format!("{NET}/{name}/operstate")).unwrap_or_default();
        let speed = speed.map(|s| format!(", {s} Mbit/s")).unwrap_or_default();
        finding = finding.word(&name, format!("{driver}, {up}{speed}"));
        says.push(format!("{name} {driver}"));
        match driver.as_str() {
            "vif" | "xen_netfront" | "xen-netfront" => {
                amazon |= platform.amazon;
                bad.push(format!("{name}: Xen's network device: each packet passes through the host's driver domain"));
            }
            "e1000" | "e1000e" | "8139cp" | "8139too" | "pcnet32" | "ne2k-pci" if platform.is_virtual() => {
                bad.push(format!("{name}: an emulated {driver}: each packet costs several exits to the hypervisor"));
            }
            _ => {}
        }
    }
    finding = finding.expected("On a cloud: the driver of a device that passes packets by itself (ena, ixgbevf, mlx5_core, gve, mana, hv_netvsc with a virtual function), or virtio_net.");
    finding.says = says.join(", ");
    if !bad.is_empty() {
        finding.verdict = Verdict::Bad;
        finding.says = bad.join("; ");
        finding = finding.change(
            match amazon {
                true => "enable enhanced networking: install the ena (or ixgbevf) driver, then aws ec2 modify-instance-attribute --ena-support on the stopped instance; or an instance type on Nitro",
                false => "give the virtual machine a virtio, vmxnet3 or SR-IOV device",
            },
            "the machine must be stopped; the interface may get another name",
        );
    }
    Ok(finding)
}

fn queues(context: &Context<'_>) -> Result<Finding, Unavailable> {
    let host = context.host;
    let cpus = machine::online(host);
    let mut finding = Finding::good("");
    let (mut says, mut poor, mut writes) = (Vec::new(), Vec::new(), Vec::new());
    for name in interfaces(host)? {
        let folders = host.folders(&format!("{NET}/{name}/queues"));
        let receive: Vec<&String> = folders.iter().filter(|f| f.starts_with("rx-")).collect();
        let channels: BTreeMap<String, usize> = host
            .ethtool(&name, Setting::Channels)
            .unwrap_or_default()
            .into_iter()
            .filter_map(|(n, v)| Some((n, v.parse().ok()?)))
            .collect();
        let of = |a: &str, b: &str| channels.get(a).or(channels.get(b)).copied();
        let now = of("combined", "rx").unwrap_or(receive.len());
        let most = of("combined_max", "rx_max").unwrap_or(now);
        let steered = receive
            .iter()
            .filter(|q| {
                host.read_text(&format!("{NET}/{name}/queues/{q}/rps_cpus"))
                    .is_ok_and(|mask| mask.chars().any(|c| c.is_ascii_hexdigit() && c != '0'))
            })
            .count();
        let rings: BTreeMap<String, String> =
            host.ethtool(&name, Setting::Rings).unwrap_or_default().into_iter().collect();
        let ring = |n: &str| rings.get(n).cloned().unwrap_or_else(|| "-".into());
        finding = finding.word(
            &name,
            format!(
                "{now} receive queues of {most} possible, {} CPUs, RPS on {steered}, ring {} of {}",
                cpus.len(),
                ring("rx"),
                ring("rx_max")
            ),
        );
        says.push(format!("{name}: {now} for {} CPUs", cpus.len()));
        let wanted = most.min(cpus.len());
        if now < wanted && now * 2 <= wanted {
            poor.push(format!(
                "{name}: {now} queues of {most} possible: {now} of {} CPUs take its packets",
                cpus.len()
            ));
            finding = finding.change(
                format!("ethtool -L {name} combined {wanted}"),
                "the link goes down for a moment; more interrupts on more CPUs",
            );
        } else if now == 1 && cpus.len() >= 4 && steered == 0 && !receive.is_empty() {
            poor.push(format!("{name}: one queue, so one of {} CPUs takes all packets", cpus.len()));
            writes.extend(
                receive
                    .iter()
                    .map(|q| Write::new(format!("{NET}/{name}/queues/{q}/rps_cpus"), machine::mask(&cpus)))
                    .filter(|w| host.exists(&w.path)),
            );
        }
    }
    finding = finding.expected("As many queues as CPUs, or as the device has. With one queue, at high rates, receive packet steering (RPS) spreads the work after the interrupt.");
    finding.says = if poor.is_empty() { says.join(", ") } else { poor.join("; ") };
    if !poor.is_empty() {
        finding.verdict = Verdict::CouldBeBetter;
    }
    if !writes.is_empty() {
        finding = finding.writes(
            writes,
            "an interrupt between CPUs for each burst of packets; at low rates it adds latency. Lost at reboot",
        );
    }
    Ok(finding)
}

/// An interrupt of a device: its number, its name, and how often each CPU took it.
struct Interrupt {
    number: String,
    name: String,
    counts: Vec<u64>,
}

fn of_devices(host: &Host) -> Result<(Vec<String>, Vec<Interrupt>), Unavailable> {
    let text = host.read_text("/proc/interrupts")?;
    let mut lines = text.lines();
    let cpus: Vec<String> = lines.next().unwrap_or_default().split_ascii_whitespace().map(str::to_owned).collect();
    let mut all = Vec::new();
    for line in lines {
        let Some((number, rest)) = line.trim().split_once(':') else { continue };
        if !number.chars().all(|c| c.is_ascii_digit()) {
            continue;
        }
        let words: Vec<&str> = rest.split_ascii_whitespace().collect();
        let counts: Vec<u64> = words.iter().take(cpus.len()).filter_map(|w| w.parse().ok()).collect();
        if counts.len() < cpus.len() {
            continue;
        }
        let name = words.last().copied().unwrap_or_default().to_owned();
        // The timer of old machines is no device whose place matters.
        if name != "timer" {
            all.push(Interrupt { number: number.to_owned(), name, counts });
        }
    }
    Ok((cpus, all))
}

fn interrupts(context: &Context<'_>) -> Result<Finding, Unavailable> {
    let host = context.host;
    let (cpus, all) = of_devices(host)?;
    let mut by_cpu = vec![0u64; cpus.len()];
    for interrupt in &all {
        by_cpu.iter_mut().zip(&interrupt.counts).for_each(|(sum, n)| *sum += n);
    }
    let total: u64 = by_cpu.iter().sum();
    let uptime = host.read_text("/proc/uptime").ok().and_then(|t| t.split(' ').next()?.parse::<f64>().ok());
    let rate = total as f64 / uptime.unwrap_or(f64::INFINITY).max(1.0);
    let (busiest, most) = by_cpu.iter().enumerate().max_by_key(|(_, n)| **n).map_or((0, 0), |(cpu, n)| (cpu, *n));
    let share = most as f64 / total.max(1) as f64;
    let mut processes = Vec::new();
    let _ = host.numbers_in("/proc", &mut processes);
    let balanced =
        processes.iter().any(|p| host.read_text(&format!("/proc/{p}/comm")).is_ok_and(|c| c == "irqbalance"));
    let mut heavy: Vec<&Interrupt> = all.iter().collect();
    heavy.sort_by_key(|i| std::cmp::Reverse(i.counts.iter().sum::<u64>()));
    // A single interrupt can only be in one place: several must be on it for a place to be wrong.
    let there = heavy
        .iter()
        .filter(|i| i.counts.get(busiest).is_some_and(|n| *n * 2 > i.counts.iter().sum::<u64>() && *n * 20 > total))
        .count();
    let crowded = cpus.len() >= 4 && share > 0.6 && there > 1 && rate > 1000.0;
    let name = cpus.get(busiest).map_or("CPU0", String::as_str);
    let says = format!(
        "{name} took {:.0} % of {:.0} device interrupts a second since boot{}",
        share * 100.0,
        rate,
        if balanced { "; irqbalance runs" } else { "" }
    );
    let mut finding = Finding::new(if crowded { Verdict::CouldBeBetter } else { Verdict::Good }, says)
        .expected("Queues of fast devices on different CPUs. With few interrupts, or few CPUs, one for all is no harm.")
        .number(format!("share of {name}"), share, "ratio")
        .number("interrupts of devices", rate, "1/s")
        .word("irqbalance", if balanced { "runs" } else { "does not run" });
    for interrupt in heavy.iter().take(6).filter(|i| i.counts.iter().any(|n| *n > 0)) {
        let place = host
            .read_text(&format!("/proc/irq/{}/effective_affinity_list", interrupt.number))
            .or_else(|_| host.read_text(&format!("/proc/irq/{}/smp_affinity_list", interrupt.number)));
        finding = finding.word(
            format!("{} ({})", interrupt.name, interrupt.number),
            format!(
                "{} since boot, on CPU {}",
                interrupt.counts.iter().sum::<u64>(),
                place.unwrap_or_else(|_| "?".into())
            ),
        );
    }
    if crowded {
        finding = finding.change(
            "start irqbalance, or spread the queues by hand: echo CPU > /proc/irq/NUMBER/smp_affinity_list",
            "caches are warm where the interrupts were; some drivers place their interrupts themselves and refuse",
        );
    }
    Ok(finding)
}

/// Softirqs NET_RX of each CPU so far.
fn received(host: &Host) -> Vec<u64> {
    let text = host.read_text("/proc/softirqs").unwrap_or_default();
    let line = text.lines().find_map(|l| l.trim().strip_prefix("NET_RX:")).unwrap_or_default();
    line.split_ascii_whitespace().filter_map(|w| w.parse().ok()).collect()
}

/// A connection to ourselves, both ends. Reads end after a second, so that nothing waits for ever.
fn connection() -> std::io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let here = TcpStream::connect(listener.local_addr()?)?;
    let (there, _) = listener.accept()?;
    for end in [&here, &there] {
        end.set_nodelay(true)?;
        end.set_read_timeout(Some(std::time::Duration::from_secs(1)))?;
        end.set_write_timeout(Some(std::time::Duration::from_secs(1)))?;
    }
    Ok((here, there))
}

fn loopback(context: &Context<'_>) -> Result<Finding, Unavailable> {
    context.live()?;
    let failed = |e: std::io::Error| refused("TCP over 127.0.0.1", &e);
    let cpus = allowed_cpus();
    let first = cpus.first().copied().unwrap_or(0);
    let second = cpus.get(1).copied().unwrap_or(first);
    let before = received(context.host);
    let (here, there) = connection().map_err(failed)?;
    let trip = std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut byte = [0u8; 1];
            let mut end = &there;
            if pin(second).is_ok() {
                while matches!(end.read(&mut byte), Ok(1)) && end.write_all(&byte).is_ok() {}
            }
        });
        crate::measure::on_cpu(first, move || {
            let mut end = &here;
            let mut byte = [0u8; 1];
            let mut broken = None;
            let spread = crate::measure::per_call(context, 15, 0.01, |n| {
                for _ in 0..n {
                    if broken.is_some() {
                        return;
                    }
                    broken = end.write_all(&byte).and_then(|()| end.read_exact(&mut byte)).err();
                }
            });
            match broken {
                Some(error) => Err(refused("TCP over 127.0.0.1", &error)),
                None => spread,
            }
        })
    })?;
    let (here, there) = connection().map_err(failed)?;
    let seconds = if context.quick { 0.15 } else { 0.4 };
    let bytes = std::thread::scope(|scope| {
        let reader = scope.spawn(move || {
            pin(second)?;
            let (mut end, mut all, mut buffer) = (&there, 0u64, vec![0u8; 64 << 10]);
            while let Ok(n @ 1..) = end.read(&mut buffer) {
                all += n as u64;
            }
            Ok(all)
        });
        scope.spawn(move || {
            if pin(first).is_err() {
                return;
            }
            let (mut end, buffer, until) = (&here, vec![0u8; 64 << 10], crate::measure::deadline(seconds));
            while Instant::now() < until && context.go_on().is_ok() && end.write_all(&buffer).is_ok() {}
        });
        joined(reader)
    })?;
    context.go_on()?;
    let rate = bytes as f64 / seconds;
    let after = received(context.host);
    let spread: Vec<String> = after
        .iter()
        .zip(before.iter().chain(std::iter::repeat(&0)))
        .enumerate()
        .filter(|(_, (a, b))| a > b)
        .map(|(cpu, (a, b))| format!("CPU{cpu} {}", a - b))
        .collect();
    let verdict = match trip.low {
        t if t <= 40e-6 => Verdict::Good,
        t if t <= 150e-6 => Verdict::CouldBeBetter,
        _ => Verdict::Bad,
    };
    let mut finding = Finding::new(
        verdict,
        format!("{} a round trip, {} one way in a stream", human(trip.median, "s"), human(rate, "B/s")),
    )
    .expected("10 to 25 µs a round trip on metal, most of it two wake-ups, and 2 to 8 GB/s. On a VM each wake-up of an idle CPU adds what wake-up measures.")
    .spread("round trip of a byte", trip, "s")
    .number("stream", rate, "B/s")
    .word("packets handled (NET_RX)", spread.join(", "));
    if verdict != Verdict::Good {
        finding = finding.change(
            "see wake-up and syscall; programs on one host can use unix sockets or shared memory, and ask for several things at once",
            "none",
        );
    }
    Ok(finding)
}

fn sockets(context: &Context<'_>) -> Result<Finding, Unavailable> {
    let host = context.host;
    let sysctl = |name: &str| format!("/proc/sys/net/{name}");
    let path = sysctl("core/somaxconn");
    let backlog = host.read_number(&path)?;
    let read = |name: &str| host.read_text(&sysctl(name)).unwrap_or_default().replace('\t', " ");
    let largest = |text: &str| text.split(' ').nth(2).and_then(|n| n.parse::<u64>().ok());
    let (receive, send) = (read("ipv4/tcp_rmem"), read("ipv4/tcp_wmem"));
    let overflows = netstat(&host.read_text("/proc/net/netstat").unwrap_or_default(), "ListenOverflows");
    let mut finding = Finding::good("")
        .expected("A listen queue of 4096 (the default since Linux 5.4); buffers that hold bandwidth × round trip: 4 to 6 MiB are enough for 1 Gbit/s over 40 ms, more for faster or longer paths.")
        .number("net.core.somaxconn", backlog as f64, "")
        .word("net.ipv4.tcp_max_syn_backlog", read("ipv4/tcp_max_syn_backlog"))
        .word("net.ipv4.tcp_rmem", &receive)
        .word("net.ipv4.tcp_wmem", &send)
        .word("net.ipv4.tcp_slow_start_after_idle", read("ipv4/tcp_slow_start_after_idle"))
        .word("net.core.netdev_max_backlog", read("core/netdev_max_backlog"))
        .word("congestion control", read("ipv4/tcp_congestion_control"));
    let (mut says, mut writes) = (Vec::new(), Vec::new());
    if let Some(overflows) = overflows {
        finding = finding.number("ListenOverflows since boot", overflows as f64, "");
        let accepted = netstat(&host.read_text("/proc/net/snmp").unwrap_or_default(), "PassiveOpens").unwrap_or(0);
        finding = finding.number("connections accepted since boot", accepted as f64, "");
        // One in a thousand is felt as a tail: the client tries again after a second.
        if overflows * 1000 > accepted {
            says.push(format!(
                "{overflows} connections found their listen queue full since boot, {accepted} were accepted: a client tries again after a second"
            ));
        }
    }
    if backlog < 1024 {
        says.push(format!("listen queues hold {backlog} at most, whatever servers ask for: bursts of connections are dropped, and retried a second later"));
        writes.push(Write::new(path, "4096"));
    }
    for (name, text) in [("tcp_rmem", &receive), ("tcp_wmem", &send)] {
        if let Some(most) = largest(text)
            && most < 4 << 20
            && let Some((head, _)) = text.rsplit_once(' ')
        {
            says.push(format!(
                "{name}: {} at most: over 40 ms that is {} a connection",
                human(most as f64, "B"),
                human(most as f64 / 0.04, "B/s")
            ));
            writes.push(Write::new(sysctl(&format!("ipv4/{name}")), format!("{head} {}", 6 << 20)));
        }
    }
    finding.verdict = if says.is_empty() { Verdict::Good } else { Verdict::CouldBeBetter };
    finding.says = match says.is_empty() {
        true => format!(
            "listen queues up to {backlog}, receive buffers up to {}",
            largest(&receive).map_or("-".into(), |m| human(m as f64, "B"))
        ),
        false => says.join("; "),
    };
    if !writes.is_empty() {
        finding = finding.writes(writes, "more memory for connections that use it; programs listen anew to get the longer queue. Lost at reboot (/etc/sysctl.d keeps it)");
    } else if finding.verdict != Verdict::Good {
        finding = finding.change(
            "accept connections faster, or listen with a longer queue (the second argument of listen)",
            "more memory",
        );
    }
    Ok(finding)
}

/// A counter of `/proc/net/netstat` or `/proc/net/snmp`: pairs of lines, names above values.
fn netstat(text: &str, name: &str) -> Option<u64> {
    let lines: Vec<&str> = text.lines().collect();
    lines.chunks(2).find_map(|pair| {
        let [names, values] = pair else { return None };
        let at = names.split(' ').position(|n| n == name)?;
        values.split(' ').nth(at)?.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{host_of, live, on};

    #[test]
    fn slow_drivers() {
        let of = |driver: &str, vendor: &str| {
            let text = format!("driver {driver}\n");
            let (_dir, host) = host_of(&[
                ("/sys/class/net/eth0/operstate", "up"),
                ("/.ethtool/eth0/driver", &text),
                ("/sys/class/dmi/id/bios_version", vendor),
                ("/proc/cpuinfo", "flags : hypervisor\n"),
            ]);
            on(&host, super::driver).unwrap()
        };
        assert_eq!(of("ena", "4.2.amazon").verdict, Verdict::Good);
        assert_eq!(of("virtio_net", "").verdict, Verdict::Good);
        let found = of("vif", "4.2.amazon");
        assert!(found.verdict == Verdict::Bad && found.changes.iter().any(|c| c.what.contains("ena")), "{found:?}");
        assert_eq!(of("e1000", "").verdict, Verdict::Bad);
    }

    #[test]
    fn queues_and_steering() {
        let of = |cpus: &str, channels: &str, rps: &str| {
            let (_dir, host) = host_of(&[
                ("/sys/devices/system/cpu/online", cpus),
                ("/sys/class/net/eth0/queues/rx-0/rps_cpus", rps),
                ("/.ethtool/eth0/channels", channels),
            ]);
            on(&host, super::queues).unwrap()
        };
        let found = of("0-15", "combined 2\ncombined_max 8\n", "0");
        assert!(found.verdict == Verdict::CouldBeBetter && found.changes.iter().any(|c| c.what.contains("combined 8")));
        assert_eq!(of("0-15", "combined 8\ncombined_max 8\n", "0").verdict, Verdict::Good);
        let found = of("0-7", "combined 1\ncombined_max 1\n", "00");
        let write = found.changes.iter().flat_map(|c| &c.writes).next().unwrap();
        assert_eq!((write.path.as_str(), write.value.as_str()), ("/sys/class/net/eth0/queues/rx-0/rps_cpus", "ff"));
        assert_eq!(of("0-7", "combined 1\ncombined_max 1\n", "fe").verdict, Verdict::Good);
        assert_eq!(of("0-1", "combined 1\ncombined_max 1\n", "0").verdict, Verdict::Good);
    }

    #[test]
    fn crowded_interrupts() {
        let head = "           CPU0       CPU1       CPU2       CPU3\n";
        let of = |lines: &str| {
            let text = format!("{head}{lines}NMI: 1 1 1 1 Non-maskable\n");
            let (_dir, host) = host_of(&[("/proc/interrupts", &text), ("/proc/uptime", "100.0 200.0")]);
            on(&host, super::interrupts).unwrap()
        };
        let crowded = of(" 30: 500000 0 0 0 PCI-MSI eth0-Tx-Rx-0\n 31: 500000 0 0 0 PCI-MSI eth0-Tx-Rx-1\n");
        assert!(
            crowded.verdict == Verdict::CouldBeBetter && crowded.says.starts_with("CPU0 took 100 %"),
            "{}",
            crowded.says
        );
        let spread = of(" 30: 500000 0 0 0 PCI-MSI eth0-Tx-Rx-0\n 31: 0 500000 0 0 PCI-MSI eth0-Tx-Rx-1\n");
        assert_eq!(spread.verdict, Verdict::Good);
        assert_eq!(of("  0: 9000000 0 0 0 IO-APIC 2-edge timer\n 30: 5 0 0\n").verdict, Verdict::Good);
    }

    #[test]
    fn short_queues() {
        let (_dir, host) = host_of(&[
            ("/proc/sys/net/core/somaxconn", "128"),
            ("/proc/sys/net/ipv4/tcp_rmem", "4096\t87380\t212992"),
            ("/proc/net/netstat", "TcpExt: A ListenOverflows\nTcpExt: 1 7\n"),
            ("/proc/net/snmp", "Ip: A\nIp: 1\nTcp: A PassiveOpens\nTcp: 1 500\n"),
        ]);
        let found = on(&host, sockets).unwrap();
        let writes: Vec<&Write> = found.changes.iter().flat_map(|c| &c.writes).collect();
        assert_eq!(writes.iter().map(|w| w.value.as_str()).collect::<Vec<_>>(), ["4096", "4096 87380 6291456"]);
        assert!(found.says.starts_with("7 connections"), "{}", found.says);
    }

    #[test]
    fn the_loopback_takes_time() {
        match live(loopback) {
            Ok(found) => assert!(found.values.iter().filter_map(|v| v.value).all(|v| v > 0.0)),
            Err(why) => println!("SKIPPED: loopback: {why}"),
        }
    }
}

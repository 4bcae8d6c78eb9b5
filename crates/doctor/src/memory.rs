//! Memory: how long an access takes and how much passes, for each node; pages and nodes as they are set.

use crate::calls as libc;
use crate::check::{Check, Finding, Kind, Theme, Verdict, Write};
use crate::measure::{HUGE, Memory, Spread, allowed_cpus, joined, on_cpu, pin, quiet_cpu};
use crate::{Context, machine};
use model::{Unavailable, human};
use std::sync::Barrier;
use std::time::Instant;

const THP: &str = "/sys/kernel/mm/transparent_hugepage";

pub(crate) static CHECKS: &[Check] = &[
    Check {
        id: "memory-latency",
        theme: Theme::Memory,
        kind: Kind::Measurement,
        title: "time of one memory access, by cache and node",
        how: "each load gives the address of the next, in an order that prefetchers can't guess, over half of each cache and over more than the last one; in huge pages, and once more in pages of 4 KiB; memory of each node from a CPU of each node (up to 4 × 4) by mbind(2)",
        source: "Drepper, \"What Every Programmer Should Know About Memory\", 3.3.2; Intel Memory Latency Checker (idle latency); mbind(2)",
        run: latency,
    },
    Check {
        id: "memory-bandwidth",
        theme: Theme::Memory,
        kind: Kind::Measurement,
        title: "bytes a second that are read from memory",
        how: "64-bit words of a range larger than the last cache are added up: by one CPU, and by all that may be used (32 at most), each over its own range",
        source: "McCalpin, STREAM; Little's law over the measured latency",
        run: bandwidth,
    },
    Check {
        id: "thp",
        theme: Theme::Memory,
        kind: Kind::Setting,
        title: "transparent huge pages",
        how: "enabled, defrag, khugepaged/defrag in /sys/kernel/mm/transparent_hugepage",
        source: "Documentation/admin-guide/mm/transhuge.rst; Gregg, \"How Netflix Tunes EC2 Instances\" (madvise)",
        run: thp,
    },
    Check {
        id: "huge-pages",
        theme: Theme::Memory,
        kind: Kind::Setting,
        title: "memory set aside for explicit huge pages",
        how: "HugePages_Total, HugePages_Free, HugePages_Rsvd, Hugepagesize of /proc/meminfo",
        source: "Documentation/admin-guide/mm/hugetlbpage.rst",
        run: huge_pages,
    },
    Check {
        id: "numa-balancing",
        theme: Theme::Memory,
        kind: Kind::Setting,
        title: "automatic moving of pages between memory nodes",
        how: "/proc/sys/kernel/numa_balancing, nodes in /sys/devices/system/node",
        source: "Documentation/admin-guide/sysctl/kernel.rst; Gregg, \"How Netflix Tunes EC2 Instances\"",
        run: numa_balancing,
    },
    Check {
        id: "zone-reclaim",
        theme: Theme::Memory,
        kind: Kind::Setting,
        title: "reclaim before memory of another node is taken",
        how: "/proc/sys/vm/zone_reclaim_mode",
        source: "Documentation/admin-guide/sysctl/vm.rst",
        run: zone_reclaim,
    },
    Check {
        id: "swap",
        theme: Theme::Memory,
        kind: Kind::Setting,
        title: "swapping",
        how: "SwapTotal and SwapFree of /proc/meminfo, /proc/sys/vm/swappiness, /proc/swaps",
        source: "Documentation/admin-guide/sysctl/vm.rst",
        run: swap,
    },
];

/// Bytes of a cache line on x86-64 and most of aarch64.
const LINE: usize = 64;

/// Bytes of the ring that fits into `length`: a power of two.
pub(crate) fn ring_length(length: usize) -> usize {
    LINE << (length / LINE).max(2).ilog2()
}

/// Writes into each line of `memory` the offset of the one to visit next: one ring over all of them, in the order of a mixing function, which
/// is one-to-one on powers of two (odd factors, and shifts of half the bits).
pub(crate) fn ring(memory: &Memory, length: usize) -> usize {
    let lines = ring_length(length) / LINE;
    let (bits, mask) = (lines.ilog2(), lines - 1);
    let half = bits.div_ceil(2);
    let mix = |k: usize| {
        let mut x = k.wrapping_mul(0x9E37_79B9_7F4A_7C15) & mask;
        x ^= x >> half;
        x = x.wrapping_mul(0xBF58_476D_1CE4_E5B9) & mask;
        (x ^ (x >> half)) & mask
    };
    let mut at = mix(0);
    for k in 1..=lines {
        let next = mix(k & mask);
        // SAFETY: `at` is below `lines`, whose lines lie within the mapping.
        unsafe { memory.start().add(at * LINE).cast::<usize>().write(next * LINE) };
        at = next;
    }
    lines
}

/// Follows the ring for `steps` steps from `at`.
pub(crate) fn follow(memory: &Memory, mut at: usize, steps: usize) -> usize {
    for _ in 0..steps {
        // SAFETY: the ring holds offsets within the mapping only.
        at = unsafe { memory.start().add(at).cast::<usize>().read() };
    }
    at
}

/// Seconds of one access over the first `length` bytes.
fn access(context: &Context<'_>, memory: &Memory, length: usize) -> Result<Spread, Unavailable> {
    let lines = ring(memory, length);
    // Once around what fits into caches, so that it is there.
    let mut at = follow(memory, 0, lines.min(1 << 16));
    let steps = 40_000;
    let mut all = Vec::new();
    for _ in 0..context.rounds(15) {
        context.go_on()?;
        let start = Instant::now();
        at = std::hint::black_box(follow(memory, at, steps));
        all.push(start.elapsed().as_secs_f64() / steps as f64);
    }
    Spread::or_failed(&all, "following addresses")
}

/// Puts the pages of `memory` on a node (mbind(2), MPOL_BIND).
pub(crate) fn bind(memory: &Memory, node: usize) -> Result<(), Unavailable> {
    const MPOL_BIND: libc::c_int = 2;
    let mask: [u64; 16] = std::array::from_fn(|i| if node / 64 == i { 1 << (node % 64) } else { 0 });
    // SAFETY: the range lies in the mapping; the mask has as many bits as is said.
    let done = unsafe {
        libc::syscall(libc::SYS_mbind, memory.start(), memory.length(), MPOL_BIND, mask.as_ptr(), mask.len() * 64, 0)
    };
    if done != 0 { Err(crate::measure::failed(&format!("mbind to node {node}"))) } else { Ok(()) }
}

/// Memory for a test of DRAM: twice the last cache, within what is free, a power of two. The cache that a hypervisor tells of may be shared
/// with other guests; then half of it would do, and more does no harm.
pub(crate) fn beyond_caches(context: &Context<'_>, cpu: usize) -> Result<usize, Unavailable> {
    let last = machine::caches(context.host, cpu).last().map_or(32 << 20, |c| c.size) as usize;
    let wanted = (2 * last).next_power_of_two().clamp(128 << 20, 1 << 30);
    let spare = (machine::available_memory(context.host) / 4) as usize;
    if spare < wanted {
        return Err(Unavailable::failed(format!(
            "{} MiB are needed to be larger than the last cache ({} MiB), and less than four times that is free",
            wanted >> 20,
            last >> 20
        )));
    }
    Ok(wanted)
}

fn latency(context: &Context<'_>) -> Result<Finding, Unavailable> {
    context.live()?;
    let cpu = quiet_cpu()?;
    let size = beyond_caches(context, cpu)?;
    let caches = machine::caches(context.host, cpu);
    let (levels, memory, small) = on_cpu(cpu, || {
        let memory = Memory::map(size, Some(libc::MADV_HUGEPAGE)).or_else(|_| Memory::map(size, None))?;
        memory.touch();
        let mut levels = Vec::new();
        for cache in &caches {
            // Half of it, but of a last cache no more than a share of it that other CPUs leave.
            let share = if cache.shared.len() > 1 || cache.size > 8 << 20 { 8 } else { 2 };
            let length = (cache.size as usize / share).max(4096).min(size);
            levels.push((cache.level, ring_length(length), access(context, &memory, length)?));
        }
        let far = access(context, &memory, size)?;
        drop(memory);
        let small = Memory::map(size, Some(libc::MADV_NOHUGEPAGE)).ok();
        let small = match small {
            Some(small) => {
                small.touch();
                Some(access(context, &small, size)?)
            }
            None => None,
        };
        Ok((levels, far, small))
    })?;
    let nodes: Vec<(usize, Vec<usize>)> = machine::nodes(context.host);
    let mut finding = Finding::good("");
    for (level, length, spread) in &levels {
        finding = finding.spread(format!("L{level} ({})", human(*length as f64, "B")), *spread, "s");
    }
    finding = finding.spread("memory, huge pages", memory, "s");
    if let Some(small) = small {
        finding = finding.spread("memory, 4 KiB pages", small, "s");
    }
    let mut worst: Option<(f64, String)> = None;
    if nodes.len() > 1 {
        let allowed = allowed_cpus();
        let sample =
            |all: &[(usize, Vec<usize>)]| -> Vec<(usize, Vec<usize>)> { all.iter().take(4).cloned().collect() };
        for (of, cpus) in sample(&nodes) {
            let Some(cpu) = cpus.iter().copied().find(|c| allowed.contains(c)) else { continue };
            for (node, _) in sample(&nodes) {
                let from = on_cpu(cpu, || {
                    let memory = Memory::map(size, Some(libc::MADV_HUGEPAGE)).or_else(|_| Memory::map(size, None))?;
                    bind(&memory, node)?;
                    memory.touch();
                    access(context, &memory, size)
                });
                let name = format!("node {of} to memory of node {node}");
                match from {
                    Ok(spread) => {
                        if worst.as_ref().is_none_or(|(w, _)| spread.low > *w) {
                            worst = Some((spread.low, name.clone()));
                        }
                        finding = finding.spread(name, spread, "s");
                    }
                    Err(why) => finding = finding.word(name, why.to_string()),
                }
            }
        }
    }
    let ns = human(memory.low, "s");
    finding.verdict = match memory.low {
        s if s <= 150e-9 => Verdict::Good,
        s if s <= 250e-9 => Verdict::CouldBeBetter,
        _ => Verdict::Bad,
    };
    finding.says = format!("{ns} an access beyond the caches");
    // A share of the last cache that is as slow as memory is no cache for this machine.
    if let Some((level, length, last)) = levels.iter().rfind(|(level, ..)| *level > 2)
        && last.low > 0.75 * memory.low
    {
        finding.says.push_str(&format!(
            "; {} of the L{level} answer no faster than that: other guests use it, or the hypervisor keeps it from this machine",
            human(*length as f64, "B")
        ));
    }
    if let Some(small) = small {
        finding.says.push_str(&format!(
            "; {} with pages of 4 KiB: finding the page costs up to {}",
            human(small.low, "s"),
            human((small.low - memory.low).max(0.0), "s")
        ));
        if small.low > 1.3 * memory.low {
            finding = finding.change(
                "large heaps that are read at random gain from huge pages: see page-fault and thp",
                "memory that is touched sparsely takes more room",
            );
        }
    }
    if let Some((far, name)) = worst.filter(|(far, _)| *far > 1.3 * memory.low) {
        finding.says.push_str(&format!("; {name} takes {}", human(far, "s")));
        finding = finding.change(
            "keep programs and their memory on one node: numactl --cpunodebind=N --membind=N, or one process a node",
            "a node may run out of memory or CPUs while the other idles",
        );
    }
    Ok(finding.expected("70 to 150 ns from DRAM of the own node on servers (larger chips take longer), 1.3 to 2 times that from another socket; 1 to 2 ns from L1, 4 to 6 from L2, 15 to 40 (large meshes to 70) from L3."))
}

/// Adds up the words of a range, as fast as the CPU loads: what is to be measured is where they lie.
pub(crate) fn sum(from: *const u8, length: usize) -> u64 {
    // SAFETY: the caller's range is mapped, aligned and initialised by the kernel's zeroes.
    let words = unsafe { std::slice::from_raw_parts(from.cast::<u64>(), length / 8) };
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: this CPU has AVX2.
        return unsafe { sum_avx2(words) };
    }
    sum_of(words)
}

/// A loop that compilers make one of vectors, as wide as the function that it lies in may use.
#[inline(always)]
fn sum_of(words: &[u64]) -> u64 {
    words.iter().fold(0, |sum, word| sum.wrapping_add(*word))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn sum_avx2(words: &[u64]) -> u64 {
    sum_of(words)
}

/// Reads `memory` for some rounds; bytes per second of each.
fn stream(context: &Context<'_>, memory: &Memory, rounds: usize) -> Result<Vec<f64>, Unavailable> {
    let mut all = Vec::new();
    for _ in 0..rounds {
        context.go_on()?;
        let start = Instant::now();
        std::hint::black_box(sum(memory.start(), memory.length()));
        all.push(memory.length() as f64 / start.elapsed().as_secs_f64());
    }
    Ok(all)
}

/// CPUs that read at once: more than these fill the channels of any machine.
const READERS: usize = 32;

fn bandwidth(context: &Context<'_>) -> Result<Finding, Unavailable> {
    context.live()?;
    let cpu = quiet_cpu()?;
    let size = beyond_caches(context, cpu)?;
    let map = |length: usize| -> Result<Memory, Unavailable> {
        let memory = Memory::map(length, Some(libc::MADV_HUGEPAGE)).or_else(|_| Memory::map(length, None))?;
        memory.touch();
        Ok(memory)
    };
    let (one, latency) = on_cpu(cpu, || {
        let memory = map(size)?;
        let one = stream(context, &memory, context.rounds(8))?;
        Ok((one, access(context, &memory, size)?))
    })?;
    let one = Spread::of_rates(&one, "reading")?;
    let cpus: Vec<usize> = allowed_cpus().into_iter().take(READERS).collect();
    // Together they must not fit into the caches either, nor fill the memory.
    let each = (size / cpus.len().max(1)).max(16 << 20).next_multiple_of(HUGE);
    let barrier = Barrier::new(cpus.len());
    let start = std::sync::OnceLock::new();
    let rounds = context.rounds(8);
    let read: Vec<(f64, f64)> = std::thread::scope(|scope| {
        let threads: Vec<_> = cpus
            .iter()
            .map(|cpu| {
                let (barrier, start) = (&barrier, &start);
                scope.spawn(move || {
                    // All must reach the barrier, also one that could not get its memory.
                    let ready = pin(*cpu).and_then(|()| map(each));
                    barrier.wait();
                    let begin = *start.get_or_init(Instant::now);
                    let memory = ready?;
                    stream(context, &memory, rounds)?;
                    Ok(((rounds * each) as f64, begin.elapsed().as_secs_f64()))
                })
            })
            .collect();
        threads.into_iter().map(joined).collect::<Result<_, _>>()
    })?;
    let bytes: f64 = read.iter().map(|(b, _)| b).sum();
    let longest = read.iter().map(|(_, s)| *s).fold(0.0, f64::max);
    let all = bytes / longest.max(1e-9);
    // Ten lines on their way at once is what cores of 2010 had already.
    let least = 10.0 * LINE as f64 / latency.low;
    let verdict = if one.high >= 0.8 * least { Verdict::Good } else { Verdict::CouldBeBetter };
    let mut says = format!("{} by one CPU, {} by {}", human(one.median, "B/s"), human(all, "B/s"), cpus.len());
    let mut finding = Finding::new(verdict, "")
        .expected(format!(
            "At least {} by one CPU: with {} an access, ten cache lines on their way at once (line fill buffers of any server core) give that much by Little's law; prefetchers of later cores twice to three times as much.",
            human(least, "B/s"),
            human(latency.low, "s")
        ))
        .spread("read by one CPU", one, "B/s");
    if cpus.len() > 1 {
        finding = finding.number(format!("read by {} CPUs", cpus.len()), all, "B/s");
    }
    if verdict != Verdict::Good {
        says.push_str(
            ": less than the latency explains, so something else uses the memory, or the hypervisor limits it",
        );
        finding = finding.change(
            "look for neighbours that use the memory (other guests; Intel RDT, AMD QoS limits); compare with a metal or larger instance",
            "none",
        );
    }
    finding.says = says;
    Ok(finding)
}

fn thp(context: &Context<'_>) -> Result<Finding, Unavailable> {
    let host = context.host;
    let text = host.read_text(&format!("{THP}/enabled"))?;
    let enabled = machine::chosen(&text).to_owned();
    let defrag = host.read_text(&format!("{THP}/defrag")).map(|t| machine::chosen(&t).to_owned()).unwrap_or_default();
    let mut writes = Vec::new();
    let set_enabled = Write::new(format!("{THP}/enabled"), "madvise");
    let (verdict, says) = match (enabled.as_str(), defrag.as_str()) {
        ("never", _) => {
            writes.push(set_enabled);
            (
                Verdict::CouldBeBetter,
                "never: programs that ask for huge pages (JVMs, databases, allocators) do not get any".to_owned(),
            )
        }
        ("always", "always") => {
            writes.push(set_enabled);
            writes.push(Write::new(format!("{THP}/defrag"), "madvise"));
            (
                Verdict::CouldBeBetter,
                "always, with defrag always: any thread that touches memory may stall while the kernel moves pages to make a huge one".to_owned(),
            )
        }
        ("always", _) => (
            Verdict::Good,
            format!(
                "always, defrag {defrag}: all programs get huge pages where they are free; memory that is touched sparsely takes more room"
            ),
        ),
        ("madvise", "always") => {
            writes.push(Write::new(format!("{THP}/defrag"), "madvise"));
            (Verdict::CouldBeBetter, "madvise, with defrag always".to_owned())
        }
        _ => (Verdict::Good, format!("{enabled}, defrag {defrag}: programs that ask get huge pages")),
    };
    let mut finding = Finding::new(verdict, says)
        .expected("madvise: programs that gain from huge pages ask for them, the others keep their memory small. Some databases (Redis, MongoDB before 8) ask for never or madvise.")
        .word("enabled", enabled)
        .word("defrag", defrag);
    if let Ok(text) = host.read_text(&format!("{THP}/khugepaged/defrag")) {
        finding = finding.word("khugepaged/defrag", text);
    }
    if !writes.is_empty() {
        finding = finding.writes(
            writes,
            "low; concerns memory that is touched from now on. Programs may take more or less memory than before. Lost at reboot: transparent_hugepage=madvise on the kernel's command line",
        );
    }
    Ok(finding)
}

fn huge_pages(context: &Context<'_>) -> Result<Finding, Unavailable> {
    let read = |name: &str| machine::meminfo(context.host, name);
    let total = read("HugePages_Total")
        .ok_or_else(|| Unavailable::absent("/proc/meminfo: no HugePages_Total: this kernel has no hugetlbfs"))?;
    let free = read("HugePages_Free").unwrap_or(0).saturating_sub(read("HugePages_Rsvd").unwrap_or(0));
    let size = read("Hugepagesize").unwrap_or(2 << 20);
    let idle = free * size;
    let memory = read("MemTotal").unwrap_or(u64::MAX);
    let wasted = total > 0 && idle > memory / 50;
    let says = match total {
        0 => "none set aside; programs that want explicit huge pages (databases, DPDK, java -XX:+UseLargePages) would get none".to_owned(),
        _ => format!(
            "{} set aside, {} of it not in use{}",
            human((total * size) as f64, "B"),
            human(idle as f64, "B"),
            if wasted { ": memory that nothing else can have" } else { "" }
        ),
    };
    let mut finding = Finding::new(if wasted { Verdict::CouldBeBetter } else { Verdict::Good }, says)
        .expected("As much as programs use, and nothing where none asks for it.")
        .number("pages", total as f64, "")
        .number("free and not reserved", free as f64, "")
        .number("size of one", size as f64, "B");
    if wasted {
        finding = finding.change(
            format!("sysctl -w vm.nr_hugepages={}, once no program is about to start that wants them", total - free),
            "a program that starts later finds none",
        );
    }
    Ok(finding)
}

fn one_node(context: &Context<'_>) -> Result<usize, Unavailable> {
    match machine::nodes(context.host).len() {
        0 | 1 => Err(Unavailable::not_applicable("one memory node")),
        n => Ok(n),
    }
}

fn numa_balancing(context: &Context<'_>) -> Result<Finding, Unavailable> {
    const PATH: &str = "/proc/sys/kernel/numa_balancing";
    let nodes = one_node(context)?;
    let value = context.host.read_text(PATH)?;
    let finding = match value.as_str() {
        "0" => Finding::good(format!("off, with {nodes} nodes: pages stay where they were first touched")),
        _ => Finding::new(
            Verdict::CouldBeBetter,
            format!("on, with {nodes} nodes: the kernel unmaps pages to see who touches them, which costs faults, and moves them"),
        )
        .writes(
            vec![Write::new(PATH, "0")],
            "programs that are not tied to a node and move between them may then run on far memory: compare before and after. Lost at reboot",
        ),
    };
    Ok(finding
        .expected("Off where programs are tied to nodes (numactl, cpusets, one JVM a node), or fill the machine with one process of many threads. On may help many small programs that wander.")
        .number("nodes", nodes as f64, "")
        .word("numa_balancing", value))
}

fn zone_reclaim(context: &Context<'_>) -> Result<Finding, Unavailable> {
    const PATH: &str = "/proc/sys/vm/zone_reclaim_mode";
    one_node(context)?;
    let value = context.host.read_text(PATH)?;
    let finding = match value.as_str() {
        "0" => Finding::good("off: memory of another node is taken before the page cache is dropped"),
        _ => Finding::new(
            Verdict::Bad,
            format!("{value}: a node that is full drops its page cache, and makes threads wait, while others have free memory"),
        )
        .writes(vec![Write::new(PATH, "0")], "low; lost at reboot"),
    };
    Ok(finding
        .expected("0, the default, unless each program is tied to a node that it fits into.")
        .word("zone_reclaim_mode", value))
}

fn swap(context: &Context<'_>) -> Result<Finding, Unavailable> {
    const PATH: &str = "/proc/sys/vm/swappiness";
    let total = machine::meminfo(context.host, "SwapTotal")
        .ok_or_else(|| Unavailable::absent("/proc/meminfo: no SwapTotal: this kernel does not swap"))?;
    let used = total.saturating_sub(machine::meminfo(context.host, "SwapFree").unwrap_or(total));
    let swappiness = context.host.read_number(PATH).unwrap_or(60);
    let memory = machine::meminfo(context.host, "MemTotal").unwrap_or(0);
    let compressed = context.host.read_text("/proc/swaps").is_ok_and(|t| {
        let mut devices = t.lines().skip(1).peekable();
        devices.peek().is_some() && devices.all(|l| l.starts_with("/dev/zram"))
    });
    let (verdict, says) = match () {
        () if total == 0 => (Verdict::Good, "none".to_owned()),
        () if used > memory / 20 && !compressed => {
            (Verdict::Bad, format!("{} are swapped out: touching them again reads the disk", human(used as f64, "B")))
        }
        () if swappiness > 30 && !compressed => (
            Verdict::CouldBeBetter,
            format!(
                "on a disk, with swappiness {swappiness}: memory of idle programs may be swapped out for page cache"
            ),
        ),
        () => (Verdict::Good, format!("{} used of {}", human(used as f64, "B"), human(total as f64, "B"))),
    };
    let mut finding = Finding::new(verdict, says)
        .expected("Servers that must answer fast: none, or little use of it. In compressed memory (zram) a higher swappiness is right.")
        .number("swap", total as f64, "B")
        .number("in use", used as f64, "B")
        .number("swappiness", swappiness as f64, "");
    if verdict != Verdict::Good {
        finding = finding.writes(
            vec![Write::new(PATH, "10")],
            "less page cache under pressure; what is swapped out already stays there. Lost at reboot",
        );
    }
    Ok(finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{host_of, live, on};

    #[test]
    fn a_ring_visits_every_line_once() {
        let memory = Memory::map(4 << 20, None).unwrap();
        for length in [4096, 48 << 10, 1 << 20] {
            let lines = ring(&memory, length);
            let mut seen = vec![false; lines];
            let mut at = 0;
            for _ in 0..lines {
                assert!(!std::mem::replace(&mut seen[at / LINE], true), "{length}: a line came twice");
                at = follow(&memory, at, 1);
            }
            assert_eq!(at, 0, "{length}: the ring closes");
        }
    }

    #[test]
    fn huge_page_settings() {
        let cases = [
            ("always [madvise] never", "always defer defer+madvise [madvise] never", Verdict::Good, 0),
            ("always madvise [never]", "always defer defer+madvise [madvise] never", Verdict::CouldBeBetter, 1),
            ("[always] madvise never", "[always] madvise never", Verdict::CouldBeBetter, 2),
            ("[always] madvise never", "always defer defer+madvise [madvise] never", Verdict::Good, 0),
        ];
        for (enabled, defrag, verdict, writes) in cases {
            let (_dir, host) = host_of(&[(&format!("{THP}/enabled"), enabled), (&format!("{THP}/defrag"), defrag)]);
            let found = on(&host, thp).unwrap();
            assert_eq!(found.verdict, verdict, "{enabled}");
            assert_eq!(found.changes.iter().map(|c| c.writes.len()).sum::<usize>(), writes, "{enabled}");
        }
        let meminfo = "MemTotal: 1000000 kB\nHugePages_Total: 100\nHugePages_Free: 100\nHugePages_Rsvd: 0\nHugepagesize: 2048 kB\n";
        let (_dir, host) = host_of(&[("/proc/meminfo", meminfo)]);
        let found = on(&host, huge_pages).unwrap();
        assert!(found.verdict == Verdict::CouldBeBetter && found.says.contains("200 MiB"), "{}", found.says);
    }

    #[test]
    fn nodes_and_swap() {
        let node = |n: usize| format!("/sys/devices/system/node/node{n}/cpulist");
        let (_dir, host) = host_of(&[
            (&node(0), "0-3"),
            (&node(1), "4-7"),
            ("/proc/sys/kernel/numa_balancing", "1"),
            ("/proc/sys/vm/zone_reclaim_mode", "1"),
            ("/proc/sys/vm/swappiness", "60"),
            ("/proc/meminfo", "MemTotal: 1000 kB\nSwapTotal: 1000 kB\nSwapFree: 1000 kB\n"),
            ("/proc/swaps", "Filename Type Size Used Priority\n/dev/sda2 partition 1000 0 -2\n"),
        ]);
        assert_eq!(on(&host, numa_balancing).unwrap().verdict, Verdict::CouldBeBetter);
        assert_eq!(on(&host, zone_reclaim).unwrap().verdict, Verdict::Bad);
        assert_eq!(on(&host, swap).unwrap().verdict, Verdict::CouldBeBetter);
        let (_dir, host) = host_of(&[(&node(0), "0-3"), ("/proc/sys/kernel/numa_balancing", "1")]);
        assert_eq!(on(&host, numa_balancing).unwrap_err().status, model::Status::NotApplicable);
    }

    #[test]
    fn memory_is_slower_than_its_caches() {
        match live(latency) {
            Ok(found) => {
                let value = |name: &str| found.values.iter().find(|v| v.name.starts_with(name)).and_then(|v| v.low);
                assert!(
                    value("L1").zip(value("memory")).is_none_or(|(l1, memory)| 0.0 < l1 && l1 < memory),
                    "{found:?}"
                );
            }
            Err(why) => println!("SKIPPED: memory latency: {why}"),
        }
        match live(bandwidth) {
            Ok(found) => assert!(found.values.iter().all(|v| v.value.is_some_and(|v| v > 0.0))),
            Err(why) => println!("SKIPPED: memory bandwidth: {why}"),
        }
    }
}

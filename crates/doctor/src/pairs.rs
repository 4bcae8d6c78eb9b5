//! Pairs of CPUs: how long a cache line takes from one to the other, and whether they share a core. Tells what a hypervisor hides.

use crate::check::{Check, Finding, Kind, Theme, Verdict};
use crate::frequency::throughput;
use crate::machine::Place;
use crate::measure::{Spread, allowed_cpus, joined, pin};
use crate::{Context, machine};
use model::{Unavailable, human};
use std::collections::BTreeMap;
use std::sync::Barrier;
use std::time::Duration;

pub(crate) static CHECKS: &[Check] = &[Check {
    id: "cpu-pairs",
    theme: Theme::Cpu,
    kind: Kind::Measurement,
    title: "time of a cache line between two CPUs",
    how: "two threads on two CPUs write the same line in turn; half a round trip, the least of 15 batches of 300; all pairs of up to 24 CPUs, of more a sample of 300 pairs; then, of each CPU and its nearest, how much independent additions slow down when both run them: threads of one core share its units",
    source: "Hackenberg et al., \"Comparing Cache Architectures and Coherency Protocols on x86-64 Multicore SMP Systems\", MICRO 2009; Documentation/admin-guide/cputopology.rst",
    run: pairs,
}];

/// Longer a CPU does not take to answer, unless it was taken away for good.
pub(crate) const ANSWER: Duration = Duration::from_millis(500);

/// Seconds a line takes from CPU `a` to CPU `b`.
fn transfer(context: &Context<'_>, a: usize, b: usize) -> Result<f64, Unavailable> {
    let times = host::cacheline::transfer(a, b, context.rounds(15) as u64, ANSWER, || context.go_on())?;
    Ok(Spread::or_failed(&times, "passing a line")?.low)
}

/// Additions a second of each of two CPUs at the same time, over that of one alone: about 1 for two cores, about half for threads of one.
fn sharing(context: &Context<'_>, a: usize, b: usize) -> Result<f64, Unavailable> {
    const SECONDS: f64 = 0.04;
    let mut best = Vec::new();
    for _ in 0..3 {
        context.go_on()?;
        let alone = crate::measure::on_cpu(a, || Ok(throughput(SECONDS)))?;
        let barrier = Barrier::new(2);
        let both = std::thread::scope(|scope| {
            let threads = [a, b].map(|cpu| {
                let barrier = &barrier;
                scope.spawn(move || {
                    let ready = pin(cpu);
                    barrier.wait();
                    ready?;
                    Ok(throughput(SECONDS))
                })
            });
            let [one, two] = threads.map(joined);
            Ok::<f64, Unavailable>((one? + two?) / 2.0)
        })?;
        best.push(both / alone.max(1e-9));
    }
    Ok(Spread::or_failed(&best, "adding")?.median)
}

/// Below this, two CPUs share a core: threads of one core reach half each, and a little more; cores of their own all of it, less what
/// turbo loses with a second core busy.
const SHARED: f64 = 0.75;

/// The pairs to measure: all of few CPUs; of many, each with the first and with its neighbours in several distances.
fn chosen(cpus: &[usize]) -> (Vec<(usize, usize)>, bool) {
    const ALL: usize = 24;
    const MOST: usize = 300;
    let mut pairs = Vec::new();
    let add = |a: usize, b: usize, pairs: &mut Vec<(usize, usize)>| {
        if let (Some(a), Some(b)) = (cpus.get(a), cpus.get(b)) {
            pairs.push((*a, *b));
        }
    };
    if cpus.len() <= ALL {
        for a in 0..cpus.len() {
            (a + 1..cpus.len()).for_each(|b| add(a, b, &mut pairs));
        }
        return (pairs, true);
    }
    // Siblings are numbered next to each other, or half of all apart.
    let half = cpus.len() / 2;
    let stride = cpus.len().div_ceil(MOST / 3);
    for a in (0..cpus.len()).step_by(stride) {
        add(0, a.max(1), &mut pairs);
        add(a, a ^ 1, &mut pairs);
        add(a, (a + half) % cpus.len(), &mut pairs);
    }
    pairs.iter_mut().for_each(|(a, b)| (*a, *b) = (*a.min(b), *a.max(b)));
    pairs.sort_unstable();
    pairs.dedup();
    pairs.retain(|(a, b)| a != b);
    pairs.truncate(MOST);
    (pairs, false)
}

/// How two CPUs hang together, by what the kernel says.
pub(crate) fn kin(a: &Place, b: &Place, other: usize) -> &'static str {
    match () {
        () if a.core.contains(&other) => "threads of a core",
        () if a.cache.contains(&other) => "same last cache",
        () if a.socket == b.socket => "same socket",
        () => "other socket",
    }
}

fn pairs(context: &Context<'_>) -> Result<Finding, Unavailable> {
    context.live()?;
    let cpus = allowed_cpus();
    if cpus.len() < 2 {
        return Err(Unavailable::not_applicable("one CPU: there are no pairs"));
    }
    let (wanted, all) = chosen(&cpus);
    let places: BTreeMap<usize, Place> =
        cpus.iter().map(|cpu| (*cpu, machine::Place::of(context.host, *cpu))).collect();
    let mut times = Vec::new();
    for (a, b) in &wanted {
        times.push((*a, *b, transfer(context, *a, *b)?));
    }
    judge(context, &cpus, &places, &times, all, |a, b| sharing(context, a, b))
}

/// What the measured times say beside what the kernel says. `share` measures whether two CPUs share a core.
fn judge(
    context: &Context<'_>,
    cpus: &[usize],
    places: &BTreeMap<usize, Place>,
    times: &[(usize, usize, f64)],
    all: bool,
    mut share: impl FnMut(usize, usize) -> Result<f64, Unavailable>,
) -> Result<Finding, Unavailable> {
    let nobody = Place::default();
    let place = |cpu: &usize| places.get(cpu).unwrap_or(&nobody);
    let mut classes: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (a, b, time) in times {
        classes.entry(kin(place(a), place(b), *b)).or_default().push(*time);
    }
    // The nearest of each CPU: each pair once, 16 at most.
    let mut nearest: Vec<(usize, usize)> = cpus
        .iter()
        .filter_map(|cpu| {
            let own = times.iter().filter(|(a, b, _)| a == cpu || b == cpu);
            own.min_by(|x, y| x.2.total_cmp(&y.2)).map(|(a, b, _)| (*a, *b))
        })
        .collect();
    nearest.sort_unstable();
    nearest.dedup();
    nearest.truncate(16);
    let (mut hidden, mut told, mut ratios) = (Vec::new(), 0, Vec::new());
    for (a, b) in &nearest {
        context.go_on()?;
        let ratio = share(*a, *b)?;
        ratios.push((*a, *b, ratio));
        let siblings = place(a).core.contains(b);
        told += usize::from(siblings);
        if ratio < SHARED && !siblings {
            hidden.push(format!("{a} and {b}"));
        }
    }
    // Pairs of one class that take much longer than the others of it: a border that the kernel is not told of.
    let mut far = Vec::new();
    for (class, own) in &classes {
        let Some(spread) = Spread::of(own) else { continue };
        let slow = own.iter().filter(|t| **t > 1.7 * spread.low && **t > spread.low + 50e-9).count();
        if *class != "other socket" && slow > 0 && own.len() > 3 {
            far.push(format!(
                "{slow} of {} pairs of \"{class}\" take {} or more, the nearest {}",
                own.len(),
                human(1.7 * spread.low, "s"),
                human(spread.low, "s")
            ));
        }
    }
    let mut says: Vec<String> = classes
        .iter()
        .filter_map(|(class, own)| Some(format!("{class} {}", human(Spread::of(own)?.median, "s"))))
        .collect();
    let verdict = if hidden.is_empty() && far.is_empty() { Verdict::Good } else { Verdict::CouldBeBetter };
    let virtual_machine = machine::Platform::of(context.host).is_virtual();
    if !hidden.is_empty() {
        says.push(format!(
            "CPUs {} share a core, which the kernel is not told: it takes them for two cores, and two busy threads there run at half speed each",
            hidden.join(", ")
        ));
    }
    says.extend(far.iter().cloned());
    if !all {
        says.push(format!("a sample of {} pairs", times.len()));
    }
    let mut finding = Finding::new(verdict, says.join("; ")).expected(
        "5 to 20 ns between threads of a core, 20 to 80 ns within a socket (large meshes and other chiplets to 120 ns), 100 to 300 ns between sockets. Two cores run additions at full speed each, threads of one core at half.",
    );
    for (class, own) in &classes {
        if let Some(spread) = Spread::of(own) {
            finding = finding.spread(format!("{class} ({} pairs)", own.len()), spread, "s");
        }
    }
    for (a, b, ratio) in &ratios {
        finding = finding.number(format!("speed of CPUs {a} and {b} when both are busy"), *ratio, "ratio");
    }
    if told > 0 {
        finding = finding.number("threads of a core among the nearest pairs", told as f64, "");
    }
    if !hidden.is_empty() {
        let what = "count each such pair as one core: run as many busy threads as there are cores, tie what is sensitive to one CPU of each pair (taskset), or take an instance type that tells its topology, or one thread a core (AWS: CPU options)";
        finding = finding.change(what, "half the CPUs idle");
    }
    if !far.is_empty() {
        finding = finding.change(
            "keep threads that share data on near CPUs (taskset, cpusets; the pairs are in --json)",
            if virtual_machine { "a hypervisor may move CPUs: measure again after a restart" } else { "none" },
        );
    }
    if context.host.is_fixture() || times.len() <= 300 {
        // For programs that draw the matrix.
        let matrix = times.iter().map(|(a, b, t)| format!("{a}-{b} {:.0}", t * 1e9)).collect::<Vec<_>>().join(" ");
        finding = finding.word("pairs, ns", matrix);
    }
    Ok(finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{context, host_of, live};

    #[test]
    fn pairs_are_chosen() {
        assert_eq!(chosen(&[0, 1, 5]), (vec![(0, 1), (0, 5), (1, 5)], true));
        let many: Vec<usize> = (0..256).collect();
        let (pairs, all) = chosen(&many);
        assert!(!all && pairs.len() <= 300 && pairs.iter().all(|(a, b)| a < b));
        assert!(
            pairs.contains(&(0, 1)) && pairs.contains(&(0, 128)) && pairs.iter().any(|(_, b)| *b > 200),
            "{pairs:?}"
        );
    }

    /// Four CPUs of one socket by the kernel's word; 0 and 1 share a core, and 3 is on another socket.
    #[test]
    fn what_is_hidden_is_found() {
        let (_dir, host) = host_of(&[]);
        let stop = std::sync::atomic::AtomicBool::new(false);
        let context = context(&host, &stop);
        let cpus = [0, 1, 2, 3];
        let places: BTreeMap<usize, Place> = cpus
            .iter()
            .map(|c| (*c, Place { core: vec![*c], cache: vec![0, 1, 2, 3], socket: Some(0), node: Some(0) }))
            .collect();
        let times = [(0, 1, 10e-9), (0, 2, 60e-9), (1, 2, 60e-9), (0, 3, 200e-9), (1, 3, 200e-9), (2, 3, 200e-9)];
        let share = |a, b| Ok(if (a, b) == (0, 1) { 0.52 } else { 0.98 });
        let found = judge(&context, &cpus, &places, &times, true, share).unwrap();
        assert_eq!(found.verdict, Verdict::CouldBeBetter);
        assert!(found.says.contains("CPUs 0 and 1 share a core"), "{}", found.says);
        assert!(found.says.contains("3 of 6 pairs"), "{}", found.says);
        let places: BTreeMap<usize, Place> = cpus
            .iter()
            .map(|c| {
                let core = if *c < 2 { vec![0, 1] } else { vec![*c] };
                (*c, Place { core, cache: vec![0, 1, 2], socket: Some(i64::from(*c == 3)), node: Some(0) })
            })
            .collect();
        let found = judge(&context, &cpus, &places, &times, true, share).unwrap();
        assert_eq!(found.verdict, Verdict::Good, "{}", found.says);
    }

    #[test]
    fn lines_take_time() {
        match live(pairs) {
            Ok(found) => assert!(found.values.iter().filter_map(|v| v.value).all(|v| v > 0.0)),
            Err(why) => println!("SKIPPED: pairs of CPUs: {why}"),
        }
    }
}

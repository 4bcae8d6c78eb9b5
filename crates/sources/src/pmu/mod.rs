//! Hardware counters of the CPUs, in the groups of `counters/`, and of what lies around them: bandwidth of memory controllers, energy.
//!
//! A group is counted together on each CPU, and what is made of its counts is of one group only: the table `pmu` has a row for each. Where there are
//! more groups than counters, the kernel takes turns, and counts are scaled up; an interval in which a group had no counters is not there.

mod counted;
mod devices;
mod exercise;
mod instances;
mod package;
mod plan;
mod sampled;
#[cfg(test)]
mod tests;

use crate::attributes::Online;
use crate::scope::Target;
use crate::{Pace, Reader, Scope, Source};
use counted::{Counted, Interval, Scaled};
use counters::{COLUMNS, Group, tables};
pub(crate) use devices::{DEVICES, Device};
use host::Host;
use host::counting::{Counting, Event, Refused, Whom};
use model::{NULL, Out, Unavailable, real};
use package::Package;
use plan::{Chunk, Planner};
pub use sampled::ByInstructions;

/// Hardware counters.
pub static SOURCE: Source = Source {
    name: "pmu",
    title: "hardware counters: instructions, cycles, branches, caches, page walks; memory bandwidth, energy",
    documented: "perf_event_open(2); Documentation/ABI/testing/sysfs-bus-event_source-devices-events, -format; docs/counters.md",
    reads: &[
        "/sys/devices/system/cpu/online",
        "/sys/devices/system/cpu/smt/active",
        "/sys/bus/event_source/devices/*/type",
        "/sys/bus/event_source/devices/*/cpus",
        "/sys/bus/event_source/devices/*/cpumask",
        "/sys/bus/event_source/devices/*/format/*",
        "/sys/bus/event_source/devices/*/events/*",
        "/sys/class/dmi/id/sys_vendor",
        "/sys/class/dmi/id/product_name",
        "/proc/sys/kernel/nmi_watchdog",
        "/proc/cpuinfo",
    ],
    needs: "a machine that has or is shown a PMU; root or CAP_PERFMON, or kernel.perf_event_paranoid=-1; of the command alone, in user space: nothing",
    pace: Pace::AtLeast(1),
    tables: &[&tables::PMU, &tables::RAW, &tables::GROUP, &tables::PROCESS, &tables::PACKAGE, &tables::METRIC],
    charts: tables::CHARTS,
    open,
};

// Places of the tables.
const PMU: usize = 0;
const RAW: usize = 1;
const GROUP: usize = 2;
const PROCESS: usize = 3;
const PACKAGE: usize = 4;
const METRIC: usize = 5;

const ONLINE: &str = "/sys/devices/system/cpu/online";

/// What a device counts, and on which CPUs.
struct Part {
    cpus: Vec<u32>,
    chunks: Vec<Chunk>,
}

/// The counts of the command.
struct Command {
    who: &'static str,
    /// For each column whether it is counted.
    columns: [bool; 4],
    scaled: Scaled,
}

struct Pmu {
    groups: Vec<Group>,
    parts: Vec<Part>,
    online: Online,
    /// For each part and chunk, the CPUs.
    open: Vec<Vec<Vec<Counted>>>,
    smt: bool,
    package: Package,
    command: Option<Command>,
    /// What is to be said at the first read.
    absent: Vec<(String, Unavailable)>,
    facts: Vec<(&'static str, String)>,
    /// What each group lacks, in words, by its label.
    lacks: Vec<(String, String)>,
    told_scaled: bool,
    told_starved: bool,
    /// What is in the way of more.
    watchdog: bool,
    /// How many counters there are; 0 where that could not be found out.
    counters: usize,
}

fn open(host: &Host, scope: &Scope) -> Result<Box<dyn Reader>, Unavailable> {
    let devices = devices::devices(host);
    let mut cores: Vec<&Device> = devices.iter().filter(|device| device.is_core).collect();
    if cores.is_empty() {
        let why = format!("this machine has no PMU of its CPUs, or is shown none ({DEVICES})");
        return Err(Unavailable::absent(why).remedy(instances::remedy(host)));
    }
    let online = Online::open(host, ONLINE)?;
    let all_cpus = crate::parse::list(&host.read(ONLINE)?);
    let cpuinfo = host.read("/proc/cpuinfo").unwrap_or_default();
    let identities = counters::identities(&String::from_utf8_lossy(&cpuinfo));
    let groups = if scope.counters.is_empty() { default_groups() } else { scope.counters.clone() };
    let mut pmu = Pmu {
        groups,
        parts: Vec::new(),
        online,
        open: Vec::new(),
        smt: host.read_text("/sys/devices/system/cpu/smt/active").is_ok_and(|active| active == "1"),
        package: Package::default(),
        command: None,
        absent: Vec::new(),
        facts: Vec::new(),
        lacks: Vec::new(),
        told_scaled: false,
        told_starved: false,
        watchdog: host.read_number("/proc/sys/kernel/nmi_watchdog").is_ok_and(|on| on == 1),
        counters: 0,
    };
    // Before any group is open, which would take part in it.
    let sampled_by = sampled::events(host, scope);
    cores.sort_by_key(|device| device.kind);
    let is_only = cores.len() == 1;
    for device in cores {
        let mut cpus = device.cpus.clone();
        if cpus.is_empty() {
            cpus = all_cpus.iter().filter_map(|&cpu| u32::try_from(cpu).ok()).collect();
        }
        // The test must run on the CPUs of this PMU.
        let before = if is_only { None } else { on_cpus(host, &cpus) };
        let of_cpu = identities.iter().find(|(cpu, _)| cpus.contains(cpu)).or(identities.first());
        let name = of_cpu.map_or("generic", |(_, identity)| counters::microarchitecture(identity));
        let planner = Planner::new(host, device, is_only, &sampled_by);
        pmu.plan(&planner, name, cpus);
        if let Some(before) = before {
            on_cpus(host, &before);
        }
    }
    if pmu.parts.iter().all(|part| part.chunks.is_empty()) {
        let why = pmu.lacks.first().map_or_else(String::new, |(_, why)| format!(": {why}"));
        let why = format!("the PMU of this machine counts nothing that is asked for{why}");
        return Err(Unavailable::absent(why).remedy(instances::remedy(host)));
    }
    pmu.package = Package::open(host, &devices);
    if scope.target == Target::Children {
        pmu.open_command(host);
    }
    if !host.is_fixture() {
        host::raise_open_files();
    }
    match pmu.find(host) {
        Ok(()) => {}
        Err(why) if pmu.command.is_some() => pmu.absent.push(("pmu".to_owned(), why)),
        Err(why) => return Err(why),
    }
    if let Some(refused) = pmu.package.refused {
        pmu.absent.push(("pmu_package".to_owned(), unavailable(refused)));
    }
    Ok(Box::new(pmu))
}

/// The groups that are counted where nothing else is asked for.
fn default_groups() -> Vec<Group> {
    let group = |name: &&str| counters::groups().iter().find(|group| group.name == **name).cloned();
    counters::DEFAULT.iter().filter_map(group).collect()
}

/// Has this thread run on these CPUs. Returns those that it could run on before; `None` where that cannot be changed.
fn on_cpus(host: &Host, cpus: &[u32]) -> Option<Vec<u32>> {
    if host.is_fixture() {
        return None;
    }
    let before = host::cpus::sched_getaffinity(None).ok()?;
    let mut set = host::cpus::CpuSet::new();
    let fits = |cpu: &&u32| (**cpu as usize) < host::cpus::CpuSet::MAX_CPU;
    cpus.iter().filter(fits).for_each(|&cpu| set.set(cpu as usize));
    host::cpus::sched_setaffinity(None, &set).ok()?;
    Some((0..host::cpus::CpuSet::MAX_CPU).filter(|&cpu| before.is_set(cpu)).map(|cpu| cpu as u32).collect())
}

fn unavailable(refused: Refused) -> Unavailable {
    if refused.is_denied() {
        return Unavailable::denied(refused.why()).remedy(host::perf::REMEDY);
    }
    Unavailable::failed(refused.why())
}

impl Pmu {
    /// What a device can count.
    fn plan(&mut self, planner: &Planner<'_>, cpu: &'static str, cpus: Vec<u32>) {
        let mut part = Part { cpus, chunks: Vec::new() };
        for (number, group) in self.groups.iter().enumerate() {
            let planned = planner.plan(number, group, cpu);
            let word =
                |(name, why): &(String, String)| if name.is_empty() { why.clone() } else { format!("{name}: {why}") };
            let why: Vec<String> = planned.absent.iter().map(word).collect();
            let why = why.join("; ");
            if planned.chunks.is_empty() {
                let why = if why.is_empty() { "this CPU has none of its events".to_owned() } else { why.clone() };
                self.absent.push((group.name.clone(), Unavailable::absent(why)));
            }
            self.lacks.push((planner.label(group), why));
            part.chunks.extend(planned.chunks);
        }
        self.facts.push(("PMU", planner.device.name.clone()));
        self.facts.push(("microarchitecture", cpu.to_owned()));
        self.counters = planner.counters;
        if planner.counters > 0 {
            self.facts.push(("counters at a time", planner.counters.to_string()));
        }
        self.parts.push(part);
    }

    /// Opens the counts of the command, which is to be started yet.
    fn open_command(&mut self, host: &Host) {
        let chunks = || self.parts.iter().flat_map(|part| &part.chunks);
        let event = |name: &str| {
            chunks().flat_map(|chunk| &chunk.events).find(|(other, _)| other == name).map(|(_, event)| *event)
        };
        let all = ["cycles", "instructions", "branches", "branch_misses"].map(event);
        let few = [all[0], all[1], None, None];
        // Where there are several PMUs, an event counts on the CPUs of its own only.
        if self.parts.len() > 1 {
            let why = "this machine has CPUs of several kinds, which count apart";
            self.absent.push(("pmu_process".to_owned(), Unavailable::absent(why)));
            return;
        }
        let mut refused = None;
        // The kernel gives counters to groups of CPUs first. So the command has its own for good, if these still fit beside it.
        let largest = chunks().map(|chunk| chunk.events.len()).max().unwrap_or(0);
        let choices = [all, few].map(|columns| {
            let events: Vec<Event> = columns.iter().flatten().copied().collect();
            let pinned = events.len() + largest <= self.counters;
            (columns.map(|event| event.is_some()), events, pinned)
        });
        let pinned_first = choices.iter().filter(|(.., pinned)| *pinned);
        let choices: Vec<_> = pinned_first.chain(choices.iter().rev().filter(|(.., pinned)| !pinned)).collect();
        for (user_only, who) in [(false, "command"), (true, "command, user space")] {
            for (columns, events, pinned) in &choices {
                match Counting::open(host, events, Whom::Command { user_only, pinned: *pinned }) {
                    Ok(counting) => {
                        let scaled = Scaled::new(counting, events.len());
                        self.command = Some(Command { who, columns: *columns, scaled });
                        return;
                    }
                    Err(why) => refused = Some(why),
                }
            }
        }
        if let Some(refused) = refused {
            self.absent.push(("pmu_process".to_owned(), unavailable(refused)));
        }
    }

    /// Opens the groups on each CPU, if others are online than before.
    fn find(&mut self, host: &Host) -> Result<(), Unavailable> {
        let Some(online) = self.online.changed(host)? else { return Ok(()) };
        let is_online = |cpu: &u32| online.contains(&i64::from(*cpu));
        self.open.resize_with(self.parts.len(), Vec::new);
        for (part, open) in self.parts.iter().zip(&mut self.open) {
            open.resize_with(part.chunks.len(), Vec::new);
            for (chunk, open) in part.chunks.iter().zip(open) {
                // What counted on a CPU that was switched off counts no more when it comes back.
                open.retain(|counted: &Counted| is_online(&counted.cpu));
                let events: Vec<Event> = chunk.events.iter().map(|(_, event)| *event).collect();
                for &cpu in part.cpus.iter().filter(|cpu| is_online(cpu)) {
                    if open.iter().any(|counted| counted.cpu == cpu) {
                        continue;
                    }
                    match Counting::open(host, &events, Whom::Cpu(cpu)) {
                        Ok(counting) => open.push(Counted::new(cpu, counting)),
                        Err(refused) if refused.is_denied() => return Err(unavailable(refused)),
                        // What this thread may count can still be refused of a CPU.
                        Err(refused) => {
                            self.absent.push((chunk.label.clone(), unavailable(refused)));
                            break;
                        }
                    }
                }
                open.sort_by_key(|counted| counted.cpu);
            }
        }
        Ok(())
    }

    /// Says once what is not there.
    fn say(&mut self, out: &mut Out<'_>) {
        for (item, why) in self.absent.drain(..) {
            out.missing(&item, why);
        }
        for (name, value) in self.facts.drain(..) {
            out.fact("pmu", name, value);
        }
    }

    /// Rows of one chunk on all CPUs.
    fn read_chunk(&mut self, host: &Host, part: usize, chunk: usize, out: &mut Out<'_>) -> Interval {
        let mut all = Interval::default();
        let Some(what) = self.parts.get(part).and_then(|part| part.chunks.get(chunk)) else { return all };
        let Some(open) = self.open.get_mut(part).and_then(|open| open.get_mut(chunk)) else { return all };
        let label = out.text(&what.label);
        let names: Vec<i64> = what.events.iter().map(|(name, _)| out.text(name)).collect();
        let mut cells = vec![NULL; COLUMNS.len()];
        let mut totals: Vec<(String, f64)> = Vec::new();
        // What is in the program's own files has columns.
        let own = self.groups.get(what.group).filter(|group| !counters::groups().iter().any(|known| known == *group));
        for counted in open {
            let add = |name: &str, value: f64| match totals.iter_mut().find(|(other, _)| other == name) {
                Some((_, total)) => *total += value,
                None if own.is_some() => totals.push((name.to_owned(), value)),
                None => {}
            };
            let interval = counted.read(host, what, self.smt, &mut cells, add);
            if let [cpu, group, ..] = &mut cells[..] {
                (*cpu, *group) = (i64::from(counted.cpu), label);
            }
            out.row(PMU, &cells);
            if let Some(raw) = counted.raw() {
                for (&name, &count) in names.iter().zip(&raw.counts) {
                    let row =
                        [i64::from(counted.cpu), label, name, count as i64, raw.enabled as i64, raw.running as i64];
                    out.row(RAW, &row);
                }
            }
            if let Some(interval) = interval {
                all.enabled += interval.enabled;
                all.running += interval.running;
            }
        }
        for metric in own.iter().flat_map(|group| &group.metrics) {
            let of = |name: &str| totals.iter().find(|(other, _)| other == name).map(|(_, total)| *total);
            let value = metric.formula.value(&of);
            let known = what.names();
            if metric.formula.names().iter().all(|name| known.contains(name)) {
                let row = [label, out.text(&metric.name), value.map_or(NULL, real)];
                out.row(METRIC, &row);
            }
        }
        all
    }
}

impl Reader for Pmu {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        self.say(out);
        let found = self.find(host);
        let mut least: f64 = 1.0;
        for part in 0..self.parts.len() {
            for chunk in 0..self.open.get(part).map_or(0, Vec::len) {
                let interval = self.read_chunk(host, part, chunk, out);
                let Some(what) = self.parts.get(part).and_then(|part| part.chunks.get(chunk)) else { continue };
                let share = (interval.enabled > 0).then(|| interval.running as f64 / interval.enabled as f64);
                least = least.min(share.unwrap_or(1.0));
                let events: Vec<&str> = what.events.iter().map(|(name, _)| name.as_str()).collect();
                let lacks = self.lacks.iter().find(|(label, _)| {
                    what.label.strip_prefix(label.as_str()).is_some_and(|part| part.is_empty() || part.starts_with(' '))
                });
                let lacks = lacks.map_or("", |(_, why)| why.as_str());
                let row =
                    [out.text(&what.label), share.map_or(NULL, real), out.text(&events.join(" ")), out.text(lacks)];
                out.row(GROUP, &row);
            }
        }
        // A twentieth is what others take now and then.
        if least < 0.95 && !std::mem::replace(&mut self.told_scaled, true) {
            let why = format!(
                "there are fewer counters than events: a group was on for {:.0} % of the time, and its counts are scaled up",
                least * 100.0
            );
            let mut remedy = "fewer groups: --counters GROUP,…".to_owned();
            if self.watchdog {
                remedy.push_str("; sysctl kernel.nmi_watchdog=0 gives one counter more");
            }
            out.missing("pmu", Unavailable::estimated(why).remedy(remedy));
        }
        if let Some(command) = &mut self.command {
            let who = out.text(command.who);
            let mut row = [who, NULL, NULL, NULL, NULL];
            match command.scaled.read(host) {
                Some(sums) => {
                    let cells = row.iter_mut().skip(1).zip(command.columns).filter(|(_, is_counted)| *is_counted);
                    cells.zip(sums).for_each(|((cell, _), sum)| *cell = sum.round() as i64);
                }
                None if !std::mem::replace(&mut self.told_starved, true) => {
                    let why = "the command had no counters for a while: the groups of the CPUs, or others, held them";
                    out.missing("pmu_process", Unavailable::estimated(why).remedy("fewer groups: --counters core"));
                }
                None => {}
            }
            out.row(PROCESS, &row);
        }
        self.package.read(host, PACKAGE, out);
        found
    }

    fn at_least(&self) -> u64 {
        // Each read interrupts the CPU of its group: 15 µs in a virtual machine, which is to stay below a hundredth of one CPU.
        let groups: usize = self.open.iter().flatten().map(Vec::len).sum();
        groups as u64 / 650
    }
}

//! What other tools counted: events that were counted together, interval by interval, as rows of the tables of hardware counters.

pub(crate) mod aperf;
pub(crate) mod archive;
mod definitions;
mod known;
pub(crate) mod perf_stat;
pub(crate) mod perfspect;
#[cfg(test)]
mod tests;

use crate::profile::Profile;
use ::counters::tables::{GROUP, METRIC, PMU, RAW};
use ::counters::{COLUMNS, Machine, Named, Plan, groups};
use model::{Fact, NULL, real};
use std::collections::HashMap;

/// Groups of `counters/` in the order in which events are given to them.
const ORDER: [&str; 9] = ["core", "branch", "fetch", "data", "tlb", "topdown", "memory", "sharing", "smt"];

/// What one event counted in one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Count {
    /// As the counter had it.
    pub(crate) raw: f64,
    /// Time for which it was wanted, nanoseconds; none where the tool does not say.
    pub(crate) enabled: Option<f64>,
    /// Time in which it had a counter.
    pub(crate) running: Option<f64>,
}

impl Count {
    /// Scaled up; none where it had no counter.
    pub(crate) fn scaled(&self) -> Option<f64> {
        match (self.enabled, self.running) {
            (Some(_), Some(0.0)) => None,
            (Some(enabled), Some(running)) => Some(self.raw * enabled / running),
            _ => Some(self.raw),
        }
    }
}

/// Counts of one interval on one CPU, of events that were counted together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interval<'a> {
    /// When it began and ended, nanoseconds.
    pub(crate) from: i64,
    pub(crate) to: i64,
    /// The CPU; [`NULL`] for all together.
    pub(crate) cpu: i64,
    /// Which of the sets it is of.
    pub(crate) set: usize,
    /// By event; none where it was not counted.
    pub(crate) counts: &'a [Option<Count>],
}

/// A group of `counters/` as far as a set fills it.
#[derive(Debug)]
struct Part {
    label: String,
    plan: Plan,
    /// Events of the set that are counted for it.
    events: Vec<usize>,
    /// By CPU, what the columns have come to.
    sums: HashMap<i64, Vec<Option<f64>>>,
    raw: HashMap<(i64, usize), [f64; 3]>,
    /// Time wanted and had in this interval.
    share: (f64, f64),
}

#[derive(Debug)]
struct Set {
    names: Vec<String>,
    parts: Vec<Part>,
}

/// All that a file counted.
#[derive(Debug)]
pub(crate) struct Counts {
    sets: Vec<Set>,
    /// What could not be counted, and why, for the table of groups.
    pub(crate) absent: String,
}

impl Counts {
    /// Of sets of events that were counted together, as the tool names them.
    pub(crate) fn new(profile: &mut Profile, sets: Vec<Vec<(String, Named)>>) -> Counts {
        let all: Vec<Named> = sets.iter().flatten().map(|(_, named)| named.clone()).collect();
        let machine = Machine::guess(profile.options.cpu.as_deref(), &all);
        if let Some(cpu) = &machine.cpu {
            let fact = Fact { category: "pmu".into(), name: "microarchitecture".into(), value: cpu.clone() };
            profile.facts.push(fact);
        }
        let mut used: HashMap<String, usize> = HashMap::new();
        let mut label = |name: &str| {
            let times = used.entry(name.to_owned()).or_insert(0);
            *times += 1;
            if *times == 1 { name.to_owned() } else { format!("{name} {times}") }
        };
        let mut unclear: Vec<String> = Vec::new();
        let sets = sets.into_iter().map(|set| {
            let (names, named): (Vec<String>, Vec<Named>) = set.into_iter().unzip();
            let mut parts: Vec<Part> = Vec::new();
            let mut covered: Vec<String> = Vec::new();
            for group in ORDER.iter().filter_map(|name| groups().iter().find(|group| group.name == *name)) {
                let plan = Plan::new(group, &machine, &named);
                unclear.extend(plan.unclear.iter().cloned());
                let own: Vec<&str> = plan.columns(group).filter(|name| !is_base(name)).collect();
                let has_base =
                    ["cycles", "instructions"].iter().all(|base| plan.columns(group).any(|name| name == *base));
                let tells = own.iter().any(|name| !covered.iter().any(|other| other == name));
                if !(tells || group.name == "core" && has_base) {
                    continue;
                }
                covered.extend(own.into_iter().map(str::to_owned));
                let mut events: Vec<usize> = plan.direct.iter().map(|(_, at)| *at).collect();
                events.sort_unstable();
                events.dedup();
                parts.push(Part::new(label(&group.name), plan, events));
            }
            let rest: Vec<usize> =
                (0..names.len()).filter(|at| !parts.iter().any(|part| part.events.contains(at))).collect();
            match parts.first_mut() {
                Some(part) => part.events.extend(rest),
                None => parts.push(Part::new(label("other"), Plan::default(), rest)),
            }
            Set { names, parts }
        });
        let sets = sets.collect();
        unclear.sort();
        unclear.dedup();
        // Cycles alone make slots, but nothing is made of these then.
        unclear.retain(|name| name != "slots");
        if !unclear.is_empty() {
            profile.note(format!(
                "{} of these events differ by CPU, and the file does not say which one it was: --cpu NAME does",
                unclear.join(", ")
            ));
        }
        Counts { sets, absent: String::new() }
    }

    /// Rows of an interval.
    pub(crate) fn put(&mut self, profile: &mut Profile, interval: Interval<'_>) {
        let Some(set) = self.sets.get_mut(interval.set) else { return };
        let cpu = interval.cpu;
        let scaled: Vec<Option<f64>> = interval.counts.iter().map(|count| count.and_then(|c| c.scaled())).collect();
        for part in &mut set.parts {
            let label = profile.text(&part.label);
            if !part.plan.direct.is_empty() {
                let first = !part.sums.contains_key(&cpu);
                let sums = part.sums.entry(cpu).or_insert_with(|| vec![None; COLUMNS.len()]);
                let mut cells = vec![NULL; COLUMNS.len()];
                let mut begin = cells.clone();
                for (name, value) in part.plan.values(&scaled) {
                    let Some(at) = COLUMNS.iter().position(|column| column.name == name) else { continue };
                    if let (Some(sum), Some(cell), Some(zero)) =
                        (sums.get_mut(at), cells.get_mut(at), begin.get_mut(at))
                    {
                        // Counts grow. What is computed can be below 0 for a moment.
                        let total = sum.unwrap_or(0.0) + value.max(0.0);
                        *sum = Some(total);
                        *cell = total.round() as i64;
                        *zero = 0;
                    }
                }
                for cells in [&mut begin, &mut cells] {
                    if let [of_cpu, of_group, ..] = &mut cells[..] {
                        (*of_cpu, *of_group) = (cpu, label);
                    }
                }
                if first {
                    profile.row(&PMU, interval.from, begin);
                }
                profile.row(&PMU, interval.to, cells);
            }
            let mut times = (0.0, 0.0);
            for &at in &part.events {
                let Some(count) = interval.counts.get(at).copied().flatten() else { continue };
                let Some(name) = set.names.get(at) else { continue };
                let event = profile.text(name);
                let first = !part.raw.contains_key(&(cpu, at));
                let sums = part.raw.entry((cpu, at)).or_insert([0.0; 3]);
                let (enabled, running) = (count.enabled.unwrap_or(0.0), count.running.unwrap_or(0.0));
                for (sum, more) in sums.iter_mut().zip([count.raw, enabled, running]) {
                    *sum += more;
                }
                let known = count.enabled.is_some();
                let time = |value: f64| if known { value.round() as i64 } else { NULL };
                if first {
                    profile.row(&RAW, interval.from, vec![cpu, label, event, 0, time(0.0), time(0.0)]);
                }
                let cells = vec![cpu, label, event, sums[0].round() as i64, time(sums[1]), time(sums[2])];
                profile.row(&RAW, interval.to, cells);
                if enabled > times.0 {
                    times = (enabled, running);
                }
            }
            part.share.0 += times.0;
            part.share.1 += times.1;
        }
    }

    /// Rows of the groups, when all CPUs of an interval are there.
    pub(crate) fn end_interval(&mut self, profile: &mut Profile, to: i64) {
        for set in &mut self.sets {
            for part in &mut set.parts {
                let (enabled, running) = std::mem::take(&mut part.share);
                let share = if enabled > 0.0 { real(running / enabled) } else { NULL };
                let names: Vec<&str> =
                    part.events.iter().filter_map(|at| set.names.get(*at)).map(String::as_str).collect();
                let cells =
                    vec![profile.text(&part.label), share, profile.text(&names.join(" ")), profile.text(&self.absent)];
                profile.row(&GROUP, to, cells);
            }
        }
    }
}

impl Part {
    fn new(label: String, plan: Plan, events: Vec<usize>) -> Part {
        Part { label, plan, events, sums: HashMap::new(), raw: HashMap::new(), share: (0.0, 0.0) }
    }
}

/// A metric that the tool has computed, or defined.
pub(crate) fn metric(profile: &mut Profile, at: i64, group: &str, name: &str, value: Option<f64>) {
    let value = value.filter(|value| value.is_finite()).map_or(NULL, real);
    let cells = vec![profile.text(group), profile.text(name), value];
    profile.row(&METRIC, at, cells);
}

fn is_base(name: &str) -> bool {
    matches!(name, "cycles" | "instructions" | "slots")
}

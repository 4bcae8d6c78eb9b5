//! Which events are counted together: what the CPU has of each group, tested, and split where there are too few counters.

use super::devices::Device;
use super::exercise;
use counters::{Formula, Group, HARDWARE, Section};
use host::Host;
use host::counting::{Counting, Event, Reading, Whom};

/// Events that are counted together.
#[derive(Clone, Debug, Default)]
pub struct Chunk {
    /// The group, as it is called in tables.
    pub label: String,
    /// Which of the groups asked for it is of.
    pub group: usize,
    /// Name and encoding of each event.
    pub events: Vec<(String, Event)>,
    /// Columns that are computed.
    pub computed: Vec<(String, Formula)>,
}

impl Chunk {
    /// The events and what can be computed of them.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.events.iter().map(|(name, _)| name.as_str()).collect();
        for (name, formula) in &self.computed {
            let is_there = |part: &str| counters::CONSTANTS.contains(&part) || names.contains(&part);
            if formula.names().into_iter().all(is_there) {
                names.push(name);
            }
        }
        names
    }
}

/// What of one group can be counted, and what cannot.
#[derive(Clone, Debug, Default)]
pub struct Planned {
    /// Its parts; several where there are too few counters for all of it at once.
    pub chunks: Vec<Chunk>,
    /// What is missing, and why.
    pub absent: Vec<(String, String)>,
}

/// What a device can count.
#[derive(Debug)]
pub struct Planner<'a> {
    host: &'a Host,
    /// The device.
    pub device: &'a Device,
    /// Whether it is the only PMU of CPUs.
    is_only: bool,
    vendor: String,
    /// The counters that samples will have.
    _held: Vec<Counting>,
    /// Events that it can count at once, where that could be found out.
    pub counters: usize,
}

/// How an event did in the test.
#[derive(Clone, Debug, PartialEq)]
enum Tested {
    Counts,
    /// Open, and at nothing: what it should have counted.
    Mute,
    /// It had no counter, together with the others.
    TooLarge,
    Refused(String),
}

impl<'a> Planner<'a> {
    /// Finds out how many events the device counts at once, beside those that samples are taken by.
    pub fn new(host: &'a Host, device: &'a Device, is_only: bool, sampled_by: &[Event]) -> Self {
        let vendor = host.read_text("/sys/class/dmi/id/sys_vendor").unwrap_or_default();
        let held = sampled_by.iter().filter_map(|event| Counting::open(host, &[*event], Whom::Held).ok()).collect();
        let mut planner = Planner { host, device, is_only, vendor, _held: held, counters: 0 };
        planner.counters = planner.probe();
        planner
    }

    /// The largest group of one event that has counters all the time.
    fn probe(&self) -> usize {
        let generic = |name: &str| {
            let encoding = counters::Encoding::Hardware(name.to_owned());
            self.device.encode(self.host, &encoding, self.is_only).ok()
        };
        let numbers = [HARDWARE[1], HARDWARE[0]].into_iter().filter_map(generic);
        numbers.map(|event| exercise::at_once(self.host, event)).find(|&number| number > 0).unwrap_or(0)
    }

    /// What of a group this device can count.
    pub fn plan(&self, number: usize, group: &Group, cpu: &str) -> Planned {
        let mut planned = Planned::default();
        let Some(section) = group.section(cpu).or_else(|| group.section("generic")) else {
            planned.absent.push((String::new(), format!("no events are known for this CPU ({cpu})")));
            return planned;
        };
        let events = self.events_of(section, &mut planned);
        let whole = Chunk { label: self.label(group), group: number, events, computed: section.computed.clone() };
        if whole.events.is_empty() {
            return planned;
        }
        let tested = self.test(&whole, section);
        if tested.contains(&Tested::TooLarge) {
            for (part, mut chunk) in self.split(&whole, group, &mut planned).into_iter().enumerate() {
                if part > 0 {
                    chunk.label = format!("{} {}", chunk.label, part + 1);
                }
                let tested = self.test(&chunk, section);
                self.keep(chunk, tested, &mut planned);
            }
        } else {
            self.keep(whole, tested, &mut planned);
        }
        // What says nothing but what the group `core` does is not worth a counter. Who writes a group has a reason.
        let is_own = !counters::groups().contains(group);
        let tells =
            |chunk: &Chunk| chunk.events.iter().any(|(name, _)| !is_base(name)) || group.name == "core" || is_own;
        planned.chunks.retain(tells);
        planned
    }

    /// What a group is called in tables.
    pub fn label(&self, group: &Group) -> String {
        if self.is_only { group.name.clone() } else { format!("{} {}", group.name, self.device.name) }
    }

    /// The events of a section that this machine opens.
    fn events_of(&self, section: &Section, planned: &mut Planned) -> Vec<(String, Event)> {
        let mut events = Vec::new();
        let mut all: Vec<_> = section.events.iter().collect();
        all.sort_by_key(|event| !event.leader);
        for event in all {
            let open = if event.only.is_empty() || event.only == self.vendor {
                self.device.encode(self.host, &event.encoding, self.is_only).and_then(|mut encoded| {
                    if self.device.lacks(self.host, &encoded) {
                        return Err("the CPU does not have it".to_owned());
                    }
                    encoded.kernel_only = event.kernel;
                    match Counting::open(self.host, &[encoded], Whom::Test) {
                        // Whether it is allowed is said when a CPU is opened.
                        Err(refused) if !refused.is_denied() => Err(refused.why()),
                        _ => Ok(encoded),
                    }
                })
            } else {
                Err(format!("only on {}", event.only))
            };
            match open {
                Ok(encoded) => events.push((event.name.clone(), encoded)),
                Err(why) => planned.absent.push((event.name.clone(), why)),
            }
        }
        events
    }

    /// Runs code that makes all of a group's events count that any code does.
    fn test(&self, chunk: &Chunk, section: &Section) -> Vec<Tested> {
        let events: Vec<Event> = chunk.events.iter().map(|(_, event)| *event).collect();
        let all = |tested: Tested| vec![tested; events.len()];
        let mut group = match Counting::open(self.host, &events, Whom::Test) {
            Ok(group) => group,
            Err(refused) if refused.is_too_large() => return all(Tested::TooLarge),
            Err(refused) if refused.is_denied() => return all(Tested::Counts),
            Err(refused) => {
                let mut tested = all(Tested::Counts);
                if let Some(one) = tested.get_mut(refused.event) {
                    *one = Tested::Refused(refused.why());
                }
                return tested;
            }
        };
        group.start();
        exercise::run_all();
        group.stop();
        let mut reading = Reading::default();
        if group.read(self.host, &mut reading).is_err() {
            return all(Tested::Counts);
        }
        if reading.running == 0 {
            return all(Tested::TooLarge);
        }
        let should = |name: &str| section.events.iter().any(|event| event.name == name && event.counts);
        let counts = chunk.events.iter().zip(&reading.counts);
        counts
            .map(|((name, _), &count)| if count == 0 && should(name) { Tested::Mute } else { Tested::Counts })
            .collect()
    }

    /// Adds a chunk without what does not count.
    fn keep(&self, mut chunk: Chunk, tested: Vec<Tested>, planned: &mut Planned) {
        if tested.contains(&Tested::TooLarge) {
            let names: Vec<&str> = chunk.events.iter().map(|(name, _)| name.as_str()).collect();
            let why = "they have no counters at the same time: others hold them".to_owned();
            planned.absent.push((names.join(", "), why));
            return;
        }
        let mut tested = tested.into_iter();
        chunk.events.retain(|(name, _)| {
            let why = match tested.next() {
                Some(Tested::Mute) => "opens, but does not count".to_owned(),
                Some(Tested::Refused(why)) => why,
                _ => return true,
            };
            if !planned.absent.iter().any(|(other, _)| other == name) {
                planned.absent.push((name.clone(), why));
            }
            false
        });
        let instructions = chunk.events.iter().find(|(name, _)| name == "instructions");
        if let Some(why) = instructions.and_then(|(_, event)| exercise::miscounts(self.host, *event)) {
            chunk.events.retain(|(name, _)| name != "instructions");
            planned.absent.push(("instructions".to_owned(), why));
        }
        if !chunk.events.is_empty() {
            planned.chunks.push(chunk);
        }
    }

    /// Divides a group into parts that have counters at the same time, each with cycles and instructions; what a metric needs stays together.
    fn split(&self, whole: &Chunk, group: &Group, planned: &mut Planned) -> Vec<Chunk> {
        let find = |name: &str| whole.events.iter().find(|(other, _)| other == name).cloned();
        let base: Vec<_> = ["cycles", "instructions"].into_iter().filter_map(find).collect();
        let mut chunks: Vec<Chunk> = Vec::new();
        for metric in &group.metrics {
            let mut names = Vec::new();
            metric.formula.names().into_iter().for_each(|name| needed(name, whole, 0, &mut names));
            let Some(events) = names.iter().map(|name| find(name)).collect::<Option<Vec<_>>>() else { continue };
            let mut more: Vec<_> = events.into_iter().filter(|event| !base.contains(event)).collect();
            let fits = |chunk: &Chunk| {
                let new = more.iter().filter(|event| !chunk.events.contains(event)).count();
                chunk.events.len() + new <= self.counters
            };
            let at = match chunks.iter().position(fits) {
                Some(at) => at,
                None if base.len() + more.len() > self.counters => {
                    let why = format!(
                        "takes {} counters at the same time, and there are {}",
                        base.len() + more.len(),
                        self.counters
                    );
                    planned.absent.push((metric.name.clone(), why));
                    continue;
                }
                None => {
                    chunks.push(Chunk { events: base.clone(), ..whole.clone() });
                    chunks.len() - 1
                }
            };
            if let Some(chunk) = chunks.get_mut(at) {
                more.retain(|event| !chunk.events.contains(event));
                chunk.events.append(&mut more);
            }
        }
        for chunk in &mut chunks {
            // The order in which they were told: a leader is the first.
            chunk.events.sort_by_key(|event| whole.events.iter().position(|other| other == event));
        }
        chunks
    }
}

fn is_base(name: &str) -> bool {
    name == "cycles" || name == "instructions"
}

/// The events that a column is made of.
fn needed(name: &str, whole: &Chunk, depth: usize, found: &mut Vec<String>) {
    // Columns are computed of those before them: deeper than there are columns is not possible.
    if depth > whole.computed.len() || counters::CONSTANTS.contains(&name) {
        return;
    }
    match whole.computed.iter().find(|(other, _)| other == name) {
        Some((_, formula)) => formula.names().into_iter().for_each(|name| needed(name, whole, depth + 1, found)),
        None if found.iter().any(|other| other == name) => {}
        None => found.push(name.to_owned()),
    }
}

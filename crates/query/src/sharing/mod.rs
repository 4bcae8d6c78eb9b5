//! Cache lines that threads fight over: tables `sharing_line`, `sharing_field`, `sharing_access`, `sharing_look` and `sharing_machine`, put together.
//! Where the CPU sampled accesses itself (PEBS, IBS, SPE), lines that it says came from other cores are told beside, by counts of these samples: they do
//! not tell time. Says of each line what kind of sharing it is, what part of the CPU time of its process goes to waiting for it, and how much faster it were without.

mod load;
mod moved;

pub use moved::{Moved, Sampled};

use std::collections::{BTreeMap, BTreeSet};

/// What a load that hits the nearest cache takes, ns: 4 to 5 cycles at some 3 GHz. Where it does not wait, the next instruction hides it.
const LOAD: f64 = 1.5;
/// A plain access whose time is not known is taken to cost so many times what it costs alone.
const UNKNOWN: f64 = 10.0;
/// Below these it is no finding: samples that waited, and the lower end of their part of the CPU time.
const SAMPLES: u64 = 5;
const PART: f64 = 0.02;
/// Others use the bytes themselves for this part of what they do to the line: then it is true sharing, as the bytes' own line would go to and fro too.
const SAME: f64 = 0.25;

/// A line whose others come less often than this, ns between two, does not move often enough to matter.
const RARELY: f64 = 20_000.0;

/// Kinds of sharing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Threads use different bytes of the line.
    False,
    /// They use the same bytes.
    True,
}

impl Kind {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Kind::False => "false",
            Kind::True => "true",
        }
    }
}

/// An instruction of a thread that uses a line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Access {
    /// Thread.
    pub tid: i64,
    /// Its name.
    pub thread: String,
    /// The function, innermost of those that were put into each other; empty where nobody tells.
    pub function: String,
    /// The function that the compiler has put it into.
    pub within: String,
    /// `file:line`.
    pub source: String,
    /// Address of the instruction in the process.
    pub code: u64,
    /// The instruction.
    pub text: String,
    /// First byte in the line.
    pub first: i64,
    /// How many; 0 where it is somewhere in the word.
    pub size: i64,
    /// What it does.
    pub reads: bool,
    /// What it does.
    pub writes: bool,
    /// Both in one step.
    pub atomic: bool,
    /// Samples that waited for it.
    pub waited: u64,
    /// CPU time of these, seconds.
    pub wait: f64,
    /// Of that what is more than the same takes with the line for itself, seconds.
    pub excess: f64,
    /// Samples nearby.
    pub seen: u64,
    /// Hits of a watchpoint.
    pub hits: u64,
    /// ns that watchpoints were armed for them.
    pub armed: f64,
    /// CPU time between executions, ns.
    pub period: Option<f64>,
    /// Accesses that the CPU sampled itself.
    pub sampled: u64,
    /// Of these, those whose data came from the cache of another core.
    pub from_core: u64,
    /// Of those, where that core had changed them (HITM).
    pub modified: u64,
    /// Of those from another core, those of which the CPU told how long they took, and their cycles.
    pub timed: u64,
    /// Cycles.
    pub cycles: u64,
}

impl Access {
    /// The bytes.
    pub fn bytes(&self) -> std::ops::Range<i64> {
        match self.size {
            0 => self.first / 8 * 8..self.first / 8 * 8 + 8,
            size => self.first..self.first + size,
        }
    }

    /// What it does, in a word.
    pub fn deed(&self) -> &'static str {
        match (self.atomic, self.reads, self.writes) {
            (true, ..) => "atomic",
            (_, true, true) => "read, write",
            (_, _, true) => "write",
            _ => "read",
        }
    }

    fn overlaps(&self, other: &Access) -> bool {
        self.bytes().start < other.bytes().end && other.bytes().start < self.bytes().end
    }

    /// How often it was met.
    fn activity(&self) -> f64 {
        match self.waited + self.seen + self.sampled {
            // Hits are few by design: as many samples as make it count.
            0 if self.hits > 0 => 1.0 + self.hits as f64 / 8.0,
            met => met as f64,
        }
    }

    /// It comes often enough to take the line away. A watchpoint that hits 8 times at once tells no more than that.
    fn is_frequent(&self) -> bool {
        self.waited + self.seen + self.sampled >= 3 || self.hits > 0 && self.armed / (self.hits as f64) < RARELY * 2.0
    }
}

/// A field or an element of what lies in a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Field {
    /// First byte in the line; negative where it begins before.
    pub first: i64,
    /// Bytes.
    pub size: i64,
    /// Its path.
    pub name: String,
    /// Its type.
    pub of_type: String,
}

/// A line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// Its number in the recording.
    pub number: i64,
    /// The process.
    pub pid: i64,
    /// Its name.
    pub comm: String,
    /// Its first byte in that process.
    pub address: u64,
    /// The kind of memory; empty where nobody tells.
    pub memory: String,
    /// The variable, type or class.
    pub name: String,
    /// Where it is declared.
    pub source: String,
    /// The file that has it.
    pub module: String,
    /// Address of what lies there.
    pub start: Option<u64>,
    /// Bytes.
    pub size: Option<i64>,
    /// What else is known.
    pub note: String,
    /// In order.
    pub fields: Vec<Field>,
    /// Those that are waited for most first.
    pub accesses: Vec<Access>,
    /// What it is, if it is worth a word.
    pub kind: Option<Kind>,
    /// Seconds of CPU time that threads waited for it beyond what it takes alone.
    pub excess: f64,
    /// Samples that waited.
    pub waited: u64,
    /// Watchpoints have seen two threads at it.
    pub proven: bool,
    /// What the CPU sampled of it itself.
    pub moved: Moved,
}

impl Line {
    /// The fields that an access goes to, in the order of their places. Of members of a union only one has the bytes: that which is exactly what is
    /// accessed, else the largest.
    pub fn fields_of(&self, access: &Access) -> Vec<&Field> {
        let bytes = access.bytes();
        let end = |field: &Field| field.first + field.size.max(1);
        let of_it = self.fields.iter().filter(|field| field.first < bytes.end && bytes.start < end(field));
        let mut candidates: Vec<&Field> = of_it.collect();
        candidates.sort_by_key(|field| ((field.first..end(field)) != bytes, -field.size));
        let mut found: Vec<&Field> = Vec::new();
        for field in candidates {
            if found.iter().all(|other| end(other) <= field.first || end(field) <= other.first) {
                found.push(field);
            }
        }
        found.sort_by_key(|field| field.first);
        found
    }

    /// Threads that use it.
    pub fn threads(&self) -> BTreeSet<i64> {
        self.accesses.iter().map(|a| a.tid).collect()
    }

    /// Whether several threads write the same bytes again and again.
    fn several_write(&self) -> bool {
        let writes = || self.accesses.iter().filter(|a| a.writes && a.is_frequent());
        writes().any(|a| writes().any(|b| b.tid != a.tid && a.overlaps(b)))
    }

    /// Whether several threads write, and each other bytes than the others.
    fn writers_are_apart(&self) -> bool {
        let writers: BTreeSet<i64> =
            self.accesses.iter().filter(|a| a.writes && a.is_frequent()).map(|a| a.tid).collect();
        writers.len() > 1 && !self.several_write()
    }

    /// What the line is, without the place in it: lines of one array are one thing.
    pub fn thing(&self) -> String {
        if self.name.is_empty() {
            return format!("line {:#x}", self.address);
        }
        self.name.clone()
    }
}

/// Lines of one thing of a process.
#[derive(Clone, Debug, PartialEq)]
pub struct Thing {
    /// What it is called.
    pub name: String,
    /// Its process.
    pub pid: i64,
    /// Name of that.
    pub comm: String,
    /// What most of the time is.
    pub kind: Kind,
    /// The lines, by index, those with most time first.
    pub lines: Vec<usize>,
    /// Seconds.
    pub excess: f64,
    /// Part of the CPU time of its process, with its 95 % interval.
    pub part: (f64, f64, f64),
    /// How many times as fast the process's code were without, with the interval.
    pub speedup: (f64, f64, f64),
    /// Functions that wait, with their seconds, most first.
    pub functions: Vec<(String, f64)>,
    /// Fields that take part.
    pub fields: Vec<String>,
}

/// What watchpoints took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Watched {
    /// Watchpoints.
    pub set: i64,
    /// Hits.
    pub hits: i64,
    /// Seconds.
    pub armed: f64,
    /// Seconds without a rest.
    pub longest: f64,
}

/// All of a recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sharing {
    /// Lines.
    pub lines: Vec<Line>,
    /// Findings, most time first.
    pub things: Vec<Thing>,
    /// CPU time of the threads that were looked at, seconds, by process.
    pub looked: BTreeMap<i64, f64>,
    /// The same by thread.
    pub of_thread: BTreeMap<i64, f64>,
    /// The same by name of the process.
    pub of_comm: BTreeMap<String, f64>,
    /// A line from one CPU to another, ns.
    pub transfer: Option<f64>,
    /// An atomic addition while another CPU adds to the same line, ns.
    pub contended: Option<f64>,
    /// An atomic addition alone, ns.
    pub atomic: Option<f64>,
    /// What watching took, if it was asked for.
    pub watched: Option<Watched>,
    /// Accesses that the CPU sampled itself, by process; empty where it did not.
    pub sampled: BTreeMap<i64, Sampled>,
    /// Of these, the lines that came from other cores, by index, those that did most often first.
    pub moved: Vec<usize>,
}

impl Sharing {
    /// What to do about a finding.
    pub fn advice(&self, thing: &Thing) -> String {
        let line = thing.lines.first().and_then(|&at| self.lines.get(at));
        if let Some(line) = line.filter(|line| !line.note.is_empty()) {
            return line.note.clone();
        }
        advice(thing.kind).into()
    }

    /// Says of each line what it is, and puts those of one thing together.
    fn judge(&mut self) {
        let atomic = self.atomic.unwrap_or(6.0);
        let contended = self.contended.unwrap_or(6.0 * atomic);
        for line in &mut self.lines {
            judge(line, &self.looked, &self.of_thread, atomic, contended);
            line.moved = Moved::of(line);
        }
        self.lines.sort_by(|a, b| b.excess.total_cmp(&a.excess).then(a.number.cmp(&b.number)));
        self.order_moved();
        let mut things: Vec<Thing> = Vec::new();
        let mut kinds: BTreeMap<usize, [f64; 2]> = BTreeMap::new();
        let mut samples: BTreeMap<usize, u64> = BTreeMap::new();
        for (at, line) in self.lines.iter().enumerate() {
            let Some(kind) = line.kind else { continue };
            let name = line.thing();
            let place = things.iter().position(|t| t.name == name && t.pid == line.pid).unwrap_or_else(|| {
                let (pid, comm) = (line.pid, line.comm.clone());
                let none = (0.0, 0.0, 0.0);
                let (functions, fields) = (Vec::new(), Vec::new());
                things.push(Thing {
                    name,
                    pid,
                    comm,
                    kind,
                    lines: Vec::new(),
                    excess: 0.0,
                    part: none,
                    speedup: none,
                    functions,
                    fields,
                });
                things.len() - 1
            });
            let Some(thing) = things.get_mut(place) else { continue };
            thing.lines.push(at);
            thing.excess += line.excess;
            kinds.entry(place).or_default()[kind as usize] += line.excess;
            *samples.entry(place).or_default() += line.waited;
            for access in line.accesses.iter().filter(|a| a.excess > 0.0) {
                match thing.functions.iter_mut().find(|(name, _)| *name == access.function) {
                    Some((_, seconds)) => *seconds += access.excess,
                    None => thing.functions.push((access.function.clone(), access.excess)),
                }
            }
            for access in line.accesses.iter().filter(|a| a.excess > 0.0 || a.writes) {
                for field in line.fields_of(access) {
                    if !thing.fields.contains(&field.name) {
                        thing.fields.push(field.name.clone());
                    }
                }
            }
        }
        for (place, thing) in things.iter_mut().enumerate() {
            thing.kind = kind(kinds.get(&place).copied().unwrap_or_default());
            let all = self.looked.get(&thing.pid).copied().unwrap_or(0.0);
            let part = (thing.excess / all).min(0.99);
            // As a count of samples: its standard deviation is the root.
            let n = samples.get(&place).copied().unwrap_or(1).max(1) as f64;
            let off = 1.96 * ((1.0 - part).max(0.0) / n).sqrt();
            thing.part = (part, (part * (1.0 - off)).max(0.0), (part * (1.0 + off)).min(0.99));
            let of = |part: f64| 1.0 / (1.0 - part);
            thing.speedup = (of(thing.part.0), of(thing.part.1), of(thing.part.2));
            thing.functions.sort_by(|a, b| b.1.total_cmp(&a.1));
        }
        things.retain(|thing| thing.part.1 >= PART);
        things.sort_by(|a, b| b.excess.total_cmp(&a.excess));
        self.things = things;
    }
}

fn advice(kind: Kind) -> &'static str {
    match kind {
        Kind::False => {
            "give each thread's part a cache line of its own: alignas(64) or padding (@Contended in Java, CachePadded in Rust), or copies per thread; keep what is only read apart from what is written"
        }
        Kind::True => "copies per thread that are put together now and then, batches, or a look before the write",
    }
}

/// The kind of seconds of false and of true sharing.
fn kind([of_false, of_true]: [f64; 2]) -> Kind {
    if of_true > of_false { Kind::True } else { Kind::False }
}

fn judge(line: &mut Line, looked: &BTreeMap<i64, f64>, of_thread: &BTreeMap<i64, f64>, atomic: f64, contended: f64) {
    let all = looked.get(&line.pid).copied().unwrap_or(0.0);
    if all <= 0.0 || line.threads().len() < 2 {
        return;
    }
    let several = line.several_write();
    let mut kinds = [0.0f64; 2];
    let mut all_excess = 0.0;
    let mut excesses = Vec::with_capacity(line.accesses.len());
    for access in &line.accesses {
        let others =
            || line.accesses.iter().filter(|o| o.tid != access.tid && (o.writes || access.writes) && o.is_frequent());
        let same: f64 = others().filter(|o| o.overlaps(access)).map(Access::activity).sum();
        // Bytes that several write, this thread too, come to it and go whatever lies beside them.
        let own = |o: &Access| line.accesses.iter().any(|a| a.tid == access.tid && a.is_frequent() && a.overlaps(o));
        let others_apart = || others().filter(|o| !o.overlaps(access));
        let joint: f64 = others_apart().filter(|o| several && own(o)).map(Access::activity).sum();
        let same = same + joint;
        let different = others_apart().map(Access::activity).sum::<f64>() - joint;
        let mut excess = 0.0;
        if access.waited > 0 && same + different > 0.0 {
            let alone = if access.atomic { atomic } else { LOAD };
            // All samples of that instruction, of all threads, wait as long for each of its executions.
            let takes = match access.period {
                Some(period) => {
                    let of_code = |o: &&Access| o.code == access.code && o.tid == access.tid;
                    let wait: f64 = line.accesses.iter().filter(of_code).map(|o| o.wait).sum();
                    let time = of_thread.get(&access.tid).copied().filter(|time| *time > 0.0).unwrap_or(all);
                    period * wait / time
                }
                None if access.atomic => contended,
                None => UNKNOWN * alone,
            };
            excess = access.wait * (1.0 - alone / takes.max(alone));
        }
        excesses.push(excess);
        all_excess += excess;
        if excess > 0.0 {
            let is_same = same / (same + different) >= SAME;
            kinds[usize::from(is_same)] += excess;
        }
    }
    for (access, excess) in line.accesses.iter_mut().zip(excesses) {
        access.excess = excess;
    }
    line.excess = all_excess;
    line.waited = line.accesses.iter().filter(|a| a.excess > 0.0).map(|a| a.waited).sum();
    let watched: BTreeSet<i64> = line.accesses.iter().filter(|a| a.hits > 0).map(|a| a.tid).collect();
    line.proven = watched.len() > 1 && line.accesses.iter().any(|a| a.hits > 0 && a.writes);
    if line.waited >= SAMPLES && all_excess / all >= PART / 8.0 {
        // Words of which each has one thread that writes it: with a line for each, each moves on its own account alone.
        line.kind = Some(if line.writers_are_apart() { Kind::False } else { kind(kinds) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(tid: i64, first: i64, waited: u64, writes: bool) -> Access {
        let wait = waited as f64 / 1e3;
        let (reads, atomic) = (true, writes);
        Access { tid, first, size: 8, waited, wait, reads, writes, atomic, seen: 10, code: 64, ..Access::default() }
    }

    fn judged(accesses: Vec<Access>, seconds: f64) -> Sharing {
        let line = Line { number: 1, pid: 7, name: "tallies".into(), accesses, ..Line::default() };
        let mut sharing = Sharing {
            lines: vec![line],
            looked: [(7, seconds)].into(),
            of_thread: [(1, seconds / 2.0), (2, seconds / 2.0)].into(),
            transfer: Some(60.0),
            contended: Some(60.0),
            atomic: Some(5.0),
            ..Sharing::default()
        };
        sharing.judge();
        sharing
    }

    #[test]
    fn different_bytes_are_false_and_the_same_are_true_sharing() {
        let of_false = judged(vec![access(1, 0, 400, true), access(2, 8, 400, true)], 1.0);
        assert_eq!(of_false.things.len(), 1);
        assert_eq!(of_false.things[0].kind, Kind::False);
        // 0.8 s, less a twelfth that the additions take alone.
        assert!((of_false.things[0].part.0 - 0.8 * 55.0 / 60.0).abs() < 1e-9, "{:?}", of_false.things[0]);
        let of_true = judged(vec![access(1, 0, 400, true), access(2, 0, 400, true)], 1.0);
        assert_eq!(of_true.things[0].kind, Kind::True);
        // One waits for a word that another never writes.
        let mut constant = access(2, 0, 0, false);
        constant.atomic = false;
        let read = judged(vec![access(1, 8, 300, true), constant, access(2, 16, 300, true)], 1.0);
        assert_eq!(read.things[0].kind, Kind::False);
    }

    #[test]
    fn of_the_members_of_a_union_one_is_named() {
        let field = |first, size, name: &str| Field { first, size, name: name.into(), of_type: String::new() };
        let bytes = (0..16).map(|at| field(at, 1, &format!("bytes[{at}]")));
        let fields =
            bytes.chain([field(0, 4, "lock"), field(0, 8, "align"), field(4, 4, "count"), field(16, 8, "sum")]);
        let line = Line { fields: fields.collect(), ..Line::default() };
        let names = |first, size| {
            let access = Access { first, size, ..Access::default() };
            line.fields_of(&access).iter().map(|field| field.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(names(0, 4), ["lock"]);
        assert_eq!(names(0, 8), ["align"]);
        assert_eq!(names(4, 2), ["align"]);
        assert_eq!(names(9, 1), ["bytes[9]"]);
        assert_eq!(
            names(0, 24),
            [
                "align",
                "bytes[8]",
                "bytes[9]",
                "bytes[10]",
                "bytes[11]",
                "bytes[12]",
                "bytes[13]",
                "bytes[14]",
                "bytes[15]",
                "sum"
            ]
        );
        assert_eq!(names(32, 8), [""; 0]);
    }

    #[test]
    fn nothing_is_found_where_nobody_waits_longer_than_alone() {
        // Readers only.
        let reads = judged(vec![access(1, 0, 500, false), access(2, 0, 500, false)], 1.0);
        assert!(reads.things.is_empty());
        // One thread.
        assert!(judged(vec![access(1, 0, 500, true)], 1.0).things.is_empty());
        // An addition every 5 ns: it does not wait.
        let quick = |tid| Access { period: Some(6.0), ..access(tid, 0, 400, true) };
        assert!(judged(vec![quick(1), quick(2)], 1.0).things.is_empty());
        // Who writes comes rarely.
        let mut rare = access(2, 0, 0, true);
        (rare.seen, rare.hits, rare.armed) = (0, 1, 3e6);
        assert!(judged(vec![access(1, 0, 500, false), rare], 1.0).things.is_empty());
    }
}

//! Pauses of a JFR file: of collections, with why they were and what they freed, and of other operations of the JVM.

use crate::profile::Profile;
use crate::rows::Pause;
use model::NULL;
use std::collections::HashMap;

/// A stretch of time with the number of a collection or a safepoint, and texts by their cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) number: i64,
    pub(super) at: i64,
    pub(super) time: i64,
    pub(super) name: i64,
}

/// A collection.
#[derive(Clone, Copy, Debug, Default)]
struct Collection {
    collector: Option<&'static str>,
    cause: Option<i64>,
    before: Option<i64>,
    after: Option<i64>,
}

/// What was met of pauses, until all of it is known.
#[derive(Debug, Default)]
pub(super) struct Pauses {
    collections: HashMap<i64, Collection>,
    pauses: Vec<Part>,
    operations: Vec<Part>,
    /// By number of the safepoint: how long it took to stop all threads.
    to_stop: HashMap<i64, i64>,
    collector: Option<&'static str>,
}

/// What kind of collection a collector's name stands for. Those of concurrent collectors are pauses of a cycle.
fn kind(collector: &str) -> &'static str {
    match collector {
        "G1Full" | "ParallelOld" | "SerialOld" | "PSMarkSweep" | "ParOld" => "full",
        "G1New" | "DefNew" | "ParNew" | "ParallelScavenge" | "PSNew" => "young",
        _ => "concurrent",
    }
}

/// A collector in a word, as the names of its pauses begin.
fn short(collector: &str) -> Option<&'static str> {
    let known = [
        ("G1", "G1"),
        ("Parallel", "Parallel"),
        ("PS", "Parallel"),
        ("DefNew", "Serial"),
        ("Serial", "Serial"),
        ("Z", "ZGC"),
    ];
    let other = [("Shenandoah", "Shenandoah"), ("ParNew", "CMS"), ("ConcurrentMarkSweep", "CMS")];
    known.into_iter().chain(other).find(|(begin, _)| collector.starts_with(begin)).map(|(_, name)| name)
}

impl Pauses {
    pub(super) fn collection(&mut self, number: i64, collector: &str, cause: i64) {
        self.collector = self.collector.or_else(|| short(collector));
        let of = self.collections.entry(number).or_default();
        (of.collector, of.cause) = (Some(kind(collector)), Some(cause));
    }

    pub(super) fn heap(&mut self, number: i64, when: &str, used: i64) {
        let of = self.collections.entry(number).or_default();
        if when.starts_with("Before") { of.before = Some(used) } else { of.after = Some(used) }
    }

    pub(super) fn pause(&mut self, part: Part) {
        self.pauses.push(part);
    }

    pub(super) fn operation(&mut self, part: Part) {
        self.operations.push(part);
    }

    pub(super) fn stopped(&mut self, safepoint: i64, time: i64) {
        let of = self.to_stop.entry(safepoint).or_insert(0);
        *of = of.saturating_add(time);
    }

    /// Makes rows of it.
    pub(super) fn write(mut self, pid: i64, comm: i64, profile: &mut Profile) {
        profile.collector = self.collector.map(str::to_owned);
        self.pauses.sort_by_key(|p| p.at);
        self.operations.sort_by_key(|p| p.at);
        let mut operations = self.operations.iter().peekable();
        let mut alone: Vec<&Part> = Vec::new();
        for pause in &self.pauses {
            // The VM thread runs one operation after the other; what ended before this pause began had none.
            while let Some(before) = operations.next_if(|o| o.at.saturating_add(o.time) < pause.at) {
                alone.push(before);
            }
            let operation = operations.peek().filter(|o| o.at <= pause.at);
            let of = self.collections.get(&pause.number).copied().unwrap_or_default();
            // Of a cycle that stopped being one, and of collectors whose pauses have names of their own.
            let full = profile.symbols.text(pause.name).is_some_and(|name| name.contains("Full"));
            let kind = match of.collector {
                _ if full => "full",
                Some(kind) => kind,
                None => "concurrent",
            };
            // A cycle has several pauses, and the heap at its beginning and its end is that of none of them.
            let whole = kind != "concurrent";
            let row = Pause {
                pid,
                comm,
                kind: profile.text(kind),
                operation: operation.map_or(NULL, |o| o.name),
                cause: of.cause.unwrap_or(NULL),
                at: pause.at,
                time: pause.time,
                to_stop: operation.and_then(|o| self.to_stop.get(&o.number)).copied().unwrap_or(NULL),
                used_before: of.before.filter(|_| whole).unwrap_or(NULL),
                used_after: of.after.filter(|_| whole).unwrap_or(NULL),
            };
            row.put(profile);
        }
        // An operation may have held several pauses, and is none of its own then.
        alone.extend(operations);
        let pauses = &self.pauses;
        alone.retain(|o| {
            let after = pauses.partition_point(|p| p.at < o.at);
            pauses.get(after).is_none_or(|p| p.at > o.at.saturating_add(o.time))
        });
        let kind = profile.text("operation");
        for o in alone {
            let to_stop = self.to_stop.get(&o.number).copied().unwrap_or(NULL);
            let (cause, used) = (NULL, NULL);
            let row = Pause {
                pid,
                comm,
                kind,
                operation: o.name,
                cause,
                at: o.at,
                time: o.time,
                to_stop,
                used_before: used,
                used_after: used,
            };
            row.put(profile);
        }
    }
}

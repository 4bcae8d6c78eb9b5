//! What threads ran in stretches of time of their own: while a request lay there unread, say. There are few samples in them, so that one function is told,
//! through which most of them go.

use super::load::Dictionary;
use super::tree::{ROOT, Tree};
use model::{NULL, Symbols};
use std::collections::HashMap;
use store::Recording;

/// Samples lie on milliseconds; what lies so near to a stretch is in it, nanoseconds.
const ROUNDED: i64 = 500_000;

/// Reads may be late by so much, nanoseconds.
const LATER: i64 = 1_000_000_000;

/// A function is told if such a part of the samples went through it.
const MOST: f64 = 0.5;

/// Which threads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Of {
    /// The one with this number.
    Thread(i64),
    /// Those of this name.
    Name(String),
}

/// A stretch of one thread, nanoseconds since the start of the recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Whose.
    pub of: Of,
    /// From here.
    pub from: i64,
    /// To here.
    pub to: i64,
}

/// The function through which most samples went.
#[derive(Clone, Debug, PartialEq)]
pub struct Ran {
    /// Its name.
    pub function: String,
    /// Its part of the CPU time in the stretches.
    pub share: f64,
    /// How many samples there were.
    pub samples: usize,
}

/// The samples in stretches, several groups of them: a tree with a weight for each group.
#[derive(Debug)]
pub struct Stretches {
    tree: Tree,
    samples: Vec<usize>,
}

impl Stretches {
    /// So many groups, without samples yet.
    pub fn new(groups: usize) -> Self {
        Stretches { tree: Tree::new(groups), samples: vec![0; groups] }
    }

    /// Adds the samples that a recording has in each group of stretches. A sample counts once in a group.
    pub fn add(&mut self, recording: &Recording, groups: &[Vec<Stretch>]) {
        let mut by: HashMap<&Of, Vec<(i64, i64, usize)>> = HashMap::new();
        for (group, stretch) in groups.iter().enumerate().flat_map(|(at, g)| g.iter().map(move |s| (at, s))) {
            by.entry(&stretch.of).or_default().push((stretch.from - ROUNDED, stretch.to + ROUNDED, group));
        }
        let all = || by.values().flatten();
        let Some((first, last)) = all().map(|s| s.0).min().zip(all().map(|s| s.1).max()) else { return };
        // A row is written with the read after its sample.
        let later = recording.manifest().interval.max(LATER).saturating_mul(2);
        let between = Some((first, last.saturating_add(later)));
        let mut names: HashMap<i64, bool> = HashMap::new();
        let mut sums: HashMap<(usize, u32), (i64, usize)> = HashMap::new();
        let mut symbols = Symbols::default();
        let columns = ["tid", "thread", "at", "stack", "weight"];
        let mut rows: Vec<[i64; 5]> = Vec::new();
        recording.scan("sample", &columns, between, &mut symbols, |batch| {
            for row in 0..batch.len() {
                let cells = [0, 1, 2, 3, 4].map(|column| batch.cell(column, row));
                if cells[2] != NULL && (first..=last).contains(&cells[2]) {
                    rows.push(cells);
                }
            }
        });
        for [tid, thread, at, stack, weight] in rows {
            let is_named = *names.entry(thread).or_insert_with(|| {
                symbols.text(thread).is_some_and(|name| by.contains_key(&Of::Name(name.to_owned())))
            });
            let name = if is_named { symbols.text(thread).map(|name| Of::Name(name.to_owned())) } else { None };
            let both = [by.get(&Of::Thread(tid)), name.and_then(|name| by.get(&name))];
            let mut within: Vec<usize> =
                both.into_iter().flatten().flatten().filter(|s| s.0 <= at && at <= s.1).map(|s| s.2).collect();
            within.sort_unstable();
            within.dedup();
            let stack = u32::try_from(stack).unwrap_or(0);
            for group in within {
                let sum = sums.entry((group, stack)).or_default();
                *sum = (sum.0.saturating_add(weight.max(0)), sum.1 + 1);
            }
        }
        if sums.is_empty() {
            return;
        }
        let mut dictionary = Dictionary::load(recording, &mut self.tree, false);
        let unknown = self.tree.intern("[unknown]", "", "", "other");
        for ((group, stack), (weight, count)) in sums {
            let node = dictionary.node(&mut self.tree, ROOT, stack, unknown);
            self.tree.add(node, group, weight as f64 / 1e9);
            if let Some(samples) = self.samples.get_mut(group) {
                *samples += count;
            }
        }
    }

    /// The innermost function of a group that has most of its time, the program's own if there is one; `None` where there is no sample.
    pub fn ran(&self, group: usize) -> Option<Ran> {
        let totals = self.tree.totals(group);
        let total = |node: u32| totals.get(node as usize).copied().unwrap_or(0.0);
        let whole = total(ROOT);
        let mut children: HashMap<u32, u32> = HashMap::new();
        for node in (1..self.tree.len() as u32).filter(|node| whole > 0.0 && total(*node) >= MOST * whole) {
            let best = children.entry(self.tree.parent(node)).or_insert(node);
            if total(node) > total(*best) {
                *best = node;
            }
        }
        let mut way = Vec::new();
        let mut at = ROOT;
        while let Some(&child) = children.get(&at) {
            way.push(child);
            at = child;
        }
        let frame = |node: &u32| self.tree.frame(*node);
        let is_own = |node: &&u32| frame(node).is_some_and(|f| &*f.kind != "kernel" && !f.name.starts_with('['));
        let place = way.iter().rev().find(is_own).or(way.last())?;
        Some(Ran {
            function: frame(place)?.name.to_string(),
            share: total(*place) / whole,
            samples: self.samples.get(group).copied().unwrap_or(0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, FRAME, SAMPLE, STACK};

    #[test]
    fn samples_of_threads_in_their_stretches() {
        let frames = "t number function module build_id offset source kind
0 1 main /bin/app - 1 - native
0 2 work /bin/app - 2 - native
0 3 hash /bin/app - 3 - native
0 4 copy [kernel] - 4 - kernel
0 5 sweep /bin/vm - 5 - native";
        // 1 main, 2 main;work, 3 main;work;hash, 4 main;work;copy, 5 sweep
        let stacks = "t number parent frame
0 1 0 1
0 2 1 2
0 3 2 3
0 4 2 4
0 5 0 5";
        let samples = "t pid tid comm thread at cpu stack weight
1 10 10 app main 100000000 0 1 10000000
1 10 10 app main 200000000 0 3 10000000
1 10 10 app main 210000000 0 4 10000000
1 10 10 app main 220000000 0 4 10000000
1 10 11 app vm 210000000 0 5 10000000
1 10 11 app vm 400000000 0 5 10000000";
        let run = testing::run("app", &[(&FRAME, frames), (&STACK, stacks), (&SAMPLE, samples)]);
        let stretch =
            |of: &Of, from: i64, to: i64| Stretch { of: of.clone(), from: from * 1_000_000, to: to * 1_000_000 };
        let (main, vm) = (Of::Thread(10), Of::Name("vm".into()));
        let mut found = Stretches::new(4);
        let groups = [
            vec![stretch(&main, 150, 215), stretch(&main, 205, 230)],
            vec![stretch(&vm, 150, 230)],
            vec![stretch(&main, 90, 110), stretch(&main, 190, 201)],
            vec![stretch(&main, 300, 500), stretch(&Of::Name("none".into()), 0, 500)],
        ];
        found.add(&run.recording, &groups);
        let ran = |group| found.ran(group).map(|r| (r.function, (r.share * 100.0).round(), r.samples));
        assert_eq!(ran(0), Some(("work".into(), 100.0, 3)), "where it parts; the kernel is not the program's");
        assert_eq!(ran(1), Some(("sweep".into(), 100.0, 1)));
        assert_eq!(ran(2), Some(("hash".into(), 50.0, 2)));
        assert_eq!(ran(3), None);
        let none = testing::run("none", &[]);
        found.add(&none.recording, &groups);
    }
}

//! Lines that the CPU says came from the caches of other cores (PEBS, IBS, SPE): how often, what that took, and what kind of sharing it is. Samples of
//! the CPU count accesses; they do not tell what part of the CPU time goes to waiting.

use super::{Access, Kind, Line, SAME, SAMPLES, Sharing, advice, kind};

/// What the CPU sampled of a line itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Accesses.
    pub sampled: u64,
    /// Of these, those whose data came from the cache of another core.
    pub from_core: u64,
    /// Of those, where that core had changed them (HITM).
    pub modified: u64,
    /// Of those from another core, those of which the CPU told how long they took.
    pub timed: u64,
    /// Cycles that these took.
    pub cycles: u64,
    /// The kind of sharing, where threads were sampled that do it.
    pub kind: Option<Kind>,
}

impl Moved {
    /// What the CPU sampled of a line, and what kind of sharing that is: by whether others use the bytes of those accesses whose data came from another core.
    pub(super) fn of(line: &Line) -> Moved {
        let mut of = Moved::default();
        let mut kinds = [0.0f64; 2];
        for access in &line.accesses {
            of.sampled += access.sampled;
            of.from_core += access.from_core;
            of.modified += access.modified;
            of.timed += access.timed;
            of.cycles += access.cycles;
            let others = || line.accesses.iter().filter(|o| o.tid != access.tid && (o.writes || access.writes));
            let same: f64 = others().filter(|o| o.overlaps(access)).map(Access::activity).sum();
            let all: f64 = others().map(Access::activity).sum();
            if access.from_core > 0 && all > 0.0 {
                kinds[usize::from(same / all >= SAME)] += access.from_core as f64;
            }
        }
        if kinds[0] + kinds[1] > 0.0 {
            of.kind = Some(if line.writers_are_apart() { Kind::False } else { kind(kinds) });
        }
        of
    }

    /// Cycles of an access whose data came from another core.
    pub fn mean(&self) -> Option<f64> {
        (self.timed > 0).then(|| self.cycles as f64 / self.timed as f64)
    }
}

/// Accesses that the CPU sampled itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sampled {
    /// How many.
    pub samples: u64,
    /// Cycles that they took, as far as the CPU told.
    pub cycles: u64,
}

impl Sharing {
    /// Puts those together that came often enough.
    pub(super) fn order_moved(&mut self) {
        let moves = |line: &Line| line.moved.from_core >= SAMPLES;
        self.moved = (0..self.lines.len()).filter(|&at| self.lines.get(at).is_some_and(moves)).collect();
        self.moved.sort_by_key(|&at| {
            let moved = self.lines.get(at).map(|line| line.moved).unwrap_or_default();
            std::cmp::Reverse((moved.from_core, moved.cycles))
        });
    }

    /// What to do about a line that the CPU says came from other cores; `None` where it is not told what kind of sharing it is.
    pub fn advice_of(&self, line: &Line) -> Option<String> {
        if !line.note.is_empty() {
            return Some(line.note.clone());
        }
        line.moved.kind.map(|kind| advice(kind).into())
    }

    /// The part of the cycles of all accesses that the CPU sampled of the process which went to those of a line whose data came from another core.
    pub fn part_of_cycles(&self, line: &Line) -> Option<f64> {
        let all = self.sampled.get(&line.pid)?.cycles;
        (all > 0 && line.moved.timed > 0).then(|| (line.moved.cycles as f64 / all as f64).min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn lines_that_the_cpu_says_came_from_other_cores() {
        let of = |tid, first, sampled, from_core, writes: bool| Access {
            tid,
            first,
            code: 64 + tid as u64,
            reads: !writes,
            writes,
            sampled,
            from_core,
            modified: from_core,
            timed: from_core,
            cycles: 200 * from_core,
            ..Access::default()
        };
        let judged = |accesses: Vec<Access>| {
            let line = Line { number: 1, pid: 7, accesses, ..Line::default() };
            let sampled = BTreeMap::from([(7, Sampled { samples: 100, cycles: 4000 })]);
            let mut sharing = Sharing { lines: vec![line], sampled, ..Sharing::default() };
            sharing.judge();
            sharing
        };
        // One reads the first word, another writes the second: 10 of 20 loads came from there, 200 cycles each.
        let apart = judged(vec![of(1, 0, 20, 10, false), of(2, 8, 30, 0, true)]);
        let moved = apart.lines[0].moved;
        assert_eq!((&apart.moved[..], apart.things.len()), (&[0][..], 0));
        assert_eq!((moved.sampled, moved.from_core, moved.modified, moved.mean()), (50, 10, 10, Some(200.0)));
        assert_eq!(moved.kind, Some(Kind::False));
        assert_eq!(apart.part_of_cycles(&apart.lines[0]), Some(0.5));
        assert!(apart.advice_of(&apart.lines[0]).unwrap().contains("alignas"));
        assert_eq!(judged(vec![of(1, 8, 20, 10, false), of(2, 8, 30, 0, true)]).lines[0].moved.kind, Some(Kind::True));
        // Who changed it was not sampled: the kind is not told. Too few samples are no finding.
        let alone = judged(vec![of(1, 0, 20, 10, false)]);
        assert_eq!((alone.moved.len(), alone.lines[0].moved.kind, alone.advice_of(&alone.lines[0])), (1, None, None));
        assert!(judged(vec![of(1, 0, 20, 4, false), of(2, 8, 30, 0, true)]).moved.is_empty());
    }
}

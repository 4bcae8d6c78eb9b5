//! From what was counted by class, and the stacks of some, to rows.

use crate::counted::{Sums, Taken, shared_out};
use crate::tally::{Fields, trimmed};
use crate::thin::Span;
use model::NULL;
use std::collections::{BTreeMap, HashMap};

/// Bytes of `struct key`, with the epoch; and how many numbers follow it in a record: bytes, time, thread, and two of its name.
pub(super) const KEY: usize = 4 + 4 + 8 + 4 + 4 + 16;
pub(super) const NUMBERS: usize = 5;

/// What was allocated of a class of which no stack was taken waits so long for one, nanoseconds.
const PATIENCE: u64 = 10_000_000_000;

/// The key of an allocation, as allocation.bpf.c lays it out behind the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub pid: u32,
    pub klass: u64,
    pub is_outside: bool,
    comm: [u8; 16],
}

impl Key {
    pub fn of(bytes: &[u8]) -> Self {
        let mut fields = Fields::of(bytes);
        let (pid, klass, outside, _zero) = (fields.u32(), fields.u64(), fields.u32(), fields.u32());
        Key { pid, klass, is_outside: outside != 0, comm: fields.name() }
    }

    pub fn comm(&self) -> &[u8] {
        trimmed(&self.comm)
    }
}

/// A row of the table.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub key: Key,
    /// Number of the thread, and its name; none where no stack was taken.
    pub thread: Option<(u32, [u8; 16])>,
    pub stack: i64,
    /// CLOCK_MONOTONIC, nanoseconds.
    pub at: u64,
    pub bytes: u64,
    pub count: u64,
}

/// What was counted and has no stack yet.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    count: u64,
    bytes: u64,
    since: u64,
}

/// Puts rows together.
#[derive(Debug, Default)]
pub(super) struct Rows {
    waiting: BTreeMap<Vec<u8>, Waiting>,
}

impl Rows {
    /// The rows of what was counted up to `now` in such a part of the time. Where it is the last time, nothing waits any more. `again`: what was taken
    /// is what the read before found, and gives its stacks to these sums as well, with the time of this read.
    pub fn of(&mut self, sums: Sums, taken: Vec<Taken>, span: Span, now: u64, (again, last): (bool, bool)) -> Vec<Row> {
        for (key, values) in sums {
            let [count, bytes] = [0, 1].map(|at: usize| span.scaled(values.get(at).copied().unwrap_or(0)));
            let waiting = self.waiting.entry(key).or_insert(Waiting { count: 0, bytes: 0, since: now });
            waiting.count = waiting.count.saturating_add(count);
            waiting.bytes = waiting.bytes.saturating_add(bytes);
        }
        let mut by_key: HashMap<Vec<u8>, Vec<Taken>> = HashMap::new();
        for event in taken {
            by_key.entry(event.key.clone()).or_default().push(event);
        }
        let mut rows = Vec::new();
        self.waiting.retain(|key, waiting| {
            let Waiting { count, bytes, since } = *waiting;
            let Some(events) = by_key.remove(key) else {
                let waits = !last && now.saturating_sub(since) < PATIENCE;
                if !waits {
                    rows.push(Row { key: Key::of(key), thread: None, stack: NULL, at: now, bytes, count });
                }
                return waits;
            };
            let weights: Vec<u64> = events.iter().map(|event| number(event, 0).max(1)).collect();
            let shares = shared_out(bytes, &weights).into_iter().zip(shared_out(count, &weights));
            for (event, (bytes, count)) in events.iter().zip(shares) {
                let name = [number(event, 3), number(event, 4)].map(u64::to_ne_bytes).concat();
                let thread = Some((number(event, 2) as u32, Fields::of(&name).name()));
                let at = if again { now } else { number(event, 1) };
                rows.push(Row { key: Key::of(key), thread, stack: event.stack, at, bytes, count });
            }
            false
        });
        rows
    }
}

fn number(event: &Taken, at: usize) -> u64 {
    event.sums.get(at).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(pid: u32, klass: u64) -> Vec<u8> {
        let mut bytes = pid.to_ne_bytes().to_vec();
        bytes.extend_from_slice(&klass.to_ne_bytes());
        bytes.extend_from_slice(&[1, 0, 0, 0, 0, 0, 0, 0]);
        bytes.extend_from_slice(b"java\0\0\0\0\0\0\0\0\0\0\0\0");
        bytes
    }

    fn taken(klass: u64, bytes: u64, at: u64, stack: i64) -> Taken {
        let name = [*b"worker-1", *b"\0\0\0\0\0\0\0\0"].map(u64::from_ne_bytes);
        Taken { key: key(7, klass), sums: vec![bytes, at, 71, name[0], name[1]], stack }
    }

    #[test]
    fn bytes_of_a_class_are_shared_out_over_its_stacks() {
        let mut rows = Rows::default();
        let sums = Sums::from([(key(7, 1), vec![10, 1000]), (key(7, 2), vec![1, 50])]);
        let events = vec![taken(1, 300, 5, 40), taken(1, 100, 6, 41)];
        let found = rows.of(sums, events, Span::ALL, 100, (false, false));
        let told: Vec<_> = found.iter().map(|row| (row.key.klass, row.stack, row.at, row.bytes, row.count)).collect();
        assert_eq!(told, [(1, 40, 5, 750, 7), (1, 41, 6, 250, 3)]);
        let (tid, name) = found[0].thread.unwrap();
        assert_eq!((tid, trimmed(&name), found[0].key.comm()), (71, &b"worker-1"[..], &b"java"[..]));
        assert!(found[0].key.is_outside && found[0].key.pid == 7);
        // The other class has had no stack yet; what more of it was counted goes with its first.
        let sums = Sums::from([(key(7, 2), vec![2, 30])]);
        assert!(rows.of(sums, Vec::new(), Span::ALL, 200, (false, false)).is_empty());
        let found = rows.of(Sums::new(), vec![taken(2, 10, 250, 50)], Span::ALL, 300, (false, false));
        assert_eq!(found.iter().map(|row| (row.bytes, row.count, row.stack)).collect::<Vec<_>>(), [(80, 3, 50)]);
        assert!(rows.waiting.is_empty());
    }

    #[test]
    fn nothing_waits_for_ever() {
        let mut rows = Rows::default();
        let sums = |bytes| Sums::from([(key(7, 1), vec![1, bytes])]);
        assert!(rows.of(sums(8), Vec::new(), Span::ALL, 1, (false, false)).is_empty());
        let found = rows.of(sums(16), Vec::new(), Span::ALL, 1 + PATIENCE, (false, false));
        assert_eq!(
            found.iter().map(|row| (row.bytes, row.stack, row.at)).collect::<Vec<_>>(),
            [(24, NULL, 1 + PATIENCE)]
        );
        let found = rows.of(sums(32), Vec::new(), Span::ALL, 2 + PATIENCE, (false, true));
        assert_eq!((found[0].bytes, found[0].thread), (32, None));
        // What stands for the time after it is of now.
        let found = rows.of(sums(8), vec![taken(1, 8, 1, 2)], Span::ALL, 9, (true, true));
        assert_eq!(found[0].at, 9);
    }

    proptest! {
        #[test]
        fn no_byte_is_lost_or_made_up(
            counted in prop::collection::vec((0u64..5, 0u64..100, 0u64..1 << 40), 0..30),
            seen in prop::collection::vec((0u64..5, 0u64..1 << 40, any::<i64>()), 0..30)
        ) {
            let mut rows = Rows::default();
            let (mut all, mut sums) = ([0u64; 2], Sums::new());
            for (klass, count, bytes) in counted {
                let into = sums.entry(key(7, klass)).or_insert_with(|| vec![0, 0]);
                (into[0], into[1]) = (into[0] + count, into[1] + bytes);
                (all[0], all[1]) = (all[0] + count, all[1] + bytes);
            }
            let events = seen.into_iter().map(|(klass, bytes, stack)| taken(klass, bytes, 1, stack)).collect();
            let found = rows.of(sums, events, Span::ALL, 5, (false, true));
            prop_assert_eq!(found.iter().map(|row| row.bytes).sum::<u64>(), all[1]);
            prop_assert_eq!(found.iter().map(|row| row.count).sum::<u64>(), all[0]);
        }
    }
}

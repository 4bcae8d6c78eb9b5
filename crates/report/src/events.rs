//! Event rows on their way into the block of columns: what they are told apart by, what adds up, and the stretches of time that they are
//! about. Rows beyond a limit are merged over longer stretches, which costs resolution in time and nothing else.

use crate::columns::{Column, Columns};
use std::collections::HashMap;

/// Most keys, sums and greatest values of a row.
pub(crate) const KEYS: usize = 8;
pub(crate) const SUMS: usize = 3;
pub(crate) const MOSTS: usize = 2;

/// Lengths of the stretches that rows are merged over, nanoseconds, until few enough are left; each is a multiple of the one before, so that
/// merging twice is merging once. 10 ms is two samples at the usual rate.
const WIDTHS: [i64; 11] = [
    10_000_000,
    20_000_000,
    100_000_000,
    200_000_000,
    1_000_000_000,
    2_000_000_000,
    10_000_000_000,
    20_000_000_000,
    60_000_000_000,
    600_000_000_000,
    3_600_000_000_000,
];

/// One row. `from` equals `to` for what happened at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Event {
    pub(crate) run: u32,
    pub(crate) from: i64,
    pub(crate) to: i64,
    pub(crate) key: [u32; KEYS],
    pub(crate) sum: [i64; SUMS],
    pub(crate) most: [i64; MOSTS],
}

/// What the places of an [`Event`] are called, in order. Keys that are texts have `true`.
pub(crate) struct Shape {
    pub(crate) table: &'static str,
    pub(crate) keys: Vec<(&'static str, bool)>,
    /// `true` for nanoseconds, `false` for counts.
    pub(crate) sums: Vec<(&'static str, bool)>,
    pub(crate) most: Vec<(&'static str, bool)>,
    /// At most about so many rows.
    pub(crate) limit: usize,
}

/// The stretches that rows are about, each stored once.
#[derive(Debug, Default)]
pub(crate) struct Ticks {
    numbers: HashMap<(u32, i64, i64), u32>,
    list: Vec<(u32, i64, i64)>,
}

impl Ticks {
    /// The number of a stretch, from 0.
    pub(crate) fn number(&mut self, run: u32, from: i64, to: i64) -> u32 {
        let list = &mut self.list;
        *self.numbers.entry((run, from, to)).or_insert_with(|| {
            list.push((run, from, to));
            list.len() as u32 - 1
        })
    }

    /// Writes the table `tick`.
    pub(crate) fn finish(self, columns: &mut Columns) {
        // Tenths of a millisecond.
        let tenths = |ns: i64| u32::try_from((ns + 50_000) / 100_000).unwrap_or(0);
        let of = |part: fn(&(u32, i64, i64)) -> i64| self.list.iter().map(|t| tenths(part(t))).collect::<Vec<u32>>();
        columns.table(
            "tick",
            &[
                Column::exact("run", self.list.iter().map(|t| t.0).collect()),
                Column::rising("from", of(|t| t.1)).scaled(1e-4),
                Column::rising("length", of(|t| t.2 - t.1)).scaled(1e-4),
            ],
        );
    }
}

/// Adds rows of equal keys and stretches together, over longer stretches while there are more than `limit`.
pub(crate) fn merge(mut events: Vec<Event>, limit: usize) -> Vec<Event> {
    together(&mut events);
    for width in WIDTHS {
        if events.len() <= limit {
            break;
        }
        widen(&mut events, width);
    }
    events
}

/// The least length of stretches of which `most` cover so many nanoseconds.
pub(crate) fn width_for(duration: i64, most: i64) -> i64 {
    WIDTHS.into_iter().find(|width| duration / width <= most).unwrap_or(WIDTHS[WIDTHS.len() - 1])
}

/// Adds rows of equal keys together over stretches of this length, in nanoseconds. A row that is longer than that stays as it is.
pub(crate) fn widen(events: &mut Vec<Event>, width: i64) {
    for event in events.iter_mut() {
        if event.to - event.from < width {
            let middle = event.from + (event.to - event.from) / 2;
            event.from = middle.div_euclid(width) * width;
            event.to = event.from + width;
        }
    }
    together(events);
}

pub(crate) fn together(events: &mut Vec<Event>) {
    events.sort_unstable();
    events.dedup_by(|next, kept| {
        let same = (next.run, next.from, next.to, next.key) == (kept.run, kept.from, kept.to, kept.key);
        if same {
            kept.sum.iter_mut().zip(next.sum).for_each(|(a, b)| *a = a.saturating_add(b));
            kept.most.iter_mut().zip(next.most).for_each(|(a, b)| *a = (*a).max(b));
        }
        same
    });
}

/// Merges rows and writes them as a table.
pub(crate) fn write(shape: &Shape, events: Vec<Event>, ticks: &mut Ticks, columns: &mut Columns) {
    let events = merge(events, shape.limit);
    if events.is_empty() {
        return;
    }
    let mut out =
        vec![Column::rising("tick", events.iter().map(|e| ticks.number(e.run, e.from, e.to)).collect::<Vec<u32>>())];
    for (i, (name, text)) in shape.keys.iter().enumerate() {
        let cells = events.iter().filter_map(|e| e.key.get(i)).copied().collect();
        out.push(if *text { Column::text(name, cells) } else { Column::exact(name, cells) });
    }
    let amounts = |name: &'static str, time: bool, cells: Vec<i64>| {
        if time { Column::seconds(name, &cells) } else { Column::counts(name, &cells) }
    };
    for (i, (name, time)) in shape.sums.iter().enumerate() {
        out.push(amounts(name, *time, events.iter().filter_map(|e| e.sum.get(i)).copied().collect()));
    }
    for (i, (name, time)) in shape.most.iter().enumerate() {
        out.push(amounts(name, *time, events.iter().filter_map(|e| e.most.get(i)).copied().collect()));
    }
    columns.table(shape.table, &out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_loses_no_weight() {
        let event = |at: i64, stack: u32| Event {
            from: at,
            to: at,
            key: [stack, 0, 0, 0, 0, 0, 0, 0],
            sum: [10, 1, 0],
            most: [at, 0],
            ..Event::default()
        };
        let events: Vec<Event> = (0..10_000).map(|i| event(i64::from(i) * 1_000_000, i as u32 % 3)).collect();
        let merged = merge(events.clone(), 600);
        assert!(merged.len() <= 600, "{}", merged.len());
        assert_eq!(merged.iter().map(|e| e.sum[0]).sum::<i64>(), 100_000);
        assert_eq!(merged.iter().map(|e| e.sum[1]).sum::<i64>(), 10_000);
        assert_eq!(merged.iter().map(|e| e.most[0]).max(), Some(9_999_000_000));
        assert!(merged.iter().all(|e| e.to - e.from == 100_000_000));
        assert_eq!(merge(events.clone(), 20_000).len(), 10_000, "few rows stay as they are");
        let (first, second) = events.split_at(5000);
        let twice = merge(merge(first.to_vec(), 300).into_iter().chain(second.iter().copied()).collect(), 600);
        assert_eq!(twice, merged, "part by part gives the same");
    }
}

//! Fewer reads of a table: all those of a stretch of time become its last one. Counts and sums stay what they were; what is lost is when within
//! a stretch they grew, and the levels in between.

use crate::segment::Block;
use model::{Column, Fold, NULL, Table, Type};
use std::collections::HashMap;

/// The rows of one segment with one read for each `length` nanoseconds; the first read, from which counters are taken, stays. Also the times of
/// the reads that are left.
pub(crate) fn coarsen(
    table: &Table,
    columns: &[Column],
    block: &Block,
    ticks: &[i64],
    length: i64,
) -> (Block, Vec<i64>) {
    let length = length.max(1);
    let ends = |i: usize| match (ticks.get(i), ticks.get(i + 1)) {
        (Some(now), Some(next)) => i == 0 || now.div_euclid(length) != next.div_euclid(length),
        _ => true,
    };
    let mut kept = Vec::new();
    let place: Vec<i32> = (0..ticks.len())
        .map(|i| {
            let place = kept.len() as i32;
            if ends(i) {
                kept.extend(ticks.get(i));
            }
            place
        })
        .collect();
    let labels = columns.iter().filter(|c| c.is_label()).count();
    let row = |i: usize| -> Vec<i64> { block.columns.iter().map(|c| c.get(i).copied().unwrap_or(NULL)).collect() };
    let at = |i: usize| block.tick.get(i).and_then(|&t| place.get(usize::try_from(t).ok()?)).copied().unwrap_or(0);
    let mut rows: Vec<(i32, Vec<i64>)> = Vec::new();
    if table.dictionary || labels == 0 || labels == columns.len() {
        rows.extend((0..block.tick.len()).map(|i| (at(i), row(i))));
    } else {
        let mut order: Vec<Vec<usize>> = Vec::new();
        let mut entities: HashMap<Vec<i64>, usize> = HashMap::new();
        for i in 0..block.tick.len() {
            let key = columns.iter().zip(row(i)).filter(|(c, _)| c.is_label()).map(|(_, cell)| cell).collect();
            let entity = *entities.entry(key).or_insert_with(|| {
                order.push(Vec::new());
                order.len() - 1
            });
            if let Some(of_entity) = order.get_mut(entity) {
                of_entity.push(i);
            }
        }
        for of_entity in order {
            let of_entity = of_entity.into_iter().map(|i| (at(i), row(i)));
            if table.events {
                rows.extend(summed(columns, of_entity));
            } else {
                rows.extend(last(columns, of_entity, kept.len() as i32));
            }
        }
    }
    let tick = rows.iter().map(|(tick, _)| *tick).collect();
    let cells = (0..columns.len()).map(|c| rows.iter().map(|(_, row)| row.get(c).copied().unwrap_or(NULL)).collect());
    (Block { tick, columns: cells.collect() }, kept)
}

/// Events of one kind: those of a stretch become one row.
fn summed(columns: &[Column], rows: impl Iterator<Item = (i32, Vec<i64>)>) -> Vec<(i32, Vec<i64>)> {
    let mut found: Vec<(i32, Vec<i64>)> = Vec::new();
    for (tick, row) in rows {
        match found.last_mut().filter(|(known, _)| *known == tick) {
            Some((_, sum)) => {
                for ((column, sum), cell) in columns.iter().zip(sum).zip(row).filter(|((c, _), _)| !c.is_label()) {
                    *sum = together(column, *sum, cell);
                }
            }
            None => found.push((tick, row)),
        }
    }
    found
}

/// Two cells of a column as one.
fn together(column: &Column, a: i64, b: i64) -> i64 {
    if a == NULL || b == NULL {
        return if a == NULL { b } else { a };
    }
    if column.ty == Type::Real {
        let (a, b) = (f64::from_bits(a as u64), f64::from_bits(b as u64));
        return model::real(match column.fold {
            Fold::Sum => a + b,
            Fold::Mean => f64::midpoint(a, b),
            Fold::Max => a.max(b),
        });
    }
    match (column.ty, column.fold) {
        (Type::Text, _) => b,
        (_, Fold::Sum) => a.saturating_add(b),
        (_, Fold::Mean) => a.midpoint(b),
        (_, Fold::Max) => a.max(b),
    }
}

/// Counters and levels of one entity: the last row of each stretch. An entity that ends within one is there until its end, and gone from the
/// next one on, for what it counted last must be seen.
fn last(columns: &[Column], rows: impl Iterator<Item = (i32, Vec<i64>)>, ticks: i32) -> Vec<(i32, Vec<i64>)> {
    let is_gone = |row: &[i64]| columns.iter().zip(row).all(|(column, cell)| column.is_label() || *cell == NULL);
    let mut found: Vec<(i32, Vec<i64>)> = Vec::new();
    let mut gone: Option<(i32, Vec<i64>)> = None;
    for (tick, row) in rows {
        if is_gone(&row) {
            let seen = found.last().is_some_and(|(known, _)| *known == tick);
            gone = Some((if seen { tick + 1 } else { tick }, row));
            continue;
        }
        if let Some(ended) = gone.take().filter(|(end, _)| *end < tick) {
            found.push(ended);
        }
        match found.last_mut().filter(|(known, _)| *known == tick) {
            Some((_, known)) => *known = row,
            None => found.push((tick, row)),
        }
    }
    found.extend(gone.filter(|(end, _)| *end < ticks));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Unit;

    static COUNTS: Table = Table::wide(
        "count",
        "counts",
        &[Column::number("number", "its number"), Column::counter("n", Unit::None, "a count")],
    );
    static EVENTS: Table = Table::wide(
        "event",
        "events",
        &[
            Column::number("number", "its number"),
            Column::gauge("n", Unit::None, "how many"),
            Column::gauge("longest", Unit::None, "the longest").folded(Fold::Max),
        ],
    )
    .of_events();

    fn block(rows: &[&[i64]]) -> Block {
        let column = |c: usize| rows.iter().map(|row| row[c]).collect::<Vec<i64>>();
        Block {
            tick: column(0).iter().map(|t: &i64| *t as i32).collect(),
            columns: (1..rows[0].len()).map(column).collect(),
        }
    }

    fn rows(of: &Block) -> Vec<Vec<i64>> {
        let row = |i: usize| std::iter::once(i64::from(of.tick[i])).chain(of.columns.iter().map(|c| c[i])).collect();
        (0..of.tick.len()).map(row).collect()
    }

    #[test]
    fn of_counters_the_last_read_of_a_stretch_is_left() {
        let ticks = [0, 2, 4, 6, 8, 10, 12, 14];
        let all = block(&[
            // One that counts all along, one that ends at 6, one that begins at 8 and ends at 14.
            &[0, 1, 10],
            &[1, 1, 11],
            &[2, 1, 12],
            &[4, 1, 14],
            &[5, 1, 15],
            &[7, 1, 17],
            &[0, 2, 5],
            &[2, 2, 6],
            &[3, 2, NULL],
            &[4, 3, 1],
            &[6, 3, 2],
            &[7, 3, NULL],
        ]);
        let (less, kept) = coarsen(&COUNTS, &COUNTS.stored(), &all, &ticks, 5);
        assert_eq!(kept, [0, 4, 8, 14]);
        assert_eq!(
            rows(&less),
            [
                vec![0, 1, 10],
                vec![1, 1, 12],
                vec![2, 1, 14],
                vec![3, 1, 17],
                vec![0, 2, 5],
                vec![1, 2, 6],
                vec![2, 2, NULL],
                vec![2, 3, 1],
                vec![3, 3, 2],
            ]
        );
    }

    #[test]
    fn events_of_a_stretch_add_up() {
        let all = block(&[&[0, 1, 3, 9], &[1, 1, 4, 7], &[2, 1, 5, 8], &[1, 2, 1, NULL], &[2, 2, 1, 4]]);
        let (less, kept) = coarsen(&EVENTS, &EVENTS.stored(), &all, &[0, 2, 4], 100);
        assert_eq!(kept, [0, 4]);
        assert_eq!(rows(&less), [vec![0, 1, 3, 9], vec![1, 1, 9, 8], vec![1, 2, 2, 4]]);
    }
}

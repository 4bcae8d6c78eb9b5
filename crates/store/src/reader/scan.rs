//! Tables of events as columns, one segment after the other, without sorting rows into entities: they can have millions of rows.

use super::recorders::Whose;
use super::{Recording, retain};
use crate::catalogue::Segment;
use crate::segment;
use model::{Column, NULL, Symbols, Type, Window};
use std::sync::mpsc;

/// Where the stretch begins that a row of events stands for, which was put down at `t`: at the read `before` it that is known, or one
/// `interval` before it where that is later, for reads without rows are not kept; never before the recording.
pub fn stretch_from(before: Option<i64>, t: i64, interval: i64) -> i64 {
    before.unwrap_or(0).max(t.saturating_sub(interval.max(0))).max(0).min(t)
}

/// The rows of one segment.
#[derive(Debug)]
pub struct Batch<'a> {
    ticks: &'a [i64],
    tick: &'a [i32],
    columns: Vec<&'a [i64]>,
    /// The strings that text cells refer to.
    pub symbols: &'a Symbols,
}

impl<'a> Batch<'a> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.tick.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tick.is_empty()
    }

    /// When a row was put down, nanoseconds since the start.
    pub fn t(&self, row: usize) -> i64 {
        let tick = self.tick.get(row).and_then(|&i| usize::try_from(i).ok());
        tick.and_then(|i| self.ticks.get(i)).copied().unwrap_or(NULL)
    }

    /// The read of this table before the one that put a row down, as far as these rows know it.
    pub fn before(&self, row: usize) -> Option<i64> {
        let tick = self.tick.get(row).and_then(|&i| usize::try_from(i).ok())?;
        self.ticks.get(tick.checked_sub(1)?).copied()
    }

    /// The part of a row that belongs to a window, 0 to 1, by the stretch that the row stands for ([`stretch_from`]). `interval` is the
    /// recording's.
    pub fn part(&self, row: usize, interval: i64, window: &Window) -> f64 {
        let t = self.t(row);
        window.part(stretch_from(self.before(row), t, interval), t)
    }

    /// The cells of the `n`th column that was asked for; empty where the table has no such column.
    pub fn column(&self, n: usize) -> &'a [i64] {
        self.columns.get(n).copied().unwrap_or(&[])
    }

    /// One cell; [`NULL`] where the table has no such column.
    pub fn cell(&self, n: usize, row: usize) -> i64 {
        self.column(n).get(row).copied().unwrap_or(NULL)
    }
}

/// A segment on its way to a decoder and back.
type Decoded = (Vec<i64>, Result<(segment::Block, Symbols), String>);

impl Recording {
    /// Calls `each` with the rows of a table of events but for those of recorders, segment by segment in the order of writing. `columns` are names of stored columns, labels or
    /// not; `between` leaves out segments that lie outside of a stretch, though rows outside it may come along. Strings are added to `symbols`.
    /// Damage is left out and said, as by [`Recording::load`]. Returns whether there is such a table.
    pub fn scan(
        &self,
        name: &str,
        columns: &[&str],
        between: Option<(i64, i64)>,
        symbols: &mut Symbols,
        mut each: impl FnMut(Batch<'_>),
    ) -> bool {
        let Some(&(id, _, table)) = self.tables.iter().find(|(_, _, t)| t.name == name) else { return false };
        let stored = table.stored();
        let whose = Whose::of(&stored);
        let mut wanted: Vec<bool> = stored.iter().map(|c| columns.contains(&c.name)).collect();
        for at in whose.into_iter().flat_map(Whose::columns) {
            if let Some(wanted) = wanted.get_mut(at) {
                *wanted = true;
            }
        }
        let places: Vec<Option<usize>> =
            columns.iter().map(|name| stored.iter().position(|c| c.name == *name)).collect();
        let (from, to) = between.unwrap_or((i64::MIN, i64::MAX));
        let mut give = |ticks: &[i64], tick: &[i32], cells: &[Vec<i64>], symbols: &Symbols| {
            let column = |place: &Option<usize>| place.and_then(|p| cells.get(p)).map_or(&[][..], Vec::as_slice);
            each(Batch { ticks, tick, columns: places.iter().map(column).collect(), symbols });
        };
        let mine = |s: &&Segment| s.table == i64::from(id) && s.to >= from && s.from <= to;
        let segments: Vec<&Segment> = self.segments.iter().filter(mine).collect();
        std::thread::scope(|scope| {
            // Decoding is most of the work, and needs nothing of the database: one thread each for two halves of the segments.
            let (jobs, ready) = (0..decoders(segments.len()))
                .map(|_| {
                    let (outside, inbox) = mpsc::sync_channel::<(Vec<i64>, Vec<u8>)>(2);
                    let (outbox, done) = mpsc::sync_channel::<Decoded>(2);
                    let (stored, wanted) = (&stored, &wanted);
                    scope.spawn(move || {
                        for (ticks, bytes) in inbox {
                            let mut symbols = Symbols::default();
                            let block = segment::decode(&bytes, stored, wanted, &mut symbols);
                            if outbox.send((ticks, block.map(|b| (b, symbols)))).is_err() {
                                break;
                            }
                        }
                    });
                    (outside, done)
                })
                .unzip::<_, _, Vec<_>, Vec<_>>();
            let mut take = |at: usize| {
                let Some(Ok((ticks, decoded))) = ready.get(at % ready.len().max(1)).map(mpsc::Receiver::recv) else {
                    return;
                };
                match decoded {
                    Ok((mut block, own)) => {
                        if let Some(whose) = whose {
                            let of = |row: usize| {
                                let cell = |at: usize| block.columns.get(at).and_then(|c| c.get(row)).copied();
                                let (pid, comm) = whose.cells(|at| cell(at).unwrap_or(NULL));
                                !self.recorders.have(pid, own.text(comm))
                            };
                            let stay: Vec<bool> = (0..block.tick.len()).map(of).collect();
                            retain(&mut block, &stay);
                        }
                        translate(&stored, &wanted, &mut block, &own, symbols);
                        give(&ticks, &block.tick, &block.columns, symbols);
                    }
                    Err(why) => self.bad_rows(name, &ticks, &why),
                }
            };
            let ahead = jobs.len() * 2;
            let mut sent = 0;
            let mut taken = 0;
            for segment in segments {
                let ticks = match self.ticks_of(segment) {
                    Ok(ticks) => ticks,
                    Err(why) => {
                        self.bad_ticks(name, segment.generation, &why);
                        continue;
                    }
                };
                let bytes = match segment.bytes(&self.opened.db) {
                    Ok(bytes) => bytes,
                    Err(why) => {
                        self.bad_rows(name, &ticks, &why);
                        continue;
                    }
                };
                if let Some(to) = jobs.get(sent % jobs.len().max(1))
                    && to.send((ticks, bytes)).is_ok()
                {
                    sent += 1;
                }
                if sent - taken >= ahead {
                    take(taken);
                    taken += 1;
                }
            }
            while taken < sent {
                take(taken);
                taken += 1;
            }
        });
        self.scan_tail((id, whose), &stored, &wanted, (from, to), symbols, &mut give);
        true
    }

    /// The rows that are not sealed yet.
    fn scan_tail(
        &self,
        (id, whose): (u32, Option<Whose>),
        stored: &[Column],
        wanted: &[bool],
        (from, to): (i64, i64),
        symbols: &mut Symbols,
        give: &mut impl FnMut(&[i64], &[i32], &[Vec<i64>], &Symbols),
    ) {
        let (mut ticks, mut tick) = (Vec::new(), Vec::new());
        let mut cells: Vec<Vec<i64>> = vec![Vec::new(); stored.len()];
        let chunks = self.tail.get(&id).into_iter().flatten();
        for chunk in chunks.filter(|c| c.width == stored.len() && (from..=to).contains(&c.t)) {
            for row in chunk.cells.chunks_exact(chunk.width.max(1)) {
                if whose.is_some_and(|whose| self.are_recorders(whose, row)) {
                    continue;
                }
                tick.push(ticks.len() as i32);
                for (((column, &wanted), &cell), into) in stored.iter().zip(wanted).zip(row).zip(&mut cells) {
                    match column.ty {
                        _ if !wanted => {}
                        Type::Text if cell != NULL => {
                            into.push(self.tail_symbols.get(&cell).map_or(NULL, |text| symbols.cell(text)));
                        }
                        _ => into.push(cell),
                    }
                }
            }
            ticks.push(chunk.t);
        }
        if !tick.is_empty() {
            give(&ticks, &tick, &cells, symbols);
        }
    }
}

pub(super) fn decoders(segments: usize) -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).clamp(1, 4).min(segments.max(1))
}

/// Turns the text cells of one segment, which was decoded by itself, into cells of all.
fn translate(stored: &[Column], wanted: &[bool], block: &mut segment::Block, own: &Symbols, all: &mut Symbols) {
    let map: Vec<i64> = (0..own.len() as i64).map(|cell| own.text(cell).map_or(NULL, |text| all.cell(text))).collect();
    for ((column, &wanted), cells) in stored.iter().zip(wanted).zip(&mut block.columns) {
        if wanted && column.ty == Type::Text {
            for cell in cells.iter_mut().filter(|c| **c != NULL) {
                *cell = usize::try_from(*cell).ok().and_then(|c| map.get(c)).copied().unwrap_or(NULL);
            }
        }
    }
}

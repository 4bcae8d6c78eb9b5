//! One table of one recording, decoded: entity by entity, each with its rows in time.

use model::{NULL, Symbols, Table};
use std::collections::HashMap;
use std::ops::Range;

/// What to decode.
#[derive(Clone, Debug, Default)]
pub struct Select<'a> {
    /// Only these stored value columns (labels always come along); `None` for all.
    pub columns: Option<&'a [&'a str]>,
    /// Only the generations that touch this stretch, nanoseconds. Rows outside it may come along. Dictionaries come whole.
    pub between: Option<(i64, i64)>,
    /// At most about so many ticks: beyond, every n-th is kept, which loses nothing of a counter but resolution. 0 for no limit.
    pub most_ticks: usize,
    /// The rows of recorders alone ([`model::Manifest::recorders`]); of all others otherwise.
    pub recorders: bool,
}

/// One entity of a frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Entity {
    /// Its labels, in the order of the table's stored label columns.
    pub labels: Vec<i64>,
    /// Its rows: indices into the frame's `tick` and `values`.
    pub rows: Range<usize>,
}

/// Rows of one table of one recording.
#[derive(Debug)]
pub struct Frame {
    /// The table.
    pub table: &'static Table,
    /// When the table was read, nanoseconds since the start, ascending.
    pub ticks: Vec<i64>,
    /// The entities, in the order of first sight.
    pub entities: Vec<Entity>,
    /// For each row, the index of its tick. Ascending within an entity.
    pub tick: Vec<u32>,
    /// For each stored value column, one cell a row; empty for columns that were not selected. A row whose cells are all
    /// [`NULL`] says that the entity is gone.
    pub values: Vec<Vec<i64>>,
    /// The strings that text cells refer to.
    pub symbols: Symbols,
    /// The names of the stored value columns.
    pub names: Vec<&'static str>,
    /// For each row, whether it says that the entity is gone.
    pub gone: Vec<bool>,
}

impl Frame {
    /// The cells of a stored value column; `None` where the table has no such column.
    pub fn column(&self, name: &str) -> Option<&[i64]> {
        let at = self.names.iter().position(|n| *n == name)?;
        self.values.get(at).map(Vec::as_slice)
    }

    /// The stretches of an entity's life as (range of ticks, rows): it lives from the first row's tick up to, and without, the end of the range.
    pub fn lives(&self, entity: &Entity) -> Vec<(Range<usize>, Range<usize>)> {
        let mut lives = Vec::new();
        let mut start = entity.rows.start;
        let tick_of = |row: usize| self.tick.get(row).map_or(0, |&t| t as usize);
        for row in entity.rows.clone() {
            if self.gone.get(row).copied().unwrap_or(false) {
                if start < row {
                    lives.push((tick_of(start)..tick_of(row), start..row));
                }
                start = row + 1;
            }
        }
        if start < entity.rows.end {
            lives.push((tick_of(start)..self.ticks.len(), start..entity.rows.end));
        }
        lives
    }
}

/// Builds a frame generation by generation.
pub(crate) struct Builder {
    table: &'static Table,
    wanted: Vec<bool>,
    /// Times kept, and for each time of the recording in order, the index of the first kept one at or after it.
    ticks: Vec<i64>,
    kept: HashMap<i64, u32>,
    by_labels: HashMap<Vec<i64>, usize>,
    entities: Vec<Growing>,
    pub(crate) symbols: Symbols,
    labels: usize,
}

struct Growing {
    labels: Vec<i64>,
    tick: Vec<u32>,
    gone: Vec<bool>,
    values: Vec<Vec<i64>>,
    alive: bool,
}

impl Builder {
    /// `times`: all times at which the table was read, ascending.
    pub(crate) fn new(table: &'static Table, select: &Select<'_>, times: &[i64]) -> Self {
        let stored = table.stored();
        let labels = table.label_width();
        let wanted = stored
            .iter()
            .enumerate()
            .map(|(i, c)| i < labels || select.columns.is_none_or(|names| names.contains(&c.name)))
            .collect();
        let step = match select.most_ticks {
            0 => 1,
            _ if table.events => 1,
            most => times.len().div_ceil(most).max(1),
        };
        let mut ticks: Vec<i64> = Vec::with_capacity(times.len() / step + 2);
        let mut kept = HashMap::with_capacity(times.len());
        for (i, &t) in times.iter().enumerate() {
            // The last tick of each stretch stands for it.
            let end = (i / step + 1) * step - 1;
            let stands = times.get(end.min(times.len() - 1)).copied().unwrap_or(t);
            if ticks.last() != Some(&stands) {
                ticks.push(stands);
            }
            kept.insert(t, ticks.len() as u32 - 1);
        }
        Builder {
            table,
            wanted,
            ticks,
            kept,
            by_labels: HashMap::new(),
            entities: Vec::new(),
            symbols: Symbols::default(),
            labels,
        }
    }

    /// Which stored columns are wanted.
    pub(crate) fn wanted(&self) -> &[bool] {
        &self.wanted
    }

    /// The table.
    pub(crate) fn table(&self) -> &'static Table {
        self.table
    }

    /// Adds the rows of one generation, given as columns sorted by entity and time; `tick` holds indices into `times`, `gone` whether a
    /// row says that its entity is gone.
    pub(crate) fn add(&mut self, times: &[i64], tick: &[i32], columns: &[Vec<i64>], gone: &[bool]) {
        let (label_columns, value_columns) = columns.split_at(self.labels.min(columns.len()));
        let first = times.first().and_then(|t| self.kept.get(t)).copied();
        let mut at_start: Vec<bool> = vec![false; self.entities.len()];
        let mut key = Vec::with_capacity(self.labels);
        for (row, &index) in tick.iter().enumerate() {
            let Some(&kept) = usize::try_from(index).ok().and_then(|i| times.get(i)).and_then(|t| self.kept.get(t))
            else {
                continue;
            };
            key.clear();
            key.extend(label_columns.iter().map(|c| c.get(row).copied().unwrap_or(NULL)));
            let entity = match self.by_labels.get(&key) {
                Some(&entity) => entity,
                None => {
                    self.by_labels.insert(key.clone(), self.entities.len());
                    let values = vec![Vec::new(); value_columns.len()];
                    self.entities.push(Growing {
                        labels: key.clone(),
                        tick: Vec::new(),
                        gone: Vec::new(),
                        values,
                        alive: false,
                    });
                    at_start.push(false);
                    self.entities.len() - 1
                }
            };
            if index == 0
                && let Some(seen) = at_start.get_mut(entity)
            {
                *seen = true;
            }
            let Some(growing) = self.entities.get_mut(entity) else { continue };
            let gone = gone.get(row).copied().unwrap_or(false);
            growing.push(kept, gone, value_columns.iter().map(|c| c.get(row).copied()), self.table);
        }
        // A generation begins with a full read: what is not in it is gone, though the word of that may be in a damaged segment.
        if let Some(first) = first
            && !self.table.events
        {
            for (growing, seen) in self.entities.iter_mut().zip(at_start) {
                let later = growing.tick.last().is_some_and(|&t| t > first);
                if !seen && growing.alive && !later && growing.tick.last() != Some(&first) {
                    let wanted = self.wanted.iter().skip(self.labels);
                    growing.push(first, true, wanted.map(|&w| w.then_some(NULL)), self.table);
                }
            }
        }
    }

    pub(crate) fn finish(self) -> Frame {
        let names: Vec<&'static str> = self.table.stored().iter().skip(self.labels).map(|c| c.name).collect();
        let rows: usize = self.entities.iter().map(|e| e.tick.len()).sum();
        let mut frame = Frame {
            table: self.table,
            ticks: self.ticks,
            entities: Vec::with_capacity(self.entities.len()),
            tick: Vec::with_capacity(rows),
            values: vec![Vec::new(); names.len()],
            symbols: self.symbols,
            names,
            gone: Vec::with_capacity(rows),
        };
        for entity in self.entities {
            let start = frame.tick.len();
            frame.tick.extend_from_slice(&entity.tick);
            frame.gone.extend_from_slice(&entity.gone);
            for (into, from) in frame.values.iter_mut().zip(&entity.values) {
                into.extend_from_slice(from);
            }
            frame.entities.push(Entity { labels: entity.labels, rows: start..start + entity.tick.len() });
        }
        frame
    }
}

impl Growing {
    fn push(&mut self, tick: u32, gone: bool, cells: impl Iterator<Item = Option<i64>>, table: &Table) {
        // Of several rows that fall on one kept tick, the last one counts; in a dictionary, of all.
        let replace =
            if table.events { table.dictionary && !self.tick.is_empty() } else { self.tick.last() == Some(&tick) };
        if !replace {
            self.tick.push(tick);
            self.gone.push(gone);
        } else if let Some(last) = self.gone.last_mut() {
            *last = gone;
        }
        for (column, cell) in self.values.iter_mut().zip(cells) {
            let Some(cell) = cell else { continue };
            match column.last_mut() {
                Some(last) if replace => *last = cell,
                _ => column.push(cell),
            }
        }
        self.alive = !gone;
    }
}

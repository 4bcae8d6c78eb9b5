//! Rows of an event table, column by column: labels and values alike, each row with the stretch of time that it is about.

use crate::columns::Columns;
use model::{NULL, Type};
use query::Run;
use std::collections::HashMap;
use store::{Frame, Select};

/// All rows of one event table of one recording.
pub(crate) struct Rows {
    frame: Frame,
    /// For each row, its entity.
    entity: Vec<u32>,
    /// Interval asked for, nanoseconds: how far back a row reaches at most, for reads without rows are not kept.
    interval: i64,
    /// Only rows that were read from here up to, and without, there.
    part: (i64, i64),
}

impl Rows {
    /// Reads a table; `None` where the recording has no such table, or no row of it.
    pub(crate) fn load(run: &Run, table: &str) -> Option<Rows> {
        Self::load_part(run, table, None, (i64::MIN, i64::MAX))
    }

    /// Reads the rows of a table that were read from one time up to, and without, another: so a long recording can be read part by part. Only
    /// these value columns, if any are named.
    pub(crate) fn load_part(run: &Run, table: &str, columns: Option<&[&str]>, part: (i64, i64)) -> Option<Rows> {
        let between = (part != (i64::MIN, i64::MAX)).then_some(part);
        let frame = run.recording.load(table, &Select { columns, between, ..Select::default() })?;
        if frame.tick.is_empty() {
            return None;
        }
        let entity =
            frame.entities.iter().enumerate().flat_map(|(i, e)| e.rows.clone().map(move |_| i as u32)).collect();
        Some(Rows { frame, entity, interval: run.recording.manifest().interval.max(1), part })
    }

    pub(crate) fn len(&self) -> usize {
        self.frame.tick.len()
    }

    /// The rows of the part: what is read comes segment by segment, and a segment can reach beyond it.
    pub(crate) fn indices(&self) -> impl Iterator<Item = usize> + use<'_> {
        let inside =
            |tick: u32| self.frame.ticks.get(tick as usize).is_some_and(|t| (self.part.0..self.part.1).contains(t));
        self.frame.tick.iter().enumerate().filter(move |(_, tick)| inside(**tick)).map(|(row, _)| row)
    }

    /// The cells of a column, label or value; all NULL where the table has no such column.
    pub(crate) fn cells(&self, name: &str) -> Vec<i64> {
        if let Some(cells) = self.frame.column(name) {
            // A column that was not asked for is empty.
            return if cells.is_empty() { vec![NULL; self.len()] } else { cells.to_vec() };
        }
        let stored = self.frame.table.stored();
        match stored.iter().position(|c| c.name == name && c.is_label()) {
            None => vec![NULL; self.len()],
            Some(at) => {
                let label = |e: &u32| self.frame.entities.get(*e as usize).and_then(|e| e.labels.get(at)).copied();
                self.entity.iter().map(|e| label(e).unwrap_or(NULL)).collect()
            }
        }
    }

    /// The cells of the first label: what a dictionary numbers its entries by.
    pub(crate) fn ids(&self) -> Vec<i64> {
        self.frame.table.labels().next().map_or_else(Vec::new, |c| self.cells(c.name))
    }

    /// Numbers of a column; what was not read counts as nothing.
    pub(crate) fn numbers(&self, name: &str) -> Vec<i64> {
        self.cells(name).into_iter().map(|c| if c == NULL { 0 } else { c }).collect()
    }

    /// Numbers of a column of reals; what was not read is `None`.
    pub(crate) fn reals(&self, name: &str) -> Vec<Option<f64>> {
        let real = self.frame.table.stored().iter().any(|c| c.name == name && c.ty == Type::Real);
        let value = |c: i64| match c {
            NULL => None,
            _ if real => model::real_of(c),
            _ => Some(c as f64),
        };
        self.cells(name).into_iter().map(value).collect()
    }

    /// Texts of a column, numbered in `into`; 0 for none.
    pub(crate) fn texts(&self, name: &str, into: &mut Columns) -> Vec<u32> {
        let mut known: HashMap<i64, u32> = HashMap::new();
        let mut number = |cell: i64| {
            *known.entry(cell).or_insert_with(|| self.frame.symbols.text(cell).map_or(0, |text| into.string(text)))
        };
        self.cells(name).into_iter().map(|c| if c == NULL { 0 } else { number(c) }).collect()
    }

    /// The text of a cell.
    pub(crate) fn text(&self, cell: i64) -> Option<&str> {
        if cell == NULL { None } else { self.frame.symbols.text(cell) }
    }

    /// For each row, the stretch that it is about, nanoseconds: from the read before to its own. A read that came late is about all of the time since then.
    pub(crate) fn stretches(&self) -> Vec<(i64, i64)> {
        let stretch = |&tick: &u32| {
            let at = tick as usize;
            let to = self.frame.ticks.get(at).copied().unwrap_or(0);
            let before = at.checked_sub(1).and_then(|i| self.frame.ticks.get(i)).copied().unwrap_or(0);
            let is_next = to - before <= self.interval + self.interval / 2;
            (if is_next { before.min(to) } else { to - self.interval }, to)
        };
        self.frame.tick.iter().map(stretch).collect()
    }
}

//! The values of a metric, reading by reading, from the rows that a source puts out: by the rules of `query`'s series, which has them from a
//! finished recording.

use model::{Divisor, Fold, Metric, NULL, Rows, Symbols, Term, Type};
use std::collections::HashMap;

/// One metric, watched.
#[derive(Debug)]
pub(crate) struct Watch {
    metric: Metric,
    terms: Vec<Term>,
    /// How many of the terms are the numerator's.
    numerators: usize,
    /// Where each term is among the stored columns of a wide table.
    columns: Vec<usize>,
    /// How many labels a row has; in a long table the last is the field.
    labels: usize,
    is_text: Vec<bool>,
    /// The labels that are asked for, by their places.
    only: Vec<(usize, String)>,
    /// The labels of which each value is judged on its own.
    by: Vec<usize>,
    entities: HashMap<Box<[i64]>, Entity>,
    reads: u64,
    read_at: i64,
}

#[derive(Debug)]
struct Entity {
    /// The reading at which it was seen last, and of the one before the cells of the terms.
    seen: u64,
    now: Vec<i64>,
    before: Vec<i64>,
}

/// What a reading said of one group.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Value {
    /// The values of the labels that were given as `*`.
    pub(crate) group: Vec<String>,
    pub(crate) value: f64,
}

/// What a reading said.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Reading {
    /// From when to when it speaks of, nanoseconds; equal for a level.
    pub(crate) from: i64,
    pub(crate) to: i64,
    pub(crate) values: Vec<Value>,
}

impl Watch {
    /// Watches a metric of the entities with these labels.
    pub(crate) fn new(metric: Metric, labels: &[(&'static str, String)]) -> Self {
        let stored = metric.table.stored();
        let width = metric.table.label_width();
        let place = |name: &str| stored.iter().position(|column| column.name == name);
        let (mut only, mut by) = (Vec::new(), Vec::new());
        for (label, value) in labels {
            match place(label) {
                Some(at) if value == "*" => by.push(at),
                Some(at) => only.push((at, value.clone())),
                None => {}
            }
        }
        let terms: Vec<Term> = metric.terms().cloned().collect();
        let columns = terms.iter().map(|term| place(term.name).unwrap_or(usize::MAX)).collect();
        let is_text = stored.iter().map(|column| column.ty == Type::Text).collect();
        Watch {
            numerators: metric.num.len(),
            terms,
            columns,
            labels: width,
            is_text,
            only,
            by,
            entities: HashMap::new(),
            reads: 0,
            read_at: 0,
            metric,
        }
    }

    pub(crate) fn metric(&self) -> &Metric {
        &self.metric
    }

    /// Takes the rows of a reading. `None` for the first one of a rate: it says nothing yet.
    pub(crate) fn take(&mut self, t: i64, rows: &Rows, symbols: &Symbols) -> Option<Reading> {
        self.reads += 1;
        for row in rows.iter() {
            let labels = row.get(..self.labels).unwrap_or_default();
            if self.is_wanted(labels, symbols) {
                self.note(row, symbols);
            }
        }
        let (is_level, from) = (self.metric.is_level(), self.read_at);
        self.read_at = t;
        let found = (is_level || self.reads > 1).then(|| {
            let seconds = t.saturating_sub(from) as f64 / 1e9;
            let values = self.fold(if self.metric.den == Divisor::Seconds { seconds } else { 1.0 }, symbols);
            Reading { from: if is_level { t } else { from }, to: t, values }
        });
        let reads = self.reads;
        self.entities.retain(|_, entity| entity.seen == reads);
        found
    }

    fn is_wanted(&self, labels: &[i64], symbols: &Symbols) -> bool {
        self.only.iter().all(|(at, wanted)| {
            let cell = labels.get(*at).copied().unwrap_or(NULL);
            match self.is_text.get(*at) {
                Some(true) => symbols.text(cell) == Some(wanted),
                _ => wanted.parse() == Ok(cell),
            }
        })
    }

    /// Keeps the cells of a row that the metric is computed from.
    fn note(&mut self, row: &[i64], symbols: &Symbols) {
        let labels = row.get(..self.labels).unwrap_or_default();
        let is_long = self.metric.table.is_long();
        let field = labels.last().filter(|_| is_long).and_then(|cell| symbols.text(*cell));
        let is_term = |term: &Term| !is_long || field == Some(term.name);
        if !self.terms.iter().any(is_term) {
            return;
        }
        let key = if is_long { labels.get(..self.labels - 1).unwrap_or_default() } else { labels };
        let (reads, width) = (self.reads, self.terms.len());
        if !self.entities.contains_key(key) {
            // What counts up and is first seen at a reading stood at zero at the one before, where the table says so.
            let unseen = if self.metric.table.from_zero && reads > 1 { 0 } else { NULL };
            let entity = Entity { seen: 0, now: vec![unseen; width], before: vec![NULL; width] };
            self.entities.insert(key.into(), entity);
        }
        let Some(entity) = self.entities.get_mut(key) else { return };
        if entity.seen != reads {
            entity.seen = reads;
            std::mem::swap(&mut entity.now, &mut entity.before);
            entity.now.fill(NULL);
        }
        for (at, cell) in entity.now.iter_mut().enumerate() {
            let (Some(term), Some(&column)) = (self.terms.get(at), self.columns.get(at)) else { continue };
            if is_term(term) {
                *cell = if is_long { row.last() } else { row.get(column) }.copied().unwrap_or(NULL);
            }
        }
    }

    /// Folds the entities into their groups. `length`: what a reading that was measured is divided by.
    fn fold(&self, length: f64, symbols: &Symbols) -> Vec<Value> {
        let is_ratio = matches!(self.metric.den, Divisor::Columns(_));
        let is_level = self.metric.is_level();
        let mut groups: HashMap<Vec<i64>, (f64, f64)> = HashMap::new();
        for (key, entity) in self.entities.iter().filter(|(_, entity)| entity.seen == self.reads) {
            let (mut num, mut den) = (0.0, 0.0);
            for (at, term) in self.terms.iter().enumerate() {
                let [before, now] = [&entity.before, &entity.now].map(|cells| cells.get(at).copied().unwrap_or(NULL));
                let part = if is_level { term.level(now) } else { term.between(before, now) };
                *(if at < self.numerators { &mut num } else { &mut den }) += part;
            }
            if !num.is_finite() || !den.is_finite() {
                continue;
            }
            let group = self.by.iter().map(|at| key.get(*at).copied().unwrap_or(NULL)).collect();
            let sums = groups.entry(group).or_insert((f64::NAN, 0.0));
            let first = sums.0.is_nan();
            let sum = if first { num } else { sums.0 + num };
            *sums = match self.metric.fold {
                _ if is_ratio => (sum, sums.1 + den),
                Fold::Sum => (sum, length),
                Fold::Mean => (sum, sums.1 + length),
                Fold::Max => (if first { num } else { sums.0.max(num) }, length),
            };
        }
        let text = |at: usize, cell: i64| match self.is_text.get(at) {
            Some(true) => symbols.text(cell).unwrap_or_default().to_owned(),
            _ if cell == NULL => String::new(),
            _ => cell.to_string(),
        };
        let value = |(group, (num, den)): (Vec<i64>, (f64, f64))| Value {
            group: self.by.iter().zip(&group).map(|(at, cell)| text(*at, *cell)).collect(),
            value: if den == 0.0 { f64::NAN } else { num / den },
        };
        groups.into_iter().map(value).collect()
    }
}

//! Rows of a dataset, column by column: what was added and not yet written, or what was read of a part.

use super::dataset::{Dataset, Type};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

/// A cell on its way in or out.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Missing.
    Null,
    /// Text.
    Text(Arc<str>),
    /// A whole number.
    Int(i64),
    /// A number.
    Real(f64),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.into())
    }
}

impl From<i64> for Cell {
    fn from(number: i64) -> Cell {
        Cell::Int(number)
    }
}

/// What is not finite is missing: it was not measured.
impl From<f64> for Cell {
    fn from(number: f64) -> Cell {
        if number.is_finite() { Cell::Real(number) } else { Cell::Null }
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Cell {
        value.map_or(Cell::Null, Into::into)
    }
}

/// Texts, each held once, by number.
#[derive(Debug, Default)]
pub struct Texts {
    all: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u32>,
}

/// The number of a text that is missing.
pub const NO_TEXT: u32 = u32::MAX;

impl Texts {
    /// The number of a text.
    pub fn number(&mut self, text: &str) -> u32 {
        if let Some(known) = self.numbers.get(text) {
            return *known;
        }
        let (text, number): (Arc<str>, u32) = (text.into(), self.all.len() as u32);
        self.all.push(Arc::clone(&text));
        self.numbers.insert(text, number);
        number
    }

    /// The text of a number.
    pub fn text(&self, number: u32) -> Option<&Arc<str>> {
        self.all.get(number as usize)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

/// The values of a column. What is missing is [`NO_TEXT`], `i64::MIN`, NaN.
#[derive(Clone, Debug)]
pub enum Values {
    /// Numbers of texts.
    Text(Vec<u32>),
    /// Whole numbers.
    Int(Vec<i64>),
    /// Numbers.
    Real(Vec<f64>),
    /// Numbers of 32 bits.
    Single(Vec<f32>),
}

/// What stands for a whole number that is missing.
pub const NO_INT: i64 = i64::MIN;

impl Values {
    /// None yet.
    pub fn new(ty: Type) -> Values {
        match ty {
            Type::Text => Values::Text(Vec::new()),
            Type::Int => Values::Int(Vec::new()),
            Type::Real => Values::Real(Vec::new()),
            Type::Single => Values::Single(Vec::new()),
        }
    }

    /// Makes them so many missing ones.
    pub fn missing(&mut self, rows: usize) {
        match self {
            Values::Text(v) => *v = vec![NO_TEXT; rows],
            Values::Int(v) => *v = vec![NO_INT; rows],
            Values::Real(v) => *v = vec![f64::NAN; rows],
            Values::Single(v) => *v = vec![f32::NAN; rows],
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Values::Text(v) => v.len(),
            Values::Int(v) => v.len(),
            Values::Real(v) => v.len(),
            Values::Single(v) => v.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// As a number; NaN where it is missing or a text.
    pub fn real(&self, row: usize) -> f64 {
        match self {
            Values::Int(v) => v.get(row).filter(|v| **v != NO_INT).map_or(f64::NAN, |v| *v as f64),
            Values::Real(v) => v.get(row).copied().unwrap_or(f64::NAN),
            Values::Single(v) => v.get(row).map_or(f64::NAN, |v| f64::from(*v)),
            Values::Text(_) => f64::NAN,
        }
    }

    /// As a whole number; `None` where it is missing or none.
    pub fn int(&self, row: usize) -> Option<i64> {
        match self {
            Values::Int(v) => v.get(row).copied().filter(|v| *v != NO_INT),
            _ => None,
        }
    }

    /// The number of its text.
    pub fn text(&self, row: usize) -> u32 {
        match self {
            Values::Text(v) => v.get(row).copied().unwrap_or(NO_TEXT),
            _ => NO_TEXT,
        }
    }
}

/// Rows of one dataset.
#[derive(Debug)]
pub struct Batch {
    /// Of which.
    pub dataset: &'static Dataset,
    /// Texts of all columns.
    pub texts: Texts,
    /// The columns, in the order of the dataset's.
    pub columns: Vec<Values>,
}

impl Batch {
    /// None yet.
    pub fn new(dataset: &'static Dataset) -> Batch {
        let columns = dataset.columns.iter().map(|c| Values::new(c.ty)).collect();
        Batch { dataset, texts: Texts::default(), columns }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.columns.iter().map(Values::len).max().unwrap_or(0)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// About how much memory the rows take, bytes.
    pub fn size(&self) -> usize {
        let row: usize = self.dataset.columns.iter().map(|c| if c.ty == Type::Int { 8 } else { 4 }).sum();
        self.len() * row + self.texts.len() * 64
    }

    /// Adds a row. A cell of another kind than its column's is missing.
    pub fn push(&mut self, row: &[Cell]) {
        for (at, values) in self.columns.iter_mut().enumerate() {
            match (values, row.get(at).unwrap_or(&Cell::Null)) {
                (Values::Text(v), Cell::Text(text)) => v.push(self.texts.number(text)),
                (Values::Text(v), _) => v.push(NO_TEXT),
                (Values::Int(v), Cell::Int(number)) => v.push(*number),
                (Values::Int(v), _) => v.push(NO_INT),
                (Values::Real(v), Cell::Real(number)) => v.push(*number),
                (Values::Real(v), Cell::Int(number)) => v.push(*number as f64),
                (Values::Real(v), _) => v.push(f64::NAN),
                (Values::Single(v), Cell::Real(number)) => v.push(*number as f32),
                (Values::Single(v), Cell::Int(number)) => v.push(*number as f32),
                (Values::Single(v), _) => v.push(f32::NAN),
            }
        }
    }

    /// Adds rows of another of the same dataset: those whose text in the first column is wanted.
    pub fn append(&mut self, other: &Batch, mut wanted: impl FnMut(&str) -> bool) {
        let numbers: Vec<u32> = other.texts.all.iter().map(|text| self.texts.number(text)).collect();
        let rows: Vec<usize> = (0..other.len()).filter(|&row| wanted(other.text(row, 0).unwrap_or_default())).collect();
        for (into, from) in self.columns.iter_mut().zip(&other.columns) {
            match (into, from) {
                (Values::Text(into), Values::Text(_)) => into
                    .extend(rows.iter().map(|&row| numbers.get(from.text(row) as usize).copied().unwrap_or(NO_TEXT))),
                (Values::Int(into), Values::Int(from)) => into.extend(rows.iter().filter_map(|&row| from.get(row))),
                (Values::Real(into), Values::Real(from)) => into.extend(rows.iter().filter_map(|&row| from.get(row))),
                (Values::Single(into), Values::Single(from)) => {
                    into.extend(rows.iter().filter_map(|&row| from.get(row)));
                }
                _ => {}
            }
        }
    }

    /// Puts another number where there was one.
    pub fn replace(&mut self, row: usize, column: &str, number: f64) {
        let place = self.dataset.place(column);
        if let Some(Values::Real(v)) = place.and_then(|at| self.columns.get_mut(at))
            && let Some(slot) = v.get_mut(row)
        {
            *slot = number;
        }
    }

    /// A cell.
    pub fn cell(&self, row: usize, column: usize) -> Cell {
        let Some(values) = self.columns.get(column) else { return Cell::Null };
        match values {
            Values::Text(_) => self.texts.text(values.text(row)).map_or(Cell::Null, |t| Cell::Text(Arc::clone(t))),
            Values::Int(_) => values.int(row).into(),
            Values::Real(_) | Values::Single(_) => values.real(row).into(),
        }
    }

    /// The text of a cell; `None` where it is missing.
    pub fn text(&self, row: usize, column: usize) -> Option<&str> {
        self.texts.text(self.columns.get(column)?.text(row)).map(|text| &**text)
    }

    /// The rows in the order of the key.
    pub fn order(&self) -> Vec<usize> {
        // Texts are compared once each, not in every comparison of rows.
        let mut sorted: Vec<u32> = (0..self.texts.len() as u32).collect();
        sorted.sort_by_key(|number| self.texts.text(*number));
        let mut ranks = vec![0u32; sorted.len()];
        for (rank, number) in sorted.into_iter().enumerate() {
            if let Some(at) = ranks.get_mut(number as usize) {
                *at = rank as u32;
            }
        }
        let rank = |number: u32| ranks.get(number as usize).map_or(-1, |rank| i64::from(*rank));
        let key: Vec<&Values> = self.columns.iter().take(self.dataset.key).collect();
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by(|&a, &b| {
            let compare = |values: &&Values| match values {
                Values::Text(_) => rank(values.text(a)).cmp(&rank(values.text(b))),
                Values::Int(v) => v.get(a).cmp(&v.get(b)),
                _ => values.real(a).total_cmp(&values.real(b)),
            };
            key.iter().map(compare).find(|order| *order != Ordering::Equal).unwrap_or(Ordering::Equal)
        });
        order
    }
}

//! The block of columns: tables of whole numbers that the page adds up over the window that its reader chooses. See docs/report-bundle.md,
//! "Block of columns".

use crate::Error;
use crate::bundle::{ColumnIndex, ColumnsIndex, TableIndex};
use std::collections::{BTreeMap, HashMap};

/// Bits of a rounded amount that are kept: an error of one part in 4,000 at most, and bytes that repeat.
const KEPT_BITS: u32 = 12;

/// One column, in the order of its table's rows.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    name: &'static str,
    values: Vec<u32>,
    scale: f64,
    text: bool,
    delta: bool,
}

impl Column {
    /// Whole numbers as they are: identifiers, places in other tables.
    pub(crate) fn exact(name: &'static str, values: Vec<u32>) -> Self {
        Column { name, values, scale: 1.0, text: false, delta: false }
    }

    /// Whole numbers that mostly grow from row to row.
    pub(crate) fn rising(name: &'static str, values: Vec<u32>) -> Self {
        Column { name, values, scale: 1.0, text: false, delta: true }
    }

    /// Says what one is worth.
    pub(crate) fn scaled(mut self, scale: f64) -> Self {
        self.scale = scale;
        self
    }

    /// Texts, as [`Columns::text`] numbers them.
    pub(crate) fn text(name: &'static str, values: Vec<u32>) -> Self {
        Column { name, values, scale: 1.0, text: true, delta: false }
    }

    /// Amounts in a unit of which `per_base` make one base unit: nanoseconds with 1e9. Rounded to [`KEPT_BITS`] bits. Less than nothing is nothing.
    pub(crate) fn amount(name: &'static str, values: &[f64], per_base: f64) -> Self {
        let most = values.iter().copied().filter(|v| v.is_finite()).fold(0.0, f64::max);
        let mut step = 1.0;
        while most / step > f64::from(u32::MAX >> 1) {
            step *= 10.0;
        }
        let values = values.iter().map(|&v| round((v / step).round() as u32)).collect();
        Column { name, values, scale: step / per_base, text: false, delta: false }
    }

    /// Amounts that are whole nanoseconds, as seconds.
    pub(crate) fn seconds(name: &'static str, values: &[i64]) -> Self {
        Self::amount(name, &values.iter().map(|&v| v as f64).collect::<Vec<_>>(), 1e9)
    }

    /// Counts.
    pub(crate) fn counts(name: &'static str, values: &[i64]) -> Self {
        Self::amount(name, &values.iter().map(|&v| v as f64).collect::<Vec<_>>(), 1.0)
    }
}

fn round(value: u32) -> u32 {
    let bits = u32::BITS - value.leading_zeros();
    if bits <= KEPT_BITS {
        return value;
    }
    let dropped = bits - KEPT_BITS;
    value.saturating_add(1 << (dropped - 1)) & !((1 << dropped) - 1)
}

/// A block that is being filled.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    index: ColumnsIndex,
    numbers: HashMap<String, u32>,
    data: Vec<u8>,
}

impl Columns {
    /// The number of a text, from 1; 0 for no text.
    pub(crate) fn string(&mut self, text: &str) -> u32 {
        if text.is_empty() {
            return 0;
        }
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        self.index.strings.push(text.to_owned());
        let number = self.index.strings.len() as u32;
        self.numbers.insert(text.to_owned(), number);
        number
    }

    /// The text of a number.
    pub(crate) fn text_of(&self, number: u32) -> Option<&str> {
        self.index.strings.get((number as usize).checked_sub(1)?).map(String::as_str)
    }

    /// Adds a table of columns of equal length.
    pub(crate) fn table(&mut self, name: &str, columns: &[Column]) {
        let rows = columns.first().map_or(0, |c| c.values.len());
        let mut index = BTreeMap::new();
        for column in columns {
            let offset = self.data.len();
            let mut last = 0u32;
            let cells = column.values.iter().map(|&value| {
                let cell = if column.delta { value.wrapping_sub(last) } else { value };
                last = value;
                cell.to_le_bytes()
            });
            let cells: Vec<[u8; 4]> = cells.collect();
            for plane in 0..4 {
                self.data.extend(cells.iter().filter_map(|bytes| bytes.get(plane)));
            }
            let Column { scale, text, delta, .. } = *column;
            index.insert(column.name.to_owned(), ColumnIndex { offset, scale, text, delta });
        }
        self.index.tables.insert(name.to_owned(), TableIndex { rows, columns: index });
    }

    /// Whether a table of this name was added, and has rows.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.index.tables.get(name).is_some_and(|table| table.rows > 0)
    }

    /// The bytes.
    pub(crate) fn finish(self) -> Result<Vec<u8>, Error> {
        let index = serde_json::to_vec(&self.index)?;
        let mut bytes = Vec::with_capacity(self.data.len() + index.len() + 8);
        bytes.extend(b"TWC1");
        bytes.extend((index.len() as u32).to_le_bytes());
        bytes.extend(&index);
        bytes.extend(self.data);
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_keep_their_size() {
        for value in [0u32, 1, 4095, 4097, 1_000_003, u32::MAX >> 1] {
            let kept = f64::from(round(value));
            assert!((kept - f64::from(value)).abs() <= f64::from(value) / 4000.0, "{value} became {kept}");
        }
        let long = Column::seconds("time", &[3_600_000_000_000, 5]);
        let back = f64::from(long.values[0]) * long.scale;
        assert!((back - 3600.0).abs() < 0.9, "{back}");
        assert_eq!(Column::seconds("time", &[-5]).values, [0]);
    }

    #[test]
    fn texts_are_numbered_once() {
        let mut columns = Columns::default();
        assert_eq!(["", "a", "b", "a"].map(|t| columns.string(t)), [0, 1, 2, 1]);
        columns.table("t", &[Column::rising("at", vec![3, 5, 4])]);
        assert!(columns.has("t") && !columns.has("u"));
        let bytes = columns.finish().unwrap();
        assert!(bytes.starts_with(b"TWC1"));
        let data = &bytes[bytes.len() - 12..];
        assert_eq!(data, [3, 2, 255, 0, 0, 255, 0, 0, 255, 0, 0, 255]);
    }
}

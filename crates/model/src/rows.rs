//! Rows on their way from a source to the recording: fixed-width cells without allocation in the steady state.

use crate::{Coverage, Table, Unavailable};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The cell that says "nothing was read here". No kernel counter reaches this value.
pub const NULL: i64 = i64::MIN;

/// A double as a cell. Not-a-number becomes [`NULL`].
pub fn real(value: f64) -> i64 {
    // -0.0 has the bits of NULL; adding 0.0 makes it 0.0.
    if value.is_nan() { NULL } else { (value + 0.0).to_bits() as i64 }
}

/// The double of a cell of type real; `None` for [`NULL`].
pub fn real_of(cell: i64) -> Option<f64> {
    (cell != NULL).then(|| f64::from_bits(cell as u64))
}

/// The strings of a recording, each stored once; a text cell holds a string's number.
///
/// Most come from a small set and stay. Those that may never come again, such as command lines, are *passing*: they can be forgotten once
/// no process has them, so that a recording of days stays small in memory. A number is never given out twice.
#[derive(Debug, Default)]
pub struct Symbols {
    by_text: HashMap<Arc<str>, i64>,
    texts: Vec<Arc<str>>,
    passing: HashMap<i64, Passing>,
    /// How many passing strings there have ever been.
    passed: i64,
    /// How many of each kind [`Symbols::take_new`] has given.
    taken: (usize, i64),
}

#[derive(Debug)]
struct Passing {
    text: Arc<str>,
    /// Whether it came up since [`Symbols::forget`] was last called: who holds its cell may not have put it out yet.
    new: bool,
    /// Whether it was also asked for as one that stays.
    stays: bool,
}

/// Numbers of passing strings begin here.
const FIRST_PASSING: i64 = 1 << 40;

impl Symbols {
    /// The cell for `text`, good for as long as the recording lasts.
    pub fn cell(&mut self, text: &str) -> i64 {
        if let Some(&cell) = self.by_text.get(text) {
            if let Some(passing) = self.passing.get_mut(&cell) {
                passing.stays = true;
            }
            return cell;
        }
        let (cell, text) = (self.texts.len() as i64, Arc::<str>::from(text));
        self.texts.push(Arc::clone(&text));
        self.by_text.insert(text, cell);
        cell
    }

    /// The cell for `text`, good for as long as each read of a source puts it out.
    pub fn passing(&mut self, text: &str) -> i64 {
        if let Some(&cell) = self.by_text.get(text) {
            if let Some(passing) = self.passing.get_mut(&cell) {
                passing.new = true;
            }
            return cell;
        }
        let (cell, text) = (FIRST_PASSING + self.passed, Arc::<str>::from(text));
        self.passed += 1;
        self.passing.insert(cell, Passing { text: Arc::clone(&text), new: true, stays: false });
        self.by_text.insert(text, cell);
        cell
    }

    /// How many passing strings there have ever been.
    pub fn passed(&self) -> i64 {
        self.passed
    }

    /// Forgets the passing strings that are neither among `cells` nor new since the last call. Returns their numbers.
    pub fn forget(&mut self, cells: impl Iterator<Item = i64>) -> Vec<i64> {
        let used: HashSet<i64> = cells.filter(|cell| self.passing.contains_key(cell)).collect();
        let mut gone = Vec::new();
        self.passing.retain(|&cell, passing| {
            let keep = passing.stays || std::mem::take(&mut passing.new) || used.contains(&cell);
            if !keep {
                self.by_text.remove(&passing.text);
                gone.push(cell);
            }
            keep
        });
        gone
    }

    /// The strings that came up since the last call, for [`Symbols::add`].
    pub fn take_new(&mut self) -> Vec<(i64, Arc<str>)> {
        let (texts, passed) = std::mem::replace(&mut self.taken, (self.texts.len(), self.passed));
        let stay = (texts..).zip(self.texts.iter().skip(texts)).map(|(at, text)| (at as i64, Arc::clone(text)));
        let pass = (FIRST_PASSING + passed..FIRST_PASSING + self.passed)
            .filter_map(|cell| Some((cell, Arc::clone(&self.passing.get(&cell)?.text))));
        stay.chain(pass).collect()
    }

    /// Takes a string over with the number that others have given it. For copies that are only asked for [`Symbols::text`].
    pub fn add(&mut self, cell: i64, text: Arc<str>) {
        if cell >= FIRST_PASSING {
            self.passing.insert(cell, Passing { text, new: false, stays: false });
        } else if cell == self.texts.len() as i64 {
            self.texts.push(text);
        }
    }

    /// Drops passing strings from such a copy.
    pub fn remove(&mut self, cells: &[i64]) {
        for cell in cells {
            self.passing.remove(cell);
        }
    }

    /// The cell for bytes from the kernel; what is not UTF-8 is replaced by U+FFFD.
    pub fn cell_bytes(&mut self, bytes: &[u8]) -> i64 {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.cell(text),
            Err(_) => self.cell(&String::from_utf8_lossy(bytes)),
        }
    }

    /// The string of a cell; `None` for [`NULL`], for a number that was never given out, and for one that was forgotten.
    pub fn text(&self, cell: i64) -> Option<&str> {
        if cell >= FIRST_PASSING {
            return self.passing.get(&cell).map(|passing| &*passing.text);
        }
        self.texts.get(usize::try_from(cell).ok()?).map(AsRef::as_ref)
    }

    /// Number of strings.
    pub fn len(&self) -> usize {
        self.texts.len() + self.passing.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Rows of one table, row after row, each [`Table::width`] cells wide, labels first.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Rows {
    /// Number of cells in a row.
    pub width: usize,
    /// All cells.
    pub cells: Vec<i64>,
}

impl Rows {
    /// The rows, one slice each.
    pub fn iter(&self) -> impl Iterator<Item = &[i64]> {
        self.cells.chunks_exact(self.width.max(1))
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.cells.len() / self.width.max(1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }
}

/// Where a source puts what it read: one per source, cleared by the recorder after each read.
#[derive(Debug)]
pub struct Out<'a> {
    tables: &'static [&'static Table],
    rows: &'a mut [Rows],
    symbols: &'a mut Symbols,
    coverage: &'a mut Vec<Coverage>,
    facts: &'a mut Vec<crate::Fact>,
    source: &'static str,
}

impl<'a> Out<'a> {
    /// An output for the tables of one source; `rows` holds one entry for each, in their order.
    pub fn new(
        source: &'static str,
        tables: &'static [&'static Table],
        rows: &'a mut [Rows],
        symbols: &'a mut Symbols,
        coverage: &'a mut Vec<Coverage>,
        facts: &'a mut Vec<crate::Fact>,
    ) -> Self {
        for (table, rows) in tables.iter().zip(rows.iter_mut()) {
            rows.width = table.width();
        }
        Out { tables, rows, symbols, coverage, facts, source }
    }

    /// Adds one row to the `table`th table of the source.
    ///
    /// # Panics
    /// In debug builds when the number of cells is not the table's width; such a row is a mistake in the source.
    pub fn row(&mut self, table: usize, cells: &[i64]) {
        debug_assert_eq!(
            Some(cells.len()),
            self.tables.get(table).map(|t| t.width()),
            "{}: cells of table {table}",
            self.source
        );
        if let Some(rows) = self.rows.get_mut(table)
            && rows.width == cells.len()
        {
            rows.cells.extend_from_slice(cells);
        }
    }

    /// The cell for a text.
    pub fn text(&mut self, text: &str) -> i64 {
        self.symbols.cell(text)
    }

    /// The cell for a text that comes as bytes.
    pub fn bytes(&mut self, bytes: &[u8]) -> i64 {
        self.symbols.cell_bytes(bytes)
    }

    /// The cell for a text that may never come again, such as a command line. It is good for as long as every read puts it out.
    pub fn passing(&mut self, text: &str) -> i64 {
        self.symbols.passing(text)
    }

    /// Like [`Out::passing`], for bytes from the kernel; what is not UTF-8 is replaced by U+FFFD.
    pub fn passing_bytes(&mut self, bytes: &[u8]) -> i64 {
        self.symbols.passing(&String::from_utf8_lossy(bytes))
    }

    /// Records a property of the host.
    pub fn fact(&mut self, category: &str, name: &str, value: impl Into<String>) {
        self.facts.push(crate::Fact { category: category.into(), name: name.into(), value: value.into() });
    }

    /// Records that a part of the source (a file, a field, a table) could not be read, and why. Say it once, not each time.
    pub fn missing(&mut self, item: &str, why: Unavailable) {
        self.coverage.push(Coverage::unavailable(self.source, item, why));
    }

    /// Records that a part of the source was read, where that is not plain from its rows.
    pub fn read(&mut self, item: &str) {
        self.coverage.push(Coverage::read(self.source, item));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reals_survive_and_nan_is_null() {
        for value in [0.0, 1.5, -2.25, f64::MAX, f64::INFINITY] {
            assert_eq!(real_of(real(value)), Some(value));
        }
        assert_eq!(real_of(real(f64::NAN)), None);
    }

    #[test]
    fn passing_symbols_are_forgotten() {
        let (mut symbols, mut copy) = (Symbols::default(), Symbols::default());
        let (name, line, both) = (symbols.cell("sleep"), symbols.passing("sleep 1"), symbols.passing("shared"));
        assert_eq!((symbols.passing("sleep"), symbols.cell("shared")), (name, both));
        symbols.take_new().into_iter().for_each(|(cell, text)| copy.add(cell, text));
        assert_eq!(symbols.take_new(), []);
        assert_eq!([name, line, both].map(|c| copy.text(c)), [Some("sleep"), Some("sleep 1"), Some("shared")]);
        // New ones have one more turn, and those in use stay.
        assert_eq!(symbols.forget([name, 5, NULL].into_iter()), []);
        assert_eq!(symbols.forget([line].into_iter()), []);
        let gone = symbols.forget(std::iter::empty());
        assert_eq!(gone, [line]);
        copy.remove(&gone);
        assert_eq!((symbols.text(line), copy.text(line), symbols.len()), (None, None, 2));
        assert_ne!(symbols.passing("sleep 1"), line, "a number is never given out twice");
    }

    #[test]
    fn symbols_are_stored_once() {
        let mut symbols = Symbols::default();
        let a = symbols.cell("eth0");
        assert_eq!(symbols.cell_bytes(b"eth0"), a);
        assert_eq!(symbols.text(a), Some("eth0"));
        assert_eq!(symbols.text(NULL), None);
        assert_eq!(symbols.text(99), None);
        let lossy = symbols.cell_bytes(b"\xff");
        assert_eq!(symbols.text(lossy), Some("\u{fffd}"));
    }
}

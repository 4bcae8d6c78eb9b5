//! The rows of an answer, column by column name.

use crate::folder::Batch;
use crate::statistics::separate::Sums;

/// A row of an answer.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    batch: &'a Batch,
    row: usize,
}

/// The rows of an answer, batch after batch.
pub(super) fn rows(batches: &[Batch]) -> impl Iterator<Item = Row<'_>> {
    batches.iter().flat_map(|batch| (0..batch.len()).map(move |row| Row { batch, row }))
}

impl<'a> Row<'a> {
    fn column(&self, name: &str) -> usize {
        self.batch.dataset.place(name).unwrap_or(usize::MAX)
    }

    /// Empty where it is missing.
    pub(super) fn text(&self, name: &str) -> &'a str {
        self.batch.text(self.row, self.column(name)).unwrap_or_default()
    }

    pub(super) fn int(&self, name: &str) -> Option<i64> {
        self.batch.columns.get(self.column(name))?.int(self.row)
    }

    /// A number of something.
    pub(super) fn place(&self, name: &str) -> Option<usize> {
        usize::try_from(self.int(name)?).ok()
    }

    /// NaN where it is missing.
    pub(super) fn real(&self, name: &str) -> f64 {
        self.batch.columns.get(self.column(name)).map_or(f64::NAN, |c| c.real(self.row))
    }

    pub(super) fn sums(&self) -> Sums {
        let count = |name| self.place(name).unwrap_or(0);
        Sums {
            hosts: (count("ones"), count("others")),
            twice_ranks: self.int("twice_ranks").unwrap_or(0),
            ties: self.int("ties").unwrap_or(0),
        }
    }
}

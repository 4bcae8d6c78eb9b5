//! Thinning: a row is written only when its entity is new or one of its values differs from the last read; an entity that is gone leaves a
//! row whose values are all [`NULL`]. Most lines of a system do not move, so this is most of a recording's small size.

use model::NULL;
use std::collections::HashMap;

/// What the last read of one table held.
#[derive(Debug, Default)]
pub(crate) struct Thinner {
    width: usize,
    labels: usize,
    /// Rows of the last read, in the order they came.
    last: Vec<i64>,
    /// Set at the start of a generation: the next read is written in full.
    full: bool,
}

impl Thinner {
    pub(crate) fn new(width: usize, labels: usize) -> Self {
        Thinner { width, labels, last: Vec::new(), full: true }
    }

    /// Makes the next read stand for itself.
    pub(crate) fn restart(&mut self) {
        self.full = true;
    }

    /// Appends the rows of `now` that must be written to `out`.
    pub(crate) fn thin(&mut self, now: &[i64], out: &mut Vec<i64>) {
        if self.width == 0 {
            return;
        }
        let key = |row: &[i64]| row.get(..self.labels).unwrap_or_default().to_vec();
        let rows = self.last.len() / self.width;
        // Rows come in the same order read after read, so the last read's row is nearly always the next one.
        let mut seen = vec![false; rows];
        let mut by_key: Option<HashMap<Vec<i64>, usize>> = None;
        let mut next = 0;
        for row in now.chunks_exact(self.width) {
            let labels = row.get(..self.labels);
            let at = |index: usize| self.last.get(index * self.width..(index + 1) * self.width);
            let found = match at(next) {
                Some(old) if old.get(..self.labels) == labels => Some(next),
                _ => by_key
                    .get_or_insert_with(|| {
                        self.last.chunks_exact(self.width).enumerate().map(|(i, r)| (key(r), i)).collect()
                    })
                    .get(labels.unwrap_or_default())
                    .copied(),
            };
            let same = match found {
                Some(index) => {
                    if let Some(seen) = seen.get_mut(index) {
                        *seen = true;
                    }
                    next = index + 1;
                    at(index) == Some(row)
                }
                None => false,
            };
            if self.full || !same {
                out.extend_from_slice(row);
            }
        }
        for (old, seen) in self.last.chunks_exact(self.width).zip(seen) {
            if !seen {
                out.extend_from_slice(old.get(..self.labels).unwrap_or_default());
                out.extend(std::iter::repeat_n(NULL, self.width - self.labels));
            }
        }
        self.full = false;
        self.last.clear();
        self.last.extend_from_slice(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thin(thinner: &mut Thinner, now: &[i64]) -> Vec<i64> {
        let mut out = Vec::new();
        thinner.thin(now, &mut out);
        out
    }

    #[test]
    fn only_what_moved_is_written() {
        let mut t = Thinner::new(2, 1);
        assert_eq!(thin(&mut t, &[1, 10, 2, 20]), [1, 10, 2, 20]);
        assert_eq!(thin(&mut t, &[1, 10, 2, 21]), [2, 21]);
        // New in the middle, another order.
        assert_eq!(thin(&mut t, &[3, 30, 2, 21, 1, 11]), [3, 30, 1, 11]);
        // Gone.
        assert_eq!(thin(&mut t, &[3, 30, 1, 11]), [2, NULL]);
        t.restart();
        assert_eq!(thin(&mut t, &[3, 30]), [3, 30, 1, NULL]);
        assert_eq!(thin(&mut t, &[3, 30]), Vec::<i64>::new());
    }
}

//! What keeps memory, descriptors and the recording bounded while programs come and go: what belongs to processes that have ended is let go,
//! caches hold what was used last, and a flight recorder numbers its stacks again when they have become many.

use super::tables::{FRAME, STACK};
use super::{Stacks, State};
use model::Table;
use std::time::{Duration, Instant};

/// Processes and files are looked through so often.
const EVERY: Duration = Duration::from_secs(10);

/// Names of stacks that were numbered before a trie was renewed are taken for so long.
const NAMED: Duration = Duration::from_secs(20);

/// What was last asked of so many files, by their numbers: debug information, of which each may take hundreds of megabytes, and variables.
#[derive(Debug)]
pub(super) struct Recent<T, const MOST: usize>(Vec<(u32, T)>);

impl<T, const MOST: usize> Default for Recent<T, MOST> {
    fn default() -> Self {
        Recent(Vec::new())
    }
}

impl<T: Clone, const MOST: usize> Recent<T, MOST> {
    /// What is known of a file.
    pub(super) fn get(&mut self, number: u32) -> Option<T> {
        let at = self.0.iter().position(|(known, _)| *known == number)?;
        let found = self.0.remove(at);
        self.0.push(found);
        self.0.last().map(|(_, value)| value.clone())
    }

    /// Keeps what is known of a file in the place of what was not asked for longest.
    pub(super) fn insert(&mut self, number: u32, value: T) {
        self.remove(number);
        if self.0.len() >= MOST {
            self.0.remove(0);
        }
        self.0.push((number, value));
    }

    /// Forgets a file.
    pub(super) fn remove(&mut self, number: u32) {
        self.0.retain(|(known, _)| *known != number);
    }
}

/// Whether a table is one of the dictionaries that are begun anew when stacks are numbered again.
pub fn is_numbered(table: &Table) -> bool {
    std::ptr::eq(table, &FRAME) || std::ptr::eq(table, &STACK)
}

impl State {
    /// Lets go what belongs to processes that have ended. Where `renews`, stacks are numbered again when there are many.
    pub(super) fn tidy(&mut self, renews: bool) {
        let now = Instant::now();
        if self.tidied.is_none_or(|at| now.duration_since(at) >= EVERY) {
            self.tidied = Some(now);
            for file in self.processes.tidy() {
                self.debugs.remove(file);
                self.variables.remove(file);
            }
        }
        if self.renewed.is_some_and(|at| now.duration_since(at) >= NAMED) {
            self.renewed = None;
            self.trie.forget_before();
        }
        if renews && self.trie.is_grown() {
            self.trie.renew();
            self.renewed = Some(now);
        }
    }
}

impl Stacks {
    /// How often stacks were numbered again. Who keeps numbers of stacks has them replaced by [`Stacks::renewed`] when this has changed.
    pub fn renewals(&self) -> u32 {
        self.state().trie.renewals()
    }

    /// The numbers that these stacks have since they were numbered again, as cells.
    pub fn renewed(&self, stacks: &[i64]) -> Vec<i64> {
        let numbers = stacks.iter().map(|&stack| u32::try_from(stack).unwrap_or(0));
        self.state().trie.renewed(numbers).into_iter().map(super::intern::cell).collect()
    }

    /// Whether a process, by its number, has ended or is not known any more.
    pub(super) fn has_ended(&self, process: u32) -> bool {
        self.state().processes.numbered.get(&process).is_none_or(super::process::Numbered::is_over)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_last_is_kept() {
        const MOST: usize = 8;
        let mut recent = Recent::<u32, MOST>::default();
        for file in 0..MOST as u32 {
            recent.insert(file, file * 10);
        }
        assert_eq!(recent.get(0), Some(0));
        recent.insert(100, 1000);
        assert_eq!([recent.get(0), recent.get(1), recent.get(100)], [Some(0), None, Some(1000)]);
        recent.remove(0);
        assert_eq!((recent.get(0), recent.0.len()), (None, MOST - 1));
        for file in 0..3_600 {
            recent.insert(file, file);
        }
        assert_eq!(recent.0.len(), MOST);
    }
}

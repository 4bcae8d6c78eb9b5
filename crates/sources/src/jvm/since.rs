//! Counters since a JVM was first looked at: what it counted before that is of another time, and a table whose entities begin at zero must not have it.

use std::collections::HashMap;
use std::hash::Hash;

/// Where counters stood at the first look, by what they count.
#[derive(Debug)]
pub(super) struct Since<K> {
    base: HashMap<K, u64>,
    is_first: bool,
}

impl<K> Default for Since<K> {
    fn default() -> Self {
        Since { base: HashMap::new(), is_first: true }
    }
}

impl<K: Eq + Hash> Since<K> {
    /// The count since the first look.
    pub fn count(&mut self, key: K, now: u64) -> u64 {
        match self.is_first {
            true => {
                self.base.insert(key, now);
                0
            }
            false => now.saturating_sub(self.base.get(&key).copied().unwrap_or(0)),
        }
    }

    /// The first look is over: what is new from now on began at zero. So did all of a JVM that began while it was recorded.
    pub fn go_on(&mut self) {
        self.is_first = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_there_begins_at_zero_and_what_comes_counts_whole() {
        let mut since = Since::default();
        assert_eq!((since.count("a", 70), since.count("b", 5)), (0, 0));
        since.go_on();
        assert_eq!((since.count("a", 75), since.count("b", 5), since.count("c", 3)), (5, 0, 3));
        // One that was set back is not less than nothing.
        assert_eq!(since.count("a", 1), 0);
    }

    #[test]
    fn all_of_a_new_one_counts() {
        let mut since = Since::default();
        since.go_on();
        assert_eq!(since.count("a", 70), 70);
    }
}

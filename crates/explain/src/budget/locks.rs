//! What a lock is called that threads wait for: the name of its variable or of its class, which is the same in every run; else the function that takes
//! it. One lock has one name, whoever waits for it.

use super::cell::Cell;
use super::state::State;
use lexicon::wait::{JAVA_LOCK, Wait};
use std::collections::{BTreeMap, HashMap};

/// Of a JVM's waits for locks of java.util.concurrent, those of a function count for its own with such a part of them; what is less goes with the most.
const LITTLE: f64 = 0.25;

/// Names the locks of all cells. `times`: the seconds of each per unit, slow and baseline.
pub(super) fn name(cells: &mut [Cell], times: &[[f64; 2]]) {
    let waits = |cell: &Cell| cell.state == Some(State::Lock) && !cell.lock.starts_with("kernel ");
    let slow = cells.iter().zip(times).filter(|(cell, _)| waits(cell)).map(|(cell, [slow, _])| (cell, *slow));
    let takers = Takers::of(slow);
    for cell in cells.iter_mut().filter(|cell| waits(cell)) {
        cell.lock_name = takers.name(cell);
    }
}

/// Whether a lock's own name says something: addresses differ from run to run.
fn is_named(cell: &Cell) -> bool {
    // Of java.util.concurrent the class is known, which many locks have.
    !(cell.lock.is_empty() || has_address(cell) || cell.lock.ends_with(" ?") || is_java(cell))
}

/// Whether it is told from others by its address, within its run.
fn has_address(cell: &Cell) -> bool {
    cell.lock.contains("0x")
}

fn is_java(cell: &Cell) -> bool {
    cell.waits.on == Wait::Lock(JAVA_LOCK)
}

/// Who takes which lock without a name, in the slow run.
#[derive(Default)]
struct Takers {
    /// By process and address: the function that waits most.
    of_lock: HashMap<(String, String), String>,
    /// By process and function: the function that waits most for the lock that this one waits most for.
    of_caller: HashMap<(String, String), String>,
    /// By process, of java.util.concurrent: seconds by function, and of all.
    java: HashMap<String, (BTreeMap<String, f64>, f64)>,
    /// By process and function: the class of the lock, where it was seen.
    classes: HashMap<(String, String), String>,
}

impl Takers {
    fn of<'c>(waits: impl Iterator<Item = (&'c Cell, f64)>) -> Takers {
        let mut takers = Takers::default();
        let mut by_lock: BTreeMap<(&str, &str), BTreeMap<&str, f64>> = BTreeMap::new();
        for (cell, slow) in waits.filter(|(cell, _)| !is_named(cell)) {
            if is_java(cell) {
                let (callers, all) = takers.java.entry(cell.comm.clone()).or_default();
                *all += slow;
                if !cell.caller.is_empty() {
                    *callers.entry(cell.caller.clone()).or_default() += slow;
                }
                if let Some((_, class)) = cell.lock.rsplit_once('.').filter(|(_, class)| !class.contains(' ')) {
                    takers.classes.insert((cell.comm.clone(), cell.caller.clone()), class.to_owned());
                }
            } else if has_address(cell) && !cell.caller.is_empty() && slow > 0.0 {
                *by_lock.entry((&cell.comm, &cell.lock)).or_default().entry(&cell.caller).or_default() += slow;
            }
        }
        let mut most: BTreeMap<(&str, &str), (f64, &str)> = BTreeMap::new();
        for ((comm, lock), callers) in &by_lock {
            let Some(taker) = most_of(callers.iter().map(|(name, time)| (*name, *time))) else { continue };
            takers.of_lock.insert(((*comm).to_owned(), (*lock).to_owned()), taker.to_owned());
            for (caller, time) in callers {
                let known = most.entry((comm, caller)).or_insert((0.0, taker));
                if *time > known.0 {
                    *known = (*time, taker);
                }
            }
        }
        let owned = |((comm, caller), (_, taker)): ((&str, &str), (f64, &str))| {
            ((comm.to_owned(), caller.to_owned()), taker.to_owned())
        };
        takers.of_caller = most.into_iter().map(owned).collect();
        takers
    }

    fn name(&self, cell: &Cell) -> String {
        if is_named(cell) {
            return cell.lock.clone();
        }
        let taken_in = |function: &str| format!("taken in {function}");
        if is_java(cell) {
            let Some((callers, all)) = self.java.get(&cell.comm) else { return "java.util.concurrent".into() };
            let own = callers.get(&cell.caller).is_some_and(|time| *time > LITTLE * all);
            let most = most_of(callers.iter().map(|(name, time)| (name.as_str(), *time)));
            let function = if own { Some(cell.caller.as_str()) } else { most };
            let Some(function) = function else { return "java.util.concurrent".into() };
            let class = self.classes.get(&(cell.comm.clone(), function.to_owned()));
            return class.map_or_else(|| taken_in(function), |class| format!("{class} {}", taken_in(function)));
        }
        let of = |known: &HashMap<(String, String), String>, name: &str| {
            known.get(&(cell.comm.clone(), name.to_owned())).filter(|_| has_address(cell)).cloned()
        };
        // The baseline's addresses are others: there its function tells which lock it is.
        let taker = of(&self.of_lock, &cell.lock).or_else(|| of(&self.of_caller, &cell.caller));
        match taker.as_ref().unwrap_or(&cell.caller).as_str() {
            "" if cell.lock.is_empty() => "without a name".into(),
            "" => cell.lock.clone(),
            taker => taken_in(taker),
        }
    }
}

fn most_of<'n>(times: impl Iterator<Item = (&'n str, f64)>) -> Option<&'n str> {
    times.max_by(|a, b| a.1.total_cmp(&b.1).then_with(|| b.0.cmp(a.0))).map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::waits::Waiting;

    fn wait(lock: &str, caller: &str, slow: f64) -> (Cell, f64) {
        (Cell { state: Some(State::Lock), lock: lock.into(), caller: caller.into(), ..Cell::default() }, slow)
    }

    fn names(cells: Vec<(Cell, f64)>) -> Vec<String> {
        let (mut cells, times): (Vec<Cell>, Vec<[f64; 2]>) =
            cells.into_iter().map(|(cell, slow)| (cell, [slow, 0.0])).unzip();
        name(&mut cells, &times);
        cells.into_iter().map(|cell| cell.lock_name).collect()
    }

    #[test]
    fn one_lock_has_one_name_whoever_takes_it() {
        let of = names(vec![
            wait("pthread rwlock 0x10", "put", 3.0),
            wait("pthread rwlock 0x10", "get", 1.0),
            // In the baseline it is elsewhere.
            wait("pthread rwlock 0x90", "get", 0.0),
            wait("pthread mutex 0x20", "log", 1.0),
            wait("table of app", "get", 1.0),
            wait("kernel rwsem", "get", 1.0),
            wait("pthread mutex ?", "sort", 1.0),
            wait("", "", 1.0),
        ]);
        assert_eq!(
            of,
            [
                "taken in put",
                "taken in put",
                "taken in put",
                "taken in log",
                "table of app",
                "",
                "taken in sort",
                "without a name"
            ]
        );
    }

    #[test]
    fn what_is_little_known_of_java_goes_with_the_most() {
        let java = |caller: &str, slow: f64| {
            let mut waits = Waiting::default();
            waits.on = Wait::Lock(JAVA_LOCK);
            (Cell { waits, comm: "java".into(), ..wait("", caller, slow).0 }, slow)
        };
        let of = names(vec![java("Cache.get", 5.0), java("", 1.0), java("Log.add", 1.0), java("Pool.take", 3.0)]);
        assert_eq!(of, ["taken in Cache.get", "taken in Cache.get", "taken in Cache.get", "taken in Pool.take"]);
        assert_eq!(names(vec![java("", 1.0)]), ["java.util.concurrent"]);
        // The class that was seen in one run is that of the other as well.
        let seen = |caller: &str, slow: f64| {
            let (cell, slow) = java(caller, slow);
            (Cell { lock: "java.util.concurrent.locks.ReentrantLock".into(), ..cell }, slow)
        };
        let of = names(vec![seen("Cache.get", 5.0), java("Cache.get", 1.0)]);
        assert_eq!(of, ["ReentrantLock taken in Cache.get"; 2]);
    }
}

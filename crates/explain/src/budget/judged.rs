//! The judged waits: what each wait of the workload's threads was for, as it was recorded and as it is taken to be, with the reason. Made once;
//! the ledger of an explanation, its cells, the page of the thread ledger and `judged_wait` in SQL are sums of it.

use super::cell::Seen;
use super::ledger::{Group, group};
use super::state::{ALL, STATES, State};
use compare::{PerSide, Side};
use std::collections::{BTreeMap, HashMap};
use std::fmt;

/// Why a wait is taken to be in a state, the surest reasons first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// The recorder said so, and nothing is known that speaks against it.
    #[default]
    Recorded,
    /// The functions that it waits in are for something else.
    Code,
    /// A thread of the workload ended it: it is one for its work.
    Waker,
    /// It ended because its time ran out, or did not.
    Timeout,
    /// It goes on, while others of its kind end soon: nobody asks for anything.
    GoesOn,
    /// Its threads sleep as much on the other side.
    Steady,
    /// Its stack could not be read: it is what others of its threads are, at the same place.
    Alike,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Why::Recorded => "as recorded",
            Why::Code => "its code",
            Why::Waker => "a thread of the workload ended it",
            Why::Timeout => "whether its time ran out",
            Why::GoesOn => "it goes on while others end soon",
            Why::Steady => "its threads always sleep",
            Why::Alike => "as others of its threads, its stack is not known",
        })
    }
}

/// Waits of threads of one name at one place, with their time.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Name of the process.
    pub comm: String,
    /// Name of the thread, `#` for digits.
    pub thread: String,
    /// The kernel function or system call that it waited in.
    pub what: String,
    /// The process that ended it; empty where none is known.
    pub waker: String,
    /// The state in the recording.
    pub recorded: State,
    /// The state that it is taken to be.
    pub state: State,
    /// Why.
    pub why: Why,
    /// Seconds of both sides within their windows.
    pub time: PerSide<f64>,
}

/// By side and state, the part of its time that belongs to each other state.
pub(crate) type Moves = [[[f64; STATES]; STATES]; 2];

/// The table of these waits.
pub(super) fn table(waits: &[Seen]) -> Vec<Judged> {
    type Key<'s> = (&'s str, &'s str, &'s str, &'s str, State, State, Why);
    let mut times: BTreeMap<Key<'_>, PerSide<f64>> = BTreeMap::new();
    for Seen { cell, weights, to } in waits {
        let Some(recorded) = cell.state else { continue };
        let (state, why) = to.unwrap_or((recorded, Why::Recorded));
        let time = times.entry((&cell.comm, &cell.thread, &cell.what, &cell.waker, recorded, state, why)).or_default();
        for (side, weight) in Side::BOTH.into_iter().zip(weights) {
            time[side] += weight;
        }
    }
    let judged = |((comm, thread, what, waker, recorded, state, why), time): (Key<'_>, PerSide<f64>)| Judged {
        comm: comm.to_owned(),
        thread: thread.to_owned(),
        what: what.to_owned(),
        waker: waker.to_owned(),
        recorded,
        state,
        why,
        time,
    };
    times.into_iter().map(judged).collect()
}

/// What of the recorded states belongs to others, of the waits of these threads.
pub(super) fn moves(judged: &[Judged], is_one: &dyn Fn(&Judged) -> bool) -> Moves {
    let mut moves: Moves = [[[0.0; STATES]; STATES]; 2];
    for wait in judged.iter().filter(|wait| is_one(wait)) {
        for (moves, time) in moves.iter_mut().zip(wait.time.both()) {
            moves[wait.recorded as usize][wait.state as usize] += time;
        }
    }
    for row in moves.iter_mut().flatten() {
        let all: f64 = row.iter().sum();
        row.iter_mut().for_each(|part| *part = if all > 0.0 { *part / all } else { 0.0 });
    }
    for moves in &mut moves {
        for (state, row) in moves.iter_mut().enumerate() {
            row[state] = 0.0;
        }
    }
    moves
}

/// What of the recorded states of a thread belongs to others: recorded state, state, part.
pub type Moved = Vec<(State, State, f64)>;

/// That of all threads of one side, by process and thread as [`group`] writes them; threads without any are left out.
pub fn moved(judged: &[Judged], side: Side) -> HashMap<Group, Moved> {
    let mut threads: HashMap<Group, Vec<Judged>> = HashMap::new();
    for wait in judged.iter().filter(|wait| wait.time[side] > 0.0) {
        threads.entry(group(&wait.comm, &wait.thread)).or_default().push(wait.clone());
    }
    let of = |waits: Vec<Judged>| -> Moved {
        let parts = moves(&waits, &|_| true)[side as usize];
        let pairs = ALL.into_iter().flat_map(|from| ALL.into_iter().map(move |to| (from, to)));
        let part = |(from, to): (State, State)| (from, to, parts[from as usize][to as usize]);
        pairs.map(part).filter(|(.., part)| *part > 0.0).collect()
    };
    threads.into_iter().map(|(thread, waits)| (thread, of(waits))).filter(|(_, moved)| !moved.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::cell::Cell;
    use super::*;

    #[test]
    fn states_are_sums_of_the_table() {
        let seen = |thread: &str, to: Option<(State, Why)>, weights: [f64; 2]| Seen {
            cell: Cell { state: Some(State::Sleep), comm: "app".into(), thread: thread.into(), ..Cell::default() },
            weights,
            to,
        };
        let judged = table(&[
            seen("worker", None, [1.0, 1.0]),
            seen("worker", Some((State::Lock, Why::Code)), [2.0, 0.0]),
            seen("worker", Some((State::Lock, Why::Code)), [1.0, 0.0]),
            seen("timer", Some((State::Idle, Why::Steady)), [5.0, 5.0]),
        ]);
        assert_eq!(judged.iter().map(|w| w.time.slow).collect::<Vec<_>>(), [5.0, 3.0, 1.0]);
        let of = |side: Side, thread: &str| moved(&judged, side).remove(&group("app", thread));
        assert_eq!(of(Side::Slow, "worker"), Some(vec![(State::Sleep, State::Lock, 0.75)]));
        assert_eq!(of(Side::Baseline, "worker"), None);
        assert_eq!(of(Side::Baseline, "timer"), Some(vec![(State::Sleep, State::Idle, 1.0)]));
        let all = moves(&judged, &|_| true);
        assert_eq!(all[0][State::Sleep as usize][State::Idle as usize], 5.0 / 9.0);
    }
}

//! Waits whose time ran out. Who waits for an event, and gives it a limit so short that the limit is what ends the wait, sleeps: a queue that is looked into
//! every few milliseconds, a batch that waits for what cannot come, a notice that was never sent. And who waits with a limit for something that
//! comes does not sleep, whatever the system call is called.

use super::cell::{Cell, Seen, Sides};
use super::judged::Why;
use super::ledger::{Group, group};
use super::state::State;
use lexicon::{Role, Roles};
use model::{NULL, Symbols};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// So many threads in such waits, on average, are worth looking at.
const MANY: f64 = 0.2;

/// Waits that run out this much more often, or less, or after a time that is longer or shorter by as much, are not the same on both sides.
const OTHERWISE: f64 = 1.5;

/// A number of threads that differs by less than this part is the same.
const SAME: f64 = 0.1;

/// Of one run alone, limits shorter than this, seconds, are taken for looks at what there is to do.
const SHORT: f64 = 0.02;

/// And sleeps longer than this for a clock of its own, where so many other threads are blocked on average.
const LONG: f64 = 0.2;
const MOSTLY: f64 = 0.5;

/// Where so many more threads than before wait for a lock, a disk and so on, waits run out because of that.
const HELD_UP: f64 = 0.3;

/// A wait that has gone on for so long, seconds, where those that end took less than so long since the read before, and so many ended, is for something
/// else than they: who waits so has nothing to do. Of waits that are all long, what is left of them at the last read would be as long as that.
///
/// Beside many that end soon, a wait that outlasts all of them by so much tells already.
const GOES_ON: f64 = 2.0;
const OUTLASTS: f64 = 0.5;
const SHORTLY: f64 = 0.04;
const ENDED: f64 = 20.0;

/// Waits of one kind of thread in one function of the kernel, whoever ended them.
#[derive(Clone, Copy, Debug, Default)]
struct Ended {
    /// How many ended, and how long they took since the read before.
    count: f64,
    last: f64,
    /// Seconds of those that go on, and have for long; and of those that go on, and have for longer than short ones take.
    goes_on: f64,
    outlasts: f64,
}

/// Waits of one kind of thread in one function of the kernel that no thread ended.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    /// Seconds of all of them, and of those whose time ran out.
    all: f64,
    out: f64,
    /// How many of the latter.
    count: f64,
}

/// Process, thread, state, and what it waited in.
type Key = (Group, String, String);

/// What is known of waits that ran out, by side.
pub(super) struct TimedOut {
    waits: HashMap<Key, [Sums; 2]>,
    ended: HashMap<Key, [Ended; 2]>,
    seconds: [f64; 2],
}

impl TimedOut {
    /// Reads them; `None` where a recording does not tell, as those of older versions.
    pub(super) fn load(sides: &Sides<'_>) -> Option<TimedOut> {
        let mut found = TimedOut { waits: HashMap::new(), ended: HashMap::new(), seconds: [0.0; 2] };
        for ((run, window), side) in sides.runs.iter().zip(sides.windows).zip(sides.side) {
            run.recording.table("wait")?.column("timed_out")?;
            found.seconds[*side as usize] += (window.to - window.from).max(0) as f64 * 1e-9;
            let names =
                ["comm", "thread", "state", "what", "waker", "time", "timed_out", "timed_out_time", "count", "longest"];
            let mut symbols = Symbols::default();
            let interval = run.recording.manifest().interval;
            // A row is put down at the read after it: that of the last ones comes after the window.
            run.recording.scan("wait", &names, Some((window.from, i64::MAX)), &mut symbols, |batch| {
                for row in 0..batch.len() {
                    let part = batch.part(row, interval, window);
                    if part <= 0.0 {
                        continue;
                    }
                    let text = |column: usize| batch.symbols.text(batch.cell(column, row)).unwrap_or_default();
                    let number = |column: usize| batch.cell(column, row).max(0) as f64 * part;
                    let key = (group(text(0), text(1)), text(2).to_owned(), text(3).to_owned());
                    let (time, count) = (number(5) * 1e-9, number(8));
                    if ["network", "pipe"].contains(&key.1.as_str()) {
                        let ended = &mut found.ended.entry(key.clone()).or_default()[*side as usize];
                        ended.count += count;
                        ended.last += if count > 0.0 { time } else { 0.0 };
                        let longest = if count == 0.0 { batch.cell(9, row) as f64 * 1e-9 } else { 0.0 };
                        ended.goes_on += if longest > GOES_ON { time } else { 0.0 };
                        ended.outlasts += if longest > OUTLASTS { time } else { 0.0 };
                    }
                    if batch.cell(4, row) != NULL {
                        continue;
                    }
                    let sums = &mut found.waits.entry(key).or_default()[*side as usize];
                    sums.all += number(5) * 1e-9;
                    sums.count += number(6);
                    sums.out += number(7) * 1e-9;
                }
            });
        }
        found.seconds.iter().any(|s| *s > 0.0).then_some(found)
    }

    fn of(&self, cell: &Cell) -> [Sums; 2] {
        let key = (who(cell), cell.state.map_or("", State::name).to_owned(), cell.what.clone());
        self.waits.get(&key).filter(|_| cell.waker.is_empty()).copied().unwrap_or_default()
    }

    /// The part of each side's time in a wait that ran out.
    fn part(&self, cell: &Cell) -> [f64; 2] {
        self.of(cell).map(|sums| if sums.all > 0.0 { (sums.out / sums.all).min(1.0) } else { 0.0 })
    }

    /// The part of each side's time in a wait for data that goes on, where others like it end soon: so wait the threads of a server whose clients have
    /// nothing to ask, and what is done meanwhile does not wait for them. Of one run alone nothing is known of what it should do.
    fn part_that_goes_on(&self, cell: &Cell) -> [f64; 2] {
        let key = (who(cell), cell.state.map_or("", State::name).to_owned(), cell.what.clone());
        let Some(ended) = self.ended.get(&key).filter(|_| cell.waker.is_empty() && !self.is_alone()) else {
            return [0.0; 2];
        };
        let all = self.of(cell);
        [0, 1].map(|side| {
            let Ended { count, last, goes_on, outlasts } = ended[side];
            let are_short = last < SHORTLY * count;
            let idle = match count {
                count if count >= ENDED && are_short => outlasts,
                // As where none ended: a single request must not turn a minute of waiting for the next one into network time.
                count if count == 0.0 || are_short => goes_on,
                _ => 0.0,
            };
            if all[side].all > 0.0 { (idle / all[side].all).min(1.0) } else { 0.0 }
        })
    }

    /// Divides waits into what ran out and what did not.
    pub(super) fn divide(&self, waits: Vec<Seen>, works: &dyn Fn(&Group) -> bool) -> Vec<Seen> {
        let mut divided = Vec::with_capacity(waits.len());
        for mut wait in waits {
            if wait.to.is_none() {
                let parts = self.part_that_goes_on(&wait.cell);
                divided.push(Seen { to: Some((State::Idle, Why::GoesOn)), ..split(&mut wait, parts) });
            }
            // Of polls with a limit the kernel does not say who ended them.
            if wait.to.is_none() && wait.cell.state == Some(State::Sleep) && wait.cell.waits.is_poll {
                let parts = self.part(&wait.cell).map(|part| 1.0 - part);
                let awoken = split(&mut wait, parts);
                divided.push(Seen { to: Some((State::Idle, Why::Timeout)), ..awoken });
            }
            divided.push(wait);
        }
        let sleepers = self.sleepers(&divided, works);
        let mut slept = Vec::new();
        for wait in divided.iter_mut().filter(|wait| is_for_work(wait) && sleepers.contains(&who(&wait.cell))) {
            let parts = self.part(&wait.cell);
            slept.push(Seen { to: Some((State::Sleep, Why::Timeout)), ..split(wait, parts) });
        }
        divided.extend(slept);
        match self.is_alone() {
            true => self.rouse_long(&mut divided),
            false => self.rouse_steady(&mut divided),
        }
        divided.retain(|wait| wait.weights[0] > 0.0 || wait.weights[1] > 0.0);
        divided
    }

    /// Whether there is one side only.
    fn is_alone(&self) -> bool {
        self.seconds[1] <= 0.0
    }

    /// In one run alone, threads that sleep long beside others that are blocked keep time: they only wait.
    fn rouse_long(&self, waits: &mut [Seen]) {
        let is_long = |wait: &Seen| wait.to.is_none() && length(&self.of(&wait.cell)[0]) > LONG;
        let blocked = |wait: &&Seen| wait.state().is_some_and(|s| super::WAITS.contains(&s)) && !is_long(wait);
        let others: f64 = waits.iter().filter(blocked).map(|wait| self.rate(wait.weights[0], 0)).sum();
        for wait in waits.iter_mut().filter(|wait| others > MOSTLY && wait.state() == Some(State::Sleep)) {
            if is_long(wait) {
                wait.to = Some((State::Idle, Why::Steady));
            }
        }
    }

    /// Where more threads sleep than on the other side, so do those that always sleep, at the same place on both, such as one that tells the progress.
    fn rouse_steady(&self, waits: &mut [Seen]) {
        let mut asleep: BTreeMap<(Group, &str), [f64; 2]> = BTreeMap::new();
        for wait in waits.iter().filter(|wait| wait.state() == Some(State::Sleep)) {
            let sums = asleep.entry((who(&wait.cell), &wait.cell.path)).or_default();
            for (side, sum) in sums.iter_mut().enumerate() {
                *sum += self.rate(wait.weights[side], side);
            }
        }
        let more = |[slow, fast]: &[f64; 2]| slow - fast;
        if !asleep.values().any(|sums| more(sums) > MANY) {
            return;
        }
        asleep.retain(|_, sums| more(sums).abs() < SAME * sums[0]);
        let steady: BTreeSet<(Group, String)> =
            asleep.into_keys().map(|(group, path)| (group, path.to_owned())).collect();
        for wait in waits.iter_mut().filter(|wait| wait.state() == Some(State::Sleep)) {
            if steady.contains(&(who(&wait.cell), wait.cell.path.clone())) {
                wait.to = Some((State::Idle, Why::Steady));
            }
        }
    }

    /// For each second of a side.
    fn rate(&self, sum: f64, side: usize) -> f64 {
        self.seconds.get(side).filter(|s| **s > 0.0).map_or(0.0, |seconds| sum / seconds)
    }

    /// Kinds of threads that do the work and wait for more of it with limits that end their waits otherwise than on the other side, while nobody is held up.
    fn sleepers(&self, waits: &[Seen], works: &dyn Fn(&Group) -> bool) -> BTreeSet<Group> {
        let mut held_up = 0.0;
        let mut out: BTreeMap<Group, [Sums; 2]> = BTreeMap::new();
        let mut seen: BTreeSet<(Group, &str)> = BTreeSet::new();
        for wait in waits.iter().filter(|wait| works(&who(&wait.cell))) {
            if wait.state().is_some_and(|state| super::WAITS.contains(&state)) {
                held_up += self.rate(wait.weights[0], 0) - self.rate(wait.weights[1], 1);
            } else if is_for_work(wait) && wait.cell.waker.is_empty() && seen.insert((who(&wait.cell), &wait.cell.what))
            {
                for (sum, more) in out.entry(who(&wait.cell)).or_default().iter_mut().zip(self.of(&wait.cell)) {
                    sum.out += more.out;
                    sum.count += more.count;
                }
            }
        }
        let differs = |a: f64, b: f64| !(b > 0.0 && (1.0 / OTHERWISE..=OTHERWISE).contains(&(a / b)));
        let is_sleeper = |[slow, fast]: &[Sums; 2]| {
            let many = self.rate(slow.out, 0) > MANY;
            if self.is_alone() {
                return many && length(slow) < SHORT;
            }
            many && (differs(self.rate(slow.count, 0), self.rate(fast.count, 1)) || differs(length(slow), length(fast)))
        };
        let is_held_up = !self.is_alone() && held_up >= HELD_UP;
        out.retain(|_, sums| !is_held_up && is_sleeper(sums));
        out.into_keys().collect()
    }
}

/// How long waits were that ran out, on average, seconds; where none has yet, how long they have been.
fn length(of: &Sums) -> f64 {
    if of.count > 0.0 { of.out / of.count } else { of.all }
}

fn who(cell: &Cell) -> Group {
    group(&cell.comm, &cell.thread)
}

/// Takes these parts of its sides' time out of a wait.
fn split(wait: &mut Seen, parts: [f64; 2]) -> Seen {
    let mut taken = wait.clone();
    for ((weight, taken), part) in wait.weights.iter_mut().zip(&mut taken.weights).zip(parts) {
        *taken = *weight * part;
        *weight -= *taken;
    }
    taken
}

/// Whether a thread waits for work, as the ledger has it. The threads of a scheduler, such as Go's, take turns at such waits, whatever its goroutines do.
fn is_for_work(wait: &Seen) -> bool {
    let turns = Roles::of(&[Role::Scheduler, Role::Housekeeping]);
    wait.cell.state == Some(State::Idle) && wait.to.is_none() && !wait.cell.roles.any(turns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::ledger::Working;
    use crate::budget::waits::Waiting;

    fn cell(state: State, thread: &str, what: &str, waker: &str) -> Cell {
        let (comm, path) = ("app".into(), ";main;".into());
        let cell = Cell {
            state: Some(state),
            comm,
            thread: thread.into(),
            what: what.into(),
            waker: waker.into(),
            path,
            ..Cell::default()
        };
        Cell { waits: Waiting::of(&cell, std::iter::empty), ..cell }
    }

    fn key(thread: &str, state: &str, what: &str) -> Key {
        (("app".into(), thread.into()), state.into(), what.into())
    }

    fn time(found: &[Seen], thread: &str, state: State) -> [f64; 2] {
        let of = found.iter().filter(|wait| wait.cell.thread == thread && wait.state() == Some(state));
        of.fold([0.0; 2], |sum, wait| [sum[0] + wait.weights[0], sum[1] + wait.weights[1]])
    }

    #[test]
    fn waits_outside_of_the_window_do_not_count() {
        use model::{Column, Table, Unit, Window};
        static WAIT: Table = Table::wide(
            "wait",
            "waits",
            &[
                Column::fact("comm", "process"),
                Column::fact("thread", "thread"),
                Column::fact("state", "state"),
                Column::fact("what", "where"),
                Column::fact("waker", "who ended it"),
                Column::gauge("time", Unit::Nanoseconds, "time"),
                Column::gauge("timed_out", Unit::None, "waits that ran out"),
                Column::gauge("timed_out_time", Unit::Nanoseconds, "their time"),
            ],
        )
        .of_events();
        let mut rows = String::from("t comm thread state what waker time timed_out timed_out_time\n");
        for t in 1..=10 {
            rows += &format!("{t} app pool idle futex_do_wait - 1000000000 1 500000000\n");
        }
        let run = query::testing::run("run", &[(&WAIT, &rows)]);
        let window = Window { from: 4_200_000_000, to: 6_200_000_000, why: String::new() };
        let (own, working) = (BTreeSet::new(), Working::default());
        let sides =
            Sides { runs: &[&run], windows: &[&window], side: &[compare::Side::Slow], own: &own, working: &working };
        let timed = TimedOut::load(&sides).unwrap();
        let sums = timed.waits[&key("pool", "idle", "futex_do_wait")][0];
        assert_eq!((sums.all, sums.count, sums.out, timed.seconds[0]), (2.0, 2.0, 1.0, 2.0));
    }

    #[test]
    fn who_waits_in_vain_sleeps_and_who_gets_an_event_does_not() {
        let all = |out: f64, count: f64| Sums { all: 10.0, out, count };
        let timed = TimedOut {
            waits: HashMap::from([
                (key("committer", "idle", "futex_do_wait"), [all(10.0, 2000.0), Sums::default()]),
                (key("loop", "sleep", "do_poll"), [all(1.0, 10.0), all(1.0, 10.0)]),
                (key("pool", "idle", "futex_do_wait"), [all(10.0, 100.0), all(10.0, 100.0)]),
            ]),
            ended: HashMap::new(),
            seconds: [10.0; 2],
        };
        let working: BTreeSet<Group> = ["committer", "loop", "pool"].map(|t| ("app".into(), t.into())).into();
        let waits = || {
            let all = [
                (cell(State::Sleep, "progress", "hrtimer_nanosleep", ""), [10.0, 10.0]),
                (cell(State::Idle, "committer", "futex_do_wait", ""), [10.0, 0.0]),
                (cell(State::Idle, "committer", "futex_do_wait", "app"), [1.0, 9.0]),
                (cell(State::Sleep, "loop", "do_poll", ""), [10.0, 10.0]),
                (cell(State::Idle, "pool", "futex_do_wait", ""), [10.0, 10.0]),
            ];
            Vec::from(all.map(|(cell, weights)| Seen { cell, weights, to: None }))
        };
        let found = timed.divide(waits(), &|group| working.contains(group));
        assert_eq!(time(&found, "committer", State::Sleep), [10.0, 0.0]);
        assert_eq!(time(&found, "committer", State::Idle), [1.0, 9.0], "who was woken was not asleep");
        assert_eq!(time(&found, "pool", State::Idle), [10.0, 10.0], "as on the other side");
        assert_eq!(time(&found, "progress", State::Idle), [10.0, 10.0], "it always does");
        // Behind a lock, waits run out because of it.
        let mut held = waits();
        let lock = cell(State::Lock, "loop", "futex_do_wait", "app");
        held.push(Seen { cell: lock, weights: [8.0, 0.0], to: None });
        let found = timed.divide(held, &|group| working.contains(group));
        assert_eq!(time(&found, "committer", State::Sleep), [0.0, 0.0]);
        assert_eq!(time(&found, "progress", State::Sleep), [10.0, 10.0], "as all there do");
        assert_eq!(time(&found, "loop", State::Idle), [9.0, 9.0]);
        assert_eq!(time(&found, "loop", State::Sleep), [1.0, 1.0]);
    }

    #[test]
    fn who_waits_for_clients_that_ask_nothing_is_idle() {
        let ended = |count: f64, last: f64, goes_on: f64| Ended { count, last, goes_on, outlasts: goes_on };
        let wait = |thread: &str| Seen {
            cell: cell(State::Network, thread, "wait_woken", ""),
            weights: [100.0, 10.0],
            to: None,
        };
        let all = Sums { all: 100.0, ..Sums::default() };
        let timed = |slow: Ended| TimedOut {
            waits: HashMap::from([(key("server", "network", "wait_woken"), [all; 2])]),
            ended: HashMap::from([(key("server", "network", "wait_woken"), [slow, Ended::default()])]),
            seconds: [10.0; 2],
        };
        let idle = |slow: Ended| time(&timed(slow).divide(vec![wait("server")], &|_| true), "server", State::Idle)[0];
        assert_eq!(idle(ended(3000.0, 3.0, 90.0)), 90.0, "answers take a millisecond, and most threads wait for ever");
        assert_eq!(idle(ended(0.0, 0.0, 100.0)), 100.0, "nobody asks");
        assert_eq!(idle(ended(300.0, 30.0, 90.0)), 0.0, "answers take long");
        assert_eq!(idle(ended(3.0, 0.003, 90.0)), 90.0, "few ask, and get their answers soon");
        let few = Ended { count: 3.0, last: 0.003, goes_on: 0.0, outlasts: 90.0 };
        assert_eq!(idle(few), 0.0, "too few to tell by waits of a second");
    }
}

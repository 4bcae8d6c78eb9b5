//! The ledgers of the runs: what the threads that do the work spent their time on, tick by tick, with the work done meanwhile and the CPU time
//! that others took.

use super::state::{LEDGER, STATES, State, Sums};
use compare::line::Line;
use compare::work::Progress;
use compare::{Pace, means, window};
use model::Window;
use query::Run;
use query::series::{Cut, Grid};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;
use store::Frame;

/// Threads that use less CPU time than this share of what the busiest use keep house: timers, statistics, those who wait for the others.
const WORKING: f64 = 0.03;

/// What one stretch between two reads holds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tick {
    /// Seconds.
    pub(crate) length: f64,
    pub(crate) sums: Sums,
}

/// One run's ledger in its window.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    pub(crate) ticks: Vec<Tick>,
    /// Seconds between the reports of work; work is straight between them.
    pub(crate) grain: f64,
    /// By group of those that work, thread-seconds in each state as they were read.
    pub(crate) groups: BTreeMap<Group, [f64; STATES]>,
}

/// What a unit of work is.
pub(crate) enum Work<'a> {
    /// What the workload reported.
    Reported(&'a Progress),
    /// One run of the command, from start to end.
    Run,
    /// Nothing is known of the work: a second.
    Seconds,
}

/// Names of process and thread; digits of thread names are no part of them.
pub type Group = (String, String);

/// What threads are called, without what numbers them.
pub fn group(comm: &str, thread: &str) -> Group {
    let numberless = |name: &str| {
        let mut out = String::with_capacity(name.len());
        for c in name.chars() {
            let c = if c.is_ascii_digit() { '#' } else { c };
            if c != '#' || !out.ends_with('#') {
                out.push(c);
            }
        }
        out
    };
    (numberless(comm), numberless(thread))
}

/// The labels that tell threads apart.
const THREAD: [&str; 4] = ["pid", "tid", "comm", "thread"];

/// A thread of a run: process and thread id.
type Id = (String, String);

/// The time in some states by thread, read together: there may be thousands of threads.
struct Times<'a> {
    frame: Frame,
    window: &'a Window,
}

impl<'a> Times<'a> {
    fn of(run: &Run, window: &'a Window, states: &[&str]) -> Option<Times<'a>> {
        Some(Times { frame: means::frame(run, "thread_time", states, window)?, window })
    }

    /// Those in one state: seconds for each interval, and the intervals of the window.
    fn grid(&self, state: &str) -> Option<(Grid, Cut)> {
        let grid = Grid::new(&self.frame, &query::metric(self.frame.table, state)?, &THREAD, None).ok()?;
        let cut = grid.cut(self.window);
        Some((grid, cut))
    }
}

/// Which threads do the work, over all runs: those with CPU time to speak of, and those like them.
#[derive(Debug, Default)]
pub(crate) struct Working {
    /// Groups of threads with one that does.
    groups: BTreeSet<Group>,
    /// Groups of threads with one that was there for long, whether it works or not.
    lasting: BTreeSet<Group>,
    /// By run, the threads that keep house in a group of others that work: a runtime calls all its threads by one name.
    keeping: Vec<HashSet<Id>>,
}

/// What the recorder calls the threads that came and went between two reads, all together.
const ENDED: &str = "(ended)";

/// A thread is there for long that is for this part of the window, and for more than the two reads between which one that is seen once may live.
const LASTING: f64 = 0.1;
const READS: f64 = 2.5;

/// A thread of a group that works keeps house where it is on a CPU, or kept from it, for a smaller part of the time that it is there than this share of
/// what its like are on average.
const LIKE: f64 = 0.25;

/// What tells whether a thread does the work, seconds; after the start but for the first.
#[derive(Clone, Copy, Default)]
struct Engaged {
    /// In which it was there, from the beginning of the window.
    there: f64,
    /// In which it was there.
    late: f64,
    /// On a CPU.
    cpu: f64,
    /// On a CPU or kept from it.
    engaged: f64,
}

const ON_CPU: [&str; 2] = ["user", "kernel"];

/// What keeps a thread from a CPU that has something to do.
const KEPT: [&str; 5] = ["runnable", "throttled", "lock", "disk", "fault"];

/// Between these shares of the CPUs' time in use, CPUs go from free to all taken.
const FREE: f64 = 0.8;
const FULL: f64 = 1.0;

/// The part of the window that may be a start.
const STARTING: f64 = 0.3;

/// Who was there for less than this part of its time after the start is not judged by what it did after it.
const MOSTLY: f64 = 0.5;

impl Working {
    /// Finds them out.
    pub(crate) fn of(runs: &[&Run], windows: &[&Window], own: &BTreeSet<String>) -> Working {
        let mut shares: BTreeMap<Group, f64> = BTreeMap::new();
        let mut lasting: BTreeSet<Group> = BTreeSet::new();
        let mut used: Vec<HashMap<Group, Vec<(Id, f64)>>> = Vec::new();
        for (run, window) in runs.iter().zip(windows) {
            // CPU time, and with it what a thread is kept from it by: one that starves behind a lock does not keep house.
            let mut threads: HashMap<(Group, Id), Engaged> = HashMap::new();
            let mut reads = 0;
            let states: Vec<&str> = ON_CPU.into_iter().chain(KEPT).collect();
            let times = Times::of(run, window, &states);
            for state in states {
                let Some((grid, cut)) = times.as_ref().and_then(|times| times.grid(state)) else { continue };
                let range = cut.range.clone();
                reads = reads.max(range.len());
                for series in &grid.series {
                    let [pid, tid, comm, thread] = series.labels.as_slice() else { continue };
                    if is_own(run, own, comm) {
                        // What a thread did only at the start, such as to start the others, is not what it is there for.
                        let start = range.start + (range.len() as f64 * STARTING) as usize;
                        let sums = |range: Range<usize>| {
                            let inside = series.measured(range).map(|(i, n, d)| (n * cut.part(i), d * cut.part(i)));
                            inside.fold((0.0, 0.0), |(n, d), (num, den)| (n + num, d + den))
                        };
                        let ((_, there), (seconds, late)) = (sums(range.clone()), sums(start..range.end));
                        let id = (pid.clone(), tid.clone());
                        let engaged = threads.entry((group(comm, thread), id)).or_default();
                        engaged.there = engaged.there.max(there);
                        engaged.late = engaged.late.max(late);
                        engaged.cpu += if ON_CPU.contains(&state) { seconds } else { 0.0 };
                        engaged.engaged += seconds;
                    }
                }
            }
            let most = threads.values().fold(0.0f64, |most, thread| most.max(thread.cpu));
            let mut by_group: HashMap<Group, Vec<(Id, f64)>> = HashMap::new();
            for ((group, id), thread) in threads {
                let long = LASTING.max(READS / reads.max(1) as f64);
                if thread.there > long * (window.to - window.from) as f64 / 1e9 {
                    lasting.insert(group.clone());
                }
                if most > 0.0 {
                    let share = shares.entry(group.clone()).or_insert(0.0);
                    *share = share.max(thread.cpu / most);
                }
                // Who was gone by then, or soon after, cannot be judged by it: it may have done a phase of the work.
                if thread.late > 0.0 && thread.late >= MOSTLY * thread.there {
                    by_group.entry(group).or_default().push((id, thread.engaged / thread.late));
                }
            }
            used.push(by_group);
        }
        let groups: BTreeSet<Group> =
            shares.into_iter().filter(|(_, share)| *share >= WORKING).map(|(group, _)| group).collect();
        let keeping = used
            .into_iter()
            .map(|by_group| {
                let of_group = |(group, threads): (Group, Vec<(Id, f64)>)| {
                    let mean = threads.iter().map(|(_, s)| s).sum::<f64>() / threads.len().max(1) as f64;
                    let works = groups.contains(&group);
                    // Threads that came and went between two reads have no number, and are taken as one.
                    threads
                        .into_iter()
                        .filter(move |((_, tid), s)| works && tid != "0" && *s < LIKE * mean)
                        .map(|(id, _)| id)
                };
                by_group.into_iter().flat_map(of_group).collect()
            })
            .collect();
        Working { groups, lasting, keeping }
    }

    /// Whether threads of this group do the work. Of those that come and go only some are seen by name, and each has little time: they are what the others are.
    pub(crate) fn works(&self, group: &Group) -> bool {
        let come_and_go =
            || !self.lasting.contains(group) && self.groups.contains(&(group.0.clone(), ENDED.to_owned()));
        self.groups.contains(group) || come_and_go()
    }

    /// Takes these for groups that do not do the work.
    pub(crate) fn leave_out(&mut self, others: &BTreeSet<Group>) {
        self.groups.retain(|group| !others.contains(group));
        self.lasting.extend(others.iter().cloned());
    }

    /// Whether a thread is one of a group that works, and whether it keeps house all the same.
    fn like(&self, run: usize, labels: &[String]) -> (bool, bool) {
        let [pid, tid, comm, thread] = labels else { return (false, false) };
        let keeps = |keeping: &HashSet<Id>| keeping.contains(&(pid.clone(), tid.clone()));
        (self.works(&group(comm, thread)), self.keeping.get(run).is_some_and(keeps))
    }
}

/// Whether a process belongs to the workload: where only chosen threads were looked at, all that were.
pub(crate) fn is_own(run: &Run, own: &BTreeSet<String>, comm: &str) -> bool {
    own.is_empty() || run.recording.manifest().has_scope() || own.contains(comm)
}

/// Among how many threads CPU time is spread, by that of each. Those that came and went between two reads have no number, and are many.
fn spread(cpu_of: &HashMap<&[String], f64>) -> f64 {
    let is_numbered = |labels: &[String]| labels.get(1).is_some_and(|tid| tid != "0");
    let all: f64 = cpu_of.values().sum();
    let squares: f64 = cpu_of.iter().filter(|(labels, _)| is_numbered(labels)).map(|(_, cpu)| cpu * cpu).sum();
    if squares > 0.0 { all * all / squares } else { 0.0 }
}

/// CPU time of all CPUs over time.
fn busy(run: &Run, window: &Window) -> Option<Line> {
    line(&means::grid(run, "cpu", "busy", &[], window)?)
}

/// CPU seconds of recorders.
fn recorder(run: &Run, window: &Window) -> Option<Line> {
    line(&means::of_recorders(run, window)?)
}

/// The sum of what a metric counted.
fn line(grid: &Grid) -> Option<Line> {
    let series = grid.series.first()?;
    let mut line = Line::default();
    line.push(grid.from.first().copied()?, 0.0);
    let mut sum = 0.0;
    for i in grid.all() {
        let (Some(&to), num) = (grid.to.get(i), series.num(i)) else { continue };
        sum += if num.is_finite() { num } else { 0.0 };
        line.push(to, sum);
    }
    Some(line)
}

/// Waits do not tell one thread from another of its name. Who rests waits for work without an end; those that ran out of time are of the threads that
/// work, such as the event loop of Node.js among threads that are all called `node`.
fn roused(moves: &mut [[f64; STATES]; STATES], idle: f64, resting: f64) {
    let row = &mut moves[State::Idle as usize];
    let others = row.iter().sum::<f64>() - row[State::Sleep as usize];
    let slept = row[State::Sleep as usize];
    if idle > 0.0 && slept > 0.0 {
        row[State::Sleep as usize] = (slept * (idle + resting) / idle).min((1.0 - others).max(slept));
    }
}

impl Ledger {
    /// Reads that of run number `index`; `None` where its threads were not looked at. `moves`: by state, the part of its time
    /// that belongs to each other one. `pace`: of the run as a whole, where its work is known.
    pub(crate) fn load(
        (index, run): (usize, &Run),
        window: &Window,
        own: &BTreeSet<String>,
        working: &Working,
        (work, pace): (&Work<'_>, Option<Pace>),
        moves: &[[f64; STATES]; STATES],
    ) -> Option<Ledger> {
        let times = Times::of(run, window, &LEDGER.map(|(_, name)| name))?;
        let (first, cut) = times.grid("user")?;
        let range = cut.range;
        // What threads of a command did, they did while it ran, though the reads at its start and end come a moment before and after.
        let is_all_inside = window::is_life(window) && run.recording.manifest().scope == model::whose::COMMAND;
        let part = |cut: &Cut, i: usize| if is_all_inside { 1.0 } else { cut.part(i) };
        let mut ticks = vec![Tick::default(); range.len()];
        // CPU time of all threads of the workload, those that keep house included: the rest is others'.
        let mut used = vec![0.0; range.len()];
        let mut groups: BTreeMap<Group, [f64; STATES]> = BTreeMap::new();
        let mut cpu_of: HashMap<&[String], f64> = HashMap::new();
        // Waiting for work: of threads that work, and of others of their names that rest.
        let (mut idle, mut resting) = (0.0, 0.0);
        let mut grids = Vec::with_capacity(LEDGER.len());
        for (state, name) in LEDGER {
            grids.push((state, times.grid(name)?));
        }
        for (state, (grid, cut)) in &grids {
            let state = *state;
            for series in &grid.series {
                let [_, _, comm, thread] = series.labels.as_slice() else { continue };
                if !is_own(run, own, comm) {
                    continue;
                }
                let (like, keeps) = working.like(index, &series.labels);
                let working = like && !keeps;
                if working {
                    let sum: f64 =
                        series.measured(cut.range.clone()).map(|(i, seconds, _)| seconds * part(cut, i)).sum();
                    groups.entry(group(comm, thread)).or_insert([0.0; STATES])[state as usize] += sum;
                    if ON_CPU.contains(&state.name()) {
                        *cpu_of.entry(series.labels.as_slice()).or_insert(0.0) += sum;
                    }
                }
                if state == State::Idle && like {
                    let sum: f64 =
                        series.measured(cut.range.clone()).map(|(i, seconds, _)| seconds * part(cut, i)).sum();
                    *if keeps { &mut resting } else { &mut idle } += sum;
                }
                for (i, seconds, _) in series.measured(cut.range.clone()) {
                    let (at, seconds) = (i - cut.range.start, seconds * part(cut, i));
                    if let Some(sum) = used.get_mut(at).filter(|_| state.is_on_cpu()) {
                        *sum += seconds;
                    }
                    if let Some(tick) = ticks.get_mut(at) {
                        let sums = &mut tick.sums;
                        sums.resting += if like && keeps { seconds } else { 0.0 };
                        *if working {
                            &mut sums.time[state as usize]
                        } else {
                            &mut sums.housekeeping[state as usize]
                        } += seconds;
                    }
                }
            }
        }
        let mut moves = *moves;
        roused(&mut moves, idle, resting);
        let spread = spread(&cpu_of);
        let (busy, recorder) = (busy(run, window), recorder(run, window));
        let cpus = run.recording.manifest().cpus as f64;
        let whole = window.seconds();
        for (at, i) in range.enumerate() {
            let (Some(&from), Some(&to), Some(tick)) = (first.from.get(i), first.to.get(i), ticks.get_mut(at)) else {
                continue;
            };
            let (from, to) = (from.max(window.from as f64 / 1e9), to.min(window.to as f64 / 1e9));
            tick.length = to - from;
            let sums = &mut tick.sums;
            sums.seconds = tick.length;
            sums.spread = spread * tick.length;
            for time in [&mut sums.time, &mut sums.housekeeping] {
                let read = *time;
                for (from, (row, had)) in moves.iter().zip(read).enumerate() {
                    for (to, part) in row.iter().enumerate() {
                        time[from] -= part * had;
                        time[to] += part * had;
                    }
                }
            }
            sums.work = match work {
                Work::Reported(progress) => progress.between(from, to),
                Work::Run => tick.length / whole.max(1e-9),
                Work::Seconds => tick.length,
            };
            let own = used.get(at).copied().unwrap_or(0.0);
            // What recorders took is no program's that somebody could move away.
            let foreign = busy.as_ref().map_or(0.0, |busy| (busy.between(from, to) - own).max(0.0));
            sums.recorder = recorder.as_ref().map_or(0.0, |line| line.between(from, to)).min(foreign);
            sums.others = foreign - sums.recorder;
            // What others used displaced as much of the workload, where no CPU was left over; who waited beyond that would have waited for threads of
            // its own. Where CPUs were idle, who waits for a CPU waits for those who are on it: own threads and others, in proportion.
            let runnable = sums.time[State::Crowded as usize];
            let on = own + foreign;
            let full = ((on / (cpus * tick.length) - FREE) / (FULL - FREE)).clamp(0.0, 1.0);
            let in_proportion = foreign / on.max(f64::MIN_POSITIVE);
            let part = in_proportion + full * (1.0 - in_proportion);
            let displaced = (runnable * part).min(foreign);
            let by_recorder = displaced * sums.recorder / foreign.max(f64::MIN_POSITIVE);
            sums.time[State::Recorder as usize] = by_recorder;
            sums.time[State::Neighbours as usize] = displaced - by_recorder;
            sums.time[State::Crowded as usize] = runnable - displaced;
        }
        // Where reads are missing, or the clock that waited for the command says otherwise, the pace of the whole is what is known best.
        let sum = ticks.iter().fold(Sums::default(), |sum, tick| sum + tick.sums);
        if let Some(factor) = pace.map(|pace| pace.rate() * sum.elapsed()).filter(|factor| factor.is_finite()) {
            ticks.iter_mut().for_each(|tick| tick.sums.work *= factor);
        }
        let grain = match work {
            Work::Reported(progress) => whole / progress.steps().count().max(1) as f64,
            Work::Run | Work::Seconds => 0.0,
        };
        Some(Ledger { ticks, grain, groups })
    }

    /// All of it.
    pub(crate) fn sums(&self) -> Sums {
        self.ticks.iter().fold(Sums::default(), |sum, tick| sum + tick.sums)
    }

    /// The part `part` of what the threads that do the work spent in one state was spent in another.
    pub(super) fn shift(&mut self, from: State, to: State, part: f64) {
        for time in self.ticks.iter_mut().map(|tick| &mut tick.sums.time).chain(self.groups.values_mut()) {
            let shifted = part * time[from as usize];
            time[from as usize] -= shifted;
            time[to as usize] += shifted;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Column, Table, Unit};

    static THREADS: Table = Table::wide(
        "thread_time",
        "threads",
        &[
            Column::number("pid", "process"),
            Column::number("tid", "thread"),
            Column::label("comm", "process"),
            Column::label("thread", "thread"),
            Column::counter("user", Unit::Nanoseconds, "on a CPU"),
            Column::counter("idle", Unit::Nanoseconds, "waited for work"),
        ],
    )
    .from_zero();

    #[test]
    fn a_thread_that_did_a_first_phase_works_and_one_that_only_waits_keeps_house() {
        let mut rows = String::from("t pid tid comm thread user idle\n");
        for t in 0..=20i64 {
            let second = t * 1_000_000_000;
            if t <= 4 {
                rows += &format!("{t} 1 2 app app {second} 0\n");
            } else {
                rows += &format!("{t} 1 3 app app {} 0\n", second - 4_000_000_000);
            }
            rows += &format!("{t} 1 1 app app {} {second}\n", t * 1000);
        }
        let run = query::testing::run("run", &[(&THREADS, &rows)]);
        let window = Window { from: 0, to: 20_000_000_000, why: String::new() };
        let working = Working::of(&[&run], &[&window], &BTreeSet::new());
        let like = |tid: &str| working.like(0, &["1", tid, "app", "app"].map(String::from));
        assert_eq!(like("2"), (true, false), "the first phase");
        assert_eq!(like("3"), (true, false), "the second");
        assert_eq!(like("1"), (true, true), "who started both");
    }

    /// Three compilers, one after another: the first ends soon after the part of the window that may be a start, the last begins just before the end.
    #[test]
    fn processes_that_follow_one_another_all_work() {
        let mut rows = String::from("t pid tid comm thread user idle\n");
        for (pid, from, to) in [(1, 0, 7), (2, 7, 19), (3, 19, 20)] {
            for t in from..=to {
                rows += &format!("{t} {pid} {pid} cc cc {} 0\n", (t - from) * 1_000_000_000i64);
            }
        }
        let run = query::testing::run("run", &[(&THREADS, &rows)]);
        let window = Window { from: 0, to: 20_000_000_000, why: String::new() };
        let working = Working::of(&[&run], &[&window], &BTreeSet::new());
        for pid in ["1", "2", "3"] {
            assert_eq!(working.like(0, &[pid, pid, "cc", "cc"].map(String::from)), (true, false), "{pid}");
        }
    }

    /// Most of them began and ended between two reads; who was seen is one of them, and has little time of its own.
    #[test]
    fn processes_that_come_and_go_work_whatever_was_seen_of_them() {
        let mut rows = String::from("t pid tid comm thread user idle\n");
        for t in 0..=20i64 {
            let second = t * 1_000_000_000;
            rows += &format!("{t} 0 0 date (ended) {} 0\n", second / 2);
            rows += &format!("{t} 1 1 app app {} {}\n", second / 2, second / 2);
            rows += &format!("{t} 1 2 date watch 0 {second}\n");
        }
        rows += "7 9 9 date date 1000000 0\n";
        let run = query::testing::run("run", &[(&THREADS, &rows)]);
        let window = Window { from: 0, to: 20_000_000_000, why: String::new() };
        let mut working = Working::of(&[&run], &[&window], &BTreeSet::new());
        let works = |working: &Working, thread: &str| working.works(&group("date", thread));
        assert!(works(&working, "date") && works(&working, "never seen") && !works(&working, "watch"));
        assert!(!working.works(&group("app", "never seen")));
        working.leave_out(&BTreeSet::from([group("date", ENDED)]));
        assert!(!works(&working, "date"));
    }

    #[test]
    fn timers_run_out_for_threads_that_work_not_for_those_of_their_name_that_rest() {
        let sleep = |moved: f64, idle: f64, resting: f64| {
            let mut moves = [[0.0; STATES]; STATES];
            moves[State::Idle as usize][State::Sleep as usize] = moved;
            moves[State::Idle as usize][State::Lock as usize] = 0.1;
            roused(&mut moves, idle, resting);
            moves[State::Idle as usize][State::Sleep as usize]
        };
        assert_eq!(sleep(0.2, 1.0, 0.0), 0.2, "nobody rests");
        assert!((sleep(0.2, 1.0, 3.0) - 0.8).abs() < 1e-9, "one of four works");
        assert!((sleep(0.2, 1.0, 9.0) - 0.9).abs() < 1e-9, "no more than there is");
        assert_eq!(sleep(0.0, 1.0, 9.0), 0.0);
    }

    #[test]
    fn threads_are_grouped_without_their_numbers() {
        assert_eq!(group("app", "worker-17"), group("app", "worker-3"));
        assert_eq!(group("app", "pool-2-thread-10").1, "pool-#-thread-#");
    }
}

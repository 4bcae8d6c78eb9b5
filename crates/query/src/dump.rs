//! What each thread was doing when a recording ended (table `thread_dump`), with its whole name, where its time went, and who waits for whom.

use crate::Run;
use crate::code::Code;
pub use crate::code::Frame;
use model::{NULL, Symbols};
use std::collections::{HashMap, HashSet};

/// A thread at the end of a recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Thread {
    /// Its process.
    pub pid: i64,
    /// Its number.
    pub tid: i64,
    /// Name of the process.
    pub comm: String,
    /// Its name; of a Java thread the whole one, of which the kernel keeps 15 characters.
    pub name: String,
    /// running, runnable, throttled, or what it was blocked in: a state of `thread_time`.
    pub state: String,
    /// Seconds that it had been in this state, as far as the recording goes back.
    pub since: f64,
    /// The kernel function, or the system call, that it waited in; empty where it ran.
    pub what: String,
    /// What it waited for: a class of Java, a lock's variable or address; empty where that is not known.
    pub object: String,
    /// The thread that held it.
    pub holder: Option<i64>,
    /// Innermost first; of a thread that ran, that of its last sample.
    pub stack: Vec<Frame>,
    /// CPU seconds per second of the recording.
    pub cpu: f64,
    /// The states that it was in, with their shares of its time, the largest first.
    pub shares: Vec<(&'static str, f64)>,
}

impl Thread {
    /// Whether it was on a CPU or wanted one.
    #[must_use]
    pub fn is_active(&self) -> bool {
        matches!(self.state.as_str(), "running" | "runnable" | "throttled")
    }
}

/// All threads at the end of a recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dump {
    /// By process and number.
    pub threads: Vec<Thread>,
    /// Seconds that were looked at.
    pub length: f64,
    /// Threads that wait for each other in a circle, each for what the next one holds.
    pub deadlocks: Vec<Vec<i64>>,
}

impl Dump {
    /// Reads it; `None` where the recording has none: it was cut off, or has no ledger of threads.
    #[must_use]
    pub fn load(run: &Run) -> Option<Dump> {
        let (mut threads, mut stacks, mut symbols) = (Vec::new(), HashMap::new(), Symbols::default());
        let columns = ["pid", "tid", "comm", "thread", "state", "since", "what", "stack", "object", "holder_tid"];
        run.recording.scan("thread_dump", &columns, None, &mut symbols, |batch| {
            for row in 0..batch.len() {
                let cell = |column| batch.cell(column, row);
                let text = |column| batch.symbols.text(cell(column)).unwrap_or("").to_owned();
                let thread = Thread {
                    pid: cell(0),
                    tid: cell(1),
                    comm: text(2),
                    name: text(3),
                    state: text(4),
                    since: if cell(5) == NULL { 0.0 } else { cell(5) as f64 / 1e9 },
                    what: text(6),
                    object: text(8),
                    holder: Some(cell(9)).filter(|tid| *tid != NULL),
                    ..Thread::default()
                };
                if cell(7) > 0 {
                    stacks.insert(thread.tid, cell(7));
                }
                threads.push(thread);
            }
        });
        if threads.is_empty() {
            return None;
        }
        threads.sort_by_key(|thread: &Thread| (thread.pid, thread.tid));
        for (tid, stack) in sampled(run) {
            stacks.entry(tid).or_insert(stack);
        }
        let code = Code::load(run, stacks.values().copied());
        let (mut times, names) = (times(run), java_names(run));
        let length = times.values().map(|times| total(times)).max().unwrap_or(0).max(1) as f64;
        for thread in &mut threads {
            let has_stack = !thread.is_active() && thread.what.is_empty();
            if let Some(&stack) = stacks.get(&thread.tid).filter(|_| !has_stack) {
                thread.stack = code.frames(stack);
            }
            if let Some(name) = names.get(&(thread.pid, thread.tid)) {
                thread.name.clone_from(name);
            }
            thread.take_times(times.remove(&(thread.pid, thread.tid)).unwrap_or_default(), length);
        }
        let deadlocks = circles(&threads);
        Some(Dump { threads, length: length / 1e9, deadlocks })
    }

    /// A thread by its number.
    #[must_use]
    pub fn thread(&self, tid: i64) -> Option<&Thread> {
        self.threads.iter().find(|thread| thread.tid == tid)
    }
}

impl Thread {
    fn take_times(&mut self, times: Vec<(&'static str, i64)>, length: f64) {
        let all = total(&times);
        let on_cpu: i64 = times.iter().filter(|(state, _)| matches!(*state, "user" | "kernel")).map(|(_, t)| t).sum();
        self.cpu = on_cpu as f64 / length;
        let share = |(state, time): (&'static str, i64)| (state, time as f64 / all.max(1) as f64);
        self.shares = times.into_iter().filter(|(_, time)| *time > 0).map(share).collect();
        self.shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    }
}

/// Time in all states.
fn total(times: &[(&'static str, i64)]) -> i64 {
    times.iter().map(|(_, time)| time).sum()
}

/// The stack of each thread's last sample.
fn sampled(run: &Run) -> HashMap<i64, i64> {
    let (mut last, mut symbols) = (HashMap::<i64, (i64, i64)>::new(), Symbols::default());
    run.recording.scan("sample", &["tid", "at", "stack"], None, &mut symbols, |batch| {
        for row in 0..batch.len() {
            let [tid, at, stack] = [0, 1, 2].map(|column| batch.cell(column, row));
            if stack > 0 && last.get(&tid).is_none_or(|(before, _)| *before <= at) {
                last.insert(tid, (at, stack));
            }
        }
    });
    last.into_iter().map(|(tid, (_, stack))| (tid, stack)).collect()
}

/// Nanoseconds in each state, by process and thread.
fn times(run: &Run) -> HashMap<(i64, i64), Vec<(&'static str, i64)>> {
    let Some(table) = run.recording.table("thread_time") else { return HashMap::new() };
    let states: Vec<&'static str> = table.columns.iter().filter(|c| c.state.is_some()).map(|c| c.name).collect();
    let columns: Vec<&str> = ["pid", "tid"].into_iter().chain(states.iter().copied()).collect();
    let (mut found, mut symbols) = (HashMap::new(), Symbols::default());
    run.recording.scan("thread_time", &columns, None, &mut symbols, |batch| {
        for row in 0..batch.len() {
            let state = |(at, name): (usize, &&'static str)| (*name, batch.cell(at + 2, row));
            let times = states.iter().enumerate().map(state).filter(|(_, time)| *time != NULL).collect();
            // Counters: the last row has all.
            found.insert((batch.cell(0, row), batch.cell(1, row)), times);
        }
    });
    found
}

/// The whole names of Java threads.
fn java_names(run: &Run) -> HashMap<(i64, i64), String> {
    let (mut found, mut symbols) = (HashMap::new(), Symbols::default());
    run.recording.scan("jvm_thread", &["pid", "tid", "name"], None, &mut symbols, |batch| {
        for row in 0..batch.len() {
            if let Some(name) = batch.symbols.text(batch.cell(2, row)).filter(|name| !name.is_empty()) {
                found.insert((batch.cell(0, row), batch.cell(1, row)), name.to_owned());
            }
        }
    });
    found
}

/// Circles of threads of which each waits for what the next one holds.
fn circles(threads: &[Thread]) -> Vec<Vec<i64>> {
    let waits: HashMap<i64, i64> = threads.iter().filter_map(|thread| Some((thread.tid, thread.holder?))).collect();
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for thread in threads {
        let (mut way, mut at) = (Vec::new(), thread.tid);
        while seen.insert(at) {
            way.push(at);
            match waits.get(&at) {
                Some(&next) => at = next,
                None => break,
            }
        }
        // It came back to one of its own way, and not to one that was gone before.
        if let Some(begin) = way.iter().position(|&tid| tid == at)
            && waits.contains_key(&at)
        {
            found.push(way.split_off(begin));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(tid: i64, holder: i64) -> Thread {
        Thread { tid, holder: Some(holder).filter(|tid| *tid > 0), ..Thread::default() }
    }

    #[test]
    fn who_waits_for_each_other() {
        let all = [thread(1, 2), thread(2, 3), thread(3, 2), thread(4, 1), thread(5, 0), thread(6, 99), thread(7, 7)];
        assert_eq!(circles(&all), [vec![2, 3], vec![7]]);
        assert!(circles(&[thread(1, 2), thread(2, 0)]).is_empty());
    }
}

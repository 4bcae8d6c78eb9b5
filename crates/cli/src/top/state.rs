//! What `top` shows, from the rows of the sources: differences of counters between two reads, and events of the last seconds.

use crate::latency::Served;
use model::{Locks, Measure, NULL, Rows, StateKind, Symbols, Table, real_of};
use query::latency::Service;
use query::stats::histogram::{Counted, merged, quantile};
use recorder::live::Read;
use std::collections::{HashMap, VecDeque};

/// Events are added up over so many seconds.
pub(crate) const SPAN: f64 = 10.0;

/// How many bars of a CPU's history are kept.
const HISTORY: usize = 120;

/// One CPU.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cpu {
    /// Shares of the last interval: user, kernel, interrupts, stolen by the hypervisor.
    pub(crate) shares: [f64; 4],
    /// Share in use of each of the last intervals, oldest first.
    pub(crate) history: VecDeque<f64>,
    last: Option<[i64; 8]>,
}

/// A process, or all processes of one name: seconds of its threads in each state, per second.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    pub(crate) name: String,
    /// The process id where it is one process.
    pub(crate) pid: Option<i64>,
    pub(crate) threads: usize,
    /// By state of the ledger, in its order.
    pub(crate) states: Vec<(Known, f64)>,
    pub(crate) switches: f64,
}

impl Group {
    fn sum(&self, of: impl Fn(StateKind) -> bool) -> f64 {
        self.states.iter().filter(|(state, _)| of(state.kind)).map(|(_, seconds)| seconds).sum()
    }

    /// Time on a CPU, seconds a second.
    pub(crate) fn running(&self) -> f64 {
        self.sum(|kind| kind == StateKind::OnCpu)
    }

    /// Time lost to something that could be otherwise: all but running, idle and sleep.
    pub(crate) fn waiting(&self) -> f64 {
        self.sum(|kind| matches!(kind, StateKind::Stretch | StateKind::Wait))
    }
}

/// A state of the ledger: what its column is called, and how it bears on the work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Known {
    pub(crate) name: &'static str,
    pub(crate) kind: StateKind,
}

fn states(table: &Table) -> Vec<Known> {
    table.states().map(|(column, state)| Known { name: column.name, kind: state.kind }).collect()
}

/// A function and the share of the samples in which it was on top.
#[derive(Clone, Debug)]
pub(crate) struct Hot {
    pub(crate) share: f64,
    pub(crate) function: String,
    pub(crate) module: String,
    /// Who called it, most of the time: up to three callers, nearest first.
    pub(crate) callers: Vec<String>,
}

/// A contended lock.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lock {
    pub(crate) name: String,
    pub(crate) comm: String,
    pub(crate) kind: String,
    /// Seconds of waiting a second.
    pub(crate) time: f64,
    /// Waits a second.
    pub(crate) count: f64,
    /// Seconds.
    pub(crate) longest: f64,
    pub(crate) waiters: i64,
    /// The function that waited most for it.
    pub(crate) function: String,
}

#[derive(Debug)]
struct Frame {
    function: Option<String>,
    module: String,
    offset: i64,
}

/// One wait for a lock, as the table has it.
#[derive(Debug)]
struct LockWait {
    t: i64,
    key: (String, String),
    kind: String,
    stack: i64,
    count: i64,
    time: i64,
    longest: i64,
    waiters: i64,
}

/// Requests that were answered in one range of time, as the table has them; seconds.
#[derive(Debug)]
struct Answered {
    t: i64,
    service: Service,
    counted: Counted,
}

/// Nanoseconds by stack.
type ByStack = HashMap<i64, i64>;

/// The counters of one thread at the last read: states, then switches.
type Counters = Vec<i64>;

const SWITCHES: [&str; 2] = ["switches_voluntary", "switches_involuntary"];

/// All that is known.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) cpus: Vec<(i64, Cpu)>,
    pub(crate) groups: Vec<Group>,
    /// Seconds a second of all threads, by state.
    pub(crate) total: Vec<(Known, f64)>,
    /// Whether the ledger was read twice, so that there are differences.
    pub(crate) has_ledger: bool,
    /// Mean number of threads on a CPU and waiting for one, of each of the last 10 ms slots.
    pub(crate) running: VecDeque<(i64, f64, f64)>,
    threads: HashMap<(i64, i64, i64), Counters>,
    ledger_at: Option<i64>,
    samples: VecDeque<(i64, i64, i64)>,
    answered: VecDeque<Answered>,
    lock_waits: VecDeque<LockWait>,
    frames: HashMap<i64, Frame>,
    stacks: HashMap<i64, (i64, i64)>,
    now: i64,
    first: Option<i64>,
}

/// The cells of a row by the names of its columns.
struct Columns<'a> {
    table: &'static Table,
    symbols: &'a Symbols,
}

impl Columns<'_> {
    fn place(&self, name: &str) -> Option<usize> {
        self.table.columns.iter().position(|c| c.name == name)
    }

    fn text(&self, row: &[i64], name: &str) -> Option<String> {
        let cell = row.get(self.place(name)?)?;
        self.symbols.text(*cell).map(super::super::text::clean)
    }

    fn number(&self, row: &[i64], name: &str) -> i64 {
        self.place(name).and_then(|at| row.get(at).copied()).filter(|&cell| cell != NULL).unwrap_or(0)
    }
}

impl State {
    /// Takes in what was read.
    pub(crate) fn take(&mut self, reads: &[Read], symbols: &Symbols, by_name: bool) {
        for read in reads {
            self.now = self.now.max(read.t);
            self.first.get_or_insert(read.t);
            let columns = Columns { table: read.table, symbols };
            let measure = read.table.measure;
            match read.table.name {
                "cpu" => self.cpu(&columns, &read.rows),
                "running" => self.slots(&columns, &read.rows),
                "frame" => {
                    for row in read.rows.iter() {
                        let frame = Frame {
                            function: columns.text(row, "function"),
                            module: columns.text(row, "module").unwrap_or_default(),
                            offset: columns.number(row, "offset"),
                        };
                        self.frames.insert(columns.number(row, "number"), frame);
                    }
                }
                "stack" => {
                    for row in read.rows.iter() {
                        let (parent, frame) = (columns.number(row, "parent"), columns.number(row, "frame"));
                        self.stacks.insert(columns.number(row, "number"), (parent, frame));
                    }
                }
                "turn_time" => self.answered(&columns, read),
                _ if read.table.states().next().is_some() => self.ledger(&columns, read, by_name),
                _ => {}
            }
            match measure {
                // Time on a CPU.
                Some(m) if m.ledger && m.level.is_empty() => {
                    for row in read.rows.iter() {
                        self.samples.push_back((read.t, columns.number(row, m.stack), columns.number(row, m.weight)));
                    }
                }
                Some(Measure { locks: Some(locks), .. }) if !locks.name.is_empty() => {
                    self.locks_of(&columns, read, locks);
                }
                _ => {}
            }
        }
        let old = self.now - (SPAN * 1e9) as i64;
        while self.samples.front().is_some_and(|s| s.0 < old) {
            self.samples.pop_front();
        }
        while self.lock_waits.front().is_some_and(|w| w.t < old) {
            self.lock_waits.pop_front();
        }
        while self.answered.front().is_some_and(|a| a.t < old) {
            self.answered.pop_front();
        }
        while self.running.front().is_some_and(|s| s.0 < old) {
            self.running.pop_front();
        }
    }

    /// Seconds over which events are added up by now.
    pub(crate) fn span(&self) -> f64 {
        ((self.now - self.first.unwrap_or(0)) as f64 / 1e9).clamp(0.001, SPAN)
    }

    fn cpu(&mut self, columns: &Columns<'_>, rows: &Rows) {
        for row in rows.iter() {
            let number = columns.number(row, "cpu");
            let at = match self.cpus.binary_search_by_key(&number, |c| c.0) {
                Ok(at) => at,
                Err(at) => {
                    self.cpus.insert(at, (number, Cpu::default()));
                    at
                }
            };
            let Some((_, cpu)) = self.cpus.get_mut(at) else { continue };
            let now = ["user", "nice", "system", "irq", "softirq", "steal", "idle", "iowait"]
                .map(|name| columns.number(row, name));
            if let Some(last) = cpu.last.replace(now) {
                let mut d = [0.0; 8];
                for ((d, now), last) in d.iter_mut().zip(now).zip(last) {
                    *d = now.saturating_sub(last).max(0) as f64;
                }
                let all: f64 = d.iter().sum();
                if all > 0.0 {
                    let [user, nice, system, irq, softirq, steal, ..] = d;
                    cpu.shares = [user + nice, system, irq + softirq, steal].map(|s| s / all);
                    cpu.history.push_back(cpu.shares.iter().sum());
                    while cpu.history.len() > HISTORY {
                        cpu.history.pop_front();
                    }
                }
            }
        }
    }

    fn ledger(&mut self, columns: &Columns<'_>, read: &Read, by_name: bool) {
        let seconds = self.ledger_at.map(|at| (read.t - at) as f64 / 1e9);
        self.ledger_at = Some(read.t);
        let mut now = HashMap::with_capacity(self.threads.len());
        let mut groups: HashMap<(String, Option<i64>), Group> = HashMap::new();
        let known = states(read.table);
        let none = || known.iter().map(|state| (*state, 0.0)).collect::<Vec<_>>();
        self.total = none();
        for row in read.rows.iter() {
            let (pid, tid) = (columns.number(row, "pid"), columns.number(row, "tid"));
            let names = known.iter().map(|state| state.name).chain(SWITCHES);
            let counters: Counters = names.map(|name| columns.number(row, name)).collect();
            let key = (pid, tid, columns.number(row, "start"));
            if let Some(seconds) = seconds.filter(|s| *s > 0.0) {
                let new = vec![0; counters.len()];
                let before = self.threads.get(&key).unwrap_or(&new);
                let name = columns.text(row, "comm").unwrap_or_default();
                let group = groups.entry((name.clone(), (!by_name).then_some(pid))).or_default();
                group.name = name;
                group.pid = (!by_name).then_some(pid);
                group.threads += 1;
                if group.states.is_empty() {
                    group.states = none();
                }
                let rate = |(now, before): (&i64, &i64)| (now - before).max(0) as f64 / seconds;
                for ((sum, total), rate) in
                    group.states.iter_mut().zip(&mut self.total).zip(counters.iter().zip(before).map(rate))
                {
                    sum.1 += rate / 1e9;
                    total.1 += rate / 1e9;
                }
                group.switches += counters.iter().zip(before).skip(known.len()).map(rate).sum::<f64>();
            }
            now.insert(key, counters);
        }
        self.threads = now;
        self.has_ledger = seconds.is_some();
        self.groups = groups.into_values().collect();
    }

    fn slots(&mut self, columns: &Columns<'_>, rows: &Rows) {
        let real = |row: &[i64], name: &str| {
            columns.place(name).and_then(|at| row.get(at)).and_then(|&cell| real_of(cell)).unwrap_or(0.0)
        };
        for row in rows.iter() {
            self.running.push_back((columns.number(row, "at"), real(row, "running"), real(row, "runnable")));
        }
    }

    fn locks_of(&mut self, columns: &Columns<'_>, read: &Read, locks: &Locks) {
        for row in read.rows.iter() {
            let comm = columns.text(row, "comm").unwrap_or_default();
            let kind = columns.text(row, locks.kind).unwrap_or_default();
            let name = columns.text(row, locks.name).or_else(|| columns.text(row, locks.address));
            self.lock_waits.push_back(LockWait {
                t: read.t,
                key: (comm, name.unwrap_or_else(|| "not named".to_owned())),
                kind,
                stack: columns.number(row, "stack"),
                count: columns.number(row, "count"),
                time: columns.number(row, "time"),
                longest: columns.number(row, "longest"),
                waiters: columns.number(row, "waiters"),
            });
        }
    }

    fn answered(&mut self, columns: &Columns<'_>, read: &Read) {
        for row in read.rows.iter() {
            let text = |name: &str| columns.text(row, name).unwrap_or_default();
            if text("role") != "server" || text("what") != "service" {
                continue;
            }
            let protocol = text("protocol");
            let path = if protocol == "unix" { text("peer") } else { String::new() };
            let port = columns.number(row, "port");
            let [low, high, count] = ["low", "high", "count"].map(|name| columns.number(row, name) as f64);
            let service = Service { server: true, comm: text("comm"), protocol, port, path };
            self.answered.push_back(Answered { t: read.t, service, counted: (low / 1e9, high / 1e9, count) });
        }
    }

    /// The servers that answered most requests.
    pub(crate) fn served(&self, most: usize) -> Vec<Served> {
        let mut by_service: HashMap<&Service, Vec<Counted>> = HashMap::new();
        for answered in &self.answered {
            by_service.entry(&answered.service).or_default().push(answered.counted);
        }
        let one = |(service, counted): (&Service, Vec<Counted>)| {
            let counted = merged(counted);
            let count: f64 = counted.iter().map(|c| c.2).sum();
            let (p50, p99) = (quantile(&counted, 0.5)?, quantile(&counted, 0.99)?);
            Some(Served {
                service: service.clone(),
                count,
                rate: count / self.span(),
                p50,
                p99,
                connections: None,
                is_estimated: false,
            })
        };
        let mut served: Vec<Served> = by_service.into_iter().filter_map(one).collect();
        served.sort_by(|a, b| b.count.total_cmp(&a.count).then_with(|| a.service.cmp(&b.service)));
        served.truncate(most);
        served
    }

    fn name_of(&self, frame: i64) -> String {
        match self.frames.get(&frame) {
            Some(Frame { function: Some(function), .. }) => function.clone(),
            Some(Frame { module, offset, .. }) => {
                format!("{}+{offset:#x}", module.rsplit('/').next().unwrap_or(module))
            }
            None => "(not known)".into(),
        }
    }

    /// The functions of a stack, innermost first, no more than `most`.
    fn functions(&self, stack: i64, most: usize) -> Vec<String> {
        let (mut at, mut found) = (stack, Vec::new());
        while let Some(&(parent, frame)) = self.stacks.get(&at)
            && found.len() < most
        {
            found.push(self.name_of(frame));
            at = parent;
        }
        found
    }

    /// The functions that were on top of the most samples, with their commonest callers.
    pub(crate) fn hot(&self, most: usize) -> Vec<Hot> {
        let mut by_frame: HashMap<String, (i64, ByStack)> = HashMap::new();
        let mut all = 0;
        for &(_, stack, weight) in &self.samples {
            let Some(&(_, frame)) = self.stacks.get(&stack) else { continue };
            let found = by_frame.entry(self.name_of(frame)).or_default();
            found.0 += weight;
            *found.1.entry(stack).or_default() += weight;
            all += weight;
        }
        let mut sorted: Vec<_> = by_frame.into_iter().collect();
        sorted.sort_by(|a, b| b.1.0.cmp(&a.1.0).then_with(|| a.0.cmp(&b.0)));
        let hot = |(function, (weight, stacks)): (String, (i64, ByStack))| {
            let stack = stacks.into_iter().max_by_key(|&(stack, weight)| (weight, stack)).map_or(0, |s| s.0);
            let module = self.stacks.get(&stack).and_then(|s| self.frames.get(&s.1)).map(|f| f.module.clone());
            Hot {
                share: weight as f64 / all.max(1) as f64,
                function,
                module: module.unwrap_or_default(),
                callers: self.functions(stack, 4).split_off(1),
            }
        };
        sorted.into_iter().take(most).map(hot).collect()
    }

    /// The locks that were waited for longest.
    pub(crate) fn locks(&self, most: usize) -> Vec<Lock> {
        let mut by_key: HashMap<&(String, String), (Lock, ByStack)> = HashMap::new();
        let span = self.span();
        for wait in &self.lock_waits {
            let (lock, stacks) = by_key.entry(&wait.key).or_default();
            lock.time += wait.time as f64 / 1e9 / span;
            lock.count += wait.count as f64 / span;
            lock.longest = lock.longest.max(wait.longest as f64 / 1e9);
            lock.waiters = lock.waiters.max(wait.waiters);
            lock.kind.clone_from(&wait.kind);
            *stacks.entry(wait.stack).or_default() += wait.time;
        }
        let named = |(key, (mut lock, stacks)): (&(String, String), (Lock, ByStack))| {
            (lock.comm, lock.name) = key.clone();
            let stack = stacks.into_iter().max_by_key(|&(stack, time)| (time, stack)).map_or(0, |s| s.0);
            lock.function = self.functions(stack, 12).into_iter().find(|f| !is_plumbing(f)).unwrap_or_default();
            lock
        };
        let mut locks: Vec<Lock> = by_key.into_iter().map(named).collect();
        locks.sort_by(|a, b| b.time.total_cmp(&a.time));
        locks.truncate(most);
        locks
    }
}

/// Functions that every wait goes through and that say nothing of who waits.
fn is_plumbing(function: &str) -> bool {
    const PLUMBING: [&str; 10] = [
        "futex",
        "lll_lock",
        "pthread_",
        "schedule",
        "syscall",
        "entry_SYSCALL",
        "do_syscall",
        "x64_sys",
        "[",
        "clone",
    ];
    PLUMBING.iter().any(|part| function.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Column, Unit};

    static CPU: Table = Table::wide(
        "cpu",
        "",
        &[
            Column::number("cpu", ""),
            Column::counter("user", Unit::ClockTicks, ""),
            Column::counter("steal", Unit::ClockTicks, ""),
            Column::counter("idle", Unit::ClockTicks, ""),
        ],
    );
    static THREAD_TIME: Table = Table::wide(
        "thread_time",
        "",
        &[
            Column::number("pid", ""),
            Column::number("tid", ""),
            Column::label("comm", ""),
            Column::counter("user", Unit::Nanoseconds, "").state(&model::State {
                words: "",
                kind: StateKind::OnCpu,
                color: [""; 2],
            }),
            Column::counter("lock", Unit::Nanoseconds, "").state(&model::State {
                words: "",
                kind: StateKind::Wait,
                color: [""; 2],
            }),
        ],
    );
    static FRAME: Table = Table::wide(
        "frame",
        "",
        &[Column::number("number", ""), Column::fact("function", ""), Column::fact("module", "")],
    );
    static STACK: Table = Table::wide(
        "stack",
        "",
        &[
            Column::number("number", ""),
            Column::fact_number("parent", Unit::None, ""),
            Column::fact_number("frame", Unit::None, ""),
        ],
    );
    static SAMPLE: Table =
        Table::wide("sample", "", &[Column::number("stack", ""), Column::gauge("weight", Unit::Nanoseconds, "")])
            .measured(&Measure::new("cpu", "", "weight", "").of_ledger());

    fn read(table: &'static Table, t: i64, cells: &[i64]) -> Read {
        Read { table, t, rows: Rows { width: table.width(), cells: cells.to_vec() } }
    }

    #[test]
    fn counters_become_shares_and_seconds() {
        let mut symbols = Symbols::default();
        let name = symbols.cell("db");
        let mut state = State::default();
        let first = [read(&CPU, 0, &[0, 100, 0, 100]), read(&THREAD_TIME, 0, &[7, 7, name, 0, 0])];
        state.take(&first, &symbols, false);
        assert!(!state.has_ledger && state.groups.is_empty(), "one read has no differences");
        let second = [
            read(&CPU, 2_000_000_000, &[0, 150, 50, 200]),
            // A thread that is new since the read before counts from zero.
            read(&THREAD_TIME, 2_000_000_000, &[7, 7, name, 1_000_000_000, 500_000_000, 7, 8, name, 0, 1_500_000_000]),
        ];
        state.take(&second, &symbols, false);
        assert_eq!(state.cpus[0].1.shares, [0.25, 0.0, 0.0, 0.25]);
        let group = &state.groups[0];
        assert_eq!((group.name.as_str(), group.pid, group.threads), ("db", Some(7), 2));
        assert_eq!((group.running(), group.waiting()), (0.5, 1.0));
    }

    #[test]
    fn hot_functions_come_with_their_callers() {
        let mut symbols = Symbols::default();
        let cells = ["work", "main", "a.out"].map(|text| symbols.cell(text));
        let mut state = State::default();
        let reads = [
            read(&FRAME, 0, &[1, cells[1], cells[2], 2, cells[0], cells[2]]),
            read(&STACK, 0, &[1, NULL, 1, 2, 1, 2]),
            read(&SAMPLE, 0, &[2, 30, 1, 10]),
        ];
        state.take(&reads, &symbols, false);
        let hot = state.hot(5);
        assert_eq!((hot[0].function.as_str(), hot[0].share, hot[0].module.as_str()), ("work", 0.75, "a.out"));
        assert_eq!(hot[0].callers, ["main"]);
        // What is older than the span no longer counts.
        state.take(&[read(&SAMPLE, 20_000_000_000, &[1, 10])], &symbols, false);
        assert_eq!(state.hot(5).len(), 1);
    }
    #[test]
    fn requests_are_put_together_by_server() {
        static TURN_TIME: Table = Table::wide(
            "turn_time",
            "",
            &[
                Column::label("comm", ""),
                Column::label("role", ""),
                Column::label("protocol", ""),
                Column::number("port", ""),
                Column::label("what", ""),
                Column::gauge("low", Unit::Nanoseconds, ""),
                Column::gauge("high", Unit::Nanoseconds, ""),
                Column::gauge("count", Unit::None, ""),
            ],
        )
        .of_events();
        let mut symbols = Symbols::default();
        let [web, server, client, tcp, service, queue] =
            ["web", "server", "client", "tcp", "service", "queue"].map(|text| symbols.cell(text));
        let mut state = State::default();
        let rows = [
            [web, server, tcp, 80, service, 2_000_000, 4_000_000, 3],
            [web, server, tcp, 80, service, 1_000_000, 2_000_000, 5],
            [web, server, tcp, 80, queue, 1, 2, 9],
            [web, client, tcp, 5432, service, 1, 2, 9],
        ];
        state.take(&[read(&TURN_TIME, 0, &rows.concat()), read(&TURN_TIME, 2_000_000_000, &rows[1])], &symbols, false);
        let lines: Vec<String> = state.served(3).iter().map(Served::line).collect();
        assert_eq!(lines, ["13 answered by web, port 80: 6.50/s, p50 1.65 ms, p99 3.91 ms"]);
        state.take(&[read(&TURN_TIME, 30_000_000_000, &rows[2])], &symbols, false);
        assert!(state.served(3).is_empty());
    }
}

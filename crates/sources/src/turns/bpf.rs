//! Adds up what `turns.bpf.c` counted of each service, and tells it by process and port.

use super::follow::{self, Follower};
use super::scale::range;
use super::service::{KINDS, Key, Maps, New, Row, Times};
use crate::counted::missing_tracepoint;
use crate::tally::{Counts, Fields, Losses, collector_row, whole};
use crate::thin::{self, Cost, Found, GATE, Rhythm, Set, Span, Thin, Thinned};
use crate::threads::SharedLedgers;
use crate::{Reader, Scope, Thinning, scope};
use host::Host;
use host::bpf::{Iterator as FileIterator, Map, Need, Programs};
use model::{NULL, Out, Unavailable};
use std::collections::{HashMap, HashSet};

static OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/turns.bpf.o"));

/// `LOST_…` and `COUNT_EVENTS` of turns.bpf.c.
const LOST_CONNECTIONS: u32 = 0;
const LOST_SERVICES: u32 = 1;
const LOST_TURNS: u32 = 2;
const COUNT_EVENTS: u32 = 3;
/// What runs for each read and write of a socket, which is all counted.
const OF_SOCKETS: [&str; 3] = ["socket_receives", "socket_sends", "packet_comes"];
/// What runs for each packet that makes a socket readable, while times are taken.
const ARRIVALS: [&str; 1] = ["data_comes"];
const OF_CALLS: [&str; 1] = ["call_ends"];
/// What an event of which the clock is asked costs: what the kernel measures of a run (scripts/bench/turns.sh overhead), without what the measuring takes.
const COST: Cost = Cost { each: 95 };
/// The share of a CPU above which turns are counted in a part of the time, where they are seen at the end of system calls. It is more than others have:
/// turns are the work that all else is compared by.
const BUDGET_OF_CALLS: f64 = 0.05;
/// What system calls do with their descriptors: `CALL_…` of turns.bpf.c.
const CALL_CLASSES: [(u8, &[libc::c_long]); 7] = [
    (1, &[libc::SYS_read, libc::SYS_readv, libc::SYS_preadv2]),
    (2, &[libc::SYS_recvfrom]),
    (3, &[libc::SYS_recvmsg]),
    (4, &[libc::SYS_recvmmsg]),
    (
        5,
        &[
            libc::SYS_write,
            libc::SYS_writev,
            libc::SYS_pwritev2,
            libc::SYS_sendto,
            libc::SYS_sendmsg,
            libc::SYS_sendfile,
        ],
    ),
    (6, &[libc::SYS_sendmmsg]),
    (7, &[libc::SYS_splice]),
];
/// `CALLS` of turns.bpf.c.
const CALLS: usize = 512;

/// Reads turns.
pub struct Turns {
    maps: Maps,
    counts: Counts,
    losses: [Losses; 3],
    thin: Thin,
    /// In the order in which they first came up.
    rows: Vec<Row>,
    known: HashMap<Key, usize>,
    /// Whether they are seen at the end of system calls, in a part of the time where that is dear; else all are counted, and times alone thinned out.
    by_calls: bool,
    /// What the last read found, where it may have to stand for the time after it.
    last: Vec<(Key, New)>,
    missing: Vec<(&'static str, Unavailable)>,
    /// Follows turns, from when somebody serves.
    follower: Option<Follower>,
    ledgers: SharedLedgers,
    exact: bool,
    thinning: Thinning,
    /// When the recording began.
    start: crate::Start,
    /// Turns of servers by this read and by the one before, and when that was.
    turns: u64,
    turns_before: u64,
    read_before: u64,
    /// Holds the programs attached.
    programs: Programs,
}

/// The classes by number.
fn call_classes() -> Vec<u8> {
    let mut classes = vec![0; CALLS];
    for (class, numbers) in CALL_CLASSES {
        for number in numbers {
            if let Some(place) = usize::try_from(*number).ok().and_then(|at| classes.get_mut(at)) {
                *place = class;
            }
        }
    }
    classes
}

impl Turns {
    /// Loads and attaches the programs.
    pub fn open(host: &Host, scope: &Scope) -> Result<Self, Unavailable> {
        let lacks = missing_tracepoint(host, &["sock_recv_length", "sock_send_length", "sk_data_ready"])?;
        Self::open_by(host, scope, lacks)
    }

    /// `lacks`: the tracepoint that this kernel does not have, so that system calls are looked at.
    pub(super) fn open_by(host: &Host, scope: &Scope, lacks: Option<&str>) -> Result<Self, Unavailable> {
        Need::all(host, &[Need::TASK_STORAGE, Need::TASK_REGISTERS])?;
        let marks = scope::shared(host, scope)?;
        let by_calls = lacks.is_some();
        let (flag, classes) = ([u8::from(by_calls)], call_classes());
        let constants = [("by_calls", flag.as_slice()), ("call_class", classes.as_slice())];
        let mut without: Vec<&str> = if by_calls { [&OF_SOCKETS[..], &ARRIVALS].concat() } else { OF_CALLS.to_vec() };
        // Where they are not followed, or were not asked for.
        let shared: Vec<&Map> = scope.ledgers.ledgers().into_iter().collect();
        without.extend(Follower::without(by_calls, !shared.is_empty()));
        let mut programs = marks.load(host, "turns", OBJECT, &without, &shared, &constants)?;
        let gated: &[&str] = if by_calls { &OF_CALLS } else { &ARRIVALS };
        let sets = [Set { counter: COUNT_EVENTS, programs: gated }];
        let (what, rhythm, budget) = if by_calls {
            ("reads and writes of sockets", Rhythm::LONG, BUDGET_OF_CALLS)
        } else {
            ("times of requests", Rhythm::SHORT, thin::BUDGET)
        };
        let plan = Thinned { what, sets: &sets, cost: COST, rhythm, budget, expected: 0.0, gate: GATE };
        let mut maps = Maps::of(&programs)?;
        maps.reserve(0);
        programs.attach("state_changes")?;
        // Before anything goes through connections: by their listeners it is told which side these are of.
        let listeners: FileIterator = programs.iterator("read_listeners")?;
        listeners.read_into(&mut Vec::new())?;
        let thin = Thin::attach(&programs, &plan, (scope.exact, &scope.thinning), Box::new(|| Ok(())))?;
        if !by_calls {
            OF_SOCKETS.iter().try_for_each(|name| programs.attach(name))?;
        }
        let missing = lacks.map(|lacks| {
            let why = format!(
                "tracepoint {lacks}: this kernel does not tell of what goes through sockets; it is seen at the end of system calls, without io_uring, without 32-bit programs, and without when it came"
            );
            ("turn.queue_time", Unavailable::absent(why).remedy("Linux 6.3 or newer"))
        });
        Ok(Turns {
            maps,
            counts: Counts::of(&programs)?,
            losses: Default::default(),
            thin,
            rows: Vec::new(),
            known: HashMap::new(),
            by_calls,
            last: Vec::new(),
            missing: missing.into_iter().collect(),
            follower: None,
            ledgers: scope.ledgers.clone(),
            exact: scope.exact,
            thinning: scope.thinning.clone(),
            start: scope.start.clone(),
            turns: 0,
            turns_before: 0,
            read_before: host.now(),
            programs,
        })
    }

    /// Takes in services that are new.
    fn find_services(&mut self, out: &mut Out<'_>) -> Result<(), Unavailable> {
        let entries = self.maps.services.entries()?;
        let mut new: Vec<(Key, Vec<u8>, u32)> = entries
            .into_iter()
            .filter_map(|(raw, number)| Some((Key::of(&raw)?, raw, Fields::of(&number).u32())))
            .filter(|(key, ..)| !self.known.contains_key(key))
            .collect();
        new.sort_unstable();
        if let Some(last) = new.iter().map(|(_, _, number)| *number).max() {
            self.maps.reserve(last);
        }
        for (key, raw, number) in new {
            self.known.insert(key.clone(), self.rows.len());
            self.rows.push(Row::new(key, raw, number, out));
        }
        Ok(())
    }

    /// Adds what was counted since the read before, in `span`.
    fn collect(&mut self, span: Span) -> Result<Times, Unavailable> {
        let mut times = Times::new();
        self.last.clear();
        for row in &mut self.rows {
            let new = row.read(&self.maps)?;
            row.take(&new, span, &mut times);
            if self.by_calls && self.thin.one_in() > 1 {
                self.last.push((row.key.clone(), new));
            }
        }
        Ok(times)
    }

    /// Nothing was looked at since the read before but what connections began and ended.
    fn collect_what_always_counts(&mut self) -> Result<Times, Unavailable> {
        for row in &mut self.rows {
            row.read_what_always_counts(&self.maps)?;
        }
        Ok(Times::new())
    }

    /// What the read before found stands for the time since.
    fn repeat(&mut self, span: Span) -> Times {
        let mut times = Times::new();
        for (key, new) in std::mem::take(&mut self.last) {
            if let Some(row) = self.known.get(&key).and_then(|at| self.rows.get_mut(*at)) {
                // What always counts was not missed.
                row.take(&new.thinned(), span, &mut times);
            }
        }
        times
    }

    fn put(&mut self, times: &Times, out: &mut Out<'_>) {
        for row in &self.rows {
            out.row(0, &row.cells());
        }
        for ((group, kind, bucket), count) in times {
            let (low, high) = range(*bucket);
            let mut cells = group.clone();
            cells.push(KINDS.get(*kind).map_or(NULL, |what| out.text(what)));
            cells.extend([whole(low), whole(high), whole(*count)]);
            out.row(1, &cells);
        }
    }

    /// Turns of servers so far.
    fn served(&self) -> u64 {
        let servers = self.rows.iter().filter(|row| row.key.side() == "server");
        servers.map(Row::turns).fold(0, u64::wrapping_add)
    }

    /// Follows turns, from when the first was served on.
    fn follow(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        let Some(follower) = &mut self.follower else {
            if self.turns > 0 && self.ledgers.ledgers().is_some() {
                let now = host.now();
                // What was counted since the read before, in which nobody may have served for most of the time.
                let turns = self.turns.saturating_sub(self.turns_before) as f64;
                let rate = turns * 1e9 / now.saturating_sub(self.read_before).max(1) as f64;
                let exact = (self.exact, &self.thinning);
                self.follower = Some(Follower::open(&self.programs, &self.ledgers, self.by_calls, exact, rate)?);
            }
            return Ok(());
        };
        let lost = self.counts.sum(Follower::LOST)?;
        let by_number: HashMap<u32, &Row> = self.rows.iter().map(|row| (row.number, row)).collect();
        for followed in follower.read(lost)? {
            let (turn, path) = (&followed.turn, &followed.path);
            let Some(row) = by_number.get(&turn.service) else { continue };
            let mut name = |tid: u32| match tid {
                0 => out.text(""),
                _ => out.bytes(follower.name(host, row.key.pid, tid)),
            };
            let (thread, helper) = (name(turn.thread), name(path.helper.0));
            let (backend, time, turns) = path.backend;
            let backend = by_number.get(&backend).map(|row| row.key.backend()).unwrap_or_default();
            let at = turn.from.saturating_sub(self.start.get());
            let mut cells = row.labels();
            cells.extend([i64::from(turn.thread), thread, helper, out.text(&backend)]);
            cells.extend([whole(at), follow::weight(&followed)]);
            cells.extend([turn.to - turn.from, turn.queued].map(whole));
            cells.extend(follow::cells(path).map(whole));
            cells.extend([whole(path.helper.1), whole(time), i64::from(turns)]);
            out.row(2, &cells);
        }
        let (moments, one_in) = (self.counts.sum(Follower::COUNT)?, u64::from(follower.one_in()));
        collector_row(out, 3, "requests followed", moments, lost, Some(one_in), None);
        Ok(())
    }

    /// Forgets services of processes that are gone: what they did has been told.
    fn forget(&mut self, gone: &HashSet<u32>) {
        if gone.is_empty() {
            return;
        }
        let maps = &self.maps;
        self.rows.retain(|row| {
            let is_gone = gone.contains(&row.key.pid);
            if is_gone {
                maps.forget(row);
            }
            !is_gone
        });
        self.known = self.rows.iter().enumerate().map(|(at, row)| (row.key.clone(), at)).collect();
    }
}

impl Reader for Turns {
    fn ends(&mut self) {
        self.thin.ends();
        if let Some(follower) = &mut self.follower {
            follower.ends();
        }
    }

    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        for (item, why) in self.missing.drain(..) {
            out.missing(item, why);
        }
        self.find_services(out)?;
        // Before they are read for the last time.
        let pids: HashSet<u32> = self.rows.iter().map(|row| row.key.pid).collect();
        let gone = pids.into_iter().filter(|pid| !host.exists(&format!("/proc/{pid}"))).collect();
        let found = match self.thin.pause()? {
            found if self.by_calls => found,
            _ => Found::Counted(Span::ALL),
        };
        let times = match found {
            Found::Counted(span) => self.collect(span),
            Found::Nothing => self.collect_what_always_counts(),
            Found::Again(span) => Ok(self.repeat(span)),
        };
        self.thin.resume();
        self.put(&times?, out);
        let served = self.served();
        self.turns_before = std::mem::replace(&mut self.turns, served);
        self.follow(host, out)?;
        self.read_before = host.now();
        self.forget(&gone);
        let [connections, services, turns] =
            [LOST_CONNECTIONS, LOST_SERVICES, LOST_TURNS].map(|of| self.counts.sum(of));
        let (connections, services, turns) = (connections?, services?, turns?);
        let [of_connections, of_services, of_turns] = &mut self.losses;
        of_connections.say(out, "turn", connections, "the kernel had no memory to keep a connection in");
        of_services.say(out, "turn", services, "more processes, ports and other sides than there is room for");
        of_turns.say(out, "turn", turns, "requests of services that the kernel had no memory or no room for");
        self.thin.say(out, if self.by_calls { "turn" } else { "turn_time" });
        let (events, one_in) = (self.counts.sum(COUNT_EVENTS)?, u64::from(self.thin.one_in()));
        collector_row(out, 3, "turns", events, connections + services + turns, Some(one_in), self.programs.run_time());
        Ok(())
    }
}

//! Adds up what `turns.bpf.c` counted of each service, and tells it by process and port.

use super::follow::{self, Follower};
use super::scale::{TIMES, range};
use crate::counted::missing_tracepoint;
use crate::tally::{Counts, Fields, Losses, collector_row, trimmed, whole};
use crate::thin::{Cost, Found, GATE, Rhythm, Set, Span, Thin, Thinned};
use crate::threads::SharedLedgers;
use crate::{Reader, Scope, scope};
use host::Host;
use host::bpf::{Iterator as FileIterator, Map, Need, Programs};
use model::{NULL, Out, Unavailable};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::Ipv6Addr;
use std::time::Duration;

static OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/turns.bpf.o"));

/// `LOST_…` and `COUNT_EVENTS` of turns.bpf.c.
const LOST_CONNECTIONS: u32 = 0;
const LOST_SERVICES: u32 = 1;
const COUNT_EVENTS: u32 = 2;
/// What runs for each read, write and packet that makes a socket readable.
const OF_SOCKETS: [&str; 3] = ["data_comes", "socket_receives", "socket_sends"];
const OF_CALLS: [&str; 1] = ["call_ends"];
/// What an event costs: what the kernel measures of a run (scripts/bench/turns.sh overhead), without what the measuring takes.
const COST: Cost = Cost { each: 95 };
/// The share of a CPU above which turns are counted in a part of the time. It is more than others have: turns are the work that all else is compared by,
/// and their cost is in proportion to it.
const BUDGET: f64 = 0.05;
/// The counters of `struct sums`, and how many of them come before those that are not scaled up.
const COUNTERS: usize = 17;
const THINNED: usize = 14;
/// Services that there is room for from the start.
const RESERVED: u32 = 32;
/// `enum time`.
const KINDS: [&str; 3] = ["service", "queue", "answer"];
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

/// `struct service_key`: whose connections.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Key {
    pid: u32,
    port: u16,
    side: u8,
    protocol: u8,
    address: [u8; 16],
    path: Vec<u8>,
    comm: [u8; 16],
}

/// What tells services of all processes of one name apart.
type Group = Vec<i64>;

impl Key {
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        let (pid, rest) = bytes.split_first_chunk::<4>()?;
        let (port, rest) = rest.split_first_chunk::<2>()?;
        let ([side, protocol], rest) = rest.split_first_chunk::<2>()?;
        let (address, rest) = rest.split_first_chunk::<16>()?;
        let (path, rest) = rest.split_first_chunk::<40>()?;
        let (comm, _) = rest.split_first_chunk::<16>()?;
        let until = path.iter().rposition(|&b| b != 0).map_or(0, |last| last + 1);
        Some(Key {
            pid: u32::from_ne_bytes(*pid),
            port: u16::from_ne_bytes(*port),
            side: *side,
            protocol: *protocol,
            address: *address,
            path: path.get(..until).unwrap_or_default().to_vec(),
            comm: *comm,
        })
    }

    /// Who is on the other side, in words; of a Unix socket the end of its path, `@` for the zero of one that is no file (unix(7)).
    pub(super) fn peer(&self) -> String {
        if !self.path.is_empty() {
            return String::from_utf8_lossy(&self.path).replacen('\0', "@", 1);
        }
        let address = Ipv6Addr::from(self.address);
        match address.to_ipv4_mapped() {
            _ if address.is_unspecified() => String::new(),
            Some(v4) => v4.to_string(),
            None => address.to_string(),
        }
    }

    /// The other side with its port, in words.
    fn backend(&self) -> String {
        match (self.peer(), self.port) {
            (peer, 0) => peer,
            (peer, port) if peer.contains(':') => format!("[{peer}]:{port}"),
            (peer, port) => format!("{peer}:{port}"),
        }
    }

    pub(super) fn side(&self) -> &'static str {
        if self.side == 1 { "server" } else { "client" }
    }

    pub(super) fn protocol(&self) -> &'static str {
        match self.protocol {
            1 => "tcp",
            2 => "udp",
            _ => "unix",
        }
    }
}

/// `struct sums`, of all CPUs.
#[derive(Clone)]
struct Sums {
    counters: [u64; COUNTERS],
    times: Vec<[u32; TIMES]>,
}

impl Default for Sums {
    fn default() -> Self {
        Sums { counters: [0; COUNTERS], times: vec![[0; TIMES]; KINDS.len()] }
    }
}

impl Sums {
    /// Adds what one CPU has.
    fn add(&mut self, bytes: &[u8]) {
        let mut fields = Fields::of(bytes);
        for counter in &mut self.counters {
            *counter = counter.wrapping_add(fields.u64());
        }
        for count in self.times.iter_mut().flatten() {
            *count = count.wrapping_add(fields.u32());
        }
    }
}

/// A service as it was put out last.
struct Row {
    key: Key,
    /// As the kernel has it.
    raw: Vec<u8>,
    number: u32,
    group: Group,
    counted: Sums,
    shown: [u64; COUNTERS],
}

/// Counts by group, kind of time and bucket.
type Times = BTreeMap<(Group, usize, usize), u64>;

/// Reads turns.
pub struct Turns {
    services: Map,
    sums: Map,
    counts: Counts,
    losses: [Losses; 2],
    thin: Thin,
    /// In the order in which they first came up.
    rows: Vec<Row>,
    known: HashMap<Key, usize>,
    /// What the last read found, where it may have to stand for the time after it.
    last: (Vec<(Key, [u64; COUNTERS])>, Times),
    missing: Vec<(&'static str, Unavailable)>,
    /// Follows turns, from when somebody serves.
    follower: Option<Follower>,
    ledgers: SharedLedgers,
    exact: bool,
    /// When the recording began.
    start: u64,
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
        let (by_calls, classes) = ([u8::from(lacks.is_some())], call_classes());
        let constants = [("by_calls", by_calls.as_slice()), ("call_class", classes.as_slice())];
        let (hooks, without): (&[&str], &[&str]) =
            if lacks.is_some() { (&OF_CALLS, &OF_SOCKETS) } else { (&OF_SOCKETS, &OF_CALLS) };
        // Where they are not followed, or were not asked for.
        let shared: Vec<&Map> = scope.ledgers.ledgers().into_iter().collect();
        let mut without = without.to_vec();
        if shared.is_empty() {
            without.extend(Follower::PROGRAMS);
        }
        let mut programs = marks.load(host, "turns", OBJECT, &without, &shared, &constants)?;
        let sets = [Set { counter: COUNT_EVENTS, programs: hooks }];
        let (cost, rhythm, budget) = (COST, Rhythm::LONG, BUDGET);
        let plan = Thinned {
            what: "reads and writes of sockets",
            sets: &sets,
            cost,
            rhythm,
            budget,
            expected: 0.0,
            gate: GATE,
        };
        reserve(&programs.map("sums")?);
        programs.attach("state_changes")?;
        // Before anything goes through connections: by their listeners it is told which side these are of.
        let listeners: FileIterator = programs.iterator("read_listeners")?;
        listeners.read_into(&mut Vec::new())?;
        let thin = Thin::attach(&programs, &plan, scope.exact, Box::new(|| Ok(())))?;
        let missing = lacks.map(|lacks| {
            let why = format!(
                "tracepoint {lacks}: this kernel does not tell of what goes through sockets; it is seen at the end of system calls, without io_uring, without 32-bit programs, and without when it came"
            );
            ("turn.queue_time", Unavailable::absent(why).remedy("Linux 6.3 or newer"))
        });
        Ok(Turns {
            services: programs.map("services")?,
            sums: programs.map("sums")?,
            counts: Counts::of(&programs)?,
            losses: Default::default(),
            thin,
            rows: Vec::new(),
            known: HashMap::new(),
            last: Default::default(),
            missing: missing.into_iter().collect(),
            follower: None,
            ledgers: scope.ledgers.clone(),
            exact: scope.exact,
            start: scope.start,
            turns: 0,
            turns_before: 0,
            read_before: host.now(),
            programs,
        })
    }

    /// Takes in services that are new.
    fn find_services(&mut self, out: &mut Out<'_>) -> Result<(), Unavailable> {
        let entries = self.services.entries()?;
        let mut new: Vec<(Key, Vec<u8>, u32)> = entries
            .into_iter()
            .filter_map(|(raw, number)| Some((Key::of(&raw)?, raw, Fields::of(&number).u32())))
            .filter(|(key, ..)| !self.known.contains_key(key))
            .collect();
        new.sort_unstable();
        for (key, raw, number) in new {
            let comm = out.bytes(trimmed(&key.comm));
            let (side, protocol, peer) = (out.text(key.side()), out.text(key.protocol()), out.text(&key.peer()));
            let group = vec![comm, side, protocol, i64::from(key.port), peer];
            self.known.insert(key.clone(), self.rows.len());
            self.rows.push(Row { key, raw, number, group, counted: Sums::default(), shown: [0; COUNTERS] });
        }
        Ok(())
    }

    /// Adds what was counted since the read before, in `span`.
    fn collect(&mut self, span: Span) -> Result<Times, Unavailable> {
        let mut times = Times::new();
        self.last.0.clear();
        for row in &mut self.rows {
            let mut now = Sums::default();
            self.sums.get_per_cpu(&row.number.to_ne_bytes())?.iter().for_each(|cpu| now.add(cpu));
            let mut new = [0; COUNTERS];
            for (at, new) in new.iter_mut().enumerate() {
                let (Some(now), Some(before)) = (now.counters.get(at), row.counted.counters.get(at)) else { continue };
                *new = now.wrapping_sub(*before);
            }
            add_scaled(&mut row.shown, &new, span);
            for (kind, (now, before)) in now.times.iter().zip(&row.counted.times).enumerate() {
                for (bucket, (now, before)) in now.iter().zip(before).enumerate() {
                    let new = now.wrapping_sub(*before);
                    if new > 0 {
                        *times.entry((row.group.clone(), kind, bucket)).or_default() += u64::from(new);
                    }
                }
            }
            self.last.0.push((row.key.clone(), new));
            row.counted = now;
        }
        Ok(times)
    }

    /// Nothing was looked at since the read before but what connections began and ended.
    fn collect_what_always_counts(&mut self) -> Result<Times, Unavailable> {
        for row in &mut self.rows {
            let mut now = Sums::default();
            self.sums.get_per_cpu(&row.number.to_ne_bytes())?.iter().for_each(|cpu| now.add(cpu));
            let each = row.shown.iter_mut().zip(&mut row.counted.counters).zip(now.counters);
            for ((shown, counted), now) in each.skip(THINNED) {
                *shown = shown.wrapping_add(now.wrapping_sub(*counted));
                *counted = now;
            }
        }
        Ok(Times::new())
    }

    /// What the read before found stands for the time since.
    fn repeat(&mut self, span: Span) -> Times {
        for (key, new) in std::mem::take(&mut self.last.0) {
            if let Some(row) = self.known.get(&key).and_then(|at| self.rows.get_mut(*at)) {
                // What always counts was not missed.
                let mut new = new;
                new.iter_mut().skip(THINNED).for_each(|always| *always = 0);
                add_scaled(&mut row.shown, &new, span);
            }
        }
        std::mem::take(&mut self.last.1)
    }

    fn put(&mut self, times: &Times, span: Span, out: &mut Out<'_>) {
        for row in &self.rows {
            let mut cells = vec![i64::from(row.key.pid)];
            cells.extend(&row.group);
            cells.extend(row.shown.map(whole));
            out.row(0, &cells);
        }
        for ((group, kind, bucket), count) in times {
            let (low, high) = range(*bucket);
            let mut cells = group.clone();
            cells.push(KINDS.get(*kind).map_or(NULL, |what| out.text(what)));
            cells.extend([whole(low), whole(high), whole(span.scaled(*count))]);
            out.row(1, &cells);
        }
    }

    /// Turns of servers so far.
    fn served(&self) -> u64 {
        let servers = self.rows.iter().filter(|row| row.key.side() == "server");
        servers.filter_map(|row| row.shown.first()).fold(0, |sum, turns| sum.wrapping_add(*turns))
    }

    /// Follows turns, from when the first was served on.
    fn follow(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        let Some(follower) = &mut self.follower else {
            if self.turns > 0 && self.ledgers.ledgers().is_some() {
                let now = host.now();
                // What was counted since the read before, in which nobody may have served for most of the time.
                let turns = self.turns.saturating_sub(self.turns_before) as f64;
                let rate = turns * 1e9 / now.saturating_sub(self.read_before).max(1) as f64;
                self.follower = Some(Follower::open(&self.programs, &self.ledgers, self.exact, rate)?);
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
            let at = turn.from.saturating_sub(self.start);
            let mut cells = vec![i64::from(row.key.pid)];
            cells.extend(&row.group);
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
        let (services, sums) = (&self.services, &self.sums);
        self.rows.retain(|row| {
            let is_gone = gone.contains(&row.key.pid);
            if is_gone {
                services.delete(&row.raw);
                sums.delete(&row.number.to_ne_bytes());
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
        let found = self.thin.pause()?;
        let times = match found {
            Found::Counted(span) => self.collect(span),
            Found::Nothing => self.collect_what_always_counts(),
            Found::Again(span) => Ok(self.repeat(span)),
        };
        self.thin.resume();
        let times = times?;
        let span = match found {
            Found::Counted(span) | Found::Again(span) => span,
            Found::Nothing => Span::ALL,
        };
        self.put(&times, span, out);
        if matches!(found, Found::Counted(_)) && self.thin.one_in() > 1 {
            self.last.1 = times;
        }
        let served = self.served();
        self.turns_before = std::mem::replace(&mut self.turns, served);
        self.follow(host, out)?;
        self.read_before = host.now();
        self.forget(&gone);
        let [connections, services] = [self.counts.sum(LOST_CONNECTIONS)?, self.counts.sum(LOST_SERVICES)?];
        let [of_connections, of_services] = &mut self.losses;
        of_connections.say(out, "turn", connections, "the kernel had no memory to keep a connection in");
        of_services.say(out, "turn", services, "more processes, ports and other sides than there is room for");
        self.thin.say(out, "turn");
        let (events, one_in) = (self.counts.sum(COUNT_EVENTS)?, u64::from(self.thin.one_in()));
        collector_row(out, 3, "turns", events, connections + services, Some(one_in), self.programs.run_time());
        Ok(())
    }
}

/// Makes room for the first services: the kernel has little memory at hand where one is found, and tries again only a little later.
fn reserve(sums: &Map) {
    for number in 1..=RESERVED {
        let made = (0..20).any(|again| {
            if again > 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
            sums.clear_per_cpu(&number.to_ne_bytes())
        });
        if !made {
            return;
        }
    }
}

/// Adds what was counted in `span` to what was shown before.
fn add_scaled(shown: &mut [u64; COUNTERS], new: &[u64; COUNTERS], span: Span) {
    for (at, (shown, new)) in shown.iter_mut().zip(new).enumerate() {
        *shown = shown.saturating_add(if at < THINNED { span.scaled(*new) } else { *new });
    }
}

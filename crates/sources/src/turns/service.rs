//! Services, which are a process and a port or the other side of its connections: who they are, what is counted of them, and what times that were taken of some
//! of their turns stand for.

use super::scale::TIMES;
use crate::tally::{Fields, trimmed, whole};
use crate::thin::{self, Span};
use host::bpf::{Map, Programs};
use model::{Out, Unavailable};
use std::collections::BTreeMap;
use std::net::Ipv6Addr;
use std::ops::Range;
use std::time::Duration;

/// The counters of `struct sums`: those of all turns, those of turns of which times are taken, and those that nothing thins out.
const COUNTERS: usize = 18;
const TIMED: Range<usize> = 5..15;
/// Services that there is room for ahead of those that are known.
const AHEAD: u32 = 64;
/// `enum time`.
pub(super) const KINDS: [&str; 3] = ["service", "queue", "answer"];

/// `struct service_key`: whose connections.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) pid: u32,
    port: u16,
    side: u8,
    protocol: u8,
    address: [u8; 16],
    path: Vec<u8>,
    comm: [u8; 16],
}

/// What tells services of all processes of one name apart.
pub(super) type Group = Vec<i64>;

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
    pub(super) fn backend(&self) -> String {
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

/// `struct distributions`, of all CPUs.
type Distributions = Vec<[u32; TIMES]>;

/// The kernel's side: services by key, with what is counted of each by its number.
pub(super) struct Maps {
    pub services: Map,
    sums: Map,
    distributions: Map,
    /// The last number that there is room for.
    reserved: u32,
}

impl Maps {
    /// Those of the programs.
    pub fn of(programs: &Programs) -> Result<Self, Unavailable> {
        let [services, sums, distributions] = ["services", "sums", "distributions"].map(|name| programs.map(name));
        Ok(Maps { services: services?, sums: sums?, distributions: distributions?, reserved: 0 })
    }

    /// Makes room for services beyond number `last`: the kernel has little memory at hand where it finds one, and gets more only a little later.
    pub fn reserve(&mut self, last: u32) {
        for number in self.reserved.max(last) + 1..=last.saturating_add(AHEAD) {
            let made = (0..5).any(|again| {
                if again > 0 {
                    std::thread::sleep(Duration::from_millis(1));
                }
                self.sums.reserve_per_cpu(&number.to_ne_bytes())
            });
            if !made {
                return;
            }
            self.reserved = number;
        }
    }

    fn counters(&self, number: u32) -> Result<[u64; COUNTERS], Unavailable> {
        let mut sums = [0; COUNTERS];
        for cpu in self.sums.get_per_cpu(&number.to_ne_bytes())? {
            let mut fields = Fields::of(&cpu);
            sums.iter_mut().for_each(|sum: &mut u64| *sum = sum.wrapping_add(fields.u64()));
        }
        Ok(sums)
    }

    fn distributions(&self, number: u32) -> Result<Distributions, Unavailable> {
        let mut sums = vec![[0; TIMES]; KINDS.len()];
        for cpu in self.distributions.get_per_cpu(&number.to_ne_bytes())? {
            let mut fields = Fields::of(&cpu);
            sums.iter_mut().flatten().for_each(|sum: &mut u32| *sum = sum.wrapping_add(fields.u32()));
        }
        Ok(sums)
    }

    /// Forgets a service.
    pub fn forget(&self, row: &Row) {
        self.services.delete(&row.raw);
        self.sums.delete(&row.number.to_ne_bytes());
        self.distributions.delete(&row.number.to_ne_bytes());
    }
}

/// What was counted of a service since it was read before.
#[derive(Clone, Default)]
pub(super) struct New {
    counters: [u64; COUNTERS],
    /// By kind of time and bucket.
    times: Vec<(usize, usize, u64)>,
}

impl New {
    fn turns(&self) -> u64 {
        self.counters.first().copied().unwrap_or(0)
    }

    /// The turns of which times were taken.
    fn timed(&self) -> u64 {
        self.counters.get(TIMED.start).copied().unwrap_or(0)
    }

    /// The same without what nothing thins out.
    pub fn thinned(mut self) -> Self {
        self.counters.iter_mut().skip(TIMED.end).for_each(|always| *always = 0);
        self
    }

    fn add(&mut self, other: &New) {
        for (sum, more) in self.counters.iter_mut().zip(other.counters) {
            *sum = sum.saturating_add(more);
        }
        self.times.extend(&other.times);
    }
}

/// A service as it was put out last.
pub(super) struct Row {
    pub key: Key,
    /// As the kernel has it.
    pub raw: Vec<u8>,
    pub number: u32,
    group: Group,
    counted: [u64; COUNTERS],
    /// Empty where none was taken.
    times: Distributions,
    shown: [u64; COUNTERS],
    /// Turns that no time stands for yet, and what was timed since one did last.
    untold: u64,
    untold_times: New,
}

impl Row {
    /// A service that is new; `raw` and `number`: its key and its place in the kernel's maps.
    pub fn new(key: Key, raw: Vec<u8>, number: u32, out: &mut Out<'_>) -> Self {
        let comm = out.bytes(trimmed(&key.comm));
        let (side, protocol, peer) = (out.text(key.side()), out.text(key.protocol()), out.text(&key.peer()));
        let group = vec![comm, side, protocol, i64::from(key.port), peer];
        Row::with(key, raw, number, group)
    }

    fn with(key: Key, raw: Vec<u8>, number: u32, group: Group) -> Self {
        let (counted, shown) = ([0; COUNTERS], [0; COUNTERS]);
        Row { key, raw, number, group, counted, times: Vec::new(), shown, untold: 0, untold_times: New::default() }
    }

    /// What the kernel has counted since this was asked before.
    pub fn read(&mut self, maps: &Maps) -> Result<New, Unavailable> {
        let mut new = New::default();
        let counted = maps.counters(self.number)?;
        for (new, (now, before)) in new.counters.iter_mut().zip(counted.iter().zip(&self.counted)) {
            *new = now.wrapping_sub(*before);
        }
        self.counted = counted;
        if new.counters.get(TIMED).is_some_and(|timed| timed.iter().any(|n| *n > 0)) {
            let times = maps.distributions(self.number)?;
            if self.times.is_empty() {
                self.times = vec![[0; TIMES]; KINDS.len()];
            }
            for (kind, (now, before)) in times.iter().zip(&self.times).enumerate() {
                let each = now.iter().zip(before).map(|(now, before)| now.wrapping_sub(*before)).enumerate();
                new.times.extend(each.filter(|(_, n)| *n > 0).map(|(bucket, n)| (kind, bucket, u64::from(n))));
            }
            self.times = times;
        }
        Ok(new)
    }

    /// Takes in what nothing thins out of what the kernel has counted, and leaves the rest for later.
    pub fn read_what_always_counts(&mut self, maps: &Maps) -> Result<(), Unavailable> {
        let now = maps.counters(self.number)?;
        let each = self.shown.iter_mut().zip(&mut self.counted).zip(now);
        for ((shown, counted), now) in each.skip(TIMED.end) {
            *shown = shown.wrapping_add(now.wrapping_sub(*counted));
            *counted = now;
        }
        Ok(())
    }

    /// Turns so far.
    pub fn turns(&self) -> u64 {
        self.shown.first().copied().unwrap_or(0)
    }

    /// The labels of its rows.
    pub fn labels(&self) -> Vec<i64> {
        [&[i64::from(self.key.pid)], self.group.as_slice()].concat()
    }

    /// Its row of `turn`.
    pub fn cells(&self) -> Vec<i64> {
        [self.labels().as_slice(), &self.shown.map(whole)].concat()
    }

    /// Takes in what was counted in `span`. The times of turns stand for all that were answered since some were taken before.
    pub fn take(&mut self, new: &New, span: Span, times: &mut Times) {
        for (at, (shown, new)) in self.shown.iter_mut().zip(new.counters).enumerate() {
            if !TIMED.contains(&at) {
                *shown = shown.saturating_add(if at < TIMED.start { span.scaled(new) } else { new });
            }
        }
        self.untold = self.untold.saturating_add(span.scaled(new.turns()));
        self.untold_times.add(new);
        let timed = self.untold_times.timed();
        if timed == 0 {
            return;
        }
        let all = std::mem::take(&mut self.untold).max(timed);
        let told = std::mem::take(&mut self.untold_times);
        for at in TIMED {
            if let (Some(shown), Some(new)) = (self.shown.get_mut(at), told.counters.get(at)) {
                *shown = shown.saturating_add(thin::scaled(*new, all, timed));
            }
        }
        for (kind, bucket, count) in told.times {
            *times.entry((self.group.clone(), kind, bucket)).or_default() += thin::scaled(count, all, timed);
        }
    }
}

/// Counts by group, kind of time and bucket.
pub(super) type Times = BTreeMap<(Group, usize, usize), u64>;

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row {
        let key = Key::of(&[0; 84]).unwrap();
        Row::with(key, Vec::new(), 1, vec![7])
    }

    /// `turns` of which `timed` took 10 ns each, in bucket 3.
    fn new(turns: u64, timed: u64) -> New {
        let mut new = New::default();
        (new.counters[0], new.counters[5], new.counters[6], new.counters[15]) = (turns, timed, timed * 10, 1);
        if timed > 0 {
            new.times.push((0, 3, timed));
        }
        new
    }

    #[test]
    fn times_stand_for_the_turns_since_some_were_taken() {
        let (mut row, mut times) = (row(), Times::new());
        row.take(&new(100, 0), Span::ALL, &mut times);
        assert_eq!((row.turns(), row.shown[5], times.len()), (100, 0, 0), "nothing stands for these yet");
        row.take(&new(100, 10), Span::ALL, &mut times);
        assert_eq!((row.turns(), row.shown[5], row.shown[6]), (200, 200, 2000));
        assert_eq!(times.get(&(vec![7], 0, 3)), Some(&200));
        row.take(&new(50, 50), Span::ALL, &mut times);
        assert_eq!((row.turns(), row.shown[5], row.shown[6]), (250, 250, 2500));
        assert_eq!(row.shown[15], 3, "connections are not scaled");
    }

    #[test]
    fn what_was_asked_before_times_were_taken_is_not_timed() {
        let (mut row, mut times) = (row(), Times::new());
        // More were timed than answered: they were counted in the read before.
        row.take(&new(1, 2), Span::ALL, &mut times);
        assert_eq!((row.shown[5], times.get(&(vec![7], 0, 3))), (2, Some(&2)));
    }
}

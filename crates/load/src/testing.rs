//! A server and a clock that exist in tests only: time goes on where a worker waits, and in no other place.

use crate::net::{Event, Net};
use rustix::io::Errno;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// What the server does with a connection, and when.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Does {
    Open(u64),
    Refuse(u64),
    Send(u64, Vec<u8>),
    Close(u64),
    Reset(u64),
}

impl Does {
    fn at(&self) -> u64 {
        match self {
            Does::Open(at) | Does::Refuse(at) | Does::Send(at, _) | Does::Close(at) | Does::Reset(at) => *at,
        }
    }
}

/// What the server is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// Somebody wants to connect.
    Connect,
    /// A whole request came.
    Request,
}

#[derive(Debug, Default)]
struct Connection {
    /// Tells it from those before at the same slot.
    number: u64,
    exists: bool,
    open: Option<Result<(), Errno>>,
    /// What the client sent that is no whole request yet.
    asked: Vec<u8>,
    inbox: VecDeque<u8>,
    ended: Option<Result<(), Errno>>,
}

/// What happens then, by time: at a slot, to the connection of a number.
type Plans = BinaryHeap<Reverse<(u64, usize, u64, Does)>>;

/// A server by a function of the time and what happened.
pub(crate) struct Sim<F> {
    pub now: u64,
    server: F,
    plans: Plans,
    connections: Vec<Connection>,
    /// The client is away in these stretches: it only goes on at their end.
    pub away: Vec<(u64, u64)>,
    /// Bytes that are taken at once.
    pub takes: usize,
}

pub(crate) const MS: u64 = 1_000_000;
pub(crate) const SECOND: u64 = 1_000_000_000;
pub(crate) const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

impl<F: FnMut(u64, usize, Told) -> Vec<Does>> Sim<F> {
    pub(crate) fn new(slots: usize, server: F) -> Self {
        let connections = std::iter::repeat_with(Connection::default).take(slots).collect();
        Sim { now: SECOND, server, plans: Plans::new(), connections, away: Vec::new(), takes: usize::MAX }
    }

    fn tell(&mut self, slot: usize, told: Told) {
        let number = self.connections[slot].number;
        for does in (self.server)(self.now, slot, told) {
            self.plans.push(Reverse((does.at().max(self.now), slot, number, does)));
        }
    }

    fn happen(&mut self, slot: usize, number: u64, does: Does) -> Option<Event> {
        let of = &mut self.connections[slot];
        if !of.exists || of.number != number {
            return None;
        }
        let mut event = Event { slot, readable: true, writable: true, hung_up: false };
        match does {
            Does::Open(_) => {
                of.open = Some(Ok(()));
                event.readable = false;
            }
            Does::Refuse(_) => {
                of.open = Some(Err(Errno::CONNREFUSED));
                event.hung_up = true;
            }
            Does::Send(_, bytes) => of.inbox.extend(bytes),
            Does::Close(_) => {
                of.ended = Some(Ok(()));
                event.hung_up = true;
            }
            Does::Reset(_) => {
                of.ended = Some(Err(Errno::CONNRESET));
                event.hung_up = true;
            }
        }
        Some(event)
    }
}

impl<F: FnMut(u64, usize, Told) -> Vec<Does>> Net for Sim<F> {
    fn now(&self) -> u64 {
        self.now
    }

    fn cpu_time(&self) -> u64 {
        self.now / 10
    }

    fn wait(&mut self, until: u64, events: &mut Vec<Event>) -> Result<(), Errno> {
        let first = self.plans.peek().map_or(u64::MAX, |Reverse((at, ..))| *at);
        self.now = self.now.max(until.min(first));
        if let Some((_, end)) = self.away.iter().find(|(from, to)| (*from..*to).contains(&self.now)) {
            self.now = *end;
        }
        // As the kernel does, it tells of each connection once.
        let mut told: Vec<Event> = Vec::new();
        while self.plans.peek().is_some_and(|Reverse((at, ..))| *at <= self.now) {
            let Some(Reverse((_, slot, number, does))) = self.plans.pop() else { break };
            let Some(event) = self.happen(slot, number, does) else { continue };
            match told.iter_mut().find(|of| of.slot == slot) {
                Some(of) => {
                    of.readable |= event.readable;
                    of.hung_up |= event.hung_up;
                }
                None => told.push(event),
            }
        }
        events.extend(told);
        Ok(())
    }

    fn connect(&mut self, slot: usize) -> Result<(), Errno> {
        let number = self.connections[slot].number + 1;
        self.connections[slot] = Connection { number, exists: true, ..Connection::default() };
        self.tell(slot, Told::Connect);
        Ok(())
    }

    fn connected(&mut self, slot: usize) -> Result<(), Errno> {
        self.connections[slot].open.unwrap_or(Err(Errno::NOTCONN))
    }

    fn write(&mut self, slot: usize, bytes: &[u8]) -> Result<usize, Errno> {
        let of = &mut self.connections[slot];
        assert!(of.exists && of.open == Some(Ok(())), "only what is open is written to");
        if of.ended.is_some() {
            return Err(Errno::PIPE);
        }
        let count = bytes.len().min(self.takes);
        of.asked.extend(&bytes[..count]);
        if of.asked.ends_with(b"\r\n\r\n") {
            of.asked.clear();
            self.tell(slot, Told::Request);
        }
        Ok(count)
    }

    fn read(&mut self, slot: usize, buffer: &mut [u8]) -> Result<usize, Errno> {
        let of = &mut self.connections[slot];
        assert!(of.exists, "only what is there is read");
        match of.ended {
            _ if !of.inbox.is_empty() => {
                let count = buffer.len().min(of.inbox.len());
                of.inbox.drain(..count).zip(buffer).for_each(|(from, to)| *to = from);
                Ok(count)
            }
            Some(how) => how.map(|()| 0),
            None => Err(Errno::AGAIN),
        }
    }

    fn close(&mut self, slot: usize) {
        self.connections[slot].exists = false;
    }
}

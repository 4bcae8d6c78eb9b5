//! One thread's part: its connections, and the requests that are due on them.

use crate::answer::Answer;
use crate::net::{Event, Net};
use crate::schedule::{Due, Schedule};
use crate::tally::Tally;
use rustix::io::Errno;
use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};

/// How often at least it looks whether it is to stop, nanoseconds.
const LOOK: u64 = 100_000_000;
/// In a closed loop, a connection that failed rests as long before it is tried again, nanoseconds: it would only fail again, as fast as it can.
const REST: u64 = 10_000_000;
/// Connections that are being opened at once, at the start: a server's queue of those that it has not accepted is not long.
const OPENING: usize = 100;
/// Reads of a connection before others have their turn: an answer may be without end.
const READS: usize = 16;
/// Bytes that are read at once.
const BUFFER: usize = 64 << 10;

/// What all workers of a run are to do.
#[derive(Clone, Debug)]
pub(crate) struct Plan<'a> {
    /// The bytes of the requests, made in turn.
    pub requests: &'a [Vec<u8>],
    /// Whether they are of the method HEAD.
    pub to_head: bool,
    /// Whether each connection asks as soon as it has its answer.
    pub closed: bool,
    /// Times, nanoseconds: requests that are due from `warm_up` on count, and none is due after `end`. Both from the beginning.
    pub warm_up: u64,
    pub end: u64,
    /// How long a request may wait for a connection, and how long its answer is waited for.
    pub timeout: u64,
    /// Set when the run is to end early.
    pub stop: &'a AtomicBool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Socket {
    Closed,
    Opening,
    Open,
}

/// A request that the client has begun with.
#[derive(Clone, Copy, Debug)]
struct Request {
    /// When it was due, and when the client began with it.
    due: u64,
    begun: u64,
    /// Which of the requests.
    which: usize,
    written: usize,
}

/// A connection, or the place for one. It is in `free` if and only if it has no request and does not rest.
#[derive(Debug)]
struct Slot {
    socket: Socket,
    request: Option<Request>,
    answer: Answer,
}

/// How a request came to its end.
enum End {
    Answered(u16),
    Connect(Errno),
    TimedOut,
    Closed(Option<Errno>),
    Broken(String),
}

pub(crate) struct Worker<'a, N> {
    net: N,
    plan: Plan<'a>,
    schedule: Schedule,
    slots: Vec<Slot>,
    /// Connections without a request, the longest first: all of them are used alike.
    free: VecDeque<usize>,
    /// Connections that failed in a closed loop, with the time from which they are free.
    resting: VecDeque<(u64, usize)>,
    /// Requests that were due while all connections were busy: how many, and the schedule from the first of them on. There may be any number.
    waiting: u64,
    from_waiting: Schedule,
    /// When the client began with requests that are open, and their connection.
    open: BTreeSet<(u64, usize)>,
    /// Connections that may have more to read, of which nothing more will be told.
    unread: Vec<usize>,
    buffer: Vec<u8>,
    begin: u64,
    tally: Tally,
    /// CPU time at the beginning of the window, and at its end.
    cpu: [Option<u64>; 2],
    /// Requests of a closed loop.
    number: u64,
}

impl<'a, N: Net> Worker<'a, N> {
    pub(crate) fn new(net: N, plan: Plan<'a>, schedule: Schedule, connections: usize) -> Self {
        let slot = || Slot { socket: Socket::Closed, request: None, answer: Answer::default() };
        Worker {
            net,
            plan,
            from_waiting: schedule.clone(),
            schedule,
            slots: std::iter::repeat_with(slot).take(connections).collect(),
            free: (0..connections).collect(),
            resting: VecDeque::new(),
            waiting: 0,
            open: BTreeSet::new(),
            unread: Vec::new(),
            buffer: vec![0; BUFFER],
            begin: 0,
            tally: Tally::default(),
            cpu: [None; 2],
            number: 0,
        }
    }

    /// Opens all connections, within the time-out, unless it is to stop. Else says how many are open, and why the first that failed did.
    pub(crate) fn open_all(&mut self) -> Result<(), (usize, Errno)> {
        let until = self.net.now().saturating_add(self.plan.timeout);
        let (mut begun, mut open) = (0, 0);
        let mut events = Vec::new();
        while open < self.slots.len() {
            while begun < self.slots.len() && begun - open < OPENING {
                self.net.connect(begun).map_err(|errno| (open, errno))?;
                self.set(begun, Socket::Opening);
                begun += 1;
            }
            let now = self.net.now();
            if self.plan.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            if now >= until {
                return Err((open, Errno::TIMEDOUT));
            }
            events.clear();
            self.net.wait(until.min(now + LOOK), &mut events).map_err(|errno| (open, errno))?;
            for event in &events {
                if self.socket(event.slot) == Socket::Opening && (event.writable || event.hung_up) {
                    self.net.connected(event.slot).map_err(|errno| (open, errno))?;
                    self.set(event.slot, Socket::Open);
                    open += 1;
                }
                // What a server does before it is asked is seen when it is.
                if event.readable || event.hung_up {
                    self.unread.push(event.slot);
                }
            }
        }
        Ok(())
    }

    /// Makes its requests from `begin` on, until all have come to their end.
    pub(crate) fn run(mut self, begin: u64) -> Result<Tally, Errno> {
        self.begin = begin;
        let mut events = Vec::new();
        // Whether a connection was free when it last looked.
        let mut was_free = true;
        loop {
            let now = self.net.now();
            if self.plan.stop.load(Ordering::Relaxed) {
                self.interrupt(now);
                break;
            }
            self.mark(now);
            self.give_up(now);
            self.begin_due(now, was_free);
            if self.is_over(now) {
                break;
            }
            was_free = !self.free.is_empty();
            events.clear();
            let until = if self.unread.is_empty() { self.next(now) } else { now };
            self.net.wait(until, &mut events)?;
            for slot in std::mem::take(&mut self.unread) {
                self.receive(slot, true);
            }
            for event in &events {
                self.progress(event);
            }
        }
        self.tally.cpu = self.cpu[1].unwrap_or(0).saturating_sub(self.cpu[0].unwrap_or(0));
        Ok(self.tally)
    }

    fn window(&self) -> [u64; 2] {
        [self.begin + self.plan.warm_up, self.begin + self.plan.end]
    }

    fn within(&self, at: u64) -> bool {
        let [from, to] = self.window();
        (from..to).contains(&at)
    }

    /// Takes the CPU time at the beginning and the end of the window, once each.
    fn mark(&mut self, now: u64) {
        let [from, to] = self.window();
        let begun = now >= from && self.cpu[0].is_none();
        let ended = now >= to && self.cpu[1].is_none();
        if begun {
            self.cpu[0] = Some(self.net.cpu_time());
        }
        if ended {
            self.cpu[1] = Some(self.net.cpu_time());
            self.tally.window = to - from;
        }
    }

    /// The window ends here; what has not come to its end is unfinished.
    fn interrupt(&mut self, now: u64) {
        let [from, to] = self.window();
        self.begin_counting_due(now);
        if self.cpu[1].is_none() {
            self.cpu[1] = Some(self.net.cpu_time());
            self.tally.window = now.min(to).saturating_sub(from);
        }
        if self.cpu[0].is_none() {
            self.cpu[0] = self.cpu[1];
        }
        let open = self.slots.iter().filter_map(|slot| slot.request.map(|request| request.due));
        self.tally.unfinished = open.filter(|&due| self.within(due)).count() as u64;
        while let Some(due) = self.take_waiting() {
            self.tally.unfinished += u64::from(self.within(self.begin + due.at));
        }
        self.tally.interrupted = true;
    }

    /// Takes notice of what became due before an interruption.
    fn begin_counting_due(&mut self, now: u64) {
        let Some(since) = now.checked_sub(self.begin) else { return };
        while let Some(due) = self.schedule.take(since) {
            self.tally.due += u64::from(self.within(self.begin + due.at));
            self.waiting += 1;
        }
    }

    /// When the first request that waits was due.
    fn waits_since(&self) -> Option<u64> {
        self.from_waiting.next_at().filter(|_| self.waiting > 0).map(|at| self.begin + at)
    }

    fn take_waiting(&mut self) -> Option<Due> {
        self.waiting = self.waiting.checked_sub(1)?;
        self.from_waiting.take(u64::MAX)
    }

    /// Whether nothing is due, waits or is open any more.
    fn is_over(&self, now: u64) -> bool {
        let none_due = if self.plan.closed { now >= self.window()[1] } else { self.schedule.next_at().is_none() };
        // The window is measured to its end, also where the last request was answered before.
        none_due && self.waiting == 0 && self.open.is_empty() && self.cpu[1].is_some()
    }

    /// Until when there is nothing to do unless something happens.
    fn next(&self, now: u64) -> u64 {
        if now < self.begin {
            return self.begin.min(now + LOOK);
        }
        let due = self.schedule.next_at().filter(|_| !self.free.is_empty()).map(|at| self.begin + at);
        let deadline = |since: u64| since.saturating_add(self.plan.timeout);
        let open = self.open.first().map(|(begun, _)| deadline(*begun));
        let waiting = self.waits_since().map(deadline);
        let rested = self.resting.front().map(|(from, _)| *from);
        let [from, to] = self.window();
        let mark = if self.cpu[0].is_none() {
            from
        } else if self.cpu[1].is_none() {
            to
        } else {
            u64::MAX
        };
        [due, open, waiting, rested].into_iter().flatten().fold((now + LOOK).min(mark), u64::min)
    }

    /// Gives up requests whose time is over.
    fn give_up(&mut self, now: u64) {
        while let Some(&(begun, slot)) = self.open.first()
            && begun.saturating_add(self.plan.timeout) <= now
        {
            self.finish(slot, End::TimedOut, now);
            self.close(slot);
        }
        while let Some(due) = self.waits_since()
            && due.saturating_add(self.plan.timeout) <= now
        {
            self.take_waiting();
            if self.within(due) {
                self.tally.errors.timed_out += 1;
                self.tally.latency.record(now - due);
            }
        }
    }

    /// Begins with what is due, as far as there are connections.
    fn begin_due(&mut self, now: u64, was_free: bool) {
        if now < self.begin {
            return;
        }
        while let Some((_, slot)) = self.resting.front().copied().filter(|(from, _)| *from <= now) {
            self.resting.pop_front();
            self.free.push_back(slot);
        }
        if self.plan.closed {
            // A connection that fails at once rests, so this ends.
            while self.net.now() < self.window()[1]
                && let Some(slot) = self.free.pop_front()
            {
                let now = self.net.now();
                let number = self.number;
                self.number += 1;
                self.tally.due += u64::from(self.within(now));
                self.begin_with(slot, now, now, number);
            }
            return;
        }
        self.begin_waiting();
        while let Some(due) = self.schedule.take(now - self.begin) {
            let at = self.begin + due.at;
            let within = self.within(at);
            self.tally.due += u64::from(within);
            if within && was_free {
                // Asked for each: those before took some time.
                self.tally.late.record(self.net.now().saturating_sub(at));
            }
            self.waiting += 1;
            self.begin_waiting();
        }
    }

    /// Begins with requests that wait, as far as there are connections.
    fn begin_waiting(&mut self) {
        while self.waiting > 0
            && let Some(slot) = self.free.pop_front()
            && let Some(due) = self.take_waiting()
        {
            let begun = self.net.now();
            self.begin_with(slot, self.begin + due.at, begun, due.number);
        }
    }

    /// Sends a request, or opens a connection for it.
    fn begin_with(&mut self, slot: usize, due: u64, begun: u64, number: u64) {
        self.tally.begun_within += u64::from(self.within(begun));
        self.open.insert((begun, slot));
        let which = usize::try_from(number % self.plan.requests.len().max(1) as u64).unwrap_or(0);
        if let Some(of) = self.slots.get_mut(slot) {
            of.request = Some(Request { due, begun, which, written: 0 });
            of.answer.begin(self.plan.to_head);
        }
        if self.socket(slot) == Socket::Open {
            return self.send(slot);
        }
        self.tally.reconnects += u64::from(self.within(begun));
        match self.net.connect(slot) {
            Ok(()) => self.set(slot, Socket::Opening),
            Err(errno) => self.fail(slot, End::Connect(errno)),
        }
    }

    fn socket(&self, slot: usize) -> Socket {
        self.slots.get(slot).map_or(Socket::Closed, |slot| slot.socket)
    }

    fn set(&mut self, slot: usize, socket: Socket) {
        if let Some(slot) = self.slots.get_mut(slot) {
            slot.socket = socket;
        }
    }

    fn close(&mut self, slot: usize) {
        self.net.close(slot);
        self.set(slot, Socket::Closed);
    }

    /// The request of a connection failed, and with it the connection.
    fn fail(&mut self, slot: usize, end: End) {
        let now = self.net.now();
        self.finish(slot, end, now);
        self.close(slot);
    }

    /// Does what can be done now that something happened.
    fn progress(&mut self, event: &Event) {
        match self.socket(event.slot) {
            Socket::Closed => {}
            Socket::Opening if event.writable || event.hung_up => match self.net.connected(event.slot) {
                Ok(()) => {
                    self.set(event.slot, Socket::Open);
                    self.send(event.slot);
                    // It may be the only word of what came meanwhile.
                    if event.readable || event.hung_up {
                        self.receive(event.slot, true);
                    }
                }
                Err(errno) => self.fail(event.slot, End::Connect(errno)),
            },
            Socket::Opening => {}
            Socket::Open => {
                if event.writable {
                    self.send(event.slot);
                }
                if event.readable || event.hung_up {
                    self.receive(event.slot, event.hung_up);
                }
            }
        }
    }

    /// Writes what is left of a request, as far as it goes. A server that takes no more may have answered: what went wrong is said by what is read.
    fn send(&mut self, slot: usize) {
        let Some(of) = self.slots.get_mut(slot) else { return };
        let Some(request) = &mut of.request else { return };
        let bytes = self.plan.requests.get(request.which).map(Vec::as_slice).unwrap_or_default();
        while let Some(rest) = bytes.get(request.written..).filter(|rest| !rest.is_empty()) {
            match self.net.write(slot, rest) {
                Ok(count) => request.written += count,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => return self.unread.push(slot),
            }
        }
    }

    /// Reads what is there. `to_the_end`: until nothing is left, for the end would not be told again.
    fn receive(&mut self, slot: usize, to_the_end: bool) {
        for _ in 0..READS {
            if self.socket(slot) != Socket::Open {
                return;
            }
            let count = match self.net.read(slot, &mut self.buffer) {
                Err(Errno::AGAIN) => return,
                Err(Errno::INTR) => continue,
                Err(errno) => return self.ended(slot, Some(errno)),
                Ok(0) => return self.ended(slot, None),
                Ok(count) => count,
            };
            self.take(slot, count);
            if count < self.buffer.len() && !to_the_end {
                return;
            }
        }
        self.unread.push(slot);
    }

    /// Takes `count` bytes of the buffer, which a connection sent.
    fn take(&mut self, slot: usize, count: usize) {
        let now = self.net.now();
        if self.within(now) {
            self.tally.received += count as u64;
        }
        let Some(of) = self.slots.get_mut(slot) else { return };
        let Some(request) = of.request else {
            // Nobody asked: what comes next could not be told from the answer to the next request.
            return self.close(slot);
        };
        let end = match of.answer.feed(self.buffer.get(..count).unwrap_or_default()) {
            Ok(None) => return,
            Ok(Some(used)) if used < count => End::Broken("bytes came after the end of the answer".into()),
            Ok(Some(_)) => End::Answered(of.answer.status()),
            Err(why) => End::Broken(why.to_string()),
        };
        let all_sent = self.plan.requests.get(request.which).is_none_or(|bytes| request.written == bytes.len());
        let keep = all_sent && matches!(end, End::Answered(_)) && of.answer.keeps_connection();
        self.finish(slot, end, now);
        if !keep {
            self.close(slot);
        }
    }

    /// The server ended a connection.
    fn ended(&mut self, slot: usize, errno: Option<Errno>) {
        if let Some(of) = self.slots.get_mut(slot)
            && of.request.is_some()
        {
            let whole = errno.is_none() && of.answer.close();
            let end = if whole { End::Answered(of.answer.status()) } else { End::Closed(errno) };
            let now = self.net.now();
            self.finish(slot, end, now);
        }
        self.close(slot);
    }

    /// Counts the end of a connection's request. The connection is free then.
    fn finish(&mut self, slot: usize, end: End, now: u64) {
        let Some(request) = self.slots.get_mut(slot).and_then(|slot| slot.request.take()) else { return };
        self.open.remove(&(request.begun, slot));
        let done = matches!(end, End::Answered(..400));
        if self.plan.closed && !matches!(end, End::Answered(_)) {
            self.resting.push_back((now + REST, slot));
        } else {
            self.free.push_back(slot);
        }
        if done && self.within(now) {
            self.tally.done_within += 1;
        }
        if self.within(request.due) {
            self.count(request, &end, now);
        }
        // Whatever request it was for: one that does not count may be the cause of others.
        if let End::Connect(
            errno @ (Errno::ADDRNOTAVAIL | Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM),
        ) = end
        {
            self.tally.lacking.get_or_insert_with(|| errno.to_string());
        }
    }

    fn count(&mut self, request: Request, end: &End, now: u64) {
        let tally = &mut self.tally;
        let errors = &mut tally.errors;
        let (kind, example) = match end {
            End::Answered(status @ 400..) => {
                *errors.status.entry(*status).or_default() += 1;
                return;
            }
            End::Answered(_) => {
                tally.done += 1;
                tally.latency.record(now.saturating_sub(request.due));
                tally.service.record(now.saturating_sub(request.begun));
                return;
            }
            End::TimedOut => {
                errors.timed_out += 1;
                tally.latency.record(now.saturating_sub(request.due));
                return;
            }
            End::Connect(errno) => {
                errors.connect += 1;
                ("connect", errno.to_string())
            }
            End::Closed(errno) => {
                errors.closed += 1;
                ("closed", errno.map_or_else(|| "the server closed it".into(), |errno| errno.to_string()))
            }
            End::Broken(why) => {
                errors.broken += 1;
                ("broken", why.clone())
            }
        };
        errors.examples.entry(kind.into()).or_insert(example);
    }
}

#[cfg(test)]
mod tests;

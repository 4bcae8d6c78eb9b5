//! Sockets of the machine, waited for with epoll to the nanosecond.
//!
//! `epoll_wait` knows whole milliseconds only: requests would be sent in bursts, up to 1 ms after they were due. `epoll_pwait2` (Linux 5.11) knows
//! nanoseconds; before, a timer in the same set does the same for one system call more.

use crate::net::{Event, Net};
use rustix::event::epoll;
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, sockopt};
use rustix::time::{ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec};
use std::net::SocketAddr;

/// Events taken at once: in between, requests that are due are sent.
const BATCH: usize = 64;

/// What stands for the timer where others have the number of their connection.
const TIMER: u64 = u64::MAX;

/// How the end of a wait is told to the kernel.
#[derive(Debug)]
enum Timer {
    /// `epoll_pwait2`.
    Exact,
    /// A timer in the set.
    File(OwnedFd),
}

/// Connections to one server.
#[derive(Debug)]
pub(crate) struct Epoll {
    set: OwnedFd,
    timer: Timer,
    address: SocketAddr,
    sockets: Vec<Option<OwnedFd>>,
    events: Vec<libc::epoll_event>,
}

fn clock(id: ClockId) -> u64 {
    let now = rustix::time::clock_gettime(id);
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

/// Nanoseconds of CLOCK_MONOTONIC.
pub(crate) fn now() -> u64 {
    clock(ClockId::Monotonic)
}

fn timespec(nanoseconds: u64) -> Timespec {
    let seconds = i64::try_from(nanoseconds / 1_000_000_000).unwrap_or(i64::MAX);
    Timespec { tv_sec: seconds, tv_nsec: (nanoseconds % 1_000_000_000) as _ }
}

impl Epoll {
    /// For `slots` connections to `address`.
    pub(crate) fn new(address: SocketAddr, slots: usize) -> Result<Self, Errno> {
        let set = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let sockets = std::iter::repeat_with(|| None).take(slots).collect();
        let events = vec![libc::epoll_event { events: 0, u64: 0 }; BATCH];
        let mut new = Epoll { set, timer: Timer::Exact, address, sockets, events };
        if new.wait_exactly(0) == Err(Errno::NOSYS) {
            new.use_timer_file()?;
        }
        Ok(new)
    }

    /// Waits as kernels before 5.11 can.
    fn use_timer_file(&mut self) -> Result<(), Errno> {
        let timer =
            rustix::time::timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        // Told once for each time it is set: it need not be read.
        let flags = epoll::EventFlags::IN | epoll::EventFlags::ET;
        epoll::add(&self.set, &timer, epoll::EventData::new_u64(TIMER), flags)?;
        self.timer = Timer::File(timer);
        Ok(())
    }

    /// The system call by which it waits.
    pub(crate) fn waits_by(&self) -> &'static str {
        match self.timer {
            Timer::Exact => "epoll_pwait2",
            Timer::File(_) => "timerfd",
        }
    }

    /// Returns how many events there are.
    fn wait_exactly(&mut self, nanoseconds: u64) -> Result<usize, Errno> {
        let timeout = libc::timespec {
            tv_sec: i64::try_from(nanoseconds / 1_000_000_000).unwrap_or(i64::MAX),
            tv_nsec: (nanoseconds % 1_000_000_000) as _,
        };
        // rustix has whole milliseconds unless it is built for kernels from 5.11 on only.
        // SAFETY: the buffer has room for as many events as is said, and both it and the time live until the call returns.
        let count = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.set.as_raw_fd(),
                self.events.as_mut_ptr(),
                BATCH as libc::c_int,
                &raw const timeout,
                std::ptr::null::<libc::sigset_t>(),
                0_usize,
            )
        };
        count_or_error(count)
    }

    fn wait_for_file(&mut self, until: u64) -> Result<usize, Errno> {
        if let Timer::File(timer) = &self.timer {
            // A time of 0 would stop it.
            let value = Itimerspec { it_interval: timespec(0), it_value: timespec(until.max(1)) };
            rustix::time::timerfd_settime(timer, TimerfdTimerFlags::ABSTIME, &value)?;
        }
        // SAFETY: the buffer has room for as many events as is said, and lives until the call returns.
        let count =
            unsafe { libc::epoll_wait(self.set.as_raw_fd(), self.events.as_mut_ptr(), BATCH as libc::c_int, -1) };
        count_or_error(i64::from(count))
    }

    fn open(&mut self, slot: usize) -> Result<(), Errno> {
        let family = if self.address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
        // A request is one write: nothing is gained by waiting for more.
        sockopt::set_tcp_nodelay(&socket, true)?;
        let flags = epoll::EventFlags::IN | epoll::EventFlags::OUT | epoll::EventFlags::RDHUP | epoll::EventFlags::ET;
        epoll::add(&self.set, &socket, epoll::EventData::new_u64(slot as u64), flags)?;
        match rustix::net::connect(&socket, &self.address) {
            Ok(()) | Err(Errno::INPROGRESS) => {}
            Err(errno) => return Err(errno),
        }
        if let Some(place) = self.sockets.get_mut(slot) {
            *place = Some(socket);
        }
        Ok(())
    }

    fn socket(&self, slot: usize) -> Result<&OwnedFd, Errno> {
        self.sockets.get(slot).and_then(Option::as_ref).ok_or(Errno::NOTCONN)
    }
}

fn count_or_error(count: i64) -> Result<usize, Errno> {
    usize::try_from(count).map_err(|_| Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO))
}

impl Net for Epoll {
    fn now(&self) -> u64 {
        now()
    }

    fn cpu_time(&self) -> u64 {
        clock(ClockId::ThreadCPUTime)
    }

    fn wait(&mut self, until: u64, events: &mut Vec<Event>) -> Result<(), Errno> {
        let count = match self.timer {
            Timer::Exact => self.wait_exactly(until.saturating_sub(now())),
            Timer::File(_) => self.wait_for_file(until),
        };
        let count = match count {
            Err(Errno::INTR) => 0,
            other => other?,
        };
        let has = |flags: u32, flag: libc::c_int| flags & flag.cast_unsigned() != 0;
        events.extend(self.events.iter().take(count).filter(|event| event.u64 != TIMER).map(|event| {
            let flags = event.events;
            Event {
                slot: usize::try_from(event.u64).unwrap_or(usize::MAX),
                readable: has(flags, libc::EPOLLIN),
                writable: has(flags, libc::EPOLLOUT),
                hung_up: has(flags, libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR),
            }
        }));
        Ok(())
    }

    fn connect(&mut self, slot: usize) -> Result<(), Errno> {
        self.close(slot);
        self.open(slot)
    }

    fn connected(&mut self, slot: usize) -> Result<(), Errno> {
        sockopt::socket_error(self.socket(slot)?)?
    }

    fn write(&mut self, slot: usize, bytes: &[u8]) -> Result<usize, Errno> {
        // Without a signal where the other side is gone: this is a library too.
        rustix::net::send(self.socket(slot)?.as_fd(), bytes, SendFlags::NOSIGNAL)
    }

    fn read(&mut self, slot: usize, buffer: &mut [u8]) -> Result<usize, Errno> {
        rustix::net::recv(self.socket(slot)?.as_fd(), buffer, RecvFlags::empty()).map(|(count, _)| count)
    }

    fn close(&mut self, slot: usize) {
        // Closing takes it out of the set.
        if let Some(place) = self.sockets.get_mut(slot) {
            *place = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    /// One connection, there and back, whatever it waits by.
    fn there_and_back(change: impl Fn(&mut Epoll)) -> &'static str {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut net = Epoll::new(listener.local_addr().unwrap(), 2).unwrap();
        change(&mut net);
        net.connect(1).unwrap();
        let (mut other, _) = listener.accept().unwrap();
        let until = |net: &mut Epoll, wanted: fn(&Event) -> bool| loop {
            let mut events = Vec::new();
            net.wait(now() + 1_000_000_000, &mut events).unwrap();
            if events.iter().any(|event| event.slot == 1 && wanted(event)) {
                return;
            }
        };
        until(&mut net, |event| event.writable);
        net.connected(1).unwrap();
        let mut buffer = [0; 8];
        assert_eq!(net.read(1, &mut buffer), Err(Errno::AGAIN));
        assert_eq!(net.write(1, b"ask"), Ok(3));
        other.read_exact(&mut buffer[..3]).unwrap();
        other.write_all(&buffer[..3]).unwrap();
        until(&mut net, |event| event.readable);
        assert_eq!((net.read(1, &mut buffer), &buffer[..3]), (Ok(3), b"ask".as_slice()));
        drop(other);
        until(&mut net, |event| event.hung_up);
        assert_eq!(net.read(1, &mut buffer), Ok(0));
        net.close(1);
        assert_eq!(net.read(1, &mut buffer), Err(Errno::NOTCONN));
        // A time that is over does not block, and one to come is not over early.
        for ahead in [0, 2_000_000] {
            let (mut events, end) = (Vec::new(), now() + ahead);
            net.wait(end, &mut events).unwrap();
            assert!(events.is_empty() && now() >= end);
        }
        net.waits_by()
    }

    #[test]
    fn both_ways_to_wait_do_the_same() {
        there_and_back(|_| {});
        assert_eq!(there_and_back(|net| net.use_timer_file().unwrap()), "timerfd");
    }

    #[test]
    fn nobody_there() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut net = Epoll::new(listener.local_addr().unwrap(), 1).unwrap();
        drop(listener);
        let refused = net.connect(0).and_then(|()| {
            net.wait(now() + 1_000_000_000, &mut Vec::new())?;
            net.connected(0)
        });
        assert_eq!(refused, Err(Errno::CONNREFUSED));
    }
}

//! Counting hardware events (perf_event_open(2)): groups of events that count at the same time, of a CPU, of this thread, or of the command that
//! this process starts. A recorded host has its counts in the file `.counters` beside the PMUs of sysfs, see [`RECORDED`].

use crate::Host;
use crate::perf::{Attributes, DISABLED, EXCLUDE_KERNEL, PINNED};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// Where a recorded host has its counts. Each line is one of
///
/// ```text
/// counters TYPE N                               groups of this PMU hold N events at most
/// refuse TYPE CONFIG ERRNO                      this event is refused
/// count TYPE CONFIG WHOM COUNT ENABLED RUNNING  WHOM: a CPU, test, loop, command
/// ```
///
/// with numbers as C writes them. An event that no line names is refused as one that the machine does not have.
pub const RECORDED: &str = "/sys/bus/event_source/.counters";

/// An event, as the kernel takes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// Number of its PMU; 0 for the generic events of hardware.
    pub kind: u32,
    /// Which event.
    pub config: u64,
    /// More of that.
    pub config1: u64,
    /// More of that.
    pub config2: u64,
    /// Counted in the kernel only.
    pub kernel_only: bool,
}

/// What is counted of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whom {
    /// All that runs on a CPU.
    Cpu(u32),
    /// This thread, in user space: for tests with code that does many things.
    Test,
    /// The same, for a loop whose instructions are known.
    Loop,
    /// Nothing that anyone reads: it holds a counter while this thread runs, as someone else's event will later.
    Held,
    /// What this process executes from now on, with all that it starts.
    Command {
        /// In user space only.
        user_only: bool,
        /// Before all others that share the counters, all the time.
        pinned: bool,
    },
}

/// A group that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Which of its events.
    pub event: usize,
    /// What the kernel answered.
    pub errno: i32,
}

impl Refused {
    /// Whether the group does not fit the counters, or fits no counter together with what is in it.
    pub fn is_too_large(self) -> bool {
        self.errno == libc::EINVAL || self.errno == libc::ENOSPC
    }

    /// Whether it takes privileges.
    pub fn is_denied(self) -> bool {
        matches!(self.errno, libc::EACCES | libc::EPERM)
    }

    /// In words.
    pub fn why(self) -> String {
        match self.errno {
            libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV => "this machine does not have it".to_owned(),
            errno => format!("perf_event_open: {}", io::Error::from_raw_os_error(errno)),
        }
    }
}

/// What a group has counted so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Nanoseconds for which it was wanted.
    pub enabled: u64,
    /// Nanoseconds of that in which it had counters.
    pub running: u64,
    /// One for each event.
    pub counts: Vec<u64>,
}

/// A group of events that is open.
#[derive(Debug)]
pub struct Counting {
    how: How,
    buffer: Vec<u64>,
}

#[derive(Debug)]
enum How {
    /// The leader is the first.
    Live(Vec<OwnedFd>),
    Recorded(Vec<Event>, Whom),
}

// Bits of `read_format`.
const TOTAL_TIME_ENABLED: u64 = 1;
const TOTAL_TIME_RUNNING: u64 = 1 << 1;
const GROUP: u64 = 1 << 3;

// Bits of `flags`.
const INHERIT: u64 = 1 << 1;
const EXCLUDE_USER: u64 = 1 << 4;
const ENABLE_ON_EXEC: u64 = 1 << 12;

const IOC_ENABLE: libc::c_ulong = 0x2400;
const IOC_DISABLE: libc::c_ulong = 0x2401;
/// Of all events of a group.
const IOC_FLAG_GROUP: libc::c_ulong = 1;

/// Groups of hardware are no larger than this.
pub const LARGEST: usize = 24;

impl Counting {
    /// Opens a group. That of a CPU counts from now on, that of the command from when something is executed, the others when they are started.
    ///
    /// # Errors
    /// Which event was refused.
    pub fn open(host: &Host, events: &[Event], whom: Whom) -> Result<Counting, Refused> {
        let buffer = vec![0; 3 + events.len()];
        if events.is_empty() || events.len() > LARGEST {
            return Err(Refused { event: 0, errno: libc::EINVAL });
        }
        if host.is_fixture() {
            Recorded::of(host).check(events)?;
            return Ok(Counting { how: How::Recorded(events.to_vec(), whom), buffer });
        }
        let (pid, cpu, flags) = match whom {
            Whom::Cpu(cpu) => (-1, cpu as i32, 0),
            Whom::Test | Whom::Loop => (0, -1, EXCLUDE_KERNEL),
            Whom::Held => (0, -1, EXCLUDE_KERNEL | PINNED),
            Whom::Command { user_only, pinned } => {
                let user_only = if user_only { EXCLUDE_KERNEL } else { 0 };
                (0, -1, INHERIT | ENABLE_ON_EXEC | user_only | if pinned { PINNED } else { 0 })
            }
        };
        let mut open: Vec<OwnedFd> = Vec::with_capacity(events.len());
        for (number, event) in events.iter().enumerate() {
            let leader = open.first().map_or(-1, AsRawFd::as_raw_fd);
            let mut flags = flags;
            if event.kernel_only {
                // What is of the kernel only counts nothing where the kernel is left out.
                flags = flags & !EXCLUDE_KERNEL | EXCLUDE_USER;
            }
            if leader < 0 {
                flags |= DISABLED;
            } else {
                flags &= !(ENABLE_ON_EXEC | PINNED);
            }
            let attributes = Attributes {
                kind: event.kind,
                size: size_of::<Attributes>() as u32,
                config: event.config,
                config1: event.config1,
                config2: event.config2,
                read_format: TOTAL_TIME_ENABLED | TOTAL_TIME_RUNNING | GROUP,
                flags,
                ..Attributes::default()
            };
            match attributes.open_in(leader, pid, cpu) {
                Ok(event) => open.push(event),
                Err(error) => {
                    return Err(Refused { event: number, errno: error.raw_os_error().unwrap_or(libc::EINVAL) });
                }
            }
        }
        let counting = Counting { how: How::Live(open), buffer };
        if matches!(whom, Whom::Cpu(_) | Whom::Held) {
            counting.start();
        }
        Ok(counting)
    }

    /// Counts from now on.
    pub fn start(&self) {
        self.control(IOC_ENABLE);
    }

    /// Stops counting.
    pub fn stop(&self) {
        self.control(IOC_DISABLE);
    }

    fn control(&self, what: libc::c_ulong) {
        if let How::Live(events) = &self.how
            && let Some(leader) = events.first()
        {
            // SAFETY: takes no pointer.
            unsafe { libc::ioctl(leader.as_raw_fd(), what as _, IOC_FLAG_GROUP) };
        }
    }

    /// Reads what it has counted, into `reading`.
    ///
    /// # Errors
    /// What the kernel answers.
    pub fn read(&mut self, host: &Host, reading: &mut Reading) -> io::Result<()> {
        reading.counts.clear();
        match &self.how {
            How::Recorded(events, whom) => {
                let recorded = Recorded::of(host);
                for event in events {
                    let (count, enabled, running) =
                        recorded.count(event, *whom).ok_or_else(|| io::Error::from_raw_os_error(libc::ENODATA))?;
                    (reading.enabled, reading.running) = (enabled, running);
                    reading.counts.push(count);
                }
            }
            How::Live(events) => {
                let Some(leader) = events.first() else { return Ok(()) };
                let length = size_of_val(&self.buffer[..]);
                // SAFETY: the buffer is alive and has this length.
                let got = unsafe { libc::read(leader.as_raw_fd(), self.buffer.as_mut_ptr().cast(), length) };
                if got < 0 {
                    return Err(io::Error::last_os_error());
                }
                // nr, enabled, running, and a value for each event. Nothing at all: the group failed for good, as on a CPU that was switched off.
                let &[number, enabled, running, ref counts @ ..] = &self.buffer[..] else { return Ok(()) };
                if (got as usize) < length || number as usize != counts.len() {
                    return Err(io::Error::from_raw_os_error(libc::ENODATA));
                }
                (reading.enabled, reading.running) = (enabled, running);
                reading.counts.extend_from_slice(counts);
            }
        }
        Ok(())
    }
}

/// The counts of a recorded host.
struct Recorded {
    text: String,
}

impl Recorded {
    fn of(host: &Host) -> Recorded {
        Recorded { text: host.read_text(RECORDED).unwrap_or_default() }
    }

    fn lines(&self, word: &str) -> impl Iterator<Item = std::str::SplitAsciiWhitespace<'_>> {
        self.text.lines().filter_map(move |line| {
            let mut words = line.split_ascii_whitespace();
            (words.next() == Some(word)).then_some(words)
        })
    }

    fn check(&self, events: &[Event]) -> Result<(), Refused> {
        for (at, event) in events.iter().enumerate() {
            let is_it = |words: &mut std::str::SplitAsciiWhitespace<'_>| {
                number(words.next()) == Some(u64::from(event.kind)) && number(words.next()) == Some(event.config)
            };
            let refused =
                self.lines("refuse").find_map(|mut words| is_it(&mut words).then(|| number(words.next())).flatten());
            if let Some(errno) = refused {
                return Err(Refused { event: at, errno: errno as i32 });
            }
            if !self.lines("count").any(|mut words| is_it(&mut words)) {
                return Err(Refused { event: at, errno: libc::ENOENT });
            }
            let most = self.lines("counters").find_map(|mut words| {
                (number(words.next()) == Some(u64::from(event.kind))).then(|| number(words.next())).flatten()
            });
            if most.is_some_and(|most| at as u64 >= most) {
                return Err(Refused { event: at, errno: libc::EINVAL });
            }
        }
        Ok(())
    }

    fn count(&self, event: &Event, whom: Whom) -> Option<(u64, u64, u64)> {
        let cpu;
        let whom = match whom {
            Whom::Cpu(number) => {
                cpu = number.to_string();
                cpu.as_str()
            }
            Whom::Test | Whom::Held => "test",
            Whom::Loop => "loop",
            Whom::Command { .. } => "command",
        };
        self.lines("count").find_map(|mut words| {
            let is_it = number(words.next())? == u64::from(event.kind)
                && number(words.next())? == event.config
                && words.next()? == whom;
            is_it.then(|| Some((number(words.next())?, number(words.next())?, number(words.next())?))).flatten()
        })
    }
}

/// A number as C writes it.
fn number(word: Option<&str>) -> Option<u64> {
    let word = word?;
    match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(text: &str) -> (tempfile::TempDir, Host) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(RECORDED.trim_start_matches('/'));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        let host = Host::fixture(dir.path());
        (dir, host)
    }

    fn event(config: u64) -> Event {
        Event { kind: 4, config, ..Event::default() }
    }

    #[test]
    fn a_recorded_group() {
        let (_dir, host) = host(
            "counters 4 2\nrefuse 4 0x99 13\ncount 4 0x11 0 100 50 25\ncount 4 0x8 0 200 50 25\ncount 4 8 1 300 50 25\nnonsense\ncount 4\n",
        );
        let mut group = Counting::open(&host, &[event(0x11), event(8)], Whom::Cpu(0)).unwrap();
        let mut reading = Reading::default();
        group.read(&host, &mut reading).unwrap();
        assert_eq!(reading, Reading { enabled: 50, running: 25, counts: vec![100, 200] });
        let refused = |events: &[Event]| Counting::open(&host, events, Whom::Cpu(0)).unwrap_err();
        let too_large = refused(&[event(8), event(8), event(8)]);
        assert_eq!((too_large.event, too_large.is_too_large()), (2, true));
        assert_eq!(refused(&[event(8), event(0x1234)]), Refused { event: 1, errno: libc::ENOENT });
        assert!(refused(&[event(0x99)]).is_denied());
        assert!(refused(&[]).is_too_large());
        // CPU 1 has no cycles in the recording.
        let mut group = Counting::open(&host, &[event(0x11)], Whom::Cpu(1)).unwrap();
        assert!(group.read(&host, &mut reading).is_err());
    }

    /// Whatever the machine has, software events can be counted: the same way, of this thread.
    #[test]
    fn a_live_group_counts_together() {
        // PERF_TYPE_SOFTWARE: task-clock, page-faults.
        let events = [1, 2].map(|config| Event { kind: 1, config, ..Event::default() });
        let Ok(mut group) = Counting::open(&Host::live(), &events, Whom::Test) else { return };
        group.start();
        let pages = vec![1_u8; 1 << 20];
        assert!(std::hint::black_box(pages).iter().map(|&b| u64::from(b)).sum::<u64>() > 0);
        group.stop();
        let mut reading = Reading::default();
        group.read(&Host::live(), &mut reading).unwrap();
        assert_eq!((reading.counts.len(), reading.enabled), (2, reading.running));
        assert!(reading.counts[0] > 0 && reading.running > 0, "{reading:?}");
    }

    #[test]
    fn refusals_in_words() {
        let why = |errno| Refused { event: 0, errno }.why();
        assert_eq!(why(libc::ENOENT), "this machine does not have it");
        assert!(why(libc::EACCES).contains("Permission denied"));
    }
}

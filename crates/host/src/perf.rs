//! The door to the kernel's performance events (perf_event_open(2)): samples of what the CPUs run, and the side band that tells of forks,
//! names and mappings. One event and one ring a CPU; the rings are drained now and then, and records come out in the order of their time.

mod record;
#[cfg(test)]
mod tests;

pub(crate) use record::{Cursor, LOST_RECORD, SAMPLE_RECORD};
pub use record::{Record, Sample};

use crate::Host;
use model::Unavailable;
use record::time_of;
#[cfg(target_os = "linux")]
use std::ffi::CString;
#[cfg(target_os = "linux")]
use std::fs::File;
use std::io;
#[cfg(feature = "bpf")]
use std::os::fd::BorrowedFd;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering, fence};

/// A ring, without the page before it, and how much of the user stack a sample copies into it, bytes. The kernel takes room for the whole copy, however
/// short a stack is: the first holds 1.4 s at 99 Hz, the last 0.3 s. Most stacks are shorter than 16 KiB, but nine of ten of a compiler's are not
/// (`scripts/bench.sh unwind`); 56 KiB is next to what a record can hold. There is less where there are many CPUs, and where an ordinary user may lock
/// no more for each (`/proc/sys/kernel/perf_event_mlock_kb`).
const RINGS: [(usize, u32); 5] =
    [(8 << 20, 56 << 10), (4 << 20, 56 << 10), (2 << 20, 56 << 10), (1 << 20, 32 << 10), (512 << 10, 16 << 10)];

/// All rings together have no more than this, bytes, unless even the smallest need more.
const TOTAL: usize = 64 << 20;

/// What gives the right to look at all processes.
pub const REMEDY: &str =
    "run as root, or grant the capability: setcap cap_perfmon+ep PROGRAM, or: sysctl kernel.perf_event_paranoid=-1";

/// What gives counters that others hold.
pub const HELD_REMEDY: &str = "end what else counts hardware events, such as perf or another recording";

/// `struct perf_event_attr` of include/uapi/linux/perf_event.h as of its fifth version, Linux 4.1.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Attributes {
    pub kind: u32,
    pub size: u32,
    pub config: u64,
    pub sample_period: u64,
    pub sample_type: u64,
    pub read_format: u64,
    pub flags: u64,
    pub wakeup_watermark: u32,
    pub bp_type: u32,
    pub config1: u64,
    pub config2: u64,
    pub branch_sample_type: u64,
    pub sample_regs_user: u64,
    pub sample_stack_user: u32,
    pub clockid: i32,
    pub sample_regs_intr: u64,
    pub aux_watermark: u32,
    pub sample_max_stack: u16,
    pub reserved: u16,
}

const TYPE_HARDWARE: u32 = 0;
pub(crate) const TYPE_SOFTWARE: u32 = 1;
pub(crate) const TYPE_BREAKPOINT: u32 = 5;
const CPU_CYCLES: u64 = 0;
/// Kind and configuration of the event of instructions.
const INSTRUCTIONS: (u32, u64) = (TYPE_HARDWARE, 1);
const CPU_CLOCK: u64 = 0;
const DUMMY: u64 = 9;

// Bits of `sample_type`.
pub(crate) const IP: u64 = 1;
pub(crate) const TID: u64 = 1 << 1;
pub(crate) const TIME: u64 = 1 << 2;
const CALLCHAIN: u64 = 1 << 5;
const CPU: u64 = 1 << 7;
const PERIOD: u64 = 1 << 8;
pub(crate) const REGS_USER: u64 = 1 << 12;
const STACK_USER: u64 = 1 << 13;

// Bits of `flags`.
pub(crate) const DISABLED: u64 = 1;
const INHERIT: u64 = 1 << 1;
pub(crate) const PINNED: u64 = 1 << 2;
pub(crate) const EXCLUDE_KERNEL: u64 = 1 << 5;
pub(crate) const EXCLUDE_HV: u64 = 1 << 6;
const EXCLUDE_IDLE: u64 = 1 << 7;
const MMAP: u64 = 1 << 8;
const COMM: u64 = 1 << 9;
const FREQUENCY: u64 = 1 << 10;
const TASK: u64 = 1 << 13;
pub(crate) const WATERMARK: u64 = 1 << 14;
const SAMPLE_ID_ALL: u64 = 1 << 18;
const EXCLUDE_CALLCHAIN_USER: u64 = 1 << 22;
const MMAP2: u64 = 1 << 23;
const COMM_EXEC: u64 = 1 << 24;
pub(crate) const USE_CLOCKID: u64 = 1 << 25;

const FD_CLOEXEC: libc::c_ulong = 8;
pub(crate) const IOC_ENABLE: libc::c_ulong = 0x2400;
const IOC_DISABLE: libc::c_ulong = 0x2401;
const IOC_REFRESH: libc::c_ulong = 0x2402;
const IOC_SET_OUTPUT: libc::c_ulong = 0x2405;
const IOC_PERIOD: libc::c_ulong = 0x4008_2404;
#[cfg(any(feature = "bpf", target_os = "linux"))]
pub(crate) const IOC_SET_BPF: libc::c_ulong = 0x4004_2408;

/// Registers of the user side that unwinding needs (of x86-64 two of them in the code of JVMs only, rbx and r13), as bits of `sample_regs_user` (arch/*/include/uapi/asm/perf_regs.h). They are put down in the
/// order of their bits.
#[cfg(target_arch = "x86_64")]
const REGISTERS: u64 = 1 << 1 | 1 << 6 | 1 << 7 | 1 << 8 | 1 << 21;
#[cfg(target_arch = "aarch64")]
const REGISTERS: u64 = 1 << 29 | 1 << 30 | 1 << 31 | 1 << 32;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("the registers of this machine are not known");

impl Attributes {
    /// Opens an event of a thread (-1: of all) on a CPU (-1: on all).
    pub(crate) fn open(&self, pid: i32, cpu: i32) -> io::Result<OwnedFd> {
        self.open_in(-1, pid, cpu)
    }

    /// The same, in the group of another event (-1: in none).
    pub(crate) fn open_in(&self, leader: i32, pid: i32, cpu: i32) -> io::Result<OwnedFd> {
        // SAFETY: the structure is alive during the call and its size is in it; a new descriptor comes back.
        #[cfg(target_os = "linux")]
        unsafe {
            let number = libc::syscall(libc::SYS_perf_event_open, &raw const *self, pid, cpu, leader, FD_CLOEXEC);
            let number = number as i32;
            if number < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(OwnedFd::from_raw_fd(number))
        }
        #[cfg(not(target_os = "linux"))]
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }
}

/// A path that leads to an open file, whatever its own path leads to by now.
#[cfg(target_os = "linux")]
pub(crate) fn path_of(file: &File) -> Result<CString, Unavailable> {
    CString::new(format!("/proc/self/fd/{}", file.as_raw_fd())).map_err(|_| Unavailable::failed("no such file"))
}

/// The kernel's probe (uprobe) at an instruction, by its place in a file, whose path [`crate::holder`] puts in: only that opens probes.
pub(crate) fn probe(offset: u64) -> Result<Attributes, Unavailable> {
    const TYPE: &str = "/sys/bus/event_source/devices/uprobe/type";
    let kind = std::fs::read_to_string(TYPE).ok().and_then(|text| text.trim().parse().ok());
    let kind = kind.ok_or_else(|| Unavailable::absent(format!("{TYPE}: no probes of programs (Linux 4.17)")))?;
    // In a union with probe_offset; config1 is in one with uprobe_path.
    let size = size_of::<Attributes>() as u32;
    Ok(Attributes { kind, size, config2: offset, ..Attributes::default() })
}

/// Why an event cannot be had.
pub(crate) fn unavailable(error: &io::Error) -> Unavailable {
    let why = format!("perf_event_open: {error}");
    match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => Unavailable::denied(why).remedy(REMEDY),
        // Its thread ends just now, or has ended: the kernel says so from the beginning of its end, while /proc still has it.
        Some(libc::ESRCH) => Unavailable::not_applicable(why),
        Some(libc::ENOENT | libc::ENOSYS | libc::EOPNOTSUPP | libc::ENODEV) => Unavailable::absent(why),
        _ => Unavailable::failed(why),
    }
}

/// What samples are taken by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// A timer on each CPU.
    Timer,
    /// The CPU's own count of cycles, which also sees code that runs with interrupts off.
    Cycles,
    /// No samples: the side band only.
    None,
}

/// The events of all CPUs.
#[derive(Debug)]
pub struct Perf {
    rings: Vec<Ring>,
    /// What samples are taken by.
    pub clock: Clock,
    /// Whether only threads that this one starts are seen, in user space.
    pub only_own: bool,
    /// The events that samples by instructions are taken by, of each CPU; none where there are no such.
    by_instructions: Vec<OwnedFd>,
    bytes: Vec<u8>,
    /// Time and place of the records in `bytes`.
    records: Vec<(u64, u32, u32)>,
}

impl Perf {
    /// Opens them. `hertz` samples a second on each CPU; 0 for none. Where the whole system may not be looked at, it is the threads
    /// that the calling one starts from now on.
    pub fn open(host: &Host, hertz: u32) -> Result<Self, Unavailable> {
        if host.is_fixture() {
            return Err(Unavailable::not_applicable("a recorded host has no kernel that could count events"));
        }
        let online = host.read_text("/sys/devices/system/cpu/online")?;
        let cpus = cpus(&online);
        let clocks: &[Clock] = if hertz == 0 { &[Clock::None] } else { &[Clock::Cycles, Clock::Timer] };
        let smallest = RINGS.last().copied().unwrap_or_default();
        let fits = |ring: &&(usize, u32)| **ring == smallest || hertz > 0 && ring.0 * cpus.len() <= TOTAL;
        let rings = RINGS.iter().filter(fits);
        let mut error = io::Error::from_raw_os_error(libc::ENOENT);
        for only_own in [false, true] {
            for (&clock, &ring) in clocks.iter().flat_map(|clock| rings.clone().map(move |ring| (clock, ring))) {
                match cpus.iter().map(|&cpu| Ring::open(cpu, hertz, clock, only_own, ring)).collect() {
                    Ok(rings) => {
                        let by_instructions = Vec::new();
                        let (bytes, records) = (Vec::new(), Vec::new());
                        return Ok(Perf { rings, clock, only_own, by_instructions, bytes, records });
                    }
                    Err(e) => error = e,
                }
            }
            if !matches!(error.raw_os_error(), Some(libc::EACCES | libc::EPERM)) {
                break;
            }
        }
        Err(unavailable(&error))
    }

    /// Takes samples by instructions too, as many a second, of the same threads: where they were, and how many were carried out since the one before. They
    /// have no stack and go into the rings that are there, so that each takes an interrupt and 48 bytes. Only for [`Clock::Cycles`].
    pub fn sample_instructions(&mut self, hertz: u32) -> Result<(), Unavailable> {
        self.sample_short(INSTRUCTIONS, hertz)
    }

    fn sample_short(&mut self, event: (u32, u64), hertz: u32) -> Result<(), Unavailable> {
        let open = |ring: &Ring| ring.short(event, hertz, self.only_own);
        self.by_instructions =
            self.rings.iter().map(open).collect::<io::Result<_>>().map_err(|error| match error.raw_os_error() {
                Some(libc::ENODATA) => {
                    Unavailable::absent("no counter is left for instructions: others hold them").remedy(HELD_REMEDY)
                }
                _ => unavailable(&error),
            })?;
        Ok(())
    }

    /// Whether samples by instructions are taken.
    pub fn has_instructions(&self) -> bool {
        !self.by_instructions.is_empty()
    }

    /// Sets the time between samples of each CPU by its number, nanoseconds: what always samples at one pace cannot see what runs at
    /// the same. Only for [`Clock::Timer`].
    pub fn set_periods(&self, mut period: impl FnMut(u32) -> u64) {
        for ring in self.rings.iter().filter(|_| self.clock == Clock::Timer) {
            let period = period(ring.cpu);
            // SAFETY: the call reads one u64 that is alive.
            unsafe { libc::ioctl(ring.event.as_raw_fd(), IOC_PERIOD as _, &raw const period) };
        }
    }

    /// Has the program `program`, an eBPF program of the kind `perf_event`, run at each sample before that is written down, for as long as the events are open.
    #[cfg(feature = "bpf")]
    pub(crate) fn attach(&self, program: BorrowedFd<'_>) -> io::Result<()> {
        for ring in &self.rings {
            // SAFETY: takes a descriptor's number.
            let set = unsafe { libc::ioctl(ring.event.as_raw_fd(), IOC_SET_BPF as _, program.as_raw_fd()) };
            if set < 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(())
    }

    /// Hands each record from before the call to `take`, oldest first. Those that came while the rings were looked through wait for the next call,
    /// so that the order holds.
    pub fn drain(&mut self, host: &Host, mut take: impl FnMut(u64, Record<'_>)) {
        let until = host.now();
        for ring in &mut self.rings {
            ring.drain(&mut self.bytes, &mut self.records);
        }
        self.records.sort_unstable();
        let now = self.records.partition_point(|&(time, ..)| time <= until);
        for &(time, from, to) in self.records.iter().take(now) {
            if let Some(record) = self.bytes.get(from as usize..to as usize).and_then(Record::parse) {
                take(time, record);
            }
        }
        // What is left is short.
        let left: Vec<(u64, Vec<u8>)> = self
            .records
            .iter()
            .skip(now)
            .map(|&(time, from, to)| (time, self.bytes.get(from as usize..to as usize).unwrap_or_default().to_vec()))
            .collect();
        self.records.clear();
        self.bytes.clear();
        for (time, bytes) in left {
            let from = self.bytes.len() as u32;
            self.bytes.extend_from_slice(&bytes);
            self.records.push((time, from, self.bytes.len() as u32));
        }
    }
}

/// The numbers in a list such as `0-3,8`.
fn cpus(list: &str) -> Vec<i32> {
    let number = |text: &str| text.trim().parse::<i32>().ok();
    list.split(',')
        .filter_map(|part| match part.split_once('-') {
            Some((from, to)) => Some(number(from)?..=number(to)?),
            None => number(part).map(|n| n..=n),
        })
        .flatten()
        .collect()
}

/// The event of one CPU, and where it puts its records.
#[derive(Debug)]
pub(crate) struct Ring {
    cpu: u32,
    event: OwnedFd,
    page: NonNull<u8>,
    /// Bytes of the ring itself; a power of two.
    size: usize,
    /// Bytes of the user stack that a sample has room for.
    stack: u64,
    /// The buffer that the PMU fills itself, if one was asked for.
    buffer: Option<(NonNull<u8>, usize)>,
}

// SAFETY: the mapping belongs to the ring alone, which is only read through `&mut`.
unsafe impl Send for Ring {}

/// Size of the page before the ring, which holds its head and its tail.
const CONTROL: usize = 4096;
/// Offsets of head and tail in `struct perf_event_mmap_page`; of a buffer that the PMU fills, of its head, and of where it is to lie and its size.
const HEAD: usize = 1024;
const TAIL: usize = 1032;
const BUFFER_HEAD: usize = 1056;
const BUFFER_PLACE: usize = 1072;
const BUFFER_SIZE: usize = 1080;

impl Ring {
    fn open(cpu: i32, hertz: u32, clock: Clock, only_own: bool, (size, stack): (usize, u32)) -> io::Result<Self> {
        let side_band = MMAP | MMAP2 | COMM | COMM_EXEC | TASK | SAMPLE_ID_ALL;
        let mut attributes = Attributes {
            size: size_of::<Attributes>() as u32,
            sample_type: IP | TID | TIME | CPU,
            flags: DISABLED | EXCLUDE_HV | WATERMARK | USE_CLOCKID | side_band,
            // Nobody waits for it.
            wakeup_watermark: size as u32,
            clockid: libc::CLOCK_MONOTONIC as _,
            ..Attributes::default()
        };
        let hertz = u64::from(hertz.max(1));
        (attributes.kind, attributes.config) = match clock {
            Clock::Cycles => (TYPE_HARDWARE, CPU_CYCLES),
            Clock::Timer => (TYPE_SOFTWARE, CPU_CLOCK),
            Clock::None => (TYPE_SOFTWARE, DUMMY),
        };
        if clock != Clock::None {
            attributes.sample_type |= PERIOD | CALLCHAIN | REGS_USER | STACK_USER;
            attributes.flags |= EXCLUDE_CALLCHAIN_USER;
            (attributes.sample_regs_user, attributes.sample_stack_user) = (REGISTERS, stack);
            attributes.sample_period = 1_000_000_000 / hertz;
        }
        if clock == Clock::Cycles {
            // Pinned: groups of counters (source `pmu`) take turns, and there would be no samples while it is theirs.
            attributes.flags |= FREQUENCY | PINNED;
            attributes.sample_period = hertz;
        } else if clock == Clock::Timer {
            // PMUs of Arm refuse it (armv8pmu_set_event_filter); where a CPU is idle, it counts next to nothing, and who reads samples leaves out pid 0.
            attributes.flags |= EXCLUDE_IDLE;
        }
        let pid = if only_own {
            attributes.flags |= INHERIT | EXCLUDE_KERNEL;
            0
        } else {
            -1
        };
        let ring = Ring::of(attributes.open(pid, cpu)?, cpu as u32, size, u64::from(stack))?;
        ring.enable()?;
        Ok(ring)
    }

    /// Takes samples without stacks into this ring: by an event of their own, which holds a counter all the time as that of cycles does.
    fn short(&self, (kind, config): (u32, u64), hertz: u32, only_own: bool) -> io::Result<OwnedFd> {
        let mut attributes = Attributes {
            kind,
            size: size_of::<Attributes>() as u32,
            config,
            sample_period: u64::from(hertz.max(1)),
            // As samples by cycles begin (`record::SHORT`); what follows every other record must be alike for both.
            sample_type: IP | TID | TIME | CPU | PERIOD,
            flags: DISABLED | EXCLUDE_HV | WATERMARK | USE_CLOCKID | SAMPLE_ID_ALL | FREQUENCY | PINNED,
            wakeup_watermark: self.size as u32,
            clockid: libc::CLOCK_MONOTONIC as _,
            ..Attributes::default()
        };
        let pid = if only_own {
            attributes.flags |= INHERIT | EXCLUDE_KERNEL;
            0
        } else {
            -1
        };
        let event = self.take(attributes.open(pid, self.cpu as i32)?)?;
        // SAFETY: takes no pointer.
        if unsafe { libc::ioctl(event.as_raw_fd(), IOC_ENABLE as _, 0) } < 0 {
            return Err(io::Error::last_os_error());
        }
        // One that holds a counter and has found none has failed for good, and reading it gives nothing (perf_event_open(2), "pinned").
        let mut count = 0u64;
        // SAFETY: the number is alive and has this length.
        match unsafe { libc::read(event.as_raw_fd(), (&raw mut count).cast(), size_of::<u64>()) } {
            0 => Err(io::Error::from_raw_os_error(libc::ENODATA)),
            1.. => Ok(event),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Maps the records of an event: `size` bytes, a power of two; `stack` of them are the room that a sample has for the user stack.
    pub(crate) fn of(event: OwnedFd, cpu: u32, size: usize, stack: u64) -> io::Result<Self> {
        // SAFETY: a new mapping of the event's buffer, at a place that the kernel chooses.
        let page = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                CONTROL + size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                event.as_raw_fd(),
                0,
            )
        };
        match NonNull::new(page.cast::<u8>()) {
            Some(page) if page.as_ptr().cast() != libc::MAP_FAILED => {
                Ok(Ring { cpu, event, page, size, stack, buffer: None })
            }
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Maps a buffer that the PMU fills itself (AUX): `size` bytes, a power of two. It is full when it is full: nobody moves its tail on.
    pub(crate) fn map_buffer(&mut self, size: usize) -> io::Result<()> {
        // A boundary of pages of any size.
        let place = (CONTROL + self.size).next_multiple_of(64 << 10);
        // SAFETY: both words lie in the mapped first page, are aligned, and are shared with the kernel by atomic access; the mapping is a new one of
        // the event's buffer, at a place that the kernel chooses.
        let buffer = unsafe {
            (&*self.page.as_ptr().add(BUFFER_PLACE).cast::<AtomicU64>()).store(place as u64, Ordering::Relaxed);
            (&*self.page.as_ptr().add(BUFFER_SIZE).cast::<AtomicU64>()).store(size as u64, Ordering::Release);
            libc::mmap(
                std::ptr::null_mut(),
                size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                self.event.as_raw_fd(),
                place as libc::off_t,
            )
        };
        match NonNull::new(buffer.cast::<u8>()) {
            Some(buffer) if buffer.as_ptr().cast() != libc::MAP_FAILED => {
                self.buffer = Some((buffer, size));
                Ok(())
            }
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// What the PMU has put into its buffer.
    pub(crate) fn buffer(&self) -> Vec<u8> {
        let Some((buffer, size)) = self.buffer else { return Vec::new() };
        // SAFETY: the word lies in the mapped first page, is aligned, and is shared with the kernel by atomic access; what is copied lies within the
        // mapped buffer, and the kernel does not write there: the event is disabled, and the tail was never moved on.
        unsafe {
            let head = (&*self.page.as_ptr().add(BUFFER_HEAD).cast::<AtomicU64>()).load(Ordering::Acquire);
            let length = usize::try_from(head).unwrap_or(size).min(size);
            std::slice::from_raw_parts(buffer.as_ptr(), length).to_vec()
        }
    }

    /// Opens another event that counts when this one does, and whose records come here.
    pub(crate) fn beside(&self, attributes: &Attributes, pid: i32, cpu: i32) -> io::Result<OwnedFd> {
        self.take(attributes.open_in(self.event.as_raw_fd(), pid, cpu)?)
    }

    /// Has the records of another event of the same CPU come here.
    fn take(&self, event: OwnedFd) -> io::Result<OwnedFd> {
        // SAFETY: both are descriptors of events.
        let set = unsafe { libc::ioctl(event.as_raw_fd(), IOC_SET_OUTPUT as _, self.event.as_raw_fd()) };
        if set < 0 { Err(io::Error::last_os_error()) } else { Ok(event) }
    }

    /// Begins to count.
    pub(crate) fn enable(&self) -> io::Result<()> {
        self.control(IOC_ENABLE)
    }

    /// Ends it.
    pub(crate) fn disable(&self) -> io::Result<()> {
        self.control(IOC_DISABLE)
    }

    /// Begins to count, and ends it by itself after so many more events.
    pub(crate) fn enable_for(&self, events: u32) -> io::Result<()> {
        self.control_with(IOC_REFRESH, events)
    }

    fn control(&self, what: libc::c_ulong) -> io::Result<()> {
        self.control_with(what, 0)
    }

    fn control_with(&self, what: libc::c_ulong, number: u32) -> io::Result<()> {
        // SAFETY: takes no pointer.
        if unsafe { libc::ioctl(self.event.as_raw_fd(), what as _, libc::c_ulong::from(number)) } < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    /// Copies the records that are there to `bytes`, and their time and place to `records`. Of the room that samples have for a stack, what was used.
    pub(crate) fn drain(&mut self, bytes: &mut Vec<u8>, records: &mut Vec<(u64, u32, u32)>) {
        // SAFETY: both lie in the mapped first page, are aligned, and are shared with the kernel by atomic access.
        let (head, tail) = unsafe {
            (&*self.page.as_ptr().add(HEAD).cast::<AtomicU64>(), &*self.page.as_ptr().add(TAIL).cast::<AtomicU64>())
        };
        let (end, mut at) = (head.load(Ordering::Acquire), tail.load(Ordering::Relaxed));
        while at < end {
            let begin = bytes.len();
            let header = self.word(at);
            let (kind, length) = (header as u32, header >> 48);
            if length < 8 || length > end - at {
                // The kernel writes no such thing; what is left makes no sense.
                at = end;
                break;
            }
            // A sample ends with the size of that room, the room, and how much of it was used.
            let room = length.checked_sub(self.stack + 16).filter(|_| kind == SAMPLE_RECORD);
            let unused = match room {
                Some(room) if self.word(at + room) == self.stack => {
                    self.stack.saturating_sub(self.word(at + length - 8))
                }
                _ => 0,
            };
            let length_used = if unused > 0 { length - 8 - unused } else { length };
            self.copy(at, length_used as usize, bytes);
            at += length;
            let time = bytes.get(begin..).map_or(0, time_of);
            records.push((time, begin as u32, bytes.len() as u32));
        }
        fence(Ordering::SeqCst);
        tail.store(at, Ordering::Release);
    }

    /// The word at `at`; records, and what is in them, are aligned to words.
    fn word(&self, at: u64) -> u64 {
        let from = (at as usize % self.size) & !7;
        // SAFETY: it lies within the mapped ring, whose size is a multiple of a word's, and the kernel does not write there before the tail has moved on.
        unsafe { self.page.as_ptr().add(CONTROL + from).cast::<u64>().read() }
    }

    /// Copies `length` bytes of the ring from `at` on.
    fn copy(&self, at: u64, length: usize, into: &mut Vec<u8>) {
        let from = at as usize % self.size;
        let first = length.min(self.size - from);
        // SAFETY: both parts lie within the mapped ring, and the kernel does not write there before the tail has moved on.
        unsafe {
            let data = self.page.as_ptr().add(CONTROL);
            into.extend_from_slice(std::slice::from_raw_parts(data.add(from), first));
            into.extend_from_slice(std::slice::from_raw_parts(data, length - first));
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mappings are of these sizes and belong to the ring alone.
        unsafe {
            if let Some((buffer, size)) = self.buffer {
                libc::munmap(buffer.as_ptr().cast(), size);
            }
            libc::munmap(self.page.as_ptr().cast(), CONTROL + self.size)
        };
    }
}

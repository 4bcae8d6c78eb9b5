//! The records of `ledger.bpf.c`, as ledger.h lays them out.

use crate::process::stat::PF_KTHREAD;
use crate::stacks::PythonStack;
use crate::tally::Fields;
use model::Unavailable;

/// `RECORD_…` of ledger.h.
const THREAD: u32 = 1;
const SITE: u32 = 2;
const END: u32 = 3;
const KERNEL_STACK: u32 = 4;
const USER_STACK: u32 = 5;
const REGISTERS: u32 = 6;
const PYTHON_STACK: u32 = 7;

/// Number of states in the kernel; `STATES` of ledger.h.
pub(super) const STATES: usize = 12;
/// `SITES` and `OPEN` of ledger.h.
pub(super) const SITES: usize = 8;
pub(super) const OPEN: u32 = 0xffff;
/// Buckets of the histogram of waits for a CPU.
pub(super) const BUCKETS: usize = 32;
/// Most frames of a kernel stack.
const MOST_FRAMES: usize = 32;

/// `enum state` of ledger.h.
pub(super) mod state {
    pub const RUNNING: usize = 0;
    pub const RUNNABLE: usize = 1;
    pub const THROTTLED: usize = 2;
    pub const LOCK: usize = 3;
    pub const UNDECIDED: usize = 11;
}

/// A name as the kernel keeps it.
pub(super) type Name = [u8; 16];

/// `struct thread_record`: the ledger of one thread.
#[derive(Clone, Debug)]
pub(super) struct Thread {
    pub pid: u32,
    pub tid: u32,
    /// When it was read; when the thread was started (since boot), its ledger was begun, and its state began. Nanoseconds.
    pub now: u64,
    pub start: u64,
    pub born: u64,
    pub since: u64,
    pub state: usize,
    /// Time in each state up to `since`.
    pub states: [u64; STATES],
    pub runtime_born: u64,
    pub runtime: u64,
    pub runtime_now: u64,
    /// User and kernel time as the kernel guesses it, since `born`.
    pub guessed: [u64; 2],
    /// Switches that it wanted and that it did not, migrations, wake-ups.
    pub events: [u64; 4],
    pub queue: [u32; BUCKETS],
    pub name: Name,
    pub process: Name,
}

impl Thread {
    const SIZE: usize = 4 * 4 + 5 * 8 + STATES * 8 + 9 * 8 + BUCKETS * 4 + 2 * 16;

    fn read(record: &[u8]) -> Self {
        let mut f = Fields::of(record);
        f.u32();
        let (pid, tid) = (f.u32(), f.u32());
        let is_kernel = i64::from(f.u32()) & PF_KTHREAD != 0;
        let mut thread = Thread {
            pid,
            tid,
            now: f.u64(),
            start: f.u64(),
            born: f.u64(),
            since: f.u64(),
            state: f.u64() as usize,
            states: f.numbers(),
            runtime_born: f.u64(),
            runtime: f.u64(),
            runtime_now: f.u64(),
            guessed: f.numbers(),
            events: f.numbers(),
            queue: std::array::from_fn(|_| f.u32()),
            name: f.name(),
            process: f.name(),
        };
        // As processes go by it: kworker/0:1 is a kworker.
        if is_kernel && let Some(slash) = thread.process.iter().position(|&b| b == b'/') {
            thread.process.iter_mut().skip(slash).for_each(|byte| *byte = 0);
        }
        thread
    }

    /// Time in each state up to now.
    pub fn totals(&self) -> [u64; STATES] {
        let mut totals = self.states;
        if let Some(total) = totals.get_mut(self.state) {
            *total += self.now.saturating_sub(self.since);
        }
        totals
    }
}

/// `struct site_record`: one way in which a thread waited.
#[derive(Clone, Debug, Default)]
pub(super) struct Site {
    pub pid: u32,
    pub tid: u32,
    /// Its place in the ledger; [`OPEN`] for a wait that is not over.
    pub slot: u32,
    pub born: u64,
    pub place: u64,
    pub address: u64,
    pub kernel: u64,
    pub count: u64,
    pub time: u64,
    pub longest: u64,
    /// Of the waits, those whose time ran out: how many, and how long they were.
    pub timed_out: [u64; 2],
    pub waker_place: u64,
    pub waker: u32,
    pub waker_thread: u32,
    pub owner: u32,
    pub operation: u32,
    pub value: u32,
    pub waiters: u32,
    pub call: i32,
    pub state: usize,
    /// Of a kernel lock, what contention_begin said of it; 0 for others.
    pub lock: u32,
    pub waker_name: Name,
}

impl Site {
    const SIZE: usize = 4 * 4 + 8 * 8 + 8 * 4 + 16 + 2 * 8;

    fn read(record: &[u8]) -> Self {
        let mut f = Fields::of(record);
        f.u32();
        let (pid, tid, slot) = (f.u32(), f.u32(), f.u32());
        let (born, place, address, kernel, count, time, longest) =
            (f.u64(), f.u64(), f.u64(), f.u64(), f.u64(), f.u64(), f.u64());
        let (state, waker, waker_thread, owner, operation, value, waiters, call) =
            (f.u32(), f.u32(), f.u32(), f.u32(), f.u32(), f.u32(), f.u32(), f.u32().cast_signed());
        let (waker_place, waker_name) = (f.u64(), f.name());
        Site {
            pid,
            tid,
            slot,
            born,
            place,
            address,
            kernel,
            count,
            time,
            longest,
            timed_out: f.numbers(),
            waker_place,
            waker,
            waker_thread,
            owner,
            operation,
            value,
            waiters,
            call,
            state: (state & 0xff) as usize,
            lock: state >> 8,
            waker_name,
        }
    }
}

/// `struct kernel_stack_record`.
#[derive(Clone, Debug)]
pub(super) struct KernelStack {
    pub name: u64,
    pub addresses: Vec<u64>,
}

/// `struct user_stack_record`.
#[derive(Clone, Copy, Debug)]
pub(super) struct UserStack<'a> {
    pub pid: u32,
    pub place: u64,
    /// Instruction pointer, stack pointer, frame pointer, link register.
    pub registers: [u64; 4],
    pub bytes: &'a [u8],
}

/// `struct registers_record`: where a thread is blocked whose stack was not copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Blocked {
    pub pid: u32,
    pub tid: u32,
    pub place: u64,
    /// As those of [`UserStack`].
    pub registers: [u64; 4],
}

impl Blocked {
    const SIZE: usize = 4 * 4 + 5 * 8;
}

/// A record.
#[derive(Clone, Debug)]
pub(super) enum Record<'a> {
    Thread(Box<Thread>),
    /// The thread has ended.
    End(Box<Thread>),
    Site(Box<Site>),
    KernelStack(KernelStack),
    UserStack(UserStack<'a>),
    /// The functions of Python on the user stack that follows.
    PythonStack(PythonStack),
    Blocked(Blocked),
}

/// Reads one record of a ring; `None` where it is none of ours, or cut off.
pub(super) fn read(bytes: &[u8]) -> Option<Record<'_>> {
    let (kind, _) = bytes.split_first_chunk::<4>()?;
    let has = |size: usize| bytes.get(..size);
    Some(match u32::from_ne_bytes(*kind) {
        THREAD => Record::Thread(Box::new(Thread::read(has(Thread::SIZE)?))),
        END => Record::End(Box::new(Thread::read(has(Thread::SIZE)?))),
        SITE => Record::Site(Box::new(Site::read(has(Site::SIZE)?))),
        KERNEL_STACK => {
            let mut f = Fields::of(bytes);
            f.u32();
            let frames = (f.u32() as usize).min(MOST_FRAMES);
            Record::KernelStack(KernelStack { name: f.u64(), addresses: (0..frames).map(|_| f.u64()).collect() })
        }
        PYTHON_STACK => Record::PythonStack(PythonStack::read(bytes)),
        USER_STACK => {
            let mut f = Fields::of(bytes);
            f.u32();
            let (pid, _thread, size) = (f.u32(), f.u32(), f.u32() as usize);
            let (place, registers) = (f.u64(), f.numbers());
            let bytes = f.bytes(size);
            if bytes.len() < size {
                return None;
            }
            Record::UserStack(UserStack { pid, place, registers, bytes })
        }
        REGISTERS => {
            let mut f = Fields::of(has(Blocked::SIZE)?);
            f.u32();
            let (pid, tid, _) = (f.u32(), f.u32(), f.u32());
            Record::Blocked(Blocked { pid, tid, place: f.u64(), registers: f.numbers() })
        }
        _ => return None,
    })
}

/// Hands the records that an iterator wrote to `take`, one after the other.
pub(super) fn each<'a>(mut bytes: &'a [u8], mut take: impl FnMut(Record<'a>)) -> Result<(), Unavailable> {
    while let Some((kind, _)) = bytes.split_first_chunk::<4>() {
        let size = match u32::from_ne_bytes(*kind) {
            THREAD => Thread::SIZE,
            SITE => Site::SIZE,
            REGISTERS => Blocked::SIZE,
            other => return Err(Unavailable::failed(format!("eBPF threads: a record of unknown kind {other}"))),
        };
        let Some((record, rest)) = bytes.split_at_checked(size) else {
            return Err(Unavailable::failed("eBPF threads: the last record is cut off"));
        };
        take(read(record).ok_or_else(|| Unavailable::failed("eBPF threads: a record that cannot be read"))?);
        bytes = rest;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_are_records_or_none(bytes in prop::collection::vec(any::<u8>(), 0..1024), kind in 0u32..8) {
            let bytes = [&kind.to_ne_bytes()[..], &bytes].concat();
            drop(read(&bytes));
            drop(each(&bytes, drop));
        }
    }
}

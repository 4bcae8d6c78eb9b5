//! Waits with their stacks, from the kernel's sites (one way in which one thread waited) to rows of `wait`; those for locks go on to `locks.rs`.

use super::calls;
use super::classify;
use super::ledger::{Ledgers, Shares, text};
use super::locks::{Locks, Sums, Wait};
use super::monitors::Monitor;
use super::records::{Blocked, KernelStack, Name, OPEN, SITES, Site, Thread, UserStack, state};
use super::shared::Shared as SharedLedgers;
use super::tables::{DUMP, WAIT, WORDS};
use crate::Thinning;
use crate::memory::{Memory, Process};
use crate::stacks::{Callers, Innermost, PythonStack, Registers, Stacks};
use host::Host;
use lexicon::wait::{self, Wait as Verdict};
use lexicon::{Role, Roles};
use model::{NULL, Out};
use std::collections::{HashMap, VecDeque};

/// So many user and kernel stacks are remembered; beyond, those are forgotten that were not used for longest.
const MOST_STACKS: usize = 65_536;

/// Stacks that were not used for so many reads are forgotten.
const UNUSED: u64 = 60;

/// Of so many threads the stack is read at one read, and of so many more later: all that were there before wait for their turn.
const MOST_READ: usize = 64;
const MOST_ASKED: usize = 16_384;
/// So much of it, bytes; `MOST_STACK` of ledger.h.
const MOST_STACK: usize = 32 << 10;

/// Where the recorder's governor has stacks thinned, so many new ones are followed at one read, divided by how much they are.
const MOST_FOLLOWED: u32 = 256;

/// Stacks of JVMs that are still starting are kept; as many.
const MOST_EARLY: usize = 128;

/// A copied stack that is kept.
struct Early {
    pid: u32,
    place: u64,
    registers: [u64; 4],
    bytes: Vec<u8>,
}

/// What is known of a place where threads block: one user stack.
#[derive(Debug)]
struct Place {
    /// Its number without the kernel's part.
    stack: i64,
    /// Whether it was followed to the start of the thread.
    is_whole: bool,
    /// The stack pointer there.
    sp: u64,
    verdict: Verdict,
    /// Numbers of the same with kernel stacks inside it, by their names.
    whole: HashMap<u64, i64>,
    /// Frames of it that were not asked for yet, or lie in code without names, which may say otherwise; and how often names had been read when they were
    /// last asked for.
    unnamed: Option<(Innermost, Option<u64>)>,
    used: u64,
}

impl Place {
    /// What its functions say of the wait, as far as they have names.
    fn look(&mut self, innermost: Innermost, maps_read: u64, stacks: &Stacks, callers: &mut Callers) {
        let (found, unnamed) = callers.known(stacks, &innermost);
        self.verdict = wait::of_stack(found);
        let is_sure = !unnamed || matches!(self.verdict, Verdict::Lock(_));
        self.unnamed = (!is_sure).then_some((innermost, Some(maps_read)));
    }
}

/// A kernel stack.
#[derive(Debug)]
struct Kernel {
    addresses: Vec<u64>,
    /// Its number where nothing is known of the program's part.
    alone: Option<i64>,
    /// The function that the thread waited in.
    what: Option<i64>,
    used: u64,
}

/// What of a site was told before.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    born: u64,
    sums: New,
}

/// What of a site was not: waits that ended, time, and of that the waits whose time ran out, and theirs.
type New = [u64; 4];

/// What rows of `wait` are told apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct WaitKey {
    pid: u32,
    process: Name,
    thread: Name,
    state: usize,
    what: i64,
    stack: i64,
    waker: i64,
    waker_stack: i64,
}

/// All waits in scope.
pub(super) struct Waits {
    shared: SharedLedgers,
    stacks: Stacks,
    callers: Callers,
    places: HashMap<u64, Place>,
    /// Functions of Python at places whose stack is yet to come.
    pythons: HashMap<u64, PythonStack>,
    kernels: HashMap<u64, Kernel>,
    /// Threads that are blocked where nobody has copied their stack.
    asked: VecDeque<Blocked>,
    /// Stacks of JVMs that were still starting: they are followed again, as the kernel copies each but once.
    early: Vec<Early>,
    told: HashMap<u32, [Told; SITES]>,
    shares: HashMap<u32, Shares>,
    waits: HashMap<WaitKey, Sums>,
    /// Of threads that wait still, in what state, in what, and where.
    open: HashMap<u32, (usize, i64, i64)>,
    locks: Locks,
    read: u64,
    thinning: Thinning,
    /// How many stacks were followed at this read.
    followed: u32,
    /// How often stacks had been numbered again at this read.
    renewals: u32,
    /// How often names of code that processes make had been read at this read.
    maps_read: u64,
}

impl Waits {
    pub fn new(stacks: Stacks, shared: SharedLedgers, thinning: Thinning) -> Self {
        Waits {
            thinning,
            followed: 0,
            shared,
            locks: Locks::new(&stacks),
            stacks,
            callers: Callers::default(),
            places: HashMap::new(),
            pythons: HashMap::new(),
            kernels: HashMap::new(),
            renewals: 0,
            asked: VecDeque::new(),
            early: Vec::new(),
            told: HashMap::new(),
            shares: HashMap::new(),
            waits: HashMap::new(),
            open: HashMap::new(),
            read: 0,
            maps_read: 0,
        }
    }

    /// Begins a read.
    pub fn begin(&mut self) {
        self.read += 1;
        self.followed = 0;
        self.maps_read = self.stacks.maps_read();
        self.shares.clear();
        self.waits.clear();
        self.open.clear();
        self.pythons.clear();
        self.locks.begin();
        let renewals = self.stacks.renewals();
        if std::mem::replace(&mut self.renewals, renewals) != renewals {
            self.number_again();
        }
        self.follow_again();
        let oldest = self.read.saturating_sub(UNUSED);
        // The kernel copies a program's stack again when a thread blocks there after a while, and tells its own but once.
        if self.places.len() > MOST_STACKS || self.read.is_multiple_of(UNUSED) {
            self.places.retain(|_, place| place.used >= oldest);
        }
        if self.kernels.len() > MOST_STACKS {
            self.kernels.retain(|_, kernel| kernel.used >= oldest);
        }
    }

    /// Stacks were numbered again: what is in use gets its new numbers, and what is not is forgotten.
    fn number_again(&mut self) {
        let oldest = self.read.saturating_sub(UNUSED);
        self.places.retain(|_, place| place.used >= oldest);
        let stacks: Vec<i64> = self.places.values().map(|place| place.stack).collect();
        for (place, stack) in self.places.values_mut().zip(self.stacks.renewed(&stacks)) {
            place.stack = stack;
            place.whole.clear();
        }
        self.kernels.values_mut().for_each(|kernel| kernel.alone = None);
    }

    pub fn take_kernel_stack(&mut self, stack: KernelStack) {
        let read = self.read;
        self.kernels.insert(stack.name, Kernel { addresses: stack.addresses, alone: None, what: None, used: read });
    }

    pub fn take_python_stack(&mut self, stack: PythonStack) {
        self.pythons.insert(stack.at, stack);
    }

    /// Follows stacks again that came before it was known how.
    fn follow_again(&mut self) {
        let (early, stays): (Vec<Early>, Vec<Early>) =
            std::mem::take(&mut self.early).into_iter().partition(|early| !self.stacks.awaits_java(early.pid));
        self.early = stays;
        for Early { pid, place, registers, bytes } in early {
            self.take_user_stack(&UserStack { pid, place, registers, bytes: &bytes });
        }
    }

    pub fn take_user_stack(&mut self, copy: &UserStack<'_>) {
        if self.is_passed_over(copy.place) {
            return;
        }
        let [ip, sp, bp, lr] = copy.registers;
        let registers = Registers { ip, sp, bp, lr, ..Registers::default() };
        let python = self.pythons.remove(&copy.place);
        let (stack, is_whole, innermost) =
            self.stacks.intern_callers(copy.pid, registers, copy.bytes, python, wait::DEPTH);
        if let Some(place) = self.places.get_mut(&copy.place) {
            place.used = self.read;
            if place.stack == stack {
                return;
            }
        }
        if self.early.len() < MOST_EARLY && self.stacks.awaits_java(copy.pid) {
            let &UserStack { pid, place, registers, bytes } = copy;
            self.early.push(Early { pid, place, registers, bytes: bytes.to_vec() });
        }
        // Its functions are looked at when a wait there is to be judged: most are told by their calls, and names take time.
        let (verdict, whole, unnamed) = (Verdict::Unknown, HashMap::new(), Some((innermost, None)));
        let place = Place { stack, is_whole, sp, verdict, whole, unnamed, used: self.read };
        self.places.insert(copy.place, place);
    }

    /// Whether a stack is not followed now, for the governor: one that is known already, or more new ones than it allows. The kernel copies it again
    /// as long as threads block there.
    fn is_passed_over(&mut self, place: u64) -> bool {
        let one_in = self.thinning.stacks();
        if one_in == 1 {
            return false;
        }
        if let Some(known) = self.places.get_mut(&place) {
            known.used = self.read;
            return true;
        }
        self.followed += 1;
        self.followed > MOST_FOLLOWED / one_in
    }

    /// Passes over what the kernel holds of a site of a process that is left out: it is not told later either.
    pub fn pass_over(&mut self, site: &Site) {
        self.new_of(site);
    }

    /// Takes where a thread is blocked whose stack nobody has copied.
    pub fn ask(&mut self, blocked: Blocked) {
        if self.asked.len() < MOST_ASKED {
            self.asked.push_back(blocked);
        }
    }

    /// Reads stacks that were asked for.
    pub fn look(&mut self, host: &Host) {
        let mut bytes = vec![0; if self.asked.is_empty() { 0 } else { MOST_STACK }];
        for _ in 0..MOST_READ {
            let Some(Blocked { pid, tid, place, registers }) = self.asked.pop_front() else { break };
            if self.places.contains_key(&place) {
                continue;
            }
            let [ip, sp, ..] = registers;
            let size = Process(pid).some(sp, &mut bytes).unwrap_or(0);
            // It may have gone on meanwhile: then this was no stack.
            if size > 0 && blocked_at(host, pid, tid) == Some((ip, sp)) {
                let bytes = bytes.get(..size).unwrap_or_default();
                self.take_user_stack(&UserStack { pid, place, registers, bytes });
            }
        }
    }

    /// What the waits for futexes of a thread since the read before were.
    pub fn shares(&self, tid: u32) -> Shares {
        self.shares.get(&tid).copied().unwrap_or_default()
    }

    /// Forgets a thread that has ended.
    pub fn forget(&mut self, tid: u32) {
        self.told.remove(&tid);
    }

    /// Takes what the kernel holds of a site. `process` and `thread` are the names of its process and thread.
    pub fn take(&mut self, site: &Site, ledgers: &Ledgers, names: (Name, Name), out: &mut Out<'_>) {
        let [count, time, timed_out @ ..] = self.new_of(site);
        if count == 0 && time == 0 {
            return;
        }
        let (process, thread) = names;
        if let Some(place) = self.places.get_mut(&site.place) {
            place.used = self.read;
            let is_due = |asked: Option<u64>| site.state == state::UNDECIDED && asked != Some(self.maps_read);
            if let Some((innermost, _)) = place.unnamed.take_if(|(_, asked)| is_due(*asked)) {
                place.look(innermost, self.maps_read, &self.stacks, &mut self.callers);
            }
        }
        let verdict = self.verdict(site, ledgers);
        let column = match (site.state, verdict) {
            (state::UNDECIDED, Verdict::Lock(_)) => 0,
            (state::UNDECIDED, Verdict::Sleep) => 5,
            (state::UNDECIDED, Verdict::Idle) => 6,
            (state::UNDECIDED, Verdict::Unknown) => 7,
            (kernel, _) => kernel.saturating_sub(state::LOCK),
        };
        if site.state == state::UNDECIDED {
            self.shared.tell(site.place, column);
        }
        if site.state == state::UNDECIDED
            && let Some(share) = self.shares.entry(site.tid).or_default().get_mut(column)
        {
            *share += time;
        }
        let stack = self.stack(site);
        let waker_stack = self.places.get(&site.waker_place).map_or(NULL, |place| place.stack);
        let waker = if site.waker == 0 { NULL } else { out.bytes(text(&site.waker_name)) };
        let what = self.what(site, out);
        if site.slot == OPEN {
            self.open.insert(site.tid, (column, what, stack));
        }
        let key = WaitKey { pid: site.pid, process, thread, state: column, what, stack, waker, waker_stack };
        self.waits.entry(key).or_default().add(count, time, timed_out, site);
        if column == 0 {
            let (is_whole, sp) = self.places.get(&site.place).map_or((false, 0), |place| (place.is_whole, place.sp));
            let wait = Wait { site, verdict, process, stack, is_whole, sp, waker_stack, count, time };
            self.locks.take(&wait, ledgers, out);
        }
    }

    /// What was not told before.
    fn new_of(&mut self, site: &Site) -> New {
        if site.slot == OPEN {
            return [0, site.time, 0, 0];
        }
        let told = self.told.entry(site.tid).or_default();
        let Some(told) = told.get_mut(site.slot as usize) else { return New::default() };
        if told.born != site.born {
            if told.born > site.born {
                // It left the ledger before what was told last came into it.
                return New::default();
            }
            *told = Told { born: site.born, ..Told::default() };
        }
        let now = [site.count, site.time, site.timed_out[0], site.timed_out[1]];
        let mut new = New::default();
        for ((new, told), now) in new.iter_mut().zip(&mut told.sums).zip(now) {
            *new = now.saturating_sub(*told);
            *told = now.max(*told);
        }
        new
    }

    fn verdict(&self, site: &Site, ledgers: &Ledgers) -> Verdict {
        if site.state != state::UNDECIDED {
            return Verdict::Lock("futex");
        }
        match self.places.get(&site.place).map_or(Verdict::Unknown, |place| place.verdict) {
            Verdict::Unknown if calls::name(site.call) == Some("futex") => {
                classify::by_futex(site, |tid| ledgers.is_thread(site.pid, tid))
            }
            known => known,
        }
    }

    fn stack(&mut self, site: &Site) -> i64 {
        let place = self.places.get_mut(&site.place);
        let Some(kernel) = self.kernels.get_mut(&site.kernel) else { return place.map_or(NULL, |place| place.stack) };
        kernel.used = self.read;
        let (stacks, addresses) = (&self.stacks, &kernel.addresses);
        match place {
            Some(Place { stack, whole, .. }) => {
                *whole.entry(site.kernel).or_insert_with(|| stacks.within(*stack, addresses))
            }
            None => *kernel.alone.get_or_insert_with(|| stacks.within(NULL, addresses)),
        }
    }

    /// The kernel function that it waited in, else the system call.
    fn what(&mut self, site: &Site, out: &mut Out<'_>) -> i64 {
        if let Some(kernel) = self.kernels.get_mut(&site.kernel) {
            if let Some(what) = kernel.what {
                return what;
            }
            let names = kernel.addresses.iter().filter_map(|&address| self.stacks.kernel_symbol(address));
            if let Some(name) = names.into_iter().find(|name| !is_scheduler(name)) {
                let what = out.text(&name);
                kernel.what = Some(what);
                return what;
            }
        }
        match calls::name(site.call) {
            Some(name) => out.text(name),
            None if site.call >= 0 => out.text(&format!("system call {}", site.call)),
            None => NULL,
        }
    }

    /// Puts the rows.
    pub fn put(&mut self, ledgers: &Ledgers, out: &mut Out<'_>) {
        let mut waits: Vec<_> = self.waits.iter().collect();
        waits.sort_unstable_by_key(|(key, _)| **key);
        for (key, sums) in waits {
            let process = out.bytes(text(&key.process));
            let thread = out.bytes(text(&key.thread));
            let word = WORDS.get(key.state).copied().unwrap_or("other");
            let state = out.text(word);
            let row = [
                i64::from(key.pid),
                process,
                thread,
                state,
                key.what,
                key.stack,
                key.waker,
                key.waker_stack,
                sums.count as i64,
                sums.time as i64,
                sums.longest as i64,
                sums.timed_out[0] as i64,
                sums.timed_out[1] as i64,
            ];
            out.row(WAIT, &row);
        }
        self.locks.put(&self.stacks, ledgers, out);
    }

    /// Puts what each thread does now.
    pub fn put_dump(&mut self, threads: &[Thread], out: &mut Out<'_>) {
        let mut known: HashMap<u32, HashMap<u32, Monitor>> = HashMap::new();
        for thread in threads {
            let of_process =
                known.entry(thread.pid).or_insert_with(|| self.locks.now(thread.pid).into_iter().collect());
            let open = self.open.get(&thread.tid);
            let (object, holder) = match of_process.get(&thread.tid) {
                Some(Monitor { of, owner, .. }) => {
                    (of.as_ref().map(ToString::to_string), if *owner == 0 { NULL } else { i64::from(*owner) })
                }
                None => self.locks.awaited(thread.tid, &self.stacks).unwrap_or((None, NULL)),
            };
            let state = match (thread.state, open) {
                (state::RUNNING, _) => "running",
                (state::RUNNABLE, _) => "runnable",
                (state::THROTTLED, _) => "throttled",
                (_, Some((column, ..))) => WORDS.get(*column).copied().unwrap_or("other"),
                (kernel, None) => WORDS.get(kernel.saturating_sub(state::LOCK)).copied().unwrap_or("other"),
            };
            let is_blocked = thread.state >= state::LOCK;
            let (what, stack) = open.filter(|_| is_blocked).map_or((NULL, NULL), |(_, what, stack)| (*what, *stack));
            let row = [
                i64::from(thread.pid),
                i64::from(thread.tid),
                out.bytes(text(&thread.process)),
                out.bytes(text(&thread.name)),
                out.text(state),
                what,
                stack,
                object.filter(|_| is_blocked).map_or(NULL, |object| out.text(&object)),
                if is_blocked { holder } else { NULL },
                thread.now.saturating_sub(thread.since) as i64,
            ];
            out.row(DUMP, &row);
        }
    }
}

/// Instruction pointer and stack pointer of a thread that is blocked; `None` of one that runs (`/proc/PID/task/TID/syscall`, proc(5)).
fn blocked_at(host: &Host, pid: u32, tid: u32) -> Option<(u64, u64)> {
    let text = host.read_text(&format!("/proc/{pid}/task/{tid}/syscall")).ok()?;
    let mut words = text.split_ascii_whitespace().rev();
    let mut number = || u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok();
    let (ip, sp) = (number()?, number()?);
    Some((ip, sp))
}

/// Functions between what waits and the scheduler: they say nothing of what is waited for.
fn is_scheduler(name: &str) -> bool {
    lexicon::roles(name, "[kernel]", "kernel").any(Roles::of(&[Role::KernelSwitch, Role::KernelTracing]))
}

//! The reading half of `bpf/counted.h`: takes out what programs counted by key, and the stacks of one event in N.

use crate::scope;
use crate::tally::{Counts, Fields, Losses, collector_row};
use crate::thin::{Found, Span, Thin, Thinned};
use crate::{Scope, Thinning, stacks};
use host::Host;
use host::bpf::{Asked, Map, Places, Programs, Ring};
use model::{NULL, Out, Unavailable};
use stacks::{Registers, Stacks, User};
use std::collections::HashMap;

/// `COUNT_…` of counted.h.
pub const COUNT_EVENTS: u32 = 0;
const COUNT_LOST: u32 = 1;
const COUNT_LOST_STACKS: u32 = 2;
/// Stacks a second that a collector may take: each costs a few microseconds where it is taken and some tens here.
const STACKS_A_SECOND: u64 = 100;
/// `KERNEL_FRAMES`.
const KERNEL_FRAMES: usize = 32;

/// Programs that count, loaded and attached.
pub struct Counted {
    control: Map,
    sums: Map,
    epoch: u32,
    one_in: u64,
    read: u64,
    events: u64,
    counts: Counts,
    losses: Losses,
    ring: Option<Ring>,
    stacks: Stacks,
    /// What was taken out of epochs that had just ended: more may have been added since.
    taken: HashMap<Vec<u8>, Vec<u64>>,
    /// Stacks of events that count for the next read.
    early: Vec<Taken>,
    name: &'static str,
    thin: Option<Thin>,
    span: Span,
    /// What was taken last, where it may have to stand for the time after it.
    last: (Sums, Vec<Taken>),
    again: bool,
    thinning: Thinning,
    /// Holds the programs attached.
    programs: Programs,
}

/// An event whose stack was taken.
#[derive(Clone, Debug)]
pub struct Taken {
    /// The key of the event, without the epoch.
    pub key: Vec<u8>,
    /// What the event added to the sums; empty where the program does not say.
    pub sums: Vec<u64>,
    /// The cell of the stack's number.
    pub stack: i64,
}

/// What was counted since the read before.
pub type Sums = HashMap<Vec<u8>, Vec<u64>>;

/// What a source loads and attaches.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// The name of the source.
    pub name: &'static str,
    /// The object, an ELF file.
    pub object: &'a [u8],
    /// The programs to attach for good, in this order.
    pub attach: &'a [&'a str],
    /// Programs that this kernel has nothing for.
    pub without: &'a [&'a str],
    /// See [`Programs::load_with`].
    pub constants: &'a [(&'a str, &'a [u8])],
    /// Programs that may count in a part of the time.
    pub thinned: Option<Thinned<'a>>,
}

impl Counted {
    /// Loads and attaches what `plan` says for the threads in scope.
    ///
    /// # Errors
    /// Where the kernel does not allow it, or lacks what a program attaches to.
    pub fn open(host: &Host, scope: &Scope, plan: &Plan<'_>) -> Result<Self, Unavailable> {
        let marks = scope::shared(host, scope)?;
        let programs = marks.load(host, plan.name, plan.object, plan.without, &[], plan.constants)?;
        Self::attach(host, scope, plan, programs)
    }

    /// The same for all that happens on the machine, whoever the recording looks at.
    ///
    /// # Errors
    /// As [`Counted::open`].
    pub fn open_unscoped(host: &Host, scope: &Scope, plan: &Plan<'_>) -> Result<Self, Unavailable> {
        let programs = Programs::load_with(host, plan.name, plan.object, plan.without, &[], plan.constants)?;
        Self::attach(host, scope, plan, programs)
    }

    fn attach(host: &Host, scope: &Scope, plan: &Plan<'_>, mut programs: Programs) -> Result<Self, Unavailable> {
        let control = programs.map("control")?;
        // Code is looked at only of those whose threads are.
        let with_stacks = scope.target.somebody().is_ok();
        let one_in = u32::from(with_stacks);
        control.set(&0u32.to_ne_bytes(), &[0u32.to_ne_bytes(), one_in.to_ne_bytes()].concat())?;
        let (sums, counts) = (programs.map("sums")?, Counts::of(&programs)?);
        let ring = if with_stacks { programs.ring("stacks").ok() } else { None };
        let attach: Vec<&str> = plan.attach.iter().filter(|p| !plan.without.contains(p)).copied().collect();
        let thin = match &plan.thinned {
            Some(thinned) => {
                Some(Thin::attach(&programs, thinned, (scope.exact, &scope.thinning), Box::new(|| Ok(())))?)
            }
            None => None,
        };
        attach.into_iter().try_for_each(|program| programs.attach(program))?;
        Ok(Counted {
            control,
            sums,
            epoch: 0,
            one_in: u64::from(one_in),
            read: host.now(),
            events: 0,
            counts,
            losses: Losses::default(),
            ring,
            stacks: scope.stacks.clone(),
            taken: HashMap::new(),
            early: Vec::new(),
            name: plan.name,
            thin,
            span: Span::ALL,
            last: Default::default(),
            again: false,
            thinning: scope.thinning.clone(),
            programs,
        })
    }

    /// Ends the epoch. What was counted in it by key, keys without the epoch, and what was added late to the one before; to be scaled by
    /// [`Counted::span`]. `None` where nothing was looked at since the read before.
    ///
    /// # Errors
    /// Where the kernel refuses what it allowed before.
    pub fn take_thinned(&mut self, host: &Host) -> Result<Option<Sums>, Unavailable> {
        self.while_paused(|this, found| match found {
            Found::Counted(_) => this.take(host).map(Some),
            Found::Nothing => Ok(None),
            Found::Again(_) => Ok(Some(std::mem::take(&mut this.last.0))),
        })
    }

    /// The same where other programs than those that are thinned out count in the same sums, before the last `thinned` of them: what they
    /// counted is there in any case.
    ///
    /// # Errors
    /// As [`Counted::take_thinned`].
    pub fn take_partly_thinned(&mut self, host: &Host, thinned: usize) -> Result<Sums, Unavailable> {
        self.while_paused(|this, found| {
            let mut sums = this.take(host)?;
            if let Found::Again(_) = found {
                for (key, last) in std::mem::take(&mut this.last.0) {
                    let sums = sums.entry(key).or_insert_with(|| vec![0; last.len()]);
                    let skipped = last.len().saturating_sub(thinned);
                    sums.iter_mut().zip(last).skip(skipped).for_each(|(sum, last)| *sum = sum.wrapping_add(last));
                }
            }
            Ok(Some(sums))
        })
        .map(Option::unwrap_or_default)
    }

    /// Calls `take` while the gate is shut, and keeps what it took.
    fn while_paused(
        &mut self,
        take: impl FnOnce(&mut Self, Found) -> Result<Option<Sums>, Unavailable>,
    ) -> Result<Option<Sums>, Unavailable> {
        let found = self.thin.as_mut().map_or(Ok(Found::Counted(Span::ALL)), Thin::pause)?;
        if let Found::Counted(span) | Found::Again(span) = found {
            self.span = span;
        }
        self.again = matches!(found, Found::Again(_));
        let taken = take(self, found);
        if let Some(thin) = &mut self.thin {
            thin.resume();
            if let (Found::Counted(_), Ok(Some(sums))) = (found, &taken) {
                let kept = if thin.one_in() > 1 { sums.clone() } else { Sums::new() };
                self.last = (kept, Vec::new());
            }
        }
        taken
    }

    /// Says that the next read is the last: it makes up for the time in which nothing was looked at.
    pub fn ends(&mut self) {
        if let Some(thin) = &mut self.thin {
            thin.ends();
        }
    }

    /// Whether what was taken last is what the read before found: there was no other. What does not add up, such as the longest of something,
    /// is not to be told once more.
    pub fn again(&self) -> bool {
        self.again
    }

    /// The part of the time in which was counted what was taken last.
    pub fn span(&self) -> Span {
        self.span
    }

    /// The same of programs that always count.
    ///
    /// # Errors
    /// Where the kernel refuses what it allowed before.
    pub fn take(&mut self, host: &Host) -> Result<Sums, Unavailable> {
        let now = host.now();
        let events = self.counts.sum(COUNT_EVENTS)?;
        let a_second = rate(events.wrapping_sub(self.events), now.saturating_sub(self.read));
        (self.events, self.read) = (events, now);
        if self.ring.is_some() {
            let stacks = (STACKS_A_SECOND / u64::from(self.thinning.stacks())).max(1);
            self.one_in = (a_second / stacks).clamp(1, u64::from(u32::MAX));
        }
        let ended = self.epoch;
        self.epoch = ended.wrapping_add(1);
        let control = [self.epoch.to_ne_bytes(), (self.one_in as u32).to_ne_bytes()].concat();
        self.control.set(&0u32.to_ne_bytes(), &control)?;
        let mut sums = Sums::new();
        let mut taken = HashMap::new();
        for (key, value) in self.sums.entries()? {
            let Some((epoch, rest)) = key.split_first_chunk::<4>() else { continue };
            let epoch = u32::from_ne_bytes(*epoch);
            if epoch == self.epoch {
                continue;
            }
            let values = numbers(&value);
            let before = self.taken.get(&key);
            let into = sums.entry(rest.to_vec()).or_insert_with(|| vec![0; values.len()]);
            for (at, (sum, value)) in into.iter_mut().zip(&values).enumerate() {
                let before = before.and_then(|before| before.get(at)).copied().unwrap_or(0);
                *sum = sum.wrapping_add(value.wrapping_sub(before));
            }
            if epoch == ended {
                taken.insert(key, values);
            } else {
                self.sums.delete(&key);
            }
        }
        self.taken = taken;
        sums.retain(|_, values| values.iter().any(|&v| v != 0));
        Ok(sums)
    }

    /// The events of the epochs that have ended whose stacks were taken. `key` is the size of a key with the epoch, `sums` how many numbers
    /// follow it.
    pub fn stacks(&mut self, key: usize, sums: usize) -> Vec<Taken> {
        let stacks = self.stacks.clone();
        self.stacks_by((key, sums), &mut |_, pid, kernel, user| stacks.intern(pid, kernel, user))
    }

    /// The same where stacks are given their numbers by `by`.
    pub fn stacks_by(&mut self, sizes: (usize, usize), by: By<'_>) -> Vec<Taken> {
        let mut ready = std::mem::take(&mut self.early);
        let (epoch, early) = (self.epoch, &mut self.early);
        drain(&mut self.ring, sizes, by, |of, taken| {
            let to = if of == epoch { &mut *early } else { &mut ready };
            to.push(taken);
        });
        if self.again {
            return std::mem::take(&mut self.last.1);
        }
        if !self.last.0.is_empty() {
            self.last.1.clone_from(&ready);
        }
        ready
    }

    /// Between two reads: follows the stacks that were taken, which go with the next read. For programs whose code may be gone by then.
    pub fn drain(&mut self, sizes: (usize, usize), by: By<'_>) {
        let early = &mut self.early;
        drain(&mut self.ring, sizes, by, |_, taken| early.push(taken));
    }

    /// Where in the code of processes the programs of the section `uprobe` run.
    pub fn places(&self) -> &Places {
        self.programs.places()
    }

    /// The program `program` of the section `syscall`, which leaves its answers in the array `map`.
    ///
    /// # Errors
    /// Where there is none.
    pub fn asked(&self, program: &str, map: &str) -> Result<Asked, Unavailable> {
        self.programs.asked(program, map)
    }

    /// The name of a function of the kernel.
    pub fn function(&self, address: u64, out: &mut Out<'_>) -> i64 {
        match self.stacks.kernel_symbol(address) {
            _ if address == 0 => NULL,
            Some(name) => out.text(&name),
            None => out.text(&format!("{address:#x}")),
        }
    }

    /// Puts the row of the collector into `table`, and says what was lost.
    pub fn report(&mut self, out: &mut Out<'_>, table: usize) {
        let sums = [COUNT_EVENTS, COUNT_LOST, COUNT_LOST_STACKS].map(|at| self.counts.sum(at));
        let [Ok(events), Ok(lost), Ok(lost_stacks)] = sums else {
            return sums.into_iter().filter_map(Result::err).take(1).for_each(|why| out.missing(self.name, why));
        };
        self.losses.say(out, "events", lost, "more kinds of events between two reads than there is room for");
        let part = self.thin.as_ref().map_or(1, |thin| u64::from(thin.one_in()));
        collector_row(out, table, self.name, events, lost, Some(part), self.programs.run_time());
        if self.ring.is_some() {
            collector_row(out, table, "stacks", events, lost_stacks, Some(self.one_in * part), None);
        }
    }

    /// Says once, of the table or column `item`, where what is counted is an estimate.
    pub fn say_estimated(&mut self, out: &mut Out<'_>, item: &str) {
        if let Some(thin) = &mut self.thin {
            thin.say(out, item);
        }
    }
}

/// Gives the cell of a stack's number: of an event with this key, without the epoch, of this process, the kernel's part and the program's.
pub type By<'a> = &'a mut dyn FnMut(&[u8], u32, &[u64], User<'_>) -> i64;

/// Hands over the events whose stacks are in the ring, each with its epoch. The sizes are those of [`Counted::stacks`].
fn drain(ring: &mut Option<Ring>, (key, sums): (usize, usize), by: By<'_>, mut take: impl FnMut(u32, Taken)) {
    let Some(ring) = ring else { return };
    ring.drain(|record| {
        let mut fields = Fields::of(record);
        let whole_key = fields.bytes(key);
        let Some((of, rest)) = whole_key.split_first_chunk::<4>() else { return };
        let sums = (0..sums).map(|_| fields.u64()).collect();
        take(u32::from_ne_bytes(*of), Taken { key: rest.to_vec(), sums, stack: intern(&mut fields, rest, by) });
    });
}

/// So many reads in a row without an event, and a total is forgotten: it begins at zero again. Names come and go.
const FORGET: u32 = 120;

/// Running totals of what was taken out, one for each combination of labels.
#[derive(Debug, Default)]
pub struct Totals {
    totals: HashMap<Vec<i64>, Total>,
    /// In the order in which they first came up.
    order: Vec<Vec<i64>>,
}

#[derive(Debug, Default)]
struct Total {
    values: Vec<u64>,
    /// What was added since they were last put out.
    new: Vec<u64>,
    idle: u32,
}

impl Totals {
    /// Adds what was counted under these labels.
    pub fn add(&mut self, labels: Vec<i64>, values: &[u64]) {
        let total = self.totals.entry(labels).or_insert_with_key(|labels| {
            self.order.push(labels.clone());
            Total { values: vec![0; values.len()], new: vec![0; values.len()], idle: 0 }
        });
        total.idle = 0;
        for ((sum, new), value) in total.values.iter_mut().zip(&mut total.new).zip(values) {
            *sum = sum.wrapping_add(*value);
            *new = new.wrapping_add(*value);
        }
    }

    /// Calls `put` with the labels, the totals, and what was added since the last call, of each.
    pub fn each(&mut self, mut put: impl FnMut(&[i64], &[u64], &[u64])) {
        let totals = &mut self.totals;
        self.order.retain(|labels| {
            let Some(total) = totals.get_mut(labels) else { return false };
            total.idle += 1;
            if total.idle > FORGET {
                totals.remove(labels);
                return false;
            }
            put(labels, &total.values, &total.new);
            total.new.fill(0);
            true
        });
    }
}

/// The first of these tracepoints that this kernel does not have, by what it says of its types; none of a recorded host.
///
/// # Errors
/// Where the kernel does not describe its types.
pub fn missing_tracepoint(host: &Host, names: &[&'static str]) -> Result<Option<&'static str>, Unavailable> {
    if host.is_fixture() {
        return Ok(None);
    }
    for &name in names {
        if !knows(host, &format!("btf_trace_{name}"))? {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// Whether the description of this kernel's types has this name: of a type, a member or a value.
///
/// # Errors
/// Where the kernel does not describe its types.
pub fn knows(host: &Host, name: &str) -> Result<bool, Unavailable> {
    if host.is_fixture() {
        return Ok(true);
    }
    host::bpf::knows(name).ok_or_else(|| {
        Unavailable::absent("/sys/kernel/btf/vmlinux: the kernel does not describe its types")
            .remedy("a kernel with CONFIG_DEBUG_INFO_BTF=y, and /sys mounted")
    })
}

/// Events a second; of a time that is too short to tell, as if it had been a tenth of a second.
fn rate(events: u64, nanoseconds: u64) -> u64 {
    let a_second = u128::from(events) * 1_000_000_000 / u128::from(nanoseconds.max(100_000_000));
    u64::try_from(a_second).unwrap_or(u64::MAX)
}

fn numbers(bytes: &[u8]) -> Vec<u64> {
    let mut fields = Fields::of(bytes);
    (0..bytes.len() / 8).map(|_| fields.u64()).collect()
}

/// `struct counted_stack`: the cell of its number.
fn intern(fields: &mut Fields<'_>, key: &[u8], by: By<'_>) -> i64 {
    let (pid, _thread, kernel, copied) = (fields.u32(), fields.u32(), fields.u32() as usize, fields.u32() as usize);
    let [ip, sp, bp, lr] = std::array::from_fn(|_| fields.u64());
    let registers = Registers { ip, sp, bp, lr, ..Registers::default() };
    let mut frames = [0; KERNEL_FRAMES];
    frames.iter_mut().for_each(|frame| *frame = fields.u64());
    let kernel = frames.get(..kernel / 8).unwrap_or_default();
    let stack = fields.bytes(copied);
    let user = if registers.ip == 0 { User::None } else { User::Copied { registers, stack } };
    by(key, pid, kernel, user)
}

/// Shares `total` out in proportion to `parts`, so that the shares add up to it.
pub fn shared_out(total: u64, parts: &[u64]) -> Vec<u64> {
    let all: u128 = parts.iter().copied().map(u128::from).sum();
    let (mut before, mut given) = (0u128, 0u64);
    let mut share = |&part: &u64| {
        before += u128::from(part);
        let until = u64::try_from(u128::from(total) * before / all.max(1)).unwrap_or(total);
        let this = until - given;
        given = until;
        this
    };
    parts.iter().map(&mut share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn totals_grow_and_are_forgotten() {
        let mut totals = Totals::default();
        let mut seen = Vec::new();
        totals.add(vec![2], &[1, 10]);
        totals.add(vec![1], &[1, 0]);
        totals.add(vec![2], &[1, 5]);
        totals.each(|labels, values, new| seen.push((labels.to_vec(), values.to_vec(), new.to_vec())));
        assert_eq!(seen, [(vec![2], vec![2, 15], vec![2, 15]), (vec![1], vec![1, 0], vec![1, 0])]);
        for _ in 0..FORGET {
            seen.clear();
            totals.add(vec![1], &[1, 1]);
            totals.each(|labels, values, new| seen.push((labels.to_vec(), values.to_vec(), new.to_vec())));
        }
        assert_eq!(seen.last().unwrap(), &(vec![1], vec![121, 120], vec![1, 1]));
        assert_eq!(seen.len(), 1);
    }

    #[test]
    fn rates_do_not_overflow() {
        assert_eq!([rate(500, 500_000_000), rate(5, 1_000), rate(u64::MAX, 0)], [1_000, 50, u64::MAX]);
    }

    proptest! {
        #[test]
        fn shares_add_up(total in 0u64.., parts in prop::collection::vec(0u64..1 << 40, 1..20)) {
            prop_assume!(parts.iter().any(|&p| p > 0));
            let shares = shared_out(total, &parts);
            prop_assert_eq!(shares.iter().sum::<u64>(), total);
            prop_assert!(parts.iter().zip(&shares).all(|(part, share)| *part > 0 || *share == 0));
        }

        #[test]
        fn records_of_any_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let stacks = Stacks::default();
            intern(&mut Fields::of(&bytes), &[], &mut |_, pid, kernel, user| stacks.intern(pid, kernel, user));
        }
    }
}

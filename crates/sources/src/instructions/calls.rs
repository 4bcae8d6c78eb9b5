//! How often functions are called: two breakpoints, at neighbouring instructions that each call executes, on the thread that runs the function most. One
//! breakpoint alone could time nothing shorter than its own cost, some ten microseconds. Of two, the time from the second to the first is that between two
//! calls and the cost of a hit; the time from the first to the second is that cost alone.
//!
//! Where the CPU runs code slower while a breakpoint is armed, they are the kernel's probes, for functions of files only.

use crate::stacks::{Busy, Site, Stacks};
use host::breakpoints::{Access, Breakpoint, Whom, slowed};
use host::registers::Registers;
use instructions::{Flow, Instruction, Machine, Work, decode};
use model::{Column, NULL, Out, Status, Table, Unavailable, Unit};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Each of the two disarms itself after so many hits: together some 2 ms of the thread.
const HITS: u32 = 100;
/// And is armed no longer than this.
const ARMED: Duration = Duration::from_millis(20);
/// Functions that are looked at after a burst: the hottest, each with so many samples at least.
const FUNCTIONS: usize = 20;
const SAMPLES: usize = 5;
/// How often a function is looked at.
const LOOKS: u32 = 8;
/// Fewer calls in a look tell no rate.
const CALLS: usize = 10;
/// Below it two breakpoints resolve nothing, ns.
const SHORTEST: f64 = 50.0;
/// Calls are even if the mean time between them is within this part of the median.
const EVEN: f64 = 0.25;
/// Code may take so many times longer while a breakpoint is armed.
const SLOWED: f64 = 1.05;
/// Probes take long to open: so long functions are looked at after a burst.
const PROBING: Duration = Duration::from_secs(2);
/// Or within this part of what a hit costs.
const NOISE: f64 = 0.1;
/// So much code is read to find where the breakpoints go, bytes.
const BEGINNING: u64 = 128;
/// Instructions of the beginning between which they lie.
const NEAR: usize = 8;

pub(super) static TABLE: Table = Table::wide(
    "call_look",
    "how often a function is called by a thread: a look with two breakpoints, of up to 100 hits each",
    &[
        Column::number("pid", "process"),
        Column::number("tid", "thread"),
        Column::label("comm", "name of the process"),
        Column::label("thread", "name of the thread"),
        Column::gauge("at", Unit::Nanoseconds, "when, since the start of the recording"),
        Column::gauge("stack", Unit::None, "number of the stack that has the function's beginning alone"),
        Column::gauge(
            "hits",
            Unit::None,
            "hits of the breakpoints, each of which took the time of a hit from the thread",
        ),
        Column::real("cost", Unit::Nanoseconds, "time of a hit: the median; NULL where there were too few"),
        Column::real(
            "gap",
            Unit::Nanoseconds,
            "time from one call to the next: the median, or where calls are not even the mean without the longest \
             twentieth; NULL where there were too few, or they come faster than can be resolved (50 ns; a tenth of a hit by probes)",
        ),
        Column::gauge("even", Unit::None, "1 if the mean time between calls is within a quarter of the median"),
        Column::gauge("samples", Unit::None, "of the samples of the thread in the burst before, those in the function"),
        Column::gauge("thread_samples", Unit::None, "all samples of the thread in the burst before"),
    ],
)
.of_events();

/// A row of it.
#[derive(Clone, Debug)]
pub(super) struct Look {
    thread: Busy,
    /// CLOCK_MONOTONIC, ns.
    pub at: u64,
    stack: i64,
    hits: usize,
    timed: Timed,
    samples: usize,
    thread_samples: usize,
}

impl Look {
    /// Writes it to a table of the source; `at` is since the start of the recording.
    pub(super) fn write(&self, table: usize, at: i64, out: &mut Out<'_>) {
        let (comm, thread) = (out.text(&self.thread.comm), out.text(&self.thread.thread));
        let real = |value: Option<f64>| value.map_or(NULL, |value| value.to_bits() as i64);
        let cells = [
            self.thread.pid.into(),
            self.thread.tid.into(),
            comm,
            thread,
            at,
            self.stack,
            self.hits as i64,
            real(self.timed.cost),
            real(self.timed.between),
            i64::from(self.timed.even),
            self.samples as i64,
            self.thread_samples as i64,
        ];
        out.row(table, &cells);
    }
}

/// What times of hits say.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Timed {
    /// ns of a hit.
    cost: Option<f64>,
    /// ns between calls.
    between: Option<f64>,
    even: bool,
}

/// The times of hits of both breakpoints, in ns.
fn timed(first: &[u64], second: &[u64], by: By) -> Timed {
    let mut hits: Vec<(u64, bool)> = first.iter().map(|&at| (at, true)).collect();
    hits.extend(second.iter().map(|&at| (at, false)));
    hits.sort_unstable();
    let (mut costs, mut gaps) = (Vec::new(), Vec::new());
    for pair in hits.windows(2) {
        let &[(before, was_first), (after, is_first)] = pair else { continue };
        let gap = (after - before) as f64;
        match (was_first, is_first) {
            (true, false) => costs.push(gap),
            (false, true) => gaps.push(gap),
            // One was missed, as of a thread that came to its end, or was armed later.
            _ => {}
        }
    }
    if costs.len() < CALLS || gaps.len() < CALLS {
        return Timed::default();
    }
    let middle = |numbers: &mut Vec<f64>| {
        numbers.sort_by(f64::total_cmp);
        numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
    };
    let cost = middle(&mut costs);
    let median = middle(&mut gaps) - cost;
    // In the longest the thread may not have run.
    let most = gaps.len() - gaps.len().div_ceil(20);
    let mean = gaps.iter().take(most).sum::<f64>() / most.max(1) as f64 - cost;
    // Hits do not all cost the same.
    let even = (mean - median).abs() <= (EVEN * median).max(NOISE * cost);
    let shortest = if by == By::Probes { NOISE * cost } else { SHORTEST };
    let between = Some(if even { median } else { mean }).filter(|ns| *ns >= shortest && median >= shortest);
    Timed { cost: Some(cost), between, even }
}

/// What stops a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Breakpoints,
    Probes,
}

/// Whether the kernel does the work of an instruction itself when a probe is at it, which makes a hit cheaper than where it has the CPU execute a copy
/// (arch/x86/kernel/uprobes.c; not known for aarch64, where all but branches are copies).
fn is_emulated(instruction: &Instruction) -> bool {
    instruction.text.starts_with("push ")
}

/// Two instructions that each call executes once, near each other: of a function whose first instruction is the first of these. Code that a JIT made may be
/// entered at several places before it makes its frame. Hits at both must cost the same.
fn neighbours(code: &[Instruction], made: bool, by: By) -> Option<(u64, u64)> {
    let makes_frame = |i: &Instruction| i.text == "push rbp" || i.text.starts_with("stp x29, x30");
    let from = if made { code.iter().position(makes_frame)? } else { 0 };
    // Up to the first that does not go on to the next.
    let straight = code.get(from..)?;
    let length = straight.iter().position(|i| i.flow != Flow::Next).map_or(straight.len(), |at| at + 1);
    let straight = straight.get(..length.min(NEAR))?;
    // What jumps back there makes more hits than there are calls.
    let (begin, end) = (straight.first()?.address, straight.last()?.address);
    let again = code.iter().any(|i| i.target.is_some_and(|to| (begin..=end).contains(&to)));
    let usable = |i: &&Instruction| i.work != Work::Unknown && i.work != Work::Nop;
    let pairs = straight.iter().enumerate().filter(|(_, i)| usable(i)).flat_map(|(at, first)| {
        let others = straight.get(at + 1..).unwrap_or(&[]).iter().filter(usable);
        others.map(move |second| (first, second))
    });
    let same = |(first, second): &(&Instruction, &Instruction)| match by {
        By::Breakpoints => first.end() == second.address,
        By::Probes => is_emulated(first) == is_emulated(second) && first.flow == second.flow,
    };
    pairs.filter(same).map(|(a, b)| (a.address, b.address)).next().filter(|_| !again)
}

/// Which functions have been looked at.
#[derive(Debug)]
pub(super) struct Calls {
    looks: HashMap<(bool, u32, u64), u32>,
    by: By,
    /// Made code was left out.
    said: bool,
}

impl Calls {
    /// Finds out by what calls are counted here.
    pub(super) fn new() -> Calls {
        let by = if slowed().is_ok_and(|times| times > SLOWED) { By::Probes } else { By::Breakpoints };
        Calls { looks: HashMap::new(), by, said: false }
    }

    fn set(&self, stacks: &Stacks, hot: &Hot<'_>, address: u64) -> Result<Breakpoint, Unavailable> {
        match self.by {
            By::Breakpoints => {
                Breakpoint::open(Whom::Thread(hot.thread.tid), Access::Execute, address.wrapping_add(hot.bias), 8)
            }
            By::Probes => {
                let place = stacks.place(hot.key.1, address);
                let (file, offset) = place.ok_or_else(|| Unavailable::failed("its file is gone"))?;
                Breakpoint::probe(hot.thread.tid, &file, offset)
            }
        }
    }
}

/// A function that a thread was sampled in.
struct Hot<'a> {
    thread: &'a Busy,
    /// Made by the process; number of the file or of the process; where it begins there.
    key: (bool, u32, u64),
    /// Where it ends there.
    end: u64,
    /// Address in the process minus that in the file.
    bias: u64,
    samples: usize,
    thread_samples: usize,
}

/// The samples of a thread, and what their addresses are.
pub(super) type OfThread<'a> = (&'a Busy, &'a [Registers], &'a HashMap<u64, (i64, Site)>);

impl Calls {
    /// Looks at the hottest functions of a burst, one after the other. `rest` sleeps, and says whether the recording has ended.
    pub(super) fn look(
        &mut self,
        stacks: &Stacks,
        threads: &[OfThread<'_>],
        rest: &mut dyn FnMut(Duration) -> bool,
        failed: &mut Option<Unavailable>,
    ) -> Vec<Look> {
        let mut found = Vec::new();
        let mut hot = hottest(stacks, threads);
        if self.by == By::Probes && hot.iter().any(|hot| hot.key.0) && !std::mem::replace(&mut self.said, true) {
            let why = "this CPU runs code slower while a breakpoint is armed, and probes are of files: calls of \
                       functions that a process made (JIT) are not counted";
            failed.get_or_insert(Unavailable::not_applicable(why));
        }
        let looks = |hot: &Hot<'_>| self.looks.get(&hot.key).copied().unwrap_or(0);
        hot.retain(|hot| looks(hot) < LOOKS && (self.by == By::Breakpoints || !hot.key.0));
        hot.truncate(FUNCTIONS);
        // Where there is no time for all, others have their turn.
        hot.sort_by_key(|hot| looks(hot));
        let started = Instant::now();
        for hot in hot {
            if started.elapsed() > PROBING {
                break;
            }
            *self.looks.entry(hot.key).or_default() += 1;
            let (made, number, start) = hot.key;
            let range = start..hot.end.min(start.saturating_add(BEGINNING));
            let bytes = if made { stacks.memory(hot.thread.pid, &range) } else { stacks.code(number, &range) };
            let machine = if cfg!(target_arch = "aarch64") { Machine::Aarch64 } else { Machine::X86_64 };
            let code = decode(machine, &bytes.unwrap_or_default(), start);
            let Some((first, second)) = neighbours(&code, made, self.by) else { continue };
            let both = self.set(stacks, &hot, first).and_then(|first| Ok((first, self.set(stacks, &hot, second)?)));
            let (mut first, mut second) = match both {
                Ok(both) => both,
                // It has ended meanwhile.
                Err(why) if why.status == Status::NotApplicable => continue,
                Err(why) => {
                    failed.get_or_insert(why);
                    continue;
                }
            };
            let at = stacks.now();
            let begin = Instant::now();
            let _ = second.arm(HITS).and_then(|()| first.arm(HITS));
            // Nobody is told when they have disarmed themselves.
            let mut over = false;
            while !over && begin.elapsed() < ARMED {
                over = rest(ARMED / 4);
            }
            let times = |hits: Vec<Registers>| hits.iter().map(|hit| hit.time).collect::<Vec<u64>>();
            let (first_hits, second_hits) = (times(first.take()), times(second.take()));
            found.push(Look {
                thread: hot.thread.clone(),
                at,
                stack: stacks.site(hot.thread.pid, start.wrapping_add(hot.bias)).0,
                hits: first_hits.len() + second_hits.len(),
                timed: timed(&first_hits, &second_hits, self.by),
                samples: hot.samples,
                thread_samples: hot.thread_samples,
            });
            if over {
                break;
            }
        }
        found
    }
}

/// Functions with most samples first; each with the thread that has most of them.
fn hottest<'a>(stacks: &Stacks, threads: &[OfThread<'a>]) -> Vec<Hot<'a>> {
    let mut hot: HashMap<(bool, u32, u64), (usize, Hot<'a>)> = HashMap::new();
    for &(thread, samples, sites) in threads {
        // Of this thread.
        let mut functions: Vec<(std::ops::Range<u64>, Hot<'a>)> = Vec::new();
        for sample in samples {
            let (made, number, place) = match sites.get(&sample.address) {
                Some(&(_, Site::File(file, place))) => (false, file, place),
                Some(&(_, Site::Made(process, place))) => (true, process, place),
                _ => continue,
            };
            let same = |(range, hot): &&mut (std::ops::Range<u64>, Hot<'_>)| {
                (hot.key.0, hot.key.1) == (made, number) && range.contains(&place)
            };
            if let Some((_, hot)) = functions.iter_mut().find(same) {
                hot.samples += 1;
                continue;
            }
            let function = if made { stacks.made(number, place) } else { stacks.function(number, place) };
            let Some(function) = function else { continue };
            let key = (made, number, function.range.start);
            let bias = sample.address.wrapping_sub(place);
            let end = function.range.end;
            let hot = Hot { thread, key, end, bias, samples: 1, thread_samples: samples.len() };
            functions.push((function.range, hot));
        }
        for (_, function) in functions {
            let samples = function.samples;
            match hot.get_mut(&function.key) {
                Some((all, most)) => {
                    *all += samples;
                    if samples > most.samples {
                        *most = function;
                    }
                }
                None => {
                    hot.insert(function.key, (samples, function));
                }
            }
        }
    }
    let mut hot: Vec<(usize, Hot<'a>)> = hot.into_values().filter(|(all, _)| *all >= SAMPLES).collect();
    hot.sort_by_key(|(all, hot)| (std::cmp::Reverse(*all), hot.key));
    hot.into_iter().map(|(_, hot)| hot).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hits of calls so many ns apart, where one costs 9 µs.
    fn hits(between: impl Fn(u64) -> u64, calls: u64) -> (Vec<u64>, Vec<u64>) {
        let (mut now, mut first, mut second) = (1_000_000, Vec::new(), Vec::new());
        for n in 0..calls {
            first.push(now);
            second.push(now + 9_000);
            now += 18_000 + between(n);
        }
        (first, second)
    }

    #[test]
    fn the_cost_of_hits_is_not_part_of_the_time_between_calls() {
        let of = |between: &dyn Fn(u64) -> u64, calls| {
            let (first, second) = hits(between, calls);
            timed(&first, &second, By::Breakpoints)
        };
        assert_eq!(of(&|_| 300, 100), Timed { cost: Some(9_000.0), between: Some(300.0), even: true });
        // Off the CPU once.
        assert_eq!(of(&|n| if n == 50 { 4_000_000 } else { 300 }, 100).between, Some(300.0));
        // Long and short by turns: the mean.
        let uneven = of(&|n| if n % 2 == 0 { 100 } else { 10_000 }, 100);
        assert!(!uneven.even && uneven.between.is_some_and(|ns| (4_000.0..5_100.0).contains(&ns)), "{uneven:?}");
        // Faster than can be told; too few; none.
        assert_eq!(of(&|_| 20, 100), Timed { cost: Some(9_000.0), between: None, even: true });
        assert_eq!(of(&|_| 300, 9), Timed::default());
        assert_eq!(timed(&[], &[], By::Breakpoints), Timed::default());
        // Probes are not all as dear.
        let (first, second) = hits(|_| 300, 100);
        assert_eq!(timed(&first, &second, By::Probes).between, None);
        // One was armed before the other.
        let (first, second) = hits(|_| 300, 100);
        assert_eq!(timed(&first[20..], &second, By::Breakpoints).between, Some(300.0));
    }

    #[test]
    fn breakpoints_go_where_each_call_comes_by_once() {
        let by = |bytes: &[u8], made, by| neighbours(&decode(Machine::X86_64, bytes, 0x1000), made, by);
        let of = |bytes: &[u8], made| by(bytes, made, By::Breakpoints);
        // push rbp; mov rbp, rsp; push rbx; mov rbx, rdi; ret.
        let plain = [0x55, 0x48, 0x89, 0xe5, 0x53, 0x48, 0x89, 0xfb, 0xc3];
        assert_eq!(of(&plain, false), Some((0x1000, 0x1001)));
        // Both cost the same as probes.
        assert_eq!(by(&plain, false, By::Probes), Some((0x1000, 0x1004)));
        assert_eq!(by(&plain[1..], false, By::Probes), Some((0x1000, 0x1004)));
        // What a JIT made begins with its frame.
        let made = [&[0x48, 0x89, 0xd8][..], &plain].concat();
        assert_eq!(of(&made, true), Some((0x1003, 0x1004)));
        // dec rdi; jnz to the beginning: calls are not told from rounds.
        assert_eq!(of(&[0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3], false), None);
        // ret alone; nothing.
        assert_eq!(of(&[0xc3], false), None);
        assert_eq!(of(&[], false), None);
        assert_eq!(of(&[0x90, 0x90, 0xc3], true), None);
    }
}

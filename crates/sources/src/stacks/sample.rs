//! The sampler: a thread that drains the kernel's samples some ten times a second, and keeps up with the processes that come, go and map files.

use super::counted::{By, CountedPlaces};
use super::python::{self, Pythons};
use super::trie::Place as InStack;
use super::{MARKS, Registers, Stacks, State, User, maps, spread};
use crate::Thinning;
use crate::scope::{Place, Target};
use host::Host;
use host::perf::{Clock, Perf, Record, Sample};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The rings are drained this often: they hold three to twelve times as much.
const DRAIN: Duration = Duration::from_millis(100);

/// At first for so long, so often: the functions of an interpreter are told once it was met, and many commands are short.
const EARLY: (Duration, Duration) = (Duration::from_secs(2), Duration::from_millis(20));

/// The time between samples is chosen anew this often. Each choice begins a new stretch, which costs half a sample.
const VARY: Duration = Duration::from_secs(2);

/// A process is remembered for so long after its end: what others saw of it comes later.
const LINGER: Duration = Duration::from_secs(5);

/// The members of a control group are listed this often.
const LIST: Duration = Duration::from_secs(1);

/// Samples in one read at most: what nobody fetches must not fill the memory.
const MOST: usize = 1 << 20;

/// A row of the table `sample`.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub pid: u32,
    pub tid: u32,
    pub comm: Arc<str>,
    pub thread: Arc<str>,
    /// CLOCK_MONOTONIC, nanoseconds.
    pub at: u64,
    pub cpu: u32,
    pub stack: i64,
    pub weight: u64,
    /// Where its innermost instruction is.
    pub at_code: Option<spread::At>,
}

/// What the sampler counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// Samples of threads in scope, and of those the ones whose user stack could not be followed to its start.
    pub samples: u64,
    pub truncated: u64,
    /// Samples by instructions, of the same threads; `None` where there are no such.
    pub by_instructions: Option<u64>,
    /// Records that found no room in the rings, or rows that nobody fetched.
    pub lost: u64,
    /// Of so many samples one is taken at present.
    pub one_in: u64,
    /// CPU time of the sampler itself, nanoseconds.
    pub cost: u64,
    /// What was counted of Python, if there is any.
    pub python: Option<python::Counts>,
}

/// What the sampler hands over.
#[derive(Debug, Default)]
pub(super) struct Taken {
    pub rows: Vec<Row>,
    /// What samples by counters told; nothing where they are not taken by instructions too.
    pub counted: CountedPlaces,
    pub counts: Counts,
}

/// Whose threads are kept.
struct Members {
    everything: bool,
    /// The recorder's own processes.
    own: Vec<u32>,
    /// What this process starts belongs to it.
    parent: Option<u32>,
    group: Option<Place>,
    pids: HashSet<u32>,
}

impl Members {
    fn new(host: &Host, target: &Target, own: Vec<u32>) -> Self {
        let mut members = Members { everything: false, own, parent: None, group: None, pids: HashSet::new() };
        match target {
            // Samples that were asked for with nobody named are those of the whole machine.
            Target::Everything | Target::Nobody => members.everything = true,
            Target::Children => members.parent = Some(std::process::id()),
            Target::Trees(roots) => members.pids = descendants(host, roots),
            Target::Cgroup(path) => {
                members.group = Place::find(host, path).ok();
                members.list();
            }
        }
        members
    }

    fn list(&mut self) {
        if let Some(group) = &self.group {
            self.pids.extend(group.processes());
        }
    }

    fn has(&self, pid: u32) -> bool {
        (self.everything || self.pids.contains(&pid)) && !self.own.contains(&pid)
    }

    fn forked(&mut self, parent: u32, pid: u32) {
        if !self.everything && parent != pid && (self.pids.contains(&parent) || self.parent == Some(parent)) {
            self.pids.insert(pid);
        }
    }
}

/// Processes and those that they started, that are there now.
pub(crate) fn descendants(host: &Host, roots: &[u32]) -> HashSet<u32> {
    let mut numbers = Vec::new();
    // Where /proc cannot be listed there are only the processes that were named.
    let _ = host.numbers_in("/proc", &mut numbers);
    let parent = |pid: i64| -> Option<u32> {
        let stat = host.read(&format!("/proc/{pid}/stat")).ok()?;
        // The name, which may hold anything, ends at the last bracket.
        let end = memchr::memrchr(b')', &stat)?;
        std::str::from_utf8(stat.get(end..)?).ok()?.split_ascii_whitespace().nth(2)?.parse().ok()
    };
    let pairs: Vec<(u32, u32)> =
        numbers.iter().filter_map(|&pid| Some((u32::try_from(pid).ok()?, parent(pid)?))).collect();
    let mut found: HashSet<u32> = roots.iter().copied().collect();
    loop {
        let before = found.len();
        let new: Vec<u32> = pairs.iter().filter(|(_, parent)| found.contains(parent)).map(|(pid, _)| *pid).collect();
        found.extend(new);
        if found.len() == before {
            return found;
        }
    }
}

/// The thread.
pub(super) struct Sampler {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl std::fmt::Debug for Sampler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sampler").finish_non_exhaustive()
    }
}

impl Sampler {
    /// Starts it with events that were opened.
    pub(super) fn start(
        stacks: Stacks,
        perf: Perf,
        hertz: u32,
        (target, thinning, own): (&Target, &Thinning, &[u32]),
    ) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&stop);
        let (target, thinning, own) = (target.clone(), thinning.clone(), own.to_vec());
        let thread = std::thread::Builder::new().name("stacks".into()).spawn(move || {
            let members = Members::new(stacks.host(), &target, own);
            let period = if hertz == 0 { 0 } else { 1_000_000_000 / u64::from(hertz) };
            let mut work = Work {
                members,
                names: HashMap::new(),
                gone: VecDeque::new(),
                period,
                thinning,
                one_in: 1,
                random: Random(stacks.host().now() | 1),
                periods: HashMap::new(),
                last: HashMap::new(),
                clock: perf.clock,
                has_instructions: perf.has_instructions(),
                stacks,
                pythons: Pythons::default(),
            };
            work.run(perf, &ends);
        });
        Sampler { stop, thread: thread.ok() }
    }

    /// Ends it. What the rings hold is taken out before.
    pub(super) fn stop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.stop();
    }
}

struct Work {
    stacks: Stacks,
    members: Members,
    /// Names of threads.
    names: HashMap<u32, Arc<str>>,
    /// Processes and threads that ended, oldest first.
    gone: VecDeque<(Instant, u32, u32)>,
    period: u64,
    thinning: Thinning,
    /// Of so many samples one is taken at present.
    one_in: u64,
    random: Random,
    /// The time between samples on each CPU.
    periods: HashMap<u32, u64>,
    /// When each CPU was last sampled.
    last: HashMap<u32, u64>,
    clock: Clock,
    has_instructions: bool,
    pythons: Pythons,
}

impl Work {
    fn run(&mut self, mut perf: Perf, stop: &AtomicBool) {
        // On a busy machine the rings must not run over meanwhile. Only root may; for others it stays as it is.
        #[cfg(target_os = "linux")]
        let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), -10);
        let stacks = self.stacks.clone();
        let host = stacks.host();
        let begin = Instant::now();
        let (mut varied, mut listed) = (None::<Instant>, begin);
        let mut taken = Taken::default();
        taken.counts.by_instructions = self.has_instructions.then_some(0);
        loop {
            let stopping = stop.load(Ordering::Relaxed);
            let one_in = u64::from(self.thinning.stacks());
            if varied.is_none_or(|at| at.elapsed() >= VARY) || one_in != self.one_in {
                (varied, self.one_in) = (Some(Instant::now()), one_in);
                self.vary(&perf);
            }
            taken.counts.one_in = one_in;
            if listed.elapsed() >= LIST {
                listed = Instant::now();
                self.members.list();
            }
            self.pythons.begin(host.now());
            perf.drain(host, |time, record| self.take(host, time, record, &mut taken));
            self.pythons.meet(&stacks, &perf);
            stacks.look_at_pages();
            taken.counts.python = self.pythons.counts();
            self.forget();
            taken.counts.cost = crate::cputime::own_time().as_nanos() as u64;
            stacks.hand_over(&mut taken);
            if stopping {
                return;
            }
            std::thread::park_timeout(if begin.elapsed() < EARLY.0 { EARLY.1 } else { DRAIN });
        }
    }

    /// Chooses the time between samples anew: within a tenth of what was asked for, so that their mean is that.
    fn vary(&mut self, perf: &Perf) {
        if self.period == 0 {
            return;
        }
        let period = self.period * self.one_in;
        perf.set_periods(|cpu| {
            let chosen = period - period / 10 + self.random.below(period / 5 + 1);
            self.periods.insert(cpu, chosen);
            chosen
        });
    }

    fn take(&mut self, host: &Host, time: u64, record: Record<'_>, taken: &mut Taken) {
        match record {
            Record::Sample(sample) => self.sample(host, time, &sample, taken),
            Record::ByInstructions(sample) => self.by_instructions(host, &sample, taken),
            Record::Mapped { pid, start, length, offset, device: (major, minor), inode, path } => {
                if self.members.has(pid)
                    && let Some(end) = start.checked_add(length).filter(|&end| end > start)
                {
                    let line = maps::Line { start, end, offset, major, minor, inode, path };
                    self.stacks.state().processes.mapped(pid, &line);
                }
            }
            Record::Comm { pid, tid, name, exec } => {
                if !self.members.has(pid) {
                    return;
                }
                if exec {
                    self.stacks.state().processes.executed(pid);
                }
                self.names.insert(tid, String::from_utf8_lossy(name).into());
            }
            Record::Forked { pid, tid, parent, parent_tid } => {
                self.members.forked(parent, pid);
                if !self.members.has(pid) {
                    return;
                }
                if pid != parent {
                    let mut state = self.stacks.state();
                    state.processes.forked(host, parent, pid);
                    if let Some(number) = state.processes.python(pid) {
                        state.pythons.forked(parent, pid, number);
                    }
                }
                // It has the name of the thread that began it, until it takes another.
                match self.names.get(&parent_tid).cloned() {
                    Some(name) => self.names.insert(tid, name),
                    None => self.names.remove(&tid),
                };
            }
            Record::Exited { pid, tid } => {
                if self.members.has(pid) {
                    self.gone.push_back((Instant::now(), pid, tid));
                }
            }
            Record::Lost(count) => taken.counts.lost += count,
        }
    }

    /// Forgets what ended a while ago. A number that was given to another since is that of a live one.
    fn forget(&mut self) {
        while let Some(&(at, pid, tid)) = self.gone.front() {
            if at.elapsed() < LINGER {
                return;
            }
            self.gone.pop_front();
            let path = format!("/proc/{pid}/task/{tid}");
            if self.stacks.host().exists(&path) {
                continue;
            }
            self.names.remove(&tid);
            if pid == tid && !self.stacks.host().exists(&format!("/proc/{pid}")) {
                let mut state = self.stacks.state();
                state.processes.ended(pid);
                state.pythons.remove(pid);
                drop(state);
                self.members.pids.remove(&pid);
            }
        }
    }

    fn name(&mut self, host: &Host, pid: u32, tid: u32) -> Arc<str> {
        if let Some(name) = self.names.get(&tid) {
            return Arc::clone(name);
        }
        let read = |path: String| host.read_text(&path).ok();
        let name = read(format!("/proc/{pid}/task/{tid}/comm")).or_else(|| read(format!("/proc/{pid}/comm")));
        let name: Arc<str> = name.unwrap_or_default().into();
        self.names.insert(tid, Arc::clone(&name));
        name
    }

    /// Pid 0 is what runs where nothing does; u32::MAX is a thread that has no process any more.
    fn is_wanted(&self, pid: u32) -> bool {
        pid != 0 && pid != u32::MAX && self.members.has(pid)
    }

    fn by_instructions(&mut self, host: &Host, sample: &Sample<'_>, taken: &mut Taken) {
        if !self.is_wanted(sample.pid) || (self.one_in > 1 && self.random.below(self.one_in) > 0) {
            return;
        }
        let comm = self.name(host, sample.pid, sample.pid);
        let stack = self.stacks.alone(sample);
        taken.counts.by_instructions = taken.counts.by_instructions.map(|samples| samples + 1);
        if !taken.counted.add(&comm, (sample, self.one_in), stack, By::Instructions) {
            taken.counts.lost += 1;
        }
    }

    fn sample(&mut self, host: &Host, time: u64, sample: &Sample<'_>, taken: &mut Taken) {
        let &Sample { pid, tid, cpu, .. } = sample;
        let since = time.saturating_sub(self.last.insert(cpu, time).unwrap_or(0));
        if !self.is_wanted(pid) {
            return;
        }
        let weight = match self.clock {
            Clock::Timer => self.periods.get(&cpu).copied().unwrap_or(self.period),
            // Which of them are taken, chance decides: it stands for those that are not.
            _ if self.one_in > 1 && self.random.below(self.one_in) > 0 => return,
            // Cycles come at no even pace; none stand for more than the time since the last.
            _ => since.min(self.period) * self.one_in,
        };
        let user = match sample.registers {
            None => User::None,
            Some([ip, sp, bp, lr, bx, r13]) => {
                User::Copied { registers: Registers { ip, sp, bp, lr, bx, r13 }, stack: sample.stack }
            }
        };
        let calls = self.pythons.calls(&self.stacks, pid, (tid, cpu, time));
        let (mut number, mut known, mut at_code, mut alone) = (None, None, None, None);
        let has_instructions = self.has_instructions;
        let in_kernel = sample.kernel.iter().copied().find(|&address| address != 0 && address < MARKS);
        let (comm, thread) = (self.name(host, pid, pid), self.name(host, pid, tid));
        let look = |state: &mut State| {
            (number, known) = (state.processes.python(pid), state.pythons.number(pid));
            // On the CPU itself, not in the kernel or a library on its behalf.
            if let (Some(InStack::Java(frame)), Some([ip, ..])) = (state.places.first(), sample.registers) {
                state.processes.java_sampled((pid, &comm), (ip, *frame), weight);
            }
            at_code = state.at_code((pid, &comm), in_kernel, sample.registers.map(|[ip, ..]| ip), host);
            alone = has_instructions.then(|| state.alone(host, sample));
        };
        let (stack, whole) = self.stacks.intern_told(pid, &sample.kernel, user, &calls, look);
        self.pythons.sampled(pid, number, known);
        taken.counts.samples += 1;
        taken.counts.truncated += u64::from(!whole);
        if let Some(alone) = alone {
            taken.counted.add(&comm, (sample, self.one_in), alone, By::Cycles);
        }
        if taken.rows.len() < MOST {
            taken.rows.push(Row { pid, tid, comm, thread, at: time, cpu, stack, weight, at_code });
        } else {
            taken.counts.lost += 1;
        }
    }
}

/// Numbers that are random enough to vary a period (xorshift64; Marsaglia, "Xorshift RNGs", 2003).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descendants_are_found() {
        let own = std::process::id();
        let mut child = std::process::Command::new("sleep").arg("100").spawn().unwrap();
        let found = descendants(&Host::live(), &[own]);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found.contains(&own) && found.contains(&child.id()) && !found.contains(&1));
    }

    #[test]
    fn what_members_start_are_members() {
        let mut members = Members::new(&Host::live(), &Target::Children, Vec::new());
        let own = std::process::id();
        members.forked(own, own);
        members.forked(own, 70_001);
        members.forked(70_001, 70_002);
        members.forked(70_003, 70_004);
        assert_eq!(
            [own, 70_001, 70_002, 70_003, 70_004].map(|pid| members.has(pid)),
            [false, true, true, false, false]
        );
    }

    #[test]
    fn periods_vary_around_what_was_asked() {
        let mut random = Random(7);
        let drawn: Vec<u64> = (0..10_000).map(|_| random.below(100)).collect();
        assert!(drawn.iter().all(|&n| n < 100));
        let mean = drawn.iter().sum::<u64>() as f64 / 10_000.0;
        assert!((45.0..55.0).contains(&mean), "{mean}");
    }
}

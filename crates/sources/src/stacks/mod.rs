//! Stacks: a dictionary of frames and stacks that the tables of a recording refer to by number.
//!
//! Who meets a stack (the sampler, the ledger of waits) hands it to [`Stacks::intern`] as addresses, or as registers and a copy of the
//! top of the user stack, which is followed here by the unwind information of the files that the process has mapped. The number is
//! given out at once. Names that are in files come at the end, when nothing is measured any more: finding them takes CPU time. Until then a frame is told by
//! its place in its file.

#[cfg(feature = "bpf")]
mod allocating;
mod callers;
#[cfg(target_arch = "x86_64")]
mod calls;
mod code;
mod counted;
mod data;
mod demangle;
mod hotspot;
mod intern;
mod java;
mod jit;
mod kernel;
mod library;
mod maps;
mod module;
mod modules;
mod name;
mod positioned;
mod process;
mod python;
mod resolve;
mod sample;
mod signal;
mod sites;
mod spread;
mod symbol_table;
mod symbols;
mod tables;
mod tidy;
mod trie;
mod unwind;

use crate::scope::Target;
use crate::{Pace, Reader, Scope, Source};
use host::Host;
use host::perf::{Clock, Perf};
use intern::caller;
use kernel::Kernel;
use model::{NULL, Out, Unavailable};
use module::Module;
use name::{Maker, Row};
use process::Processes;
use sample::{Counts, Sampler, Taken};
use spread::Spread;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use symbol_table::{Symbols, Wanted};
use symbols::Tables;
use tables::{CODE_HUGE, CODE_SPACE, COLLECTOR, COUNTED_SAMPLE, FRAME, SAMPLE, STACK};
use trie::{Place, Trie};

/// Stacks, their names, and the sampler.
pub static SOURCE: Source = Source {
    name: "stacks",
    title: "stacks: samples, frames and functions",
    documented: "perf_event_open(2), proc_kallsyms(5), proc_pid_maps(5), elf(5)",
    reads: &[],
    needs: "root, or CAP_PERFMON and CAP_SYS_PTRACE, for processes of other users",
    pace: Pace::Tick,
    tables: &[
        &FRAME,
        &STACK,
        &SAMPLE,
        &COLLECTOR,
        &model::jvm::CODE,
        &model::jvm::CODE_LAYOUT,
        &CODE_SPACE,
        &CODE_HUGE,
        &COUNTED_SAMPLE,
    ],
    charts: &[],
    open: |host, scope| {
        if host.is_fixture() {
            return Err(Unavailable::not_applicable("a recorded host runs nothing that has stacks"));
        }
        scope.stacks.0.host.get_or_init(|| Host::at(host.root()));
        if scope.hertz == 0 {
            scope.target.somebody()?;
        }
        // Without samples, too, it tells of processes that come and go: others meet their stacks.
        let mut without_instructions = None;
        let (sampler, missing) = match Perf::open(host, scope.hertz) {
            Ok(mut perf) => {
                without_instructions = by_instructions(host, scope, &mut perf).err();
                let limited = perf.only_own.then(|| {
                    let why = "only what this program starts is seen, without the kernel's part of stacks";
                    Unavailable::denied(why).remedy(host::perf::REMEDY)
                });
                let scoped = (&scope.target, &scope.thinning, scope.own.as_slice());
                (Some(Sampler::start(scope.stacks.clone(), perf, scope.hertz, scoped)), limited)
            }
            Err(why) => (None, Some(why)),
        };
        // Of a command all is seen then, but for that part of its stacks.
        let of_command = sampler.is_some() && scope.target == Target::Children;
        let item = if of_command { "sample.stack" } else { "sample" };
        let missing = missing.map(|why| (item, why));
        let missing = missing.into_iter().chain(without_instructions.map(|why| ("counted_sample", why)));
        let mut missing: Vec<_> = missing.filter(|_| scope.hertz > 0).collect();
        if scope.hertz == 0 {
            missing.push(("sample", Unavailable::not_applicable("no samples were asked for").remedy("--stacks")));
        }
        scope.stacks.0.lines.store(scope.hertz > 0, Ordering::Relaxed);
        scope.stacks.begin(scope.names_meanwhile);
        Ok(Box::new(Dictionary {
            stacks: scope.stacks.clone(),
            sampler,
            hertz: scope.hertz,
            start: scope.start.clone(),
            missing,
            counts: Counts::default(),
            refused: false,
            keeps_last: scope.keeps_last,
            told_all: false,
        }))
    },
};

/// Has samples taken by instructions too, where that can be.
fn by_instructions(host: &Host, scope: &Scope, perf: &mut Perf) -> Result<(), Unavailable> {
    if scope.hertz == 0 {
        return Ok(());
    }
    scope.by_instructions.get(host)?;
    if perf.clock != Clock::Cycles {
        let why = "samples are taken by a timer: no counter of cycles is left for them";
        return Err(Unavailable::absent(why).remedy(host::perf::HELD_REMEDY));
    }
    perf.sample_instructions(scope.hertz)
}

/// Registers of a thread in its program, as unwinding begins with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Registers {
    /// The instruction pointer.
    pub ip: u64,
    /// The stack pointer.
    pub sp: u64,
    /// The frame pointer: rbp, or x29.
    pub bp: u64,
    /// The link register of aarch64; 0 elsewhere.
    pub lr: u64,
    /// Registers of x86-64 that say more of code of a JVM, rbx and r13; 0 where they are not known.
    pub bx: u64,
    /// See `bx`.
    pub r13: u64,
}

pub use callers::{Callers, Innermost};
pub(crate) use code::waits_by;
pub(crate) use data::{Place as Position, Thing, ThingKind};
pub(crate) use hotspot::own_number;
pub use library::GoRuntime;
pub use python::PythonStack;
pub(crate) use sample::descendants;
pub(crate) use sites::{Area, Busy, Function, Site};
pub use tidy::is_numbered;

/// What is known of the program's part of a stack.
#[derive(Clone, Copy, Debug)]
pub enum User<'a> {
    /// Nothing: a kernel thread, or nobody looked.
    None,
    /// Addresses, innermost first, as the kernel found them by frame pointers.
    Frames(&'a [u64]),
    /// Registers, and the bytes of the stack from the stack pointer on.
    Copied {
        /// The registers.
        registers: Registers,
        /// The bytes.
        stack: &'a [u8],
    },
}

/// The stacks of a recording. Cheap to clone; all clones are one.
#[derive(Clone, Default)]
pub struct Stacks(Arc<Shared>);

#[derive(Default)]
struct Shared {
    host: OnceLock<Host>,
    kernel: OnceLock<Result<Kernel, Unavailable>>,
    tables: Tables,
    /// What JVMs say of their memory.
    hotspot: crate::hotspot::Ways,
    state: Mutex<State>,
    /// Wakes the thread that finds names, and who waits for it.
    changed: Condvar,
    /// Set before the last read of the recording.
    over: AtomicBool,
    /// Whether lines and inlined functions are looked for: where samples were asked for. A system's every program is too many.
    lines: AtomicBool,
}

#[derive(Default)]
struct State {
    trie: Trie,
    processes: Processes,
    places: Vec<Place>,
    /// So many of the places that were found last are the kernel's.
    kernels: usize,
    /// The stack pointer in each frame of the program that was unwound last.
    tops: Vec<u64>,
    /// Processes that run Python, and its functions.
    pythons: python::Known,
    functions: python::Functions,
    /// Where the code lies that was sampled.
    spread: Spread,
    /// What the sampler has handed over.
    taken: Taken,
    /// Which threads it met, if somebody asks for that.
    busy: Option<sites::Threads>,
    /// Who gathers the accesses that the CPU samples.
    accesses: Option<Arc<crate::memory_samples::Gathering>>,
    /// What is to be said in the coverage.
    said: Vec<resolve::Said>,
    /// Whether the thread that finds names was started; whether it is to name everything now; and whether it is to end.
    resolving: bool,
    last: bool,
    closed: bool,
    /// How far it has come with that.
    naming: Naming,
    /// By file, places that have the names of their functions while lines and inlined functions are looked for.
    plain: BTreeMap<u32, Vec<resolve::Named>>,
    /// How often names of code that processes make were read.
    maps_read: u64,
    /// Debug information of files that was read for their data; `None` where there is none.
    debugs: tidy::Recent<Option<Arc<data::Debug>>, 4>,
    /// Variables of files, by their numbers.
    variables: tidy::Recent<Arc<Symbols>, 64>,
    /// When it was tidied up last, and when a trie was renewed whose names may still come.
    tidied: Option<Instant>,
    renewed: Option<Instant>,
}

/// How far naming has come at the end of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Naming {
    /// Places in files that wait for a name, and that have theirs, with lines and inlined functions where these are known.
    pub places: usize,
    /// See `places`.
    pub named: usize,
    /// Whether all is done that can be.
    pub is_done: bool,
    /// Whether it is to end at once.
    is_stopped: bool,
}

impl std::fmt::Debug for Stacks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stacks").finish_non_exhaustive()
    }
}

/// The kernel marks the parts of a call chain by values that are no addresses (`enum perf_callchain_context`, include/uapi/linux/perf_event.h).
const MARKS: u64 = u64::MAX - 4095;

impl Stacks {
    /// The function at an address of the kernel, for wait channels, locks and functions that run elsewhere: `do_nanosleep`, `iomap_write_begin [xfs]`.
    pub fn kernel_symbol(&self, address: u64) -> Option<Arc<str>> {
        let function = self.kernel().as_ref().ok()?.function(address)?;
        Some(match function.module {
            None => function.name,
            Some(module) => format!("{} {module}", function.name).into(),
        })
    }

    /// The variable at an address of a process, as `symbol+off in module`: the name of a lock that is no part of an object. `None` where it
    /// has none.
    pub fn data_symbol(&self, pid: u32, address: u64) -> Option<String> {
        let host = self.host();
        let (number, place, path) = {
            let mut state = self.state();
            let (number, place) = state.processes.data(host, pid, address)?;
            (number, place, Arc::clone(&state.processes.modules.get(number)?.identity.path))
        };
        let variables = self.variables(number)?;
        let (name, offset) = variables.at(place)?;
        let file = path.rsplit('/').next().unwrap_or_default();
        Some(match offset {
            0 => format!("{} in {file}", demangle::symbol(&name)),
            _ => format!("{}+{offset:#x} in {file}", demangle::symbol(&name)),
        })
    }

    /// The variables of a file, by its symbols.
    fn variables(&self, number: u32) -> Option<Arc<Symbols>> {
        if let Some(known) = self.state().variables.get(number) {
            return Some(known);
        }
        let module = self.module(number)?.1;
        let found = Arc::new(Symbols::of_file(module.file.clone()?, Wanted::Variables).unwrap_or_default());
        self.state().variables.insert(number, Arc::clone(&found));
        Some(found)
    }

    /// The variable at an address of a file, and its addresses there, by its symbols.
    fn data_range(&self, number: u32, place: u64) -> Option<(String, std::ops::Range<u64>)> {
        let variables = self.variables(number)?;
        let (name, range) = variables.range(place)?;
        Some((demangle::symbol(&name), range))
    }

    /// Begins to name all that has no name yet, which takes CPU time: once nothing is measured any more. [`Stacks::naming`] says how far it has come; the
    /// next read of the source then has the names. Whether there is anything that names.
    pub fn name_all(&self) -> bool {
        let mut state = self.state();
        state.last = true;
        self.0.changed.notify_all();
        state.resolving
    }

    /// How far that has come.
    pub fn naming(&self) -> Naming {
        self.state().naming
    }

    /// Ends it: what has no name by then is told by its place in its file.
    pub fn stop_naming(&self) {
        self.state().naming.is_stopped = true;
    }

    /// Says that the next read is the last one of the recording. Names come after it: [`Stacks::name_all`].
    pub fn finish(&self) {
        self.0.over.store(true, Ordering::Relaxed);
    }

    fn host(&self) -> &Host {
        self.0.host.get_or_init(Host::live)
    }

    fn kernel(&self) -> &Result<Kernel, Unavailable> {
        self.0.kernel.get_or_init(|| Kernel::read(self.host()))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wants_lines(&self) -> bool {
        self.0.lines.load(Ordering::Relaxed)
    }

    /// Starts the thread that finds names. `meanwhile`: those too for which files must be read.
    fn begin(&self, meanwhile: bool) {
        if std::mem::replace(&mut self.state().resolving, true) {
            return;
        }
        let stacks = self.clone();
        let thread = std::thread::Builder::new().name("symbols".into());
        if thread.spawn(move || resolve::run(&stacks, meanwhile)).is_err() {
            self.state().resolving = false;
        }
    }

    fn is_over(&self) -> bool {
        self.0.over.load(Ordering::Relaxed)
    }

    /// Waits a while, or for the last round. Gives the sites that came up meanwhile, and whether it is the last; `None` when it is over.
    fn wait_for_sites(&self, pause: Duration) -> Option<(Vec<(u32, Place)>, bool)> {
        let is_waiting = |state: &mut State| !(state.closed || state.last && !state.naming.is_done);
        let wait = self.0.changed.wait_timeout_while(self.state(), pause, is_waiting);
        let (mut state, _) = wait.unwrap_or_else(PoisonError::into_inner);
        (!state.closed).then(|| (state.trie.new_sites(), state.last))
    }

    fn name(&self, named: impl Iterator<Item = (u32, Vec<Row>)>) {
        let mut state = self.state();
        named.for_each(|(site, rows)| state.trie.name(site, rows));
    }

    /// So many places in files are to be named.
    fn to_name(&self, places: usize) {
        self.state().naming.places = places;
    }

    /// The same for places of a file that are not to be named better.
    fn name_for_good(&self, file: u32, named: Vec<resolve::Named>) {
        let mut state = self.state();
        state.plain.remove(&file);
        state.naming.named += named.len();
        named.into_iter().for_each(|(site, rows)| state.trie.name(site, rows));
    }

    /// Keeps the names of functions of a file, in case there is no time for its lines.
    fn keep_plain(&self, file: u32, named: Vec<resolve::Named>) {
        self.state().plain.insert(file, named);
    }

    fn is_naming_stopped(&self) -> bool {
        let state = self.state();
        state.naming.is_stopped || state.closed
    }

    fn all_named(&self) {
        self.state().naming.is_done = true;
    }

    fn say(&self, item: &'static str, why: Unavailable) {
        self.state().said.push((item, why));
    }

    /// Path and content of a file that is mapped somewhere.
    fn module(&self, number: u32) -> Option<(Arc<str>, Arc<Module>)> {
        let state = self.state();
        let known = state.processes.modules.get(number)?;
        let path = known.started_as.as_ref().unwrap_or(&known.identity.path);
        Some((Arc::clone(path), known.module.clone().unwrap_or_default()))
    }

    /// Of a process: its pid, who makes its generated code, and the dump of that.
    fn process(&self, number: u32) -> Option<(u32, Maker, Option<Arc<str>>)> {
        let state = self.state();
        let found = state.processes.numbered.get(&number)?;
        Some((found.pid, found.maker, found.dump.clone()))
    }

    /// Takes over what the sampler has.
    fn hand_over(&self, taken: &mut Taken) {
        let mut state = self.state();
        if let Some(busy) = &mut state.busy {
            for sample::Row { pid, tid, comm, thread, weight, .. } in &taken.rows {
                let (pid, tid) = (*pid, *tid);
                let new = || Busy { pid, tid, comm: Arc::clone(comm), thread: Arc::clone(thread), time: 0 };
                busy.entry(tid).or_insert_with(new).time += weight;
            }
        }
        state.taken.rows.append(&mut taken.rows);
        state.taken.counted.append(&mut taken.counted);
        state.taken.counts = taken.counts;
    }
}

/// Writes the samples and the dictionary.
struct Dictionary {
    stacks: Stacks,
    sampler: Option<Sampler>,
    hertz: u32,
    start: crate::Start,
    missing: Vec<(&'static str, Unavailable)>,
    counts: Counts,
    refused: bool,
    /// See [`Scope::keeps_last`].
    keeps_last: bool,
    /// Whether the last read of the recording is over: what comes after it is names.
    told_all: bool,
}

// Tables of the source.
const FRAMES: usize = 0;
const STACKS: usize = 1;
const SAMPLES: usize = 2;
const COLLECTORS: usize = 3;
const CODE: usize = 4;
const CODE_LAYOUT: usize = 5;
const CODE_SPACES: usize = 6;
const CODE_HUGES: usize = 7;
const COUNTED_SAMPLES: usize = 8;

impl Dictionary {
    /// The samples of the time since the read before.
    fn samples(&mut self, taken: Vec<sample::Row>, out: &mut Out<'_>) {
        // What was sampled while sources were being opened came before the recording.
        let start = self.start.get();
        for row in taken.into_iter().filter(|row| row.at >= start) {
            let (code, address) = self.place(row.at_code);
            let (comm, thread) = (out.text(&row.comm), out.text(&row.thread));
            // A millisecond is as exact as a flame graph's window, and takes less room.
            let at = row.at.saturating_sub(start).saturating_add(500_000) / 1_000_000 * 1_000_000;
            let [at, weight] = [at, row.weight].map(|n| n as i64);
            let [pid, tid, cpu] = [row.pid, row.tid, row.cpu].map(i64::from);
            out.row(SAMPLES, &[pid, tid, comm, thread, at, cpu, row.stack, weight, code, address]);
        }
        let counts = self.counts;
        if self.hertz > 0 && self.sampler.is_some() {
            let name = out.text("sampler");
            let [samples, lost, truncated, cost] =
                [counts.samples, counts.lost, counts.truncated, counts.cost].map(|n| n as i64);
            let one_in = counts.one_in.max(1) as i64;
            out.row(COLLECTORS, &[name, samples, lost, truncated, one_in, cost]);
            if let Some(samples) = counts.by_instructions {
                let name = out.text("instructions");
                out.row(COLLECTORS, &[name, samples as i64, NULL, NULL, 1, NULL]);
            }
            if let Some(python) = counts.python {
                let name = out.text("python");
                let [taken, lost, cut, spent] = [python.taken, python.lost, python.cut, python.spent].map(|n| n as i64);
                out.row(COLLECTORS, &[name, taken, lost, cut, 1, spent]);
            }
        }
    }

    /// The cells of where an instruction is. Where the kernel lies is nobody's business: its addresses count from `_text`.
    fn place(&self, at: Option<spread::At>) -> (i64, i64) {
        let Some(at) = at else { return (NULL, NULL) };
        let from = match at.is_kernel {
            true => self.stacks.kernel().as_ref().ok().and_then(Kernel::text),
            false => Some(0),
        };
        from.map_or((NULL, NULL), |from| (at.code.into(), at.address.wrapping_sub(from) as i64))
    }

    /// After naming: places that only have the names of their functions keep these, and what has none is said.
    fn end_naming(&mut self, out: &mut Out<'_>) {
        let mut state = self.stacks.state();
        let Naming { places, named, is_done, .. } = state.naming;
        if !state.last || is_done {
            return;
        }
        let plain = std::mem::take(&mut state.plain);
        let (files, without_lines) = (plain.len(), plain.values().map(Vec::len).sum::<usize>());
        plain.into_values().flatten().for_each(|(site, rows)| state.trie.name(site, rows));
        let without_name = places.saturating_sub(named + without_lines);
        drop(state);
        if without_lines > 0 {
            let why = format!(
                "naming was ended: {without_lines} places in {files} files are without line and inlined functions"
            );
            out.missing("frame.source", Unavailable::failed(why));
        }
        if without_name > 0 {
            let why = format!("naming was ended: {without_name} of {places} places in files are without function");
            out.missing("frame.function", Unavailable::failed(why).remedy("twinscope resolve, on this machine"));
        }
    }
}

impl Drop for Dictionary {
    fn drop(&mut self) {
        self.stacks.state().closed = true;
        self.stacks.0.changed.notify_all();
    }
}

impl Reader for Dictionary {
    fn read(&mut self, _host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        for (item, why) in self.missing.drain(..) {
            out.missing(item, why);
        }
        let over = self.stacks.is_over();
        let told_all = std::mem::replace(&mut self.told_all, over);
        if let Some(sampler) = self.sampler.as_mut().filter(|_| over) {
            sampler.stop();
        }
        self.end_naming(out);
        let mut state = self.stacks.state();
        state.tidy(self.keeps_last && !over);
        let State { trie, processes, .. } = &mut *state;
        let (frames, stacks) = trie.take(|place| processes.unnamed(place));
        let (taken, said) = (std::mem::take(&mut state.taken.rows), std::mem::take(&mut state.said));
        let counted = std::mem::take(&mut state.taken.counted);
        self.counts = state.taken.counts;
        let refused = state.trie.refused + state.processes.modules.refused;
        // A row stands for the whole recording.
        let hot = if over { std::mem::take(&mut state.processes.hot) } else { BTreeMap::new() };
        let State { processes, spread, .. } = &mut *state;
        spread.put(CODE_SPACES, processes, out);
        if over && !told_all {
            spread.put_huge(CODE_HUGES, out);
        }
        drop(state);
        hot.values().for_each(|jvm| jvm.put([CODE, CODE_LAYOUT], out));
        if !told_all {
            self.samples(taken, out);
        }
        counted.put(COUNTED_SAMPLES, out);
        for (number, row) in frames {
            let mut text = |text: Option<&str>| text.map_or(NULL, |text| out.text(text));
            let cells = [
                i64::from(number),
                text(row.function.as_deref()),
                text(row.module.as_deref()),
                text(row.build_id.as_deref()),
                row.offset.unwrap_or(NULL),
                text(row.source.as_deref()),
                text(Some(row.kind.word())),
                if row.spins { 1 } else { NULL },
                row.tier.map_or(NULL, i64::from),
            ];
            out.row(FRAMES, &cells);
        }
        for (number, parent, frame) in stacks {
            let parent = if parent == 0 { NULL } else { i64::from(parent) };
            out.row(STACKS, &[i64::from(number), parent, i64::from(frame)]);
        }
        for (item, why) in said {
            out.missing(item, why);
        }
        if refused > 0 && !std::mem::replace(&mut self.refused, true) {
            let why = "there are more different stacks or more unwind information than are kept in memory";
            out.missing("stack", Unavailable::failed(why).remedy("a narrower scope, such as --pid"));
        }
        if over && !told_all && self.counts.lost > 0 {
            let why = format!("{} samples found no room; {} were kept", self.counts.lost, self.counts.samples);
            out.missing("sample", Unavailable::failed(why).remedy("fewer samples: --stacks=HZ"));
        }
        Ok(())
    }
}

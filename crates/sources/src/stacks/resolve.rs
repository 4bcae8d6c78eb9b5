//! Names for places in code: a thread of low priority. What only a living process tells, and what needs no file, is named while the recording goes on;
//! places in files at its end, file by file: first by the symbol tables, which takes little, then with lines and inlined functions, as long as it may go on.
//! A recording that has no end takes the new places every now and then instead.

use super::jit::Map;
use super::module::Module;
use super::name::{Kind, Maker, Row};
use super::symbol_table::{Symbols, Wanted};
use super::symbols::{self, Dwarf, NoDwarf};

use super::trie::Place;
use super::{Stacks, code, demangle, hotspot, process};
use crate::cputime::own_time;
use host::Host;
use model::Unavailable;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// DWARF of one file is asked for so long in one round; what is left gets its function without lines and inlined ones.
const PATIENCE: Duration = Duration::from_secs(3);

/// What needs no file is named so soon.
const SOON: Duration = Duration::from_millis(500);

/// Rounds come so often at first, and then ever less: each reads files anew.
const ROUNDS: (Duration, Duration) = (SOON, Duration::from_secs(15));

/// So long a file with debug information waits for its first reading, and so many times the CPU time of a reading for the next: who is recorded may
/// need all CPUs. Meanwhile the recording has the places in the files.
const LINES: (Duration, u32) = (Duration::from_secs(3), 300);

/// Names of code that processes make are read as soon as some are missing, and then ever less often, up to so often; so often where a JVM has to be
/// asked; and never for more than a part of the time.
const MAPS: (Duration, Duration) = (Duration::from_secs(15), Duration::from_secs(60));
const MAPS_PART: u32 = 50;

/// Bytes of all maps of generated code together. Any user can write one.
const MOST_MAPS: usize = 192 << 20;

/// A place in code by its number, and its address.
type Site = (u32, u64);

/// A place in code by its number, and its frames, innermost first.
pub(super) type Named = (u32, Vec<Row>);

/// The names of code that one process makes.
#[derive(Default)]
struct Generated {
    map: Option<Arc<Map>>,
    /// When they are read again, and how long it waits after that.
    next: Option<(Instant, Duration)>,
}

/// What the thread keeps from round to round.
#[derive(Default)]
pub(super) struct Resolver {
    /// Places that wait for a round, by module and by process.
    in_modules: BTreeMap<u32, Vec<Site>>,
    generated_by: BTreeMap<u32, Vec<Site>>,
    vdso: Option<Symbols>,
    /// When a file with debug information is read next, by the number of the module.
    due: HashMap<u32, Instant>,
    generated: HashMap<u32, Generated>,
    /// What could not be done, each said once: item and why.
    said: HashSet<&'static str>,
}

/// Something to say in the recording's coverage.
pub(super) type Said = (&'static str, Unavailable);

/// Names can wait; what is measured must not. A thread's own priority can always be lowered: to this while the recording goes on, and to that for lines.
const NICE: (i32, i32) = (10, 19);

fn be_nice(by: i32) {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), by);
    #[cfg(not(target_os = "linux"))]
    let _ = by;
}

/// The thread. `meanwhile`: files are read while the recording goes on, for it has no end.
pub(super) fn run(stacks: &Stacks, meanwhile: bool) {
    be_nice(NICE.0);
    let mut resolver = Resolver::default();
    let (mut next, mut pause) = (Instant::now() + ROUNDS.0, ROUNDS.0);
    while let Some((new, last)) = stacks.wait_for_sites(SOON) {
        resolver.at_once(stacks, new);
        resolver.all_generated(stacks, last);
        if last {
            resolver.all_files(stacks);
            stacks.all_named();
        } else if meanwhile && Instant::now() >= next {
            resolver.round(stacks);
            pause = (pause * 2).min(ROUNDS.1);
            next = Instant::now() + pause;
        }
    }
}

impl Resolver {
    /// Names what needs no file; the others wait for a round.
    fn at_once(&mut self, stacks: &Stacks, new: Vec<(u32, Place)>) {
        let mut named = Vec::new();
        for (site, place) in new {
            let row = match place {
                Place::Kernel(address) => self.kernel(stacks, address),
                Place::Vdso(offset) => self.virtual_library(offset),
                Place::Unknown(_) => Row::unresolved(None, Kind::Unknown),
                Place::Java(frame) => stacks.java_row(frame),
                Place::Python(function) => {
                    let state = stacks.state();
                    state.functions.row(function).cloned().unwrap_or_else(|| Row::unresolved(None, Kind::Python))
                }
                Place::Truncated => {
                    Row { function: Some("[truncated]".into()), ..Row::unresolved(None, Kind::Unknown) }
                }
                Place::Module(module, address) => {
                    self.in_modules.entry(module).or_default().push((site, address));
                    continue;
                }
                Place::Anonymous(process, address) => {
                    self.generated_by.entry(process).or_default().push((site, address));
                    continue;
                }
            };
            named.push((site, vec![row]));
        }
        stacks.name(named.into_iter());
    }

    /// Names what can be named.
    fn round(&mut self, stacks: &Stacks) {
        let mut read_files = false;
        self.due.retain(|number, _| stacks.module(*number).is_some());
        for (number, sites) in std::mem::take(&mut self.in_modules) {
            let Some((path, module)) = stacks.module(number) else { continue };
            let has_lines = stacks.wants_lines() && has_lines(stacks.host(), &module);
            let due = *self.due.entry(number).or_insert_with(|| Instant::now() + LINES.0);
            if has_lines && Instant::now() < due {
                self.in_modules.insert(number, sites);
                continue;
            }
            let begin = own_time();
            let named = self.module(stacks, number, &path, &module, &sites, true);
            self.due.insert(number, Instant::now() + own_time().saturating_sub(begin) * LINES.1);
            stacks.name(named.into_iter());
            read_files = true;
        }
        if read_files {
            host::trim_heap();
        }
    }

    /// Names all places in files, those of the files with most of them first.
    fn all_files(&mut self, stacks: &Stacks) {
        let mut files: Vec<(u32, Vec<Site>)> = std::mem::take(&mut self.in_modules).into_iter().collect();
        files.sort_by_key(|(_, sites)| std::cmp::Reverse(sites.len()));
        stacks.to_name(files.iter().map(|(_, sites)| sites.len()).sum());
        let mut with_lines = Vec::new();
        for (number, sites) in files {
            let Some((path, module)) = stacks.module(number) else { continue };
            if stacks.is_naming_stopped() {
                return;
            }
            let named = self.module(stacks, number, &path, &module, &sites, false);
            if stacks.wants_lines() && has_lines(stacks.host(), &module) {
                stacks.keep_plain(number, named);
                with_lines.push((number, path, module, sites));
            } else {
                stacks.name_for_good(number, named);
            }
        }
        be_nice(NICE.1);
        for (number, path, module, sites) in with_lines {
            let named = self.module(stacks, number, &path, &module, &sites, true);
            if stacks.is_naming_stopped() {
                return;
            }
            stacks.name_for_good(number, named);
        }
    }

    /// The same of code that processes make.
    fn all_generated(&mut self, stacks: &Stacks, last: bool) {
        // What has ended tells nothing more.
        self.generated.retain(|process, _| !stacks.has_ended(*process));
        for (process, sites) in std::mem::take(&mut self.generated_by) {
            let (named, left) = self.generated(stacks, process, sites, last || stacks.has_ended(process));
            stacks.name(named.into_iter());
            if !left.is_empty() {
                self.generated_by.insert(process, left);
            }
        }
    }

    fn say(&mut self, stacks: &Stacks, item: &'static str, why: impl FnOnce() -> Unavailable) {
        if self.said.insert(item) {
            stacks.say(item, why());
        }
    }

    fn kernel(&mut self, stacks: &Stacks, address: u64) -> Row {
        match stacks.kernel() {
            Err(why) => {
                self.say(stacks, "frame.kernel", || why.clone());
                Row::unresolved(Some("[kernel]".into()), Kind::Kernel)
            }
            Ok(kernel) => match kernel.function(address) {
                Some(function) => Row {
                    function: Some(function.name),
                    module: Some(function.module.unwrap_or_else(|| "[kernel]".into())),
                    offset: function.offset,
                    ..Row::unresolved(None, Kind::Kernel)
                },
                None => Row::unresolved(Some("[kernel]".into()), Kind::Kernel),
            },
        }
    }

    fn virtual_library(&mut self, offset: u64) -> Row {
        let symbols = self.vdso.get_or_insert_with(|| {
            process::vdso().and_then(|bytes| Symbols::of_bytes(&bytes, Wanted::Functions).ok()).unwrap_or_default()
        });
        let function = symbols.at(offset).map(|(name, _)| demangle::symbol(&name).into());
        Row { function, offset: i64::try_from(offset).ok(), ..Row::unresolved(Some("[vdso]".into()), Kind::Native) }
    }

    /// The frames at addresses of a file, with `lines` and inlined functions where it has debug information.
    fn module(
        &mut self,
        stacks: &Stacks,
        number: u32,
        path: &Arc<str>,
        module: &Module,
        sites: &[Site],
        lines: bool,
    ) -> Vec<Named> {
        let host = stacks.host();
        if let Some(why) = &module.error {
            self.say(stacks, "frame.module", || Unavailable::failed(format!("{why}; its functions have no names")));
        }
        let debug = module.build_id.as_ref().and_then(|id| symbols::debug_file(host, id));
        let dwarf = match (&debug, &module.file) {
            _ if !lines || !stacks.wants_lines() => Err(NoDwarf::None),
            (Some(file), _) => Dwarf::open(host, file),
            (None, Some(file)) => Dwarf::open(host, file),
            (None, None) => Err(NoDwarf::None),
        };
        if dwarf.as_ref().err() == Some(&NoDwarf::TooLarge) {
            self.say(stacks, "frame.source", || {
                let why = format!("{path}: its debug information is larger than what is held in memory: no lines and inlined functions of it");
                Unavailable::failed(why)
            });
        }
        let reopened = || debug.as_ref().and_then(|file| file.try_clone().ok());
        let symbols = stacks.0.tables.of(number, module, reopened);
        let (begin, mut left_out) = (Instant::now(), false);
        let mut named = Vec::with_capacity(sites.len());
        for &(site, address) in sites {
            let symbol = symbols.at(address).map(|(name, _)| demangle::symbol(&name));
            let inlined = match &dwarf {
                Ok(dwarf) if begin.elapsed() < PATIENCE && !stacks.is_naming_stopped() => dwarf.at(address),
                Ok(_) => {
                    left_out = true;
                    Vec::new()
                }
                Err(_) => Vec::new(),
            };
            let mut rows = frames(path, module, address, symbol, inlined);
            if let Some(inner) = rows.first_mut() {
                inner.spins = code::waits_in_module(module, address);
            }
            named.push((site, rows));
        }
        if left_out {
            self.say(stacks, "frame.source", || {
                Unavailable::failed(format!("{path}: reading its debug information took too long: some frames are without line and inlined functions"))
            });
        }
        named
    }

    /// The frames at addresses of a JVM's code, of which only single addresses were met.
    fn java(&mut self, stacks: &Stacks, number: u32, sites: Vec<Site>) -> Vec<Named> {
        let of = |address| stacks.java_rows(number, address).filter(|rows| !rows.is_empty());
        let row = |(site, address)| (site, of(address).unwrap_or_else(|| vec![Row::generated(Maker::Jvm)]));
        sites.into_iter().map(row).collect()
    }

    /// Says of a JVM whose code is not understood what that means.
    fn say_of_jvm(&mut self, stacks: &Stacks, pid: u32, why: Option<Unavailable>) {
        if let Some(why) = why {
            self.say(stacks, "frame.tier", || why);
        }
        if !self.said.contains("sample.jvm") && !hotspot::keeps_frame_pointers(stacks.host(), pid) {
            self.say(stacks, "sample.jvm", || {
                let why = format!("process {pid}: the code of its JVM is not understood, and it keeps no frame pointers: compiled methods that called others through tables are missing from its stacks");
                Unavailable::failed(why).remedy("start it with -XX:+PreserveFramePointer")
            });
        }
    }

    /// The frames at addresses of code that a process makes, and those that have no name yet.
    fn generated(&mut self, stacks: &Stacks, number: u32, sites: Vec<Site>, last: bool) -> (Vec<Named>, Vec<Site>) {
        let host = stacks.host();
        let Some((pid, maker, dump)) = stacks.process(number) else {
            let named = sites.into_iter().map(|(site, _)| (site, vec![Row::generated(Maker::Unknown)]));
            return (named.collect(), Vec::new());
        };
        let is_jvm = maker == Maker::Jvm;
        if is_jvm {
            match stacks.knows_java(number) {
                Some(Ok(())) => return (self.java(stacks, number, sites), Vec::new()),
                // It is still starting, or has just ended.
                None if !last => return (Vec::new(), sites),
                None => {}
                Some(Err(why)) => self.say_of_jvm(stacks, pid, why),
            }
        }
        let others = self.generated.iter().filter(|(of, _)| **of != number);
        let taken: usize = others.filter_map(|(_, generated)| Some(generated.map.as_ref()?.size())).sum();
        let generated = self.generated.entry(number).or_default();
        let mut failed = None;
        let begin = Instant::now();
        let (next, pause) = *generated.next.get_or_insert((begin, SOON));
        if begin >= next || last {
            let mut read = dump.and_then(|path| read_dump(host, pid, &path)).or_else(|| read_map(host, pid));
            let most = if read.is_none() && is_jvm { MAPS.1 } else { MAPS.0 };
            if read.is_none() && is_jvm {
                match hotspot::methods(host, pid) {
                    Ok(map) => read = Some(map),
                    Err(_) if !host.exists(&format!("/proc/{pid}")) => {
                        failed = Some(format!(
                            "the JVM of process {pid} ended before it was asked for the names of its methods"
                        ));
                    }
                    Err(why) => failed = Some(why),
                }
            }
            let again = pause.max(begin.elapsed() * MAPS_PART).min(most);
            generated.next = Some((Instant::now() + again, again * 3 / 2));
            if read.as_ref().is_some_and(|map| map.size() + taken > MOST_MAPS) {
                read = None;
                failed = Some(format!(
                    "process {pid}: its map of generated code is too large for the memory of the recorder"
                ));
            }
            if let Some(map) = read.map(Arc::new) {
                generated.map = Some(Arc::clone(&map));
                stacks.keep_map(number, map);
            }
        } else if !is_jvm {
            // A map that is written anew may have moved on.
            return (Vec::new(), sites);
        }
        let (mut named, mut left, mut without) = (Vec::new(), Vec::new(), 0);
        let memory = File::open(host.path(&format!("/proc/{pid}/mem")));
        for (site, address) in sites {
            let function = generated.map.as_ref().and_then(|map| map.function(address));
            match function {
                Some((function, kind)) => {
                    let spins = memory.as_ref().is_ok_and(|memory| code::waits_at(memory, address));
                    let (name, source) = (Some(Arc::clone(&function.name)), function.source.clone());
                    let row = Row::unresolved(Some(Arc::clone(&function.module)), kind);
                    named.push((site, vec![Row { function: name, source, spins, ..row }]));
                }
                None if last => {
                    without += 1;
                    named.push((site, vec![Row::generated(maker)]));
                }
                None => left.push((site, address)),
            }
        }
        let is_silent = maker == Maker::Node && without > 0 && generated.map.is_none();
        // A JVM that was not ready may be later.
        if let Some(why) = failed.filter(|_| last && (generated.map.is_none() || without > 0)) {
            let why = match &generated.map {
                Some(_) => format!("{why} once more: {without} places in code that it compiled last have none"),
                None => why,
            };
            self.say(stacks, "frame.jit", || {
                Unavailable::failed(why)
                    .remedy("JDK 17 or later, as the same user; or a map of the JIT's code in /tmp/perf-PID.map")
            });
        }
        if is_silent {
            self.say(stacks, "frame.jit", || {
                let why =
                    format!("process {pid}: node does not tell what the functions are called that it has compiled");
                Unavailable::failed(why).remedy(
                    "start it with --perf-basic-prof, or --perf-basic-prof-only-functions; \
                     --interpreted-frames-native-stack with it also names functions that are not compiled",
                )
            });
        }
        (named, left)
    }
}

/// Whether a file has debug information, in itself or in a file of its own.
fn has_lines(host: &Host, module: &Module) -> bool {
    module.has_lines || module.build_id.as_ref().is_some_and(|id| symbols::debug_file(host, id).is_some())
}

/// The frames at one address, innermost first.
fn frames(
    path: &Arc<str>,
    module: &Module,
    address: u64,
    symbol: Option<String>,
    inlined: Vec<symbols::Inlined>,
) -> Vec<Row> {
    let count = inlined.len().max(1);
    let mut inlined = inlined.into_iter();
    (0..count)
        .map(|at| {
            let found = inlined.next();
            let (function, source) = found.map_or((None, None), |f| (f.function, f.source));
            let is_outer = at + 1 == count;
            // The function as such is the symbol; debug information has a name for the others.
            let function = if is_outer { symbol.clone().or(function) } else { function };
            Row {
                function: function.map(Into::into),
                module: Some(Arc::clone(path)),
                build_id: module.build_id.clone().filter(|_| is_outer),
                offset: i64::try_from(address).ok().filter(|_| is_outer),
                source: source.map(Into::into),
                kind: if is_outer { Kind::Native } else { Kind::Inlined },
                spins: false,
                tier: None,
            }
        })
        .collect()
}

/// The map that a process, or perf's agents for it, wrote.
fn read_map(host: &Host, pid: u32) -> Option<Map> {
    let status = host.read_text(&format!("/proc/{pid}/status")).unwrap_or_default();
    let own = hotspot::own_number(&status, pid);
    let inside = host.path(&host::seen_by(pid, &format!("/tmp/perf-{own}.map")));
    let outside = host.path(&format!("/tmp/perf-{pid}.map"));
    let file = open_own(&inside, pid, host).or_else(|| open_own(&outside, pid, host))?;
    Map::read(&file).ok()
}

fn read_dump(host: &Host, pid: u32, path: &str) -> Option<Map> {
    let inside = host.path(&host::seen_by(pid, path));
    let file = open_own(&inside, pid, host).or_else(|| open_own(&host.path(path), pid, host))?;
    Some(Map::read_dump(file))
}

/// Opens a plain file in a folder where anyone may write: no link is followed, and the owner must be the process's or ours, so that nobody
/// has us read what they may not, or believe what they say of others.
pub(super) fn open_own(path: &Path, pid: u32, host: &Host) -> Option<File> {
    let file = File::options().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path).ok()?;
    let found = file.metadata().ok()?;
    let owner = std::fs::metadata(host.path(&format!("/proc/{pid}"))).map(|m| m.uid());
    let ours = rustix::process::geteuid().as_raw();
    let is_owner = found.uid() == ours || owner.map_or(true, |owner| owner == found.uid());
    (found.is_file() && is_owner).then_some(file)
}

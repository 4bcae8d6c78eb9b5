//! What processes have mapped: the code at an address, and what the unwinder knows of it.

#[cfg(target_arch = "x86_64")]
use super::calls::Calls;
use super::java::{Java, OfJvm};
use super::jit::Map;
use super::library;
use super::maps;
use super::module::{Identity, Module};
use super::modules::Modules;
use super::name::{Kind, Maker, Row};
use super::trie::Place;
use crate::hotspot::Frames;
use framehop::{ExplicitModuleSectionInfo, Unwinder};
use host::Host;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[cfg(target_arch = "x86_64")]
pub(super) use framehop::x86_64::{CacheX86_64 as Cache, UnwindRegsX86_64 as Regs, UnwinderX86_64 as Rules};

#[cfg(target_arch = "aarch64")]
pub(super) use framehop::aarch64::{CacheAarch64 as Cache, UnwindRegsAarch64 as Regs, UnwinderAarch64 as Rules};

/// A process whose mappings were read is not read again for so long: at first, while it loads its libraries, and later.
const AGAIN: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(200)];

/// How long a process is taken to load its libraries after it was first met.
const YOUNG: Duration = Duration::from_secs(3);

/// A process that has ended is known to who names its code for so many times that it is tidied up.
const LOOKS: u32 = 6;

/// What lies in a stretch of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A file, by its number.
    Module(u32),
    Vdso,
    /// No file.
    Anonymous,
}

/// A stretch of executable memory.
#[derive(Clone, Debug)]
pub(super) struct Mapping {
    pub range: Range<u64>,
    /// Where it begins in its file.
    pub offset: u64,
    pub what: What,
    /// Whether the unwinder knows it.
    ready: bool,
}

/// A process, from one exec to the next.
pub(super) struct Process {
    pub number: u32,
    /// Ascending, without overlaps.
    pub mappings: Vec<Mapping>,
    /// When it was first met.
    met: Instant,
    /// When `/proc/PID/maps` was last read.
    read: Option<Instant>,
    pub rules: Rules<Arc<[u8]>>,
    /// Made when something of it is first unwound: most processes end before.
    pub cache: Option<Box<Cache>>,
    #[cfg(target_arch = "x86_64")]
    pub calls: Calls,
    /// Of a JVM, whether it was told to.
    #[cfg(target_arch = "x86_64")]
    pub keeps_frame_pointers: Option<bool>,
    /// Of a JVM, what its code is.
    pub java: Java,
}

/// What is kept of a process that may have ended.
#[derive(Clone, Debug)]
pub(super) struct Numbered {
    pub pid: u32,
    /// Who makes its generated code: told by its files.
    pub maker: Maker,
    /// Whether it has a file that is called as CPython is.
    pub is_python: bool,
    /// The dump of generated code that it writes.
    pub dump: Option<Arc<str>>,
    /// The names of its generated code that were last read.
    pub map: Option<Arc<Map>>,
    /// Whether a stack has a place in its generated code, which has its number.
    generates: bool,
    /// How often [`Processes::tidy`] has come by since it ended; `None` while it lives.
    gone: Option<u32>,
}

impl Numbered {
    /// Whether the process has ended, or runs another program: what has no name by now will have none.
    pub fn is_over(&self) -> bool {
        self.gone.is_some()
    }

    /// Whether it has HotSpot's library.
    pub fn is_jvm(&self) -> bool {
        self.maker == Maker::Jvm
    }
}

/// All processes that were met, by their process id.
#[derive(Default)]
pub(super) struct Processes {
    pub by_pid: HashMap<u32, Process>,
    /// Processes by the number that [`Place::Anonymous`] has: those that live, and those that ended and have such places, for a while.
    pub numbered: HashMap<u32, Numbered>,
    /// The number of the next.
    next: u32,
    pub modules: Modules,
    /// Frames of the code of all JVMs.
    pub java_frames: Frames,
    /// What of the code of JVMs was on a CPU, by the numbers of their processes.
    pub hot: BTreeMap<u32, OfJvm>,
    vdso: Option<Arc<Module>>,
}

/// The virtual library of this process, which is that of all: an ELF file in memory (vdso(7)).
pub(super) fn vdso() -> Option<Vec<u8>> {
    let text = std::fs::read("/proc/self/maps").ok()?;
    let line = maps::executable(&text).find(|line| line.path == b"[vdso]")?;
    let length = usize::try_from(line.end - line.start).ok().filter(|&l| l <= 1 << 20)?;
    // SAFETY: the kernel has mapped these bytes for reading for as long as the process lives, and nothing writes to them.
    Some(unsafe { std::slice::from_raw_parts(line.start as *const u8, length) }.to_vec())
}

impl Processes {
    fn new_process(&mut self, pid: u32) -> &mut Process {
        let number = self.next;
        self.next = number.wrapping_add(1);
        if let Some(before) = self.by_pid.get(&pid).map(|process| process.number) {
            self.is_over(before);
        }
        let maker = Maker::Unknown;
        let fresh = Numbered { pid, maker, is_python: false, dump: None, map: None, generates: false, gone: None };
        self.numbered.insert(number, fresh);
        let fresh = Process {
            number,
            mappings: Vec::new(),
            met: Instant::now(),
            read: None,
            rules: Rules::new(),
            cache: None,
            #[cfg(target_arch = "x86_64")]
            calls: Calls::default(),
            #[cfg(target_arch = "x86_64")]
            keeps_frame_pointers: None,
            java: Java::default(),
        };
        let slot = self.by_pid.entry(pid);
        match slot {
            std::collections::hash_map::Entry::Occupied(mut old) => {
                old.insert(fresh);
                old.into_mut()
            }
            std::collections::hash_map::Entry::Vacant(slot) => slot.insert(fresh),
        }
    }

    /// A file or name was mapped for execution.
    pub(super) fn mapped(&mut self, pid: u32, line: &maps::Line<'_>) {
        let what = self.what(line);
        if !self.by_pid.contains_key(&pid) {
            self.new_process(pid);
        }
        if let Some(process) = self.by_pid.get_mut(&pid) {
            process.map(line.start..line.end, line.offset, what);
        }
        self.note(pid, line.path);
    }

    /// Notes what a mapped file says of the process.
    fn note(&mut self, pid: u32, path: &[u8]) {
        let (maker, python) = (library::maker(path), library::is_python(path));
        let dump = path.ends_with(b".dump") && memchr::memmem::find(path, b"/jit-").is_some();
        let Some(number) = self.by_pid.get(&pid).map(|p| p.number).filter(|_| maker.is_some() || python || dump) else {
            return;
        };
        let Some(numbered) = self.numbered.get_mut(&number) else { return };
        numbered.maker = maker.unwrap_or(numbered.maker);
        numbered.is_python |= python;
        if dump {
            numbered.dump = Some(String::from_utf8_lossy(path).into());
        }
    }

    /// What is known of a place in code as long as it has no name; `None` where that is nothing, or a name comes at once.
    pub(super) fn unnamed(&self, place: Place) -> Option<Row> {
        match place {
            Place::Module(module, address) => {
                let known = self.modules.get(module)?;
                let path = Some(Arc::clone(&known.identity.path));
                Some(Row {
                    build_id: known.module.as_ref().and_then(|module| module.build_id.clone()),
                    offset: i64::try_from(address).ok(),
                    ..Row::unresolved(path, Kind::Native)
                })
            }
            Place::Anonymous(process, _) => {
                let maker = self.numbered.get(&process).map_or(Maker::Unknown, |found| found.maker);
                Some(Row::generated(maker))
            }
            Place::Kernel(_)
            | Place::Vdso(_)
            | Place::Java(_)
            | Place::Python(_)
            | Place::Unknown(_)
            | Place::Truncated => None,
        }
    }

    /// A process started another: it has what its parent has.
    pub(super) fn forked(&mut self, host: &Host, parent: u32, pid: u32) {
        if parent == pid {
            return;
        }
        if !self.by_pid.contains_key(&parent) {
            self.read(host, parent);
        }
        let Some(found) = self.by_pid.get(&parent) else {
            // A number that was another's means nothing any more.
            self.ended(pid);
            return;
        };
        let (mappings, number) = (found.mappings.clone(), found.number);
        let (maker, is_python) =
            self.numbered.get(&number).map_or_else(Default::default, |parent| (parent.maker, parent.is_python));
        let process = self.new_process(pid);
        process.mappings = mappings;
        process.mappings.iter_mut().for_each(|m| m.ready = false);
        let number = process.number;
        if let Some(numbered) = self.numbered.get_mut(&number) {
            (numbered.maker, numbered.is_python) = (maker, is_python);
        }
    }

    /// A process runs another program: what it had is gone.
    pub(super) fn executed(&mut self, pid: u32) {
        self.new_process(pid);
    }

    /// A process ended.
    pub(super) fn ended(&mut self, pid: u32) {
        if let Some(process) = self.by_pid.remove(&pid) {
            self.is_over(process.number);
        }
    }

    /// Nothing more comes of a process by its number.
    fn is_over(&mut self, number: u32) {
        match self.numbered.get_mut(&number) {
            Some(numbered) if numbered.generates => numbered.gone = Some(0),
            _ => drop(self.numbered.remove(&number)),
        }
    }

    /// Lets go what belongs to processes that have ended, and to files that none has mapped any more. Returns the numbers of files of which
    /// nothing is to be kept elsewhere either.
    pub(super) fn tidy(&mut self) -> Vec<u32> {
        self.numbered.retain(|_, numbered| match &mut numbered.gone {
            None => true,
            Some(times) => {
                *times += 1;
                *times <= LOOKS
            }
        });
        self.modules.tidy(&mapped_files(&self.by_pid))
    }

    fn what(&mut self, line: &maps::Line<'_>) -> What {
        let path = line.path.strip_suffix(b" (deleted)").unwrap_or(line.path);
        match path {
            b"[vdso]" => What::Vdso,
            // Shared memory and the like: code that was made while the program ran.
            _ if !path.starts_with(b"/") || path.starts_with(b"//anon") || path.starts_with(b"/memfd:") => {
                What::Anonymous
            }
            _ => {
                let identity = Identity {
                    major: line.major,
                    minor: line.minor,
                    inode: line.inode,
                    path: String::from_utf8_lossy(path).into(),
                };
                What::Module(self.modules.number(identity))
            }
        }
    }

    /// Reads what a process has mapped now.
    fn read(&mut self, host: &Host, pid: u32) {
        let known = self.by_pid.get(&pid).and_then(|p| Some((p.met.elapsed() > YOUNG, p.read?)));
        if known.is_some_and(|(old, read)| read.elapsed() < AGAIN[usize::from(old)]) {
            return;
        }
        let text = host.read(&format!("/proc/{pid}/maps")).unwrap_or_default();
        let found: Vec<Mapping> = maps::executable(&text)
            .map(|line| Mapping {
                range: line.start..line.end,
                offset: line.offset,
                what: self.what(&line),
                ready: false,
            })
            .collect();
        let process = match self.by_pid.contains_key(&pid) {
            true => self.by_pid.get_mut(&pid),
            false => Some(self.new_process(pid)),
        };
        let Some(process) = process else { return };
        process.read = Some(Instant::now());
        // Of a process that has just ended nothing is shown; what was known of it stays.
        for mapping in found {
            process.map(mapping.range, mapping.offset, mapping.what);
        }
        maps::executable(&text).for_each(|line| self.note(pid, line.path));
    }

    /// The mapping that an address lies in, with its module open and known to the unwinder.
    pub(super) fn at(&mut self, host: &Host, pid: u32, address: u64) -> Option<(u32, Mapping)> {
        let find = |all: &Self| {
            all.by_pid
                .get(&pid)
                .and_then(|p| Some((p.number, p.find(address)?, p.mappings.get(p.find(address)?)?.clone())))
        };
        let (number, index, mut mapping) = match find(self) {
            Some(found) => found,
            None => {
                self.read(host, pid);
                find(self)?
            }
        };
        if !mapping.ready {
            let module = match mapping.what {
                What::Module(module) => {
                    if let Some((program, link)) = started_as(host, pid) {
                        self.modules.started_as(&program, &link);
                    }
                    self.module(host, pid, module, &mapping.range)
                }
                What::Vdso => Some(Arc::clone(self.vdso.get_or_insert_with(|| {
                    Arc::new(vdso().and_then(|bytes| Module::parse(bytes.as_slice()).ok()).unwrap_or_default())
                }))),
                What::Anonymous => None,
            };
            let process = self.by_pid.get_mut(&pid)?;
            if let Some(module) = module {
                process.teach(&mapping, &module);
            }
            mapping.ready = true;
            if let Some(known) = process.mappings.get_mut(index) {
                known.ready = true;
            }
        }
        Some((number, mapping))
    }

    /// A module, which is opened when it is first asked for.
    fn module(&mut self, host: &Host, pid: u32, number: u32, range: &Range<u64>) -> Option<Arc<Module>> {
        let Processes { by_pid, modules, .. } = self;
        let mapped = || mapped_files(by_pid);
        modules.open(number, |identity| Module::open(host, pid, range, identity), mapped)
    }

    /// The file and the address in it that a process's variable has: variables lie beside the code of their file.
    pub(super) fn data(&mut self, host: &Host, pid: u32, address: u64) -> Option<(u32, u64)> {
        if !self.by_pid.contains_key(&pid) {
            self.read(host, pid);
        }
        let near = |p: &Process| {
            // The last code below it whose file reaches as far.
            let below = p.mappings.partition_point(|m| m.range.start <= address);
            p.mappings.iter().take(below).rev().find(|m| matches!(m.what, What::Module(_))).cloned()
        };
        let mapping = self.by_pid.get(&pid).and_then(near)?;
        let What::Module(number) = mapping.what else { return None };
        let module = self.module(host, pid, number, &mapping.range)?;
        let base = mapping.range.start.wrapping_sub(module.address(mapping.offset)?);
        let place = address.wrapping_sub(base);
        module.data.iter().any(|range| range.contains(&place)).then_some((number, place))
    }

    /// The processes that have HotSpot's library.
    pub(super) fn jvms(&self) -> impl Iterator<Item = u32> {
        let is_jvm = |process: &Process| self.numbered.get(&process.number).is_some_and(Numbered::is_jvm);
        self.by_pid.iter().filter(move |(_, process)| is_jvm(process)).map(|(pid, _)| *pid)
    }

    /// Whether a process is one of them.
    pub(super) fn is_jvm(&self, pid: u32) -> bool {
        let number = self.by_pid.get(&pid).map(|process| process.number);
        number.and_then(|number| self.numbered.get(&number)).is_some_and(Numbered::is_jvm)
    }

    /// The number of a process that has a file which is called as CPython is.
    pub(super) fn python(&self, pid: u32) -> Option<u32> {
        let number = self.by_pid.get(&pid)?.number;
        self.numbered.get(&number).filter(|numbered| numbered.is_python).map(|_| number)
    }

    /// The first file that a process has mapped whose path is `wanted`: the address in the process of what lies at 0 in it, what is known of it, and its path.
    pub(super) fn library(
        &mut self,
        host: &Host,
        pid: u32,
        wanted: impl Fn(&str) -> bool,
    ) -> Option<(u64, Arc<Module>, Arc<str>)> {
        let is_it = |all: &Self, m: &Mapping| match m.what {
            What::Module(number) => all.modules.get(number).is_some_and(|known| wanted(&known.identity.path)),
            _ => false,
        };
        let find = |all: &Self| all.by_pid.get(&pid)?.mappings.iter().find(|m| is_it(all, m)).cloned();
        // The kernel may have told of it, and been lost.
        let mapping = match find(self) {
            Some(mapping) => mapping,
            None => {
                self.read(host, pid);
                find(self)?
            }
        };
        let What::Module(number) = mapping.what else { return None };
        let module = self.module(host, pid, number, &mapping.range)?;
        let base = module
            .address(mapping.offset)
            .map_or(mapping.range.start - mapping.offset.min(mapping.range.start), |at| {
                mapping.range.start.wrapping_sub(at)
            });
        let path = Arc::clone(&self.modules.get(number)?.identity.path);
        Some((base, module, path))
    }

    /// The program built by Go that a process runs, once something of it was met: the address in the process of what lies at 0 in its file, and its path.
    pub(super) fn go_program(&self, pid: u32) -> Option<(u64, Arc<str>, Arc<Module>)> {
        self.go_program_of(self.by_pid.get(&pid)?)
    }

    fn go_program_of(&self, process: &Process) -> Option<(u64, Arc<str>, Arc<Module>)> {
        process.mappings.iter().find_map(|mapping| {
            let What::Module(number) = mapping.what else { return None };
            let known = self.modules.get(number)?;
            let module = known.module.as_ref().filter(|module| module.is_go)?;
            let base = mapping.range.start.wrapping_sub(module.address(mapping.offset)?);
            Some((base, Arc::clone(&known.identity.path), Arc::clone(module)))
        })
    }

    /// The processes that run one, each with its number.
    pub(super) fn go_programs(&self) -> impl Iterator<Item = (u32, u32)> {
        let is_one = |(_, process): &(&u32, &Process)| self.go_program_of(process).is_some();
        self.by_pid.iter().filter(is_one).map(|(pid, process)| (*pid, process.number))
    }

    /// What an address of a process is.
    pub(super) fn place(&mut self, host: &Host, pid: u32, address: u64) -> Place {
        match self.at(host, pid, address) {
            Some((number, mapping)) => self.place_in(number, &mapping, address),
            None => Place::Unknown(address),
        }
    }

    pub(super) fn place_in(&mut self, number: u32, mapping: &Mapping, address: u64) -> Place {
        let offset = address - mapping.range.start + mapping.offset;
        match mapping.what {
            What::Vdso => Place::Vdso(offset),
            What::Anonymous => {
                if let Some(numbered) = self.numbered.get_mut(&number) {
                    numbered.generates = true;
                }
                Place::Anonymous(number, address)
            }
            What::Module(module) => {
                let known = self.modules.get(module).and_then(|known| known.module.as_ref());
                // Where the file could not be read, the place in it is all that is known; it is the address in most files.
                Place::Module(module, known.and_then(|m| m.address(offset)).unwrap_or(offset))
            }
        }
    }
}

/// The numbers of the files that processes have mapped now.
fn mapped_files(by_pid: &HashMap<u32, Process>) -> HashSet<u32> {
    let all = by_pid.values().flat_map(|process| &process.mappings);
    all.filter_map(|m| if let What::Module(number) = m.what { Some(number) } else { None }).collect()
}

/// The mapping that an address lies in, by its place among them.
pub(super) fn find(mappings: &[Mapping], address: u64) -> Option<usize> {
    let at = mappings.partition_point(|m| m.range.start <= address).checked_sub(1)?;
    mappings.get(at).filter(|m| address < m.range.end).map(|_| at)
}

impl Process {
    pub(super) fn find(&self, address: u64) -> Option<usize> {
        find(&self.mappings, address)
    }

    /// Adds a mapping; what it covers is gone.
    fn map(&mut self, range: Range<u64>, offset: u64, what: What) {
        if let Some(same) = self.find(range.start).and_then(|at| self.mappings.get(at))
            && same.range == range
            && (same.offset, same.what) == (offset, what)
        {
            return;
        }
        let overlaps = |m: &Mapping| m.range.start < range.end && range.start < m.range.end;
        for gone in self.mappings.iter().filter(|m| m.ready && overlaps(m)) {
            self.rules.remove_module(gone.range.start);
        }
        self.mappings.retain(|m| !overlaps(m));
        let at = self.mappings.partition_point(|m| m.range.start < range.start);
        self.mappings.insert(at, Mapping { range, offset, what, ready: false });
    }

    /// Tells the unwinder of a module.
    fn teach(&mut self, mapping: &Mapping, module: &Module) {
        let Some(address) = module.address(mapping.offset) else { return };
        let (Some((frames, bytes)), index) = (module.frames.clone(), module.index.clone()) else {
            if module.debug_frames.is_some() {
                let sections = ExplicitModuleSectionInfo {
                    text_svma: module.text.clone(),
                    debug_frame: module.debug_frames.clone(),
                    ..Default::default()
                };
                self.add(mapping, address, sections);
            }
            return;
        };
        let sections = ExplicitModuleSectionInfo {
            text_svma: module.text.clone(),
            got_svma: module.got.clone(),
            eh_frame_svma: Some(frames),
            eh_frame: Some(bytes),
            eh_frame_hdr_svma: index.as_ref().map(|(range, _)| range.clone()),
            eh_frame_hdr: index.map(|(_, bytes)| bytes),
            ..Default::default()
        };
        self.add(mapping, address, sections);
    }

    fn add(&mut self, mapping: &Mapping, address: u64, sections: ExplicitModuleSectionInfo<Arc<[u8]>>) {
        let Some(base) = mapping.range.start.checked_sub(address) else { return };
        // Its index is built from foreign bytes.
        let build = || framehop::Module::new(String::new(), mapping.range.clone(), base, sections);
        if let Ok(known) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(build)) {
            self.rules.add_module(known);
        }
    }
}

/// The path of a process's program, and the link by which it was started, where that has a name of its own: `redis-server` is a link to `redis-check-rdb` on some
/// systems, and nobody knows the server by that name. Links to a version, such as `python3` to `python3.11`, are left alone.
fn started_as(host: &Host, pid: u32) -> Option<(String, String)> {
    let program = host.link(&format!("/proc/{pid}/exe")).ok()?;
    let comm = host.read_text(&format!("/proc/{pid}/comm")).ok()?;
    let (comm, file) = (comm.trim_end(), program.file_name()?.to_str()?);
    if comm.is_empty() || comm.contains('/') || file.contains(comm) || comm.contains(file) {
        return None;
    }
    let link = program.with_file_name(comm);
    let target = host.link(&host::seen_by(pid, link.to_str()?)).ok()?;
    (link.with_file_name("").join(target) == program).then_some(())?;
    Some((program.to_str()?.to_owned(), link.to_str()?.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_called_as_it_was_started() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let link = |path: &str, to: &str| {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(to, path).unwrap();
        };
        for (pid, exe, comm) in [
            (1, "/usr/bin/redis-check-rdb", "redis-server"),
            (2, "/usr/bin/redis-check-rdb", "redis-check-rdb"),
            (3, "/usr/bin/python3.11", "python3"),
            (4, "/usr/bin/redis-check-rdb", "io_thread"),
        ] {
            write(&format!("proc/{pid}/comm"), &format!("{comm}\n"));
            link(&format!("proc/{pid}/exe"), exe);
            link(&format!("proc/{pid}/root/usr/bin/redis-server"), "redis-check-rdb");
            link(&format!("proc/{pid}/root/usr/bin/python3"), "python3.11");
        }
        let host = Host::at(root);
        let as_found = |pid: u32| started_as(&host, pid).map(|(_, link)| link);
        assert_eq!(as_found(1).as_deref(), Some("/usr/bin/redis-server"));
        assert_eq!([2, 3, 4, 5].map(as_found), [const { None }; 4]);
    }
}

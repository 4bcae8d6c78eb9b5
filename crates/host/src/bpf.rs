//! The door to eBPF: loads an object that is embedded in the program, attaches what is in it, runs its iterators and drains its ring
//! buffers. Every error says why it cannot be had here, and what would give it.

use crate::Host;
pub use crate::ask::Asked;
use crate::described;
pub use crate::hooks::{Hooks, Place, Places};
pub use crate::needs::Need;
use crate::needs::{self, SAY_ALL};
use crate::perf::Perf;
pub use crate::ring::Ring;
use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::{DataSec, Var};
use libbpf_rs::{
    AsRawLibbpf, ErrorKind, Iter, Link, MapCore, MapFlags, MapHandle, Object, ObjectBuilder, OpenObject, PrintLevel,
    ProgramType,
};
use model::Unavailable;
use std::ffi::CString;
use std::io::Read;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::{Arc, Mutex, PoisonError};

/// What gives the right to load programs and to read the kernel's memory by them (capabilities(7)).
pub const REMEDY: &str = "run as root, or grant the capabilities: setcap cap_bpf,cap_perfmon+ep PROGRAM";

/// Inode of the first pid namespace, `PROC_PID_INIT_INO` of include/linux/proc_ns.h.
const FIRST_PID_NAMESPACE: &str = "pid:[4026531836]";

/// Whether the description of this kernel's types has this name: of a type, a member, a value or an argument; `None` where there is
/// none.
pub fn knows(name: &str) -> Option<bool> {
    described::has_name(name)
}

/// How many arguments this kernel's tracepoint of that name gives; `None` where it has none, or does not describe its types.
pub fn arguments(tracepoint: &str) -> Option<usize> {
    described::arguments(tracepoint)
}

/// Loaded programs and their maps. Programs are detached when it is dropped.
pub struct Programs {
    name: &'static str,
    object: Object,
    links: Vec<Link>,
    places: Places,
}

impl Programs {
    /// Loads the object in `bytes`, an ELF file as clang writes it; `name` is for messages. The programs named in `without` are left
    /// out, for kernels that lack what they attach to.
    /// Maps in `shared` take the place of the object's own ones of the same name.
    pub fn load(
        host: &Host,
        name: &'static str,
        bytes: &[u8],
        without: &[&str],
        shared: &[&Map],
    ) -> Result<Self, Unavailable> {
        Self::load_with(host, name, bytes, without, shared, &[])
    }

    /// As [`Programs::load`], and sets variables that the object declares `const volatile`, before the verifier sees it. A constant
    /// is its name and its bytes, as many as the variable has; one that the object does not have is an error.
    pub fn load_with(
        host: &Host,
        name: &'static str,
        bytes: &[u8],
        without: &[&str],
        shared: &[&Map],
        constants: &[(&str, &[u8])],
    ) -> Result<Self, Unavailable> {
        possible(host)?;
        let said = listen();
        let failed = |e: libbpf_rs::Error| unavailable(name, LOADED, &e, &said);
        let part = described::part(bytes);
        let mut builder = ObjectBuilder::default();
        if let Some(part) = &part {
            builder.btf_custom_path(part.path()).map_err(failed)?;
        }
        let mut open = builder.open_memory(bytes).map_err(failed)?;
        for mut map in open.maps_mut() {
            if let Some(there) = shared.iter().find(|there| map.name() == there.handle.name()) {
                map.reuse_fd(there.handle.as_fd()).map_err(failed)?;
            }
        }
        set_constants(&mut open, name, constants)?;
        for mut program in open.progs_mut() {
            if without.iter().any(|w| program.name() == *w) {
                program.set_autoload(false);
            }
            if part.is_some() && program.prog_type() == ProgramType::Tracing {
                // Says that libbpf need not read the kernel's types for it: `described` finds what it attaches to.
                program.set_attach_target(1, None).map_err(failed)?;
            }
        }
        let object = open.load().map_err(|e| not_loaded(name, &e, &said))?;
        Ok(Programs { name, object, links: Vec::new(), places: Places::default() })
    }

    /// Attaches the program `program` to what its section names.
    pub fn attach(&mut self, program: &str) -> Result<(), Unavailable> {
        let link = self.link(program)?;
        self.links.push(link);
        Ok(())
    }

    /// The programs `programs`, all of them `tp_btf`, `raw_tp` or `uprobe`, to be attached and detached more than once. They are not attached yet.
    pub fn hooks(&self, programs: &[&str]) -> Result<Hooks, Unavailable> {
        let mut hooks = Hooks::new(self.name, self.places.clone());
        for wanted in programs {
            let found = self.object.progs().find(|p| p.name() == *wanted);
            let added = found.and_then(|p| {
                let program = p.as_fd().try_clone_to_owned().ok()?;
                match p.section().to_str()? {
                    "uprobe" => hooks.probe((*wanted).to_owned(), program),
                    // A tp_btf program was loaded for its tracepoint; the other kind is told it when it is attached.
                    section => {
                        let tracepoint = section.strip_prefix("raw_tp/").map(CString::new).transpose().ok()?;
                        hooks.tracepoint(program, tracepoint);
                    }
                }
                Some(())
            });
            added.ok_or_else(|| Unavailable::failed(format!("eBPF {}: has no program {wanted}", self.name)))?;
        }
        Ok(hooks)
    }

    /// Where in the code of processes the programs of the section `uprobe` run.
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// Has the program `program` of the section `perf_event` run at each sample of `perf` before that is written down, for as long as that is open. Samples
    /// for which it gives 0 are not.
    pub fn attach_to_samples(&self, program: &str, perf: &Perf) -> Result<(), Unavailable> {
        let found = self.object.progs().find(|p| p.name() == program);
        let found =
            found.ok_or_else(|| Unavailable::failed(format!("eBPF {}: has no program {program}", self.name)))?;
        perf.attach(found.as_fd()).map_err(|e| {
            Unavailable::failed(format!("eBPF {}: program {program} could not be attached: {e}", self.name))
        })
    }

    /// The program `program` of the section `syscall`, which leaves its answers in the array `map`. It lives on when the object is dropped.
    pub fn asked(&self, program: &str, map: &str) -> Result<Asked, Unavailable> {
        let found = self.object.progs().find(|p| p.name() == program);
        let held = found.and_then(|p| p.as_fd().try_clone_to_owned().ok());
        let held = held.ok_or_else(|| Unavailable::failed(format!("eBPF {}: has no program {program}", self.name)))?;
        Ok(Asked::new(self.name, held, self.map(map)?))
    }

    /// Attaches an iterator program. It runs when it is read, not before.
    pub fn iterator(&self, program: &str) -> Result<Iterator, Unavailable> {
        Ok(Iterator { name: self.name, link: self.link(program)? })
    }

    /// The ring buffer `map`.
    pub fn ring(&self, map: &str) -> Result<Ring, Unavailable> {
        let handle = self.map(map)?.handle;
        Ring::new(handle.as_fd(), handle.max_entries() as usize)
            .map_err(|e| Unavailable::failed(format!("eBPF {}: ring buffer {map}: {e}", self.name)))
    }

    /// The map `map`, whatever its type.
    pub fn map(&self, map: &str) -> Result<Map, Unavailable> {
        let found = self.object.maps().find(|m| m.name() == map);
        let found = found.ok_or_else(|| Unavailable::failed(format!("eBPF {}: has no map {map}", self.name)))?;
        let said = listen();
        let handle = MapHandle::try_from(&found).map_err(|e| unavailable(self.name, "map", &e, &said))?;
        Ok(Map { name: self.name, handle })
    }

    /// Nanoseconds spent in the programs since they were loaded; `None` where the kernel does not measure it, which it does only where
    /// asked to (sysctl kernel.bpf_stats_enabled).
    pub fn run_time(&self) -> Option<u64> {
        let each = self.object.progs().map(|program| {
            let mut info = libbpf_sys::bpf_prog_info::default();
            let mut size = size_of_val(&info) as u32;
            // SAFETY: the kernel writes at most `size` bytes to `info`, plain numbers all of it.
            let failed = unsafe {
                libbpf_sys::bpf_prog_get_info_by_fd(program.as_fd().as_raw_fd(), &raw mut info, &raw mut size)
            };
            if failed == 0 { info.run_time_ns } else { 0 }
        });
        Some(each.sum()).filter(|&sum| sum > 0)
    }

    fn link(&self, program: &str) -> Result<Link, Unavailable> {
        let found = self.object.progs_mut().find(|p| p.name() == program);
        let found =
            found.ok_or_else(|| Unavailable::failed(format!("eBPF {}: has no program {program}", self.name)))?;
        let said = listen();
        found
            .attach()
            .map_err(|e| unavailable(self.name, &format!("program {program} could not be attached"), &e, &said))
    }
}

/// Sets variables in the object's section of constants.
fn set_constants(open: &mut OpenObject, name: &str, constants: &[(&str, &[u8])]) -> Result<(), Unavailable> {
    if constants.is_empty() {
        return Ok(());
    }
    let wrong = |what: String| Unavailable::failed(format!("eBPF {name}: {what}"));
    // SAFETY: the object outlives the borrow, which ends in this block.
    let types = unsafe { open.as_libbpf_object().as_ref() };
    let types = Btf::from_bpf_object(types).map_err(|e| wrong(format!("its types: {e}")))?;
    let types = types.ok_or_else(|| wrong("has no types".into()))?;
    let section: Option<DataSec<'_>> = types.type_by_name(".rodata");
    let section = section.ok_or_else(|| wrong("has no constants".into()))?;
    let mut places = Vec::new();
    for (constant, value) in constants {
        let found = section.iter().find(|variable| {
            types.type_by_id::<Var<'_>>(variable.ty).is_some_and(|v| v.name().is_some_and(|n| n == *constant))
        });
        match found {
            Some(variable) if variable.size == value.len() => places.push((variable.offset as usize, *value)),
            Some(variable) => return Err(wrong(format!("its constant {constant} has {} bytes", variable.size))),
            None => return Err(wrong(format!("has no constant {constant}"))),
        }
    }
    // Its map has the object's name before it: "threads.rodata".
    let mut map = open.maps_mut().find(|map| map.name().to_string_lossy().ends_with(".rodata"));
    let bytes = map.as_mut().and_then(|map| map.initial_value_mut());
    let bytes = bytes.ok_or_else(|| wrong("its constants have no map".into()))?;
    for (offset, value) in places {
        let place = bytes.get_mut(offset..offset + value.len());
        place.ok_or_else(|| wrong("its constants end early".into()))?.copy_from_slice(value);
    }
    Ok(())
}

/// An attached iterator program, such as `iter/task`.
pub struct Iterator {
    name: &'static str,
    link: Link,
}

impl Iterator {
    /// Runs it once and puts what it writes into `buffer`, replacing what that held.
    pub fn read_into(&self, buffer: &mut Vec<u8>) -> Result<(), Unavailable> {
        let failed = |e: &dyn std::fmt::Display| Unavailable::failed(format!("eBPF {}: iterator: {e}", self.name));
        let mut run = Iter::new(&self.link).map_err(|e| failed(&e))?;
        buffer.clear();
        run.read_to_end(buffer).map(drop).map_err(|e| failed(&e))
    }
}

/// Key and value of a map, as bytes.
pub type Entry = (Vec<u8>, Vec<u8>);

/// A map of a loaded object. It lives on when the object is dropped.
pub struct Map {
    name: &'static str,
    handle: MapHandle,
}

impl Map {
    /// The value of `key`; `None` where there is none.
    pub fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Unavailable> {
        self.handle.lookup(key, MapFlags::ANY).map_err(|e| self.failed(&e))
    }

    /// The values of `key` on each CPU, of a map that has one for each; none where there is no such key.
    pub fn get_per_cpu(&self, key: &[u8]) -> Result<Vec<Vec<u8>>, Unavailable> {
        let found = self.handle.lookup_percpu(key, MapFlags::ANY).map_err(|e| self.failed(&e))?;
        Ok(found.unwrap_or_default())
    }

    /// Makes room for what `key` will have of each CPU, zeros; what is there stays. False where the kernel has no memory for it at the moment.
    pub fn reserve_per_cpu(&self, key: &[u8]) -> bool {
        let Ok(cpus) = libbpf_rs::num_possible_cpus() else { return false };
        let zeros = vec![vec![0; self.handle.value_size() as usize]; cpus];
        match self.handle.update_percpu(key, &zeros, MapFlags::NO_EXIST) {
            Ok(()) => true,
            Err(e) => e.kind() == libbpf_rs::ErrorKind::AlreadyExists,
        }
    }

    /// All keys with their values. What programs add or delete meanwhile may or may not be among them.
    pub fn entries(&self) -> Result<Vec<Entry>, Unavailable> {
        let keys = self.handle.keys().take(self.handle.max_entries() as usize);
        keys.filter_map(|key| self.get(&key).map(|found| found.map(|value| (key, value))).transpose()).collect()
    }

    /// Deletes `key`. False where there is no such key (any more).
    pub fn delete(&self, key: &[u8]) -> bool {
        self.handle.delete(key).is_ok()
    }

    /// Sets the value of `key`.
    pub fn set(&self, key: &[u8], value: &[u8]) -> Result<(), Unavailable> {
        self.handle.update(key, value, MapFlags::ANY).map_err(|e| self.failed(&e))
    }

    fn failed(&self, error: &libbpf_rs::Error) -> Unavailable {
        Unavailable::failed(format!("eBPF {}: map: {error}", self.name))
    }
}

/// Whether eBPF can be thought of here at all, before anything is loaded.
///
/// # Errors
/// Why not, and what would change that.
pub fn possible(host: &Host) -> Result<(), Unavailable> {
    if host.is_fixture() {
        return Err(Unavailable::not_applicable("a recorded host has no kernel that could run eBPF"));
    }
    if !std::path::Path::new("/sys/kernel/btf/vmlinux").exists() {
        let why = Unavailable::absent("/sys/kernel/btf/vmlinux: the kernel does not describe its structures");
        return Err(why.remedy("a kernel with CONFIG_DEBUG_INFO_BTF=y, and /sys mounted"));
    }
    // From this level on programs may not call what reads the kernel's memory (LOCKDOWN_BPF_READ_KERNEL, include/linux/security.h).
    let lockdown = std::fs::read_to_string("/sys/kernel/security/lockdown").unwrap_or_default();
    if lockdown.contains("[confidentiality]") {
        let why = "the kernel is locked down (confidentiality): eBPF programs may not read its memory";
        return Err(Unavailable::denied(why).remedy("boot with lockdown=integrity, or without lockdown"));
    }
    let own = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    if own.as_os_str() != FIRST_PID_NAMESPACE {
        let why = "this program runs in a pid namespace of its own, where eBPF would give the process ids of the host";
        return Err(Unavailable::not_applicable(why).remedy("run it on the host, or the container with --pid=host"));
    }
    Ok(())
}

/// What libbpf says while something is done: its messages name the program, the instruction and the verifier's complaint.
type Said = Arc<Mutex<String>>;

/// Makes libbpf's warnings go to a text instead of standard error, and gives that text, emptied.
fn listen() -> Said {
    static SAID: Mutex<Option<Said>> = Mutex::new(None);
    fn keep(_: PrintLevel, message: String) {
        let said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(said) = &*said {
            said.lock().unwrap_or_else(PoisonError::into_inner).push_str(&message);
        }
    }
    let said = Said::default();
    *SAID.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&said));
    libbpf_rs::set_print(Some((PrintLevel::Warn, keep)));
    said
}

/// Why libbpf or the kernel did not do `what`. All that they say of it is for who develops programs, not for who uses them.
fn unavailable(name: &str, what: &str, error: &libbpf_rs::Error, said: &Said) -> Unavailable {
    let said = said.lock().unwrap_or_else(PoisonError::into_inner);
    if std::env::var_os(SAY_ALL).is_some() {
        eprintln!("eBPF {name}: {what}: {error}\n{said}");
    }
    // The kernel's verifier has looked at a program: whatever the error is, that is why.
    if said.contains("PROG LOAD LOG") {
        return needs::refused(name, what);
    }
    match error.kind() {
        ErrorKind::PermissionDenied => {
            Unavailable::denied(format!("eBPF {name}: {what}: permission denied")).remedy(REMEDY)
        }
        _ => Unavailable::failed(format!("eBPF {name}: {what}: {error}")),
    }
}

/// The same where the kernel was to take an object: one that does not know a kind of map or of program says that it is invalid.
fn not_loaded(name: &str, error: &libbpf_rs::Error, said: &Said) -> Unavailable {
    let why = unavailable(name, LOADED, error, said);
    match error.kind() {
        ErrorKind::InvalidInput | ErrorKind::Unsupported | ErrorKind::TooBig => needs::refused(name, LOADED),
        _ => why,
    }
}

/// What cannot be done, in messages.
const LOADED: &str = "could not be loaded";

#[cfg(test)]
mod tests {
    use super::*;
    use model::Status;

    #[test]
    fn a_recorded_host_has_no_kernel() {
        let error = Programs::load(&Host::fixture("/nowhere"), "test", &[], &[], &[]).err().unwrap();
        assert_eq!(error.status, Status::NotApplicable);
    }

    #[test]
    fn what_is_no_object_is_an_error() {
        if let Err(why) = possible(&Host::live()) {
            eprintln!("SKIPPED: loading an object that is none: {why}");
            return;
        }
        let error = Programs::load(&Host::live(), "test", b"no ELF file", &[], &[]).err().unwrap();
        assert_eq!(error.status, Status::Failed);
        assert!(error.why.starts_with("eBPF test: could not be loaded: "), "{}", error.why);
    }
}

//! Programs that are attached for a part of the time: on tracepoints, and at places in the code of processes (uprobes), which come and go.
//!
//! A probe is of one process: the kernel puts a breakpoint into its own copy of the page of code. [`crate::holder`] sees to it that the breakpoint is taken
//! out, however this program comes to its end. (Documentation/trace/uprobetracer.rst, perf_event_open(2).)

use crate::bpf::REMEDY;
use crate::holder::{self, Probe};
use crate::perf;
use model::Unavailable;
use std::ffi::CString;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Refusals that are kept.
const MOST_REFUSED: usize = 64;

/// A place in the code of a process at which a program runs.
#[derive(Debug)]
pub struct Place {
    /// The program.
    pub program: &'static str,
    /// The process.
    pub pid: u32,
    /// The file of the code.
    pub file: Arc<File>,
    /// Where in the file the instruction is.
    pub offset: u64,
}

/// The places at which programs run while they are attached. Cheap to clone; all clones are one.
#[derive(Clone, Debug, Default)]
pub struct Places(Arc<Mutex<Listed>>);

#[derive(Debug, Default)]
struct Listed {
    /// Each with a number of its own.
    places: Vec<(u64, Arc<Place>)>,
    next: u64,
    refused: Vec<(u32, Unavailable)>,
}

impl Places {
    fn lock(&self) -> MutexGuard<'_, Listed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds one. Programs that are attached are attached there when the hooks next keep up.
    pub fn add(&self, place: Place) {
        let mut listed = self.lock();
        listed.next += 1;
        let number = listed.next;
        listed.places.push((number, Arc::new(place)));
    }

    /// Takes out those of a process.
    pub fn forget(&self, pid: u32) {
        self.lock().places.retain(|(_, place)| place.pid != pid);
    }

    /// The processes in which the kernel did not allow a probe since this was last asked, and why. Those that have ended are not among them.
    pub fn refused(&self) -> Vec<(u32, Unavailable)> {
        std::mem::take(&mut self.lock().refused)
    }

    fn refuse(&self, number: u64, pid: u32, why: Unavailable) {
        let mut listed = self.lock();
        listed.places.retain(|(other, _)| *other != number);
        if why.status != model::Status::NotApplicable && listed.refused.len() < MOST_REFUSED {
            listed.refused.push((pid, why));
        }
    }
}

/// Programs that are attached for a part of the time. They are detached when it is dropped.
#[derive(Debug)]
pub struct Hooks {
    name: &'static str,
    /// Each with its tracepoint, of those that do not know it themselves.
    programs: Vec<(OwnedFd, Option<CString>)>,
    links: Vec<OwnedFd>,
    /// Programs that run at places.
    probes: Vec<(String, OwnedFd)>,
    places: Places,
    /// By the numbers of the places.
    probed: Vec<(u64, Probe)>,
    /// Some are being taken out.
    closing: bool,
}

impl Hooks {
    pub(crate) fn new(name: &'static str, places: Places) -> Self {
        let (programs, links, probes, probed) = Default::default();
        Hooks { name, programs, links, probes, places, probed, closing: false }
    }

    pub(crate) fn tracepoint(&mut self, program: OwnedFd, tracepoint: Option<CString>) {
        self.programs.push((program, tracepoint));
    }

    pub(crate) fn probe(&mut self, name: String, program: OwnedFd) {
        self.probes.push((name, program));
    }

    /// Attaches all of them, in their order, or none.
    pub fn attach(&mut self) -> Result<(), Unavailable> {
        self.detach();
        // A program that is still attached would run twice.
        if std::mem::take(&mut self.closing) {
            holder::settle();
        }
        for (program, tracepoint) in &self.programs {
            let name = tracepoint.as_ref().map_or(std::ptr::null(), |name| name.as_ptr());
            // SAFETY: a program's descriptor that is held, and a name that ends with a zero, or none: then the kernel takes what the program was loaded for.
            let link = unsafe { libbpf_sys::bpf_raw_tracepoint_open(name, program.as_raw_fd()) };
            if link < 0 {
                self.detach();
                let error = std::io::Error::from_raw_os_error(-link);
                let why = format!("eBPF {}: a program could not be attached: {error}", self.name);
                return Err(match error.kind() {
                    std::io::ErrorKind::PermissionDenied => Unavailable::denied(why).remedy(REMEDY),
                    _ => Unavailable::failed(why),
                });
            }
            // SAFETY: a new descriptor that nobody else has.
            self.links.push(unsafe { OwnedFd::from_raw_fd(link) });
        }
        self.keep_up();
        Ok(())
    }

    /// Whether there are programs that run at places, which come and go.
    pub fn follows(&self) -> bool {
        !self.probes.is_empty()
    }

    /// While they are attached: attaches them at places that are new, and detaches them from those that are gone. Where that cannot be, the places say so.
    pub fn keep_up(&mut self) {
        if !self.follows() {
            return;
        }
        let wanted = self.places.lock().places.clone();
        let probed = self.probed.len();
        self.probed.retain(|(number, _)| wanted.iter().any(|(other, _)| other == number));
        self.closing |= self.probed.len() < probed;
        for (number, place) in wanted {
            if self.probed.iter().any(|(known, _)| *known == number) {
                continue;
            }
            let Some((_, program)) = self.probes.iter().find(|(name, _)| name == place.program) else { continue };
            match open(&place, program) {
                Ok(probe) => self.probed.push((number, probe)),
                Err(why) => self.places.refuse(number, place.pid, why),
            }
        }
    }

    /// Detaches all of them, the last one first.
    pub fn detach(&mut self) {
        while let Some(link) = self.links.pop() {
            drop(link);
        }
        // Nobody waits for them here: programs at places ask whether they are wanted.
        self.closing |= !self.probed.is_empty();
        self.probed.clear();
    }
}

impl Drop for Hooks {
    fn drop(&mut self) {
        self.detach();
    }
}

/// Has a program run at a place.
fn open(place: &Place, program: &OwnedFd) -> Result<Probe, Unavailable> {
    let pid = i32::try_from(place.pid).map_err(|_| Unavailable::not_applicable("no such process"))?;
    holder::run(&place.file, place.offset, pid, perf::probe(place.offset)?, program.as_fd())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_come_and_go() {
        let places = Places::default();
        let file = Arc::new(File::open("/dev/null").unwrap());
        for pid in [1, 2, 1] {
            places.add(Place { program: "a", pid, file: Arc::clone(&file), offset: 8 });
        }
        places.forget(1);
        let left: Vec<u64> = places.lock().places.iter().map(|(number, _)| *number).collect();
        assert_eq!(left, [2]);
        places.refuse(2, 2, Unavailable::failed("no"));
        places.refuse(3, 1, Unavailable::not_applicable("it has ended"));
        assert_eq!(places.refused().len(), 1);
        assert!(places.refused().is_empty() && places.lock().places.is_empty());
    }

    #[test]
    fn what_is_no_code_is_refused() {
        let place = Place { program: "a", pid: 1, file: Arc::new(File::open("/dev/null").unwrap()), offset: 0 };
        let program = OwnedFd::from(File::open("/dev/null").unwrap());
        // Other tests of this program need it too.
        std::mem::forget(holder::start());
        assert!(open(&place, &program).is_err());
    }
}

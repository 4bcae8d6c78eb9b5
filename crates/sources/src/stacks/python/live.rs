//! The program in the kernel that runs when a sample is taken, and what it tells of sampled threads.

use super::Counts;
use super::layout::{DESCRIBED, Layout};
use super::place::Call;
use super::record::PythonStack;
use crate::memory::{Memory, Process, Trouble};
use crate::stacks::Stacks;
use crate::tally;
use host::Host;
use host::bpf::{Programs, Ring};
use host::perf::Perf;
use model::Unavailable;
use std::collections::{HashMap, VecDeque};
use std::os::unix::fs::MetadataExt;

static OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/python.bpf.o"));

/// `TAKEN` and so on of python.bpf.c.
const TAKEN: u32 = 0;
const CUT: u32 = 1;
const LOST: u32 = 2;
const SPENT: u32 = 3;
/// So far apart the times of a sample and of its Python functions are at most, nanoseconds: both are taken in one interrupt, which the host of a virtual
/// machine may hold up. Which is first depends on the kernel's version.
const TOGETHER: u64 = 2_000_000;
/// What the kernel told of a sample that it had no room for is forgotten after so long, nanoseconds.
const OLD: u64 = 1_000_000_000;
/// Processes of which it is said why their functions are not told.
const MOST_SAID: usize = 4;
/// The variables of CPython that are looked for.
const NAMES: [&str; 3] = ["_PyRuntime", "PyCode_Type", "Py_Version"];
/// What is missing where they are.
const ITEM: &str = "frame.python";

/// In the kernel.
struct Loaded {
    ring: Ring,
    counts: tally::Counts,
    _programs: Programs,
}

/// The Python functions of samples.
#[derive(Default)]
pub(in crate::stacks) struct Pythons {
    /// Loaded when the first process that runs CPython is met; nothing inside where that cannot be.
    loaded: Option<Option<Loaded>>,
    /// Processes that are to be looked at, each with its number.
    met: Vec<(u32, u32)>,
    /// What the kernel told, by thread, oldest first.
    told: HashMap<u32, VecDeque<PythonStack>>,
    /// Whether that was fetched since the samples were.
    is_fetched: bool,
    said: usize,
}

impl Pythons {
    /// Before samples are drained.
    pub fn begin(&mut self, now: u64) {
        self.is_fetched = false;
        self.told.retain(|_, told| {
            told.retain(|stack| stack.at.saturating_add(OLD) > now);
            !told.is_empty()
        });
    }

    /// A process was sampled; `number` is that of one that runs CPython, `known` what it was when it was last looked at.
    pub fn sampled(&mut self, pid: u32, number: Option<u32>, known: Option<u32>) {
        if let Some(number) = number.filter(|_| number != known)
            && !self.met.contains(&(pid, number))
        {
            self.met.push((pid, number));
        }
    }

    /// The calls of the interpreter's loop that a thread was in when it was sampled; a sample is its thread, its CPU and its time.
    pub fn calls(&mut self, stacks: &Stacks, pid: u32, (tid, cpu, time): (u32, u32, u64)) -> Vec<Call> {
        if !matches!(self.loaded, Some(Some(_))) {
            return Vec::new();
        }
        self.fetch();
        let Some(told) = self.told.get_mut(&tid) else { return Vec::new() };
        let nearest = told.iter().map(|stack| stack.at.abs_diff(time)).enumerate().min_by_key(|(_, apart)| *apart);
        let Some((at, _)) = nearest.filter(|(_, apart)| *apart <= TOGETHER) else { return Vec::new() };
        // Those before it are of samples that found no room.
        let Some(stack) = told.drain(..=at).next_back().filter(|stack| stack.cpu == cpu) else { return Vec::new() };
        stacks.python_calls(pid, stack)
    }

    /// What the kernel has told by now. Of each sample that was drained before that is all.
    fn fetch(&mut self) {
        if std::mem::replace(&mut self.is_fetched, true) {
            return;
        }
        let Some(Some(loaded)) = &mut self.loaded else { return };
        loaded.ring.drain(|bytes| {
            let stack = PythonStack::read(bytes);
            self.told.entry(stack.tid).or_default().push_back(stack);
        });
    }

    /// Looks at the processes that were met, after samples were drained.
    pub fn meet(&mut self, stacks: &Stacks, perf: &Perf) {
        for (pid, number) in std::mem::take(&mut self.met) {
            let layout = match find(stacks, pid) {
                Ok(layout) => {
                    if self.loaded.is_none() {
                        self.loaded = Some(load(stacks, perf).map_err(|why| stacks.say(ITEM, why)).ok());
                    }
                    Some(layout)
                }
                Err(Why::Gone) => None,
                Err(Why::Words(why)) => {
                    if self.said < MOST_SAID {
                        self.said += 1;
                        let why = format!("process {pid}: {why}; its Python functions are not told");
                        stacks.say(ITEM, Unavailable::absent(why).remedy("CPython 3.11 to 3.14"));
                    }
                    None
                }
            };
            stacks.state().pythons.insert(pid, number, layout);
        }
    }

    /// What was counted; `None` as long as there was nothing to count.
    pub fn counts(&self) -> Option<Counts> {
        let Some(Some(loaded)) = &self.loaded else { return None };
        let sum = |at| loaded.counts.sum(at).unwrap_or(0);
        Some(Counts { taken: sum(TAKEN), cut: sum(CUT), lost: sum(LOST), spent: sum(SPENT) })
    }
}

fn load(stacks: &Stacks, perf: &Perf) -> Result<Loaded, Unavailable> {
    let programs = Programs::load(stacks.host(), "python", OBJECT, &[], &[])?;
    let (ring, counts) = (programs.ring("python_stacks")?, tally::Counts::of(&programs)?);
    stacks.tell_pythons(&programs)?;
    programs.attach_to_samples("python_sample", perf)?;
    Ok(Loaded { ring, counts, _programs: programs })
}

/// Why the functions of a process cannot be told.
enum Why {
    /// It has ended.
    Gone,
    Words(String),
}

impl From<Trouble> for Why {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Gone => Why::Gone,
            Trouble::Denied => Why::Words("its memory may not be read".into()),
        }
    }
}

/// Where a process keeps what is looked for.
fn find(stacks: &Stacks, pid: u32) -> Result<Layout, Why> {
    let host: &Host = stacks.host();
    let (path, found) = stacks.python(pid, &NAMES).ok_or(Why::Gone)?;
    let said = |why: &str| Why::Words(format!("{path}: {why}"));
    let found = found.map_err(|why| said(&why))?;
    let [runtime, code_type, version] = found[..] else { return Err(said("it has no variables of CPython")) };
    let (Some(runtime), Some(code_type), Some(version)) = (runtime, code_type, version) else {
        // The last of them came with 3.11.
        return Err(said("it is a Python before 3.11, or without symbols"));
    };
    let memory = Process(pid);
    let mut number = [0; 4];
    let mut bytes = [0; DESCRIBED * 8];
    if memory.some(version, &mut number)? < number.len() || memory.some(runtime, &mut bytes)? < bytes.len() {
        return Err(said("its memory is not as expected"));
    }
    let words: Vec<u64> = bytes.as_chunks::<8>().0.iter().map(|word| u64::from_ne_bytes(*word)).collect();
    let namespace = std::fs::metadata(host.path(&format!("/proc/{pid}/ns/pid"))).map_err(|_| Why::Gone)?;
    let namespace = (namespace.dev(), namespace.ino());
    Layout::new(u32::from_ne_bytes(number), runtime, code_type, &words, namespace).map_err(|why| said(&why))
}

//! Stacks: a dictionary of frames and stacks that the tables of a recording refer to by number.
//!
//! Who meets a stack (the sampler, the ledger of waits) hands it to [`Stacks::intern`] as addresses, or as registers and a copy of the
//! top of the user stack, which is followed here by the unwind information of the files that the process has mapped. The number is
//! given out at once. Names take longer: the rows of a stack and its frames are written when they are known, at the latest at the end.

#![allow(dead_code, reason = "used by the sampler, which comes next")]

mod callers;
mod kernel;
mod maps;
mod module;
mod name;
mod process;
mod trie;

use crate::{Pace, Reader, Source};
use host::Host;
use kernel::Kernel;
use model::{Column, NULL, Out, Table, Unavailable, Unit};
use name::{Kind, Row};
use process::{DEEPEST, Processes};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use trie::{Place, Trie};

static FRAME: Table = Table::wide(
    "frame",
    "a place in code: what stacks are made of",
    &[
        Column::number("number", "its number in this recording"),
        Column::fact("function", "the function; NULL where it was not resolved"),
        Column::fact("module", "path of the file, or [kernel], [MODULE], [vdso], [jit], [anonymous]"),
        Column::fact(
            "build_id",
            "the build id of the file (ld(1)), hexadecimal; with the offset it can be resolved elsewhere",
        ),
        Column::fact_number("offset", Unit::None, "address in the file; of the kernel, address minus _text"),
        Column::fact("source", "file and line, where the file has debug information"),
        Column::fact("kind", "kernel, native, jit, interpreted, inlined, or unknown"),
    ],
)
.of_entries();

static STACK: Table = Table::wide(
    "stack",
    "a stack: its innermost frame and the stack of its caller. Kernel frames lie inside those of the program",
    &[
        Column::number("number", "its number in this recording"),
        Column::fact_number("parent", Unit::None, "the stack of its caller; NULL where a thread starts"),
        Column::fact_number("frame", Unit::None, "its innermost frame"),
    ],
)
.of_entries();

/// Stacks and their names.
pub static SOURCE: Source = Source {
    name: "stacks",
    title: "stacks: frames and functions",
    documented: "proc_kallsyms(5), proc_pid_maps(5), elf(5)",
    reads: &[],
    needs: "root, or CAP_PERFMON and CAP_SYS_PTRACE, for processes of other users",
    pace: Pace::Tick,
    tables: &[&FRAME, &STACK],
    charts: &[],
    open: |host, scope| {
        if host.is_fixture() {
            return Err(Unavailable::not_applicable("a recorded host runs nothing that has stacks"));
        }
        scope.stacks.0.host.get_or_init(|| Host::at(host.root()));
        Ok(Box::new(Dictionary { stacks: scope.stacks.clone(), refused: 0 }))
    },
};

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
}

pub use callers::Callers;

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
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    trie: Trie,
    processes: Processes,
    places: Vec<Place>,
}

impl std::fmt::Debug for Stacks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stacks").finish_non_exhaustive()
    }
}

/// The kernel marks the parts of a call chain by values that are no addresses (`enum perf_callchain_context`, include/uapi/linux/perf_event.h).
const MARKS: u64 = u64::MAX - 4095;

impl Stacks {
    /// The cell of a stack's number. `kernel` holds addresses, innermost first; `user` is the program's part, outside them. [`NULL`] where there
    /// is nothing, or where a recording has more different stacks than are kept.
    ///
    /// `pid` is the process (thread group) and `tid` the thread, as the recorder's pid namespace has them.
    pub fn intern(&self, pid: u32, tid: u32, kernel: &[u64], user: User<'_>) -> i64 {
        let _ = tid;
        let host = self.0.host.get_or_init(Host::live);
        let mut state = self.state();
        let State { trie, processes, places } = &mut *state;
        places.clear();
        let kernel = kernel.iter().copied().filter(|&a| a != 0 && a < MARKS).take(DEEPEST);
        places.extend(kernel.enumerate().map(|(at, address)| Place::Kernel(caller(at, address))));
        match user {
            User::None => {}
            User::Frames(frames) => {
                let frames = frames.iter().copied().filter(|&a| a != 0 && a < MARKS).take(DEEPEST);
                for (at, address) in frames.enumerate() {
                    places.push(processes.place(host, pid, caller(at, address)));
                }
            }
            User::Copied { registers, stack } => processes.unwind(host, pid, &registers, stack, places),
        }
        match trie.stack(places.iter().rev().copied()) {
            0 => NULL,
            stack => i64::from(stack),
        }
    }

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
        let _ = (pid, address);
        None
    }

    fn kernel(&self) -> &Result<Kernel, Unavailable> {
        self.0.kernel.get_or_init(|| Kernel::read(self.0.host.get_or_init(Host::live)))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The address to look up for the `at`th frame from inside: all but the innermost are return addresses, which may belong to what comes after the
/// call.
fn caller(at: usize, address: u64) -> u64 {
    if at == 0 { address } else { address - 1 }
}

/// Writes the dictionary.
struct Dictionary {
    stacks: Stacks,
    refused: u64,
}

impl Reader for Dictionary {
    fn read(&mut self, _host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        let sites = self.stacks.state().trie.new_sites();
        let kernel = sites.iter().any(|(_, place)| matches!(place, Place::Kernel(_))).then(|| self.stacks.kernel());
        if let Some(Err(why)) = kernel {
            out.missing("frame.kernel", why.clone());
        }
        let mut state = self.stacks.state();
        let State { trie, processes, .. } = &mut *state;
        for (site, place) in sites {
            trie.name(site, vec![row(place, kernel.and_then(|k| k.as_ref().ok()), processes)]);
        }
        let refused = trie.refused + processes.refused;
        let (frames, stacks) = trie.take();
        drop(state);
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
            ];
            out.row(0, &cells);
        }
        for (number, parent, frame) in stacks {
            out.row(1, &[i64::from(number), if parent == 0 { NULL } else { i64::from(parent) }, i64::from(frame)]);
        }
        if refused > self.refused && self.refused == 0 {
            let why = "there are more different stacks or more unwind information than are kept in memory";
            out.missing("stack", Unavailable::failed(why).remedy("a narrower scope, such as --pid"));
        }
        self.refused = refused;
        Ok(())
    }
}

/// What is known of a place.
fn row(place: Place, kernel: Option<&Kernel>, processes: &Processes) -> Row {
    match place {
        Place::Kernel(address) => match kernel.and_then(|k| k.function(address)) {
            Some(function) => Row {
                function: Some(function.name),
                module: Some(function.module.unwrap_or_else(|| "[kernel]".into())),
                offset: function.offset,
                ..Row::unresolved(None, Kind::Kernel)
            },
            None => Row::unresolved(Some("[kernel]".into()), Kind::Kernel),
        },
        Place::Module(number, address) => {
            let known = processes.modules.get(number as usize);
            Row {
                build_id: known.and_then(|k| k.module.as_ref()?.build_id.clone()),
                offset: i64::try_from(address).ok(),
                ..Row::unresolved(known.map(|k| Arc::clone(&k.identity.path)), Kind::Native)
            }
        }
        Place::Anonymous(..) => Row::unresolved(Some("[anonymous]".into()), Kind::Unknown),
        Place::Vdso(offset) => {
            Row { offset: i64::try_from(offset).ok(), ..Row::unresolved(Some("[vdso]".into()), Kind::Native) }
        }
        Place::Unknown(_) => Row::unresolved(None, Kind::Unknown),
        Place::Truncated => Row { function: Some("[truncated]".into()), ..Row::unresolved(None, Kind::Unknown) },
    }
}

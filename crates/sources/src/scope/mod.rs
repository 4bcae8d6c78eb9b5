//! Which threads a recording looks at, where a source looks at threads one by one: the command and what it starts, processes and their
//! descendants, a control group, everything, or nobody.
//!
//! The kernel keeps the marks (`scope.bpf.c`): a new thread is in scope if the one that began it is. All eBPF programs of a recording
//! share them by [`Marks::load`]. The recorder itself is never in scope; the kernel's own threads are where everything is.

#[cfg(feature = "bpf")]
mod marks;
mod named;
mod place;
mod roots;

pub use named::{Named, began, named};
pub use place::Place;
pub use roots::Roots;

use model::whose;
use std::path::PathBuf;

/// The processes of a recorder: this one, and the one that holds what it attached. They are no part of what it looks at.
pub fn own() -> Vec<u32> {
    std::iter::once(std::process::id()).chain(host::holder::process()).collect()
}

/// What a recording looks at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// Every process that this program starts, and their descendants.
    Children,
    /// These processes and their descendants.
    Trees(Vec<u32>),
    /// The processes in this control group and those below it.
    Cgroup(PathBuf),
    /// Every thread of the system.
    #[default]
    Everything,
    /// No thread: only the system as a whole.
    Nobody,
}

impl Target {
    /// For sources that have nothing to read where no thread is looked at.
    ///
    /// # Errors
    /// Where none is: what to ask for.
    pub fn somebody(&self) -> Result<(), model::Unavailable> {
        match self {
            Target::Nobody => Err(model::Unavailable::not_applicable("no threads were asked for")
                .remedy("a command, --pid, --cgroup or --all")),
            _ => Ok(()),
        }
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Target::Children => f.write_str(whose::COMMAND),
            Target::Trees(pids) => {
                let numbers: Vec<String> = pids.iter().map(u32::to_string).collect();
                write!(f, "{}{}", whose::PROCESS, numbers.join(", "))
            }
            Target::Cgroup(path) => write!(f, "{}{}", whose::CGROUP, path.display()),
            Target::Everything => f.write_str(whose::EVERYTHING),
            Target::Nobody => f.write_str(whose::NOBODY),
        }
    }
}

#[cfg(feature = "bpf")]
pub use marks::{Marks, shared};

/// The marks of a recording, opened once by the first source that asks; empty until then. Copies share them.
#[derive(Clone, Default)]
pub struct Shared {
    #[cfg(feature = "bpf")]
    marks: std::sync::Arc<std::sync::OnceLock<Result<std::sync::Arc<Marks>, model::Unavailable>>>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Shared")
    }
}

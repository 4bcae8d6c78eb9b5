//! Changes whose program is gone.

use super::{State, VERSION};
use crate::Host;
use std::path::Path;

/// What a program that is gone has left changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// Whose changes they are.
    pub by: String,
    /// The files.
    pub files: Vec<String>,
}

/// What the state file says is still changed while no program holds it. Where the file is not there, that is all that is asked.
pub fn left(host: &Host, file: &Path) -> Option<Left> {
    let read = || serde_json::from_slice::<State>(&std::fs::read(file).ok()?).ok();
    let changed = |state: &State| {
        let boot = host.read_text("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        state.version <= VERSION && !state.entries.is_empty() && state.boot == boot
    };
    read().filter(changed)?;
    let lock = std::fs::File::open(file.with_extension("lock")).ok();
    if let Some(lock) = &lock {
        rustix::fs::flock(lock, rustix::fs::FlockOperation::NonBlockingLockShared).ok()?;
    }
    // Whoever held it may have put back everything since.
    let state = read().filter(changed)?;
    Some(Left { by: state.by, files: state.entries.into_iter().map(|e| e.path).collect() })
}

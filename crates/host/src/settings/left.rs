//! Changes whose program is gone.

use super::{LONGEST, State, VERSION, lock_of, place};
use crate::Host;
use files::state::Folder;
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
    let (folder, name) = place(file).ok()?;
    let folder = Folder::open(&folder).ok()?;
    let read = || serde_json::from_slice::<State>(&folder.read(&name, LONGEST).ok()??).ok();
    let changed = |state: &State| {
        let boot = host.read_text("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        state.version <= VERSION && !state.entries.is_empty() && state.boot == boot
    };
    read().filter(changed)?;
    let _held = folder.unlocked(&lock_of(&name)).ok()??;
    // Whoever held it may have put back everything since.
    let state = read().filter(changed)?;
    Some(Left { by: state.by, files: state.entries.into_iter().map(|e| e.path).collect() })
}

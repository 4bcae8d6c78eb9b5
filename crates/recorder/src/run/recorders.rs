//! Which processes are recorders: this one, what it started to help it, and others that run at the time. They are no part of what is recorded.

use super::Recorder;
use crate::control;
use model::{HOLDER, OwnProcess};
use std::collections::BTreeMap;

/// The recorders that were seen, by their process ids, with their names.
#[derive(Debug, Default)]
pub(super) struct Seen(BTreeMap<u32, String>);

impl Seen {
    /// Looks who records now; `chosen` are the processes that were asked for, which are looked at whatever they are.
    pub(super) fn look(&mut self, chosen: &[u32]) {
        let holder = host::holder::process().map(|pid| (pid, HOLDER.to_owned()));
        self.0.extend(holder);
        for pid in control::running_pids().chain([std::process::id()]).filter(|pid| !chosen.contains(pid)) {
            if !self.0.contains_key(&pid)
                && let Ok(name) = std::fs::read_to_string(format!("/proc/{pid}/comm"))
            {
                self.0.insert(pid, name.trim_end().to_owned());
            }
        }
    }

    /// As the manifest lists them.
    pub(super) fn list(&self) -> Vec<OwnProcess> {
        self.0.iter().map(|(pid, name)| OwnProcess { pid: i64::from(*pid), name: name.clone() }).collect()
    }
}

impl Recorder<'_> {
    /// Looks who else records now.
    pub(super) fn look_for_recorders(&mut self) {
        self.recorders.look(&self.chosen);
    }
}

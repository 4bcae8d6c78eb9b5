//! Gives stacks their numbers: finds the places on them, and looks them up.

use super::trie::Place;
use super::unwind::DEEPEST;
use super::{MARKS, Stacks, State, User, python};
use model::NULL;
use std::sync::MutexGuard;

impl Stacks {
    /// The cell of a stack's number. `kernel` holds addresses, innermost first; `user` is the program's part, outside them. [`NULL`] where there
    /// is nothing, or where a recording has more different stacks than are kept.
    ///
    /// `pid` is the process (thread group), as the recorder's pid namespace has it: its threads share its memory.
    pub fn intern(&self, pid: u32, kernel: &[u64], user: User<'_>) -> i64 {
        self.intern_told(pid, kernel, user, &[], |_| ()).0
    }

    /// The same, with whether the stack was followed to its start. `calls` are those of Python's loop that are on it. `look` sees its places before others
    /// come by.
    pub(super) fn intern_told(
        &self,
        pid: u32,
        kernel: &[u64],
        user: User<'_>,
        calls: &[python::Call],
        look: impl FnOnce(&mut State),
    ) -> (i64, bool) {
        let mut state = self.placed(pid, kernel, user);
        let State { trie, places, tops, kernels, .. } = &mut *state;
        let whole = places.last() != Some(&Place::Truncated);
        python::insert(places, *kernels, tops, calls);
        let stack = trie.stack(places.iter().rev().copied());
        look(&mut state);
        (cell(stack), whole)
    }

    /// Finds the places of a stack.
    pub(super) fn placed(&self, pid: u32, kernel: &[u64], user: User<'_>) -> MutexGuard<'_, State> {
        let host = self.host();
        let is_copied = matches!(user, User::Copied { .. });
        let mut state = self.state();
        if is_copied && state.processes.wants_java(pid) {
            drop(state);
            self.find_java(pid);
            state = self.state();
        }
        let State { processes, places, tops, kernels, .. } = &mut *state;
        places.clear();
        tops.clear();
        let kernel = kernel.iter().copied().filter(|&a| a != 0 && a < MARKS).take(DEEPEST);
        places.extend(kernel.enumerate().map(|(at, address)| Place::Kernel(caller(at, address))));
        *kernels = places.len();
        match user {
            User::None => {}
            User::Frames(frames) => {
                let frames = frames.iter().copied().filter(|&a| a != 0 && a < MARKS).take(DEEPEST);
                for (at, address) in frames.enumerate() {
                    places.push(processes.place(host, pid, caller(at, address)));
                }
            }
            User::Copied { registers, stack } => processes.unwind(host, pid, &registers, stack, places, tops),
        }
        state
    }
}

/// The cell of a stack's number.
pub(super) fn cell(stack: u32) -> i64 {
    if stack == 0 { NULL } else { i64::from(stack) }
}

/// The address to look up for the `at`th frame from inside: all but the innermost are return addresses, which may belong to what comes after the
/// call.
pub(super) fn caller(at: usize, address: u64) -> u64 {
    if at == 0 { address } else { address - 1 }
}

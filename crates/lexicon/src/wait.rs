//! What a thread waits for that is blocked in a futex, by the code that waits: a lock, work, or time. The one rule for the recorder and `explain`.
//!
//! From the innermost function on, the first one decides whose purpose is known. What everything is made of says only that the thread waits for
//! others (condition variables, semaphores, parking): what called it may say more.

use crate::find::Found;
use crate::role::{Role, Roles};

/// What a wait for a futex is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wait {
    /// For a contended lock, of this kind.
    Lock(&'static str),
    /// For work, or for other threads.
    Idle,
    /// Asked to sleep.
    Sleep,
    /// The stack does not tell.
    #[default]
    Unknown,
}

/// So many frames are looked at, from the innermost on.
pub const DEPTH: usize = 16;

/// Of functions that are called by others to wait, so many frames from the innermost on: what is further out did not begin this wait.
const NEAR: usize = 8;

/// The locks of java.util.concurrent: one queue of parked threads, in which others wait as well, for whom who called it tells.
pub const JAVA_LOCK: &str = "java.util.concurrent";

/// Python's `threading.Lock`, of which its queues, conditions and events are made as well: who called it tells, if it is a function of Python.
pub const PYTHON_LOCK: &str = "threading.Lock";

const IDLE: Roles = Roles::of(&[Role::QueueWait, Role::Safepoint, Role::GcStop]);
const MADE_OF: Roles = Roles::of(&[Role::Condvar, Role::Semaphore, Role::Park, Role::Meeting]);

/// What a wait is, by its frames, innermost first and without the kernel's.
pub fn of_stack(frames: impl IntoIterator<Item = Found>) -> Wait {
    let mut found = Wait::Unknown;
    // Whether only frames of the same lock were passed since it was found.
    let mut is_same = true;
    for (at, frame) in frames.into_iter().take(DEPTH).enumerate() {
        let Found { roles, lock } = frame;
        match found {
            Wait::Lock(JAVA_LOCK) => {
                if roles.any(Roles::of(&[Role::Meeting, Role::Semaphore])) {
                    return Wait::Idle;
                }
            }
            Wait::Lock(PYTHON_LOCK) => {
                if roles.has(Role::Standard) {
                    return Wait::Idle;
                }
                // Neither the interpreter nor the lock: a function of the program.
                if roles.is_empty() {
                    return found;
                }
            }
            Wait::Lock(kind) => {
                is_same &= !lock.is_empty() || !roles.is_empty();
                if !is_same {
                    return found;
                }
                // A lock that is made of another.
                if !lock.is_empty() && kind != lock && lock != PYTHON_LOCK {
                    found = Wait::Lock(lock);
                }
            }
            Wait::Unknown | Wait::Idle => {
                if !lock.is_empty() && (at < NEAR || !roles.any(Roles::of(&[Role::Alloc, Role::Stdio]))) {
                    found = Wait::Lock(lock);
                } else if roles.has(Role::Sleep) {
                    return Wait::Sleep;
                } else if roles.any(IDLE) {
                    return Wait::Idle;
                } else if found == Wait::Unknown && at < NEAR && roles.any(MADE_OF) {
                    found = Wait::Idle;
                }
            }
            Wait::Sleep => return found,
        }
    }
    // Nobody is known who took it.
    if found == Wait::Lock(PYTHON_LOCK) { Wait::Idle } else { found }
}

/// Whether a wait that is none for a futex is for a lock all the same, by its frames, innermost first and without the kernel's: some programs wait for
/// theirs in other calls. Between the lock's slow path and the kernel lies only what every wait is made of.
pub fn is_for_lock(frames: impl IntoIterator<Item = Found>) -> bool {
    let lock = Roles::of(&[Role::LockWait]);
    let between =
        Roles::of(&[Role::Library, Role::Poll, Role::Sleep, Role::Semaphore, Role::Park, Role::Condvar, Role::Futex]);
    frames
        .into_iter()
        .find(|frame| frame.roles.any(lock) || !frame.roles.any(between))
        .is_some_and(|frame| frame.roles.any(lock))
}

//! How many files this program may hold open. Holding the files of every process open needs more than the customary 1,024.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::sync::OnceLock;

/// The limit that this program was started with.
static INHERITED: OnceLock<Rlimit> = OnceLock::new();

/// Raises the number of files that may be open to the most that is allowed without privileges (`RLIMIT_NOFILE`,
/// getrlimit(2)), and returns it. Programs started from here inherit the limit, and a higher one changes how some programs behave:
/// give it back to them by [`restore_open_files`].
pub fn raise_open_files() -> u64 {
    let inherited = INHERITED.get_or_init(|| getrlimit(Resource::Nofile));
    let most = Rlimit { current: inherited.maximum, maximum: inherited.maximum };
    // Where it is refused, the limit stays as it was.
    let _ = setrlimit(Resource::Nofile, most);
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Gives this process back the limit that it was started with: to be called in a child between fork and exec. Only a system call
/// is made.
pub fn restore_open_files() {
    if let Some(inherited) = INHERITED.get() {
        // Lowering a limit is never refused.
        let _ = setrlimit(Resource::Nofile, *inherited);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_raised_can_be_restored() {
        let before = getrlimit(Resource::Nofile);
        let raised = raise_open_files();
        assert_eq!(Some(raised), before.maximum.or(Some(u64::MAX)));
        restore_open_files();
        assert_eq!(getrlimit(Resource::Nofile), before);
    }
}

//! Open files: each connection is one.

use crate::Error;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files beside the connections: those of the caller, the terminal, epoll, timers.
const OTHERS: u64 = 64;

/// Raises the limit of open files as far as `connections` need.
///
/// # Errors
/// [`Error::Files`] where that is not allowed.
pub(crate) fn allow_files(connections: u32, threads: u32) -> Result<(), Error> {
    let needed = u64::from(connections) + 2 * u64::from(threads) + OTHERS + open_now();
    let limit = getrlimit(Resource::Nofile);
    let enough = |limit: Option<u64>| limit.is_none_or(|limit| limit >= needed);
    if enough(limit.current) {
        return Ok(());
    }
    let within =
        Rlimit { current: limit.maximum.map(|most| most.min(needed)).or(Some(needed)), maximum: limit.maximum };
    let beyond = Rlimit { current: Some(needed), maximum: Some(needed) };
    // Only the privileged may raise the upper limit too.
    let wanted = if enough(limit.maximum) { within } else { beyond };
    setrlimit(Resource::Nofile, wanted).map_err(|_| Error::Files {
        connections,
        needed,
        limit: limit.maximum.unwrap_or(u64::MAX),
    })
}

/// Files of this process that are open.
fn open_now() -> u64 {
    std::fs::read_dir("/proc/self/fd").map_or(0, |entries| entries.count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_files_need_nothing() {
        let before = getrlimit(Resource::Nofile);
        allow_files(1, 1).unwrap();
        assert_eq!(getrlimit(Resource::Nofile), before);
    }

    #[test]
    fn more_than_the_kernel_has_is_refused() {
        // fs.nr_open is far below.
        let said = allow_files(u32::MAX, 1).unwrap_err();
        assert!(said.to_string().contains("ulimit -n 42949"), "{said}");
    }
}

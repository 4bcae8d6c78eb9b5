//! Lock or idle, where the code that waits says nothing: what the futex itself shows. What functions say, the lexicon knows (`lexicon::wait`).

use super::records::Site;
use lexicon::wait::Wait::{self, Idle, Lock, Unknown};

/// `FUTEX_WAIT`, `FUTEX_WAIT_BITSET` and the flags of include/uapi/linux/futex.h.
const WAIT: u32 = 0;
const WAIT_BITSET: u32 = 9;
const PRIVATE: u32 = 0x80;
const COMMAND: u32 = 0x7f;

/// What the futex itself shows, where the stack says nothing.
///
/// - A mutex of glibc, musl and Go waits with FUTEX_WAIT for the value 2, "locked, and others wait" (nptl/lowlevellock.h;
///   Drepper, "Futexes Are Tricky"). glibc writes the owner's thread id behind it.
/// - A thread of Rust that parks waits for the value u32::MAX (library/std/src/sys/sync/thread_parking/futex.rs): channels, scopes and `thread::park` do.
/// - A thread that is joined shows its own id, in memory that the kernel clears: a shared wait for an id of this process.
pub(super) fn by_futex(site: &Site, is_thread: impl Fn(u32) -> bool) -> Wait {
    let command = site.operation & COMMAND;
    if command == WAIT && site.value == 2 {
        let is_owned = site.owner != 0 && site.owner != site.tid && is_thread(site.owner);
        return Lock(if is_owned { "pthread mutex" } else { "futex" });
    }
    if command == WAIT_BITSET && site.value == u32::MAX && site.operation & PRIVATE != 0 {
        return Idle;
    }
    if (command == WAIT || command == WAIT_BITSET) && site.operation & PRIVATE == 0 && is_thread(site.value) {
        return Idle;
    }
    Unknown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_futex_tells_a_lock_from_a_thread_that_parks_or_joins() {
        let of = |operation: u32, value: u32| {
            by_futex(&Site { tid: 7, operation, value, ..Site::default() }, |tid| tid == 9)
        };
        assert_eq!(of(WAIT | PRIVATE, 2), Lock("futex"));
        assert_eq!(of(WAIT_BITSET | PRIVATE, u32::MAX), Idle, "Rust's thread::park");
        assert_eq!(of(WAIT_BITSET, 9), Idle, "joins thread 9");
        assert_eq!(of(WAIT_BITSET | PRIVATE, 9), Unknown);
        assert_eq!(of(WAIT | PRIVATE, u32::MAX), Unknown);
    }
}

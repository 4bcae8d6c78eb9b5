//! How dear the hooks of collectors are on this machine, beside the one on which their costs were found.
//!
//! Entering and leaving functions of the kernel takes twice as long on some processors as on others (returns made safe against speculation, no
//! short cut for indirect calls), and virtual machines read their clocks at very different cost. A collector that went by constants would keep its
//! budget on one kind of machine only, and take what it slowed down for too little.

use host::Host;
use host::bpf::Programs;
use std::sync::OnceLock;
use std::time::Instant;

static OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/dearness.bpf.o"));

/// Nanoseconds that counting adds to a system call where a counted call costs what `syscalls` says: little less, for the least of many rounds is taken.
const REFERENCE: f64 = 110.0;
/// Further apart machines are not taken to be: rather was something measured wrongly.
const RANGE: (f64, f64) = (0.5, 8.0);
/// Calls timed at once, some tens of microseconds; how often, of which the least counts, for others disturb most of them on a busy machine; and how often
/// with and without the hooks in turn, of which the median counts, for processors change their speed meanwhile: no oftener, to attach them again takes 5 ms.
const CALLS: u32 = 100;
const ROUNDS: usize = 16;
const TURNS: usize = 3;

/// Times what an event costs on the machine where that was found: what it costs here. Measured when it is first asked for, which takes some
/// milliseconds; 1 where it cannot be.
pub fn dearness() -> f64 {
    static DEARNESS: OnceLock<f64> = OnceLock::new();
    *DEARNESS.get_or_init(|| added().map_or(1.0, |added| (added / REFERENCE).clamp(RANGE.0, RANGE.1)))
}

/// Nanoseconds that counting it adds to a system call.
fn added() -> Option<f64> {
    let measurer = (rustix::thread::gettid().as_raw_pid() as u32).to_ne_bytes();
    let constants: [(&str, &[u8]); 1] = [("measurer", &measurer)];
    let programs = Programs::load_with(&Host::live(), "dearness", OBJECT, &[], &[], &constants).ok()?;
    let mut hooks = programs.hooks(&["call_ends", "call_begins"]).ok()?;
    let mut turns = [0.0; TURNS];
    for turn in &mut turns {
        let without = of_a_call();
        hooks.attach().ok()?;
        *turn = of_a_call() - without;
        hooks.detach();
    }
    turns.sort_by(f64::total_cmp);
    turns.get(TURNS / 2).copied()
}

/// Nanoseconds of a system call that does next to nothing.
fn of_a_call() -> f64 {
    let round = |_| {
        let start = Instant::now();
        for _ in 0..CALLS {
            // SAFETY: it has no arguments and cannot fail.
            unsafe { libc::getppid() };
        }
        start.elapsed().as_nanos() as f64 / f64::from(CALLS)
    };
    (0..ROUNDS).map(round).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_is_attached_and_timed() {
        if added().is_none() {
            eprintln!("SKIPPED: what a hook costs here: eBPF programs cannot be attached");
        }
        assert!((RANGE.0..=RANGE.1).contains(&dearness()));
    }
}

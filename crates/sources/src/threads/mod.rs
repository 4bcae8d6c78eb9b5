//! Where the time of each thread in scope went: the ledger, the waits with their stacks, contended locks, waits for a CPU, and how
//! many threads ran at once.
//!
//! The kernel keeps the ledger (`ledger.bpf.c`): each nanosecond of a thread is in one state. Here its records become rows; what a
//! wait for a futex was for (a lock, or work) is found out from the code that waits (`classify.rs`).

#[cfg(feature = "bpf")]
mod bpf;
#[cfg(feature = "bpf")]
mod bystanders;
#[cfg(feature = "bpf")]
mod calls;
#[cfg(feature = "bpf")]
mod classify;
mod coarse;
#[cfg(feature = "bpf")]
mod goroutines;
#[cfg(feature = "bpf")]
mod ledger;
#[cfg(all(test, feature = "bpf"))]
mod live;
#[cfg(feature = "bpf")]
mod locks;
#[cfg(feature = "bpf")]
mod monitors;
#[cfg(feature = "bpf")]
mod parked;
#[cfg(feature = "bpf")]
mod records;
#[cfg(feature = "bpf")]
mod shared;
#[cfg(feature = "bpf")]
mod slots;
#[cfg_attr(not(feature = "bpf"), expect(dead_code, reason = "only eBPF fills them all"))]
mod tables;
#[cfg(feature = "bpf")]
mod waits;

#[cfg(feature = "bpf")]
pub use shared::{Shared as SharedLedgers, Waits};

use crate::{Pace, Reader, Scope, Source};
use host::Host;
use model::{Out, Unavailable};

/// The ledger of threads.
pub static SOURCE: Source = Source {
    name: "threads",
    title: "Threads: states, waits, locks",
    documented: "sched(7), futex(2), include/trace/events/sched.h, include/trace/events/lock.h, kernel/sched/cputime.c",
    reads: &["/proc/*/task/*/stat", "/proc/*/task/*/schedstat", "/proc/*/task/*/wchan"],
    needs: "CAP_BPF and CAP_PERFMON, Linux 5.15 (locks of the kernel: 5.19); without them a coarse ledger of processes that may be read is sampled. Classes of Java monitors, goroutines: CAP_SYS_PTRACE, or the same user",
    pace: Pace::Tick,
    tables: tables::TABLES,
    charts: tables::CHARTS,
    open,
};

fn open(host: &Host, scope: &Scope) -> Result<Box<dyn Reader>, Unavailable> {
    scope.target.somebody()?;
    match open_bpf(host, scope) {
        Ok(reader) => Ok(reader),
        Err(why) => Ok(Box::new(Coarse { reader: coarse::Coarse::open(host, scope)?, without_bpf: Some(why) })),
    }
}

#[cfg(feature = "bpf")]
fn open_bpf(host: &Host, scope: &Scope) -> Result<Box<dyn Reader>, Unavailable> {
    if host.is_fixture() {
        return Err(Unavailable::not_applicable("a recorded host has no threads to follow"));
    }
    Ok(Box::new(bpf::BpfReader::open(host, scope)?))
}

#[cfg(not(feature = "bpf"))]
fn open_bpf(_: &Host, _: &Scope) -> Result<Box<dyn Reader>, Unavailable> {
    Err(Unavailable::absent("this program was built without eBPF").remedy("a build with the feature `bpf`"))
}

/// The coarse ledger, and why there is no better one.
struct Coarse {
    reader: coarse::Coarse,
    without_bpf: Option<Unavailable>,
}

impl Reader for Coarse {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        if let Some(why) = self.without_bpf.take() {
            for table in ["wait", "run_queue", "running", "lock", "thread_dump"] {
                out.missing(table, why.clone());
            }
            out.missing("thread_time", Unavailable { why: format!("only sampled: {}", why.why), ..why });
        }
        self.reader.read(host, out)
    }
}

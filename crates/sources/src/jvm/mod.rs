//! What HotSpot JVMs do with their time and memory: pauses, collectors, heap, safepoints, compilers, deoptimizations, threads. Read in their own memory
//! (`hotspot/`): no agent, no attach, no file, no stop, no restart; JDK 8 to 25.
//!
//! A thread of its own (`rounds`) looks at the JVMs that the recording looks at (`found`), each time one says that a safepoint has ended, and tells single
//! pauses by what came between two looks (`watch`, `pauses`).

mod flight;
mod found;
mod lack;
mod pauses;
mod reader;
mod rounds;
mod since;
#[cfg(test)]
mod tests;
mod watch;

pub use flight::{Flight, Flights};
pub use found::Jvms;

use crate::{Pace, Reader, Scope, Source};
use host::Host;
use model::{Unavailable, jvm};

/// HotSpot JVMs.
pub static SOURCE: Source = Source {
    name: "jvm",
    title: "JVMs: pauses, heap, safepoints, compilers, threads",
    documented: "OpenJDK: vmStructs.cpp, perfMemory.hpp, collectorCounters.hpp, safepoint.cpp, compileBroker.cpp",
    reads: &[],
    needs: "root, or CAP_SYS_PTRACE, for JVMs of other users",
    pace: Pace::Tick,
    // In the order of `reader::table`.
    tables: &[
        &jvm::PAUSE,
        &jvm::COLLECTOR,
        &jvm::HEAP,
        &jvm::SAFEPOINT,
        &jvm::COMPILER,
        &jvm::DEOPTIMIZATION,
        &jvm::THREAD,
    ],
    charts: jvm::CHARTS,
    open,
};

fn open(host: &Host, scope: &Scope) -> Result<Box<dyn Reader>, Unavailable> {
    if host.is_fixture() {
        return Err(Unavailable::not_applicable("a recorded host runs no JVM"));
    }
    Ok(Box::new(reader::Jvms::new(host, scope)))
}

//! What HotSpot JVMs allocate, by class and stack, without an agent, an option or an attach: programs at the two functions of `libjvm.so` by which the JVM
//! tells its own flight recorder that a thread took a new buffer to allocate in (TLAB), or that an object was too large for one.
//!
//! Objects are not counted one by one: the object that begins a buffer stands for all that fits into it. Which object that is, chance decides in proportion
//! to the bytes that each class takes. All buffers are counted by class; where that would take more than 0.5 % of a CPU, those in a part of the time, and
//! scaled up (`thin/`). Stacks are taken of one in N where there are more than about a hundred a second; the bytes of a class are shared out over those
//! that were taken of it. Stacks are followed and classes named ten times a second (`watch`), as both may be gone soon after.

#[cfg(feature = "bpf")]
mod bpf;
#[cfg(feature = "bpf")]
mod rows;
#[cfg(all(test, feature = "bpf"))]
mod tests;
#[cfg(feature = "bpf")]
mod watch;

use crate::tally::collector;
use crate::{Pace, Reader, Scope, Source};
use host::Host;
use model::{Table, Unavailable, jvm};

static COLLECTOR: Table = collector("allocation_collector");

/// Allocations of JVMs.
pub static SOURCE: Source = Source {
    name: "allocation",
    title: "allocations of JVMs by class and stack",
    documented: "OpenJDK: allocTracer.hpp, memAllocator.cpp; Documentation/trace/uprobetracer.rst",
    reads: &[],
    needs: "CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE; a JDK from 11 on whose libjvm.so has its symbol table, or the file with its debug symbols",
    pace: Pace::Tick,
    tables: &[&jvm::ALLOCATION, &COLLECTOR],
    charts: &[],
    open,
};

#[cfg(feature = "bpf")]
fn open(host: &Host, scope: &Scope) -> Result<Box<dyn Reader>, Unavailable> {
    scope.target.somebody()?;
    Ok(Box::new(bpf::Allocations::open(host, scope)?))
}

#[cfg(not(feature = "bpf"))]
fn open(_: &Host, _: &Scope) -> Result<Box<dyn Reader>, Unavailable> {
    Err(crate::without_bpf())
}

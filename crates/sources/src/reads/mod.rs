//! Reads of one file by the threads in scope, where a program takes its work from it: a FIFO, a pipe, its standard input, a file
//! (`record --work reads:PATH`). Counted are system calls that got something: read, readv, pread64, preadv, preadv2, and of a socket that is the standard
//! input recvfrom and recvmsg. What a program makes of it, such as lines, cannot be seen from outside: where each read brings one item, reads are the work;
//! where a program fills large buffers, how many bytes there were is.
//!
//! Not seen is what is read by mmap(2), splice(2), sendfile(2), io_uring, and by calls of 32-bit programs. A file that comes into being while the
//! recording runs is counted from its first read; of one that takes the place of another of that name, what is read before it is noticed at the next
//! tick is missing.

#[cfg(feature = "bpf")]
mod bpf;
#[cfg(all(test, feature = "bpf"))]
mod tests;

use crate::tally::collector;
use crate::{Pace, Reader, Scope, Source};
use host::Host;
use model::{Chart, ChartKind, Column, Compare, Den, Derived, Page, Polarity, Table, Unavailable, Unit};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The file whose reads are to be counted.
#[derive(Clone, Debug)]
pub struct ReadFrom {
    /// As it was asked for.
    name: String,
    /// Where it is, from the root of the host.
    #[cfg_attr(not(feature = "bpf"), allow(dead_code))]
    path: String,
    seen: Arc<AtomicBool>,
}

impl ReadFrom {
    /// The file at the absolute `path`, which was asked for as `name`.
    pub fn new(name: impl Into<String>, path: impl Into<String>) -> Self {
        ReadFrom { name: name.into(), path: path.into(), seen: Arc::default() }
    }

    /// Whether anything was read from it so far.
    pub fn was_read(&self) -> bool {
        self.seen.load(Ordering::Relaxed)
    }

    #[cfg(feature = "bpf")]
    fn saw(&self, some: bool) {
        self.seen.fetch_or(some, Ordering::Relaxed);
    }
}

impl std::fmt::Display for ReadFrom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "reads:{}", self.name)
    }
}

static READ_FROM: Table = Table::wide(
    "read_from",
    "what one process read from the file that its work comes from",
    &[
        Column::number("pid", "process"),
        Column::label("comm", "name of the process"),
        Column::label("path", "the file, as it was asked for; `-`: the standard input"),
        Column::counter("reads", Unit::None, "calls that read something from it").better(),
        Column::counter("bytes", Unit::Bytes, "bytes that they read").better(),
        Column::counter(
            "full",
            Unit::None,
            "of these calls, those that filled a buffer of 4 KiB or more; of readv(2) and its like that is not known",
        ),
    ],
)
.derived(&[Derived {
    name: "mean_bytes",
    unit: "B",
    help: "mean size of a read",
    num: &[("bytes", 1.0)],
    den: Den::Columns(&[("reads", 1.0)]),
    polarity: Polarity::Neutral,
    compare: Compare::Ratio,
    floor: 1.0,
}])
.titled("Reads of the work")
.on(Page::Calls)
.grouped(&[&["comm"]])
.from_zero()
.scoped();

static COLLECTOR: Table = collector("reads_collector");

static CHARTS: &[Chart] = &[Chart::new(
    "read-from-reads",
    Page::Calls,
    ChartKind::Line,
    "Reads of the work",
    "Calls that read something from the file that the work comes from. Where each brings one item, that is the throughput.",
    "read_from",
    &["reads"],
)
.by(&["comm"], 8)];

/// Reads of one file.
pub static SOURCE: Source = Source {
    name: "reads",
    title: "reads of the file that a workload takes its work from",
    documented: "read(2), readv(2), recv(2), include/trace/events/syscalls.h (raw_syscalls:sys_exit)",
    reads: &[],
    needs: "CAP_BPF and CAP_PERFMON; only with --work reads:PATH",
    pace: Pace::Tick,
    tables: &[&READ_FROM, &COLLECTOR],
    charts: CHARTS,
    open,
};

fn open(host: &Host, scope: &Scope) -> Result<Box<dyn Reader>, Unavailable> {
    let Some(from) = &scope.read_from else {
        return Err(Unavailable::not_applicable("no file was named that work is read from").remedy("--work reads:PATH"));
    };
    scope.target.somebody()?;
    open_for(host, scope, from)
}

#[cfg(feature = "bpf")]
fn open_for(host: &Host, scope: &Scope, from: &ReadFrom) -> Result<Box<dyn Reader>, Unavailable> {
    Ok(Box::new(bpf::Reads::open(host, scope, from)?))
}

#[cfg(not(feature = "bpf"))]
fn open_for(_: &Host, _: &Scope, _: &ReadFrom) -> Result<Box<dyn Reader>, Unavailable> {
    Err(crate::without_bpf())
}

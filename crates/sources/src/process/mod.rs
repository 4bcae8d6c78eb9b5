//! Processes and threads: what each used, what it is, and what ended between two reads.
//!
//! Two readers fill the same tables. Where the kernel allows eBPF, one task iterator reads all threads at once, and a tracepoint tells of
//! each process that is freed, so that short-lived ones are not lost. Elsewhere `/proc` is read; short-lived processes are then known by
//! their parents' children times alone.
//!
//! The rows of `process` and those of `process_exit` add up to all CPU time that processes used: a process that is first seen
//! counts from zero, one that takes another name goes on under it from zero, and what a process used after its last row is in
//! `process_exit`.

#[cfg(feature = "bpf")]
mod bpf;
mod info;
#[cfg(test)]
mod live;
mod proc;
pub(crate) mod stat;
mod tables;
#[cfg(test)]
mod tests;
mod track;

use crate::{Pace, Reader, Scope, Source};
use host::Host;
use info::Infos;
use model::{Out, Unavailable};
use proc::ProcReader;
use track::Tracker;

/// Processes and threads.
pub static SOURCE: Source = Source {
    name: "processes",
    title: "Processes and threads",
    documented: "proc_pid_stat(5), proc_pid_io(5), Documentation/scheduler/sched-stats.rst, kernel/sched/cputime.c",
    reads: &[
        "/proc/*/stat",
        "/proc/*/io",
        "/proc/*/cmdline",
        "/proc/*/cgroup",
        "/proc/*/status",
        "/proc/*/task/*/stat",
        "/proc/*/task/*/status",
        "/proc/*/task/*/schedstat",
    ],
    needs: "CAP_BPF and CAP_PERFMON to read all tasks at once and to see short-lived processes by name; CAP_SYS_PTRACE for I/O of other users",
    pace: Pace::Tick,
    tables: tables::TABLES,
    charts: tables::CHARTS,
    open,
};

fn open(host: &Host, scope: &Scope) -> Result<Box<dyn Reader>, Unavailable> {
    let (way, without_bpf) = match open_bpf(host, scope) {
        Ok(way) => (way, None),
        Err(why) => (open_proc(host, scope)?, Some(why)),
    };
    Ok(Box::new(Processes::new(way, without_bpf, scope)))
}

fn open_proc(host: &Host, scope: &Scope) -> Result<Way, Unavailable> {
    ProcReader::open(host, scope.threads).map(Way::Proc)
}

#[cfg(feature = "bpf")]
fn open_bpf(host: &Host, scope: &Scope) -> Result<Way, Unavailable> {
    if host.is_fixture() {
        return Err(Unavailable::not_applicable(
            "these files are a recording: there is no kernel to load programs into",
        ));
    }
    bpf::BpfReader::open(host, scope.threads).map(|reader| Way::Bpf(Box::new(reader)))
}

#[cfg(not(feature = "bpf"))]
fn open_bpf(_: &Host, _: &Scope) -> Result<Way, Unavailable> {
    Err(Unavailable::absent("this program was built without eBPF").remedy("a build with the feature `bpf`"))
}

/// The way in which processes are read.
enum Way {
    #[cfg(feature = "bpf")]
    Bpf(Box<bpf::BpfReader>),
    Proc(ProcReader),
}

struct Processes {
    way: Way,
    /// Why not by eBPF, until it is said.
    without_bpf: Option<Unavailable>,
    #[cfg(feature = "bpf")]
    with_threads: bool,
    tracker: Tracker,
    infos: Infos,
}

impl Processes {
    fn new(way: Way, without_bpf: Option<Unavailable>, scope: &Scope) -> Self {
        let (tracker, infos) = (Tracker::default(), Infos::new(scope.unmasked));
        Processes {
            way,
            without_bpf,
            #[cfg(feature = "bpf")]
            with_threads: scope.threads,
            tracker,
            infos,
        }
    }
}

impl Reader for Processes {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        if let Some(why) = self.without_bpf.take() {
            out.missing("bpf", why);
        }
        self.tracker.begin();
        self.infos.begin();
        #[cfg(feature = "bpf")]
        if let Way::Bpf(reader) = &mut self.way
            && let Err(why) = reader.read(host, &mut self.tracker, &mut self.infos, out)
        {
            // What worked at the start and does not any more will not come back: go on with /proc.
            out.missing("bpf", why);
            self.way = Way::Proc(ProcReader::open(host, self.with_threads)?);
        }
        match &mut self.way {
            #[cfg(feature = "bpf")]
            Way::Bpf(_) => Ok(()),
            Way::Proc(reader) => reader.read(host, &mut self.tracker, &mut self.infos, out),
        }
    }

    fn ends(&mut self) {
        #[cfg(feature = "bpf")]
        if let Way::Bpf(reader) = &mut self.way {
            reader.ends();
        }
    }
}

//! Puts out what was seen of JVMs since the read before.

use super::pauses::Pause;
use super::rounds::State;
use super::watch::Watched;
use crate::looking::Looking;
use crate::{Reader, Scope};
use host::Host;
use model::{NULL, Out, Unavailable};

/// Places of the tables among those of the source.
mod table {
    pub const PAUSE: usize = 0;
    pub const COLLECTOR: usize = 1;
    pub const HEAP: usize = 2;
    pub const SAFEPOINT: usize = 3;
    pub const COMPILER: usize = 4;
    pub const DEOPTIMIZATION: usize = 5;
    pub const THREAD: usize = 6;
}

/// The JVMs of a recording.
pub(super) struct Jvms {
    looking: Looking<State>,
    start: crate::Start,
}

impl Jvms {
    pub fn new(host: &Host, scope: &Scope) -> Self {
        let mut looking: Looking<State> = Looking::new(scope.stacks.clone());
        *looking.found() = State::of(Host::at(host.root()), scope);
        looking.begin();
        Jvms { looking, start: scope.start.clone() }
    }
}

impl Reader for Jvms {
    fn read(&mut self, _host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        let mut state = self.looking.found();
        for (item, why) in std::mem::take(&mut state.missing) {
            out.missing(item, why);
        }
        // A table has all of its rows, or was not read.
        let is_fresh = std::mem::take(&mut state.is_fresh);
        for (&pid, jvm) in &mut state.watched {
            put(pid, jvm, self.start.get(), out);
            if is_fresh {
                put_slowly(pid, jvm, out);
            }
        }
        Ok(())
    }

    fn ends(&mut self) {
        // What came since the last look.
        let stacks = self.looking.stacks().clone();
        let mut state = self.looking.found();
        state.look_at_all();
        state.round(&stacks, false);
    }
}

fn put(pid: u32, jvm: &mut Watched, start: u64, out: &mut Out<'_>) {
    let (pid, comm) = (i64::from(pid), out.text(&jvm.comm));
    let lost = std::mem::take(&mut jvm.lost);
    if lost > 0 {
        let why = format!("{lost} pauses of the JVM of process {pid} found no room between two reads");
        out.missing("jvm_pause", Unavailable::failed(why).remedy("a shorter interval (-i)"));
    }
    for pause in std::mem::take(&mut jvm.pauses) {
        let operation = pause.operation.and_then(|operation| jvm.internals.operation(operation)).map(str::to_owned);
        put_pause([pid, comm], &pause, operation.as_deref(), start, out);
    }
    for (name, &(collections, time)) in &jvm.collectors {
        let row = [pid, comm, out.text(name), collections as i64, time as i64];
        out.row(table::COLLECTOR, &row);
    }
    for (operation, sum) in jvm.operations() {
        let row = [pid, comm, out.text(operation), sum.count as i64, sum.time as i64, sum.to_stop as i64];
        out.row(table::SAFEPOINT, &row);
    }
    if let Some(all) = jvm.all {
        let [count, time, to_stop] = all.map(|number| number as i64);
        let row = [pid, comm, out.text("[all]"), count, time, to_stop];
        out.row(table::SAFEPOINT, &row);
    }
}

/// What is looked at less often.
fn put_slowly(pid: u32, jvm: &Watched, out: &mut Out<'_>) {
    let (pid, comm) = (i64::from(pid), out.text(&jvm.comm));
    for pool in &jvm.pools {
        let of = |bytes: Option<i64>| bytes.unwrap_or(NULL);
        let row = [pid, comm, out.text(&pool.name), of(pool.used), of(pool.capacity), of(pool.most), of(pool.peak)];
        out.row(table::HEAP, &row);
    }
    if let Some(compilers) = &jvm.compilers {
        let [compiled, osr, time, bytes, invalidated, failed] = compilers.counters.map(|number| number.unwrap_or(NULL));
        let queue = compilers.queue.map_or(NULL, |queue| queue as i64);
        let stopped = compilers.stopped.map_or(NULL, i64::from);
        let stops = compilers.stops.map_or(NULL, |stops| stops as i64);
        out.row(table::COMPILER, &[pid, comm, compiled, osr, time, bytes, invalidated, failed, queue, stopped, stops]);
    }
    for (reason, action, times) in &jvm.deoptimizations {
        let row = [pid, comm, out.text(reason), out.text(action), *times as i64];
        out.row(table::DEOPTIMIZATION, &row);
    }
    for thread in &jvm.threads {
        let name = thread.name.as_deref();
        let (name, pool) = (name.map_or(NULL, |name| out.text(name)), name.map_or(NULL, |name| out.text(&pool(name))));
        let allocated = thread.allocated.map_or(NULL, |bytes| bytes as i64);
        out.row(table::THREAD, &[pid, comm, i64::from(thread.tid), name, pool, allocated]);
    }
}

fn put_pause([pid, comm]: [i64; 2], pause: &Pause, operation: Option<&str>, start: u64, out: &mut Out<'_>) {
    let kind = match (operation, pause.kind) {
        (Some(operation), super::pauses::Kind::Operation) => super::pauses::Kind::of_operation(operation),
        (_, kind) => kind,
    };
    let optional = |number: Option<u64>| number.map_or(NULL, |number| number as i64);
    let row = [
        pid,
        comm,
        out.text(kind.name()),
        operation.map_or(NULL, |operation| out.text(operation)),
        pause.cause.as_deref().map_or(NULL, |cause| out.text(cause)),
        pause.at as i64 - start as i64,
        pause.time as i64,
        optional(pause.to_stop),
        optional(pause.used_before),
        optional(pause.used_after),
        pause.together as i64,
        i64::from(pause.exact),
    ];
    out.row(table::PAUSE, &row);
}

/// The name of a thread with its numbers replaced, which all threads of a pool share.
fn pool(name: &str) -> String {
    let mut found = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '0'..='9' if found.ends_with('#') => {}
            '0'..='9' => found.push('#'),
            c => found.push(c),
        }
    }
    found
}

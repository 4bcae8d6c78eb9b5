//! Reads what `allocation.bpf.c` counted.

use super::rows::{Key, Row, Rows};
use super::watch::State;
use crate::looking::Looking;
use crate::scope::shared;
use crate::tally::{trimmed, whole};
use crate::{Reader, Scope};
use host::Host;
use host::bpf::Need;
use model::{NULL, Out, Unavailable};
use std::collections::HashSet;

/// A time of an allocation is as exact as that, nanoseconds: as of samples.
const EXACT: u64 = 1_000_000;

/// Reads allocations of JVMs.
pub(super) struct Allocations {
    looking: Looking<State>,
    rows: Rows,
    start: crate::Start,
    last: bool,
}

impl Allocations {
    /// Begins to look for JVMs. The programs are loaded when there is one.
    pub fn open(host: &Host, scope: &Scope) -> Result<Self, Unavailable> {
        Need::all(host, &[Need::TASK_STORAGE, Need::TASK_REGISTERS])?;
        if host.is_fixture() {
            return Err(Unavailable::not_applicable("a recorded host runs no JVM"));
        }
        // Whether they may be loaded.
        shared(host, scope)?;
        let mut looking: Looking<State> = Looking::new(scope.stacks.clone());
        *looking.found() = State::of(Host::at(host.root()), scope.clone());
        looking.begin();
        Ok(Allocations { looking, rows: Rows::default(), start: scope.start.clone(), last: false })
    }
}

impl Reader for Allocations {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        let stacks = self.looking.stacks().clone();
        let mut state = self.looking.found();
        for (item, why) in std::mem::take(&mut state.missing) {
            out.missing(item, why);
        }
        state.drain(&stacks);
        let Some(Ok(counted)) = &mut state.counted else { return Ok(()) };
        counted.say_estimated(out, "allocation");
        let now = host.now();
        let sums = counted.take_thinned(host)?;
        let (span, again) = (counted.span(), counted.again());
        counted.report(out, 1);
        let taken = if sums.is_some() { state.taken(&stacks) } else { Vec::new() };
        let rows = self.rows.of(sums.unwrap_or_default(), taken, span, now, (again, self.last));
        let classes: HashSet<(u32, u64)> = rows.iter().map(|row| (row.key.pid, row.key.klass)).collect();
        classes.into_iter().for_each(|(pid, klass)| state.name(pid, klass));
        for row in rows {
            put(&row, state.class(row.key.pid, row.key.klass), (self.start.get(), span.factor()), out);
        }
        if self.last {
            // While others read for the last time the kernel takes the probes out.
            state.end();
        }
        Ok(())
    }

    fn ends(&mut self) {
        self.last = true;
        if let Some(Ok(counted)) = &mut self.looking.found().counted {
            counted.ends();
        }
    }
}

fn put(row: &Row, class: Option<&str>, (start, factor): (u64, f64), out: &mut Out<'_>) {
    let Row { key, thread, stack, at, bytes, count }: &Row = row;
    let Key { pid, is_outside, .. } = *key;
    let at = at.saturating_sub(start).saturating_add(EXACT / 2) / EXACT * EXACT;
    let (tid, thread) = match thread {
        Some((tid, name)) => (i64::from(*tid), out.bytes(trimmed(name))),
        None => (NULL, NULL),
    };
    let cells = [
        pid.into(),
        tid,
        out.bytes(key.comm()),
        thread,
        class.map_or(NULL, |class| out.text(class)),
        is_outside.into(),
        *stack,
        whole(at),
        whole(*bytes),
        whole(*count),
        factor.round().max(1.0) as i64,
    ];
    out.row(0, &cells);
}

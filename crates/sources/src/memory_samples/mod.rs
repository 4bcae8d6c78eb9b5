//! Accesses to memory that the CPU samples itself (PEBS, IBS, SPE), of busy threads, in the bursts in which their instructions are looked at: the
//! source `instructions` takes them there, for it knows which threads are busy, and adds lines that came from other cores to its tables of sharing.
//! Where there is no such PMU, or nothing is looked at, it costs nothing.

mod unit;

use crate::stacks::{Busy, Site, Stacks};
use crate::{Pace, Reader, Scope, Source};
use access::{Level, Operation, Snoop, Tlb};
use host::Host;
use host::accesses::{OfThread, Unit};
use model::{NULL, Out, Status, Unavailable};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Rows that nobody fetches are not kept beyond this.
const MOST: usize = 100_000;

/// Accesses of busy threads.
pub static SOURCE: Source = Source {
    name: "memory_samples",
    title: "accesses to memory that the CPU samples itself",
    documented: "perf_event_open(2); Documentation/ABI/testing/sysfs-bus-event_source-devices-format; docs/counters.md",
    reads: &[
        "/sys/bus/event_source/devices/*/type",
        "/sys/bus/event_source/devices/*/format/*",
        "/sys/bus/event_source/devices/cpu*/events/mem-*",
    ],
    needs: "a CPU and a machine that show PEBS with load latency, IBS or SPE; root, or CAP_PERFMON, for processes of other users",
    pace: Pace::Tick,
    tables: &[&access::tables::INSTRUCTION],
    charts: &[],
    open: |host, scope: &Scope| {
        let unit = unit::find(host)?;
        if host.is_fixture() {
            return Err(Unavailable::not_applicable("a recorded host runs nothing that could be sampled"));
        }
        if scope.bursts == 0 || scope.hertz == 0 {
            let why = "it is taken in bursts of instructions, and none were asked for";
            return Err(Unavailable::not_applicable(why).remedy("--stacks, --instructions"));
        }
        // Where not even this thread may be sampled, none is.
        unit.open(0)?;
        let gathering = Arc::new(Gathering { unit, taken: Mutex::default() });
        scope.stacks.gather_accesses(Arc::clone(&gathering));
        Ok(Box::new(MemorySamples { gathering, start: scope.start.clone(), told: false }))
    },
};

type Key = (u32, i64, i64, &'static str, Level, Snoop, Tlb);

/// A row: of one instruction of a thread, of one kind and outcome, in one burst.
#[derive(Clone, Debug)]
struct Row {
    thread: Busy,
    /// CLOCK_MONOTONIC, ns.
    at: u64,
    key: Key,
    samples: i64,
    timed: i64,
    latency: i64,
    memory: Option<i64>,
    translation: Option<i64>,
}

#[derive(Debug, Default)]
struct Taken {
    rows: Vec<Row>,
    lost: u64,
    failed: Option<Unavailable>,
}

/// What this source shares with the thread that takes bursts.
#[derive(Debug)]
pub(crate) struct Gathering {
    unit: Unit,
    taken: Mutex<Taken>,
}

impl Gathering {
    /// Opens the samples of a thread, without beginning; `None` where it has ended, or cannot be sampled.
    pub(crate) fn open(&self, tid: u32) -> Option<OfThread> {
        self.unit
            .open(tid)
            .map_err(|why| {
                if why.status != Status::NotApplicable {
                    self.taken.lock().unwrap_or_else(PoisonError::into_inner).failed.get_or_insert(why);
                }
            })
            .ok()
    }

    /// Puts accesses of a thread down, which were taken in a burst that began then.
    pub(crate) fn put(&self, stacks: &Stacks, thread: &Busy, at: u64, operations: &[Operation]) {
        let mut rows: BTreeMap<Key, Row> = BTreeMap::new();
        for of in operations {
            let Some(code) = of.code else { continue };
            let (stack, site) = stacks.site(thread.pid, code);
            let address = match site {
                Site::File(_, address) => address,
                _ => code,
            };
            let key = (thread.tid, stack, address as i64, of.deed(), of.level, of.snoop, of.tlb);
            let row = rows.entry(key).or_insert_with(|| Row {
                thread: thread.clone(),
                at,
                key,
                samples: 0,
                timed: 0,
                latency: 0,
                memory: None,
                translation: None,
            });
            row.samples += 1;
            if let Some(cycles) = of.latency.or(of.memory) {
                row.timed += 1;
                row.latency += i64::from(cycles);
            }
            for (sum, cycles) in [(&mut row.memory, of.memory), (&mut row.translation, of.translation)] {
                if let Some(cycles) = cycles {
                    *sum = Some(sum.unwrap_or(0) + i64::from(cycles));
                }
            }
        }
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let room = MOST.saturating_sub(taken.rows.len());
        taken.lost += rows.len().saturating_sub(room) as u64;
        taken.rows.extend(rows.into_values().take(room));
    }
}

struct MemorySamples {
    gathering: Arc<Gathering>,
    start: crate::Start,
    /// What failed was said.
    told: bool,
}

impl Reader for MemorySamples {
    fn read(&mut self, _host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        let taken = {
            let mut taken = self.gathering.taken.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *taken)
        };
        let lost = (taken.lost > 0).then(|| Unavailable::failed(format!("{} rows found no room", taken.lost)));
        if let Some(why) = taken.failed.or(lost).filter(|_| !std::mem::replace(&mut self.told, true)) {
            out.missing("instruction_access", why);
        }
        for row in &taken.rows {
            write(row, self.start.get(), out);
        }
        Ok(())
    }
}

fn write(row: &Row, start: u64, out: &mut Out<'_>) {
    let (_, stack, address, deed, level, snoop, tlb) = row.key;
    let words = [row.thread.comm.as_ref(), row.thread.thread.as_ref(), deed, level.word(), snoop.word(), tlb.word()];
    let [comm, thread, deed, level, snoop, tlb] = words.map(|word| out.text(word));
    let cells = [
        row.thread.pid.into(),
        row.thread.tid.into(),
        comm,
        thread,
        deed,
        level,
        snoop,
        tlb,
        row.at.saturating_sub(start) as i64,
        stack,
        address,
        row.samples,
        row.timed,
        row.latency,
        row.memory.unwrap_or(NULL),
        row.translation.unwrap_or(NULL),
    ];
    out.row(0, &cells);
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::accesses::Way;
    use model::{Rows, Symbols};

    #[test]
    fn accesses_of_a_burst_become_rows() {
        let unit = Unit { way: Way::Source, groups: Vec::new(), rate: 1000 };
        let gathering = Arc::new(Gathering { unit, taken: Mutex::default() });
        let thread = Busy { pid: std::process::id(), tid: 8, comm: "app".into(), thread: "left".into(), time: 0 };
        let near =
            Operation { code: Some(16), reads: true, level: Level::L1, latency: Some(4), ..Operation::default() };
        let far =
            Operation { level: Level::Core, snoop: Snoop::Modified, memory: Some(200), latency: Some(210), ..near };
        gathering.put(&Stacks::default(), &thread, 2_000, &[near, far, near, Operation::default()]);
        let mut reader = MemorySamples { gathering, start: crate::Start::at(500), told: false };
        let (mut rows, mut symbols) = ([Rows::default()], Symbols::default());
        let (mut coverage, mut facts) = (Vec::new(), Vec::new());
        let mut out = Out::new("memory_samples", SOURCE.tables, &mut rows, &mut symbols, &mut coverage, &mut facts);
        reader.read(&Host::live(), &mut out).unwrap();
        let width = SOURCE.tables[0].width();
        let row = |row: &[i64]| {
            let words = [4, 5, 6].map(|column: usize| symbols.text(row[column]).unwrap());
            (words.join(" "), row[8], row[10], row[11], row[12], row[13], row[14], row[15])
        };
        assert_eq!(
            rows[0].cells.chunks(width).map(row).collect::<Vec<_>>(),
            [
                ("load L1 unknown".to_owned(), 1_500, 16, 2, 2, 8, NULL, NULL),
                ("load other core modified".to_owned(), 1_500, 16, 1, 1, 210, 200, NULL),
            ]
        );
    }

    #[test]
    fn without_such_a_pmu_it_is_absent() {
        let (_dir, host) = crate::testing::host_of(&[("/sys/bus/event_source/devices/cpu/type", "4\n")]);
        let Err(why) = (SOURCE.open)(&host, &Scope::default()) else { panic!("no such PMU") };
        assert_eq!(why.status, Status::Absent, "{}", why.why);
    }
}

//! Reads what `faults.bpf.c` counted.

use crate::counted::{COUNT_EVENTS, Counted, Plan, missing_tracepoint, shared_out};
use crate::tally::{Fields, trimmed, whole};
use crate::thin::{BUDGET, Cost, GATE, Rhythm, Set, Thinned};
use crate::{Reader, Scope};
use host::Host;
use host::bpf::Need;
use model::{NULL, Out, Unavailable};
use std::collections::{BTreeMap, HashMap};

static OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/faults.bpf.o"));

/// `KIND_…` and `ACCESS_…` of faults.bpf.c.
const KINDS: [&str; 2] = ["user", "kernel"];
const ACCESSES: [&str; 3] = ["read", "write", "exec"];
/// Bytes of `struct key`.
const KEY: usize = 4 * 4 + 16;
/// Nanoseconds of CPU time that a fault costs more where it is counted.
const COST: Cost = Cost { each: 100 };

/// Reads page faults.
pub struct Faults {
    counted: Counted,
}

impl Faults {
    /// Loads and attaches the programs.
    pub fn open(host: &Host, scope: &Scope) -> Result<Self, Unavailable> {
        if let Some(lacks) = missing_tracepoint(host, &["page_fault_user", "page_fault_kernel"])? {
            let why = format!("tracepoint {lacks}: this kernel does not have it for this processor");
            let else_where =
                "their number is in `process` (minor_faults, major_faults); where they happen is not known here";
            return Err(Unavailable::absent(why).remedy(else_where));
        }
        Need::all(host, &[Need::TASK_STORAGE, Need::TASK_REGISTERS])?;
        let plan = Plan {
            name: "faults",
            object: OBJECT,
            attach: &[],
            without: &[],
            constants: &[],
            thinned: Some(Thinned {
                what: "page faults",
                sets: &[Set { counter: COUNT_EVENTS, programs: &["user_faults", "kernel_faults"] }],
                cost: COST,
                rhythm: Rhythm::SHORT,
                budget: BUDGET,
                expected: 0.0,
                gate: GATE,
            }),
        };
        Ok(Faults { counted: Counted::open(host, scope, &plan)? })
    }
}

impl Reader for Faults {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        self.counted.say_estimated(out, "page_fault");
        let Some(sums) = self.counted.take_thinned(host)? else {
            self.counted.report(out, 1);
            return Ok(());
        };
        let span = self.counted.span();
        let mut taken: HashMap<Vec<u8>, BTreeMap<i64, u64>> = HashMap::new();
        for event in self.counted.stacks(KEY, 0) {
            *taken.entry(event.key).or_default().entry(event.stack).or_default() += 1;
        }
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_unstable();
        for (key, values) in sums {
            let total = span.scaled(values.first().copied().unwrap_or(0));
            let stacks = taken.remove(&key).unwrap_or_else(|| BTreeMap::from([(NULL, 1)]));
            let parts: Vec<u64> = stacks.values().copied().collect();
            let mut fields = Fields::of(&key);
            let (pid, kind, access, comm) = (fields.u32(), fields.u32(), fields.u32(), fields.name());
            for (stack, count) in stacks.keys().zip(shared_out(total, &parts)) {
                let kind = out.text(KINDS.get(kind as usize).copied().unwrap_or("user"));
                let access = out.text(ACCESSES.get(access as usize).copied().unwrap_or("read"));
                let comm = out.bytes(trimmed(&comm));
                out.row(0, &[i64::from(pid), comm, kind, access, *stack, whole(count)]);
            }
        }
        self.counted.report(out, 1);
        Ok(())
    }

    fn ends(&mut self) {
        self.counted.ends();
    }
}

//! Reads what `ipis.bpf.c` counted.

use crate::counted::{Counted, Plan, Sums, Taken, missing_tracepoint};
use crate::tally::{Fields, trimmed, whole};
use crate::thin::{BUDGET, Cost, GATE, Rhythm, Set, Thinned};
use crate::{Reader, Scope, parse};
use host::Host;
use model::{NULL, Out, Unavailable};
use std::collections::HashMap;

static OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/ipis.bpf.o"));

/// `KIND_…` of ipis.bpf.c.
const KINDS: [&str; 4] = ["call", "reschedule", "tlb", "irq_work"];
const KIND_TLB: u32 = 2;
/// Bytes of `struct key`.
const KEY: usize = 4 * 4 + 8 + 2 * 16;

/// What a program takes: little where there is nothing to count, some 400 ns where there is.
const COST: Cost = Cost { each: 150 };
/// Each program by itself, for as a rule two of them run often; from `COUNT_FLUSHES` on.
const SETS: [Set<'_>; 4] = [
    Set { counter: 3, programs: &["tlb_is_flushed"] },
    Set { counter: 4, programs: &["call_is_queued"] },
    Set { counter: 5, programs: &["one_is_interrupted"] },
    Set { counter: 6, programs: &["many_are_interrupted"] },
];

/// Reads interrupts between CPUs.
pub struct Ipis {
    counted: Counted,
    without_tlb: bool,
    without_stacks: Option<Unavailable>,
}

impl Ipis {
    /// Loads and attaches the programs.
    pub fn open(host: &Host, scope: &Scope) -> Result<Self, Unavailable> {
        if let Some(lacks) = missing_tracepoint(host, &["ipi_send_cpu", "ipi_send_cpumask", "csd_queue_cpu"])? {
            let why = format!("tracepoint {lacks}: this kernel does not tell who interrupts other CPUs");
            return Err(Unavailable::absent(why).remedy("Linux 6.4 or newer"));
        }
        // Processors that tell each other in hardware (aarch64) have none.
        let without_tlb = missing_tracepoint(host, &["tlb_flush"])?.is_some();
        let without: &[&str] = if without_tlb { &["tlb_is_flushed"] } else { &[] };
        let sets = SETS.get(without.len()..).unwrap_or_default();
        let words =
            host.open("/sys/devices/system/cpu/possible").and_then(|mut f| Ok(cpus(f.read(host)?).div_ceil(64)));
        let words: u32 = words.unwrap_or(1).max(1);
        let thinned = Thinned {
            what: "interrupts between CPUs",
            sets,
            cost: COST,
            rhythm: Rhythm::SHORT,
            budget: BUDGET,
            expected: 0.0,
            gate: GATE,
        };
        let constants: &[(&str, &[u8])] = &[("cpu_words", &words.to_ne_bytes())];
        let counted = Counted::open(
            host,
            scope,
            &Plan { name: "ipis", object: OBJECT, attach: &[], without, constants, thinned: Some(thinned) },
        )?;
        Ok(Ipis { counted, without_tlb, without_stacks: scope.target.somebody().err() })
    }
}

/// One more than the last number of a list such as "0-3,8-11".
fn cpus(list: &[u8]) -> u32 {
    let last = list.trim_ascii().rsplit(|&b| b == b'-' || b == b',').next().unwrap_or_default();
    u32::try_from(parse::number(last)).map_or(1, |n| n.saturating_add(1))
}

impl Reader for Ipis {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        if std::mem::take(&mut self.without_tlb) {
            let why = "this kernel has no tracepoint tlb_flush: as a rule its processors keep their TLBs alike without interrupts";
            out.missing("tlb", Unavailable::not_applicable(why));
        }
        if let Some(why) = self.without_stacks.take() {
            out.missing("ipi.stack", why);
        }
        self.counted.say_estimated(out, "ipi");
        let Some(mut sums) = self.counted.take_thinned(host)? else {
            self.counted.report(out, 1);
            return Ok(());
        };
        let taken = self.counted.stacks(KEY, 3);
        for ((key, stack), values) in by_stack(taken, &mut sums) {
            row(&self.counted, out, &key, stack, &values);
        }
        let mut rest: Vec<_> = sums.into_iter().collect();
        rest.sort_unstable();
        for (key, values) in rest {
            if values.first().is_some_and(|&count| count > 0) {
                row(&self.counted, out, &key, NULL, &values);
            }
        }
        self.counted.report(out, 1);
        Ok(())
    }

    fn ends(&mut self) {
        self.counted.ends();
    }
}

/// Key and stack, and what was summed of them.
type OfStack = ((Vec<u8>, i64), Vec<u64>);

/// The events with stacks, summed by key and stack; they are taken off `sums`.
fn by_stack(taken: Vec<Taken>, sums: &mut Sums) -> Vec<OfStack> {
    let mut by: HashMap<(Vec<u8>, i64), Vec<u64>> = HashMap::new();
    for event in taken {
        // A stack that is nothing tells nothing: the event stays in the row without.
        let Some(rest) = sums.get_mut(&event.key).filter(|_| event.stack != NULL) else { continue };
        if rest.iter().zip(&event.sums).any(|(rest, value)| rest < value) {
            continue;
        }
        rest.iter_mut().zip(&event.sums).for_each(|(rest, value)| *rest -= value);
        let to = by.entry((event.key, event.stack)).or_insert_with(|| vec![0; event.sums.len()]);
        to.iter_mut().zip(&event.sums).for_each(|(sum, value)| *sum += value);
    }
    let mut by: Vec<_> = by.into_iter().collect();
    by.sort_unstable();
    by
}

fn row(counted: &Counted, out: &mut Out<'_>, key: &[u8], stack: i64, values: &[u64]) {
    let mut fields = Fields::of(key);
    let (cpu, kind, pid, function) = (fields.u32(), fields.u32(), fields.u32(), fields.u64());
    let (comm, thread) = (fields.name(), fields.name());
    let [count, targets, pages] = *values else { return };
    let [count, targets, pages] = [count, targets, pages].map(|value| counted.span().scaled(value));
    let name = KINDS.get(kind as usize).copied().unwrap_or("call");
    let is_interrupt = comm == [0; 16];
    let cells = [
        i64::from(cpu),
        out.text(name),
        counted.function(function, out),
        i64::from(pid),
        if is_interrupt { out.text("(interrupt)") } else { out.bytes(trimmed(&comm)) },
        if is_interrupt { NULL } else { out.bytes(trimmed(&thread)) },
        stack,
        whole(targets),
        whole(count),
        if kind == KIND_TLB { whole(pages) } else { NULL },
    ];
    out.row(0, &cells);
}

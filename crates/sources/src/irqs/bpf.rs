//! Reads what `irqs.bpf.c` counted.

use crate::counted::{Counted, Plan, Totals};
use crate::tally::{Fields, whole};
use crate::thin::{BUDGET, Cost, GATE, Rhythm, Set, Thinned};
use crate::{Reader, Scope};
use host::Host;
use model::{NULL, Out, Unavailable};

static OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/irqs.bpf.o"));

/// `KIND_…` of irqs.bpf.c: both kinds of timers go by one name.
const KINDS: [&str; 4] = ["irq", "softirq", "timer", "timer"];
const KIND_SOFTIRQ: u32 = 1;
/// include/linux/interrupt.h, as `/proc/softirqs` names them.
const SOFTIRQS: [&str; 10] =
    ["HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"];
const NAME: usize = 24;
/// Nanoseconds of CPU time that a run costs with its two hooks, measured at 160,000 soft interrupts a second.
const COST: Cost = Cost { each: 250 };
/// Of each kind, which has a counter of its own from `COUNT_KINDS` on.
const SETS: [Set<'_>; 4] = [
    Set { counter: 3, programs: &["handler_ends", "handler_begins"] },
    Set { counter: 4, programs: &["softirq_ends", "softirq_begins"] },
    Set { counter: 5, programs: &["timer_ends", "timer_begins"] },
    Set { counter: 6, programs: &["hrtimer_ends", "hrtimer_begins"] },
];

/// Reads time in interrupts.
pub struct Irqs {
    counted: Counted,
    totals: Totals,
}

impl Irqs {
    /// Loads and attaches the programs.
    pub fn open(host: &Host, scope: &Scope) -> Result<Self, Unavailable> {
        let counted = Counted::open_unscoped(
            host,
            scope,
            &Plan {
                name: "irqs",
                object: OBJECT,
                attach: &[],
                without: &[],
                constants: &[],
                thinned: Some(Thinned {
                    what: "interrupts",
                    sets: &SETS,
                    cost: COST,
                    rhythm: Rhythm::SHORT,
                    budget: BUDGET,
                    expected: 0.0,
                    gate: GATE,
                }),
            },
        )?;
        Ok(Irqs { counted, totals: Totals::default() })
    }
}

impl Reader for Irqs {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        self.counted.say_estimated(out, "interrupt_time");
        let Some(sums) = self.counted.take_thinned(host)? else {
            self.counted.report(out, 1);
            return Ok(());
        };
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_unstable();
        let span = self.counted.span();
        for (key, values) in sums {
            let mut fields = Fields::of(&key);
            let (cpu, kind, number, function) = (fields.u32(), fields.u32(), fields.u32(), fields.u64());
            let name = fields.bytes(NAME).split(|&b| b == 0).next().unwrap_or_default();
            let name = match SOFTIRQS.get(number as usize) {
                Some(softirq) if kind == KIND_SOFTIRQ => out.text(softirq),
                _ if function != 0 => self.counted.function(function, out),
                _ if name.is_empty() => out.text(&format!("interrupt {number}")),
                _ => out.bytes(name),
            };
            let kind = out.text(KINDS.get(kind as usize).copied().unwrap_or("irq"));
            let [count, time, longest] = *values else { continue };
            let longest = if self.counted.again() { 0 } else { longest };
            // The longest does not add up: it is handed over as what is new, and two that meet here are rare.
            self.totals.add(vec![i64::from(cpu), kind, name], &[span.scaled(count), span.scaled(time), longest]);
        }
        self.totals.each(|labels, values, new| {
            let ([count, time, _], [.., longest]) = (values, new) else { return };
            let longest = if *longest == 0 { NULL } else { whole(*longest) };
            let cells: Vec<i64> = labels.iter().copied().chain([whole(*count), whole(*time), longest]).collect();
            out.row(0, &cells);
        });
        self.counted.report(out, 1);
        Ok(())
    }

    fn ends(&mut self) {
        self.counted.ends();
    }
}

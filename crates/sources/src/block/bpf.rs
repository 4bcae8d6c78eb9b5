//! Reads what `block.bpf.c` counted.

use crate::counted::{Counted, Plan, Totals, missing_tracepoint};
use crate::tally::{Fields, process_name, whole};
use crate::{Reader, Scope};
use host::Host;
use model::{Out, Unavailable};

static OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/block.bpf.o"));

/// Reads block I/O.
pub struct Block {
    counted: Counted,
    totals: Totals,
    without_start: bool,
}

impl Block {
    /// Loads and attaches the programs.
    pub fn open(host: &Host, scope: &Scope) -> Result<Self, Unavailable> {
        let without_start = missing_tracepoint(host, &["block_io_start"])?.is_some();
        let without = if without_start { "request_is_made" } else { "request_is_queued" };
        let programs =
            ["request_ends", "request_is_merged", "request_is_issued", "request_is_made", "request_is_queued"];
        let constants: &[(&str, &[u8])] = &[("knows_start", &[u8::from(!without_start)])];
        let counted = Counted::open_unscoped(
            host,
            scope,
            &Plan { name: "block", object: OBJECT, attach: &programs, without: &[without], constants, thinned: None },
        )?;
        Ok(Block { counted, totals: Totals::default(), without_start })
    }
}

/// `enum req_op` of include/linux/blk_types.h.
fn operation(op: u32) -> String {
    match op {
        0 => "read".into(),
        1 => "write".into(),
        2 => "flush".into(),
        3 => "discard".into(),
        5 => "secure erase".into(),
        9 => "write zeroes".into(),
        op => format!("operation {op}"),
    }
}

impl Reader for Block {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        if std::mem::take(&mut self.without_start) {
            let why = "tracepoint block_io_start: this kernel does not tell who asks for a request before it is queued; flushes are those that it sends, and are its own";
            out.missing("who asks", Unavailable::absent(why).remedy("Linux 6.5 or newer"));
        }
        let mut sums: Vec<_> = self.counted.take(host)?.into_iter().collect();
        sums.sort_unstable();
        for (key, values) in sums {
            let mut fields = Fields::of(&key);
            let (op, is_kernel_thread, _) = (fields.u32(), fields.u32() != 0, fields.u32());
            let device = fields.bytes(32).split(|&b| b == 0).next().unwrap_or_default();
            let labels = vec![
                if device.is_empty() { out.text("(none)") } else { out.bytes(device) },
                out.bytes(process_name(&fields.name(), is_kernel_thread)),
                out.text(&operation(op)),
            ];
            self.totals.add(labels, &values);
        }
        self.totals.each(|labels, values, _| {
            let cells: Vec<i64> = labels.iter().copied().chain(values.iter().copied().map(whole)).collect();
            out.row(0, &cells);
        });
        self.counted.report(out, 1);
        Ok(())
    }
}

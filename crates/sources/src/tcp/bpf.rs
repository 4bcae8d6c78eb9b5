//! Reads what `tcp.bpf.c` counted.

use crate::counted::{Counted, Plan, Totals, knows, missing_tracepoint};
use crate::tally::{Fields, process_name, whole};
use crate::thin::{BUDGET, Cost, GATE, Rhythm, Set, Thinned};
use crate::{Reader, Scope};
use host::Host;
use host::bpf::{Need, arguments};
use model::{NULL, Out, Unavailable};

static OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/tcp.bpf.o"));

const PROGRAMS: [&str; 3] = ["packet_is_dropped", "segment_is_sent_again", "state_changes"];
/// What sees stalls: both run for each write and each packet.
const STALLS: [&str; 2] = ["packet_comes", "socket_is_written"];
/// Where they count their runs: `COUNT_PACKETS` of tcp.bpf.c.
const COUNT_PACKETS: u32 = 3;
/// The last of the sums are theirs: stalls and their time.
const THINNED: usize = 2;
/// What a run costs.
const COST: Cost = Cost { each: 90 };

/// Reads TCP by process.
pub struct Tcp {
    counted: Counted,
    totals: Totals,
    has_stalls: bool,
    has_overflows: bool,
    said: bool,
}

impl Tcp {
    /// Loads and attaches the programs.
    pub fn open(host: &Host, scope: &Scope) -> Result<Self, Unavailable> {
        Need::all(host, &[Need::CURRENT_TASK])?;
        let has_stalls = missing_tracepoint(host, &["sock_send_length", "tcp_probe"])?.is_none();
        // The reason, and the socket as the fourth argument.
        let has_overflows =
            knows(host, "SKB_DROP_REASON_TCP_LISTEN_OVERFLOW")? && arguments("kfree_skb").is_some_and(|n| n >= 4);
        let mut without = Vec::new();
        if !has_stalls {
            without.extend(STALLS);
        }
        if !has_overflows {
            without.push("packet_is_dropped");
        }
        let stalls = Thinned {
            what: "packets",
            sets: &[Set { counter: COUNT_PACKETS, programs: &STALLS }],
            cost: COST,
            rhythm: Rhythm::LONG,
            budget: BUDGET,
            expected: 0.0,
            gate: GATE,
        };
        let plan = Plan {
            name: "tcp",
            object: OBJECT,
            attach: &PROGRAMS,
            without: &without,
            constants: &[],
            thinned: has_stalls.then_some(stalls),
        };
        let counted = Counted::open_unscoped(host, scope, &plan)?;
        Ok(Tcp { counted, totals: Totals::default(), has_stalls, has_overflows, said: false })
    }

    fn say_what_is_missing(&mut self, out: &mut Out<'_>) {
        if std::mem::replace(&mut self.said, true) {
            return;
        }
        if !self.has_stalls {
            let why = "tracepoint sock_send_length: this kernel does not tell who writes to a socket";
            out.missing("delayed_ack_stalls", Unavailable::absent(why).remedy("Linux 6.4 or newer"));
        }
        if !self.has_overflows {
            let why = "tracepoint kfree_skb: this kernel does not tell the socket, or this reason, of packets that it throws away";
            out.missing("listen_overflows", Unavailable::absent(why).remedy("Linux 6.15 or newer"));
        }
    }
}

impl Reader for Tcp {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        self.say_what_is_missing(out);
        self.counted.say_estimated(out, "delayed_ack_stalls");
        let mut sums: Vec<_> = self.counted.take_partly_thinned(host, THINNED)?.into_iter().collect();
        sums.sort_unstable();
        let span = self.counted.span();
        for (key, mut values) in sums {
            if let [.., stalls, time] = values.as_mut_slice() {
                (*stalls, *time) = (span.scaled_wait(*stalls), span.scaled_wait(*time));
            }
            let mut fields = Fields::of(&key);
            let (is_kernel_thread, comm) = (fields.u32() != 0, fields.name());
            let comm = match process_name(&comm, is_kernel_thread) {
                [] => out.text("(unknown)"),
                name => out.bytes(name),
            };
            self.totals.add(vec![comm], &values);
        }
        let (has_stalls, has_overflows) = (self.has_stalls, self.has_overflows);
        self.totals.each(|labels, values, _| {
            let (Some(&comm), [retransmits, connects, time, overflows, stalls, stall_time]) = (labels.first(), values)
            else {
                return;
            };
            let or_null = |is_there: bool, value: u64| if is_there { whole(value) } else { NULL };
            out.row(
                0,
                &[
                    comm,
                    whole(*retransmits),
                    whole(*connects),
                    whole(*time),
                    or_null(has_overflows, *overflows),
                    or_null(has_stalls, *stalls),
                    or_null(has_stalls, *stall_time),
                ],
            );
        });
        self.counted.report(out, 1);
        Ok(())
    }

    fn ends(&mut self) {
        self.counted.ends();
    }
}

//! What samples are taken by where there are counters: cycles, and instructions where that leaves enough for the groups. The source `stacks` takes them;
//! both ask here, the first of them before any group is open.

use super::devices::{DEVICES, devices};
use super::{exercise, instances};
use crate::Scope;
use host::Host;
use host::counting::{Counting, Event, Whom};
use model::Unavailable;
use std::sync::{Arc, OnceLock};

/// The generic events of hardware (`enum perf_hw_id`, include/uapi/linux/perf_event.h).
const CYCLES: Event = Event { kind: 0, config: 0, config1: 0, config2: 0, kernel_only: false };
const INSTRUCTIONS: Event = Event { config: 1, ..CYCLES };

/// So many counters must be left to the groups: as many as the group `core` takes at once.
const LEFT: usize = 4;

/// Whether samples are taken by instructions, found out when it is first asked for. Cheap to clone; all clones are one.
#[derive(Clone, Debug, Default)]
pub struct ByInstructions(Arc<OnceLock<Result<(), Unavailable>>>);

impl ByInstructions {
    /// Whether they are.
    ///
    /// # Errors
    /// Why not, and what would change that.
    pub fn get(&self, host: &Host) -> Result<(), Unavailable> {
        self.0.get_or_init(|| find_out(host)).clone()
    }
}

/// The events that samples of a recording are taken by.
pub(super) fn events(host: &Host, scope: &Scope) -> Vec<Event> {
    if scope.hertz == 0 {
        return Vec::new();
    }
    match scope.by_instructions.get(host) {
        Ok(()) => vec![CYCLES, INSTRUCTIONS],
        Err(_) => vec![CYCLES],
    }
}

fn find_out(host: &Host) -> Result<(), Unavailable> {
    let absent = |why: String| Err(Unavailable::absent(why).remedy(instances::remedy(host)));
    if !devices(host).iter().any(|device| device.is_core) {
        return absent(format!("this machine has no PMU of its CPUs, or is shown none ({DEVICES})"));
    }
    for (name, event) in [("cycles", CYCLES), ("instructions", INSTRUCTIONS)] {
        match exercise::of_loop(host, event, 1) {
            Err(refused) if refused.is_denied() => {
                return Err(Unavailable::denied(refused.why()).remedy(host::perf::REMEDY));
            }
            Err(refused) => return absent(format!("{name}: {}", refused.why())),
            Ok(reading) if reading.running == 0 => {
                return Err(Unavailable::absent(format!("{name} find no counter: others hold them")));
            }
            Ok(reading) if reading.counts == [0] => {
                return absent(format!("the event of {name} opens, but does not count"));
            }
            Ok(_) => {}
        }
    }
    if let Some(why) = exercise::miscounts(host, INSTRUCTIONS) {
        return absent(format!("the event of instructions {why}"));
    }
    let held: Vec<Counting> =
        [CYCLES, INSTRUCTIONS].iter().filter_map(|event| Counting::open(host, &[*event], Whom::Held).ok()).collect();
    let left = exercise::at_once(host, INSTRUCTIONS);
    drop(held);
    if left < LEFT {
        let why = format!("they would leave {left} counters to groups, of which one takes {LEFT} at once");
        let watchdog = host.read_number("/proc/sys/kernel/nmi_watchdog").is_ok_and(|on| on == 1);
        let remedy = if watchdog {
            "sysctl kernel.nmi_watchdog=0 gives one counter more".to_owned()
        } else {
            instances::remedy(host)
        };
        return Err(Unavailable::absent(why).remedy(remedy));
    }
    Ok(())
}

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
                let why = format!("{name} find no counter: others hold them");
                return Err(Unavailable::absent(why).remedy(host::perf::HELD_REMEDY));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::host_of;
    use host::counting::RECORDED;
    use model::Status;

    /// A machine with so many counters, and what the loop counts by cycles and by instructions.
    fn found(counters: usize, lines: &str, watchdog: &str) -> Result<(), Unavailable> {
        let (_dir, host) = host_of(&[
            (&format!("{DEVICES}/cpu/type"), "4\n"),
            ("/proc/sys/kernel/nmi_watchdog", watchdog),
            (RECORDED, &format!("counters 0 {counters}\n{lines}")),
        ]);
        let by_instructions = ByInstructions::default();
        let found = by_instructions.get(&host);
        assert_eq!(found, by_instructions.clone().get(&host), "found out once");
        let scope = Scope { by_instructions, hertz: 99, ..Scope::default() };
        assert_eq!(events(&host, &scope).len(), if found.is_ok() { 2 } else { 1 });
        assert_eq!(events(&host, &Scope::default()), []);
        found
    }

    #[test]
    fn instructions_are_sampled_by_where_they_count_and_leave_room() {
        const COUNTS: &str = "count 0 0 loop 500000 50 50\ncount 0 1 loop 400010 50 50\n";
        assert_eq!(found(4, COUNTS, "1"), Ok(()));
        let why = |counters, lines, watchdog| {
            let why = found(counters, lines, watchdog).unwrap_err();
            assert_eq!(why.status, Status::Absent, "{why:?}");
            (why.why, why.remedy.unwrap_or_default())
        };
        let (few, remedy) = why(3, COUNTS, "1");
        assert_eq!(few, "they would leave 3 counters to groups, of which one takes 4 at once");
        assert_eq!(remedy, "sysctl kernel.nmi_watchdog=0 gives one counter more");
        assert!(why(3, COUNTS, "0").1.starts_with("record on the host"));
        let mute = "count 0 0 loop 500000 50 50\ncount 0 1 loop 0 50 50\n";
        assert_eq!(why(6, mute, "0").0, "the event of instructions opens, but does not count");
        let off = "count 0 0 loop 500000 50 50\ncount 0 1 loop 200000 50 50\n";
        assert_eq!(why(6, off, "0").0, "the event of instructions counts 50.0 % fewer than a loop has");
        let held = "count 0 0 loop 0 50 0\ncount 0 1 loop 400010 50 50\n";
        assert_eq!(why(6, held, "0").0, "cycles find no counter: others hold them");
        assert_eq!(why(6, "count 0 0 loop 500000 50 50\n", "0").0, "instructions: this machine does not have it");
        assert_eq!(found(6, "refuse 0 0x0 13\n", "0").unwrap_err().status, Status::Denied);
        let (_dir, host) = host_of(&[]);
        assert!(ByInstructions::default().get(&host).unwrap_err().why.starts_with("this machine has no PMU"));
    }
}

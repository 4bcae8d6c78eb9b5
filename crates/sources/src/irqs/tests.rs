//! Tests against the kernel's own counts.

use super::SOURCE;
use crate::tally::testing::Live;
use std::time::Duration;

/// Runs of a soft interrupt since boot, over all CPUs.
fn softirqs(kind: &str) -> i64 {
    let text = std::fs::read_to_string("/proc/softirqs").unwrap();
    let line = text.lines().find(|l| l.trim_start().starts_with(&format!("{kind}:"))).unwrap();
    line.split_ascii_whitespace().skip(1).map(|n| n.parse::<i64>().unwrap()).sum()
}

#[test]
fn counts_are_those_of_the_kernel() {
    let outer = ["TIMER", "SCHED", "RCU"].map(softirqs);
    let Some(mut live) = Live::open(&SOURCE) else { return };
    live.read();
    let inner = ["TIMER", "SCHED", "RCU"].map(softirqs);
    for _ in 0..5 {
        std::thread::sleep(Duration::from_millis(100));
        live.read();
    }
    let inner_end = ["TIMER", "SCHED", "RCU"].map(softirqs);
    live.read();
    let outer_end = ["TIMER", "SCHED", "RCU"].map(softirqs);
    for (at, kind) in ["TIMER", "SCHED", "RCU"].into_iter().enumerate() {
        let of =
            |column: &str| live.reached("interrupt_time", column, &[("kind", "softirq"), ("name", kind)], |_| true);
        let (least, most) = (inner_end[at] - inner[at], outer_end[at] - outer[at]);
        eprintln!("{kind}: {least} <= {} <= {most}, {} us", of("count"), of("time") / 1000);
        // One may run on each CPU when a side is read.
        assert!(of("count") >= least - 8 && of("count") <= most + 8, "{kind} {least} {} {most}", of("count"));
        assert!(of("time") >= 0);
    }
    let timers: Vec<_> = live.rows("interrupt_time").iter().filter(|r| r[1] == "timer").map(|r| r[2].clone()).collect();
    assert!(!timers.is_empty());
    assert!(timers.iter().all(|name| !name.contains('+')), "{timers:?}");
    eprintln!("timers: {timers:?}");
}

#[test]
fn a_recorded_host_has_none() {
    let why = crate::testing::play(&SOURCE, &crate::testing::fixture("vm-2cpu"), 1).err().unwrap();
    assert_eq!(why.status, model::Status::NotApplicable);
}

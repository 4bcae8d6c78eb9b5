//! Tests against a child that makes its writes durable.

use super::SOURCE;
use crate::tally::testing::{Live, child, is_child};
use std::io::{Seek, Write};
use std::time::Duration;

const SYNCS: i64 = 30;
const SIZE: usize = 64 * 1024;

fn syncs_much() {
    let mut file = tempfile::tempfile_in("/var/tmp").unwrap();
    for _ in 0..SYNCS {
        file.rewind().unwrap();
        file.write_all(&vec![7; SIZE]).unwrap();
        file.sync_data().unwrap();
    }
}

#[test]
fn writes_of_a_child_are_counted() {
    if is_child("syncs_much") {
        return syncs_much();
    }
    let Some(mut live) = Live::open(&SOURCE) else { return };
    live.read();
    let mut run = child("block::tests::writes_of_a_child_are_counted", "syncs_much");
    while run.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(20));
        live.read();
    }
    live.read();
    let of = |op: &str, column: &str| live.reached("block_io", column, &[("comm", "syncs_much"), ("op", op)], |_| true);
    let all = |op: &str, column: &str| live.reached("block_io", column, &[("op", op)], |_| true);
    let (writes, bytes, flushes) = (of("write", "count"), of("write", "bytes"), of("flush", "count"));
    eprintln!(
        "{writes} writes of {bytes} bytes, {flushes} flushes; of all {} writes, {} flushes",
        all("write", "count"),
        all("flush", "count")
    );
    if all("write", "count") == 0 {
        eprintln!("SKIPPED: block requests: /var/tmp is on no block device that has any");
        return;
    }
    // fdatasync sends the data itself, but for what writeback took first; and the device may have no cache to flush.
    assert!(bytes <= SYNCS * SIZE as i64 + (1 << 20), "{bytes}");
    assert!(writes > 0 && bytes > SYNCS * SIZE as i64 / 2, "{writes} {bytes}");
    assert!(flushes <= SYNCS * 2, "{flushes}");
    let buckets: i64 = (0..32).map(|b| of("write", &format!("b{b}"))).sum();
    assert_eq!(buckets, writes);
    assert!(of("write", "time") > 0 && of("write", "queued") >= 0);
}

#[test]
fn a_recorded_host_has_none() {
    let why = crate::testing::play(&SOURCE, &crate::testing::fixture("vm-2cpu"), 1).err().unwrap();
    assert_eq!(why.status, model::Status::NotApplicable);
}

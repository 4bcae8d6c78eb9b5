//! Files of other profilers: the first byte chooses between perf.data and what is told apart by its content (perf script, collapsed stacks, pprof).
#![no_main]

use import::{Options, Profile, parse, perf};
use libfuzzer_sys::fuzz_target;
use std::io::Cursor;

/// What comes before the records of a perf.data from a pipe, and one event: so that most inputs get as far as samples.
fn with_an_event(records: &[u8]) -> Vec<u8> {
    let mut bytes = b"PERFILE2".to_vec();
    bytes.extend(16u64.to_le_bytes());
    // PERF_RECORD_HEADER_ATTR: cpu-clock, samples with address, thread, time, chain, CPU and period.
    bytes.extend(64u32.to_le_bytes());
    bytes.extend([0, 0, 72, 0]);
    bytes.extend(1u32.to_le_bytes());
    bytes.extend(64u32.to_le_bytes());
    for word in [0u64, 250_000, 0x1a7, 0, 1 << 18, 0, 0] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend(records);
    bytes
}

fuzz_target!(|data: &[u8]| {
    let Some((which, rest)) = data.split_first() else { return };
    // No symbols: a hostile file could name any file of this machine.
    let mut profile = Profile::new(Options { symbols: false, ..Options::default() });
    match which % 3 {
        0 => drop(parse(rest, &mut profile)),
        1 => drop(perf::read(&mut Cursor::new(rest), &mut profile)),
        _ => drop(perf::read(&mut Cursor::new(with_an_event(rest)), &mut profile)),
    }
    assert!(profile.samples.iter().all(|s| s.weight >= 0));
});

//! Files of other profilers: the first byte chooses between perf.data, JFR and what is told apart by its content (perf script, collapsed stacks, pprof,
//! JFR, GC logs, perf stat, archives of APerf).
#![no_main]

use import::{Options, Profile, jfr, parse, perf};
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

/// A chunk of JFR with the metadata of the seed, so that most inputs get as far as events and constants.
fn with_metadata(events: &[u8]) -> Vec<u8> {
    let seed = &include_bytes!("../seeds/import/jfr")[1..];
    // The size of the metadata, which come first, is of two bytes.
    let size = usize::from(seed[68] & 0x7f) | usize::from(seed[69]) << 7;
    let mut bytes = seed[..68 + size].to_vec();
    bytes.extend(events);
    // Unfinished: as long as it is.
    bytes[8..16].fill(0);
    bytes
}

fuzz_target!(|data: &[u8]| {
    let Some((which, rest)) = data.split_first() else { return };
    // No symbols: a hostile file could name any file of this machine.
    let mut profile = Profile::new(Options { symbols: false, ..Options::default() });
    match which % 4 {
        0 => drop(parse(rest, &mut profile)),
        3 => drop(jfr::read(&mut Cursor::new(with_metadata(rest)), &mut profile)),
        1 => drop(perf::read(&mut Cursor::new(rest), &mut profile)),
        _ => drop(perf::read(&mut Cursor::new(with_an_event(rest)), &mut profile)),
    }
    assert!(profile.samples.iter().all(|s| s.weight >= 0));
});

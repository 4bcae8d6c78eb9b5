//! A commit of the open tail, and the ticks of a segment.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let (chunks, error) = store::fuzzing::tail(data);
    // Each cell takes a byte at least: lengths that lie do not allocate.
    assert!(chunks.iter().map(|chunk| chunk.cells.len()).sum::<usize>() <= data.len());
    assert!(error.is_some() || data.is_empty() || !chunks.is_empty());
    if let Ok(ticks) = store::fuzzing::ticks(data) {
        assert!(ticks.is_sorted());
    }
});

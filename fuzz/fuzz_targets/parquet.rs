//! Tables in Parquet: bytes, and one that pandas wrote with some of them replaced.
#![no_main]

use import::monitoring::fuzzing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(init: common::tolerate_parquet(), |data: &[u8]| {
    let whole = include_bytes!("../../fixtures/imports/tables/pandas.parquet");
    let Some((which, rest)) = data.split_first() else { return };
    if which % 4 == 0 {
        return fuzzing::parquet(rest.to_vec());
    }
    // Pairs of a place and a byte.
    let mut bytes = whole.to_vec();
    for change in rest.chunks_exact(3) {
        if let &[a, b, value] = change {
            let at = usize::from(u16::from_le_bytes([a, b])) % bytes.len();
            bytes[at] = value;
        }
    }
    fuzzing::parquet(bytes);
});

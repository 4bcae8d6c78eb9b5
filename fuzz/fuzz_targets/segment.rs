//! A sealed segment, as the reader decodes it: the input as it is, and the input as the Parquet file within.
#![no_main]

use libfuzzer_sys::fuzz_target;
use model::Symbols;

fuzz_target!(init: common::tolerate_parquet(), |data: &[u8]| {
    let columns = query::testing::ENDED.stored();
    let packed = zstd::bulk::compress(data, 1).unwrap_or_default();
    for bytes in [data, &packed] {
        let wanted = vec![true; columns.len()];
        if let Ok(block) = store::fuzzing::segment(bytes, &columns, &wanted, &mut Symbols::default()) {
            assert!(block.columns.iter().all(|column| column.len() == block.tick.len()));
        }
    }
});

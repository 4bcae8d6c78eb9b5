//! Files of monitoring systems and tables: the first byte chooses between answers of Prometheus, tables as text (with each preset), Parquet, and sar.
#![no_main]

use import::monitoring::fuzzing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((which, rest)) = data.split_first() else { return };
    match which % 8 {
        0 | 1 => fuzzing::prometheus(rest),
        2 => fuzzing::sar(rest),
        which => fuzzing::text(rest, usize::from(which) - 3),
    }
});

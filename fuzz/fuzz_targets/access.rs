//! Accesses that CPUs sample: packets of SPE, registers of IBS and the words of Linux, all of which lie in files of foreign machines. The first byte
//! chooses.
#![no_main]

use access::source::{Weight, data_source};
use access::spe::{Sources, operations};
use access::{Operation, ibs};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((which, rest)) = data.split_first() else { return };
    match which % 3 {
        0 => {
            let sources = if which & 4 == 0 { Sources::Neoverse } else { Sources::Unknown };
            let found = operations(rest, sources);
            assert!(found.operations.len() as u64 + found.damaged <= rest.len() as u64);
            assert!(found.operations.iter().all(|o| o.reads || !o.atomic));
        }
        1 => {
            let _ = ibs::operation(rest);
        }
        _ => {
            for word in rest.chunks_exact(8).filter_map(|b| Some(u64::from_le_bytes(b.try_into().ok()?))) {
                let of = data_source(word);
                assert!(!of.atomic || !of.reads || of.writes);
                let mut into = Operation::default();
                Weight::Whole(word).put(&mut into);
                Weight::Parts(word).put(&mut into);
            }
        }
    }
});

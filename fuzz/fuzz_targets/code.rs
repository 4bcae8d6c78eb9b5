//! Machine code, which comes from memory of other processes and from files: decoding, loops, bounds, samples anywhere in it, and two versions of it
//! aligned. The first byte chooses the machine, the second where the second version begins.
#![no_main]

use instructions::{Code, Machine, Rate, Sample, Skid, align, bound, calibrate, rate, start_of, steps, weigh};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let &[which, cut, ref bytes @ ..] = data else { return };
    let machine = if which % 2 == 0 { Machine::X86_64 } else { Machine::Aarch64 };
    // Near the end of the address space, too.
    let address = if which & 4 == 0 { 0x40_1000 } else { u64::MAX - 40 };
    let code = Code::new(machine, bytes, address);
    let length: usize = code.instructions.iter().map(|i| usize::from(i.length)).sum();
    assert_eq!(length, bytes.len());
    let sampled: Vec<(u64, u64)> = bytes.iter().map(|&b| (address.wrapping_add(u64::from(b)), 1)).collect();
    for skid in [Skid::None, Skid::One, Skid::Unknown] {
        let weights = weigh(&code, &sampled, skid);
        assert_eq!(weights.total(), sampled.len() as u64);
        assert_eq!(weights.by_wait(&code, skid).iter().map(|(_, n)| n).sum::<u64>(), weights.total());
    }
    let samples: Vec<Sample> = bytes
        .chunks(8)
        .enumerate()
        .map(|(n, chunk)| {
            let value = chunk.iter().fold(0u64, |all, &b| all.wrapping_mul(257).wrapping_add(u64::from(b)));
            let at = chunk.first().map_or(address, |&b| address.wrapping_add(u64::from(b)));
            Sample {
                address: at,
                task_clock: n as u64 * 1_000_000,
                registers: std::array::from_fn(|r| value.wrapping_mul(r as u64)),
            }
        })
        .collect();
    for which in &code.loops {
        steps(&code, which);
        if let Rate::Known(known) = rate(&code, which, [samples.as_slice()]) {
            assert!(known.ns > 0.0 && known.low <= known.ns && known.ns <= known.high);
        }
        if let Some(bound) = code.round(which, &|block| block as f64).and_then(|round| bound(&code, &round)) {
            assert!(bound.cycles >= 1.0);
        }
    }
    let other = Code::new(machine, bytes.get(usize::from(cut)..).unwrap_or(&[]), 0);
    let rows = align(&code, &other);
    assert_eq!(rows.iter().filter(|r| r.left.is_some()).count(), code.instructions.len());
    assert_eq!(rows.iter().filter(|r| r.right.is_some()).count(), other.instructions.len());
    let addresses: Vec<u64> = sampled.iter().map(|s| s.0).collect();
    start_of(machine, bytes, address, &addresses);
    calibrate(address, address.wrapping_add(3), &addresses);
});

//! How long rounds take, by samples as a CPU would give them.

use super::*;
use crate::rate as rate_of_many;

fn rate(code: &Code, which: &Loop, samples: &[Sample]) -> Rate {
    rate_of_many(code, which, [samples])
}

/// Samples of a loop: each so many rounds and so many ns after the one before, at the loop's instructions by turns. All counters are kept in step, as a
/// CPU would, also those that stand for the round's beginning within it.
fn run(
    code: &Code,
    which: &Loop,
    samples: usize,
    rounds: impl Fn(usize) -> i64,
    ns: impl Fn(usize) -> u64,
) -> Vec<Sample> {
    let steps = steps(code, which);
    let inside: Vec<usize> = which.blocks.iter().flat_map(|&b| code.blocks[b].first..code.blocks[b].end).collect();
    let mut begin: [u64; Register::GENERAL] = std::array::from_fn(|n| 0x5000 + n as u64 * 0x1_0000_0000);
    let mut clock = 0;
    let mut all = Vec::new();
    for n in 0..samples {
        for counter in &steps.counters {
            let value = &mut begin[counter.register.column().unwrap()];
            *value = value.wrapping_add((counter.step.wrapping_mul(rounds(n))) as u64);
            if counter.bits == 32 {
                *value = u64::from(*value as u32);
            }
        }
        clock += ns(n);
        let at = inside[n * 7 % inside.len()];
        let state = steps.at(at).unwrap();
        let registers = std::array::from_fn(|column| match state[column] {
            Some(value) => begin[value.of.column().unwrap()].wrapping_add(value.add as u64),
            None => 0xdead_0000 + n as u64 * 977,
        });
        all.push(Sample { address: code.instructions[at].address, task_clock: clock, registers });
    }
    all
}

#[test]
fn rounds_are_timed_by_registers() {
    for (compiler, machine) in ALL {
        for name in ["chase", "stream", "divides", "branches", "calls", "tight", "narrow"] {
            let code = function(compiler, machine, name);
            let which = only_loop(&code);
            if (compiler, name) == ("gcc", "calls") {
                // It knows which registers the callee uses, and keeps its counter in one that others would change: by convention it is lost.
                assert_eq!(rate(&code, which, &[]), Rate::Unknown(Why::NoCounter));
                continue;
            }
            let samples = run(&code, which, 100, |n| 1000 + (n as i64 * 37) % 11, |_| 1_000_000);
            let Rate::Known(known) = rate(&code, which, &samples) else {
                panic!("{compiler} {name}: {:?}", rate(&code, which, &samples))
            };
            assert!(
                (known.ns - 995.0).abs() < 5.0 && known.low <= known.ns && known.ns <= known.high,
                "{compiler} {name}: {known:?}"
            );
            assert!(known.pairs == 99 && known.spread < 0.02, "{known:?}");
        }
    }
}

#[test]
fn ways_that_are_not_taken_do_not_hide_a_counter() {
    // L: dec rax; jz out; test [rdi], rdi; jnz slow; back: jmp L; slow: call far; jmp back; out: ret. The call may change rax.
    let bytes = [
        0x48, 0xff, 0xc8, 0x74, 0x0e, 0x48, 0x85, 0x3f, 0x75, 0x02, 0xeb, 0xf4, 0xe8, 0x00, 0x10, 0x00, 0x00, 0xeb,
        0xf7, 0xc3,
    ];
    let code = Code::new(Machine::X86_64, &bytes, 0);
    let which = only_loop(&code);
    assert!(steps(&code, which).counters.is_empty());
    let sample = |n: u64| {
        let mut registers = [0x5000; 32];
        registers[0] = 1_000_000 - n * 1000;
        Sample { address: 5, task_clock: n * 1_000_000, registers }
    };
    let samples: Vec<Sample> = (0..50).map(sample).collect();
    assert!(
        matches!(rate(&code, which, &samples), Rate::Known(known) if (known.ns - 1000.0).abs() < 1e-6),
        "{:?}",
        rate(&code, which, &samples)
    );
    // Where it is taken, nothing can be said.
    let taken = Sample { address: 0x11, ..samples[49] };
    assert_eq!(rate(&code, which, &[samples, vec![taken]].concat()), Rate::Unknown(Why::NoCounter));
}

#[test]
fn what_does_not_count_is_unknown() {
    let spins = x86("spins");
    let which = only_loop(&spins);
    let sample = |n: u64| Sample {
        address: spins.instructions[spins.blocks[which.head].first].address,
        task_clock: n * 1_000_000,
        registers: [7; 32],
    };
    assert_eq!(rate(&spins, which, &(0..50).map(sample).collect::<Vec<_>>()), Rate::Unknown(Why::NoCounter));

    let chase = x86("chase");
    let which = only_loop(&chase);
    assert_eq!(
        rate(&chase, which, &run(&chase, which, 4, |_| 1000, |_| 1_000_000)),
        Rate::Unknown(Why::FewPairs { pairs: 3 })
    );
    // Left and entered again between any two samples: the counter is set anew each time.
    let resets = run(&chase, which, 60, |n| if n % 2 == 0 { 900 } else { -870 }, |_| 1_000_000);
    assert_eq!(rate(&chase, which, &resets), Rate::Unknown(Why::Reset));
    // Once in ten samples: the other pairs do, if samples that are further apart say the same.
    let far = |n: usize| [800, 1000, 1270][n / 20];
    let some = run(&chase, which, 60, |n| if n % 10 == 0 { -9000 } else { far(n) as i64 }, |n| far(n) * 1000);
    assert!(
        matches!(rate(&chase, which, &some), Rate::Known(known) if (known.ns - 1000.0).abs() < 1.0 && known.pairs < 59)
    );
    let even = run(&chase, which, 60, |n| if n % 10 == 0 { -9000 } else { 1000 }, |_| 1_000_000);
    assert_eq!(rate(&chase, which, &even), Rate::Unknown(Why::Reset));
    // Entered again every 0.77 ms, and sampled every millisecond: it seems to go on, at a third of its pace.
    let at = |ns: u64| (ns % 770_000 / 100) as i64;
    for far in [&[1_000_000u64][..], &[800_000, 1_000_000, 1_270_000]] {
        let clock = |n: usize| (0..n).map(|n| far[n / 20 % far.len()]).sum::<u64>();
        let wheels = run(&chase, which, 60, |n| at(clock(n + 1)) - at(clock(n)), |n| far[n / 20 % far.len()]);
        assert_eq!(rate(&chase, which, &wheels), Rate::Unknown(Why::Reset), "{far:?}");
    }
    // Faster than any CPU goes round.
    assert_eq!(rate(&chase, which, &run(&chase, which, 60, |_| 50_000_000, |_| 1_000_000)), Rate::Unknown(Why::Reset));
    // Anything between one and a thousand.
    let wild = run(&chase, which, 60, |n| [5, 1000, 17, 400, 90_000][n % 5], |_| 1_000_000);
    assert_eq!(rate(&chase, which, &wild), Rate::Unknown(Why::Unsteady));
    // Bursts far apart make no pairs.
    assert_eq!(
        rate(&chase, which, &run(&chase, which, 60, |_| 1000, |_| 9_000_000_000)),
        Rate::Unknown(Why::FewPairs { pairs: 0 })
    );
}

#[test]
fn another_frame_or_other_constants_are_another_run_of_the_loop() {
    let stream = x86("stream");
    let which = only_loop(&stream);
    let mut samples = run(&stream, which, 60, |_| 1000, |_| 1_000_000);
    for (n, sample) in samples.iter_mut().enumerate() {
        sample.registers[4] += n as u64 * 64;
    }
    assert_eq!(rate(&stream, which, &samples), Rate::Unknown(Why::Reset));
    let divides = x86("divides");
    let which = only_loop(&divides);
    let mut samples = run(&divides, which, 60, |_| 1000, |_| 1_000_000);
    for (n, sample) in samples.iter_mut().enumerate() {
        // rsi, the number of rounds, which the loop does not change.
        sample.registers[6] = n as u64;
    }
    assert_eq!(rate(&divides, which, &samples), Rate::Unknown(Why::Reset));
}

#[test]
fn counters_that_disagree_are_not_believed() {
    let stream = x86("stream");
    let which = only_loop(&stream);
    let mut samples = run(&stream, which, 60, |_| 1000, |_| 1_000_000);
    for (n, sample) in samples.iter_mut().enumerate() {
        sample.registers[7] += n as u64 * 64;
    }
    assert_eq!(rate(&stream, which, &samples), Rate::Unknown(Why::Reset));
}

#[test]
fn a_counter_of_32_bits_may_wrap() {
    let calls = x86("calls");
    let which = only_loop(&calls);
    // 0x5000 + 3 * 2^32 in rbx: its upper half is nothing; 50,000 rounds a sample from just below 2^32.
    let mut samples = run(&calls, which, 60, |_| 50_000, |_| 1_000_000);
    let first = samples[0].registers[3];
    for sample in &mut samples {
        sample.registers[3] = u64::from((sample.registers[3].wrapping_sub(first) as u32).wrapping_sub(70_000));
    }
    assert!(
        matches!(rate(&calls, which, &samples), Rate::Known(known) if (known.ns - 20.0).abs() < 0.1),
        "{:?}",
        rate(&calls, which, &samples)
    );
    // So far apart that it may have wrapped more than once.
    assert!(matches!(rate(&calls, which, &run(&calls, which, 60, |_| 50_000, |_| 150_000_000)), Rate::Known(_)));
    let far = run(&calls, which, 60, |_| 50_000, |_| 190_000_000);
    assert!(matches!(rate(&calls, which, &far), Rate::Known(_)));
    // sub ecx, 16; jne: a counter that wraps twice as often as samples are apart may have done so.
    let steep = Code::new(Machine::X86_64, &[0x83, 0xe9, 0x10, 0x75, 0xfb], 0);
    let far = run(&steep, only_loop(&steep), 60, |_| 50_000, |_| 60_000_000);
    assert_eq!(rate(&steep, only_loop(&steep), &far), Rate::Unknown(Why::FewPairs { pairs: 0 }));
    let near = run(&steep, only_loop(&steep), 60, |_| 50_000, |_| 1_000_000);
    assert!(matches!(rate(&steep, only_loop(&steep), &near), Rate::Known(_)));
}

/// Samples by two timers of a loop that is entered anew every `length` ns: a round takes `ns`, and each sample `cost` ns of its thread.
fn by_two_timers(code: &Code, which: &Loop, length: u64, ns: u64, cost: u64) -> Vec<Sample> {
    let mut times: Vec<u64> = [1_903_111u64, 2_171_927].iter().flat_map(|p| (1..300).map(move |n| n * p)).collect();
    times.sort_unstable();
    let gap = |n: usize| times[n] - n.checked_sub(1).map_or(0, |before| times[before]);
    let into = |at: u64| (at % length / ns) as i64;
    run(code, which, times.len(), |n| into(times[n]) - into(times[n] - gap(n)), |n| gap(n) + cost)
}

#[test]
fn two_timers_time_short_loops_and_leave_out_what_a_sample_costs() {
    let chase = x86("chase");
    let which = only_loop(&chase);
    for (length, pairs) in [(1_000_000_000u64, 200), (5_000_000, 100), (400_000, 12)] {
        let found = rate(&chase, which, &by_two_timers(&chase, which, length, 50, 9_000));
        let Rate::Known(known) = found else { panic!("runs of {length} ns: {found:?}") };
        assert!((known.ns - 50.0).abs() < 1.0 && known.pairs >= pairs, "runs of {length} ns: {known:?}");
    }
    // Most of them are over before the next sample.
    for (length, ns) in [(400_000, 1_600), (700_000, 50), (150_000, 900)] {
        let found = rate(&chase, which, &by_two_timers(&chase, which, length, ns, 9_000));
        let Rate::Known(known) = found else { panic!("runs of {length} ns: {found:?}") };
        let off = known.ns / ns as f64 - 1.0;
        assert!(off.abs() < 0.03 && known.low < known.ns && known.ns < known.high, "runs of {length} ns: {known:?}");
    }
    // Nothing lies so near to another.
    for length in [3_000, 10_000] {
        let found = rate(&chase, which, &by_two_timers(&chase, which, length, 50, 9_000));
        assert!(matches!(found, Rate::Unknown(_)), "runs of {length} ns: {found:?}");
    }
}

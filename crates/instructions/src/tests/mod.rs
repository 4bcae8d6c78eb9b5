//! Code that compilers made (`fixtures/instructions`), with what is known of it.

use crate::*;

mod rounds;

const LOOPS: &str = include_str!("../../../../fixtures/instructions/loops.txt");

/// A function of the fixture.
fn function(compiler: &str, machine: Machine, name: &str) -> Code {
    let word = match machine {
        Machine::X86_64 => "x86_64",
        Machine::Aarch64 => "aarch64",
    };
    let line = LOOPS
        .lines()
        .map(|line| line.split(' ').collect::<Vec<_>>())
        .find(|line| line[0] == compiler && line[1] == word && line[2] == name)
        .unwrap_or_else(|| panic!("no {compiler} {word} {name}"));
    let bytes: Vec<u8> =
        (0..line[4].len()).step_by(2).map(|at| u8::from_str_radix(&line[4][at..at + 2], 16).unwrap()).collect();
    Code::new(machine, &bytes, u64::from_str_radix(line[3], 16).unwrap())
}

const ALL: [(&str, Machine); 3] = [("clang", Machine::X86_64), ("gcc", Machine::X86_64), ("clang", Machine::Aarch64)];

fn x86(name: &str) -> Code {
    function("clang", Machine::X86_64, name)
}

fn arm(name: &str) -> Code {
    function("clang", Machine::Aarch64, name)
}

fn general(number: u8) -> Register {
    Register::general(number).unwrap()
}

fn one(machine: Machine, bytes: &[u8]) -> Instruction {
    let decoded = decode(machine, bytes, 0x1000);
    assert_eq!(decoded.len(), 1, "{decoded:?}");
    decoded[0].clone()
}

fn only_loop(code: &Code) -> &Loop {
    assert_eq!(code.loops.len(), 1, "{:?}", code.loops);
    &code.loops[0]
}

fn texts(code: &Code) -> Vec<&str> {
    code.instructions.iter().map(|i| i.text.as_str()).collect()
}

#[test]
fn all_of_the_fixture_is_instructions_end_to_end() {
    for line in LOOPS.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let machine = if words[1] == "aarch64" { Machine::Aarch64 } else { Machine::X86_64 };
        let code = function(words[0], machine, words[2]);
        assert!(code.instructions.iter().all(|i| i.work != Work::Unknown), "{line}: {:?}", texts(&code));
        let length: usize = code.instructions.iter().map(|i| usize::from(i.length)).sum();
        assert_eq!(length, words[4].len() / 2, "{line}");
        assert!(code.instructions.windows(2).all(|pair| pair[0].end() == pair[1].address), "{line}");
        assert!(code.blocks.windows(2).all(|pair| pair[0].end == pair[1].first), "{line}");
    }
}

#[test]
fn assembly_is_as_engineers_write_it() {
    let chase = x86("chase");
    assert_eq!(texts(&chase)[4..8], ["mov rax, [rax]", "add rsi, -1", "jne 0x10", "ret"]);
    let atomics = x86("atomics");
    assert!(texts(&atomics).contains(&"lock add qword ptr [rdi], 1"), "{:?}", texts(&atomics));
    assert_eq!(texts(&arm("chase")), ["cbz x1, 0x10", "ldr x0, [x0]", "subs x1, x1, #0x1", "b.ne 0x4", "ret"]);
    assert!(texts(&arm("stream")).contains(&"ldr x9, [x0], #0x40"), "{:?}", texts(&arm("stream")));
}

#[test]
fn x86_instructions_say_what_they_read_and_write() {
    // mov rax, [rdi+rcx*8+0x10]
    let load = one(Machine::X86_64, &[0x48, 0x8b, 0x44, 0xcf, 0x10]);
    let memory = load.memory.unwrap();
    assert_eq!(
        (memory.base, memory.index, memory.scale, memory.displacement, memory.size),
        (Some(general(7)), Some(general(1)), 8, 0x10, 8)
    );
    assert!(memory.reads && !memory.writes);
    assert_eq!(load.reads.iter().collect::<Vec<_>>(), [general(1), general(7)]);
    assert_eq!(load.writes.iter().collect::<Vec<_>>(), [general(0)]);
    // xor eax, eax: depends on nothing
    let zero = one(Machine::X86_64, &[0x31, 0xc0]);
    assert!(zero.reads.is_empty() && zero.writes.contains(general(0)) && zero.writes.contains(Register::FLAGS));
    // lea rax, [rbx+8]: no memory
    let lea = one(Machine::X86_64, &[0x48, 0x8d, 0x43, 0x08]);
    assert_eq!(lea.memory, None);
    assert_eq!(lea.assigns[0], Some(Assign { to: general(0), from: general(3), add: 8, bits: 64 }));
    // add dword ptr [rip+0x10], 1: where it is, whatever registers hold
    let place = one(Machine::X86_64, &[0x83, 0x05, 0x10, 0, 0, 0, 1]);
    assert_eq!(place.memory.map(|m| (m.absolute, m.reads, m.writes)), Some((Some(0x1017), true, true)));
    // mov rax, fs:[0x28]
    let own = one(Machine::X86_64, &[0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0]);
    assert!(own.memory.unwrap().of_thread);
    // push rbx
    let push = one(Machine::X86_64, &[0x53]);
    assert_eq!(push.assigns[1], Some(Assign { to: general(4), from: general(4), add: -8, bits: 64 }));
    assert!(push.stores());
}

#[test]
fn x86_work() {
    let cases: [(&[u8], Work, Flow); 22] = [
        (&[0xf0, 0x48, 0x0f, 0xb1, 0x0f], Work::Atomic, Flow::Next), // lock cmpxchg [rdi], rcx
        (&[0x48, 0x87, 0x07], Work::Atomic, Flow::Next),             // xchg [rdi], rax
        (&[0x48, 0xf7, 0xf7], Work::Divide, Flow::Next),             // div rdi
        (&[0xf2, 0x0f, 0x5e, 0xc1], Work::FloatDivide, Flow::Next),  // divsd xmm0, xmm1
        (&[0xc5, 0xfb, 0x51, 0xc1], Work::FloatDivide, Flow::Next),  // vsqrtsd xmm0, xmm0, xmm1
        (&[0xc4, 0xe2, 0xf1, 0xb8, 0xc2], Work::FloatMultiply, Flow::Next), // vfmadd231pd xmm0, xmm1, xmm2
        (&[0xf2, 0x0f, 0x58, 0xc1], Work::FloatAdd, Flow::Next),     // addsd xmm0, xmm1
        (&[0x48, 0x0f, 0xaf, 0xc1], Work::Multiply, Flow::Next),     // imul rax, rcx
        (&[0xf3, 0x90], Work::Pause, Flow::Next),                    // pause
        (&[0x0f, 0xae, 0xf0], Work::Serialising, Flow::Next),        // mfence
        (&[0x0f, 0xa2], Work::Serialising, Flow::Next),              // cpuid
        (&[0xf2, 0x48, 0xaf], Work::Long, Flow::Next),               // repne scasq
        (&[0xf3, 0xa4], Work::Long, Flow::Next),                     // rep movsb
        (&[0x0f, 0x31], Work::Long, Flow::Next),                     // rdtsc
        (&[0x0f, 0x05], Work::System, Flow::Next),                   // syscall
        (&[0xff, 0xe0], Work::Branch, Flow::Indirect),               // jmp rax
        (&[0xff, 0xd0], Work::Call, Flow::IndirectCall),             // call rax
        (&[0xc3], Work::Return, Flow::Return),                       // ret
        (&[0x0f, 0x0b], Work::System, Flow::Stop),                   // ud2
        (&[0x66, 0x0f, 0xef, 0xc0], Work::Vector, Flow::Next),       // pxor xmm0, xmm0
        (&[0xf2, 0x48, 0x0f, 0x2a, 0xc7], Work::Convert, Flow::Next), // cvtsi2sd xmm0, rdi
        (&[0x0f, 0x18, 0x0f], Work::Prefetch, Flow::Next),           // prefetcht0 [rdi]
    ];
    for (bytes, work, flow) in cases {
        let i = one(Machine::X86_64, bytes);
        assert_eq!((i.work, i.flow), (work, flow), "{}", i.text);
    }
    assert!(!one(Machine::X86_64, &[0x0f, 0x18, 0x0f]).loads(), "a prefetch waits for nothing");
}

#[test]
fn arm_work_and_registers() {
    let word = |word: u32| one(Machine::Aarch64, &word.to_le_bytes());
    let cases = [
        (0xf8e1_0002u32, Work::Atomic, "ldaddal"), // ldaddal x1, x2, [x0]
        (0xc85f_7c01, Work::Atomic, "ldxr"),       // ldxr x1, [x0]
        (0xc802_7c01, Work::Atomic, "stxr"),       // stxr w2, x1, [x0]
        (0xc8a1_7c02, Work::Atomic, "cas"),        // cas x1, x2, [x0]
        (0x9ac2_0820, Work::Divide, "udiv"),       // udiv x0, x1, x2
        (0x9b02_7c20, Work::Multiply, "mul"),      // mul x0, x1, x2
        (0x1e62_1820, Work::FloatDivide, "fdiv"),  // fdiv d0, d1, d2
        (0x1e62_2820, Work::FloatAdd, "fadd"),     // fadd d0, d1, d2
        (0xd503_203f, Work::Pause, "yield"),
        (0xd503_201f, Work::Nop, "nop"),
        (0xd503_3bbf, Work::Serialising, "dmb"), // dmb ish
        (0xd503_3fdf, Work::Serialising, "isb"),
        (0xd400_0001, Work::System, "svc"),
        (0x9e66_0000, Work::Convert, "fmov"), // fmov x0, d0
        (0xd503_233f, Work::Nop, "pac"),      // paciasp
    ];
    for (bits, work, name) in cases {
        let i = word(bits);
        assert!(i.text.starts_with(name), "{}", i.text);
        assert!(i.work == work || name == "pac", "{}: {:?}", i.text, i.work);
    }
    // stp x29, x30, [sp, #-16]!
    let push = word(0xa9bf_7bfd);
    assert_eq!(
        push.memory.map(|m| (m.base, m.displacement, m.size, m.reads, m.writes)),
        Some((Some(general(31)), -16, 16, false, true))
    );
    assert_eq!(push.assigns[1], Some(Assign { to: general(31), from: general(31), add: -16, bits: 64 }));
    // ldp x29, x30, [sp], #16
    let pop = word(0xa8c1_7bfd);
    assert!(
        pop.writes.contains(general(29)) && pop.writes.contains(general(30)) && !pop.reads.contains(general(29)),
        "{pop:?}"
    );
    // str x1, [x0, x2, lsl #3] reads all three
    let store = word(0xf822_7801);
    assert_eq!(store.reads.iter().collect::<Vec<_>>(), [general(0), general(1), general(2)]);
    assert!(store.writes.is_empty() && store.stores());
    assert_eq!(store.memory.map(|m| (m.index, m.scale)), Some((Some(general(2)), 8)));
    // cmp x1, x2 writes flags alone; csel reads them
    let compare = word(0xeb02_003f);
    assert_eq!(compare.writes.iter().collect::<Vec<_>>(), [Register::FLAGS]);
    assert!(word(0x9a82_0020).reads.contains(Register::FLAGS));
    // movk x0, #1, lsl #16 keeps the rest
    assert!(word(0xf2a0_0020).reads.contains(general(0)));
    // fmadd d0, d0, d1, d2
    assert_eq!(word(0x1f41_0800).reads.iter().count(), 3);
}

#[test]
fn bytes_that_are_no_instruction_are_accounted_for() {
    let code = Code::new(Machine::X86_64, &[0x90, 0x06, 0x90, 0x48], 0);
    assert_eq!(
        code.instructions.iter().map(|i| i.work).collect::<Vec<_>>(),
        [Work::Nop, Work::Unknown, Work::Nop, Work::Unknown]
    );
    assert_eq!(code.instructions.iter().map(|i| u64::from(i.length)).sum::<u64>(), 4);
    let code = Code::new(Machine::Aarch64, &[0, 0, 0, 0, 0x1f, 0x20, 0x03, 0xd5, 1], 0);
    assert_eq!(code.instructions.iter().map(|i| i.work).collect::<Vec<_>>(), [Work::Unknown, Work::Nop, Work::Unknown]);
    assert!(Code::new(Machine::X86_64, &[], 0).blocks.is_empty());
}

#[test]
fn the_beginning_is_where_most_sampled_addresses_are_instructions() {
    // movabs rcx, 0x1122334455667788; mov rax, [rax]; jmp back, seen from three bytes into an instruction before it.
    let bytes =
        [0x44, 0x55, 0x66, 0x48, 0xb9, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0x48, 0x8b, 0x00, 0xeb, 0xf1];
    assert_eq!(start_of(Machine::X86_64, &bytes, 0x100, &[0x10d, 0x110, 0x103]), 3);
    let bytes = [0xb9, 0x00, 0x48, 0x8b, 0x00, 0x48, 0x8b, 0x00, 0x90, 0x90];
    assert_eq!(start_of(Machine::X86_64, &bytes, 0x100, &[0x102, 0x105]), 2);
    assert_eq!(start_of(Machine::Aarch64, &[0; 64], 0, &[8]), 0);
}

#[test]
fn loops_are_found() {
    for (compiler, machine) in ALL {
        for name in [
            "chase",
            "stream",
            "divides",
            "branches",
            "atomics",
            "floats",
            "spins",
            "calls",
            "tight",
            "narrow",
            "narrow_checked",
        ] {
            let code = function(compiler, machine, name);
            assert_eq!(code.loops.len(), 1, "{compiler} {machine:?} {name}: {:?}", texts(&code));
            let which = only_loop(&code);
            assert!(which.innermost && which.depth == 1 && which.parent.is_none(), "{compiler} {name}");
            // Not what goes before, nor what returns.
            assert!(which.blocks.len() < code.blocks.len(), "{compiler} {name}");
        }
        let code = function(compiler, machine, "nested");
        assert_eq!(code.loops.len(), 2, "{compiler}");
        assert_eq!((code.loops[1].parent, code.loops[1].depth), (Some(0), 2));
        assert!(code.loops[1].innermost && !code.loops[0].innermost);
        assert!(code.round(&code.loops[0], &|_| 0.0).is_none(), "how often the loop within goes round is not known");
    }
}

#[test]
fn a_loop_around_a_switch_is_a_loop() {
    // gcc makes comparisons of it here.
    for (compiler, machine) in [("clang", Machine::X86_64), ("clang", Machine::Aarch64)] {
        let code = function(compiler, machine, "dispatch");
        let which = code
            .loops
            .iter()
            .find(|l| l.depth == 1)
            .unwrap_or_else(|| panic!("{compiler} {machine:?}: {:?}", texts(&code)));
        let jumps = which.blocks.iter().any(|&b| code.of_block(b).last().is_some_and(|i| i.flow == Flow::Indirect));
        assert!(jumps, "{compiler}: the jump by the table is within");
        let by_table =
            |block: usize| f64::from(u8::from(code.of_block(block).last().is_some_and(|i| i.flow == Flow::Indirect)));
        assert!(code.round(which, &by_table).is_none(), "where the jump goes is not known");
    }
}

#[test]
fn rings_that_nothing_enters_and_jumps_out_of_the_function_end() {
    // jmp $+2; jmp back; the second block loops on itself and nothing else enters it.
    for bytes in
        [&[0xeb, 0xfe][..], &[0xc3, 0xeb, 0xfe], &[0xc3, 0x74, 0x02, 0xeb, 0xfc, 0xeb, 0xfa], &[0xe9, 0, 0, 0, 0x10]]
    {
        let code = Code::new(Machine::X86_64, bytes, 0x400000);
        assert!(code.loops.len() <= 2);
    }
}

#[test]
fn registers_that_count_rounds() {
    let counters = |code: &Code| {
        steps(code, only_loop(code))
            .counters
            .iter()
            .map(|c| (c.register.name(code.machine), c.step, c.bits))
            .collect::<Vec<_>>()
    };
    let is = |name: &str, step, bits| (name.to_owned(), step, bits);
    assert_eq!(counters(&x86("chase")), [is("rsi", -1, 64)]);
    assert_eq!(counters(&x86("stream")), [is("rsi", -1, 64), is("rdi", 64, 64)]);
    assert_eq!(counters(&arm("stream")), [is("x0", 64, 64), is("x1", -1, 64)]);
    // Whichever way a round takes.
    assert_eq!(counters(&x86("branches")), [is("rcx", 1, 64)]);
    assert_eq!(counters(&arm("branches")), [is("x9", 1, 64)]);
    // Kept by what is called.
    assert_eq!(counters(&x86("calls")), [is("rbx", 1, 32)]);
    assert_eq!(counters(&arm("calls")), [is("x21", 1, 32)]);
    assert_eq!(counters(&arm("narrow")).iter().map(|c| c.1).collect::<Vec<_>>(), [-4]);
    assert_eq!(counters(&x86("narrow")).iter().filter(|c| c.1 == -4).count(), counters(&x86("narrow")).len());
    assert_eq!(counters(&x86("spins")), []);
    for (compiler, machine) in ALL {
        let code = function(compiler, machine, "nested");
        let inner = steps(&code, &code.loops[1]);
        assert_eq!(
            inner.counters.len(),
            if machine == Machine::Aarch64 { 2 } else { 1 },
            "{compiler} {:?}",
            inner.counters
        );
        let outer = steps(&code, &code.loops[0]);
        assert_eq!(
            outer.counters.iter().map(|c| c.step).collect::<Vec<_>>(),
            [1],
            "{compiler}: what the inner loop counts is set anew"
        );
        assert!(!outer.constant.is_empty());
    }
}

fn bound_of(code: &Code) -> Bound {
    let round = code.round(only_loop(code), &|_| 0.0).unwrap();
    bound(code, &round).unwrap()
}

#[test]
fn bounds_of_rounds() {
    // What llvm-mca 14 says of the same loops on a Zen 3: 5 cycles for the chase, 1 for the stream, 8 for the two operations on floating-point numbers.
    for (compiler, machine) in ALL {
        let of = |name: &str| bound_of(&function(compiler, machine, name));
        let chase = of("chase");
        assert_eq!((chase.cycles, chase.limit), (4.0, Limit::Chain), "{compiler}");
        assert_eq!(chase.instructions, if compiler == "gcc" { 4 } else { 3 });
        let stream = of("stream");
        assert!((1.0..=1.5).contains(&stream.cycles), "{compiler} {stream:?}");
        let floats = of("floats");
        assert!((4.0..=8.0).contains(&floats.cycles) && floats.limit == Limit::Chain, "{compiler} {floats:?}");
        let divides = of("divides");
        assert!((12.0..=20.0).contains(&divides.cycles), "{compiler} {divides:?}");
        let tight = of("tight");
        assert!((1.0..=2.0).contains(&tight.cycles), "{compiler} {tight:?}");
    }
    let calls = x86("calls");
    assert_eq!(bound(&calls, &calls.round(only_loop(&calls), &|_| 0.0).unwrap()), None, "what is called is not here");
    let spins = x86("spins");
    assert_eq!(bound(&spins, &spins.round(only_loop(&spins), &|_| 0.0).unwrap()), None, "a pause takes what it takes");
    assert_eq!(bound(&spins, &[]), None);
}

#[test]
fn a_factor_of_two_lies_between_computing_and_waiting() {
    let chase = bound_of(&x86("chase"));
    assert_eq!(judge(&chase, 4.1), Verdict::Core);
    assert_eq!(judge(&chase, 19.5), Verdict::Memory);
    assert_eq!(judge(&chase, 600.0), Verdict::Memory);
    assert_eq!(judge(&chase, 11.0), Verdict::Between);
}

#[test]
fn a_value_through_the_stack_is_part_of_the_chain() {
    // add dword ptr [rsp+8], 1; jmp back: as code without optimisation counts.
    let code = Code::new(Machine::X86_64, &[0x83, 0x44, 0x24, 0x08, 0x01, 0xeb, 0xf9], 0);
    let b = bound_of(&code);
    assert!((4.0..=6.0).contains(&b.cycles) && b.limit == Limit::Chain, "{b:?}");
}

/// Samples by class of wait, most first.
fn by_wait(code: &Code, sampled: &[(u64, u64)], skid: Skid) -> Vec<(Wait, u64)> {
    let weights = weigh(code, sampled, skid);
    let mut sums = std::collections::BTreeMap::from([(Wait::Unknown, weights.nowhere)]);
    for (at, instruction) in code.instructions.iter().enumerate() {
        *sums.entry(wait_of(instruction)).or_default() += weights.on[at];
        *sums.entry(weights.entered(code, at, skid)).or_default() += weights.entering[at];
    }
    let mut sums: Vec<(Wait, u64)> = sums.into_iter().filter(|(_, count)| *count > 0).collect();
    sums.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    sums
}

fn with_skid(code: &Code, sampled: &[(u64, u64)]) -> Vec<(Wait, u64)> {
    by_wait(code, sampled, Skid::One)
}

#[test]
fn samples_belong_to_the_instruction_before() {
    let chase = x86("chase");
    // All land on the add after the load.
    assert_eq!(with_skid(&chase, &[(0x13, 300)]), [(Wait::Load, 300)]);
    assert_eq!(landed(&chase, 0x13, Skid::One), Landed::On(4));
    assert_eq!(landed(&chase, 0x13, Skid::None), Landed::On(5));
    assert_eq!(landed(&chase, 0x13, Skid::Unknown), Landed::Entering(5));
    // The load itself is entered by the jump back nearly always.
    assert_eq!(landed(&chase, 0x10, Skid::One), Landed::On(6));
    assert_eq!(landed(&chase, 0x11, Skid::One), Landed::Nowhere);
    assert_eq!(landed(&chase, 0, Skid::One), Landed::Entering(0));
    let atomics = x86("atomics");
    assert_eq!(with_skid(&atomics, &[(0xd5, 98), (0xd9, 2)]), [(Wait::Atomic, 98), (Wait::Core, 2)]);
    let divides = x86("divides");
    let waits = with_skid(&divides, &[(0x60, 89), (0x63, 6), (0x66, 5)]);
    assert_eq!(waits[0], (Wait::Long, 89));
    let spins = x86("spins");
    let pause = spins.instructions.iter().position(|i| i.work == Work::Pause).unwrap();
    assert_eq!(with_skid(&spins, &[(spins.instructions[pause + 1].address, 10)]), [(Wait::Spin, 10)]);
    let arm = arm("chase");
    assert_eq!(with_skid(&arm, &[(8, 50)]), [(Wait::Load, 50)]);
}

#[test]
fn what_is_left_unfinished_or_takes_long_has_its_samples() {
    // mov rcx, rsi; mov rax, rdx; repne scasq; sete al; ret.
    let scan =
        Code::new(Machine::X86_64, &[0x48, 0x89, 0xf1, 0x48, 0x89, 0xd0, 0xf2, 0x48, 0xaf, 0x0f, 0x94, 0xc0, 0xc3], 0);
    assert_eq!(with_skid(&scan, &[(6, 90), (9, 10)]), [(Wait::Long, 100)]);
    // mov rax, [rdi]; div rcx; ret: the load may be waited for.
    let loaded = Code::new(Machine::X86_64, &[0x48, 0x8b, 0x07, 0x48, 0xf7, 0xf1, 0xc3], 0);
    assert_eq!(with_skid(&loaded, &[(3, 10), (6, 90)]), [(Wait::Long, 90), (Wait::Load, 10)]);
    // L: pause; M: mov rax, [rdi]; cmp rax, rsi; je L; inc rcx; jmp M: M is come to from two places, and one of them waits.
    let spin = Code::new(
        Machine::X86_64,
        &[0xf3, 0x90, 0x48, 0x8b, 0x07, 0x48, 0x39, 0xf0, 0x74, 0xf6, 0x48, 0xff, 0xc1, 0xeb, 0xf3],
        0,
    );
    assert_eq!(spin.blocks.iter().find(|b| spin.instructions[b.first].address == 2).unwrap().predecessors.len(), 2);
    assert_eq!(with_skid(&spin, &[(2, 100)]), [(Wait::Spin, 100)]);
}

#[test]
fn both_targets_of_a_branch_that_is_guessed_wrong() {
    // As measured: the load that feeds the branch, and the first instruction of either way.
    let branches = x86("branches");
    let address = |text: &str| branches.instructions.iter().find(|i| i.text == text).unwrap().address;
    let (one, other) = (address("xor rax, rcx"), address("add rax, 3"));
    let weights = [(one, 44), (other, 42), (address("test byte ptr [rdi+rdx], 1"), 4), (address("cmp rsi, rcx"), 3)];
    let waits = with_skid(&branches, &weights);
    assert_eq!(waits[0], (Wait::Fetch, 86), "{waits:?}");
    // Equally spread, a target is an instruction like others.
    let even: Vec<(u64, u64)> = branches.instructions.iter().map(|i| (i.address, 10)).collect();
    assert!(with_skid(&branches, &even).iter().all(|(wait, _)| *wait != Wait::Fetch));
    // With an unknown skid nothing is said.
    assert_eq!(by_wait(&branches, &weights, Skid::Unknown), [(Wait::Unknown, 93)]);
}

#[test]
fn the_skid_is_what_a_known_loop_says() {
    assert_eq!(calibrate(0x10, 0x13, &[0x13; 20]), Skid::One);
    assert_eq!(calibrate(0x10, 0x13, &[0x10; 20]), Skid::None);
    assert_eq!(calibrate(0x10, 0x13, &[[0x10, 0x13]; 10].concat()), Skid::Unknown);
    assert_eq!(calibrate(0x10, 0x13, &[0x13; 3]), Skid::Unknown);
}

#[test]
fn the_same_function_is_aligned_with_itself_and_by_two_compilers() {
    for line in LOOPS.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let machine = if words[1] == "aarch64" { Machine::Aarch64 } else { Machine::X86_64 };
        let code = function(words[0], machine, words[2]);
        let rows = align(&code, &code);
        assert_eq!(rows.len(), code.instructions.len(), "{line}");
        assert!(
            rows.iter().enumerate().all(|(n, row)| *row == Row { left: Some(n), right: Some(n), same: true }),
            "{line}"
        );
    }
    let (clang, gcc) = (x86("chase"), function("gcc", Machine::X86_64, "chase"));
    let load = |code: &Code| code.instructions.iter().position(|i| i.loads()).unwrap();
    let rows = align(&clang, &gcc);
    assert!(rows.iter().any(|r| r.left == Some(load(&clang)) && r.right == Some(load(&gcc))), "{rows:?}");
}

#[test]
fn versions_differ_where_they_differ() {
    for (compiler, machine) in ALL {
        let (plain, checked) = (function(compiler, machine, "narrow"), function(compiler, machine, "narrow_checked"));
        let rows = align(&plain, &checked);
        let mut left: Vec<usize> = rows.iter().filter_map(|r| r.left).collect();
        let mut right: Vec<usize> = rows.iter().filter_map(|r| r.right).collect();
        assert!(left.is_sorted(), "{compiler}");
        left.sort_unstable();
        right.sort_unstable();
        assert_eq!(left, (0..plain.instructions.len()).collect::<Vec<_>>(), "{compiler}: each once");
        assert_eq!(right, (0..checked.instructions.len()).collect::<Vec<_>>(), "{compiler}: each once");
        assert!(rows.iter().filter(|r| r.same).count() >= 3, "{compiler}: {rows:?}");
        assert!(rows.iter().any(|r| r.left.is_none()), "{compiler}: the check is new");
    }
}

#[test]
fn any_word_is_taken_by_aarch64() {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for _ in 0..300_000 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        assert_eq!(decode(Machine::Aarch64, &(state as u32).to_le_bytes(), state).len(), 1);
    }
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_taken(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..400), address in proptest::prelude::any::<u64>()) {
        for machine in [Machine::X86_64, Machine::Aarch64] {
            let code = Code::new(machine, &bytes, address);
            let length: usize = code.instructions.iter().map(|i| usize::from(i.length)).sum();
            proptest::prop_assert_eq!(length, bytes.len());
            for which in &code.loops {
                steps(&code, which);
                if let Some(round) = code.round(which, &|_| 1.0) {
                    bound(&code, &round);
                }
            }
            let rows = align(&code, &code);
            proptest::prop_assert_eq!(rows.len(), code.instructions.len());
        }
    }
}

fn registers(known: &[(usize, u64)]) -> [u64; 32] {
    let mut registers = [0; 32];
    known.iter().for_each(|&(at, value)| registers[at] = value);
    registers
}

#[test]
fn addresses_come_from_the_registers_of_a_sample() {
    // lock add qword ptr [rdi+8],1; mov rax,[rsi+rcx*8]; mov [rip+0x10],rax; dec rdx; jnz 0
    let code = [
        0xf0, 0x48, 0x83, 0x47, 0x08, 0x01, 0x48, 0x8b, 0x04, 0xce, 0x48, 0x89, 0x05, 0x10, 0, 0, 0, 0x48, 0xff, 0xca,
        0x75, 0xea,
    ];
    let code = Code::new(Machine::X86_64, &code, 0x1000);
    let values = registers(&[(7, 0x5000), (6, 0x6000), (1, 2), (2, 9)]);
    let waited = touched(&code, 0, &values).unwrap();
    assert_eq!((waited.address, waited.base), (0x5008, Some((general(7), 0x5000))));
    assert_eq!(touched(&code, 1, &values).map(|t| t.address), Some(0x6010));
    assert!(touched(&code, 2, &values).is_some_and(|t| t.of_code && t.address == 0x1021));
    assert_eq!(touched(&code, 3, &values), None, "no memory");
    // From the load on: itself, the store, and after the jump back the atomic one.
    let found: Vec<_> = ahead(&code, 1, &values).iter().map(|t| (t.instruction, t.address, t.sure)).collect();
    assert_eq!(found, [(1, 0x6010, true), (2, 0x1021, true), (0, 0x5008, false)]);
}

#[test]
fn an_address_that_the_instruction_has_changed_is_undone_or_unknown() {
    // mov rax,[rax]: the address is gone. add rdi,8 after it: known still.
    let chase = Code::new(Machine::X86_64, &[0x48, 0x8b, 0x00, 0x48, 0x83, 0xc7, 0x08, 0x48, 0x89, 0x07], 0);
    let values = registers(&[(0, 0x7000), (7, 0x8000)]);
    assert_eq!(touched(&chase, 0, &values), None);
    let found: Vec<_> = ahead(&chase, 0, &values).iter().map(|t| t.address).collect();
    assert_eq!(found, [0x7000, 0x8008], "from the sample on both are known");
    // ldr x9,[x0],#0x40: the register has moved on.
    let post = Code::new(Machine::Aarch64, &[0x09, 0x04, 0x44, 0xf8], 0);
    let touch = touched(&post, 0, &registers(&[(0, 0x9040)]));
    assert_eq!(touch.map(|t| t.address), Some(0x9000), "{:?}", post.instructions);
}

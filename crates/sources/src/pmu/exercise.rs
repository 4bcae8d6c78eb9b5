//! Code whose counts are known, for the self-test of counters: an event that opens and does not count must not be recorded as 0.

/// Rounds of the loop.
pub const ROUNDS: u64 = 200_000;

/// Instructions of the loop.
pub const INSTRUCTIONS: u64 = ROUNDS * 2;

/// Instructions may be off by so much: what starts and stops the counters counts as well.
pub const OFF_BY: f64 = 0.01;

/// A loop of two instructions.
pub fn run_loop() {
    // SAFETY: changes one register, which is named.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::asm!("2:", "dec {rounds}", "jnz 2b", rounds = inout(reg) ROUNDS => _, options(nomem, nostack));
    }
    // SAFETY: likewise.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        std::arch::asm!("2:", "subs {rounds}, {rounds}, #1", "b.ne 2b", rounds = inout(reg) ROUNDS => _, options(nomem, nostack));
    }
}

/// Bytes that the walk goes through: more than the first-level cache and the first-level TLB hold.
const WALKED: usize = 4 << 20;

/// Makes everything count that any program makes count: branches that cannot be predicted, loads that miss the first-level cache and TLB.
pub fn run_all() {
    run_loop();
    let mut memory = vec![0_u8; WALKED];
    // A line of each page, so that each is there.
    memory.iter_mut().step_by(4096).for_each(|byte| *byte = 1);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut sum = 0_u64;
    for _ in 0..50_000 {
        // xorshift: no branch predictor follows it.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let place = (state >> 20) as usize % WALKED;
        let byte = std::hint::black_box(&memory).get(place).copied().unwrap_or(0);
        if std::hint::black_box(state & 1) == 0 {
            sum = std::hint::black_box(sum.wrapping_mul(3));
        } else {
            sum = std::hint::black_box(sum ^ u64::from(byte));
        }
    }
    std::hint::black_box(sum);
}

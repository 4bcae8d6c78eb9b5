//! Code whose counts are known, for the self-test of counters: an event that opens and does not count must not be recorded as 0.

use host::Host;
use host::counting::{Counting, Event, LARGEST, Reading, Refused, Whom};

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

/// What so many of an event count together while the loop runs.
///
/// # Errors
/// What the kernel refuses.
pub fn of_loop(host: &Host, event: Event, number: usize) -> Result<Reading, Refused> {
    let mut group = Counting::open(host, &vec![event; number], Whom::Loop)?;
    group.start();
    run_loop();
    group.stop();
    let mut reading = Reading::default();
    let read = group.read(host, &mut reading);
    read.map_err(|error| Refused { event: 0, errno: error.raw_os_error().unwrap_or(libc::EIO) })?;
    Ok(reading)
}

/// How many of an event have counters at once, all the time. The kernel of x86 refuses larger groups; elsewhere, and where someone else holds a counter,
/// they never run.
pub fn at_once(host: &Host, event: Event) -> usize {
    let runs = |number: &usize| {
        let read = of_loop(host, event, *number);
        read.is_ok_and(|reading| reading.running > 0 && reading.running == reading.enabled)
    };
    (1..=LARGEST).take_while(runs).count()
}

/// Why an event of instructions is not to be believed: the loop has another number of them. `None` also where that could not be found out.
pub fn miscounts(host: &Host, event: Event) -> Option<String> {
    let reading = of_loop(host, event, 1).ok()?;
    let counted = *reading.counts.first().filter(|_| reading.running > 0 && reading.running == reading.enabled)?;
    let off = counted as f64 / INSTRUCTIONS as f64 - 1.0;
    (off.abs() > OFF_BY).then(|| {
        let way = if off < 0.0 { "fewer" } else { "more" };
        format!("counts {:.1} % {way} than a loop has", off.abs() * 100.0)
    })
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

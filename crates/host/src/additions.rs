//! A chain of additions of which each needs the one before: one cycle each on every x86-64 and aarch64 core, so that its time tells the CPU's frequency.

/// Additions of one turn of [`additions`].
pub const ADDITIONS: u64 = 64;

/// `turns` times 64 additions, each of which needs the one before. Registers are added, not constants: cores since Golden Cove fold the
/// addition of a small constant into renaming, and it takes no cycle.
/// False where there is no such code for this kind of machine.
#[cfg(target_arch = "x86_64")]
pub fn additions(turns: u64) -> bool {
    // SAFETY: computes in two registers.
    unsafe {
        std::arch::asm!(
            "2:",
            ".rept 64",
            "add {x}, {y}",
            ".endr",
            "dec {n}",
            "jnz 2b",
            x = inout(reg) 0u64 => _,
            y = in(reg) 3u64,
            n = inout(reg) turns.max(1) => _,
            options(nomem, nostack)
        );
    }
    true
}

/// The same for aarch64.
#[cfg(target_arch = "aarch64")]
pub fn additions(turns: u64) -> bool {
    // SAFETY: computes in two registers.
    unsafe {
        std::arch::asm!(
            "2:",
            ".rept 64",
            "add {x}, {x}, {y}",
            ".endr",
            "subs {n}, {n}, #1",
            "b.ne 2b",
            x = inout(reg) 0u64 => _,
            y = in(reg) 3u64,
            n = inout(reg) turns.max(1) => _,
            options(nomem, nostack)
        );
    }
    true
}

/// Not known for this kind of machine.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub fn additions(_: u64) -> bool {
    false
}

//! A chain of additions of which each needs the one before: one cycle each on every x86-64 and aarch64 core, so that its time tells the CPU's frequency.
//! And additions that do not wait for each other: as many in a cycle as the core has units left.

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

/// Additions of one turn of [`parallel`].
pub const PARALLEL: u64 = 96;

/// `turns` times 96 additions in six chains that do not wait for each other: as many in a cycle as the core has units, of which threads of one core have a
/// part each. Six, for that many units the widest cores have: with fewer chains, two threads of such a core would not get in each other's way.
#[cfg(target_arch = "x86_64")]
pub fn parallel(turns: u64) {
    // SAFETY: computes in registers.
    unsafe {
        std::arch::asm!(
            "2:",
            ".rept 16",
            "add {a}, {y}",
            "add {b}, {y}",
            "add {c}, {y}",
            "add {d}, {y}",
            "add {e}, {y}",
            "add {f}, {y}",
            ".endr",
            "dec {n}",
            "jnz 2b",
            a = inout(reg) 0u64 => _,
            b = inout(reg) 0u64 => _,
            c = inout(reg) 0u64 => _,
            d = inout(reg) 0u64 => _,
            e = inout(reg) 0u64 => _,
            f = inout(reg) 0u64 => _,
            y = in(reg) 3u64,
            n = inout(reg) turns.max(1) => _,
            options(nomem, nostack)
        );
    }
}

/// The same for aarch64.
#[cfg(target_arch = "aarch64")]
pub fn parallel(turns: u64) {
    // SAFETY: computes in registers.
    unsafe {
        std::arch::asm!(
            "2:",
            ".rept 16",
            "add {a}, {a}, {y}",
            "add {b}, {b}, {y}",
            "add {c}, {c}, {y}",
            "add {d}, {d}, {y}",
            "add {e}, {e}, {y}",
            "add {f}, {f}, {y}",
            ".endr",
            "subs {n}, {n}, #1",
            "b.ne 2b",
            a = inout(reg) 0u64 => _,
            b = inout(reg) 0u64 => _,
            c = inout(reg) 0u64 => _,
            d = inout(reg) 0u64 => _,
            e = inout(reg) 0u64 => _,
            f = inout(reg) 0u64 => _,
            y = in(reg) 3u64,
            n = inout(reg) turns.max(1) => _,
            options(nomem, nostack)
        );
    }
}

/// The same as a compiler makes it for other kinds of machine.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub fn parallel(turns: u64) {
    let mut sums = [std::hint::black_box(1u64); 6];
    for _ in 0..turns.max(1) * 16 {
        for sum in &mut sums {
            *sum = std::hint::black_box(sum.wrapping_add(3));
        }
    }
}

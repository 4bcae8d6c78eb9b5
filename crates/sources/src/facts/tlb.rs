//! Entries of the translation look-aside buffers that instructions go through: of x86 what CPUID says, of Arm's what the manuals of known cores say.

use super::{Facts, cpu};

/// Entries for code, by level and size of page; 0 where there is none, or where it is not told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tlb {
    small: [u32; 2],
    huge: [u32; 2],
}

/// Arm's cores, by implementer and part: entries of the first level and of the second, which data shares. Both hold pages of any size
/// (technical reference manuals, "TLB organization").
const ARM: &[(&str, &str, [u32; 2])] = &[
    // Neoverse N1, V1, N2, V2.
    ("0x41", "0xd0c", [48, 1280]),
    ("0x41", "0xd40", [48, 2048]),
    ("0x41", "0xd49", [48, 1280]),
    ("0x41", "0xd4f", [48, 2048]),
];

pub(super) fn find(facts: &mut Facts<'_, '_>) {
    let known = match facts.host.is_fixture() {
        // The machine that reads a recorded host is another.
        true => None,
        false => of_this_machine(),
    };
    let text = facts.host.read_text("/proc/cpuinfo").unwrap_or_default();
    let Some(tlb) = known.or_else(|| arm(&text)) else { return };
    let of = [
        ("itlb", tlb.small[0]),
        ("itlb_second", tlb.small[1]),
        ("itlb_2m", tlb.huge[0]),
        ("itlb_2m_second", tlb.huge[1]),
    ];
    for (name, entries) in of.into_iter().filter(|(_, entries)| *entries > 0) {
        facts.set(name, entries.to_string());
    }
}

fn arm(cpuinfo: &str) -> Option<Tlb> {
    let all = cpu::processors(cpuinfo);
    let of = |p: &cpu::Processor<'_>| {
        let (implementer, part) = (p.get("CPU implementer")?, p.get("CPU part")?);
        ARM.iter().find(|(i, p, _)| *i == implementer && *p == part).map(|(_, _, entries)| *entries)
    };
    let first = all.first().and_then(of)?;
    // Where cores differ there is no one number.
    all.iter().all(|p| of(p) == Some(first)).then_some(Tlb { small: first, huge: first })
}

#[cfg(not(target_arch = "x86_64"))]
fn of_this_machine() -> Option<Tlb> {
    None
}

#[cfg(target_arch = "x86_64")]
fn of_this_machine() -> Option<Tlb> {
    use std::arch::x86_64::__cpuid_count;
    let leaf = |leaf: u32, sub: u32| {
        let found = __cpuid_count(leaf, sub);
        [found.eax, found.ebx, found.ecx, found.edx]
    };
    x86(&leaf)
}

/// By CPUID, whose leaves `leaf` gives as eax, ebx, ecx, edx (AMD64 Architecture Programmer's Manual, volume 3, appendix E; Intel 64 Software Developer's
/// Manual, volume 2, CPUID).
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
fn x86(leaf: &dyn Fn(u32, u32) -> [u32; 4]) -> Option<Tlb> {
    let [most, ebx, ecx, edx] = leaf(0, 0);
    let is = |name: &[u8; 12]| [ebx, edx, ecx].iter().flat_map(|word| word.to_le_bytes()).eq(name.iter().copied());
    let found = match () {
        () if is(b"AuthenticAMD") || is(b"HygonGenuine") => amd(leaf),
        () if is(b"GenuineIntel") && most >= 2 => intel(leaf, most),
        () => Tlb::default(),
    };
    (found != Tlb::default()).then_some(found)
}

fn amd(leaf: &dyn Fn(u32, u32) -> [u32; 4]) -> Tlb {
    let most = leaf(0x8000_0000, 0)[0];
    let mut tlb = Tlb::default();
    if most >= 0x8000_0005 {
        let [huge, small, ..] = leaf(0x8000_0005, 0);
        (tlb.small[0], tlb.huge[0]) = (small & 0xff, huge & 0xff);
    }
    if most >= 0x8000_0006 {
        let [huge, small, ..] = leaf(0x8000_0006, 0);
        (tlb.small[1], tlb.huge[1]) = (small & 0xfff, huge & 0xfff);
    }
    tlb
}

fn intel(leaf: &dyn Fn(u32, u32) -> [u32; 4], most: u32) -> Tlb {
    let mut tlb = Tlb::default();
    if most >= 0x18 {
        let last = leaf(0x18, 0)[0].min(64);
        for sub in 0..=last {
            let [_, ebx, sets, edx] = leaf(0x18, sub);
            let (kind, level) = (edx & 0x1f, (edx >> 5) & 7);
            // 2: of instructions, 3: of both.
            if !matches!((kind, level), (2 | 3, 1 | 2)) {
                continue;
            }
            let entries = (ebx >> 16).saturating_mul(sets);
            let at = usize::from(level == 2);
            for (has, of) in [(ebx & 1 != 0, &mut tlb.small), (ebx & 2 != 0, &mut tlb.huge)] {
                if let Some(of) = of.get_mut(at).filter(|_| has) {
                    *of = entries.max(*of);
                }
            }
        }
    }
    if tlb == Tlb::default() { descriptors(leaf(2, 0)) } else { tlb }
}

/// By the bytes of leaf 2, each of which stands for a buffer.
fn descriptors(words: [u32; 4]) -> Tlb {
    let mut tlb = Tlb::default();
    let bytes = words.iter().filter(|word| *word >> 31 == 0).flat_map(|word| word.to_le_bytes());
    for byte in bytes {
        match byte {
            0x50 => (tlb.small[0], tlb.huge[0]) = (64, 64),
            0x51 => (tlb.small[0], tlb.huge[0]) = (128, 128),
            0x52 => (tlb.small[0], tlb.huge[0]) = (256, 256),
            0x55 => tlb.huge[0] = 7,
            0x61 => tlb.small[0] = 48,
            0x76 => tlb.huge[0] = 8,
            0xb0 | 0xb6 => tlb.small[0] = 128,
            0xb2 | 0xb5 => tlb.small[0] = 64,
            0xc1 => (tlb.small[1], tlb.huge[1]) = (1024, 1024),
            0xc3 => (tlb.small[1], tlb.huge[1]) = (1536, 1536),
            0xca => tlb.small[1] = 512,
            _ => {}
        }
    }
    tlb
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vendor(name: &[u8; 12], most: u32) -> [u32; 4] {
        let (words, _) = name.as_chunks::<4>();
        let word = |at: usize| u32::from_le_bytes(words[at]);
        [most, word(0), word(2), word(1)]
    }

    #[test]
    fn leaves_are_read() {
        // An EPYC 9004, a Xeon of the fourth generation by leaf 0x18, one of the second by leaf 2.
        let genoa = |leaf: u32, _: u32| match leaf {
            0 => vendor(b"AuthenticAMD", 0x10),
            0x8000_0000 => [0x8000_0028, 0, 0, 0],
            0x8000_0005 => [0xff48_ff40, 0xff48_ff40, 0, 0],
            0x8000_0006 => [0x5c00_2200, 0x6c00_4200, 0, 0],
            _ => [0; 4],
        };
        assert_eq!(x86(&genoa), Some(Tlb { small: [64, 512], huge: [64, 512] }));
        let sapphire = |leaf: u32, sub: u32| match (leaf, sub) {
            (0, _) => vendor(b"GenuineIntel", 0x20),
            (0x18, 0) => [4, 0, 0, 0],
            (0x18, 1) => [0, 0x0008_0001, 32, 0x0000_0022],
            (0x18, 2) => [0, 0x0008_0006, 4, 0x0000_0022],
            (0x18, 3) => [0, 0x0010_0007, 6, 0x0000_0021],
            (0x18, 4) => [0, 0x0008_0007, 256, 0x0000_4043],
            _ => [0; 4],
        };
        assert_eq!(x86(&sapphire), Some(Tlb { small: [256, 2048], huge: [32, 2048] }));
        let cascade = |leaf: u32, _: u32| match leaf {
            0 => vendor(b"GenuineIntel", 0x16),
            2 => [0x7603_6301, 0x00f0_b5ff, 0, 0x00c3_0000],
            _ => [0; 4],
        };
        assert_eq!(x86(&cascade), Some(Tlb { small: [64, 1536], huge: [8, 1536] }));
        assert_eq!(x86(&|leaf, _| if leaf == 0 { vendor(b"CentaurHauls", 9) } else { [0; 4] }), None);
    }

    #[test]
    fn cores_of_arm_are_known() {
        let core =
            |number: u32, part: &str| format!("processor : {number}\nCPU implementer : 0x41\nCPU part : {part}\n\n");
        let known = Tlb { small: [48, 1280], huge: [48, 1280] };
        assert_eq!(arm(&(core(0, "0xd0c") + &core(1, "0xd0c"))), Some(known));
        assert_eq!(arm(&(core(0, "0xd0c") + &core(1, "0xd40"))), None);
        assert_eq!(arm(&core(0, "0xd03")), None);
        assert_eq!(arm(""), None);
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn this_machine_says_something_sensible_or_nothing() {
        for entries in of_this_machine().into_iter().flat_map(|tlb| tlb.small) {
            assert!(entries <= 1 << 14);
        }
    }
}

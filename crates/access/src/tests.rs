//! What records of hand-made bytes say, each field by the manual; and that no bytes end the program.

use crate::source::{Weight, data_source};
use crate::spe::{Sources, operations};
use crate::{Level, Operation, Snoop, Tlb, ibs};
use proptest::prelude::*;

/// `PERF_MEM_S` of perf_event.h: op at 0, lvl at 5, snoop at 19, lock at 24, dtlb at 26, lvl_num at 33, remote at 37, snoopx at 38, hops at 43.
fn word(fields: &[(u64, u32)]) -> u64 {
    fields.iter().fold(0, |word, (value, at)| word | value << at)
}

fn levels(word: u64) -> (Level, Snoop, Tlb) {
    let of = data_source(word);
    (of.level, of.snoop, of.tlb)
}

#[test]
fn data_sources_of_linux() {
    // LOAD, LVL HIT|L1 (0x2|0x8), SNOOP NONE, LOCK NA, TLB HIT|L1|L2 (0x2|0x8|0x10), LVLNUM L1: what PEBS gives for a load of the first cache.
    let near = word(&[(0x2, 0), (0xa, 5), (0x2, 19), (0x1, 24), (0x1a, 26), (0x1, 33)]);
    assert_eq!(near, 0x2_6910_0142);
    assert_eq!(levels(near), (Level::L1, Snoop::None, Tlb::Hit));
    let of = data_source(near);
    assert_eq!((of.reads, of.writes, of.atomic, of.deed()), (true, false, false, "load"));
    // LOAD, LVL HIT|L3, SNOOP HITM (0x10), TLB HIT|L2, LVLNUM L3: another core of the socket had changed the line.
    let modified = word(&[(0x2, 0), (0x42, 5), (0x10, 19), (0x12, 26), (0x3, 33)]);
    assert_eq!(levels(modified), (Level::Core, Snoop::Modified, Tlb::Second));
    assert!(data_source(modified).from_core());
    // The same with REMOTE: one of another socket had.
    assert_eq!(levels(modified | 1 << 37), (Level::RemoteCache, Snoop::Modified, Tlb::Second));
    // L3 with SNOOP HIT: the last cache had it, and another core unchanged.
    assert_eq!(levels(word(&[(0x2, 0), (0x42, 5), (0x4, 19), (0x3, 33)])), (Level::L3, Snoop::Clean, Tlb::Unknown));
    // SNOOPX FWD (0x1) and PEER (0x2): another core sent it.
    assert_eq!(levels(word(&[(0x2, 0), (0x3, 33), (0x1, 38)])), (Level::Core, Snoop::Clean, Tlb::Unknown));
    assert_eq!(levels(word(&[(0x2, 0), (0x2, 33), (0x2, 38)])), (Level::Core, Snoop::Unknown, Tlb::Unknown));
    // RAM (0xd) with SNOOP MISS and a walk (TLB MISS|WK): 0x4|0x20.
    assert_eq!(levels(word(&[(0x2, 0), (0x8, 19), (0x24, 26), (0xd, 33)])), (Level::Memory, Snoop::Miss, Tlb::Walk));
    assert_eq!(levels(word(&[(0x2, 0), (0xd, 33), (1, 37)])).0, Level::RemoteMemory);
    // ANY_CACHE (0xb), REMOTE, HOPS_0 (0x1): another core of the node; HOPS_2 (0x3): of another socket.
    assert_eq!(levels(word(&[(0x2, 0), (0xb, 33), (1, 37), (0x1, 43)])).0, Level::Core);
    assert_eq!(levels(word(&[(0x2, 0), (0xb, 33), (1, 37), (0x3, 43)])).0, Level::RemoteCache);
    // Without a number (NA, 0xf) the bits count: REM_RAM1 0x100 with HIT; L1 with MISS (0x4) says only where it was not.
    assert_eq!(levels(word(&[(0x2, 0), (0x102, 5), (0xf, 33)])).0, Level::RemoteMemory);
    assert_eq!(levels(word(&[(0x4, 0), (0x0c, 5), (0xf, 33)])).0, Level::Unknown);
    assert_eq!(levels(word(&[(0x2, 0), (0x12, 5)])).0, Level::Buffer);
    // LOCKED (0x2): the load of an atomic operation.
    let locked = data_source(word(&[(0x2, 0), (0x2, 24), (0x1, 33)]));
    assert_eq!((locked.reads, locked.writes, locked.deed()), (true, true, "atomic"));
    // Nothing is told of nothing: OP NA.
    assert_eq!(data_source(word(&[(0x1, 0)])), Operation::default());
}

#[test]
fn weights_of_linux() {
    let of = |weight: Weight| {
        let mut into = Operation::default();
        weight.put(&mut into);
        (into.latency, into.memory)
    };
    assert_eq!(of(Weight::Whole(212)), (Some(212), None));
    assert_eq!(of(Weight::Whole(0)), (None, None));
    // var1_dw 180, var2_w 212, var3_w 9.
    assert_eq!(of(Weight::Parts(180 | 212 << 32 | 9 << 48)), (Some(212), Some(180)));
    assert_eq!(of(Weight::Parts(180)), (Some(180), None));
}

/// Raw data of a sample of `ibs_op`: what the CPU can do, and IBS_OP_CTL with IbsOpVal (bit 18), then RIP, DATA, DATA2, DATA3, both addresses.
fn raw(can: u32, data: u64, data2: u64, data3: u64) -> Vec<u8> {
    let registers = [1 << 18 | 0x2710, 0x40_1234, data, data2, data3, 0x7fff_0000_1040, 0x1_2345_6040];
    [can.to_le_bytes().to_vec(), registers.iter().flat_map(|r: &u64| r.to_le_bytes()).collect()].concat()
}

#[test]
fn registers_of_ibs() {
    // DATA: done after 300 cycles (bits 15:0), retired after 550 (31:16): IbsCompToRetCtr counts from done to retired.
    let data = 300 | 550 << 16;
    // DATA3: load (0), misses of both TLBs (2, 3), of L1 (7), both addresses (17, 18), of L2 (20), 8 bytes (width 4 at 22), 220 cycles for the data (32),
    // 40 for the TLB (48).
    let missed = 1 | 1 << 2 | 1 << 3 | 1 << 7 | 1 << 17 | 1 << 18 | 1 << 20 | 4 << 22 | 220 << 32 | 40 << 48;
    // DATA2: source 2, a cache of another core.
    let of = ibs::operation(&raw(0xff, data, 2, missed)).unwrap();
    let expected = Operation {
        code: Some(0x40_1234),
        address: Some(0x7fff_0000_1040),
        physical: Some(0x1_2345_6040),
        size: Some(8),
        reads: true,
        level: Level::Core,
        snoop: Snoop::Modified,
        tlb: Tlb::Walk,
        latency: Some(250),
        memory: Some(220),
        translation: Some(40),
        ..Operation::default()
    };
    assert_eq!(of, expected);
    let level = |can, data2, data3| ibs::operation(&raw(can, data, data2, data3)).map(|o| (o.level, o.snoop)).unwrap();
    // RmtNode (bit 4), memory (3).
    assert_eq!(level(0, 2 | 1 << 4, missed), (Level::RemoteCache, Snoop::Modified));
    assert_eq!(level(0, 3, missed), (Level::Memory, Snoop::Unknown));
    assert_eq!(level(0, 3 | 1 << 4, missed), (Level::RemoteMemory, Snoop::Unknown));
    assert_eq!(level(0, 7, missed), (Level::Device, Snoop::Unknown));
    // Zen 4 (bit 11 of what the CPU can do): 1 is the complex, 2 another one; the two high bits stand at 6: 8 is 0 | 1 << 6.
    let zen4 = 1 << 11;
    assert_eq!(level(zen4, 1, missed), (Level::L3, Snoop::Unknown));
    assert_eq!(level(zen4, 2, missed), (Level::Core, Snoop::Unknown));
    assert_eq!(level(zen4, 5, missed), (Level::RemoteCache, Snoop::Unknown));
    assert_eq!(level(zen4, 1 << 6, missed), (Level::RemoteMemory, Snoop::Unknown));
    assert_eq!(level(zen4, 4 | 1 << 6, missed), (Level::RemoteMemory, Snoop::Unknown));
    assert_eq!(level(0, 1 << 6, missed), (Level::Unknown, Snoop::Unknown));
    // Without a miss of L2 (20); with another miss on its way (16); without a miss of L1 (7); memory that is not cached (14).
    assert_eq!(level(0, 2, missed & !(1 << 20)).0, Level::L2);
    assert_eq!(level(0, 2, missed | 1 << 16).0, Level::Buffer);
    assert_eq!(level(0, 2, missed & !(1 << 7)).0, Level::L1);
    assert_eq!(level(0, 2, missed | 1 << 14).0, Level::Device);
    // A store (1) that missed: nothing tells where its line was. With both and the lock (15): atomic.
    assert_eq!(level(0, 2, missed & !1 | 2).0, Level::Unknown);
    let locked = ibs::operation(&raw(0, data, 2, missed | 2 | 1 << 15)).unwrap();
    assert_eq!(locked.deed(), "atomic");
    // A software prefetch (21) is no access.
    assert!(!ibs::operation(&raw(0, data, 2, missed | 1 << 21)).unwrap().is_access());
    // A branch that was retired (DATA bit 37), guessed wrong (36), whose RIP is not valid (38); no access.
    let branch = ibs::operation(&raw(0, data | 1 << 37 | 1 << 36 | 1 << 38, 0, 0)).unwrap();
    assert_eq!((branch.mispredicted, branch.code, branch.is_access()), (Some(true), None, false));
    // Counters that stand at their end say nothing.
    assert_eq!(ibs::operation(&raw(0, 0xffff << 16, 0, missed)).unwrap().latency, None);
    // Not valid, and cut off.
    let mut bytes = raw(0, data, 0, missed);
    bytes[6] = 0;
    assert_eq!(ibs::operation(&bytes), None);
    assert_eq!(ibs::operation(&raw(0, data, 0, missed)[..59]), None);
}

/// A record: address of the instruction, type, the counters, addresses of the data, events, source, and the timestamp that ends it.
fn record(class: u8, what: u8, events: u32, source: u8) -> Vec<u8> {
    let mut bytes = Vec::new();
    // 0xb0: address packet 0 of 8 bytes (size 3 in bits 5:4); EL0 and NS stand in the top byte (bits 63:61).
    bytes.push(0xb0);
    bytes.extend((0x0000_aaaa_0000_1234u64 | 1 << 63).to_le_bytes());
    // 0x65: context packet of EL2, 4 bytes.
    bytes.push(0x65);
    bytes.extend(4711u32.to_le_bytes());
    // 0x48 + class: type packet of a byte.
    bytes.extend([0x48 | class, what]);
    // 0x98, 0x99, 0x9a: counters of 2 bytes, total 350, issue 7, translation 21.
    bytes.extend([0x98, 0x5e, 0x01, 0x99, 7, 0, 0x9a, 21, 0]);
    // 0xb2: address of the data, with a tag in its top byte. 0xb3: physical, with the attributes that bits 63:56 hold.
    bytes.push(0xb2);
    bytes.extend((0x0000_ffff_0000_5678u64 | 0x3c << 56).to_le_bytes());
    bytes.push(0xb3);
    bytes.extend((0x0000_0008_8000_1678u64 | 0x80 << 56).to_le_bytes());
    // 0x62: events of 4 bytes (size 2). 0x43: source of a byte.
    bytes.push(0x62);
    bytes.extend(events.to_le_bytes());
    bytes.extend([0x43, source]);
    // Padding, then 0x71: timestamp of 8 bytes.
    bytes.extend([0, 0, 0x71]);
    bytes.extend(123_456u64.to_le_bytes());
    bytes
}

#[test]
fn packets_of_spe() {
    // A load (class 1, bit 0 clear): retired (1), L1 access and refill (2, 3), TLB access and walk (4, 5), last cache accessed and missed (8, 9).
    let events = 0b11_0011_1110;
    let found = operations(&record(1, 0, events, 12), Sources::Neoverse);
    let expected = Operation {
        code: Some(0xaaaa_0000_1234),
        address: Some(0xffff_0000_5678),
        physical: Some(0x8_8000_1678),
        reads: true,
        level: Level::Core,
        tlb: Tlb::Walk,
        latency: Some(350),
        translation: Some(21),
        context: Some(4711),
        ticks: Some(123_456),
        ..Operation::default()
    };
    assert_eq!((found.operations, found.damaged), (vec![expected], 0));
    let one = |class, what, events, source, sources| {
        let found = operations(&record(class, what, events, source), sources);
        assert_eq!((found.operations.len(), found.damaged), (1, 0));
        found.operations[0]
    };
    let level = |events, source, sources| one(1, 0, events, source, sources).level;
    // Neoverse: L1, L2, peer core, cache of the cluster, of the system, peer cluster, remote, memory.
    let known = [(0, Level::L1), (8, Level::L2), (9, Level::Core), (10, Level::L3), (11, Level::L3), (12, Level::Core)];
    for (source, expected) in known.into_iter().chain([(13, Level::Remote), (14, Level::Memory)]) {
        assert_eq!(level(events, source, Sources::Neoverse), expected, "{source}");
    }
    // Elsewhere by events alone: L1 access without refill; last access without miss; with it; remote (10).
    assert_eq!(level(0b1_0110, 14, Sources::Unknown), Level::L1);
    assert_eq!(level(0b1_0000_1110, 14, Sources::Unknown), Level::L3);
    assert_eq!(level(0b11_0000_1110, 14, Sources::Unknown), Level::Unknown);
    assert_eq!(level(0b111_0000_1110, 14, Sources::Unknown), Level::Remote);
    // SPE 1.4: data snooped (23), changed there (21); L2 accessed (19), not missed (20).
    let snooped = one(1, 0, 0b1110 | 1 << 23 | 1 << 21, 99, Sources::Neoverse);
    assert_eq!((snooped.level, snooped.snoop), (Level::Core, Snoop::Modified));
    assert_eq!(level(0b1110 | 1 << 19, 99, Sources::Unknown), Level::L2);
    // 0x01: a store. 0x16: bit 1 with bits 7:5 clear, atomic (2), acquire or release (4). 0x0a: a load of an exclusive pair, bits 1 and 3.
    let deed = |what| one(1, what, events, 0, Sources::Neoverse).deed();
    assert_eq!((deed(0x01), deed(0x16), deed(0x0a), deed(0x04)), ("store", "atomic", "load", "load"));
    // A branch (class 2), guessed wrong (event 7); another operation (class 0).
    let branch = one(2, 1, 1 << 7 | 2, 0, Sources::Neoverse);
    assert_eq!((branch.mispredicted, branch.is_access(), branch.level), (Some(true), false, Level::Unknown));
    assert!(!one(0, 0, 2, 0, Sources::Neoverse).is_access());
    // Of the kernel: EL1 in bits 62:61 of the top byte, the rest of which is not told; bit 55 is set.
    let mut kernel = vec![0xb0];
    kernel.extend((0x00ff_8000_0812_3456u64 | 0x20 << 56).to_le_bytes());
    kernel.push(0x01);
    assert_eq!(operations(&kernel, Sources::Unknown).operations[0].code, Some(0xffff_8000_0812_3456));
    // A header of two bytes: 0x20 | upper bits of the index, then that of a counter; index 8 is none that is known.
    let extended = [&[0x21, 0x98, 5, 0][..], &record(1, 0, events, 0)].concat();
    assert_eq!(operations(&extended, Sources::Neoverse).operations[0].latency, Some(350));
}

#[test]
fn cpus_whose_sources_are_known() {
    // MIDR_EL1 of Neoverse N1 r3p1, V2 r0p0; of a Cortex-A72, and of another maker (0x48).
    assert_eq!(Sources::of(0x413f_d0c1), Sources::Neoverse);
    assert_eq!(Sources::of(0x410f_d4f0), Sources::Neoverse);
    assert_eq!(Sources::of(0x410f_d083), Sources::Unknown);
    assert_eq!(Sources::of(0x481f_d0c0), Sources::Unknown);
}

#[test]
fn damaged_packets_cost_their_record_alone() {
    let whole = record(1, 0, 0b1110, 8);
    // 0xff is no header; before it are the packets of address, context and type.
    let damaged = [&whole[..16], &[0xff][..], &whole[16..], &whole].concat();
    let found = operations(&damaged, Sources::Neoverse);
    assert_eq!((found.operations.len(), found.damaged > 0), (1, true));
    // Cut off anywhere in the second: that is missing, and nothing is damaged.
    for cut in 0..whole.len() {
        let bytes = [&whole, &whole[..cut]].concat();
        assert_eq!(operations(&bytes, Sources::Neoverse), operations(&whole, Sources::Neoverse), "{cut}");
    }
}

proptest! {
    #[test]
    fn hostile_bytes_end_nothing(bytes in proptest::collection::vec(any::<u8>(), 0..600), number in any::<u64>()) {
        for sources in [Sources::Unknown, Sources::Neoverse] {
            let found = operations(&bytes, sources);
            prop_assert!(found.operations.len() as u64 + found.damaged <= bytes.len() as u64);
        }
        let _ = ibs::operation(&bytes);
        let of = data_source(number);
        prop_assert!(!of.atomic || of.is_access() || !of.reads);
        Weight::Parts(number).put(&mut Operation::default());
    }

    #[test]
    fn records_come_back_one_by_one(kinds in proptest::collection::vec((0u8..3, any::<u8>(), any::<u32>(), any::<u8>()), 0..12)) {
        let bytes: Vec<u8> = kinds.iter().flat_map(|&(class, what, events, source)| record(class, what, events, source)).collect();
        let found = operations(&bytes, Sources::Neoverse);
        prop_assert_eq!((found.operations.len(), found.damaged), (kinds.len(), 0));
        prop_assert!(found.operations.iter().all(|o| o.address == Some(0xffff_0000_5678) && o.latency == Some(350)));
    }
}

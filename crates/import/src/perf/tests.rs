//! Files of perf with accesses, made byte by byte: what `perf record` writes for the loads and stores of PEBS, for IBS and for SPE, with addresses and
//! outcomes that are known. perf 6.1 reads these files too, and says the same of data sources and weights (`perf mem report`, `perf script -F
//! data_src,weight`) and of packets (`perf report -D`).

use crate::{Options, Profile};
use std::collections::BTreeMap;
use std::io::Cursor;

/// Bits of `sample_type`: identifier, address of the instruction, thread, time, address, CPU, period.
const COMMON: u64 = 1 << 16 | 1 | 1 << 1 | 1 << 2 | 1 << 3 | 1 << 7 | 1 << 8;
const RAW: u64 = 1 << 10;
const WEIGHT: u64 = 1 << 14;
const DATA_SRC: u64 = 1 << 15;
const PHYS_ADDR: u64 = 1 << 19;
const WEIGHT_STRUCT: u64 = 1 << 24;

/// An event: type, configuration, period, sample type, flags, name; its id is its place and 1.
type Event = (u32, u64, u64, u64, u64, &'static str);

/// `sample_id_all`, with which records that are no samples have a trailer.
const TRAILERS: u64 = 1 << 18;

fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn halves(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn record(kind: u32, misc: u16, body: &[u8]) -> Vec<u8> {
    let size = u16::try_from(body.len() + 8).unwrap();
    [&kind.to_le_bytes()[..], &misc.to_le_bytes(), &size.to_le_bytes(), body].concat()
}

/// A text as the header has it: its length, and padding to 64 bytes.
fn string(text: &str) -> Vec<u8> {
    let length = (text.len() / 64 + 1) * 64;
    let mut bytes = halves(&[length as u32]);
    bytes.extend(text.as_bytes());
    bytes.resize(4 + length, 0);
    bytes
}

/// A whole file: header, ids, records, features.
fn file(events: &[Event], cpu: &str, pmus: &[(u32, &str)], records: &[u8]) -> Vec<u8> {
    const ATTR: usize = 128;
    let attr = |&(kind, config, period, types, flags, _): &Event| {
        let mut bytes = [halves(&[kind, ATTR as u32]), words(&[config, period, types, 0, flags])].concat();
        bytes.resize(ATTR, 0);
        bytes
    };
    let ids_at = 104;
    let attrs_at = ids_at + 8 * events.len();
    let data_at = attrs_at + (ATTR + 16) * events.len();
    let ids = words(&(1..=events.len() as u64).collect::<Vec<_>>());
    let attrs = events.iter().zip(0..).flat_map(|(e, n)| [attr(e), words(&[ids_at as u64 + 8 * n, 8])].concat());
    let described = events
        .iter()
        .zip(1..)
        .flat_map(|(event, id)| [attr(event), halves(&[1]), string(event.5), words(&[id])].concat());
    let described = [halves(&[events.len() as u32, ATTR as u32]), described.collect()].concat();
    let named = pmus.iter().flat_map(|(kind, name)| [halves(&[*kind]), string(name)].concat());
    let named = [halves(&[pmus.len() as u32]), named.collect()].concat();
    // By the number of their bits.
    let features = BTreeMap::from([
        (3u32, string("machine")),
        (4, string("6.12.0")),
        (6, string(if cpu.starts_with("0x") { "aarch64" } else { "x86_64" })),
        (9, string(cpu)),
        (12, described),
        (16, named),
    ]);
    let mut at = data_at + records.len() + 16 * features.len();
    let mut table = Vec::new();
    for bytes in features.values() {
        table.extend(words(&[at as u64, bytes.len() as u64]));
        at += bytes.len();
    }
    let bits = features.keys().fold(0u64, |bits, bit| bits | 1 << bit);
    let sections = [attrs_at, (ATTR + 16) * events.len(), data_at, records.len(), 0, 0].map(|n| n as u64);
    [
        b"PERFILE2".to_vec(),
        words(&[104, ATTR as u64 + 16]),
        words(&sections),
        words(&[bits, 0, 0, 0]),
        ids,
        attrs.collect(),
        records.to_vec(),
        table,
        features.into_values().flatten().collect(),
    ]
    .concat()
}

/// Trailer of a record that is no sample: thread, time, CPU, identifier.
fn trailer(tid: u32, time: u64, cpu: u32) -> Vec<u8> {
    [halves(&[100, tid]), words(&[time]), halves(&[cpu, 0]), words(&[1])].concat()
}

/// A process of two threads with its program at 0x400000.
fn process() -> Vec<u8> {
    let name = |tid: u32, name: &str| {
        let mut text = name.as_bytes().to_vec();
        text.resize(8, 0);
        record(3, if tid == 100 { 1 << 13 } else { 0 }, &[halves(&[100, tid]), text, trailer(tid, 1, 0)].concat())
    };
    let mut path = b"/nowhere/app".to_vec();
    path.resize(16, 0);
    let mapped = [halves(&[100, 100]), words(&[0x40_0000, 0x10_0000, 0x1000, 0, 0, 0, 5]), path, trailer(100, 1, 0)];
    // Threads 101 and 102 are begun by the first.
    let begun = |tid: u32| record(7, 0, &[halves(&[100, 100, tid, 100]), words(&[1]), trailer(tid, 1, 0)].concat());
    let named = [name(101, "left"), name(102, "right")].concat();
    [name(100, "app"), record(10, 2, &mapped.concat()), begun(101), begun(102), named].concat()
}

/// A sample of a thread, in user space with an exact address of the instruction.
fn sample(id: u64, ip: u64, tid: u32, time: u64, address: u64, rest: &[u8]) -> Vec<u8> {
    let body = [words(&[id, ip]), halves(&[100, tid]), words(&[time, address]), halves(&[tid % 2, 0]), words(&[1])];
    record(9, 2 | 1 << 14, &[&body.concat(), rest].concat())
}

/// What perf writes to a pipe: two samples of a clock.
pub(crate) fn piped() -> Vec<u8> {
    let mut attr = [halves(&[1, 128]), words(&[0, 1_000_000, COMMON, 0, TRAILERS])].concat();
    attr.resize(128, 0);
    let header = [b"PERFILE2".to_vec(), words(&[16])].concat();
    let samples = [10, 20].map(|time| sample(1, 0x40_0100, 101, time, 0, &[])).concat();
    [header, record(64, 0, &[attr, words(&[1])].concat()), process(), samples].concat()
}

/// An event that only fills a buffer stands first and has no samples of its own.
#[test]
fn the_event_that_has_samples_is_taken() {
    let events = [
        (8, 0x1000_6000, 1, COMMON, TRAILERS, "intel_pt//"),
        (1, 9, 1, COMMON, TRAILERS, "dummy:u"),
        (0, 1, 1000, COMMON, TRAILERS, "instructions:u"),
    ];
    let samples = [10, 20, 30].map(|time| sample(3, 0x40_0100, 101, time, 0, &[])).concat();
    let profile = read(&file(&events, "GenuineIntel-6-85-4", &[], &[process(), samples].concat()));
    assert_eq!(profile.samples.len(), 3);
    assert!(!profile.notes().iter().any(|note| note.contains("other events")), "{:?}", profile.notes());
}

fn read(bytes: &[u8]) -> Profile {
    // For looking at it with perf itself.
    if let Some(folder) = std::env::var_os("TWINSCOPE_KEEP_PERF_DATA") {
        let name = std::thread::current().name().unwrap_or("perf").replace("::", "-");
        let path = std::path::Path::new(&folder).join(format!("{name}.data"));
        // Of several the first.
        if !path.exists() {
            std::fs::write(path, bytes).unwrap();
        }
    }
    let mut profile = Profile::new(Options { symbols: false, ..Options::default() });
    super::read(&mut Cursor::new(bytes), &mut profile).unwrap();
    profile
}

/// The rows of a table: some columns, with words for cells of texts.
fn rows(profile: &Profile, table: &str, columns: &[&str]) -> Vec<String> {
    let texts = ["comm", "thread", "kind", "level", "snoop", "tlb", "memory"];
    let cell = |row: &[(&str, i64)], column: &str| {
        let value = row.iter().find(|(name, _)| *name == column).unwrap_or_else(|| panic!("{column}")).1;
        match profile.symbols.text(value) {
            _ if value == model::NULL => "-".to_owned(),
            Some(text) if texts.contains(&column) => text.to_owned(),
            _ => value.to_string(),
        }
    };
    let row = |row: &Vec<(&str, i64)>| columns.iter().map(|column| cell(row, column)).collect::<Vec<_>>().join(" ");
    profile.table(table).iter().map(row).collect()
}

const OF_INSTRUCTION: [&str; 11] =
    ["tid", "thread", "kind", "level", "snoop", "tlb", "address", "samples", "timed", "latency", "memory"];
const OF_LINE: [&str; 12] = [
    "line",
    "tid",
    "code",
    "first",
    "size",
    "reads",
    "writes",
    "atomic",
    "sampled",
    "from_core",
    "modified",
    "latency",
];

/// A load that found its line changed by another core, through the second TLB: LOAD, LVL HIT|L3, SNOOP HITM, TLB HIT|L2, LVLNUM L3.
const MODIFIED: u64 = 0x2 | 0x42 << 5 | 0x10 << 19 | 0x12 << 26 | 0x3 << 33;
/// A load of the first cache: LOAD, LVL HIT|L1, SNOOP NONE, TLB HIT|L1|L2, LVLNUM L1.
const NEAR: u64 = 0x2 | 0xa << 5 | 0x2 << 19 | 0x1a << 26 | 0x1 << 33;
/// A store to the first cache: STORE, LVL HIT|L1.
const STORE: u64 = 0x4 | 0xa << 5;
/// What a sample that is no access has: OP NA, LVL NA, SNOOP NA, LOCK NA, TLB NA.
const NOTHING: u64 = 1 | 1 << 5 | 1 << 19 | 1 << 24 | 1 << 26;

/// As `perf mem record` writes it: a helper that never samples, loads and stores.
#[test]
fn loads_and_stores_of_pebs() {
    let types = COMMON | WEIGHT | DATA_SRC | PHYS_ADDR;
    let events: [Event; 3] = [
        (4, 0x8203, 0, types, TRAILERS, "cpu/mem-loads-aux/"),
        (4, 0x1cd, 1000, types, TRAILERS, "cpu/mem-loads,ldlat=30/P"),
        (4, 0x82d0, 1000, types, TRAILERS, "cpu/mem-stores/P"),
    ];
    let data = |weight: u64, source: u64| words(&[weight, source, 0x1234_5008]);
    let mut records = process();
    for n in 0..6 {
        let time = 2_000_000_000 + n * 1_000_000;
        records.extend(sample(2, 0x40_0100, 101, time, 0x7f00_0000_1008, &data(200 + n, MODIFIED)));
        records.extend(sample(3, 0x40_0200, 102, time, 0x7f00_0000_1010, &data(0, STORE)));
        records.extend(sample(2, 0x40_0300, 102, time, 0x7f00_0000_4000 + n * 8, &data(35, NEAR)));
        records.extend(sample(2, 0x40_0400, 102, time, 0, &data(0, NOTHING)));
    }
    let profile = read(&file(&events, "GenuineIntel,6,143,8", &[(4, "cpu")], &records));
    // 200 to 205 cycles, six times.
    assert_eq!(
        rows(&profile, "instruction_access", &OF_INSTRUCTION),
        [
            // The program's first byte in memory is that at 0x1000 of its file.
            "101 left load other core modified L2 hit 4352 6 6 1215 -",
            "102 right store L1 unknown unknown 4608 6 0 0 -",
            "102 right load L1 none hit 4864 6 6 210 -",
        ]
    );
    assert_eq!(
        rows(&profile, "sharing_line", &["number", "pid", "comm", "address", "memory"]),
        [format!("1 100 app {} -", 0x7f00_0000_1000u64)]
    );
    assert_eq!(
        rows(&profile, "sharing_access", &OF_LINE),
        [format!("1 101 {} 8 0 1 0 0 6 6 6 1215", 0x40_0100), format!("1 102 {} 16 0 0 1 0 6 0 0 0", 0x40_0200),]
    );
    // As a profile it is of the loads, and says so.
    assert_eq!(profile.samples.len(), 18);
    let notes = profile.notes();
    assert!(notes.iter().any(|n| n.contains("mem-loads,ldlat=30/P samples accesses")), "{notes:?}");
    assert!(notes.iter().any(|n| n.contains("6 samples of other events")), "{notes:?}");
}

/// Weights in parts, as from Sapphire Rapids on: 180 cycles for the data, 212 in all.
#[test]
fn weights_in_parts_after_other_fields() {
    let types = COMMON | RAW | WEIGHT_STRUCT | DATA_SRC;
    let events: [Event; 1] = [(4, 0x1cd, 1000, types, TRAILERS, "cpu/mem-loads,ldlat=30/P")];
    // Raw data of 4 bytes, whose length stands before them.
    let rest = [halves(&[4, 0]), words(&[180 | 212 << 32, MODIFIED])].concat();
    let records = [process(), sample(1, 0x40_0100, 101, 2_000_000_000, 0x1008, &rest)].concat();
    let profile = read(&file(&events, "GenuineIntel,6,143,8", &[], &records));
    assert_eq!(
        rows(&profile, "instruction_access", &OF_INSTRUCTION),
        ["101 left load other core modified L2 hit 4352 1 1 212 180"]
    );
    // A line that was changed elsewhere is kept, though who changed it was not sampled.
    assert_eq!(rows(&profile, "sharing_access", &["tid", "modified"]), ["101 1"]);
}

/// As `perf record -e ibs_op//` writes it: the registers as raw data, and no data source.
#[test]
fn registers_of_ibs() {
    let events: [Event; 1] = [(11, 0, 100_000, COMMON | RAW, TRAILERS, "ibs_op//")];
    let sampled = |tid: u32, ip: u64, address: u64, data2: u64, data3: u64| {
        // What the CPU can do, and seven registers (crates/access/src/ibs.rs): 60 bytes.
        let registers = [1 << 18, ip, 300 | 550 << 16, data2, data3, address, 0];
        let raw = [halves(&[60, 0xff]), words(&registers)].concat();
        sample(1, ip, tid, 2_000_000_000, address, &raw)
    };
    // A load of 8 bytes that missed both caches and came from another core; 220 cycles for the data.
    let missed = 1 | 1 << 7 | 1 << 17 | 1 << 20 | 4 << 22 | 220 << 32;
    let locked = 3 | 1 << 15 | 1 << 17 | 4 << 22;
    let records = [
        process(),
        sampled(101, 0x40_0100, 0x2008, 2, missed),
        sampled(102, 0x40_0200, 0x2010, 0, locked),
        // No access.
        sampled(102, 0x40_0300, 0, 0, 0),
    ];
    let profile = read(&file(&events, "AuthenticAMD,25,1,1", &[(11, "ibs_op")], &records.concat()));
    assert_eq!(
        rows(&profile, "instruction_access", &OF_INSTRUCTION),
        ["101 left load other core modified hit 4352 1 1 250 220", "102 right atomic L1 unknown hit 4608 1 1 250 -",]
    );
    assert_eq!(
        rows(&profile, "sharing_access", &OF_LINE),
        [format!("1 101 {} 8 8 1 0 0 1 1 1 250", 0x40_0100), format!("1 102 {} 16 8 1 1 1 1 0 0 0", 0x40_0200),]
    );
    assert_eq!(profile.samples.len(), 3, "it is a profile as well");
}

/// A record of SPE, as in crates/access/src/tests.rs: address of the instruction, type, total latency, address, events, source, context, timestamp.
fn packets(ip: u64, what: u8, latency: u16, address: u64, source: u8, tid: Option<u32>, ticks: u64) -> Vec<u8> {
    let eight = |header: u8, value: u64| [&[header][..], &value.to_le_bytes()].concat();
    let [low, high] = latency.to_le_bytes();
    [
        eight(0xb0, ip | 1 << 63),
        vec![0x49, what, 0x98, low, high],
        eight(0xb2, address),
        // L1 accessed and refilled, TLB accessed.
        vec![0x52, 0b0001_1110, 0, 0x43, source],
        tid.map_or_else(Vec::new, |tid| [&[0x64][..], &tid.to_le_bytes()].concat()),
        eight(0x71, ticks),
    ]
    .concat()
}

/// As `perf record -e arm_spe_0//` writes it: buffers between records.
#[test]
fn buffers_of_spe() {
    let types = COMMON & !(1 << 8) | 1 << 8;
    let events: [Event; 2] =
        [(8, 0x1_0000_0001, 4096, types, TRAILERS, "arm_spe_0/ts_enable=1/"), (1, 9, 1, types, TRAILERS, "dummy:u")];
    let buffer = |cpu: u32, bytes: &[u8]| {
        // Length, place, number; index, thread (none), CPU.
        let head = [words(&[bytes.len() as u64, 0, 0]), halves(&[0, u32::MAX, cpu, 0])].concat();
        [&record(71, 0, &head), bytes].concat()
    };
    let loads: Vec<u8> =
        (0..5).flat_map(|n| packets(0x40_0100, 0, 300, 0x3008, 12, Some(101), 2_000_000_000 + n * 1000)).collect();
    let stores: Vec<u8> =
        (0..5).flat_map(|n| packets(0x40_0200, 1, 9, 0x3010, 0, None, 2_000_000_000 + n * 1000)).collect();
    // A switch on CPU 1: thread 102 comes in. Ticks are nanoseconds here: shift 0, factor 1, zero 0.
    let switch = record(14, 0, &trailer(102, 1_500_000_000, 1));
    let records = [
        // AUXTRACE_INFO: kind 4 is SPE; then the number of the PMU, and that each CPU has a buffer.
        record(70, 0, &[halves(&[4, 0]), words(&[8, 1])].concat()),
        record(79, 0, &words(&[0, 1, 0])),
        process(),
        switch,
        buffer(0, &loads),
        buffer(1, &stores),
        // Where nobody is known to have run.
        buffer(2, &packets(0x40_0300, 0, 5, 0x3020, 0, None, 2_000_000_000)),
        record(68, 0, &[]),
    ];
    let pmus = [(8, "arm_spe_0")];
    let profile = read(&file(&events, "0x00000000410fd0c1", &pmus, &records.concat()));
    assert_eq!(
        rows(&profile, "instruction_access", &OF_INSTRUCTION),
        ["101 left load other core unknown hit 4352 5 5 1500 -", "102 right store L1 unknown hit 4608 5 5 45 -",]
    );
    assert_eq!(rows(&profile, "instruction_access", &["at"]), ["2000000000"; 2]);
    assert_eq!(
        rows(&profile, "sharing_access", &OF_LINE),
        [format!("1 101 {} 8 0 1 0 0 5 5 0 1500", 0x40_0100), format!("1 102 {} 16 0 0 1 0 5 0 0 0", 0x40_0200),]
    );
    assert_eq!(profile.samples.len(), 10);
    let notes = profile.notes();
    assert!(notes.iter().any(|n| n.starts_with("1 operations of SPE")), "{notes:?}");
    assert!(notes.iter().any(|n| n.contains("samples operations")), "{notes:?}");
    // Of another CPU levels are told by events alone: refilled, from where is not said.
    let other = read(&file(&events, "0x00000000480fd010", &pmus, &records.concat()));
    assert_eq!(rows(&other, "instruction_access", &["level"]), ["unknown", "unknown"]);
    assert!(other.notes().iter().any(|n| n.contains("by its events alone")), "{:?}", other.notes());
    // Another trace of hardware is left out, as before.
    let trace: [Event; 1] = [(9, 0, 1, types, TRAILERS, "intel_pt//")];
    let traced = read(&file(&trace, "GenuineIntel,6,143,8", &[(9, "intel_pt")], &records[1..].concat()));
    assert!(traced.table("instruction_access").is_empty());
    assert!(traced.notes().iter().any(|n| n.contains("blocks of hardware traces")), "{:?}", traced.notes());
}

/// Damage anywhere in such a file ends nothing.
#[test]
fn cut_off_and_damaged_files() {
    let types = COMMON | WEIGHT | DATA_SRC | PHYS_ADDR;
    let events: [Event; 2] =
        [(4, 0x1cd, 1000, types, TRAILERS, "cpu/mem-loads,ldlat=30/P"), (8, 0, 1, types, TRAILERS, "arm_spe_0//")];
    let spe = packets(0x40_0100, 0, 300, 0x3008, 12, Some(101), 2_000_000_000);
    let head = [words(&[spe.len() as u64, 0, 0]), halves(&[0, u32::MAX, 0, 0])].concat();
    let load = sample(1, 0x40_0100, 101, 2_000_000_000, 0x7f00_0000_1008, &words(&[200, MODIFIED, 0]));
    let records = [process(), load, record(71, 0, &head), spe].concat();
    let whole = file(&events, "0x410fd0c1", &[(8, "arm_spe_0")], &records);
    for at in 0..whole.len() {
        let mut profile = Profile::new(Options { symbols: false, ..Options::default() });
        let _ = super::read(&mut Cursor::new(&whole[..at]), &mut profile);
        let mut damaged = whole.clone();
        damaged[at] ^= 0xff;
        let _ = super::read(&mut Cursor::new(&damaged), &mut profile);
    }
}

//! Tests on made-up JVMs: memory that describes itself as HotSpot's does, of several versions, whole, cut off and damaged.

use super::*;
use crate::hotspot::tables::EXPORTED;
use proptest::prelude::*;

/// Where the made-up memory begins.
const BASE: u64 = 0x7f00_0000_0000;

/// Memory that a test made.
#[derive(Clone)]
struct Made {
    bytes: Vec<u8>,
}

impl Made {
    fn put(&mut self, bytes: &[u8]) -> u64 {
        let at = self.bytes.len().next_multiple_of(16);
        self.bytes.resize(at, 0);
        self.bytes.extend_from_slice(bytes);
        BASE + at as u64
    }

    fn words_at(&mut self, words: &[u64]) -> u64 {
        self.put(&words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<_>>())
    }

    fn text_at(&mut self, text: &str) -> u64 {
        self.put(&[text.as_bytes(), &[0]].concat())
    }

    fn set(&mut self, address: u64, word: u64) {
        let at = (address - BASE) as usize;
        self.bytes[at..at + 8].copy_from_slice(&word.to_ne_bytes());
    }
}

impl Memory for Made {
    fn some(&self, address: u64, into: &mut [u8]) -> Result<usize, Trouble> {
        let rest = usize::try_from(address.wrapping_sub(BASE)).ok().and_then(|at| self.bytes.get(at..));
        let rest = rest.unwrap_or_default();
        let length = rest.len().min(into.len());
        into[..length].copy_from_slice(&rest[..length]);
        Ok(length)
    }
}

/// What a made-up JVM is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Like {
    /// 8: threads in a chain, pointers to objects in monitors, fields of `Thread`, classes compressed by `Universe`.
    Eight,
    /// 17: a list of threads, handles, owners by address.
    Seventeen,
    /// 17 with `-XX:-UseCompressedClassPointers`.
    Whole,
    /// 25: owners by number, classes in the header.
    Compact,
    /// 25 with ZGC.
    Coloured,
}

const ALL: [Like; 5] = [Like::Eight, Like::Seventeen, Like::Whole, Like::Compact, Like::Coloured];

fn machine(memory: &Made, exported: &[u64; EXPORTED.len()]) -> Result<Machine, Unknown> {
    Machine::new(memory, &Way::new(memory, exported)?)
}

/// A JVM and what is asked for in tests.
struct Jvm {
    memory: Made,
    exported: [u64; EXPORTED.len()],
    /// The handle (or the field) that holds the object of the first monitor, and the mask of bad colours.
    slot: u64,
    bad: u64,
    threads: [u64; 3],
    /// Where the number of threads is, or the first of them.
    list: u64,
}

/// Three threads: 101 owns a monitor of `a/Hot` that 102 waits for; 103 waits for that of the class `b/Cold`, which nobody owns.
fn made(like: Like) -> Jvm {
    let old = like == Like::Eight;
    let new = matches!(like, Like::Compact | Like::Coloured);
    let mut m = Made { bytes: Vec::new() };
    let klass = |m: &mut Made, name: &str| {
        let mut symbol = vec![0; 4];
        symbol.extend((name.len() as u16).to_ne_bytes());
        symbol.extend(name.bytes());
        let symbol = m.put(&symbol);
        m.words_at(&[0, symbol])
    };
    let klasses = ["a/Hot", "java/lang/Class", "b/Cold"].map(|name| klass(&mut m, name));
    let header = |klass: u64| match like {
        Like::Whole => [1, klass],
        Like::Compact => [((klass - BASE) >> 3) << 42 | 2, 0],
        _ => [1, (klass - BASE) >> 3 | 0x7777_0000_0000_0000],
    };
    let object = |m: &mut Made, klass: u64, mirrored: u64| {
        let [mark, word] = header(klass);
        m.words_at(&[mark, word, 0, mirrored])
    };
    let objects = [object(&mut m, klasses[0], 0), object(&mut m, klasses[1], klasses[2])];
    let pointers = objects.map(|object| if like == Like::Coloured { object << 13 | 0x1510 } else { object });
    let slots = pointers.map(|pointer| if old { pointer } else { m.words_at(&[pointer]) });
    let os = [101, 102, 103].map(|tid: u64| m.words_at(&[0, tid | 0x5555_0000_0000]));
    // pending, sp, osthread, stack base, stack size, next, owner id
    let threads = os.map(|os| m.words_at(&[0, 0, os, 0, 0x1000, 0, 0]));
    for (i, thread) in (0u64..).zip(threads) {
        m.set(thread + 8, 0x5000 + i);
        m.set(thread + 24, 0x9000_0000 + i * 0x1000);
        m.set(thread + 48, 30 + i);
    }
    let owner = if new {
        30
    } else if like == Like::Whole {
        0x9000_0000 - 8
    } else {
        threads[0]
    };
    let monitors = [m.words_at(&[slots[0], owner]), m.words_at(&[slots[1], u64::from(new)])];
    m.set(threads[1], monitors[0]);
    m.set(threads[2], monitors[1]);
    m.set(threads[0] + 40, threads[1]);
    m.set(threads[1] + 40, threads[2]);
    let array = m.words_at(&threads);
    let list = m.words_at(&[3, array]);
    let head = m.words_at(&[if old { threads[0] } else { list }]);
    let version = m.words_at(&[if new { 25 } else { 17 }]);
    let (base, shift) = (m.words_at(&[BASE]), m.words_at(&[3]));
    let mirrored = m.words_at(&[24]);
    let (bad, by) = (m.words_at(&[0xe000]), m.words_at(&[13]));
    let globals = m.words_at(&[bad, by]);
    let instance = m.words_at(&[globals]);
    let mut flags = Vec::new();
    for (name, on) in [
        ("UseCompressedOops", true),
        ("UseCompressedClassPointers", like != Like::Whole),
        ("UseCompactObjectHeaders", like == Like::Compact),
        ("UseZGC", like == Like::Coloured),
    ] {
        let (name, value) = (m.text_at(name), m.put(&[u8::from(on); 8]));
        flags.extend([name, value]);
    }
    let number = m.words_at(&[flags.len() as u64 / 2]);
    let flags = m.words_at(&flags);
    let flags = m.words_at(&[flags]);
    let (thread, flag) = if old { ("Thread", "Flag") } else { ("JavaThread", "JVMFlag") };
    let compression = if old { "Universe" } else { "CompressedKlassPointers" };
    let (narrow_base, narrow_shift) =
        if new { ("_base", "_shift") } else { ("_narrow_klass._base", "_narrow_klass._shift") };
    let mut fields = vec![
        ("JavaThread", "_anchor", 8, 0),
        ("JavaFrameAnchor", "_last_Java_sp", 0, 0),
        (thread, "_current_pending_monitor", 0, 0),
        (thread, "_osthread", 16, 0),
        (thread, "_stack_base", 24, 0),
        (thread, "_stack_size", 32, 0),
        ("OSThread", "_thread_id", 8, 0),
        ("ObjectMonitor", "_object", 0, 0),
        ("ObjectMonitor", "_owner", 8, 0),
        ("oopDesc", "_mark", 0, 0),
        ("oopDesc", "_metadata._klass", 8, 0),
        ("oopDesc", "_metadata._compressed_klass", 8, 0),
        ("Klass", "_name", 8, 0),
        ("Symbol", "_length", 4, 0),
        ("Symbol", "_body", 6, 0),
        (compression, narrow_base, 0, base),
        (compression, narrow_shift, 0, shift),
        ("java_lang_Class", "_klass_offset", 0, mirrored),
        (flag, "flags", 0, flags),
        (flag, "numFlags", 0, number),
        (flag, "_name", 0, 0),
        (flag, "_addr", 8, 0),
        ("ZGlobalsForVMStructs", "_instance_p", 0, instance),
        ("ZGlobalsForVMStructs", "_ZPointerLoadBadMask", 0, 0),
        ("ZGlobalsForVMStructs", "_ZPointerLoadShift", 8, 0),
        ("Abstract_VM_Version", "_vm_major_version", 0, version),
    ];
    if old {
        fields.extend([("Threads", "_thread_list", 0, head), ("JavaThread", "_next", 40, 0)]);
    } else {
        fields.push(("ThreadsSMRSupport", "_java_thread_list", 0, head));
        fields.extend([("ThreadsList", "_length", 0, 0), ("ThreadsList", "_threads", 8, 0)]);
    }
    if new {
        fields.push(("JavaThread", "_monitor_owner_id", 48, 0));
    }
    let mut structs = Vec::new();
    for (owner, field, offset, address) in fields {
        let kind = if new && field == "_owner" { m.text_at("int64_t") } else { 0 };
        structs.extend([m.text_at(owner), m.text_at(field), kind, 0, offset, address]);
    }
    structs.extend([0; 6]);
    let structs = m.words_at(&structs);
    let types = [m.text_at(flag), 16, 0, 0];
    let types = m.words_at(&types);
    let longs = [m.text_at("markWord::klass_shift"), 42, 0, 0];
    let longs = m.words_at(&longs);
    let values = [structs, 48, 0, 8, 16, 32, 40, types, 16, 0, 8, longs, 16, 0, 8, 0, 0, 0, 0];
    let exported = values.map(|value| m.words_at(&[value]));
    let slot = if old { monitors[0] } else { slots[0] };
    Jvm { memory: m, exported, slot, bad, threads, list: if old { head } else { list } }
}

fn said(machine: &mut Machine, memory: &impl Memory) -> Vec<String> {
    let found = machine.look(memory, true).unwrap();
    let line = |p: &Pending| format!("{} {:#x} {} {:?}", p.tid, p.sp, p.of.as_deref().unwrap_or("?"), p.owner);
    found.iter().map(line).collect()
}

#[test]
fn who_waits_for_what_in_all_versions() {
    for like in ALL {
        let jvm = made(like);
        let mut machine = machine(&jvm.memory, &jvm.exported).unwrap();
        let expected = ["102 0x5001 a.Hot Some(101)", "103 0x5002 class b.Cold None"];
        assert_eq!(said(&mut machine, &jvm.memory), expected, "{like:?}");
        // And from what is remembered.
        assert_eq!(said(&mut machine, &jvm.memory), expected, "{like:?}");
    }
}

#[test]
fn what_cannot_be_told_is_not_guessed() {
    for like in ALL {
        let Jvm { mut memory, exported, slot, bad, threads, .. } = made(like);
        let mut machine = machine(&memory, &exported).unwrap();
        if like == Like::Coloured {
            // A pointer that the collector has not put right yet.
            memory.set(bad, 0xf000);
            assert_eq!(said(&mut machine, &memory)[0], "102 0x5001 ? Some(101)");
            memory.set(bad, 0xe000);
        }
        memory.set(slot, 0);
        assert_eq!(said(&mut machine, &memory)[0], "102 0x5001 ? Some(101)", "{like:?}");
        memory.set(threads[1], 0);
        assert_eq!(said(&mut machine, &memory), ["103 0x5002 class b.Cold None"], "{like:?}");
        // Another program in its place.
        memory.set(exported[0], 1);
        assert_eq!(machine.look(&memory, true), Err(Trouble::Gone), "{like:?}");
    }
}

#[test]
fn what_a_jvm_does_not_tell_is_named() {
    let Jvm { memory, mut exported, .. } = made(Like::Compact);
    // No constants.
    exported[11] = 0;
    assert_eq!(machine(&memory, &exported).unwrap_err(), Unknown::Missing("markWord::klass_shift"));
    // One that has just been started.
    exported[0] = 0;
    assert_eq!(machine(&memory, &exported).unwrap_err(), Unknown::Starting);
    for like in ALL {
        let Jvm { mut memory, exported, list, .. } = made(like);
        memory.set(list, 0);
        assert_eq!(machine(&memory, &exported).unwrap_err(), Unknown::Starting, "{like:?}");
    }
}

#[test]
fn a_chain_of_threads_that_bites_its_tail_ends() {
    let mut jvm = made(Like::Eight);
    let mut machine = machine(&jvm.memory, &jvm.exported).unwrap();
    jvm.memory.set(jvm.threads[2] + 40, jvm.threads[0]);
    assert_eq!(machine.look(&jvm.memory, true).unwrap().len(), MOST_PENDING);
}

/// Looks twice at memory that may be anything. Names that come out are names.
fn look_at(jvm: &Jvm) {
    if let Ok(mut machine) = machine(&jvm.memory, &jvm.exported) {
        for _ in 0..2 {
            let found = machine.look(&jvm.memory, true).unwrap_or_default();
            assert!(found.iter().filter_map(|p| p.of.as_deref()).all(|of| !of.is_empty() && !of.contains('/')));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn memory_that_ends_early(like in 0..ALL.len(), end: prop::sample::Index) {
        let mut jvm = made(ALL[like]);
        let end = end.index(jvm.memory.bytes.len());
        jvm.memory.bytes.truncate(end);
        look_at(&jvm);
    }

    #[test]
    fn damaged_memory(
        like in 0..ALL.len(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u64>(), 0u32..64), 1..12),
    ) {
        let mut jvm = made(ALL[like]);
        let length = jvm.memory.bytes.len() - 8;
        for (at, word, fewer) in damage {
            jvm.memory.set(BASE + at.index(length) as u64, word >> fewer);
        }
        look_at(&jvm);
    }

    #[test]
    fn a_live_read_of_changing_memory(like in 0..ALL.len(), at: prop::sample::Index, word: u64) {
        let mut jvm = made(ALL[like]);
        let Ok(mut machine) = machine(&jvm.memory, &jvm.exported) else { return Ok(()) };
        let at = at.index(jvm.memory.bytes.len() - 8);
        jvm.memory.set(BASE + at as u64, word);
        let _ = machine.look(&jvm.memory, true);
    }
}

//! Tests on JVMs that are installed here, with each way in which they may lay out objects.

use super::*;
use crate::hotspot::header::{self, Pointers};
use crate::hotspot::testing::{self, Kept, feature};
use crate::memory::Process;
use crate::stacks::Stacks;
use std::cell::RefCell;
use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// The program, compiled.
fn classes() -> Option<(tempfile::TempDir, Vec<PathBuf>)> {
    testing::classes("src/hotspot/data/Live.java", "data of JVMs")
}

/// A JVM that runs the program; ended with it.
struct Running {
    child: Child,
    data: Data,
    memory: Process,
    /// What it said: reference and offset by name.
    said: HashMap<String, (u64, u64)>,
    shift: u32,
    base: u64,
    /// Bits of a reference that are none of the address.
    colours: u64,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `None` where this JVM does not know one of the options.
fn run(jdk: &Path, classes: &Path, options: &[&str]) -> Option<Running> {
    let mut java = Command::new(jdk.join("bin/java"));
    java.args(["-Xint", "-Xmx64m"]).args(options).arg("-cp").arg(classes).arg("Live");
    let mut child = java.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut said = HashMap::new();
    let mut is_ready = false;
    for line in BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok) {
        is_ready = line == "ready";
        if is_ready {
            break;
        }
        let words: Vec<&str> = line.split(' ').collect();
        if let [name, reference, offset] = words[..] {
            let number = |text: &str| text.parse::<i64>().unwrap() as u64;
            said.insert(name.to_owned(), (number(reference), number(offset)));
        }
    }
    if !is_ready {
        let _ = child.wait();
        return None;
    }
    let memory = Process(child.id());
    let way = Stacks::default().hotspot(child.id()).unwrap();
    let data = Data::new(&memory, &way).unwrap();
    let tables = &way.tables;
    let mut narrow = [0; 2];
    if data.layout.reference == 4 {
        narrow = [["_base", "_narrow_oop._base"], ["_shift", "_narrow_oop._shift"]].map(|names| {
            let names: Vec<_> =
                ["CompressedOops", "Universe"].iter().flat_map(|owner| names.map(|n| (*owner, n))).collect();
            memory.word(tables.address(&names).unwrap()).unwrap().unwrap()
        });
    }
    let [base, shift] = narrow;
    let colours = match header::read(&memory, tables).unwrap() {
        (_, Pointers::Coloured { shift: Some(shift), .. }) => memory.word(shift).unwrap().unwrap(),
        _ => 0,
    };
    Some(Running { child, data, memory, said, base, shift: shift as u32, colours })
}

impl Running {
    /// Where an object is, and the word in it that was said.
    fn place(&self, name: &str) -> (u64, u64) {
        let (reference, offset) = self.said[name];
        let start = self.base + (reference >> self.colours << self.shift);
        (start, start.wrapping_add(offset))
    }

    fn at(&self, pointer: u64, address: u64) -> Option<JavaData> {
        let line = address & !63;
        self.data.at(&self.memory, pointer, address, &(line..line.saturating_add(64))).unwrap()
    }

    fn klass(&self, name: &str) -> u64 {
        let (start, _) = self.place(name);
        let klass = self.data.layout.klass;
        klass.of(self.memory.word(start + klass.at()).unwrap().unwrap())
    }
}

/// The member that begins at an address, in words.
fn member(data: &JavaData, address: u64) -> String {
    let found: Vec<String> = (data.members.iter())
        .filter(|m| data.start + m.offset == address)
        .map(|m| format!("{} {}:{}", m.name, m.kind, m.size))
        .collect();
    found.join(", ")
}

fn looked_at(java: &Running, what: &str) {
    let reference = java.data.layout.reference;
    let named = |name: &str, class: &str, kind: Kind, expected: &str| {
        let (start, address) = java.place(name);
        for pointer in [start, address, address & !63] {
            // Where the start is not given, it is found.
            let data = java.at(pointer, address).unwrap_or_else(|| panic!("{what}: {name}: nothing at {address:#x}"));
            assert_eq!((data.class.as_str(), data.kind, data.start), (class, kind, start), "{what}: {name} {data:?}");
            assert_eq!(member(&data, address), expected, "{what}: {name} {data:?}");
            let is_sorted = data.members.is_sorted_by_key(|member| member.offset);
            assert!(is_sorted && address < data.start + data.size, "{what}: {name} {data:?}");
            let line = address & !63..(address & !63) + 64;
            assert!(data.members.iter().all(|m| m.is_in(start, &line)), "{what}: {name} {data:?}");
        }
    };
    named("hits", "Live$Counter", Kind::Object, "hits long:8");
    named("inherited", "Live$Counter", Kind::Object, "Live$Base.inherited long:8");
    named("array", "long[]", Kind::Array, "[50] long:8");
    named("objects", "java.lang.Runnable[]", Kind::Array, &format!("[3] java.lang.Runnable:{reference}"));
    named("statics", "Live", Kind::Statics, "second long:8");
    let (atomic, _) = java.place("atomic");
    let data = java.at(atomic, atomic).unwrap();
    assert_eq!((data.class.as_str(), data.kind), ("java.util.concurrent.atomic.AtomicLong", Kind::Object), "{what}");
    assert_eq!(member(&data, atomic).split(':').next(), Some("(header) "), "{what}: {data:?}");

    let klass = java.klass("hits");
    let layout = &java.data.layout;
    for address in [klass + layout.cache, klass + layout.supers, klass + layout.display.start + 8] {
        // The register holds the class, or the address is a constant of the code.
        for pointer in [klass, address, 0, 8] {
            let data = java.at(pointer, address).unwrap_or_else(|| panic!("{what}: nothing at {address:#x}"));
            assert_eq!((data.class.as_str(), data.kind, data.start), ("Live$Counter", Kind::Metadata, klass), "{what}");
            let name = match address - klass {
                at if at == layout.cache => "Klass::_secondary_super_cache",
                at if at == layout.supers => "Klass::_secondary_supers",
                _ => "Klass::_primary_supers[1]",
            };
            assert_eq!(member(&data, address).split(' ').next(), Some(name), "{what} {data:?}");
            let secondary = data.secondary.unwrap();
            assert_eq!(secondary.interfaces, ["Live$Closable", "Live$Readable"], "{what}");
            assert!(secondary.cache.is_none_or(|cache| cache.starts_with("Live$")), "{what}");
        }
    }
    // A class of an archive, an interface, which is not in its own list of superclasses, and arrays.
    let atomic = java.klass("atomic");
    let supers = java.at(atomic, atomic + layout.cache).unwrap().secondary.unwrap().interfaces;
    assert_eq!(supers, ["java.io.Serializable"], "{what}");
    let array = java.klass("objects");
    assert_eq!(java.at(array, array + layout.name).unwrap().class, "java.lang.Runnable[]", "{what}");
    // What is neither in the heap nor a class: code, the stack, nothing.
    for nothing in [0, 8, 4096, java.data.witness.0, u64::MAX - 7, u64::MAX] {
        assert_eq!(java.at(nothing, nothing), None, "{what}: {nothing:#x}");
    }

    let fixed = java.data.has_fix_of_8180450();
    let version = java.data.version().unwrap();
    assert_eq!(has_fix_of_8180450(version).or(fixed), fixed, "{what}: {version:?}");
    if fixed == Some(false) {
        let until = Instant::now() + Duration::from_secs(20);
        let both = |flips: &Flips| flips.changes > 0 && flips.values.len() > 1;
        let mut flips = Flips::default();
        while !both(&flips) && Instant::now() < until {
            flips = java.data.flips(&java.memory, klass, 200, Duration::from_micros(100)).unwrap();
        }
        let names: Vec<&str> = flips.values.iter().map(|(name, _)| name.as_str()).collect();
        assert!(
            both(&flips) && names.contains(&"Live$Readable") && names.contains(&"Live$Closable"),
            "{what} {flips:?}"
        );
    }
}

#[test]
fn what_lies_where_in_live_jvms() {
    let Some((classes, jdks)) = classes() else { return };
    let ways: [&[&str]; 8] = [
        &[],
        &["-XX:-UseCompressedOops"],
        &["-XX:-UseCompressedOops", "-XX:-UseCompressedClassPointers"],
        &["-XX:+UseCompactObjectHeaders"],
        &["-XX:+UseParallelGC", "-XX:ObjectAlignmentInBytes=16"],
        &["-XX:+UseSerialGC", "-Xshare:off"],
        &["-XX:+UseZGC"],
        &["-XX:HeapBaseMinAddress=8g"],
    ];
    for jdk in &jdks {
        for options in ways {
            let what = format!("{} {options:?}", feature(jdk));
            match run(jdk, classes.path(), options) {
                Some(java) => looked_at(&java, &what),
                // Compact headers are new; uncompressed pointers to classes go away, as collectors may.
                None => assert!(!options.is_empty(), "{what}: this JVM does not start"),
            }
        }
    }
}

#[test]
fn damaged_memory_of_live_jvms() {
    let Some((classes, jdks)) = classes() else { return };
    for jdk in &jdks {
        for options in [["-XX:+UseSerialGC"], ["-XX:-UseCompressedOops"], ["-XX:+UseCompactObjectHeaders"]] {
            let Some(java) = run(jdk, classes.path(), &options) else { continue };
            let kept = Kept { of: Some(java.memory), ..Kept::default() };
            let klass = java.klass("hits");
            let mut asked: Vec<(u64, u64)> =
                ["hits", "inherited", "array", "objects", "statics"].map(|name| java.place(name)).to_vec();
            asked.extend([(klass, klass + java.data.layout.cache), (0, klass + java.data.layout.supers)]);
            asked.extend(asked.clone().into_iter().map(|(_, address)| (0, address)));
            let ask = |memory: &Kept| {
                for &(pointer, address) in &asked {
                    memory.reads.set(0);
                    let line = address & !63..(address & !63) + 64;
                    let found = java.data.at(memory, pointer, address, &line).unwrap_or_default();
                    let holds = |data: &JavaData| (data.start..=data.start + data.size).contains(&address);
                    assert!(found.is_none_or(|data| holds(&data) && data.members.len() <= 1000), "{address:#x}");
                    assert!(memory.reads.get() < 20_000, "{address:#x}: {} reads", memory.reads.get());
                }
                assert!(java.data.flips(memory, klass, 3, Duration::ZERO).is_ok_and(|flips| flips.reads <= 3));
            };
            ask(&kept);
            let (whole, words) = (kept.pages.take(), Vec::from_iter(kept.words.take()));
            // Another memory for each round, from a generator with a fixed start.
            let mut state = 23u64;
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                state >> 16
            };
            let pages: Vec<u64> = whole.iter().filter(|(_, page)| page.is_some()).map(|(at, _)| *at).collect();
            for _ in 0..300 {
                let mut pages_now = whole.clone();
                for _ in 0..next() % 24 {
                    let word = words[next() as usize % words.len()];
                    let (page, at) = (word & !4095, (word & 4095) as usize);
                    // The page of the witness stays, else nothing is asked.
                    if page == java.data.witness.0 & !4095 {
                        continue;
                    }
                    let Some(Some(bytes)) = pages_now.get_mut(&page) else { continue };
                    let word = match next() % 4 {
                        0 => 0,
                        1 => u64::MAX >> (next() % 64),
                        2 => pages[next() as usize % pages.len()] + (next() % 512) * 8,
                        _ => next() << (next() % 32),
                    };
                    bytes[at..at + 8].copy_from_slice(&word.to_ne_bytes());
                    if next() % 40 == 0 {
                        pages_now.insert(page, None);
                    }
                }
                let memory = Kept { of: None, pages: RefCell::new(pages_now), ..Kept::default() };
                ask(&memory);
            }
        }
    }
}

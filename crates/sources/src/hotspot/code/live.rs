//! Tests on JVMs that are installed here, by the samples that the kernel takes of them; and on what was read of them, damaged.

use super::hot::{HUGE_METHOD, HotMethod};
use super::*;
use crate::hotspot::testing::{Kept, classes, compile, feature, jdks};
use crate::memory::Process;
use crate::stacks::Stacks;
use host::Host;
use host::perf::{Perf, Record};
use std::cell::RefCell;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A sample in the code of a JVM.
struct Sample {
    start: Start,
    stack: Vec<u8>,
}

/// How often the stack of Live.java is that deep, if it is in its leaf.
const DEPTH: usize = 400;
const MOST: usize = 2000;

/// Ends with it.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn run(jdk: &Path, classes: &Path, options: &[&str], seconds: &str) -> Option<Running> {
    let started = Command::new(jdk.join("bin/java")).args(options).arg("-version").output().ok()?;
    if !started.status.success() {
        return None;
    }
    let mut java = Command::new(jdk.join("bin/java"));
    java.args(options).arg("-Xmx256m").arg("-cp").arg(classes).args(["Live", seconds]);
    java.stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok().map(Running)
}

/// The code of a JVM, as soon as it tells of it.
fn code(pid: u32, stacks: &Stacks) -> Code {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        match stacks.hotspot(pid).and_then(|way| Code::new(&Process(pid), &way)) {
            Ok(code) => return code,
            Err(why) => assert!(Instant::now() < until, "{why:?}"),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Has `take` see the samples of a process that lie in its JVM's code, for some seconds.
fn sampled(perf: &mut Perf, pid: u32, code: &mut Code, seconds: u64, mut take: impl FnMut(&mut Code, Sample)) {
    let host = Host::live();
    let until = Instant::now() + Duration::from_secs(seconds);
    while Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
        perf.drain(&host, |_, record| {
            let Record::Sample(sample) = record else { return };
            let Some([ip, sp, bp, lr, bx, r13]) = sample.registers else { return };
            if sample.pid == pid && code.holds(ip) {
                let start = Start { ip, sp, bp, lr, bx, r13, is_innermost: true };
                take(code, Sample { start, stack: sample.stack.to_vec() });
            }
        });
    }
}

#[derive(Debug, Default)]
struct Told {
    all: usize,
    native: usize,
    beyond: usize,
    frames: usize,
    named: usize,
    deep: usize,
    right: usize,
    tiers: [usize; 5],
    /// In compiled code, and of these told alike by the instruction alone.
    compiled: usize,
    alone: usize,
}

#[test]
fn stacks_of_live_jvms_are_whole() {
    let Some((classes, jdks)) = classes("src/hotspot/code/Live.java", "stacks of JVMs") else { return };
    let ways: [&[&str]; 4] =
        [&[], &["-XX:+UseParallelGC", "-XX:-UseCompressedOops"], &["-XX:+UseZGC"], &["-XX:TieredStopAtLevel=1"]];
    for (jdk, options) in jdks.iter().flat_map(|jdk| ways.map(|options| (jdk, options))) {
        let what = format!("{} {options:?}", feature(jdk));
        let Some(java) = run(jdk, classes.path(), options, "60") else { continue };
        let mut perf = match Perf::open(&Host::live(), 499) {
            Ok(perf) => perf,
            Err(why) => return println!("SKIPPED: stacks of JVMs: {why:?}"),
        };
        let (pid, stacks) = (java.0.id(), Stacks::default());
        let mut code = code(pid, &stacks);
        let (mut frames, mut told) = (Frames::default(), Told::default());
        sampled(&mut perf, pid, &mut code, 3, |code, sample| {
            let (mut found, copy) = (Vec::new(), Copy { from: sample.start.sp, bytes: &sample.stack });
            let end = code.walk((&Process(pid), &mut frames), &sample.start, copy, &|_| true, (&mut found, MOST));
            told.all += 1;
            told.native += usize::from(matches!(end, End::Native { .. }));
            told.beyond += usize::from(end == End::Beyond);
            assert!(found.is_sorted_by_key(|(_, sp)| *sp), "{what}: {found:?}");
            let (mut first, instruction) =
                (Vec::new(), Start { ip: sample.start.ip, is_innermost: true, ..Start::default() });
            let nothing = Copy { from: 0, bytes: &[] };
            code.walk((&Process(pid), &mut frames), &instruction, nothing, &|_| true, (&mut first, MOST));
            let innermost = found.first().map(|(number, _)| *number);
            if innermost.and_then(|number| frames.get(number)).and_then(|frame| frame.tier).is_some_and(|tier| tier > 0)
            {
                told.compiled += 1;
                told.alone += usize::from(first.first().map(|(number, _)| *number) == innermost);
            }
            let of: Vec<&JavaFrame> = found.iter().filter_map(|(number, _)| frames.get(*number)).collect();
            let name = |frame: &JavaFrame| frame.function.clone().unwrap_or_default();
            told.frames += of.len();
            // A method that is just being called may not be on its stack yet.
            let is_named = |frame: &JavaFrame| frame.function.as_deref().is_some_and(|name| name != "Interpreter");
            told.named += of.iter().filter(|frame| is_named(frame)).count();
            for frame in &of {
                if let Some(tier) = frame.tier.and_then(|tier| told.tiers.get_mut(usize::from(tier))) {
                    *tier += 1;
                }
            }
            if of.iter().any(|frame| &*name(frame) == "Live.leaf") && end != End::Beyond {
                let deep = of.iter().filter(|frame| &*name(frame) == "Live.deep").count();
                told.deep += 1;
                // Between two notes of the compiler the next one is taken. Where C2 has put `leaf` into `deep` twice, once
                // through a `deep` inlined into itself (of which it allows one, MaxRecursiveInlineLevel), that may be the
                // other's.
                let inlined = of.first().is_some_and(|frame| frame.run == Run::Inlined && frame.tier == Some(4));
                told.right += usize::from(deep.abs_diff(DEPTH) <= usize::from(inlined));
            }
        });
        println!("{what}: {told:?}");
        // In an unlucky moment nobody has a CPU for the program.
        if told.all < 100 {
            println!("SKIPPED: stacks of JVM {what}: only {} samples", told.all);
            continue;
        }
        assert!((told.native + told.beyond) * 100 >= told.all * 95, "{what}: {told:?}");
        assert!(told.compiled > 0 && told.alone * 100 >= told.compiled * 99, "{what}: {told:?}");
        assert!(told.named * 100 >= told.frames * 99, "{what}: {told:?}");
        assert!(told.right * 100 >= told.deep * 95, "{what}: {told:?}");
        assert!(told.tiers.iter().sum::<usize>() > 0, "{what}: {told:?}");
    }
}

/// A line of what `jcmd PID Compiler.codecache` says: name of the heap, used, the most, KiB.
fn code_cache(jdk: &Path, pid: u32) -> Option<Vec<(String, u64, u64)>> {
    let said = Command::new(jdk.join("bin/jcmd")).args([&pid.to_string(), "Compiler.codecache"]).output().ok()?;
    let said = String::from_utf8(said.stdout).ok()?;
    let number = |line: &str, what: &str| line.split(what).nth(1)?.split("Kb").next()?.trim().parse().ok();
    let heap = |line: &str| {
        let name = line.split('\'').nth(1).unwrap_or_default();
        let name = format!("code {}", name.strip_suffix(" nmethods").unwrap_or(name));
        Some((name.trim().to_owned(), number(line, "used=")?, number(line, "size=")?))
    };
    let mut heaps: Vec<_> =
        said.lines().filter(|line| line.starts_with("Code") && line.contains("max_used")).filter_map(heap).collect();
    // Later ones tell of all together as well.
    let all = heaps.len();
    heaps.retain(|(name, ..)| all == 1 || name != "code");
    Some(heaps)
}

#[test]
fn heaps_of_live_jvms_are_as_full_as_they_say() {
    let Some((classes, jdks)) = classes("src/hotspot/code/Live.java", "heaps of code of JVMs") else { return };
    for (jdk, options) in jdks.iter().flat_map(|jdk| [&[][..], &["-XX:-SegmentedCodeCache"]].map(|o| (jdk, o))) {
        let what = format!("{} {options:?}", feature(jdk));
        let Some(java) = run(jdk, classes.path(), options, "60") else { continue };
        let (pid, stacks) = (java.0.id(), Stacks::default());
        let heaps = code(pid, &stacks).layout.heaps.clone();
        std::thread::sleep(Duration::from_secs(1));
        // What it says is of a moment between two looks, and it goes on compiling.
        let before = heaps.look(&Process(pid)).unwrap();
        let Some(said) = code_cache(jdk, pid).filter(|said| !said.is_empty()) else { continue };
        let after = heaps.look(&Process(pid)).unwrap();
        let begin = Instant::now();
        (0..100).for_each(|_| drop(heaps.look(&Process(pid))));
        println!("{what}: a look takes {:?}; {after:?}", begin.elapsed() / 100);
        assert_eq!(said.len(), after.len(), "{what}: {said:?}");
        for (name, used, size) in &said {
            let of = |all: &[CodeHeap]| all.iter().find(|heap| &*heap.name == name).cloned();
            let (Some(before), Some(after)) = (of(&before), of(&after)) else { panic!("{what}: {said:?} {after:?}") };
            let kib = |heap: &CodeHeap| heap.used.unwrap_or_else(|| panic!("{what}: {heap:?}")) / 1024;
            let (low, high) = (kib(&before).min(kib(&after)), kib(&before).max(kib(&after)));
            assert!((low.saturating_sub(40)..=high + 40).contains(used), "{what}: {name} {used}: {low} to {high}");
            assert_eq!(after.reserved / 1024, *size, "{what}: {name}");
            assert!(after.methods.is_some() && after.full == Some(0), "{what}: {after:?}");
            assert!(after.peak >= after.used, "{what}: {after:?}");
        }
    }
}

/// A method that is too large to be compiled, and one that it calls, which may not be.
fn huge() -> String {
    let steps: String = (0..2500).map(|i| format!("x = x * 31 + {i};\n")).collect();
    format!(
        "public class Live {{ static int big(int x) {{ {steps} return x + small(x); }}\n\
         static int small(int x) {{ for (int i = 0; i < 5000; i++) x = x * 31 + i; return x; }}\n\
         static int fine(int x) {{ for (int i = 0; i < 20000; i++) x = x * 33 + i; return x; }}\n\
         public static void main(String[] a) {{ long end = System.nanoTime() + 60_000_000_000L;\n\
         int x = 1; while (System.nanoTime() < end) x = fine(big(x)); System.out.println(x); }} }}"
    )
}

#[test]
fn what_keeps_methods_from_being_compiled_is_told() {
    let jdks = jdks();
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("Live.java");
    std::fs::write(&source, huge()).unwrap();
    if !compile(&source, dir.path(), &jdks) {
        return println!("SKIPPED: hot methods of JVMs: no JDK");
    }
    for jdk in jdks {
        let what = feature(&jdk);
        let options = ["-XX:CompileCommand=quiet", "-XX:CompileCommand=exclude,Live.small"];
        let Some(java) = run(&jdk, dir.path(), &options, "60") else { continue };
        let Ok(mut perf) = Perf::open(&Host::live(), 499) else { return println!("SKIPPED: hot methods of JVMs") };
        let (pid, stacks) = (java.0.id(), Stacks::default());
        let mut code = code(pid, &stacks);
        let (mut frames, mut hot) = (Frames::default(), Hot::default());
        sampled(&mut perf, pid, &mut code, 3, |code, sample| {
            let (mut found, copy) = (Vec::new(), Copy { from: sample.start.sp, bytes: &sample.stack });
            code.walk((&Process(pid), &mut frames), &sample.start, copy, &|_| true, (&mut found, MOST));
            if let Some((frame, _)) = found.first() {
                code.sampled(&Process(pid), &mut hot, (sample.start.ip, *frame), 1000).unwrap();
            }
        });
        let methods = hot.methods();
        if methods.iter().map(|method| method.samples).sum::<u64>() < 200 {
            println!("SKIPPED: hot methods of JVM {what}: {methods:?}");
            continue;
        }
        println!("{what}: {:?} {:?}", methods.iter().take(5).collect::<Vec<_>>(), hot.heaps());
        let of = |name: &str| methods.iter().filter(|method| &*method.name == name).copied().collect::<Vec<_>>();
        let (big, small, fine) = (of("Live.big"), of("Live.small"), of("Live.fine"));
        let why =
            |of: &[&HotMethod]| of.iter().map(|m| (m.tier, m.why_not.clone().unwrap_or_default())).collect::<Vec<_>>();
        assert!(
            matches!(&why(&big)[..], [(0, why)] if why.starts_with("too large: ") && big[0].bytecode > HUGE_METHOD),
            "{what}: {big:?}"
        );
        assert_eq!(why(&small), [(0, "not compilable".to_owned())], "{what}: {small:?}");
        let best = fine.iter().max_by_key(|method| method.time).unwrap();
        assert!(
            best.tier == 4 && best.bytes > Some(0) && best.id > Some(0) && best.compilations > 0,
            "{what}: {best:?}"
        );
        let heaps = hot.heaps();
        assert!(heaps.iter().map(|heap| heap.pages).sum::<u64>() > 0, "{what}: {heaps:?}");
    }
}

#[test]
fn damaged_memory_of_live_jvms() {
    let Some((classes, jdks)) = classes("src/hotspot/code/Live.java", "stacks of JVMs, damaged") else { return };
    for jdk in &jdks {
        let Some(java) = run(jdk, classes.path(), &[], "30") else { continue };
        let Ok(mut perf) = Perf::open(&Host::live(), 499) else { return };
        let (pid, stacks) = (java.0.id(), Stacks::default());
        let (kept, mut frames) = (Kept { of: Some(Process(pid)), ..Kept::default() }, Frames::default());
        // Until it is understood.
        code(pid, &stacks);
        let way = stacks.hotspot(pid).unwrap();
        let mut code = Code::new(&kept, &way).unwrap();
        let mut samples = Vec::new();
        let follow = |memory: &Kept, code: &mut Code, frames: &mut Frames, sample: &Sample| {
            let (mut found, copy) = (Vec::new(), Copy { from: sample.start.sp, bytes: &sample.stack });
            memory.reads.set(0);
            let is_code = |address: u64| !address.is_multiple_of(3);
            code.walk((memory, frames), &sample.start, copy, &is_code, (&mut found, MOST));
            assert!(found.len() <= MOST && memory.reads.get() <= MOST_READS as usize * 2, "{}", memory.reads.get());
        };
        sampled(&mut perf, pid, &mut code, 3, |code, sample| {
            if samples.len() < 60 {
                follow(&kept, code, &mut frames, &sample);
                samples.push(sample);
            }
        });
        let whole = kept.pages.take();
        let mut state = 31u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 16
        };
        let pages: Vec<u64> = whole.iter().filter(|(_, page)| page.is_some()).map(|(at, _)| *at).collect();
        let words: Vec<u64> =
            samples.iter().flat_map(|s| [s.start.ip, s.start.sp, s.start.bp]).chain(pages.iter().copied()).collect();
        for _ in 0..60 {
            let mut now = whole.clone();
            let mut word = || match next() % 5 {
                0 => 0,
                1 => u64::MAX >> (next() % 64),
                2 => words[next() as usize % words.len()] + (next() % 512) * 8,
                3 => next() << (next() % 32),
                _ => next() % 256,
            };
            for page in pages.iter().filter(|page| *page % 3 != 1) {
                let Some(Some(bytes)) = now.get_mut(page) else { continue };
                for _ in 0..word() % 12 {
                    let at = (word() % 512) as usize * 8;
                    bytes[at..at + 8].copy_from_slice(&word().to_ne_bytes());
                }
            }
            let memory = Kept { of: None, pages: RefCell::new(now), ..Kept::default() };
            // With a layout that is right, and with one that was read from it.
            let mut all = vec![Code::new(&kept_again(&whole), &way).unwrap()];
            all.extend(Code::new(&memory, &way).ok());
            for sample in &samples {
                let (mut start, mut stack) = (sample.start, sample.stack.clone());
                for _ in 0..word() % 8 {
                    let at = word() as usize % (stack.len() / 8).max(1) * 8;
                    if let Some(bytes) = stack.get_mut(at..at + 8) {
                        bytes.copy_from_slice(&word().to_ne_bytes());
                    }
                }
                start.bp = if word() % 3 == 0 { word() } else { start.bp };
                start.sp = if word() % 9 == 0 { word() } else { start.sp };
                let damaged = Sample { start, stack };
                all.iter_mut().for_each(|code| follow(&memory, code, &mut Frames::default(), &damaged));
            }
        }
    }
}

fn kept_again(pages: &BTreeMap<u64, Option<Vec<u8>>>) -> Kept {
    Kept { of: None, pages: RefCell::new(pages.clone()), ..Kept::default() }
}

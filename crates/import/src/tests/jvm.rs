//! Recordings and logs of real JVMs (fixtures/jvm), held against what `jfr` says of them.

use super::*;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/jvm")
}

/// The fixtures by name, without what they end on.
fn names(ending: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder()).unwrap();
    let names = entries.flatten().filter_map(|e| e.file_name().to_str()?.strip_suffix(ending).map(str::to_owned));
    let mut names: Vec<String> = names.filter(|name| name.starts_with("jdk")).collect();
    names.sort();
    assert!(names.len() >= 4, "{names:?}");
    names
}

fn expected(name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(folder().join(format!("{name}.expected.json"))).unwrap()).unwrap()
}

fn unpacked(file: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(folder().join(file)).unwrap();
    flate2::read::GzDecoder::new(file).read_to_end(&mut bytes).unwrap();
    bytes
}

fn parsed(bytes: &[u8]) -> (Format, Profile) {
    let mut profile = Profile::new(Options::default());
    let format = parse(bytes, &mut profile).unwrap();
    (format, profile)
}

/// The rows of a table, by the names of its columns; of labels their text.
fn rows(profile: &Profile, table: &str) -> Vec<BTreeMap<&'static str, (i64, String)>> {
    let text = |cell: i64| profile.symbols.text(cell).unwrap_or("-").to_owned();
    let row = |row: Vec<(&'static str, i64)>| row.into_iter().map(|(name, cell)| (name, (cell, text(cell)))).collect();
    profile.table(table).into_iter().map(row).collect()
}

fn innermost(profile: &Profile, stack: u32) -> String {
    let frame = profile.frames(stack).pop().unwrap_or_default();
    frame.split(' ').nth(1).unwrap_or_default().to_owned()
}

#[test]
fn flight_recordings_say_what_jfr_says() {
    for name in names(".jfr.gz") {
        let file = folder().join(format!("{name}.jfr.gz"));
        let options = Options { event: Some("jdk.ExecutionSample".into()), ..Options::default() };
        let (format, profile, _) = imported(&file, &options);
        let expected = expected(&name);
        assert_eq!(
            (format, profile.samples.len() as u64),
            (Format::Jfr, expected["samples"].as_u64().unwrap()),
            "{name}"
        );
        let mut methods: BTreeMap<String, u64> = BTreeMap::new();
        for sample in &profile.samples {
            *methods.entry(innermost(&profile, sample.stack)).or_insert(0) += 1;
            assert_eq!(sample.weight, 10_000_000);
        }
        for (method, count) in expected["methods"].as_object().unwrap() {
            // What a class is called that the JVM has made itself differs each time.
            let plain = method.split("$$Lambda").next().unwrap();
            assert!(plain != method || methods.get(method) == count.as_u64().as_ref(), "{name}: {method}: {methods:?}");
        }
        let pauses = rows(&profile, "jvm_pause");
        let mut lengths: Vec<i64> = pauses.iter().filter(|p| p["kind"].1 != "operation").map(|p| p["time"].0).collect();
        lengths.sort_unstable();
        let told: Vec<i64> = expected["pauses"].as_array().unwrap().iter().map(|p| p.as_i64().unwrap()).collect();
        assert_eq!(lengths.len(), told.len(), "{name}");
        assert!(lengths.iter().zip(&told).all(|(a, b)| (a - b).abs() <= 1), "{name}: {lengths:?} {told:?}");
        // All of them have what they stopped for, and how long that took; the last was asked for.
        for p in pauses.iter().filter(|p| p["kind"].1 != "operation") {
            assert!(p["operation"].0 != NULL && p["to_stop"].0 > 0, "{name}: {p:?}");
        }
        let asked: Vec<_> = pauses.iter().filter(|p| p["cause"].1 == "System.gc()").collect();
        assert!(!asked.is_empty(), "{name}: {pauses:?}");
        if !name.ends_with("-z") {
            // Parallel collects the young generation first.
            let full = asked.last().unwrap();
            assert_eq!(full["kind"].1, "full", "{name}");
            assert!(full["used_after"].0 < full["used_before"].0 && full["used_after"].0 > 1 << 20, "{name}");
            assert!(pauses.iter().any(|p| p["kind"].1 == "young"), "{name}");
        }
        let locks = rows(&profile, "lock");
        let monitors: Vec<_> = locks.iter().filter(|l| l["kind"].1 == "monitor").collect();
        assert_eq!(monitors.len() as u64, expected["monitors"].as_u64().unwrap(), "{name}");
        let time: i64 = monitors.iter().map(|l| l["time"].0).sum();
        assert!((time - expected["monitor_time"].as_i64().unwrap()).abs() <= monitors.len() as i64, "{name}");
        for lock in &monitors {
            // The JVM's own recorder has monitors, too.
            let own = innermost(&profile, lock["stack"].0 as u32) == "Busy.hold";
            assert_eq!(own, lock["name"].1 == "monitor of java.lang.Object", "{name}: {lock:?}");
            assert!(lock["address"].1.starts_with("0x"), "{name}: {lock:?}");
        }
        let mut owners: BTreeMap<String, u64> = BTreeMap::new();
        for lock in &monitors {
            *owners.entry(lock["holder"].1.clone()).or_insert(0) += 1;
        }
        let told: BTreeMap<String, u64> = serde_json::from_value(expected["owners"].clone()).unwrap();
        assert_eq!(owners, told, "{name}");
        let parks = |l: &&BTreeMap<&str, (i64, String)>| l["kind"].1 == "ReentrantLock";
        assert!(locks.iter().filter(parks).count() > 5, "{name}: {locks:?}");
        let called = "java.util.concurrent.locks.ReentrantLock";
        assert!(locks.iter().filter(parks).all(|l| l["name"].1 == called), "{name}: {locks:?}");
        let waits = rows(&profile, "wait");
        let queue = |w: &&BTreeMap<&str, (i64, String)>| {
            w["state"].1 == "idle"
                && w["what"].1 == "park for java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject"
        };
        assert!(waits.iter().filter(queue).count() > 5, "{name}: {waits:?}");
        assert!(waits.iter().any(|w| w["state"].1 == "sleep" && w["thread"].1 == "monitor-1"), "{name}");
        let allocated = rows(&profile, "allocation");
        assert!(allocated.iter().any(|a| a["class"].1 == "byte[]" && a["bytes"].0 > 0), "{name}: {allocated:?}");
        let fact = |name: &str| profile.facts.iter().find(|f| f.name == name).map(|f| f.value.as_str());
        let collector = if name.ends_with("-g1") {
            "G1"
        } else if name.ends_with("-z") {
            "Z"
        } else {
            "Parallel"
        };
        assert_eq!(fact(&format!("java.Busy.flag.Use{collector}GC")), Some("true (command line)"), "{name}");
        assert_eq!(fact("java.Busy.flag.MaxHeapSize"), Some("67108864 (command line)"), "{name}");
        assert!(profile.facts.iter().any(|f| f.value.ends_with(" (ergonomic)")), "{name}: {:?}", profile.facts);
        assert!(fact("java.Busy.version").is_some_and(|v| v.contains(name[3..].split('-').next().unwrap())), "{name}");
        assert!(!rows(&profile, "jvm_cpu").is_empty(), "{name}");
        // Counters at ticks end with all that there was.
        let collectors = rows(&profile, "jvm_collector");
        let mut last: BTreeMap<String, (i64, i64)> = BTreeMap::new();
        collectors.iter().for_each(|c| {
            last.insert(c["collector"].1.clone(), (c["collections"].0, c["time"].0));
        });
        let (count, time) = last.values().fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
        assert_eq!((count as usize, time), (lengths.len(), lengths.iter().sum()), "{name}: {last:?}");
        let short = if collector == "Z" { "ZGC" } else { collector };
        assert!(last.keys().all(|name| name.starts_with(short)), "{name}: {last:?}");
        assert!(rows(&profile, "jvm_safepoint").len() > 1, "{name}");
        let heap = rows(&profile, "jvm_heap");
        assert!(
            heap.len() > 4 && heap.iter().all(|h| h["used"].0 > 0 && h["capacity"].0 >= 16 << 20),
            "{name}: {heap:?}"
        );
        assert!(profile.manifest.cpus > 0 && profile.manifest.memory > 0, "{name}");
        // Nothing of properties and of the environment.
        let texts = profile.words().into_iter().chain(profile.facts.iter().map(|f| f.value.clone()));
        assert!(!texts.into_iter().any(|t| t.contains("hunter2") || t.contains("SECRET_TOKEN")), "{name}");
    }
}

#[test]
fn recordings_of_async_profiler_say_what_jfr_says() {
    let name = "async-profiler-4.2";
    let (format, profile, _) = imported(&folder().join(format!("{name}.jfr.gz")), &Options::default());
    let expected = expected(name);
    assert_eq!((format, profile.samples.len() as u64), (Format::Jfr, expected["samples"].as_u64().unwrap()));
    assert!(profile.samples.iter().all(|s| s.weight == 5_000_000));
    let mut methods: BTreeMap<String, u64> = BTreeMap::new();
    for sample in &profile.samples {
        let frame = profile.frames(sample.stack).pop().unwrap();
        let mut words = frame.split(' ');
        let (kind, function) = (words.next().unwrap(), words.next().unwrap());
        // As jfr has them: of native code the library is in the place of the class.
        let library = if kind == "native" { words.next_back().map(|library| format!("{library}.")) } else { None };
        *methods.entry(library.unwrap_or_default() + function).or_insert(0) += 1;
    }
    let told: BTreeMap<String, u64> = serde_json::from_value(expected["methods"].clone()).unwrap();
    for (method, count) in told.iter().filter(|(method, _)| !method.contains(".0x") && !method.starts_with('.')) {
        assert_eq!(methods.get(method), Some(count), "{method}: {methods:?}");
    }
    assert!(methods.contains_key("Busy.compute"), "{methods:?}");
    let locks = rows(&profile, "lock");
    let monitors = locks.iter().filter(|l| l["name"].1 == "monitor of java.lang.Object");
    assert!(monitors.count() > 3 && locks.iter().any(|l| l["kind"].1 == "ReentrantLock"), "{locks:?}");
    // By the wall clock: what the other threads waited.
    let waits = rows(&profile, "wait");
    assert!(waits.iter().any(|w| w["state"].1 == "other" && w["thread"].1 == "taker"), "{waits:?}");
    assert!(rows(&profile, "allocation").iter().any(|a| a["class"].1 == "byte[]"));
    let texts = profile.words().into_iter().chain(profile.facts.iter().map(|f| f.value.clone()));
    assert!(!texts.into_iter().any(|t| t.contains("hunter2") || t.contains("SECRET_TOKEN")));
}

#[test]
fn logs_say_what_recordings_of_the_same_run_say() {
    for name in names(".log.gz") {
        let (format, log) = parsed(&unpacked(&format!("{name}.log.gz")));
        assert_eq!(format, Format::GcLog, "{name}");
        let (_, jfr) = parsed(&unpacked(&format!("{name}.jfr.gz")));
        let of = |profile: &Profile| -> Vec<_> {
            let all = rows(profile, "jvm_pause").into_iter().filter(|p| p["kind"].1 != "operation");
            let mut all: Vec<_> = all.collect();
            all.sort_by_key(|p| p["at"].0);
            all
        };
        let by_operation = |profile: &Profile| {
            let mut counts: BTreeMap<String, usize> = BTreeMap::new();
            of(profile).into_iter().for_each(|p| *counts.entry(p["operation"].1.clone()).or_insert(0) += 1);
            counts
        };
        let (log_pauses, jfr_pauses) = (of(&log), of(&jfr));
        // A recording begins some time after the JVM: the last of the log are those of it.
        let skipped = log_pauses.len().checked_sub(jfr_pauses.len()).unwrap();
        assert!(!jfr_pauses.is_empty() && skipped < 20, "{name}: {skipped}");
        let (in_log, in_jfr) = (by_operation(&log), by_operation(&jfr));
        for (operation, count) in &in_jfr {
            let more = in_log.get(operation).and_then(|all| all.checked_sub(*count));
            assert!(more.is_some_and(|more| more <= skipped), "{name}: {in_log:?} {in_jfr:?}");
        }
        // Pauses of a cycle follow each other within the milliseconds of the log.
        for (a, b) in log_pauses.iter().skip(skipped).zip(&jfr_pauses).filter(|_| !name.ends_with("-z")) {
            assert_eq!(a["kind"].1, b["kind"].1, "{name}: {a:?} {b:?}");
            assert!((a["time"].0 - b["time"].0).abs() < 500_000, "{name}: {a:?} {b:?}");
            assert_eq!(a["operation"].1, b["operation"].1, "{name}: {a:?} {b:?}");
            assert!(a["to_stop"].0 > 0 && a["to_stop"].0 < 1_000_000_000, "{name}: {a:?}");
            if a["kind"].1 != "concurrent" {
                assert_eq!(a["cause"].1, b["cause"].1, "{name}: {a:?} {b:?}");
                // The log has whole megabytes.
                for key in ["used_before", "used_after"] {
                    assert!((a[key].0 - b[key].0).abs() <= 1 << 20, "{name}: {key}: {} {}", a[key].0, b[key].0);
                }
            }
        }
        assert!(rows(&log, "jvm_pause").iter().any(|p| p["kind"].1 == "operation"), "{name}");
    }
}

#[test]
fn a_log_becomes_a_recording() {
    let name = names(".log.gz").remove(0);
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("x.twin");
    let (format, profile) =
        import(&input_of(&folder().join(format!("{name}.log.gz"))), &output, false, &Options::default()).unwrap();
    assert_eq!((format, profile.samples.len()), (Format::GcLog, 0));
    let recording = store::Recording::open(&output).unwrap();
    assert_eq!(recording.damage(), []);
    assert!((2_000_000_000..10_000_000_000).contains(&recording.duration()), "{}", recording.duration());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn flight_recordings_that_are_damaged_or_cut_off_end_nothing(
        which in 0usize..100,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..30),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let names = names(".jfr.gz");
        let mut bytes = unpacked(&format!("{}.jfr.gz", names[which % names.len()]));
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let mut profile = Profile::new(Options::default());
        let _ = parse(&bytes, &mut profile);
        prop_assert!(profile.samples.len() < bytes.len());
    }
}

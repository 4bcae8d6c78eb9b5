//! Recordings made by hand, of what JDKs do not write: async-profiler's events, all encodings of texts, damage. Those of JDKs are in
//! `crates/import/src/tests/jvm.rs`.

use super::*;
use crate::Options;
use model::NULL;
use proptest::prelude::*;

/// The attributes of an element.
type Attributes = Vec<(String, String)>;

/// A chunk while it is written.
#[derive(Default)]
struct Made {
    texts: Vec<String>,
    classes: Vec<(i64, &'static str, Vec<Attributes>)>,
    events: Vec<u8>,
}

fn number(out: &mut Vec<u8>, n: i64) {
    let mut n = n as u64;
    for _ in 0..8 {
        if n < 0x80 {
            return out.push(n as u8);
        }
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

fn numbers(all: &[i64]) -> Vec<u8> {
    let mut out = Vec::new();
    all.iter().for_each(|n| number(&mut out, *n));
    out
}

fn utf8(text: &str) -> Vec<u8> {
    let mut out = vec![3];
    number(&mut out, text.len() as i64);
    out.extend(text.bytes());
    out
}

/// An event with its size before it, which counts itself; always of two bytes, as the recorder of the JVM pads it.
fn event(kind: i64, fields: &[u8]) -> Vec<u8> {
    let mut rest = numbers(&[kind]);
    rest.extend(fields);
    let size = rest.len() + 2;
    assert!(size < 1 << 14);
    let mut out = vec![(size & 0x7f) as u8 | 0x80, (size >> 7) as u8];
    out.extend(rest);
    out
}

impl Made {
    /// A class with its fields: name, class, and `c` for a constant, `l` for a list.
    fn class(&mut self, id: i64, name: &'static str, fields: &[(&str, i64, &str)]) {
        let field = |(name, class, how): &(&str, i64, &str)| {
            let mut all = vec![("name".to_owned(), (*name).to_owned()), ("class".to_owned(), class.to_string())];
            if how.contains('c') {
                all.push(("constantPool".into(), "true".into()));
            }
            if how.contains('l') {
                all.push(("dimension".into(), "1".into()));
            }
            all
        };
        self.classes.push((id, name, fields.iter().map(field).collect()));
    }

    fn text(&mut self, text: &str) -> i64 {
        let at = self.texts.iter().position(|t| t == text).unwrap_or_else(|| {
            self.texts.push(text.to_owned());
            self.texts.len() - 1
        });
        at as i64
    }

    fn element(&mut self, name: &str, attributes: &[(String, String)], children: Vec<Vec<u8>>) -> Vec<u8> {
        let mut out = numbers(&[self.text(name), attributes.len() as i64]);
        for (key, value) in attributes {
            let pair = [self.text(key), self.text(value)];
            out.extend(numbers(&pair));
        }
        number(&mut out, children.len() as i64);
        out.extend(children.concat());
        out
    }

    fn chunk(mut self) -> Vec<u8> {
        let classes = std::mem::take(&mut self.classes);
        let mut elements = Vec::new();
        for (id, name, fields) in classes {
            let fields = fields.iter().map(|attributes| self.element("field", attributes, Vec::new())).collect();
            let attributes = [("id".to_owned(), id.to_string()), ("name".to_owned(), name.to_owned())];
            elements.push(self.element("class", &attributes, fields));
        }
        let metadata = self.element("metadata", &[], elements);
        let root = self.element("root", &[], vec![metadata]);
        let mut fields = numbers(&[0, 0, 1, self.texts.len() as i64]);
        self.texts.iter().for_each(|text| fields.extend(utf8(text)));
        fields.extend(root);
        let metadata = event(0, &fields);
        let mut out = b"FLR\0".to_vec();
        out.extend([0, 2, 0, 1]);
        let size = 68 + metadata.len() + self.events.len();
        // 1,000 ticks are a microsecond, and the chunk began at tick 5,000.
        for word in [size as u64, 0, 68, 1_000_000_000_000_000_000, 0, 5000, 1_000_000_000] {
            out.extend(word.to_be_bytes());
        }
        out.extend([0, 0, 0, 1]);
        out.extend(metadata);
        out.extend(self.events);
        out
    }
}

/// Of async-profiler: samples by the wall clock, C++ frames, a park for a lock and one for a queue.
fn made() -> Vec<u8> {
    let mut made = Made::default();
    for (id, name) in [(1, "boolean"), (2, "char"), (3, "int"), (4, "long"), (5, "java.lang.String")] {
        made.class(id, name, &[]);
    }
    made.class(
        10,
        "java.lang.Thread",
        &[("osName", 5, ""), ("osThreadId", 4, ""), ("javaName", 5, ""), ("javaThreadId", 4, "")],
    );
    made.class(11, "java.lang.Class", &[("name", 12, "c")]);
    made.class(12, "jdk.types.Symbol", &[("string", 5, "")]);
    made.class(13, "jdk.types.Method", &[("type", 11, "c"), ("name", 12, "c")]);
    made.class(14, "jdk.types.FrameType", &[("description", 5, "")]);
    made.class(15, "jdk.types.StackFrame", &[("method", 13, "c"), ("lineNumber", 3, ""), ("type", 14, "c")]);
    made.class(16, "jdk.types.StackTrace", &[("truncated", 1, ""), ("frames", 15, "l")]);
    made.class(17, "jdk.types.ThreadState", &[("name", 5, "")]);
    let sampled = [("startTime", 4, ""), ("sampledThread", 10, "c"), ("stackTrace", 16, "c"), ("state", 17, "c")];
    made.class(101, "jdk.ExecutionSample", &sampled);
    let mut wall = sampled.to_vec();
    wall.push(("samples", 3, ""));
    made.class(102, "profiler.WallClockSample", &wall);
    let parked = [
        ("startTime", 4, ""),
        ("duration", 4, ""),
        ("eventThread", 10, "c"),
        ("stackTrace", 16, "c"),
        ("parkedClass", 11, "c"),
        ("address", 4, ""),
    ];
    made.class(103, "jdk.ThreadPark", &parked);
    made.class(104, "jdk.ActiveSetting", &[("id", 4, ""), ("name", 5, ""), ("value", 5, "")]);
    made.class(105, "jdk.InitialSystemProperty", &[("key", 5, ""), ("value", 5, "")]);
    made.class(106, "a.Strange", &[("inside", 106, ""), ("unknown", 999, "")]);
    let thread = |os: &str, tid: i64, java: Vec<u8>| [utf8(os), numbers(&[tid]), java, numbers(&[0])].concat();
    // A text as characters, one as Latin-1, none, and one that is a constant.
    let chars = [vec![4], numbers(&[2, 0xe9, 0x416])].concat();
    let latin = vec![5, 2, b'x', 0xe9];
    let pool = |class: i64, constants: &[(i64, Vec<u8>)]| {
        let mut out = numbers(&[class, constants.len() as i64]);
        for (key, value) in constants {
            number(&mut out, *key);
            out.extend(value);
        }
        out
    };
    let pools = [
        pool(5, &[(1, utf8("java/util/HashMap"))]),
        pool(10, &[(1, thread("main", 4711, chars)), (2, thread("GC", 0, vec![0])), (3, thread("w", 12, latin))]),
        pool(12, &[(1, [vec![2], numbers(&[1])].concat()), (2, utf8("get")), (3, utf8("memcpy")), (4, vec![1])]),
        pool(11, &[(1, numbers(&[1])), (2, numbers(&[4])), (3, numbers(&[5])), (4, numbers(&[6])), (5, numbers(&[7]))]),
        pool(
            12,
            &[
                (5, utf8("java/util/concurrent/locks/ReentrantLock$NonfairSync")),
                (6, utf8("java/util/concurrent/FutureTask")),
                (7, utf8("libc.so.6")),
            ],
        ),
        pool(13, &[(1, numbers(&[1, 2])), (2, numbers(&[5, 3]))]),
        pool(14, &[(1, utf8("C1 compiled")), (2, utf8("C++")), (3, utf8("Inlined"))]),
        pool(16, &[(1, [vec![0], numbers(&[3, 2, 0, 2, 1, 7, 3, 1, 9, 1])].concat())]),
        pool(17, &[(1, utf8("STATE_RUNNABLE")), (2, utf8("STATE_SLEEPING"))]),
    ];
    let mut checkpoint = numbers(&[6000, 0, 0]);
    checkpoint.push(0);
    number(&mut checkpoint, pools.len() as i64);
    checkpoint.extend(pools.concat());
    for fields in [numbers(&[1_005_000, 1, 1, 1]), numbers(&[3_005_000, 3, 1, 1])] {
        made.events.extend(event(101, &fields));
    }
    made.events.extend(event(1, &checkpoint));
    let setting = |id: i64, value: &str| [numbers(&[id]), utf8("interval"), utf8(value)].concat();
    made.events.extend(event(104, &setting(101, "10000000")));
    made.events.extend(event(104, &setting(102, "50 ms")));
    made.events.extend(event(102, &numbers(&[2_005_000, 1, 1, 2, 4])));
    made.events.extend(event(103, &numbers(&[4_005_000, 30_000_000, 1, 1, 3, 0x7f00])));
    made.events.extend(event(103, &numbers(&[5_005_000, 40_000_000, 2, 1, 4, 0])));
    made.events.extend(event(105, &[utf8("password"), utf8("hunter2")].concat()));
    made.events.extend(event(106, &[1, 2, 3]));
    made.chunk()
}

fn profile_of(bytes: &[u8]) -> (Result<(), String>, Profile) {
    let mut profile = Profile::new(Options::default());
    let read = read(&mut &*bytes, &mut profile);
    (read, profile)
}

#[test]
fn events_of_async_profiler() {
    let (read, profile) = profile_of(&made());
    read.unwrap();
    let text = |cell| profile.symbols.text(cell).unwrap_or("-");
    let start = 1_000_000_000_000_000_000;
    let samples: Vec<_> =
        profile.samples.iter().map(|s| (s.at - start, s.tid, text(s.thread), s.weight, s.stack)).collect();
    assert_eq!(samples, [(1_000_000, 4711, "éЖ", 10_000_000, 3), (3_000_000, 12, "xé", 10_000_000, 3)]);
    assert_eq!(profile.events(), [("wait", 3), ("lock", 1)]);
    let words = profile.words();
    for word in
        ["java.util.HashMap.get", "memcpy", "ReentrantLock", "park for java.util.concurrent.FutureTask", "line 7"]
    {
        assert!(words.iter().any(|w| w == word), "{word}: {words:?}");
    }
    assert!(!words.iter().any(|w| w.contains("hunter2") || w.contains("password")), "{words:?}");
    let frames = profile.frames(3);
    assert_eq!(
        frames,
        [
            "jit java.util.HashMap.get line 9 [jit]",
            "inlined java.util.HashMap.get line 7 [jit]",
            "native memcpy - libc.so.6",
        ],
        "the outermost first"
    );
    // Two chunks are one recording.
    let twice = [made(), made()].concat();
    assert_eq!(profile_of(&twice).1.samples.len(), 4);
}

#[test]
fn what_one_sample_stands_for_can_be_asked_for() {
    let mut profile = Profile::new(Options { event: Some("profiler.WallClockSample".into()), ..Options::default() });
    read(&mut &*made(), &mut profile).unwrap();
    assert!(profile.samples.is_empty());
    assert!(
        profile.notes().iter().any(|n| n.contains("2 samples of jdk.ExecutionSample are left out")),
        "{:?}",
        profile.notes()
    );
}

#[test]
fn a_file_that_is_cut_off_is_read_as_far_as_it_goes() {
    let whole = made();
    let mut seen = std::collections::BTreeSet::new();
    for end in 0..whole.len() {
        let (read, profile) = profile_of(&whole[..end]);
        assert_eq!(read.is_ok(), profile.start.is_some(), "{end}");
        assert!(read.is_err() || !profile.notes().is_empty(), "{end}");
        seen.insert(profile.samples.len());
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), [0, 1, 2]);
    // Unfinished: the header says no size.
    let mut unfinished = whole.clone();
    unfinished[8..16].fill(0);
    assert_eq!(profile_of(&unfinished).1.samples.len(), 2);
    let (read, profile) = profile_of(&[whole.clone(), b"more".to_vec()].concat());
    assert!(read.is_ok() && profile.notes().iter().any(|n| n.contains("what came before is kept")));
}

#[test]
fn versions_and_sizes_that_cannot_be_are_said() {
    let changed = |at: usize, byte: u8| {
        let mut bytes = made();
        bytes[at] = byte;
        profile_of(&bytes).0.unwrap_err()
    };
    assert!(changed(5, 0).contains("version 0"));
    assert!(changed(67, 0).contains("not compressed"));
    assert!(changed(8, 0x7f).contains("a chunk of "));
    let mut small = made();
    small[8..16].copy_from_slice(&7u64.to_be_bytes());
    assert!(profile_of(&small).0.unwrap_err().contains("smaller than its header"));
    assert!(profile_of(b"").0.is_err());
}

/// The seed of the fuzzer is this recording, with the byte that chooses before it.
#[test]
fn the_seed_is_up_to_date() {
    let seed = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/import/jfr");
    let bytes = [vec![0], made()].concat();
    if std::env::var_os("TWINSCOPE_WRITE_SEEDS").is_some() {
        std::fs::write(&seed, &bytes).unwrap();
    }
    assert!(std::fs::read(&seed).is_ok_and(|there| there == bytes), "TWINSCOPE_WRITE_SEEDS=yes writes it anew");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn damage_ends_nothing(changes in prop::collection::vec((68usize..4000, any::<u8>()), 1..12)) {
        let mut bytes = made();
        for (at, value) in changes {
            let at = at % bytes.len();
            bytes[at] = value;
        }
        let (_, profile) = profile_of(&bytes);
        // Nothing is made up beyond what so many bytes can hold.
        prop_assert!(profile.samples.len() < bytes.len() && profile.sizes().1 < 5 * bytes.len());
    }

    #[test]
    fn any_events_end_nothing(events in prop::collection::vec(any::<u8>(), 0..500)) {
        let mut bytes = made();
        bytes.extend(events);
        bytes[8..16].fill(0);
        let (_, profile) = profile_of(&bytes);
        prop_assert!(profile.samples.iter().all(|s| s.weight >= 0 && (s.tid > 0 || s.tid == NULL)));
    }
}

//! Files of each kind, read and written as a recording.

mod jvm;

use super::*;
use model::{NULL, Window};
use proptest::prelude::*;
use query::Run;
use query::profile::{Part, Request, folded, load};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/profiles").join(name)
}

pub(crate) fn input_of(path: &Path) -> Input {
    Input::of(path, input::USUAL).unwrap()
}

pub(crate) fn read_path(path: &Path, options: &Options) -> Result<(Format, Profile), Error> {
    read(&input_of(path), options)
}

/// The collapsed stacks of a recording of a file, in milliseconds.
fn imported(input: &Path, options: &Options) -> (Format, Profile, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("x.twin");
    let (format, profile) = import(&input_of(input), &output, false, options).unwrap();
    let run = Run { name: "x".into(), recording: store::Recording::open(&output).unwrap(), stretch: None };
    assert_eq!(run.recording.damage(), []);
    let window = Window { from: run.recording.began(), to: run.recording.duration(), why: String::new() };
    let tree = load(&[Part { run: &run, window: &window }], &Request::new("cpu")).unwrap();
    let total: i64 = profile.samples.iter().map(|s| s.weight).sum();
    assert!((tree.whole(0) - total as f64 / 1e9).abs() < 1e-6, "nothing is lost on the way");
    (format, profile, folded(&tree, 1e3).lines().map(str::to_owned).collect())
}

fn imported_text(name: &str, bytes: &[u8]) -> (Format, Profile, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    imported(&path, &Options::default())
}

#[test]
fn tables_of_numbers_and_scraps_are_no_stacks() {
    let sar = "Linux 6.1.0 (host)  02/11/26  _x86_64_  (8 CPU)\n\n08:15:01  CPU  %user  %nice  %system  %idle\n"
        .to_owned()
        + &"08:15:10  all  1.20  0.00  3.40  95.40\n".repeat(60);
    let read = |text: &str| parse(text.as_bytes(), &mut Profile::new(Options::default())).unwrap_err();
    assert!(read(&sar).contains("the text of sar"), "{}", read(&sar));
    assert!(!read(&sar[1..]).is_empty(), "whatever its head says");
    let scraps = "app;main;work 3\n".repeat(40) + &"no count at all\n".repeat(60);
    assert_eq!(read(&scraps), "60 of 100 lines are no stack with a count");
    // Names with numbers in them.
    let (_, profile, _) = imported_text("x.folded", b"worker 1;main 3\nworker 2;main 4\n");
    assert_eq!(profile.samples.len(), 2);
}

#[test]
fn collapsed_stacks() {
    let (format, profile, lines) = imported_text(
        "x.folded",
        b"app;main;work 3\napp;main;do_idle_[k] 2\nbash 1\nno count\n\n# a comment\napp;f<a b>;g 4.6\n",
    );
    assert_eq!(format, Format::Folded);
    assert_eq!(lines, ["[unknown process];bash 1", "app;f<a b>;g 5", "app;main;do_idle 2", "app;main;work 3"]);
    assert!(profile.notes().iter().any(|n| n.starts_with("1 lines that are no stack")), "{:?}", profile.notes());
    assert_eq!(profile.manifest.duration, Some(11_000_000));
}

#[test]
fn a_stack_without_end_is_cut() {
    let deep = vec!["a"; 100_000].join(";");
    let (_, profile, lines) = imported_text("x.folded", format!("{deep} 5\napp;b 1\n").as_bytes());
    assert_eq!(profile.sizes().1, 4096 + 1);
    assert_eq!((lines.len(), lines[0].len()), (2, "a;".len() * 4097 + "5".len()));
    assert!(profile.notes().iter().any(|note| note.contains("deeper than 4,096")), "{:?}", profile.notes());
}

const SCRIPT: &str = "\
app  100/101  [001]  10.500000:    2000000 cpu-clock:ppp:
\tffffffff81 do_work+0x10 ([kernel.kallsyms])
\t     7f0001 std::vec<(a, b)>::push(int)+0x1f (/usr/bin/app)
\t     7f0002 [unknown] (/usr/lib/libc.so.6)
\t     7f0003 helper (inlined)

app  100/101  [001]  10.600000:          1 sched:sched_switch:
\t     7f0002 other (/usr/bin/app)

Web Content 200 11.500000:    1000000 cpu-clock:ppp:
\t     7f0002 main+0x5 (/usr/bin/app)
";

#[test]
fn the_text_of_perf_script() {
    let (format, profile, lines) = imported_text("x.txt", SCRIPT.as_bytes());
    assert_eq!(format, Format::PerfScript);
    assert_eq!(lines, ["Web Content;main 1", "app;helper;[libc.so.6];std::vec<(a, b)>::push(int);do_work 2"]);
    assert_eq!(
        profile.samples.iter().map(|s| (s.at, s.pid, s.tid, s.cpu)).collect::<Vec<_>>(),
        [(10_500_000_000, 100, 101, 1), (11_500_000_000, 200, 200, NULL)]
    );
    assert!(profile.notes().iter().any(|n| n.contains("other events")), "{:?}", profile.notes());
    assert_eq!(profile.manifest.duration, Some(1_000_000_000));
}

/// Linux 3.x writes neither time nor CPU, and does not always indent frames.
#[test]
fn the_text_of_old_perf_script() {
    let (format, profile, lines) = imported_text(
        "x.txt",
        b"# captured on: Sun Oct 25 23:31:43 2015\n#\njava 19983 cycles:\nffffffff8103d0ca native_write_msr_safe ([kernel.kallsyms])\n\
          7f0001 main (/usr/bin/java)\n\njava 19983 cycles:\n7f0001 main (/usr/bin/java)\n\n",
    );
    assert_eq!(format, Format::PerfScript);
    assert_eq!(lines, ["java;main 1", "java;main;native_write_msr_safe 1"]);
    assert_eq!(profile.manifest.duration, Some(2_000_000));
    assert!(profile.notes().iter().any(|n| n == "the text has no times: all is at 0 s"), "{:?}", profile.notes());
    let prose = b"chapter 12 introduction:\n  a long time ago\n  be it as it may\n";
    assert!(parse(prose, &mut Profile::new(Options::default())).is_err());
}

/// Samples of what is no time weigh by their periods, as `perf report` counts them.
#[test]
fn periods_of_perf_script_are_weights() {
    let sample = |period: u32, name: &str| {
        format!("app 100 [001] 10.500000: {period} page-faults:\n\t7f0001 {name} (/usr/bin/app)\n\n")
    };
    let text = sample(9, "load") + &sample(1, "touch") + &sample(2, "load");
    let (_, profile, _) = imported_text("x.txt", text.as_bytes());
    let weights: Vec<i64> = profile.samples.iter().map(|s| s.weight).collect();
    // In the order of their stacks.
    assert_eq!(weights, [2_250_000, 500_000, 250_000], "3 ms in all");
    assert!(profile.notes().iter().any(|n| n.contains("weigh by their periods")), "{:?}", profile.notes());
}

#[test]
fn text_in_utf_16() {
    let text: Vec<u8> = std::iter::once(0xfeff)
        .chain("main;work 3\r\nmain;wait 1\r\n".encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    let (format, _, lines) = imported_text("x.txt", &text);
    assert_eq!(format, Format::Folded);
    assert_eq!(lines, ["main;wait 1", "main;work 3"]);
}

/// What another program converts is refused with the command that does so.
#[test]
fn what_others_convert_is_refused_with_the_command() {
    let words = |size: usize| -> Vec<u8> {
        let word = |n: u64| n.to_le_bytes()[..size].to_vec();
        [0, 3, 0, 10_000, 0, 1, 1, 0x40_1000].map(word).concat()
    };
    for (bytes, said) in [
        (words(8), "pprof -proto PROGRAM FILE"),
        (words(4), "pprof -proto PROGRAM FILE"),
        (b"heap profile:      1:     1024 [     1:     1024] @ heapprofile\n".to_vec(), "pprof -proto PROGRAM FILE"),
        (
            b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE sysstat>\n<sysstat xmlns=\"x\">\n".to_vec(),
            "sadf -j FILE -- -A",
        ),
        (b"Linux 6.1.0 (host) \t11/28/26 \t_x86_64_\t(8 CPU)\n\n08:15:01  CPU  %user\n".to_vec(), "sadf -j FILE -- -A"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        std::fs::write(&path, &bytes).unwrap();
        let error = read_path(&path, &Options::default()).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn pprof_goes_there_and_back() {
    let mut tree = query::profile::Tree::new(1);
    let frames = [("main", "/bin/app", "app.c:9"), ("work", "/bin/app", "app.c:5")]
        .map(|(n, m, s)| tree.intern(n, m, s, "native"));
    let main = tree.child(0, frames[0]);
    let work = tree.child(main, frames[1]);
    tree.add(main, 0, 0.001);
    tree.add(work, 0, 0.002);
    let plain = query::profile::pprof(&tree, &["x".into()], "cpu", "nanoseconds", 1e9);
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gz, &plain).unwrap();
    let packed = gz.finish().unwrap();
    for bytes in [&plain, &packed] {
        let (format, _, lines) = imported_text("x.pb", bytes);
        assert_eq!(format, Format::Pprof);
        assert_eq!(lines, ["[unknown process];main 1", "[unknown process];main;work 2"]);
    }
    // Cut off: said, not taken for something else.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cut.pb");
    std::fs::write(&path, &plain[..plain.len() - 7]).unwrap();
    assert!(read_path(&path, &Options::default()).unwrap_err().to_string().contains("cut off or damaged"));
}

#[test]
fn what_is_none_of_them_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    for (bytes, word) in [
        (&b""[..], "neither"),
        (b"hello world\nthis is prose\n", "neither"),
        (&[0xff, 0, 1, 2], "neither"),
        (b"PERFILE2", "header"),
    ] {
        let path = dir.path().join("x");
        std::fs::write(&path, bytes).unwrap();
        let error = read_path(&path, &Options::default()).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
}

/// What `perf script` says of a file is what is read of the file itself.
#[test]
fn perf_data_is_what_perf_says() {
    let options = Options { symbols: false, ..Options::default() };
    let (format, data, _) = imported(&fixture("busy.perf.data"), &options);
    assert_eq!(format, Format::PerfData);
    let (_, script, _) = imported(&fixture("busy.script.txt"), &options);
    assert_eq!(data.samples.len(), script.samples.len());
    let key = |p: &Profile| {
        let mut all: Vec<_> = p
            .samples
            .iter()
            .map(|s| (s.at / 1000, s.pid, s.tid, s.cpu, s.weight, p.symbols.text(s.thread).map(str::to_owned)))
            .collect();
        all.sort();
        all
    };
    assert_eq!(key(&data), key(&script));
    assert!(!data.manifest.host.is_empty() && data.manifest.cpus > 0);
    // Modules by place, of the same samples.
    let modules = |input: &str| {
        let dir = tempfile::tempdir().unwrap();
        let output = dir.path().join("x.twin");
        import(&input_of(&fixture(input)), &output, false, &options).unwrap();
        let run = Run { name: "x".into(), recording: store::Recording::open(&output).unwrap(), stretch: None };
        let window = Window { from: 0, to: run.recording.duration(), why: String::new() };
        let tree = load(&[Part { run: &run, window: &window }], &Request::new("cpu")).unwrap();
        let mut by_module = std::collections::BTreeMap::new();
        for (node, weight) in tree.own(0).iter().enumerate().filter(|(_, w)| **w > 0.0) {
            let module = tree.frame(node as u32).map_or(String::new(), |f| f.module.to_string());
            let module = if module == "[anonymous]" || module == "[unknown]" { String::new() } else { module };
            *by_module.entry(module).or_insert(0u64) += (weight * 1e6).round() as u64;
        }
        by_module
    };
    assert_eq!(modules("busy.perf.data"), modules("busy.script.txt"));
}

/// perf's own words follow its records where both of its outputs went into one file.
#[test]
fn text_behind_the_records_of_a_pipe() {
    let whole = perf::tests::piped();
    let said = b"[ perf record: Woken up 1 times to write data ]\n[ perf record: Captured and wrote 0.001 MB - ]\n";
    for tail in [&b""[..], said] {
        let bytes = [&whole, tail].concat();
        let (format, profile, _) = imported_text("x.data", &bytes);
        assert_eq!((format, profile.samples.len()), (Format::PerfData, 2));
        let notes = profile.notes();
        assert!(!notes.iter().any(|n| n.contains("cut off")), "{notes:?}");
        let told = format!("{} bytes of text follow the records of perf; they are left out", tail.len());
        assert_eq!(notes.contains(&told), !tail.is_empty(), "{notes:?}");
    }
}

/// The files that most of the time lies in are named, not all.
#[test]
fn files_that_cannot_be_read_are_said_in_one_line() {
    let mut profile = Profile::new(Options::default());
    let mut unread = Vec::new();
    for (n, weight) in [5, 40, 1, 30, 4].into_iter().enumerate() {
        let path = format!("/gone/lib{n}.so");
        let place = profile.named("", &path, "", "native");
        let stack = profile.stack(0, place);
        profile.samples.push(Sample { at: 0, pid: 1, tid: 1, comm: NULL, thread: NULL, cpu: NULL, stack, weight });
        unread.push((path, "No such file".to_owned()));
    }
    let named = profile.named("main", "/here/app", "", "native");
    let stack = profile.stack(0, named);
    profile.samples.push(Sample { at: 0, pid: 1, tid: 1, comm: NULL, thread: NULL, cpu: NULL, stack, weight: 20 });
    profile.note_unnamed(&unread);
    assert_eq!(
        profile.notes(),
        [
            "80.0 % of the time lies in files whose functions are not named: /gone/lib1.so 40.0 % (No such file), /gone/lib3.so 30.0 % (No such file), \
          /gone/lib0.so 5.0 % (No such file) and 2 more; `twinscope resolve` names them where the files are"
        ]
    );
}

#[test]
fn damage_is_left_out() {
    let bytes = std::fs::read(fixture("busy.perf.data")).unwrap();
    let whole = count(&bytes);
    let cut = count(&bytes[..bytes.len() / 2]);
    assert!(cut > 0 && cut < whole, "{cut} of {whole}");
}

/// Samples that can be read of perf.data in memory.
fn count(bytes: &[u8]) -> usize {
    let mut profile = Profile::new(Options { symbols: false, ..Options::default() });
    let _ = perf::read(&mut std::io::Cursor::new(bytes), &mut profile);
    profile.samples.len()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn hostile_bytes_end_nothing(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        let mut profile = Profile::new(Options { symbols: false, ..Options::default() });
        let _ = parse(&bytes, &mut profile);
        count(&bytes);
    }

    #[test]
    fn hostile_lines_end_nothing(text in "([a-z;_\\[\\] ()/+.:0-9\\t]{0,60}\n){0,30}") {
        let mut profile = Profile::new(Options::default());
        let _ = parse(text.as_bytes(), &mut profile);
    }

    #[test]
    fn flipped_bits_of_perf_data_end_nothing(flips in proptest::collection::vec((0usize..40_000, any::<u8>()), 1..20)) {
        let mut bytes = std::fs::read(fixture("busy.perf.data")).unwrap();
        for (at, value) in flips {
            let at = at % bytes.len();
            bytes[at] = value;
        }
        count(&bytes);
    }
}

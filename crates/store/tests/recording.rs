//! A recording from the first row to the last reader: finished, cut off, read while written, damaged.

mod hostile;

use model::{Column, Manifest, NULL, Rows, Symbols, Table, Unit};
use std::path::Path;
use store::{Error, Frame, Recording, Select, Writer};

static NET: Table = Table::wide(
    "net",
    "interfaces",
    &[Column::label("name", "interface"), Column::counter("bytes", Unit::Bytes, "bytes")],
);
static EVENTS: Table = Table::wide(
    "ended",
    "processes that ended",
    &[Column::number("pid", "process"), Column::gauge("code", Unit::None, "code")],
)
.of_events();

static WORDS: Table = Table::wide(
    "word",
    "entries that events refer to",
    &[Column::number("word", "number"), Column::fact("text", "what it says")],
)
.of_entries();

const SECOND: i64 = 1_000_000_000;
const NEVER: i64 = i64::MAX;

struct Run {
    writer: Writer,
    symbols: Symbols,
    net: store::TableId,
    ended: store::TableId,
}

fn start(path: &Path, seal_every: i64) -> Run {
    let mut writer = Writer::create(path, false, seal_every).unwrap();
    writer.source("network", "Interfaces", SECOND, &[]);
    writer.source("disks", "Disks", 2 * SECOND, &[]);
    let net = writer.define("network", &NET);
    let ended = writer.define("processes", &EVENTS);
    writer.manifest(&Manifest { name: "run".into(), ..Manifest::default() }).unwrap();
    Run { writer, symbols: Symbols::default(), net, ended }
}

impl Run {
    fn tick(&mut self, second: i64, interfaces: &[(&str, i64)], ended: &[i64]) {
        let cells = interfaces.iter().flat_map(|&(name, bytes)| [self.symbols.cell(name), bytes]).collect();
        self.writer.put(self.net, second * SECOND, &Rows { width: 2, cells });
        let cells = ended.iter().flat_map(|&pid| [pid, 0]).collect();
        self.writer.put(self.ended, second * SECOND, &Rows { width: 2, cells });
        self.writer.commit(&self.symbols).unwrap();
    }
}

/// Each entity as "name: second=bytes …", with `x` where it is gone.
fn shown(frame: &Frame) -> Vec<String> {
    let bytes = frame.column("bytes").unwrap();
    let entity = |e: &store::Entity| {
        let rows = e.rows.clone().map(|r| {
            let second = frame.ticks[frame.tick[r] as usize] / SECOND;
            if frame.gone[r] { format!("{second}=x") } else { format!("{second}={}", bytes[r]) }
        });
        format!("{}: {}", frame.symbols.text(e.labels[0]).unwrap(), rows.collect::<Vec<_>>().join(" "))
    };
    frame.entities.iter().map(entity).collect()
}

fn net(path: &Path) -> Frame {
    Recording::open(path).unwrap().load("net", &Select::default()).unwrap()
}

#[test]
fn rows_survive_finish_and_a_cut() {
    for finish in [true, false] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.twin");
        let mut run = start(&path, 3 * SECOND);
        for second in 0..8 {
            let lo = ("lo", 100);
            let eth = ("eth0", second * 10);
            let all = if second == 5 { vec![lo] } else { vec![lo, eth] };
            run.tick(second, &all, if second == 2 { &[41, 42] } else { &[] });
        }
        if finish {
            let manifest = Manifest { name: "run".into(), ended: Some("done".into()), ..Manifest::default() };
            run.writer.finish(&manifest, &run.symbols).unwrap();
            assert!(!dir.path().join("a.twin-wal").exists(), "one file is left");
        } else {
            drop(run);
        }
        let recording = Recording::open(&path).unwrap();
        assert_eq!(recording.is_unfinished(), !finish);
        assert_eq!(recording.manifest().name, "run");
        assert_eq!(recording.duration(), 7 * SECOND);
        let source = |name: &str, title: &str, interval| (name.to_owned(), title.to_owned(), interval);
        let declared = [source("network", "Interfaces", SECOND), source("disks", "Disks", 2 * SECOND)];
        assert_eq!(recording.sources(), declared, "in the order in which they were declared");
        assert_eq!(recording.charts(), []);
        let frame = recording.load("net", &Select::default()).unwrap();
        assert_eq!(frame.ticks.len(), 8);
        // Full rows at 0 and at the first tick after each seal (4), else only what moved.
        assert_eq!(shown(&frame), ["lo: 0=100 4=100", "eth0: 0=0 1=10 2=20 3=30 4=40 5=x 6=60 7=70"]);
        assert_eq!(frame.lives(&frame.entities[1]).len(), 2);
        let ended = recording.load("ended", &Select::default()).unwrap();
        assert_eq!(ended.entities.len(), 2);
        assert_eq!(ended.ticks, [2 * SECOND]);
        assert_eq!(recording.damage(), []);
        assert!(recording.load("none", &Select::default()).is_none());
    }
}

#[test]
fn a_reader_sees_one_moment_while_it_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.twin");
    let mut run = start(&path, NEVER);
    run.tick(0, &[("lo", 1)], &[]);
    let recording = Recording::open(&path).unwrap();
    run.tick(1, &[("lo", 2)], &[]);
    run.writer.seal(&run.symbols).unwrap();
    assert_eq!(shown(&recording.load("net", &Select::default()).unwrap()), ["lo: 0=1"]);
    assert_eq!(shown(&net(&path)), ["lo: 0=1 1=2"]);
}

#[test]
fn fewer_ticks_keep_the_last_value_of_each_stretch() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.twin");
    let mut run = start(&path, 4 * SECOND);
    for second in 0..10 {
        run.tick(second, &[("lo", second)], &[]);
    }
    drop(run);
    let recording = Recording::open(&path).unwrap();
    let frame = recording.load("net", &Select { most_ticks: 4, ..Select::default() }).unwrap();
    assert_eq!(shown(&frame), ["lo: 2=2 5=5 8=8 9=9"]);
    let part = recording.load("net", &Select { between: Some((9 * SECOND, NEVER)), ..Select::default() }).unwrap();
    assert!(part.ticks.len() < 10, "older generations are left out");
    let names = recording.load("net", &Select { columns: Some(&[]), ..Select::default() }).unwrap();
    assert_eq!((names.entities.len(), names.column("bytes").unwrap().len()), (1, 0));
}

#[test]
fn damage_is_said_and_the_rest_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.twin");
    let mut run = start(&path, NEVER);
    for generation in 0..3 {
        for second in 0..3 {
            // eth0 goes in the second generation, which will be damaged.
            let all: &[(&str, i64)] = if generation == 0 { &[("lo", 1), ("eth0", 5)] } else { &[("lo", 2)] };
            run.tick(generation * 3 + second, all, &[]);
        }
        run.writer.seal(&run.symbols).unwrap();
    }
    run.writer.finish(&Manifest::default(), &run.symbols).unwrap();
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute("update segment set bytes = x'00ff' where generation = 1 and table_id = 0", []).unwrap();
    db.execute("update manifest set value = 'broken' where key = 'host'", []).unwrap();
    drop(db);
    let recording = Recording::open(&path).unwrap();
    let frame = recording.load("net", &Select::default()).unwrap();
    assert_eq!(shown(&frame), ["lo: 0=1 6=2", "eth0: 0=5 6=x"]);
    // The lost reads are no reads: their ticks would say that nothing changed.
    assert_eq!(frame.ticks, [0, 1, 2, 6, 7, 8].map(|s| s * SECOND));
    assert_eq!(recording.manifest().name, "");
    let said: Vec<String> = recording.damage().iter().map(ToString::to_string).collect();
    assert!(said[0].starts_with("manifest.host: not JSON"), "{said:?}");
    assert!(said[1].starts_with("list of segments: "), "{said:?}");
    assert!(said[2].starts_with("table net, 3.0 s to 5.0 s: zstd"), "{said:?}");
    // A look at all segments says the same, and only that.
    let looked = Recording::open(&path).unwrap();
    looked.check();
    let found: Vec<String> = looked.damage().iter().map(ToString::to_string).collect();
    assert_eq!(found.len(), said.len(), "{found:?}");
    assert!(found[2].starts_with("table net, 3.0 s to 5.0 s: zstd"), "{found:?}");
}

#[test]
fn what_is_lost_from_the_lists_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.twin");
    for (change, said) in [
        ("delete from segment where generation = 0 and table_id = 0", "list of segments: "),
        ("update segment set table_id = 77 where generation = 0 and table_id = 0", "list of segments: "),
        ("update segment set t_to = t_to - 1 where generation = 0 and table_id = 0", "list of segments: "),
        ("update table_definition set id = 77 where id = 0", "table net: its definition is damaged"),
        ("delete from tail where tick = (select min(tick) from tail)", "tail: the commits before number 4 are missing"),
    ] {
        let mut run =
            Run { writer: Writer::create(&path, true, NEVER).unwrap(), ..start(&dir.path().join("b.twin"), NEVER) };
        run.net = run.writer.define("test", &NET);
        (0..3).for_each(|second| run.tick(second, &[("lo", second)], &[]));
        run.writer.seal(&run.symbols).unwrap();
        (3..6).for_each(|second| run.tick(second, &[("lo", second)], &[]));
        assert_eq!(Recording::open(&path).unwrap().damage(), []);
        rusqlite::Connection::open(&path).unwrap().execute_batch(change).unwrap();
        let damage: Vec<String> = Recording::open(&path).unwrap().damage().iter().map(ToString::to_string).collect();
        assert!(damage.first().is_some_and(|d| d.starts_with(said)), "{change}: {damage:?}");
        std::fs::remove_file(dir.path().join("b.twin")).unwrap();
    }
}

#[test]
fn a_column_that_was_not_read_is_not_an_entity_that_is_gone() {
    static HALF: Table = Table::wide(
        "half",
        "half of it is read",
        &[
            Column::number("id", "which"),
            Column::gauge("read", Unit::None, "read"),
            Column::gauge("unread", Unit::None, "not read"),
        ],
    );
    for sealed in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.twin");
        let mut writer = Writer::create(&path, false, NEVER).unwrap();
        let half = writer.define("test", &HALF);
        for (t, cells) in [vec![1, 5, NULL, 2, 6, NULL], vec![1, 7, NULL], vec![1, 8, NULL]].into_iter().enumerate() {
            writer.put(half, t as i64, &Rows { width: 3, cells });
        }
        writer.commit(&Symbols::default()).unwrap();
        if sealed {
            writer.seal(&Symbols::default()).unwrap();
        }
        drop(writer);
        let recording = Recording::open(&path).unwrap();
        for columns in [&["read", "unread"][..], &["read"], &["unread"], &[]] {
            let frame = recording.load("half", &Select { columns: Some(columns), ..Select::default() }).unwrap();
            let lives: Vec<_> = frame.entities.iter().map(|e| frame.lives(e)[0].0.clone()).collect();
            assert_eq!(lives, [0..3, 0..1], "{columns:?}, sealed: {sealed}");
        }
    }
}

#[test]
fn the_flight_recorder_forgets() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.twin");
    let mut run = start(&path, 2 * SECOND);
    for second in 0..30 {
        run.tick(second, &[("lo", second)], &[]);
        run.writer.forget_before((second - 10) * SECOND).unwrap();
    }
    let copy = dir.path().join("copy.twin");
    run.writer
        .snapshot(&copy, &Manifest { ended: Some("snapshot".into()), ..Manifest::default() }, &run.symbols)
        .unwrap();
    run.tick(30, &[("lo", 30)], &[]);
    let frame = net(&copy);
    assert!(frame.ticks[0] >= 16 * SECOND && frame.ticks.len() <= 14, "{:?}", frame.ticks);
    assert_eq!(net(&path).ticks.last(), Some(&(30 * SECOND)));
}

#[test]
fn a_flight_recorder_keeps_its_dictionaries() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.twin");
    let mut run = start(&path, 2 * SECOND);
    let words = run.writer.define("processes", &WORDS);
    for second in 0..30 {
        // One entry in the first second, one near the end.
        if matches!(second, 0 | 28) {
            let cells = vec![second, run.symbols.cell(&format!("word {second}"))];
            run.writer.put(words, second * SECOND, &Rows { width: 2, cells });
        }
        run.tick(second, &[("lo", second)], &[second]);
        run.writer.forget_before((second - 10) * SECOND).unwrap();
    }
    let copy = dir.path().join("copy.twin");
    run.writer.snapshot(&copy, &Manifest::default(), &run.symbols).unwrap();
    for path in [&path, &copy] {
        let recording = Recording::open(path).unwrap();
        for between in [None, Some((5 * SECOND, 20 * SECOND))] {
            let frame = recording.load("word", &Select { between, ..Select::default() }).unwrap();
            let text = |row: usize| frame.symbols.text(frame.column("text").unwrap()[row]).unwrap().to_owned();
            let shown: Vec<_> = frame.entities.iter().map(|e| (e.labels[0], text(e.rows.start))).collect();
            assert_eq!(shown, [(0, "word 0".to_owned()), (28, "word 28".to_owned())], "{between:?}");
        }
        assert!(recording.load("ended", &Select::default()).unwrap().ticks[0] >= 16 * SECOND);
    }
}

#[test]
fn a_flight_recorder_forgets_a_dictionary_that_was_begun_anew() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.twin");
    let mut run = start(&path, 2 * SECOND);
    let words = run.writer.define("processes", &WORDS);
    let mut sizes = Vec::new();
    // An hour: each second has a word of its own, and every minute all words are told again under other numbers.
    for second in 0..3_600 {
        if second % 60 == 0 && second > 0 {
            run.writer.renewed(&[words], second * SECOND);
        }
        let cells = vec![second, run.symbols.cell(&format!("word {}", second % 60))];
        run.writer.put(words, second * SECOND, &Rows { width: 2, cells });
        run.tick(second, &[("lo", second)], &[second]);
        run.writer.forget_before((second - 30) * SECOND).unwrap();
        if second % 600 == 599 {
            sizes.push(std::fs::metadata(&path).unwrap().len());
        }
    }
    let recording = Recording::open(&path).unwrap();
    let frame = recording.load("word", &Select::default()).unwrap();
    let kept: Vec<i64> = frame.entities.iter().map(|entity| entity.labels[0]).collect();
    // The oldest rows are 30 s old, and of this minute: what it was told is there, and little of before.
    assert!((3_540..3_600).all(|second| kept.contains(&second)), "{kept:?}");
    assert!(kept.iter().all(|&second| second >= 3_480 - 4), "{kept:?}");
    // Between seals it swings by some pages.
    let (first, last) = (sizes[..3].iter().max().unwrap(), sizes[3..].iter().max().unwrap());
    assert!(*last <= first + first / 10, "the file reaches a plateau: {sizes:?}");
}

#[test]
fn what_is_no_recording_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    assert!(matches!(Recording::open(&path), Err(Error::Io { .. })));
    let refused = |path: &Path, words: &str| {
        let why = Recording::open(path).expect_err(words).to_string();
        assert!(why.contains("not a recording") && why.contains(words), "{why}");
    };
    refused(dir.path(), "is a folder");
    std::fs::write(&path, "").unwrap();
    refused(&path, "is empty");
    std::fs::write(&path, "text, long enough to be taken for a header of a database ".repeat(100)).unwrap();
    assert!(matches!(Recording::open(&path), Err(Error::NotARecording { .. })), "{:?}", Recording::open(&path));
    assert!(matches!(Writer::create(&path, false, NEVER), Err(Error::Exists { .. })));
    let db = dir.path().join("b");
    rusqlite::Connection::open(&db).unwrap().execute_batch("create table x (a)").unwrap();
    assert!(matches!(Recording::open(&db), Err(Error::NotARecording { .. })));
    let newer = dir.path().join("c.twin");
    let run = start(&newer, NEVER);
    // A copy of the file alone, while the recorder has everything in its log.
    let alone = dir.path().join("alone.twin");
    std::fs::copy(&newer, &alone).unwrap();
    refused(&alone, "copy both");
    drop(run);
    rusqlite::Connection::open(&newer).unwrap().execute_batch("pragma user_version = 99").unwrap();
    assert!(matches!(Recording::open(&newer), Err(Error::TooNew { found: 99, .. })));
}

#[test]
fn a_missing_string_is_nothing_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.twin");
    let mut run = start(&path, NEVER);
    run.tick(0, &[("lo", 1)], &[]);
    rusqlite::Connection::open(&path).unwrap().execute_batch("delete from symbol").unwrap();
    let recording = Recording::open(&path).unwrap();
    let frame = recording.load("net", &Select::default()).unwrap();
    assert_eq!(frame.entities[0].labels, [NULL]);
    assert_eq!(recording.damage().len(), 1);
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_recording_gives_way_when_the_next_has_begun() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.twin");
    let mut first = start(&path, NEVER);
    first.tick(0, &[("lo", 1)], &[]);
    let why = Writer::create(&path, true, NEVER).unwrap_err();
    assert!(matches!(why, Error::InUse { .. }), "{why}");
    assert!(Recording::open(&path).unwrap().load("net", &Select::default()).is_some(), "its recorder still has it");
    drop(first);
    // What a recorder that was killed leaves.
    std::fs::write(dir.path().join("a.twin-wal"), "rows").unwrap();
    let second = Writer::create(&path, true, NEVER).unwrap();
    assert!(
        Recording::open(&path).unwrap().tables().next().is_none(),
        "nothing of the first is taken for the second's"
    );
    drop(second);
    std::fs::write(&path, "no recording at all").unwrap();
    let third = Writer::create(&path, true, NEVER).unwrap();
    third.finish(&Manifest::default(), &Symbols::default()).unwrap();
    assert_eq!(names(dir.path()), ["a.twin"]);
}

#[test]
fn a_folder_that_is_renamed_takes_its_recording_along_and_touches_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let (folder, renamed) = (dir.path().join("a"), dir.path().join("b"));
    std::fs::create_dir(&folder).unwrap();
    let path = folder.join("x.twin");
    let rows = |path: &Path| {
        let recording = Recording::open(path).unwrap();
        (
            recording.load("net", &Select::default()).map_or(0, |frame| frame.column("bytes").unwrap().len()),
            recording.is_unfinished(),
        )
    };
    for is_dropped in [false, true] {
        let mut first = start(&path, NEVER);
        first.tick(0, &[("lo", 1)], &[]);
        std::fs::rename(&folder, &renamed).unwrap();
        first.tick(1, &[("lo", 2)], &[]);
        std::fs::create_dir(&folder).unwrap();
        let mut second = start(&path, NEVER);
        second.tick(0, &[("lo", 1), ("eth0", 1)], &[]);
        let there = names(&folder);
        let Run { writer, symbols, .. } = first;
        if is_dropped {
            drop(writer);
        } else {
            let why =
                writer.finish(&Manifest { ended: Some("whole".into()), ..Manifest::default() }, &symbols).unwrap_err();
            assert!(matches!(&why, Error::Moved { to, .. } if *to == renamed.join("x.twin")), "{why}");
            assert_eq!(names(&renamed), ["x.twin"]);
        }
        assert_eq!(rows(&renamed.join("x.twin")), (2, is_dropped));
        assert_eq!(names(&folder), there, "the log of the other recording");
        // As a kill would leave it.
        std::mem::forget(second.writer);
        assert_eq!(rows(&path), (2, true));
        std::fs::remove_dir_all(&folder).unwrap();
        std::fs::remove_dir_all(&renamed).unwrap();
        std::fs::create_dir(&folder).unwrap();
    }
}

#[test]
fn a_recording_that_is_removed_takes_nothing_along() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.twin");
    let mut first = start(&path, NEVER);
    first.tick(0, &[("lo", 1)], &[]);
    for name in names(dir.path()) {
        std::fs::remove_file(dir.path().join(name)).unwrap();
    }
    let mut second = start(&path, NEVER);
    second.tick(0, &[("lo", 1)], &[]);
    let there = names(dir.path());
    let why = first.writer.finish(&Manifest::default(), &first.symbols).unwrap_err().to_string();
    assert!(why.contains("removed while it was recorded"), "{why}");
    assert_eq!(names(dir.path()), there);
}

#[test]
fn a_recording_that_is_made_aside_appears_when_it_is_whole() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.twin");
    std::fs::write(&path, "old").unwrap();
    let old = || assert_eq!((std::fs::read(&path).unwrap(), names(dir.path()).len()), (b"old".to_vec(), 1));
    assert!(matches!(Writer::aside(&path, false, &[], NEVER), Err(Error::Exists { .. })));
    let mut given_up = Writer::aside(&path, true, &[], NEVER).unwrap();
    given_up.manifest(&Manifest::default()).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
    drop(given_up);
    old();
    let why = Writer::aside(&path, true, std::slice::from_ref(&path), NEVER).unwrap_err().to_string();
    assert!(why.contains("is read by the same command"), "{why}");
    old();
    let whole = Writer::aside(&path, true, &[], NEVER).unwrap();
    whole.finish(&Manifest { ended: Some("imported".into()), ..Manifest::default() }, &Symbols::default()).unwrap();
    assert!(!Recording::open(&path).unwrap().is_unfinished());
    assert_eq!(names(dir.path()), ["a.twin"]);
}

#[test]
fn a_recording_takes_no_place_but_that_of_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let [target, link] = ["target", "link"].map(|name| dir.path().join(name));
    std::fs::write(&target, "precious").unwrap();
    std::os::unix::fs::symlink(&target, &link).unwrap();
    for (name, word) in
        [(link.as_path(), "a symbolic link"), (Path::new("/dev/null"), "no stream"), (Path::new("-"), "no stream")]
    {
        for why in [Writer::create(name, true, NEVER), Writer::aside(name, true, &[], NEVER)].map(Result::unwrap_err) {
            assert!(why.to_string().contains(word), "{why}");
        }
    }
    let mut run = start(&dir.path().join("a.twin"), NEVER);
    for taken in [&target, &link] {
        let why = run.writer.snapshot(taken, &Manifest::default(), &run.symbols).unwrap_err();
        assert!(matches!(why, Error::Exists { .. }) || why.to_string().contains("symbolic link"), "{why}");
    }
    assert_eq!(std::fs::read(&target).unwrap(), b"precious");
}

#[test]
fn a_schema_that_does_more_is_refused_before_anything_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let good = dir.path().join("good.twin");
    let mut run = start(&good, NEVER);
    run.tick(0, &[("lo", 1)], &[]);
    run.writer.finish(&Manifest { ended: Some("done".into()), ..Manifest::default() }, &run.symbols).unwrap();
    let kinds = hostile::kinds(&good, dir.path());
    assert!(kinds.len() >= 18);
    for path in kinds {
        let refused = |why: Error| {
            let why = why.to_string();
            let words = ["not a recording: ", "malformed database schema", "too many schema objects"];
            assert!(words.iter().any(|words| why.contains(words)) && why.len() < 500, "{why}");
        };
        refused(Recording::open(&path).unwrap_err());
        refused(Recording::about(&path).unwrap_err());
        refused(store::close(&path).unwrap_err());
        refused(store::amend(&path, "net", |_| true).unwrap_err());
    }
    assert_eq!(Recording::open(&good).unwrap().damage(), []);
}

#[test]
fn what_stands_next_to_a_recording_is_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.twin");
    let run = start(&path, NEVER);
    run.writer.finish(&Manifest::default(), &run.symbols).unwrap();
    for suffix in ["-wal", "-shm", "-journal"] {
        let fifo = dir.path().join(format!("a.twin{suffix}"));
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        let why = Recording::open(&path).unwrap_err().to_string();
        assert!(why.contains(suffix) && why.contains("it is a FIFO"), "{why}");
        std::fs::remove_file(&fifo).unwrap();
    }
    assert!(Recording::open(&path).is_ok());
}

#[test]
fn marks_without_number_are_not_all_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.twin");
    let run = start(&path, NEVER);
    run.writer.finish(&Manifest::default(), &run.symbols).unwrap();
    let db = rusqlite::Connection::open(&path).unwrap();
    let many = "with recursive n(x) as (select 200001 union all select x - 1 from n where x > 1)
        insert into mark select x, 'm' from n";
    db.execute(many, []).unwrap();
    drop(db);
    let recording = Recording::open(&path).unwrap();
    let times: Vec<i64> = recording.marks().iter().map(|mark| mark.t).collect();
    assert!(times.len() == 200_000 && times.is_sorted(), "{}", times.len());
    let damage: Vec<String> = recording.damage().iter().map(ToString::to_string).collect();
    assert_eq!(damage, ["marks: there are more than 200000; the others are left out"]);
}

/// A table whose pages lead to themselves again and again answers more than the file holds.
#[test]
fn pages_that_are_counted_again_and_again_end() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.twin");
    let run = start(&path, NEVER);
    run.writer.finish(&Manifest::default(), &run.symbols).unwrap();
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch(
        "with recursive n(x) as (select 1 union all select x + 1 from n limit 2000)
         insert into mark select x, printf('%.*c', 900, 'x') from n",
    )
    .unwrap();
    let root: u32 = db.query_row("select rootpage from sqlite_master where name = 'mark'", [], |r| r.get(0)).unwrap();
    drop(db);
    let mut bytes = std::fs::read(&path).unwrap();
    let size = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
    // SQLite's file format, section 1.6: an interior page has the number of its last child at 8, and places of cells from 12 on, each of
    // which begins with the number of a child.
    let children = |bytes: &[u8], page: u32| -> Vec<usize> {
        let at = (page as usize - 1) * size;
        let short = |at: usize| usize::from(u16::from_be_bytes([bytes[at], bytes[at + 1]]));
        assert_eq!(bytes[at], 5, "an interior page");
        (0..short(at + 3)).map(|cell| at + short(at + 12 + 2 * cell)).chain([at + 8]).collect()
    };
    let number = |bytes: &[u8], at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    let inner: Vec<u32> = children(&bytes, root).iter().map(|&at| number(&bytes, at)).collect();
    assert!(inner.len() >= 8);
    let leaf = number(&bytes, children(&bytes, inner[7])[0]);
    for (page, below) in
        std::iter::once(root).chain(inner[..7].iter().copied()).zip(inner[..7].iter().copied().chain([leaf]))
    {
        for at in children(&bytes, page) {
            bytes[at..at + 4].copy_from_slice(&below.to_be_bytes());
        }
    }
    std::fs::write(&path, &bytes).unwrap();
    let recording = Recording::open(&path).unwrap();
    // As much as a recorder may have written since the file was looked at.
    let since = 1 << 20;
    assert!(recording.marks().len() * 900 <= bytes.len() + since);
    let damage: Vec<String> = recording.damage().iter().map(ToString::to_string).collect();
    assert!(damage[0].starts_with("marks: there is more than the file can hold"), "{damage:?}");
}

//! What the fuzz targets share: a small recording to damage, and everything that a reader does with one.

use compare::Options;
use model::{Chart, ChartKind, Coverage, Fact, Manifest, Page, Status};
use query::testing::{CPU, ENDED, MEMINFO, NET, PROCESS, VMSTAT, write_with};
use query::{Run, Session};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use store::{Recording, Select};

/// Folder for the files of this run, in TMPDIR. Nothing removes it when libFuzzer ends the program: scripts/fuzz.sh does.
pub static FOLDER: LazyLock<tempfile::TempDir> =
    LazyLock::new(|| tempfile::Builder::new().prefix("twinscope-fuzz-").tempdir().expect("a temporary folder"));

/// The damaged recording of this run.
pub fn damaged() -> PathBuf {
    FOLDER.path().join("damaged.twin")
}

/// A panic ends the program, but for those of the Parquet reader, which the store catches and reports as damage.
pub fn tolerate_parquet() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !info.location().is_some_and(|at| at.file().contains("/parquet-")) {
            before(info);
        }
    }));
}

const COUNT: usize = 12;

/// Text of a table with `COUNT` reads of two entities.
fn rows(header: &str, seal: bool, row: impl Fn(usize, usize) -> String) -> String {
    let mut text = format!("{header}\n");
    for read in 0..COUNT {
        for entity in 0..2 {
            text += &format!("{} {}\n", read as f64 * 0.5, row(read, entity));
        }
        if seal && read == COUNT / 2 {
            text += "seal\n";
        }
    }
    text
}

/// Bytes of a finished recording with every kind of table, in two generations.
pub static FINISHED: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let path = FOLDER.path().join("finished.twin");
    let manifest = Manifest { name: "run".into(), duration: Some(6_000_000_000), ..Manifest::default() };
    let cpu =
        rows("t cpu user idle mhz", true, |r, e| format!("{e} {} {} {}", 100 + r * 7, 900 + r * 40, 2000 + r % 3));
    let net = rows("t name received speed", false, |r, e| format!("eth{e} {} 1000", r * r * 1000));
    let process = rows("t pid comm user rss", false, |r, e| format!("{} job{e} {} 4096", e + 1, r * 1_000_000));
    let vmstat = rows("t field value", false, |r, e| format!("{} {}", ["pgfault", "other"][e], r * 10));
    let meminfo = rows("t node field value", false, |r, e| format!("0 {} {}", ["total", "free"][e], 500 - r));
    let ended = rows("t pid command lived load", false, |r, e| format!("{r} cmd{e} {} 0.5", r * 1000));
    let chart =
        Chart::new("c", Page::Cpu, ChartKind::Line, "title", "how to read it", "cpu", &["user"]).by(&["cpu"], 2);
    let tables =
        [(&CPU, &cpu), (&NET, &net), (&PROCESS, &process), (&MEMINFO, &meminfo), (&ENDED, &ended), (&VMSTAT, &vmstat)];
    let tables = tables.map(|(table, text)| (table, text.as_str()));
    write_with(&path, &manifest, &tables, |writer| {
        writer.source("test", "Test", 500_000_000, &[chart]);
        let fact = |name: &str| Fact { category: "kernel".into(), name: name.into(), value: "6.18".into() };
        writer.facts(&[fact("release"), fact("version")]).expect("facts");
        let missing = Coverage {
            source: "thermal".into(),
            item: "temperature".into(),
            status: Status::Absent,
            why: "no sensors".into(),
            remedy: None,
        };
        writer.coverage(&[missing]).expect("coverage");
    });
    std::fs::read(path).expect("the recording just written")
});

/// Reads a recording in every way there is: opens it, decodes all of it, asks it by SQL, and compares it with a sound one. Damage must be
/// said, never end the program.
pub fn read_all(path: &Path) {
    let Ok(recording) = Recording::open(path) else { return };
    let names: Vec<&'static str> = recording.tables().map(|(_, table)| table.name).collect();
    for name in &names {
        let all = recording.load(name, &Select::default());
        for frame in all.iter() {
            for entity in &frame.entities {
                frame.lives(entity);
            }
        }
        let some = Select { columns: Some(&["user"]), between: Some((1_000_000_000, 2_000_000_000)), most_ticks: 3 };
        recording.load(name, &some);
    }
    recording.facts();
    recording.coverage();
    recording.marks();
    recording.sources();
    recording.charts();
    recording.duration();
    recording.sizes();
    recording.damage();
    let run = |name: &str, recording| Run { name: name.into(), recording, stretch: None };
    if let Ok(session) = Session::of(vec![run("damaged", recording)]) {
        for table in session.schema() {
            let quoted = table.name.replace('"', "\"\"");
            let answer = session.query(&format!("select * from \"{quoted}\" limit 50"));
            if let Ok(mut query) = answer
                && let Ok(rows) = query.rows()
            {
                rows.for_each(drop);
            }
        }
        session.damage();
    }
    let sound = FOLDER.path().join("finished.twin");
    if let (Ok(a), Ok(b)) = (Recording::open(&sound), Recording::open(path)) {
        let _ = compare::compare(&[run("sound", a), run("damaged", b)], &Options::default()).map(|c| c.to_json());
    }
}

/// Puts the sound recording in the place of the damaged one, and opens it as a database.
pub fn fresh() -> Connection {
    let path = damaged();
    std::fs::write(&path, &*FINISHED).expect("room for a small file");
    for suffix in ["-wal", "-shm", "-journal"] {
        let _ = std::fs::remove_file(format!("{}{suffix}", path.display()));
    }
    let db = Connection::open(path).expect("a database");
    db.execute_batch("pragma journal_mode = off; pragma synchronous = off;").expect("settings");
    db
}

//! SQL as a user may type it, or paste it: no panic, and nothing is ever written.
#![no_main]

use libfuzzer_sys::fuzz_target;
use query::{Run, Session};
use std::path::PathBuf;
use std::sync::LazyLock;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use store::Recording;

/// A statement may take for ever; here it is stopped.
const LONGEST: Duration = Duration::from_millis(300);

fn files() -> Vec<(PathBuf, u64, std::time::SystemTime)> {
    let entries = std::fs::read_dir(common::FOLDER.path()).expect("the folder").flatten();
    let mut files: Vec<_> = entries
        .map(|e| (e.path(), e.metadata().expect("a file")))
        .map(|(path, of)| (path, of.len(), of.modified().expect("a time")))
        .collect();
    files.sort();
    files
}

fn ask(session: &Session, sql: &str) {
    if let Ok(mut query) = session.query(sql) {
        query.columns();
        if let Ok(rows) = query.rows() {
            rows.take(200).for_each(drop);
        }
    }
}

struct Asked {
    session: Session,
    files: Vec<(PathBuf, u64, std::time::SystemTime)>,
}

thread_local! {
    static ASKED: LazyLock<Asked> = LazyLock::new(|| {
        // SAFETY: a plain setting; it keeps randomblob(1e9) from being taken for a leak.
        unsafe { rusqlite::ffi::sqlite3_hard_heap_limit64(256 << 20) };
        drop(common::fresh());
        let run = Run { name: "run".into(), recording: Recording::open(&common::damaged()).expect("a recording"), stretch: None };
        let session = Session::of(vec![run]).expect("a session");
        ask(&session, "select * from cpu");
        Asked { session, files: files() }
    });
}

fuzz_target!(|data: &[u8]| {
    let Ok(sql) = std::str::from_utf8(data) else { return };
    ASKED.with(|asked| {
        let session = &asked.session;
        let stop = session.interrupt();
        let (done, wait) = channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                // Asked for again and again: an interrupt before the statement began is lost.
                while wait.recv_timeout(LONGEST) == Err(RecvTimeoutError::Timeout) {
                    stop.interrupt();
                }
            });
            ask(session, sql);
            drop(done);
        });
        assert_eq!(files(), asked.files, "a statement wrote a file");
        let (_, rows) = session.all("select count(*) from cpu").expect("a session that still answers");
        assert_eq!(rows, [[query::sql::Value::Integer(24)]]);
    });
});

//! The readers of all sources, on a recorded host of which one file was changed. The first two bytes choose host, source and file, as
//! an index into what the hosts hold for the sources; the third, whether the rest takes the place of the file or says what to write over in
//! it, each change as a 16-bit place, how many bytes to cut out, how many to put in, and those. So the fixtures are the corpus.
#![no_main]

use host::Host;
use libfuzzer_sys::fuzz_target;
use model::{NULL, Out, Rows, Symbols, Type};
use sources::{Scope, Source};
use std::path::Path;
use std::sync::LazyLock;

/// Files of one kind differ little.
const EACH: usize = 2;

struct Case {
    host: usize,
    source: &'static Source,
    file: String,
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("fixtures").flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().expect("a kind");
        if kind.is_dir() {
            copy(&from, &to);
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(std::fs::read_link(&from).expect("a link"), &to).expect("a link");
        } else {
            std::fs::copy(&from, &to).expect("a copy");
        }
    }
}

static HOSTS: LazyLock<(Vec<Host>, Vec<Case>)> = LazyLock::new(|| {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/hosts");
    let mut names: Vec<_> = std::fs::read_dir(fixtures).expect("fixtures").flatten().map(|e| e.path()).collect();
    names.sort();
    let (mut hosts, mut cases) = (Vec::new(), Vec::new());
    for (index, from) in names.iter().enumerate() {
        let to = common::FOLDER.path().join(format!("host-{index}"));
        copy(from, &to);
        let host = Host::fixture(to);
        host.set_frame(1, 0);
        for source in sources::ALL {
            for pattern in source.reads {
                let files = host.glob(pattern).into_iter().filter(|file| host.path(file).is_file());
                cases.extend(files.take(EACH).map(|file| Case { host: index, source, file }));
            }
        }
        hosts.push(host);
    }
    (hosts, cases)
});

fn play(host: &Host, source: &Source) {
    host.set_frame(0, 0);
    let Ok(mut reader) = (source.open)(host, &Scope { threads: true, ..Scope::default() }) else { return };
    let mut symbols = Symbols::default();
    for frame in 0..2 {
        host.set_frame(frame, u64::from(frame) * 1_000_000_000);
        let mut rows = vec![Rows::default(); source.tables.len()];
        let (mut coverage, mut facts) = (Vec::new(), Vec::new());
        let mut out = Out::new(source.name, source.tables, &mut rows, &mut symbols, &mut coverage, &mut facts);
        let _ = reader.read(host, &mut out);
        for (table, rows) in source.tables.iter().zip(&rows) {
            for row in rows.iter() {
                for (column, &cell) in table.stored().iter().zip(row) {
                    let text = column.ty == Type::Text && cell != NULL;
                    assert!(!text || symbols.text(cell).is_some(), "{}.{}: no such text", table.name, column.name);
                }
            }
        }
    }
}

fn changed(mut file: Vec<u8>, mut changes: &[u8]) -> Vec<u8> {
    while let Some(([low, high, cut, put], after)) = changes.split_first_chunk::<4>() {
        let (with, after) = after.split_at(usize::from(put % 32).min(after.len()));
        let from = usize::from(u16::from_le_bytes([*low, *high])) % (file.len() + 1);
        let to = (from + usize::from(*cut)).min(file.len());
        file.splice(from..to, with.iter().copied());
        changes = after;
    }
    file
}

fuzz_target!(|data: &[u8]| {
    let Some(([low, high, way], content)) = data.split_first_chunk::<3>() else { return };
    let (hosts, cases) = &*HOSTS;
    let Some(case) = cases.get(usize::from(u16::from_le_bytes([*low, *high])) % cases.len()) else { return };
    let host = &hosts[case.host];
    host.set_frame(1, 0);
    let path = host.path(&case.file);
    let before = std::fs::read(&path).expect("a file of the fixture");
    let content = if way % 4 == 0 { content.to_vec() } else { changed(before.clone(), content) };
    std::fs::write(&path, content).expect("room for a small file");
    play(host, case.source);
    std::fs::write(&path, before).expect("room for a small file");
});

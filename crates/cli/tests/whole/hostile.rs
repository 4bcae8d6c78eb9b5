//! Names from the outside are data everywhere: process names, marks, labels and output reach page, tables and terminal as text.

use crate::common::Folder;
use model::{Column, Fact, Manifest, Rows, Symbols, Table, Unit};
use std::path::Path;

const SCRIPT: &str = "</script><script>alert(1)</script>";

/// A program of this name and these arguments that does nothing for a while.
fn sleeper(folder: &Folder, name: &[u8]) -> std::process::Child {
    use std::os::unix::ffi::OsStrExt;
    let path = folder.path("").join(std::ffi::OsStr::from_bytes(name));
    std::fs::copy("/bin/sleep", &path).unwrap();
    std::process::Command::new(path).arg("60").spawn().unwrap()
}

/// A table as no source declares one: recordings come from elsewhere.
static TABLE: Table = Table::wide(
    "t\x1b[31m",
    "help \x1b[31m",
    &[Column::label("name\x1b[31m", ""), Column::counter("c\x1b[31m", Unit::Bytes, "bytes \x1b[31m")],
)
.grouped(&[&[]]);

/// A recording of that table, with a counter that grows by about `rate` a second.
fn write(path: &Path, rate: i64) {
    let mut symbols = Symbols::default();
    let name = symbols.cell("\x1b[31m");
    let mut writer = store::Writer::create(path, false, i64::MAX).unwrap();
    writer.source("s\x1b[31m", "title \x1b[31m", 1_000_000_000, &[]);
    let id = writer.define("s\x1b[31m", &TABLE);
    for t in 0..60 {
        let rows = Rows { width: 2, cells: vec![name, t * rate + t % 3 * rate / 50] };
        writer.put(id, t * 1_000_000_000, &rows);
        writer.commit(&symbols).unwrap();
    }
    let fact = Fact { category: "c\x1b[31m".into(), name: "n\x1b[31m".into(), value: format!("\x1b[31m{rate}") };
    writer.facts(&[fact]).unwrap();
    let manifest = Manifest { name: format!("\x1b[31m{rate}"), duration: Some(60_000_000_000), ..Manifest::default() };
    writer.finish(&manifest, &symbols).unwrap();
}

#[test]
fn a_recording_from_elsewhere_cannot_drive_the_terminal() {
    let folder = Folder::new();
    write(&folder.path("a.twin"), 1_000_000);
    write(&folder.path("b.twin"), 9_000_000);
    let compared = folder.expect(0, ["compare", "a.twin", "b.twin", "--all"]);
    assert!(compared.stdout.contains("Configuration that differs"), "{compared}");
    assert!(compared.stdout.contains("9.0×"), "{compared}");
    let failed = folder.expect(4, ["compare", "a.twin", "b.twin", "--fail-on", "any"]);
    let reported = folder.expect(0, ["report", "a.twin", "b.twin"]);
    let info = folder.expect(0, ["info", "a.twin"]);
    let schema = folder.expect(0, ["sql", "a.twin", ".schema t\x1b[31m"]);
    let tables = folder.expect(0, ["sql", "a.twin", ".schema"]);
    for done in [compared, failed, reported, info, schema, tables] {
        let bad = |c: char| c.is_control() && c != '\n';
        assert!(!done.stdout.contains(bad) && !done.stderr.contains(bad), "{done}");
    }
}

#[test]
fn hostile_names_end_to_end() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("<")).unwrap();
    // A process name has 15 bytes at most, and no slash.
    let names: [&[u8]; 6] = [
        b"<!--<script>",
        b"a) R 1 (b",
        b"new\nline\ttab",
        b"\x1b[31mred\x1b[0m",
        b"not\xffutf\xc3",
        b"a-name-that-is-much-longer-than-any-table-would-like-it-to-be-for-it-has-one-hundred-and-more-bytes-in-its-name",
    ];
    let mut sleepers: Vec<_> = names.iter().map(|name| sleeper(&folder, name)).collect();
    let script = format!(
        "printf '%s\\n' '{SCRIPT}' > $TWINSCOPE_MARK; printf '{SCRIPT}\\033[31m\\n\\377\\n'; sleep 1.5; exit 0"
    );
    let label = format!("k={SCRIPT}");
    let words = [
        "record",
        "-q",
        "-i",
        "100ms",
        "--skip",
        "sysctl,kernel_config,pagetypeinfo",
        "--label",
        &label,
        "--name",
        SCRIPT,
    ];
    folder.expect(0, [&words[..], &["-o", "a.twin", "--", "sh", "-c", &script, SCRIPT]].concat());
    for child in &mut sleepers {
        let _ = child.kill();
        let _ = child.wait();
    }
    let whole = folder.info("a.twin");
    assert_eq!(whole["marks"][0]["text"], SCRIPT);
    assert_eq!(whole["manifest"]["labels"]["k"], SCRIPT);

    // The page: what the template and the head's own tags do not hold is not there.
    folder.expect(0, ["report", "a.twin", "a.twin", "-o", "r.html"]);
    let page = std::fs::read_to_string(folder.path("r.html")).unwrap();
    assert!(!page.contains("<script>alert(1)"), "a name from outside opens a tag");
    assert!(!page.contains("</script><script>"), "a name from outside ends a tag");
    let head = page.split_once("id=\"twinscope-head\">").unwrap().1.split_once("</script>").unwrap().0;
    assert!(!head.contains('<'));
    let head: serde_json::Value = serde_json::from_str(head).unwrap();
    assert_eq!(head["runs"][0]["name"], SCRIPT, "and it is shown as it is");

    // Terminal: no control characters but line ends.
    for words in [
        &["info", "a.twin"][..],
        &["compare", "a.twin", "a.twin", "--all"],
        &["sql", "a.twin", "select name, command, executable from process_info"],
        &["sql", "a.twin", "select * from mark"],
    ] {
        let done = folder.expect(0, words);
        let bad = |c: char| c.is_control() && c != '\n';
        assert!(!done.stdout.contains(bad) && !done.stderr.contains(bad), "{done}");
    }

    // CSV and JSON hold the names as they are.
    let read = |format: &str| {
        folder.expect(0, ["sql", "--format", format, "a.twin", "select distinct comm from process"]).stdout
    };
    let json: Vec<serde_json::Value> = serde_json::from_str(&read("json")).unwrap();
    let commands: Vec<&str> = json.iter().filter_map(|r| r["comm"].as_str()).collect();
    if !commands.contains(&"sleep") && !commands.iter().any(|c| c.contains("R 1")) {
        crate::common::skipped("hostile process names", "processes cannot be read here");
        return;
    }
    for name in [
        "<!--<script>",
        "a) R 1 (b",
        "new\nline\ttab",
        "\x1b[31mred\x1b[0m",
        "not\u{fffd}utf\u{fffd}",
        "a-name-that-is-",
    ] {
        assert!(commands.contains(&name), "{name:?} in {commands:?}");
    }
    let csv = read("csv");
    assert!(csv.contains("\nnew\u{fffd}line\u{fffd}tab\n"), "{csv}");
}

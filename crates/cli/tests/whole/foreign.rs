//! Files that mean harm, or are no files: every command refuses them in words, at once, and goes on with the others.

#[path = "../../../store/tests/hostile/mod.rs"]
mod kinds;

use crate::common::{Done, Folder, repository, skipped};
use std::path::Path;
use std::process::{Command, Stdio};

/// A good recording: an import, which needs nothing of this machine.
fn good(folder: &Folder, name: &str) {
    std::fs::write(folder.path("x.folded"), "app;main;work 30\napp;main;other 12\n").unwrap();
    folder.expect(0, ["import", "x.folded", "-o", name]);
}

fn fifo(folder: &Folder, name: &str) {
    assert!(Command::new("mkfifo").arg(folder.path(name)).status().unwrap().success());
}

fn is_refused(done: &Done) {
    done.has_not_crashed();
    assert_eq!(done.status.code(), Some(1), "{done}");
    let words = ["not a recording", "malformed database schema", "too many schema objects"];
    assert!(words.iter().any(|words| done.stderr.contains(words)), "{done}");
}

#[test]
fn every_command_refuses_a_recording_whose_schema_does_more() {
    let folder = Folder::new();
    good(&folder, "good.twin");
    std::fs::create_dir(folder.path("bad")).unwrap();
    let all = kinds::kinds(&folder.path("good.twin"), &folder.path("bad"));
    let commands: [&[&str]; 12] = [
        &["info", "BAD"],
        &["sql", "BAD", "select count(*) from sample"],
        &["compare", "good.twin", "BAD"],
        &["explain", "BAD"],
        &["explain", "good.twin", "--against", "BAD"],
        &["report", "BAD", "-o", "x.html"],
        &["flame", "BAD"],
        &["export", "csv", "BAD", "-o", "csv"],
        &["export", "openmetrics", "BAD", "-o", "x.om"],
        &["resolve", "BAD"],
        &["threads", "BAD"],
        &["asm", "main", "BAD"],
    ];
    for (number, path) in all.iter().enumerate() {
        let bad = path.strip_prefix(folder.path("")).unwrap().to_str().unwrap();
        // All commands open a recording in the same way: each is tried with some, and the first with all.
        for command in commands.iter().enumerate().filter(|(n, _)| *n == 0 || (n + number) % 4 == 0).map(|(_, c)| c) {
            is_refused(&folder.run(command.iter().map(|word| if *word == "BAD" { bad } else { word })));
        }
    }
    // A folder with good and bad ones: the good ones are taken.
    std::fs::copy(folder.path("good.twin"), folder.path("bad/good.twin")).unwrap();
    fifo(&folder, "bad/a-fifo.twin");
    let added = folder.expect(3, ["fleet", "add", "fleet", "bad"]);
    assert!(added.stdout.contains("1 recording added"), "{added}");
    added.says("segment-endless.twin").says("a-fifo.twin");
}

#[test]
fn what_is_no_regular_file_is_not_waited_for() {
    let folder = Folder::new();
    good(&folder, "good.twin");
    fifo(&folder, "fifo");
    fifo(&folder, "fifo.twin");
    fifo(&folder, "fifo.sql");
    std::fs::create_dir(folder.path("causes")).unwrap();
    fifo(&folder, "causes/a.sql");
    fifo(&folder, "t.toml");
    let commands: [&[&str]; 12] = [
        &["info", "fifo.twin"],
        &["explain", "fifo.twin"],
        &["import", "fifo"],
        &["import", "/dev/zero"],
        &["import", "/dev/urandom"],
        &["explain", "good.twin", "--causes", "causes"],
        &["causes", "--causes", "causes"],
        &["tune", "t.toml"],
        &["tune", "plan", "t.toml"],
        &["doctor", "--against", "fifo"],
        &["fleet", "add", "fleet", "@fifo"],
        &["import", "x.folded", "--preset", "./fifo", "-o", "y.twin"],
    ];
    for command in commands {
        let done = folder.run(command);
        done.has_not_crashed();
        assert!(matches!(done.status.code(), Some(1..=3)), "{command:?}: {done}");
        assert!(done.stderr.contains("not a regular file"), "{command:?}: {done}");
    }
    let counters = folder.run(["record", "--counters", "./fifo", "-d", "1s", "-o", "r.twin"]);
    assert_eq!(counters.status.code(), Some(2), "{counters}");
    counters.says("not a regular file");
}

#[test]
fn an_import_has_a_limit_that_can_be_raised() {
    let folder = Folder::new();
    std::fs::write(folder.path("x.folded"), "app;main;work 3\n".repeat(100_000)).unwrap();
    assert!(Command::new("gzip").arg("-k").arg(folder.path("x.folded")).status().unwrap().success());
    for name in ["x.folded", "x.folded.gz"] {
        folder
            .expect(1, ["import", name, "--size-limit", "1MiB"])
            .says("it holds more than 1 MiB; --size-limit raises");
    }
    folder.expect(0, ["import", "x.folded.gz", "--size-limit", "2MiB"]);
    // A sparse file is refused by its length, and not read.
    std::fs::File::create(folder.path("sparse")).unwrap().set_len(2 << 40).unwrap();
    folder.expect(1, ["import", "sparse"]).says("it holds more than 1 GiB; --size-limit raises");
}

#[test]
fn a_statement_without_end_is_stopped() {
    let folder = Folder::new();
    good(&folder, "good.twin");
    let endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n";
    let stopped = "the statement was stopped after 0.2 s";
    folder.expect(1, ["sql", "good.twin", endless, "--time-limit", "200ms"]).says(stopped).says("--time-limit");
    folder.expect(1, ["sql", "good.twin", "select length(printf('%.*c', 1000000000, 'x'))"]).says("too big");
}

#[test]
fn marks_without_number_are_neither_read_nor_printed_all() {
    let folder = Folder::new();
    good(&folder, "a.twin");
    let db = rusqlite::Connection::open(folder.path("a.twin")).unwrap();
    let more = "with recursive n(x) as (select 1 union all select x + 1 from n limit 200123)
        insert into mark select x, 'm' from n";
    db.execute(more, []).unwrap();
    drop(db);
    let info = folder.expect(3, ["info", "a.twin"]);
    let marks = info.stdout.lines().filter(|line| line.starts_with("mark ")).count();
    assert_eq!(marks, 51, "fifty, and how many there are more: {info}");
    assert!(info.stdout.contains("199950 more: twinscope sql"), "{info}");
    let left_out = "there are more than 200000; the others are left out";
    assert!(info.stdout.contains(left_out), "{info}");
    let json = folder.info("a.twin");
    assert_eq!(json["marks"].as_array().map(Vec::len), Some(200_000));
    assert_eq!(json["damage"], serde_json::json!([{ "what": "marks", "why": left_out }]));
}

/// Names that drive a terminal, turn text round, or are a formula.
const NAME: &str = "=1+1\u{1b}[31m\u{202e}x";

fn is_harmless(done: &Done) {
    let bad = |c: char| model::is_harmful(c) && c != '\n' && c != '\r';
    assert!(!done.stdout.contains(bad) && !done.stderr.contains(bad), "{done}");
}

#[test]
fn names_are_cleaned_wherever_they_are_printed() {
    let folder = Folder::new();
    std::fs::write(folder.path("x.folded"), format!("{NAME};main;work{NAME} 30\n=app;-f 3\n")).unwrap();
    let (one, two) = (format!("{NAME}.twin"), format!("{NAME}-2.twin"));
    is_harmless(&folder.expect(0, ["import", "x.folded", "-o", &one]));
    is_harmless(&folder.expect(0, ["import", "x.folded", "-o", &two]));
    for command in [
        vec!["info", &one],
        vec!["flame", &one],
        vec!["compare", &one, &two],
        vec!["explain", &one],
        vec!["explain", &one, "--against", &two],
        vec!["explain", &one, "--tail"],
        vec!["threads", &one],
        vec!["sql", &one, "select * from run"],
        vec!["sql", &one, "select * from sample"],
        vec!["sql", &one, "select * from frame", "--format", "csv"],
        vec!["sql", &one, "select nothing from nowhere"],
        vec!["report", &one, "-o", NAME],
        vec!["export", "csv", &one, "-o", NAME],
        vec!["info", &format!("{NAME}none.twin")],
        vec!["import", NAME, "-o", "x.twin"],
        vec!["fleet", "info", NAME],
        vec!["tune", NAME],
    ] {
        let done = folder.run(&command);
        done.has_not_crashed();
        is_harmless(&done);
    }
    let csv = folder.expect(0, ["sql", &one, "select comm, -1 as number from sample", "--format", "csv"]).stdout;
    assert!(csv.contains("\n'=app,-1\n") && csv.contains("\n'=1+1\u{fffd}[31m\u{fffd}x,-1\n"), "{csv}");
}

#[test]
fn imports_show_all_that_they_took() {
    let folder = Folder::new();
    std::fs::write(folder.path("x.folded"), "app;main;work 30\napp;main;other 12\n").unwrap();
    let files = [
        "profiles/busy.perf.data",
        "profiles/accesses.perf.data",
        "profiles/busy.script.txt",
        "jvm/async-profiler-4.2.jfr.gz",
        "jvm/jdk11-g1.jfr.gz",
        "jvm/jdk17-g1.jfr.gz",
        "jvm/jdk25-z.jfr.gz",
    ];
    let paths = files.iter().map(|name| repository().join("fixtures").join(name));
    for (number, path) in paths.chain([folder.path("x.folded")]).enumerate() {
        let (twin, stacks) = (format!("{number}.twin"), format!("{number}.folded"));
        folder.expect(0, [Path::new("import"), &path, Path::new("-o"), Path::new(&twin)]);
        let taken = folder.count(&twin, "select sum(weight) from sample");
        folder.expect(0, ["flame", &twin, "-o", &stacks]);
        let text = std::fs::read_to_string(folder.path(&stacks)).unwrap();
        let shown: f64 = text.lines().filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum();
        // Stacks are written in nanoseconds.
        assert!(
            taken > 0 && (shown - taken as f64).abs() <= text.lines().count() as f64,
            "{path:?}: {shown} of {taken}"
        );
    }
}

#[test]
fn an_import_that_was_cut_short_says_so_for_ever() {
    let folder = Folder::new();
    let small = folder.path("small");
    std::fs::create_dir(&small).unwrap();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=3m", "twinscope-test"])
        .arg(&small)
        .stderr(Stdio::null())
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        skipped("an import on a disk that fills", "mounting a tmpfs needs root");
        return;
    }
    let lines: String =
        (0..200_000u64).map(|n| format!("app;main;f{:x} 3\n", n.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
    std::fs::write(folder.path("x.folded"), lines).unwrap();
    let done = folder.run(["import", "x.folded", "-o", "small/x.twin"]);
    // All that is left of it: its last rows may be in its log.
    for suffix in ["", "-wal"] {
        let left = small.join(format!("x.twin{suffix}"));
        if left.exists() {
            std::fs::copy(left, folder.path(&format!("cut.twin{suffix}"))).unwrap();
        }
    }
    let _ = Command::new("umount").arg("-l").arg(&small).status();
    assert_eq!(done.status.code(), Some(1), "{done}");
    done.says("disk full");
    if folder.path("cut.twin").exists() {
        for command in [vec!["info", "cut.twin"], vec!["flame", "cut.twin"], vec!["report", "cut.twin", "-o", "x.html"]]
        {
            let read = folder.run(command);
            assert!(matches!(read.status.code(), Some(1 | 3)), "{read}");
        }
        let info = folder.expect(3, ["info", "cut.twin"]);
        assert!(info.stdout.contains("import: it did not come to its end"), "{info}");
    }
}

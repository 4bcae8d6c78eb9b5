//! Exports of hand-written recordings, read back.

use super::*;
use crate::testing::{CPU, ENDED, write};
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use model::{Manifest, Unit};

const TEXT: &str = "t cpu user idle mhz
    0 0 1 5 -
    0 1 1 5 9
    1 0 1 5 7
    2 0 3 5 7
    2 1 4 5 7";

/// Two runs in a folder that lives as long as the test.
fn runs(dir: &Path) -> Vec<Run> {
    let manifest = |name: &str| Manifest {
        name: name.into(),
        host: "db/1".into(),
        start_unix: 1_000_000_000,
        ..Manifest::default()
    };
    let ended = "t pid command lived load\n1 7 \"a,\\\"b\\n\" 5 0.5\n1 7 \"a,\\\"b\\n\" - 0.25";
    write(&dir.join("a.twin"), &manifest("../a b"), &[(&CPU, TEXT), (&ENDED, ended)]);
    write(&dir.join("b.twin"), &manifest("b=é"), &[(&CPU, "t cpu user idle mhz\n0 0 8 8 8")]);
    crate::open(&[dir.join("a.twin"), dir.join("b.twin")]).unwrap()
}

fn rows(path: &Path) -> Vec<String> {
    let file = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
    file.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect()
}

#[test]
fn parquet_is_dense_and_partitioned() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("lake");
    let exported = parquet(&runs(dir.path()), &out, &Options::default()).unwrap();
    let files: Vec<(String, usize)> = exported
        .files
        .iter()
        .map(|(path, rows)| (path.strip_prefix(&out).unwrap().to_string_lossy().into_owned(), *rows))
        .collect();
    assert_eq!(
        files,
        [
            ("cpu/run=%2E.%2Fa b/host=db%2F1/part-0.parquet".into(), 5),
            ("cpu/run=b%3Dé/host=db%2F1/part-0.parquet".into(), 1),
            ("ended/run=%2E.%2Fa b/host=db%2F1/part-0.parquet".into(), 2),
        ]
    );
    let first = |row: &str, n: usize| row.splitn(n + 1, ", ").take(n).collect::<Vec<_>>().join(", ");
    let cpu = rows(&exported.files[0].0);
    assert_eq!(cpu[0], "{t: 0, timestamp: 1970-01-01 00:00:01.000000 +00:00, cpu: 0, user: 1, idle: 5, mhz: null}");
    assert!(
        first(&cpu[1], 1).contains("t: 1000000000") && cpu[1].contains("cpu: 0, user: 1, idle: 5, mhz: 7"),
        "{cpu:?}"
    );
    // CPU 1 is away at the second read.
    assert!(cpu[4].contains("t: 2000000000") && cpu[4].contains("cpu: 1, user: 4"), "{cpu:?}");
    let ended = rows(&exported.files[2].0);
    assert!(ended[0].contains("pid: 7") && ended[0].contains("lived: 5, load: 0.5"), "{ended:?}");
    assert!(ended[1].contains("lived: null, load: 0.25"), "{ended:?}");
    let file = SerializedFileReader::new(std::fs::File::open(&exported.files[0].0).unwrap()).unwrap();
    let metadata = file.metadata().file_metadata().key_value_metadata().unwrap();
    assert!(
        metadata[0]
            .value
            .as_ref()
            .unwrap()
            .contains(r#""user":{"help":"in user mode","kind":"counter","unit":"clock-ticks"}"#)
    );
    // What was exported is not overwritten.
    let error = parquet(&runs(dir.path()), &out, &Options::default()).unwrap_err().to_string();
    assert!(error.contains("part-0.parquet") && error.contains("exists"), "{error}");
}

#[test]
fn a_lake_has_a_file_a_table_and_day() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("lake");
    let manifest = |name: &str, host: &str, start: i64| Manifest {
        name: name.into(),
        host: host.into(),
        start_unix: start,
        ..Manifest::default()
    };
    // 2026-11-24, two seconds before midnight; the other is of the day after alone.
    let late = 1_795_564_798_000_000_000;
    write(&dir.path().join("a.twin"), &manifest("a", "web-2", late), &[(&CPU, TEXT)]);
    write(&dir.path().join("b.twin"), &manifest("b", "web-1", late + 9_000_000_000), &[(&CPU, TEXT)]);
    let runs = crate::open(&[dir.path().join("a.twin"), dir.path().join("b.twin")]).unwrap();
    let exported = lake(&runs, &out, &Options::default()).unwrap();
    let folder = |path: &Path| path.parent().unwrap().strip_prefix(&out).unwrap().to_string_lossy().into_owned();
    let files: Vec<(String, usize)> = exported.files.iter().map(|(path, rows)| (folder(path), *rows)).collect();
    assert_eq!(files, [("cpu/day=2026-11-24".into(), 3), ("cpu/day=2026-11-25".into(), 7)]);
    let first = rows(&exported.files[0].0);
    assert!(first[0].starts_with("{run: \"a\", host: \"web-2\", t: 0, timestamp: 2026-11-24 23:59:58"), "{first:?}");
    let second = rows(&exported.files[1].0);
    let order: Vec<String> = second.iter().map(|row| row.split(", mhz").next().unwrap().to_owned()).collect();
    assert!(order[..5].iter().all(|row| row.contains("web-1")) && order[5].contains("web-2"), "{order:?}");
    assert!(
        order[0].contains("t: 0") && order[2].contains("t: 2000000000, ") && order[3].contains("cpu: 1"),
        "{order:?}"
    );
    let file = SerializedFileReader::new(std::fs::File::open(&exported.files[1].0).unwrap()).unwrap();
    assert!(file.metadata().row_group(0).columns().iter().all(|column| column.statistics().is_some()));
    // Another call adds parts, and leaves nothing that is not whole.
    lake(&runs, &out, &Options { form: Form::Stored, ..Options::default() }).unwrap();
    let there = |day: &str| std::fs::read_dir(out.join("cpu").join(day)).unwrap().count();
    assert_eq!((there("day=2026-11-24"), there("day=2026-11-25")), (2, 2));
}

#[test]
fn stored_rows_say_what_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options { form: Form::Stored, tables: vec!["cpu".into()], ..Options::default() };
    let exported = csv(&runs(dir.path()), dir.path(), &options).unwrap();
    assert_eq!(
        std::fs::read_to_string(&exported.files[0].0)
            .unwrap()
            .replace("1970-01-01T00:00:0", "@")
            .replace(".000000000Z", ""),
        "run,t,timestamp,gone,cpu,user,idle,mhz\r
../a b,0,@1,0,0,1,5,\r
../a b,1000000000,@2,0,0,1,5,7\r
../a b,2000000000,@3,0,0,3,5,7\r
../a b,0,@1,0,1,1,5,9\r
../a b,1000000000,@2,1,1,,,\r
../a b,2000000000,@3,0,1,4,5,7\r
b=é,0,@1,0,0,8,8,8\r
"
    );
    let lake = parquet(&runs(dir.path()), &dir.path().join("lake"), &options).unwrap();
    assert!(rows(&lake.files[0].0)[4].contains("gone: true, cpu: 1, user: null"));
}

#[test]
fn csv_holds_all_runs() {
    let dir = tempfile::tempdir().unwrap();
    let exported = csv(&runs(dir.path()), dir.path(), &Options::default()).unwrap();
    let named: Vec<_> = exported.files.iter().map(|(p, n)| (p.file_name().unwrap().to_str().unwrap(), *n)).collect();
    assert_eq!(named, [("cpu.csv", 6), ("ended.csv", 2)]);
    let ended = std::fs::read_to_string(dir.path().join("ended.csv")).unwrap();
    assert!(ended.contains("Z,7,\"a,\"\"b\u{fffd}\",5,0.5\r\n") && ended.ends_with(",,0.25\r\n"), "{ended}");
}

#[test]
fn what_is_too_large_or_unknown_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let runs = runs(dir.path());
    let exported = csv(&runs, dir.path(), &Options { most_rows: 4, ..Options::default() }).unwrap();
    assert_eq!(exported.left_out.len(), 1);
    assert_eq!(exported.left_out[0].0, "cpu");
    assert!(exported.left_out[0].1.contains("5 rows, more than 4"), "{:?}", exported.left_out);
    let error = csv(&runs, dir.path(), &Options { tables: vec!["cpus".into()], ..Options::default() }).unwrap_err();
    assert_eq!(error.to_string(), "no table cpus in these recordings; they have: cpu, ended");
}

#[test]
fn names_cannot_leave_the_folder() {
    for name in ["..", "../../etc/passwd", "/etc", ".hidden", "_x", "a\0b", "a=b/c", ""] {
        for part in [escaped(name), partition("run", name)] {
            assert!(
                !part.contains(['/', '\0', '\\']) && part != ".." && part != "." && !part.starts_with(['.', '_']),
                "{part}"
            );
        }
    }
    assert_eq!(partition("host", ""), "host=__HIVE_DEFAULT_PARTITION__");
    static CLASH: Table = Table::wide(
        "x",
        "h",
        &[Column::label("Run", "r"), Column::counter("t", Unit::None, "t"), Column::counter("gone", Unit::None, "g")],
    );
    let names: Vec<String> = columns(&CLASH, Form::Stored).into_iter().map(|(n, _)| n).collect();
    assert_eq!(names, ["Run_", "t_", "gone_"]);
}

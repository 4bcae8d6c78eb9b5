//! That the questions of `fleet/`, put to SQLite, come to the same answers as the Rust that is built in; and that an engine that goes wrong is told
//! in a line.

use super::question::{MEMBERSHIP, Question};
use super::*;
use crate::folder::{Batch, Cell, Dataset, Type};
use crate::summary::{DONE, Rows};
use crate::{Answer, Folder, Question as Asked, ask};
use query::stats::rng::Rng;
use rusqlite::Connection;
use rusqlite::types::Value as Stored;
use serde_json::Value;
use std::time::Duration;

/// SQLite as an engine.
#[derive(Debug)]
struct Sqlite(Connection);

impl Asker for Sqlite {
    fn views(&mut self, _: &Value) -> Result<(), EngineError> {
        Ok(())
    }

    fn give(&mut self, tables: &[&Batch]) -> Result<(), EngineError> {
        for table in tables {
            let columns: Vec<&str> = table.dataset.columns.iter().map(|c| c.name).collect();
            let (name, columns) = (table.dataset.name, columns.join(", "));
            let made = format!("drop table if exists {name}; create table {name} ({columns})");
            self.0.execute_batch(&made).unwrap();
            let places = vec!["?"; table.columns.len()].join(", ");
            let mut insert = self.0.prepare(&format!("insert into {name} values ({places})")).unwrap();
            for row in 0..table.len() {
                let stored = (0..table.columns.len()).map(|column| match table.cell(row, column) {
                    Cell::Null => Stored::Null,
                    Cell::Text(text) => Stored::Text(text.to_string()),
                    Cell::Int(number) => Stored::Integer(number),
                    Cell::Real(number) => Stored::Real(number),
                });
                insert.execute(rusqlite::params_from_iter(stored)).unwrap();
            }
        }
        Ok(())
    }

    fn ask(&mut self, question: &'static Question) -> Result<Vec<Batch>, EngineError> {
        let failed = |e: rusqlite::Error| EngineError::Failed { asked: question.name.into(), why: e.to_string() };
        let mut statement = self.0.prepare(&question.sql()).map_err(failed)?;
        let names: Vec<&str> = question.answer.columns.iter().map(|c| c.name).collect();
        assert!(statement.column_names().eq(names.iter().copied()), "{}", question.name);
        let mut batch = Batch::new(&question.answer);
        let mut rows = statement.query([]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let cell = |at: usize| match (row.get::<_, Stored>(at).unwrap(), question.answer.columns[at].ty) {
                (Stored::Null, _) => Cell::Null,
                (Stored::Integer(number), Type::Int) => Cell::Int(number),
                (Stored::Real(number), Type::Real) => Cell::Real(number),
                (Stored::Text(text), Type::Text) => Cell::from(&*text),
                (other, _) => panic!("{}.{}: {other:?}", question.name, names[at]),
            };
            batch.push(&(0..names.len()).map(cell).collect::<Vec<_>>());
        }
        Ok(vec![batch])
    }
}

/// A fleet with all that makes answers differ: groups that hosts lack, ties, both zeros, several recordings of a host, states that were not seen,
/// functions in two rows, facts of all kinds.
fn fleet(folder: &Folder, hosts: usize) {
    let mut rng = Rng::new(11);
    let mut rows = Rows::default();
    for host in 0..hosts {
        let fast = host % 8 == 3;
        let (name, id) =
            (Cell::from(&*format!("h{:05}", host / 2 * 2)), Cell::from(&*format!("{:05x}", host * 7919 % 99_991)));
        let start = 1_790_000_000_000_000_000_i64 + host as i64;
        let mut about = vec![name.clone(), id.clone(), "run".into(), "x.twin".into(), start.into(), 60.0.into()];
        about.extend([0i64.into(), 1i64.into(), "whole".into(), Cell::Null, "requests".into(), 1.0.into()]);
        let zone = if host % 3 == 0 { r#"{"zone":"a"}"# } else { "{}" };
        let marks = format!(r#"[[{start},"deploy"]]"#);
        about.extend([
            "boot".into(),
            1_789_000_000_000_000_000_i64.into(),
            Cell::from(&*marks),
            zone.into(),
            "0.1.0".into(),
            Cell::Null,
        ]);
        rows.recording.push(&about);
        let mut put = |metric: &str, labels: &str, per: &str, level: f64, noise: f64| {
            let [even, odd, wide] = [1.0, 1.0, 0.2].map(|part| level + level * noise * part * rng.normal());
            let mut row: Vec<Cell> = [metric, labels, per].map(Cell::from).to_vec();
            row.extend([name.clone(), id.clone(), 60i64.into(), (0.5 * (even + odd)).into(), (level * noise).into()]);
            row.extend([(0.1 * wide).into(), level.into(), level.into(), even.into(), odd.into()]);
            rows.metric.push(&row);
        };
        let spread = (host * 37 % 100) as f64;
        let pace = if fast { 2500.0 + spread / 4.0 } else { 1000.0 + 3.0 * spread };
        put(DONE, "{}", "second", pace, 0.002);
        put("workload.cpu", "{}", "second", 2.0 + spread / 100.0, 0.002);
        put("workload.cpu", "{}", "operation", 2.0 / pace, 0.002);
        put("a.level", "{}", "second", if fast { 5.0 } else { 3.0 }, 0.0);
        put("a.zero", "{}", "second", if host % 2 == 0 { 0.0 } else { -0.0 }, 0.0);
        for (group, comm) in ["x", "y", "it's \"z\""].iter().enumerate() {
            if (host + group) % 5 > 1 {
                let level = (host % 7) as f64 + if fast && group == 1 { 20.0 } else { 0.0 };
                put("a.rate", &serde_json::json!({ "comm": comm }).to_string(), "second", level, 0.01);
            }
        }
        if host % 4 > 0 {
            put("a.some", "{}", "second", spread + 1.0 + if fast { 60.0 } else { 0.0 }, 0.01);
        }
        for metric in 0..12 {
            put(&format!("noise.{metric:02}"), "{}", "second", 100.0 + (host * (metric + 3) % 89) as f64, 0.01);
        }
        for slice in 0..20i64 {
            let mut row: Vec<Cell> = [DONE, "{}", "second"].map(Cell::from).to_vec();
            let from = start + slice * 1_000_000_000;
            let mean = if host == 5 && slice > 10 { 2600.0 } else { pace };
            row.extend([
                name.clone(),
                id.clone(),
                slice.into(),
                from.into(),
                (from + 1_000_000_000).into(),
                mean.into(),
            ]);
            rows.slice.push(&row);
        }
        rows.process.push(&[name.clone(), id.clone(), 7i64.into(), "x".into(), (start - 9_000_000_000).into()]);
        let mut fact = |category: &str, fact: &str, value: &str| {
            let row = [category.into(), fact.into(), name.clone(), id.clone(), value.into(), Cell::Null];
            rows.fact.push(&row);
        };
        fact("kernel", "release", if fast { "6.1" } else { "6.6" });
        fact("cpu", "model", ["a", "b", "c"][host % 3]);
        fact("host", "serial", &format!("s{host}"));
        if host % 5 == 0 {
            fact("sysctl", "odd", "1");
        }
        let mut place = |state: &str, function: Cell, module: Cell, own: f64| {
            let row = [state.into(), function, module, name.clone(), id.clone(), own.into(), own.into(), 1.0.into()];
            rows.place.push(&row);
        };
        if host % 9 > 0 {
            let share = if fast { 0.5 } else { 0.2 };
            place("cpu", "hot".into(), "server".into(), share + spread / 1000.0);
            place("cpu", "hot".into(), "server".into(), 0.125);
            place("cpu", Cell::Null, Cell::Null, 0.1);
        }
        if host % 3 == 0 {
            place("disk", "read".into(), Cell::Null, 0.01 * (host % 11) as f64);
            place("disk", "never".into(), "x".into(), 0.0);
        }
    }
    for (metric, is_rate) in [(DONE, 1i64), ("a.rate", 1), ("a.level", 0)] {
        let better = if metric == DONE { Cell::from("more") } else { Cell::Null };
        rows.declared.push(&[metric.into(), "1/s".into(), Cell::Null, better, is_rate.into(), 0.0.into(), "".into()]);
    }
    folder.add(&rows).unwrap();
}

/// An answer in words, without what an engine leaves where it is.
fn said(mut answer: Answer) -> String {
    for group in &mut answer.groups {
        let listed: Vec<usize> =
            group.bandings.iter().flat_map(|b| &b.separated).flat_map(|s| &s.lines).map(|l| l.metric.0).collect();
        for (at, metric) in group.metrics.iter_mut().enumerate() {
            let empty = Metric::new(metric.key.clone(), Arc::clone(&metric.declared), 0);
            if !listed.contains(&at) {
                *metric = empty;
            }
        }
        group.places.iter_mut().for_each(|place| (place.own, place.total) = (Vec::new(), Vec::new()));
        for fact in &mut group.facts {
            fact.of.clear();
            fact.values.sort();
        }
        if group.bandings.is_empty() {
            group.facts.clear();
        }
    }
    format!("{answer:#?}")
}

#[test]
fn sqlite_answers_as_the_rust_that_replaces_it() {
    for hosts in [64, 2_300] {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open_or_make(&dir.path().join("fleet")).unwrap();
        fleet(&folder, hosts);
        let zone = vec![("zone".to_owned(), "a".to_owned())];
        let asked = |by: &[&str]| Asked { by: by.iter().map(|by| (*by).to_owned()).collect(), ..Asked::default() };
        let mut questions = vec![asked(&[])];
        if hosts < 100 {
            questions.push(asked(&["a.rate{comm=y}", "workload.cpu per operation", "a.some"]));
            questions.push(Asked { any: true, ..Asked::default() });
            questions.push(Asked { within: Some("cpu.model".into()), ..Asked::default() });
            questions.push(Asked { labels: zone, ..Asked::default() });
        }
        for question in questions {
            let here = ask(Fleet::load(&folder, &question.labels).unwrap(), &question).unwrap();
            let sqlite = Sqlite(crate::sql::Session::questions(&folder).unwrap());
            let there = Elsewhere::open(sqlite, &Where::Folder(folder.clone()), &question.labels).unwrap();
            let there = ask(there, &question).unwrap();
            let banded = here.groups.iter().any(|group| !group.bandings.is_empty());
            assert!(banded || question.within.is_some(), "{question:?}");
            let (here, there) = (said(here), said(there));
            let differ = here.lines().zip(there.lines()).enumerate().find(|(_, (a, b))| a != b);
            assert!(differ.is_none(), "{hosts} hosts, {question:?}: {differ:#?}");
            assert_eq!(here.len(), there.len());
        }
    }
}

#[test]
fn what_is_not_there_is_named_by_both() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::open_or_make(&dir.path().join("fleet")).unwrap();
    fleet(&folder, 16);
    for question in [
        Asked { by: vec!["no.such".into()], ..Asked::default() },
        Asked { by: vec!["a.rate{comm=none}".into()], ..Asked::default() },
        Asked { within: Some("cpu.colour".into()), ..Asked::default() },
        Asked { labels: vec![("zone".into(), "none".into())], ..Asked::default() },
    ] {
        let here = ask(Fleet::load(&folder, &question.labels).unwrap(), &question).unwrap_err().to_string();
        let sqlite = Sqlite(crate::sql::Session::questions(&folder).unwrap());
        let there = Elsewhere::open(sqlite, &Where::Folder(folder.clone()), &question.labels).unwrap();
        assert_eq!(here, ask(there, &question).unwrap_err().to_string());
    }
}

/// What comes of an engine that is this program of a shell.
fn wrong(script: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::open_or_make(&dir.path().join("fleet")).unwrap();
    fleet(&folder, 3);
    let file = dir.path().join("engine.sh");
    std::fs::write(&file, script).unwrap();
    let session = Session::start(&format!("sh {}", file.display()), Duration::from_millis(1500)).unwrap();
    let kept = session.folder().to_owned();
    assert!(kept.is_dir());
    let error = Elsewhere::open(session, &Where::Folder(folder), &[]).unwrap_err().to_string();
    assert!(!kept.exists(), "{script}: {} is left", kept.display());
    assert!(!error.contains('\n') && error.len() < 1000, "{error}");
    error
}

/// A file with the columns of another answer.
fn other_answer(path: &std::path::Path, dataset: &'static Dataset) {
    let mut batch = Batch::new(dataset);
    batch.push(&[]);
    crate::folder::part::write(path, &batch).unwrap();
}

#[test]
fn an_engine_that_goes_wrong_is_told_in_a_line() {
    let first = "read line; echo '{\"rows\": 0, \"seconds\": 0}'; read line\n";
    let dies = wrong(&format!("{first}echo 'out of memory' >&2; exit 9"));
    assert!(dies.contains("ended (exit status: 9)") && dies.contains("out of memory"), "{dies}");
    assert!(dies.contains("\"membership\""), "{dies}");
    let hangs = wrong("read line; sleep 60");
    assert!(hangs.contains("did not answer \"views\"") && hangs.contains("--engine-timeout"), "{hangs}");
    let rubbish = wrong("read line; echo 'Welcome to the engine!'; cat");
    assert!(rubbish.contains("Welcome to the engine!"), "{rubbish}");
    let empty = wrong("read line; echo '{}'; cat");
    assert!(empty.contains("no answer"), "{empty}");
    let fails = wrong(&format!("{first}printf '%s\\n' '{{\"error\": \"no such\\ntable\"}}'; cat"));
    assert!(fails.contains("cannot answer \"membership\": no such table"), "{fails}");
    let nothing = wrong(&format!("{first}echo '{{\"rows\": 3, \"seconds\": 0}}'; cat"));
    assert!(nothing.contains("\"membership\" cannot be used") && nothing.contains("No such file"), "{nothing}");
    let dir = tempfile::tempdir().unwrap();
    let other = dir.path().join("other.parquet");
    let put = "put=$(echo \"$line\" | sed 's/.*\"put\":\"\\([^\"]*\\)\".*/\\1/')";
    other_answer(&other, &crate::folder::PROCESS);
    let columns =
        wrong(&format!("{first}{put}; cp {} \"$put\"; echo '{{\"rows\": 1, \"seconds\": 0}}'; cat", other.display()));
    assert!(columns.contains("it has no column run"), "{columns}");
    std::fs::remove_file(&other).unwrap();
    other_answer(&other, &MEMBERSHIP.answer);
    let rows =
        wrong(&format!("{first}{put}; cp {} \"$put\"; echo '{{\"rows\": 9, \"seconds\": 0}}'; cat", other.display()));
    assert!(rows.contains("9 rows, and the file has 1"), "{rows}");
    std::fs::write(&other, "PAR1 and no more").unwrap();
    let damaged =
        wrong(&format!("{first}{put}; cp {} \"$put\"; echo '{{\"rows\": 9, \"seconds\": 0}}'; cat", other.display()));
    assert!(damaged.contains("\"membership\" cannot be used"), "{damaged}");
    let mut none = Session::start("/nowhere/engine --fast", Duration::from_secs(5)).unwrap();
    let error = none.views(&Value::Null).unwrap_err().to_string();
    assert!(error.contains("/nowhere/engine") && error.contains("cannot be started"), "{error}");
}

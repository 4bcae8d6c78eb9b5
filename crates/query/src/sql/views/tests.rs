//! The standard library, held against what the sources declare today: each view is documented column by column, finds its tables and
//! columns, and gives rows.

use super::*;
use crate::{Run, Session};
use model::{Fact, Kind, Manifest, Rows, Symbols, Table, Type};
use sources::ALL;
use store::{Recording, Writer};

/// A recording of every table of every source: three reads of two entities, all counters growing.
fn of_everything(name: &str) -> Run {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("all.twin");
    let mut writer = Writer::create(&path, false, i64::MAX).unwrap();
    let mut symbols = Symbols::default();
    let fact = |category: &str, name: &str, value: &str| Fact {
        category: category.into(),
        name: name.into(),
        value: value.into(),
    };
    let facts = [fact("kernel", "release", name), fact("cpu", "itlb", "64"), fact("cpu", "itlb_2m_second", "512")];
    writer.facts(&facts).unwrap();
    let known = |name: &str| ALL.iter().flat_map(|s| s.tables).any(|t| t.name == name);
    for &table in crate::testing::PROFILE.iter().filter(|t| !known(t.name)) {
        let id = writer.define("profile", table);
        (0..3).for_each(|t| writer.put(id, t * 1_000_000_000, &rows(table, t, &mut symbols)));
    }
    for source in ALL {
        let gone = model::Unavailable::absent("none here");
        let why = model::Coverage {
            source: source.name.into(),
            item: String::new(),
            status: gone.status,
            why: gone.why,
            remedy: None,
        };
        writer.coverage(&[why]).unwrap();
        for table in source.tables {
            let id = writer.define(source.name, table);
            for t in 0..3 {
                writer.put(id, t * 1_000_000_000, &rows(table, t, &mut symbols));
            }
        }
    }
    writer.finish(&Manifest { ended: Some("done".into()), ..Manifest::default() }, &symbols).unwrap();
    Run { name: name.into(), recording: Recording::open(&path).unwrap(), stretch: None }
}

fn rows(table: &Table, t: i64, symbols: &mut Symbols) -> Rows {
    let mut rows = Rows { width: table.width(), cells: Vec::new() };
    for entity in 0..2 {
        let labels: Vec<i64> = table
            .labels()
            .map(|c| if c.ty == Type::Text { symbols.cell(&format!("{}{entity}", c.name)) } else { entity })
            .collect();
        // Stacks, frames and code refer to each other: number 1 is there.
        let refers =
            |name: &str| matches!(name, "stack" | "frame" | "parent" | "waker_stack" | "holder_stack" | "code");
        let value = |index: usize, kind: Kind, ty: Type, symbols: &mut Symbols| match (ty, kind) {
            (Type::Text, _) => symbols.cell("malloc"),
            (Type::Real, _) => model::real(0.5),
            (_, Kind::Counter | Kind::Histogram) => (t + 1) * (index as i64 + entity + 1),
            _ => 1000 + index as i64,
        };
        for (index, column) in table.values().enumerate() {
            let cell = if refers(column.name) { 1 } else { value(index, column.kind, column.ty, symbols) };
            if table.is_long() {
                rows.cells.extend(&labels);
                rows.cells.extend([symbols.cell(column.name), cell]);
            } else if index == 0 {
                rows.cells.extend(&labels);
                rows.cells.push(cell);
            } else {
                rows.cells.push(cell);
            }
        }
    }
    rows
}

#[test]
fn every_view_is_documented_and_gives_rows() {
    let session = Session::of(vec![of_everything("a"), of_everything("b")]).unwrap();
    assert_eq!(session.notes(), Vec::<String>::new());
    for (file, text) in FILES {
        let view = parse(text).unwrap_or_else(|why| panic!("stdlib/{file}.sql: {why}"));
        assert_eq!(view.name, *file, "a view is called as its file");
        let sql = format!("select * from {}", view.name);
        let (columns, rows) = session.all(&sql).unwrap_or_else(|why| panic!("stdlib/{file}.sql: {why}"));
        let documented: Vec<&str> = view.columns.iter().map(|(name, _, _)| name.as_str()).collect();
        assert_eq!(documented, columns, "stdlib/{file}.sql: the columns of the header are those of the view, in order");
        assert!(!rows.is_empty(), "stdlib/{file}.sql: no rows");
        for (i, column) in columns.iter().enumerate() {
            let empty = rows.iter().all(|row| row.get(i) == Some(&rusqlite::types::Value::Null));
            // A footprint takes more samples.
            let may_be = matches!(column.as_str(), "remedy" | "lines" | "pages" | "regions");
            assert!(!empty || may_be, "stdlib/{file}.sql: column {column} is always null");
        }
        let units = ["", "ns", "s", "B", "B/s", "1/s", "s/s", "ratio", "Hz"];
        for (column, unit, help) in &view.columns {
            assert!(!help.is_empty() && units.contains(&unit.as_str()), "stdlib/{file}.sql: {column} [{unit}]: {help}");
        }
    }
    assert!(session.schema().iter().filter(|t| t.kind == TableKind::View).count() == FILES.len());
}

#[test]
fn every_file_of_the_standard_library_is_a_view() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../stdlib");
    let mut found: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".sql").map(str::to_owned))
        .collect();
    found.sort();
    let mut known: Vec<&str> = FILES.iter().map(|(name, _)| *name).collect();
    known.sort_unstable();
    assert_eq!(found, known);
}

#[test]
fn a_view_without_its_tables_says_what_it_lacks() {
    let session =
        Session::of(vec![crate::testing::run("a", &[(&crate::testing::ENDED, "t pid command lived load\n0 1 a 1 1")])])
            .unwrap();
    let why = session.all("select * from cpu_total").unwrap_err().to_string();
    assert_eq!(
        why,
        "no such table: cpu_total; view cpu_total of the standard library needs what these recordings do not hold: no such table: cpu_rate"
    );
    assert!(session.schema().iter().all(|t| t.name != "cpu_total"));
    assert_eq!(session.all("select * from missing").unwrap().1.len(), 0);
}

#[test]
fn headers_that_are_wrong_are_refused() {
    for text in ["", "select 1", "-- view a\nselect 1", "-- view a: b\n-- c\nselect 1", "-- view a: b\ndrop table x"] {
        assert!(parse(text).is_err(), "{text:?}");
    }
    let view = parse("-- view a: b\n-- c [s]: d\n-- e: f\nselect 1 as c, -- g\n 2 as e;\n").unwrap();
    assert_eq!(view.columns, [("c".into(), "s".into(), "d".into()), ("e".into(), String::new(), "f".into())]);
    assert_eq!(view.sql, "select 1 as c, -- g\n 2 as e");
}

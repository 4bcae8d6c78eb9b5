//! Hosts that never were as recordings: with a value of each metric each second, which `twinscope fleet add` reduces as it does any.

use crate::draw::{Fleet, Host, SECONDS, START, named};
use model::{Column, Fact, Manifest, Rows, Symbols, Table, Unit, Work, intern, real};
use std::path::Path;

/// How much a second differs from the mean of its minute.
const NOISE: f64 = 0.08;

static WORK: Table = Table::wide("work", "work done", &[Column::counter("done", Unit::None, "units of work done")]);

/// Writes them: `host-00000.twin` and so on.
pub fn write(fleet: &Fleet, folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    std::fs::create_dir_all(folder)?;
    let tables = tables(fleet.metrics.saturating_sub(1));
    for host in fleet.hosts() {
        one(&host, &tables, &folder.join(format!("{}.twin", host.name)))?;
    }
    Ok(())
}

/// The tables of so many metrics. They live as long as the program, as all tables do.
fn tables(metrics: usize) -> Vec<&'static Table> {
    let mut columns: Vec<(String, Vec<Column>)> = Vec::new();
    for metric in 0..metrics {
        let (table, name) = named(metric);
        let column = Column::real(intern(&name), Unit::None, "synthetic");
        match columns.last_mut().filter(|(last, _)| *last == table) {
            Some((_, columns)) => columns.push(column),
            None => columns.push((table, vec![column])),
        }
    }
    let table = |(name, columns): (String, Vec<Column>)| -> &'static Table {
        let columns: &'static [Column] = Box::leak(columns.into_boxed_slice());
        Box::leak(Box::new(Table::wide(intern(&name), "synthetic", columns).grouped(&[&[]])))
    };
    columns.into_iter().map(table).collect()
}

fn one(host: &Host, tables: &[&'static Table], path: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let mut rng = host.noise();
    let mut symbols = Symbols::default();
    let mut writer = store::Writer::create(path, false, i64::MAX)?;
    let all: Vec<&'static Table> = std::iter::once(&WORK).chain(tables.iter().copied()).collect();
    all.iter().for_each(|table| writer.source(table.name, "", 1_000_000_000, &[]));
    let ids: Vec<_> = all.iter().map(|table| writer.define(table.name, table)).collect();
    let mut done = 0.0;
    for second in 0..=SECONDS {
        let t = second * 1_000_000_000;
        let mut levels = host.levels.iter();
        for (table, id) in all.iter().zip(&ids) {
            let cells: Vec<i64> = if table.name == WORK.name {
                vec![done as i64]
            } else {
                levels
                    .by_ref()
                    .take(table.columns.len())
                    .map(|level| real(level * (1.0 + NOISE * rng.normal())))
                    .collect()
            };
            writer.put(*id, t, &Rows { width: cells.len(), cells });
        }
        writer.commit(&symbols)?;
        done += host.pace * (1.0 + NOISE * rng.normal());
    }
    let fact = |(category, name, value): (&str, String, String)| Fact { category: category.into(), name, value };
    writer.facts(&host.facts().map(fact).collect::<Vec<_>>())?;
    let manifest = Manifest {
        name: "run".into(),
        host: host.name.clone(),
        boot_id: "boot".into(),
        start_unix: START,
        duration: Some(SECONDS * 1_000_000_000),
        interval: 1_000_000_000,
        work: Some(Work { unit: "requests".into(), total: done, progress: Vec::new(), how: String::new() }),
        ..Manifest::default()
    };
    let _ = symbols.cell("");
    writer.finish(&manifest, &symbols)?;
    Ok(())
}

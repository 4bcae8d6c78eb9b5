//! Makes a long recording of a large host in little time. Every source reads the simulated host for a while as the recorder would; from
//! that is learnt which cells move, how often and how far. Then rows that move alike go through the writer of the recorder, for as many seconds as asked for.

use crate::random::Random;
use crate::simulated::{Simulated, Size};
use host::Host;
use model::{Kind, Manifest, NULL, Out, Rows, Symbols, Table, Type, real, real_of};
use sources::scope::Target;
use sources::{Pace, Reader, Scope, Source};
use std::io::{Error, Result};
use std::path::Path;
use std::time::Instant;
use store::{TableId, Writer};

/// So many seconds of the simulated host are looked at.
const LEARN: u64 = 60;
const SECOND: u64 = 1_000_000_000;

/// A table, and how its cells move.
struct Learnt {
    table: &'static Table,
    id: TableId,
    rows: Rows,
    /// Of each cell: at how many reads it was another than before, and by how much in all.
    changes: Vec<u32>,
    moved: Vec<f64>,
    start: Vec<i64>,
    reads: u64,
    /// Seconds between reads.
    every: u64,
}

/// Writes the recording.
pub fn make(file: &Path, dir: &Path, size: Size, seconds: u64) -> Result<()> {
    let failed = |e: store::Error| Error::other(e.to_string());
    let mut simulated = Simulated::create(dir, size)?;
    // As a fixture: no system call may tell of the machine that this runs on, and time is what is set.
    let host = Host::fixture(dir);
    host.set_frame(0, 0);
    let mut writer = Writer::create(file, true, 600 * SECOND as i64).map_err(failed)?;
    let manifest = Manifest {
        tool: env!("CARGO_PKG_VERSION").into(),
        name: file.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned()),
        host: "simulated".into(),
        interval: SECOND as i64,
        page_size: 4096,
        cpus: size.cpus as i64,
        memory: 1 << 40,
        start_unix: 1_795_000_000 * SECOND as i64,
        duration: Some((seconds * SECOND) as i64),
        ended: Some("duration over".into()),
        ..Manifest::default()
    };
    let mut symbols = Symbols::default();
    let mut learnt: Vec<Learnt> = Vec::new();
    let mut readers: Vec<(&Source, Box<dyn Reader>, u64)> = Vec::new();
    for &source in sources::ALL {
        let scope = Scope { target: Target::Nobody, ..Scope::default() };
        let Ok(reader) = (source.open)(&host, &scope) else { continue };
        let every = match source.pace {
            Pace::Tick => 1,
            Pace::AtLeast(seconds) => seconds,
            // Facts of the simulated host are few and cost nothing later.
            Pace::Once => continue,
        };
        let every = every.max(reader.at_least());
        writer.source(source.name, source.title, (every * SECOND) as i64, source.charts);
        for table in source.tables {
            let id = writer.define(source.name, table);
            let (rows, changes, moved, start) = Default::default();
            learnt.push(Learnt { table, id, rows, changes, moved, start, reads: 0, every });
        }
        readers.push((source, reader, every));
    }
    for second in 0..LEARN {
        host.set_frame(0, second * SECOND);
        let mut tables = learnt.iter_mut();
        for (source, reader, every) in &mut readers {
            let mut rows = vec![Rows::default(); source.tables.len()];
            if second % *every == 0 {
                let (mut coverage, mut facts) = (Vec::new(), Vec::new());
                let mut out = Out::new(source.name, source.tables, &mut rows, &mut symbols, &mut coverage, &mut facts);
                // A source that this host does not have everything for gives what it has.
                let _ = reader.read(&host, &mut out);
            }
            for (rows, learnt) in rows.into_iter().zip(tables.by_ref()) {
                learnt.see(rows);
            }
        }
        simulated.step()?;
    }
    for l in &mut learnt {
        l.every = l.every.max(LEARN / l.reads.max(1));
        l.start.clone_from(&l.rows.cells);
    }
    let begin = Instant::now();
    let mut random = Random::new();
    for second in 0..seconds {
        for l in &mut learnt {
            if second % l.every == 0 && !l.rows.is_empty() && (second == 0 || !l.table.events) {
                // Reads come a little after the tick, never at the same moment.
                let t = second * SECOND + (random.unit() * 300.0) as u64 * 1000;
                writer.put(l.id, t as i64, &l.rows);
                l.go_on(&mut random);
            }
        }
        // The recorder commits each second; the sealed file is the same, and the disk is spared.
        if second % 10 == 9 {
            writer.commit(&symbols).map_err(failed)?;
        }
    }
    writer.finish(&manifest, &symbols).map_err(failed)?;
    let rows: usize = learnt.iter().map(|l| l.rows.len()).sum();
    println!(
        "{rows} entities in {} tables, {seconds} s, written in {:.1} s",
        learnt.len(),
        begin.elapsed().as_secs_f64()
    );
    Ok(())
}

impl Learnt {
    fn see(&mut self, rows: Rows) {
        if rows.is_empty() {
            return;
        }
        self.reads += 1;
        if self.table.events {
            self.rows.width = rows.width;
            self.rows.cells.extend(rows.cells);
            return;
        }
        if rows.cells.len() == self.rows.cells.len() {
            let columns = self.table.stored();
            for (i, (&now, &before)) in rows.cells.iter().zip(&self.rows.cells).enumerate() {
                let real = columns.get(i % rows.width).is_some_and(|c| c.ty == Type::Real);
                let by = match real {
                    true => real_of(now).zip(real_of(before)).map_or(0.0, |(a, b)| a - b),
                    false if now == NULL || before == NULL => 0.0,
                    false => (now - before) as f64,
                };
                if by != 0.0 {
                    self.changes[i] += 1;
                    self.moved[i] += by.abs();
                }
            }
        } else {
            self.changes = vec![0; rows.cells.len()];
            self.moved = vec![0.0; rows.cells.len()];
        }
        self.rows = rows;
    }

    /// Moves the cells as far as they moved between two reads.
    fn go_on(&mut self, random: &mut Random) {
        let columns = self.table.stored();
        let labels = self.table.label_width();
        let cells = self.rows.cells.iter_mut().zip(&self.changes).zip(&self.moved).zip(&self.start).enumerate();
        for (i, (((cell, &changes), &moved), &start)) in cells {
            let at = i % self.rows.width;
            let Some(column) = columns.get(at).filter(|c| at >= labels && changes > 0 && c.ty != Type::Text) else {
                continue;
            };
            if *cell == NULL || !random.chance(f64::from(changes) / (self.reads - 1).max(1) as f64) {
                continue;
            }
            let mean = moved / f64::from(changes);
            if column.kind == Kind::Counter || column.kind == Kind::Histogram {
                *cell += random.about(mean).max(1) as i64;
            } else if column.ty == Type::Real {
                // A level stays about where it began.
                *cell =
                    real_of(start).map_or(NULL, |start| real((start + (random.unit() - 0.5) * 2.0 * mean).max(0.0)));
            } else {
                *cell = (start + ((random.unit() - 0.5) * 2.0 * mean).round() as i64).max(0);
            }
        }
    }
}

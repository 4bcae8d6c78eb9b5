//! What the recordings say about themselves, as tables: runs, facts, marks, coverage, sources, metrics.

use super::schema::{ColumnDoc, TableDoc, TableKind};
use crate::{Run, metric::metrics};
use model::{Exit, Kind};
use rusqlite::{Connection, ToSql, params};

/// A table of the catalogue.
pub(crate) struct Catalogue {
    pub(crate) name: &'static str,
    pub(crate) help: &'static str,
    /// Name, type, unit, help.
    pub(crate) columns: &'static [(&'static str, &'static str, &'static str, &'static str)],
}

const RUN: (&str, &str, &str, &str) = ("run", "text", "", "the run");

/// The tables of the catalogue.
pub(crate) const TABLES: &[Catalogue] = &[
    Catalogue {
        name: "run",
        help: "the recordings of this session, in the order given",
        columns: &[
            RUN,
            ("file", "text", "", "the file"),
            ("host", "text", "", "host name"),
            ("kernel", "text", "", "kernel release"),
            ("machine", "text", "", "architecture"),
            ("boot_id", "text", "", "two runs of the same boot can be laid on one clock"),
            ("start", "real", "s", "wall-clock time of t = 0, Unix seconds"),
            ("start_monotonic", "integer", "ns", "CLOCK_MONOTONIC at t = 0"),
            ("duration", "real", "s", "time recorded"),
            ("interval", "real", "s", "interval asked for"),
            ("page_size", "integer", "B", "page size of the host"),
            ("cpus", "integer", "", "CPUs online at the start"),
            ("memory", "integer", "B", "memory of the host"),
            ("command", "text", "", "the command, as a JSON list; null where none was started"),
            ("pid", "integer", "", "process id of the command"),
            ("exit_code", "integer", "", "exit code of the command"),
            ("exit_signal", "integer", "", "signal that ended the command"),
            ("command_start", "real", "s", "when the command was started"),
            ("wall", "real", "s", "how long the command ran"),
            ("user_time", "real", "s", "user CPU time of the command"),
            ("system_time", "real", "s", "kernel CPU time of the command"),
            ("max_rss", "integer", "B", "largest resident set of one process of the command"),
            ("work_unit", "text", "", "what --throughput counted"),
            ("work_total", "real", "", "how much was done"),
            ("late_ticks", "integer", "", "reads that began late"),
            ("skipped_ticks", "integer", "", "reads that were skipped because the one before took too long"),
            ("ended", "text", "", "why it ended; null while it runs and where it was cut off"),
            ("tool", "text", "", "version of Twinscope that wrote it"),
        ],
    },
    Catalogue {
        name: "run_label",
        help: "labels that the user gave to a run",
        columns: &[RUN, ("label", "text", "", "the label"), ("value", "text", "", "its value")],
    },
    Catalogue {
        name: "fact",
        help: "properties of the host, read once",
        columns: &[
            RUN,
            ("category", "text", "", "group: kernel, cpu, memory, block, network …"),
            ("name", "text", "", "name within the group"),
            ("value", "text", "", "its value, in words"),
        ],
    },
    Catalogue {
        name: "mark",
        help: "moments that someone named while the recording ran",
        columns: &[
            RUN,
            ("t", "integer", "ns", "when, since the start of the recording"),
            ("text", "text", "", "its name"),
        ],
    },
    Catalogue {
        name: "progress",
        help: "work done over time, as --throughput read it",
        columns: &[
            RUN,
            ("t", "integer", "ns", "when, since the start of the recording"),
            ("total", "real", "", "how much was done up to then, in run.work_unit"),
        ],
    },
    Catalogue {
        name: "coverage",
        help: "what could and could not be read, and why",
        columns: &[
            RUN,
            ("source", "text", "", "the source"),
            ("item", "text", "", "the part; empty for the source as a whole"),
            ("status", "text", "", "read, absent, denied, not applicable, failed, estimated"),
            ("why", "text", "", "why not"),
            ("remedy", "text", "", "what would change it"),
        ],
    },
    Catalogue {
        name: "source",
        help: "the sources that were recorded",
        columns: &[
            RUN,
            ("name", "text", "", "its name"),
            ("title", "text", "", "what it reads"),
            ("interval", "real", "s", "how often it was read"),
        ],
    },
    Catalogue {
        name: "metric",
        help: "what can be compared or drawn: columns, known fields and derived metrics of the recorded tables",
        columns: &[
            ("metric", "text", "", "full name, such as cpu.user"),
            ("table_name", "text", "", "the recorded table; its rates are in table_name_rate"),
            ("name", "text", "", "column of table_name_rate, or field of a long table"),
            ("kind", "text", "", "counter, gauge, histogram, or derived"),
            ("unit", "text", "", "unit in table_name_rate"),
            ("help", "text", "", "what it says"),
            ("polarity", "text", "", "better: more of it is better; worse; neutral"),
            ("compare", "text", "", "how runs are compared: ratio, difference, distribution, never"),
            ("source", "text", "", "the source that yields the table"),
        ],
    },
];

/// The documentation of the catalogue.
pub(crate) fn docs() -> impl Iterator<Item = TableDoc> {
    TABLES.iter().map(|t| TableDoc {
        name: t.name.into(),
        kind: TableKind::Catalogue,
        help: t.help.into(),
        columns: t
            .columns
            .iter()
            .map(|&(name, ty, unit, help)| ColumnDoc {
                name: name.into(),
                ty: ty.into(),
                unit: unit.into(),
                help: help.into(),
            })
            .collect(),
    })
}

/// Creates and fills the tables.
pub(crate) fn create(db: &Connection, runs: &[Run]) -> rusqlite::Result<()> {
    for table in TABLES {
        let columns: Vec<String> =
            table.columns.iter().map(|(name, ty, _, _)| format!("{} {ty}", super::spec::quoted(name))).collect();
        db.execute_batch(&format!("create table {}({})", table.name, columns.join(", ")))?;
    }
    let transaction = db.unchecked_transaction()?;
    let mut known: Vec<&'static model::Table> = Vec::new();
    for run in runs {
        fill(&transaction, run)?;
        for (source, table) in run.recording.tables() {
            // Runs of one version declare the same.
            if !known.contains(&table) {
                known.push(table);
                fill_metrics(&transaction, source, table)?;
            }
        }
    }
    transaction.commit()
}

/// Inserts one row into a table of the catalogue.
fn insert(db: &Connection, table: &str, values: &[&dyn ToSql]) -> rusqlite::Result<()> {
    let marks = vec!["?"; values.len()].join(", ");
    db.prepare_cached(&format!("insert into {table} values ({marks})"))?.execute(values).map(drop)
}

fn fill(db: &Connection, run: &Run) -> rusqlite::Result<()> {
    let (name, recording) = (&run.name, &run.recording);
    let m = recording.manifest();
    let seconds = |ns: i64| ns as f64 / 1e9;
    let (code, signal) = match m.exit {
        Some(Exit::Code(code)) => (Some(code), None),
        Some(Exit::Signal(signal)) => (None, Some(signal)),
        None => (None, None),
    };
    let command = m.command.as_ref().map(|words| json_list(words));
    insert(
        db,
        "run",
        params![
            name,
            recording.path().to_string_lossy(),
            m.host,
            m.kernel,
            m.machine,
            m.boot_id,
            seconds(m.start_unix),
            m.start_monotonic,
            seconds(recording.duration()),
            seconds(m.interval),
            m.page_size,
            m.cpus,
            m.memory,
            command,
            m.pid,
            code,
            signal,
            m.command_start.map(seconds),
            m.wall.map(seconds),
            m.usage.map(|u| u.user),
            m.usage.map(|u| u.system),
            m.usage.map(|u| u.max_rss),
            m.work.as_ref().map(|w| &w.unit),
            m.work.as_ref().map(|w| w.total),
            m.late_ticks,
            m.skipped_ticks,
            m.ended,
            m.tool,
        ],
    )?;
    for (label, value) in &m.labels {
        insert(db, "run_label", params![name, label, value])?;
    }
    for fact in recording.facts() {
        insert(db, "fact", params![name, fact.category, fact.name, fact.value])?;
    }
    for mark in recording.marks() {
        insert(db, "mark", params![name, mark.t, mark.text])?;
    }
    for &(t, total) in m.work.iter().flat_map(|w| &w.progress) {
        insert(db, "progress", params![name, (t * 1e9).round() as i64, total])?;
    }
    for c in recording.coverage() {
        insert(db, "coverage", params![name, c.source, c.item, c.status.as_str(), c.why, c.remedy])?;
    }
    for (source, title, interval) in recording.sources() {
        insert(db, "source", params![name, source, title, seconds(interval)])?;
    }
    Ok(())
}

fn fill_metrics(db: &Connection, source: &str, table: &'static model::Table) -> rusqlite::Result<()> {
    for metric in metrics(table) {
        let kind = match table.column(metric.name).map(|c| c.kind) {
            None => "derived",
            Some(Kind::Counter) => "counter",
            Some(Kind::Histogram) => "histogram",
            Some(_) => "gauge",
        };
        let word = |value: String| value.to_ascii_lowercase();
        insert(
            db,
            "metric",
            params![
                metric.full_name(),
                table.name,
                metric.name,
                kind,
                metric.unit,
                metric.help,
                word(format!("{:?}", metric.polarity)),
                word(format!("{:?}", metric.compare)),
                source,
            ],
        )?;
    }
    Ok(())
}

/// A list of words as JSON, which SQLite's functions take apart again.
fn json_list(words: &[String]) -> String {
    serde_json::to_string(words).unwrap_or_default()
}

//! The declarations of tables and charts as a recording carries them: JSON, compressed, so that a reader of any age knows what each
//! number means.

use crate::declared::{MeasureText, StateText, is_empty};
use crate::{declared, pack};
use model::{Bucket, Chart, ChartKind, Column, Den, Derived, Kind, Page, Shape, Table, Type, intern};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

/// One row of the list of segments, without its blobs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) id: i64,
    pub(crate) table: i64,
    pub(crate) generation: i64,
    /// Times of its first and last read.
    pub(crate) from: i64,
    pub(crate) to: i64,
    pub(crate) rows: i64,
    /// Size of both blobs as they are stored.
    pub(crate) bytes: i64,
}

impl Segment {
    /// What [`Segment::of`] reads.
    pub(crate) const SELECT: &str =
        "select id, table_id, generation, t_from, t_to, row_count, length(ticks) + length(bytes) from segment";

    /// All of a file, in the order in which they were written.
    pub(crate) fn list(db: &Connection) -> rusqlite::Result<Vec<Segment>> {
        let mut select = db.prepare_cached(Segment::SELECT)?;
        select.query_map([], Segment::of)?.collect::<Result<_, _>>().map(Segment::in_order)
    }

    /// These, in the order in which they were written. SQLite would sort as much as a hostile file makes of it, in temporary files.
    pub(crate) fn in_order(mut list: Vec<Segment>) -> Vec<Segment> {
        list.sort_by_key(|segment| (segment.generation, segment.id));
        list
    }

    pub(crate) fn of(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        Ok(Segment {
            id: row.get(0)?,
            table: row.get(1)?,
            generation: row.get(2)?,
            from: row.get(3)?,
            to: row.get(4)?,
            rows: row.get(5)?,
            bytes: row.get(6)?,
        })
    }

    /// Its rows as [`crate::segment::decode`] takes them.
    pub(crate) fn bytes(&self, db: &Connection) -> Result<Vec<u8>, String> {
        let mut select = db.prepare_cached("select bytes from segment where id = ?").map_err(|e| e.to_string())?;
        let bytes: Vec<u8> = select.query_row([self.id], |r| r.get(0)).map_err(|e| e.to_string())?;
        if pack::is_place(&bytes) { pack::read(db, [self.table, self.generation], &bytes) } else { Ok(bytes) }
    }

    /// The checksum of a list of them, as table `sealed` has it.
    pub(crate) fn sum(list: &[Segment]) -> i64 {
        crate::sum::of_list(list.iter().map(|s| [s.id, s.table, s.generation, s.from, s.to, s.rows, s.bytes]))
    }
}

#[derive(Serialize, Deserialize)]
struct ColumnText {
    name: String,
    #[serde(rename = "type")]
    ty: Type,
    kind: Kind,
    unit: model::Unit,
    help: String,
    polarity: model::Polarity,
    compare: model::Compare,
    fold: model::Fold,
    floor: f64,
    #[serde(default, skip_serializing_if = "is_empty")]
    title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bucket: Option<Bucket>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state: Option<StateText>,
}

#[derive(Serialize, Deserialize)]
struct DerivedText {
    name: String,
    unit: String,
    help: String,
    num: Vec<(String, f64)>,
    /// `None`: by time.
    den: Option<Vec<(String, f64)>>,
    polarity: model::Polarity,
    compare: model::Compare,
    floor: f64,
}

#[derive(Serialize, Deserialize)]
struct TableText {
    name: String,
    help: String,
    shape: Shape,
    columns: Vec<ColumnText>,
    derived: Vec<DerivedText>,
    groups: Vec<Vec<String>>,
    events: bool,
    #[serde(default)]
    from_zero: bool,
    #[serde(default)]
    dictionary: bool,
    #[serde(default, skip_serializing_if = "is_empty")]
    title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    page: Option<Page>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    scoped: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    measure: Option<MeasureText>,
}

#[derive(Serialize, Deserialize)]
struct ChartText {
    id: String,
    page: Page,
    title: String,
    read: String,
    kind: ChartKind,
    table: String,
    columns: Vec<String>,
    by: Vec<String>,
    only: Option<(String, Vec<String>)>,
    top: usize,
    max: f64,
}

pub(crate) fn leak(list: &[String]) -> &'static [&'static str] {
    list.iter().map(|text| intern(text)).collect::<Vec<_>>().leak()
}

pub(crate) fn owned(list: &[&str]) -> Vec<String> {
    list.iter().map(|&text| text.to_owned()).collect()
}

/// The declaration in the row of `key`. In the first version of the format it is compressed by itself, after a checksum where it has one.
pub(crate) fn stored(db: &Connection, key: [i64; 2], stored: &[u8]) -> Result<Vec<u8>, String> {
    if pack::is_place(stored) {
        return pack::read(db, key, stored);
    }
    let alone = if stored.starts_with(&crate::ZSTD) { stored } else { crate::sum::check(key, stored)? };
    crate::unpack(alone, MOST)
}

/// Charts as the recording has them, in JSON.
pub(crate) fn encode_charts(charts: &[Chart]) -> Vec<u8> {
    let text = |c: &Chart| ChartText {
        id: c.id.into(),
        page: c.page,
        title: c.title.into(),
        read: c.read.into(),
        kind: c.kind,
        table: c.table.into(),
        columns: owned(c.columns),
        by: owned(c.by),
        only: c.only.map(|(label, values)| (label.into(), owned(values))),
        top: c.top,
        max: c.max,
    };
    serde_json::to_vec(&charts.iter().map(text).collect::<Vec<_>>()).unwrap_or_default()
}

/// Reads charts back.
pub(crate) fn decode_charts(bytes: &[u8]) -> Result<Vec<Chart>, String> {
    let chart = |c: ChartText| Chart {
        id: intern(&c.id),
        page: c.page,
        title: intern(&c.title),
        read: intern(&c.read),
        kind: c.kind,
        table: intern(&c.table),
        columns: leak(&c.columns),
        by: leak(&c.by),
        only: c.only.map(|(label, values)| (intern(&label), leak(&values))),
        top: c.top,
        max: c.max,
    };
    let text: Vec<ChartText> = serde_json::from_slice(bytes).map_err(|e| e.to_string())?;
    Ok(text.into_iter().map(chart).collect())
}

/// The most bytes of one declaration, uncompressed.
const MOST: usize = 4 << 20;

/// A declaration as the recording has it, in JSON.
pub(crate) fn encode(table: &Table) -> Vec<u8> {
    let weights = |list: &[(&str, f64)]| list.iter().map(|&(n, w)| (n.to_owned(), w)).collect::<Vec<_>>();
    let text = TableText {
        name: table.name.into(),
        help: table.help.into(),
        shape: table.shape,
        columns: table
            .columns
            .iter()
            .map(|c| ColumnText {
                name: c.name.into(),
                ty: c.ty,
                kind: c.kind,
                unit: c.unit,
                help: c.help.into(),
                polarity: c.polarity,
                compare: c.compare,
                fold: c.fold,
                floor: c.floor,
                title: c.title.into(),
                bucket: c.bucket,
                state: c.state.map(StateText::of),
            })
            .collect(),
        derived: table
            .derived
            .iter()
            .map(|d| DerivedText {
                name: d.name.into(),
                unit: d.unit.into(),
                help: d.help.into(),
                num: weights(d.num),
                den: match d.den {
                    Den::Time => None,
                    Den::Columns(list) => Some(weights(list)),
                },
                polarity: d.polarity,
                compare: d.compare,
                floor: d.floor,
            })
            .collect(),
        groups: table.groups.iter().map(|g| owned(g)).collect(),
        events: table.events,
        from_zero: table.from_zero,
        dictionary: table.dictionary,
        title: table.title.into(),
        page: table.page,
        scoped: table.scoped,
        measure: table.measure.map(MeasureText::of),
    };
    serde_json::to_vec(&text).unwrap_or_default()
}

/// Reads a declaration back. Equal ones are one: whoever opens thousands of recordings holds the declarations of one.
pub(crate) fn decode(bytes: &[u8]) -> Result<&'static Table, String> {
    static KNOWN: OnceLock<Mutex<HashMap<Vec<u8>, &'static Table>>> = OnceLock::new();
    let known = || KNOWN.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(table) = known().get(bytes) {
        return Ok(table);
    }
    let table = read(bytes)?;
    Ok(known().entry(bytes.to_vec()).or_insert(table))
}

fn read(bytes: &[u8]) -> Result<&'static Table, String> {
    let text: TableText = serde_json::from_slice(bytes).map_err(|e| e.to_string())?;
    if text.columns.len() > 10_000 {
        return Err(format!("{} columns", text.columns.len()));
    }
    let labels_first = text.columns.iter().skip_while(|c| c.kind == Kind::Label).all(|c| c.kind != Kind::Label);
    if !labels_first {
        return Err("a label comes after a value".into());
    }
    let weights = |list: Vec<(String, f64)>| -> &'static [(&'static str, f64)] {
        list.into_iter().map(|(n, w)| (intern(&n), w)).collect::<Vec<_>>().leak()
    };
    let columns: Vec<Column> = text
        .columns
        .into_iter()
        .map(|c| Column {
            name: intern(&c.name),
            ty: c.ty,
            kind: c.kind,
            unit: c.unit,
            help: intern(&c.help),
            polarity: c.polarity,
            compare: c.compare,
            fold: c.fold,
            floor: c.floor,
            title: intern(&c.title),
            bucket: c.bucket,
            state: c.state.map(StateText::leak),
        })
        .collect();
    let derived: Vec<Derived> = text
        .derived
        .into_iter()
        .map(|d| Derived {
            name: intern(&d.name),
            unit: intern(&d.unit),
            help: intern(&d.help),
            num: weights(d.num),
            den: d.den.map_or(Den::Time, |list| Den::Columns(weights(list))),
            polarity: d.polarity,
            compare: d.compare,
            floor: d.floor,
        })
        .collect();
    let groups: Vec<&'static [&'static str]> = text.groups.iter().map(|g| leak(g)).collect();
    let mut table = Table {
        name: intern(&text.name),
        help: intern(&text.help),
        shape: text.shape,
        columns: columns.leak(),
        derived: derived.leak(),
        groups: groups.leak(),
        events: text.events,
        from_zero: text.from_zero,
        // Entries are events, whatever else is said.
        dictionary: text.dictionary && text.events,
        title: intern(&text.title),
        page: text.page,
        scoped: text.scoped,
        measure: text.measure.map(MeasureText::leak),
    };
    declared::complete(&mut table);
    Ok(Box::leak(Box::new(table)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Compare, Locks, Measure, Polarity, State, StateKind, Unit};

    static TABLE: Table = Table::wide(
        "t",
        "help",
        &[Column::number("cpu", "c"), Column::counter("user", Unit::ClockTicks, "u").worse().floor(0.5)],
    )
    .derived(&[Derived {
        name: "d",
        unit: "ratio",
        help: "h",
        num: &[("user", 1.0)],
        den: Den::Columns(&[("user", 2.0)]),
        polarity: Polarity::Better,
        compare: Compare::Difference,
        floor: 0.1,
    }])
    .grouped(&[&[], &["cpu"]]);

    static ALL: Table = Table::wide(
        "everything",
        "help",
        &[
            Column::label("kind", "k").titled("sort"),
            Column::number("stack", "s"),
            Column::counter("b0", Unit::None, "b").histogram(8.0, Unit::Microseconds),
            Column::counter("user", Unit::Nanoseconds, "u").state(&State {
                words: "running",
                kind: StateKind::OnCpu,
                color: ["#000000", "#ffffff"],
            }),
        ],
    )
    .titled("Everything")
    .on(Page::TimeBudget)
    .scoped()
    .measured(
        &Measure::new("all-of-it", "All of it", "user", "help")
            .of("who")
            .of_ledger()
            .at("user")
            .level("kind")
            .labels(&["kind"])
            .more(&["b0"])
            .other("stack", "kind", "who else")
            .locks(Locks { name: "", kind: "kind", address: "", only: &["mutex"] }),
    );

    #[test]
    fn a_declaration_comes_back() {
        assert_eq!(decode(&encode(&TABLE)).unwrap(), &TABLE);
        assert_eq!(decode(&encode(&ALL)).unwrap(), &ALL);
    }

    #[test]
    fn charts_come_back() {
        let chart = Chart::new("id", Page::Disks, ChartKind::Heat, "title", "read", "t", &["user"])
            .by(&["cpu"], 3)
            .only("cpu", &["1"])
            .up_to(2.0);
        assert_eq!(decode_charts(&encode_charts(&[chart])).unwrap(), [chart]);
        assert!(decode_charts(b"x").is_err());
    }

    #[test]
    fn damage_is_an_error() {
        let bytes = encode(&TABLE);
        assert!(decode(&bytes[..bytes.len() / 2]).is_err());
        assert!(decode(b"").is_err());
    }
}

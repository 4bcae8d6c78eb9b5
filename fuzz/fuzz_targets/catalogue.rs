//! The catalogue of a recording: rows of its SQLite tables replaced, the file as such sound. Declarations of tables and charts are
//! compressed; what is damaged there is also what lies within.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use rusqlite::types::Value;

/// A table of the catalogue, and a column of it.
const CELLS: &[(&str, &str)] = &[
    ("table_definition", "definition"),
    ("table_definition", "definition"),
    ("table_definition", "definition"),
    ("table_definition", "name"),
    ("table_definition", "source"),
    ("table_definition", "id"),
    ("source", "charts"),
    ("source", "charts"),
    ("source", "name"),
    ("source", "title"),
    ("source", "interval"),
    ("manifest", "key"),
    ("manifest", "value"),
    ("coverage", "status"),
    ("coverage", "item"),
    ("coverage", "why"),
    ("fact", "name"),
    ("fact", "value"),
    ("pack", "bytes"),
    ("pack", "bytes"),
    ("pack", "bytes"),
    ("pack", "id"),
    ("mark", "t"),
    ("mark", "text"),
    ("segment", "table_id"),
    ("segment", "generation"),
    ("segment", "t_from"),
    ("segment", "t_to"),
    ("segment", "row_count"),
    ("segment", "ticks"),
    ("segment", "bytes"),
    ("symbol", "id"),
    ("symbol", "text"),
    ("tail", "tick"),
    ("tail", "t"),
    ("tail", "bytes"),
];

#[derive(Arbitrary, Debug)]
enum New<'a> {
    Nothing,
    Whole(i64),
    Real(f64),
    Text(&'a str),
    Bytes(&'a [u8]),
    /// Compressed as a declaration is.
    Packed(&'a [u8]),
    /// What is there, unpacked where it is packed, with bytes from some place on written over.
    Over(u16, &'a [u8]),
    /// What is there, with a stretch cut out and another put in.
    Splice(u16, u8, &'a [u8]),
    /// No such row any more.
    Delete,
    /// The row twice, where its keys allow that.
    Twice,
}

#[derive(Arbitrary, Debug)]
struct Change<'a> {
    cell: u8,
    row: u8,
    new: New<'a>,
}

/// Bytes of a value, and whether they were compressed.
fn open(value: &Value) -> (Vec<u8>, bool) {
    match value {
        Value::Blob(bytes) => match zstd::bulk::decompress(bytes, 4 << 20) {
            Ok(plain) => (plain, true),
            Err(_) => (bytes.clone(), false),
        },
        Value::Text(text) => (text.clone().into_bytes(), false),
        _ => (Vec::new(), false),
    }
}

fn close(bytes: Vec<u8>, packed: bool, like: &Value) -> Value {
    if packed {
        return Value::Blob(zstd::bulk::compress(&bytes, 1).unwrap_or_default());
    }
    match like {
        Value::Text(_) => Value::Text(String::from_utf8_lossy(&bytes).into_owned()),
        _ => Value::Blob(bytes),
    }
}

fn apply(db: &rusqlite::Connection, change: &Change<'_>) -> rusqlite::Result<()> {
    let (table, column) = CELLS[usize::from(change.cell) % CELLS.len()];
    // Tables without rowid have none to name a row by: their first column does.
    let key = match table {
        "manifest" => "key",
        "coverage" => "item",
        "fact" => "name",
        _ => "rowid",
    };
    let count: i64 = db.query_row(&format!("select count(*) from {table}"), [], |r| r.get(0))?;
    let at = i64::from(change.row).checked_rem(count).unwrap_or(0);
    if count == 0 {
        let all = match table {
            "mark" => "insert into mark values (1000000000, 'mark')",
            "symbol" => "insert into symbol values (0, 'eth0')",
            "tail" => "insert into tail values (1, 1000000000, x'000000000101000100')",
            _ => return Ok(()),
        };
        db.execute(all, [])?;
    }
    let (id, old): (Value, Value) =
        db.query_row(&format!("select {key}, {column} from {table} limit 1 offset {at}"), [], |r| {
            Ok((r.get(0)?, r.get(1)?))
        })?;
    let new = match &change.new {
        New::Nothing => Value::Null,
        New::Whole(value) => Value::Integer(*value),
        New::Real(value) => Value::Real(*value),
        New::Text(text) => Value::Text((*text).to_owned()),
        New::Bytes(bytes) => Value::Blob(bytes.to_vec()),
        New::Packed(bytes) => Value::Blob(zstd::bulk::compress(bytes, 1).unwrap_or_default()),
        New::Over(from, with) => {
            let (mut bytes, packed) = open(&old);
            let from = usize::from(*from).checked_rem(bytes.len()).unwrap_or(0);
            for (to, with) in bytes.iter_mut().skip(from).zip(*with) {
                *to = *with;
            }
            close(bytes, packed, &old)
        }
        New::Splice(from, cut, with) => {
            let (mut bytes, packed) = open(&old);
            let from = usize::from(*from).checked_rem(bytes.len()).unwrap_or(0);
            let to = (from + usize::from(*cut)).min(bytes.len());
            bytes.splice(from..to, with.iter().copied());
            close(bytes, packed, &old)
        }
        New::Delete => {
            db.execute(&format!("delete from {table} where {key} = ?"), [id])?;
            return Ok(());
        }
        New::Twice => {
            db.execute(&format!("insert into {table} select * from {table} where {key} = ?"), [id])?;
            return Ok(());
        }
    };
    db.execute(&format!("update {table} set {column} = ? where {key} = ?"), [new, id])?;
    Ok(())
}

/// Gives the blobs that carry a checksum a right one, so that what is wrong in them reaches the decoders.
fn sum(db: &rusqlite::Connection) -> rusqlite::Result<()> {
    for (table, first, second, bytes) in [
        ("segment", "table_id", "generation", "ticks"),
        ("tail", "tick", "0", "bytes"),
        ("table_definition", "id", "0", "definition"),
        ("source", "id", "0", "charts"),
    ] {
        let sql = format!("select rowid, {first}, {second}, {bytes} from {table}");
        let rows = db
            .prepare(&sql)?
            .query_map([], |r| Ok((r.get(0)?, [r.get(1)?, r.get(2)?], r.get(3)?)))?
            .collect::<rusqlite::Result<Vec<(i64, [i64; 2], Vec<u8>)>>>()?;
        for (id, key, blob) in rows {
            let summed = store::fuzzing::sum(key, blob.get(4..).unwrap_or_default());
            db.execute(&format!("update {table} set {bytes} = ? where rowid = ?"), (summed, id))?;
        }
    }
    Ok(())
}

fuzz_target!(init: common::tolerate_parquet(), |input: (bool, Vec<Change<'_>>)| {
    let (summed, changes) = input;
    let db = common::fresh();
    for change in changes.iter().take(8) {
        // What the schema forbids cannot be in a file either.
        let _ = apply(&db, change);
    }
    if summed {
        let _ = sum(&db);
    }
    drop(db);
    common::read_all(&common::damaged());
});

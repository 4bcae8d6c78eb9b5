//! Parquet for lakes: `TABLE/day=2026-11-24/part-….parquet`, few large files whatever the number of recordings. Rows are in the order of host,
//! recording, entity and time, `run` and `host` are columns, and each row group has statistics, so that a reader of one host reads little.

use super::parquet::{described, plain};
use super::{Exported, Form, LEADING, Options, batches, columns, escaped, load, tables, text};
use crate::{Error, Run};
use files::Output;
use model::{Column, NULL, Type};
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type as Schema};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use store::Frame;

/// A part is closed when it has so many bytes.
const PART_BYTES: usize = 128 << 20;

/// Rows of a row group.
const GROUP: usize = 256 << 10;

/// Nanoseconds of a day.
const DAY: i64 = 86_400_000_000_000;

/// Writes every table of every run below `dir`, by the day of the rows in UTC. Files that are there stay: each call adds parts of its own.
///
/// # Errors
/// Where a file cannot be written; files written before stay, and one that is not whole is not there.
pub fn lake(runs: &[Run], dir: &Path, options: &Options) -> Result<Exported, Error> {
    let mut exported = Exported::default();
    let mut ordered: Vec<&Run> = runs.iter().collect();
    ordered.sort_by_key(|run| {
        let manifest = run.recording.manifest();
        (manifest.host.clone(), manifest.start_unix, run.name.clone())
    });
    for table in tables(runs.iter(), options)? {
        let folder = dir.join(escaped(table));
        let mut days: BTreeMap<i64, Part> = BTreeMap::new();
        for run in &ordered {
            match load(run, table, options) {
                Ok(None) => {}
                Err(why) => exported.left_out.push((table.to_owned(), why)),
                Ok(Some(mut frame)) => {
                    sort(&mut frame);
                    put(run, &frame, options.form, &folder, &mut days, &mut exported)?;
                }
            }
        }
        for part in days.into_values() {
            part.close(&mut exported)?;
        }
    }
    Ok(exported)
}

/// Entities in the order of their labels.
fn sort(frame: &mut Frame) {
    let named: Vec<Column> = columns(frame.table, Form::Stored).into_iter().map(|(_, column)| column).collect();
    let mut entities = std::mem::take(&mut frame.entities);
    entities.sort_by_cached_key(|entity| {
        let label = |(column, cell): (&Column, &i64)| (*cell, text(frame, column, *cell).map(str::to_owned));
        let labels = named.iter().zip(&entity.labels).map(label);
        // Texts by what they say, numbers by their value.
        labels.map(|(cell, text)| if text.is_some() { (text, 0) } else { (None, cell) }).collect::<Vec<_>>()
    });
    frame.entities = entities;
}

/// Adds the rows of one run to the parts of their days.
fn put(
    run: &Run,
    frame: &Frame,
    form: Form,
    folder: &Path,
    days: &mut BTreeMap<i64, Part>,
    exported: &mut Exported,
) -> Result<(), Error> {
    let manifest = run.recording.manifest();
    let named = columns(frame.table, form);
    let [name, host] = [&run.name, &manifest.host].map(|text| ByteArray::from(text.as_str()));
    batches(frame, form, |batch| {
        for (row, t) in batch.t.iter().enumerate() {
            let time = manifest.start_unix.saturating_add(*t);
            let day = time.div_euclid(DAY);
            // A table may have other columns in a recording of another version.
            if days.get(&day).is_some_and(|part| part.named != named)
                && let Some(part) = days.remove(&day)
            {
                part.close(exported)?;
            }
            let part = match days.entry(day) {
                std::collections::btree_map::Entry::Occupied(part) => part.into_mut(),
                std::collections::btree_map::Entry::Vacant(none) => none.insert(Part::new(folder, day, frame, form)?),
            };
            part.rows.t.push(*t);
            part.rows.time.push(time.div_euclid(1000));
            part.rows.run.push(name.clone());
            part.rows.host.push(host.clone());
            part.rows.gone.push(batch.gone.get(row).copied().unwrap_or(false));
            for ((into, (_, column)), cells) in part.rows.columns.iter_mut().zip(&named).zip(&batch.columns) {
                into.push(frame, column, cells.get(row).copied().unwrap_or(NULL));
            }
            if part.rows.t.len() >= GROUP {
                part.flush()?;
                if part.writer.bytes_written() >= PART_BYTES
                    && let Some(part) = days.remove(&day)
                {
                    part.close(exported)?;
                }
            }
        }
        Ok(())
    })
}

/// The values of a column that are there, and whether each row has one.
struct Cells {
    levels: Vec<i16>,
    values: Values,
}

enum Values {
    Int(Vec<i64>),
    Real(Vec<f64>),
    Text(Vec<ByteArray>),
}

impl Cells {
    fn new(ty: Type) -> Cells {
        let values = match ty {
            Type::Int => Values::Int(Vec::new()),
            Type::Real => Values::Real(Vec::new()),
            Type::Text => Values::Text(Vec::new()),
        };
        Cells { levels: Vec::new(), values }
    }

    fn push(&mut self, frame: &Frame, column: &Column, cell: i64) {
        let there = match &mut self.values {
            Values::Int(values) => (cell != NULL).then(|| values.push(cell)),
            Values::Real(values) => (cell != NULL).then(|| model::real_of(cell)).flatten().map(|v| values.push(v)),
            Values::Text(values) => text(frame, column, cell).map(|v| values.push(ByteArray::from(v))),
        };
        self.levels.push(i16::from(there.is_some()));
    }

    fn write(&mut self, into: &mut SerializedColumnWriter<'_>) -> Result<usize, ParquetError> {
        let levels = std::mem::take(&mut self.levels);
        match &mut self.values {
            Values::Int(v) => into.typed::<Int64Type>().write_batch(&std::mem::take(v), Some(&levels), None),
            Values::Real(v) => into.typed::<DoubleType>().write_batch(&std::mem::take(v), Some(&levels), None),
            Values::Text(v) => into.typed::<ByteArrayType>().write_batch(&std::mem::take(v), Some(&levels), None),
        }
    }
}

/// Rows that wait to be written.
#[derive(Default)]
struct Rows {
    run: Vec<ByteArray>,
    host: Vec<ByteArray>,
    t: Vec<i64>,
    time: Vec<i64>,
    gone: Vec<bool>,
    columns: Vec<Cells>,
}

/// A file that is written.
struct Part {
    named: Vec<(String, Column)>,
    with_gone: bool,
    rows: Rows,
    writer: SerializedFileWriter<Output<'static>>,
    /// Where it will be, once it is whole.
    path: PathBuf,
    written: usize,
}

impl Part {
    fn new(folder: &Path, day: i64, frame: &Frame, form: Form) -> Result<Part, Error> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis());
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let (year, month, of_month) = date(day);
        let path = folder
            .join(format!("day={year:04}-{month:02}-{of_month:02}"))
            .join(format!("part-{now:013}-{}-{number}.parquet", std::process::id()));
        let named = columns(frame.table, form);
        let with_gone = form == Form::Stored && !frame.table.events;
        let file = super::create(&path)?;
        let writer = writer(file, frame, &named, with_gone).map_err(|e| failed(&path, &e))?;
        let columns = named.iter().map(|(_, column)| Cells::new(column.ty)).collect();
        Ok(Part { named, with_gone, rows: Rows { columns, ..Rows::default() }, writer, path, written: 0 })
    }

    fn flush(&mut self) -> Result<(), Error> {
        if self.rows.t.is_empty() {
            return Ok(());
        }
        self.written += self.rows.t.len();
        self.write_group().map_err(|e| failed(&self.path, &e))
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let rows = &mut self.rows;
        let mut group = self.writer.next_row_group()?;
        let mut next = |write: &mut dyn FnMut(&mut SerializedColumnWriter<'_>) -> Result<usize, ParquetError>| {
            let Some(mut column) = group.next_column()? else {
                return Err(ParquetError::General("more columns than the schema has".into()));
            };
            write(&mut column)?;
            column.close()
        };
        next(&mut |into| into.typed::<ByteArrayType>().write_batch(&rows.run, None, None))?;
        next(&mut |into| into.typed::<ByteArrayType>().write_batch(&rows.host, None, None))?;
        next(&mut |into| into.typed::<Int64Type>().write_batch(&rows.t, None, None))?;
        next(&mut |into| into.typed::<Int64Type>().write_batch(&rows.time, None, None))?;
        if self.with_gone {
            next(&mut |into| into.typed::<BoolType>().write_batch(&rows.gone, None, None))?;
        }
        for cells in &mut rows.columns {
            next(&mut |into| cells.write(into))?;
        }
        group.close()?;
        rows.run.clear();
        rows.host.clear();
        rows.t.clear();
        rows.time.clear();
        rows.gone.clear();
        Ok(())
    }

    /// Writes what waits, and gives the file its name.
    fn close(mut self, exported: &mut Exported) -> Result<(), Error> {
        self.flush()?;
        let file = self.writer.into_inner().map_err(|e| failed(&self.path, &e))?;
        file.finish().map_err(|why| Error::Write { path: self.path.clone(), why })?;
        exported.files.push((self.path, self.written));
        Ok(())
    }
}

fn failed(path: &Path, error: &ParquetError) -> Error {
    Error::Write { path: path.to_owned(), why: std::io::Error::other(error.to_string()) }
}

fn writer(
    file: Output<'static>,
    frame: &Frame,
    named: &[(String, Column)],
    with_gone: bool,
) -> Result<SerializedFileWriter<Output<'static>>, ParquetError> {
    let word = |name: &str, repetition| {
        let of = plain(name, Physical::BYTE_ARRAY, repetition).with_logical_type(Some(LogicalType::String));
        of.build()
    };
    let stamp = Some(LogicalType::timestamp(true, TimeUnit::MICROS));
    let mut fields = vec![
        word("run", Repetition::REQUIRED)?,
        word("host", Repetition::REQUIRED)?,
        plain(LEADING[0], Physical::INT64, Repetition::REQUIRED).build()?,
        plain(LEADING[1], Physical::INT64, Repetition::REQUIRED).with_logical_type(stamp).build()?,
    ];
    if with_gone {
        fields.push(plain("gone", Physical::BOOLEAN, Repetition::REQUIRED).build()?);
    }
    let mut properties = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_created_by("twinscope".into())
        .set_key_value_metadata(Some(vec![KeyValue::new("twinscope".to_owned(), described(frame, named))]))
        .set_dictionary_enabled(false);
    for name in ["run", "host"] {
        properties = properties.set_column_dictionary_enabled(ColumnPath::from(name), true);
    }
    for (name, column) in named {
        fields.push(match column.ty {
            Type::Int => plain(name, Physical::INT64, Repetition::OPTIONAL).build()?,
            Type::Real => plain(name, Physical::DOUBLE, Repetition::OPTIONAL).build()?,
            Type::Text => word(name, Repetition::OPTIONAL)?,
        });
        let path = ColumnPath::new(vec![name.clone()]);
        properties = properties.set_column_dictionary_enabled(path, true);
    }
    let fields = fields.into_iter().map(Arc::new).collect();
    let schema = Arc::new(Schema::group_type_builder("row").with_fields(fields).build()?);
    SerializedFileWriter::new(file, schema, Arc::new(properties.build()))
}

/// Year, month and day of a day since 1970-01-01: years begin in March, so that the day that may be there is their last.
fn date(day: i64) -> (i64, i64, i64) {
    // Days from 0000-03-01, in eras of 400 years.
    let days = day + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, of_month)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates() {
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(date(-1), (1969, 12, 31));
        assert_eq!(date(11_016), (2000, 2, 29));
        assert_eq!(date(20_781), (2026, 11, 24));
        assert_eq!(date(47_540), (2100, 2, 28));
        assert_eq!(date(47_541), (2100, 3, 1));
    }
}

//! A part of a dataset: one Parquet file, written aside and renamed when it is whole.

use super::batch::{Batch, NO_INT, NO_TEXT, Values};
use super::dataset::{Dataset, Type};
use files::{Output, Rules};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::column::reader::ColumnReader;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, FloatType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type as Schema};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Rows of a row group: what a question about one metric or host has to read at least.
const GROUP: usize = 1 << 16;

/// Writes the rows in the order of their key. Where that fails nothing is left at `path`.
///
/// # Errors
/// Where the file cannot be written.
pub fn write(path: &Path, batch: &Batch) -> io::Result<()> {
    let file = Output::create(path, Rules { durable: true, ..Rules::default() })?;
    let order = batch.order();
    let mut writer = SerializedFileWriter::new(file, schema(batch.dataset)?, Arc::new(properties(batch.dataset)?))?;
    for rows in order.chunks(GROUP) {
        let mut group = writer.next_row_group()?;
        for values in &batch.columns {
            let Some(mut column) = group.next_column()? else { break };
            put(&mut column, values, rows, batch)?;
            column.close()?;
        }
        group.close()?;
    }
    writer.into_inner()?.finish()
}

fn schema(dataset: &Dataset) -> Result<Arc<Schema>, ParquetError> {
    let field = |column: &super::dataset::Column| {
        let (ty, logical) = match column.ty {
            Type::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Type::Int => (Physical::INT64, None),
            Type::Real => (Physical::DOUBLE, None),
            Type::Single => (Physical::FLOAT, None),
        };
        let field = Schema::primitive_type_builder(column.name, ty).with_repetition(Repetition::OPTIONAL);
        field.with_logical_type(logical).build().map(Arc::new)
    };
    let fields = dataset.columns.iter().map(field).collect::<Result<_, _>>()?;
    Schema::group_type_builder("row").with_fields(fields).build().map(Arc::new)
}

fn properties(dataset: &Dataset) -> Result<WriterProperties, ParquetError> {
    let mut properties = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_created_by("twinscope".into())
        .set_dictionary_enabled(false);
    for column in dataset.columns.iter().filter(|c| c.ty == Type::Text) {
        properties = properties.set_column_dictionary_enabled(ColumnPath::from(column.name), true);
    }
    Ok(properties.build())
}

fn put(
    into: &mut SerializedColumnWriter<'_>,
    values: &Values,
    rows: &[usize],
    batch: &Batch,
) -> Result<(), ParquetError> {
    /// The values that are there, and for each row whether it has one.
    fn present<T>(rows: &[usize], get: impl Fn(usize) -> Option<T>) -> (Vec<T>, Vec<i16>) {
        let all: Vec<Option<T>> = rows.iter().map(|&row| get(row)).collect();
        let levels = all.iter().map(|v| i16::from(v.is_some())).collect();
        (all.into_iter().flatten().collect(), levels)
    }
    match values {
        Values::Text(v) => {
            let text = |row: usize| batch.texts.text(*v.get(row)?).map(|text| ByteArray::from(&**text));
            let (values, levels) = present(rows, text);
            into.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)
        }
        Values::Int(v) => {
            let (values, levels) = present(rows, |row| v.get(row).copied().filter(|v| *v != NO_INT));
            into.typed::<Int64Type>().write_batch(&values, Some(&levels), None)
        }
        Values::Real(v) => {
            let (values, levels) = present(rows, |row| v.get(row).copied().filter(|v| v.is_finite()));
            into.typed::<DoubleType>().write_batch(&values, Some(&levels), None)
        }
        Values::Single(v) => {
            let (values, levels) = present(rows, |row| v.get(row).copied().filter(|v| v.is_finite()));
            into.typed::<FloatType>().write_batch(&values, Some(&levels), None)
        }
    }
    .map(drop)
}

/// Which rows are wanted of a part, as far as its statistics tell: those whose text in a column can be this one.
#[derive(Clone, Copy, Debug)]
pub struct Only<'a> {
    /// Place of the column.
    pub column: usize,
    /// The text.
    pub text: &'a str,
}

/// The Parquet reader checks most of what it reads; what it does not check must still not end the program.
fn guarded<T>(read: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    files::foreign::caught(read).unwrap_or_else(|| Err("it is damaged".into()))
}

/// Reads the columns that `wanted` names by their places, into batches of a row group each; columns that are not wanted stay empty, and those
/// that came [later](super::dataset::Column::later) are missing where the part has none. Row groups in
/// which no row can be one of `only` are passed over; rows that are not are still among those that come.
///
/// # Errors
/// In words, where the file cannot be read, is damaged, or has other columns.
pub fn read(
    path: &Path,
    dataset: &'static Dataset,
    wanted: &[usize],
    only: &[Only<'_>],
    mut take: impl FnMut(Batch),
) -> Result<(), String> {
    let words = |e: ParquetError| e.to_string();
    let file = files::foreign::open(path).map_err(|e| e.to_string())?;
    let reader = guarded(|| SerializedFileReader::new(file).map_err(words))?;
    let meta = reader.metadata();
    let there = meta.file_metadata().schema_descr();
    // Columns are found by name: a newer program may have written more of them, and an older one fewer.
    let find = |at: usize| {
        let name = dataset.columns.get(at).map_or("", |c| c.name);
        (0..there.num_columns())
            .find(|i| there.column(*i).name() == name)
            .ok_or_else(|| format!("it has no column {name}"))
    };
    let is_later = |at: usize| dataset.columns.get(at).is_some_and(|column| column.later);
    let mut places: Vec<(usize, usize)> = Vec::new();
    let mut missing: Vec<usize> = Vec::new();
    for &at in wanted {
        match find(at) {
            Ok(column) => places.push((at, column)),
            Err(_) if is_later(at) => missing.push(at),
            Err(why) => return Err(why),
        }
    }
    // How many rows there are, a column says that is there.
    if places.is_empty() && !missing.is_empty() {
        places.push((0, find(0)?));
    }
    let mut bounds = Vec::new();
    for only in only {
        match find(only.column) {
            Ok(column) => bounds.push((column, only.text.as_bytes())),
            Err(_) if is_later(only.column) => {}
            Err(why) => return Err(why),
        }
    }
    for group in 0..meta.num_row_groups() {
        let about = meta.row_group(group);
        let can_be = |&(column, text): &(usize, &[u8])| match about.columns().get(column).and_then(|c| c.statistics()) {
            Some(Statistics::ByteArray(s)) => {
                s.min_opt().is_none_or(|min| min.data() <= text)
                    && (s.max_opt().is_none_or(|max| max.data() >= text) || !s.max_is_exact())
            }
            _ => true,
        };
        if !bounds.iter().all(can_be) {
            continue;
        }
        let rows = usize::try_from(about.num_rows()).map_err(|_| "a negative number of rows".to_owned())?;
        let mut batch = Batch::new(dataset);
        guarded(|| {
            let reader = reader.get_row_group(group).map_err(words)?;
            for &(at, column) in &places {
                let required = there.column(column).max_def_level() == 0;
                store::check_dictionary(reader.as_ref(), column)?;
                let column = reader.get_column_reader(column).map_err(words)?;
                get(column, required, rows, &mut batch, at)?;
            }
            Ok(())
        })?;
        let rows = batch.len();
        for values in batch.columns.iter_mut().enumerate().filter(|(at, _)| missing.contains(at)).map(|(_, of)| of) {
            values.missing(rows);
        }
        take(batch);
    }
    Ok(())
}

/// Reads a column of a row group; other programs write columns without gaps as `required`.
fn get(column: ColumnReader, required: bool, rows: usize, batch: &mut Batch, at: usize) -> Result<(), String> {
    macro_rules! cells {
        ($reader:expr, $missing:expr, $of:expr) => {{
            let (mut reader, mut values, mut levels) = ($reader, Vec::new(), Vec::new());
            if required {
                reader.read_records(rows, None, None, &mut values).map_err(|e| e.to_string())?;
                levels.resize(values.len(), 1);
            }
            // A damaged file may promise any number of rows: room is made as they come.
            while levels.len() < rows {
                let before = levels.len();
                let most = (rows - before).min(GROUP);
                reader.read_records(most, Some(&mut levels), None, &mut values).map_err(|e| e.to_string())?;
                if levels.len() == before {
                    return Err(format!("{before} of {rows} rows are there"));
                }
            }
            let mut values = values.into_iter();
            levels.iter().map(|l| if *l > 0 { values.next().map_or($missing, &mut $of) } else { $missing }).collect()
        }};
    }
    let texts = &mut batch.texts;
    let read = match column {
        ColumnReader::ByteArrayColumnReader(reader) => {
            let mut of = |bytes: ByteArray| texts.number(&String::from_utf8_lossy(bytes.data()));
            Values::Text(cells!(reader, NO_TEXT, of))
        }
        ColumnReader::Int64ColumnReader(reader) => {
            let mut of = |v: i64| v;
            Values::Int(cells!(reader, NO_INT, of))
        }
        ColumnReader::DoubleColumnReader(reader) => {
            let mut of = |v: f64| v;
            Values::Real(cells!(reader, f64::NAN, of))
        }
        ColumnReader::FloatColumnReader(reader) => {
            let mut of = |v: f32| v;
            Values::Single(cells!(reader, f32::NAN, of))
        }
        _ => return Err("a column of another kind of values".into()),
    };
    let Some(slot) = batch.columns.get_mut(at) else { return Ok(()) };
    if std::mem::discriminant(slot) != std::mem::discriminant(&read) {
        let name = batch.dataset.columns.get(at).map_or("", |c| c.name);
        return Err(format!("its column {name} has another kind of values"));
    }
    *slot = read;
    Ok(())
}

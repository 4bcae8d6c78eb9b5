//! Hive-partitioned Parquet with zstd pages. Times of rows are microseconds in the column `timestamp`, for not every reader knows nanoseconds; `t`
//! has them.

use super::{Exported, Form, LEADING, Options, batches, columns, create, escaped, load, partition, tables, text};
use crate::{Error, Run};
use files::Output;
use model::{Column, NULL, Type};
use parquet::basic::{Compression, Encoding, LogicalType, Repetition, TimeUnit, Type as Physical, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, PrimitiveTypeBuilder, Type as Schema};
use std::path::Path;
use std::sync::Arc;
use store::Frame;

/// Writes every table of every run below `dir`.
///
/// # Errors
/// Where a file exists already or cannot be written; files written before stay.
pub fn parquet(runs: &[Run], dir: &Path, options: &Options) -> Result<Exported, Error> {
    let mut exported = Exported::default();
    for table in tables(runs.iter(), options)? {
        for run in runs {
            let frame = match load(run, table, options) {
                Ok(Some(frame)) => frame,
                Ok(None) => continue,
                Err(why) => {
                    exported.left_out.push((table.to_owned(), why));
                    continue;
                }
            };
            let manifest = run.recording.manifest();
            let path = dir
                .join(escaped(table))
                .join(partition("run", &run.name))
                .join(partition("host", &manifest.host))
                .join("part-0.parquet");
            let file = create(&path)?;
            let rows = write(file, &frame, options.form, manifest.start_unix)
                .map_err(|e| Error::Write { path: path.clone(), why: std::io::Error::other(e.to_string()) })?;
            exported.files.push((path, rows));
        }
    }
    Ok(exported)
}

pub(super) fn plain(name: &str, ty: Physical, repetition: Repetition) -> PrimitiveTypeBuilder<'_> {
    Schema::primitive_type_builder(name, ty).with_repetition(repetition)
}

fn write(file: Output<'_>, frame: &Frame, form: Form, start_unix: i64) -> Result<usize, ParquetError> {
    let named = columns(frame.table, form);
    let with_gone = form == Form::Stored && !frame.table.events;
    let mut fields = vec![
        plain(LEADING[0], Physical::INT64, Repetition::REQUIRED).build()?,
        plain(LEADING[1], Physical::INT64, Repetition::REQUIRED)
            .with_logical_type(Some(LogicalType::timestamp(true, TimeUnit::MICROS)))
            .build()?,
    ];
    if with_gone {
        fields.push(plain("gone", Physical::BOOLEAN, Repetition::REQUIRED).build()?);
    }
    let mut properties = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_created_by("twinscope".into())
        .set_key_value_metadata(Some(vec![KeyValue::new("twinscope".to_owned(), described(frame, &named))]))
        .set_dictionary_enabled(false);
    for name in LEADING {
        properties = properties.set_column_encoding(ColumnPath::from(name), Encoding::DELTA_BINARY_PACKED);
    }
    for (name, column) in &named {
        let path = ColumnPath::new(vec![name.clone()]);
        let field = match column.ty {
            Type::Int => plain(name, Physical::INT64, Repetition::OPTIONAL),
            Type::Real => plain(name, Physical::DOUBLE, Repetition::OPTIONAL),
            Type::Text => {
                plain(name, Physical::BYTE_ARRAY, Repetition::OPTIONAL).with_logical_type(Some(LogicalType::String))
            }
        };
        fields.push(field.build()?);
        properties = match column.ty {
            Type::Int => properties.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED),
            _ => properties.set_column_dictionary_enabled(path, true),
        };
    }
    let fields = fields.into_iter().map(Arc::new).collect();
    let schema = Arc::new(Schema::group_type_builder("row").with_fields(fields).build()?);
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties.build()))?;
    let mut rows = 0;
    batches(frame, form, |batch| {
        rows += batch.t.len();
        let mut group = writer.next_row_group()?;
        let times: Vec<i64> = batch.t.iter().map(|t| start_unix.saturating_add(*t).div_euclid(1000)).collect();
        next(&mut group, |column| column.typed::<Int64Type>().write_batch(&batch.t, None, None))?;
        next(&mut group, |column| column.typed::<Int64Type>().write_batch(&times, None, None))?;
        if with_gone {
            next(&mut group, |column| column.typed::<BoolType>().write_batch(&batch.gone, None, None))?;
        }
        for ((_, column), cells) in named.iter().zip(&batch.columns) {
            next(&mut group, |into| put(into, frame, column, cells))?;
        }
        group.close().map(drop)
    })?;
    writer.into_inner()?.finish()?;
    Ok(rows)
}

/// Writes the next column of a row group.
fn next(
    group: &mut SerializedRowGroupWriter<'_, Output<'_>>,
    write: impl FnOnce(&mut SerializedColumnWriter<'_>) -> Result<usize, ParquetError>,
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("more columns than the schema has".into()));
    };
    write(&mut column)?;
    column.close()
}

fn put(
    into: &mut SerializedColumnWriter<'_>,
    frame: &Frame,
    column: &Column,
    cells: &[i64],
) -> Result<usize, ParquetError> {
    if column.ty == Type::Text {
        // A string that is missing is nothing read, like NULL.
        let texts: Vec<Option<&str>> = cells.iter().map(|&cell| text(frame, column, cell)).collect();
        let levels: Vec<i16> = texts.iter().map(|t| i16::from(t.is_some())).collect();
        let values: Vec<ByteArray> = texts.into_iter().flatten().map(ByteArray::from).collect();
        return into.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None);
    }
    let levels: Vec<i16> = cells.iter().map(|&c| i16::from(c != NULL)).collect();
    let present = cells.iter().copied().filter(|&c| c != NULL);
    if column.ty == Type::Real {
        let values: Vec<f64> = present.filter_map(model::real_of).collect();
        into.typed::<DoubleType>().write_batch(&values, Some(&levels), None)
    } else {
        into.typed::<Int64Type>().write_batch(&present.collect::<Vec<_>>(), Some(&levels), None)
    }
}

/// What the table and its columns mean, as JSON.
pub(super) fn described(frame: &Frame, named: &[(String, Column)]) -> String {
    let column = |(name, c): &(String, Column)| {
        let words = serde_json::json!({"kind": c.kind, "unit": c.unit, "help": c.help});
        (name.clone(), words)
    };
    let columns: serde_json::Map<String, serde_json::Value> = named.iter().map(column).collect();
    serde_json::json!({"table": frame.table.name, "help": frame.table.help, "columns": columns}).to_string()
}

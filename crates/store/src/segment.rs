//! Sealed segments: the rows of one table in one generation, as a Parquet file in memory, compressed as a whole with zstd. The
//! time is kept as an index into the segment's ticks.
//!
//! Rows are stored so that numbers of one size lie beside each other: first the first row of each entity, then the others, entity by entity, by
//! time. A whole number of a later row is stored as its difference to the entity's number before, added to what is stored before it in the
//! column: so the deltas that Parquet packs are those differences, and never the step from one entity to the next. (It packs 32 deltas in the
//! width of the widest; with the steps among them, an hour of 192 CPUs took half as much room again.) The column of ticks holds
//! `2 × tick + 1` in the last row of an entity and `2 × tick` in all others: there are as many entities as odd numbers.
//!
//! The pages themselves are not compressed: a small table's Parquet metadata is as large as its data, and only zstd over the
//! whole reaches it.

use crate::dictionary::check_dictionary;
use model::{Column, NULL, Symbols, Type};
use parquet::basic::{Encoding, Repetition, Type as Physical};
use parquet::column::reader::ColumnReader;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type as Schema};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// The largest segment that is read, uncompressed. The writer seals long before.
pub(crate) const MOST_BYTES: usize = 512 << 20;

/// The most rows of a segment that are read.
const MOST_ROWS: i64 = 64 << 20;

/// What a Parquet file begins with.
const PARQUET: &[u8] = b"PAR1";

/// The name of the column that holds the index of the tick. Tables cannot have a column of this name.
const TICK: &str = "#tick";

/// Decoded rows of a segment: columns of equal length, each cell as in [`model::Rows`].
#[derive(Debug, Default, PartialEq)]
pub struct Block {
    /// Index into the segment's ticks.
    pub tick: Vec<i32>,
    /// The stored columns of the table; those not asked for are empty.
    pub columns: Vec<Vec<i64>>,
}

fn physical(ty: Type) -> Physical {
    match ty {
        Type::Int => Physical::INT64,
        Type::Real => Physical::DOUBLE,
        Type::Text => Physical::BYTE_ARRAY,
    }
}

/// Whether a column is stored as differences: labels are the same in all rows of an entity as they are.
fn is_difference(column: &Column) -> bool {
    column.ty == Type::Int && !column.is_label()
}

/// Whether most cells are like no other.
fn is_distinct(cells: &[i64]) -> bool {
    cells.iter().collect::<HashSet<_>>().len() * 2 > cells.len()
}

/// In which order rows are stored.
struct Layout {
    /// The rows of each entity.
    entities: Vec<Range<usize>>,
    /// The row that is stored at each place.
    order: Vec<usize>,
}

impl Layout {
    fn new(entities: Vec<Range<usize>>) -> Self {
        let first = entities.iter().map(|rows| rows.start);
        let order = first.chain(entities.iter().flat_map(|rows| rows.start + 1..rows.end)).collect();
        Layout { entities, order }
    }

    /// The layout of rows that are sorted by entity.
    fn of(columns: &[Column], block: &Block) -> Self {
        let labels: Vec<&Vec<i64>> =
            columns.iter().zip(&block.columns).filter(|(c, _)| c.is_label()).map(|(_, cells)| cells).collect();
        let mut entities: Vec<Range<usize>> = Vec::new();
        for row in 0..block.tick.len() {
            match entities.last_mut() {
                Some(rows) if labels.iter().all(|cells| cells.get(row) == cells.get(rows.start)) => rows.end = row + 1,
                _ => entities.push(row..row + 1),
            }
        }
        Layout::new(entities)
    }

    /// The layout of stored rows, and the tick of each row.
    fn read(stored: &[i64]) -> Result<(Self, Vec<i32>), String> {
        let count = stored.iter().filter(|tick| *tick & 1 == 1).count();
        let (first, later) = stored.split_at(count);
        let mut later = later.iter();
        let mut entities = Vec::with_capacity(count);
        let mut ticks: Vec<i32> = Vec::with_capacity(stored.len());
        let outside = |_| "a tick is outside of what a segment can hold".to_owned();
        for mut tick in first {
            let start = ticks.len();
            loop {
                ticks.push(i32::try_from(tick >> 1).map_err(outside)?);
                if tick & 1 == 1 {
                    break;
                }
                tick = later.next().ok_or("rows of an entity are missing")?;
            }
            entities.push(start..ticks.len());
        }
        if later.next().is_some() {
            return Err("there are rows of no entity".into());
        }
        Ok((Layout::new(entities), ticks))
    }

    /// The column of ticks.
    fn ticks(&self, ticks: &[i32]) -> Vec<i64> {
        let mut last = vec![0; ticks.len()];
        for rows in &self.entities {
            if let Some(last) = last.get_mut(rows.end - 1) {
                *last = 1;
            }
        }
        let at = |&row: &usize| Some(i64::from(*ticks.get(row)?) * 2 + last.get(row)?);
        self.order.iter().filter_map(at).collect()
    }

    /// Whole numbers as they are stored: sums of differences; those that are not there are left out.
    fn differences(&self, cells: &[i64]) -> Vec<i64> {
        let mut differences = cells.to_vec();
        for rows in &self.entities {
            let mut before = None;
            for cell in differences.get_mut(rows.clone()).into_iter().flatten().filter(|cell| **cell != NULL) {
                let number = *cell;
                *cell = number.wrapping_sub(before.replace(number).unwrap_or(0));
            }
        }
        let mut stored = Vec::with_capacity(cells.len());
        let mut sum = 0i64;
        for (place, &row) in self.order.iter().enumerate() {
            // A difference can be as large as the mark of what is not there, so the mark is looked for in the numbers themselves.
            if let (Some(&difference), Some(true)) = (differences.get(row), cells.get(row).map(|&cell| cell != NULL)) {
                sum = if place < self.entities.len() { difference } else { sum.wrapping_add(difference) };
                stored.push(sum);
            }
        }
        stored
    }

    /// Stored cells in the order of the rows. `there` says which of them are there, where some are not.
    fn restore(&self, stored: &[i64], there: Option<&[i16]>, differences: bool) -> Vec<i64> {
        let mut present = stored.iter().copied();
        let mut cells = vec![NULL; self.order.len()];
        let mut is_there = vec![false; self.order.len()];
        let mut sum = 0i64;
        for (place, &row) in self.order.iter().enumerate() {
            if there.is_none_or(|there| there.get(place).is_some_and(|&level| level > 0))
                && let (Some(cell), Some(is_there), Some(value)) =
                    (cells.get_mut(row), is_there.get_mut(row), present.next())
            {
                let later = differences && place >= self.entities.len();
                (*cell, *is_there) = (if later { value.wrapping_sub(sum) } else { value }, true);
                sum = value;
            }
        }
        if differences {
            for rows in &self.entities {
                let mut before = 0i64;
                let of_entity = cells.get_mut(rows.clone()).into_iter().flatten();
                for (cell, _) in
                    of_entity.zip(is_there.get(rows.clone()).into_iter().flatten()).filter(|(_, there)| **there)
                {
                    before = before.wrapping_add(*cell);
                    *cell = before;
                }
            }
        }
        cells
    }
}

/// Seals rows. `columns` are the stored columns of the table. What comes out is not compressed yet.
pub(crate) fn encode(columns: &[Column], block: &Block, symbols: &Symbols) -> Result<Vec<u8>, ParquetError> {
    let field = |name: &str, ty: Physical, repetition: Repetition| {
        Schema::primitive_type_builder(name, ty).with_repetition(repetition).build().map(Arc::new)
    };
    let layout = Layout::of(columns, block);
    let mut fields = vec![field(TICK, Physical::INT64, Repetition::REQUIRED)?];
    let mut properties = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_created_by("twinscope".into())
        .set_dictionary_enabled(false)
        .set_column_encoding(ColumnPath::from(TICK), Encoding::DELTA_BINARY_PACKED);
    for (column, cells) in columns.iter().zip(&block.columns) {
        let holes = cells.contains(&NULL);
        fields.push(field(
            column.name,
            physical(column.ty),
            if holes { Repetition::OPTIONAL } else { Repetition::REQUIRED },
        )?);
        let path = ColumnPath::from(column.name);
        properties = match column.ty {
            Type::Int => properties.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED),
            Type::Real => properties.set_column_encoding(path, Encoding::BYTE_STREAM_SPLIT),
            // A dictionary puts a length of four bytes between any two texts, which is in the way of zstd.
            Type::Text if is_distinct(cells) => properties.set_column_encoding(path, Encoding::DELTA_LENGTH_BYTE_ARRAY),
            Type::Text => properties.set_column_dictionary_enabled(path, true),
        };
    }
    let schema = Arc::new(Schema::group_type_builder("rows").with_fields(fields).build()?);
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build()))?;
    let mut group = file.next_row_group()?;
    if let Some(mut column) = group.next_column()? {
        column.typed::<Int64Type>().write_batch(&layout.ticks(&block.tick), None, None)?;
        column.close()?;
    }
    for (declared, cells) in columns.iter().zip(&block.columns) {
        let Some(mut column) = group.next_column()? else { break };
        let holes = cells.contains(&NULL);
        let stored = || layout.order.iter().filter_map(|&row| cells.get(row));
        let levels: Option<Vec<i16>> = holes.then(|| stored().map(|&c| i16::from(c != NULL)).collect());
        let present = stored().copied().filter(|&c| c != NULL);
        match declared.ty {
            Type::Int if is_difference(declared) => {
                let values = layout.differences(cells);
                column.typed::<Int64Type>().write_batch(&values, levels.as_deref(), None)?;
            }
            Type::Int => {
                column.typed::<Int64Type>().write_batch(&present.collect::<Vec<_>>(), levels.as_deref(), None)?;
            }
            Type::Real => {
                let values: Vec<f64> = present.map(|c| f64::from_bits(c as u64)).collect();
                column.typed::<DoubleType>().write_batch(&values, levels.as_deref(), None)?;
            }
            Type::Text => {
                let values: Vec<ByteArray> = present.map(|c| ByteArray::from(symbols.text(c).unwrap_or(""))).collect();
                column.typed::<ByteArrayType>().write_batch(&values, levels.as_deref(), None)?;
            }
        }
        column.close()?;
    }
    group.close()?;
    file.into_inner()
}

/// Compresses a segment that is stored by itself.
pub(crate) fn compress(plain: &[u8]) -> Result<Vec<u8>, ParquetError> {
    crate::pack(plain, crate::LEVEL).map_err(|e| ParquetError::General(e.to_string()))
}

/// Reads a segment back, compressed or not. `columns` are the stored columns of the table; only those `wanted` are decoded. Strings are added to `symbols`.
///
/// # Errors
/// In words, where the bytes are not what [`encode`] writes.
pub fn decode(bytes: &[u8], columns: &[Column], wanted: &[bool], symbols: &mut Symbols) -> Result<Block, String> {
    // The Parquet reader checks most of what it reads; what it does not check must still not end the program.
    files::foreign::caught(|| decode_checked(bytes, columns, wanted, symbols))
        .unwrap_or_else(|| Err("the Parquet data are corrupt".into()))
}

/// Whether the bytes of a segment are as they were written, by their checksum. Much cheaper than [`decode`].
///
/// # Errors
/// In words, where they are not.
pub(crate) fn check(bytes: &[u8]) -> Result<(), String> {
    if bytes.starts_with(PARQUET) {
        // Its pack was checked when it came from there.
        return Ok(());
    }
    zstd::stream::copy_decode(bytes, std::io::sink()).map_err(|e| format!("zstd: {e}"))
}

fn decode_checked(bytes: &[u8], columns: &[Column], wanted: &[bool], symbols: &mut Symbols) -> Result<Block, String> {
    let plain = if bytes.starts_with(PARQUET) { bytes.to_vec() } else { crate::unpack(bytes, MOST_BYTES)? };
    let file = SerializedFileReader::new(bytes::Bytes::from(plain)).map_err(|e| e.to_string())?;
    let schema = file.metadata().file_metadata().schema_descr_ptr();
    let groups: Vec<_> = (0..file.num_row_groups())
        .map(|g| file.get_row_group(g))
        .collect::<Result<_, _>>()
        .map_err(|e| e.to_string())?;
    let total: i64 = groups.iter().fold(0i64, |sum, g| sum.saturating_add(g.metadata().num_rows()));
    if !(0..=MOST_ROWS).contains(&total) {
        return Err(format!("{total} rows are said to be in one segment"));
    }
    let position = |name: &str| (0..schema.num_columns()).find(|&i| schema.column(i).name() == name);
    let mut block = Block { tick: Vec::new(), columns: vec![Vec::new(); columns.len()] };
    for group in &groups {
        let rows = group.metadata().num_rows() as usize;
        let reader = |at: usize| {
            check_dictionary(group.as_ref(), at)?;
            group.get_column_reader(at).map_err(|e| e.to_string())
        };
        let Some(at) = position(TICK) else { return Err("no column of ticks".into()) };
        let ColumnReader::Int64ColumnReader(mut column) = reader(at)? else { return Err("ticks are not INT64".into()) };
        let mut stored: Vec<i64> = Vec::new();
        column.read_records(rows, None, None, &mut stored).map_err(|e| e.to_string())?;
        let (layout, ticks) = Layout::read(&stored)?;
        block.tick.extend(ticks);
        for ((column, &wanted), into) in columns.iter().zip(wanted).zip(&mut block.columns) {
            if !wanted {
                continue;
            }
            let Some(at) = position(column.name) else { return Err(format!("no column {}", column.name)) };
            let mut levels: Vec<i16> = Vec::new();
            let optional = schema.column(at).max_def_level() > 0;
            let levels_in = optional.then_some(&mut levels);
            let cells: Vec<i64> = match (reader(at)?, column.ty) {
                (ColumnReader::Int64ColumnReader(mut r), Type::Int) => {
                    let mut values = Vec::new();
                    r.read_records(rows, levels_in, None, &mut values).map_err(|e| e.to_string())?;
                    values
                }
                (ColumnReader::DoubleColumnReader(mut r), Type::Real) => {
                    let mut values = Vec::new();
                    r.read_records(rows, levels_in, None, &mut values).map_err(|e| e.to_string())?;
                    values.into_iter().map(model::real).collect()
                }
                (ColumnReader::ByteArrayColumnReader(mut r), Type::Text) => {
                    let mut values: Vec<ByteArray> = Vec::new();
                    r.read_records(rows, levels_in, None, &mut values).map_err(|e| e.to_string())?;
                    // Runs of one string are the rule.
                    let mut last: Option<(ByteArray, i64)> = None;
                    let cells = values.into_iter().map(|value| match &last {
                        Some((text, cell)) if *text == value => *cell,
                        _ => {
                            let cell = symbols.cell_bytes(value.data());
                            last = Some((value, cell));
                            cell
                        }
                    });
                    cells.collect()
                }
                _ => return Err(format!("column {} is not of its declared type", column.name)),
            };
            let there = optional.then_some(levels.as_slice());
            let places = there.map_or(cells.len(), <[i16]>::len);
            if places != layout.order.len() {
                return Err(format!("column {} has {places} rows, the ticks have {}", column.name, layout.order.len()));
            }
            into.extend(layout.restore(&cells, there, is_difference(column)));
        }
    }
    Ok(block)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Unit;
    use proptest::prelude::*;

    fn columns() -> Vec<Column> {
        vec![
            Column::label("name", "a name"),
            Column::counter("count", Unit::None, "a count"),
            Column::real("level", Unit::None, "a level"),
        ]
    }

    proptest! {
        #[test]
        fn what_is_sealed_is_read(rows in proptest::collection::vec((any::<i32>(), "[a-c]{0,2}", any::<i64>(), any::<f64>(), any::<u8>()), 0..300)) {
            let mut symbols = Symbols::default();
            let mut block = Block { tick: vec![], columns: vec![vec![]; 3] };
            for (tick, name, count, level, holes) in &rows {
                block.tick.push(*tick);
                block.columns[0].push(if holes & 1 == 1 { NULL } else { symbols.cell(name) });
                block.columns[1].push(if holes & 6 == 6 { NULL } else { *count });
                block.columns[2].push(if holes & 8 == 8 { NULL } else { model::real(*level) });
            }
            let plain = encode(&columns(), &block, &symbols).unwrap();
            prop_assert_eq!(&decode(&plain, &columns(), &[true, true, true], &mut symbols).unwrap(), &block);
            let bytes = compress(&plain).unwrap();
            prop_assert_eq!(&decode(&bytes, &columns(), &[true, true, true], &mut symbols).unwrap(), &block);
            prop_assert_eq!(check(&bytes), Ok(()));
            let part = decode(&bytes, &columns(), &[false, true, false], &mut symbols).unwrap();
            prop_assert_eq!(&part.columns[1], &block.columns[1]);
            prop_assert!(part.columns[0].is_empty());
        }

        #[test]
        fn damage_is_an_error(at in 0usize..200, flip in 1u8..) {
            let mut symbols = Symbols::default();
            let name = symbols.cell("x");
            let block = Block { tick: vec![0, 1], columns: vec![vec![name, name], vec![1, NULL], vec![0, 0]] };
            let mut bytes = compress(&encode(&columns(), &block, &symbols).unwrap()).unwrap();
            let at = at % bytes.len();
            bytes[at] ^= flip;
            let _ = decode(&bytes, &columns(), &[true, true, true], &mut symbols);
            bytes.truncate(at);
            prop_assert!(decode(&bytes, &columns(), &[true, true, true], &mut symbols).is_err());
        }
    }
}

//! Tables in Parquet, row by row. What a column is, its description may say: Arrow's schema, which writers put beside Parquet's own, holds names and values
//! for each field (arrow.apache.org/docs/format/Columnar.html, Schema.fbs).

use super::arrow;
use super::preset::Preset;
use super::table::{Cell, Described, Grid, Head};
use model::Kind;
use parquet::basic::{ConvertedType, LogicalType, Type as Physical};
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::record::Field;
use std::borrow::Cow;
use std::collections::HashMap;

/// Most columns: what is beyond is no table.
const MOST: usize = 100_000;

/// An open file.
pub(crate) struct Parquet {
    reader: Box<dyn FileReader>,
    heads: Vec<Head>,
    /// What becomes of each column of the file.
    columns: Vec<As>,
    /// Lists of which nothing says what they are: they are left out.
    pub(crate) lists: usize,
}

/// What becomes of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
enum As {
    /// A column.
    Itself,
    /// A histogram: a column for each of [`QUANTILES`].
    Quantiles(H2),
}

/// The quantiles that histograms become: what they are called, and the share of values below them.
const QUANTILES: [(&str, f64); 4] = [("0.5", 0.5), ("0.9", 0.9), ("0.99", 0.99), ("0.999", 0.999)];

/// How the buckets of a histogram lie: up to 2^(grouping power + 1) each value has one, beyond that each power of two has 2^(grouping power) of them (H2,
/// h2histogram.org).
#[derive(Clone, Copy, Debug, PartialEq)]
struct H2 {
    grouping: u32,
}

impl H2 {
    /// The least value of a bucket.
    fn low(self, bucket: u64) -> f64 {
        let each = 1u64 << self.grouping;
        let (group, place) = (bucket >> self.grouping, bucket & (each - 1));
        match group.checked_sub(1) {
            None => place as f64,
            Some(power) => (each + place) as f64 * 2f64.powi(power.min(64) as i32),
        }
    }

    /// The value below which a share of the counted values lie; `None` where there are none.
    fn quantile(self, counts: &[u64], share: f64) -> Option<f64> {
        let total: f64 = counts.iter().map(|count| *count as f64).sum();
        let (mut before, wanted) = (0.0, share * total);
        for (bucket, count) in (0..).zip(counts).filter(|(_, count)| **count > 0) {
            let count = *count as f64;
            if before + count >= wanted {
                let (low, high) = (self.low(bucket), self.low(bucket + 1));
                return Some(low + (high - low) * ((wanted - before) / count).clamp(0.0, 1.0));
            }
            before += count;
        }
        None
    }
}

/// What was counted in the buckets of a histogram since the row before; nothing where it was reset, or there was none.
fn since(last: Option<&Vec<u64>>, now: &[u64]) -> Option<Vec<u64>> {
    let last = last.filter(|last| last.len() == now.len())?;
    now.iter().zip(last).map(|(now, last)| now.checked_sub(*last)).collect()
}

/// The counts of a list.
fn counts(field: &Field) -> Option<Vec<u64>> {
    let Field::ListInternal(list) = field else { return None };
    let count = |field: &Field| match field {
        Field::ULong(count) => Some(*count),
        Field::UInt(count) => Some(u64::from(*count)),
        Field::Long(count) => u64::try_from(*count).ok(),
        Field::Int(count) => u64::try_from(*count).ok(),
        _ => None,
    };
    list.elements().iter().map(count).collect()
}

impl Parquet {
    /// Opens a file.
    ///
    /// # Errors
    /// In words.
    pub(crate) fn open(file: impl ChunkReader + 'static, preset: Option<&Preset>) -> Result<Parquet, String> {
        guarded(|| Parquet::opened(file, preset))?
    }

    fn opened(file: impl ChunkReader + 'static, preset: Option<&Preset>) -> Result<Parquet, String> {
        let reader = SerializedFileReader::new(file).map_err(|why| why.to_string())?;
        let metadata = reader.metadata().file_metadata();
        let schema = metadata.schema();
        if schema.get_fields().len() > MOST {
            return Err(format!("{} columns", schema.get_fields().len()));
        }
        let described = preset.is_none_or(|preset| preset.described);
        let arrow = metadata.key_value_metadata().into_iter().flatten().find(|pair| pair.key == "ARROW:schema");
        let arrow =
            arrow.and_then(|pair| pair.value.as_deref()).filter(|_| described).map(arrow::fields).unwrap_or_default();
        let (mut lists, mut heads, mut columns) = (0, Vec::new(), Vec::new());
        for field in schema.get_fields() {
            let name = field.name().to_owned();
            if !field.is_primitive() {
                if let Some((h2, described)) = arrow.get(&name).and_then(|pairs| histogram(pairs)) {
                    columns.push(As::Quantiles(h2));
                    heads.extend(QUANTILES.map(|(quantile, _)| {
                        let mut described = described.clone();
                        described.labels.push(("quantile".into(), quantile.into()));
                        let name = format!("{name} {quantile}");
                        Head { name, numeric: Some(true), described: Some(described), ..Head::default() }
                    }));
                    continue;
                }
                lists += 1;
                columns.push(As::Itself);
                heads.push(Head { name, numeric: Some(false), ..Head::default() });
                continue;
            }
            let info = field.get_basic_info();
            let (unsigned, number) =
                (is_unsigned(info.converted_type()), is_number(field.get_physical_type(), info.converted_type()));
            let is_time = matches!(info.logical_type_ref(), Some(LogicalType::Timestamp(_)))
                || matches!(info.converted_type(), ConvertedType::TIMESTAMP_MILLIS | ConvertedType::TIMESTAMP_MICROS);
            let described = arrow.get(&name).and_then(|pairs| description(pairs));
            columns.push(As::Itself);
            heads.push(Head { name, numeric: Some(number && !is_time), unsigned, is_time, described });
        }
        Ok(Parquet { reader: Box::new(reader), heads, columns, lists })
    }

    pub(crate) fn header(&self) -> Vec<String> {
        self.heads.iter().map(|head| head.name.clone()).collect()
    }
}

/// Writers put the older name of a type beside the newer.
fn is_unsigned(converted: ConvertedType) -> bool {
    matches!(
        converted,
        ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64
    )
}

fn is_number(physical: Physical, converted: ConvertedType) -> bool {
    matches!(physical, Physical::INT32 | Physical::INT64 | Physical::FLOAT | Physical::DOUBLE)
        && !matches!(converted, ConvertedType::TIMESTAMP_MILLIS | ConvertedType::TIMESTAMP_MICROS | ConvertedType::DATE)
}

/// What Rezolus says of a column: the metric, its type, its unit; all else are labels.
fn description(pairs: &[(String, String)]) -> Option<Described> {
    let value = |name: &str| pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
    let metric = value("metric")?;
    let kind = match value("metric_type").as_deref() {
        Some("counter") => Some(Kind::Counter),
        Some("gauge") => Some(Kind::Gauge),
        _ => None,
    };
    let known = ["metric", "metric_type", "unit", "description", "name", "grouping_power", "max_value_power"];
    let labels = pairs.iter().filter(|(key, _)| !known.contains(&key.as_str())).cloned().collect();
    Some(Described { metric, kind, unit: value("unit").unwrap_or_default(), labels })
}

/// The buckets of a column that is a histogram, and what its quantiles are: levels.
fn histogram(pairs: &[(String, String)]) -> Option<(H2, Described)> {
    let value = |name: &str| pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    value("metric_type").filter(|kind| *kind == "histogram")?;
    let grouping = value("grouping_power")?.parse().ok().filter(|power| *power < 32)?;
    let described = description(pairs)?;
    Some((H2 { grouping }, Described { kind: Some(Kind::Gauge), ..described }))
}

impl Grid for Parquet {
    fn heads(&self) -> &[Head] {
        &self.heads
    }

    fn rows(&self, take: &mut dyn FnMut(usize, &[Cell<'_>]) -> bool) -> Result<(), String> {
        guarded(|| {
            dictionaries(&*self.reader)?;
            let rows = self.reader.get_row_iter(None).map_err(|why| why.to_string())?;
            let mut before: HashMap<usize, Vec<u64>> = HashMap::new();
            for (number, row) in (1..).zip(rows) {
                let row = row.map_err(|why| format!("row {number}: {why}"))?;
                let mut cells: Vec<Cell<'_>> = Vec::with_capacity(self.heads.len());
                for ((at, (_, field)), column) in row.get_column_iter().enumerate().zip(&self.columns) {
                    let As::Quantiles(h2) = column else {
                        cells.push(cell(field));
                        continue;
                    };
                    let counts = counts(field);
                    let new = counts.as_ref().and_then(|counts| since(before.get(&at), counts));
                    cells.extend(QUANTILES.map(|(_, share)| {
                        let value = new.as_ref().and_then(|new| h2.quantile(new, share));
                        value.map_or(Cell::None, Cell::Real)
                    }));
                    match counts {
                        Some(counts) => before.insert(at, counts),
                        None => before.remove(&at),
                    };
                }
                if !take(number, &cells) {
                    break;
                }
            }
            Ok(())
        })?
    }
}

/// Checks all dictionaries, before rows are read.
fn dictionaries(reader: &dyn FileReader) -> Result<(), String> {
    for group in 0..reader.num_row_groups() {
        let columns = reader.get_row_group(group).map_err(|why| why.to_string())?;
        (0..columns.num_columns()).try_for_each(|column| store::check_dictionary(columns.as_ref(), column))?;
    }
    Ok(())
}

fn cell(field: &Field) -> Cell<'_> {
    match field {
        Field::Bool(value) => Cell::Integer(i64::from(*value)),
        Field::Byte(value) => Cell::Integer(i64::from(*value)),
        Field::Short(value) => Cell::Integer(i64::from(*value)),
        Field::Int(value) => Cell::Integer(i64::from(*value)),
        Field::Long(value) => Cell::Integer(*value),
        Field::UByte(value) => Cell::Integer(i64::from(*value)),
        Field::UShort(value) => Cell::Integer(i64::from(*value)),
        Field::UInt(value) => Cell::Integer(i64::from(*value)),
        Field::ULong(value) => i64::try_from(*value).map_or(Cell::Real(*value as f64), Cell::Integer),
        Field::Float(value) => Cell::Real(f64::from(*value)),
        Field::Double(value) => Cell::Real(*value),
        Field::Date(days) => Cell::Integer(i64::from(*days) * 86_400),
        Field::TimestampMillis(value) => value.checked_mul(1_000_000).map_or(Cell::None, Cell::Integer),
        Field::TimestampMicros(value) => value.checked_mul(1000).map_or(Cell::None, Cell::Integer),
        Field::Str(text) => Cell::Text(Cow::from(text.as_str())),
        Field::Bytes(bytes) => Cell::Text(String::from_utf8_lossy(bytes.data())),
        _ => Cell::None,
    }
}

/// The reader of Parquet panics at some damage, which is damage like any other.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    files::foreign::caught(work).ok_or_else(|| "the file is damaged".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_of_h2() {
        let h2 = H2 { grouping: 3 };
        let lows: Vec<f64> = [0, 1, 15, 16, 17, 23, 24, 32, 496].map(|bucket| h2.low(bucket)).to_vec();
        assert_eq!(lows, [0.0, 1.0, 15.0, 16.0, 18.0, 30.0, 32.0, 64.0, 2f64.powi(64)]);
        assert_eq!(h2.quantile(&[0, 0, 10, 0, 10], 0.5), Some(3.0));
        assert_eq!(h2.quantile(&[0; 5], 0.5), None);
        assert_eq!(since(Some(&vec![1, 5]), &[2, 4]), None, "it was reset");
        assert_eq!(since(Some(&vec![1, 5]), &[2, 5]), Some(vec![1, 0]));
        assert_eq!([since(None, &[1]), since(Some(&vec![1]), &[1, 2])], [None, None]);
    }

    #[test]
    fn a_dictionary_of_more_values_than_bytes_is_damage_and_no_memory() {
        let mut bytes = include_bytes!("../../../../fixtures/imports/tables/described.parquet").to_vec();
        // The header of the first page, a dictionary of ten values (10 as a zigzag varint): 2^30 and eight, as the fuzzer found it.
        assert_eq!(bytes[12..15], [0x4c, 0x15, 0x14]);
        bytes.splice(14..15, [0x90, 0x80, 0x80, 0x80, 0x08]);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.parquet");
        std::fs::write(&path, bytes).unwrap();
        // What is beyond the first page lies elsewhere now, but that is not looked at any more.
        let table = Parquet::open(std::fs::File::open(&path).unwrap(), None).unwrap();
        let why = table.rows(&mut |_, _| true).unwrap_err();
        assert!(why.contains("a dictionary of 1073741832 values in "), "{why}");
    }
}

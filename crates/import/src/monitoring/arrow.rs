//! Arrow's schema as Parquet files carry it: base64 of a message of Flatbuffers, of which names of fields and their pairs of texts are read. The layout is that of
//! Arrow's Schema.fbs and Message.fbs and of Flatbuffers' "internals" page; each place is checked before it is believed.

use std::collections::HashMap;

/// Most fields, and pairs of one field.
const MOST: u32 = 100_000;

/// By the name of a field, its pairs; empty where the schema cannot be read.
pub(crate) fn fields(base64: &str) -> HashMap<String, Vec<(String, String)>> {
    decode(base64).and_then(|bytes| schema(&bytes)).unwrap_or_default()
}

/// Base64 of RFC 4648.
fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0);
    for byte in text.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' => break,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    Some(bytes)
}

/// A table of Flatbuffers.
#[derive(Clone, Copy)]
struct Table<'a> {
    bytes: &'a [u8],
    at: usize,
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at.checked_add(4)?)?.try_into().ok().map(u32::from_le_bytes)
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at.checked_add(2)?)?.try_into().ok().map(u16::from_le_bytes)
}

/// Where a reference at a place leads.
fn follow(bytes: &[u8], at: usize) -> Option<usize> {
    at.checked_add(word(bytes, at)? as usize).filter(|to| *to < bytes.len())
}

impl<'a> Table<'a> {
    /// Where the `number`th field lies; none where it has its default.
    fn field(&self, number: usize) -> Option<usize> {
        let back = word(self.bytes, self.at)? as i32;
        let list = usize::try_from(i64::try_from(self.at).ok()?.checked_sub(i64::from(back))?).ok()?;
        let size = usize::from(half(self.bytes, list)?);
        let place = 4 + 2 * number;
        if place + 2 > size {
            return None;
        }
        let offset = usize::from(half(self.bytes, list.checked_add(place)?)?);
        (offset > 0).then(|| self.at.checked_add(offset))?
    }

    fn table(&self, number: usize) -> Option<Table<'a>> {
        Some(Table { bytes: self.bytes, at: follow(self.bytes, self.field(number)?)? })
    }

    fn text(&self, number: usize) -> Option<String> {
        let at = follow(self.bytes, self.field(number)?)?;
        let length = word(self.bytes, at)? as usize;
        let from = at.checked_add(4)?;
        Some(String::from_utf8_lossy(self.bytes.get(from..from.checked_add(length)?)?).into_owned())
    }

    /// The tables of a vector.
    fn tables(&self, number: usize) -> Vec<Table<'a>> {
        let Some(at) = self.field(number).and_then(|field| follow(self.bytes, field)) else { return Vec::new() };
        let count = word(self.bytes, at).unwrap_or(0).min(MOST) as usize;
        (0..count)
            .map_while(|i| follow(self.bytes, at.checked_add(4 + 4 * i)?))
            .map(|at| Table { bytes: self.bytes, at })
            .collect()
    }
}

fn schema(bytes: &[u8]) -> Option<HashMap<String, Vec<(String, String)>>> {
    // A message of the stream format: a mark, the length, then the message, whose header is the schema.
    let start = if word(bytes, 0)? == u32::MAX { 8 } else { 4 };
    let message = bytes.get(start..)?;
    let message = Table { bytes: message, at: follow(message, 0)? };
    let schema = message.table(2)?;
    let mut fields = HashMap::new();
    for field in schema.tables(1) {
        let Some(name) = field.text(0) else { continue };
        let pairs = field.tables(6).into_iter().take(100);
        let pairs = pairs.filter_map(|pair| Some((pair.text(0)?, pair.text(1).unwrap_or_default()))).collect();
        fields.insert(name, pairs);
    }
    Some(fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// `pyarrow.schema([pyarrow.field("cpu_usage/0", pyarrow.uint64(), metadata={"metric": "cpu_usage", "id": "0"})])`, as pyarrow writes it.
    const SCHEMA: &str = include_str!("../../../../fixtures/imports/tables/schema.base64");

    #[test]
    fn descriptions_of_fields() {
        let fields = fields(SCHEMA.trim());
        let mut pairs = fields["cpu_usage/0"].clone();
        pairs.sort();
        let own: Vec<(&str, &str)> = pairs.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(own, [("id", "0"), ("metric", "cpu_usage"), ("metric_type", "counter")]);
        assert!(fields.contains_key("timestamp"));
    }

    proptest! {
        #[test]
        fn damage_is_nothing(at in 0..2000_usize, byte in any::<u8>(), cut in 0..2000_usize) {
            let mut bytes = decode(SCHEMA.trim()).unwrap();
            let length = bytes.len();
            bytes[at % length] = byte;
            bytes.truncate(cut.max(1));
            let _ = schema(&bytes);
        }

        #[test]
        fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200), text in ".{0,100}") {
            let _ = schema(&bytes);
            let _ = fields(&text);
        }
    }
}

//! The open tail: what one commit adds, as compact bytes. See docs/recording-format.md, "Tail".
//!
//! A commit is a list of chunks, one a read of a table: table id, time, number of rows, then all cells. Numbers are LEB128; a cell is 0 for
//! "nothing read", else its zigzag value plus one.

use model::NULL;

/// One read of one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Which table.
    pub table: u32,
    /// When it was read, nanoseconds since the start of the recording.
    pub t: i64,
    /// Number of cells in a row.
    pub width: usize,
    /// The cells, row after row.
    pub cells: Vec<i64>,
}

fn put(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Appends a chunk to the bytes of a commit.
pub(crate) fn encode(bytes: &mut Vec<u8>, table: u32, t: i64, width: usize, cells: &[i64]) {
    put(bytes, u64::from(table));
    put(bytes, zigzag(t));
    put(bytes, width as u64);
    put(bytes, (cells.len() / width.max(1)) as u64);
    for &cell in cells {
        // The zigzag of NULL is the greatest u64, and 0 stands for it.
        put(bytes, zigzag(cell).wrapping_add(1));
    }
}

/// The numbers of a commit or of a list of ticks.
struct Numbers<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Numbers<'_> {
    fn next(&mut self) -> Result<u64, String> {
        let (mut value, mut shift) = (0u64, 0u32);
        loop {
            let byte = *self.bytes.get(self.at).ok_or_else(|| format!("ends inside a number at byte {}", self.at))?;
            self.at += 1;
            if shift > 63 {
                return Err(format!("a number of more than 64 bits at byte {}", self.at));
            }
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
            shift += 7;
        }
    }

    fn left(&self) -> usize {
        self.bytes.len().saturating_sub(self.at)
    }
}

/// The chunks of a commit. What comes after an error is lost; the chunks before it are returned with it.
pub fn decode(bytes: &[u8]) -> (Vec<Chunk>, Option<String>) {
    let mut numbers = Numbers { bytes, at: 0 };
    let mut chunks = Vec::new();
    while numbers.left() > 0 {
        match chunk(&mut numbers) {
            Ok(chunk) => chunks.push(chunk),
            Err(why) => return (chunks, Some(why)),
        }
    }
    (chunks, None)
}

fn chunk(numbers: &mut Numbers<'_>) -> Result<Chunk, String> {
    let table = u32::try_from(numbers.next()?).map_err(|_| "a table number beyond 32 bits".to_owned())?;
    let t = unzigzag(numbers.next()?);
    let width = numbers.next()?;
    let rows = numbers.next()?;
    let count = width.checked_mul(rows).and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX);
    // Each cell takes a byte at least: a length that lies cannot make us allocate.
    if count > numbers.left() {
        return Err(format!("{rows} rows of {width} cells are said to follow, {} bytes are left", numbers.left()));
    }
    let mut cells = Vec::with_capacity(count);
    for _ in 0..count {
        let value = numbers.next()?;
        cells.push(if value == 0 { NULL } else { unzigzag(value - 1) });
    }
    Ok(Chunk { table, t, width: width as usize, cells })
}

/// Times of reads, ascending, as LEB128 differences.
pub(crate) fn encode_ticks(ticks: &[i64]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut last = 0i64;
    for &t in ticks {
        put(&mut bytes, zigzag(t.wrapping_sub(last)));
        last = t;
    }
    bytes
}

/// The times that [`encode_ticks`] wrote.
pub fn decode_ticks(bytes: &[u8]) -> Result<Vec<i64>, String> {
    let mut numbers = Numbers { bytes, at: 0 };
    let (mut ticks, mut last) = (Vec::new(), 0i64);
    while numbers.left() > 0 {
        let t = last.wrapping_add(unzigzag(numbers.next()?));
        if !ticks.is_empty() && t < last {
            return Err(format!("times that run backwards at byte {}", numbers.at));
        }
        ticks.push(t);
        last = t;
    }
    Ok(ticks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(cells: Vec<i64>, t: i64, table: u32) {
            let mut bytes = Vec::new();
            encode(&mut bytes, table, t, 1, &cells);
            encode(&mut bytes, table, t, 1, &[]);
            let (chunks, error) = decode(&bytes);
            prop_assert_eq!(error, None);
            prop_assert_eq!(&chunks[0], &Chunk { table, t, width: 1, cells });
            prop_assert_eq!(chunks.len(), 2);
        }

        #[test]
        fn foreign_bytes_never_panic(bytes: Vec<u8>) {
            let _ = (decode(&bytes), decode_ticks(&bytes));
        }

        #[test]
        fn ticks_come_back(mut ticks: Vec<i64>) {
            ticks.iter_mut().for_each(|t| *t /= 2);
            ticks.sort_unstable();
            prop_assert_eq!(decode_ticks(&encode_ticks(&ticks)).unwrap(), ticks);
        }
    }

    #[test]
    fn a_lying_length_is_refused() {
        let mut bytes = Vec::new();
        for n in [1, 2, 1 << 40, 1 << 40] {
            put(&mut bytes, n);
        }
        assert!(decode(&bytes).1.unwrap().contains("bytes are left"));
    }
}

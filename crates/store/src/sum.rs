//! Checksums of what no other layer checks: SQLite has none for its pages, zstd has its own.

/// FNV-1a of 32 bits (Fowler, Noll, Vo; RFC 9923): enough to see bits that flipped on a disk. It covers the keys of the blob's row too: a
/// blob must not become that of another row.
fn sum(key: [i64; 2], bytes: &[u8]) -> [u8; 4] {
    let key = key.iter().flat_map(|n| n.to_le_bytes());
    let hash = |h: u32, b: u8| (h ^ u32::from(b)).wrapping_mul(0x0100_0193);
    key.chain(bytes.iter().copied()).fold(0x811c_9dc5, hash).to_le_bytes()
}

/// The bytes after their checksum.
pub fn add(key: [i64; 2], bytes: &[u8]) -> Vec<u8> {
    [&sum(key, bytes)[..], bytes].concat()
}

/// What [`add`] was given.
pub(crate) fn check(key: [i64; 2], bytes: &[u8]) -> Result<&[u8], String> {
    match bytes.split_first_chunk() {
        Some((head, rest)) if *head == sum(key, rest) => Ok(rest),
        Some(_) => Err("its checksum says that bytes have changed".into()),
        None => Err("shorter than its checksum".into()),
    }
}

/// The checksum of a list of rows of numbers, whatever their order: the sum of the FNV-1a of 64 bits of each. A row that is lost, or
/// that went to another table, shows in it.
pub(crate) fn of_list<const N: usize>(rows: impl Iterator<Item = [i64; N]>) -> i64 {
    let hash = |h: u64, b: u8| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3);
    let row = |row: [i64; N]| row.iter().flat_map(|n| n.to_le_bytes()).fold(0xcbf2_9ce4_8422_2325, hash);
    rows.map(row).fold(0, u64::wrapping_add).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_flipped_bit_is_seen() {
        let whole = add([1, 2], b"rows");
        assert_eq!(check([1, 2], &whole), Ok(&b"rows"[..]));
        assert!(check([1, 3], &whole).is_err() && check([1, 2], &whole[..3]).is_err());
        for bit in 0..whole.len() * 8 {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(check([1, 2], &flipped).is_err(), "bit {bit}");
        }
    }
}

//! Numbers as JFR compresses them: seven bits a byte, the lowest first; of nine bytes the last has eight.

use crate::bytes::Bytes;

pub(super) trait Numbers {
    /// A number; `None` where it is cut off.
    fn number(&mut self) -> Option<i64>;
    /// Eight bytes, the highest first.
    fn be64(&mut self) -> Option<u64>;
}

impl Numbers for Bytes<'_> {
    fn number(&mut self) -> Option<i64> {
        let mut n = 0u64;
        for (i, &byte) in self.0.iter().take(9).enumerate() {
            let last = i == 8;
            n |= u64::from(if last { byte } else { byte & 0x7f }) << (7 * i);
            if last || byte < 0x80 {
                self.0 = self.0.get(i + 1..)?;
                return Some(n as i64);
            }
        }
        None
    }

    fn be64(&mut self) -> Option<u64> {
        Some(u64::from_be_bytes(self.take(8)?.try_into().ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        let mut bytes = Bytes(&[
            5, 0x80, 1, 0xff, 0xff, 0xff, 0xff, 0x0f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x80,
        ]);
        assert_eq!((bytes.number(), bytes.number()), (Some(5), Some(128)));
        assert_eq!((bytes.number(), bytes.number()), (Some(0xffff_ffff), Some(-1)));
        assert_eq!((bytes.number(), bytes.0.len()), (None, 1));
    }
}

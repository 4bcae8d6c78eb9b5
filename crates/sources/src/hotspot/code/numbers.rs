//! Compressed numbers as HotSpot keeps them (`unsigned5.hpp`): five digits at most of base 64, the last of which may be any byte; up to 19 zero is a byte too.

/// Reads them, one after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers<'a> {
    bytes: &'a [u8],
    /// What is subtracted from each byte.
    excluded: u8,
}

/// Bytes from here on are followed by another.
const MORE: u8 = 192;

impl<'a> Numbers<'a> {
    pub fn new(bytes: &'a [u8], excluded: u8) -> Self {
        Numbers { bytes, excluded }
    }

    pub fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }

    pub fn unsigned(&mut self) -> Option<u32> {
        let mut number = 0u32;
        for digit in 0..5 {
            let byte = self.byte()?;
            let value = u32::from(byte.checked_sub(self.excluded)?);
            number = number.wrapping_add(value.wrapping_shl(6 * digit));
            if byte < MORE || digit == 4 {
                return Some(number);
            }
        }
        None
    }

    pub fn signed(&mut self) -> Option<i32> {
        let number = self.unsigned()?;
        Some((number >> 1) as i32 ^ -((number & 1) as i32))
    }
}

/// The lines of a method (`compressedStream.hpp`): pairs of where in the bytecode a line begins, and its number, ascending by the former. `None` where the
/// bytes end before the table does.
pub(super) fn lines(bytes: &[u8], excluded: u8) -> Option<Vec<(u16, u16)>> {
    let mut numbers = Numbers::new(bytes, excluded);
    let (mut at, mut line) = (0i32, 0i32);
    let mut found = Vec::new();
    loop {
        match numbers.byte()? {
            0 => break,
            // Both are told in full.
            0xff => {
                at = at.wrapping_add(numbers.signed()?);
                line = line.wrapping_add(numbers.signed()?);
            }
            both => {
                at = at.wrapping_add(i32::from(both >> 3));
                line = line.wrapping_add(i32::from(both & 7));
            }
        }
        if let (Ok(at), Ok(line)) = (u16::try_from(at), u16::try_from(line)) {
            found.push((at, line));
        }
    }
    found.sort_by_key(|(at, _)| *at);
    Some(found)
}

/// The line of a place in the bytecode.
pub(super) fn line_of(lines: &[(u16, u16)], at: u32) -> Option<u16> {
    let behind = lines.partition_point(|(from, _)| u32::from(*from) <= at);
    lines.get(behind.checked_sub(1)?).map(|(_, line)| *line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// As HotSpot writes them.
    fn write(mut number: u32, excluded: u8) -> Vec<u8> {
        let mut bytes = Vec::new();
        let (low, high) = (u32::from(MORE - excluded), 64u32);
        loop {
            if number < low || bytes.len() == 4 {
                bytes.push((number + u32::from(excluded)) as u8);
                return bytes;
            }
            number -= low;
            bytes.push(MORE + (number % high) as u8);
            number /= high;
        }
    }

    #[test]
    fn what_hotspot_writes_is_read() {
        // From the comments of unsigned5.hpp.
        assert_eq!(Numbers::new(&[192, 0], 0).unsigned(), Some(192));
        assert_eq!(Numbers::new(&[192, 1], 1).unsigned(), Some(191));
        assert_eq!((Numbers::new(&[3], 0).signed(), Numbers::new(&[4], 0).signed()), (Some(-2), Some(2)));
        assert_eq!(Numbers::new(&[0], 1).unsigned(), None);
        assert_eq!(Numbers::new(&[200], 0).unsigned(), None);
    }

    #[test]
    fn lines_by_place() {
        // Line 7 from 0 on, line 9 from 5 on, line 300 from 40 on.
        let mut bytes = vec![7, 5 << 3 | 2, 0xff];
        bytes.extend([write(70, 1), write(582, 1)].concat());
        bytes.push(0);
        let lines = lines(&bytes, 1).unwrap();
        assert_eq!(lines, [(0, 7), (5, 9), (40, 300)]);
        assert_eq!([0, 4, 5, 39, 40, 900].map(|at| line_of(&lines, at)), [7, 7, 9, 9, 300, 300].map(Some));
        assert_eq!(line_of(&[(3, 1)], 2), None);
        assert_eq!(super::lines(&bytes[..4], 1), None);
    }

    proptest! {
        #[test]
        fn numbers_come_back(number: u32, excluded in 0u8..2) {
            let number = number >> 1;
            prop_assert_eq!(Numbers::new(&write(number, excluded), excluded).unsigned(), Some(number));
        }
        #[test]
        fn foreign_bytes_never_panic(bytes: Vec<u8>, excluded in 0u8..2, at: u32) {
            let mut numbers = Numbers::new(&bytes, excluded);
            while numbers.signed().is_some() {}
            if let Some(lines) = lines(&bytes, excluded) {
                let _ = line_of(&lines, at);
            }
        }
    }
}

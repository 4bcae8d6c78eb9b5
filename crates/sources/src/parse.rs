//! Parsing of what the kernel writes, byte by byte and without allocation. Nothing here panics, whatever the bytes.

use model::NULL;

/// The lines of a file, without their ends. A last line without an end counts too; an empty rest does not.
pub fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let line = rest.get(..end).unwrap_or_default();
        rest = rest.get(end + 1..).unwrap_or_default();
        Some(line)
    })
}

/// The words of a line: what spaces and tabs separate.
#[derive(Clone, Debug)]
pub struct Words<'a> {
    rest: &'a [u8],
}

/// The words of `line`.
pub fn words(line: &[u8]) -> Words<'_> {
    Words { rest: line }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let start = self.rest.iter().position(|b| !matches!(b, b' ' | b'\t'))?;
        let word = self.rest.get(start..)?;
        let end = word.iter().position(|b| matches!(b, b' ' | b'\t')).unwrap_or(word.len());
        self.rest = word.get(end..)?;
        word.get(..end)
    }
}

impl<'a> Words<'a> {
    /// The next word as a number; [`NULL`] where there is none or it is not a number.
    pub fn number(&mut self) -> i64 {
        self.next().map_or(NULL, number)
    }

    /// What is left of the line, without spaces at its ends.
    pub fn rest(&self) -> &'a [u8] {
        self.rest.trim_ascii()
    }
}

/// A whole number in decimal; [`NULL`] for anything else. Numbers beyond the range of `i64` become its greatest value: the
/// kernel writes counters as unsigned 64-bit numbers, of which only broken drivers fill more than half.
pub fn number(word: &[u8]) -> i64 {
    let (negative, digits) = match word.split_first() {
        Some((b'-', digits)) => (true, digits),
        _ => (false, word),
    };
    if digits.is_empty() {
        return NULL;
    }
    let mut value: i64 = 0;
    for &byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return NULL;
        }
        value = value.saturating_mul(10).saturating_add(i64::from(digit));
    }
    if negative { -value } else { value }
}

/// A whole number in hexadecimal, with or without `0x`; [`NULL`] for anything else.
pub fn hex(word: &[u8]) -> i64 {
    let digits = word.strip_prefix(b"0x").unwrap_or(word);
    match std::str::from_utf8(digits).ok().and_then(|text| u64::from_str_radix(text, 16).ok()) {
        Some(value) => i64::try_from(value).unwrap_or(i64::MAX),
        None => NULL,
    }
}

/// A decimal fraction, as the value times `10^places`: `fixed(b"1.25", 2)` is 125. [`NULL`] for anything else.
pub fn fixed(word: &[u8], places: u32) -> i64 {
    let dot = memchr::memchr(b'.', word).unwrap_or(word.len());
    let whole = number(word.get(..dot).unwrap_or_default());
    if whole == NULL {
        return NULL;
    }
    let negative = word.first() == Some(&b'-');
    let mut value = whole.saturating_abs();
    let digits = word.get(dot + 1..).unwrap_or_default();
    for place in 0..places as usize {
        let digit = match digits.get(place) {
            None => 0,
            Some(digit @ b'0'..=b'9') => i64::from(digit - b'0'),
            Some(_) => return NULL,
        };
        value = value.saturating_mul(10).saturating_add(digit);
    }
    if negative { -value } else { value }
}

/// Node, zone and the words after them, of a line that begins with "Node 0, zone   Normal".
pub fn zone(line: &[u8]) -> Option<(i64, &[u8], Words<'_>)> {
    let mut words = words(line.strip_prefix(b"Node ")?);
    let node = number(words.next()?.strip_suffix(b",")?);
    let named = words.next()? == b"zone";
    let name = words.next()?;
    (named && node != NULL).then_some((node, name, words))
}

/// Fills `cells` with the numbers of `words`, [`NULL`] where the line has fewer.
pub fn fill(words: &mut Words<'_>, cells: &mut [i64]) {
    for cell in cells {
        *cell = words.number();
    }
}

/// Numbers of a kernel list such as `0-3,8,10-11` (cpulist). Ranges are cut at 65,536 numbers in all.
pub fn list(text: &[u8]) -> Vec<i64> {
    const MOST: usize = 65_536;
    let mut all = Vec::new();
    for part in text.trim_ascii().split(|&b| b == b',') {
        let dash = memchr::memchr(b'-', part).unwrap_or(part.len());
        let first = number(part.get(..dash).unwrap_or_default());
        let last = if dash < part.len() { number(part.get(dash + 1..).unwrap_or_default()) } else { first };
        if first == NULL || last == NULL {
            continue;
        }
        all.extend((first..=last).take(MOST.saturating_sub(all.len())));
    }
    all
}

/// A path as the kernel writes it in lists of mounts: space, tab, newline, `#` and backslash as a backslash and three octal digits.
pub fn unescape(word: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        let octal = after.get(..3).filter(|d| first == b'\\' && d.iter().all(|b| (b'0'..=b'7').contains(b)));
        match octal {
            Some(digits) => {
                bytes.push(digits.iter().fold(0u8, |value, digit| value.wrapping_mul(8).wrapping_add(digit - b'0')));
                rest = after.get(3..).unwrap_or_default();
            }
            None => bytes.push(first),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers() {
        assert_eq!(number(b"0"), 0);
        assert_eq!(number(b"-12"), -12);
        assert_eq!(number(b"18446744073709551615"), i64::MAX);
        for bad in [&b""[..], b"-", b"1x", b" 1", b"+1", b"1.5"] {
            assert_eq!(number(bad), NULL, "{bad:?}");
        }
        assert_eq!(hex(b"0x1f"), 31);
        assert_eq!(hex(b"zz"), NULL);
        assert_eq!(fixed(b"1.25", 2), 125);
        assert_eq!(fixed(b"-0.5", 2), -50);
        assert_eq!(fixed(b"7", 3), 7000);
        assert_eq!(fixed(b"1.2x", 2), NULL);
    }

    #[test]
    fn paths_in_lists_of_mounts() {
        assert_eq!(unescape(b"a\\040b\\"), "a b\\");
        assert_eq!(unescape(b"\\134\\01"), "\\\\01");
    }

    #[test]
    fn lists() {
        assert_eq!(list(b"0-2,5\n"), [0, 1, 2, 5]);
        assert_eq!(list(b""), Vec::<i64>::new());
        assert_eq!(list(b"0-99999999999").len(), 65_536);
    }

    #[test]
    fn lines_and_words() {
        let all: Vec<_> = lines(b"a b\n\n c\td").collect();
        assert_eq!(all, [&b"a b"[..], b"", b" c\td"]);
        let found: Vec<_> = words(b"  c\td ").collect();
        assert_eq!(found, [&b"c"[..], b"d"]);
        assert_eq!(words(b"x").number(), NULL);
        let mut w = words(b"name  the rest ");
        w.next();
        assert_eq!(w.rest(), b"the rest");
    }

    proptest! {
        #[test]
        fn nothing_panics(bytes: Vec<u8>, places in 0u32..20) {
            unescape(&bytes);
            for line in lines(&bytes) {
                let _ = zone(line);
                for word in words(line) {
                    let _ = (number(word), hex(word), fixed(word, places), list(word));
                }
            }
        }

        #[test]
        fn every_number_is_read_back(value in i64::MIN + 1..=i64::MAX) {
            prop_assert_eq!(number(value.to_string().as_bytes()), value);
        }
    }
}

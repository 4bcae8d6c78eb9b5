//! Records of APerf's files, as bincode writes them: numbers in little endian, texts after their lengths of eight bytes. Each length is checked before it is
//! believed: what a file is too short for ends it.

use crate::civil;

/// Records: when, as Unix nanoseconds, and the first text behind that.
#[derive(Clone, Debug)]
pub(crate) struct Records<'a> {
    rest: &'a [u8],
    /// How many texts follow the time, and whether a number stands before them.
    texts: usize,
    number: bool,
    /// All texts of the record that was read last.
    pub(crate) last: Vec<&'a str>,
    /// Whether something stood where a record should be.
    pub(crate) damaged: bool,
}

impl<'a> Records<'a> {
    /// Records with one text.
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        Records { rest: bytes, texts: 1, number: false, last: Vec::new(), damaged: false }
    }

    /// Records with so many texts, a number before them or not.
    pub(crate) fn with(bytes: &'a [u8], texts: usize, number: bool) -> Self {
        Records { texts, number, ..Records::of(bytes) }
    }

    /// Bytes that no record was made of.
    #[cfg_attr(not(feature = "replay"), expect(dead_code))]
    pub(crate) fn left(&self) -> usize {
        self.rest.len()
    }

    fn number(&mut self, bytes: usize) -> Option<u64> {
        let (number, rest) = self.rest.split_at_checked(bytes)?;
        self.rest = rest;
        let mut word = [0; 8];
        word.get_mut(..bytes)?.copy_from_slice(number);
        Some(u64::from_le_bytes(word))
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = usize::try_from(self.number(8)?).ok()?;
        let (text, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        std::str::from_utf8(text).ok()
    }

    fn record(&mut self) -> Option<i64> {
        // Which kind of record, then which kind of time: 0 is a date.
        self.number(4)?;
        if self.number(4)? != 0 {
            return None;
        }
        let at = date(self.text()?)?;
        if self.number {
            self.number(8)?;
        }
        self.last.clear();
        for _ in 0..self.texts {
            let text = self.text()?;
            self.last.push(text);
        }
        Some(at)
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = (i64, &'a str);

    fn next(&mut self) -> Option<(i64, &'a str)> {
        if self.rest.is_empty() || self.damaged {
            return None;
        }
        let before = self.rest;
        match self.record() {
            Some(at) => Some((at, self.last.first().copied().unwrap_or(""))),
            None => {
                self.rest = before;
                self.damaged = true;
                None
            }
        }
    }
}

/// `2026-01-30T08:25:46.932213464Z` as Unix nanoseconds.
fn date(text: &str) -> Option<i64> {
    let (day, time) = text.strip_suffix('Z')?.split_once('T')?;
    let part = |text: Option<&str>| text?.parse::<i64>().ok();
    let mut parts = day.split('-');
    let (year, month, day) = (part(parts.next())?, part(parts.next())?, part(parts.next())?);
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let mut parts = time.split(':');
    let (hour, minute, second) = (part(parts.next())?, part(parts.next())?, part(parts.next())?);
    if !(0..24).contains(&hour)
        || !(0..60).contains(&minute)
        || !(0..=60).contains(&second)
        || fraction.len() > 9
        || !fraction.bytes().all(|byte| byte.is_ascii_digit())
    {
        return None;
    }
    let nanos = fraction.parse::<i64>().ok()?.checked_mul(10i64.checked_pow(9 - fraction.len() as u32)?)?;
    let days = civil::days(year, month, day)?;
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
    seconds.checked_mul(1_000_000_000)?.checked_add(nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(date("1970-01-01T00:00:01.5Z"), Some(1_500_000_000));
        assert_eq!(date("2026-01-30T08:25:46.932213464Z"), Some(1_769_761_546_932_213_464));
        assert_eq!(date("2024-02-29T00:00:00Z"), Some(1_709_164_800_000_000_000));
        for wrong in [
            "",
            "2026-13-30T08:25:46Z",
            "2026-01-30 08:25:46",
            "9999-01-01T00:00:00Z",
            "2026-01-01T00:00:00.1234567890Z",
            "2026-01-01T00:00:00.-1Z",
        ] {
            assert_eq!(date(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn lengths_are_not_believed() {
        let mut bytes = vec![0, 0, 0, 0, 0, 0, 0, 0];
        bytes.extend(20_u64.to_le_bytes());
        bytes.extend(b"2026-01-30T08:25:46Z");
        bytes.extend(3_u64.to_le_bytes());
        bytes.extend(b"abc");
        let whole = bytes.clone();
        assert_eq!(Records::of(&whole).count(), 1);
        // Exabytes, and one byte too few.
        for length in [u64::MAX, 1 << 60, 4] {
            bytes.truncate(whole.len());
            bytes.extend([0; 8]);
            bytes.extend(20_u64.to_le_bytes());
            bytes.extend(b"2026-01-30T08:25:47Z");
            bytes.extend(length.to_le_bytes());
            bytes.extend(b"abc");
            let mut records = Records::of(&bytes);
            assert_eq!(records.by_ref().count(), 1);
            assert!(records.damaged && records.left() > 0);
        }
    }
}

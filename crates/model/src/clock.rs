//! Moments on the wall clock as windows name them: `10:02`, `10:02:30`, `2026-11-26T10:02:30Z`. UTC, as everything prints it, unless an
//! offset says otherwise: a recording does not know in which zone its reader lives.

use crate::utc;
use std::fmt;

const SECOND: i64 = 1_000_000_000;
const DAY: i64 = 86_400 * SECOND;

/// A time of day, with its date where that was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Days since 1970-01-01.
    day: Option<i64>,
    /// Nanoseconds since midnight UTC; less than 0 or more than a day by an offset.
    time: i64,
}

impl Clock {
    /// Reads `10:02`, `10:02:30.5`, each also after a date (`2026-11-26 10:02` or with a T), and before Z, UTC or an offset (`+02:00`);
    /// or a date alone. `None` for anything else.
    pub fn read(text: &str) -> Option<Clock> {
        let text = text.trim();
        let (day, rest) = match text.split_at_checked("2026-11-26".len()).filter(|(_, rest)| !rest.starts_with(':')) {
            Some((date, rest)) if date.matches('-').count() == 2 => {
                let rest = match rest.strip_prefix(['T', ' ']) {
                    Some(rest) => rest,
                    None if rest.is_empty() => "00:00",
                    None => return None,
                };
                (Some(days(date)?), rest)
            }
            _ => (None, text),
        };
        let rest = rest.strip_suffix("UTC").map_or(rest, str::trim_end);
        let (time, offset) = match rest.strip_suffix('Z') {
            Some(time) => (time, 0),
            None => match rest.rfind(['+', '-']) {
                Some(at) => {
                    let (time, offset) = rest.split_at(at);
                    let sign = if offset.starts_with('-') { -1 } else { 1 };
                    (time, sign * time_of_day(offset.get(1..)?)?)
                }
                None => (rest, 0),
            },
        };
        Some(Clock { day, time: time_of_day(time)? - offset })
    }

    /// A moment, given in nanoseconds since 1970.
    pub fn at(unix: i64) -> Clock {
        Clock { day: Some(unix.div_euclid(DAY)), time: unix.rem_euclid(DAY) }
    }

    /// The same without its date.
    #[must_use]
    pub fn without_date(self) -> Clock {
        Clock { day: None, ..self }
    }

    /// When that is, in nanoseconds since 1970. A time without a date is the first such time within `span`, from when to when something was
    /// recorded, and after `after`, where there is one; else the first within `span`, and where none is in it, the nearest.
    pub fn resolve(self, span: (i64, i64), after: Option<i64>) -> i64 {
        let on = |day: i64| day.saturating_mul(DAY).saturating_add(self.time);
        if let Some(day) = self.day {
            return on(day);
        }
        let next = |from: i64| {
            let day = from.saturating_sub(self.time).div_euclid(DAY);
            if on(day) >= from { on(day) } else { on(day + 1) }
        };
        let (first, last) = span;
        if let Some(found) = after.map(|after| next(after.saturating_add(1))).filter(|found| *found <= last) {
            return found;
        }
        let found = next(first);
        let before = found.saturating_sub(DAY);
        if found <= last || found.saturating_sub(last) <= first.saturating_sub(before) { found } else { before }
    }
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(day) = self.day {
            let words = utc(day.saturating_mul(DAY).saturating_add(self.time));
            let (date, rest) = words.split_once(' ').unwrap_or((&words, ""));
            write!(f, "{date}T{}", rest.trim_end_matches(" UTC"))?;
        } else {
            let seconds = self.time.rem_euclid(DAY) / SECOND;
            write!(f, "{:02}:{:02}", seconds / 3600, seconds / 60 % 60)?;
            if seconds % 60 > 0 {
                write!(f, ":{:02}", seconds % 60)?;
            }
        }
        let part = self.time.rem_euclid(SECOND);
        if part > 0 {
            write!(f, "{}", format!(".{part:09}").trim_end_matches('0'))?;
        }
        f.write_str(if self.day.is_some() { "Z" } else { "" })
    }
}

fn number(text: &str, digits: std::ops::RangeInclusive<usize>, most: i64) -> Option<i64> {
    let is_one = digits.contains(&text.len()) && text.bytes().all(|c| c.is_ascii_digit());
    text.parse().ok().filter(|number| is_one && *number <= most)
}

/// Nanoseconds since midnight.
fn time_of_day(text: &str) -> Option<i64> {
    let mut parts = text.split(':');
    let (hour, minute) = (number(parts.next()?, 1..=2, 23)?, number(parts.next()?, 2..=2, 59)?);
    let (second, part) = match parts.next() {
        None => (0, 0),
        Some(second) => {
            let (second, part) = second.split_once('.').unwrap_or((second, "0"));
            number(part, 1..=9, i64::MAX)?;
            (number(second, 2..=2, 59)?, format!("{part:0<9}").parse().ok()?)
        }
    };
    let seconds = hour * 3600 + minute * 60 + second;
    parts.next().is_none().then_some(seconds * SECOND + part)
}

/// Days since 1970-01-01 of `2026-11-26`: days-from-civil after Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms".
fn days(date: &str) -> Option<i64> {
    let mut parts = date.split('-');
    let (year, month) = (number(parts.next()?, 4..=4, 2250)?, number(parts.next()?, 2..=2, 12)?);
    let day = number(parts.next()?, 2..=2, 31)?;
    if year < 1970 || month < 1 || day < 1 || parts.next().is_some() {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let found = year.div_euclid(400) * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
    // The 31st of a month of thirty days is none.
    utc(found.saturating_mul(DAY)).starts_with(date).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unix(text: &str) -> i64 {
        Clock::read(text).unwrap().resolve((0, 0), None)
    }

    #[test]
    fn moments_are_read() {
        assert_eq!(unix("2026-11-26T14:05:30Z"), 1_795_701_930 * SECOND);
        for same in ["2026-11-26 14:05:30", "2026-11-26 14:05:30 UTC", "2026-11-26T15:05:30+01:00"] {
            assert_eq!(unix(same), unix("2026-11-26T14:05:30Z"), "{same}");
        }
        assert_eq!(unix("2026-11-26"), unix("2026-11-26T00:00Z"));
        assert_eq!(unix("2026-11-26T01:00+02:00"), unix("2026-11-25T23:00Z"));
        assert_eq!(unix("2026-11-26T14:05:30.25Z"), 1_795_701_930 * SECOND + SECOND / 4);
        for bad in
            ["", "10", "10s", "25:00", "1:60", "1:2", "1:02:3", "1:02:03:04", "2026-02-29", "2026-11-31T10:00", "x:00"]
        {
            assert_eq!(Clock::read(bad), None, "{bad}");
        }
        for bad in ["2026-11-26x10:00", "warm-up over", "10:02-", "-10:02", "2026-11-26T", "é0:00", "10:02:30."] {
            assert_eq!(Clock::read(bad), None, "{bad}");
        }
    }

    #[test]
    fn they_print_as_they_are_read() {
        for text in ["10:02", "09:30:05", "10:02:30.5", "2026-11-26T10:02:30Z", "2026-11-26T10:02:30.125Z"] {
            assert_eq!(Clock::read(text).unwrap().to_string(), text);
        }
        assert_eq!(Clock::at(1_795_701_930 * SECOND + SECOND / 2).without_date().to_string(), "14:05:30.5");
    }

    #[test]
    fn a_time_of_day_is_one_in_the_recording() {
        let span = (unix("2026-11-26T22:00Z"), unix("2026-11-27T02:00Z"));
        let of = |text: &str, after: Option<i64>| utc(Clock::read(text).unwrap().resolve(span, after));
        assert_eq!(of("23:00", None), "2026-11-26 23:00:00 UTC");
        assert_eq!(of("1:30", None), "2026-11-27 01:30:00 UTC");
        // None of these is in it; each is nearest to one of its ends.
        assert_eq!(of("21:50", None), "2026-11-26 21:50:00 UTC");
        assert_eq!(of("2:10", None), "2026-11-27 02:10:00 UTC");
        // An end is the first such time after the beginning.
        let after = Some(unix("2026-11-26T23:50Z"));
        assert_eq!(of("0:10", after), "2026-11-27 00:10:00 UTC");
        assert_eq!(of("2:10", after), "2026-11-27 02:10:00 UTC");
        // Where there is none after, it is the one before: nothing lies between these.
        assert_eq!(of("23:50", after), "2026-11-26 23:50:00 UTC");
        assert_eq!(of("23:40", after), "2026-11-26 23:40:00 UTC");
    }
}

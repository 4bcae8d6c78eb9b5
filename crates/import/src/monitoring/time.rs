//! Times as text and as numbers.

use crate::civil;
use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A time that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Time {
    /// Unix nanoseconds.
    Exact(i64),
    /// Nanoseconds since 1970 as a clock on the wall shows them, of a zone that is not said.
    Local(i64),
    /// Nanoseconds since midnight, of a day that is not said.
    OfDay(i64),
}

const SECOND: i64 = 1_000_000_000;

/// Seconds, milliseconds, microseconds or nanoseconds since 1970: by size, for measurements are of the years 2001 to 2286. Smaller numbers are seconds
/// since whatever.
pub(crate) fn of_number(number: f64) -> Option<Time> {
    let factor = match number.abs() {
        n if n < 1e10 => 1e9,
        n if n < 1e13 => 1e6,
        n if n < 1e16 => 1e3,
        n if n < 9e18 => 1.0,
        _ => return None,
    };
    Some(Time::Exact((number * factor).round() as i64))
}

/// A whole number keeps all its digits.
pub(crate) fn of_integer(number: i64) -> Option<Time> {
    let factor = match number.unsigned_abs() {
        n if n < 10_000_000_000 => SECOND,
        n if n < 10_000_000_000_000 => 1_000_000,
        n if n < 10_000_000_000_000_000 => 1000,
        _ => 1,
    };
    number.checked_mul(factor).map(Time::Exact)
}

/// A number, `2026-11-26T21:15:56.5+01:00`, `2026-11-26 21:15:56 UTC`, `11/26/26 09:15:56 PM`, `21:15:56`.
pub(crate) fn of_text(text: &str) -> Option<Time> {
    let text = text.trim();
    if let Ok(number) = text.parse::<i64>() {
        return of_integer(number);
    }
    if let Ok(number) = text.parse::<f64>() {
        return of_number(number);
    }
    let (day, rest) =
        date(text).map_or((None, text), |(day, rest)| (Some(day), rest.trim_start_matches(['T', 't', ' '])));
    let (mut nanos, rest) = match clock(rest) {
        Some(found) => found,
        // A day alone.
        None if day.is_some() && rest.is_empty() => (0, ""),
        None => return None,
    };
    let mut rest = rest.trim_start();
    for (word, is_after) in [("AM", false), ("PM", true), ("am", false), ("pm", true)] {
        if let Some(after) = rest.strip_prefix(word) {
            let hours = nanos / (3600 * SECOND);
            if !(1..=12).contains(&hours) {
                return None;
            }
            nanos += SECOND * 3600 * (i64::from(is_after) * 12 - if hours == 12 { 12 } else { 0 });
            rest = after.trim_start();
        }
    }
    let Some(day) = day else { return rest.is_empty().then_some(Time::OfDay(nanos)) };
    let local = day.checked_mul(86_400 * SECOND)?.checked_add(nanos)?;
    match rest {
        "" => Some(Time::Local(local)),
        "Z" | "z" | "UTC" | "GMT" => Some(Time::Exact(local)),
        _ => Some(Time::Exact(local.checked_sub(offset(rest)?)?)),
    }
}

/// Days since 1970 of a date at the beginning of a text, and what comes after.
fn date(text: &str) -> Option<(i64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && !"-/.".contains(c)).unwrap_or(text.len());
    let (own, rest) = text.split_at(end);
    let separator = own.chars().find(|c| !c.is_ascii_digit())?;
    let parts: Vec<&str> = own.split(separator).collect();
    let &[a, b, c] = parts.as_slice() else { return None };
    let (a_, b_, c_) = (a.parse::<i64>().ok()?, b.parse::<i64>().ok()?, c.parse::<i64>().ok()?);
    let (year, month, day) = match separator {
        _ if a.len() == 4 => (a_, b_, c_),
        // As sysstat prints it, of the United States.
        '/' => (if c.len() == 2 { 2000 + c_ } else { c_ }, a_, b_),
        '.' => (if c.len() == 2 { 2000 + c_ } else { c_ }, b_, a_),
        _ => return None,
    };
    Some((civil::days(year, month, day)?, rest))
}

/// Nanoseconds since midnight of a clock at the beginning of a text, and what comes after.
fn clock(text: &str) -> Option<(i64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && !":.,".contains(c)).unwrap_or(text.len());
    let (own, rest) = text.split_at(end);
    let (whole, fraction) = own.split_once(['.', ',']).unwrap_or((own, "0"));
    let parts: Vec<i64> = whole.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let (hour, minute, second) = match *parts.as_slice() {
        [hour, minute] => (hour, minute, 0),
        [hour, minute, second] => (hour, minute, second),
        _ => return None,
    };
    if !(0..24).contains(&hour) || !(0..60).contains(&minute) || !(0..=60).contains(&second) {
        return None;
    }
    let fraction: String = fraction.chars().take(9).collect();
    let nanos = fraction.parse::<i64>().ok()?.checked_mul(10i64.checked_pow(9 - fraction.len() as u32)?)?;
    Some((((hour * 60 + minute) * 60 + second) * SECOND + nanos, rest))
}

/// `+01:00`, `-0330`, `+02` as nanoseconds.
fn offset(text: &str) -> Option<i64> {
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let digits: String = text.chars().skip(1).filter(|c| *c != ':').collect();
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (hours, minutes) = match digits.len() {
        2 => (digits.parse::<i64>().ok()?, 0),
        4 => (digits.get(..2)?.parse::<i64>().ok()?, digits.get(2..)?.parse::<i64>().ok()?),
        _ => return None,
    };
    (hours <= 18 && minutes < 60).then_some(sign * (hours * 60 + minutes) * 60 * SECOND)
}

/// Puts times of one file in one order: what is missing of them is taken as said in `notes`.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    /// The day of times without one: seconds since 1970 of its midnight.
    pub(crate) midnight: i64,
    pub(crate) before: Option<i64>,
    /// By what it was of, the last time.
    pub(crate) last: HashMap<u64, i64>,
    /// How many were of a zone that is not said, of a day that is not said, and lay before the one before of the same.
    pub(crate) local: u64,
    pub(crate) of_day: u64,
    pub(crate) back: u64,
    pub(crate) exact: u64,
}

impl Clock {
    /// Unix nanoseconds.
    pub(crate) fn at(&mut self, time: Time) -> i64 {
        let at = match time {
            Time::Exact(at) => {
                self.exact += 1;
                at
            }
            Time::Local(at) => {
                self.local += 1;
                at
            }
            Time::OfDay(nanos) => {
                self.of_day += 1;
                let mut at = self.midnight.saturating_mul(SECOND).saturating_add(nanos);
                // Past midnight a clock begins anew.
                if self.before.is_some_and(|before| at < before.saturating_sub(12 * 3600 * SECOND)) {
                    self.midnight += 86_400;
                    at = at.saturating_add(86_400 * SECOND);
                }
                at
            }
        };
        self.before = Some(at);
        at
    }

    /// Looks whether times of what these words name go back.
    pub(crate) fn follow<'a>(&mut self, at: i64, words: impl Iterator<Item = Cow<'a, str>>) {
        let mut hasher = DefaultHasher::new();
        words.for_each(|word| word.hash(&mut hasher));
        if self.last.insert(hasher.finish(), at).is_some_and(|before| at < before) {
            self.back += 1;
        }
    }

    /// What must be known of the times.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.back > 0 {
            notes.push(format!("times go back {} times: rows are put in the order of time", self.back));
        }
        if self.of_day > 0 {
            notes.push(
                "times have no date: the first is taken to be of the day that the file names, else of 1970-01-01"
                    .into(),
            );
        }
        match (self.local, self.exact) {
            (0, _) => {}
            (_, 0) => notes.push("times have no zone, and are taken for UTC".into()),
            (local, _) => {
                notes.push(format!("{local} times have no zone, others have: those without are taken for UTC"))
            }
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_in_all_forms() {
        let at = 1_795_727_756 * SECOND;
        for (text, wanted) in [
            ("1795727756", Time::Exact(at)),
            ("1795727756.5", Time::Exact(at + SECOND / 2)),
            ("1795727756000", Time::Exact(at)),
            ("1795727756000000001", Time::Exact(at + 1)),
            ("2026-11-26T21:15:56Z", Time::Exact(at)),
            ("2026-11-26T22:15:56.5+01:00", Time::Exact(at + SECOND / 2)),
            ("2026-11-26 16:15:56-0500", Time::Exact(at)),
            ("2026-11-26 21:15:56 UTC", Time::Exact(at)),
            ("2026-11-26 21:15:56", Time::Local(at)),
            ("11/26/26 09:15:56 PM", Time::Local(at)),
            ("26.11.2026 21:15:56,0", Time::Local(at)),
            ("21:15", Time::OfDay((21 * 60 + 15) * 60 * SECOND)),
            ("12:00:01 AM", Time::OfDay(SECOND)),
        ] {
            assert_eq!(of_text(text), Some(wanted), "{text}");
        }
        for wrong in
            ["", "x", "25:00", "2026-13-01", "2026-02-30 10:00", "21:15:56 XX", "2026-11-26 21:15:56 +9", "0:00 AM"]
        {
            assert_eq!(of_text(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_clock_goes_past_midnight_and_back() {
        let mut clock = Clock::default();
        let times: Vec<i64> =
            ["23:59:59", "00:00:01", "00:00:00"].iter().map(|text| clock.at(of_text(text).unwrap()) / SECOND).collect();
        assert_eq!(times, [86_399, 86_401, 86_400]);
        for (at, of) in [(5, "a"), (3, "b"), (4, "a"), (4, "a")] {
            clock.follow(at, std::iter::once(of.into()));
        }
        assert_eq!(clock.back, 1);
    }
}

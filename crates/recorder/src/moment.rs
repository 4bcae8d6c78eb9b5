//! A moment on the wall clock in the words of the command line.

use crate::options::duration;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const EXPECTED: &str = "expected a time of day such as 14:05:30 (UTC), +30s, 2026-11-26T14:05:30Z, or @ and seconds \
                        since 1970";

/// Nanoseconds since 1970, UTC.
pub fn unix_now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i64)
}

/// Reads a moment: `14:05`, `14:05:30` (the next such in UTC, as `--window` has it), `+30s` (from now), `2026-11-26T14:05:30Z`, or `@1764165930.5`
/// (seconds since 1970). In nanoseconds since 1970.
///
/// # Errors
/// In words, for anything else.
pub fn moment(text: &str) -> Result<i64, String> {
    let nanoseconds = |time: Duration| i64::try_from(time.as_nanos()).map_err(|_| EXPECTED.to_owned());
    if let Some(later) = text.strip_prefix('+') {
        return Ok(unix_now().saturating_add(nanoseconds(duration(later)?)?));
    }
    if let Some(seconds) = text.strip_prefix('@') {
        let (whole, part) = seconds.split_once('.').unwrap_or((seconds, ""));
        let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
        let whole: i64 = whole.parse().map_err(|_| EXPECTED.to_owned())?;
        if !digits(part) || part.len() > 9 || !(0..9_000_000_000).contains(&whole) {
            return Err(EXPECTED.into());
        }
        let part: i64 = format!("{part:0<9}").parse().map_err(|_| EXPECTED.to_owned())?;
        return Ok(whole * 1_000_000_000 + part);
    }
    if let Some((day, time)) = text.split_once('T') {
        let day: Vec<&str> = day.split('-').collect();
        let [year, month, day] = day[..] else { return Err(EXPECTED.into()) };
        let time = time.strip_suffix('Z').ok_or(EXPECTED)?;
        let (hour, minute, second) = of_day(time)?;
        let number = |text: &str, from: i32, to: i32| number(text, from, to);
        let mut parts = empty();
        parts.tm_year = number(year, 1970, 2250)? - 1900;
        parts.tm_mon = number(month, 1, 12)? - 1;
        parts.tm_mday = number(day, 1, 31)?;
        (parts.tm_hour, parts.tm_min, parts.tm_sec) = (hour, minute, second);
        // SAFETY: the structure is whole.
        return Ok(unsafe { libc::timegm(&raw mut parts) } * 1_000_000_000);
    }
    let (hour, minute, second) = of_day(text)?;
    let now = unix_now() / 1_000_000_000;
    let of_today = now.div_euclid(DAY) * DAY + i64::from(hour * 3600 + minute * 60 + second);
    Ok(if of_today >= now { of_today } else { of_today + DAY } * 1_000_000_000)
}

/// Seconds.
const DAY: i64 = 86_400;

fn empty() -> libc::tm {
    // SAFETY: a structure of numbers and a pointer, which may be null.
    unsafe { std::mem::zeroed() }
}

fn number(text: &str, from: i32, to: i32) -> Result<i32, String> {
    let all_digits = !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    text.parse().ok().filter(|n| all_digits && (from..=to).contains(n)).ok_or_else(|| EXPECTED.to_owned())
}

fn of_day(text: &str) -> Result<(i32, i32, i32), String> {
    let parts: Vec<&str> = text.split(':').collect();
    let (hour, minute, second) = match parts[..] {
        [hour, minute] => (hour, minute, "0"),
        [hour, minute, second] => (hour, minute, second),
        _ => return Err(EXPECTED.into()),
    };
    Ok((number(hour, 0, 23)?, number(minute, 0, 59)?, number(second, 0, 59)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments() {
        assert_eq!(moment("@12.5"), Ok(12_500_000_000));
        assert_eq!(moment("@1764165930"), Ok(1_764_165_930_000_000_000));
        assert_eq!(moment("2026-11-26T14:05:30Z"), Ok(1_795_701_930_000_000_000));
        let soon = moment("+30s").unwrap() - unix_now();
        assert!((29_000_000_000..=30_000_000_000).contains(&soon), "{soon}");
        let at = moment("14:05:30").unwrap();
        assert!((-1_000_000_000..=86_401_000_000_000).contains(&(at - unix_now())), "{at}");
        assert_eq!(at / 1_000_000_000 % 86_400, 14 * 3600 + 5 * 60 + 30, "UTC, whatever the zone here");
        for bad in
            ["", "25:00", "1:60", "@", "@-1", "@1.x", "+", "now", "2026-13-01T00:00:00Z", "1:2:3:4", "@99999999999"]
        {
            assert!(moment(bad).is_err(), "{bad}");
        }
    }
}

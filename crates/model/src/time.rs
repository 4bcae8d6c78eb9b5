//! Times as people write and read them: lengths of time, dates.

use std::time::Duration;

/// Reads a length of time such as `10ms`, `1s`, `2.5s`, `10m` or `1h`. A bare number is seconds.
///
/// # Errors
/// In words, for anything else.
pub fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim() {
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return Err("expected a number with ms, s, m, h or d, such as 500ms or 10m".into()),
    };
    let number: f64 =
        number.parse().map_err(|_| "expected a number with ms, s, m, h or d, such as 500ms or 10m".to_owned())?;
    let seconds = number * factor;
    if !(0.001..=3.2e9).contains(&seconds) {
        return Err("expected a time between 1ms and 100 years".into());
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// Unix nanoseconds as UTC, without a date library: civil-from-days after Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms".
pub fn utc(unix: i64) -> String {
    let seconds = unix.div_euclid(1_000_000_000);
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let (day, month) = (doy - (153 * mp + 2) / 5 + 1, if mp < 10 { mp + 3 } else { mp - 9 });
    let year = yoe + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02} UTC", rest / 3600, rest / 60 % 60, rest % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        assert_eq!(duration("10ms").unwrap(), Duration::from_millis(10));
        assert_eq!(duration("2.5s").unwrap(), Duration::from_millis(2500));
        assert_eq!(duration("10m").unwrap(), Duration::from_secs(600));
        assert_eq!(duration("3").unwrap(), Duration::from_secs(3));
        for bad in ["", "s", "1y", "-1s", "1e9d", "0s", "nan"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn dates() {
        assert_eq!(utc(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(utc(951_782_400_000_000_000), "2000-02-29 00:00:00 UTC");
        assert_eq!(utc(-1), "1969-12-31 23:59:59 UTC");
    }
}

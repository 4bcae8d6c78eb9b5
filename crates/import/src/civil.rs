//! The calendar.

/// Days since 1970-01-01 of a date of the Gregorian calendar; none where there is no such day.
pub(crate) fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let length = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1970..2262).contains(&year) || !(1..=length).contains(&day) {
        return None;
    }
    // Counting years from March, so that a leap day is the last of its year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    Some(year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1 - 719_468)
}

#[cfg(test)]
mod tests {
    use super::days;

    #[test]
    fn days_of_dates() {
        assert_eq!(days(1970, 1, 1), Some(0));
        assert_eq!(days(2026, 11, 26), Some(20_783));
        assert_eq!(days(2024, 2, 29), Some(19_782));
        assert_eq!((days(2025, 2, 29), days(1900, 1, 1), days(2026, 13, 1)), (None, None, None));
    }
}

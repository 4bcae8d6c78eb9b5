//! Numbers with their units as people read them: three or four digits and a prefix. And ratios, as docs/glossary.md writes them.

/// `value`, in one of the base units that metrics are shown in, for people: "2.86 MiB/s", "120 µs", "12.5 %", "3.4 k/s". Bytes get binary
/// prefixes, all else decimal ones. A number that is not finite is "-".
pub fn human(value: f64, unit: &str) -> String {
    if !value.is_finite() {
        return "-".into();
    }
    let (base, per) = match unit.split_once('/') {
        Some((base, per)) => (base, format!("/{per}")),
        None => (unit, String::new()),
    };
    match (base, per.as_str()) {
        ("ratio", _) => joined(digits(value * 100.0), "%", ""),
        ("%" | "°C", _) => joined(digits(value), base, &per),
        ("B", _) => {
            let (number, prefix) = scaled(value, 1024.0, &["", "Ki", "Mi", "Gi", "Ti", "Pi"]);
            joined(number, &format!("{prefix}B"), &per)
        }
        // Seconds of something per second are a level of use, not a time: 0.002 s/s stays what it is.
        ("s", "/s") => joined(digits(value), "s", &per),
        ("s", _) if value.abs() < 1.0 && value != 0.0 => {
            let (factor, prefix) = match value.abs() {
                v if v < 0.9995e-6 => (1e9, "n"),
                v if v < 0.9995e-3 => (1e6, "µ"),
                _ => (1e3, "m"),
            };
            joined(digits(value * factor), &format!("{prefix}s"), &per)
        }
        ("s", _) => joined(digits(value), "s", &per),
        // The 1 of "1/s" is not written: "3.4 k/s".
        _ => {
            let (number, prefix) = scaled(value, 1000.0, &["", "k", "M", "G", "T", "P"]);
            joined(number, &format!("{prefix}{}", if base == "1" { "" } else { base }), &per)
        }
    }
}

fn joined(number: String, unit: &str, per: &str) -> String {
    match (unit, per) {
        ("", "") => number,
        ("", per) => format!("{number} {per}").replace(" /", "/"),
        _ => format!("{number} {unit}{per}"),
    }
}

/// Divided by `step` until it is small, with the prefix for that.
fn scaled(value: f64, step: f64, prefixes: &[&'static str]) -> (String, &'static str) {
    let (mut value, mut prefix) = (value, "");
    for &next in prefixes {
        prefix = next;
        // What would be rounded up to the next prefix gets it.
        if value.abs() < step * 0.9995 {
            break;
        }
        if Some(&next) != prefixes.last() {
            value /= step;
        }
    }
    (digits(value), prefix)
}

/// Three digits, or all of a large number; a whole number has none after the point.
fn digits(value: f64) -> String {
    let places = match value.abs() {
        v if v >= 99.95 || v == 0.0 => 0,
        v if v >= 9.995 => 1,
        v if v >= 0.9995 => 2,
        v if v >= 0.0995 => 3,
        v if v >= 0.00995 => 4,
        _ => return format!("{value:.2e}"),
    };
    // What is whole but for the last bits of a double is whole.
    let whole = (value - value.round()).abs() < 1e-9 * value.abs();
    let places = if whole { 0 } else { places };
    format!("{value:.places$}")
}

/// A ratio to the baseline without its sign: "17.4", "1.36 M", "0.20"; small ones with two digits, "0.0031".
fn factor(of: f64) -> String {
    match of {
        f if !f.is_finite() => "-".into(),
        // The normal interval of a count that cannot fall below zero may.
        f if f <= 0.0 => "0".into(),
        f if f >= 999.5 => human(f, ""),
        f if f >= 99.95 => format!("{f:.0}"),
        f if f >= 1.995 => format!("{f:.1}"),
        f if f >= 0.0995 => format!("{f:.2}"),
        f => decimal(f, 2),
    }
}

/// A ratio to the baseline: "17.4×".
pub fn times(of: f64) -> String {
    format!("{}×", factor(of))
}

/// A ratio to the baseline; below twofold with the change in per cent: "17.4×", "1.34× (+34 %)", "0.20× (−80 %)".
pub fn ratio(of: f64) -> String {
    // Where next to nothing is left, the per cent say no more than the ratio.
    match of {
        f if (0.005..1.995).contains(&f) => format!("{} ({})", times(f), percent(f - 1.0)),
        f => times(f),
    }
}

/// An interval of a ratio: "15.1–19.7×".
pub fn times_interval(low: f64, high: f64) -> String {
    format!("{}–{}×", factor(low), factor(high))
}

/// A change in per cent with its sign: "+34 %", "−80 %".
pub fn percent(change: f64) -> String {
    let text = format!("{:+.0} %", change * 100.0);
    match text.strip_prefix('-') {
        Some("0 %") => "+0 %".into(),
        Some(rest) => format!("−{rest}"),
        None => text,
    }
}

/// A count per unit of something: like [`human`], but what comes seldom stays a decimal: "64.4", "0.00005". With `digits` of those that
/// differ from zero.
fn decimal(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return human(value, "");
    }
    let first = value.abs().log10().floor();
    // Beyond that nobody counts zeros.
    if first < -7.0 {
        return format!("{value:.0e}");
    }
    let places = (digits as f64 - 1.0 - first).clamp(0.0, 12.0) as usize;
    format!("{value:.places$}")
}

/// A count per unit: like [`human`], but small ones are decimals: "64.4", "0.0031", "0.00005".
pub fn count(value: f64) -> String {
    match value.abs() {
        v if v >= 0.00995 || v == 0.0 || !v.is_finite() => human(value, ""),
        v if v >= 0.000_995 => decimal(value, 2),
        _ => decimal(value, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_have_one_notation() {
        for (of, text) in [
            (1_360_000.0, "1.36 M×"),
            (174.4, "174×"),
            (17.42, "17.4×"),
            (2.0, "2.0×"),
            (1.34, "1.34× (+34 %)"),
            (1.0, "1.00× (+0 %)"),
            (0.2, "0.20× (−80 %)"),
            (0.0123, "0.012× (−99 %)"),
            (0.0001, "0.00010×"),
            (-0.5, "0×"),
        ] {
            assert_eq!(ratio(of), text, "{of}");
        }
        assert_eq!(times_interval(15.06, 19.72), "15.1–19.7×");
        assert_eq!((percent(-0.8), percent(0.031), percent(-0.001)), ("−80 %".into(), "+3 %".into(), "+0 %".into()));
    }

    #[test]
    fn small_counts_are_decimals() {
        for (value, text) in [
            (64.4, "64.4"),
            (0.148, "0.148"),
            (0.0031, "0.0031"),
            (1.0 / 21_100.0, "0.00005"),
            (3.3e-6, "0.000003"),
            (2e-9, "2e-9"),
            (0.0, "0"),
        ] {
            assert_eq!(count(value), text, "{value}");
        }
    }

    #[test]
    fn numbers_for_people() {
        for (value, unit, text) in [
            (0.0, "B", "0 B"),
            (3e6, "B/s", "2.86 MiB/s"),
            (1023.9, "B", "1.00 KiB"),
            (1023.0, "B", "1023 B"),
            (2.5 * 1024.0 * 1024.0 * 1024.0, "B", "2.50 GiB"),
            (0.00012, "s", "120 µs"),
            (0.0009999, "s", "1.00 ms"),
            (1.5, "s", "1.50 s"),
            (2e-9, "s", "2 ns"),
            (0.002, "s/s", "2.00e-3 s/s"),
            (0.25, "s/s", "0.250 s/s"),
            (0.000_035, "s/op", "35 µs/op"),
            (0.125, "ratio", "12.5 %"),
            (3400.0, "1/s", "3.40 k/s"),
            (12.0, "1/s", "12/s"),
            (2.4e9, "Hz", "2.40 GHz"),
            (999_999.0, "", "1.00 M"),
            (-1.5, "", "-1.50"),
            (1e21, "B", "888178 PiB"),
            (f64::NAN, "B", "-"),
        ] {
            assert_eq!(human(value, unit), text, "{value} {unit}");
        }
    }
}

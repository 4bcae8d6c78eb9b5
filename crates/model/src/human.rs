//! Numbers with their units as people read them: three or four digits and a prefix.

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

#[cfg(test)]
mod tests {
    use super::human;

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

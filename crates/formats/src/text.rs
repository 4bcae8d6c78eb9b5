//! What all readers share: plain text of a terminal's, numbers, durations, and JSON among other text.

use serde_json::Value;

/// Larger numbers are none that a benchmark measures; they are not read.
pub const LARGEST: f64 = 1e15;

/// The text without escape sequences of a terminal. Lines that were written over (`\r`) are lines of their own.
pub fn plain(output: &str) -> String {
    let mut plain = String::with_capacity(output.len());
    let mut chars = output.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\u{1b}' => match chars.next() {
                // Parameters and one more character; a line's end is not taken, where the sequence was cut off.
                Some('[') => {
                    while chars.next_if(|c| (' '..='?').contains(c)).is_some() {}
                    chars.next_if(|c| ('@'..='~').contains(c));
                }
                // Titles and links, until a bell or ESC \.
                Some(']') => while chars.next_if(|c| !matches!(c, '\u{7}' | '\u{1b}' | '\n')).is_some() {},
                // Two characters alone, such as ESC \.
                _ => {}
            },
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' => plain.push('\n'),
            '\u{7}' => {}
            other => plain.push(other),
        }
    }
    plain
}

/// A plain decimal number of 0 and more, alone: no sign, no exponent, not "nan".
pub fn number(text: &str) -> Option<f64> {
    let (value, rest) = leading_number(text)?;
    rest.is_empty().then_some(value)
}

/// The number that the text begins with, and what follows.
pub fn leading_number(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    let value = digits.parse::<f64>().ok().filter(|value| *value <= LARGEST)?;
    Some((value, rest))
}

/// A number with a decimal prefix: "20", "1.05k", "1.5 M".
pub fn scaled(text: &str) -> Option<f64> {
    let (value, rest) = leading_number(text.trim())?;
    let factor = match rest.trim() {
        "" => 1.0,
        "k" | "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "P" => 1e15,
        _ => return None,
    };
    Some(value * factor).filter(|value| *value <= LARGEST)
}

/// How long a unit of time is, in seconds.
pub fn unit(name: &str) -> Option<f64> {
    Some(match name {
        "ns" => 1e-9,
        // The micro sign, the Greek letter, and those who have neither.
        "us" | "µs" | "μs" => 1e-6,
        "ms" => 1e-3,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hr" | "hour" | "hours" => 3600.0,
        "day" | "days" => 86_400.0,
        _ => return None,
    })
}

/// A duration in seconds: "1.53ms", "250µs", "0.0012 secs", "1m2s".
pub fn duration(text: &str) -> Option<f64> {
    let mut rest = text.trim();
    let mut sum = 0.0;
    loop {
        let (value, after) = leading_number(rest)?;
        let after = after.trim_start();
        let end = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
        let (name, after) = after.split_at_checked(end)?;
        sum += value * unit(name)?;
        rest = after.trim_start();
        if rest.is_empty() {
            return Some(sum).filter(|sum| *sum <= LARGEST);
        }
    }
}

/// What follows `label` on the first line that begins with it.
pub fn after<'a>(lines: &[&'a str], label: &str) -> Option<&'a str> {
    lines.iter().find_map(|line| line.trim_start().strip_prefix(label)).map(str::trim)
}

/// The first word.
pub fn word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or("")
}

/// The lines from the last one that is the beginning of a report; of several marks the first that is found counts.
pub fn last_report<'a>(output: &'a str, marks: &[fn(&str) -> bool]) -> Option<Vec<&'a str>> {
    let lines: Vec<&str> = output.lines().collect();
    let at = marks.iter().find_map(|mark| lines.iter().rposition(|line| mark(line.trim())))?;
    lines.get(at..).map(<[&str]>::to_vec)
}

/// What is said where nothing looks like a report.
pub fn none(looked_for: &str) -> String {
    format!("no report in the output (looked for {looked_for})")
}

/// What is said where a report is not whole.
pub fn cut(missing: &str) -> String {
    format!("the report is not whole: {missing} is missing, or no number of 0 and more")
}

/// The last JSON value in the text that `is` takes for a report. Values within it are not looked at. None too where one with `key`
/// in it was cut off after that.
pub fn last_json(output: &str, key: &str, is: impl Fn(&Value) -> bool) -> Option<Value> {
    let mut found = None;
    let mut at = 0;
    // Text of nothing but brackets must not take quadratic time.
    let mut budget = 16 * 1024 + output.len().saturating_mul(2);
    while let Some(next) = output.get(at..).and_then(|rest| rest.find(['{', '['])) {
        at += next;
        let Some(rest) = output.get(at..) else { break };
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => {
                at += values.byte_offset().max(1);
                if is(&value) {
                    found = Some(value);
                }
            }
            Some(Err(error)) => {
                if error.is_eof() && rest.contains(key) {
                    found = None;
                }
                let before =
                    rest.lines().take(error.line().saturating_sub(1)).map(|line| line.len() + 1).sum::<usize>();
                let Some(left) = budget.checked_sub(before + error.column() + 1) else { break };
                budget = left;
                at += 1;
            }
            None => break,
        }
    }
    found
}

/// A number of 0 and more at the end of a path of keys.
pub fn at(value: &Value, path: &[&str]) -> Option<f64> {
    let value = path.iter().try_fold(value, |value, key| value.get(key))?;
    value.as_f64().filter(|value| (0.0..=LARGEST).contains(value))
}

//! Conditions for measures: `<= 1.5ms`.

use serde::{Deserialize, Serialize};

/// A condition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Limit {
    /// As it is written.
    pub text: String,
    least: bool,
    or_equal: bool,
    value: f64,
}

impl Limit {
    /// Reads one: `<`, `<=`, `>` or `>=`, a number, and a unit of time or size, `%`, or none.
    ///
    /// # Errors
    /// What is wrong, and an example.
    pub fn parse(text: &str) -> Result<Limit, String> {
        let wrong = || format!("limit {text:?}: such as \"<= 1.5ms\", \"< 0.1%\", \">= 1000\" or \"<= 2GiB\"");
        let trimmed = text.trim();
        let (least, rest) = match trimmed.split_at_checked(1).ok_or_else(wrong)? {
            ("<", rest) => (false, rest),
            (">", rest) => (true, rest),
            _ => return Err(wrong()),
        };
        let (or_equal, rest) = rest.strip_prefix('=').map_or((false, rest), |rest| (true, rest));
        let rest = rest.trim();
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, unit) = rest.split_at(digits);
        let factor = match unit.trim() {
            "" | "s" | "B" | "/s" => 1.0,
            "ns" => 1e-9,
            "us" | "µs" => 1e-6,
            "ms" => 1e-3,
            "m" | "min" => 60.0,
            "%" => 0.01,
            "k" => 1e3,
            "K" | "KiB" => 1024.0,
            "M" | "MiB" => 1_048_576.0,
            "G" | "GiB" => 1_073_741_824.0,
            _ => return Err(wrong()),
        };
        let value = number.parse::<f64>().map_err(|_| wrong())? * factor;
        Ok(Limit { text: trimmed.to_owned(), least, or_equal, value })
    }

    /// The number that the value must not be above; `None` where it must not be below one.
    pub fn at_most(&self) -> Option<f64> {
        (!self.least).then_some(self.value)
    }

    /// Whether it holds.
    pub fn holds(&self, value: f64) -> bool {
        match (self.least, self.or_equal) {
            (false, true) => value <= self.value,
            (false, false) => value < self.value,
            (true, true) => value >= self.value,
            (true, false) => value > self.value,
        }
    }
}

impl TryFrom<String> for Limit {
    type Error = String;

    fn try_from(text: String) -> Result<Limit, String> {
        Limit::parse(&text)
    }
}

impl From<Limit> for String {
    fn from(limit: Limit) -> String {
        limit.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_have_units() {
        let holds = |text: &str, value: f64| Limit::parse(text).unwrap().holds(value);
        assert!(holds("<= 1.5ms", 0.0015) && !holds("< 1.5ms", 0.0015));
        assert!(holds("< 0.1%", 0.0009) && holds(">=1000", 1000.0) && !holds("> 2 GiB", 2e9));
        for wrong in ["", "1.5ms", "<", "<= fast", "<= 1parsec", "== 1"] {
            assert!(Limit::parse(wrong).is_err(), "{wrong}");
        }
    }
}

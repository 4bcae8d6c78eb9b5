//! Units of values.

use serde::Serialize;

/// A unit of values: `""` (a plain number), `1/s`, `B`, `B/s`, `s`, `s/s` (CPU-seconds per second, or time share per second), `Hz`, `%` (0
/// to 100), `ratio` (0 to 1, drawn as per cent), `°C`, `W`, `J`, `1/op`, `B/op`, `s/op`, `J/op`. The page formats them (MiB/s, µs, k/s).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Unit(String);

impl From<&str> for Unit {
    fn from(unit: &str) -> Self {
        Unit(unit.to_owned())
    }
}

//! Units as the kernel gives them, and the base unit and factor that turn a stored value into what people read.

use serde::{Deserialize, Serialize};

/// The unit of a stored value. Stored values stay as the kernel gives them; [`Unit::factor`] converts to [`Unit::base`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// A plain number: a count, an identifier, a level.
    None,
    /// Bytes.
    Bytes,
    /// 1024 bytes; `/proc` writes "kB" for it.
    Kibibytes,
    /// Disk sectors of 512 bytes, whatever the device's own sector size (Documentation/admin-guide/iostats.rst).
    Sectors,
    /// Nanoseconds.
    Nanoseconds,
    /// Microseconds.
    Microseconds,
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
    /// USER_HZ ticks, a hundredth of a second on every Linux ABI that Twinscope supports (proc(5)).
    ClockTicks,
    /// Hertz.
    Hertz,
    /// Kilohertz, as cpufreq writes it.
    Kilohertz,
    /// A share between 0 and 1.
    Ratio,
    /// A share between 0 and 100.
    Percent,
    /// Thousandths of a degree Celsius, as hwmon and thermal write it.
    MilliCelsius,
    /// Millionths of a joule, as powercap writes it.
    Microjoules,
}

impl Unit {
    /// The symbol of the base unit: one of "", "B", "s", "Hz", "ratio", "%", "°C", "J".
    pub fn base(self) -> &'static str {
        match self {
            Unit::None => "",
            Unit::Bytes | Unit::Kibibytes | Unit::Sectors => "B",
            Unit::Nanoseconds | Unit::Microseconds | Unit::Milliseconds | Unit::Seconds | Unit::ClockTicks => "s",
            Unit::Hertz | Unit::Kilohertz => "Hz",
            Unit::Ratio => "ratio",
            Unit::Percent => "%",
            Unit::MilliCelsius => "°C",
            Unit::Microjoules => "J",
        }
    }

    /// What a stored value is multiplied with to be in the base unit.
    pub fn factor(self) -> f64 {
        match self {
            Unit::None | Unit::Bytes | Unit::Seconds | Unit::Hertz | Unit::Ratio | Unit::Percent => 1.0,
            Unit::Kibibytes => 1024.0,
            Unit::Sectors => 512.0,
            Unit::Nanoseconds => 1e-9,
            Unit::Microseconds | Unit::Microjoules => 1e-6,
            Unit::Milliseconds | Unit::MilliCelsius => 1e-3,
            Unit::ClockTicks => 0.01,
            Unit::Kilohertz => 1e3,
        }
    }

    /// The symbol of the base unit per second, for counters: "1/s", "B/s", "s/s" (seconds of something in each second), "W".
    pub fn per_second(self) -> &'static str {
        match self.base() {
            "" => "1/s",
            "B" => "B/s",
            "s" => "s/s",
            "J" => "W",
            _ => "1/s",
        }
    }

    /// The symbol of the base unit per operation of the workload: "1/op", "B/op", "s/op", "J/op".
    pub fn per_operation(self) -> &'static str {
        match self.base() {
            "B" => "B/op",
            "s" => "s/op",
            "J" => "J/op",
            _ => "1/op",
        }
    }
}

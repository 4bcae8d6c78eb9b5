//! Tables and charts of heat and power.

use model::{Chart, ChartKind, Column, Compare, Fold, Page, Table, Unit};

const fn throttle(name: &'static str, unit: Unit, help: &'static str) -> Column {
    // CPUs of one core, and of one package, show the same numbers.
    Column::counter(name, unit, help).worse().folded(Fold::Max)
}

/// The longest throttling since boot says nothing of a run.
const fn longest(name: &'static str, help: &'static str) -> Column {
    Column::gauge(name, Unit::Milliseconds, help).worse().folded(Fold::Max).compared(Compare::Never)
}

/// The attributes behind [`THROTTLE`], in the order of its columns.
pub(super) const THROTTLE_FILES: [&str; 8] = [
    "core_throttle_count",
    "core_throttle_total_time_ms",
    "core_throttle_max_time_ms",
    "package_throttle_count",
    "package_throttle_total_time_ms",
    "package_throttle_max_time_ms",
    "core_power_limit_count",
    "package_power_limit_count",
];

pub(super) static THROTTLE: Table = Table::wide(
    "thermal_throttle",
    "throttling of one CPU because of heat, since boot",
    &[
        Column::number("cpu", "CPU number"),
        throttle("core_throttle_count", Unit::None, "times the core was throttled").floor(0.01),
        throttle("core_throttle_total_time_ms", Unit::Milliseconds, "time the core was throttled").floor(0.001),
        longest("core_throttle_max_time_ms", "longest throttling of the core"),
        throttle("package_throttle_count", Unit::None, "times the package was throttled").floor(0.01),
        throttle("package_throttle_total_time_ms", Unit::Milliseconds, "time the package was throttled").floor(0.001),
        longest("package_throttle_max_time_ms", "longest throttling of the package"),
        throttle("core_power_limit_count", Unit::None, "times the core met its power limit").floor(0.01),
        throttle("package_power_limit_count", Unit::None, "times the package met its power limit").floor(0.01),
    ],
);

pub(super) static TEMPERATURE: Table = Table::wide(
    "temperature",
    "temperature at one sensor",
    &[
        Column::label("sensor", "thermal zone, or device and sensor of hwmon"),
        Column::label("name", "type of the zone, or chip and label of the sensor"),
        Column::gauge("temperature", Unit::MilliCelsius, "temperature")
            .worse()
            .compared(Compare::Difference)
            .folded(Fold::Max)
            .floor(5.0),
    ],
)
.grouped(&[&["name"]]);

/// The attributes behind [`ENERGY`], in the order of its columns.
pub(super) const ENERGY_FILES: [&str; 2] = ["energy_uj", "max_energy_range_uj"];

pub(super) static ENERGY: Table = Table::wide(
    "energy",
    "energy that one power zone used; the counter wraps, which reads as a reset",
    &[
        Column::label("zone", "power zone of powercap: intel-rapl:0 is a package, intel-rapl:0:0 a part of it"),
        Column::label("name", "name of the zone: package-0, core, dram, psys …"),
        Column::counter("energy", Unit::Microjoules, "energy used").floor(2.0),
        Column::gauge("max_energy_range", Unit::Microjoules, "where the counter wraps").compared(Compare::Never),
    ],
)
.grouped(&[&["zone", "name"]]);

pub(super) static CHARTS: &[Chart] = &[
    Chart::new(
        "thermal-throttle",
        Page::Cpu,
        ChartKind::Line,
        "Throttled because of heat",
        "Share of the time in which the most affected core, and package, ran slower to cool down. It should be 0.",
        "thermal_throttle",
        &["core_throttle_total_time_ms", "package_throttle_total_time_ms"],
    )
    .up_to(1.0),
    Chart::new(
        "thermal-temperature",
        Page::Cpu,
        ChartKind::Line,
        "Temperatures",
        "The hottest sensors. CPUs slow down near 100 °C.",
        "temperature",
        &["temperature"],
    )
    .by(&["name"], 8),
    Chart::new(
        "thermal-power",
        Page::Cpu,
        ChartKind::Line,
        "Power",
        "Watts by zone. A package that stays flat at its limit cannot run faster; power for the same work is its cost.",
        "energy",
        &["energy"],
    )
    .by(&["zone", "name"], 8),
];

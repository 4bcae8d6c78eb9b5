//! The parsers by themselves, for fuzzing: what they make of bytes is not declared, for declarations live as long as the program.

use super::fleet::Fleet;
use super::parquet::Parquet;
use super::preset::Preset;
use super::{Asked, csv, prometheus, sar, series, table};
use std::sync::LazyLock;

/// An answer of Prometheus.
pub fn prometheus(bytes: &[u8]) {
    let asked = Asked::default();
    let mut reader = prometheus::Reader::new(&asked);
    reader.file(bytes, "x.json", "x");
    let mut fleet = reader.finish("x");
    series::to_sheets(&mut fleet);
    fleet.check();
}

/// The JSON of sar.
pub fn sar(bytes: &[u8]) {
    let mut fleet = Fleet::new("sar");
    sar::read(bytes, "x.json", &mut fleet);
    fleet.check();
}

/// A table as text; `preset` is the number of one, or beyond them for none.
pub fn text(bytes: &[u8], preset: usize) {
    // Reading the presets takes longer than most inputs.
    static PRESETS: LazyLock<Vec<Preset>> = LazyLock::new(Preset::all);
    let preset = PRESETS.get(preset).cloned().unwrap_or_default();
    let Some(grid) = csv::Text::of(bytes, &preset, None) else { return };
    let mut fleet = Fleet::new("table");
    let _ = table::read(&grid, ("x.csv", "x"), &Asked::default(), &preset, &mut fleet);
    series::to_sheets(&mut fleet);
    fleet.check();
}

/// A table in Parquet.
pub fn parquet(bytes: Vec<u8>) {
    let Ok(grid) = Parquet::open(bytes::Bytes::from(bytes), None) else { return };
    let mut fleet = Fleet::new("table");
    let _ = table::read(&grid, ("x.parquet", "x"), &Asked::default(), &Preset::default(), &mut fleet);
    series::to_sheets(&mut fleet);
    fleet.check();
}

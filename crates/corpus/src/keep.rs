//! Makes a pair of the corpus out of two recordings.

use crate::{EXPECTED, Expected, RUNS};
use std::io::Write;
use std::path::{Path, PathBuf};
use store::{Cells, Keep};

/// Tables that no question of a cause asks and no answer is made of: settings that are facts as well where they matter, levels of the
/// kernel's allocator, how long requests took (which `compare` says), and what the recorder itself did.
const LEFT_OUT: [&str; 25] = [
    "kernel_config",
    "sysctl",
    "slab",
    "buddyinfo",
    "pagetypeinfo",
    "pageblocks",
    "zoneinfo",
    "vmstat_level",
    "filesystems",
    "hugepages",
    "thp",
    "khugepaged",
    "ksm",
    "conntrack",
    "conntrack_events",
    "protocol_levels",
    "recorder",
    "recorder_source",
    "interrupts",
    "meminfo",
    "cgroup_memory_stat",
    "cgroup_pressure",
    "sockets",
    "cpuidle",
    "turn_time",
];

/// Reads of a second become one, as they are in recordings of more than 20 s.
const STRETCH: i64 = 1_000_000_000;

/// The level of zstd: the fixtures are made once, and read by everyone.
const LEVEL: i32 = 22;

/// A pair and what is common are this large together at most, as a power of two.
pub(crate) const WINDOW: u32 = 27;

/// What recordings have in common, beside the pairs.
const COMMON: &str = "common.zst";

/// What the pairs beside the folder of one have in common.
pub(crate) fn common(folder: &Path) -> anyhow::Result<Vec<u8>> {
    let file = folder.parent().unwrap_or(Path::new(".")).join(COMMON);
    let bytes = std::fs::read(&file).map_err(|why| anyhow::anyhow!("{}: {why}", file.display()))?;
    Ok(zstd::stream::decode_all(bytes.as_slice())?)
}

/// Takes these recordings for what all have in common: declarations, facts, names of functions. Pairs that were written before must be written
/// anew.
///
/// # Errors
/// Where a recording is damaged, or the folder cannot be written.
pub fn set_common(folder: &Path, recordings: &[PathBuf]) -> anyhow::Result<()> {
    let scratch = tempfile::tempdir()?;
    let mut all = Vec::new();
    for (number, from) in recordings.iter().enumerate() {
        let to = scratch.path().join(number.to_string());
        store::extract(from, &to, &mut Asked)?;
        all.extend(std::fs::read(to)?);
    }
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join(COMMON), zstd::bulk::compress(&all, LEVEL)?)?;
    Ok(())
}

struct Asked;

impl Keep for Asked {
    fn table(&mut self, name: &str) -> bool {
        !LEFT_OUT.contains(&name) && !name.ends_with("_collector")
    }

    fn row(&mut self, _: &str, _: &Cells<'_>, _: usize) -> bool {
        true
    }

    fn edit(&mut self, table: &str, rows: &mut Cells<'_>) {
        // Means over 10 ms: hundredths of a thread are more than anyone asks.
        for row in (0..rows.len()).filter(|_| table == "running") {
            for column in ["running", "runnable"] {
                if let Some(mean) = model::real_of(rows.number(column, row)) {
                    rows.set_number(column, row, model::real((mean * 64.0).round() / 64.0));
                }
            }
        }
    }

    fn stretch(&self, table: &str) -> Option<i64> {
        // Each row of these is one, and says what it saw.
        (!["sample", "turn_followed"].contains(&table)).then_some(STRETCH)
    }
}

/// Writes the folder of a pair anew.
///
/// # Errors
/// Where a recording is damaged, or the folder cannot be written.
pub fn keep(folder: &Path, slow: &Path, fast: &Path, expected: &Expected) -> anyhow::Result<()> {
    keep_all(folder, &[("slow.twin", slow), ("fast.twin", fast)], expected)
}

/// The same with these recordings, each under its name.
///
/// # Errors
/// As [`keep`].
pub fn keep_all(folder: &Path, recordings: &[(&str, &Path)], expected: &Expected) -> anyhow::Result<()> {
    let scratch = tempfile::tempdir()?;
    let mut archive = tar::Builder::new(Vec::new());
    for &(name, from) in recordings {
        let to = scratch.path().join(name);
        store::extract(from, &to, &mut Asked)?;
        let bytes = std::fs::read(&to)?;
        // The same recordings make the same archive: no time, no owner.
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        archive.append_data(&mut header, name, bytes.as_slice())?;
    }
    std::fs::create_dir_all(folder)?;
    let common = common(folder)?;
    let mut encoder = zstd::stream::Encoder::with_ref_prefix(Vec::new(), LEVEL, &common)?;
    encoder.window_log(WINDOW)?;
    encoder.write_all(&archive.into_inner()?)?;
    std::fs::write(folder.join(RUNS), encoder.finish()?)?;
    std::fs::write(folder.join(EXPECTED), serde_json::to_string_pretty(expected)? + "\n")?;
    Ok(())
}

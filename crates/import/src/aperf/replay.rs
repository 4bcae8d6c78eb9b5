//! Texts of `/proc` and `/sys` that a run of APerf has, tick by tick, as a host to our own readers: what these make of a host, they make of a run.

use super::{Files, Records};
use crate::profile::{Origin, Profile};
use host::Host;
use model::{Chart, Coverage, Out, Rows, Status, Table, Unavailable};
use sources::{Reader, Scope, Source};
use std::path::{Component, Path};

/// A file of a run: the names it has had, which files of the host its texts are, and which of our sources read these.
struct Kind {
    names: &'static [&'static str],
    texts: &'static [&'static str],
    /// Whether a number stands before the texts.
    number: bool,
    sources: &'static [&'static str],
}

const fn kind(
    names: &'static [&'static str],
    texts: &'static [&'static str],
    sources: &'static [&'static str],
) -> Kind {
    Kind { names, texts, number: false, sources }
}

/// Where the texts of several files stand in one, each below its name.
const NODES: &str = "/sys/devices/system/node";

/// What is replayed. Processes are not: of each there is `/proc/PID/stat` only, which our reader alone makes little of.
static KINDS: [Kind; 8] = [
    kind(&["cpu_utilization"], &["/proc/stat"], &["cpu", "kernel"]),
    kind(&["vmstat"], &["/proc/vmstat"], &["vmstat"]),
    kind(&["diskstats", "disk_stats"], &["/proc/diskstats"], &["disks"]),
    kind(&["interrupts"], &["/proc/interrupts"], &["interrupts"]),
    kind(&["meminfo"], &["/proc/meminfo"], &["meminfo"]),
    kind(&["netstat"], &["/proc/net/netstat"], &["protocols"]),
    kind(
        &["memalloc"],
        &["/proc/buddyinfo", "/proc/pagetypeinfo", "/proc/slabinfo"],
        &["buddyinfo", "pagetypeinfo", "slab"],
    ),
    kind(&["numastat"], &[NODES], &["numa"]),
];

/// Replays all files of a run; whether there was one.
///
/// # Errors
/// Where there is no place for the files of a tick.
pub(super) fn replay(files: &Files<'_>, profile: &mut Profile) -> Result<bool, String> {
    let mut replayed: Vec<&str> = Vec::new();
    let (mut first, mut last, mut usual) = (i64::MAX, i64::MIN, 0);
    for kind in &KINDS {
        let Some(content) = files.kind(kind.names) else { continue };
        let name = kind.names.first().copied().unwrap_or_default();
        let records = Records::with(content, kind.texts.len(), kind.number);
        let ticks = one(kind, name, records, profile)?;
        if let (Some(from), Some(to)) = (ticks.first(), ticks.last()) {
            (first, last) = (first.min(*from), last.max(*to));
            let steps = ticks.windows(2).map(|pair| pair.get(1).zip(pair.first()).map_or(0, |(b, a)| b - a));
            usual = usual.max(steps.filter(|step| *step > 0).min().unwrap_or(0));
            replayed.extend(kind.sources);
        }
    }
    if replayed.is_empty() {
        return Ok(false);
    }
    for source in sources::ALL.iter().filter(|source| !replayed.contains(&source.name)) {
        profile.missing.push(Coverage {
            source: source.name.into(),
            item: String::new(),
            status: Status::Absent,
            why: format!("APerf does not record it: {}", source.title),
            remedy: Some("twinscope record on the host".into()),
        });
    }
    let start = profile.start.map_or(first, |start| start.min(first));
    let end = profile.start.zip(profile.manifest.duration).map_or(last, |(start, length)| (start + length).max(last));
    profile.start = Some(start);
    let manifest = &mut profile.manifest;
    (manifest.start_unix, manifest.duration) = (start, Some(end.saturating_sub(start)));
    if manifest.interval == 0 {
        // Files are read one after another: to the second they have one interval.
        manifest.interval = (usual + 500_000_000) / 1_000_000_000 * 1_000_000_000;
    }
    Ok(true)
}

/// Replays one file. Returns the times of its ticks.
fn one(kind: &Kind, name: &str, mut records: Records<'_>, profile: &mut Profile) -> Result<Vec<i64>, String> {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    let folder = folder.map_err(|why| format!("no folder for the files of a tick: {why}"))?;
    let host = Host::fixture(folder.path());
    let mut opened: Vec<Opened> = Vec::new();
    let mut ticks: Vec<i64> = Vec::new();
    let mut start = None;
    while let Some((at, _)) = records.next() {
        // Clocks on the wall can go back.
        if ticks.last().is_some_and(|last| at <= *last) {
            profile.count("records of APerf whose time goes back, left out", 1);
            continue;
        }
        for (path, text) in kind.texts.iter().zip(&records.last) {
            put(folder.path(), path, text).map_err(|why| format!("{}: {why}", folder.path().display()))?;
        }
        let from = *start.get_or_insert(at);
        host.set_frame(0, u64::try_from(at.saturating_sub(from)).unwrap_or(0));
        if ticks.is_empty() {
            opened = kind.sources.iter().filter_map(|source| Opened::of(source, &host, profile)).collect();
        }
        ticks.push(at);
        opened.iter_mut().for_each(|source| source.read(&host, at, profile));
    }
    if records.damaged {
        let kept = ticks.len();
        profile.note(format!(
            "{name}.bin: {} bytes at the end are no record (cut short, or a length that cannot be); the {kept} records before are kept",
            records.left()
        ));
    }
    let step = ticks.windows(2).map(|pair| pair.get(1).zip(pair.first()).map_or(0, |(b, a)| b - a)).min().unwrap_or(0);
    for source in opened {
        source.finish(step, profile);
    }
    Ok(ticks)
}

/// Writes the text of a file of the host. The text of the folder of nodes holds that of each, below a line `node0:`.
fn put(root: &Path, path: &str, text: &str) -> std::io::Result<()> {
    if path != NODES {
        return write(root, path, text);
    }
    let mut online = Vec::new();
    let mut own: Option<(u32, String)> = None;
    for line in text.lines().chain(std::iter::once("node:")) {
        match line.strip_prefix("node").and_then(|rest| rest.strip_suffix(':')) {
            Some(number) => {
                if let Some((number, text)) = own.take() {
                    write(root, &format!("{NODES}/node{number}/numastat"), &text)?;
                    online.push(number.to_string());
                }
                own = number.parse().ok().filter(|_| online.len() < 1024).map(|number| (number, String::new()));
            }
            None => {
                if let Some((_, text)) = own.as_mut().filter(|_| !line.is_empty()) {
                    text.push_str(line);
                    text.push('\n');
                }
            }
        }
    }
    write(root, &format!("{NODES}/online"), &online.join(","))
}

fn write(root: &Path, path: &str, text: &str) -> std::io::Result<()> {
    let relative = Path::new(path.trim_start_matches('/'));
    debug_assert!(relative.components().all(|part| matches!(part, Component::Normal(_))));
    let path = root.join(relative);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "sources hold the file open, so that it must stay the same one; the folder is new and ours"
    )]
    std::fs::write(path, text)
}

/// A source that reads a run.
struct Opened {
    source: &'static Source,
    reader: Box<dyn Reader>,
    coverage: Vec<Coverage>,
    failed: Option<Unavailable>,
    tables: Vec<&'static Table>,
}

impl Opened {
    fn of(name: &str, host: &Host, profile: &mut Profile) -> Option<Opened> {
        let source = sources::by_name(name)?;
        match (source.open)(host, &Scope::default()) {
            Ok(reader) => Some(Opened { source, reader, coverage: Vec::new(), failed: None, tables: Vec::new() }),
            Err(why) => {
                profile.missing.push(Coverage::unavailable(source.name, "", why));
                None
            }
        }
    }

    fn read(&mut self, host: &Host, at: i64, profile: &mut Profile) {
        let mut rows = vec![Rows::default(); self.source.tables.len()];
        let mut facts = Vec::new();
        let mut out = Out::new(
            self.source.name,
            self.source.tables,
            &mut rows,
            &mut profile.symbols,
            &mut self.coverage,
            &mut facts,
        );
        if let Err(why) = self.reader.read(host, &mut out) {
            self.failed = Some(why);
        }
        profile.facts.extend(facts);
        for (&table, rows) in self.source.tables.iter().zip(&rows) {
            for cells in rows.iter() {
                profile.row(table, at, cells.to_vec());
            }
            if !rows.is_empty() && !self.tables.iter().any(|own| std::ptr::eq(*own, table)) {
                self.tables.push(table);
            }
        }
    }

    fn finish(self, interval: i64, profile: &mut Profile) {
        profile.missing.extend(self.coverage);
        if let Some(why) = self.failed {
            profile.missing.push(Coverage::unavailable(self.source.name, "", why));
        }
        let is_there = |chart: &&Chart| self.tables.iter().any(|table| table.name == chart.table);
        let charts = self.source.charts.iter().filter(is_there).copied().collect();
        profile.sources.push(Origin {
            name: self.source.name.to_owned(),
            title: self.source.title.to_owned(),
            interval,
            charts,
            tables: self.tables,
        });
    }
}

//! Captures a fixture from the live host: exactly the files that sources declare in `reads`, with some frames at an interval.
//!
//! ```text
//! cargo run -p twinscope-sources --example capture_fixture -- OUT [--source NAME]… [--pid PID]… [--frames N] [--interval SECONDS]
//!     [--limit BYTES] [--space PATH]… [--about TEXT]
//! ```
//!
//! `OUT` is a folder such as `fixtures/hosts/vm-2cpu`; what is there already is kept, files captured again are replaced. Without `--source`,
//! all sources. Of `/proc/*/…`, only the processes given by `--pid` are taken ("self" too). The first frame goes to
//! `frame-0/`; `frame-1/`, `frame-2/` … hold the files that have changed since (see `host::Host`). Files longer
//! than the limit (default 256 KiB) are cut at the last line that fits, and ORIGIN.md says which. `--space` records the space of mounted
//! file systems (default: those of the mounts that lie on block devices) as `.statvfs`. ORIGIN.md is extended, never replaced.
//!
//! Look through what was captured before it is published: command lines, host names and addresses are copied as they are.

use clap::Parser;
use clap::builder::{PathBufValueParser, PossibleValuesParser, TypedValueParser};
use host::{Host, Setting};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

/// Captures a fixture from the live host: the files that sources declare, with some frames at an interval
#[derive(Parser)]
struct Options {
    /// The folder, such as fixtures/hosts/vm-2cpu
    #[arg(value_parser = PathBufValueParser::new().try_map(files::plain_name))]
    out: PathBuf,

    /// Only what this source reads; may be given several times
    #[arg(long = "source", value_name = "NAME", hide_possible_values = true,
          value_parser = PossibleValuesParser::new(sources::ALL.iter().map(|source| source.name)))]
    sources: Vec<String>,

    /// A process whose files are taken, or `self`; may be given several times
    #[arg(long = "pid", value_name = "PID")]
    pids: Vec<String>,

    /// A mounted file system whose space is taken [default: those on block devices]
    #[arg(long = "space", value_name = "PATH")]
    spaces: Vec<String>,

    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    frames: u32,

    /// Time between frames
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = |text: &str| text.parse().map(Duration::from_secs))]
    interval: Duration,

    /// Longer files are cut at the last line that fits
    #[arg(long, value_name = "BYTES", default_value_t = 256 << 10)]
    limit: usize,

    /// What ORIGIN.md says of it
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    about: String,
}

/// One captured file.
#[derive(PartialEq)]
enum Captured {
    /// Its bytes, and whether they were cut.
    File(Vec<u8>, bool),
    /// Where the link points.
    Link(PathBuf),
    /// A folder that a source asks for by name, such as a device.
    Folder,
}

fn main() {
    if let Err(message) = capture(&Options::parse()) {
        eprintln!("capture_fixture: {message}");
        std::process::exit(1);
    }
}

fn capture(options: &Options) -> Result<(), String> {
    let host = Host::live();
    let patterns: BTreeSet<&str> = sources::ALL
        .iter()
        .filter(|s| options.sources.is_empty() || options.sources.iter().any(|name| name == s.name))
        .flat_map(|s| s.reads.iter().copied())
        .collect();
    let mut before: BTreeMap<String, Captured> = BTreeMap::new();
    let mut denied = BTreeSet::new();
    for frame in 0..options.frames {
        if frame > 0 {
            std::thread::sleep(options.interval);
        }
        let mut now = BTreeMap::new();
        for pattern in &patterns {
            for path in paths(&host, pattern, &options.pids) {
                match read(&host, &path, options.limit) {
                    Ok(captured) => drop(now.insert(path, captured)),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => drop(denied.insert(format!("{path}: {error}"))),
                }
            }
        }
        for (path, file) in spaces(&host, &options.spaces) {
            now.insert(path, file);
        }
        // A link below which files were captured must be a folder here.
        let names: Vec<String> = now.keys().cloned().collect();
        for (path, captured) in &mut now {
            let below = format!("{path}/");
            if names.iter().any(|name| name.starts_with(&below)) {
                *captured = Captured::Folder;
            }
        }
        if options.sources.is_empty() || options.sources.iter().any(|name| matches!(name.as_str(), "facts" | "ethtool"))
        {
            now.extend(drivers(&host));
        }
        let folder = options.out.join(format!("frame-{frame}"));
        let changed = now.iter().filter(|(path, captured)| frame == 0 || before.get(*path) != Some(captured));
        for (path, captured) in changed {
            write(&folder.join(path.trim_start_matches('/')), captured)
                .map_err(|error| format!("{}{path}: {error}", folder.display()))?;
        }
        before.extend(now);
    }
    let cut: Vec<&String> =
        before.iter().filter(|(_, c)| matches!(c, Captured::File(_, true))).map(|(path, _)| path).collect();
    origin(&host, options, before.len(), &cut, &denied).map_err(|error| format!("ORIGIN.md: {error}"))?;
    println!(
        "{} files in {}, {} cut, {} could not be read",
        before.len(),
        options.out.display(),
        cut.len(),
        denied.len()
    );
    Ok(())
}

/// The paths of a pattern on the live host. `/proc/*/…` stands for the given processes only; where the pattern is not about
/// processes (`/proc/sys/*`), it is taken as it is.
fn paths(host: &Host, pattern: &str, pids: &[String]) -> Vec<String> {
    match pattern.strip_prefix("/proc/*/") {
        Some(rest) => pids.iter().flat_map(|pid| host.glob(&format!("/proc/{pid}/{rest}"))).collect(),
        None => host.glob(pattern),
    }
}

fn read(host: &Host, path: &str, limit: usize) -> io::Result<Captured> {
    let found = host.path(path).symlink_metadata()?;
    if found.is_symlink() {
        let target = fs::read_link(host.path(path))?;
        // A link that leads elsewhere on the host, or to a folder, says something by itself (`exe`, `driver`); one to a file beside it
        // (`/proc/mounts`) is only another name.
        let is_name = !target.is_absolute() && host.path(path).is_file();
        let in_kernel = path.starts_with("/proc/") || path.starts_with("/sys/");
        if in_kernel && !is_name {
            return Ok(Captured::Link(target));
        }
    }
    if host.path(path).is_dir() {
        return Ok(Captured::Folder);
    }
    let mut bytes = fs::read(host.path(path))?;
    let cut = bytes.len() > limit;
    if cut {
        bytes.truncate(limit);
        if let Some(end) = bytes.iter().rposition(|&b| b == b'\n') {
            bytes.truncate(end + 1);
        }
    }
    Ok(Captured::File(bytes, cut))
}

/// Space of file systems, as the files that a fixture holds for them.
fn spaces(host: &Host, given: &[String]) -> Vec<(String, Captured)> {
    let mounts = host.read_text("/proc/self/mounts").unwrap_or_default();
    let mounted = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let (device, point) = (words.next()?, words.next()?);
        device.starts_with("/dev/").then(|| point.to_owned())
    });
    let points: BTreeSet<String> = if given.is_empty() { mounted.collect() } else { given.iter().cloned().collect() };
    let file = |point: String| {
        let s = host.space(&point).ok()?;
        let numbers = [s.block, s.blocks, s.free, s.available, s.files, s.files_free].map(|n| n.to_string()).join(" ");
        Some((
            format!("{}/.statvfs", point.trim_end_matches('/')),
            Captured::File(format!("{numbers}\n").into(), false),
        ))
    };
    points.into_iter().filter_map(file).collect()
}

/// What the drivers of network interfaces say, as the files that a fixture holds for it.
fn drivers(host: &Host) -> Vec<(String, Captured)> {
    const SETTINGS: &[(&str, Setting)] = &[
        ("driver", Setting::Driver),
        ("rings", Setting::Rings),
        ("channels", Setting::Channels),
        ("coalescing", Setting::Coalescing),
        ("features", Setting::Features),
    ];
    let mut files = Vec::new();
    for device in host.glob("/sys/class/net/*/device") {
        let Some(name) = device.split('/').rev().nth(1) else { continue };
        let mut add = |file: &str, lines: Vec<String>| {
            files.push((format!("/.ethtool/{name}/{file}"), Captured::File((lines.join("\n") + "\n").into(), false)));
        };
        for (file, setting) in SETTINGS {
            if let Ok(values) = host.ethtool(name, *setting) {
                add(file, values.iter().map(|(name, value)| format!("{name} {value}")).collect());
            }
        }
        if let Ok(all) = host.driver_statistics(name) {
            add(
                "statistics",
                all.names().iter().zip(all.values()).map(|(name, value)| format!("{name} {value}")).collect(),
            );
        }
    }
    files
}

fn write(path: &Path, captured: &Captured) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    match captured {
        Captured::File(bytes, _) => fs::write(path, bytes),
        Captured::Folder => fs::create_dir_all(path),
        Captured::Link(target) => {
            if path.symlink_metadata().is_ok_and(|found| !found.is_dir()) {
                fs::remove_file(path)?;
            }
            match std::os::unix::fs::symlink(target, path) {
                // Another source reads files below it, so that it is a folder here.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
                done => done,
            }
        }
    }
}

fn origin(host: &Host, options: &Options, files: usize, cut: &[&String], denied: &BTreeSet<String>) -> io::Result<()> {
    let path = options.out.join("ORIGIN.md");
    let mut text = fs::read_to_string(&path).unwrap_or_default();
    let read = |path: &str| host.read_text(path).unwrap_or_else(|_| "unknown".into());
    let days = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_secs() / 86_400);
    let (year, month, day) = date(days as i64);
    let which = if options.sources.is_empty() { "all sources".into() } else { options.sources.join(", ") };
    text.push_str(&format!(
        "\n## {which}\n\n{}Captured on {year}-{month:02}-{day:02} from Linux {} ({} CPUs online) by the example `capture_fixture`: {files} files, {} \
         frames, {} s apart, processes: {}.\n",
        if options.about.is_empty() { String::new() } else { format!("{}\n\n", options.about) },
        read("/proc/sys/kernel/osrelease"),
        read("/sys/devices/system/cpu/online"),
        options.frames,
        options.interval.as_secs(),
        if options.pids.is_empty() { "none".into() } else { options.pids.join(", ") },
    ));
    for path in cut {
        text.push_str(&format!("- cut at {} bytes: `{path}`\n", options.limit));
    }
    for error in denied {
        text.push_str(&format!("- not readable: `{error}`\n"));
    }
    fs::write(path, text.trim_start())
}

/// The Gregorian date of a day counted from 1970-01-01 (Howard Hinnant, "chrono-compatible low-level date algorithms").
fn date(days: i64) -> (i64, i64, i64) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    (yoe + era * 400 + i64::from(month <= 2), month, doy - (153 * mp + 2) / 5 + 1)
}

//! What the options make of a recording: its file, how far apart its reads are, which sources are read, its manifest.

use crate::options::{Record, Usage};
use anyhow::{Context, Result, bail};
use host::Host;
use model::Manifest;
use sources::{Pace, Source};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The interval unless one is asked for.
const INTERVAL: Duration = Duration::from_secs(1);

/// The interval at the start where threads are traced, unless one is asked for, and for how long.
const SPRINT: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(20));

/// Recordings of at most this length have that interval to their end: later ones would be too few to tell chance from change.
const SHORT: Duration = Duration::from_secs(60);

/// How far apart the ticks are: `base` during the sprint, `stride` times that later.
pub(crate) struct Ticks {
    pub(crate) base: Duration,
    pub(crate) sprint: Duration,
    pub(crate) stride: u64,
}

impl Ticks {
    pub(crate) fn of(options: &Record) -> Self {
        let is_traced = !options.command.is_empty() || options.whose.is_named();
        match options.interval {
            Some(base) => Ticks { base, sprint: Duration::ZERO, stride: 1 },
            None if !is_traced => Ticks { base: INTERVAL, sprint: Duration::ZERO, stride: 1 },
            None => {
                let sprint =
                    options.duration.filter(|length| *length <= SHORT).map_or(SPRINT.1, |length| length.max(SPRINT.1));
                Ticks { base: SPRINT.0, sprint, stride: (INTERVAL.as_nanos() / SPRINT.0.as_nanos()) as u64 }
            }
        }
    }
}

/// Where to record to: the name given, or one made of the command's name or the time.
pub(crate) fn output(options: &Record) -> Result<PathBuf> {
    if let Some(path) = &options.output {
        if path.file_name().is_none() || path.is_dir() {
            bail!("{}: is a folder; name a file, such as {}", path.display(), path.join("slow.twin").display());
        }
        let inputs: Vec<PathBuf> =
            options.throughput_file.iter().cloned().chain(options.counters.iter().map(PathBuf::from)).collect();
        let replace = options.force || options.rotate.is_some();
        let rules = files::Rules { replace, recording: true, inputs: &inputs, ..files::Rules::default() };
        return match files::check(path, &rules) {
            Err(why) if why.kind() == std::io::ErrorKind::InvalidInput => {
                Err(Usage(format!("{}: {why}", path.display())).into())
            }
            // That it exists is said when it is created.
            _ => Ok(path.clone()),
        };
    }
    let base = match options.command.first() {
        Some(command) => Path::new(command).file_name().map_or("command".into(), |n| n.to_string_lossy().into_owned()),
        None => "recording".into(),
    };
    let free = |n: usize| PathBuf::from(if n == 0 { format!("{base}.twin") } else { format!("{base}-{n}.twin") });
    (0..10_000)
        .map(free)
        .find(|p| p.symlink_metadata().is_err())
        .context("10,000 recordings of this name are here already; name one with -o")
}

/// How many ticks of length `tick` fill `time`; at least one.
pub(crate) fn ticks(time: Duration, tick: Duration) -> u64 {
    (time.as_nanos() as u64).div_ceil(tick.as_nanos() as u64).max(1)
}

/// The sources that the options choose, each with its interval in ticks (0: once).
pub(crate) fn chosen(options: &Record, pace: &Ticks) -> Result<Vec<(&'static Source, u64)>> {
    let known = || sources::ALL.iter().map(|s| s.name).collect::<Vec<_>>().join(", ");
    let named = options.only.iter().chain(&options.skip).chain(options.every.iter().map(|(name, _)| name));
    for name in named {
        if sources::by_name(name).is_none() {
            return Err(Usage(format!("there is no source {name:?}; there are: {}", known())).into());
        }
    }
    let ticks = |time| ticks(time, pace.base);
    let every = |source: &Source| {
        let given = options.every.iter().rev().find(|(name, _)| name == source.name);
        match (given, source.pace) {
            (_, Pace::Once) => 0,
            (Some((_, time)), _) => ticks(*time),
            (None, Pace::Tick) => 1,
            (None, Pace::AtLeast(seconds)) => ticks(Duration::from_secs(seconds)),
        }
    };
    Ok(sources::ALL.iter().filter(|s| !options.leaves_out(s.name)).map(|&s| (s, every(s))).collect())
}

/// What is known of the recording at its start, which was at `start` (CLOCK_MONOTONIC, nanoseconds), just now.
pub(crate) fn manifest(options: &Record, pace: &Ticks, host: &Host, path: &Path, start: u64) -> Manifest {
    let text = |path: &str| host.read_text(path).unwrap_or_default();
    let uname = rustix::system::uname();
    let word = |s: &std::ffi::CStr| s.to_string_lossy().into_owned();
    let unix = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
    let since = host.now().saturating_sub(start) as i64;
    let memory = text("/proc/meminfo")
        .lines()
        .find_map(|l| l.strip_prefix("MemTotal:")?.trim().strip_suffix("kB")?.trim().parse::<i64>().ok());
    let command = (!options.command.is_empty()).then(|| {
        let words: Vec<_> = options.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        if options.unmasked { words } else { sources::mask::arguments(&words) }
    });
    Manifest {
        tool: crate::VERSION.into(),
        name: options
            .name
            .clone()
            .unwrap_or_else(|| path.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned())),
        host: word(uname.nodename()),
        kernel: word(uname.release()),
        machine: word(uname.machine()),
        boot_id: text("/proc/sys/kernel/random/boot_id"),
        start_unix: unix.tv_sec.saturating_mul(1_000_000_000).saturating_add(unix.tv_nsec).saturating_sub(since),
        start_monotonic: start as i64,
        interval: pace.base.as_nanos() as i64 * pace.stride as i64,
        sprint: (!pace.sprint.is_zero()).then_some((pace.base.as_nanos() as i64, pace.sprint.as_nanos() as i64)),
        page_size: rustix::param::page_size() as i64,
        cpus: host.read("/sys/devices/system/cpu/online").map_or(0, |list| sources::parse::list(&list).len() as i64),
        memory: memory.unwrap_or(0).saturating_mul(1024),
        command,
        work_by: options.work.as_ref().map_or_else(String::new, ToString::to_string),
        labels: options.label.iter().cloned().collect(),
        ..Manifest::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::testing::record;

    #[test]
    fn short_recordings_of_threads_are_read_as_often_as_commands() {
        let of = |words: &[&str]| {
            let record = record(words).unwrap();
            let Ticks { base, sprint, stride } = Ticks::of(&record);
            (base.as_millis(), sprint.as_secs(), stride)
        };
        let (sprint, plain) = ((200, 20, 5), (1000, 0, 1));
        assert_eq!(of(&[]), plain);
        assert_eq!(of(&["-d", "5s"]), plain, "the system as a whole");
        for words in [
            &["--all"][..],
            &["--pid=1"],
            &["--cgroup=x"],
            &["--", "true"],
            &["--all", "-d", "5s"],
            &["--all", "-d", "2m"],
        ] {
            assert_eq!(of(words), sprint, "{words:?}");
        }
        assert_eq!(of(&["--all", "-d", "1m"]), (200, 60, 5));
        assert_eq!(of(&["--all", "-d", "1m", "-i", "2s"]), (2000, 0, 1));
    }
}

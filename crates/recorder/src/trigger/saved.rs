//! What happens when a trigger fires: a while later a snapshot is saved, meanwhile, where that was asked for, a second recorder takes a close look;
//! and of all that was saved so, only the latest are kept.

use super::Fired;
use crate::program::{say, spawn};
use crate::then::Runs;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

/// How much is kept, and of what.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// So long after a trigger fired its snapshot is saved.
    pub(crate) after: Duration,
    /// Files of triggers that are kept, and their bytes.
    pub(crate) most: usize,
    pub(crate) most_size: u64,
    /// For so long a close look is taken.
    pub(crate) close_look: Option<Duration>,
}

/// A snapshot that is to be saved.
#[derive(Debug)]
pub(crate) struct Waiting {
    due: u64,
    pub(crate) path: PathBuf,
    /// What the snapshot's manifest says of it.
    pub(crate) labels: BTreeMap<String, String>,
}

/// The files of triggers of one recording.
#[derive(Debug)]
pub(crate) struct Saved {
    asked: Asked,
    /// The recording, without its ending.
    stem: PathBuf,
    waiting: Vec<Waiting>,
    /// Snapshots that are being written.
    written: Vec<PathBuf>,
    looks: Vec<(Child, PathBuf)>,
}

/// So long is waited for a close look that was told to end: it looks for names meanwhile.
const PATIENCE: Duration = Duration::from_secs(30);

impl Saved {
    pub(crate) fn new(recording: &Path, asked: Asked) -> Self {
        Saved { asked, stem: recording.with_extension(""), waiting: Vec::new(), written: Vec::new(), looks: Vec::new() }
    }

    /// A trigger called `name` fired at `now`, nanoseconds since the start, and `unix`, seconds since 1970.
    pub(crate) fn fired(&mut self, fired: &Fired, name: &str, now: u64, unix: i64) {
        let labels = BTreeMap::from([
            ("trigger".to_owned(), name.to_owned()),
            ("trigger.what".to_owned(), fired.what.clone()),
            ("trigger.value".to_owned(), fired.value.clone()),
            ("trigger.threshold".to_owned(), fired.threshold.clone()),
            ("trigger.at".to_owned(), utc(unix)),
            ("trigger.since".to_owned(), format!("{:.3}", fired.since as f64 / 1e9)),
        ]);
        let stem = self.stem.clone();
        let of = |ending: &str| {
            let mut path = stem.clone().into_os_string();
            path.push(format!("-{}-{name}{ending}.twin", utc(unix)));
            PathBuf::from(path)
        };
        if let Some(time) = self.asked.close_look {
            self.look(of("-close-look"), time, &labels);
        }
        self.waiting.push(Waiting { due: now + self.asked.after.as_nanos() as u64, path: of(""), labels });
    }

    /// When the next snapshot is due.
    pub(crate) fn deadline(&self) -> u64 {
        self.waiting.iter().map(|waiting| waiting.due).min().unwrap_or(u64::MAX)
    }

    /// A snapshot that is due at `now`.
    pub(crate) fn due(&mut self, now: u64) -> Option<Waiting> {
        let at = self.waiting.iter().position(|waiting| waiting.due <= now)?;
        let waiting = self.waiting.swap_remove(at);
        self.written.push(waiting.path.clone());
        Some(waiting)
    }

    /// Looks after what is under way: removes the oldest files where there are too many, and takes in close looks that ended.
    pub(crate) fn tend(&mut self, then: &Runs) {
        let (done, open): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.written).into_iter().partition(|path| path.exists());
        self.written = open;
        let mut ended = Vec::new();
        self.looks.retain_mut(|(child, path)| match child.try_wait() {
            Ok(None) => true,
            Ok(Some(status)) => {
                if status.success() || path.exists() {
                    ended.push(path.clone());
                } else {
                    say!("twinscope: the close look failed ({status}): {}", path.display());
                }
                false
            }
            Err(_) => false,
        });
        if !done.is_empty() || !ended.is_empty() {
            self.forget_oldest();
        }
        ended.into_iter().for_each(|path| then.complete(path));
    }

    /// The recording ends: what waits is due now, and close looks end.
    pub(crate) fn finish(&mut self, then: &Runs) -> Vec<Waiting> {
        for (child, _) in &self.looks {
            // SAFETY: a plain system call.
            unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
        }
        let end = std::time::Instant::now() + PATIENCE;
        while !self.looks.is_empty() && std::time::Instant::now() < end {
            self.tend(then);
            std::thread::sleep(Duration::from_millis(20));
        }
        for (mut child, path) in std::mem::take(&mut self.looks) {
            say!("twinscope: the close look did not end in time; what it has is in {}", path.display());
            let _ = child.kill();
            let _ = child.wait();
        }
        std::mem::take(&mut self.waiting)
    }

    fn look(&mut self, path: PathBuf, time: Duration, labels: &BTreeMap<String, String>) {
        if !self.looks.is_empty() {
            // One is under way; a second would only disturb it.
            return;
        }
        // A recording of its own: what the recorder needs for it in memory and in the kernel is gone when it is over.
        let seconds = format!("{}s", time.as_secs_f64());
        let mut words: Vec<OsString> = ["/proc/self/exe", "record", "-q", "--all", "--stacks", "-d", &seconds, "-o"]
            .iter()
            .map(OsString::from)
            .collect();
        words.push(path.clone().into());
        if let Some(mode) = files::asked_mode() {
            words.extend(["--mode".into(), format!("{mode:o}").into()]);
        }
        for (key, value) in labels {
            words.extend(["--label".into(), format!("{key}={value}").into()]);
        }
        match spawn(&words) {
            Ok(child) => self.looks.push((child, path)),
            Err(why) => say!("twinscope: a close look cannot be taken: {why}"),
        }
    }

    /// Removes the oldest files of triggers until what is left is within the bounds. The latest stays, however large it is.
    fn forget_oldest(&self) {
        let Some(name) = self.stem.file_name().map(|name| name.to_string_lossy().into_owned()) else { return };
        let folder = self.stem.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let Ok(entries) = std::fs::read_dir(folder) else { return };
        let mut files: Vec<(String, PathBuf, u64)> = entries
            .flatten()
            .filter_map(|entry| {
                let file = entry.file_name().into_string().ok()?;
                let at = of_trigger(&name, &file)?.to_owned();
                Some((at, entry.path(), entry.metadata().ok()?.len()))
            })
            .collect();
        files.sort_unstable();
        let mut bytes: u64 = files.iter().map(|(.., size)| size).sum();
        let mut left = files.len();
        for (_, path, size) in files {
            if left <= 1 || (left <= self.asked.most && bytes <= self.asked.most_size) {
                break;
            }
            (left, bytes) = (left - 1, bytes - size);
            match std::fs::remove_file(&path) {
                Ok(()) => say!(
                    "twinscope: removed {}, the oldest snapshot of a trigger (--most, --most-size)",
                    path.display()
                ),
                Err(why) => say!("twinscope: {}: cannot be removed: {why}", path.display()),
            }
        }
    }
}

/// The time in the name of a file, if a trigger of the recording `stem` had it saved.
fn of_trigger<'a>(stem: &str, file: &'a str) -> Option<&'a str> {
    let rest = file.strip_prefix(stem)?.strip_prefix('-')?;
    let (time, rest) = rest.split_at_checked("20261126T210000Z".len())?;
    let fits = |(at, c): (usize, char)| match at {
        8 => c == 'T',
        15 => c == 'Z',
        _ => c.is_ascii_digit(),
    };
    let name = rest.strip_prefix('-')?.strip_suffix(".twin")?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    (time.chars().enumerate().all(fits) && !name.is_empty() && name.chars().all(is_plain)).then_some(time)
}

/// Seconds since 1970 as `20261126T210405Z`.
pub(crate) fn utc(unix: i64) -> String {
    // SAFETY: all zeros are a time, which gmtime_r fills in; both pointers are valid.
    let time = unsafe {
        let mut time: libc::tm = std::mem::zeroed();
        libc::gmtime_r(&unix, &mut time);
        time
    };
    let (year, month) = (time.tm_year + 1900, time.tm_mon + 1);
    format!("{year:04}{month:02}{:02}T{:02}{:02}{:02}Z", time.tm_mday, time.tm_hour, time.tm_min, time.tm_sec)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fired(t: i64) -> Fired {
        let [what, value, threshold] = ["cpu.busy 2 s/s > 1 s/s", "2 s/s", "1 s/s"].map(str::to_owned);
        Fired { trigger: 0, t, since: t - 5_000_000_000, what, value, threshold }
    }

    #[test]
    fn a_week_of_firing_stays_within_the_bounds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("flight.twin");
        for other in ["flight-20260101T000000Z-busy.twin.part", "flight-notes.twin", "other-20260101T000000Z-a.twin"] {
            std::fs::write(folder.path().join(other), "not ours").unwrap();
        }
        let asked = Asked { after: Duration::from_secs(30), most: 20, most_size: 1000, close_look: None };
        let mut saved = Saved::new(&path, asked);
        let then = Runs::default();
        for hour in 0..24 * 7u64 {
            let now = hour * 3_600_000_000_000;
            saved.fired(&fired(now as i64), "busy", now, 1_795_000_000 + hour as i64 * 3600);
            assert!(saved.due(now).is_none());
            let due = saved.due(saved.deadline()).unwrap();
            assert_eq!(due.labels["trigger"], "busy");
            assert_eq!(due.labels["trigger.since"], format!("{:.3}", now as f64 / 1e9 - 5.0));
            // Every tenth is large.
            std::fs::write(&due.path, vec![0; if hour % 10 == 0 { 400 } else { 40 }]).unwrap();
            saved.tend(&then);
            let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().flatten().collect();
            let size = |f: &std::fs::DirEntry| f.metadata().unwrap().len();
            assert!(files.len() <= 23 && files.iter().map(size).sum::<u64>() <= 1000 + 24, "{hour}");
            assert!(due.path.exists());
        }
        assert!(folder.path().join("flight-notes.twin").exists());
    }

    #[test]
    fn names_carry_the_time() {
        assert_eq!(utc(1_795_726_805), "20261126T210005Z");
        assert_eq!(of_trigger("flight", "flight-20261126T212005Z-busy-close-look.twin"), Some("20261126T212005Z"));
        for other in ["flight.twin", "flight-20261126T212005-busy.twin", "flight-20261126T212005Z-.twin", "flight-é"] {
            assert_eq!(of_trigger("flight", other), None, "{other}");
        }
    }
}

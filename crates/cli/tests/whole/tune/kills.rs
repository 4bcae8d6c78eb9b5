//! Sessions that are killed.

use super::{AB, runs, show, sound, write};
use crate::common::{Done, Folder, Random, Running, skipped};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A slow ab of which it is known how it ends; its processes have `word` among their words.
pub(super) fn slow(word: &str) -> String {
    AB.replace("echo took", &format!(": {word}; sleep 0.05; echo took"))
        .replace("[workload]", "explained = 1\n[workload]")
}

pub(super) fn finished(folder: &Folder) -> (Done, Value) {
    let done = folder.expect(0, ["tune", "e.toml"]);
    let shown = show(folder, "e.tune");
    sound(&shown);
    assert_eq!((&shown["finished"], &shown["changes"][0]["verdict"]), (&true.into(), &"better".into()), "{shown:#}");
    (done, shown)
}

/// What SIGKILL goes to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Killed {
    Session,
    /// All of its process group, as a terminal or a shell would.
    Group,
    /// All of its control group, as a service manager or a container would: what would put settings back, too.
    ControlGroup,
}

impl Killed {
    /// Those that can be tested here, each so many times; more for who wants to be sure: TWINSCOPE_KILLS=50.
    pub(super) fn rounds(usual: usize, what: &str) -> Vec<(Killed, usize)> {
        let times: usize = std::env::var("TWINSCOPE_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(usual);
        let mut all = vec![Killed::Session, Killed::Group];
        match ControlGroup::new() {
            Ok(_) => all.push(Killed::ControlGroup),
            Err(why) => skipped(&format!("{what}, by its control group"), &why),
        }
        all.into_iter().flat_map(|kind| (0..times).map(move |round| (kind, round))).collect()
    }

    /// A session, started so that it can be killed like this.
    pub(super) fn start(self, folder: &Folder, words: &[&str]) -> (Running, Option<ControlGroup>) {
        let mut command = folder.command(words);
        let group = (self == Killed::ControlGroup).then(|| ControlGroup::new().expect("it could be made before"));
        if let Some(group) = &group {
            let procs = std::fs::OpenOptions::new().write(true).open(group.0.join("cgroup.procs")).unwrap();
            // SAFETY: write(2) may be called between fork and exec.
            unsafe {
                std::os::unix::process::CommandExt::pre_exec(&mut command, move || {
                    std::io::Write::write_all(&mut &procs, b"0")
                })
            };
        }
        (folder.start(command), group)
    }

    /// Kills it.
    pub(super) fn kill(self, running: &Running, group: Option<&ControlGroup>) {
        let pid = running.pid() as libc::pid_t;
        match group {
            Some(group) => std::fs::write(group.0.join("cgroup.kill"), "1").unwrap(),
            // SAFETY: plain system call; the process leads its group and has not been waited for.
            None => unsafe {
                libc::kill(if self == Killed::Group { -pid } else { pid }, libc::SIGKILL);
            },
        }
    }
}

/// A control group of version 2, which is removed when it is dropped.
pub(super) struct ControlGroup(PathBuf);

impl ControlGroup {
    fn new() -> Result<ControlGroup, String> {
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").map_err(|e| e.to_string())?;
        let mount = mounts.lines().find(|line| line.contains(" - cgroup2 ")).and_then(|line| line.split(' ').nth(4));
        let own = std::fs::read_to_string("/proc/self/cgroup").map_err(|e| e.to_string())?;
        let own = own.lines().find_map(|line| line.strip_prefix("0::")).unwrap_or_default().to_owned();
        let mount = mount.ok_or("control groups of version 2 are not mounted")?;
        let name = format!("twinscope-test-{}-{:?}", std::process::id(), std::thread::current().id());
        let folder = PathBuf::from(format!("{mount}{}", own.trim_end_matches('/'))).join(name);
        std::fs::create_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let made = ControlGroup(folder);
        if made.0.join("cgroup.kill").exists() { Ok(made) } else { Err("cgroup.kill needs Linux 5.14".into()) }
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        let _ = std::fs::write(self.0.join("cgroup.kill"), "1");
        // What a session has made in it, the innermost first.
        fn remove(folder: &Path) -> bool {
            let inside = std::fs::read_dir(folder).into_iter().flatten().flatten();
            let folders: Vec<PathBuf> = inside.map(|e| e.path()).filter(|path| path.is_dir()).collect();
            folders.iter().all(|inner| remove(inner)) && std::fs::remove_dir(folder).is_ok()
        }
        let end = Instant::now() + Duration::from_secs(10);
        while !remove(&self.0) && self.0.exists() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn a_session_that_was_killed_goes_on() {
    let folder = Folder::new();
    let mut random = Random(11);
    let (mut kills, mut cuts) = (0, 0);
    for (kind, round) in Killed::rounds(2, "tune: a session that was killed goes on") {
        let word = format!("killed-{}-{kind:?}-{round}", std::process::id());
        write(&folder, "e.toml", &slow(&word));
        let (running, group) = kind.start(&folder, &["tune", "e.toml"]);
        std::thread::sleep(Duration::from_millis(random.below(2500)));
        kind.kill(&running, group.as_ref());
        running.wait();
        // What it ran ends, too.
        let end = Instant::now() + Duration::from_secs(60);
        while runs(&word) {
            // The recorder of a trial for explaining is asked to end while it still begins: that takes its time.
            assert!(Instant::now() < end, "{kind:?} {round}: processes of the trial still run after a minute");
            std::thread::sleep(Duration::from_millis(10));
        }
        drop(group);
        let before = if folder.path("e.tune/session.jsonl").exists() {
            show(&folder, "e.tune")["trials"].clone()
        } else {
            Value::Null
        };
        let (_, shown) = finished(&folder);
        // What had ended before counts as it was, but for the block that was cut.
        for (at, trial) in before.as_array().into_iter().flatten().enumerate() {
            let now = &shown["trials"][at];
            let what = format!("{kind:?} {round}: {trial:#} {now:#}");
            assert!(now["values"] == trial["values"] || trial["end"] == "open", "{what}");
            assert!(now["end"] == trial["end"] || now["end"] == "cut", "{what}");
        }
        // No more than one block was cut.
        let cut = shown["trials"].as_array().unwrap().iter().filter(|t| t["end"] == "cut");
        let blocks: BTreeSet<String> = cut.map(|t| format!("{} {}", t["stage"], t["block"])).collect();
        assert!(blocks.len() <= 1, "{kind:?} {round}: {blocks:?}");
        (kills, cuts) = (kills + 1, cuts + blocks.len());
        std::fs::remove_dir_all(folder.path("e.tune")).unwrap();
    }
    eprintln!("{kills} sessions went on after a kill, which cut a block of {cuts}");
}

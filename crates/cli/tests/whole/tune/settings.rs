//! Settings of the machine as parameters.

use super::kills::Killed;
use super::{show, sound, write};
use crate::common::{Folder, Random, skipped};
use std::time::{Duration, Instant};

const STAT_INTERVAL: &str = "/proc/sys/vm/stat_interval";

/// What the setting is; `None` where this test may not change it.
fn changeable(what: &str) -> Option<String> {
    if std::fs::OpenOptions::new().write(true).open(STAT_INTERVAL).is_err() {
        skipped(what, "vm.stat_interval cannot be written: it needs root");
        return None;
    }
    Some(stat_interval())
}

/// Transparent huge pages.
const PAGES: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

fn stat_interval() -> String {
    std::fs::read_to_string(STAT_INTERVAL).unwrap().trim().to_owned()
}

/// Puts it back whatever becomes of the test.
struct Back(String);

impl Drop for Back {
    fn drop(&mut self) {
        if stat_interval() != self.0 {
            let _ = std::fs::write(STAT_INTERVAL, &self.0);
        }
    }
}

/// An ab of a setting, whose command says what it is.
fn of_setting(seconds: &str, values: [&str; 2]) -> String {
    let [a, b] = values;
    format!(
        "explained = 0\nbudget = {{ blocks = 8 }}\n[workload]\ncommand = \"sleep {seconds}; echo took $(cat {STAT_INTERVAL})\"\n\
         [[measure]]\nname = \"took\"\nregex = 'took ([0-9]+)'\nbetter = \"less\"\n\
         [parameters]\nevery = {{ setting = \"{STAT_INTERVAL}\", values = [{a}, {b}] }}\n"
    )
}

/// The keeper of a session: a process in a session of its own that was started as `tune keep`.
fn keeper_of(parent: u32) -> Option<i32> {
    let of = |entry: std::fs::DirEntry| {
        let pid = entry.file_name().to_str()?.parse::<i32>().ok()?;
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        let owner: u32 = stat.rsplit(") ").next()?.split(' ').nth(1)?.parse().ok()?;
        (owner == parent && line.windows(11).any(|w| w == b"\0tune\0keep\0")).then_some(pid)
    };
    std::fs::read_dir("/proc").ok()?.flatten().find_map(of)
}

#[test]
fn a_setting_is_set_for_its_trials() {
    let folder = Folder::alone();
    write(&folder, "e.toml", &of_setting("0", ["37", "19"]));
    let Some(before) = changeable("tune: a setting is set for its trials") else { return };
    let _back = Back(before.clone());
    let asked = folder.expect(2, ["tune", "e.toml"]);
    assert!(asked.stderr.contains(&format!("{STAT_INTERVAL}: 19, 37  (now {before})")), "{asked}");
    assert_eq!(folder.files(), ["e.toml"]);
    folder.expect(0, ["tune", "e.toml", "--yes"]);
    assert_eq!(stat_interval(), before);
    let shown = show(&folder, "e.tune");
    sound(&shown);
    for trial in shown["trials"].as_array().unwrap() {
        let wanted = if trial["variant"] == 0 { 37.0 } else { 19.0 };
        assert_eq!(trial["values"][0], wanted, "{trial:#}");
    }
    // It is over: nothing is set, so nothing is asked.
    folder.expect(0, ["tune", "e.toml"]);
    // A value that the kernel does not take: no trial counts.
    write(&folder, "void.toml", &of_setting("0", ["37", "\"none\""]));
    let done = folder.expect(1, ["tune", "void.toml", "--yes"]);
    assert!(done.stderr.contains("every could not be set to none"), "{done}");
    assert_eq!(stat_interval(), before);
    assert!(folder.expect(0, ["tune", "--restore"]).stdout.starts_with("Nothing to put back"));
}

#[test]
fn settings_are_put_back_when_a_session_is_killed() {
    let folder = Folder::alone();
    let Some(before) = changeable("tune: settings are put back when a session is killed") else { return };
    let _back = Back(before.clone());
    // Trials that are longer than the test waits, so that each is killed within its first block.
    write(&folder, "e.toml", &of_setting("1", ["37", "19"]));
    let pages = std::fs::read_to_string(PAGES).ok();
    if let Some(pages) = &pages {
        let other = if pages.contains("[always]") { "madvise" } else { "always" };
        let both =
            format!("{}thp = {{ setting = \"{PAGES}\", values = [\"{other}\"] }}\n", of_setting("1", ["37", "19"]));
        write(&folder, "e.toml", &both);
    }
    let all_back = || stat_interval() == before && std::fs::read_to_string(PAGES).ok() == pages;
    let mut random = Random(5);
    let mut restored = 0;
    for (kind, round) in Killed::rounds(4, "tune: settings are put back when a session is killed") {
        let output = format!("{kind:?}-{round}.tune");
        let (mut running, group) = kind.start(&folder, &["tune", "e.toml", "--yes", "-o", &output]);
        running.until("it is set", || stat_interval() != before);
        std::thread::sleep(Duration::from_millis(random.below(1500)));
        kind.kill(&running, group.as_ref());
        let end = Instant::now() + Duration::from_secs(2);
        running.wait();
        if kind == Killed::ControlGroup {
            // Nobody is left who would do it, unless the trial had just ended.
            drop(group);
            restored += usize::from(!all_back());
            folder.expect(0, ["tune", "--restore"]);
            assert!(all_back(), "{kind:?} {round}: it is {}", stat_interval());
        }
        while !all_back() {
            assert!(Instant::now() < end, "{kind:?} {round}: it is still {} after 2 s", stat_interval());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    eprintln!("settings were put back by --restore after {restored} kills");
    write(&folder, "e.toml", &of_setting("1", ["37", "19"]));
    let mut running = folder.start(folder.command(["tune", "e.toml", "--yes"]));
    let pid = running.pid();
    running.until("it is set", || stat_interval() != before);
    // Another one would take what this one has set for what was there.
    let second = folder.expect(1, ["tune", "e.toml", "--yes", "-o", "second.tune"]);
    second.says("another session changes settings");
    // The keeper as well.
    let keeper = keeper_of(pid).expect("a keeper");
    running.until("it is set", || stat_interval() != before);
    // SAFETY: plain system call; it is a child of the session, which has not waited for it.
    unsafe { libc::kill(keeper, libc::SIGKILL) };
    running.signal(libc::SIGKILL);
    running.wait();
    assert_ne!(stat_interval(), before);
    let left =
        "e.tune was killed, and settings of this machine are still as its trial had them: /proc/sys/vm/stat_interval";
    folder.expect(0, ["doctor", "--list"]).says(left);
    folder.expect(1, ["tune", "e.toml", "--yes"]).says(left).says("tune --restore");
    let restored = folder.expect(0, ["tune", "--restore"]);
    assert!(restored.stdout.contains(&format!("-> {before}, restored")), "{restored}");
    assert_eq!(stat_interval(), before);
    assert_eq!(folder.expect(0, ["doctor", "--list"]).stderr, "");
}

/// A session that goes on for long must not do so without what would put its settings back.
#[test]
fn a_keeper_that_is_gone_is_replaced() {
    let folder = Folder::alone();
    let Some(before) = changeable("tune: a keeper that is gone is replaced") else { return };
    let _back = Back(before.clone());
    write(&folder, "e.toml", &of_setting("0.3", ["37", "19"]));
    let mut running = folder.start(folder.command(["tune", "e.toml", "--yes"]));
    let pid = running.pid();
    running.until("it is set", || stat_interval() != before);
    let first = keeper_of(pid).expect("a keeper");
    // SAFETY: plain system call; it is a child of the session, which has not waited for it.
    unsafe { libc::kill(first, libc::SIGKILL) };
    running.until("there is another", || keeper_of(pid).is_some_and(|keeper| keeper != first));
    running.until("it is set again", || stat_interval() != before);
    running.signal(libc::SIGKILL);
    let end = Instant::now() + Duration::from_secs(2);
    running.wait().says("is gone; another one was started");
    while stat_interval() != before {
        assert!(Instant::now() < end, "it is still {} after 2 s", stat_interval());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// What the kernel sets to 0 when the other of the two is set.
#[test]
fn settings_that_exclude_each_other_are_put_back() {
    let folder = Folder::alone();
    let Some(_) = changeable("tune: settings that exclude each other are put back") else { return };
    let now = || {
        ["dirty_background_bytes", "dirty_background_ratio"]
            .map(|name| std::fs::read_to_string(format!("/proc/sys/vm/{name}")).unwrap())
    };
    let before = now();
    let text = of_setting("0", ["1048576", "2097152"]).replace(STAT_INTERVAL, "/proc/sys/vm/dirty_background_bytes");
    write(&folder, "e.toml", &text);
    folder.expect(0, ["tune", "e.toml", "--yes"]);
    assert_eq!(show(&folder, "e.tune")["changes"][0]["verdict"], "worse");
    assert_eq!(now(), before);
}

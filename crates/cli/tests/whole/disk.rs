//! Places that cannot be written: full disks, missing folders, folders of others.

use crate::common::{Folder, skipped};
use std::ffi::OsStr;
use std::path::PathBuf;

/// A small file system of its own; unmounted when dropped.
struct Small(PathBuf);

impl Small {
    fn mount(folder: &Folder, size: &str) -> Option<Self> {
        let place = folder.path("small");
        std::fs::create_dir(&place).unwrap();
        let done = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "twinscope-test"])
            .arg(&place)
            .stderr(std::process::Stdio::null())
            .status();
        done.is_ok_and(|s| s.success()).then_some(Small(place))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// Recording stops cleanly, says so at once, and keeps what it has; the command it was started for runs to its end.
#[test]
fn a_disk_that_fills() {
    let folder = Folder::new();
    let Some(small) = Small::mount(&folder, "7m") else {
        skipped("a disk that fills while recording", "mounting a tmpfs needs root");
        return;
    };
    // The disk fills while the command runs, at a moment that the command chooses.
    let script = "sleep 1.5; head -c 100m /dev/zero > small/ballast 2>/dev/null; sleep 3; echo done; exit 7";
    let done = folder.expect(
        1,
        [
            "record",
            "-i",
            "10ms",
            "--skip",
            "sysctl,kernel_config,pagetypeinfo",
            "-o",
            "small/a.twin",
            "--",
            "sh",
            "-c",
            script,
        ],
    );
    done.says("small/a.twin").says("disk full").says("exit code 7");
    assert_eq!(done.stdout, "done\n", "the command runs to its end");
    std::fs::remove_file(small.0.join("ballast")).unwrap();
    let info = folder.info("small/a.twin");
    assert_eq!(info["unfinished"], false, "{info}");
    assert_eq!(info["damage"], serde_json::json!([]));
    assert_eq!(info["manifest"]["exit"]["code"], 7);
    assert!(info["manifest"]["ended"].as_str().unwrap().contains("disk full"), "{}", info["manifest"]["ended"]);
    assert!(folder.count("small/a.twin", "select count(*) from cpu") > 0);
    folder.expect(0, ["compare", "small/a.twin", "small/a.twin"]);
    // Without a command there is nothing left to wait for.
    drop(small);
}

#[test]
fn a_full_disk_from_the_start() {
    let folder = Folder::new();
    let Some(small) = Small::mount(&folder, "1m") else {
        skipped("a disk that is full from the start", "mounting a tmpfs needs root");
        return;
    };
    let done = folder.expect(1, ["record", "-q", "-i", "10ms", "-d", "60s", "-o", "small/a.twin"]);
    done.says("small/a.twin").says("disk full");
    drop(small);
}

/// A page that does not fit leaves the one that was there, and nothing else.
#[test]
fn a_report_to_a_full_disk() {
    let folder = Folder::new();
    folder.expect(0, ["record", "-q", "-d", "300ms", "-o", "a.twin"]);
    let Some(small) = Small::mount(&folder, "64k") else {
        skipped("a report to a full disk", "mounting a tmpfs needs root");
        return;
    };
    std::fs::write(small.0.join("report.html"), "the old one").unwrap();
    std::fs::write(small.0.join("ballast"), vec![0; 48 << 10]).unwrap();
    folder.expect(1, ["report", "a.twin", "-o", "small/report.html"]).says("small/report.html").says("No space left");
    assert_eq!(std::fs::read_to_string(small.0.join("report.html")).unwrap(), "the old one");
    assert_eq!(std::fs::read_dir(&small.0).unwrap().count(), 2, "half a page was left behind");
    let picture = ["report", "a.twin", "--image", "small/a.png", "--browser", "/bin/true"];
    folder.expect(1, picture).says("small/a.png: the picture could not be made").says("No space left");
    assert_eq!(std::fs::read_dir(&small.0).unwrap().count(), 2, "what the picture is drawn from was left behind");
}

/// A recording that does not fit leaves the one that was there.
#[test]
fn an_import_to_a_full_disk() {
    let folder = Folder::new();
    let profile = crate::common::repository().join("fixtures/profiles/busy.script.txt");
    folder.expect(0, [OsStr::new("import"), OsStr::new("--no-symbols"), profile.as_os_str(), OsStr::new("-oa.twin")]);
    let Some(small) = Small::mount(&folder, "160k") else {
        skipped("an import to a full disk", "mounting a tmpfs needs root");
        return;
    };
    std::fs::copy(folder.path("a.twin"), small.0.join("a.twin")).unwrap();
    let free = (1..40).rev().find(|pages| std::fs::write(small.0.join("ballast"), vec![0; pages << 12]).is_ok());
    assert!(free.is_some());
    let words = ["import", "--force", "--no-symbols", "-o", "small/a.twin"].map(OsStr::new);
    folder.expect(1, words.into_iter().chain([profile.as_os_str()])).says("small/a.twin").says("disk full");
    assert_eq!(std::fs::read(small.0.join("a.twin")).unwrap(), std::fs::read(folder.path("a.twin")).unwrap());
    assert_eq!(std::fs::read_dir(&small.0).unwrap().count(), 2, "a part was left behind");
}

#[test]
fn places_that_cannot_be_written() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("folder")).unwrap();
    folder.expect(0, ["record", "-q", "-d", "100ms", "--only", "cpu", "-o", "a.twin"]);
    let record = |to: &'static str| ["record", "-q", "-d", "100ms", "--only", "cpu", "-o", to];
    folder.expect(1, record("missing/a.twin")).says("missing/a.twin").says("No such file");
    folder.expect(1, record("folder")).says("folder").says("is a folder");
    folder.expect(1, record("a.twin/b.twin")).says("a.twin/b.twin");
    folder.expect(1, ["report", "a.twin", "-o", "missing/r.html"]).says("missing/r.html").says("No such file");
    folder.expect(1, ["report", "a.twin", "-o", "folder"]).says("folder").says("is a folder");
    // Not even root may write here.
    folder.expect(1, record("/proc/a.twin")).says("/proc/a.twin");
    folder.expect(1, ["report", "a.twin", "-o", "/proc/r.html"]).says("/proc/r.html");
    assert_eq!(folder.files(), ["a.twin", "folder"], "nothing is left behind");
}

//! The examination of the machine: what it prints, how it ends, and that it leaves nothing behind. What it finds here decides no test.

use crate::common::Folder;
use serde_json::Value;

/// Checks that only read settings: the same from call to call, and quick.
const SETTINGS: &str = "clock-source,mitigations,kernel-age,cpu-quota,smt,idle-states,thp,swap,mount-options,limits";

#[test]
fn settings_are_judged() {
    let folder = Folder::new();
    let done = folder.run(["doctor", "--only", SETTINGS, "--json"]);
    // 3 where a file is missing in this container.
    assert!(matches!(done.status.code(), Some(0 | 3)), "{done}");
    let all = done.json();
    let checks = all["checks"].as_array().unwrap();
    assert_eq!((all["version"].as_i64(), checks.len()), (Some(1), SETTINGS.split(',').count()));
    for check in checks {
        assert!(check["says"].is_string() != check["unavailable"].is_object(), "{check}");
        assert!(check["verdict"].is_string() && check["title"].is_string());
        for change in check["changes"].as_array().into_iter().flatten() {
            assert!(change["risk"].as_str().is_some_and(|r| !r.is_empty()), "{change}");
        }
    }
    let text = folder.run(["doctor", "--only", SETTINGS]);
    assert!(text.stdout.contains("Nothing was changed.") && !text.stdout.contains('\x1b'), "{text}");
    assert_eq!(folder.files(), Vec::<String>::new());
}

#[test]
fn checks_are_listed() {
    let folder = Folder::new();
    let done = folder.expect(0, ["doctor", "--list", "--json"]);
    let Value::Array(checks) = done.json() else { panic!("{done}") };
    assert!(checks.iter().all(|c| c["how"].as_str().is_some_and(|h| !h.is_empty())));
    assert!(folder.expect(0, ["doctor", "--list"]).stdout.contains("cpu-pairs  (cpu)"));
}

/// Ctrl-C ends it as it ends other programs, and what it made is gone.
#[test]
fn it_can_be_stopped() {
    let folder = Folder::new();
    let mut running = folder.start(folder.command(["doctor", "--only", "fsync,small-read,steal"]));
    running.until("a file is made", || !folder.files().is_empty());
    running.signal(libc::SIGINT);
    let done = running.wait();
    assert_ne!(done.status.code(), Some(0), "{done}");
    assert_eq!(folder.files(), Vec::<String>::new());
    assert!(done.stdout.is_empty(), "{done}");
}

/// A folder that is full, or none: a line that says so, and the rest is done.
#[test]
fn folders_that_cannot_be_measured() {
    let folder = Folder::new();
    let done = folder.run(["doctor", "--only", "fsync", "--dir", "/proc", "--json"]);
    let all = done.json();
    assert_eq!(done.status.code(), Some(3), "{done}");
    assert!(all["checks"][0]["unavailable"]["why"].as_str().is_some_and(|w| w.contains("/proc")), "{done}");
    folder.expect(1, ["doctor", "--dir", "nosuch"]).says("nosuch");
}

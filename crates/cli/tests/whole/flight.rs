//! Flight recorders: triggers and what they have saved, close looks, a recorder that starts again, what a service manager is told.

use crate::common::Folder;
use std::os::unix::net::UnixDatagram;

/// Files that a trigger of this name had saved.
fn saved(folder: &Folder, ending: &str) -> Vec<String> {
    folder.files().into_iter().filter(|name| name.starts_with("flight-2") && name.ends_with(ending)).collect()
}

#[test]
fn a_trigger_marks_looks_close_and_saves() {
    let folder = Folder::new();
    let options = [
        "--keep=1m",
        "--interval=200ms",
        "--trigger=there: meminfo.MemTotal > 1MiB for 1s",
        "--trigger=never: cpu.busy > 1000000",
        "--after=2s",
        "--close-look=1s",
        "--then=cp {} done/",
    ];
    std::fs::create_dir(folder.path("done")).unwrap();
    let mut running = folder.record("flight.twin", &options);
    running.until("the snapshot is saved", || !saved(&folder, "-there.twin").is_empty());
    running.until("--then has run for both", || std::fs::read_dir(folder.path("done")).unwrap().count() == 2);
    running.signal(libc::SIGINT);
    running.wait().says("trigger there: meminfo.MemTotal");
    let [snapshot] = &saved(&folder, "-there.twin")[..] else { panic!("{:?}", folder.files()) };
    let info = folder.info(snapshot);
    let labels = &info["manifest"]["labels"];
    assert_eq!((&labels["trigger"], &info["unfinished"]), (&"there".into(), &false.into()), "{info}");
    assert_eq!(labels["trigger.threshold"], "1 MiB", "{info}");
    let marks = info["marks"].to_string();
    assert!(marks.contains("trigger there: meminfo.MemTotal"), "{info}");
    assert!(info["duration"].as_f64() > Some(2.0), "{info}");
    // The recording itself is not that of a trigger.
    assert!(folder.info("flight.twin")["manifest"]["labels"]["trigger"].is_null());
    let [look] = &saved(&folder, "-close-look.twin")[..] else { panic!("{:?}", folder.files()) };
    assert!(folder.count(look, "select count(*) from process") > 0);
    assert_eq!(folder.info(look)["manifest"]["labels"]["trigger"], "there");
    assert_eq!(folder.files().iter().filter(|name| name.contains("never")).count(), 0);
}

#[test]
fn what_would_have_fired_is_told_of_a_recording() {
    let folder = Folder::new();
    folder.expect(0, ["record", "-q", "-o", "a.twin", "-i", "200ms", "--", "sleep", "2"]);
    let done = folder.expect(
        0,
        [
            "triggers",
            "--test=a.twin",
            "--trigger=there: meminfo.MemTotal > 1MiB for 1s",
            "--trigger=never: cpu.busy > 1M",
        ],
    );
    assert!(done.stdout.contains("there: would have fired once\n  at "), "{done}");
    assert!(done.stdout.contains("never: would not have fired"), "{done}");
    folder.expect(1, ["triggers", "--test=a.twin", "--trigger=work: work.rate < 1"]).says("no work was reported");
    folder.expect(2, ["triggers", "--test=a.twin"]).says("which triggers?");
    folder.expect(1, ["triggers", "--test=none.twin", "--trigger=a: cpu.busy > 1"]).says("none.twin");
    assert!(folder.expect(0, ["triggers"]).stdout.contains("cpu.busy{cpu}  s/s  "));
}

#[test]
fn wrong_triggers_are_told_before_anything_is_recorded() {
    let folder = Folder::new();
    for (options, says) in [
        (&["--trigger=a: cpu.busy > 1"][..], "--keep"),
        (&["--keep=1m", "--trigger=a: cpu.bussy > 1"], "there is no metric cpu.bussy"),
        (&["--keep=1m", "--trigger=a: cpu.busy > 1", "--trigger=a: cpu.busy > 2"], "two triggers called a"),
        (&["--keep=1m", "--skip=cpu", "--trigger=a: cpu.busy > 1"], "source cpu, which is not read here"),
        (&["--keep=1m", "--trigger=a: work.rate > 1"], "--throughput"),
        (&["--keep=1m", "--close-look=1s"], "--trigger"),
        (&["--keep=1m", "--trigger=a: cpu.busy > 1", "--most=0"], "--most"),
    ] {
        folder.expect(2, [&["record", "-o", "flight.twin", "-d", "1s"], options].concat()).says(says);
        assert!(!folder.path("flight.twin").exists(), "{says}");
    }
}

#[test]
fn a_recorder_that_starts_again_keeps_what_was_there() {
    let folder = Folder::new();
    for round in 0..4 {
        let before = saved(&folder, ".twin");
        let mut running = folder.start(folder.command(["record", "-o", "flight.twin", "--keep=1m", "--rotate=2"]));
        running.until("what was there is kept", || round == 0 || saved(&folder, ".twin") != before);
        running.until("the recording begins", || {
            let rows = folder.run(["sql", "--json", "flight.twin", "select count(*) as n from cpu"]);
            rows.status.success() && rows.json()[0]["n"].as_i64() > Some(0)
        });
        // The first two are killed, as by a crash: what they leave is finished by the next.
        running.signal(if round < 2 { libc::SIGKILL } else { libc::SIGINT });
        running.wait();
        // Names have the second of the start.
        std::thread::sleep(std::time::Duration::from_millis(1100));
    }
    let kept = saved(&folder, ".twin");
    assert_eq!(kept.len(), 2, "{:?}", folder.files());
    for name in &kept {
        assert_eq!(folder.info(name)["unfinished"], false, "{name}");
        assert!(folder.count(name, "select count(*) from cpu") > 0);
    }
    let other = folder.record("other.twin", &[]);
    folder.expect(1, ["record", "-q", "-d", "1s", "--rotate=2", "-o", "other.twin"]).says("still being recorded");
    other.signal(libc::SIGINT);
    other.wait();
}

#[test]
fn a_service_manager_is_told() {
    let folder = Folder::new();
    let manager = UnixDatagram::bind(folder.path("notify")).unwrap();
    manager.set_read_timeout(Some(std::time::Duration::from_secs(60))).unwrap();
    let mut command = folder.command(["record", "-q", "-o", "flight.twin", "--keep=1m"]);
    command.env("NOTIFY_SOCKET", folder.path("notify")).env("WATCHDOG_USEC", "1000000");
    let running = folder.start(command);
    let hear = || {
        let mut said = [0; 100];
        let length = manager.recv(&mut said).expect("something is told");
        String::from_utf8_lossy(&said[..length]).into_owned()
    };
    assert_eq!([hear(), hear(), hear()], ["READY=1", "WATCHDOG=1", "WATCHDOG=1"]);
    running.signal(libc::SIGTERM);
    while hear() != "STOPPING=1" {}
    running.wait();
    // A socket that is gone is nobody to tell.
    std::fs::remove_file(folder.path("notify")).unwrap();
    let mut command = folder.command(["record", "-q", "-d", "1s", "-o", "again.twin"]);
    command.env("NOTIFY_SOCKET", folder.path("notify")).env("WATCHDOG_USEC", "no number");
    assert!(command.status().unwrap().success());
}

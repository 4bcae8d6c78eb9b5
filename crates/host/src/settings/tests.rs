//! Tests of changes on a host of files.

use super::*;
use crate::testing::host_of;

const KNOB: &str = "/proc/sys/vm/knob";
const LIST: &str = "/sys/kernel/list";
const BOOT: (&str, &str) = ("/proc/sys/kernel/random/boot_id", "boot-1\n");

fn wanted() -> Vec<(String, Write)> {
    vec![("a".into(), Write::new(KNOB, "1")), ("b".into(), Write::new(LIST, "madvise"))]
}

fn outcomes(all: &[Changed]) -> Vec<Outcome> {
    all.iter().map(|c| c.outcome.clone()).collect()
}

#[test]
fn undo_restores_exactly() {
    let (dir, host) = host_of(&[BOOT, (KNOB, "60"), (LIST, "always")]);
    let file = dir.path().join("state/doctor.json");
    let mut changes = Changes::open(&host, &file).unwrap();
    let plan = changes.plan(&wanted());
    assert_eq!(plan.iter().map(|c| c.from.as_str()).collect::<Vec<_>>(), ["60", "always"]);
    assert_eq!(outcomes(&changes.apply(&plan).unwrap()), [Outcome::Done, Outcome::Done]);
    assert_eq!(host.read_text(KNOB).unwrap(), "1");
    // Once more, with another value: what is given back is what was there at first.
    let plan = changes.plan(&[("a".into(), Write::new(KNOB, "2"))]);
    changes.apply(&plan).unwrap();
    drop(changes);
    let mut changes = Changes::open(&host, &file).unwrap();
    assert_eq!(outcomes(&changes.undo().unwrap()), [Outcome::Done, Outcome::Done]);
    assert_eq!((host.read_text(KNOB).unwrap(), host.read_text(LIST).unwrap()), ("60".into(), "always".into()));
    assert!(changes.is_empty() && changes.undo().unwrap().is_empty());
}

/// A crash at any moment between the saved state and the last write.
#[test]
fn undo_after_a_crash() {
    for written in 0..=2 {
        let (dir, host) = host_of(&[BOOT, (KNOB, "60"), (LIST, "always")]);
        let file = dir.path().join("doctor.json");
        let mut changes = Changes::open(&host, &file).unwrap();
        let plan = changes.plan(&wanted());
        changes.apply(&plan).unwrap();
        drop(changes);
        // Those that the crash prevented.
        if written < 2 {
            host.write_setting(LIST, "always").unwrap();
        }
        if written < 1 {
            host.write_setting(KNOB, "60").unwrap();
        }
        let mut changes = Changes::open(&host, &file).unwrap();
        let done = changes.undo().unwrap();
        assert_eq!(done.iter().filter(|c| c.outcome == Outcome::Done).count(), written);
        assert_eq!((host.read_text(KNOB).unwrap(), host.read_text(LIST).unwrap()), ("60".into(), "always".into()));
    }
}

#[test]
fn what_others_set_is_left() {
    let (dir, host) = host_of(&[BOOT, (KNOB, "60")]);
    let file = dir.path().join("doctor.json");
    let mut changes = Changes::open(&host, &file).unwrap();
    let plan = changes.plan(&[("a".into(), Write::new(KNOB, "1"))]);
    changes.apply(&plan).unwrap();
    host.write_setting(KNOB, "7").unwrap();
    assert_eq!(outcomes(&changes.undo().unwrap()), [Outcome::Foreign("7".into())]);
    assert_eq!(host.read_text(KNOB).unwrap(), "7");
    // Until it is put back by hand.
    host.write_setting(KNOB, "60").unwrap();
    assert_eq!(outcomes(&changes.undo().unwrap()), [Outcome::Same]);
    assert!(changes.is_empty());
    // What they set is what a later apply gives back.
    host.write_setting(KNOB, "7").unwrap();
    let plan = changes.plan(&[("a".into(), Write::new(KNOB, "1"))]);
    changes.apply(&plan).unwrap();
    changes.undo().unwrap();
    assert_eq!(host.read_text(KNOB).unwrap(), "7");
}

#[test]
fn a_boot_undoes_by_itself() {
    let (dir, host) = host_of(&[BOOT, (KNOB, "60")]);
    let file = dir.path().join("doctor.json");
    let mut changes = Changes::open(&host, &file).unwrap();
    let plan = changes.plan(&[("a".into(), Write::new(KNOB, "1"))]);
    changes.apply(&plan).unwrap();
    host.write_setting(BOOT.0, "boot-2\n").unwrap();
    assert_eq!(outcomes(&changes.undo().unwrap()), [Outcome::Booted]);
    assert_eq!(host.read_text(KNOB).unwrap(), "1", "it was left");
    assert!(changes.is_empty());
}

#[test]
fn nothing_is_changed_where_it_cannot_be_remembered() {
    let (dir, host) = host_of(&[BOOT, (KNOB, "60")]);
    let file = dir.path().join("doctor.json");
    let mut changes = Changes::open(&host, &file).unwrap();
    assert!(matches!(Changes::open(&host, &file), Err(ChangeError::Locked(_))), "one at a time");
    // A folder where the new state is to be.
    std::fs::create_dir(&file).unwrap();
    let plan = changes.plan(&[("a".into(), Write::new(KNOB, "1"))]);
    assert!(matches!(changes.apply(&plan), Err(ChangeError::State(..))));
    assert_eq!(host.read_text(KNOB).unwrap(), "60");
    drop(changes);
    std::fs::remove_dir(&file).unwrap();
    std::fs::write(&file, "{broken").unwrap();
    assert!(matches!(Changes::open(&host, &file), Err(ChangeError::Damaged(..))));
    std::fs::write(&file, "{\"version\": 9, \"boot\": \"\", \"entries\": []}").unwrap();
    assert!(matches!(Changes::open(&host, &file), Err(ChangeError::Damaged(..))));
}

#[test]
fn missing_files_and_equal_values() {
    let (dir, host) = host_of(&[BOOT, (KNOB, "1\n")]);
    let mut changes = Changes::open(&host, &dir.path().join("doctor.json")).unwrap();
    let plan = changes.plan(&wanted());
    assert_eq!(plan.first().map(|c| &c.outcome), Some(&Outcome::Same));
    let done = changes.apply(&plan).unwrap();
    assert!(matches!(done.get(1).map(|c| &c.outcome), Some(Outcome::Refused(why)) if why.contains(LIST)));
    assert!(changes.is_empty());
}

#[test]
fn kernel_spellings_are_equal() {
    assert!(
        same("4096\t87380\t6291456", "4096 87380 6291456") && same("00000003", "3") && same("1,00000000", "100000000")
    );
    assert!(!same("60", "10") && !same("none", "mq-deadline") && same("0", "00000000"));
}

/// A governor, and what goes with it.
const GOVERNOR: &str = "/sys/devices/system/cpu/cpufreq/policy0/scaling_governor";
const MOST: &str = "/sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq";
const TUNABLE: &str = "/sys/devices/system/cpu/cpufreq/policy0/ondemand/up_threshold";

#[test]
fn what_the_kernel_changes_along_is_put_back() {
    for crash in [false, true] {
        let (dir, host) = host_of(&[BOOT, (GOVERNOR, "ondemand"), (MOST, "2000"), (TUNABLE, "80")]);
        let file = dir.path().join("tune.json");
        let mut changes = Changes::open(&host, &file).unwrap();
        let plan = changes.plan(&[("a".into(), Write::new(GOVERNOR, "performance"))]);
        assert_eq!(outcomes(&changes.apply(&plan).unwrap()), [Outcome::Done]);
        // As the kernel does when it changes the governor.
        host.write_setting(MOST, "3000").unwrap();
        host.write_setting(TUNABLE, "95").unwrap();
        drop(changes);
        if crash {
            // An undo that was killed after the governor itself.
            let text = std::fs::read_to_string(&file).unwrap();
            std::fs::write(&file, text.replace("\"check\"", "\"restoring\": true, \"check\"")).unwrap();
            host.write_setting(GOVERNOR, "ondemand").unwrap();
        }
        let mut changes = Changes::open(&host, &file).unwrap();
        assert_eq!(outcomes(&changes.undo().unwrap()), [Outcome::Done]);
        let now = [GOVERNOR, MOST, TUNABLE].map(|path| host.read_text(path).unwrap());
        assert_eq!(now, ["ondemand", "2000", "80"]);
        // What is changed while the governor is as it was is somebody else's.
        let plan = changes.plan(&[("a".into(), Write::new(GOVERNOR, "performance"))]);
        changes.apply(&plan).unwrap();
        host.write_setting(GOVERNOR, "ondemand").unwrap();
        host.write_setting(MOST, "1000").unwrap();
        assert_eq!(outcomes(&changes.undo().unwrap()), [Outcome::Same]);
        assert_eq!(host.read_text(MOST).unwrap(), "1000");
        changes.close().unwrap();
        assert!(!file.exists());
    }
}

#[test]
fn a_scheduler_goes_with_its_queue_and_bytes_with_a_ratio() {
    let queue = "/sys/block/vda/queue";
    let [scheduler, requests, expire] =
        ["scheduler", "nr_requests", "iosched/read_expire"].map(|name| format!("{queue}/{name}"));
    let bytes = "/proc/sys/vm/dirty_bytes";
    let ratio = "/proc/sys/vm/dirty_ratio";
    let (_dir, host) = host_of(&[
        (&scheduler, "none [mq-deadline]"),
        (&requests, "64"),
        (&expire, "500"),
        (bytes, "0"),
        (ratio, "20"),
    ]);
    let with = coupled::with(&host, &scheduler, "mq-deadline");
    assert_eq!(with, [(requests, "64".to_owned()), (expire, "500".to_owned())]);
    assert_eq!(coupled::with(&host, bytes, "0"), [(ratio.to_owned(), "20".to_owned())]);
    assert_eq!((exclusive(ratio), exclusive(KNOB)), (Some(bytes), None));
}

/// The kernel may make something else of a value, which is not known yet when a crash comes between.
#[test]
fn a_value_that_is_being_written_is_ours() {
    let (dir, host) = host_of(&[BOOT, (KNOB, "N")]);
    let file = dir.path().join("tune.json");
    let mut changes = Changes::open(&host, &file).unwrap();
    let plan = changes.plan(&[("a".into(), Write::new(KNOB, "1"))]);
    changes.apply(&plan).unwrap();
    drop(changes);
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("\"check\"", "\"writing\": true, \"check\"")).unwrap();
    host.write_setting(KNOB, "Y").unwrap();
    let mut changes = Changes::open(&host, &file).unwrap();
    assert_eq!(outcomes(&changes.undo().unwrap()), [Outcome::Done]);
    assert_eq!(host.read_text(KNOB).unwrap(), "N");
}

#[test]
fn what_is_left_is_found() {
    let (dir, host) = host_of(&[BOOT, (KNOB, "60"), (LIST, "always")]);
    let file = dir.path().join("tune.json");
    assert_eq!(left(&host, &file), None);
    let mut changes = Changes::open(&host, &file).unwrap();
    changes.by("/x/e.tune");
    let plan = changes.plan(&wanted());
    changes.apply(&plan).unwrap();
    assert_eq!(left(&host, &file), None, "its program is there");
    drop(changes);
    let found = Left { by: "/x/e.tune".into(), files: vec![KNOB.into(), LIST.into()] };
    assert_eq!(left(&host, &file), Some(found));
    // What others have set since, and what is gone, is not waited for.
    host.write_setting(KNOB, "7").unwrap();
    std::fs::remove_file(host.path(LIST)).unwrap();
    let mut changes = Changes::open(&host, &file).unwrap();
    let done = changes.undo_for_good().unwrap();
    assert!(matches!(outcomes(&done)[..], [Outcome::Refused(_), Outcome::Foreign(_)]), "{done:?}");
    assert!(changes.is_empty());
    let plan = changes.plan(&[("a".into(), Write::new(KNOB, "1"))]);
    changes.apply(&plan).unwrap();
    drop(changes);
    host.write_setting(BOOT.0, "boot-2\n").unwrap();
    assert_eq!(left(&host, &file), None, "the machine was booted since");
}

#[test]
fn what_another_user_could_have_written_is_not_believed() {
    use std::os::unix::fs::PermissionsExt;
    let (dir, host) = host_of(&[BOOT, (KNOB, "60")]);
    let folder = dir.path().join("state");
    let file = folder.join("doctor.json");
    let mut changes = Changes::open(&host, &file).unwrap();
    let plan = changes.plan(&[("a".into(), Write::new(KNOB, "1"))]);
    changes.apply(&plan).unwrap();
    drop(changes);
    for name in ["doctor.json", "doctor.lock"] {
        assert_eq!(folder.join(name).metadata().unwrap().permissions().mode() & 0o777, 0o600, "{name}");
    }
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777)).unwrap();
    let why = Changes::open(&host, &file).unwrap_err();
    assert!(matches!(&why, ChangeError::State(_, why) if why.to_string().contains("others may write to it")), "{why}");
    assert_eq!(left(&host, &file), None);
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).unwrap();
    // A lock that leads elsewhere would have its target emptied.
    std::fs::write(dir.path().join("precious"), "text").unwrap();
    std::fs::remove_file(folder.join("doctor.lock")).unwrap();
    std::os::unix::fs::symlink("../precious", folder.join("doctor.lock")).unwrap();
    assert!(Changes::open(&host, &file).is_err());
    assert_eq!(std::fs::read_to_string(dir.path().join("precious")).unwrap(), "text");
    assert_eq!(host.read_text(KNOB).unwrap(), "1");
}

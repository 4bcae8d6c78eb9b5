//! Settings of the machine as parameters: which files they may be, and what sets them for a trial and puts them back after it.

use host::Host;
use host::settings::{ChangeError, Changes, Outcome, Write, choices, exclusive};
use std::cell::RefCell;
use std::path::Path;

/// A parameter that is a setting of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The parameter.
    pub name: String,
    /// The file.
    pub path: String,
    /// The values that it has in some variant.
    pub values: Vec<String>,
}

impl Setting {
    /// What the file holds now.
    ///
    /// # Errors
    /// Why it cannot take these values: it is not there, may not be written, or lists its choices, and a value is none of them.
    pub fn examine(&self, host: &Host) -> Result<String, String> {
        let text = host.read_text(&self.path).map_err(|e| e.to_string())?;
        host.check_setting(&self.path).map_err(|e| e.to_string())?;
        if text.contains('[') {
            let known = choices(&text);
            if let Some(value) = self.values.iter().find(|value| !known.contains(&value.as_str())) {
                return Err(format!("{}: it takes {}, and not {value}", self.path, known.join(", ")));
            }
        }
        Ok(host::settings::chosen(&text).to_owned())
    }
}

/// Whether a file may be a parameter.
pub(crate) fn check(path: &str) -> Result<(), String> {
    let plain = !path.split('/').skip(1).any(|part| matches!(part, "" | "." | ".."));
    let affinity =
        path.starts_with("/proc/irq/") && path.rsplit('/').next().is_some_and(|n| n.starts_with("smp_affinity"));
    if !plain || !(path.starts_with("/proc/sys/") || path.starts_with("/sys/") || affinity) {
        return Err(format!("{path:?} is no setting: a file below /proc/sys or /sys, without .."));
    }
    if path.starts_with("/sys/devices/system/cpu/") && path.ends_with("/online") {
        return Err(format!("{path}: CPUs are not switched off; give the workload fewer of them (cpus)"));
    }
    Ok(())
}

/// Whether these can be set together. The first of the pair is the word by which the line is found.
pub(crate) fn compatible(settings: &[Setting]) -> Result<(), (String, String)> {
    for (at, setting) in settings.iter().enumerate() {
        let other = exclusive(&setting.path);
        for before in settings.get(..at).unwrap_or_default() {
            if before.path == setting.path {
                return Err((
                    setting.name.clone(),
                    format!("parameters {} and {} are the same setting", before.name, setting.name),
                ));
            }
            if Some(before.path.as_str()) == other {
                let what =
                    format!("parameters {} and {}: setting one puts the other out of force", before.name, setting.name);
                return Err((setting.name.clone(), what));
            }
        }
    }
    Ok(())
}

/// Sets settings for a trial.
pub trait Setter: std::fmt::Debug {
    /// Sets these, in this order.
    ///
    /// # Errors
    /// Which could not be set; [`Setter::put_back`] is needed all the same.
    fn set(&self, writes: &[(String, Write)]) -> Result<(), String>;

    /// Puts back all that was set.
    ///
    /// # Errors
    /// Which could not be put back, and which somebody else has set meanwhile, so that the trial did not have it.
    fn put_back(&self) -> Result<(), String>;
}

/// Sets settings and puts them back. What was there before is on disk before anything is written.
#[derive(Debug)]
pub struct Settings<'a> {
    changes: RefCell<Changes<'a>>,
}

impl<'a> Settings<'a> {
    /// What was there is kept in `file`, with `whose` changes they are.
    ///
    /// # Errors
    /// That it cannot be kept, or that another program changes settings.
    pub fn open(host: &'a Host, file: &Path, whose: &str) -> Result<Settings<'a>, ChangeError> {
        let mut changes = Changes::open(host, file)?;
        changes.by(whose);
        Ok(Settings { changes: RefCell::new(changes) })
    }

    /// Ends it: with nothing left to put back, nothing is left on disk.
    ///
    /// # Errors
    /// That the file cannot be removed.
    pub fn close(self) -> Result<(), ChangeError> {
        self.changes.into_inner().close()
    }
}

impl Setter for Settings<'_> {
    fn set(&self, writes: &[(String, Write)]) -> Result<(), String> {
        let mut changes = self.changes.try_borrow_mut().map_err(|e| e.to_string())?;
        // Each is planned when those before it are set, for one may change another.
        for write in writes {
            let plan = changes.plan(std::slice::from_ref(write));
            for change in changes.apply(&plan).map_err(|e| e.to_string())? {
                if let Outcome::Refused(why) = change.outcome {
                    return Err(format!("{} could not be set to {}: {why}", change.check, change.to));
                }
            }
        }
        Ok(())
    }

    fn put_back(&self) -> Result<(), String> {
        let mut changes = self.changes.try_borrow_mut().map_err(|e| e.to_string())?;
        if changes.is_empty() {
            return Ok(());
        }
        let mut wrong = Ok(());
        for change in changes.undo_for_good().map_err(|e| e.to_string())? {
            match change.outcome {
                Outcome::Refused(why) => {
                    wrong = Err(format!("{} could not be put back to {}: {why}", change.check, change.to))
                }
                Outcome::Foreign(now) => {
                    wrong = Err(format!(
                        "{} is {now} at its end, which somebody else has set: {}",
                        change.check, change.path
                    ));
                }
                _ => {}
            }
        }
        wrong
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::testing::host_of;

    const LIST: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
    const KNOB: &str = "/proc/sys/vm/stat_interval";

    fn of(path: &str, values: &[&str]) -> Setting {
        let values = values.iter().map(|v| (*v).to_owned()).collect();
        Setting { name: "p".into(), path: path.into(), values }
    }

    #[test]
    fn only_settings_are_written() {
        for right in [LIST, KNOB, "/proc/irq/24/smp_affinity_list"] {
            check(right).unwrap();
        }
        for wrong in [
            "/etc/passwd",
            "/proc/sys/../../etc/passwd",
            "/sys/./a",
            "/sys//a",
            "/sys",
            "/sys/",
            "proc/sys/vm/x",
            "/proc/1/oom_adj",
            "/proc/irq/24/spurious",
            "/sys/devices/system/cpu/cpu1/online",
        ] {
            assert!(check(wrong).is_err(), "{wrong}");
        }
        let [bytes, ratio] = ["bytes", "ratio"].map(|name| of(&format!("/proc/sys/vm/dirty_{name}"), &[]));
        assert!(compatible(&[bytes.clone(), ratio]).unwrap_err().1.contains("out of force"));
        assert!(compatible(&[bytes.clone(), bytes.clone()]).unwrap_err().1.contains("the same setting"));
        compatible(&[bytes, of(KNOB, &[])]).unwrap();
    }

    #[test]
    fn files_are_examined_before_anything_is_changed() {
        let (_dir, host) = host_of(&[(LIST, "always [madvise] never\n"), (KNOB, "1\n")]);
        assert_eq!(of(LIST, &["always", "never"]).examine(&host).unwrap(), "madvise");
        assert_eq!(of(KNOB, &["10"]).examine(&host).unwrap(), "1");
        assert!(of(LIST, &["allways"]).examine(&host).unwrap_err().contains("it takes always, madvise, never"));
        assert!(of("/sys/none", &["1"]).examine(&host).unwrap_err().starts_with("/sys/none: "));
    }

    #[test]
    fn what_was_there_is_put_back() {
        let (dir, host) = host_of(&[(KNOB, "1"), ("/proc/sys/vm/b", "2")]);
        let file = dir.path().join("state/tune.json");
        let settings = Settings::open(&host, &file, "e.tune").unwrap();
        let write = |path: &str, value: &str| ("p".to_owned(), Write::new(path, value));
        let now = || [KNOB, "/proc/sys/vm/b"].map(|path| host.read_text(path).unwrap());
        settings.set(&[write(KNOB, "10"), write("/proc/sys/vm/b", "2")]).unwrap();
        assert_eq!(now(), ["10", "2"]);
        settings.put_back().unwrap();
        assert_eq!(now(), ["1", "2"]);
        // One that is not there: what was set before it is put back.
        let why = settings.set(&[write(KNOB, "10"), write("/proc/sys/vm/none", "2")]).unwrap_err();
        assert!(why.starts_with("p could not be set to 2: /proc/sys/vm/none"), "{why}");
        settings.put_back().unwrap();
        assert_eq!(now(), ["1", "2"]);
        // One that somebody else sets during a trial.
        settings.set(&[write(KNOB, "10")]).unwrap();
        host.write_setting(KNOB, "5").unwrap();
        assert!(settings.put_back().unwrap_err().contains("somebody else"));
        assert_eq!(now(), ["5", "2"]);
        settings.put_back().unwrap();
        assert!(matches!(Settings::open(&host, &file, ""), Err(ChangeError::Locked(_))));
        settings.close().unwrap();
        assert!(!file.exists());
    }
}

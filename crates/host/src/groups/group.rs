//! One control group, in all hierarchies that it needs.

use super::{Controller, Groups, Limits};
use crate::Host;
use crate::placement::{cpu_list, procs};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Processes that are killed are gone within this time, or hang in the kernel.
const PATIENCE: Duration = Duration::from_secs(5);

const POLL: Duration = Duration::from_millis(2);

/// A quota is of this time, microseconds; the kernel's own.
const PERIOD: f64 = 100_000.0;

/// A group. When it is dropped, all processes in it are killed, and it is removed.
#[derive(Debug)]
pub struct Group<'a> {
    host: &'a Host,
    places: Vec<Place>,
    /// Files of limits, and what the kernel made of them.
    limits: Vec<(String, String)>,
    /// Reads the peak of memory since it was reset.
    peak: Option<File>,
}

#[derive(Debug)]
struct Place {
    folder: String,
    unified: bool,
    controllers: Vec<Controller>,
}

impl<'a> Group<'a> {
    pub(super) fn make(groups: &Groups<'a>, name: &str, limits: &Limits) -> Result<Group<'a>, String> {
        let host = groups.host;
        let mut group = Group { host, places: Vec::new(), limits: Vec::new(), peak: None };
        for tree in &groups.trees {
            let folder = format!("{}/{name}", tree.folder);
            host.make_folder(&folder).map_err(|e| e.to_string())?;
            group.places.push(Place {
                folder: folder.clone(),
                unified: tree.unified,
                controllers: tree.controllers.clone(),
            });
            if !tree.unified && host.exists(&format!("{folder}/cpuset.mems")) {
                copy_cpuset(host, &tree.folder, &folder)?;
            }
        }
        if let (Some(cpus), Some(place)) = (&limits.cpus, group.of(Controller::Cpuset)) {
            let (file, effective) = (place.file("cpuset.cpus"), place.file("cpuset.cpus.effective"));
            group.limit(file, cpus)?;
            // Version 2 takes what it does not have, and gives others.
            if let Ok(got) = host.read_text(&effective)
                && cpu_list(&got) != cpu_list(cpus)
            {
                return Err(format!("CPUs {cpus}: only {got} can be had here ({effective})"));
            }
        }
        if let Some(bytes) = limits.memory {
            let place = group.of(Controller::Memory).ok_or_else(|| refused(groups, Controller::Memory))?;
            let (limit, swap, none) = match place.unified {
                true => (place.file("memory.max"), place.file("memory.swap.max"), "0".to_owned()),
                false => {
                    // In version 1 it is the sum of both; where the kernel does not count swap, it is asked to avoid it.
                    let sum = place.file("memory.memsw.limit_in_bytes");
                    let swap = if host.exists(&sum) { sum } else { place.file("memory.swappiness") };
                    let none = if swap.ends_with("swappiness") { "0".into() } else { bytes.to_string() };
                    (place.file("memory.limit_in_bytes"), swap, none)
                }
            };
            group.limit(limit, &bytes.to_string())?;
            if host.exists(&swap) {
                group.limit(swap, &none)?;
            }
        }
        if let Some(cpus) = limits.quota {
            let place = group.of(Controller::Cpu).ok_or_else(|| refused(groups, Controller::Cpu))?;
            let quota = (cpus * PERIOD).round();
            let files = match place.unified {
                true => vec![(place.file("cpu.max"), format!("{quota} {PERIOD}"))],
                false => vec![
                    (place.file("cpu.cfs_period_us"), PERIOD.to_string()),
                    (place.file("cpu.cfs_quota_us"), quota.to_string()),
                ],
            };
            for (file, value) in files {
                group.limit(file, &value)?;
            }
        }
        Ok(group)
    }

    fn limit(&mut self, file: String, value: &str) -> Result<(), String> {
        self.host.write_setting(&file, value).map_err(|e| e.to_string())?;
        let now = self.host.read_text(&file).map_err(|e| e.to_string())?;
        self.limits.push((file, now));
        Ok(())
    }

    fn of(&self, controller: Controller) -> Option<&Place> {
        self.places.iter().find(|place| place.controllers.contains(&controller))
    }

    /// The files that a process writes to in order to join.
    pub fn joins(&self) -> Vec<PathBuf> {
        procs(self.places.iter().map(|place| self.host.path(&place.folder)))
    }

    /// Its folder; that of version 2 where it has several.
    pub fn folder(&self) -> Option<PathBuf> {
        self.places.first().map(|place| self.host.path(&place.folder))
    }

    /// Whether all limits are as they were set.
    ///
    /// # Errors
    /// Which is not.
    pub fn holds(&self) -> Result<(), String> {
        self.limits.iter().try_for_each(|(file, set)| match self.host.read_text(file) {
            Ok(now) if now == *set => Ok(()),
            Ok(now) => Err(format!("{file} is {now} at its end, and was set to {set}")),
            Err(error) => Err(format!("a limit is gone at its end: {error}")),
        })
    }

    /// CPU seconds that its processes used, those that are gone too.
    pub fn cpu_seconds(&self) -> Option<f64> {
        let of = |place: &Place| match place.unified {
            true => self.entry(&place.file("cpu.stat"), "usage_usec").map(|us| us / 1e6),
            false => self.number(&place.file("cpuacct.usage")).map(|ns| ns / 1e9),
        };
        self.places.iter().find_map(of)
    }

    /// Seconds for which its threads stood still because the quota was used up.
    pub fn throttled(&self) -> Option<f64> {
        let place = self.of(Controller::Cpu)?;
        let file = place.file("cpu.stat");
        match place.unified {
            true => self.entry(&file, "throttled_usec").map(|us| us / 1e6),
            false => self.entry(&file, "throttled_time").map(|ns| ns / 1e9),
        }
    }

    /// How many processes were killed for want of memory.
    pub fn killed_for_memory(&self) -> u64 {
        let Some(place) = self.of(Controller::Memory) else { return 0 };
        let file = place.file(if place.unified { "memory.events" } else { "memory.oom_control" });
        self.entry(&file, "oom_kill").map_or(0, |n| n as u64)
    }

    /// Lets [`Group::peak`] count from now on. Before Linux 6.12 version 2 cannot: it counts from the beginning.
    pub fn reset_peak(&mut self) {
        let Some(place) = self.of(Controller::Memory) else { return };
        if !place.unified {
            // Where it is refused, it counts from the beginning.
            let _ = self.host.write_setting(&place.file("memory.max_usage_in_bytes"), "0");
            return;
        }
        let path = self.host.path(&place.file("memory.peak"));
        // What is written resets what this descriptor reads, and no other.
        let file = File::options().read(true).write(true).open(path);
        self.peak = file.ok().filter(|file| file.write_at(b"0", 0).is_ok());
    }

    /// The most memory that it had at a time, bytes: that of its processes, and of files in the page cache that they read or wrote first.
    pub fn peak(&self) -> Option<f64> {
        if let Some(file) = &self.peak {
            let mut text = [0; 32];
            let length = file.read_at(&mut text, 0).ok()?;
            return std::str::from_utf8(text.get(..length)?).ok()?.trim().parse().ok();
        }
        let place = self.of(Controller::Memory)?;
        self.number(&place.file(if place.unified { "memory.peak" } else { "memory.max_usage_in_bytes" }))
    }

    /// The number of a line `KEY NUMBER`.
    fn entry(&self, file: &str, key: &str) -> Option<f64> {
        let text = self.host.read_text(file).ok()?;
        text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok())
    }

    fn number(&self, file: &str) -> Option<f64> {
        self.host.read_text(file).ok()?.parse().ok()
    }
}

impl Drop for Group<'_> {
    fn drop(&mut self) {
        let folders: Vec<String> = self.places.iter().map(|place| place.folder.clone()).collect();
        end(self.host, &folders);
    }
}

impl Place {
    fn file(&self, name: &str) -> String {
        format!("{}/{name}", self.folder)
    }
}

fn refused(groups: &Groups, controller: Controller) -> String {
    let why = groups.why_not(controller).map(|why| format!(": {why}")).unwrap_or_default();
    format!("no control group can limit {}{why}", controller.name())
}

/// Gives a group of version 1 the CPUs and memory nodes of another, without which no process may join.
pub(super) fn copy_cpuset(host: &Host, from: &str, to: &str) -> Result<(), String> {
    ["cpuset.cpus", "cpuset.mems"].iter().try_for_each(|file| {
        let value = host.read_text(&format!("{from}/{file}"));
        value.and_then(|value| host.write_setting(&format!("{to}/{file}"), &value)).map_err(|e| e.to_string())
    })
}

/// The processes in a group, without those of groups below.
pub(super) fn processes_of(host: &Host, folder: &str) -> Vec<i32> {
    let text = host.read_text(&format!("{folder}/cgroup.procs")).unwrap_or_default();
    text.lines().filter_map(|line| line.trim().parse().ok()).collect()
}

pub(super) fn join(host: &Host, folder: &str, pid: i32) -> Result<(), String> {
    let joined = host.write_setting(&format!("{folder}/cgroup.procs"), &pid.to_string());
    match joined {
        Err(error) if host.exists(&format!("/proc/{pid}")) => Err(error.to_string()),
        // One that has ended since has nowhere to go.
        _ => Ok(()),
    }
}

/// A group and those below it, the innermost first.
fn with_all_below(host: &Host, folder: &str) -> Vec<String> {
    let mut all = vec![folder.to_owned()];
    let mut at = 0;
    while let Some(folder) = all.get(at).cloned() {
        all.extend(host.folders(&folder).into_iter().map(|name| format!("{folder}/{name}")));
        at += 1;
    }
    all.reverse();
    all
}

/// Kills all processes in these groups and below, and removes them. What hangs in the kernel is left, and found by its name later.
pub(super) fn end(host: &Host, folders: &[String]) {
    // A recording of a machine names processes of that machine.
    let kills = !host.is_fixture();
    let until = Instant::now() + PATIENCE;
    let all: Vec<String> = folders.iter().flat_map(|folder| with_all_below(host, folder)).collect();
    while kills && kill(host, folders, &all) && Instant::now() < until {
        std::thread::sleep(POLL);
    }
    for folder in &all {
        // Who was killed is in its group until it is gone altogether.
        while let Err(error) = host.remove_folder(folder)
            && !error.is_absent()
            && host.exists(folder)
            && Instant::now() < until
        {
            std::thread::sleep(POLL);
        }
    }
}

/// Kills whoever is in these groups. Whether there was anybody.
fn kill(host: &Host, folders: &[String], all: &[String]) -> bool {
    let inside: Vec<i32> = all.iter().flat_map(|folder| processes_of(host, folder)).collect();
    if inside.is_empty() {
        return false;
    }
    // In version 2 all at once, since Linux 5.14.
    let at_once = |folder: &String| host.write_setting(&format!("{folder}/cgroup.kill"), "1");
    if folders.iter().filter(|folder| at_once(folder).is_ok()).count() < folders.len() {
        for pid in inside.into_iter().filter_map(Pid::from_raw) {
            // One that has just ended needs no signal.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
    true
}

/// Whether a folder is that of a group.
pub(super) fn is_group(host: &Host, folder: &str) -> bool {
    Path::new(&host.path(folder)).join("cgroup.procs").exists()
}

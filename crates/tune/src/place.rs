//! Where the processes of a trial run, and what they may use: in control groups of their own where such can be made; else CPUs are
//! given by affinity, and memory and quota cannot be limited, which is said before the first trial.

use crate::experiment::Experiment;
use crate::file::{File, From, Scalar};
use crate::space::{Set, fill};
use host::Host;
use host::groups::{Controller, Group, Groups, Limits, remove_left};
use std::path::PathBuf;

/// Whose processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    Workload,
    Server,
}

impl Whose {
    fn name(self) -> &'static str {
        match self {
            Whose::Workload => "workload",
            Whose::Server => "server",
        }
    }

    /// What a file says of it: CPUs, memory, quota.
    fn keys(self, file: &File) -> (Option<&String>, Option<&Scalar>, Option<&Scalar>) {
        let server = file.server.as_ref();
        match self {
            Whose::Workload => {
                (file.workload.cpus.as_ref(), file.workload.memory.as_ref(), file.workload.quota.as_ref())
            }
            Whose::Server => (
                server.and_then(|s| s.cpus.as_ref()),
                server.and_then(|s| s.memory.as_ref()),
                server.and_then(|s| s.quota.as_ref()),
            ),
        }
    }

    const BOTH: [Whose; 2] = [Whose::Workload, Whose::Server];
}

/// Control groups for the trials of a session, as far as they can be made. All that is in them ends, and they are gone, when this
/// is dropped.
#[derive(Debug)]
pub struct Place<'a> {
    groups: Groups<'a>,
}

/// Where a trial's command or server runs.
#[derive(Debug, Default)]
pub(crate) struct Placed<'a> {
    pub(crate) group: Option<Group<'a>>,
    /// The CPUs that it gets by affinity; all where the group says which.
    pub(crate) cpus: Option<String>,
    /// The memory that it may use, as the file has it.
    memory: String,
}

impl<'a> Place<'a> {
    /// Gets ready, removes what sessions that were killed have left, and tries the limits of each variant.
    ///
    /// # Errors
    /// What cannot be limited, why, and what to do.
    pub fn open(host: &'a Host, experiment: &Experiment) -> Result<Place<'a>, String> {
        remove_left(host);
        let wanted = wanted(experiment);
        let asked: Vec<(Controller, bool)> = wanted.iter().map(|(c, needed, _)| (*c, *needed)).collect();
        let groups = Groups::open(host, &asked);
        if let Some((controller, _, key)) = wanted.iter().find(|(c, needed, _)| *needed && !groups.has(*c)) {
            let why = groups.why_not(*controller).unwrap_or("no control groups are mounted");
            let scope = "in a control group of your own: systemd-run --user --scope -p Delegate=yes twinscope tune …";
            let remedy = match rustix::process::geteuid().is_root() {
                true => format!("run it {}", scope.replace(" --user", "")),
                false => format!("run it as root, or {scope}"),
            };
            return Err(format!("{key} needs a control group, and none can be made that has it: {why}; {remedy}"));
        }
        let place = Place { groups };
        let steps: Vec<usize> = (0..experiment.variants.len().saturating_sub(1)).collect();
        for (number, variant) in experiment.variants.iter().enumerate() {
            let values = experiment.values(number, &steps, &Set::new());
            for whose in Whose::BOTH {
                let tried = place.of(whose, 0, &experiment.file, &values, None);
                tried.map_err(|why| format!("{}, [{}]: {why}", variant.name, whose.name()))?;
            }
        }
        Ok(place)
    }

    /// A place for a trial of this number, on `cpus` in place of those that the file says where there are any.
    ///
    /// # Errors
    /// A limit that is none, or that could not be set.
    pub(crate) fn of(
        &self,
        whose: Whose,
        trial: usize,
        file: &File,
        values: &Set,
        cpus: Option<&str>,
    ) -> Result<Placed<'a>, String> {
        let mut limits = limits(whose, file, values)?;
        limits.cpus = cpus.map(str::to_owned).or(limits.cpus);
        let mut placed = Placed::by_affinity(whose, file, values, cpus)?;
        if self.groups.any() {
            placed.group = Some(self.groups.group(&format!("{}-{trial}", whose.name()), &limits)?);
            if self.groups.has(Controller::Cpuset) {
                placed.cpus = None;
            }
        }
        Ok(placed)
    }
}

impl Placed<'_> {
    /// Without a group.
    ///
    /// # Errors
    /// A limit that is none.
    pub(crate) fn by_affinity(
        whose: Whose,
        file: &File,
        values: &Set,
        cpus: Option<&str>,
    ) -> Result<Placed<'static>, String> {
        let memory = whose.keys(file).1.map_or(String::new(), Scalar::to_string);
        Ok(Placed {
            group: None,
            cpus: cpus.map(str::to_owned).or(limits(whose, file, values)?.cpus),
            memory: fill(&memory, values, str::to_owned)?,
        })
    }

    /// The CPUs that it gets by affinity, as numbers.
    pub(crate) fn numbers(&self) -> Vec<usize> {
        self.cpus.as_deref().and_then(host::cpu_list).unwrap_or_default()
    }

    /// The files that a process writes to in order to join its group.
    pub(crate) fn joins(&self) -> Vec<PathBuf> {
        self.group.as_ref().map(Group::joins).unwrap_or_default()
    }

    /// Whether something was killed in it because the memory did not suffice, in words.
    pub(crate) fn killed_for_memory(&self) -> Option<String> {
        let killed = self.group.as_ref().is_some_and(|group| group.killed_for_memory() > 0);
        killed.then(|| match self.memory.as_str() {
            "" => "killed for want of memory".to_owned(),
            memory => format!("killed for want of memory: memory = {memory:?}"),
        })
    }
}

/// What must be limited or counted: whether it is needed, and the key that wants it.
fn wanted(experiment: &Experiment) -> Vec<(Controller, bool, String)> {
    let file = &experiment.file;
    let mut wanted: Vec<(Controller, bool, String)> = Vec::new();
    let mut want = |controller, needed, key: String| {
        match wanted.iter_mut().find(|(c, ..)| *c == controller) {
            Some(there) if needed && !there.1 => *there = (controller, needed, key),
            Some(_) => {}
            None => wanted.push((controller, needed, key)),
        };
    };
    for whose in Whose::BOTH {
        let (cpus, memory, quota) = whose.keys(file);
        let key = |name: &str| format!("[{}] {name}", whose.name());
        if cpus.is_some() || (file.together && whose == Whose::Workload) {
            want(Controller::Cpuset, false, key("cpus"));
        }
        if memory.is_some() {
            want(Controller::Memory, true, key("memory"));
        }
        if quota.is_some() {
            want(Controller::Cpu, true, key("quota"));
        }
    }
    for measure in experiment.measures.iter().filter_map(crate::measure::Measured::of_processes) {
        match measure {
            From::Memory => want(Controller::Memory, true, "from = \"memory\"".into()),
            From::ServerRss => want(Controller::Memory, false, "from = \"server_rss\"".into()),
            _ => {}
        }
    }
    wanted
}

/// What a file allows.
///
/// # Errors
/// What is none, and an example.
pub(crate) fn limits(whose: Whose, file: &File, values: &Set) -> Result<Limits, String> {
    let (cpus, memory, quota) = whose.keys(file);
    let plain = |text: String| fill(&text, values, str::to_owned);
    let cpus = cpus.map(|list| plain(list.clone())).transpose()?;
    if let Some(list) = cpus.as_ref().filter(|list| host::cpu_list(list).is_none()) {
        return Err(format!("cpus {list:?}: a list such as \"0-1,4\""));
    }
    let memory = memory.map(|text| plain(text.to_string())).transpose()?.filter(|text| text != "max");
    let memory = memory.map(|text| {
        bytes(&text).ok_or_else(|| format!("memory {text:?}: a size such as \"512M\" or \"2G\", or \"max\""))
    });
    let quota = quota.map(|text| plain(text.to_string())).transpose()?.filter(|text| text != "max");
    let quota = quota.map(|text| {
        share(&text).ok_or_else(|| format!("quota {text:?}: at least 1% of a CPU, such as \"150%\", or \"max\""))
    });
    Ok(Limits { cpus, memory: memory.transpose()?, quota: quota.transpose()? })
}

/// A size: `2G`, `512MiB`, `1048576`; K, M, G and T are powers of 1,024, as in limits of systemd and containers.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(digits)?;
    let power = match unit.trim().trim_end_matches('B').trim_end_matches('i') {
        "" => 0,
        "K" | "k" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        _ => return None,
    };
    let bytes = number.parse::<f64>().ok()? * 1024f64.powi(power);
    (1.0..1e18).contains(&bytes).then_some(bytes as u64)
}

/// A part of a CPU, or several.
fn share(text: &str) -> Option<f64> {
    let share = text.trim().strip_suffix('%')?.trim().parse::<f64>().ok()? / 100.0;
    (0.01..=10_000.0).contains(&share).then_some(share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::testing::host_of;

    const FILE: &str = "[workload]\ncommand = [\"p\"]\ncpus = \"{c}\"\nmemory = \"{m}\"\nquota = \"{q}%\"\n\
        [parameters]\nc = [\"0\", \"0-1\"]\nm = [\"2G\"]\nq = [50]\n";

    fn experiment(text: &str) -> Result<Experiment, String> {
        let file = File::parse(text, "e.toml").map_err(|e| e.to_string())?;
        Experiment::new(file, text, "e.toml", "/".into()).map_err(|e| e.to_string())
    }

    #[test]
    fn limits_hold_parameters() {
        let made = experiment(FILE).unwrap();
        let values = made.values(1, &[], &Set::new());
        let limits_of = |whose| limits(whose, &made.file, &values).unwrap();
        let all = Limits { cpus: Some("0-1".into()), memory: Some(2 << 30), quota: Some(0.5) };
        assert_eq!((limits_of(Whose::Workload), limits_of(Whose::Server)), (all, Limits::default()));
        let none = experiment(&FILE.replace("[\"2G\"]", "[\"max\"]")).unwrap();
        assert_eq!(limits(Whose::Workload, &none.file, &none.values(0, &[], &Set::new())).unwrap().memory, None);
        for (from, to, why) in [
            ("\"2G\"", "\"much\"", "e.toml:4: memory \"much\": a size such as"),
            ("[50]", "[0]", "e.toml:5: quota \"0%\": at least 1%"),
            ("[\"0\"", "[\"all\"", "e.toml:3: cpus \"all\": a list"),
        ] {
            let refused = experiment(&FILE.replace(from, to)).unwrap_err();
            assert!(refused.starts_with(why), "{refused}");
        }
    }

    #[test]
    fn sizes_and_shares() {
        assert_eq!(
            ["2G", "512MiB", "1.5K", "7", "1 GB"].map(bytes),
            [Some(2 << 30), Some(512 << 20), Some(1536), Some(7), Some(1 << 30)]
        );
        assert_eq!(["", "G", "0", "2X", "-1", "1e30"].map(bytes), [None; 6]);
        assert_eq!(["150%", "1%", "50 %"].map(share), [Some(1.5), Some(0.01), Some(0.5)]);
        assert_eq!(["1.5", "0%", "-5%", "%", "nan%"].map(share), [None; 5]);
    }

    #[test]
    fn what_cannot_be_limited_is_said_before_the_first_trial() {
        let (_dir, host) = host_of(&[
            ("/proc/self/mountinfo", "31 25 0:27 / /cg rw - cgroup2 cgroup2 rw\n"),
            ("/proc/self/cgroup", "0::/a\n"),
            ("/cg/a/cgroup.controllers", "pids\n"),
            ("/cg/cgroup.controllers", "pids\n"),
        ]);
        let why = Place::open(&host, &experiment(FILE).unwrap()).unwrap_err();
        assert!(
            why.starts_with("[workload] memory needs a control group, and none can be made that has it: "),
            "{why}"
        );
        assert!(why.contains("/cg/a/cgroup.controllers: memory is not among them; run it "), "{why}");
        assert!(why.contains("systemd-run") && why.contains("Delegate=yes"), "{why}");
        // CPUs alone are given by affinity.
        let alone = FILE.replace("memory = \"{m}\"\nquota = \"{q}%\"\n", "").replace("m = [\"2G\"]\nq = [50]\n", "");
        let made = experiment(&alone).unwrap();
        let place = Place::open(&host, &made).unwrap();
        let placed = place.of(Whose::Workload, 1, &made.file, &made.values(1, &[], &Set::new()), None).unwrap();
        assert_eq!((placed.numbers(), placed.killed_for_memory()), (vec![0, 1], None));
        let other = place.of(Whose::Workload, 1, &made.file, &made.values(1, &[], &Set::new()), Some("1")).unwrap();
        assert_eq!(other.numbers(), [1]);
    }
}

//! Both trials of a block at the same time: for which experiments that is, and on which two CPUs.

use crate::experiment::Experiment;
use crate::file::DesignName;
use crate::place::{Whose, limits};
use crate::space::Set;
use host::{Host, cpu_list};

/// Whether an experiment can be run so. The first of the pair is the word by which the line is found.
pub(crate) fn check(of: &Experiment) -> Result<(), (String, String)> {
    let file = &of.file;
    if !file.together {
        return Ok(());
    }
    let refuse = |word: &str, what: &str| Err((word.to_owned(), format!("together = true {what}")));
    if file.design != DesignName::Ab {
        return refuse("together", "is for design = \"ab\": two variants, each on a CPU of its own");
    }
    if of.variants.len() != 2 {
        let n = of.variants.len();
        return refuse("together", &format!("is for two variants, each on a CPU of its own; there are {n}"));
    }
    if file.load.is_some() {
        return refuse("[load]", "is for commands of one thread: leave out [load]");
    }
    if file.server.is_some() {
        return refuse("[server]", "is for commands of one thread: leave out [server]");
    }
    if let Some(setting) = of.settings().first() {
        let what = format!(
            "and parameter {}: a setting is the machine's, so that two trials at the same time cannot differ in it",
            setting.name
        );
        return refuse(&setting.name, &what);
    }
    named(of).map(|_| ()).map_err(|what| ("cpus".to_owned(), format!("together = true {what}")))
}

/// The CPUs that the file names, where it does: two, and the same for both variants.
fn named(of: &Experiment) -> Result<Option<[usize; 2]>, String> {
    let mut both = Vec::new();
    for variant in 0..of.variants.len() {
        let values = of.values(variant, &[], &Set::new());
        both.push(limits(Whose::Workload, &of.file, &values)?.cpus);
    }
    let Some(Some(list)) = both.first() else {
        return match both.into_iter().flatten().next() {
            None => Ok(None),
            Some(_) => Err("needs the same two cpus for both variants".into()),
        };
    };
    let mut cpus = cpu_list(list).unwrap_or_default();
    cpus.sort_unstable();
    cpus.dedup();
    let Ok(cpus) = <[usize; 2]>::try_from(cpus) else {
        return Err(format!("needs exactly two cpus, such as \"0,1\", and not {list:?}; without any it chooses two"));
    };
    match both.iter().all(|other| other.as_ref() == Some(list)) {
        true => Ok(Some(cpus)),
        false => Err("needs the same two cpus for both variants".into()),
    }
}

/// The two CPUs that the trials of a block run on at the same time; `None` for an experiment that is not run so. They are those of
/// the workload, else the first two of different cores that this process may use, else the first two.
///
/// # Errors
/// That there is only one, or which may not be used.
pub fn cpus(host: &Host, of: &Experiment) -> Result<Option<[usize; 2]>, String> {
    if !of.file.together {
        return Ok(None);
    }
    let asked = named(of)?;
    let status = host.read_text("/proc/self/status").map_err(|e| e.to_string())?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap_or_default().trim();
    let allowed = cpu_list(list).ok_or("together: which CPUs may be used is not known (/proc/self/status)")?;
    if let Some(asked) = asked {
        return match asked.iter().find(|cpu| !allowed.contains(cpu)) {
            None => Ok(Some(asked)),
            Some(cpu) => Err(format!("cpus: CPU {cpu} is none that may be used here, which are {list}")),
        };
    }
    let [first, others @ ..] = allowed.as_slice() else { return Err(one(list)) };
    let of_core = host.read_text(&format!("/sys/devices/system/cpu/cpu{first}/topology/thread_siblings_list"));
    let of_core = of_core.ok().and_then(|text| cpu_list(&text)).unwrap_or_default();
    let elsewhere = others.iter().find(|cpu| !of_core.contains(cpu)).or(others.first());
    elsewhere.map(|second| Some([*first, *second])).ok_or_else(|| one(list))
}

fn one(list: &str) -> String {
    format!(
        "together = true runs both trials of a block at the same time, each on a CPU of its own, and only one may be used here \
         (CPU {list}); without it they run one after the other"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::File;
    use crate::simulated::{Noise, Simulated};
    use crate::{About, Folder, Session, TrialRecord};
    use host::testing::host_of;

    const FILE: &str = "together = true\n[workload]\ncommand = [\"p\", \"{n}\"]\n[parameters]\nn = [1, 2]\n";

    fn experiment(text: &str) -> Result<Experiment, String> {
        let file = File::parse(text, "e.toml").map_err(|e| e.to_string())?;
        Experiment::new(file, text, "e.toml", "/".into()).map_err(|e| e.to_string())
    }

    fn with_cpus(list: &str) -> String {
        FILE.replace("[parameters]", &format!("cpus = \"{list}\"\n[parameters]"))
    }

    #[test]
    fn what_cannot_run_together_names_its_line() {
        assert!(experiment(FILE).unwrap().plan(1).together);
        let refused = |from: &str, to: &str, why: &str| {
            let said = experiment(&FILE.replace(from, to)).unwrap_err();
            assert!(said.starts_with(why), "{said}");
        };
        refused(
            "together = true",
            "together = true\ndesign = \"sweep\"",
            "e.toml:1: together = true is for design = \"ab\"",
        );
        refused("n = [1, 2]", "n = [1, 2, 3]", "e.toml:1: together = true is for two variants");
        let server = "[server]\ncommand = [\"s\"]\nready = { port = 80 }\n[parameters]";
        refused("[parameters]", server, "e.toml:4: together = true is for commands of one thread: leave out [server]");
        let load = "[load]\nurl = \"http://h/{n}\"\nrate = 5\nconnections = 1\nduration = \"1s\"\n[parameters]";
        refused(
            "command = [\"p\", \"{n}\"]\n[parameters]",
            load,
            "e.toml:3: together = true is for commands of one thread: leave out",
        );
        let swap = "n = [1, 2]\nswap = { setting = \"/proc/sys/vm/swappiness\", values = [60] }";
        refused("n = [1, 2]", swap, "e.toml:6: together = true and parameter swap: a setting is the machine's");
        refused("true", "1", "e.toml:1: ");
        for list in ["0", "0-2", "1,1"] {
            let said = experiment(&with_cpus(list)).unwrap_err();
            assert!(said.starts_with("e.toml:4: together = true needs exactly two cpus"), "{said}");
        }
        let differ = with_cpus("{n}-3").replace("n = [1, 2]", "n = [\"2\", \"1,2\"]");
        assert!(experiment(&differ).unwrap_err().contains("the same two cpus"), "{differ}");
    }

    #[test]
    fn a_command_that_is_not_of_one_thread_is_named() {
        let cautions = |used: f64| {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("e.tune");
            let made = experiment(&FILE.replace("together = true", "together = true\nquick = true")).unwrap();
            let mut folder = Folder::create(&path, FILE, &About::default()).unwrap();
            let mut session = Session::begin(made.plan(1), &mut folder).unwrap();
            session.run(&mut Simulated::new(Noise::White, 1, 8), &mut folder).unwrap();
            for number in 1..=session.trials() {
                let (wall, cpu) = (Some(2.0), Some(if number == 4 { 2.0 * used } else { 1.9 }));
                let on_cpu = Some(2 * (number % 2));
                let record = TrialRecord { at: 1.0, seconds: 2.0, wall, cpu, on_cpu, ..TrialRecord::default() };
                std::fs::create_dir_all(Folder::trial(&path, number)).unwrap();
                Folder::keep_record(&path, number, &record).unwrap();
            }
            let shown = crate::show(&made, &Folder::events(&path).unwrap(), &path, false).unwrap();
            assert!(shown.together && shown.trials.iter().all(|t| t.cpu.is_some() && t.cpus_used.is_some()));
            shown.cautions.join("\n")
        };
        let both = "Both trials of a block ran at the same time, on CPUs 0 and 2, which they swapped at random";
        let (one, more) = (cautions(1.05), cautions(1.6));
        assert!(one.starts_with(both) && !one.contains("one thread"), "{one}");
        assert!(
            more.starts_with(both)
                && more.contains("used 1.6 CPUs on average where it had both: it is not of one thread"),
            "{more}"
        );
    }

    #[test]
    fn two_cpus_are_those_of_the_file_or_of_different_cores() {
        let siblings = |cpu: usize| format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        let found = |allowed: &str, of_first: &str, text: &str| {
            let status = format!("Name:\tx\nCpus_allowed_list:\t{allowed}\n");
            let first = cpu_list(allowed).unwrap()[0];
            let (_dir, host) = host_of(&[("/proc/self/status", &status), (&siblings(first), of_first)]);
            cpus(&host, &experiment(text).unwrap())
        };
        assert_eq!(found("0-3", "0-1\n", FILE), Ok(Some([0, 2])));
        assert_eq!(found("2-7", "2,6\n", FILE), Ok(Some([2, 3])));
        // Only one core: then its two threads.
        assert_eq!(found("4-5", "4-5\n", FILE), Ok(Some([4, 5])));
        assert_eq!(found("0-3", "0-1\n", &with_cpus("3,1")), Ok(Some([1, 3])));
        assert_eq!(found("3", "3\n", &FILE.replace("together = true\n", "")), Ok(None));
        assert!(found("3", "3\n", FILE).unwrap_err().contains("only one may be used here (CPU 3)"));
        assert!(
            found("0-1", "0\n", &with_cpus("0,2"))
                .unwrap_err()
                .contains("CPU 2 is none that may be used here, which are 0-1")
        );
    }
}

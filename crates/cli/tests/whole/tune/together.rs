//! Both trials of a block at the same time, as processes.

use super::{show, sound, write};
use crate::common::{Folder, skipped};
use serde_json::Value;

/// It says where it runs, and is judged by a number that is the same each time.
const BOTH: &str = "
together = true
seed = 5
budget = { blocks = 8 }
explained = 1
[workload]
command = \"grep Cpus_allowed_list /proc/self/status; sleep 0.3; echo took {n}\"
prepare = \"sleep {slow}\"
timeout = \"20s\"
[[measure]]
name = \"took\"
regex = 'took ([0-9]+)'
better = \"less\"
[parameters]
n = [200, 100]
slow = [0.2, 0]
zip = [[\"n\", \"slow\"]]
";

fn text() -> String {
    // A key of the whole file stands before its tables.
    let zip = "zip = [[\"n\", \"slow\"]]\n";
    format!("{zip}{}", BOTH.replace(zip, ""))
}

/// The CPUs that a trial's command saw.
fn saw(folder: &Folder, name: &str, trial: &Value) -> String {
    let output = format!("{name}/trials/{:04}/output", trial["number"].as_u64().unwrap());
    let said = std::fs::read_to_string(folder.path(&output)).unwrap();
    let line = said.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    line.unwrap_or_else(|| panic!("{said}")).trim().to_owned()
}

#[test]
fn both_trials_of_a_block_run_at_the_same_time_on_cpus_that_they_swap() {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        skipped("two trials at the same time", "there is one CPU");
        return;
    }
    let folder = Folder::new();
    write(&folder, "both.toml", &text());
    let plan = folder.expect(0, ["tune", "plan", "both.toml"]).stdout;
    assert!(plan.contains("Both trials of a block run at the same time: the first of its order on CPU "), "{plan}");
    let done = folder.expect(0, ["tune", "both.toml"]);
    assert!(done.stdout.contains("caution: Both trials of a block ran at the same time, on CPUs "), "{done}");
    let shown = show(&folder, "both.tune");
    sound(&shown);
    assert_eq!((&shown["together"], &shown["changes"][0]["verdict"]), (&true.into(), &"better".into()), "{shown:#}");
    let trials = shown["trials"].as_array().unwrap();
    let (pairs, alone): (Vec<&Value>, Vec<&Value>) = trials.iter().partition(|t| t["explained"] == false);
    assert!(pairs.len() >= 8 && alone.len() == 2, "{shown:#}");
    // The first of the order is the first to have begun, and has the same CPU in each block.
    let cpus: Vec<u64> = pairs.iter().take(2).map(|t| t["cpu"].as_u64().unwrap()).collect();
    assert_ne!(cpus[0], cpus[1]);
    let number = |t: &Value, key: &str| t[key].as_f64().unwrap();
    let mut swaps = std::collections::BTreeSet::new();
    for pair in pairs.chunks(2) {
        let [a, b] = pair else { panic!("{pair:#?}") };
        assert_eq!(a["block"], b["block"]);
        assert_eq!((a["cpu"].as_u64(), b["cpu"].as_u64()), (Some(cpus[0]), Some(cpus[1])), "{pair:#?}");
        swaps.insert(a["variant"].as_u64());
        for t in [a, b] {
            assert_eq!(saw(&folder, "both.tune", t), t["cpu"].to_string(), "{t:#}");
        }
        // The commands themselves: each began before the other ended, though one takes longer to prepare.
        let record = |t: &Value| {
            let file = format!("both.tune/trials/{:04}/run.twin", t["number"].as_u64().unwrap());
            let recording = store::Recording::open(&folder.path(&file)).unwrap();
            let manifest = recording.manifest();
            let began = manifest.start_monotonic + manifest.command_start.unwrap();
            (began, began + manifest.wall.unwrap())
        };
        let ((a_from, a_to), (b_from, b_to)) = (record(a), record(b));
        assert!(a_from < b_to && b_from < a_to, "{a_from} {a_to} {b_from} {b_to}");
        assert!(number(a, "at") < number(b, "at") + number(b, "seconds"), "{pair:#?}");
    }
    assert_eq!(swaps.len(), 2, "they swap");
    // Those for explaining were alone, and had both.
    for t in alone {
        assert!(t["cpu"].is_null(), "{t:#}");
        let both = host::cpu_list(&saw(&folder, "both.tune", t)).unwrap();
        assert_eq!(both.iter().map(|cpu| *cpu as u64).collect::<Vec<_>>(), cpus);
        let overlaps = |other: &&Value| {
            number(t, "at") < number(other, "at") + number(other, "seconds")
                && number(other, "at") < number(t, "at") + number(t, "seconds")
        };
        assert!(!trials.iter().filter(|other| other["number"] != t["number"]).any(|other| overlaps(&other)));
    }
    let csv = folder.expect(0, ["tune", "show", "both.tune", "--csv"]).stdout;
    assert!(csv.lines().next().is_some_and(|head| head.contains(",others,cpu,")), "{csv}");
}

#[test]
fn a_trial_of_a_pair_that_fails_does_so_alone() {
    let folder = Folder::new();
    let failing =
        text().replace("sleep {slow}", "sleep {slow}; test {n} = 200").replace("explained = 1", "explained = 0");
    write(&folder, "fails.toml", &failing);
    let shown = folder.expect(0, ["tune", "fails.toml", "-q", "--json"]).json();
    let ends: Vec<&Value> = shown["trials"].as_array().unwrap().iter().map(|t| &t["end"]).collect();
    assert_eq!(ends.len(), 6, "three blocks: {shown:#}");
    assert_eq!(ends.iter().filter(|end| **end == "failed").count(), 3, "{shown:#}");
    // What cannot be so is said with its line, and nothing is run.
    write(&folder, "ladder.toml", &text().replace("together = true", "together = true\ndesign = \"sweep\""));
    let refused = folder.expect(2, ["tune", "ladder.toml"]).stderr;
    assert!(refused.contains("ladder.toml:3: together = true is for design = \"ab\""), "{refused}");
    assert!(!folder.path("ladder.tune").exists());
}

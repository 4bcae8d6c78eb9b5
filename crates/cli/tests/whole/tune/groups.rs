//! Control groups of trials: that limits hold, that nothing outlives its trial, and that nothing is left.

use super::{runs, show, sound, write};
use crate::common::{Done, Folder, skipped};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The folders of control groups that a session made, by the number of its process.
pub(super) fn groups_of(pid: u32) -> Vec<PathBuf> {
    let (mut found, mut left) = (Vec::new(), vec![PathBuf::from("/sys/fs/cgroup")]);
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            let mut parts = name.strip_prefix("twinscope-tune-").into_iter().flat_map(|rest| rest.split('-'));
            if parts.nth(1).is_some_and(|part| part == pid.to_string()) {
                found.push(entry.path());
            }
            left.push(entry.path());
        }
    }
    found
}

/// Whether limits of memory and CPU time can be set here.
fn can_limit(folder: &Folder, what: &str) -> bool {
    let text = "explained = 0\nquick = true\n[workload]\ncommand = [\"true\"]\nmemory = \"1G\"\nquota = \"{q}\"\n\
        [parameters]\nq = [\"100%\", \"90%\"]\n";
    write(folder, "can.toml", text);
    let done = folder.run(["tune", "can.toml", "-q"]);
    if done.stderr.contains("needs a control group") {
        skipped(what, done.stderr.trim());
        return false;
    }
    true
}

/// Runs it to its end, after which none of its groups is there.
fn run(folder: &Folder, name: &str, code: i32) -> (Done, Value) {
    let running = folder.start(folder.command(["tune", &format!("{name}.toml")]));
    let pid = running.pid();
    let done = running.wait();
    assert_eq!(done.status.code(), Some(code), "{done}");
    assert_eq!(groups_of(pid), [] as [PathBuf; 0], "{done}");
    let shown = show(folder, &format!("{name}.tune"));
    sound(&shown);
    (done, shown)
}

fn trials(shown: &Value, variant: u64) -> impl Iterator<Item = &Value> {
    shown["trials"].as_array().unwrap().iter().filter(move |t| t["variant"] == variant)
}

#[test]
fn limits_of_a_trial_hold() {
    let folder = Folder::new();
    if !can_limit(&folder, "tune: limits of a trial hold") {
        return;
    }
    let measures = "[[measure]]\nname = \"took\"\nregex = 'took ([0-9]+)'\nbetter = \"less\"\n";
    let head = "explained = 0\nquick = true\n[workload]\n";
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    if cpus > 1 {
        let text = format!(
            "{head}command = \"echo took $(nproc)\"\ncpus = \"{{c}}\"\n{measures}[parameters]\nc = [\"0-1\", \"1\"]\n"
        );
        write(&folder, "cpus.toml", &text);
        let (_, shown) = run(&folder, "cpus", 0);
        assert!(trials(&shown, 0).all(|t| t["values"][0] == 2.0) && trials(&shown, 1).all(|t| t["values"][0] == 1.0));
    }
    // A quota: who wants more CPU time than it has stands still.
    let burns = "command = \"timeout 0.3 sh -c 'while :; do :; done'; echo took {n}\"\nquota = \"{q}\"\n";
    let text = format!(
        "zip = [[\"q\", \"n\"]]\n{head}{burns}{measures}[[measure]]\nfrom = \"throttled\"\n[[measure]]\nfrom = \"memory\"\n\
         [parameters]\nq = [\"max\", \"10%\"]\nn = [10, 11]\n"
    );
    write(&folder, "quota.toml", &text);
    let (_, shown) = run(&folder, "quota", 0);
    let value = |t: &Value, at: usize| t["values"][at].as_f64().unwrap();
    assert!(trials(&shown, 0).all(|t| value(t, 1) == 0.0), "{shown:#}");
    assert!(trials(&shown, 1).all(|t| value(t, 1) > 0.02), "{shown:#}");
    assert!(trials(&shown, 0).all(|t| value(t, 2) > 4096.0 && value(t, 2) < 1e9), "{shown:#}");
    // More memory than it may have: whoever asks for it is killed, and that is said.
    let wants = "command = \"head -c 64m /dev/zero | tail | wc -c; echo took 5\"\nmemory = \"{m}\"\n";
    let text = format!("{head}{wants}{measures}[parameters]\nm = [\"512M\", \"16M\"]\n");
    write(&folder, "memory.toml", &text);
    let (done, shown) = run(&folder, "memory", 0);
    assert!(trials(&shown, 0).all(|t| t["end"] == "measured"), "{shown:#}");
    let reason = "killed for want of memory: memory = \"16M\"";
    assert!(trials(&shown, 1).all(|t| t["end"] == "failed" && t["reason"] == reason), "{shown:#}");
    assert!(done.stderr.contains(reason), "{done}");
    // CPUs that there are not: before the first trial.
    write(&folder, "none.toml", &text.replace("memory = \"{m}\"", "memory = \"{m}\"\ncpus = \"1000\""));
    let none = folder.expect(1, ["tune", "none.toml"]);
    assert!(none.stderr.contains("m=512M, [workload]: ") && none.stderr.contains("cpus"), "{none}");
    assert!(!folder.path("none.tune").exists());
}

#[test]
fn nothing_outlives_its_trial() {
    let folder = Folder::new();
    if !can_limit(&folder, "tune: nothing outlives its trial") {
        return;
    }
    let [word, server_word] = [1, 2].map(|n| format!("9{}{n}", std::process::id()));
    // Both leave a process that has left their group and session.
    let text = format!(
        "explained = 1
quick = true
[workload]
command = \"setsid sleep {word} >/dev/null 2>&1 & sleep 0.2; echo took {{n}}\"
[server]
command = \"setsid sleep {server_word} & echo ready; i=0; while :; do i=$((i + 1)); done\"
ready = {{ regex = \"ready\" }}
quota = \"20%\"
memory = \"{{m}}\"
[[measure]]
name = \"took\"
regex = 'took ([0-9]+)'
better = \"less\"
[[measure]]
from = \"server_cpu\"
[[measure]]
from = \"server_rss\"
[[measure]]
from = \"server_throttled\"
[parameters]
n = [20, 10]
m = [\"64M\"]
"
    );
    write(&folder, "both.toml", &text);
    let (_, shown) = run(&folder, "both", 0);
    assert!(!runs(&word) && !runs(&server_word), "a process still runs");
    for trial in shown["trials"].as_array().unwrap() {
        assert_eq!(trial["end"], "measured", "{trial:#}");
        let value = |at: usize| trial["values"][at].as_f64().unwrap();
        assert!(value(1) > 0.0 && value(1) < 0.2 * 60.0, "{trial:#}");
        assert!(value(2) > 4096.0 && value(2) <= f64::from(64 << 20), "{trial:#}");
        assert!(value(3) > 0.0, "{trial:#}");
    }
    // Trials for explaining trace the server by its group.
    let explained = trials(&shown, 0).find(|t| t["explained"] == true).unwrap()["number"].as_u64().unwrap();
    let info = folder.info(&format!("both.tune/trials/{explained:04}/run.twin"));
    let scope = info["manifest"]["scope"].as_str().or(info["scope"].as_str()).unwrap_or_default();
    assert!(scope.starts_with("control group "), "{info:#}");
    // A server that asks for too much.
    let greedy = text.replace("i=0; while", "sleep 0.1; head -c 256m /dev/zero | tail; while");
    write(&folder, "greedy.toml", &greedy.replace("sleep 0.2", "sleep 1").replace("explained = 1", "explained = 0"));
    let (_, shown) = run(&folder, "greedy", 1);
    let reason = "the server was killed for want of memory: memory = \"64M\"";
    assert!(shown["trials"].as_array().unwrap().iter().all(|t| t["reason"] == reason), "{shown:#}");
    assert!(!runs(&word) && !runs(&server_word), "a process still runs");
    // Neither after Ctrl-C, nor, when the next session has begun, after a kill.
    write(&folder, "both.toml", &text.replace("sleep 0.2", "sleep 30"));
    for signal in [libc::SIGINT, libc::SIGKILL] {
        let output = format!("{signal}.tune");
        let mut running = folder.start(folder.command(["tune", "both.toml", "-o", &output]));
        // The words are in the shells' lines, too: what matters are the processes that they leave.
        let left = [&word, &server_word].map(|word| format!("sleep\0{word}"));
        running.until("a trial runs", || left.iter().all(|line| runs(line)));
        let pid = running.pid();
        assert!(!groups_of(pid).is_empty());
        running.signal(signal);
        running.wait();
        if signal == libc::SIGKILL {
            assert!(runs(&word) && !groups_of(pid).is_empty());
            write(&folder, "next.toml", &text.replace("setsid sleep", ": "));
            run(&folder, "next", 0);
        }
        assert!(!runs(&word) && !runs(&server_word), "after signal {signal}, a process still runs");
        assert_eq!(groups_of(pid), [] as [PathBuf; 0]);
    }
}

#[test]
fn without_a_control_group_limits_are_refused() {
    let folder = Folder::new();
    // SAFETY: takes nothing and cannot fail.
    if unsafe { libc::geteuid() } == 0 {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(folder.path(""), std::fs::Permissions::from_mode(0o777)).unwrap();
    }
    let text = "explained = 0\nquick = true\n[workload]\ncommand = \"echo took $(nproc) {n}\"\ncpus = \"0\"\nmemory = \"1G\"\n\
        [[measure]]\nname = \"took\"\nregex = 'took ([0-9]+)'\nbetter = \"less\"\n[parameters]\nn = [1, 2]\n";
    write(&folder, "limited.toml", text);
    write(&folder, "cpus.toml", &text.replace("memory = \"1G\"\n", ""));
    let without_root = |name: &str| {
        let mut command = folder.command(["tune", name]);
        // SAFETY: as above.
        if unsafe { libc::geteuid() } == 0 {
            std::os::unix::process::CommandExt::uid(&mut command, 65534);
        }
        folder.start(command).wait()
    };
    let cpus = without_root("cpus.toml");
    if cpus.stderr.contains("Permission denied") && !Path::new("cpus.tune").exists() && cpus.status.code() != Some(0) {
        return skipped(
            "tune: without a control group limits are refused",
            "the program cannot be run as another user",
        );
    }
    assert_eq!(cpus.status.code(), Some(0), "{cpus}");
    assert!(trials(&show(&folder, "cpus.tune"), 0).all(|t| t["values"][0] == 1.0));
    let limited = without_root("limited.toml");
    if limited.status.code() == Some(0) {
        return skipped("tune: without a control group limits are refused", "this user may make groups");
    }
    assert_eq!(limited.status.code(), Some(1), "{limited}");
    limited.says("[workload] memory needs a control group, and none can be made that has it: /sys/fs/cgroup");
    limited.says("run it as root, or in a control group of your own: systemd-run --user --scope -p Delegate=yes");
    assert!(!folder.path("limited.tune").exists());
}

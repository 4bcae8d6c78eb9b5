//! `field run` as a whole, on pairs that were made up and a stand-in for the recorder: what is kept, what is said, what is left.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Stands in for `twinscope record`: runs the command, and writes a file. Each call adds a line to `calls`.
const RECORDER: &str = r#"#!/usr/bin/env bash
set -u
calls=$(dirname "$0")/calls options=() out=
while [[ $# -gt 0 && $1 != -- ]]; do
    options+=("$1")
    if [[ $1 == -o ]]; then out=$2; fi
    shift
done
shift
echo "$(basename "$out") ${options[*]}" >>"$calls"
"$@" || exit
echo recording >"$out"
"#;

/// A server that heeds no request to end, and a child of it that leaves its process group.
const SERVED: &str = r#"
title = "a server that stays"
family = "web"
language = "bash"
set = "tuned"
[slow]
WORK = 10
[fast]
WORK = 30
[scripts]
install = 'echo once >>"$FILES/installed"'
serve = '''
trap '' TERM
setsid bash -c 'trap "" TERM; sleep 1000' &
echo "$$ $!" >>"$FILES/pids"
touch "$RUN/up"
while :; do sleep 0.1; done
'''
ready = '[[ -e $RUN/up ]]'
load = 'echo "server $SERVER"; sleep 0.1; echo "done $WORK"'
[work]
count = '^done (\d+)'
unit = "answers"
[record]
what = "serve"
options = ["--stacks=49"]
[truth]
classes = ["parallelism"]
names = ["x"]
effect = "mean"
why = "It is made up."
sources = ["this test"]
"#;

/// A pair without a server, with this load.
fn loaded(load: &str, packages: &str) -> String {
    format!(
        "title = \"t\"\nfamily = \"web\"\nlanguage = \"bash\"\nset = \"held\"\npackages = [{packages}]\n\
         [slow]\nA = 1\n[fast]\nA = 2\n[scripts]\nload = '''\n{load}\n'''\n[record]\nwhat = \"load\"\n\
         [truth]\nclasses = [\"lock\"]\nnames = [\"x\"]\neffect = \"mean\"\nwhy = \"w\"\nsources = [\"s\"]\n"
    )
}

struct Exam {
    folder: tempfile::TempDir,
}

impl Exam {
    fn of(pairs: &[(&str, &str)]) -> Self {
        let exam = Exam { folder: tempfile::tempdir().unwrap() };
        for (name, text) in pairs {
            std::fs::create_dir_all(exam.at("field").join(name)).unwrap();
            std::fs::write(exam.at("field").join(name).join("pair.toml"), text).unwrap();
        }
        let field = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../field");
        for file in ["lib.sh", "classes.toml"] {
            std::fs::copy(field.join(file), exam.at("field").join(file)).unwrap();
        }
        std::fs::create_dir(exam.at("bin")).unwrap();
        // Who really asks waits for others who do.
        let apt = "#!/bin/sh\necho 'E: Unable to locate package'\nexit 100\n";
        for (name, text) in [("recorder", RECORDER), ("bin/apt-get", apt)] {
            std::fs::write(exam.at(name), text).unwrap();
            std::fs::set_permissions(exam.at(name), std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        exam
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.at(name)).unwrap_or_default()
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_field"));
        command.arg("--field").arg(self.at("field")).arg("--out").arg(self.at("out")).args(words);
        let path = format!("{}:{}", self.at("bin").display(), std::env::var("PATH").unwrap_or_default());
        command.env("TWINSCOPE", self.at("recorder")).env("PATH", path).stdin(Stdio::null());
        command
    }

    fn run(&self, words: &[&str]) -> (Output, String) {
        let limits = ["--patience", "0s", "--grace", "100ms"];
        let output = self.command(&[&["run"], words, &limits].concat()).output().unwrap();
        let said = String::from_utf8_lossy(&[output.stdout.clone(), output.stderr.clone()].concat()).into_owned();
        (output, said)
    }

    /// The recordings that were made, and how.
    fn calls(&self) -> Vec<String> {
        let calls = self.text("calls").lines().map(str::to_owned).collect();
        let _ = std::fs::remove_file(self.at("calls"));
        calls
    }
}

fn is_alive(pid: &str) -> bool {
    // One that has ended and that nobody has asked for yet is none.
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

#[test]
fn pairs_are_recorded_once_and_nothing_is_left_of_them() {
    let exam = Exam::of(&[
        ("served", SERVED),
        ("fails", &loaded("echo before; echo the disk is square >&2; exit 3", "")),
        ("lacks", &loaded("true", "\"no-such-package-of-the-field-exam\"")),
        (
            "unserved",
            &SERVED.replace("touch \"$RUN/up\"", "").replace("while :; do sleep 0.1; done", "echo gone; exit 1"),
        ),
    ]);
    let (output, said) = exam.run(&[]);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("1 of 4 pairs ran"), "{said}");
    assert!(said.contains("- fails: slow-1: load: exit code 3: before; the disk is square"), "{said}");
    assert!(said.contains("- lacks: packages"), "{said}");
    assert!(said.contains("- unserved: slow-1: serve: it ended before it was ready: exit code 1: gone"), "{said}");
    assert!(said.contains("served: slow : fast "), "{said}");

    let calls = exam.calls();
    let of_served: Vec<&String> = calls.iter().filter(|call| call.contains("--throughput")).collect();
    let names: Vec<&str> = of_served.iter().filter_map(|call| call.split_once(' ')).map(|(name, _)| name).collect();
    let order = ["slow-1", "fast-1", "slow-2", "fast-2", "slow-3", "fast-3", "again-1", "again-2", "again-3"];
    assert_eq!(names, order.map(|name| format!("{name}.twin")));
    let server = exam.text("out/files/served/slow/pids");
    let server = server.split_whitespace().next().unwrap();
    let options = of_served[0].split_once("slow-1.twin ").unwrap().1;
    assert!(options.starts_with("record --quiet --force -o "), "{options}");
    assert!(
        options.ends_with(&format!("--pid {server} --throughput ^done (\\d+) --unit answers --stacks=49")),
        "{options}"
    );
    assert!(exam.text("out/served/slow-1.out").starts_with(&format!("server {server}\n")));

    // Servers and their children of other groups are gone.
    for file in ["served/slow", "served/fast"] {
        let pids = exam.text(&format!("out/files/{file}/pids"));
        assert!(!pids.is_empty());
        for pid in pids.split_whitespace() {
            assert!(!is_alive(pid), "{file}: {pid} is alive");
        }
    }

    // What is whole stays; what is missing is recorded again; what was installed is used again.
    std::fs::remove_file(exam.at("out/served/fast-2.twin")).unwrap();
    let (_, said) = exam.run(&["served"]);
    let calls = exam.calls();
    assert!(calls.len() == 1 && calls[0].starts_with("fast-2.twin "), "{calls:?}: {said}");
    assert_eq!(exam.text("out/files/served/slow/installed"), "once\n");

    // Another load is another recording; what was recorded before counts no more.
    let list = || String::from_utf8_lossy(&exam.command(&["list"]).output().unwrap().stdout).into_owned();
    assert!(list().lines().any(|line| line.starts_with("served ") && line.ends_with("9 of 9")), "{}", list());
    std::fs::write(exam.at("field/served/pair.toml"), SERVED.replace("sleep 0.1; echo", "sleep 0.2; echo")).unwrap();
    assert!(list().lines().any(|line| line.starts_with("served ") && line.ends_with(" -")), "{}", list());
    assert!(list().contains("the disk is square"), "{}", list());
}

#[test]
fn a_script_that_hangs_has_a_deadline() {
    let load = "echo $$ >>\"$FILES/pids\"; trap '' TERM; sleep 1000 & wait; wait";
    let exam = Exam::of(&[("hangs", &loaded(load, ""))]);
    let (output, said) = exam.run(&["--deadline", "1s"]);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("- hangs: slow-1: load: it did not end in 1 s"), "{said}");
    let pids = exam.text("out/files/hangs/slow/pids");
    assert!(pids.split_whitespace().all(|pid| !is_alive(pid)), "{pids}");
}

#[test]
fn a_signal_ends_all_that_runs() {
    let exam =
        Exam::of(&[("served", &SERVED.replace("sleep 0.1; echo", "echo $$ >>\"$FILES/pids\"; sleep 1000; echo"))]);
    let mut field = exam.command(&["run", "--patience", "0s", "--grace", "100ms"]).spawn().unwrap();
    let from = Instant::now();
    while exam.text("out/files/served/slow/pids").lines().count() < 2 {
        assert!(from.elapsed() < Duration::from_secs(60), "it does not begin");
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = rustix::process::Pid::from_child(&field);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(field.wait().unwrap().code(), Some(128 + 15));
    for pid in exam.text("out/files/served/slow/pids").split_whitespace() {
        assert!(!is_alive(pid), "{pid} is alive");
    }
    assert!(!exam.at("out/served/slow-1.twin").exists() && !exam.at("out/served/slow-1.json").exists());
}

#[test]
fn a_pair_is_drawn_before_it_is_recorded() {
    let exam = Exam::of(&[("served", &SERVED.replace("set = \"tuned\"\n", ""))]);
    let (output, said) = exam.run(&[]);
    assert!(!output.status.success() && said.contains("field draw"), "{said}");
    assert!(exam.command(&["draw"]).output().unwrap().status.success());
    let text = exam.text("field/served/pair.toml");
    let set = text.lines().find(|line| line.starts_with("set = ")).unwrap();
    assert_eq!(text, SERVED.replace("set = \"tuned\"", set));
    let checked = exam.command(&["check"]).output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
}

//! `tune`: experiments of commands that print the number they are judged by, so that no timing decides.

mod designs;
mod groups;
mod kills;
mod settings;
mod together;

use crate::common::{Folder, skipped};
use kills::{finished, slow};
use serde_json::Value;

/// An experiment that is judged by what its command prints: ten times `{n}`, and up to two more.
const AB: &str = "
[workload]
command = \"echo took $(( {n} * 10 + $(date +%N | cut -c9) % 3 ))\"
timeout = \"20s\"
[[measure]]
name = \"took\"
regex = 'took ([0-9]+)'
better = \"less\"
[parameters]
n = [20, 10]
";

fn write(folder: &Folder, name: &str, text: &str) {
    std::fs::write(folder.path(name), text).unwrap();
}

fn show(folder: &Folder, name: &str) -> Value {
    folder.expect(0, ["tune", "show", name, "--json"]).json()
}

/// What must hold of each session, whatever happened to it: numbers of trials are each there once, and no block that counts lacks one.
fn sound(shown: &Value) {
    let trials = shown["trials"].as_array().unwrap();
    for (at, trial) in trials.iter().enumerate() {
        assert_eq!(trial["number"], at + 1, "{trial:#}");
        assert!(trial["end"] != "open" || at + 1 == trials.len(), "{trial:#}");
    }
    for change in shown["changes"].as_array().unwrap() {
        let blocks: Vec<&Value> = change["pairs"].as_array().unwrap().iter().map(|p| &p["block"]).collect();
        assert!(blocks.iter().enumerate().all(|(at, block)| **block == at), "{blocks:?}");
    }
}

#[test]
fn a_better_variant_is_called_better() {
    let folder = Folder::new();
    write(&folder, "half.toml", AB);
    let done = folder.expect(0, ["tune", "half.toml"]);
    assert!(done.stdout.starts_with("`n=10` has 0.5") && done.stdout.contains("better"), "{done}");
    assert!(done.stderr.contains("block 1 of at most 30"), "{done}");
    let shown = show(&folder, "half.tune");
    sound(&shown);
    let change = &shown["changes"][0];
    assert_eq!(
        (&change["verdict"], &shown["finished"], &change["variant"]),
        (&"better".into(), &true.into(), &1.into())
    );
    assert!(change["factor"].as_f64().is_some_and(|f| (0.48..0.52).contains(&f)), "{change:#}");
    // One trial for explaining each, for the change is plain.
    let explained = shown["trials"].as_array().unwrap().iter().filter(|t| t["explained"] == true).count();
    assert_eq!(explained, 2);
    // It is over: the same again shows it and runs nothing.
    let again = folder.expect(0, ["tune", "half.toml", "-q"]);
    assert_eq!(again.stderr, "");
    assert_eq!(show(&folder, "half.tune")["trials"], shown["trials"]);
    let csv = folder.expect(0, ["tune", "show", "half.tune", "--csv"]).stdout;
    assert_eq!(csv.lines().count(), shown["trials"].as_array().unwrap().len() + 1);
    assert!(csv.starts_with("trial,stage,block,variant,set,explained,end,"), "{csv}");
    let markdown = folder.expect(0, ["tune", "show", "half.tune", "--markdown"]).stdout;
    assert!(markdown.contains("| n=10 | 0.5"), "{markdown}");
    let page = folder.expect(0, ["report", "half.tune", "-o", "half.html"]).stdout;
    assert!(page.starts_with("`n=10` has 0.5") && page.contains("half.html ("), "{page}");
    assert!(std::fs::read_to_string(folder.path("half.html")).is_ok_and(|html| html.contains("<title>")));
    // A trial of each side in full, beside it.
    folder.expect(0, ["report", "half.tune", "--pairs", "-o", "half.html"]);
    assert!(std::fs::read_to_string(folder.path("half-0-1.html")).is_ok_and(|html| html.contains("<title>")));
    assert!(folder.expect(2, ["report", "half.tune/trials/0001/run.twin", "--pairs"]).stderr.contains("NAME.tune"));
    assert!(folder.expect(1, ["tune", "half.toml", "--more", "5"]).stderr.contains("all comparisons are decided"));
}

#[test]
fn equal_variants_are_told_to_be_the_same() {
    let folder = Folder::new();
    write(
        &folder,
        "equal.toml",
        &AB.replace("n = [20, 10]", "n = [2000]\nm = [1, 2]").replace("echo took", ": {m}; echo took"),
    );
    let shown = folder.expect(0, ["tune", "equal.toml", "-q", "--json"]).json();
    assert_eq!(shown["changes"][0]["verdict"], "same", "{shown:#}");
    assert!(shown["verdict"].as_str().unwrap().contains("are the same to within 3 %"), "{shown:#}");
}

#[test]
fn what_fails_is_never_the_fast_one() {
    let folder = Folder::new();
    let failing = |what: &str| {
        let name = what.split(' ').next().unwrap();
        let command = format!("if [ {{n}} = 10 ]; then {what}; fi; echo took {{n}}");
        let text = AB.replace("echo took $(( {n} * 10 + $(date +%N | cut -c9) % 3 ))", &command).replace("20s", "2s");
        let text = text.replace("[[measure]]", "check = { regex = 'took [0-9]+$' }\n[[measure]]");
        write(&folder, &format!("{name}.toml"), &format!("budget = {{ blocks = 8 }}\nexplained = 0\n{text}"));
        let done = folder.expect(0, ["tune", &format!("{name}.toml")]);
        (show(&folder, &format!("{name}.tune")), done)
    };
    for (what, reason) in [
        ("exit 3", "exit code 3"),
        ("kill -SEGV $$", "ended by signal 11"),
        ("sleep 60", "it ran longer than 2 s and was ended"),
        ("echo took 1 wrong; exit", "wrong answer: nothing in the output matches"),
    ] {
        let (shown, done) = failing(what);
        assert_ne!(shown["changes"][0]["verdict"], "better", "{what}: {shown:#}");
        let trials = shown["trials"].as_array().unwrap();
        let failed: Vec<&Value> = trials.iter().filter(|t| t["end"] == "failed").collect();
        // After three in a row it is not run again.
        assert_eq!(failed.len(), 3, "{what}: {shown:#}");
        assert!(
            failed.iter().all(|t| t["reason"].as_str().is_some_and(|r| r.starts_with(reason))),
            "{what}: {failed:#?}"
        );
        assert!(done.stderr.contains("(n=10) failed: "), "{what}: {done}");
        assert!(done.stdout.contains("`n=10` failed in 3 of 3 trials"), "{what}: {done}");
    }
}

#[test]
fn a_ladder_is_climbed_and_run_once_more() {
    let folder = Folder::new();
    let text = AB
        .replace("{n} * 10", "{n} * 10 / {by} + {more} * 30")
        .replace("n = [20, 10]", "n = [20, 10]\nby = [1, 2]\nmore = [0, 1]");
    let steps = "[[step]]\nname = \"half\"\nset = { by = 2 }\nwhy = \"it was too much\"\n[[step]]\nname = \"worse\"\nset = { more = 1 }\n\
                 [[step]]\nname = \"less\"\nset = { n = 10 }\n";
    write(&folder, "steps.toml", &format!("design = \"ladder\"\nexplained = 0\n{text}{steps}"));
    let plan = folder.expect(0, ["tune", "plan", "steps.toml"]).stdout;
    assert!(plan.contains("4 variants") && plan.contains("with all steps before it"), "{plan}");
    let done = folder.expect(0, ["tune", "steps.toml"]);
    // A quarter; by how much the digits of the clock add, the check of the factor below bounds.
    assert!(done.stdout.starts_with("2 of 3 steps were kept: the program has 0.2"), "{done}");
    let shown = show(&folder, "steps.tune");
    sound(&shown);
    let rungs = shown["rungs"].as_array().unwrap();
    let kept: Vec<&Value> = rungs.iter().map(|r| &r["kept"]).collect();
    assert_eq!(kept, [true, false, true]);
    let about = |value: &Value, expected: f64| value.as_f64().is_some_and(|x| (x / expected - 1.0).abs() < 0.05);
    assert!(about(&rungs[0]["change"]["factor"], 0.5) && about(&rungs[2]["change"]["factor"], 0.5), "{rungs:#?}");
    assert!(about(&rungs[2]["total"]["factor"], 0.25) && about(&rungs[1]["change"]["factor"], 1.3), "{rungs:#?}");
    // The numbers are from blocks of their own, all variants in each.
    assert_eq!(rungs[0]["change"]["blocks"], 10);
}

#[test]
fn a_step_is_added_to_a_ladder_that_has_begun() {
    let folder = Folder::new();
    let half = "[[step]]\nname = \"half\"\nset = { n = 10 }\n";
    let text = AB
        .replace("echo took $(( {n} * 10", "sleep 0.1; echo took $(( {n} * 10 / {by}")
        .replace("n = [20, 10]", "n = [20, 10]\nby = [1]");
    let text = format!("design = \"ladder\"\nexplained = 0\n{text}{half}");
    write(&folder, "steps.toml", &text);
    let mut running = folder.start(folder.command(["tune", "steps.toml"]));
    running.until("a trial has ended", || {
        std::fs::read_to_string(folder.path("steps.tune/session.jsonl")).is_ok_and(|text| text.contains("\"ended\""))
    });
    running.signal(libc::SIGINT);
    running.wait();
    let before = show(&folder, "steps.tune")["trials"].clone();
    // Only at the end, and only what the steps before it do not see.
    let less = format!("{}{}", text.replace(half, ""), half.replace("half", "other"));
    write(&folder, "steps.toml", &less);
    folder.expect(1, ["tune", "steps.toml"]).says("steps may be added at the end of a ladder");
    let more = format!("{}[[step]]\nname = \"quarter\"\nset = {{ by = 2 }}\n", text.replace("by = [1]", "by = [1, 2]"));
    write(&folder, "steps.toml", &more);
    folder.expect(0, ["tune", "steps.toml"]);
    let shown = show(&folder, "steps.tune");
    sound(&shown);
    let kept: Vec<&Value> = shown["rungs"].as_array().unwrap().iter().map(|rung| &rung["kept"]).collect();
    assert_eq!(kept, [true, true], "{shown:#}");
    assert!(shown["rungs"][1]["total"]["factor"].as_f64().is_some_and(|f| (0.23..0.27).contains(&f)), "{shown:#}");
    let first = &before[0];
    assert_eq!((&shown["trials"][0]["number"], &shown["trials"][0]["variant"]), (&first["number"], &first["variant"]));
    // The table has begun: what it is judged by was fixed before.
    write(&folder, "steps.toml", &format!("{more}[[step]]\nname = \"back\"\nset = {{ by = 1 }}\n"));
    folder.expect(1, ["tune", "steps.toml"]).says("the blocks of the whole ladder have begun");
}

#[test]
fn a_sweep_finds_the_best_point() {
    let folder = Folder::new();
    // Throughput 100 n ÷ (1 + 0.1 (n − 1)): Amdahl's law.
    let command = "echo rate $(( 100000 * {n} / (10 + {n} - 1) ))";
    let options = [
        "tune",
        "--sweep",
        "n=1..8x2",
        "--blocks",
        "4",
        "--explained",
        "0",
        "--measure",
        "rate ([0-9]+)",
        "--more-is-better",
    ];
    let done = folder.expect(0, options.iter().chain(&["-o", "curve.tune", "--", "sh", "-c", command]));
    assert!(done.stdout.starts_with("Measure is highest at n=8: "), "{done}");
    let shown = show(&folder, "curve.tune");
    let law = &shown["sweep"]["law"];
    assert_eq!((&law["name"], &law["does_not_fit"]), (&"Amdahl".into(), &false.into()), "{law:#}");
    assert!(law["sigma"]["estimate"].as_f64().is_some_and(|s| (s - 0.1).abs() < 0.01), "{law:#}");
}

/// A server that answers with as many bytes as it is told, after so many milliseconds.
const SERVER: &str = "
import http.server, sys, time
class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    wbufsize = -1
    def do_GET(self):
        time.sleep(float(sys.argv[2]))
        self.send_response(200)
        self.send_header('Content-Length', '2')
        self.end_headers()
        self.wfile.write(b'hi')
    def log_message(self, *words): pass
http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Answer).serve_forever()
";

#[test]
fn a_server_is_started_and_asked() {
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        return skipped("servers of experiments", "python3 is missing here");
    }
    let folder = Folder::new();
    write(&folder, "server.py", SERVER);
    let text = "explained = 1
[server]
command = [\"python3\", \"{folder}/server.py\", \"{port}\", \"{sleep}\"]
ready = { http = \"http://127.0.0.1:{port}/\", port = \"{port}\" }
[load]
url = \"http://127.0.0.1:{port}/\"
rate = \"max\"
connections = 1
duration = \"300ms\"
warm_up = \"100ms\"
[parameters]
port = \"free\"
sleep = [0.04, 0.01]
folder = \"FOLDER\"
"
    .replace("FOLDER", &folder.path("").display().to_string());
    let text = text.as_str();
    write(&folder, "asked.toml", text);
    let done = folder.expect(0, ["tune", "asked.toml"]);
    assert!(done.stdout.starts_with("`sleep=0.01` has "), "{done}");
    let shown = show(&folder, "asked.tune");
    sound(&shown);
    assert_eq!(shown["changes"][0]["verdict"], "better", "{shown:#}");
    assert!(shown["changes"][0]["factor"].as_f64().is_some_and(|f| f > 2.0), "{shown:#}");
    assert_eq!(shown["measures"][0]["name"], "rate");
    assert!(!runs(&folder.path("server.py").display().to_string()), "a server still runs");
    for (name, from, to, reason) in [
        ("ends", "/server.py", "/nothing.py", "the server ended before it was ready: exit code 2"),
        (
            "never",
            "ready = {",
            "timeout = \"1s\"\nready = { regex = \"never said\", ",
            "the server was not ready after 1 s: nothing in its",
        ),
    ] {
        write(&folder, &format!("{name}.toml"), &text.replace(from, to).replace("explained = 1", "explained = 0"));
        let done = folder.expect(1, ["tune", &format!("{name}.toml"), "-q"]);
        let shown = show(&folder, &format!("{name}.tune"));
        let failed = &shown["trials"][0];
        assert!(failed["reason"].as_str().is_some_and(|r| r.starts_with(reason)), "{done} {failed:#}");
    }
}

#[test]
fn commands_are_compared_without_a_file() {
    let folder = Folder::new();
    let words = [
        "tune",
        "--against",
        "echo '{n}' took 30",
        "--measure",
        "took ([0-9]+)",
        "--explained",
        "0",
        "-q",
        "--",
        "echo",
        "took",
        "{x} took 20",
    ];
    let done = folder.expect(0, words);
    assert!(done.stdout.starts_with("`new` has 0.67× the measure of `baseline`"), "{done}");
    // Each call is a session of its own.
    folder.expect(0, words);
    assert_eq!(folder.files(), ["echo-2.tune", "echo.tune"]);
}

#[test]
fn mistakes_are_said_with_their_line() {
    let folder = Folder::new();
    let refused = |text: &str, more: &[&str]| {
        write(&folder, "e.toml", text);
        folder.expect(2, ["tune", "e.toml"].iter().chain(more)).stderr
    };
    assert_eq!(refused("desing = \"ab\"", &[]), "twinscope: e.toml:1: unknown key desing; did you mean design?\n");
    assert!(
        refused(&AB.replace("{n}", "{m}"), &[])
            .starts_with("twinscope: e.toml:3: there is no parameter m; did you mean {n}?")
    );
    assert!(refused(&AB.replace("better = \"less\"\n", ""), &[]).contains("say better ="));
    assert!(refused(&format!("budget = {{ blocks = 3 }}\n{AB}"), &[]).contains("ranks need 8"));
    let said = |code: i32, words: &[&str]| folder.expect(code, words).stderr;
    assert!(said(2, &["tune"]).contains("--against"));
    assert!(said(2, &["tune", "--", "true"]).contains("what is it held against?"));
    assert!(said(2, &["tune", "--sweep", "x", "--", "true", "{x}"]).contains("NAME=VALUES"));
    assert!(said(1, &["tune", "none.toml"]).contains("none.toml"));
    assert!(said(1, &["tune", "show", "none.tune"]).contains("this is no session"));
    assert_eq!(folder.files(), ["e.toml"]);
    // A file that changed is another experiment.
    write(&folder, "e.toml", AB);
    folder.expect(0, ["tune", "e.toml", "-q"]);
    write(&folder, "e.toml", &AB.replace("[20, 10]", "[20, 5]"));
    let changed = said(1, &["tune", "e.toml"]);
    assert!(changed.contains("- n = [20, 10]") && changed.contains("+ n = [20, 5]"), "{changed}");
}

#[test]
fn a_gate_holds_a_build_against_another() {
    let folder = Folder::new();
    for (dir, took) in [("old", 1000), ("equal", 1001), ("slower", 1300)] {
        std::fs::create_dir(folder.path(dir)).unwrap();
        write(&folder, &format!("{dir}/run"), &format!("echo took $(( {took} + $(date +%N | cut -c9) % 3 ))\n"));
    }
    write(
        &folder,
        "bench.toml",
        "[workload]\ncommand = [\"sh\", \"run\"]\n[[measure]]\nname = \"took\"\nregex = 'took ([0-9]+)'\nbetter = \"less\"\n",
    );
    let gate = |new: &str, more: &[&str]| {
        let words = ["tune", "gate", "bench.toml", "--old", "old", "--new", new, "--fail-on", "took +3%", "-q"];
        folder.run(words.iter().chain(more))
    };
    let passed = gate("equal", &["--strict"]);
    assert_eq!(passed.status.code(), Some(0), "{passed}");
    assert!(passed.stdout.contains("passed: a loss of 3.0 % is excluded."), "{passed}");
    let failed = gate("slower", &["--markdown"]);
    assert_eq!(failed.status.code(), Some(4), "{failed}");
    assert!(failed.stdout.contains("FAILED: took is worse by 3.0 % or more, in two sessions."), "{failed}");
    assert!(failed.stderr.contains("confirmed by a second session"), "{failed}");
    assert!(failed.stdout.contains("| new | 1.30× |"), "{failed}");
    // What is worse is no reason to fail where less was asked for.
    let allowed =
        folder.run(["tune", "gate", "bench.toml", "--old", "old", "--new", "slower", "--fail-on", "took +50%", "-q"]);
    assert_eq!(allowed.status.code(), Some(0), "{allowed}");
    let unknown =
        folder.expect(2, ["tune", "gate", "bench.toml", "--old", "old", "--new", "old", "--fail-on", "p99 +5%"]);
    assert!(unknown.stderr.contains("nothing is measured that is called p99; there are took"), "{unknown}");
    assert!(
        folder
            .expect(1, ["tune", "gate", "bench.toml", "--old", "none", "--new", "old", "--fail-on", "took +5%"])
            .stderr
            .contains("none: there is no such folder")
    );
    write(&folder, "run", "exit 1\n");
    let broken =
        folder.run(["tune", "gate", "bench.toml", "--old", "old", "--new", ".", "--fail-on", "took +3%", "-q"]);
    assert_eq!(broken.status.code(), Some(4), "{broken}");
}

#[test]
fn a_recording_begins_a_file() {
    let folder = Folder::new();
    folder.expect(
        0,
        [
            "record",
            "-q",
            "-o",
            "slow.twin",
            "--throughput",
            "^done ([0-9]+)",
            "--",
            "sh",
            "-c",
            "echo '{a}'; sleep 1; echo done 5",
        ],
    );
    let made = folder.expect(0, ["tune", "init", "--from", "slow.twin"]).stdout;
    assert!(made.contains("command = [\"sh\", \"-c\", ") && made.contains("{{a}}"), "{made}");
    assert!(made.contains("throughput = '^done ([0-9]+)'"), "{made}");
    folder.expect(0, ["record", "-q", "-d", "200ms", "-o", "alone.twin", "--only", "cpu"]);
    assert!(folder.expect(1, ["tune", "init", "--from", "alone.twin"]).stderr.contains("no command was recorded"));
}

/// Whether a process with these words runs.
fn runs(word: &str) -> bool {
    let Ok(all) = std::fs::read_dir("/proc") else { return false };
    let line = |entry: std::fs::DirEntry| std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
    all.flatten().map(line).any(|line| String::from_utf8_lossy(&line).contains(word))
}

#[test]
fn a_session_that_was_stopped_says_how_to_go_on() {
    let folder = Folder::new();
    // The first trial ends; all others wait until the session has been stopped.
    let at = folder.path("").display().to_string();
    let wait =
        format!("mkdir {at}/first 2>/dev/null || until [ -e {at}/go ]; do sleep 0.05; done; sleep 0.05; echo took");
    write(
        &folder,
        "e.toml",
        &slow("stopped")
            .replace("sleep 0.05; echo took", &wait)
            .replace("timeout =", "cleanup = \"touch $TWINSCOPE_TRIAL/cleaned\"\ntimeout ="),
    );
    let mut running = folder.start(folder.command(["tune", "e.toml"]));
    running.until("a trial has ended", || {
        std::fs::read_to_string(folder.path("e.tune/session.jsonl")).is_ok_and(|text| text.contains("\"ended\""))
    });
    // Nobody else may run it meanwhile.
    assert!(folder.expect(1, ["tune", "e.toml"]).stderr.contains("another twinscope runs this session"));
    assert!(!show(&folder, "e.tune")["finished"].as_bool().unwrap());
    running.signal(libc::SIGINT);
    let done = running.wait();
    assert!(done.stderr.contains("to go on where it was: twinscope tune e.tune"), "{done}");
    let cleaned = |trial: &Value| {
        folder.path("e.tune/trials").join(format!("{:04}/cleaned", trial["number"].as_u64().unwrap())).exists()
    };
    assert!(show(&folder, "e.tune")["trials"].as_array().unwrap().iter().all(cleaned), "{done}");
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&done.status), Some(libc::SIGINT), "{done}");
    write(&folder, "go", "");
    finished(&folder);
}

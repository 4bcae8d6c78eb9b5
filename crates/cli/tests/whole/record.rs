//! `record` around a command: how it ends, what it keeps, marks, work done, snapshots.

use crate::common::Folder;
use serde_json::{Value, json};
use std::time::Duration;

const FEW: &[&str] = &["--only", "cpu,kernel", "-q"];

fn with<'a>(options: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [options, more].concat()
}

/// Whether a process is there and is no zombie.
fn is_alive(pid: i64) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|s| s.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z')))
}

/// The recording of a run that ended must be sealed, in one file.
fn is_sealed(folder: &Folder, name: &str) -> Value {
    let info = folder.info(name);
    assert_eq!(info["unfinished"], false, "{info}");
    assert_eq!(info["damage"], json!([]), "{info}");
    for file in folder.files() {
        assert!(!file.starts_with(name) || file == name, "{file} was left behind");
    }
    info
}

#[test]
fn the_exit_code_of_the_command_is_passed_on() {
    let folder = Folder::new();
    for (script, code, exit) in [
        ("exit 0", 0, json!({"code": 0})),
        ("exit 7", 7, json!({"code": 7})),
        ("exit 255", 255, json!({"code": 255})),
        ("kill -SEGV $$", 128 + 11, json!({"signal": 11})),
        ("kill -KILL $$", 128 + 9, json!({"signal": 9})),
    ] {
        folder.expect(code, with(&["record", "-f", "-o", "a.twin"], &with(FEW, &["--", "sh", "-c", script])));
        let info = is_sealed(&folder, "a.twin");
        assert_eq!(info["manifest"]["exit"], exit, "{script}");
        assert_eq!(info["manifest"]["ended"], "command exited");
        assert!(info["manifest"]["wall"].as_i64() > Some(0));
    }
}

/// What a command that failed did is no measure for one that did not. One that was asked to end did not fail.
#[test]
fn a_comparison_says_that_a_command_failed() {
    let folder = Folder::new();
    let of = |name: &str, options: &[&str], script: &str| {
        let record = with(&["record", "-o", name], &with(FEW, &with(options, &["--", "sh", "-c", script])));
        folder.run(record);
    };
    of("good.twin", &[], "sleep 1");
    of("broken.twin", &[], "sleep 1; exit 7");
    of("killed.twin", &[], "sleep 1; kill -KILL $$");
    of("stopped.twin", &["--duration", "1s"], "exec sleep 60");
    of("late.twin", &[], "timeout 1 sleep 60");
    let said = |other: &str| {
        let json = folder.expect(0, ["compare", "--json", "good.twin", other]).json();
        let cautions = json["cautions"].as_array().unwrap();
        cautions
            .iter()
            .filter(|c| c["what"] == "failed")
            .map(|c| c["text"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(said("broken.twin"), ["The command of broken failed: it ended with exit code 7."]);
    assert_eq!(said("killed.twin"), ["The command of killed was killed by signal 9."]);
    assert!(said("stopped.twin").is_empty() && said("late.twin").is_empty());
    let shown = folder.expect(0, ["compare", "good.twin", "broken.twin"]);
    assert!(shown.stdout.contains("The command of broken failed: it ended with exit code 7."), "{shown}");
}

/// As `env` and the shells have it: 127 for a command that is not there, 126 for one that cannot be run. Nothing is recorded, and
/// nothing that was there is lost.
#[test]
fn a_command_that_cannot_be_started() {
    let folder = Folder::new();
    std::fs::write(folder.path("old.twin"), "the old recording").unwrap();
    std::fs::write(folder.path("plain"), "no program").unwrap();
    for (code, program) in [(127, "no-such-program"), (127, "./no-such-program"), (126, "./plain"), (126, "/")] {
        folder.expect(code, ["record", "-f", "-o", "old.twin", "--", program]).says(program);
        assert_eq!(std::fs::read_to_string(folder.path("old.twin")).unwrap(), "the old recording");
    }
    // That the interpreter of a script is missing shows only when it is started.
    std::fs::write(folder.path("plain"), "#!/no/such/interpreter\n").unwrap();
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder.path("plain"), std::fs::Permissions::from_mode(0o755)).unwrap();
    folder.expect(126, ["record", "-o", "new.twin", "--", "./plain"]).says("./plain");
    assert_eq!(folder.files(), ["old.twin", "plain"], "no recording of nothing");
}

#[test]
fn what_the_command_prints_is_passed_on_and_its_tail_kept() {
    let folder = Folder::new();
    let script = "i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done; echo trouble >&2";
    let done = folder.expect(0, with(&["record", "-o", "a.twin"], &with(FEW, &["--", "sh", "-c", script])));
    assert_eq!(done.stdout.lines().count(), 3000);
    assert_eq!(done.stderr, "trouble\n");
    let info = folder.info("a.twin");
    let output = &info["manifest"]["output"];
    let tail = output["stdout"].as_str().unwrap();
    assert!(tail.ends_with("line 2999\n") && tail.len() <= 8192, "{tail}");
    assert_eq!(output["stderr"], "trouble\n");
    // With --tty nothing passes through the recorder.
    let done =
        folder.expect(5, with(&["record", "-o", "b.twin", "--tty"], &with(FEW, &["--", "sh", "-c", "echo x; exit 5"])));
    assert_eq!(done.stdout, "x\n");
    assert_eq!(is_sealed(&folder, "b.twin")["manifest"]["output"], Value::Null);
}

/// SIGINT and SIGTERM end a recording of the system; it is sealed, and that is no failure.
#[test]
fn signals_end_and_seal() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        let folder = Folder::new();
        let running = folder.record("a.twin", &with(FEW, &["-i", "50ms"]));
        running.signal(signal);
        let done = running.wait();
        assert_eq!(done.status.code(), Some(0), "{done}");
        assert_eq!(is_sealed(&folder, "a.twin")["manifest"]["ended"], "interrupted");
    }
}

/// With a command, the signal is the command's to answer, and how it ends is how the recording ends.
#[test]
fn signals_reach_the_command() {
    for (signal, code) in [(libc::SIGINT, 40), (libc::SIGTERM, 41)] {
        let folder = Folder::new();
        let script = "trap 'exit 40' INT; trap 'exit 41' TERM; : > ready; while :; do sleep 0.05; done";
        let mut running = folder.record("a.twin", &with(FEW, &["--", "sh", "-c", script]));
        running.until("the command is ready", || folder.path("ready").exists());
        running.signal(signal);
        let done = running.wait();
        assert_eq!(done.status.code(), Some(code), "{done}");
        is_sealed(&folder, "a.twin");
    }
}

/// A command that does not listen is killed: by the end of --duration, or when it is asked a third time.
#[test]
fn a_command_that_ignores_signals() {
    let folder = Folder::new();
    let script = "trap '' INT TERM; : > ready; while :; do sleep 0.05; done";
    // Time enough for a shell to begin, on any machine.
    let done =
        folder.expect(128 + 9, with(&["record", "-o", "a.twin", "-d", "5s"], &with(FEW, &["--", "sh", "-c", script])));
    assert_eq!(is_sealed(&folder, "a.twin")["manifest"]["ended"], "duration over", "{done}");
    std::fs::remove_file(folder.path("ready")).unwrap();
    let mut running = folder.record("b.twin", &with(FEW, &["--", "sh", "-c", script]));
    running.until("the command is ready", || folder.path("ready").exists());
    assert!(running.poll().is_none());
    // Equal signals that wait are one: on a busy machine three are not always three.
    for _ in 0..100 {
        if running.poll().is_some() {
            break;
        }
        running.signal(libc::SIGTERM);
        std::thread::sleep(Duration::from_millis(300));
    }
    let done = running.wait();
    assert_eq!(done.status.code(), Some(128 + 9), "{done}");
    is_sealed(&folder, "b.twin");
}

/// A daemon that the command leaves behind holds its pipes open for ever; the recording ends with the command all the same.
#[test]
fn a_daemon_that_holds_the_pipes() {
    let folder = Folder::new();
    let script =
        "setsid sh -c 'echo $$ > daemon; exec sleep 100' & while [ ! -s daemon ]; do sleep 0.01; done; echo done";
    let done = folder.expect(0, with(&["record", "-o", "a.twin"], &with(FEW, &["--", "sh", "-c", script])));
    let daemon: i64 = std::fs::read_to_string(folder.path("daemon")).unwrap().trim().parse().unwrap();
    let survived = is_alive(daemon);
    // SAFETY: plain system call, with the number that the daemon wrote a moment ago.
    unsafe { libc::kill(daemon as libc::pid_t, libc::SIGKILL) };
    assert!(survived, "what the command starts is none of the recorder's business");
    assert_eq!(done.stdout, "done\n");
    assert_eq!(is_sealed(&folder, "a.twin")["manifest"]["output"]["stdout"], "done\n");
}

/// The duration ends the recording, and the command with it.
#[test]
fn duration() {
    let folder = Folder::new();
    folder.expect(0, with(&["record", "-o", "a.twin", "-d", "1s", "-i", "100ms"], FEW));
    let info = is_sealed(&folder, "a.twin");
    assert!(info["duration"].as_f64() >= Some(1.0));
    // Every tick was taken, or is counted as skipped; the first and the last read come on top.
    let ticks = folder.count("a.twin", "select count(distinct t) from kernel");
    let skipped = info["manifest"]["skipped_ticks"].as_i64().unwrap();
    // A loop that was kept from a CPU as the second ended comes late, and counts what it missed until then.
    let most = (info["duration"].as_f64().unwrap() * 10.0) as i64 + 2;
    assert!((10..=most).contains(&(ticks + skipped)), "{ticks} ticks, {skipped} skipped, {most} at most");
    let done =
        folder.expect(128 + 15, with(&["record", "-o", "b.twin", "-d", "500ms"], &with(FEW, &["--", "sleep", "100"])));
    let info = is_sealed(&folder, "b.twin");
    assert_eq!(info["manifest"]["ended"], "duration over", "{done}");
    assert!(!is_alive(info["manifest"]["pid"].as_i64().unwrap()));
}

/// A recording of everything is as long as was asked for, however long it takes to set up and to name functions; and nobody in it records.
#[test]
fn the_recorder_is_no_part_of_what_it_records() {
    let folder = Folder::new();
    let other = folder.start(folder.command(["record", "-q", "-d", "1h", "-o", "other.twin", "--only", "cpu"]));
    let busy = ["record", "--all", "-d", "2s", "-o", "a.twin"];
    let done = folder.expect(0, busy);
    let info = is_sealed(&folder, "a.twin");
    let seconds = info["duration"].as_f64().unwrap();
    assert!((1.9..3.0).contains(&seconds), "2 s and at most a tick more: {seconds} s\n{done}");
    let recorders = info["manifest"]["recorders"].as_array().unwrap();
    let is_listed = |pid: u32| recorders.iter().any(|recorder| recorder["pid"] == pid);
    assert!(is_listed(other.pid()), "the other recorder: {recorders:?}");
    let own = recorders.iter().filter(|recorder| recorder["pid"] != other.pid()).filter(|r| r["name"] == "twinscope");
    // Those of other tests may run too.
    assert!(own.count() >= 1, "and itself: {recorders:?}");
    assert!(recorders.iter().any(|recorder| recorder["name"] == "twinscope-hold"), "{recorders:?}");
    // In no table that tells processes apart.
    let tables = info["tables"].as_array().unwrap().iter().filter_map(|table| table["table"].as_str());
    for table in ["process", "thread_time", "sample", "wait", "page_fault"] {
        if tables.clone().any(|known| known == table) {
            let pids: Vec<String> = recorders.iter().map(|recorder| recorder["pid"].to_string()).collect();
            // A process that has its program yet to start is called like the one that started it.
            let theirs =
                format!("select count(*) from {table} where pid in ({}) and comm like 'twinscope%'", pids.join(", "));
            assert_eq!(folder.count("a.twin", &theirs), 0, "{table}");
        }
    }
    assert!(folder.count("a.twin", "select count(*) from process where comm not like 'twinscope%'") > 0);
    assert!(folder.count("a.twin", "select count(*) from recorder") > 0, "what it cost has a table of its own");
    other.signal(libc::SIGINT);
    other.wait();
}

/// Deadlines are absolute: reads do not drift away from the multiples of the interval.
#[test]
fn intervals_do_not_drift() {
    let folder = Folder::new();
    folder.expect(0, with(&["record", "-o", "a.twin", "-d", "3s", "-i", "100ms"], FEW));
    // However late single reads are, the earliest phase at the end is that of the beginning.
    let early = |from: f64, to: f64| {
        let rows = folder.rows("a.twin", &format!("select distinct t from kernel where t > {from}e9 and t < {to}e9"));
        let phases = rows.iter().filter_map(|r| r["t"].as_f64()).map(|t| (t / 1e8).fract());
        phases.fold(1.0, f64::min)
    };
    let manifest = &folder.info("a.twin")["manifest"];
    let late = manifest["late_ticks"].as_i64().unwrap() + manifest["skipped_ticks"].as_i64().unwrap();
    if late > 10 {
        crate::common::skipped("intervals do not drift", &format!("{late} of 30 ticks came late: the machine is busy"));
        return;
    }
    let (start, end) = (early(0.05, 1.45), early(1.55, 2.95));
    assert!(start < 0.5 && end < 0.5, "reads come {start} and {end} of an interval late, even at best");
}

#[test]
fn marks_and_the_window_between_them() {
    let folder = Folder::new();
    let script = "echo 'warm-up over' > $TWINSCOPE_MARK; : > ready; while [ ! -e go ]; do sleep 0.05; done; \
                  echo end > $TWINSCOPE_MARK; sleep 0.5";
    let mut running = folder.record("a.twin", &with(FEW, &["-i", "50ms", "--", "sh", "-c", script]));
    running.until("the command is ready", || folder.path("ready").exists());
    let pid = running.pid().to_string();
    folder.expect(0, ["mark", "--pid", &pid, "from", "outside"]);
    folder.expect(0, ["mark", "--pid", &pid, "two\nlines \x1b[31m</script>"]);
    std::thread::sleep(Duration::from_millis(800));
    std::fs::write(folder.path("go"), "").unwrap();
    let done = running.wait();
    assert_eq!(done.status.code(), Some(0), "{done}");
    let info = is_sealed(&folder, "a.twin");
    let marks: Vec<(&str, f64)> = info["marks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| (m["text"].as_str().unwrap(), m["t"].as_f64().unwrap()))
        .collect();
    let texts: Vec<&str> = marks.iter().map(|m| m.0).collect();
    assert_eq!(texts, ["warm-up over", "from outside", "two lines [31m</script>", "end"]);
    let compared = folder.expect(0, ["compare", "a.twin", "a.twin", "--json", "--window", "warm-up over..end"]).json();
    for window in compared["windows"].as_array().unwrap() {
        assert_eq!(window["why"], "between marks");
        assert!((window["from"].as_f64().unwrap() - marks[0].1).abs() < 1e-6, "{window}");
        assert!((window["to"].as_f64().unwrap() - marks[3].1).abs() < 1e-6, "{window}");
    }
    folder.expect(1, ["compare", "a.twin", "a.twin", "--window", "no such mark.."]).says("warm-up over");
    folder.expect(1, ["mark", "--pid", "1", "x"]).says("no recorder");
}

/// Work is counted from what the command prints, whichever way it is told.
#[test]
fn throughput() {
    let folder = Folder::new();
    let total = "for i in 1 2 3 4; do echo done ${i}00; sleep 0.2; done; printf 'done 450'";
    let each = "for i in 1 2 3 4; do echo request ok; sleep 0.2; done; printf 'request ok'";
    let number = "for i in 1 2 3 4; do echo batch +25; sleep 0.2; done";
    let file = "echo total 7 > work.log; for i in 1 2 3; do echo total ${i}0 >> work.log; sleep 0.2; done";
    std::fs::write(folder.path("work.log"), "total 999999\n").unwrap();
    for (options, script, work) in [
        (&["--throughput", "^done ([0-9]+)"][..], total, 450.0),
        (&["--throughput-each", "ok$", "--unit", "requests"], each, 5.0),
        (&["--throughput-each", r"\+([0-9]+)"], number, 100.0),
        (&["--throughput", "total ([0-9]+)", "--throughput-file", "work.log"], file, 30.0),
    ] {
        let words = with(
            &["record", "-f", "-o", "a.twin", "-i", "100ms"],
            &with(FEW, &with(options, &["--", "sh", "-c", script])),
        );
        folder.expect(0, words);
        let info = is_sealed(&folder, "a.twin");
        assert_eq!(info["manifest"]["work"]["total"], work, "{options:?}");
        let unit = if options.contains(&"--unit") { "requests" } else { "operations" };
        assert_eq!(info["manifest"]["work"]["unit"], unit);
        assert_eq!(folder.count("a.twin", "select max(done) from work"), work as i64, "{options:?}");
    }
    // Without a match there is no work, and nothing is said per operation.
    folder.expect(
        0,
        with(&["record", "-f", "-o", "a.twin", "--throughput", "nothing (.)"], &with(FEW, &["--", "echo", "x"])),
    );
    assert_eq!(folder.info("a.twin")["manifest"]["work"], Value::Null);
}

#[test]
fn labels_and_names() {
    let folder = Folder::new();
    let words = ["--label", "release=1.4", "--label", "note=a=b", "--name", "the new one", "-d", "100ms"];
    folder.expect(0, with(&["record", "-o", "a.twin"], &with(FEW, &words)));
    let manifest = &folder.info("a.twin")["manifest"];
    assert_eq!(manifest["labels"], json!({"release": "1.4", "note": "a=b"}));
    assert_eq!(manifest["name"], "the new one");
    // Without -o the name is that of the command, and an earlier one is kept.
    for _ in 0..2 {
        folder.expect(0, with(&["record"], &with(FEW, &["--", "true"])));
    }
    assert_eq!(folder.files(), ["a.twin", "true-1.twin", "true.twin"]);
}

/// A flight recorder keeps the last stretch only; a snapshot is whole the moment it is there, and recording goes on.
#[test]
fn a_flight_recorder_and_its_snapshots() {
    let folder = Folder::new();
    let mut running =
        folder.record("flight.twin", &["-q", "--only", "cpu,kernel,meminfo,vmstat", "-i", "50ms", "--keep", "20s"]);
    let pid = running.pid().to_string();
    let done = folder.expect(0, ["snapshot", "--pid", &pid, "-o", "one.twin"]);
    assert!(done.stdout.trim().ends_with("one.twin"), "{done}");
    let info = is_sealed(&folder, "one.twin");
    assert_eq!(info["manifest"]["ended"], "snapshot");
    assert!(folder.count("one.twin", "select count(*) from kernel") > 0);
    folder.expect(1, ["snapshot", "--pid", &pid, "-o", "one.twin"]).says("exists already");
    folder.expect(1, ["snapshot", "--pid", &pid, "-o", "no/such/folder.twin"]).says("no/such/folder.twin");
    // By a signal, without any words.
    running.signal(libc::SIGUSR1);
    running.until("the snapshot is there", || folder.path("flight-snapshot-1.twin").exists());
    is_sealed(&folder, "flight-snapshot-1.twin");
    running.signal(libc::SIGINT);
    assert_eq!(running.wait().status.code(), Some(0));
    let (kept, saved) = (folder.info("flight.twin"), folder.info("one.twin"));
    assert!(kept["duration"].as_f64() > saved["duration"].as_f64(), "recording went on");
    assert!(folder.files().iter().all(|f| f.ends_with(".twin")), "{:?}", folder.files());
}

/// A recording that exists is never lost by mistake.
#[test]
fn an_existing_recording_is_kept() {
    let folder = Folder::new();
    let words = with(&["record", "-o", "a.twin", "-d", "100ms"], FEW);
    folder.expect(0, &words);
    let before = std::fs::read(folder.path("a.twin")).unwrap();
    folder.expect(1, &words).says("exists already").says("--force");
    assert_eq!(std::fs::read(folder.path("a.twin")).unwrap(), before);
    folder.expect(0, with(&words, &["--force"]));
    assert_ne!(std::fs::read(folder.path("a.twin")).unwrap(), before);
}

/// Two thousand processes more, and then a storm of short-lived ones: nothing is refused, and the recording says what was there.
#[test]
fn many_processes() {
    let folder = Folder::new();
    let script = "i=0; while [ $i -lt 2000 ]; do sleep 60 & i=$((i+1)); done; : > ready; \
                  while [ ! -e go ]; do /bin/true; done; kill $(jobs -p) 2>/dev/null; exit 0";
    let mut running =
        folder.record("a.twin", &["-q", "-i", "200ms", "--only", "cpu,kernel,processes", "--", "bash", "-c", script]);
    running.until("the processes are there", || folder.path("ready").exists());
    let forks = || {
        std::fs::read_to_string("/proc/stat")
            .unwrap()
            .lines()
            .find_map(|l| l.strip_prefix("processes ")?.parse::<u64>().ok())
    };
    let before = forks().unwrap();
    running.until("a storm of 300 forks", || forks().unwrap() > before + 300);
    // At least one read has them all.
    let tables = folder.info("a.twin");
    if tables["tables"].as_array().unwrap().iter().any(|t| t["table"] == "process") {
        let seen = "select count(distinct pid) from process where comm = 'sleep'";
        running.until("all were read", || folder.count("a.twin", seen) >= 2000);
    }
    std::fs::write(folder.path("go"), "").unwrap();
    let done = running.wait();
    assert_eq!(done.status.code(), Some(0), "{done}");
    let info = is_sealed(&folder, "a.twin");
    if info["tables"].as_array().unwrap().iter().any(|t| t["table"] == "process") {
        let sleepers = folder.count("a.twin", "select count(distinct pid) from process where comm = 'sleep'");
        assert!(sleepers >= 2000, "{sleepers} of 2000 seen");
    } else {
        crate::common::skipped("2,000 processes by name", "processes cannot be read here");
    }
}

/// Without anyone named, nobody's threads are looked at, and what is missing for that says what to ask for.
#[test]
fn threads_are_looked_at_where_somebody_is_named() {
    let folder = Folder::new();
    let own = ["--only", "cpu,threads,stacks", "-q"];
    folder.expect(3, with(&["record", "-o", "whole.twin", "-d", "300ms"], &own));
    let said =
        |name: &str, what: &str| {
            let info = folder.info(name);
            assert_eq!(info["manifest"]["scope"], what);
            info["coverage"].as_array().unwrap().iter().any(|c| {
                c["source"] == "threads" && c["why"] == "no threads were asked for" && c["remedy"] != Value::Null
            })
        };
    assert!(said("whole.twin", "nobody"));
    folder.expect(1, ["flame", "whole.twin"]).says("no threads were asked for").says("--all");
    let done = folder.run(with(&["record", "-o", "all.twin", "--all", "-d", "300ms"], &own));
    assert!(matches!(done.status.code(), Some(0 | 3)), "{done}");
    assert!(!said("all.twin", "everything"));
    let done = folder.run(with(&["record", "-o", "command.twin"], &with(&own, &["--", "sleep", "0.3"])));
    assert!(matches!(done.status.code(), Some(0 | 3)), "{done}");
    assert!(!said("command.twin", "the command"));
}

/// A program of its own name, which ends by itself or is ended.
fn sleeper(folder: &Folder, name: &str, seconds: &str) -> std::process::Child {
    let path = folder.path("bin").join(name);
    if !path.exists() {
        std::fs::create_dir_all(folder.path("bin")).unwrap();
        std::fs::copy("/bin/sleep", &path).unwrap();
    }
    std::process::Command::new(&path).arg(seconds).spawn().unwrap()
}

/// `--pid` takes names and several processes, and a recording of processes that have ended does not go on to its own end.
#[test]
fn processes_are_named_and_their_end_is_that_of_the_recording() {
    let folder = Folder::new();
    let mut one = sleeper(&folder, "twin-one", "2");
    let recorded = folder.expect(0, ["record", "-o", "one.twin", "--only", "cpu", "-p", "twin-one", "-d", "100s"]);
    recorded.says(&format!("process {} ended: so does the recording", one.id()));
    one.wait().unwrap();
    assert_eq!(folder.rows("one.twin", "select ended from run")[0]["ended"], "the processes ended");
    folder.expect(2, ["record", "-o", "none.twin", "--pid", "twin-one", "-d", "1s"]).says("no process has this name");

    let (mut a, mut b) = (sleeper(&folder, "twin-many", "100"), sleeper(&folder, "twin-many", "100"));
    let (low, high) = (a.id().min(b.id()), a.id().max(b.id()));
    let both = format!("{low},{high}");
    let several = folder.expect(2, ["record", "-o", "none.twin", "--pid", "twin-many", "-d", "1s"]);
    several.says("2 programs have this name").says(&format!("--pid {both} for all of them"));
    folder.expect(2, ["threads", "twin-many"]).says("2 programs have this name");
    folder.expect(2, ["threads", "twin-none"]).says("no process has this name");
    folder.expect(1, ["threads", "none.twin"]).says("no such recording");
    folder.expect(0, ["record", "-q", "-o", "both.twin", "--only", "cpu", "--pid", &both, "-d", "300ms"]);
    assert_eq!(folder.rows("both.twin", "select ended from run")[0]["ended"], "duration over");
    let info = folder.expect(0, ["info", "both.twin"]);
    assert!(info.stdout.contains(&format!("process {low}, {high}")), "{info}");
    for child in [&mut a, &mut b] {
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn a_recorder_says_what_it_took_and_what_it_left_out_for_its_budget() {
    let folder = Folder::new();
    let record = |budget: &'static str| ["record", "--budget", budget, "-d", "1s", "-o", "a.twin"];
    for wrong in ["x", "0%", "1%,2%"] {
        folder.expect(2, record(wrong)).says("2%,0.5");
    }
    folder.expect(0, record("5")).says("recorder: ");
    // What opening takes is more than this for a minute.
    let done = folder.expect(0, ["record", "-f", "--all", "--budget", "0.0001", "-d", "9s", "-o", "a.twin"]);
    let last = done.stderr.lines().find(|line| line.starts_with("recorder: ")).unwrap_or_else(|| panic!("{done}"));
    assert!(last.contains(" CPUs, ") && last.contains("thinned: stacks for "), "{last}");
    let info = is_sealed(&folder, "a.twin");
    let cost = &info["manifest"]["recorder"];
    assert!(cost["cpu"].as_i64() > Some(0) && cost["memory"].as_i64() > Some(0), "{cost}");
    assert_eq!((&cost["budget"], &cost["thinned"][0][0]), (&json!(0.0001), &json!("stacks")), "{cost}");
    let coverage = info["coverage"].as_array().cloned().unwrap_or_default();
    let said = coverage.iter().find(|c| c["source"] == "recorder").unwrap_or_else(|| panic!("{info}"));
    assert_eq!((&said["item"], &said["status"]), (&json!("stacks"), &json!("estimated")));
    let thinned = "select max(stacks_1_in) from recorder";
    let most = folder.expect(0, ["sql", "-f", "csv", "a.twin", thinned]);
    assert!(most.stdout.lines().last().and_then(|n| n.parse::<f64>().ok()) > Some(1.0), "{most}");
    // Whatever it takes.
    let done = folder.expect(0, ["record", "-f", "--all", "--budget", "none", "-d", "3s", "-o", "a.twin"]);
    assert!(!done.stderr.contains("thinned"), "{done}");
}

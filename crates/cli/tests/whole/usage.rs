//! Mistakes on the command line, exit codes, and what is printed where.

use crate::common::Folder;
use crate::pairs::{QUIET, used_by_others};
use std::os::unix::ffi::OsStringExt;

/// Wrong words end with 2 and say what is allowed.
#[test]
fn wrong_options_say_what_is_allowed() {
    let folder = Folder::new();
    let cases: &[(&[&str], &str)] = &[
        (&["record", "-i", "1ms", "-d", "1s"], "between 10ms and 1h"),
        (&["record", "-i", "fast"], "such as 500ms or 10m"),
        (&["record", "-d", "1y"], "such as 500ms or 10m"),
        (&["record", "--only", "cpu,nosuch"], "there is no source \"nosuch\"; there are: "),
        (&["record", "--skip", "nosuch"], "there are: "),
        (&["record", "--every", "cpu"], "SOURCE=INTERVAL"),
        (&["record", "--every", "nosuch=5s"], "there are: "),
        (&["record", "--only", "cpu", "--skip", "cpu"], "cannot be used with"),
        (&["record", "--label", "x"], "KEY=VALUE"),
        (&["record", "--throughput", "("], "open group"),
        (&["record", "--throughput", "done"], "parentheses"),
        (&["record", "--tty", "--throughput", "(x)"], "cannot be used with"),
        (&["compare"], "NAME.twin"),
        (&["compare", "one.twin"], "two recordings"),
        (&["compare", "a", "b", "--window", "10s"], "FROM..TO"),
        (&["compare", "a", "b", "--fail-on", "cpu.busy"], "METRIC +N%"),
        (&["compare", "a", "b", "--least", "many"], "invalid"),
        (&["explain"], "SLOW.twin"),
        (&["explain", "a", "--fail-on", "no-such-cause"], "there is no cause no-such-cause"),
        (&["explain", "a", "--fail-on", "gc many%"], "number of per cent"),
        (&["explain", "a", "--least=-1"], "per cent"),
        (&["explain", "a", "--json", "--markdown"], "cannot be used with"),
        (&["causes", "no-such-cause"], "there is no cause no-such-cause"),
        (&["report"], "NAME.twin"),
        (&["report", "a", "--output=--help"], "if it is meant, write ./--help"),
        (&["sql"], "NAME.twin"),
        (&["sql", "--format", "xml", "a"], "possible values: table, csv, json"),
        (&["sql", ".schema"], "name a recording before the statement"),
        (&["sql", ".schema", "cpu"], "name a recording before the statement"),
        (&["record", "-o", "-"], "a recording is a database, which no stream or device can hold"),
        (&["record", "--pid", "no such program"], "no process has this name"),
        (&["info", "--color", "red", "a"], "possible values: auto, always, never"),
        (&["info"], "NAME.twin"),
        (&["completions", "tcl"], "possible values: bash"),
        (&["mark"], "TEXT"),
        (&["record", "--counters", "nosuch", "--", "true"], "neither a group (all, branch, core"),
        (&["doctor", "--only", "nosuch"], "there are: clock-source"),
        (&["doctor", "--only", "thp", "--skip", "swap"], "cannot be used with"),
        (&["doctor", "--apply"], "a value is required"),
        (&["doctor", "--apply", "perf-event-paranoid", "--undo"], "cannot be used with"),
        (&["doctor", "--yes"], "--apply"),
        (&["load", "--rate", "1", "-d", "1s", "http://a/"], "--connections <N>"),
        (&["load", "--rate", "1", "-c", "1", "http://a/"], "--duration <TIME>"),
        (&["load", "-c", "1", "-d", "1s", "http://a/"], "--rate is missing"),
        (&["load", "--rate", "1", "-c", "1", "-d", "1s"], "<URL>"),
        (&["load", "--rate", "fast", "-c", "1", "-d", "1s", "http://a/"], "or max"),
        (&["load", "--rate", "max", "--poisson", "-c", "1", "-d", "1s", "http://a/"], "--poisson needs a rate"),
        (&["load", "--rate", "1", "-c", "65001", "-d", "1s", "http://a/"], "between 1 and 65000"),
        (&["load", "--rate", "1", "-c", "1", "-t", "2", "-d", "1s", "http://a/"], "2 threads for 1 connections"),
        (&["load", "--rate", "1", "-c", "1", "-d", "1s", "--cpus", "x", "http://a/"], "expected CPUs such as"),
        (&["load", "--rate", "1", "-c", "1", "-d", "1s", "https://a/"], "https is not supported"),
        (&["load", "--rate", "1", "-c", "1", "-d", "1s", "http://a/", "http://b/"], "one host and port"),
        (&["load", "--rate", "1", "-c", "1", "-d", "1s", "--header", "x", "http://a/"], "NAME: VALUE"),
        (&["load", "--rate", "1", "-c", "1", "-d", "1s", "--method", "G T", "http://a/"], "no method"),
        (
            &["load", "--rate", "1", "-c", "1", "-d", "1s", "--body", "x", "--body-file", "y", "http://a/"],
            "cannot be used with",
        ),
        (&["nosuch"], "unrecognized subcommand"),
        (&["--nosuch"], "unexpected argument"),
    ];
    for (words, allowed) in cases {
        folder.expect(2, *words).says(allowed);
    }
    assert_eq!(folder.files(), Vec::<String>::new(), "a mistake leaves nothing behind");
}

/// What cannot be opened is named, with the reason.
#[test]
fn files_that_are_no_recordings() {
    let folder = Folder::new();
    std::fs::write(folder.path("text.twin"), "not a recording\n".repeat(100)).unwrap();
    std::fs::write(folder.path("empty.twin"), "").unwrap();
    std::fs::create_dir(folder.path("folder.twin")).unwrap();
    let cases = [
        ("missing.twin", "No such file"),
        ("text.twin", "not a recording"),
        ("empty.twin", "empty.twin: not a recording: it is empty"),
        ("folder.twin", "folder.twin: not a recording: it is a folder"),
    ];
    for (file, why) in cases {
        for words in [
            vec!["info", file],
            vec!["compare", file, file],
            vec!["report", file],
            vec!["sql", file, "select 1"],
            vec!["export", "csv", file, "out"],
        ] {
            if words.first() == Some(&"export") && !folder.run(["export", "--help"]).status.success() {
                continue;
            }
            folder.expect(1, &words).says(why).says(file);
        }
    }
}

/// Results go to standard output and are plain where that is no terminal.
#[test]
fn piped_output_is_plain() {
    let folder = Folder::new();
    folder.expect(0, ["record", "-q", "--only", "cpu,kernel", "-i", "100ms", "-d", "1s", "-o", "a.twin"]);
    for words in [
        &["info", "a.twin"][..],
        &["compare", "a.twin", "a.twin", "--all"],
        &["sql", "a.twin", "select * from cpu_rate"],
        &["sql", "a.twin", ".schema"],
        &["sources"],
        &["--help"],
        &["record", "--help"],
    ] {
        for no_color in [false, true] {
            let mut command = folder.command(words);
            if no_color {
                command.env("NO_COLOR", "1");
            }
            let done = folder.start(command).wait();
            assert_eq!(done.status.code(), Some(0), "{done}");
            assert!(!done.stdout.is_empty(), "{done}");
            assert!(!done.stdout.contains('\x1b') && !done.stderr.contains('\x1b'), "{done}");
        }
    }
    // A mistake is told without escape codes too.
    let done = folder.run(["record", "--nosuch"]);
    assert!(!done.stderr.contains('\x1b'), "{done}");
}

/// A command is recorded to its end, also where nobody reads its output, or that of the recorder, any more.
#[test]
fn closed_output() {
    let folder = Folder::new();
    let mut command = folder.command(["record", "--only", "cpu", "-o", "a.twin", "--"]);
    command.args(["sh", "-c", "head -c 1000000 /dev/zero; echo words >&2; exit 7"]);
    let (reader, writer) = std::io::pipe().unwrap();
    command.stdout(writer.try_clone().unwrap()).stderr(writer);
    drop(reader);
    let status = command.status().unwrap();
    assert_eq!(status.code(), Some(7), "{status}");
    let info = folder.info("a.twin");
    assert_eq!((&info["unfinished"], &info["manifest"]["ended"]), (&false.into(), &"command exited".into()), "{info}");
}

/// Output that cannot be written is a failure told in a line.
#[test]
fn full_output() {
    let folder = Folder::new();
    folder.expect(0, ["record", "-q", "-d", "100ms", "--only", "cpu", "-o", "a.twin"]);
    for words in [&["info", "a.twin"][..], &["completions", "bash"], &["sql", "a.twin", "select 1"]] {
        let mut command = folder.command(words);
        command.stdout(std::fs::File::create("/dev/full").expect("a device of every Linux"));
        let done = command.output().expect("the program");
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(1), "{said}");
        assert!(said.starts_with("twinscope: ") && said.contains("No space left"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

/// `compare --fail-on` is for CI: 4 where the condition holds, 3 where it could not be looked at.
#[test]
fn fail_on() {
    let folder = Folder::new();
    let record = ["record", "-q", "-i", "100ms", "--only", "cpu,kernel,processes", "-o"];
    let reads = ["-d", "4s", "--", "dd", "if=/dev/zero", "of=/dev/null", "bs=1"];
    folder.expect(0, [&record[..], &["idle.twin", "--", "sleep", "4"]].concat());
    folder.expect(128 + 15, [&record[..], &["busy.twin"], &reads].concat());
    let others = used_by_others(&folder, "busy.twin");
    if others > QUIET {
        crate::common::skipped(
            "a --fail-on condition that holds",
            &format!("other programs use {:.0} % of the CPUs", others * 100.0),
        );
        return;
    }
    let grown = "process.read_calls{comm=dd} +20%";
    folder.expect(4, ["compare", "idle.twin", "busy.twin", "--fail-on", grown]).says("process.read_calls");
    folder.expect(4, ["compare", "idle.twin", "busy.twin", "--fail-on", "any"]);
    folder.expect(0, ["compare", "busy.twin", "idle.twin", "--fail-on", grown]);
    folder.expect(0, ["compare", "idle.twin", "idle.twin", "--fail-on", "any"]);
    folder.expect(3, ["compare", "idle.twin", "busy.twin", "--fail-on", "nosuch.metric +1%"]).says("not compared");
}

/// A source that was asked for by name and is not there: the recording is made, and the exit code says that something is missing.
#[test]
fn a_source_asked_for_by_name_is_missing() {
    let folder = Folder::new();
    let sources = folder.expect(0, ["sources", "--json"]).json();
    let missing: Vec<&str> = sources
        .as_array()
        .unwrap()
        .iter()
        .filter(|s| s["coverage"][0]["status"] != "read")
        .filter_map(|s| s["source"].as_str())
        .collect();
    let Some(missing) = missing.first() else {
        crate::common::skipped("a source asked for by name is missing", "every source can be read here");
        return;
    };
    folder.expect(3, ["record", "-q", "-d", "200ms", "-o", "a.twin", "--only", &format!("cpu,{missing}")]);
    let info = folder.info("a.twin");
    let said =
        info["coverage"].as_array().unwrap().iter().find(|c| c["source"] == *missing && c["item"] == "").unwrap();
    assert_ne!(said["status"], "read");
    assert_ne!(said["why"], "");
}

/// Arguments of a command are bytes; a recording shows what of them is text.
#[test]
fn arguments_need_not_be_text() {
    let folder = Folder::new();
    let mut command = folder.command(["record", "-q", "--only", "cpu", "-o", "a.twin", "--", "printf", "%s"]);
    command.arg(std::ffi::OsString::from_vec(b"a\xffb".to_vec()));
    let done = folder.start(command).wait();
    assert_eq!(done.status.code(), Some(0), "{done}");
    assert_eq!(folder.info("a.twin")["manifest"]["command"][2], "a\u{fffd}b");
}

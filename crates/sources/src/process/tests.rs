//! Tests of the reader of `/proc` on recorded and on hostile hosts.

use super::SOURCE;
use crate::testing::{host_of, play, survives};

/// A line of `/proc/PID/stat`.
struct Line<'a> {
    comm: &'a str,
    state: char,
    parent: i64,
    flags: i64,
    times: [i64; 4],
    threads: i64,
    start: i64,
}

impl Default for Line<'_> {
    fn default() -> Self {
        Line { comm: "job", state: 'S', parent: 1, flags: 0, times: [0; 4], threads: 1, start: 100 }
    }
}

impl Line<'_> {
    fn text(&self, pid: i64) -> String {
        let Line { comm, state, parent, flags, times: [user, system, cuser, csystem], threads, start } = self;
        format!(
            "{pid} ({comm}) {state} {parent} 1 1 0 -1 {flags} 50 0 3 0 {user} {system} {cuser} {csystem} 20 0 {threads} 0 {start} \
             4096000 25 0 0 0 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 77 0 0 0 0\n"
        )
    }
}

/// A host whose frames hold these processes.
fn host(frames: &[&[(i64, Line<'_>)]], more: &[(&str, &str)]) -> (tempfile::TempDir, host::Host) {
    let mut files = Vec::new();
    for (number, frame) in frames.iter().enumerate() {
        for (pid, line) in *frame {
            files.push((format!("/frame-{number}/proc/{pid}/stat"), line.text(*pid)));
        }
    }
    files.extend(more.iter().map(|(path, text)| (path.to_string(), text.to_string())));
    let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    host_of(&files)
}

#[test]
fn reads_everything_about_a_process() {
    let status = "Name:\tx\nUid:\t1000\t1000\t1000\t1000\nVmSwap:\t       8 kB\nvoluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t2\nCpus_allowed:\t00000000,0000000f\n";
    let (_dir, host) = host(
        &[&[(7, Line { comm: "a) R 1 (b", times: [3, 4, 5, 6], ..Line::default() })]],
        &[
            (
                "/frame-0/proc/7/io",
                "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\ncancelled_write_bytes: 0\n",
            ),
            ("/frame-0/proc/7/task/7/schedstat", "70000000 123456 9\n"),
            ("/frame-0/proc/7/task/7/status", status),
            ("/frame-0/proc/7/status", status),
            ("/frame-0/proc/7/cmdline", "tool\0--password=hunter2\0two words\0"),
            ("/frame-0/proc/7/cgroup", "0::/user.slice\n"),
        ],
    );
    let played = play(&SOURCE, &host, 1).unwrap();
    assert_eq!(
        played[0].rows("process"),
        [
            "7 100 \"a) R 1 (b\" 30000000 40000000 50000000 60000000 50 3 5 2 123456 9 5 6 1 2 3 4 102400 8192 4096000 1 1 20 0 S"
        ]
    );
    let info = &played[0].rows("process_info")[0];
    assert!(info.starts_with("7 100 \"a) R 1 (b\" 1 "), "{info}");
    assert!(info.ends_with(" - 1000 /user.slice 4"), "{info}");
    assert!(info.contains("tool") && info.contains("two words") && !info.contains("hunter2"), "{info}");
}

#[test]
fn processes_come_change_their_name_and_go() {
    let first = [(7, Line { comm: "sh", times: [5, 0, 0, 0], ..Line::default() }), (8, Line::default())];
    let second = [
        (7, Line { comm: "make", times: [9, 0, 0, 0], ..Line::default() }),
        // The same pid, another process.
        (8, Line { start: 250, times: [2, 1, 0, 0], ..Line::default() }),
        (9, Line { state: 'Z', comm: "line\nend", ..Line::default() }),
    ];
    let third = [(9, Line { state: 'Z', comm: "line\nend", ..Line::default() })];
    let (_dir, host) = host(&[&first, &second, &third], &[]);
    let played = play(&SOURCE, &host, 3).unwrap();
    assert!(played.iter().all(|p| p.error.is_none()));
    let begins = |frame: usize| -> Vec<String> {
        let cut = |row: &String| row.split(' ').take(5).collect::<Vec<_>>().join(" ");
        played[frame].rows("process").iter().map(cut).collect()
    };
    assert_eq!(begins(0), ["7 100 sh 50000000 0", "8 100 job 0 0"]);
    assert_eq!(begins(1), ["7 100 make 40000000 0", "8 250 job 20000000 10000000", "9 100 line\nend 0 0"]);
    assert_eq!(played[2].rows("process").len(), 1);
    assert_eq!(played[2].rows("process_info").len(), 1);
}

#[test]
fn what_short_lived_children_used_is_found_by_their_parents() {
    let shell = |children: i64| Line { comm: "sh", times: [0, 0, children, 0], ..Line::default() };
    let make = |times: [i64; 4], parent: i64| Line { comm: "make", times, parent, ..Line::default() };
    // Between the reads, make (2 + 1 ticks seen of it) and its child cc (4 seen) ended, with 20 ticks in all.
    let first = [(7, shell(10)), (8, make([2, 0, 1, 0], 7)), (9, make([4, 0, 0, 0], 8))];
    let second = [(7, shell(30))];
    let third = [(7, shell(30))];
    let (_dir, host) = host(&[&first, &second, &third], &[]);
    let played = play(&SOURCE, &host, 3).unwrap();
    assert!(played[0].rows("process_exit").is_empty());
    let row = "\"(not known)\" sh - - - 130000000 0 0 0 - - - - - - - - - -";
    assert_eq!(played[1].rows("process_exit"), [row]);
    assert_eq!(played[2].rows("process_exit"), [row]);
}

#[test]
fn kernel_threads_go_by_what_stands_before_the_slash() {
    let line = Line { comm: "kworker/0:1-events", flags: 0x0420_8060 | 0x0020_0000, ..Line::default() };
    let (_dir, host) = host(&[&[(7, line)]], &[("/frame-0/proc/7/cmdline", "")]);
    let played = play(&SOURCE, &host, 1).unwrap();
    assert!(played[0].rows("process")[0].starts_with("7 100 kworker 0 0"));
    assert_eq!(played[0].rows("process_info"), ["7 100 kworker/0:1-events 1 - - - - -"]);
}

#[test]
fn a_child_that_ends_between_its_parents_reading_and_its_own_counts_once() {
    let shell = |children: i64| Line { comm: "sh", times: [0, 0, children, 0], ..Line::default() };
    let compiler = Line { comm: "cc", parent: 7, times: [400, 0, 0, 0], ..Line::default() };
    let first = [(7, shell(0)), (8, compiler)];
    // Gone, though its parent has not waited for it as far as was read; and then it has.
    let (_dir, host) = host(&[&first, &[(7, shell(0))], &[(7, shell(410))], &[(7, shell(420))]], &[]);
    let played = play(&SOURCE, &host, 4).unwrap();
    let user =
        |frame: usize| played[frame].rows("process_exit").iter().map(|r| r.split(' ').nth(6).unwrap().to_owned());
    assert_eq!(user(1).count(), 0);
    assert_eq!(user(2).collect::<Vec<_>>(), ["100000000"]);
    assert_eq!(user(3).collect::<Vec<_>>(), ["200000000"]);
}

#[test]
fn threads_that_end_are_not_subtracted() {
    let two = [(7, Line { threads: 2, ..Line::default() })];
    let one = [(7, Line { threads: 1, ..Line::default() })];
    let (_dir, host) = host(
        &[&two, &one],
        &[
            ("/frame-0/proc/7/task/7/schedstat", "0 100 1\n"),
            ("/frame-0/proc/7/task/8/schedstat", "0 50 2\n"),
            ("/frame-1/proc/7/task/7/schedstat", "0 130 4\n"),
        ],
    );
    let played = play(&SOURCE, &host, 2).unwrap();
    let wait =
        |frame: usize| played[frame].rows("process")[0].split(' ').skip(11).take(2).collect::<Vec<_>>().join(" ");
    assert_eq!((wait(0), wait(1)), ("150 3".to_owned(), "180 6".to_owned()));
}

#[test]
fn hidden_processes_are_said() {
    let mounts = "proc /proc proc rw,nosuid,hidepid=invisible,gid=5 0 0\n";
    let (_dir, host) = host(&[&[(7, Line::default())]], &[("/frame-0/proc/self/mounts", mounts)]);
    let played = play(&SOURCE, &host, 1).unwrap();
    assert!(played[0].coverage.iter().any(|c| c.item == "other users' processes" && c.remedy.is_some()));
}

#[test]
fn hostile_content_does_no_harm() {
    for content in ["", "(", ")", "1 (a) S", "1 (a) S 1 2 3 4 5 6 7 8 9 x y z", "rchar: x\n", "0::\n", "\0\u{ffff}"] {
        survives(&SOURCE, content);
    }
}

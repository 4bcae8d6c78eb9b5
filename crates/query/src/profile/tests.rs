//! Profiles written as columns of text, and the trees that come of them.

use super::*;
use crate::Run;
use crate::testing::{self, FRAME, LOCK, SAMPLE, STACK, WAIT};
use model::{Manifest, Window};

const FRAMES: &str = "t number function module build_id offset source kind
0 1 main /bin/app - 1 app.c:9 native
0 2 work /bin/app - 2 app.c:5 native
0 3 - /lib/libc.so.6 ab12 4096 - native
0 4 do_futex [kernel] - 5 - kernel
0 5 idle_loop /bin/app - 6 - native";

/// 1 main, 2 main;work, 3 main;work;[libc], 4 main;work;[libc];do_futex, 5 idle_loop, 6 a caller that goes in circles.
const STACKS: &str = "t number parent frame
0 1 0 1
0 2 1 2
0 3 2 3
0 4 3 4
0 5 0 5
0 6 7 1
0 7 6 2";

const SAMPLES: &str = "t pid tid comm thread at cpu stack weight
1 10 10 app main 500000000 0 2 3000000
1 10 11 app pool 600000000 1 2 1000000
1 10 11 app pool 700000000 1 3 2000000
2 20 20 other main 1500000000 0 5 7000000
2 10 10 app main 1600000000 0 1 500000
2 10 10 app main 1700000000 0 - 250000
2 10 10 app main 1800000000 0 99 125000
2 10 10 app main 1900000000 0 7 1000000";

const WAITS: &str = "t pid comm thread state what stack waker waker_stack count time longest
1 10 app pool lock futex 4 app 2 2 4000000 3000000
1 10 app main idle epoll_wait 1 - - 1 9000000 9000000
2 10 app pool lock futex 4 other 5 1 6000000 6000000
2 10 app pool disk io_schedule 2 - - 1 1000000 1000000";

const LOCKS: &str = "t pid comm kind address name stack holder count time longest waiters
1 10 app futex 0x7f10 queue_lock 4 main 1 4000000 4000000 1
2 10 app futex 0x7f20 - 4 - 1 6000000 6000000 1";

fn run() -> Run {
    testing::run("app", &[(&FRAME, FRAMES), (&STACK, STACKS), (&SAMPLE, SAMPLES), (&WAIT, WAITS), (&LOCK, LOCKS)])
}

fn window(from: f64, to: f64) -> Window {
    Window { from: (from * 1e9) as i64, to: (to * 1e9) as i64, why: String::new() }
}

fn tree(request: &Request, from: f64, to: f64) -> Tree {
    let (run, window) = (run(), window(from, to));
    load(&[Part { run: &run, window: &window }], request).expect("a profile")
}

fn text(tree: &Tree) -> Vec<String> {
    folded(tree, 1e9).lines().map(str::to_owned).collect()
}

#[test]
fn samples_become_a_tree() {
    assert_eq!(
        text(&tree(&Request::new("cpu"), 0.0, 9.0)),
        [
            "app;[no stack] 250000",
            "app;[unknown] 125000",
            "app;main 500000",
            "app;main;work 4000000",
            "app;main;work;[libc.so.6] 2000000",
            // The circle was cut.
            "app;main;work 1000000",
            "other;idle_loop 7000000",
        ]
        .map(str::to_owned)
        .into_iter()
        // Stack 7 is main;work as well, by another way.
        .filter(|l| l != "app;main;work 1000000")
        .map(|l| if l == "app;main;work 4000000" { "app;main;work 5000000".into() } else { l })
        .collect::<Vec<String>>()
    );
}

#[test]
fn rows_are_chosen() {
    let cpu = Request::new("cpu");
    assert_eq!(text(&tree(&cpu, 0.55, 0.65)), ["app;main;work 1000000"], "by their own time");
    let of = |filter: Filter, levels: Levels| text(&tree(&Request { filter, levels, ..cpu.clone() }, 0.0, 9.0));
    let none = Levels { process: false, thread: false, what: false };
    let process = |name: &str| Filter { process: Some(name.into()), thread: None };
    assert_eq!(of(process("other"), none), ["idle_loop 7000000"]);
    assert_eq!(of(process("20"), none), ["idle_loop 7000000"]);
    assert_eq!(of(process("nobody"), none), Vec::<String>::new());
    let pool = Filter { process: Some("app".into()), thread: Some("pool".into()) };
    assert_eq!(
        of(pool, Levels { process: true, thread: true, what: false }),
        ["app;pool;main;work 1000000", "app;pool;main;work;[libc.so.6] 2000000"]
    );
    assert_eq!(of(Filter { process: None, thread: Some("11".into()) }, none).len(), 2);
}

#[test]
fn waits_are_told_by_state() {
    let of = |measure: &str| text(&tree(&Request::new(measure), 0.0, 9.0));
    assert_eq!(of("lock"), ["app;main;work;[libc.so.6];do_futex 10000000"]);
    assert_eq!(
        of("blocked"),
        ["disk;app;main;work 1000000", "idle;app;main 9000000", "lock;app;main;work;[libc.so.6];do_futex 10000000"]
    );
    assert_eq!(of(ALL).iter().filter(|l| l.starts_with("cpu;")).count(), 6);
    assert_eq!(text(&tree(&Request::new("lock"), 1.5, 2.5)).len(), 1);
    let wakers = Request { others: true, ..Request::new("lock") };
    assert_eq!(text(&tree(&wakers, 0.0, 9.0)), ["app;main;work 4000000", "other;idle_loop 6000000"]);
}

#[test]
fn locks_are_told_apart() {
    assert_eq!(
        text(&tree(&Request::new("contended"), 0.0, 9.0)),
        [
            "futex 0x7f20;app;main;work;[libc.so.6];do_futex 6000000",
            "queue_lock;app;main;work;[libc.so.6];do_futex 4000000"
        ]
    );
}

#[test]
fn what_is_not_there_is_said() {
    let (run, window) = (run(), window(0.0, 9.0));
    let error = load(&[Part { run: &run, window: &window }], &Request::new("faults")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "app holds no stacks for `faults`; it has: cpu, blocked, disk, idle, lock, all, contended"
    );
    assert!(text(&tree(&Request::new("cpu"), 5.0, 9.0)).is_empty(), "an empty window is no error");
}

#[test]
fn an_open_recording_is_read_too() {
    use model::{Rows, Symbols};
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("open.twin");
    let mut writer = store::Writer::create(&path, false, i64::MAX).unwrap();
    let mut symbols = Symbols::default();
    let ids = [&FRAME, &STACK, &SAMPLE].map(|t| writer.define("test", t));
    let [main, app, native] = ["main", "app", "native"].map(|t| symbols.cell(t));
    let rows = |width, cells: &[i64]| Rows { width, cells: cells.to_vec() };
    writer.put(ids[0], 0, &rows(7, &[1, main, app, model::NULL, 5, model::NULL, native]));
    writer.put(ids[1], 0, &rows(3, &[1, 0, 1]));
    writer.put(ids[2], 1, &rows(8, &[7, 7, app, app, 0, 0, 1, 3_000_000]));
    writer.commit(&symbols).unwrap();
    writer.manifest(&Manifest::default()).unwrap();
    let run = Run { name: "open".into(), recording: store::Recording::open(&path).unwrap(), stretch: None };
    let window = window(0.0, 9.0);
    let tree = load(&[Part { run: &run, window: &window }], &Request::new("cpu")).unwrap();
    assert_eq!(text(&tree), ["app;main 3000000"]);
    assert_eq!(run.recording.damage(), []);
}

#[test]
fn a_difference_is_one_tree_with_two_weights() {
    let (run, early, late) = (run(), window(0.0, 1.0), window(1.0, 2.0));
    let mut tree =
        load(&[Part { run: &run, window: &early }, Part { run: &run, window: &late }], &Request::new("cpu")).unwrap();
    assert_eq!(tree.whole(0), 0.006);
    tree.scale(1, 2.0);
    let lines = text(&tree);
    assert!(lines.contains(&"app;main;work 4000000 2000000".to_owned()), "{lines:?}");
    assert!(lines.contains(&"other;idle_loop 0 14000000".to_owned()), "{lines:?}");
    let all = tree.grouped(&[0, 0]);
    assert!(text(&all).contains(&"app;main;work 6000000".to_owned()));
}

/// A tree from collapsed stacks.
fn tree_of(lines: &str) -> Tree {
    let mut tree = Tree::new(1);
    for line in lines.lines() {
        let (stack, weight) = line.trim().rsplit_once(' ').expect("a weight");
        let node = stack.split(';').fold(ROOT, |node, name| {
            let frame = tree.intern(name, "", "", "native");
            tree.child(node, frame)
        });
        tree.add(node, 0, weight.parse::<f64>().expect("a number") / 1e9);
    }
    tree
}

#[test]
fn the_callers_view_turns_stacks_round() {
    let turned = tree_of("main;a;lock 3\nmain;b;lock 4\nmain;b 1").reversed();
    assert_eq!(text(&turned), ["b;main 1", "lock;a;main 3", "lock;b;main 4"]);
}

#[test]
fn recursion_counts_once() {
    let tree = tree_of("f;f;f 3\nf;g;f 2\ng 1");
    let rows = tree.top();
    let row = |name: &str| {
        let found = rows.iter().find(|r| &*tree.frames()[r.frame as usize].name == name).expect("the function");
        ((found.own[0] * 1e9).round(), (found.total[0] * 1e9).round())
    };
    assert_eq!((row("f"), row("g")), ((5.0, 5.0), (1.0, 3.0)));
    assert_eq!(&*tree.frames()[rows[0].frame as usize].name, "f");
}

#[test]
fn hostile_names_stay_one_frame() {
    let mut tree = Tree::new(1);
    let frame = tree.intern("evil;name 5\nnext\u{1b}[31m", "", "", "native");
    let node = tree.child(ROOT, frame);
    tree.add(node, 0, 1e-9);
    assert_eq!(folded(&tree, 1e9), "evil:name 5\u{fffd}next\u{fffd}[31m 1\n");
}

#[test]
fn speedscope_is_valid() {
    let (run, early, late) = (run(), window(0.0, 1.0), window(1.0, 2.0));
    let parts = [Part { run: &run, window: &early }, Part { run: &run, window: &late }];
    let tree = load(&parts, &Request::new("cpu")).unwrap();
    let made = speedscope(&tree, &["a".into(), "b".into()], "title", "seconds");
    let frames = made["shared"]["frames"].as_array().unwrap().len() as u64;
    let profiles = made["profiles"].as_array().unwrap();
    assert_eq!(profiles.len(), 2);
    for (run, profile) in profiles.iter().enumerate() {
        let samples = profile["samples"].as_array().unwrap();
        let weights: Vec<f64> = profile["weights"].as_array().unwrap().iter().map(|w| w.as_f64().unwrap()).collect();
        assert_eq!(samples.len(), weights.len());
        assert!(samples.iter().flat_map(|s| s.as_array().unwrap()).all(|f| f.as_u64().unwrap() < frames));
        assert!((weights.iter().sum::<f64>() - tree.whole(run)).abs() < 1e-12);
    }
    assert!(made["shared"]["frames"].as_array().unwrap().iter().any(|f| f["name"] == "work" && f["line"] == 5));
}

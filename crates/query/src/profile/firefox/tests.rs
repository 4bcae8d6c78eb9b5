//! A profile read back: its sums by thread are those of `flame`.

use super::*;
use crate::profile::{Levels, ROOT, Request, load};
use crate::testing::{self, CPU, FRAME, SAMPLE, STACK, WAIT};
use model::{Manifest, Window};
use serde_json::Value;
use std::collections::BTreeMap;

const FRAMES: &str = "t number function module build_id offset source kind
0 1 main /bin/app - 1 app.c:9 native
0 2 work /bin/app - 2 app.c:5 native
0 3 do_futex [kernel] - 5 - kernel
0 4 \"Java\\nMethod\" [jit] - 6 - jit";

const STACKS: &str = "t number parent frame
0 1 0 1
0 2 1 2
0 3 2 3
0 4 1 4";

/// Threads of two processes, of which two have one name; times that are no whole milliseconds.
const SAMPLES: &str = "t pid tid comm thread at cpu stack weight
1 10 10 app main 500000000 0 2 10101010
1 10 11 app pool 600000000 1 2 10101010
1 10 12 app pool 600000000 1 4 10101010
1 10 11 app pool 700000000 1 3 400000
2 20 20 other main 1500000000 0 1 7700000
2 10 10 app main 1400000000 0 - 10101010
2 10 10 app main 1600000000 0 3 10101010";

const WAITS: &str = "t pid comm thread state what stack waker waker_stack count time longest
1 10 app pool lock futex 3 app 2 2 4000000 3000000
1 10 app main idle epoll_wait 1 - - 1 900300000 9000000
2 10 app pool lock futex 3 other 1 1 6000000 6000000
2 20 other main disk io_schedule 2 - - 1 1000400 1000000";

const CPUS: &str = "t cpu user idle mhz
0 0 100 100 2000
1 0 150 150 2000
2 0 230 170 2000";

fn profile(filter: &Filter, from: i64, to: i64) -> (Value, Written, crate::Run, Window) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.twin");
    let manifest = Manifest {
        name: "app".into(),
        host: "h\n1".into(),
        start_unix: 1_700_000_000_000_000_000,
        ..Manifest::default()
    };
    let tables = [(&FRAME, FRAMES), (&STACK, STACKS), (&SAMPLE, SAMPLES), (&WAIT, WAITS), (&CPU, CPUS)];
    testing::write_with(&path, &manifest, &tables, |writer| {
        writer.mark(&model::Mark { t: 1_200_000_000, text: "half way\u{7}".into() }).unwrap();
    });
    let run = crate::open(&[path]).unwrap().remove(0);
    let window = Window { from, to, why: String::new() };
    let mut bytes = Vec::new();
    let written = firefox(&[Part { run: &run, window: &window }], filter, &mut bytes).unwrap();
    (serde_json::from_slice(&bytes).unwrap(), written, run, window)
}

/// By process and thread, the milliseconds of samples whose innermost category is, or is not, a wait.
fn sums(profile: &Value, waits: bool) -> BTreeMap<(String, String), f64> {
    let mut sums = BTreeMap::new();
    let waiting =
        profile["meta"]["categories"].as_array().unwrap().iter().position(|c| c["name"] == "Waiting").unwrap();
    for thread in profile["threads"].as_array().unwrap() {
        let samples = &thread["samples"];
        let length = samples["length"].as_u64().unwrap() as usize;
        for at in 0..length {
            let stack = samples["stack"][at].as_u64();
            let is_wait = stack.is_some_and(|stack| {
                let frame = thread["stackTable"]["frame"][stack as usize].as_u64().unwrap() as usize;
                thread["frameTable"]["category"][frame] == waiting
            });
            if is_wait == waits {
                let process = thread["processName"].as_str().unwrap().trim_end_matches(" (app)").to_owned();
                let name = thread["name"].as_str().unwrap().trim_end_matches(" (all of this name)").to_owned();
                *sums.entry((process, name)).or_insert(0.0) += samples["weight"][at].as_f64().unwrap();
            }
        }
    }
    sums
}

#[test]
fn sums_by_thread_are_those_of_flame() {
    for (filter, from, to) in [
        (Filter::default(), 0, 9_000_000_000),
        (Filter::default(), 550_000_000, 1_550_000_000),
        (Filter { process: Some("app".into()), thread: None }, 0, 9_000_000_000),
        (Filter { process: None, thread: Some("11".into()) }, 0, 9_000_000_000),
    ] {
        let (profile, written, run, window) = profile(&filter, from, to);
        let mut all = 0.0;
        for (measure, waits) in [("cpu", false), ("blocked", true)] {
            let levels = Levels { process: true, thread: true, what: false };
            let request = Request { filter: filter.clone(), levels, ..Request::new(measure) };
            let tree = load(&[Part { run: &run, window: &window }], &request).unwrap();
            let totals = tree.totals(0);
            let mut expected = BTreeMap::new();
            for node in 1..tree.len() as u32 {
                if tree.frame(node).is_some_and(|frame| &*frame.kind == "thread") {
                    let process = tree.frame(tree.parent(node)).unwrap().name.to_string();
                    *expected.entry((process, tree.frame(node).unwrap().name.to_string())).or_insert(0.0) +=
                        totals[node as usize];
                }
            }
            all += totals[ROOT as usize];
            let found = sums(&profile, waits);
            assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
            for (whose, ms) in found {
                // Each of the threads of a name may hold half a millisecond back.
                assert!((ms - expected[&whose] * 1e3).abs() <= 1.0, "{whose:?}: {ms} ms, {} s", expected[&whose]);
            }
        }
        assert!((written.seconds - all).abs() < 1e-9);
    }
}

#[test]
fn times_counters_and_marks_are_there() {
    let (profile, written, ..) = profile(&Filter::default(), 0, 9_000_000_000);
    assert_eq!(written.samples, 11);
    assert_eq!(profile["meta"]["startTime"].as_f64(), Some(1_700_000_000_000.0));
    let threads = profile["threads"].as_array().unwrap();
    let main = threads.iter().find(|t| t["name"] == "main" && t["processName"] == "app (app)").unwrap();
    let mut time = 0.0;
    let times: Vec<f64> = main["samples"]["timeDeltas"]
        .as_array()
        .unwrap()
        .iter()
        .map(|delta| {
            time += delta.as_f64().unwrap();
            time
        })
        .collect();
    assert_eq!(times, [500.0, 1000.0, 1400.0, 1600.0]);
    let cpu = &profile["counters"].as_array().unwrap().iter().find(|c| c["category"] == "CPU").unwrap()["samples"];
    let values: Vec<f64> = cpu["count"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
    assert_eq!(values, [5e8, 8e8], "50 and 80 ticks of a hundredth of a second, in nanoseconds");
    let machine = threads.iter().find(|t| t["processName"].as_str().unwrap().starts_with("machine")).unwrap();
    assert_eq!(machine["processName"], "machine h\u{fffd}1 (app)");
    assert_eq!(machine["markers"]["startTime"][0].as_f64(), Some(1200.0));
    assert!(profile.to_string().contains("Java\u{fffd}Method") && !profile.to_string().contains("half way\\u0007"));
}

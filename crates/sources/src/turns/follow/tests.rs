//! Turns through threads that are written down as text: one moment a line.

use super::moment::{Connection, Moment, State, Through, What};
use super::path::{Path, Queued, Timeline, Turn};
use proptest::prelude::*;

/// Lines of `TIME WHAT`, times in microseconds: `switch 1 idle 2` (thread 1 leaves for idle, 2 comes; 0 for nobody), `wake 2 by 1`, `1 asked s7`,
/// `1 answered s7 since 10`, `1 asks c9`, `1 got c9 since 20 waited 3`; `begins`: before that there was a gap. Locks are waited for at places from 100 on: `switch 1 undecided@100 0`.
fn timeline(text: &str) -> (Timeline, Vec<Turn>) {
    let (mut timeline, mut turns) = (Timeline::default(), Vec::new());
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| words[at].trim_start_matches(['s', 'c']).parse::<u64>().unwrap();
        let after = |word: &str| words.iter().position(|w| *w == word).map_or(0, |at| number(at + 1) * 1000);
        let at = number(0) * 1000;
        if words[1] == "begins" {
            timeline.begins(at);
            continue;
        }
        let what = match words[1] {
            "switch" => {
                let (state, place) = words[3].split_once('@').unwrap_or((words[3], "0"));
                let state = match state {
                    "idle" => State::Idle,
                    "undecided" => State::Undecided,
                    "runnable" => State::Runnable,
                    "lock" => State::Lock,
                    "disk" => State::Disk,
                    "network" => State::Network,
                    other => unreachable!("{other}"),
                };
                let (thread, other) = (number(2) as u32, number(4) as u32);
                What::Switch { thread, state, place: place.parse().unwrap(), other }
            }
            "wake" => What::Waking { thread: number(2) as u32, waker: number(4) as u32 },
            _ => {
                let through = match words[2] {
                    "asked" => Through::Asked,
                    "answered" => Through::Answered,
                    "asks" => Through::Asks,
                    "got" => Through::Got,
                    other => unreachable!("{other}"),
                };
                let since = if words.contains(&"since") { after("since") } else { at };
                let (thread, socket) = (number(1) as u32, number(3));
                let service = socket as u32;
                What::Connection(Connection { thread, through, socket, service, waited: after("waited"), since })
            }
        };
        turns.extend(timeline.take(&Moment { at, what }));
    }
    (timeline, turns)
}

/// The path of the last turn, in microseconds.
fn path(text: &str) -> Path {
    let (timeline, turns) = timeline(text);
    let mut path = timeline.follow(turns.last().unwrap(), &|place| Some(place >= 100));
    for time in [
        &mut path.running,
        &mut path.runnable,
        &mut path.throttled,
        &mut path.lock,
        &mut path.disk,
        &mut path.network,
        &mut path.pipe,
        &mut path.fault,
        &mut path.sleep,
        &mut path.other,
        &mut path.unknown,
        &mut path.others,
        &mut path.queued.running,
        &mut path.queued.runnable,
        &mut path.queued.blocked,
        &mut path.helper.1,
        &mut path.backend.1,
    ] {
        *time /= 1000;
    }
    path
}

#[test]
fn a_thread_that_does_all_itself() {
    let path = path(
        "0 switch 0 idle 1
         10 1 asked s7
         30 switch 1 disk 0
         80 wake 1 by 0
         90 switch 0 idle 1
         100 switch 1 runnable 2
         130 switch 2 idle 1
         150 1 answered s7 since 10",
    );
    assert_eq!(path, Path { running: 50, disk: 50, runnable: 40, ..Path::default() });
}

#[test]
fn a_lock_names_who_held_it() {
    let path = path(
        "0 switch 0 idle 1
         10 1 asked s7
         20 switch 1 undecided@100 2
         70 wake 1 by 2
         75 switch 2 idle 1
         85 1 answered s7 since 10",
    );
    assert_eq!(path, Path { running: 20, lock: 50, runnable: 5, handed: 1, helper: (2, 50), ..Path::default() });
}

#[test]
fn a_pool_is_followed_by_who_woke_whom() {
    // An event loop reads, a worker computes and waits for a disk, the loop answers.
    let path = path(
        "0 switch 0 idle 1
         0 switch 2 undecided 0
         10 1 asked s7
         20 wake 2 by 1
         25 switch 1 idle 2
         40 switch 2 disk 0
         70 wake 2 by 0
         72 switch 0 idle 2
         90 wake 1 by 2
         92 switch 2 undecided 1
         100 1 answered s7 since 10",
    );
    let expected = Path { running: 10 + 15 + 18 + 8, runnable: 5 + 2 + 2, disk: 30, handed: 1, ..Path::default() };
    assert_eq!(Path { helper: (0, 0), ..path.clone() }, expected);
    assert_eq!(path.helper.0, 2);
}

#[test]
fn a_back_end_is_waited_for_and_other_requests_are_told_apart() {
    // A proxy asks another server at 20; while that works it answers somebody else; its answer came at 80 and was read at 95.
    let path = path(
        "0 switch 0 idle 1
         10 1 asked s7
         20 1 asks c9
         25 switch 1 idle 0
         60 switch 0 idle 1
         62 1 asked s8
         90 1 answered s8 since 62
         95 1 got c9 since 20 waited 15
         105 1 answered s7 since 10",
    );
    let expected = Path { running: 20, network: 60, others: 15, backend: (9, 60, 1), ..Path::default() };
    assert_eq!(path, expected);
}

#[test]
fn requests_that_one_thread_has_at_once_are_told_apart() {
    let path = path(
        "0 switch 0 idle 1
         10 1 asked s7
         12 1 asked s8
         40 1 answered s8 since 12
         50 1 answered s7 since 10",
    );
    assert_eq!(path, Path { running: 12, others: 28, ..Path::default() });
}

#[test]
fn a_question_that_lies_there_tells_what_its_reader_did() {
    // It came at 10. Its reader ran until 30, stood still until thread 2 let it go on at 80, and waited for a CPU.
    let path = path(
        "0 switch 0 idle 1
         30 switch 1 undecided@100 2
         80 wake 1 by 2
         90 switch 2 idle 1
         95 1 asked s7
         100 1 answered s7 since 95 waited 85",
    );
    let queued = Queued { running: 20 + 5, runnable: 10, blocked: 50 };
    assert_eq!(path, Path { running: 5, handed: 1, helper: (2, 50), queued, ..Path::default() });
}

#[test]
fn who_is_waited_for_may_wait_for_another_one() {
    // Thread 2 lets thread 1 go on, and waited itself for thread 3 from 20 to 70.
    let path = path(
        "0 switch 0 idle 1
         0 switch 0 idle 2
         0 switch 0 idle 3
         10 switch 1 lock 0
         20 switch 2 undecided@9 0
         70 wake 2 by 3
         70 switch 0 idle 2
         80 wake 1 by 2
         80 switch 0 idle 1
         85 switch 3 idle 0
         95 1 asked s7
         100 1 answered s7 since 95 waited 85",
    );
    let queued = Queued { running: 15, runnable: 0, blocked: 70 };
    assert_eq!(path, Path { running: 5, handed: 2, helper: (3, 50), queued, ..Path::default() });
}

#[test]
fn what_was_not_told_is_not_made_up() {
    // Thread 1 was woken at 10; from 20 to 80 nothing was told.
    let path = path(
        "0 switch 1 idle 0
         10 wake 1 by 0
         80 begins
         85 switch 0 idle 1
         95 1 asked s7
         100 1 answered s7 since 95 waited 85",
    );
    assert_eq!(path, Path { running: 5, queued: Queued { running: 10, ..Queued::default() }, ..Path::default() });
}

#[test]
fn slow_are_questions_that_lay_there_too() {
    let turn =
        |time: u64, queued| Turn { service: 1, socket: 1, thread: 1, from: 1_000_000, to: 1_000_000 + time, queued };
    let mut turns: Vec<Turn> = (0..100).map(|_| turn(1000, 0)).collect();
    turns.push(turn(1000, 900_000));
    let chosen = super::chosen(&turns);
    assert!(chosen.iter().any(|(turn, of)| turn.queued == 900_000 && *of == 1.0), "{chosen:?}");
    assert_eq!(chosen.iter().map(|(_, of)| of).sum::<f64>(), 101.0);
}

#[test]
fn what_nobody_saw_is_unknown() {
    let path = path(
        "0 switch 0 idle 1
         10 1 asked s7
         20 switch 1 idle 0
         70 wake 1 by 0
         70 switch 0 idle 1
         80 1 answered s7 since 10",
    );
    assert_eq!(path, Path { running: 20, unknown: 50, ..Path::default() });
}

fn moments() -> impl Strategy<Value = Vec<Moment>> {
    let thread = 0u32..4;
    let what = prop_oneof![
        (
            thread.clone(),
            0u64..3,
            thread.clone(),
            prop::sample::select(vec![State::Idle, State::Undecided, State::Lock, State::Runnable])
        )
            .prop_map(|(thread, place, other, state)| What::Switch { thread, state, place: place * 99, other }),
        (thread.clone(), thread.clone()).prop_map(|(thread, waker)| What::Waking { thread, waker }),
        (
            thread,
            prop::sample::select(vec![Through::Asked, Through::Answered, Through::Asks, Through::Got]),
            0u64..3,
            0u64..200,
            0u64..200
        )
            .prop_map(|(thread, through, socket, waited, since)| What::Connection(Connection {
                thread,
                through,
                socket,
                service: 1,
                waited,
                since
            })),
    ];
    prop::collection::vec((0u64..200, what).prop_map(|(at, what)| Moment { at, what }), 0..80).prop_map(|mut all| {
        all.sort_by_key(|moment| moment.at);
        for moment in &mut all {
            if let What::Connection(connection) = &mut moment.what {
                connection.since = connection.since.min(moment.at);
            }
        }
        all
    })
}

proptest! {
    #[test]
    fn parts_add_up_to_the_time_whatever_was_seen(moments in moments(), until in 0u64..200) {
        let mut timeline = Timeline::default();
        let mut turns: Vec<Turn> = moments.iter().filter_map(|moment| timeline.take(moment)).collect();
        for _ in 0..2 {
            for turn in &turns {
                let path = timeline.follow(turn, &|place| (place > 0).then_some(place > 100));
                let sum: u64 = super::cells(&path).iter().take(12).sum();
                prop_assert_eq!(sum, turn.to - turn.from);
                prop_assert!(super::cells(&path).iter().skip(13).sum::<u64>() <= turn.queued.min(turn.from));
            }
            timeline.forget(until);
            turns.truncate(5);
        }
    }

    #[test]
    fn records_of_any_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let mut timeline = Timeline::default();
        if let Some(turn) = Moment::read(&bytes).and_then(|moment| timeline.take(&moment)) {
            timeline.follow(&turn, &|_| None);
        }
    }
}

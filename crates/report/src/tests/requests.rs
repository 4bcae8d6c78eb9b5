//! The block `requests` of hand-written recordings: services matched over the runs, counts by range of time, and followed requests.

use super::{Block, lasting, report};
use model::{Column, Table, Unit};
use query::Run;
use query::testing::{TURN, TURN_TIME};
use serde_json::json;

static FOLLOWED: Table = Table::wide(
    "turn_followed",
    "a request that was followed",
    &[
        Column::number("pid", "process"),
        Column::label("comm", "process"),
        Column::label("role", "role"),
        Column::label("protocol", "protocol"),
        Column::number("port", "port"),
        Column::label("peer", "other side"),
        Column::label("thread", "thread"),
        Column::gauge("at", Unit::Nanoseconds, "when"),
        Column::real("weight", Unit::None, "how many it stands for"),
        Column::gauge("time", Unit::Nanoseconds, "service time"),
        Column::gauge("queued", Unit::Nanoseconds, "time before it was read"),
        Column::gauge("running", Unit::Nanoseconds, "on a CPU"),
        Column::gauge("lock", Unit::Nanoseconds, "waiting for locks"),
        Column::gauge("others", Unit::Nanoseconds, "other requests"),
        Column::fact("backend", "whom it waited for"),
    ],
)
.of_events();

const SAMPLES: &str = "t pid comm thread at stack weight\n 1 7 app app 500000000 3 10000000";

/// Two processes of one server that answer on a port, and ask another server.
fn server(name: &str, port: u32, followed: &str) -> Run {
    let turns = format!(
        "t pid comm role protocol port peer turns sends sent service_time queued queue_time opened used
        0 7 app server tcp {port} \"\" 0 - - 0 0 0 0 -
        0 8 app server tcp {port} \"\" 0 - - 0 0 0 0 -
        0 7 app client tcp 5432 10.0.0.2 0 - - 0 0 0 0 -
        1 7 app server tcp {port} \"\" 100 - - 50000000 100 1000000 10 -
        1 8 app server tcp {port} \"\" 50 - - 25000000 50 500000 0 -
        1 7 app client tcp 5432 10.0.0.2 30 - - 9000000 0 0 1 -
        2 7 app server tcp {port} \"\" 300 - - 150000000 300 3000000 10 -
        2 8 app server tcp {port} \"\" 100 - - 50000000 100 1000000 0 -
        2 7 app client tcp 5432 10.0.0.2 60 - - 18000000 0 0 1 -
        2 7 app client tcp 6379 10.0.0.3 10 - - 1000000 0 0 1 -"
    );
    let times = format!(
        "t comm role protocol port peer what low high count
        1 app server tcp {port} \"\" service 458752 491520 140
        1 app server tcp {port} \"\" service 1048576 1114112 10
        1 app server tcp {port} \"\" queue 0 1024 150
        2 app server tcp {port} \"\" service 458752 491520 250
        2 app client tcp 6379 10.0.0.3 service 98304 102400 10
        2 gone server tcp 1 \"\" service 98304 102400 10"
    );
    let mut tables = vec![(&TURN, turns.as_str()), (&TURN_TIME, times.as_str())];
    if !followed.is_empty() {
        tables.push((&FOLLOWED, followed));
    }
    lasting(name, 4, SAMPLES, &tables)
}

#[test]
fn services_are_matched_and_their_times_counted() {
    let (head, html) = report(&[server("a", 8001, ""), server("b", 8002, "")]);
    let page = head["pages"].as_array().unwrap().iter().find(|p| p["id"] == "requests").unwrap();
    assert_eq!(page["view"], "requests");
    let spec = &head["requests"];
    let services = spec["services"].as_array().unwrap();
    assert_eq!(services.len(), 3, "{services:?}");
    // The only server is one service on two ports; of the clients there are two in each run.
    assert_eq!((services[0]["process"].as_str(), services[0]["role"].as_str()), (Some("app"), Some("server")));
    assert_eq!(services[0]["places"], json!([{"port": 8001, "peer": ""}, {"port": 8002, "peer": ""}]));
    assert_eq!(services[1]["places"][1], json!({"port": 5432, "peer": "10.0.0.2"}));
    assert_eq!(spec["ranges"].as_array().unwrap().len(), 4, "what nothing is in is left out");
    assert_eq!(spec["ranges"][0], json!([0.0, 1.024e-6]));
    assert_eq!((&spec["states"], &spec["notes"]), (&json!([]), &json!([[], []])));

    let block = Block::of(&html, "requests");
    let (ticks, runs, from) = (block.raw("turn", "tick"), block.raw("tick", "run"), block.numbers("tick", "from"));
    let of_server = |table: &str, column: &str, run: u32| -> Vec<(f64, f64)> {
        let (services, ticks) = (block.raw(table, "service"), block.raw(table, "tick"));
        let values = block.numbers(table, column);
        let here = (0..values.len()).filter(|&i| services[i] == 0 && runs[ticks[i] as usize] == run);
        here.map(|i| (from[ticks[i] as usize], values[i])).collect()
    };
    assert_eq!(ticks.len(), 10);
    assert_eq!(of_server("turn", "turns", 1), [(0.0, 150.0), (1.0, 250.0)], "processes are added up");
    assert_eq!(of_server("turn", "opened", 0), [(0.0, 10.0), (1.0, 0.0)]);
    let queued: f64 = of_server("turn", "queue_time", 0).iter().map(|(_, s)| s).sum();
    assert!((queued - 0.004).abs() < 1e-6, "{queued}");
    let counts = of_server("turn_time", "count", 0);
    assert_eq!(counts.iter().map(|(_, n)| n).sum::<f64>(), 140.0 + 10.0 + 150.0 + 250.0);
    let ranges = block.raw("turn_time", "range");
    let what = block.texts("turn_time", "what");
    let slow = (0..ranges.len()).find(|&i| ranges[i] == 3).unwrap();
    assert_eq!((what[slow].as_str(), block.numbers("turn_time", "count")[slow]), ("service", 10.0));
    assert_eq!(spec["ranges"][3], json!([1.048_576e-3, 1.114_112e-3]));
}

#[test]
fn followed_requests_come_with_their_states() {
    let followed = "t pid comm role protocol port peer thread at weight time queued running lock others backend
        1 7 app server tcp 8001 \"\" w1 500000000 99.5 470000 1000 470000 0 0 \"\"
        2 7 app server tcp 8001 \"\" w2 1500000000 0.5 1100000 2000 100000 800000 200000 10.0.0.2:5432
        2 9 other server tcp 1 \"\" w2 1500000000 1 1100000 2000 100000 800000 200000 \"\"";
    let (head, html) = report(&[server("a", 8001, followed), server("b", 8002, "")]);
    let states = head["requests"]["states"].as_array().unwrap();
    let ids: Vec<&str> = states.iter().map(|s| s["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["running", "lock", "others"], "columns that the table has");
    let block = Block::of(&html, "requests");
    assert_eq!(block.numbers("turn_followed", "at"), [0.5, 1.5], "of a service that is shown");
    let weights = block.numbers("turn_followed", "weight");
    assert!((weights[0] - 99.5).abs() < 0.03 && (weights[1] - 0.5).abs() < 1e-9, "{weights:?}");
    assert_eq!(block.texts("turn_followed", "backend"), ["", "10.0.0.2:5432"]);
    let lock = block.numbers("turn_followed", "lock")[1];
    assert!((lock - 8e-4).abs() < 1e-6, "{lock}");
}

/// An hour of a server whose times are all over the place.
#[test]
fn a_long_recording_of_a_busy_server_stays_small() {
    let (mut turns, mut times) = (
        "t pid comm role protocol port peer turns sends sent service_time queued queue_time opened used\n".to_owned(),
        "t comm role protocol port peer what low high count\n".to_owned(),
    );
    let mut seed = 1u64;
    for t in (0..=3600u64).step_by(3) {
        turns += &format!("{t} 7 app server tcp 80 \"\" {} - - 0 0 0 0 -\n", t * 1000);
        for what in ["service", "queue", "answer"].iter().filter(|_| t > 0) {
            for k in 0..20u64 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let begin = 1u64 << (14 + k / 4);
                let low = begin + begin / 16 * (k % 4 * 4 + (seed >> 40) % 4);
                times +=
                    &format!("{t} app server tcp 80 \"\" {what} {low} {} {}\n", low + begin / 16, (seed >> 33) % 90);
            }
        }
    }
    let (head, html) = report(&[lasting("a", 3600, SAMPLES, &[(&TURN, &turns), (&TURN_TIME, &times)])]);
    let block = Block::of(&html, "requests");
    let rows = block.raw("turn_time", "tick");
    let columns: std::collections::BTreeSet<u32> = rows.iter().copied().collect();
    assert!(columns.len() <= 300, "{} columns", columns.len());
    assert!(rows.len() <= 120_000, "{} rows", rows.len());
    assert_eq!(head["requests"]["ranges"].as_array().unwrap().len(), 80);
    assert!(html.len() < 2 << 20, "{} bytes", html.len());
}

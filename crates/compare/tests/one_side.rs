//! What only one side has, and what has another name there: a system call that the baseline never makes, a server on another port.

use compare::{Comparison, Options, compare};
use model::{Column, Manifest, Table, Unit};
use query::testing::{TURN, write};
use query::{Run, open};
use std::fmt::Write;

static CALLS: Table = Table::wide(
    "syscall",
    "calls",
    &[
        Column::number("pid", "process"),
        Column::label("comm", "process"),
        Column::label("call", "call"),
        Column::counter("count", Unit::None, "calls that returned"),
    ],
)
.grouped(&[&["comm", "call"]])
.from_zero()
.scoped();

static SERVED: Table = Table { groups: &[&["comm", "role", "protocol", "port"]], ..TURN };

/// Metrics that differ in neither run, so that one that does is one of many.
static OTHERS: Table = Table::wide(
    "vmstat",
    "events",
    &[Column::label("field", "event"), Column::counter("value", Unit::None, "how many")],
)
.grouped(&[&["field"]]);

/// A server of this port that is read so often, each second, and writes a log or not.
fn run(dir: &std::path::Path, name: &str, reads: i64, port: u16, is_logging: bool) -> std::path::PathBuf {
    let mut calls = String::from("t pid comm call count\n");
    let mut turns = String::from(
        "t pid comm role protocol port peer turns sends sent service_time queued queue_time opened used\n",
    );
    let mut others = String::from("t field value\n");
    for t in 0..reads {
        // No two intervals are equal.
        let jitter = t % 3;
        writeln!(calls, "{t} 7 nginx recvfrom {}", 60_000 * t + 500 * jitter).unwrap();
        if is_logging && t > 0 {
            writeln!(calls, "{t} 7 nginx write {}", 49_000 * t + 300 * jitter).unwrap();
        }
        let n = 60_000 * t + 500 * jitter;
        writeln!(turns, "{t} 7 nginx server tcp {port} - {n} {n} {} - - - - -", 100 * n).unwrap();
        for field in 0..300 {
            writeln!(others, "{t} field{field} {}", 1000 * t + 50 * ((t + field + reads) % 4)).unwrap();
        }
    }
    let path = dir.join(format!("{name}.twin"));
    let manifest = Manifest {
        name: name.into(),
        scope: "process 7".into(),
        duration: Some((reads - 1) * 1_000_000_000),
        ..Manifest::default()
    };
    write(&path, &manifest, &[(&CALLS, &calls), (&SERVED, &turns), (&OTHERS, &others)]);
    path
}

fn compared(reads: i64, logging: [bool; 2]) -> (Vec<Run>, Comparison) {
    let dir = tempfile::tempdir().unwrap();
    let paths = [run(dir.path(), "off", reads, 8898, logging[0]), run(dir.path(), "on", reads, 8899, logging[1])];
    let runs = open(&paths).unwrap();
    let comparison = compare(&runs, &Options::default()).unwrap();
    (runs, comparison)
}

#[test]
fn a_call_that_only_one_side_makes_is_the_first_difference() {
    for reads in [6, 26] {
        for (logging, gone) in [([false, true], false), ([true, false], true)] {
            let (_runs, comparison) = compared(reads, logging);
            let first = &comparison.differences[0];
            assert_eq!((first.metric.as_str(), first.labels["call"].as_str()), ("syscall.count", "write"), "{reads}");
            let change = if gone { Some(-1.0) } else { None };
            assert_eq!(first.change, change, "{reads}");
        }
        let (_runs, comparison) = compared(reads, [true, true]);
        assert!(comparison.differences.is_empty(), "{:?}", comparison.differences);
    }
}

#[test]
fn a_server_on_another_port_is_the_same() {
    let (_runs, comparison) = compared(26, [false, false]);
    let ports: Vec<_> = comparison.differences.iter().filter(|d| d.labels.contains_key("port")).collect();
    assert!(ports.is_empty(), "{ports:?}");
    assert!(comparison.metrics.contains("turn.turns"), "{:?}", comparison.metrics);
}

//! What the recorder took is the recorder's: no neighbour, no program, and a caution where it was much.

use compare::{CautionKind, Side};
use explain::budget::State;
use explain::{Explain, Explanation, explain};
use model::{Column, HOLDER, Manifest, OwnProcess, Table, Unit, Work, whose};
use query::open;
use query::testing::{CPU, THREADS, write};
use std::path::{Path, PathBuf};

static PROCESS: Table = Table::wide(
    "process",
    "processes",
    &[
        Column::number("pid", "process id"),
        Column::label("comm", "name"),
        Column::counter("cpu_time", Unit::Nanoseconds, "CPU time"),
    ],
);

/// A command that needs 10 s of the only CPU for 100 units, and has that CPU for `part` of the time; process 99, called `other`, has it for the rest.
fn record(dir: &Path, name: &str, part: f64, other: &str, recorders: &[(i64, &str)]) -> PathBuf {
    let seconds = (10.0 / part).round() as i64;
    let mut cpu = String::from("t cpu user idle mhz\n");
    let mut processes = String::from("t pid comm cpu_time\n");
    let mut threads = String::from(
        "t pid tid comm thread user kernel stolen runnable throttled lock disk network pipe fault sleep idle other\n",
    );
    for t in 0..=seconds {
        let [own, rest] = [part, 1.0 - part].map(|part| (part * t as f64 * 1e9) as i64);
        cpu += &format!("{t} 0 {} 0 1000\n", 100 * t);
        processes += &format!("{t} 7 app {own}\n{t} 99 {other} {rest}\n{t} 98 {HOLDER} 0\n");
        threads += &format!("{t} 7 7 app app {own} 0 0 {rest} 0 0 0 0 0 0 0 0 0\n");
    }
    let progress = (0..=seconds).map(|t| (t as f64, 100.0 * t as f64 / seconds as f64)).collect();
    let manifest = Manifest {
        name: name.into(),
        cpus: 1,
        interval: 1_000_000_000,
        command: Some(vec!["/bin/app".into()]),
        pid: Some(7),
        recorders: recorders.iter().map(|(pid, name)| OwnProcess { pid: *pid, name: (*name).into() }).collect(),
        scope: whose::COMMAND.into(),
        command_start: Some(0),
        wall: Some(seconds * 1_000_000_000),
        duration: Some(seconds * 1_000_000_000),
        work: Some(Work { unit: "requests".into(), total: 100.0, progress, how: String::new() }),
        ..Manifest::default()
    };
    let path = dir.join(format!("{name}.twin"));
    write(&path, &manifest, &[(&THREADS, &threads), (&CPU, &cpu), (&PROCESS, &processes)]);
    path
}

fn explained(other: &str, recorders: &[(i64, &str)]) -> Explanation {
    let dir = tempfile::tempdir().unwrap();
    let paths = [record(dir.path(), "slow", 0.5, other, recorders), record(dir.path(), "fast", 1.0, other, recorders)];
    let options = Explain::default();
    explain(open(&paths).unwrap(), 1, &options).unwrap()
}

/// Thread-seconds per unit of work in a state, slow side.
fn spent(explanation: &Explanation, state: State) -> f64 {
    explanation.ledger.iter().find(|(of, ..)| *of == state).map_or(0.0, |(_, times, _)| times[Side::Slow])
}

fn says(explanation: &Explanation) -> String {
    explanation.findings.iter().map(|finding| format!("{}: {}\n", finding.cause, finding.says)).collect()
}

#[test]
fn a_program_is_a_neighbour() {
    let found = explained("rustc", &[(55, "twinscope")]);
    assert!(spent(&found, State::Neighbours) > 0.09 && spent(&found, State::Recorder) == 0.0, "{:?}", found.ledger);
    let said = says(&found);
    assert!(
        said.contains("noisy-neighbour") && said.contains("rustc"),
        "{said} {} {:?} {:?} {:?}",
        found.verdict,
        found.outcome,
        found.notes,
        found.ledger
    );
    assert!(!found.cautions.iter().any(|caution| caution.kind == CautionKind::Recorder));
}

#[test]
fn a_recorder_is_none() {
    // This one, another that ran at the time, and one of a recording that does not name its own.
    for recorders in [&[(99, "twinscope")][..], &[(55, "twinscope"), (99, "twinscope")], &[]] {
        let found = explained("twinscope", recorders);
        let ledger = &found.ledger;
        assert!(spent(&found, State::Recorder) > 0.09 && spent(&found, State::Neighbours) < 1e-6, "{ledger:?}");
        let said = says(&found);
        assert!(!said.contains("neighbour") && !said.contains("twinscope"), "{said}");
        let caution = found.cautions.iter().find(|caution| caution.kind == CautionKind::Recorder).unwrap();
        assert!(caution.text.contains("50.0 % of the CPUs while slow ran"), "{}", caution.text);
        assert!(!found.cautions.iter().any(|caution| caution.kind == CautionKind::Others), "{:?}", found.cautions);
    }
}

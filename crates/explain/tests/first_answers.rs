//! What is said first: no sentence contradicts its numbers, and what cannot be told is said, with what there is all the same.

use explain::{Explain, Explanation, Outcome, cause, explain};
use model::{Column, Exit, Manifest, Table, Unit, Work, whose};
use query::open;
use query::testing::{CPU, THREADS, TURN, write};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

static WORK: Table =
    Table::wide("work", "work done", &[Column::counter("done", Unit::None, "units of work done").better()]);

/// A command of one thread.
#[derive(Clone, Copy)]
struct Job {
    /// How long it ran, seconds, read each second.
    wall: f64,
    /// The part of its time in which it waited for a lock; else it computed.
    locked: f64,
    /// CPUs that other programs used.
    others: f64,
    /// What it reported at its end; none where 0.
    done: f64,
    /// Requests that it made; none where 0.
    asked: i64,
    /// Its exit code.
    exit: i32,
}

const JOB: Job = Job { wall: 20.0, locked: 0.0, others: 0.0, done: 0.0, asked: 0, exit: 0 };

fn record(dir: &Path, name: &str, job: Job) -> PathBuf {
    let mut cpu = String::from("t cpu user idle mhz\n");
    let mut threads = String::from(
        "t pid tid comm thread user kernel stolen runnable throttled lock disk network pipe fault sleep idle other\n",
    );
    let mut turns = String::from(
        "t pid comm role protocol port peer turns sends sent service_time queued queue_time opened used\n",
    );
    for read in 0..=job.wall.ceil() as i64 {
        let t = (read as f64).min(job.wall);
        let (user, lock) = (t * (1.0 - job.locked), t * job.locked);
        writeln!(threads, "{read} 7 7 app app {:.0} 0 0 0 0 {:.0} 0 0 0 0 0 0 0", user * 1e9, lock * 1e9).unwrap();
        let busy = 100.0 * (user + job.others * t);
        writeln!(cpu, "{read} 0 {busy:.0} {:.0} 1000", 200.0 * t - busy).unwrap();
        let asked = (job.asked as f64 * t / job.wall) as i64;
        writeln!(turns, "{read} 7 app client tcp 5432 127.0.0.1 {asked} {asked} 0 - - - - 1").unwrap();
    }
    let end = job.wall.ceil() as i64;
    let work = Work { unit: "transactions".into(), total: job.done, progress: Vec::new(), how: String::new() };
    let manifest = Manifest {
        name: name.into(),
        cpus: 2,
        interval: 1_000_000_000,
        duration: Some(end * 1_000_000_000),
        command: Some(vec!["/bin/app".into()]),
        pid: Some(7),
        scope: whose::COMMAND.into(),
        command_start: Some(0),
        wall: Some((job.wall * 1e9) as i64),
        exit: Some(Exit::Code(job.exit)),
        work: Some(work).filter(|work| work.total > 0.0),
        ..Manifest::default()
    };
    let path = dir.join(format!("{name}.twin"));
    let reported = format!("t done\n{end} {}", job.done);
    let mut tables: Vec<(&'static Table, &str)> = vec![(&THREADS, &threads), (&CPU, &cpu)];
    tables.extend((job.done > 0.0).then_some((&WORK, reported.as_str())));
    tables.extend((job.asked > 0).then_some((&TURN, turns.as_str())));
    write(&path, &manifest, &tables);
    path
}

/// A cause that claims all time in which threads wait for locks, or compute.
fn causes(dir: &Path) -> Vec<cause::Cause> {
    let mut found = Vec::new();
    let mine = "-- cause mine: threads wait or work\n-- layer: io\n-- says: {subject} takes {slow:s}\n-- check: c\n-- try: t\n\
                -- claims:\nselect state as subject, cell, 1.0 as part from budget where state in ('lock', 'user')";
    let folder = dir.join("causes");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("mine.sql"), mine).unwrap();
    cause::add(&mut found, &folder).unwrap();
    found
}

fn explained(slow: Job, fast: Job) -> Explanation {
    let dir = tempfile::tempdir().unwrap();
    let paths = [record(dir.path(), "slow", slow), record(dir.path(), "fast", fast)];
    let options = Explain { causes: causes(dir.path()), ..Explain::default() };
    explain(open(&paths).unwrap(), 1, &options).unwrap()
}

#[test]
fn one_recording_a_side_cannot_tell_chance_and_shows_what_differs() {
    let found = explained(Job { wall: 21.6, ..JOB }, JOB);
    assert_eq!(found.outcome, Outcome::Undecided, "{}", found.verdict);
    assert!(
        found.verdict.starts_with(
            "slow takes 1.08× as long per run as fast, but one recording a side cannot tell whether that is chance"
        ) && found.verdict.contains("of the difference between these two: user takes 21.6 s"),
        "{}",
        found.verdict
    );
    assert!(found.findings.is_empty() && found.differs.len() == 1, "equal runs have no findings");
    let json = found.to_json();
    assert_eq!((&json["outcome"], json["differs"][0]["cause"].as_str()), (&"undecided".into(), Some("mine")));
    assert!(json["ledger"]["user"]["share"].as_f64().unwrap() > 0.99);
}

#[test]
fn one_total_a_run_has_no_interval_and_others_may_be_why() {
    // As pgbench beside its server, which no one recorded: twice the time, and 1.74 of 2 CPUs in use by others.
    let side = |done| Job { done, others: 1.74, locked: 0.9, ..JOB };
    let found = explained(side(1000.0), side(1860.0));
    assert_eq!(found.outcome, Outcome::Undecided, "{}", found.verdict);
    let says = "slow takes 1.86× as long per transaction as fast, but other programs used 87 % of the CPUs";
    assert!(found.verdict.starts_with(says), "{}", found.verdict);
    assert!(!found.verdict.contains("95 % CI") && !found.verdict.contains("significantly"), "{}", found.verdict);
}

#[test]
fn sides_the_wrong_way_round_are_asked_about_and_have_no_shares() {
    let found = explained(Job { wall: 10.0, ..JOB }, JOB);
    assert_eq!(found.outcome, Outcome::NoSlower);
    let asked = found.verdict.split("Did you mean: ").nth(1).unwrap_or_else(|| panic!("{}", found.verdict));
    let files: Vec<&str> = asked.trim_end_matches('?').split(' ').collect();
    assert!(files[1].ends_with("fast.twin") && files[2] == "--against" && files[3].ends_with("slow.twin"), "{asked}");
    assert!(found.to_json()["ledger"]["user"]["share"].is_null());
    let table: Vec<String> = found.to_markdown().lines().filter(|l| l.starts_with('|')).map(str::to_owned).collect();
    assert!(!table.is_empty() && !table.iter().any(|l| l.contains('%') || l.contains("slowdown")), "{table:?}");
    assert!(found.limits_both.is_none(), "what is faster is not held up by the same");
}

#[test]
fn what_limits_both_is_said_where_they_do_not_differ() {
    let held_up = Job { locked: 0.94, ..JOB };
    let found = explained(held_up, Job { locked: 0.9, ..JOB });
    assert_eq!(found.outcome, Outcome::NoSlower);
    let says = "What limits both is the same, 94 % of the thread time (baseline 90 %): lock takes 18.8 s.";
    assert!(found.verdict.ends_with(says), "{}", found.verdict);
    assert!(found.findings.is_empty() && found.to_markdown().contains("lock takes 18.8 s"));
    // They wait for something else.
    let found = explained(held_up, JOB);
    assert!(found.limits_both.is_none(), "{}", found.verdict);
}

#[test]
fn runs_of_a_fixed_length_are_explained_by_their_requests() {
    let found = explained(Job { wall: 6.06, asked: 56, ..JOB }, Job { wall: 6.09, asked: 96, ..JOB });
    assert_eq!(found.outcome, Outcome::Slower, "{}", found.verdict);
    assert!(found.verdict.starts_with("slow takes 1.71× as long per request as fast."), "{}", found.verdict);
    let said = found.cautions.iter().find(|c| c.kind == compare::CautionKind::FixedLength).map(|c| c.text.as_str());
    assert_eq!(said, Some("Both ran for 6.1 s: the work is the requests made: 56 by slow, 96 by fast."));
}

#[test]
fn a_failed_command_is_said_first() {
    let found = explained(Job { wall: 60.0, exit: 1, ..JOB }, JOB);
    let says = "The command of slow failed: it ended with exit code 1.\n\n**slow takes";
    assert!(found.to_markdown().starts_with(says), "{}", found.to_markdown());
    assert_eq!(found.to_markdown().matches("failed").count(), 1);
}

//! One pace, one window: `compare` and `explain` say the same of how much was done and how long it took, over the life of a command, over a stretch of it,
//! and where the command is the unit.

use compare::{Bound, Choice, Comparison, Options, Side, compare};
use explain::{Explain, Explanation, explain};
use model::{Column, Manifest, Table, Unit, Work, whose};
use query::testing::{CPU, THREADS, write};
use query::{Run, open};
use std::path::{Path, PathBuf};

static WORK: Table =
    Table::wide("work", "work done", &[Column::counter("done", Unit::None, "units of work done").better()]);

/// A command that ran from 0.4 s to 0.3 s before the last of `reads` reads, one a second, and did `each` units in each full second; but three times as
/// many in its first part of one, and none in its last, when it cleaned up.
fn record(dir: &Path, name: &str, reads: i64, each: f64, reports: bool) -> PathBuf {
    let (start, end) = (0.4, reads as f64 - 1.3);
    let done = |t: f64| {
        let first = (t.min(1.0) - start).max(0.0) * 3.0 * each;
        first + (t.min(reads as f64 - 2.0) - 1.0).max(0.0) * each
    };
    let mut work = String::from("t done\n");
    let mut cpu = String::from("t cpu user idle mhz\n");
    let mut threads = String::from(
        "t pid tid comm thread user kernel stolen runnable throttled lock disk network pipe fault sleep idle other\n",
    );
    for read in 0..reads {
        let t = read as f64;
        work += &format!("{t} {}\n", done(t).round());
        cpu += &format!("{t} 0 {} {} 1000\n", 60 * read, 40 * read);
        let lived = ((t.min(end) - start).max(0.0) * 1e9) as i64;
        if t > start {
            threads += &format!("{t} 7 7 app app {lived} 0 0 0 0 0 0 0 0 0 0 0 0\n");
        }
    }
    let reported =
        Work { unit: "requests".into(), total: done(reads as f64).round(), progress: Vec::new(), how: String::new() };
    let manifest = Manifest {
        name: name.into(),
        cpus: 2,
        interval: 1_000_000_000,
        command: Some(vec!["/bin/app".into()]),
        pid: Some(7),
        scope: whose::COMMAND.into(),
        command_start: Some((start * 1e9) as i64),
        wall: Some(((end - start) * 1e9) as i64),
        work: reports.then_some(reported),
        ..Manifest::default()
    };
    let path = dir.join(format!("{name}.twin"));
    let mut tables: Vec<(&'static Table, &str)> = vec![(&THREADS, &threads), (&CPU, &cpu)];
    tables.extend(reports.then_some((&WORK, work.as_str())));
    write(&path, &manifest, &tables);
    path
}

/// What both say of a slow and a fast run.
fn both(dir: &Path, reports: bool, window: Choice) -> (Comparison, Explanation) {
    let paths = [record(dir, "slow", 31, 100.0, reports), record(dir, "fast", 13, 250.0, reports)];
    let runs = |order: [usize; 2]| -> Vec<Run> { open(&order.map(|at| &paths[at])).unwrap() };
    let comparison = compare(&runs([1, 0]), &Options { window: window.clone(), ..Options::default() }).unwrap();
    let explanation = explain(runs([0, 1]), 1, &Explain { window, causes: Vec::new(), ..Explain::default() }).unwrap();
    (comparison, explanation)
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6 * b.abs()
}

/// "3.5×" of a sentence.
fn times(words: &str) -> &str {
    words.split(' ').find(|word| word.ends_with('×')).unwrap_or_else(|| panic!("{words}"))
}

#[test]
fn a_command_with_progress_has_one_pace() {
    let dir = tempfile::tempdir().unwrap();
    let (comparison, explanation) = both(dir.path(), true, Choice::Auto);
    let done = comparison.differences.iter().find(|d| d.metric == "work.done").unwrap();
    // All that was done, over all of the time.
    assert!(near(explanation.elapsed[Side::Slow], 29.3 / 2980.0), "{:?}", explanation.elapsed);
    assert!(near(explanation.elapsed[Side::Baseline], 11.3 / 2950.0), "{:?}", explanation.elapsed);
    assert!(near(done.baseline * explanation.elapsed[Side::Baseline], 1.0), "{done:?}");
    assert!(near(done.other * explanation.elapsed[Side::Slow], 1.0), "{done:?}");
    assert!(near(1.0 + done.change.unwrap(), 1.0 / explanation.ratio.value), "{done:?}");
    assert_eq!(times(&comparison.headline.headline), times(&explanation.verdict));
    assert_eq!(times(&explanation.verdict), "2.6×", "{}", explanation.verdict);
}

#[test]
fn so_has_a_stretch_whose_ends_cut_reads() {
    let dir = tempfile::tempdir().unwrap();
    let window = Choice::Between(Bound::At(2.25), Bound::At(9.75));
    let (comparison, explanation) = both(dir.path(), true, window);
    let done = comparison.differences.iter().find(|d| d.metric == "work.done").unwrap();
    assert!(near(explanation.elapsed[Side::Slow], 0.01) && near(explanation.elapsed[Side::Baseline], 0.004));
    assert!(near(done.baseline, 250.0) && near(done.other, 100.0), "{done:?}");
    assert_eq!(times(&comparison.headline.headline), times(&explanation.verdict));
    // The ledger is cut by the same rule: a thread that is always there is there for all of the window, and no longer.
    let user = explanation.ledger.iter().map(|(_, times, _)| times[Side::Slow]).sum::<f64>();
    assert!(near(user, 0.01), "{user}");
    assert!(near(explanation.done[Side::Slow].seconds, 7.5) && near(explanation.done[Side::Slow].work, 750.0));
}

#[test]
fn so_has_a_command_that_is_the_unit_itself() {
    let dir = tempfile::tempdir().unwrap();
    let (comparison, explanation) = both(dir.path(), false, Choice::Auto);
    assert!(near(explanation.elapsed[Side::Slow], 29.3) && near(explanation.elapsed[Side::Baseline], 11.3));
    assert_eq!(times(&explanation.verdict), "2.6×", "{}", explanation.verdict);
    assert_eq!(comparison.headline.headline, "slow takes 2.6× as long as fast (29.3 s, baseline 11.3 s).");
}

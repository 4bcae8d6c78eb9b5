//! Recordings with hardware counters: what `explain` names of a changed pair, and that equal runs are silent. The noise is of the size that real recordings
//! have: means of a second that wander by some per cent, with neighbours alike.

use counters::tables::PMU;
use explain::{Explain, Explanation, explain};
use model::{Manifest, Table, Work, whose};
use query::open;
use query::stats::rng::Rng;
use query::testing::THREADS;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// What instructions of a program cost: cycles of one, parts of the slots, branches predicted wrongly and page walks in 1,000.
#[derive(Clone, Copy)]
struct Costs {
    cpi: f64,
    frontend: f64,
    backend: f64,
    branch_misses: f64,
    walks: f64,
    remote: f64,
}

const USUAL: Costs = Costs { cpi: 0.8, frontend: 0.15, backend: 0.25, branch_misses: 3.0, walks: 0.4, remote: 0.05 };

/// Instructions of a unit of work, all in all.
const INSTRUCTIONS: f64 = 60e9;
const HERTZ: f64 = 3e9;

fn rows(seconds: usize, costs: Costs, rng: &mut Rng) -> String {
    let columns = PMU.stored();
    let mut text = columns.iter().fold("t".to_owned(), |text, column| text + " " + column.name) + "\n";
    // Level 3 % off, and a wander that is 0.7 of the one before.
    let level: Vec<f64> = (0..6).map(|_| 1.0 + 0.015 * rng.normal()).collect();
    let mut wander = [0.0f64; 6];
    let mut sums: std::collections::BTreeMap<(&str, &str), f64> = std::collections::BTreeMap::new();
    for t in 0..=seconds {
        if t > 0 {
            for w in &mut wander {
                *w = 0.7 * *w + 0.03 * rng.normal();
            }
            let off = |at: usize| level[at] * (1.0 + wander[at]).max(0.1);
            let cycles = HERTZ;
            let instructions = cycles / (costs.cpi * off(0));
            let slots = 6.0 * cycles;
            for (group, column, count) in [
                ("core", "ref_cycles", 0.9 * cycles),
                ("branch", "branches", 0.2 * instructions),
                ("branch", "branch_misses", costs.branch_misses * off(1) * instructions / 1000.0),
                ("topdown", "slots", slots),
                ("topdown", "slots_frontend", costs.frontend * off(2) * slots),
                ("topdown", "slots_backend", costs.backend * off(3) * slots),
                ("tlb", "dtlb_walks", costs.walks * off(4) * instructions / 1000.0),
                ("tlb", "itlb_walks", 0.1 * costs.walks * off(4) * instructions / 1000.0),
                ("memory", "mem_remote", costs.remote * off(5) * instructions / 1000.0),
            ] {
                *sums.entry((group, column)).or_default() += count;
            }
            for group in ["core", "branch", "topdown", "tlb", "memory"] {
                *sums.entry((group, "cycles")).or_default() += cycles;
                *sums.entry((group, "instructions")).or_default() += instructions;
            }
        }
        for group in ["core", "branch", "topdown", "tlb", "memory"] {
            let _ = write!(text, "{t} 0 {group}");
            for column in columns.iter().skip(2) {
                let known = sums.get(&(group, column.name)).map(|sum| format!("{}", sum.round() as i64));
                let own = t == 0 && (matches!(column.name, "cycles" | "instructions") || is_of(group, column.name));
                text += " ";
                text += &known.unwrap_or(if own { "0".into() } else { "-".into() });
            }
            text += "\n";
        }
    }
    text
}

fn is_of(group: &str, column: &str) -> bool {
    matches!(
        (group, column),
        ("core", "ref_cycles")
            | ("branch", "branches" | "branch_misses")
            | ("topdown", "slots" | "slots_frontend" | "slots_backend")
            | ("tlb", "dtlb_walks" | "itlb_walks")
            | ("memory", "mem_remote")
    )
}

/// A program of one thread that computes all the time.
fn record(dir: &Path, name: &str, costs: Costs, cpu: &str, rng: &mut Rng) -> PathBuf {
    let seconds = (INSTRUCTIONS * costs.cpi / HERTZ).round() as usize;
    let mut threads = String::from(
        "t pid tid comm thread user kernel stolen runnable throttled lock disk network pipe fault sleep idle other\n",
    );
    for t in 0..=seconds {
        let _ = writeln!(threads, "{t} 7 7 app app {} 0 0 0 0 0 0 0 0 0 0 0 0", t * 1_000_000_000);
    }
    let manifest = Manifest {
        name: name.into(),
        cpus: 1,
        interval: 1_000_000_000,
        command: Some(vec!["/bin/app".into()]),
        pid: Some(7),
        scope: whose::COMMAND.into(),
        command_start: Some(0),
        wall: Some(seconds as i64 * 1_000_000_000),
        work: Some(Work { unit: "requests".into(), total: 1000.0, progress: Vec::new(), how: String::new() }),
        ..Manifest::default()
    };
    let path = dir.join(format!("{name}.twin"));
    let counts = rows(seconds, costs, rng);
    let tables: [(&'static Table, &str); 2] = [(&THREADS, &threads), (&PMU, &counts)];
    let fact = model::Fact { category: "pmu".into(), name: "microarchitecture".into(), value: cpu.into() };
    query::testing::write_with(&path, &manifest, &tables, |writer| {
        writer.facts(std::slice::from_ref(&fact)).expect("a fact");
    });
    path
}

fn explained(slow: PathBuf, fast: PathBuf) -> Explanation {
    let runs = open(&[slow, fast]).expect("recordings");
    explain(runs, 1, &Explain::default()).expect("an explanation")
}

fn counted(explanation: &Explanation) -> Vec<(&str, f64)> {
    let own = ["frontend", "backend", "branch-misses", "page-walks", "numa"];
    let found = explanation.findings.iter().filter(|finding| own.contains(&finding.cause.as_str()));
    found.map(|finding| (finding.cause.as_str(), finding.share.value)).collect()
}

#[test]
fn what_cycles_went_into_is_named_with_its_part() {
    // A quarter more cycles an instruction, all of which the class has.
    let slower = |change: fn(&mut Costs)| {
        let mut costs = Costs { cpi: 1.2, ..USUAL };
        // What did not change takes as many cycles as before.
        costs.frontend *= USUAL.cpi / costs.cpi;
        costs.backend *= USUAL.cpi / costs.cpi;
        change(&mut costs);
        costs
    };
    let more = 0.4 / 1.2;
    let cases: [(&str, Costs, f64); 5] = [
        ("frontend", Costs { frontend: 0.1 + more, ..slower(|_| {}) }, 1.0),
        ("backend", Costs { backend: 0.1667 + more, ..slower(|_| {}) }, 1.0),
        // 20 × 15 cycles in 1,000 instructions are 0.3 of the 0.4 that an instruction takes longer.
        ("branch-misses", slower(|costs| costs.branch_misses = 23.0), 0.75),
        ("page-walks", slower(|costs| costs.walks = 0.4 + 6.0), 0.495),
        ("numa", slower(|costs| costs.remote = 0.05 + 2.0), 0.5),
    ];
    for (number, (cause, costs, part)) in cases.into_iter().enumerate() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut rng = Rng::new(40 + number as u64);
        let fast = record(dir.path(), "fast", USUAL, "zen4", &mut rng);
        let slow = record(dir.path(), "slow", costs, "zen4", &mut rng);
        let explanation = explained(slow, fast);
        let found = counted(&explanation);
        assert_eq!(found.iter().map(|of| of.0).collect::<Vec<_>>(), [cause], "{:?}", explanation.verdict);
        assert!((found[0].1 - part).abs() < 0.2, "{cause}: {} of the growth, not {part}", found[0].1);
        let finding = explanation.findings.iter().find(|finding| finding.cause == cause).expect("it was found");
        assert!(finding.evidence.iter().any(|line| line.starts_with("counted: ")), "{:?}", finding.evidence);
    }
}

#[test]
fn equal_counts_are_silent_in_20_of_20() {
    for seed in 0..20 {
        let dir = tempfile::tempdir().expect("a folder");
        let mut rng = Rng::new(seed);
        let fast = record(dir.path(), "fast", USUAL, "zen4", &mut rng);
        let slow = record(dir.path(), "slow", USUAL, "zen4", &mut rng);
        let runs = open(&[slow, fast]).expect("recordings");
        // Whatever else makes one slower: what an instruction costs is the same.
        let found = counted_of(&runs);
        assert!(found.is_empty(), "seed {seed}: {found:?}");
    }
}

/// Classes that the counters of the first say more of than those of the second, as the causes judge it.
fn counted_of(runs: &[query::Run]) -> Vec<(&'static str, f64, f64)> {
    let windows: Vec<model::Window> =
        runs.iter().map(|run| model::Window { from: 0, to: run.recording.duration(), why: String::new() }).collect();
    let side = |at: usize| vec![(&runs[at], &windows[at])];
    let found = compare::counted::cycles(&side(0), &side(1));
    assert_eq!(found.len(), 5, "all classes are counted");
    found
        .into_iter()
        .filter(|of| of.more > 0.03 && of.low > 0.01)
        .map(|of| (of.class.word(), of.more, of.low))
        .collect()
}

#[test]
fn other_cpus_are_not_compared() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut rng = Rng::new(3);
    let fast = record(dir.path(), "fast", USUAL, "zen4", &mut rng);
    let slow = record(dir.path(), "slow", Costs { cpi: 1.2, frontend: 0.5, ..USUAL }, "neoverse-v2", &mut rng);
    assert_eq!(counted(&explained(slow, fast)), []);
}

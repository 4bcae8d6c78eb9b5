//! Hardware counters of different CPUs: what makers count in their own way is not compared between them.

use compare::{Comparison, Options, compare};
use model::{Fact, Manifest, Table};
use query::{Run, open};
use std::fmt::Write;

static PMU: Table = Table::wide("pmu", "counts", counters::COLUMNS).derived(counters::METRICS).grouped(&[&["group"]]);

/// A run on a CPU of this kind, in which half as many branches and slots go wrong as in another.
fn run(dir: &std::path::Path, name: &str, kind: &str, part: i64) -> std::path::PathBuf {
    let mut text = format!("t {}\n", counters::COLUMNS.iter().map(|c| c.name).collect::<Vec<_>>().join(" "));
    for tick in 0..60_i64 {
        for (group, filled) in [
            ("branch", vec![("cycles", 2_000_000), ("instructions", 1_000_000), ("branch_misses", 20_000 / part)]),
            ("topdown", vec![("cycles", 2_000_000), ("slots", 12_000_000), ("slots_frontend", 4_000_000 / part)]),
        ] {
            let cells = counters::COLUMNS.iter().skip(2).map(|column| {
                let each = filled.iter().find(|(name, _)| *name == column.name).map(|(_, each)| *each);
                // No two intervals are equal.
                each.map_or("-".to_owned(), |each| (each * tick + each / 100 * (tick % 3)).to_string())
            });
            writeln!(text, "{tick} 0 {group} {}", cells.collect::<Vec<_>>().join(" ")).unwrap();
        }
    }
    let path = dir.join(format!("{name}.twin"));
    let manifest = Manifest { name: name.into(), duration: Some(59_000_000_000), ..Manifest::default() };
    query::testing::write_with(&path, &manifest, &[(&PMU, &text)], |writer| {
        let fact = Fact { category: "pmu".into(), name: "microarchitecture".into(), value: kind.into() };
        writer.facts(&[fact]).unwrap();
    });
    path
}

fn compared(kinds: [&str; 2]) -> (Vec<Run>, Comparison) {
    let dir = tempfile::tempdir().unwrap();
    let paths = [run(dir.path(), "a", kinds[0], 2), run(dir.path(), "b", kinds[1], 1)];
    let runs = open(&paths).unwrap();
    let comparison = compare(&runs, &Options::default()).unwrap();
    (runs, comparison)
}

#[test]
fn what_makers_count_in_their_own_way_is_not_compared() {
    let listed = |comparison: &Comparison| comparison.differences.iter().map(|d| d.metric.clone()).collect::<Vec<_>>();
    let (_runs, alike) = compared(["zen4", "zen4"]);
    let found = listed(&alike);
    assert!(found.iter().any(|name| name.contains("branch_mpki")), "{found:?}");
    assert!(found.iter().any(|name| name.contains("frontend_bound")), "{found:?}");
    let (_runs, different) = compared(["zen4", "neoverse-v1"]);
    let found = listed(&different);
    assert!(found.iter().any(|name| name.contains("branch_mpki")), "{found:?}");
    assert!(!found.iter().any(|name| name.contains("frontend_bound")), "{found:?}");
    let said = different.not_compared.iter().find(|one| one.why.contains("other CPUs count it in another way"));
    assert!(said.is_some(), "{:?}", different.not_compared);
}

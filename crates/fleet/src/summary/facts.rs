//! The facts of a host, those that `compare` holds against each other; and what each source could read, for what was not read can be what tells
//! hosts apart.

use super::{Rows, Subject, processes};
use compare::means;
use model::NULL;
use std::ops::Range;
use store::Select;

/// The category of what could be read.
pub const COVERAGE: &str = "coverage";

/// The category of what limits the workload. The facts of a recording are those of the recorder: a command that is put on one CPU, or into a group
/// of its own, may have other limits, which are read with its processes and groups.
pub const WORKLOAD: &str = "workload";

/// The table of control groups with their quotas.
const GROUPS: &str = "cgroup_cpu";

/// Adds them.
pub fn reduce(subject: &Subject<'_>, rows: &mut Rows) {
    let mut put = |category: &str, name: &str, value: &str| {
        let number = value.trim().parse::<f64>().ok();
        let (host, id) = (subject.host.clone(), subject.id.clone());
        rows.fact.push(&[category.into(), name.into(), host, id, value.into(), number.into()]);
    };
    for ((category, name), values) in compare::all_facts(std::slice::from_ref(subject.run)) {
        if let Some(value) = values.into_iter().flatten().next() {
            put(&category, &name, &value);
        }
    }
    if let Some(cpus) = cpus_allowed(subject) {
        put(WORKLOAD, "cpus_allowed", &cpus.to_string());
    }
    if let Some(quota) = cpu_quota(subject) {
        put(WORKLOAD, "cpu_quota", &quota);
    }
    let mut names = std::collections::HashSet::new();
    for coverage in subject.run.recording.coverage() {
        let name = match coverage.item.as_str() {
            "" => coverage.source.clone(),
            item => format!("{}.{item}", coverage.source),
        };
        // A source may say several things of one item: the first stands.
        if names.insert(name.clone()) {
            put(COVERAGE, &name, coverage.status.as_str());
        }
    }
}

/// How many CPUs the process may run on that may run on the fewest, as it was last read.
fn cpus_allowed(subject: &Subject<'_>) -> Option<i64> {
    let select = Select { columns: Some(&["name", "cpus_allowed"]), ..Select::default() };
    let frame = subject.run.recording.load("process_info", &select)?;
    let cells = frame.column("cpus_allowed")?;
    let last = |rows: Range<usize>| rows.rev().find_map(|row| cells.get(row).copied().filter(|n| *n != NULL));
    processes::own(subject, &frame).into_iter().filter_map(|(entity, ..)| last(entity.rows.clone())).min()
}

/// The tightest CPU quota of the groups that the workload's processes are in and of those above, in CPUs; `none` where these have none.
fn cpu_quota(subject: &Subject<'_>) -> Option<String> {
    let select = Select { columns: Some(&["name", "cgroup"]), ..Select::default() };
    let frame = subject.run.recording.load("process_info", &select)?;
    let cells = frame.column("cgroup")?;
    let last = |rows: Range<usize>| rows.rev().find_map(|row| frame.symbols.text(*cells.get(row)?));
    let own: Vec<&str> =
        processes::own(subject, &frame).into_iter().filter_map(|(entity, ..)| last(entity.rows.clone())).collect();
    subject.run.recording.table(GROUPS).filter(|_| !own.is_empty())?;
    // What holds for a group holds for all below it.
    let holds = |path: &str| own.iter().any(|of| path == "/" || *of == path || of.starts_with(&format!("{path}/")));
    // Groups without a quota have no limit.
    let limits = means::means(subject.run, GROUPS, "limit", &["path"], &subject.window);
    let held = limits.iter().filter(|(labels, limit)| labels.first().is_some_and(|path| holds(path)) && *limit > 0.0);
    let least = held.map(|(_, limit)| *limit).min_by(f64::total_cmp);
    Some(least.map_or_else(|| "none".to_owned(), |limit| format!("{limit:.2}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::FACT;
    use compare::Choice;
    use model::{Column, Den, Derived, Manifest, Polarity, Table, Unit};
    use query::Run;
    use query::stats::Comparer;

    static INFO: Table = Table::wide(
        "process_info",
        "processes",
        &[
            Column::number("pid", "process"),
            Column::fact("name", "name"),
            Column::fact_number("parent", Unit::None, "parent"),
            Column::fact("cgroup", "control group"),
            Column::fact_number("cpus_allowed", Unit::None, "CPUs"),
        ],
    );

    static CGROUP: Table = Table::wide(
        "cgroup_cpu",
        "control groups",
        &[
            Column::label("path", "path"),
            Column::gauge("quota", Unit::Microseconds, "quota").compared(model::Compare::Equality),
            Column::gauge("period", Unit::Microseconds, "period").compared(model::Compare::Equality),
        ],
    )
    .derived(&[Derived {
        name: "limit",
        unit: "",
        help: "CPUs",
        num: &[("quota", 1.0)],
        den: Den::Columns(&[("period", 1.0)]),
        polarity: Polarity::Neutral,
        compare: model::Compare::Never,
        floor: 0.0,
    }])
    .grouped(&[&["path"]]);

    /// The facts of the workload of a recording of a command with process 7.
    fn facts(processes: &str, groups: &str) -> Vec<(String, String)> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.twin");
        let manifest = Manifest {
            pid: Some(7),
            command: Some(vec!["server".into()]),
            duration: Some(3_000_000_000),
            interval: 1_000_000_000,
            ..Manifest::default()
        };
        query::testing::write(&path, &manifest, &[(&INFO, processes), (&CGROUP, groups)]);
        let run = Run { name: "run".into(), recording: store::Recording::open(&path).unwrap(), stretch: None };
        let mut rows = Rows::default();
        crate::summary::reduce(&run, "run.twin", &Choice::Whole, &mut Comparer::default(), &mut rows).unwrap();
        let [category, name, value] = ["category", "name", "value"].map(|name| FACT.place(name).unwrap());
        let text = |row: usize, place: usize| rows.fact.text(row, place).unwrap().to_owned();
        (0..rows.fact.len())
            .filter(|row| text(*row, category) == WORKLOAD)
            .map(|row| (text(row, name), text(row, value)))
            .collect()
    }

    const QUOTAS: &str = "t path quota period
0 /a 50000 100000
0 /a/b 200000 100000
0 /other 1000 100000
1 /a 50000 100000
1 /a/b 200000 100000
1 /other 1000 100000
2 /a 50000 100000
2 /a/b 200000 100000
2 /other 1000 100000";

    #[test]
    fn what_limits_the_command_is_a_fact() {
        let of = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        // A shell of two CPUs became the server, which may use one, in a group below that with the quota; a neighbour may use fewer still.
        let processes = "t pid name parent cgroup cpus_allowed
0 7 sh 1 / 2
1 7 server 1 /a/b 1
1 9 other 1 /other 0";
        assert_eq!(facts(processes, QUOTAS), [of("cpus_allowed", "1"), of("cpu_quota", "0.50")]);
        // In the root no quota holds, whatever others have.
        let processes = "t pid name parent cgroup cpus_allowed
0 7 server 1 / 2";
        assert_eq!(facts(processes, QUOTAS), [of("cpus_allowed", "2"), of("cpu_quota", "none")]);
        // Not read is not none.
        assert_eq!(facts("t pid name parent cgroup cpus_allowed\n0 9 other 1 / 2", QUOTAS), []);
    }
}

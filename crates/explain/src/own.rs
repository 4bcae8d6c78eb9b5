//! What belongs to the workload: the names of the command's processes and of those that it started.

use crate::window;
use model::{NULL, Window};
use query::series::Grid;
use query::{Run, metric};
use std::collections::{BTreeSet, HashMap, HashSet};
use store::Select;

/// The names that belong to the workloads of these runs: those of the commands, and those of processes that descend from them and that no
/// other process has.
pub(crate) fn names(runs: &[Run]) -> BTreeSet<String> {
    let (mut own, mut foreign) = (BTreeSet::new(), HashSet::new());
    for run in runs {
        if let Some((inside, outside)) = family(run) {
            own.extend(inside);
            foreign.extend(outside);
        }
    }
    own.retain(|name| !foreign.contains(name));
    own.extend(runs.iter().filter_map(command));
    own
}

/// The name that the kernel gives to a run's command.
fn command(run: &Run) -> Option<String> {
    let program = run.recording.manifest().command.as_ref()?.first()?;
    // TASK_COMM_LEN, include/linux/sched.h.
    Some(program.rsplit('/').next()?.chars().take(15).collect())
}

/// The names of the processes that descend from the command, and those of all others. A child whose parent ended goes on under another
/// one: any parent that it ever had counts.
fn family(run: &Run) -> Option<(HashSet<String>, HashSet<String>)> {
    let root = run.recording.manifest().pid?;
    let select = Select { columns: Some(&["name", "parent"]), ..Select::default() };
    let frame = run.recording.load("process_info", &select)?;
    let pid = frame.table.labels().position(|c| c.name == "pid")?;
    let (name, parent) = (frame.column("name")?, frame.column("parent")?);
    let mut children: HashMap<i64, Vec<i64>> = HashMap::new();
    let mut named: Vec<(i64, i64)> = Vec::new();
    for entity in &frame.entities {
        let Some(&pid) = entity.labels.get(pid) else { continue };
        for row in entity.rows.clone() {
            if let Some(&parent) = parent.get(row).filter(|p| **p != NULL) {
                children.entry(parent).or_default().push(pid);
            }
            if let Some(&name) = name.get(row).filter(|n| **n != NULL) {
                named.push((pid, name));
            }
        }
    }
    let mut inside = HashSet::from([root]);
    let mut next = vec![root];
    while let Some(pid) = next.pop() {
        next.extend(children.remove(&pid).into_iter().flatten().filter(|child| inside.insert(*child)));
    }
    let (mut own, mut foreign) = (HashSet::new(), HashSet::new());
    for (pid, name) in named {
        if let Some(name) = frame.symbols.text(name) {
            if inside.contains(&pid) { &mut own } else { &mut foreign }.insert(name.to_owned());
        }
    }
    Some((own, foreign))
}

/// A metric of a run, one series for each group of `by`; `None` where it was not recorded.
pub(crate) fn grid(run: &Run, table: &str, name: &str, by: &[&str], window: &Window) -> Option<Grid> {
    const MOST_TICKS: usize = 7200;
    let found = metric(run.recording.table(table)?, name)?;
    let columns = found.columns();
    let select = Select { columns: Some(&columns), between: Some((window.from, window.to)), most_ticks: MOST_TICKS };
    let frame = run.recording.load(table, &select).filter(|f| !f.ticks.is_empty())?;
    Grid::new(&frame, &found, by, None).ok()
}

/// The mean of a metric over the window, for each group.
pub(crate) fn means(run: &Run, table: &str, name: &str, by: &[&str], window: &Window) -> Vec<(Vec<String>, f64)> {
    let Some(grid) = grid(run, table, name, by, window) else { return Vec::new() };
    let range = window::intervals(&grid, window);
    let seconds: f64 =
        range.clone().filter_map(|i| Some(*grid.to.get(i)? - *grid.from.get(i)?)).filter(|s| *s > 0.0).sum();
    // Over the whole window: a process that was there for half of it used half as much on average.
    let mean = |s: &query::series::Series| match s.sums(range.clone())? {
        (num, _) if grid.metric.is_rate() => (seconds > 0.0).then(|| num / seconds),
        (num, den) => (den > 0.0).then(|| num / den),
    };
    grid.series.iter().filter_map(|s| Some((s.labels.clone(), mean(s)?))).collect()
}

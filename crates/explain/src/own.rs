//! What belongs to the workload: the names of the command's processes and of those that it started.

use model::NULL;
use query::Run;
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

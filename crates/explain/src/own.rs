//! What belongs to the workload: the names of the command's processes and of those that it started.

use model::NULL;
use query::Run;
use std::collections::{BTreeSet, HashMap, HashSet};
use store::Select;

/// The names that belong to the workloads of these runs: those of the commands, those of processes that descend from them, and those of the
/// processes that `--pid` or `--cgroup` named, if no other process has them.
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

/// The processes whose threads were traced, where that was not done for all of the system.
pub(crate) fn looked_at(run: &Run) -> HashSet<i64> {
    if !run.recording.manifest().has_scope() {
        return HashSet::new();
    }
    let select = Select { columns: Some(&["user"]), ..Select::default() };
    let Some(frame) = run.recording.load("thread_time", &select) else { return HashSet::new() };
    let Some(pid) = frame.table.labels().position(|c| c.name == "pid") else { return HashSet::new() };
    // 0 stands for processes that began and ended between two reads.
    frame.entities.iter().filter_map(|e| e.labels.get(pid).copied()).filter(|pid| *pid != 0).collect()
}

/// The names of the processes that descend from the command or were looked at, and those of all others. A child whose parent ended goes on under
/// another one: any parent that it ever had counts, and where threads were looked at, those of the command's descendants were, whose they are now.
fn family(run: &Run) -> Option<(HashSet<String>, HashSet<String>)> {
    let mut inside = looked_at(run);
    inside.extend(run.recording.manifest().pid);
    if inside.is_empty() {
        return None;
    }
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
    let mut next: Vec<i64> = inside.iter().copied().collect();
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

/// Tables that hold nothing but the threads in scope, whatever they are called: a compiler of the workload has the name of a neighbour's.
pub(crate) fn is_scoped(table: &str, scoped: bool) -> bool {
    const TABLES: [&str; 4] = ["page_fault", "run_queue", "syscall", "thread_time"];
    scoped && TABLES.contains(&table)
}

/// System calls that wait for something to do. The time in them, per operation, grows by the mere fact that the pace falls.
const WAITS: &[&str] = &[
    "accept",
    "accept4",
    "clock_nanosleep",
    "epoll_pwait",
    "epoll_pwait2",
    "epoll_wait",
    "io_getevents",
    "nanosleep",
    "pause",
    "poll",
    "ppoll",
    "pselect6",
    "rt_sigsuspend",
    "rt_sigtimedwait",
    "select",
    "wait4",
    "waitid",
];

/// Whether a metric is the time in a call that waits for something to do.
pub(crate) fn is_waiting(metric: &str, by: &[&str], labels: &[String]) -> bool {
    let call = by.iter().position(|&l| l == "call").and_then(|at| labels.get(at));
    metric == "syscall.time" && call.is_some_and(|call| WAITS.contains(&call.as_str()))
}

#[cfg(test)]
mod tests {
    use super::{is_scoped, is_waiting};

    #[test]
    fn what_was_looked_at_is_the_workloads() {
        assert!(is_scoped("thread_time", true) && !is_scoped("thread_time", false) && !is_scoped("process", true));
    }

    #[test]
    fn calls_that_wait() {
        let labels = |call: &str| ["nginx".to_owned(), call.to_owned()];
        assert!(is_waiting("syscall.time", &["comm", "call"], &labels("epoll_wait")));
        assert!(!is_waiting("syscall.time", &["comm", "call"], &labels("write")));
        assert!(!is_waiting("syscall.count", &["comm", "call"], &labels("epoll_wait")));
        assert!(!is_waiting("process.user", &["comm"], &labels("epoll_wait")));
    }
}

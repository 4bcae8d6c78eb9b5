//! What belongs to the workload: the names of the command's processes, of those that it started, and of servers beside them that they ask.

use crate::side::Side;
use model::NULL;
use query::Run;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use store::Select;

/// The names that belong to the workloads of these runs: those of the commands, those of processes that descend from them, those of the
/// processes that `--pid` or `--cgroup` named, if no other process has them, and those of the servers that they ask ([`asked`]).
pub fn names(runs: &[Run]) -> BTreeSet<String> {
    let mut own = started(runs);
    own.extend(asked_by(runs, &own).into_keys());
    own
}

/// The servers of the same machine that the workloads of these runs ask, and those that these ask in turn, by name, and who asks each. Where the command
/// is a client, the work is done by them. Only a recording of the whole system knows them.
pub fn asked(runs: &[Run]) -> BTreeMap<String, String> {
    asked_by(runs, &started(runs))
}

fn asked_by(runs: &[Run], own: &BTreeSet<String>) -> BTreeMap<String, String> {
    let places: Vec<Place> = runs.iter().filter(|run| !run.recording.manifest().has_scope()).flat_map(places).collect();
    let mut found = BTreeMap::new();
    loop {
        let is_known = |name: &str, found: &BTreeMap<String, String>| own.contains(name) || found.contains_key(name);
        let next = places.iter().find_map(|place| {
            let client = place.clients.keys().find(|name| is_known(name, &found))?;
            let asked: i64 =
                place.clients.iter().filter(|(name, _)| is_known(name, &found)).map(|(_, turns)| turns).sum();
            // The other side of a port of the same number may be on another machine.
            let answers = |turns: i64| turns > 0 && (place.is_here || 2 * turns >= asked);
            let server = place.servers.iter().find(|(name, turns)| answers(**turns) && !is_known(name, &found))?;
            Some((server.0.clone(), client.clone()))
        });
        match next {
            Some((server, client)) => found.insert(server, client),
            None => return found,
        };
    }
}

/// Where requests of a run are asked and answered: names of clients and of servers with how many of them.
#[derive(Default)]
struct Place {
    /// Nobody from outside can be meant.
    is_here: bool,
    clients: BTreeMap<String, i64>,
    servers: BTreeMap<String, i64>,
}

/// By protocol, port and path of a Unix socket, from the table of turns.
fn places(run: &Run) -> Vec<Place> {
    let select = Select { columns: Some(&["turns"]), ..Select::default() };
    let Some(frame) = run.recording.load("turn", &select) else { return Vec::new() };
    let at = |name: &str| frame.table.labels().position(|c| c.name == name);
    let all = (at("comm"), at("role"), at("protocol"), at("port"), at("peer"));
    let (Some(comm), Some(role), Some(protocol), Some(port), Some(peer)) = all else { return Vec::new() };
    let Some(turns) = frame.column("turns") else { return Vec::new() };
    let mut found: BTreeMap<(String, i64, String), Place> = BTreeMap::new();
    for entity in &frame.entities {
        let label = |at: usize| entity.labels.get(at).copied().unwrap_or(NULL);
        let text = |at: usize| frame.symbols.text(label(at)).unwrap_or_default();
        let most = entity.rows.clone().filter_map(|row| turns.get(row)).filter(|cell| **cell != NULL).max();
        let Some(&most) = most.filter(|most| **most > 0) else { continue };
        let is_path = text(protocol) == "unix";
        let path = if is_path { text(peer) } else { "" };
        let place = found.entry((text(protocol).to_owned(), label(port), path.to_owned())).or_default();
        place.is_here |= is_path || text(peer).starts_with("127.") || text(peer) == "::1";
        let names = if text(role) == "client" { &mut place.clients } else { &mut place.servers };
        *names.entry(text(comm).to_owned()).or_default() += most;
    }
    found.into_values().collect()
}

/// The names of the commands, of what they started, and of what was looked at.
fn started(runs: &[Run]) -> BTreeSet<String> {
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
pub fn looked_at(run: &Run) -> HashSet<i64> {
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

/// A control group that processes of the workload are in, or one above it: what limits that limits them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InGroup {
    /// The run.
    pub run: String,
    /// Its side.
    pub side: Side,
    /// As the tables of control groups write it: `/` for the root.
    pub path: String,
    /// How many levels above the group of a process it is.
    pub above: i64,
}

/// What tables of control groups call the root.
const ROOT: &str = "/";

/// The tables of control groups.
const GROUPS: [&str; 2] = ["cgroup_cpu", "cgroup_memory"];

/// The control groups of the workload's processes in a run, and those above them, each once. `own`: names of its processes, which tell them where
/// no threads were looked at one by one. A process can be in another group for memory than for CPUs, in version 1 of the interface, and one group
/// of each process is recorded: where a table knows none of them, groups that no other process was seen in are taken for its own.
pub fn cgroups(run: &Run, side: Side, own: &BTreeSet<String>) -> Vec<InGroup> {
    let pids = looked_at(run);
    let select = Select { columns: Some(&["name", "cgroup"]), ..Select::default() };
    let Some(frame) = run.recording.load("process_info", &select) else { return Vec::new() };
    let (Some(pid), Some(name), Some(cgroup)) =
        (frame.table.labels().position(|c| c.name == "pid"), frame.column("name"), frame.column("cgroup"))
    else {
        return Vec::new();
    };
    let text = |cells: &[i64], row: usize| cells.get(row).and_then(|cell| frame.symbols.text(*cell));
    let (mut found, mut foreign): (HashMap<String, i64>, HashMap<String, i64>) = Default::default();
    for entity in &frame.entities {
        for row in entity.rows.clone() {
            let is_own = match entity.labels.get(pid) {
                Some(pid) if !pids.is_empty() => pids.contains(pid),
                _ => text(name, row).is_some_and(|name| own.contains(name)),
            };
            let Some(path) = text(cgroup, row) else { continue };
            let mut path = path.trim_end_matches('/');
            for above in 0.. {
                let group = if path.is_empty() { ROOT } else { path };
                let least = if is_own { &mut found } else { &mut foreign }.entry(group.to_owned()).or_insert(above);
                *least = above.min(*least);
                let Some((parent, _)) = path.rsplit_once('/') else { break };
                path = parent;
            }
        }
    }
    let is_known = !found.is_empty();
    for table in GROUPS.into_iter().filter(|_| is_known) {
        let known = paths(run, table);
        if !known.iter().any(|path| path != ROOT && found.contains_key(path)) {
            found.extend(
                known.into_iter().filter(|path| path != ROOT && !foreign.contains_key(path)).map(|path| (path, 0)),
            );
        }
    }
    let of = |(path, above)| InGroup { run: run.name.clone(), side, path, above };
    let mut found: Vec<InGroup> = found.into_iter().map(of).collect();
    found.sort_by(|a, b| (a.above, &a.path).cmp(&(b.above, &b.path)));
    found
}

/// The groups that a table of them has.
fn paths(run: &Run, table: &str) -> Vec<String> {
    let Some(frame) = run.recording.load(table, &Select { columns: Some(&[]), ..Select::default() }) else {
        return Vec::new();
    };
    let Some(path) = frame.table.labels().position(|c| c.name == "path") else { return Vec::new() };
    let text = |entity: &store::Entity| frame.symbols.text(*entity.labels.get(path)?).map(str::to_owned);
    frame.entities.iter().filter_map(text).collect()
}

/// The names of tables that hold nothing but the workload's threads in all of these runs, whatever the threads are called: a compiler of the workload
/// has the name of a neighbour's.
pub fn scoped(runs: &[Run]) -> BTreeSet<&'static str> {
    if !runs.iter().all(|run| run.recording.manifest().has_scope()) {
        return BTreeSet::new();
    }
    let tables = runs.iter().flat_map(|run| run.recording.tables());
    tables.filter(|(_, table)| table.scoped).map(|(_, table)| table.name).collect()
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
    use super::{InGroup, asked, cgroups, is_waiting, scoped};
    use crate::side::Side;
    use model::{Column, Table, Unit};
    use std::collections::BTreeSet;

    static INFO: Table = Table::wide(
        "process_info",
        "processes",
        &[
            Column::number("pid", "process"),
            Column::fact("name", "name"),
            Column::fact_number("parent", Unit::None, "parent"),
            Column::fact("cgroup", "control group"),
        ],
    );

    #[test]
    fn the_groups_of_the_workload_and_those_above_it() {
        let text = "t pid name parent cgroup\n0 1 systemd 0 /init.scope\n0 7 app 1 /pods/b/one\n0 8 app 1 /pods\n0 9 other 1 /pods/c";
        let run = query::testing::run("run", &[(&INFO, text)]);
        let of = |path: &str, above| InGroup { run: "run".into(), side: Side::Slow, path: path.into(), above };
        let found = cgroups(&run, Side::Slow, &BTreeSet::from(["app".to_owned()]));
        assert_eq!(found, [of("/pods", 0), of("/pods/b/one", 0), of("/", 1), of("/pods/b", 1)]);
        assert_eq!(cgroups(&run, Side::Slow, &BTreeSet::new()), []);
    }

    static MEMORY: Table = Table::wide(
        "cgroup_memory",
        "groups",
        &[Column::label("path", "group"), Column::gauge("max", Unit::Bytes, "limit")],
    );

    #[test]
    fn a_group_of_another_hierarchy_is_the_workloads_where_nobody_else_is_in_it() {
        let text = "t pid name parent cgroup\n0 1 init 0 /\n0 7 app 1 /\n0 9 other 1 /pods/c";
        let memory = "t path max\n0 / -\n0 /pods 5\n0 /pods/c 5\n0 /limited 5";
        let run = query::testing::run("run", &[(&INFO, text), (&MEMORY, memory)]);
        let found = cgroups(&run, Side::Slow, &BTreeSet::from(["app".to_owned()]));
        assert_eq!(found.iter().map(|of| of.path.as_str()).collect::<Vec<_>>(), ["/", "/limited"]);
        // Where the workload's own group is known, others are not its own.
        let memory = "t path max\n0 /pods 5\n0 /pods/c 5\n0 /limited 5";
        let run =
            query::testing::run("run", &[(&INFO, &text.replace("7 app 1 /", "7 app 1 /pods/a")), (&MEMORY, memory)]);
        let found = cgroups(&run, Side::Slow, &BTreeSet::from(["app".to_owned()]));
        assert_eq!(found.iter().map(|of| of.path.as_str()).collect::<Vec<_>>(), ["/pods/a", "/pods", "/"]);
    }

    #[test]
    fn what_was_looked_at_is_the_workloads() {
        static CALLS: Table = Table::wide("calls", "calls", &[Column::label("comm", "process")]).scoped();
        let of = |scope: &str| {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("run.twin");
            let manifest = model::Manifest { scope: scope.into(), ..model::Manifest::default() };
            query::testing::write(&path, &manifest, &[(&CALLS, "t comm\n0 app")]);
            scoped(&[query::Run {
                name: "run".into(),
                recording: store::Recording::open(&path).unwrap(),
                stretch: None,
            }])
        };
        assert_eq!(of(model::whose::COMMAND), BTreeSet::from(["calls"]));
        assert_eq!(of(""), BTreeSet::new());
    }

    static TURNS: Table = Table::wide(
        "turn",
        "turns",
        &[
            Column::number("pid", "process"),
            Column::label("comm", "name"),
            Column::label("role", "role"),
            Column::label("protocol", "protocol"),
            Column::number("port", "port"),
            Column::label("peer", "other side"),
            Column::counter("turns", Unit::None, "turns"),
        ],
    );

    #[test]
    fn servers_that_the_command_asks_are_the_workloads() {
        let of = |scope: &str, text: &str| {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("run.twin");
            let manifest = model::Manifest {
                scope: scope.into(),
                command: Some(vec!["/usr/bin/bench".into()]),
                ..Default::default()
            };
            query::testing::write(&path, &manifest, &[(&TURNS, text)]);
            let runs =
                [query::Run { name: "run".into(), recording: store::Recording::open(&path).unwrap(), stretch: None }];
            asked(&runs).into_iter().map(|(server, client)| format!("{client} asks {server}")).collect::<Vec<_>>()
        };
        let text = "t pid comm role protocol port peer turns\n\
                    0 1 bench client tcp 80 10.0.0.1 900\n0 2 web server tcp 80 - 900\n\
                    0 2 web client unix 0 /run/db 800\n0 3 db server unix 0 /run/db 900\n\
                    0 4 other client tcp 81 127.0.0.1 50\n0 5 another server tcp 81 - 50\n\
                    0 1 bench client tcp 90 10.0.0.7 900\n0 6 mine server tcp 90 - 10";
        assert_eq!(of("", text), ["web asks db", "bench asks web"]);
        assert_eq!(of(model::whose::COMMAND, text), [""; 0], "of others nothing is known");
        // Of a port of this machine's own, one answer is enough.
        let text = "t pid comm role protocol port peer turns\n0 1 bench client tcp 90 127.0.0.1 900\n0 6 mine server tcp 90 - 10";
        assert_eq!(of("", text), ["bench asks mine"]);
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

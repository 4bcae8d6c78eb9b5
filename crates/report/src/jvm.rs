//! The block `jvm`: pauses of the JVMs of each run over how many threads ran, their heap, what their code is (`code`), and the options in which the runs
//! differ.

mod code;

use crate::bundle::{JvmFlag, JvmPause, Jvms, JvmsOfRun};
use model::{NULL, Symbols};
use query::Run;
use std::collections::{BTreeMap, HashMap};

/// The name of the block.
pub(crate) const BLOCK: &str = "jvm";

/// Pauses of a run that are kept.
const PAUSES: usize = 6_000;
/// Stretches of time that are told apart, and points of the heap.
const STRETCHES: i64 = 3_000;
const POINTS: usize = 6_000;
/// The shortest stretch: that of the table `running`.
const SHORTEST: i64 = query::concurrency::SLOT;
/// What comes before the name of an option in the name of its fact.
const FLAG: &str = ".flag.";

/// What is known of JVMs; `None` where no run has one.
pub(crate) fn jvms(runs: &[Run]) -> Option<Jvms> {
    let of_runs: Vec<JvmsOfRun> = runs.iter().map(of_run).collect();
    let flags = flags(runs);
    let is_there = |run: &JvmsOfRun| !run.pauses.is_empty() || !run.heap.is_empty() || !run.code.is_empty();
    let any = of_runs.iter().any(is_there);
    let by = "comm, kind, operation, cause";
    let query = format!(
        "select run, {by}, sum(together) as pauses, sum(time) / 1e9 as stopped, max(time) / 1e9 as longest,\n\
         sum(to_stop) / 1e9 as time_to_safepoint\nfrom jvm_pause group by run, {by} order by stopped desc"
    );
    any.then_some(Jvms { runs: of_runs, flags, query })
}

fn of_run(run: &Run) -> JvmsOfRun {
    let (pauses, left_out) = pauses(run);
    let heap = heap(run, &pauses);
    let (running, step) = running(run);
    JvmsOfRun { running, step, heap, pauses, left_out, code: code::heaps(run), methods: code::methods(run) }
}

fn seconds(cell: i64) -> f64 {
    cell as f64 / 1e9
}

fn pauses(run: &Run) -> (Vec<JvmPause>, i64) {
    const NAMES: [&str; 10] =
        ["pid", "comm", "kind", "operation", "cause", "at", "time", "to_stop", "used_after", "together"];
    let mut symbols = Symbols::default();
    let mut rows: Vec<[i64; NAMES.len()]> = Vec::new();
    run.recording.scan("jvm_pause", &NAMES, None, &mut symbols, |batch| {
        rows.extend((0..batch.len()).map(|row| std::array::from_fn(|column| batch.cell(column, row))));
    });
    let mut left_out = 0;
    if rows.len() > PAUSES {
        rows.sort_by_key(|row| std::cmp::Reverse(row[6]));
        left_out = rows.iter().skip(PAUSES).map(|row| row[9].max(1)).sum();
        rows.truncate(PAUSES);
    }
    rows.sort_by_key(|row| row[5]);
    let text = |cell: i64| symbols.text(cell).map(str::to_owned);
    let pause =
        |[pid, comm, kind, operation, cause, at, time, to_stop, used_after, together]: [i64; NAMES.len()]| JvmPause {
            pid,
            comm: text(comm).unwrap_or_default(),
            kind: text(kind).unwrap_or_default(),
            operation: text(operation),
            cause: text(cause),
            at: seconds(at),
            time: seconds(time),
            to_stop: (to_stop != NULL).then(|| seconds(to_stop)),
            used_after: (used_after != NULL).then_some(used_after as f64),
            together: together.max(1),
        };
    (rows.into_iter().map(pause).collect(), left_out)
}

/// The heap in use of all JVMs together: at each read, and around each pause where the JVM told.
fn heap(run: &Run, pauses: &[JvmPause]) -> Vec<(f64, f64)> {
    const NAMES: [&str; 3] = ["pid", "pool", "used"];
    let select = store::Select { most_ticks: POINTS / 2, ..store::Select::default() };
    let Some(frame) = run.recording.load("jvm_heap", &select) else { return Vec::new() };
    let Some(used) = frame.column("used") else { return Vec::new() };
    let place = |name: &str| frame.table.labels().position(|label| label.name == name);
    let (Some(pid_at), Some(pool_at)) = (place(NAMES[0]), place(NAMES[1])) else { return Vec::new() };
    // What classes and code take is not of the heap.
    let is_heap = |pool: &str| !matches!(pool, "metaspace" | "class space") && !pool.starts_with("code");
    let mut changes: Vec<(i64, (i64, usize), i64)> = Vec::new();
    for (index, entity) in frame.entities.iter().enumerate() {
        let label = |at: usize| entity.labels.get(at).copied().unwrap_or(NULL);
        if !frame.symbols.text(label(pool_at)).is_some_and(is_heap) {
            continue;
        }
        for row in entity.rows.clone() {
            let tick = frame.tick.get(row).and_then(|&tick| frame.ticks.get(tick as usize));
            if let (Some(&tick), Some(&used)) = (tick, used.get(row)) {
                changes.push((tick, (label(pid_at), index), used.max(0)));
            }
        }
    }
    changes.sort_unstable();
    let mut now: HashMap<(i64, usize), i64> = HashMap::new();
    let mut points: Vec<(f64, f64)> = Vec::new();
    for at in changes.chunk_by(|a, b| a.0 == b.0) {
        now.extend(at.iter().map(|&(_, key, used)| (key, used)));
        if let Some((tick, ..)) = at.first() {
            points.push((seconds(*tick), now.values().sum::<i64>() as f64));
        }
    }
    // Around a pause only the whole heap of one JVM is known.
    let mut pids: Vec<i64> = now.keys().map(|(pid, _)| *pid).collect();
    pids.sort_unstable();
    pids.dedup();
    if pids.len() == 1 {
        points.extend(pauses.iter().filter_map(|pause| Some((pause.at + pause.time, pause.used_after?))));
    }
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let every = points.len().div_ceil(POINTS).max(1);
    points.into_iter().step_by(every).collect()
}

/// How many threads ran, in stretches of equal length.
fn running(run: &Run) -> (Vec<f64>, f64) {
    let length = run.recording.duration().max(1);
    let step = (length / STRETCHES).div_euclid(SHORTEST).saturating_add(1) * SHORTEST;
    let count = usize::try_from(length / step + 1).unwrap_or(0);
    let mut sums = vec![0.0; count];
    let (mut symbols, mut any) = (Symbols::default(), false);
    run.recording.scan("running", &["at", "running"], None, &mut symbols, |batch| {
        for row in 0..batch.len() {
            let place = usize::try_from(batch.cell(0, row) / step).ok();
            let value = model::real_of(batch.cell(1, row)).filter(|value| value.is_finite());
            if let (Some(sum), Some(value)) = (place.and_then(|place| sums.get_mut(place)), value) {
                *sum += value;
                any = true;
            }
        }
    });
    let slots = step as f64 / SHORTEST as f64;
    let running = if any { sums.into_iter().map(|sum| sum / slots).collect() } else { Vec::new() };
    (running, step as f64 / 1e9)
}

/// The options that differ, with who gave them.
fn flags(runs: &[Run]) -> Vec<JvmFlag> {
    type ByRun = Vec<Option<String>>;
    let mut found: BTreeMap<(String, String), (ByRun, ByRun)> = BTreeMap::new();
    for (index, run) in runs.iter().enumerate() {
        for fact in run.recording.facts() {
            let Some((main, flag)) = fact.name.strip_prefix("java.").and_then(|name| name.split_once(FLAG)) else {
                continue;
            };
            // `268435456 (ergonomic)`
            let (value, origin) = fact.value.trim_end_matches(')').split_once(" (").unwrap_or((&fact.value, ""));
            let entry = found.entry((main.to_owned(), flag.to_owned()));
            let (values, origins) = entry.or_insert_with(|| (vec![None; runs.len()], vec![None; runs.len()]));
            if let (Some(to), Some(by)) = (values.get_mut(index), origins.get_mut(index)) {
                (*to, *by) = (Some(value.to_owned()), Some(origin.to_owned()));
            }
        }
    }
    let differs = |values: &ByRun| values.iter().any(|value| Some(value) != values.first());
    let flag = |((main, name), (values, origins))| JvmFlag { main, name, values, origins };
    found.into_iter().filter(|(_, (values, _))| differs(values)).map(flag).collect()
}

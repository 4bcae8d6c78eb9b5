//! Tables that the page adds up over the window that its reader chooses, with the distribution of latencies: those of system calls and block
//! I/O, which have histogram columns, and those of the block `profile`, whose rows are events (locks, interrupts sent).

use crate::Error;
use crate::charts::PageData;
use crate::columns::{Column, Columns};
use crate::events::Ticks;
use crate::profile;
use crate::words::spelled;
use model::{Kind, Page, Table, Type};
use query::series::Grid;
use query::{Metric, Run, metric};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use store::{Frame, Select};

/// Rows of one recording and table in the block, about.
const ROWS: usize = 40_000;

/// The column that counts where the table has none: all buckets together.
const COUNT: &str = "all_buckets";

/// Entities told apart: those with the most calls and the most time.
const ENTITIES: usize = 600;

/// Whether a table has a distribution in it, and is drawn from here.
pub(crate) fn has_histogram(table: &Table) -> bool {
    !table.events && table.columns.iter().any(|c| c.kind == Kind::Histogram)
}

/// Nanoseconds at the upper end of the first bucket of a table's histogram: bucket `i` ends at this times 2^i.
fn first_bucket(table: &str) -> f64 {
    // Run-queue latencies are counted in steps of 1,024 ns, all else in steps of 1 ns.
    if table == "run_queue" { 2048.0 } else { 2.0 }
}

/// The page of a table that no chart draws.
fn page_of(table: &str) -> Page {
    match table {
        "block_io" => Page::Disks,
        "run_queue" => Page::Scheduler,
        "interrupt_time" => Page::Interrupts,
        "tcp" => Page::Network,
        _ => Page::Calls,
    }
}

/// Adds the tables with histograms; returns their blocks.
pub(crate) fn add(runs: &[Run], pages: &mut Vec<PageData>) -> Result<Vec<(String, Columns)>, Error> {
    let mut blocks = Vec::new();
    let mut done: Vec<&'static str> = Vec::new();
    for run in runs {
        for (_, table) in run.recording.tables() {
            if !has_histogram(table) || done.contains(&table.name) || table.groups.is_empty() {
                continue;
            }
            done.push(table.name);
            if let Some((columns, spec)) = build(runs, table)? {
                let charted = pages.iter().find(|p| p.drawn.iter().any(|(_, t, _)| *t == table.name)).map(|p| p.page);
                page(pages, charted.unwrap_or_else(|| page_of(table.name))).tables.push(spec);
                blocks.push((block_id(table), columns));
            }
        }
    }
    Ok(blocks)
}

/// A page of the report, made where it is not there yet.
pub(crate) fn page(pages: &mut Vec<PageData>, id: Page) -> &mut PageData {
    let at = match pages.iter().position(|p| p.page >= id) {
        Some(at) if pages.get(at).is_some_and(|p| p.page == id) => at,
        place => {
            let at = place.unwrap_or(pages.len());
            pages.insert(at, PageData::new(id));
            at
        }
    };
    &mut pages[at]
}

fn block_id(table: &Table) -> String {
    format!("sums-{}", table.name)
}

/// What is read of a table, in the order in which it is stored.
struct Parts {
    by: Vec<&'static str>,
    counters: Vec<Metric>,
    gauges: Vec<Metric>,
    buckets: Vec<(Metric, f64, f64)>,
}

impl Parts {
    fn of(table: &'static Table) -> Parts {
        // Numbers (processes, CPUs) mean nothing in another run; names do.
        let by = table.labels().filter(|c| c.ty == Type::Text).map(|c| c.name).collect();
        let of = |kind: Kind| -> Vec<Metric> {
            table.values().filter(|c| c.kind == kind).filter_map(|c| metric(table, c.name)).collect()
        };
        let first = first_bucket(table.name) / 1e9;
        let histogram = of(Kind::Histogram);
        let last = histogram.len().saturating_sub(1);
        let bound = |i: usize| first * 2f64.powi(i as i32);
        // The last bucket is open: it is taken for as wide as the others.
        let buckets = histogram
            .into_iter()
            .enumerate()
            .map(|(i, m)| (m, if i == 0 { 0.0 } else { bound(i - 1) }, bound(i.min(last))))
            .collect();
        let gauges = of(Kind::Gauge).into_iter().chain(of(Kind::Duration)).collect();
        Parts { by, counters: of(Kind::Counter), gauges, buckets }
    }

    fn has(&self, counter: &str) -> bool {
        self.counters.iter().any(|m| m.name == counter)
    }
}

fn build(runs: &[Run], table: &'static Table) -> Result<Option<(Columns, Value)>, Error> {
    let parts = Parts::of(table);
    let mut columns = Columns::default();
    let mut ticks = Ticks::default();
    // One row: tick, labels, values in the order of the parts.
    let width = parts.counters.len() + parts.gauges.len() + parts.buckets.len();
    let mut rows: Vec<(u32, Vec<u32>, Vec<f64>)> = Vec::new();
    let mut cut = 0;
    for (index, run) in runs.iter().enumerate() {
        let Some(frame) = load(run, table) else { continue };
        let (found, left_out) = read(&frame, &parts, width)?;
        cut += left_out;
        for ((labels, _), (from, to, values)) in found {
            let labels = labels.iter().map(|l| columns.string(l)).collect();
            let ns = |s: f64| (s * 1e9) as i64;
            rows.push((ticks.number(index as u32, ns(from), ns(to)), labels, values));
        }
    }
    if rows.is_empty() {
        return Ok(None);
    }
    let mut out = vec![Column::rising("tick", rows.iter().map(|r| r.0).collect())];
    for (i, label) in parts.by.iter().enumerate() {
        out.push(Column::text(label, rows.iter().map(|r| r.1.get(i).copied().unwrap_or(0)).collect()));
    }
    let values = |i: usize| rows.iter().map(|r| r.2.get(i).copied().unwrap_or(0.0)).collect::<Vec<f64>>();
    let uncounted = !parts.has("count");
    let mut total = vec![0.0; rows.len()];
    let mut at = 0;
    for metric in parts.counters.iter().chain(&parts.gauges) {
        out.push(amount(metric, &values(at)));
        at += 1;
    }
    let mut buckets: Vec<Value> = Vec::new();
    for (metric, from, to) in &parts.buckets {
        let counts = values(at);
        at += 1;
        // Buckets in which nothing ever was are left out.
        if counts.iter().any(|c| *c > 0.0) {
            total.iter_mut().zip(&counts).for_each(|(sum, count)| *sum += count);
            out.push(Column::amount(metric.name, &counts, 1.0));
            buckets.push(json!([metric.name, from, to]));
        }
    }
    if uncounted && !buckets.is_empty() {
        out.push(Column::amount(COUNT, &total, 1.0));
    }
    columns.table(table.name, &out);
    ticks.finish(&mut columns);
    let spec = spec(table, &parts, buckets, cut);
    Ok(Some((columns, spec)))
}

/// The column of a metric: times in nanoseconds, all else in whole numbers.
fn amount(metric: &Metric, values: &[f64]) -> Column {
    if metric.unit.starts_with('s') {
        let ns: Vec<f64> = values.iter().map(|v| v * 1e9).collect();
        return Column::amount(metric.name, &ns, 1e9);
    }
    Column::amount(metric.name, values, 1.0)
}

fn load(run: &Run, table: &'static Table) -> Option<Frame> {
    let load = |most_ticks: usize| run.recording.load(table.name, &Select { most_ticks, ..Select::default() });
    let frame = load(600)?;
    let most = (ROWS / frame.entities.len().max(1)).clamp(30, 600);
    if frame.ticks.len() > most { load(most) } else { Some(frame).filter(|f| f.ticks.len() > 1) }
}

/// By labels and interval: the interval's ends in seconds, and the values.
type Found = BTreeMap<(Vec<String>, usize), (f64, f64, Vec<f64>)>;

/// Reads one recording's rows, and says how many entities were left out.
fn read(frame: &Frame, parts: &Parts, width: usize) -> Result<(Found, usize), Error> {
    let mut found: Found = BTreeMap::new();
    let mut sizes: HashMap<Vec<String>, f64> = HashMap::new();
    let buckets = parts.buckets.iter().map(|(m, ..)| m);
    for (at, metric) in parts.counters.iter().chain(&parts.gauges).chain(buckets).enumerate() {
        let grid = Grid::new(frame, metric, &parts.by, None)?;
        let total: f64 = grid.series.iter().filter_map(|s| s.sums(grid.all())).map(|(num, _)| num).sum();
        for series in &grid.series {
            if (at < parts.counters.len() || parts.counters.is_empty()) && total > 0.0 {
                let sum = series.sums(grid.all()).map_or(0.0, |(num, _)| num);
                *sizes.entry(series.labels.clone()).or_default() += sum / total;
            }
            for (i, value, _) in series.measured(grid.all()).filter(|(_, value, _)| *value > 0.0) {
                // A level is of the moment in which it was read; what it says is about the time since the read before.
                let tick = if metric.is_level() { i } else { i + 1 };
                let seconds =
                    |tick: Option<usize>| tick.and_then(|t| frame.ticks.get(t)).map_or(0.0, |&t| t as f64 / 1e9);
                let row = found
                    .entry((series.labels.clone(), tick))
                    .or_insert_with(|| (seconds(tick.checked_sub(1)), seconds(Some(tick)), vec![0.0; width]));
                if let Some(cell) = row.2.get_mut(at) {
                    *cell = value;
                }
            }
        }
    }
    let mut order: Vec<(Vec<String>, f64)> = sizes.into_iter().collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let left_out = order.len().saturating_sub(ENTITIES);
    if left_out > 0 {
        let out: HashMap<Vec<String>, f64> = order.split_off(ENTITIES).into_iter().collect();
        found.retain(|(labels, _), _| !out.contains_key(labels));
    }
    Ok((found, left_out))
}

/// What the head says of the table.
fn spec(table: &'static Table, parts: &Parts, buckets: Vec<Value>, cut: usize) -> Value {
    let mut values: Vec<Value> = Vec::new();
    let timed = parts.has("count") && parts.has("time");
    for metric in &parts.counters {
        values.push(json!({"id": metric.name, "title": spelled(metric.name), "unit": metric.unit, "help": metric.help, "how": {"rate": metric.name}}));
        if metric.name == "time" && timed {
            values.push(json!({"id": "mean", "title": "mean time", "unit": "s", "help": "time over count", "how": {"mean": ["time", "count"]}}));
        }
        if metric.name == "bytes" && parts.has("count") {
            values.push(json!({"id": "size", "title": "bytes each", "unit": "B", "help": "bytes over count", "how": {"mean": ["bytes", "count"]}}));
        }
    }
    if !buckets.is_empty() {
        if !parts.has("count") {
            values.push(json!({"id": COUNT, "title": "times", "unit": "1/s", "help": "all buckets of the histogram together", "how": {"rate": COUNT}}));
        }
        for (id, q) in [("p50", 0.5), ("p99", 0.99)] {
            let help = format!("{:.0} % took no longer; from a histogram whose buckets double", q * 100.0);
            values.push(
                json!({"id": id, "title": id, "unit": "s", "help": help, "how": {"quantile": q, "buckets": buckets}}),
            );
        }
    }
    for metric in &parts.gauges {
        values.push(json!({"id": metric.name, "title": spelled(metric.name), "unit": metric.unit, "help": metric.help, "how": {"max": metric.name}}));
    }
    let keys: Vec<Value> = parts
        .by
        .iter()
        .filter_map(|name| table.column(name))
        .map(|c| json!({"id": c.name, "title": spelled(c.name), "help": c.help, "key": true}))
        .collect();
    let mut help = table.help.to_owned();
    if cut > 0 {
        help = format!("{help}; the {ENTITIES} that do most are listed, {cut} are not");
    }
    let by: String = parts.by.iter().map(|l| format!(", \"{l}\"")).collect();
    let sums: Vec<String> = parts.counters.iter().map(|m| format!("avg(\"{0}\") as \"{0}\"", m.name)).collect();
    json!({
        "id": format!("{}-table", table.name), "title": heading(table.name), "help": help, "kind": "events", "block": block_id(table), "table": table.name,
        "query": format!("select run{by}, {} from {}_rate group by run{by}", sums.join(", "), table.name),
        "keys": keys, "values": values, "stacks": [],
    })
}

/// What a table is called on its page.
fn heading(table: &str) -> String {
    match table {
        "syscall" => "System calls".to_owned(),
        "block_io" => "Block I/O".to_owned(),
        "run_queue" => "Waits for a CPU".to_owned(),
        "tcp" => "TCP".to_owned(),
        other => spelled(other),
    }
}

/// The table of contended locks.
pub(crate) fn locks() -> Value {
    json!({
        "id": "lock-table", "title": "Contended locks", "help": "locks that threads had to wait for, by name or by the function that takes them", "kind": "events",
        "block": profile::BLOCK, "table": "lock",
        "query": "select run, kind, name, address, sum(time) as time, sum(count) as count, max(longest) as longest, max(waiters) as waiters\nfrom lock group by run, kind, name, address order by time desc",
        "keys": [
            {"id": "lock", "title": "lock", "help": "its name, else the function that takes it", "key": true},
            {"id": "kind", "title": "kind", "help": "what kind of lock", "key": true},
            {"id": "process", "title": "process", "help": "the process whose threads waited", "key": true},
            {"id": "address", "title": "address", "help": "where the lock is; several are counted", "key": false},
            {"id": "holder", "title": "held by", "help": "threads that held it while others waited", "key": false}],
        "values": [
            {"id": "time", "title": "waited", "unit": "s/s", "help": "time that threads were blocked on it, per second", "how": {"rate": "time"}},
            {"id": "share", "title": "share", "unit": "ratio", "help": "share of all time blocked on locks", "how": {"share": "time"}},
            {"id": "count", "title": "blocked", "unit": "1/s", "help": "times that a thread had to wait, per second", "how": {"rate": "count"}},
            {"id": "mean", "title": "mean wait", "unit": "s", "help": "time over times blocked", "how": {"mean": ["time", "count"]}},
            {"id": "longest", "title": "longest", "unit": "s", "help": "the longest single wait", "how": {"max": "longest"}},
            {"id": "waiters", "title": "at once", "unit": "", "help": "the most threads that waited at the same time", "how": {"max": "waiters"}}],
        "stacks": [{"column": "stack", "title": "Waiting"}, {"column": "holder_stack", "title": "Holding, while others waited"}],
    })
}

/// What Go says that a goroutine waits for where that is a lock.
const GO_LOCKS: [&str; 3] = ["sync.Mutex.Lock", "sync.RWMutex.Lock", "sync.RWMutex.RLock"];

/// The table of the locks that goroutines wait for.
pub(crate) fn goroutine_locks() -> Value {
    let reasons: Vec<String> = GO_LOCKS.iter().map(|reason| format!("'{reason}'")).collect();
    json!({
        "id": "goroutine-table", "title": "Locks that goroutines wait for", "help": "Go parks a goroutine that waits for a lock without any thread: these waits are not among those of threads. From looks at the program's memory", "kind": "events",
        "block": profile::BLOCK, "table": "goroutine_wait", "only": {"column": "reason", "texts": GO_LOCKS},
        "query": format!("select run, comm, reason, stack, sum(time) as time, max(most) as most\nfrom goroutine_wait where reason in ({}) group by run, comm, reason, stack order by time desc", reasons.join(", ")),
        "keys": [
            {"id": "lock", "title": "lock", "help": "the function that takes it", "key": true},
            {"id": "reason", "title": "kind", "help": "what Go says that they wait for", "key": true},
            {"id": "process", "title": "process", "help": "the program", "key": true}],
        "values": [
            {"id": "time", "title": "waited", "unit": "s/s", "help": "time that goroutines waited for it, per second: as many waited, on average", "how": {"rate": "time"}},
            {"id": "share", "title": "share", "unit": "ratio", "help": "share of all time that goroutines waited for locks", "how": {"share": "time"}},
            {"id": "most", "title": "at once", "unit": "", "help": "the most goroutines that waited at one place at the same time", "how": {"max": "most"}}],
        "stacks": [{"column": "stack", "title": "Waiting"}],
    })
}

/// The table of interrupts that CPUs send to each other.
pub(crate) fn ipis() -> Value {
    json!({
        "id": "ipi-table", "title": "Interrupts sent, by cause", "help": "interrupts that CPUs send to each other: who sends them, and from which function of the kernel", "kind": "events",
        "block": profile::BLOCK, "table": "ipi",
        "query": "select run, kind, \"function\", comm, sum(count) as count, sum(targets) as targets\nfrom ipi group by run, kind, \"function\", comm order by targets desc",
        "keys": [
            {"id": "kind", "title": "kind", "help": "call: run a function elsewhere; reschedule: look at the run queue; tlb: forget translations of memory", "key": true},
            {"id": "function", "title": "function", "help": "the function of the kernel that sends it, or that it runs", "key": true},
            {"id": "process", "title": "process", "help": "who sent it", "key": true}],
        "values": [
            {"id": "count", "title": "sent", "unit": "1/s", "help": "times sent, per second", "how": {"rate": "count"}},
            {"id": "targets", "title": "CPUs hit", "unit": "1/s", "help": "interrupts taken: each CPU hit counts once, per second", "how": {"rate": "targets"}},
            {"id": "each", "title": "CPUs each", "unit": "", "help": "CPUs hit by one", "how": {"mean": ["targets", "count"]}},
            {"id": "pages", "title": "pages", "unit": "1/s", "help": "pages whose translation was forgotten, per second", "how": {"rate": "pages"}}],
        "stacks": [{"column": "stack", "title": "Sent from"}],
    })
}

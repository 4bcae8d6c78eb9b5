//! Tables that the page adds up over the window that its reader chooses, with the distribution of latencies: those of system calls and block
//! I/O, which have histogram columns, and those of the block `profile`, whose rows are events (locks, interrupts sent).

use crate::Error;
use crate::bundle::{Bucket, EventKey, EventTable, EventValue, How, Only, PageTable, StackColumn};
use crate::charts::PageData;
use crate::columns::{Column, Columns};
use crate::events::Ticks;
use crate::profile;
use crate::words::spelled;
use model::{Kind, Page, Table, Type};
use query::series::Grid;
use query::{Metric, Run, metric};
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
                page(pages, charted.unwrap_or_else(|| page_of(table.name))).tables.push(PageTable::Events(spec));
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

fn build(runs: &[Run], table: &'static Table) -> Result<Option<(Columns, EventTable)>, Error> {
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
    let mut buckets: Vec<Bucket> = Vec::new();
    for (metric, from, to) in &parts.buckets {
        let counts = values(at);
        at += 1;
        // Buckets in which nothing ever was are left out.
        if counts.iter().any(|c| *c > 0.0) {
            total.iter_mut().zip(&counts).for_each(|(sum, count)| *sum += count);
            out.push(Column::amount(metric.name, &counts, 1.0));
            buckets.push(Bucket(metric.name.into(), *from, *to));
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

fn value(id: &str, title: &str, unit: &str, help: &str, how: How) -> EventValue {
    EventValue { id: id.into(), title: title.into(), unit: unit.into(), help: help.into(), how }
}

fn key(id: &str, title: &str, help: &str) -> EventKey {
    EventKey { id: id.into(), title: title.into(), help: help.into(), key: true }
}

/// A key that does not tell lines apart.
fn loose(id: &str, title: &str, help: &str) -> EventKey {
    EventKey { key: false, ..key(id, title, help) }
}

fn stacks(column: &str, title: &str) -> StackColumn {
    StackColumn { column: column.into(), title: title.into() }
}

/// What the head says of the table.
fn spec(table: &'static Table, parts: &Parts, buckets: Vec<Bucket>, cut: usize) -> EventTable {
    let mut values: Vec<EventValue> = Vec::new();
    let of = |m: &Metric, how: How| value(m.name, &spelled(m.name), m.unit, m.help, how);
    let timed = parts.has("count") && parts.has("time");
    for metric in &parts.counters {
        values.push(of(metric, How::rate(metric.name)));
        if metric.name == "time" && timed {
            values.push(value("mean", "mean time", "s", "time over count", How::mean("time", "count")));
        }
        if metric.name == "bytes" && parts.has("count") {
            values.push(value("size", "bytes each", "B", "bytes over count", How::mean("bytes", "count")));
        }
    }
    if !buckets.is_empty() {
        if !parts.has("count") {
            values.push(value(COUNT, "times", "1/s", "all buckets of the histogram together", How::rate(COUNT)));
        }
        for (id, quantile) in [("p50", 0.5), ("p99", 0.99)] {
            let help = format!("{:.0} % took no longer; from a histogram whose buckets double", quantile * 100.0);
            values.push(value(id, id, "s", &help, How::Quantile { quantile, buckets: buckets.clone() }));
        }
    }
    values.extend(parts.gauges.iter().map(|metric| of(metric, How::max(metric.name))));
    let keys = parts.by.iter().filter_map(|name| table.column(name)).map(|c| key(c.name, &spelled(c.name), c.help));
    let mut help = table.help.to_owned();
    if cut > 0 {
        help = format!("{help}; the {ENTITIES} that do most are listed, {cut} are not");
    }
    let by: String = parts.by.iter().map(|l| format!(", \"{l}\"")).collect();
    let sums: Vec<String> = parts.counters.iter().map(|m| format!("avg(\"{0}\") as \"{0}\"", m.name)).collect();
    EventTable {
        id: format!("{}-table", table.name),
        title: heading(table.name),
        help,
        query: format!("select run{by}, {} from {}_rate group by run{by}", sums.join(", "), table.name),
        block: block_id(table),
        table: table.name.into(),
        only: None,
        keys: keys.collect(),
        values,
        stacks: Vec::new(),
    }
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
pub(crate) fn locks() -> PageTable {
    PageTable::Events(EventTable {
        id: "lock-table".into(),
        title: "Contended locks".into(),
        help: "locks that threads had to wait for, by name or by the function that takes them".into(),
        query: "select run, kind, name, address, sum(time) as time, sum(count) as count, max(longest) as longest, \
                max(waiters) as waiters\nfrom lock group by run, kind, name, address order by time desc"
            .into(),
        block: profile::BLOCK.into(),
        table: "lock".into(),
        only: None,
        keys: vec![
            key("lock", "lock", "its name, else the function that takes it"),
            key("kind", "kind", "what kind of lock"),
            key("process", "process", "the process whose threads waited"),
            loose("address", "address", "where the lock is; several are counted"),
            loose("holder", "held by", "threads that held it while others waited"),
        ],
        values: vec![
            value("time", "waited", "s/s", "time that threads were blocked on it, per second", How::rate("time")),
            value("share", "share", "ratio", "share of all time blocked on locks", How::share("time")),
            value("count", "blocked", "1/s", "times that a thread had to wait, per second", How::rate("count")),
            value("mean", "mean wait", "s", "time over times blocked", How::mean("time", "count")),
            value("longest", "longest", "s", "the longest single wait", How::max("longest")),
            value("waiters", "at once", "", "the most threads that waited at the same time", How::max("waiters")),
        ],
        stacks: vec![stacks("stack", "Waiting"), stacks("holder_stack", "Holding, while others waited")],
    })
}

/// What Go says that a goroutine waits for where that is a lock.
const GO_LOCKS: [&str; 3] = ["sync.Mutex.Lock", "sync.RWMutex.Lock", "sync.RWMutex.RLock"];

/// The table of the locks that goroutines wait for.
pub(crate) fn goroutine_locks() -> PageTable {
    let reasons: Vec<String> = GO_LOCKS.iter().map(|reason| format!("'{reason}'")).collect();
    let waited = "time that goroutines waited for it, per second: as many waited, on average";
    let most = "the most goroutines that waited at one place at the same time";
    PageTable::Events(EventTable {
        id: "goroutine-table".into(),
        title: "Locks that goroutines wait for".into(),
        help: "Go parks a goroutine that waits for a lock without any thread: these waits are not among those of \
               threads. From looks at the program's memory"
            .into(),
        query: format!(
            "select run, comm, reason, stack, sum(time) as time, max(most) as most\nfrom goroutine_wait where \
             reason in ({}) group by run, comm, reason, stack order by time desc",
            reasons.join(", ")
        ),
        block: profile::BLOCK.into(),
        table: "goroutine_wait".into(),
        only: Some(Only { column: "reason".into(), texts: GO_LOCKS.map(str::to_owned).into() }),
        keys: vec![
            key("lock", "lock", "the function that takes it"),
            key("reason", "kind", "what Go says that they wait for"),
            key("process", "process", "the program"),
        ],
        values: vec![
            value("time", "waited", "s/s", waited, How::rate("time")),
            value("share", "share", "ratio", "share of all time that goroutines waited for locks", How::share("time")),
            value("most", "at once", "", most, How::max("most")),
        ],
        stacks: vec![stacks("stack", "Waiting")],
    })
}

/// The table of interrupts that CPUs send to each other.
pub(crate) fn ipis() -> PageTable {
    let kinds = "call: run a function elsewhere; reschedule: look at the run queue; tlb: forget translations of memory";
    let pages = "pages whose translation was forgotten, per second";
    PageTable::Events(EventTable {
        id: "ipi-table".into(),
        title: "Interrupts sent, by cause".into(),
        help: "interrupts that CPUs send to each other: who sends them, and from which function of the kernel".into(),
        query: "select run, kind, \"function\", comm, sum(count) as count, sum(targets) as targets\n\
                from ipi group by run, kind, \"function\", comm order by targets desc"
            .into(),
        block: profile::BLOCK.into(),
        table: "ipi".into(),
        only: None,
        keys: vec![
            key("kind", "kind", kinds),
            key("function", "function", "the function of the kernel that sends it, or that it runs"),
            key("process", "process", "who sent it"),
        ],
        values: vec![
            value("count", "sent", "1/s", "times sent, per second", How::rate("count")),
            value(
                "targets",
                "CPUs hit",
                "1/s",
                "interrupts taken: each CPU hit counts once, per second",
                How::rate("targets"),
            ),
            value("each", "CPUs each", "", "CPUs hit by one", How::mean("targets", "count")),
            value("pages", "pages", "1/s", pages, How::rate("pages")),
        ],
        stacks: vec![stacks("stack", "Sent from")],
    })
}

//! Tables that the page adds up over the window that its reader chooses: those with columns that are buckets of a histogram (system calls, block I/O),
//! and those of the block `profile` that declare a page, whose rows are events (locks, IPIs).

use crate::Error;
use crate::bundle::{Bucket, EventKey, EventTable, EventValue, How, Only, PageTable, StackColumn};
use crate::charts::PageData;
use crate::columns::{Column, Columns};
use crate::events::Ticks;
use crate::profile::{self, Measured};
use crate::words::{capital, spelled, titled};
use model::{Fold, Kind, Page, Table, Type};
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
                page(pages, charted.or(table.page).unwrap_or(Page::Calls)).tables.push(PageTable::Events(spec));
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
    /// With their bounds in the base unit, as far as they are declared.
    buckets: Vec<(Metric, Option<(f64, f64)>)>,
    /// The base unit of what is counted in buckets.
    bucket_unit: &'static str,
}

impl Parts {
    fn of(table: &'static Table) -> Parts {
        // Numbers (processes, CPUs) mean nothing in another run; names do.
        let by = table.labels().filter(|c| c.ty == Type::Text).map(|c| c.name).collect();
        let of = |kind: Kind| -> Vec<Metric> {
            table.values().filter(|c| c.kind == kind).filter_map(|c| metric(table, c.name)).collect()
        };
        let mut from = 0.0;
        let bounded = |metric: Metric| {
            let bucket = table.column(metric.name).and_then(|c| c.bucket);
            let end = bucket.map(|b| b.end * b.unit.factor()).filter(|end| end.is_finite() && *end > from);
            let bounds = end.map(|end| (std::mem::replace(&mut from, end), end));
            (metric, bounds)
        };
        let buckets = of(Kind::Histogram).into_iter().map(bounded).collect();
        let bucket_unit = table.columns.iter().find_map(|c| c.bucket).map_or("", |b| b.unit.base());
        let gauges = of(Kind::Gauge).into_iter().chain(of(Kind::Duration)).collect();
        Parts { by, counters: of(Kind::Counter), gauges, buckets, bucket_unit }
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
    for (metric, bounds) in &parts.buckets {
        let counts = values(at);
        at += 1;
        // Buckets in which nothing ever was are left out.
        if counts.iter().any(|c| *c > 0.0) {
            total.iter_mut().zip(&counts).for_each(|(sum, count)| *sum += count);
            out.push(Column::amount(metric.name, &counts, 1.0));
            buckets.extend(bounds.map(|(from, to)| Bucket(metric.name.into(), from, to)));
        }
    }
    if uncounted && total.iter().any(|count| *count > 0.0) {
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

/// What a table is called on its page.
fn heading(table: &Table) -> String {
    if table.title.is_empty() { spelled(table.name) } else { table.title.to_owned() }
}

fn value(id: &str, title: &str, unit: &str, help: &str, how: How) -> EventValue {
    EventValue { id: id.into(), title: title.into(), unit: unit.into(), help: help.into(), how }
}

fn key(id: &str, title: &str, help: &str, key: bool) -> EventKey {
    EventKey { id: id.into(), title: title.into(), help: help.into(), key }
}

/// What the head says of a table with a histogram.
fn spec(table: &'static Table, parts: &Parts, buckets: Vec<Bucket>, cut: usize) -> EventTable {
    let mut values: Vec<EventValue> = Vec::new();
    let timed = parts.has("count") && parts.has("time");
    let of = |metric: &Metric, how: How| {
        let title = table.column(metric.name).map_or_else(|| spelled(metric.name), titled);
        value(metric.name, &title, metric.unit, metric.help, how)
    };
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
            let help =
                format!("{:.0} % were no greater; within a bucket of the histogram, estimated", quantile * 100.0);
            let how = How::Quantile { quantile, buckets: buckets.clone() };
            values.push(value(id, id, parts.bucket_unit, &help, how));
        }
    }
    values.extend(parts.gauges.iter().map(|metric| of(metric, How::max(metric.name))));
    let keys = parts.by.iter().filter_map(|name| table.column(name)).map(|c| key(c.name, &titled(c), c.help, true));
    let mut help = table.help.to_owned();
    if cut > 0 {
        help = format!("{help}; the {ENTITIES} that do most are listed, {cut} are not");
    }
    let by: String = parts.by.iter().map(|l| format!(", \"{l}\"")).collect();
    let sums: Vec<String> = parts.counters.iter().map(|m| format!("avg(\"{0}\") as \"{0}\"", m.name)).collect();
    EventTable {
        id: table_id(table),
        title: heading(table),
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

fn table_id(table: &Table) -> String {
    format!("{}-table", table.name)
}

/// What the head says of a table of the block `profile`.
pub(crate) fn events(measured: &Measured) -> EventTable {
    let (table, measure) = (measured.table, measured.measure);
    let stored = table.stored();
    let column = |name: &str| stored.iter().find(|c| c.name == name);
    let key_of = |name: &str, tells: bool| {
        let (title, help) = column(name).map_or((spelled(name), ""), |c| (titled(c), c.help));
        key(name, &title, help, tells)
    };
    let mut keys = Vec::new();
    if measure.locks.is_some() {
        keys.push(key("lock", "lock", "its name, else the function that takes it", true));
    }
    // An address means nothing in another run, and the other party is another's.
    let is_loose = |label: &str| {
        measure.locks.is_some_and(|locks| locks.address == label)
            || measure.other.is_some_and(|other| other.name == label)
    };
    let (loose, own): (Vec<&str>, Vec<&str>) = measured.labels().iter().partition(|label| is_loose(label));
    keys.extend(own.iter().map(|label| key_of(label, true)));
    let process = column("comm").map_or("the process", |c| c.help);
    keys.push(key("process", "process", process, true));
    keys.extend(loose.iter().map(|label| key_of(label, false)));

    let mut values = Vec::new();
    let mut select = Vec::new();
    let weight = column(measure.weight).map_or_else(|| spelled(measure.weight), titled);
    for &name in std::iter::once(&measure.weight).chain(measure.more).filter(|name| measured.has(name)) {
        let Some(c) = column(name) else { continue };
        let (title, is_most) = (titled(c), c.fold == Fold::Max);
        let (unit, how) = match is_most {
            true => (c.unit.base(), How::max(name)),
            false => (c.unit.per_second(), How::rate(name)),
        };
        values.push(value(name, &title, unit, c.help, how));
        select.push(format!("{}(\"{name}\") as \"{name}\"", if is_most { "max" } else { "sum" }));
        if name == measure.weight {
            let help = format!("its part of all that is listed as {title}");
            values.push(value("share", "share", "ratio", &help, How::share(name)));
        } else if name == "count" && !is_most {
            let help = format!("{weight} over {title}");
            let unit = measure.unit(table).base();
            let title = if unit == "s" { "mean time".to_owned() } else { format!("{weight} each") };
            values.push(value("mean", &title, unit, &help, How::mean(measure.weight, name)));
        }
    }
    let mut stacks = vec![StackColumn { column: "stack".into(), title: capital(measure.who) }];
    stacks.extend(measure.other.map(|o| StackColumn { column: o.stack.into(), title: capital(o.who) }));

    let locks =
        measure.locks.map_or([""; 2], |locks| [locks.name, if locks.name.is_empty() { measure.stack } else { "" }]);
    let told = own
        .iter()
        .copied()
        .chain(locks)
        .chain(loose.iter().copied().filter(|l| measure.other.is_none_or(|o| o.name != *l)));
    let by: String = std::iter::once("comm")
        .chain(told)
        .filter(|name| column(name).is_some())
        .map(|name| format!(", \"{name}\""))
        .collect();
    let only = measure.locks.filter(|locks| !locks.only.is_empty());
    let filter = only.map_or_else(String::new, |locks| {
        let list: Vec<String> = locks.only.iter().map(|text| format!("'{}'", text.replace('\'', "''"))).collect();
        format!(" where \"{}\" in ({})", locks.kind, list.join(", "))
    });
    EventTable {
        id: table_id(table),
        title: heading(table),
        help: measure.help.into(),
        query: format!(
            "select run{by}, {}\nfrom {}{filter} group by run{by} order by \"{}\" desc",
            select.join(", "),
            table.name,
            measure.weight
        ),
        block: profile::BLOCK.into(),
        table: table.name.into(),
        only: only.map(|locks| Only {
            column: locks.kind.into(),
            texts: locks.only.iter().map(|&text| text.to_owned()).collect(),
        }),
        keys,
        values,
        stacks,
    }
}

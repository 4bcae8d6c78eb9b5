//! The block `requests`: what servers answered and clients asked, by service over time, how long it took as counts by range of time, and where
//! the requests that were followed spent it. The page computes the percentiles of its window from these. See docs/report-bundle.md, "Block
//! `requests`".

mod followed;

use crate::Error;
use crate::bundle::{self, Place, RequestQueries};
use crate::columns::{Column, Columns};
use crate::events::{Event, Ticks, merge, together, widen, width_for};
use crate::profile::{at, notes_of, parts};
use crate::rows::Rows;
use query::series::Grid;
use query::{Run, metric};
use std::collections::{BTreeMap, HashMap};
use store::Select;

/// The name of the block.
pub(crate) const BLOCK: &str = "requests";

/// The tables that it is made of, which have these names in it too.
const TURN: &str = "turn";
const TURN_TIME: &str = "turn_time";

/// What tells services apart.
const LABELS: [&str; 5] = ["comm", "role", "protocol", "port", "peer"];

/// What is added up of each service, with whether it is a time.
const COUNTED: [(&str, bool); 5] =
    [("turns", false), ("opened", false), ("queued", false), ("queue_time", true), ("service_time", true)];

/// Services told apart: those with the most requests.
const SERVICES: usize = 60;

/// Columns of time of a recording, about: more cannot be told apart in half the width of a page.
const COLUMNS: i64 = 300;

/// Rows of counts by range of time, of all runs.
const ROWS: usize = 120_000;

/// What is in the block, and what is told of it in the head.
pub(crate) struct Requests {
    pub(crate) block: Columns,
    pub(crate) spec: bundle::Requests,
}

/// Who answers or asks, and how.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Kind {
    process: String,
    role: String,
    protocol: String,
}

/// A service of one run.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Key {
    kind: Kind,
    port: i64,
    peer: String,
}

impl Key {
    fn of(text: impl Fn(&str) -> String) -> Key {
        let kind = Kind { process: text("comm"), role: text("role"), protocol: text("protocol") };
        Key { kind, port: text("port").parse().unwrap_or(0), peer: text("peer") }
    }
}

/// What was counted of a service in an interval: its ends in seconds, and [`COUNTED`].
type Counted = BTreeMap<(Key, usize), (f64, f64, [f64; COUNTED.len()])>;

/// Makes the block; `None` where no recording counted requests.
pub(crate) fn requests(runs: &[Run]) -> Result<Option<Requests>, Error> {
    let counted: Vec<Counted> = runs.iter().map(read).collect::<Result<_, _>>()?;
    let services = Services::of(&counted);
    if services.list.is_empty() {
        return Ok(None);
    }
    let mut columns = Columns::default();
    let mut ticks = Ticks::default();
    write(&counted, &services, &mut ticks, &mut columns);
    let ranges = times(runs, &services, &mut ticks, &mut columns);
    let states = followed::write(runs, &services, &mut columns);
    ticks.finish(&mut columns);
    let spec = bundle::Requests {
        block: BLOCK.into(),
        services: services.list,
        left_out: services.left_out,
        ranges,
        states,
        queries: queries(),
        notes: runs.iter().map(|run| notes_of(run, "turns_collector")).collect(),
    };
    Ok(Some(Requests { block: columns, spec }))
}

fn queries() -> RequestQueries {
    let by = "comm, role, protocol, port, peer";
    RequestQueries {
        services: format!(
            "select run, {by}, sum(turns) / count(distinct t) as requests_per_second,\n\
             sum(service_time) / nullif(sum(timed), 0) as service_time,\n\
             sum(answer_time) / nullif(sum(answers), 0) as time_to_last_byte,\n\
             sum(queue_time) / nullif(sum(queued), 0) as queue_time,\n\
             sum(opened) / nullif(sum(turns), 0) as connections_per_request\nfrom turn_rate group by run, {by}"
        ),
        times: format!(
            "select run, {by}, what, low, high, sum(count) as count\nfrom turn_time group by run, {by}, what, low, high order by low"
        ),
        followed: "select * from turn_followed order by time desc".into(),
    }
}

/// Reads the counters of one recording.
fn read(run: &Run) -> Result<Counted, Error> {
    let mut counted = Counted::new();
    let select = Select { most_ticks: COLUMNS as usize, ..Select::default() };
    let Some(frame) = run.recording.load(TURN, &select).filter(|f| f.ticks.len() > 1) else { return Ok(counted) };
    let by: Vec<&str> = LABELS.into_iter().filter(|l| frame.table.column(l).is_some()).collect();
    for (place, (name, _)) in COUNTED.iter().enumerate() {
        let Some(metric) = metric(frame.table, name) else { continue };
        let grid = Grid::new(&frame, &metric, &by, None)?;
        for series in &grid.series {
            let label = |name: &str| {
                let place = grid.by.iter().position(|by| *by == name);
                place.and_then(|i| series.labels.get(i)).cloned().unwrap_or_default()
            };
            let key = Key::of(label);
            for (i, value, _) in series.measured(grid.all()).filter(|(_, value, _)| *value > 0.0) {
                let ends = (at(&grid.from, i), at(&grid.to, i));
                let row = counted.entry((key.clone(), i)).or_insert((ends.0, ends.1, Default::default()));
                if let Some(cell) = row.2.get_mut(place) {
                    *cell = value;
                }
            }
        }
    }
    Ok(counted)
}

/// What tells services of one kind apart: port and peer, where a run has several.
type Where<'a> = Option<(i64, &'a str)>;

/// A service on its way into the list: its requests in all runs, and its key in each.
struct Found<'a> {
    kind: &'a Kind,
    turns: f64,
    keys: Vec<Option<&'a Key>>,
}

/// The services of all runs.
struct Services {
    list: Vec<bundle::Service>,
    /// By run: the place of each in the list.
    numbers: Vec<HashMap<Key, u32>>,
    left_out: usize,
}

impl Services {
    fn of(counted: &[Counted]) -> Services {
        let runs = counted.len();
        // By run, the requests of each. A connection alone is no service.
        let mut totals: Vec<BTreeMap<&Key, f64>> = Vec::new();
        for counted in counted {
            let mut of_run: BTreeMap<&Key, f64> = BTreeMap::new();
            for ((key, _), (_, _, values)) in counted {
                *of_run.entry(key).or_default() += at(values, 0);
            }
            of_run.retain(|_, turns| *turns > 0.0);
            totals.push(of_run);
        }
        // A process that has only one of a kind in each run is one service, on whatever port.
        let mut most: HashMap<&Kind, usize> = HashMap::new();
        for of_run in &totals {
            let mut here: HashMap<&Kind, usize> = HashMap::new();
            of_run.keys().for_each(|key| *here.entry(&key.kind).or_default() += 1);
            for (kind, count) in here {
                let most = most.entry(kind).or_default();
                *most = count.max(*most);
            }
        }
        let mut found: BTreeMap<(&Kind, Where<'_>), Found<'_>> = BTreeMap::new();
        for (run, of_run) in totals.iter().enumerate() {
            for (&key, turns) in of_run {
                let place = (most.get(&key.kind) != Some(&1)).then_some((key.port, key.peer.as_str()));
                let new = || Found { kind: &key.kind, turns: 0.0, keys: vec![None; runs] };
                let service = found.entry((&key.kind, place)).or_insert_with(new);
                service.turns += turns;
                if let Some(cell) = service.keys.get_mut(run) {
                    *cell = Some(key);
                }
            }
        }
        let mut found: Vec<Found<'_>> = found.into_values().collect();
        found.sort_by(|a, b| b.turns.total_cmp(&a.turns));
        let left_out = found.len().saturating_sub(SERVICES);
        found.truncate(SERVICES);
        let mut numbers: Vec<HashMap<Key, u32>> = vec![HashMap::new(); runs];
        let mut list = Vec::new();
        for (number, service) in found.into_iter().enumerate() {
            for (numbers, key) in numbers.iter_mut().zip(&service.keys) {
                numbers.extend(key.map(|key| (key.clone(), number as u32)));
            }
            let place = |key: &Key| Place { port: key.port, peer: key.peer.clone() };
            let places = service.keys.into_iter().map(|key| key.map(place)).collect();
            let Kind { process, role, protocol } = service.kind.clone();
            list.push(bundle::Service { process, role, protocol, places });
        }
        Services { list, numbers, left_out }
    }

    /// The place of a run's service in the list; `None` for one that is left out.
    fn number(&self, run: usize, key: &Key) -> Option<u32> {
        self.numbers.get(run)?.get(key).copied()
    }
}

/// The services that the rows of a table name.
struct OfRows<'a> {
    rows: &'a Rows,
    run: usize,
    services: &'a Services,
    labels: [Vec<i64>; LABELS.len()],
    known: HashMap<[i64; LABELS.len()], Option<u32>>,
}

impl<'a> OfRows<'a> {
    fn new(rows: &'a Rows, run: usize, services: &'a Services) -> Self {
        OfRows { rows, run, services, labels: LABELS.map(|name| rows.cells(name)), known: HashMap::new() }
    }

    /// The place of the service of a row in the list; `None` for one that is left out.
    fn number(&mut self, row: usize) -> Option<u32> {
        let cells = self.labels.each_ref().map(|cells| at(cells, row));
        let (rows, run, services) = (self.rows, self.run, self.services);
        *self.known.entry(cells).or_insert_with(|| {
            let text = |name: &str| {
                let cell = LABELS.iter().position(|l| *l == name).map_or(model::NULL, |place| at(&cells, place));
                if name == "port" { cell.to_string() } else { rows.text(cell).unwrap_or_default().to_owned() }
            };
            services.number(run, &Key::of(text))
        })
    }
}

/// Writes the table `turn`.
fn write(counted: &[Counted], services: &Services, ticks: &mut Ticks, columns: &mut Columns) {
    let mut rows: Vec<(u32, u32, [f64; COUNTED.len()])> = Vec::new();
    for (run, counted) in counted.iter().enumerate() {
        for ((key, _), (from, to, values)) in counted {
            if let Some(service) = services.number(run, key) {
                let ns = |seconds: &f64| (seconds * 1e9) as i64;
                rows.push((ticks.number(run as u32, ns(from), ns(to)), service, *values));
            }
        }
    }
    let mut out = vec![
        Column::rising("tick", rows.iter().map(|r| r.0).collect()),
        Column::exact("service", rows.iter().map(|r| r.1).collect()),
    ];
    for (i, (name, time)) in COUNTED.iter().enumerate() {
        // Times are in seconds here.
        let (factor, per_base) = if *time { (1e9, 1e9) } else { (1.0, 1.0) };
        let cells: Vec<f64> = rows.iter().map(|r| at(&r.2, i) * factor).collect();
        out.push(Column::amount(name, &cells, per_base));
    }
    columns.table(TURN, &out);
}

/// A range of a power of two as the eighth of it that it lies in: half of what tells sixteen of them apart.
fn eighth((low, high): (i64, i64)) -> (i64, i64) {
    // The first begins at 0, the last is open.
    if low <= 0 || high >= low.saturating_mul(2) {
        return (low, high);
    }
    let width = (1_i64 << low.ilog2()) / 8;
    if width <= high - low {
        return (low, high);
    }
    let begin = low / width * width;
    (begin, begin + width)
}

/// Ranges, numbered as they are found.
#[derive(Default)]
struct Ranges {
    numbers: HashMap<(i64, i64), u32>,
    list: Vec<(i64, i64)>,
}

impl Ranges {
    fn number(&mut self, range: (i64, i64)) -> u32 {
        let list = &mut self.list;
        *self.numbers.entry(range).or_insert_with(|| {
            list.push(range);
            list.len() as u32 - 1
        })
    }

    /// All ranges in their order, and for each number its place among them.
    fn sorted(&self) -> (Vec<(i64, i64)>, Vec<u32>) {
        let mut sorted = self.list.clone();
        sorted.sort_unstable();
        let place = |range: &(i64, i64)| sorted.binary_search(range).map_or(0, |at| at as u32);
        let places = self.list.iter().map(place).collect();
        (sorted, places)
    }
}

/// Writes the table `turn_time`; gives the ranges that its rows name, in seconds. Beyond [`ROWS`] ranges are put together by twos, and after that
/// stretches of time.
fn times(runs: &[Run], services: &Services, ticks: &mut Ticks, columns: &mut Columns) -> Vec<[f64; 2]> {
    let mut events: Vec<Event> = Vec::new();
    let mut ranges = Ranges::default();
    for (index, run) in runs.iter().enumerate() {
        let width = width_for(run.recording.duration(), COLUMNS);
        for part in parts(run) {
            let Some(rows) = Rows::load_part(run, TURN_TIME, None, part) else { continue };
            let mut found = of_rows(&rows, index, services, &mut ranges, columns);
            widen(&mut found, width);
            events.append(&mut found);
        }
    }
    together(&mut events);
    if events.len() > ROWS {
        let mut wider = Ranges::default();
        for event in &mut events {
            event.key[2] = wider.number(eighth(at(&ranges.list, event.key[2] as usize)));
        }
        ranges = wider;
        together(&mut events);
    }
    let (sorted, places) = ranges.sorted();
    for event in &mut events {
        event.key[2] = at(&places, event.key[2] as usize);
    }
    let events = merge(events, ROWS);
    if events.is_empty() {
        return Vec::new();
    }
    let key = |i: usize| events.iter().map(|e| at(&e.key, i)).collect::<Vec<u32>>();
    let counts: Vec<i64> = events.iter().map(|e| at(&e.sum, 0)).collect();
    columns.table(
        TURN_TIME,
        &[
            Column::rising("tick", events.iter().map(|e| ticks.number(e.run, e.from, e.to)).collect()),
            Column::exact("service", key(0)),
            Column::text("what", key(1)),
            Column::rising("range", key(2)),
            Column::counts("count", &counts),
        ],
    );
    sorted.into_iter().map(|(low, high)| [low as f64 / 1e9, high as f64 / 1e9]).collect()
}

/// Counts by service, what was timed, and range.
fn of_rows(rows: &Rows, run: usize, services: &Services, ranges: &mut Ranges, columns: &mut Columns) -> Vec<Event> {
    let mut services = OfRows::new(rows, run, services);
    let what = rows.texts("what", columns);
    let (low, high, counts) = (rows.numbers("low"), rows.numbers("high"), rows.reals("count"));
    let stretches = rows.stretches();
    let mut found = Vec::new();
    for i in rows.indices() {
        let Some(service) = services.number(i) else { continue };
        let (from, to) = at(&stretches, i);
        let mut event = Event { run: run as u32, from, to, ..Event::default() };
        event.key[..3].copy_from_slice(&[service, at(&what, i), ranges.number((at(&low, i), at(&high, i)))]);
        event.sum[0] = at(&counts, i).unwrap_or(0.0).round() as i64;
        found.push(event);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_put_together_by_twos() {
        assert_eq!(eighth((1024, 1088)), (1024, 1152));
        assert_eq!(eighth((1088, 1152)), (1024, 1152));
        assert_eq!(eighth((2048 + 15 * 128, 4096)), (2048 + 14 * 128, 4096));
        assert_eq!(eighth((0, 1024)), (0, 1024), "the first stays");
        assert_eq!(eighth((1 << 36, 1 << 37)), (1 << 36, 1 << 37), "the open one stays");
        assert_eq!(eighth(eighth((1088, 1152))), (1024, 1152), "twice is once");
    }
}

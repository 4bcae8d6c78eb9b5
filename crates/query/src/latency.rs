//! How long requests took: table `turn_time` of a recording, put together by service, kind of time and stretch of the window. Quantiles, and how sure they
//! are, come from [`Histogram`].

use crate::metric;
use crate::series::Grid;
use crate::stats::histogram::{Counted, Histogram, quantile};
use model::{NULL, Symbols, Window};
use std::collections::{BTreeSet, HashMap};
use store::{Recording, Select, stretch_from};

/// A window is cut into at most so many stretches, which are no shorter than the interval of the reads.
const STRETCHES: i64 = 240;

/// Blocks of the bootstrap are at least this long, seconds: load and pauses of programs last longer than a read.
const BLOCK: f64 = 3.0;

/// Ranges that are told apart; a table that was not damaged has a few hundred.
const MOST_RANGES: usize = 4096;

const COLUMNS: [&str; 9] = ["comm", "role", "protocol", "port", "peer", "what", "low", "high", "count"];

/// Numbers of times, each with its stretch and range.
type Counts = Vec<(u32, u32, f64)>;

/// The cells of the labels of a row.
type Labels = [i64; 6];

/// Who answered requests, or made them.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Service {
    /// Whether it answered them; else it made them.
    pub server: bool,
    /// Name of the process.
    pub comm: String,
    /// `tcp`, `udp` or `unix`.
    pub protocol: String,
    /// Port of the server; 0 for a Unix socket.
    pub port: i64,
    /// End of the path of a Unix socket. Else empty: other sides that a client asked on one port are taken together.
    pub path: String,
}

impl Service {
    /// Where it can be reached: `port 8080`, `udp port 53`, `socket …/run/db.sock`.
    pub fn address(&self) -> String {
        match self.protocol.as_str() {
            "unix" => format!("socket {}", self.path),
            "udp" => format!("udp port {}", self.port),
            _ => format!("port {}", self.port),
        }
    }
}

/// Which time of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Of a server: first byte of the question read to first byte of the answer sent. Of a client: how long the other side took.
    Service,
    /// First byte of the question come to first byte read.
    Queue,
    /// First byte of the question to last byte of the answer.
    Answer,
}

impl Kind {
    /// As column `what` has it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Service => "service",
            Kind::Queue => "queue",
            Kind::Answer => "answer",
        }
    }

    fn of(name: &str) -> Option<Self> {
        [Kind::Service, Kind::Queue, Kind::Answer].into_iter().find(|kind| kind.name() == name)
    }
}

/// The times of one kind of one service.
#[derive(Clone, Debug, PartialEq)]
pub struct Times {
    /// Whose.
    pub service: Service,
    /// Which.
    pub kind: Kind,
    /// How many there were in the window: of service times as table `turn` counts the requests, whose times may be taken of some only.
    pub count: f64,
    /// By stretch and range.
    counts: Counts,
}

/// What a recording says of how long requests took in a window.
#[derive(Clone, Debug, PartialEq)]
pub struct Latency {
    /// Length of the window, seconds.
    pub seconds: f64,
    /// Most counted first.
    pub times: Vec<Times>,
    /// How many stretches the window is cut into, and how long each is, seconds.
    stretches: usize,
    stretch: f64,
    /// Lower and upper end of each range, nanoseconds.
    ranges: Vec<(i64, i64)>,
}

/// A range that holds something, which fits in none that was known: `None` where there are too many of them, or it is none.
fn place(ranges: &mut Vec<(i64, i64)>, known: &mut HashMap<(i64, i64), usize>, range: (i64, i64)) -> Option<usize> {
    if let Some(&at) = known.get(&range) {
        return Some(at);
    }
    if range.0 < 0 || range.1 < range.0 || ranges.len() >= MOST_RANGES {
        return None;
    }
    ranges.push(range);
    known.insert(range, ranges.len() - 1);
    Some(ranges.len() - 1)
}

/// What is being added up of one group of rows: the stretch that is under way by range, and all before.
#[derive(Default)]
struct Adding {
    stretch: u32,
    now: Vec<f64>,
    touched: Vec<u32>,
    done: Counts,
}

impl Adding {
    fn add(&mut self, stretch: u32, range: usize, count: f64) {
        if stretch != self.stretch {
            self.flush();
            self.stretch = stretch;
        }
        if range >= self.now.len() {
            self.now.resize(range + 1, 0.0);
        }
        let Some(sum) = self.now.get_mut(range) else { return };
        if *sum == 0.0 {
            self.touched.push(range as u32);
        }
        *sum += count;
    }

    fn flush(&mut self) {
        for range in self.touched.drain(..) {
            if let Some(sum) = self.now.get_mut(range as usize) {
                self.done.push((self.stretch, range, std::mem::take(sum)));
            }
        }
    }
}

/// How many requests of each service were counted in a window: the one count of them, which work is made of too ([`crate::work`]).
fn counted(recording: &Recording, window: &Window) -> HashMap<Service, f64> {
    let mut found: HashMap<Service, f64> = HashMap::new();
    let Some(frame) = recording.load("turn", &Select::default()) else { return found };
    let by = ["comm", "role", "protocol", "port", "peer"];
    let grid = metric(frame.table, "turns").and_then(|metric| Grid::new(&frame, &metric, &by, None).ok());
    let Some(grid) = grid else { return found };
    let cut = grid.cut(window);
    for series in &grid.series {
        let [comm, role, protocol, port, peer] = series.labels.as_slice() else { continue };
        let (comm, protocol) = (comm.clone(), protocol.clone());
        let path = if protocol == "unix" { peer.clone() } else { String::new() };
        let service = Service { server: role == "server", comm, protocol, port: port.parse().unwrap_or(0), path };
        if let Some((turns, _)) = series.sums_in(&cut).filter(|(turns, _)| *turns > 0.0) {
            *found.entry(service).or_default() += turns;
        }
    }
    found
}

impl Latency {
    /// Reads it; `None` where the recording has no such table, or nothing of it lies in the window.
    pub fn load(recording: &Recording, window: &Window) -> Option<Self> {
        let length = window.to.saturating_sub(window.from);
        if length <= 0 {
            return None;
        }
        let interval = recording.manifest().interval.max(0);
        let stretch = interval.max(length / STRETCHES).clamp(1, length);
        let stretches = usize::try_from((length - 1) / stretch + 1).ok()?;
        let (mut ranges, mut known) = (Vec::new(), HashMap::new());
        // By the cells of its labels.
        let mut groups: HashMap<Labels, usize> = HashMap::new();
        let mut adding: Vec<(Labels, Adding)> = Vec::new();
        let mut symbols = Symbols::default();
        // The stretch that a row stands for begins before its read.
        let between = Some((window.from, window.to.saturating_add(interval)));
        recording.scan("turn_time", &COLUMNS, between, &mut symbols, |batch| {
            let mut last: Option<(Labels, usize)> = None;
            let mut tick: Option<(i64, u32, f64)> = None;
            for row in 0..batch.len() {
                let count = batch.cell(8, row);
                let t = batch.t(row);
                if count == NULL || count <= 0 || t == NULL {
                    continue;
                }
                let (_, stretch, part) = *match tick {
                    Some((of, ..)) if of == t => tick.get_or_insert((t, 0, 0.0)),
                    _ => {
                        let from = stretch_from(batch.before(row), t, interval);
                        let middle = from.max(window.from).midpoint(t.min(window.to)) - window.from;
                        let at = (middle / stretch).clamp(0, stretches as i64 - 1) as u32;
                        tick.insert((t, at, window.part(from, t)))
                    }
                };
                let labels = [0, 1, 2, 3, 4, 5].map(|column| batch.cell(column, row));
                let group = match last {
                    Some((of, group)) if of == labels => group,
                    _ => *groups.entry(labels).or_insert_with(|| {
                        adding.push((labels, Adding::default()));
                        adding.len() - 1
                    }),
                };
                last = Some((labels, group));
                if part > 0.0
                    && let Some(range) = place(&mut ranges, &mut known, (batch.cell(6, row), batch.cell(7, row)))
                    && let Some((_, adding)) = adding.get_mut(group)
                {
                    adding.add(stretch, range, count as f64 * part);
                }
            }
        });
        let mut times: HashMap<(Service, Kind), Counts> = HashMap::new();
        for (labels, mut adding) in adding {
            adding.flush();
            let text = |at: usize| labels.get(at).and_then(|cell| symbols.text(*cell)).unwrap_or_default().to_owned();
            let Some(kind) = Kind::of(&text(5)) else { continue };
            let (protocol, port) = (text(2), labels.get(3).copied().filter(|port| *port != NULL).unwrap_or(0));
            let path = if protocol == "unix" { text(4) } else { String::new() };
            let service = Service { server: text(1) == "server", comm: text(0), protocol, port, path };
            times.entry((service, kind)).or_default().append(&mut adding.done);
        }
        let of = |((service, kind), counts): ((Service, Kind), Counts)| {
            let count = counts.iter().map(|c| c.2).sum();
            Times { service, kind, count, counts }
        };
        let mut times: Vec<Times> = times.into_iter().map(of).filter(|times| times.count > 0.0).collect();
        let counted = counted(recording, window);
        for one in times.iter_mut().filter(|times| times.kind == Kind::Service) {
            one.count = counted.get(&one.service).copied().unwrap_or(one.count);
        }
        times.sort_by(|a, b| b.count.total_cmp(&a.count).then_with(|| (&a.service, a.kind).cmp(&(&b.service, b.kind))));
        let (seconds, stretch) = (window.seconds(), stretch as f64 / 1e9);
        (!times.is_empty()).then_some(Latency { seconds, times, stretches, stretch, ranges })
    }

    /// Those of one kind: of servers, or of clients. Most counted first.
    pub fn of(&self, server: bool, kind: Kind) -> impl Iterator<Item = &Times> {
        self.times.iter().filter(move |times| times.service.server == server && times.kind == kind)
    }

    /// Those of one kind of a service.
    pub fn find(&self, service: &Service, kind: Kind) -> Option<&Times> {
        self.times.iter().find(|times| times.service == *service && times.kind == kind)
    }

    /// Those of one kind of all servers together, or of all clients: their service has neither name nor address.
    pub fn together(&self, server: bool, kind: Kind) -> Option<Times> {
        let counts: Counts = self.of(server, kind).flat_map(|times| times.counts.iter().copied()).collect();
        let service = Service { server, ..Service::default() };
        let count = counts.iter().map(|c| c.2).sum();
        (!counts.is_empty()).then_some(Times { service, kind, count, counts })
    }

    /// How many stretches the window is cut into.
    pub fn stretches(&self) -> usize {
        self.stretches
    }

    /// How long a stretch is, seconds; the last one may be shorter.
    pub fn stretch(&self) -> f64 {
        self.stretch
    }

    /// The value below which a share `q` of the times lie, seconds.
    pub fn quantile(&self, times: &Times, q: f64) -> Option<f64> {
        self.quantile_in(times, q, 0.0, |_| true)
    }

    /// The same of the stretches that are `wanted`, told by their number; `None` where these have fewer than `fewest` times.
    pub fn quantile_in(&self, times: &Times, q: f64, fewest: f64, wanted: impl Fn(usize) -> bool) -> Option<f64> {
        let (mut sums, mut all) = (vec![0.0; self.ranges.len()], 0.0);
        for &(_, range, count) in times.counts.iter().filter(|of| wanted(of.0 as usize)) {
            if let Some(sum) = sums.get_mut(range as usize) {
                *sum += count;
                all += count;
            }
        }
        if all < fewest {
            return None;
        }
        let mut counted: Vec<Counted> = self
            .ranges
            .iter()
            .zip(sums)
            .filter(|(_, sum)| *sum > 0.0)
            .map(|(&(low, high), sum)| (low as f64 / 1e9, high as f64 / 1e9, sum))
            .collect();
        counted.sort_by(|a, b| a.0.total_cmp(&b.0));
        quantile(&counted, q)
    }
}

/// The times of one side of a comparison in seconds: those of one run, or of repeats together.
pub fn histogram(runs: &[(&Latency, &Times)]) -> Histogram {
    let of_run = |(latency, times): &(&Latency, &Times)| -> Vec<(i64, i64)> {
        let used: BTreeSet<u32> = times.counts.iter().map(|c| c.1).collect();
        used.into_iter().filter_map(|range| latency.ranges.get(range as usize).copied()).collect()
    };
    let all: BTreeSet<(i64, i64)> = runs.iter().flat_map(of_run).collect();
    let places: HashMap<(i64, i64), usize> = all.iter().enumerate().map(|(at, range)| (*range, at)).collect();
    let mut found = Histogram::new(all.iter().map(|&(low, high)| (low as f64 / 1e9, high as f64 / 1e9)).collect());
    for (latency, times) in runs {
        let place = |range: u32| places.get(latency.ranges.get(range as usize)?).copied();
        let counts = times.counts.iter().filter_map(|&(stretch, range, n)| Some((stretch as usize, place(range)?, n)));
        let block = (BLOCK / latency.stretch).ceil().max((latency.stretches as f64).cbrt());
        found.add(latency.stretches, block as usize, counts);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::bootstrap::Bootstrap;
    use crate::testing::{TURN_TIME, write};
    use model::Manifest;

    fn recording(text: &str) -> Recording {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.twin");
        let manifest = Manifest { interval: 1_000_000_000, ..Manifest::default() };
        write(&path, &manifest, &[(&TURN_TIME, text)]);
        Recording::open(&path).unwrap()
    }

    fn window(from: i64, to: i64) -> Window {
        Window { from: from * 1_000_000_000, to: to * 1_000_000_000, why: String::new() }
    }

    #[test]
    fn requests_are_counted_once() {
        use crate::testing::TURN;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.twin");
        let head = "t pid comm role protocol port peer turns sends sent service_time queued queue_time opened used";
        // Two workers; times were taken of some of their requests.
        let turns = format!(
            "{head}\n0 1 web server tcp 80 - 0 0 0 - - - - 0\n0 2 web server tcp 80 - 0 0 0 - - - - 0\n\
             1 1 web server tcp 80 - 200 0 0 - - - - 0\n1 2 web server tcp 80 - 146 0 0 - - - - 0\n"
        );
        let times = "t comm role protocol port peer what low high count\n1 web server tcp 80 - service 1000 2000 261\n\
                     1 web server tcp 80 - queue 1000 2000 261";
        let manifest = Manifest { interval: 1_000_000_000, ..Manifest::default() };
        write(&path, &manifest, &[(&TURN, &turns), (&TURN_TIME, times)]);
        let recording = Recording::open(&path).unwrap();
        let latency = Latency::load(&recording, &window(0, 1)).unwrap();
        let service = latency.of(true, Kind::Service).next().unwrap();
        let work = crate::work::of(&recording, &model::WorkChoice::Auto).unwrap();
        assert_eq!((service.count, work.total), (346.0, 346.0));
        assert_eq!(latency.of(true, Kind::Queue).next().unwrap().count, 261.0);
        assert!(latency.quantile(service, 0.5).is_some());
    }

    const TEXT: &str = "t comm role protocol port peer what low high count
1 web server tcp 80 - service 1000000 2000000 6
1 web server tcp 80 - service 4000000 8000000 4
1 web server tcp 80 - queue 1000 2000 10
1 web client tcp 5432 10.0.0.1 service 1000 2000 3
1 web client tcp 5432 10.0.0.2 service 1000 2000 4
2 web server tcp 80 - service 1000000 2000000 10
2 db server unix 0 /run/db.sock service 1000 2000 1
seal
3 web server tcp 80 - service 1000000 2000000 1000";

    #[test]
    fn services_are_told_apart_and_cut_to_the_window() {
        let r = recording(TEXT);
        let l = Latency::load(&r, &window(0, 2)).unwrap();
        let all: Vec<String> = l
            .times
            .iter()
            .map(|t| {
                format!("{} {} {} {} {}", t.service.comm, t.service.server, t.service.address(), t.kind.name(), t.count)
            })
            .collect();
        assert_eq!(
            all,
            [
                "web true port 80 service 20",
                "web true port 80 queue 10",
                "web false port 5432 service 7",
                "db true socket /run/db.sock service 1"
            ]
        );
        let web = l.of(true, Kind::Service).next().unwrap();
        assert_eq!(l.quantile(web, 0.8), Some(0.002));
        assert_eq!(l.quantile(web, 0.9), Some(0.006));
        assert_eq!(l.find(&web.service, Kind::Answer), None);
        let both = l.together(true, Kind::Service).unwrap();
        assert_eq!((both.count, l.quantile(&both, 1.0 / 21.0)), (21.0, Some(2e-6)));
        // 18.9 of 21: 1.9 of the four that lie between 4 and 8 ms.
        assert!((l.quantile(&both, 0.9).unwrap() - 0.0059).abs() < 1e-9);
        assert_eq!(l.quantile_in(web, 0.9, 11.0, |stretch| stretch == 0), None);
        assert!(l.quantile_in(web, 0.9, 10.0, |stretch| stretch == 1).unwrap() < 0.002);
        assert_eq!(l.together(false, Kind::Queue), None);
        let h = histogram(&[(&l, web)]);
        assert_eq!((h.count(), h.quantile(0.9)), (20.0, Some(0.006)));
        // Half of what was read at 1 s.
        let half = Latency::load(&r, &Window { from: 500_000_000, ..window(0, 1) }).unwrap();
        assert_eq!(half.of(true, Kind::Service).next().unwrap().count, 5.0);
        // Of two runs together.
        let end = Latency::load(&r, &window(2, 3)).unwrap();
        let both = histogram(&[(&l, web), (&end, &end.times[0])]);
        assert_eq!((both.count(), both.intervals(&[0.5], &Bootstrap::default())), (1020.0, vec![None]));
    }

    #[test]
    fn what_was_not_recorded_is_not_there() {
        assert_eq!(Latency::load(&recording(TEXT), &window(10, 20)), None);
        assert_eq!(Latency::load(&recording(TEXT), &window(2, 2)), None);
        let run = crate::testing::run("none", &[]);
        assert_eq!(Latency::load(&run.recording, &window(0, 1)), None);
    }

    #[test]
    fn foreign_numbers_are_left_out() {
        let text = "t comm role protocol port peer what low high count
1 a server tcp 1 - service -5 10 1
1 a server tcp 1 - service 10 5 1
1 a server tcp 1 - service - 5 1
1 a server tcp 1 - service 5 10 -3
1 a server tcp 1 - service 5 10 -
1 a server tcp 1 - other 5 10 7
1 - - - - - service 5 9223372036854775807 9223372036854775807
1 a server tcp 1 - service 0 0 2";
        let l = Latency::load(&recording(text), &window(0, 1)).unwrap();
        assert_eq!(l.times.len(), 2, "{l:?}");
        let a = l.of(true, Kind::Service).next().unwrap();
        assert_eq!((a.count, l.quantile(a, 0.5)), (2.0, Some(0.0)));
        let h = histogram(&[(&l, &l.times[0])]);
        assert!(h.compare(&h, &[0.5], &crate::stats::Options::default())[0].ratio.is_none());
    }
}

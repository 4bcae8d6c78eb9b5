//! Work that is known without the workload's help: requests that a server answered, or that a client made, as the source `turns` counted them; or reads
//! of the file that the work comes from, as the source `reads` counted them.
//!
//! Which requests are the work: those of the server port that others ask most. Questions of a process that serves on another port itself are not asked by others:
//! a service that asks its database fifty times for each request does one operation, not fifty.
//!
//! Where what a server sends is many small writes to each question, it sends messages when it has some (WebSocket, server-sent events, streams of gRPC): these
//! are its work.
//!
//! Reads are the work where each brings an item. Where nearly all fill a large buffer, how many there are says how large the buffer is: the bytes are the work then.

use crate::latency::Service;
use crate::series::Grid;
use crate::{human, metric};
use model::{NULL, Work, WorkChoice as Choice};
use std::collections::{HashMap, HashSet};
use store::{Recording, Select};

/// Fewer requests than this are not what a workload is there for.
const FEWEST: f64 = 100.0;
/// The share of reads that fill a buffer from which on the bytes are what is comparable.
const FULL: f64 = 0.9;
const MEBIBYTE: f64 = 1024.0 * 1024.0;
/// So many writes to a question, of so few bytes on average, make a stream. Large answers are sent in many writes too, but of whole buffers: 8 KiB and more.
const WRITES_OF_STREAM: f64 = 8.0;
const BYTES_OF_STREAM: f64 = 4096.0;
/// The units of work.
const BYTES: &str = "MiB";
const READS: &str = "reads";
const REQUESTS: &str = "requests";
const MESSAGES: &str = "messages";
/// Choices that are listed where one was asked for that is not there.
const OFFERED: usize = 8;
/// Points of the progress that are kept at most.
const MOST_POINTS: usize = 2_000;

/// When a counter was read, seconds, and how much it had grown since the read before.
type Steps = Vec<(f64, f64)>;

/// Protocol and port; of Unix sockets the path.
type Place = (String, String, String);

/// What one process did on one port, or with one other side.
struct Served {
    pid: String,
    comm: String,
    is_server: bool,
    place: Place,
    port: u16,
    turns: Steps,
    sends: Steps,
    sent: Steps,
}

/// What was counted of a service.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    /// Questions that were answered.
    pub turns: f64,
    /// Writes.
    pub sends: f64,
    /// Bytes of these.
    pub sent: f64,
}

impl Traffic {
    /// Whether messages are sent when there are some, and not as answers: what counts is how many are sent.
    pub fn is_stream(self) -> bool {
        self.sends > WRITES_OF_STREAM * self.turns && self.sent < BYTES_OF_STREAM * self.sends
    }

    /// How many operations that is.
    fn operations(self) -> f64 {
        if self.is_stream() { self.sends } else { self.turns }
    }
}

fn total(steps: &Steps) -> f64 {
    steps.iter().map(|(_, done)| done).sum()
}

/// What these did together.
fn traffic<'a>(of: impl IntoIterator<Item = &'a Served>) -> Traffic {
    of.into_iter().fold(Traffic::default(), |sum, served| Traffic {
        turns: sum.turns + total(&served.turns),
        sends: sum.sends + total(&served.sends),
        sent: sum.sent + total(&served.sent),
    })
}

/// What tells rows of table `turn` apart.
const BY: &[&str] = &["pid", "comm", "role", "protocol", "port", "peer"];

fn served(recording: &Recording) -> Vec<Served> {
    let Some(frame) = recording.load("turn", &Select::default()) else { return Vec::new() };
    let grid = |column: &str| Grid::new(&frame, &metric(frame.table, column)?, BY, None).ok();
    let steps = |grid: &Grid, labels: &[String]| -> Steps {
        let Some(series) = grid.series.iter().find(|series| series.labels == labels) else { return Vec::new() };
        grid.all().filter_map(|i| Some((*grid.to.get(i)?, series.num(i)))).filter(|(_, done)| *done > 0.0).collect()
    };
    let Some(turns) = grid("turns") else { return Vec::new() };
    let [sends, sent] = ["sends", "sent"].map(grid);
    let of = |labels: &Vec<String>| {
        let [pid, comm, role, protocol, port, peer] = <[String; 6]>::try_from(labels.clone()).ok()?;
        let is_server = role == "server";
        let path = if is_server || protocol == "unix" { peer } else { String::new() };
        let number = port.parse().unwrap_or(0);
        let turns = steps(&turns, labels);
        let [sends, sent] = [&sends, &sent].map(|grid| grid.as_ref().map_or(Vec::new(), |grid| steps(grid, labels)));
        Some(Served { pid, comm, is_server, place: (protocol, port, path), port: number, turns, sends, sent })
    };
    turns.series.iter().filter_map(|series| of(&series.labels)).collect()
}

/// What counts as work in a recording: what it was made with, unless something else is chosen.
fn chosen(recording: &Recording, choice: &Choice) -> Choice {
    match choice {
        Choice::Auto => recording.manifest().work_by.parse().unwrap_or_default(),
        _ => choice.clone(),
    }
}

/// The work of a recording by `choice`; `None` where that finds none. What the workload reported stands first unless something else is chosen.
pub fn of(recording: &Recording, choice: &Choice) -> Option<Work> {
    let manifest = recording.manifest();
    let choice = &chosen(recording, choice);
    match choice {
        Choice::None => return None,
        Choice::Auto if manifest.work.as_ref().is_some_and(|work| work.total > 0.0) => return manifest.work.clone(),
        Choice::Reads(path) => return reads(recording, path),
        _ => {}
    }
    of_requests(recording, choice, true)
}

/// The requests that `choice` means; or, where these are streams and it `may_be_messages`, what is sent.
fn of_requests(recording: &Recording, choice: &Choice, may_be_messages: bool) -> Option<Work> {
    let all = served(recording);
    let (those, place): (Vec<&Served>, String) = match choice {
        Choice::Port(port) => {
            (all.iter().filter(|t| t.is_server && t.port == *port).collect(), format!("on port {port}"))
        }
        Choice::Client(port) => {
            let made = all.iter().filter(|t| !t.is_server && port.is_none_or(|port| t.port == port)).collect();
            (made, port.map_or(String::new(), |port| format!("to port {port}")))
        }
        _ => {
            let place = busiest(&all)?;
            let name = match place {
                (protocol, _, path) if protocol == "unix" => format!("on the socket {path}"),
                (_, port, _) => format!("on port {port}"),
            };
            (all.iter().filter(|t| t.is_server && t.place == *place).collect(), name)
        }
    };
    let is_client = matches!(choice, Choice::Client(_));
    let (unit, done) = match traffic(those.iter().copied()).is_stream() && may_be_messages {
        true => (MESSAGES, "sent"),
        false => (REQUESTS, if is_client { "made" } else { "answered" }),
    };
    let steps = those.iter().flat_map(|served| if unit == MESSAGES { &served.sends } else { &served.turns });
    let how = format!("{done} {place}").trim_end().to_owned();
    sum(unit, steps.copied().collect(), how).filter(|work| *choice != Choice::Auto || work.total >= FEWEST)
}

/// Where others ask most, or most is sent to them.
fn busiest(all: &[Served]) -> Option<&Place> {
    let servers: HashSet<&str> = all.iter().filter(|t| t.is_server).map(|t| t.pid.as_str()).collect();
    let mut by_place: HashMap<&Place, Vec<&Served>> = HashMap::new();
    for served in all.iter().filter(|t| t.is_server) {
        by_place.entry(&served.place).or_default().push(served);
    }
    let mut asked: HashMap<&Place, f64> =
        by_place.into_iter().map(|(place, of)| (place, traffic(of).operations())).collect();
    for served in all.iter().filter(|t| !t.is_server && servers.contains(t.pid.as_str())) {
        if let Some(asked) = asked.get_mut(&served.place) {
            *asked -= total(&served.turns);
        }
    }
    asked.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(a.0))).map(|(place, _)| place)
}

/// Whether requests were counted in a part of the time and scaled up: their number is an estimate then.
pub fn is_estimated(recording: &Recording) -> bool {
    let select = Select { columns: Some(&["sampled_1_in"]), ..Select::default() };
    let frame = recording.load("turns_collector", &select);
    frame.as_ref().and_then(|frame| frame.column("sampled_1_in")).is_some_and(|of| of.iter().any(|one_in| *one_in > 1))
}

/// A number of requests of a recording, or of them a second, for people: "≈ 62.0 k/s" where it is an estimate.
pub fn requests(recording: &Recording, number: f64, unit: &str) -> String {
    let about = if is_estimated(recording) { "≈ " } else { "" };
    format!("{about}{}", human(number, unit))
}

/// What `--work` may name in a recording, with how much there is of it; most first.
pub fn offered(recording: &Recording) -> Vec<String> {
    let mut found: HashMap<Choice, f64> = HashMap::new();
    for served in served(recording).iter().filter(|served| served.port > 0) {
        let port = served.port;
        let choice = if served.is_server { Choice::Port(port) } else { Choice::Client(Some(port)) };
        *found.entry(choice).or_default() += total(&served.turns);
    }
    let mut found: Vec<(Choice, f64)> = found.into_iter().filter(|(_, requests)| *requests > 0.0).collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.to_string().cmp(&b.0.to_string())));
    found.into_iter().take(OFFERED).map(|(choice, n)| format!("{choice} ({} requests)", human(n, ""))).collect()
}

/// Over how many connections the requests of each server came, those included that were there before the recording.
pub fn connections(recording: &Recording) -> HashMap<Service, f64> {
    let mut found: HashMap<Service, f64> = HashMap::new();
    let Some(frame) = recording.load("turn", &Select::default()) else { return found };
    let (Some(used), labels) = (frame.column("used"), frame.table.stored()) else { return found };
    for entity in &frame.entities {
        let cell = |name: &str| entity.labels.get(labels.iter().position(|c| c.name == name)?).copied();
        let text = |name: &str| cell(name).and_then(|cell| frame.symbols.text(cell)).unwrap_or_default().to_owned();
        // It counts up from the start of the recording.
        let most = used.get(entity.rows.clone()).unwrap_or_default().iter().filter(|n| **n != NULL).max();
        if let Some(most) = most.filter(|_| text("role") == "server") {
            let (comm, protocol, port) =
                (text("comm"), text("protocol"), cell("port").filter(|n| *n != NULL).unwrap_or(0));
            let path = if protocol == "unix" { text("peer") } else { String::new() };
            *found.entry(Service { server: true, comm, protocol, port, path }).or_default() += *most as f64;
        }
    }
    found
}

/// Servers that send streams, as who they are and what they sent; most messages first.
pub fn streams(recording: &Recording) -> Vec<(Service, Traffic)> {
    let all = served(recording);
    let mut by_service: HashMap<(&str, &Place), Vec<&Served>> = HashMap::new();
    for served in all.iter().filter(|t| t.is_server) {
        by_service.entry((&served.comm, &served.place)).or_default().push(served);
    }
    let service = |(comm, place): (&str, &Place)| {
        let (protocol, port, path) = place.clone();
        Service { server: true, comm: comm.to_owned(), protocol, port: port.parse().unwrap_or(0), path }
    };
    let all = by_service.into_iter().map(|(key, of)| (service(key), traffic(of)));
    let mut streams: Vec<_> = all.filter(|(_, traffic)| traffic.is_stream()).collect();
    streams.sort_by(|a, b| b.1.sends.total_cmp(&a.1.sends).then_with(|| a.0.cmp(&b.0)));
    streams
}

/// Reads from `path`, or the bytes of them.
fn reads(recording: &Recording, path: &str) -> Option<Work> {
    let [reads, full] = ["reads", "full"].map(|metric| read_from(recording, path, metric));
    let [many, of_them] = [&reads, &full].map(total);
    if of_them < FULL * many { sum(READS, reads, format!("read from {path}")) } else { bytes(recording, path) }
}

fn bytes(recording: &Recording, path: &str) -> Option<Work> {
    let mut steps = read_from(recording, path, "bytes");
    steps.iter_mut().for_each(|(_, done)| *done /= MEBIBYTE);
    sum(BYTES, steps, format!("read from {path}"))
}

/// How far a counter of the table of reads went between each two reads of it, for one file.
fn read_from(recording: &Recording, path: &str, counter: &str) -> Steps {
    let Some(frame) = recording.load("read_from", &Select::default()) else { return Vec::new() };
    let Some(counter) = metric(frame.table, counter) else { return Vec::new() };
    let Ok(grid) = Grid::new(&frame, &counter, &["pid", "path"], None) else { return Vec::new() };
    let of_file = grid.series.iter().filter(|series| series.labels.last().is_some_and(|label| label == path));
    let steps = of_file.flat_map(|series| grid.all().filter_map(|i| Some((*grid.to.get(i)?, series.num(i)))));
    steps.filter(|(_, done)| *done > 0.0).collect()
}

/// The work of recordings that are looked at together, by `choice`: one unit in all of them, where that can be had.
pub fn of_all(recordings: &[&Recording], choice: &Choice) -> Vec<Option<Work>> {
    let mut works: Vec<Option<Work>> = recordings.iter().map(|recording| of(recording, choice)).collect();
    if let Some(found) = of_fixed_length(recordings, &works, choice) {
        works = found.into_iter().map(Some).collect();
    }
    of_one_unit(recordings, &mut works, choice);
    works
}

/// Different units cannot be compared. Where the work of some recordings is reads and that of others bytes, bytes are it in all; where that of some is messages and
/// that of others requests, requests are it: an answer in many small writes is no stream.
fn of_one_unit(recordings: &[&Recording], works: &mut [Option<Work>], choice: &Choice) {
    let any = |wanted: &str| works.iter().flatten().any(|work| work.unit == wanted);
    let (bytes_are_it, requests_are_it) = (any(BYTES), any(REQUESTS));
    for (recording, work) in recordings.iter().zip(works) {
        match (work.as_ref().map(|work| work.unit.as_str()), chosen(recording, choice)) {
            (Some(READS), Choice::Reads(path)) if bytes_are_it => *work = bytes(recording, &path),
            (Some(MESSAGES), choice) if requests_are_it => *work = of_requests(recording, &choice, false),
            _ => {}
        }
    }
}

/// Runs of a fixed length, such as those of benchmarks, take as long as each other whatever they do: their elapsed times differ by no
/// more than this, and what they did by more.
const SAME_LENGTH: f64 = 0.03;

/// What is said of work that was taken for this reason.
const FIXED_LENGTH: &str = ", in a run of a fixed length";

/// Whether requests were taken for the work because the runs are of a fixed length.
pub fn is_of_fixed_length(work: &Work) -> bool {
    work.how.ends_with(FIXED_LENGTH)
}

/// The requests that commands answered, or made, where these took as long and differ in them; however few there are. What a
/// workload reported, and what somebody chose, stands first.
fn of_fixed_length(recordings: &[&Recording], works: &[Option<Work>], choice: &Choice) -> Option<Vec<Work>> {
    let is_known = works.iter().all(Option::is_some) || works.iter().flatten().any(|work| work.how.is_empty());
    if recordings.len() < 2 || is_known || recordings.iter().any(|recording| chosen(recording, choice) != Choice::Auto)
    {
        return None;
    }
    let differ = |values: &[f64]| {
        let (least, most) = values.iter().fold((f64::INFINITY, 0.0f64), |(l, m), v| (l.min(*v), m.max(*v)));
        most > (1.0 + SAME_LENGTH) * least
    };
    let wall = |recording: &&Recording| recording.manifest().wall.filter(|wall| *wall > 0).map(|wall| wall as f64);
    let walls: Vec<f64> = recordings.iter().map(wall).collect::<Option<_>>()?;
    if differ(&walls) {
        return None;
    }
    let answered = |recording: &&Recording| {
        let port = busiest(&served(recording)).filter(|(protocol, ..)| protocol != "unix")?.1.parse().ok()?;
        of_requests(recording, &Choice::Port(port), false)
    };
    let made = |recording: &&Recording| of_requests(recording, &Choice::Client(None), false);
    let all = |of: &dyn Fn(&&Recording) -> Option<Work>| recordings.iter().map(of).collect::<Option<Vec<Work>>>();
    let mut found = all(&answered).or_else(|| all(&made))?;
    let totals: Vec<f64> = found.iter().map(|work| work.total).collect();
    if !differ(&totals) {
        return None;
    }
    found.iter_mut().for_each(|work| work.how.push_str(FIXED_LENGTH));
    Some(found)
}

/// The work that adds up from `steps`: when they were read, seconds, and how many units that was more.
fn sum(unit: &str, mut steps: Steps, how: String) -> Option<Work> {
    steps.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut progress, mut total): (Steps, f64) = (Vec::new(), 0.0);
    for (at, done) in steps {
        total += done;
        match progress.last_mut() {
            Some(last) if last.0 == at => last.1 = total,
            _ => progress.push((at, total)),
        }
    }
    while progress.len() > MOST_POINTS {
        let last = progress.last().copied();
        let mut at = 0;
        progress.retain(|_| {
            at += 1;
            at % 2 == 1
        });
        if progress.last().copied() != last {
            progress.extend(last);
        }
    }
    (total > 0.0).then(|| Work { unit: unit.into(), total, progress, how })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TURN, write};
    use model::{Column, Manifest, Table, Unit};

    static READ_FROM: Table = Table::wide(
        "read_from",
        "what was read",
        &[
            Column::number("pid", "process"),
            Column::label("comm", "name"),
            Column::label("path", "file"),
            Column::counter("reads", Unit::None, "reads"),
            Column::counter("bytes", Unit::Bytes, "bytes"),
            Column::counter("full", Unit::None, "reads that filled a buffer"),
        ],
    )
    .from_zero();

    /// Of servers on ports 80 and 81: `pid port turns sends sent`.
    fn serving(rows: &[[u64; 5]]) -> Recording {
        serving_in(tempfile::tempdir().unwrap().path(), rows)
    }

    fn serving_in(dir: &std::path::Path, rows: &[[u64; 5]]) -> Recording {
        let line = |t: u64, of: &[u64; 5]| {
            let [pid, port, turns, sends, sent] = of.map(|n| if t == 1 && n > 100 { 0 } else { n });
            format!("{t} {pid} a server tcp {port} - {turns} {sends} {sent} - - - - {pid}\n")
        };
        let rows: String = [1, 2].iter().flat_map(|t| rows.iter().map(|of| line(*t, of))).collect();
        let path = dir.join("run.twin");
        let rows = format!(
            "t pid comm role protocol port peer turns sends sent service_time queued queue_time opened used\n{rows}"
        );
        write(&path, &Manifest::default(), &[(&TURN, &rows)]);
        Recording::open(&path).unwrap()
    }

    #[test]
    fn what_a_stream_sends_is_its_work() {
        let of = |rows: &[[u64; 5]]| of(&serving(rows), &Choice::Auto).map(|work| (work.unit, work.total, work.how));
        let messages = |n| Some(("messages".to_owned(), n, "sent on port 80".to_owned()));
        assert_eq!(of(&[[1, 80, 20, 5000, 500_000], [2, 81, 300, 300, 3000]]), messages(5000.0));
        let requests = |n, port: u32| Some(("requests".to_owned(), n, format!("answered on port {port}")));
        let recording = serving(&[[1, 80, 20, 5000, 500_000], [2, 81, 300, 300, 3000]]);
        let streams = streams(&recording);
        assert_eq!(streams.len(), 1);
        assert_eq!((streams[0].0.address(), streams[0].1.sends), ("port 80".to_owned(), 5000.0));
        let connections = connections(&serving(&[[1, 80, 200, 800, 80_000], [2, 80, 300, 300, 3000]]));
        assert_eq!(
            connections.into_iter().map(|(s, n)| (s.address(), n)).collect::<Vec<_>>(),
            [("port 80".into(), 3.0)]
        );
        assert_eq!(of(&[[1, 80, 200, 800, 80_000]]), requests(200.0, 80), "an answer in four writes");
        assert_eq!(of(&[[1, 80, 200, 5000, 81_920_000]]), requests(200.0, 80), "an answer of many buffers");
        assert_eq!(of(&[[1, 80, 200, 200, 2000], [2, 81, 300, 300, 3000]]), requests(300.0, 81));
    }

    #[test]
    fn what_is_not_there_is_no_work() {
        let dir = tempfile::tempdir().unwrap();
        let recording = serving_in(dir.path(), &[[1, 80, 120, 5000, 500_000], [2, 81, 300, 300, 3000]]);
        assert_eq!(offered(&recording), ["port:81 (300 requests)", "port:80 (120 requests)"]);
        let why = crate::runs::open_by(&[recording.path()], &Choice::Port(1)).unwrap_err().to_string();
        assert!(
            why.ends_with("no work by --work port:1; there is: port:81 (300 requests), port:80 (120 requests)"),
            "{why}"
        );
    }

    #[test]
    fn requests_are_compared_with_requests() {
        let both = [5000, 300].map(|sends| serving(&[[1, 80, 200, sends, 500_000]]));
        let works = of_all(&both.iter().collect::<Vec<_>>(), &Choice::Auto);
        assert_eq!(
            works.into_iter().flatten().map(|work| (work.unit, work.total)).collect::<Vec<_>>(),
            [("requests".to_owned(), 200.0), ("requests".to_owned(), 200.0)]
        );
    }

    /// A client that ran for `wall` seconds and made so many requests; `reported` is what it said of its work itself.
    fn asking(wall: f64, turns: u64, reported: f64) -> Recording {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.twin");
        let work = Work { unit: "jobs".into(), total: reported, progress: Vec::new(), how: String::new() };
        let work = Some(work).filter(|work| work.total > 0.0);
        let manifest = Manifest { wall: Some((wall * 1e9) as i64), work, ..Manifest::default() };
        let head = "t pid comm role protocol port peer turns sends sent service_time queued queue_time opened used";
        let line = |t: u64, n: u64| format!("{t} 1 pgbench client tcp 5432 127.0.0.1 {n} {n} {n} - - - - 1\n");
        write(&path, &manifest, &[(&TURN, &format!("{head}\n{}{}", line(1, 0), line(2, turns)))]);
        Recording::open(&path).unwrap()
    }

    #[test]
    fn runs_of_a_fixed_length_did_the_requests_that_they_made() {
        let works = |of: &[Recording], choice: Choice| of_all(&of.iter().collect::<Vec<_>>(), &choice);
        let totals = |of: &[Recording]| {
            let works = works(of, Choice::Auto);
            assert!(works.iter().flatten().all(is_of_fixed_length));
            works.into_iter().map(|work| work.map(|work| work.total)).collect::<Vec<_>>()
        };
        let run = |wall, turns| asking(wall, turns, 0.0);
        assert_eq!(totals(&[run(6.06, 144_000), run(6.09, 297_000)]), [Some(144_000.0), Some(297_000.0)]);
        // However few there are.
        assert_eq!(totals(&[run(8.0, 56), run(8.1, 96), run(8.05, 95)]), [Some(56.0), Some(96.0), Some(95.0)]);
        // One job each: it took as long, or longer, as it may.
        assert_eq!(totals(&[run(6.0, 1000), run(6.1, 1020)]), [None, None]);
        assert_eq!(totals(&[run(6.0, 1000), run(6.3, 2000)]), [None, None]);
        assert_eq!(totals(&[run(6.0, 1000)]), [None], "one run alone has nothing to be as long as");
        // What the workload said itself, and what was chosen.
        let reported = works(&[asking(6.0, 1000, 5.0), asking(6.0, 2000, 5.0)], Choice::Auto);
        assert_eq!(reported.into_iter().flatten().map(|work| work.unit).collect::<Vec<_>>(), ["jobs", "jobs"]);
        assert_eq!(works(&[run(6.0, 1000), run(6.0, 2000)], Choice::None), [None, None]);
    }

    fn recording(rows: &str) -> Recording {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.twin");
        let manifest = Manifest { work_by: "reads:q".into(), ..Manifest::default() };
        let rows = format!("t pid comm path reads bytes full\n{rows}");
        write(&path, &manifest, &[(&READ_FROM, &rows)]);
        Recording::open(&path).unwrap()
    }

    /// 30 reads by two processes, of which `full` filled a buffer; and some of another file.
    fn reads_of(full: u32) -> Recording {
        recording(&format!("1 1 a q 0 0 0\n2 1 a q 20 2097152 {full}\n2 2 a q 10 1048576 0\n2 3 a other 70 70 0"))
    }

    #[test]
    fn reads_are_the_work_where_they_bring_items() {
        let work = of(&reads_of(3), &Choice::Auto).unwrap();
        assert_eq!((work.unit.as_str(), work.total, work.how.as_str()), ("reads", 30.0, "read from q"));
        assert_eq!(work.progress, [(2.0, 30.0)]);
        assert!(of(&reads_of(3), &Choice::Reads("nothing".into())).is_none());
        let other = of(&reads_of(3), &Choice::Reads("other".into())).unwrap();
        assert_eq!((other.total, other.how.as_str()), (70.0, "read from other"));
        assert!(of(&reads_of(3), &Choice::None).is_none());
    }

    #[test]
    fn bytes_are_the_work_where_reads_fill_buffers() {
        let work = of(&reads_of(27), &Choice::Auto).unwrap();
        assert_eq!((work.unit.as_str(), work.total), ("MiB", 3.0));
        assert_eq!(of(&reads_of(26), &Choice::Auto).unwrap().unit, "reads", "less than nine in ten");
    }

    #[test]
    fn all_recordings_count_the_same() {
        let counted = |full: [u32; 2]| {
            let both = full.map(reads_of);
            let works = of_all(&both.iter().collect::<Vec<_>>(), &Choice::Auto);
            works.into_iter().flatten().map(|work| (work.unit, work.total)).collect::<Vec<_>>()
        };
        assert_eq!(counted([3, 30]), [("MiB".to_owned(), 3.0), ("MiB".to_owned(), 3.0)]);
        assert_eq!(counted([3, 4]), [("reads".to_owned(), 30.0), ("reads".to_owned(), 30.0)]);
    }
}

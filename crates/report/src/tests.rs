//! Reports of hand-written recordings: what lands in the head and in the blocks, with numbers that can be checked by hand.

mod instructions;
mod requests;
mod sharing;

use super::Report;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use compare::{Options, compare};
use explain::Explain;
use flate2::read::GzDecoder;
use model::{Column, Fold, Kind, Manifest, Table, Unit, Work};
use query::{Run, testing};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::HashMap;
use std::io::Read;
use store::Recording;
use tempfile::TempDir;

static FRAME: Table = Table::wide(
    "frame",
    "code",
    &[
        Column::number("frame", "its number"),
        Column::fact("function", "its name"),
        Column::fact("module", "its file"),
        Column::fact_number("offset", Unit::None, "address in the file"),
        Column::fact("kind", "native, kernel …"),
    ],
)
.of_events();
static STACK: Table = Table::wide(
    "stack",
    "a stack",
    &[
        Column::number("stack", "its number"),
        Column::fact_number("parent", Unit::None, "the caller's"),
        Column::fact_number("frame", Unit::None, "its frame"),
    ],
)
.of_events();
static SAMPLE: Table = Table::wide(
    "sample",
    "a sample",
    &[
        Column::number("pid", "process"),
        Column::label("comm", "its name"),
        Column::label("thread", "thread name"),
        Column::gauge("at", Unit::Nanoseconds, "when"),
        Column::gauge("stack", Unit::None, "stack"),
        Column::gauge("weight", Unit::Nanoseconds, "CPU time"),
    ],
)
.of_events();
static LOCK: Table = Table::wide(
    "lock",
    "a contended lock",
    &[
        Column::label("comm", "process"),
        Column::label("kind", "kind"),
        Column::label("address", "address"),
        Column::label("name", "name"),
        Column::gauge("stack", Unit::None, "waiter"),
        Column::fact("holder", "holder"),
        Column::gauge("holder_stack", Unit::None, "holder's stack"),
        Column::gauge("count", Unit::None, "times"),
        Column::gauge("time", Unit::Nanoseconds, "blocked"),
        Column::gauge("longest", Unit::Nanoseconds, "longest").folded(Fold::Max),
        Column::gauge("waiters", Unit::None, "at once").folded(Fold::Max),
    ],
)
.of_events();
static GOROUTINE_WAIT: Table = Table::wide(
    "goroutine_wait",
    "goroutines that wait",
    &[
        Column::number("pid", "process"),
        Column::label("comm", "process"),
        Column::label("reason", "what for"),
        Column::gauge("stack", Unit::None, "where"),
        Column::gauge("time", Unit::Nanoseconds, "waited"),
        Column::gauge("most", Unit::None, "at once").folded(Fold::Max),
    ],
)
.of_events();
static LEDGER: Table = Table::wide(
    "thread_time",
    "a thread",
    &[
        Column::number("pid", "process"),
        Column::number("tid", "thread"),
        Column::label("comm", "process name"),
        Column::label("thread", "thread name"),
        Column::counter("user", Unit::Nanoseconds, "user"),
        Column::counter("lock", Unit::Nanoseconds, "lock"),
        Column::counter("idle", Unit::Nanoseconds, "idle"),
        Column::counter("kernel", Unit::Nanoseconds, "kernel"),
        Column::counter("stolen", Unit::Nanoseconds, "stolen"),
        Column::counter("runnable", Unit::Nanoseconds, "runnable"),
        Column::counter("throttled", Unit::Nanoseconds, "throttled"),
        Column::counter("disk", Unit::Nanoseconds, "disk"),
        Column::counter("network", Unit::Nanoseconds, "network"),
        Column::counter("pipe", Unit::Nanoseconds, "pipe"),
        Column::counter("fault", Unit::Nanoseconds, "fault"),
        Column::counter("sleep", Unit::Nanoseconds, "sleep"),
        Column::counter("other", Unit::Nanoseconds, "other"),
    ],
)
.from_zero()
.grouped(&[&["comm"]]);
static SYSCALL: Table = Table::wide(
    "syscall",
    "a system call",
    &[
        Column::number("pid", "process"),
        Column::label("comm", "process name"),
        Column::label("call", "system call"),
        Column::counter("count", Unit::None, "calls"),
        Column::counter("time", Unit::Nanoseconds, "time in it"),
        Column { kind: Kind::Histogram, ..Column::counter("b0", Unit::None, "up to 2 ns") },
        Column { kind: Kind::Histogram, ..Column::counter("b1", Unit::None, "up to 4 ns") },
        Column { kind: Kind::Histogram, ..Column::counter("b2", Unit::None, "longer") },
        Column::gauge("longest", Unit::Nanoseconds, "longest").folded(Fold::Max),
    ],
)
.from_zero()
.grouped(&[&["comm", "call"]]);

const FRAMES: &str = "t frame function module offset kind
    1 1 main /opt/app 1 native
    1 2 work /opt/app 2 native
    1 3 - /usr/lib/libc.so.6 64 native
    1 4 pthread_mutex_lock /usr/lib/libc.so.6 64 native
    1 5 </script><b> /opt/app 9 native";
/// main; work; libc, and main; work; pthread_mutex_lock, and one that goes round in a circle.
const STACKS: &str = "t stack parent frame
    1 1 - 1
    1 2 1 2
    1 3 2 3
    1 4 2 4
    1 5 6 5
    1 6 5 5";

thread_local! {
    /// Recordings are opened once more when they are explained: they stay for as long as the test.
    static DIRS: RefCell<Vec<TempDir>> = const { RefCell::new(Vec::new()) };
}

fn run(name: &str, samples: &str, more: &[(&'static Table, &str)]) -> Run {
    lasting(name, 4, samples, more)
}

/// The work that a command reports.
static WORK: Table =
    Table::wide("work", "work done", &[Column::counter("done", Unit::None, "units of work done").better()]);

/// A recording of a command that ran for so many seconds.
fn lasting(name: &str, seconds: i64, samples: &str, more: &[(&'static Table, &str)]) -> Run {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.twin");
    DIRS.with_borrow_mut(|dirs| dirs.push(dir));
    let manifest = Manifest {
        name: name.into(),
        interval: 1_000_000_000,
        duration: Some(seconds * 1_000_000_000),
        command_start: Some(0),
        wall: Some(seconds * 1_000_000_000),
        work: Some(Work { unit: "operations".into(), total: 8.0, progress: Vec::new(), how: String::new() }),
        ..Manifest::default()
    };
    let mut tables = vec![(&FRAME, FRAMES), (&STACK, STACKS), (&SAMPLE, samples)];
    tables.extend_from_slice(more);
    testing::write(&path, &manifest, &tables);
    Run { name: name.into(), recording: Recording::open(&path).unwrap(), stretch: None }
}

/// One cause, so that what is found does not hang on the causes that come with the program.
const CAUSE: &str = "-- cause of-a-test: threads wait for a lock
-- layer: scheduling
-- needs: thread_time
-- says: threads wait for {subject}
-- evidence: waited {slow:s}
-- check: look at it
-- try: another lock
-- see: futex(2)
-- claims:
select '<the> lock' as subject, cell, 1.0 as part from budget where state = 'lock'";

fn looked_for() -> Explain {
    Explain { causes: vec![explain::cause::parse(CAUSE).unwrap()], ..Explain::default() }
}

/// The report's head, and a function that unpacks a block.
fn report(runs: &[Run]) -> (Value, String) {
    let comparison = compare(runs, &Options::default()).unwrap();
    let Report { html, .. } = super::report(runs, &comparison, &looked_for()).unwrap();
    let head = html.split_once("id=\"twinscope-head\">").unwrap().1.split_once("</script>").unwrap().0;
    (serde_json::from_str(head).unwrap(), html.clone())
}

/// A block of columns, read as docs/report-bundle.md says.
struct Block {
    index: Value,
    data: Vec<u8>,
}

impl Block {
    fn of(html: &str, id: &str) -> Block {
        let text = html.split_once(&format!("id=\"block-{id}\">")).unwrap().1.split_once("</script>").unwrap().0;
        let mut bytes = Vec::new();
        GzDecoder::new(&STANDARD.decode(text).unwrap()[..]).read_to_end(&mut bytes).unwrap();
        assert_eq!(&bytes[..4], b"TWC1");
        let length = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
        Block { index: serde_json::from_slice(&bytes[8..8 + length]).unwrap(), data: bytes[8 + length..].to_vec() }
    }

    fn raw(&self, table: &str, column: &str) -> Vec<u32> {
        let rows = self.index["tables"][table]["rows"].as_u64().unwrap() as usize;
        let spec = &self.index["tables"][table]["columns"][column];
        let at = spec["offset"].as_u64().unwrap() as usize;
        let mut last = 0u32;
        let cell = |i: usize| u32::from_le_bytes(std::array::from_fn(|p| self.data[at + p * rows + i]));
        let mut value = |i: usize| {
            last = if spec["delta"] == true { last.wrapping_add(cell(i)) } else { cell(i) };
            last
        };
        (0..rows).map(&mut value).collect()
    }

    fn numbers(&self, table: &str, column: &str) -> Vec<f64> {
        let scale = self.index["tables"][table]["columns"][column]["scale"].as_f64().unwrap();
        self.raw(table, column).into_iter().map(|v| f64::from(v) * scale).collect()
    }

    fn texts(&self, table: &str, column: &str) -> Vec<String> {
        let text = |n: u32| match n {
            0 => String::new(),
            n => self.index["strings"][n as usize - 1].as_str().unwrap().to_owned(),
        };
        self.raw(table, column).into_iter().map(text).collect()
    }

    /// Stacks as text, outermost first, from 1.
    fn stacks(&self) -> Vec<String> {
        let (parents, frames) = (self.raw("stack", "parent"), self.raw("stack", "frame"));
        let functions = self.texts("frame", "function");
        let mut all: Vec<String> = vec![String::new()];
        for (parent, frame) in parents.iter().zip(&frames) {
            all.push(format!("{};{}", all[*parent as usize], functions[*frame as usize]));
        }
        all
    }
}

#[test]
fn samples_of_two_runs_share_one_tree_of_stacks() {
    let work = (&WORK, "t done\n 0 0\n 4 8");
    let a = run(
        "a",
        "t pid comm thread at stack weight\n 1 7 app app 500000000 3 10000000\n 2 7 app app 1500000000 2 20000000",
        &[work],
    );
    // Another recording numbers its stacks otherwise; the same code is the same node.
    let b = run(
        "b",
        "t pid comm thread at stack weight\n 1 9 app w1 700000000 2 30000000\n 2 9 app w1 1700000000 99 5000000",
        &[work],
    );
    let (head, html) = report(&[a, b]);
    assert_eq!(head["profile"]["per"]["what"], "operation");
    assert_eq!(head["profile"]["per"]["rate"][0], 2.0);
    assert_eq!(head["profile"]["measures"][0]["id"], "cpu");
    let profiles = head["pages"].as_array().unwrap().iter().find(|p| p["id"] == "profiles").unwrap();
    assert_eq!(profiles["view"], "profiles");
    let block = Block::of(&html, "profile");
    let stacks = block.stacks();
    let (ticks, runs, from) = (block.raw("sample", "tick"), block.raw("tick", "run"), block.numbers("tick", "from"));
    let mut found: Vec<(u32, String, String, f64)> = Vec::new();
    for (i, &tick) in ticks.iter().enumerate() {
        let tick = tick as usize;
        let (stack, weight) = (block.raw("sample", "stack")[i] as usize, block.numbers("sample", "weight")[i]);
        found.push((runs[tick], format!("{:.1}", from[tick]), stacks[stack].clone(), weight));
    }
    let expected = [
        (0, "0.5", ";main;work;[libc.so.6]", 0.01),
        (0, "1.5", ";main;work", 0.02),
        (1, "0.7", ";main;work", 0.03),
        (1, "1.7", "", 0.005),
    ];
    assert_eq!(found.len(), expected.len());
    for ((run, at, stack, weight), e) in found.iter().zip(expected) {
        assert_eq!((*run, at.as_str(), stack.as_str()), (e.0, e.1, e.2));
        assert!((weight - e.3).abs() < e.3 / 1000.0, "{weight} for {}", e.3);
    }
    assert_eq!(block.texts("thread", "thread"), ["app", "w1"]);
}

#[test]
fn a_circle_of_stacks_and_hostile_names_do_no_harm() {
    let a = run("a", "t pid comm thread at stack weight\n 1 7 </script> x 500000000 5 10000000", &[]);
    let (head, html) = report(&[a]);
    assert!(head["profile"].is_object());
    assert!(!html.contains("</script><b>"), "names are inside packed blocks");
    assert!(Block::of(&html, "profile").stacks().iter().any(|s| s.contains("</script><b>")));
}

#[test]
fn locks_of_goroutines_are_on_the_page_of_locks() {
    let waits = "t pid comm reason stack time most
        1 7 app sync.Mutex.Lock 4 400000000 3
        2 7 app sync.Mutex.Lock 4 100000000 2
        2 7 app IO-wait 3 900000000 1
        2 7 app sleep - 5 1";
    let a =
        run("a", "t pid comm thread at stack weight\n 1 7 app app 500000000 3 10000000", &[(&GOROUTINE_WAIT, waits)]);
    let (head, html) = report(&[a]);
    let page = head["pages"].as_array().unwrap().iter().find(|p| p["id"] == "locks").unwrap();
    let table = &page["tables"][0];
    assert_eq!((&table["table"], &table["only"]["column"]), (&"goroutine_wait".into(), &"reason".into()));
    let block = Block::of(&html, "profile");
    let texts = table["only"]["texts"].as_array().unwrap();
    let reasons = block.texts("goroutine_wait", "reason");
    let rows: Vec<usize> = (0..reasons.len()).filter(|&i| texts.contains(&reasons[i].as_str().into())).collect();
    let time: f64 = rows.iter().map(|i| block.numbers("goroutine_wait", "time")[*i]).sum();
    assert!((time - 0.5).abs() < 1e-3, "{time}");
    assert!(rows.iter().all(|i| block.texts("goroutine_wait", "lock")[*i] == "taken in work"));
}

#[test]
fn locks_without_a_name_are_called_after_the_code_that_takes_them() {
    let locks = "t comm kind address name stack holder holder_stack count time longest waiters
        1 app pthread 0x10 - 4 w1 3 5 400000000 90000000 2
        2 app pthread 0x10 - 4 w2 3 5 500000000 80000000 3
        2 app rwsem 0x20 mmap_lock - - - 1 1000000 1000000 1";
    let a = run("a", "t pid comm thread at stack weight\n 1 7 app app 500000000 3 10000000", &[(&LOCK, locks)]);
    let (head, html) = report(&[a]);
    let page = head["pages"].as_array().unwrap().iter().find(|p| p["id"] == "locks").unwrap();
    assert_eq!(page["tables"][0]["table"], "lock");
    let block = Block::of(&html, "profile");
    assert_eq!(block.texts("lock", "lock"), ["taken in work", "mmap_lock", "taken in work"]);
    assert_eq!(block.raw("lock", "waiters").iter().max(), Some(&3));
    let time: f64 = block.numbers("lock", "time").iter().sum();
    assert!((time - 0.901).abs() < 1e-3, "{time}");
    let lengths = block.numbers("tick", "length");
    let of_first = block.raw("lock", "tick")[0] as usize;
    assert!((lengths[of_first] - 1.0).abs() < 1e-9, "a row reaches back to the read before");
}

#[test]
fn the_ledger_goes_to_the_page_by_thread() {
    let ledger =
        "t pid tid comm thread user lock idle kernel stolen runnable throttled disk network pipe fault sleep other
        0 7 7 app app 0 0 0 0 0 0 0 0 0 0 0 0 0
        1 7 7 app app 600000000 100000000 300000000 0 0 0 0 0 0 0 0 0 0
        2 7 7 app app 1000000000 300000000 700000000 0 0 0 0 0 0 0 0 0 0
        2 7 8 app w1 500000000 0 500000000 0 0 0 0 0 0 0 0 0 0";
    let samples = "t pid comm thread at stack weight\n 1 7 app app 500000000 3 10000000";
    let (_, html) = report(&[run("a", samples, &[(&LEDGER, ledger)])]);
    let block = Block::of(&html, "profile");
    let mut sums: HashMap<(String, String), f64> = HashMap::new();
    let threads = block.texts("thread", "thread");
    for (i, state) in block.texts("ledger", "state").into_iter().enumerate() {
        let thread = threads[block.raw("ledger", "thread")[i] as usize].clone();
        *sums.entry((thread, state)).or_default() += block.numbers("ledger", "time")[i];
    }
    let sum = |thread: &str, state: &str| sums.get(&(thread.to_owned(), state.to_owned())).copied().unwrap_or(0.0);
    assert!((sum("app", "user") - 1.0).abs() < 1e-3 && (sum("app", "lock") - 0.3).abs() < 1e-3);
    assert!((sum("w1", "user") - 0.5).abs() < 1e-3, "a thread that came later counts from zero");
}

/// A recording of one thread that computes 0.8 s in each second and waits for a lock, or for work, in the rest.
fn of_ledger(name: &str, seconds: i64, contended: bool) -> Run {
    let mut text = String::from(
        "t pid tid comm thread user lock idle kernel stolen runnable throttled disk network pipe fault sleep other\n",
    );
    for t in 0..=seconds {
        let (user, rest) = (t * 800_000_000, t * 200_000_000);
        let (lock, idle) = if contended { (rest, 0) } else { (0, rest) };
        text += &format!("{t} 7 7 app app {user} {lock} {idle} 0 0 0 0 0 0 0 0 0 0\n");
    }
    lasting(name, seconds, "t pid comm thread at stack weight\n 1 7 app app 500000000 3 10000000", &[(&LEDGER, &text)])
}

/// Values of the budget by state, for a run.
fn bar(head: &Value, run: usize) -> HashMap<String, f64> {
    let states = head["budget"]["states"].as_array().unwrap();
    let value = |i: usize| head["budget"]["values"][run][i].as_f64().unwrap();
    states.iter().enumerate().map(|(i, s)| (s["id"].as_str().unwrap().to_owned(), value(i))).collect()
}

#[test]
fn the_first_screen_says_what_the_engine_found() {
    let runs = [of_ledger("fast", 20, false), of_ledger("slow", 60, true)];
    let comparison = compare(&runs, &Options::default()).unwrap();
    let engine = super::report(&runs, &comparison, &looked_for()).unwrap().explained.unwrap();
    let (head, _) = report(&runs);
    let x = &head["explanation"];
    let files = head["runs"].as_array().unwrap().iter().map(|run| run["file"].as_str().unwrap());
    assert!(files.clone().count() == 2 && files.into_iter().all(|file| file.ends_with(".twin")), "{}", head["runs"]);
    assert_eq!((x["run"].as_u64(), x["against"].as_u64(), x["outcome"].as_str()), (Some(1), Some(0), Some("slower")));
    assert_eq!((&x["which"], &head["not_explained"]), (&Value::Null, &Value::Null));
    assert_eq!(head["verdict"]["headline"], engine.explanation.verdict);
    assert!(
        head["verdict"]["headline"].as_str().unwrap().starts_with("slow takes 3.0× as long as fast"),
        "{}",
        head["verdict"]
    );
    assert_eq!(head["verdict"]["level"], "differs");
    // The bars are per run of the command, with the states of the engine.
    assert_eq!((head["budget"]["unit"].as_str(), head["budget"]["source"].as_str()), (Some("s"), Some("ledger")));
    assert_eq!(head["budget"]["states"].as_array().unwrap().len(), explain::budget::STATES.len());
    let (fast, slow) = (bar(&head, 0), bar(&head, 1));
    for (state, compare::PerSide { slow: of_slow, baseline: of_fast }, _) in &engine.explanation.ledger {
        assert!(
            (slow[state.name()] - of_slow).abs() < 1e-9 && (fast[state.name()] - of_fast).abs() < 1e-9,
            "{}",
            state.name()
        );
    }
    assert!((slow["user"] - 48.0).abs() < 1.0 && (slow["lock"] - 12.0).abs() < 0.5, "{slow:?}");
    assert!((head["budget"]["elapsed"][1].as_f64().unwrap() - 60.0).abs() < 0.1);
    let shares: f64 = head["budget"]["shares"].as_array().unwrap().iter().map(|s| s["share"].as_f64().unwrap()).sum();
    assert!(shares > 0.5, "{shares}");
    let finding = &x["findings"][0];
    assert_eq!(
        (finding["says"].as_str(), finding["states"][0]["state"].as_str()),
        (Some("threads wait for <the> lock"), Some("lock"))
    );
    assert!(
        finding["low"].as_f64() <= finding["share"].as_f64() && finding["share"].as_f64() <= finding["high"].as_f64()
    );
    assert_eq!(finding["pages"][0], "time-budget", "no page of the scheduler is in this report: {finding}");
    assert!(finding["query"].as_str().unwrap().starts_with("with given"));
}

#[test]
fn the_slower_side_is_explained_whichever_it_is() {
    let (head, _) = report(&[of_ledger("long", 60, true), of_ledger("short", 20, false)]);
    let x = &head["explanation"];
    assert_eq!((x["run"].as_u64(), x["against"].as_u64(), x["outcome"].as_str()), (Some(0), Some(1), Some("slower")));
    assert!(x["which"].as_str().unwrap().starts_with("long, the baseline, is the slower one"), "{x}");
    assert!(bar(&head, 0)["lock"] > bar(&head, 1)["lock"], "bars stay with their recordings");
    // Of several, the first that is slower; each has its bar.
    let (head, _) = report(&[of_ledger("base", 20, false), of_ledger("same", 20, false), of_ledger("slow", 60, true)]);
    let x = &head["explanation"];
    assert_eq!((x["run"].as_u64(), x["against"].as_u64(), x["outcome"].as_str()), (Some(2), Some(0), Some("slower")));
    assert!(x["which"].as_str().unwrap().contains("the first that is slower"), "{x}");
    assert!((bar(&head, 1)["user"] - 16.0).abs() < 0.5 && (bar(&head, 2)["user"] - 48.0).abs() < 1.0);
    // Equal ones: nothing is lost, so that no state has a share of it.
    let (head, _) = report(&[of_ledger("a", 20, false), of_ledger("b", 20, false)]);
    assert_eq!((head["explanation"]["outcome"].as_str(), &head["budget"]["shares"]), (Some("no slower"), &Value::Null));
    assert_eq!(head["verdict"]["level"], "same");
    // One alone: what limits it.
    let (head, _) = report(&[of_ledger("only", 20, true)]);
    assert_eq!(
        (head["explanation"]["outcome"].as_str(), &head["explanation"]["against"]),
        (Some("alone"), &Value::Null)
    );
    assert!(head["budget"]["shares"].is_array());
}

#[test]
fn without_a_ledger_the_comparison_stays_and_says_why() {
    let samples = "t pid comm thread at stack weight\n 1 7 app app 500000000 3 10000000";
    let (head, _) = report(&[of_ledger("a", 20, true), run("b", samples, &[])]);
    assert_eq!(head["explanation"], Value::Null);
    assert!(head["not_explained"].as_str().unwrap().contains("no per-thread data"), "{}", head["not_explained"]);
    assert_eq!(head["verdict"]["headline"], head["comparison"]["headline"]);
    assert_ne!(head["budget"]["source"], "ledger");
}

#[test]
fn histograms_become_tables_that_the_page_adds_up() {
    let calls = "t pid comm call count time b0 b1 b2 longest
        0 7 app read 0 0 0 0 0 0
        1 7 app read 10 1000 4 6 0 300
        2 7 app read 30 5000 14 16 0 700";
    let samples = "t pid comm thread at stack weight\n 1 7 app app 500000000 3 10000000";
    let (head, html) = report(&[run("a", samples, &[(&SYSCALL, calls)])]);
    let page = head["pages"].as_array().unwrap().iter().find(|p| p["id"] == "calls").unwrap();
    let table = &page["tables"][0];
    assert_eq!((table["kind"].as_str(), table["block"].as_str()), (Some("events"), Some("sums-syscall")));
    let ids: Vec<&str> = table["values"].as_array().unwrap().iter().map(|v| v["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["count", "time", "mean", "p50", "p99", "longest"]);
    let buckets = &table["values"][4]["how"]["buckets"];
    assert_eq!(buckets.as_array().unwrap().len(), 2, "a bucket that is always empty is left out");
    assert_eq!(
        (buckets[1][0].as_str(), buckets[1][1].as_f64(), buckets[1][2].as_f64()),
        (Some("b1"), Some(2e-9), Some(4e-9))
    );
    let block = Block::of(&html, "sums-syscall");
    assert_eq!(block.raw("syscall", "count"), [10, 20]);
    assert_eq!(block.raw("syscall", "b1"), [6, 10]);
    assert_eq!(block.numbers("tick", "length"), [1.0, 1.0]);
    let longest = block.numbers("syscall", "longest");
    assert!((longest[1] - 7e-7).abs() < 1e-9, "{longest:?}");
}

/// Two minutes of a busy two-CPU host: samples at 99 Hz, and some hundred kinds of waits and locks each second.
#[test]
fn a_pair_of_busy_recordings_stays_small() {
    let mut seed = 1u64;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let mut one = |name: &str| {
        let mut frames = String::from("t frame function module offset kind\n");
        let mut stacks = String::from("t stack parent frame\n");
        for i in 1..=6000u64 {
            frames += &format!("1 {i} app::module::function_{i} /opt/app {i} native\n");
        }
        for i in 1..=20_000u64 {
            let parent = if i < 50 { "-".to_owned() } else { (1 + random(i - 1)).to_string() };
            stacks += &format!("1 {i} {parent} {}\n", 1 + random(6000));
        }
        let mut samples = String::from("t pid comm thread at stack weight\n");
        let mut locks = String::from("t comm kind address name stack holder holder_stack count time longest waiters\n");
        for second in 0..60u64 {
            for i in 0..198u64 {
                let at = second * 1_000_000_000 + i * 5_050_000;
                let (thread, stack) = (random(40), 1 + random(20_000));
                samples += &format!("{} 7 app worker-{thread} {at} {stack} 10101010\n", second + 1);
            }
            for _ in 0..150 {
                let (stack, holder, time) = (1 + random(20_000), 1 + random(20_000), random(90_000_000));
                let (address, thread) = (random(64), random(40));
                locks += &format!(
                    "{} app mutex 0x{address:x} - {stack} worker-{thread} {holder} 9 {time} {time} 3\n",
                    second + 1
                );
            }
        }
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.twin");
        let manifest = Manifest {
            name: name.into(),
            interval: 1_000_000_000,
            command_start: Some(0),
            duration: Some(60_000_000_000),
            wall: Some(60_000_000_000),
            ..Manifest::default()
        };
        let tables = [(&FRAME, &*frames), (&STACK, &*stacks), (&SAMPLE, &*samples), (&LOCK, &*locks)];
        testing::write(&path, &manifest, &tables);
        Run { name: name.into(), recording: Recording::open(&path).unwrap(), stretch: None }
    };
    let runs = [one("a"), one("b")];
    let start = std::time::Instant::now();
    let (head, html) = report(&runs);
    println!("{} bytes in {:?}", html.len(), start.elapsed());
    assert_eq!(head["profile"]["per"]["what"], "run");
    assert!(html.len() < 3 << 20, "{} bytes", html.len());
    let block = Block::of(&html, "profile");
    let weight: f64 = block.numbers("sample", "weight").iter().sum();
    assert!((weight / (2.0 * 60.0 * 198.0 * 0.010_101_01) - 1.0).abs() < 1e-3, "no sample is lost: {weight}");
}

/// Longer than what is read at a time: every sample is there once.
#[test]
fn a_long_recording_is_read_part_by_part() {
    let mut samples = String::from("t pid comm thread at stack weight\n");
    for second in 1..=600u64 {
        samples += &format!("{second} 7 app app {} 3 10000000\n", second * 1_000_000_000 - 500_000_000);
        if second % 90 == 0 {
            samples += "seal\n";
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.twin");
    let manifest = Manifest { interval: 1_000_000_000, duration: Some(600_000_000_000), ..Manifest::default() };
    testing::write(&path, &manifest, &[(&FRAME, FRAMES), (&STACK, STACKS), (&SAMPLE, &samples)]);
    let (head, html) =
        report(&[Run { name: "long".into(), recording: Recording::open(&path).unwrap(), stretch: None }]);
    assert_eq!(head["profile"]["per"]["what"], "second");
    let block = Block::of(&html, "profile");
    assert_eq!(block.raw("sample", "stack").len(), 600);
    let times: std::collections::BTreeSet<u32> = block.raw("tick", "from").into_iter().collect();
    assert_eq!(times.len(), 600);
}

#[test]
fn serial_phases_come_with_the_profile() {
    use std::fmt::Write;
    let mut rows = "t at running runnable\n".to_owned();
    for i in 0..150i64 {
        let running = if i < 100 { 2 } else { 1 };
        writeln!(rows, "{} {} {running} 0", (i + 1) as f64 / 100.0, i * 10_000_000).expect("a string");
    }
    let (head, html) = report(&[testing::run("job", &[(&testing::RUNNING, &rows)])]);
    let turns = &head["profile"]["turns"][0];
    let expected = serde_json::json!([{"from": 1.0, "to": 1.5, "process": null, "thread": null, "function": null}]);
    assert_eq!(turns["serial"], expected);
    assert!(turns["sawtooth"].is_null());
    assert_eq!(Block::of(&html, "profile").raw("running", "run").len(), 150);
}

//! The block `instructions` of hand-written recordings: the functions that matter of both sides, what findings point to, and what there is without code.

use super::{DIRS, run};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use compare::{Options, compare};
use explain::Explain;
use flate2::read::GzDecoder;
use model::{Column, Coverage, Manifest, Table, Unavailable, Unit, Work};
use query::{Run, testing};
use serde_json::{Value, json};
use std::io::Read;
use store::Recording;

static FRAME: Table = Table::wide(
    "frame",
    "code",
    &[
        Column::number("number", "its number"),
        Column::fact("function", "its name"),
        Column::fact("module", "its file"),
        Column::fact("build_id", "build id"),
        Column::fact_number("offset", Unit::None, "address in the file"),
        Column::fact("source", "line"),
        Column::fact("kind", "native, inlined …"),
    ],
)
.of_entries();
static STACK: Table = Table::wide(
    "stack",
    "a stack",
    &[
        Column::number("number", "its number"),
        Column::fact_number("parent", Unit::None, "the caller's"),
        Column::fact_number("frame", Unit::None, "its frame"),
    ],
)
.of_entries();
static CODE: Table = Table::wide(
    "code",
    "machine code",
    &[
        Column::number("number", "its number"),
        Column::fact("function", "its name"),
        Column::fact("module", "its file"),
        Column::fact("build_id", "build id"),
        Column::fact_number("pid", Unit::None, "who made it"),
        Column::fact_number("start", Unit::None, "first address"),
        Column::fact_number("whole", Unit::None, "begins there"),
        Column::fact("machine", "machine"),
        Column::fact("bytes", "the code"),
    ],
)
.of_entries();
static INSTRUCTION: Table = Table::wide(
    "instruction_sample",
    "a sample with registers",
    &[
        Column::number("pid", "process"),
        Column::number("tid", "thread"),
        Column::gauge("at", Unit::Nanoseconds, "when"),
        Column::gauge("burst", Unit::None, "burst"),
        Column::gauge("task_clock", Unit::Nanoseconds, "CPU time"),
        Column::gauge("stack", Unit::None, "stack"),
        Column::gauge("code", Unit::None, "code"),
        Column::gauge("address", Unit::None, "where"),
        Column::gauge("r6", Unit::None, "rsi"),
    ],
)
.of_events();
static SKID: Table =
    Table::wide("skid", "where samples land", &[Column::gauge("skid", Unit::None, "how far")]).of_events();

/// mov rax,[rax]; dec rsi; jnz; ret.
const CHASE: &str = "488b0048ffce75f8c3";

/// A chase whose rounds take so many ns, at 4096 of its file; with other functions of few samples, by name and how many.
fn chase(name: &str, ns: u64, others: &[(&str, u64)]) -> Run {
    lasting(name, 4, ns, others)
}

/// The same of a command that ran for so many seconds; one that runs for long waits for a lock meanwhile.
fn lasting(name: &str, seconds: i64, ns: u64, others: &[(&str, u64)]) -> Run {
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
    let mut frames = String::from(
        "t number function module build_id offset source kind\n\
        0 1 chase /bin/a aa 4099 a.c:7 native\n0 2 step</script> /bin/a aa 4099 a.c:9 inlined",
    );
    let mut stacks = String::from("t number parent frame\n0 1 - 1\n0 2 1 2");
    let mut code = format!(
        "t number function module build_id pid start whole machine bytes\n0 1 chase /bin/a aa - 4096 1 x86_64 {CHASE}"
    );
    let mut samples = String::from("t pid tid at burst task_clock stack code address r6");
    for n in 0..100 {
        let clock = n * 1_000_000;
        let left = 100_000_000 - clock / ns;
        samples.push_str(&format!("\n1 7 7 {} 1 {clock} 2 - 4099 {left}", 500_000_000 + clock));
    }
    for (at, (other, count)) in others.iter().enumerate() {
        let (number, start) = (at + 3, 8192 + at * 256);
        frames.push_str(&format!("\n0 {number} {other} /bin/a aa {start} - native"));
        stacks.push_str(&format!("\n0 {number} - {number}"));
        code.push_str(&format!("\n0 {number} {other} /bin/a aa - {start} 1 x86_64 {CHASE}"));
        for n in 0..*count {
            samples.push_str(&format!("\n1 7 8 {} 1 {n}000000 {number} - {} 0", 600_000_000 + n, start + 3));
        }
    }
    let of_whole =
        "t pid comm thread at stack weight\n 1 7 app app 500000000 2 10000000\n 2 7 app app 1500000000 2 20000000";
    let mut ledger = String::from(
        "t pid tid comm thread user lock idle kernel stolen runnable throttled disk network pipe fault sleep other",
    );
    for t in 0..=seconds {
        let (user, rest) = (t * 800_000_000, t * 200_000_000);
        let (lock, idle) = if seconds > 30 { (rest, 0) } else { (0, rest) };
        ledger.push_str(&format!("\n{t} 7 7 app app {user} {lock} {idle} 0 0 0 0 0 0 0 0 0 0"));
    }
    let work = format!("t done\n 0 0\n {seconds} 8");
    let tables = [
        (&super::WORK, work.as_str()),
        (&super::LEDGER, ledger.as_str()),
        (&FRAME, frames.as_str()),
        (&STACK, &stacks),
        (&super::SAMPLE, of_whole),
        (&CODE, &code),
        (&INSTRUCTION, &samples),
        (&SKID, "t skid\n0 1"),
    ];
    testing::write(&path, &manifest, &tables);
    Run { name: name.into(), recording: Recording::open(&path).unwrap(), stretch: None }
}

/// A cause that names what was put into the chase.
const CAUSE: &str = "-- cause of-a-test: a function takes longer
-- layer: code
-- page: profiles
-- needs: thread_time
-- says: {subject} takes longer
-- check: look at it
-- try: another
-- claims:
select 'step</script>' as subject, cell, 1.0 as part from budget where state = 'lock'";

fn report(runs: &[Run]) -> (Value, String) {
    let explain = Explain { causes: vec![explain::cause::parse(CAUSE).unwrap()], ..Explain::default() };
    let comparison = compare(runs, &Options::default()).unwrap();
    let html = crate::report(runs, &comparison, &explain).unwrap().html;
    let head = html.split_once("id=\"twinscope-head\">").unwrap().1.split_once("</script>").unwrap().0;
    (serde_json::from_str(head).unwrap(), html.clone())
}

fn listings(html: &str) -> Value {
    let text = html.split_once("id=\"block-instructions\">").unwrap().1.split_once("</script>").unwrap().0;
    let mut bytes = Vec::new();
    GzDecoder::new(&STANDARD.decode(text).unwrap()[..]).read_to_end(&mut bytes).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

fn page<'v>(head: &'v Value, id: &str) -> Option<&'v Value> {
    head["pages"].as_array().unwrap().iter().find(|page| page["id"] == id)
}

#[test]
fn both_sides_of_a_function_are_listed() {
    let (fast, slow) = (chase("fast", 10, &[("only_fast", 20), ("rare", 2)]), chase("slow", 100, &[]));
    let (head, html) = report(&[fast, slow]);
    assert_eq!(page(&head, "instructions").unwrap()["view"], "instructions");
    let spec = &head["instructions"];
    assert_eq!((&spec["run"], &spec["against"], &spec["block"]), (&json!(1), &json!(0), &json!("instructions")));
    assert_eq!(spec["missing"], json!([null, null]));
    let told = listings(&html);
    assert_eq!((&told["per"], &told["left_out"]), (&json!("operation"), &json!(1)));
    let functions = told["functions"].as_array().unwrap();
    assert_eq!(functions.len(), 2);
    let [slow, against] = ["slow", "against"].map(|side| &functions[0]["of"][side]);
    assert_eq!((&slow["function"], &slow["with_registers"], &slow["skid"]), (&json!("chase"), &json!(100), &json!(1)));
    // A sample of 30 ms in 8 operations; all of its time is the load's.
    assert_eq!((&slow["ns"], &slow["share"]), (&json!(3.75e6), &json!(1.0)));
    assert_eq!((&slow["loops"][0]["round"]["ns"], &against["loops"][0]["round"]["ns"]), (&json!(100.0), &json!(10.0)));
    assert_eq!(slow["frequency"], Value::Null);
    let load = &functions[0]["rows"][0];
    assert_eq!(
        (&load["slow"]["wait"], &load["against"]["wait"], &load["same"]),
        (&json!("load"), &json!("load"), &json!(true))
    );
    assert_eq!((&load["slow"]["ns"], &load["slow"]["samples"]), (&slow["ns"], &slow["samples"]));
    assert_eq!(load["difference"][0], json!(0.0));
    // It landed on the next one, and that is where the line is known.
    let next = &functions[0]["rows"][1]["slow"];
    assert_eq!(next["lines"][0], json!({"function": "step</script>", "source": "a.c:9"}));
    assert!(next["landed"].as_u64() >= Some(100) && next["samples"] == Value::Null);
    assert_eq!(functions[1]["of"]["slow"], Value::Null);
    assert_eq!(functions[1]["of"]["against"]["function"], "only_fast");
    assert!(
        functions[1]["rows"][0]["against"]["text"].as_str().unwrap().starts_with("mov")
            && functions[1]["rows"][0]["slow"] == Value::Null
    );
}

#[test]
fn findings_name_their_function() {
    let (fast, slow) = (lasting("fast", 20, 10, &[]), lasting("slow", 60, 100, &[("other", 150)]));
    let (head, html) = report(&[fast, slow]);
    let functions = listings(&html)["functions"].clone();
    let findings = head["explanation"]["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{}", head["explanation"]);
    for finding in findings {
        // What was put into it is its code, and comes before what has more samples.
        assert_eq!((&finding["function"], &finding["pages"][0]), (&json!(0), &json!("instructions")), "{finding}");
        assert_eq!(functions[0]["of"]["slow"]["function"], "chase");
    }
}

#[test]
fn one_run_alone_has_no_difference() {
    let (head, html) = report(&[chase("only", 10, &[])]);
    assert_eq!(head["instructions"]["against"], Value::Null);
    let function = &listings(&html)["functions"][0];
    assert_eq!((&function["of"]["against"], &function["difference"]), (&Value::Null, &Value::Null));
    assert!(
        function["rows"]
            .as_array()
            .unwrap()
            .iter()
            .all(|row| row["difference"] == Value::Null && row["against"] == Value::Null)
    );
}

#[test]
fn a_side_without_code_says_why_and_recordings_of_before_have_no_page() {
    let plain = || run("plain", "t pid comm thread at stack weight\n 1 7 app app 500000000 3 10000000", &[]);
    let (head, html) = report(&[plain(), chase("slow", 10, &[])]);
    let missing = &head["instructions"]["missing"];
    assert!(missing[0]["why"].as_str().unwrap().contains("no machine code") && missing[1] == Value::Null);
    assert_eq!(listings(&html)["functions"][0]["of"]["against"], Value::Null);
    let (head, html) = report(&[plain()]);
    assert!(head["instructions"].is_null() && page(&head, "instructions").is_none());
    assert!(!html.contains("block-instructions"));
}

#[test]
fn a_recorder_that_could_not_look_is_believed() {
    let said =
        Coverage::unavailable("instructions", "", Unavailable::denied("only root may sample registers").remedy("sudo"));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.twin");
    let manifest = Manifest { duration: Some(4_000_000_000), ..Manifest::default() };
    let samples = "t pid comm thread at stack weight\n 1 7 app app 500000000 1 10000000";
    testing::write_with(&path, &manifest, &[(&super::SAMPLE, samples)], |writer| writer.coverage(&[said]).unwrap());
    let (head, html) =
        report(&[Run { name: "none".into(), recording: Recording::open(&path).unwrap(), stretch: None }]);
    let spec = &head["instructions"];
    assert_eq!(spec["block"], Value::Null);
    assert_eq!(
        spec["missing"][0],
        json!({"why": "it has no machine code: only root may sample registers", "remedy": "sudo"})
    );
    assert!(page(&head, "instructions").is_some() && !html.contains("block-instructions"));
}

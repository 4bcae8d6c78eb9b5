//! The block `sharing` of hand-written recordings: findings with their bytes, runs with nothing, runs that were not looked at.

use super::{report, run};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use model::{Column, Table, Unit};
use serde_json::{Value, json};
use std::io::Read;

static LINE: Table = Table::wide(
    "sharing_line",
    "a line",
    &[
        Column::number("number", "its number"),
        Column::fact_number("pid", Unit::None, "process"),
        Column::fact("comm", "its name"),
        Column::fact_number("address", Unit::None, "first byte"),
        Column::fact("memory", "kind"),
        Column::fact("name", "variable"),
    ],
)
.of_entries();
static FIELD: Table = Table::wide(
    "sharing_field",
    "a field",
    &[
        Column::number("number", "its number"),
        Column::fact_number("line", Unit::None, "line"),
        Column::fact_number("first", Unit::None, "first byte"),
        Column::fact_number("size", Unit::Bytes, "bytes"),
        Column::fact("name", "path"),
        Column::fact("type", "type"),
    ],
)
.of_entries();
static ACCESS: Table = Table::wide(
    "sharing_access",
    "an access",
    &[
        Column::number("line", "line"),
        Column::number("tid", "thread"),
        Column::label("thread", "its name"),
        Column::label("text", "instruction"),
        Column::gauge("at", Unit::Nanoseconds, "when"),
        Column::gauge("code", Unit::None, "address"),
        Column::gauge("first", Unit::None, "first byte"),
        Column::gauge("size", Unit::Bytes, "bytes"),
        Column::gauge("reads", Unit::None, "reads"),
        Column::gauge("writes", Unit::None, "writes"),
        Column::gauge("atomic", Unit::None, "both"),
        Column::gauge("waited", Unit::None, "samples"),
        Column::gauge("wait", Unit::Nanoseconds, "their time"),
        Column::gauge("seen", Unit::None, "nearby"),
        Column::gauge("hits", Unit::None, "hits"),
    ],
)
.of_events();
static LOOK: Table = Table::wide(
    "sharing_look",
    "a look",
    &[
        Column::number("pid", "process"),
        Column::number("tid", "thread"),
        Column::label("comm", "its name"),
        Column::gauge("at", Unit::Nanoseconds, "when"),
        Column::gauge("time", Unit::Nanoseconds, "CPU time"),
    ],
)
.of_events();

const SAMPLES: &str =
    "t pid comm thread at stack weight\n 1 7 app app 500000000 2 10000000\n 2 7 app app 1500000000 2 20000000";
const LOOKS: &str = "t pid tid comm at time\n1 7 1 app 500000000 500000000\n1 7 2 app 500000000 500000000";
const LINES: &str = "t number pid comm address memory name\n0 1 7 app 4096 global stats</script>";
const FIELDS: &str = "t number line first size name type\n0 1 1 0 8 stats.a long\n0 2 1 8 8 stats.b long";

fn shared(html: &str) -> Option<Value> {
    let text = html.split_once("id=\"block-sharing\">")?.1.split_once("</script>").unwrap().0;
    let mut bytes = Vec::new();
    GzDecoder::new(&STANDARD.decode(text).unwrap()[..]).read_to_end(&mut bytes).unwrap();
    Some(serde_json::from_slice(&bytes).unwrap())
}

/// Two threads add to neighbouring words, so many instructions each.
fn accesses(each: usize) -> String {
    let mut rows = String::from("t line tid thread text at code first size reads writes atomic waited wait seen hits");
    for (tid, first) in [(1, 0), (2, 8)] {
        for n in 0..each {
            rows.push_str(&format!(
                "\n1 1 {tid} app add 500000000 {} {first} 8 1 1 0 20 {} 0 4",
                5000 + n,
                200_000_000 / each
            ));
        }
    }
    // A third thread reads the first word.
    rows.push_str("\n1 1 3 app mov 500000000 6000 0 8 1 0 0 0 0 1 0");
    rows
}

#[test]
fn findings_come_with_their_bytes_and_runs_with_nothing_say_so() {
    let accesses = accesses(20);
    let slow = run("slow", SAMPLES, &[(&LOOK, LOOKS), (&LINE, LINES), (&FIELD, FIELDS), (&ACCESS, &accesses)]);
    let fast = run("fast", SAMPLES, &[(&LOOK, LOOKS)]);
    let old = run("old", SAMPLES, &[]);
    let (head, html) = report(&[fast, slow, old]);
    assert_eq!(head["sharing"], json!({"block": "sharing"}));
    let page = head["pages"].as_array().unwrap().iter().find(|page| page["id"] == "sharing").unwrap();
    assert_eq!(page["view"], "sharing");
    let told = shared(&html).unwrap();
    let of = |run: usize| &told["runs"][run];
    assert_eq!((&of(0)["missing"], &of(0)["things"]), (&Value::Null, &json!([])));
    assert!(of(2)["missing"]["why"].as_str().unwrap().contains("not looked for"), "{}", of(2));
    let thing = &of(1)["things"][0];
    assert_eq!(
        [&thing["kind"], &thing["name"], &thing["memory"], &thing["comm"]],
        [&json!("false"), &json!("stats</script>"), &json!("global"), &json!("app")]
    );
    // 0.4 of a second of CPU time waits; of what is not known a tenth is taken to be its own.
    let part: Vec<f64> = thing["part"].as_array().unwrap().iter().map(|n| n.as_f64().unwrap()).collect();
    assert!((part[0] - 0.36).abs() < 1e-9 && part[1] < part[0] && part[0] < part[2], "{part:?}");
    assert!((thing["speedup"][0].as_f64().unwrap() - 1.0 / 0.64).abs() < 1e-9);
    assert!(thing["advice"].as_str().unwrap().contains("alignas(64)"));
    let line = &thing["lines"][0];
    assert_eq!(line["fields"][1], json!({"first": 8, "size": 8, "name": "stats.b", "of_type": "long"}));
    assert_eq!((line["accesses"].as_array().unwrap().len(), &line["left_out"]), (24, &json!(17)));
    // Who uses which bytes is of all accesses.
    let place = |tid: i64| line["threads"].as_array().unwrap().iter().position(|t| t["tid"] == tid).unwrap();
    assert_eq!(
        line["cells"],
        json!([
            {"first": 0, "size": 8, "writers": [place(1)], "readers": [place(3)]},
            {"first": 8, "size": 8, "writers": [place(2)], "readers": []},
        ])
    );
    let first = &line["accesses"][0];
    assert_eq!((&first["does"], &first["waited"], &first["hits"]), (&json!("read, write"), &json!(20), &json!(4)));
}

#[test]
fn lines_that_the_cpu_says_came_from_other_cores() {
    // As an import makes them: no samples with registers were looked through.
    let accesses = "t pid tid comm thread kind level snoop tlb at stack address samples timed latency memory translation\n\
        1 7 1 app left load \"other core\" modified hit 500000000 - 4096 6 6 1200 - -\n\
        1 7 2 app right store L1 unknown unknown 500000000 - 4100 6 0 0 - -\n\
        1 7 2 app right load L1 none hit 500000000 - 4104 10 10 800 - -";
    let columns = "line pid tid comm thread text at stack code first size reads writes atomic waited wait seen period hits \
        armed sampled from_core modified timed latency";
    let shared = format!(
        "t {columns}\n1 1 7 1 app left - 500000000 - 4096 8 0 1 0 0 0 - 0 - 0 0 6 6 6 6 1200\n\
         1 1 7 2 app right - 500000000 - 4100 16 0 0 1 0 0 - 0 - 0 0 6 0 0 0 0"
    );
    let lines = "t number pid comm address memory name module source start size note\n0 1 7 app 4096 heap - - - - - -";
    let tables = [
        (&access::tables::INSTRUCTION, accesses),
        (&access::tables::ACCESS, shared.as_str()),
        (&access::tables::LINE, lines),
    ];
    let (head, html) = report(&[run("imported", SAMPLES, &tables)]);
    assert_eq!(head["sharing"], json!({"block": "sharing"}));
    let told = self::shared(&html).unwrap();
    let of = &told["runs"][0];
    assert_eq!((&of["missing"], &of["looked"], &of["sampled"]), (&Value::Null, &json!(false), &json!(22)));
    assert_eq!((&of["things"], &of["moved_left_out"]), (&json!([]), &json!(0)));
    let moved = &of["moved"][0];
    assert_eq!(
        (&moved["kind"], &moved["name"], &moved["memory"]),
        (&json!("false"), &json!("line 0x1000"), &json!("heap"))
    );
    assert_eq!((&moved["sampled"], &moved["from_core"], &moved["modified"]), (&json!(12), &json!(6), &json!(6)));
    // 1,200 of 2,000 cycles.
    assert_eq!((&moved["cycles"], &moved["part"]), (&json!(200.0), &json!(0.6)));
    let first = &moved["line"]["accesses"][0];
    assert_eq!((&first["does"], &first["sampled"], &first["from_core"]), (&json!("read"), &json!(6), &json!(6)));
}

#[test]
fn recordings_that_could_not_be_looked_at_have_no_such_page() {
    let (head, html) = report(&[run("old", SAMPLES, &[])]);
    assert_eq!(head["sharing"], Value::Null);
    assert!(head["pages"].as_array().unwrap().iter().all(|page| page["id"] != "sharing"));
    assert_eq!(shared(&html), None);
}

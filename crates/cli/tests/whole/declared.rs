//! What a table declares is all that anybody has to know of it: a recording with a measure, a histogram and a state that no part of the program has
//! heard of is drawn, listed and asked like any other.

use crate::common::Folder;
use model::{Column, Manifest, Measure, NULL, Page, Rows, State, StateKind, Symbols, Table, Unit};
use serde_json::Value;
use std::path::Path;
use store::Writer;

static FRAME: Table = Table::wide(
    "frame",
    "code",
    &[
        Column::number("number", "its number"),
        Column::fact("function", "function"),
        Column::fact("module", "module"),
        Column::fact("kind", "kind of code"),
    ],
)
.of_entries();

static STACK: Table = Table::wide(
    "stack",
    "stacks",
    &[
        Column::number("number", "its number"),
        Column::fact_number("parent", Unit::None, "the caller's stack"),
        Column::fact_number("frame", Unit::None, "its innermost frame"),
    ],
)
.of_entries();

/// An event with a stack.
static BARTER: Table = Table::wide(
    "barter",
    "pages that threads traded",
    &[
        Column::label("comm", "who traded"),
        Column::label("goods", "what was traded"),
        Column::number("stack", "where"),
        Column::gauge("price", Unit::Kibibytes, "what it cost").titled("paid"),
        Column::gauge("count", Unit::None, "trades").titled("trades"),
    ],
)
.of_events()
.titled("Trades of pages")
.on(Page::Memory)
.measured(
    &Measure::new("barters", "Traded memory", "price", "memory that was traded, by the stack that traded it")
        .of("who traded")
        .labels(&["goods"])
        .level("goods")
        .more(&["count"]),
);

/// A histogram of sizes, with bounds of its own.
static PARCEL: Table = Table::wide(
    "parcel",
    "parcels by size",
    &[
        Column::label("comm", "whose"),
        Column::counter("small", Unit::None, "small ones").histogram(3.0, Unit::Kibibytes),
        Column::counter("large", Unit::None, "large ones").histogram(12.0, Unit::Kibibytes),
    ],
)
.titled("Parcels sent")
.on(Page::Network);

/// A ledger with a state more.
static THREADS: Table = Table::wide(
    "thread_time",
    "threads",
    &[
        Column::number("pid", "process"),
        Column::number("tid", "thread"),
        Column::label("comm", "process name"),
        Column::label("thread", "thread name"),
        Column::counter("user", Unit::Nanoseconds, "on a CPU").titled("Running").state(&State {
            words: "running user code",
            kind: StateKind::OnCpu,
            color: ["#111111", "#222222"],
        }),
        Column::counter("daydream", Unit::Nanoseconds, "in thoughts").titled("Daydream").state(&State {
            words: "waiting for an idea",
            kind: StateKind::Wait,
            color: ["#333333", "#444444"],
        }),
    ],
)
.from_zero()
.scoped();

static WAIT: Table = Table::wide(
    "wait",
    "waits",
    &[
        Column::label("comm", "process name"),
        Column::label("thread", "thread name"),
        Column::label("state", "the state"),
        Column::number("stack", "where"),
        Column::gauge("time", Unit::Nanoseconds, "how long"),
    ],
)
.of_events()
.measured(
    &Measure::new("blocked", "Off-CPU time", "time", "time blocked, by the stack that waited")
        .of("who waited")
        .of_ledger()
        .labels(&["state"])
        .level("state"),
);

/// Two seconds of `main` in `trade`, and of its thoughts.
fn write(path: &Path) {
    const SECOND: i64 = 1_000_000_000;
    let mut writer = Writer::create(path, true, i64::MAX).expect("a recording");
    let mut symbols = Symbols::default();
    let mut put = |table: &'static Table, reads: &[(i64, &[i64])]| {
        let id = writer.define("invented", table);
        for (t, cells) in reads {
            writer.put(id, t * SECOND, &Rows { width: table.width(), cells: cells.to_vec() });
        }
    };
    let [main, trade, app, native, salt, daydream] =
        ["main", "trade", "app", "native", "salt", "daydream"].map(|text| symbols.cell(text));
    put(&FRAME, &[(0, &[1, main, app, native, 2, trade, app, native])]);
    put(&STACK, &[(0, &[1, NULL, 1, 2, 1, 2])]);
    put(&BARTER, &[(1, &[app, salt, 2, 64, 2]), (2, &[app, salt, 2, 32, 1])]);
    put(&PARCEL, &[(0, &[app, 0, 0]), (1, &[app, 5, 1]), (2, &[app, 9, 1])]);
    let half = SECOND / 2;
    put(
        &THREADS,
        &[(0, &[7, 7, app, main, 0, 0]), (1, &[7, 7, app, main, half, half]), (2, &[7, 7, app, main, SECOND, SECOND])],
    );
    put(&WAIT, &[(1, &[app, main, daydream, 1, half]), (2, &[app, main, daydream, 1, half])]);
    let manifest = Manifest {
        interval: SECOND,
        duration: Some(2 * SECOND),
        scope: model::whose::COMMAND.into(),
        ended: Some("test".into()),
        ..Manifest::default()
    };
    writer.finish(&manifest, &symbols).expect("a finished recording");
}

fn head(folder: &Folder) -> Value {
    folder.expect(0, ["report", "invented.twin", "-o", "invented.html"]);
    let html = std::fs::read_to_string(folder.path("invented.html")).expect("a report");
    let head = html.split_once("id=\"twinscope-head\">").expect("a head").1.split_once("</script>").expect("its end").0;
    serde_json::from_str(head).expect("JSON")
}

fn named<'a>(list: &'a Value, id: &str) -> &'a Value {
    list.as_array().and_then(|all| all.iter().find(|one| one["id"] == id)).unwrap_or_else(|| panic!("{id}: {list}"))
}

#[test]
fn what_a_table_declares_is_shown_everywhere() {
    let folder = Folder::new();
    write(&folder.path("invented.twin"));

    // `flame`: the measure, the state, and all words where one is wrong.
    for (word, expected) in [
        ("barters", ["Traded memory: invented", "96 KiB", "salt", "trade"]),
        ("daydream", ["Off-CPU time waiting for an idea: invented", "1 s", "app", "main"]),
    ] {
        let drawn = folder.expect(0, ["flame", "invented.twin", "--state", word]);
        for part in expected {
            assert!(drawn.stdout.contains(part), "{part}: {drawn}");
        }
    }
    folder.expect(2, ["flame", "invented.twin", "--state", "alms"]).says("there are: blocked, daydream, barters");

    // SQL.
    let rows = folder.rows("invented.twin", "select goods, sum(price) as price from barter group by goods");
    assert_eq!((&rows[0]["goods"], rows[0]["price"].as_i64()), (&"salt".into(), Some(96)));

    // The report: the measure and its page, the state with its words and colours, the histogram with its bounds.
    let head = head(&folder);
    let measure = named(&head["profile"]["measures"], "barters");
    assert_eq!(
        (&measure["title"], &measure["unit"], &measure["state"]),
        (&"Traded memory".into(), &"B".into(), &"goods".into())
    );
    let state = named(&head["profile"]["states"], "daydream");
    assert_eq!(
        (&state["title"], &state["help"], &state["kind"]),
        (&"Daydream".into(), &"in thoughts".into(), &"wait".into())
    );
    assert_eq!(state["color"], serde_json::json!(["#333333", "#444444"]));
    let trades = named(&named(&head["pages"], "memory")["tables"], "barter-table");
    assert_eq!((&trades["title"], &trades["stacks"][0]["title"]), (&"Trades of pages".into(), &"Who traded".into()));
    assert_eq!(named(&trades["values"], "price")["title"], "paid");
    assert_eq!(named(&trades["keys"], "goods")["key"], true);
    let parcels = named(&named(&head["pages"], "network")["tables"], "parcel-table");
    assert_eq!(parcels["title"], "Parcels sent");
    let median = named(&parcels["values"], "p50");
    assert_eq!(median["unit"], "B");
    assert_eq!(median["how"]["buckets"], serde_json::json!([["small", 0.0, 3072.0], ["large", 3072.0, 12288.0]]));
}

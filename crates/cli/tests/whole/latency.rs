//! How long requests took, as people ask for it: the section of `compare`, its conditions, `info` and SQL, on recordings of a made-up server.

use crate::common::Folder;
use model::{Manifest, Rows, Symbols, Table};
use std::path::Path;
use store::Writer;

const SECOND: i64 = 1_000_000_000;

fn table(name: &str) -> &'static Table {
    let all = sources::ALL.iter().flat_map(|source| source.tables);
    all.copied().find(|table| table.name == name).expect("a table of the source turns")
}

/// A minute of a server: a thousand requests a second of 1.5 ms each, of which a share of `slow` in ten thousand takes 48 ms. It asks a database.
fn write(path: &Path, slow: i64) {
    let mut writer = Writer::create(path, true, i64::MAX).expect("a recording");
    let mut symbols = Symbols::default();
    let [web, server, client, tcp, none, service] =
        ["web\u{1b}[31m", "server", "client", "tcp", "", "service"].map(|text| symbols.cell(text));
    let (times, turns) = (table("turn_time"), table("turn"));
    let [times_id, turns_id] = [times, turns].map(|table| writer.define("turns", table));
    let mut before = 0;
    for read in 0..=120 {
        let rows = |cells: Vec<i64>, table: &Table| Rows { width: table.width(), cells };
        let t = read * SECOND / 2;
        // Counters: 500 requests a read, each of which lay there for 40 µs.
        let mut sums = vec![7, web, server, tcp, 8080, none];
        sums.extend(turns.values().map(|column| match column.name {
            "turns" | "queued" => 500 * read,
            "queue_time" => 500 * read * 40_000,
            _ => 0,
        }));
        writer.put(turns_id, t, &rows(sums, turns));
        if read == 0 {
            continue;
        }
        // Whole requests, of which some reads have one more than others.
        let sum = read * 500 * slow / 10_000;
        let (long, wobble) = (sum - before, read % 7 - 3);
        before = sum;
        let mut cells = Vec::new();
        for (side, port) in [(server, 8080), (client, 5432)] {
            for (low, high, count) in [
                (1_000_000, 1_500_000, 250 + 5 * wobble),
                (1_500_000, 2_000_000, 250 - 5 * wobble),
                (46_000_000, 50_000_000, long),
            ] {
                if count > 0 {
                    cells.extend([web, side, tcp, port, none, service, low, high, count]);
                }
            }
        }
        writer.put(times_id, t, &rows(cells, times));
    }
    let manifest = Manifest {
        name: path.file_stem().expect("a name").to_string_lossy().into_owned(),
        interval: SECOND / 2,
        duration: Some(60 * SECOND),
        ended: Some("test".into()),
        ..Manifest::default()
    };
    writer.finish(&manifest, &symbols).expect("a finished recording");
}

#[test]
fn a_tail_that_grew_is_said() {
    let folder = Folder::new();
    write(&folder.path("a.twin"), 40);
    write(&folder.path("b.twin"), 40);
    write(&folder.path("slow.twin"), 400);
    let pair = |other: &'static str, condition: &'static str| ["compare", "a.twin", other, "--fail-on", condition];
    // Equal runs.
    let same = folder.expect(0, ["compare", "a.twin", "b.twin", "--fail-on", "any"]);
    assert!(!same.stdout.contains("significant\n") && same.stdout.contains("web\u{fffd}[31m, port 8080"), "{same}");
    folder.expect(0, pair("b.twin", "latency.p99 +10%"));
    // A tail of its own: what the middle took is not in it.
    let slow = folder.expect(4, pair("slow.twin", "latency.p99 +10%"));
    slow.says("--fail-on: latency.p99{comm=web\u{fffd}[31m,port=8080,role=server}");
    for part in
        ["In slow p99 of requests on port 8080 is ", "× as long (", "requests answered", "mean wait before it is read"]
    {
        assert!(slow.stdout.contains(part), "{part}: {slow}");
    }
    let row = |name: &str| slow.stdout.lines().find(|line| line.trim_start().starts_with(name)).expect("a row");
    assert!(row("p99 ").ends_with("significant") && !row("p50 ").contains("significant"), "{slow}");
    assert!(row("mean wait").contains("40 µs") && row("requests made").contains("change of p99"), "{slow}");
    folder.expect(4, pair("slow.twin", "latency.p99@8080 +10%"));
    folder.expect(4, pair("slow.twin", "latency.p99{role=client,port=5432} +10%"));
    folder.expect(0, pair("slow.twin", "latency.p50 +10%"));
    folder
        .expect(3, pair("slow.twin", "latency.p99@80 +10%"))
        .says("latency.p99{port=80,role=server} was not compared");
    folder.expect(2, pair("slow.twin", "latency.p95 +10%")).says("there are latency.p50, latency.p90, latency.p99");
    let json = folder.expect(0, ["compare", "a.twin", "slow.twin", "--json"]).json();
    let web = &json["latency"][0];
    assert_eq!(
        (&web["role"], &web["port"], &web["quantiles"][2]["quantile"]),
        (&"server".into(), &8080.into(), &"p99".into())
    );
    assert!(web["quantiles"][2]["low"].as_f64().is_some_and(|low| low > 1.0), "{web}");
    assert_eq!(web["baseline"]["queue_time"].as_f64().map(|x| (x * 1e6).round()), Some(40.0));
    assert_eq!(json["differences"][0]["metric"], "latency.p99");

    folder.expect(0, ["report", "a.twin", "slow.twin", "-o", "out.html"]);
    let info = folder.expect(0, ["info", "slow.twin"]);
    assert!(info.stdout.contains("answered by web\u{fffd}[31m, port 8080: 1 k/s, p50 1."), "{info}");
    assert_eq!(folder.info("slow.twin")["requests"][0]["port"], 8080);
    let sql = "select port, quantile_of(low, high, count, 0.99) / 1e6 as p99 from turn_time where what = 'service' group by port";
    let rows = folder.rows("slow.twin", sql);
    assert!(rows.len() == 2 && rows[1]["p99"].as_f64().is_some_and(|p99| (46.0..50.0).contains(&p99)), "{rows:?}");
}

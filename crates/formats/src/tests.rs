//! With real output of each tool; fixtures/tune-formats/README.md says where it is from.

use super::*;
use proptest::prelude::*;
use serde_json::{Map, Value};
use std::sync::LazyLock;

fn fixture(name: &str) -> String {
    let path = format!("{}/../../fixtures/tune-formats/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

type Fixture = (Format, String, Map<String, Value>);

/// What each fixture tells, by its name, which begins with the format: what is not listed is not there.
static FIXTURES: LazyLock<Vec<Fixture>> = LazyLock::new(|| {
    let expected: Map<String, Value> = serde_json::from_str(&fixture("expected.json")).unwrap();
    let named = |name: &str| {
        let begins = Format::ALL.into_iter().filter(|format| name.starts_with(format.name()));
        begins.max_by_key(|format| format.name().len()).unwrap()
    };
    expected.into_iter().map(|(name, told)| (named(&name), name, told.as_object().unwrap().clone())).collect()
});

#[test]
fn each_tells_what_its_output_says() {
    for (format, name, told) in FIXTURES.iter() {
        let numbers = read(*format, &fixture(name)).unwrap_or_else(|why| panic!("{name}: {why}"));
        for (what, expected) in told {
            let expected = expected.as_f64().unwrap();
            let (value, unit) = numbers.value(what).unwrap_or_else(|| panic!("{name} has no {what}: {numbers:?}"));
            assert!((value - expected).abs() <= 1e-12 * expected.abs().max(1e-9), "{name} {what}: {value}");
            assert_eq!(
                unit,
                match what.as_str() {
                    "rate" => "/s",
                    "errors" | "error_share" | "done" => "",
                    _ => "s",
                }
            );
        }
        // And nothing else.
        let plain = ["rate", "mean", "min", "max", "errors", "error_share", "done"];
        let count = plain.iter().filter(|what| numbers.value(what).is_some()).count() + numbers.quantiles.len();
        assert_eq!(count, told.len(), "{name}: {numbers:?}");
        assert!(numbers.quantiles.is_sorted_by(|a, b| a.0 < b.0), "{name}");
        for what in numbers.names() {
            assert!(numbers.value(&what).is_some(), "{name} {what}");
        }
    }
}

#[test]
fn load_tells_in_json_what_it_tells_in_text() {
    let numbers = read(Format::Load, &fixture("load.json")).unwrap();
    assert_eq!((numbers.rate, numbers.done, numbers.errors), (Some(2000.0), Some(4000.0), Some(0.0)));
    assert_eq!(numbers.mean, Some(0.00018802304799999997));
    assert_eq!(numbers.names(), ["rate", "mean", "max", "errors", "error_share", "done", "p50", "p90", "p99", "p99.9"]);
}

#[test]
fn names_are_those_that_people_ask_for() {
    let numbers = read(Format::Wrk2, &fixture("wrk2.txt")).unwrap();
    let names = numbers.names().join(" ");
    let rest = "p0 p10 p50 p75 p90 p95 p99 p99.9 p99.99 p99.999 p100";
    assert_eq!(names, format!("rate mean min max errors error_share done {rest}"));
    for none in ["p42", "p99.95", "p", "p-1", "p1e1", "pNaN", "p150", "stddev", ""] {
        assert_eq!(numbers.value(none), None, "{none}");
    }
}

#[test]
fn names_of_formats_are_read() {
    for (name, format) in Format::NAMES.iter().zip(Format::ALL) {
        assert_eq!((Format::parse(name), format.name()), (Some(format), *name));
    }
    assert_eq!(Format::parse("ab"), None);
}

#[test]
fn other_text_and_earlier_reports_do_not_matter() {
    for (format, name, _) in FIXTURES.iter() {
        let alone = read(*format, &fixture(name)).unwrap();
        // Of another run, with other numbers.
        let earlier =
            FIXTURES.iter().find(|(of, other, _)| of == format && other != name).map(|(_, other, _)| fixture(other));
        let same_kind =
            earlier.filter(|text| text.trim_start().starts_with('{') == fixture(name).trim_start().starts_with('{'));
        // This one lacks the banner that k6 prints when it begins.
        let same_kind = same_kind.filter(|_| name != "k6-0.txt");
        let output = format!(
            "starting [1/3] {{now}}\n{}\u{1b}[32mok\u{1b}[0m 50%\r100%\r\n{}\nbye: [done]\n",
            same_kind.unwrap_or_default(),
            fixture(name).replace('\n', "\u{1b}[0m\r\n"),
        );
        assert_eq!(read(*format, &output), Ok(alone), "{name}");
    }
}

#[test]
fn a_report_that_was_cut_off_is_an_error_and_not_the_one_before() {
    // Where nothing was done a report has no times that could be missing; a warning makes the half of the other.
    for (format, name, _) in
        FIXTURES.iter().filter(|(_, name, _)| !name.contains("refused") && !name.contains("colour"))
    {
        let text = fixture(name);
        let lines: Vec<&str> = text.lines().collect();
        let half = lines[..lines.len() / 2].join("\n");
        // JSON on one line.
        let half = if lines.len() < 3 { &text[..text.len() / 2] } else { &half };
        let Err(alone) = read(*format, half) else { panic!("half of {name} was read") };
        assert!(alone.starts_with(format.name()), "{alone}");
    }
    for (format, name, at) in [
        (Format::Wrk, "wrk-latency.txt", "  Latency Distribution"),
        (Format::Wrk2, "wrk2.txt", "----"),
        (Format::Oha, "oha-1.txt", "Details"),
        (Format::Oha, "oha.json", "\"details\""),
        (Format::H2load, "h2load.txt", "requests:"),
        (Format::Hey, "hey.txt", "Details"),
        (Format::Vegeta, "vegeta.txt", "Success"),
        (Format::Vegeta, "vegeta-errors.json", "\"success\""),
        (Format::K6, "k6-1.txt", "    http_reqs"),
        (Format::K6, "k6.json", "\"iterations\""),
        (Format::Pgbench, "pgbench.txt", "tps"),
        (Format::Sysbench, "sysbench-cpu.txt", "Latency (ms)"),
        (Format::Fio, "fio.txt", "Run status"),
        (Format::Fio, "fio.json", "\"disk_util\""),
        (Format::RedisBenchmark, "redis-benchmark.txt", "Summary:"),
        (Format::RedisBenchmark, "redis-benchmark-csv.txt", "\"0.1"),
        (Format::Hyperfine, "hyperfine.txt", "  Range"),
        (Format::Hyperfine, "hyperfine.json", "\"exit_codes\""),
        (Format::Jmh, "jmh-average.json", "\"secondaryMetrics\""),
        (Format::Load, "load.txt", "errors"),
        (Format::Load, "load.json", "\"own\""),
    ] {
        let text = fixture(name);
        let cut = &text[..text.find(at).unwrap()];
        assert!(read(format, &format!("{text}\n{cut}")).is_err(), "{name}");
    }
}

#[test]
fn errors_say_what_was_looked_for() {
    for (format, text, said) in [
        (Format::Wrk, fixture("wrk-refused.txt"), "wrk: no report in the output (looked for \"Running … test @\""),
        (
            Format::Wrk,
            fixture("wrk.txt").replace("Requests/sec", "Requests"),
            "wrk: the report is not whole: Requests/sec",
        ),
        (Format::Pgbench, fixture("pgbench-aborted.txt"), "pgbench: the run was aborted"),
        (Format::Hyperfine, fixture("hyperfine-several.txt"), "hyperfine: 2 commands were measured"),
        (Format::Hyperfine, fixture("hyperfine-several.json"), "hyperfine: 2 commands were measured"),
        (
            Format::RedisBenchmark,
            fixture("redis-benchmark-several.txt"),
            "redis-benchmark: 2 tests are in it (SET, GET), so it is not clear",
        ),
        (Format::Jmh, fixture("jmh-several.json"), "jmh: 2 results are in it"),
        (Format::Jmh, fixture("jmh-average.json").replace("ns/op", "x/op"), "jmh: scoreUnit is \"x/op\""),
        (
            Format::Jmh,
            fixture("jmh-average.json").replace("316.4039258368923,", "\"NaN\","),
            "primaryMetric.score is missing",
        ),
        (
            Format::Load,
            fixture("load-void.txt"),
            "load: void: the client and not the server was measured, for a thread",
        ),
        (Format::Load, fixture("load.json").replace("\"void\": null", "\"void\": \"it was late\""), "for it was late"),
        (Format::K6, String::new(), "k6: no report in the output"),
        (Format::Oha, "{}".into(), "and for JSON with \"summary\""),
    ] {
        let why = read(format, &text).unwrap_err();
        assert!(why.contains(said), "{why}\n{said}");
    }
}

#[test]
fn older_and_rarer_forms_are_read() {
    // The last lines of pgbench before 14, as its manual has them.
    let tps =
        "tps = 85.184871 (including connections establishing)\ntps = 85.296346 (excluding connections establishing)\n";
    let old = "transaction type: TPC-B (sort of)\nnumber of transactions actually processed: 10000/10000\nlatency average: 117.4 ms\n";
    let numbers = read(Format::Pgbench, &format!("{old}{tps}")).unwrap();
    assert_eq!((numbers.rate, numbers.mean, numbers.errors), (Some(85.296346), Some(0.1174), None));

    // k6 before 1.0 with failures, with a threshold, and of a script without requests.
    let failing = fixture("k6-0.txt").replace("0.00%   ✓ 0           ✗ 172567", "20.00%  ✓ 10       ✗ 40");
    let failing = failing.replace("     http_req_duration", "   ✗ http_req_duration").replace("172567  ", "50  ");
    let numbers = read(Format::K6, &failing).unwrap();
    assert_eq!((numbers.errors, numbers.error_share, numbers.done), (Some(10.0), Some(0.2), Some(50.0)));
    let none: String = fixture("k6-0.txt").lines().filter(|l| !l.contains("http_")).map(|l| format!("{l}\n")).collect();
    let numbers = read(Format::K6, &none).unwrap();
    assert_eq!((numbers.rate, numbers.max, numbers.errors), (Some(2771.798655), Some(355.34 * 1e-3), None));
    // What handleSummary gets has a level more.
    let json: Value = serde_json::from_str(&fixture("k6.json")).unwrap();
    let metrics = json["metrics"].as_object().unwrap().iter();
    let nested: Map<String, Value> =
        metrics.map(|(name, values)| (name.clone(), serde_json::json!({ "values": values }))).collect();
    let nested = serde_json::json!({ "metrics": nested }).to_string();
    assert_eq!(read(Format::K6, &nested), read(Format::K6, &fixture("k6.json")));

    // wrk2 -U prints latencies from when requests were sent as well.
    let text = fixture("wrk2.txt");
    let uncorrected = "  Latency Distribution (HdrHistogram - Uncorrected Latency (measured without taking delayed starts into account))\n 50.000%    1.00us\n  Detailed Percentile spectrum:\n       0.001     0.500000            1         2.00\n#[Mean    =        0.001, StdDeviation   =        1.0]\n----";
    assert_eq!(read(Format::Wrk2, &text.replacen("----", uncorrected, 1)), read(Format::Wrk2, &text));

    // oha tells times in the unit of its slowest request; some versions of hey print the per cent sign twice.
    let oha = fixture("oha-1.txt").replace("Average:\t0.0867 secs", "Average:\t86.7 ms");
    assert_eq!(read(Format::Oha, &oha).unwrap().mean, Some(86.7 * 1e-3));
    assert_eq!(read(Format::Hey, &fixture("hey.txt").replace("% in", "%% in")), read(Format::Hey, &fixture("hey.txt")));
}

#[test]
fn numbers_that_nothing_measures_are_not_read() {
    let huge = fixture("wrk.txt").replace("21430.88", &"9".repeat(400));
    assert!(read(Format::Wrk, &huge).is_err());
    let huge = fixture("wrk-latency.txt").replace("4.66ms", "99999999999999h");
    assert_eq!(read(Format::Wrk, &huge).unwrap().value("p99"), None);
    for wrong in ["-5", "1e400", "1e30", "\"NaN\"", "null"] {
        let json = fixture("oha.json").replace("2715.3101664916794", wrong);
        assert!(read(Format::Oha, &json).is_err(), "{wrong}");
        let json = fixture("hyperfine.json").replace("0.029090602", wrong);
        if let Ok(numbers) = read(Format::Hyperfine, &json) {
            assert!(numbers.mean.is_some() && (numbers.value("p50").is_none() || wrong == "x"), "{wrong}: {numbers:?}");
        }
    }
    // Quickly, however many brackets.
    for text in ["[".repeat(20_000), "{\"metrics\":".repeat(2_000), "[{\"a\":[".repeat(3_000), "{\n".repeat(20_000)] {
        for format in Format::ALL {
            assert!(read(format, &text).is_err());
        }
    }
}

#[test]
fn durations_are_read() {
    for (text, seconds) in [
        ("1.53ms", Some(1.53e-3)),
        ("1m2s", Some(62.0)),
        ("1h2m3.5s", Some(3723.5)),
        ("250µs", Some(250e-6)),
        ("250μs", Some(250e-6)),
        ("12.3us", Some(12.3e-6)),
        ("992ns", Some(992e-9)),
        ("97.3 µs", Some(97.3e-6)),
        ("0.0012 secs", Some(0.0012)),
        (" 1.00m ", Some(60.0)),
        ("0s", Some(0.0)),
        ("5", None),
        ("", None),
        ("ms", None),
        ("-1ms", None),
        ("-nan", None),
        ("NaN secs", None),
        ("1..2s", None),
        ("1.5ms3", None),
        ("1 fortnight", None),
    ] {
        let read = text::duration(text);
        let close = read.zip(seconds).is_some_and(|(a, b)| (a - b).abs() <= 1e-12 * b);
        assert!(close || read == seconds, "{text}: {read:?}");
    }
    assert_eq!(text::scaled("1.05k"), Some(1050.0));
    assert_eq!(text::scaled("20 M"), Some(2e7));
    assert_eq!(
        (text::scaled("k"), text::scaled("1 q"), text::number("1e5"), text::number("inf")),
        (None, None, None, None)
    );
}

#[test]
fn escapes_of_terminals_are_taken_out() {
    for (output, plain) in [
        ("\u{1b}[1;32mmean\u{1b}[0m ok", "mean ok"),
        ("\u{1b}]0;title\u{7}text", "text"),
        ("\u{1b}]8;;http://a/\u{1b}\\link", "link"),
        ("10%\r20%\r\nend", "10%\n20%\nend"),
        ("\u{1b}[2J\u{1b}[H\u{1b}[?25lx", "x"),
        ("cut \u{1b}[1;\nnext", "cut \nnext"),
        ("\u{1b}", ""),
    ] {
        assert_eq!(text::plain(output), plain, "{output:?}");
    }
}

fn check(format: Format, text: &str) -> Result<(), TestCaseError> {
    let Ok(numbers) = read(format, text) else { return Ok(()) };
    let plain = ["rate", "mean", "min", "max", "errors", "error_share", "done"];
    let values = plain.iter().filter_map(|name| numbers.value(name)).map(|(value, _)| value);
    for value in values.chain(numbers.quantiles.iter().flat_map(|(share, time)| [*share, *time])) {
        prop_assert!(value.is_finite() && value >= 0.0, "{numbers:?}");
    }
    prop_assert!(numbers.error_share.is_none_or(|share| share <= 1.0));
    prop_assert!(numbers.quantiles.is_sorted_by(|a, b| a.0 < b.0));
    for name in numbers.names() {
        prop_assert!(numbers.value(&name).is_some(), "{name}");
    }
    Ok(())
}

proptest! {
    #[test]
    fn arbitrary_text_does_no_harm(text in ".{0,400}", lines in prop::collection::vec("[ -~µ±…\\[\\]{}:\"0-9.%]{0,40}", 0..30)) {
        for format in Format::ALL {
            check(format, &text)?;
            check(format, &lines.join("\n"))?;
        }
    }

    #[test]
    fn damaged_output_does_no_harm(
        which in 0..FIXTURES.len(),
        changes in prop::collection::vec((0.0..1.0f64, 0..12usize, ".{0,3}|[0-9]{1,25}|-|nan|inf|1e999|\\[|\\{|\n"), 1..12),
        end in 0.0..1.5f64,
    ) {
        let (format, name, _) = &FIXTURES[which];
        let mut text: Vec<char> = fixture(name).chars().collect();
        for (at, remove, insert) in changes {
            let from = (at * text.len() as f64) as usize;
            let to = (from + remove).min(text.len());
            text.splice(from..to, insert.chars());
        }
        text.truncate((end * text.len() as f64) as usize);
        let text: String = text.into_iter().collect();
        check(*format, &text)?;
        for other in Format::ALL {
            check(other, &text)?;
        }
    }
}

#[test]
fn what_was_done_is_counted_or_follows_from_the_rate() {
    let done = |format, name: &str| read(format, &fixture(name)).unwrap().done_in(2.0).unwrap();
    assert_eq!(done(Format::Pgbench, "pgbench.txt"), 4309.0);
    let jmh = read(Format::Jmh, &fixture("jmh-throughput.json")).unwrap().rate.unwrap();
    assert_eq!(done(Format::Jmh, "jmh-throughput.json"), 2.0 * jmh);
    let mean = read(Format::Jmh, &fixture("jmh-average.json")).unwrap().mean.unwrap();
    assert_eq!(done(Format::Jmh, "jmh-average.json"), 2.0 / mean);
    assert_eq!(Numbers::default().done_in(2.0), None);
}

//! Two machines side by side: `doctor --against`, `record --doctor`, and what `explain` makes of figures. That figures differ is made sure by changing
//! them a hundredfold: no timing decides a test.

use crate::common::{Folder, skipped};
use serde_json::{Value, json};

/// Writes what `doctor --json` said, with figures and facts changed.
fn changed(folder: &Folder, name: &str, all: &Value, change: impl Fn(&mut Value)) {
    let mut all = all.clone();
    change(&mut all);
    std::fs::write(folder.path(name), all.to_string()).expect("a file");
}

/// Multiplies a figure.
fn times(all: &mut Value, id: &str, factor: f64) {
    for figure in all["figures"].as_array_mut().into_iter().flatten().filter(|f| f["id"] == id) {
        for part in ["value", "low", "high"] {
            let value = figure[part].as_f64().expect("a number");
            figure[part] = json!(value * factor);
        }
    }
}

fn ids(rows: &Value) -> Vec<&str> {
    rows.as_array().into_iter().flatten().filter_map(|row| row["id"].as_str()).collect()
}

#[test]
fn this_machine_lies_beside_another() {
    let folder = Folder::new();
    let here =
        folder.expect(0, ["doctor", "--json", "--quick", "--skip", "fsync,small-read,loopback,steal,cpu-pairs"]).json();
    let known = ids(&here["figures"]);
    for id in ["call", "clock", "fault", "switch", "frequency", "memory.dram"] {
        let missing = here["figures_missing"].to_string();
        assert!(known.contains(&id) || missing.contains(id.split('.').next().unwrap_or(id)), "{id}: {missing}");
    }
    assert!(here["set_up"]["kernel.release"].is_string() && here["set_up"]["cpu.model"].is_string());
    changed(&folder, "there.json", &here, |all| {
        times(all, "call", 0.01);
        all["set_up"]["kernel.release"] = json!("1.0-\u{1b}[31mred");
        all["set_up"]["cpu.mitigation.meltdown"] = json!("Mitigation: PTI");
    });
    let beside = folder.expect(0, ["doctor", "--against", "there.json", "--quick", "--json"]).json();
    assert_eq!(ids(&beside["against"]["differ"]).first(), Some(&"call"), "what differs by most comes first");
    let call = &beside["against"]["differ"][0];
    assert!(
        call["ratio"]["low"].as_f64() > Some(5.0) && call["ratio"]["high"].as_f64() > call["ratio"]["low"].as_f64()
    );
    let facts: Vec<&str> =
        beside["against"]["set_up"].as_array().into_iter().flatten().filter_map(|f| f["fact"].as_str()).collect();
    assert_eq!(facts.len(), 2, "{facts:?}");
    // Itself a file for --against.
    std::fs::write(folder.path("again.json"), beside.to_string()).expect("a file");
    let text = folder.expect(0, ["doctor", "--against", "again.json", "--quick"]);
    assert!(text.stdout.contains("here ÷ there") && text.stdout.contains("Nothing differs in the set-up"), "{text}");
    let text = folder.expect(0, ["doctor", "--against", "there.json", "--quick"]);
    for words in
        ["What differs, by most first", "worse here", "kernel.release", "a mitigation adds cost", "What is the same"]
    {
        assert!(text.stdout.contains(words), "{words}: {text}");
    }
    assert!(!text.stdout.contains('\u{1b}'), "{text}");
}

#[test]
fn files_that_are_no_machine_are_refused_in_a_line() {
    let folder = Folder::new();
    let figure = json!({"id": "call", "title": "a call", "unit": "s", "more": false, "value": 1e-7, "low": 9e-8, "high": 2e-7, "rounds": 9});
    let good = json!({"version": 1, "checks": [], "figures": [figure], "set_up": {}}).to_string();
    for (content, why) in [
        (good[..good.len() / 2].to_owned(), "cut short"),
        (good.replace("\"version\":1", "\"version\":9"), "has version 9"),
        (good.replace("1e-7", "-1"), "no number above 0"),
        (good.replace("\"s\"", "\"\\u001b[31m\""), "unit that is not known"),
        ("[".repeat(1 << 20), "is not what"),
        (json!({"version": 1, "checks": []}).to_string(), "has no figures"),
        ("\u{0}\u{1}".into(), "is not what"),
    ] {
        std::fs::write(folder.path("there.json"), content).expect("a file");
        for words in
            [&["doctor", "--against", "there.json"][..], &["explain", "nosuch.twin", "--machine", "there.json"]]
        {
            let done = folder.expect(1, words);
            if words[0] == "doctor" {
                done.says("there.json").says(why);
                assert_eq!(done.stderr.trim().lines().count(), 1, "{done}");
                assert!(!done.stderr.contains('\u{1b}') && done.stdout.is_empty(), "{done}");
            }
        }
    }
    folder.expect(1, ["doctor", "--against", "nosuch.json"]).says("nosuch.json");
    folder.expect(2, ["doctor", "--against", "there.json", "--only", "fsync"]);
}

/// A loop of the shell that reads files and reports its progress.
const WORK: &str = "i=0; while [ $i -lt 20 ]; do i=$((i+1)); j=0; while [ $j -lt 2000 ]; do j=$((j+1)); done; read x </proc/self/stat; echo done $i; done";

#[test]
fn a_recording_holds_its_machine_and_explain_goes_by_it() {
    let folder = Folder::new();
    let done = folder
        .expect(0, ["record", "--doctor", "-o", "a.twin", "--throughput", "done ([0-9]+)", "--", "sh", "-c", WORK]);
    if done.stderr.contains("no figure of this machine was measured") {
        return skipped("record --doctor", "other programs keep this machine busy, and it says so");
    }
    done.says("measured this machine for");
    let rows = folder.rows("a.twin", "select figure, unit, better, value, low, high, rounds from machine");
    assert!(rows.len() >= 8 && rows.iter().any(|row| row["figure"] == "call"), "{rows:?}");
    for row in &rows {
        let of = |name: &str| row[name].as_f64().unwrap_or(f64::NAN);
        assert!(of("low") > 0.0 && of("low") <= of("value") && of("value") <= of("high"), "{row}");
    }
    // Without it there are none, and why is said.
    folder.expect(0, ["record", "-q", "-o", "without.twin", "--", "true"]);
    assert!(folder.info("without.twin")["coverage"].to_string().contains("record --doctor"));
    folder.expect(1, ["doctor", "--against", "without.twin"]).says("record with --doctor");
    // The recording is a machine for doctor, too.
    let beside = folder.expect(0, ["doctor", "--against", "a.twin", "--quick", "--json"]).json();
    assert!(!ids(&beside["against"]["same"]).is_empty() || !ids(&beside["against"]["differ"]).is_empty());
    if folder.run(["explain", "a.twin"]).status.code() == Some(1) {
        return skipped("explain", "the threads of a command cannot be looked at here");
    }
    // One machine twice: nothing to say.
    std::fs::copy(folder.path("a.twin"), folder.path("b.twin")).expect("a copy");
    let same = folder.expect(0, ["explain", "a.twin", "--against", "b.twin", "--json"]).json();
    assert_eq!(same["machines"]["pair"]["says"], json!([]), "{same:#}");
    let times = &same["machines"]["pair"]["forecast"]["times_as_long"]["value"];
    assert!(times.as_f64().is_some_and(|times| (times - 1.0).abs() < 1e-9), "{times}");
    // Another, on which everything that runs takes a hundred times as long.
    let figures: Vec<Value> = folder
        .rows("a.twin", "select figure as id, title, unit, better, value, low, high, rounds from machine")
        .into_iter()
        .map(|mut row| {
            let more = row["better"] == "more";
            let factor = if more { 0.01 } else { 100.0 };
            for part in ["value", "low", "high"] {
                row[part] = json!(row[part].as_f64().expect("a number") * factor);
            }
            json!({"id": row["id"], "title": row["title"], "unit": row["unit"], "more": more, "value": row["value"], "low": row["low"], "high": row["high"], "rounds": row["rounds"]})
        })
        .collect();
    let slow = json!({"version": 1, "figures": figures, "set_up": {}});
    std::fs::write(folder.path("slow.json"), slow.to_string()).expect("a file");
    let asked =
        folder.expect(0, ["explain", "a.twin", "--machine", "slow.json", "--machine", "a.twin", "--json"]).json();
    let forecasts = &asked["machines"]["forecasts"];
    assert_eq!((&forecasts[0]["machine"], &forecasts[1]["machine"]), (&json!("a"), &json!("slow")), "{asked:#}");
    assert_eq!(forecasts[0]["times_as_long"]["value"].as_f64().map(|x| (x * 1e6).round()), Some(1e6));
    assert!(forecasts[1]["times_as_long"]["value"].as_f64() > Some(10.0), "{forecasts:#}");
    let shares: f64 =
        forecasts[1]["parts"].as_array().into_iter().flatten().filter_map(|part| part["share"].as_f64()).sum();
    assert!((shares - 1.0).abs() < 0.02, "{shares}");
    let text = folder.expect(0, ["explain", "a.twin", "--machine", "slow.json"]);
    for words in ["On other machines", "slow:", "computing (sampled)"] {
        assert!(text.stdout.contains(words), "{words}: {text}");
    }
}

//! From other tools' profiles to flame graphs: import, flame in all its forms, and back again.

use crate::common::{Done, Folder};
use std::io::Read;
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/profiles").join(name)
}

fn read(folder: &Folder, name: &str) -> String {
    std::fs::read_to_string(folder.path(name)).expect("the file just written")
}

/// Runs the program, which must end well and print this.
fn prints(folder: &Folder, arguments: &[&str], words: &[&str]) -> Done {
    let done = folder.expect(0, arguments);
    for word in words {
        assert!(done.stdout.contains(word), "expected {word:?} on standard output: {done}");
    }
    done
}

/// The collapsed stacks of a recording.
fn stacks(folder: &Folder, twin: &str) -> Vec<String> {
    folder.expect(0, ["flame", twin, "-o", "stacks.folded"]);
    read(folder, "stacks.folded").lines().map(str::to_owned).collect()
}

#[test]
fn a_perf_script_becomes_every_kind_of_flame_graph() {
    let folder = Folder::new();
    let script = fixture("busy.script.txt");
    prints(&folder, &["import", script.to_str().unwrap(), "-o", "busy.twin"], &["busy.twin", "perf script"]);
    // Most of the work of the program is in one function; its caller's frame is hidden, as it has none of its own.
    let lines = stacks(&folder, "busy.twin");
    let total = |name: &str| -> u64 {
        let of = lines.iter().filter(|l| l.contains(name)).filter_map(|l| l.rsplit_once(' ')?.1.parse::<u64>().ok());
        of.sum()
    };
    let all = total("");
    assert!(total("work;hash") * 10 > all * 6, "{lines:?}");
    assert!(total(";work") * 10 > all * 9, "{lines:?}");
    // On the terminal.
    prints(&folder, &["flame", "busy.twin"], &["CPU time: busy", "hash", "Functions:"]);
    let turned = folder.expect(0, ["flame", "busy.twin", "--reverse", "--levels", "none", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&turned.stdout).expect("JSON");
    let first = json["nodes"].as_array().unwrap().iter().filter(|n| n["parent"] == 0 && n["name"] != "all");
    assert!(first.map(|n| n["name"].as_str().unwrap()).any(|n| n == "hash"));
    assert_eq!(json["functions"][0]["name"], "hash");
    // As files.
    for name in ["x.html", "x.svg", "x.speedscope.json", "x.pb.gz"] {
        prints(&folder, &["flame", "busy.twin", "-o", name], &[name]);
    }
    assert!(read(&folder, "x.html").contains("id=\"twinscope-flame\""));
    assert!(read(&folder, "x.svg").contains("<title>hash"));
    let speedscope: serde_json::Value = serde_json::from_str(&read(&folder, "x.speedscope.json")).unwrap();
    assert_eq!(speedscope["profiles"][0]["unit"], "seconds");
    // pprof and collapsed stacks come back as they went.
    let mut plain = Vec::new();
    let packed = std::fs::File::open(folder.path("x.pb.gz")).unwrap();
    flate2::read::GzDecoder::new(packed).read_to_end(&mut plain).unwrap();
    assert!(plain.len() > 1000);
    prints(&folder, &["import", "x.pb.gz", "-o", "again.twin"], &["from pprof"]);
    let again: Vec<String> = stacks(&folder, "again.twin")
        .into_iter()
        .map(|l| l.trim_start_matches("[unknown process];").to_owned())
        .collect();
    assert_eq!(again, lines, "pprof");
    std::fs::write(folder.path("x.folded"), lines.join("\n")).unwrap();
    prints(&folder, &["import", "x.folded", "-o", "third.twin", "--count", "1ms"], &["from collapsed stacks"]);
    let third = stacks(&folder, "third.twin");
    assert_eq!(third.len(), lines.len());
}

#[test]
fn a_difference_is_per_second() {
    let folder = Folder::new();
    std::fs::write(folder.path("a.folded"), "app;main;same 50\napp;main;less 50\n").unwrap();
    std::fs::write(folder.path("b.folded"), "app;main;same 50\napp;main;more 150\n").unwrap();
    for name in ["a", "b"] {
        prints(&folder, &["import", &format!("{name}.folded")], &[&format!("{name}.twin")]);
    }
    prints(&folder, &["flame", "b.twin", "--against", "a.twin"], &["b, baseline a", "new", "gone", "per second"]);
    folder.expect(0, ["flame", "b.twin", "--against", "a.twin", "-o", "d.folded"]);
    assert_eq!(
        read(&folder, "d.folded"),
        "app;main;less 500000000 0\napp;main;more 0 750000000\napp;main;same 500000000 250000000\n"
    );
    folder.expect(0, ["flame", "a.twin", "b.twin", "-o", "sum.folded"]);
    assert!(read(&folder, "sum.folded").contains("app;main;same 100000000\n"));
}

#[test]
fn mistakes_are_said() {
    let folder = Folder::new();
    std::fs::write(folder.path("prose.txt"), "It was a dark and stormy night.\n").unwrap();
    std::fs::write(folder.path("a.folded"), "app;main;f 5\n").unwrap();
    folder.expect(1, ["import", "prose.txt"]).says("neither perf.data");
    folder.expect(1, ["import", "nosuch"]).says("No such file");
    folder.expect(0, ["import", "a.folded"]);
    folder.expect(1, ["import", "a.folded"]).says("exists");
    folder.expect(0, ["import", "a.folded", "--force"]);
    folder.expect(2, ["flame", "a.twin", "-o", "x.png"]).says(".speedscope.json");
    folder.expect(1, ["flame", "a.twin", "--state", "lock"]).says("it has: cpu");
    folder.expect(2, ["flame", "a.twin", "--state", "locks"]).says("there are: cpu, blocked");
    prints(&folder, &["flame", "a.twin", "--process", "nobody"], &["Nothing was measured"]);
}

/// Two imported profiles have no metrics: where their difference is seen is said, instead of an advice that cannot be followed.
#[test]
fn imported_profiles_are_compared_by_their_stacks() {
    let folder = Folder::new();
    let script = fixture("busy.script.txt");
    prints(&folder, &["import", script.to_str().unwrap(), "-o", "busy.twin"], &["busy.twin"]);
    prints(&folder, &["compare", "busy.twin", "busy.twin"], &["twinscope flame"]);
    let info = prints(&folder, &["info", "busy.twin"], &["(imported)"]);
    assert!(!info.stdout.contains("1970") && !info.stdout.contains("every 0 s"), "{info}");
}

/// Recordings and logs of JVMs: their stacks, waits, pauses and set-up, and none of their secrets.
#[test]
fn files_of_jvms_are_imported() {
    let folder = Folder::new();
    let fixture = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/jvm").join(name);
        path.to_str().expect("UTF-8").to_owned()
    };
    for name in ["jdk17-g1", "jdk25-g1"] {
        let (jfr, log) = (format!("{name}.twin"), format!("{name}-log.twin"));
        let words = ["samples, ", " waits for locks, ", " samples of allocations, ", " pauses, ", ", from JFR"];
        prints(&folder, &["import", &fixture(&format!("{name}.jfr.gz")), "-o", &jfr], &words);
        prints(&folder, &["import", &fixture(&format!("{name}.log.gz")), "-o", &log], &[" pauses, ", "from a GC log"]);
        let bytes = std::fs::read(folder.path(&jfr)).expect("the recording");
        assert!(!bytes.windows(7).any(|word| word == b"hunter2"), "{name}");
        let sql = "select count(*) > 3 as many, max(time) > 0 as long, min(at) >= 0 as begun from jvm_pause where kind = 'young'";
        for twin in [&jfr, &log] {
            prints(&folder, &["sql", twin, "--json", sql], &["\"many\":1", "\"long\":1", "\"begun\":1"]);
        }
        prints(&folder, &["flame", &jfr], &["Busy.compute"]);
        prints(&folder, &["flame", &jfr, "--state", "contended"], &["monitor of java.lang.Object", "Busy.hold"]);
        prints(&folder, &["flame", &jfr, "--state", "allocation"], &["Allocations", "Busy.allocate"]);
    }
    let differs = ["runtime.java.Busy.version: 17", "monitor of java.lang.Object (monitor, java)"];
    prints(&folder, &["compare", "jdk17-g1.twin", "jdk25-g1.twin"], &differs);
    prints(&folder, &["report", "jdk17-g1-log.twin", "jdk25-g1-log.twin", "-o", "x.html"], &["x.html"]);
}

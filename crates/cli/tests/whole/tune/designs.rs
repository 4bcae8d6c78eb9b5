//! `tune`: designs that choose what is run, by commands that print the number they are judged by.

use super::{show, write};
use crate::common::Folder;
use serde_json::Value;

/// Two flags: the first takes a tenth off, the second does nothing; up to two in two hundred by chance.
const FLAGS: &str = "
design = \"factorial\"
budget = { blocks = 5 }
[workload]
command = \"echo took $(( {a} * 200 + 0 * {b} + $(date +%N | cut -c9) % 3 ))\"
[[measure]]
name = \"took\"
regex = 'took ([0-9]+)'
better = \"less\"
[parameters]
a = [10, 9]
b = [1, 2]
";

#[test]
fn a_factorial_tells_what_each_flag_does() {
    let folder = Folder::new();
    write(&folder, "flags.toml", FLAGS);
    let planned = folder.expect(0, ["tune", "plan", "flags.toml"]).stdout;
    assert!(planned.contains("5 blocks of 4 runs: 20 trials") && planned.contains("a + b"), "{planned}");
    let done = folder.expect(0, ["tune", "flags.toml"]);
    assert!(done.stdout.starts_with("`a=9` has 0.90× the took of `a=10`"), "{done}");
    assert!(done.stdout.contains("best as predicted by the effects: a=9 b=1"), "{done}");
    let shown = show(&folder, "flags.tune");
    assert_eq!((&shown["design"], &shown["trials"].as_array().unwrap().len()), (&"factorial".into(), &20));
    let effects = shown["factorial"]["effects"].as_array().unwrap();
    assert_eq!((effects.len(), &effects[0]["name"], &effects[0]["told"]), (3, &"a".into(), &true.into()));
    assert_eq!(effects[0]["blocks"].as_array().unwrap().len(), 5);
    assert_eq!(shown["factorial"]["predicted"]["name"], "a");
    let markdown = folder.expect(0, ["tune", "show", "flags.tune", "--markdown"]).stdout;
    assert!(markdown.contains("| a | 0.90× |") && markdown.contains("| a × b | 1.00× |"), "{markdown}");
    folder.expect(0, ["report", "flags.tune", "-o", "flags.html"]);
    assert!(folder.expect(1, ["tune", "flags.toml", "--more", "5"]).stderr.contains("begin a new session"));
    // More than four flags are run in a fraction, and what that leaves open is said before.
    let many = FLAGS
        .replace("0 * {b}", "0 * {b}{c}{d}{e}{f}")
        .replace("b = [", "c = [1, 2]\nd = [1, 2]\ne = [1, 2]\nf = [1, 2]\nb = [");
    write(&folder, "many.toml", &many);
    let planned = folder.expect(0, ["tune", "plan", "many.toml"]).stdout;
    assert!(
        planned.contains("16 of 64 combinations are run (resolution IV): e is on where an odd number of a, b, c is"),
        "{planned}"
    );
    assert!(planned.contains("a × b or c × e"), "{planned}");
    for (from, to, why) in [
        ("b = [1, 2]", "b = [1, 2, 3]", "b has more than two values"),
        ("b = [1, 2]", "b = 1", "2 to 8 parameters with two values each, but there are 1"),
        ("blocks = 5", "blocks = 3", "at least 4"),
        ("[workload]", "zip = [[\"a\", \"b\"]]\n[workload]", "zip: a factorial needs each of its combinations"),
    ] {
        write(&folder, "bad.toml", &FLAGS.replace(from, to));
        let refused = folder.expect(2, ["tune", "bad.toml"]).stderr;
        assert!(refused.contains(why), "{refused}");
    }
}

/// Three parameters; the best takes 100 and the default 130, and up to two more by chance. A threshold of 9 fails.
const SEARCH: &str = "
design = \"optimise\"
explained = 0
seed = 5
budget = { trials = 30 }
where = [\"size <= 16 or kind = 'b'\"]
[workload]
command = \"test {level} != 9 && echo took $(( 1000 + 100 * ({size} > 8 ? {size} - 8 : 8 - {size}) + 200 * {slow} + {level} + $(date +%N | cut -c9) % 9 ))\"
env = { KIND = \"{kind}\" }
[[measure]]
name = \"took\"
regex = 'took ([0-9]+)'
better = \"less\"
[parameters]
size = [4, 1, 2, 8, 16, 32]
level = [1, 5, 9]
kind = [\"a\", \"b\"]
slow = [1, 0]
";

#[test]
fn a_search_finds_better_values_and_proves_it() {
    let folder = Folder::new();
    write(&folder, "search.toml", SEARCH);
    let planned = folder.expect(0, ["tune", "plan", "search.toml"]).stdout;
    assert!(planned.contains("14 trials of the search") && planned.contains("of 72 combinations"), "{planned}");
    let done = folder.expect(0, ["tune", "search.toml"]);
    assert!(
        done.stderr.contains("search, block 14 of 14")
            && done.stderr.contains("the best against the default, block 4 of 4"),
        "{done}"
    );
    let shown = show(&folder, "search.tune");
    let (optimum, trials) = (&shown["optimum"], shown["trials"].as_array().unwrap());
    assert_eq!((trials.len(), &optimum["searched"], &optimum["take"].is_null()), (30, &14.into(), &false));
    let take = optimum["take"].as_u64().unwrap();
    let change = shown["changes"].as_array().unwrap().iter().find(|c| c["variant"] == take).unwrap();
    assert_eq!(
        (&change["verdict"], &change["by"], &change["blocks"]),
        (&"better".into(), &"Student's t".into(), &4.into())
    );
    for trial in trials {
        let set = trial["set"].as_array().unwrap();
        let value = |name: &str| set.iter().find(|pair| pair[0] == name).map(|pair| pair[1].as_str().unwrap());
        assert!(value("size") != Some("32") || value("kind") == Some("b"), "{trial:#}");
        // What fails is never among the best.
        assert!(value("level") != Some("9") || trial["end"] == "failed" && trial["variant"] == 1, "{trial:#}");
    }
    let csv = folder.expect(0, ["tune", "show", "search.tune", "--csv"]).stdout;
    assert!(csv.lines().next().is_some_and(|head| head.ends_with(",took,kind,level,size,slow")), "{csv}");
    assert!(csv.lines().nth(1).is_some_and(|line| line.ends_with(",a,1,4,1")), "{csv}");
    let markdown = folder.expect(0, ["tune", "show", "search.tune", "--markdown"]).stdout;
    assert!(markdown.contains("| default |") && markdown.contains("| best 1 |"), "{markdown}");
    folder.expect(0, ["report", "search.tune", "-o", "search.html"]);
    for (from, to, why) in [
        ("trials = 30", "trials = 20", "30 to 2000"),
        ("trials = 30", "blocks = 5", "budget.trials says how many"),
        ("slow = [1, 0]", "slow = [1, 1]", "parameter slow: 1 is there twice"),
        ("size <= 16 or", "size > 4 and", "it must hold of the default"),
        ("seed = 5", "objectives = 2", "two measures"),
        ("\"optimise\"", "\"sweep\"", "trials is for design = \"optimise\""),
    ] {
        write(&folder, "bad.toml", &SEARCH.replace(from, to));
        let refused = folder.expect(2, ["tune", "bad.toml"]).stderr;
        assert!(refused.contains(why), "{refused}");
    }
}

/// Answers in the order of the space, and writes down what it reads; after so many answers it writes nonsense.
const ASK: &str = "
import json, sys
log, answers = open('read.log', 'a'), 0
for line in sys.stdin:
    m = json.loads(line)
    log.write(line); log.flush()
    if 'ask' not in m: continue
    answers += 1
    if answers == int(sys.argv[1]):
        print('no idea', flush=True); continue
    space, n = m['space'], m['ask']
    print(json.dumps({'set': {p: d['values'][n % len(d['values'])] for p, d in space.items()}}), flush=True)
";

#[test]
fn a_program_of_ones_own_says_what_to_try() {
    let folder = Folder::new();
    write(&folder, "ask.py", ASK);
    let file = |n: &str| SEARCH.replace("seed = 5", &format!("seed = 5\nask = [\"python3\", \"ask.py\", \"{n}\"]"));
    write(&folder, "own.toml", &file("6"));
    let done = folder.expect(1, ["tune", "own.toml"]);
    assert!(
        done.stderr.contains("of what python3 ask.py 6 wrote: it is no JSON") && done.stderr.contains("no idea"),
        "{done}"
    );
    let read = || -> Vec<Value> {
        let text = std::fs::read_to_string(folder.path("read.log")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let first = read();
    assert_eq!(
        (&first[0]["tell"], &first[0]["set"]["size"], &first[0]["failed"]),
        (&1.into(), &4.into(), &false.into())
    );
    assert_eq!((&first[1]["ask"], &first[1]["better"]), (&2.into(), &"less".into()));
    assert_eq!(first[1]["space"]["size"]["values"], serde_json::json!([1, 2, 4, 8, 16, 32]));
    let known = show(&folder, "own.tune")["trials"].as_array().unwrap().len();
    // It goes on where it was, with a program that is told all of it again.
    std::fs::remove_file(folder.path("read.log")).unwrap();
    write(&folder, "ask.py", &ASK.replace("int(sys.argv[1])", "0"));
    folder.expect(0, ["tune", "own.toml"]);
    let second = read();
    let told: Vec<&Value> = second.iter().take(known).map(|m| &m["tell"]).collect();
    assert!(told.iter().enumerate().all(|(at, n)| **n == at + 1), "{told:?}");
    assert_eq!(second[known]["ask"], known + 1);
    assert!(second.iter().any(|m| m["failed"] == true && m["value"].is_null()));
    let shown = show(&folder, "own.tune");
    assert_eq!((shown["trials"].as_array().unwrap().len(), &shown["finished"]), (30, &true.into()));
    assert_eq!(shown["optimum"]["asked"], "python3 ask.py 6");
    write(&folder, "none.toml", &file("6").replace("python3", "/no/such/program"));
    assert!(folder.expect(1, ["tune", "none.toml"]).stderr.contains("/no/such/program"));
}

//! `tune`: designs that choose what is run, by commands that print the number they are judged by.

use crate::common::Folder;
use serde_json::Value;

fn write(folder: &Folder, name: &str, text: &str) {
    std::fs::write(folder.path(name), text).unwrap();
}

fn show(folder: &Folder, name: &str) -> Value {
    folder.expect(0, ["tune", "show", name, "--json"]).json()
}

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

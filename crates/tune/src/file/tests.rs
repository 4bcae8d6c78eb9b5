use super::*;

const LADDER: &str = r#"
name = "explorer"
design = "ladder"
effect = "3%"
budget = { time = "30m", blocks = 30 }

[workload]
command = ["java", "{gc}", "-cp", "build", "Explorer", "--lock", "{lock}"]
env = { LOG = "{log}" }
once = "make"
warm_up = "3s"
timeout = "60s"
throughput = 'done (\d+)'
check = { regex = 'states: 1048576' }

[[measure]]
from = "work"

[[measure]]
name = "memory"
from = "rss"
better = "less"
limit = "<= 2G"

[parameters]
gc = ["-XX:+UseSerialGC", "-XX:+UseParallelGC"]
lock = ["mutex", "atomic", "striped"]
threads = "1..64x2"
log = [true, false]
arenas = { env = "MALLOC_ARENA_MAX", values = [1, 4] }

[[step]]
name = "atomic counter"
set = { lock = "atomic" }
why = "threads wait for the lock"
keep = "if better"
"#;

#[test]
fn a_file_is_read_and_written_back() {
    let file = File::parse(LADDER, "explorer.toml").unwrap();
    assert_eq!((file.design, file.effect), (DesignName::Ladder, Some(Amount(0.03))));
    assert_eq!(file.budget.time, Time::parse("1800s").map(kinds::Time));
    assert_eq!(file.measure[1].from, Some(From::Rss));
    assert_eq!(File::parse(&file.text(), "again").unwrap(), file);
}

use kinds::Time;

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let refused = |from: &str, to: &str| File::parse(&LADDER.replace(from, to), "e.toml").unwrap_err().to_string();
    assert_eq!(refused("design =", "desing ="), "e.toml:3: unknown key desing; did you mean design?");
    assert_eq!(refused("\"ladder\"", "\"lader\""), "e.toml:3: unknown word lader; did you mean ladder?");
    assert_eq!(refused("warm_up", "warmup"), "e.toml:11: unknown key warmup; did you mean warm_up?");
    assert!(refused("\"3%\"", "\"3\"").starts_with("e.toml:4: expected a share"));
    assert!(refused("\"60s\"", "60").starts_with("e.toml:12: invalid type: integer `60`"));
    assert!(refused("= \"60s\"", "= \"soon\"").starts_with("e.toml:12: expected a time"));
    assert!(refused("threads = \"1..64x2\"", "threads = { env = 1 }").starts_with("e.toml:28: expected a list"));
    assert!(refused("[workload]", "[workload").starts_with("e.toml:7: "));
    assert!(refused("\"if better\"", "\"never\"").contains("there are if better, always"));
}

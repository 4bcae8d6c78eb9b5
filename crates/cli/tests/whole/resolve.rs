//! Names for code that had none where it was recorded.

use crate::common::{Folder, skipped};
use std::process::Command;
use std::time::{Duration, Instant};

/// Ends by itself, for a recorder that is killed cannot end it.
const PROGRAM: &str = "#include <unistd.h>
static volatile unsigned long sum;
__attribute__((noinline)) static void busy_work(long rounds) { for (long i = 0; i < rounds; i++) sum += i; }
int main(int argc, char **argv) { (void)argv; alarm(30); for (int i = 0; i < (argc > 1 ? 30000 : 300); i++) busy_work(2000000); return 0; }
";

/// Runs a tool of the build.
fn tool(folder: &Folder, words: &[&str]) -> bool {
    let path = folder.path("");
    Command::new(words[0]).args(&words[1..]).current_dir(path).status().is_ok_and(|s| s.success())
}

#[test]
fn a_stripped_program_is_named_by_the_file_that_was_built() {
    let folder = Folder::new();
    std::fs::write(folder.path("program.c"), PROGRAM).unwrap();
    std::fs::create_dir(folder.path("build")).unwrap();
    let built = tool(&folder, &["cc", "-O1", "-Wl,--build-id", "-o", "build/program", "program.c"])
        && tool(&folder, &["strip", "-o", "shipped", "build/program"]);
    if !built {
        return skipped("names for a stripped program", "no cc or strip");
    }
    let named = |folder: &Folder| {
        let query =
            "select count(*) from sample s join stack k on k.number = s.stack join frame f on f.number = k.frame
                     where f.function = 'busy_work' and s.comm = 'shipped'";
        folder.count("a.twin", query)
    };
    folder.expect(0, ["record", "-q", "-o", "a.twin", "--only", "stacks", "--stacks=499", "--", "./shipped"]);
    if folder.count("a.twin", "select count(*) from sample") < 20 {
        return skipped("names for a stripped program", "no samples are taken here");
    }
    assert_eq!(named(&folder), 0);
    // Where it was recorded there is only the stripped file.
    let left = folder.expect(0, ["resolve", "a.twin"]).stdout;
    assert!(left.contains("/shipped (") && left.contains("no symbol"), "{left}");
    let missing = folder.expect(1, ["resolve", "a.twin", "--debug", "nowhere"]);
    missing.says("nowhere").has_not_crashed();
    let done = folder.expect(0, ["resolve", "a.twin", "--debug", "build", "--json"]).json();
    assert!(done[0]["named"].as_u64() > Some(0), "{done}");
    let all = folder.count("a.twin", "select count(*) from sample where comm = 'shipped'");
    assert!(named(&folder) * 10 >= all * 8, "{} of {all}", named(&folder));
    assert!(folder.expect(0, ["flame", "a.twin"]).stdout.contains("busy_work"));
}

#[test]
fn what_a_killed_recorder_had_not_named_is_named_later() {
    let folder = Folder::new();
    std::fs::write(folder.path("program.c"), PROGRAM).unwrap();
    if !tool(&folder, &["cc", "-O1", "-g", "-Wl,--build-id", "-o", "program", "program.c"]) {
        return skipped("names that a killed recorder had not found", "no cc");
    }
    let of_program = |what: &str| {
        let query = format!(
            "select count(*) from sample s join stack k on k.number = s.stack join frame f on f.number = k.frame
             where s.comm = 'program' and f.module like '%/program' and {what}"
        );
        folder.count("a.twin", &query)
    };
    let running = folder
        .record("a.twin", &["-q", "-i", "50ms", "--only", "stacks", "--stacks=499", "--", "./program", "for long"]);
    // Its debug information is read three seconds after it was met, at the earliest.
    let until = Instant::now() + Duration::from_secs(20);
    while of_program("f.offset is not null") < 20 && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(folder.expect(1, ["resolve", "a.twin"]).stderr.contains("still being recorded"));
    running.signal(libc::SIGKILL);
    running.wait();
    if folder.count("a.twin", "select count(*) from sample") < 20 {
        return skipped("names that a killed recorder had not found", "no samples are taken here");
    }
    let (samples, places) = (of_program("true"), of_program("f.offset is not null"));
    assert!(places > 0 && places * 10 >= samples * 9, "{places} of {samples} samples have their place in the file");
    assert_eq!(folder.info("a.twin")["unfinished"], true);
    let done = folder.expect(0, ["resolve", "a.twin", "--json"]).json();
    let named = of_program("f.function = 'busy_work'");
    assert!(named * 10 >= samples * 8, "{named} of {samples}: {done}");
    let info = folder.info("a.twin");
    assert_eq!((&info["unfinished"], &info["damage"]), (&false.into(), &serde_json::json!([])));
}

//! Samples with registers, and `asm`: programs whose loops are known, recorded for some seconds.

use crate::common::{Folder, skipped};
use serde_json::Value;
use std::process::Command;

const PROGRAM: &str = r#"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpu(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

__attribute__((noinline)) uint64_t *chase(uint64_t *p, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        p = (uint64_t *)*p;
        __asm__ volatile("" ::"r"(i));
    }
    return p;
}

__attribute__((noinline)) uint64_t divide(uint64_t v, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        v = ~0ull / (v | 1) + i;
        __asm__ volatile("" ::"r"(v), "r"(i));
    }
    return v;
}

int main(int count, char **words) {
    int chases = !strcmp(words[1], "chase");
    double seconds = atof(words[2]), begin = cpu();
    size_t lines = strtoul(words[3], 0, 10);
    uint64_t *ring = calloc(lines, 64), n = 0, state = 88172645463325252ull;
    size_t *order = malloc(lines * sizeof *order);
    for (size_t i = 0; i < lines; i++) order[i] = i;
    for (size_t i = lines - 1; i > 0; i--) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        size_t j = state % (i + 1), kept = order[i];
        order[i] = order[j], order[j] = kept;
    }
    for (size_t i = 0; i < lines; i++) ring[order[i] * 8] = (uint64_t)&ring[order[(i + 1) % lines] * 8];
    uint64_t *at = ring, value = 1;
    /* A run of the loop is far longer than the time between two samples, on any machine. */
    uint64_t rounds = lines < 1000 ? 1 << 25 : 1 << 22;
    while (cpu() - begin < seconds) {
        if (chases) at = chase(at, rounds);
        else value = divide(value, rounds);
        n += rounds;
    }
    fprintf(stderr, "%p %lu\n", (void *)at, value);
    printf("rounds %.4f\n", (cpu() - begin) / n * 1e9);
    return 0;
}
"#;

/// Records the program: ns a round by its own count. `None` where something that it takes is not there.
fn recorded(folder: &Folder, name: &str, words: &[&str]) -> Option<f64> {
    let source = folder.path("loops.c");
    if !source.exists() {
        std::fs::write(&source, PROGRAM).unwrap();
        let mut compiler = Command::new("cc");
        compiler.args(["-O2", "-g", "-o", "loops", "loops.c"]).current_dir(folder.path(""));
        if !compiler.status().is_ok_and(|status| status.success()) {
            skipped("instructions of a program", "no cc");
            return None;
        }
    }
    let mut options = vec!["record", "-q", "-o", name, "--instructions=1", "--", "./loops"];
    options.extend(words);
    let run = folder.expect(0, options);
    let truth = run.stdout.lines().find_map(|line| line.strip_prefix("rounds ")?.trim().parse().ok());
    if folder.count(name, "select count(*) from instruction_sample") < 20 {
        skipped("instructions of a program", "no samples with registers can be taken here");
        return None;
    }
    Some(truth.expect("the program's own count"))
}

fn laid(folder: &Folder, words: &[&str]) -> Value {
    folder.expect(0, ["asm", "--json"].iter().chain(words)).json()
}

fn the_loop(side: &Value) -> &Value {
    let loops = side["loops"].as_array().expect("loops");
    assert_eq!(loops.len(), 1, "{side}");
    &loops[0]
}

/// Whether a time of a round agrees with the program's own: what the machine does between bursts is not in them.
fn agrees(round: &Value, truth: f64) -> bool {
    round["ns"].as_f64().is_some_and(|ns| ns > truth * 0.5 && ns < truth * 2.0)
}

#[test]
#[ignore = "make test-all: 15 s on a machine of its own; where samples land is tested on recorded code"]
fn a_load_that_waits_is_told_from_a_division() {
    let folder = Folder::alone();
    let Some(slow) = recorded(&folder, "slow.twin", &["chase", "3", "4000000"]) else { return };
    let Some(fast) = recorded(&folder, "fast.twin", &["chase", "3", "256"]) else { return };
    let Some(_) = recorded(&folder, "divide.twin", &["divide", "3", "256"]) else { return };
    // One content of each function, and what is kept of them.
    let code =
        folder.rows("slow.twin", "select function, whole, length(bytes) as n from code where function = 'chase'");
    assert_eq!((code.len(), &code[0]["whole"]), (1, &Value::from(1)));
    assert!(folder.count("slow.twin", "select sum(length(bytes)) from code") <= 2 << 20);

    let both = laid(&folder, &["chase", "slow.twin", "--against", "fast.twin"]);
    let [mine, theirs] = ["slow", "against"].map(|side| the_loop(&both[side]));
    assert!(agrees(&mine["round"], slow) && agrees(&theirs["round"], fast), "{slow} {fast} {mine} {theirs}");
    assert_eq!(both["per"], "run");
    let rows = both["instructions"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["same"] == true), "the same code");
    if both["slow"]["skid"] != 1 {
        return skipped("classes of waiting", "where samples land is not told here");
    }
    let most = rows.iter().max_by(|a, b| a["slow"]["ns"].as_f64().partial_cmp(&b["slow"]["ns"].as_f64()).unwrap());
    let load = most.unwrap();
    assert_eq!(load["slow"]["wait"], "load", "{load}");
    assert!(load["difference"]["low"].as_f64() > Some(-1e9));
    assert!(mine["waits"]["load"].as_f64() > Some(0.5), "{mine}");
    // Cycles are told only where the frequency was; the memory is some hundred away.
    if both["slow"]["frequency"].is_f64() {
        assert_eq!(mine["verdict"], "memory", "{mine}");
        assert!(mine["cpi"].as_f64() > theirs["cpi"].as_f64());
    }
    assert!(mine["bound"]["cycles"].as_f64().is_some_and(|cycles| (3.0..=6.0).contains(&cycles)), "{mine}");

    let divides = laid(&folder, &["divide", "divide.twin"]);
    assert!(divides["against"].is_null());
    assert!(the_loop(&divides["slow"])["waits"]["long"].as_f64() > Some(0.3), "{divides}");

    // On the terminal, with lines of the source.
    let shown = folder.expect(0, ["asm", "chase", "slow.twin", "--against", "fast.twin", "--raw"]);
    assert!(shown.stdout.contains("a round") && shown.stdout.contains("loops.c:"), "{shown}");
    let wrong = folder.expect(1, ["asm", "no_such_function", "slow.twin"]);
    assert!(wrong.stderr.contains("chase"), "{wrong}");
}

#[test]
fn a_recording_without_bursts_says_so() {
    let folder = Folder::new();
    folder.expect(0, ["record", "-q", "-o", "none.twin", "--instructions=0", "--", "true"]);
    let none = folder.expect(1, ["asm", "main", "none.twin"]);
    assert!(none.stderr.contains("no bursts were asked for"), "{none}");
}

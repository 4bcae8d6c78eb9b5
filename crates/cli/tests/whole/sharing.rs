//! Cache lines that threads fight over: programs of which it is known, recorded for some seconds, with watchpoints and without.

use crate::common::{Folder, skipped};
use serde_json::Value;
use std::process::Command;

const PROGRAM: &str = r#"
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct tally { uint64_t value, spare[31]; };
static struct { uint64_t other[8]; uint64_t counts[32]; } shared __attribute__((aligned(64)));
static int apart;
static double seconds;
static uint64_t done[2];

static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

__attribute__((noinline)) void count(uint64_t *word, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        __atomic_fetch_add(word, 1, __ATOMIC_RELAXED);
        __asm__ volatile("" ::"r"(i));
    }
}

static void *work(void *number) {
    uint64_t which = (uint64_t)number;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(which, &set);
    sched_setaffinity(0, sizeof set, &set);
    double end = now(CLOCK_MONOTONIC) + seconds;
    while (now(CLOCK_MONOTONIC) < end) {
        count(&shared.counts[which * apart], 1 << 20);
        done[which]++;
    }
    return 0;
}

int main(int count, char **words) {
    pthread_t threads[2];
    apart = atoi(words[1]);
    seconds = atof(words[2]);
    for (uint64_t n = 0; n < 2; n++) pthread_create(&threads[n], 0, work, (void *)n);
    for (int n = 0; n < 2; n++) pthread_join(threads[n], 0);
    printf("%f\n", (double)(done[0] + done[1]) / now(CLOCK_PROCESS_CPUTIME_ID));
    return 0;
}
"#;

/// How often both threads count a second of CPU time with words of their own lines, as the program itself says: of the time that others had, nothing is said.
fn counted_apart(folder: &Folder) -> f64 {
    let run = Command::new(folder.path("share")).args(["16", "0.5"]).output().unwrap();
    counted(&String::from_utf8(run.stdout).unwrap())
}

fn counted(printed: &str) -> f64 {
    printed.trim().parse().unwrap_or_else(|_| panic!("{printed:?} is no count"))
}

/// Records the program with its two words so many words apart.
fn recorded(folder: &Folder, apart: &str, more: &[&str]) -> Option<Value> {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        skipped("shared lines", "one CPU");
        return None;
    }
    let source = folder.path("share.c");
    std::fs::write(&source, PROGRAM).unwrap();
    let made = Command::new("cc")
        .args(["-O2", "-g", "-pthread", "-o", "share", "share.c"])
        .current_dir(folder.path(""))
        .status();
    if !made.is_ok_and(|made| made.success()) {
        skipped("shared lines", "no C compiler");
        return None;
    }
    let before = counted_apart(folder);
    let words = [&["record", "-q", "--force", "-o", "shared.twin"], more, &["--", "./share", apart, "4"]].concat();
    let shared = counted(&folder.expect(0, words).stdout);
    // A line that two CPUs share costs nothing where both are threads of one core, or take turns on one, which a virtual machine is not told; nor where others
    // leave the two threads hardly any time at once.
    let slower = before.min(counted_apart(folder)) / shared;
    if apart != "16" && slower < 2.0 {
        skipped("shared lines", &format!("sharing them made the program only {slower:.2} times slower here"));
        return None;
    }
    let coverage = folder.rows("shared.twin", "select samples, on_load, after_load, skid from skid");
    if coverage.first().is_none_or(|row| row["skid"] != 1) {
        skipped("shared lines", "no samples with registers, or where they land is not told here");
        return None;
    }
    let said = folder.expect(0, ["sharing", "shared.twin", "--json"]).json();
    if apart != "16" && no_access_waited(&said) {
        skipped("shared lines", &format!("while it was recorded, no access took longer than alone here: {said}"));
        return None;
    }
    Some(said)
}

/// Whether nothing was found where each access came as fast as one that nobody contends for, by the samples: then there is nothing to be found in them.
fn no_access_waited(said: &Value) -> bool {
    let alone = said["atomic"].as_f64().unwrap_or(0.0);
    let lines = said["lines"].as_array().into_iter().flatten();
    let mut accesses = lines.filter_map(|line| line["accesses"].as_array()).flatten().peekable();
    said["findings"].as_array().is_some_and(Vec::is_empty)
        && accesses.peek().is_some()
        && accesses.all(|access| access["period"].as_f64().is_some_and(|period| period < 1.5 * alone))
}

#[test]
fn two_words_of_a_line_are_false_sharing_and_one_word_is_true() {
    let folder = Folder::alone();
    let Some(said) = recorded(&folder, "1", &["--sharing"]) else { return };
    let first = &said["findings"][0];
    assert_eq!(first["kind"], "false", "{said}");
    assert_eq!(first["name"], "shared", "{first}");
    assert_eq!(first["functions"][0]["name"], "count", "{first}");
    let fields: Vec<&str> = first["fields"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(fields.contains(&"shared.counts[0]") && fields.contains(&"shared.counts[1]"), "{fields:?}");
    // How much of it is told depends on what the machine could measure: watchpoints time the accesses, and neighbours of a virtual machine stretch these times.
    if first["speedup"]["value"].as_f64() < Some(1.2) {
        skipped(
            "what sharing costs",
            &format!(
                "told too low on this machine: {first}; {} ns contended, {} alone",
                said["contended"], said["atomic"]
            ),
        );
    }
    let line = &said["lines"][first["lines"][0].as_u64().unwrap() as usize];
    let offsets: Vec<i64> = line["accesses"].as_array().unwrap().iter().filter_map(|a| a["first"].as_i64()).collect();
    assert!(offsets.iter().all(|first| [0, 8].contains(first)), "{line}");
    match said["watched"]["hits"].as_u64() {
        // Whether both threads ran while it was watched, the machine decides.
        Some(hits) if hits > 0 => {
            let hits = line["accesses"].as_array().unwrap().iter().filter_map(|a| a["hits"].as_u64());
            assert!(hits.sum::<u64>() > 0, "{line}");
        }
        _ => skipped("watchpoints", "none hit on this machine"),
    }
    let shown = folder.expect(0, ["sharing", "shared.twin"]);
    assert!(shown.stdout.contains("false sharing: shared") && shown.stdout.contains("lock add"), "{shown}");

    let Some(said) = recorded(&folder, "0", &[]) else { return };
    assert_eq!(said["findings"][0]["kind"], "true", "{said}");
    assert!(said["watched"].is_null());
}

#[test]
fn words_of_lines_of_their_own_are_nothing() {
    let folder = Folder::alone();
    let Some(said) = recorded(&folder, "16", &["--sharing"]) else { return };
    assert_eq!(said["findings"].as_array().map(Vec::len), Some(0), "{said}");
}

#[test]
fn what_cannot_be_looked_at_is_said() {
    let folder = Folder::new();
    let nothing = folder.expect(1, ["sharing"]);
    assert!(nothing.stderr.contains("nothing to look at"), "{nothing}");
    folder.expect(2, ["sharing", "a.twin", "--pid", "1"]);
    folder.expect(0, ["record", "-q", "-o", "none.twin", "--instructions=0", "--", "true"]);
    let none = folder.expect(1, ["sharing", "none.twin"]);
    assert!(none.stderr.contains("not looked for shared lines"), "{none}");
}

/// Accesses that PEBS sampled, of a file made by hand (fixtures/profiles/ORIGIN.md): a line of two threads, and loads that found theirs.
#[test]
fn accesses_of_perf_are_told_by_line_and_by_instruction() {
    let folder = Folder::new();
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/profiles/accesses.perf.data");
    let done = folder.expect(0, ["import", "--no-symbols", file.to_str().unwrap(), "-o", "perf.twin"]);
    assert!(done.stdout.contains("1 line that threads share"), "{done}");
    let told = folder.expect(0, ["sharing", "perf.twin"]).stdout;
    for words in [
        "false sharing: line 0x7f0000001000",
        "6 of 12 sampled accesses came from the cache of another core, changed there in 6; 202 cycles each",
        "alignas(64)",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    // What is only known of lines that a timer found waiting is not said.
    assert!(!told.contains("of the CPU time") && !told.contains("watchpoints"), "{told}");
    let json = folder.expect(0, ["sharing", "perf.twin", "--json"]).json();
    assert_eq!((&json["moved"][0]["kind"], &json["moved"][0]["modified"]), (&"false".into(), &6.into()));
    assert_eq!(json["findings"], Value::Array(Vec::new()));
    let listed = folder.expect(0, ["asm", "[unknown]", "perf.twin"]).stdout;
    assert!(listed.contains("18 accesses that the CPU sampled itself; there is no machine code of it"), "{listed}");
    assert!(listed.contains("other core, changed there 100 %"), "{listed}");
    let json = folder.expect(0, ["asm", "[unknown]", "perf.twin", "--json"]).json();
    assert_eq!(json["slow"]["accesses"][0]["from"][0]["snoop"], "modified");
    // The report has the page, and opens.
    folder.expect(0, ["report", "perf.twin", "-o", "r.html"]);
    folder.expect(1, ["asm", "nothing", "perf.twin"]).says("no machine code");
}

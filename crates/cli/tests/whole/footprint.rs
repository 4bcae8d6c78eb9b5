//! Over how much memory code is spread: programs that make their own functions, so many and so far apart, and call them in a random order. What a random
//! thousand of samples finds of things that are met equally often is known.

use crate::common::{Folder, skipped};
use std::process::Command;

const PROGRAM: &str = r#"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static double cpu(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

typedef uint64_t (*function)(uint64_t);

/* functions NUMBER STRIDE SECONDS: each function lies in one line of the cache. */
int main(int count, char **words) {
    size_t number = strtoul(words[1], 0, 10), stride = strtoul(words[2], 0, 10);
    double seconds = atof(words[3]);
    uint8_t *code = mmap(0, number * stride, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    function *order = malloc(number * sizeof *order);
    for (size_t i = 0; i < number; i++) {
        uint8_t *at = code + i * stride + (stride >= 4096 ? i % 60 * 64 : 0);
        order[i] = (function)at;
#if defined(__x86_64__)
        memcpy(at, "\x48\x89\xf8", 3), at += 3; /* mov rax, rdi */
        for (int k = 0; k < 9; k++) memcpy(at, "\x48\x05\x01\x00\x00\x00", 6), at += 6; /* add rax, 1 */
        *at = 0xc3;
#elif defined(__aarch64__)
        uint32_t add = 0x91000400, ret = 0xd65f03c0; /* add x0, x0, #1 */
        for (int k = 0; k < 14; k++) memcpy(at, &add, 4), at += 4;
        memcpy(at, &ret, 4);
#else
        return 9;
#endif
    }
    __builtin___clear_cache((char *)code, (char *)code + number * stride);
    uint64_t state = 88172645463325252ull, sum = 0;
    for (size_t i = number - 1; i > 0; i--) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        size_t j = state % (i + 1);
        function kept = order[i];
        order[i] = order[j], order[j] = kept;
    }
    for (double begin = cpu(); cpu() - begin < seconds;)
        for (size_t round = 0; round <= 100000 / number; round++)
            for (size_t i = 0; i < number; i++) sum = order[i](sum);
    fprintf(stderr, "%lu\n", (unsigned long)sum);
    return 0;
}
"#;

/// What a thousand samples find of so many things that are met equally often, on average.
fn expected(things: f64) -> f64 {
    things * (1.0 - (1.0 - 1.0 / things).powi(1000))
}

#[test]
#[ignore = "make test-all: 20 s on a machine of its own; the sums are tested on tables"]
fn lines_and_pages_are_those_that_the_program_has() {
    let folder = Folder::alone();
    std::fs::write(folder.path("functions.c"), PROGRAM).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-o", "functions", "functions.c"]).current_dir(folder.path(""));
    if !compiler.status().is_ok_and(|status| status.success()) {
        return skipped("the footprint of code", "no cc");
    }
    // Functions, bytes from one to the next, and how many lines and pages that is.
    for (number, stride, lines, pages) in
        [("1024", "4096", 1024.0, 1024.0), ("8192", "4096", 8192.0, 8192.0), ("8192", "64", 8192.0, 128.0)]
    {
        let words =
            ["record", "-q", "-o", "run.twin", "--force", "--stacks=997", "--instructions=0", "--", "./functions"];
        folder.expect(0, words.iter().chain(&[number, stride, "5"]));
        let sql = "select samples, lines, pages, regions, lines_at_least, hot_pages, huge, itlb from code_footprint \
                   where kind = 'jit' and comm = 'functions'";
        let rows = folder.rows("run.twin", sql);
        let samples = rows.first().and_then(|row| row["samples"].as_i64()).unwrap_or(0);
        if samples < 1000 {
            return skipped("the footprint of code", &format!("only {samples} samples could be taken here"));
        }
        let row = &rows[0];
        let number_of = |name: &str| row[name].as_f64().unwrap_or_else(|| panic!("{name}: {row}"));
        for (name, truth) in [("lines", lines), ("pages", pages)] {
            let (found, truth) = (number_of(name), expected(truth));
            assert!(
                (found / truth - 1.0).abs() < 0.1,
                "{number} functions {stride} B apart: {name} {found}, truly {truth}: {row}"
            );
        }
        let span = (number.parse::<f64>().unwrap() * stride.parse::<f64>().unwrap() / 2e6).ceil();
        assert!((1.0..=span + 2.0).contains(&number_of("regions")), "{row}");
        let least = number_of("lines_at_least");
        assert!(least > lines * 0.6 && least < lines * 1.6, "{row}");
        assert!(number_of("hot_pages") <= pages, "{row}");
        // Fewer are drawn where there are fewer.
        let few = folder.rows(
            "run.twin",
            "select rarefied(samples, 100) as few, rarefied(samples, 1000000) as more from code_line where kind = 'jit'",
        );
        assert!(few[0]["few"].as_f64().is_some_and(|few| few > 50.0 && few <= 100.0), "{few:?}");
        assert!(few[0]["more"].is_null(), "{few:?}");
    }
    // The kernel, the libraries and the program are told apart from what it made.
    let kinds =
        folder.rows("run.twin", "select distinct kind, module, pid is not null as made from code_space order by 1");
    assert!(kinds.iter().any(|row| row["kind"] == "jit" && row["made"] == 1 && row["module"].is_null()), "{kinds:?}");
    let own = |row: &&serde_json::Value| row["module"].as_str().is_some_and(|module| module.ends_with("/functions"));
    assert_eq!(kinds.iter().find(own).map(|row| &row["kind"]), Some(&"file".into()), "{kinds:?}");
}

const TOUCHES: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

/* touches HAS USES SECONDS: uses the first USES MiB of HAS, again and again. */
int main(int count, char **words) {
    size_t has = strtoul(words[1], 0, 10) << 20, uses = strtoul(words[2], 0, 10) << 20;
    char *memory = mmap(0, has, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(memory, has, MADV_NOHUGEPAGE);
    for (size_t at = 0; at < has; at += 4096) memory[at] = 1;
    fclose(fopen("ready", "w"));
    for (time_t end = time(0) + atoi(words[3]); time(0) < end;)
        for (size_t at = 0; at < uses; at += 4096) memory[at]++;
    return memory[0] == 77;
}
"#;

#[test]
fn memory_that_is_used_is_told_from_memory_that_is_had() {
    let folder = Folder::new();
    std::fs::write(folder.path("touches.c"), TOUCHES).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-o", "touches", "touches.c"]).current_dir(folder.path(""));
    if !compiler.status().is_ok_and(|status| status.success()) {
        return skipped("memory that is used", "no cc");
    }
    let mut touches = Command::new(folder.path("touches"));
    touches.args(["200", "48", "60"]).current_dir(folder.path(""));
    let mut running = folder.start(touches);
    let pid = running.pid().to_string();
    running.until("all of its memory is there", || folder.path("ready").exists());
    folder.expect(0, ["record", "-q", "-o", "run.twin", "--working-set", "--pid", &pid, "--duration", "3"]);
    drop(running);
    let rows = folder.rows(
        "run.twin",
        "select referenced / 1024.0 as used, resident / 1024.0 as had, window, cost from data_footprint where comm = 'touches' order by t desc",
    );
    let Some(row) = rows.first() else { return skipped("memory that is used", "the kernel does not tell it here") };
    let of = |name: &str| row[name].as_f64().unwrap_or(-1.0);
    assert!((48.0..60.0).contains(&of("used")), "{rows:?}");
    assert!((200.0..220.0).contains(&of("had")), "{rows:?}");
    assert!(of("window") > 0.9e9 && of("cost") > 0.0 && of("cost") < 2e9, "{rows:?}");
}

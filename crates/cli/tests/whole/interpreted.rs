//! Functions of Python and JavaScript on stacks: real programs, recorded as a user would.

use crate::common::{Folder, skipped};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Two functions that take turns every few microseconds, one of them with three times the work. Who looks at the program's memory some time after
/// a sample was taken finds either.
const PYTHON: &str = "
import time

def often(n):
    s = 0
    for i in range(3 * n):
        s += i * i
    return s

def seldom(n):
    s = 0
    for i in range(n):
        s += i * i
    return s

class Shop:
    def serve(self, items):
        return sum(map(self.one, range(items)))

    def one(self, item):
        return often(100) + seldom(100)

def zählen():
    while time.process_time() < 1.5:
        Shop().serve(100)

zählen()
";

const FILE: &str = "run.twin";

/// The interpreters of this machine, of the versions whose functions are told.
fn pythons() -> Vec<(u32, PathBuf)> {
    let mut folders: Vec<PathBuf> =
        std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let versions = std::fs::read_dir(home.join(".pyenv/versions")).into_iter().flatten().flatten();
    folders.extend(versions.map(|version| version.path().join("bin")));
    let mut found: Vec<(u32, PathBuf)> = Vec::new();
    for minor in 11..=14 {
        for folder in &folders {
            let program = folder.join(format!("python3.{minor}"));
            let asked = Command::new(&program).args(["-c", "import sys; print(sys.version_info[1])"]).output();
            let is_it = asked.is_ok_and(|done| done.stdout.trim_ascii() == minor.to_string().as_bytes());
            let program = std::fs::canonicalize(program);
            if let (true, Ok(program)) = (is_it, program)
                && found.iter().all(|(_, known)| *known != program)
            {
                found.push((minor, program));
            }
        }
    }
    found
}

/// Records a program with these sources. `None` where that cannot be done here.
fn record(what: &str, sources: &str, program: &[&str], source: (&str, &str), least: i64) -> Option<Folder> {
    let folder = Folder::new();
    std::fs::write(folder.path(source.0), source.1).expect("a folder that can be written");
    let mut command = vec!["record", "-q", "-o", FILE, "--only", sources, "--stacks=199", "--"];
    command.extend(program);
    command.push(source.0);
    folder.expect(0, command);
    if folder.count(FILE, "select count(*) from sample") < least {
        skipped(what, "no samples are taken here");
        return None;
    }
    let missing = folder.rows(FILE, "select why from coverage where item = 'frame.python'");
    if let Some(row) = missing.first() {
        skipped(what, &format!("{row}"));
        return None;
    }
    Some(folder)
}

/// Removes the maps of generated code that the recorded processes left behind.
fn remove_maps(folder: &Folder) {
    for row in folder.rows(FILE, "select distinct pid from sample") {
        let _ = std::fs::remove_file(format!("/tmp/perf-{}.map", row["pid"]));
    }
}

/// Stacks as functions from the start of the thread on, and what they stand for, seconds.
fn stacks(folder: &Folder, options: &[&str]) -> Vec<(Vec<String>, f64)> {
    let command = ["flame", FILE, "--window", "whole", "--levels", "none", "-o", "a.folded"];
    folder.expect(0, command.iter().chain(options));
    let text = std::fs::read_to_string(folder.path("a.folded")).expect("what was just written");
    let line = |line: &str| {
        let (stack, weight) = line.rsplit_once(' ')?;
        Some((stack.split(';').map(str::to_owned).collect(), weight.parse::<f64>().ok()? / 1e9))
    };
    text.lines().filter_map(line).collect()
}

/// The time of the stacks in which these functions follow one another, whatever lies between.
fn time(stacks: &[(Vec<String>, f64)], functions: &[&str]) -> f64 {
    let has = |stack: &[String]| {
        let mut wanted = functions.iter().peekable();
        for frame in stack {
            wanted.next_if(|function| **function == frame.as_str());
        }
        wanted.peek().is_none()
    };
    stacks.iter().filter(|(stack, _)| has(stack)).map(|(_, weight)| weight).sum()
}

#[test]
fn functions_of_python_are_on_the_stacks_of_their_moment() {
    let pythons = pythons();
    if pythons.is_empty() {
        return skipped("functions of Python", "no CPython 3.11 to 3.14");
    }
    for (minor, program) in pythons {
        let what = format!("functions of Python, {}", program.display());
        let Some(folder) = record(&what, "stacks", &[program.to_str().expect("a path")], ("shop.py", PYTHON), 100)
        else {
            continue;
        };
        let stacks = stacks(&folder, &[]);
        let all = time(&stacks, &["zählen"]);
        assert!(all > 0.6 * time(&stacks, &[]), "3.{minor}: {all} s of {stacks:?}");
        let path = ["<module>", "zählen", "Shop.serve", "Shop.one"];
        let of = |function| time(&stacks, &[&path[..], &[function]].concat());
        let (often, seldom) = (of("often"), of("seldom"));
        assert!(often + seldom > 0.8 * all, "3.{minor}: {often} s and {seldom} s of {all} s");
        let ratio = often / seldom;
        assert!((1.8..5.0).contains(&ratio), "3.{minor}: {often} s to {seldom} s");
        // Each call of the loop runs what it runs: `map` is called by one and calls another.
        assert_eq!(time(&stacks, &["Shop.one", "Shop.serve"]), 0.0);

        let statement = "select module, source, kind from frame where function = 'often'";
        let frames = folder.rows(FILE, statement);
        assert_eq!((frames.len(), &frames[0]["kind"]), (1, &"python".into()), "{frames:?}");
        assert!(frames[0]["module"].as_str().is_some_and(|module| module.ends_with("shop.py")), "{frames:?}");
        assert_eq!(frames[0]["source"], "shop.py:4");
    }
}

/// Two functions that sleep in turn at one place of the machine code, one of them for three times as long.
const SLEEPS: &str = "
import time

def naps(seconds):
    time.sleep(seconds)

def naps_long():
    naps(0.012)

def naps_briefly():
    naps(0.004)

for _ in range(150):
    naps_long()
    naps_briefly()
    sum(range(50000))
";

#[test]
fn waits_are_of_the_functions_of_python_that_wait() {
    let Some((_, program)) = pythons().into_iter().next() else {
        return skipped("waits of Python", "no CPython 3.11 to 3.14");
    };
    let program = [program.to_str().expect("a path")];
    let Some(folder) = record("waits of Python", "stacks,threads", &program, ("naps.py", SLEEPS), 20) else { return };
    if folder.count(FILE, "select count(*) from wait") == 0 {
        return skipped("waits of Python", "no ledger of threads by eBPF");
    }
    let stacks = stacks(&folder, &["--state", "sleep"]);
    let (long, brief) = (time(&stacks, &["naps_long", "naps"]), time(&stacks, &["naps_briefly", "naps"]));
    let all = time(&stacks, &["time_sleep"]);
    if brief > 0.0 && long + brief < all / 2.0 {
        // A debug build reads the symbols of an interpreter for seconds while others have the CPUs.
        return skipped("waits of Python", &format!("its functions were known for {:.1} of {all:.1} s", long + brief));
    }
    assert!(brief > 0.1 && (1.8..5.0).contains(&(long / brief)), "{long} s and {brief} s of {stacks:?}");
}

#[test]
fn perf_trampolines_of_python_double_nothing() {
    let Some((_, program)) = pythons().into_iter().find(|(minor, _)| *minor >= 12) else {
        return skipped("python -X perf", "no CPython 3.12 or later");
    };
    let program = [program.to_str().expect("a path"), "-X", "perf"];
    let Some(folder) = record("python -X perf", "stacks", &program, ("shop.py", PYTHON), 100) else { return };
    remove_maps(&folder);
    let stacks = stacks(&folder, &[]);
    let both = |stack: &[String]| {
        let names = |frame: &&String| *frame == "often" || frame.starts_with("py::often:");
        stack.iter().filter(names).count() > 1
    };
    assert!(time(&stacks, &["often"]) > 0.3 * time(&stacks, &[]), "{stacks:?}");
    let doubled: Vec<_> = stacks.iter().filter(|(stack, _)| both(stack)).collect();
    assert!(doubled.is_empty(), "{doubled:?}");
}

/// Says that it is CPython 3.11, and has lists that lead back to themselves: of threads, of frames that say nothing of where they are, and of calls.
const HOSTILE: &str = "
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
const unsigned long Py_Version = 0x030b02f0;
uint64_t PyCode_Type[51], _PyRuntime[20000];
static uint64_t interpreter[64], thread[64], call[8], frame[16], code[64];
int main(int count, char **arguments)
{
    int wrong_number = count > 1 && strchr(arguments[1], 't'), enters = count > 1 && strchr(arguments[1], 'e');
    struct timespec now;
    time_t end;
    _PyRuntime[5] = (uint64_t)interpreter;
    interpreter[0] = (uint64_t)interpreter;
    interpreter[2] = (uint64_t)thread;
    thread[1] = (uint64_t)thread;
    thread[2] = (uint64_t)interpreter;
    thread[7] = (uint64_t)call;
    thread[20] = wrong_number ? 1 : (uint64_t)syscall(SYS_gettid);
    call[1] = (uint64_t)frame;
    call[2] = (uint64_t)call;
    frame[4] = (uint64_t)code;
    frame[6] = (uint64_t)frame;
    ((unsigned char *)frame)[68] = enters;
    code[1] = (uint64_t)PyCode_Type;
    code[14] = 16;
    code[16] = (uint64_t)-1;
    clock_gettime(CLOCK_MONOTONIC, &now);
    end = now.tv_sec + 2;
    while (now.tv_sec < end)
        clock_gettime(CLOCK_MONOTONIC, &now);
    return 0;
}
";

#[test]
fn lists_without_an_end_hold_nobody_up() {
    let built = Folder::new();
    std::fs::write(built.path("hostile.c"), HOSTILE).expect("a folder that can be written");
    let compiled = Command::new("cc")
        .args(["-O1", "-rdynamic", "-o", "python3.11", "hostile.c"])
        .current_dir(built.path(""))
        .status();
    if !compiled.is_ok_and(|status| status.success()) {
        return skipped("a program that says it is Python", "no cc");
    }
    let program = built.path("python3.11");
    let program = program.to_str().expect("a path");
    for (what, least) in [("-t", 0), ("-", 50), ("-e", 50)] {
        let Some(folder) = record(&format!("lists without an end, {what}"), "stacks", &[program, what], ("x", ""), 50)
        else {
            return;
        };
        let told = folder.count(FILE, "select max(events) from stacks_collector where collector = 'python'");
        assert!(told >= least, "{what}: {told}");
        assert_eq!(folder.count(FILE, "select count(*) from frame where kind = 'python'"), 0, "{what}");
    }
}

const NODE: &str = "
function fibonacci(n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
let sum = 0;
while (process.cpuUsage().user < 1500000) sum += fibonacci(20);
console.log(sum);
";

/// Node.js, where there is one.
fn node() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&path).map(|folder| folder.join("node")).find(|file| Path::exists(file));
    found.and_then(|file| std::fs::canonicalize(file).ok())
}

#[test]
fn functions_of_node_have_names_where_it_tells_them() {
    let Some(node) = node() else { return skipped("functions of Node.js", "no node") };
    let node = node.to_str().expect("a path");
    let Some(folder) = record("functions of Node.js", "stacks", &[node, "--perf-basic-prof"], ("loop.js", NODE), 50)
    else {
        return;
    };
    remove_maps(&folder);
    let frames = folder.rows(FILE, "select distinct module, source, kind from frame where function = 'fibonacci'");
    assert_eq!(frames.len(), 1, "{frames:?}");
    assert!(frames[0]["module"].as_str().is_some_and(|module| module.ends_with("loop.js")), "{frames:?}");
    assert_eq!((&frames[0]["source"], &frames[0]["kind"]), (&"loop.js:2".into(), &"jit".into()));
    let stacks = stacks(&folder, &[]);
    assert!(time(&stacks, &["fibonacci"]) > 0.5 * time(&stacks, &[]), "{stacks:?}");
}

#[test]
fn node_without_names_says_how_to_get_them() {
    let Some(node) = node() else { return skipped("code of Node.js without names", "no node") };
    let node = node.to_str().expect("a path");
    let Some(folder) = record("code of Node.js without names", "stacks", &[node], ("loop.js", NODE), 50) else {
        return;
    };
    let statement = "select count(*) from frame where module = '[JIT code of node]' and kind = 'jit'";
    assert_eq!(folder.count(FILE, statement), 1);
    let said = folder.rows(FILE, "select why, remedy from coverage where item = 'frame.jit'");
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0]["remedy"].as_str().is_some_and(|remedy| remedy.contains("--perf-basic-prof")), "{said:?}");
}

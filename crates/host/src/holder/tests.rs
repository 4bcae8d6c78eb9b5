//! A recorder that probes a program and comes to its end, however: the program has its code back. The recorder is this test program, started once more.

use super::text::Instruction;
use crate::perf::{self, Attributes};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const C: &str = "
static volatile unsigned long sum;
__attribute__((noinline)) void work(unsigned long n) { sum = sum * 31 + n; }
int main(void) { for (unsigned long n = 0;; n++) work(n); }
";

const GO: &str = "
package main
var sum uint64
//go:noinline
func work(n uint64) { sum = sum*31 + n }
func main() { for n := uint64(0); ; n++ { work(n) } }
";

/// Probes that a recorder has at once, all of them at one instruction of one process each.
const PROBES: usize = 4;

/// Ended with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A program that runs, and where in its file its function `work` is. `None` where it cannot be made here.
fn target(folder: &Path, source: (&str, &str), compiler: &[&str], function: &str) -> Option<(Running, u64)> {
    std::fs::write(folder.join(source.0), source.1).unwrap();
    let mut compile = Command::new(compiler[0]);
    compile.args(&compiler[1..]).arg(source.0).current_dir(folder);
    let compiled = compile.env("GOCACHE", folder.join("cache")).env("GOTOOLCHAIN", "local").output();
    if !compiled.as_ref().is_ok_and(|done| done.status.success()) {
        eprintln!("SKIPPED: probes in a program: it is not compiled: {compiled:?}");
        return None;
    }
    let names = Command::new("nm").arg("calls").current_dir(folder).output().ok()?;
    let names = String::from_utf8_lossy(&names.stdout).into_owned();
    let line = names.lines().find(|line| line.split(' ').nth(2) == Some(function)).expect("its function");
    let address = u64::from_str_radix(line.split(' ').next()?, 16).unwrap();
    let program = folder.join("calls");
    let running = Running(Command::new(&program).spawn().unwrap());
    let offset = loop {
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", running.0.id())).unwrap();
        let number = |text: &str| u64::from_str_radix(text, 16).unwrap();
        let place = maps.lines().find_map(|line| {
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            let (begin, end) = words[0].split_once('-')?;
            let is_there = (number(begin)..number(end)).contains(&address) && words.get(5) == program.to_str().as_ref();
            is_there.then(|| address - number(begin) + number(words[2]))
        });
        if let Some(place) = place {
            break place;
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    Some((running, offset))
}

/// What a recorder does: opens and closes probes, and says when they are open.
#[test]
#[ignore = "started by the other tests of this file"]
fn recorder() {
    if std::env::var_os("PROBED").is_none() {
        return;
    }
    let word = |name: &str| std::env::var(name).expect("what the test asks for");
    let (thread, offset) = (word("PROBED").parse().unwrap(), word("OFFSET").parse().unwrap());
    let code = File::open(word("CODE")).unwrap();
    let _holding = super::start().unwrap();
    loop {
        let attributes = Attributes { sample_period: 1, ..perf::probe(offset).unwrap() };
        let probes: Result<Vec<_>, _> = (0..PROBES).map(|_| super::open(&code, offset, thread, attributes)).collect();
        match &probes {
            Ok(_) => println!("\nopen"),
            Err(why) => return println!("\nunavailable: {why}"),
        }
        match word("END").as_str() {
            "return" => return,
            "panic" => panic!("as was asked for"),
            "exit" => std::process::exit(0),
            "abort" => std::process::abort(),
            _ => std::thread::sleep(Duration::from_millis(30)),
        }
    }
}

/// What a recorder does whose holder is harmed: asks it for probes, and ends. Whether probes are possible here is all the same to it.
#[test]
#[ignore = "started by the other tests of this file"]
fn recorder_of_a_holder_that_is_harmed() {
    let Some(how) = std::env::var_os("HARMED") else { return };
    let holding = super::start_within(Duration::from_millis(100)).unwrap();
    let holder = super::process().unwrap() as libc::pid_t;
    let code = File::open(std::env::current_exe().unwrap()).unwrap();
    let asked =
        || super::open(&code, 0, 0, perf::probe(0).unwrap_or_default()).map(drop).map_err(|why| why.to_string());
    if how == "well" {
        // It has answered, so its own descriptors are what it keeps.
        println!("\nasked: {}", asked().err().unwrap_or_default());
        let theirs = std::fs::read_dir(format!("/proc/{holder}/fd")).unwrap();
        let links = theirs.flatten().filter_map(|entry| std::fs::read_link(entry.path()).ok());
        return println!("asked for its recorder: {}", links.filter(|to| to.ends_with("anon_inode:[pidfd]")).count());
    }
    let signal = if how == "stopped" { libc::SIGSTOP } else { libc::SIGKILL };
    // SAFETY: it is a child that was not waited for, and is seen in that state before anything else is done.
    unsafe {
        libc::kill(holder, signal);
        let mut about = std::mem::zeroed();
        let seen = libc::WSTOPPED | libc::WEXITED | libc::WNOWAIT;
        assert_eq!(libc::waitid(libc::P_PID, holder as libc::id_t, &raw mut about, seen), 0);
    }
    println!("\nasked: {:?}", asked());
    if how == "stopped" {
        // From here on it can answer: first what it was asked before, which would be taken for the answer to another question.
        // SAFETY: as above.
        unsafe { libc::kill(holder, libc::SIGCONT) };
        let is_refused = |_: &u32| {
            std::thread::sleep(Duration::from_millis(10));
            asked().is_err_and(|why| why.contains("does not answer"))
        };
        println!("asked again: {} refused", (0..30).take_while(is_refused).count());
    }
    drop(holding);
    println!("ended");
}

/// The lines on both streams of such a recorder.
fn of_a_holder_that_is(how: &str) -> (Vec<String>, String) {
    let mut recorder = Command::new(std::env::current_exe().unwrap());
    recorder.args(["--exact", "holder::tests::recorder_of_a_holder_that_is_harmed", "--ignored", "--nocapture"]);
    let files = [(); 2].map(|()| tempfile::NamedTempFile::new().unwrap());
    let [out, err] = files.each_ref().map(|file| file.reopen().unwrap());
    // A group of its own: a holder that is stopped outlives whoever is ended.
    let mut child = recorder.env("HARMED", how).stdout(out).stderr(err).process_group(0).spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > until {
            // SAFETY: the group of a child that was not waited for.
            unsafe { libc::kill(-(child.id() as libc::pid_t), libc::SIGKILL) };
            let _ = child.wait();
            panic!("a holder that is {how} holds its recorder");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let [out, err] = files.map(|file| std::fs::read_to_string(file.path()).unwrap());
    let lines = out.lines().filter(|line| line.starts_with("asked") || *line == "ended");
    (lines.map(str::to_owned).collect(), err)
}

#[test]
fn a_holder_that_was_stopped_holds_nobody_and_is_asked_nothing_more() {
    let (lines, err) = of_a_holder_that_is("stopped");
    assert_eq!(lines.len(), 3, "{lines:?}: {err}");
    assert!(lines[0].contains("does not answer"), "{lines:?}: {err}");
    assert_eq!(lines[1], "asked again: 30 refused", "{err}");
}

#[test]
fn a_holder_keeps_what_tells_it_that_its_recorder_is_gone() {
    let (lines, err) = of_a_holder_that_is("well");
    assert!(lines.len() == 2 && !lines[0].contains("does not answer"), "{lines:?}: {err}");
    assert_eq!(lines[1], "asked for its recorder: 1", "{lines:?}: {err}");
}

#[test]
fn of_a_holder_that_was_killed_it_is_said_that_it_was_ended() {
    let (lines, err) = of_a_holder_that_is("killed");
    assert!(lines.len() == 2 && lines[0].contains("does not answer"), "{lines:?}: {err}");
    assert!(err.contains("was ended: whether all are out was not checked"), "{err}");
    assert!(!err.contains("goes on with that"), "{err}");
}

/// Lets recorders come to their ends, this many of each kind.
fn ends(source: (&str, &str), compiler: &[&str], function: &str, times: u64) {
    let folder = tempfile::tempdir().unwrap();
    let Some((running, offset)) = target(folder.path(), source, compiler, function) else { return };
    let code = folder.path().join("calls");
    let pid = running.0.id();
    let work = Instruction::of(pid as i32, &File::open(&code).unwrap(), offset).expect("its code");
    // Chance enough for the moment of a signal.
    let mut random = 0x5eed_u64;
    let mut seen = false;
    for (end, signal) in [
        ("return", 0),
        ("panic", 0),
        ("exit", 0),
        ("abort", 0),
        ("signal", libc::SIGKILL),
        ("signal", libc::SIGINT),
        ("signal", libc::SIGTERM),
    ] {
        for round in 0..times {
            let mut recorder = Command::new(std::env::current_exe().unwrap());
            recorder.args(["--exact", "holder::tests::recorder", "--ignored", "--nocapture"]).env("END", end);
            recorder.env("PROBED", pid.to_string()).env("OFFSET", offset.to_string()).env("CODE", &code);
            let mut recorder = Running(recorder.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
            let lines = BufReader::new(recorder.0.stdout.take().unwrap()).lines().map_while(Result::ok);
            let word = lines.into_iter().find(|line| line == "open" || line.starts_with("unavailable"));
            if let Some(why) = word.as_ref().filter(|word| word.starts_with("unavailable")) {
                return eprintln!("SKIPPED: probes in a program: {why}");
            }
            assert!(word.is_some(), "{end}: no probe was opened");
            if signal != 0 {
                seen |= work.has_breakpoint();
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                std::thread::sleep(Duration::from_millis((random >> 33) % 300));
                // SAFETY: a child that was not waited for.
                unsafe { libc::kill(recorder.0.id() as libc::pid_t, signal) };
            }
            recorder.0.wait().unwrap();
            // Where nobody could wait for it, it takes a moment.
            let until = Instant::now() + Duration::from_secs(60);
            while !matches!(end, "return" | "panic") && work.has_breakpoint() && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(5));
            }
            assert!(!work.has_breakpoint(), "{end} {signal}, time {round}: a breakpoint stays");
        }
    }
    assert!(seen, "a breakpoint was there while probes were open");
}

#[test]
fn a_program_of_c_has_its_code_back() {
    ends(("calls.c", C), &["cc", "-O1", "-no-pie", "-o", "calls"], "work", 3);
}

#[test]
fn a_program_of_go_has_its_code_back() {
    ends(("calls.go", GO), &["go", "build", "-o", "calls"], "main.work", 3);
}

#[test]
#[ignore = "make test-all: 350 recorders, some minutes"]
fn a_program_of_c_has_its_code_back_after_fifty_ends_of_each_kind() {
    ends(("calls.c", C), &["cc", "-O1", "-no-pie", "-o", "calls"], "work", 50);
}

#[test]
#[ignore = "make test-all: 350 recorders, some minutes"]
fn a_program_of_go_has_its_code_back_after_fifty_ends_of_each_kind() {
    ends(("calls.go", GO), &["go", "build", "-o", "calls"], "main.work", 50);
}

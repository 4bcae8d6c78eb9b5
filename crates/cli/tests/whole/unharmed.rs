//! What is recorded is left as it was: the code of a program, however a recorder of it comes to its end, and what reads a command's output.

use crate::common::{Folder, Random, Running, skipped};
use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Allocates until somebody ends it.
const JAVA: &str = "
public class Allocates {
    static volatile Object kept;
    public static void main(String[] arguments) throws Exception {
        for (int n = 0; ; n++) {
            kept = new byte[4096 + n % 777];
            if (n % 200 == 0) Thread.sleep(1);
        }
    }
}
";

/// A JVM that is recorded, and ended with this. Recorders put breakpoints into its code.
struct Target(Running);

impl Target {
    /// Starts it; `None` where there is no Java here.
    fn start(folder: &Folder) -> Option<Target> {
        std::fs::write(folder.path("Allocates.java"), JAVA).expect("a folder that can be written");
        let compiled = Command::new("javac").arg("Allocates.java").current_dir(folder.path("")).output();
        if !compiled.as_ref().is_ok_and(|done| done.status.success()) {
            skipped("the code of a JVM", &format!("javac does not compile: {compiled:?}"));
            return None;
        }
        let mut command = Command::new("java");
        command.args(["-cp", ".", "Allocates"]).current_dir(folder.path("")).stdin(Stdio::null());
        Some(Target(folder.start(command)))
    }

    /// Where its code is another than that of its files: of each file, where.
    fn changed(&self) -> BTreeSet<(String, u64)> {
        let pid = self.0.pid();
        let memory = File::open(format!("/proc/{pid}/mem")).expect("its memory");
        let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).expect("its memory");
        let mut found = BTreeSet::new();
        for line in maps.lines() {
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            let [range, rights, from, _, _, path] = words[..] else { continue };
            let Ok(file) = File::open(path) else { continue };
            if !rights.contains('x') {
                continue;
            }
            let number = |text: &str| u64::from_str_radix(text, 16).expect("a number");
            let (begin, end) = range.split_once('-').map(|(a, b)| (number(a), number(b))).expect("a range");
            let mut written = vec![0; (end - begin) as usize];
            let count = file.read_at(&mut written, number(from)).expect("its file");
            written.truncate(count);
            let mut there = vec![0; count];
            memory.read_exact_at(&mut there, begin).expect("its memory");
            let differs = written.iter().zip(&there).enumerate().filter(|(_, (a, b))| a != b);
            found.extend(differs.map(|(at, _)| (path.to_owned(), number(from) + at as u64)));
        }
        found
    }
}

/// How a recorder ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    /// By itself.
    Over,
    /// By a signal.
    Signal(i32),
    /// By SIGKILL, at some moment.
    Killed,
    /// By SIGKILL while it ends.
    KilledWhileClosing,
}

const ENDS: [End; 5] =
    [End::Over, End::Signal(libc::SIGINT), End::Signal(libc::SIGTERM), End::Killed, End::KilledWhileClosing];

/// Records a target this often, each time to that end. Whether it ever had a breakpoint in its code.
fn record(folder: &Folder, target: &mut Target, end: End, times: u64) -> bool {
    let (mut seen, mut random) = (false, Random(0x5eed));
    for round in 0..times {
        let name = format!("{round}.twin");
        let pid = target.0.pid().to_string();
        let mut options = vec!["-q", "--pid", &pid];
        if end == End::Over {
            options.extend(["-d", "1s"]);
        }
        let mut recorder = if end == End::Killed {
            // From its first moment on.
            let recorder = folder.start(folder.command(["record", "-o", &name].iter().chain(&options)));
            std::thread::sleep(Duration::from_millis(random.below(2500)));
            recorder
        } else {
            folder.record(&name, &options)
        };
        if end != End::Killed {
            let until = Instant::now() + Duration::from_secs(60);
            while recorder.poll().is_none() && Instant::now() < until && target.changed().is_empty() {
                std::thread::sleep(Duration::from_millis(10));
            }
            seen |= !target.changed().is_empty();
        }
        match end {
            End::Over => {}
            End::Signal(signal) => recorder.signal(signal),
            End::Killed => recorder.signal(libc::SIGKILL),
            End::KilledWhileClosing => {
                recorder.signal(libc::SIGINT);
                std::thread::sleep(Duration::from_millis(random.below(400)));
                recorder.signal(libc::SIGKILL);
            }
        }
        let was_killed = matches!(end, End::Killed | End::KilledWhileClosing);
        let done = recorder.wait();
        let _ = std::fs::remove_file(folder.path(&name));
        assert!(was_killed || !done.stderr.contains("breakpoint"), "{done}");
        // Who is killed leaves it to another process, which takes a moment.
        let until = Instant::now() + Duration::from_secs(60);
        while was_killed && Instant::now() < until && !target.changed().is_empty() {
            std::thread::sleep(Duration::from_millis(20));
        }
        let left = target.changed();
        assert!(left.is_empty(), "{end:?}, time {round}: breakpoints stay in its code: {left:x?}\n{done}");
        assert!(target.0.poll().is_none(), "{end:?}: the program that was recorded has ended");
    }
    seen
}

fn unharmed(times: u64) {
    let folder = Folder::alone();
    let Some(mut target) = Target::start(&folder) else { return };
    let mut seen = false;
    for end in ENDS {
        seen |= record(&folder, &mut target, end, times);
    }
    if !seen {
        skipped("the code of a JVM", "no probe was put into it here");
    }
}

#[test]
fn a_jvm_has_its_code_back_however_the_recorder_ends() {
    unharmed(2);
}

#[test]
#[ignore = "make test-all: 250 recordings, ten minutes"]
fn a_jvm_has_its_code_back_after_fifty_ends_of_each_kind() {
    unharmed(50);
}

/// Waits for a file that something writes when it is done.
fn wait_for(folder: &Folder, name: &str) {
    let until = Instant::now() + Duration::from_secs(60);
    while !folder.path(name).exists() {
        assert!(Instant::now() < until, "{name}: whoever writes it was disturbed");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Lines on both streams until `stop` is there, and then a file that says so.
const WRITES: &str = "n=0; while [ ! -e stop ]; do n=$((n + 1)); echo out $n; echo err $n >&2; : > wrote; sleep 0.01; done; \
                      echo last; echo end >&2; mv wrote done";

#[test]
fn a_command_goes_on_and_is_heard_when_its_recorder_is_killed() {
    for options in [&[][..], &["--throughput", "out (\\d+)"]] {
        let folder = Folder::new();
        let mut all = vec!["-q", "--only", "cpu"];
        all.extend(options);
        all.extend(["--", "sh", "-c", WRITES]);
        let recorder = folder.record("a.twin", &all);
        wait_for(&folder, "wrote");
        recorder.signal(libc::SIGKILL);
        let (out, err) = recorder.outputs();
        recorder.wait();
        std::fs::remove_file(folder.path("wrote")).ok();
        wait_for(&folder, "wrote");
        std::fs::write(folder.path("stop"), "").unwrap();
        wait_for(&folder, "done");
        heard(&out, "last\n");
        heard(&err, "end\n");
    }
}

#[test]
fn a_daemon_goes_on_and_is_heard_when_its_recorder_has_ended() {
    let folder = Folder::new();
    let script = format!("({WRITES}) & while [ ! -e wrote ]; do sleep 0.01; done; exit 7");
    let recorder = folder.record("a.twin", &["--only", "cpu", "--", "sh", "-c", &script]);
    let (out, err) = recorder.outputs();
    let done = recorder.wait();
    assert_eq!(done.status.code(), Some(7), "{done}");
    done.says("goes on: what it writes is passed on until it ends");
    std::fs::remove_file(folder.path("wrote")).ok();
    wait_for(&folder, "wrote");
    std::fs::write(folder.path("stop"), "").unwrap();
    wait_for(&folder, "done");
    heard(&out, "last\n");
    heard(&err, "end\n");
}

/// Waits until a stream ends so.
fn heard(stream: &File, end: &str) {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let mut bytes = vec![0; stream.metadata().unwrap().len() as usize];
        let count = stream.read_at(&mut bytes, 0).unwrap();
        let text = String::from_utf8_lossy(&bytes[..count]).into_owned();
        if text.ends_with(end) {
            return;
        }
        assert!(Instant::now() < until, "it does not arrive: {text}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A command that is started with a limit of the shell: what `ulimit` says, and what the recorder is asked for.
fn limited(folder: &Folder, limit: &str, options: &[&str]) -> Running {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit {limit}; exec \"$@\""), "sh"]);
    shell.arg(crate::common::program()).args(["record", "-o", "a.twin"]).args(options);
    shell.args(["--", "sh", "-c", "sleep 1; echo done; exit 7"]).current_dir(folder.path(""));
    folder.start(shell)
}

#[test]
fn a_command_runs_where_files_may_not_grow() {
    // No recording can be begun; one cannot go on. As on a full disk that is an error of the recorder, which names the command's.
    for (blocks, code, words) in
        [("20", 7, "the command runs unrecorded"), ("100", 7, "the command runs unrecorded"), ("250", 1, "exit code 7")]
    {
        let folder = Folder::new();
        let done = limited(&folder, &format!("-f {blocks}"), &["-i", "10ms"]).wait();
        assert_eq!(done.status.code(), Some(code), "{done}");
        assert_eq!(done.stdout, "done\n", "{done}");
        done.says("RLIMIT_FSIZE").says(words);
    }
}

#[test]
fn a_command_runs_where_there_is_no_memory_for_its_recorder() {
    // From what is enough for nothing but to begin to what is enough.
    let mut stopped = 0;
    for megabytes in (64..=160).step_by(16) {
        let folder = Folder::new();
        let done = limited(&folder, &format!("-v {}", megabytes << 10), &[]).wait();
        if done.status.code() == Some(127) {
            // Not even its libraries fit.
            continue;
        }
        assert_eq!(done.status.code(), Some(7), "{megabytes} MB: {done}");
        assert_eq!(done.stdout, "done\n", "{megabytes} MB: {done}");
        stopped += u32::from(done.stderr.contains("RLIMIT_AS"));
    }
    if stopped == 0 {
        skipped("a recorder without memory", "it had enough with every limit");
    }
}

#[test]
fn a_command_runs_where_few_files_may_be_open() {
    // The recording is begun; then there is no descriptor for the pipes of another process.
    for limit in ["12", "16", "24"] {
        let folder = Folder::new();
        let done = limited(&folder, &format!("-n {limit}"), &[]).wait();
        assert_eq!(done.status.code(), Some(7), "{limit}: {done}");
        assert_eq!(done.stdout, "done\n", "{limit}: {done}");
        done.says("Too many open files").says("the command runs unrecorded");
    }
}

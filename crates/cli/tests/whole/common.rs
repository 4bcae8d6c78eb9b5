//! What the tests of the whole program share: a folder of their own, the program with a time limit, and a way to say
//! that something cannot be tested here.

use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

/// No command of a test takes longer, however slow the machine.
const LIMIT: Duration = Duration::from_secs(120);

/// Tests that compare two runs want the CPUs for themselves; all others may run at the same time.
static MACHINE: RwLock<()> = RwLock::new(());

enum Guard {
    Shared(#[expect(dead_code, reason = "held, not read")] RwLockReadGuard<'static, ()>),
    Alone(#[expect(dead_code, reason = "held, not read")] RwLockWriteGuard<'static, ()>),
}

/// Commands that record or measure the machine on which they run.
const LIVE: [&str; 4] = ["record", "top", "tune", "doctor"];

/// The tests that may do so, and why.
const LISTED: &str = include_str!("../../../../tests/live.txt");

/// Whether the test of this thread is on the list.
fn is_listed() -> bool {
    let thread = std::thread::current();
    // A test that runs alone runs on the main thread, whose name says nothing.
    let Some(test) = thread.name().filter(|name| *name != "main") else { return true };
    let test = format!("whole::{test}");
    let mut names = LISTED.lines().filter_map(|line| line.split(' ').nth(1));
    names.any(|name| test == name || name.ends_with("::") && test.starts_with(name))
}

/// The program: that of $TWINSCOPE, or the one that was built with these tests.
pub fn program() -> OsString {
    std::env::var_os("TWINSCOPE").unwrap_or_else(|| env!("CARGO_BIN_EXE_twinscope").into())
}

/// A folder for one test. While it lives, no test that wants the machine for itself runs beside.
pub struct Folder {
    folder: tempfile::TempDir,
    _guard: Guard,
}

impl Folder {
    /// For a test that others may run beside.
    pub fn new() -> Self {
        Self::with(Guard::Shared(MACHINE.read().unwrap_or_else(|e| e.into_inner())))
    }

    /// For a test that no other may run beside.
    pub fn alone() -> Self {
        Self::with(Guard::Alone(MACHINE.write().unwrap_or_else(|e| e.into_inner())))
    }

    fn with(guard: Guard) -> Self {
        Folder { folder: tempfile::tempdir().expect("a temporary folder"), _guard: guard }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What is in it, but for what the tests themselves print to.
    pub fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).expect("the folder");
        let mut names: Vec<String> = entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The program, to be run in this folder, with the sockets of its recorders in it: tests must not see those of others.
    pub fn command<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(program());
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        // Tests may be run with any of these set.
        command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").env_remove("TWINSCOPE_MARK");
        command
    }

    /// Runs the program to its end.
    pub fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Done {
        self.start(self.command(arguments)).wait()
    }

    /// Runs the program, which must end with this code.
    pub fn expect<S: AsRef<OsStr>>(&self, code: i32, arguments: impl IntoIterator<Item = S>) -> Done {
        let done = self.run(arguments);
        assert_eq!(done.status.code(), Some(code), "{done}");
        done
    }

    /// Starts a command; what it prints goes to files of this folder, so that no pipe can fill or be held open.
    pub fn start(&self, mut command: Command) -> Running {
        // Without names, so that they are no part of the folder.
        let [out, err] = [(); 2].map(|()| tempfile::tempfile().expect("a file"));
        let shown = format!("{command:?}");
        let mut arguments = command.get_args();
        let is_live = arguments.next().is_some_and(|first| LIVE.iter().any(|live| first == *live))
            && arguments.all(|argument| argument != "--root");
        command.stdout(out.try_clone().expect("the same file")).stderr(err.try_clone().expect("the same file"));
        // What is run in the background of a shell ignores SIGINT, and so does all that it starts.
        // SAFETY: signal(2) may be called between fork and exec.
        unsafe {
            command.pre_exec(|| {
                libc::signal(libc::SIGINT, libc::SIG_DFL);
                Ok(())
            })
        };
        let child = command.process_group(0).spawn().unwrap_or_else(|e| panic!("{shown}: {e}"));
        Running { child, out, err, shown, status: None, is_live }
    }

    /// Starts a recorder and waits until it has written its first rows.
    pub fn record(&self, name: &str, options: &[&str]) -> Running {
        let mut command = self.command(["record", "-o", name]);
        command.args(options);
        let mut running = self.start(command);
        running.until("the recording begins", || {
            // At first there is no such file, then it has no tables.
            let rows = self.run(["sql", "--json", name, "select count(*) as n from recorder"]);
            rows.status.success() && rows.json()[0]["n"].as_i64() > Some(0)
        });
        running
    }

    /// The rows of an answer.
    pub fn rows(&self, recording: &str, statement: &str) -> Vec<Value> {
        let done = self.run(["sql", "--json", recording, statement]);
        let code = done.status.code();
        assert!(code == Some(0) || code == Some(3), "{statement}: {done}");
        match done.json() {
            Value::Array(rows) => rows,
            other => panic!("{statement}: {other}"),
        }
    }

    /// An answer that is one number; 0 where there is none.
    pub fn count(&self, recording: &str, statement: &str) -> i64 {
        let rows = self.rows(recording, statement);
        rows.first().and_then(|r| r.as_object()?.values().next()?.as_i64()).unwrap_or(0)
    }

    /// What `info --json` says.
    pub fn info(&self, recording: &str) -> Value {
        let done = self.run(["info", "--json", recording]);
        match done.json() {
            Value::Array(mut all) if all.len() == 1 => all.remove(0),
            other => other,
        }
    }
}

/// A program that was started. Killed with its group when dropped.
pub struct Running {
    child: Child,
    out: File,
    err: File,
    shown: String,
    status: Option<ExitStatus>,
    is_live: bool,
}

impl Running {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, signal: i32) {
        // SAFETY: plain system call; the child has not been waited for.
        unsafe { libc::kill(self.child.id() as libc::pid_t, signal) };
    }

    /// What it prints, to be read also when it has ended: standard output, standard error.
    pub fn outputs(&self) -> (File, File) {
        (self.out.try_clone().expect("a descriptor"), self.err.try_clone().expect("a descriptor"))
    }

    /// Waits until something is true. It must not take longer than the limit, nor the program end before.
    pub fn until(&mut self, what: &str, mut is: impl FnMut() -> bool) {
        let end = Instant::now() + LIMIT;
        while !is() {
            if let Some(status) = self.poll() {
                let done = self.done(status);
                panic!("ended before {what}: {done}");
            }
            assert!(Instant::now() < end, "{}: {what}: not within {LIMIT:?}", self.shown);
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn poll(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() {
            self.status = self.child.try_wait().expect("wait");
        }
        self.status
    }

    /// Waits for its end.
    pub fn wait(mut self) -> Done {
        let end = Instant::now() + LIMIT;
        loop {
            if let Some(status) = self.poll() {
                return self.done(status);
            }
            assert!(Instant::now() < end, "{} did not end within {LIMIT:?}", self.shown);
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn done(&self, status: ExitStatus) -> Done {
        // By position: the descriptor of the program has the same offset as ours.
        let text = |file: &File| {
            let mut bytes = vec![0; file.metadata().expect("its length").len() as usize];
            let count = file.read_at(&mut bytes, 0).expect("what was printed");
            bytes.truncate(count);
            bytes
        };
        let done = Done {
            status,
            stdout: String::from_utf8_lossy(&text(&self.out)).into_owned(),
            stderr: String::from_utf8_lossy(&text(&self.err)).into_owned(),
            shown: self.shown.clone(),
        };
        assert!(!done.stderr.contains("panicked at"), "{done}");
        // What was refused as wrong usage has recorded nothing.
        let recorded = self.is_live && status.code() != Some(2);
        assert!(
            !recorded || is_listed(),
            "{}: this test records: name it in tests/live.txt, with a reason",
            self.shown
        );
        done
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // What a failing test leaves behind must not disturb the next one; a group that is gone is none of our business.
        if self.poll().is_none() {
            // SAFETY: plain system call; the child leads its own group and has not been waited for.
            unsafe { libc::kill(-(self.child.id() as libc::pid_t), libc::SIGKILL) };
            let _ = self.child.wait();
        }
    }
}

/// How a program ended, and what it printed.
pub struct Done {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
    shown: String,
}

impl Done {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("no JSON: {e}: {self}"))
    }

    /// It must have ended by itself, without a panic, and said what is wrong in words of its own.
    pub fn has_not_crashed(&self) -> &Self {
        assert!(self.status.signal().is_none(), "{self}");
        assert!(self.status.code() != Some(101), "{self}");
        self
    }

    pub fn says(&self, words: &str) -> &Self {
        assert!(self.stderr.contains(words), "expected {words:?} on standard error: {self}");
        self
    }
}

impl std::fmt::Display for Done {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let short = |text: &str| text.chars().take(3000).collect::<String>();
        write!(
            f,
            "{} ended with {}\n--- stdout\n{}\n--- stderr\n{}",
            self.shown,
            self.status,
            short(&self.stdout),
            short(&self.stderr)
        )
    }
}

/// Says that something cannot be tested here, in the form that `scripts/test.sh` collects.
pub fn skipped(what: &str, why: &str) {
    let line = format!("SKIPPED: {what}: {why}");
    eprintln!("{line}");
    if let Some(path) = std::env::var_os("TWINSCOPE_SKIPS") {
        use std::io::Write;
        let file = File::options().append(true).create(true).open(path);
        let _ = file.and_then(|mut f| writeln!(f, "{line}"));
    }
}

/// Random numbers that are the same in every run: xorshift64*, Vigna 2016, "An experimental exploration of Marsaglia's xorshift generators".
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, most: u64) -> u64 {
        self.next() % most.max(1)
    }
}

/// The options of `record` by which it reads a recorded host for a second, not this machine.
pub const OF_A_FIXTURE: [&str; 4] =
    ["--root", concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/hosts/vm-2cpu"), "-d", "1s"];

/// The folder of the repository.
pub fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

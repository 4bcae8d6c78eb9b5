//! Tests on the machine they run on: real threads that wait for one thing each, and whether the ledger says so. The threads are those of
//! this program, started again as a child: its test `worker` is what the child runs.

use super::tables::{CONCURRENCY, LOCKS, RUN_QUEUE, STATES, TABLES, THREAD_TIME, WAIT, WORDS, column};
use super::{SOURCE, bpf::BpfReader};
use crate::scope::Target;
use crate::{Reader, Scope};
use host::Host;
use model::{Coverage, NULL, Out, Rows, Symbols};
use std::collections::HashMap;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// What the child is asked to do.
const WORK: &str = "TWINSCOPE_TEST_WORK";
/// For how long each thread waits in all.
const LONG: Duration = Duration::from_millis(600);

/// A mutex of the C library, locked by the thread that makes it.
struct Locked(Box<libc::pthread_mutex_t>);

// SAFETY: a pthread mutex may be used from any thread.
unsafe impl Send for Locked {}
// SAFETY: as above.
unsafe impl Sync for Locked {}

impl Locked {
    fn lock(&self) {
        // SAFETY: the mutex is initialised, and lives as long as self.
        unsafe { libc::pthread_mutex_lock(std::ptr::from_ref(&*self.0).cast_mut()) };
    }

    fn unlock(&self) {
        // SAFETY: as above; the caller has it locked.
        unsafe { libc::pthread_mutex_unlock(std::ptr::from_ref(&*self.0).cast_mut()) };
    }
}

fn pipe() -> (std::fs::File, std::fs::File) {
    let mut ends = [0; 2];
    // SAFETY: room for two descriptors, which are then owned by the files.
    unsafe {
        assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
        (std::fs::File::from_raw_fd(ends[0]), std::fs::File::from_raw_fd(ends[1]))
    }
}

fn named(name: &str, run: impl FnOnce() + Send + 'static) -> std::thread::JoinHandle<()> {
    std::thread::Builder::new().name(name.into()).spawn(run).unwrap()
}

/// So many waits in vain, each for so long.
const IN_VAIN: i64 = 20;
const BRIEF: Duration = Duration::from_millis(5);

fn by_poll(file: &std::fs::File, limit: Duration) {
    let mut wanted = libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one descriptor, with room for what is said of it.
    unsafe { libc::poll(&mut wanted, 1, limit.as_millis() as i32) };
}

fn by_ppoll(file: &std::fs::File, limit: Duration) {
    let mut wanted = libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let limit = libc::timespec { tv_sec: 0, tv_nsec: limit.as_nanos() as i64 };
    // SAFETY: as above; the time is read only.
    unsafe { libc::ppoll(&mut wanted, 1, &limit, std::ptr::null()) };
}

fn by_select(file: &std::fs::File, limit: Duration) {
    let mut limit = libc::timeval { tv_sec: 0, tv_usec: limit.as_micros() as i64 };
    // SAFETY: a set of one descriptor, which is below the size of sets here.
    unsafe {
        let mut wanted: libc::fd_set = std::mem::zeroed();
        libc::FD_SET(file.as_raw_fd(), &mut wanted);
        libc::select(file.as_raw_fd() + 1, &mut wanted, std::ptr::null_mut(), std::ptr::null_mut(), &mut limit);
    }
}

fn by_epoll(file: &std::fs::File, limit: Duration) {
    // SAFETY: plain system calls with room for what they write.
    unsafe {
        let epoll = libc::epoll_create1(0);
        let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: 0 };
        libc::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, file.as_raw_fd(), &mut event);
        libc::epoll_wait(epoll, &mut event, 1, limit.as_millis() as i32);
        libc::close(epoll);
    }
}

/// Runs one kind of wait in a thread of the same name.
fn wait_for(kind: &'static str) {
    match kind {
        "mutex" => {
            let mutex = Arc::new(Locked(Box::new(libc::PTHREAD_MUTEX_INITIALIZER)));
            mutex.lock();
            let other = Arc::clone(&mutex);
            let thread = named(kind, move || {
                other.lock();
                other.unlock();
            });
            sleep(LONG);
            mutex.unlock();
            thread.join().unwrap();
        }
        "rustmutex" => {
            let mutex = Arc::new(Mutex::new(0));
            let held = mutex.lock().unwrap();
            let other = Arc::clone(&mutex);
            let thread = named(kind, move || *other.lock().unwrap() += 1);
            sleep(LONG);
            drop(held);
            thread.join().unwrap();
        }
        "condvar" => {
            let pair = Arc::new((Mutex::new(false), Condvar::new()));
            let other = Arc::clone(&pair);
            let thread = named(kind, move || {
                let mut ready = other.0.lock().unwrap();
                while !*ready {
                    ready = other.1.wait(ready).unwrap();
                }
            });
            sleep(LONG);
            *pair.0.lock().unwrap() = true;
            pair.1.notify_all();
            thread.join().unwrap();
        }
        "join" => {
            // SAFETY: the thread gets no data, and is joined.
            let thread = named(kind, || unsafe {
                extern "C" fn run(_: *mut libc::c_void) -> *mut libc::c_void {
                    // SAFETY: a name that ends with a zero.
                    unsafe { libc::prctl(libc::PR_SET_NAME, c"joined".as_ptr()) };
                    sleep(LONG);
                    std::ptr::null_mut()
                }
                let mut id = 0;
                assert_eq!(libc::pthread_create(&mut id, std::ptr::null(), run, std::ptr::null_mut()), 0);
                libc::pthread_join(id, std::ptr::null_mut());
            });
            thread.join().unwrap();
        }
        "sleep" => named(kind, || sleep(LONG)).join().unwrap(),
        "pipe" => {
            let (mut reader, mut writer) = pipe();
            let thread = named(kind, move || assert_eq!(reader.read(&mut [0; 8]).unwrap(), 1));
            sleep(LONG);
            writer.write_all(b"x").unwrap();
            thread.join().unwrap();
        }
        "socket" => {
            let (mut one, mut other) = std::os::unix::net::UnixStream::pair().unwrap();
            let thread = named(kind, move || assert_eq!(one.read(&mut [0; 8]).unwrap(), 1));
            sleep(LONG);
            other.write_all(b"x").unwrap();
            thread.join().unwrap();
        }
        "epoll" => {
            let thread = named(kind, || {
                // SAFETY: plain system calls with room for what they write.
                unsafe {
                    let epoll = libc::epoll_create1(0);
                    let mut event = libc::epoll_event { events: 0, u64: 0 };
                    libc::epoll_wait(epoll, &mut event, 1, LONG.as_millis() as i32);
                    libc::close(epoll);
                }
            });
            thread.join().unwrap();
        }
        "fsync" => {
            let thread = named(kind, || {
                let path = std::env::current_dir().unwrap().join(format!("fsync-test-{}", std::process::id()));
                let mut file = std::fs::File::create(&path).unwrap();
                std::fs::remove_file(&path).unwrap();
                let begin = Instant::now();
                while begin.elapsed() < LONG {
                    file.write_all(&[1; 65536]).unwrap();
                    file.sync_all().unwrap();
                }
            });
            thread.join().unwrap();
        }
        "run" => {
            let thread = named(kind, || {
                let begin = Instant::now();
                let mut sum = 0u64;
                while begin.elapsed() < LONG {
                    sum = std::hint::black_box(sum.wrapping_add(1));
                }
            });
            thread.join().unwrap();
        }
        "fault" => {
            let thread = named(kind, || {
                let path = std::env::current_dir().unwrap().join(format!("fault-test-{}", std::process::id()));
                std::fs::write(&path, vec![1u8; 64 << 20]).unwrap();
                let file = std::fs::File::open(&path).unwrap();
                std::fs::remove_file(&path).unwrap();
                file.sync_all().unwrap();
                let fd = file.as_raw_fd();
                // SAFETY: a mapping of the whole file, which nobody changes, read inside its length and then unmapped.
                unsafe {
                    libc::posix_fadvise(fd, 0, 0, libc::POSIX_FADV_DONTNEED);
                    let map = libc::mmap(std::ptr::null_mut(), 64 << 20, libc::PROT_READ, libc::MAP_SHARED, fd, 0);
                    libc::madvise(map, 64 << 20, libc::MADV_RANDOM);
                    for page in 0..(64 << 20) / 4096 {
                        std::hint::black_box(map.cast::<u8>().add(page * 4096).read_volatile());
                    }
                    libc::munmap(map, 64 << 20);
                }
            });
            thread.join().unwrap();
        }
        "brief" => {
            for _ in 0..200 {
                named("brief", || sleep(Duration::from_millis(1))).join().unwrap();
            }
        }
        "contend" => {
            let mutex = Arc::new(Locked(Box::new(libc::PTHREAD_MUTEX_INITIALIZER)));
            let begin = Instant::now();
            let threads: Vec<_> = (0..3)
                .map(|at| {
                    let mutex = Arc::clone(&mutex);
                    named(&format!("contend{at}"), move || {
                        while begin.elapsed() < LONG {
                            mutex.lock();
                            sleep(Duration::from_millis(2));
                            mutex.unlock();
                        }
                    })
                })
                .collect();
            threads.into_iter().for_each(|t| t.join().unwrap());
        }
        "stay" => {
            let mutex = Arc::new(Locked(Box::new(libc::PTHREAD_MUTEX_INITIALIZER)));
            mutex.lock();
            named("staylock", move || mutex.lock());
            named("stayidle", || {
                let mutex = Mutex::new(());
                drop(Condvar::new().wait(mutex.lock().unwrap()));
            });
        }
        "timed" => {
            // Each wait once in vain, and once ended by an event long before its time is over.
            for call in ["epoll", "poll", "select", "ppoll"] {
                let wait = match call {
                    "epoll" => by_epoll,
                    "poll" => by_poll,
                    "select" => by_select,
                    _ => by_ppoll,
                };
                let (reader, mut writer) = pipe();
                let (vain, mut event) = (pipe(), [0; 1]);
                named(&format!("vain{call}"), move || (0..IN_VAIN).for_each(|_| wait(&vain.0, BRIEF))).join().unwrap();
                let thread = named(&format!("come{call}"), move || {
                    for _ in 0..IN_VAIN {
                        wait(&reader, LONG);
                        (&reader).read_exact(&mut event).unwrap();
                    }
                });
                for _ in 0..IN_VAIN {
                    sleep(BRIEF);
                    writer.write_all(b"x").unwrap();
                }
                thread.join().unwrap();
            }
            let pair = Arc::new((Mutex::new(0), Condvar::new()));
            let other = Arc::clone(&pair);
            let vain = named("vaincondvar", || {
                let pair = (Mutex::new(()), Condvar::new());
                for _ in 0..IN_VAIN {
                    drop(pair.1.wait_timeout(pair.0.lock().unwrap(), BRIEF).unwrap());
                }
            });
            vain.join().unwrap();
            let thread = named("comecondvar", move || {
                let mut count = other.0.lock().unwrap();
                while *count < IN_VAIN {
                    count = other.1.wait_timeout(count, LONG).unwrap().0;
                }
            });
            for _ in 0..IN_VAIN {
                sleep(BRIEF);
                *pair.0.lock().unwrap() += 1;
                pair.1.notify_all();
            }
            thread.join().unwrap();
        }
        other => panic!("no work {other}"),
    }
}

/// Every kind that [`wait_for`] knows, with the state that its time goes to and the call it blocks in.
const KINDS: [(&str, &str); 9] = [
    ("mutex", "lock"),
    ("rustmutex", "lock"),
    ("condvar", "idle"),
    ("join", "idle"),
    ("sleep", "sleep"),
    ("pipe", "pipe"),
    ("socket", "network"),
    ("epoll", "idle"),
    ("fsync", "disk"),
];

/// Whether this process was started by [`Worker::start`]: then it does what it was started for.
fn is_worker() -> bool {
    let Ok(work) = std::env::var(WORK) else { return false };
    // Until it is told to begin, so that the first read finds it there.
    std::io::stdin().read_exact(&mut [0; 1]).unwrap();
    let kinds = KINDS.iter().map(|(kind, _)| *kind).chain(["run", "fault", "brief", "contend", "stay", "timed"]);
    let threads: Vec<_> = kinds
        .filter(|kind| work.split(',').any(|w| w == *kind))
        .map(|kind| std::thread::spawn(move || wait_for(kind)))
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    println!("done");
    std::io::stdin().read_exact(&mut [0; 1]).ok();
    true
}

/// A child of this program that ends with the test.
struct Worker(Child);

impl Worker {
    /// Starts this test program again to run `test`, the one that calls this, which finds by [`is_worker`] that it is to do the work.
    fn start(test: &str, work: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let path = format!("threads::live::{test}");
        command.args(["--exact", &path, "--nocapture", "--test-threads=1"]).env(WORK, work);
        Worker(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap())
    }

    fn go(&mut self) {
        self.0.stdin.as_mut().unwrap().write_all(b"x").unwrap();
    }

    fn done(&mut self) {
        let (mut byte, mut said) = ([0; 1], String::new());
        while !said.contains("done") {
            self.0.stdout.as_mut().unwrap().read_exact(&mut byte).unwrap();
            said.push(char::from(byte[0]));
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Reads, and keeps the greatest that each entity reached.
struct Session {
    host: Host,
    reader: BpfReader,
    symbols: Symbols,
    coverage: Vec<Coverage>,
    /// Counters by process, thread and tid.
    time: HashMap<(String, String, i64), Vec<i64>>,
    /// When the last read began and ended.
    between: (u64, u64),
    rows: Vec<Vec<Rows>>,
}

impl Session {
    /// Looks at a child, which must not have been told to begin.
    fn new(worker: &Worker) -> Option<Self> {
        Self::with(worker, false)
    }

    fn with(worker: &Worker, as_old: bool) -> Option<Self> {
        let host = Host::live();
        let target = Target::Trees(vec![worker.0.id()]);
        let scope = Scope { target, start: crate::Start::at(host.now()), ..Scope::default() };
        match BpfReader::open_with(&host, &scope, as_old) {
            Ok(reader) => Some(Session {
                host,
                reader,
                symbols: Symbols::default(),
                coverage: Vec::new(),
                time: HashMap::new(),
                between: (0, 0),
                rows: Vec::new(),
            }),
            Err(why) => {
                eprintln!("SKIPPED: the ledger of threads: {why}");
                None
            }
        }
    }

    fn read(&mut self) {
        let mut rows = vec![Rows::default(); TABLES.len()];
        let mut facts = Vec::new();
        let begin = self.host.now();
        let mut out = Out::new(SOURCE.name, TABLES, &mut rows, &mut self.symbols, &mut self.coverage, &mut facts);
        self.reader.read(&self.host, &mut out).unwrap();
        self.between = (begin, self.host.now());
        for row in rows[THREAD_TIME].iter() {
            let key = (self.text(row[3]), self.text(row[4]), row[1]);
            let before = self.time.insert(key.clone(), row[5..].to_vec());
            let before = before.unwrap_or_default();
            assert!(before.iter().zip(&row[5..]).all(|(b, n)| n >= b), "{key:?} fell from {before:?} to {row:?}");
        }
        self.rows.push(rows);
    }

    fn text(&self, cell: i64) -> String {
        self.symbols.text(cell).unwrap_or("-").to_owned()
    }

    /// Counters of the threads called `name`, added up.
    fn of(&self, name: &str) -> Vec<i64> {
        let mut sums = vec![0; STATES + 4];
        for (_, counters) in self.time.iter().filter(|((_, thread, _), _)| thread == name) {
            sums.iter_mut().zip(counters).for_each(|(sum, value)| *sum += value);
        }
        sums
    }

    fn all(&self, table: usize) -> impl Iterator<Item = &[i64]> {
        self.rows.iter().flat_map(move |rows| rows[table].iter())
    }
}

fn total(counters: &[i64]) -> i64 {
    counters[..STATES].iter().sum()
}

/// What each state got, for messages.
fn shown(counters: &[i64]) -> String {
    let names = TABLES[THREAD_TIME].values().map(|column| column.name);
    let all = names.zip(counters).filter(|(_, time)| **time > 0);
    all.map(|(name, time)| format!("{name} {}", time / 1000)).collect::<Vec<_>>().join(", ")
}

#[test]
fn each_wait_is_in_its_state() {
    if is_worker() {
        return;
    }
    let mut worker = Worker::start("each_wait_is_in_its_state", &KINDS.map(|(kind, _)| kind).join(","));
    let Some(mut session) = Session::new(&worker) else { return };
    session.read();
    worker.go();
    for _ in 0..5 {
        sleep(Duration::from_millis(100));
        session.read();
    }
    worker.done();
    session.read();
    for (kind, state) in KINDS {
        let counters = session.of(kind);
        let place = column::LOCK + WORDS.iter().position(|w| *w == state).unwrap();
        let all = total(&counters);
        assert!(all >= LONG.as_nanos() as i64, "{kind}: {}", shown(&counters));
        if kind == "fsync" && counters[place] < all / 4 {
            eprintln!("SKIPPED: {kind}: this disk does not wait: {}", shown(&counters));
            continue;
        }
        // Of the time in which it was blocked: on a busy machine it waits for a CPU as well.
        let blocked: i64 = counters[column::LOCK..STATES].iter().sum();
        let share = if kind == "fsync" { all / 4 } else { blocked / 10 * 9 };
        assert!(counters[place] >= share, "{kind}: {}", shown(&counters));
        // The waits say the same.
        let waits: i64 = session
            .all(WAIT)
            .filter(|row| session.text(row[2]) == kind && session.text(row[3]) == state)
            .map(|row| row[9])
            .sum();
        let rows = session.all(WAIT).filter(|row| session.text(row[2]) == kind).collect::<Vec<_>>();
        assert!((waits - counters[place]).abs() <= all / 50, "{kind}: waits {waits} {rows:?}, {}", shown(&counters));
    }
}

#[test]
fn all_time_is_in_one_state() {
    adds_up("all_time_is_in_one_state", false);
}

#[test]
fn all_time_is_in_one_state_on_an_old_kernel() {
    adds_up("all_time_is_in_one_state_on_an_old_kernel", true);
}

fn adds_up(test: &str, as_old: bool) {
    if is_worker() {
        return;
    }
    let mut worker = Worker::start(test, "run,contend,pipe,epoll,fsync,mutex");
    let Some(mut session) = Session::with(&worker, as_old) else { return };
    session.read();
    let (first, before) = (session.between, session.time.clone());
    worker.go();
    // So often that some threads have blocked or been woken just now.
    for _ in 0..60 {
        sleep(Duration::from_millis(10));
        session.read();
    }
    worker.done();
    session.read();
    let last = session.between;
    // Of all its threads, which are fewer.
    let whole = 20 * (last.1 - first.0) as i64;
    for row in session.all(WAIT) {
        assert!((0..=whole).contains(&row[9]), "waits of {} in {whole}: {row:?}", row[9]);
    }
    let mut seen = 0;
    for (key, counters) in &session.time {
        // Those that were there all the time.
        let Some(start) = before.get(key) else { continue };
        seen += 1;
        let time = (total(counters) - total(start)) as u64;
        let (least, most) = (last.0 - first.1, last.1 - first.0);
        let slack = most / 1000;
        assert!(
            (least - slack..=most + slack).contains(&time),
            "{key:?}: {time} of {least}..{most}: {}",
            shown(counters)
        );
    }
    assert!(seen > 0, "the first thread of the child is there from the first read to the last");
    let run = session.of("run");
    assert!(
        run[column::USER] + run[column::KERNEL] + run[column::RUNNABLE] + run[column::STOLEN] > total(&run) / 10 * 9,
        "{}",
        shown(&run)
    );
    // Someone ran, someone waited for a CPU, and the slots know of both.
    assert!(session.all(RUN_QUEUE).any(|row| row[1..].iter().sum::<i64>() > 0));
    let running: f64 = session.all(CONCURRENCY).map(|row| model::real_of(row[1]).unwrap_or(0.0)).sum();
    let on_cpu: i64 = session.time.values().map(|c| c[..3].iter().sum::<i64>()).sum();
    let by_slots = running * 1e7;
    assert!((by_slots - on_cpu as f64).abs() < on_cpu as f64 * 0.1 + 4e7, "slots {by_slots}, ledger {on_cpu}");
}

#[test]
fn threads_between_two_reads_are_kept() {
    if is_worker() {
        return;
    }
    let mut worker = Worker::start("threads_between_two_reads_are_kept", "brief");
    let Some(mut session) = Session::new(&worker) else { return };
    session.read();
    worker.go();
    worker.done();
    session.read();
    let ended = session.of("(ended)");
    let sleep = column::LOCK + WORDS.iter().position(|w| *w == "sleep").unwrap();
    assert!(ended[sleep] >= 200_000_000, "{}", shown(&ended));
    drop(worker);
    session.read();
    session.read();
}

#[test]
fn a_lock_says_who_held_it() {
    if is_worker() {
        return;
    }
    let mut worker = Worker::start("a_lock_says_who_held_it", "contend");
    let Some(mut session) = Session::new(&worker) else { return };
    session.read();
    worker.go();
    for _ in 0..4 {
        sleep(Duration::from_millis(150));
        session.read();
    }
    worker.done();
    session.read();
    let rows: Vec<_> = session.all(LOCKS).collect();
    let time: i64 = rows.iter().map(|row| row[10]).sum();
    let held: i64 = rows.iter().filter(|row| session.text(row[6]).starts_with("contend")).map(|row| row[10]).sum();
    let waiting: i64 = (0..3).map(|at| session.of(&format!("contend{at}"))[column::LOCK]).sum();
    assert!(waiting > LONG.as_nanos() as i64, "two of three wait at any time: {waiting}");
    assert!(
        time >= waiting / 10 * 9 && held >= time / 10 * 9,
        "time {time}, by known holders {held}, waited {waiting}: {rows:?}"
    );
    assert!(rows.iter().any(|row| row[12] != NULL && row[12] >= 2), "two waited at once");
    let mut locks: HashMap<i64, i64> = HashMap::new();
    rows.iter().for_each(|row| *locks.entry(row[3]).or_default() += row[10]);
    // The C library's own lock, of the stacks of threads that end, may be met too.
    let most = locks.values().max().copied().unwrap_or(0);
    assert!(most >= time / 10 * 9, "one lock: {locks:?}");
}

#[test]
fn a_wait_in_vain_is_told_from_one_that_something_ends() {
    if is_worker() {
        return;
    }
    let mut worker = Worker::start("a_wait_in_vain_is_told_from_one_that_something_ends", "timed");
    let Some(mut session) = Session::new(&worker) else { return };
    session.read();
    worker.go();
    worker.done();
    session.read();
    let of = |name: &str, column: usize| -> i64 {
        session
            .all(WAIT)
            .filter(|row| session.text(row[2]) == name && session.text(row[3]) != "pipe")
            .map(|row| row[column])
            .sum()
    };
    let columns: Vec<&str> = TABLES[WAIT].columns.iter().map(|column| column.name).collect();
    let [count, timed_out, time] =
        ["count", "timed_out", "timed_out_time"].map(|name| columns.iter().position(|c| *c == name).unwrap());
    for call in ["epoll", "poll", "select", "ppoll", "condvar"] {
        let (vain, come) = (format!("vain{call}"), format!("come{call}"));
        let shown = format!(
            "{call}: {} of {} in vain, {} of {} that came",
            of(&vain, timed_out),
            of(&vain, count),
            of(&come, timed_out),
            of(&come, count)
        );
        // A timer that is late, and comes while some other thread is in a system call, seems to be that one's doing.
        assert!(of(&vain, timed_out) >= IN_VAIN / 10 * 8 && of(&vain, timed_out) <= IN_VAIN, "{shown}");
        assert!(of(&vain, time) >= of(&vain, timed_out) * 4_900_000, "{shown}");
        // Waits that nobody is seen to end are taken by their time only.
        assert!(of(&come, timed_out) <= IN_VAIN / 10, "{shown}");
    }
}

#[test]
fn threads_that_were_blocked_before_are_known_all_the_same() {
    if is_worker() {
        return;
    }
    let mut worker = Worker::start("threads_that_were_blocked_before_are_known_all_the_same", "stay");
    worker.go();
    worker.done();
    sleep(Duration::from_millis(200));
    let Some(mut session) = Session::new(&worker) else { return };
    session.read();
    for _ in 0..2 {
        sleep(Duration::from_millis(250));
        session.read();
    }
    for (name, state) in [("staylock", "lock"), ("stayidle", "idle")] {
        let counters = session.of(name);
        let time = counters[column::LOCK + WORDS.iter().position(|w| *w == state).unwrap()];
        // What it did before anyone could ask is not known.
        assert!(time >= 300_000_000 && time >= total(&counters) / 10 * 9, "{name}: {}", shown(&counters));
    }
    let stacks: Vec<i64> = session.rows[2][WAIT].iter().map(|row| row[5]).collect();
    assert!(!stacks.is_empty() && stacks.iter().all(|stack| *stack != NULL), "{stacks:?}");
}

#[test]
fn faults_from_disk_are_faults() {
    if is_worker() {
        return;
    }
    let mut worker = Worker::start("faults_from_disk_are_faults", "fault");
    let Some(mut session) = Session::new(&worker) else { return };
    session.read();
    worker.go();
    worker.done();
    session.read();
    let counters = session.of("fault");
    let counters = if total(&counters) > 0 { counters } else { session.of("(ended)") };
    let place = |state: &str| column::LOCK + WORDS.iter().position(|w| *w == state).unwrap();
    if counters[place("fault")] == 0 {
        eprintln!("SKIPPED: faults from disk: none waited: {}", shown(&counters));
        return;
    }
    // It writes the file and reads it back by faults, while its parent waits for its end.
    let elsewhere: i64 =
        WORDS.iter().filter(|w| !matches!(**w, "disk" | "fault" | "idle")).map(|w| counters[place(w)]).sum();
    assert!(elsewhere <= total(&counters) / 10, "{}", shown(&counters));
}

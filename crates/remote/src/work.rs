//! The steps of a run: recorders are got ready, told to begin together, and what they recorded is fetched. A host that fails in one step takes no
//! part in the next.

use crate::clock::unix_now;
use crate::crew::{chance, each, tries};
use crate::kubernetes::Kubernetes;
use crate::names::file_name;
use crate::process::{Answer, Ended, Input, Taker, Until, talk};
use crate::reach::{Failure, Reach, last_line};
use crate::ssh::Ssh;
use crate::state::{Book, Host, Step, What};
use files::{Aside, Rules};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The exit code of a recorder whose recording is still being made.
const STILL_RECORDING: i32 = 75;

/// The least time between the decision when to begin and that time.
const AHEAD: Duration = Duration::from_secs(3);

/// What it takes to tell one host when to begin, so many at once taken into account: twice what it takes at rest.
const TELL: Duration = Duration::from_millis(500);

/// The longest pause between two looks whether a recording is finished.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// How a run goes.
pub struct Work<'a> {
    /// How hosts are reached.
    pub way: &'a Way,
    /// The hosts and what has become of them.
    pub book: &'a Book,
    /// So many hosts at once.
    pub at_once: usize,
    /// Time limit of a step of a host.
    pub limit: Duration,
    /// Bytes of a host's recording at most.
    pub most: u64,
    /// When to begin, nanoseconds since 1970; a few seconds after all are ready where it is not said.
    pub at: Option<i64>,
    /// Set where someone asks to stop: recorders are ended, and what they have is fetched.
    pub stop: &'a AtomicBool,
    /// Hears what is being done, how many hosts of how many are done.
    pub told: &'a (dyn Fn(&str, usize, usize) + Sync),
}

/// What a run has come to.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Recordings that are here, those of former runs too.
    pub fetched: usize,
    /// Those that were fetched now.
    pub new: usize,
    /// Hosts that record still.
    pub recording: usize,
    /// The time between the first and the last that began, of those that were fetched now, nanoseconds by our clock.
    pub spread: Option<i64>,
    /// The hosts that failed: name, step, why.
    pub failed: Vec<(String, String, String)>,
    /// What could not be let go of, such as pods that could not be deleted.
    pub left: Option<String>,
}

/// A way to hosts.
pub enum Way {
    /// By ssh.
    Ssh(Ssh),
    /// By kubectl.
    Kubernetes(Kubernetes),
}

impl Way {
    fn reach(&self) -> &dyn Reach {
        match self {
            Way::Ssh(ssh) => ssh,
            Way::Kubernetes(kubernetes) => kubernetes,
        }
    }
}

/// A word for a run that no other has.
pub fn new_run() -> String {
    format!("{:x}{:06x}", unix_now() / 1_000_000_000, (chance() * f64::from(1 << 24)) as u32)
}

/// The hosts of a new run, each once.
pub fn fresh_hosts(names: &[String]) -> Vec<Host> {
    let mut hosts: Vec<Host> = Vec::new();
    let mut known = std::collections::HashSet::new();
    for name in names.iter().filter(|name| known.insert((*name).clone())) {
        hosts.push(Host { host: name.clone(), file: format!("{}.twin", file_name(name)), ..Host::default() });
    }
    hosts
}

impl Work<'_> {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn until(&self, stop: bool) -> Until<'_> {
        Until { limit: Instant::now() + self.limit, stop: stop.then_some(self.stop) }
    }

    /// Does a step for these hosts. What a host becomes is kept; where it fails, with why.
    fn step(
        &self,
        what: &str,
        numbers: &[usize],
        step: &(dyn Fn(&mut Host) -> Result<(), Failure> + Sync),
    ) -> Result<(), String> {
        (self.told)(what, 0, numbers.len());
        each(numbers, self.at_once, &|done| (self.told)(what, done, numbers.len()), &|number| {
            let mut host = self.book.host(number);
            (host.failed, host.why) = match step(&mut host) {
                Ok(()) => (None, None),
                Err(failure) => (Some(failure.step.to_owned()), Some(failure.why)),
            };
            self.book.put(number, host);
        });
        self.book.save()
    }

    fn report(&self, new: &[usize]) -> Report {
        let hosts = self.book.state().hosts;
        let is_fetched = |host: &&Host| host.step == Step::Fetched;
        let fetched_now = new.iter().filter_map(|number| hosts.get(*number)).filter(is_fetched);
        let began: Vec<i64> = fetched_now.clone().filter_map(|host| host.began).collect();
        let spread = began.iter().max().zip(began.iter().min()).map(|(last, first)| last - first);
        let failed = hosts
            .iter()
            .filter_map(|host| Some((host.host.clone(), host.failed.clone()?, host.why.clone().unwrap_or_default())));
        Report {
            fetched: hosts.iter().filter(is_fetched).count(),
            new: fetched_now.count(),
            recording: hosts.iter().filter(|host| host.step == Step::Recording && host.failed.is_none()).count(),
            spread: spread.filter(|_| began.len() > 1),
            failed: failed.collect(),
            left: None,
        }
    }

    /// Sleeps, but no longer than until someone asks to stop.
    fn sleep(&self, time: Duration) {
        let end = Instant::now() + time;
        while Instant::now() < end && !self.is_stopped() {
            std::thread::sleep(Duration::from_millis(100).min(end.saturating_duration_since(Instant::now())));
        }
    }
}

/// The words by which a recorder of a host is started.
fn words_of(host: &Host, own: Vec<String>, options: &[String], command: &[String], again: bool) -> Vec<String> {
    let mut words: Vec<String> = ["record", "--detach"].map(String::from).to_vec();
    if again {
        words.push("--force".into());
    }
    words.push(format!("--output={}", host.there()));
    if let Some(at) = host.begins {
        // By its own clock, where that is further off than can be measured.
        let ahead = host.clock_ahead.filter(|ahead| ahead.abs() > host.clock_error).unwrap_or(0);
        let at = at.saturating_add(ahead).max(0);
        words.push(format!("--at=@{}.{:09}", at / 1_000_000_000, at % 1_000_000_000));
    }
    words.push(format!("--label=host={}", host.host));
    if let Some(ahead) = host.clock_ahead {
        words.push(format!("--label=clock_ahead_ms={:.1}", ahead as f64 / 1e6));
        words.push(format!("--label=clock_error_ms={:.1}", host.clock_error as f64 / 1e6));
    }
    words.extend(own);
    words.extend(options.iter().cloned());
    if !command.is_empty() {
        words.push("--".into());
        words.extend(command.iter().cloned());
    }
    words
}

/// What became of a try to fetch.
enum Fetched {
    Here,
    Still,
}

fn fetch_one(reach: &dyn Reach, work: &Work<'_>, host: &mut Host) -> Result<Fetched, Failure> {
    let failed = |why: std::io::Error| Failure::new("fetch", format!("{}: {why}", work.book.folder().display()));
    let path = work.book.folder().join(&host.file);
    let rules = Rules { replace: true, recording: true, ..Rules::default() };
    let mut part = Aside::create(&path, &rules).map_err(failed)?;
    let mut taker = Taker::new(part.file().try_clone().map_err(failed)?, work.most);
    let (mut order, thanks) = reach.fetch(host);
    let mut began = None;
    let input = Input { first: &order.input, open: thanks.is_some() };
    let part = Mutex::new(Some(part));
    let done = talk(&mut order.command, input, work.until(false), &mut |bytes| {
        if !taker.take(bytes)? {
            return Ok(Answer::Listen);
        }
        let Some(file) = part.lock().unwrap_or_else(|e| e.into_inner()).take() else { return Ok(Answer::Close) };
        let recording = store::Recording::open(file.path()).map_err(std::io::Error::other)?;
        began = Some(recording.manifest().start_unix);
        drop(recording);
        file.place(&rules)?;
        Ok(thanks.clone().map_or(Answer::Close, Answer::Say))
    });
    if taker.is_whole() && began.is_some() {
        // It is here, whatever became of what comes after.
        host.step = Step::Fetched;
        host.began = began.map(|began| began.saturating_sub(host.clock_ahead.unwrap_or(0)));
        reach.fetched(host);
        return Ok(Fetched::Here);
    }
    if !taker.has_begun() && reach.is_lost(&done.said) {
        // The same command again records anew.
        host.step = Step::Missing;
    }
    match done.ended {
        Ended::Code(STILL_RECORDING) => Ok(Fetched::Still),
        Ended::Code(0) => Err(Failure { step: "fetch", why: "what it sent is cut short".into(), again: true }),
        _ => Err(Failure::of("fetch", &done, work.limit, |code, said| {
            let (why, again) = reach.why(host, code, said);
            if taker.has_begun() { (format!("it was cut short: {why}"), true) } else { (why, again) }
        })),
    }
}

/// Has the recorder of each of these hosts begin.
fn launch(reach: &dyn Reach, work: &Work<'_>, ready: &[usize]) -> Result<(), String> {
    let state = work.book.state();
    let rounds = ready.len().div_ceil(work.at_once.max(1)) as u32;
    let soon = unix_now() + (AHEAD + TELL * rounds).as_nanos() as i64;
    // To the second, as people say it.
    let at = work.at.unwrap_or((soon / 1_000_000_000 + 1) * 1_000_000_000);
    work.step("told to begin", ready, &|host| {
        host.begins = Some(at);
        let limit = Instant::now() + work.limit;
        let mut again = false;
        tries(limit, Some(work.stop), || {
            if again {
                // The one before may have reached it, only the answer did not come back.
                reach.recorder(host, &["stop".into(), host.there()]).run(Until { limit, stop: Some(work.stop) });
            }
            let words = words_of(host, reach.options(host), &state.options, &state.command, again);
            again = true;
            let done = reach.recorder(host, &words).run(Until { limit, stop: None }).0;
            match done.ended {
                Ended::Code(0) => Ok(()),
                _ => Err(Failure::of("record", &done, work.limit, |code, said| reach.why(host, code, said))),
            }
        })?;
        host.step = Step::Recording;
        Ok(())
    })
}

/// Asks running recorders, each with these words after which `--of` names its file where that is known.
fn ask(
    reach: &dyn Reach,
    work: &Work<'_>,
    ready: &[usize],
    words: &(dyn Fn(&Host) -> Vec<String> + Sync),
    then: Step,
) -> Result<(), String> {
    work.step("asked", ready, &|host| {
        let mut words = words(host);
        if !host.of.is_empty() {
            words.insert(1, format!("--of={}", host.of));
        }
        let done = reach.recorder(host, &words).run(work.until(true)).0;
        match done.ended {
            Ended::Code(0) => {
                host.step = then;
                Ok(())
            }
            _ => Err(Failure::of("ask", &done, work.limit, |code, said| reach.why(host, code, said))),
        }
    })
}

/// Has the recorders of all hosts that record end.
fn stop_all(reach: &dyn Reach, work: &Work<'_>) -> Result<(), String> {
    let recording = work.book.numbers(|host| host.step == Step::Recording);
    work.step("stopped", &recording, &|host| {
        let done = reach.recorder(host, &["stop".into(), host.there()]).run(work.until(false)).0;
        match done.ended {
            Ended::Code(0) => Ok(()),
            _ => Err(Failure::of("stop", &done, work.limit, |code, said| reach.why(host, code, said))),
        }
    })
}

/// When the last of these should have finished, nanoseconds since 1970 by our clock.
fn due(work: &Work<'_>, numbers: &[usize]) -> Option<i64> {
    let duration = work.book.state().duration?;
    let begins = numbers.iter().filter_map(|number| work.book.host(*number).begins).max()?;
    Some(begins.saturating_add(duration))
}

fn fetch_all(reach: &dyn Reach, work: &Work<'_>) -> Result<Vec<usize>, String> {
    let all = work.book.numbers(|host| host.step == Step::Recording);
    if all.is_empty() {
        return Ok(all);
    }
    let due = due(work, &all);
    if let Some(due) = due.filter(|due| *due > unix_now()) {
        let seconds = (due - unix_now()) / 1_000_000_000;
        (work.told)(&format!("recording, {seconds} s to go"), 0, 0);
        // What it takes to write the last of it.
        work.sleep(Duration::from_nanos((due - unix_now()).max(0) as u64) + Duration::from_millis(500));
    }
    let (mut left, mut pause) = (all.clone(), Duration::from_secs(1));
    let patience = match work.book.state() {
        // A flight recorder does not end by itself.
        state if state.duration.is_none() && state.command.is_empty() => Some(Instant::now()),
        state => state.duration.map(|_| Instant::now() + work.limit),
    };
    loop {
        if work.is_stopped() {
            stop_all(reach, work)?;
        }
        let still = Mutex::new(Vec::new());
        work.step("fetched", &left, &|host| {
            let found = tries(Instant::now() + work.limit, None, || fetch_one(reach, work, host))?;
            if matches!(found, Fetched::Still) {
                still.lock().unwrap_or_else(|e| e.into_inner()).push(host.host.clone());
            }
            Ok(())
        })?;
        let still = still.into_inner().unwrap_or_else(|e| e.into_inner());
        left = work.book.numbers(|host| still.contains(&host.host));
        if left.is_empty() {
            return Ok(all);
        }
        if work.is_stopped() || patience.is_some_and(|end| Instant::now() >= end) {
            let why = "is still recording; `twinscope fleet fetch` comes back for it";
            work.step("looked at", &left, &|_| Err(Failure::new("fetch", why)))?;
            return Ok(all);
        }
        work.sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

impl Work<'_> {
    /// Gets recorders ready on all hosts that have no recording and do not record, has them do what is asked for together, and, but for `leave`,
    /// fetches what they recorded.
    ///
    /// # Errors
    /// In words, where `hosts.json` cannot be written. What fails on a host is in the report.
    pub fn record(&self, leave: bool) -> Result<Report, String> {
        let done = self.record_now(leave);
        let keeps = leave && !self.is_stopped();
        self.ended(done, keeps)
    }

    /// Fetches what has been recorded, and waits for what is still being recorded.
    ///
    /// # Errors
    /// As of [`Work::record`].
    pub fn fetch(&self) -> Result<Report, String> {
        let done = fetch_all(self.way.reach(), self).map(|fetched| self.report(&fetched));
        self.ended(done, false)
    }

    /// Lets go of all connections, whatever became of it.
    fn ended(&self, done: Result<Report, String>, keeps: bool) -> Result<Report, String> {
        let left = self.way.reach().end(&self.book.state().hosts, keeps);
        let mut report = done?;
        report.left = left.err();
        Ok(report)
    }

    fn record_now(&self, leave: bool) -> Result<Report, String> {
        let reach = self.way.reach();
        let missing = self.book.numbers(|host| matches!(host.step, Step::Missing | Step::Ready));
        let hosts: Vec<Host> = missing.iter().map(|number| self.book.host(*number)).collect();
        let unreachable = if missing.is_empty() { Vec::new() } else { reach.begin(&hosts, self.at_once, self.stop) };
        self.step("ready", &missing, &|host| {
            host.step = Step::Missing;
            if let Some(why) = &host.unfit {
                return Err(Failure::new("look", why));
            }
            if let Some((_, failure)) = unreachable.iter().find(|(name, _)| *name == host.host) {
                return Err(failure.clone());
            }
            let limit = Instant::now() + self.limit;
            tries(limit, Some(self.stop), || reach.prepare(host, Until { limit, stop: Some(self.stop) }))?;
            host.step = Step::Ready;
            Ok(())
        })?;
        let ready = self.book.numbers(|host| host.step == Step::Ready);
        if !self.is_stopped() && !ready.is_empty() {
            match self.book.state().what {
                What::Record => launch(reach, self, &ready)?,
                What::Snapshot => {
                    ask(
                        reach,
                        self,
                        &ready,
                        &|host| vec!["snapshot".into(), format!("--output={}", host.there())],
                        Step::Recording,
                    )?;
                }
                What::Mark(text) => {
                    ask(reach, self, &ready, &|_| vec!["mark".into(), "--".into(), text.clone()], Step::Fetched)?;
                }
            }
        }
        if leave && !self.is_stopped() {
            return Ok(self.report(&[]));
        }
        let fetched = fetch_all(reach, self)?;
        Ok(self.report(&fetched))
    }

    /// Deletes the recorders that are kept on hosts. Returns those where it failed, as [`Report::failed`] has them.
    pub fn clean(&self) -> Vec<(String, String, String)> {
        let failed = Mutex::new(Vec::new());
        // One that still records needs its recorder.
        let numbers = self.book.numbers(|host| host.step != Step::Recording && !host.recorder.is_empty());
        each(&numbers, self.at_once, &|done| (self.told)("cleaned", done, numbers.len()), &|number| {
            let host = self.book.host(number);
            if let Err(failure) = self.way.reach().clean(&host, self.until(false)) {
                let line = (host.host, failure.step.to_owned(), last_line(&failure.why));
                failed.lock().unwrap_or_else(|e| e.into_inner()).push(line);
            }
        });
        let _ = self.way.reach().end(&self.book.state().hosts, true);
        failed.into_inner().unwrap_or_else(|e| e.into_inner())
    }
}

#[cfg(test)]
#[path = "../../store/tests/hostile/mod.rs"]
mod kinds;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reach::Order;
    use crate::recorders::Recorders;
    use crate::ssh::SshOptions;
    use crate::state::{By, State, What};
    use std::path::{Path, PathBuf};
    use std::process::Command;

    /// A host that sends this file when it is asked for its recording, whatever length it says that it has.
    struct Sends {
        file: PathBuf,
        length: String,
    }

    impl Reach for Sends {
        fn prepare(&self, _host: &mut Host, _until: Until<'_>) -> Result<(), Failure> {
            Ok(())
        }

        fn recorder(&self, _host: &Host, _words: &[String]) -> Order {
            Order { command: Command::new("true"), input: Vec::new() }
        }

        fn fetch(&self, _host: &Host) -> (Order, Option<Vec<u8>>) {
            let mut command = Command::new("sh");
            command.arg("-c").arg("echo twinscope-recording $1; cat $2").arg("sh").arg(&self.length).arg(&self.file);
            (Order { command, input: Vec::new() }, None)
        }

        fn why(&self, _host: &Host, code: i32, said: &str) -> (String, bool) {
            (format!("{code}: {said}"), false)
        }
    }

    #[test]
    fn a_host_that_sends_what_means_harm_fails_alone() {
        let folder = tempfile::tempdir().unwrap();
        let good = folder.path().join("good.twin");
        let writer = store::Writer::create(&good, false, i64::MAX).unwrap();
        let manifest = model::Manifest { ended: Some("done".into()), ..model::Manifest::default() };
        writer.finish(&manifest, &model::Symbols::default()).unwrap();
        let words = vec!["true".to_owned()];
        let limit = Duration::from_secs(60);
        let options = SshOptions { words: words.clone(), no_sudo: true, rest: limit, limit };
        let way = Way::Ssh(Ssh::new(options, Recorders::default(), "r1").unwrap());
        let hosts = vec![Host { host: "a".into(), file: "a.twin".into(), ..Host::default() }];
        let state = State {
            version: crate::VERSION,
            run: "r1".into(),
            what: What::Record,
            by: By::Ssh(words),
            options: vec![],
            command: vec![],
            duration: Some(1),
            hosts,
        };
        let book = Book::open(&folder.path().join("book"), || Some(state)).unwrap();
        let work = Work {
            way: &way,
            book: &book,
            at_once: 1,
            limit,
            most: 16 << 20,
            at: None,
            stop: &AtomicBool::new(false),
            told: &|_, _, _| (),
        };
        let fetched = |file: &Path, length: Option<u64>| {
            let length = length.unwrap_or_else(|| std::fs::metadata(file).unwrap().len()).to_string();
            let mut host = book.host(0);
            let done = fetch_one(&Sends { file: file.to_owned(), length }, &work, &mut host);
            done.map(|_| host.step).map_err(|failure| failure.why)
        };
        std::fs::create_dir(folder.path().join("bad")).unwrap();
        for path in kinds::kinds(&good, &folder.path().join("bad")) {
            let why = fetched(&path, None).unwrap_err();
            assert!(why.contains("recording") || why.contains("schema"), "{path:?}: {why}");
        }
        let why = fetched(Path::new("/dev/zero"), Some(1 << 60)).unwrap_err();
        assert!(why.contains("--size-limit"), "{why}");
        let left = std::fs::read_dir(book.folder()).unwrap().flatten().map(|entry| entry.file_name());
        assert_eq!(left.collect::<Vec<_>>(), ["hosts.json"], "no part is kept");
        assert_eq!(fetched(&good, None).unwrap(), Step::Fetched);
    }
}

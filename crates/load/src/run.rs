//! The threads of a run.

use crate::epoll::{Epoll, now};
use crate::outcome::{Machine, put_together};
use crate::processor::{Ticks, exact_timers, pin};
use crate::schedule::Schedule;
use crate::tally::Tally;
use crate::worker::{Plan, Worker};
use crate::{Arrivals, Error, Options, Outcome, Url, limits, request};
use rustix::io::Errno;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, ScopedJoinHandle};
use std::time::Duration;

/// From when all threads are ready until the first request is due, nanoseconds: each must have heard of it.
const AHEAD: u64 = 5_000_000;
/// How often the caller's thread looks whether it is to stop.
const LOOK: Duration = Duration::from_millis(100);

/// Does it, to its end.
///
/// # Errors
/// [`Error`] where it cannot begin: what was asked for cannot be, or not all connections could be opened. What goes wrong later is counted.
pub fn run(options: &Options) -> Result<Outcome, Error> {
    run_until(options, &AtomicBool::new(false))
}

/// The same, but ends early once `stop` is set, within a tenth of a second; the outcome is then that of the time until then.
///
/// # Errors
/// As [`run`].
pub fn run_until(options: &Options, stop: &AtomicBool) -> Result<Outcome, Error> {
    options.check()?;
    limits::allow_files(options.connections, options.thread_count())?;
    let url = options.urls.first().ok_or(Error::Thread)?;
    let address = find(url, options.timeout)?;
    let requests = request::all(options);
    let [warm_up, duration, timeout] = [options.warm_up, options.duration, options.timeout]
        .map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX / 4));
    let plan = Plan {
        requests: &requests,
        to_head: options.method.eq_ignore_ascii_case("HEAD"),
        closed: options.arrivals == Arrivals::Closed,
        warm_up,
        end: warm_up + duration,
        timeout,
        stop,
    };
    std::thread::scope(|scope| {
        let (ready, all_ready) = channel();
        let mut threads = Vec::new();
        for number in 0..options.thread_count() {
            let (begin, begins) = channel();
            let thread = Thread { options, plan: plan.clone(), address, number, ready: ready.clone(), begins };
            let handle = Builder::new()
                .name("load".into())
                .spawn_scoped(scope, move || thread.run())
                .map_err(|source| Error::System { what: "starting a thread of the client", source })?;
            threads.push((begin, handle));
        }
        drop(ready);
        let timer = wait_until_ready(options, address, &all_ready)?;
        let begin = now() + AHEAD;
        for (thread, _) in &threads {
            thread.send(begin).map_err(|_| Error::Thread)?;
        }
        let handles: Vec<_> = threads.into_iter().map(|(_, handle)| handle).collect();
        let cpus_busy = watch(options, stop, [begin + plan.warm_up, begin + plan.end], &handles);
        let tallies = handles
            .into_iter()
            .map(|handle| handle.join().map_err(|_| Error::Thread)?)
            .collect::<Result<Vec<Tally>, Error>>()?;
        Ok(put_together(options, &tallies, &Machine { timer, cpus_busy }))
    })
}

/// The server's address. Of several, such as those of both versions of `localhost`, the first that can be connected to.
fn find(url: &Url, timeout: Duration) -> Result<SocketAddr, Error> {
    let failed = |source| Error::Resolve { host: url.host.clone(), source };
    let all: Vec<SocketAddr> = (url.host.as_str(), url.port).to_socket_addrs().map_err(failed)?.collect();
    let open = |address: &&SocketAddr| TcpStream::connect_timeout(address, timeout).is_ok();
    let first = all.first().ok_or_else(|| failed(std::io::Error::other("it has none")))?;
    Ok(*if all.len() == 1 { first } else { all.iter().find(open).unwrap_or(first) })
}

/// What a thread says before it begins: what it waits by, or why it can't begin.
type Ready = Result<&'static str, NotReady>;

enum NotReady {
    Error(Error),
    /// So many of its connections are open, and why not more.
    Connect(usize, Errno),
}

/// Waits for all threads. Returns what they wait by.
fn wait_until_ready(
    options: &Options,
    address: SocketAddr,
    all: &Receiver<(usize, Ready)>,
) -> Result<&'static str, Error> {
    let (mut opened, mut failed, mut timer) = (0, None, "");
    for (connections, ready) in all.iter().take(options.thread_count() as usize) {
        match ready {
            Ok(by) => {
                opened += connections;
                timer = by;
            }
            Err(NotReady::Error(error)) => return Err(error),
            Err(NotReady::Connect(some, errno)) => {
                opened += some;
                failed = failed.or(Some(errno));
            }
        }
    }
    let Some(errno) = failed else { return Ok(timer) };
    let hint = match errno {
        Errno::CONNREFUSED => " (nothing listens there)",
        Errno::ADDRNOTAVAIL => " (no local port is left for them: see /proc/sys/net/ipv4/ip_local_port_range)",
        _ => "",
    };
    Err(Error::Connect { address, opened, asked: options.connections as usize, source: errno.into(), hint })
}

/// Waits until the window is over, or it is to stop, or the threads have ended. Returns how busy the busiest of the client's CPUs was meanwhile.
fn watch<T>(
    options: &Options,
    stop: &AtomicBool,
    [from, to]: [u64; 2],
    threads: &[ScopedJoinHandle<'_, T>],
) -> Option<f64> {
    let wait = |until: u64| {
        while now() < until && !stop.load(Ordering::Relaxed) && !threads.iter().all(|thread| thread.is_finished()) {
            std::thread::sleep(Duration::from_nanos(until.saturating_sub(now())).min(LOOK));
        }
    };
    wait(from);
    let before = Ticks::read(&options.cpus);
    wait(to);
    Ticks::read(&options.cpus).busiest_since(&before)
}

struct Thread<'a> {
    options: &'a Options,
    plan: Plan<'a>,
    address: SocketAddr,
    number: u32,
    ready: Sender<(usize, Ready)>,
    begins: Receiver<u64>,
}

impl Thread<'_> {
    fn run(self) -> Result<Tally, Error> {
        let (all, threads, number) = (self.options.connections, self.options.thread_count(), self.number);
        // The first have one more where they cannot be divided evenly.
        let connections = (all / threads + u32::from(number < all % threads)) as usize;
        let (worker, ready) = match self.prepare(connections) {
            Ok((worker, timer)) => (Some(worker), Ok(timer)),
            Err(why) => (None, Err(why)),
        };
        // Where nobody listens any more, another thread failed, and that is told.
        let told = self.ready.send((connections, ready));
        let (Some(worker), Ok(()), Ok(begin)) = (worker, told, self.begins.recv()) else { return Err(Error::Thread) };
        worker.run(begin).map_err(Error::system("waiting for connections"))
    }

    fn prepare(&self, connections: usize) -> Result<(Worker<'_, Epoll>, &'static str), NotReady> {
        let options = self.options;
        if !options.cpus.is_empty()
            && let Some(&cpu) = options.cpus.get(self.number as usize % options.cpus.len())
        {
            pin(cpu).map_err(NotReady::Error)?;
        }
        exact_timers();
        let net = Epoll::new(self.address, connections)
            .map_err(|errno| NotReady::Error(Error::system("making an epoll set")(errno)))?;
        let timer = net.waits_by();
        let schedule =
            Schedule::new(options.arrivals, options.seed, self.number, options.thread_count(), self.plan.end);
        let mut worker = Worker::new(net, self.plan.clone(), schedule, connections);
        worker.open_all().map_err(|(opened, errno)| NotReady::Connect(opened, errno))?;
        Ok((worker, timer))
    }
}
